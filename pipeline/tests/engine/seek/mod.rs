//! A device with one arm in front of any storage: it counts seeks, and the time that they and the
//! transfers would take.
//!
//! Sorting log writes into runs pays on devices that seek; an SSD hardly shows the difference. This
//! wrapper shows it on any machine.
//!
//! The model has one head. Each file is contiguous and far from every other file. A read or write
//! that begins where the device's last one ended costs `bytes / bandwidth`. One that begins a
//! little further on in the same file lets the gap pass under the head, which costs
//! `gap / bandwidth`, as long as that is less than a seek. Every other one costs a seek first, and
//! so does the first one. Reads and writes are *direct*, without a page cache that sorts and
//! merges. Operations on names (create, rename, remove, list) and syncs are free.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pipeline::storage::{Create, Entry, LockGuard};
use pipeline::{Error, Storage, StorageFile};

/// Parameters of the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeekModel {
    /// Duration of a seek.
    pub seek: Duration,
    /// Bytes per second of a transfer without seeks.
    pub bytes_per_second: f64,
}

/// Work of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeekCounts {
    /// Number of seeks.
    pub seeks: u64,
    /// Number of reads and writes.
    pub calls: u64,
    /// Bytes read and written, without the gaps that passed under the head.
    pub bytes: u64,
    /// Time that the device was busy.
    pub busy: Duration,
}

/// A storage on a device that seeks.
pub struct SeekStorage {
    inner: Arc<dyn Storage>,
    device: Arc<Device>,
}

struct Device {
    model: SeekModel,
    arm: Mutex<Arm>,
}

/// Position of a file on the device: a file that was created again has another one.
type Place = u64;

#[derive(Default)]
struct Arm {
    places: HashMap<String, Place>,
    next_place: Place,
    head: Option<(Place, u64)>,
    counts: SeekCounts,
    /// Work for writes alone, by name of the file.
    written: BTreeMap<String, SeekCounts>,
}

impl SeekStorage {
    /// Puts `inner` on a device of this model.
    pub fn new(inner: Arc<dyn Storage>, model: SeekModel) -> SeekStorage {
        SeekStorage { inner, device: Arc::new(Device { model, arm: Mutex::default() }) }
    }

    /// Returns the work of the device so far.
    pub fn counts(&self) -> SeekCounts {
        self.device.arm().counts
    }

    /// Returns the work for writes into files whose names begin with `begin`.
    pub fn written_below(&self, begin: &str) -> SeekCounts {
        let mut sum = SeekCounts::default();
        for (_, counts) in self.device.arm().written.iter().filter(|(name, _)| name.starts_with(begin)) {
            sum.add(counts);
        }
        sum
    }

    fn file(&self, name: &str, fresh: bool, file: Arc<dyn StorageFile>) -> Arc<dyn StorageFile> {
        let place = self.device.arm().place(name, fresh);
        Arc::new(SeekFile { file, name: name.to_owned(), place, device: self.device.clone() })
    }
}

impl SeekCounts {
    fn add(&mut self, other: &SeekCounts) {
        self.seeks += other.seeks;
        self.calls += other.calls;
        self.bytes += other.bytes;
        self.busy += other.busy;
    }
}

impl Arm {
    fn place(&mut self, name: &str, fresh: bool) -> Place {
        match self.places.get(name) {
            Some(place) if !fresh => *place,
            _ => {
                self.next_place += 1;
                self.places.insert(name.to_owned(), self.next_place);
                self.next_place
            }
        }
    }
}

impl Device {
    fn arm(&self) -> MutexGuard<'_, Arm> {
        self.arm.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Charges one transfer and returns its cost.
    fn charge(&self, place: Place, offset: u64, bytes: u64) -> SeekCounts {
        let passing = |bytes: u64| Duration::from_secs_f64(bytes as f64 / self.model.bytes_per_second);
        let arm = &mut *self.arm();
        let gap = match arm.head {
            Some((head_place, head)) if head_place == place => offset.checked_sub(head).map(passing),
            _ => None,
        };
        let (seeks, way) = match gap {
            Some(gap) if gap <= self.model.seek => (0, gap),
            _ => (1, self.model.seek),
        };
        let counts = SeekCounts { seeks, calls: 1, bytes, busy: way + passing(bytes) };
        arm.head = Some((place, offset + bytes));
        arm.counts.add(&counts);
        counts
    }
}

impl Storage for SeekStorage {
    fn path(&self, name: &str) -> PathBuf {
        self.inner.path(name)
    }

    fn create_dir(&self, name: &str) -> Result<(), Error> {
        self.inner.create_dir(name)
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, Error> {
        self.inner.list(folder)
    }

    fn length(&self, name: &str) -> Result<Option<u64>, Error> {
        self.inner.length(name)
    }

    fn create(&self, name: &str, create: Create) -> Result<Arc<dyn StorageFile>, Error> {
        Ok(self.file(name, true, self.inner.create(name, create)?))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        Ok(self.file(name, false, self.inner.open(name)?))
    }

    fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        Ok(self.file(name, false, self.inner.open_write(name)?))
    }

    fn sync_dir(&self, folder: &str) -> Result<(), Error> {
        self.inner.sync_dir(folder)
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.inner.rename(from, to)?;
        let places = &mut self.device.arm().places;
        if let Some(place) = places.remove(from) {
            places.insert(to.to_owned(), place);
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        self.inner.remove(name)?;
        self.device.arm().places.remove(name);
        Ok(())
    }

    fn lock(&self, name: &str) -> Result<LockGuard, Error> {
        self.inner.lock(name)
    }

    fn free_bytes(&self) -> Result<u64, Error> {
        self.inner.free_bytes()
    }

    fn sync_parallelism(&self) -> usize {
        self.inner.sync_parallelism()
    }
}

struct SeekFile {
    file: Arc<dyn StorageFile>,
    name: String,
    place: Place,
    device: Arc<Device>,
}

impl StorageFile for SeekFile {
    fn path(&self) -> PathBuf {
        self.file.path()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        self.file.read_exact_at(buffer, offset)?;
        self.device.charge(self.place, offset, buffer.len() as u64);
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        self.file.write_all_at(bytes, offset)?;
        let counts = self.device.charge(self.place, offset, bytes.len() as u64);
        self.device.arm().written.entry(self.name.clone()).or_default().add(&counts);
        Ok(())
    }

    fn sync(&self) -> Result<(), Error> {
        self.file.sync()
    }

    fn length(&self) -> Result<u64, Error> {
        self.file.length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipeline::testing::SimulatedStorage;

    /// 1 byte takes a microsecond, a seek 8 milliseconds.
    fn device() -> SeekStorage {
        let model = SeekModel { seek: Duration::from_millis(8), bytes_per_second: 1e6 };
        SeekStorage::new(Arc::new(SimulatedStorage::new(1)), model)
    }

    /// Returns seeks and microseconds so far.
    fn spent(storage: &SeekStorage) -> (u64, u64) {
        let counts = storage.counts();
        (counts.seeks, counts.busy.as_micros() as u64)
    }

    #[test]
    fn what_goes_on_costs_its_bytes_and_all_else_a_seek() {
        let storage = device();
        let one = storage.create("one", Create::New).unwrap();
        let two = storage.create("two", Create::New).unwrap();
        assert_eq!(spent(&storage), (0, 0), "names are free");
        one.write_all_at(&[1; 100], 0).unwrap();
        assert_eq!(spent(&storage), (1, 8_100), "the first call seeks");
        one.write_all_at(&[1; 50], 100).unwrap();
        assert_eq!(spent(&storage), (1, 8_150), "on from there");
        two.write_all_at(&[2; 10], 150).unwrap();
        assert_eq!(spent(&storage), (2, 16_160), "another file");
        one.write_all_at(&[1; 10], 150).unwrap();
        assert_eq!(spent(&storage), (3, 24_170), "and back");
        one.write_all_at(&[1; 10], 1160).unwrap();
        assert_eq!(spent(&storage), (3, 25_180), "a gap of 1000 bytes passes in 1 ms");
        one.write_all_at(&[1; 10], 9170).unwrap();
        assert_eq!(spent(&storage), (3, 33_190), "as long as a seek: not slower than one");
        one.write_all_at(&[1; 10], 17_181).unwrap();
        assert_eq!(spent(&storage), (4, 41_200), "a longer gap is a seek");
        one.read_exact_at(&mut [0; 10], 17_181).unwrap();
        assert_eq!(spent(&storage), (5, 49_210), "backwards is a seek, reads count");
        one.sync().unwrap();
        storage.sync_dir("").unwrap();
        let counts = storage.counts();
        assert_eq!((counts.calls, counts.bytes), (8, 210));
        assert_eq!(storage.written_below("o").bytes, 190, "what is read is not written");
        assert_eq!(
            storage.written_below("two"),
            SeekCounts { seeks: 1, calls: 1, bytes: 10, busy: Duration::from_micros(8_010) }
        );
    }

    #[test]
    fn a_file_made_anew_lies_elsewhere_and_a_renamed_one_where_it_was() {
        let storage = device();
        let file = storage.create("x", Create::New).unwrap();
        file.write_all_at(&[0; 5], 0).unwrap();
        storage.rename("x", "y").unwrap();
        storage.open_write("y").unwrap().write_all_at(&[0; 5], 5).unwrap();
        assert_eq!(spent(&storage), (1, 8_010));
        storage.create("y", Create::Truncate).unwrap().write_all_at(&[0; 5], 0).unwrap();
        assert_eq!(spent(&storage).0, 2);
        storage.remove("y").unwrap();
        storage.create("y", Create::New).unwrap().write_all_at(&[0; 5], 5).unwrap();
        assert_eq!(spent(&storage).0, 3);
    }

    #[test]
    fn what_fails_below_fails_here_and_costs_nothing() {
        let storage = device();
        let file = storage.create("x", Create::New).unwrap();
        assert!(matches!(file.read_exact_at(&mut [0; 5], 0), Err(Error::Corrupt { .. })));
        assert!(storage.open("absent").is_err());
        assert_eq!(spent(&storage), (0, 0));
    }
}
