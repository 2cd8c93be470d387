//! `trinim plane`: Nim on the plane (Wythoff's game), with heaps of any length.
//!
//! # Shape
//! In JSON heaps, amounts and indices are strings: they have any length. For people, numbers of more than 60 digits are cut in the middle.

mod at;
mod play;
mod points;
mod precision;
mod randomised;
mod verify;

use super::exit::{Exit, Refused};
use super::output::Out;
use clap::{Args, Subcommand};
use dashu_int::UBig;
use serde::Serialize;
use trinim::game::Rule;
use trinim::plane::goal;
use trinim::plane::number::{self, brief};
use trinim::plane::point::{Move, Point};

const EXAMPLES: &str = "\
Examples:
  trinim plane at 2718282 3141593           who wins, and every winning move
  trinim plane at 10^1000 10^999 --json
  trinim plane points --from 0 --count 26   the lost points in order
  trinim plane index 102                    which of them has a heap of 102
  trinim plane precision --digits 6         how exact the golden ratio must be; the paper's table beside the right one
  trinim plane play --level 7               play against it; --strategy paper plays as the paper's program
  trinim plane verify --max 100 --flip none formulas against the rules

Two heaps; a move takes from one of them, or the same number from both. Who reaches (0, 0) wins (normal) or loses (attrition).";

/// Nim on the plane (Wythoff's game) with heaps of any length
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlaneArgs {
    #[command(subcommand)]
    command: PlaneCommand,
}

#[derive(Subcommand)]
enum PlaneCommand {
    At(at::AtArgs),
    Points(points::PointsArgs),
    Index(points::IndexArgs),
    Precision(precision::PrecisionArgs),
    Randomised(randomised::RandomisedArgs),
    Play(Box<play::PlayArgs>),
    Verify(verify::VerifyArgs),
}

/// Runs the subcommand.
pub fn run(args: PlaneArgs, out: &mut Out) -> anyhow::Result<Exit> {
    match args.command {
        PlaneCommand::At(args) => at::run(args, out),
        PlaneCommand::Points(args) => points::run(args, out),
        PlaneCommand::Index(args) => points::index(args, out),
        PlaneCommand::Precision(args) => precision::run(args, out),
        PlaneCommand::Randomised(args) => randomised::run(args, out),
        PlaneCommand::Play(args) => play::run(*args, out),
        PlaneCommand::Verify(args) => verify::run(args, out),
    }
}

/// What a whole number of any length looks like.
const NUMBERS: &str = "heaps are whole numbers from 0, like 144 or 10^1000, of at most 1,000,000 digits";

/// The number in an argument; the parser of arguments would repeat a million wrong digits in its error.
fn whole_number(name: &str, text: &str) -> Result<UBig, Refused> {
    number::parse(text).map_err(|error| Refused::new(format!("{name}: {error}"), NUMBERS))
}

fn goal_text(text: &str) -> Result<Rule, String> {
    goal::parse(text).ok_or_else(|| "expected normal or attrition".to_owned())
}

/// A move, for `--json`.
#[derive(Clone, Serialize)]
struct MoveReport {
    kind: &'static str,
    amount: String,
    to: [String; 2],
    /// Whether the goal is changed with it; only where it can be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    flip: Option<bool>,
}

impl MoveReport {
    fn new(step: &Move, to: &Point, flip: Option<bool>) -> MoveReport {
        MoveReport { kind: step.kind.name(), amount: step.amount.to_string(), to: pair(to), flip }
    }
}

fn pair(point: &Point) -> [String; 2] {
    [point.short().to_string(), point.long().to_string()]
}

/// A point for people.
fn shown([short, long]: &[String; 2]) -> String {
    format!("({}, {})", brief(short), brief(long))
}
