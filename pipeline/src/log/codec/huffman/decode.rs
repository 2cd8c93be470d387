//! Decoding of a list.

use super::super::DecodeError;
use super::{LONGEST, STREAMS, codes};

/// Look-ups between two refills of 56 bits.
const LOOKUPS: usize = 5;
/// The most symbols that a look-up gives.
const AT_ONCE: usize = 3;

/// Tables by the next [`LONGEST`] bits, reused from list to list.
pub(in super::super) struct Decoder {
    /// First symbol in the low half, length of its code in the high one.
    first: Box<[u32; 1 << LONGEST]>,
    /// Up to [`AT_ONCE`] symbols; from bit 48 the length of their codes, from bit 52 their number.
    several: Box<[u64; 1 << LONGEST]>,
    bytes: Vec<u16>,
}

/// A stream being decoded.
struct Bits<'a> {
    stored: &'a [u8],
    at: usize,
    bits: u64,
    /// Number of valid bits in `bits`.
    left: u32,
}

impl Bits<'_> {
    /// Refills to at least 56 bits, unless it is near the end of the stream.
    #[inline(always)]
    fn refill(&mut self) {
        let Some(next) = self.stored.get(self.at..).and_then(|rest| rest.first_chunk()) else { return };
        self.bits |= u64::from_le_bytes(*next) << self.left;
        self.at += ((63 - self.left) / 8) as usize;
        self.left |= 56;
    }

    /// Refills byte by byte.
    fn refill_slowly(&mut self) {
        // Bits above `left` may be there already, and are the same.
        self.bits &= u64::MAX.checked_shr(64 - self.left).unwrap_or(0);
        while let Some(byte) = self.stored.get(self.at).filter(|_| self.left <= 56) {
            self.bits |= u64::from(*byte) << self.left;
            self.left += 8;
            self.at += 1;
        }
    }

    #[inline(always)]
    fn next(&self) -> usize {
        self.bits as usize % (1 << LONGEST)
    }

    #[inline(always)]
    fn skip(&mut self, length: u32) {
        self.bits >>= length;
        self.left -= length;
    }
}

/// A part of a list, with a stream of its own.
struct Part<'a, 's> {
    bits: Bits<'a>,
    symbols: &'s mut [u16],
    /// Number of decoded symbols.
    at: usize,
}

impl Part<'_, '_> {
    /// Returns whether a round of look-ups might pass the end of the symbols or of the stream.
    #[inline(always)]
    fn is_near_end(&self) -> bool {
        self.at + AT_ONCE * LOOKUPS >= self.symbols.len() || self.bits.at + 8 > self.bits.stored.len()
    }
}

impl Decoder {
    pub(in super::super) fn new() -> Decoder {
        Decoder { first: Box::new([0; 1 << LONGEST]), several: Box::new([0; 1 << LONGEST]), bytes: Vec::new() }
    }

    /// Decodes a list that fills `symbols`; returns the remaining bytes.
    pub(in super::super) fn decode<'a>(
        &mut self,
        stored: &'a [u8],
        symbols: &mut [u16],
    ) -> Result<&'a [u8], DecodeError> {
        match stored.split_first() {
            Some((0, stored)) => self.decode_symbols(stored, symbols),
            Some((1, stored)) => {
                let mut bytes = std::mem::take(&mut self.bytes);
                bytes.clear();
                bytes.resize(symbols.len() * 2, 0);
                let rest = self.decode_symbols(stored, &mut bytes)?;
                for (symbol, [low, high]) in symbols.iter_mut().zip(bytes.as_chunks().0) {
                    *symbol = low & 0xff | high << 8;
                }
                self.bytes = bytes;
                Ok(rest)
            }
            Some(_) => Err(DecodeError("list of an unknown form")),
            None => Err(DecodeError("list without a form")),
        }
    }

    fn decode_symbols<'a>(&mut self, stored: &'a [u8], symbols: &mut [u16]) -> Result<&'a [u8], DecodeError> {
        let short = DecodeError("list too short");
        let (count, stored) = stored.split_first_chunk().ok_or(short.clone())?;
        let count = usize::from(u16::from_le_bytes(*count));
        let (alphabet, stored) = stored.split_at_checked(count * 2).ok_or(short.clone())?;
        let (lengths, mut stored) = stored.split_at_checked(count.div_ceil(2)).ok_or(short.clone())?;
        if count > 0 {
            self.prepare(alphabet.as_chunks().0, lengths)?;
        } else if !symbols.is_empty() {
            return Err(DecodeError("list without symbols"));
        }
        let part = symbols.len().div_ceil(STREAMS);
        let mut rest = symbols;
        let mut parts = Vec::with_capacity(STREAMS);
        for _ in 0..STREAMS {
            let (length, after) = stored.split_first_chunk().ok_or(short.clone())?;
            let (bits, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(short.clone())?;
            stored = after;
            let (symbols, after) = rest.split_at_mut(part.min(rest.len()));
            rest = after;
            parts.push(Part { bits: Bits { stored: bits, at: 0, bits: 0, left: 0 }, symbols, at: 0 });
        }
        self.decode_parts(&mut parts)?;
        Ok(stored)
    }

    fn prepare(&mut self, alphabet: &[[u8; 2]], lengths: &[u8]) -> Result<(), DecodeError> {
        let lengths: Vec<u8> = lengths.iter().flat_map(|pair| [pair & 15, pair >> 4]).take(alphabet.len()).collect();
        let codes = codes(&lengths).ok_or(DecodeError("list without a prefix code"))?;
        for ((symbol, code), length) in alphabet.iter().zip(codes).zip(&lengths) {
            let entry = u32::from(u16::from_le_bytes(*symbol)) | u32::from(*length) << 16;
            for at in (usize::from(code)..1 << LONGEST).step_by(1 << length) {
                self.first[at] = entry;
            }
        }
        if let [_] = alphabet {
            let only = self.first[0];
            self.first.fill(only);
        }
        for (at, several) in self.several.iter_mut().enumerate() {
            let (mut symbols, mut used, mut number) = (0, 0, 0);
            while number < AT_ONCE {
                let entry = self.first[at >> used];
                if used + (entry >> 16) > LONGEST {
                    break;
                }
                symbols |= u64::from(entry & 0xffff) << (16 * number);
                used += entry >> 16;
                number += 1;
            }
            *several = symbols | u64::from(used) << 48 | (number as u64) << 52;
        }
        Ok(())
    }

    /// Decodes parts side by side, and when one ends, those that are left: a look-up gives one
    /// symbol or three, so that parts of equally many symbols end at very different times.
    fn decode_parts(&self, mut parts: &mut [Part<'_, '_>]) -> Result<(), DecodeError> {
        loop {
            match &mut *parts {
                [] => return Ok(()),
                [a] => self.side_by_side([a]),
                [a, b] => self.side_by_side([a, b]),
                [a, b, c] => self.side_by_side([a, b, c]),
                [a, b, c, d, ..] => self.side_by_side([a, b, c, d]),
            }
            parts.sort_by_key(Part::is_near_end);
            let going = parts.partition_point(|part| !part.is_near_end());
            let (left, ended) = parts.split_at_mut(going);
            for part in ended {
                self.decode_slowly(&mut part.bits, &mut part.symbols[part.at..])?;
            }
            parts = left;
        }
    }

    /// Decodes parts until one of them is near its end. Four symbols are written at a time, a whole
    /// word, of which up to [`AT_ONCE`] count.
    #[inline(always)]
    fn side_by_side<const N: usize>(&self, mut parts: [&mut Part<'_, '_>; N]) {
        while parts.iter().all(|part| !part.is_near_end()) {
            for part in &mut parts {
                part.bits.refill();
            }
            for _ in 0..LOOKUPS {
                for part in &mut parts {
                    let entry = self.several[part.bits.next()];
                    part.bits.skip((entry >> 48 & 15) as u32);
                    let Some(room) = part.symbols.get_mut(part.at..).and_then(|rest| rest.first_chunk_mut()) else {
                        return;
                    };
                    *room = [entry as u16, (entry >> 16) as u16, (entry >> 32) as u16, (entry >> 48) as u16];
                    part.at += (entry >> 52) as usize;
                }
            }
        }
    }

    /// Decodes the end of a stream, symbol by symbol.
    fn decode_slowly(&self, bits: &mut Bits<'_>, symbols: &mut [u16]) -> Result<(), DecodeError> {
        for symbol in symbols {
            bits.refill_slowly();
            let entry = self.first[bits.next()];
            if entry >> 16 > bits.left {
                return Err(DecodeError("list ends inside a code"));
            }
            bits.skip(entry >> 16);
            *symbol = entry as u16;
        }
        bits.refill_slowly();
        // The last byte is filled up with zeros.
        if bits.at != bits.stored.len() || bits.left >= 8 || bits.bits != 0 {
            return Err(DecodeError("list goes on after its last code"));
        }
        Ok(())
    }
}
