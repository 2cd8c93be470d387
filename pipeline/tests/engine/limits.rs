//! A byte limit: a run stops at it as on a full disk, and continues with a larger one. A limit of
//! open files: a run stays below it.

use crate::folders::options;
use crate::synthetic::Synthetic;
use pipeline::checkpoint::inspect;
use pipeline::codec::Raw;
use pipeline::{BlockId, Error, LimitedStorage, Options, Placement, Run, Storage, Thresholds};
use std::sync::Arc;
use std::time::Duration;
use testing::SimulatedStorage;

fn solve(storage: Arc<dyn Storage>, placement: Placement) -> Result<(), Error> {
    let workload = Synthetic { bits: 4, words: 600, density: 50, salt: 2, stop_after: None, publishes: false };
    let options = Options { codec: &Raw, commit_interval: Duration::from_millis(1), ..options(placement) };
    Run::new(&workload, storage).options(&options).start().map(drop)
}

fn sizes(disk: &SimulatedStorage) -> u64 {
    let names = disk.names();
    names.iter().map(|name| disk.contents(name).unwrap().len().next_multiple_of(4096) as u64).sum()
}

#[test]
fn a_run_stops_at_any_limit_and_continues() {
    for placement in [Placement::Dedicated, Placement::Shared] {
        let undisturbed = SimulatedStorage::new(1);
        solve(Arc::new(undisturbed.clone()), placement).unwrap();
        let published = |disk: &SimulatedStorage| -> Vec<(String, Vec<u8>)> {
            let names = disk.names().into_iter().filter(|name| name.starts_with("db/"));
            names.map(|name| (name.clone(), disk.contents(&name).unwrap())).collect()
        };
        let disk = SimulatedStorage::new(1);
        let (mut limit_bytes, mut stops, mut finished) = (4096, 0, 0);
        loop {
            let before = sizes(&disk);
            let limited = LimitedStorage::new(Arc::new(disk.clone()), limit_bytes).unwrap();
            match solve(Arc::new(limited), placement) {
                Ok(()) => break,
                Err(error) => assert!(error.is_full_disk(), "{error:?}"),
            }
            assert!(sizes(&disk) <= limit_bytes.max(before), "{} bytes, the limit is {limit_bytes}", sizes(&disk));
            if let Ok(inspection) = inspect(&disk) {
                assert!(inspection.records.len() >= finished, "finished blocks were lost");
                finished = inspection.records.len();
            }
            stops += 1;
            limit_bytes += 4096;
            assert!(stops < 500, "no end with {limit_bytes} bytes");
        }
        // Whether a commit precedes the limit depends on the threads.
        println!(
            "{placement:?}: {stops} stops up to {limit_bytes} bytes, {finished} blocks finished at the last but one"
        );
        assert!(stops > 10);
        assert!(published(&disk) == published(&undisturbed), "{placement:?}: the published files differ");
    }
}

/// Regression: a full disk lost every block since the last checkpoint. What is finished when the
/// disk becomes full is committed, and the run continues from there.
#[test]
fn a_full_disk_loses_no_finished_block() {
    let threads = 2;
    for placement in [Placement::Dedicated, Placement::Shared] {
        let workload = Synthetic { bits: 5, words: 600, density: 50, salt: 2, stop_after: None, publishes: false };
        // Each block is written at once, and no checkpoint comes before the end.
        let thresholds = Some(Thresholds { gather_bytes: 0, ..Thresholds::LARGEST });
        let commit_interval = Duration::from_secs(600);
        let options = Options { threads, codec: &Raw, commit_interval, thresholds, ..options(placement) };
        let run = |storage: Arc<dyn Storage>| Run::new(&workload, storage).options(&options).start().map(drop);
        let undisturbed = SimulatedStorage::new(1);
        run(Arc::new(undisturbed.clone())).unwrap();
        let (mut most, mut limit_bytes) = (0, 16 * 4096);
        loop {
            let disk = SimulatedStorage::new(1);
            match run(Arc::new(LimitedStorage::new(Arc::new(disk.clone()), limit_bytes).unwrap())) {
                Ok(()) => break,
                Err(error) => assert!(matches!(&error, Error::Io { .. }) && error.is_full_disk(), "{error:?}"),
            }
            let is_whole = |name: &String| name.starts_with("db/") && disk.contents(name) == undisturbed.contents(name);
            let written = disk.names().iter().filter(|name| is_whole(name)).count();
            let saved = inspect(&disk).unwrap().records.len();
            // Each worker may be sending the entries of a block whose file is written.
            assert!(saved + threads >= written, "{placement:?}, {limit_bytes} bytes: {saved} of {written} saved");
            most = most.max(saved);
            run(Arc::new(disk.clone())).unwrap();
            assert!(undisturbed.names().iter().filter(|name| name.starts_with("db/")).all(is_whole), "{limit_bytes}");
            limit_bytes += 3 * 4096;
        }
        assert!(most > 10, "{placement:?}: {most} of 32 saved at most");
    }
}

/// Regression: each attempt to open a run on a full disk left the temporary manifests of its
/// generation, so the next attempts filled all space that was freed, and the run never
/// continued. An attempt leaves nothing.
#[test]
fn tries_on_a_full_disk_do_not_fill_it() {
    let disk = SimulatedStorage::new(1);
    let begun = LimitedStorage::new(Arc::new(disk.clone()), 30 * 4096).unwrap();
    assert!(solve(Arc::new(begun), Placement::Dedicated).unwrap_err().is_full_disk());
    for room in [0, 1, 2] {
        let limit_bytes = sizes(&disk) + room * 4096;
        let mut taken = Vec::new();
        for _ in 0..10 {
            let full = LimitedStorage::new(Arc::new(disk.clone()), limit_bytes).unwrap();
            match solve(Arc::new(full), Placement::Dedicated) {
                Ok(()) => return,
                Err(error) => assert!(error.is_full_disk(), "{error:?}"),
            }
            taken.push((sizes(&disk), disk.names().len()));
        }
        // The number of logs that a session has begun at the limit depends on its threads; ten
        // attempts must not add up.
        assert!(taken.iter().skip(1).all(|(_, names)| *names <= taken[1].1 + 3), "bytes and names grow: {taken:?}");
    }
}

/// A run has no more files open than its thresholds say, and beside them one for each reader and
/// four: lock, journals, and a folder or a file of the metadata.
#[test]
fn thresholds_bound_the_open_files() {
    let workload = Synthetic { bits: 6, words: 30, density: 50, salt: 2, stop_after: None, publishes: false };
    let reference = workload.reference();
    for (threads, number) in [(1, 0), (2, 1), (4, 2), (4, 5)] {
        for placement in [Placement::Dedicated, Placement::Shared] {
            let (gathered, requested, waiting) = (1 + number, 1 + number / 2, 1 + number * 2);
            let thresholds = Thresholds { gathered, requested, waiting, kept: number, ..Thresholds::SMALLEST };
            let files = thresholds.files() as usize + threads + 4;
            let disk = SimulatedStorage::new(1).with_handles_at_most(files);
            let commit_interval = Duration::from_secs(60);
            let options =
                Options { threads, codec: &Raw, commit_interval, thresholds: Some(thresholds), ..options(placement) };
            let run = Run::new(&workload, Arc::new(disk.clone())).options(&options).start();
            let finished = run.unwrap_or_else(|error| panic!("{thresholds:?} {placement:?}: {error:?}"));
            for (block, stream) in reference.iter().enumerate() {
                assert_eq!(&finished.stream(BlockId(block as u32)).unwrap(), stream, "block {block}");
            }
        }
    }
}
