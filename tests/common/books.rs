//! Solved boards in memory, and books of them.

use std::sync::{Arc, OnceLock};
use trinim::play::{AnswerError, Answers, Table};
use trinim::{Board, Database, Game, Rule, Solve, Value};

/// Solves a triangle.
pub fn table(layers: u32, rule: Rule) -> Arc<dyn Answers> {
    let folder = tempfile::tempdir().unwrap();
    let game = Game::triangle(layers, rule, 12).unwrap();
    Solve::from(&game).memory_bytes(64 << 20).run(folder.path()).unwrap();
    Arc::new(Table::load(&Database::open(folder.path()).unwrap()).unwrap())
}

/// Four layers under both rules.
pub fn four() -> &'static [Arc<dyn Answers>; 2] {
    static FOUR: OnceLock<[Arc<dyn Answers>; 2]> = OnceLock::new();
    FOUR.get_or_init(|| Rule::ALL.map(|rule| table(4, rule)))
}

/// Knows nothing of positions with fewer pieces than this.
pub struct Book(pub Arc<dyn Answers>, pub u32);

impl Answers for Book {
    fn board(&self) -> &Board {
        self.0.board()
    }

    fn rule(&self) -> Rule {
        self.0.rule()
    }

    fn value(&self, position: u64) -> Result<Value, AnswerError> {
        if position.count_ones() < self.1 {
            return Err(AnswerError::Unknown { limits: format!("at least {} pieces", self.1) });
        }
        self.0.value(position)
    }
}
