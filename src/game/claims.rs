//! Claims of a paper: what it prints, what the program computes, and a verdict.
//!
//! Only the printed text is recorded. Both the computed text and the verdict follow from a
//! computation, so a claim that the program stops supporting changes its verdict.

use serde::Serialize;
use std::fmt::Display;

/// How a claim stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The computation confirms it, as far as the computation reaches.
    Agrees,
    /// The computation refutes it.
    Contradicted,
    /// The print is wrong, and the paper itself shows what was meant.
    Misprint,
    /// This program cannot decide it.
    Undecided,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Verdict; 4] = [Verdict::Agrees, Verdict::Contradicted, Verdict::Misprint, Verdict::Undecided];

    /// Returns the verdict as reports write it.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Contradicted => "contradicted",
            Verdict::Misprint => "misprint",
            Verdict::Undecided => "undecided",
        }
    }
}

/// A claim with its verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// The place in the paper: a table, example, theorem, equation or section.
    pub place: String,
    /// What is claimed, in words.
    pub claim: String,
    /// The value or statement as the paper prints it.
    pub printed: String,
    /// The same as computed; for an undecided claim, what is known.
    pub computed: String,
    /// How the two compare.
    pub verdict: Verdict,
    /// Why the verdict is not simply agreement, or how far the computation reached; may be empty.
    pub reason: String,
}

impl Claim {
    /// Compares a printed value with the computed one: they agree if they are written alike.
    pub fn value(place: &str, claim: &str, printed: &str, computed: impl Display) -> Claim {
        let computed = computed.to_string();
        let holds = printed == computed;
        Claim::fact(place, claim, printed, computed, holds)
    }

    /// States whether a claim holds; `computed` is the result.
    pub fn fact(place: &str, claim: &str, printed: &str, computed: impl Display, holds: bool) -> Claim {
        Claim {
            place: place.to_owned(),
            claim: claim.to_owned(),
            printed: printed.to_owned(),
            computed: computed.to_string(),
            verdict: if holds { Verdict::Agrees } else { Verdict::Contradicted },
            reason: String::new(),
        }
    }

    /// States a claim that this program cannot decide, with what is known and the reason.
    pub fn undecided(place: &str, claim: &str, printed: &str, known: impl Display, reason: &str) -> Claim {
        let claim = Claim::fact(place, claim, printed, known, false);
        Claim { verdict: Verdict::Undecided, reason: reason.to_owned(), ..claim }
    }

    /// Adds a reason.
    pub fn because(self, reason: impl Display) -> Claim {
        Claim { reason: reason.to_string(), ..self }
    }

    /// Calls a contradicted claim a misprint, with the reason; one that agrees is left unchanged.
    pub fn misprint(self, reason: impl Display) -> Claim {
        match self.verdict {
            Verdict::Contradicted => Claim { verdict: Verdict::Misprint, reason: reason.to_string(), ..self },
            _ => self,
        }
    }

    /// Returns whether the paper prints something that does not hold.
    pub fn is_refuted(&self) -> bool {
        matches!(self.verdict, Verdict::Contradicted | Verdict::Misprint)
    }
}

/// The claims of a paper, one a line: a name, the place, the claim and the printed value, separated
/// by bars.
pub struct Paper(pub &'static str);

impl Paper {
    fn line(&self, name: &str) -> [&str; 3] {
        let mut lines = self.0.lines().map(|line| line.split(" | ").collect::<Vec<_>>());
        match lines.find(|line| line[0] == name).as_deref() {
            Some([_, place, claim, printed]) => [place, claim, printed],
            _ => unreachable!("the paper has no line {name}"),
        }
    }

    /// Returns the printed value of a claim.
    pub fn printed(&self, name: &str) -> &str {
        self.line(name)[2]
    }

    /// Compares a claim's printed value with the computed one, as [`Claim::value`] does.
    pub fn value(&self, name: &str, computed: impl Display) -> Claim {
        let [place, claim, printed] = self.line(name);
        Claim::value(place, claim, printed, computed)
    }

    /// States whether a claim holds, as [`Claim::fact`] does.
    pub fn fact(&self, name: &str, computed: impl Display, holds: bool) -> Claim {
        let [place, claim, printed] = self.line(name);
        Claim::fact(place, claim, printed, computed, holds)
    }

    /// States what is known of a claim that cannot be decided, as [`Claim::undecided`] does.
    pub fn undecided(&self, name: &str, known: impl Display, reason: &str) -> Claim {
        let [place, claim, printed] = self.line(name);
        Claim::undecided(place, claim, printed, known, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every claim of a made-up paper, agreed to, contradicted, misprinted and undecided.
    #[test]
    fn a_verdict_follows_from_the_values() {
        let paper = Paper("time | section 19 | a time limit | 1\nsteps | table 2 | steps | 1");
        assert_eq!([paper.printed("steps"), paper.printed("time")], ["1", "1"]);
        let known = Claim {
            place: "table 2".to_owned(),
            claim: "steps".to_owned(),
            printed: "1".to_owned(),
            computed: "1".to_owned(),
            verdict: Verdict::Agrees,
            reason: String::new(),
        };
        for (claim, computed, verdict, reason, is_refuted) in [
            (paper.value("steps", 1), "1", Verdict::Agrees, "", false),
            (paper.value("steps", 2), "2", Verdict::Contradicted, "", true),
            (paper.value("steps", "1 "), "1 ", Verdict::Contradicted, "", true),
            (paper.fact("steps", 2, true), "2", Verdict::Agrees, "", false),
            (paper.fact("steps", 1, false), "1", Verdict::Contradicted, "", true),
            (paper.value("steps", 1).because("why"), "1", Verdict::Agrees, "why", false),
            (paper.value("steps", 2).because("why"), "2", Verdict::Contradicted, "why", true),
            (paper.value("steps", 1).misprint("a digit"), "1", Verdict::Agrees, "", false),
            (paper.value("steps", 2).misprint("a digit"), "2", Verdict::Misprint, "a digit", true),
            (paper.undecided("steps", 2, "why"), "2", Verdict::Undecided, "why", false),
            (paper.undecided("steps", 1, "why").misprint("a digit"), "1", Verdict::Undecided, "why", false),
        ] {
            let expected = Claim { computed: computed.to_owned(), verdict, reason: reason.to_owned(), ..known.clone() };
            assert_eq!((claim.is_refuted(), &claim), (is_refuted, &expected));
        }
        for verdict in Verdict::ALL {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.name());
        }
    }
}
