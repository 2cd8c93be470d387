//! Looks up nimbers and distances to the end, one or many at once: the number of the plane that
//! contains a position ([`Values`]).

use super::{Database, DatabaseError, Values, block_file_name};
use trinim_kernel::bitmap_words;

impl Database {
    /// Returns the nimber of a position in normal play; `None` if the database has no nimbers.
    ///
    /// # Errors
    /// [`DatabaseError`] if a frame of the position cannot be read or is damaged.
    ///
    /// # Panics
    /// If the position has a bit outside the board.
    pub fn nimber(&self, position: u64) -> Result<Option<u32>, DatabaseError> {
        let has = self.values() == Values::Nimbers;
        has.then(|| self.number(position)).transpose()
    }

    /// Returns the distance of a position to the end, in moves; `None` if the database has no
    /// distances.
    ///
    /// # Errors
    /// Those of [`Database::nimber`].
    ///
    /// # Panics
    /// If the position has a bit outside the board.
    pub fn distance(&self, position: u64) -> Result<Option<u32>, DatabaseError> {
        let has = self.values() == Values::Remoteness;
        has.then(|| self.number(position)).transpose()
    }

    /// Returns the number whose plane a position is in.
    fn number(&self, position: u64) -> Result<u32, DatabaseError> {
        assert_eq!(position & !self.board().full(), 0, "position outside the board");
        let (block, offset) = self.layout().locate(position);
        let plane_bits = 64 * bitmap_words(self.layout().offset_bits()) as u64;
        let first = self.values().first_number() as u64;
        for number in 0..self.manifest().numbers() {
            if self.bit(block, (first + u64::from(number)) * plane_bits + offset)? {
                return Ok(number);
            }
        }
        Err(self.no_number(position))
    }

    /// The error for a position in none of the planes.
    pub(super) fn no_number(&self, position: u64) -> DatabaseError {
        let (block, offset) = self.layout().locate(position);
        let what = match self.values() {
            Values::Remoteness => "distance",
            _ => "nimber",
        };
        let path = self.folder().join(block_file_name(block));
        DatabaseError::corrupt(path, None, format!("offset {offset} has no {what} that the manifest counts"))
    }

    /// Reports the nimber of each position, or its distance to the end, as `values` says, with its
    /// number, in any order; returns whether this database has these numbers. [`Database::nimber`]
    /// and [`Database::distance`] do the same for one.
    ///
    /// # Errors
    /// Those of [`Database::nimber`]; some numbers may have been reported before.
    ///
    /// # Panics
    /// Those of [`Database::values_of`].
    pub fn numbers_of(
        &self,
        values: Values,
        positions: &[u64],
        mut report: impl FnMut(usize, u32),
    ) -> Result<bool, DatabaseError> {
        if self.values() != values || values.is_outcomes() {
            return Ok(false);
        }
        let first = values.first_number() as u32;
        let planes: Vec<u32> = (first..first + self.manifest().numbers()).collect();
        self.planes_of(positions, &planes, |number, plane| match plane {
            Some(plane) => {
                report(number, plane - first);
                Ok(())
            }
            None => Err(self.no_number(positions[number])),
        })?;
        Ok(true)
    }
}
