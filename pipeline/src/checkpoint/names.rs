//! Names in a run folder.
//!
//! Names whose meaning can change carry the generation that created them and are never used again,
//! so a late removal or a file restored from a backup cannot appear under a current name.
//!
//! Files with other names, for example of an editor or a file system, are not read, checked or
//! removed.

pub use crate::log::place::LOGS;

use crate::Error;
use crate::log::place::LogFile;
use crate::storage::{Storage, list};

/// Lock file of the folder's owner; never deleted.
pub const LOCK: &str = "LOCK";
/// Identity of the run.
pub const FORMAT: &str = "FORMAT";
/// Folder of manifests and journals.
pub const METADATA: &str = "m";
/// Folder of the published files.
pub const PUBLISHED: &str = "db";
/// Suffix of files that are being written.
pub const TEMPORARY: &str = ".tmp";

/// Returns the names of both copies of a manifest.
pub(super) fn manifests(generation: u64) -> [String; 2] {
    ["a", "b"].map(|copy| format!("{METADATA}/manifest.{generation}.{copy}"))
}

/// Returns the names of both copies of a journal.
pub(super) fn journals(generation: u64) -> [String; 2] {
    ["a", "b"].map(|copy| format!("{METADATA}/journal.{generation}.{copy}"))
}

pub(super) fn temporary(name: &str) -> String {
    format!("{name}{TEMPORARY}")
}

/// Returns the generation of a complete manifest (name without folder).
pub(super) fn manifest_generation(name: &str) -> Option<u64> {
    let rest = name.strip_prefix("manifest.")?;
    number(rest.strip_suffix(".a").or_else(|| rest.strip_suffix(".b"))?)
}

/// Returns whether a file of this name (without folder) in `m/` belongs to a run.
pub(super) fn is_metadata(name: &str) -> bool {
    let name = without_temporary(name);
    let of_copy = name.strip_prefix("manifest.").or_else(|| name.strip_prefix("journal."));
    let text = of_copy.and_then(|rest| rest.strip_suffix(".a").or_else(|| rest.strip_suffix(".b")));
    text.and_then(number).is_some()
}

/// Returns whether a file of this name (without folder) in `logs/` belongs to a run: a log, or a
/// block that a method without logs keeps there while it works.
pub(crate) fn is_log(name: &str) -> bool {
    let block = name.strip_suffix(".block").filter(|digits| digits.len() == 8);
    let is_block = block.is_some_and(|digits| digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')));
    is_block || LogFile::from_name(name).is_some()
}

/// Returns the name without the suffix [`TEMPORARY`], if it has one.
pub fn without_temporary(name: &str) -> &str {
    name.strip_suffix(TEMPORARY).unwrap_or(name)
}

/// Returns the names in a run folder, relative to it, of files that do not belong to a run.
/// `is_published` returns whether a name without folder can belong to `db/`.
///
/// # Errors
/// [`Error::Io`] if a folder cannot be listed.
pub fn foreign(storage: &dyn Storage, is_published: &dyn Fn(&str) -> bool) -> Result<Vec<String>, Error> {
    let at_top = |name: &str| [LOCK, METADATA, LOGS, PUBLISHED].contains(&name) || without_temporary(name) == FORMAT;
    let is_own = |folder: &str, name: &str| match folder {
        METADATA => is_metadata(name),
        LOGS => is_log(name),
        PUBLISHED => is_published(without_temporary(name)),
        _ => at_top(name),
    };
    let mut found = Vec::new();
    for folder in ["", METADATA, LOGS, PUBLISHED] {
        let names = list(storage, folder)?.into_iter().map(|entry| entry.name).filter(|name| !is_own(folder, name));
        found.extend(names.map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") }));
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns the generation in the name of a file of a run in `m/` or `logs/` (name without folder);
/// 0 in any other name.
pub(super) fn generation_in(name: &str) -> u64 {
    let of_metadata = || name.split('.').nth(1).filter(|_| is_metadata(name)).and_then(number);
    let log = LogFile::from_name(without_temporary(name));
    log.map(|log| log.generation).or_else(of_metadata).unwrap_or(0)
}

/// Number of generations, far more than there are: after the last one, a name would not be read.
pub(super) const GENERATIONS: u64 = u64::MAX / 2;

fn number(text: &str) -> Option<u64> {
    let digits = text == "0" || !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().filter(|number| *number < GENERATIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_are_found_in_names() {
        assert_eq!(manifest_generation("manifest.12.a"), Some(12));
        assert_eq!(manifest_generation("manifest.12.b"), Some(12));
        for other in ["manifest.12", "manifest..a", "manifest.1.a.tmp", "manifest.-1.a", "manifest.01.a"] {
            assert_eq!(manifest_generation(other), None, "{other}");
        }
        for own in ["manifest.12.a", "journal.1.b", "journal.1.a.tmp", "manifest.3.b.tmp"] {
            assert!(is_metadata(own), "{own}");
        }
        for other in ["manifest.12", "manifest.12.c", "journal.01.a", "manifest.1.a~", ".manifest.1.a", "notes.txt", ""]
        {
            assert!(!is_metadata(other), "{other}");
        }
        assert_eq!(generation_in("0000000a.g7"), 7);
        assert_eq!(generation_in("s00000100.g7"), 7);
        assert_eq!(generation_in("00000100.g7.tmp"), 7);
        assert_eq!(generation_in("manifest.9.b.tmp"), 9);
        assert_eq!(generation_in("journal.18446744073709551615.a"), 0);
        for foreign in ["x", "notes.g9", "notes.9.a", "0000000a.g7.bak", "0000000a.g07"] {
            assert_eq!(generation_in(foreign), 0, "{foreign}");
        }
    }
}
