//! Files and folders named by an argument: small texts to read, and outputs, which are checked
//! before the work begins and written at its end.
//!
//! # Invariants
//! 1. An existing file is replaced only if it begins with the signature of its kind; anything else
//!    is refused before the work begins.
//! 2. A file appears under its name whole or not at all. Behind a link, that is the file to which
//!    the link leads; its mode stays. A pipe or a device is written to directly.
//! 3. Where the system has files without a name, an output has none until it is whole, so that a
//!    killed process leaves nothing. Elsewhere it has a temporary name beside the final one.

use crate::exit::Refused;
use crate::streams::{self, PatientWriter};
use crate::values::Size;
use clap::Args;
use pipeline::storage::read_regular;
use pipeline::{Damage, Error};
use rustix::fs::{AtFlags, CWD, Gid, OFlags, Uid, fchown, linkat};
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// A kind of file.
#[derive(Clone, Copy)]
pub struct OutputKind {
    /// The flag that names such a file.
    pub flag: &'static str,
    /// Its name in messages.
    pub what: &'static str,
    /// First bytes of every such file.
    pub signature: &'static str,
}

/// A file to write.
pub struct OutputFile {
    /// As it was named.
    path: PathBuf,
    /// The file behind all links; `None` for a pipe or a device, to which is written directly.
    target: Option<PathBuf>,
}

/// Most links that are followed, as many as the system follows.
const LINKS: usize = 40;

/// Beginning of temporary names.
const TEMPORARY: &str = ".trinim.";

/// Folders of links that lead to open files, which have no other name.
const OPEN_FILES: [&str; 2] = ["/proc", "/dev/fd"];

fn is_open_file(path: &Path) -> bool {
    OPEN_FILES.iter().any(|folder| path.starts_with(folder))
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
    /// Checks that `path` can be written and holds nothing of another kind.
    ///
    /// # Errors
    /// Returns [`Refused`] for a folder, a file of another kind or a missing folder, and
    /// [`Error::Io`] if the system refuses.
    pub fn claim(path: &Path, kind: OutputKind) -> anyhow::Result<OutputFile> {
        let OutputKind { flag, what, signature } = kind;
        let shown = path.display();
        let refused =
            |message: String| Refused::new(message, format!("name a new file with {flag}, or an earlier {what}"));
        let target = target_of(path);
        let folder = folder_of(&target);
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(refused(format!("{flag} {shown} is a folder")).into()),
            Ok(found) if !found.is_file() || is_open_file(&target) => {
                return Ok(OutputFile { path: path.to_path_buf(), target: None });
            }
            Ok(_) => {
                let mut begin = Vec::new();
                let file = fs::File::open(path).map_err(|error| Error::io("open", path, error))?;
                let read = file.take(signature.len() as u64).read_to_end(&mut begin);
                read.map_err(|error| Error::io("read", path, error))?;
                if begin != signature.as_bytes() {
                    return Err(refused(format!("{flag} {shown} exists and is not a trinim {what}")).into());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && folder.is_dir() => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(refused(format!("{flag} {shown}: there is no folder {}", folder.display())).into());
            }
            Err(error) => return Err(Error::io("measure", path, error).into()),
        }
        let export = OutputFile { path: path.to_path_buf(), target: Some(target) };
        export.begin()?;
        Ok(export)
    }

    /// Checks that `path` can be written; an existing file is refused unless it may be replaced.
    ///
    /// # Errors
    /// Those of [`OutputFile::claim`].
    pub fn claim_new(path: &Path, flag: &'static str, replace: bool) -> anyhow::Result<OutputFile> {
        let output = OutputFile::claim(path, OutputKind { flag, what: "file", signature: "" })?;
        let replaced = output.target.as_ref().filter(|_| !replace);
        if replaced.is_some_and(|_| path.symlink_metadata().is_ok()) {
            let message = format!("{flag} {} exists", path.display());
            return Err(Refused::new(message, "choose another name, or replace the file with --force").into());
        }
        Ok(output)
    }

    /// Returns the output at a path of which nothing is checked, for a file that is written again
    /// and again.
    pub fn at(path: &Path) -> OutputFile {
        OutputFile { path: path.to_path_buf(), target: Some(target_of(path)) }
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
            let file = streams::open(&self.path).map_err(|error| Error::io("open", &self.path, error))?;
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
        file.give_name(true)
    }
}

/// An output that was begun.
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
    /// Returns [`Error::Io`] if the system refuses, or if a file appeared there that must not be
    /// replaced; the file that was begun is removed.
    pub fn finish(self, replace: bool) -> Result<(), Error> {
        if let Place::Temporary { file, .. } = &self.file {
            file.sync_all().map_err(|error| self.output.failed(error))?;
        }
        self.give_name(replace)
    }

    fn give_name(self, replace: bool) -> Result<(), Error> {
        let Place::Temporary { file, name, target } = self.file else { return Ok(()) };
        let named = name.map_or_else(|| temporary_name(&file, folder_of(target)), Ok).and_then(|name| {
            let file = NamedTempFile::from_parts(file, name);
            match replace {
                true => put(file, target),
                false => put_new(file, target, |file| file.persist_noclobber(target)),
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

/// Gives a file the name of another one, with the owner and the mode of that, as far as the system
/// lets it.
fn put(file: NamedTempFile, target: &Path) -> io::Result<()> {
    if let Ok(replaced) = fs::metadata(target) {
        let (owner, group) = (Uid::from_raw(replaced.uid()), Gid::from_raw(replaced.gid()));
        // A change of the owner clears bits of the mode, so it is first.
        let _ = fchown(file.as_file(), Some(owner), Some(group));
        let _ = file.as_file().set_permissions(replaced.permissions());
    }
    file.persist(target).map(drop).map_err(|error| error.error)
}

/// A file with its name, or the refusal of the system.
type Named = Result<fs::File, tempfile::PersistError>;

/// Gives a file a name that does not exist. Where the system knows neither a rename that replaces
/// nothing nor hard links, another program may take the name between a look and a rename.
fn put_new(file: NamedTempFile, target: &Path, name: impl FnOnce(NamedTempFile) -> Named) -> io::Result<()> {
    let Err(refused) = name(file) else { return Ok(()) };
    let is_free = target.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    if refused.error.kind() == io::ErrorKind::AlreadyExists || !is_free {
        return Err(refused.error);
    }
    put(refused.file, target)
}

/// Returns the folder of a file or folder that is named from here.
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
    /// Where such a file comes from.
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
    /// Refuses a folder whose parent is missing, unless `--parents` is given: below the mount point
    /// of a disk that is not mounted, a run would fill another disk.
    pub fn check(self, folder: &Path) -> Result<(), Refused> {
        let parent = folder_of(folder);
        if self.parents || !matches!(parent.try_exists(), Ok(false)) {
            return Ok(());
        }
        Err(Refused::new(
            format!("--out {}: there is no folder {}", folder.display(), parent.display()),
            "mount the disk, or create the folder with --parents",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    /// Regression: a killed process left a file of a temporary name for ever.
    #[test]
    fn an_output_has_no_name_until_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputFile::at(&folder.path().join("file"));
        let names = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        for (text, replace) in [("first", false), ("second", true)] {
            let before = names();
            let mut file = output.begin().unwrap();
            file.write(text.as_bytes()).unwrap();
            assert_eq!(names(), before);
            file.finish(replace).unwrap();
            assert_eq!((names(), fs::read_to_string(&output.path).unwrap()), (vec!["file".into()], text.to_owned()));
        }
        assert!(output.begin().unwrap().finish(false).is_err());
        assert_eq!((names().len(), fs::read_to_string(&output.path).unwrap()), (1, "second".to_owned()));
    }

    /// Where there are no hard links, an export failed after all its work.
    #[test]
    fn a_new_file_needs_no_hard_link_and_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        // What exFAT, SMB and others say.
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
