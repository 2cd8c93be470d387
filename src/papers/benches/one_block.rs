//! The kernel by itself on the seven-layer board as one block, misère, compared with the
//! one-position-at-a-time retrograde loop of [LWS09] chapter 3: one thread, in memory, each checked
//! against the published count.
//!
//! `cargo bench -p trinim-papers --bench one_block`; an iteration of the loop takes seconds.
//! `trinim papers bench` measures whole solves.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::ops::Range;
use trinim::game::Board;
use trinim::game::Rule;
use trinim::game::published;
use trinim::kernel::{Isa, Kernel, SettlePlan, bitmap_words};
use trinim::layout::Layout;
use trinim_papers::baseline::memory;

/// Returns the number of losses that one of the papers' strategies finds in memory.
fn losses_of(step: fn(&[u64], &mut [u64], Range<u64>), cells: u32, moves: &[u64]) -> u64 {
    let mut wins = vec![0u64; 1 << (cells - 6)];
    wins[0] = 1;
    step(moves, &mut wins, 0..1 << cells);
    wins.iter().map(|word| u64::from(word.count_zeros())).sum()
}

fn one_block(criterion: &mut Criterion) {
    let losses = published::losses(7, Rule::Misere).expect("a published count");
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
            assert_eq!(kernel.popcount(&bitmap), losses);
        });
    }
    group.bench_function("one position at a time", |bencher| {
        bencher.iter(|| assert_eq!(losses_of(memory::retrograde, 28, black_box(board.moves())), losses));
    });
    group.finish();
}

criterion_group!(benches, one_block);
criterion_main!(benches);
