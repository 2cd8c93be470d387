//! Whole solves on real folders: correct values, and the same bytes with every option.
//!
//! Golden data: `golden/digests.txt`, one solution a line. A change of the layout, of the digest's
//! definition or of a value shows there, and
//! `TRINIM_GOLDEN=write cargo test --test library solutions_are_the_pinned_ones` rewrites it.

use crate::common::{Bitmaps, LARGEST, Solving, Way, assert_same_files, database_files, layout_with, scratch};
use pipeline::{BlockId, Placement, Workload};
use std::collections::BTreeSet;
use std::path::Path;
use trinim::database::{Database, DatabaseError, Game};
use trinim::game::Rule;
use trinim::game::published;
use trinim::game::reference;
use trinim::game::{Board, Cell};
use trinim::kernel::{Isa, Kernel};
use trinim::layout::Layout;
use trinim::random::Random;
use trinim::solve::RemovalGame;

/// Returns layouts of every kind: one block; as suggested; one position a block; and BID sets
/// preserved by some or none of the symmetries.
fn layouts(board: &Board) -> Vec<Layout> {
    let mut layouts = vec![Layout::new(board, &[]).unwrap(), Layout::suggested(board, board.cells() / 2)];
    if board.cells() <= 10 {
        layouts.push(Layout::suggested(board, 0));
    }
    layouts.extend([1, 2, 3, 6].iter().filter_map(|symmetries| layout_with(board, *symmetries, board.cells() / 4)));
    layouts
}

/// Solves in both placements, and compares every stored bit, every lookup and the census with the
/// reference.
fn assert_solved(board: &Board, rule: Rule, layouts: Vec<Layout>) -> u32 {
    let values = reference::values(board.cells(), board.moves(), rule);
    let mut solves = 0;
    for layout in layouts {
        let game = Game { board: board.clone(), rule, layout };
        let story = format!("{}, {rule}, BID cells {:?}", board.name(), game.layout.bid_cells());
        let (folder, solved) = game.solve(Way::usual());
        let (shared, _) =
            game.solve(Way { placement: Placement::Shared, threads: 1, codec: "rows-bytes", ..Way::usual() });
        assert_same_files(&database_files(shared.path()), &database_files(folder.path()), &story);
        solves += 2;

        let database = Database::open(folder.path()).unwrap();
        let bitmaps = Bitmaps::of(&database);
        for (position, value) in bitmaps.stored() {
            assert_eq!(value, values[position as usize], "{story}: stored value of {position:#x}");
        }
        for (position, value) in (0..).zip(&values) {
            assert_eq!(bitmaps.value(position), *value, "{story}: value of {position:#x}");
        }
        for position in (0..1 << board.cells()).step_by(1 + values.len() / 4096) {
            assert_eq!(database.value(position).unwrap(), values[position as usize], "{story}: probe of {position:#x}");
        }
        for row in &solved.manifest.census.by_pieces {
            let positions = (0u64..).zip(&values).filter(|(position, _)| position.count_ones() == row.pieces);
            let (positions, losses) =
                positions.fold((0, 0), |(all, losses), (_, value)| (all + 1, losses + u64::from(value.is_loss())));
            assert_eq!((row.positions, row.losses), (positions, losses), "{story}: {} pieces", row.pieces);
        }
        assert_eq!(database.manifest(), &solved.manifest);
    }
    solves
}

#[test]
fn every_position_is_that_of_the_reference() {
    let mut solves = 0;
    for layers in 1..=LARGEST {
        let board = Board::triangle(layers, None).unwrap();
        for rule in Rule::ALL {
            solves += assert_solved(&board, rule, layouts(&board));
        }
    }
    println!("{solves} solves");
}

/// A popular variant: at most three pieces a move. With five layers it has 4,272 losses, and nine
/// first moves of a single cell win.
#[test]
fn moves_of_at_most_three_pieces() {
    let board = Board::triangle(5, Some(3)).unwrap();
    for rule in Rule::ALL {
        assert_solved(&board, rule, layouts(&board));
    }
    let game = Game { layout: Layout::suggested(&board, 8), board, rule: Rule::Misere };
    let (folder, solved) = game.solve(Way::usual());
    assert_eq!(solved.manifest.census.losses(), 4_272);
    let database = Database::open(folder.path()).unwrap();
    let probe = database.probe(game.board.full()).unwrap();
    let winning = probe.children.iter().filter(|child| child.value.is_loss());
    let cells: BTreeSet<u64> = [0, 3, 4, 5, 7, 8, 10, 12, 14].map(|cell| 1 << cell).into();
    assert_eq!(winning.map(|child| child.taken).collect::<BTreeSet<_>>(), cells);
    assert!(probe.children[..9].iter().all(|child| child.value.is_loss()), "winning moves come first");
}

#[test]
fn the_census_does_not_depend_on_the_layout() {
    let board = Board::triangle(LARGEST + 1, None).unwrap();
    for rule in Rule::ALL {
        let asymmetric = [(1, 0), (2, 1), (3, 0), (4, 2), (5, 0), (5, 5)].map(|(row, col)| Cell::new(row, col));
        let mut layouts =
            vec![Layout::new(&board, &asymmetric).unwrap(), Layout::suggested(&board, board.cells() * 2 / 3)];
        layouts.extend([2, 3].iter().filter_map(|symmetries| layout_with(&board, *symmetries, 9)));
        assert_eq!(layouts[0].symmetries().len(), 1);
        assert_eq!(layouts.len(), 4);
        let mut censuses = layouts.into_iter().map(|layout| {
            let game = Game { board: board.clone(), rule, layout };
            game.solve(Way { placement: Placement::Shared, ..Way::usual() }).1.manifest.census
        });
        let first = censuses.next().unwrap();
        assert!(censuses.all(|census| census == first), "{rule}");
        if rule == Rule::Misere {
            assert_eq!(Some(first.losses()), published::losses(LARGEST + 1, Rule::Misere));
        }
    }
}

fn copy_database(from: &Path) -> tempfile::TempDir {
    let copy = scratch();
    std::fs::create_dir(copy.path().join("db")).unwrap();
    for (name, bytes) in database_files(from) {
        std::fs::write(copy.path().join("db").join(name), bytes).unwrap();
    }
    copy
}

#[test]
fn folders_without_a_finished_database_are_refused() {
    let game = Game::triangle(4, Rule::Normal, 6).unwrap();
    let (folder, _) = game.solve(Way::usual());
    let empty = scratch();
    let unsealed = copy_database(folder.path());
    std::fs::remove_file(unsealed.path().join("db/SUMS")).unwrap();
    for folder in [empty.path(), unsealed.path(), &empty.path().join("not there")] {
        match Database::open(folder) {
            Err(DatabaseError::Missing { path, .. }) => assert_eq!(path, folder),
            other => panic!("{}: {:?}", folder.display(), other.err()),
        }
    }
    let damaged = copy_database(folder.path());
    let manifest = damaged.path().join("db/manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    for (from, to) in [("trinim.database/", "other/"), ("{", ""), ("\"layers\": 4", "\"layers\": 5"), ("normal", "nim")]
    {
        assert!(text.contains(from), "{from}");
        std::fs::write(&manifest, text.replacen(from, to, 1)).unwrap();
        match Database::open(damaged.path()) {
            Err(DatabaseError::Corrupt { path, .. }) => assert_eq!(path, manifest, "{from} -> {to}"),
            other => panic!("{from} -> {to}: {:?}", other.err()),
        }
    }
    std::fs::write(&manifest, text.replacen("trinim.database/1", "trinim.database/77", 1)).unwrap();
    assert!(matches!(Database::open(damaged.path()), Err(DatabaseError::Version { found: 77, .. })));
}

/// What a shared entry need not bring may hold anything: garbage changes no target.
#[test]
fn targets_do_not_depend_on_words_that_no_edge_needs() {
    let board = Board::triangle(7, None).unwrap();
    let layout = Layout::suggested(&board, 18);
    let game = Game { board, rule: Rule::Misere, layout };
    let mut random = Random::new(5);
    for kernel in [Kernel::detect(), Kernel::new(Isa::Portable).unwrap()] {
        let workload = RemovalGame::new(&game, kernel);
        let words = workload.stream_words();
        let stream: Vec<u64> = (0..words).map(|_| random.bits() & random.bits()).collect();
        let mut restricted = [0; 2];
        let edges = BlockId::all(workload.blocks()).flat_map(|block| workload.edges_into(block));
        for edge in edges.step_by(23) {
            let (mut oriented, mut expected) = (vec![0; words], vec![0; words]);
            workload.orient(edge.orientation, 0, &stream, &mut oriented);
            workload.apply(&edge, &oriented, &mut expected);
            let unneeded = workload.unneeded(&edge);
            let mut garbled = stream.clone();
            (0u64..).zip(&mut garbled).filter(|(word, _)| word & unneeded != 0).for_each(|(_, bits)| *bits = !*bits);
            let mut oriented = vec![u64::MAX; words];
            if edge.orientation != 0 {
                workload.orient_needed(&edge, &garbled, &mut oriented);
            }
            let mut wins = vec![0; words];
            workload.apply(&edge, if edge.orientation == 0 { &garbled } else { &oriented }, &mut wins);
            assert!(wins == expected, "{edge:?}");
            restricted[usize::from(edge.orientation != 0)] += u32::from(unneeded != 0);
        }
        assert!(restricted.iter().all(|edges| *edges > 3), "{restricted:?}");
    }
}
