//! Reports, refusals, progress and signals.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use terminal::schema::Tagged;
use terminal::streams;

/// Exit code if a formula or a claim fails its check.
pub const FAILED: u8 = 1;
/// Exit code for arguments that cannot be carried out.
pub const USAGE: u8 = 2;

/// The end of a command that has no report: it was refused, or stopped by a signal.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    pub message: String,
    /// The hint; can be empty.
    pub hint: String,
    /// The exit code.
    pub exit: u8,
}

/// Turns an error of the library into a refusal.
pub fn refused(error: impl Display, hint: &str) -> anyhow::Error {
    Refusal { message: error.to_string(), hint: hint.to_owned(), exit: USAGE }.into()
}

/// Writes a report as JSON, with its fields in their order.
pub fn write_json(out: &mut dyn Write, schema: &str, report: &impl Serialize) -> anyhow::Result<()> {
    Ok(writeln!(out, "{}", serde_json::to_string_pretty(&Tagged { schema, report })?)?)
}

/// Writes a report as JSON, with the fields of all objects in the order of their names.
pub fn write_sorted(out: &mut dyn Write, schema: &str, mut report: Value) -> anyhow::Result<()> {
    report.sort_all_objects();
    write_json(out, schema, &report)
}

/// Writes a table of two columns.
pub fn table(out: &mut dyn Write, rows: &[(&str, String)]) -> io::Result<()> {
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    rows.iter().try_for_each(|(label, text)| writeln!(out, "{label:width$}  {text}"))
}

/// Writes a number with its noun, in the plural if needed.
pub fn counted(number: usize, noun: &str) -> String {
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

/// The progress of runs, shown on standard error if that is a terminal.
pub struct Progress {
    runs: u64,
    finished: AtomicU64,
    is_shown: bool,
}

/// Clears a line of a terminal.
const ERASE: &str = "\r\x1b[2K";

impl Progress {
    pub fn new(runs: u64) -> Progress {
        Progress { runs, finished: AtomicU64::new(0), is_shown: io::stderr().is_terminal() }
    }

    /// Counts a finished run, and shows each hundredth of all.
    pub fn count(&self) {
        let (finished, runs) = (self.finished.fetch_add(1, Ordering::Relaxed) + 1, self.runs);
        if self.is_shown && finished % runs.div_ceil(100) == 0 {
            streams::draw(format!("{ERASE}evolving  {finished} of {runs} runs"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            streams::error(ERASE.to_owned());
        }
    }
}

/// Whether a signal has requested a stop of the search; the second signal ends the program.
pub struct Stop {
    pub flag: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// From now on SIGINT and SIGTERM set the flag.
    pub fn at_signals() -> io::Result<Stop> {
        let stop = Stop { flag: Arc::default(), signal: Arc::new(AtomicUsize::new(SIGINT as usize)) };
        for signal in [SIGINT, SIGTERM].into_iter().filter(|signal| !streams::is_ignored(*signal)) {
            // In this order: the first signal finds the flag unset.
            flag::register_conditional_shutdown(signal, 128 + signal, stop.flag.clone())?;
            flag::register_usize(signal, stop.signal.clone(), signal as usize)?;
            flag::register(signal, stop.flag.clone())?;
        }
        Ok(stop)
    }

    /// Prints the progress of a stopped search on standard error, and returns its exit code.
    pub fn code(&self, came: impl Display) -> u8 {
        let Refusal { message, exit, .. } = self.refusal(came);
        streams::line(message);
        exit
    }

    /// Returns the end of a stopped search that has no report.
    pub fn refusal(&self, came: impl Display) -> Refusal {
        let exit = 128 + self.signal.load(Ordering::Relaxed) as u8;
        Refusal { message: format!("stopped by a signal {came}"), hint: String::new(), exit }
    }
}
