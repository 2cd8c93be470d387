//! `manifest.json`, with the game, census and digest of a database, and `SUMS`, with the BLAKE3 of
//! every file.
//!
//! # Invariants
//! 1. The manifest is a pure function of game, layout, values, what is kept and audit: two with the
//!    same of all these are equal byte for byte.
//! 2. `SUMS` has the lines of the `b3sum` program and is written last: a folder with `SUMS` is a
//!    finished database.
//! 3. Census and digest depend neither on what is kept nor on the version.

use super::census::Census;
use super::keep::VERSION;
use super::{
    Audit, AuditResult, DatabaseError, DistanceCount, Game, Keep, LayerCount, NimberCount, SolveSpec, Terms, Values,
};
use crate::layout::{Bid, CANONICAL_BLOCKS_MAX, CELLS_MAX, Layout};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::Path;
use trinim_game::position::cells;
use trinim_game::{Board, Definition, Rule, Value};

/// Name of the manifest inside the `db` folder.
pub const MANIFEST: &str = "manifest.json";
/// Name of the list of checksums inside the `db` folder.
pub const SUMS: &str = "SUMS";
/// Limit on the length of a manifest or of `SUMS`, in bytes; with 4,194,304 canonical blocks, the
/// most, they take about 630 and 340 MB.
pub const LIST_BYTES_MAX: u64 = 1 << 30;
pub(super) const SCHEMA: &str = "trinim.database/1";
/// The start of the schema of every version.
const SCHEMA_OF_ANY: &str = "trinim.database/";

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
    schema: String,
    format: String,
}

/// Returns the mask of a list of cells.
fn mask(cells: &[u32]) -> Result<u64, String> {
    cells.iter().try_fold(0, |mask, cell| {
        let bit = 1_u64.checked_shl(*cell).ok_or_else(|| format!("there is no cell {cell}"))?;
        Ok(mask | bit)
    })
}

fn as_cells<S: Serializer>(masks: &Option<Vec<u64>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(masks.iter().flatten().map(|mask| cells(*mask)))
}

fn from_cells<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u64>>, D::Error> {
    let lists = Option::<Vec<Vec<u32>>>::deserialize(deserializer)?;
    let masks = lists.map(|lists| lists.iter().map(|cells| mask(cells)).collect());
    masks.transpose().map_err(Error::custom)
}

/// The content of `manifest.json`. Nothing is flattened into it, or a reader would hold every
/// unknown key in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always `trinim.database/1`.
    pub schema: String,
    /// The board, unless it is a triangle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<Definition>,
    /// Layers of the board, if it is a triangle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<u32>,
    /// `normal` or `misere`.
    pub rule: String,
    /// Most pieces that a move may take, if limited; of a triangle.
    pub max_take: Option<u32>,
    /// Cells of the BID bits, bit 0 first.
    pub bid_cells: Vec<u8>,
    /// Cells of the offset bits, bit 0 first.
    pub offset_cells: Vec<u8>,
    /// Digest of the whole solution, hex; see
    /// [`SolveSpec::solution_digest`](super::SolveSpec::solution_digest).
    pub digest: String,
    /// What is kept.
    pub keep: Keep,
    /// Masks of the winning first moves, ascending, unless the database has the values.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "as_cells",
        deserialize_with = "from_cells"
    )]
    pub winning_first_moves: Option<Vec<u64>>,
    /// The audit that the blocks passed, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditResult>,
    /// Losses by number of pieces.
    #[serde(rename = "by_pieces")]
    pub census: Census,
    /// Losses of the smaller boards and of this one, for a triangle whose database is not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_layers: Option<Vec<LayerCount>>,
    /// Positions by nimber, from 0 to the largest there is, if the values are nimbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_nimber: Option<Vec<NimberCount>>,
    /// Positions by distance to the end, from 0 to the largest there is, if the values are
    /// distances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_distance: Option<Vec<DistanceCount>>,
    /// One row for each canonical block, by ordinal.
    pub blocks: Vec<BlockRow>,
}

impl Manifest {
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
        // All other keys are skipped, never held in memory.
        let Head { schema, format } = serde_json::from_slice(bytes).map_err(unreadable)?;
        if schema != SCHEMA {
            let version = schema.strip_prefix(SCHEMA_OF_ANY).and_then(|version| version.parse().ok());
            let version = version.or((schema.is_empty() && !format.is_empty()).then_some(0));
            return Err(match version {
                Some(found) => DatabaseError::Version { path: path.into(), found, supported: VERSION },
                None => damage("not the manifest of a Trinim database".into()),
            });
        }
        let manifest: Manifest = serde_json::from_slice(bytes).map_err(unreadable)?;
        manifest.check_keys().map_err(damage)?;
        let board = match (&manifest.board, manifest.layers) {
            (Some(definition), _) => definition.clone().board(),
            (None, layers) => Board::triangle(layers.unwrap_or_default(), manifest.max_take),
        };
        let board = board.map_err(|error| damage(error.to_string()))?;
        if board.cells() > CELLS_MAX {
            return Err(damage(format!("{} cells: expected at most {CELLS_MAX}", board.cells())));
        }
        if board.definition() != manifest.board {
            return Err(damage("the moves of the board are not distinct and ascending".into()));
        }
        let rule: Rule = manifest.rule.parse().map_err(|error| damage(format!("{error}")))?;
        let layout = Layout::from_cells(&board, &manifest.bid_cells).map_err(|error| damage(error.to_string()))?;
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
        if let Keep::Book { pieces } = manifest.keep
            && pieces > board.cells()
        {
            return Err(damage(format!("a book of {pieces} pieces on a board of {} cells", board.cells())));
        }
        if let Some(winning) = &manifest.winning_first_moves {
            let is_move = |taken: &u64| board.moves().binary_search(taken).is_ok();
            if !winning.iter().all(is_move) || !winning.is_sorted_by(|one, next| one < next) {
                return Err(damage("the winning first moves are not distinct moves in ascending order".into()));
            }
        }
        let game = Game { board, rule, layout };
        if let Some(rows) = &manifest.by_nimber
            && (rule != Rule::Normal || !are_numbered(&game, Values::Nimbers, rows.iter().map(|row| row.nimber)))
        {
            return Err(damage("the positions by nimber are not rows for 0, 1, 2 ... of normal play".into()));
        }
        if let Some(rows) = &manifest.by_distance
            && !are_numbered(&game, Values::Remoteness, rows.iter().map(|row| row.distance))
        {
            return Err(damage("the positions by distance are not rows for 0, 1, 2 ...".into()));
        }
        if manifest.audit.as_ref().is_some_and(|audited| !audited.is_possible(&game)) {
            return Err(damage("an audit that this game cannot have passed".into()));
        }
        Ok((manifest, game))
    }

    /// Checks that there are the keys that belong together, and no others.
    fn check_keys(&self) -> Result<(), String> {
        if self.board.is_some() == self.layers.is_some() {
            return Err("expected either layers or a board".to_owned());
        }
        // With the blocks, nobody needs what follows from them.
        let (is_partial, is_triangle) = (!self.keep.is_database(), self.layers.is_some());
        let found = (self.winning_first_moves.is_some(), self.by_layers.is_some());
        if found != (is_partial, is_partial && is_triangle) {
            return Err(format!("winning_first_moves or by_layers do not belong to what is kept, {}", self.keep));
        }
        let numbers = [self.by_nimber.is_some(), self.by_distance.is_some()];
        if numbers == [true; 2] || (numbers != [false; 2] && is_partial) {
            return Err(format!("by_nimber or by_distance do not belong to what is kept, {}", self.keep));
        }
        Ok(())
    }

    /// Returns the solve of this game, without its audit, which changes no file but the manifest.
    pub fn spec<'g>(&self, game: &'g Game) -> SolveSpec<'g> {
        Terms { values: self.values(), keep: self.keep, audit: Audit::None }.spec(game)
    }

    /// Returns what was computed of each position.
    pub fn values(&self) -> Values {
        match (&self.by_nimber, &self.by_distance) {
            (Some(_), _) => Values::Nimbers,
            (_, Some(_)) => Values::Remoteness,
            _ => Values::Outcomes,
        }
    }

    /// Returns the census digest of `game`, hex: the BLAKE3 hash of board, rule and counts. Unlike
    /// `digest`, which hashes the bitmaps, it depends neither on the layout nor on what is kept. It
    /// is not stored, because it follows from the keys of every version of the manifest.
    pub fn values_digest(&self, game: &Game) -> String {
        let list = |counts: &mut dyn Iterator<Item = u64>| counts.map(|count| count.to_string()).collect::<Vec<_>>();
        let by_nimber = self.by_nimber.iter().flatten().map(|row| row.positions);
        let by_distance = self.by_distance.iter().flatten().map(|row| row.positions().unwrap_or(0));
        let counts = [
            ("losses", list(&mut self.census.by_pieces.iter().map(|row| row.losses))),
            ("nimbers", list(&mut { by_nimber })),
            ("distances", list(&mut { by_distance })),
        ];
        let lines = counts.iter().filter(|(_, counts)| !counts.is_empty());
        let lines: String = lines.map(|(name, counts)| format!("{name}={}\n", counts.join(","))).collect();
        blake3::hash(format!("trinim values 1\n{}{lines}", game.rules_text()).as_bytes()).to_hex().to_string()
    }

    /// Returns how many nimbers or distances there are.
    pub fn numbers(&self) -> u32 {
        let nimbers = self.by_nimber.as_ref().map(Vec::len);
        nimbers.or(self.by_distance.as_ref().map(Vec::len)).unwrap_or(0) as u32
    }

    /// Returns the value of a position if the manifest has it: of the full board, and of the
    /// positions after a first move if these are listed.
    pub fn value(&self, board: &Board, position: u64) -> Option<Value> {
        let taken = board.full() & !position;
        if taken == 0 {
            return Some(self.census.start());
        }
        board.moves().binary_search(&taken).ok()?;
        let winning = self.winning_first_moves.as_ref()?;
        Some(Value::from_loss(winning.binary_search(&taken).is_ok()))
    }

    /// Checks more of the manifest against itself than [`Manifest::parse`] needs: the census
    /// against the board and the losses of the blocks, the winning first moves against the start
    /// and the symmetries, and the digest against the digests of the blocks.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`] with `path` and the first disagreement.
    pub fn check(&self, path: &Path, game: &Game) -> Result<(), DatabaseError> {
        let checks = self
            .check_census(&game.layout)
            .and_then(|()| self.check_layers())
            .and_then(|()| self.check_numbers(game))
            .and_then(|()| self.check_first_moves(&game.board))
            .and_then(|()| self.check_digest(game));
        checks.map_err(|what| DatabaseError::corrupt(path, 0, what))
    }

    fn check_census(&self, layout: &Layout) -> Result<(), String> {
        let (rows, expected) = (&self.census.by_pieces, Census::new(layout).by_pieces);
        if rows.len() != expected.len() {
            return Err(format!("the census has {} rows, expected {}", rows.len(), expected.len()));
        }
        for (row, expected) in rows.iter().zip(&expected) {
            if (row.pieces, row.positions) != (expected.pieces, expected.positions) || row.losses > row.positions {
                return Err(format!("the census row of {} pieces is impossible", expected.pieces));
            }
        }
        let by_blocks = layout.ordinals().zip(&self.blocks).try_fold(0_u64, |sum, (ordinal, block)| {
            sum.checked_add(u64::from(layout.orbit_size(ordinal)).checked_mul(block.losses)?)
        });
        expect(by_blocks == Some(self.census.losses()), "the losses of the blocks do not add up to those of the census")
    }

    fn check_layers(&self) -> Result<(), String> {
        let Some(rows) = &self.by_layers else { return Ok(()) };
        let is_row = |(layers, row): (u32, &LayerCount)| {
            (row.layers, row.positions) == (layers, 1_u64 << (layers * (layers + 1) / 2)) && row.losses <= row.positions
        };
        let is_whole = rows.last().is_some_and(|row| row.losses == self.census.losses());
        let grows = rows.is_sorted_by_key(|row| row.losses);
        let are_all = Some(rows.len() as u32) == self.layers && (1..).zip(rows).all(is_row);
        expect(are_all && is_whole && grows, "the losses by layers are impossible")
    }

    fn check_numbers(&self, game: &Game) -> Result<(), String> {
        let positions = Some(1 << game.board.cells());
        if let Some(rows) = &self.by_nimber {
            let all = rows.iter().try_fold(0_u64, |sum, row| sum.checked_add(row.positions));
            let are_positive = rows.iter().all(|row| row.positions > 0);
            expect(are_positive && all == positions, "the positions by nimber are impossible")?;
            let losses = rows.first().map(|row| row.positions);
            expect(losses == Some(self.census.losses()), "the positions of nimber 0 are not the losses of the census")?;
        }
        if let Some(rows) = &self.by_distance {
            let all = rows.iter().try_fold(0_u64, |sum, row| sum.checked_add(row.positions()?));
            let is_row = |row: &DistanceCount| {
                let positions = row.positions().unwrap_or(0);
                positions > 0 && DistanceCount::new(row.distance, positions, game.rule) == *row
            };
            expect(rows.iter().all(is_row) && all == positions, "the positions by distance are impossible")?;
            let losses = rows.iter().map(|row| row.losses).sum::<u64>();
            expect(losses == self.census.losses(), "the losses by distance are not those of the census")?;
        }
        Ok(())
    }

    fn check_first_moves(&self, board: &Board) -> Result<(), String> {
        let Some(winning) = &self.winning_first_moves else { return Ok(()) };
        if winning.is_empty() != self.census.start().is_loss() {
            return Err(format!("the start is a {} with {} winning moves", self.census.start(), winning.len()));
        }
        let mut symmetries = board.symmetries().iter();
        let are_closed =
            symmetries.all(|symmetry| winning.iter().all(|taken| winning.contains(&symmetry.apply(*taken))));
        expect(are_closed, "the winning first moves lack images under the symmetries")
    }

    fn check_digest(&self, game: &Game) -> Result<(), String> {
        let digest = |block: &BlockRow| blake3::Hash::from_hex(&block.digest).map(|hash| *hash.as_bytes());
        let digests: Result<Vec<[u8; 32]>, _> = self.blocks.iter().map(digest).collect();
        let agrees = digests.is_ok_and(|digests| self.spec(game).solution_digest(digests.iter()) == self.digest);
        expect(agrees, "the solution digest does not match the digests of the blocks")
    }
}

/// Turns a false condition into an error with this text.
fn expect(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}

/// Returns whether rows of numbers are 0, 1, 2 ..., no more than there may be.
fn are_numbered(game: &Game, values: Values, mut rows: impl ExactSizeIterator<Item = u32>) -> bool {
    let most = values.planes(&game.board) - values.first_number();
    rows.len() <= most && (0..).zip(&mut rows).all(|(number, row)| number == row)
}
