//! One simulated process: a run of the engine from the state of a disk to its end or to an error.

use crate::omitting::Omit;
use crate::subject::Subject;
use pipeline::{Error, Event, Options, checkpoint};
use scheduler::{Stuck, Timing};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use testing::SimulatedStorage;

/// Files that a session has open in addition to the logs, the published files and those of its
/// readers: the lock, two journals, and a folder or a file of the metadata.
const OTHER_FILES: u64 = 4;

/// The end of a session.
#[derive(Debug)]
pub enum Ending {
    /// All blocks are finished and the database is sealed.
    Finished,
    /// The engine returned this error.
    Failed(Error),
    /// The process would never have ended.
    Hung(Stuck),
    /// A thread panicked with this text.
    Panicked(String),
}

/// The account of a session.
#[derive(Debug)]
pub struct Session {
    /// How it ended.
    pub ending: Ending,
    /// Blocks that it found finished; `None` if it ended before.
    pub found_blocks: Option<u32>,
    /// Blocks that it acknowledged as finished.
    pub acknowledged_blocks: u32,
}

/// Runs a session under the interleaving of `seed`, with exactly the number of files that its
/// thresholds need. `acknowledged` follows the count, for a witness of the disk.
pub fn run_counting(
    subject: &Subject,
    disk: &SimulatedStorage,
    options: Options,
    seed: u64,
    acknowledged: &AtomicU32,
) -> Session {
    // With a rule left out a session can need more files than it should.
    if let Some(thresholds) = options.thresholds.filter(|_| subject.omit == Omit::Nothing) {
        let files = thresholds.files() + options.threads as u64 + OTHER_FILES;
        let _ = disk.clone().with_handles_at_most(files as usize);
    }
    let found = AtomicU32::new(u32::MAX);
    let observer = |event: &Event| match event {
        Event::Opened { finished_blocks, .. } => {
            found.store(*finished_blocks, Ordering::Relaxed);
            acknowledged.store(*finished_blocks, Ordering::Relaxed);
        }
        Event::Committed { finished_blocks } => acknowledged.store(*finished_blocks, Ordering::Relaxed),
    };
    let work = || scheduler::run(Timing { seed }, || subject.run(disk, &options, &observer));
    let ending = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(Ok(()))) => Ending::Finished,
        Ok(Ok(Err(error))) => Ending::Failed(error),
        Ok(Err(stuck)) => Ending::Hung(stuck),
        Err(panic) => Ending::Panicked(match panic.downcast::<String>() {
            Ok(text) => *text,
            Err(panic) => panic.downcast_ref::<&str>().unwrap_or(&"a panic without a text").to_string(),
        }),
    };
    let found_blocks = Some(found.into_inner()).filter(|blocks| *blocks != u32::MAX);
    Session { ending, found_blocks, acknowledged_blocks: acknowledged.load(Ordering::Relaxed) }
}

/// Runs a session under the interleaving of `seed`.
pub fn run(subject: &Subject, disk: &SimulatedStorage, options: Options, seed: u64) -> Session {
    run_counting(subject, disk, options, seed, &AtomicU32::new(0))
}

/// Returns the disk of a session killed right after it acknowledged at least `blocks` blocks;
/// `None` if it ended before.
pub fn killed_after(
    subject: &Subject,
    disk: &SimulatedStorage,
    options: Options,
    seed: u64,
    blocks: u32,
) -> Option<SimulatedStorage> {
    let acknowledged = Arc::new(AtomicU32::new(0));
    let kept: Arc<Mutex<Option<SimulatedStorage>>> = Arc::default();
    let (seen, keep) = (Arc::clone(&acknowledged), Arc::clone(&kept));
    let watched = disk.kill().with_witness(Arc::new(move |moment| {
        let mut keep = keep.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if keep.is_none() && seen.load(Ordering::Relaxed) >= blocks {
            *keep = Some(moment.kill());
        }
    }));
    run_counting(subject, &watched, options, seed, &acknowledged);
    let mut kept = kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // Power cut 1 keeps everything visible.
    kept.take().map(|disk| disk.power_cut(1))
}

/// Lists the committed blocks on a disk, in the order of their commits.
///
/// # Errors
/// The errors of [`checkpoint::inspect`].
pub fn committed(disk: &SimulatedStorage) -> Result<Vec<u32>, Error> {
    match checkpoint::inspect(disk) {
        Ok(found) => Ok(found.records.iter().map(|record| record.block.0).collect()),
        Err(Error::NotARun { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
