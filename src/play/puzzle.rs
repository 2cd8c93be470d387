//! Puzzles: positions with exactly one winning move.

use super::answers::{AnswerError, Answers, known};
use super::survey::{self, survey};
use crate::database::{Database, DatabaseError, Listing};
use trinim_game::Value;
use trinim_game::random::Random;
use trinim_kernel::bitmap_words;

/// Puzzles that are drawn, of which the hardest is set.
const DRAWN: usize = 8;

/// Most positions that are drawn to find them.
const DRAWS: u32 = 2000;

/// Pieces of a puzzle by default: few enough to think them through.
const PIECES: std::ops::RangeInclusive<u32> = 4..=14;

/// Cells of the largest board whose puzzles are [listed](all): three bitmaps of its positions take
/// 384 MiB.
pub const LISTED_CELLS_MAX: u32 = 30;

/// A position with exactly one winning move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Puzzle {
    /// The position.
    pub position: u64,
    /// The pieces that the winning move takes.
    pub solution: u64,
    /// Moves from the position.
    pub moves: usize,
    /// Wrong moves that look like winning ones: a single answer refutes them.
    pub traps: usize,
    /// Moves until the end, if the winner hurries and the loser delays; `None` if it is not known.
    pub distance: Option<u32>,
}

impl Puzzle {
    /// Returns the puzzle at a position; `None` unless the values of all its moves are known and
    /// exactly one of them wins.
    ///
    /// # Errors
    /// Those of [`Answers::evaluate`].
    pub fn at(source: &dyn Answers, position: u64) -> Result<Option<Puzzle>, AnswerError> {
        let here = survey(source, position)?;
        let [only] = here.winning() else { return Ok(None) };
        if here.unknown() > 0 {
            return Ok(None);
        }
        let mut traps = 0;
        for wrong in &here.moves[1..] {
            traps += usize::from(survey(source, position ^ wrong.taken)?.winning().len() == 1);
        }
        Ok(Some(Puzzle { position, solution: only.taken, moves: here.moves.len(), traps, distance: here.distance }))
    }

    /// Draws a puzzle, with these pieces if they are given: of some, the one with the most traps,
    /// then with the longest way to the end, then with the most moves. `None` if none was found, or
    /// `stop`, which is called before each position, returned true.
    ///
    /// # Errors
    /// Those of [`Answers::evaluate`].
    ///
    /// # Panics
    /// Panics if the board has fewer cells than `pieces`.
    pub fn draw(
        source: &dyn Answers,
        pieces: Option<u32>,
        seed: u64,
        mut stop: impl FnMut() -> bool,
    ) -> Result<Option<Puzzle>, AnswerError> {
        let cells = source.board().cells();
        let (least, most) = (*PIECES.start().min(&cells), *PIECES.end().min(&cells));
        let mut random = Random::new(seed);
        let mut drawn: Vec<Puzzle> = Vec::new();
        for _ in 0..DRAWS {
            if drawn.len() == DRAWN || stop() {
                break;
            }
            let pieces = pieces.unwrap_or_else(|| least + random.below(u64::from(most - least) + 1) as u32);
            let position = survey::position(&mut random, cells, pieces);
            // Most positions have several winning moves: their value says nothing, but is cheap.
            if known(source.value(position))? == Some(Value::Win) {
                drawn.extend(Puzzle::at(source, position)?);
            }
        }
        // The first of equally hard ones.
        Ok(drawn.into_iter().rev().max_by_key(|puzzle| (puzzle.traps, puzzle.distance, puzzle.moves)))
    }
}

/// The puzzles of a whole board, images included, as bitmaps of all positions.
pub struct PuzzleSet {
    losses: Vec<u64>,
    puzzles: Vec<u64>,
    moves: Vec<u64>,
}

/// Finds all puzzles of a board of up to [`LISTED_CELLS_MAX`] cells; `None` if `stop` returned
/// true, which is called before each part of the database and each move.
///
/// # Errors
/// [`DatabaseError::NotKept`] unless every value is kept; others if files cannot be read or are
/// damaged.
///
/// # Panics
/// Panics if the board has more cells.
pub fn all(database: &Database, mut stop: impl FnMut() -> bool) -> Result<Option<PuzzleSet>, DatabaseError> {
    let board = database.board();
    assert!(board.cells() <= LISTED_CELLS_MAX, "{} has more than {LISTED_CELLS_MAX} cells", board.name());
    let listing = Listing::new(database, 0..=board.cells())?;
    let words = bitmap_words(board.cells());
    let mut losses = vec![0_u64; words];
    for part in 0..listing.parts() {
        if stop() {
            return Ok(None);
        }
        for position in listing.losses_of(part)? {
            losses[(position / 64) as usize] |= 1 << (position % 64);
        }
    }
    // A position gets a bit in `once` from its first losing child, in `again` from the next.
    let (mut once, mut again) = (vec![0_u64; words], vec![0_u64; words]);
    for taken in board.moves() {
        if stop() {
            return Ok(None);
        }
        let (word, inside) = ((taken / 64) as usize, taken % 64);
        let children = (0..64).filter(|place| place & inside == 0).fold(0, |mask, place| mask | 1_u64 << place);
        for from in (0..words).filter(|from| from & word == 0) {
            let parents = (losses[from] & children) << inside;
            again[from | word] |= once[from | word] & parents;
            once[from | word] |= parents;
        }
    }
    once.iter_mut().zip(&again).for_each(|(once, again)| *once &= !again);
    Ok(Some(PuzzleSet { losses, puzzles: once, moves: board.moves().to_vec() }))
}

impl PuzzleSet {
    /// Returns the positions, ascending.
    pub fn positions(&self) -> impl Iterator<Item = u64> {
        (0..).zip(&self.puzzles).flat_map(|(number, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * number + bit)
        })
    }

    /// Returns how many there are.
    pub fn count(&self) -> u64 {
        self.puzzles.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns the pieces that the winning move of a puzzle takes.
    ///
    /// # Panics
    /// Panics if the position is none.
    pub fn solution(&self, position: u64) -> u64 {
        let is_loss = |child: u64| self.losses[(child / 64) as usize] >> (child % 64) & 1 == 1;
        let wins = |taken: &&u64| position & **taken == **taken && is_loss(position ^ **taken);
        *self.moves.iter().find(wins).expect("a puzzle has a winning move")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{Game, Values};
    use crate::job::Solve;
    use trinim_game::{Board, Rule, Takes, reference};

    /// Returns the winning move of each position with exactly one, by the definition.
    fn by_the_definition(board: &Board, rule: Rule) -> Vec<(u64, u64)> {
        let single = |position| match reference::winning_moves(board.moves(), rule, position)[..] {
            [only] => Some((position, only)),
            _ => None,
        };
        (0..=board.full()).filter_map(single).collect()
    }

    fn solved(board: &Board, rule: Rule, folder: &std::path::Path) -> Database {
        let game = Game { board: board.clone(), rule, layout: crate::Layout::suggested(board, 6) };
        Solve::from(&game).values(Values::Remoteness).run(folder).unwrap();
        Database::open(folder).unwrap()
    }

    /// Boards of fewer positions than a word has bits, of a few words, and with holes in the moves.
    #[test]
    fn all_puzzles_are_those_of_the_definition() {
        let boards = [
            Board::triangle(2, None).unwrap(),
            Board::triangle(3, None).unwrap(),
            Board::triangle(4, Some(2)).unwrap(),
            Board::named("rect:3x3", Takes::ANY).unwrap(),
            Board::named("cram:3x4", Takes::ANY).unwrap(),
        ];
        for board in boards {
            for rule in Rule::ALL {
                let folder = tempfile::tempdir().unwrap();
                let database = solved(&board, rule, folder.path());
                let found = all(&database, || false).unwrap().unwrap();
                let expected = by_the_definition(&board, rule);
                let listed: Vec<_> = found.positions().map(|position| (position, found.solution(position))).collect();
                assert_eq!(listed, expected, "{} {rule}", board.name());
                assert_eq!(found.count(), expected.len() as u64);
                assert!(all(&database, || true).unwrap().is_none());
            }
        }
    }

    /// Ten thousand seeds; each puzzle against the definition, traps included.
    #[test]
    fn puzzles_that_are_drawn_have_one_solution() {
        let board = Board::triangle(4, None).unwrap();
        for rule in Rule::ALL {
            let folder = tempfile::tempdir().unwrap();
            let database = solved(&board, rule, folder.path());
            let values = reference::values(board.cells(), board.moves(), rule);
            let distances = reference::distances(board.cells(), board.moves(), rule);
            let winning = |position: u64| -> Vec<u64> {
                let wins =
                    |taken: &&u64| position & **taken == **taken && values[(position ^ **taken) as usize].is_loss();
                board.moves().iter().filter(wins).copied().collect()
            };
            let mut different = std::collections::BTreeSet::new();
            for seed in 0..5000 {
                let pieces = (seed % 3 == 0).then_some(5 + (seed % 4) as u32);
                let puzzle = Puzzle::draw(&database, pieces, seed, || false).unwrap().unwrap();
                assert_eq!(winning(puzzle.position), [puzzle.solution], "{puzzle:?}");
                assert!(pieces.is_none_or(|pieces| puzzle.position.count_ones() == pieces), "{puzzle:?}");
                let moves: Vec<u64> =
                    board.moves().iter().copied().filter(|taken| puzzle.position & taken == *taken).collect();
                let is_trap =
                    |taken: &&u64| **taken != puzzle.solution && winning(puzzle.position ^ **taken).len() == 1;
                assert_eq!((puzzle.moves, puzzle.traps), (moves.len(), moves.iter().filter(is_trap).count()));
                assert_eq!(puzzle.distance, Some(distances[puzzle.position as usize].into()));
                different.insert(puzzle.position);
            }
            assert!(different.len() > 20, "{}", different.len());
            assert_eq!(Puzzle::draw(&database, None, 1, || true).unwrap(), None);
            // The empty position has no move.
            assert_eq!(Puzzle::draw(&database, Some(0), 1, || false).unwrap(), None);
            assert_eq!(Puzzle::at(&database, 0).unwrap(), None);
        }
    }
}
