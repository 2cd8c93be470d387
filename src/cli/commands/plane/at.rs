//! `trinim plane at`: value and winning moves of one point.

use super::{MoveReport, NUMBERS, goal_name, pair, shown, whole_number};
use crate::cli::face::exit::{Exit, Refused};
use crate::cli::face::output::Out;
use crate::cli::words::args::JsonArgs;
use crate::cli::words::choice::{choice, name};
use clap::Args;
use pipeline::Error;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Read, Write};
use std::path::Path;
use trinim::game::Rule;
use trinim::game::Value;
use trinim_plane::goals::{self, Budget, Condition, Flip};
use trinim_plane::heaps::{DIGITS_MAX, Move, Point, brief};
use trinim_plane::retrograde::{Setting, Situation, Step, Table};
use trinim_plane::winning;

/// Largest heap where no formula is known, so that all smaller points are decided first.
const TURN_HEAP_MAX: usize = 500;

/// Longest input in bytes: two numbers of the most digits, and some space.
const INPUT_BYTES: u64 = 2 * DIGITS_MAX as u64 + 1000;

const EXAMPLES: &str = "\
Examples:
  trinim plane at 520 1459
  trinim plane at 10^1000 10^999 --json
  trinim plane at 2 2 --goal attrition
  trinim plane at 6 10 --flip turn            one flip in all; a flip is a turn
  echo 10^1000 123456 | trinim plane at -     numbers that are too long for an argument

In normal play, whoever reaches (0, 0) wins; in attrition, that player loses. With --flip, the goal can be changed \
where L >= S + 2 >= 7: before a move (free), after it (after), or as a separate turn (turn). The first two change no \
value, whatever the number of flips. If the heaps are equal, either counts as the long one.";

/// Say who wins at a position, and list the winning moves
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct AtArgs {
    /// A heap: decimal digits or a power like 10^1000; or - to read both from standard input
    #[arg(value_name = "S")]
    one: String,

    /// The other heap
    #[arg(value_name = "L")]
    other: Option<String>,

    /// Goal: normal or attrition
    #[arg(long, value_name = "GOAL", value_parser = goal_name(), default_value = "normal")]
    goal: Rule,

    /// When the goal can be changed: none, free, after, turn
    #[arg(long, value_name = "WHEN", value_parser = choice(&Flip::ALL), default_value = "none")]
    flip: Flip,

    /// How often the goal can be changed: one in all, one for each, two in all, unlimited
    #[arg(long, value_name = "TIMES", value_parser = choice(&Budget::ALL), default_value = "one")]
    flips: Budget,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim plane at` prints. Heaps, amounts and indices are strings of digits, because they
/// may have any length.
#[derive(Serialize, JsonSchema)]
pub struct Report {
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
    /// The winning moves.
    moves: Vec<MoveReport>,
    /// The move of a lost point that is hardest to answer; only there.
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<MoveReport>,
}

/// Runs the subcommand.
pub fn run(args: AtArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let point = point(&args.one, args.other.as_deref())?;
    if point.is_end() {
        let rule = goals::name(args.goal);
        return Err(Refused::new(
            format!("S, L: (0, 0) ends the game and has no moves ({rule} goal)"),
            "give a heap above 0; whoever reached (0, 0) has won in normal play and lost in attrition",
        )
        .into());
    }
    let (value, report) = match args.flip {
        Flip::Turn => by_table(&point, &args)?,
        _ => by_formula(&point, &args),
    };
    if args.json.json {
        out.json("trinim.plane.at/1", &report)?;
    } else {
        print(value, &report, out)?;
    }
    Ok(Exit::Done)
}

fn point(one: &str, other: Option<&str>) -> anyhow::Result<Point> {
    if let Some(other) = other {
        return Ok(Point::new(whole_number("S", one)?, whole_number("L", other)?));
    }
    let both = "expected two numbers, S and L, or - and both on standard input";
    if one != "-" {
        return Err(Refused::new("L: there is only one heap", both).into());
    }
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(INPUT_BYTES + 1).read_to_end(&mut bytes);
    let length = read.map_err(|error| Error::io("read", Path::new("standard input"), error))?;
    if length as u64 > INPUT_BYTES {
        return Err(Refused::new(format!("standard input: expected at most {INPUT_BYTES} bytes"), NUMBERS).into());
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut words = text.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(one), Some(other), None) => Ok(Point::new(whole_number("S", one)?, whole_number("L", other)?)),
        _ => Err(Refused::new("standard input: not two numbers", both).into()),
    }
}

fn by_formula(point: &Point, args: &AtArgs) -> (Option<Value>, Report) {
    let rule = args.goal;
    let is_flippable = args.flip != Flip::None;
    let reported = |step: &Move, flip: bool| {
        let to = point.after(step).ok()?;
        Some(MoveReport::new(step, &to, is_flippable.then_some(flip)))
    };
    let mut moves: Vec<MoveReport> =
        winning::moves(rule, point).iter().filter_map(|step| reported(step, false)).collect();
    // A flip with a move changes no value, so the same formula holds for the other goal.
    if is_flippable {
        let may_flip = |step: &&Move| match args.flip {
            Flip::Free => Condition::Paper.holds(point),
            _ => point.after(step).is_ok_and(|to| Condition::Paper.holds(&to)),
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
            Refused::new(reason, "--flip free and --flip after take heaps of any length")
        })
    };
    let (short, long) = (heap("S", point.short())?, heap("L", point.long())?);
    let setting = Setting { flip: Flip::Turn, budget: args.flips, condition: Condition::Paper };
    let table = Table::new(setting, long);
    let at = Situation { short, long, rule: args.goal, left: setting.full() };
    let value = table.value(at);
    let turns = |at: Situation| {
        let left = setting.left_after(at.left, false);
        let moved = at.steps().map(move |(step, short, long)| (Some(step), Situation { short, long, left, ..at }));
        moved.chain(setting.flipped(at).map(|to| (None, to)))
    };
    let replies = |at: Situation| turns(at).filter(|(_, to)| table.value(*to) == Some(Value::Loss));
    let delay = turns(at).filter(|(step, to)| step.is_some() && to.long > 0);
    // Of the moves with the fewest winning replies, the first takes least.
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

fn print(value: Option<Value>, report: &Report, out: &mut Out) -> anyhow::Result<()> {
    let paint = out.paint;
    let flips = match report.flip {
        Flip::None => String::new(),
        flip => format!(", flips: {}", name(&flip)),
    };
    let mut rows = vec![("point", format!("{}, {} goal{flips}", shown(&report.position), report.goal))];
    rows.push((
        "value",
        match value {
            Some(value) => format!("{} for the player to move ({})", paint.value(value), value.outcome()),
            None => "draw: both players change the goal rather than lose".to_owned(),
        },
    ));
    if let Some(index) = &report.index {
        rows.push(("index", format!("lost point number {}", brief(index))));
    }
    let describe = |step: &MoveReport| {
        let flip = match (step.flip, step.kind) {
            (_, "flip") => return format!("{} the goal", paint.mark("change")),
            (Some(true), _) => ", changing the goal",
            _ => "",
        };
        format!("{} {} to {}{flip}", paint.mark(step.kind), brief(&step.amount), shown(&step.to))
    };
    match (value, report.moves.is_empty()) {
        (Some(Value::Loss), _) => rows.push(("moves", "every move loses".to_owned())),
        (None, _) => rows.push(("moves", "none wins".to_owned())),
        (_, true) => rows.push(("moves", "none".to_owned())),
        (_, false) => {
            for (index, step) in report.moves.iter().enumerate() {
                rows.push((if index == 0 { "wins by" } else { "" }, describe(step)));
            }
        }
    }
    if let Some(delay) = &report.delay {
        rows.push(("delay", format!("{}: hardest to answer", describe(delay))));
    }
    out.table(&rows)?;
    out.flush()?;
    Ok(())
}
