//! The solved board that `probe` and `stats` ask.

use crate::cli::face::exit::Refused;
use crate::cli::words::args;
use crate::cli::words::board::{BoardArgs, arguments};
use clap::Args;
use std::path::PathBuf;
use trinim::database::{Access, BuiltIn, CACHE_BYTES, Database};
use trinim::game::{Board, Rule};

/// A finished solve in a folder, or a board of which the program may carry something, for `probe`
/// and `stats`.
#[derive(Args)]
pub struct SolvedArgs {
    /// Folder of a finished solve, or its db folder; with --layers or --board none is needed
    #[arg(value_name = "DIR", required_unless_present_any = ["layers", "board"])]
    pub folder: Option<PathBuf>,

    #[command(flatten)]
    pub board: BoardArgs,

    /// Whoever takes the last piece loses (misere) or wins (normal); for --layers and --board
    #[arg(long, help_heading = "Game", value_name = "RULE", value_parser = args::rule(), default_value = "misere")]
    pub rule: Rule,
}

/// What is known of a board without solving anything.
pub enum Solved {
    /// A folder, or what is built in.
    Database(Box<Database>),
    /// Nothing.
    Nothing(Board),
}

impl SolvedArgs {
    /// Opens the database; a folder goes before `--layers`, which a variable may have set.
    ///
    /// # Errors
    /// Those of [`BoardArgs::required`] and [`Database::open_with`].
    pub fn find(&self, access: Access) -> anyhow::Result<Solved> {
        if let Some(folder) = &self.folder {
            return Ok(Solved::Database(Box::new(Database::open_with(folder, access, CACHE_BYTES)?)));
        }
        let board = self.board.required()?;
        match BuiltIn::of_board(&board, self.rule) {
            Some(built_in) => Ok(Solved::Database(Box::new(Database::open_built_in(built_in)?))),
            None => Ok(Solved::Nothing(board)),
        }
    }

    /// Opens the database, which must be there.
    ///
    /// # Errors
    /// [`Refused`] if nothing is built in of the board; those of [`SolvedArgs::find`].
    pub fn open(&self, access: Access) -> anyhow::Result<Database> {
        match self.find(access)? {
            Solved::Database(database) => Ok(*database),
            Solved::Nothing(board) => {
                let carried: Vec<String> =
                    BuiltIn::all().iter().map(|built_in| format!("{} {}", built_in.layers, built_in.rule)).collect();
                let (game, carried) = (arguments(&board, self.rule), carried.join(" and "));
                let message = format!("{game}: not built in; there is {carried}");
                Err(Refused::new(message, format!("trinim solve {game}")).into())
            }
        }
    }
}
