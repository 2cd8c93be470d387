//! `trinim plane points` and `trinim plane index`: the lost points in order, and the place of a
//! number among them, by each of three methods.

use super::{goal_name, whole_number};
use crate::cli::face::exit::{Exit, Refused};
use crate::cli::face::output::{Out, counted};
use crate::cli::words::args::JsonArgs;
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};
use trinim::game::Rule;
use trinim_plane::UBig;
use trinim_plane::golden::Ratio;
use trinim_plane::heaps::brief;
use trinim_plane::paper::{self, Generator};
use trinim_plane::sequence::{self, Numbered, Place, Points};

const POINTS_EXAMPLES: &str = "\
Examples:
  trinim plane points --count 26
  trinim plane points --from 10^30 --count 3 --json
  trinim plane points --count 1000000 --csv > points.csv
  trinim plane points --from 40000 --count 10000 --check

exact uses integer arithmetic, one step at a time; generator builds the points as in section 6 of the paper, \
counting up from 1; newton uses the golden ratio after as many Newton steps as needed. --check compares them with \
each other and with the formula, point by point; the exit code is 1 if any differs.";

const INDEX_EXAMPLES: &str = "\
Examples:
  trinim plane index 102
  trinim plane index 10^100 --method newton
  trinim plane index 10946 --check --json";

/// How the points are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Method {
    /// Integer roots and additions
    Exact,
    /// The paper's generator
    Generator,
    /// Newton's iteration with the right number of steps
    Newton,
}

/// List the P-positions (lost points) in order
#[derive(Args)]
#[command(after_help = POINTS_EXAMPLES)]
pub struct PointsArgs {
    /// Index of the first point
    #[arg(long, value_name = "N", default_value = "0")]
    from: String,

    /// Number of points
    #[arg(long, value_name = "K", default_value = "10")]
    count: u64,

    /// Goal: normal or attrition
    #[arg(long, value_name = "GOAL", value_parser = goal_name(), default_value = "normal")]
    goal: Rule,

    /// How points are found
    #[arg(long, value_name = "METHOD", value_enum, default_value = "exact")]
    method: Method,

    /// Compare all methods; no points are listed
    #[arg(long)]
    check: bool,

    /// List as CSV
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    csv: bool,

    #[command(flatten)]
    json: JsonArgs,
}

/// Find the P-position (lost point) with a heap of this size
#[derive(Args)]
#[command(after_help = INDEX_EXAMPLES)]
pub struct IndexArgs {
    /// The heap: decimal digits or a power like 10^100
    #[arg(value_name = "X")]
    number: String,

    /// How points are found
    #[arg(long, value_name = "METHOD", value_enum, default_value = "exact")]
    method: Method,

    /// Compare all methods; exit code 1 if any differs
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    json: JsonArgs,
}

/// A lost point, on a line of its own.
#[derive(Serialize, JsonSchema)]
pub struct Row {
    /// Index of the lost point.
    n: String,
    /// Its short heap.
    a: String,
    /// Its long heap.
    b: String,
}

/// What `trinim plane points --check` prints.
#[derive(Serialize, JsonSchema)]
pub struct Checked {
    /// The same as `agrees`.
    ok: bool,
    /// Whether all methods gave the same points: exit code 0.
    agrees: bool,
    /// Points compared.
    points: u64,
    /// The methods.
    methods: Vec<&'static str>,
    /// Where the methods differ, if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_difference: Option<String>,
}

/// What `trinim plane index` prints.
#[derive(Serialize, JsonSchema)]
pub struct IndexReport {
    /// The heap.
    number: String,
    /// `a` or `b`: whether the heap is the short or the long one.
    sequence: &'static str,
    /// Index of its lost point.
    index: String,
    /// The other heap.
    partner: String,
    /// `exact`, `newton` or `generator`.
    method: Method,
    /// With `--check`: whether all methods agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    agrees: Option<bool>,
}

/// Runs `points`.
pub fn run(args: PointsArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let from = whole_number("--from", &args.from)?;
    let end = &from + args.count;
    if args.check {
        return check(&args, &from, &end, out);
    }
    let points: Box<dyn Iterator<Item = Numbered>> = match args.method {
        Method::Exact => Box::new(Points::from(&from)),
        Method::Generator => Box::new(by_generator(countable("--from and --count", &from, &end)?)),
        Method::Newton => Box::new(by_newton(from, &end)),
    };
    if args.csv {
        writeln!(out, "n,a,b")?;
    }
    let mut count = args.count;
    for numbered in points {
        if count == 0 {
            break;
        }
        count -= 1;
        write(&of_goal(args.goal, numbered), &args, out)?;
    }
    Ok(Exit::Done)
}

fn by_generator(from: usize) -> impl Iterator<Item = Numbered> {
    let origin = Numbered { index: UBig::ZERO, short: UBig::ZERO, long: UBig::ZERO };
    std::iter::once(origin).chain(Generator::default()).skip(from)
}

fn by_newton(from: UBig, end: &UBig) -> impl Iterator<Item = Numbered> + use<> {
    let ratio = Ratio::up_to(end);
    let mut index = from;
    std::iter::repeat_with(move || {
        let short = ratio.a(&index);
        let long = &short + &index;
        let numbered = Numbered { index: index.clone(), short, long };
        index += 1u8;
        numbered
    })
}

/// Returns the point of that index under a goal; only the first two differ.
fn of_goal(rule: Rule, numbered: Numbered) -> Numbered {
    match (rule, u8::try_from(&numbered.index)) {
        (Rule::Misere, Ok(0)) => Numbered { short: UBig::ZERO, long: UBig::ONE, ..numbered },
        (Rule::Misere, Ok(1)) => Numbered { short: 2u8.into(), long: 2u8.into(), ..numbered },
        _ => numbered,
    }
}

/// Converts the first of numbers that the generator can count to.
fn countable(name: &str, from: &UBig, end: &UBig) -> Result<usize, Refused> {
    let is_within = u64::try_from(end).is_ok_and(|end| end <= paper::MOST);
    usize::try_from(from).ok().filter(|_| is_within).ok_or_else(|| {
        let reason = format!("{name}: the generator counts up from 1: expected at most {} in all", paper::MOST);
        Refused::new(reason, "--method exact can start anywhere")
    })
}

fn write(numbered: &Numbered, args: &PointsArgs, out: &mut Out) -> io::Result<()> {
    let Numbered { index, short, long } = numbered;
    let small = |number: &UBig| u64::try_from(number).ok();
    match (small(index), small(short), small(long)) {
        // The usual case, with the fastest way to write numbers.
        (Some(index), Some(short), Some(long)) => write_as(index, short, long, args, out),
        _ => write_as(index, short, long, args, out),
    }
}

fn write_as<T: std::fmt::Display>(index: T, short: T, long: T, args: &PointsArgs, out: &mut Out) -> io::Result<()> {
    if args.csv {
        writeln!(out, "{index},{short},{long}")
    } else if args.json.json {
        let [n, a, b] = [index, short, long].map(|number| number.to_string());
        out.json_line("trinim.plane.points/1", &Row { n, a, b })
    } else {
        writeln!(out, "w_{index} = ({short}, {long})")
    }
}

fn check(args: &PointsArgs, from: &UBig, end: &UBig, out: &mut Out) -> anyhow::Result<Exit> {
    let mut generator = countable("--from", from, end).ok().map(by_generator);
    let mut newton = by_newton(from.clone(), end);
    let mut first_difference = None;
    let mut compared = 0;
    for numbered in Points::from(from) {
        if compared == args.count || first_difference.is_some() {
            break;
        }
        let formula = sequence::a(&numbered.index);
        let built = generator.as_mut().and_then(Iterator::next);
        let approximated = newton.next();
        let agrees = formula == numbered.short
            && &numbered.short + &numbered.index == numbered.long
            && approximated.as_ref() == Some(&numbered)
            && (built.is_none() || built.as_ref() == Some(&numbered));
        if !agrees {
            first_difference = Some(format!(
                "n = {}: {} by the formula, {} in steps, {} by newton, {} by the generator",
                numbered.index,
                formula,
                numbered.short,
                approximated.map_or_else(String::new, |one| one.short.to_string()),
                built.map_or_else(|| "nothing".to_owned(), |one| one.short.to_string()),
            ));
        }
        compared += 1;
    }
    let mut methods = vec!["formula", "exact", "newton"];
    if generator.is_some() {
        methods.push("generator");
    } else {
        out.remark(format_args!("the generator is left out: it counts up from 1, to {} at most", paper::MOST));
    }
    let agrees = first_difference.is_none();
    let report = Checked { ok: agrees, agrees, points: compared, methods, first_difference };
    if args.json.json {
        out.json("trinim.plane.points.check/1", &report)?;
    } else {
        match &report.first_difference {
            None => writeln!(out, "{}: {} agree", counted(compared, "point"), report.methods.join(", "))?,
            Some(difference) => writeln!(out, "{}", out.paint.bad(difference))?,
        }
    }
    Ok(if report.agrees { Exit::Done } else { Exit::Refuted })
}

/// Runs `index`.
pub fn index(args: IndexArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let number = whole_number("X", &args.number)?;
    let by = |method| match method {
        Method::Exact => Some(sequence::place(&number)),
        Method::Newton => Some(Ratio::up_to(&(&number + 1u8)).place(&number)),
        Method::Generator => Generator::place(&number),
    };
    let Some(place) = by(args.method) else {
        countable("X", &number, &number)?;
        return Err(anyhow::anyhow!("the generator did not find a number that it can count to"));
    };
    let agrees = args.check.then(|| {
        let all = [Method::Exact, Method::Newton, Method::Generator].map(by);
        all.into_iter().flatten().all(|found| found == place)
    });
    let (sequence, index, partner) = match &place {
        Place::A(k) => ("a", k, &number + k),
        Place::B(i) => ("b", i, &number - i),
    };
    let report = IndexReport {
        number: number.to_string(),
        sequence,
        index: index.to_string(),
        partner: partner.to_string(),
        method: args.method,
        agrees,
    };
    if args.json.json {
        out.json("trinim.plane.index/1", &report)?;
    } else {
        let IndexReport { number, index, partner, .. } = &report;
        let (number, index, partner) = (brief(number), brief(index), brief(partner));
        let other = if sequence == "a" { "b" } else { "a" };
        writeln!(out, "{number} = {sequence}_{index}, its partner is {other}_{index} = {partner}")?;
        if let Some(agrees) = agrees {
            writeln!(out, "{}", if agrees { "all methods agree" } else { "the methods differ" })?;
        }
    }
    Ok(if agrees == Some(false) { Exit::Refuted } else { Exit::Done })
}
