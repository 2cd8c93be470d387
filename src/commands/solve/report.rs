//! The report at the end of `trinim solve`.

use super::Outcome;
use pipeline::{Metrics, Placement, Stage};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use terminal::output::{Out, counted, per_second, seconds};
use trinim::cli::args::Size;
use trinim::cli::machine::peak_rss_bytes;
use trinim::cli::summary::Summary;
use trinim::job::{Job, Monitor};
use trinim::plan::{Scenario, placement_name};

/// What `trinim solve` and `trinim resume` print.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// True; a solve that stops or fails prints `trinim.failure/1` with false.
    finished: bool,
    #[serde(flatten)]
    summary: Summary,
    /// Wall-clock time of this session.
    elapsed_s: f64,
    /// Positions decided per second in this session, images included; null if none were.
    rate_positions_per_second: Option<f64>,
    /// Highest resident memory of the process.
    peak_rss_bytes: u64,
    /// Written to update logs in this session.
    log_bytes_written: u64,
    /// Read from update logs in this session.
    log_bytes_read: u64,
    /// Most bytes of logs on disk at a time.
    log_bytes_peak: u64,
    /// Streams that targets read from logs or published files.
    streams_read: u64,
    /// Streams that targets found in memory.
    streams_held: u64,
    /// Read in this session from the blocks of the database, which replace shared logs.
    published_bytes_read: u64,
    /// Whether the database's blocks took the place of logs.
    #[serde(skip)]
    blocks_as_logs: bool,
    /// Size of the finished database, or of the kept part.
    database_bytes: u64,
    /// Folder of the run.
    out: String,
    /// A block has 2^`offset_bits` positions.
    offset_bits: u32,
    /// Canonical blocks finished in earlier sessions.
    resumed_blocks: u64,
    /// Upper bound of the disk space in use at a time.
    disk_bytes_peak: u64,
    /// Instruction set of the kernel.
    kernel: String,
    /// Requested threads.
    threads: usize,
    /// Workers that ran; 0 if the folder was already finished.
    workers: usize,
    /// `dedicated` or `shared`.
    placement: &'static str,
    /// Codec of the logs.
    codec: &'static str,
    /// Memory budget.
    memory_bytes: u64,
    /// Memory of the workers plus the peaks of held streams and queue.
    peak_leased_bytes: u64,
    /// Checkpoints of this session.
    commits: u64,
    /// Time of all threads together by stage: `read`, `decode`, `orient`, `apply`, `audit`,
    /// `settle`, `publish`, `encode`, `write`, `commit`, waiting (`await_read`, `await_write`) and
    /// `idle`.
    stages_s: BTreeMap<&'static str, f64>,
    /// Bytes of bitmap processed: settled, applied, encoded, decoded.
    bitmap_bytes: u64,
}

/// Builds the report.
pub fn report(job: &Job, outcome: Outcome, monitor: &Monitor, elapsed_s: f64) -> Report {
    let Job { game, terms, .. } = job;
    let Scenario { resources, placement, codec, .. } = job.scenario();
    let (metrics, solved) = (&monitor.metrics, outcome.solved);
    let counts = metrics.snapshot();
    Report {
        finished: true,
        summary: Summary::new(&solved.manifest, game),
        elapsed_s,
        rate_positions_per_second: Some(outcome.session_positions)
            .filter(|positions| *positions > 0)
            .map(|positions| positions as f64 / elapsed_s.max(1e-9)),
        peak_rss_bytes: peak_rss_bytes(),
        log_bytes_written: counts.log_bytes_written,
        log_bytes_read: counts.log_bytes_read,
        log_bytes_peak: counts.log_bytes_peak,
        streams_read: counts.streams_read,
        streams_held: counts.streams_held,
        published_bytes_read: counts.published_bytes_read,
        blocks_as_logs: terms.keep.is_database() && placement == Placement::Shared,
        database_bytes: solved.database_bytes,
        out: job.folder.to_string_lossy().into_owned(),
        offset_bits: game.layout.offset_bits(),
        resumed_blocks: outcome.resumed_blocks,
        // An upper bound: logs are removed before the last bytes of the database are written.
        disk_bytes_peak: counts.log_bytes_peak + solved.database_bytes,
        kernel: job.kernel().isa().to_string(),
        threads: resources.threads,
        workers: outcome.workers,
        placement: placement_name(placement),
        codec: codec.name(),
        memory_bytes: resources.memory_bytes,
        peak_leased_bytes: solved.peak_leased_bytes,
        commits: counts.commits,
        stages_s: Stage::ALL.iter().map(|stage| (stage.name(), metrics.stage(*stage).as_secs_f64())).collect(),
        bitmap_bytes: bitmap_bytes(job, metrics),
    }
}

/// Describes the bytes that were moved between memory and disk.
fn moved(report: &Report) -> String {
    let size = |bytes: u64| Size(bytes).to_string();
    let found = report.streams_held as f64 / (report.streams_held + report.streams_read).max(1) as f64;
    let held =
        if report.streams_held > 0 { format!(" ({:.0} % found in memory)", found * 100.0) } else { String::new() };
    if report.blocks_as_logs && report.log_bytes_peak == 0 {
        return format!("none; {} read of the database in their place{held}", size(report.published_bytes_read));
    }
    let of_blocks = match report.published_bytes_read {
        0 => String::new(),
        read => format!(" and {} of the database", size(read)),
    };
    format!(
        "{} written, {} read{of_blocks}{held}, {} at most; {}, {}",
        size(report.log_bytes_written),
        size(report.log_bytes_read),
        size(report.log_bytes_peak),
        report.placement,
        report.codec
    )
}

/// Prints the report as text.
pub fn print(report: &Report, out: &mut Out) -> anyhow::Result<()> {
    let size = |bytes: u64| Size(bytes).to_string();
    let rate = report.rate_positions_per_second;
    let rate = rate.map_or_else(String::new, |rate| format!(" ({})", per_second(rate, "positions")));
    let workers = counted(report.workers as u64, "worker");
    let mut rows = report.summary.rows(out.paint);
    rows.push(report.summary.kept(report.database_bytes, &report.out));
    if report.workers > 0 {
        rows.push(("logs", moved(report)));
        rows.push(("memory", format!("{} at most, of {}", size(report.peak_rss_bytes), size(report.memory_bytes))));
        rows.push(("time", format!("{}{rate}, {workers}, {}", seconds(report.elapsed_s), report.kernel)));
        if report.resumed_blocks > 0 {
            rows.push(("resumed", format!("{} from earlier sessions", counted(report.resumed_blocks, "block"))));
        }
    }
    Ok(out.table(&rows)?)
}

/// Returns the bytes of bitmap processed: blocks settled, streams applied, encoded and decoded.
fn bitmap_bytes(job: &Job, metrics: &Metrics) -> u64 {
    let counts = metrics.snapshot();
    let block_bytes = 8 * job.spec().stream_words() as u64;
    (counts.blocks_computed + counts.edges_applied) * block_bytes + counts.raw_bytes_encoded + counts.raw_bytes_decoded
}
