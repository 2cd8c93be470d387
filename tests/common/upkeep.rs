//! Check and repair with the usual options.

use std::path::Path;
use trinim::maintenance::{self, Depth, Repair, Request};

/// Checks a folder completely.
pub fn check(folder: &Path) -> maintenance::Report {
    maintenance::check(folder, Depth::Full, &Request::on(1)).unwrap()
}

/// Repairs a folder in place.
pub fn repair(folder: &Path) -> Result<(), maintenance::Error> {
    Repair::prepare(folder, false, &Request::on(1))?.carry_out(&Request::on(1))
}
