//! The papers' strategies compared with the update logs: the same database byte by byte, and as
//! many loads and stores as the papers count.

use crate::common::breaks::published;
use crate::common::{Bitmaps, Solving, Way, assert_same_files, database_files, layout_with, scratch};
use pipeline::checkpoint::LOGS;
use pipeline::{Error, Metrics, Options, RealStorage, RunId, Stage, Storage};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use testing::{Fault, SimulatedStorage};
use trinim::Solve;
use trinim::database::{Database, Game, Keep, Terms};
use trinim::game::Rule;
use trinim::game::reference;
use trinim::game::{Board, Cell};
use trinim::job::{self, JobError};
use trinim::kernel::{Isa, Kernel, bitmap_words};
use trinim::layout::Layout;
use trinim::random::Random;
use trinim::solve::{Solved, solve};
use trinim_papers::baseline::{self, Baseline, Counters, Redundancy, footprint_bytes};
use trinim_papers::counts::Counts;

const IN_MEMORY: [Baseline; 2] = [Baseline::Forward, Baseline::Retrograde];

const IN_BLOCKS: [Baseline; 4] = [
    Baseline::BlockPush(Redundancy::Keep),
    Baseline::BlockPush(Redundancy::Remove),
    Baseline::BlockPull(Redundancy::Keep),
    Baseline::BlockPull(Redundancy::Remove),
];

/// Returns options with the least memory for `threads` threads.
fn options(game: &Game, baseline: Baseline, threads: usize) -> Options {
    let memory_bytes = footprint_bytes(&game.layout, baseline, threads);
    Options { threads, memory_bytes, run_id: RunId(7), ..Options::default() }
}

fn of(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Solves in a folder and compares the loads and stores with the papers' counts.
fn solve_in(folder: &Path, game: &Game, baseline: Baseline, kernel: Kernel, threads: usize) -> Result<Solved, Error> {
    let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(folder)?.with_syncs(false));
    let (metrics, counters) = <(Metrics, Counters)>::default();
    let options = options(game, baseline, threads);
    let solved = baseline::solve(game, kernel, baseline, &storage, &options, &metrics, &counters)?;

    let counts = Counts::of(&game.layout);
    let (blocks, updates) = match baseline.redundancy() {
        None => (0, 0),
        Some(Redundancy::Keep) => (counts.blocks, counts.updates),
        Some(Redundancy::Remove) => (counts.canonical_blocks, counts.canonical_updates),
    };
    let stores = if matches!(baseline, Baseline::BlockPush(_)) { updates + blocks } else { blocks };
    let block_bytes = bitmap_words(game.layout.offset_bits()) as u64 * 8;
    let story = format!("{baseline}, {:?}, BID cells {:?}", baseline.redundancy(), game.layout.bid_cells());
    assert_eq!(of(&counters.block_loads), updates, "{story}: loads");
    assert_eq!(of(&counters.block_bytes_read), updates * block_bytes, "{story}: bytes read");
    assert_eq!(of(&counters.block_bytes_written), stores * block_bytes, "{story}: bytes written");
    assert_eq!(of(&counters.scratch_bytes), baseline::scratch_bytes(&game.layout, baseline), "{story}: scratch");
    assert_eq!(of(&counters.scratch_bytes), blocks * block_bytes, "{story}: scratch");
    assert_eq!(metrics.snapshot().edges_applied, updates, "{story}: updates");
    assert_eq!(
        metrics.snapshot().blocks_computed,
        blocks.max(counts.canonical_blocks * u64::from(blocks == 0)),
        "{story}"
    );
    let visited = if blocks == 0 { 1 << game.board.cells() } else { 0 };
    assert_eq!(of(&counters.positions_visited), visited, "{story}: positions");
    assert!(metrics.stage(Stage::Settle) > Duration::ZERO && metrics.stage(Stage::Publish) > Duration::ZERO, "{story}");
    // No more workers than blocks.
    let workers = if blocks == 0 { threads } else { threads.min(blocks as usize) };
    assert_eq!(solved.peak_leased_bytes, footprint_bytes(&game.layout, baseline, workers), "{story}: memory");
    assert!(std::fs::read_dir(folder.join(LOGS)).unwrap().next().is_none(), "{story}: scratch files are left");
    Ok(solved)
}

/// Solves by one strategy in a new folder and compares the database with that of the update logs.
fn assert_same(game: &Game, baseline: Baseline, kernel: Kernel, threads: usize, expected: &BTreeMap<String, Vec<u8>>) {
    let folder = scratch();
    let story = format!("{}, {}, {baseline}, {:?}", game.board.name(), game.rule, kernel.isa());
    let solved = solve_in(folder.path(), game, baseline, kernel, threads);
    let solved = solved.unwrap_or_else(|error| panic!("{story}: {error}"));
    let files = database_files(folder.path());
    assert_same_files(&files, expected, &story);
    assert_eq!(solved.database_bytes, files.values().map(|bytes| bytes.len() as u64).sum::<u64>(), "{story}");
}

/// Runs every strategy, redundancy and kernel, with one and several threads, against update logs
/// with the best and the slow kernel.
fn assert_all_same(game: &Game) {
    let scalar = Kernel::new(Isa::Scalar).unwrap();
    let (folder, _) = game.solve(Way::usual());
    let expected = database_files(folder.path());
    let (slow, _) = game.solve(Way { kernel: scalar, ..Way::usual() });
    assert_same_files(&database_files(slow.path()), &expected, "update logs with the slow kernel");
    for baseline in IN_MEMORY {
        assert_same(game, baseline, scalar, 1, &expected);
    }
    for (number, baseline) in (1..).zip(IN_BLOCKS) {
        assert_same(game, baseline, Kernel::detect(), number % 3 + 1, &expected);
        assert_same(game, baseline, scalar, number % 2 + 1, &expected);
    }
}

#[test]
fn every_strategy_leaves_the_same_bytes_up_to_five_layers() {
    for layers in 1..=5 {
        for max_take in [None, Some(2)] {
            let board = Board::triangle(layers, max_take).unwrap();
            for rule in Rule::ALL {
                let mut layouts = vec![Layout::new(&board, &[]).unwrap(), Layout::suggested(&board, board.cells() / 2)];
                layouts.extend([1, 2, 3, 6].iter().filter_map(|kept| layout_with(&board, *kept, board.cells() / 4)));
                if board.cells() <= 6 {
                    // One position a block.
                    layouts.push(Layout::suggested(&board, 0));
                }
                for layout in layouts {
                    assert_all_same(&Game { board: board.clone(), rule, layout });
                }
            }
        }
    }
}

#[test]
fn every_strategy_leaves_the_same_bytes_with_six_layers() {
    let board = Board::triangle(6, None).unwrap();
    let asymmetric = [(1, 0), (2, 1), (4, 2), (5, 5)].map(|(row, col)| Cell::new(row, col));
    for (rule, layout) in [
        (Rule::Misere, Layout::suggested(&board, 15)),
        (Rule::Normal, Layout::suggested(&board, 18)),
        (Rule::Misere, Layout::new(&board, &asymmetric).unwrap()),
    ] {
        assert_all_same(&Game { board: board.clone(), rule, layout });
    }
}

#[test]
fn push_and_pull_leave_the_same_bytes_with_seven_layers() {
    let game = Game::triangle(7, Rule::Misere, 20).unwrap();
    let (folder, solved) = game.solve(Way::usual());
    assert_eq!(solved.manifest.census.losses(), 19_496_523);
    let expected = database_files(folder.path());
    for baseline in [Baseline::BlockPush(Redundancy::Remove), Baseline::BlockPull(Redundancy::Keep)] {
        assert_same(&game, baseline, Kernel::detect(), 2, &expected);
    }
}

#[test]
fn too_little_memory_is_refused_with_the_least_that_would_do() {
    let game = Game::triangle(5, Rule::Misere, 11).unwrap();
    for baseline in IN_MEMORY.into_iter().chain(IN_BLOCKS) {
        let disk = SimulatedStorage::new(1);
        let storage: Arc<dyn Storage> = Arc::new(disk.clone());
        let (metrics, counters) = <(Metrics, Counters)>::default();
        let mut options = options(&game, baseline, 1);
        let least = options.memory_bytes;
        options.memory_bytes -= 1;
        match baseline::solve(&game, Kernel::detect(), baseline, &storage, &options, &metrics, &counters) {
            Err(Error::Memory { needed_bytes, budget_bytes }) => {
                assert_eq!((needed_bytes, budget_bytes), (least, least - 1), "{baseline}");
            }
            other => panic!("{baseline}: {:?}", other.map(|solved| solved.database_bytes)),
        }
        assert_eq!(disk.steps(), 0, "{baseline}: something was touched");
        // Threads for which there is no memory do not run.
        options.memory_bytes = least;
        options.threads = 9;
        let solved =
            baseline::solve(&game, Kernel::detect(), baseline, &storage, &options, &metrics, &counters).unwrap();
        assert_eq!(solved.peak_leased_bytes, least, "{baseline}");
    }
}

/// Solves on a disk.
type Solver<'a> = &'a dyn Fn(&Arc<dyn Storage>) -> Result<Solved, Error>;

/// The kept parts of a result do not depend on the strategy either.
#[test]
fn every_strategy_keeps_the_same_counts_and_book() {
    let game = Game::triangle(5, Rule::Misere, 7).unwrap();
    for keep in [Keep::Counts, Keep::Book { pieces: 8 }] {
        let spec = Terms::from(keep).spec(&game);
        let (metrics, counters) = <(Metrics, Counters)>::default();
        let of = |by: Solver| {
            let disk = SimulatedStorage::new(1);
            by(&(Arc::new(disk.clone()) as Arc<dyn Storage>)).unwrap();
            published(&disk)
        };
        let way = Way::usual();
        let options = way.options(&game.layout);
        let expected = of(&|storage| solve(spec, way.kernel, storage, &options, &metrics, &|_| {}));
        for baseline in IN_BLOCKS.into_iter().chain(IN_MEMORY) {
            let options = self::options(&game, baseline, 2);
            let found =
                of(&|storage| baseline::solve(spec, way.kernel, baseline, storage, &options, &metrics, &counters));
            assert_same_files(&found, &expected, &format!("{keep}, {baseline}"));
        }
    }
}

/// Full disks, failing calls and the end of the process, at any step, cause an error, never a wrong
/// database. The leftovers are no finished database, and no strategy continues there.
#[test]
fn a_run_that_broke_off_anywhere_is_not_taken_for_a_result() {
    // More blocks than one commit takes.
    let game = Game::triangle(4, Rule::Normal, 2).unwrap();
    let (folder, _) = game.solve(Way::usual());
    let expected = database_files(folder.path());
    assert!(expected.len() > 70);
    let solve = |disk: &SimulatedStorage, baseline| {
        let storage: Arc<dyn Storage> = Arc::new(disk.clone());
        let (metrics, counters) = <(Metrics, Counters)>::default();
        let options = options(&game, baseline, 1);
        baseline::solve(&game, Kernel::detect(), baseline, &storage, &options, &metrics, &counters)
    };
    let mut random = Random::new(11);
    let (mut broken, mut full, mut committed) = (0, 0, 0);
    for baseline in IN_BLOCKS.into_iter().chain(IN_MEMORY) {
        let undisturbed = SimulatedStorage::new(1);
        solve(&undisturbed, baseline).unwrap();
        assert_same_files(&published(&undisturbed), &expected, &baseline.to_string());
        let steps = undisturbed.steps();
        for round in 0..60 {
            let fault = [Fault::Full, Fault::Stop, Fault::FailOnce][round % 3];
            let step = 1 + random.below(steps);
            let disk = SimulatedStorage::new(random.bits()).with_fault(step, fault);
            let story = format!("{baseline}, {fault:?} at step {step} of {steps}");
            match solve(&disk, baseline) {
                // An optional step may fail.
                Ok(_) => assert_same_files(&published(&disk), &expected, &story),
                Err(error) => {
                    broken += 1;
                    full += u32::from(error.is_full_disk());
                    assert!(!matches!(error, Error::Corrupt { .. } | Error::Workload { .. }), "{story}: {error}");
                }
            }
            let after = if random.below(2) == 0 { disk.kill() } else { disk.power_cut(random.bits()) };
            // `SUMS` completes a database.
            let left = published(&after);
            if left.contains_key("SUMS") {
                assert_same_files(&left, &expected, &story);
            }
            let begun = pipeline::checkpoint::inspect(&after).is_ok_and(|inspection| !inspection.records.is_empty());
            if begun {
                committed += 1;
                let refused = solve(&after, baseline).unwrap_err();
                assert!(matches!(refused, Error::NotEmpty { .. }), "{story}: {refused}");
            }
        }
    }
    println!("{broken} broken off, {full} by a full disk, {committed} with a part committed");
    assert!(broken > 200 && full > 50 && committed > 5);
}

/// Compares with the definition, not with another strategy.
#[test]
fn every_stored_value_is_that_of_the_reference() {
    for rule in Rule::ALL {
        let game = Game::triangle(4, rule, 6).unwrap();
        let values = reference::values(game.board.cells(), game.board.moves(), rule);
        for baseline in IN_BLOCKS.into_iter().chain(IN_MEMORY) {
            let folder = scratch();
            solve_in(folder.path(), &game, baseline, Kernel::detect(), 2).unwrap();
            let bitmaps = Bitmaps::of(&Database::open(folder.path()).unwrap());
            for (position, value) in bitmaps.stored() {
                assert_eq!(value, values[position as usize], "{rule}, {baseline}: stored value of {position:#x}");
            }
            for (position, value) in (0..).zip(&values) {
                assert_eq!(bitmaps.value(position), *value, "{rule}, {baseline}: value of {position:#x}");
            }
        }
    }
}

/// A finished folder of a baseline is like that of any other solve. An unfinished one is never
/// continued, and no baseline begins in the folder of a run.
#[test]
fn strategies_do_not_take_over_unfinished_folders() {
    let game = Game::triangle(5, Rule::Misere, 9).unwrap();
    let (kernel, pull) = (Kernel::detect(), Baseline::BlockPull(Redundancy::Keep));
    let folder = scratch();
    let path = folder.path();
    let solved = solve_in(path, &game, pull, kernel, 1).unwrap();
    let again = || Solve::new(&game.board, game.rule).in_folder(path);
    assert_eq!(again().unwrap().finished().unwrap().manifest, solved.manifest);
    std::fs::remove_file(path.join("db/SUMS")).unwrap();
    let begun = job::inspect(path).unwrap().unwrap();
    for job in [again(), Solve::from_parameters(&begun.parameters.0).unwrap().in_folder(path)] {
        match job.err().unwrap() {
            JobError::Run(Error::Parameters { name, found, wanted, .. }) => {
                assert_eq!((&*name, &*found, &*wanted), ("strategy", "block-pull", "update-log"));
            }
            error => panic!("{error}"),
        }
    }
    let of_logs = scratch();
    let way = Way::usual();
    game.solve_in(of_logs.path(), way, &way.options(&game.layout), &|_| {}).unwrap();
    for (folder, baseline) in [(path, pull), (of_logs.path(), Baseline::Retrograde)] {
        let files = database_files(folder);
        let refused = solve_in(folder, &game, baseline, kernel, 1).unwrap_err();
        assert!(matches!(refused, Error::NotEmpty { .. } | Error::Parameters { .. }), "{refused}");
        assert_same_files(&database_files(folder), &files, "refused");
    }
}
