//! The commands, and what they share: arguments, refusals and printing.
//!
//! In JSON, heaps, amounts and indices are strings, because they may have any length. In text,
//! the commands about one position shorten numbers of more than 60 digits in the middle.

pub mod at;
pub mod claims;
pub mod points;
pub mod precision;
pub mod verify;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use std::io::{self, BufWriter, Stdout, Write};
use terminal::schema::Tagged;
use terminal::streams::{self, PatientWriter};
use trinim_game::Rule;
use trinim_plane::{UBig, heaps};

/// Standard output. Its errors are returned as bare `io::Error`, a type that no other error has.
pub type Out = BufWriter<PatientWriter<Stdout>>;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done; a check succeeded.
    Done = 0,
    /// A check or a claim fails.
    Refuted = 1,
    Usage = 2,
    System = 4,
}

impl Exit {
    /// Returns how a check ends.
    pub fn from_check(holds: bool) -> Exit {
        if holds { Exit::Done } else { Exit::Refuted }
    }
}

/// A command that cannot be carried out as given.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    pub reason: String,
    pub hint: String,
}

impl Refusal {
    pub fn new(reason: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal { reason: reason.into(), hint: hint.into() }
    }
}

/// The hint for a heap that is not a number.
const NUMBERS: &str = "heaps are whole numbers from 0, like 144 or 10^1000, of at most 1,000,000 digits";

/// Parses the number in an argument; clap would repeat a million wrong digits in its error.
fn whole_number(name: &str, text: &str) -> Result<UBig, Refusal> {
    heaps::parse(text).map_err(|error| Refusal::new(format!("{name}: {error}"), NUMBERS))
}

fn goal() -> impl TypedValueParser<Value = Rule> {
    let attrition = PossibleValue::new("attrition").aliases(["misere", "misère"]);
    PossibleValuesParser::new([PossibleValue::new("normal"), attrition]).map(|name| match &*name.to_lowercase() {
        "normal" => Rule::Normal,
        _ => Rule::Misere,
    })
}

/// Prints a report as JSON over several lines.
fn json(schema: &str, report: &impl Serialize, out: &mut Out) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Tagged { schema, report })?;
    writeln!(out)
}

/// Prints a report as JSON on one line.
pub fn json_line(schema: &str, report: &impl Serialize, out: &mut Out) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Tagged { schema, report })?;
    writeln!(out)
}

/// Prints a remark on standard error.
pub fn note(remark: &str) {
    streams::line(remark);
}

/// Returns the name of a choice in arguments and reports.
fn name(choice: impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

fn table(rows: &[(&str, String)], out: &mut Out) -> io::Result<()> {
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    rows.iter().try_for_each(|(label, text)| writeln!(out, "{label:width$}  {text}"))
}
