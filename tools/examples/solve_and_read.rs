//! Solves six layers of Triangular Nim into a folder and asks the database for a winning move.
//!
//! `cargo run --release --example solve_and_read`

use std::error::Error;
use trinim::game::position;
use trinim::{Board, Database, Rule, Solve, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let board = Board::triangle(6, None)?;
    let solved = Solve::new(&board, Rule::Misere).run(folder.path())?;
    let census = &solved.manifest.census;
    println!("{} of {} positions are losses", census.losses(), census.positions());
    // [SWLK12] table 4.
    assert_eq!(census.losses(), 189_089);

    let database = Database::open(folder.path())?;
    let full = database.probe(board.full())?;
    println!("the player to move at the full board has a {}", full.value);
    let answer = full.children.first().ok_or("a full board has moves")?;
    // Children come with the winning moves first: those that leave the opponent a loss.
    assert_eq!(full.value == Value::Win, answer.value == Value::Loss);
    println!("{}", position::picture(&board, answer.position));
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_example_holds() {
        super::main().unwrap();
    }
}
