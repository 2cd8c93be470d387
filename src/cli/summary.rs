//! The result of a solved board, as `solve` and `stats` report it.

use super::output::{Paint, counted, grouped};
use serde::Serialize;
use trinim::database::{Audited, Keep, Manifest};
use trinim::game::Value;
use trinim::layout::Layout;

/// Facts about a solved board that need no block.
#[derive(Serialize)]
pub struct Summary {
    layers: u32,
    rule: String,
    max_take: Option<u32>,
    /// All positions.
    pub positions: u64,
    wins: u64,
    losses: u64,
    loss_rate: f64,
    start: Value,
    digest: String,
    keep: Keep,
    audit: Option<Audited>,
    bid_cells: Vec<u8>,
    blocks: u64,
    /// Blocks that were evaluated.
    pub canonical_blocks: u64,
}

impl Summary {
    /// Summarises a finished database.
    pub fn of(manifest: &Manifest, layout: &Layout) -> Summary {
        let census = &manifest.census;
        Summary {
            layers: manifest.layers,
            rule: manifest.rule.clone(),
            max_take: manifest.max_take,
            positions: census.positions(),
            wins: census.wins(),
            losses: census.losses(),
            loss_rate: census.loss_rate(),
            start: census.start(),
            digest: manifest.digest.clone(),
            keep: manifest.keep,
            audit: manifest.audit,
            bid_cells: manifest.bid_cells.clone(),
            blocks: layout.blocks(),
            canonical_blocks: layout.canonical_blocks().len() as u64,
        }
    }

    /// Returns a row that says what is kept, unless that is every value.
    pub fn only(&self) -> Option<(&'static str, String)> {
        (!self.keep.is_database()).then(|| ("kept", self.keep.limits()))
    }

    /// Returns what the row of the files is about, and says what is kept unless that is every
    /// value.
    pub fn kept(&self) -> (&'static str, &'static str) {
        match self.keep {
            Keep::Database => ("database", ""),
            Keep::Book { .. } => ("kept", "counts, winning first moves and the book, "),
            Keep::Counts => ("kept", "counts and winning first moves, "),
        }
    }

    /// Returns the rows of a table.
    pub fn rows(&self, paint: Paint) -> Vec<(&'static str, String)> {
        let audit = self.audit.map(|Audited { positions, misses, seed, .. }| {
            let positions = counted(positions, "position");
            ("audit", format!("{positions} compared with their children, {misses} wrong, seed {seed}"))
        });
        let rows = vec![
            ("board", board(self.layers, &self.rule, self.max_take)),
            ("positions", grouped(self.positions)),
            ("wins", grouped(self.wins)),
            ("losses", format!("{} ({:.4} %)", grouped(self.losses), self.loss_rate * 100.0)),
            ("start", format!("{} for the player to move", paint.value(self.start))),
            ("digest", self.digest.clone()),
        ];
        rows.into_iter().chain(audit).collect()
    }
}

/// Describes a board and its rule in words.
pub fn board(layers: u32, rule: impl std::fmt::Display, max_take: Option<u32>) -> String {
    let take = max_take.map_or(String::new(), |take| format!(", at most {take} pieces a move"));
    format!("{}, {rule}{take}", super::output::counted(layers.into(), "layer"))
}
