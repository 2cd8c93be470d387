//! Files and folders named by an argument: small texts to read, and outputs, which are checked
//! before the work begins and written at its end.
//!
//! # Invariants
//! 1. An existing file is replaced only if it begins with the signature of its kind; anything else
//!    is refused before the work begins.
//! 2. A file appears under its name whole or not at all.

use crate::cli::face::exit::Refused;
use crate::cli::face::values::Size;
use clap::Args;
use pipeline::storage::read_regular;
use pipeline::{Damage, Error};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

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
    path: PathBuf,
    folder: PathBuf,
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
        let folder = folder_of(path).to_path_buf();
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(refused(format!("{flag} {shown} is a folder")).into()),
            Ok(found) if !found.is_file() => {
                return Err(refused(format!("{flag} {shown} is not a regular file")).into());
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
            Err(_) if !folder.is_dir() => {
                return Err(refused(format!("{flag} {shown}: there is no folder {}", folder.display())).into());
            }
            Err(error) => return Err(Error::io("measure", path, error).into()),
        }
        let export = OutputFile { path: path.to_path_buf(), folder };
        export.begin()?;
        Ok(export)
    }

    /// Checks that the picture that `--svg` names can be written.
    ///
    /// # Errors
    /// Returns the errors of [`OutputFile::claim`].
    pub fn claim_svg(path: &Path) -> anyhow::Result<OutputFile> {
        OutputFile::claim(path, OutputKind { flag: "--svg", what: "SVG picture", signature: "<svg" })
    }

    /// Checks that `path` can be written; an existing file is refused unless it may be replaced.
    ///
    /// # Errors
    /// Those of [`OutputFile::claim`].
    pub fn claim_new(path: &Path, flag: &'static str, replace: bool) -> anyhow::Result<OutputFile> {
        if !replace && path.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
            let message = format!("{flag} {} exists", path.display());
            return Err(Refused::new(message, "choose another name, or replace the file with --force").into());
        }
        OutputFile::claim(path, OutputKind { flag, what: "file", signature: "" })
    }

    /// Gives a file that was begun its name, once it is on the disk.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system refuses, or if a file appeared there that must not be
    /// replaced; the file that was begun is removed.
    pub fn finish(&self, file: tempfile::NamedTempFile, replace: bool) -> Result<(), Error> {
        file.as_file().sync_all().map_err(|error| self.failed(error))?;
        let named = if replace { file.persist(&self.path) } else { file.persist_noclobber(&self.path) };
        named.map(drop).map_err(|error| self.failed(error.error))
    }

    /// The error for a write that failed.
    pub fn failed(&self, error: io::Error) -> Error {
        Error::io("write", &self.path, error)
    }

    /// Begins the file under a temporary name.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system refuses.
    pub fn begin(&self) -> Result<tempfile::NamedTempFile, Error> {
        let readable = fs::Permissions::from_mode(0o666);
        let made = tempfile::Builder::new().prefix(".trinim.").permissions(readable).tempfile_in(&self.folder);
        made.map_err(|error| Error::io("create a file in", &self.folder, unnamed(error)))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system refuses.
    pub fn write(&self, text: &str) -> Result<(), Error> {
        let mut file = self.begin()?;
        file.write_all(text.as_bytes()).map_err(|error| self.failed(error))?;
        file.persist(&self.path).map_err(|error| self.failed(error.error))?;
        Ok(())
    }
}

/// Returns the folder of a file or folder that is named from here.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the system's error of a temporary file or folder, without the temporary name, which
/// means nothing to the user.
pub fn unnamed(error: io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split_once(" at path ").map_or(text.clone(), |(reason, _)| reason.to_owned()))
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
