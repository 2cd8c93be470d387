//! Whatever a solve keeps and whatever its values are: the same bytes by every way, and after every
//! stop, kill, power cut and error.

use crate::common::breaks::{break_off_anywhere, published};
use crate::common::{LARGEST, Stopping, Sweep, Way, assert_same_files, check, database_files, scratch};
use pipeline::{Error, Footprint, Metrics, Options, Placement, RealStorage, Run, Storage};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use testing::SimulatedStorage;
use trinim::database::{Game, Keep, Terms, Values};
use trinim::game::Rule;
use trinim::kernel::{Isa, Kernel};
use trinim::solve::{RemovalGame, solve};

/// What a solve keeps, of which rule.
fn kinds() -> [(Terms, Rule); 8] {
    let (of, pieces) = (|values| Terms { values, ..Terms::default() }, 8);
    [
        (Terms::default(), Rule::Misere),
        (Keep::Counts.into(), Rule::Misere),
        (Keep::Counts.into(), Rule::Normal),
        (Keep::Book { pieces }.into(), Rule::Misere),
        (Keep::Book { pieces }.into(), Rule::Normal),
        (of(Values::Nimbers), Rule::Normal),
        (of(Values::Remoteness), Rule::Normal),
        // The last moves are not losses.
        (of(Values::Remoteness), Rule::Misere),
    ]
}

fn options(game: &Game, terms: &Terms, way: Way) -> Options {
    let needed_bytes = Footprint::new(terms.spec(game).stream_words(), way.placement).bytes(way.threads);
    Options { memory_bytes: needed_bytes + way.spare_bytes, ..way.options(&game.layout) }
}

/// Solves, or continues.
fn solve_on(game: &Game, terms: &Terms, way: Way, storage: Arc<dyn Storage>, options: &Options) -> Result<(), Error> {
    solve(terms.spec(game), way.kernel, &storage, options, &Metrics::default(), &|_| {}).map(drop)
}

/// A finished folder, made without syncs: durability has its own tests.
pub fn solved(game: &Game, terms: &Terms, way: Way) -> TempDir {
    let folder = scratch();
    let storage = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
    solve_on(game, terms, way, storage, &options(game, terms, way)).unwrap();
    folder
}

/// Threads, memory, placement, codec and kernel change no byte.
#[test]
fn every_way_leaves_the_same_bytes() {
    let kernels = Isa::ALL.into_iter().filter_map(|isa| Kernel::new(isa).ok());
    let ways = [
        (1, Placement::Shared, "rows-bytes", 0),
        (2, Placement::Shared, "rows-huffman", 1 << 20),
        (4, Placement::Dedicated, "raw", 3 << 20),
        (4, Placement::Dedicated, "rows-huffman", 1 << 6),
    ];
    let kernels: Vec<Kernel> = kernels.collect();
    for (layers, bits) in [(5, 7), (5, 8), (6, 10), (6, 14)].into_iter().filter(|(layers, _)| *layers <= LARGEST) {
        // A few kinds of the large boards.
        for (terms, rule) in kinds().into_iter().take(if layers == 5 { 8 } else { 3 }) {
            let game = Game::triangle(layers, rule, bits).unwrap();
            let expected = database_files(solved(&game, &terms, Way::usual()).path());
            for (number, (threads, placement, codec, spare_bytes)) in ways.into_iter().enumerate() {
                let way = Way { threads, placement, codec, spare_bytes, kernel: kernels[number % kernels.len()] };
                let story = format!("{layers} layers, {bits} bits, {terms:?}, {rule}, {way:?}");
                assert_same_files(&database_files(solved(&game, &terms, way).path()), &expected, &story);
            }
        }
    }
}

/// A solve that is stopped after any number of blocks, early, late and in between.
#[test]
fn a_stopped_solve_continues() {
    for (terms, rule) in kinds() {
        let game = Game::triangle(5, rule, 8).unwrap();
        let expected = database_files(solved(&game, &terms, Way::usual()).path());
        for placement in [Placement::Shared, Placement::Dedicated] {
            let way = Way { placement, ..Way::usual() };
            for blocks in [1, 2, 5, 11, 17, game.layout.canonical_blocks().len() as u32 - 1] {
                let folder = scratch();
                let storage = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
                let options = options(&game, &terms, way);
                let workload = Stopping::new(RemovalGame::new(terms.spec(&game), way.kernel), blocks, &options);
                let ended = Run::new(&workload.without_logs(), storage.clone()).options(&options).start().map(drop);
                let story = format!("{terms:?}, {rule}, {placement:?}, {blocks}");
                assert!(matches!(ended, Err(Error::Interrupted) | Ok(())), "{story}: {:?}", ended.err());
                assert!(check(folder.path()).is_sound(), "{story}");
                solve_on(&game, &terms, way, storage, &self::options(&game, &terms, way)).unwrap();
                assert_same_files(&database_files(folder.path()), &expected, &story);
            }
        }
    }
}

/// A stop and an error at the steps of a solve on a failing disk, and often a second stop in its
/// recovery: the last session leaves the bytes of an undisturbed one and no log, and what it has
/// published survives a power cut.
#[test]
fn a_solve_that_broke_off_anywhere_ends_with_the_same_bytes() {
    let of = |values| Terms { values, ..Terms::default() };
    let (counts, book): (Terms, Terms) = (Keep::Counts.into(), Keep::Book { pieces: 5 }.into());
    for (terms, rule, placement) in [
        (counts, Rule::Misere, Placement::Dedicated),
        (counts, Rule::Misere, Placement::Shared),
        (book, Rule::Normal, Placement::Shared),
        (of(Values::Nimbers), Rule::Normal, Placement::Shared),
        (of(Values::Remoteness), Rule::Misere, Placement::Shared),
    ] {
        let game = Game::triangle(4, rule, if terms.values == Values::Outcomes { 6 } else { 5 }).unwrap();
        let expected = database_files(solved(&game, &terms, Way::usual()).path());
        let way = Way { placement, threads: 2, ..Way::usual() };
        let run = |disk: &SimulatedStorage| {
            let options = Options { commit_interval: Duration::from_micros(100), ..options(&game, &terms, way) };
            solve_on(&game, &terms, way, Arc::new(disk.clone()), &options)
        };
        // The end of a run is where a book is made: every step there, some before.
        let last = if matches!(terms.keep, Keep::Book { .. }) { 60 } else { 0 };
        let takes = |step: u64, steps: u64| step + last >= steps || step.is_multiple_of(Sweep::asked().number(4, 1));
        let (mut resumed, mut ending) = (0, 0);
        let broken = break_off_anywhere(&run, &takes, &expected, &mut |disk, last, story| {
            if let Ok(found) = pipeline::checkpoint::inspect(disk) {
                resumed += u32::from(!found.records.is_empty());
                ending += u32::from(found.records.len() == game.layout.canonical_blocks().len());
            }
            let left: Vec<_> = last.names().into_iter().filter(|name| name.starts_with("logs/")).collect();
            assert!(left.is_empty(), "{terms:?}, {rule}, {placement:?}, {story}: {left:?}");
            let later = last.power_cut(0);
            let whole = published(&later).into_iter().filter(|(name, _)| !name.ends_with(".part")).collect();
            assert_same_files(&whole, &expected, story);
            run(&later).unwrap_or_else(|error| panic!("{terms:?}, {story}, once more: {error}"));
            assert_same_files(&published(&later), &expected, story);
        });
        println!("{terms:?}, {rule}, {placement:?}: {broken} broken off, {resumed} resumed, {ending} ending");
        assert!(broken > 20 && resumed > 10, "{terms:?}: {broken}, {resumed}");
        assert!(last == 0 || broken > 100 && ending > 30, "{terms:?}: {broken}, {ending}");
    }
}
