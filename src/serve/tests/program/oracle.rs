//! The values from the library, for the boards of the program's answers.

use crate::common::scratch;
use pipeline::Options;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use trinim::database::BuiltIn;
use trinim::kernel::Kernel;
use trinim::play::report::ProbeReport;
use trinim::play::{Answers, OnTheSpot};
use trinim::solve::parts::{self, PartSolver};
use trinim::{Board, Database, Rule, Solve};

/// A solve of a triangle, to be run in a folder.
pub fn triangle(layers: u32, rule: Rule) -> Solve {
    Solve::new(&Board::triangle(layers, None).unwrap(), rule).memory_bytes(256 << 20)
}

/// What the library knows of a board, with a folder or without one. What is not kept is solved.
pub struct Oracle {
    answers: OnTheSpot,
    /// The temporary folder, for solves that need one.
    _scratch: TempDir,
}

impl Oracle {
    pub fn new(board: &Board, rule: Rule, folder: Option<&Path>) -> Oracle {
        let source = match folder {
            Some(folder) => Some(Database::open(folder).unwrap()),
            None => BuiltIn::for_board(board, rule).map(|built_in| Database::open_built_in(built_in).unwrap()),
        };
        let source = source.map(|database| Arc::new(database) as Arc<dyn Answers>);
        let options = Options { memory_bytes: 256 << 20, ..Options::default() };
        let scratch = scratch();
        let runner = parts::run_in(scratch.path());
        let solver = PartSolver::new(board.clone(), rule, Kernel::detect(), options, runner);
        Oracle { answers: OnTheSpot::new(source, solver).sparing(), _scratch: scratch }
    }

    /// A position as `trinim probe --json` prints it, except for the name of the schema. Kept
    /// nimbers and distances are used where they exist.
    pub fn probed(&self, position: u64) -> Value {
        let probe = self.answers.probe(position).unwrap();
        serde_json::to_value(ProbeReport::new(self.answers.board(), &probe)).unwrap()
    }
}
