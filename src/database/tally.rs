//! Adds up the summaries of the blocks, one by one, to the manifest of a solve. Only the row of a
//! block stays in memory.

use super::census::Census;
use super::manifest::{BlockRow, SCHEMA};
use super::{
    AuditResult, BlockSummary, DistanceCount, FirstMoves, Game, Manifest, NimberCount, SmallerBoards, SolveSpec, Values,
};
use pipeline::BlockId;
use std::collections::BTreeMap;

/// The sum of the first blocks of a solve, by ordinal.
pub struct Tally<'a> {
    spec: SolveSpec<'a>,
    census: Census,
    blocks: Vec<BlockRow>,
    digest: blake3::Hasher,
    /// The positions by plane, as far as any block has some.
    by_plane: Vec<u64>,
    /// If smaller boards are counted: these, and their losses, each as often as there are images.
    smaller: Option<(SmallerBoards, Vec<u64>)>,
    /// Where values are not kept: those after first moves, by block.
    first_moves: Option<(FirstMoves, BTreeMap<BlockId, Vec<u64>>)>,
}

impl<'a> Tally<'a> {
    /// Begins with no block.
    pub fn new(spec: SolveSpec<'a>) -> Tally<'a> {
        let smaller = spec.counts_layers().then(|| SmallerBoards::new(spec.game));
        Tally {
            spec,
            census: Census::new(&spec.game.layout),
            blocks: Vec::new(),
            digest: spec.solution_hasher(),
            by_plane: Vec::new(),
            smaller: smaller.map(|boards| {
                let none = vec![0; boards.count()];
                (boards, none)
            }),
            first_moves: (!spec.terms.keep.is_database()).then(|| (FirstMoves::new(spec.game), BTreeMap::new())),
        }
    }

    /// Adds the encoded summary of the next block; `None` if it is malformed or belongs to a solve
    /// that keeps something else.
    pub fn add(&mut self, bytes: &[u8]) -> Option<()> {
        let SolveSpec { game, terms } = self.spec;
        let boards = self.smaller.as_ref().map_or(0, |(boards, _)| boards.count());
        let planes = if terms.values.is_outcomes() { 0 } else { self.spec.planes() };
        let layout = &game.layout;
        let summary = BlockSummary::from_bytes(bytes, layout.offset_bits(), boards, planes)?;
        let block = BlockId(self.blocks.len() as u32);
        let bid = *layout.canonical_blocks().get(block.index())?;
        let weight = u64::from(layout.orbit_size(block));
        match &mut self.first_moves {
            None if !summary.after_first_moves.is_empty() => return None,
            None => {}
            Some((first_moves, _)) if summary.after_first_moves.len() != first_moves.words(block) => return None,
            Some((_, values)) if !summary.after_first_moves.is_empty() => {
                values.insert(block, summary.after_first_moves.clone());
            }
            Some(_) => {}
        }
        match &mut self.smaller {
            None => {}
            Some((_, sums)) if sums.len() != summary.by_layers.len() => return None,
            Some((_, sums)) => {
                sums.iter_mut().zip(&summary.by_layers).for_each(|(sum, losses)| *sum += weight * losses);
            }
        }
        self.by_plane.resize(self.by_plane.len().max(summary.by_plane.len()), 0);
        self.by_plane.iter_mut().zip(&summary.by_plane).for_each(|(sum, positions)| *sum += weight * positions);
        self.census.add(bid.pieces(), weight, &summary.losses_by_pieces);
        self.digest.update(&summary.digest);
        let digest = blake3::Hash::from_bytes(summary.digest).to_hex().to_string();
        self.blocks.push(BlockRow { bid, losses: summary.losses(), digest });
        Some(())
    }

    /// Returns the manifest; `None` unless every block was added.
    pub fn manifest(self) -> Option<Manifest> {
        let Tally { spec, census, blocks, digest, mut by_plane, smaller, first_moves } = self;
        let Game { board, rule, layout } = spec.game;
        if blocks.len() != layout.canonical_blocks().len() {
            return None;
        }
        let represented: u64 = layout.ordinals().map(|block| u64::from(layout.orbit_size(block))).sum();
        assert_eq!(represented, layout.blocks(), "census, invariant 2: each block represents its group");
        // A child of a position with nimber `n` has each lower one, and one of a position of
        // distance `d` has `d - 1`: none in between is missing.
        by_plane.truncate(by_plane.iter().rposition(|positions| *positions > 0).map_or(0, |place| place + 1));
        let values = spec.terms.values;
        let numbers = || (0..).zip(by_plane.iter().copied().skip(values.first_number()));
        let nimbers = || numbers().map(|(nimber, positions)| NimberCount { nimber, positions }).collect();
        let distances = || numbers().map(|(distance, count)| DistanceCount::new(distance, count, *rule)).collect();
        let winning_first_moves = match first_moves {
            None => None,
            Some((first_moves, values)) => Some(first_moves.winning(&values)?),
        };
        Some(Manifest {
            schema: SCHEMA.into(),
            board: board.definition(),
            layers: board.layers(),
            rule: rule.name().into(),
            max_take: board.max_take().filter(|_| board.layers().is_some()),
            bid_cells: layout.bid_cells().to_vec(),
            offset_cells: layout.offset_cells().to_vec(),
            digest: digest.finalize().to_hex().to_string(),
            keep: spec.terms.keep,
            winning_first_moves,
            audit: AuditResult::passed(spec.terms.audit, spec.game),
            by_layers: smaller.map(|(boards, sums)| boards.rows(&sums, census.losses())),
            by_nimber: (values == Values::Nimbers).then(nimbers),
            by_distance: (values == Values::Remoteness).then(distances),
            census,
            blocks,
        })
    }
}

impl Manifest {
    /// Builds the manifest of a finished solve from the encoded summary of each ordinal, ascending;
    /// `None` if one is malformed or belongs to a solve that keeps something else.
    pub fn from_summaries<B: AsRef<[u8]>>(
        spec: SolveSpec<'_>,
        summaries: impl IntoIterator<Item = B>,
    ) -> Option<Manifest> {
        let mut tally = Tally::new(spec);
        summaries.into_iter().try_for_each(|bytes| tally.add(bytes.as_ref()))?;
        tally.manifest()
    }
}
