//! A record as CSV: one line for each run, and one for each refused case.

use super::{Record, Run};
use serde_json::Value;

/// The beginning of every such file.
pub const CSV_SIGNATURE: &str = "group,case,refused,round,seconds,";

/// Fields of the program's reports, one column each.
const FIELDS: [&str; 27] = [
    "layers",
    "rule",
    "strategy",
    "redundancy",
    "kernel",
    "threads",
    "workers",
    "placement",
    "codec",
    "memory_bytes",
    "offset_bits",
    "canonical_blocks",
    "positions",
    "losses",
    "digest",
    "elapsed_s",
    "peak_rss_bytes",
    "log_bytes_written",
    "log_bytes_read",
    "log_bytes_peak",
    "block_bytes_written",
    "block_bytes_read",
    "block_loads",
    "disk_bytes_peak",
    "database_bytes",
    "bitmap_bytes",
    "commits",
];

/// Formats a value as a field, quoted where RFC 4180 requires it.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

fn of(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => field(text),
        Some(other) => field(&other.to_string()),
    }
}

impl Record {
    /// Returns the record as CSV with a header; each stage has a column for its time.
    pub fn csv(&self) -> String {
        let stages = pipeline::Stage::ALL.map(|stage| stage.name());
        let mut text = format!("{CSV_SIGNATURE}{}", FIELDS.join(","));
        for stage in stages {
            text.push_str(&format!(",{stage}_s"));
        }
        text.push('\n');
        for row in &self.rows {
            let mut line = |run: Option<&Run>| {
                let mut cells = vec![
                    field(&row.group),
                    field(&row.name),
                    field(row.refused.as_deref().unwrap_or("")),
                    run.map_or(String::new(), |run| run.round.to_string()),
                    run.map_or(String::new(), |run| run.seconds.to_string()),
                ];
                cells.extend(FIELDS.map(|name| of(run.and_then(|run| run.report.get(name)))));
                cells.extend(stages.map(|name| of(run.and_then(|run| run.report.get("stages_s")?.get(name)))));
                text.push_str(&cells.join(","));
                text.push('\n');
            };
            row.runs.iter().for_each(|run| line(Some(run)));
            if row.refused.is_some() {
                line(None);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;

    #[test]
    fn a_line_for_each_run_with_as_many_fields_as_the_header() {
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
