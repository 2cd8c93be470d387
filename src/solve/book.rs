//! The book of a solve: each block contributes a part while it is in memory, and the parts become
//! one file at the end.
//!
//! The parts are deleted only after the book was read back and adds up to the census.
//!
//! # Every stop
//! | Stop at | On disk | Resume |
//! |---|---|---|
//! | before the rename of the book | parts in the journal, a temporary file | the book is made again |
//! | between the book and the new generation | parts in the journal, the book, perhaps the lists | the same, with the same bytes |
//! | after the new generation | the book and the lists, some parts | the solve is finished; `trinim repair` removes the parts |
//!
//! # Cost
//! A part reads each word of the bitmap that can hold a position with enough pieces, and takes 8
//! bytes of memory for each loss among these positions. Merging takes 64 MiB and reads the parts
//! once for each 8 million losses.

use crate::database::book::order::canonical;
use crate::database::book::{Account, BookEncoder, BookHead, BookIndex, BookOrder, FRAME_LOSSES, part_file_name};
use crate::database::census::Census;
use crate::database::{BOOK, DatabaseError, Game, Keep, SolveSpec, is_database_file};
use pipeline::checkpoint::{Checkpoint, PUBLISHED, PublishedFile, TEMPORARY};
use pipeline::storage::{Create, EntryKind};
use pipeline::{BlockId, Damage, Error, Publication, Storage, StorageFile};
use std::ops::Range;

/// Losses that are merged at a time.
const MERGED_AT_A_TIME: usize = 8 << 20;

/// The collected parts of the blocks.
pub(super) struct Parts<'a> {
    game: &'a Game,
    pieces: u32,
    order: BookOrder,
    /// The block of the full board. It always has a part, so a finished run without parts has a
    /// complete book.
    last: BlockId,
    merged_at_a_time: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn new(game: &'a Game, pieces: u32) -> Parts<'a> {
        let (last, _) = game.layout.locate(game.board.full());
        Parts { game, pieces, order: BookOrder::new(&game.board), last, merged_at_a_time: MERGED_AT_A_TIME }
    }

    /// Returns the head of the book, or of the part of a block.
    fn head(&self, block: Option<BlockId>) -> BookHead {
        BookHead::new(self.game, self.pieces, block)
    }

    /// Returns the part of a block: its losses with enough pieces; `None` if it has none.
    pub(super) fn of(&self, block: BlockId, stream: &[u64]) -> Option<Publication> {
        let game = self.game;
        let bid = game.layout.bid(block);
        // Pieces on offset cells, at least; the lowest six offset bits are inside a word.
        let least = self.pieces.saturating_sub(bid.pieces());
        if least > game.layout.offset_bits() {
            return None;
        }
        let mut numbers = Vec::new();
        let words = stream.len().min(1_usize << game.layout.offset_bits().saturating_sub(6));
        for (place, word) in stream[..words].iter().enumerate().filter(|(place, _)| place.count_ones() + 6 >= least) {
            let mut losses = *word;
            while losses != 0 {
                let offset = (place as u64) << 6 | u64::from(losses.trailing_zeros());
                if offset.count_ones() >= least {
                    numbers.push(self.order.number(canonical(&game.board, game.layout.join(bid, offset))));
                }
                losses &= losses - 1;
            }
        }
        if numbers.is_empty() && block != self.last {
            return None;
        }
        numbers.sort_unstable();
        numbers.dedup();
        let bytes = BookEncoder::whole(self.head(Some(block)), &numbers);
        Some(Publication { name: part_file_name(block), bytes })
    }

    pub(super) fn examine(&self, block: BlockId, file: &[u8]) -> Result<(), DatabaseError> {
        let name = part_file_name(block);
        let index = BookIndex::read(name.as_ref(), file, &self.head(Some(block)), &self.order)?;
        (0..index.frames.len()).try_for_each(|frame| index.decode_in(name.as_ref(), frame, file).map(drop))
    }

    pub(super) fn bind(&self, storage: &dyn Storage, parts: &[(BlockId, PublishedFile)]) -> Result<(), Error> {
        let name = format!("{PUBLISHED}/{BOOK}");
        let temporary = format!("{name}{TEMPORARY}");
        let file = storage.create(&temporary, Create::Truncate)?;
        let mut encoder = BookEncoder::new(self.head(None));
        let mut waiting: Vec<u64> = Vec::new();
        for range in self.ranges(storage, parts)? {
            let before = waiting.len();
            for (block, part) in parts {
                let (bytes, index) = self.read(storage, *block, part)?;
                for (frame, row) in index.frames.iter().enumerate() {
                    let next = index.frames.get(frame + 1).map_or(u64::MAX, |next| next.first);
                    if row.first < range.end && next > range.start {
                        let decoded = index.decode_in(&storage.path(&part.name), frame, &bytes);
                        let decoded = decoded.map_err(|error| unreadable(storage, part, &error))?;
                        waiting.extend(decoded.into_iter().filter(|number| range.contains(number)));
                    }
                }
            }
            waiting[before..].sort_unstable();
            waiting.dedup();
            let whole = waiting.len() / FRAME_LOSSES * FRAME_LOSSES;
            write(&*file, &mut encoder, &waiting[..whole])?;
            waiting.drain(..whole);
        }
        write(&*file, &mut encoder, &waiting)?;
        let at = encoder.at();
        let (header, index) = encoder.finish();
        file.write_all_at(&index, at)?;
        file.write_all_at(&header, 0)?;
        file.sync()?;
        drop(file);
        storage.rename(&temporary, &name)?;
        storage.sync_dir(PUBLISHED)
    }

    /// Divides the numbers so that about [`MERGED_AT_A_TIME`] losses are in each range.
    fn ranges(&self, storage: &dyn Storage, parts: &[(BlockId, PublishedFile)]) -> Result<Vec<Range<u64>>, Error> {
        let mut firsts = Vec::new();
        for (block, part) in parts {
            let (_, index) = self.read(storage, *block, part)?;
            firsts.extend(index.frames.iter().map(|row| row.first));
        }
        firsts.sort_unstable();
        let step = (self.merged_at_a_time / FRAME_LOSSES).max(1);
        let inner = firsts.iter().copied().skip(step).step_by(step);
        let mut bounds: Vec<u64> = [0].into_iter().chain(inner).chain([u64::MAX]).collect();
        bounds.dedup();
        Ok(bounds.windows(2).map(|pair| pair[0]..pair[1]).collect())
    }

    /// Reads the part of a block, and its index.
    fn read(&self, storage: &dyn Storage, block: BlockId, part: &PublishedFile) -> Result<(Vec<u8>, BookIndex), Error> {
        let bytes = part.read(storage)?;
        let index = BookIndex::read(&storage.path(&part.name), &bytes, &self.head(Some(block)), &self.order)
            .map_err(|error| unreadable(storage, part, &error))?;
        Ok((bytes, index))
    }
}

fn unreadable(storage: &dyn Storage, part: &PublishedFile, error: &DatabaseError) -> Error {
    Error::corrupt(storage.path(&part.name), None, error.to_string())
}

fn write(file: &dyn StorageFile, encoder: &mut BookEncoder, numbers: &[u64]) -> Result<(), Error> {
    for numbers in numbers.chunks(FRAME_LOSSES) {
        let at = encoder.at();
        file.write_all_at(&encoder.frame(numbers), at)?;
    }
    Ok(())
}

pub(super) fn length(storage: &dyn Storage) -> Result<u64, Error> {
    let name = format!("{PUBLISHED}/{BOOK}");
    storage.length(&name)?.ok_or_else(|| Error::corrupt(storage.path(&name), None, Damage::MISSING))
}

/// Reads a book from end to end: checks every hash, the digest, and that the book adds up to the
/// census. Returns the BLAKE3 of the bytes that were checked.
pub(crate) fn examine(
    storage: &dyn Storage,
    name: &str,
    spec: SolveSpec<'_>,
    census: &Census,
) -> Result<blake3::Hash, DatabaseError> {
    let (game, Keep::Book { pieces }) = (spec.game, spec.terms.keep) else {
        return Err(DatabaseError::corrupt(storage.path(name), None, "a book that nobody asked for"));
    };
    let (path, file) = (storage.path(name), storage.open(name)?);
    let (head, order) = (BookHead::new(game, pieces, None), BookOrder::new(&game.board));
    let (index, header, rows) = BookIndex::with_bytes(&*file, &head, &order)?;
    let mut account = Account::new(&game.board, &order, &head);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&header);
    let mut stored = Vec::new();
    for (frame, row) in index.frames.iter().enumerate() {
        stored.resize(row.stored_bytes as usize, 0);
        file.read_exact_at(&mut stored, row.offset)?;
        hasher.update(&stored);
        let numbers = index.decode(&path, frame, &stored)?;
        account.add(&numbers).map_err(|damage| DatabaseError::corrupt(&path, row.offset, damage))?;
    }
    hasher.update(&rows);
    account.agree(&index, census).map_err(|damage| DatabaseError::corrupt(&path, None, damage))?;
    Ok(hasher.finalize())
}

pub(super) fn sum(storage: &dyn Storage, spec: SolveSpec<'_>, census: &Census) -> Result<blake3::Hash, Error> {
    let name = format!("{PUBLISHED}/{BOOK}");
    examine(storage, &name, spec, census).map_err(|error| match error {
        DatabaseError::Corrupt { path, offset, damage } => Error::Corrupt { path, offset, damage },
        DatabaseError::Io { operation, path, source } => Error::io(operation, path, source),
        other => Error::corrupt(storage.path(&name), None, other.to_string()),
    })
}

/// Removes the parts that no record names any more.
pub(super) fn remove_parts(storage: &dyn Storage, checkpoint: &Checkpoint) -> Result<(), Error> {
    let is_part = |name: &str| name.ends_with(".part") && is_database_file(name);
    let entries = storage.list(PUBLISHED)?;
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File && is_part(&entry.name)) {
        checkpoint.remove(&format!("{PUBLISHED}/{}", entry.name))?;
    }
    storage.sync_dir(PUBLISHED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::SimulatedStorage;
    use trinim_game::Rule;
    use xxhash_rust::xxh3::xxh3_128;

    /// Parts that overlap, merged in one range and in as many as there are frames: the book of all
    /// their numbers.
    #[test]
    fn ranges_do_not_change_the_book() {
        let game = Game::triangle(7, Rule::Misere, 20).expect("a board");
        let numbers = |step: usize, count: u64| (0..count).map(|place| place * 3).step_by(step).collect::<Vec<u64>>();
        let lists = [numbers(1, 200_000), numbers(2, 200_000), numbers(7, 300_000), vec![], vec![5]];
        let disk = SimulatedStorage::new(1);
        disk.create_dir(PUBLISHED).expect("a folder");
        let files: Vec<(BlockId, PublishedFile)> = (0..)
            .map(BlockId)
            .zip(&lists)
            .map(|(block, numbers)| {
                let bytes = BookEncoder::whole(BookHead::new(&game, 8, Some(block)), numbers);
                let name = format!("{PUBLISHED}/{}", part_file_name(block));
                disk.put(&name, &bytes);
                (block, PublishedFile { name, length: bytes.len() as u64, hash: xxh3_128(&bytes) })
            })
            .collect();
        let mut all = lists.concat();
        all.sort_unstable();
        all.dedup();
        let expected = BookEncoder::whole(BookHead::new(&game, 8, None), &all);
        for merged_at_a_time in [1, FRAME_LOSSES, 3 * FRAME_LOSSES, MERGED_AT_A_TIME] {
            let parts = Parts { merged_at_a_time, ..Parts::new(&game, 8) };
            let ranges = parts.ranges(&disk, &files).expect("sound parts").len();
            assert_eq!(ranges > 1, merged_at_a_time < MERGED_AT_A_TIME, "{ranges}");
            parts.bind(&disk, &files).expect("a book");
            assert!(disk.contents("db/book").as_ref() == Some(&expected), "{merged_at_a_time}");
            let index =
                BookIndex::read("book".as_ref(), &expected, &parts.head(None), &parts.order).expect("a sound book");
            let found = (0..index.frames.len()).map(|frame| index.decode_in("book".as_ref(), frame, &expected));
            let found: Vec<u64> = found.collect::<Result<Vec<_>, _>>().expect("sound frames").concat();
            assert!(index.frames.len() > 3 && found == all);
        }
    }
}
