//! `trinim plane claims`: every claim of the paper, with a verdict.

use crate::cli::face::exit::Exit;
use crate::cli::face::output::Out;
use crate::cli::words::args::JsonArgs;
use crate::cli::words::claims;
use clap::Args;
use trinim_plane::claims::{Effort, all};

const EXAMPLES: &str = "\
Examples:
  trinim plane claims
  trinim plane claims --long --json

Every theorem, table, example and number of [Ver10] that the available text still has, with the printed value, the \
computed one and a verdict: agrees, contradicted, misprint (the paper itself shows what was meant), undecided. The \
exit code is 1 if a claim is contradicted or misprinted, as some are.";

/// List every claim of the paper with a verdict; exit code 1 if one does not hold
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ClaimsArgs {
    /// Compute further: larger heaps, more random points, more digits; takes up to a minute
    #[arg(long)]
    long: bool,

    #[command(flatten)]
    json: JsonArgs,
}

/// Runs the subcommand.
pub fn run(args: ClaimsArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let claims = all(if args.long { Effort::LONG } else { Effort::QUICK });
    claims::report("trinim.plane.claims/1", "[Ver10]", &claims, args.json.json, out)
}
