//! Distances to the end inside a block: the planes of
//! [`Values::Remoteness`](crate::database::Values), from the losses and from the children in other
//! blocks.
//!
//! The winners are known, and moves alternate. So the distances of wins are even under one rule and
//! odd under the other, and those of losses the opposite. By ascending distance:
//!
//! ```text
//! wins of distance d   = wins left   that a loss of distance d - 1 is a child of
//! losses of distance d = losses left that no win left is a child of
//! ```
//!
//! One update of the whole block for each distance does both.

use crate::database::value_at;
use pipeline::{Bitmap, Error};
use std::sync::atomic::{AtomicBool, Ordering};
use trinim_game::{Rule, Value};
use trinim_kernel::{ApplyPlan, Kernel, mark_phantoms};

/// The positions of a block whose distances are not known yet.
pub(super) struct Countdown<'a> {
    kernel: Kernel,
    inner: &'a ApplyPlan,
    rule: Rule,
    wins: Vec<u64>,
    losses: Vec<u64>,
}

impl<'a> Countdown<'a> {
    /// Begins with the settled losses of a block; `inner` has the moves inside of it.
    pub(super) fn new(
        kernel: Kernel,
        inner: &'a ApplyPlan,
        rule: Rule,
        offset_bits: u32,
        losses: &[u64],
    ) -> Countdown<'a> {
        let mut wins = vec![0; losses.len()];
        mark_phantoms(offset_bits, &mut wins);
        wins.iter_mut().zip(losses).for_each(|(wins, losses)| *wins = !(*wins | losses));
        Countdown { kernel, inner, rule, wins, losses: losses.to_vec() }
    }

    fn is_over(&self) -> bool {
        self.wins.iter().chain(&self.losses).all(|word| *word == 0)
    }

    /// Finds the positions without a move, which have distance 0. `over` may have bits without a
    /// position.
    fn begin(&mut self, over: &[u64], plane: &mut [u64]) {
        let left = self.wins.iter_mut().zip(&mut self.losses);
        for ((plane, over), (wins, losses)) in plane.iter_mut().zip(over).zip(left) {
            *plane = over & (*wins | *losses);
            *wins &= !over;
            *losses &= !over;
        }
    }

    /// Finds the positions of a distance from those of the last one, `before`; distances ascend.
    /// For wins, `plane` has the positions with a child of `distance - 1` in another block; for
    /// losses, those with a child of `distance + 1` or more there.
    fn step(&mut self, distance: u32, before: &[u64], plane: &mut [u64]) {
        let left = match value_at(distance, self.rule) {
            Value::Win => {
                self.kernel.apply(self.inner, before, plane);
                &mut self.wins
            }
            Value::Loss => {
                self.kernel.apply(self.inner, &self.wins, plane);
                plane.iter_mut().for_each(|word| *word = !*word);
                &mut self.losses
            }
        };
        for (plane, left) in plane.iter_mut().zip(left) {
            *plane &= *left;
            *left &= !*plane;
        }
    }

    /// Finds all distances of a block whose children are all inside it, one bitmap for each
    /// distance. Ends early when `stop` is set.
    pub(super) fn alone(mut self, over: &[u64], stop: &AtomicBool) -> Result<Vec<Bitmap>, Error> {
        let mut first = Bitmap::zeroed(over.len())?;
        self.begin(over, first.words_mut());
        let mut planes = vec![first];
        while let (false, Some(before)) = (self.is_over(), planes.last()) {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let mut plane = Bitmap::zeroed(over.len())?;
            self.step(planes.len() as u32, before.words(), plane.words_mut());
            planes.push(plane);
        }
        Ok(planes)
    }

    /// Finds all distances: plane `d` has the positions with a child of distance `d - 1` in another
    /// block, and gets those of distance `d`.
    pub(super) fn run(mut self, over: &[u64], planes: &mut [u64]) {
        let words = over.len();
        let all = planes.len() / words;
        // For losses, the marks of all later planes: from the last to the first.
        let mut later = vec![0; words];
        for (distance, plane) in (0..all as u32).zip(planes.chunks_exact_mut(words)).rev() {
            if value_at(distance, self.rule) == Value::Loss {
                for (plane, later) in plane.iter_mut().zip(&mut later) {
                    let marks = *plane;
                    *plane = *later;
                    *later |= marks;
                }
            }
        }
        let (first, mut rest) = planes.split_at_mut(words);
        self.begin(over, first);
        let mut before = first;
        for distance in 1..all as u32 {
            if self.is_over() {
                break;
            }
            let (plane, others) = rest.split_at_mut(words);
            self.step(distance, before, plane);
            (before, rest) = (plane, others);
        }
        rest.fill(0);
    }
}
