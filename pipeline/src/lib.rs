//! External-memory update-log engine: blocks, compressed logs, buckets, checkpoints. No game inside.
#![forbid(unsafe_code)]

pub mod checkpoint;
pub mod error;
pub mod storage;

pub use error::Error;

// The toy pipeline of the tests names this package as its users do.
#[cfg(test)]
extern crate self as pipeline;
