//! `manifest.json`, with the game, census and digest of a database, and `SUMS`, with the BLAKE3 of
//! every file.
//!
//! # Invariants
//! 1. The manifest is a pure function of the game: two databases of the same game are equal byte
//!    for byte.
//! 2. `SUMS` has the lines of the `b3sum` program and is written last: a folder with `SUMS` is a
//!    finished database.

use super::census::{Census, PieceCount};
use super::{BlockSummary, DatabaseError, Game};
use crate::game::{Board, Cell, Rule};
use crate::layout::{Bid, CANONICAL_BLOCKS_MAX, Layout};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the manifest inside the `db` folder.
pub const MANIFEST: &str = "manifest.json";
/// Name of the list of checksums inside the `db` folder.
pub const SUMS: &str = "SUMS";
/// Limit on the length of a manifest or of `SUMS`, in bytes; with 300,000 canonical blocks, the
/// most, they take about 45 and 24 MB.
pub const LIST_BYTES_MAX: u64 = 64 << 20;
const FORMAT: &str = "trinim-database";
/// Version of the format of a database.
pub const VERSION: u64 = 1;

/// The manifest row of one canonical block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRow {
    /// BID of the canonical block.
    pub bid: Bid,
    /// Losses among its positions.
    pub losses: u64,
    /// BLAKE3 of its bitmap, hex.
    pub digest: String,
}

/// The keys that decide whether the rest can be understood. Both are read past anything else, so
/// that no file of another kind is held in memory.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    format: String,
    version: u64,
}

/// The keys of `manifest.json`, without the census as a struct of its own: flattened, it would keep
/// every unknown key in memory.
#[derive(Deserialize)]
struct Keys {
    format: String,
    version: u64,
    layers: u32,
    rule: String,
    max_take: Option<u32>,
    bid_cells: Vec<u8>,
    offset_cells: Vec<u8>,
    digest: String,
    by_pieces: Vec<PieceCount>,
    blocks: Vec<BlockRow>,
}

impl From<Keys> for Manifest {
    fn from(keys: Keys) -> Manifest {
        let Keys { format, version, layers, rule, max_take, bid_cells, offset_cells, digest, by_pieces, blocks } = keys;
        let census = Census { by_pieces };
        Manifest { format, version, layers, rule, max_take, bid_cells, offset_cells, digest, census, blocks }
    }
}

/// The content of `manifest.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Keys")]
pub struct Manifest {
    /// Always `trinim-database`.
    pub format: String,
    /// Version of the format.
    pub version: u64,
    /// Layers of the board.
    pub layers: u32,
    /// `normal` or `misere`.
    pub rule: String,
    /// Most pieces that a move may take, if limited.
    pub max_take: Option<u32>,
    /// Cells of the BID bits, bit 0 first.
    pub bid_cells: Vec<u8>,
    /// Cells of the offset bits, bit 0 first.
    pub offset_cells: Vec<u8>,
    /// Digest of the whole solution, hex; see [`Game::solution_digest`].
    pub digest: String,
    /// Losses by number of pieces.
    #[serde(flatten)]
    pub census: Census,
    /// One row for each canonical block, by ordinal.
    pub blocks: Vec<BlockRow>,
}

impl Manifest {
    /// Builds the manifest of a finished solve from one summary for each ordinal, ascending.
    pub fn new(game: &Game, summaries: &[BlockSummary]) -> Manifest {
        let Game { board, rule, layout } = game;
        let rows = layout.canonical_blocks().iter().zip(summaries);
        let blocks = rows.map(|(bid, summary)| BlockRow {
            bid: *bid,
            losses: summary.losses(),
            digest: blake3::Hash::from_bytes(summary.digest).to_hex().to_string(),
        });
        Manifest {
            format: FORMAT.into(),
            version: VERSION,
            layers: board.layers(),
            rule: rule.name().into(),
            max_take: board.max_take(),
            bid_cells: layout.bid_cells().to_vec(),
            offset_cells: layout.offset_cells().to_vec(),
            digest: game.solution_digest(summaries.iter().map(|summary| &summary.digest)),
            census: Census::of(layout, layout.ordinals().zip(summaries)),
            blocks: blocks.collect(),
        }
    }

    /// Encodes the manifest as the bytes of its file.
    pub fn to_json(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a manifest has only numbers, strings and lists");
        bytes.push(b'\n');
        bytes
    }

    /// Parses a manifest and rebuilds its game.
    ///
    /// # Errors
    /// [`DatabaseError::Version`] for another version; [`DatabaseError::Corrupt`] if the bytes are
    /// not a manifest or contradict each other.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<(Manifest, Game), DatabaseError> {
        let damage = |what: String| DatabaseError::corrupt(path, 0, what);
        let unreadable = |error: serde_json::Error| damage(format!("not a manifest: {error}"));
        // Whatever else a file has is skipped, never held in memory.
        let Head { format, version } = serde_json::from_slice(bytes).map_err(unreadable)?;
        if format != FORMAT {
            return Err(damage("not the manifest of a Trinim database".into()));
        }
        if version != VERSION {
            return Err(DatabaseError::Version { path: path.into(), found: version, supported: VERSION });
        }
        let manifest: Manifest = serde_json::from_slice(bytes).map_err(unreadable)?;
        let board = Board::triangle(manifest.layers, manifest.max_take).map_err(|error| damage(error.to_string()))?;
        let rule: Rule = manifest.rule.parse().map_err(|error| damage(format!("{error}")))?;
        let cells = manifest.bid_cells.iter().map(|index| Cell::from_index(u32::from(*index)));
        let layout = Layout::new(&board, &cells.collect::<Vec<_>>()).map_err(|error| damage(error.to_string()))?;
        if layout.canonical_blocks().len() as u64 > CANONICAL_BLOCKS_MAX {
            return Err(damage(format!("more than {CANONICAL_BLOCKS_MAX} canonical blocks")));
        }
        let bids = manifest.blocks.iter().map(|row| row.bid);
        if layout.bid_cells() != manifest.bid_cells
            || layout.offset_cells() != manifest.offset_cells
            || !bids.eq(layout.canonical_blocks().iter().copied())
        {
            return Err(damage("not the layout that this program builds from these BID cells".into()));
        }
        Ok((manifest, Game { board, rule, layout }))
    }

    /// Checks more of the manifest against itself than [`Manifest::parse`] needs: the census
    /// against the board and the losses of the blocks, and the digest against the digests of the
    /// blocks.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`] with `path` and the first disagreement.
    pub fn check(&self, path: &Path, game: &Game) -> Result<(), DatabaseError> {
        let layout = &game.layout;
        let damage = |what: String| Err(DatabaseError::corrupt(path, 0, what));
        let expected = Census::of(layout, std::iter::empty()).by_pieces;
        let rows = &self.census.by_pieces;
        if rows.len() != expected.len() {
            return damage(format!("the census has {} rows, expected {}", rows.len(), expected.len()));
        }
        for (row, expected) in rows.iter().zip(&expected) {
            if (row.pieces, row.positions) != (expected.pieces, expected.positions) || row.losses > row.positions {
                return damage(format!("the census row of {} pieces is impossible", expected.pieces));
            }
        }
        let by_blocks = layout.ordinals().zip(&self.blocks).try_fold(0_u64, |sum, (ordinal, block)| {
            sum.checked_add(u64::from(layout.orbit_size(ordinal)).checked_mul(block.losses)?)
        });
        if by_blocks != Some(self.census.losses()) {
            return damage("the losses of the blocks do not add up to those of the census".into());
        }
        let digests: Result<Vec<[u8; 32]>, _> = self
            .blocks
            .iter()
            .map(|block| blake3::Hash::from_hex(&block.digest).map(|hash| *hash.as_bytes()))
            .collect();
        match digests {
            Ok(digests) if game.solution_digest(digests.iter()) == self.digest => Ok(()),
            _ => damage("the solution digest does not match the digests of the blocks".into()),
        }
    }
}
