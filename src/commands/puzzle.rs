//! `trinim puzzle`: positions with exactly one winning move, to be found by a person.
//!
//! Puzzles go to standard output, prompts to standard error. A wrong move is answered with what
//! refutes it, and may be followed by another try.

use clap::Args;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::sync::Arc;
use terminal::exit::{Exit, Refused};
use terminal::output::{Out, counted};
use trinim::cli::answers::failed;
use trinim::cli::seat::{self, Game, Lines, unclear};
use trinim::cli::table::TableArgs;
use trinim::play::{Answers, Names, Puzzle, survey};

const EXAMPLES: &str = "\
Examples:
  trinim puzzle                            six layers, solved on the spot
  trinim puzzle --layers 4 --rule normal --seed 7
  trinim puzzle --layers 9 --pieces 12     of nine layers, with twelve pieces
  trinim puzzle trinim-k7-misere           from a finished solve

Exactly one move wins: find it. Of several puzzles that are drawn, the one with the most traps is set, wrong moves \
that a single answer refutes, then the one that takes longest to win. A move is d-f, from cell to cell along a line, \
or the list of its cells, d,e,f. Other commands: solution, board, next, help, quit. The end of the input quits.";

const HELP: &str = "\
d-f       take the pieces from d to f, along a line
d,e,f     the same, as a list of cells; d takes one piece
hint      show how many pieces the winning move takes, then one of them
solution  show the move that wins
board     draw the board again
next      another puzzle
help, ?   show this list
quit      leave";

/// Find the only winning move of a position
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PuzzleArgs {
    #[command(flatten)]
    table: TableArgs,

    /// Pieces of the position [default: from 4 to 14]
    #[arg(long, value_name = "N")]
    pieces: Option<u32>,

    /// Seed of the puzzle, the next ones have the numbers that follow; without one it is drawn, and
    /// shown
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

struct Seat {
    answers: Arc<dyn Answers>,
    names: Names,
    pieces: Option<u32>,
    /// That of the puzzle on the table.
    seed: u64,
    puzzle: Puzzle,
    tries: u64,
    hints: u64,
    /// Whether the winning move was found, or shown.
    is_over: bool,
}

pub fn run(args: PuzzleArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let answers = args.table.answers("puzzle", out)?;
    let cells = answers.board().cells();
    if let Some(pieces) = args.pieces.filter(|pieces| *pieces > cells) {
        let message = format!("--pieces: no position has {pieces} pieces");
        return Err(Refused::new(message, format!("the board has {cells} cells")).into());
    }
    // Few digits, so that people can type them.
    let seed = args.seed.unwrap_or_else(|| RandomState::new().hash_one(()) % 1_000_000);
    let (names, puzzle) = (Names::new(answers.board()), drawn(&*answers, args.pieces, seed)?);
    let mut game = Seat { answers, names, pieces: args.pieces, seed, puzzle, tries: 0, hints: 0, is_over: false };
    out.break_lines();
    seat::name_game(&*game.answers, out)?;
    game.set(out)?;
    if args.seed.is_none() {
        out.remark(format_args!("the puzzle has --seed {seed}"));
    }
    seat::play(&mut game, &mut Lines::new(seat::LINE_BYTES), out)?;
    Ok(Exit::Done)
}

fn drawn(answers: &dyn Answers, pieces: Option<u32>, seed: u64) -> anyhow::Result<Puzzle> {
    let drawn = Puzzle::draw(answers, pieces, seed, || false).map_err(failed)?;
    drawn.ok_or_else(|| {
        let with = pieces.map_or(String::new(), |pieces| format!(" with {}", counted(pieces.into(), "piece")));
        let message = format!("no position{with} was drawn that is known and has exactly one winning move");
        Refused::new(message, "other --pieces, a larger board, or another --seed").into()
    })
}

impl Seat {
    fn set(&self, out: &mut Out) -> anyhow::Result<()> {
        let moves = counted(self.puzzle.moves as u64, "move");
        let far = self.puzzle.distance.map_or(String::new(), |far| format!(" (in {})", counted(far.into(), "move")));
        writeln!(out, "one of {moves} wins{far}: find it; solution shows it, help lists the commands")?;
        self.draw(out)
    }

    fn draw(&self, out: &mut Out) -> anyhow::Result<()> {
        seat::draw(self.answers.board(), &self.names, self.puzzle.position, out)
    }

    fn next(&mut self, out: &mut Out) -> anyhow::Result<()> {
        let seed = self.seed.wrapping_add(1);
        self.puzzle = drawn(&*self.answers, self.pieces, seed)?;
        (self.seed, self.tries, self.hints, self.is_over) = (seed, 0, 0, false);
        self.set(out)
    }

    fn write(&self, taken: u64) -> String {
        self.names.write(self.answers.board(), taken)
    }

    fn attempt(&mut self, taken: u64, out: &mut Out) -> anyhow::Result<()> {
        self.tries += 1;
        if taken == self.puzzle.solution {
            self.is_over = true;
            let tries = if self.tries == 1 { "at once".to_owned() } else { format!("in {} tries", self.tries) };
            return Ok(writeln!(out, "{} {} wins, found {tries}", out.paint.good("right:"), self.write(taken))?);
        }
        let answer = survey(&*self.answers, self.puzzle.position ^ taken).map_err(failed)?;
        let (wrong, taken) = (out.paint.bad("wrong:"), self.write(taken));
        match answer.winning() {
            [] => writeln!(out, "{wrong} {taken} ends the game, and the other one wins; try again")?,
            [only] => {
                let only = self.write(only.taken);
                writeln!(out, "{wrong} after {taken} only {only} wins for the other one; try again")?;
            }
            [first, rest @ ..] => {
                let (first, more) = (self.write(first.taken), counted(rest.len() as u64, "other answer"));
                writeln!(out, "{wrong} after {taken} the other one wins, with {first} or {more}; try again")?;
            }
        }
        Ok(())
    }
}

impl Game for Seat {
    fn prompt(&mut self, _: &mut Out) -> anyhow::Result<&'static str> {
        Ok(if self.is_over { "next or quit> " } else { "your move> " })
    }

    fn obey(&mut self, line: &str, out: &mut Out) -> anyhow::Result<bool> {
        match line.to_ascii_lowercase().as_str() {
            "" => {}
            "quit" | "exit" => return Ok(false),
            "help" | "?" => writeln!(out, "{HELP}")?,
            "board" => self.draw(out)?,
            "next" => self.next(out)?,
            "hint" => {
                let solution = self.puzzle.solution;
                let pieces = counted(solution.count_ones().into(), "piece");
                let of = if self.hints == 0 {
                    String::new()
                } else {
                    format!(", {} among them", self.names.cell(solution.trailing_zeros()))
                };
                self.hints += 1;
                writeln!(out, "hint: it takes {pieces}{of}")?;
            }
            "solution" => {
                self.is_over = true;
                writeln!(out, "{} wins", self.write(self.puzzle.solution))?;
            }
            _ => match self.names.read(self.answers.board(), self.puzzle.position, line) {
                Ok(_) if self.is_over => writeln!(out, "this puzzle is over: next or quit")?,
                Ok(taken) => self.attempt(taken, out)?,
                Err(error) => unclear(error, out)?,
            },
        }
        Ok(true)
    }

    fn input_ended(&mut self, out: &mut Out) -> anyhow::Result<()> {
        let left = if self.is_over { "goodbye" } else { "the puzzle stays unsolved" };
        Ok(writeln!(out, "end of the input: {left}")?)
    }
}
