//! Check and repair with the usual options.

use std::path::Path;
use trinim::care::{self, Depth, Repair, Request};

/// Checks a folder completely.
pub fn check(folder: &Path) -> care::Report {
    care::check(folder, Depth::Full, &Request::on(1)).unwrap()
}

/// Repairs a folder in place.
pub fn repair(folder: &Path) -> Result<(), care::Error> {
    Repair::prepare(folder, false, &Request::on(1))?.carry_out(&Request::on(1))
}
