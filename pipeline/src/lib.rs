//! An external-memory engine for computations on blocks of bits that update each other.
#![doc = include_str!("../README.md")]
//! # Map
//! | | |
//! |---|---|
//! | computing | [`Workload`], [`Edge`], [`Auditor`], [`Run`], [`Options`], [`Thresholds`], [`FinishedRun`] |
//! | watching | [`Event`], [`Metrics`], [`Counts`], [`Stage`], [`timeline`] |
//! | the run folder | [`checkpoint`]: what is finished, durably; [`maintenance`]: check and repair; [`mod@format`]: every byte |
//! | foundations | [`storage`]: every file call; [`log`]: entries and frames; [`codec`]: their codecs |
//!
//! # Invariants
//! Each module page numbers its invariants. They are asserted where they are made and where they
//! are relied on (the expensive ones only in debug builds); the message names page and number.
//! Types or an [`Error`] enforce the others: bytes of files and answers of the system are never
//! asserted. A panic in any thread ends the run without another commit.
//!
//! The package `trinim-pipeline-testing` has a simulated disk that loses, tears and corrupts
//! writes.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![warn(unreachable_pub)]

#[cfg(not(all(target_endian = "little", target_pointer_width = "64")))]
compile_error!("words of bitmaps are read and written as bytes: only 64-bit little-endian machines are supported");

mod audit;
mod bitmap;
mod bitmaps;
mod bytes;
pub mod checkpoint;
pub mod codec;
mod error;
mod finding;
mod ids;
pub mod log;
pub mod maintenance;
mod measure;
pub mod parallel;
mod run;
pub mod storage;
mod stream_cache;
mod sync;
#[cfg(test)]
extern crate self as pipeline;
/// The sources of the testing package, which depends on this one.
#[cfg(test)]
#[path = "../testing/lib.rs"]
pub mod testing;
mod thresholds;
mod workload;

#[cfg(doc)]
#[doc = include_str!("../FORMAT.md")]
pub mod format {}

pub use audit::{Auditor, Auditors, SourceStream};
pub use bitmap::Bitmap;
pub use bitmaps::{Bitmaps, PooledBitmap};
pub use error::{DamageText, Error};
pub use finding::{Damage, Expected, Finding, Severity, persists, sort_findings};
pub use ids::{BlockId, RunId};
pub use log::place::{Extent, LogFile, Placement};
pub use measure::metrics::{Counter, Counters, Counts, Metrics, StageTimer, Stopwatch, thread_time};
pub use measure::stage::Stage;
pub use measure::timeline;
pub use run::schedule::{Next, Schedule};
pub use run::{Event, FinishedRun, Footprint, Options, Run};
pub use storage::{LimitedStorage, RealStorage, Storage, StorageFile};
pub use stream_cache::StreamCache;
#[doc(hidden)]
pub use sync::pause;
pub use thresholds::{Thresholds, open_files};
pub use workload::{Edge, Publication, RecallError, Workload};
