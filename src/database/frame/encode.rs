//! Encoding of a frame.

use super::huffman::{self, Canonical, LENGTHS};
use super::{FIXED_BYTES, GROUP, LEVEL, ROW_WORDS, bits_for};

/// Multiplier of the hash functions below: 2^64 divided by the golden ratio, odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// An open-addressing table from keys to numbers; the caller compares the keys.
struct Table {
    slots: Vec<u32>,
    shift: u32,
}

impl Table {
    /// Creates a table for up to `keys` keys.
    fn new(keys: usize) -> Table {
        let bits = bits_for(2 * keys.max(8));
        Table { slots: vec![0; 1 << bits], shift: 64 - bits }
    }

    /// Returns the number of an equal key, or inserts and returns `fresh`.
    fn find(&mut self, hash: u64, fresh: u32, equal: impl Fn(u32) -> bool) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = (hash.wrapping_mul(GOLDEN) >> self.shift) as usize;
        loop {
            match self.slots[at] {
                0 => {
                    self.slots[at] = fresh + 1;
                    return fresh;
                }
                found if equal(found - 1) => return found - 1,
                _ => at = (at + 1) & mask,
            }
        }
    }
}

fn row_hash(row: &[u64; ROW_WORDS]) -> u64 {
    row.iter().fold(0, |hash: u64, word| (hash.rotate_left(23) ^ word).wrapping_mul(GOLDEN))
}

/// Encodes a frame; `words` is a positive multiple of [`ROW_WORDS`] long.
///
/// # Panics
/// If the length is not such a multiple, is 0, or exceeds 2^24.
pub fn encode(words: &[u64]) -> Vec<u8> {
    assert!(
        !words.is_empty() && words.len().is_multiple_of(ROW_WORDS) && words.len() <= 1 << 24,
        "{} words",
        words.len()
    );
    let (rows, _) = words.as_chunks::<ROW_WORDS>();

    let (ids, distinct) = number_rows(rows);
    let (numbers, dictionary, counts) = number_words(rows, &distinct);
    let lengths = huffman::lengths(&counts);

    // Symbols by (length, word): codes are canonical and the words of a length ascend.
    let mut by_length = [0u32; LENGTHS];
    for length in &lengths {
        by_length[usize::from(*length) - 1] += 1;
    }
    let canonical = Canonical::new(&by_length).expect("Huffman lengths are those of a prefix code");
    let mut symbols: Vec<u32> = (0..dictionary.len() as u32).collect();
    symbols.sort_unstable_by_key(|symbol| (lengths[*symbol as usize], dictionary[*symbol as usize]));
    let mut codes = vec![(0u64, 0u32); dictionary.len()];
    for (rank, symbol) in symbols.iter().enumerate() {
        let length = lengths[*symbol as usize];
        codes[*symbol as usize] = (canonical.code(length.into(), rank as u32), length.into());
    }

    let mut stream = BitWriter::default();
    let mut entries = Vec::with_capacity(distinct.len().div_ceil(GROUP));
    for (row, numbers) in numbers.as_chunks::<ROW_WORDS>().0.iter().enumerate() {
        if row % GROUP == 0 {
            entries.push(stream.bits as u32);
        }
        for number in numbers {
            let (code, length) = codes[*number as usize];
            stream.push(code, length);
        }
    }
    let code_bits = stream.bits;

    let id_bits = bits_for(distinct.len());
    let mut flags = vec![0u64; rows.len().div_ceil(64)];
    let mut starts = BitWriter::default();
    let mut expected = 0;
    for (row, id) in ids.iter().enumerate() {
        if *id != expected {
            flags[row / 64] |= 1 << (row % 64);
            starts.push((*id).into(), id_bits);
        }
        expected = id + 1;
    }

    let planes = word_planes(symbols.iter().map(|symbol| dictionary[*symbol as usize]), dictionary.len());
    let planes = zstd::bulk::compress(&planes, LEVEL).expect("compressing to memory does not fail");

    let mut out = Vec::with_capacity(FIXED_BYTES + stream.words.len() * 8 + planes.len() + flags.len() * 8);
    for number in [rows.len() as u32, distinct.len() as u32, dictionary.len() as u32, starts.words.len() as u32] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&(code_bits as u32).to_le_bytes());
    out.extend_from_slice(&(planes.len() as u32).to_le_bytes());
    out.extend(by_length.iter().flat_map(|count| count.to_le_bytes()));
    for section in [&flags, &starts.words] {
        out.extend(section.iter().flat_map(|word| word.to_le_bytes()));
    }
    out.extend(entries.iter().flat_map(|entry| entry.to_le_bytes()));
    out.extend(stream.words.iter().flat_map(|word| word.to_le_bytes()));
    out.extend_from_slice(&planes);
    out
}

/// Returns the number of each row's distinct row, and the first row of each number.
fn number_rows(rows: &[[u64; ROW_WORDS]]) -> (Vec<u32>, Vec<u32>) {
    let mut table = Table::new(rows.len());
    let mut distinct: Vec<u32> = Vec::new();
    let ids = rows
        .iter()
        .enumerate()
        .map(|(at, row)| {
            let fresh = distinct.len() as u32;
            let id = table.find(row_hash(row), fresh, |number| rows[distinct[number as usize] as usize] == *row);
            if id == fresh {
                distinct.push(at as u32);
            }
            id
        })
        .collect();
    (ids, distinct)
}

/// Returns the number of each word of the distinct rows, the distinct words, and the count of each.
fn number_words(rows: &[[u64; ROW_WORDS]], distinct: &[u32]) -> (Vec<u32>, Vec<u64>, Vec<u32>) {
    let mut table = Table::new(distinct.len() * ROW_WORDS / 2);
    let (mut dictionary, mut counts): (Vec<u64>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut numbers = Vec::with_capacity(distinct.len() * ROW_WORDS);
    for row in distinct {
        for word in rows[*row as usize] {
            if dictionary.len() * 2 >= table.slots.len() {
                table = Table::new(dictionary.len() * 2);
                for (at, word) in dictionary.iter().enumerate() {
                    table.find(*word ^ word >> 29, at as u32, |_| false);
                }
            }
            let fresh = dictionary.len() as u32;
            let number = table.find(word ^ word >> 29, fresh, |number| dictionary[number as usize] == word);
            if number == fresh {
                dictionary.push(word);
                counts.push(0);
            }
            counts[number as usize] += 1;
            numbers.push(number);
        }
    }
    (numbers, dictionary, counts)
}

/// Returns the wrapping differences of consecutive words in byte planes, least significant bytes
/// first.
fn word_planes(words: impl Iterator<Item = u64>, count: usize) -> Vec<u8> {
    let mut planes = vec![0; count * 8];
    let mut last = 0u64;
    for (at, word) in words.enumerate() {
        for (plane, byte) in word.wrapping_sub(last).to_le_bytes().into_iter().enumerate() {
            planes[plane * count + at] = byte;
        }
        last = word;
    }
    planes
}

/// Writes bits from the most significant end of 64-bit words on.
#[derive(Default)]
struct BitWriter {
    words: Vec<u64>,
    bits: u64,
}

impl BitWriter {
    /// Appends the low `length` bits of `value`, at most 63; the other bits must be 0.
    fn push(&mut self, value: u64, length: u32) {
        if length == 0 {
            return;
        }
        let used = (self.bits % 64) as u32;
        if used == 0 {
            self.words.push(0);
        }
        let free = 64 - used;
        let last = self.words.len() - 1;
        if length <= free {
            self.words[last] |= value << (free - length);
        } else {
            self.words[last] |= value >> (length - free);
            self.words.push(value << (64 - (length - free)));
        }
        self.bits += u64::from(length);
    }
}
