//! The whole engine through crashes, errors and lies, on a simulated disk.
//!
//! A *history* consists of a session that a fault strikes, the disk that this leaves (after a kill,
//! or after a power cut under some seeds), perhaps a second session that is stopped, and a last one
//! without faults, often with other options. It passes if the published files equal the reference,
//! no acknowledged block is lost, no file is left over and no session hangs.
//!
//! These are the real threads, locks and channels, so step numbers differ between runs; the
//! requirements hold for every schedule. They cover a few thousand states; the package `simulation`
//! explores many more, with simulated threads.
//!
//! `PIPELINE_ENGINE_STATES=N` covers about N times as many states.

use crate::folders::options;
use crate::synthetic::{Careless, Synthetic};
use pipeline::codec;
use pipeline::{
    BlockId, Error, Event, FinishedRun, Footprint, Options, Placement, Run, Storage, Thresholds, Workload, checkpoint,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};
use testing::{Fault, Moment, SimulatedStorage};

const BLOCK_BITS: u32 = 3;

fn effort() -> u64 {
    let text = std::env::var("PIPELINE_ENGINE_STATES").unwrap_or_default();
    text.parse().unwrap_or(1).max(1)
}

fn workload(publishes: bool) -> Synthetic {
    Synthetic { bits: BLOCK_BITS, words: 40, density: 50, salt: 11, stop_after: None, publishes }
}

/// Options of one session.
#[derive(Clone, Copy, Debug)]
struct Setup {
    placement: Placement,
    threads: usize,
    codec: &'static str,
    /// Whether streams are read from published files where there are no logs.
    publishes: bool,
}

impl Setup {
    const FIRST: [Setup; 6] = [
        Setup { placement: Placement::Dedicated, threads: 1, codec: "zstd1", publishes: false },
        Setup { placement: Placement::Dedicated, threads: 2, codec: "raw", publishes: false },
        Setup { placement: Placement::Shared, threads: 1, codec: "rows-bytes", publishes: false },
        Setup { placement: Placement::Shared, threads: 2, codec: "rows-huffman", publishes: false },
        Setup { placement: Placement::Shared, threads: 1, codec: "raw", publishes: true },
        Setup { placement: Placement::Shared, threads: 2, codec: "rows-huffman", publishes: true },
    ];

    /// Returns the setup of a later session: every second time the same, otherwise a different one.
    /// Where one session has left no logs, the next ones read the files.
    fn later(self, number: u64) -> Setup {
        let next = if number.is_multiple_of(2) { self } else { Setup::FIRST[(number / 2 % 6) as usize] };
        Setup { publishes: self.publishes || next.publishes, ..next }
    }

    fn options(self) -> Options {
        Options {
            threads: self.threads,
            memory_bytes: 8 << 20,
            codec: codec::by_name(self.codec).unwrap(),
            commit_interval: Duration::from_micros(100),
            thresholds: Some(match self.codec {
                "rows-huffman" => Thresholds { held: 0, ..Thresholds::SMALLEST },
                _ => Thresholds::LARGEST,
            }),
            ..options(self.placement)
        }
    }
}

/// The faults that struck a disk.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "the fields are read in messages")]
struct History {
    setup: Setup,
    fault: Fault,
    step: u64,
    image: usize,
    second_stop: u64,
}

/// What is wrong at the end of a history.
#[derive(Debug)]
#[expect(dead_code, reason = "the fields are read in messages")]
enum Wrong {
    /// An acknowledged block is gone.
    Lost(u32),
    /// A published file differs from the reference.
    Different(String),
    /// A published file differs from its record; sealing the result compares the hashes and
    /// refuses it.
    Refused(String),
    /// The run cannot be continued.
    Stuck(Error),
    /// Files remain that no record names.
    Leftover(Vec<String>),
}

/// Aborts the whole test if one piece of work takes far too long, so that a hang fails instead of
/// waiting.
fn watched<T>(what: impl Debug + Copy + Send + 'static, work: impl FnOnce() -> T) -> T {
    type Watched = BTreeMap<u64, (Instant, Box<dyn Debug + Send>)>;
    static RUNNING: Mutex<(u64, Watched)> = Mutex::new((0, BTreeMap::new()));
    static WATCHDOG: Once = Once::new();
    WATCHDOG.call_once(|| {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(Duration::from_millis(500));
                for (start, what) in RUNNING.lock().unwrap().1.values() {
                    if start.elapsed() > Duration::from_secs(300) {
                        eprintln!("hangs for 300 s: {what:?}");
                        std::process::abort();
                    }
                }
            }
        });
    });
    struct Entry(u64);
    impl Drop for Entry {
        fn drop(&mut self) {
            RUNNING.lock().unwrap().1.remove(&self.0);
        }
    }
    let entry = {
        let mut running = RUNNING.lock().unwrap();
        running.0 += 1;
        let ticket = running.0;
        running.1.insert(ticket, (Instant::now(), Box::new(what)));
        Entry(ticket)
    };
    let result = work();
    drop(entry);
    result
}

/// Runs the engine; returns its result and the number of blocks reported as committed.
fn session<'w>(
    disk: &SimulatedStorage,
    setup: Setup,
    workload: &'w dyn Workload,
    history: impl Debug + Copy + Send + 'static,
) -> (Result<FinishedRun<'w>, Error>, u32) {
    let done = AtomicU32::new(0);
    let observer = |event: &Event| match event {
        Event::Opened { finished_blocks, .. } | Event::Committed { finished_blocks } => {
            done.store(*finished_blocks, Ordering::Relaxed);
        }
    };
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let result = watched(history, || Run::new(workload, storage).options(&setup.options()).observer(&observer).start());
    (result, done.into_inner())
}

/// Returns the blocks that count on a disk, in the order of their commits.
fn committed(disk: &SimulatedStorage) -> Result<Vec<u32>, Error> {
    match checkpoint::inspect(disk) {
        Ok(found) => Ok(found.records.iter().map(|record| record.block.0).collect()),
        Err(Error::NotARun { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Continues a history on `disk` without further faults, and judges the end.
fn finish(
    disk: &SimulatedStorage,
    setup: Setup,
    acknowledged: &BTreeSet<u32>,
    golden: &BTreeMap<String, Vec<u8>>,
    history: History,
) -> Result<(), Wrong> {
    let found: BTreeSet<u32> = committed(disk).map_err(Wrong::Stuck)?.into_iter().collect();
    if let Some(lost) = acknowledged.difference(&found).next() {
        return Err(Wrong::Lost(*lost));
    }
    let workload = workload(setup.publishes);
    let finished = session(disk, setup, &workload, history).0.map_err(Wrong::Stuck)?;
    for record in finished.records.values() {
        let Some(file) = &record.published else { return Err(Wrong::Different(format!("{record:?}"))) };
        let bytes = disk.contents(&file.name).unwrap_or_default();
        if xxhash_rust::xxh3::xxh3_128(&bytes) != file.hash {
            return Err(Wrong::Refused(file.name.clone()));
        }
    }
    drop(finished);
    let (metadata, others): (Vec<String>, Vec<String>) =
        disk.names().into_iter().filter(|name| !golden.contains_key(name)).partition(|name| name.starts_with("m/"));
    if others != ["FORMAT", "LOCK"] || metadata.len() != 4 {
        return Err(Wrong::Leftover([others, metadata].concat()));
    }
    for (name, bytes) in golden {
        if disk.contents(name).as_ref() != Some(bytes) {
            return Err(Wrong::Different(name.clone()));
        }
    }
    Ok(())
}

fn golden() -> BTreeMap<String, Vec<u8>> {
    let workload = workload(false);
    let streams = workload.reference();
    let files = (0..).zip(&streams).filter_map(|(block, stream)| workload.publish(BlockId(block), stream));
    files.map(|file| (format!("db/{}", file.name), file.bytes)).collect()
}

/// Runs a session that a fault strikes; returns the blocks acknowledged in it or before, and how it
/// ended.
fn struck(
    disk: &SimulatedStorage,
    setup: Setup,
    before: &BTreeSet<u32>,
    history: History,
) -> (BTreeSet<u32>, Result<(), Error>) {
    let workload = workload(setup.publishes);
    let (result, done) = session(disk, setup, &workload, history);
    // Blocks are recorded in the order of their commits, so the acknowledged ones come first.
    let mut acknowledged = before.clone();
    if done > 0 {
        let blocks = committed(&disk.kill()).unwrap_or_else(|error| panic!("{history:?}: {error}"));
        acknowledged.extend(&blocks[..done as usize]);
    }
    (acknowledged, result.map(|_| ()))
}

/// Returns images of a disk after the end of a process: a kill, or a power cut under some seeds.
fn images(disk: &SimulatedStorage, cuts: u64, salt: u64) -> impl Iterator<Item = SimulatedStorage> {
    let seeds = (0..cuts).map(move |cut| if cut < 4 { (cut + salt) % 4 } else { cut + 1000 * salt });
    std::iter::once(disk.kill()).chain(seeds.map(|seed| disk.power_cut(seed)))
}

/// Returns the number of steps of an undisturbed run.
fn steps(setup: Setup) -> u64 {
    let disk = SimulatedStorage::new(1);
    session(&disk, setup, &workload(setup.publishes), setup).0.unwrap();
    disk.steps()
}

struct Reach {
    faults: &'static [Fault],
    /// Number of steps between two first faults.
    stride: u64,
    /// Number of power cuts after each.
    cuts: u64,
    /// One in this many images is stopped again in its recovery; 0 for none.
    second: u64,
}

fn survives(name: &str, reach: Reach) {
    let golden = golden();
    let start = Instant::now();
    let (mut states, mut sessions, mut without_effect) = (0u64, 0u64, 0u64);
    for setup in Setup::FIRST {
        for &fault in reach.faults {
            let last = steps(setup);
            for step in (1..=last).step_by(reach.stride as usize) {
                let disk = SimulatedStorage::new(step).with_fault(step, fault);
                let mut history = History { setup, fault, step, image: 0, second_stop: 0 };
                let (acknowledged, result) = struck(&disk, setup, &BTreeSet::new(), history);
                sessions += 1;
                match (&result, fault) {
                    (Ok(()), Fault::Stop | Fault::FailOnce | Fault::FailForever) => {
                        assert!(disk.steps() < step, "{history:?}: a failed call was not reported");
                        without_effect += 1;
                    }
                    (Ok(()), _) => without_effect += 1,
                    (Err(Error::Io { .. } | Error::Poisoned), _) => {}
                    (Err(error), _) => panic!("{history:?}: a fault of the disk was reported as {error}"),
                }
                for (image, disk) in images(&disk, reach.cuts, step).enumerate() {
                    history.image = image;
                    let number = step / reach.stride + image as u64;
                    let again = setup.later(number);
                    let (disk, acknowledged) = if reach.second > 0 && number.is_multiple_of(reach.second) {
                        history.second_stop = 1 + (step * 7 + number * 13) % (last + 30);
                        let disk = disk.with_fault(history.second_stop, Fault::Stop);
                        let (acknowledged, _) = struck(&disk, again, &acknowledged, history);
                        sessions += 1;
                        (if number % 4 < 2 { disk.kill() } else { disk.power_cut(number) }, acknowledged)
                    } else {
                        (disk, acknowledged.clone())
                    };
                    finish(&disk, again.later(number / 6), &acknowledged, &golden, history)
                        .unwrap_or_else(|wrong| panic!("{history:?}: {wrong:?}"));
                    sessions += 1;
                    states += 1;
                }
            }
        }
    }
    let time = start.elapsed();
    println!("{name}: {states} states, {sessions} sessions, {without_effect} faults without effect, {time:.1?}");
    assert!(without_effect < states / 10, "most faults struck nothing");
}

#[test]
fn every_stop_and_often_a_second_one() {
    survives("stops", Reach { faults: &[Fault::Stop], stride: 1, cuts: 2 * effort(), second: 2 });
}

#[test]
fn errors_of_the_disk() {
    let faults = &[Fault::FailOnce, Fault::FailForever, Fault::Full, Fault::LoseSync];
    survives("errors", Reach { faults, stride: (5 / effort()).max(1), cuts: effort(), second: 4 });
}

/// A disk that lies may cost finished work or the whole run, but must never lead to a wrong result.
#[test]
fn a_lying_disk_never_gives_a_wrong_result() {
    let golden = golden();
    let start = Instant::now();
    let (mut states, mut lost, mut refused) = (0u32, 0u32, 0u32);
    for setup in Setup::FIRST {
        let last = steps(setup);
        for step in (1..last).step_by((7 / effort()).max(1) as usize) {
            for after in [3, 29, 97, 1 << 20] {
                let stop = step + after;
                let disk = SimulatedStorage::new(step).with_fault(step, Fault::LieSync).with_fault(stop, Fault::Stop);
                let mut history = History { setup, fault: Fault::LieSync, step, image: 0, second_stop: stop };
                let (acknowledged, _) = struck(&disk, setup, &BTreeSet::new(), history);
                for seed in 0..2 * effort() {
                    history.image = 1 + seed as usize;
                    let disk = disk.power_cut(if seed == 0 { 2 } else { 1000 * step + seed });
                    match finish(&disk, setup.later(step), &acknowledged, &golden, history) {
                        Ok(()) => {}
                        Err(Wrong::Lost(_)) => lost += 1,
                        Err(Wrong::Stuck(_) | Wrong::Refused(_)) => refused += 1,
                        Err(wrong) => panic!("{history:?}: {wrong:?}"),
                    }
                    states += 1;
                }
            }
        }
    }
    println!("lying disk: {states} states, {lost} lost, {refused} refused, 0 wrong, {:.1?}", start.elapsed());
    assert!(lost > 0 && refused > 0, "the lies had no effect");
}

/// The caller seals a finished run with files of its own, each written as a temporary file and
/// renamed. The power was cut during the rename and both names came back. Everything beside the
/// blocks of a finished run counted as the caller's, so the temporary file stayed for ever.
#[test]
fn a_temporary_file_beside_a_finished_run_is_swept_and_the_callers_files_are_not() {
    for setup in Setup::FIRST {
        let disk = SimulatedStorage::new(1);
        session(&disk, setup, &workload(setup.publishes), setup).0.unwrap();
        let disk = disk.kill();
        disk.put("db/SUMS", b"the caller's");
        disk.put("db/SUMS.tmp", b"the caller's, once more");
        session(&disk, setup, &workload(setup.publishes), setup).0.unwrap();
        assert!(disk.contents("db/SUMS").is_some() && disk.contents("db/SUMS.tmp").is_none());
    }
}

/// Regression: a worker that panicked left the others waiting for its block for ever. The panic
/// ends the run, and the run can be resumed.
#[test]
fn a_panic_of_the_workload_ends_the_run() {
    for setup in Setup::FIRST {
        for block in [0, 3, 7] {
            let disk = SimulatedStorage::new(1);
            let careless = Careless { panics_at: Some(block), ..Careless::new(workload(setup.publishes)) };
            let run = std::panic::AssertUnwindSafe(|| session(&disk, setup, &careless, (setup, block)).0.is_ok());
            assert!(std::panic::catch_unwind(run).is_err(), "{setup:?}: the panic in block {block} was swallowed");
            let history = History { setup, fault: Fault::Stop, step: 0, image: 0, second_stop: 0 };
            finish(&disk.kill(), setup, &BTreeSet::new(), &golden(), history)
                .unwrap_or_else(|wrong| panic!("{wrong:?}"));
        }
    }
}

/// A broken invariant is a panic. In any thread and before any change, it ends the run, and the run
/// can be resumed.
#[test]
fn a_panic_in_any_thread_ends_the_run() {
    for setup in Setup::FIRST {
        for step in (1..).step_by(3) {
            let panics = move |moment: &Moment<'_>| assert_ne!(moment.step, step, "this panic is part of the test");
            let disk = SimulatedStorage::new(1).with_witness(Arc::new(panics));
            let sound = workload(setup.publishes);
            let run = std::panic::AssertUnwindSafe(|| session(&disk, setup, &sound, (setup, step)).0.is_ok());
            if std::panic::catch_unwind(run).is_ok() && disk.steps() < step {
                break;
            }
            let history = History { setup, fault: Fault::Stop, step, image: 0, second_stop: 0 };
            finish(&disk.kill(), setup, &BTreeSet::new(), &golden(), history)
                .unwrap_or_else(|wrong| panic!("{wrong:?}"));
        }
    }
}

/// The audit sees every source of every block, and a block that it does not believe is not saved.
/// The run can be resumed without the doubt. What a source oriented for its target is not shown.
#[test]
fn a_block_that_fails_its_audit_is_not_saved() {
    for setup in Setup::FIRST {
        for block in [0, 3, 7, 99] {
            let disk = SimulatedStorage::new(1);
            let careless = Careless { doubts: Some(block), ..Careless::new(workload(setup.publishes)) };
            let ended = session(&disk, setup, &careless, (setup, block)).0;
            if setup.placement == Placement::Dedicated && block > 0 {
                let refused = ended.err().map(|error| error.to_string());
                assert!(refused.is_some_and(|refused| refused.contains("an audit needs shared logs")), "{setup:?}");
                continue;
            }
            if block == 99 {
                assert!(ended.is_ok(), "{setup:?}: there is no block 99 to doubt: {:?}", ended.err());
                continue;
            }
            let Err(Error::Audit { block: doubted, what }) = ended else {
                panic!("{setup:?}: the audit of block {block} did not stop the run");
            };
            assert_eq!((doubted, what.as_str()), (BlockId(block), "a doubt"), "{setup:?}");
            let saved = checkpoint::inspect(&disk).unwrap().records;
            assert!(saved.iter().all(|record| record.block != doubted), "{setup:?}: block {block} was saved");
            let history = History { setup, fault: Fault::Stop, step: 0, image: 0, second_stop: 0 };
            finish(&disk.kill(), setup, &BTreeSet::new(), &golden(), history)
                .unwrap_or_else(|wrong| panic!("{wrong:?}"));
        }
    }
}

/// Regression: the least memory that is accepted suffices. It did not: with frame headers,
/// incompressible streams are a little longer than the queue was, and a published file may be
/// longer than the whole budget. The worker with such a piece waited for ever, because its own
/// buffers counted among the leases that had to be returned first.
#[test]
fn the_least_memory_suffices_for_pieces_of_any_length() {
    let words = 300_000;
    for setup in Setup::FIRST {
        for published_bytes in [None, Some(40 << 20)] {
            for density in [5, 50] {
                let sound = Synthetic { bits: 2, words, density, salt: 1, stop_after: None, publishes: false };
                let careless = Careless { published_bytes, ..Careless::new(sound) };
                let disk = SimulatedStorage::new(1);
                let memory_bytes = Footprint::new(words, setup.placement).bytes(setup.threads);
                let options = Options { memory_bytes, ..setup.options() };
                let storage: Arc<dyn Storage> = Arc::new(disk.clone());
                let work = || Run::new(&careless, storage).options(&options).start().unwrap();
                let finished = watched((setup, published_bytes, density), work);
                assert_eq!(finished.records.len(), 4);
                if published_bytes.is_none() {
                    let over = finished.peak_leased_bytes.saturating_sub(memory_bytes);
                    assert!(over < 4096, "{setup:?}: {over} bytes over the budget");
                }
            }
        }
    }
}
