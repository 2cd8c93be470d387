//! The common interface of the programs: output, refusals, exit codes, signals and progress.
#![doc = include_str!("README.md")]

pub mod ending;
pub mod exit;
pub mod file;
pub mod help;
pub mod manual;
pub mod output;
pub mod programs;
pub mod progress;
pub mod refusal;
pub mod schema;
pub mod signals;
pub mod streams;
pub mod values;
pub mod watch;
