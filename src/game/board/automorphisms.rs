//! Symmetries of a board that is data: the permutations of its cells that map moves to moves.
//!
//! The search assigns images cell by cell. First, cells and pairs of cells get *colours* that every
//! symmetry preserves: how many moves of each size contain them. Colours of cells are refined by
//! the colours of their pairs until nothing changes. A cell can only map to a cell of its colour
//! that has the right pairs with the images assigned before. A full assignment counts if it maps
//! every move to a move, so colours only save time.
//!
//! Some boards have very many symmetries: `k` cells without lines have `k!`. A solve needs a group
//! of some dozens at most. If there are more than [`SYMMETRIES_MAX`], or the search takes too long,
//! the first cell is fixed, then the second too, and so on, until few enough are left. Symmetries
//! that fix given cells are a group.

use super::Symmetry;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// The most symmetries of a board: a cube has as many.
pub const SYMMETRIES_MAX: usize = 48;

/// Most assignments of a search.
const STEPS: u32 = 200_000;

/// Returns a group of symmetries of these moves, sorted masks over `cells` cells: all, unless there
/// are more than [`SYMMETRIES_MAX`]. The identity comes first.
pub(super) fn symmetries(cells: u32, moves: &[u64]) -> Vec<Symmetry> {
    let cells = cells as usize;
    let pairs = pairs(cells, moves);
    let colours = colours(cells, &pairs);
    // Rare colours first, so that wrong images show early.
    let mut order: Vec<usize> = (0..cells).collect();
    order.sort_by_key(|&cell| (colours.iter().filter(|colour| **colour == colours[cell]).count(), cell));
    for kept in 0..cells {
        let mut search = Search {
            moves,
            pairs: &pairs,
            colours: &colours,
            order: &order,
            kept,
            image: vec![u8::MAX; cells],
            used: 0,
            steps: 0,
            found: Vec::new(),
        };
        if search.assign(0) {
            // A stable order: by image, which puts the identity first.
            search.found.sort_unstable();
            return search.found.into_iter().map(Symmetry::new).collect();
        }
    }
    vec![Symmetry::new((0..cells as u8).collect())]
}

/// Returns the colours of all pairs of cells, row by row: the moves by size that contain both. The
/// pair of a cell with itself represents the cell.
fn pairs(cells: usize, moves: &[u64]) -> Vec<u64> {
    let mut sizes = vec![[0_u32; 65]; cells * cells];
    for &taken in moves {
        for one in (0..cells).filter(|cell| taken >> cell & 1 == 1) {
            for other in (0..cells).filter(|cell| taken >> cell & 1 == 1) {
                sizes[one * cells + other][taken.count_ones() as usize] += 1;
            }
        }
    }
    sizes.iter().map(number).collect()
}

/// Returns a number for a value, the same on every machine of one program.
fn number(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the refined colours of the cells.
fn colours(cells: usize, pairs: &[u64]) -> Vec<u64> {
    let mut colours: Vec<u64> = (0..cells).map(|cell| pairs[cell * cells + cell]).collect();
    let distinct = |colours: &[u64]| colours.iter().collect::<std::collections::BTreeSet<_>>().len();
    loop {
        let refined: Vec<u64> = (0..cells)
            .map(|cell| {
                let mut seen: Vec<(u64, u64)> =
                    (0..cells).map(|other| (pairs[cell * cells + other], colours[other])).collect();
                seen.sort_unstable();
                number(&(colours[cell], seen))
            })
            .collect();
        if distinct(&refined) == distinct(&colours) {
            return refined;
        }
        colours = refined;
    }
}

struct Search<'a> {
    moves: &'a [u64],
    pairs: &'a [u64],
    colours: &'a [u64],
    order: &'a [usize],
    /// The first cells of the order that stay where they are.
    kept: usize,
    image: Vec<u8>,
    used: u64,
    steps: u32,
    found: Vec<Vec<u8>>,
}

impl Search<'_> {
    /// Assigns images from this place of the order on; false if there are too many.
    fn assign(&mut self, place: usize) -> bool {
        let cells = self.order.len();
        let Some(&cell) = self.order.get(place) else {
            if self.maps_moves() {
                self.found.push(self.image.clone());
            }
            return self.found.len() <= SYMMETRIES_MAX;
        };
        let candidates = if place < self.kept { cell..cell + 1 } else { 0..cells };
        for image in candidates {
            self.steps += 1;
            if self.steps > STEPS {
                return false;
            }
            let fits = self.used >> image & 1 == 0
                && self.colours[image] == self.colours[cell]
                && self.order[..place].iter().all(|&before| {
                    let of_before = usize::from(self.image[before]);
                    self.pairs[cell * cells + before] == self.pairs[image * cells + of_before]
                });
            if fits {
                self.image[cell] = image as u8;
                self.used |= 1 << image;
                let go_on = self.assign(place + 1);
                self.used &= !(1 << image);
                if !go_on {
                    return false;
                }
            }
        }
        true
    }

    fn maps_moves(&self) -> bool {
        self.moves.iter().all(|&taken| {
            let cells = (0..self.image.len()).filter(|cell| taken >> cell & 1 == 1);
            let image = cells.fold(0, |image, cell| image | 1_u64 << self.image[cell]);
            self.moves.binary_search(&image).is_ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Returns the permutations that map moves to moves: all are tried.
    fn by_trial(cells: usize, moves: &[u64]) -> BTreeSet<Vec<u8>> {
        let mut all: Vec<Vec<u8>> = vec![vec![]];
        for _ in 0..cells {
            let longer = |image: Vec<u8>| {
                let free: Vec<u8> = (0..cells as u8).filter(|cell| !image.contains(cell)).collect();
                free.into_iter().map(move |cell| [image.as_slice(), &[cell]].concat())
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        let is_move = |image: &[u8], taken: u64| {
            let of_cell = |cell: usize| (taken >> cell & 1) << image[cell];
            moves.contains(&(0..cells).map(of_cell).sum())
        };
        all.retain(|image| moves.iter().all(|taken| is_move(image, *taken)));
        all.into_iter().collect()
    }

    fn found(cells: usize, moves: &[u64]) -> BTreeSet<Vec<u8>> {
        symmetries(cells as u32, moves).iter().map(|symmetry| symmetry.image().to_vec()).collect()
    }

    proptest! {
        #[test]
        fn the_search_finds_what_trials_find(
            cells in 1usize..=6,
            masks in proptest::collection::vec(1u64..64, 0..9),
        ) {
            let mut moves: Vec<u64> = masks.into_iter().map(|mask| mask & ((1 << cells) - 1)).collect();
            moves.retain(|mask| *mask != 0);
            moves.sort_unstable();
            moves.dedup();
            let (all, some) = (by_trial(cells, &moves), found(cells, &moves));
            if all.len() <= SYMMETRIES_MAX {
                prop_assert_eq!(some, all);
            } else {
                prop_assert!(some.is_subset(&all) && some.len() <= SYMMETRIES_MAX);
                // A group: what two of them do one after the other is one of them.
                for one in &some {
                    for other in &some {
                        let both: Vec<u8> = other.iter().map(|cell| one[usize::from(*cell)]).collect();
                        prop_assert!(some.contains(&both));
                    }
                }
            }
        }
    }

    /// Any two of six cells are in two of these moves, so that nothing but the moves themselves
    /// tells which of the 720 permutations are symmetries.
    #[test]
    fn pairs_that_look_alike_are_not_enough() {
        let triples = ["012", "013", "024", "035", "045", "125", "134", "145", "234", "235"];
        let mut moves = triples.map(|cells| cells.bytes().map(|cell| 1 << (cell - b'0')).sum::<u64>());
        moves.sort_unstable();
        let (all, some) = (by_trial(6, &moves), found(6, &moves));
        assert_eq!(all.len(), 60);
        assert!(some.is_subset(&all) && some.len() > 1, "{some:?}");
    }

    #[test]
    fn boards_of_many_alike_cells_keep_a_group() {
        let singles: Vec<u64> = (0..30).map(|cell| 1 << cell).collect();
        let found = symmetries(30, &singles);
        assert!(found[0].is_identity() && !found[1].is_identity());
        assert_eq!(found.len(), 24, "four cells may change places, the others stay");
    }
}
