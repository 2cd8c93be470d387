//! `trinim plane verify`: the formulas against the rules, for small heaps.

use super::goal_name;
use crate::cli::face::exit::Exit;
use crate::cli::face::output::{Out, grouped};
use crate::cli::words::args::JsonArgs;
use crate::cli::words::choice::{choice, name};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use trinim::game::Rule;
use trinim::game::Value;
use trinim_plane::comparison::{Comparison, compare};
use trinim_plane::goals::{self, Budget, Condition, Flip};
use trinim_plane::retrograde::{HEAP_MAX, Setting, Situation};

const EXAMPLES: &str = "\
Examples:
  trinim plane verify --max 400 --flip none        both goals
  trinim plane verify --max 100                    all ways to change the goal; turn ends with 1
  trinim plane verify --max 34 --flip turn --flips unlimited
  trinim plane verify --max 34 --flip free --condition always --json

Every point with heaps up to M is decided from its options, from the end upwards, and compared with the formula. \
Where the goal never changes, every winning move is compared too. Where a flip is a turn, the formula is the paper's \
claim, which is wrong; trinim plane at does not use it there.";

/// Check the formulas against the rules; exit code 1 if they differ
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// The largest heap, 0 to 1000
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(0..=HEAP_MAX as i64),
          default_value = "100")]
    max: u32,

    /// Goal: normal or attrition [default: both]
    #[arg(long, value_name = "GOAL", value_parser = goal_name())]
    goal: Option<Rule>,

    /// When the goal can be changed: none, free, after, turn [default: all of them]
    #[arg(long, value_name = "WHEN", value_parser = choice(&Flip::ALL))]
    flip: Option<Flip>,

    /// How often the goal can be changed: one in all, one for each, two in all, unlimited
    #[arg(long, value_name = "TIMES", value_parser = choice(&Budget::ALL), default_value = "one")]
    flips: Budget,

    /// Where: paper (L >= S + 2 >= 7), apart (L >= S + 2), sum (L + S >= 27), always
    #[arg(long, value_name = "WHERE", value_parser = choice(&Condition::ALL), default_value = "paper")]
    condition: Condition,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim plane verify` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// The same as `agrees`.
    ok: bool,
    /// Largest heap.
    max: u32,
    /// Whether formulas and rules agree: exit code 0.
    agrees: bool,
    /// One for each goal and way to flip.
    rows: Vec<Row>,
}

#[derive(Serialize, JsonSchema)]
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

#[derive(Serialize, JsonSchema)]
struct Difference {
    /// The heaps.
    position: [String; 2],
    /// Flips that are left.
    flips_left: String,
    /// The true value.
    by_rules: String,
}

/// Runs the subcommand.
pub fn run(args: VerifyArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let flips: Vec<Flip> = args.flip.map_or_else(|| Flip::ALL.to_vec(), |flip| vec![flip]);
    let mut rows = Vec::new();
    for flip in flips {
        let setting = Setting { flip, budget: args.flips, condition: args.condition };
        let found = compare(setting, args.max as usize);
        rows.extend(found.iter().filter(|found| args.goal.is_none_or(|goal| goal == found.rule)).map(row));
    }
    let agrees = rows.iter().all(|row| row.agrees);
    let report = Report { ok: agrees, max: args.max, agrees, rows };
    if args.json.json {
        out.json("trinim.plane.verify/1", &report)?;
    } else {
        print(&report, out)?;
    }
    Ok(if report.agrees { Exit::Done } else { Exit::Refuted })
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

fn print(report: &Report, out: &mut Out) -> anyhow::Result<()> {
    writeln!(
        out,
        "{:9}  {:5}  {:9}  {:>11}  {:>9}  {:>7}  {:>11}",
        "goal", "flip", "flips", "situations", "losses", "draws", "differences"
    )?;
    for row in &report.rows {
        let Row { goal, flip, situations, losses, draws, differences, .. } = row;
        let [situations, losses, draws] = [*situations, *losses, *draws].map(grouped);
        let flips = row.flips.as_ref().map_or("-".to_owned(), name);
        let verdict = if row.agrees { out.paint.good("agrees") } else { out.paint.bad("differs") };
        writeln!(
            out,
            "{goal:9}  {:5}  {flips:9}  {situations:>11}  {losses:>9}  {draws:>7}  {:>11}  {verdict}",
            name(flip),
            grouped(*differences),
        )?;
    }
    for row in &report.rows {
        if let Some(Difference { position: [short, long], flips_left, by_rules }) = &row.first_difference {
            let flips = row.flips.map_or_else(String::new, |_| format!(", flips left: {flips_left}"));
            writeln!(
                out,
                "first difference, {} goal, flip {}: ({short}, {long}){flips}: by the rules {by_rules}",
                row.goal,
                name(&row.flip)
            )?;
        }
    }
    let counted = report.rows.iter().filter_map(|row| row.winning_moves.map(|counts| (row.goal, counts)));
    for (goal, [none, one, two, three]) in counted {
        writeln!(out, "points with 0, 1, 2, 3 winning moves, {goal} goal: {none}, {one}, {two}, {three}")?;
    }
    Ok(())
}
