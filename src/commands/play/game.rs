//! A person who plays at the terminal.

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use terminal::file::{InputKind, OutputFile, OutputKind};
use terminal::output::{Out, counted, in_moves};
use terminal::refusal::is_slip;
use trinim::cli::answers::failed;
use trinim::cli::lines::Lines;
use trinim::cli::summary::won;
use trinim::game::text::{bare, is_blank};
use trinim::game::{Value, position};
use trinim::play::level::Reply;
use trinim::play::names::{ends, takes};
use trinim::play::session::{Hint, Stand, Turn};
use trinim::play::transcript::board_name;
use trinim::play::{Answers, Choice, Level, Player, Session, Survey, survey, transcript};

const SAVED: OutputKind =
    OutputKind { flag: "save", what: "game", is_own: |line| line.starts_with(transcript::SIGNATURE) };
const REPLAYED: InputKind =
    InputKind { what: "game", most_bytes: 1 << 20, hint: "save FILE writes a game in trinim play" };

/// Longest line that is read, in bytes.
const LINE_BYTES: u64 = 4096;

const HELP: &str = "\
c1-c3          take the pieces from c1 to c3, along a line
c1,c2,c3       the same, as a list of cells; c1 takes one piece
hint           show the winning moves, or the reply that is hardest to answer
moves          show every move with its value
teach          turn warnings about losing moves on or off
undo, redo     take back your last move and what followed; play it again
swap           exchange sides: the other one moves
board          draw the board again
level [LEVEL]  show or set how well the program plays
set POSITION   set up a position, like 1/11/101 or 0x2f; you move
save FILE      write the game to a file
replay [FILE]  show this game, or the one in a file, with the value of every turn
new            begin again
help, ?        show this list
quit           leave";

/// The first words of lines that are not moves.
const COMMANDS: [&str; 16] = [
    "hint", "help", "undo", "quit", "moves", "teach", "redo", "swap", "board", "level", "set", "save", "replay", "new",
    "exit", "?",
];

pub struct Game {
    session: Session,
    level: Level,
    seed: u64,
    /// The file that this game was saved to, which can be replaced.
    saved: Option<PathBuf>,
    /// Whether to warn of a move that loses a won game.
    teaches: bool,
    /// The position and the move of the last warning.
    warned: Option<(u64, u64)>,
}

impl Game {
    /// Moves for the program.
    fn program(&mut self, out: &mut Out) -> anyhow::Result<()> {
        let survey = self.session.survey().map_err(failed)?;
        let choice = self.session.choose(self.level, self.seed).map_err(failed)?;
        let Choice { taken, after, .. } =
            choice.ok_or_else(|| anyhow::anyhow!("no move was found in a game that is not over"))?;
        match (after, survey.value) {
            (None, Some(_)) => writeln!(out, "I win from here, but I do not know how, so I guess")?,
            (None, None) => writeln!(out, "I do not know the value of this position, so I guess")?,
            (Some(_), _) => {}
        }
        writeln!(out, "I take {}", self.session.write(taken))?;
        self.session.take(taken);
        self.show(out)
    }

    /// Moves for the program while it is to move, and returns the prompt for the next line.
    fn prompt(&mut self, out: &mut Out) -> anyhow::Result<&'static str> {
        while self.session.winner().is_none() && self.session.stand().to_move == Player::Program {
            self.program(out)?;
        }
        Ok(if self.session.winner().is_none() { "your move> " } else { "game over> " })
    }

    /// Carries out a line; returns whether the game continues. If it is not understood, prints the
    /// reason and asks again.
    fn obey(&mut self, line: &str, out: &mut Out) -> anyhow::Result<bool> {
        let (word, rest) = line.split_once(is_blank).map_or((line, ""), |(word, rest)| (word, bare(rest)));
        // No command can be mistaken for a move, because names of cells are shorter.
        match (word.to_ascii_lowercase().as_str(), rest) {
            ("", _) => {}
            ("quit" | "exit", "") => return Ok(false),
            ("help" | "?", "") => writeln!(out, "{HELP}")?,
            ("hint", "") => self.hint(out)?,
            ("moves", "") => self.moves(out)?,
            ("teach", "") => {
                self.teaches = !self.teaches;
                let what = if self.teaches { "on" } else { "off" };
                writeln!(out, "warnings about moves that give the game away: {what}")?;
            }
            ("undo", "") => match self.session.undo() {
                0 => writeln!(out, "there is no move of yours to take back")?,
                turns => self.show_after(turns, "taken back", out)?,
            },
            ("redo", "") => match self.session.redo() {
                0 => writeln!(out, "there is no move to play again")?,
                turns => self.show_after(turns, "played again", out)?,
            },
            ("swap", "") if self.session.winner().is_some() => writeln!(out, "the game is over: no sides to swap")?,
            ("swap", "") => {
                self.session.swap();
                writeln!(out, "sides exchanged")?;
            }
            ("board", "") => self.show(out)?,
            ("level", "") => writeln!(out, "the program plays at level {}", self.level)?,
            ("level", name) => match name.parse() {
                Ok(level) => {
                    self.level = level;
                    writeln!(out, "the program plays at level {level} from now on")?;
                }
                Err(error) => unclear(error, out)?,
            },
            ("new", "") => self.begin_again(out)?,
            ("set", "") => unclear("\"set\" needs a position, like 1/11/101", out)?,
            ("save", "") => unclear("\"save\" needs the name of a file", out)?,
            ("set", text) => match position::parse(self.session.answers().board(), text) {
                Ok(position) => {
                    self.session.set(position);
                    self.show(out)?;
                }
                Err(error) => writeln!(out, "not a position: {error}")?,
            },
            ("save", name) => self.save(Path::new(name), out)?,
            ("replay", "") => replay(&self.session, out)?,
            ("replay", name) => self.replay_file(Path::new(name), out)?,
            (word, rest) if COMMANDS.contains(&word) => {
                unclear(format_args!("{word:?} takes no argument, but {rest:?} follows it"), out)?;
            }
            _ if self.session.winner().is_some() => {
                writeln!(out, "the game is over: undo, new, set, save, replay or quit")?;
            }
            _ => match self.session.read(line) {
                Ok(taken) if self.teaches && self.warns(taken, out)? => {}
                Ok(taken) => {
                    self.session.take(taken);
                    self.show(out)?;
                }
                // It is still the person's turn.
                Err(error) => match meant(word) {
                    Some(command) => writeln!(out, "not understood: {error}; did you mean {command}?")?,
                    None => unclear(error, out)?,
                },
            },
        }
        Ok(true)
    }

    pub fn new(answers: Arc<dyn Answers>, first: Player, level: Level, seed: u64) -> Game {
        let full = answers.board().full();
        Game { session: Session::new(answers, full, first), level, seed, saved: None, teaches: false, warned: None }
    }

    /// Describes the game and shows the board.
    pub fn begin(&self, out: &mut Out) -> anyhow::Result<()> {
        let (board, rule) = (self.session.answers().board(), self.session.answers().rule());
        let is_usual = board.takes_single_pieces() && board.max_take().is_none();
        let takes = if is_usual { String::new() } else { format!("{}; ", takes(board)) };
        writeln!(out, "{}, {rule}: {takes}{}", board_name(board), ends(board, rule))?;
        let name = |cell| self.session.names().cell(cell);
        let last = board.cells() - 1;
        writeln!(out, "cells are {} to {}, and . is an empty cell; help lists the commands", name(0), name(last))?;
        self.show(out)
    }

    /// Plays until the game, the person or the input ends.
    pub fn play(&mut self, out: &mut Out) -> anyhow::Result<()> {
        let mut lines = Lines::new(LINE_BYTES);
        loop {
            let prompt = self.prompt(out)?;
            let Some(line) = lines.ask(prompt, out)? else { break };
            if !self.obey(&line, out)? {
                return Ok(());
            }
        }
        let left = if self.session.winner().is_none() { "the game stays unfinished" } else { "goodbye" };
        Ok(writeln!(out, "end of the input: {left}")?)
    }

    fn begin_again(&mut self, out: &mut Out) -> anyhow::Result<()> {
        let first = self.session.first();
        self.session = Session::new(self.session.answers().clone(), first.position, first.to_move);
        self.saved = None;
        self.show(out)
    }

    /// Shows the board after turns that were taken back or played again.
    fn show_after(&self, turns: usize, what: &str, out: &mut Out) -> anyhow::Result<()> {
        writeln!(out, "{} {what}", counted(turns as u64, "turn"))?;
        self.show(out)
    }

    /// Draws the board, and says who has won.
    fn show(&self, out: &mut Out) -> anyhow::Result<()> {
        let (names, position) = (self.session.names(), self.session.stand().position);
        let cell = |cell: u32| if position >> cell & 1 == 1 { names.cell(cell).to_owned() } else { ".".to_owned() };
        for line in self.session.answers().board().picture(names.width(), cell).lines() {
            writeln!(out, "  {}", line.trim_end())?;
        }
        if let Some(winner) = self.session.winner() {
            let result = match winner {
                Player::Person => out.paint.good("you win"),
                Player::Program => out.paint.bad("the program wins"),
            };
            writeln!(out, "no piece can be taken: {result}")?;
        }
        Ok(())
    }

    fn hint(&self, out: &mut Out) -> anyhow::Result<()> {
        let write = |taken: &u64| self.session.write(*taken);
        match self.session.hint().map_err(failed)? {
            Hint::Over => writeln!(out, "the game is over")?,
            Hint::Wins { soonest, later, distance } => {
                let [soonest, later] = [soonest, later].map(|moves| moves.iter().map(write).collect::<Vec<_>>());
                let win = in_moves("you win".to_owned(), distance);
                let later = if later.is_empty() { String::new() } else { format!(", later with {}", later.join(", ")) };
                out.paragraph(&format!("hint: {win} with {}{later}", soonest.join(", ")))?;
            }
            Hint::Lost(None) => writeln!(out, "hint: every move loses; which is hardest to answer is not known")?,
            Hint::Lost(Some(Reply { taken, answers: 0, .. })) => {
                writeln!(out, "hint: every move loses; {} ends the game", write(&taken))?;
            }
            Hint::Lost(Some(Reply { taken, winning_answers, answers, distance })) => {
                let (taken, won) = (write(&taken), won(winning_answers, answers, "answer"));
                let why = match distance {
                    Some(moves) => {
                        format!("{taken} delays the end longest, by {}; then", counted(moves.into(), "move"))
                    }
                    None => format!("hardest to answer is {taken}, after which"),
                };
                writeln!(out, "hint: every move loses; {why} {won}")?;
            }
            Hint::Unknown(moves) => {
                let moves = counted(moves as u64, "move");
                writeln!(out, "hint: no move is known to win; the values after {moves} are not known")?;
            }
        }
        Ok(())
    }

    /// Warns, once for each move, of a move that is known to lose a won game; returns whether it
    /// did.
    fn warns(&mut self, taken: u64, out: &mut Out) -> anyhow::Result<bool> {
        let position = self.session.stand().position;
        let here = self.session.survey().map_err(failed)?;
        if lapse(&self.session, &here, taken).is_none()
            || self.warned.replace((position, taken)) == Some((position, taken))
        {
            return Ok(false);
        }
        let answers = survey(&**self.session.answers(), position ^ taken).map_err(failed)?;
        let answer = answers.winning().first().map(|answer| self.session.write(answer.taken));
        let why = answer.map_or("no piece is left to take".to_owned(), |answer| format!("the answer is {answer}"));
        let taken = self.session.write(taken);
        writeln!(out, "{taken} gives the game away: {why}; enter it again to play it")?;
        Ok(true)
    }

    fn moves(&self, out: &mut Out) -> anyhow::Result<()> {
        let survey = self.session.survey().map_err(failed)?;
        if survey.moves.is_empty() {
            writeln!(out, "the game is over")?;
        } else if survey.distance.is_some() {
            writeln!(out, "in brackets: the moves until the end, if the winner hurries and the loser delays")?;
        }
        let [wins, loses] = [out.paint.good("win"), out.paint.bad("lose")];
        let kinds = [(Some(Value::Loss), wins), (Some(Value::Win), loses), (None, "unknown".to_owned())];
        for (after, verdict) in kinds {
            let all = survey.moves.iter().filter(|choice| choice.after == after);
            let write = |choice: &Choice| match (self.session.write(choice.taken), choice.distance) {
                (taken, Some(moves)) => format!("{taken} ({})", moves + 1),
                (taken, None) => taken,
            };
            let all: Vec<String> = all.map(write).collect();
            if !all.is_empty() {
                out.paragraph(&format!("{verdict}: {}", all.join(" ")))?;
            }
        }
        Ok(())
    }

    fn save(&mut self, path: &Path, out: &mut Out) -> anyhow::Result<()> {
        let is_ours = self.saved.as_deref() == Some(path);
        if !is_ours && path.symlink_metadata().is_ok() {
            out.line(format_args!("not saved: {} exists; choose another name", path.display()))?;
            return Ok(());
        }
        let written =
            OutputFile::claim(path, SAVED).and_then(|file| Ok(file.write(&transcript::write(&self.session))?));
        match written {
            Ok(()) => {
                self.saved = Some(path.to_path_buf());
                out.line(format_args!("saved in {}", path.display()))?;
            }
            // The game continues.
            Err(error) => out.line(format_args!("not saved: {error:#}"))?,
        }
        Ok(())
    }

    fn replay_file(&self, path: &Path, out: &mut Out) -> anyhow::Result<()> {
        let text = match REPLAYED.read(path) {
            Ok(text) => text,
            Err(error) => return Ok(out.line(format_args!("{error:#}"))?),
        };
        match transcript::read(self.session.answers(), &text) {
            Ok(session) => replay(&session, out),
            Err(error) => Ok(out.line(format_args!("game {}: {error}", path.display()))?),
        }
    }
}

fn unclear(reason: impl Display, out: &mut Out) -> anyhow::Result<()> {
    Ok(writeln!(out, "not understood: {reason}; help lists the commands")?)
}

/// Returns the command that a word probably means: one that begins with it, or differs by a typo.
fn meant(word: &str) -> Option<&'static str> {
    COMMANDS.into_iter().find(|command| is_slip(&word.to_ascii_lowercase(), command))
}

fn replay(session: &Session, out: &mut Out) -> anyhow::Result<()> {
    let answers = &**session.answers();
    if session.turns().is_empty() {
        writeln!(out, "no turn was played")?;
    }
    for (number, (Stand { position, to_move }, turn)) in (1..).zip(session.history()) {
        match turn {
            Turn::Set(set) => writeln!(out, "{number:>3}  set up {}", position::rows(answers.board(), set))?,
            Turn::Swap => writeln!(out, "{number:>3}  sides exchanged")?,
            Turn::Take(taken) => {
                let here = survey(answers, position).map_err(failed)?;
                let value = here.value.map_or_else(|| "?".to_owned(), |value| out.paint.value(value));
                let lapse = lapse(session, &here, taken);
                let lapse = lapse.map_or(String::new(), |right| {
                    format!("  {}; right: {right}", out.paint.mark("gives the game away"))
                });
                writeln!(out, "{number:>3}  {value}  {:7}  {}{lapse}", to_move.name(), session.write(taken))?;
            }
        }
    }
    match session.winner() {
        Some(winner) => writeln!(out, "the {} wins", winner.name())?,
        None => writeln!(out, "the game is not over: the {} is to move", session.stand().to_move.name())?,
    }
    Ok(())
}

/// Returns the winning moves if this one is known to throw the win away.
fn lapse(session: &Session, here: &Survey, taken: u64) -> Option<String> {
    let is_lost = |choice: &Choice| choice.taken == taken && choice.after == Some(Value::Win);
    let right: Vec<String> = here.winning().iter().map(|choice| session.write(choice.taken)).collect();
    (!right.is_empty() && here.moves.iter().any(is_lost)).then(|| right.join(", "))
}
