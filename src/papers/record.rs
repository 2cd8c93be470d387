//! Records of measurements: the JSON and CSV of `trinim papers bench`, from which pages and plots
//! are made.
//!
//! A [`Record`] has one [`Row`] for each case, in the order of the cases. A row has its [`Run`]s
//! with the program's own report of each, or the reason why the case was refused. Times are
//! seconds, sizes are bytes. [`Record::evaluate`] fills in the figures that follow from the runs;
//! the JSON includes them for other tools.
//!
//! # Invariants
//! 1. Figures follow only from runs and yardsticks: evaluating a parsed record changes nothing.
//! 2. The JSON only ever gains fields; absent ones are parsed as absent.

use crate::table::csv;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use trinim_game::amount::binary;

/// The format version of a record.
pub const FORMAT: u32 = 1;

/// The beginning of every CSV file of a record.
pub const CSV_SIGNATURE: &str = "group,case,refused,round,seconds,";

/// Fields of the program's reports, one column each, as in the header.
const FIELDS: &str = "\
    layers,rule,strategy,redundancy,kernel,threads,workers,placement,codec,memory_bytes,offset_bits,\
    canonical_blocks,positions,losses,digest,elapsed_s,peak_rss_bytes,log_bytes_written,log_bytes_read,\
    log_bytes_peak,block_bytes_written,block_bytes_read,block_loads,disk_bytes_peak,database_bytes,\
    bitmap_bytes,commits";

/// What `trinim papers bench` prints: cases measured together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceSpeed {
    /// Size of the file.
    pub file_bytes: u64,
    /// Writing, including the sync at the end.
    pub write_bytes_per_second: f64,
    /// Reading, after the system was asked to forget the file.
    pub read_bytes_per_second: f64,
}

/// Speed of the memory, all threads together, in bytes a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Whether the case repeats the first case of its group: its ratios show the noise of the
    /// machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// The reason why the case has no figures: it was refused, or equals an earlier case.
    pub refused: Option<String>,
    /// The measured runs.
    pub runs: Vec<Run>,
    /// The figures that follow from the runs.
    pub figures: Option<Figures>,
}

/// One measured run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Number of its round, from 1.
    pub round: u32,
    /// Wall-clock time of the whole process, or of one probe where probes are measured.
    pub seconds: f64,
    /// The program's `--json` report of the run, without folders.
    pub report: Value,
}

/// The figures that follow from the runs of a row; bytes are medians over the runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Wall-clock time.
    pub seconds: Spread,
    /// Time relative to the first case of the group: the median of the rounds. If that case is
    /// repeated, null within the spread of [`Row::again`], above and below 1.
    pub ratio: Option<f64>,
    /// If the first case is repeated: the smallest and largest ratio of a round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_range: Option<[f64; 2]>,
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

/// The centre and the scatter of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The middle value, or the mean of the two in the middle.
    pub median: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The median of the distances from the median.
    pub mad: f64,
}

impl Spread {
    /// Returns the spread of the values; `None` if there are none.
    pub fn from_values(values: &[f64]) -> Option<Spread> {
        let median_of_values = median(values)?;
        let distances: Vec<f64> = values.iter().map(|value| (value - median_of_values).abs()).collect();
        Some(Spread {
            median: median_of_values,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            mad: median(&distances)?,
        })
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some((sorted[last / 2] + sorted[last.div_ceil(2)]) / 2.0)
}

impl Figures {
    /// Formats the ratio with its range: `0.86 (0.84 to 0.91)`.
    pub fn ratio_words(&self) -> String {
        match (self.ratio, self.ratio_range) {
            (Some(ratio), Some([min, max])) => format!("{ratio:.2} ({min:.2} to {max:.2})"),
            (Some(ratio), None) => format!("{ratio:.2}"),
            (None, Some(_)) => "no difference".to_owned(),
            (None, None) => "-".to_owned(),
        }
    }
}

impl Row {
    /// Returns the ratio of each round to another case.
    fn ratios(&self, first: &Row) -> Vec<f64> {
        let of_first = |run: &Run| first.runs.iter().find(|other| other.round == run.round);
        self.runs.iter().filter_map(|run| Some(run.seconds / of_first(run)?.seconds)).collect()
    }

    /// Returns the median over the runs of a number in their reports; `None` if a report lacks it.
    pub fn median(&self, field: &str) -> Option<f64> {
        let values: Option<Vec<f64>> = self.runs.iter().map(|run| run.report.get(field)?.as_f64()).collect();
        Some(Spread::from_values(&values?)?.median)
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
        let all: Vec<Option<Figures>> = self.rows.iter().map(|row| self.figures(row)).collect();
        self.rows.iter_mut().zip(all).for_each(|(row, figures)| row.figures = figures);
    }

    fn figures(&self, row: &Row) -> Option<Figures> {
        let spread = |row: &Row| Spread::from_values(&row.runs.iter().map(|run| run.seconds).collect::<Vec<_>>());
        let seconds = spread(row)?;
        let mut group = self.rows.iter().filter(|other| other.group == row.group && !other.runs.is_empty());
        let (first, again) = (group.next()?, group.find(|other| other.again));
        let (ratio, ratio_range) = match again {
            Some(again) if row.name != first.name => {
                let [ratios, noise] = [row, again].map(|row| Spread::from_values(&row.ratios(first)));
                let noise = noise.map(|noise| [noise.min.min(1.0 / noise.max), noise.max.max(1.0 / noise.min)]);
                let is_told = |ratio: &f64| row.again || noise.is_some_and(|[min, max]| *ratio < min || *ratio > max);
                let ratio = ratios.map(|ratios| ratios.median).filter(is_told);
                (ratio, ratios.map(|ratios| [ratios.min, ratios.max]))
            }
            _ => (spread(first).map(|first| seconds.median / first.median), None),
        };
        let written_bytes = row.sum(&["log_bytes_written", "block_bytes_written", "database_bytes"]);
        let read_bytes = row.sum(&["log_bytes_read", "published_bytes_read", "block_bytes_read"]);
        let share = |bytes: Option<f64>, speed: Option<f64>| Some(bytes? / seconds.median / speed?);
        Some(Figures {
            seconds,
            ratio,
            ratio_range,
            peak_rss_bytes: row.median("peak_rss_bytes"),
            written_bytes,
            read_bytes,
            write_share: share(written_bytes, self.device.map(|device| device.write_bytes_per_second)),
            read_share: share(read_bytes, self.device.map(|device| device.read_bytes_per_second)),
            memory_share: share(row.median("bitmap_bytes"), self.memory.map(|memory| memory.copy_bytes_per_second)),
        })
    }

    /// Returns the farthest ratio of a case to itself in one round, at least 1; `None` if no case
    /// was repeated.
    pub fn noise(&self) -> Option<f64> {
        let again = self.rows.iter().filter(|row| row.again).filter_map(|row| row.figures?.ratio_range);
        again.map(|[min, max]| max.max(1.0 / min)).max_by(f64::total_cmp)
    }

    /// Returns the number of measured rounds that all cases completed.
    pub fn rounds(&self) -> u32 {
        let measured = self.rows.iter().filter(|row| row.refused.is_none()).map(|row| row.runs.len() as u32);
        measured.min().unwrap_or(0)
    }

    /// Returns the machine and its yardsticks in a few sentences.
    pub fn conditions(&self) -> String {
        let Machine { cpu, threads, memory_bytes, os, disk } = &self.machine;
        let per_second = |bytes: f64| format!("{}/s", binary(bytes as u64));
        let memory_gib = *memory_bytes as f64 / f64::from(1 << 30);
        let disk = disk.as_ref().map_or(String::new(), |disk| format!(", {disk}"));
        let mut text = format!("{cpu}, {threads} threads, {memory_gib:.0} GiB of memory, {os}{disk}.");
        if let Some(device) = self.device {
            let [write, read] = [device.write_bytes_per_second, device.read_bytes_per_second].map(per_second);
            let size = binary(device.file_bytes);
            let rates = format!("{write} written (synced), {read} read (cold)");
            text += &format!(" The device by itself: {rates}, in a file of {size}.");
        }
        if let Some(memory) = self.memory {
            let [read, copy] = [memory.read_bytes_per_second, memory.copy_bytes_per_second].map(per_second);
            let rates = format!("{read} read, {copy} copied (reads and writes)");
            text += &format!(" The memory by itself, {} threads: {rates}.", memory.threads);
        }
        text
    }

    /// Returns the record as CSV with a header: a line for each run, and one for each refused case;
    /// each stage has a column for its time.
    pub fn csv(&self) -> String {
        let stages = pipeline::Stage::ALL.map(|stage| stage.name());
        let heads = stages.iter().map(|stage| format!(",{stage}_s")).collect::<String>();
        let line = |row: &Row, run: Option<&Run>| {
            let report = run.map(|run| &run.report);
            let field = |value: Option<&Value>| match value {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            let mut cells = vec![
                row.group.clone(),
                row.name.clone(),
                row.refused.clone().unwrap_or_default(),
                run.map_or(String::new(), |run| run.round.to_string()),
                run.map_or(String::new(), |run| run.seconds.to_string()),
            ];
            cells.extend(FIELDS.split(',').map(|name| field(report.and_then(|report| report.get(name)))));
            cells.extend(stages.map(|name| field(report.and_then(|report| report.get("stages_s")?.get(name)))));
            cells
        };
        let lines = self.rows.iter().flat_map(|row| {
            let refused = row.refused.iter().map(|_| None);
            row.runs.iter().map(Some).chain(refused).map(|run| line(row, run))
        });
        csv(&format!("{CSV_SIGNATURE}{FIELDS}{heads}"), &lines.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns a record of two cases with two runs each, and a refused one.
    fn record() -> Record {
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
        let mut again: Record = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
        assert_eq!(again, record);
        again.evaluate();
        assert_eq!(again, record);
    }

    /// A ratio counts only outside the spread of the first case to itself, in either direction.
    #[test]
    fn no_ratio_is_told_inside_the_noise() {
        let mut record = record();
        let runs = |times: [f64; 2]| -> Vec<Run> {
            (1..).zip(times).map(|(round, seconds)| Run { round, seconds, report: json!({}) }).collect()
        };
        let row = |name: &str, times| Row { name: name.into(), runs: runs(times), ..record.rows[2].clone() };
        let rows = [
            row("first", [2.0, 4.0]),
            row("as fast", [1.8, 4.6]),
            row("as slow as 1 over its least", [2.2, 4.8]),
            row("faster", [1.0, 3.0]),
            row("slower", [4.0, 6.0]),
            Row { again: true, ..row("again", [1.6, 4.4]) },
        ];
        record.rows = rows.into_iter().map(|row| Row { refused: None, ..row }).collect();
        record.evaluate();
        let told: Vec<String> = record.rows.iter().map(|row| row.figures.unwrap().ratio_words()).collect();
        let none = "no difference";
        let [faster, slower] = ["0.62 (0.50 to 0.75)", "1.75 (1.50 to 2.00)"];
        assert_eq!(told, ["1.00", none, none, faster, slower, "0.95 (0.80 to 1.10)"]);
        assert_eq!(record.noise(), Some(1.25));
        let again: Record = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
        assert_eq!(again, record);
    }

    #[test]
    fn outliers_move_the_range_and_nothing_else() {
        assert_eq!(Spread::from_values(&[]), None);
        assert_eq!(Spread::from_values(&[3.0]), Some(Spread { median: 3.0, min: 3.0, max: 3.0, mad: 0.0 }));
        assert_eq!(Spread::from_values(&[4.0, 1.0]), Some(Spread { median: 2.5, min: 1.0, max: 4.0, mad: 1.5 }));
        let spread = Spread::from_values(&[5.0, 1.0, 2.0, 3.0, 900.0]).unwrap();
        assert_eq!((spread.median, spread.min, spread.max, spread.mad), (3.0, 1.0, 900.0, 2.0));
    }

    #[test]
    fn the_csv_has_a_line_for_each_run_with_as_many_fields_as_the_header() {
        let text = record().csv();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 4 + 1);
        assert!(lines[0].starts_with(CSV_SIGNATURE) && lines[0].ends_with(",commit_s,idle_s"));
        assert!(lines[1].starts_with("4 layers,one,,1,2,4,,"), "{}", lines[1]);
        assert!(lines[1].contains(",\"a,\"\"b\"\"\","), "{}", lines[1]);
        assert!(lines[5].starts_with("4 layers,three,too large,,,"), "{}", lines[5]);
        let commas = lines[0].matches(',').count();
        assert_eq!(lines[1].matches(',').count(), commas + 1, "the codec holds a comma");
        assert_eq!(lines[5].matches(',').count(), commas);
    }
}
