//! Storage for tests: a simulated disk that fails and loses data, and a device that seeks.

mod disk;
mod random;
mod seek;

pub use disk::{Fault, Moment, SECTOR_BYTES, SimulatedStorage, Witness};
pub use random::Random;
pub use seek::{Passed, SeekStorage, Speed};
