//! `SUMS`: lines in the format of the `b3sum` program, one for each file of a database.
//!
//! # Invariants
//! 1. [`Sums::parse`] accepts a list without complaint only if `b3sum` would have written the same,
//!    so `b3sum -c` agrees.

use super::{LIST_BYTES_MAX, MANIFEST, SUMS};
use pipeline::storage::read_whole;
use pipeline::{Damage, Finding, Severity, Storage};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Builds the damage of a file whose BLAKE3 differs from the expected one.
fn sums_differ(expected: blake3::Hash, found: blake3::Hash) -> Damage {
    Damage::Hash {
        of: "BLAKE3 of the file, which SUMS lists,",
        expected: expected.to_string(),
        found: found.to_string(),
    }
}

/// Most malformed lines, and most findings of a comparison, that are listed one by one.
const LISTED_MAX: usize = 1000;

/// The lines of a `SUMS`.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// By file name: the BLAKE3 of the file, and the offset of its line in bytes.
    pub lines: BTreeMap<String, (blake3::Hash, u64)>,
    /// Malformed lines: their offset in bytes, and the error. After a thousand, the last entry
    /// describes all others.
    pub wrong: Vec<(u64, String)>,
    /// Where it was read, if it was, and its length in bytes.
    path: PathBuf,
    bytes: u64,
}

/// Collects findings up to [`LISTED_MAX`], and then counts them.
struct Capped<T> {
    listed: Vec<T>,
    /// The first one that was only counted, and their number.
    more: Option<(T, u64)>,
}

impl<T> Capped<T> {
    fn push(&mut self, finding: impl FnOnce() -> T) {
        match &mut self.more {
            _ if self.listed.len() < LISTED_MAX => self.listed.push(finding()),
            Some((_, count)) => *count += 1,
            none => *none = Some((finding(), 1)),
        }
    }

    /// Returns all findings; `sum_up` turns the first that was only counted into one about all.
    fn end(self, sum_up: impl FnOnce(T, u64) -> T) -> Vec<T> {
        let Capped { mut listed, more } = self;
        listed.extend(more.map(|(first, count)| sum_up(first, count)));
        listed
    }
}

impl Sums {
    pub(crate) fn load(storage: &dyn Storage, name: &str) -> Result<Sums, pipeline::Error> {
        let sums = Sums::parse(&read_whole(&*storage.open(name)?, LIST_BYTES_MAX)?);
        Ok(Sums { path: storage.path(name), ..sums })
    }

    /// Parses all lines; bad lines do not hide good ones.
    pub fn parse(bytes: &[u8]) -> Sums {
        let mut lines = BTreeMap::new();
        let mut wrong = Capped { listed: Vec::new(), more: None };
        let mut offset = 0;
        for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            let begin = offset;
            offset += line.len() as u64;
            let text = line.strip_suffix(b"\n");
            match std::str::from_utf8(text.unwrap_or(line)).ok().and_then(parse_line) {
                Some((sum, name)) if !lines.contains_key(name) => {
                    lines.insert(name.to_owned(), (sum, begin));
                }
                Some((_, name)) => wrong.push(|| (begin, format!("line {number}: {name} is named twice"))),
                None => wrong.push(|| (begin, format!("line {number} is not a checksum and a name"))),
            }
        }
        let mut wrong = wrong.end(|(begin, _), count| (begin, format!("{count} more lines are wrong")));
        if !bytes.ends_with(b"\n") {
            wrong.push((offset, "does not end in a whole line".to_owned()));
        }
        Sums { lines, wrong, path: PathBuf::new(), bytes: bytes.len() as u64 }
    }

    /// Compares the list with the `expected` files and their sums, where known. Findings are
    /// malformed lines, lines of other files, lines with another sum, and files without a line.
    pub(crate) fn compare(&self, expected: &BTreeMap<String, Option<blake3::Hash>>) -> Vec<Finding> {
        let at = |offset: u64, rule: String| Finding::new(Severity::Damage, &self.path, rule).at(offset);
        let mut differing = Capped { listed: Vec::new(), more: None };
        for (file, (sum, offset)) in &self.lines {
            match expected.get(file) {
                None => differing
                    .push(|| at(*offset, format!("the line names {file}, which is not a file of this database"))),
                Some(Some(right)) if right != sum => {
                    differing.push(|| at(*offset, format!("the line of {file} has {sum}, expected {right}")));
                }
                Some(_) => {}
            }
        }
        for file in expected.keys().filter(|file| !self.lines.contains_key(*file)) {
            differing.push(|| at(self.bytes, format!("the line for {file} is missing")));
        }
        let wrong = self.wrong.iter().map(|(offset, rule)| at(*offset, rule.clone()));
        let more =
            |first: Finding, count: u64| at(first.offset.unwrap_or(self.bytes), format!("{count} more differences"));
        wrong.chain(differing.end(more)).collect()
    }

    /// Compares as [`compare`](Sums::compare) does, and also finds the first line out of order.
    pub(crate) fn compare_in_order(&self, expected: &BTreeMap<String, Option<blake3::Hash>>) -> Vec<Finding> {
        let mut findings = self.compare(expected);
        findings.extend(self.misplaced(expected));
        findings
    }

    /// Compares the BLAKE3 of a file with its line; `None` if it has no line.
    pub(crate) fn check(&self, name: &str, found: blake3::Hash) -> Option<Result<(), Damage>> {
        let (listed, _) = self.lines.get(name)?;
        Some(if *listed == found { Ok(()) } else { Err(sums_differ(*listed, found)) })
    }

    /// Returns the first line out of order (by ordinal, manifest last) if all files have a line.
    fn misplaced(&self, expected: &BTreeMap<String, Option<blake3::Hash>>) -> Option<Finding> {
        if !self.lines.keys().eq(expected.keys()) {
            return None;
        }
        let mut in_order: Vec<(u64, &String)> = self.lines.iter().map(|(name, (_, offset))| (*offset, name)).collect();
        in_order.sort_unstable();
        let mut wanted: Vec<&String> = expected.keys().collect();
        wanted.sort_by_key(|name| name.len()); // Blocks from 1,000,000 on have longer names.
        let ((offset, found), wanted) = in_order.into_iter().zip(wanted).find(|((_, name), wanted)| name != wanted)?;
        let rule = format!("found the line of {found}, expected that of {wanted}");
        Some(Finding::new(Severity::Damage, &self.path, rule).at(offset))
    }

    /// Returns the text of a `SUMS`: a line for each block file, in the given order, then the line
    /// of the manifest.
    pub fn text<N: AsRef<str>>(blocks: impl IntoIterator<Item = (N, blake3::Hash)>, manifest: &[u8]) -> String {
        let lines = blocks.into_iter().map(|(name, sum)| Sums::line(sum, name.as_ref()));
        let text: String = lines.chain([Sums::line(blake3::hash(manifest), MANIFEST)]).collect();
        debug_assert!(Sums::parse(text.as_bytes()).wrong.is_empty(), "SUMS, invariant 1: as b3sum writes it");
        text
    }

    /// Formats the line of a file.
    pub fn line(sum: blake3::Hash, name: &str) -> String {
        format!("{sum}  {name}\n")
    }

    /// Returns the length of a file's line, in bytes.
    pub fn line_bytes(name: &str) -> u64 {
        (2 * blake3::OUT_LEN + "  \n".len() + name.len()) as u64
    }
}

/// Parses sixty-four lower-case hexadecimal digits, two spaces, and the name of a file in the same
/// folder.
fn parse_line(line: &str) -> Option<(blake3::Hash, &str)> {
    let (sum, name) = line.split_at_checked(64)?;
    let name = name.strip_prefix("  ")?;
    let plain = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    let is_name = !name.is_empty() && name.chars().all(plain) && !name.starts_with('.') && name != SUMS;
    let lower = sum.chars().all(|digit| digit.is_ascii_digit() || ('a'..='f').contains(&digit));
    (is_name && lower).then(|| blake3::Hash::from_hex(sum).ok())?.map(|sum| (sum, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_b3sum_are_sums() {
        let sum = blake3::hash(b"").to_hex();
        assert_eq!(parse_line(&format!("{sum}  000000.blk")), Some((blake3::hash(b""), "000000.blk")));
        for line in [
            String::new(),
            format!("{sum}"),
            format!("{sum}  "),
            format!("{sum} 000000.blk"),
            format!("{sum}   000000.blk"),
            format!("{sum}  ../000000.blk"),
            format!("{sum}  .."),
            format!("{sum}  SUMS"),
            format!("{sum}  000000.blk\r"),
            format!("{}  000000.blk", sum.to_uppercase()),
            format!("g{}  000000.blk", &sum[1..]),
            format!("{}ä  000000.blk", &sum[1..]),
        ] {
            assert_eq!(parse_line(&line), None, "{line}");
        }
    }

    #[test]
    fn lines_are_ordered_by_ordinal_whatever_the_length_of_the_names() {
        let hash = blake3::hash(b"");
        let names = ["000002.blk", "999999.blk", "1000000.blk"];
        let expected: BTreeMap<String, Option<blake3::Hash>> =
            names.into_iter().chain([MANIFEST]).map(|name| (name.to_owned(), None)).collect();
        let found = |order: [usize; 3]| {
            let text = Sums::text(order.map(|place| (names[place], hash)), b"");
            Sums::parse(text.as_bytes()).compare_in_order(&expected)
        };
        assert_eq!(found([0, 1, 2]), []);
        let [finding] = &found([0, 2, 1])[..] else { panic!("one line is the first out of order") };
        assert!(finding.to_string().ends_with("the line of 1000000.blk, expected that of 999999.blk"), "{finding}");
    }

    #[test]
    fn bad_lines_do_not_hide_good_ones() {
        let sum = blake3::hash(b"x");
        let text = format!("{}junk\n{}{}", Sums::line(sum, "a"), Sums::line(sum, "b"), Sums::line(sum, "a"));
        let sums = Sums::parse(&[text.as_bytes(), b"\xff"].concat());
        assert_eq!(sums.lines.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(sums.lines["b"], (sum, 73));
        let rules: Vec<&str> = sums.wrong.iter().map(|(_, what)| &**what).collect();
        assert_eq!(
            rules,
            [
                "line 2 is not a checksum and a name",
                "line 4: a is named twice",
                "line 5 is not a checksum and a name",
                "does not end in a whole line"
            ]
        );
    }
}
