//! Deciding every position of a block.
//!
//! A block is taken in chunks of up to 1,024 vectors, upwards. Losses of lower chunks are applied first; then the
//! chunk is settled on its own, in batches of up to 64 vectors no two of which are connected by moves (so a batch needs
//! the batches before it only):
//! 1. Each vector of the batch takes over its wins from vectors of the chunk that are settled already.
//! 2. The 64 vectors of 64 bytes are transposed: afterwards register `q` holds byte `q` of all of them.
//! 3. For `q` upwards (by set bits), register `q` takes over its wins from registers below, then its bytes are
//!    settled, 64 at once: eight positions are a matter of two table look-ups of 16 entries each.
//! 4. The registers, losses now, are transposed back and written over the wins.
//!
//! Why this is right: position `x` must not be read as loss or win before all `x ^ M` are decided. `x ^ M` differs
//! from `x` in the chunk (then it is in a lower one, done before), or in the vector (then in an earlier batch, by the
//! order of batches), or in the byte (then in a register of fewer set bits), or in the bit (then the table did it).
//! Ours; the batches replace settling by the number of pieces inside a word.

use super::apply::{Operations, VECTOR_BITS};
use super::vector::{ByteShift, ByteTable, Shift, Vector, WORDS};

/// Index bits of the number of a vector inside its chunk, at most.
const CHUNK_BITS: u32 = 10;
/// Vectors of a batch, and bytes of a vector.
const BATCH: usize = 64;
/// Sources that are read in one pass.
const PASS: usize = 4;

/// Moves sorted by where they lead.
#[derive(Clone, Debug)]
pub(super) struct Moves {
    chunk_bits: u32,
    /// Moves between chunks.
    between: Operations,
    rows: Vec<Row>,
    /// Rows of each batch end here.
    batches: Vec<usize>,
    /// Vectors to take over as they are, in words from the beginning of the chunk.
    plain: Vec<[u16; PASS]>,
    /// Vectors to take over with a shift.
    shifted: Vec<(u16, u16)>,
    shifts: Vec<Shift>,
    steps: Vec<Step>,
    /// Registers to take over as they are.
    slots: Vec<u8>,
    /// Registers to take over with a shift inside bytes.
    shifted_slots: Vec<(u8, ByteShift)>,
    table: ByteTable,
}

/// A vector of a batch.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Words from the beginning of the chunk.
    at: usize,
    /// Passes over [`Moves::plain`] end here.
    plain: usize,
    /// Entries of [`Moves::shifted`] end here.
    shifted: usize,
}

/// A register of a batch.
#[derive(Clone, Copy, Debug)]
struct Step {
    slot: u8,
    /// Entries of [`Moves::slots`] end here.
    plain: usize,
    /// Entries of [`Moves::shifted_slots`] end here.
    shifted: usize,
}

/// Where byte `q` of a vector lies after [`transpose`]: the order in which the stages give index bits away.
fn slot(q: usize) -> u8 {
    [3, 2, 1, 0, 4, 5].iter().enumerate().fold(0, |slot, (bit, to)| slot | ((q >> bit & 1) << to) as u8)
}

impl Moves {
    /// Sorts moves over `index_bits` index bits, which are sorted already.
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
        let mut lows: Vec<u64> = moves.iter().map(|mask| mask & 511).collect();
        lows.sort_unstable();
        lows.dedup();
        lows.retain(|low| *low != 0);
        self.shifts = lows.iter().map(|low| Shift::new(*low)).collect();
        for mut batch in batches(self.chunk_bits, moves) {
            let cost = |vector: &usize| {
                let (mut plain, mut shifted) = (0_usize, 0);
                for mask in children(*vector, moves) {
                    plain += usize::from(mask & 511 == 0);
                    shifted += usize::from(mask & 511 != 0);
                }
                (shifted, plain.div_ceil(PASS))
            };
            // Rows of equal cost in a row: the ends of loops are foreseen.
            batch.sort_by_cached_key(|vector| (cost(vector), *vector));
            for vector in batch {
                let mut plain = Vec::new();
                for mask in children(vector, moves) {
                    let source = (vector ^ (mask >> VECTOR_BITS) as usize) * WORDS;
                    if mask & 511 == 0 {
                        plain.push(source as u16);
                    } else if let Ok(shift) = lows.binary_search(&(mask & 511)) {
                        self.shifted.push((source as u16, shift as u16));
                    }
                }
                // Whole passes only: taking over a vector twice does no harm.
                for pass in plain.chunks(PASS) {
                    self.plain.push(std::array::from_fn(|i| pass[i % pass.len()]));
                }
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
                    let step = (slot(q ^ byte), ByteShift::new(low));
                    self.shifted_slots.push(step);
                }
            }
            self.steps.push(Step { slot: slot(q), plain: self.slots.len(), shifted: self.shifted_slots.len() });
        }
    }

    /// Wins in, losses out.
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
                    for pass in &self.plain[plain..row.plain] {
                        let [a, b, c, d] = pass.map(|at| V::load(chunk.add(usize::from(at))));
                        wins = wins.or(a).or(b).or(c.or(d));
                    }
                    for &(at, shift) in &self.shifted[shifted..row.shifted] {
                        let source = V::load(chunk.add(usize::from(at)));
                        wins = wins.or_shifted(source, &self.shifts[usize::from(shift)]);
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

/// The moves into vector `vector` from others of its chunk.
fn children(vector: usize, moves: &[u64]) -> impl Iterator<Item = u64> {
    moves.iter().copied().filter(move |mask| {
        let middle = (mask >> VECTOR_BITS) as usize;
        vector & middle == middle
    })
}

/// Puts the vectors of a chunk into batches: each as early as possible after its children, few pieces first.
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

/// Exchanges rows (64 vectors) and columns (64 bytes of each), up to an order of the rows inside the registers that
/// a second call takes back. Byte `q` of every vector ends in register [`slot`]`(q)`.
///
/// Each stage exchanges one bit of the register number with one bit of the place inside the register:
/// [`Vector::zip`] takes the highest of the four bits inside 16 bytes, [`Vector::deal`] the lower of the two bits
/// above. Since the bits taken are replaced in the same order, doing it twice is doing nothing.
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
