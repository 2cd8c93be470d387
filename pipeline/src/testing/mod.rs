//! Storage for tests: a disk that fails and forgets.

mod disk;

pub use disk::{Fault, Moment, SECTOR_BYTES, SimulatedStorage, Witness};
