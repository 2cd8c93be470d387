//! Random positions with given properties, for puzzles and as starting positions.

use trinim::game::Value;
use trinim::play::answers::known;
use trinim::play::{AnswerError, Answers, survey};
use trinim::random::Random;

/// Attempts of [`draw`] before it gives up.
const DRAWS: u32 = 2000;

/// Draws a position of known value, with this number of pieces, value and number of winning moves
/// where given; `None` if none of many draws fits, or `stop`, which is called before each, returns
/// true. Without a number of pieces, it is drawn first: most positions have about half of the cells
/// filled, and a book knows only full ones.
///
/// # Errors
/// Those of [`Answers::value`], except for unknown values.
///
/// # Panics
/// Panics if the board has fewer cells than `pieces`.
pub fn draw(
    answers: &dyn Answers,
    pieces: Option<u32>,
    value: Option<Value>,
    wins: Option<usize>,
    seed: u64,
    mut stop: impl FnMut() -> bool,
) -> Result<Option<u64>, AnswerError> {
    let cells = answers.board().cells();
    let mut random = Random::new(seed);
    for _ in 0..DRAWS {
        if stop() {
            break;
        }
        let pieces = pieces.unwrap_or_else(|| random.below(u64::from(cells) + 1) as u32);
        let drawn = position(&mut random, cells, pieces);
        let found = known(answers.value(drawn))?;
        if found.is_none() || value.is_some_and(|wanted| found != Some(wanted)) {
            continue;
        }
        let Some(wins) = wins else { return Ok(Some(drawn)) };
        let here = survey(answers, drawn)?;
        if here.unknown() == 0 && here.winning().len() == wins {
            return Ok(Some(drawn));
        }
    }
    Ok(None)
}

/// Draws a position with this number of pieces.
fn position(random: &mut Random, cells: u32, pieces: u32) -> u64 {
    let mut order: Vec<u32> = (0..cells).collect();
    random.shuffle(&mut order);
    order[..pieces as usize].iter().fold(0, |drawn, cell| drawn | 1u64 << cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::books::{Book, four};

    /// A drawn position has the requested pieces, value and winning moves, as far as the source
    /// knows them. If winning moves are requested, the value of every move is known.
    #[test]
    fn drawn_positions_are_as_requested() {
        let (mut found, mut with_wins) = (0, 0);
        for (table, least) in four().iter().flat_map(|table| (0..9).map(move |least| (table, least))) {
            let book = Book(table.clone(), least);
            for seed in 0..48 {
                let pieces = [None, Some(least), Some(least + 1)][seed % 3];
                let value = [None, Some(Value::Win), Some(Value::Loss), None][seed % 4];
                let wins = [Some(0), Some(1), Some(2), None][seed / 3 % 4];
                let mut draws = 0..100;
                let drawn = draw(&book, pieces, value, wins, seed as u64, || draws.next().is_none()).unwrap();
                let Some(position) = drawn else { continue };
                let story = format!("{least}, {pieces:?}, {value:?}, {wins:?}: {position:#x}");
                assert!(pieces.is_none_or(|pieces| position.count_ones() == pieces), "{story}");
                let known = book.value(position).unwrap();
                assert!(value.is_none_or(|value| known == value), "{story}");
                if let Some(wins) = wins {
                    let whole = survey(&**table, position).unwrap();
                    assert_eq!(survey(&book, position).unwrap().unknown(), 0, "{story}");
                    assert_eq!(whole.winning().len(), wins, "{story}");
                    with_wins += 1;
                }
                found += 1;
            }
        }
        assert!(found > 300 && with_wins > 100, "{found}, {with_wins}");
    }
}
