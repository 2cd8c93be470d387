//! The check of one canonical block: its row in the manifest, and every position of it against its children.

use super::Finding;
use super::children::Moves;
use super::geometry::Geometry;
use super::totals::{Account, account};
use super::turn::{LINE, Scatter, Tile};
use super::workers::{Halt, Watch};
use crate::database::{Database, DatabaseError, block_file_name};
use crate::position;
use crate::rule::Rule;
use pipeline::Bitmap;

/// Positions listed for one block; the rest is counted.
const LISTED: usize = 10;

/// What the check of all blocks needs besides the database.
pub(super) struct Plan<'a> {
    database: &'a Database,
    geometry: &'a Geometry,
    /// One for each turn; the first, the identity, is never used.
    scatters: Vec<Scatter>,
    inner: Moves,
}

/// The bitmaps of one worker.
pub(super) struct Scratch {
    own: Bitmap,
    child: Bitmap,
    turned: Bitmap,
    losing: Bitmap,
    tile: Tile,
}

/// What was seen of one block.
#[derive(Default)]
pub(super) struct Outcome {
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Counts and digest, if the block could be read.
    pub account: Option<Account>,
    /// Positions that differ from what their children say; `None` when the block or one of its children cannot be read.
    pub differences: Option<u64>,
}

impl<'a> Plan<'a> {
    /// Prepares the tables.
    pub(super) fn new(database: &'a Database, geometry: &'a Geometry) -> Plan<'a> {
        let scatters = geometry.turns().iter().map(|turn| Scatter::new(&turn.offset)).collect();
        Plan { database, geometry, scatters, inner: Moves::new(geometry.inner()) }
    }

    /// Memory for one worker.
    pub(super) fn scratch(&self) -> Result<Scratch, DatabaseError> {
        let bitmap = || {
            Bitmap::zeroed(1 << (self.geometry.index_bits() - 6)).map_err(|_| DatabaseError::Io {
                operation: "allocate memory for the bitmaps of",
                path: self.database.folder().into(),
                source: std::io::ErrorKind::OutOfMemory.into(),
            })
        };
        Ok(Scratch { own: bitmap()?, child: bitmap()?, turned: bitmap()?, losing: bitmap()?, tile: Tile::new() })
    }

    /// Only reads a block: whether every frame of it decodes.
    pub(super) fn read(&self, ordinal: u32, scratch: &mut Scratch) -> Result<Option<Finding>, DatabaseError> {
        damage(self.database.bitmap(ordinal, scratch.own.words_mut()))
    }

    /// Checks a block. Every unit of progress is a position.
    pub(super) fn check(&self, ordinal: u32, scratch: &mut Scratch, watch: &Watch<'_>) -> Result<Outcome, Halt> {
        let Scratch { own, child, turned, losing, tile } = scratch;
        let positions = 1_u64 << self.geometry.offset_bits();
        if let Some(finding) = damage(self.database.bitmap(ordinal, own.words_mut()))? {
            watch.advance(positions)?;
            return Ok(Outcome { findings: vec![finding], ..Outcome::default() });
        }
        watch.advance(0)?;
        let mut outcome = Outcome::default();
        let counted = account(self.geometry, ordinal, lines(own));
        self.compare_row(ordinal, &counted, &mut outcome.findings);
        outcome.account = Some(counted);

        let children = self.geometry.children(ordinal);
        let step = positions / (children.len() as u64 + 2);
        watch.advance(step)?;
        losing.words_mut().fill(0);
        if self.empty_is_win(ordinal) {
            losing.words_mut()[0] |= 1;
        }
        self.inner.mark(lines(own), lines_mut(losing));
        watch.advance(step)?;
        for same in children.chunk_by(|one, other| one.ordinal == other.ordinal) {
            // A damaged child is reported where it is checked itself.
            if damage(self.database.bitmap(same[0].ordinal, child.words_mut()))?.is_some() {
                watch.advance(positions - step * 2)?;
                return Ok(outcome);
            }
            for edge in same {
                let moves = Moves::new(edge.moves);
                if edge.turn == 0 {
                    moves.mark(lines(child), lines_mut(losing));
                } else {
                    self.scatters[edge.turn].scatter(lines(child), lines_mut(turned), tile);
                    moves.mark(lines(turned), lines_mut(losing));
                }
                watch.advance(step)?;
            }
        }
        outcome.differences = Some(self.compare(ordinal, own.words(), losing.words(), &mut outcome.findings));
        watch.advance(positions - step * (children.len() as u64 + 2))?;
        Ok(outcome)
    }

    fn empty_is_win(&self, ordinal: u32) -> bool {
        self.database.rule() == Rule::Misere && self.geometry.bid(ordinal) == 0
    }

    /// The block's row in the manifest against the counted losses and the digest.
    fn compare_row(&self, ordinal: u32, counted: &Account, findings: &mut Vec<Finding>) {
        let row = &self.database.manifest().blocks[ordinal as usize];
        let name = block_file_name(ordinal);
        if row.losses != counted.losses() {
            let (said, found) = (row.losses, counted.losses());
            findings.push(Finding(format!("{name}: the manifest says {said} losses, the bitmap has {found}")));
        }
        let digest = blake3::Hash::from_bytes(counted.digest).to_hex();
        if row.digest != digest.as_str() {
            findings.push(Finding(format!("{name}: the manifest says digest {}, the bitmap has {digest}", row.digest)));
        }
    }

    /// A position is a loss iff it has no losing child. Lists the first positions that are stored otherwise and counts all.
    fn compare(&self, ordinal: u32, own: &[u64], losing: &[u64], findings: &mut Vec<Finding>) -> u64 {
        let positions = 1_u64 << self.geometry.offset_bits();
        let mut differences = 0;
        let mut listed = 0;
        for (word, (stored, losing)) in (0_u64..).zip(own.iter().zip(losing)) {
            // Bits that stand for no position must be clear; only a bitmap of a single line has such bits.
            let meant = match positions.saturating_sub(word * 64) {
                left @ 0..64 => (1 << left) - 1,
                _ => u64::MAX,
            };
            let mut wrong = stored ^ (!losing & meant);
            differences += u64::from(wrong.count_ones());
            while wrong != 0 && listed < LISTED {
                let offset = word * 64 + u64::from(wrong.trailing_zeros());
                let stored_loss = stored >> (offset % 64) & 1 == 1;
                findings.push(Finding(self.describe(ordinal, offset, stored_loss)));
                listed += 1;
                wrong &= wrong - 1;
            }
        }
        if differences > listed as u64 {
            let name = block_file_name(ordinal);
            findings.push(Finding(format!(
                "{name}: {differences} positions contradict their children, {listed} are listed"
            )));
        }
        differences
    }

    /// One wrong position in words.
    fn describe(&self, ordinal: u32, offset: u64, stored_loss: bool) -> String {
        let name = block_file_name(ordinal);
        if offset >> self.geometry.offset_bits() != 0 {
            return format!("{name}: bit {offset} is set but stands for no position");
        }
        let stored = if stored_loss { "a loss" } else { "a win" };
        let position = self.geometry.position(ordinal, offset);
        let rows = position::rows(self.database.board(), position);
        let begin = format!("{name}: position {rows} (offset {offset}) is stored as {stored}");
        if position == 0 {
            return format!("{begin}, but the rule makes the empty position a {}", self.database.rule().empty());
        }
        if !stored_loss {
            let children = self.geometry.children_of(position).count();
            return format!("{begin}, but all its {children} children are wins");
        }
        // Only to name the child: the check itself does not look positions up.
        let is_loss = |child: &u64| self.database.value(*child).is_ok_and(|value| value.is_loss());
        match self.geometry.children_of(position).find(is_loss) {
            Some(child) => {
                format!("{begin}, but its child {} is a loss too", position::rows(self.database.board(), child))
            }
            None => format!("{begin}, but one of its children is a loss"),
        }
    }
}

/// The lines of a bitmap.
fn lines(bitmap: &Bitmap) -> &[[u64; LINE]] {
    bitmap.words().as_chunks().0
}

fn lines_mut(bitmap: &mut Bitmap) -> &mut [[u64; LINE]] {
    bitmap.words_mut().as_chunks_mut().0
}

/// Splits damage, which is a finding, from refusals of the operating system.
fn damage(result: Result<(), DatabaseError>) -> Result<Option<Finding>, DatabaseError> {
    match result {
        Ok(()) => Ok(None),
        Err(DatabaseError::Io { source, path, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            Ok(Some(Finding(format!("{} is missing", path.display()))))
        }
        Err(error @ DatabaseError::Io { .. }) => Err(error),
        Err(error) => Ok(Some(Finding(error.to_string()))),
    }
}
