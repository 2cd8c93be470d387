//! The audit of a solve: which blocks are compared with their children before they are saved.

use super::Game;
use super::game::DATABASE_CELLS_MAX;
use pipeline::Auditors;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use trinim_game::Board;

/// A share of the blocks, more than 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockShare(f64);

/// The error for a share that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a share like 0.05 or 5%, more than 0 and at most 1")]
pub struct ParseShareError;

impl BlockShare {
    /// Every block.
    pub const ALL: BlockShare = BlockShare(1.0);

    /// Returns how many of `blocks` blocks it is, rounded up.
    pub fn of(self, blocks: u64) -> u64 {
        (self.0 * blocks as f64).ceil() as u64
    }

    /// Chooses this share of `blocks` blocks: those with the least BLAKE3 of the seed and the
    /// ordinal in decimal, like `1 57`. A larger share adds to them.
    pub fn choose(self, blocks: u32, seed: u64) -> BTreeSet<u32> {
        let mut ordinals: Vec<u32> = (0..blocks).collect();
        ordinals.sort_by_cached_key(|ordinal| *blake3::hash(format!("{seed} {ordinal}").as_bytes()).as_bytes());
        ordinals.into_iter().take(self.of(blocks.into()) as usize).collect()
    }
}

impl fmt::Display for BlockShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for BlockShare {
    type Err = ParseShareError;

    /// Reads `0.05` or `5%`.
    fn from_str(text: &str) -> Result<BlockShare, ParseShareError> {
        // The same number in both notations, which a division would round.
        let share = match text.strip_suffix('%') {
            Some(percent) => format!("{percent}e-2").parse(),
            None => text.parse(),
        };
        share.ok().filter(|share| *share > 0.0 && *share <= 1.0).map(BlockShare).ok_or(ParseShareError)
    }
}

/// The blocks that are compared with their children before they are saved, by the code of
/// [`verify`](crate::maintenance::verify). They depend only on the number of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Audit {
    /// No block.
    #[default]
    None,
    /// The blocks that a verification of this share chooses by its usual seed.
    Share(BlockShare),
    /// Every block.
    All,
    /// No block: an earlier version began the run and compared this many positions of each block,
    /// drawn with a seed.
    Sampled {
        /// Positions of a block.
        per_block: u32,
        /// The seed.
        seed: u64,
    },
}

/// The error for an audit that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an audit: expected a share of the blocks like 1% or 0.01, all, or none")]
pub struct ParseAuditError {
    text: String,
}

impl Audit {
    /// The seed that chooses the blocks.
    pub const SEED: u64 = 1;

    /// The parameter in `FORMAT` with the audit of a run. A run without an audit has none.
    pub const PARAMETER: &'static str = "audit";

    /// Returns how a solve is audited by default: not at all up to 40 cells, where
    /// [`verify`](crate::maintenance::verify) confirms every position in seconds, and one block in
    /// a hundred beyond.
    pub fn usual(board: &Board) -> Audit {
        if board.cells() <= DATABASE_CELLS_MAX { Audit::None } else { Audit::Share(BlockShare(0.01)) }
    }

    /// Returns whether any block is compared.
    pub fn is_some(self) -> bool {
        matches!(self, Audit::Share(_) | Audit::All)
    }

    /// Returns how many of `blocks` blocks are compared.
    pub fn of(self, blocks: u64) -> u64 {
        match self {
            Audit::None | Audit::Sampled { .. } => 0,
            Audit::Share(share) => share.of(blocks),
            Audit::All => blocks,
        }
    }

    /// Returns which of `blocks` blocks are compared; `None` for every one.
    pub fn chosen(self, blocks: u32) -> Option<BTreeSet<u32>> {
        match self {
            Audit::None | Audit::Sampled { .. } => Some(BTreeSet::new()),
            Audit::Share(share) => Some(share.choose(blocks, Audit::SEED)),
            Audit::All => None,
        }
    }

    /// Returns the auditors of a run with bitmaps of this many words: each marks, in a bitmap of
    /// its own, the positions that a move leads from to a loss.
    pub fn auditors(self, stream_words: usize) -> Auditors {
        match self {
            Audit::None | Audit::Sampled { .. } => Auditors::default(),
            some => Auditors { bytes: 8 * stream_words as u64, are_everywhere: some == Audit::All },
        }
    }

    /// Returns the parameter of a run, if it has one.
    pub fn parameter(self) -> Option<(String, String)> {
        (self != Audit::None).then(|| (Audit::PARAMETER.to_owned(), self.to_string()))
    }

    /// Returns how a run with these parameters is audited; `None` if this program does not know.
    pub fn from_parameters(given: &[(String, String)]) -> Option<Audit> {
        let Some(pair) = given.iter().find(|(name, _)| name == Audit::PARAMETER) else { return Some(Audit::None) };
        let sampled = || {
            let (per_block, seed) = pair.1.split_once(':')?;
            Some(Audit::Sampled { per_block: per_block.parse().ok()?, seed: seed.parse().ok()? })
        };
        // Only one way to write it: parameters are compared as texts.
        pair.1.parse().ok().or_else(sampled).filter(|audit| audit.parameter().as_ref() == Some(pair))
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Audit::None => f.write_str("none"),
            Audit::Share(share) => share.fmt(f),
            Audit::All => f.write_str("all"),
            Audit::Sampled { per_block, seed } => write!(f, "{per_block}:{seed}"),
        }
    }
}

impl FromStr for Audit {
    type Err = ParseAuditError;

    /// Reads `none`, `all` or a share; a share of all blocks is `all`.
    fn from_str(text: &str) -> Result<Audit, ParseAuditError> {
        match (text, text.parse()) {
            ("none", _) => Ok(Audit::None),
            ("all", _) | (_, Ok(BlockShare::ALL)) => Ok(Audit::All),
            (_, Ok(share)) => Ok(Audit::Share(share)),
            (_, Err(_)) => Err(ParseAuditError { text: text.to_owned() }),
        }
    }
}

/// A finished audit, as the manifest has it. A solve with a miss does not finish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditResult {
    /// Blocks that were compared with their children; absent: every block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Positions compared per block: all, or the number that an earlier version drew.
    pub per_block: u32,
    /// Seed with which an earlier version drew them; 0 for all.
    pub seed: u64,
    /// Positions compared in all.
    pub positions: u64,
    /// Positions whose value contradicts their children.
    pub misses: u64,
}

impl AuditResult {
    /// The most positions that were drawn from a block.
    const MOST_DRAWN: u32 = 10_000;

    /// Returns the result of an audit that the blocks of a game passed, if there is one.
    pub fn passed(audit: Audit, game: &Game) -> Option<AuditResult> {
        let blocks = audit.of(game.layout.canonical_blocks().len() as u64);
        let part = AuditResult::of_part(blocks, game);
        audit.is_some().then(|| AuditResult { blocks: part.blocks.filter(|_| audit != Audit::All), ..part })
    }

    /// Returns the result of an audit that this many blocks of a game passed.
    pub fn of_part(blocks: u64, game: &Game) -> AuditResult {
        let of_a_block = 1 << game.layout.offset_bits();
        // Bitmaps of larger blocks would not fit any memory.
        let per_block = of_a_block as u32;
        AuditResult { blocks: Some(blocks), per_block, seed: 0, positions: of_a_block * blocks, misses: 0 }
    }

    /// Returns whether every position of a game was compared.
    pub fn is_of_all(&self, game: &Game) -> bool {
        self.positions == (game.layout.canonical_blocks().len() as u64) << game.layout.offset_bits()
    }

    /// Returns whether blocks of a game can have passed so.
    pub fn is_possible(&self, game: &Game) -> bool {
        let (all, size) = (game.layout.canonical_blocks().len() as u64, 1_u64 << game.layout.offset_bits());
        let is_whole = self.per_block == size as u32 && self.seed == 0;
        let is_drawn = self.blocks.is_none() && (1..=AuditResult::MOST_DRAWN).contains(&self.per_block);
        let blocks = self.blocks.unwrap_or(all);
        let of_a_block = if is_whole { size } else { size.min(self.per_block.into()) };
        (is_whole || is_drawn)
            && (1..=all).contains(&blocks)
            && self.positions == of_a_block * blocks
            && self.misses == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_parameters_are_read_back() {
        for (text, written) in [
            ("all", "all"),
            ("100%", "all"),
            ("1.0", "all"),
            ("1%", "0.01"),
            ("0.7%", "0.007"),
            ("0.007", "0.007"),
            ("29%", "0.29"),
            ("1e-6", "0.000001"),
        ] {
            let audit: Audit = text.parse().unwrap();
            assert_eq!(audit.to_string(), written);
            assert_eq!(Audit::from_parameters(&[audit.parameter().unwrap()]), Some(audit));
        }
        assert_eq!("none".parse(), Ok(Audit::None));
        assert_eq!((Audit::None.parameter(), Audit::from_parameters(&[])), (None, Some(Audit::None)));
        for other in
            ["", "0", "%", "0%", "-1%", "101%", "1.5", "nan", "NaN%", "inf", "5", "1000:7", "All", "1 %", "5%%"]
        {
            assert!(other.parse::<Audit>().is_err(), "{other:?}");
        }
        for other in ["none", "1%", "0.010", "1", "01000:7", ":7", "1:2:3"] {
            assert_eq!(Audit::from_parameters(&[("audit".into(), other.into())]), None, "{other:?}");
        }
        let sampled = Audit::Sampled { per_block: 1000, seed: 7 };
        assert_eq!(Audit::from_parameters(&[("audit".into(), "1000:7".into())]), Some(sampled));
        assert!(!sampled.is_some() && sampled.parameter().is_some());
    }

    /// Which blocks are chosen is part of what a manifest says, and a resumed run goes on with the
    /// same ones.
    #[test]
    fn a_share_chooses_the_same_blocks_for_ever() {
        let share = |text: &str| text.parse::<BlockShare>().unwrap();
        let chosen = |text, blocks| share(text).choose(blocks, Audit::SEED);
        assert_eq!(chosen("5%", 104), BTreeSet::from([1, 4, 9, 39, 76, 94]));
        assert!(chosen("50%", 104).is_superset(&chosen("25%", 104)));
        assert_ne!(chosen("25%", 104), share("25%").choose(104, 2));
        for (text, blocks, count) in [("1e-9", 1, 1), ("1e-9", 5728, 1), ("1%", 5728, 58), ("25%", 104, 26)] {
            assert_eq!((chosen(text, blocks).len(), share(text).of(blocks.into())), (count, count as u64));
        }
        assert_eq!((chosen("100%", 104).len(), Audit::All.chosen(104)), (104, None));
    }

    /// A manifest says of an audit only what can have been; what was drawn from each block is read.
    #[test]
    fn results_that_cannot_have_been_are_refused() {
        let game = Game::triangle(4, trinim_game::Rule::Misere, 6).unwrap();
        let blocks = game.layout.canonical_blocks().len() as u64;
        let share = AuditResult::passed("30%".parse().unwrap(), &game).unwrap();
        let all = AuditResult::passed(Audit::All, &game).unwrap();
        assert_eq!(AuditResult::passed(Audit::None, &game), None);
        assert_eq!((share.blocks, share.positions), (Some(3), 3 * 64));
        assert_eq!((all.blocks, all.positions), (None, blocks * 64));
        let drawn = AuditResult { per_block: 40, seed: 3, positions: 40 * blocks, ..all.clone() };
        let whole = AuditResult { per_block: 10_000, seed: 3, ..all.clone() };
        for (result, is_of_all) in [(&share, false), (&all, true), (&drawn, false), (&whole, true)] {
            assert!(result.is_possible(&game), "{result:?}");
            assert_eq!(result.is_of_all(&game), is_of_all, "{result:?}");
        }
        for wrong in [
            AuditResult { blocks: Some(2), ..share.clone() },
            AuditResult { blocks: Some(0), positions: 0, ..share.clone() },
            AuditResult { blocks: Some(blocks + 1), positions: (blocks + 1) * 64, ..share.clone() },
            AuditResult { blocks: None, ..share.clone() },
            AuditResult { seed: 1, ..share.clone() },
            AuditResult { per_block: 32, ..share.clone() },
            AuditResult { misses: 1, ..share },
            AuditResult { positions: all.positions - 64, ..all.clone() },
            AuditResult { misses: 1, ..all },
            AuditResult { blocks: Some(blocks), ..drawn.clone() },
            AuditResult { per_block: 0, positions: 0, ..drawn.clone() },
            AuditResult { positions: drawn.positions + 1, ..drawn },
            AuditResult { per_block: 10_001, ..whole },
        ] {
            assert!(!wrong.is_possible(&game), "{wrong:?}");
        }
    }
}
