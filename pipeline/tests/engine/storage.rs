//! The storage seam: both implementations agree, and the real one keeps its promises on a disk.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::folders::{options, parameters, workload};
use pipeline::checkpoint::{BlockRecord, Checkpoint, Commit, inspect};
use pipeline::storage::{Create, EntryKind};
use pipeline::{BlockId, Error, Placement, RealStorage, Run, RunId, Storage, StorageFile, Workload};
use testing::{Fault, SimulatedStorage};

fn both(test: impl Fn(&dyn Storage)) {
    let folder = tempfile::tempdir().unwrap();
    test(&RealStorage::create(folder.path().join("a/b/run")).unwrap());
    test(&SimulatedStorage::new(1));
}

fn read(file: &dyn StorageFile, offset: u64, length: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

#[test]
fn files_are_written_and_read_by_position() {
    both(|storage| {
        let file = storage.create("x", Create::New).unwrap();
        file.write_all_at(b"world", 6).unwrap();
        file.write_all_at(b"hello", 0).unwrap();
        file.sync().unwrap();
        assert_eq!(read(&*file, 0, 11).unwrap(), b"hello\0world");
        assert_eq!(file.length().unwrap(), 11);
        let early = read(&*file, 8, 4).unwrap_err();
        assert!(matches!(early, Error::Corrupt { offset: Some(8), .. }), "{early:?}");
        assert_eq!(storage.length("x").unwrap(), Some(11));
        let again = storage.open("x").unwrap();
        assert_eq!(read(&*again, 0, 5).unwrap(), b"hello");
        storage.open_write("x").unwrap().write_all_at(b"j", 0).unwrap();
        assert_eq!(read(&*again, 0, 5).unwrap(), b"jello");
        assert_eq!(again.path(), storage.path("x"));
        let empty = storage.create("x", Create::Truncate).unwrap();
        assert_eq!(empty.length().unwrap(), 0);
    });
}

#[test]
fn names_are_made_listed_changed_and_removed() {
    both(|storage| {
        storage.create_dir("m").unwrap();
        storage.create_dir("m").unwrap();
        storage.create("m/x", Create::New).unwrap().write_all_at(b"abc", 0).unwrap();
        assert!(storage.create("m/x", Create::New).is_err());
        assert!(storage.create_dir("m/x").is_err(), "a file is no folder");
        storage.rename("m/x", "m/y").unwrap();
        storage.sync_dir("m").unwrap();
        storage.sync_dir("").unwrap();
        let entries = storage.list("m").unwrap();
        assert_eq!(entries.len(), 1);
        assert_eq!((entries[0].name.as_str(), entries[0].kind, entries[0].length), ("y", EntryKind::File, 3));
        let root = storage.list("").unwrap();
        assert_eq!((root[0].name.as_str(), root[0].kind), ("m", EntryKind::Folder));
        storage.remove("m/y").unwrap();
        assert!(storage.remove("m/y").unwrap_err().is_not_found());
        assert!(storage.open("m/y").err().unwrap().is_not_found());
        assert!(storage.list("nowhere").unwrap_err().is_not_found());
        assert_eq!(storage.length("m/y").unwrap(), None);
        assert!(matches!(storage.length("m"), Err(Error::Corrupt { .. })));
        assert!(matches!(storage.open("m"), Err(Error::Corrupt { .. } | Error::Io { .. })));
        assert!(storage.free_bytes().unwrap() > 0);
    });
}

#[test]
fn a_link_is_a_second_name_and_replaces_nothing() {
    both(|storage| {
        for folder in ["m", "n"] {
            storage.create_dir(folder).unwrap();
        }
        storage.create("m/x", Create::New).unwrap().write_all_at(b"abc", 0).unwrap();
        storage.link("m/x", "n/y").unwrap();
        storage.create("m/z", Create::New).unwrap().write_all_at(b"other", 0).unwrap();
        let taken = storage.link("m/z", "n/y").unwrap_err();
        assert!(taken.is_taken() && !taken.is_not_found() && !taken.is_unsupported(), "{taken:?}");
        assert!(storage.link("m/none", "n/new").unwrap_err().is_not_found());
        storage.remove("m/x").unwrap();
        storage.sync_dir("n").unwrap();
        assert_eq!(read(&*storage.open("n/y").unwrap(), 0, 3).unwrap(), b"abc");
        assert!(storage.link("m/z", "../z").is_err());
    });
}

#[test]
fn a_link_that_was_synced_survives_a_power_cut_under_its_new_name() {
    let disk = SimulatedStorage::new(1);
    for folder in ["m", "n"] {
        disk.create_dir(folder).unwrap();
    }
    let file = disk.create("m/x", Create::New).unwrap();
    file.write_all_at(b"abc", 0).unwrap();
    file.sync().unwrap();
    disk.sync_dir("").unwrap();
    disk.link("m/x", "n/y").unwrap();
    disk.remove("m/x").unwrap();
    assert!((0..20).any(|seed| disk.power_cut(seed).contents("n/y").is_none()), "not yet");
    disk.sync_dir("n").unwrap();
    for seed in 0..20 {
        assert_eq!(disk.power_cut(seed).contents("n/y").as_deref(), Some(&b"abc"[..]), "seed {seed}");
    }
}

#[test]
fn a_file_is_idle_since_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let storage = RealStorage::create(folder.path()).unwrap();
    assert_eq!(storage.idle("x").unwrap(), None);
    storage.create("x", Create::New).unwrap();
    assert!(storage.idle("x").unwrap().unwrap() < Duration::from_secs(3600));
    let file = fs::File::options().write(true).open(folder.path().join("x")).unwrap();
    let now = std::time::SystemTime::now();
    file.set_modified(now - Duration::from_secs(7200)).unwrap();
    assert!(storage.idle("x").unwrap().unwrap() >= Duration::from_secs(7200));
    // By the clock of another machine.
    file.set_modified(now + Duration::from_secs(7200)).unwrap();
    assert_eq!(storage.idle("x").unwrap(), Some(Duration::ZERO));
}

#[test]
fn names_outside_the_folder_are_refused() {
    both(|storage| {
        for name in ["../x", "/etc/passwd", "a/../../x", ".hidden"] {
            assert!(storage.create(name, Create::New).is_err(), "{name}");
            assert!(storage.open(name).is_err(), "{name}");
            assert!(storage.create_dir(name).is_err(), "{name}");
        }
    });
}

#[test]
fn a_lock_is_for_one() {
    both(|storage| {
        let guard = storage.lock("LOCK").unwrap();
        assert!(matches!(storage.lock("LOCK"), Err(Error::Locked { .. })));
        drop(guard);
        drop(storage.lock("LOCK").unwrap());
    });
}

/// `trinim status` takes a lock for an instant if it does not see the owner.
#[test]
fn a_look_at_a_lock_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let storage = RealStorage::create(folder.path()).unwrap();
    drop(storage.lock("LOCK").unwrap());
    let is_waited_for = || {
        let look = fs::File::open(folder.path().join("LOCK")).unwrap();
        look.try_lock_shared().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(15));
                drop(look);
            });
            storage.lock("LOCK").is_ok()
        })
    };
    // On a busy machine the thread may run too late.
    assert!((0..20).any(|_| is_waited_for()));
}

/// A failed sync loses its writes for good, and no later call takes effect.
#[test]
fn a_failed_sync_poisons() {
    let storage = SimulatedStorage::new(1).with_fault(1, Fault::LoseSync);
    let file = storage.create("x", Create::New).unwrap();
    storage.sync_dir("").unwrap();
    file.write_all_at(b"abc", 0).unwrap();
    assert!(matches!(file.sync(), Err(Error::Io { operation: "sync", .. })));
    assert!(matches!(file.sync(), Err(Error::Poisoned)));
    assert!(matches!(file.write_all_at(b"d", 3), Err(Error::Poisoned)));
    assert!(matches!(storage.rename("x", "y"), Err(Error::Poisoned)));
    assert!(matches!(storage.sync_dir(""), Err(Error::Poisoned)));
    assert_eq!(read(&*file, 0, 3).unwrap(), b"abc", "visible");
    let next = storage.kill();
    next.open_write("x").unwrap().sync().unwrap();
    let left: BTreeSet<Vec<u8>> = (0..20).map(|seed| next.power_cut(seed).contents("x").unwrap()).collect();
    assert_eq!(left.len(), 1, "the second sync had nothing to do");
}

#[test]
fn power_cuts_differ_and_repeat() {
    let storage = SimulatedStorage::new(1);
    let file = storage.create("x", Create::New).unwrap();
    file.write_all_at(&[1; 2048], 0).unwrap();
    file.sync().unwrap();
    storage.sync_dir("").unwrap();
    file.write_all_at(&[2; 2048], 2048).unwrap();
    storage.create("y", Create::New).unwrap();
    let image = |seed| {
        let disk = storage.power_cut(seed);
        (disk.contents("x").unwrap(), disk.contents("y").is_some())
    };
    let images: BTreeSet<_> = (0..100).map(image).collect();
    assert!(images.len() > 20, "{} images", images.len());
    assert!(images.iter().all(|(bytes, _)| bytes[..2048] == [1; 2048]));
    assert_eq!(image(0), (vec![1; 2048], false));
    assert_eq!(image(7), image(7));
}

fn tree(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names.extend(tree(&path));
        }
        names.push(path.to_string_lossy().into_owned());
    }
    names.sort();
    names
}

#[test]
fn a_run_on_the_real_disk_publishes_what_it_should_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("run");
    let workload = workload();
    for (turn, syncs) in [true, true, false].into_iter().enumerate() {
        let storage = Arc::new(RealStorage::create(&root).unwrap().with_syncs(syncs));
        Run::new(&workload, storage).options(&options(Placement::Dedicated)).start().unwrap();
        for (block, stream) in (0..).map(BlockId).zip(workload.reference()) {
            let file = workload.publish(block, &stream).unwrap();
            assert_eq!(fs::read(root.join("db").join(&file.name)).unwrap(), file.bytes, "{}", file.name);
        }
        let inspection = inspect(&RealStorage::open(&root).unwrap()).unwrap();
        assert_eq!((inspection.generation, inspection.records.len()), (turn as u64 + 1, 16));
        let files = tree(&root).into_iter().filter(|name| Path::new(name).is_file());
        assert_eq!(files.count(), 2 + 4 + 16);
    }
}

#[test]
fn a_second_owner_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let storage = Arc::new(RealStorage::create(folder.path()).unwrap());
        Checkpoint::open(storage, &parameters(), RunId(1), &|_, _| true)
    };
    let first = open().unwrap();
    let before = tree(folder.path());
    // It does not wait: the first one owns the folder all the time.
    assert!(matches!(open(), Err(Error::Locked { .. })));
    assert_eq!(tree(folder.path()), before);
    drop(first);
    open().unwrap();
}

#[test]
fn foreign_folders_and_pipes_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let storage = Arc::new(RealStorage::create(folder.path()).unwrap());
        Checkpoint::open(storage, &parameters(), RunId(1), &|_, _| true).err()
    };
    fs::write(folder.path().join("thesis.tex"), "mine").unwrap();
    assert!(matches!(open(), Some(Error::NotEmpty { .. })));
    assert_eq!(tree(folder.path()).len(), 1);
    fs::remove_file(folder.path().join("thesis.tex")).unwrap();
    // Opening a pipe for reading would wait for a writer for ever.
    let pipe = folder.path().join("FORMAT");
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
    assert!(matches!(open(), Some(Error::Corrupt { .. })));
}

#[test]
fn real_folders_have_to_be_folders() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(RealStorage::open(&file).is_err());
    assert!(RealStorage::create(file.join("below")).is_err());
    let missing = RealStorage::open(folder.path().join("missing")).unwrap_err();
    assert!(missing.is_not_found());
    let empty = RealStorage::open(folder.path()).unwrap();
    assert!(matches!(inspect(&empty), Err(Error::NotARun { .. })));
}

/// A reader beside a running owner sees a prefix of the commits, even while generations change.
#[test]
fn a_reader_beside_an_owner_sees_every_commit_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let storage = || RealStorage::create(root).unwrap().with_syncs(false);
    drop(Checkpoint::open(Arc::new(storage()), &parameters(), RunId(1), &|_, _| true).unwrap());
    let (done, commits) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for generation in 0..20 {
                let opened = Checkpoint::open(Arc::new(storage()), &parameters(), RunId(1), &|_, _| true);
                let mut checkpoint = opened.unwrap().checkpoint;
                for commit in 0..10 {
                    let record = BlockRecord { block: BlockId(generation * 10 + commit), ..BlockRecord::default() };
                    let records = vec![record];
                    checkpoint.commit(Commit { records, ..Commit::default() }).unwrap();
                    commits.fetch_add(1, Ordering::SeqCst);
                }
            }
            done.store(true, Ordering::SeqCst);
        });
        let mut readings = 0;
        while !done.load(Ordering::SeqCst) {
            let before = commits.load(Ordering::SeqCst);
            let records = inspect(&RealStorage::open(root).unwrap()).unwrap().records;
            assert!(records.len() >= before, "{} of {before}", records.len());
            for (index, record) in records.iter().enumerate() {
                assert_eq!(record.block.index(), index);
            }
            readings += 1;
        }
        println!("{readings} readings");
    });
}
