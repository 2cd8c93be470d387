//! What a check counts and reports at each depth.

use crate::folders::{PLACEMENTS, finished, options, stopped_after, workload};
use crate::mend::{file_of, flip, look};
use crate::synthetic::{Careless, Synthetic};
use pipeline::checkpoint::{BlockRecord, Checkpoint, Commit, Parameters, inspect};
use pipeline::codec::{Codec, DecodeError, FRAME_WORDS, Raw, Scratch};
use pipeline::maintenance::check::{CheckRequest, Depth, check};
use pipeline::{
    BlockId, Damage, Error, Expected, Finding, Options, Placement, Run, RunId, Severity, Storage, Workload,
};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};
use testing::{Fault, SimulatedStorage};

/// Returns the published files and the needed logs, each with the bytes of it that count.
fn named(disk: &SimulatedStorage) -> Vec<(String, u64)> {
    let inspection = inspect(disk).unwrap();
    let done = inspection.finished();
    let mut all = Vec::new();
    for record in &inspection.records {
        all.extend(record.published.iter().map(|file| (file.name.clone(), file.length)));
        for extent in &record.extents {
            let waits = |target: BlockId| !done.contains(&target);
            let is_needed = match extent.file.placement {
                Placement::Dedicated => waits(extent.file.bucket),
                Placement::Shared => workload().edges_from(record.block).iter().any(|edge| waits(edge.target)),
            };
            all.extend(is_needed.then(|| (extent.file.name(), extent.length)));
        }
    }
    all
}

/// Also if a second look reads the damaged file alone.
#[test]
fn a_check_counts_all_files_and_bytes_once() {
    for placement in PLACEMENTS {
        for pristine in [stopped_after(9, placement), finished(placement)] {
            let named = named(&pristine);
            let files = named.iter().map(|(name, _)| name).collect::<BTreeSet<_>>().len() as u64;
            let bytes = named.iter().map(|(_, bytes)| bytes).sum::<u64>();
            let damaged = pristine.kill();
            let name = file_of(&damaged, BlockId(0));
            flip(&damaged, &name);
            let length = damaged.contents(&name).unwrap().len() as u64;
            for (disk, is_sound) in [(pristine, true), (damaged, false)] {
                let reported = Mutex::new(Vec::new());
                let progress = |done, all| reported.lock().unwrap().push((done, all));
                let request = CheckRequest { progress: &progress, ..CheckRequest::new(Depth::Sums) };
                let report = check(&workload(), &disk, &request).unwrap();
                assert_eq!((report.is_sound(), report.files, report.bytes), (is_sound, files, bytes), "{placement:?}");
                // The look at everything, and the one at what it found: the damaged file alone.
                let mut first = reported.into_inner().unwrap();
                let second = first.split_off(named.len());
                assert_eq!(second, if is_sound { vec![] } else { vec![(length, length)] }, "{placement:?}");
                assert!(first.is_sorted() && first.iter().all(|(_, all)| *all == bytes), "{first:?}");
                assert_eq!(first.last(), Some(&(bytes, bytes)));
            }
        }
    }
}

/// No byte of the files is read for it.
#[test]
fn a_check_of_the_metadata_finds_missing_files_and_wrong_lengths() {
    for placement in PLACEMENTS {
        let pristine = stopped_after(9, placement);
        let names: BTreeSet<String> = named(&pristine).into_iter().map(|(name, _)| name).collect();
        assert!(names.iter().any(|name| name.starts_with("logs/")));
        for name in names {
            let whole = pristine.contents(&name).unwrap();
            let length = whole.len() as u64;
            let (shorter, longer) = (&whole[..whole.len() - 1], [&whole[..], &[0]].concat());
            // Behind its last entry a log may have anything.
            let is_log = name.starts_with("logs/");
            let expected = if is_log { Expected::AtLeast(length) } else { Expected::Exactly(length) };
            let wrong = |bytes: &[u8]| Damage::Length { expected, found: bytes.len() as u64 };
            for (bytes, damage) in [
                (None, Some(Damage::MISSING)),
                (Some(shorter), Some(wrong(shorter))),
                (Some(&longer), (!is_log).then(|| wrong(&longer))),
            ] {
                let disk = pristine.kill();
                bytes.map_or_else(|| disk.take(&name), |bytes| disk.put(&name, bytes));
                let report = look(&workload(), &disk, Depth::Metadata).unwrap();
                let expected =
                    Vec::from_iter(damage.map(|damage| Finding::new(Severity::Damage, disk.path(&name), damage)));
                assert_eq!(report.findings, expected, "{placement:?}, {name}");
                assert_eq!(report.bytes, 0);
            }
        }
    }
}

/// A folder that cannot be listed is not the same as one without files.
#[test]
fn a_folder_that_cannot_be_listed_ends_the_check() {
    let pristine = finished(Placement::Shared);
    let mut unlisted = BTreeSet::new();
    for step in 1.. {
        let disk = pristine.kill().with_fault(step, Fault::FailOnce);
        match look(&workload(), &disk, Depth::Metadata) {
            Err(Error::Io { operation: "list", path, .. }) => _ = unlisted.insert(path),
            _ if disk.steps() < step => break,
            _ => {}
        }
    }
    for folder in ["db", "logs"] {
        assert!(unlisted.contains(std::path::Path::new(folder)), "{folder} is not in {unlisted:?}");
    }
}

/// The hash of a file says that nothing changed, not that the workload can read it.
#[test]
fn only_a_full_check_decodes_published_files() {
    let careless = Careless { published_bytes: Some(1000), ..Careless::new(workload()) };
    let disk = SimulatedStorage::new(3);
    Run::new(&careless, Arc::new(disk.clone())).options(&options(Placement::Dedicated)).start().unwrap();
    assert_eq!(look(&careless, &disk, Depth::Sums).unwrap().findings, []);
    let report = look(&careless, &disk, Depth::Full).unwrap();
    assert_eq!(report.damaged_blocks, BlockId::all(careless.blocks()).collect());
    assert!(report.findings.iter().all(|finding| finding.severity == Severity::Damage));
}

/// Encodes a word less than there is of the last frame, under the tag of the bitmap itself.
struct Short;

impl Codec for Short {
    fn tag(&self) -> u8 {
        Raw.tag()
    }
    fn name(&self) -> &'static str {
        "short"
    }
    fn encode(&self, words: &[u64], out: &mut Vec<u8>, scratch: &mut Scratch) {
        Raw.encode(&words[usize::from(words.len() < 4 * FRAME_WORDS)..], out, scratch);
    }
    fn decode(&self, stored: &[u8], words: &mut [u64], scratch: &mut Scratch) -> Result<(), DecodeError> {
        Raw.decode(stored, words, scratch)
    }
}

/// The journal of a run never has a block without its sources; a solve would wait for what is over.
#[test]
fn a_finished_block_without_its_source_is_a_contradiction() {
    let workload = workload();
    let disk = SimulatedStorage::new(3);
    let parameters = Parameters(workload.parameters());
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let mut opening = Checkpoint::open(storage.clone(), &parameters, RunId(7), &|_, _| true).unwrap();
    let record = BlockRecord { block: BlockId(3), ..BlockRecord::default() };
    opening.checkpoint.commit(Commit { records: vec![record], ..Commit::default() }).unwrap();
    drop(opening);
    let story = "block 3 is finished, but its source 0 is not";
    for depth in [Depth::Metadata, Depth::Sums, Depth::Full] {
        let findings = look(&workload, &disk, depth).unwrap().findings;
        assert!(findings.iter().any(|one| one.severity.is_damage() && one.to_string().contains(story)), "{findings:?}");
    }
    let ended = Run::new(&workload, storage).options(&options(Placement::Shared)).start().map(drop);
    assert!(matches!(&ended, Err(Error::Workload { what }) if what.contains(story)), "{ended:?}");
}

/// The header of an entry claims a length. A check compares it with the length of the streams.
#[test]
fn an_entry_of_another_length_is_damage() {
    for placement in PLACEMENTS {
        let disk = stopped_after(9, placement);
        let other = Synthetic { words: workload().words / 2, ..workload() };
        for depth in [Depth::Sums, Depth::Full] {
            let report = look(&other, &disk, depth).unwrap();
            assert!(!report.damaged_extents.is_empty(), "{placement:?}");
            let are_named = report.findings.iter().filter(|one| one.to_string().contains("as long as the streams"));
            assert!(are_named.count() > 0, "{:?}", report.findings);
        }
    }
}

/// The same for a log, whose hashes all agree.
#[test]
fn only_a_full_check_decodes_logs() {
    for placement in PLACEMENTS {
        let options = Options { threads: 1, codec: &Short, ..options(placement) };
        let stopping = Synthetic { stop_after: Some((AtomicU32::new(1), options.stop.clone())), ..workload() };
        let disk = SimulatedStorage::new(3);
        let ended = Run::new(&stopping, Arc::new(disk.clone())).options(&options).start().map(drop);
        assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
        assert_eq!(look(&workload(), &disk, Depth::Sums).unwrap().findings, []);
        let report = look(&workload(), &disk, Depth::Full).unwrap();
        let extents: BTreeSet<_> = inspect(&disk).unwrap().records.into_iter().flat_map(|one| one.extents).collect();
        assert!(!extents.is_empty() && report.damaged_extents == extents, "{placement:?}");
        let are_named = report.findings.iter().all(|one| one.to_string().contains("a frame does not decode"));
        assert!(are_named && report.findings.len() == extents.len(), "{:?}", report.findings);
    }
}
