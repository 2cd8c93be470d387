//! The commands, one file or folder each.

pub mod bench;
pub mod layout;
pub mod report;
pub mod solve;

use schemars::JsonSchema;
use terminal::ending::Failure;
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
    ("trinim.report/1", &[report::Report::json_schema]),
    ("trinim.bench/1", &[trinim_papers::record::Record::json_schema]),
];
