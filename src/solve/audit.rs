//! The audit of a block: sampled positions, and their children in the streams of other blocks.
//!
//! A position is a loss iff none of its children is, by the moves of the board and the definition
//! of the game. The audit looks each child up in the decoded stream of its block, before a kernel
//! turns or applies the stream, at the address that [`Layout::locate`](crate::layout::Layout) gives
//! to any position. It shares neither kernels nor edges nor restrictions with the solve: a block
//! left out, turned wrongly, merged twice or not at all, and a frame that was skipped although it
//! was needed, leave positions that contradict their children.
//!
//! Dedicated streams were turned and restricted by their sources. What was wrong there already, the
//! audit of the target cannot see; with shared streams it sees all.
//!
//! # Cost
//! 32 bytes for each child of a sampled position: a few MB a block. The children of a position are
//! spread over the whole stream, so each is a cache miss.

use crate::database::{Audit, Game};
use pipeline::{Auditor, BlockId, Passing};
use trinim_game::random::Random;
use trinim_game::reference::children;
use trinim_game::{Value, position};

/// The sample of one block.
pub(super) struct Sample<'a> {
    game: &'a Game,
    block: BlockId,
    /// Sampled positions, by offset as drawn.
    drawn: Vec<Drawn>,
    /// Their children in other blocks, by source.
    children: Vec<Child>,
}

struct Drawn {
    offset: u64,
    /// A losing child, once one was found.
    losing_child: Option<u64>,
}

struct Child {
    source: BlockId,
    /// The place of the parent in the sample.
    parent: u32,
    position: u64,
    /// Where the value is in the stream of the source.
    offset: u64,
    is_known: bool,
}

impl Sample<'_> {
    /// Draws the positions of a block: with repetition, or all of a block that has no more.
    pub(super) fn draw(game: &Game, audit: Audit, block: BlockId) -> Sample<'_> {
        let size = 1u64 << game.layout.offset_bits();
        // Each block has a generator of its own, so that the order of the blocks does not matter.
        let mut chance = Random::new(Random::new(audit.seed).bits() ^ u64::from(block.0));
        let offset = |index| if size <= u64::from(audit.per_block) { index } else { chance.below(size) };
        let drawn: Vec<Drawn> = (0..audit.positions_of_a_block(game))
            .map(offset)
            .map(|offset| Drawn { offset, losing_child: None })
            .collect();
        let bid = game.layout.bid(block);
        let mut others = Vec::new();
        for (parent, drawn) in (0u32..).zip(&drawn) {
            for position in children(game.board.moves(), game.layout.join(bid, drawn.offset)) {
                if game.layout.split(position).0 != bid {
                    let (source, offset) = game.layout.locate(position);
                    others.push(Child { source, parent, position, offset, is_known: false });
                }
            }
        }
        others.sort_unstable_by_key(|child| (child.source, child.offset));
        Sample { game, block, drawn, children: others }
    }

    fn position(&self, offset: u64) -> u64 {
        self.game.layout.join(self.game.layout.bid(self.block), offset)
    }

    /// Names a position in a message.
    fn name(&self, position: u64) -> String {
        position::rows(&self.game.board, position)
    }
}

impl Auditor for Sample<'_> {
    fn see(&mut self, stream: &Passing<'_>) {
        let layout = &self.game.layout;
        let bid = layout.bid(stream.source);
        // A stream for one target is that of an image of the source: of the block that the children
        // are in.
        let image = stream.orientation.map(|orientation| layout.symmetries()[usize::from(orientation)].map_bid(bid));
        let first = self.children.partition_point(|child| child.source < stream.source);
        for child in self.children[first..].iter_mut().take_while(|child| child.source == stream.source) {
            let (of_child, offset) = layout.split(child.position);
            let found = match image {
                // An image of the child in a block that is an image of itself has the same value,
                // and the edge may need that one only.
                None => stream.bit(child.offset).or_else(|| {
                    let images = layout.symmetries().iter().filter(|symmetry| symmetry.map_bid(of_child) == bid);
                    images.map(|symmetry| symmetry.map_offset(offset)).find_map(|offset| stream.bit(offset))
                }),
                Some(image) if image == of_child => stream.bit(offset),
                Some(_) => continue,
            };
            child.is_known |= found.is_some();
            if found == Some(true) {
                self.drawn[child.parent as usize].losing_child = Some(child.position);
            }
        }
    }

    fn judge(&mut self, finished: &[u64]) -> Result<(), String> {
        let is_loss = |offset: u64| finished[(offset / 64) as usize] >> (offset % 64) & 1 == 1;
        if let Some(child) = self.children.iter().find(|child| !child.is_known) {
            let parent = self.position(self.drawn[child.parent as usize].offset);
            return Err(format!(
                "no stream brought the position {}, which a move from {} leads to",
                self.name(child.position),
                self.name(parent)
            ));
        }
        for drawn in &self.drawn {
            let position = self.position(drawn.offset);
            let (bid, _) = self.game.layout.split(position);
            let mut inner = children(self.game.board.moves(), position).filter(|child| {
                let (of_child, offset) = self.game.layout.split(*child);
                of_child == bid && is_loss(offset)
            });
            let losing_child = drawn.losing_child.or_else(|| inner.next());
            let expected = match losing_child {
                Some(_) => Value::Win,
                None if self.game.board.is_over(position) => self.game.rule.empty(),
                None => Value::Loss,
            };
            let found = Value::from_loss(is_loss(drawn.offset));
            if found != expected {
                let why = match losing_child {
                    Some(child) => format!("a move leads to {}, a loss", self.name(child)),
                    None => "no move leads to a loss".to_owned(),
                };
                let name = self.name(position);
                return Err(format!("the position {name} was computed as a {found}, but is a {expected}: {why}"));
            }
        }
        Ok(())
    }
}
