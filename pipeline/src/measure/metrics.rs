//! Counters of a run: bytes, blocks and time by stage. The only place of the package that reads a clock.
//!
//! Threads count while the run goes on; whoever watches takes a [`Metrics::snapshot`]. On request every timed stretch also
//! goes to a [`Timeline`], one lane a thread.

use crate::measure::stage::Stage;
use crate::measure::timeline::{OnLane, Timeline};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Declares the counters once: as numbers that are read, and as atomics that threads add to.
macro_rules! counters {
    ($($(#[$meaning:meta])+ $name:ident,)+) => {
        /// What a run has done so far. Each number is exact; taken while the run goes on, they may be apart by what its threads
        /// did meanwhile.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts {
            $($(#[$meaning])+ pub $name: u64,)+
        }

        #[derive(Default)]
        struct Counters {
            $($name: AtomicU64,)+
        }

        impl Counters {
            fn snapshot(&self) -> Counts {
                // Nothing is published through a counter, so no order beside that of each one is needed.
                Counts { $($name: self.$name.load(Ordering::Relaxed),)+ }
            }
        }
    };
}

counters! {
    /// Bytes of log entries written to storage.
    log_bytes_written,
    /// Bytes of log entries read from storage.
    log_bytes_read,
    /// Bytes of bitmap that went into the encoder.
    raw_bytes_encoded,
    /// Bytes of bitmap that came out of the decoder.
    raw_bytes_decoded,
    /// Bytes of published files.
    published_bytes,
    /// Bytes of log files that exist now.
    log_bytes_live,
    /// Highest value of `log_bytes_live`.
    log_bytes_peak,
    /// Write calls of the writer for log entries.
    log_writes,
    /// Blocks computed in this run.
    blocks_computed,
    /// Blocks committed, those of earlier runs included.
    blocks_committed,
    /// Edges applied in this run.
    edges_applied,
    /// Commits made in this run.
    commits,
}

/// Counters and times shared by all threads of a run.
#[derive(Default)]
pub struct Metrics {
    counters: Counters,
    stage_nanos: [AtomicU64; Stage::ALL.len()],
    timeline: Option<(Instant, Timeline)>,
}

/// A stretch of time of the calling thread, which goes to a stage when this is dropped.
#[must_use]
pub struct InStage<'a> {
    metrics: &'a Metrics,
    stage: Stage,
    start: Instant,
}

impl Drop for InStage<'_> {
    fn drop(&mut self) {
        let nanos = self.start.elapsed().as_nanos() as u64;
        let InStage { metrics, stage, start } = self;
        metrics.stage_nanos[*stage as usize].fetch_add(nanos, Ordering::Relaxed);
        if let Some((begin, timeline)) = &metrics.timeline {
            timeline.add(*stage, start.duration_since(*begin).as_nanos() as u64, nanos);
        }
    }
}

impl Metrics {
    /// Counters that also keep a timeline, which starts now.
    pub fn with_timeline() -> Metrics {
        Metrics { timeline: Some((Instant::now(), Timeline::default())), ..Metrics::default() }
    }

    /// The timeline, if one is kept.
    pub fn timeline(&self) -> Option<&Timeline> {
        self.timeline.as_ref().map(|(_, timeline)| timeline)
    }

    /// While the guard lives, the time of the calling thread goes to the lane of this name, if a timeline is kept.
    #[must_use]
    pub fn lane(&self, name: impl FnOnce() -> String) -> OnLane {
        Timeline::enter(self.timeline(), name)
    }

    /// While the guard lives, the time of the calling thread goes to `stage`. Guards must not nest: each nanosecond of a thread
    /// belongs to one stage.
    pub fn enter(&self, stage: Stage) -> InStage<'_> {
        InStage { metrics: self, stage, start: Instant::now() }
    }

    /// Time spent in a stage so far, summed over threads.
    pub fn stage(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.stage_nanos[stage as usize].load(Ordering::Relaxed))
    }

    /// All counters as they are now.
    pub fn snapshot(&self) -> Counts {
        self.counters.snapshot()
    }

    /// A block is computed.
    pub fn block_computed(&self) {
        add(&self.counters.blocks_computed, 1);
    }

    /// An edge is applied.
    pub fn edge_applied(&self) {
        add(&self.counters.edges_applied, 1);
    }

    /// A file of so many bytes is published.
    pub fn published(&self, bytes: u64) {
        add(&self.counters.published_bytes, bytes);
    }

    /// A commit has made so many blocks safe.
    pub fn committed(&self, blocks: u64) {
        add(&self.counters.commits, 1);
        self.recovered(blocks);
    }

    /// So many blocks are safe since an earlier run.
    pub fn recovered(&self, blocks: u64) {
        add(&self.counters.blocks_committed, blocks);
    }

    /// So many bytes of bitmap went into the encoder.
    pub(crate) fn encoded(&self, bytes: u64) {
        add(&self.counters.raw_bytes_encoded, bytes);
    }

    /// So many bytes of bitmap came out of the decoder.
    pub(crate) fn decoded(&self, bytes: u64) {
        add(&self.counters.raw_bytes_decoded, bytes);
    }

    /// So many bytes of log entries were read.
    pub(crate) fn log_read(&self, bytes: u64) {
        add(&self.counters.log_bytes_read, bytes);
    }

    /// So many bytes of log entries were written with one call.
    pub(crate) fn log_written(&self, bytes: u64) {
        add(&self.counters.log_bytes_written, bytes);
        add(&self.counters.log_writes, 1);
    }

    /// So many log bytes exist from now on.
    pub(crate) fn log_added(&self, bytes: u64) {
        let live = self.counters.log_bytes_live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.counters.log_bytes_peak.fetch_max(live, Ordering::Relaxed);
    }

    /// So many log bytes were deleted.
    pub(crate) fn log_removed(&self, bytes: u64) {
        self.counters.log_bytes_live.fetch_sub(bytes, Ordering::Relaxed);
    }
}

fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}

/// Wall-clock stopwatch for callers that may not read clocks themselves.
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
