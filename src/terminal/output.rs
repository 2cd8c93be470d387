//! Printing: data to standard output, everything else to standard error; colours, tables, numbers.
//! [`streams`] delivers both to their readers.
//!
//! # Invariants
//! 1. Only [`Out`] writes to standard output. Its errors are returned as bare `io::Error`, a type
//!    that no other error of the program has.
//! 2. Nothing here panics when a stream is closed or full.

use crate::schema::{Tagged, tagged};
use crate::streams::{self, PatientWriter, shown};
use crate::values::Size;
use crate::watch;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use trinim_game::Board;
use trinim_game::Value;
pub use trinim_game::amount::grouped;

/// Assumed width where it is unknown.
const COLUMNS: usize = 80;
/// The longest work that is not announced.
const MOMENT: Duration = Duration::from_secs(1);

/// When to colour output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR, CLICOLOR or TERM says otherwise
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorChoice {
    /// Returns the choice in arguments that are not parsed yet, or are refused.
    pub fn given(words: &[String]) -> ColorChoice {
        let value = |at: usize| match words[at].strip_prefix("--color")? {
            "" => words.get(at + 1).map(String::as_str),
            value => value.strip_prefix('='),
        };
        let values = (0..words.len()).filter_map(value);
        values.filter_map(|value| clap::ValueEnum::from_str(value, true).ok()).next_back().unwrap_or(ColorChoice::Auto)
    }

    /// Returns whether to colour standard output.
    pub fn on_stdout(self) -> bool {
        self.on(io::stdout().is_terminal())
    }

    fn on(self, terminal: bool) -> bool {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let is_on = |name: &str| set(name).map(|value| value != "0");
        match self {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if set("NO_COLOR").is_some() => false,
            ColorChoice::Auto if is_on("CLICOLOR_FORCE") == Some(true) => true,
            ColorChoice::Auto if is_on("CLICOLOR") == Some(false) => false,
            ColorChoice::Auto => terminal && set("TERM").is_none_or(|term| term != "dumb"),
        }
    }
}

/// Applies colours, if they are on.
#[derive(Clone, Copy, Debug)]
pub struct Paint(bool);

impl Paint {
    fn with(self, code: &str, text: impl Display) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    /// Good for the player to move.
    pub fn good(self, text: impl Display) -> String {
        self.with("1;32", text)
    }

    /// Bad for the player to move; errors.
    pub fn bad(self, text: impl Display) -> String {
        self.with("1;31", text)
    }

    /// The pieces that a move takes; warnings.
    pub fn mark(self, text: impl Display) -> String {
        self.with("1;33", text)
    }

    /// Less important.
    pub fn faint(self, text: impl Display) -> String {
        self.with("2", text)
    }

    /// A value with its symbol: `+ win` or `- loss`.
    pub fn value(self, value: Value) -> String {
        match value {
            Value::Win => self.good("+ win"),
            Value::Loss => self.bad("- loss"),
        }
    }
}

/// Adds the number of moves to a verdict, if it is known and the game is not over.
pub fn in_moves(verdict: String, distance: Option<u32>) -> String {
    match distance {
        Some(moves @ 1..) => format!("{verdict} in {}", counted(moves.into(), "move")),
        _ => verdict,
    }
}

/// Returns the width of the terminal, or `COLUMNS`.
fn columns() -> Option<usize> {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let given = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    terminal.or_else(given).filter(|columns| *columns > 0)
}

/// Returns the width of the terminal at standard error, or the usual one.
pub fn error_columns() -> usize {
    terminal_size::terminal_size_of(io::stderr()).map_or(COLUMNS, |(width, _)| usize::from(width.0).max(1))
}

/// Breaks a line at spaces to fit the width. If there is room, the other lines are aligned with the
/// second column of the line, which follows two spaces.
pub fn wrapped(line: &str, columns: usize) -> String {
    let begin = line.len() - line.trim_start().len();
    let gap = line[begin..].find("  ").map(|gap| &line[begin + gap..]);
    let indent = gap.map(|gap| width(line) - width(gap.trim_start()));
    let indent = indent.filter(|indent| *indent <= columns / 2).unwrap_or(0);
    let (mut text, mut used) = (String::new(), 0);
    for word in line.split_inclusive(' ') {
        let length = width(word.trim_end());
        if used > indent && used + length > columns {
            text.truncate(text.trim_end().len());
            text += &format!("\n{:indent$}", "");
            used = indent;
        }
        text += word;
        used += length + word.len() - word.trim_end().len();
    }
    text
}

/// Returns the width of a text on a terminal, in characters, without colour codes.
fn width(text: &str) -> usize {
    text.split('\x1b').enumerate().fold(0, |width, (part, text)| {
        let behind = if part == 0 { text } else { text.split_once('m').map_or("", |(_, behind)| behind) };
        width + behind.chars().count()
    })
}

/// Standard output, with the settings for colour and verbosity.
pub struct Out {
    stream: BufWriter<PatientWriter<Stdout>>,
    /// Lines are broken to fit this width.
    breaks_at: Option<usize>,
    /// An incomplete line, if lines are broken.
    line: Vec<u8>,
    /// Colours on standard output.
    pub paint: Paint,
    /// Colours on standard error.
    pub error_paint: Paint,
    /// No progress, no remarks.
    pub quiet: bool,
    /// Width of boards and tables, in characters.
    pub columns: usize,
}

impl Out {
    /// Opens standard output with these settings.
    pub fn new(color: ColorChoice, quiet: bool) -> Out {
        let error_paint = Paint(color.on(io::stderr().is_terminal()));
        streams::colour_errors(error_paint.0);
        Out {
            paint: Paint(color.on_stdout()),
            error_paint,
            stream: BufWriter::new(PatientWriter::stdout()),
            breaks_at: None,
            line: Vec::new(),
            quiet,
            columns: columns().unwrap_or(COLUMNS),
        }
    }

    /// From now on breaks lines at spaces to fit the terminal, if its width is known.
    pub fn break_lines(&mut self) {
        self.breaks_at = columns();
    }

    /// Writes a value as JSON over several lines, after the name and version of its schema.
    pub fn json(&mut self, schema: &str, report: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string_pretty(&Tagged { schema, report }).map_err(io::Error::other)?;
        writeln!(self, "{text}")
    }

    /// Writes a value as JSON on one line, after the name and version of its schema.
    pub fn json_line(&mut self, schema: &str, report: &impl Serialize) -> io::Result<()> {
        let text = tagged(schema, report).map_err(io::Error::other)?;
        writeln!(self, "{text}")
    }

    /// Writes a table of two columns.
    pub fn table(&mut self, rows: &[(&str, String)]) -> io::Result<()> {
        let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        rows.iter().try_for_each(|(label, text)| {
            let label = self.paint.faint(format!("{label:width$}"));
            self.line(format_args!("{label}  {text}"))
        })
    }

    /// Writes one line, with control characters in names escaped.
    pub fn line(&mut self, text: impl Display) -> io::Result<()> {
        let text = shown(&text.to_string(), self.paint.0);
        writeln!(self, "{text}")
    }

    /// Writes a text over several lines, broken at spaces to fit the width.
    pub fn paragraph(&mut self, text: &str) -> io::Result<()> {
        let text = wrapped(text, self.columns);
        writeln!(self, "{text}")
    }

    /// Prints a remark on standard error, unless quiet.
    pub fn remark(&self, text: impl Display) {
        if !self.quiet {
            note(text);
        }
    }

    /// Does some work, and announces it on standard error, unless quiet, once it takes more than a
    /// moment. A stream of events begins later, with the work itself.
    pub fn announcing<T>(&self, what: impl Display, work: impl FnOnce() -> T) -> T {
        let what = what.to_string();
        let announce = || {
            if !watch::is_json() {
                self.remark(format_args!("{what}..."));
            }
        };
        meanwhile(MOMENT, announce, work)
    }

    /// Prints a prompt on standard error, without a line break.
    pub fn prompt(&self, text: impl Display) {
        if !self.quiet {
            streams::error(text.to_string());
        }
    }

    /// Prints a warning on standard error.
    pub fn warn(&self, text: impl Display) {
        note(format_args!("{} {text}", self.error_paint.mark("warning:")));
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(columns) = self.breaks_at else { return self.stream.write(bytes) };
        self.line.extend_from_slice(bytes);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let rest = self.line.split_off(end + 1);
            let line = std::mem::replace(&mut self.line, rest);
            let text = String::from_utf8_lossy(&line[..end]);
            writeln!(self.stream, "{}", wrapped(&text, columns))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.write_all(&std::mem::take(&mut self.line))?;
        self.stream.flush()
    }
}

/// Does some work, and calls `announce` once it takes more than a moment, if a thread for that is
/// available.
fn meanwhile<T>(moment: Duration, announce: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
    let (done, waits) = channel::<()>();
    std::thread::scope(|scope| {
        let _ = std::thread::Builder::new().spawn_scoped(scope, move || {
            if waits.recv_timeout(moment) == Err(RecvTimeoutError::Timeout) {
                announce();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Prints a line on standard error, or an event where that is a stream of events. Failures are
/// ignored, because there is nowhere to report them.
pub fn note(text: impl Display) {
    if !watch::note(|| text.to_string()) {
        streams::line(text);
    }
}

/// Formats a number with its noun, in the plural if needed.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Formats a time, given in seconds, with a unit that fits its length.
pub fn seconds(value: f64) -> String {
    match value {
        value if !value.is_finite() => "unknown".to_owned(),
        value if value < 1.0 => format!("{:.0} ms", value * 1e3),
        value if value < 120.0 => format!("{value:.1} s"),
        value if value < 7200.0 => format!("{:.0} min", value / 60.0),
        value if value < 172_800.0 => format!("{:.1} h", value / 3600.0),
        value if value < 63_072_000.0 => format!("{:.1} days", value / 86_400.0),
        value => format!("{:.0} years", value / 31_536_000.0),
    }
}

/// Formats a rate with a prefix for thousands, millions, ...
pub fn per_second(value: f64, unit: &str) -> String {
    match value {
        value if value >= 1e9 => format!("{:.1} G{unit}/s", value / 1e9),
        value if value >= 1e6 => format!("{:.1} M{unit}/s", value / 1e6),
        value if value >= 1e3 => format!("{:.1} k{unit}/s", value / 1e3),
        value => format!("{value:.0} {unit}/s"),
    }
}

/// Formats a rate of bytes in the units of [`Size`].
pub fn bytes_per_second(value: f64) -> String {
    format!("{}/s", Size(value as u64))
}

/// Draws the board, one string per row: pieces are `x`, taken pieces `*`, empty cells `.`.
pub fn picture(board: &Board, position: u64, taken: u64, paint: Paint) -> Vec<String> {
    let cell = |index: u32| match (taken >> index & 1, position >> index & 1) {
        (1, _) => paint.mark("*"),
        (_, 1) => "x".to_owned(),
        _ => paint.faint("."),
    };
    padded(board, cell)
}

/// Draws the board with `cell(index)`, one character that can be coloured, at every cell: one
/// string per row, padded on the right too, so that pictures fit side by side.
pub fn padded(board: &Board, cell: impl Fn(u32) -> String) -> Vec<String> {
    let plain = board.picture(1, |_| "x".to_owned());
    let width = plain.lines().map(str::len).max().unwrap_or(0);
    let picture = board.picture(1, cell);
    let rows = picture.lines().zip(plain.lines());
    rows.map(|(line, plain)| format!("{line}{}", " ".repeat(width - plain.len()))).collect()
}

/// Writes pictures of one board side by side, as many as fit the width, each under its caption.
pub fn side_by_side(out: &mut Out, board: &Board, pictures: &[(String, Vec<String>)]) -> io::Result<()> {
    let width = board.picture(1, |_| "x".to_owned()).lines().map(str::len).max().unwrap_or(0);
    let column = width.max(pictures.iter().map(|(caption, _)| caption.len()).max().unwrap_or(0)) + 3;
    for group in pictures.chunks(((out.columns + 3) / column).max(1)) {
        let captions: String = group.iter().map(|(caption, _)| format!("{caption:column$}")).collect();
        writeln!(out, "{}", captions.trim_end())?;
        for row in 0..group[0].1.len() {
            let line: String =
                group.iter().map(|(_, rows)| format!("{}{}", rows[row], " ".repeat(column - width))).collect();
            writeln!(out, "{}", line.trim_end())?;
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a plan of nine layers was silent for fifteen seconds.
    #[test]
    fn long_work_is_announced() {
        let (announced, announcement) = channel();
        assert!(meanwhile(Duration::ZERO, || announced.send(()).unwrap(), || announcement.recv().is_ok()));
        meanwhile(Duration::from_secs(3600), || unreachable!("the work was done at once"), || ());
    }

    /// Regression: a terminal broke lines inside words.
    #[test]
    fn lines_are_broken_at_spaces() {
        let help = "hint           show the winning moves, or the reply that is hardest to answer";
        let narrow = "hint           show the winning moves,\n               or the reply that is\n               hardest to answer";
        assert_eq!(wrapped(help, 40), narrow);
        assert_eq!(wrapped(help, 78), help);
        assert_eq!(wrapped("\x1b[1;32myou win\x1b[0m now and then", 11), "\x1b[1;32myou win\x1b[0m now\nand then");
        assert_eq!(wrapped("a_word_that_is_longer and another", 10), "a_word_that_is_longer\nand\nanother");
        assert_eq!(wrapped("     k l m", 40), "     k l m");
    }

    #[test]
    fn taken_cells_are_marked() {
        let board = Board::triangle(3, None).unwrap();
        assert_eq!(picture(&board, 0b111_111, 0b000_110, Paint(false)), ["  x  ", " * * ", "x x x"]);
        assert_eq!(picture(&board, 0b000_001, 0, Paint(false)), ["  x  ", " . . ", ". . ."]);
    }
}
