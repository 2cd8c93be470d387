//! What several benches need: solves whose answers are checked.

use pipeline::CodecChoice;
use pipeline::engine::{Options, Placement};
use pipeline::metrics::Metrics;
use pipeline::storage::{RealStorage, Storage};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use trinim::board::Board;
use trinim::kernel::Kernel;
use trinim::layout::Layout;
use trinim::rule::Rule;
use trinim::solve::{Problem, Solved, solve};

/// Misère losses of seven layers [LWS09, table 4-1].
pub const LOSSES_7: u64 = 19_496_523;

/// Options of a solve with two threads and 1 GiB.
pub fn options(placement: Placement, codec: &str, sorted: bool) -> Options {
    Options {
        threads: 2,
        memory_bytes: 1 << 30,
        placement,
        codec: CodecChoice::parse(codec).expect("a codec's name"),
        commit_interval: Duration::from_secs(5),
        sorted,
        run_id: 1,
        stop: Arc::default(),
    }
}

/// Solves seven layers, misère, in blocks of at most `2^offset_bits` positions, into `folder`; panics when the count is wrong.
pub fn solve_seven(folder: &Path, offset_bits: u32, options: &Options, syncs: bool) -> (Solved, Metrics) {
    let board = Board::triangle(7, None).expect("seven layers");
    let layout = Layout::suggested(&board, offset_bits);
    let problem = Problem { board: &board, rule: Rule::Misere, layout: &layout, kernel: Kernel::detect() };
    let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(folder).expect("a folder").with_syncs(syncs));
    let metrics = Metrics::default();
    let solved = solve(problem, &storage, options, &metrics, &|_| {}).expect("a solve");
    assert_eq!(solved.manifest.census.losses(), LOSSES_7);
    (solved, metrics)
}
