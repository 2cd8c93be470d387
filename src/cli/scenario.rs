//! The common part of `solve` and `plan`: the game, its division into blocks, and refusals.

use crate::Solve;
use crate::cli::args::{self, BlocksArgs, LogPlacement, ResourceArgs};
use crate::cli::board::RequiredBoard;
use crate::cli::choice;
use crate::database::{Audit, Values};
use crate::game::Rule;
use crate::job::{Contradiction, JobError, KeepChoice};
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use pipeline::codec::Codec;
use std::time::Duration;
use terminal::exit::Refused;

/// The hint for two options that exclude each other.
pub const LEAVE_OUT: &str = "leave out one of the two";

/// The game and its division into blocks, for `solve` and `plan`.
#[derive(Clone, Args)]
pub struct ScenarioArgs {
    #[command(flatten)]
    pub board: RequiredBoard,

    /// Whether taking the last piece loses (misere) or wins (normal)
    #[arg(long, help_heading = "Game", value_name = "RULE", value_parser = args::rule(), default_value = "misere")]
    pub rule: Rule,

    /// What to keep: database (every value), book or book:PIECES (many pieces), or counts [default:
    /// as in the folder, else database; from nine layers on, book]
    ///
    /// A book has the positions with at least PIECES pieces, usually all but 8; counts are only the
    /// counts and the winning first moves.
    #[arg(long, help_heading = "Output", value_name = "WHAT", value_parser = args::keep)]
    pub keep: Option<KeepChoice>,

    /// Compare a share of the blocks with their children before saving: 1%, all, or none [default:
    /// as in the folder, else none; from nine layers on, 1%]
    #[arg(long, help_heading = "Output", value_name = "SHARE|all|none")]
    pub audit: Option<Audit>,

    #[command(flatten)]
    pub resources: ResourceArgs,

    /// Where logs are written; a kept database replaces shared logs
    #[arg(long, help_heading = "Expert", value_name = "PLACEMENT", value_parser = args::log_placement(), default_value = "auto")]
    pub log_placement: LogPlacement,

    /// Codec of the logs [default: rows-bytes up to seven layers, rows-huffman from eight on]
    #[arg(long, help_heading = "Expert", value_name = "CODEC", value_parser = args::codec())]
    pub codec: Option<&'static dyn Codec>,

    #[command(flatten)]
    pub blocks: BlocksArgs,

    /// Time between checkpoints, like 500ms, 5s, 1m: a kill loses at most this much work
    /// [default: 5s]
    #[arg(long, help_heading = "Expert", hide = true, value_name = "TIME", value_parser = args::duration)]
    pub commit_interval: Option<Duration>,
}

pub fn values() -> impl TypedValueParser<Value = Values> {
    let names = [
        PossibleValue::new("outcomes").help("who wins"),
        PossibleValue::new("nimbers").help("the nimber; only with --rule normal"),
        PossibleValue::new("remoteness").help("the moves until the end, if the winner hurries and the loser delays"),
    ];
    choice::offered(names, |text| text.parse().map_err(|error: crate::database::ParseValuesError| error.to_string()))
}

impl ScenarioArgs {
    pub fn solve(&self, values: Option<Values>) -> anyhow::Result<Solve> {
        let board = self.board.solvable()?;
        let solve = self.resources.bound(Solve::new(&board, self.rule)).values(values).keep(self.keep);
        let solve = solve.placement(self.log_placement).codec(self.codec);
        let solve = solve.commit_interval(self.commit_interval);
        let solve = self.audit.into_iter().fold(solve, Solve::audit);
        Ok(self.blocks.bound(solve)?)
    }
}

pub fn refusal(error: JobError) -> anyhow::Error {
    let (message, hint) = match error {
        // Without the wrapper, which would hide the cause of the exit code.
        JobError::Run(error) => return error.into(),
        JobError::Database(error) => return error.into(),
        JobError::Plan(error) => return error.into(),
        JobError::Contradiction(Contradiction { choice, other, reason }) => {
            let hint = match (choice.name, other.name) {
                ("values", "rule") => "add --rule normal",
                _ => LEAVE_OUT,
            };
            (format!("--{choice} cannot be used with --{other}: {reason}"), hint.to_owned())
        }
        JobError::Pieces { usual, .. } => (format!("--{error}"), format!("--keep {usual} keeps the usual book")),
        error => (error.to_string(), "use trinim probe or trinim play, which accept larger boards".to_owned()),
    };
    Refused::new(message, hint).into()
}
