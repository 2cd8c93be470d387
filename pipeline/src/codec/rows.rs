//! Each distinct 64-byte row of the frame once, and for every row the number of its distinct row.
//!
//! The solver's streams repeat rows (two of three at 8 layers) but hardly anything shorter that a
//! byte-wise compressor could find quickly. Finding whole rows by one hash each is several times
//! faster than zstd level 1 and decodes at the speed of copying.
//!
//! Seven in ten bytes of a distinct row are zero; leaving them out costs a few nanoseconds and more
//! than halves the payload. Huffman codes of 16 bits at a time halve it again.
//! `benches/record/2026-11-22-codecs.md` has the measurements.
//!
//! Payload: number of distinct rows (u32); for each row the number of its distinct row; the
//! distinct rows in order of first occurrence; the words after the last whole row, unchanged.
//! [`Store`] defines how numbers and distinct rows are written.
//!
//! A row repeats where cells outside it do not matter, so few distances to the last equal row
//! occur, mostly powers of two. They take 3.6 bits a row at 8 layers, the numbers 5.5.

use super::{Codec, DecodeError, Scratch, huffman};

/// Words of a row: one vector of 512 bits.
const ROW_WORDS: usize = 8;
/// The most rows that 16-bit numbers can tell apart.
const ROWS_MAX: usize = 1 << 16;
/// 2^64 divided by the golden ratio, odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// How the distinct rows are written.
#[derive(Clone, Copy)]
enum Store {
    /// Numbers as u16; for each row a mask of its non-zero bytes (u64), then these bytes of all
    /// rows.
    Bytes,
    /// *Links* instead of numbers: the distance to the last equal row, or 0 if there is none. Links
    /// and the 16-bit pieces of the rows are two [lists](super::huffman).
    Huffman,
}

/// Row numbers and distinct rows.
pub struct Rows {
    tag: u8,
    store: Store,
    name: &'static str,
}

impl Rows {
    /// The faster codec.
    pub const BYTES: Rows = Rows { tag: 7, store: Store::Bytes, name: "rows-bytes" };
    /// The denser codec.
    pub const HUFFMAN: Rows = Rows { tag: 8, store: Store::Huffman, name: "rows-huffman" };
}

fn hash(row: &[u64; ROW_WORDS]) -> u64 {
    let mut sums = [0u64; 2];
    for (at, pair) in row.as_chunks::<2>().0.iter().enumerate() {
        let turn = 11 + 7 * at as u32;
        sums[0] = (sums[0] ^ pair[0]).wrapping_mul(GOLDEN).rotate_left(turn);
        sums[1] = (sums[1] ^ pair[1]).wrapping_mul(GOLDEN).rotate_left(turn);
    }
    (sums[0] ^ sums[1].rotate_left(32)).wrapping_mul(GOLDEN)
}

/// Compares whole rows; finding the first difference would only take longer.
#[inline(always)]
fn is_same(a: &[u64; ROW_WORDS], b: &[u64; ROW_WORDS]) -> bool {
    let mut difference = 0;
    for (a, b) in a.iter().zip(b) {
        difference |= a ^ b;
    }
    difference == 0
}

impl Codec for Rows {
    fn tag(&self) -> u8 {
        self.tag
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn encode(&self, words: &[u64], out: &mut Vec<u8>, scratch: &mut Scratch) {
        let (rows, rest) = words.as_chunks::<ROW_WORDS>();
        // The longest frames, those of the logs of long streams, have as many rows.
        assert!(rows.len() <= ROWS_MAX, "a frame of {} rows", rows.len());
        let bits = (2 * rows.len().max(8)).next_power_of_two().trailing_zeros();
        let mask = (1usize << bits) - 1;
        let Scratch { table, numbers, distinct, links, encoder, .. } = &mut *scratch;
        table.clear();
        table.resize(1 << bits, 0);
        numbers.clear();
        distinct.resize(distinct.len().max(rows.len() * ROW_WORDS), 0);
        let found = distinct.as_chunks_mut::<ROW_WORDS>().0;
        let mut count = 0;
        for row in rows {
            let mut at = (hash(row) >> (64 - bits)) as usize;
            // Stored as if it were new, so that it equals itself in an empty place of the table:
            // whether a row is new is hard to predict, so nothing here branches on it.
            found[count] = *row;
            let number = loop {
                let place = &mut table[at & mask];
                *place = if *place == 0 { count as u32 + 1 } else { *place };
                let number = *place as usize - 1;
                if is_same(&found[number], row) {
                    break number;
                }
                at += 1;
            };
            count += usize::from(number == count);
            numbers.push(number as u16);
        }
        let distinct = &distinct[..count * ROW_WORDS];
        let count = count as u32;
        out.extend_from_slice(&count.to_le_bytes());
        match self.store {
            Store::Bytes => {
                out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
                append_bytes(distinct.as_chunks::<ROW_WORDS>().0, out);
            }
            Store::Huffman => {
                let encoder = encoder.get_or_insert_with(huffman::Encoder::new);
                link(numbers, links);
                encoder.encode(links, out);
                encoder.encode(bytemuck::cast_slice(distinct), out);
            }
        }
        out.extend_from_slice(bytemuck::cast_slice(rest));
    }

    fn decode(&self, stored: &[u8], words: &mut [u64], scratch: &mut Scratch) -> Result<(), DecodeError> {
        let (rows, rest) = words.as_chunks_mut::<ROW_WORDS>();
        let (count, stored) = stored.split_first_chunk::<4>().ok_or(DecodeError("row frame without counts"))?;
        let count = u32::from_le_bytes(*count) as usize;
        if count > rows.len() {
            return Err(DecodeError("more distinct rows than rows"));
        }
        let Scratch { numbers, distinct, links, decoder, .. } = scratch;
        let tail = match self.store {
            Store::Bytes => {
                let (numbers, stored) = split(stored, rows.len() * 2)?;
                distinct.clear();
                distinct.resize(count * ROW_WORDS, 0);
                let tail = take_bytes(stored, bytemuck::cast_slice_mut::<_, u8>(distinct).as_chunks_mut().0)?;
                copy_rows(rows, numbers, distinct.as_chunks().0)?;
                tail
            }
            Store::Huffman => {
                let decoder = decoder.get_or_insert_with(huffman::Decoder::new);
                links.resize(rows.len(), 0);
                distinct.resize(count * ROW_WORDS, 0);
                let stored = decoder.decode(stored, links)?;
                let tail = decoder.decode(stored, bytemuck::cast_slice_mut(distinct))?;
                copy_linked(rows, links, distinct.as_chunks().0, numbers)?;
                tail
            }
        };
        if tail.len() != rest.len() * 8 {
            return Err(DecodeError("row frame has the wrong length"));
        }
        bytemuck::cast_slice_mut(rest).copy_from_slice(tail);
        Ok(())
    }
}

/// Writes the link of every row.
fn link(numbers: &[u16], links: &mut Vec<u16>) {
    // The last row of each number.
    let mut last: Vec<u16> = Vec::new();
    links.clear();
    links.extend(numbers.iter().enumerate().map(|(row, number)| match last.get_mut(usize::from(*number)) {
        Some(last) => row as u16 - std::mem::replace(last, row as u16),
        None => {
            last.push(row as u16);
            0
        }
    }));
}

/// Copies to each row its distinct row, found by its link. Inverts [`link`] in the same pass:
/// `numbers` gets the number of each row's distinct row.
fn copy_linked(
    rows: &mut [[u64; ROW_WORDS]],
    links: &[u16],
    distinct: &[[u64; ROW_WORDS]],
    numbers: &mut Vec<u16>,
) -> Result<(), DecodeError> {
    numbers.resize(rows.len(), 0);
    let mut fresh = 0u16;
    for (at, (row, link)) in rows.iter_mut().zip(links).enumerate() {
        let earlier = at.checked_sub(usize::from(*link)).ok_or(DecodeError("link to before the first row"))?;
        let is_fresh = *link == 0;
        // Without a branch, because whether a row is new is hard to predict.
        let number = if is_fresh { fresh } else { numbers[earlier] };
        numbers[at] = number;
        fresh = fresh.wrapping_add(u16::from(is_fresh));
        *row = *distinct.get(usize::from(number)).ok_or(DecodeError("row number beyond the distinct rows"))?;
    }
    Ok(())
}

fn split(bytes: &[u8], at: usize) -> Result<(&[u8], &[u8]), DecodeError> {
    bytes.split_at_checked(at).ok_or(DecodeError("row frame too short"))
}

/// Appends the masks of the non-zero bytes, then these bytes.
fn append_bytes(distinct: &[[u64; ROW_WORDS]], out: &mut Vec<u8>) {
    let masks = out.len();
    out.resize(masks + distinct.len() * 8, 0);
    let mut at = out.len();
    // Every row is written in full, and the next one overwrites its tail: no branch on the data.
    out.resize(at + distinct.len() * ROW_WORDS * 8, 0);
    for (number, row) in distinct.iter().enumerate() {
        let mut mask = 0u64;
        let Some(room) = out[at..].first_chunk_mut::<{ ROW_WORDS * 8 }>() else { break };
        let mut kept = 0;
        for (word, bits) in row.iter().enumerate() {
            for (byte, value) in bits.to_le_bytes().into_iter().enumerate() {
                room[kept % (ROW_WORDS * 8)] = value;
                let some = usize::from(value != 0);
                mask |= (some as u64) << (word * 8 + byte);
                kept += some;
            }
        }
        at += kept;
        out[masks + number * 8..][..8].copy_from_slice(&mask.to_le_bytes());
    }
    out.truncate(at);
}

/// Inverts [`append_bytes`] into zeroed rows; returns the remaining bytes.
fn take_bytes<'a>(stored: &'a [u8], distinct: &mut [[u8; ROW_WORDS * 8]]) -> Result<&'a [u8], DecodeError> {
    let (masks, mut kept) = split(stored, distinct.len() * 8)?;
    for (row, mask) in distinct.iter_mut().zip(masks.as_chunks::<8>().0) {
        let mut mask = u64::from_le_bytes(*mask);
        let (bytes, tail) = split(kept, mask.count_ones() as usize)?;
        kept = tail;
        for byte in bytes {
            row[mask.trailing_zeros() as usize % (ROW_WORDS * 8)] = *byte;
            mask &= mask - 1;
        }
    }
    Ok(kept)
}

/// Copies to each row its distinct row, found by its number.
fn copy_rows(rows: &mut [[u64; ROW_WORDS]], numbers: &[u8], distinct: &[[u64; ROW_WORDS]]) -> Result<(), DecodeError> {
    for (row, number) in rows.iter_mut().zip(numbers.as_chunks().0) {
        let number = usize::from(u16::from_le_bytes(*number));
        *row = *distinct.get(number).ok_or(DecodeError("row number beyond the distinct rows"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: [u64; ROW_WORDS] = [0x0100, 0, 0, 0, 0, 0, 0, 0xff << 56];

    /// Two distinct rows, the numbers 0, 1, 0, 1, the rows, and the word after the last whole row.
    #[test]
    fn a_frame_has_its_numbers_and_its_rows_by_the_page() {
        let words = [[0; ROW_WORDS], ROW, [0; ROW_WORDS], ROW].concat();
        let mut found = Vec::new();
        Rows::BYTES.encode(&[&words[..], &[7]].concat(), &mut found, &mut Scratch::new());
        let (count, numbers, rest) = ([2, 0, 0, 0], [0, 0, 1, 0, 0, 0, 1, 0], 7_u64.to_le_bytes());
        // Bytes 1 and 63 of the second row are not 0.
        let masks = [0, 1 << 1 | 1 << 63].map(u64::to_le_bytes).concat();
        assert_eq!(found, [&count[..], &numbers, &masks, &[1, 0xff], &rest].concat());
    }

    #[test]
    fn links_lead_back_to_the_numbers() {
        let (mut links, mut numbers) = (Vec::new(), Vec::new());
        let rows = [0, 1, 0, 0, 2, 1, 2];
        link(&rows, &mut links);
        assert_eq!(links, [0, 0, 2, 1, 0, 4, 2]);
        let distinct = [[5; ROW_WORDS], [6; ROW_WORDS], ROW];
        let mut copies = [[0; ROW_WORDS]; 7];
        copy_linked(&mut copies, &links, &distinct, &mut numbers).unwrap();
        assert_eq!(numbers, rows);
        assert_eq!(copies, rows.map(|number| distinct[usize::from(number)]));
        let mut refused = |links: &[u16], count| copy_linked(&mut copies[..2], links, &distinct[..count], &mut numbers);
        assert!(refused(&[0, 2], 3).is_err() && refused(&[0, 0], 1).is_err());
    }
}
