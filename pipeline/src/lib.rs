//! External-memory update-log engine: blocks, compressed logs, buckets, checkpoints. No game inside.
#![forbid(unsafe_code)]

mod bitmap;
mod budget;
pub mod check;
pub mod checkpoint;
mod choose;
pub mod codec;
pub mod engine;
pub mod error;
pub mod frame;
mod ledger;
pub mod metrics;
#[cfg(any(test, simulated))]
pub mod omitted;
mod reader;
pub mod repair;
pub mod schedule;
pub mod storage;
mod sync;
pub mod timeline;
pub mod workload;
mod writer;

pub use bitmap::Bitmap;
pub use choose::{Candidate, CodecChoice};
pub use error::Error;

// The toy pipeline of the tests names this package as its users do.
#[cfg(test)]
extern crate self as pipeline;
