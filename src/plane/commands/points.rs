//! `trinim-plane points` and `trinim-plane index`: the lost points in order, and the place of a
//! number among them, by each of three methods.

use super::{Exit, Out, Refusal, goal, json, json_line, note, whole_number};
use anyhow::anyhow;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::io::Write;
use trinim_game::Rule;
use trinim_plane::UBig;
use trinim_plane::golden::Ratio;
use trinim_plane::heaps::{brief, grouped};
use trinim_plane::paper::{self, Generator};
use trinim_plane::sequence::{self, Place, Points, Term};

const POINTS_EXAMPLES: &str = "\
Examples:
  trinim-plane points --count 26
  trinim-plane points --from 10^30 --count 3 --json
  trinim-plane points --count 1000000 --csv > points.csv
  trinim-plane points --from 40000 --count 10000 --check

exact uses integer arithmetic, one step at a time; generator builds the points as in section 6 of the paper, \
counting up from 1; newton uses the golden ratio after as many Newton steps as needed. --check compares them with \
each other and with the formula, point by point; the exit code is 1 if any differs.";

const INDEX_EXAMPLES: &str = "\
Examples:
  trinim-plane index 102
  trinim-plane index 10^100 --method newton
  trinim-plane index 10946 --check --json";

/// How the points are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
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
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "0")]
    from: String,

    /// Number of points
    #[arg(long, value_name = "K", allow_negative_numbers = true, default_value = "10")]
    count: u64,

    /// The goal
    #[arg(long, value_parser = goal(), ignore_case = true, default_value = "normal")]
    goal: Rule,

    /// How points are found
    #[arg(long, ignore_case = true, default_value = "exact")]
    method: Method,

    /// Compare all methods, in normal play; no points are listed
    #[arg(long, conflicts_with_all = ["goal", "method", "csv"])]
    check: bool,

    /// List as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

/// Find the P-position (lost point) with a heap of this size
#[derive(Args)]
#[command(after_help = INDEX_EXAMPLES)]
pub struct IndexArgs {
    /// The heap: decimal digits or a power like 10^100
    #[arg(value_name = "X", allow_negative_numbers = true)]
    number: String,

    /// How points are found
    #[arg(long, ignore_case = true, default_value = "exact")]
    method: Method,

    /// Compare all methods; exit code 1 if any differs
    #[arg(long)]
    check: bool,
}

/// A lost point, on a line of its own.
#[derive(Serialize)]
struct Row {
    n: String,
    a: String,
    b: String,
}

/// What `trinim-plane points --check` prints.
#[derive(Serialize)]
struct Check {
    ok: bool,
    /// Whether all methods gave the same points: exit code 0.
    agrees: bool,
    points: u64,
    methods: Vec<&'static str>,
    /// Where the methods differ, if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_difference: Option<String>,
}

/// What `trinim-plane index` prints.
#[derive(Serialize)]
struct IndexReport {
    number: String,
    /// `a` or `b`: whether the heap is the short or the long one.
    sequence: &'static str,
    index: String,
    partner: String,
    method: Method,
    /// With `--check`: whether all methods agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    agrees: Option<bool>,
}

impl PointsArgs {
    pub fn run(self, as_json: bool, out: &mut Out) -> anyhow::Result<Exit> {
        let from = whole_number("--from", &self.from)?;
        let end = &from + self.count;
        if self.check {
            return check(self.count, &from, &end, as_json, out);
        }
        let points: Box<dyn Iterator<Item = Term>> = match self.method {
            Method::Exact => Box::new(Points::from(&from)),
            Method::Generator => Box::new(by_generator(countable("--from and --count", &from, &end)?)),
            Method::Newton => Box::new(by_newton(from, &end)),
        };
        if self.csv {
            writeln!(out, "n,a,b")?;
        }
        for (_, term) in (0..self.count).zip(points) {
            let Term { index: n, short: a, long: b } = under_goal(self.goal, term);
            if self.csv {
                writeln!(out, "{n},{a},{b}")?;
            } else if as_json {
                let [n, a, b] = [n, a, b].map(|number| number.to_string());
                json_line("trinim.plane.points/1", &Row { n, a, b }, out)?;
            } else {
                writeln!(out, "w_{n} = ({a}, {b})")?;
            }
        }
        Ok(Exit::Done)
    }
}

fn by_generator(from: usize) -> impl Iterator<Item = Term> {
    let points = std::iter::once((0, 0, 0)).chain(Generator::default()).skip(from);
    points.map(|(n, a, b)| Term { index: n.into(), short: a.into(), long: b.into() })
}

fn by_newton(from: UBig, end: &UBig) -> impl Iterator<Item = Term> + use<> {
    let ratio = Ratio::up_to(end);
    std::iter::successors(Some(from), |index| Some(index + 1u8)).map(move |index| {
        let short = ratio.a(&index);
        let long = &short + &index;
        Term { index, short, long }
    })
}

/// Returns the point of that index under a goal; only the first two differ between goals.
fn under_goal(rule: Rule, term: Term) -> Term {
    match (rule, u8::try_from(&term.index)) {
        (Rule::Misere, Ok(0)) => Term { short: UBig::ZERO, long: UBig::ONE, ..term },
        (Rule::Misere, Ok(1)) => Term { short: 2u8.into(), long: 2u8.into(), ..term },
        _ => term,
    }
}

/// Converts the first number, up to which the generator can count.
fn countable(name: &str, from: &UBig, end: &UBig) -> Result<usize, Refusal> {
    let is_within = u64::try_from(end).is_ok_and(|end| end <= paper::MOST);
    usize::try_from(from).ok().filter(|_| is_within).ok_or_else(|| {
        let reason = format!("{name}: the generator counts up from 1: expected at most {} in all", paper::MOST);
        Refusal::new(reason, "--method exact can start anywhere")
    })
}

/// Compares all methods, point by point.
fn check(count: u64, from: &UBig, end: &UBig, as_json: bool, out: &mut Out) -> anyhow::Result<Exit> {
    let mut methods = vec!["formula", "exact", "newton"];
    let mut generator = countable("--from", from, end).ok().map(by_generator);
    if generator.is_some() {
        methods.push("generator");
    } else {
        note(&format!("the generator is skipped: it counts up from 1, to {} at most", paper::MOST));
    }
    let (mut points, mut first_difference) = (0, None);
    for (exact, newton) in Points::from(from).zip(by_newton(from.clone(), end)) {
        if points == count || first_difference.is_some() {
            break;
        }
        points += 1;
        let formula = sequence::a(&exact.index);
        let built = generator.as_mut().and_then(Iterator::next);
        let is_built = built.as_ref().is_none_or(|built| *built == exact);
        if !is_built || newton != exact || formula != exact.short || &formula + &exact.index != exact.long {
            first_difference = Some(format!(
                "n = {}: {formula} by the formula, {} in steps, {} by newton, {} by the generator",
                exact.index,
                exact.short,
                newton.short,
                built.map_or_else(|| "nothing".to_owned(), |built| built.short.to_string()),
            ));
        }
    }
    let agrees = first_difference.is_none();
    let report = Check { ok: agrees, agrees, points, methods, first_difference };
    if as_json {
        json("trinim.plane.points.check/1", &report, out)?;
    } else if let Some(difference) = &report.first_difference {
        writeln!(out, "{difference}")?;
    } else {
        let plural = if points == 1 { "" } else { "s" };
        writeln!(out, "{} point{plural}: {} agree", grouped(points), report.methods.join(", "))?;
    }
    Ok(Exit::from_check(agrees))
}

impl IndexArgs {
    pub fn run(self, as_json: bool, out: &mut Out) -> anyhow::Result<Exit> {
        let heap = whole_number("X", &self.number)?;
        let by = |method| match method {
            Method::Exact => Some(sequence::place(&heap)),
            Method::Newton => Some(Ratio::up_to(&(&heap + 1u8)).place(&heap)),
            Method::Generator => Generator::place(&heap),
        };
        let Some(place) = by(self.method) else {
            countable("X", &heap, &heap)?;
            return Err(anyhow!("the generator did not find a number that it can count to"));
        };
        let is_place = |found: Option<Place>| found.is_none_or(|found| found == place);
        let agrees = self.check.then(|| Method::value_variants().iter().all(|method| is_place(by(*method))));
        let (sequence, other, index, partner) = match &place {
            Place::A(k) => ("a", "b", k, &heap + k),
            Place::B(i) => ("b", "a", i, &heap - i),
        };
        let [number, index, partner] = [&heap, index, &partner].map(UBig::to_string);
        if as_json {
            let report = IndexReport { number, sequence, index, partner, method: self.method, agrees };
            json("trinim.plane.index/1", &report, out)?;
        } else {
            let [number, index, partner] = [number, index, partner].map(|text| brief(&text));
            writeln!(out, "{number} = {sequence}_{index}, its partner is {other}_{index} = {partner}")?;
            if let Some(agrees) = agrees {
                writeln!(out, "{}", if agrees { "all methods agree" } else { "the methods differ" })?;
            }
        }
        Ok(Exit::from_check(agrees != Some(false)))
    }
}
