//! The region of README.md that is made from a record, and which rows belong into which plot.

use super::bars::Bar;
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use trinim::bench::{Figures, Record, Row, bytes, seconds};

const BEGIN: &str = "<!-- made from ";
const BEGIN_END: &str = " by: cargo run --release -p tools --bin readme -->\n";
const END: &str = "<!-- end of what is made -->\n";

/// One plot.
pub struct Plot {
    pub title: String,
    pub bars: Vec<Bar>,
}

/// The record that the region of `readme` names.
pub fn record_name(readme: &str) -> Result<&str> {
    let (_, rest) = readme.split_once(BEGIN).context("README.md has no region that begins with <!-- made from")?;
    Ok(rest.split_once(BEGIN_END).context("the first comment of the region is cut")?.0)
}

/// `readme` with its region replaced.
pub fn replaced(readme: &str, name: &str, text: &str) -> Result<String> {
    record_name(readme)?;
    let (before, rest) = readme.split_once(BEGIN).context("a region")?;
    let (_, after) = rest.split_once(END).context("the region of README.md has no end")?;
    ensure!(!after.contains(BEGIN), "README.md has two regions");
    Ok(format!("{before}{BEGIN}{name}{BEGIN_END}{text}{END}{after}"))
}

fn measured(record: &Record) -> impl Iterator<Item = (&Row, Figures)> {
    record.rows.iter().filter_map(|row| Some((row, row.figures?)))
}

/// Groups with enough solves for a plot, in the order of the record.
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

/// Plots with their paths: one a group.
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
        let title = format!("{group}, {}: medians, and from the least to the greatest", record.date);
        (format!("{stem}-{}.svg", group.replace(' ', "-")), Plot { title, bars: rows.map(bar).collect() })
    };
    groups(record).iter().map(plot).collect()
}

/// What stands between the comments.
pub fn text(record: &Record, stem: &str) -> String {
    let mut text = format!(
        "\n{} Figures of {}, trinim {}{}; medians of {} runs of whole processes in turn, from nothing to a synced database, every answer checked:\n\n",
        record.conditions(),
        record.date,
        record.version,
        record.revision.as_deref().map_or(String::new(), |revision| format!(" ({revision})")),
        record.repeats,
    );
    text.push_str(
        "| what | median | range | of the first | peak memory | written | read | database |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (row, figures) in measured(record).filter(|(row, _)| row.headline) {
        let or_dash = |value: Option<f64>, form: fn(f64) -> String| value.map_or("-".to_owned(), form);
        let time = figures.seconds;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} to {} | {} | {} | {} | {} | {} |",
            row.name,
            seconds(time.median),
            seconds(time.min),
            seconds(time.max),
            or_dash(figures.ratio, |ratio| format!("{ratio:.2}")),
            or_dash(figures.peak_rss_bytes, bytes),
            or_dash(figures.written_bytes, bytes),
            or_dash(figures.read_bytes, bytes),
            or_dash(row.median("database_bytes"), bytes),
        );
    }
    for row in record.rows.iter().filter(|row| row.headline) {
        if let Some(reason) = &row.refused {
            let _ = writeln!(text, "| {} | refused: {reason} | | | | | | |", row.name);
        }
    }
    text.push_str(
        "\nWritten: logs or blocks, and the database; read: logs or blocks. \"Of the first\" is the median over that of the first case of the board.\n\n",
    );
    for (path, plot) in plots(record, stem) {
        let _ = writeln!(text, "![{}]({path})\n", plot.title);
    }
    let _ = writeln!(
        text,
        "All cases, with every single value: [{stem}.md]({stem}.md), [.csv]({stem}.csv), [.json]({stem}.json).\n"
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
