//! Decides every position of a block. Ours.
//!
//! A block is processed upwards in chunks of up to 2,048 vectors. The losses of lower chunks are
//! applied first. Then the chunk is settled in batches of up to 64 vectors. No move connects two
//! vectors of a batch, so a batch depends only on earlier batches:
//! 1. Each vector of the batch collects its wins from settled vectors of the chunk.
//! 2. The 64 vectors of 64 bytes are transposed: register `q` then holds byte `q` of all of them.
//! 3. For `q` upwards (by set bits), register `q` collects its wins from registers below. Then its
//!    bytes are settled, 64 at once: eight positions take two table look-ups of 16 entries each.
//! 4. The registers, now losses, are transposed back and overwrite the wins.
//!
//! This is correct because position `x` is read only after all `x ^ M` are decided. `x ^ M` differs
//! from `x` in the chunk (then it is in a lower one, done before), or in the vector (then in an
//! earlier batch, by the order of batches), or in the byte (then in a register of fewer set bits),
//! or in the bit (then the table decided it).

use super::apply::{Operations, VECTOR_BITS};
use super::line::WORDS;
use super::vector::{ByteShift, ByteTable, Shift, Vector};

/// The most index bits of the number of a vector inside its chunk.
const CHUNK_BITS: u32 = 11;
/// Vectors of a batch, and bytes of a vector.
const BATCH: usize = 64;
/// Sources read in one pass.
const PASS: usize = 4;

/// Moves sorted by their targets.
#[derive(Clone, Debug)]
pub(super) struct Moves {
    chunk_bits: u32,
    /// Moves between chunks.
    between: Operations,
    rows: Vec<Row>,
    /// Ends of the batches in the rows.
    batches: Vec<usize>,
    /// Vectors collected unchanged, in words from the start of the chunk.
    plain: Vec<[u16; PASS]>,
    /// Two vectors collected with the same shift, and its place in the shifts.
    shifted: Vec<([u16; 2], u16)>,
    shifts: Vec<Shift>,
    steps: Vec<Step>,
    /// Registers collected unchanged.
    slots: Vec<u8>,
    /// Registers collected with a shift inside bytes.
    shifted_slots: Vec<(u8, ByteShift)>,
    table: ByteTable,
}

/// A vector of a batch.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Words from the start of the chunk.
    at: usize,
    /// End of its passes over [`Moves::plain`].
    plain: usize,
    /// End of its entries of [`Moves::shifted`].
    shifted: usize,
}

/// A register of a batch.
#[derive(Clone, Copy, Debug)]
struct Step {
    slot: u8,
    /// End of its entries of [`Moves::slots`].
    plain: usize,
    /// End of its entries of [`Moves::shifted_slots`].
    shifted: usize,
}

/// Returns the place of byte `q` of a vector after [`transpose`]: the order in which the stages
/// give index bits away.
fn slot(q: usize) -> u8 {
    [3, 2, 1, 0, 4, 5].iter().enumerate().fold(0, |slot, (bit, to)| slot | ((q >> bit & 1) << to) as u8)
}

impl Moves {
    /// Groups sorted moves over `index_bits` index bits.
    pub(super) fn new(index_bits: u32, moves: &[u64]) -> Moves {
        let chunk_bits = index_bits.saturating_sub(VECTOR_BITS).min(CHUNK_BITS);
        let inside = moves.partition_point(|mask| mask >> (VECTOR_BITS + chunk_bits) == 0);
        let (inside, between) = moves.split_at(inside);
        let (vector, inside) = inside.split_at(inside.partition_point(|mask| *mask < 512));
        let (byte, vector) = vector.split_at(vector.partition_point(|mask| *mask < 8));
        let mut plan = Moves {
            chunk_bits,
            between: Operations::new(index_bits, between),
            rows: Vec::new(),
            batches: Vec::new(),
            plain: Vec::new(),
            shifted: Vec::new(),
            shifts: Vec::new(),
            steps: Vec::new(),
            slots: Vec::new(),
            shifted_slots: Vec::new(),
            table: ByteTable::new(byte),
        };
        plan.plan_rows(inside);
        plan.plan_steps(vector);
        plan
    }

    fn plan_rows(&mut self, moves: &[u64]) {
        let mut lows: Vec<u64> = moves.iter().map(|mask| mask & 511).chain([0]).collect();
        lows.sort_unstable();
        lows.dedup();
        self.shifts = lows[1..].iter().map(|low| Shift::new(*low)).collect();
        let row = |vector: usize| {
            let mut sources = vec![Vec::new(); lows.len()];
            for mask in children(vector, moves) {
                let place = lows.partition_point(|low| *low < mask & 511);
                sources[place].push(((vector ^ (mask >> VECTOR_BITS) as usize) * WORDS) as u16);
            }
            let plain: Vec<[u16; PASS]> = whole(&sources[0]).collect();
            let shifted: Vec<([u16; 2], u16)> = (0..)
                .zip(&sources[1..])
                .flat_map(|(shift, sources)| whole(sources).map(move |pair| (pair, shift)))
                .collect();
            (vector, plain, shifted)
        };
        for batch in batches(self.chunk_bits, moves) {
            let mut rows: Vec<_> = batch.into_iter().map(row).collect();
            // Rows of equal cost stay together, so that the processor predicts the ends of loops.
            rows.sort_by_key(|(vector, plain, shifted)| (shifted.len(), plain.len(), *vector));
            for (vector, plain, shifted) in rows {
                self.plain.extend(plain);
                self.shifted.extend(shifted);
                self.rows.push(Row { at: vector * WORDS, plain: self.plain.len(), shifted: self.shifted.len() });
            }
            self.batches.push(self.rows.len());
        }
    }

    fn plan_steps(&mut self, moves: &[u64]) {
        let sources = |q: usize| {
            moves.iter().map(move |mask| ((mask >> 3) as usize, mask & 7)).filter(move |(byte, _)| q & byte == *byte)
        };
        let mut order: Vec<usize> = (0..BATCH).collect();
        order.sort_by_key(|&q| (q.count_ones(), sources(q).count(), q));
        for q in order {
            for (byte, low) in sources(q) {
                if low == 0 {
                    self.slots.push(slot(q ^ byte));
                } else {
                    self.shifted_slots.push((slot(q ^ byte), ByteShift::new(low)));
                }
            }
            self.steps.push(Step { slot: slot(q), plain: self.slots.len(), shifted: self.shifted_slots.len() });
        }
    }

    /// Turns wins into losses.
    ///
    /// # Safety
    /// The machine must have the instructions of `V`.
    #[inline(always)]
    pub(super) unsafe fn settle<V: Vector>(&self, bitmap: &mut [u64]) {
        let words = WORDS << self.chunk_bits;
        let parts = words / self.between.chunk_words();
        let chunks = bitmap.len() / words;
        assert!(chunks * words == bitmap.len());
        let bitmap = bitmap.as_mut_ptr();
        for chunk in 0..chunks {
            // SAFETY: the chunk is inside the bitmap; moves between chunks read lower chunks only.
            unsafe {
                for part in chunk * parts..(chunk + 1) * parts {
                    self.between.apply_to::<V>(part, (part + 1) % (chunks * parts), bitmap, bitmap);
                }
                self.settle_chunk::<V>(bitmap.add(chunk * words));
            }
        }
    }

    /// # Safety
    /// A chunk must be readable and writable there. The machine must have the instructions of `V`.
    #[inline(always)]
    unsafe fn settle_chunk<V: Vector>(&self, chunk: *mut u64) {
        // SAFETY: all offsets of the plan are inside the chunk.
        unsafe {
            let (mut first, mut plain, mut shifted) = (0, 0, 0);
            for &end in &self.batches {
                let rows = &self.rows[first..end];
                first = end;
                let mut tile = [V::splat(u64::MAX); BATCH];
                for (row, to) in rows.iter().zip(&mut tile) {
                    let mut wins = V::load(chunk.add(row.at));
                    // Rows lie in no order that the hardware foresees.
                    V::prefetch(chunk.wrapping_add((WORDS << self.chunk_bits) + row.at));
                    for pass in &self.plain[plain..row.plain] {
                        let [a, b, c, d] = pass.map(|at| V::load(chunk.add(usize::from(at))));
                        wins = wins.or(a).or(b).or(c.or(d));
                    }
                    for (pair, shift) in &self.shifted[shifted..row.shifted] {
                        let [a, b] = pair.map(|at| V::load(chunk.add(usize::from(at))));
                        wins = wins.or_shifted(a.or(b), &self.shifts[usize::from(*shift)]);
                    }
                    (plain, shifted) = (row.plain, row.shifted);
                    *to = wins;
                }
                transpose(&mut tile);
                self.settle_tile(&mut tile);
                transpose(&mut tile);
                for (row, losses) in rows.iter().zip(&tile) {
                    losses.store(chunk.add(row.at));
                }
            }
        }
    }

    #[inline(always)]
    fn settle_tile<V: Vector>(&self, tile: &mut [V; BATCH]) {
        let (mut plain, mut shifted) = (0, 0);
        for step in &self.steps {
            let mut wins = tile[usize::from(step.slot) % BATCH];
            for &slot in &self.slots[plain..step.plain] {
                wins = wins.or(tile[usize::from(slot) % BATCH]);
            }
            for (slot, shift) in &self.shifted_slots[shifted..step.shifted] {
                wins = wins.or_byte_shifted(tile[usize::from(*slot) % BATCH], shift);
            }
            (plain, shifted) = (step.plain, step.shifted);
            tile[usize::from(step.slot) % BATCH] = wins.settle_bytes(&self.table);
        }
    }
}

/// Returns the sources in passes of `N`, the last one filled up: collecting a vector twice does no
/// harm.
fn whole<const N: usize>(sources: &[u16]) -> impl Iterator<Item = [u16; N]> {
    sources.chunks(N).map(|pass| std::array::from_fn(|i| pass[i % pass.len()]))
}

/// Returns the moves into vector `vector` from others of its chunk.
fn children(vector: usize, moves: &[u64]) -> impl Iterator<Item = u64> {
    moves.iter().copied().filter(move |mask| {
        let middle = (mask >> VECTOR_BITS) as usize;
        vector & middle == middle
    })
}

/// Puts the vectors of a chunk into batches, each as early as possible after its children, few
/// pieces first.
fn batches(chunk_bits: u32, moves: &[u64]) -> Vec<Vec<usize>> {
    let mut waiting: Vec<usize> = (0..1 << chunk_bits).collect();
    waiting.sort_by_key(|vector| (vector.count_ones(), *vector));
    let mut done = vec![false; 1 << chunk_bits];
    let mut batches = Vec::new();
    while !waiting.is_empty() {
        let ready = |vector: usize| children(vector, moves).all(|mask| done[vector ^ (mask >> VECTOR_BITS) as usize]);
        let mut batch = Vec::new();
        waiting.retain(|&vector| {
            let taken = batch.len() < BATCH && ready(vector);
            if taken {
                batch.push(vector);
            }
            !taken
        });
        for &vector in &batch {
            done[vector] = true;
        }
        batches.push(batch);
    }
    batches
}

/// Exchanges rows (64 vectors) and columns (64 bytes of each), up to an order of the rows inside
/// the registers that a second call undoes. Byte `q` of every vector ends in register
/// [`slot`]`(q)`.
///
/// Each stage exchanges one bit of the register number with one bit of the place inside the
/// register: [`Vector::zip`] takes the highest of the four bits inside 16 bytes, [`Vector::deal`]
/// the lower of the two bits above. The bits are replaced in the order in which they are taken, so
/// two calls cancel out.
#[inline(always)]
fn transpose<V: Vector>(tile: &mut [V; BATCH]) {
    for i in 0..8 {
        let t: &mut [V] = &mut tile[8 * i..8 * i + 8];
        let mut r = [t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]];
        r = stage(r, 1, false);
        r = stage(r, 2, false);
        r = stage(r, 4, false);
        t.copy_from_slice(&r);
    }
    for i in 0..8 {
        let mut r =
            [tile[i], tile[i + 8], tile[i + 16], tile[i + 24], tile[i + 32], tile[i + 40], tile[i + 48], tile[i + 56]];
        r = stage(r, 1, false);
        r = stage(r, 2, true);
        r = stage(r, 4, true);
        for (j, vector) in r.into_iter().enumerate() {
            tile[i + 8 * j] = vector;
        }
    }
}

#[inline(always)]
fn stage<V: Vector>(mut r: [V; 8], distance: usize, lanes: bool) -> [V; 8] {
    let mut i = 0;
    while i < 8 {
        if i & distance == 0 {
            (r[i], r[i + distance]) = if lanes { r[i].deal(r[i + distance]) } else { r[i].zip(r[i + distance]) };
        }
        i += 1;
    }
    r
}
