//! The witness of a solve: sees each stream on its way into a block, and then every position of it.
//!
//! A stream must be the one that was compared when its block was finished. The witness keeps a
//! checksum of each part of every block, so an error of a log, a reader or the memory is found.
//! Blocks of earlier sessions, and of other processes, have no checksum; their first stream, whose
//! hashes the reader has checked, sets it.
//!
//! # Memory
//! A bitmap for a block under audit, the positions with a losing child; with numbers, one for each
//! plane. For a source in another orientation, the engine lends memory.

use super::finding::Finding;
use super::geometry::{Child, Geometry, spread};
use super::orient::Tile;
use super::{Steps, Witness};
use crate::database::SolveSpec;
use parking_lot::Mutex;
use pipeline::{Auditor, Bitmap, BlockId, Error, SourceStream};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The witnesses of the blocks of a solve that are audited.
pub(crate) struct Witnesses<'a> {
    /// The witness, or the error in the layout.
    witness: Result<Witness<'a>, String>,
    /// The audited blocks; `None` for all.
    chosen: Option<BTreeSet<u32>>,
    /// Buffers for further blocks, if every block is audited. Others are freed, because their
    /// memory is borrowed.
    free: Mutex<Vec<Buffers>>,
    checksums: Checksums,
}

/// By block: the [hashes](SourceStream::hashes) of the parts of its stream that were seen.
type Checksums = Mutex<BTreeMap<u32, Vec<Option<u64>>>>;

struct Buffers {
    /// By plane: the positions with a child in that plane.
    losing: Bitmap,
    tile: Tile,
}

impl<'a> Witnesses<'a> {
    /// Prepares them, if there is an audit.
    pub(crate) fn new(spec: SolveSpec<'a>) -> Option<Witnesses<'a>> {
        let SolveSpec { game, terms } = spec;
        terms.audit.is_some().then(|| Witnesses {
            witness: Witness::new(game, terms.values),
            chosen: terms.audit.chosen(spec.blocks()),
            free: Mutex::default(),
            checksums: Mutex::default(),
        })
    }

    /// Returns whether a block is audited.
    pub(crate) fn audits(&self, block: BlockId) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| chosen.contains(&block.0))
    }

    /// Returns the auditor of a block.
    ///
    /// # Errors
    /// [`Error::Workload`] if the layout has an error; that of [`Bitmap::zeroed`].
    pub(crate) fn of_block(&self, block: BlockId) -> Result<BlockWitness<'_>, Error> {
        let witness = self.witness.as_ref().map_err(Error::workload)?;
        let used = self.free.lock().pop().map(|mut used| {
            used.losing.words_mut().fill(0);
            used
        });
        let buffers = match used {
            Some(used) => used,
            None => Buffers { losing: Bitmap::zeroed(witness.planes * witness.words)?, tile: Tile::new() },
        };
        Ok(BlockWitness {
            witness,
            free: self.chosen.is_none().then_some(&self.free),
            block: block.0,
            children: witness.geometry.children(block.0),
            checksums: &self.checksums,
            shown: BTreeSet::new(),
            changed: None,
            buffers: Some(buffers),
        })
    }
}

/// The witness of one block.
pub(crate) struct BlockWitness<'a> {
    witness: &'a Witness<'a>,
    free: Option<&'a Mutex<Vec<Buffers>>>,
    checksums: &'a Checksums,
    block: u32,
    children: Vec<Child<'a>>,
    /// Ordinal and orientation of the children whose stream has passed.
    shown: BTreeSet<(u32, usize)>,
    /// A source whose stream is not the one that was finished.
    changed: Option<u32>,
    /// There until it is dropped.
    buffers: Option<Buffers>,
}

impl Auditor for BlockWitness<'_> {
    fn see(&mut self, stream: &SourceStream<'_>, spare: &mut [u64]) {
        let Some(Buffers { losing, tile }) = &mut self.buffers else { return };
        if !is_known(self.checksums, stream) {
            self.changed = Some(stream.source.0);
        }
        for child in self.children.iter().filter(|child| child.ordinal == stream.source.0) {
            let is_needed = |words: &Range<usize>| is_needed(&self.witness.geometry, self.witness.words, child, words);
            if !stream.skipped.iter().any(is_needed) && self.shown.insert((child.ordinal, child.orientation)) {
                let uses = &mut [(losing.words_mut(), Steps::new(child.moves))];
                self.witness.mark(child.orientation, stream.words, uses, (&mut spare[..self.witness.words], tile));
            }
        }
    }

    fn judge(&mut self, finished: &[u64]) -> Result<(), String> {
        let own = SourceStream::new(BlockId(self.block), finished, &[]);
        let changed = self.changed.or_else(|| (!is_known(self.checksums, &own)).then_some(self.block));
        if let Some(source) = changed {
            return Err(format!("the stream of block {source} is not the one that was compared when it was finished"));
        }
        let is_missing = |child: &&Child<'_>| !self.shown.contains(&(child.ordinal, child.orientation));
        if let Some(Child { ordinal: source, .. }) = self.children.iter().find(is_missing) {
            let [from, to] = [*source, self.block].map(|ordinal| self.witness.geometry.position(ordinal, 0));
            return Err(format!(
                "not all of the stream of block {source} passed, which moves from block {} lead to \
                 (positions {from:#x} and {to:#x})",
                self.block
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
        if let Some(free) = self.free {
            free.lock().extend(self.buffers.take());
        }
    }
}

/// Returns whether a stream is the one that passed before, part by part, and remembers new parts.
fn is_known(checksums: &Checksums, stream: &SourceStream<'_>) -> bool {
    let found = stream.hashes();
    let mut checksums = checksums.lock();
    let known = checksums.entry(stream.source.0).or_insert_with(|| vec![None; found.len()]);
    known.iter_mut().zip(found).all(|(known, found)| match (*known, found) {
        (Some(known), Some(found)) => known == found,
        (None, found) => {
            *known = found;
            true
        }
        (Some(_), None) => true,
    })
}

/// Returns whether a move leads to a position in these words of a child, in the orientation of its
/// canonical block. The words are a frame: their numbers begin with the same bits.
fn is_needed(geometry: &Geometry, plane_words: usize, child: &Child<'_>, words: &Range<usize>) -> bool {
    let frame = words.len().next_power_of_two();
    let common = (words.start % plane_words) as u64 & !(frame as u64 - 1);
    let common = spread(&geometry.orientations[child.orientation].offset, common * 64);
    child.moves.iter().any(|cells| cells & common == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{Audit, Game, Terms};
    use trinim_game::{Board, Rule};
    use trinim_kernel::{Kernel, SettlePlan};

    /// What is shown of a block has to be what was compared, although it explains itself: a block
    /// of which other values follow is consistent with them.
    #[test]
    fn a_stream_is_the_one_that_was_compared() {
        let board = Board::triangle(4, None).unwrap();
        let layout = crate::layout::Layout::suggested(&board, 9);
        let game = Game { board, rule: Rule::Normal, layout };
        let settle = SettlePlan::new(game.layout.offset_bits(), game.layout.inner_moves());
        let mut first = vec![0; 8];
        Kernel::detect().settle(&settle, &mut first);
        let witnesses = Witnesses::new(Terms { audit: Audit::All, ..Terms::default() }.spec(&game)).unwrap();
        let judge = |block, streams: &[(u32, &[u64])], finished: &[u64]| {
            let mut witness = witnesses.of_block(BlockId(block)).unwrap();
            streams.iter().for_each(|(source, words)| {
                witness.see(&SourceStream::new(BlockId(*source), words, &[]), &mut [u64::MAX; 8]);
            });
            witness.judge(finished)
        };
        assert_eq!(judge(0, &[], &first), Ok(()));
        let mut other = first.clone();
        other[3] ^= 4;
        let wrong = judge(1, &[(0, &other)], &first).unwrap_err();
        assert_eq!(wrong, "the stream of block 0 is not the one that was compared when it was finished");
        let wrong = judge(1, &[(0, &first)], &first).unwrap_err();
        assert!(wrong.contains(" positions contradict their children: "), "{wrong}");
        let wrong = judge(1, &[], &first).unwrap_err();
        assert!(wrong.starts_with("not all of the stream of block 0 passed"), "{wrong}");
        assert_eq!(witnesses.free.lock().len(), 1, "the memory of one block at a time is used again");
        let share = Terms { audit: "60%".parse().unwrap(), ..Terms::default() };
        let share = Witnesses::new(share.spec(&game)).unwrap();
        drop(share.of_block(BlockId(0)).unwrap());
        assert!(share.free.lock().is_empty(), "the memory of a share is borrowed, and goes back");
        // A part that was left out is known when it comes.
        let all = [0..first.len(), 0..0];
        let shown = |words: &[u64], skipped: &[Range<usize>]| {
            is_known(&witnesses.checksums, &SourceStream::new(BlockId(7), words, skipped))
        };
        assert!(shown(&first, &all) && shown(&first, &[]) && shown(&first, &[]));
        assert!(shown(&other, &all) && !shown(&other, &[]));
    }
}
