//! Surveys: what is known of a position by every way, and positions that are drawn.

use crate::play::Book;
use pipeline::Options;
use std::path::Path;
use std::sync::Arc;
use trinim::kernel::Kernel;
use trinim::play::{Answers, OnTheSpot, survey};
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
