//! `trinim-plane at`: value and winning moves of one point.

use super::{Exit, NUMBERS, Out, Refusal, goal, json, name, table, whole_number};
use anyhow::anyhow;
use clap::Args;
use serde::Serialize;
use std::io::Read;
use terminal::streams::PatientReader;
use trinim_game::text::is_blank;
use trinim_game::{Rule, Value};
use trinim_plane::goals::{self, Budget, Condition, Flip};
use trinim_plane::heaps::{DIGITS_MAX, Move, Point, brief};
use trinim_plane::retrograde::{Setting, Situation, Step, Table};
use trinim_plane::winning;

/// Largest heap without a known formula, where all smaller points are decided first.
const TURN_HEAP_MAX: usize = 500;

/// Longest input in bytes: two numbers of the most digits, and some space.
const INPUT_BYTES: u64 = 2 * DIGITS_MAX as u64 + 1000;

const EXAMPLES: &str = "\
Examples:
  trinim-plane at 520 1459
  trinim-plane at 10^1000 10^999 --json
  trinim-plane at 2 2 --goal attrition
  trinim-plane at 6 10 --flip turn            one flip in all; a flip is a turn
  echo 10^1000 123456 | trinim-plane at -     numbers that are too long for an argument

In normal play, the player who reaches (0, 0) wins; in attrition, that player loses. With --flip, the goal can be changed \
where L >= S + 2 >= 7: before a move (free), after it (after), or as a separate turn (turn). The first two change no \
value, whatever the number of flips. If the heaps are equal, either counts as the long one.";

/// Say who wins at a position, and list the winning moves
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct AtArgs {
    /// Heap, like 144 or 10^1000; - reads both heaps from standard input
    #[arg(value_name = "S", allow_negative_numbers = true)]
    one: String,

    /// The other heap
    #[arg(value_name = "L", allow_negative_numbers = true)]
    other: Option<String>,

    /// The goal
    #[arg(long, value_parser = goal(), ignore_case = true, default_value = "normal")]
    goal: Rule,

    /// When the goal can change
    #[arg(long, value_name = "WHEN", ignore_case = true, default_value = "none")]
    flip: Flip,

    /// How often the goal can change
    #[arg(long, value_name = "TIMES", ignore_case = true, default_value = "one")]
    flips: Budget,
}

/// What `trinim-plane at` prints. Heaps, amounts and indices are strings of digits, because they
/// may have any length.
#[derive(Serialize)]
struct Report {
    /// The heaps, the short one first.
    position: [String; 2],
    /// `normal` or `attrition`.
    goal: &'static str,
    /// `none`, `free`, `after` or `turn`.
    flip: Flip,
    /// `win`, `loss` or `draw` for the player to move.
    value: String,
    /// `N` or `P`; null for a draw.
    outcome: Option<String>,
    /// Number of a lost point in the sequence of lost points.
    index: Option<String>,
    moves: Vec<MoveReport>,
    /// The move of a lost point that is hardest to answer; only there.
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<MoveReport>,
}

#[derive(Clone, Serialize)]
struct MoveReport {
    /// `short`, `long`, `both`, or `flip` where a flip is a turn.
    kind: &'static str,
    /// Pieces taken from each heap; `0` for a flip.
    amount: String,
    to: [String; 2],
    /// Whether the goal changes; only with `--flip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    flip: Option<bool>,
}

impl AtArgs {
    pub fn run(self, as_json: bool, out: &mut Out) -> anyhow::Result<Exit> {
        let point = point(&self.one, self.other.as_deref())?;
        if point.is_end() {
            let rule = goals::name(self.goal);
            return Err(Refusal::new(
                format!("S, L: (0, 0) ends the game and has no moves ({rule} goal)"),
                "give a heap above 0; the player who reached (0, 0) has won in normal play and lost in attrition",
            )
            .into());
        }
        let (value, report) = match self.flip {
            Flip::Turn => by_table(&point, &self)?,
            _ => by_formula(&point, &self),
        };
        if as_json {
            json("trinim.plane.at/1", &report, out)?;
        } else {
            table(&rows(value, &report), out)?;
        }
        Ok(Exit::Done)
    }
}

fn pair(point: &Point) -> [String; 2] {
    [point.short().to_string(), point.long().to_string()]
}

/// Formats a point as text, with long numbers shortened.
fn shown([short, long]: &[String; 2]) -> String {
    format!("({}, {})", brief(short), brief(long))
}

fn point(one: &str, other: Option<&str>) -> anyhow::Result<Point> {
    if let Some(other) = other {
        return Ok(Point::new(whole_number("S", one)?, whole_number("L", other)?));
    }
    let both = "expected two numbers, S and L, or - and both on standard input";
    if one != "-" {
        return Err(Refusal::new("L is missing: expected two heaps", both).into());
    }
    let mut bytes = Vec::new();
    let read = PatientReader.take(INPUT_BYTES + 1).read_to_end(&mut bytes);
    let length = read.map_err(|error| anyhow!("standard input: {error}"))?;
    if length as u64 > INPUT_BYTES {
        return Err(Refusal::new(format!("standard input: expected at most {INPUT_BYTES} bytes"), NUMBERS).into());
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut words = text.split(is_blank).filter(|word| !word.is_empty());
    match (words.next(), words.next(), words.next()) {
        (Some(one), Some(other), None) => Ok(Point::new(whole_number("S", one)?, whole_number("L", other)?)),
        _ => Err(Refusal::new("standard input: not two numbers", both).into()),
    }
}

fn by_formula(point: &Point, args: &AtArgs) -> (Option<Value>, Report) {
    let rule = args.goal;
    let is_flippable = args.flip != Flip::None;
    let reported = |step: &Move, flip: bool| {
        let to = point.after(step)?;
        let flip = is_flippable.then_some(flip);
        Some(MoveReport { kind: step.kind.name(), amount: step.amount.to_string(), to: pair(&to), flip })
    };
    let mut moves: Vec<MoveReport> =
        winning::moves(rule, point).iter().filter_map(|step| reported(step, false)).collect();
    // A flip with a move changes no value, so the same formula holds for the other goal.
    if is_flippable {
        let may_flip = |step: &&Move| match args.flip {
            Flip::Free => Condition::Paper.holds(point),
            _ => point.after(step).is_some_and(|to| Condition::Paper.holds(&to)),
        };
        let changed = winning::moves(goals::other(rule), point);
        moves.extend(changed.iter().filter(may_flip).filter_map(|step| reported(step, true)));
    }
    let value = winning::value(rule, point);
    let delay = if value.is_loss() { winning::delay(rule, point) } else { None };
    let report = Report {
        position: pair(point),
        goal: goals::name(rule),
        flip: args.flip,
        value: value.to_string(),
        outcome: Some(value.outcome().to_string()),
        index: winning::index(rule, point).map(|index| index.to_string()),
        moves,
        delay: delay.and_then(|step| reported(&step, false)),
    };
    (Some(value), report)
}

/// Decides all smaller points: where a flip is a turn, the paper's formula is wrong and no other is
/// known.
fn by_table(point: &Point, args: &AtArgs) -> anyhow::Result<(Option<Value>, Report)> {
    let heap = |name: &str, number| {
        usize::try_from(number).ok().filter(|number| *number <= TURN_HEAP_MAX).ok_or_else(|| {
            let reason =
                format!("{name}: no formula is known for flips as turns: expected heaps up to {TURN_HEAP_MAX}");
            Refusal::new(reason, "--flip free and --flip after take heaps of any length")
        })
    };
    let (short, long) = (heap("S", point.short())?, heap("L", point.long())?);
    let setting = Setting { flip: Flip::Turn, budget: args.flips, condition: Condition::Paper };
    let table = Table::new(setting, long);
    let at = Situation { short, long, rule: args.goal, left: setting.full() };
    let value = table.value(at);
    let replies = |at: Situation| setting.turns(at).filter(|(_, to)| table.value(*to) == Some(Value::Loss));
    let delay = setting.turns(at).filter(|(step, to)| step.is_some() && to.long > 0);
    // Of the moves with the fewest winning replies, the one that takes least.
    let delay = delay.min_by_key(|(step, to)| (replies(*to).count(), step.map(|(_, amount)| amount)));
    let report = |(step, to): (Option<Step>, Situation)| MoveReport {
        kind: step.map_or("flip", |(kind, _)| kind.name()),
        amount: step.map_or(0, |(_, amount)| amount).to_string(),
        to: [to.short.to_string(), to.long.to_string()],
        flip: Some(step.is_none()),
    };
    let report = Report {
        position: pair(point),
        goal: goals::name(args.goal),
        flip: args.flip,
        value: value.map_or_else(|| "draw".to_owned(), |value| value.to_string()),
        outcome: value.map(|value| value.outcome().to_string()),
        index: None,
        moves: replies(at).map(report).collect(),
        delay: if value == Some(Value::Loss) { delay.map(report) } else { None },
    };
    Ok((value, report))
}

/// Returns the report as labelled lines.
fn rows(value: Option<Value>, report: &Report) -> Vec<(&'static str, String)> {
    let flips = match report.flip {
        Flip::None => String::new(),
        flip => format!(", flips: {}", name(flip)),
    };
    let mut rows = vec![("point", format!("{}, {} goal{flips}", shown(&report.position), report.goal))];
    let describe = |value: Value| {
        let sign = if value.is_loss() { '-' } else { '+' };
        format!("{sign} {value} for the player to move ({})", value.outcome())
    };
    let draw = "draw: both players change the goal rather than lose";
    rows.push(("value", value.map_or_else(|| draw.to_owned(), describe)));
    if let Some(index) = &report.index {
        rows.push(("index", format!("lost point number {}", brief(index))));
    }
    let describe = |step: &MoveReport| match (step.flip, step.kind) {
        (_, "flip") => "change the goal".to_owned(),
        (flip, kind) => {
            let flip = if flip == Some(true) { ", changing the goal" } else { "" };
            format!("{kind} {} to {}{flip}", brief(&step.amount), shown(&step.to))
        }
    };
    match value {
        Some(Value::Loss) => rows.push(("moves", "every move loses".to_owned())),
        None => rows.push(("moves", "none wins".to_owned())),
        Some(Value::Win) => {
            let labels = std::iter::once("wins by").chain(std::iter::repeat(""));
            rows.extend(labels.zip(report.moves.iter().map(describe)));
        }
    }
    if let Some(delay) = &report.delay {
        rows.push(("delay", format!("{}: hardest to answer", describe(delay))));
    }
    rows
}
