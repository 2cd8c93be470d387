//! Positions solved on the spot, against the definition and against a database of seven layers.

use crate::common::{Solving, Way, scratch};
use pipeline::Options;
use proptest::prelude::*;
use trinim::database::{Database, Game};
use trinim::game::{Board, Rule, Takes, reference};
use trinim::kernel::Kernel;
use trinim::random::Random;
use trinim::solve::parts::{self, PartError, PartSolver};

fn solver(board: &Board, rule: Rule, folder: &std::path::Path, memory_bytes: u64) -> PartSolver {
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
    for child in probe.children {
        assert_eq!(child.value, reference::value_of(board.moves(), rule, child.position), "{:#x}", child.position);
        assert_eq!(child.nimber, nimber(child.position), "{:#x}", child.position);
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

/// With little memory, parts are solved by update logs; every answer is that of the database.
#[test]
fn parts_of_seven_layers_agree_with_the_database() {
    for rule in Rule::ALL {
        let game = Game::triangle(7, rule, 20).unwrap();
        let (of_whole, _) = game.solve(Way { spare_bytes: 64 << 20, ..Way::usual() });
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
            let (mut found, expected) = (solver.probe(position).unwrap(), database.probe(position).unwrap());
            // Components of more pieces would take too much of the memory.
            assert_eq!(found.nimber.is_some(), rule == Rule::Normal && pieces <= 22, "{pieces} pieces");
            found.nimber = None;
            found.children.iter_mut().for_each(|child| child.nimber = None);
            assert_eq!(found, expected, "{rule} {position:#x}");
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
