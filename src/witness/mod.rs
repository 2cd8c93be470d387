//! The witness: compares every position of a block with its children, without the kernels of the
//! solver.
//!
//! It generates the moves again from the ends of runs, checks that symmetries preserve them, and
//! assigns blocks to canonical blocks by its own table, which must be complete ([`Geometry`]). It
//! orients blocks by exchanging two index bits at a time ([`Reorder`]). It looks at the children of
//! every position ([`Moves`]); the solver marks the parents of losses. It uses no edge of
//! [`layout`](crate::layout), and of [`trinim_kernel`] only the choice of instructions for its own
//! loops.
//!
//! [`verify`](crate::maintenance::verify) passes it the blocks of a database; a solve with
//! `--audit` passes it each stream that enters an audited block ([`Witnesses`]).
//!
//! # Invariants
//! 1. The comparison does not depend on the caller: [`Witness::mark`] once for each child, then
//!    [`Witness::judge`].
//! 2. A child block that was not passed, or lacks a needed part, is a contradiction.
//! 3. So is a stream that differs from the one its block had when it was finished.

pub(crate) mod children;
pub(crate) mod finding;
pub(crate) mod geometry;
pub(crate) mod orient;
mod whole;

use crate::database::{Game, Values, value_at};
use children::Moves;
use finding::{Finding, Reason};
use geometry::Geometry;
use orient::{LINE, Reorder, Tile};
use trinim_game::position::cells;
use trinim_game::{Board, Rule, Value, position};
pub(crate) use whole::Witnesses;

/// Positions listed for one block; further ones are only counted.
const LISTED: usize = 10;

/// What is needed to compare the blocks of one game with their children.
pub(crate) struct Witness<'a> {
    board: &'a Board,
    rule: Rule,
    pub(crate) geometry: Geometry,
    /// One for each orientation; the first, for the identity, is never used.
    reorders: Vec<Reorder>,
    inner: Moves,
    values: Values,
    /// Bitmaps of a block: one, or one for each number.
    pub(crate) planes: usize,
    /// Words of each of these bitmaps.
    pub(crate) words: usize,
}

/// The moves that lead from a block to one child.
pub(crate) struct Steps {
    moves: Moves,
    /// The offset bits that all of them take: no child has one of these.
    taken: u64,
}

impl Steps {
    /// Takes the offset masks of the moves.
    pub(crate) fn new(moves: &[u64]) -> Steps {
        Steps { moves: Moves::new(moves), taken: moves.iter().fold(u64::MAX, |taken, cells| taken & cells) }
    }
}

impl<'a> Witness<'a> {
    /// Builds the geometry of a game, or describes the error in its layout.
    pub(crate) fn new(game: &'a Game, values: Values) -> Result<Witness<'a>, String> {
        let Game { board, rule, layout } = game;
        let geometry = Geometry::new(board, layout)?;
        let reorders = geometry.orientations.iter().map(|orientation| Reorder::new(&orientation.offset)).collect();
        let words = 1 << (geometry.index_bits() - 6);
        let inner = Moves::new(&geometry.inner);
        Ok(Witness { board, rule: *rule, geometry, reorders, inner, values, planes: values.planes(board), words })
    }

    /// Marks the parents of a source in the blocks that reach it in one orientation. For each of
    /// these blocks, `uses` has its planes of positions with a child there, and its steps.
    /// `oriented` has room for a plane.
    pub(crate) fn mark(
        &self,
        orientation: usize,
        source: &[u64],
        uses: &mut [(&mut [u64], Steps)],
        (oriented, tile): (&mut [u64], &mut Tile),
    ) {
        let unneeded = uses.iter().fold(u64::MAX, |unneeded, (_, steps)| unneeded & steps.taken);
        for (plane, source) in source.chunks_exact(self.words).enumerate() {
            // Most high numbers are of no position of a block.
            if self.planes > 1 && source.iter().all(|word| *word == 0) {
                continue;
            }
            let child = match orientation {
                0 => lines(source),
                _ => {
                    self.reorders[orientation].orient(unneeded, lines(source), lines_mut(oriented), tile);
                    lines(oriented)
                }
            };
            for (losing, steps) in &mut *uses {
                steps.moves.mark(child, lines_mut(&mut losing[plane * self.words..][..self.words]));
            }
        }
    }

    /// Compares a block with the positions that have a losing child in another block, or one in
    /// each plane; returns how many contradict their children. `value` names the value of a child.
    pub(crate) fn judge(
        &self,
        ordinal: u32,
        (own, losing): (&[u64], &mut [u64]),
        value: &dyn Fn(u64) -> Option<Value>,
        findings: &mut Vec<Finding>,
    ) -> u64 {
        let planes = own.chunks_exact(self.words).zip(losing.chunks_exact_mut(self.words));
        for (own, losing) in planes {
            self.inner.mark(lines(own), lines_mut(losing));
        }
        self.mark_over(ordinal, &mut losing[..self.words]);
        match self.values {
            Values::Outcomes => self.compare(ordinal, own, losing, value, findings),
            Values::Nimbers | Values::Remoteness => self.compare_numbers(ordinal, own, losing, findings),
        }
    }

    /// Marks the positions without a move where these are wins.
    fn mark_over(&self, ordinal: u32, losing: &mut [u64]) {
        if self.rule != Rule::Misere {
            return;
        }
        if self.board.takes_single_pieces() {
            losing[0] |= u64::from(self.geometry.bid(ordinal) == 0);
            return;
        }
        // Of each move, the cells outside a word and the places in a word with its other cells.
        let places = |cells: u64| (0..64).filter(move |place| place & cells & 63 == cells & 63);
        let divide = |cells: u64| (cells & !63, places(cells).fold(0, |bits, place| bits | 1_u64 << place));
        let moves: Vec<(u64, u64)> = self.geometry.moves_in(ordinal).into_iter().map(divide).collect();
        for (word, losing) in (0_u64..).zip(losing) {
            let possible = moves.iter().filter(|(outside, _)| (word * 64) & outside == *outside);
            *losing |= !possible.fold(0, |movable, (_, inside)| movable | inside);
        }
    }

    /// Checks that a position is a loss iff it has no losing child.
    fn compare(
        &self,
        ordinal: u32,
        own: &[u64],
        losing: &[u64],
        value: &dyn Fn(u64) -> Option<Value>,
        findings: &mut Vec<Finding>,
    ) -> u64 {
        let wrong = |word: usize, meant: u64| own[word] ^ (!losing[word] & meant);
        // Nearly always: a glance that compilers make wide.
        let all_wrong = own.iter().zip(losing).fold(0, |all, (own, losing)| all | (own ^ !losing));
        if all_wrong == 0 && self.geometry.offset_bits() == self.geometry.index_bits() {
            return 0;
        }
        let is_loss = |offset: u64| own[(offset / 64) as usize] >> (offset % 64) & 1 == 1;
        let finding = |offset: u64| {
            let position = self.geometry.position(ordinal, offset);
            let rows_of = |position: u64| position::rows(self.board, position);
            let mut children = self.geometry.children_of(position);
            let because = if self.board.is_over(position) {
                Reason::Empty(self.rule)
            } else if !is_loss(offset) {
                Reason::AllWins(children.count())
            } else {
                // Look-ups serve only to name the child; the check itself makes none.
                let is_loss = |child: &u64| value(*child).is_some_and(Value::is_loss);
                Reason::LosingChild(children.find(is_loss).map(rows_of))
            };
            let (rows, stored) = (rows_of(position), Value::from_loss(is_loss(offset)));
            Finding::Position { block: ordinal, offset, rows, stored, because }
        };
        self.list(ordinal, wrong, finding, findings)
    }

    /// Checks that a position has exactly the number that follows from the numbers of its children;
    /// `reached` has the positions with a child in each plane.
    fn compare_numbers(&self, ordinal: u32, own: &[u64], reached: &[u64], findings: &mut Vec<Finding>) -> u64 {
        let mut marks = vec![0; self.planes];
        let wrong = |word: usize, meant: u64| {
            let mut own = own[word..].iter().step_by(self.words);
            marks.iter_mut().zip(reached[word..].iter().step_by(self.words)).for_each(|(mark, word)| *mark = *word);
            let impossible = match self.values {
                Values::Remoteness => distances(self.rule, meant, &mut marks),
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
            let (values, rule) = (self.values, self.rule);
            // One child of each number that there is.
            let first = values.first_number() as u32;
            let child = |number: u32| match values {
                Values::Remoteness => 2 << number | u64::from(value_at(number, rule).is_loss()),
                _ => 1 << number,
            };
            let children: Vec<u64> = cells(in_planes(reached) >> first).into_iter().map(child).collect();
            let rows = position::rows(self.board, self.geometry.position(ordinal, offset));
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
