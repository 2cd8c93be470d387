//! Byte order of the files of a run: little-endian integers, read with bounds.
//!
//! # Invariants
//! 1. Reading never panics and never leaves its slice; bytes that do not fit are a [`ParseError`].
//! 2. A count is compared with the remaining bytes before anything is allocated for it.
//! 3. For any bytes, every reader takes time linear in the length of its file, apart from the
//!    logarithm of sorting; lengths have limits.

use std::collections::BTreeSet;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use crate::Error;
use crate::finding::{Damage, Expected};

/// Length of a hash, in bytes.
pub(crate) const HASH_BYTES: usize = 16;

/// Damage of some bytes whose file is not known yet.
#[derive(Debug)]
pub(crate) struct ParseError {
    offset: u64,
    damage: Damage,
}

impl ParseError {
    pub(crate) fn new(offset: u64, damage: impl Into<Damage>) -> Self {
        Self { offset, damage: damage.into() }
    }

    /// Returns an error unless the number is allowed.
    pub(crate) fn unless(expected: Expected, offset: u64, of: &'static str, found: u64) -> Result<(), ParseError> {
        if expected.holds(found) {
            return Ok(());
        }
        Err(Self::new(offset, Damage::Number { of, expected, found }))
    }

    /// Converts to an error, for bytes that begin at byte `base` of `path`.
    pub(crate) fn into_error(self, path: &Path, base: u64) -> Error {
        Error::corrupt(path, base.saturating_add(self.offset), self.damage)
    }
}

/// Reads a slice from front to back.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    offset: u64,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, offset: 0 }
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Takes the next `length` bytes.
    pub(crate) fn take(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], ParseError> {
        let Some((head, rest)) = self.rest.split_at_checked(length) else {
            return Err(self.error(format!("{what} takes {length} bytes, {} are left", self.rest.len())));
        };
        self.rest = rest;
        self.offset = self.offset.saturating_add(length as u64);
        Ok(head)
    }

    /// Takes the next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ParseError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, ParseError> {
        Ok(u8::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, ParseError> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, ParseError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, ParseError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u128(&mut self, what: &'static str) -> Result<u128, ParseError> {
        Ok(u128::from_le_bytes(self.array(what)?))
    }

    /// Takes a magic number, which must be `magic`.
    pub(crate) fn magic(&mut self, magic: [u8; 8]) -> Result<(), ParseError> {
        let found: [u8; 8] = self.array("magic number")?;
        if found == magic {
            return Ok(());
        }
        let rule = format!("the magic number is {}, expected {}", found.escape_ascii(), magic.escape_ascii());
        Err(ParseError::new(self.offset.saturating_sub(8), rule))
    }

    /// Takes a count of items of at least `least_bytes` each; refuses more than fit into the
    /// remaining bytes.
    pub(crate) fn count(&mut self, least_bytes: usize, what: &'static str) -> Result<usize, ParseError> {
        let count = self.u32(what)? as usize;
        let most = (self.rest.len() / least_bytes) as u64;
        self.require(what, Expected::AtMost(most), count as u64)?;
        Ok(count)
    }

    /// Takes a flag byte with a single flag.
    pub(crate) fn flag(&mut self, what: &'static str) -> Result<bool, ParseError> {
        let flag = self.u8(what)?;
        self.require(what, Expected::AtMost(1), flag.into())?;
        Ok(flag == 1)
    }

    /// Takes UTF-8 text.
    pub(crate) fn text(&mut self, length: usize, what: &'static str) -> Result<&'a str, ParseError> {
        let bytes = self.take(length, what)?;
        std::str::from_utf8(bytes).map_err(|_| self.error(format!("the {what} is not UTF-8: {}", bytes.escape_ascii())))
    }

    /// Requires that no byte follows.
    pub(crate) fn end(&self, what: &'static str) -> Result<(), ParseError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(self.error(format!("{} bytes follow the last of the {what}", self.rest.len())))
    }

    /// Builds an error at the current offset.
    pub(crate) fn error(&self, damage: impl Into<Damage>) -> ParseError {
        ParseError::new(self.offset, damage)
    }

    /// Returns an error before the current offset unless the number is allowed.
    pub(crate) fn require(&self, of: &'static str, expected: Expected, found: u64) -> Result<(), ParseError> {
        ParseError::unless(expected, self.offset, of, found)
    }
}

/// Returns the first item that occurred before, in time `n log n`.
pub(crate) fn first_repeated<T: Ord + Copy>(items: impl IntoIterator<Item = T>) -> Option<T> {
    let mut seen = BTreeSet::new();
    items.into_iter().find(|item| !seen.insert(*item))
}

/// Appends the hash of everything in `bytes`.
pub(crate) fn seal(bytes: &mut Vec<u8>) -> u128 {
    let hash = xxh3_128(bytes);
    bytes.extend_from_slice(&hash.to_le_bytes());
    hash
}

/// Checks that `bytes` end with the hash of what precedes it; returns that part and the hash.
pub(crate) fn unseal(bytes: &[u8]) -> Result<(&[u8], u128), ParseError> {
    let split = bytes.len().checked_sub(HASH_BYTES);
    let Some((body, mut tail)) = split.map(|split| bytes.split_at(split)).map(|(body, tail)| (body, Cursor::new(tail)))
    else {
        return Err(ParseError::new(
            bytes.len() as u64,
            Damage::Ends { needed_bytes: (HASH_BYTES - bytes.len()) as u64 },
        ));
    };
    let recorded = tail.u128("hash")?;
    let found = xxh3_128(body);
    if found != recorded {
        return Err(ParseError::new(body.len() as u64, Damage::hash("hash of the bytes before it", recorded, found)));
    }
    Ok((body, recorded))
}

/// Converts a length in memory to a number on disk; the caller has checked that it fits.
pub(crate) fn length_u32(length: usize) -> u32 {
    u32::try_from(length).expect("checked against a limit below 2^32")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::cmp::Ordering;

    thread_local! {
        static COMPARED: Cell<u64> = const { Cell::new(0) };
    }

    /// A number that counts its comparisons.
    #[derive(Clone, Copy, Debug)]
    struct Counted(u64);

    impl Ord for Counted {
        fn cmp(&self, other: &Self) -> Ordering {
            COMPARED.set(COMPARED.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    impl PartialOrd for Counted {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl PartialEq for Counted {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other).is_eq()
        }
    }

    impl Eq for Counted {}

    /// Regression: each name was compared with all names before it, which takes quadratic time.
    #[test]
    fn four_times_the_items_take_less_than_five_times_the_comparisons() {
        let compared = |count: u64| {
            COMPARED.set(0);
            let items = || (0..count).map(|number| Counted(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            assert_eq!(first_repeated(items()), None);
            let all = COMPARED.get();
            assert_eq!(first_repeated(items().chain([Counted(0)])), Some(Counted(0)));
            all
        };
        let (few, many) = (compared(10_000), compared(40_000));
        assert!(few >= 10_000 && many <= 5 * few, "{few} and {many} comparisons");
    }
}
