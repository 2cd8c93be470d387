//! The kernel of every instruction set of this machine against the one-position-at-a-time kernel,
//! and that one against the definitions.

use proptest::prelude::*;
use trinim_game::random::Random;
use trinim_game::{Rule, published};

use crate::{ApplyPlan, Isa, IsaError, Kernel, PermutePlan, SettlePlan, bitmap_words, mark_phantoms};

/// Single bits of a bitmap.
mod bits {
    pub(super) fn get(bitmap: &[u64], x: u64) -> bool {
        bitmap[(x >> 6) as usize] >> (x & 63) & 1 == 1
    }

    pub(super) fn set(bitmap: &mut [u64], x: u64) {
        bitmap[(x >> 6) as usize] |= 1 << (x & 63);
    }
}

/// Creates the slow kernel, the reference for all others; tests below compare it with the
/// definitions.
fn scalar() -> Kernel {
    Kernel::new(Isa::Scalar).unwrap()
}

/// Random bitmaps, masks and permutations.
struct Draw(Random);

impl Draw {
    fn new(seed: u64) -> Draw {
        Draw(Random::new(seed))
    }

    /// Returns a bitmap with about `percent` of the `2^index_bits` bits set and no phantom.
    fn bitmap(&mut self, index_bits: u32, percent: u64) -> Vec<u64> {
        let mut bitmap = vec![0; bitmap_words(index_bits)];
        for x in 0..1_u64 << index_bits {
            if self.0.below(100) < percent {
                bits::set(&mut bitmap, x);
            }
        }
        bitmap
    }

    /// Returns a mask of at most `most` bits below `index_bits`.
    fn mask(&mut self, index_bits: u32, most: u64) -> u64 {
        let bits = if index_bits == 0 { 0 } else { self.0.below(most + 1) };
        (0..bits).fold(0, |mask, _| mask | 1 << self.0.below(u64::from(index_bits)))
    }

    fn permutation(&mut self, index_bits: u32) -> Vec<u8> {
        let mut permutation: Vec<u8> = (0..index_bits as u8).collect();
        self.0.shuffle(&mut permutation);
        permutation
    }
}

const PERCENTS: [u64; 4] = [0, 5, 50, 100];

fn kernels() -> Vec<Kernel> {
    let kernels: Vec<Kernel> = Isa::available().into_iter().map(|isa| Kernel::new(isa).unwrap()).collect();
    for kernel in &kernels {
        println!("testing {}", kernel.isa());
    }
    kernels
}

/// Returns the cells of a triangle of `layers` layers and the masks of its moves, from the rules.
fn triangle(layers: u32) -> (u32, Vec<u64>) {
    let cell = |row: u32, column: u32| row * (row + 1) / 2 + column;
    let mut moves = Vec::new();
    for line in 0..layers {
        let along_row: Vec<u32> = (0..=line).map(|i| cell(line, i)).collect();
        let along_column = (line..layers).map(|row| cell(row, line)).collect();
        let along_diagonal = (line..layers).map(|row| cell(row, row - line)).collect();
        for cells in [along_row, along_column, along_diagonal] {
            for first in 0..cells.len() {
                for last in first..cells.len() {
                    moves.push(cells[first..=last].iter().fold(0, |m, c| m | 1_u64 << c));
                }
            }
        }
    }
    moves.sort_unstable();
    moves.dedup();
    (layers * (layers + 1) / 2, moves)
}

#[test]
fn unavailable_instruction_sets_are_refused() {
    for isa in Isa::ALL {
        match Kernel::new(isa) {
            Ok(kernel) => assert_eq!(kernel.isa(), isa),
            Err(error) => assert_eq!(error, IsaError::Unavailable(isa)),
        }
    }
    assert_eq!(Kernel::detect().isa(), Isa::detect());
}

/// Parts from one vector to the whole bitmap, in any order.
#[test]
fn parts_of_the_losses_do_together_what_all_do() {
    let mut random = Draw::new(11);
    for index_bits in [0, 5, 9, 10, 12, 18, 19] {
        let (bitmap, before) = (random.bitmap(index_bits, 6), random.bitmap(index_bits, 30));
        let operations: Vec<u64> = (0..12).map(|_| random.mask(index_bits, 4)).collect();
        let mut whole = before.clone();
        scalar().apply(&ApplyPlan::new(index_bits, &operations), &bitmap, &mut whole);
        for kernel in kernels().into_iter().chain([scalar()]) {
            for part_bits in 9..=index_bits.max(9) {
                let plan = ApplyPlan::new(index_bits, &operations).in_parts(part_bits);
                let mut parts: Vec<(usize, &[u64])> = bitmap.chunks(bitmap_words(part_bits)).enumerate().collect();
                random.0.shuffle(&mut parts);
                let mut wins = before.clone();
                for (part, losses) in parts {
                    kernel.apply_part(&plan, part, losses, &mut wins);
                }
                assert!(wins == whole, "{} {index_bits} in parts of {part_bits}: {operations:x?}", kernel.isa());
            }
        }
    }
}

/// The definition of each operation, bit by bit of its result; settling has its definition below.
#[test]
fn the_slow_kernel_does_what_the_definitions_say() {
    let mut random = Draw::new(7);
    for index_bits in 0..=13 {
        let positions = 0..1_u64 << index_bits;
        for percent in PERCENTS {
            let bitmap = random.bitmap(index_bits, percent);
            let before = random.bitmap(index_bits, 3);
            let operations: Vec<u64> = (0..9).map(|_| random.mask(index_bits, 3)).collect();
            let mut wins = before.clone();
            scalar().apply(&ApplyPlan::new(index_bits, &operations), &bitmap, &mut wins);
            let mask = random.mask(index_bits, 4);
            let mut restricted = bitmap.clone();
            scalar().restrict(mask, &mut restricted);
            let permutation = random.permutation(index_bits);
            let mut turned = vec![u64::MAX; bitmap.len()];
            scalar().permute(&PermutePlan::new(&permutation), &bitmap, &mut turned);
            for x in positions.clone() {
                let child_lost = operations.iter().any(|taken| x & taken == *taken && bits::get(&bitmap, x ^ taken));
                assert_eq!(bits::get(&wins, x), bits::get(&before, x) || child_lost, "{index_bits} {x:#x}");
                assert_eq!(bits::get(&restricted, x), x & mask == 0 && bits::get(&bitmap, x), "{mask:#x} {x:#x}");
                // Bit `i` of the source's index is bit `permutation[i]` of the target's.
                let source = (0..index_bits).fold(0, |y, i| y | (x >> permutation[i as usize] & 1) << i);
                assert_eq!(bits::get(&turned, x), bits::get(&bitmap, source), "{permutation:?} {x:#x}");
            }
            let set = |pieces: u32| {
                let set = positions.clone().filter(|x| bits::get(&bitmap, *x) && x.count_ones() == pieces);
                set.count() as u64
            };
            let census: Vec<u64> = (0..=index_bits).map(set).collect();
            assert_eq!(scalar().census(index_bits, &bitmap), census);
            assert_eq!(scalar().popcount(&bitmap), census.iter().sum::<u64>());
            assert_eq!(scalar().popcount(&turned), census.iter().sum::<u64>());
        }
    }
}

#[test]
fn apply_marks_what_the_slow_kernel_marks() {
    let mut random = Draw::new(1);
    let kernels = kernels();
    for index_bits in 0..=20 {
        for percent in PERCENTS {
            if index_bits > 14 && percent != 5 {
                continue;
            }
            // Chunks are small where no operation leaves them: those of 14 bits, up to those of 17.
            let inside = [(9, 3, 14), (9, 3, 15), (24, 4, 17), (24, 4, 18)];
            for (count, most, below) in [(1, 1, 63), (7, 3, 63), (24, 8, 63), (12, 24, 63)].into_iter().chain(inside) {
                let bits = index_bits.min(below);
                let operations: Vec<u64> = (0..count).map(|_| random.mask(bits, most)).collect();
                let losses = random.bitmap(index_bits, percent);
                let mut before = random.bitmap(index_bits, 3);
                mark_phantoms(index_bits, &mut before);
                let mut expected = before.clone();
                let plan = ApplyPlan::new(index_bits, &operations);
                scalar().apply(&plan, &losses, &mut expected);
                for kernel in &kernels {
                    let mut wins = before.clone();
                    kernel.apply(&plan, &losses, &mut wins);
                    assert!(wins == expected, "{kernel:?} {index_bits} {percent} {operations:x?}");
                }
                let mut first = vec![0; losses.len()];
                scalar().apply(&plan, &losses, &mut first);
                for kernel in &kernels {
                    let mut wins = before.clone();
                    kernel.apply_first(&plan, &losses, &mut wins);
                    assert!(wins == first, "{kernel:?} {index_bits} {percent} {operations:x?}");
                }
            }
        }
    }
}

#[test]
fn settle_finds_what_the_slow_kernel_finds() {
    let mut random = Draw::new(2);
    let kernels = kernels();
    for index_bits in 0..=22 {
        for percent in PERCENTS {
            if index_bits > 14 && percent != 5 {
                continue;
            }
            for (count, most) in [(0, 1), (4, 1), (30, 3), (40, 8)] {
                let mut moves: Vec<u64> = (0..count).map(|_| random.mask(index_bits, most)).collect();
                moves.retain(|mask| *mask != 0);
                let mut before = random.bitmap(index_bits, percent);
                mark_phantoms(index_bits, &mut before);
                let mut expected = before.clone();
                let plan = SettlePlan::new(index_bits, &moves);
                scalar().settle(&plan, &mut expected);
                for kernel in &kernels {
                    let mut bitmap = before.clone();
                    kernel.settle(&plan, &mut bitmap);
                    assert!(bitmap == expected, "{kernel:?} {index_bits} {percent} {moves:x?}");
                }
            }
        }
    }
}

#[test]
fn whole_boards_as_one_block() {
    let kernels = kernels();
    for layers in 1..=6 {
        let (cells, moves) = triangle(layers);
        let plan = SettlePlan::new(cells, &moves);
        for misere in [false, true] {
            let mut before = vec![0; bitmap_words(cells)];
            mark_phantoms(cells, &mut before);
            before[0] |= u64::from(misere);
            let mut expected = before.clone();
            scalar().settle(&plan, &mut expected);
            for kernel in &kernels {
                let mut bitmap = before.clone();
                kernel.settle(&plan, &mut bitmap);
                assert!(bitmap == expected, "{kernel:?} {layers} layers");
                if misere {
                    let losses = kernel.popcount(&bitmap);
                    assert_eq!(Some(losses), published::losses(layers, Rule::Misere));
                    assert_eq!(kernel.census(cells, &bitmap).iter().sum::<u64>(), losses);
                }
            }
        }
    }
}

#[test]
fn permute_moves_every_bit_where_the_slow_kernel_does() {
    let mut random = Draw::new(3);
    let kernels = kernels();
    for index_bits in 0..=16 {
        for _ in 0..20 {
            check_permutation(&kernels, &random.permutation(index_bits), &mut random);
        }
    }
    for index_bits in [17, 18, 19, 20, 22] {
        check_permutation(&kernels, &random.permutation(index_bits), &mut random);
    }
}

/// Three fields of `field` bits: one place on, and the last two exchanged with their lowest bits
/// swapped inside.
#[test]
fn permute_rotates_and_mirrors_fields() {
    let mut random = Draw::new(4);
    let kernels = kernels();
    for field in [3, 5, 6, 7] {
        let bits = 3 * field;
        let rotation: Vec<u8> = (0..bits).map(|i| (i + field) % bits).collect();
        check_permutation(&kernels, &rotation, &mut random);
        let back: Vec<u8> = (0..bits).map(|i| (i + 2 * field) % bits).collect();
        check_permutation(&kernels, &back, &mut random);
        let mirror: Vec<u8> = (0..bits)
            .map(|i| {
                let inside = if i % field < 2 { 1 - i % field } else { i % field };
                [0, 2, 1][usize::from(i / field)] * field + inside
            })
            .collect();
        check_permutation(&kernels, &mirror, &mut random);
    }
}

fn check_permutation(kernels: &[Kernel], permutation: &[u8], random: &mut Draw) {
    let index_bits = permutation.len() as u32;
    let source = random.bitmap(index_bits, 50);
    let mut expected = vec![0; source.len()];
    scalar().permute(&PermutePlan::new(permutation), &source, &mut expected);
    for kernel in kernels {
        let mut target = vec![u64::MAX; source.len()];
        kernel.permute(&PermutePlan::new(permutation), &source, &mut target);
        assert!(target == expected, "{kernel:?} {permutation:?}");
    }
    if index_bits < 10 {
        return;
    }
    // One or two bits of the number of a word.
    let unneeded = (random.mask(index_bits, 2) >> 6).max(1 << (index_bits - 7));
    let mut garbled = source;
    (0u64..).zip(&mut garbled).filter(|(word, _)| word & unneeded != 0).for_each(|(_, bits)| *bits = !*bits);
    for kernel in kernels {
        let mut target = vec![u64::MAX; garbled.len()];
        kernel.permute_needed(&PermutePlan::new(permutation), unneeded, &garbled, &mut target);
        for x in (0..1u64 << index_bits).filter(|x| x >> 6 & unneeded == 0) {
            let y = permutation.iter().enumerate().fold(0, |y, (bit, place)| y | (x >> bit & 1) << place);
            assert_eq!(
                bits::get(&target, y),
                bits::get(&expected, y),
                "{kernel:?} {permutation:?} {unneeded:#x} {x:#x}"
            );
        }
    }
}

/// Targets of 8 MiB are written past the caches if they begin at a line, and like smaller ones if
/// they do not.
#[test]
fn permute_writes_large_targets_alike_at_any_alignment() {
    let mut random = Draw::new(8);
    let index_bits = 26;
    let source = random.bitmap(index_bits, 50);
    let mut rooms = [0, 1].map(|_| vec![0; source.len() + 8]);
    let rotation: Vec<u8> = (0..index_bits as u8).map(|bit| (bit + 9) % index_bits as u8).collect();
    for permutation in [rotation, random.permutation(index_bits)] {
        let plan = PermutePlan::new(&permutation);
        for kernel in kernels().into_iter().filter(|kernel| kernel.isa() != Isa::Scalar) {
            let [aligned, other] = [0, 1].map(|shift| {
                let room = &rooms[shift];
                (room.as_ptr().align_offset(64) + shift) % 8
            });
            let [first, second] = &mut rooms;
            let targets = [&mut first[aligned..][..source.len()], &mut second[other..][..source.len()]];
            let [first, second] = targets.map(|target| {
                target.fill(u64::MAX);
                kernel.permute(&plan, &source, target);
                target
            });
            assert!(first == second, "{kernel:?} {permutation:?}");
            for _ in 0..10_000 {
                let x = random.0.below(1 << index_bits);
                let y = permutation.iter().enumerate().fold(0, |y, (bit, place)| y | (x >> bit & 1) << place);
                assert_eq!(bits::get(first, y), bits::get(&source, x), "{kernel:?} {permutation:?} {x:#x}");
            }
        }
    }
}

#[test]
fn vector_kernels_leave_out_what_is_not_needed() {
    // A rotation of three fields; bit 20 becomes bit 13.
    let rotation: Vec<u8> = (0..21).map(|bit| (bit + 14) % 21).collect();
    let source = vec![0; 1 << 15];
    for kernel in kernels().into_iter().filter(|kernel| kernel.isa() != Isa::Scalar) {
        let mut target = vec![u64::MAX; source.len()];
        kernel.permute_needed(&PermutePlan::new(&rotation), 1 << 14, &source, &mut target);
        let kept: Vec<bool> = target.iter().map(|word| *word == u64::MAX).collect();
        let unneeded: Vec<bool> = (0..kept.len()).map(|word| word >> 7 & 1 == 1).collect();
        assert!(kept == unneeded, "{kernel:?}");
    }
}

#[test]
fn counts_and_restriction_match_the_slow_kernel() {
    let mut random = Draw::new(5);
    let kernels = kernels();
    // The sums of many chunks need more digits than those of one.
    for index_bits in (0..=18).chain([21]) {
        for percent in PERCENTS {
            let bitmap = random.bitmap(index_bits, percent);
            let census = scalar().census(index_bits, &bitmap);
            let mask = random.mask(index_bits, 5);
            let mut expected = bitmap.clone();
            scalar().restrict(mask, &mut expected);
            for kernel in &kernels {
                assert_eq!(kernel.popcount(&bitmap), census.iter().sum::<u64>());
                assert_eq!(kernel.census(index_bits, &bitmap), census, "{kernel:?}");
                let mut restricted = bitmap.clone();
                kernel.restrict(mask, &mut restricted);
                assert!(restricted == expected, "{kernel:?} {index_bits} {mask:x}");
            }
        }
    }
}

/// Bitmaps one word off the alignment of vectors and lines.
#[test]
fn bitmaps_need_no_alignment() {
    let mut random = Draw::new(6);
    let (cells, moves) = triangle(5);
    let words = bitmap_words(cells);
    let wins = random.bitmap(cells, 10);
    let mut expected = wins.clone();
    scalar().settle(&SettlePlan::new(cells, &moves), &mut expected);
    for kernel in kernels() {
        for offset in 0..8 {
            let mut room = vec![0; words + 8];
            let bitmap = &mut room[offset..offset + words];
            bitmap.copy_from_slice(&wins);
            kernel.settle(&SettlePlan::new(cells, &moves), bitmap);
            assert!(bitmap == expected, "{kernel:?} {offset}");
            let mut other = vec![0; words + 8];
            let target = &mut other[7 - offset..7 - offset + words];
            let permutation: Vec<u8> = (0..cells as u8).rev().collect();
            kernel.permute(&PermutePlan::new(&permutation), bitmap, target);
            assert_eq!(kernel.popcount(target), kernel.popcount(&expected));
            kernel.apply(&ApplyPlan::new(cells, &[0]), bitmap, target);
            assert!(bitmap.iter().zip(&*target).all(|(losses, wins)| losses & !wins == 0));
        }
    }
}

/// Masks over at most fourteen index bits: short runs like moves, biased to the edges of words and
/// vectors.
fn moves_and_wins() -> impl Strategy<Value = (u32, Vec<u64>, u64)> {
    let bit = prop_oneof![0_u32..14, 4_u32..7, 7_u32..11];
    let mask = prop::collection::vec(bit, 1..4).prop_map(|bits| bits.into_iter().fold(0, |m, b| m | 1_u64 << b));
    (0_u32..=14, prop::collection::vec(mask, 0..24), any::<u64>()).prop_map(|(index_bits, mut moves, seed)| {
        moves.retain(|mask| mask >> index_bits == 0);
        (index_bits, moves, seed)
    })
}

proptest! {
    /// The definition, not an algorithm: a position is a loss exactly if it is not a win from
    /// outside and none of its children is a loss.
    #[test]
    fn losses_are_the_positions_without_losing_children((index_bits, moves, seed) in moves_and_wins()) {
        let wins = Draw::new(seed).bitmap(index_bits, 30);
        for kernel in [kernels(), vec![scalar()]].concat() {
            let mut bitmap = wins.clone();
            mark_phantoms(index_bits, &mut bitmap);
            kernel.settle(&SettlePlan::new(index_bits, &moves), &mut bitmap);
            for x in 0..1_u64 << index_bits {
                let losing_child = moves.iter().any(|m| x & m == *m && bits::get(&bitmap, x ^ m));
                let loss = !bits::get(&wins, x) && !losing_child;
                prop_assert_eq!(bits::get(&bitmap, x), loss, "{} {:#x}", kernel.isa(), x);
            }
        }
    }

    /// Two permutations in sequence are their product; a permutation and its inverse change
    /// nothing.
    #[test]
    fn permutations_compose(index_bits in 0_u32..=16, seed in any::<u64>()) {
        let mut random = Draw::new(seed);
        let (first, second) = (random.permutation(index_bits), random.permutation(index_bits));
        let product: Vec<u8> = first.iter().map(|&bit| second[usize::from(bit)]).collect();
        let source = random.bitmap(index_bits, 50);
        for kernel in kernels() {
            let run = |permutation: &[u8], source: &[u64]| {
                let mut target = vec![u64::MAX; source.len()];
                kernel.permute(&PermutePlan::new(permutation), source, &mut target);
                target
            };
            prop_assert!(run(&second, &run(&first, &source)) == run(&product, &source), "{}", kernel.isa());
        }
    }
}
