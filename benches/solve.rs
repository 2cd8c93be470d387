//! Whole solves of seven layers, misère, each checked against the published count, and the one-position-at-a-time retrograde loop as yardstick.
//!
//! `cargo bench --bench solve`. Groups: `seven layers` (default, placements, log writes sorted and in order of arrival, small blocks) and `one
//! block` (the kernel alone against the loop of [LWS09] chapter 3, one thread, in memory; an iteration of the loop takes seconds).

mod common;

use criterion::{Criterion, criterion_group, criterion_main};
use pipeline::engine::Placement;
use std::hint::black_box;
use std::ops::Range;
use trinim::board::Board;
use trinim::kernel::{Isa, Kernel, SettlePlan, bitmap_words};
use trinim::layout::Layout;
use trinim::solve::baseline::memory;

fn solves(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("seven layers");
    group.sample_size(10);
    let cases = [
        ("dedicated, 2^22 a block, synced", Placement::Dedicated, 22, true, true),
        ("dedicated, 2^22 a block", Placement::Dedicated, 22, true, false),
        ("shared, 2^22 a block", Placement::Shared, 22, true, false),
        ("dedicated, 2^16 a block, sorted", Placement::Dedicated, 16, true, false),
        ("dedicated, 2^16 a block, in order of arrival", Placement::Dedicated, 16, false, false),
    ];
    for (name, placement, offset_bits, sorted, syncs) in cases {
        group.bench_function(name, |bencher| {
            bencher.iter_with_large_drop(|| {
                let folder = tempfile::tempdir().expect("a folder");
                let options = common::options(placement, "auto", sorted);
                common::solve_seven(folder.path(), offset_bits, &options, syncs);
                folder
            });
        });
    }
    group.finish();
}

/// Losses found by one of the papers' ways in memory.
fn losses_of(step: fn(&[u64], &mut [u64], Range<u64>), cells: u32, moves: &[u64]) -> u64 {
    let mut wins = vec![0u64; 1 << (cells - 6)];
    wins[0] = 1;
    step(moves, &mut wins, 0..1 << cells);
    wins.iter().map(|word| u64::from(word.count_zeros())).sum()
}

fn one_block(criterion: &mut Criterion) {
    let board = Board::triangle(7, None).expect("seven layers");
    let layout = Layout::suggested(&board, 28);
    let plan = SettlePlan::new(28, layout.inner_moves());
    let mut bitmap = vec![0; bitmap_words(28)];
    let mut group = criterion.benchmark_group("one block");
    group.sample_size(10);
    for isa in Isa::available() {
        let kernel = Kernel::new(isa).expect("an available instruction set");
        group.bench_function(format!("kernel {isa}"), |bencher| {
            bencher.iter(|| {
                bitmap.fill(0);
                bitmap[0] = 1;
                kernel.settle(&plan, black_box(&mut bitmap));
            });
            assert_eq!(kernel.popcount(&bitmap), common::LOSSES_7);
        });
    }
    group.bench_function("one position at a time", |bencher| {
        bencher.iter(|| assert_eq!(losses_of(memory::retrograde, 28, black_box(board.moves())), common::LOSSES_7));
    });
    group.finish();
}

criterion_group!(benches, solves, one_block);
criterion_main!(benches);
