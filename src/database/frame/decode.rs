//! Decoding of a frame: whole, or one word at a time.

use super::huffman::{Canonical, LENGTHS};
use super::{FIXED_BYTES, GROUP, ROW_WORDS, bits_for};
use std::fmt;

/// An error in decoding a payload as a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameError(pub(in crate::database) &'static str);

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// One table look-up decodes codes of up to this many bits.
const TABLE_BITS: u32 = 13;
/// Rows between two counts of flags.
const RANK_ROWS: usize = 512;

/// A parsed frame.
pub struct Frame {
    rows: usize,
    distinct: usize,
    id_bits: u32,
    flags: Vec<u64>,
    /// Flags set before each group of [`RANK_ROWS`] rows.
    ranks: Vec<u32>,
    starts: Vec<u64>,
    entries: Vec<u32>,
    stream: Vec<u64>,
    code_bits: u64,
    words: Vec<u64>,
    canonical: Canonical,
    /// By the next [`TABLE_BITS`] bits: symbol and length, or length 0 for longer codes.
    table: Vec<(u32, u8)>,
}

/// Splits sections off the front of a payload.
struct Sections<'a>(&'a [u8]);

impl<'a> Sections<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], FrameError> {
        let (head, tail) = self.0.split_at_checked(count).ok_or(FrameError("the payload ends early"))?;
        self.0 = tail;
        Ok(head)
    }

    fn u32s(&mut self, count: usize) -> Result<Vec<u32>, FrameError> {
        let bytes = self.bytes(count.checked_mul(4).ok_or(FrameError("the lengths of the sections are wrong"))?)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
    }

    fn u64s(&mut self, count: usize) -> Result<Vec<u64>, FrameError> {
        let bytes = self.bytes(count.checked_mul(8).ok_or(FrameError("the lengths of the sections are wrong"))?)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }
}

impl Frame {
    /// Parses a payload that must decode to `words` words.
    ///
    /// # Errors
    /// [`FrameError`] if the payload is malformed.
    pub fn parse(payload: Vec<u8>, words: usize) -> Result<Frame, FrameError> {
        let mut sections = Sections(&payload);
        let mut fixed = [0u32; FIXED_BYTES / 4];
        fixed.copy_from_slice(&sections.u32s(FIXED_BYTES / 4)?);
        let [rows, distinct, dictionary, starts, code_bits, planes, ..] = fixed.map(|number| number as usize);
        let mut by_length = [0; LENGTHS];
        by_length.copy_from_slice(&fixed[6..]);
        if rows * ROW_WORDS != words
            || distinct > rows
            || dictionary > distinct * ROW_WORDS
            || distinct == 0
            || dictionary == 0
        {
            return Err(FrameError("the counts are impossible"));
        }
        let flags = sections.u64s(rows.div_ceil(64))?;
        let starts = sections.u64s(starts)?;
        let entries = sections.u32s(distinct.div_ceil(GROUP))?;
        let stream = sections.u64s(code_bits.div_ceil(64))?;
        let planes = zstd::bulk::decompress(sections.bytes(planes)?, dictionary * 8)
            .map_err(|_| FrameError("the word planes do not decompress"))?;
        if planes.len() != dictionary * 8 || !sections.0.is_empty() {
            return Err(FrameError("the lengths of the sections are wrong"));
        }
        let codes = by_length.iter().map(|count| u64::from(*count)).sum::<u64>();
        if codes != dictionary as u64 {
            return Err(FrameError("the number of codes is wrong"));
        }
        let canonical = Canonical::new(&by_length).ok_or(FrameError("the code lengths are impossible"))?;

        let mut words = Vec::with_capacity(dictionary);
        let mut last = 0u64;
        for at in 0..dictionary {
            let mut bytes = [0; 8];
            for (plane, byte) in bytes.iter_mut().enumerate() {
                *byte = planes[plane * dictionary + at];
            }
            last = last.wrapping_add(u64::from_le_bytes(bytes));
            words.push(last);
        }

        let id_bits = bits_for(distinct);
        let mut ranks = Vec::with_capacity(rows.div_ceil(RANK_ROWS));
        let mut set = 0;
        for group in flags.chunks(RANK_ROWS / 64) {
            ranks.push(set);
            set += group.iter().map(|word| word.count_ones()).sum::<u32>();
        }
        if starts.len() as u64 != (u64::from(set) * u64::from(id_bits)).div_ceil(64) {
            return Err(FrameError("the number of starts is wrong"));
        }
        let table = (0..1u64 << TABLE_BITS)
            .map(|top| {
                let (length, symbol) = canonical.read(top << (64 - TABLE_BITS), 1);
                if length <= TABLE_BITS { (symbol, length as u8) } else { (0, 0) }
            })
            .collect();
        let code_bits = code_bits as u64;
        Ok(Frame { rows, distinct, id_bits, flags, ranks, starts, entries, stream, code_bits, words, canonical, table })
    }

    /// Returns the memory that the frame occupies, in bytes.
    pub fn memory_bytes(&self) -> usize {
        8 * (self.flags.len() + self.starts.len() + self.stream.len() + self.words.len() + self.table.len())
            + 4 * (self.ranks.len() + self.entries.len())
    }

    /// Returns word `at` of the frame.
    ///
    /// # Errors
    /// [`FrameError`] if the payload contradicts itself there, or if `at` is beyond the frame.
    pub fn word(&self, at: usize) -> Result<u64, FrameError> {
        let (row, column) = (at / ROW_WORDS, at % ROW_WORDS);
        if row >= self.rows {
            return Err(FrameError("the word is beyond the frame"));
        }
        let id = self.id(row);
        let skipped = id % GROUP * ROW_WORDS + column;
        let entry = *self.entries.get(id / GROUP).ok_or(FrameError("a row number is too large"))?;
        if id >= self.distinct {
            return Err(FrameError("a row number is too large"));
        }
        let mut reader = BitReader { words: &self.stream, at: entry.into() };
        for _ in 0..skipped {
            self.symbol(&mut reader)?;
        }
        let symbol = self.symbol(&mut reader)?;
        self.checked(&reader)?;
        self.words.get(symbol).copied().ok_or(FrameError("a code has no word"))
    }

    /// Decodes the whole frame into `words`, as many words as were passed to [`Frame::parse`].
    ///
    /// # Errors
    /// [`FrameError`] if the payload contradicts itself.
    pub fn decode(&self, words: &mut [u64]) -> Result<(), FrameError> {
        let mut distinct = vec![[0; ROW_WORDS]; self.distinct];
        let mut reader = BitReader { words: &self.stream, at: 0 };
        for (at, row) in distinct.iter_mut().enumerate() {
            if at % GROUP == 0 && self.entries.get(at / GROUP).is_none_or(|entry| u64::from(*entry) != reader.at) {
                return Err(FrameError("an entry into the code stream is wrong"));
            }
            for word in row {
                *word = *self.words.get(self.symbol(&mut reader)?).ok_or(FrameError("a code has no word"))?;
            }
        }
        self.checked(&reader)?;
        if reader.at != self.code_bits {
            return Err(FrameError("codes follow the last row"));
        }
        let mut starts = BitReader { words: &self.starts, at: 0 };
        let mut id = 0;
        for (row, out) in words.as_chunks_mut::<ROW_WORDS>().0.iter_mut().enumerate() {
            if self.flags.get(row / 64).is_some_and(|flags| flags >> (row % 64) & 1 == 1) {
                id = starts.take(self.id_bits) as usize;
            }
            *out = *distinct.get(id).ok_or(FrameError("a row number is too large"))?;
            id += 1;
        }
        Ok(())
    }

    /// Returns the number of the distinct row equal to row `row`; too large a number if the payload
    /// is malformed.
    fn id(&self, row: usize) -> usize {
        let word = row / 64;
        let upto = self.flags[word] & (u64::MAX >> (63 - row % 64));
        let before = &self.flags[row / RANK_ROWS * (RANK_ROWS / 64)..word];
        let flagged =
            self.ranks[row / RANK_ROWS] + before.iter().map(|word| word.count_ones()).sum::<u32>() + upto.count_ones();
        if flagged == 0 {
            return row;
        }
        // The last flagged row at or before this one.
        let mut at = word;
        let mut bits = upto;
        while bits == 0 {
            at -= 1;
            bits = self.flags[at];
        }
        let last = at * 64 + 63 - bits.leading_zeros() as usize;
        let mut starts = BitReader { words: &self.starts, at: u64::from(flagged - 1) * u64::from(self.id_bits) };
        starts.take(self.id_bits) as usize + row - last
    }

    #[inline]
    fn symbol(&self, reader: &mut BitReader<'_>) -> Result<usize, FrameError> {
        let window = reader.window();
        let (symbol, length) = self.table[(window >> (64 - TABLE_BITS)) as usize];
        if length > 0 {
            reader.at += u64::from(length);
            return Ok(symbol as usize);
        }
        let (length, symbol) = self.canonical.read(window, TABLE_BITS as usize + 1);
        if length == 0 {
            return Err(FrameError("a code is undefined"));
        }
        reader.at += u64::from(length);
        Ok(symbol as usize)
    }

    /// Fails if `reader` has passed the end, where it reads zeros.
    fn checked(&self, reader: &BitReader<'_>) -> Result<(), FrameError> {
        if reader.at <= self.code_bits { Ok(()) } else { Err(FrameError("the code stream ends early")) }
    }
}

/// Reads bits from the most significant end of 64-bit words on, and zeros after the last one.
struct BitReader<'a> {
    words: &'a [u64],
    at: u64,
}

impl BitReader<'_> {
    /// Returns the next 64 bits without consuming them.
    #[inline]
    fn window(&self) -> u64 {
        let (word, bit) = ((self.at / 64) as usize, (self.at % 64) as u32);
        let high = self.words.get(word).copied().unwrap_or(0) << bit;
        if bit == 0 { high } else { high | self.words.get(word + 1).copied().unwrap_or(0) >> (64 - bit) }
    }

    #[inline]
    fn take(&mut self, bits: u32) -> u64 {
        if bits == 0 {
            return 0;
        }
        let value = self.window() >> (64 - bits);
        self.at += u64::from(bits);
        value
    }
}
