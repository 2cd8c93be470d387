//! Boards that are not triangles, against the definition: random lines and moves, both rules, any
//! layout; and the part of a board that a position is.

use crate::common::{Bitmaps, Solving, Way};
use crate::numbers;
use proptest::prelude::*;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use trinim::database::{Database, Game, Manifest, Values};
use trinim::game::{Board, Definition, Rule, Takes, reference};
use trinim::layout::Layout;
use trinim::maintenance::Request;
use trinim::verify::{Depth, verify};

/// Regression: the name of a part is not made from that of the whole, which may have no room.
#[test]
fn a_board_with_the_longest_name_has_parts() {
    let name = "n".repeat(64);
    let board = Board::from_toml(&format!("name = '{name}'\ncells = 4\nlines = [[0, 1, 2, 3]]"), Takes::ANY).unwrap();
    assert_eq!(board.part(0b1011).unwrap().board.cells(), 3);
}

/// With more cells, the numbers of positions would soon not fit 64 bits.
#[test]
fn a_board_of_more_cells_than_are_solved_is_refused() {
    let row = |cells: u32| {
        let line: Vec<u32> = (0..cells).collect();
        Board::from_toml(&format!("name = 'row'\ncells = {cells}\nlines = [{line:?}]"), Takes::ANY).unwrap()
    };
    let game = |cells| Game { layout: Layout::new(&row(cells), &[]).unwrap(), board: row(cells), rule: Rule::Misere };
    let (folder, _) = game(4).solve(Way::usual());
    let sound = fs::read(folder.path().join("db/manifest.json")).unwrap();
    for cells in [55, 56, 63, 64] {
        let mut manifest: serde_json::Value = serde_json::from_slice(&sound).unwrap();
        manifest["board"] = serde_json::to_value(row(cells).definition().unwrap()).unwrap();
        let error = Manifest::parse(Path::new("m"), manifest.to_string().as_bytes()).unwrap_err().to_string();
        assert_eq!(error.contains("cells: expected at most 55"), cells > 55, "{cells}: {error}");
    }
    for cells in [55, 56, 63] {
        assert_eq!(Game::from_parameters(&game(cells).parameters()).is_some(), cells == 55, "{cells}");
    }
}

/// A random board of some cells, from lines or from moves.
fn boards(cells: RangeInclusive<u8>) -> impl Strategy<Value = Board> {
    let lists = cells.prop_flat_map(|cells| {
        let list = Just((0..cells).collect::<Vec<u8>>()).prop_shuffle();
        let list = (list, 1..=usize::from(cells)).prop_map(|(list, length)| list[..length].to_vec());
        (Just(cells), proptest::collection::vec(list, 1..9))
    });
    (lists, 1u32..4, proptest::option::of(1u32..4), any::<bool>()).prop_map(|((cells, lists), least, most, lines)| {
        let text = if lines {
            let most = most.map_or(String::new(), |most| format!("max_take = {}\n", most.max(least)));
            format!("name = 'r'\ncells = {cells}\nlines = {lists:?}\nmin_take = {least}\n{most}")
        } else {
            format!("name = 'r'\ncells = {cells}\nmoves = {lists:?}\n")
        };
        // No line may be as long as the fewest pieces of a move.
        Board::from_toml(&text, Takes::ANY).unwrap_or_else(|_| Board::named("rect:2x3", Takes::ANY).unwrap())
    })
}

/// Solves a game and compares every position with the definition, then verifies the database.
fn check(game: &Game) -> Result<(), TestCaseError> {
    let (folder, _) = game.solve(Way { spare_bytes: 1 << 20, ..Way::usual() });
    let database = open(folder.path(), &game.board);
    let values = reference::values(game.board.cells(), game.board.moves(), game.rule);
    for (position, value) in (0..).zip(&values) {
        prop_assert_eq!(database.value(position).unwrap(), *value, "{:#x} of {:?}", position, game.board);
    }
    prop_assert!(is_clean(&database));
    Ok(())
}

/// Whether the verifier finds nothing.
fn is_clean(database: &Database) -> bool {
    let report = verify(database, Depth::Full, &Request::on(2)).unwrap().unwrap();
    report.is_clean()
}

/// Opens a database of this board.
fn open(folder: &Path, board: &Board) -> Database {
    let database = Database::open(folder).unwrap();
    assert_eq!(database.board(), board);
    database
}

/// Returns a layout of any cells, symmetric or not.
fn any_layout(board: &Board, mask: u64) -> Layout {
    // Five bits of the mask for each of twelve cells, then the same again.
    let is_chosen = |cell: &u8| mask.rotate_right(5 * u32::from(*cell)) & 7 == 0;
    let cells: Vec<u8> = (0..board.cells() as u8).filter(is_chosen).collect();
    Layout::from_cells(board, &cells).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_board_is_solved_as_defined(board in boards(1..=11), misere: bool, bid_mask: u64) {
        let rule = if misere { Rule::Misere } else { Rule::Normal };
        let layout = any_layout(&board, bid_mask);
        check(&Game { board, rule, layout })?;
    }

    #[test]
    fn suggested_layouts_are_small_enough(board in boards(1..=11), bits in 1u32..12) {
        let layout = Layout::suggested(&board, bits);
        prop_assert!(layout.offset_bits() <= bits, "{} of {bits}", layout.offset_bits());
        // Without a set that all symmetries keep, the smallest one is taken.
        let is_closed = layout.symmetries().len() == board.symmetries().len();
        prop_assert!(is_closed || layout.bid_bits() == board.cells() - bits, "{:?}", layout.bid_cells());
    }

    /// What is left of a position is a board of its own, with the same values.
    #[test]
    fn a_part_has_the_values_of_the_whole(board in boards(1..=11), chosen: u64, misere: bool) {
        let rule = if misere { Rule::Misere } else { Rule::Normal };
        let position = chosen & board.full();
        let values = reference::values(board.cells(), board.moves(), rule);
        let Ok(part) = board.part(position) else {
            prop_assert!(board.is_over(position));
            return Ok(());
        };
        let of_part = reference::values(part.board.cells(), part.board.moves(), rule);
        for (inside, value) in (0..).zip(&of_part) {
            let outside = part.outside(inside);
            prop_assert_eq!(part.inside(outside), Some(inside));
            prop_assert_eq!(values[outside as usize], *value);
        }
        let components = board.components(position);
        prop_assert_eq!(components.iter().fold(0, |all, part| all | part), position);
        let sum = components.iter().fold(0, |sum, part| sum ^ reference::grundy(board.moves(), *part));
        prop_assert_eq!(sum == 0, reference::value_of(board.moves(), Rule::Normal, position).is_loss());
    }

    #[test]
    fn definitions_are_read_back(board in boards(1..=11)) {
        let definition = board.definition().unwrap();
        let json = serde_json::to_string(&definition).unwrap();
        let read: Definition = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(read.board().unwrap(), board);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Up to 262,144 positions, each against the definition: both rules, nimbers and distances.
    #[test]
    fn large_boards_are_solved_as_defined(board in boards(12..=18), bid_mask: u64) {
        let (cells, layout) = (board.cells(), any_layout(&board, bid_mask));
        for rule in Rule::ALL {
            let game = Game { board: board.clone(), rule, layout: layout.clone() };
            let (folder, _) = game.solve(Way { spare_bytes: 1 << 20, ..Way::usual() });
            let database = open(folder.path(), &board);
            let found = Bitmaps::of(&database);
            for (position, value) in (0..).zip(reference::values(cells, board.moves(), rule)) {
                prop_assert_eq!(found.value(position), value, "{:#x} of {:?}, {}", position, board, rule);
            }
            prop_assert!(is_clean(&database));
            let folder = numbers::solved(&game, Values::Remoteness, Way { spare_bytes: 1 << 20, ..Way::usual() });
            let database = open(folder.path(), &board);
            for (position, distance) in (0..).zip(reference::distances(cells, board.moves(), rule)) {
                let found = database.distance(position).unwrap();
                prop_assert_eq!(found, Some(distance.into()), "{:#x} of {:?}, {}", position, board, rule);
            }
            prop_assert!(is_clean(&database));
        }
        let game = Game { board, rule: Rule::Normal, layout };
        let folder = numbers::solved(&game, Values::Nimbers, Way { spare_bytes: 1 << 20, ..Way::usual() });
        let database = open(folder.path(), &game.board);
        for (position, nimber) in (0..).zip(reference::nimbers(cells, game.board.moves())) {
            let found = database.nimber(position).unwrap();
            prop_assert_eq!(found, Some(nimber.into()), "{:#x} of {:?}", position, game.board);
        }
        prop_assert!(is_clean(&database));
    }
}

#[test]
fn families_have_the_values_of_the_literature() {
    // Cram, normal play. On two even sides the second player wins by symmetry, on an even and an
    // odd one the first (Gardner 1974); 3x3 is *0 and 3x5 is *1, Winning Ways, chapter 15.
    let cases = [
        ("cram:2x2", true),
        ("cram:2x4", true),
        ("cram:4x4", true),
        ("cram:2x3", false),
        ("cram:3x4", false),
        ("cram:3x3", true),
        ("cram:3x5", false),
    ];
    for (name, is_loss) in cases {
        let board = Board::named(name, Takes::ANY).unwrap();
        let game = Game::on(board, Rule::Normal, 10);
        let (folder, _) = game.solve(Way { spare_bytes: 1 << 20, ..Way::usual() });
        let value = Database::open(folder.path()).unwrap().value(game.board.full()).unwrap();
        assert_eq!(value.is_loss(), is_loss, "{name}");
    }
}
