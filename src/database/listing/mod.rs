//! Lists positions: all losses of a board, one loss of each class of images, or every position with
//! its value.
//!
//! A database stores one block of each isomorphic group. A listing reads each stored block once and
//! turns it to all of its images, so every position of the board appears once. The losses in a book
//! are listed with their images in the same way.
//!
//! # Invariants
//! 1. The images of a stored block are the blocks of its group, each once; the stored block itself
//!    comes first.
//!
//! # Order
//! A listing has a part for each stored frame of losses; parts can be read in any order and by
//! several threads. Inside a part, positions come by image of the block, then by offset; from a
//! book, by number, then by mask. The order is a function of the files, and depends on the layout:
//! sort before you compare layouts.
//!
//! # Canonical positions
//! The canonical position among the images under all symmetries of the *board* is the one with the
//! smallest mask of empty cells, as in a book ([`order::canonical`](super::book::order)). It does
//! not depend on the layout. Several stored positions can be images of each other, because a layout
//! can have fewer symmetries than its board, and a block can be its own image. The one that a
//! look-up of the canonical position would read represents them.
//!
//! # Cost
//! A loss takes about two nanoseconds and a canonical loss about thirty, on one core. Memory is
//! that of a decoded frame, 1 MiB.

mod frame;
mod image;

use super::{Book, Database, DatabaseError, Keep, MANIFEST};
use crate::database::book::BookOrder;
use frame::FrameWalk;
use pipeline::BlockId;
use std::ops::RangeInclusive;
use std::sync::Arc;
use trinim_game::random::Random;
use trinim_game::{Board, Value};

/// The positions of a database with a given number of pieces, in parts.
///
/// ```
/// use trinim::{Database, Game, Rule, Solve};
///
/// let folder = tempfile::tempdir()?;
/// let game = Game::triangle(4, Rule::Misere, 6)?;
/// Solve::from(&game).memory_bytes(64 << 20).run(folder.path())?;
/// let database = Database::open(folder.path())?;
/// let losses: Vec<u64> = database.losses()?.collect::<Result<_, _>>()?;
/// assert_eq!(losses.len(), 142);
/// let classes: Vec<(u64, u32)> = database.canonical_losses()?.collect::<Result<_, _>>()?;
/// assert_eq!(classes.iter().map(|(_, size)| size).sum::<u32>(), 142);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Listing<'a> {
    database: &'a Database,
    pieces: RangeInclusive<u32>,
    source: Source,
}

enum Source {
    /// Block files with this number of frames each.
    Blocks {
        frames: usize,
    },
    Book(Arc<Book>),
}

impl Database {
    /// Returns every loss of the board, all images included: as many as in the census.
    ///
    /// # Errors
    /// Those of [`Listing::new`]. The iterator yields an error for a part that cannot be read, and
    /// continues with the next part.
    pub fn losses(&self) -> Result<impl Iterator<Item = Result<u64, DatabaseError>>, DatabaseError> {
        let listing = Listing::new(self, 0..=self.board().cells())?;
        Ok((0..listing.parts()).flat_map(move |part| each(listing.losses_of(part))))
    }

    /// Returns the canonical loss of each class of images under the symmetries of the board, with
    /// the size of the class. The sizes add up to all losses.
    ///
    /// # Errors
    /// Those of [`Database::losses`].
    pub fn canonical_losses(&self) -> Result<impl Iterator<Item = Result<(u64, u32), DatabaseError>>, DatabaseError> {
        let listing = Listing::new(self, 0..=self.board().cells())?;
        Ok((0..listing.parts()).flat_map(move |part| each(listing.canonical_losses_of(part))))
    }
}

impl<'a> Listing<'a> {
    /// Lists the positions with these numbers of pieces.
    ///
    /// # Errors
    /// [`DatabaseError::NotKept`] if the values of some of these positions were not kept; those of
    /// [`Database::book`].
    pub fn new(database: &'a Database, pieces: RangeInclusive<u32>) -> Result<Listing<'a>, DatabaseError> {
        let source = match (database.manifest().keep, database.book()?) {
            (Keep::Database, _) => Source::Blocks { frames: database.frames_of_losses() },
            (Keep::Book { pieces: least }, Some(book)) if *pieces.start() >= least => Source::Book(book),
            _ => return Err(database.not_kept()),
        };
        Ok(Listing { database, pieces, source })
    }

    /// Returns the board.
    pub fn board(&self) -> &Board {
        self.database.board()
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        match &self.source {
            Source::Blocks { frames } => self.database.layout().canonical_blocks().len() * frames,
            Source::Book(book) => book.frames(),
        }
    }

    /// Returns the number of losses in all parts, from the census.
    pub fn losses(&self) -> u64 {
        self.rows().map(|row| row.losses).sum()
    }

    /// Returns the number of positions in all parts.
    pub fn positions(&self) -> u64 {
        self.rows().map(|row| row.positions).sum()
    }

    /// Returns the error for parts whose number of positions differs from the census.
    pub fn contradiction(&self, listed: u64, found: u64) -> DatabaseError {
        let path = self.database.folder().join(MANIFEST);
        DatabaseError::corrupt(path, None, format!("the census lists {listed} positions, the blocks have {found}"))
    }

    /// Returns whether a position is listed. If all are, its pieces are not counted: that takes as
    /// long as finding a loss.
    fn filter(&self) -> impl Fn(u64) -> bool + use<'a> {
        let all = *self.pieces.start() == 0 && *self.pieces.end() >= self.board().cells();
        let pieces = (!all).then(|| self.pieces.clone());
        move |position| pieces.as_ref().is_none_or(|pieces| pieces.contains(&position.count_ones()))
    }

    fn walk(&self, part: usize, frames: usize) -> Result<FrameWalk<'a>, DatabaseError> {
        FrameWalk::new(self.database, block_of(part, frames), part % frames)
    }

    fn rows(&self) -> impl Iterator<Item = &super::census::PieceCount> {
        self.database.manifest().census.by_pieces.iter().filter(|row| self.pieces.contains(&row.pieces))
    }

    /// Returns the losses of a part.
    ///
    /// # Errors
    /// [`DatabaseError`] if the part cannot be read or is damaged.
    pub fn losses_of(&self, part: usize) -> Result<impl Iterator<Item = u64> + use<'a>, DatabaseError> {
        let (walk, listed) = match &self.source {
            Source::Blocks { frames } => (Some(self.walk(part, *frames)?.losses()), Vec::new()),
            Source::Book(book) => (None, book.losses_of(part, &self.pieces)?),
        };
        let is_listed = self.filter();
        let found = walk.into_iter().flatten().map(|(position, _)| position);
        Ok(found.filter(move |position| is_listed(*position)).chain(listed))
    }

    /// Returns the canonical losses of a part, with the size of their classes.
    ///
    /// # Errors
    /// Those of [`Listing::losses_of`].
    pub fn canonical_losses_of(&self, part: usize) -> Result<Box<dyn Iterator<Item = (u64, u32)> + 'a>, DatabaseError> {
        match &self.source {
            Source::Blocks { frames } => {
                let walk = self.walk(part, *frames)?.losses().stored();
                let (classes, is_listed) = (frame::Classes::new(self.database, block_of(part, *frames)), self.filter());
                let listed = walk.filter(move |(position, _)| is_listed(*position));
                Ok(Box::new(listed.filter_map(move |(position, _)| classes.represent(position))))
            }
            Source::Book(book) => Ok(Box::new(book.canonical_losses(part, &self.pieces)?.into_iter())),
        }
    }

    /// Returns all positions of a part with their values.
    ///
    /// # Errors
    /// Those of [`Listing::losses_of`]; [`DatabaseError::NotKept`] for a book, which lists losses.
    pub fn values_of(&self, part: usize) -> Result<impl Iterator<Item = (u64, Value)> + use<'a>, DatabaseError> {
        let Source::Blocks { frames } = &self.source else { return Err(self.database.not_kept()) };
        let (walk, is_listed) = (self.walk(part, *frames)?, self.filter());
        Ok(walk.filter(move |(position, _)| is_listed(*position)))
    }

    /// Returns the values of `size` positions, or of all if there are fewer, drawn without
    /// replacement and sorted. The positions are a function of the board, the pieces and the random
    /// numbers.
    ///
    /// # Errors
    /// Those of [`Database::value`].
    pub fn sample_of_values(&self, size: u64, random: &mut Random) -> Result<Vec<(u64, Value)>, DatabaseError> {
        let mut positions = drawn(self.board(), &self.pieces, size, random);
        // By place, so that each frame is decoded once.
        positions.sort_by_cached_key(|position| self.database.layout().locate(*position));
        let mut values = Vec::with_capacity(positions.len());
        for position in positions {
            values.push((position, self.database.value(position)?));
        }
        values.sort_unstable_by_key(|(position, _)| *position);
        Ok(values)
    }
}

/// Returns `size` positions with these numbers of pieces, or all if there are fewer, drawn without
/// replacement: those of [`Listing::sample_of_values`].
pub fn drawn(board: &Board, pieces: &RangeInclusive<u32>, size: u64, random: &mut Random) -> Vec<u64> {
    // The positions with one number of pieces have consecutive numbers in the order of books.
    let (order, cells) = (BookOrder::new(board), board.cells());
    let (least, most) = (*pieces.start(), (*pieces.end()).min(cells));
    if least > most {
        return Vec::new();
    }
    let first = if most == cells { 0 } else { order.positions(cells - most - 1) };
    let drawn = random.distinct_below(order.positions(cells - least) - first, size);
    drawn.into_iter().map(|number| order.position(first + number)).collect()
}

/// Returns the block of a part, if each has this number of frames.
fn block_of(part: usize, frames: usize) -> BlockId {
    BlockId((part / frames) as u32)
}

/// Returns the items of a part, or its error.
fn each<T>(part: Result<impl Iterator<Item = T>, DatabaseError>) -> impl Iterator<Item = Result<T, DatabaseError>> {
    let (items, error) = part.map_or_else(|error| (None, Some(error)), |items| (Some(items), None));
    items.into_iter().flatten().map(Ok).chain(error.map(Err))
}
