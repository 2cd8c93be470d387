//! Looks up many positions at once.
//!
//! Positions are sorted by frame, by counting. Each frame is decoded once for all positions of a
//! batch in it. A position is then one word of a megabyte that the caches hold.
//!
//! # Invariants
//! 1. The frames of a batch divide its places: each position is visited once.
//!
//! # Cost
//! 16 bytes for each position of a batch, two million at most, and four for each frame of the
//! database.

use super::{Database, DatabaseError};
use pipeline::BlockId;
use pipeline::codec::FRAME_WORDS;
use trinim_game::Value;
use trinim_kernel::bitmap_words;

const FRAME_BITS: u64 = 64 * FRAME_WORDS as u64;

/// Positions that are sorted together.
const BATCH: usize = 1 << 21;

/// The number of a position in the query, and its bit in the frame.
type Place = (u32, u32);

impl Database {
    /// Reports the value of each position, with its number, in any order. [`Database::value`] does
    /// the same for one.
    ///
    /// # Errors
    /// Those of [`Database::value`]; some values may have been reported before.
    ///
    /// # Panics
    /// If a position has a bit outside the board, or there are 2^32 positions or more.
    pub fn values_of(&self, positions: &[u64], mut report: impl FnMut(usize, Value)) -> Result<(), DatabaseError> {
        if !self.manifest().keep.is_database() {
            for (number, position) in positions.iter().enumerate() {
                report(number, self.value(*position)?);
            }
            return Ok(());
        }
        // The losses are the first plane, or the only one.
        self.planes_of(positions, &[0], |number, plane| {
            report(number, Value::from_loss(plane.is_some()));
            Ok(())
        })
    }

    /// Reports for each position, by its number, the first of these planes that has its bit.
    pub(super) fn planes_of(
        &self,
        positions: &[u64],
        planes: &[u32],
        mut report: impl FnMut(usize, Option<u32>) -> Result<(), DatabaseError>,
    ) -> Result<(), DatabaseError> {
        let plane_bits = 64 * bitmap_words(self.layout().offset_bits()) as u64;
        let mut left: Vec<Place> = Vec::new();
        self.by_frame(positions, |block, begin, places| {
            left.clear();
            left.extend_from_slice(places);
            for plane in planes {
                if left.is_empty() {
                    break;
                }
                // Frames and planes are powers of two: what shares a frame in one plane does in
                // all, and a plane that is shorter than a frame begins inside of it.
                let base = u64::from(*plane) * plane_bits + begin;
                let (words, base) = (self.frame(block, (base / FRAME_BITS) as usize)?, base % FRAME_BITS);
                let mut reported = Ok(());
                left.retain(|(number, bit)| {
                    let bit = base + u64::from(*bit);
                    let is_set = words[(bit / 64) as usize] >> (bit % 64) & 1 == 1;
                    if is_set && reported.is_ok() {
                        reported = report(*number as usize, Some(*plane));
                    }
                    !is_set
                });
                reported?;
            }
            left.iter().try_for_each(|(number, _)| report(*number as usize, None))
        })
    }

    /// Visits the positions of each batch frame by frame.
    fn by_frame(
        &self,
        positions: &[u64],
        mut visit: impl FnMut(BlockId, u64, &[Place]) -> Result<(), DatabaseError>,
    ) -> Result<(), DatabaseError> {
        assert!(u32::try_from(positions.len()).is_ok(), "too many positions at once");
        let (full, frames) = (self.board().full(), self.frames_of_losses());
        let mut ends = vec![0_u32; self.layout().canonical_blocks().len() * frames + 1];
        // Kept between batches: fresh memory takes longer to get than to fill.
        let (mut located, mut sorted) = (Vec::new(), Vec::new());
        for (first, batch) in (0_u32..).step_by(BATCH).zip(positions.chunks(BATCH)) {
            ends.fill(0);
            located.clear();
            for position in batch {
                assert_eq!(position & !full, 0, "position outside the board");
                let (block, offset) = self.layout().locate(*position);
                let frame = block.index() * frames + (offset / FRAME_BITS) as usize;
                ends[frame + 1] += 1;
                located.push((frame as u32, (offset % FRAME_BITS) as u32));
            }
            for frame in 1..ends.len() {
                ends[frame] += ends[frame - 1];
            }
            assert_eq!(ends.last(), Some(&(batch.len() as u32)), "batch, invariant 1: the frames divide the places");
            sorted.resize(batch.len(), (0, 0));
            for (number, (frame, bit)) in (first..).zip(&located) {
                let next = &mut ends[*frame as usize];
                sorted[*next as usize] = (number, *bit);
                *next += 1;
            }
            // Each entry is now where its frame ends.
            let mut begin = 0;
            for (frame, end) in ends.iter().map(|end| *end as usize).enumerate() {
                if begin < end {
                    let offset = (frame % frames) as u64 * FRAME_BITS;
                    visit(BlockId((frame / frames) as u32), offset, &sorted[begin..end])?;
                }
                begin = end;
            }
            assert_eq!(begin, batch.len(), "batch, invariant 1: each position is visited once");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{Game, Values};
    use crate::job::Solve;
    use trinim_game::Rule;
    use trinim_game::random::Random;

    /// Five layers have many blocks here; six have one, whose planes fill several frames.
    #[test]
    fn a_batch_has_the_values_of_its_positions() {
        let (nimbers, distances, outcomes) = (Values::Nimbers, Values::Remoteness, Values::Outcomes);
        for (layers, bits, values) in [(5, 6, nimbers), (6, 21, nimbers), (6, 21, distances), (6, 10, outcomes)] {
            let folder = tempfile::tempdir().unwrap();
            let game = Game::triangle(layers, Rule::Normal, bits).unwrap();
            Solve::from(&game).values(values).run(folder.path()).unwrap();
            let database = Database::open(folder.path()).unwrap();
            let mut random = Random::new(layers.into());
            let full = game.board.full();
            // The last batch is short, and repeats the start of the first.
            let some: Vec<u64> = (0..5000).map(|_| random.bits() & full).collect();
            let positions: Vec<u64> = some.iter().copied().cycle().take(BATCH + some.len()).collect();
            let mut reports = vec![0; positions.len()];
            let values: Vec<Value> = some.iter().map(|position| database.value(*position).unwrap()).collect();
            let compare = |number: usize, value| {
                assert_eq!(value, values[number % some.len()], "{:#x}", positions[number]);
                reports[number] += 1;
            };
            database.values_of(&positions, compare).unwrap();
            assert_eq!(reports, vec![1; positions.len()]);
            let (mut nimbers, mut distances) = (vec![None; some.len()], vec![None; some.len()]);
            let note = |number: usize, nimber| nimbers[number] = Some(nimber);
            let has = database.numbers_of(Values::Nimbers, &some, note).unwrap();
            assert_eq!(has, database.values() == Values::Nimbers);
            let note = |number: usize, distance| distances[number] = Some(distance);
            let has = database.numbers_of(Values::Remoteness, &some, note).unwrap();
            assert!(!database.numbers_of(Values::Outcomes, &some, |_, _| unreachable!()).unwrap());
            assert_eq!(has, database.values() == Values::Remoteness);
            for (position, found) in some.iter().zip(nimbers.iter().zip(&distances)) {
                assert_eq!(database.nimber(*position).unwrap(), *found.0, "{position:#x}");
                assert_eq!(database.distance(*position).unwrap(), *found.1, "{position:#x}");
            }
        }
    }
}
