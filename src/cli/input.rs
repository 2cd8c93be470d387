//! Small texts in files that an argument names.

use super::exit::Refused;
use pipeline::Error;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// A kind of file to read.
#[derive(Clone, Copy)]
pub struct InputKind {
    /// What it is, in a word; errors begin with it.
    pub what: &'static str,
    /// The longest that is read, in bytes.
    pub most_bytes: u64,
    /// Where such a file comes from.
    pub hint: &'static str,
}

impl InputKind {
    /// The error of a file of this kind.
    pub fn refused(self, path: &Path, reason: impl std::fmt::Display) -> Refused {
        Refused::new(format!("{} {}: {reason}", self.what, path.display()), self.hint)
    }

    /// The text of a file.
    ///
    /// # Errors
    /// [`Refused`] for what is missing, no regular file, too long or no text; [`Error::Io`] where the system refuses.
    pub fn read(self, path: &Path) -> anyhow::Result<String> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(self.refused(path, "there is no such file").into());
            }
            Err(error) => return Err(Error::io("read", path, error).into()),
        };
        // A pipe would be waited for, a device read without end.
        if !metadata.is_file() {
            return Err(self.refused(path, "this is no regular file").into());
        }
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(self.most_bytes + 1).read_to_end(&mut bytes));
        read.map_err(|error| Error::io("read", path, error))?;
        if bytes.len() as u64 > self.most_bytes {
            let most = super::args::Size(self.most_bytes);
            return Err(self.refused(path, format_args!("larger than the limit of {most}")).into());
        }
        String::from_utf8(bytes).map_err(|_| self.refused(path, "this is no text").into())
    }
}
