//! `trinim-plane verify`: the formulas against the rules, for small heaps.

use super::{Exit, Out, goal, json, name};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::io::{self, Write};
use trinim_game::{Rule, Value};
use trinim_plane::comparison::{Comparison, compare};
use trinim_plane::goals::{self, Budget, Condition, Flip};
use trinim_plane::heaps::grouped;
use trinim_plane::retrograde::{HEAP_MAX, Setting, Situation};

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
    /// The same as `agrees`.
    ok: bool,
    /// Largest heap.
    max: u32,
    /// Whether formulas and rules agree: exit code 0.
    agrees: bool,
    /// One for each goal and way to flip.
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    /// `normal` or `attrition`.
    goal: &'static str,
    /// `none`, `free`, `after` or `turn`.
    flip: Flip,
    /// `--flips`; null without flips.
    flips: Option<Budget>,
    /// `--condition`; null without flips.
    condition: Option<Condition>,
    /// Situations compared.
    situations: u64,
    /// Losses by the rules.
    losses: u64,
    /// Draws by the rules.
    draws: u64,
    /// Situations where the formula is wrong.
    differences: u64,
    /// Whether the row has no difference.
    agrees: bool,
    /// Points with 0, 1, 2 and 3 winning moves; only without flips.
    #[serde(skip_serializing_if = "Option::is_none")]
    winning_moves: Option<[u64; 4]>,
    /// Only if the row has a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_difference: Option<Difference>,
}

#[derive(Serialize)]
struct Difference {
    /// The heaps.
    position: [String; 2],
    /// Flips that are left.
    flips_left: String,
    /// The true value.
    by_rules: String,
}

impl VerifyArgs {
    /// Runs the command.
    pub fn run(self, as_json: bool, out: &mut Out) -> anyhow::Result<Exit> {
        let flips = Flip::value_variants().iter().filter(|flip| self.flip.is_none_or(|only| only == **flip));
        let settings = flips.map(|flip| Setting { flip: *flip, budget: self.flips, condition: self.condition });
        let found = settings.flat_map(|setting| compare(setting, self.max as usize));
        let rows: Vec<Row> =
            found.filter(|found| self.goal.is_none_or(|goal| goal == found.rule)).map(|found| row(&found)).collect();
        let agrees = rows.iter().all(|row| row.agrees);
        let report = Report { ok: agrees, max: self.max, agrees, rows };
        if as_json {
            json("trinim.plane.verify/1", &report, out)?;
        } else {
            print(&report, out)?;
        }
        Ok(Exit::of_check(agrees))
    }
}

fn row(found: &Comparison) -> Row {
    let Setting { flip, budget, condition } = found.setting;
    let flips = flip != Flip::None;
    let difference = |at: &Situation, by_rules: String| Difference {
        position: [at.short.to_string(), at.long.to_string()],
        flips_left: match budget {
            Budget::Each => format!("{} and {}", at.left & 1, at.left >> 1),
            Budget::Unlimited => "unlimited".to_owned(),
            Budget::One | Budget::Two => at.left.to_string(),
        },
        by_rules,
    };
    let value_name = |value: Option<Value>| value.map_or_else(|| "draw".to_owned(), |value| value.to_string());
    let first = found.first.as_ref().map(|(at, value)| difference(at, value_name(*value)));
    let wrong = found.wrong_moves.as_ref().map(|at| difference(at, "other winning moves".to_owned()));
    Row {
        goal: goals::name(found.rule),
        flip,
        flips: flips.then_some(budget),
        condition: flips.then_some(condition),
        situations: found.situations,
        losses: found.losses,
        draws: found.draws,
        differences: found.differences,
        agrees: found.agrees(),
        winning_moves: found.winning_moves,
        first_difference: first.or(wrong),
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
