//! Surveys: what is known of a position by every way, and positions that are drawn.

use crate::play::{Book, four};
use pipeline::Options;
use std::path::Path;
use std::sync::Arc;
use trinim::kernel::Kernel;
use trinim::play::survey::draw;
use trinim::play::{Answers, OnTheSpot, survey};
use trinim::solve::parts::{self, PartSolver};
use trinim::{Board, Rule, Value};

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

/// A drawn position has the requested pieces, value and winning moves, as far as the source knows
/// them. If winning moves are requested, the value of every move is known.
#[test]
fn drawn_positions_are_as_requested() {
    let (mut found, mut with_wins) = (0, 0);
    for (table, least) in four().iter().flat_map(|table| (0..9).map(move |least| (table, least))) {
        let book = Book(table.clone(), least);
        for seed in 0..48 {
            let pieces = [None, Some(least), Some(least + 1)][seed % 3];
            let value = [None, Some(Value::Win), Some(Value::Loss), None][seed % 4];
            let wins = [Some(0), Some(1), Some(2), None][seed / 3 % 4];
            let mut draws = 0..100;
            let drawn = draw(&book, pieces, value, wins, seed as u64, || draws.next().is_none()).unwrap();
            let Some(position) = drawn else { continue };
            let story = format!("{least}, {pieces:?}, {value:?}, {wins:?}: {position:#x}");
            assert!(pieces.is_none_or(|pieces| position.count_ones() == pieces), "{story}");
            let known = book.value(position).unwrap();
            assert!(value.is_none_or(|value| known == value), "{story}");
            if let Some(wins) = wins {
                let whole = survey(&**table, position).unwrap();
                assert_eq!(survey(&book, position).unwrap().unknown(), 0, "{story}");
                assert_eq!(whole.winning().len(), wins, "{story}");
                with_wins += 1;
            }
            found += 1;
        }
    }
    assert!(found > 300 && with_wins > 100, "{found}, {with_wins}");
}
