//! Byte order of the checkpoint files: little-endian integers in, little-endian integers out.
//!
//! # Invariants
//!
//! 1. Reading never panics and never looks outside its slice; what does not fit is [`Damage`].
//! 2. A count is compared with the bytes that are left before anything is allocated for it.

use std::fmt::Display;
use std::io;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use crate::Error;

/// Bytes of a hash.
pub(super) const HASH_BYTES: usize = 16;

/// What is wrong with some bytes, not yet knowing which file they are of.
#[derive(Debug)]
pub(super) struct Damage {
    offset: u64,
    what: &'static str,
    expected: String,
    got: String,
}

impl Damage {
    pub(super) fn new(offset: u64, what: &'static str, expected: impl Display, got: impl Display) -> Self {
        Self { offset, what, expected: expected.to_string(), got: got.to_string() }
    }

    /// The error, for bytes that begin at byte `base` of `path`.
    pub(super) fn of(self, path: &Path, base: u64) -> Error {
        Error::Corrupt {
            path: path.into(),
            offset: base.saturating_add(self.offset),
            what: self.what,
            expected: self.expected,
            got: self.got,
        }
    }
}

/// Reads a slice from front to back.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    offset: u64,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, offset: 0 }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The next `length` bytes.
    pub(super) fn take(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], Damage> {
        let Some((head, rest)) = self.rest.split_at_checked(length) else {
            let got = format_args!("{} bytes", self.rest.len()).to_string();
            return Err(self.damage(what, format_args!("{length} bytes"), got));
        };
        self.rest = rest;
        self.offset = self.offset.saturating_add(length as u64);
        Ok(head)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Damage> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, Damage> {
        Ok(u8::from_le_bytes(self.array(what)?))
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, Damage> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, Damage> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, Damage> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    pub(super) fn u128(&mut self, what: &'static str) -> Result<u128, Damage> {
        Ok(u128::from_le_bytes(self.array(what)?))
    }

    /// A magic number that has to be there.
    pub(super) fn magic(&mut self, magic: [u8; 8]) -> Result<(), Damage> {
        let got: [u8; 8] = self.array("magic")?;
        if got == magic {
            return Ok(());
        }
        Err(Damage::new(self.offset.saturating_sub(8), "magic", magic.escape_ascii(), got.escape_ascii()))
    }

    /// A number of things of at least `least_bytes` each, which therefore is not more than fit.
    pub(super) fn count(&mut self, least_bytes: usize, what: &'static str) -> Result<usize, Damage> {
        let count = self.u32(what)? as usize;
        let most = self.rest.len() / least_bytes;
        if count > most {
            return Err(self.damage(what, format_args!("at most {most}"), count));
        }
        Ok(count)
    }

    /// A flag byte with a single flag.
    pub(super) fn flag(&mut self, what: &'static str) -> Result<bool, Damage> {
        match self.u8(what)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.damage(what, "0 or 1", other)),
        }
    }

    /// Text in UTF-8.
    pub(super) fn text(&mut self, length: usize, what: &'static str) -> Result<&'a str, Damage> {
        let bytes = self.take(length, what)?;
        std::str::from_utf8(bytes).map_err(|_| self.damage(what, "UTF-8", bytes.escape_ascii()))
    }

    /// Nothing may follow.
    pub(super) fn end(&self, what: &'static str) -> Result<(), Damage> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(self.damage(what, "the end", format_args!("{} more bytes", self.rest.len())))
    }

    /// Damage right here.
    pub(super) fn damage(&self, what: &'static str, expected: impl Display, got: impl Display) -> Damage {
        Damage::new(self.offset, what, expected, got)
    }
}

/// Appends the hash of everything in `bytes`.
pub(super) fn seal(bytes: &mut Vec<u8>) -> u128 {
    let hash = xxh3_128(bytes);
    bytes.extend_from_slice(&hash.to_le_bytes());
    hash
}

/// Checks that `bytes` end with the hash of what comes before it; returns that part and the hash.
pub(super) fn unseal(bytes: &[u8]) -> Result<(&[u8], u128), Damage> {
    let split = bytes.len().checked_sub(HASH_BYTES);
    let Some((body, mut tail)) = split.map(|split| bytes.split_at(split)).map(|(body, tail)| (body, Cursor::new(tail)))
    else {
        let got = format_args!("{} bytes", bytes.len()).to_string();
        return Err(Damage::new(0, "length of the file", "a hash", got));
    };
    let got = tail.u128("hash")?;
    let expected = xxh3_128(body);
    #[cfg(any(test, simulated))]
    if crate::omitted::omits(crate::omitted::Rule::Hashes) {
        return Ok((body, got));
    }
    if got != expected {
        return Err(Damage::new(
            body.len() as u64,
            "hash",
            format_args!("{expected:032x}"),
            format_args!("{got:032x}"),
        ));
    }
    Ok((body, got))
}

/// A length in memory as a number on disk; the caller has checked that it fits.
pub(super) fn length_u32(length: usize) -> u32 {
    u32::try_from(length).expect("checked against a limit below 2^32")
}

/// `length` zero bytes, to be filled from the file at `path`.
pub(super) fn zeroed(length: usize, path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| Error::io("read", path, io::ErrorKind::OutOfMemory.into()))?;
    bytes.resize(length, 0);
    Ok(bytes)
}
