//! What a solve keeps: with the counts alone, the census, its digest and the winning first moves
//! are those of the database, through every kill, error and damage, and nothing else is answered.

use crate::common::{
    Solving, Stopping, Sweep, Way, assert_same_files, check, copy, database_files, repair, scratch, tree,
};
use pipeline::{Error as RunError, Metrics, Options, Placement, RealStorage, Run, Storage};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use trinim::database::{Database, DatabaseError, FirstMoves, Game, Keep, Manifest, Terms};
use trinim::game::{Board, Rule, Value, reference};
use trinim::kernel::{Kernel, bitmap_words};
use trinim::maintenance;
use trinim::random::Random;
use trinim::solve::{RemovalGame, Solved, solve};

/// Solves, or continues, and keeps the counts.
fn count(game: &Game, storage: Arc<dyn Storage>, options: &Options) -> Result<Solved, RunError> {
    let spec = Terms::from(Keep::Counts).spec(game);
    solve(spec, Kernel::detect(), &storage, options, &Metrics::default(), &|_| {})
}

/// A finished folder with the counts.
fn counted(game: &Game, way: Way) -> TempDir {
    let folder = scratch();
    let storage = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
    count(game, storage, &way.options(&game.layout)).unwrap();
    folder
}

/// A folder in which a solve that keeps the counts was stopped with logs that are still needed.
fn stopped(game: &Game, placement: Placement) -> TempDir {
    let folder = scratch();
    let way = Way { placement, threads: 1, ..Way::usual() };
    let options = way.options(&game.layout);
    let third = game.layout.canonical_blocks().len() as u32 / 3;
    let workload = RemovalGame::new(Terms::from(Keep::Counts).spec(game), way.kernel);
    let storage = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
    let ended = Run::new(&Stopping::new(workload, third, &options), storage).options(&options).start().map(drop);
    assert!(matches!(ended, Err(RunError::Interrupted)), "{:?}", ended.err());
    folder
}

/// The winning moves of the full board by the definition.
fn winning(board: &Board, rule: Rule) -> Vec<u64> {
    let values = reference::values(board.cells(), board.moves(), rule);
    board.moves().iter().copied().filter(|taken| values[(board.full() ^ taken) as usize].is_loss()).collect()
}

/// Census, digest and start are those of the database, and the winning first moves those of the
/// definition, in layouts with one block, with several and with the most.
#[test]
fn the_counts_do_not_depend_on_what_is_kept() {
    let mut several = 0;
    for layers in 1..=5 {
        for rule in Rule::ALL {
            for bits in [1, layers, 7, 15] {
                for take in [None, Some(2)].into_iter().filter(|take| take.is_none() || layers == 4) {
                    let board = Board::triangle(layers, take).unwrap();
                    let layout = trinim::layout::Layout::suggested(&board, bits);
                    if layout.canonical_blocks().len() > 500 {
                        continue;
                    }
                    let game = Game { board, rule, layout };
                    let story = format!("{layers} layers, {rule}, {bits} bits, {take:?}");
                    let whole = game.solve(Way::usual()).1.manifest;
                    let folder = counted(&game, Way::usual());
                    assert_eq!(database_files(folder.path()).keys().collect::<Vec<_>>(), ["SUMS", "manifest.json"]);
                    let database = Database::open(folder.path()).unwrap();
                    database.check_manifest().unwrap();
                    let found = database.manifest();
                    assert_eq!(
                        (&found.digest, &found.census, &found.blocks),
                        (&whole.digest, &whole.census, &whole.blocks)
                    );
                    let wins = winning(&game.board, rule);
                    assert_eq!(found.winning_first_moves.as_ref(), Some(&wins), "{story}");
                    assert_eq!((found.keep, whole.keep), (Keep::Counts, Keep::Database));
                    several += u32::from(game.layout.canonical_blocks().len() > 1);
                    let (parsed, _) = Manifest::parse(Path::new("manifest.json"), &found.to_json()).unwrap();
                    assert_eq!(&parsed, found, "{story}");
                }
            }
        }
    }
    assert!(several > 10, "{several}");
}

/// A block keeps the values after all first moves that lead into it, also if a word has no room for
/// them: those of any bitmaps.
#[test]
fn the_value_after_every_first_move_is_kept() {
    let (mut random, mut most) = (Random::new(5), 0);
    for (layers, bits) in [(3, 6), (5, 9), (5, 15), (6, 15), (6, 21)] {
        let mut game = Game::triangle(layers, Rule::Misere, bits).unwrap();
        // Up to a symmetry, few moves lead into a block.
        game.layout = if layers == 6 { game.layout.without_symmetries() } else { game.layout };
        let (first_moves, Game { board, layout, .. }) = (FirstMoves::new(&game), &game);
        let mut bitmap = || -> Vec<u64> { (0..bitmap_words(layout.offset_bits())).map(|_| random.bits()).collect() };
        let bitmaps: Vec<Vec<u64>> = layout.ordinals().map(|_| bitmap()).collect();
        let is_loss = |taken: &&u64| {
            let (block, offset) = layout.locate(board.full() ^ **taken);
            bitmaps[block.index()][offset as usize / 64] >> (offset % 64) & 1 == 1
        };
        let kept = layout.ordinals().map(|block| (block, first_moves.values(block, &bitmaps[block.index()])));
        let winning = first_moves.winning(&kept.collect());
        assert_eq!(winning, Some(board.moves().iter().filter(is_loss).copied().collect()), "{layers}, {bits}");
        most = most.max(layout.ordinals().map(|block| first_moves.words(block)).max().unwrap());
    }
    assert!(most > 1, "no block has many first moves");
}

/// The counts of a board have those of every smaller board, by the definition, whatever the cut.
#[test]
fn the_counts_of_a_board_have_those_of_the_smaller_ones() {
    let mut cut = 0;
    for rule in Rule::ALL {
        for take in [None, Some(2)] {
            let losses = |layers: u32| {
                let board = Board::triangle(layers, take).unwrap();
                let values = reference::values(board.cells(), board.moves(), rule);
                values.into_iter().filter(|value| value.is_loss()).count() as u64
            };
            let expected: Vec<u64> = (1..=5).map(losses).collect();
            for (layers, bits) in [(1, 1), (3, 2), (5, 4), (5, 8), (5, 15), (6, 12), (6, 21)] {
                let board = Board::triangle(layers, take).unwrap();
                let layout = trinim::layout::Layout::suggested(&board, bits);
                cut += u32::from(layout.bid_bits() > 2);
                let folder = counted(&Game { board, rule, layout }, Way::usual());
                let database = Database::open(folder.path()).unwrap();
                database.check_manifest().unwrap();
                let manifest = database.manifest();
                let rows = manifest.by_layers.as_ref().unwrap();
                let numbered: Vec<(u32, u64)> = rows.iter().map(|row| (row.layers, row.positions)).collect();
                let boards: Vec<(u32, u64)> = (1..=layers).map(|k| (k, 1 << (k * (k + 1) / 2))).collect();
                assert_eq!(numbered, boards);
                let found: Vec<u64> = rows.iter().map(|row| row.losses).collect();
                let mut whole = expected.clone();
                whole.truncate(layers as usize);
                whole.resize(layers as usize, manifest.census.losses());
                assert_eq!(found, whole, "{layers} layers, {bits} bits, {rule}, {take:?}");

                // Wrong rows are damage.
                type Spoil = fn(&mut Vec<trinim::database::LayerCount>);
                let spoilt: [Spoil; 4] = [
                    |rows| rows[0].positions += 1,
                    |rows| rows.last_mut().unwrap().losses += 1,
                    |rows| rows[0].losses = 3,
                    |rows| rows.truncate(rows.len() - 1),
                ];
                for spoil in spoilt {
                    let mut other = manifest.clone();
                    spoil(other.by_layers.as_mut().unwrap());
                    let error = other.check(Path::new("manifest.json"), database.game()).unwrap_err();
                    assert!(error.to_string().contains("losses by layers"), "{error}");
                }
            }
        }
    }
    assert!(cut > 10, "{cut}");
}

/// A folder with the counts is never continued as one with the database, nor the reverse.
#[test]
fn another_choice_is_another_run() {
    let game = Game::triangle(4, Rule::Normal, 6).unwrap();
    let way = Way::usual();
    let folder = counted(&game, way);
    let error = game.solve_in(folder.path(), way, &way.options(&game.layout), &|_| {}).err().unwrap();
    let RunError::Parameters { name, found, .. } = error else { panic!("{error}") };
    assert_eq!((&*name, &*found), ("keep", "counts"));
    let (folder, _) = game.solve(way);
    let storage = Arc::new(RealStorage::create(folder.path()).unwrap());
    let error = count(&game, storage, &way.options(&game.layout)).err().unwrap();
    assert!(matches!(error, RunError::Parameters { ref name, .. } if name == "keep"), "{error}");
}

/// Every changed bit and length of manifest and `SUMS` is found; no answer comes from them. The run
/// restores both; without it, both stay as they are.
#[test]
fn damage_of_the_lists_is_found_and_the_run_restores_it() {
    let game = Game::triangle(3, Rule::Misere, 3).unwrap();
    let folder = counted(&game, Way::usual());
    let (run, db) = (folder.path(), folder.path().join("db"));
    let alone = scratch();
    let golden = database_files(run);
    let full = game.board.full();
    let wins = winning(&game.board, Rule::Misere);
    let sweep = Sweep::asked();
    let mut cases = 0;
    for (name, bytes) in &golden {
        for (number, (story, bad)) in sweep.spoil(bytes).enumerate() {
            let story = format!("{name}: {story}");
            fs::write(db.join(name), &bad).unwrap();
            assert!(!check(run).is_sound(), "{story}");
            match Database::open(run) {
                Err(error) => assert!(
                    matches!(error, DatabaseError::Corrupt { .. } | DatabaseError::Version { .. }),
                    "{story}: {error}"
                ),
                Ok(database) => {
                    for taken in game.board.moves() {
                        let right = Value::from_loss(wins.contains(taken));
                        match database.value(full ^ taken) {
                            Ok(value) => assert_eq!(value, right, "{story}"),
                            Err(error) => assert!(matches!(error, DatabaseError::Corrupt { .. }), "{story}: {error}"),
                        }
                    }
                }
            }
            // Checks and repairs of whole folders take longer.
            if number % 5 == 0 {
                fs::remove_dir_all(alone.path()).unwrap();
                copy(&db, alone.path());
                let before = tree(alone.path());
                assert!(!check(alone.path()).is_sound(), "{story}, alone");
                match repair(alone.path()) {
                    // A wrong line of another file beside the right one of the manifest.
                    Ok(()) => assert_same_files(&alone_files(alone.path()), &golden, &story),
                    Err(maintenance::Error::Irreparable { .. }) => assert!(tree(alone.path()) == before, "{story}"),
                    Err(error) => panic!("{story}: {error}"),
                }
                repair(run).unwrap_or_else(|error| panic!("{story}: {error}"));
                assert_same_files(&database_files(run), &golden, &story);
                assert!(check(run).is_sound());
            }
            cases += 1;
        }
        fs::write(db.join(name), bytes).unwrap();
    }
    assert!(cases as u64 > sweep.number(1500, 9000), "{cases}");
    for name in golden.keys() {
        fs::remove_file(db.join(name)).unwrap();
        let storage = Arc::new(RealStorage::create(run).unwrap());
        count(&game, storage, &Way::usual().options(&game.layout)).unwrap();
        assert_same_files(&database_files(run), &golden, name);
    }
}

fn alone_files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = tree(folder).into_iter();
    files.map(|(path, bytes)| (path.file_name().unwrap().to_string_lossy().into_owned(), bytes)).collect()
}

/// A self-consistent manifest with other values is damage as long as `SUMS` says so.
#[test]
fn a_forged_manifest_is_found_by_its_line() {
    let game = Game::triangle(3, Rule::Normal, 3).unwrap();
    let folder = counted(&game, Way::usual());
    let db = folder.path().join("db");
    let text = fs::read_to_string(db.join("manifest.json")).unwrap();
    let mut manifest = Manifest::parse(Path::new("manifest.json"), text.as_bytes()).unwrap().0;
    let all: Vec<u64> = game.board.moves().to_vec();
    assert_ne!(manifest.winning_first_moves.as_ref(), Some(&all));
    manifest.winning_first_moves = Some(all);
    manifest.check(Path::new("manifest.json"), &game).unwrap();
    fs::write(db.join("manifest.json"), manifest.to_json()).unwrap();
    let database = Database::open(folder.path()).unwrap();
    assert!(matches!(database.value(game.board.full() ^ 1), Err(DatabaseError::Corrupt { .. })));
    assert!(!check(&db).is_sound() && !check(folder.path()).is_sound());
    // What contradicts itself is damage even if `SUMS` agrees.
    for wrong in [vec![], vec![1]] {
        manifest.winning_first_moves = Some(wrong);
        let bytes = manifest.to_json();
        fs::write(db.join("manifest.json"), &bytes).unwrap();
        fs::write(db.join("SUMS"), format!("{}  manifest.json\n", blake3::hash(&bytes))).unwrap();
        assert!(!check(&db).is_sound());
        let database = Database::open(folder.path()).unwrap();
        assert!(matches!(database.value(game.board.full()), Err(DatabaseError::Corrupt { .. })));
    }
}

/// Without published files, a damaged log has no source: repair says so and changes nothing. Copies
/// of the metadata come back as ever, and the run goes on.
#[test]
fn a_damaged_log_is_refused_and_metadata_are_repaired() {
    let game = Game::triangle(5, Rule::Misere, 8).unwrap();
    let expected = database_files(counted(&game, Way::usual()).path());
    for placement in [Placement::Dedicated, Placement::Shared] {
        let folder = stopped(&game, placement);
        let path = folder.path();
        assert!(check(path).is_sound());
        let logs: Vec<_> = fs::read_dir(path.join("logs")).unwrap().map(|entry| entry.unwrap().path()).collect();
        let mut refused = 0;
        for log in &logs {
            let bytes = fs::read(log).unwrap();
            let mut bad = bytes.clone();
            bad[20] ^= 1;
            fs::write(log, &bad).unwrap();
            if !check(path).is_sound() {
                let before = tree(path);
                let Err(maintenance::Error::Irreparable { path: named, reason }) = repair(path) else {
                    panic!("{placement:?}")
                };
                assert_eq!(&named, log);
                assert!(reason.contains("keeps counts only"), "{reason}");
                assert!(tree(path) == before);
                refused += 1;
            }
            fs::write(log, &bytes).unwrap();
        }
        assert!(refused > 3, "{placement:?}: {refused} of {}", logs.len());
        for name in ["FORMAT", "m/manifest.1.b"] {
            fs::write(path.join(name), b"damage").unwrap();
            if path.join(name).exists() {
                repair(path).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(check(path).is_sound(), "{name}");
            }
        }
        let storage = Arc::new(RealStorage::create(path).unwrap());
        count(&game, storage, &Way::usual().options(&game.layout)).unwrap();
        assert_same_files(&database_files(path), &expected, &format!("{placement:?}"));
    }
}
