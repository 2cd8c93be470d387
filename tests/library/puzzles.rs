//! Surveys and puzzles: what is known of a position by every way, and what makes a puzzle.

use crate::play::{Book, four, table};
use pipeline::Options;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use trinim::kernel::Kernel;
use trinim::play::{Answers, OnTheSpot, Puzzle, survey};
use trinim::solve::parts::{self, PartSolver};
use trinim::{Board, Rule};

/// A reply knows the distances that a query for the position knows, at the largest number of pieces
/// with distances and beyond it.
#[test]
fn a_survey_knows_the_distances_that_a_probe_knows() {
    let board = Board::triangle(7, None).unwrap();
    for rule in Rule::ALL {
        let solver = || {
            let options = Options { memory_bytes: 64 << 20, ..Options::default() };
            let nowhere = parts::run_in(Path::new("/nonexistent"));
            PartSolver::new(board.clone(), rule, Kernel::detect(), options, nowhere)
        };
        // The source knows every value of these positions, and no distance.
        let source = Book(Arc::new(OnTheSpot::new(None, solver())), 0);
        let answers = OnTheSpot::new(Some(Arc::new(source)), solver());
        for pieces in [22, 23, 21] {
            let position = (1u64 << pieces) - 1;
            let (survey, probe) = (survey(&answers, position).unwrap(), answers.probe(position).unwrap());
            assert_eq!(survey.distance.is_some(), pieces <= 22, "{rule}, {pieces} pieces");
            assert_eq!(survey.distance, probe.distance, "{rule}, {pieces} pieces");
            for child in &probe.children {
                let choice = survey.moves.iter().find(|choice| choice.taken == child.taken).unwrap();
                assert_eq!((choice.after, choice.distance), (Some(child.value), child.distance), "{rule}, {pieces}");
            }
        }
    }
}

/// Puzzles have 4 to 14 pieces, each number of them; a position with a move of unknown value is not
/// a puzzle, even if only one move is known to win.
#[test]
fn puzzles_have_few_pieces_and_no_move_of_unknown_value() {
    let five = table(5, Rule::Misere);
    let drawn = (0..2000).filter_map(|seed| {
        let mut draws = 0..8;
        Puzzle::draw(&*five, None, seed, || draws.next().is_none()).unwrap()
    });
    let pieces: BTreeSet<u32> = drawn.map(|puzzle| puzzle.position.count_ones()).collect();
    assert_eq!(pieces, (4..=14).collect());
    let (mut puzzles, mut unknown) = (0, 0);
    for (table, least) in four().iter().flat_map(|table| (3..9).map(move |least| (table, least))) {
        for position in 0..=table.board().full() {
            let here = survey(&Book(table.clone(), least), position).unwrap();
            let whole = survey(&**table, position).unwrap();
            match Puzzle::at(&Book(table.clone(), least), position) {
                Ok(Some(puzzle)) => {
                    assert_eq!((here.unknown(), whole.winning()), (0, &[whole.moves[0]][..]), "{position:#x}");
                    assert_eq!((puzzle.solution, puzzle.moves), (whole.moves[0].taken, whole.moves.len()));
                    puzzles += 1;
                }
                Ok(None) => unknown += usize::from(here.winning().len() == 1 && here.unknown() > 0),
                Err(error) => panic!("{position:#x}: {error}"),
            }
        }
    }
    assert!(puzzles > 100 && unknown > 100, "{puzzles} puzzles, {unknown} with moves of unknown value");
}
