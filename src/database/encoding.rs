//! How the bitmaps of a database are encoded.

/// The encoding of the block files of a database: their version, and that of the manifest.
///
/// A new solve takes the newest. A folder that was begun with another keeps it to the last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Codes of 64-bit words in frames of 16 MiB of bitmap ([`frame`](super::frame)): version 1.
    Words,
    /// The log codec `rows-huffman` in frames of 1 MiB of bitmap: version 2. A third of the time to
    /// encode and to decode for 3 % more bytes at eight layers, and fewer on smaller boards.
    #[default]
    Rows,
}

impl Encoding {
    /// The parameter in `FORMAT` that names the encoding of a run that keeps the database. A run
    /// with [`Encoding::Words`] has none: older programs, which know nothing else, continue it.
    pub const PARAMETER: &'static str = "encoding";
    /// The value of the parameter for [`Encoding::Rows`].
    const ROWS: &'static str = "rows";

    /// Returns the parameter of a run that keeps the database, if it has one.
    pub fn parameter(self) -> Option<(String, String)> {
        (self == Encoding::Rows).then(|| (Encoding::PARAMETER.to_owned(), Encoding::ROWS.to_owned()))
    }

    /// Returns the encoding of a run with these parameters; `None` if this program cannot tell.
    pub fn from_parameters(given: &[(String, String)]) -> Option<Encoding> {
        match given.iter().find(|(name, _)| name == Encoding::PARAMETER) {
            None => Some(Encoding::Words),
            Some((_, value)) => (value == Encoding::ROWS).then_some(Encoding::Rows),
        }
    }

    /// Returns the version of the block files.
    pub(super) fn version(self) -> u32 {
        match self {
            Encoding::Words => 1,
            Encoding::Rows => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_back_and_others_refused() {
        for encoding in [Encoding::Words, Encoding::Rows] {
            let parameters: Vec<(String, String)> = encoding.parameter().into_iter().collect();
            assert_eq!(Encoding::from_parameters(&parameters), Some(encoding));
        }
        for other in ["words", "Rows", "", "rows "] {
            assert_eq!(Encoding::from_parameters(&[("encoding".into(), other.into())]), None, "{other:?}");
        }
    }
}
