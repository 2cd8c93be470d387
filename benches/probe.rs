//! Position lookups in a seven-layer database, each checked against the definition: a loss has no
//! losing child, a win has one.
//!
//! `cargo bench --bench probe`. Figures are probes a second: a position with all its children, with
//! parsed frames in memory (warm).

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pipeline::codec::Rows;
use pipeline::{Options, Placement, RealStorage, RunId, Storage};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use trinim::database::{Database, Game};
use trinim::game::published;
use trinim::game::{Rule, Value};
use trinim::kernel::Kernel;
use trinim::solve::solve;

/// Solves seven layers, misère, into `folder`, without syncs.
fn solve_seven(folder: &Path) {
    let game = Game::triangle(7, Rule::Misere, 22).expect("seven layers");
    let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(folder).expect("a folder").with_syncs(false));
    let options = Options {
        threads: 2,
        memory_bytes: 1 << 30,
        placement: Placement::Dedicated,
        codec: &Rows::BYTES,
        commit_interval: Duration::from_secs(5),
        thresholds: None,
        run_id: RunId(1),
        stop: Arc::default(),
    };
    let solved = solve(&game, Kernel::detect(), &storage, &options, &Default::default(), &|_| {}).expect("a solve");
    assert_eq!(Some(solved.manifest.census.losses()), published::losses(7, Rule::Misere));
}

fn probes(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    solve_seven(folder.path());
    let mut group = criterion.benchmark_group("probe");
    group.throughput(Throughput::Elements(1));
    let database = Database::open(folder.path()).expect("a database");
    let full = database.board().full();
    let mut position = 0u64;
    group.bench_function("read", |bencher| {
        bencher.iter(|| {
            position = position.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let probe = database.probe(position >> 20 & full).expect("a probe");
            if probe.position != 0 {
                let wins = probe.children.iter().any(|child| child.value == Value::Loss);
                assert_eq!(wins, probe.value == Value::Win);
            }
        });
    });
    group.finish();
}

criterion_group!(benches, probes);
criterion_main!(benches);
