//! Positions as text, cells of a layout, heaps of Nim on the plane.

use crate::choice;
use trinim::game::position;
use trinim::game::{Board, Cell};
use trinim::layout::Layout;
use trinim_plane::heaps::{self, DIGITS_MAX};

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

/// A heap of Nim on the plane: it is rejected in a short sentence, or has as many digits as allowed
/// and survives writing and parsing.
pub fn heap(bytes: &[u8]) {
    match heaps::parse(&String::from_utf8_lossy(bytes)) {
        Err(error) => assert!(error.to_string().len() < 300),
        Ok(heap) => {
            let digits = heaps::length(&heap);
            assert!(digits <= DIGITS_MAX);
            // Longer ones take too long here.
            if digits <= 10_000 {
                assert_eq!(heaps::parse(&heap.to_string()), Ok(heap));
            }
        }
    }
}
