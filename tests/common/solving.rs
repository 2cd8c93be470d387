//! Problems, whole solves in temporary folders, and comparisons.

use super::scratch;
use pipeline::codec;
use pipeline::{Error, Event, Footprint, Metrics, Options, Placement, RealStorage, RunId, Storage};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use trinim::database::{Database, Game};
use trinim::game::{Board, Cell, Value};
use trinim::kernel::{Kernel, bitmap_words};
use trinim::layout::Layout;
use trinim::random::Random;
use trinim::solve::{Solved, solve};

/// The options that can differ between two solves of the same problem.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub threads: usize,
    pub placement: Placement,
    pub codec: &'static str,
    /// Memory beyond the required minimum, in bytes.
    pub spare_bytes: u64,
    pub kernel: Kernel,
}

impl Way {
    /// Returns two threads, dedicated logs, the least memory for both, the best kernel.
    pub fn usual() -> Way {
        let kernel = Kernel::detect();
        Way { threads: 2, placement: Placement::Dedicated, codec: "zstd1", spare_bytes: 0, kernel }
    }

    pub fn options(&self, layout: &Layout) -> Options {
        let words = bitmap_words(layout.offset_bits());
        Options {
            threads: self.threads,
            memory_bytes: Footprint::new(words, self.placement).bytes(self.threads) + self.spare_bytes,
            placement: self.placement,
            codec: codec::by_name(self.codec).expect("the tests name codecs that exist"),
            commit_interval: Duration::from_millis(20),
            thresholds: None,
            run_id: RunId(u128::from(self.spare_bytes) << 64 | self.threads as u128),
            stop: Arc::default(),
        }
    }
}

/// Solves a game as the tests need it.
pub trait Solving {
    /// Solves, or continues a solve, without syncs: durability has its own tests.
    fn solve_in(
        &self,
        folder: &Path,
        way: Way,
        options: &Options,
        observer: &(dyn Fn(&Event) + Sync),
    ) -> Result<Solved, Error>;

    /// Solves in a new folder.
    fn solve(&self, way: Way) -> (TempDir, Solved);
}

impl Solving for Game {
    fn solve_in(
        &self,
        folder: &Path,
        way: Way,
        options: &Options,
        observer: &(dyn Fn(&Event) + Sync),
    ) -> Result<Solved, Error> {
        let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(folder)?.with_syncs(false));
        solve(self, way.kernel, &storage, options, &Metrics::default(), observer)
    }

    fn solve(&self, way: Way) -> (TempDir, Solved) {
        let folder = scratch();
        let solved = self
            .solve_in(folder.path(), way, &way.options(&self.layout), &|_| {})
            .unwrap_or_else(|error| panic!("{}, {}, {way:?}: {error}", self.board.name(), self.rule));
        (folder, solved)
    }
}

/// Finds, by trial, a layout with BID cells preserved by exactly `symmetries` symmetries of the
/// board; `None` if the board is too small.
pub fn layout_with(board: &Board, symmetries: usize, bid_bits: u32) -> Option<Layout> {
    let mut random = Random::new(u64::from(board.size_in_layers()) << 8 | symmetries as u64);
    (0..500).find_map(|_| {
        let along = &board.symmetries()[random.index(board.symmetries().len())];
        let mut set = 0;
        while u64::count_ones(set) < bid_bits {
            let mut orbit = 1 << random.below(board.cells().into());
            while along.apply(orbit) | orbit != orbit {
                orbit |= along.apply(orbit);
            }
            set |= orbit;
        }
        let kept = board.symmetries().iter().filter(|symmetry| symmetry.apply(set) == set).count();
        let cells: Vec<Cell> = (0..board.cells()).filter(|cell| set >> cell & 1 == 1).map(Cell::from_index).collect();
        (kept == symmetries && set.count_ones() < bid_bits + 6).then(|| Layout::new(board, &cells).unwrap())
    })
}

/// All bitmaps of a database, for tests of millions of positions.
pub struct Bitmaps {
    layout: Layout,
    bitmaps: Vec<Vec<u64>>,
}

impl Bitmaps {
    pub fn of(database: &Database) -> Bitmaps {
        let layout = database.layout().clone();
        let words = bitmap_words(layout.offset_bits());
        let read = |block| {
            let mut bitmap = vec![0; words];
            database.bitmap(block, &mut bitmap).unwrap();
            bitmap
        };
        let bitmaps = layout.ordinals().map(read).collect();
        Bitmaps { layout, bitmaps }
    }

    /// Returns the value that a lookup finds.
    pub fn value(&self, position: u64) -> Value {
        let (ordinal, offset) = self.layout.locate(position);
        Value::from_loss(self.bitmaps[ordinal.index()][offset as usize / 64] >> (offset % 64) & 1 == 1)
    }

    /// Yields every stored bit as position and value, even those that no lookup reads.
    pub fn stored(&self) -> impl Iterator<Item = (u64, Value)> {
        let blocks = self.layout.canonical_blocks().iter().zip(&self.bitmaps);
        blocks.flat_map(|(bid, bitmap)| {
            (0..1 << self.layout.offset_bits()).map(|offset: u64| {
                let loss = bitmap[offset as usize / 64] >> (offset % 64) & 1 == 1;
                (self.layout.join(*bid, offset), Value::from_loss(loss))
            })
        })
    }
}

/// Reads the files of a `db` folder. Folders in it, which a store can have, must be empty.
pub fn database_files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder.join("db")).unwrap().map(|entry| entry.unwrap());
    let (below, files): (Vec<_>, Vec<_>) = entries.partition(|entry| entry.path().is_dir());
    assert!(below.iter().all(|entry| std::fs::read_dir(entry.path()).unwrap().next().is_none()));
    let file =
        |entry: std::fs::DirEntry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap());
    files.into_iter().map(file).collect()
}

/// Compares two `db` folders byte by byte without printing the bytes.
pub fn assert_same_files(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>, story: &str) {
    let (names, wanted): (Vec<_>, Vec<_>) = (found.keys().collect(), expected.keys().collect());
    assert_eq!(names, wanted, "{story}: names in db");
    for (name, bytes) in expected {
        assert!(found[name] == *bytes, "{story}: {name} differs");
    }
}
