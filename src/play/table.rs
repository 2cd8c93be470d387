//! A small solved board in memory.
//!
//! # Shape
//! The bitmap of each canonical block by ordinal, one bit for each position, 1 for a loss, as in
//! the files of the database. Seven layers take 32 MiB or less.

use super::{AnswerError, Answers};
use crate::database::{Database, DatabaseError, Game};
use crate::game::{Board, Rule, Value};
use crate::kernel::bitmap_words;

/// The values of all positions of a board, in memory.
pub struct Table {
    game: Game,
    blocks: Vec<Vec<u64>>,
}

impl Table {
    /// Reads all values of a database, whose files are not needed afterwards.
    ///
    /// # Errors
    /// [`DatabaseError::NotKept`] unless every value was kept; those of [`Database::bitmap`].
    pub fn of(database: &Database) -> Result<Table, DatabaseError> {
        let layout = database.layout();
        let words = bitmap_words(layout.offset_bits());
        let read = |ordinal: u32| {
            let mut block = vec![0; words];
            database.bitmap(ordinal, &mut block).map(|()| block)
        };
        let blocks = (0..layout.canonical_blocks().len() as u32).map(read).collect::<Result<_, _>>()?;
        Ok(Table { game: database.game().clone(), blocks })
    }
}

impl Answers for Table {
    fn board(&self) -> &Board {
        &self.game.board
    }

    fn rule(&self) -> Rule {
        self.game.rule
    }

    fn value(&self, position: u64) -> Result<Value, AnswerError> {
        assert_eq!(position & !self.game.board.full(), 0, "position outside the board");
        let (block, offset) = self.game.layout.locate(position);
        Ok(Value::from_loss(self.blocks[block.index()][(offset / 64) as usize] >> (offset % 64) & 1 == 1))
    }
}
