//! A game at the terminal: the program's moves, and the lines that a person enters.

use crate::game::Board;
use crate::game::text::bare;
use crate::play::names::{ends, takes};
use crate::play::transcript::board_name;
use crate::play::{Answers, Names};
use pipeline::Error;
use std::fmt::Display;
use std::io::{BufRead, Read, StdinLock, Write};
use std::path::Path;
use terminal::output::Out;

/// Longest line that games read, in bytes.
pub const LINE_BYTES: u64 = 4096;

/// A game between a person and the program; its errors are those of answers, files and the output.
pub trait Game {
    /// Moves for the program while it is to move, and returns the prompt for the next line.
    fn prompt(&mut self, out: &mut Out) -> anyhow::Result<&'static str>;

    /// Carries out a line; returns whether the game goes on. What is not understood is said, and
    /// asked for again.
    fn obey(&mut self, line: &str, out: &mut Out) -> anyhow::Result<bool>;

    fn input_ended(&mut self, out: &mut Out) -> anyhow::Result<()>;
}

pub struct Lines {
    input: StdinLock<'static>,
    most_bytes: u64,
}

impl Lines {
    /// Reads lines of up to so many bytes; longer ones are cut.
    pub fn new(most_bytes: u64) -> Lines {
        Lines { input: std::io::stdin().lock(), most_bytes }
    }

    /// Asks for the next line, without what is around it; `None` at the end of the input.
    pub fn ask(&mut self, prompt: &str, out: &mut Out) -> anyhow::Result<Option<String>> {
        out.flush()?;
        out.prompt(prompt);
        let failed = |error| Error::io("read", Path::new("standard input"), error);
        let mut line = Vec::new();
        let length = self.input.by_ref().take(self.most_bytes).read_until(b'\n', &mut line).map_err(failed)?;
        if length as u64 == self.most_bytes && !line.ends_with(b"\n") {
            self.input.skip_until(b'\n').map_err(failed)?;
        }
        Ok((length > 0).then(|| bare(&String::from_utf8_lossy(&line)).to_owned()))
    }
}

/// Says what game it is, and who wins it.
pub fn name_game(answers: &dyn Answers, out: &mut Out) -> anyhow::Result<()> {
    let (board, rule) = (answers.board(), answers.rule());
    let is_usual = board.takes_single_pieces() && board.max_take().is_none();
    let takes = if is_usual { String::new() } else { format!("{}; ", takes(board)) };
    Ok(writeln!(out, "{}, {rule}: {takes}{}", board_name(board), ends(board, rule))?)
}

/// Draws a position, a piece as the name of its cell.
pub fn draw(board: &Board, names: &Names, position: u64, out: &mut Out) -> anyhow::Result<()> {
    let cell = |cell: u32| if position >> cell & 1 == 1 { names.cell(cell).to_owned() } else { ".".to_owned() };
    for line in board.picture(names.width(), cell).lines() {
        writeln!(out, "  {}", line.trim_end())?;
    }
    Ok(())
}

pub fn unclear(reason: impl Display, out: &mut Out) -> anyhow::Result<()> {
    Ok(writeln!(out, "not understood: {reason}; help lists the commands")?)
}

/// Plays until the game, the person or the input ends.
pub fn play(game: &mut impl Game, lines: &mut Lines, out: &mut Out) -> anyhow::Result<()> {
    loop {
        let prompt = game.prompt(out)?;
        let Some(line) = lines.ask(prompt, out)? else { return game.input_ended(out) };
        if !game.obey(&line, out)? {
            return Ok(());
        }
    }
}
