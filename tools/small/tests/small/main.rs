//! The tests of the engine and of the library on copies of their sources with such small constants
//! that small boards have streams of many frames, books of many pages, and full caches.

mod common;
#[path = "../../../../src/task/tests/tasks/contract.rs"]
mod contract;

#[path = "../../../../tests/library/book.rs"]
mod book;
#[path = "../../../../pipeline/tests/engine/check.rs"]
mod check;
#[path = "../../../../tests/library/damage.rs"]
mod damage;
#[expect(dead_code, reason = "the engine's tests use the rest")]
#[path = "../../../../pipeline/tests/engine/folders/mod.rs"]
mod folders;
#[path = "../../../../tests/library/keep.rs"]
mod keep;
#[path = "../../../../tests/library/listing.rs"]
mod listing;
#[expect(dead_code, reason = "the engine's tests use the rest")]
#[path = "../../../../pipeline/tests/engine/mend/mod.rs"]
mod mend;
#[path = "../../../../tests/library/numbers.rs"]
mod numbers;
#[path = "../../../../pipeline/tests/engine/parts.rs"]
mod parts;
#[path = "../../../../tests/library/play.rs"]
mod play;
#[path = "../../../../tests/library/solve.rs"]
mod solve;
#[path = "../../../../pipeline/tests/engine/synthetic/mod.rs"]
mod synthetic;
#[path = "../../../../src/task/tests/tasks/whole.rs"]
mod task;
#[path = "../../../../tests/library/verify.rs"]
mod verify;
#[path = "../../../../tests/library/ways.rs"]
mod ways;
#[path = "../../../../tests/library/witness.rs"]
mod witness;
