//! Counters of a run: bytes, blocks and time by stage. The only place of the package that reads a clock.
//!
//! All counters are relaxed atomics: they are read while the run goes on, for progress, and exactly once after all threads have ended. On request every
//! timed stretch also goes to a [`Timeline`], one lane a thread.

use crate::measure::timeline::{OnLane, Timeline};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a thread spends its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reader: reading log entries from storage.
    Read,
    /// Worker: waiting for the reader.
    AwaitRead,
    /// Worker: decoding frames.
    Decode,
    /// Worker: turning streams.
    Orient,
    /// Worker: applying operations.
    Apply,
    /// Worker: settling a block.
    Settle,
    /// Worker: summarising and encoding the published file.
    Publish,
    /// Worker: encoding log frames.
    Encode,
    /// Worker: waiting for the writer to take a piece.
    AwaitWrite,
    /// Writer: writing runs.
    Write,
    /// Committer: syncs and journal.
    Commit,
    /// Worker: no block ready.
    Idle,
}

impl Stage {
    /// All stages, in the order of the declaration.
    pub const ALL: [Stage; 12] = [
        Stage::Read,
        Stage::AwaitRead,
        Stage::Decode,
        Stage::Orient,
        Stage::Apply,
        Stage::Settle,
        Stage::Publish,
        Stage::Encode,
        Stage::AwaitWrite,
        Stage::Write,
        Stage::Commit,
        Stage::Idle,
    ];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Read => "read",
            Stage::AwaitRead => "await_read",
            Stage::Decode => "decode",
            Stage::Orient => "orient",
            Stage::Apply => "apply",
            Stage::Settle => "settle",
            Stage::Publish => "publish",
            Stage::Encode => "encode",
            Stage::AwaitWrite => "await_write",
            Stage::Write => "write",
            Stage::Commit => "commit",
            Stage::Idle => "idle",
        }
    }
}

/// Counters shared by all threads of a run.
#[derive(Default)]
pub struct Metrics {
    /// Bytes of log entries written to storage.
    pub log_bytes_written: AtomicU64,
    /// Bytes of log entries read from storage.
    pub log_bytes_read: AtomicU64,
    /// Bytes of bitmap that went into the encoder.
    pub raw_bytes_encoded: AtomicU64,
    /// Bytes of bitmap that came out of the decoder.
    pub raw_bytes_decoded: AtomicU64,
    /// Bytes of published files.
    pub published_bytes: AtomicU64,
    /// Bytes of log files that exist now.
    pub log_bytes_live: AtomicU64,
    /// Highest value of `log_bytes_live`.
    pub log_bytes_peak: AtomicU64,
    /// Write calls of the writer for log entries.
    pub log_writes: AtomicU64,
    /// Blocks settled in this run.
    pub blocks_settled: AtomicU64,
    /// Blocks committed, those of earlier runs included.
    pub blocks_committed: AtomicU64,
    /// Edges applied in this run.
    pub edges_applied: AtomicU64,
    /// Commits made in this run.
    pub commits: AtomicU64,
    stage_nanos: [AtomicU64; Stage::ALL.len()],
    timeline: Option<(Instant, Timeline)>,
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

    /// Runs `work` and adds its time to `stage`. Timed stretches do not nest: each nanosecond of a thread belongs to one stage.
    pub fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let nanos = start.elapsed().as_nanos() as u64;
        self.stage_nanos[stage as usize].fetch_add(nanos, Ordering::Relaxed);
        if let Some((begin, timeline)) = &self.timeline {
            timeline.add(stage, start.duration_since(*begin).as_nanos() as u64, nanos);
        }
        result
    }

    /// Time spent in a stage, summed over threads.
    pub fn stage(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.stage_nanos[stage as usize].load(Ordering::Relaxed))
    }

    /// Adds log bytes that now exist.
    pub(crate) fn log_added(&self, bytes: u64) {
        let live = self.log_bytes_live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.log_bytes_peak.fetch_max(live, Ordering::Relaxed);
    }

    /// Takes away log bytes that were deleted.
    pub(crate) fn log_removed(&self, bytes: u64) {
        self.log_bytes_live.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }
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
