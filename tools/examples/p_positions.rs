//! Enumerates all P-positions, the losses for the player to move, of four layers in normal play.
//!
//! A database stores canonical blocks only. The example decodes each once and maps its losses to
//! the isomorphic blocks by the symmetries of the layout. It needs memory for one bitmap; it
//! collects the result in a set only because the board is small.
//!
//! `cargo run --release --example p_positions`

use std::collections::BTreeSet;
use std::error::Error;
use trinim::game::{position, reference};
use trinim::kernel::bitmap_words;
use trinim::{Database, Game, Rule, Solve};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let game = Game::triangle(4, Rule::Normal, 6)?;
    Solve::from(&game).memory_bytes(64 << 20).run(folder.path())?;

    let database = Database::open(folder.path())?;
    let layout = database.layout();
    let mut losses = BTreeSet::new();
    let mut bitmap = vec![0; bitmap_words(layout.offset_bits())];
    for (block, bid) in layout.ordinals().zip(layout.canonical_blocks()) {
        database.bitmap(block, &mut bitmap)?;
        // A bitmap has at least 512 bits; bits beyond the offsets of the layout are not positions.
        for offset in 0..1_u64 << layout.offset_bits() {
            if bitmap[offset as usize / 64] >> (offset % 64) & 1 == 1 {
                let loss = layout.join(*bid, offset);
                losses.extend(layout.symmetries().iter().map(|symmetry| symmetry.board().apply(loss)));
            }
        }
    }
    for loss in &losses {
        println!("{}", position::rows(&game.board, *loss));
    }

    assert_eq!(losses.len() as u64, database.manifest().census.losses());
    let values = reference::values(game.board.cells(), game.board.moves(), game.rule);
    assert!((0..).zip(&values).all(|(position, value)| value.is_loss() == losses.contains(&position)));
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_example_holds() {
        super::main().unwrap();
    }
}
