//! Metrics of a long command as OpenMetrics text; with `--metrics FILE`, as a file for the textfile
//! folder of Prometheus's node exporter.
//!
//! All are gauges without time stamps: the exporter reads Prometheus's older text format, in which
//! these are the same, and refuses time stamps.
//!
//! # Invariants
//! 1. A reader always finds a complete file: each is written under another name in the same folder
//!    and renamed.

use crate::exit::Refused;
use crate::file::{OutputFile, OutputKind};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The state of the work at one moment.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Reading {
    /// Share of the whole work that is done, 0 to 1.
    pub share: f64,
    /// The progress in words; for a note, its text.
    #[serde(rename = "message")]
    pub line: String,
    /// Estimate of the time left.
    pub eta_s: Option<f64>,
    /// Positions decided per second in this session, images included.
    pub rate_positions_per_second: Option<f64>,
    /// Blocks and bytes, for a command that has them.
    #[serde(flatten)]
    pub blocks: Option<Blocks>,
}

/// The blocks of a solve at one moment.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Blocks {
    /// For a solve: canonical blocks.
    pub blocks: u64,
    /// For a solve: blocks that this and earlier sessions have finished.
    pub finished_blocks: u64,
    /// For a solve: the finished blocks that a kill cannot undo.
    pub committed_blocks: u64,
    /// For a solve: written to update logs in this session.
    pub log_bytes_written: u64,
    /// For a solve: read from update logs and published blocks in this session.
    pub log_bytes_read: u64,
}

/// The state of a command.
#[derive(Debug)]
pub struct Standing {
    /// One of [`STATES`].
    pub state: &'static str,
    /// The exit code, once it has ended.
    pub exit_code: Option<u8>,
    /// The state of its work.
    pub reading: Reading,
}

/// The states of a command.
const STATES: [&str; 4] = ["running", "stopped", "failed", "finished"];

/// The beginning of every file of metrics.
const BEGIN: &str = "# HELP trinim_state ";
const METRICS: OutputKind =
    OutputKind { flag: "--metrics", what: "metrics file", is_own: |line| line.starts_with(BEGIN) };

/// Checks that a file can be written at this path, and that there is none, or only metrics of an
/// earlier command.
///
/// # Errors
/// Returns [`Refused`].
pub fn check(path: &Path) -> anyhow::Result<()> {
    let begun = OutputFile::look_regular(path, METRICS).and_then(|file| Ok(file.begin().map(drop)?));
    let hint = "name a file in a folder that can be written";
    begun.map_err(|error| match error.is::<Refused>() {
        true => error,
        false => Refused::new(format!("--metrics: {error:#}"), hint).into(),
    })
}

/// Replaces a file of metrics. Checks the path each time, because the last metrics are written even
/// if [`check`] refused it.
///
/// # Errors
/// Those of [`OutputFile::look_regular`], and of the system if the file cannot be written.
pub fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    // The temporary name does not matter: the exporter reads only *.prom.
    Ok(OutputFile::look_regular(path, METRICS)?.write(text)?)
}

impl Standing {
    /// Formats the metrics of `command`, which began `elapsed_s` seconds ago.
    pub fn text(&self, command: &str, elapsed_s: f64) -> Result<String, fmt::Error> {
        let Standing { state, exit_code, reading } = self;
        let mut out = String::new();
        let states = "State of the last command: 1 for the current state.";
        writeln!(out, "{BEGIN}{states}\n# TYPE trinim_state gauge")?;
        for one in STATES {
            writeln!(out, "trinim_state{{command=\"{command}\",state=\"{one}\"}} {}", u8::from(one == *state))?;
        }
        let rate = reading.rate_positions_per_second;
        let of = |count: fn(Blocks) -> u64| reading.blocks.map(|blocks| count(blocks) as f64);
        for (name, help, value) in [
            ("exit_code", "Exit code of the command, once it has ended.", exit_code.map(f64::from)),
            ("updated_timestamp_seconds", "Time of writing, in seconds since 1970.", Some(now_s())),
            ("elapsed_seconds", "Time since the command began.", Some(elapsed_s)),
            ("progress_ratio", "Share of the work that is done.", Some(reading.share)),
            ("eta_seconds", "Estimate of the time left.", reading.eta_s),
            ("rate_positions_per_second", "Positions decided per second in this session, images included.", rate),
            ("blocks", "Blocks of the solve.", of(|of| of.blocks)),
            ("finished_blocks", "Blocks that this and earlier sessions have finished.", of(|of| of.finished_blocks)),
            ("committed_blocks", "Finished blocks that a kill cannot undo.", of(|of| of.committed_blocks)),
            ("log_written_bytes", "Bytes written to update logs in this session.", of(|of| of.log_bytes_written)),
            (
                "log_read_bytes",
                "Bytes read from update logs and published blocks in this session.",
                of(|of| of.log_bytes_read),
            ),
        ] {
            let Some(value) = value else { continue };
            writeln!(out, "# HELP trinim_{name} {help}\n# TYPE trinim_{name} gauge")?;
            writeln!(out, "trinim_{name}{{command=\"{command}\"}} {value}")?;
        }
        out.push_str("# EOF\n");
        Ok(out)
    }
}

/// Returns the seconds since 1970-01-01 UTC, rounded to milliseconds.
pub fn now_s() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as f64 / 1e3
}
