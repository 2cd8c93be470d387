//! `trinim evolve claims`: every claim of the paper, with a verdict.

use super::args::{RunsArgs, evolving, refused};
use crate::cli::face::exit::Exit;
use crate::cli::face::output::Out;
use crate::cli::face::progress::{self, ProgressArgs};
use crate::cli::face::signals::Signals;
use crate::cli::words::args::{JsonArgs, ThreadsArgs};
use crate::cli::words::claims;
use clap::Args;
use std::sync::atomic::AtomicU64;
use trinim_evolve::claims::{ClaimsError, Effort, all};

const EXAMPLES: &str = "\
Examples:
  trinim evolve claims
  trinim evolve claims --runs 500 --json    repeat the experiments with 500 runs a point

Every rule, table, figure, formula, experiment and number of [Olt21] with the printed value, the computed one and a \
verdict: agrees, contradicted, misprint (the paper itself shows what was meant), undecided. A success rate is \
contradicted if Fisher's exact test, two-sided, gives a probability below 0.05 divided by the ten points of its \
experiment; many runs show smaller differences. The exit code is 1 if a claim is contradicted or misprinted, as some \
are.";

/// List every claim of the paper with a verdict; exit code 1 if one does not hold
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ClaimsArgs {
    #[command(flatten)]
    points: RunsArgs,

    #[command(flatten)]
    threads: ThreadsArgs,

    #[command(flatten)]
    progress: ProgressArgs,

    #[command(flatten)]
    json: JsonArgs,
}

/// Runs the subcommand.
pub fn run(args: ClaimsArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let effort = Effort { runs: args.points.runs, seed: args.points.seed, threads: args.threads.count() };
    let shown = args.progress.on(out)?;
    let signals = Signals::register()?;
    let (done, total) = (AtomicU64::new(0), trinim_evolve::claims::runs(effort));
    let found = progress::during(&evolving(&done, total), &signals, &shown, |_| all(effort, &signals.stop, &done));
    match found {
        Ok(found) => claims::report("trinim.evolve.claims/1", "[Olt21]", &found, args.json.json, out),
        Err(ClaimsError::Stopped) => {
            out.remark("stopped by a signal; no claim is judged by a part of the runs");
            Ok(signals.exit())
        }
        Err(error) => Err(refused(error, "use fewer --runs")),
    }
}
