//! A record as its own page, beside it: the table of all cases, then every single time.

use anyhow::Result;
use std::fmt::Write;
use trinim::game::amount::{binary, seconds};
use trinim_papers::record::{Record, Row};

/// Formats a size.
pub fn bytes(value: f64) -> String {
    binary(value as u64)
}

/// Formats a value that can be unknown.
pub fn or_dash(value: Option<f64>, form: impl Fn(f64) -> String) -> String {
    value.map_or("-".to_owned(), form)
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Writes the page.
pub fn markdown(record: &Record) -> Result<String> {
    let mut text = format!("# trinim bench, {}\n\n{}\n\n", record.date, record.conditions());
    let revision = record.revision.as_deref().map_or(String::new(), |revision| format!(" ({revision})"));
    let suite = record.suite.as_deref().map_or(String::new(), |suite| format!(", suite {suite}"));
    let order = record.noise().map_or("in turn", |_| "in a shuffled order each round");
    writeln!(
        text,
        "trinim {}{revision}{suite}; medians of {} runs after {} unmeasured, whole processes, cases {order}.{}\n",
        record.version,
        record.repeats,
        record.warm_up,
        if record.interrupted { " **Stopped before its end.**" } else { "" }
    )?;
    text.push_str(
        "| case | median | min to max | MAD | ratio | peak memory | written | read | of the device's writing | \
         of its reading | of the memory |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in &record.rows {
        writeln!(text, "{}", table_row(row))?;
    }
    text.push_str("\nSingle times in seconds, in the order of the rounds:\n\n");
    for row in record.rows.iter().filter(|row| !row.runs.is_empty()) {
        let single: Vec<String> = row.runs.iter().map(|run| format!("{:.6}", run.seconds)).collect();
        writeln!(text, "- {}: `{}`: {}", row.name, row.command, single.join(", "))?;
    }
    Ok(text)
}

fn table_row(row: &Row) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
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
        figures.ratio_words(),
        or_dash(figures.peak_rss_bytes, bytes),
        or_dash(figures.written_bytes, bytes),
        or_dash(figures.read_bytes, bytes),
        or_dash(figures.write_share, percent),
        or_dash(figures.read_share, percent),
        or_dash(figures.memory_share, percent),
    )
}
