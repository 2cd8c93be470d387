//! Damage: what is wrong with a file, where, and how serious it is.
//!
//! Errors, [`check`](crate::maintenance::check) and callers with their own files share this
//! vocabulary. Programs read the variants; people read the sentence that [`Finding`] displays:
//! `db/SUMS is missing`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is wrong with a file or with some of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The file does not exist.
    Missing {
        /// The name of another file in the folder that proves that this one is missing, unless that
        /// is obvious.
        beside: Option<String>,
    },
    /// The name belongs to something other than a file: a folder, a pipe or a device.
    NotAFile,
    /// The file has the wrong length.
    Length {
        /// The required length, in bytes.
        expected: Expected,
        /// The length on disk, in bytes.
        found: u64,
    },
    /// The file ends before the last of the bytes that must follow.
    Ends {
        /// Number of bytes that must follow the place of the finding.
        needed_bytes: u64,
    },
    /// The device does not return the bytes; holds the operating system's message.
    Unreadable(String),
    /// A hash differs from the recorded one.
    Hash {
        /// Subject of the hash: `hash of the file`.
        of: &'static str,
        /// The recorded hash, in hexadecimal.
        expected: String,
        /// The hash of the bytes on disk, in hexadecimal.
        found: String,
    },
    /// A field holds a number that is not allowed there.
    Number {
        /// The field: `generation`.
        of: &'static str,
        /// The allowed numbers.
        expected: Expected,
        /// The number on disk.
        found: u64,
    },
    /// The bytes violate the format; holds the broken rule as a sentence without full stop.
    Invalid(Cow<'static, str>),
    /// The file is superfluous; holds its description: `a log that no block needs any more`.
    Superfluous(&'static str),
}

/// The allowed values of a number or a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Exactly this number.
    Exactly(u64),
    /// This number or more.
    AtLeast(u64),
    /// This number or less.
    AtMost(u64),
}

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Bytes that matter differ from what was written.
    Damage,
    /// One of two copies is damaged; the next opening restores it.
    Copy,
    /// Harmless: an interruption left the file, and the next opening removes it.
    Leftover,
}

/// A deviation from an intact folder at rest. Displays as a sentence that begins with the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How serious it is.
    pub severity: Severity,
    /// Full path of the file.
    pub path: PathBuf,
    /// Offset in the file in bytes; `None` for the whole file.
    pub offset: Option<u64>,
    /// What is wrong.
    pub damage: Damage,
}

impl Expected {
    /// Returns whether `number` is allowed.
    pub fn holds(self, number: u64) -> bool {
        match self {
            Expected::Exactly(expected) => number == expected,
            Expected::AtLeast(least) => number >= least,
            Expected::AtMost(most) => number <= most,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Exactly(number) => write!(f, "{number}"),
            Expected::AtLeast(number) => write!(f, "at least {number}"),
            Expected::AtMost(number) => write!(f, "at most {number}"),
        }
    }
}

impl From<&'static str> for Damage {
    fn from(rule: &'static str) -> Damage {
        Damage::Invalid(rule.into())
    }
}

impl From<String> for Damage {
    fn from(rule: String) -> Damage {
        Damage::Invalid(rule.into())
    }
}

impl Damage {
    /// A missing file.
    pub const MISSING: Damage = Damage::Missing { beside: None };

    /// Builds damage of a 128-bit hash.
    pub fn hash(of: &'static str, expected: u128, found: u128) -> Damage {
        Damage::Hash { of, expected: format!("{expected:032x}"), found: format!("{found:032x}") }
    }

    /// Returns the kind of damage in one word, for programs in other languages.
    pub fn name(&self) -> &'static str {
        match self {
            Damage::Missing { .. } => "missing",
            Damage::NotAFile => "not-a-file",
            Damage::Length { .. } => "length",
            Damage::Ends { .. } => "ends",
            Damage::Unreadable(_) => "unreadable",
            Damage::Hash { .. } => "hash",
            Damage::Number { .. } => "number",
            Damage::Invalid(_) => "invalid",
            Damage::Superfluous(_) => "superfluous",
        }
    }

    /// Returns what was checked, its expected value and its found value, in words.
    pub fn in_words(&self) -> [String; 3] {
        let words = |what: &str, expected: &str, found: &str| [what, expected, found].map(str::to_owned);
        let bytes = |number: &dyn fmt::Display| format!("{number} bytes");
        match self {
            Damage::Missing { .. } => words("file", "a file", "no such file"),
            Damage::NotAFile => words("kind of file", "a regular file", "no regular file"),
            Damage::Length { expected, found } => words("length of the file", &bytes(expected), &bytes(found)),
            Damage::Ends { needed_bytes } => words("length of the file", &bytes(needed_bytes), "the end of the file"),
            Damage::Unreadable(reason) => words("bytes", "readable bytes", reason),
            Damage::Hash { of, expected, found } => words(of, expected, found),
            Damage::Number { of, expected, found } => words(of, &expected.to_string(), &found.to_string()),
            Damage::Invalid(rule) => words(rule, "the bytes that were written", "other bytes"),
            Damage::Superfluous(what) => words(what, "no such file", "a file"),
        }
    }

    /// Returns whether the damage concerns the file itself, not bytes in it. If so, the file is the
    /// subject of the sentence.
    fn is_of_the_file(&self) -> bool {
        use Damage::{Length, Missing, NotAFile, Superfluous};
        matches!(self, Missing { .. } | NotAFile | Length { .. } | Superfluous(_))
    }

    /// Returns the damage as a clause that gives a reason why something cannot be done.
    pub fn reason(&self) -> String {
        if self.is_of_the_file() { format!("it {self}") } else { self.to_string() }
    }

    /// Writes the sentence about a file. `damaged` follows the file's name if the damage is inside
    /// it.
    pub(crate) fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        path: &Path,
        offset: Option<u64>,
        damaged: &str,
    ) -> fmt::Result {
        let path = path.display();
        match offset {
            _ if self.is_of_the_file() => write!(f, "{path} {self}"),
            Some(offset) => write!(f, "{path}{damaged} at byte {offset}: {self}"),
            None => write!(f, "{path}{damaged}: {self}"),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Missing { beside: None } => f.write_str("is missing"),
            Damage::Missing { beside: Some(beside) } => write!(f, "is missing, but {beside} exists"),
            Damage::NotAFile => f.write_str("is not a regular file"),
            Damage::Length { expected, found } => write!(f, "has {found} bytes, expected {expected}"),
            Damage::Superfluous(what) => write!(f, "is {what}"),
            Damage::Ends { needed_bytes } => write!(f, "the file is truncated: {needed_bytes} bytes must follow"),
            Damage::Unreadable(reason) => write!(f, "cannot be read: {reason}"),
            Damage::Hash { of, expected, found } => write!(f, "the {of} is {found}, expected {expected}"),
            Damage::Number { of, expected, found } => write!(f, "the {of} is {found}, expected {expected}"),
            Damage::Invalid(rule) => f.write_str(rule),
        }
    }
}

impl Severity {
    /// Returns whether bytes that matter are damaged in at least one copy. A check reports such
    /// damage in its exit code.
    pub fn is_damage(self) -> bool {
        self != Severity::Leftover
    }

    /// Returns the severity in one word, for programs in other languages.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Damage => "damage",
            Severity::Copy => "copy",
            Severity::Leftover => "leftover",
        }
    }
}

impl Finding {
    /// Builds a finding about a whole file.
    pub fn new(severity: Severity, path: impl Into<PathBuf>, damage: impl Into<Damage>) -> Finding {
        Finding { severity, path: path.into(), offset: None, damage: damage.into() }
    }

    /// Moves the finding to a byte of the file.
    #[must_use]
    pub fn at(self, offset: u64) -> Finding {
        Finding { offset: Some(offset), ..self }
    }

    /// The place and kind of damage, by which two looks recognise the same finding.
    fn key(&self) -> (&Path, Option<u64>, &str) {
        (&self.path, self.offset, self.damage.name())
    }
}

/// Returns whether the first look had already found all damage of the second. Changes that a
/// running process made in between do not persist.
pub fn persists(first: &[Finding], second: &[Finding]) -> bool {
    let known: BTreeSet<_> = first.iter().map(Finding::key).collect();
    second.iter().all(|finding| !finding.severity.is_damage() || known.contains(&finding.key()))
}

/// Sorts findings for a report (damage first, leftovers last, each by path and offset) and removes
/// duplicates.
pub fn sort_findings(findings: &mut Vec<Finding>) {
    findings
        .sort_by(|one, other| (one.severity, &one.path, one.offset).cmp(&(other.severity, &other.path, other.offset)));
    findings.dedup();
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.damage.write(f, &self.path, self.offset, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_as_a_sentence() {
        let sentence = |damage: Damage| Finding::new(Severity::Damage, "db/x", damage).to_string();
        assert_eq!(sentence(Damage::MISSING), "db/x is missing");
        let beside = Some("m/manifest.1.a".to_owned());
        assert_eq!(sentence(Damage::Missing { beside }), "db/x is missing, but m/manifest.1.a exists");
        assert_eq!(sentence(Damage::NotAFile), "db/x is not a regular file");
        let length = |expected| sentence(Damage::Length { expected, found: 7 });
        assert_eq!(length(Expected::Exactly(8)), "db/x has 7 bytes, expected 8");
        assert_eq!(length(Expected::AtLeast(8)), "db/x has 7 bytes, expected at least 8");
        assert_eq!(length(Expected::AtMost(6)), "db/x has 7 bytes, expected at most 6");
        assert_eq!(sentence(Damage::Superfluous("left over")), "db/x is left over");
        assert_eq!(sentence("the padding is not zero".into()), "db/x: the padding is not zero");
        let hash = Finding::new(Severity::Copy, "m/x", Damage::hash("hash of the file", 1, 2)).at(88);
        let expected = format!("m/x at byte 88: the hash of the file is {:032x}, expected {:032x}", 2, 1);
        assert_eq!(hash.to_string(), expected);
        let number = Damage::Number { of: "generation", expected: Expected::Exactly(3), found: 4 };
        assert_eq!(sentence(number), "db/x: the generation is 4, expected 3");
        assert_eq!(sentence(Damage::Unreadable("I/O error".into())), "db/x: cannot be read: I/O error");
        let ends = Finding::new(Severity::Damage, "x", Damage::Ends { needed_bytes: 5 }).at(9);
        assert_eq!(ends.to_string(), "x at byte 9: the file is truncated: 5 bytes must follow");
    }

    #[test]
    fn only_what_a_stop_leaves_is_no_damage() {
        assert!(Severity::Damage.is_damage() && Severity::Copy.is_damage() && !Severity::Leftover.is_damage());
    }
}
