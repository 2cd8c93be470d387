//! Operations between two blocks, or between the chunks of one.
//!
//! Index bits have three parts: the lowest nine number the bits of a vector, the next eight the
//! vectors of a chunk (16 KiB), the others the chunks. If no operation has a higher bit, as few as
//! five bits number the vectors. An operation splits the same way into a low, a middle and a high
//! part. The high part selects the chunk that a target chunk reads, the middle part the vector, and
//! the low part is a shift inside the vector. All operations with the same high and middle part
//! read the same vector once.
//!
//! Target chunks are visited in an order in which the high bits that occur in operations change
//! fastest. The chunks between two changes of the other high bits form a set that is closed under
//! the operations and mostly fits the cache.

use std::ops::Range;

use super::line::WORDS;
use super::vector::{Shift, Vector};

pub(super) const VECTOR_BITS: u32 = 9;
/// The most index bits of the number of a vector inside its chunk.
const CHUNK_BITS: u32 = 8;
/// The fewest, if there are as many: the groups of a chunk of 2 KiB find source and target in the
/// first-level cache.
const LEAST_CHUNK_BITS: u32 = 5;
/// Sources of a chunk read in one pass.
const PASS: usize = 4;

/// Operations sorted by the place that they read.
#[derive(Clone, Debug, Default)]
pub(super) struct Operations {
    chunk_bits: u32,
    /// High bits that occur in an operation.
    touched: usize,
    sources: Vec<Source>,
    groups: Vec<Group>,
    /// Words of the vectors a group reads, relative to the source chunk.
    rows: Vec<u32>,
    shifts: Vec<Shift>,
}

/// Operations of one high part.
#[derive(Clone, Debug)]
struct Source {
    high: usize,
    /// Whether it copies the chunk unchanged, without other operations of the same middle part.
    whole: bool,
    groups: Range<usize>,
}

/// Operations of one high and one middle part.
#[derive(Clone, Debug)]
struct Group {
    /// Words from the vector that is read to the vector that is written.
    distance: usize,
    /// Whether one of them has no low part.
    plain: bool,
    rows: Range<usize>,
    shifts: Range<usize>,
}

impl Operations {
    /// Groups sorted operations over `index_bits` index bits.
    pub(super) fn new(index_bits: u32, operations: &[u64]) -> Operations {
        let vector_bits = index_bits.saturating_sub(VECTOR_BITS);
        let touched = operations.iter().fold(0, |all, operation| all | operation >> VECTOR_BITS);
        // Chunks that no operation leaves can be small. Between small chunks, operations would read
        // short pieces that lie far apart.
        let chunk_bits = (u64::BITS - touched.leading_zeros()).clamp(LEAST_CHUNK_BITS, CHUNK_BITS).min(vector_bits);
        let touched = (touched >> chunk_bits) as usize;
        let mut plan = Operations { chunk_bits, touched, ..Operations::default() };
        for same_high in operations.chunk_by(|a, b| a >> (VECTOR_BITS + chunk_bits) == b >> (VECTOR_BITS + chunk_bits))
        {
            let high = (same_high[0] >> (VECTOR_BITS + chunk_bits)) as usize;
            let first = plan.groups.len();
            let mut whole = false;
            for group in same_high.chunk_by(|a, b| a >> VECTOR_BITS == b >> VECTOR_BITS) {
                let middle = (group[0] >> VECTOR_BITS) as usize & ((1 << chunk_bits) - 1);
                let plain = group[0] & 511 == 0;
                let lows = if plain { &group[1..] } else { group };
                if plain && middle == 0 && lows.is_empty() {
                    whole = true;
                } else {
                    plan.push_group(middle, plain, lows);
                }
            }
            plan.sources.push(Source { high, whole, groups: first..plan.groups.len() });
        }
        plan
    }

    fn push_group(&mut self, middle: usize, plain: bool, lows: &[u64]) {
        let (row, shift) = (self.rows.len(), self.shifts.len());
        let vectors = (0..1_usize << self.chunk_bits).filter(|vector| vector & middle == 0);
        self.rows.extend(vectors.map(|vector| (vector * WORDS) as u32));
        // Only whole passes: marking a parent twice does no harm.
        while !(self.rows.len() - row).is_multiple_of(PASS) {
            self.rows.push(self.rows[row]);
        }
        self.shifts.extend(lows.iter().map(|low| Shift::new(low & 511)));
        self.groups.push(Group {
            distance: middle * WORDS,
            plain,
            rows: row..self.rows.len(),
            shifts: shift..self.shifts.len(),
        });
    }

    pub(super) fn chunk_words(&self) -> usize {
        WORDS << self.chunk_bits
    }

    /// Applies the operations to all chunks. `FRESH`: their contents count as zero.
    ///
    /// # Safety
    /// The machine must have the instructions of `V`.
    #[inline(always)]
    pub(super) unsafe fn apply<V: Vector, const FRESH: bool>(&self, losses: &[u64], wins: &mut [u64]) {
        let chunks = wins.len() / self.chunk_words();
        assert!(losses.len() == wins.len() && chunks * self.chunk_words() == wins.len());
        assert!(self.touched < chunks);
        let untouched = (chunks - 1) & !self.touched;
        let mut outer = 0_usize;
        loop {
            let mut inner = 0_usize;
            let next_outer = outer.wrapping_sub(untouched) & untouched;
            loop {
                let next_inner = inner.wrapping_sub(self.touched) & self.touched;
                let next = if next_inner == 0 { next_outer } else { outer | next_inner };
                if FRESH {
                    // It stays in the cache for its operations.
                    wins[(outer | inner) * self.chunk_words()..][..self.chunk_words()].fill(0);
                }
                // SAFETY: the chunk is inside both bitmaps, which do not overlap.
                unsafe {
                    self.apply_to::<V>(outer | inner, next, losses.as_ptr(), wins.as_mut_ptr());
                }
                inner = next_inner;
                if inner == 0 {
                    break;
                }
            }
            outer = next_outer;
            if outer == 0 {
                break;
            }
        }
    }

    /// Applies the operations to one target chunk.
    ///
    /// # Safety
    /// Both bitmaps must reach to the end of the chunk; the written chunk must not be among those
    /// read. The machine must have the instructions of `V`.
    #[inline(always)]
    pub(super) unsafe fn apply_to<V: Vector>(&self, chunk: usize, next: usize, losses: *const u64, wins: *mut u64) {
        let words = self.chunk_words();
        // SAFETY: sources are chunks of lower or the same number; rows and distances stay inside a
        // chunk.
        unsafe {
            let to = wins.add(chunk * words);
            let mut ahead = wins.add(next * words).cast_const();
            let mut pending = [losses; PASS];
            let mut waiting = 0;
            for source in &self.sources {
                if chunk & source.high != source.high {
                    continue;
                }
                let from = losses.add((chunk ^ source.high) * words);
                if source.whole {
                    pending[waiting] = from;
                    waiting += 1;
                    if waiting == PASS {
                        or_chunks::<V, PASS>(pending, to, words);
                        waiting = 0;
                    }
                }
                for group in &self.groups[source.groups.clone()] {
                    self.apply_group::<V>(group, from, to, ahead);
                    ahead = losses.add((next ^ source.high) * words);
                }
            }
            let [a, b, c, _] = pending;
            match waiting {
                1 => or_chunks::<V, 1>([a], to, words),
                2 => or_chunks::<V, 2>([a, b], to, words),
                3 => or_chunks::<V, 3>([a, b, c], to, words),
                _ => {}
            }
        }
    }

    /// # Safety
    /// The same as for [`Operations::apply_to`].
    #[inline(always)]
    unsafe fn apply_group<V: Vector>(&self, group: &Group, from: *const u64, to: *mut u64, ahead: *const u64) {
        let rows = &self.rows[group.rows.clone()];
        let shifts = &self.shifts[group.shifts.clone()];
        // SAFETY: rows plus distance stay inside the chunk.
        unsafe {
            let to = to.add(group.distance);
            if shifts.is_empty() {
                for &row in rows {
                    let to = to.add(row as usize);
                    V::prefetch(ahead.add(row as usize));
                    V::load(to).or(V::load(from.add(row as usize))).store(to);
                }
                return;
            }
            for rows in rows.chunks_exact(PASS) {
                let at = |i: usize| rows[i] as usize;
                for i in 0..PASS {
                    V::prefetch(ahead.add(at(i)));
                }
                let source = [
                    V::load(from.add(at(0))),
                    V::load(from.add(at(1))),
                    V::load(from.add(at(2))),
                    V::load(from.add(at(3))),
                ];
                let mut target =
                    [V::load(to.add(at(0))), V::load(to.add(at(1))), V::load(to.add(at(2))), V::load(to.add(at(3)))];
                if group.plain {
                    for i in 0..PASS {
                        target[i] = target[i].or(source[i]);
                    }
                }
                for shift in shifts {
                    for i in 0..PASS {
                        target[i] = target[i].or_shifted(source[i], shift);
                    }
                }
                for (i, target) in target.into_iter().enumerate() {
                    target.store(to.add(at(i)));
                }
            }
        }
    }
}

/// # Safety
/// `words` must be readable at every source and writable at `to`, a multiple of [`WORDS`].
#[inline(always)]
unsafe fn or_chunks<V: Vector, const N: usize>(from: [*const u64; N], to: *mut u64, words: usize) {
    for word in (0..words).step_by(WORDS) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut target = V::load(to.add(word));
            for source in from {
                target = target.or(V::load(source.add(word)));
            }
            target.store(to.add(word));
        }
    }
}
