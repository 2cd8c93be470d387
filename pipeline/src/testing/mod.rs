//! Storages for tests and experiments: a disk that fails and forgets, and a device that seeks.

mod disk;
mod seek;

pub use disk::{Fault, Moment, SECTOR_BYTES, SimulatedStorage, Witness};
pub use seek::{SeekCounts, SeekModel, SeekStorage, Wait};
