//! Reports as JSON and as text, refusals, progress and signals.

use indicatif::{ProgressBar, ProgressStyle};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::fmt::{self, Display};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Exit code where a check fails: of a formula, or of a claim.
pub const FAILED: u8 = 1;

/// Arguments that cannot be carried out, and what to do instead.
#[derive(Debug)]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// Turns an error of the library into a refusal.
pub fn refused(error: impl Display, hint: &str) -> anyhow::Error {
    Refusal { message: error.to_string(), hint: hint.to_owned() }.into()
}

/// A report after the name and version of its schema.
#[derive(Serialize)]
struct Document<'a, T> {
    schema: &'a str,
    #[serde(flatten)]
    report: &'a T,
}

/// Writes a report as JSON, with its fields in their order.
pub fn write_json(out: &mut dyn Write, schema: &str, report: &impl Serialize) -> anyhow::Result<()> {
    Ok(writeln!(out, "{}", serde_json::to_string_pretty(&Document { schema, report })?)?)
}

/// Writes a report as JSON, with the fields of all objects in the order of their names, or as text.
pub fn write(out: &mut dyn Write, json: bool, schema: &str, report: &(impl Serialize + Display)) -> anyhow::Result<()> {
    if !json {
        return Ok(write!(out, "{report}")?);
    }
    let mut value = serde_json::to_value(report)?;
    value.sort_all_objects();
    write_json(out, schema, &value)
}

/// Writes a table of two columns.
pub fn table(f: &mut fmt::Formatter<'_>, rows: &[(&str, String)]) -> fmt::Result {
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    rows.iter().try_for_each(|(label, text)| writeln!(f, "{label:width$}  {text}"))
}

/// Writes a number with its noun, in the plural if needed.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns the name of a value in arguments and reports: its serialised form.
pub fn name(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Parses a value by its name in reports.
pub fn named<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(Value::String(text.to_lowercase())).map_err(|error| error.to_string())
}

/// Shows the progress of runs on standard error, if that is a terminal.
pub fn progress(runs: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("evolving  {wide_bar}  {pos} of {len} runs, {eta} left");
    let bar = ProgressBar::new(runs).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Whether a search was asked to stop.
pub struct Stop {
    /// Set by the first signal; the second one ends the program.
    pub flag: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// From now on SIGINT and SIGTERM set the flag.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn at_signals() -> io::Result<Stop> {
        let stop = Stop { flag: Arc::default(), signal: Arc::new(AtomicUsize::new(SIGINT as usize)) };
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag unset.
            flag::register_conditional_shutdown(signal, 128 + signal, stop.flag.clone())?;
            flag::register_usize(signal, stop.signal.clone(), signal as usize)?;
            flag::register(signal, stop.flag.clone())?;
        }
        Ok(stop)
    }

    /// Says on standard error how far a stopped search came, and returns its exit code.
    pub fn code(&self, came: impl Display) -> u8 {
        let _ = writeln!(io::stderr(), "stopped by a signal {came}");
        128 + self.signal.load(Ordering::Relaxed) as u8
    }
}
