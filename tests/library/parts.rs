//! Positions solved on the spot, against the definition and against a database of seven layers.

use crate::common::scratch;
use pipeline::Options;
use proptest::prelude::*;
use trinim::game::{Board, Rule, Takes, reference};
use trinim::kernel::Kernel;
use trinim::random::Random;
use trinim::solve::parts::{self, PartError, PartSolver, Way};

pub fn solver(board: &Board, rule: Rule, folder: &std::path::Path, memory_bytes: u64) -> PartSolver {
    let options = Options { threads: 2, memory_bytes, ..Options::default() };
    PartSolver::new(board.clone(), rule, Kernel::detect(), options, parts::run_in(folder))
}

/// Compares a probe with the definition.
fn agrees(board: &Board, rule: Rule, solver: &mut PartSolver, position: u64) {
    let probe = solver.probe(position).unwrap();
    assert_eq!(probe.value, reference::value_of(board.moves(), rule, position), "{position:#x} of {}", board.name());
    let mut children: Vec<u64> = probe.children.iter().map(|child| child.position).collect();
    let mut expected: Vec<u64> = reference::children(board.moves(), position).collect();
    children.sort_unstable();
    expected.sort_unstable();
    assert_eq!(children, expected);
    let nimber = |position| (rule == Rule::Normal).then(|| reference::grundy(board.moves(), position));
    assert_eq!(probe.nimber, nimber(position), "{position:#x} of {}", board.name());
    let part = board.part(position).ok();
    let distances = part.as_ref().map(|part| reference::distances(part.board.cells(), part.board.moves(), rule));
    let distance = |position| match (&part, &distances) {
        (Some(part), Some(distances)) => Some(distances[part.inside(position).unwrap() as usize].into()),
        _ => Some(0),
    };
    assert_eq!(probe.distance, distance(position), "{position:#x} of {}", board.name());
    for child in probe.children {
        assert_eq!(child.value, reference::value_of(board.moves(), rule, child.position), "{:#x}", child.position);
        assert_eq!(child.nimber, nimber(child.position), "{:#x}", child.position);
        assert_eq!(child.distance, distance(child.position), "{:#x}", child.position);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn answers_are_those_of_the_definition(seed: u64, misere: bool, family in 0..4usize) {
        let name = ["triangle:9", "rect:6x6", "cram:6x6", "hex:4"][family];
        let board = Board::named(name, Takes::ANY).unwrap();
        let rule = if misere { Rule::Misere } else { Rule::Normal };
        let folder = scratch();
        let mut solver = solver(&board, rule, folder.path(), 64 << 20);
        let mut random = Random::new(seed);
        for pieces in [0, 1, 5, 13] {
            let mut position = 0;
            while u64::count_ones(position) < pieces {
                position |= 1 << random.below(board.cells().into());
            }
            agrees(&board, rule, &mut solver, position);
        }
    }
}

/// Distances are counted up to their number of pieces, alike after any earlier queries, and are
/// those of a database of distances.
#[test]
fn distances_are_counted_up_to_their_pieces() {
    let most = parts::DISTANCE_PIECES_MAX;
    let board = Board::triangle(7, None).unwrap();
    let six = Board::triangle(6, None).unwrap();
    for rule in Rule::ALL {
        let folder = scratch();
        let mut solver = solver(&board, rule, folder.path(), 64 << 20);
        let expected = reference::distances(six.cells(), six.moves(), rule);
        // The first cells of seven layers are six layers.
        let one_more = six.full() | 1 << (board.cells() - 1);
        let two_more = one_more | 1 << (board.cells() - 3);
        assert_eq!([one_more, two_more].map(u64::count_ones), [most, most + 1]);
        for (position, has) in [(two_more, false), (one_more, true), (two_more, false), (six.full(), true)] {
            let probe = solver.probe(position).unwrap();
            assert_eq!(probe.distance.is_some(), has, "{rule}, {position:#x}");
            assert!(probe.children.iter().all(|child| child.distance.is_some() == has), "{rule}, {position:#x}");
            let inside: Vec<u64> = [2, 3, 5, 7, 11].map(|step| six.full() / step).to_vec();
            let distances = solver.evaluate(position, &inside).unwrap();
            for (inside, found) in inside.iter().zip(&distances) {
                let expected = has.then(|| expected[*inside as usize].into());
                assert_eq!(found.distance, expected, "{rule}, {position:#x}, {inside:#x}");
            }
        }
    }
}

/// Nimbers of a component have as many planes as they need: a row of `n` pieces has the nimber `n`.
#[test]
fn a_component_may_have_more_than_sixteen_nimbers() {
    let board = Board::named("rect:3x20", Takes::ANY).unwrap();
    let rows: Vec<u64> = board.moves().iter().copied().filter(|taken| taken.count_ones() == 20).collect();
    let folder = scratch();
    // 8 MiB hold the bitmap of 25 pieces: more of them are solved by components.
    let mut solver = solver(&board, Rule::Normal, folder.path(), 8 << 20);
    let shortened = |row: u64, pieces: u32| (pieces..20).fold(row, |row, _| row & (row - 1));
    let lengths = [14, 17, 20];
    for (left, right) in lengths.into_iter().flat_map(|left| lengths.map(|right| (left, right))) {
        let position = shortened(rows[0], left) | shortened(rows[2], right);
        let probe = solver.probe(position).unwrap();
        assert_eq!(probe.value.is_loss(), left == right, "{left} and {right}");
        for child in probe.children.iter().step_by(17) {
            let expected = reference::grundy(board.moves(), child.position) == 0;
            assert_eq!(child.value.is_loss(), expected, "{left} and {right}: {:#x}", child.position);
        }
    }
}

/// A position of more pieces than are solved at once is a sum of components, in normal play.
#[test]
fn components_are_added_by_their_nimbers() {
    let board = Board::named("rect:8x8", Takes::ANY).unwrap();
    let folder = scratch();
    // Columns 2 and 5 are empty: three components of 14 pieces.
    let row = 0b1101_1011_u64;
    let position = (0..7).fold(0, |rows, index| rows | row << (8 * index));
    assert_eq!(position.count_ones(), 42);
    let mut normal = solver(&board, Rule::Normal, folder.path(), 512 << 20);
    let probe = normal.probe(position).unwrap();
    let nimber = |position| reference::grundy(board.moves(), position);
    assert_eq!(probe.value.is_loss(), nimber(position) == 0);
    for child in probe.children.iter().step_by(7) {
        assert_eq!(child.value.is_loss(), nimber(child.position) == 0, "{:#x}", child.position);
    }
    // The sum does not hold in misère play, and 64 pieces in one component are too many.
    let mut misere = solver(&board, Rule::Misere, folder.path(), 512 << 20);
    for (solver, position) in [(&mut misere, position), (&mut normal, board.full())] {
        let error = solver.probe(position).unwrap_err();
        assert!(matches!(error, PartError::TooMany { .. }), "{error}");
        assert!(error.to_string().contains(&parts::PIECES_MAX.to_string()), "{error}");
    }
}

/// Two parts that were solved in folders are there at the same time, and what is known of each is
/// of its own pieces; a third makes room, and no folder is left at the end.
#[test]
fn parts_in_folders_have_folders_of_their_own() {
    let board = Board::named("rect:8x8", Takes::ANY).unwrap();
    let folder = scratch();
    // Room for the bitmap of 22 pieces.
    let mut solver = solver(&board, Rule::Misere, folder.path(), 3 << 19);
    let folders = || std::fs::read_dir(folder.path()).unwrap().count();
    // Two whole rows and all but one of another.
    let position = |row: u32| 0xff_u64 << (8 * row) | 0xff << (8 * row + 24) | 0x7f << 48;
    for (number, position) in (1..).zip([position(0), position(1), position(2)]) {
        assert_eq!(solver.way(position).unwrap(), Way::Folder);
        solver.solve(position).unwrap();
        assert_eq!(folders(), 2.min(number));
        for pieces in [position & 0xf0f0_f0f0_f0f0_f0f0, position & 0x3333_3333_3333_3333] {
            let expected = reference::value_of(board.moves(), Rule::Misere, pieces);
            assert_eq!((solver.way(pieces).unwrap(), solver.value(pieces).unwrap()), (Way::Known, expected));
        }
    }
    drop(solver);
    assert_eq!(folders(), 0);
}

/// The bitmap of a position in memory takes half of the memory at most; what was solved before has
/// the other half, and makes room when that is full.
#[test]
fn what_is_remembered_takes_half_of_the_memory() {
    let board = Board::named("rect:8x8", Takes::ANY).unwrap();
    let folder = scratch();
    for bits in [20_u32, 21, 22] {
        // Half of it is the bitmap of a position with `bits` pieces.
        let memory_bytes = 2 * (1u64 << bits) / 8;
        let mut solver = solver(&board, Rule::Misere, folder.path(), memory_bytes);
        let first = |pieces: u32, from: u32| ((1u64 << pieces) - 1) << from;
        assert_eq!(solver.way(first(bits, 0)).unwrap(), Way::Memory);
        assert_eq!(solver.way(first(bits + 1, 0)).unwrap(), Way::Folder);
        // Quarters of that half: four are there beside the one that is solved.
        let quarters = [0, 3, 6, 9, 12, 15, 18, 21].map(|from| first(bits - 2, from));
        for (number, quarter) in quarters.iter().enumerate() {
            solver.solve(*quarter).unwrap();
            let known = quarters.map(|other| solver.way(other).unwrap() == Way::Known);
            let oldest = (number + 1).saturating_sub(5);
            let expected: Vec<bool> = (0..8).map(|other| (oldest..=number).contains(&other)).collect();
            assert_eq!(known.to_vec(), expected, "{bits} pieces, after {number}");
        }
    }
    // Components in normal play: 26 pieces at most, in any memory.
    let normal = solver(&board, Rule::Normal, folder.path(), 1 << 30).with_pieces_max(30);
    for (more, is_split) in [(0x3_u64, true), (0x7, false)] {
        // Three rows with two or three pieces more, and fourteen pieces far away.
        let way = normal.way(0xff_ffff | more << 24 | 0x7f7f << 48);
        assert_eq!(matches!(way, Ok(Way::Components)), is_split, "{more:#x}: {way:?}");
    }
}
