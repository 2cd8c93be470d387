//! Storage for tests: a simulated disk that fails and loses data.

mod disk;

pub use disk::{Fault, Moment, SECTOR_BYTES, SimulatedStorage, Witness};
