//! Small text files named by an argument.

use super::exit::Refused;
use pipeline::Error;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

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
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(self.refused(path, "no such file").into());
            }
            Err(error) => return Err(Error::io("read", path, error).into()),
        };
        // Reading a pipe would block, and a device might never end.
        if !metadata.is_file() {
            return Err(self.refused(path, "not a regular file").into());
        }
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(self.most_bytes + 1).read_to_end(&mut bytes));
        read.map_err(|error| Error::io("read", path, error))?;
        if bytes.len() as u64 > self.most_bytes {
            let most = super::args::Size(self.most_bytes);
            return Err(self.refused(path, format_args!("larger than the {most} limit")).into());
        }
        String::from_utf8(bytes).map_err(|_| self.refused(path, "not text").into())
    }
}
