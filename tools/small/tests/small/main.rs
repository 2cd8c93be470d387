//! Tests of the library again, on copies of its sources and of the engine's whose constants are so
//! small that small boards have streams of many frames, books of many pages, and caches that are
//! full.

mod common;
#[path = "../../../../src/task/tests/tasks/contract.rs"]
mod contract;

#[path = "../../../../tests/library/book.rs"]
mod book;
#[path = "../../../../tests/library/damage.rs"]
mod damage;
#[path = "../../../../tests/library/keep.rs"]
mod keep;
#[path = "../../../../tests/library/listing.rs"]
mod listing;
#[path = "../../../../tests/library/numbers.rs"]
mod numbers;
#[path = "../../../../tests/library/play.rs"]
mod play;
#[path = "../../../../tests/library/solve.rs"]
mod solve;
#[path = "../../../../src/task/tests/tasks/whole.rs"]
mod task;
#[path = "../../../../tests/library/verify.rs"]
mod verify;
#[path = "../../../../tests/library/ways.rs"]
mod ways;
#[path = "../../../../tests/library/witness.rs"]
mod witness;
