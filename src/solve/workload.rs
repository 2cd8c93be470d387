//! Triangular Nim, or any game given as cells and move masks, as a workload of the engine.
//!
//! Engine blocks are the ordinals of the layout's canonical blocks, orientations the indices of its
//! symmetries. A bitmap has `2^max(m, 9)` bits for `m` offset bits; bit `x` represents the position
//! with offset `x`. Numbers take several bitmaps a block, the *planes*, one after the other.
//!
//! **Nimbers.** Plane `n` has the positions of nimber `n`: the losses among the positions without a
//! lower nimber. No child of such a position has nimber `n`, and for each lower nimber some child
//! has it. Plane `n` takes updates from plane `n` of the sources, as a solve for wins and losses
//! does. It is settled after the lower planes. Their positions are marked as wins, so that they
//! neither count as losses of this plane nor make a position a win.
//!
//! **Distances.** Plane 0 has the losses and is settled first. Plane `1 + d` has the positions of
//! distance `d`, which update plane `2 + d` of their parents. For a win the first such plane
//! counts, for a loss the last one ([`super::distances`]).
//!
//! # Invariants
//! 1. A stream is the loss bitmap of the whole block: `x` is set iff the player to move at (block,
//!    `x`) loses. With nimbers, each `x` is set in exactly one plane; with distances, in one after
//!    the first.
//! 2. The file of a block holds its stream and is as fast to read as a log. Targets read it instead
//!    of shared logs, without the frames that no edge needs.
//! 3. A restriction is the set of offset cells that every operation of an edge fills: a loss that
//!    occupies one of these cells has no parent through this edge and need not be logged, decoded
//!    or oriented.

use super::book::Parts;
use super::distances::Countdown;
use crate::database::{
    BlockForm, BlockSummary, DatabaseError, FirstMoves, Game, Keep, SmallerBoards, SolveSpec, Terms, Values,
    block_file_name, is_database_file,
};
use crate::layout::{Bid, LayoutSymmetry};
use crate::witness::Witnesses;
use pipeline::codec::FRAME_WORDS;
use pipeline::{Auditor, Auditors, BlockId, Edge, Error, Publication, RecallError, Workload};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use trinim_game::Rule;
use trinim_kernel::{ApplyPlan, Kernel, PermutePlan, SettlePlan, bitmap_words, mark_phantoms, mark_without_moves};

/// Index bits of a piece of a stream that is summed up at a time: half a megabyte.
const PIECE_BITS: u32 = 22;

/// Returns whether a plane is whole frames, and a frame is a bitmap.
fn has_whole_frames(offset_bits: u32) -> bool {
    (bitmap_words(0)..=bitmap_words(offset_bits)).contains(&FRAME_WORDS)
}

/// The workload of one solve.
pub struct RemovalGame<'a> {
    spec: SolveSpec<'a>,
    game: &'a Game,
    kernel: Kernel,
    operations: Vec<Arc<[u64]>>,
    apply: HashMap<Arc<[u64]>, ApplyPlan>,
    settle: SettlePlan,
    /// The moves inside a block as updates, if distances are counted.
    inner: Option<ApplyPlan>,
    planes: usize,
    orientations: Vec<PermutePlan>,
    form: BlockForm,
    publish: bool,
    /// The parts of a book, if that is kept.
    parts: Option<Parts<'a>>,
    /// Where the positions after a first move are, if their values go into the summaries.
    first_moves: Option<FirstMoves>,
    /// The smaller boards, if their losses are counted.
    smaller: Option<SmallerBoards>,
    /// The witnesses of the blocks that are audited.
    witnesses: Option<Witnesses<'a>>,
}

impl<'a> RemovalGame<'a> {
    /// Prepares the plans of all updates. Finished blocks are published if the solve keeps the
    /// database; a [`SolveSpec`] from a game does. The kernel does not change the bytes.
    pub fn new(spec: impl Into<SolveSpec<'a>>, kernel: Kernel) -> RemovalGame<'a> {
        let spec = spec.into();
        let SolveSpec { game, terms: Terms { keep, values, .. } } = spec;
        let layout = &game.layout;
        let bits = layout.offset_bits();
        let operations: Vec<Arc<[u64]>> =
            layout.traces().iter().map(|trace| Arc::from(&trace.operations[..])).collect();
        let plan = |masks: &[u64]| match ApplyPlan::new(bits, masks) {
            plan if has_whole_frames(bits) => plan.in_parts(FRAME_WORDS.ilog2() + 6),
            plan => plan,
        };
        let orient = |symmetry: &LayoutSymmetry| PermutePlan::new(symmetry.offset_permutation());
        RemovalGame {
            spec,
            game,
            kernel,
            apply: operations.iter().map(|masks| (masks.clone(), plan(masks))).collect(),
            operations,
            settle: SettlePlan::new(bits, layout.inner_moves()),
            inner: (values == Values::Remoteness).then(|| ApplyPlan::new(bits, layout.inner_moves())),
            planes: spec.planes(),
            orientations: layout.symmetries().iter().map(orient).collect(),
            form: BlockForm::new(spec),
            publish: keep.is_database(),
            parts: match keep {
                Keep::Book { pieces } => Some(Parts::new(game, pieces)),
                Keep::Database | Keep::Counts => None,
            },
            first_moves: (!keep.is_database()).then(|| FirstMoves::new(game)),
            smaller: spec.counts_layers().then(|| SmallerBoards::new(game)),
            witnesses: Witnesses::new(spec),
        }
    }

    /// Returns the same workload, but one that publishes no files.
    #[must_use]
    pub fn unpublished(self) -> RemovalGame<'a> {
        RemovalGame { publish: false, parts: None, ..self }
    }

    /// Returns the same workload, but one that always publishes every block whole.
    #[must_use]
    pub fn published(self) -> RemovalGame<'a> {
        RemovalGame { publish: true, parts: None, ..self }
    }

    /// Returns whether a block is compared with its children before it is saved.
    pub fn audits(&self, block: BlockId) -> bool {
        self.witnesses.as_ref().is_some_and(|witnesses| witnesses.audits(block))
    }

    fn plane_words(&self) -> usize {
        bitmap_words(self.game.layout.offset_bits())
    }

    /// Returns the planes up to the last one that is not empty; an empty plane updates nothing.
    fn planes_in_use(&self, stream: &[u64]) -> usize {
        let planes = stream.chunks_exact(self.plane_words()).rev();
        let empty = planes.take(self.planes - 1).take_while(|plane| plane.iter().all(|word| *word == 0));
        self.planes - empty.count()
    }

    /// Marks the positions of a block without a move in a plane.
    fn mark_over(&self, block: BlockId, plane: &mut [u64]) {
        let layout = &self.game.layout;
        match layout.bid(block) {
            bid if !self.game.board.takes_single_pieces() => mark_without_moves(&layout.moves_in(bid), plane),
            bid => plane[0] |= u64::from(bid == Bid(0)),
        }
    }

    /// Settles the planes of distances; the first one has the wins.
    fn count_down(&self, inner: &ApplyPlan, block: BlockId, bitmap: &mut [u64]) {
        let (losses, planes) = bitmap.split_at_mut(self.plane_words());
        self.kernel.settle(&self.settle, losses);
        let mut over = vec![0; losses.len()];
        self.mark_over(block, &mut over);
        let offset_bits = self.game.layout.offset_bits();
        Countdown::new(self.kernel, inner, self.game.rule, offset_bits, losses).run(&over, planes);
    }

    /// Returns the losses of the first plane by pieces on offset cells, and the digest of all
    /// planes. Both read a piece while it is in the cache.
    fn sum_up(&self, stream: &[u64]) -> (Vec<u64>, [u8; 32]) {
        let offset_bits = self.game.layout.offset_bits();
        let piece_bits = offset_bits.min(PIECE_BITS);
        let mut losses_by_pieces = vec![0; offset_bits as usize + 1];
        let mut digest = blake3::Hasher::new();
        for (number, piece) in stream.chunks(bitmap_words(piece_bits)).enumerate() {
            digest.update(bytemuck::cast_slice(piece));
            if number < 1 << (offset_bits - piece_bits) {
                let counts = losses_by_pieces.iter_mut().skip(number.count_ones() as usize);
                counts.zip(self.kernel.census(piece_bits, piece)).for_each(|(all, more)| *all += more);
            }
        }
        (losses_by_pieces, digest.finalize().into())
    }

    fn edge(&self, edge: crate::layout::Edge) -> Edge {
        let operations = self.operations[edge.trace.0 as usize].clone();
        let restriction = self.game.layout.restriction(edge.trace);
        let fill = |mask: &u64| mask & restriction == restriction;
        assert!(operations.iter().all(fill), "workload, invariant 3: of block {}", edge.target);
        Edge { source: edge.source, target: edge.target, orientation: edge.symmetry, restriction, operations }
    }
}

impl Workload for RemovalGame<'_> {
    fn parameters(&self) -> Vec<(String, String)> {
        self.spec.parameters()
    }

    fn blocks(&self) -> u32 {
        self.game.layout.canonical_blocks().len() as u32
    }

    fn order(&self) -> Vec<BlockId> {
        self.game.layout.order()
    }

    fn stream_words(&self) -> usize {
        self.planes * self.plane_words()
    }

    fn edges_into(&self, target: BlockId) -> Vec<Edge> {
        self.game.layout.edges_into(target).into_iter().map(|edge| self.edge(edge)).collect()
    }

    fn edges_from(&self, source: BlockId) -> Vec<Edge> {
        self.game.layout.edges_from(source).into_iter().map(|edge| self.edge(edge)).collect()
    }

    fn begin(&self, block: BlockId, bitmap: &mut [u64]) {
        for plane in bitmap.chunks_exact_mut(self.plane_words()) {
            mark_phantoms(self.game.layout.offset_bits(), plane);
        }
        // A position without a move is a loss in normal play, the default without updates, and a
        // win in misère.
        if self.game.rule == Rule::Misere {
            self.mark_over(block, &mut bitmap[..self.plane_words()]);
        }
    }

    fn orient(&self, orientation: u8, restriction: u64, stream: &[u64], oriented: &mut [u64]) {
        let words = self.plane_words();
        for (stream, oriented) in stream.chunks_exact(words).zip(oriented.chunks_exact_mut(words)) {
            if orientation == 0 {
                oriented.copy_from_slice(stream);
            } else {
                self.kernel.permute(&self.orientations[usize::from(orientation)], stream, oriented);
            }
            if restriction != 0 {
                self.kernel.restrict(restriction, oriented);
            }
        }
    }

    fn unneeded(&self, edge: &Edge) -> u64 {
        let fill = |mask: &u64| mask & edge.restriction == edge.restriction;
        debug_assert!(edge.operations.iter().all(fill), "workload, invariant 3: of block {}", edge.target);
        // Six index bits are inside a word.
        self.game.layout.restricted(edge.orientation, edge.restriction) >> 6
    }

    fn orient_needed(&self, edge: &Edge, stream: &[u64], oriented: &mut [u64]) {
        let plan = &self.orientations[usize::from(edge.orientation)];
        let (words, unneeded) = (self.plane_words(), self.unneeded(edge));
        let (oriented, rest) = oriented.split_at_mut(words * self.planes_in_use(stream));
        for (stream, oriented) in stream.chunks_exact(words).zip(oriented.chunks_exact_mut(words)) {
            self.kernel.permute_needed(plan, unneeded, stream, oriented);
        }
        rest.fill(0);
    }

    fn apply(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]) {
        let plan = &self.apply[&edge.operations];
        let words = self.plane_words();
        // A distance is one more for the parents.
        let (losses, more) = if self.inner.is_some() { (1, words) } else { (self.planes, 0) };
        let sources = stream.chunks_exact(words).take(self.planes_in_use(stream)).enumerate();
        for (plane, stream) in sources {
            let first = plane * words + if plane < losses { 0 } else { more };
            // No position has a child of the largest distance that there may be.
            if let Some(bitmap) = bitmap.get_mut(first..first + words) {
                self.kernel.apply(plan, stream, bitmap);
            }
        }
    }

    fn apply_first(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]) {
        if self.planes == 1 {
            self.kernel.apply_first(&self.apply[&edge.operations], stream, bitmap);
        } else {
            bitmap.fill(0);
            self.apply(edge, stream, bitmap);
        }
        // It only sets bits, too.
        self.begin(edge.target, bitmap);
    }

    fn applies_frames(&self) -> bool {
        // A frame does not say which plane it belongs to.
        self.planes == 1 && has_whole_frames(self.game.layout.offset_bits())
    }

    fn apply_frame(&self, edge: &Edge, frame: usize, words: &[u64], bitmap: &mut [u64]) {
        self.kernel.apply_part(&self.apply[&edge.operations], frame, words, bitmap);
    }

    fn finish(&self, block: BlockId, bitmap: &mut [u64]) {
        if self.planes == 1 {
            return self.kernel.settle(&self.settle, bitmap);
        }
        if let Some(inner) = &self.inner {
            return self.count_down(inner, block, bitmap);
        }
        let mut settled = vec![0; self.plane_words()];
        mark_phantoms(self.game.layout.offset_bits(), &mut settled);
        let mut planes = bitmap.chunks_exact_mut(settled.len());
        while settled.iter().any(|word| *word != u64::MAX)
            && let Some(plane) = planes.next()
        {
            settle_plane(self.kernel, &self.settle, &mut settled, plane);
        }
        let is_settled = settled.iter().all(|word| *word == u64::MAX);
        assert!(is_settled, "workload, invariant 1: positions of block {block} have no nimber");
        planes.for_each(|plane| plane.fill(0));
    }

    fn audit(&self, block: BlockId) -> Result<Option<Box<dyn Auditor + '_>>, Error> {
        let witness = self.witnesses.as_ref().filter(|witnesses| witnesses.audits(block));
        let witness = witness.map(|witnesses| witnesses.of_block(block)).transpose()?;
        Ok(witness.map(|witness| Box::new(witness) as Box<dyn Auditor>))
    }

    fn auditors(&self) -> Auditors {
        self.spec.terms.audit.auditors(self.stream_words())
    }

    fn summarise(&self, block: BlockId, stream: &[u64]) -> Vec<u8> {
        let words = self.plane_words();
        let (losses_by_pieces, digest) = self.sum_up(stream);
        let by_plane = match self.planes {
            1 => Vec::new(),
            _ => stream.chunks_exact(words).map(|plane| self.kernel.popcount(plane)).collect(),
        };
        let after_first_moves = self.first_moves.as_ref().map_or(Vec::new(), |first| first.values(block, stream));
        let bid = self.game.layout.bid(block);
        let by_layers = self.smaller.as_ref().map_or(Vec::new(), |smaller| smaller.losses(bid, stream));
        BlockSummary { losses_by_pieces, digest, by_layers, by_plane, after_first_moves }.to_bytes()
    }

    fn publish(&self, block: BlockId, stream: &[u64]) -> Option<Publication> {
        if let Some(parts) = &self.parts {
            return parts.of(block, stream);
        }
        self.publish.then(|| Publication { name: block_file_name(block), bytes: self.form.file(block, stream) })
    }

    fn owns(&self, name: &str) -> bool {
        is_database_file(name)
    }

    fn recall(&self, block: BlockId, published: &[u8], stream: &mut [u64]) -> Result<(), RecallError> {
        let name = block_file_name(block);
        self.form.read(name.as_ref(), block, published, stream).map_err(unreadable)
    }

    fn publishes_streams(&self) -> bool {
        self.publish
    }

    fn recall_needed(
        &self,
        block: BlockId,
        published: &[u8],
        unneeded: &[u64],
        stream: &mut [u64],
    ) -> Result<Vec<Range<usize>>, RecallError> {
        let name = block_file_name(block);
        self.form.read_needed(name.as_ref(), block, published, unneeded, stream).map_err(unreadable)
    }

    fn examine(&self, block: BlockId, published: &[u8], stream: &mut [u64]) -> Result<(), RecallError> {
        match &self.parts {
            Some(parts) => parts.examine(block, published).map_err(unreadable),
            None => self.recall(block, published, stream),
        }
    }
}

fn unreadable(error: DatabaseError) -> RecallError {
    match error {
        DatabaseError::Corrupt { offset, damage, .. } => RecallError { offset, damage },
        other => RecallError { offset: None, damage: other.to_string().into() },
    }
}

/// Settles the plane of a nimber: positions of earlier planes count as wins. Adds the positions of
/// this plane to `settled`.
pub(super) fn settle_plane(kernel: Kernel, plan: &SettlePlan, settled: &mut [u64], plane: &mut [u64]) {
    plane.iter_mut().zip(&*settled).for_each(|(wins, settled)| *wins |= settled);
    kernel.settle(plan, plane);
    settled.iter_mut().zip(&*plane).for_each(|(settled, found)| *settled |= found);
}
