//! `--values`: what is computed of each position, and the options that make no sense with nimbers.

use super::SolveArgs;
use crate::cli::face::exit::Refused;
use crate::cli::words::game::{LEAVE_OUT, agree_with_nimbers, refuse_nimbers, values};
use clap::Args;
use trinim::database::Values;
use trinim::solve::Strategy;

/// `--values`.
#[derive(Clone, Args)]
pub struct ValuesArgs {
    /// What is computed of each position: who wins, or its nimber, the Grundy value of normal play
    /// [default: as the folder was begun, else outcomes]
    #[arg(long, help_heading = "Game", value_name = "VALUES", value_parser = values())]
    pub values: Option<Values>,
}

impl ValuesArgs {
    /// Returns the values that are named, for the name of a folder.
    pub fn named(&self) -> Values {
        self.values.unwrap_or_default()
    }
}

/// Refuses the options that nimbers cannot have.
pub fn agree(args: &SolveArgs, strategy: Strategy) -> Result<(), Refused> {
    agree_with_nimbers(&args.game)?;
    if let Strategy::Baseline(baseline) = strategy {
        return refuse_nimbers(&format!("--strategy {baseline}"), "the papers' strategies decide who wins", LEAVE_OUT);
    }
    if args.audit.is_some_and(|audit| audit.0.is_some()) {
        let hint = "leave out one of the two; trinim verify confirms every nimber";
        return refuse_nimbers("--audit", "an audit compares wins and losses", hint);
    }
    Ok(())
}
