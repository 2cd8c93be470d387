//! The engine on a synthetic workload, compared with the same workload computed block by block in
//! memory.

use crate::folders;
use crate::mend::{look, mend};
use crate::scratch::scratch;
use crate::synthetic::{Careless, Synthetic};
use pipeline::codec::{self, FRAME_WORDS, Raw, Zstd1};
use pipeline::maintenance::check::Depth;
use pipeline::storage::pass_on;
use pipeline::{
    Auditors, BlockId, Edge, Error, Event, Footprint, Metrics, Options, Placement, RealStorage, Run, Stage, Storage,
    Thresholds, Workload, timeline,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use testing::{SeekStorage, Speed};

fn options() -> Options {
    Options { codec: &Zstd1, commit_interval: Duration::from_millis(20), ..folders::options(Placement::Dedicated) }
}

fn real(folder: &Path) -> Arc<dyn Storage> {
    Arc::new(RealStorage::create(folder).unwrap())
}

/// Without syncs: these tests are not about durability, and their many small runs would mostly wait
/// for the disk.
fn unsynced(folder: &Path) -> Arc<dyn Storage> {
    Arc::new(RealStorage::create(folder).unwrap().with_syncs(false))
}

/// Asserts that `db/` holds exactly the reference's streams.
fn assert_published(workload: &Synthetic, folder: &Path, story: &str) {
    let reference = workload.reference();
    assert_eq!(std::fs::read_dir(folder.join("db")).unwrap().count(), reference.len(), "{story}: files in db");
    for (block, stream) in reference.iter().enumerate() {
        let bytes: Vec<u8> = stream.iter().flat_map(|word| word.to_le_bytes()).collect();
        let found = std::fs::read(folder.join("db").join(format!("{block:04}.blk"))).unwrap();
        assert!(found == bytes, "{story}: block {block} differs");
    }
    assert_eq!(std::fs::read_dir(folder.join("logs")).unwrap().count(), 0, "{story}: logs left behind");
}

#[test]
fn the_result_does_not_depend_on_threads_memory_placement_or_codec() {
    for density in [0, 5, 50, 100] {
        let salt = u64::from(density);
        for (placement, publishes) in [
            (Placement::Dedicated, false),
            (Placement::Dedicated, true),
            (Placement::Shared, false),
            (Placement::Shared, true),
        ] {
            let workload = Synthetic { bits: 5, words: 300, density, salt, stop_after: None, publishes };
            // Without logs there is no codec to vary.
            let codecs = if publishes { 2 } else { codec::all().len() };
            for codec in codec::all().iter().copied().rev().take(codecs) {
                for (threads, memory_bytes) in [(1, 4 << 20), (4, 64 << 20), (3, 4 << 20)] {
                    let folder = scratch();
                    let thresholds = (threads != 4).then_some(Thresholds { held: 0, ..Thresholds::LARGEST });
                    let options = Options { threads, memory_bytes, placement, codec, thresholds, ..options() };
                    let (metrics, storage) = (Metrics::default(), unsynced(folder.path()));
                    let run = Run::new(&workload, storage).options(&options).metrics(&metrics);
                    let finished = run.start().unwrap();
                    assert_eq!(finished.records.len(), 32);
                    let codec = codec.name();
                    let story =
                        format!("{density} % {placement:?} {publishes} {codec} {threads} threads {memory_bytes} bytes");
                    let counts = metrics.snapshot();
                    let has_logs = !(publishes && placement == Placement::Shared);
                    assert_eq!(counts.log_bytes_written > 0, has_logs, "{story}");
                    // Unless every stream was found in memory.
                    if thresholds.is_some() {
                        assert_eq!(counts.log_bytes_read > 0, has_logs, "{story}");
                        assert_eq!(counts.published_bytes_read == 0, has_logs, "{story}");
                    }
                    assert_published(&workload, folder.path(), &story);
                }
            }
        }
    }
}

#[test]
fn streams_of_several_frames() {
    let workload = Synthetic { bits: 3, words: 300_000, density: 5, salt: 4, stop_after: None, publishes: false };
    for placement in [Placement::Dedicated, Placement::Shared] {
        let folder = scratch();
        let metrics = Metrics::default();
        let options = Options { placement, memory_bytes: 128 << 20, ..options() };
        let finished = Run::new(&workload, real(folder.path())).options(&options).metrics(&metrics).start().unwrap();
        assert_published(&workload, folder.path(), "several frames");
        let edges: usize = BlockId::all(workload.blocks()).map(|block| workload.edges_into(block).len()).sum();
        assert!(edges > 3 * 4 + 2 * 2, "no block updates another one twice");
        assert_eq!(metrics.snapshot().edges_applied, edges as u64);
        assert!(finished.peak_leased_bytes <= 128 << 20);
    }
}

/// Three blocks, each updating all later ones by the first of its two frames.
#[derive(Default)]
struct Halves {
    /// Set when the first block is finished.
    stop: Arc<AtomicBool>,
}

impl Workload for Halves {
    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    fn blocks(&self) -> u32 {
        3
    }
    fn stream_words(&self) -> usize {
        2 * FRAME_WORDS
    }
    fn edges_into(&self, target: BlockId) -> Vec<Edge> {
        (0..target.0).map(|source| Edge::new(BlockId(source), target)).collect()
    }
    fn edges_from(&self, source: BlockId) -> Vec<Edge> {
        (source.0 + 1..3).map(|target| Edge::new(source, BlockId(target))).collect()
    }
    fn unneeded(&self, _: &Edge) -> u64 {
        FRAME_WORDS as u64
    }
    fn apply(&self, _: &Edge, stream: &[u64], bitmap: &mut [u64]) {
        for (word, losses) in bitmap.iter_mut().zip(stream).take(FRAME_WORDS) {
            *word |= losses.rotate_left(1);
        }
    }
    fn finish(&self, block: BlockId, bitmap: &mut [u64]) {
        for (at, word) in bitmap.iter_mut().enumerate() {
            *word = !*word & (at as u64 ^ u64::from(block.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        self.stop.store(block == BlockId(0), Ordering::Relaxed);
    }
}

impl Halves {
    fn reference() -> Vec<Vec<u64>> {
        let halves = Halves::default();
        let mut streams: Vec<Vec<u64>> = Vec::new();
        for block in BlockId::all(3) {
            let mut bitmap = vec![0; halves.stream_words()];
            let edges = halves.edges_into(block);
            edges.iter().for_each(|edge| halves.apply(edge, &streams[edge.source.index()], &mut bitmap));
            halves.finish(block, &mut bitmap);
            streams.push(bitmap);
        }
        streams
    }
}

/// A stream that stays in memory for later targets is decoded whole, although the target that read
/// it needs one frame of it.
#[test]
fn a_stream_that_is_kept_for_others_is_kept_whole() {
    let (folder, metrics) = (scratch(), Metrics::default());
    let halves = Halves::default();
    let shared = || Options { placement: Placement::Shared, threads: 1, memory_bytes: 256 << 20, ..options() };
    let stopping = Options { stop: halves.stop.clone(), ..shared() };
    let ended = Run::new(&halves, real(folder.path())).options(&stopping).start().map(drop);
    assert!(matches!(ended, Err(Error::Interrupted)), "{:?}", ended.err());
    let finished = Run::new(&halves, real(folder.path())).options(&shared()).metrics(&metrics).start().unwrap();
    for (block, stream) in BlockId::all(3).zip(Halves::reference()) {
        assert!(finished.stream(block).unwrap() == stream, "{block}");
    }
    let counts = metrics.snapshot();
    // Block 1 reads block 0 and keeps it for block 2.
    assert_eq!((counts.blocks_computed, counts.streams_read, counts.streams_held), (2, 1, 2));
    assert_eq!(counts.raw_bytes_decoded, 2 * FRAME_WORDS as u64 * 8);
}

/// With room for no stream, for some and for all: the same result, and each stream is found in
/// memory or read from its log.
#[test]
fn streams_in_memory_change_nothing() {
    let workload = Synthetic { bits: 6, words: 500, density: 50, salt: 3, stop_after: None, publishes: false };
    let sources = |target| workload.edges_into(target).iter().map(|edge| edge.source).collect::<BTreeSet<_>>().len();
    let loads: usize = BlockId::all(workload.blocks()).map(sources).sum();
    for threads in [1, 3] {
        for (held, most) in [(0, 0), (1, 1), (7, 7), (usize::MAX, 64)] {
            let (folder, metrics) = (scratch(), Metrics::default());
            let thresholds = Some(Thresholds { held, ..Thresholds::LARGEST });
            let options =
                Options { placement: Placement::Shared, threads, thresholds, memory_bytes: 256 << 20, ..options() };
            let run = Run::new(&workload, unsynced(folder.path())).options(&options).metrics(&metrics);
            let finished = run.start().unwrap();
            assert_published(&workload, folder.path(), &format!("{threads} threads, {held} streams"));
            let counts = metrics.snapshot();
            assert_eq!(counts.streams_read + counts.streams_held, loads as u64);
            let is_some = [counts.streams_held > 0, counts.streams_read > 0];
            assert_eq!(is_some, [held > 0, held < usize::MAX], "{threads} threads, {held} streams");
            let workers_bytes =
                Footprint::new(500, Placement::Shared).bytes(threads) - Footprint::new(500, Placement::Shared).bytes(0);
            let least = workers_bytes + most * 500 * 8;
            let leased = finished.peak_leased_bytes;
            assert!(leased <= 256 << 20, "{leased}");
            assert!(most == 64 || leased >= least, "{threads} threads, {held} streams: {leased} of {least}");
        }
    }
}

/// The memory of auditors is part of the budget: if every block has one, each worker has room for
/// it, else they borrow it from the queue.
#[test]
fn auditors_stay_within_the_memory() {
    for are_everywhere in [true, false] {
        let auditors = Auditors { bytes: 3 << 20, are_everywhere };
        let footprint = Footprint { auditors, ..Footprint::new(1 << 18, Placement::Shared) };
        for (workers, missing) in (1..=4).flat_map(|workers| [(workers, 0), (workers, 1)]) {
            let sound = Synthetic { bits: 3, words: 1 << 18, density: 5, salt: 1, stop_after: None, publishes: false };
            let careless = Careless { auditors, doubts: Some(99), ..Careless::new(sound) };
            let memory_bytes = footprint.bytes(workers) - missing as u64;
            let options = Options { placement: Placement::Shared, threads: 4, memory_bytes, ..options() };
            let begun = AtomicU32::new(0);
            let observer = |event: &Event| {
                if let Event::Opened { workers, .. } = event {
                    begun.store(*workers as u32, Ordering::Relaxed);
                }
            };
            let folder = scratch();
            let run = Run::new(&careless, unsynced(folder.path())).options(&options).observer(&observer);
            let (ended, story) = (run.start(), format!("{auditors:?}, {workers} workers, {missing} bytes too few"));
            let workers = workers - missing;
            if workers == 0 {
                let refused = ended.err().map(|error| error.to_string()).unwrap_or_default();
                let needed = format!("needs {} MiB", footprint.bytes(1).div_ceil(1 << 20));
                assert!(refused.contains(&needed), "{story}: {refused}");
                continue;
            }
            let finished = ended.unwrap();
            assert_eq!(begun.into_inner() as usize, workers, "{story}");
            let buffers = footprint.bytes(workers) - footprint.bytes(0);
            let (most, least) = match are_everywhere {
                true => (workers as u64, buffers),
                false => ((memory_bytes - buffers) / auditors.bytes, buffers + auditors.bytes),
            };
            let at_work = careless.at_work[1].load(Ordering::Relaxed) as u64;
            assert!((1..=most).contains(&at_work), "{story}: {at_work}");
            let leased = finished.peak_leased_bytes;
            assert!((least..=memory_bytes).contains(&leased), "{story}: {leased} of {least} to {memory_bytes}");
        }
    }
}

/// Blocks that need nothing, and send all they have to the last one.
struct Star {
    publishes: bool,
    blocks: u32,
    words: usize,
}

impl Workload for Star {
    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    fn blocks(&self) -> u32 {
        self.blocks
    }
    fn stream_words(&self) -> usize {
        self.words
    }
    fn edges_into(&self, target: BlockId) -> Vec<Edge> {
        let last = self.blocks() - 1;
        BlockId::all(if target.0 == last { last } else { 0 }).map(|source| Edge::new(source, target)).collect()
    }
    fn apply(&self, _: &Edge, stream: &[u64], bitmap: &mut [u64]) {
        bitmap.iter_mut().zip(stream).for_each(|(word, more)| *word |= more);
    }
    fn finish(&self, block: BlockId, bitmap: &mut [u64]) {
        bitmap.fill(u64::from(block.0) << 8 | 1);
    }
    fn publish(&self, block: BlockId, stream: &[u64]) -> Option<pipeline::Publication> {
        let bytes = stream.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.publishes.then(|| pipeline::Publication { name: format!("{block:04}.blk"), bytes })
    }
    fn owns(&self, name: &str) -> bool {
        name.ends_with(".blk")
    }
}

/// What waits for a slow device, and what is read ahead of slow workers, stays within the memory:
/// published files and entries of logs, as seen from outside at any time of a run.
#[test]
fn what_is_on_its_way_stays_within_the_memory() {
    let (words, threads) = (1 << 14, 2);
    let (stream_bytes, footprint) = (8 * words as u64, Footprint::new(words, Placement::Shared));
    // The smallest queue, and what each worker has just made or is about to apply.
    let [queue, at_work] = [footprint.bytes(0), threads as u64 * stream_bytes];
    let slow_workers = Synthetic { bits: 6, words, density: 50, salt: 5, stop_after: None, publishes: false };
    let [files, logs] = [true, false].map(|publishes| Star { publishes, blocks: 64, words });
    // Of the files of a run without logs, and of logs, the bytes that a block makes.
    let cases: [(&dyn Workload, u64, bool); 3] =
        [(&files, 2 * stream_bytes, true), (&logs, stream_bytes, true), (&slow_workers, 0, false)];
    for (number, (workload, made_bytes, is_slow)) in cases.into_iter().enumerate() {
        let thresholds = Some(Thresholds { held: 0, ..Thresholds::LARGEST });
        let (placement, memory_bytes) = (Placement::Shared, footprint.bytes(threads));
        let options = Options { codec: &Raw, placement, threads, thresholds, memory_bytes, ..options() };
        let (folder, metrics) = (scratch(), Metrics::default());
        let speed = is_slow.then_some(Speed { seek: Duration::ZERO, bytes_per_second: 100 << 20 });
        let device = Arc::new(SeekStorage::new(unsynced(folder.path()), speed));
        let [mut waiting, mut ahead] = [0, 0];
        std::thread::scope(|scope| {
            let run = || Run::new(workload, device.clone()).options(&options).metrics(&metrics).start().map(drop);
            let run = scope.spawn(run);
            while !run.is_finished() {
                let made = metrics.snapshot().blocks_computed * made_bytes;
                let passed = device.passed();
                waiting = waiting.max(made.saturating_sub(passed.written_bytes));
                ahead = ahead.max(passed.read_bytes.saturating_sub(metrics.snapshot().raw_bytes_decoded));
            }
            run.join().unwrap().unwrap();
        });
        let story = format!("case {number}: {waiting} wait, {ahead} are read ahead, the queue has {queue}");
        println!("{story}");
        assert!(waiting <= queue + 2 * at_work && ahead <= 3 * at_work, "{story}");
    }
}

/// More streams are held than the queue has room for, and more wait for the writer, which gathers
/// until the queue is full: all of that counts, and stays within the memory.
#[test]
fn held_streams_and_a_full_queue_stay_within_the_memory() {
    let (words, threads, held) = (1 << 17, 2, 72);
    let footprint = Footprint::new(words, Placement::Shared);
    let is_least = |bytes: &u64| footprint.held_streams(threads, *bytes) == held;
    let memory_bytes = (1..).map(|mib| mib << 20).find(is_least).unwrap();
    let workers_bytes = footprint.bytes(threads) - footprint.bytes(0);
    let least = workers_bytes + (held + 1) * words as u64 * 8;
    assert!(memory_bytes < workers_bytes + 2 * held * words as u64 * 8, "the queue has room for more");
    let star = Star { publishes: false, blocks: 140, words };
    let thresholds = Some(Thresholds { gather_bytes: u64::MAX, ..Thresholds::LARGEST });
    let (placement, commit_interval) = (Placement::Shared, Duration::from_secs(600));
    let options = Options { codec: &Raw, placement, threads, thresholds, memory_bytes, commit_interval, ..options() };
    let folder = scratch();
    let leased = Run::new(&star, unsynced(folder.path())).options(&options).start().unwrap().peak_leased_bytes;
    assert!((least..=memory_bytes).contains(&leased), "{leased} of {least} to {memory_bytes}");
}

#[test]
fn frames_that_no_edge_needs_are_not_decoded() {
    let streams = Halves::reference();
    for (placement, frames) in [(Placement::Shared, 3), (Placement::Dedicated, 6)] {
        let folder = scratch();
        let metrics = Metrics::default();
        let options = Options { placement, ..options() };
        let halves = Halves::default();
        let finished = Run::new(&halves, real(folder.path())).options(&options).metrics(&metrics).start().unwrap();
        for block in BlockId::all(3) {
            assert!(finished.stream(block).unwrap() == streams[block.index()], "{placement:?} {block}");
        }
        assert_eq!(metrics.snapshot().raw_bytes_decoded, frames * FRAME_WORDS as u64 * 8, "{placement:?}");
    }
}

/// Stops a run after a few blocks, again and again, each time with another placement and thread
/// count.
#[test]
fn an_interrupted_run_goes_on_with_other_options() {
    let mut workload = Synthetic { bits: 6, words: 2000, density: 50, salt: 9, stop_after: None, publishes: false };
    let folder = scratch();
    let mut sessions = 0usize;
    loop {
        let stop = Arc::new(AtomicBool::new(false));
        workload.stop_after = Some((AtomicU32::new(9), stop.clone()));
        let placement = if sessions.is_multiple_of(2) { Placement::Dedicated } else { Placement::Shared };
        let threads = 1 + sessions % 3;
        let commit_interval = Duration::from_millis(1);
        let options = Options { placement, threads, commit_interval, stop, ..options() };
        sessions += 1;
        match Run::new(&workload, real(folder.path())).options(&options).start() {
            Ok(finished) => {
                assert_eq!(finished.records.len(), 64);
                break;
            }
            Err(Error::Interrupted) => assert!(sessions < 200, "no progress in 200 sessions"),
            Err(error) => panic!("session {sessions}: {error}"),
        }
    }
    assert!(sessions > 4, "the run was interrupted only {} times", sessions - 1);
    assert_published(&workload, folder.path(), "after interruptions");
    // Again: nothing to do, nothing changed.
    let metrics = Metrics::default();
    Run::new(&workload, real(folder.path())).options(&options()).metrics(&metrics).start().unwrap();
    assert_eq!(metrics.snapshot().blocks_computed, 0);
    assert_published(&workload, folder.path(), "after a run without work");
}

/// Sessions that write logs of both kinds, and sessions that read published files: a target takes
/// the stream of each source from where its session left it.
#[test]
fn sessions_with_and_without_logs_share_a_folder() {
    for first in 0..4 {
        let folder = scratch();
        let (mut read, mut sessions) = ([0, 0], 0);
        loop {
            let stop = Arc::new(AtomicBool::new(false));
            let stop_after = Some((AtomicU32::new(7), stop.clone()));
            // The first two sessions write logs; then the kinds alternate.
            let publishes = sessions >= 2;
            let placement = if (sessions + first) % 2 == 0 { Placement::Dedicated } else { Placement::Shared };
            let workload = Synthetic { bits: 6, words: 700, density: 50, salt: 3, stop_after, publishes };
            let threads = 1 + (sessions + first) / 2 % 2;
            let thresholds = Some(Thresholds { held: 0, ..Thresholds::LARGEST });
            let commit_interval = Duration::from_millis(1);
            let options = Options { placement, threads, commit_interval, stop, thresholds, ..options() };
            let metrics = Metrics::default();
            let ended = Run::new(&workload, unsynced(folder.path())).options(&options).metrics(&metrics).start();
            let counts = metrics.snapshot();
            read[0] += counts.log_bytes_read;
            read[1] += counts.published_bytes_read;
            sessions += 1;
            match ended {
                Ok(finished) => {
                    assert_eq!(finished.records.len(), 64);
                    break assert_published(&workload, folder.path(), "of mixed sessions");
                }
                Err(Error::Interrupted) => assert!(sessions < 200, "no progress in 200 sessions"),
                Err(error) => panic!("session {sessions}: {error}"),
            }
        }
        assert!(read[0] > 0 && read[1] > 0 && sessions > 4, "{read:?} in {sessions} sessions");
    }
}

/// A published source that is not what its record says stops the run before it is used, with the
/// name of the file; a repair computes it again, and the run continues.
#[test]
fn a_damaged_published_source_is_refused_and_repaired() {
    let pristine = scratch();
    let stop = Arc::new(AtomicBool::new(false));
    let thresholds = Some(Thresholds { held: 0, ..Thresholds::LARGEST });
    let options = Options { placement: Placement::Shared, threads: 1, stop, thresholds, ..options() };
    let stop_after = Some((AtomicU32::new(5), options.stop.clone()));
    let stopped = Synthetic { bits: 4, words: 700, density: 50, salt: 3, stop_after, publishes: true };
    let ended = Run::new(&stopped, unsynced(pristine.path())).options(&options).start();
    assert!(matches!(ended, Err(Error::Interrupted)));
    let workload = Synthetic { stop_after: None, ..stopped };
    let options = Options { stop: Arc::default(), ..options };
    let resume = |folder: &Path| Run::new(&workload, unsynced(folder)).options(&options).start().map(drop);
    for case in 0..4 {
        let folder = scratch();
        for name in ["m", "db", "logs", ""] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
            for entry in std::fs::read_dir(pristine.path().join(name)).unwrap().map(Result::unwrap) {
                if entry.path().is_file() {
                    std::fs::copy(entry.path(), folder.path().join(name).join(entry.file_name())).unwrap();
                }
            }
        }
        let source = folder.path().join("db/0001.blk");
        let mut bytes = std::fs::read(&source).unwrap();
        match case {
            0 => bytes[1234] ^= 8,
            1 => bytes.truncate(4000),
            2 => bytes.push(0),
            _ => bytes = std::fs::read(folder.path().join("db/0002.blk")).unwrap(),
        }
        std::fs::write(&source, bytes).unwrap();
        match resume(folder.path()) {
            Err(Error::Corrupt { path, .. }) => assert_eq!(path, source, "case {case}"),
            other => panic!("case {case}: {other:?}"),
        }
        let storage = unsynced(folder.path());
        let report = look(&workload, &*storage, Depth::Full).unwrap();
        assert_eq!(report.damaged_blocks, [BlockId(1)].into(), "case {case}");
        assert!(report.damaged_extents.is_empty());
        mend(&workload, &storage, &Thresholds::LARGEST).unwrap();
        resume(folder.path()).unwrap();
        assert_published(&workload, folder.path(), "after a repair");
    }
}

/// A workload whose blocks publish nothing although it says that they publish their streams.
struct Silent(Synthetic);

impl Workload for Silent {
    pass_on! { self.0 =>
        fn parameters(&self) -> Vec<(String, String)>;
        fn blocks(&self) -> u32;
        fn stream_words(&self) -> usize;
        fn edges_into(&self, target: BlockId) -> Vec<Edge>;
        fn edges_from(&self, source: BlockId) -> Vec<Edge>;
    }
    fn apply(&self, _: &Edge, _: &[u64], _: &mut [u64]) {}
    fn finish(&self, _: BlockId, _: &mut [u64]) {}
    fn publish(&self, _: BlockId, _: &[u64]) -> Option<pipeline::Publication> {
        None
    }
    fn publishes_streams(&self) -> bool {
        true
    }
}

#[test]
fn a_stream_that_is_not_published_is_an_error_of_the_workload() {
    let sound = Synthetic { bits: 2, words: 10, density: 5, salt: 1, stop_after: None, publishes: true };
    match Run::new(&Silent(sound), unsynced(scratch().path())).options(&options()).start() {
        Err(Error::Workload { what }) => assert!(what.contains("publishes no file"), "{what}"),
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn other_parameters_are_refused_by_name() {
    let folder = scratch();
    let workload = Synthetic { bits: 2, words: 10, density: 5, salt: 1, stop_after: None, publishes: false };
    Run::new(&workload, real(folder.path())).options(&options()).start().unwrap();
    let other = Synthetic { salt: 2, ..workload };
    match Run::new(&other, real(folder.path())).options(&options()).start() {
        Err(Error::Parameters { name, found, wanted, .. }) => {
            assert_eq!((name.as_str(), found.as_str(), wanted.as_str()), ("salt", "1", "2"));
        }
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn too_little_memory_is_refused_before_anything_is_written() {
    let folder = scratch();
    let workload = Synthetic { bits: 2, words: 1 << 20, density: 5, salt: 1, stop_after: None, publishes: false };
    let options = Options { memory_bytes: 8 << 20, ..options() };
    match Run::new(&workload, real(folder.path())).options(&options).start() {
        Err(Error::Memory { needed_bytes, budget_bytes }) => {
            assert_eq!(budget_bytes, 8 << 20);
            assert_eq!(needed_bytes, Footprint::new(1 << 20, Placement::Dedicated).bytes(1));
        }
        other => panic!("{:?}", other.err()),
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn too_many_blocks_are_refused_before_anything_is_written() {
    let folder = scratch();
    let workload = Synthetic { bits: 21, words: 1, density: 5, salt: 1, stop_after: None, publishes: false };
    let ended = Run::new(&workload, real(folder.path())).options(&options()).start().map(drop);
    assert!(matches!(ended, Err(Error::Limit { value: 0x20_0000, limit: 0x10_0000, .. })), "{ended:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Some hash covers every bit of a log entry: a flip anywhere in the file is found before its bytes
/// are used.
#[test]
fn a_damaged_log_is_refused_with_its_file() {
    for placement in [Placement::Dedicated, Placement::Shared] {
        let workload = Synthetic { bits: 3, words: 40, density: 50, salt: 5, stop_after: None, publishes: false };
        let pristine = scratch();
        let options = Options { placement, threads: 1, stop: Arc::default(), ..options() };
        let stopped = Synthetic { stop_after: Some((AtomicU32::new(4), options.stop.clone())), ..workload };
        let first = Run::new(&stopped, unsynced(pristine.path())).options(&options).start();
        let workload = Synthetic { stop_after: None, ..stopped };
        assert!(matches!(first, Err(Error::Interrupted)), "the run was over before it could be stopped");
        let logs: Vec<_> =
            std::fs::read_dir(pristine.path().join("logs")).unwrap().map(|entry| entry.unwrap().path()).collect();
        let log = logs.iter().max_by_key(|log| (log.metadata().unwrap().len(), *log)).expect("logs wait for blocks");
        let good = std::fs::read(log).unwrap();
        let mut refused = 0;
        for byte in (0..good.len()).step_by(31) {
            let mut bad = good.clone();
            bad[byte] ^= 1 << (byte % 8);
            let copy = scratch();
            copy_folder(pristine.path(), copy.path());
            std::fs::write(copy.path().join("logs").join(log.file_name().unwrap()), &bad).unwrap();
            let options = Options { stop: Arc::default(), ..options.clone() };
            match Run::new(&workload, unsynced(copy.path())).options(&options).start() {
                Err(Error::Corrupt { path, .. }) => {
                    assert_eq!(path.file_name(), log.file_name());
                    refused += 1;
                }
                Err(error) => panic!("byte {byte}: {error}"),
                // Gaps between entries hold nothing.
                Ok(_) => assert_published(&workload, copy.path(), "flip in a gap"),
            }
        }
        assert!(refused > 10, "only {refused} flips were refused");
    }
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_workload_whose_order_is_not_topological_is_refused() {
    struct Backwards(Synthetic);
    impl Workload for Backwards {
        pass_on! { self.0 =>
            fn parameters(&self) -> Vec<(String, String)>;
            fn blocks(&self) -> u32;
            fn stream_words(&self) -> usize;
            fn edges_into(&self, target: BlockId) -> Vec<pipeline::Edge>;
            fn edges_from(&self, source: BlockId) -> Vec<pipeline::Edge>;
            fn begin(&self, block: BlockId, bitmap: &mut [u64]);
            fn orient(&self, orientation: u8, restriction: u64, stream: &[u64], oriented: &mut [u64]);
            fn apply(&self, edge: &pipeline::Edge, stream: &[u64], bitmap: &mut [u64]);
            fn finish(&self, block: BlockId, bitmap: &mut [u64]);
            fn summarise(&self, block: BlockId, stream: &[u64]) -> Vec<u8>;
            fn publish(&self, block: BlockId, stream: &[u64]) -> Option<pipeline::Publication>;
            fn owns(&self, name: &str) -> bool;
        }
        fn order(&self) -> Vec<BlockId> {
            let mut order = self.0.order();
            order.reverse();
            order
        }
    }
    let folder = scratch();
    let workload = Backwards(Synthetic { bits: 2, words: 10, density: 5, salt: 1, stop_after: None, publishes: false });
    let result = Run::new(&workload, real(folder.path())).options(&options()).start();
    assert!(matches!(result, Err(Error::Workload { .. })));
}

#[test]
fn a_timeline_has_every_thread_and_all_of_their_time() {
    let workload = Synthetic { bits: 5, words: 3000, density: 5, salt: 9, stop_after: None, publishes: false };
    let folder = scratch();
    let metrics = Metrics::with_timeline();
    Run::new(&workload, unsynced(folder.path())).options(&options()).metrics(&metrics).start().unwrap();
    let recorded = metrics.timeline().unwrap().recorded();
    let mut names: Vec<&str> = recorded.iter().map(|lane| lane.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["committer", "reader 1", "reader 2", "worker 1", "worker 2", "writer"]);
    for stage in Stage::ALL {
        let sum: u64 = recorded.iter().map(|lane| lane.totals()[stage as usize]).sum();
        assert_eq!(sum, metrics.stage(stage).as_nanos() as u64, "{}", stage.name());
    }
    let settled = |lane: &&timeline::LaneRecord| lane.totals()[Stage::Settle as usize] > 0;
    assert!(recorded.iter().filter(settled).all(|lane| lane.name.starts_with("worker")));
    assert!(Metrics::default().timeline().is_none());
}

#[test]
fn a_device_that_seeks_changes_no_byte_and_likes_sorted_writes() {
    let workload = Synthetic { bits: 6, words: 300, density: 20, salt: 11, stop_after: None, publishes: false };
    let folder = scratch();
    let device = Arc::new(SeekStorage::new(unsynced(folder.path()), None));
    let options = Options { threads: 1, ..options() };
    let finished = Run::new(&workload, device.clone()).options(&options).start().unwrap();
    assert_published(&workload, folder.path(), "behind a device that seeks");
    // Written in order of arrival, the extents of a block are in as many files, and almost each
    // costs a seek.
    let extents: usize = finished.records.values().map(|record| record.extents.len()).sum();
    let seeks = device.passed().seeks_to_write_logs;
    assert!(seeks > 0 && 2 * seeks < extents as u64, "{seeks} seeks for {extents} extents");
}
