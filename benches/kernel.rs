//! Every stage of the kernel on every instruction set of this machine, on 2 MiB blocks (2^24
//! positions) cut from the seven-layer triangle. Answers are compared with the portable kernel's,
//! and settling with a published count, before any measurement.
//!
//! `cargo bench --bench kernel`, or one stage: `cargo bench --bench kernel -- settle`. Figures are
//! bytes of bitmap a second: a byte is eight positions, 64 bytes are one vector.

use std::hint::black_box;

use criterion::{
    BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use trinim::game::Board;
use trinim::game::Rule;
use trinim::game::published;
use trinim::kernel::{ApplyPlan, Isa, Kernel, PermutePlan, SettlePlan, bitmap_words};

/// Index bits of the blocks.
const BITS: u32 = 24;

/// Returns the masks of the moves of a triangle of `layers` layers, row-major.
fn triangle(layers: u32) -> Vec<u64> {
    Board::triangle(layers, None).expect("a board of that size").moves().to_vec()
}

fn kernels() -> Vec<Kernel> {
    Isa::available().into_iter().filter_map(|isa| Kernel::new(isa).ok()).collect()
}

fn portable() -> Kernel {
    kernels()[0]
}

/// Checks that six layers as one block have the published misère losses.
fn check_published_count() {
    let plan = SettlePlan::new(21, &triangle(6));
    for kernel in kernels() {
        let mut bitmap = vec![0; bitmap_words(21)];
        bitmap[0] = 1;
        kernel.settle(&plan, &mut bitmap);
        assert_eq!(Some(kernel.popcount(&bitmap)), published::losses(6, Rule::Misere), "{}", kernel.isa());
    }
}

fn inner_moves() -> Vec<u64> {
    triangle(7).into_iter().filter(|mask| mask >> BITS == 0).collect()
}

/// Returns the losses of the block without the last four cells, misère.
fn losses() -> Vec<u64> {
    let mut bitmap = vec![0; bitmap_words(BITS)];
    bitmap[0] = 1;
    portable().settle(&SettlePlan::new(BITS, &inner_moves()), &mut bitmap);
    bitmap
}

/// Times `run` on every kernel after comparing its results; `run` turns the first bitmap into the
/// second.
fn bench(
    group: &mut BenchmarkGroup<'_, WallTime>,
    before: (&[u64], &[u64]),
    run: impl Fn(Kernel, &mut [u64], &mut [u64]) -> Vec<u64>,
) {
    group.throughput(Throughput::Bytes(size_of_val(before.0) as u64));
    let fresh = || (before.0.to_vec(), before.1.to_vec());
    let answer = |kernel| {
        let (mut source, mut target) = fresh();
        let counts = run(kernel, &mut source, &mut target);
        (source, target, counts)
    };
    let expected = answer(portable());
    for kernel in kernels() {
        assert!(answer(kernel) == expected, "{} differs from portable", kernel.isa());
        group.bench_function(kernel.isa().to_string(), |bencher| {
            bencher.iter_batched_ref(
                fresh,
                |(source, target)| black_box(run(kernel, source, target)),
                BatchSize::LargeInput,
            );
        });
    }
}

fn stages(criterion: &mut Criterion) {
    check_published_count();
    let losses = losses();
    let empty = vec![0; losses.len()];

    let plan = SettlePlan::new(BITS, &inner_moves());
    let mut group = criterion.benchmark_group("settle");
    bench(&mut group, (&empty, &empty), |kernel, bitmap, _| {
        kernel.settle(&plan, bitmap);
        Vec::new()
    });
    group.finish();

    // Towards the block with cell 24 alone: the parts of the moves through that cell and no higher
    // one.
    let operations: Vec<u64> =
        triangle(7).into_iter().filter(|mask| mask >> BITS == 1).map(|mask| mask & ((1 << BITS) - 1)).collect();
    let plan = ApplyPlan::new(BITS, &operations);
    let mut group = criterion.benchmark_group("apply");
    bench(&mut group, (&losses, &empty), |kernel, losses, wins| {
        kernel.apply(&plan, losses, wins);
        Vec::new()
    });
    group.finish();

    let rotation: Vec<u8> = (0..24).map(|bit| (bit + 8) % 24).collect();
    let mirror: Vec<u8> = (0..24).map(|bit| [0, 16, 8][bit / 8] + [0, 2, 1, 4, 3, 5, 7, 6][bit % 8]).collect();
    for (name, permutation) in [("permute/rotation", rotation), ("permute/mirror", mirror)] {
        let plan = PermutePlan::new(&permutation);
        let mut group = criterion.benchmark_group(name);
        bench(&mut group, (&losses, &empty), |kernel, source, target| {
            kernel.permute(&plan, source, target);
            Vec::new()
        });
        group.finish();
    }

    let mut group = criterion.benchmark_group("census");
    bench(&mut group, (&losses, &[]), |kernel, bitmap, _| kernel.census(BITS, bitmap));
    group.finish();
    let mut group = criterion.benchmark_group("popcount");
    bench(&mut group, (&losses, &[]), |kernel, bitmap, _| vec![kernel.popcount(bitmap)]);
    group.finish();
    let mut group = criterion.benchmark_group("restrict");
    bench(&mut group, (&losses, &[]), |kernel, bitmap, _| {
        kernel.restrict(1 << 3 | 1 << 12 | 1 << 20, bitmap);
        Vec::new()
    });
    group.finish();
}

criterion_group!(benches, stages);
criterion_main!(benches);
