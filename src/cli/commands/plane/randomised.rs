//! `trinim plane randomised`: which order of the paper's two equations is best.

use super::whole_number;
use crate::cli::face::exit::{Exit, Refused};
use crate::cli::face::output::{Out, counted};
use crate::cli::words::args::JsonArgs;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use trinim_plane::paper;

const EXAMPLES: &str = "\
Examples:
  trinim plane randomised --max 50
  trinim plane randomised --max 1000000 --tries 100000 --seed 3 --json

To place a heap, the paper tests whether it is some a_k, then whether it is some b_i (section 17), or starts with \
either at random, with a at probability 0.618 (section 18). This command places random heaps in both orders and at \
random.";

/// Count how many equations each of the paper's orders (section 18) tries on random heaps
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RandomisedArgs {
    /// Heaps from 1 to M
    #[arg(long, value_name = "M", default_value = "1000000")]
    max: String,

    /// Random heaps to place
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000),
          default_value = "100000")]
    tries: u64,

    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim plane randomised` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// `--max`.
    max: String,
    /// Heaps from 1 to `max` that are some a.
    a: String,
    /// Heaps that are some b.
    b: String,
    /// Random heaps placed.
    tries: u64,
    /// `--seed`.
    seed: u64,
    /// Equations tried for all heaps together, by order.
    equations: Equations,
}

/// Equations tried for all heaps together.
#[derive(Serialize, JsonSchema)]
struct Equations {
    /// A first.
    a_first: u64,
    /// A first with probability 0.618.
    random: u64,
    /// B first.
    b_first: u64,
}

/// Runs the subcommand.
pub fn run(args: RandomisedArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let max = whole_number("--max", &args.max)?;
    let most = u64::try_from(&max).ok().filter(|most| (1..=1 << 62).contains(most)).ok_or_else(|| {
        Refused::new("--max: expected 1 to 4611686018427387904", "random heaps are drawn from 1 to this number")
    })?;
    let (a, b) = paper::counts(&max);
    let tried = paper::sample(most, args.tries, args.seed);
    let report = Report {
        max: max.to_string(),
        a: a.to_string(),
        b: b.to_string(),
        tries: tried.numbers,
        seed: args.seed,
        equations: Equations { a_first: tried.a_first, random: tried.random, b_first: tried.b_first },
    };
    if args.json.json {
        out.json("trinim.plane.randomised/1", &report)?;
        return Ok(Exit::Done);
    }
    let mean = |equations: u64| format!("{:.4} equations a heap", equations as f64 / tried.numbers as f64);
    let rows = [
        ("heaps", format!("1 to {}: {} are some a, {} some b", report.max, report.a, report.b)),
        ("tried", format!("{}, seed {}", counted(tried.numbers, "random heap"), args.seed)),
        ("a first", mean(tried.a_first)),
        ("random", format!("{}, a first with probability 0.618 as in section 18", mean(tried.random))),
        ("b first", mean(tried.b_first)),
    ];
    out.table(&rows)?;
    Ok(Exit::Done)
}
