//! Checks canonical blocks: their rows in the manifest, and every position against its children.
//!
//! A block of nimbers has a bitmap for each nimber, its plane. Its children are marked plane by
//! plane. Then each position has the nimbers of its children, and its own must be the least missing
//! one. With distances, a win must have one more than the least of its losing children, a loss one
//! more than the largest of all.

use super::totals::{Account, account};
use crate::database::{Database, DatabaseError};
use crate::maintenance::workers::{Halt, Watch};
use crate::witness::finding::{Finding, RowField};
use crate::witness::orient::Tile;
use crate::witness::{Steps, Witness};
use pipeline::{Bitmap, BlockId};
use std::collections::BTreeMap;

/// The shared data for the check of all blocks.
pub(super) struct BlockChecker<'a> {
    database: &'a Database,
    witness: &'a Witness<'a>,
}

pub(super) struct Scratch {
    /// All planes of a source.
    source: Bitmap,
    /// A plane of it in another orientation.
    oriented: Bitmap,
    /// For each target, by plane: the positions with a child in that plane.
    losing: Vec<Bitmap>,
    tile: Tile,
}

struct Target {
    ordinal: u32,
    /// The share of each child in the progress, in positions.
    step: u64,
    children: u64,
    /// Whether all children so far were readable.
    complete: bool,
    outcome: Outcome,
}

/// By orientation of a source: the targets that need it, by their index in the group, with the
/// moves from there.
type Uses<'a> = BTreeMap<usize, Vec<(usize, &'a [u64])>>;

/// The result of the check of one block.
#[derive(Default)]
pub(super) struct Outcome {
    /// The findings.
    pub findings: Vec<Finding>,
    /// Counts and digest, if the block was readable.
    pub account: Option<Account>,
    /// Positions that contradict their children; `None` if the block or one of its children is
    /// unreadable.
    pub differences: Option<u64>,
}

impl<'a> BlockChecker<'a> {
    pub(super) fn new(database: &'a Database, witness: &'a Witness<'a>) -> BlockChecker<'a> {
        BlockChecker { database, witness }
    }

    /// Allocates the memory of a worker that checks up to `targets` blocks at once.
    pub(super) fn scratch(&self, targets: usize) -> Result<Scratch, DatabaseError> {
        let bitmap = |planes: usize| Bitmap::zeroed(planes * self.witness.words).map_err(DatabaseError::from);
        let losing = (0..targets).map(|_| bitmap(self.witness.planes)).collect::<Result<_, _>>()?;
        Ok(Scratch { source: bitmap(self.witness.planes)?, oriented: bitmap(1)?, losing, tile: Tile::new() })
    }

    /// Reads a block and reports whether every frame of it decodes.
    pub(super) fn read(&self, ordinal: u32, scratch: &mut Scratch) -> Result<Option<Finding>, DatabaseError> {
        damage(self.database.bitmap(BlockId(ordinal), scratch.source.words_mut()))
    }

    /// Checks several blocks together, so that their common sources are decoded and oriented once.
    /// A unit of progress is a position.
    pub(super) fn check(
        &self,
        group: &[u32],
        scratch: &mut Scratch,
        watch: &Watch<'_>,
    ) -> Result<Vec<(u32, Outcome)>, Halt<DatabaseError>> {
        let positions = 1_u64 << self.witness.geometry.offset_bits();
        let mut targets = Vec::new();
        // Ascending, so that a target, which is its own last source, comes after all its children.
        let mut sources: BTreeMap<u32, Uses<'_>> = BTreeMap::new();
        for (place, &ordinal) in group.iter().enumerate() {
            let children = self.witness.geometry.children(ordinal);
            for child in &children {
                let uses = sources.entry(child.ordinal).or_default();
                uses.entry(child.orientation).or_default().push((place, child.moves));
            }
            sources.entry(ordinal).or_default();
            let children = children.len() as u64;
            let step = positions / (children + 1);
            targets.push(Target { ordinal, step, children, complete: true, outcome: Outcome::default() });
            scratch.losing[place].words_mut().fill(0);
        }
        for (ordinal, uses) in sources {
            let damage = damage(self.database.bitmap(BlockId(ordinal), scratch.source.words_mut()))?;
            let readable = damage.is_none();
            watch.advance(0)?;
            for (orientation, uses) in uses {
                if readable {
                    self.mark(orientation, &uses, scratch);
                }
                for (place, _) in uses {
                    // The damage itself is reported where the block is a target or is only read.
                    targets[place].complete &= readable;
                    watch.advance(targets[place].step)?;
                }
            }
            if let Some(place) = group.iter().position(|target| *target == ordinal) {
                let target = &mut targets[place];
                match damage {
                    Some(finding) => target.outcome.findings.push(finding),
                    None => self.finish(target, &scratch.source, &mut scratch.losing[place]),
                }
                watch.advance(positions - target.step * target.children)?;
            }
        }
        Ok(targets.into_iter().map(|target| (target.ordinal, target.outcome)).collect())
    }

    /// Marks the parents of a source in the targets that need it in one orientation.
    fn mark(&self, orientation: usize, uses: &[(usize, &[u64])], scratch: &mut Scratch) {
        let Scratch { source, oriented, losing, tile } = scratch;
        let mut marked = Vec::new();
        for (place, losing) in losing.iter_mut().enumerate() {
            // Children of one source in one orientation are one block.
            if let Some((_, moves)) = uses.iter().find(|(target, _)| *target == place) {
                marked.push((losing.words_mut(), Steps::new(moves)));
            }
        }
        self.witness.mark(orientation, source.words(), &mut marked, (oriented.words_mut(), tile));
    }

    /// Checks a block after all its children.
    fn finish(&self, target: &mut Target, own: &Bitmap, losing: &mut Bitmap) {
        let Target { ordinal, complete, ref mut outcome, .. } = *target;
        let counted = account(&self.witness.geometry, ordinal, own.words(), self.witness.planes);
        self.compare_row(ordinal, &counted, &mut outcome.findings);
        outcome.account = Some(counted);
        if complete {
            let value = |child: u64| self.database.value(child).ok();
            let planes = (own.words(), losing.words_mut());
            outcome.differences = Some(self.witness.judge(ordinal, planes, &value, &mut outcome.findings));
        }
    }

    /// Compares the block's row in the manifest with the counted losses and the digest.
    fn compare_row(&self, ordinal: u32, counted: &Account, findings: &mut Vec<Finding>) {
        let row = &self.database.manifest().blocks[ordinal as usize];
        let losses = (RowField::Losses(row.losses), RowField::Losses(counted.losses()));
        let digest = blake3::Hash::from_bytes(counted.digest).to_string();
        for (manifest, bitmap) in [losses, (RowField::Digest(row.digest.clone()), RowField::Digest(digest))] {
            if manifest != bitmap {
                findings.push(Finding::Row { block: ordinal, manifest, bitmap });
            }
        }
    }
}

/// Separates damage, which is a finding, from errors of the operating system.
fn damage(result: Result<(), DatabaseError>) -> Result<Option<Finding>, DatabaseError> {
    let found = result.err().map(DatabaseError::into_finding).transpose()?;
    Ok(found.map(Finding::File))
}
