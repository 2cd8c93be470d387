//! Storage for tests: a simulated disk that fails and loses data.

mod disk;
mod random;

pub use disk::{Fault, Moment, SECTOR_BYTES, SimulatedStorage, Witness};
pub use random::Random;
