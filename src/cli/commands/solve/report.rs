//! The report at the end of `trinim solve`.

use super::{Outcome, Run};
use crate::cli::face::output::{Out, counted, per_second, seconds};
use crate::cli::words::args::{self, Size};
use crate::cli::words::machine::peak_rss_bytes;
use crate::cli::words::summary::Summary;
use pipeline::{Candidate, Metrics, Placement, Stage};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use trinim::database::{Encoding, Task};
use trinim::kernel::Isa;
use trinim::plan::placement_name;
use trinim::solve::{Baseline, Redundancy, Strategy, baseline};

/// Placement and codec of a strategy without logs.
const NONE: &str = "none";

/// What `--json` prints.
#[derive(Serialize)]
pub struct Report {
    /// True; the report of a solve that stopped or failed has false.
    finished: bool,
    #[serde(flatten)]
    summary: Summary,
    elapsed_s: f64,
    /// Of this session; a session that only seals the database has none.
    rate_positions_per_second: Option<f64>,
    peak_rss_bytes: u64,
    log_bytes_written: u64,
    log_bytes_read: u64,
    log_bytes_peak: u64,
    streams_read: u64,
    streams_held: u64,
    published_bytes_read: u64,
    /// Whether the database's blocks took the place of logs.
    #[serde(skip)]
    blocks_as_logs: bool,
    database_bytes: u64,
    out: String,
    offset_bits: u32,
    resumed_blocks: u64,
    #[serde(skip)]
    way: Strategy,
    strategy: &'static str,
    redundancy: &'static str,
    block_loads: u64,
    block_bytes_read: u64,
    block_bytes_written: u64,
    disk_bytes_peak: u64,
    kernel: String,
    threads: usize,
    workers: usize,
    placement: &'static str,
    codec: String,
    codec_candidates: Vec<CodecRow>,
    memory_bytes: u64,
    peak_leased_bytes: u64,
    commits: u64,
    stages_s: BTreeMap<&'static str, f64>,
    bitmap_bytes: u64,
}

/// Measurements of one codec, taken when the engine chooses.
#[derive(Serialize)]
struct CodecRow {
    codec: &'static str,
    ratio: f64,
    encode_bytes_per_second: f64,
    decode_bytes_per_second: f64,
}

impl CodecRow {
    fn of(measured: &Candidate) -> CodecRow {
        CodecRow {
            codec: measured.codec,
            ratio: measured.ratio,
            encode_bytes_per_second: measured.encode_bytes_per_second,
            decode_bytes_per_second: measured.decode_bytes_per_second,
        }
    }
}

/// Builds the report.
pub fn report(
    run: &Run<'_>,
    outcome: Outcome,
    metrics: &Metrics,
    counters: &baseline::Counters,
    elapsed_s: f64,
) -> Report {
    let Run { args, task, folder, .. } = *run;
    let layout = &task.game.layout;
    let Outcome { manifest, strategy, .. } = outcome;
    let logs = strategy == Strategy::UpdateLog;
    let kernel = match strategy {
        Strategy::Baseline(Baseline::Forward | Baseline::Retrograde) => Isa::Scalar,
        _ => args.kernel.kernel.kernel().isa(),
    };
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let counts = metrics.snapshot();
    let placement = args.game.log_placement.placement(&task.game.board, task.terms.values);
    Report {
        finished: true,
        summary: Summary::of(&manifest, run.task.game),
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
        blocks_as_logs: task.terms.keep.is_database()
            && task.terms.encoding == Encoding::Rows
            && placement == Placement::Shared,
        database_bytes: outcome.database_bytes,
        out: folder.to_string_lossy().into_owned(),
        offset_bits: layout.offset_bits(),
        resumed_blocks: outcome.resumed_blocks,
        way: strategy,
        strategy: strategy.name(),
        redundancy: strategy.redundancy().name(),
        block_loads: of(&counters.block_loads),
        block_bytes_read: of(&counters.block_bytes_read),
        block_bytes_written: of(&counters.block_bytes_written),
        // An upper bound: logs and scratch files are gone when the last bytes of the database are
        // written.
        disk_bytes_peak: counts.log_bytes_peak + of(&counters.scratch_bytes) + outcome.database_bytes,
        kernel: kernel.to_string(),
        threads: args::all_if_zero(args.game.threads),
        workers: outcome.workers,
        placement: if logs { placement_name(placement) } else { NONE },
        codec: if logs { outcome.codec } else { NONE.to_owned() },
        codec_candidates: outcome.candidates.iter().map(CodecRow::of).collect(),
        memory_bytes: args.game.memory.0,
        peak_leased_bytes: outcome.peak_leased_bytes,
        commits: counts.commits,
        stages_s: Stage::ALL.iter().map(|stage| (stage.name(), metrics.stage(*stage).as_secs_f64())).collect(),
        bitmap_bytes: bitmap_bytes(task, metrics),
    }
}

/// Describes what was moved between memory and disk, with a label.
fn moved(report: &Report) -> (&'static str, String) {
    let size = |bytes: u64| Size(bytes).to_string();
    let name = report.strategy;
    match report.way {
        Strategy::UpdateLog => {
            let found = report.streams_held as f64 / (report.streams_held + report.streams_read).max(1) as f64;
            let held = if report.streams_held > 0 {
                format!(" ({:.0} % found in memory)", found * 100.0)
            } else {
                String::new()
            };
            if report.blocks_as_logs && report.log_bytes_peak == 0 {
                let read = size(report.published_bytes_read);
                return ("logs", format!("none; {read} read of the database in their place{held}"));
            }
            let of_blocks = match report.published_bytes_read {
                0 => String::new(),
                read => format!(" and {} of the database", size(read)),
            };
            let text = format!(
                "{} written, {} read{of_blocks}{held}, {} at most; {}, {}",
                size(report.log_bytes_written),
                size(report.log_bytes_read),
                size(report.log_bytes_peak),
                report.placement,
                report.codec
            );
            ("logs", text)
        }
        Strategy::Baseline(Baseline::Forward | Baseline::Retrograde) => {
            ("strategy", format!("{name}: the whole board in memory, one position at a time"))
        }
        Strategy::Baseline(Baseline::BlockPush(redundancy) | Baseline::BlockPull(redundancy)) => {
            let text = format!(
                "{name}, redundancy {}: {} of blocks, {} read, {} written, {} on disk at most",
                if redundancy == Redundancy::Keep { "kept" } else { "removed" },
                counted(report.block_loads, "load"),
                size(report.block_bytes_read),
                size(report.block_bytes_written),
                size(report.disk_bytes_peak)
            );
            ("strategy", text)
        }
    }
}

/// Prints the report as text.
pub fn print(report: &Report, out: &mut Out) -> anyhow::Result<()> {
    let size = |bytes: u64| Size(bytes).to_string();
    let rate = report.rate_positions_per_second;
    let rate = rate.map_or_else(String::new, |rate| format!(" ({})", per_second(rate, "positions")));
    let workers = counted(report.workers as u64, "worker");
    let mut rows = report.summary.rows(out.paint);
    let blocks = counted(report.summary.canonical_blocks, "block");
    let (name, what) = report.summary.kept();
    rows.push((name, format!("{what}{} in {blocks}, {}", size(report.database_bytes), report.out)));
    if report.workers > 0 {
        rows.push(moved(report));
        rows.push(("memory", format!("{} at most, of {}", size(report.peak_rss_bytes), size(report.memory_bytes))));
        rows.push(("time", format!("{}{rate}, {workers}, {}", seconds(report.elapsed_s), report.kernel)));
        if report.resumed_blocks > 0 {
            rows.push(("resumed", format!("{} from earlier sessions", counted(report.resumed_blocks, "block"))));
        }
    }
    out.table(&rows)?;
    Ok(())
}

/// Returns the bytes of bitmap processed: blocks settled, streams applied, encoded and decoded.
fn bitmap_bytes(task: Task<'_>, metrics: &Metrics) -> u64 {
    let counts = metrics.snapshot();
    let block_bytes = 8 * task.stream_words() as u64;
    (counts.blocks_computed + counts.edges_applied) * block_bytes + counts.raw_bytes_encoded + counts.raw_bytes_decoded
}
