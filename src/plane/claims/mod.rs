//! The claims of \[Ver10\], each with what the program computes.
//!
//! `numbers` has the sequences, the golden ratio and the examples; `play` has who wins, the
//! paper's algorithm and the variants of the game. The available text of the paper is damaged; what
//! it has lost is listed as undecided.

mod numbers;
mod play;

use trinim_game::claims::Claim;

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

/// What the available text of the paper does not have.
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

#[cfg(test)]
mod tests {
    use super::*;
    use trinim_game::claims::Verdict;

    /// Small enough for the test command; the verdicts are those of the default.
    const SMALL: Effort =
        Effort { heaps: 60, flip_heaps: 16, search_heaps: 612, numbers: 3_000, digits: 12, samples: 3_000 };

    #[test]
    fn every_verdict_is_the_known_one() {
        let claims = all(SMALL);
        let of = |verdict: Verdict| -> Vec<&str> {
            claims.iter().filter(|claim| claim.verdict == verdict).map(|claim| &*claim.place).collect()
        };
        let contradicted =
            [&["theorem 4", "(41), (42)"][..], &["table 2"; 4], &["section 17, V"; 8], &["(43)", "remark 3"]];
        assert_eq!(of(Verdict::Contradicted), [&contradicted.concat()[..], &["(56)", "section 21"]].concat());
        assert_eq!(of(Verdict::Misprint), ["example 7", "(55)", "section 21"]);
        assert_eq!(
            of(Verdict::Undecided)[4..],
            ["abstract, section 15", "section 18", "section 19", "(54)", "section 21"]
        );
        for claim in claims.iter().filter(|claim| claim.verdict != Verdict::Agrees) {
            assert!(!claim.reason.is_empty(), "{claim:?}");
        }
    }

    /// A few values that were computed by other programs, and those the paper prints.
    #[test]
    fn values_are_the_known_ones() {
        let claims = all(SMALL);
        let computed = |place: &str| -> Vec<&str> {
            claims.iter().filter(|claim| claim.place == place).map(|claim| &*claim.computed).collect()
        };
        assert_eq!(computed("table 2"), ["k from 0 to 2", "k from 3 to 4", "k from 5 to 9", "k from 10 to 19"]);
        assert_eq!(computed("example 6"), ["64", "103", "38.961", "39", "102"]);
        assert_eq!(computed("example 7"), ["423,311", "1", "684,931 after 1 step, 684,931 exactly"]);
        assert_eq!(computed("example 8"), ["31 and 19"]);
        let means = "1.3820 equations with A first, 1.4721 at random, 1.6180 with B first";
        assert_eq!([computed("remark 4"), computed("section 18")].concat(), [means; 2]);
        assert!(computed("theorem 4")[0].ends_with("with 2 decimals n = 13 gives 20, and a_13 is 21"));
        assert!(computed("(41), (42)")[0].ends_with("k = 3, 5, 6, 10, 11, 12"));
        assert!(computed("section 17, V")[1].starts_with("from (378, 611) it goes to (376, 609); (377, 610) wins"));
        assert!(computed("remark 3")[0].starts_with("(1, 2) and (4, 7) satisfy"));
    }
}
