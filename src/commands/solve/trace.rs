//! `--timeline`: what each thread did when, as trace events (the JSON that ui.perfetto.dev and
//! chrome://tracing open).
//!
//! A track is a thread; an event is a stage, in microseconds from the start of the solve. The
//! engine keeps the time of each stage in bins. Within a bin the stages follow each other in the
//! order of [`Stage::ALL`], so the length of an event is exact and its start is exact to a bin.

use pipeline::timeline::LaneRecord;
use pipeline::{Error, Metrics, Stage};
use serde_json::{Value, json};
use std::path::Path;
use terminal::file::{OutputFile, OutputKind};
use trinim::cli::summary::board_words;
use trinim::job::Job;

/// The beginning of every trace of this program.
const SIGNATURE: &str = "{\"otherData\":{\"program\":\"trinim ";
const TIMELINE: OutputKind =
    OutputKind { flag: "--timeline", what: "timeline", is_own: |line| line.starts_with(SIGNATURE) };

/// Checks that the trace can be written, before any work.
///
/// # Errors
/// Those of [`OutputFile::claim`].
pub fn claim(path: Option<&Path>) -> anyhow::Result<Option<OutputFile>> {
    path.map(|path| OutputFile::claim(path, TIMELINE)).transpose()
}

/// Writes the trace of a run, if any thread recorded work; a refused solve recorded none.
///
/// # Errors
/// Returns [`Error::Io`] if the file cannot be written.
pub fn write(file: &OutputFile, job: &Job, metrics: &Metrics) -> Result<(), Error> {
    let recorded = metrics.timeline().map_or_else(Vec::new, |timeline| timeline.recorded());
    if recorded.is_empty() {
        return Ok(());
    }
    let game = &job.game;
    let title = format!("{}, {} play", board_words(game.board.name()), game.rule);
    let mut lines = vec![json!({"name": "process_name", "ph": "M", "pid": 1, "args": {"name": title}}).to_string()];
    for (track, lane) in (1u32..).zip(&recorded) {
        let named = json!({"name": "thread_name", "ph": "M", "pid": 1, "tid": track, "args": {"name": lane.name}});
        lines.push(named.to_string());
        lines.extend(events(track, lane).iter().map(Value::to_string));
    }
    let version = env!("CARGO_PKG_VERSION");
    let text =
        format!("{SIGNATURE}{version}\"}},\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n", lines.join(",\n"));
    file.write(&text)
}

/// Returns the stages of one thread as complete events. Adjacent bins of one stage are one event.
fn events(track: u32, lane: &LaneRecord) -> Vec<Value> {
    let mut stretches: Vec<(Stage, u64, u64)> = Vec::new();
    for (bin, number) in lane.bins.iter().zip(0..) {
        let mut at_ns = number * lane.bin_ns;
        for (stage, length_ns) in Stage::ALL.into_iter().zip(*bin).filter(|(_, length_ns)| *length_ns > 0) {
            match stretches.last_mut() {
                Some((last, _, end_ns)) if *last == stage && *end_ns == at_ns => *end_ns += length_ns,
                _ => stretches.push((stage, at_ns, at_ns + length_ns)),
            }
            at_ns += length_ns;
        }
    }
    let micros = |nanos: u64| nanos as f64 / 1e3;
    let event = |(stage, start_ns, end_ns): (Stage, u64, u64)| {
        let (start, length) = (micros(start_ns), micros(end_ns - start_ns));
        json!({"name": stage.name(), "ph": "X", "pid": 1, "tid": track, "ts": start, "dur": length})
    };
    stretches.into_iter().map(event).collect()
}
