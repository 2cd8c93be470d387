//! The witness of a solve: sees each stream on its way into a block, and then every position of it.
//!
//! # Memory
//! Two bitmaps for a block under audit: the positions with a losing child, and a source in another
//! orientation. With numbers, the first has a plane for each.

use super::finding::Finding;
use super::geometry::{Child, Geometry, spread};
use super::turn::Tile;
use super::{Steps, Witness};
use crate::database::{Game, Values};
use parking_lot::Mutex;
use pipeline::{Auditor, Bitmap, BlockId, Error, SourceStream};
use std::collections::BTreeSet;
use std::ops::Range;

/// The witnesses of all blocks of a solve.
pub(crate) struct Witnesses<'a> {
    /// What is wrong with the layout, if it has no witness.
    witness: Result<Witness<'a>, String>,
    /// Buffers that no block has.
    free: Mutex<Vec<Buffers>>,
}

struct Buffers {
    /// By plane: the positions with a child in that plane.
    losing: Bitmap,
    /// A plane of a source in another orientation.
    turned: Bitmap,
    tile: Tile,
}

impl<'a> Witnesses<'a> {
    pub(crate) fn new(game: &'a Game, values: Values) -> Witnesses<'a> {
        Witnesses { witness: Witness::new(game, values), free: Mutex::default() }
    }

    /// Returns the bytes of the bitmaps of one block.
    pub(crate) fn bytes_of_one(&self) -> u64 {
        self.witness.as_ref().map_or(0, |witness| ((witness.planes + 1) * witness.words * 8) as u64)
    }

    /// Returns the auditor of a block.
    ///
    /// # Errors
    /// [`Error::Workload`] if something is wrong with the layout; that of [`Bitmap::zeroed`].
    pub(crate) fn of_block(&self, block: BlockId) -> Result<BlockWitness<'_>, Error> {
        let witness = self.witness.as_ref().map_err(Error::workload)?;
        let mut buffers = match self.free.lock().pop() {
            Some(buffers) => buffers,
            None => Buffers {
                losing: Bitmap::zeroed(witness.planes * witness.words)?,
                turned: Bitmap::zeroed(witness.words)?,
                tile: Tile::new(),
            },
        };
        buffers.losing.words_mut().fill(0);
        let children = witness.geometry.children(block.0);
        Ok(BlockWitness {
            witness,
            free: &self.free,
            block: block.0,
            children,
            shown: BTreeSet::new(),
            buffers: Some(buffers),
        })
    }
}

/// The witness of one block.
pub(crate) struct BlockWitness<'a> {
    witness: &'a Witness<'a>,
    free: &'a Mutex<Vec<Buffers>>,
    block: u32,
    children: Vec<Child<'a>>,
    /// Ordinal and turn of the children whose stream has passed.
    shown: BTreeSet<(u32, usize)>,
    /// There until it is dropped.
    buffers: Option<Buffers>,
}

impl Auditor for BlockWitness<'_> {
    fn see(&mut self, stream: &SourceStream<'_>) {
        // A stream that its source has turned for this block says nothing about what it was.
        let Some(Buffers { losing, turned, tile }) = self.buffers.as_mut().filter(|_| stream.orientation.is_none())
        else {
            return;
        };
        for child in self.children.iter().filter(|child| child.ordinal == stream.source.0) {
            let is_needed = |words: &Range<usize>| is_needed(&self.witness.geometry, self.witness.words, child, words);
            if !stream.skipped().iter().any(is_needed) && self.shown.insert((child.ordinal, child.turn)) {
                let uses = &mut [(losing.words_mut(), Steps::new(child.moves))];
                self.witness.mark(child.turn, stream.words(), uses, (turned.words_mut(), tile));
            }
        }
    }

    fn judge(&mut self, finished: &[u64]) -> Result<(), String> {
        if let Some(child) = self.children.iter().find(|child| !self.shown.contains(&(child.ordinal, child.turn))) {
            let name = |ordinal| self.witness.geometry.position(ordinal, 0);
            return Err(format!(
                "not all of the stream of block {} passed, which moves from block {} lead to (positions {:#x} and {:#x})",
                child.ordinal,
                self.block,
                name(child.ordinal),
                name(self.block)
            ));
        }
        let Some(Buffers { losing, .. }) = &mut self.buffers else { return Ok(()) };
        let mut findings: Vec<Finding> = Vec::new();
        let wrong = self.witness.judge(self.block, (finished, losing.words_mut()), &|_| None, &mut findings);
        match findings.first() {
            None => Ok(()),
            Some(first) => Err(format!("{wrong} positions contradict their children: {first}")),
        }
    }
}

impl Drop for BlockWitness<'_> {
    fn drop(&mut self) {
        self.free.lock().extend(self.buffers.take());
    }
}

/// Returns whether a move leads to a position in these words of a child, in the orientation of its
/// canonical block. They are a frame: all numbers that begin with the same bits.
fn is_needed(geometry: &Geometry, plane_words: usize, child: &Child<'_>, words: &Range<usize>) -> bool {
    let frame = words.len().next_power_of_two();
    let common = (words.start % plane_words) as u64 & !(frame as u64 - 1);
    let common = spread(&geometry.turns()[child.turn].offset, common * 64);
    child.moves.iter().any(|cells| cells & common == 0)
}
