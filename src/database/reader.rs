//! Opens a database and looks up positions.
//!
//! # Path of a lookup
//! position → canonical block and offset ([`Layout::locate`]) → frame of the block → decoded frame
//! in the cache, or: positional read of the frame's bytes, hash, decode → one word → one bit.
//!
//! # Invariants
//! 1. Every answer comes from bytes that passed their hash.
//! 2. The cached frames take at most the limit of the cache, or two frames if that is more.
//!
//! # Cost
//! A cached frame takes a hash-map lookup under a read lock. Another frame is read and decoded
//! first: 1 MiB of bitmap in a third of a millisecond. Other readers of that frame wait.

use super::block::{BlockForm, BlockIndex, block_file_name};
use super::book::{BOOK, Book};
use super::built_in::BuiltIn;
use super::files::{Files, below};
use super::manifest::{LIST_BYTES_MAX, MANIFEST, Manifest, SUMS};
use super::probe::{Evaluation, Probe};
use super::sums::Sums;
use super::{DatabaseError, Game, Keep, Values};
use crate::layout::Layout;
use parking_lot::Mutex;
use pipeline::checkpoint::{FORMAT, PUBLISHED};
use pipeline::codec::{FRAME_WORDS, Scratch};
use pipeline::storage::{close_at_the_limit, read_whole};
use pipeline::{BlockId, Error, RealStorage, Storage, StorageFile, open_files};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use trinim_game::{Board, Rule, Value};
use trinim_kernel::bitmap_words;

/// An open database, shareable between threads.
pub struct Database {
    /// The folder of the files, or a description of built-in ones.
    folder: PathBuf,
    files: Files,
    manifest: Manifest,
    manifest_hash: blake3::Hash,
    /// Whether the manifest passed [`Database::check_manifest`].
    manifest_confirmed: AtomicBool,
    game: Game,
    form: BlockForm,
    book: Mutex<Option<Arc<Book>>>,
    /// Its number in [`OPEN_BLOCKS`].
    number: u64,
    cache: FrameCache,
}

struct BlockSource {
    path: PathBuf,
    file: Arc<dyn StorageFile>,
    index: BlockIndex,
}

/// The open block files of all databases of this process, which has one limit of open files; at
/// [`open_blocks_max`] all are closed and reopened as needed.
static OPEN_BLOCKS: Mutex<BTreeMap<(u64, BlockId), Arc<BlockSource>>> = Mutex::new(BTreeMap::new());
/// The databases that were opened so far.
static OPENED: AtomicU64 = AtomicU64::new(0);

/// Returns the most files in [`OPEN_BLOCKS`]: a quarter of the files that the process can open.
fn open_blocks_max() -> usize {
    (open_files() / 4).clamp(4, 256) as usize
}

/// The default limit on cached frames, in bytes.
const CACHE_BYTES: usize = 256 << 20;

type FrameCache = Cache<(BlockId, u32), Arc<Vec<u64>>, FrameBytes>;

#[derive(Clone)]
struct FrameBytes;

impl Weighter<(BlockId, u32), Arc<Vec<u64>>> for FrameBytes {
    fn weight(&self, _: &(BlockId, u32), words: &Arc<Vec<u64>>) -> u64 {
        8 * words.len() as u64
    }
}

/// Returns an empty cache of about `limit_bytes` bytes: the library keeps no frame that takes
/// nearly all of it, so it has room for two.
fn frame_cache(limit_bytes: usize) -> FrameCache {
    const FRAME_BYTES: usize = 8 * FRAME_WORDS;
    let limit_bytes = limit_bytes.max(2 * FRAME_BYTES);
    Cache::with_weighter(limit_bytes / FRAME_BYTES, limit_bytes as u64, FrameBytes)
}

impl Database {
    /// Opens the database in the run folder `folder`, with a cache of 256 MiB of frames.
    ///
    /// # Errors
    /// [`DatabaseError::Missing`] if there is no finished database; errors of the operating system,
    /// and of [`Manifest::parse`].
    pub fn open(folder: &Path) -> Result<Database, DatabaseError> {
        Database::open_with(folder, CACHE_BYTES)
    }

    /// Opens a database with a cache of about `cache_bytes` bytes of frames.
    ///
    /// # Errors
    /// Those of [`Database::open`].
    pub fn open_with(folder: &Path, cache_bytes: usize) -> Result<Database, DatabaseError> {
        let storage = RealStorage::open(folder).map_err(|error| match DatabaseError::from(error) {
            DatabaseError::Io { source, .. } if is_absence(&source) => missing(folder.into(), NOTHING),
            other => other,
        })?;
        Database::open_on(Arc::new(storage), cache_bytes)
    }

    /// Opens the database of a run on any storage, or of its `db` folder, with a cache of about
    /// `cache_bytes` bytes of frames.
    ///
    /// # Errors
    /// Those of [`Database::open`].
    pub fn open_on(storage: Arc<dyn Storage>, cache_bytes: usize) -> Result<Database, DatabaseError> {
        let inner = find(&*storage)?;
        Database::load(storage.path(inner), Files::Stored(storage, inner), cache_bytes)
    }

    /// Opens the built-in solve of a board.
    ///
    /// # Errors
    /// Those of [`Database::open`], if the built-in bytes are damaged.
    pub fn open_built_in(built_in: &'static BuiltIn) -> Result<Database, DatabaseError> {
        Database::load(built_in.place(), Files::BuiltIn(built_in), CACHE_BYTES)
    }

    fn load(folder: PathBuf, files: Files, cache_bytes: usize) -> Result<Database, DatabaseError> {
        let manifest = read_whole(&*files.open(MANIFEST)?, LIST_BYTES_MAX)?;
        let manifest_hash = blake3::hash(&manifest);
        let (manifest, game) = Manifest::parse(&folder.join(MANIFEST), &manifest)?;
        let form = BlockForm::new(manifest.spec(&game));
        let (book, number, cache) =
            (Mutex::default(), OPENED.fetch_add(1, Ordering::Relaxed), frame_cache(cache_bytes));
        let manifest_confirmed = AtomicBool::new(false);
        close_at_the_limit(|| OPEN_BLOCKS.lock().clear());
        Ok(Database { folder, files, manifest, manifest_hash, manifest_confirmed, game, form, book, number, cache })
    }

    /// Checks the manifest as far as possible without the blocks: its bytes against `SUMS`, its
    /// census and digest against its own rows ([`Manifest::check`]). Opening skips this, so that a
    /// damaged database can still be inspected.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`] with the wrong file; [`DatabaseError::Io`].
    pub fn check_manifest(&self) -> Result<(), DatabaseError> {
        let (path, sums) = (self.folder.join(MANIFEST), self.folder.join(SUMS));
        let listed = Sums::parse(&read_whole(&*self.files.open(SUMS)?, LIST_BYTES_MAX)?);
        if let Some((offset, rule)) = listed.wrong.first() {
            return Err(DatabaseError::corrupt(sums, *offset, rule.clone()));
        }
        match listed.check(MANIFEST, self.manifest_hash) {
            Some(Ok(())) => {}
            Some(Err(damage)) => return Err(DatabaseError::corrupt(path, None, damage)),
            None => return Err(DatabaseError::corrupt(sums, None, format!("the line for {MANIFEST} is missing"))),
        }
        self.manifest.check(&path, &self.game)
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the game that this database solves.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Returns the board.
    pub fn board(&self) -> &Board {
        &self.game.board
    }

    /// Returns the rule.
    pub fn rule(&self) -> Rule {
        self.game.rule
    }

    /// Returns the layout of the blocks.
    pub fn layout(&self) -> &Layout {
        &self.game.layout
    }

    /// Returns the storage of the files, and the folder there; `None` if they are built in.
    pub(crate) fn storage(&self) -> Option<(&dyn Storage, &'static str)> {
        self.files.storage()
    }

    /// Returns the folder of the files, or a description of built-in ones.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the limit on cached frames, in bytes.
    pub fn cache_bytes(&self) -> u64 {
        self.cache.capacity()
    }

    /// Returns the value of a position for the player to move.
    ///
    /// # Errors
    /// [`DatabaseError`] if the frame of the position cannot be read or is damaged;
    /// [`DatabaseError::NotKept`] if the value was not kept. Those of the full board and of the
    /// positions one move away from it always are.
    ///
    /// # Panics
    /// If the position has a bit outside the board.
    pub fn value(&self, position: u64) -> Result<Value, DatabaseError> {
        assert_eq!(position & !self.game.board.full(), 0, "position outside the board");
        if !self.manifest.keep.is_database() {
            let listed = self.manifest.value(&self.game.board, position);
            let Some(value) = listed else {
                let kept = self.book()?.map(|book| book.value(position)).transpose();
                let kept = kept.inspect_err(|_| *self.book.lock() = None)?.flatten();
                return kept.ok_or_else(|| self.not_kept());
            };
            // The answer has no block's hash behind it.
            if !self.manifest_confirmed.load(Ordering::Relaxed) {
                self.check_manifest()?;
                self.manifest_confirmed.store(true, Ordering::Relaxed);
            }
            return Ok(value);
        }
        let (block, offset) = self.game.layout.locate(position);
        // The losses are the first plane, or the only one.
        Ok(Value::from_loss(self.bit(block, offset)?))
    }

    /// Returns a bit of the bitmaps of a block.
    pub(super) fn bit(&self, block: BlockId, bit: u64) -> Result<bool, DatabaseError> {
        let word = (bit / 64) as usize;
        let words = self.frame(block, word / FRAME_WORDS)?;
        Ok(words[word % FRAME_WORDS] >> (bit % 64) & 1 == 1)
    }

    /// Returns which values each position has.
    pub fn values(&self) -> Values {
        self.manifest.values()
    }

    /// Returns all that is known of a position.
    ///
    /// # Errors
    /// Those of [`Database::value`].
    pub fn evaluate(&self, position: u64) -> Result<Evaluation, DatabaseError> {
        let (nimber, distance) = (self.nimber(position)?, self.distance(position)?);
        Ok(Evaluation { value: self.value(position)?, nimber, distance })
    }

    /// Returns the value of a position and of all its children, as far as they were kept.
    ///
    /// # Errors
    /// Those of [`Database::value`].
    pub fn probe(&self, position: u64) -> Result<Probe, DatabaseError> {
        Probe::gather(&self.game.board, position, self.evaluate(position)?, |child| match self.evaluate(child) {
            Ok(found) => Ok(Some(found)),
            Err(DatabaseError::NotKept { .. }) => Ok(None),
            Err(error) => Err(error),
        })
    }

    /// Reads the bitmap of a canonical block, the losses, or more planes of it if `words` has room,
    /// without the cache.
    ///
    /// # Errors
    /// Those of [`Database::value`].
    pub fn bitmap(&self, block: BlockId, words: &mut [u64]) -> Result<(), DatabaseError> {
        self.require_values()?;
        let source = self.block(block)?;
        let mut scratch = Scratch::new();
        for (frame, words) in words.chunks_mut(FRAME_WORDS).enumerate() {
            let mut decode = |whole: &mut [u64]| {
                source.index.decode(&source.path, frame, &source.stored(frame)?, whole, &mut scratch)
            };
            match source.index.words_of(frame) {
                length if length > words.len() => {
                    let mut whole = vec![0; length];
                    decode(&mut whole)?;
                    words.copy_from_slice(&whole[..words.len()]);
                }
                _ => decode(words)?,
            }
        }
        Ok(())
    }

    /// Returns the number of frames of each block that have losses in them, the first plane.
    pub(super) fn frames_of_losses(&self) -> usize {
        bitmap_words(self.game.layout.offset_bits()).div_ceil(FRAME_WORDS)
    }

    /// Reads one frame of a block, bypassing the cache: the number of its first word in the bitmap,
    /// and its words.
    pub(super) fn frame_words(&self, block: BlockId, frame: usize) -> Result<(u64, Vec<u64>), DatabaseError> {
        Ok(((frame * FRAME_WORDS) as u64, self.block(block)?.frame(frame)?))
    }

    /// Returns the book, opened at the first call; `None` if there is none in this folder.
    ///
    /// # Errors
    /// Those of [`Book::open`].
    pub fn book(&self) -> Result<Option<Arc<Book>>, DatabaseError> {
        let Keep::Book { pieces } = self.manifest.keep else { return Ok(None) };
        let mut opened = self.book.lock();
        if opened.is_none() {
            *opened = Some(Arc::new(Book::open(self.files.open(BOOK)?, &self.game, pieces)?));
        }
        Ok(opened.clone())
    }

    /// Refuses a folder that does not keep every value.
    ///
    /// # Errors
    /// [`DatabaseError::NotKept`].
    pub fn require_values(&self) -> Result<(), DatabaseError> {
        if self.manifest.keep.is_database() { Ok(()) } else { Err(self.not_kept()) }
    }

    /// The error for values that this folder does not keep.
    pub(super) fn not_kept(&self) -> DatabaseError {
        DatabaseError::NotKept { path: self.folder.clone(), keep: self.manifest.keep }
    }

    /// Returns one frame of a block, from the cache if it is there.
    pub(super) fn frame(&self, block: BlockId, frame: usize) -> Result<Arc<Vec<u64>>, DatabaseError> {
        let read = || Ok(Arc::new(self.block(block)?.frame(frame)?));
        let found = self.cache.get_or_insert_with(&(block, frame as u32), read);
        // Opened again the next time: a mended file is another one.
        found.inspect_err(|_| drop(OPEN_BLOCKS.lock().remove(&(self.number, block))))
    }

    fn block(&self, block: BlockId) -> Result<Arc<BlockSource>, DatabaseError> {
        if let Some(source) = OPEN_BLOCKS.lock().get(&(self.number, block)) {
            return Ok(source.clone());
        }
        let file = self.files.open(&block_file_name(block))?;
        let index = BlockIndex::open(&*file, &self.form, block)?;
        let source = Arc::new(BlockSource { path: file.path(), file, index });
        let mut blocks = OPEN_BLOCKS.lock();
        if blocks.len() >= open_blocks_max() {
            blocks.clear();
        }
        blocks.insert((self.number, block), source.clone());
        Ok(source)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        OPEN_BLOCKS.lock().retain(|(number, _), _| *number != self.number);
    }
}

/// The reason why a folder without any file of a database holds none.
const NOTHING: &str = "no such folder, or no SUMS in it";

fn missing(path: PathBuf, reason: &str) -> DatabaseError {
    DatabaseError::Missing { path, reason: reason.into() }
}

/// Returns whether an error means that there is no such file or folder.
fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Finds the folder with the database in a run folder, or in a `db` folder.
fn find(storage: &dyn Storage) -> Result<&'static str, DatabaseError> {
    // A failure to find out is an error, not an absence.
    let has = |name: &str| match storage.length(name) {
        Err(Error::Io { source, .. }) if is_absence(&source) => Ok(false),
        found => Ok::<_, DatabaseError>(found?.is_some()),
    };
    for folder in FOLDERS {
        if has(&below(folder, SUMS))? {
            return Ok(folder);
        }
    }
    // A solve writes the manifest after its last block, and SUMS right after the manifest.
    let mut reason = if has(FORMAT)? { "the solve is unfinished" } else { NOTHING };
    for folder in FOLDERS {
        if has(&below(folder, MANIFEST))? {
            reason = "SUMS is missing";
        }
    }
    Err(missing(storage.path(""), reason))
}

/// Where the files of a database may be, in a run and without one.
const FOLDERS: [&str; 2] = [PUBLISHED, ""];

impl BlockSource {
    fn frame(&self, frame: usize) -> Result<Vec<u64>, DatabaseError> {
        let mut words = vec![0; self.index.words_of(frame)];
        self.index.decode(&self.path, frame, &self.stored(frame)?, &mut words, &mut Scratch::new())?;
        Ok(words)
    }

    fn stored(&self, frame: usize) -> Result<Vec<u8>, DatabaseError> {
        let row = self.index.frames[frame];
        let most = 8 * self.index.words_of(frame) as u64;
        assert!(row.stored_bytes <= most, "block files, invariant 3: no longer than its words");
        let mut stored = vec![0; row.stored_bytes as usize];
        self.file.read_exact_at(&mut stored, row.offset)?;
        Ok(stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn the_cache_keeps_its_limit_and_room_for_a_frame() {
        let frame = |_| Arc::new(vec![7; FRAME_WORDS]);
        for (limit_bytes, most) in [(0, 2), (10 << 20, 10), (256 << 20, 256)] {
            let cache = frame_cache(limit_bytes);
            for number in 0..300 {
                cache.insert((BlockId(number % 3), number), frame(number));
                assert!(cache.get(&(BlockId(number % 3), number)).is_some(), "{limit_bytes}: {number}");
            }
            assert!((1..=most).contains(&cache.len()), "{limit_bytes}: {}", cache.len());
        }
    }

    #[test]
    fn two_readers_of_a_frame_decode_it_once() {
        let (cache, decoded) = (frame_cache(0), AtomicUsize::new(0));
        let read = || {
            let decode = || {
                std::thread::sleep(std::time::Duration::from_millis(20));
                decoded.fetch_add(1, Ordering::Relaxed);
                Ok::<_, DatabaseError>(Arc::new(vec![7; 4]))
            };
            cache.get_or_insert_with(&(BlockId(0), 0), decode).unwrap()
        };
        let frames =
            std::thread::scope(|scope| [(); 4].map(|()| scope.spawn(read)).map(|reader| reader.join().unwrap()));
        assert!(frames.iter().all(|frame| **frame == [7; 4]));
        assert_eq!(decoded.into_inner(), 1);
    }
}
