//! The program under test, and what the library knows of the boards that it answers for.

use crate::scratch::scratch;
use pipeline::Options;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use tempfile::TempDir;
use trinim::database::BuiltIn;
use trinim::kernel::Kernel;
use trinim::play::report::ProbeReport;
use trinim::play::{Answers, OnTheSpot};
use trinim::solve::parts::{self, PartSolver};
use trinim::{Board, Database, Rule, Solve};

/// The program in a folder.
pub fn serve(folder: &Path, args: &[&str]) -> Command {
    let mut command = processes::command(env!("CARGO_BIN_EXE_trinim-serve"));
    command.current_dir(folder).args(args);
    command
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command to its end: exit code, standard output and standard error.
pub fn outcome(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (out, error) = (text(&stdout), text(&stderr));
    assert!(!error.contains("panicked"), "{command:?}\n{error}");
    (status.code().unwrap_or_else(|| panic!("{command:?} was killed\n{error}")), out, error)
}

/// Runs the program, which must end with `code`: standard output and standard error.
pub fn ends(folder: &Path, code: i32, args: &[&str]) -> (String, String) {
    let (found, out, error) = outcome(&mut serve(folder, args));
    assert_eq!(found, code, "{args:?}\n{out}\n{error}");
    (out, error)
}

/// Copies a folder.
pub fn copy(from: &Path, to: &Path) {
    assert!(processes::command("cp").arg("-r").args([from, to]).status().unwrap().success());
}

/// A solve of a triangle, to be run in a folder.
pub fn triangle(layers: u32, rule: Rule) -> Solve {
    Solve::new(&Board::triangle(layers, None).unwrap(), rule).memory_bytes(256 << 20)
}

/// What the library knows of a board, with a folder or without one. What is not kept is solved.
pub struct Known {
    answers: OnTheSpot,
    /// Of solves that need one.
    _scratch: TempDir,
}

impl Known {
    pub fn new(board: &Board, rule: Rule, folder: Option<&Path>) -> Known {
        let source = match folder {
            Some(folder) => Some(Database::open(folder).unwrap()),
            None => BuiltIn::for_board(board, rule).map(|built_in| Database::open_built_in(built_in).unwrap()),
        };
        let source = source.map(|database| Arc::new(database) as Arc<dyn Answers>);
        let options = Options { memory_bytes: 256 << 20, ..Options::default() };
        let scratch = scratch();
        let runner = parts::run_in(scratch.path());
        let solver = PartSolver::new(board.clone(), rule, Kernel::detect(), options, runner);
        Known { answers: OnTheSpot::new(source, solver), _scratch: scratch }
    }

    /// A position as `trinim probe --json` prints it, but for the name of the schema.
    pub fn probed(&self, position: u64) -> Value {
        let probe = self.answers.probe(position).unwrap();
        serde_json::to_value(ProbeReport::new(self.answers.board(), &probe)).unwrap()
    }
}
