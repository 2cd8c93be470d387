//! `trinim evolve run`: runs of the engine, whose formulas are checked on more positions than they
//! were found on.

use super::args::{EvolveGameArgs, evolving, held_out, refused, runs};
use super::run_report::Printed;
use super::settings::SettingsArgs;
use crate::cli::face::exit::Exit;
use crate::cli::face::output::Out;
use crate::cli::face::progress::{self, ProgressArgs};
use crate::cli::face::schema::sorted;
use crate::cli::face::signals::Signals;
use crate::cli::words::args::{JsonArgs, ThreadsArgs};
use clap::Args;
use std::sync::atomic::AtomicU64;
use trinim_evolve::engine::Problem;
use trinim_evolve::runs::{Batch, run_all};

const EXAMPLES: &str = "\
Examples:
  trinim evolve run --game nim:4,4,4,4 --preset best --runs 10
  trinim evolve run --game nim:4,4,4,4 --runs 50 --seed 1 --json
  trinim evolve run --game wythoff:10 --states ascending \\
      --functions +,-,xor,phi --n none --preset best --max 200
  trinim evolve run --game nim:5,5,5 --target grundy --preset best
  trinim evolve run --game nim:3,3,3 --misere --preset misere

The same seed gives the same results for any number of threads. Finding no formula without violations is a result, \
with exit code 0. Ctrl-C stops the runs and reports what they have found; only finished runs count for the rates.";

/// Evolve formulas for a game
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    #[command(flatten)]
    game: EvolveGameArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    /// Number of runs
    #[arg(long, value_name = "N", value_parser = runs, default_value = "10")]
    runs: u64,

    /// Seed of the random numbers
    #[arg(long, value_name = "SEED", default_value = "1")]
    seed: u64,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// Largest heap of the held-out positions that formulas are checked on [default: up to four
    /// times the largest heap]
    #[arg(long, value_name = "B", value_parser = heap_max)]
    max: Option<i32>,

    /// Also print the genes of each run
    #[arg(long)]
    chromosomes: bool,

    #[command(flatten)]
    json: JsonArgs,

    #[command(flatten)]
    progress: ProgressArgs,
}

/// Parses the largest heap of a check.
pub fn heap_max(text: &str) -> Result<i32, String> {
    let most = trinim_evolve::games::HEAP_MAX;
    match text.parse() {
        Ok(heap) if (0..=most).contains(&heap) => Ok(heap),
        _ => Err(format!("expected 0 to {most} pieces")),
    }
}

/// Runs the subcommand.
pub fn run(args: RunArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let chosen = args.game.choose()?;
    let settings = args.settings.settings(chosen.target)?;
    let graph = chosen.graph(settings.ordering)?;
    let alphabet = args.settings.alphabet(&graph.scope)?;
    let help = "see trinim evolve run --help";
    let problem = Problem::new(graph, alphabet, &settings).map_err(|error| refused(error, help))?;
    let trained = chosen.game.largest();
    if let Some(most) = args.max.filter(|most| *most <= trained) {
        let message = format!("--max {most}: formulas are found on heaps up to {trained}, expected a larger number");
        return Err(refused(message, "leave out --max for a range that is quick"));
    }
    // Fail before hours of work, not after them.
    let held = held_out(&chosen, settings.ordering, args.max)?;

    let shown = args.progress.on(out)?;
    let signals = Signals::register()?;
    let batch = Batch { seed: args.seed, runs: 0..args.runs, threads: args.threads.count() };
    let done = AtomicU64::new(0);
    let results = progress::during(&evolving(&done, args.runs), &signals, &shown, |_| {
        run_all(&problem, &settings, &batch, &signals.stop, &done)
    });
    let printed = Printed::new(&chosen, &problem, args.settings.preset, &settings, &held, &batch, &results);
    if args.json.json {
        out.json("trinim.evolve.run/1", &sorted(&printed)?)?;
    } else {
        printed.print(args.chromosomes, out)?;
    }
    if printed.interrupted {
        out.remark(format_args!("stopped by a signal after {} of {} runs", printed.runs_finished, args.runs));
        return Ok(signals.exit());
    }
    Ok(Exit::Done)
}
