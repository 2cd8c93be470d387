//! The generated regions of the pages, and the rows of each table and plot.

use super::bars::Bar;
use super::page::{bytes, or_dash};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use trinim::game::amount::seconds;
use trinim_papers::record::{Figures, Record, Row};

const BEGIN: &str = "<!-- made from ";
const BEGIN_END: &str = " by: cargo run --release -p tools --bin readme -->\n";
const END: &str = "<!-- end of the generated part -->\n";
/// Width of prose, in columns.
const COLUMNS: usize = 100;

/// The rows of README.md; all others are in benches/README.md and in the record.
const SHOWN: [&str; 4] = [
    "7 layers, default options",
    "8 layers, default options",
    "8 layers, verify, every position",
    "8 layers, probe, warm, with all children",
];

/// One plot.
pub struct Plot {
    pub title: String,
    pub bars: Vec<Bar>,
}

/// Returns the record that the region of `page` names.
pub fn record_name(page: &str) -> Result<&str> {
    let (_, rest) = page.split_once(BEGIN).context("the page has no region that begins with <!-- made from")?;
    Ok(rest.split_once(BEGIN_END).context("the first comment of the region is cut")?.0)
}

/// Replaces the region of `page`.
pub fn replaced(page: &str, name: &str, text: &str) -> Result<String> {
    record_name(page)?;
    let (before, rest) = page.split_once(BEGIN).context("a region")?;
    let (_, after) = rest.split_once(END).context("the region of the page does not end")?;
    ensure!(!after.contains(BEGIN), "the page has two regions");
    Ok(format!("{before}{BEGIN}{name}{BEGIN_END}{text}{END}{after}"))
}

/// Wraps `text` into lines of at most [`COLUMNS`] columns.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last > 0 && last + 1 + word.chars().count() > COLUMNS {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

/// Describes version, method, machine, and the yardsticks of the record.
fn conditions(record: &Record) -> String {
    let revision = record.revision.as_deref().map_or(String::new(), |revision| format!(" ({revision})"));
    wrapped(&format!(
        "trinim {}{revision}, {}: medians of {} runs of the whole process, from an empty folder to a synced database, \
         every answer checked. {}",
        record.version,
        record.date,
        record.repeats,
        record.conditions(),
    ))
}

/// Writes the region of README.md: the rows of [`SHOWN`].
pub fn short(record: &Record) -> Result<String> {
    let machine = &record.machine;
    let mut text = format!(
        "\n{}\n\n",
        wrapped(&format!(
            "trinim {}, {}, {}, {} threads: medians of {} runs of the whole process, every answer checked ([all \
             cases](benches/README.md)).{}",
            record.version,
            record.date,
            machine.cpu,
            machine.threads,
            record.repeats,
            record.noise().map_or(String::new(), |noise| format!(
                " Two runs of one case in a round differ by up to {:.0} %.",
                (noise - 1.0) * 100.0
            ))
        ))
    );
    text.push_str("| what | median | range | peak memory | written |\n|---|---|---|---|---|\n");
    for name in SHOWN {
        let row = record.rows.iter().find(|row| row.name == name);
        let row = row.with_context(|| format!("the record has no row \"{name}\""))?;
        let figures = row.figures.with_context(|| format!("\"{name}\" was not measured"))?;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {} | {} to {} | {} | {} |",
            seconds(figures.seconds.median),
            seconds(figures.seconds.min),
            seconds(figures.seconds.max),
            or_dash(figures.peak_rss_bytes, bytes),
            or_dash(figures.written_bytes, bytes),
        );
    }
    text.push('\n');
    Ok(text)
}

fn measured(record: &Record) -> impl Iterator<Item = (&Row, Figures)> {
    record.rows.iter().filter_map(|row| Some((row, row.figures?)))
}

/// Lists the groups with enough solves for a plot, in the order of the record.
fn groups(record: &Record) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for (row, _) in measured(record) {
        let cases = measured(record).filter(|(other, _)| other.group == row.group).count();
        if cases > 2 && !groups.contains(&row.group.as_str()) {
            groups.push(&row.group);
        }
    }
    groups
}

/// Draws one plot for each group, with its path.
pub fn plots(record: &Record, stem: &str) -> Vec<(String, Plot)> {
    let plot = |group: &&str| {
        let rows = measured(record).filter(|(row, _)| row.group == **group);
        let bar = |(row, figures): (&Row, Figures)| Bar {
            name: row
                .name
                .strip_prefix(*group)
                .map_or(row.name.as_str(), |name| name.trim_start_matches([',', ' ']))
                .to_owned(),
            time: figures.seconds,
        };
        let title = format!("{group}, {}: median, with min-max; grey: the papers' strategies", record.date);
        (format!("{stem}-{}.svg", group.replace(' ', "-")), Plot { title, bars: rows.map(bar).collect() })
    };
    groups(record).iter().map(plot).collect()
}

/// Writes the region of benches/README.md: every headline of the suite, and the plots.
pub fn long(record: &Record, stem: &str) -> String {
    let mut text = format!("\n{}\n\n", conditions(record));
    text.push_str(
        "| what | median | range | ratio | peak memory | written | read | database |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (row, figures) in measured(record).filter(|(row, _)| row.headline) {
        let time = figures.seconds;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} to {} | {} | {} | {} | {} | {} |",
            row.name,
            seconds(time.median),
            seconds(time.min),
            seconds(time.max),
            figures.ratio_words(),
            or_dash(figures.peak_rss_bytes, bytes),
            or_dash(figures.written_bytes, bytes),
            or_dash(figures.read_bytes, bytes),
            or_dash(row.median("database_bytes"), bytes),
        );
    }
    for row in record.rows.iter().filter(|row| row.headline) {
        if let Some(reason) = &row.refused {
            let _ = writeln!(text, "| {} | not run: {reason} | | | | | | |", row.name);
        }
    }
    let stem = stem.strip_prefix("benches/").unwrap_or(stem);
    let _ = writeln!(
        text,
        "\n{}\n\n{}\n",
        wrapped(
            &["Written: logs or blocks, and the database. Read: logs or blocks. Ratio: to the first case of the board."]
                .into_iter()
                .chain(record.noise().map(|_| {
                    "It is the median of the rounds, with its range; within the spread of the repeated first case it is \
                     no difference. Cases that turn out to be one configuration are one row."
                }))
                .collect::<Vec<_>>()
                .join(" ")
        ),
        wrapped(&format!("[The record]({stem}.md) has every case and every single time; CSV and JSON are beside it.")),
    );
    for (path, plot) in plots(record, stem) {
        let _ = writeln!(text, "![{}]({path})\n", plot.title);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_and_a_long_word_has_its_own_line() {
        let word = "x".repeat(COLUMNS + 1);
        let text = format!("{} {word} {}", "a ".repeat(60), "ä ".repeat(50));
        let lines = wrapped(&text);
        let widths: Vec<usize> = lines.lines().map(|line| line.chars().count()).collect();
        assert_eq!(widths, [99, 19, COLUMNS + 1, 99]);
        assert_eq!(lines.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn a_row_that_the_record_lacks_or_refused_is_an_error() {
        let root = super::super::root().unwrap();
        let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
        let json = std::fs::read_to_string(root.join(record_name(&readme).unwrap())).unwrap();
        let record = serde_json::from_str::<Record>(&json).unwrap();
        assert_eq!(short(&record).unwrap().matches("layers, ").count(), SHOWN.len());
        for name in SHOWN {
            let mut lacking = record.clone();
            lacking.rows.retain(|row| row.name != name);
            assert!(short(&lacking).is_err(), "{name}");
            let mut refused = record.clone();
            refused.rows.iter_mut().filter(|row| row.name == name).for_each(|row| row.figures = None);
            assert!(short(&refused).is_err(), "{name}");
        }
    }

    #[test]
    fn only_the_region_changes() {
        let readme = format!("above\n{BEGIN}a.json{BEGIN_END}old\n{END}below\n");
        assert_eq!(record_name(&readme).unwrap(), "a.json");
        let new = replaced(&readme, "b.json", "new\n").unwrap();
        assert_eq!(new, format!("above\n{BEGIN}b.json{BEGIN_END}new\n{END}below\n"));
        assert!(replaced("nothing", "b.json", "").is_err());
        assert!(replaced(&format!("{readme}{readme}"), "b.json", "").is_err());
        assert!(replaced(&readme.replace(END, ""), "b.json", "").is_err());
    }
}
