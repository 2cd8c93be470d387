//! Progress of a run: a bar on a terminal that can redraw it, lines elsewhere, events as JSON
//! (`--progress`), and a line at SIGUSR1.
//!
//! # The estimate
//! The plan says how long each block takes on its machine: its sources decoded, turned, applied,
//! and the block itself. The percentage is of these times, earlier sessions included, as `trinim
//! status` counts it. The time left is the time of this session, times what the plan says of the
//! blocks left, over what it says of the blocks of this session; streams that stay in memory, which
//! the memory of the session decides, count here.
//!
//! # Positions
//! A solve settles one block of each isomorphic group. A rate counts the positions of the whole
//! group, so that the rates of progress, report and `status` mean the same.

use crate::cli::face::exit::{self, Exit, Refused};
use crate::cli::face::metrics::MetricsArgs;
use crate::cli::face::output::{self, Out, Paint, note};
use crate::cli::face::signals::Signals;
use crate::cli::face::values;
use crate::cli::face::watch::{self, Blocks, Reading};
use clap::{ArgMatches, Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pipeline::{BlockId, Counts, Metrics, Stopwatch};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use trinim::database::Keep;
use trinim::layout::Layout;
use trinim::plan::{Shape, rates};
use trinim::solve::baseline::Counters;

/// Time between two readings of the counters.
const TICK: Duration = Duration::from_millis(100);

/// `--progress`, `--progress-interval` and the metrics.
#[derive(Clone, Args)]
pub struct ProgressArgs {
    /// How to show progress on standard error; --quiet shows none
    #[arg(long, help_heading = "Output", value_name = "HOW", value_enum, default_value = "auto")]
    progress: Choice,

    /// Time between two lines of progress, like 1s, 1m
    #[arg(long, help_heading = "Output", value_name = "TIME", value_parser = values::duration, default_value = "10s")]
    progress_interval: Duration,

    #[command(flatten)]
    metrics: MetricsArgs,
}

/// Begins to watch the command of these arguments, if it shows progress.
pub fn watch(matches: &ArgMatches) {
    let (command, own) = exit::innermost(matches);
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
    /// Resolves the arguments for standard error as it is.
    ///
    /// # Errors
    /// Returns [`Refused`] for a bar where none can be drawn, and for metrics that cannot be told.
    pub fn on(&self, out: &Out) -> Result<Progress, Refused> {
        let redraws = std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let style = match (self.progress, out.quiet) {
            // The stream is for programs, and they have asked for it.
            (Choice::Json, _) => Choice::Json,
            (_, true) => Choice::None,
            (choice, false) => choice.resolved(redraws)?,
        };
        self.metrics.begin(out)?;
        Ok(Progress { quiet: out.quiet, style, interval: self.progress_interval, paint: out.error_paint })
    }
}

impl Choice {
    /// Returns the choice for a standard error that can redraw a line, or cannot.
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

/// The work of one session, within that of the whole solve.
#[derive(Clone, Debug)]
pub struct Total {
    /// All blocks, including those of earlier sessions.
    pub blocks: u64,
    /// Blocks of earlier sessions.
    pub resumed_blocks: u64,
    /// All work; see [`units`].
    pub work: f64,
    /// The work of earlier sessions.
    pub resumed_work: f64,
    /// Positions of this session's blocks and of their images.
    pub positions: u64,
    /// Bytes of a block's bitmap.
    pub block_bytes: u64,
    session: Session,
}

/// What a session has done after a number of blocks or edges.
#[derive(Clone, Debug)]
enum Session {
    /// The work and the planned time of its first blocks, from none to all.
    Blocks(Vec<[f64; 2]>),
    /// An edge is a unit of work, and so is a block.
    Edges,
}

impl Total {
    /// The work of an update-log solve that finds the blocks in `finished` already solved and holds
    /// at most `held` streams in memory.
    pub fn of(layout: &Layout, shape: &Shape, held: u64, finished: &BTreeSet<BlockId>) -> Total {
        let left = layout.ordinals().filter(|block| !finished.contains(block));
        let (units, times) = (units(layout, shape), by_block(layout, shape, held));
        let mut sums = vec![[0.0; 2]];
        for block in layout.order().into_iter().filter(|block| !finished.contains(block)) {
            let [work, time] = sums[sums.len() - 1];
            sums.push([work + units[block.index()], time + times[block.index()]]);
        }
        Total {
            blocks: layout.canonical_blocks().len() as u64,
            resumed_blocks: finished.len() as u64,
            work: units.iter().sum(),
            resumed_work: finished.iter().map(|block| units[block.index()]).sum(),
            positions: left.map(|block| positions(layout, block)).sum(),
            block_bytes: (1 << layout.offset_bits()) / 8,
            session: Session::Blocks(sums),
        }
    }

    /// The same work on blocks of this many bitmaps.
    pub fn with_planes(self, planes: usize) -> Total {
        Total { block_bytes: self.block_bytes * planes as u64, ..self }
    }

    /// The work of a solve by a baseline, which always starts over: `edges` are applied to `blocks`
    /// blocks of a board of `positions` positions.
    pub fn from_the_start(layout: &Layout, blocks: u64, edges: u64, positions: u64) -> Total {
        Total {
            blocks,
            resumed_blocks: 0,
            work: (edges + blocks) as f64,
            resumed_work: 0.0,
            positions,
            block_bytes: (1 << layout.offset_bits()) / 8,
            session: Session::Edges,
        }
    }

    /// Returns the share of the whole work that earlier sessions did.
    pub fn resumed_share(&self) -> f64 {
        if self.work > 0.0 { self.resumed_work / self.work } else { 1.0 }
    }

    /// Returns the share of the whole work done, and the time left in seconds.
    fn shares(&self, counts: &Counts, elapsed: f64) -> (f64, Option<f64>) {
        let settled = counts.blocks_computed;
        let ([work, time], [_, all]) = match &self.session {
            // Blocks are settled in about the order in which they are handed out.
            Session::Blocks(sums) => {
                let last = sums.len() - 1;
                (sums[last.min(settled as usize)], sums[last])
            }
            Session::Edges => {
                let done = ((counts.edges_applied + settled) as f64).min(self.work);
                ([done; 2], [self.work; 2])
            }
        };
        let share = if self.work > 0.0 { (self.resumed_work + work) / self.work } else { 1.0 };
        (share.min(1.0), left_s(elapsed, time, all - time))
    }

    /// Returns what is known after `elapsed` seconds; `line` gets the blocks done of all, the time
    /// left and the rate in words.
    fn reading(
        &self,
        counts: &Counts,
        blocks: Blocks,
        elapsed: f64,
        line: impl FnOnce(&str, &str, &str) -> String,
    ) -> Reading {
        let (share, eta_s) = self.shares(counts, elapsed);
        let finished_blocks = self.resumed_blocks + counts.blocks_computed;
        let rate = self.positions_of(counts.blocks_computed) / elapsed;
        let done = format!("{finished_blocks}/{}", self.blocks);
        Reading {
            share,
            line: line(&done, &in_words(eta_s), &output::per_second(rate, "positions")),
            eta_s,
            rate_positions_per_second: Some(rate),
            blocks: Some(Blocks { blocks: self.blocks, finished_blocks, ..blocks }),
        }
    }

    /// Returns the positions that `settled` blocks of this session stand for, on average.
    fn positions_of(&self, settled: u64) -> f64 {
        self.positions as f64 * settled as f64 / (self.blocks - self.resumed_blocks).max(1) as f64
    }
}

/// Returns the work of each block: the nanoseconds that it takes one thread by the plan's rates if
/// no stream is held in memory. A folder does not say how much memory its solve has.
pub fn units(layout: &Layout, shape: &Shape) -> Vec<f64> {
    by_block(layout, shape, 0)
}

/// Returns the planned nanoseconds of each block if `held` streams are held: whole numbers, because
/// a sum of fractions would depend on the order of the blocks. If the block graph was too large to
/// be walked, all blocks count alike.
fn by_block(layout: &Layout, shape: &Shape, held: u64) -> Vec<f64> {
    let blocks = layout.canonical_blocks().len();
    if shape.estimated {
        return vec![1.0; blocks];
    }
    let mut times = vec![0.0; blocks];
    let rates = rates::of(Keep::Counts, (1_u64 << layout.offset_bits()) / 8);
    let planned = shape.block_seconds(&rates, shape.usual_stream_bytes(), held);
    layout.order().into_iter().zip(planned).for_each(|(block, planned)| times[block.index()] = (planned * 1e9).round());
    times
}

/// Returns the positions of the isomorphic group of a block.
pub fn positions(layout: &Layout, block: BlockId) -> u64 {
    u64::from(layout.orbit_size(block)) << layout.offset_bits()
}

/// A function of the elapsed seconds that returns what is known of the work then.
pub type Status<'a> = &'a (dyn Fn(f64) -> Reading + Sync);

/// A function that prints a remark without disturbing the bar.
pub type Say<'a> = &'a (dyn Fn(String) + Sync);

/// The status of a solve after `elapsed` seconds.
pub fn of_solve(metrics: &Metrics, total: &Total, elapsed: f64) -> Reading {
    let counts = metrics.snapshot();
    let committed = counts.blocks_committed;
    let phase = if committed == total.blocks { "sealing" } else { "solving" };
    let log_bytes = counts.log_bytes_written + counts.log_bytes_read + counts.published_bytes_read;
    let logs = output::bytes_per_second(log_bytes as f64 / elapsed);
    let bitmap_bytes = (counts.blocks_computed * total.block_bytes).max(1);
    let published = counts.published_bytes as f64 / bitmap_bytes as f64 * 100.0;
    let blocks = Blocks {
        committed_blocks: committed,
        log_bytes_written: counts.log_bytes_written,
        log_bytes_read: counts.log_bytes_read + counts.published_bytes_read,
        ..Blocks::default()
    };
    total.reading(&counts, blocks, elapsed, |done, left, rate| {
        format!(
            "{phase}  ETA {left}  {done} blocks ({committed} saved)  {rate}  logs {logs}  \
             database {published:.1} % of bitmap"
        )
    })
}

/// The status of a baseline in blocks after `elapsed` seconds.
pub fn in_blocks(metrics: &Metrics, counters: &Counters, total: &Total, elapsed: f64) -> Reading {
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let block_bytes = of(&counters.block_bytes_read) + of(&counters.block_bytes_written);
    let moved = output::bytes_per_second(block_bytes as f64 / elapsed);
    total.reading(&metrics.snapshot(), Blocks::default(), elapsed, |done, left, rate| {
        format!("solving  ETA {left}  {done} blocks  {rate}  blocks {moved}")
    })
}

/// The status of a baseline in memory after `elapsed` seconds; cutting the board into blocks takes
/// little of the time.
pub fn in_memory(counters: &Counters, all: u64, elapsed: f64) -> Reading {
    let visited = counters.positions_visited.load(Ordering::Relaxed);
    let share = visited as f64 / all as f64;
    let phase = if visited == all { "publishing" } else { "solving" };
    let rate = visited as f64 / elapsed;
    let positions = output::per_second(rate, "positions");
    let reading = at_share(share, elapsed, |left| format!("{phase}  ETA {left}  {positions}"));
    Reading { rate_positions_per_second: Some(rate), ..reading }
}

/// The status of work whose time is proportional to its share; `line` gets the time left in words.
pub fn at_share(share: f64, elapsed: f64, line: impl FnOnce(String) -> String) -> Reading {
    let eta_s = left_s(elapsed, share, 1.0 - share);
    Reading { share, line: line(in_words(eta_s)), eta_s, ..Reading::default() }
}

/// Estimates the time left in seconds, if `done` took `elapsed` seconds.
fn left_s(elapsed: f64, done: f64, left: f64) -> Option<f64> {
    (done > 0.0).then(|| elapsed * left.max(0.0) / done)
}

/// Writes an estimated time.
fn in_words(left_s: Option<f64>) -> String {
    left_s.map_or_else(|| "unknown".to_owned(), output::seconds)
}

/// Shows progress while `work` runs. What the work says by [`Say`] is a remark, left out if quiet.
pub fn during<T>(status: Status<'_>, signals: &Signals, progress: &Progress, work: impl FnOnce(Say<'_>) -> T) -> T {
    let (saying, said) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || show(status, signals, progress, said));
        // The sender is dropped when the work is over, however it ends.
        let say = move |text: String| {
            if !progress.quiet {
                let _ = saying.send(text);
            }
        };
        work(&say)
    })
}

fn show(status: Status<'_>, signals: &Signals, progress: &Progress, said: Receiver<String>) {
    let clock = Stopwatch::start();
    let live = progress.style == Choice::Bar;
    let bar = if live {
        ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr())
    } else {
        ProgressBar::hidden()
    };
    if let Ok(style) = ProgressStyle::with_template("{bar:10} {percent:>3}% {wide_msg}") {
        bar.set_style(style);
    }
    let say = |text: String| if live { bar.suspend(|| note(&text)) } else { note(&text) };
    let mut told_stop = false;
    let mut next_line = progress.interval;
    let (watched_every, mut next_watched) = (watch::interval(), Duration::ZERO);
    watch::started();
    loop {
        match said.recv_timeout(signals.time_left(clock.elapsed()).min(TICK)) {
            Ok(text) => {
                say(text);
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let elapsed = clock.elapsed();
        signals.look_at_clock(elapsed);
        let reading = status(elapsed.as_secs_f64());
        watch::keep(&reading);
        if live {
            bar.set_position((reading.share * 1000.0) as u64);
            bar.set_message(reading.line.clone());
        } else if progress.style != Choice::None && elapsed >= next_line {
            next_line = elapsed + progress.interval;
            match progress.style {
                Choice::Json => watch::progress(&reading),
                _ => note(format_args!("{} {}", watch::utc_now(), in_percent(&reading))),
            }
        }
        if let Some(every) = watched_every.filter(|_| elapsed >= next_watched) {
            next_watched = elapsed + every;
            watch::watching(&reading);
        }
        if signals.status.swap(false, Ordering::Relaxed) {
            say(in_percent(&reading));
        }
        if signals.stopped() && !told_stop {
            told_stop = true;
            watch::stopping();
            say(progress.paint.mark(match signals.exit() {
                Exit::TimeUp => "the time is up: stopping at the next safe point",
                _ => "stopping at the next safe point; press Ctrl-C again to quit now",
            }));
        }
    }
    // What was done since the last look.
    let reading = status(clock.elapsed().as_secs_f64());
    match watched_every {
        Some(_) => watch::watching(&reading),
        None => watch::keep(&reading),
    }
    bar.finish_and_clear();
}

fn in_percent(reading: &Reading) -> String {
    format!("{:5.1} % {}", reading.share * 100.0, reading.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trinim::game::Board;

    #[test]
    fn a_bar_is_for_terminals_that_redraw() {
        let styles = |choice: Choice| [true, false].map(|redraws| choice.resolved(redraws).ok());
        assert_eq!(styles(Choice::Auto), [Some(Choice::Bar), Some(Choice::Lines)]);
        assert_eq!(styles(Choice::Bar), [Some(Choice::Bar), None]);
        for choice in [Choice::Lines, Choice::Json, Choice::None] {
            assert_eq!(styles(choice), [Some(choice); 2]);
        }
    }

    /// A resumed run began at 0 % again, and estimated what was left from the whole work.
    #[test]
    fn a_resumed_run_counts_the_whole_and_estimates_what_is_left() {
        let layout = Layout::suggested(&Board::triangle(7, None).unwrap(), 18);
        let all: BTreeSet<BlockId> = layout.ordinals().collect();
        let half: BTreeSet<BlockId> = all.iter().copied().take(all.len() / 2).collect();
        let shape = Shape::of(&layout);
        let (whole, rest) = (Total::of(&layout, &shape, 3, &BTreeSet::new()), Total::of(&layout, &shape, 3, &half));
        assert_eq!((whole.positions, whole.resumed_share()), (1 << 28, 0.0));
        assert_eq!(rest.work, whole.work);
        let begun: u64 = half.iter().map(|block| positions(&layout, *block)).sum();
        assert_eq!(rest.positions, whole.positions - begun);
        assert_eq!(rest.positions_of(rest.blocks - rest.resumed_blocks), rest.positions as f64);

        let metrics = Metrics::default();
        let Reading { share, line, eta_s, .. } = of_solve(&metrics, &rest, 1.0);
        assert_eq!((share, eta_s), (rest.resumed_share(), None));
        assert!(share > 0.1 && line.contains("ETA unknown"), "{share} {line}");
        // A hundred blocks of this session took two seconds.
        let counts = Counts { blocks_computed: 100, ..metrics.snapshot() };
        let (share, left) = rest.shares(&counts, 2.0);
        let first: Vec<BlockId> = layout.order().into_iter().filter(|block| !half.contains(block)).take(100).collect();
        let sum = |held: u64, blocks: &[BlockId]| -> f64 {
            let times = by_block(&layout, &shape, held);
            blocks.iter().map(|block| times[block.index()]).sum()
        };
        let begun: Vec<BlockId> = half.iter().copied().collect();
        let expected = (sum(0, &begun) + sum(0, &first)) / sum(0, &layout.order());
        assert!((share - expected).abs() < 1e-9, "{share} {expected}");
        let others = sum(3, &layout.order()) - sum(3, &begun);
        let wanted = 2.0 * (others - sum(3, &first)) / sum(3, &first);
        assert!((left.unwrap() - wanted).abs() < 1e-9 * wanted, "{left:?} {wanted}");

        let none = Total::of(&layout, &shape, 3, &all);
        assert_eq!((none.resumed_share(), none.positions), (1.0, 0));
        assert_eq!(of_solve(&metrics, &none, 1.0).share, 1.0);
    }
}
