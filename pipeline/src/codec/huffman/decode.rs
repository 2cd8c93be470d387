//! Decoding of a list.

use super::super::DecodeError;
use super::{LONGEST, STREAMS, codes};

/// Look-ups between two refills, of at most [`LONGEST`] bits each; a refill gives at least 57 bits.
const LOOKUPS: usize = 5;
/// The most symbols that a look-up gives.
const AT_ONCE: usize = 3;
/// Symbols that a round of look-ups can write: a look-up writes a whole word, four of them.
const ROUND: usize = AT_ONCE * LOOKUPS + 1;
/// Number of bits of the symbols in the entry of a look-up. Above them are the length of their
/// codes, a byte, and their number.
const TAKEN: u32 = 16 * AT_ONCE as u32;

/// Tables by the next [`LONGEST`] bits, reused from list to list.
pub(in crate::codec) struct Decoder {
    /// First symbol in the low half, length of its code in the high half.
    first: Box<[u32; 1 << LONGEST]>,
    /// Up to [`AT_ONCE`] symbols; above them the length of their codes and their number.
    several: Box<[u64; 1 << LONGEST]>,
    bytes: Vec<u16>,
}

/// A part of a list, encoded in its own stream.
struct Part<'a> {
    stored: &'a [u8],
    /// Number of bits of the stream that are decoded.
    bits: usize,
    /// Index of the next symbol in the list, and the end of the part.
    next: usize,
    end: usize,
}

impl<'a> Part<'a> {
    /// Returns the next 57 bits or more, lowest first, or `None` if a round of look-ups might go
    /// beyond the end of the symbols or of the stream.
    #[inline(always)]
    fn round(&self) -> Option<u64> {
        let next = self.stored.get(self.bits / 8..)?.first_chunk()?;
        (self.next + ROUND <= self.end).then(|| u64::from_le_bytes(*next) >> (self.bits % 8))
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
    /// Takes the rest of a stream.
    fn new(part: &Part<'a>) -> LastBits<'a> {
        let mut last = LastBits { stored: part.stored.get(part.bits / 8..).unwrap_or_default(), bits: 0, left: 0 };
        last.refill();
        // No more bits are taken than exist.
        last.skip((part.bits % 8) as u32);
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
        let mut parts = Vec::with_capacity(STREAMS);
        for number in 0..STREAMS {
            let (length, after) = stored.split_first_chunk().ok_or(short.clone())?;
            let (stream, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(short.clone())?;
            stored = after;
            let [next, end] = [number, number + 1].map(|number| (number * part).min(symbols.len()));
            parts.push(Part { stored: stream, bits: 0, next, end });
        }
        self.decode_parts(symbols, &mut parts)?;
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
            *several = symbols | ((number as u64) << 8 | u64::from(used)) << TAKEN;
        }
        Ok(())
    }

    /// Decodes parts in parallel, and when one ends, the remaining ones: a look-up gives one symbol
    /// or three, so parts with equally many symbols end at very different times.
    fn decode_parts(&self, symbols: &mut [u16], mut parts: &mut [Part<'_>]) -> Result<(), DecodeError> {
        loop {
            match &mut *parts {
                [] => return Ok(()),
                [a] => self.side_by_side(symbols, [a]),
                [a, b] => self.side_by_side(symbols, [a, b]),
                [a, b, c] => self.side_by_side(symbols, [a, b, c]),
                [a, b, c, d, ..] => self.side_by_side(symbols, [a, b, c, d]),
            }
            parts.sort_by_key(|part| part.round().is_none());
            let going = parts.partition_point(|part| part.round().is_some());
            let (left, ended) = parts.split_at_mut(going);
            for part in ended {
                self.decode_last(LastBits::new(part), &mut symbols[part.next..part.end])?;
            }
            parts = left;
        }
    }

    /// Decodes parts until one of them is near its end. A look-up writes a whole word of four
    /// symbols; up to [`AT_ONCE`] of them count.
    #[inline(always)]
    fn side_by_side<const N: usize>(&self, symbols: &mut [u16], mut parts: [&mut Part<'_>; N]) {
        loop {
            let mut bits = [0; N];
            // Sums of lengths in the lowest byte, the next symbol above.
            let mut sums = [0; N];
            for number in 0..N {
                let Some(round) = parts[number].round() else { return };
                (bits[number], sums[number]) = (round, parts[number].next << 8);
            }
            for _ in 0..LOOKUPS {
                for number in 0..N {
                    let entry = self.several[bits[number] as usize % (1 << LONGEST)];
                    let Some(four) = symbols.get_mut(sums[number] >> 8..).and_then(|rest| rest.first_chunk_mut())
                    else {
                        return;
                    };
                    // Written out: in one build of two, a closure here became a call. The last
                    // symbol is a filler.
                    *four = [entry as u16, (entry >> 16) as u16, (entry >> 32) as u16, (entry >> 48) as u16];
                    let taken = (entry >> TAKEN) as usize;
                    bits[number] >>= taken & 63;
                    sums[number] += taken;
                }
            }
            for (part, sum) in parts.iter_mut().zip(sums) {
                part.bits += sum & 0xff;
                part.next = sum >> 8;
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
        // The last byte is padded with zeros.
        if !bits.stored.is_empty() || bits.left >= 8 || bits.bits != 0 {
            return Err(DecodeError("list continues after its last code"));
        }
        Ok(())
    }
}
