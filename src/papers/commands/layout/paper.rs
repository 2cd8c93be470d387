//! `trinim papers layout --paper`: the published counts beside the computed ones, and the paper's
//! statements about layouts, with verdicts.

use super::picture;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use terminal::exit::Exit;
use terminal::output::{Out, grouped, side_by_side, wrapped};
use trinim::cli::args::{JsonArgs, Size};
use trinim_game::claims::{Claim, Verdict};
use trinim_game::{Board, Cell};
use trinim_papers::counts::Counts;
use trinim_papers::layouts::{self, Figures, Row, Source};

/// A row of a table, for `--json`.
#[derive(Serialize, JsonSchema)]
struct RowReport {
    /// Number of the table.
    table: u32,
    /// The figure that shows the layout.
    figure: &'static str,
    /// Layers of the triangle.
    layers: u32,
    /// Whether the table counts canonical blocks only.
    redundancy_removed: bool,
    /// Indices of the cells whose pieces number the blocks.
    bid_cells: Vec<u8>,
    /// How the cells are known.
    cells_known: String,
    /// Counts in the paper.
    published: Figures,
    /// Our counts.
    computed: Figures,
    /// Whether they are equal.
    agrees: bool,
}

/// What `trinim papers layout --paper` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// The same as `agrees`.
    ok: bool,
    /// Whether every published count was found and every claim holds as printed: exit code 0.
    agrees: bool,
    /// Rows of the tables of [SWLK12].
    rows: Vec<RowReport>,
    /// What the text says of boards and layouts.
    claims: Vec<Claim>,
}

pub fn run(json: JsonArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let report = |row: &Row| {
        let (figure, layout) = (row.figure(), row.figure().layout());
        let computed = row.computed(&Counts::of(&layout));
        RowReport {
            table: row.table,
            figure: &figure.name,
            layers: figure.layers,
            redundancy_removed: row.is_reduced(),
            bid_cells: layout.bid_cells().to_vec(),
            cells_known: known(figure.source),
            agrees: computed == row.published,
            published: row.published.clone(),
            computed,
        }
    };
    let rows: Vec<RowReport> = layouts::rows().iter().map(report).collect();
    let claims = layouts::claims();
    let agrees = rows.iter().all(|row| row.agrees) && !claims.iter().any(Claim::is_refuted);
    let report = Report { ok: agrees, agrees, rows, claims };
    json.report("trinim.layout.paper/1", &report, out, print)?;
    Ok(if report.agrees { Exit::Done } else { Exit::Refuted })
}

fn known(source: Source) -> String {
    match source {
        Source::Known => "as read from the figure".to_owned(),
        Source::OneOf(1) => "the only set that meets all counts, apart from its images".to_owned(),
        Source::OneOf(sets) => format!("one of {sets} sets, up to symmetry, that match all counts"),
        Source::Matched => "found by matching all counts; the figure itself was not available".to_owned(),
    }
}

fn print(report: &Report, out: &mut Out) -> anyhow::Result<()> {
    for table in report.rows.chunk_by(|one, next| one.table == next.table) {
        let first = &table[0];
        let removed = if first.redundancy_removed { "redundancy removed" } else { "redundancy not removed" };
        writeln!(out, "table {}, {} layers, {removed}", first.table, first.layers)?;
        writeln!(out, "figure               updates   blocks     block         all  groups of 1, 2, 3, 6")?;
        for row in table {
            line(out, row.figure, "published", &row.published, "")?;
            let verdict = if row.agrees { out.paint.good("agrees") } else { out.paint.bad("DIFFERS") };
            line(out, "", "computed", &row.computed, &verdict)?;
        }
        writeln!(out)?;
    }
    // A figure that is in two tables is shown once.
    let mut figures: Vec<&RowReport> = report.rows.iter().collect();
    figures.sort_by_key(|row| (row.layers, row.figure.len(), row.figure));
    figures.dedup_by_key(|row| row.figure);
    for figures in figures.chunk_by(|one, next| one.layers == next.layers) {
        let board = Board::triangle(figures[0].layers, None)?;
        let pictures: Vec<(String, Vec<String>)> =
            figures.iter().map(|row| (row.figure.to_owned(), picture(&board, &row.bid_cells, out))).collect();
        side_by_side(out, &board, &pictures)?;
    }
    let described = |row: &&RowReport| {
        let cells = Cell::list(row.bid_cells.iter().map(|cell| Cell::from_index((*cell).into())));
        (row.figure, format!("{cells}: {}", row.cells_known))
    };
    out.table(&figures.iter().map(described).collect::<Vec<_>>())?;
    writeln!(out)?;
    report.claims.iter().try_for_each(|claim| print_claim(claim, out))
}

/// Prints place and verdict, then the claim, the printed and the computed value.
fn print_claim(claim: &Claim, out: &mut Out) -> anyhow::Result<()> {
    let verdict = match claim.verdict {
        Verdict::Agrees => out.paint.good(claim.verdict.name()),
        Verdict::Contradicted => out.paint.bad(claim.verdict.name()),
        Verdict::Misprint => out.paint.mark(claim.verdict.name()),
        Verdict::Undecided => out.paint.faint(claim.verdict.name()),
    };
    writeln!(out, "{}: {verdict}", claim.place)?;
    let rows =
        [("claim", &claim.claim), ("printed", &claim.printed), ("computed", &claim.computed), ("why", &claim.reason)];
    for (label, text) in rows.into_iter().filter(|(_, text)| !text.is_empty()) {
        let line = format!("  {}{:width$}  {text}", out.paint.faint(label), "", width = 8 - label.len());
        writeln!(out, "{}", wrapped(&line, 80))?;
    }
    Ok(writeln!(out)?)
}

fn line(out: &mut Out, figure: &str, what: &str, figures: &Figures, verdict: &str) -> anyhow::Result<()> {
    let groups = figures.groups.map_or(String::new(), |groups| groups.map(grouped).join(", "));
    let text = format!(
        "{figure:7}{what:12}{:>9}{:>9}{:>10}{:>12}  {groups:19}{verdict}",
        grouped(figures.updates),
        grouped(figures.blocks),
        Size(figures.block_bytes).to_string(),
        gibibytes(figures.total_bytes),
    );
    Ok(writeln!(out, "{}", text.trim_end())?)
}

/// Formats bytes in the unit of the published tables, so that four digits stay four digits.
fn gibibytes(bytes: u64) -> String {
    let part = (bytes % (1 << 30)) as f64 / f64::from(1 << 30);
    format!("{}{} GiB", grouped(bytes >> 30), part.to_string().trim_start_matches('0'))
}
