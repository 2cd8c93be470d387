//! Files and folders named by an argument: small texts to read, and outputs, which are checked
//! before the work begins and written at its end. Long because each kind of output is tested.
//!
//! # Invariants
//! 1. Only a regular file is replaced, and only if its first line is that of an earlier output of
//!    this kind, unless the caller allows replacing any file. Everything else is refused before the
//!    work begins, and again when the output gets its name.
//! 2. A file appears under its name whole or not at all. Behind a link, that is the file to which
//!    the link leads; its mode stays. A pipe or a character device is written to directly, and an
//!    open file of this process at the place where its other users write.
//! 3. Where the system supports files without a name, an output has none until it is complete, so
//!    that a killed process leaves nothing. Elsewhere it has a temporary name beside the final one.

use crate::exit::Refused;
use crate::streams::{self, PatientWriter};
use crate::values::Size;
use clap::Args;
use pipeline::storage::read_regular;
use pipeline::{Damage, Error};
use rustix::fs::{AtFlags, CWD, Gid, OFlags, Uid, fchown, linkat};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// A kind of file.
#[derive(Clone, Copy)]
pub struct OutputKind {
    /// The flag that names such a file.
    pub flag: &'static str,
    /// Its name in messages.
    pub what: &'static str,
    /// Whether a file with this first line is of the kind.
    pub is_own: fn(&str) -> bool,
}

/// A file to write.
pub struct OutputFile {
    /// The path as given.
    path: PathBuf,
    /// The file behind all links; `None` for a pipe or a device, which is written to directly.
    target: Option<PathBuf>,
    replaces: Replaces,
}

/// The regular files that an output can replace.
#[derive(Clone, Copy)]
enum Replaces {
    Nothing,
    Own(OutputKind),
    Any,
}

/// The kind of file that already has the name of an output.
enum Existing {
    Nothing,
    Replaceable,
    /// A pipe, a character device or an open file, which is written to directly.
    Direct,
    /// A file that must stay; with the reason.
    Other(String),
}

impl Replaces {
    /// Looks at the file with this name, behind all links.
    fn look(self, path: &Path) -> io::Result<Existing> {
        let kind = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Existing::Nothing),
            found => found?.file_type(),
        };
        let other = |reason: &str| Ok(Existing::Other(reason.to_owned()));
        match self {
            _ if kind.is_dir() => other("is a folder"),
            _ if kind.is_fifo() || kind.is_char_device() => Ok(Existing::Direct),
            _ if !kind.is_file() => other("is not a regular file"),
            _ if is_open_file(&target_of(path)) => Ok(Existing::Direct),
            Replaces::Nothing => other("exists"),
            Replaces::Own(OutputKind { what, is_own, .. }) if !is_own(&first_line(path)?) => {
                other(&format!("exists and is not a trinim {what}"))
            }
            Replaces::Own(_) | Replaces::Any => Ok(Existing::Replaceable),
        }
    }
}

/// Longest first line that is read, in bytes.
const FIRST_LINE_BYTES: u64 = 1024;

fn first_line(path: &Path) -> io::Result<String> {
    let mut line = Vec::new();
    // A pipe that replaces the file between two looks must not block the command.
    let file = fs::File::options().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    BufReader::new(file).take(FIRST_LINE_BYTES).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// The most links that are followed, as many as the system follows.
const LINKS: usize = 40;

/// Beginning of temporary names.
const TEMPORARY: &str = ".trinim.";

/// Folders with links to open files, which have no other name.
const OPEN_FILES: [&str; 2] = ["/proc", "/dev/fd"];

fn is_open_file(path: &Path) -> bool {
    OPEN_FILES.iter().any(|folder| path.starts_with(folder))
}

/// Returns the number of the open file of this process to which a path leads.
fn open_file_number(path: &Path) -> Option<RawFd> {
    let target = target_of(path);
    let folder = folder_of(&target).canonicalize().ok()?;
    let is_own = folder.starts_with(fs::canonicalize("/proc/self").ok()?) && folder.ends_with("fd");
    target.file_name().filter(|_| is_own)?.to_str()?.parse().ok()
}

/// Returns whether a path leads to standard output.
pub fn is_stdout(path: &Path) -> bool {
    open_file_number(path) == Some(rustix::stdio::stdout().as_raw_fd())
}

/// Returns the file to which a path leads, or would lead if it existed.
fn target_of(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..LINKS {
        if is_open_file(&target) {
            break;
        }
        let Ok(next) = fs::read_link(&target) else { break };
        target = folder_of(&target).join(next);
    }
    target
}

impl OutputFile {
    /// Checks that `path` can be written and that no other kind of file is there.
    ///
    /// # Errors
    /// Returns [`Refused`] for a folder, a file of another kind or a missing folder, and
    /// [`Error::Io`] if the system refuses.
    pub fn claim(path: &Path, kind: OutputKind) -> anyhow::Result<OutputFile> {
        let output = OutputFile::look(path, kind.flag, kind.what, Replaces::Own(kind))?;
        if output.target.is_some() {
            output.begin()?;
        }
        Ok(output)
    }

    /// Returns the output at `path` for a file that is written repeatedly, which must be regular.
    /// Whether its folder can be written shows when it is begun.
    ///
    /// # Errors
    /// Returns [`Refused`] and [`Error::Io`] as [`OutputFile::claim`] does, and [`Refused`] for a
    /// pipe or a device.
    pub fn look_regular(path: &Path, kind: OutputKind) -> anyhow::Result<OutputFile> {
        let output = OutputFile::look(path, kind.flag, kind.what, Replaces::Own(kind))?;
        match output.target {
            Some(_) => Ok(output),
            None => Err(refused(kind.flag, kind.what, format_args!("{} is not a regular file", path.display())).into()),
        }
    }

    /// Looks at the file at `path`, and refuses one that must stay.
    fn look(path: &Path, flag: &str, what: &str, replaces: Replaces) -> anyhow::Result<OutputFile> {
        let refused = |reason: &str| Err(refused(flag, what, format_args!("{}{reason}", path.display())).into());
        let target = target_of(path);
        let folder = folder_of(&target);
        let is_direct = match replaces.look(path) {
            Ok(Existing::Other(reason)) => return refused(&format!(" {reason}")),
            Ok(Existing::Nothing) if !folder.is_dir() => {
                return refused(&format!(": the folder {} does not exist", folder.display()));
            }
            Ok(existing) => matches!(existing, Existing::Direct),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return refused(&format!(": the folder {} does not exist", folder.display()));
            }
            Err(error) => return Err(Error::io("measure", path, error).into()),
        };
        Ok(OutputFile { path: path.to_path_buf(), target: (!is_direct).then_some(target), replaces })
    }

    /// Checks that `path` can be written; an existing file is refused unless it can be replaced.
    ///
    /// # Errors
    /// Those of [`OutputFile::claim`].
    pub fn claim_new(path: &Path, flag: &'static str, replace: bool) -> anyhow::Result<OutputFile> {
        let output = OutputFile::look(path, flag, "file", Replaces::Any)?;
        if output.target.is_none() {
            return Ok(output);
        }
        if !replace && path.symlink_metadata().is_ok() {
            let message = format!("{flag} {} exists", path.display());
            return Err(Refused::new(message, "choose another name, or replace the file with --force").into());
        }
        output.begin()?;
        Ok(if replace { output } else { OutputFile { replaces: Replaces::Nothing, ..output } })
    }

    /// Returns the output at the path of a regular file that the caller allows replacing.
    pub fn at(path: &Path) -> OutputFile {
        OutputFile { path: path.to_path_buf(), target: Some(target_of(path)), replaces: Replaces::Any }
    }

    /// The error for a write that failed.
    fn failed(&self, error: io::Error) -> Error {
        Error::io("write", &self.path, unnamed(error))
    }

    /// Begins the file in its folder, without a name or under a temporary one.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system refuses.
    pub fn begin(&self) -> Result<OpenOutput<'_>, Error> {
        let Some(target) = &self.target else {
            let opened = match open_file_number(&self.path) {
                Some(number) => streams::share(number),
                None => streams::open(&self.path),
            };
            let file = opened.map_err(|error| Error::io("open", &self.path, error))?;
            return Ok(OpenOutput { output: self, file: Place::Direct(file) });
        };
        let folder = folder_of(target);
        if let Ok(file) = nameless(folder) {
            return Ok(OpenOutput { output: self, file: Place::Temporary { file, name: None, target } });
        }
        let readable = fs::Permissions::from_mode(0o666);
        let made = tempfile::Builder::new().prefix(TEMPORARY).permissions(readable).tempfile_in(folder);
        let (file, name) = made.map_err(|error| Error::io("create a file in", folder, unnamed(error)))?.into_parts();
        Ok(OpenOutput { output: self, file: Place::Temporary { file, name: Some(name), target } })
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system refuses.
    pub fn write(&self, text: &str) -> Result<(), Error> {
        let mut file = self.begin()?;
        file.write(text.as_bytes())?;
        file.give_name()
    }
}

fn refused(flag: &str, what: &str, reason: impl std::fmt::Display) -> Refused {
    Refused::new(format!("{flag} {reason}"), format!("choose a new file for {flag}, or an existing {what}"))
}

/// An output that is being written.
pub struct OpenOutput<'a> {
    output: &'a OutputFile,
    file: Place<'a>,
}

enum Place<'a> {
    Temporary { file: fs::File, name: Option<TempPath>, target: &'a Path },
    Direct(PatientWriter<fs::File>),
}

impl OpenOutput<'_> {
    /// Writes bytes.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system refuses.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = match &mut self.file {
            Place::Temporary { file, .. } => file.write_all(bytes),
            Place::Direct(file) => file.write_all(bytes),
        };
        written.map_err(|error| self.output.failed(error))
    }

    /// Gives the file its name, once it is on the disk.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system refuses, or if a file that must not be replaced has
    /// appeared there; the new file is then removed.
    pub fn finish(self) -> Result<(), Error> {
        if let Place::Temporary { file, .. } = &self.file {
            file.sync_all().map_err(|error| self.output.failed(error))?;
        }
        self.give_name()
    }

    fn give_name(self) -> Result<(), Error> {
        let Place::Temporary { file, name, target } = self.file else { return Ok(()) };
        let named = name.map_or_else(|| temporary_name(&file, folder_of(target)), Ok).and_then(|name| {
            let file = NamedTempFile::from_parts(file, name);
            match self.output.replaces.look(target)? {
                Existing::Nothing => put_new(file, target, |file| file.persist_noclobber(target)),
                // Links were followed before.
                Existing::Replaceable if !target.is_symlink() => put(file, target),
                _ => Err(io::Error::new(io::ErrorKind::AlreadyExists, "another file took this name in the meantime")),
            }
        });
        named.map_err(|error| self.output.failed(error))
    }
}

/// Creates a file without a name, in a folder where such files can be given one.
fn nameless(folder: &Path) -> io::Result<fs::File> {
    let mut options = fs::File::options();
    options.write(true).mode(0o666).custom_flags(OFlags::TMPFILE.bits() as i32);
    // Without /proc such a file cannot be given a name, so the first one is a trial.
    temporary_name(&options.open(folder)?, folder)?;
    options.open(folder)
}

/// Gives a file without a name a temporary one. Only a rename replaces a file, and it needs one.
fn temporary_name(file: &fs::File, folder: &Path) -> io::Result<TempPath> {
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    let name = |path: &Path| Ok(linkat(CWD, &*open, CWD, path, AtFlags::SYMLINK_FOLLOW)?);
    Ok(tempfile::Builder::new().prefix(TEMPORARY).make_in(folder, name)?.into_temp_path())
}

/// Renames a file over another one, with the owner and mode of the old file, as far as the system
/// allows it.
fn put(file: NamedTempFile, target: &Path) -> io::Result<()> {
    if let Ok(replaced) = fs::metadata(target) {
        let (owner, group) = (Uid::from_raw(replaced.uid()), Gid::from_raw(replaced.gid()));
        // A change of the owner clears bits of the mode, so it comes first.
        let _ = fchown(file.as_file(), Some(owner), Some(group));
        let _ = file.as_file().set_permissions(replaced.permissions());
    }
    file.persist(target).map(drop).map_err(|error| error.error)
}

/// A file with its name, or the system's error.
type Named = Result<fs::File, tempfile::PersistError>;

/// Gives a file a name that does not exist. Where the system supports neither a rename that
/// replaces nothing nor hard links, another program can take the name between a look and a rename.
fn put_new(file: NamedTempFile, target: &Path, name: impl FnOnce(NamedTempFile) -> Named) -> io::Result<()> {
    let Err(refused) = name(file) else { return Ok(()) };
    let is_free = target.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    if refused.error.kind() == io::ErrorKind::AlreadyExists || !is_free {
        return Err(refused.error);
    }
    put(refused.file, target)
}

/// Returns the folder of a path relative to the current folder.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the system's error of a temporary file or folder, without the temporary name, which
/// means nothing to the user.
pub fn unnamed(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason.to_owned()),
        None => error,
    }
}

/// A kind of file to read.
#[derive(Clone, Copy)]
pub struct InputKind {
    /// One word for it, with which errors begin.
    pub what: &'static str,
    /// Limit of its length, in bytes.
    pub most_bytes: u64,
    /// Where to get such a file.
    pub hint: &'static str,
}

impl InputKind {
    /// Builds the error for a file of this kind.
    pub fn refused(self, path: &Path, reason: impl std::fmt::Display) -> Refused {
        Refused::new(format!("{} {}: {reason}", self.what, path.display()), self.hint)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Returns [`Refused`] if the file is missing, not regular, too long or not UTF-8, and
    /// [`Error::Io`] if the system refuses.
    pub fn read(self, path: &Path) -> anyhow::Result<String> {
        let bytes = read_regular(path, self.most_bytes).map_err(|error| match error {
            Error::Corrupt { damage: Damage::NotAFile, .. } => self.refused(path, "not a regular file").into(),
            Error::Corrupt { damage: Damage::Length { .. }, .. } => {
                let most = Size(self.most_bytes);
                self.refused(path, format_args!("larger than the {most} limit")).into()
            }
            error if error.is_not_found() => self.refused(path, "no such file").into(),
            error => anyhow::Error::from(error),
        })?;
        String::from_utf8(bytes).map_err(|_| self.refused(path, "not text").into())
    }
}

/// `--parents`.
#[derive(Clone, Copy, Args)]
pub struct ParentsArgs {
    /// Create missing folders above the one of --out
    #[arg(long, help_heading = "Output", hide = true)]
    parents: bool,
}

impl ParentsArgs {
    /// Refuses a folder whose parent is missing, unless `--parents` is given: a run below the mount
    /// point of an unmounted disk would fill another disk.
    pub fn check(self, folder: &Path) -> Result<(), Refused> {
        let parent = folder_of(folder);
        if self.parents || !matches!(parent.try_exists(), Ok(false)) {
            return Ok(());
        }
        Err(Refused::new(
            format!("--out {}: the folder {} does not exist", folder.display(), parent.display()),
            "mount the disk, or create the folder with --parents",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FileType, Mode, mknodat};
    use rustix::io::Errno;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    const KIND: OutputKind = OutputKind { flag: "--x", what: "text", is_own: |line| line == "own\n" };
    /// The kinds of outputs. The last two can replace any regular file, the first two their own
    /// kind.
    const OUTPUTS: [fn(&Path) -> OutputFile; 5] = [
        |path| OutputFile::claim(path, KIND).unwrap(),
        |path| OutputFile::look_regular(path, KIND).unwrap(),
        |path| OutputFile::claim_new(path, "--x", false).unwrap(),
        |path| OutputFile::claim_new(path, "--x", true).unwrap(),
        OutputFile::at,
    ];

    /// Other users can read outputs as far as the umask allows, and a replaced file keeps its mode.
    #[test]
    fn modes_are_those_of_any_new_file_and_of_the_one_that_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode();
        let usual = folder.path().join("usual");
        fs::write(&usual, "").unwrap();
        for (number, output) in OUTPUTS.into_iter().enumerate() {
            for is_finished in [false, true] {
                let path = folder.path().join(format!("{number}{is_finished}"));
                let write = |output: OutputFile| {
                    let mut file = output.begin()?;
                    file.write(b"own\n")?;
                    if is_finished { file.finish() } else { file.give_name() }
                };
                write(output(&path)).unwrap();
                assert_eq!(mode(&path), mode(&usual), "{number}: {:o}", mode(&path));
                for other in [0o600, 0o640, 0o666, 0o444].into_iter().filter(|_| number != 2) {
                    fs::set_permissions(&path, fs::Permissions::from_mode(other)).unwrap();
                    write(output(&path)).unwrap();
                    assert_eq!(mode(&path) & 0o7777, other, "{number}: {:o}", mode(&path));
                }
            }
        }
    }

    /// Regression: a killed process left a file of a temporary name for ever.
    #[test]
    fn an_output_has_no_name_until_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let [fresh, forced] = [false, true].map(|force| OutputFile::claim_new(&path, "--out", force).unwrap());
        let names = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        for (text, output) in [("first", &fresh), ("second", &forced)] {
            let before = names();
            let mut file = output.begin().unwrap();
            file.write(text.as_bytes()).unwrap();
            assert_eq!(names(), before);
            file.finish().unwrap();
            assert_eq!((names(), fs::read_to_string(&path).unwrap()), (vec!["file".into()], text.to_owned()));
        }
        assert!(fresh.begin().unwrap().finish().is_err());
        assert_eq!((names().len(), fs::read_to_string(&path).unwrap()), (1, "second".to_owned()));
    }

    /// A file that takes the name during the work stays: an output of any kind replaces no pipe,
    /// folder, socket or link to a device, and a file only if it is of its own kind.
    #[test]
    fn what_takes_the_name_of_an_output_meanwhile_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let own = folder.path().with_extension("own");
        fs::write(&own, "own\n").unwrap();
        let arrivals: [fn(&Path); 7] = [
            |path| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
            |path| fs::create_dir(path).unwrap(),
            |path| drop(UnixListener::bind(path).unwrap()),
            |path| symlink("/dev/null", path).unwrap(),
            |path| symlink(path.parent().unwrap().with_extension("own"), path).unwrap(),
            |path| fs::write(path, "a letter\n").unwrap(),
            |path| fs::write(path, "own\nand more").unwrap(),
        ];
        for (number, output) in OUTPUTS.into_iter().enumerate() {
            for (arrival, arrive) in arrivals.into_iter().enumerate() {
                let output = output(&path);
                arrive(&path);
                let before = fs::symlink_metadata(&path).unwrap();
                let is_replaced = arrival >= 5 && number >= 3 || arrival == 6 && number < 2;
                assert_eq!(output.write("new").is_ok(), is_replaced, "{number} {arrival}");
                let after = fs::symlink_metadata(&path).unwrap();
                assert_eq!(after.ino() == before.ino() && after.mode() == before.mode(), !is_replaced);
                if before.is_dir() {
                    fs::remove_dir(&path).unwrap()
                } else {
                    fs::remove_file(&path).unwrap()
                }
                assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{number} {arrival}");
            }
        }
        assert_eq!(fs::read_to_string(&own).unwrap(), "own\n");
        fs::remove_file(own).unwrap();
    }

    /// Where there are no hard links, an export failed after all its work.
    #[test]
    fn a_new_file_needs_no_hard_link_and_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        // The errors of exFAT, SMB and others.
        for refusal in [Errno::PERM, Errno::OPNOTSUPP, Errno::INVAL, Errno::NOSYS] {
            let put = |text: &str| {
                let mut file = NamedTempFile::new_in(folder.path()).unwrap();
                file.write_all(text.as_bytes()).unwrap();
                put_new(file, &target, |file| Err(tempfile::PersistError { error: refusal.into(), file }))
            };
            put("first").unwrap();
            assert!(put("second").is_err());
            assert_eq!(fs::read_to_string(&target).unwrap(), "first");
            fs::remove_file(&target).unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
