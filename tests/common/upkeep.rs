//! Check and repair with the usual options.

use std::path::Path;
use trinim::maintenance::{self, CareRequest, Depth, Repair};

/// Checks a folder completely.
pub fn check(folder: &Path) -> maintenance::Report {
    maintenance::check(folder, Depth::Full, &CareRequest::on(1)).unwrap()
}

/// Repairs a folder in place.
pub fn repair(folder: &Path) -> Result<(), maintenance::Error> {
    Repair::prepare(folder, false, &CareRequest::on(1))?.carry_out(&CareRequest::on(1))
}
