//! The commands, one file or folder each.

pub mod bench;
pub mod layout;
pub mod report;
pub mod solve;

use crate::report::Contents;
use pipeline::storage;
use schemars::JsonSchema;
use std::path::Path;
use terminal::ending::Failure;
use terminal::exit::Refused;
use terminal::manual::Report;
use terminal::watch::Line;

/// The reports of all commands.
pub const SCHEMAS: &[Report] = &[
    ("trinim.failure/1", &[Failure::json_schema]),
    ("trinim.progress/1", &[Line::json_schema]),
    ("trinim.papers.solve/1", &[solve::Report::json_schema]),
    ("trinim.layout/1", &[layout::Report::json_schema]),
    ("trinim.layout.paper/1", &[layout::paper::Report::json_schema]),
    ("trinim.layout.search/1", &[layout::search::Report::json_schema]),
    ("trinim.report/1", &[Contents::json_schema]),
    ("trinim.bench/1", &[trinim_papers::record::Record::json_schema]),
];

/// Returns the name of a file in the folder of `--out`, unless that counts as empty. Refuses a file
/// in its place or above it.
fn occupant(folder: &Path) -> anyhow::Result<Option<String>> {
    let is_other = |path: &&Path| path.metadata().is_ok_and(|found| !found.is_dir());
    let Some(file) = folder.ancestors().find(is_other) else { return Ok(storage::occupant(folder)?) };
    let message = format!("{} is not a folder; nothing was written", file.display());
    Err(Refused::new(message, "choose a new folder for --out").into())
}
