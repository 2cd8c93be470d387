//! Logs whose entries have many frames: so do those of the folders where frames are small, as in
//! `tools/small`, and there streams are long, so that their frames are long ones.

use crate::folders::{PLACEMENTS, options, stopped_after, workload};
use crate::mend::{flip, look, mend};
use crate::synthetic::Synthetic;
use pipeline::checkpoint::inspect;
use pipeline::codec::{FRAME_WORDS, Raw};
use pipeline::maintenance::check::Depth;
use pipeline::{BlockId, Extent, Options, Run, Storage, Thresholds};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use testing::SimulatedStorage;

/// The entries of logs that are still there.
fn extents(disk: &SimulatedStorage) -> Vec<Extent> {
    let records = inspect(disk).unwrap().records;
    let there = |extent: &Extent| disk.contents(&extent.file.name()).is_some();
    records.into_iter().flat_map(|record| record.extents).filter(there).collect()
}

/// Everything that can be computed again is lost, and comes back.
#[test]
fn logs_of_many_frames_come_back() {
    for placement in PLACEMENTS {
        let disk = stopped_after(9, placement);
        let lost = disk.names().into_iter().filter(|name| name.starts_with("db/") || name.starts_with("logs/"));
        lost.for_each(|name| flip(&disk, &name));
        let storage: Arc<dyn Storage> = Arc::new(disk.clone());
        assert!(!mend(&workload(), &storage, &Thresholds::LARGEST).unwrap().entries.is_empty());
        assert_eq!(look(&workload(), &disk, Depth::Full).unwrap().findings, [], "{placement:?}");
        let finished = workload();
        let finished = Run::new(&finished, storage).options(&options(placement)).start().unwrap();
        for (block, stream) in (0..).map(BlockId).zip(workload().reference()) {
            assert!(finished.stream(block).unwrap() == stream, "{placement:?}: block {block}");
        }
    }
}

/// A flipped byte is found wherever it is in an entry.
#[test]
fn every_frame_of_an_entry_is_checked() {
    for placement in PLACEMENTS {
        let pristine = stopped_after(9, placement);
        for extent in extents(&pristine).into_iter().take(3) {
            let bytes = pristine.contents(&extent.file.name()).unwrap();
            for place in (0..extent.length).step_by(61) {
                let (disk, mut bad) = (pristine.kill(), bytes.clone());
                bad[(extent.offset + place) as usize] ^= 16;
                disk.put(&extent.file.name(), &bad);
                let report = look(&workload(), &disk, Depth::Sums).unwrap();
                assert!(report.damaged_extents.contains(&extent), "{placement:?}: byte {place} of {extent:?}");
            }
        }
    }
}

/// The last frame of an entry is that of another stream, with right hashes and at its place: only
/// the hash of the whole entry tells.
#[test]
fn an_entry_has_the_frames_that_it_was_written_with() {
    let words = workload().words;
    let last_words = if words > FRAME_WORDS { words % (4 * FRAME_WORDS) } else { words };
    for placement in PLACEMENTS {
        let [disk, other] = [50, 5].map(|density| {
            let disk = SimulatedStorage::new(1);
            let options = Options { codec: &Raw, threads: 1, ..options(placement) };
            let stop_after = Some((AtomicU32::new(5), options.stop.clone()));
            let workload = Synthetic { density, stop_after, ..workload() };
            assert!(Run::new(&workload, Arc::new(disk.clone())).options(&options).start().is_err());
            disk
        });
        let same = |one: &&Extent| {
            extents(&other)
                .iter()
                .any(|other| (one.file, one.offset, one.length) == (other.file, other.offset, other.length))
        };
        let found = extents(&disk);
        let extent = found.iter().find(same).expect("streams of the same length");
        let name = extent.file.name();
        let [mut bytes, theirs] = [&disk, &other].map(|disk| disk.contents(&name).unwrap());
        let frame = (extent.end() as usize - 40 - 8 * last_words)..extent.end() as usize;
        assert_ne!(bytes[frame.clone()], theirs[frame.clone()]);
        bytes[frame.clone()].copy_from_slice(&theirs[frame]);
        disk.put(&name, &bytes);
        let report = look(&workload(), &disk, Depth::Sums).unwrap();
        assert!(report.damaged_extents.contains(extent), "{placement:?}: {:?}", report.findings);
    }
}
