//! `trinim schema`: the JSON schemas of all reports, made from the structs that are printed.
//!
//! A schema allows what a command of this version prints, and nothing else: no field that the
//! struct lacks, and each of its fields, unless it is left out where it has no value. JSON.md is
//! made from them, too.

use super::{check, export, layout, plan, probe, repair, report, solve, stats, status, task, verify};
use crate::cli::face::ending;
use crate::cli::face::exit::Exit;
use crate::cli::face::output::Out;
use crate::cli::face::schema::{self, Shape};
use crate::cli::face::watch;
use clap::Args;
use schemars::JsonSchema;
use std::io::Write;

const EXAMPLES: &str = "\
Examples:
  trinim schema                            list the names
  trinim schema trinim.stats/1 > stats.schema.json
  trinim stats trinim-k5-misere --json > stats.json    what a validator compares with it

A report names its schema in its first field. The schemas are in JSON Schema of 2020-12, and strict: none allows a \
field that this version does not print.";

/// Print the JSON schema of a report, or list all reports
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct SchemaArgs {
    /// Name and version of a report [default: list them]
    #[arg(value_name = "NAME", value_parser = name)]
    name: Option<String>,
}

/// Parses the name of a report.
fn name(text: &str) -> Result<String, String> {
    if ALL.iter().any(|(name, _)| *name == text) {
        return Ok(text.to_owned());
    }
    let near = ALL.iter().find(|(name, _)| !text.is_empty() && name.contains(text));
    let near = near.map_or(String::new(), |(name, _)| format!(", like {name}"));
    Err(format!("expected a name that trinim schema lists{near}"))
}

/// The name of each report with its shapes: one, or those of lines that differ.
const ALL: &[(&str, &[Shape])] = &[
    ("trinim.failure/1", &[ending::Failure::json_schema]),
    ("trinim.progress/1", &[watch::Line::json_schema]),
    ("trinim.solve/1", &[solve::Report::json_schema]),
    ("trinim.stats/1", &[stats::Report::json_schema]),
    (
        "trinim.probe/1",
        &[trinim::play::report::ProbeReport::json_schema, probe::Brief::json_schema, probe::Failure::json_schema],
    ),
    ("trinim.export/1", &[export::Report::json_schema]),
    ("trinim.verify/1", &[verify::Report::json_schema]),
    ("trinim.check/1", &[check::Report::json_schema]),
    ("trinim.repair/1", &[repair::Report::json_schema]),
    ("trinim.status/1", &[status::Report::json_schema]),
    ("trinim.plan/1", &[plan::Report::json_schema]),
    ("trinim.task/1", &[task::Report::json_schema]),
    ("trinim.task.failed/1", &[task::Failure::json_schema]),
    ("trinim.task.init/1", &[task::whole::InitReport::json_schema]),
    ("trinim.task.plan/1", &[trinim::task::BlockRow::json_schema]),
    ("trinim.task.plan.batches/1", &[trinim::task::BatchRow::json_schema]),
    ("trinim.task.list/1", &[task::whole::BlockRange::json_schema]),
    ("trinim.task.finish/1", &[task::whole::FinishReport::json_schema]),
    ("trinim.task.copy/1", &[task::whole::CopyReport::json_schema]),
    ("trinim.task.sweep/1", &[trinim::task::SweepWork::json_schema]),
    ("trinim.task.verify/1", &[task::verify::Report::json_schema]),
    ("trinim.layout/1", &[layout::Report::json_schema]),
    ("trinim.layout.paper/1", &[layout::paper::Report::json_schema]),
    ("trinim.layout.search/1", &[layout::search::Report::json_schema]),
    ("trinim.report/1", &[report::Report::json_schema]),
    ("trinim.bench/1", &[trinim::record::Record::json_schema]),
];

pub fn run(args: SchemaArgs, out: &mut Out) -> anyhow::Result<Exit> {
    match ALL.iter().find(|(name, _)| args.name.as_deref() == Some(name)) {
        Some((name, shapes)) => writeln!(out, "{:#}", schema::of(name, shapes))?,
        None => ALL.iter().try_for_each(|(name, _)| writeln!(out, "{name}"))?,
    }
    Ok(Exit::Done)
}
