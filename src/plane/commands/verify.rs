//! `trinim-plane verify`: the formulas against the rules, for small heaps.

use super::{Exit, Out, goal, json, name};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::io::{self, Write};
use trinim_game::Rule;
use trinim_plane::comparison::{Comparison, Difference, compare};
use trinim_plane::goals::{self, Budget, Condition, Flip};
use trinim_plane::heaps::grouped;
use trinim_plane::retrograde::{HEAP_MAX, Setting};

const EXAMPLES: &str = "\
Examples:
  trinim-plane verify --max 400 --flip none        both goals
  trinim-plane verify --max 100                    all ways to change the goal; turn ends with 1
  trinim-plane verify --max 34 --flip turn --flips unlimited
  trinim-plane verify --max 34 --flip free --condition always --json

Every point with heaps up to M is decided from its options, from the end upwards, and compared with the formula. \
Where the goal never changes, every winning move is compared too. Where a flip is a turn, the formula is the paper's \
claim, which is wrong; trinim-plane at does not use it there.";

/// Check the formulas against the rules; exit code 1 if they differ
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// The largest heap, 0 to 1000
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(0..=HEAP_MAX as i64),
          default_value = "100")]
    max: u32,

    /// The goal [default: both]
    #[arg(long, value_parser = goal(), ignore_case = true)]
    goal: Option<Rule>,

    /// When the goal can change [default: all of them]
    #[arg(long, value_name = "WHEN", ignore_case = true)]
    flip: Option<Flip>,

    /// How often the goal can change
    #[arg(long, value_name = "TIMES", ignore_case = true, default_value = "one")]
    flips: Budget,

    /// Where the goal can change
    #[arg(long, value_name = "WHERE", ignore_case = true, default_value = "paper")]
    condition: Condition,
}

/// What `trinim-plane verify` prints.
#[derive(Serialize)]
struct Report {
    ok: bool,
    max: u32,
    /// Whether formulas and rules agree: exit code 0.
    agrees: bool,
    /// One for each goal and way to flip.
    rows: Vec<Comparison>,
}

impl VerifyArgs {
    pub fn run(self, as_json: bool, out: &mut Out) -> anyhow::Result<Exit> {
        let flips = Flip::value_variants().iter().filter(|flip| self.flip.is_none_or(|only| only == **flip));
        let settings = flips.map(|flip| Setting { flip: *flip, budget: self.flips, condition: self.condition });
        let found = settings.flat_map(|setting| compare(setting, self.max as usize));
        let goal = self.goal.map(goals::name);
        let rows: Vec<_> = found.filter(|found| goal.is_none_or(|goal| goal == found.goal)).collect();
        let agrees = rows.iter().all(|row| row.agrees);
        let report = Report { ok: agrees, max: self.max, agrees, rows };
        if as_json {
            json("trinim.plane.verify/1", &report, out)?;
        } else {
            print(&report, out)?;
        }
        Ok(Exit::from_check(agrees))
    }
}

fn print(report: &Report, out: &mut Out) -> io::Result<()> {
    let heading = ["goal", "flip", "flips", "situations", "losses", "draws", "differences"];
    let mut line = |[goal, flip, flips, situations, losses, draws, differences]: [&str; 7], end: &str| {
        writeln!(
            out,
            "{goal:9}  {flip:5}  {flips:9}  {situations:>11}  {losses:>9}  {draws:>7}  {differences:>11}{end}"
        )
    };
    line(heading, "")?;
    for row in &report.rows {
        let [situations, losses, draws, differences] =
            [row.situations, row.losses, row.draws, row.differences].map(grouped);
        let (flip, flips) = (name(row.flip), row.flips.map_or("-".to_owned(), name));
        let end = if row.agrees { "  agrees" } else { "  differs" };
        line([row.goal, &flip, &flips, &situations, &losses, &draws, &differences], end)?;
    }
    for row in &report.rows {
        if let Some(Difference { position: [short, long], flips_left, by_rules }) = &row.first_difference {
            let flips = row.flips.map_or_else(String::new, |_| format!(", flips left: {flips_left}"));
            writeln!(
                out,
                "first difference, {} goal, flip {}: ({short}, {long}){flips}: by the rules {by_rules}",
                row.goal,
                name(row.flip)
            )?;
        }
    }
    for row in &report.rows {
        if let Some([none, one, two, three]) = row.winning_moves {
            writeln!(out, "points with 0, 1, 2, 3 winning moves, {} goal: {none}, {one}, {two}, {three}", row.goal)?;
        }
    }
    Ok(())
}
