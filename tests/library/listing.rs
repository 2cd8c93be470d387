//! Lists of losses, of their classes and of values, against the definition: every board of up to
//! five layers, both rules, layouts with all and with few symmetries, blocks of both versions,
//! books.

use crate::common::{Solving, Way, layout_with, scratch};
use std::collections::BTreeMap;
use trinim::Solve;
use trinim::database::{Database, DatabaseError, Game, Keep, Listing, Values};
use trinim::game::{Board, Rule, Value, reference};
use trinim::layout::Layout;
use trinim::random::Random;

/// All losses of a board by the definition.
fn losses(board: &Board, rule: Rule) -> Vec<u64> {
    let values = reference::values(board.cells(), board.moves(), rule);
    (0..).zip(values).filter_map(|(position, value)| value.is_loss().then_some(position)).collect()
}

/// The classes of images of these positions: the largest image and the number of images.
fn classes(board: &Board, positions: &[u64]) -> Vec<(u64, u32)> {
    let mut classes = BTreeMap::new();
    for &position in positions {
        let images = board.symmetries().iter().map(|symmetry| symmetry.apply(position));
        *classes.entry(images.max().unwrap()).or_insert(0) += 1;
    }
    classes.into_iter().collect()
}

fn sorted<T: Ord, E: std::fmt::Debug>(items: impl Iterator<Item = Result<T, E>>) -> Vec<T> {
    let mut items: Vec<T> = items.map(|item| item.unwrap()).collect();
    items.sort_unstable();
    items
}

/// Compares everything that a database lists with the losses of its board.
fn compare(database: &Database, losses: &[u64], story: &str) {
    let board = database.board();
    assert_eq!(sorted(database.losses().unwrap()), losses, "{story}");
    assert_eq!(sorted(database.canonical_losses().unwrap()), classes(board, losses), "{story}");
    let cells = board.cells();
    let few = [0..=0, cells..=cells, cells / 2..=cells].into_iter().filter(|_| cells < 15);
    for pieces in [0..=cells, 1..=cells / 2].into_iter().chain(few) {
        let within = |position: &u64| pieces.contains(&position.count_ones());
        let expected: Vec<u64> = losses.iter().copied().filter(within).collect();
        let listing = Listing::new(database, pieces.clone()).unwrap();
        assert_eq!(listing.losses(), expected.len() as u64, "{story} {pieces:?}");
        // In any order of the parts.
        let parts = (0..listing.parts()).rev();
        let found = parts.clone().flat_map(|part| listing.losses_of(part).unwrap().collect::<Vec<_>>());
        assert_eq!(sorted(found.map(Ok::<_, ()>)), expected, "{story} {pieces:?}");
        let found = parts.clone().flat_map(|part| listing.canonical_losses_of(part).unwrap().collect::<Vec<_>>());
        assert_eq!(sorted(found.map(Ok::<_, ()>)), classes(board, &expected), "{story} {pieces:?}");
        if database.manifest().keep.is_database() {
            let found = parts.flat_map(|part| listing.values_of(part).unwrap().collect::<Vec<_>>());
            let of = |position: u64| Value::from_loss(losses.binary_search(&position).is_ok());
            let all: Vec<(u64, Value)> =
                (0..=board.full()).filter(within).map(|position| (position, of(position))).collect();
            assert_eq!(listing.positions(), all.len() as u64);
            assert_eq!(sorted(found.map(Ok::<_, ()>)), all, "{story} {pieces:?}");
            let sample = listing.sample_of_values(40, &mut Random::new(7)).unwrap();
            assert_eq!(sample.len(), all.len().min(40));
            assert!(
                sample.is_sorted() && sample.iter().all(|pair| all.binary_search(pair).is_ok()),
                "{story} {pieces:?}"
            );
        }
    }
}

#[test]
fn every_loss_is_listed_once_whatever_the_layout() {
    for layers in 1..=5 {
        for (rule, max_take) in [(Rule::Misere, None), (Rule::Normal, None), (Rule::Misere, Some(2))] {
            let board = Board::triangle(layers, max_take.filter(|take| *take < layers)).unwrap();
            let losses = losses(&board, rule);
            // At most 64 blocks.
            let sizes = [1, 3, 7, 12, 15].into_iter().filter(|bits| bits + 6 >= board.cells());
            let suggested = sizes.map(|bits| Layout::suggested(&board, bits));
            // Smaller boards have too few cells for them.
            let odd = [1, 2, 3, 6].into_iter().filter(|_| layers > 2);
            let odd = odd.filter_map(|symmetries| layout_with(&board, symmetries, 2));
            for layout in suggested.into_iter().chain(odd) {
                let game = Game { board: board.clone(), rule, layout };
                let (folder, _) = game.solve(Way::usual());
                let database = Database::open(folder.path()).unwrap();
                let cells = database.layout().bid_cells();
                compare(&database, &losses, &format!("{layers} layers, {rule}, {max_take:?}, {cells:?}"));
            }
        }
    }
}

#[test]
fn a_database_of_nimbers_lists_the_losses_of_its_first_plane() {
    for bits in [6, 10] {
        let game = Game::triangle(4, Rule::Normal, bits).unwrap();
        let folder = scratch();
        Solve::from(&game).memory_bytes(64 << 20).values(Values::Nimbers).run(folder.path()).unwrap();
        let database = Database::open(folder.path()).unwrap();
        assert!(database.nimber(1).unwrap().is_some());
        compare(&database, &losses(&game.board, Rule::Normal), "nimbers");
    }
}

#[test]
fn a_book_lists_what_it_has_and_counts_list_nothing() {
    let game = Game::triangle(5, Rule::Normal, 12).unwrap();
    let losses: Vec<u64> =
        losses(&game.board, Rule::Normal).into_iter().filter(|loss| loss.count_ones() >= 8).collect();
    let folder = scratch();
    Solve::from(&game).memory_bytes(64 << 20).keep(Keep::Book { pieces: 8 }).run(folder.path()).unwrap();
    let database = Database::open(folder.path()).unwrap();
    for pieces in [8..=15, 9..=12] {
        let expected: Vec<u64> =
            losses.iter().copied().filter(|position| pieces.contains(&position.count_ones())).collect();
        let listing = Listing::new(&database, pieces).unwrap();
        let found = (0..listing.parts()).flat_map(|part| listing.losses_of(part).unwrap());
        assert_eq!(sorted(found.map(Ok::<_, ()>)), expected);
        assert_eq!(listing.losses(), expected.len() as u64);
        let found = (0..listing.parts()).flat_map(|part| listing.canonical_losses_of(part).unwrap());
        assert_eq!(sorted(found.map(Ok::<_, ()>)), classes(&game.board, &expected));
        assert!(matches!(listing.values_of(0).map(drop), Err(DatabaseError::NotKept { .. })));
    }
    for pieces in [0..=15, 7..=15, 3..=4] {
        assert!(matches!(Listing::new(&database, pieces), Err(DatabaseError::NotKept { .. })));
    }
    assert!(matches!(database.losses(), Err(DatabaseError::NotKept { .. })));

    let folder = scratch();
    Solve::from(&game).memory_bytes(64 << 20).keep(Keep::Counts).run(folder.path()).unwrap();
    let database = Database::open(folder.path()).unwrap();
    assert!(matches!(database.losses(), Err(DatabaseError::NotKept { .. })));
    assert!(matches!(database.canonical_losses(), Err(DatabaseError::NotKept { .. })));
    assert!(matches!(Listing::new(&database, 15..=15), Err(DatabaseError::NotKept { .. })));
}

#[test]
fn a_damaged_part_is_an_error_and_the_others_are_listed() {
    let game = Game::triangle(4, Rule::Misere, 7).unwrap();
    let (folder, _) = game.solve(Way::usual());
    let path = folder.path().join("db/000001.blk");
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let database = Database::open(folder.path()).unwrap();
    let (good, bad): (Vec<_>, Vec<_>) = database.losses().unwrap().partition(Result::is_ok);
    assert!(good.len() > 10 && good.len() < 142, "{}", good.len());
    assert!(matches!(&bad[..], [Err(DatabaseError::Corrupt { path, .. })] if path.ends_with("000001.blk")), "{bad:?}");
    assert_eq!(database.canonical_losses().unwrap().filter(Result::is_err).count(), 1);
}
