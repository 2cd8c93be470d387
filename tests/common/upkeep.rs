//! Check and repair with the usual options.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use trinim::care::{self, Depth, Repair, Request};

/// Checks a folder completely.
pub fn check(folder: &Path) -> care::Report {
    let stop = AtomicBool::new(false);
    care::check(folder, &Request { depth: Depth::Full, threads: 1, stop: &stop, progress: &|_, _| {} }).unwrap()
}

/// Repairs a folder in place.
pub fn repair(folder: &Path) -> Result<(), care::Error> {
    let stop = AtomicBool::new(false);
    Repair::prepare(folder, false, 1, &stop, &|_, _| {})?.carry_out(&stop, &|_, _| {})
}
