//! `trinim probe`: the values of positions and of all their moves.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use terminal::exit::{Exit, reason};
use terminal::output::{self, Out, counted, in_moves};
use trinim::cli::answers::{self, SpotArgs};
use trinim::cli::args::JsonArgs;
use trinim::cli::folders;
use trinim::cli::lines::Lines;
use trinim::cli::solved::{SolvedArgs, Source};
use trinim::cli::summary::{draw_moves, up_to_symmetry, won};
use trinim::database::{Database, DatabaseError, Probe};
use trinim::game::{Board, position};
use trinim::play::report::{Brief, ProbeReport};
use trinim::play::{AnswerError, Answers, OnTheSpot};

/// Longest line that can be a position, in bytes.
const LINE_BYTES: u64 = 1024;
const SCHEMA: &str = "trinim.probe/1";

const EXAMPLES: &str = "\
Examples:
  trinim probe trinim-k5-misere 1/11/111/1111/11111       the full board
  trinim probe trinim-k5-misere 0x7fff --json             the same as a mask
  trinim probe trinim-k5-misere --json < positions.txt    one position per line, one answer per line
  trinim probe trinim-k5-misere --brief < positions.txt   position and value, one short line each

Empty lines at the end are skipped. A line that is not a position gets an error as its answer; the other lines are still answered, and the exit code \
is 2.";

/// The text after the options: the examples, then every form of a position.
fn after_help() -> String {
    let width = position::FORMS.iter().map(|(_, text)| text.len()).max().unwrap_or(0);
    let forms: String = position::FORMS.iter().map(|(what, text)| format!("\n  {text:width$}  {what}")).collect();
    format!(
        "{EXAMPLES}\n\nPositions, here with pieces on cells 0, 1, 2, 3 and 5 of three layers:{forms}\nCells count from \
         0 at the apex, row by row. Zeros and ones that do not cover all cells are refused: write 0d before such a number. \
         The manual page trinim-positions(7) says more."
    )
}

/// Look up positions and all their moves
#[derive(Args)]
#[command(after_help = after_help())]
pub struct ProbeArgs {
    #[command(flatten)]
    solved: SolvedArgs,

    /// Positions; with - or without any, read one per line from standard input
    #[arg(value_name = "POSITION")]
    positions: Vec<String>,

    /// Print only the position and its value, on one line
    #[arg(long, help_heading = "Output")]
    brief: bool,

    #[command(flatten)]
    spot: SpotArgs,

    #[command(flatten)]
    json: JsonArgs,
}

/// What it prints instead of a text that is not a position, of a block that cannot be read, or of a
/// value that was not kept.
#[derive(Serialize, JsonSchema)]
pub struct Failure<'a> {
    /// Rows from the top, as in `1/01/110`; with `error`: the text as given.
    position: &'a str,
    /// Why there is no answer.
    error: String,
}

pub fn run(mut args: ProbeArgs, out: &mut Out) -> anyhow::Result<Exit> {
    if (args.solved.board.layers.is_some() || args.solved.board.board.is_some())
        && let Some(first) = args.solved.folder.take_if(|first| !first.is_dir())
    {
        args.positions.insert(0, first.to_string_lossy().into_owned());
    }
    let (board, rule, database) = match args.solved.find()? {
        Source::Database(database) => {
            (database.board().clone(), database.rule(), Some(Arc::<Database>::from(database)))
        }
        Source::Rules(board) => (board, args.solved.rule(), None),
    };
    let source = database.clone().map(|database| database as Arc<dyn Answers>);
    let answers = OnTheSpot::new(source, args.spot.solver(&board, rule, out)?).sparing();
    let (brief, json) = (args.brief, args.json.json);
    let mut prober = Prober { answers, brief, json, exit: Exit::Done, is_first: true, lacks_values: false };
    if args.positions.is_empty() {
        prober.standard_input(out)?;
    }
    for position in &args.positions {
        if position == "-" { prober.standard_input(out)? } else { prober.answer(position, out)? }
    }
    if let Some(database) = database.filter(|_| prober.lacks_values) {
        out.remark(format_args!("hint: {}", folders::keep_all(&database)));
    }
    Ok(prober.exit)
}

struct Prober {
    /// The database, if there is one, then positions solved on the spot.
    answers: OnTheSpot,
    brief: bool,
    json: bool,
    exit: Exit,
    is_first: bool,
    /// Whether the value of a position was not known.
    lacks_values: bool,
}

impl Prober {
    fn standard_input(&mut self, out: &mut Out) -> anyhow::Result<()> {
        if io::stdin().is_terminal() {
            out.remark("positions, one a line (Ctrl-D ends):");
        }
        // The output is flushed before each line, because the sender may wait for an answer before
        // it sends the next line. Empty lines at the end come from editors.
        let (mut lines, mut empty) = (Lines::new(LINE_BYTES), 0);
        while let Some(line) = lines.ask("", out)? {
            if line.is_empty() {
                empty += 1;
                continue;
            }
            (0..std::mem::take(&mut empty)).try_for_each(|_| self.answer("", out))?;
            self.answer(&line, out)?;
        }
        Ok(())
    }

    fn answer(&mut self, text: &str, out: &mut Out) -> anyhow::Result<()> {
        let found = match position::parse(self.answers.board(), text) {
            Ok(position) => self.probe(position)?,
            Err(error) => Err((Exit::Usage, error.to_string())),
        };
        let board = self.answers.board();
        match found {
            Ok(probe) if self.brief && self.json => out.json_line(SCHEMA, &Brief::new(board, &probe))?,
            Ok(probe) if self.brief => writeln!(out, "{}  {}", position::rows(board, probe.position), probe.value)?,
            Ok(probe) if self.json => out.json_line(SCHEMA, &ProbeReport::new(board, &probe))?,
            Ok(probe) => {
                if !std::mem::replace(&mut self.is_first, false) {
                    writeln!(out)?;
                }
                print(board, &probe, out)?;
            }
            Err((exit, error)) => {
                // Damage outweighs a failed read, which outweighs a line without an answer.
                let rank = |exit: Exit| match exit {
                    Exit::Corrupt => 3,
                    Exit::System => 2,
                    Exit::Usage => 1,
                    _ => 0,
                };
                self.exit = if rank(exit) > rank(self.exit) { exit } else { self.exit };
                if self.json {
                    out.json_line(SCHEMA, &Failure { position: text, error })?;
                } else {
                    self.is_first = false;
                    writeln!(out, "{} {text:?}: {error}", out.paint.bad("error:"))?;
                }
            }
        }
        Ok(())
    }

    /// Probes a position; a brief answer leaves out its moves. The inner error is the answer for
    /// this position; the outer one ends the command.
    fn probe(&mut self, position: u64) -> anyhow::Result<Result<Probe, (Exit, String)>> {
        let found = if self.brief { self.answers.alone(position) } else { self.answers.probe(position) };
        match found {
            Ok(probe) => Ok(Ok(probe)),
            Err(error @ AnswerError::Unknown { .. }) => {
                self.lacks_values = true;
                Ok(Err((Exit::Usage, error.to_string())))
            }
            Err(AnswerError::Database(error)) => {
                let exit = if matches!(error, DatabaseError::Corrupt { .. }) { Exit::Corrupt } else { Exit::System };
                Ok(Err((exit, reason(&error.into()))))
            }
            Err(error) => Err(answers::failed(error)),
        }
    }
}

fn print(board: &Board, probe: &Probe, out: &mut Out) -> anyhow::Result<()> {
    let rows = position::rows(board, probe.position);
    writeln!(out, "{rows}  {}", out.paint.faint(position::hex(probe.position)))?;
    for line in output::picture(board, probe.position, 0, out.paint) {
        writeln!(out, "  {}", line.trim_end())?;
    }
    let outcome = probe.value.outcome();
    let verdict = in_moves(out.paint.value(probe.value), probe.distance);
    let winning = probe.winning_moves();
    let alike = up_to_symmetry(board, probe.position, &winning);
    let moves = match (probe.children.len(), winning.len()) {
        (0, _) => "no move is left".to_owned(),
        (all, some) => won(some, all, "move") + if some > 1 { &alike } else { "" },
    };
    let moves = match (probe.moves_not_kept, probe.children.len()) {
        (0, _) => moves,
        (more, 0) => format!("the values after {} were not kept", counted(more, "move")),
        (more, _) => format!("{moves}; the values after {} more were not kept", counted(more, "move")),
    };
    writeln!(out, "{verdict} for the player to move ({outcome}-position); {moves}")?;
    if let Some(nimber) = probe.nimber {
        writeln!(out, "nimber {nimber}{}", nimbers_of_moves(probe))?;
    }
    if winning.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    draw_moves(board, probe.position, &winning, out)?;
    Ok(())
}

/// Lists the nimbers of the children, each with the number of moves to it.
fn nimbers_of_moves(probe: &Probe) -> String {
    let mut moves: BTreeMap<u32, u64> = BTreeMap::new();
    for nimber in probe.children.iter().filter_map(|child| child.nimber) {
        *moves.entry(nimber).or_default() += 1;
    }
    let listed: Vec<String> = moves.iter().map(|(nimber, moves)| format!("{nimber} ({moves})")).collect();
    if listed.is_empty() { String::new() } else { format!("; moves lead to {}", listed.join(", ")) }
}
