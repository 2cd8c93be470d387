//! Brings the losses of a canonical block into the orientation of one of its images.
//!
//! A *tile* is a set of lines (512 bits) whose bits land in equally many lines of the target: the
//! closure of the nine lowest index bits of the source and of those that become the nine lowest of
//! the target. Its image is made in a buffer that fits the first-level cache:
//!
//! 1. Words are copied to their places by a table, their own bits still in the old order. Where an
//!    index bit leaves the word, the bit that replaces it waits at its destination.
//! 2. Each such pair of index bits is exchanged over the whole buffer.
//! 3. Index bits in the word that are still out of order are swapped, and the lines copied out.

use trinim_kernel::{Work, run_wide};

const LINE_BITS: usize = 9;
pub(crate) const LINE: usize = 8;
const WORD_BITS: usize = 6;
/// Lines of the largest tile, by the index bits above a line: nine that become the lowest.
const TILE_LINES: usize = 1 << LINE_BITS;
/// Lower limit on the index bits of a tile, to reduce the number of tiles.
const TILE_BITS_MIN: usize = 16;
/// By index bit of a word: the places in the word that have it.
const PLACES: [u64; WORD_BITS] = [
    0xAAAA_AAAA_AAAA_AAAA,
    0xCCCC_CCCC_CCCC_CCCC,
    0xF0F0_F0F0_F0F0_F0F0,
    0xFF00_FF00_FF00_FF00,
    0xFFFF_0000_FFFF_0000,
    0xFFFF_FFFF_0000_0000,
];

/// The buffer of a tile.
pub(crate) struct Tile(Box<[[u64; LINE]; TILE_LINES]>);

impl Tile {
    pub(crate) fn new() -> Tile {
        Tile(Box::new([[0; LINE]; TILE_LINES]))
    }
}

/// The steps for one permutation of the index bits.
pub(crate) struct Reorder {
    /// Word of the tile to which each word of a line, and each line, is copied.
    words: [u32; LINE],
    lines: Vec<u32>,
    /// Line numbers of a tile, in source and target.
    source_lines: Vec<u32>,
    target_lines: Vec<u32>,
    /// For each index bit outside the tile: its contribution to the line number in source and
    /// target.
    outer: Vec<(u32, u32)>,
    /// Pairs of an index bit of a word and one of the word's number in the tile.
    exchanges: Vec<(usize, usize)>,
    /// Pairs of index bits of a word, the lower first.
    swaps: Vec<(usize, usize)>,
    /// The index bit of the target for each of the source.
    image: Vec<usize>,
}

impl Reorder {
    /// Finds the steps for the permutation that takes index bit `i` to `permutation[i]`; bits
    /// beyond it, up to the ninth, stay.
    pub(crate) fn new(permutation: &[u8]) -> Reorder {
        let mut image: Vec<usize> = permutation.iter().map(|bit| usize::from(*bit)).collect();
        image.extend(image.len()..LINE_BITS);
        let low = |bit: usize| bit < LINE_BITS;
        let mut inside: Vec<usize> = (0..image.len()).filter(|bit| low(*bit) || low(image[*bit])).collect();
        for bit in LINE_BITS..image.len() {
            if inside.len() < TILE_BITS_MIN && !inside.contains(&bit) {
                inside.push(bit);
            }
        }
        let mut images: Vec<usize> = inside.iter().map(|bit| image[*bit]).collect();
        inside.sort_unstable();
        images.sort_unstable();

        // The tile numbers the target lines it covers; the nine lowest bits are the same in both.
        let rank = |to: usize| images.partition_point(|image| *image < to);
        let mut place_of: Vec<usize> = inside.iter().map(|bit| rank(image[*bit])).collect();
        let mut in_word: [usize; WORD_BITS] = std::array::from_fn(|bit| bit);
        let mut exchanges = Vec::new();
        for leaving in (0..WORD_BITS).filter(|bit| image[*bit] >= WORD_BITS) {
            let has_come = |bit: &usize| in_word.contains(bit);
            let coming = inside.iter().filter(|bit| **bit >= WORD_BITS && image[**bit] < WORD_BITS && !has_come(bit));
            // One that belongs there needs no swap.
            let Some(&coming) = coming.min_by_key(|bit| image[**bit] != leaving) else { break };
            let place = rank(image[leaving]);
            exchanges.push((leaving, place - WORD_BITS));
            place_of[inside.partition_point(|bit| *bit < coming)] = place;
            in_word[leaving] = coming;
        }
        let mut swaps = Vec::new();
        for place in 0..WORD_BITS {
            while image[in_word[place]] != place {
                let other = image[in_word[place]];
                swaps.push((place.min(other), place.max(other)));
                in_word.swap(place, other);
            }
        }

        let word_of = |index: usize| {
            let bits = (WORD_BITS..place_of.len()).filter(|bit| index >> bit & 1 == 1);
            bits.fold(0, |word, bit| word | 1_u32 << (place_of[bit] - WORD_BITS))
        };
        let lines = 1 << (inside.len() - LINE_BITS);
        let deposit = |bits: &[usize], line: usize| {
            let bits = bits[LINE_BITS..].iter().enumerate();
            bits.fold(0, |out, (rank, bit)| out | ((line >> rank & 1) << (bit - LINE_BITS)) as u32)
        };
        let outside = (0..image.len()).filter(|bit| !inside.contains(bit));
        Reorder {
            words: std::array::from_fn(|word| word_of(word << WORD_BITS)),
            lines: (0..lines).map(|line| word_of(line << LINE_BITS)).collect(),
            source_lines: (0..lines).map(|line| deposit(&inside, line)).collect(),
            target_lines: (0..lines).map(|line| deposit(&images, line)).collect(),
            outer: outside.map(|bit| (1 << (bit - LINE_BITS), 1 << (image[bit] - LINE_BITS))).collect(),
            exchanges,
            swaps,
            image,
        }
    }

    /// Writes the image of `source` to `target`: bit `x` moves to the index that the permutation
    /// gives. Indices of `target` with one of the `unneeded` bits are unspecified.
    pub(crate) fn orient(&self, unneeded: u64, source: &[[u64; LINE]], target: &mut [[u64; LINE]], tile: &mut Tile) {
        run_wide(Orienting { reorder: self, unneeded, source, target, tile: &mut tile.0[..self.lines.len()] });
    }
}

/// One call of [`Reorder::orient`].
struct Orienting<'a> {
    reorder: &'a Reorder,
    unneeded: u64,
    source: &'a [[u64; LINE]],
    target: &'a mut [[u64; LINE]],
    tile: &'a mut [[u64; LINE]],
}

impl Work for Orienting<'_> {
    #[inline(always)]
    fn run(self) {
        let Orienting { reorder, unneeded, source, target, tile } = self;
        let to_far = (unneeded >> LINE_BITS) as u32;
        let from = reorder.image.iter().enumerate().filter(|(_, to)| unneeded >> **to & 1 == 1);
        let from_far = from.fold(0_u64, |from, (bit, _)| from | 1 << bit) >> LINE_BITS;
        let from_far = from_far as u32;
        let lines = reorder.source_lines.iter().zip(&reorder.lines).filter(|(line, _)| *line & from_far == 0);
        let lines: Vec<(u32, u32)> = lines.map(|(line, place)| (*line, *place)).collect();
        for outer in 0..1_usize << reorder.outer.len() {
            let mut origin = (0, 0);
            for (rank, (from, to)) in reorder.outer.iter().enumerate() {
                if outer >> rank & 1 == 1 {
                    origin = (origin.0 | from, origin.1 | to);
                }
            }
            if origin.0 & from_far != 0 {
                continue;
            }
            let words = tile.as_flattened_mut();
            // By index: calls inside `zip` are not inlined.
            for (line, place) in &lines {
                for word in 0..LINE {
                    words[(place | reorder.words[word]) as usize] = source[(origin.0 | line) as usize][word];
                }
            }
            for (bit, number) in &reorder.exchanges {
                exchange(tile, *bit, *number);
            }
            for (low, high) in &reorder.swaps {
                swap(tile, *low, *high);
            }
            for (number, line) in reorder.target_lines.iter().enumerate() {
                if line & to_far == 0 {
                    target[(origin.1 | line) as usize] = tile[number];
                }
            }
        }
    }
}

/// Exchanges an index bit of each word with one of the word's number.
#[inline(always)]
fn exchange(tile: &mut [[u64; LINE]], bit: usize, number: usize) {
    let (shift, high) = (1 << bit, PLACES[bit]);
    let lines = match number {
        0 => return exchange_in_lines::<1>(tile, shift, high),
        1 => return exchange_in_lines::<2>(tile, shift, high),
        2 => return exchange_in_lines::<4>(tile, shift, high),
        _ => 1 << (number + WORD_BITS - LINE_BITS),
    };
    for both in tile.chunks_exact_mut(2 * lines) {
        let (without, with) = both.split_at_mut(lines);
        for line in 0..lines {
            for word in 0..LINE {
                let differences = (without[line][word] >> shift ^ with[line][word]) & !high;
                with[line][word] ^= differences;
                without[line][word] ^= differences << shift;
            }
        }
    }
}

/// Exchanges an index bit of each word with the one that distinguishes words `i` and `i ^ WORD` of
/// a line.
#[inline(always)]
fn exchange_in_lines<const WORD: usize>(tile: &mut [[u64; LINE]], shift: u32, high: u64) {
    for line in tile {
        let old = *line;
        for (word, new) in line.iter_mut().enumerate() {
            let other = old[word ^ WORD];
            *new = match word & WORD {
                0 => old[word] & !high | (other & !high) << shift,
                _ => old[word] & high | (other & high) >> shift,
            };
        }
    }
}

/// Swaps two index bits of each word.
#[inline(always)]
fn swap(tile: &mut [[u64; LINE]], low: usize, high: usize) {
    let (shift, moved) = ((1 << high) - (1 << low), PLACES[low] & !PLACES[high]);
    for word in tile.as_flattened_mut() {
        let differences = (*word ^ *word >> shift) & moved;
        *word ^= differences | differences << shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::witness::geometry::spread;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_loss_arrives_where_the_permutation_takes_it(
            permutation in (0u8..=21).prop_flat_map(|bits| Just((0..bits).collect::<Vec<u8>>()).prop_shuffle()),
            picks in proptest::collection::vec(any::<u64>(), 1..200),
            unneeded in prop_oneof![Just(0), any::<u64>(), any::<(u64, u64, u64)>().prop_map(|(a, b, c)| a & b & c)],
        ) {
            let bits = permutation.len();
            let lines = 1 << bits.max(LINE_BITS) >> LINE_BITS;
            let (mut source, mut target) = (vec![[0; LINE]; lines], vec![[u64::MAX; LINE]; lines]);
            let mut expected = vec![[0; LINE]; lines];
            for pick in picks {
                let from = pick & ((1 << bits) - 1);
                let to = spread(&permutation, from);
                source.as_flattened_mut()[from as usize >> 6] |= 1 << (from & 63);
                expected.as_flattened_mut()[to as usize >> 6] |= 1 << (to & 63);
            }
            let mut tile = Tile::new();
            let reorder = Reorder::new(&permutation);
            reorder.orient(unneeded, &source, &mut target, &mut tile);
            let is_needed = |index: &u64| index & unneeded == 0;
            let has = |bitmap: &[[u64; LINE]], index: u64| bitmap.as_flattened()[index as usize >> 6] >> (index & 63) & 1;
            for index in (0..1 << bits.max(LINE_BITS)).filter(is_needed) {
                prop_assert_eq!(has(&target, index), has(&expected, index));
            }
            // Nothing is left in the tile for the next block.
            reorder.orient(0, &source, &mut target, &mut tile);
            prop_assert_eq!(&target, &expected);
            // Nor do the instructions matter.
            target.as_flattened_mut().fill(u64::MAX);
            let (reorder, tile) = (&reorder, &mut tile.0[..reorder.lines.len()]);
            Orienting { reorder, unneeded: 0, source: &source, target: &mut target, tile }.run();
            prop_assert_eq!(target, expected);
        }
    }
}
