//! Progress of a run: a bar on a terminal that can redraw it, lines elsewhere, events as JSON
//! (`--progress`), and a line at SIGUSR1.

use crate::ending;
use crate::exit::{Exit, Refused};
use crate::output::{self, Out, Paint, note};
use crate::signals::Signals;
use crate::streams;
use crate::values;
use crate::watch::{self, Reading};
use clap::{ArgMatches, Args, ValueEnum};
use pipeline::{Error, Stopwatch};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Interval between readings of the counters.
const TICK: Duration = Duration::from_millis(100);

/// `--progress`, `--progress-interval` and the metrics.
#[derive(Clone, Args)]
pub struct ProgressArgs {
    /// How to show progress on standard error; --quiet shows none
    #[arg(long, help_heading = "Output", value_name = "HOW", value_enum, default_value = "auto")]
    progress: Choice,

    /// Time between progress lines, like 1s or 1m
    #[arg(long, help_heading = "Output", value_name = "TIME", value_parser = values::duration, default_value = "10s")]
    progress_interval: Duration,

    /// Write metrics to FILE every 5 seconds and at the end, as OpenMetrics text
    #[arg(long, help_heading = "Output", value_name = "FILE")]
    metrics: Option<PathBuf>,
}

/// `--progress` of a command that seldom works for long.
#[derive(Clone, Args)]
pub struct BriefProgressArgs {
    /// How to show progress on standard error; --quiet shows none
    #[arg(long, help_heading = "Output", value_name = "HOW", value_enum, default_value = "auto")]
    progress: Choice,
}

/// Interval between lines of progress of such a command.
const INTERVAL: Duration = Duration::from_secs(10);

impl BriefProgressArgs {
    /// Resolves the argument for this standard error.
    ///
    /// # Errors
    /// Returns [`Refused`] for a bar that cannot be drawn.
    pub fn on(&self, out: &Out) -> Result<Progress, Refused> {
        self.progress.on(INTERVAL, out)
    }
}

/// Begins to watch the command of these arguments, if it shows progress.
pub fn watch(matches: &ArgMatches) {
    let (command, own) = ending::innermost(matches);
    let Some(choice) = own.try_get_one::<Choice>("progress").ok().flatten() else { return };
    let metrics = own.try_get_one::<PathBuf>("metrics").ok().flatten().cloned();
    watch::begin(command, *choice == Choice::Json, metrics);
}

/// How to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// A bar on a terminal, lines elsewhere and if TERM is dumb
    Auto,
    /// A bar; needs a terminal that can redraw it
    Bar,
    /// A line from time to time, with the time in UTC
    Lines,
    /// Events as JSON, one a line and nothing else; JSON.md lists them
    Json,
    /// Nothing
    None,
}

/// How one command shows its progress.
#[derive(Clone, Copy)]
pub struct Progress {
    quiet: bool,
    /// Never [`Choice::Auto`].
    style: Choice,
    interval: Duration,
    paint: Paint,
}

impl ProgressArgs {
    /// Resolves the arguments for this standard error, and checks the file of metrics.
    ///
    /// # Errors
    /// Returns [`Refused`] for a bar that cannot be drawn or a file that cannot be replaced.
    pub fn on(&self, out: &Out) -> anyhow::Result<Progress> {
        let progress = self.progress.on(self.progress_interval, out)?;
        self.metrics.as_deref().map_or(Ok(()), watch::check_metrics)?;
        Ok(progress)
    }
}

impl Choice {
    /// Returns how this choice shows progress on this standard error.
    fn on(self, interval: Duration, out: &Out) -> Result<Progress, Refused> {
        let redraws = std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let style = match (self, out.quiet) {
            // Programs have requested the stream, so it ignores `--quiet`.
            (Choice::Json, _) => Choice::Json,
            (_, true) => Choice::None,
            (choice, false) => choice.resolved(redraws)?,
        };
        Ok(Progress { quiet: out.quiet, style, interval, paint: out.error_paint })
    }

    /// Returns the choice for a standard error that can or cannot redraw a line.
    fn resolved(self, redraws: bool) -> Result<Choice, Refused> {
        match (self, redraws) {
            (Choice::Auto, true) => Ok(Choice::Bar),
            (Choice::Auto, false) => Ok(Choice::Lines),
            (Choice::Bar, false) => {
                let message = "--progress bar: standard error is not a terminal that can redraw a line";
                Err(Refused::new(message, "use --progress lines"))
            }
            (choice, _) => Ok(choice),
        }
    }
}

/// A function of the elapsed seconds that returns a reading of the work.
pub type Status<'a> = &'a (dyn Fn(f64) -> Reading + Sync);

/// A function that prints a remark without disturbing the bar.
pub type Say<'a> = &'a (dyn Fn(String) + Sync);

/// The status of work whose time is proportional to its share; `line` gets the time left in words.
pub fn at_share(share: f64, elapsed: f64, line: impl FnOnce(String) -> String) -> Reading {
    let eta_s = left_s(elapsed, share, 1.0 - share);
    Reading { share, line: line(in_words(eta_s)), eta_s, ..Reading::default() }
}

/// Estimates the time left in seconds, if `done` took `elapsed` seconds.
pub fn left_s(elapsed: f64, done: f64, left: f64) -> Option<f64> {
    (done > 0.0).then(|| elapsed * left.max(0.0) / done)
}

/// Formats an estimated time.
pub fn in_words(left_s: Option<f64>) -> String {
    left_s.map_or_else(|| "unknown".to_owned(), output::seconds)
}

/// Shows progress while `work` runs. The work prints remarks by [`Say`], unless quiet.
///
/// # Errors
/// [`Error::Thread`] if the system refuses a thread; without one, no time limit would be noticed.
pub fn during<T>(
    status: Status<'_>,
    signals: &Signals,
    progress: &Progress,
    work: impl FnOnce(Say<'_>) -> T,
) -> Result<T, Error> {
    let (saying, said) = channel();
    std::thread::scope(|scope| {
        let watcher = move || show(status, signals, progress, said);
        let begun = std::thread::Builder::new().spawn_scoped(scope, watcher);
        begun.map_err(|source| Error::Thread { source })?;
        // The sender is dropped when the work ends, however it ends.
        let say = move |text: String| {
            if !progress.quiet {
                let _ = saying.send(text);
            }
        };
        Ok(work(&say))
    })
}

fn show(status: Status<'_>, signals: &Signals, progress: &Progress, said: Receiver<String>) {
    let clock = Stopwatch::start();
    let live = progress.style == Choice::Bar;
    let blocks = if shows_unicode() { ["█", "░"] } else { ["#", "."] };
    let erase = || {
        if live {
            streams::error(ERASE.to_owned())
        }
    };
    let say = |text: String| {
        erase();
        note(text);
    };
    let mut is_stop_announced = false;
    let mut next_line = progress.interval;
    let mut next_recorded = Duration::ZERO;
    watch::started();
    loop {
        match said.recv_timeout(signals.time_left().min(TICK)) {
            Ok(text) => {
                say(text);
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let elapsed = clock.elapsed();
        signals.look_at_clock();
        let reading = status(elapsed.as_secs_f64());
        if live {
            streams::draw(bar(&reading, output::error_columns(), blocks));
        } else if progress.style != Choice::None && elapsed >= next_line {
            next_line = elapsed + progress.interval;
            match progress.style {
                Choice::Json => watch::progress(&reading),
                _ => note(format_args!("{} {}", watch::utc_now(), in_percent(&reading))),
            }
        }
        if elapsed >= next_recorded {
            next_recorded = elapsed + watch::METRICS_INTERVAL;
            watch::record(&reading);
        }
        if signals.status.swap(false, Ordering::Relaxed) {
            say(in_percent(&reading));
        }
        if signals.stopped() && !is_stop_announced {
            is_stop_announced = true;
            say(progress.paint.mark(match signals.exit() {
                Exit::TimeUp => "time limit reached: stopping at the next safe point",
                _ => "stopping at the next safe point; press Ctrl-C again to quit now",
            }));
        }
    }
    // A last reading, because work was done since the previous one.
    watch::record(&status(clock.elapsed().as_secs_f64()));
    erase();
}

/// Moves to the beginning of the line and erases it.
const ERASE: &str = "\r\x1b[K";

/// Returns whether the locale of this process has more characters than ASCII.
fn shows_unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
    locale.to_ascii_lowercase().replace('-', "").contains("utf8")
}

/// Draws a reading over the line of the last one, with these characters for what is done and left.
fn bar(reading: &Reading, columns: usize, [done, left]: [&str; 2]) -> String {
    let full = ((reading.share * 10.0) as usize).min(10);
    let drawn = done.repeat(full) + &left.repeat(10 - full);
    let line = format!("{drawn} {:3.0}% {}", (reading.share * 100.0).floor(), reading.line);
    format!("{ERASE}{}", line.chars().take(columns).collect::<String>())
}

fn in_percent(reading: &Reading) -> String {
    format!("{:5.1} % {}", reading.share * 100.0, reading.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_one_line() {
        let reading = Reading { share: 0.459, line: "solving  ETA 3 s".to_owned(), ..Reading::default() };
        assert_eq!(bar(&reading, 80, ["█", "░"]), "\r\x1b[K████░░░░░░  45% solving  ETA 3 s");
        assert_eq!(bar(&reading, 19, ["#", "."]), "\r\x1b[K####......  45% sol");
    }

    #[test]
    fn the_time_left_is_that_of_what_is_left() {
        let left = |share: f64| at_share(share, 10.0, |left| left).eta_s;
        assert_eq!([0.0, 0.25, 1.0].map(left), [None, Some(30.0), Some(0.0)]);
    }

    #[test]
    fn a_bar_is_for_terminals_that_redraw() {
        let styles = |choice: Choice| [true, false].map(|redraws| choice.resolved(redraws).ok());
        assert_eq!(styles(Choice::Auto), [Some(Choice::Bar), Some(Choice::Lines)]);
        assert_eq!(styles(Choice::Bar), [Some(Choice::Bar), None]);
        for choice in [Choice::Lines, Choice::Json, Choice::None] {
            assert_eq!(styles(choice), [Some(choice); 2]);
        }
    }
}
