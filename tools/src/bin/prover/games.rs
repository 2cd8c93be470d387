//! The games with a theorem, and formulas that are right for them.

use super::trees::{Tree, call, leaf, two};
use trinim::game::Rule;
use trinim::random::Random;
use trinim_evolve::games::Ordering;
use trinim_evolve::proof::Theorem;

/// A game with its theorem.
pub struct Subject {
    pub name: &'static str,
    pub theorem: Theorem,
    pub heaps: usize,
    pub ordering: Ordering,
}

impl Subject {
    /// Chooses a game, its number of heaps and an ordering.
    pub fn new(random: &mut Random) -> Subject {
        let ordering = [Ordering::All, Ordering::All, Ordering::Descending, Ordering::Ascending][random.index(4)];
        let (name, theorem, heaps) = match random.below(8) {
            0 => ("grundy", Theorem::Grundy, 2 + random.index(3)),
            1 => ("moore", Theorem::Outcome { most: 2, rule: Rule::Normal }, 2 + random.index(3)),
            2 | 3 => ("misere", Theorem::Outcome { most: 1, rule: Rule::Misere }, 2 + random.index(3)),
            _ => ("nim", Theorem::Outcome { most: 1, rule: Rule::Normal }, 2 + random.index(3)),
        };
        Subject { name, theorem, heaps, ordering }
    }

    /// Returns a formula that is right for this game in every ordering.
    pub fn right(&self, random: &mut Random) -> Tree {
        let mut heaps: Vec<Tree> = (1..=self.heaps).map(|heap| leaf(format!("a{heap}"))).collect();
        random.shuffle(&mut heaps);
        let xor = |heaps: &[Tree]| heaps[1..].iter().fold(heaps[0].clone(), |xor, heap| two("xor", &xor, heap));
        let all = xor(&heaps);
        match self.theorem {
            Theorem::Grundy => all,
            Theorem::Outcome { most: 1, rule: Rule::Normal } => {
                let split = 1 + random.index(self.heaps - 1);
                match random.below(3) {
                    0 => all,
                    1 => two("-", &xor(&heaps[..split]), &xor(&heaps[split..])),
                    _ => two("xor", &xor(&heaps[..split]), &xor(&heaps[split..])),
                }
            }
            // Nim, until no heap is larger than 1.
            Theorem::Outcome { most: 1, .. } => {
                let one = leaf(1);
                let any = heaps[1..].iter().fold(heaps[0].clone(), |any, heap| two("or", &any, heap));
                match random.below(4) {
                    0 => call("if", &[&leaf("big"), &all, &two("-", &all, &one)]),
                    1 => two("xor", &all, &call("eq", &[&leaf("big"), &leaf(0)])),
                    2 => two("-", &all, &call("lt", &[&any, &leaf(2)])),
                    _ => two("-", &all, &call("lt", &[&leaf("largest"), &leaf(2)])),
                }
            }
            // Columns with a sum that is not a multiple of 3, in binary digits of the sum.
            Theorem::Outcome { .. } => match &heaps[..] {
                [a, b] => two("or", a, b),
                [a, b, c] => two("or", &two("xor", a, b), &two("xor", b, c)),
                [a, b, c, d, ..] => {
                    let (ab, cd) = (two("xor", a, b), two("xor", c, d));
                    let (both_ab, both_cd) = (two("and", a, b), two("and", c, d));
                    let low = two("xor", &ab, &cd);
                    let middle = two("xor", &two("xor", &both_ab, &both_cd), &two("and", &ab, &cd));
                    two("or", &two("xor", &low, &middle), &two("and", &both_ab, &both_cd))
                }
                _ => all,
            },
        }
    }
}
