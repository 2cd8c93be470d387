//! Layouts: their block graphs against the definition, and the best sets of cells.

use crate::common::layouts::{cells, small_layouts, triangle};
use pipeline::BlockId;
use proptest::prelude::*;
use std::collections::BTreeSet;
use trinim::game::{Board, Cell};
use trinim::layout::{Bid, Layout, LayoutError, search};

fn layout(layers: u32, bid_cells: &[(u8, u8)]) -> Layout {
    Layout::new(&triangle(layers), &cells(bid_cells)).unwrap()
}

/// The best closed sets, by exhaustive search: board, BID cells, canonical blocks, updates after
/// redundancy removal.
#[test]
fn the_best_closed_sets() {
    let best = [
        (8, 6, 16, 87),
        (8, 9, 104, 798),
        (8, 12, 752, 8_258),
        (8, 15, 5_728, 85_264),
        (9, 12, 752, 7_420),
        (9, 15, 5_728, 78_852),
        (9, 18, 44_224, 813_884),
    ];
    for (layers, bits, canonical_blocks, canonical_updates) in best {
        let board = triangle(layers);
        let set = search::best_closed(&board, bits).unwrap();
        assert_eq!(search::canonical_updates(&board, &set), canonical_updates);
        assert_eq!(search::canonical_blocks(&board, &set), canonical_blocks);
        let layout = Layout::new(&board, &set).unwrap();
        assert_eq!(layout.canonical_blocks().len() as u128, canonical_blocks);
        let grouped: u64 = layout.ordinals().map(|ordinal| u64::from(layout.orbit_size(ordinal))).sum();
        assert_eq!(grouped, layout.blocks());
    }
    // Four sets are equally good here; the one with whole corners wins.
    let set = search::best_closed(&triangle(8), 9);
    assert_eq!(set, Some(cells(&[(2, 1), (3, 0), (3, 3), (4, 0), (4, 4), (6, 1), (6, 5), (7, 3), (7, 4)])));
    let board = triangle(9);
    let set = search::best_closed(&board, 21).unwrap();
    assert_eq!(search::canonical_updates(&board, &set), 7_999_604);
    assert_eq!(search::best_closed(&board, 16), None);
}

#[test]
fn counting_arguments_agree_with_the_edges() {
    for (board, layout) in small_layouts() {
        let cells: Vec<Cell> = layout.bid_cells().iter().map(|&cell| Cell::from_index(cell.into())).collect();
        let updates: usize = layout.ordinals().map(|target| layout.edges_into(target).len()).sum();
        assert_eq!(search::canonical_updates(&board, &cells), updates as u128);
        assert_eq!(search::canonical_blocks(&board, &cells), layout.canonical_blocks().len() as u128);
    }
}

#[test]
fn suggested_layouts_keep_the_bound() {
    for layers in 1..=9 {
        let board = triangle(layers);
        for offset_bits_at_most in board.cells().saturating_sub(18)..=board.cells() + 1 {
            let layout = Layout::suggested(&board, offset_bits_at_most);
            assert!(layout.offset_bits() <= offset_bits_at_most);
            assert!(layout.bid_bits() <= board.cells().saturating_sub(offset_bits_at_most) + 2);
            assert_eq!(layout.symmetries().len(), board.symmetries().len());
        }
        let whole = Layout::suggested(&board, board.cells());
        assert_eq!((whole.bid_bits(), whole.canonical_blocks()), (0, [Bid(0)].as_slice()));
        assert_eq!(whole.inner_moves().len(), board.moves().len());
        assert_eq!(whole.order(), [BlockId(0)]);
    }
}

/// A board whose symmetries take every cell to every other has no closed set but all cells: a ring
/// of 24 was cut into blocks of one position.
#[test]
fn suggested_blocks_are_neither_too_large_nor_tiny_however_symmetric_the_board() {
    let board = |cells: usize, lines: &[Vec<usize>]| {
        let text = format!("name = 's'\ncells = {cells}\nlines = {lines:?}\n");
        Board::from_toml(&text, trinim::game::Takes::ANY).unwrap()
    };
    let mut boards = Vec::new();
    for cells in [7, 12, 13, 20, 24, 29, 36, 48, 55] {
        // Rings, with chords and apart; lines of one cell; pairs that meet no other.
        boards.push(board(cells, &(0..cells).map(|i| vec![i, (i + 1) % cells]).collect::<Vec<_>>()));
        boards.push(board(cells, &(0..cells).map(|i| vec![i, (i + 1) % cells, (i + 3) % cells]).collect::<Vec<_>>()));
        boards.push(board(cells, &(0..cells).map(|i| vec![i]).collect::<Vec<_>>()));
        boards.push(board(cells / 2 * 2, &(0..cells / 2).map(|i| vec![2 * i, 2 * i + 1]).collect::<Vec<_>>()));
        let two = |i: usize| if i < cells / 2 { vec![i, (i + 1) % (cells / 2)] } else { vec![i] };
        boards.push(board(cells, &(0..cells).map(two).collect::<Vec<_>>()));
    }
    // A torus, and a cube of four and of five dimensions.
    boards.push(board(25, &(0..25).map(|i| vec![i, i / 5 * 5 + (i + 1) % 5, (i + 5) % 25]).collect::<Vec<_>>()));
    for bits in [4, 5] {
        let edges = (0..1 << bits).flat_map(|i| (0..bits).map(move |bit| vec![i, i ^ 1 << bit]));
        boards.push(board(1 << bits, &edges.filter(|edge| edge[0] < edge[1]).collect::<Vec<_>>()));
    }
    for board in boards {
        for most in [6, 10, 14, 18, 22, 27, 31] {
            let wanted = board.cells().saturating_sub(most);
            // Larger ones take as long as they have blocks.
            if wanted > 14 {
                continue;
            }
            let layout = Layout::suggested(&board, most);
            let least = most.min(board.cells()).saturating_sub(8).max(6).min(board.cells());
            assert!((least..=most).contains(&layout.offset_bits()), "{} of {most}: {board:?}", layout.offset_bits());
        }
    }
}

#[test]
fn cells_that_make_no_layout_are_refused_in_words() {
    let board = triangle(9);
    let error = Layout::new(&board, &cells(&[(0, 0), (9, 0)])).unwrap_err();
    assert!(error.to_string().starts_with("BID cell j1 is not on the board triangle:9"), "{error}");
    let error = Layout::new(&board, &cells(&[(2, 3)])).unwrap_err();
    assert!(matches!(error, LayoutError::Outside { .. }));
    let error = Layout::new(&board, &cells(&[(4, 2), (0, 0), (4, 2)])).unwrap_err();
    assert_eq!(error.to_string(), "BID cell e3 is listed twice");
    let many: Vec<Cell> = (0..25).map(Cell::from_index).collect();
    assert_eq!(Layout::new(&board, &many).unwrap_err(), LayoutError::TooMany { found: 25 });
}

/// Every position of every canonical block: edges and inner moves together give exactly its moves.
#[test]
fn the_block_graph_holds_every_move_once() {
    for (board, layout) in small_layouts() {
        for (target, &bid) in layout.ordinals().zip(layout.canonical_blocks()) {
            let edges = layout.edges_into(target);
            for offset in 0..1u64 << layout.offset_bits() {
                let position = layout.join(bid, offset);
                let mut expected: Vec<(BlockId, u64)> = board
                    .moves()
                    .iter()
                    .filter(|&taken| position & taken == *taken)
                    .map(|taken| layout.locate(position ^ taken))
                    .collect();
                let mut found: Vec<(BlockId, u64)> = layout
                    .inner_moves()
                    .iter()
                    .filter(|&taken| offset & taken == *taken)
                    .map(|taken| layout.locate(layout.join(bid, offset ^ taken)))
                    .collect();
                for edge in &edges {
                    let symmetry = &layout.symmetries()[usize::from(edge.symmetry)];
                    let back = &layout.symmetries()[symmetry.inverse()];
                    let source = layout.bid(edge.source);
                    assert_eq!(symmetry.map_bid(source).0, bid.0 ^ layout.traces()[edge.trace.0 as usize].bid);
                    for taken in layout.operations(edge.trace) {
                        if offset & taken == *taken {
                            let inside = back.map_offset(offset ^ taken);
                            found.push(layout.locate(layout.join(source, inside)));
                        }
                    }
                }
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected);
            }
        }
    }
}

/// Every block by itself: the paper's updates before redundancy is removed, each child under its
/// own number.
#[test]
fn without_symmetries_every_block_is_its_own() {
    for (_, layout) in small_layouts() {
        let whole = layout.without_symmetries();
        assert_eq!(whole.canonical_blocks().len() as u64, layout.blocks());
        assert_eq!((whole.bid_cells(), whole.offset_cells()), (layout.bid_cells(), layout.offset_cells()));
        for bid in 0..layout.blocks() as u32 {
            assert_eq!(whole.canonical(Bid(bid)), (BlockId(bid), 0));
            let into = whole.edges_into(BlockId(bid));
            let children: BTreeSet<BlockId> = into.iter().map(|edge| edge.source).collect();
            assert_eq!(children.len(), into.len());
            for edge in &into {
                assert_eq!((edge.source.0 ^ bid, edge.symmetry), (layout.traces()[edge.trace.0 as usize].bid, 0));
                assert!(whole.edges_from(edge.source).contains(edge));
            }
        }
    }
}

#[test]
fn edges_are_the_same_from_both_ends() {
    let mut layouts: Vec<Layout> = small_layouts().into_iter().map(|(_, layout)| layout).collect();
    layouts.push(Layout::suggested(&triangle(8), 27));
    layouts.push(layout(8, &[(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]));
    for layout in layouts {
        let mut into: Vec<_> = layout.ordinals().flat_map(|target| layout.edges_into(target)).collect();
        let mut from: Vec<_> = layout.ordinals().flat_map(|source| layout.edges_from(source)).collect();
        into.sort_unstable();
        from.sort_unstable();
        assert_eq!(into, from);
        assert!(into.iter().all(|edge| edge.source < edge.target));
        for source in layout.ordinals() {
            let orientations: BTreeSet<u8> = layout.edges_from(source).iter().map(|edge| edge.symmetry).collect();
            assert!(orientations.len() <= layout.orbit_size(source) as usize);
        }
    }
}

#[test]
fn canonical_blocks_stand_for_their_groups() {
    for (_, layout) in small_layouts() {
        let mut sizes = vec![0; layout.canonical_blocks().len()];
        for bid in (0..layout.blocks() as u32).map(Bid) {
            let (ordinal, symmetry) = layout.canonical(bid);
            let canonical = layout.bid(ordinal);
            assert!(canonical <= bid);
            assert_eq!(layout.symmetries()[symmetry].map_bid(canonical), bid);
            assert!(layout.symmetries()[..symmetry].iter().all(|earlier| earlier.map_bid(canonical) != bid));
            sizes[ordinal.index()] += 1;
        }
        for (ordinal, size) in layout.ordinals().zip(sizes) {
            assert_eq!(layout.orbit_size(ordinal), size);
        }
    }
}

#[test]
fn a_layout_does_not_depend_on_the_order_of_its_cells() {
    let listed = [(2, 1), (3, 0), (3, 3), (4, 0), (4, 4), (6, 1), (6, 5), (7, 3), (7, 4)];
    let mut reversed = listed;
    reversed.reverse();
    let (one, other) = (layout(8, &listed), layout(8, &reversed));
    assert_eq!(one.bid_cells(), other.bid_cells());
    assert_eq!(one.offset_cells(), other.offset_cells());
    assert_eq!(one.order(), other.order());
}

/// A board of any size with BID cells of any kind: closed under all symmetries, under one, or under
/// none.
fn any_layout() -> impl Strategy<Value = (Board, Layout)> {
    (1u32..=10, any::<u64>(), any::<u64>(), 0usize..7).prop_map(|(layers, one, two, kind)| {
        let board = triangle(layers);
        let sparse = one & two & two.rotate_left(17) & board.full();
        let mut mask = match board.symmetries().get(kind) {
            Some(symmetry) => {
                let orbit = sparse | symmetry.apply(sparse);
                orbit | symmetry.apply(orbit)
            }
            None => board.symmetries().iter().fold(sparse, |mask, symmetry| mask | symmetry.apply(1)),
        };
        while mask.count_ones() > 16 {
            mask &= mask - 1;
        }
        let set: Vec<Cell> = (0..board.cells()).map(Cell::from_index).filter(|cell| mask & cell.mask() != 0).collect();
        let layout = Layout::new(&board, &set).unwrap();
        (board, layout)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn split_and_join_are_inverse((board, layout) in any_layout(), bits: u64) {
        let position = bits & board.full();
        let (bid, offset) = layout.split(position);
        prop_assert!(u64::from(bid.0) < layout.blocks());
        prop_assert!(offset >> layout.offset_bits() == 0);
        prop_assert_eq!(layout.join(bid, offset), position);
        for (bit, &cell) in layout.offset_cells().iter().enumerate() {
            prop_assert_eq!(offset >> bit & 1, position >> cell & 1);
        }
        for (bit, &cell) in layout.bid_cells().iter().enumerate() {
            prop_assert_eq!(u64::from(bid.0) >> bit & 1, position >> cell & 1);
        }
    }

    #[test]
    fn symmetries_of_a_layout_are_those_of_the_board((board, layout) in any_layout(), bits: u64) {
        let position = bits & board.full();
        let (bid, offset) = layout.split(position);
        for symmetry in layout.symmetries() {
            let image = symmetry.board().apply(position);
            prop_assert_eq!(layout.split(image), (symmetry.map_bid(bid), symmetry.map_offset(offset)));
            prop_assert_eq!(layout.locate(image), layout.locate(position));
            let back = &layout.symmetries()[symmetry.inverse()];
            prop_assert_eq!(back.map_bid(symmetry.map_bid(bid)), bid);
            prop_assert_eq!(back.map_offset(symmetry.map_offset(offset)), offset);
            for (bit, &to) in symmetry.offset_permutation().iter().enumerate() {
                prop_assert_eq!(symmetry.map_offset(1 << bit), 1 << to);
            }
        }
    }

    #[test]
    fn a_position_is_located_in_one_of_its_images((board, layout) in any_layout(), bits: u64) {
        let position = bits & board.full();
        let (ordinal, offset) = layout.locate(position);
        let (expected, symmetry) = layout.canonical(layout.split(position).0);
        prop_assert_eq!(ordinal, expected);
        prop_assert!(symmetry < layout.symmetries().len());
        let found = layout.join(layout.bid(ordinal), offset);
        prop_assert!(layout.symmetries().iter().any(|symmetry| symmetry.board().apply(position) == found));
    }
}
