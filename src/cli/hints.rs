//! What to do about an error of a library: the exit code and the hint for each kind. Hints mention
//! the program's options, which the libraries do not know.

use crate::cli::args::Size;
use crate::cli::folders::is_database;
use crate::database::DatabaseError;
use crate::game::BoardError;
use crate::game::amount::binary_up;
use crate::layout::LayoutError;
use crate::maintenance::Error as FilesError;
use crate::plan::PlanError;
use pipeline::Error as RunError;
use pipeline::checkpoint::{LOGS, METADATA, PUBLISHED};
use pipeline::storage::LimitReached;
use std::borrow::Cow;
use std::io;
use std::path::Path;
use terminal::ending::Ending;
use terminal::exit::{Exit, Refused, Stopped};
use terminal::refusal::quoted;

/// Returns how a command ends after an error, with [`Exit::Done`] if the reader of standard output
/// has closed it. Hints mention a checkpoint only for a command that `continues` from one.
pub fn ending(error: &anyhow::Error, continues: bool) -> Ending {
    let Some((exit, hint)) = classify(error, continues) else { return Ending::default() };
    let stream = if exit == Exit::System && error.is::<io::Error>() { "cannot write to standard output: " } else { "" };
    let ending = Ending::failed(error, exit, &hint);
    Ending { reason: stream.to_owned() + &ending.reason, ..ending }
}

/// Returns the exit code of an error and a hint, which can be empty; `None` if the reader of
/// standard output has closed it. `continues` as in [`ending`].
pub fn classify(error: &anyhow::Error, continues: bool) -> Option<(Exit, Cow<'static, str>)> {
    // A stop while the reader of the output did not read.
    let files = error.chain().filter_map(|error| error.downcast_ref::<io::Error>()?.get_ref());
    if let Some(Stopped { exit, hint }) = files.filter_map(|error| error.downcast_ref()).next() {
        return Some((*exit, hint.clone().into()));
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        let is_closed = error.kind() == io::ErrorKind::BrokenPipe;
        return (!is_closed).then(|| (Exit::System, "redirect the output to a file or pipe that accepts it".into()));
    }
    if let Some(Refused { exit, hint, .. }) = error.downcast_ref() {
        return Some((*exit, hint.clone().into()));
    }
    if let Some(Stopped { exit, hint }) = error.downcast_ref() {
        return Some((*exit, hint.clone().into()));
    }
    let known = error.downcast_ref::<RunError>().map(|error| of_run(error, continues));
    let known = known.or_else(|| error.downcast_ref::<FilesError>().map(|error| of_files(error, continues)));
    let known = known.or_else(|| error.downcast_ref::<DatabaseError>().map(of_database));
    let known = known.or_else(|| error.downcast_ref::<PlanError>().map(of_plan));
    let known = known.or_else(|| {
        let usage = error.is::<LayoutError>() || error.is::<BoardError>();
        let hint = "b1 is the first cell of the second row; run trinim plan --layers K to see a valid layout";
        usage.then_some((Exit::Usage, hint.into()))
    });
    Some(known.unwrap_or((Exit::System, "".into())))
}

/// Returns the hint for damaged files: the commands for the folder of the damaged file.
fn mend(path: &Path) -> Cow<'static, str> {
    let folder = path.parent().unwrap_or(path);
    let is_inner =
        folder.file_name().is_some_and(|name| [METADATA, LOGS, PUBLISHED].iter().any(|inner| name == *inner));
    let run = if is_inner { folder.parent().unwrap_or(folder) } else { folder };
    let run = quoted(&run.to_string_lossy());
    format!("run trinim check {run} to list all damage, then trinim repair {run} to restore what it can").into()
}

fn of_files(error: &FilesError, continues: bool) -> (Exit, Cow<'static, str>) {
    match error {
        FilesError::Run(error) => of_run(error, continues),
        FilesError::Database(error) => of_database(error),
        FilesError::Nothing { .. } => {
            (Exit::Usage, "name the folder of a solve; check and repair also accept its db folder".into())
        }
        FilesError::Foreign { .. } => (Exit::OtherRun, "use the version of trinim that wrote this folder".into()),
        FilesError::Irreparable { path, .. } => (Exit::Corrupt, irreparable(path)),
    }
}

/// Returns the hint for a file that cannot be rebuilt from anything. The database does not need its
/// run.
fn irreparable(path: &Path) -> Cow<'static, str> {
    let folder = path.parent().unwrap_or(path);
    let run =
        if folder.ends_with(METADATA) || folder.ends_with(LOGS) { folder.parent().unwrap_or(folder) } else { folder };
    let database = run.join(PUBLISHED);
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return "move it elsewhere, then run trinim repair again".into();
    }
    match !folder.ends_with(PUBLISHED) && is_database(&database) {
        true => {
            let database = quoted(&database.to_string_lossy());
            format!("it was not modified; check the database on its own with trinim verify {database}").into()
        }
        false => "it was not modified; keep the folder for inspection, or solve again with another --out".into(),
    }
}

/// The hint for a refusal of the system. A command that `continues` does so from a checkpoint when
/// it is run again; others start over.
fn of_system(error: &RunError, continues: bool) -> String {
    let more = |text| if continues { text } else { "" };
    let again = format!("run the same command again{}", more(" to continue from the last checkpoint"));
    match error {
        RunError::Thread { .. } => {
            let processes = "allow more processes (ulimit -u, or pids.max of the control group)";
            format!("{processes}, or use fewer --threads{}{}", more(", and "), more(&again))
        }
        RunError::OutOfMemory { .. } => {
            format!(
                "free memory on this machine, or use fewer --threads{}",
                more(" or smaller blocks with --block-bits")
            )
        }
        error if error.is_too_many_files() => {
            format!("allow more open files (ulimit -n){}, then {again}", more(" or use fewer --threads"))
        }
        error if error.is_full_disk() => {
            let other = if continues { "raise --max-disk" } else { "choose another" };
            format!("free space on this disk, or {other}, and {again}")
        }
        RunError::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
            "choose another path, or change the permissions of this one".to_owned()
        }
        _ => format!("fix the cause and {again}{}", more(", if there is one")),
    }
}

/// The hint for a memory budget that is too small. Smaller blocks help only if blocks are large.
fn more_memory(needed_bytes: u64, block_bytes: u64) -> Cow<'static, str> {
    let smaller = if block_bytes >= SMALL_BLOCK_BYTES { ", or smaller blocks with --block-bits" } else { "" };
    format!("use at least --memory {}{smaller}", binary_up(needed_bytes).to_string().replace(' ', "")).into()
}

/// A bitmap of at most this size is small compared with the program itself.
const SMALL_BLOCK_BYTES: u64 = 1 << 20;

/// Returns the limit of the folder, if reaching it caused the error.
fn reached(error: &RunError) -> Option<&LimitReached> {
    match error {
        RunError::Io { source, .. } => source.get_ref()?.downcast_ref(),
        RunError::Unsaved { full_disk } => reached(full_disk),
        _ => None,
    }
}

fn of_run(error: &RunError, continues: bool) -> (Exit, Cow<'static, str>) {
    match error {
        RunError::Corrupt { path, .. } => (Exit::Corrupt, mend(path)),
        RunError::Locked { .. } => (Exit::InUse, "wait for the other process, or choose another folder".into()),
        RunError::Parameters { .. } => {
            (Exit::OtherRun, "use the parameters this folder was started with, or choose another --out".into())
        }
        RunError::Version { .. } | RunError::Codec { .. } => {
            (Exit::OtherRun, "use the version of trinim that wrote this folder, or choose another folder".into())
        }
        RunError::NotEmpty { .. } | RunError::NotARun { .. } => {
            (Exit::Usage, "choose another --out: a new or empty folder, or the folder of an earlier solve".into())
        }
        RunError::Memory { needed_bytes, .. } => (Exit::System, more_memory(*needed_bytes, SMALL_BLOCK_BYTES)),
        RunError::OpenFiles { needed, .. } => (
            Exit::System,
            format!("nothing was written; run ulimit -n {needed}, or raise the hard limit of open files").into(),
        ),
        RunError::JournalFull { .. } => {
            (Exit::System, "run the same command again: it continues with a new journal".into())
        }
        RunError::Limit { .. } => (Exit::Usage, "choose larger blocks with --block-bits".into()),
        RunError::Audit { .. } => (
            Exit::Refuted,
            "this is a bug in trinim or a hardware fault: do not trust the blocks saved so far; solve again with \
             another --out, and report this message if it happens again"
                .into(),
        ),
        RunError::Workload { .. } => {
            (Exit::Corrupt, "the files in the folder contradict each other; solve again with another --out".into())
        }
        error => match reached(error) {
            Some(LimitReached { limit_bytes, used_bytes }) => {
                let (used, limit) = (Size(*used_bytes), Size(*limit_bytes));
                let hint = format!(
                    "the folder uses {used} of --max-disk {limit}; raise it and run the same command again to \
                     continue from the last checkpoint"
                );
                (Exit::System, hint.into())
            }
            None => (Exit::System, of_system(error, continues).into()),
        },
    }
}

fn of_database(error: &DatabaseError) -> (Exit, Cow<'static, str>) {
    match error {
        DatabaseError::Missing { .. } => {
            (Exit::Usage, "run trinim solve --layers K --out DIR to make a database or resume a solve".into())
        }
        DatabaseError::NotKept { .. } => {
            (Exit::Usage, "run trinim solve --keep database --out DIR to solve again and keep every value".into())
        }
        DatabaseError::Version { .. } => (Exit::OtherRun, "use the version of trinim that wrote this database".into()),
        DatabaseError::Corrupt { path, .. } => (Exit::Corrupt, mend(path)),
        DatabaseError::Storage(error) => of_run(error, false),
        _ => (Exit::System, "check that the folder can be read".into()),
    }
}

fn of_plan(error: &PlanError) -> (Exit, Cow<'static, str>) {
    match error {
        PlanError::Memory { needed_bytes, block_bytes, .. } => (Exit::System, more_memory(*needed_bytes, *block_bytes)),
        PlanError::Disk { .. } => (
            Exit::System,
            "nothing was written; free disk space, choose --out on a larger disk, or compare --keep and \
             --log-placement with trinim plan"
                .into(),
        ),
        _ => (Exit::Usage, "choose larger blocks with --block-bits or fewer --bid-cells".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Keep;
    use pipeline::{BlockId, Damage};

    /// Returns the names of the variants of an enum, from the source that declares it.
    fn variants<'s>(source: &'s str, name: &str) -> Vec<&'s str> {
        let (_, body) = source.split_once(&format!("pub enum {name} {{\n")).unwrap();
        let (body, _) = body.split_once("\n}").unwrap();
        let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
        let names = lines.filter(|line| line.starts_with(char::is_uppercase));
        names.map(|line| line.split(|c: char| !c.is_alphanumeric()).next().unwrap()).collect()
    }

    /// Checks the code of each variant. A variant without an example fails, as does an example with
    /// an empty hint.
    fn codes<E>(source: &str, name: &str, examples: Vec<(E, Exit)>)
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let mut missing = variants(source, name);
        for (error, exit) in examples {
            let debug = format!("{error:?}");
            missing.retain(|variant| *variant != debug.split(|c: char| !c.is_alphanumeric()).next().unwrap());
            let (code, hint) = classify(&anyhow::Error::from(error), true).unwrap();
            assert_eq!(code, exit, "{debug}");
            assert!(!hint.is_empty(), "{debug}");
        }
        assert!(missing.is_empty(), "{name}: no example of {missing:?}");
    }

    fn path() -> std::path::PathBuf {
        "run/db/x".into()
    }

    fn damaged() -> RunError {
        RunError::corrupt(path(), 3, Damage::MISSING)
    }

    #[test]
    fn every_error_of_the_libraries_has_its_exit_code_and_a_hint() {
        let io = || io::Error::from_raw_os_error(5);
        let text = || "x".to_owned();
        let bytes = 1 << 20;
        let examples = vec![
            (RunError::io("read", path(), io()), Exit::System),
            (damaged(), Exit::Corrupt),
            (RunError::Locked { path: path() }, Exit::InUse),
            (RunError::Parameters { path: path(), name: text(), found: text(), wanted: text() }, Exit::OtherRun),
            (RunError::Version { path: path(), found: 9, supported: 1 }, Exit::OtherRun),
            (RunError::Codec { path: path(), codec: "gaps" }, Exit::OtherRun),
            (RunError::NotEmpty { path: path(), name: text() }, Exit::Usage),
            (RunError::NotARun { path: path() }, Exit::Usage),
            (RunError::OutOfMemory { needed_bytes: bytes }, Exit::System),
            (RunError::Memory { needed_bytes: bytes, budget_bytes: 1 }, Exit::System),
            (RunError::OpenFiles { needed: 9, limit: 3 }, Exit::System),
            (RunError::Thread { source: io() }, Exit::System),
            (RunError::Unsaved { full_disk: Box::new(RunError::io("write", path(), io())) }, Exit::System),
            (RunError::JournalFull { length: 9, limit: 3 }, Exit::System),
            (RunError::Limit { what: "blocks", value: 9, limit: 3 }, Exit::Usage),
            (RunError::workload("x"), Exit::Corrupt),
            (RunError::Audit { block: BlockId(1), what: text() }, Exit::Refuted),
            (RunError::Poisoned, Exit::System),
            (RunError::Interrupted, Exit::System),
        ];
        codes(include_str!("../../pipeline/src/error.rs"), "Error", examples);
        let examples = vec![
            (DatabaseError::Io { operation: "read", path: path(), source: io() }, Exit::System),
            (DatabaseError::Missing { path: path(), reason: text() }, Exit::Usage),
            (DatabaseError::Version { path: path(), found: 9, supported: 1 }, Exit::OtherRun),
            (DatabaseError::NotKept { path: path(), keep: Keep::Counts }, Exit::Usage),
            (DatabaseError::Corrupt { path: path(), offset: None, damage: Damage::MISSING }, Exit::Corrupt),
            (DatabaseError::Storage(RunError::Locked { path: path() }), Exit::InUse),
        ];
        codes(include_str!("../database/error.rs"), "DatabaseError", examples);
        let examples = vec![
            (FilesError::Run(damaged()), Exit::Corrupt),
            (FilesError::Database(DatabaseError::Missing { path: path(), reason: text() }), Exit::Usage),
            (FilesError::Nothing { path: path() }, Exit::Usage),
            (FilesError::Foreign { path: path() }, Exit::OtherRun),
            (FilesError::Irreparable { path: path(), reason: text() }, Exit::Corrupt),
        ];
        codes(include_str!("../maintenance/mod.rs"), "Error", examples);
        let examples = vec![
            (PlanError::Memory { needed_bytes: bytes, budget_bytes: 1, block_bytes: 1 }, Exit::System),
            (PlanError::Disk { needed_bytes: bytes, free_bytes: 1 }, Exit::System),
            (PlanError::Blocks { found: 9, most: 8 }, Exit::Usage),
        ];
        codes(include_str!("../plan/fit.rs"), "PlanError", examples);
    }
}
