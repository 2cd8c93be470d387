//! The audit of a solve: how many positions of each block it compares with their children.

use super::Game;
use super::game::DATABASE_CELLS_MAX;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Positions that an audit of usual size compares in all, at least.
const USUAL_POSITIONS: u64 = 6_000_000;

/// A sample of positions of each block, whose values are compared with those of their children
/// while the block is solved.
///
/// The sample depends on the seed and the block alone. A block of fewer positions is compared
/// whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audit {
    /// Positions drawn from each block.
    pub per_block: u32,
    /// What they are drawn with.
    pub seed: u64,
}

/// The error for an audit that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not an audit: expected all, or positions a block, 1 to {}, and perhaps a seed, like 1000:7",
    Audit::MOST
)]
pub struct ParseAuditError {
    text: String,
}

impl Audit {
    /// The most positions of a block that are drawn, which bounds the memory of an audit.
    pub const MOST: u32 = 10_000;

    /// Every position of every block, compared by the code of [`verify`](crate::care::verify).
    pub const ALL: Audit = Audit { per_block: u32::MAX, seed: 0 };

    /// The parameter in `FORMAT` that says how a run is audited. A run without an audit has none.
    pub const PARAMETER: &'static str = "audit";

    /// Returns how a solve is audited by default: not at all up to 40 cells, where
    /// [`verify`](crate::care::verify) confirms every position in seconds, and six million
    /// positions in all beyond.
    pub fn usual(game: &Game) -> Option<Audit> {
        let blocks = game.layout.canonical_blocks().len() as u64;
        let per_block = USUAL_POSITIONS.div_ceil(blocks).min(Audit::MOST.into()) as u32;
        (game.board.cells() > DATABASE_CELLS_MAX).then_some(Audit { per_block, seed: 1 })
    }

    /// Returns the number of positions compared in each block of a game.
    pub fn positions_of_a_block(self, game: &Game) -> u64 {
        u64::from(self.per_block).min(1 << game.layout.offset_bits())
    }

    /// Returns whether a run can be audited so.
    pub fn is_possible(self) -> bool {
        (1..=Audit::MOST).contains(&self.per_block) || self == Audit::ALL
    }

    /// Returns the parameter of a run.
    pub fn parameter(self) -> (String, String) {
        (Audit::PARAMETER.to_owned(), self.to_string())
    }

    /// Returns how a run with these parameters is audited; `None` if this program does not know.
    pub fn from_parameters(given: &[(String, String)]) -> Option<Option<Audit>> {
        match given.iter().find(|(name, _)| name == Audit::PARAMETER) {
            None => Some(None),
            // Only one way to write it: parameters are compared as texts.
            Some((_, value)) => value.parse().ok().filter(|audit: &Audit| audit.to_string() == *value).map(Some),
        }
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Audit::ALL => f.write_str("all"),
            Audit { per_block, seed } => write!(f, "{per_block}:{seed}"),
        }
    }
}

impl FromStr for Audit {
    type Err = ParseAuditError;

    /// Reads `all` or `1000:7`; without a seed, it is 1.
    fn from_str(text: &str) -> Result<Audit, ParseAuditError> {
        if text == "all" {
            return Ok(Audit::ALL);
        }
        let (per_block, seed) = text.split_once(':').unwrap_or((text, "1"));
        let audit = per_block.parse().ok().zip(seed.parse().ok()).map(|(per_block, seed)| Audit { per_block, seed });
        let audit = audit.filter(|audit| audit.is_possible() && *audit != Audit::ALL);
        audit.ok_or_else(|| ParseAuditError { text: text.to_owned() })
    }
}

/// A finished audit, as the manifest has it. A solve with a miss does not finish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditResult {
    /// Positions drawn from each block, or all of a block.
    pub per_block: u32,
    /// What they were drawn with; 0 for all.
    pub seed: u64,
    /// Positions compared in all.
    pub positions: u64,
    /// Positions whose value was not the one that follows from their children.
    pub misses: u64,
}

impl AuditResult {
    /// Returns the result of an audit in which every block of a game passed.
    pub fn passed(audit: Audit, game: &Game) -> AuditResult {
        let blocks = game.layout.canonical_blocks().len() as u64;
        let of_a_block = audit.positions_of_a_block(game);
        // Bitmaps of larger blocks would not fit any memory.
        let per_block = if audit == Audit::ALL { of_a_block as u32 } else { audit.per_block };
        let positions = of_a_block * blocks;
        AuditResult { per_block, seed: audit.seed, positions, misses: 0 }
    }

    /// Returns whether blocks of a game can have passed so.
    pub fn is_possible(&self, game: &Game) -> bool {
        let audit = self.audit(game);
        audit.is_possible() && *self == AuditResult::passed(audit, game)
    }

    /// Returns the audit of the game that was done.
    pub fn audit(&self, game: &Game) -> Audit {
        let is_all = self.per_block == AuditResult::passed(Audit::ALL, game).per_block && self.seed == 0;
        if is_all { Audit::ALL } else { Audit { per_block: self.per_block, seed: self.seed } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_parameters_are_read_back() {
        for audit in [Audit { per_block: 1, seed: 0 }, Audit { per_block: 10_000, seed: u64::MAX }, Audit::ALL] {
            assert_eq!(audit.to_string().parse(), Ok(audit));
            assert_eq!(Audit::from_parameters(&[audit.parameter()]), Some(Some(audit)));
        }
        assert_eq!("7".parse(), Ok(Audit { per_block: 7, seed: 1 }));
        assert_eq!(Audit::from_parameters(&[]), Some(None));
        for other in
            ["", "0", "10001", "-1", "1:", ":1", "1:-1", "x", "1:2:3", "1:18446744073709551616", "4294967295:0", "All"]
        {
            assert!(other.parse::<Audit>().is_err(), "{other:?}");
        }
        for other in ["7", "07:1", "7:01", "+7:1", "0:1", "none"] {
            assert_eq!(Audit::from_parameters(&[("audit".into(), other.into())]), None, "{other:?}");
        }
    }
}
