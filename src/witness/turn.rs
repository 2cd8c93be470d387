//! Turns the losses of a canonical block into the orientation of one of its images, loss by loss.
//!
//! Losses are few, so each is moved on its own: its new index is the OR of three table entries, for
//! its bit in the word, its word in the line and its line in the tile. A *tile* is a set of lines
//! (512 bits) whose losses land in equally many lines of the target: it is the closure of the nine
//! lowest index bits of the source and of those that become the nine lowest of the target. Its
//! image is collected in a buffer that fits the nearest cache and copied out line by line.

const LINE_BITS: usize = 9;
pub(crate) const LINE: usize = 8;
/// Index bits of the largest tile: the lowest nine, and nine that become the lowest.
const TILE_BITS_MAX: usize = 2 * LINE_BITS;
const TILE_WORDS: usize = 1 << (TILE_BITS_MAX - 6);
/// Lower limit on the index bits of a tile, to reduce the number of tiles.
const TILE_BITS_MIN: usize = 16;
/// Lines of the source fetched at once.
const FETCH_LINES: usize = 64;
/// Losses that most words have at most.
const USUAL_LOSSES: usize = 6;

/// The buffer of a tile.
pub(crate) struct Tile {
    lines: Box<[[u64; LINE]; 1 << (TILE_BITS_MAX - LINE_BITS)]>,
    /// Where the losses of a line go.
    places: Box<[u32; 64 * LINE + USUAL_LOSSES]>,
}

impl Tile {
    pub(crate) fn new() -> Tile {
        Tile {
            lines: Box::new([[0; LINE]; 1 << (TILE_BITS_MAX - LINE_BITS)]),
            places: Box::new([0; 64 * LINE + USUAL_LOSSES]),
        }
    }
}

/// The tables for one permutation of the index bits.
pub(crate) struct Scatter {
    /// Index in the tile of each bit of a word, each word of a line, each line of the tile.
    bits: [u32; 64],
    words: [u32; LINE],
    lines: Vec<u32>,
    /// Line numbers of a tile, in source and target.
    source_lines: Vec<u32>,
    target_lines: Vec<u32>,
    /// For each index bit outside the tile: its contribution to the line number in source and
    /// target.
    outer: Vec<(u32, u32)>,
    /// The index bit of the target for each of the source.
    image: Vec<usize>,
}

impl Scatter {
    /// Builds the tables for the permutation that takes index bit `i` to `permutation[i]`; bits
    /// beyond it, up to the ninth, stay.
    pub(crate) fn new(permutation: &[u8]) -> Scatter {
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
        let place = |index: usize| {
            let bits = inside.iter().enumerate().filter(|(rank, _)| index >> rank & 1 == 1);
            bits.fold(0, |place, (_, bit)| place | 1 << images.binary_search(&image[*bit]).unwrap_or_default())
        };
        let lines = 1 << (inside.len() - LINE_BITS);
        let deposit = |bits: &[usize], line: usize| {
            let bits = bits[LINE_BITS..].iter().enumerate();
            bits.fold(0, |out, (rank, bit)| out | ((line >> rank & 1) << (bit - LINE_BITS)) as u32)
        };
        let outside = (0..image.len()).filter(|bit| !inside.contains(bit));
        Scatter {
            bits: std::array::from_fn(place),
            words: std::array::from_fn(|word| place(word << 6)),
            lines: (0..lines).map(|line| place(line << LINE_BITS)).collect(),
            source_lines: (0..lines).map(|line| deposit(&inside, line)).collect(),
            target_lines: (0..lines).map(|line| deposit(&images, line)).collect(),
            outer: outside.map(|bit| (1 << (bit - LINE_BITS), 1 << (image[bit] - LINE_BITS))).collect(),
            image,
        }
    }

    /// Writes the image of `source` to `target`: bit `x` moves to the index to which the
    /// permutation takes `x`. What `target` then has at an index with one of the `unneeded` bits is
    /// not said.
    pub(crate) fn scatter(&self, unneeded: u64, source: &[[u64; LINE]], target: &mut [[u64; LINE]], tile: &mut Tile) {
        let to_far = (unneeded >> LINE_BITS) as u32;
        let from = self.image.iter().enumerate().filter(|(_, to)| unneeded >> **to & 1 == 1);
        let from = from.fold(0_u64, |from, (bit, _)| from | 1 << bit);
        let far = (from >> LINE_BITS) as u32;
        let keep: [u64; LINE] = std::array::from_fn(|word| {
            let is_kept = |bit: &u64| ((word as u64) << 6 | bit) & from == 0;
            (0..64).filter(is_kept).fold(0, |keep, bit| keep | 1 << bit)
        });
        let lines = self.source_lines.iter().zip(&self.lines).filter(|(line, _)| *line & far == 0);
        let lines: Vec<(u32, u32)> = lines.map(|(line, place)| (*line, *place)).collect();
        for outer in 0..1_usize << self.outer.len() {
            let mut origin = (0, 0);
            for (rank, (from, to)) in self.outer.iter().enumerate() {
                if outer >> rank & 1 == 1 {
                    origin = (origin.0 | from, origin.1 | to);
                }
            }
            // The lines of a tile may be far apart: fetching several at once overlaps the waits for
            // memory.
            if origin.0 & far != 0 {
                continue;
            }
            let mut fetched = [[0; LINE]; FETCH_LINES];
            for lines in lines.chunks(FETCH_LINES) {
                for (fetched, (line, _)) in fetched.iter_mut().zip(lines) {
                    *fetched = source[(origin.0 | line) as usize];
                }
                for (fetched, (_, place)) in fetched.iter().zip(lines) {
                    self.scatter_line(fetched, *place, &keep, tile);
                }
            }
            for (line, collected) in self.target_lines.iter().zip(tile.lines.iter_mut()) {
                if line & to_far == 0 {
                    target[(origin.1 | line) as usize] = std::mem::take(collected);
                }
            }
        }
    }

    /// First lists where the losses of a line go, and then puts them there. Most words have some
    /// few losses, how many is hard to predict, and nothing of the first step branches on it but
    /// words of more than [`USUAL_LOSSES`].
    #[inline]
    fn scatter_line(&self, line: &[u64; LINE], place: u32, keep: &[u64; LINE], tile: &mut Tile) {
        let Tile { lines, places } = tile;
        let mut count = 0;
        for ((losses, keep), word_place) in line.iter().zip(keep).zip(&self.words) {
            let mut losses = losses & keep;
            let (next, place) = (count + losses.count_ones() as usize, place | word_place);
            let usual: &mut [u32; USUAL_LOSSES] = places[count..].first_chunk_mut().expect("a line has no more losses");
            for to in usual {
                // Without a loss left, it is overwritten.
                *to = place | self.bits[losses.trailing_zeros() as usize % 64];
                losses &= losses.wrapping_sub(1);
            }
            count += USUAL_LOSSES;
            while losses != 0 {
                places[count] = place | self.bits[losses.trailing_zeros() as usize];
                losses &= losses - 1;
                count += 1;
            }
            count = next;
        }
        let tile = lines.as_flattened_mut();
        for to in &places[..count] {
            tile[*to as usize >> 6 & (TILE_WORDS - 1)] |= 1 << (to & 63);
        }
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
            let scatter = Scatter::new(&permutation);
            scatter.scatter(unneeded, &source, &mut target, &mut tile);
            let is_needed = |index: &u64| index & unneeded == 0;
            let has = |bitmap: &[[u64; LINE]], index: u64| bitmap.as_flattened()[index as usize >> 6] >> (index & 63) & 1;
            for index in (0..1 << bits.max(LINE_BITS)).filter(is_needed) {
                prop_assert_eq!(has(&target, index), has(&expected, index));
            }
            // Nothing is left in the tile for the next block.
            scatter.scatter(0, &source, &mut target, &mut tile);
            prop_assert_eq!(target, expected);
        }
    }
}
