//! A folder of the file system is what it is, whatever its name is later and whatever lies in it.

use crate::folders::options;
use crate::synthetic::Synthetic;
use pipeline::storage::{Create, EntryKind};
use pipeline::{BlockId, Error, Options, Placement, RealStorage, Run, Storage};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What a folder has: names and contents.
fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries
        .filter(|path| path.is_file())
        .map(|path| {
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned(),
            )
        })
        .collect();
    found.sort();
    found
}

/// Regression: each call looked the folder up by its name. A solve whose folder had been
/// renamed wrote its blocks over those of the folder that took the name.
#[test]
fn every_operation_stays_in_its_folder_when_another_takes_the_name() {
    let outer = tempfile::tempdir().unwrap();
    let (named, moved) = (outer.path().join("run"), outer.path().join("moved"));
    let storage = RealStorage::create(&named).unwrap();
    storage.create_dir("db").unwrap();
    storage.create("db/1", Create::New).unwrap().write_all_at(b"ours", 0).unwrap();
    storage.create("db/2", Create::New).unwrap();
    fs::rename(&named, &moved).unwrap();
    fs::create_dir_all(named.join("db")).unwrap();
    for name in ["1", "2", "4"] {
        fs::write(named.join("db").join(name), "others").unwrap();
    }
    let before = files(&named.join("db"));

    let inner = storage.inner("db").unwrap();
    let mut bytes = [0; 4];
    storage.open("db/1").unwrap().read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"ours");
    assert_eq!((storage.length("db/1").unwrap(), storage.length("db/4").unwrap()), (Some(4), None));
    assert_eq!((storage.list("db").unwrap().len(), inner.list("").unwrap().len()), (2, 2));
    assert!(storage.idle("db/1").unwrap().is_some() && storage.idle("db/4").unwrap().is_none());
    storage.announce("db/1", 0, 4);
    storage.free_bytes().unwrap();
    storage.open_write("db/1").unwrap().write_all_at(b"more", 4).unwrap();
    storage.create("db/4", Create::New).unwrap().write_all_at(b"new", 0).unwrap();
    storage.create("db/2", Create::Truncate).unwrap().write_all_at(b"cut", 0).unwrap();
    storage.rename("db/2", "db/3").unwrap();
    storage.link("db/3", "db/5").unwrap();
    storage.remove("db/3").unwrap();
    storage.create_dir("m").unwrap();
    storage.sync_dir("db").unwrap();
    let lock = (storage.lock("LOCK").unwrap(), storage.lock("").unwrap());
    assert!(matches!(RealStorage::open(&moved).unwrap().lock("LOCK"), Err(Error::Locked { .. })));
    RealStorage::open(&named).unwrap().lock("").unwrap();
    drop(lock);
    assert_eq!(inner.outer().unwrap().length("LOCK").unwrap(), Some(0));

    assert_eq!(files(&named.join("db")), before);
    assert!(!named.join("m").exists() && !named.join("LOCK").exists());
    let ours = [("1", "oursmore"), ("4", "new"), ("5", "cut")];
    assert_eq!(files(&moved.join("db")), ours.map(|(name, text)| (name.to_owned(), text.to_owned())));
    // Messages keep the name that the caller gave.
    assert!(matches!(storage.open("db/9"), Err(Error::Io { path, .. }) if path == named.join("db/9")));
}

/// The name is another thing's, or nobody's: what is asked of the folder is answered by the folder.
#[test]
fn a_folder_needs_no_name() {
    let outer = tempfile::tempdir().unwrap();
    let named = outer.path().join("run");
    let storage = RealStorage::create(&named).unwrap();
    storage.create_dir("db").unwrap();
    fs::rename(&named, outer.path().join("moved")).unwrap();
    std::os::unix::fs::symlink("/proc", &named).unwrap();
    assert!(storage.free_bytes().unwrap() < u64::MAX && storage.has("db") && !storage.has("self"));
    storage.sync_dir("db").unwrap();
    storage.lock("").unwrap();
    assert!(storage.inner("db").unwrap().outer().unwrap().has("db"));
}

/// A lock belongs to a file, not to its name: who waits for the lock of a file that is replaced
/// meanwhile has no lock of the folder.
#[test]
fn the_lock_of_a_replaced_file_is_none() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let storage = RealStorage::open(folder.path()).unwrap();
        let held = storage.lock("LOCK").unwrap();
        let path = folder.path().join("LOCK");
        let is_lock = |entry: &fs::DirEntry| fs::read_link(entry.path()).is_ok_and(|to| to == path);
        let count = || fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok).filter(is_lock).count();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| storage.lock("LOCK").map(drop));
            while count() < 2 && !waiting.is_finished() {
                std::thread::yield_now();
            }
            fs::rename(&path, folder.path().join("old")).unwrap();
            let _newer = storage.lock("LOCK").unwrap();
            drop(held);
            let ended = waiting.join().unwrap();
            assert!(matches!(ended, Err(Error::Locked { .. })), "{ended:?}");
        });
    }
}

/// A link that leads nowhere, or round in a circle, must not hide the files beside it.
#[test]
fn a_folder_is_listed_whatever_lies_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let storage = RealStorage::open(folder.path()).unwrap();
    fs::write(folder.path().join("file"), "12345").unwrap();
    fs::write(folder.path().join(OsStr::from_bytes(b"\xff\n")), "").unwrap();
    for (name, target) in [("circle", "circle"), ("dangling", "nothing"), ("through", "file/x"), ("link", "file")] {
        std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
    }
    mknodat(CWD, folder.path().join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let mut found = storage.list("").unwrap();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    let kinds: Vec<_> = found.iter().map(|entry| (&*entry.name, entry.kind, entry.length)).collect();
    let other = |name| (name, EntryKind::Other, 0);
    let file = |name, length| (name, EntryKind::File, length);
    let expected = [other("circle"), other("dangling"), file("file", 5), file("link", 5), other("pipe")];
    assert_eq!(kinds, [&expected[..], &[other("through"), file("\u{fffd}\n", 0)]].concat());
}

/// The folder of a run is renamed at any moment of it, and another takes its name.
#[test]
fn a_run_goes_on_whenever_its_folder_is_renamed() {
    let workload = Synthetic { bits: 5, words: 100, density: 50, salt: 2, stop_after: None, publishes: false };
    let reference = workload.reference();
    let mut during = 0;
    for number in 0..60_u64 {
        let placement = if number % 2 == 0 { Placement::Dedicated } else { Placement::Shared };
        let options = Options { commit_interval: Duration::from_micros(500), ..options(placement) };
        let outer = tempfile::tempdir().unwrap();
        let (named, moved) = (outer.path().join("run"), outer.path().join("moved"));
        let storage = Arc::new(RealStorage::create(&named).unwrap().with_syncs(false));
        std::thread::scope(|scope| {
            let run = scope.spawn(|| Run::new(&workload, storage.clone()).options(&options).start());
            std::thread::sleep(Duration::from_micros(number * 100));
            during += u32::from(!run.is_finished());
            fs::rename(&named, &moved).unwrap();
            for folder in ["m", "logs", "db"] {
                fs::create_dir_all(named.join(folder)).unwrap();
            }
            fs::write(named.join("db/0000.blk"), "others").unwrap();
            let finished = run.join().unwrap().unwrap();
            for (block, stream) in reference.iter().enumerate() {
                assert_eq!(&finished.stream(BlockId(block as u32)).unwrap(), stream, "{number}: block {block}");
            }
        });
        assert_eq!(files(&named.join("db")), [("0000.blk".to_owned(), "others".to_owned())], "{number}");
        assert!(files(&named).is_empty() && files(&named.join("m")).is_empty(), "{number}");
        assert_eq!(files(&moved).len(), 2, "{number}: FORMAT and LOCK");
    }
    assert!(during > 5, "{during} of 60 runs were renamed before their end");
}
