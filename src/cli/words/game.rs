//! The game of `solve` and `plan`, its division into blocks, and what nimbers and distances cannot
//! have.

use crate::cli::face::exit::Refused;
use crate::cli::face::file::InputKind;
use crate::cli::face::output::seconds;
use crate::cli::words::args::{self, BidCells, CodecName, LogPlacement, ResourceArgs};
use crate::cli::words::board::RequiredBoard;
use crate::cli::words::choice;
use crate::cli::words::keep::{self, KeepChoice};
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use std::path::Path;
use std::time::Duration;
use trinim::database::{Keep, Values};
use trinim::game::{Board, Rule};
use trinim::layout::{Layout, order_file};
use trinim::plan::speed::{self, Speed};
use trinim::plan::{Plan, Request};

/// Cells of the smallest board whose solve takes so long that measuring this machine first does not
/// show. The time of a smaller one is not estimated: it depends on the machine, and is soon seen.
pub const TIMED_CELLS: u32 = 40;

/// What helps where two options make no sense together.
pub const LEAVE_OUT: &str = "leave out one of the two";

/// An order file; the longest has one line for each block of the largest layout, and comments.
const ORDER: InputKind = InputKind {
    what: "order",
    most_bytes: 256 << 20,
    hint: "trinim layout --layers K --bid-cells CELLS --order search --write-order FILE writes an order",
};

/// The game and its division into blocks, for `solve` and `plan`.
#[derive(Clone, Args)]
pub struct GameArgs {
    #[command(flatten)]
    pub board: RequiredBoard,

    /// Whoever takes the last piece loses (misere) or wins (normal)
    #[arg(long, help_heading = "Game", value_name = "RULE", value_parser = args::rule(), default_value = "misere")]
    pub rule: Rule,

    /// What is kept: database, every value; book or book:PIECES, the values of positions with at
    /// least so many pieces, usually all but 8; counts, only counts and winning first moves
    /// [default: as the folder was begun, else database, and book from nine layers on]
    #[arg(long, help_heading = "Output", value_name = "WHAT", value_parser = keep::parse)]
    pub keep: Option<KeepChoice>,

    #[command(flatten)]
    pub resources: ResourceArgs,

    /// Where logs go; with a database, its blocks take the place of shared logs
    #[arg(long, help_heading = "Expert", value_name = "PLACEMENT", value_enum, default_value_t = LogPlacement::Auto)]
    pub log_placement: LogPlacement,

    /// Codec of the logs: auto measures the run's own data; where the disk is small, it takes a
    /// dense one; or a name: raw, zstd1, zstd3, gaps, rows, ...
    #[arg(long, help_heading = "Expert", value_name = "CODEC", value_parser = args::codec(), default_value = "auto")]
    pub codec: CodecName,

    /// Cells that name the block, like "(1,0)(1,1)", or none [default: chosen from board and
    /// memory]
    #[arg(long, help_heading = "Expert", value_name = "CELLS", value_parser = args::cells, conflicts_with = "block_bits")]
    pub bid_cells: Option<BidCells>,

    /// Largest number of offset bits of a block; 1 to 40 [default: chosen from board and memory]
    #[arg(long, help_heading = "Expert", value_name = "BITS", value_parser = args::block_bits)]
    pub block_bits: Option<u32>,

    /// Time between checkpoints, like 500ms, 5s, 1m: a kill loses at most this much work
    #[arg(long, help_heading = "Expert", hide = true, value_name = "TIME", value_parser = args::duration, default_value = "5s")]
    pub commit_interval: Duration,
}

/// Parses `--values`.
pub fn values() -> impl TypedValueParser<Value = Values> {
    let names = [
        PossibleValue::new("outcomes").help("who wins"),
        PossibleValue::new("nimbers").help("the nimber; only with --rule normal"),
        PossibleValue::new("remoteness").help("the moves until the end, if the winner hurries and the loser delays"),
    ];
    choice::offered(names, |text| text.parse().map_err(|error: trinim::database::ParseValuesError| error.to_string()))
}

/// The refusal of nimbers or distances with what was given.
///
/// # Errors
/// Always.
pub fn refuse_values(values: Values, given: &str, reason: &str, hint: &str) -> Result<(), Refused> {
    Err(Refused::new(format!("--values {values} makes no sense with {given}: {reason}"), hint))
}

/// Refuses a game that nimbers or distances cannot have.
///
/// # Errors
/// Returns [`Refused`] with the option to change.
pub fn agree_with_values(values: Values, game: &GameArgs) -> Result<(), Refused> {
    if values == Values::Nimbers && game.rule != Rule::Normal {
        let reason = "a nimber is the value of a position in normal play";
        return refuse_values(values, &format!("--rule {}", game.rule), reason, "add --rule normal");
    }
    match game.keep.filter(|keep| !values.is_outcomes() && !keep.is_database()) {
        Some(keep) => {
            refuse_values(values, &format!("--keep {keep}"), "counts and books are of wins and losses", LEAVE_OUT)
        }
        None => Ok(()),
    }
}

/// Names the estimated time of this share of a plan, with its range where the speed of this machine
/// was measured and varies.
pub fn estimated(plan: &Plan, share: f64) -> String {
    let [least, time, most] =
        [plan.seconds_least, plan.chosen().seconds, plan.seconds_most].map(|time| seconds(time * share));
    if least == most { time } else { format!("{time} ({least} to {most})") }
}

/// Builds the plan's request for a solve that begins with these arguments.
pub fn request<'a>(board: &'a Board, game: &'a GameArgs, values: Values, keep: Keep) -> Request<'a> {
    let threads = game.resources.threads();
    Request {
        board,
        rule: game.rule,
        values,
        keep,
        memory_bytes: game.resources.memory_bytes(board),
        threads,
        placement: game.log_placement.placement(board, values),
        codec: &game.codec.name,
        commit_interval: game.commit_interval,
        speed: if board.cells() < TIMED_CELLS { Speed::RECORDED } else { speed::of_this_machine(threads) },
    }
}

/// Returns the layout with the order in a file, if one is given.
pub fn ordered(layout: Layout, path: Option<&Path>) -> anyhow::Result<Layout> {
    let Some(path) = path else { return Ok(layout) };
    let text = ORDER.read(path)?;
    Ok(order_file::parse(&text, layout).map_err(|error| ORDER.refused(path, error))?)
}
