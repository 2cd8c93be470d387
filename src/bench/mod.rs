//! Benchmark records, which `trinim bench` writes and which the README's tables and plots come
//! from.
//!
//! A [`Record`] has one [`Row`] for each case, in the order of the cases. A row has its [`Run`]s
//! with the program's own report of each, or the reason why the case was refused. Times are
//! seconds, sizes are bytes. [`Record::evaluate`] fills in the figures that follow from the runs;
//! the JSON includes them for other tools. Measuring is in `cli::bench`.
//!
//! # Invariants
//! 1. Figures follow from runs and yardsticks alone: evaluating a parsed record changes nothing.
//! 2. The JSON only ever gains fields; absent ones read as absent.

mod csv;
mod markdown;
mod spread;

pub use csv::CSV_SIGNATURE;
pub use markdown::{MARKDOWN_SIGNATURE, bytes, percent, seconds};
pub use spread::Spread;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The format version of a record.
pub const FORMAT: u32 = 1;

/// Cases measured together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// Version of the record.
    pub format: u32,
    /// The day of the measurement, UTC, like `2026-11-20`.
    pub date: String,
    /// Version of the program.
    pub version: String,
    /// Revision of the sources, if the caller gave it.
    pub revision: Option<String>,
    /// Name of the suite; null for cases from the command line.
    pub suite: Option<String>,
    /// The machine.
    pub machine: Machine,
    /// The speed of the device under the bench's folder, without the program.
    pub device: Option<DeviceSpeed>,
    /// The speed of the memory, without the program.
    pub memory: Option<MemorySpeed>,
    /// Unmeasured rounds before the measured ones.
    pub warm_up: u32,
    /// Measured rounds.
    pub repeats: u32,
    /// Whether the bench stopped before the end of the last round.
    pub interrupted: bool,
    /// The cases.
    pub rows: Vec<Row>,
}

/// Facts about a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Model of the processor.
    pub cpu: String,
    /// Threads that this process may run at the same time.
    pub threads: usize,
    /// Physical memory.
    pub memory_bytes: u64,
    /// Operating system and kernel.
    pub os: String,
    /// File system and kind of disk under the bench's folder.
    pub disk: Option<String>,
}

/// Sequential speed of a device, in bytes a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceSpeed {
    /// Size of the file.
    pub file_bytes: u64,
    /// Writing, including the sync at the end.
    pub write_bytes_per_second: f64,
    /// Reading, after the system was asked to forget the file.
    pub read_bytes_per_second: f64,
}

/// Speed of the memory, all threads together, in bytes a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemorySpeed {
    /// Size of the buffers, all threads together.
    pub buffer_bytes: u64,
    /// Threads.
    pub threads: usize,
    /// Reading.
    pub read_bytes_per_second: f64,
    /// Copying: bytes read and bytes written, both counted.
    pub copy_bytes_per_second: f64,
}

/// One case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The case in words; unique in a record.
    pub name: String,
    /// Cases of one group are compared with its first case.
    pub group: String,
    /// The command, without folders.
    pub command: String,
    /// Whether the case belongs in a short table.
    #[serde(default)]
    pub headline: bool,
    /// The reason why the case did not run.
    pub refused: Option<String>,
    /// The measured runs.
    pub runs: Vec<Run>,
    /// The figures that follow from the runs.
    pub figures: Option<Figures>,
}

/// One measured run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Number of its round, from 1.
    pub round: u32,
    /// Wall-clock time of the whole process, or of one probe where probes are measured.
    pub seconds: f64,
    /// The program's `--json` report of the run, without folders.
    pub report: Value,
}

/// The figures that follow from the runs of a row; bytes are medians over the runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figures {
    /// Wall-clock time.
    pub seconds: Spread,
    /// Median time over that of the first case of the group.
    pub ratio: Option<f64>,
    /// Highest resident memory.
    pub peak_rss_bytes: Option<f64>,
    /// Bytes written: logs, blocks and database.
    pub written_bytes: Option<f64>,
    /// Bytes read: logs and blocks.
    pub read_bytes: Option<f64>,
    /// Bytes written a second, as a share of the device's write speed.
    pub write_share: Option<f64>,
    /// Bytes read a second, as a share of the device's read speed.
    pub read_share: Option<f64>,
    /// Bytes of bitmap processed a second, as a share of the memory's copy speed.
    pub memory_share: Option<f64>,
}

impl Row {
    /// Returns the median over the runs of a number in their reports; `None` if a report lacks it.
    pub fn median(&self, field: &str) -> Option<f64> {
        let values: Option<Vec<f64>> = self.runs.iter().map(|run| run.report.get(field)?.as_f64()).collect();
        Some(Spread::of(&values?)?.median)
    }

    /// Returns the sum of the medians of those fields that the reports have; `None` if they have
    /// none of them.
    fn sum(&self, fields: &[&str]) -> Option<f64> {
        fields.iter().filter_map(|field| self.median(field)).reduce(|one, other| one + other)
    }
}

impl Record {
    /// Fills [`Row::figures`].
    pub fn evaluate(&mut self) {
        let spread = |row: &Row| Spread::of(&row.runs.iter().map(|run| run.seconds).collect::<Vec<_>>());
        let all: Vec<Option<Figures>> = self
            .rows
            .iter()
            .map(|row| {
                let seconds = spread(row)?;
                let first = self.rows.iter().find(|first| first.group == row.group).and_then(spread);
                let written_bytes = row.sum(&["log_bytes_written", "block_bytes_written", "database_bytes"]);
                let read_bytes = row.sum(&["log_bytes_read", "published_bytes_read", "block_bytes_read"]);
                let share = |bytes: Option<f64>, speed: Option<f64>| Some(bytes? / seconds.median / speed?);
                Some(Figures {
                    seconds,
                    ratio: first.map(|first| seconds.median / first.median),
                    peak_rss_bytes: row.median("peak_rss_bytes"),
                    written_bytes,
                    read_bytes,
                    write_share: share(written_bytes, self.device.map(|device| device.write_bytes_per_second)),
                    read_share: share(read_bytes, self.device.map(|device| device.read_bytes_per_second)),
                    memory_share: share(
                        row.median("bitmap_bytes"),
                        self.memory.map(|memory| memory.copy_bytes_per_second),
                    ),
                })
            })
            .collect();
        for (row, figures) in self.rows.iter_mut().zip(all) {
            row.figures = figures;
        }
    }

    /// Returns the number of measured rounds that all cases completed.
    pub fn rounds(&self) -> u32 {
        let measured = self.rows.iter().filter(|row| row.refused.is_none()).map(|row| row.runs.len() as u32);
        measured.min().unwrap_or(0)
    }

    /// Formats the record as JSON on several lines.
    ///
    /// # Errors
    /// Returns the error of the serialiser; no field of a record can cause one.
    pub fn to_json(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Tagged<'a> {
            schema: String,
            #[serde(flatten)]
            record: &'a Record,
        }
        let tagged = Tagged { schema: format!("trinim.bench/{}", self.format), record: self };
        Ok(serde_json::to_string_pretty(&tagged)? + "\n")
    }

    /// Parses the JSON of [`Record::to_json`].
    ///
    /// # Errors
    /// Returns an error if the text is not a record.
    pub fn from_json(text: &str) -> serde_json::Result<Record> {
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns a record of two cases with two runs each, and a refused one.
    pub(super) fn record() -> Record {
        let run = |round, seconds, written: u64| Run {
            round,
            seconds,
            report: json!({ "log_bytes_written": written, "database_bytes": 10, "bitmap_bytes": 400, "layers": 4,
                "codec": "a,\"b\"", "peak_rss_bytes": 2 << 20, "stages_s": { "settle": 0.5 } }),
        };
        let row = |name: &str, runs| Row {
            name: name.into(),
            group: "4 layers".into(),
            command: format!("solve {name}"),
            runs,
            ..Row::default()
        };
        Record {
            format: FORMAT,
            date: "2026-11-20".into(),
            version: "1.2.3".into(),
            revision: None,
            suite: None,
            machine: Machine { cpu: "Abacus | 3".into(), threads: 2, memory_bytes: 4 << 30, ..Machine::default() },
            device: Some(DeviceSpeed { file_bytes: 9, write_bytes_per_second: 100.0, read_bytes_per_second: 1e9 }),
            memory: Some(MemorySpeed {
                buffer_bytes: 9,
                threads: 2,
                read_bytes_per_second: 9.0,
                copy_bytes_per_second: 1000.0,
            }),
            warm_up: 1,
            repeats: 2,
            interrupted: false,
            rows: vec![
                row("one", vec![run(1, 2.0, 90), run(2, 4.0, 290)]),
                row("two", vec![run(1, 1.0, 90), run(2, 2.0, 90)]),
                Row { refused: Some("too large".into()), ..row("three", vec![]) },
            ],
        }
    }

    #[test]
    fn figures_follow_from_the_runs() {
        let mut record = record();
        record.evaluate();
        let [one, two] = [0, 1].map(|row: usize| record.rows[row].figures.unwrap());
        assert_eq!(
            (one.seconds.median, one.ratio, one.written_bytes, one.read_bytes),
            (3.0, Some(1.0), Some(200.0), None)
        );
        assert_eq!((two.ratio, two.write_share, two.read_share), (Some(0.5), Some(100.0 / 1.5 / 100.0), None));
        assert_eq!(one.memory_share, Some(400.0 / 3.0 / 1000.0));
        assert!(record.rows[2].figures.is_none());
        let mut again = Record::from_json(&record.to_json().unwrap()).unwrap();
        assert_eq!(again, record);
        again.evaluate();
        assert_eq!(again, record);
    }
}
