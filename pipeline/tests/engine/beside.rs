//! Readers beside an owner, step by step: while they look, the disk moves on from one call of the
//! owner to the next, at every pace and from every state. Sound data is never called damaged.

use crate::folders::options;
use crate::synthetic::Synthetic;
use pipeline::checkpoint::{LockedRun, inspect};
use pipeline::maintenance::check::{CheckRequest, Depth, Report, check};
use pipeline::maintenance::repair::{Plan, carry_out};
use pipeline::storage::{Create, Entry, LockGuard};
use pipeline::{Error, Options, Placement, Run, Storage, StorageFile, Thresholds};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testing::{SimulatedStorage, Witness};

fn workload() -> Synthetic {
    Synthetic { bits: 4, words: 24, density: 50, salt: 11, stop_after: None, publishes: false }
}

/// The states of a disk, one after the other.
type States = Arc<Vec<SimulatedStorage>>;

/// Records the disk before each call of `work` that changes something, writes also half-way.
fn recorded(start: &SimulatedStorage, work: impl FnOnce(Arc<dyn Storage>)) -> Vec<SimulatedStorage> {
    let states = Arc::new(Mutex::new(Vec::new()));
    let seen = states.clone();
    let witness: Witness = Arc::new(move |moment| {
        let mut states = seen.lock().unwrap();
        states.push(moment.kill());
        states.extend(moment.kill_within(128));
    });
    let disk = start.kill().with_witness(witness);
    work(Arc::new(disk.clone()));
    let mut states = std::mem::take(&mut *states.lock().unwrap());
    states.push(disk.kill());
    states
}

/// Three sessions: two that are stopped and one that finishes.
fn sessions(placement: Placement) -> Vec<SimulatedStorage> {
    let mut states = vec![SimulatedStorage::new(3)];
    for part in [Some(3), Some(2), None] {
        let options = Options { threads: 1, commit_interval: Duration::ZERO, ..options(placement) };
        let stop_after = part.map(|blocks| (AtomicU32::new(blocks), options.stop.clone()));
        let workload = Synthetic { stop_after, ..workload() };
        let session = recorded(states.last().unwrap(), |storage| {
            let ended = Run::new(&workload, storage).options(&options).start();
            assert_eq!(ended.is_ok(), part.is_none(), "{:?}", ended.err());
        });
        states.extend(session);
    }
    states
}

/// A disk that moves on by `stride` states after each call of a reader.
struct Moving {
    states: States,
    at: Arc<AtomicUsize>,
    stride: usize,
}

impl Moving {
    fn now(&self) -> SimulatedStorage {
        self.states[self.at.load(Ordering::Relaxed).min(self.states.len() - 1)].clone()
    }

    fn then<T>(&self, result: T) -> T {
        self.at.fetch_add(self.stride, Ordering::Relaxed);
        result
    }
}

/// An open file of a moving disk: it follows the file while bytes are appended, and keeps its
/// contents when the name is removed or goes to another file.
struct Open {
    disk: Moving,
    name: String,
    known: Mutex<Arc<Vec<u8>>>,
}

impl Open {
    fn contents(&self) -> Arc<Vec<u8>> {
        let mut known = self.known.lock().unwrap();
        if let Some(now) = self.disk.now().shared_contents(&self.name)
            && now.starts_with(&known)
        {
            *known = now;
        }
        known.clone()
    }
}

impl StorageFile for Open {
    fn path(&self) -> PathBuf {
        self.name.clone().into()
    }
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        let (contents, offset) = (self.contents(), offset as usize);
        let found = contents.get(offset..offset + buffer.len());
        let found = found.ok_or_else(|| Error::early_end(&self.path(), offset as u64, buffer.len() as u64))?;
        buffer.copy_from_slice(found);
        self.disk.then(Ok(()))
    }
    fn length(&self) -> Result<u64, Error> {
        let length = self.contents().len() as u64;
        self.disk.then(Ok(length))
    }
    fn write_all_at(&self, _: &[u8], _: u64) -> Result<(), Error> {
        panic!("a reader writes {}", self.name)
    }
    fn sync(&self) -> Result<(), Error> {
        panic!("a reader syncs {}", self.name)
    }
}

impl Storage for Moving {
    fn path(&self, name: &str) -> PathBuf {
        name.into()
    }
    fn list(&self, folder: &str) -> Result<Vec<Entry>, Error> {
        self.then(self.now().list(folder))
    }
    fn length(&self, name: &str) -> Result<Option<u64>, Error> {
        self.then(self.now().length(name))
    }
    fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        let now = self.now();
        self.then(now.open(name).map(|_| -> Arc<dyn StorageFile> {
            let disk = Moving { states: self.states.clone(), at: self.at.clone(), stride: self.stride };
            let known = Mutex::new(now.shared_contents(name).unwrap_or_default());
            Arc::new(Open { disk, name: name.to_owned(), known })
        }))
    }
    fn create_dir(&self, name: &str) -> Result<(), Error> {
        panic!("a reader makes {name}")
    }
    fn create(&self, name: &str, _: Create) -> Result<Arc<dyn StorageFile>, Error> {
        panic!("a reader makes {name}")
    }
    fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        panic!("a reader writes {name}")
    }
    fn sync_dir(&self, name: &str) -> Result<(), Error> {
        panic!("a reader syncs {name}")
    }
    fn rename(&self, name: &str, _: &str) -> Result<(), Error> {
        panic!("a reader renames {name}")
    }
    fn remove(&self, name: &str) -> Result<(), Error> {
        panic!("a reader removes {name}")
    }
    fn lock(&self, _: &str) -> Result<LockGuard, Error> {
        panic!("a reader takes the lock")
    }
    fn free_bytes(&self) -> Result<u64, Error> {
        Ok(0)
    }
}

fn look(storage: &dyn Storage, depth: Depth) -> Result<Report, Error> {
    check(&workload(), storage, &CheckRequest::new(depth))
}

/// Looks from each state on, at several paces; returns the number of looks.
fn assert_sound(states: &States, story: &str) -> u32 {
    let mut looks = 0;
    for first in 0..states.len() {
        for stride in [0, 1, 2, 3, 5, 8, 13, 40] {
            let depth = [Depth::Metadata, Depth::Sums, Depth::Full][(first + stride) % 3];
            let moving = || Moving { states: states.clone(), at: Arc::new(AtomicUsize::new(first)), stride };
            let story = format!("{story}, from state {first} of {}, {stride} at a time", states.len());
            match look(&moving(), depth) {
                Ok(report) => assert!(report.is_sound(), "{story}, {depth:?}: {:?}", report.findings),
                Err(Error::NotARun { .. }) => {}
                Err(error) => panic!("{story}: {error}"),
            }
            match inspect(&moving()) {
                Ok(_) | Err(Error::NotARun { .. }) => {}
                Err(error) => panic!("{story}: {error}"),
            }
            looks += 1;
        }
    }
    looks
}

#[test]
fn a_check_beside_each_step_of_a_solve_finds_nothing() {
    for placement in [Placement::Dedicated, Placement::Shared] {
        let states: States = Arc::new(sessions(placement));
        let looks = assert_sound(&states, &format!("{placement:?}"));
        println!("{placement:?}: {} states, {looks} looks", states.len());
        assert!(states.len() > 200);
    }
}

/// Beside a repair only what was damaged before is ever named.
#[test]
fn a_check_beside_each_step_of_a_repair_names_only_what_was_damaged() {
    for placement in [Placement::Dedicated, Placement::Shared] {
        let sessions = sessions(placement);
        // In the middle of the run, with logs and a journal.
        let disk = sessions.iter().rev().find(|disk| inspect(*disk).is_ok_and(|found| found.generation == 2)).unwrap();
        let disk = disk.kill();
        let records = inspect(&disk).unwrap().records;
        let logs = || records.iter().flat_map(|record| &record.extents).map(|extent| extent.file.name());
        let log = logs().find(|name| disk.contents(name).is_some()).expect("a log that is still needed");
        let block = records[1].published.as_ref().unwrap().name.clone();
        let damaged = [log, block, "m/manifest.2.b".to_owned()];
        for name in &damaged {
            let mut bytes = disk.contents(name).unwrap();
            let place = bytes.len() / 2;
            bytes[place] ^= 1;
            disk.put(name, &bytes);
        }
        let damaged: BTreeSet<PathBuf> = damaged.into_iter().map(PathBuf::from).collect();
        let states: States = Arc::new(recorded(&disk, |storage| {
            let locked = LockedRun::take(storage.clone()).unwrap();
            let plan = Plan::new(&workload(), &look(&*storage, Depth::Sums).unwrap()).unwrap();
            assert_eq!((plan.blocks.len(), plan.entries.len(), plan.metadata), (1, 1, true), "{placement:?}");
            carry_out(&plan, &workload(), &storage, locked, &Thresholds::LARGEST, &AtomicBool::new(false), &|_| {})
                .unwrap();
        }));
        assert!(look(states.last().unwrap(), Depth::Full).unwrap().findings.is_empty());
        for first in 0..states.len() {
            for stride in [0, 1, 2, 3, 5, 8] {
                let moving = Moving { states: states.clone(), at: Arc::new(AtomicUsize::new(first)), stride };
                let report = look(&moving, Depth::Full).unwrap();
                let wrong = report.findings.iter().filter(|finding| finding.severity.is_damage());
                for finding in wrong {
                    assert!(damaged.contains(&finding.path), "{placement:?}, {first}, {stride}: {finding}");
                }
            }
        }
    }
}
