//! Checks canonical blocks: their rows in the manifest, and every position against its children.
//!
//! A block of nimbers has a bitmap for each nimber, its plane. Its children are marked plane by
//! plane: then each position has the nimbers of its children, and must have the least one missing.
//! Likewise with distances, where a win must have one more than the least of its losing children,
//! and a loss one more than the largest of all.

use super::children::Moves;
use super::finding::{Finding, Reason, RowField};
use super::geometry::Geometry;
use super::totals::{Account, account};
use super::turn::{LINE, Scatter, Tile};
use crate::care::workers::{Halt, Watch};
use crate::database::{Database, DatabaseError, Values, value_at};
use pipeline::{Bitmap, BlockId};
use std::collections::BTreeMap;
use trinim_game::position::cells;
use trinim_game::{Rule, Value, position};

/// Positions listed for one block; further ones are only counted.
const LISTED: usize = 10;

/// The shared data for the check of all blocks.
pub(super) struct Plan<'a> {
    database: &'a Database,
    geometry: &'a Geometry,
    /// One for each turn; the first, for the identity, is never used.
    scatters: Vec<Scatter>,
    inner: Moves,
    values: Values,
    /// Bitmaps of a block: one, or one for each number.
    planes: usize,
    /// Words of one of them.
    words: usize,
}

pub(super) struct Scratch {
    /// All planes of a source.
    source: Bitmap,
    /// A plane of it in another orientation.
    turned: Bitmap,
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

/// By turn of a source: the targets that need it, by their index in the group, with the moves from
/// there.
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

impl<'a> Plan<'a> {
    pub(super) fn new(database: &'a Database, geometry: &'a Geometry) -> Plan<'a> {
        let scatters = geometry.turns().iter().map(|turn| Scatter::new(&turn.offset)).collect();
        let values = database.values();
        let planes = values.planes(database.board());
        let words = 1 << (geometry.index_bits() - 6);
        Plan { database, geometry, scatters, inner: Moves::new(geometry.inner()), values, planes, words }
    }

    /// Allocates the memory of a worker that checks up to `targets` blocks at once.
    pub(super) fn scratch(&self, targets: usize) -> Result<Scratch, DatabaseError> {
        let bitmap = |planes: usize| {
            let words = planes * self.words;
            let refused = |_| DatabaseError::OutOfMemory { needed_bytes: 8 * words as u64 };
            Bitmap::zeroed(words).map_err(refused)
        };
        let losing = (0..targets).map(|_| bitmap(self.planes)).collect::<Result<_, _>>()?;
        Ok(Scratch { source: bitmap(self.planes)?, turned: bitmap(1)?, losing, tile: Tile::new() })
    }

    /// Reads a block and reports whether every frame of it decodes.
    pub(super) fn read(&self, ordinal: u32, scratch: &mut Scratch) -> Result<Option<Finding>, DatabaseError> {
        damage(self.database.bitmap(BlockId(ordinal), scratch.source.words_mut()))
    }

    /// Checks several blocks together, so that their common sources are decoded and turned once. A
    /// unit of progress is a position.
    pub(super) fn check(
        &self,
        group: &[u32],
        scratch: &mut Scratch,
        watch: &Watch<'_>,
    ) -> Result<Vec<(u32, Outcome)>, Halt<DatabaseError>> {
        let positions = 1_u64 << self.geometry.offset_bits();
        let mut targets = Vec::new();
        // Ascending, so that a target, which is its own last source, comes after all its children.
        let mut sources: BTreeMap<u32, Uses<'_>> = BTreeMap::new();
        for (place, &ordinal) in group.iter().enumerate() {
            let children = self.geometry.children(ordinal);
            for child in &children {
                let uses = sources.entry(child.ordinal).or_default();
                uses.entry(child.turn).or_default().push((place, child.moves));
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
            for (turn, uses) in uses {
                if readable {
                    self.mark(turn, &uses, scratch);
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

    /// Marks the parents of a source in the targets that need it in one turn.
    fn mark(&self, turn: usize, uses: &[(usize, &[u64])], scratch: &mut Scratch) {
        let uses: Vec<(usize, Moves)> = uses.iter().map(|(place, moves)| (*place, Moves::new(moves))).collect();
        let Scratch { source, turned, losing, tile } = scratch;
        for (plane, source) in source.words().chunks_exact(self.words).enumerate() {
            // Most high numbers are of no position of a block.
            if self.planes > 1 && source.iter().all(|word| *word == 0) {
                continue;
            }
            let child = match turn {
                0 => lines(source),
                _ => {
                    self.scatters[turn].scatter(lines(source), lines_mut(turned.words_mut()), tile);
                    lines(turned.words())
                }
            };
            for (place, moves) in &uses {
                let losing = &mut losing[*place].words_mut()[plane * self.words..][..self.words];
                moves.mark(child, lines_mut(losing));
            }
        }
    }

    /// Checks a block after all its children.
    fn finish(&self, target: &mut Target, own: &Bitmap, losing: &mut Bitmap) {
        let Target { ordinal, complete, ref mut outcome, .. } = *target;
        let counted = account(self.geometry, ordinal, own.words(), self.planes);
        self.compare_row(ordinal, &counted, &mut outcome.findings);
        outcome.account = Some(counted);
        if complete {
            let planes = own.words().chunks_exact(self.words).zip(losing.words_mut().chunks_exact_mut(self.words));
            for (own, losing) in planes {
                self.inner.mark(lines(own), lines_mut(losing));
            }
            self.mark_over(ordinal, &mut losing.words_mut()[..self.words]);
            let compare = match self.values {
                Values::Outcomes => Plan::compare,
                Values::Nimbers | Values::Remoteness => Plan::compare_numbers,
            };
            outcome.differences = Some(compare(self, ordinal, own.words(), losing.words(), &mut outcome.findings));
        }
    }

    /// Marks the positions without a move where these are wins.
    fn mark_over(&self, ordinal: u32, losing: &mut [u64]) {
        if self.database.rule() != Rule::Misere {
            return;
        }
        if self.database.board().takes_single_pieces() {
            losing[0] |= u64::from(self.geometry.bid(ordinal) == 0);
            return;
        }
        // Of each move, the cells outside a word and the places in a word with its other cells.
        let places = |cells: u64| (0..64).filter(move |place| place & cells & 63 == cells & 63);
        let moves = self.geometry.moves_in(ordinal);
        let moves: Vec<(u64, u64)> = moves
            .into_iter()
            .map(|cells| (cells & !63, places(cells).fold(0, |bits, place| bits | 1_u64 << place)))
            .collect();
        for (word, losing) in (0_u64..).zip(losing) {
            let possible = moves.iter().filter(|(outside, _)| (word * 64) & outside == *outside);
            *losing |= !possible.fold(0, |movable, (_, inside)| movable | inside);
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

    /// Checks that a position is a loss iff it has no losing child.
    fn compare(&self, ordinal: u32, own: &[u64], losing: &[u64], findings: &mut Vec<Finding>) -> u64 {
        let wrong = |word: usize, meant: u64| own[word] ^ (!losing[word] & meant);
        let is_loss = |offset: u64| own[(offset / 64) as usize] >> (offset % 64) & 1 == 1;
        self.list(ordinal, wrong, |offset| self.contradiction(ordinal, offset, is_loss(offset)), findings)
    }

    /// Checks that a position has the number that follows from those of its children, and no other;
    /// `reached` has the positions with a child in each plane.
    fn compare_numbers(&self, ordinal: u32, own: &[u64], reached: &[u64], findings: &mut Vec<Finding>) -> u64 {
        let mut marks = vec![0; self.planes];
        let wrong = |word: usize, meant: u64| {
            let mut own = own[word..].iter().step_by(self.words);
            marks.iter_mut().zip(reached[word..].iter().step_by(self.words)).for_each(|(mark, word)| *mark = *word);
            let impossible = match self.values {
                Values::Remoteness => distances(self.database.rule(), meant, &mut marks),
                _ => nimbers(meant, &mut marks),
            };
            marks.iter().fold(impossible, |wrong, plane| wrong | plane ^ own.next().copied().unwrap_or(0))
        };
        let finding = |offset: u64| {
            let (place, bit) = ((offset / 64) as usize, offset % 64);
            let in_planes = |planes: &[u64]| {
                let words = (0_u32..).zip(planes[place..].iter().step_by(self.words));
                words.fold(0, |all, (plane, word)| all | (word >> bit & 1) << plane)
            };
            let (values, rule) = (self.values, self.database.rule());
            // One child of each number that there is.
            let first = values.first_number() as u32;
            let children: Vec<u64> = cells(in_planes(reached) >> first)
                .into_iter()
                .map(|number| match values {
                    Values::Remoteness => 2 << number | u64::from(value_at(number, rule).is_loss()),
                    _ => 1 << number,
                })
                .collect();
            let rows = position::rows(self.database.board(), self.geometry.position(ordinal, offset));
            let (stored, follows) = (in_planes(own), values.follows(rule, &children));
            Finding::Number { block: ordinal, offset, rows, values, stored, follows }
        };
        self.list(ordinal, wrong, finding, findings)
    }

    /// Lists the first contradictions of a block and counts all. `wrong` returns the wrong bits of
    /// a word, of which only the `meant` ones represent positions; `finding` describes one of them.
    fn list(
        &self,
        block: u32,
        mut wrong: impl FnMut(usize, u64) -> u64,
        finding: impl Fn(u64) -> Finding,
        findings: &mut Vec<Finding>,
    ) -> u64 {
        let positions = 1_u64 << self.geometry.offset_bits();
        let (mut differences, mut listed) = (0, 0);
        for word in 0..self.words {
            let first = word as u64 * 64;
            // Bits without a position must be clear; only a bitmap of a single line has any.
            let meant = match positions.saturating_sub(first) {
                left @ 0..64 => (1 << left) - 1,
                _ => u64::MAX,
            };
            let mut wrong = wrong(word, meant);
            differences += u64::from(wrong.count_ones());
            while wrong != 0 && listed < LISTED {
                let offset = first + u64::from(wrong.trailing_zeros());
                findings.push(if offset < positions { finding(offset) } else { Finding::Stray { block, offset } });
                listed += 1;
                wrong &= wrong - 1;
            }
        }
        if differences > listed as u64 {
            findings.push(Finding::More { block, differences, listed });
        }
        differences
    }

    fn contradiction(&self, block: u32, offset: u64, stored_loss: bool) -> Finding {
        let position = self.geometry.position(block, offset);
        let rows_of = |position: u64| position::rows(self.database.board(), position);
        let mut children = self.geometry.children_of(position);
        let because = if self.database.board().is_over(position) {
            Reason::Empty(self.database.rule())
        } else if !stored_loss {
            Reason::AllWins(children.count())
        } else {
            // Look-ups serve only to name the child; the check itself makes none.
            let is_loss = |child: &u64| self.database.value(*child).is_ok_and(|value| value.is_loss());
            Reason::LosingChild(children.find(is_loss).map(rows_of))
        };
        Finding::Position { block, offset, rows: rows_of(position), stored: Value::from_loss(stored_loss), because }
    }
}

/// Turns the positions with a child of each nimber into those of each; returns those that have
/// none.
fn nimbers(meant: u64, marks: &mut [u64]) -> u64 {
    // Positions that have children of all lower nimbers; bits without a position have none.
    let mut all_lower = meant;
    for plane in marks {
        let reached = *plane;
        *plane = all_lower & !reached;
        all_lower &= reached;
    }
    // More nimbers below a position than there can be.
    all_lower
}

/// Turns the wins, and the positions with a child of each distance, into the losses and those of
/// each; returns those that have none.
fn distances(rule: Rule, meant: u64, marks: &mut [u64]) -> u64 {
    let Some((first, marks)) = marks.split_first_mut() else { return meant };
    let have_children = marks.iter().fold(0, |all, reached| all | reached) & meant;
    let (mut wins, mut losses) = (have_children & *first, have_children & !*first);
    *first = meant & !*first;
    // Of a child of each distance, the parents have one more.
    marks.rotate_right(1);
    let beyond = losses & std::mem::replace(&mut marks[0], meant & !have_children);
    for (distance, plane) in (0..).zip(&mut *marks).skip(1) {
        if value_at(distance, rule) == Value::Win {
            *plane &= wins;
            wins &= !*plane;
        }
    }
    for (distance, plane) in (0..marks.len() as u32).zip(marks).skip(1).rev() {
        if value_at(distance, rule) == Value::Loss {
            *plane &= losses;
            losses &= !*plane;
        }
    }
    wins | losses | beyond
}

fn lines(bitmap: &[u64]) -> &[[u64; LINE]] {
    bitmap.as_chunks().0
}

fn lines_mut(bitmap: &mut [u64]) -> &mut [[u64; LINE]] {
    bitmap.as_chunks_mut().0
}

/// Separates damage, which is a finding, from errors of the operating system.
fn damage(result: Result<(), DatabaseError>) -> Result<Option<Finding>, DatabaseError> {
    let found = result.err().map(DatabaseError::into_finding).transpose()?;
    Ok(found.map(Finding::File))
}
