//! The solved board for `probe`, `stats` and `export`.

use crate::Solve;
use crate::cli::args;
use crate::cli::board::{self, BoardArgs, arguments};
use crate::cli::summary::board_words;
use crate::database::{BuiltIn, Database};
use crate::game::{Board, Rule};
use crate::job::{JobError, Monitor};
use clap::Args;
use pipeline::Error;
use pipeline::storage::ScratchFolder;
use std::path::PathBuf;
use terminal::exit::{Refused, Stopped};
use terminal::output::Out;
use terminal::signals::Signals;

/// A finished solve in a folder, or a board of which the program may carry something, for `probe`
/// and `stats`.
#[derive(Args)]
pub struct SolvedArgs {
    /// Folder of a finished solve, or its db folder; optional with --layers or --board
    ///
    /// Without a folder, nine layers are built in, and boards of up to 28 cells are solved on the
    /// spot.
    #[arg(value_name = "DIR", required_unless_present_any = ["layers", "board"])]
    pub folder: Option<PathBuf>,

    #[command(flatten)]
    pub board: BoardArgs,

    /// Whether taking the last piece loses (misere) or wins (normal); for --layers and --board
    /// [default: misere]
    #[arg(long, help_heading = "Game", value_name = "RULE", value_parser = args::rule())]
    rule: Option<Rule>,
}

/// What is known about a board without solving anything.
pub enum Source {
    /// A folder or a built-in book.
    Database(Box<Database>),
    /// Only the rules.
    Rules(Board),
}

impl SolvedArgs {
    /// Returns the rule for a board without a folder.
    pub fn rule(&self) -> Rule {
        self.rule.unwrap_or(Rule::Misere)
    }

    /// Opens the database of the folder, or a built-in book.
    pub fn find(&self) -> anyhow::Result<Source> {
        if let Some(folder) = &self.folder {
            self.board.refuse_beside(folder, self.rule)?;
            return Ok(Source::Database(Box::new(Database::open(folder)?)));
        }
        let board = self.board.required()?;
        match BuiltIn::for_board(&board, self.rule()) {
            Some(built_in) => Ok(Source::Database(Box::new(Database::open_built_in(built_in)?))),
            None => Ok(Source::Rules(board)),
        }
    }

    /// Reads the database: of the folder, a built-in book, or of a small board that is solved for
    /// it.
    pub fn read<T>(
        &self,
        out: &mut Out,
        read: impl FnOnce(Database, &mut Out) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let board = match self.find()? {
            Source::Database(database) => return read(*database, out),
            Source::Rules(board) => board,
        };
        if board.cells() <= board::SMALL_CELLS_MAX {
            out.remark(solving(&board, self.rule()));
            return solved_here(&board, self.rule(), |database| read(database, out));
        }
        let carried: Vec<String> =
            BuiltIn::all().iter().map(|built_in| format!("{} {}", built_in.layers, built_in.rule)).collect();
        let (game, carried) = (arguments(&board, self.rule()), carried.join(" and "));
        let message = format!("{game}: too large for this command; only {carried} are built in");
        Err(Refused::new(message, format!("trinim solve {game}")).into())
    }
}

const MEMORY_BYTES: u64 = 256 << 20;

/// Describes what [`solved_here`] is about to do.
pub fn solving(board: &Board, rule: Rule) -> String {
    format!("solving {}, {rule}...", board_words(board.name()))
}

/// Solves a small board and reads its database, which is then removed, even after a signal.
pub fn solved_here<T>(
    board: &Board,
    rule: Rule,
    read: impl FnOnce(Database) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let signals = Signals::register()?;
    let folder = ScratchFolder::new(&std::env::temp_dir(), "trinim-solved.")?;
    let monitor = Monitor { stop: signals.stop.clone(), ..Monitor::default() };
    let solve = Solve::new(board, rule).memory_bytes(MEMORY_BYTES);
    let result = match solve.run_with(folder.path(), &monitor, &|_| {}) {
        Ok(_) => Database::open(folder.path()).map_err(anyhow::Error::from).and_then(read),
        Err(JobError::Run(Error::Interrupted)) => Err(Stopped::from_the_start(signals.exit()).into()),
        Err(error) => Err(error.into()),
    };
    drop(folder);
    signals.release();
    match signals.stopped() {
        true if result.is_ok() => Err(Stopped::from_the_start(signals.exit()).into()),
        _ => result,
    }
}
