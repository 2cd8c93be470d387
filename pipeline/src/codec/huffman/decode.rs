//! Decoding of a list.

use super::super::DecodeError;
use super::{LONGEST, STREAMS, codes};

/// Look-ups between two refills of 56 bits.
const LOOKUPS: usize = 5;
/// The most symbols that a look-up gives.
const AT_ONCE: usize = 3;
/// Symbols that a round of look-ups may write: a look-up writes a whole word, four of them.
const ROUND: usize = 32;

/// Tables by the next [`LONGEST`] bits, reused from list to list.
pub(in crate::codec) struct Decoder {
    /// First symbol in the low half, length of its code in the high one.
    first: Box<[u32; 1 << LONGEST]>,
    /// In the lowest byte the length of the codes of up to [`AT_ONCE`] symbols, in the next one
    /// their number, and then the symbols.
    several: Box<[u64; 1 << LONGEST]>,
    bytes: Vec<u16>,
}

/// A stream being decoded. The highest bit of `bits` that is set is a mark above those of the
/// stream: the zeros before it tell how many bits, from byte `at` on, are taken.
struct Bits<'a> {
    stored: &'a [u8],
    at: usize,
    bits: u64,
}

impl<'a> Bits<'a> {
    fn of(stored: &'a [u8]) -> Bits<'a> {
        Bits { stored, at: 0, bits: 1 << 63 }
    }

    /// Returns the first byte that is not taken as a whole.
    #[inline(always)]
    fn begin(&self) -> usize {
        self.at + (self.bits.leading_zeros() / 8) as usize
    }

    /// Refills to at least 56 bits, unless it is near the end of the stream.
    #[inline(always)]
    fn refill(&mut self) {
        let at = self.begin();
        let Some(next) = self.stored.get(at..).and_then(|rest| rest.first_chunk()) else { return };
        self.at = at;
        self.bits = (u64::from_le_bytes(*next) | 1 << 63) >> (self.bits.leading_zeros() % 8);
    }
}

/// The end of a stream, decoded code by code.
struct LastBits<'a> {
    stored: &'a [u8],
    bits: u64,
    /// Number of valid bits in `bits`.
    left: u32,
}

impl<'a> LastBits<'a> {
    /// What is left of a stream.
    fn of(bits: &Bits<'a>) -> LastBits<'a> {
        let mut last = LastBits { stored: bits.stored.get(bits.begin()..).unwrap_or_default(), bits: 0, left: 0 };
        last.refill();
        // No more bits are taken than there are.
        last.skip(bits.bits.leading_zeros() % 8);
        last
    }

    fn refill(&mut self) {
        while let Some((byte, stored)) = self.stored.split_first().filter(|_| self.left <= 56) {
            self.bits |= u64::from(*byte) << self.left;
            self.left += 8;
            self.stored = stored;
        }
    }

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
        self.at + ROUND > self.symbols.len() || self.bits.begin() + 8 > self.bits.stored.len()
    }
}

impl Decoder {
    pub(in crate::codec) fn new() -> Decoder {
        Decoder { first: Box::new([0; 1 << LONGEST]), several: Box::new([0; 1 << LONGEST]), bytes: Vec::new() }
    }

    /// Decodes a list that fills `symbols`; returns the remaining bytes.
    pub(in crate::codec) fn decode<'a>(
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
            parts.push(Part { bits: Bits::of(bits), symbols, at: 0 });
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
                symbols |= u64::from(entry & 0xffff) << (16 * (number + 1));
                used += entry >> 16;
                number += 1;
            }
            *several = symbols | (number as u64) << 8 | u64::from(used);
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
                self.decode_last(LastBits::of(&part.bits), &mut part.symbols[part.at..])?;
            }
            parts = left;
        }
    }

    /// Decodes parts until one of them is near its end. A look-up writes a whole word of four
    /// symbols, of which up to [`AT_ONCE`] count.
    #[inline(always)]
    fn side_by_side<const N: usize>(&self, mut parts: [&mut Part<'_, '_>; N]) {
        while parts.iter().all(|part| !part.is_near_end()) {
            let mut written = [0; N];
            for part in &mut parts {
                part.bits.refill();
            }
            for _ in 0..LOOKUPS {
                for (part, written) in parts.iter_mut().zip(&mut written) {
                    let entry = self.several[part.bits.bits as usize % (1 << LONGEST)];
                    part.bits.bits >>= entry & 63;
                    let Some(round) = part.symbols.get_mut(part.at..).and_then(|rest| rest.first_chunk_mut::<ROUND>())
                    else {
                        return;
                    };
                    // At most 12; the mask shows the compiler that four more fit.
                    let at = *written & 15;
                    let symbols = entry >> 16;
                    // Written out: a closure here was a call in one build of two.
                    let four = [symbols as u16, (symbols >> 16) as u16, (symbols >> 32) as u16, (symbols >> 48) as u16];
                    round[at..at + 4].copy_from_slice(&four);
                    *written += (entry >> 8 & 0xff) as usize;
                }
            }
            for (part, written) in parts.iter_mut().zip(written) {
                part.at += written;
            }
        }
    }

    /// Decodes the end of a stream, symbol by symbol.
    fn decode_last(&self, mut bits: LastBits<'_>, symbols: &mut [u16]) -> Result<(), DecodeError> {
        for symbol in symbols {
            bits.refill();
            let entry = self.first[bits.bits as usize % (1 << LONGEST)];
            if entry >> 16 > bits.left {
                return Err(DecodeError("list ends inside a code"));
            }
            bits.skip(entry >> 16);
            *symbol = entry as u16;
        }
        // The last byte is filled up with zeros.
        if !bits.stored.is_empty() || bits.left >= 8 || bits.bits != 0 {
            return Err(DecodeError("list goes on after its last code"));
        }
        Ok(())
    }
}
