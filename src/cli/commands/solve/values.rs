//! `--values`: what is computed of each position, and the options that make no sense with nimbers.

use super::SolveArgs;
use crate::cli::face::exit::Refused;
use crate::cli::words::game::{LEAVE_OUT, agree_with_nimbers, refuse_nimbers, values};
use clap::Args;
use pipeline::Error;
use pipeline::checkpoint::{self, Inspection};
use std::path::Path;
use trinim::database::Values;
use trinim::solve::Strategy;

/// `--values`.
#[derive(Clone, Args)]
pub struct ValuesArgs {
    /// What is computed of each position: who wins, or its nimber, the Grundy value of normal play
    /// [default: as the folder was begun, else outcomes]
    #[arg(long, help_heading = "Game", value_name = "VALUES", value_parser = values())]
    values: Option<Values>,
}

impl ValuesArgs {
    /// Returns the values that are named, for the name of a folder.
    pub fn named(&self) -> Values {
        self.values.unwrap_or_default()
    }
}

/// Returns what is computed: given on the command line, by the run in the folder, or outcomes.
///
/// # Errors
/// Returns [`Error::Parameters`] if the folder was begun with another choice, and [`Refused`] if
/// nimbers are asked for together with what they cannot have.
pub fn chosen(
    args: &SolveArgs,
    strategy: Strategy,
    folder: &Path,
    begun: Option<&Inspection>,
) -> anyhow::Result<Values> {
    if args.values.values == Some(Values::Nimbers) {
        agree(args, strategy)?;
    }
    // A folder of another program is refused when it is opened.
    let found = begun.and_then(|begun| Values::from_parameters(&begun.parameters.0));
    match (found, args.values.values) {
        (Some(found), Some(wanted)) if found != wanted => Err(Error::Parameters {
            path: folder.join(checkpoint::FORMAT),
            name: Values::PARAMETER.to_owned(),
            found: found.to_string(),
            wanted: wanted.to_string(),
        }
        .into()),
        (found, wanted) => Ok(found.or(wanted).unwrap_or_default()),
    }
}

/// Refuses the options that nimbers cannot have.
fn agree(args: &SolveArgs, strategy: Strategy) -> Result<(), Refused> {
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
