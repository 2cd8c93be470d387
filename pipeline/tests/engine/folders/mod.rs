//! Run folders of the synthetic workload: in the middle of a run and at its end.

use crate::synthetic::Synthetic;
use pipeline::checkpoint::Parameters;
use pipeline::codec::{FRAME_WORDS, Rows};
use pipeline::{Error, Options, Placement, Run, RunId};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use testing::SimulatedStorage;

pub const PLACEMENTS: [Placement; 2] = [Placement::Dedicated, Placement::Shared];

/// Parameters of a folder that no run works in.
pub fn parameters() -> Parameters {
    Parameters([("board", "toy"), ("rule", "normal")].map(|(name, value)| (name.into(), value.into())).into())
}

/// Where frames are small, a stream has so many words that its frames are long ones.
pub fn workload() -> Synthetic {
    let words = if FRAME_WORDS > 60 { 60 } else { 65 * FRAME_WORDS };
    Synthetic { bits: 4, words, density: 50, salt: 11, stop_after: None, publishes: false }
}

pub fn options(placement: Placement) -> Options {
    Options {
        threads: 2,
        memory_bytes: 64 << 20,
        placement,
        codec: &Rows::BYTES,
        commit_interval: Duration::from_millis(2),
        thresholds: None,
        run_id: RunId(7),
        stop: Arc::default(),
    }
}

/// Runs until about `blocks` blocks are finished, in two generations.
pub fn stopped_after(blocks: u32, placement: Placement) -> SimulatedStorage {
    let disk = SimulatedStorage::new(3);
    for part in [blocks / 2, blocks - blocks / 2] {
        let options = options(placement);
        let workload = Synthetic { stop_after: Some((AtomicU32::new(part), options.stop.clone())), ..workload() };
        let ended = Run::new(&workload, Arc::new(disk.clone())).options(&options).start();
        assert!(matches!(ended, Err(Error::Interrupted)), "{:?}", ended.err());
    }
    disk
}

pub fn finished(placement: Placement) -> SimulatedStorage {
    let disk = SimulatedStorage::new(3);
    Run::new(&workload(), Arc::new(disk.clone())).options(&options(placement)).start().unwrap();
    disk
}
