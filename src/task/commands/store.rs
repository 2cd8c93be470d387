//! The store of a task, and the exit codes of its errors.

use super::usage;
use clap::Args;
use pipeline::{Error as RunError, RealStorage};
use rustix::io::Errno;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::Path;
use std::sync::Arc;
use terminal::exit::{self, Exit, Refused};
use trinim::database::{Game, SolveSpec, Terms};
use trinim_task::{BucketStore, Error, FolderStore, Store};

/// The hint for a store that is refused permanently.
const OTHER: &str = "name the store of this solve, or create another with trinim task init";

/// The store of a command.
#[derive(Args)]
pub struct StoreArgs {
    /// Folder that all machines share, or s3://BUCKET/PREFIX; trinim task init creates it
    #[arg(long = "store", value_name = "STORE")]
    pub name: String,
}

/// A store, and the definition of its solve.
pub struct OpenStore {
    /// The name as given in the command.
    pub name: String,
    pub files: Box<dyn Store>,
    pub game: Game,
    terms: Terms,
}

/// Opens the store of this name, in which a solve was begun, for a command.
pub fn with_store(name: &str, command: impl FnOnce(&OpenStore) -> anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    let files = open(name)?;
    let (game, terms) = trinim_task::open(&*files)?;
    command(&OpenStore { name: name.to_owned(), files, game, terms })
}

impl OpenStore {
    /// Whether its files are in a folder of this machine.
    pub fn is_folder(&self) -> bool {
        is_folder(&self.name)
    }

    pub fn spec(&self) -> SolveSpec<'_> {
        self.terms.spec(&self.game)
    }
}

/// The kinds of addresses that are not folders, with anything after the colon.
const KINDS: [&str; 13] =
    ["s3", "s3a", "s3n", "gs", "gcs", "az", "abfs", "abfss", "wasb", "http", "https", "file", "hdfs"];

/// Splits an address into its kind and the text after the colon; `None` for the name of a folder.
fn address(name: &str) -> Option<(&str, &str)> {
    let (kind, place) = name.split_once(':')?;
    let is_word =
        kind.starts_with(|c: char| c.is_ascii_alphabetic()) && kind.chars().all(|c| c.is_ascii_alphanumeric());
    (is_word && (place.starts_with('/') || KINDS.contains(&&*kind.to_ascii_lowercase()))).then_some((kind, place))
}

/// Opens a store: the folder, or the bucket and prefix, of this name.
fn open(name: &str) -> anyhow::Result<Box<dyn Store>> {
    match address(name) {
        None => open_folder(Path::new(name)),
        Some(("s3", place)) if place.starts_with("//") => open_bucket(name, &place[2..]),
        Some((kind, _)) => Err(usage(
            format!("{name}: {kind}: is not a supported kind of store"),
            "name a folder that all machines share, or s3://BUCKET/PREFIX; write ./NAME for a folder with a colon",
        )),
    }
}

/// Opens a store, and creates the folder if it is missing.
pub fn create(name: &str) -> anyhow::Result<Box<dyn Store>> {
    if name.is_empty() {
        return Err(usage("the name of a store is empty".to_owned(), "name a folder, or s3://BUCKET/PREFIX"));
    }
    if !is_folder(name) {
        return open(name);
    }
    RealStorage::create(name).map(folder).map_err(|error| no_folder(name, error))
}

/// Returns whether a store of this name is a folder.
fn is_folder(name: &str) -> bool {
    address(name).is_none()
}

fn open_folder(path: &Path) -> anyhow::Result<Box<dyn Store>> {
    let storage = RealStorage::open(path).map_err(|error| match error {
        error if error.is_not_found() => {
            usage(format!("{}: no such folder", path.display()), "run trinim task init to create a store")
        }
        error => no_folder(&path.to_string_lossy(), error),
    })?;
    Ok(folder(storage))
}

/// Refuses a name that no folder can have: the same command would always fail.
fn no_folder(name: &str, error: RunError) -> anyhow::Error {
    let RunError::Io { source, .. } = &error else { return error.into() };
    let permanent = [Errno::NOTDIR, Errno::EXIST, Errno::NAMETOOLONG, Errno::LOOP, Errno::NOENT, Errno::ROFS];
    let is_permanent = permanent.iter().any(|errno| source.raw_os_error() == Some(errno.raw_os_error()));
    if !is_permanent {
        return error.into();
    }
    usage(format!("{name}: {source}"), "name a folder, or s3://BUCKET/PREFIX")
}

/// Opens the store in a folder of this machine, which is created if it is missing.
pub fn create_folder(path: &Path) -> anyhow::Result<Box<dyn Store>> {
    Ok(folder(RealStorage::create(path)?))
}

fn open_bucket(name: &str, place: &str) -> anyhow::Result<Box<dyn Store>> {
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    let store = BucketStore::s3(bucket, prefix.trim_end_matches('/')).map_err(|error| match &error {
        error if error.is_not_found() => {
            usage(format!("{name}: no such bucket"), "create it first, or check AWS_ENDPOINT_URL and AWS_REGION")
        }
        RunError::Io { source, .. } if source.kind() == io::ErrorKind::InvalidInput => {
            usage(format!("{name}: {source}"), "name it like s3://BUCKET/PREFIX, and check the variables AWS_*")
        }
        _ => error.into(),
    })?;
    Ok(Box::new(store))
}

fn folder(storage: RealStorage) -> Box<dyn Store> {
    Box::new(FolderStore::new(Arc::new(storage), &writer()))
}

/// Returns a name that no other process has, on this machine or another: containers can share host
/// name and process ids.
fn writer() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // Its keys come from the system's random numbers.
    let nonce = RandomState::new().build_hasher().finish();
    format!("{}.{}.{nonce:016x}", host.trim(), std::process::id())
}

/// Ends this process when the one that started it ends.
pub fn die_with_parent() -> anyhow::Result<()> {
    let parent = getppid();
    let asked = set_parent_process_death_signal(Some(Signal::KILL));
    asked.map_err(|error| RunError::io("watch the parent of", "this process", io::Error::from(error)))?;
    // The parent may have ended before.
    if getppid() != parent {
        return Err(Refused::with(Exit::TaskAgain, "the parent process has ended", "").into());
    }
    Ok(())
}

/// Turns an error into one with the exit code that a driver acts on.
pub fn refusal(error: anyhow::Error) -> anyhow::Error {
    if error.is::<Refused>() || error.is::<io::Error>() {
        return error;
    }
    let known = match error.downcast_ref::<Error>() {
        Some(Error::Run(error)) => run_error(error),
        Some(Error::NotAStore { .. }) => Some((Exit::Usage, "run trinim task init to create a store".to_owned())),
        Some(Error::NoBlock { .. }) => Some((Exit::Usage, "run trinim task plan to list the blocks".to_owned())),
        Some(Error::Differs { name, .. }) if name == "program" || name == "schema" => {
            Some((Exit::TaskRefused, "use the version of trinim that created this store".to_owned()))
        }
        Some(Error::Differs { .. }) => Some((Exit::TaskRefused, OTHER.to_owned())),
        Some(Error::Twice { .. }) => {
            let hint = "the file was removed again; use a service that honours If-None-Match, or a shared folder";
            Some((Exit::TaskRefused, hint.to_owned()))
        }
        Some(Error::Unsealed { .. }) => {
            let hint = "run trinim task finish once trinim task list shows that all blocks are committed";
            Some((Exit::Usage, hint.to_owned()))
        }
        Some(Error::Unfinished { .. }) => {
            Some((Exit::TaskAgain, "run trinim task list to see which blocks are committed".to_owned()))
        }
        _ => error.downcast_ref::<RunError>().and_then(run_error),
    };
    match known {
        Some((exit, hint)) => Refused::with(exit, exit::reason(&error), hint).into(),
        // Unwrapped, so that its code and its hint are found.
        None => match error.downcast() {
            Ok(Error::Run(error)) => error.into(),
            other => other.map_or_else(|error| error, anyhow::Error::from),
        },
    }
}

/// Returns whether a file of a store has the summary of a block: only then its name is a number.
fn is_summary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit))
}

/// Returns the exit code and the hint of an error of the store or of a block; `None` for errors
/// that have the same code in all commands.
fn run_error(error: &RunError) -> Option<(Exit, String)> {
    let refused = |hint: &str| Some((Exit::TaskRefused, hint.to_owned()));
    let again = |hint: &str| Some((Exit::TaskAgain, hint.to_owned()));
    match error {
        RunError::Corrupt { path, .. } if is_summary(path) => Some((
            Exit::TaskRefused,
            format!(
                "remove {}: computing the block writes it again, and so does trinim task finish where values are kept",
                path.display()
            ),
        )),
        RunError::Io { path, .. } if error.is_not_found() && is_summary(path) => {
            refused("run trinim task finish, which writes it again")
        }
        RunError::Corrupt { path, .. } => {
            let is_block = path.extension().is_some_and(|extension| extension == "blk");
            let more = if is_block { ", and its summary where only counts are kept," } else { "" };
            let hint = format!(
                "nothing was overwritten; if {} is damaged, remove it{more} and compute it again",
                path.display()
            );
            Some((Exit::TaskRefused, hint))
        }
        RunError::Version { .. } => refused("use the version of trinim that created this store"),
        RunError::NotEmpty { .. } => Some((Exit::Usage, "choose another place for the store, new or empty".to_owned())),
        RunError::Workload { .. } => refused(OTHER),
        RunError::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
            refused("this user needs the rights to read, write, list and remove files in the store")
        }
        // The same command would always fail.
        RunError::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
        {
            let hint = "check the name, and for a bucket AWS_REGION and AWS_ENDPOINT; the service must support ranges";
            Some((Exit::Usage, hint.to_owned()))
        }
        RunError::Limit { what: "length of an object in bytes", .. } => {
            Some((Exit::Usage, "create another store with smaller blocks: trinim task init --block-bits".to_owned()))
        }
        RunError::Io { operation: "read the source", .. } if error.is_not_found() => {
            again("compute the source first, or wait until its file is visible here")
        }
        error if error.is_too_many_files() => again("allow more open files (ulimit -n)"),
        error if error.is_full_disk() => again("free space in the store"),
        RunError::Io { .. } | RunError::Poisoned => again("the store failed; the same command may succeed later"),
        RunError::OutOfMemory { .. } => again("free memory on this machine, or run fewer tasks at a time"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipeline::BlockId;
    use trinim::cli::hints::classify;

    /// Errors that all commands refuse alike have the same code and hint in a store.
    #[test]
    fn every_error_of_a_task_has_its_exit_code_and_a_hint() {
        let file = || "store/db/x".into();
        let failed = |code| RunError::io("write", file(), io::Error::from_raw_os_error(code));
        let run = [
            (failed(5), Exit::TaskAgain),
            (failed(28), Exit::TaskAgain),
            (failed(2), Exit::TaskAgain),
            (failed(13), Exit::TaskRefused),
            (RunError::io("open", "store/summaries/000003", io::ErrorKind::NotFound.into()), Exit::TaskRefused),
            (RunError::corrupt("store/summaries/1/010003", None, pipeline::Damage::MISSING), Exit::TaskRefused),
            (RunError::corrupt(file(), 3, pipeline::Damage::MISSING), Exit::TaskRefused),
            (RunError::Version { path: file(), found: 9, supported: 1 }, Exit::TaskRefused),
            (RunError::workload("x"), Exit::TaskRefused),
            (RunError::NotEmpty { path: file(), name: "x".to_owned() }, Exit::Usage),
            (RunError::Poisoned, Exit::TaskAgain),
            (RunError::OutOfMemory { needed_bytes: 9 }, Exit::TaskAgain),
            (RunError::Limit { what: "length of an object in bytes", value: 9, limit: 3 }, Exit::Usage),
            // As in all commands.
            (RunError::Limit { what: "number of canonical blocks", value: 9, limit: 3 }, Exit::Usage),
            (RunError::Memory { needed_bytes: 9, budget_bytes: 3 }, Exit::System),
            (RunError::Thread { source: io::Error::from_raw_os_error(11) }, Exit::System),
            (RunError::Audit { block: BlockId(1), what: "x".to_owned() }, Exit::Refuted),
        ];
        let of_store = |name: &str| Error::Differs {
            path: file(),
            name: name.to_owned(),
            found: "x".to_owned(),
            wanted: "y".to_owned(),
        };
        let of_tasks = [
            (Error::NotAStore { path: file() }, Exit::Usage),
            (of_store("rule"), Exit::TaskRefused),
            (of_store("program"), Exit::TaskRefused),
            (Error::NoBlock { block: 9, last: 3 }, Exit::Usage),
            (Error::Twice { path: file() }, Exit::TaskRefused),
            (Error::Unsealed { path: file() }, Exit::Usage),
            (Error::Unfinished { missing: 1, blocks: 3 }, Exit::TaskAgain),
        ];
        for (error, exit) in run.into_iter().map(|(error, exit)| (Error::Run(error), exit)).chain(of_tasks) {
            let story = format!("{error:?}");
            let (code, hint) = classify(&refusal(error.into()), false).expect("an error");
            assert_eq!(code, exit, "{story}");
            assert!(!hint.is_empty(), "{story}");
        }
    }
}
