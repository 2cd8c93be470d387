//! Opens a book, looks positions up, and reads it from end to end.

use super::super::{DatabaseError, Game};
use super::file::{BookHead, BookIndex};
use super::order::{BookOrder, canonical, orbit_size};
use crate::database::census::Census;
use parking_lot::Mutex;
use pipeline::{Damage, StorageFile};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use trinim_game::{Board, Value};

/// Most decoded frames that are cached: 32 MiB.
const CACHED_FRAMES: usize = 64;

/// An open book, shareable between threads.
pub struct Book {
    path: PathBuf,
    file: Arc<dyn StorageFile>,
    file_bytes: u64,
    board: Board,
    order: BookOrder,
    index: BookIndex,
    cache: Mutex<HashMap<usize, Arc<Vec<u64>>>>,
}

/// Adds up a book that is read from end to end, to compare it with its digest and with a census.
pub struct Account<'a> {
    board: &'a Board,
    order: &'a BookOrder,
    digest: blake3::Hasher,
    /// By number of empty cells: losses among all positions, not only canonical ones.
    losses_by_empties: Vec<u64>,
}

impl<'a> Account<'a> {
    /// Starts the account of a book.
    pub fn new(board: &'a Board, order: &'a BookOrder, head: &BookHead) -> Account<'a> {
        let losses_by_empties = vec![0; head.empties_at_most() as usize + 1];
        Account { board, order, digest: blake3::Hasher::new(), losses_by_empties }
    }

    /// Adds the next frame.
    ///
    /// # Errors
    /// The damage of a position in it.
    pub fn add(&mut self, numbers: &[u64]) -> Result<(), Damage> {
        for number in numbers {
            let position = self.order.position(*number);
            if canonical(self.board, position) != position {
                return Err("a position that is not canonical".into());
            }
            let empties = self.board.cells() - position.count_ones();
            self.losses_by_empties[empties as usize] += orbit_size(self.board, position);
            self.digest.update(&number.to_le_bytes());
        }
        Ok(())
    }

    /// Compares with the digest in the book and with the census of the same game.
    ///
    /// # Errors
    /// The first difference.
    pub fn agree(&self, index: &BookIndex, census: &Census) -> Result<(), Damage> {
        let (expected, found) = (blake3::Hash::from_bytes(index.digest), self.digest.finalize());
        if expected != found {
            let (expected, found) = (expected.to_string(), found.to_string());
            return Err(Damage::Hash { of: "BLAKE3 of the numbers", expected, found });
        }
        for (row, found) in census.by_pieces.iter().rev().zip(&self.losses_by_empties) {
            if row.losses != *found {
                let (pieces, listed) = (row.pieces, row.losses);
                return Err(format!("{found} losses with {pieces} pieces, the census has {listed}").into());
            }
        }
        Ok(())
    }
}

impl Book {
    /// Opens the book of a game, which is in this file.
    ///
    /// # Errors
    /// [`DatabaseError::Io`], [`DatabaseError::Version`], [`DatabaseError::Corrupt`].
    pub fn open(file: Arc<dyn StorageFile>, game: &Game, pieces: u32) -> Result<Book, DatabaseError> {
        let (path, file_bytes) = (file.path(), file.length()?);
        let order = BookOrder::new(&game.board);
        let index = BookIndex::open(&*file, &BookHead::new(game, pieces, None), &order)?;
        let (board, cache) = (game.board.clone(), Mutex::default());
        Ok(Book { path, file, file_bytes, board, order, index, cache })
    }

    /// Returns the canonical losses in it.
    pub fn losses(&self) -> u64 {
        self.index.losses
    }

    /// Returns the length of its file, in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Returns the value of a position; `None` if it has too few pieces.
    ///
    /// # Errors
    /// [`DatabaseError`] if the frame cannot be read or is damaged.
    pub fn value(&self, position: u64) -> Result<Option<Value>, DatabaseError> {
        if position.count_ones() < self.index.head.pieces {
            return Ok(None);
        }
        let number = self.order.number(canonical(&self.board, position));
        let Some(frame) = self.index.frame_of(number) else { return Ok(Some(Value::Win)) };
        let numbers = self.frame(frame)?;
        Ok(Some(Value::from_loss(numbers.binary_search(&number).is_ok())))
    }

    pub(in crate::database) fn frames(&self) -> usize {
        self.index.frames.len()
    }

    /// Returns the canonical losses of a frame with these numbers of pieces, by number, with the
    /// sizes of their classes.
    pub(in crate::database) fn canonical_losses(
        &self,
        frame: usize,
        pieces: &RangeInclusive<u32>,
    ) -> Result<Vec<(u64, u32)>, DatabaseError> {
        let positions = self.decode(frame)?.into_iter().map(|number| self.order.position(number));
        let listed = positions.filter(|position| pieces.contains(&position.count_ones()));
        Ok(listed.map(|position| (position, orbit_size(&self.board, position) as u32)).collect())
    }

    /// Returns the losses of a frame with these numbers of pieces, all images of each.
    pub(in crate::database) fn losses_of(
        &self,
        frame: usize,
        pieces: &RangeInclusive<u32>,
    ) -> Result<Vec<u64>, DatabaseError> {
        let (mut losses, mut images) = (Vec::new(), Vec::new());
        for (position, _) in self.canonical_losses(frame, pieces)? {
            images.clear();
            images.extend(self.board.symmetries().iter().map(|symmetry| symmetry.apply(position)));
            images.sort_unstable();
            images.dedup();
            losses.extend_from_slice(&images);
        }
        Ok(losses)
    }

    fn frame(&self, frame: usize) -> Result<Arc<Vec<u64>>, DatabaseError> {
        if let Some(numbers) = self.cache.lock().get(&frame) {
            return Ok(numbers.clone());
        }
        let numbers = Arc::new(self.decode(frame)?);
        debug_assert!(numbers.is_sorted_by(|one, next| one < next), "book, invariant 2: numbers ascend strictly");
        let mut cache = self.cache.lock();
        if cache.len() >= CACHED_FRAMES {
            cache.clear();
        }
        cache.insert(frame, numbers.clone());
        Ok(numbers)
    }

    fn decode(&self, frame: usize) -> Result<Vec<u64>, DatabaseError> {
        let row = self.index.frames[frame];
        let mut stored = vec![0; row.stored_bytes as usize];
        self.file.read_exact_at(&mut stored, row.offset)?;
        self.index.decode(&self.path, frame, &stored)
    }
}
