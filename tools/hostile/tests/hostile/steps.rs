//! What readers cost: four times the bytes take at most five times the steps, for any
//! bytes. Steps are counted, never timed: calls and bytes of the storage.

use hostile::long::{Files, KINDS};
use pipeline::checkpoint::{examine, inspect};
use pipeline::storage::{Create, Entry, LockGuard, pass_on};
use pipeline::{Error, Storage, StorageFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use testing::SimulatedStorage;
use trinim::database::{Manifest, Sums};

/// A folder that counts the steps of its readers: one for each call, and for each 64 bytes read.
struct Counting {
    disk: SimulatedStorage,
    steps: Arc<AtomicU64>,
}

struct CountingFile {
    file: Arc<dyn StorageFile>,
    steps: Arc<AtomicU64>,
}

impl StorageFile for CountingFile {
    pass_on! { self.file =>
        fn path(&self) -> PathBuf;
        fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error>;
        fn sync(&self) -> Result<(), Error>;
        fn length(&self) -> Result<u64, Error>;
    }
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        self.steps.fetch_add(1 + buffer.len() as u64 / 64, Ordering::Relaxed);
        self.file.read_exact_at(buffer, offset)
    }
}

impl Storage for Counting {
    pass_on! { self.disk =>
        fn path(&self, name: &str) -> PathBuf;
        fn create_dir(&self, name: &str) -> Result<(), Error>;
        fn create(&self, name: &str, create: Create) -> Result<Arc<dyn StorageFile>, Error>;
        fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error>;
        fn sync_dir(&self, folder: &str) -> Result<(), Error>;
        fn rename(&self, from: &str, to: &str) -> Result<(), Error>;
        fn remove(&self, name: &str) -> Result<(), Error>;
        fn lock(&self, name: &str) -> Result<LockGuard, Error>;
        fn free_bytes(&self) -> Result<u64, Error>;
    }
    fn list(&self, folder: &str) -> Result<Vec<Entry>, Error> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.disk.list(folder)
    }
    fn length(&self, name: &str) -> Result<Option<u64>, Error> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.disk.length(name)
    }
    fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(CountingFile { file: self.disk.open(name)?, steps: self.steps.clone() }))
    }
}

/// Counts the steps to read the metadata of a run folder, as `status` and as `check` do.
fn steps(files: &Files) -> [u64; 2] {
    let disk = SimulatedStorage::new(1);
    for name in ["m", "logs", "db"] {
        disk.create_dir(name).unwrap();
    }
    files.iter().for_each(|(name, contents)| disk.put(name, contents));
    let folder = Counting { disk, steps: Arc::default() };
    let _ = inspect(&folder);
    let status = folder.steps.swap(0, Ordering::Relaxed);
    let report = examine(&folder).unwrap();
    let pages = files.iter().map(|(_, contents)| contents.len() / 4096 + 1).sum();
    assert!(report.findings.len() <= pages, "{} findings", report.findings.len());
    [status, folder.steps.load(Ordering::Relaxed)]
}

#[test]
fn four_times_the_bytes_of_a_run_take_at_most_five_times_the_steps() {
    let n = 200_000;
    let mut kinds = 0;
    for (kind, make) in KINDS {
        let (short, long) = (make(n), make(4 * n));
        if short.iter().any(|(name, _)| name == "SUMS") {
            continue;
        }
        let (few, many) = (steps(&short), steps(&long));
        println!("{kind}: {few:?} and {many:?} steps");
        let bytes: usize = short.iter().map(|(_, contents)| contents.len()).sum();
        for (few, many) in few.into_iter().zip(many) {
            assert!(many <= 5 * few, "{kind}: {few} and {many} steps");
            // `status` looks up to four times at what it cannot read.
            assert!(few <= 4 * 3 * (bytes as u64 / 64 + 100), "{kind}: {few} steps for {bytes} bytes");
        }
        kinds += 1;
    }
    assert_eq!(kinds, 7);
}

/// A million bad lines are a thousand findings and their number.
#[test]
fn long_lists_are_read_without_a_finding_for_each_line() {
    for (kind, make) in KINDS {
        for n in [100_000, 400_000] {
            let files = make(n);
            let Some((_, bytes)) = files.iter().find(|(name, _)| name == "SUMS") else { continue };
            let sums = Sums::parse(bytes);
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            assert!(sums.lines.len() + sums.wrong.len() <= lines.max(1) && sums.wrong.len() <= 1001, "{kind}");
            if kind.contains("empty lines") {
                let (_, last) = sums.wrong.last().unwrap();
                assert_eq!(*last, format!("{} more lines are wrong", lines - 1000));
            }
            let (_, manifest) = files.iter().find(|(name, _)| name == "manifest.json").unwrap();
            let parsed = Manifest::parse(Path::new("manifest.json"), manifest);
            // Lists of any length are passed over; lists that nest too deep may be refused.
            assert!(parsed.is_ok() || kind.contains("deep"), "{kind}: {:?}", parsed.err());
        }
    }
}
