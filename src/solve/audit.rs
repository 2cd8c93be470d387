//! The audit of a block: sampled positions, and their children in the streams of other blocks.
//!
//! The values of a position follow from those of its children, by the moves of the board and the
//! definition of the values ([`Values::follows`](crate::database::Values)). The audit looks each
//! child up in the decoded stream of its block, before a kernel turns or applies the stream, at the
//! address that [`Layout::locate`](crate::layout::Layout) gives to any position. It shares neither
//! kernels nor edges nor restrictions with the solve: a block left out, turned wrongly, merged
//! twice or not at all, and a frame that was skipped although it was needed, leave positions that
//! contradict their children.
//!
//! Dedicated streams were turned and restricted by their sources. What was wrong there already, the
//! audit of the target cannot see; with shared streams it sees all.
//!
//! # Cost
//! Some 60 bytes for each child of a sampled position: ten MB a block. The children of a position
//! are spread over the whole stream, so each is a cache miss.

use crate::database::{Audit, SolveSpec};
use pipeline::{Auditor, BlockId, SourceStream};
use trinim_game::position;
use trinim_game::random::Random;
use trinim_game::reference::children;
use trinim_kernel::bitmap_words;

pub(super) struct Sample<'a> {
    spec: SolveSpec<'a>,
    block: BlockId,
    /// The offsets of sampled positions, as drawn.
    drawn: Vec<u64>,
    /// Their children in other blocks, by source.
    children: Vec<Child>,
}

struct Child {
    source: BlockId,
    /// The place of the parent in the sample.
    parent: u32,
    position: u64,
    /// Where the value is in the stream of the source.
    offset: u64,
    /// The planes that it is in, once they came by.
    planes: Option<u64>,
}

impl Sample<'_> {
    /// Draws the positions of a block: with repetition, or all of a block that has no more.
    pub(super) fn draw(spec: SolveSpec<'_>, audit: Audit, block: BlockId) -> Sample<'_> {
        let game = spec.game;
        let size = 1u64 << game.layout.offset_bits();
        // Each block has a generator of its own, so that the order of the blocks does not matter.
        let mut chance = Random::new(Random::new(audit.seed).bits() ^ u64::from(block.0));
        let offset = |index| if size <= u64::from(audit.per_block) { index } else { chance.below(size) };
        let drawn: Vec<u64> = (0..audit.positions_of_a_block(game)).map(offset).collect();
        let bid = game.layout.bid(block);
        let mut others = Vec::new();
        for (parent, offset) in (0u32..).zip(&drawn) {
            for position in children(game.board.moves(), game.layout.join(bid, *offset)) {
                if game.layout.split(position).0 != bid {
                    let (source, offset) = game.layout.locate(position);
                    others.push(Child { source, parent, position, offset, planes: None });
                }
            }
        }
        others.sort_unstable_by_key(|child| (child.source, child.offset));
        Sample { spec, block, drawn, children: others }
    }

    /// Returns the planes that have a bit, by looking each up; `None` if one does not tell.
    fn planes(&self, has: impl Fn(u64) -> Option<bool>) -> Option<u64> {
        let bits = 64 * bitmap_words(self.spec.game.layout.offset_bits()) as u64;
        let planes = 0..self.spec.planes() as u64;
        planes.map(|plane| Some(u64::from(has(plane * bits)?) << plane)).try_fold(0, |all, plane| Some(all | plane?))
    }

    fn name(&self, position: u64) -> String {
        position::rows(&self.spec.game.board, position)
    }
}

impl Auditor for Sample<'_> {
    fn see(&mut self, stream: &SourceStream<'_>) {
        let layout = &self.spec.game.layout;
        let bid = layout.bid(stream.source);
        // A stream for one target is that of an image of the source: of the block that the children
        // are in.
        let image = stream.orientation.map(|orientation| layout.symmetries()[usize::from(orientation)].map_bid(bid));
        let first = self.children.partition_point(|child| child.source < stream.source);
        for place in first..self.children.len() {
            let child = &self.children[place];
            if child.source != stream.source {
                break;
            }
            let (of_child, offset) = layout.split(child.position);
            let at = |offset: u64| self.planes(|plane| stream.bit(plane + offset));
            let found = match image {
                // An image of the child in a block that is an image of itself has the same value,
                // and the edge may need that one only.
                None => at(child.offset).or_else(|| {
                    let images = layout.symmetries().iter().filter(|symmetry| symmetry.map_bid(of_child) == bid);
                    images.map(|symmetry| symmetry.map_offset(offset)).find_map(at)
                }),
                Some(image) if image == of_child => at(offset),
                Some(_) => continue,
            };
            let planes = &mut self.children[place].planes;
            *planes = found.or(*planes);
        }
    }

    fn judge(&mut self, finished: &[u64]) -> Result<(), String> {
        let SolveSpec { game, terms } = self.spec;
        let bid = game.layout.bid(self.block);
        let at = |offset: u64| {
            let has = |plane| Some(finished[((plane + offset) / 64) as usize] >> (offset % 64) & 1 == 1);
            self.planes(has).expect("a finished block has every bit")
        };
        let mut known: Vec<Vec<(u64, u64)>> = vec![Vec::new(); self.drawn.len()];
        for child in &self.children {
            let parent = child.parent as usize;
            let Some(planes) = child.planes else {
                return Err(format!(
                    "no stream brought the position {}, which a move from {} leads to",
                    self.name(child.position),
                    self.name(game.layout.join(bid, self.drawn[parent]))
                ));
            };
            known[parent].push((planes, child.position));
        }
        for (offset, mut known) in self.drawn.iter().zip(known) {
            let position = game.layout.join(bid, *offset);
            for child in children(game.board.moves(), position) {
                let (of_child, offset) = game.layout.split(child);
                if of_child == bid {
                    known.push((at(offset), child));
                }
            }
            let planes: Vec<u64> = known.iter().map(|(planes, _)| *planes).collect();
            let (found, expected) = (at(*offset), terms.values.follows(game.rule, &planes));
            if found != expected {
                let losing_child = known.iter().find(|(planes, _)| planes & 1 == 1);
                let why = match losing_child {
                    Some((_, child)) => format!("a move leads to {}, a loss", self.name(*child)),
                    None => "no move leads to a loss".to_owned(),
                };
                let [found, expected] = [found, expected].map(|planes| terms.values.words(planes));
                let name = self.name(position);
                return Err(format!("the position {name} was computed as {found}, but is {expected}: {why}"));
            }
        }
        Ok(())
    }
}
