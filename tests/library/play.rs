//! Sessions, levels and transcripts, against the definition of the game.

use crate::common::books::{Book, four, table};
use pipeline::Options;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;
use trinim::game::{Takes, reference};
use trinim::kernel::Kernel;
use trinim::play::answers::legal;
use trinim::play::level::{choose, hardest};
use trinim::play::session::{Hint, Stand, Turn};
use trinim::play::{Answers, Choice, Level, OnTheSpot, Player, Session, Survey, survey, transcript};
use trinim::random::Random;
use trinim::solve::parts::{self, PartSolver};
use trinim::{Board, Rule, Value};

/// The values of all positions by the definition.
fn defined(board: &Board, rule: Rule) -> Vec<Value> {
    reference::values(board.cells(), board.moves(), rule)
}

#[test]
fn every_value_of_a_table_is_that_of_the_definition() {
    for layers in 1..=5 {
        for rule in Rule::ALL {
            let table = table(layers, rule);
            let values = defined(table.board(), rule);
            for (position, value) in (0..).zip(&values) {
                assert_eq!(table.value(position).unwrap(), *value, "{layers} {rule} {position:#x}");
            }
            for position in [table.board().full(), table.board().full() / 3, 0] {
                let probe = table.probe(position).unwrap();
                assert!(probe.children.iter().all(|child| values[child.position as usize] == child.value));
                assert_eq!(probe.children.len(), legal(table.board(), position).count());
                assert!(probe.children.is_sorted_by_key(|child| (child.value == Value::Win, child.taken)));
            }
        }
    }
}

/// One seed slips in some positions and not in others: each draws a number of its own.
#[test]
fn a_seed_slips_in_some_positions() {
    for table in four() {
        let won = |position: &u64| survey(&**table, *position).unwrap().value == Some(Value::Win);
        let positions: Vec<u64> = (0..=table.board().full()).filter(|one| one.count_ones() > 4).filter(won).collect();
        for seed in 0..20 {
            let chosen = |position: &&u64| choose(&**table, **position, Level::Beginner, seed).unwrap().unwrap();
            let slips = positions.iter().filter(|position| !chosen(position).wins()).count();
            let share = slips as f64 / positions.len() as f64;
            assert!((0.3..0.65).contains(&share), "seed {seed}: {share}");
        }
    }
}

/// A book concludes what it can, and never more.
#[test]
fn a_survey_of_a_book_says_nothing_wrong() {
    for table in four() {
        let (mut unknown, mut concluded) = (0, 0);
        for least in [0, 5, 9, 11] {
            let book = Book(table.clone(), least);
            for position in 0..=table.board().full() {
                let (known, whole) = (survey(&book, position).unwrap(), survey(&**table, position).unwrap());
                assert_eq!(known.moves.len(), whole.moves.len());
                assert!(known.value.is_none() || known.value == whole.value);
                assert!(known.winning().iter().all(|choice| whole.winning().contains(choice)));
                assert_eq!(whole.unknown(), 0);
                unknown += known.unknown();
                concluded += usize::from(known.value.is_some() && position.count_ones() < least);
            }
        }
        assert!(unknown > 1000 && concluded > 0, "{unknown} {concluded}");
    }
}

/// What a book does not know is solved, and what is known does not depend on earlier queries.
#[test]
fn a_book_is_completed_on_the_spot() {
    for table in four() {
        let (board, rule) = (table.board(), table.rule());
        let distances = reference::distances(board.cells(), board.moves(), rule);
        let completed = |least, most| {
            let options = Options { memory_bytes: 1 << 20, ..Options::default() };
            let nowhere = parts::run_in(Path::new("/nonexistent"));
            let solver = PartSolver::new(board.clone(), rule, Kernel::detect(), options, nowhere);
            OnTheSpot::new(Some(Arc::new(Book(table.clone(), least))), solver.with_pieces_max(most))
        };
        // Up to 5 pieces are solved, from 8 on the book knows; a sum of components may be larger.
        let answers = completed(8, 5);
        let mut order: Vec<u64> = (0..=board.full()).collect();
        Random::new(1).shuffle(&mut order);
        let mut found: Vec<_> =
            order.iter().map(|position| (*position, survey(&answers, *position).unwrap())).collect();
        found.sort_by_key(|(position, _)| *position);
        for (position, survey_here) in &found {
            let fresh = survey(&completed(8, 5), *position).unwrap();
            assert_eq!(*survey_here, fresh, "{position:#x}");
            let whole = survey(&**table, *position).unwrap();
            assert!(survey_here.value.is_none() || survey_here.value == whole.value, "{position:#x}");
            let is_counted = position.count_ones() <= 5;
            let distance = |position: u64| is_counted.then(|| distances[position as usize].into());
            assert_eq!(survey_here.distance, distance(*position), "{position:#x}");
            for choice in &survey_here.moves {
                assert_eq!(choice.distance, distance(position ^ choice.taken), "{position:#x}");
            }
            if is_counted {
                assert_eq!(plain(survey_here.clone()), whole, "{position:#x}");
                let mut probe = answers.probe(*position).unwrap();
                // The table has none.
                assert_eq!(probe.nimber.is_some(), rule == Rule::Normal);
                assert_eq!(probe.distance, distance(*position));
                (probe.nimber, probe.distance) = (None, None);
                probe.children.iter_mut().for_each(|child| (child.nimber, child.distance) = (None, None));
                probe.children.sort_by_key(|child| (child.value == Value::Win, child.taken));
                assert_eq!(probe, table.probe(*position).unwrap());
            }
            match answers.value(*position) {
                Ok(value) => assert_eq!(Some(value), whole.value),
                Err(error) => {
                    assert!((6..8).contains(&position.count_ones()), "{position:#x}: {error}");
                    assert!(error.to_string().contains("too many to solve on the spot"), "{error}");
                }
            }
        }
        assert!(found.iter().any(|(_, survey)| survey.unknown() > 0));
        // With every position within the limit, nothing is unknown.
        let whole = completed(9, 10);
        assert_eq!(plain(survey(&whole, board.full()).unwrap()), survey(&**table, board.full()).unwrap());
    }
}

/// The same survey without distances.
fn plain(mut survey: Survey) -> Survey {
    survey.distance = None;
    survey.moves.iter_mut().for_each(|choice| choice.distance = None);
    survey.moves.sort_by_key(|choice| (choice.after != Some(Value::Loss), choice.after.is_none(), choice.taken));
    survey
}

/// Where distances are known, perfect play wins as soon as it can and loses as late as it can:
/// every game has as many moves as its distance says, whatever the seed, and hints agree.
#[test]
fn perfect_play_hurries_and_delays() {
    let board = Board::triangle(4, None).unwrap();
    for rule in Rule::ALL {
        let distances = reference::distances(board.cells(), board.moves(), rule);
        let nowhere = parts::run_in(Path::new("/nonexistent"));
        let solver = PartSolver::new(board.clone(), rule, Kernel::detect(), Options::default(), nowhere);
        let answers: Arc<dyn Answers> = Arc::new(OnTheSpot::new(None, solver));
        for start in (1..=board.full()).step_by(7) {
            let (mut position, mut moves) = (start, 0);
            while let Some(choice) = choose(&*answers, position, Level::Perfect, start).unwrap() {
                position ^= choice.taken;
                moves += 1;
                assert_eq!(choice.distance, Some((u32::from(distances[start as usize])) - moves), "{start:#x}");
            }
            assert_eq!(position, 0);
            let later = |taken: u64| distances[(start ^ taken) as usize];
            let best = distances[start as usize] - 1;
            match Session::new(answers.clone(), start, Player::Person).hint().unwrap() {
                Hint::Wins { soonest, later: others, distance } => {
                    assert_eq!(distance, Some(u32::from(best) + 1));
                    assert!(!soonest.is_empty() && soonest.iter().all(|taken| later(*taken) == best));
                    assert!(others.iter().all(|taken| later(*taken) > best));
                }
                Hint::Lost(Some(reply)) => {
                    assert_eq!((reply.distance, later(reply.taken)), (Some(best.into()), best));
                }
                hint => panic!("{start:#x}: {hint:?}"),
            }
        }
    }
}

#[test]
fn the_hardest_reply_leaves_the_fewest_winning_answers() {
    for table in four() {
        let values = defined(table.board(), table.rule());
        let moves = |position: u64| legal(table.board(), position).map(move |taken| position ^ taken);
        let answers = |child: u64| moves(child).filter(|next| values[*next as usize].is_loss()).count();
        for position in 1..=table.board().full() {
            let here = survey(&**table, position).unwrap();
            let reply = hardest(&**table, &here).unwrap();
            let losing = moves(position).filter(|child| !values[*child as usize].is_loss());
            let fewest = losing.map(answers).min();
            assert_eq!(reply.map(|reply| reply.winning_answers), fewest, "{position:#x}");
            if let Some(reply) = reply {
                assert_eq!(answers(position ^ reply.taken), reply.winning_answers);
                assert_eq!(moves(position ^ reply.taken).count(), reply.answers);
            }
        }
    }
}

/// A reply is the hardest to answer only if all answers are known; who knows of no move that wins
/// guesses one that may, rather than take one that loses.
#[test]
fn beyond_the_end_of_a_book_nothing_is_hardest_and_moves_are_guesses() {
    let [mut given, mut withheld, mut guesses] = [0; 3];
    for whole in four() {
        for pieces in 2..9 {
            let book = Book(whole.clone(), pieces);
            for position in 1..=book.board().full() {
                let here = survey(&book, position).unwrap();
                let after = |choice: &Choice| survey(&book, position ^ choice.taken).unwrap();
                if here.value == Some(Value::Loss) && !here.moves.is_empty() {
                    let known = here.inferred == 0 && here.moves.iter().all(|choice| after(choice).unknown() == 0);
                    assert_eq!(hardest(&book, &here).unwrap().is_some(), known, "{pieces}: {position:#x}");
                    if known { given += 1 } else { withheld += 1 }
                }
                if here.winning().is_empty() && here.unknown() > 0 {
                    let guess = choose(&book, position, Level::Perfect, 1).unwrap().unwrap();
                    assert_eq!(guess.after, None, "{pieces}: {position:#x}");
                    guesses += 1;
                }
            }
        }
    }
    assert!(given > 10 && withheld > 10 && guesses > 100, "{given} {withheld} {guesses}");
}

/// Plays a game between two levels; true if the first one, who begins, wins.
fn wins(answers: &dyn Answers, start: u64, levels: [Level; 2], seed: u64) -> bool {
    let mut position = start;
    for turn in 0.. {
        match choose(answers, position, levels[turn % 2], seed + turn as u64 % 2).unwrap() {
            Some(choice) => position ^= choice.taken,
            // The player to move has the value of the end.
            None => return (answers.rule().empty() == Value::Win) == (turn % 2 == 0),
        }
    }
    unreachable!()
}

#[test]
fn levels_play_as_well_as_they_say() {
    for answers in four() {
        let full = answers.board().full();
        let start = survey(&**answers, full).unwrap();
        let mut won = [0; 3];
        for (level, won) in Level::ALL.into_iter().zip(&mut won) {
            for seed in 0..400 {
                // The level holds a won game.
                assert_eq!(start.value, Some(Value::Win), "four layers are won under both rules");
                *won += u32::from(wins(&**answers, full, [level, Level::Perfect], seed * 2));
            }
        }
        // Ten pieces: the club player never slips here, the beginner does.
        assert_eq!(won[..2], [400, 400]);
        assert!(won[2] < 300 && won[2] > 20, "{won:?}");
    }
    let five = table(5, Rule::Normal);
    let club = (0..200).filter(|seed| wins(&*five, five.board().full(), [Level::Club, Level::Perfect], seed * 2));
    let club = club.count();
    assert!((60..195).contains(&club), "{club}");
    for level in Level::ALL {
        assert_eq!(level.name().parse(), Ok(level));
    }
    assert!("grandmaster".parse::<Level>().is_err());
}

#[test]
fn a_move_depends_on_position_level_and_seed_alone() {
    let answers = &four()[0];
    let mut different = 0;
    for position in 1..=answers.board().full() {
        for level in Level::ALL {
            let [one, again, other] = [1, 1, 2].map(|seed| choose(&**answers, position, level, seed).unwrap());
            assert_eq!(one, again);
            assert!(one.is_some_and(|choice| legal(answers.board(), position).any(|legal| legal == choice.taken)));
            different += u32::from(one != other);
        }
    }
    assert!(different > 100, "{different}");
}

/// Inferred values are true, and where the parent leaves no choice, nothing stays unknown.
#[test]
fn what_follows_from_a_position_is_known_of_its_moves() {
    let mut inferred = 0;
    for answers in four() {
        for least in 0..=10 {
            let book = Book(answers.clone(), least);
            for position in 0..=answers.board().full() {
                let survey = survey(&book, position).unwrap();
                inferred += survey.inferred;
                let is_true = |choice: &Choice| {
                    choice.after.is_none_or(|value| value == answers.value(position ^ choice.taken).unwrap())
                };
                assert!(survey.moves.iter().all(is_true), "{least} {position:#x}");
                match survey.value {
                    Some(Value::Loss) => assert_eq!(survey.unknown(), 0),
                    Some(Value::Win) if survey.winning().is_empty() => {
                        assert!(survey.moves.is_empty() || survey.unknown() > 1);
                    }
                    _ => {}
                }
                let Ok(probe) = book.probe(position) else { continue };
                assert_eq!(probe.moves_not_kept, survey.unknown() as u64);
                let moves: Vec<(u64, Option<Value>)> =
                    probe.children.iter().map(|child| (child.taken, Some(child.value))).collect();
                let known = survey.moves.iter().filter(|choice| choice.after.is_some());
                assert_eq!(moves, known.map(|choice| (choice.taken, choice.after)).collect::<Vec<_>>());
                // The hardest reply is said only where all answers are known.
                if survey.value == Some(Value::Loss) && !survey.moves.is_empty() {
                    let hardest = hardest(&book, &survey).unwrap();
                    assert!(hardest.is_none() || survey.inferred == 0, "{least} {position:#x}");
                    assert!(hardest.is_some() || least > 0, "{position:#x}");
                }
            }
        }
    }
    assert!(inferred > 1000, "{inferred}");
}

#[derive(Clone, Debug)]
enum Act {
    Take(usize),
    Set(u64),
    Swap,
    Undo,
    Redo,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => any::<usize>().prop_map(Act::Take),
        1 => any::<u64>().prop_map(Act::Set),
        1 => Just(Act::Swap),
        2 => Just(Act::Undo),
        2 => Just(Act::Redo),
    ];
    prop::collection::vec(act, 0..40)
}

proptest! {
    /// Undo and redo, against a list of all turns and how many of them count.
    #[test]
    fn undo_and_redo_move_along_the_turns(acts in acts(), begins: bool, rule in 0usize..2) {
        let answers = four()[rule].clone();
        let board = answers.board().clone();
        let to_move = if begins { Player::Person } else { Player::Program };
        let first = Stand { position: board.full(), to_move };
        let mut session = Session::new(answers.clone(), first.position, first.to_move);
        let (mut all, mut kept): (Vec<Turn>, usize) = (Vec::new(), 0);
        for act in acts {
            let before = session.stand();
            match act {
                Act::Take(at) => {
                    let moves: Vec<u64> = legal(&board, before.position).collect();
                    if let Some(taken) = moves.get(at % moves.len().max(1)) {
                        prop_assert!(session.take(*taken));
                        all.truncate(kept);
                        all.push(Turn::Take(*taken));
                        kept += 1;
                    }
                    // A cell that was just emptied.
                    prop_assert!(moves.is_empty() || !session.take(moves[at % moves.len()]));
                }
                Act::Set(bits) => {
                    prop_assert_eq!(session.set(bits), bits & !board.full() == 0);
                    let position = bits & board.full();
                    if bits == position {
                        all.truncate(kept);
                        kept += 1;
                        all.push(Turn::Set(position));
                    }
                }
                Act::Swap => {
                    session.swap();
                    all.truncate(kept);
                    all.push(Turn::Swap);
                    kept += 1;
                }
                Act::Undo => {
                    let undone = session.undo();
                    prop_assert!(undone <= kept);
                    kept -= undone;
                    if undone > 0 && matches!(all[kept], Turn::Take(_)) {
                        prop_assert_eq!(session.stand().to_move, Player::Person);
                    }
                }
                Act::Redo => kept += session.redo(),
            }
            prop_assert_eq!(session.turns(), &all[..kept]);
            let text = transcript::write(&session);
            let read = transcript::read(&answers, &text).unwrap();
            prop_assert_eq!(read.turns(), session.turns());
            prop_assert_eq!((read.first(), read.stand(), read.winner()), (session.first(), session.stand(), session.winner()));
        }
    }

    /// Damaged transcripts are refused or read as a legal game.
    #[test]
    fn no_transcript_makes_the_reader_panic(cut in 0usize..200, more in "[a-j 01/,\\-\n]{0,30}|(take|set|swap|first|start|board|rule)[ a-z0-9/-]{0,12}\n|\\PC{0,20}") {
        let answers = four()[0].clone();
        let mut session = Session::new(answers.clone(), answers.board().full(), Player::Person);
        session.take(0b1);
        session.swap();
        let text = transcript::write(&session);
        let at = text.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(text.len());
        if let Ok(session) = transcript::read(&answers, &format!("{}{more}", &text[..at])) {
            for (stand, turn) in session.history() {
                if let Turn::Take(taken) = turn {
                    prop_assert!(legal(answers.board(), stand.position).any(|legal| legal == taken));
                }
            }
        }
    }
}

/// The name in a file does not stand for its board: a game is replayed on the same cells and moves
/// only. A triangle and a board of a family need no more than their name.
#[test]
fn a_transcript_of_another_board_of_this_name_is_refused() {
    let on = |board: Board| -> Arc<dyn Answers> {
        let runner = parts::run_in(Path::new("/nonexistent"));
        let solver = PartSolver::new(board, Rule::Misere, Kernel::detect(), Options::default(), runner);
        Arc::new(OnTheSpot::new(None, solver))
    };
    let file = |name: &str, lines: &str| {
        on(Board::from_toml(&format!("name = {name:?}\ncells = 6\nlines = {lines}\n"), Takes::ANY).unwrap())
    };
    let boards = [
        file("s", "[[0, 1, 2], [3, 4, 5]]"),
        file("s", "[[0, 1, 3], [2, 4, 5]]"),
        file("triangle:3", "[[0, 1, 2], [3, 4, 5]]"),
        on(Board::named("triangle:3", Takes::ANY).unwrap()),
        file("rect:2x3", "[[0, 1, 2], [3, 4, 5]]"),
        on(Board::named("rect:2x3", Takes::ANY).unwrap()),
    ];
    for (number, from) in boards.iter().enumerate() {
        let mut session = Session::new(from.clone(), from.board().full(), Player::Person);
        session.take(0b1);
        let text = transcript::write(&session);
        let is_named = [3, 5].contains(&number);
        assert_eq!(text.lines().nth(1).unwrap().split(' ').count() == 2, is_named, "{text}");
        for (other, answers) in boards.iter().enumerate() {
            let read = transcript::read(answers, &text);
            assert_eq!(read.is_ok(), number == other, "{number} on {other}: {:?}", read.err());
        }
    }
}

#[test]
fn a_transcript_of_another_game_is_refused_with_the_line() {
    let answers = four()[0].clone();
    let session = Session::new(answers.clone(), answers.board().full(), Player::Program);
    let text = transcript::write(&session);
    let rule = answers.rule().name();
    for (from, to, reason) in [
        ("# trinim game", "# trinim puzzle", "line 1: expected \"# trinim game\""),
        ("triangle:4", "triangle:5", "line 2: the game is on \"triangle:5\", not on \"triangle:4\""),
        (rule, "nim", "line 3: the game has rule \"nim\""),
        ("1/11", "1/12", "line 4: row 1, column 1: unexpected '2'"),
        ("program", "nobody", "line 5: expected person or program"),
        ("start", "begin", "line 4: expected board, rule, start or first"),
        ("first program", "", "line 4: the game ends before it began"),
        ("program", "program\ntake a-e", "line 6: no move leads from a1 to c2"),
        ("program", "program\ntake a\ntake a", "line 7: there is no piece on a"),
        ("program", "program\nswap it", "line 6: expected take, set or swap"),
    ] {
        let error = transcript::read(&answers, &text.replacen(from, to, 1)).err().expect(to).to_string();
        assert!(error.starts_with(reason), "{error}");
    }
}

/// A reply knows the distances that a query for the position knows, at the largest number of pieces
/// with distances and beyond it.
#[test]
fn a_survey_knows_the_distances_that_a_probe_knows() {
    let board = Board::triangle(7, None).unwrap();
    for rule in Rule::ALL {
        let solver = || {
            let options = Options { memory_bytes: 64 << 20, ..Options::default() };
            let nowhere = parts::run_in(Path::new("/nonexistent"));
            PartSolver::new(board.clone(), rule, Kernel::detect(), options, nowhere)
        };
        // The source knows every value of these positions, and no distance.
        let source = Book(Arc::new(OnTheSpot::new(None, solver())), 0);
        let answers = OnTheSpot::new(Some(Arc::new(source)), solver());
        for pieces in [22, 23, 21] {
            let position = (1u64 << pieces) - 1;
            let (survey, probe) = (survey(&answers, position).unwrap(), answers.probe(position).unwrap());
            assert_eq!(survey.distance.is_some(), pieces <= 22, "{rule}, {pieces} pieces");
            assert_eq!(survey.distance, probe.distance, "{rule}, {pieces} pieces");
            for child in &probe.children {
                let choice = survey.moves.iter().find(|choice| choice.taken == child.taken).unwrap();
                assert_eq!((choice.after, choice.distance), (Some(child.value), child.distance), "{rule}, {pieces}");
            }
        }
    }
}
