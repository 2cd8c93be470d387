//! The claims of \[Ver10\], each with what the program computes.
//!
//! `printed.txt` has what the paper prints; `numbers` has the sequences, the golden ratio and the
//! examples; `play` has who wins, the paper's algorithm and the variants of the game. The available
//! text of the paper is damaged; missing parts are listed as undecided.

mod numbers;
mod play;

use trinim_game::claims::{Claim, Paper};

const PAPER: Paper = Paper(include_str!("printed.txt"));

/// How far the computations go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The largest heap of the game without flips, decided by the rules.
    pub heaps: usize,
    /// The largest heap of the games with flips.
    pub flip_heaps: usize,
    /// The largest heap in the search for the first wrong move of the paper's algorithm.
    pub search_heaps: u64,
    /// Numbers placed in the sequences.
    pub numbers: u64,
    /// The largest k of the numbers 10^k.
    pub digits: u32,
    /// Random points.
    pub samples: u64,
}

impl Effort {
    /// Takes about a second.
    pub const QUICK: Effort =
        Effort { heaps: 250, flip_heaps: 34, search_heaps: 650, numbers: 100_000, digits: 24, samples: 20_000 };
    /// Takes less than a minute.
    pub const LONG: Effort =
        Effort { heaps: 600, flip_heaps: 70, search_heaps: 1_500, numbers: 2_000_000, digits: 60, samples: 300_000 };
}

/// Computes all claims, in the order of the paper.
pub fn all(effort: Effort) -> Vec<Claim> {
    let mut claims = lost();
    claims.extend(play::rules(effort));
    claims.extend(numbers::sequences(effort));
    claims.extend(numbers::accuracy(effort));
    claims.extend(numbers::examples());
    claims.extend(play::algorithm(effort));
    claims.extend(numbers::order());
    claims.extend(play::first_move(effort));
    claims.extend(play::attrition(effort));
    claims.extend(play::flips(effort));
    claims
}

/// The parts of the paper that are missing in its available text.
fn lost() -> Vec<Claim> {
    let lost = "the text at hand is damaged: what stood between a less-than and a greater-than sign is gone";
    let claim = |place, claim| Claim::undecided(place, claim, "lost", "-", lost);
    vec![
        claim("theorems 1 and 3", "their statements"),
        claim("examples 1 to 5", "their numbers"),
        claim("table 1", "its numbers"),
        claim("equations (2) to (28)", "those that the algorithms do not repeat"),
    ]
}

fn newton_steps(steps: u32) -> String {
    format!("{steps} Newton step{}", if steps == 1 { "" } else { "s" })
}
