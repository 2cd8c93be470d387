//! Where a person sits down: the game of `play` and `puzzle`, from a folder or solved on the spot.

use crate::cli::answers::{self, SpotArgs, number};
use crate::cli::args;
use crate::cli::board::BoardArgs;
use crate::game::{Board, LAYERS_MAX, Rule};
use crate::play::Answers;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;
use terminal::exit::Refused;
use terminal::output::Out;

/// Layers if neither a folder nor a number is given: whoever begins can win them.
const LAYERS: u32 = 6;

/// The game, and what knows its values.
#[derive(Args)]
pub struct TableArgs {
    /// Folder of a finished solve, or its db folder; without one, and for what it does not keep,
    /// positions are solved on the spot [default: 6 layers]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,

    #[command(flatten)]
    board: BoardArgs,

    /// Whether taking the last piece loses (misere) or wins (normal); without DIR
    #[arg(long, help_heading = "Game", value_name = "RULE", value_parser = args::rule(), default_value = "misere")]
    rule: Rule,

    #[command(flatten)]
    spot: SpotArgs,
}

impl TableArgs {
    /// Returns what knows the values of the game, for this command.
    pub fn answers(&self, command: &str, out: &mut Out) -> anyhow::Result<Arc<dyn Answers>> {
        if let Some(layers) = self.folder.as_deref().and_then(number)
            && layers <= LAYERS_MAX.into()
        {
            let message = format!("{layers} is not the folder of a solve");
            return Err(Refused::new(message, format!("trinim {command} --layers {layers}")).into());
        }
        match &self.folder {
            Some(folder) => answers::in_folder(folder, &self.spot, out),
            None => {
                let board = self.board.board()?.map_or_else(|| Board::triangle(LAYERS, self.board.max_take), Ok)?;
                answers::without_folder(&board, self.rule, &self.spot, out)
            }
        }
    }
}
