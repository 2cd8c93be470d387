//! Nim on the plane with heaps of 1,000 and 100,000 digits, and points in order; every answer is
//! checked before any measurement.
//!
//! `cargo bench --bench plane`. Bars: a point of 1,000 digits under 5 ms, one of 100,000 under 0.5
//! s, including parsing and formatting; a million points under a second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dashu_int::UBig;
use std::hint::black_box;
use trinim_game::Rule;
use trinim_plane::heaps::{self, Point};
use trinim_plane::sequence::{self, Points};
use trinim_plane::winning;

/// Returns a won point as two texts of this many digits; its winning moves lead to losses.
fn heaps(digits: usize) -> [String; 2] {
    let heaps = ["31415926", "27182818"].map(|text| text.chars().cycle().take(digits).collect::<String>());
    let point = read(&heaps);
    let moves = winning::moves(Rule::Normal, &point);
    assert!(!moves.is_empty());
    for step in moves {
        let reached = point.after(&step).expect("a move");
        assert!(winning::moves(Rule::Normal, &reached).is_empty());
        assert_eq!(sequence::a(&reached.difference()), *reached.short());
    }
    heaps
}

fn read(heaps: &[String; 2]) -> Point {
    let [one, other] = heaps.each_ref().map(|text| heaps::parse(text).expect("digits"));
    Point::new(one, other)
}

fn large_heaps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plane");
    group.sample_size(10);
    for digits in [1000, 100_000] {
        let heaps = heaps(digits);
        group.bench_function(format!("winning moves, {digits} digits, from text to text"), |bencher| {
            bencher.iter(|| {
                let point = read(&heaps);
                let moves = winning::moves(Rule::Normal, &point);
                moves.iter().map(|step| step.amount.to_string().len()).sum::<usize>()
            });
        });
    }
    group.finish();
}

fn points(criterion: &mut Criterion) {
    const COUNT: usize = 1_000_000;
    let start = UBig::from(10u8).pow(12);
    let last = Points::from(&start).nth(COUNT - 1).expect("points have no end");
    assert_eq!(last.short, sequence::a(&(start.clone() + (COUNT - 1))));
    let mut group = criterion.benchmark_group("points");
    group.sample_size(10).throughput(Throughput::Elements(COUNT as u64));
    group.bench_function("in order", |bencher| {
        bencher.iter(|| black_box(Points::from(&start).nth(COUNT - 1)));
    });
    group.finish();
}

criterion_group!(benches, large_heaps, points);
criterion_main!(benches);
