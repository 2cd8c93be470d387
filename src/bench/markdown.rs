//! A record as a page in Markdown.

use super::{Record, Row};
use crate::amount::binary;
use std::fmt::Write;

/// The beginning of every such page.
pub const MARKDOWN_SIGNATURE: &str = "# trinim bench, ";

/// Formats a time with about three digits, in milliseconds below a second like the other commands.
pub fn seconds(value: f64) -> String {
    match value {
        value if value < 1e-3 => format!("{:.0} µs", value * 1e6),
        value if value < 0.0995 => format!("{:.1} ms", value * 1e3),
        value if value < 0.9995 => format!("{:.0} ms", value * 1e3),
        value if value < 100.0 => format!("{value:.2} s"),
        value => format!("{value:.0} s"),
    }
}

/// Formats a size.
pub fn bytes(value: f64) -> String {
    binary(value as u64)
}

/// Formats a speed.
fn per_second(bytes: f64) -> String {
    format!("{}/s", binary(bytes as u64))
}

/// Formats a share.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn or_dash(value: Option<f64>, form: impl Fn(f64) -> String) -> String {
    value.map_or("-".to_owned(), form)
}

impl Record {
    /// Returns the machine and its yardsticks in a few sentences.
    pub fn conditions(&self) -> String {
        let machine = &self.machine;
        let mut text = format!(
            "{}, {} threads, {:.0} GiB of memory, {}",
            machine.cpu,
            machine.threads,
            machine.memory_bytes as f64 / f64::from(1 << 30),
            machine.os
        );
        if let Some(disk) = &machine.disk {
            let _ = write!(text, ", {disk}");
        }
        text.push('.');
        if let Some(device) = self.device {
            let _ = write!(
                text,
                " The device by itself: {} written (synced), {} read (cold), in a file of {}.",
                per_second(device.write_bytes_per_second),
                per_second(device.read_bytes_per_second),
                bytes(device.file_bytes as f64)
            );
        }
        if let Some(memory) = self.memory {
            let _ = write!(
                text,
                " The memory by itself, {} threads: {} read, {} copied (reads and writes).",
                memory.threads,
                per_second(memory.read_bytes_per_second),
                per_second(memory.copy_bytes_per_second)
            );
        }
        text
    }

    /// Returns the page: conditions, a table of the cases, then every single time.
    pub fn markdown(&self) -> String {
        let mut text = format!("{MARKDOWN_SIGNATURE}{}\n\n{}\n\n", self.date, self.conditions());
        let revision = self.revision.as_deref().map_or(String::new(), |revision| format!(" ({revision})"));
        let suite = self.suite.as_deref().map_or(String::new(), |suite| format!(", suite {suite}"));
        let _ = writeln!(
            text,
            "trinim {}{revision}{suite}; medians of {} runs after {} unmeasured, whole processes, cases in turn.{}\n",
            self.version,
            self.repeats,
            self.warm_up,
            if self.interrupted { " **Stopped before its end.**" } else { "" }
        );
        text.push_str(
            "| case | median | min to max | MAD | ratio | peak memory | written | read | of the device's writing | \
             of its reading | of the memory |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for row in &self.rows {
            let _ = writeln!(text, "{}", table_row(row));
        }
        text.push_str("\nSingle times in seconds, in the order of the rounds:\n\n");
        for row in self.rows.iter().filter(|row| !row.runs.is_empty()) {
            let single: Vec<String> = row.runs.iter().map(|run| format!("{:.6}", run.seconds)).collect();
            let _ = writeln!(text, "- {}: `{}`: {}", row.name, row.command, single.join(", "));
        }
        text
    }
}

fn table_row(row: &Row) -> String {
    let name = cell(&row.name);
    let Some(figures) = row.figures else {
        let reason = row.refused.as_deref().unwrap_or("not measured");
        return format!("| {name} | {} | | | | | | | | | |", cell(reason));
    };
    let time = figures.seconds;
    format!(
        "| {name} | {} | {} to {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        seconds(time.median),
        seconds(time.min),
        seconds(time.max),
        seconds(time.mad),
        or_dash(figures.ratio, |ratio| format!("{ratio:.2}")),
        or_dash(figures.peak_rss_bytes, bytes),
        or_dash(figures.written_bytes, bytes),
        or_dash(figures.read_bytes, bytes),
        or_dash(figures.write_share, percent),
        or_dash(figures.read_share, percent),
        or_dash(figures.memory_share, percent),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;

    #[test]
    fn sizes_rates_and_times_have_the_forms_of_the_other_commands() {
        assert_eq!([512.0, 1536.0, 2e6, 3e9].map(bytes), ["512 B", "1.5 KiB", "1.9 MiB", "2.8 GiB"]);
        assert_eq!([3e6, 1.5e9].map(per_second), ["2.9 MiB/s", "1.4 GiB/s"]);
        let times = [0.000_25, 0.0123, 0.0996, 0.25, 0.9996, 12.0, 120.0].map(seconds);
        assert_eq!(times, ["250 µs", "12.3 ms", "100 ms", "250 ms", "1.00 s", "12.00 s", "120 s"]);
    }

    #[test]
    fn every_case_has_its_line_and_every_single_time_is_there() {
        let mut record = record();
        record.evaluate();
        let page = record.markdown();
        assert!(page.starts_with(MARKDOWN_SIGNATURE) && page.contains("Abacus | 3, 2 threads, 4 GiB of memory"));
        assert!(page.contains("| one | 3.00 s | 2.00 s to 4.00 s | 1.00 s | 1.00 | 2 MiB |"), "{page}");
        assert!(page.contains("| three | too large |") && page.contains("- two: `solve two`: 1.000000, 2.000000"));
    }
}
