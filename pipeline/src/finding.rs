//! Damage: what is wrong with a file, where, and how much that matters.
//!
//! One vocabulary for errors, for [`check`](crate::care::check) and for those who look at files of their own beside the engine's. Programs
//! read the variants; people read the sentence that [`Finding`] displays: `db/SUMS is missing`.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is wrong with a file, or with some bytes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// There is no such file.
    Missing {
        /// The name, relative to the folder, of what could not be there without it, if that is not plain.
        beside: Option<String>,
    },
    /// A folder, a pipe or a device has its name.
    NotAFile,
    /// The file is not as long as it has to be.
    Length {
        /// Its length in bytes by whoever knows.
        expected: Expected,
        /// Its length in bytes.
        found: u64,
    },
    /// The file ends although more bytes have to follow.
    Ends {
        /// How many more, in bytes.
        needed_bytes: u64,
    },
    /// The device does not give the bytes back; what the operating system says.
    Unreadable(String),
    /// A hash is not the one that was recorded.
    Hash {
        /// Which hash: `hash of the file`.
        of: &'static str,
        /// As recorded, hexadecimal.
        expected: String,
        /// Of the bytes as they are, hexadecimal.
        found: String,
    },
    /// A number is not one that its field may have here.
    Number {
        /// The field: `generation`.
        of: &'static str,
        /// What it may be.
        expected: Expected,
        /// What it is.
        found: u64,
    },
    /// The bytes are against the format; which rule they break, as a sentence without its end.
    Invalid(Cow<'static, str>),
    /// Nothing needs the file; what it is: `a log that no block needs any more`.
    Superfluous(&'static str),
}

/// What a number or a length may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This and no other.
    Exactly(u64),
    /// This or more.
    AtLeast(u64),
    /// This or less.
    AtMost(u64),
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Something that counts is not what was written.
    Damage,
    /// One of two copies is; the next opening heals it.
    Copy,
    /// Nothing is wrong: a stop left it, and the next opening clears it away.
    Leftover,
}

/// Something that is not as a folder at rest has it. Displayed, it is a sentence that begins with the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub weight: Weight,
    /// Full path of the file.
    pub path: PathBuf,
    /// Where in the file, in bytes; `None` for the file as a whole.
    pub offset: Option<u64>,
    /// What is wrong.
    pub damage: Damage,
}

impl Expected {
    /// Whether a number is such a one.
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
    /// A file that is not there.
    pub const MISSING: Damage = Damage::Missing { beside: None };

    /// A hash of 128 bits.
    pub fn hash(of: &'static str, expected: u128, found: u128) -> Damage {
        Damage::Hash { of, expected: format!("{expected:032x}"), found: format!("{found:032x}") }
    }

    /// The kind of damage in one word, for programs in other languages.
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

    /// What was looked at, what it should be and what it is, in words.
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

    /// Whether it is said of the file itself, not of bytes in it: then the sentence goes on from the file's name.
    fn is_of_the_file(&self) -> bool {
        use Damage::{Length, Missing, NotAFile, Superfluous};
        matches!(self, Missing { .. } | NotAFile | Length { .. } | Superfluous(_))
    }

    /// Why nothing can be done about it, as a clause of its own.
    pub fn reason(&self) -> String {
        if self.is_of_the_file() { format!("it {self}") } else { self.to_string() }
    }

    /// The sentence about a file; `damaged` stands after its name where the damage is one inside it.
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
            Damage::Missing { beside: Some(beside) } => write!(f, "is missing, but {beside} is there"),
            Damage::NotAFile => f.write_str("is not a regular file"),
            Damage::Length { expected, found } => write!(f, "has {found} bytes, expected {expected}"),
            Damage::Superfluous(what) => write!(f, "is {what}"),
            Damage::Ends { needed_bytes } => write!(f, "the file ends, but {needed_bytes} bytes have to follow"),
            Damage::Unreadable(reason) => write!(f, "cannot be read: {reason}"),
            Damage::Hash { of, expected, found } => write!(f, "the {of} is {found}, expected {expected}"),
            Damage::Number { of, expected, found } => write!(f, "the {of} is {found}, expected {expected}"),
            Damage::Invalid(rule) => f.write_str(rule),
        }
    }
}

impl Weight {
    /// Whether bytes that count are not what was written, in a copy at least: then a check ends as one that found damage.
    pub fn is_damage(self) -> bool {
        self != Weight::Leftover
    }

    /// The weight in one word, for programs in other languages.
    pub fn name(self) -> &'static str {
        match self {
            Weight::Damage => "damage",
            Weight::Copy => "copy",
            Weight::Leftover => "leftover",
        }
    }
}

impl Finding {
    /// A finding about a file as a whole.
    pub fn new(weight: Weight, path: impl Into<PathBuf>, damage: impl Into<Damage>) -> Finding {
        Finding { weight, path: path.into(), offset: None, damage: damage.into() }
    }

    /// The same finding at a byte of the file.
    #[must_use]
    pub fn at(self, offset: u64) -> Finding {
        Finding { offset: Some(offset), ..self }
    }

    /// Whether this is the same kind of damage at the same place.
    pub(crate) fn is_like(&self, other: &Finding) -> bool {
        let kind = |finding: &Finding| std::mem::discriminant(&finding.damage);
        (&self.path, self.offset, kind(self)) == (&other.path, other.offset, kind(other))
    }
}

/// Orders findings as a report has them: damage first, leftovers last, each by path and offset; each once.
pub fn sort_findings(findings: &mut Vec<Finding>) {
    findings.sort_by(|one, other| (one.weight, &one.path, one.offset).cmp(&(other.weight, &other.path, other.offset)));
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
        let told = |damage: Damage| Finding::new(Weight::Damage, "db/x", damage).to_string();
        assert_eq!(told(Damage::MISSING), "db/x is missing");
        let beside = Some("m/manifest.1.a".to_owned());
        assert_eq!(told(Damage::Missing { beside }), "db/x is missing, but m/manifest.1.a is there");
        assert_eq!(told(Damage::NotAFile), "db/x is not a regular file");
        let length = |expected| told(Damage::Length { expected, found: 7 });
        assert_eq!(length(Expected::Exactly(8)), "db/x has 7 bytes, expected 8");
        assert_eq!(length(Expected::AtLeast(8)), "db/x has 7 bytes, expected at least 8");
        assert_eq!(length(Expected::AtMost(6)), "db/x has 7 bytes, expected at most 6");
        assert_eq!(told(Damage::Superfluous("left over")), "db/x is left over");
        assert_eq!(told("the padding is not zero".into()), "db/x: the padding is not zero");
        let hash = Finding::new(Weight::Copy, "m/x", Damage::hash("hash of the file", 1, 2)).at(88);
        let expected = format!("m/x at byte 88: the hash of the file is {:032x}, expected {:032x}", 2, 1);
        assert_eq!(hash.to_string(), expected);
        let number = Damage::Number { of: "generation", expected: Expected::Exactly(3), found: 4 };
        assert_eq!(told(number), "db/x: the generation is 4, expected 3");
        assert_eq!(told(Damage::Unreadable("I/O error".into())), "db/x: cannot be read: I/O error");
        let ends = Finding::new(Weight::Damage, "x", Damage::Ends { needed_bytes: 5 }).at(9);
        assert_eq!(ends.to_string(), "x at byte 9: the file ends, but 5 bytes have to follow");
    }

    #[test]
    fn only_what_a_stop_leaves_is_no_damage() {
        assert!(Weight::Damage.is_damage() && Weight::Copy.is_damage() && !Weight::Leftover.is_damage());
    }
}
