//! Solves of up to seven layers in every way.

use super::book::bound;
use super::parts::solver;
use crate::common::{Bitmaps, Solving, Way, assert_same_files, database_files, scratch};
use crate::numbers;
use pipeline::{Error, Event, Placement};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use trinim::database::{Database, DatabaseError, Game, Values};
use trinim::game::{Board, Rule, Value, published, reference};
use trinim::kernel::{Isa, Kernel};
use trinim::random::Random;
use trinim::solve::parts::DISTANCE_PIECES_MAX;

#[test]
fn solutions_are_the_pinned_ones() {
    let mut lines = vec!["# layers rule offset_bits_at_most canonical_blocks losses digest".to_string()];
    for layers in 1..=7u32 {
        let cells = layers * (layers + 1) / 2;
        for rule in Rule::ALL {
            let mut values_digest = None;
            for bits in [cells / 2, cells.min(22)] {
                let game = Game::triangle(layers, rule, bits).unwrap();
                let manifest = game.solve(Way { spare_bytes: 64 << 20, ..Way::usual() }).1.manifest;
                let census = &manifest.census;
                let of_values = manifest.values_digest(&game);
                assert_eq!(*values_digest.get_or_insert(of_values.clone()), of_values, "{layers} layers, {rule}");
                if rule == Rule::Misere {
                    assert_eq!(Some(census.losses()), published::losses(layers, Rule::Misere), "{layers} layers");
                }
                assert_eq!(Some(census.start()), published::start(layers, rule), "{layers} layers, {rule}");
                let blocks = manifest.blocks.len();
                lines.push(format!("{layers} {rule} {bits} {blocks} {} {}", census.losses(), manifest.digest));
            }
        }
    }
    let found = lines.join("\n") + "\n";
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/digests.txt");
    if std::env::var_os("TRINIM_GOLDEN").is_some_and(|what| what == "write") {
        std::fs::write(&golden, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found, expected);
}

/// Solves seven layers in blocks of a few KiB with the least memory: every block goes through logs
/// in files, a hundred thousand log entries in all. Varies every option that must not change the
/// result, one at a time and all at once.
fn solve_seven_layers_in_every_way(rule: Rule) -> (tempfile::TempDir, Game) {
    let game = Game::triangle(7, rule, 16).unwrap();
    let usual = Way::usual();
    let (folder, solved) = game.solve(usual);
    let expected = database_files(folder.path());
    let mut ways = vec![
        Way { threads: 1, ..usual },
        Way { threads: 3, spare_bytes: 1 << 20, ..usual },
        Way { placement: Placement::Shared, ..usual },
        Way { threads: 4, placement: Placement::Shared, codec: "rows-bytes", spare_bytes: 256 << 20, ..usual },
    ];
    // Cycle through codecs together with placements and threads.
    for (index, codec) in pipeline::codec::all().iter().enumerate() {
        let placement = if index % 2 == 0 { Placement::Shared } else { Placement::Dedicated };
        ways.push(Way { codec: codec.name(), placement, threads: 1 + index % 3, ..usual });
    }
    for isa in Isa::available() {
        let kernel = Kernel::new(isa).unwrap();
        println!("{rule}: kernel {isa}");
        ways.push(Way { kernel, placement: Placement::Shared, ..usual });
    }
    for way in ways {
        let (other, again) = game.solve(way);
        assert_eq!(again.manifest.digest, solved.manifest.digest, "{way:?}");
        assert_same_files(&database_files(other.path()), &expected, &format!("{way:?}"));
    }
    (folder, game)
}

/// Checks that the positions with an empty last row are those of the board with one layer less.
fn assert_smaller_board_inside(bitmaps: &Bitmaps, rule: Rule) {
    let board = Board::triangle(6, None).unwrap();
    let values = reference::values(board.cells(), board.moves(), rule);
    let wrong = (0..).zip(&values).find(|(position, value)| bitmaps.value(*position) != **value);
    assert_eq!(wrong, None, "{rule}: a position of six layers on the board of seven");
}

#[test]
fn seven_layers_misere_in_every_way() {
    let (folder, game) = solve_seven_layers_in_every_way(Rule::Misere);
    let database = Database::open(folder.path()).unwrap();
    assert_eq!(Some(database.manifest().census.losses()), published::losses(7, Rule::Misere));
    assert_eq!(database.manifest().census.start(), Value::Win);
    assert_smaller_board_inside(&Bitmaps::of(&database), game.rule);
}

#[test]
fn seven_layers_normal_in_every_way() {
    let (folder, game) = solve_seven_layers_in_every_way(Rule::Normal);
    let database = Database::open(folder.path()).unwrap();
    let bitmaps = Bitmaps::of(&database);
    assert_smaller_board_inside(&bitmaps, game.rule);
    // Sparse positions fall into small components, whose Grundy values decide.
    let (mut random, mut positions, mut losses) = (Random::new(7), 0, 0);
    while positions < 2000 {
        let position = random.bits() & random.bits() & game.board.full();
        if position.count_ones() > 9 {
            continue;
        }
        let loss = reference::grundy(game.board.moves(), position) == 0;
        assert_eq!(bitmaps.value(position), Value::from_loss(loss), "{position:#x}");
        assert_eq!(database.value(position).unwrap(), Value::from_loss(loss), "{position:#x}");
        positions += 1;
        losses += u32::from(loss);
    }
    assert!(losses > 50, "only {losses} losses among {positions} positions");
}

/// Stops after a few commits, repeatedly, and continues with other options each time.
#[test]
fn an_interrupted_solve_leaves_the_same_files() {
    let mut random = Random::new(3);
    let mut sessions = 0;
    for rule in Rule::ALL {
        let game = Game::triangle(7, rule, 17).unwrap();
        let (undisturbed, _) = game.solve(Way::usual());
        let expected = database_files(undisturbed.path());
        for _ in 0..3 {
            let folder = scratch();
            let mut finished = false;
            while !finished {
                let placement = if random.below(2) == 0 { Placement::Shared } else { Placement::Dedicated };
                let codec = pipeline::codec::all()[random.index(pipeline::codec::all().len())].name();
                let threads = 1 + random.below(3) as usize;
                let way = Way { threads, placement, codec, spare_bytes: random.below(2) << 22, ..Way::usual() };
                let mut options = way.options(&game.layout);
                options.commit_interval = std::time::Duration::from_millis(1);
                let commits_left = AtomicU32::new(1 + random.below(3) as u32);
                let stop = options.stop.clone();
                let observer = |event: &Event| {
                    let is_commit = matches!(event, Event::Committed { .. });
                    if is_commit && commits_left.fetch_sub(1, Ordering::Relaxed) == 1 {
                        stop.store(true, Ordering::Relaxed);
                    }
                };
                finished = match game.solve_in(folder.path(), way, &options, &observer) {
                    Ok(_) => true,
                    Err(Error::Interrupted) => {
                        let opened = Database::open(folder.path());
                        assert!(matches!(opened, Err(DatabaseError::Missing { .. })), "an unfinished database opens");
                        false
                    }
                    Err(error) => panic!("session {sessions}, {way:?}: {error}"),
                };
                sessions += 1;
                assert!(sessions < 5000, "no progress");
            }
            assert_same_files(&database_files(folder.path()), &expected, &format!("{rule}, interrupted"));
        }
    }
    println!("{sessions} sessions");
    assert!(sessions > 20, "only {sessions} sessions: the solves were hardly interrupted");
}

/// Six and seven layers, against the database.
#[test]
fn books_of_large_boards_agree_with_the_database() {
    for (layers, bits, pieces) in [(6, 12, 13), (6, 15, 9), (7, 20, 18)] {
        for rule in Rule::ALL {
            let game = Game::triangle(layers, rule, bits).unwrap();
            let way = Way { placement: Placement::Shared, ..Way::usual() };
            let (whole, solved) = game.solve(way);
            let bitmaps = Bitmaps::of(&Database::open(whole.path()).unwrap());
            let folder = bound(&game, pieces, way);
            let database = Database::open(folder.path()).unwrap();
            assert_eq!(database.manifest().digest, solved.manifest.digest);
            let mut seen = 0;
            let mut random = Random::new(3);
            for _ in 0..200_000 {
                // Take a few pieces of the full board.
                let mut position = game.board.full();
                for _ in 0..random.below(u64::from(game.board.cells() - pieces) + 1) {
                    position &= !(1 << random.below(game.board.cells().into()));
                }
                assert_eq!(database.value(position).unwrap(), bitmaps.value(position), "{position:#x}");
                seen += 1;
            }
            let losses = database.book().unwrap().unwrap().losses();
            // More than one frame.
            assert!(seen > 0 && losses > if layers == 7 { 1 << 16 } else { 0 }, "{losses}");
        }
    }
}

/// With little memory, parts are solved by update logs; every answer is that of the database, and
/// so are the distances of small positions.
#[test]
fn parts_of_seven_layers_agree_with_the_database() {
    for rule in Rule::ALL {
        let game = Game::triangle(7, rule, 20).unwrap();
        let of_whole = numbers::solved(&game, Values::Remoteness, Way { spare_bytes: 64 << 20, ..Way::usual() });
        let database = Database::open(of_whole.path()).unwrap();
        let folder = scratch();
        // 1 MiB holds the bitmap of 22 pieces; the run takes what it needs.
        let mut solver = solver(&game.board, rule, folder.path(), 24 << 20);
        let mut random = Random::new(7);
        for pieces in [28, 27, 25, 12, 27, 20] {
            let mut position = game.board.full();
            while position.count_ones() > pieces {
                position &= !(1 << random.below(28));
            }
            let (mut found, mut expected) = (solver.probe(position).unwrap(), database.probe(position).unwrap());
            if pieces > DISTANCE_PIECES_MAX {
                expected.distance = None;
                expected.children.iter_mut().for_each(|child| child.distance = None);
                expected.children.sort_by_key(|child| (child.value == Value::Win, child.taken));
            }
            // Components of more pieces would take too much of the memory.
            assert_eq!(found.nimber.is_some(), rule == Rule::Normal && pieces <= 22, "{pieces} pieces");
            found.nimber = None;
            found.children.iter_mut().for_each(|child| child.nimber = None);
            assert_eq!(found, expected, "{rule} {position:#x}");
        }
    }
}
