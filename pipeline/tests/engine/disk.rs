//! The simulated disk can do everything that the engine must survive. A model that loses nothing
//! proves nothing.

use pipeline::storage::Create;
use pipeline::{Error, Storage};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use testing::{Fault, SECTOR_BYTES, SimulatedStorage};

const SECTORS: usize = 8;
const BYTES: usize = SECTORS * SECTOR_BYTES;

/// Builds a disk with a synced file `x` full of ones and a synced file `y` full of nines.
fn disk() -> SimulatedStorage {
    let disk = SimulatedStorage::new(1);
    disk.put("x", &[1; BYTES]);
    disk.put("y", &[9; BYTES]);
    disk
}

fn write(disk: &dyn Storage, name: &str, bytes: &[u8], offset: usize) {
    disk.open_write(name).unwrap().write_all_at(bytes, offset as u64).unwrap();
}

fn read(disk: &dyn Storage, name: &str, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    disk.open(name).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

fn cuts(disk: &SimulatedStorage, seeds: u64) -> impl Iterator<Item = SimulatedStorage> {
    (0..seeds).map(|seed| disk.power_cut(seed))
}

#[test]
fn writes_that_are_not_synced_are_lost_kept_and_reordered() {
    let disk = disk();
    write(&disk, "x", &[2; SECTOR_BYTES], 0);
    write(&disk, "x", &[3; SECTOR_BYTES], 4 * SECTOR_BYTES);
    let seen: BTreeSet<(u8, u8)> = cuts(&disk, 200)
        .map(|disk| disk.contents("x").unwrap())
        .filter(|bytes| {
            [0, 4].iter().all(|at| {
                bytes[at * SECTOR_BYTES..][..SECTOR_BYTES].iter().all(|byte| *byte == bytes[at * SECTOR_BYTES])
            })
        })
        .map(|bytes| (bytes[0], bytes[4 * SECTOR_BYTES]))
        .collect();
    // Also the later write without the earlier one.
    assert!([(1, 1), (2, 1), (1, 3), (2, 3)].iter().all(|pair| seen.contains(pair)), "{seen:?}");
    // The handles that wrote are closed; the sync of a later process covers their writes.
    let disk = disk.kill();
    disk.open_write("x").unwrap().sync().unwrap();
    let mut safe = vec![1; BYTES];
    safe[..SECTOR_BYTES].fill(2);
    safe[4 * SECTOR_BYTES..5 * SECTOR_BYTES].fill(3);
    assert!(cuts(&disk, 50).all(|disk| disk.contents("x").unwrap() == safe), "a synced write was touched");
}

#[test]
fn a_write_is_torn_between_and_within_sectors_and_never_beyond() {
    let disk = disk();
    // Half of a sector, three whole ones, half of another.
    let (start, end) = (SECTOR_BYTES + 256, 5 * SECTOR_BYTES + 256);
    write(&disk, "x", &vec![2; end - start], start);
    let (mut between, mut within) = (0, 0);
    for disk in cuts(&disk, 400) {
        let bytes = disk.contents("x").unwrap();
        assert!(bytes[..SECTOR_BYTES].iter().chain(&bytes[6 * SECTOR_BYTES..]).all(|byte| *byte == 1), "other sectors");
        let middle = &bytes[2 * SECTOR_BYTES..5 * SECTOR_BYTES];
        between += u32::from(middle.contains(&1) && middle.contains(&2));
        // Unwritten neighbours in the same sector.
        within += u32::from(bytes[SECTOR_BYTES..start].iter().any(|byte| *byte != 1));
    }
    assert!(between > 20 && within > 20, "{between} {within}");
}

#[test]
fn a_file_can_have_its_new_length_without_its_bytes() {
    let disk = disk();
    write(&disk, "x", &[2; SECTOR_BYTES], BYTES);
    let seen: BTreeSet<Vec<u8>> = cuts(&disk, 100).map(|disk| disk.contents("x").unwrap()).collect();
    let longer = |last: u8| [&[1; BYTES][..], &[last; SECTOR_BYTES]].concat();
    assert!([vec![1; BYTES], longer(0), longer(2)].iter().all(|bytes| seen.contains(bytes)));
}

#[test]
fn names_are_lost_as_a_prefix_and_as_any_subset_and_renames_in_two() {
    let disk = disk();
    for name in ["a", "b", "c"] {
        disk.create(name, Create::New).unwrap().sync().unwrap();
    }
    disk.rename("x", "z").unwrap();
    disk.remove("y").unwrap();
    let seen: BTreeSet<String> = cuts(&disk, 600).map(|disk| disk.names().concat()).collect();
    for names in ["xy", "abcz", "axy", "abcxy", "bcz", "abcxz", "abcyz", "cxy"] {
        assert!(seen.contains(names), "{names} is not among {seen:?}");
    }
    disk.sync_dir("").unwrap();
    assert!(cuts(&disk, 50).all(|disk| disk.names().concat() == "abcz"), "a synced name was touched");
}

#[test]
fn a_file_in_a_folder_that_is_lost_is_lost() {
    let disk = disk();
    disk.create_dir("m").unwrap();
    let file = disk.create("m/x", Create::New).unwrap();
    file.sync().unwrap();
    disk.sync_dir("m").unwrap();
    let seen: BTreeSet<bool> = cuts(&disk, 50).map(|disk| disk.contents("m/x").is_some()).collect();
    assert_eq!(seen.len(), 2);
    disk.sync_dir("").unwrap();
    assert!(cuts(&disk, 50).all(|disk| disk.contents("m/x").is_some()));
}

#[test]
fn a_failed_sync_marks_clean_what_a_forgiving_disk_then_loses() {
    let mut lost = 0;
    for seed in 0..20 {
        let disk = SimulatedStorage::new(seed).with_fault(4, Fault::LoseSync).forgiving();
        let file = disk.create("x", Create::New).unwrap();
        disk.sync_dir("").unwrap();
        file.write_all_at(&[1; 100], 0).unwrap();
        assert!(matches!(file.sync(), Err(Error::Io { operation: "sync", .. })));
        file.sync().expect("the second sync says that all is well");
        assert_eq!(read(&disk, "x", 100), [1; 100], "and the cache agrees");
        let after = disk.power_cut(1).contents("x").unwrap();
        lost += u32::from(after != [1; 100]);
    }
    assert!(lost > 5, "{lost}");
}

#[test]
fn errors_come_once_or_for_ever_and_a_full_disk_takes_no_more() {
    let once = disk().with_fault(2, Fault::FailOnce);
    let file = once.open_write("x").unwrap();
    assert!(file.write_all_at(&[2; 10], 0).is_err());
    assert!(file.write_all_at(&[2; 10], 0).is_ok());
    let forever = disk().with_fault(2, Fault::FailForever);
    let file = forever.open_write("x").unwrap();
    for _ in 0..3 {
        assert!(file.write_all_at(&[2; 10], 0).is_err());
    }
    let full = disk().with_fault(2, Fault::Full);
    let file = full.open_write("x").unwrap();
    let error = file.write_all_at(&[2; 10], BYTES as u64).unwrap_err();
    assert!(error.is_full_disk(), "{error:?}");
    assert!(full.create("z", Create::New).is_err());
    assert!(file.write_all_at(&[2; 10], 0).is_ok(), "what is there can be overwritten");
    assert!(full.kill().create("z", Create::New).is_ok(), "somebody made room");
}

#[test]
fn a_sync_that_lies_makes_nothing_safe() {
    let disk = disk().with_fault(1, Fault::LieSync);
    let file = disk.open_write("x").unwrap();
    file.write_all_at(&[2; BYTES], 0).unwrap();
    file.sync().unwrap();
    assert_eq!(disk.power_cut(1).contents("x").unwrap(), [1; BYTES], "even if all that is pending is kept");
    file.write_all_at(&[3; SECTOR_BYTES], 0).unwrap();
    file.sync().unwrap();
    let after = disk.power_cut(1).contents("x").unwrap();
    assert!(after[..SECTOR_BYTES] == [3; SECTOR_BYTES] && after[SECTOR_BYTES..] == [1; BYTES - SECTOR_BYTES]);
}

/// Reads all of `x` on many disks under `fault`, after its middle was overwritten without a sync;
/// returns the differing sectors and their bytes.
fn misreads(fault: Fault) -> (BTreeSet<usize>, BTreeSet<u8>) {
    let (mut sectors, mut bytes) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..200 {
        let disk = SimulatedStorage::new(seed);
        disk.put("x", &[1; BYTES]);
        disk.put("y", &[9; BYTES]);
        write(&disk, "x", &[2; BYTES], 0);
        let disk = disk.with_fault(1, fault);
        let found = read(&disk, "x", BYTES);
        let wrong = found.iter().enumerate().filter(|(_, byte)| **byte != 2);
        let wrong: Vec<(usize, u8)> = wrong.map(|(at, byte)| (at / SECTOR_BYTES, *byte)).collect();
        let here: BTreeSet<usize> = wrong.iter().map(|(sector, _)| *sector).collect();
        assert!(here.len() <= 1, "{fault:?}: more than a sector");
        sectors.extend(here);
        bytes.extend(wrong.iter().map(|(_, byte)| *byte));
        assert_eq!(read(&disk, "x", BYTES), [2; BYTES], "{fault:?} is for one read");
    }
    (sectors, bytes)
}

#[test]
fn a_read_is_flipped_misdirected_or_stale() {
    let all: BTreeSet<usize> = (0..SECTORS).collect();
    let (sectors, bytes) = misreads(Fault::FlipRead);
    assert!(sectors == all && bytes.len() == 8 && bytes.iter().all(|byte| (byte ^ 2).is_power_of_two()), "{bytes:?}");
    assert_eq!(misreads(Fault::MisdirectRead), (all.clone(), [9].into()));
    assert_eq!(misreads(Fault::StaleRead), (all, [1].into()));
}

#[test]
fn a_write_is_lost_or_goes_astray_and_bits_rot() {
    let (mut places, mut rotten) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..300 {
        let fresh = || {
            let disk = SimulatedStorage::new(seed);
            disk.put("x", &[1; BYTES]);
            disk.put("y", &[9; BYTES]);
            disk
        };
        let lost = fresh().with_fault(1, Fault::LoseWrite);
        write(&lost, "x", &[2; 100], BYTES);
        assert_eq!(lost.contents("x").unwrap(), [&[1; BYTES][..], &[0; 100]].concat());
        let astray = fresh().with_fault(1, Fault::MisdirectWrite);
        write(&astray, "x", &[2; SECTOR_BYTES], 3 * SECTOR_BYTES);
        for name in ["x", "y"] {
            let bytes = astray.contents(name).unwrap();
            places.extend(bytes.iter().position(|byte| *byte == 2).map(|at| (name, at / SECTOR_BYTES)));
        }
        let rot = fresh().with_fault(1, Fault::Rot);
        rot.sync_dir("").unwrap();
        let image = rot.power_cut(0);
        for name in ["x", "y"] {
            assert_eq!(image.contents(name), rot.contents(name), "rot is on the disk");
            let whole = fresh().contents(name).unwrap();
            let flips =
                image.contents(name).unwrap().iter().zip(&whole).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
            assert!(flips <= 1);
            rotten.extend((flips == 1).then_some(name));
        }
    }
    assert_eq!((places.len(), rotten.len()), (2 * SECTORS, 2));
}

#[test]
fn a_witness_sees_every_change_before_it_happens_and_its_copies_stay() {
    let copies: Arc<Mutex<Vec<SimulatedStorage>>> = Arc::default();
    let keep = Arc::clone(&copies);
    let disk = disk().with_witness(Arc::new(move |moment| {
        let mut keep = keep.lock().unwrap();
        keep.extend(moment.kill_within(128));
        keep.push(moment.kill());
    }));
    let file = disk.open_write("x").unwrap();
    file.write_all_at(&[2; 100], 0).unwrap();
    file.write_all_at(&[3; 100], 0).unwrap();
    file.sync().unwrap();
    let copies = copies.lock().unwrap();
    let firsts: Vec<(u8, u8)> =
        copies.iter().map(|disk| disk.contents("x").unwrap()).map(|bytes| (bytes[0], bytes[99])).collect();
    assert_eq!(firsts, [(2, 1), (1, 1), (3, 2), (2, 2), (3, 3)]);
    let digests: BTreeSet<u128> = copies.iter().map(SimulatedStorage::digest).collect();
    assert_eq!(digests.len(), 5, "different disks have different hashes");
}

#[test]
fn the_digest_tells_what_is_safe_from_what_is_visible() {
    let (one, other) = (disk(), disk());
    assert_eq!(one.digest(), other.digest());
    let file = one.open_write("x").unwrap();
    file.write_all_at(&[2; 10], 0).unwrap();
    write(&other, "x", &[2; 10], 0);
    assert_eq!(one.digest(), other.digest());
    file.sync().unwrap();
    assert_eq!(one.contents("x"), other.contents("x"));
    assert_ne!(one.digest(), other.digest());
    assert_eq!(one.power_cut(1).digest(), other.power_cut(1).digest());
    assert_ne!(one.power_cut(0).digest(), other.power_cut(0).digest());
}

/// POSIX promises a sync for what was written through the same handle. A file that is closed before
/// it is synced and opened again is not safe.
#[test]
fn a_sync_covers_the_writes_of_its_own_handle() {
    let disk = disk();
    write(&disk, "x", &[2; SECTOR_BYTES], 0);
    let file = disk.open_write("x").unwrap();
    file.write_all_at(&[3; SECTOR_BYTES], SECTOR_BYTES as u64).unwrap();
    file.sync().unwrap();
    let firsts = |disk: &SimulatedStorage| -> BTreeSet<(u8, u8)> {
        cuts(disk, 50).map(|disk| disk.contents("x").unwrap()).map(|bytes| (bytes[0], bytes[SECTOR_BYTES])).collect()
    };
    assert!(firsts(&disk).iter().all(|(_, second)| *second == 3));
    assert!(firsts(&disk).contains(&(1, 3)) && firsts(&disk).contains(&(2, 3)));
    assert_eq!(disk.contents("x").unwrap()[0], 2, "a running program sees every write");
}

#[test]
fn a_process_has_no_more_files_open_than_it_may() {
    let disk = disk().with_handles_at_most(2);
    let is_refused = |error: Option<Error>| assert!(error.is_some_and(|error| error.is_too_many_files()));
    let lock = disk.lock("LOCK").unwrap();
    let file = disk.open("x").unwrap();
    let names = disk.names();
    is_refused(disk.open("x").err());
    is_refused(disk.open_write("x").err());
    is_refused(disk.create("y", Create::Truncate).err());
    is_refused(disk.list("").err());
    is_refused(disk.sync_dir("").err());
    is_refused(disk.lock("other").err());
    assert_eq!(disk.names(), names);
    drop(file);
    disk.sync_dir("").unwrap();
    drop(lock);
    let _both = [disk.open("x").unwrap(), disk.open("x").unwrap()];
    is_refused(disk.open("x").err());
    assert!((0..9).map(|_| disk.kill().open("x")).all(|file| file.is_ok()), "the limit is the process's");
}
