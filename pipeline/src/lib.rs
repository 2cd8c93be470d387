//! External-memory update-log engine: blocks, compressed logs, buckets, checkpoints. No game inside.
#![forbid(unsafe_code)]

mod bitmap;
pub mod care;
pub mod checkpoint;
pub mod error;
mod finding;
mod ids;
pub mod log;
pub mod measure;
pub mod run;
pub mod storage;
mod sync;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod workload;

pub use bitmap::Bitmap;
pub use error::{Damaged, Error};
pub use finding::{Damage, Expected, Finding, Weight, sort_findings};
pub use ids::{BlockId, RunId};
pub use log::choose::{Candidate, CodecChoice};
pub use log::place::{Extent, LogFile, Placement};
