//! The engine on made-up workloads, on a simulated disk and on a real one.

extern crate trinim_pipeline as pipeline;

#[path = "../../../tests/common/scratch.rs"]
mod scratch;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../tests/common/sweep.rs"]
mod sweep;

mod beside;
mod check;
mod crash;
mod damage;
mod disk;
mod folders;
mod format;
mod limits;
mod mend;
mod parts;
mod place;
mod repair;
mod runs;
mod storage;
mod synthetic;
