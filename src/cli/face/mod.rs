//! How the program speaks: what it prints and refuses, its codes of exit, signals and progress.

pub mod exit;
pub mod file;
pub mod help;
#[cfg(feature = "serve")]
pub mod http;
pub mod metrics;
pub mod output;
pub mod progress;
pub mod refusal;
pub mod schema;
pub mod signals;
pub mod values;
pub mod watch;
