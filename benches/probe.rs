//! Position lookups in a seven-layer database, each checked against what a loss and a win are: a loss has no losing child, a win has one.
//!
//! `cargo bench --bench probe`. Figures are probes a second: a position with all its children, parsed frames in memory (warm).

mod common;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pipeline::engine::Placement;
use trinim::database::{Access, Database};
use trinim::outcome::Value;

fn probes(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    common::solve_seven(folder.path(), 22, &common::options(Placement::Dedicated, "auto", true), false);
    let mut group = criterion.benchmark_group("probe");
    group.throughput(Throughput::Elements(1));
    for (name, access) in [("read", Access::Read), ("map", Access::Map)] {
        let database = Database::open_with(folder.path(), access, 256 << 20).expect("a database");
        let full = database.board().full();
        let mut position = 0u64;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                position = position.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let probe = database.probe(position >> 20 & full).expect("a probe");
                if probe.position != 0 {
                    let wins = probe.children.iter().any(|child| child.value == Value::Loss);
                    assert_eq!(wins, probe.value == Value::Win);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, probes);
criterion_main!(benches);
