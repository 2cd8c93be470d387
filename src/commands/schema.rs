//! The reports of the program, with their JSON schemas.

use super::{check, export, plan, probe, repair, solve, status, verify};
use schemars::JsonSchema;
use terminal::manual::Report;
use terminal::{ending, watch};
use trinim::play::report::{Brief, ProbeReport};

/// The reports of all commands.
pub const SCHEMAS: &[Report] = &[
    ("trinim.failure/1", &[ending::Failure::json_schema]),
    ("trinim.progress/1", &[watch::Line::json_schema]),
    ("trinim.solve/1", &[solve::Report::json_schema]),
    ("trinim.stats/1", &[trinim::cli::stats::Report::json_schema]),
    ("trinim.probe/1", &[ProbeReport::json_schema, Brief::json_schema, probe::Failure::json_schema]),
    ("trinim.export/1", &[export::Report::json_schema]),
    ("trinim.verify/1", &[verify::Report::json_schema]),
    ("trinim.check/1", &[check::Report::json_schema]),
    ("trinim.repair/1", &[repair::Report::json_schema]),
    ("trinim.status/1", &[status::Report::json_schema]),
    ("trinim.plan/1", &[plan::Report::json_schema]),
];
