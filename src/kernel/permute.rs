//! Reordering of the index bits of a bitmap. Ours.
//!
//! Lines of 64 bytes are read and written. The bits of a target line come from the source lines
//! whose numbers differ in the index bits that become the lowest nine. These lines form a *tile* of
//! up to 512 lines (32 KiB), which becomes as many whole lines of the target. First, the bits
//! inside each line are rearranged so that the leaving bits number the words. Then eight lines at a
//! time exchange three bits of the line number with three bits of the word number (an 8 x 8
//! transpose of words). Nine bits take three such passes; the first reads the source, the last
//! writes the target.

use std::mem::MaybeUninit;

use super::line::{Rearrangement, WORDS};
use super::vector::Vector;

const LINE_BITS: usize = 9;
/// Line bits that a pass exchanges: eight lines, as many as a line has words.
const PASS_BITS: usize = 3;
const TILE_WORDS: usize = WORDS << LINE_BITS;
/// Index bits of the smallest bitmap that is permuted in tiles.
pub(super) const LEAST_BITS: usize = LINE_BITS + PASS_BITS;
/// Lowest index bit whose two values are lines of different pages, and of different rows of memory,
/// away from the other lines of a tile.
const FAR_BIT: usize = 16;
/// Tiles of the largest bundle, as index bits.
const BUNDLE_BITS: usize = 3;
/// Bytes of the smallest target that is written past the caches, because the cache of a core does
/// not hold it until it is read. A whole line can then be written without reading it first.
const STREAMED_BYTES: usize = 8 << 20;
/// Bytes that such a line begins at a multiple of.
const LINE_BYTES: usize = 8 * WORDS;
/// Bundles between two computations of the start of a bundle, as index bits.
const RUN_BITS: usize = 8;

/// A compiled permutation of at least [`LEAST_BITS`] index bits.
#[derive(Clone, Debug)]
pub(super) struct Tiles {
    passes: Vec<Pass>,
    last: Rearrangement,
    /// Words from the start of a tile to its lines, in the source and in the target.
    lines: Vec<(usize, usize)>,
    /// Words from the start of a bundle to its tiles.
    bundle: Vec<(usize, usize)>,
    /// Whether the lines of a tile are apart in the target.
    scattered: bool,
    /// Words from the start of a run to its bundles.
    run: Vec<(usize, usize)>,
    /// The weight in words of each bit of the number of a run.
    runs: Vec<(usize, usize)>,
}

#[derive(Clone, Debug)]
struct Pass {
    before: Rearrangement,
    /// Lowest of the three bits of the line number.
    bit: usize,
    /// The bits of the place inside the line that are exchanged with the three.
    exchanged: [Option<usize>; PASS_BITS],
}

/// Returns the weight of index bit `bit`, in words.
fn words(bit: usize) -> usize {
    WORDS << (bit - LINE_BITS)
}

/// Returns the offsets of all numbers with only the given bits.
fn offsets(bits: &[(usize, usize)]) -> Vec<(usize, usize)> {
    (0..1_usize << bits.len()).map(|number| offset(number, bits)).collect()
}

fn offset(number: usize, bits: &[(usize, usize)]) -> (usize, usize) {
    bits.iter()
        .enumerate()
        .filter(|(bit, _)| number >> bit & 1 == 1)
        .fold((0, 0), |(a, b), (_, (source, target))| (a + source, b + target))
}

impl Tiles {
    /// Compiles a permutation. Bits leave a line as bits of the word number, after a rearrangement
    /// of the line; with `direct`, from their own places, which is better without instructions that
    /// rearrange whole lines.
    pub(super) fn new(permutation: &[u8], direct: bool) -> Tiles {
        let to: Vec<usize> = permutation.iter().map(|&to| usize::from(to)).collect();
        let from = |place: usize| to.iter().position(|&t| t == place);
        // Labels are index bits of the source.
        let entering: Vec<usize> = (0..LINE_BITS).filter_map(from).filter(|bit| *bit >= LINE_BITS).collect();
        let mut leaving: Vec<usize> = (0..LINE_BITS).filter(|&bit| to[bit] >= LINE_BITS).collect();
        let mut slots = entering.clone();
        let rest = (LINE_BITS..to.len()).filter(|bit| !entering.contains(bit));
        slots.extend(rest.take(PASS_BITS.saturating_sub(entering.len())));
        let first_slots = slots.clone();

        let mut line: [usize; LINE_BITS] = std::array::from_fn(|bit| bit);
        let mut passes = Vec::new();
        for first in (0..slots.len()).step_by(PASS_BITS) {
            let bit = first.min(slots.len() - PASS_BITS);
            let entering = &entering[first..entering.len().min(first + PASS_BITS).max(first)];
            let mut exchanged = [None; PASS_BITS];
            let mut wanted = line;
            if direct {
                for (slot, &label) in (first - bit..).zip(entering) {
                    // Its own place if a leaving bit is there, else any other.
                    let own = leaving.iter().position(|&leaves| line[to[label]] == leaves);
                    let leaves = leaving.remove(own.unwrap_or(leaving.len() - 1));
                    exchanged[slot] = line.iter().position(|&l| l == leaves);
                }
            } else {
                for slot in (first - bit..).take(entering.len()) {
                    exchanged[slot] = Some(LINE_BITS - PASS_BITS + slot);
                }
                let leave = leaving.split_off(leaving.len() - entering.len());
                wanted = arrange(line, &leave, exchanged, &to);
            }
            passes.push(Pass { before: rearrangement(line, wanted), bit, exchanged });
            line = wanted;
            for (slot, place) in exchanged.into_iter().enumerate() {
                if let Some(place) = place {
                    std::mem::swap(&mut line[place], &mut slots[bit + slot]);
                }
            }
        }
        let mut wanted = line;
        for &label in &line {
            wanted[to[label]] = label;
        }
        let lines: Vec<(usize, usize)> =
            first_slots.iter().zip(&slots).map(|(&source, &target)| (words(source), words(to[target]))).collect();
        let mut rest: Vec<usize> = (LINE_BITS..to.len()).filter(|bit| !first_slots.contains(bit)).collect();
        // Tiles of a bundle are neighbours on the sides where the lines of a tile are not; in the
        // source alone if each of its lines is far from the others. A read waits for the row of
        // memory that a write past the caches does not wait for.
        let is_far = first_slots.iter().all(|bit| *bit >= FAR_BIT);
        let gathered = !first_slots.contains(&LINE_BITS);
        let scattered = !slots.iter().any(|&bit| to[bit] == LINE_BITS);
        let mut bundle = Vec::new();
        while passes.len() > 1 && bundle.len() < BUNDLE_BITS && !rest.is_empty() && (gathered || scattered) {
            let by_target = scattered && (!gathered || (!is_far && bundle.len() % 2 == 1));
            let next = (0..rest.len()).min_by_key(|&i| if by_target { to[rest[i]] } else { rest[i] });
            bundle.extend(next.map(|i| rest.remove(i)));
        }
        let weights = |bits: Vec<usize>| bits.into_iter().map(|bit| (words(bit), words(to[bit]))).collect::<Vec<_>>();
        let (bundle, order) = (weights(bundle), weights(alternate(rest, &to)));
        let (run, runs) = order.split_at(order.len().min(RUN_BITS));
        Tiles {
            passes,
            last: rearrangement(line, wanted),
            lines: offsets(&lines),
            bundle: offsets(&bundle),
            scattered,
            run: offsets(run),
            runs: runs.to_vec(),
        }
    }

    /// Reorders the bitmap, except bundles and tiles that begin at a word of the source whose
    /// number has a bit of `unneeded`.
    ///
    /// # Safety
    /// The machine must have the instructions of `V`.
    #[inline(always)]
    pub(super) unsafe fn permute<V: Vector>(&self, unneeded: usize, source: &[u64], target: &mut [u64]) {
        let bundle_words = self.lines.len() * self.bundle.len() * WORDS;
        let expected = (bundle_words * self.run.len()) << self.runs.len();
        assert!(source.len() == expected && target.len() == expected);
        let (source, target) = (source.as_ptr(), target.as_mut_ptr());
        // SAFETY: the caller's promise; all lines are aligned if the first one is.
        unsafe {
            if 8 * expected >= STREAMED_BYTES && target.addr().is_multiple_of(LINE_BYTES) {
                self.permute_all::<V, true>(unneeded, source, target);
                V::fence();
            } else {
                self.permute_all::<V, false>(unneeded, source, target);
            }
        }
    }

    /// # Safety
    /// Source and target must have the words of the permutation; the target must begin at a
    /// multiple of [`LINE_BYTES`] if `STREAMED`. The machine must have the instructions of `V`.
    #[inline(always)]
    unsafe fn permute_all<V: Vector, const STREAMED: bool>(
        &self,
        unneeded: usize,
        source: *const u64,
        target: *mut u64,
    ) {
        let mut scratch = MaybeUninit::<Scratch>::uninit();
        let needed = |at: &&(usize, usize)| at.0 & unneeded == 0;
        let mut tiles = [(0, 0); 1 << BUNDLE_BITS];
        let mut number_of_tiles = 0;
        for tile in self.bundle.iter().filter(needed) {
            tiles[number_of_tiles] = *tile;
            number_of_tiles += 1;
        }
        let tiles = &tiles[..number_of_tiles];
        for number in 0..1_usize << self.runs.len() {
            let start = offset(number, &self.runs);
            if !needed(&&start) {
                continue;
            }
            let mut bundles = self.run.iter().filter(needed).peekable();
            while let Some(bundle) = bundles.next() {
                // The first bundle of the next run is read without notice.
                let next = source.wrapping_add(start.0 + bundles.peek().unwrap_or(&bundle).0);
                // SAFETY: runs, bundles, tiles and lines are of different index bits, so their sum
                // is inside.
                unsafe {
                    let source = source.add(start.0 + bundle.0);
                    let target = target.add(start.1 + bundle.1);
                    self.permute_bundle::<V, STREAMED>(tiles, source, target, next, scratch.as_mut_ptr().cast());
                }
            }
        }
    }

    /// Permutes a bundle; its last pass prefetches the lines of the bundle that begins at `next`.
    ///
    /// # Safety
    /// `tiles` must be tiles of the bundle. All lines of the bundle must be inside the bitmaps, and
    /// `scratch` must have room for them. The machine must have the instructions of `V`.
    #[inline(always)]
    unsafe fn permute_bundle<V: Vector, const STREAMED: bool>(
        &self,
        tiles: &[(usize, usize)],
        source: *const u64,
        target: *mut u64,
        next: *const u64,
        scratch: *mut u64,
    ) {
        let [first, rest @ ..] = &self.passes[..] else { unreachable!("a permutation without a pass") };
        let groups = 0..self.lines.len() >> PASS_BITS;
        let tile_words = self.lines.len() * WORDS;
        // SAFETY: there are as many lines as the passes count; a pass reads what the previous one
        // wrote.
        unsafe {
            for group in groups.clone() {
                let (line, step) = first.lines(group);
                for (number, tile) in tiles.iter().enumerate() {
                    let source = source.add(tile.0);
                    let mut r = [V::splat(0); 8];
                    for (i, vector) in r.iter_mut().enumerate() {
                        *vector = V::load(source.add(self.lines[line + i * step].0));
                    }
                    r = first.run(r);
                    if rest.is_empty() {
                        self.prefetch::<V>(group, next.wrapping_add(tile.0));
                        self.finish::<V, STREAMED>(line, step, r, target.add(tile.1));
                    } else {
                        store_lines(scratch.add(number * tile_words), line, step, r);
                    }
                }
            }
            let Some((last, middle)) = rest.split_last() else {
                return;
            };
            for (number, tile) in tiles.iter().enumerate() {
                let scratch = scratch.add(number * tile_words);
                for pass in middle {
                    for group in groups.clone() {
                        let (line, step) = pass.lines(group);
                        let r = pass.run(load_lines::<V>(scratch, line, step));
                        store_lines(scratch, line, step, r);
                    }
                }
                if !self.scattered {
                    let target = target.add(tile.1);
                    for group in groups.clone() {
                        self.prefetch::<V>(group, next.wrapping_add(tile.0));
                        let (line, step) = last.lines(group);
                        let r = last.run(load_lines::<V>(scratch, line, step));
                        self.finish::<V, STREAMED>(line, step, r, target);
                    }
                }
            }
            if self.scattered {
                for group in groups {
                    let (line, step) = last.lines(group);
                    for (number, tile) in tiles.iter().enumerate() {
                        self.prefetch::<V>(group, next.wrapping_add(tile.0));
                        let target = target.add(tile.1);
                        let scratch = scratch.add(number * tile_words);
                        let r = last.run(load_lines::<V>(scratch, line, step));
                        self.finish::<V, STREAMED>(line, step, r, target);
                    }
                }
            }
        }
    }

    /// Prefetches as many lines of the tile that begins at `tile` as a group has; all groups
    /// together prefetch all. They lie far apart, where no hardware looks ahead.
    #[inline(always)]
    fn prefetch<V: Vector>(&self, group: usize, tile: *const u64) {
        for line in &self.lines[group << PASS_BITS..(group + 1) << PASS_BITS] {
            V::prefetch(tile.wrapping_add(line.0));
        }
    }

    /// # Safety
    /// The same as for [`Tiles::permute_bundle`].
    #[inline(always)]
    unsafe fn finish<V: Vector, const STREAMED: bool>(&self, line: usize, step: usize, r: [V; 8], target: *mut u64) {
        for (i, vector) in V::rearrange(r, &self.last).into_iter().enumerate() {
            // SAFETY: the caller's promise; all offsets are multiples of a line.
            unsafe {
                let to = target.add(self.lines[line + i * step].1);
                if STREAMED {
                    vector.stream(to);
                } else {
                    vector.store(to);
                }
            }
        }
    }
}

impl Pass {
    /// Returns the first of the eight lines of a group, and the distance to the next.
    #[inline(always)]
    fn lines(&self, group: usize) -> (usize, usize) {
        let step = 1 << self.bit;
        let line = (group >> self.bit) << (self.bit + PASS_BITS) | group & (step - 1);
        (line, step)
    }

    #[inline(always)]
    fn run<V: Vector>(&self, r: [V; 8]) -> [V; 8] {
        exchange(V::rearrange(r, &self.before), self.exchanged)
    }
}

/// # Safety
/// The lines must be inside the scratch.
#[inline(always)]
unsafe fn load_lines<V: Vector>(scratch: *const u64, line: usize, step: usize) -> [V; 8] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut r = [V::splat(0); 8];
        for (i, vector) in r.iter_mut().enumerate() {
            *vector = V::load(scratch.add((line + i * step) * WORDS));
        }
        r
    }
}

/// # Safety
/// The lines must be inside the scratch.
#[inline(always)]
unsafe fn store_lines<V: Vector>(scratch: *mut u64, line: usize, step: usize, r: [V; 8]) {
    for (i, vector) in r.into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { vector.store(scratch.add((line + i * step) * WORDS)) }
    }
}

/// Exchanges bit `i` of the number of the vector with bit `bits[i]` of the place inside the vector.
#[inline(always)]
fn exchange<V: Vector>(mut r: [V; 8], bits: [Option<usize>; PASS_BITS]) -> [V; 8] {
    r = exchange_one(r, 1, bits[0]);
    r = exchange_one(r, 2, bits[1]);
    exchange_one(r, 4, bits[2])
}

#[inline(always)]
fn exchange_one<V: Vector>(mut r: [V; 8], distance: usize, bit: Option<usize>) -> [V; 8] {
    macro_rules! pairs {
        ($method:ident $(::<$words:literal>)? $(, $bit:ident)?) => {{
            let mut i = 0;
            while i < 8 {
                if i & distance == 0 {
                    (r[i], r[i + distance]) = r[i].$method$(::<$words>)?(r[i + distance] $(, $bit)?);
                }
                i += 1;
            }
        }};
    }
    match bit {
        None => {}
        Some(6) => pairs!(exchange_words::<1>),
        Some(7) => pairs!(exchange_words::<2>),
        Some(8) => pairs!(exchange_words::<4>),
        Some(bit) => pairs!(exchange_bits, bit),
    }
    r
}

#[repr(C, align(64))]
struct Scratch([u64; TILE_WORDS << BUNDLE_BITS]);

/// Returns the places of the bits of a line before an exchange: the leaving bits number the words;
/// the others are as near to their destination as the cheapest rearrangement allows.
fn arrange(
    line: [usize; LINE_BITS],
    leave: &[usize],
    exchanged: [Option<usize>; PASS_BITS],
    to: &[usize],
) -> [usize; LINE_BITS] {
    if leave.is_empty() {
        return line;
    }
    const NONE: usize = usize::MAX;
    let at = |label: usize| line.iter().position(|&l| l == label);
    let mut wanted = [NONE; LINE_BITS];
    let mut doors: Vec<usize> = exchanged.into_iter().flatten().collect();
    let mut moving = leave.to_vec();
    moving.retain(|&label| {
        let door = doors.iter().position(|&door| at(label) == Some(door));
        if let Some(door) = door {
            wanted[doors.remove(door)] = label;
        }
        door.is_none()
    });
    for (door, label) in doors.into_iter().zip(moving) {
        wanted[door] = label;
    }
    let turning = leave.iter().any(|&label| at(label) < Some(3));
    let others = || (0..LINE_BITS).filter(|&place| !leave.contains(&line[place]));
    let mut placed = [false; LINE_BITS];
    for place in others() {
        let goal = to[line[place]];
        let allowed = turning || goal == place || goal >= 3 && place >= 3;
        if goal < LINE_BITS && wanted[goal] == NONE && allowed {
            wanted[goal] = line[place];
            placed[place] = true;
        }
    }
    for place in others() {
        if !placed[place] && wanted[place] == NONE {
            wanted[place] = line[place];
            placed[place] = true;
        }
    }
    for place in others() {
        if !placed[place] {
            // Bits inside a byte were placed above unless all bits turn.
            if let Some(free) = (0..LINE_BITS).rev().find(|&free| wanted[free] == NONE) {
                wanted[free] = line[place];
            }
        }
    }
    wanted
}

fn rearrangement(line: [usize; LINE_BITS], wanted: [usize; LINE_BITS]) -> Rearrangement {
    let place = |label: usize| wanted.iter().position(|&w| w == label);
    let lost = || -> usize { unreachable!("{wanted:?} holds other bits than {line:?}") };
    Rearrangement::new(line.map(|label| place(label).unwrap_or_else(lost)))
}

/// Returns the index bits in an order that keeps consecutive tiles near each other in the source
/// and in the target.
fn alternate(mut rest: Vec<usize>, to: &[usize]) -> Vec<usize> {
    let mut order = Vec::new();
    while !rest.is_empty() {
        order.push(rest.remove(0));
        if let Some(lowest) = (0..rest.len()).min_by_key(|&i| to[rest[i]]) {
            order.push(rest.remove(lowest));
        }
    }
    order
}
