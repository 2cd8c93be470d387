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
    /// First and last block of each range, ascending, that was computed before an audit of all
    /// began in the folder: compared with nothing, or by a sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_blocks: Vec<[u32; 2]>,
}

impl AuditResult {
    /// Returns the result of an audit in which every block of a game passed.
    pub fn passed(audit: Audit, game: &Game) -> AuditResult {
        let blocks = game.layout.canonical_blocks().len() as u64;
        let of_a_block = audit.positions_of_a_block(game);
        // Bitmaps of larger blocks would not fit any memory.
        let per_block = if audit == Audit::ALL { of_a_block as u32 } else { audit.per_block };
        let positions = of_a_block * blocks;
        AuditResult { per_block, seed: audit.seed, positions, misses: 0, earlier_blocks: Vec::new() }
    }

    /// Returns the result of an audit of all in which every block of a game passed but these,
    /// ascending.
    pub fn passed_but(earlier: &[u32], game: &Game) -> AuditResult {
        let all = AuditResult::passed(Audit::ALL, game);
        AuditResult {
            positions: all.positions - earlier.len() as u64 * u64::from(all.per_block),
            earlier_blocks: AuditResult::ranges(earlier),
            ..all
        }
    }

    /// Returns the first and last of each range of blocks, which ascend.
    pub fn ranges(blocks: &[u32]) -> Vec<[u32; 2]> {
        let ranges = blocks.chunk_by(|one, next| one + 1 == *next);
        ranges.filter_map(|range| Some([*range.first()?, *range.last()?])).collect()
    }

    /// Returns whether blocks of a game can have passed so.
    pub fn is_possible(&self, game: &Game) -> bool {
        let blocks = game.layout.canonical_blocks().len() as u32;
        if self.earlier_blocks.is_empty() {
            let audit = self.audit(game);
            return audit.is_possible() && *self == AuditResult::passed(audit, game);
        }
        // Before they are listed.
        let are_blocks = self.earlier_blocks.iter().all(|[first, last]| first <= last && *last < blocks);
        are_blocks && self.earlier_blocks.is_sorted_by(|one, next| one[1] < next[0]) && {
            let earlier: Vec<u32> = self.earlier_blocks.iter().flat_map(|[first, last]| *first..=*last).collect();
            (earlier.len() as u32) < blocks && *self == AuditResult::passed_but(&earlier, game)
        }
    }

    /// Returns the audit of the game that was done, at least in the later blocks.
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

    /// A manifest says of an audit only what can have been.
    #[test]
    fn earlier_blocks_are_some_but_not_all() {
        let game = Game::triangle(4, trinim_game::Rule::Misere, 6).unwrap();
        let blocks = game.layout.canonical_blocks().len() as u32;
        let passed = AuditResult::passed_but(&[0, 1, 3], &game);
        assert_eq!(passed.earlier_blocks, [[0, 1], [3, 3]]);
        assert_eq!(passed.positions, u64::from(blocks - 3) * 64);
        assert!(passed.is_possible(&game) && AuditResult::passed(Audit::ALL, &game).is_possible(&game));
        let with =
            |earlier_blocks: &[[u32; 2]]| AuditResult { earlier_blocks: earlier_blocks.to_vec(), ..passed.clone() };
        let all: Vec<u32> = (0..blocks).collect();
        for wrong in [
            with(&[]),
            with(&[[0, 1], [2, 2]]),
            with(&[[3, 3], [0, 1]]),
            with(&[[0, 2], [1, 1]]),
            with(&[[1, 0], [3, 5]]),
            with(&[[0, 1], [3, blocks]]),
            with(&[[0, u32::MAX]]),
            AuditResult::passed_but(&all, &game),
            AuditResult { positions: passed.positions + 64, ..passed.clone() },
            AuditResult { per_block: 32, ..passed.clone() },
            AuditResult { misses: 1, ..passed.clone() },
        ] {
            assert!(!wrong.is_possible(&game), "{wrong:?}");
        }
    }
}
