//! Counters of a run: bytes, blocks and time by stage. The only module of the package that reads a
//! clock.
//!
//! Threads count during the run, and an observer can take a [`Metrics::snapshot`] at any time. On
//! request every timed interval is also recorded in a [`Timeline`], one lane per thread.
#![expect(clippy::disallowed_types, reason = "metrics are times")]

use crate::measure::stage::Stage;
use crate::measure::timeline::{LaneGuard, Timeline};
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Declares the counters once: as plain numbers to read, and as atomics to add to.
macro_rules! counters {
    ($($(#[$meaning:meta])+ $name:ident,)+) => {
        /// What a run has done so far. Each number is exact; in a snapshot of a live run, two of
        /// them can be a few operations apart.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts {
            $($(#[$meaning])+ pub $name: u64,)+
        }

        /// The counters behind [`Counts`], which all threads of a run add to.
        #[derive(Default)]
        pub struct Counters {
            $($(#[$meaning])+ pub $name: Counter,)+
        }

        impl Counters {
            fn snapshot(&self) -> Counts {
                // Counters publish no other data, so only the order within each counter matters.
                Counts { $($name: self.$name.0.load(Ordering::Relaxed),)+ }
            }
        }
    };
}

counters! {
    /// Bytes of log entries written to storage.
    log_bytes_written,
    /// Bytes of log entries read from storage.
    log_bytes_read,
    /// Bytes of bitmap given to the encoder.
    raw_bytes_encoded,
    /// Bytes of bitmap returned by the decoder.
    raw_bytes_decoded,
    /// Bytes of published files.
    published_bytes,
    /// Bytes of published files read in place of logs.
    published_bytes_read,
    /// Bytes of log files that exist now.
    log_bytes_live,
    /// Highest value of `log_bytes_live`.
    log_bytes_peak,
    /// Write calls of the writer for log entries.
    log_writes,
    /// Blocks computed in this run.
    blocks_computed,
    /// Blocks committed, including those of earlier runs.
    blocks_committed,
    /// Edges applied in this run.
    edges_applied,
    /// Streams that a target found in memory instead of reading a log or published file.
    streams_held,
    /// Streams that a target read from a log or published file.
    streams_read,
    /// Commits made in this run.
    commits,
}

/// A number that several threads add to.
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds an amount.
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }
}

/// Counters and times shared by all threads of a run.
#[derive(Default)]
pub struct Metrics {
    /// What the run counts.
    pub counters: Counters,
    stage_nanos: [AtomicU64; Stage::ALL.len()],
    timeline: Option<(Instant, Timeline)>,
}

/// An interval of the calling thread that counts for a stage; it ends when this value is dropped.
#[must_use]
pub struct StageTimer<'a> {
    metrics: &'a Metrics,
    stage: Stage,
    start: Instant,
}

impl Drop for StageTimer<'_> {
    fn drop(&mut self) {
        let nanos = self.start.elapsed().as_nanos() as u64;
        let StageTimer { metrics, stage, start } = self;
        metrics.stage_nanos[*stage as usize].fetch_add(nanos, Ordering::Relaxed);
        if let Some((begin, timeline)) = &metrics.timeline {
            timeline.add(*stage, start.duration_since(*begin).as_nanos() as u64, nanos);
        }
    }
}

impl Metrics {
    /// Creates counters that also keep a timeline, which starts now.
    pub fn with_timeline() -> Metrics {
        Metrics { timeline: Some((Instant::now(), Timeline::default())), ..Metrics::default() }
    }

    /// Returns the timeline, if there is one.
    pub fn timeline(&self) -> Option<&Timeline> {
        self.timeline.as_ref().map(|(_, timeline)| timeline)
    }

    /// Records the calling thread's time in the lane `name` while the guard lives, if there is a
    /// timeline.
    #[must_use]
    pub fn lane(&self, name: impl FnOnce() -> String) -> LaneGuard {
        Timeline::enter(self.timeline(), name)
    }

    /// Counts the calling thread's time for `stage` while the guard lives. Guards must not nest:
    /// each nanosecond of a thread belongs to one stage.
    pub fn enter(&self, stage: Stage) -> StageTimer<'_> {
        StageTimer { metrics: self, stage, start: Instant::now() }
    }

    /// Returns the time spent in a stage so far, summed over threads.
    pub fn stage(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.stage_nanos[stage as usize].load(Ordering::Relaxed))
    }

    /// Returns the current counters.
    pub fn snapshot(&self) -> Counts {
        self.counters.snapshot()
    }

    /// Counts a commit of `blocks` blocks.
    pub fn committed(&self, blocks: u64) {
        self.counters.commits.add(1);
        self.counters.blocks_committed.add(blocks);
    }

    /// Counts bytes of log entries that one call has written.
    pub(crate) fn log_written(&self, bytes: u64) {
        self.counters.log_bytes_written.add(bytes);
        self.counters.log_writes.add(1);
    }

    /// Counts log bytes that exist from now on.
    pub(crate) fn log_added(&self, bytes: u64) {
        let live = self.counters.log_bytes_live.0.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.counters.log_bytes_peak.0.fetch_max(live, Ordering::Relaxed);
    }

    /// Counts log bytes that were deleted.
    pub(crate) fn log_removed(&self, bytes: u64) {
        self.counters.log_bytes_live.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A wall-clock stopwatch for modules that must not read clocks themselves.
pub struct Stopwatch(Instant);

/// Returns the processor time of this thread.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

impl Stopwatch {
    /// Starts a stopwatch.
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
