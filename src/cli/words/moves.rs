//! Winning moves as pictures, told the same way by `probe` and `stats`.

use crate::cli::face::output::{self, Out};
use std::io::Write;
use trinim::game::Board;
use trinim::game::position::cells;

/// Most moves shown as pictures.
const PICTURES: usize = 8;

/// Returns how many moves there are up to symmetry, as the end of a sentence about `moves` moves of
/// `position`; empty if no two of them are alike.
pub fn up_to_symmetry(board: &Board, position: u64, moves: &[u64]) -> String {
    match board.classes_at(position, moves).len() {
        kinds if kinds == moves.len() => String::new(),
        kinds => format!(", {kinds} up to symmetry"),
    }
}

/// Draws winning moves of `position`, one for all images under the symmetries that keep it: the
/// cells it takes, and the number of images.
pub fn draw(board: &Board, position: u64, moves: &[u64], out: &mut Out) -> anyhow::Result<()> {
    let classes = board.classes_at(position, moves);
    let pictures: Vec<(String, Vec<String>)> = classes
        .iter()
        .take(PICTURES)
        .map(|(taken, images)| {
            let cells: Vec<String> = cells(*taken).iter().map(u32::to_string).collect();
            let alike = if images.len() > 1 { format!(" ({} alike)", images.len()) } else { String::new() };
            (format!("{}{alike}", cells.join(" ")), output::picture(board, position, *taken, out.paint))
        })
        .collect();
    output::side_by_side(out, board, &pictures)?;
    if classes.len() > PICTURES {
        writeln!(out, "and {} more; --json lists all", classes.len() - PICTURES)?;
    }
    Ok(())
}
