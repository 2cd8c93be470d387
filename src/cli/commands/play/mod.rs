//! `trinim play`: a game against the program.
//!
//! The game goes to standard output, prompts to standard error. Input that is not understood is
//! asked for again, with the reason; the end of the input ends the game where it stands.

mod game;

use crate::cli::face::exit::{Exit, Refused};
use crate::cli::face::output::Out;
use crate::cli::words::answers::SpotArgs;
use crate::cli::words::answers::{self, number};
use crate::cli::words::args;
use crate::cli::words::board::BoardArgs;
use crate::cli::words::choice::explained;
use crate::cli::words::seat::{self, Lines};
use clap::{Args, ValueEnum};
use game::Seat;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use trinim::game::{Board, LAYERS_MAX, Rule};
use trinim::play::{Level, Player};

/// Longest line that is read, in bytes.
const LINE_BYTES: u64 = 4096;
/// Layers if neither a folder nor a number is given: whoever begins can win them.
const LAYERS: u32 = 6;

const EXAMPLES: &str = "\
Examples:
  trinim play                              six layers, solved on the spot; you begin
  trinim play --layers 4 --rule normal --first you
  trinim play --layers 9 --level club      nine layers: the book, then solved on the spot
  trinim play trinim-k7-misere             with the values of a finished solve

Cells have letters, or on large boards the letter of the row and a number. A move is d-f, from cell to cell along a \
line, or the list of its cells, d,e,f. Other commands: help, hint, moves, undo, redo, swap, board, level [LEVEL], \
set POSITION, save FILE, replay [FILE], new, quit. The end of the input quits.";

/// `--first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum First {
    /// You, who type this
    Me,
    /// The program
    You,
}

const LEVELS: &[(Level, &str)] = &[
    (Level::Perfect, "Never gives a won game away; in a lost one, the reply that is hardest to answer"),
    (Level::Club, "Slips in one of four moves while more than ten pieces are left"),
    (Level::Beginner, "Slips in two of three moves while more than four pieces are left"),
];

/// Play against the program
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlayArgs {
    /// Folder of a finished solve, or its db folder; without one, and for what it does not keep,
    /// positions are solved on the spot [default: 6 layers]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,

    #[command(flatten)]
    board: BoardArgs,

    /// Whoever takes the last piece loses (misere) or wins (normal); without DIR
    #[arg(long, help_heading = "Game", value_name = "RULE", value_parser = args::rule(), default_value = "misere")]
    rule: Rule,

    /// How well the program plays
    #[arg(long, value_name = "LEVEL", value_parser = explained(LEVELS), default_value = "perfect")]
    level: Level,

    /// Seed of the program's choices between moves; without one it is drawn, and shown
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Who begins
    #[arg(long, value_name = "WHO", value_enum, default_value = "me")]
    first: First,

    #[command(flatten)]
    spot: SpotArgs,
}

/// Runs the subcommand.
pub fn run(args: PlayArgs, out: &mut Out) -> anyhow::Result<Exit> {
    if let Some(layers) = args.folder.as_deref().and_then(number)
        && layers <= LAYERS_MAX.into()
    {
        let message = format!("{layers} is no folder of a solve");
        return Err(Refused::new(message, format!("trinim play --layers {layers}")).into());
    }
    // A folder goes before --layers, which a variable may have set.
    let answers = match &args.folder {
        Some(folder) => answers::in_folder(folder, &args.spot, out)?,
        None => {
            let board = args.board.board()?.map_or_else(|| Board::triangle(LAYERS, args.board.max_take), Ok)?;
            answers::without_folder(&board, args.rule, &args.spot, out)?
        }
    };
    let first = match args.first {
        First::Me => Player::Person,
        First::You => Player::Program,
    };
    // Few digits, so that people can type them.
    let seed = args.seed.unwrap_or_else(|| RandomState::new().hash_one(()) % 1_000_000);
    let mut game = Seat::new(answers, first, args.level, seed);
    out.break_lines();
    game.begin(out)?;
    if args.seed.is_none() {
        out.remark(format_args!("the program draws with --seed {seed}"));
    }
    seat::play(&mut game, &mut Lines::new(LINE_BYTES), out)?;
    Ok(Exit::Done)
}
