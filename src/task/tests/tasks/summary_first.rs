//! A store that breaks the order of its files.

use pipeline::Error;
use pipeline::storage::pass_on;
use std::path::PathBuf;
use std::sync::Mutex;
use trinim_task::Store;
use trinim_task::store::{Begin, Temporary};

/// A store that creates the file of a block after its summary: where summaries decide what is
/// committed, a stop between the two loses the block.
pub struct SummaryFirst<S> {
    store: S,
    held: Mutex<Option<(String, Vec<u8>)>>,
}

impl<S: Store> SummaryFirst<S> {
    pub fn new(store: S) -> SummaryFirst<S> {
        SummaryFirst { store, held: Mutex::default() }
    }
}

impl<S: Store> Store for SummaryFirst<S> {
    pass_on! { self.store =>
        fn path(&self, name: &str) -> PathBuf;
        fn prepare(&self) -> Result<(), Error>;
        fn read(&self, name: &str, most_bytes: u64) -> Result<Option<Vec<u8>>, Error>;
        fn begin(&self, name: &str, bytes: usize) -> Result<Option<Begin>, Error>;
        fn list(&self, folder: &str) -> Result<Vec<(String, u64)>, Error>;
        fn remove(&self, name: &str) -> Result<(), Error>;
        fn sync(&self, folder: &str) -> Result<(), Error>;
        fn temporaries(&self) -> Result<Vec<Temporary>, Error>;
    }
    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, Error> {
        if name.ends_with(".blk") {
            *self.held.lock().unwrap() = Some((name.to_owned(), bytes.to_vec()));
            return Ok(true);
        }
        let created = self.store.create(name, bytes)?;
        let held = self.held.lock().unwrap().take();
        held.map_or(Ok(true), |(file, bytes)| self.store.create(&file, &bytes))?;
        Ok(created)
    }
}
