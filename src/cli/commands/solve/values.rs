//! `--values`: what is computed of each position, and the options that make no sense with nimbers.

use super::SolveArgs;
use crate::cli::face::exit::Refused;
use crate::cli::words::game::GameArgs;
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use trinim::database::Values;
use trinim::game::Rule;
use trinim::solve::Strategy;

const LEAVE_OUT: &str = "leave out one of the two";

/// `--values`.
#[derive(Clone, Args)]
pub struct ValuesArgs {
    /// What is computed of each position: who wins, or its nimber, the Grundy value of normal play
    /// [default: as the folder was begun, else outcomes]
    #[arg(long, help_heading = "Game", value_name = "VALUES", value_parser = values())]
    pub values: Option<Values>,
}

/// Parses `--values`.
pub fn values() -> impl TypedValueParser<Value = Values> {
    let names = [
        PossibleValue::new("outcomes").help("who wins"),
        PossibleValue::new("nimbers").help("the nimber; only with --rule normal"),
    ];
    crate::cli::words::choice::offered(names, |text| {
        text.parse().map_err(|error: trinim::database::ParseValuesError| error.to_string())
    })
}

impl ValuesArgs {
    /// Returns the values that are named, for the name of a folder.
    pub fn named(&self) -> Values {
        self.values.unwrap_or_default()
    }
}

fn refuse(given: &str, reason: &str, hint: &str) -> Result<(), Refused> {
    Err(Refused::new(format!("--values nimbers makes no sense with {given}: {reason}"), hint))
}

/// Refuses a game that nimbers cannot have.
///
/// # Errors
/// Returns [`Refused`] with the option to change.
pub fn agree_with(game: &GameArgs) -> Result<(), Refused> {
    if game.rule != Rule::Normal {
        let reason = "a nimber is the value of a position in normal play";
        return refuse(&format!("--rule {}", game.rule), reason, "add --rule normal");
    }
    match game.keep.filter(|keep| !keep.is_database()) {
        Some(keep) => refuse(&format!("--keep {keep}"), "counts and books are of wins and losses", LEAVE_OUT),
        None => Ok(()),
    }
}

/// Refuses the options that nimbers cannot have.
pub fn agree(args: &SolveArgs, strategy: Strategy) -> Result<(), Refused> {
    agree_with(&args.game)?;
    if let Strategy::Baseline(baseline) = strategy {
        return refuse(&format!("--strategy {baseline}"), "the papers' strategies decide who wins", LEAVE_OUT);
    }
    if args.audit.is_some_and(|audit| audit.0.is_some()) {
        let hint = "leave out one of the two; trinim verify confirms every nimber";
        return refuse("--audit", "an audit compares wins and losses", hint);
    }
    Ok(())
}
