//! `trinim play`: a game against the program.
//!
//! The game goes to standard output, prompts to standard error. Input that is not understood gets
//! the reason and another prompt; the end of the input ends the game at the current position.

mod game;

use clap::Args;
use game::Game;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use terminal::exit::{Exit, Refused};
use terminal::output::Out;
use trinim::cli::answers::{self, SpotArgs, number};
use trinim::cli::args;
use trinim::cli::board::BoardArgs;
use trinim::cli::choice::named;
use trinim::game::{LAYERS_MAX, Rule};
use trinim::play::{Answers, Level, Player};

/// Layers if neither a folder nor a number is given; the first player can win them.
const LAYERS: u32 = 6;

const EXAMPLES: &str = "\
Examples:
  trinim play                              six layers, solved on the spot; you begin
  trinim play --layers 4 --rule normal --first program
  trinim play --layers 9 --level club      nine layers: the book, then solved on the spot
  trinim play trinim-k7-misere             with the values of a finished solve

A cell is the letter of its row and its number in the row. A move is c1-c3, from cell to cell along a line, or the \
list of its cells, c1,c2,c3. Other commands: help, hint, moves, teach, undo, redo, swap, board, level [LEVEL], \
set POSITION, save FILE, replay [FILE], new, quit. The end of the input quits.";

/// The names in saved games. `you` would be ambiguous between the person and the program.
const PLAYERS: &[(Player, &str, &str)] = &[
    (Player::Person, Player::Person.name(), "You, who type this"),
    (Player::Program, Player::Program.name(), "The program"),
];

const LEVELS: &[(Level, &str, &str)] = &[
    (
        Level::Perfect,
        Level::Perfect.name(),
        "Never gives a won game away; in a lost one, the reply that is hardest to answer",
    ),
    (Level::Club, Level::Club.name(), "Slips in one of four moves while more than ten pieces are left"),
    (Level::Beginner, Level::Beginner.name(), "Slips in two of three moves while more than four pieces are left"),
];

/// Play against the program
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlayArgs {
    /// Folder of a finished solve, or its db folder; missing values are computed on request
    /// [default: 6 layers]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,

    #[command(flatten)]
    board: BoardArgs,

    /// Whether taking the last piece loses (misere) or wins (normal); without DIR [default: misere]
    #[arg(long, help_heading = "Game", value_name = "RULE", value_parser = args::rule())]
    rule: Option<Rule>,

    #[command(flatten)]
    spot: SpotArgs,

    /// How well the program plays
    #[arg(long, value_name = "LEVEL", value_parser = named(LEVELS), default_value = "perfect")]
    level: Level,

    /// Seed of the program's choice between equal moves [default: random, and printed]
    #[arg(long, value_parser = terminal::values::seed, value_name = "N")]
    seed: Option<u64>,

    /// Who begins
    #[arg(long, value_name = "WHO", value_parser = named(PLAYERS), default_value = "person")]
    first: Player,
}

impl PlayArgs {
    /// Returns the source of the game's values.
    fn answers(&self, out: &Out) -> anyhow::Result<Arc<dyn Answers>> {
        if let Some(layers) = self.folder.as_deref().and_then(number)
            && layers <= LAYERS_MAX.into()
        {
            let message = format!("{layers} is not the folder of a solve");
            return Err(Refused::new(message, format!("trinim play --layers {layers}")).into());
        }
        match &self.folder {
            Some(folder) => {
                self.board.refuse_beside(folder, self.rule)?;
                answers::in_folder(folder, &self.spot, out)
            }
            None => {
                let board = self.board.board()?.map_or_else(|| self.board.triangle(LAYERS), Ok)?;
                answers::without_folder(&board, self.rule.unwrap_or(Rule::Misere), &self.spot, out)
            }
        }
    }
}

pub fn run(args: PlayArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let answers = args.answers(out)?;
    // Few digits, so that people can type them.
    let seed = args.seed.unwrap_or_else(|| RandomState::new().hash_one(()) % 1_000_000);
    let mut game = Game::new(answers, args.first, args.level, seed);
    out.break_lines();
    game.begin(out)?;
    if args.seed.is_none() {
        out.remark(format_args!("the program draws with --seed {seed}"));
    }
    game.play(out)?;
    Ok(Exit::Done)
}
