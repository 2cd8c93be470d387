//! Positions as text, cells of a layout, transcripts of games.

use crate::choice;
use trinim::game::position;
use trinim::game::{Board, Cell};
use trinim::layout::Layout;
use trinim_plane::game::Game;
use trinim_plane::winning;

/// A position of a board whose size is in the first byte.
pub fn position(bytes: &[u8]) {
    let (layers, rest) = choice(bytes);
    let board = Board::triangle(1 + u32::from(layers % 10), None).expect("1 to 10 layers");
    let text = String::from_utf8_lossy(rest);
    let Ok(found) = position::parse(&board, &text) else { return };
    assert_eq!(found & !board.full(), 0, "{text:?} has pieces outside the board");
    for text in [position::rows(&board, found), position::hex(found)] {
        assert_eq!(position::parse(&board, &text), Ok(found), "{text}");
    }
    assert!(position::picture(&board, found).lines().count() >= board.rows().len());
}

/// BID cells of a small board: the layout is rejected, or maps positions to blocks and back.
pub fn layout(bytes: &[u8]) {
    let (layers, cells) = choice(bytes);
    let layers = 1 + u32::from(layers % 6);
    let board = Board::triangle(layers, None).expect("1 to 6 layers");
    // More cells than the board has must be rejected; many more change nothing.
    let cells = &cells[..cells.len().min(40)];
    let cells: Vec<Cell> = cells.iter().map(|cell| Cell::from_index(u32::from(*cell))).collect();
    let Ok(layout) = Layout::new(&board, &cells) else { return };
    assert_eq!(layout.bid_bits() + layout.offset_bits(), board.cells());
    let full = board.full();
    for step in 0..64u64 {
        let position = step.wrapping_mul(0x9e37_79b9_7f4a_7c15) & full;
        let (bid, offset) = layout.split(position);
        assert_eq!(layout.join(bid, offset), position);
        let (ordinal, offset) = layout.locate(position);
        assert!(ordinal.index() < layout.canonical_blocks().len() && offset >> layout.offset_bits() == 0);
    }
}

/// A transcript of Nim on the plane: it is rejected, or is a legal game that survives writing and
/// parsing.
pub fn transcript(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(game) = Game::parse(&text) else { return };
    assert_eq!(Game::parse(&game.to_string()).as_ref(), Ok(&game), "{text}");
    let last = game.turns().last();
    assert!(last.is_none_or(|turn| turn.to == *game.point()), "{text}");
    let is_lost = winning::value(game.rule(), game.point()).is_loss();
    assert_eq!(is_lost || game.point().is_end(), winning::moves(game.rule(), game.point()).is_empty(), "{text}");
}
