//! `trinim-plane precision`: the precision of the golden ratio in the paper and the necessary one.

use super::{Exit, Out, json, table};
use clap::Args;
use serde::Serialize;
use std::io::{self, Write};
use trinim_plane::golden::{self, Ratio, first_failure};
use trinim_plane::heaps::brief;

/// Largest number of digits; it takes seconds.
const DIGITS_MAX: u32 = 10_000;
/// Least number of rows: one more than the paper's table has.
const ROWS: u32 = 5;

const EXAMPLES: &str = "\
Examples:
  trinim-plane precision                  the paper's table 2 beside the correct one
  trinim-plane precision --digits 6
  trinim-plane precision --digits 100 --json

A ratio y in place of the golden one is right for all n below the smallest n with a fraction h/n between the two. \
That n is a Fibonacci number, found without counting up to it. The paper requires n times the error to be below 1; \
in fact n * n times the error has to be below about 0.45.";

/// Show how exact the golden ratio has to be for n of a given length
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PrecisionArgs {
    /// Cover all n up to 10^K; K from 0 to 10000
    #[arg(long, value_name = "K", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(..=i64::from(DIGITS_MAX)))]
    digits: Option<u32>,
}

/// What `trinim-plane precision` prints.
#[derive(Serialize)]
struct Report {
    /// `--digits`; only with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    digits: Option<u32>,
    /// Newton steps; only with `--digits`.
    #[serde(skip_serializing_if = "Option::is_none")]
    newton_steps: Option<Needed>,
    /// Decimals of the golden ratio; only with `--digits`.
    #[serde(skip_serializing_if = "Option::is_none")]
    decimals: Option<Needed>,
    table: Vec<Row>,
}

/// What is needed up to `10^digits`, and what the paper uses.
#[derive(Serialize)]
struct Needed {
    needed: u32,
    paper: u32,
    /// Smallest n for which that is wrong.
    paper_first_failure: String,
    /// Whether that is right for all n up to `10^digits`.
    paper_is_enough: bool,
}

/// A row of the table: one number of Newton steps.
#[derive(Serialize)]
struct Row {
    steps: u32,
    /// First and last k for which the paper uses that many.
    paper: Option<[u32; 2]>,
    /// Last k for which all n up to 10^k are right.
    right_up_to: usize,
    /// Smallest n that is wrong.
    first_failure: String,
}

impl PrecisionArgs {
    pub fn run(self, as_json: bool, out: &mut Out) -> anyhow::Result<Exit> {
        let found = self.digits.map(|digits| (needed_steps(digits), needed_decimals(digits)));
        let rows = found.as_ref().map_or(ROWS, |(steps, _)| ROWS.max(steps.needed.max(steps.paper) + 1));
        let (newton_steps, decimals) = found.unzip();
        let report = Report { digits: self.digits, newton_steps, decimals, table: (0..rows).map(row).collect() };
        if as_json {
            json("trinim.plane.precision/1", &report, out)?;
        } else {
            print(&report, out)?;
        }
        Ok(Exit::Done)
    }
}

fn needed_steps(digits: u32) -> Needed {
    let needed = golden::steps_needed(digits as usize);
    let paper = golden::paper_steps(digits as usize);
    let failure = first_failure(&Ratio::newton(paper));
    Needed { needed, paper, paper_first_failure: failure.to_string(), paper_is_enough: paper >= needed }
}

fn needed_decimals(digits: u32) -> Needed {
    let needed = golden::decimals_needed(digits as usize) as u32;
    let failure = first_failure(&golden::cut(digits as usize));
    Needed { needed, paper: digits, paper_first_failure: failure.to_string(), paper_is_enough: digits >= needed }
}

fn row(steps: u32) -> Row {
    let first_failure = first_failure(&Ratio::newton(steps)).to_string();
    let band = golden::TABLE_2.iter().find(|(of, _, _)| *of == steps);
    Row {
        steps,
        paper: band.map(|(_, first, last)| [*first, *last]),
        right_up_to: first_failure.len() - 1,
        first_failure,
    }
}

fn print(report: &Report, out: &mut Out) -> io::Result<()> {
    if let (Some(digits), Some(steps), Some(decimals)) = (report.digits, &report.newton_steps, &report.decimals) {
        let describe = |found: &Needed, source: &str| {
            let verdict = if found.paper_is_enough { "enough" } else { "too few" };
            let failure = brief(&found.paper_first_failure);
            format!("{} needed; {source} {}, {verdict}: first wrong at n = {failure}", found.needed, found.paper)
        };
        let rows = [
            ("n", format!("all up to 10^{digits}")),
            ("Newton steps", describe(steps, "the paper uses")),
            ("decimals", describe(decimals, "the paper's theorem 4 requires")),
        ];
        table(&rows, out)?;
        writeln!(out)?;
    }
    writeln!(out, "all n up to 10^k are right for k in")?;
    writeln!(out, "{:>5}  {:>9}  {:>9}  first wrong n", "steps", "the paper", "truth")?;
    let mut first = 0;
    for row in &report.table {
        let paper = row.paper.map_or_else(|| "-".to_owned(), |[first, last]| format!("{first} to {last}"));
        let truth = format!("{first} to {}", row.right_up_to);
        writeln!(out, "{:>5}  {paper:>9}  {truth:>9}  {}", row.steps, brief(&row.first_failure))?;
        first = row.right_up_to + 1;
    }
    Ok(())
}
