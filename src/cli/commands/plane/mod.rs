//! `trinim plane`: Nim on the plane (Wythoff's game), with heaps of any length.
//!
//! In JSON, heaps, amounts and indices are strings, because they may have any length. In text,
//! numbers of more than 60 digits are shortened in the middle.

pub mod at;
mod play;
pub mod points;
pub mod precision;
pub mod randomised;
pub mod verify;

use crate::cli::face::exit::{Exit, Refused};
use crate::cli::face::output::Out;
use crate::cli::words::args::JsonArgs;
use crate::cli::words::choice::offered;
use crate::cli::words::claims::report;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;
use trinim::game::Rule;
use trinim_plane::UBig;
use trinim_plane::claims::{self, Effort};
use trinim_plane::goals;
use trinim_plane::heaps::{self, Move, Point, brief};

const EXAMPLES: &str = "\
Examples:
  trinim plane at 2718282 3141593           show who wins, and every winning move
  trinim plane at 10^1000 10^999 --json
  trinim plane points --from 0 --count 26   list the lost points in order
  trinim plane index 102                    find the one with a heap of 102
  trinim plane precision --digits 6         how exact the golden ratio must be
  trinim plane play --level 7               play; --strategy paper is the paper's
  trinim plane verify --max 100 --flip none  check the formulas against the rules
  trinim plane claims                       list every claim of the paper, with a verdict

There are two heaps; a move takes from one of them, or the same number from both. Whoever reaches (0, 0) wins \
(normal) or loses (attrition).";

const CLAIMS_EXAMPLES: &str = "\
Examples:
  trinim plane claims
  trinim plane claims --long --json

Every theorem, table, example and number of [Ver10] that the available text still has, with the printed value, the \
computed one and a verdict: agrees, contradicted, misprint (the paper itself shows what was meant), undecided. The \
exit code is 1 if a claim is contradicted or misprinted, as some are.";

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
    Claims(ClaimsArgs),
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
        PlaneCommand::Claims(ClaimsArgs { long, json }) => {
            let found = claims::all(if long { Effort::LONG } else { Effort::QUICK });
            report("trinim.plane.claims/1", "[Ver10]", &found, json.json, out)
        }
    }
}

/// List every claim of the paper with a verdict; exit code 1 if one does not hold
#[derive(Args)]
#[command(after_help = CLAIMS_EXAMPLES)]
pub struct ClaimsArgs {
    /// Compute further: larger heaps, more random points, more digits; takes up to a minute
    #[arg(long)]
    long: bool,

    #[command(flatten)]
    json: JsonArgs,
}

/// The hint for a heap that is not a number.
const NUMBERS: &str = "heaps are whole numbers from 0, like 144 or 10^1000, of at most 1,000,000 digits";

/// Parses the number in an argument; clap would repeat a million wrong digits in its error.
fn whole_number(name: &str, text: &str) -> Result<UBig, Refused> {
    heaps::parse(text).map_err(|error| Refused::new(format!("{name}: {error}"), NUMBERS))
}

fn goal_name() -> impl TypedValueParser<Value = Rule> {
    let names = [PossibleValue::new("normal"), PossibleValue::new("attrition").aliases(["misere", "misère"])];
    offered(names, |text| goals::parse(text).ok_or_else(|| format!("unknown goal {text:?}")))
}

/// A move, for `--json`.
#[derive(Clone, Serialize, JsonSchema)]
struct MoveReport {
    /// `short`, `long`, `both`, or `flip` where a flip is a turn.
    kind: &'static str,
    /// Pieces taken from each heap; `0` for a flip.
    amount: String,
    /// The heaps after it.
    to: [String; 2],
    /// Whether the goal changes; only with `--flip`.
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

/// Formats a point as text, with long numbers shortened.
fn shown([short, long]: &[String; 2]) -> String {
    format!("({}, {})", brief(short), brief(long))
}
