//! The book of a solve: the values of positions with many pieces, the same bytes for every layout
//! and history, and nothing but right answers or errors from damaged bytes.

use crate::common::{
    Stopping, Sweep, Way, assert_same_files, check, database_files, layout_with, repair, scratch, tree,
};
use pipeline::{Error as RunError, Metrics, Options, RealStorage, Run, Storage};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use trinim::database::book::order::canonical;
use trinim::database::{Database, DatabaseError, Game, Keep, Terms};
use trinim::game::{Board, Rule, reference};
use trinim::kernel::Kernel;
use trinim::layout::Layout;
use trinim::maintenance;
use trinim::solve::{RemovalGame, Solved, solve};

fn bind(game: &Game, pieces: u32, storage: Arc<dyn Storage>, options: &Options) -> Result<Solved, RunError> {
    let spec = Terms::from(Keep::Book { pieces }).spec(game);
    solve(spec, Kernel::detect(), &storage, options, &Metrics::default(), &|_| {})
}

pub fn bound(game: &Game, pieces: u32, way: Way) -> TempDir {
    let folder = scratch();
    let storage = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
    bind(game, pieces, storage, &way.options(&game.layout)).unwrap();
    folder
}

fn book_of(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("db/book")).unwrap()
}

/// Every position with enough pieces has the value of the definition, every other one is refused
/// but those after a first move; in every layout the book has the same bytes.
#[test]
fn books_agree_with_the_definition_in_every_layout() {
    let mut layouts = 0;
    for layers in 1..=5 {
        let board = Board::triangle(layers, None).unwrap();
        let cells = board.cells();
        for rule in Rule::ALL {
            let values = reference::values(cells, board.moves(), rule);
            for pieces in [0, cells / 2, cells.saturating_sub(3), cells] {
                let mut cuts = vec![Layout::suggested(&board, cells), Layout::suggested(&board, cells * 3 / 5)];
                cuts.extend([1, 2, 3].iter().filter_map(|kept| layout_with(&board, *kept, cells / 3)));
                let mut first: Option<Vec<u8>> = None;
                for layout in cuts {
                    let game = Game { board: board.clone(), rule, layout };
                    let folder = bound(&game, pieces, Way::usual());
                    let story = format!("{layers} layers, {rule}, book:{pieces}, {:?}", game.layout.bid_cells());
                    let files = database_files(folder.path());
                    assert_eq!(files.keys().collect::<Vec<_>>(), ["SUMS", "book", "manifest.json"], "{story}");
                    let bytes = book_of(folder.path());
                    assert!(*first.get_or_insert_with(|| bytes.clone()) == bytes, "{story}");
                    assert!(check(folder.path()).is_sound() && check(&folder.path().join("db")).is_sound(), "{story}");
                    let database = Database::open(folder.path()).unwrap();
                    let kept =
                        |position: u64| position.count_ones() >= pieces && canonical(&board, position) == position;
                    let losses = (0..).zip(&values).filter(|(position, value)| value.is_loss() && kept(*position));
                    let book = database.book().unwrap().unwrap();
                    assert_eq!(book.losses(), losses.count() as u64, "{story}");
                    assert_eq!(book.file_bytes(), bytes.len() as u64, "{story}");
                    for (position, value) in (0..).zip(&values) {
                        let is_first = board.moves().contains(&(board.full() ^ position));
                        match database.value(position) {
                            Ok(found) => assert_eq!(found, *value, "{story}: {position:#x}"),
                            Err(DatabaseError::NotKept { .. }) => {
                                assert!(position.count_ones() < pieces && !is_first, "{story}: {position:#x}");
                            }
                            Err(error) => panic!("{story}: {error}"),
                        }
                        if position.count_ones() < pieces && !is_first {
                            assert!(database.value(position).is_err(), "{story}: {position:#x}");
                        }
                    }
                    layouts += 1;
                }
            }
        }
    }
    assert!(layouts > 80, "{layouts}");
}

/// Every changed bit and length of a book is found by the check and gives no wrong answer; repair
/// refuses, and changes nothing.
#[test]
fn damage_of_a_book_is_found() {
    let game = Game::triangle(4, Rule::Misere, 10).unwrap();
    let folder = bound(&game, 4, Way::usual());
    let path = folder.path().join("db/book");
    let golden = fs::read(&path).unwrap();
    let values = reference::values(game.board.cells(), game.board.moves(), game.rule);
    let sweep = Sweep::asked();
    let longer = [1, 32, 4096].map(|more| (format!("{more} more"), [&golden[..], &vec![0; more]].concat()));
    let mut cases = 0;
    for (number, (story, bad)) in sweep.spoil(&golden).chain(longer).enumerate() {
        fs::write(&path, &bad).unwrap();
        let database = Database::open(folder.path()).unwrap();
        for (position, value) in (0..).zip(&values) {
            match database.value(position) {
                Ok(found) => assert_eq!(found, *value, "{story}: {position:#x}"),
                Err(DatabaseError::Corrupt { path: named, .. } | DatabaseError::Version { path: named, .. }) => {
                    assert_eq!(named, path)
                }
                Err(DatabaseError::NotKept { .. }) => assert!(position.count_ones() < 4),
                Err(error) => panic!("{story}: {error}"),
            }
        }
        assert!(!check(folder.path()).is_sound(), "{story}");
        assert!(!check(&folder.path().join("db")).is_sound(), "{story}");
        if number % 7 == 0 {
            let before = tree(folder.path());
            for place in [folder.path().to_path_buf(), folder.path().join("db")] {
                let refused = repair(&place);
                assert!(matches!(refused, Err(maintenance::Error::Irreparable { .. })), "{story}: {refused:?}");
            }
            assert!(tree(folder.path()) == before, "{story}");
        }
        cases += 1;
    }
    assert!(cases > 150, "{cases}");
    fs::remove_file(&path).unwrap();
    assert!(!check(folder.path()).is_sound());
    fs::write(&path, &golden).unwrap();
    // The book of another rule and of other pieces.
    for other in [
        bound(&Game::triangle(4, Rule::Normal, 10).unwrap(), 4, Way::usual()),
        bound(&game, 5, Way::usual()),
        bound(&Game::triangle(3, Rule::Misere, 6).unwrap(), 4, Way::usual()),
    ] {
        fs::write(&path, book_of(other.path())).unwrap();
        assert!(!check(folder.path()).is_sound());
        let database = Database::open(folder.path()).unwrap();
        assert!(matches!(database.value(game.board.full() ^ 0b10_0010), Err(DatabaseError::Corrupt { .. })));
    }
    // Manifest and SUMS come back from the journal and the book.
    fs::write(&path, &golden).unwrap();
    let sound = database_files(folder.path());
    for name in ["manifest.json", "SUMS"] {
        fs::remove_file(folder.path().join("db").join(name)).unwrap();
        let storage = Arc::new(RealStorage::create(folder.path()).unwrap());
        // A program that another test starts shares the lock until it runs.
        let bound = || bind(&game, 4, storage.clone(), &Way::usual().options(&game.layout));
        while let Err(error) = bound() {
            assert!(matches!(error, pipeline::Error::Locked { .. }), "{error}");
        }
        assert_same_files(&database_files(folder.path()), &sound, name);
        fs::write(folder.path().join("db").join(name), "damage").unwrap();
        repair(folder.path()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_same_files(&database_files(folder.path()), &sound, name);
    }
}

/// A damaged part of an unfinished run is found and refused; the run is otherwise repaired.
#[test]
fn a_damaged_part_is_refused() {
    let game = Game::triangle(5, Rule::Misere, 8).unwrap();
    let folder = scratch();
    let way = Way { threads: 1, ..Way::usual() };
    let options = way.options(&game.layout);
    let most = game.layout.canonical_blocks().len() as u32 * 2 / 3;
    let workload = RemovalGame::new(Terms::from(Keep::Book { pieces: 3 }).spec(&game), way.kernel);
    let storage = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
    let ended = Run::new(&Stopping::new(workload, most, &options), storage).options(&options).start().map(drop);
    assert!(matches!(ended, Err(RunError::Interrupted)), "{:?}", ended.err());
    assert!(check(folder.path()).is_sound());
    let mut parts = 0;
    for (path, bytes) in tree(&folder.path().join("db")) {
        let mut bad = bytes.clone();
        *bad.last_mut().unwrap() ^= 1;
        fs::write(&path, &bad).unwrap();
        assert!(!check(folder.path()).is_sound());
        let Err(maintenance::Error::Irreparable { path: named, .. }) = repair(folder.path()) else {
            panic!("{path:?}")
        };
        assert_eq!(named, path);
        fs::write(&path, &bytes).unwrap();
        parts += 1;
    }
    assert!(parts > 3, "{parts}");
    fs::write(folder.path().join("FORMAT"), b"damage").unwrap();
    repair(folder.path()).unwrap();
    let storage = Arc::new(RealStorage::create(folder.path()).unwrap());
    bind(&game, 3, storage, &Way::usual().options(&game.layout)).unwrap();
    assert_same_files(&database_files(folder.path()), &database_files(bound(&game, 3, Way::usual()).path()), "resumed");
}

/// A book that is lost while the journal still names its parts: the repair says where it comes
/// from, and the same solve makes it.
#[test]
fn a_lost_book_comes_from_its_parts() {
    let game = Game::triangle(4, Rule::Misere, 6).unwrap();
    let whole = database_files(bound(&game, 3, Way::usual()).path());
    let folder = scratch();
    let options = Way::usual().options(&game.layout);
    let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
    let workload = RemovalGame::new(Terms::from(Keep::Book { pieces: 3 }).spec(&game), Kernel::detect());
    Run::new(&workload, storage.clone()).options(&options).start().map(drop).unwrap();
    // Without the lists the solve was stopped before it made the book, which is not damage.
    assert!(check(folder.path()).is_sound());
    for name in ["manifest.json", "SUMS"] {
        fs::write(folder.path().join("db").join(name), &whole[name]).unwrap();
    }
    assert!(!check(folder.path()).is_sound());
    let before = tree(folder.path());
    let refused = repair(folder.path()).unwrap_err().to_string();
    assert!(refused.contains("rebuilds the file from its parts"), "{refused}");
    assert!(tree(folder.path()) == before);
    bind(&game, 3, storage, &options).unwrap();
    assert_same_files(&database_files(folder.path()), &whole, "bound after all");
    fs::remove_file(folder.path().join("db/book")).unwrap();
    let refused = repair(folder.path()).unwrap_err().to_string();
    assert!(refused.contains("the blocks it was made from are gone"), "{refused}");
}
