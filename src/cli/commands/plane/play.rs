//! `trinim plane play`: a game against the program.
//!
//! The game goes to standard output, prompts to standard error. The end of the input resigns.
//! [`trinim_plane::game`] defines the transcript; a level file keeps the level of the next game
//! with the same player.

use super::{goal_name, whole_number};
use crate::cli::face::exit::{Exit, Refused};
use crate::cli::face::file::{Export, ExportKind, InputKind};
use crate::cli::face::output::Out;
use crate::cli::words::choice::{choice, explained, name};
use crate::cli::words::seat::{self, Lines};
use clap::{Args, ValueEnum};
use pipeline::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use trinim::game::Rule;
use trinim::random::Random;
use trinim_plane::game::{self, Game, Player, Strategy, Turn};
use trinim_plane::goals::Flip;
use trinim_plane::heaps::{Kind, Move, Point};
use trinim_plane::{goals, heaps, paper, winning};

/// Longest line that can be a turn, in bytes.
const LINE_BYTES: u64 = 2_000_000;
/// Heaps up to this size are drawn.
const DRAWN: u64 = 60;

const EXAMPLES: &str = "\
Examples:
  trinim plane play                                   level 7; you see the heaps and choose
  trinim plane play --level 1000 --first human --hint
  trinim plane play --level-file ada.level            the level doubles from game to game
  trinim plane play --start 378,611 --first program --strategy paper
                                                      the paper gives a won game away
  trinim plane play --transcript game.txt
  trinim plane play --replay game.txt

A turn is a kind of move and an amount: both 3 (or b 3), short 1, long 10^6. With --flip free, one turn may begin \
with flip. Other commands are hint, moves, help and resign. The end of the input resigns.";

const HELP: &str = "\
short N, s N   take N from the short heap
long N, l N    take N from the long heap
both N, b N    take N from both heaps
flip           before a move: change the goal, where that is allowed
hint           show the winning moves
moves          show the legal moves
resign, quit   give up
help, ?        show this list";

const TRANSCRIPT: ExportKind =
    ExportKind { flag: "--transcript", what: "transcript of a game", signature: "# trinim plane game" };
const REPLAY: InputKind = InputKind {
    what: "transcript",
    most_bytes: 64 << 20,
    hint: "trinim plane play --transcript FILE writes a transcript",
};
/// The level of the next game.
const LEVEL: ExportKind =
    ExportKind { flag: "--level-file", what: "level of a player", signature: "# trinim plane level" };
const LEVEL_READ: InputKind =
    InputKind { what: "level", most_bytes: 4096, hint: "remove the file to begin again at --level" };

/// `--first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum First {
    /// You
    Human,
    /// The program
    Program,
    /// You are asked once the heaps are known
    Choose,
}

const STRATEGIES: &[(Strategy, &str)] = &[
    (Strategy::Exact, "Never gives a won game away"),
    (Strategy::Paper, "The paper's algorithm V, with the paper's number of Newton steps"),
];

/// Play Nim on the plane against the program
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlayArgs {
    /// Heaps at the start [default: random heaps of the level]
    #[arg(long, value_name = "S,L", allow_hyphen_values = true, conflicts_with = "level")]
    start: Option<String>,

    /// Level Q: the first heaps have L >= (e - 1) S >= Q; at least 7, because below that such a
    /// point may be lost [default: 7]
    #[arg(long, value_name = "Q", value_parser = level_text)]
    level: Option<u64>,

    /// Keep the level of the next game in this file; it doubles with every game
    #[arg(long, value_name = "FILE", conflicts_with = "start")]
    level_file: Option<PathBuf>,

    /// Who moves first
    #[arg(long, value_name = "WHO", value_enum, default_value = "choose")]
    first: First,

    /// Goal: normal or attrition
    #[arg(long, value_name = "GOAL", value_parser = goal_name(), default_value = "normal")]
    goal: Rule,

    /// Whether the goal can be changed once in the game: none, or free for before a move where L >=
    /// S + 2 >= 7
    #[arg(long, value_name = "WHEN", value_parser = choice(&Flip::ALL), default_value = "none")]
    flip: Flip,

    /// How the program chooses its moves
    #[arg(long, value_name = "STRATEGY", value_parser = explained(STRATEGIES), default_value = "exact")]
    strategy: Strategy,

    /// Show the winning moves before each of your turns
    #[arg(long)]
    hint: bool,

    /// Seed of the random numbers [default: a new one every time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Write the game to this file, after every turn
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,

    /// Replace the transcript of an earlier game
    #[arg(long, requires = "transcript")]
    force: bool,

    /// Replay the game in this file, with the value of every turn
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["start", "level", "level_file", "flip", "hint", "seed", "transcript"])]
    replay: Option<PathBuf>,
}

/// Runs the subcommand.
pub fn run(args: PlayArgs, out: &mut Out) -> anyhow::Result<Exit> {
    if let Some(path) = &args.replay {
        return replay(path, out);
    }
    if args.strategy == Strategy::Paper && (args.goal == Rule::Misere || args.flip != Flip::None) {
        return Err(Refused::new(
            "--strategy paper plays only the normal goal, which never changes",
            "leave out --goal and --flip, or choose --strategy exact",
        )
        .into());
    }
    let flips = match args.flip {
        Flip::None => 0,
        Flip::Free => 1,
        Flip::After | Flip::Turn => {
            let reason = format!("--flip {}: expected none or free in a game", name(&args.flip));
            return Err(Refused::new(reason, "trinim plane at supports after and turn").into());
        }
    };
    let transcript = args.transcript.as_deref().map(|path| transcript(path, args.force)).transpose()?;
    let mut random = Random::new(args.seed.unwrap_or_else(fresh_seed));
    let (point, level) = match &args.start {
        Some(text) => (given(text)?, None),
        None => {
            let level = level(&args)?;
            (paper::first_point(level, &mut random), Some(level))
        }
    };
    let claimed = args.level_file.as_deref().map(|path| Export::claim(path, LEVEL)).transpose()?;
    if let (Some(file), Some(level)) = (claimed, level) {
        // Before the game: a player who quits early has seen its heaps.
        file.write(&format!("{}\n{}\n", LEVEL.signature, (2 * level).min(paper::LEVEL_MAX)))?;
    }
    let level = level.map_or_else(String::new, |level| format!(", level {level}"));
    out.break_lines();
    writeln!(out, "{} goal{level}", goals::name(args.goal))?;
    show(&point, out)?;
    let mut lines = Lines::new(LINE_BYTES);
    let first = match args.first {
        First::Human => Player::Human,
        First::Program => Player::Program,
        First::Choose => chosen(&mut lines, out)?,
    };
    let game = Game::new(point, args.goal, first, flips);
    let mut seat = Seat { game, strategy: args.strategy, hint: args.hint, random, transcript, is_new: true };
    seat::play(&mut seat, &mut lines, out)?;
    seat.finish(out)?;
    Ok(Exit::Done)
}

/// Claims the file of a transcript; an earlier game is only replaced with `--force`.
fn transcript(path: &Path, force: bool) -> anyhow::Result<Export> {
    let claimed = Export::claim(path, TRANSCRIPT)?;
    if !force && path.symlink_metadata().is_ok() {
        let message = format!("--transcript {} exists", path.display());
        return Err(Refused::new(message, "choose another name, or replace an earlier game with --force").into());
    }
    Ok(claimed)
}

fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_nanos() as u64)
}

fn given(text: &str) -> Result<Point, Refused> {
    let hint = "two heaps, like --start 378,611";
    let (one, other) =
        text.split_once(',').ok_or_else(|| Refused::new("--start: expected two numbers separated by a comma", hint))?;
    let point = Point::new(whole_number("--start", one)?, whole_number("--start", other)?);
    if point.is_end() {
        return Err(Refused::new("--start: (0, 0) ends the game", hint));
    }
    Ok(point)
}

fn level_text(text: &str) -> Result<u64, String> {
    let allowed = paper::LEVEL_MIN..=paper::LEVEL_MAX;
    text.parse().ok().filter(|level| allowed.contains(level)).ok_or_else(|| {
        let (least, most) = (paper::LEVEL_MIN, paper::LEVEL_MAX);
        format!("expected a whole number from {least} to {most}; below {least} the first point may be a lost one")
    })
}

/// Returns the level of this game: from the file, or from the arguments.
fn level(args: &PlayArgs) -> anyhow::Result<u64> {
    let first = args.level.unwrap_or(paper::LEVEL_MIN);
    let Some(path) = args.level_file.as_deref().filter(|path| path.symlink_metadata().is_ok()) else {
        return Ok(first);
    };
    let text = LEVEL_READ.read(path)?;
    let kept = text.strip_prefix(LEVEL.signature).and_then(|rest| level_text(rest.trim()).ok());
    kept.ok_or_else(|| LEVEL_READ.refused(path, "expected a level that trinim wrote").into())
}

/// Asks the player who moves first.
fn chosen(lines: &mut Lines, out: &mut Out) -> anyhow::Result<Player> {
    loop {
        let answer = lines.ask("Do you want to move first? [y/n] ", out)?;
        match answer.map(|answer| answer.trim().to_lowercase()).as_deref() {
            Some("y" | "yes") | None => return Ok(Player::Human),
            Some("n" | "no") => return Ok(Player::Program),
            Some("help" | "?") => writeln!(out, "y: you move first; n: the program does\n{HELP}")?,
            Some(_) => writeln!(out, "not understood: expected y or n")?,
        }
    }
}

/// One game at the terminal.
struct Seat {
    game: Game,
    strategy: Strategy,
    hint: bool,
    random: Random,
    transcript: Option<Export>,
    /// Whether nothing was said yet in this turn of the player.
    is_new: bool,
}

impl Seat {
    /// Writes the game so far to the transcript, if there is one.
    fn record(&self) -> Result<(), Error> {
        self.transcript.as_ref().map_or(Ok(()), |file| file.write(&self.game.to_string()))
    }

    /// Records the whole game, and says who has won.
    fn finish(&self, out: &mut Out) -> anyhow::Result<()> {
        self.record()?;
        if let Some(winner) = self.game.winner() {
            let how = if self.game.point().is_end() { "(0, 0)" } else { "you resign" };
            let result = match winner {
                Player::Human => out.paint.good("you win"),
                Player::Program => out.paint.bad("the program wins"),
            };
            writeln!(out, "{how}: {result}")?;
        }
        Ok(())
    }
}

impl seat::Game for Seat {
    fn is_programs_turn(&self) -> bool {
        self.game.winner().is_none() && self.game.to_move() == Player::Program
    }

    fn program(&mut self, out: &mut Out) -> anyhow::Result<()> {
        self.record()?;
        let game = &mut self.game;
        let step = game.choose(self.strategy, &mut self.random);
        let step = step.ok_or_else(|| anyhow::anyhow!("no move was found in a game that is not over"))?;
        if self.strategy == Strategy::Paper && paper::gives_up(game.point()) {
            writeln!(out, "the paper's program considers this point lost")?;
        }
        writeln!(out, "the program takes {}", of(&step))?;
        if game.play(false, step)?.gives_away() {
            writeln!(out, "{}", out.paint.mark("this gives a won game away"))?;
        }
        if game.winner().is_none() {
            show(game.point(), out)?;
        }
        Ok(())
    }

    fn prompt(&mut self, out: &mut Out) -> anyhow::Result<Option<&'static str>> {
        if self.game.winner().is_some() {
            return Ok(None);
        }
        if std::mem::replace(&mut self.is_new, false) {
            // Before the player is waited for: Ctrl-C then keeps the turns so far.
            self.record()?;
            if self.hint {
                hint(&self.game, out)?;
            }
        }
        Ok(Some("your turn> "))
    }

    fn obey(&mut self, line: &str, out: &mut Out) -> anyhow::Result<bool> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let game = &mut self.game;
        match words[..] {
            ["hint"] => hint(game, out)?,
            ["moves"] => ranges(game, out)?,
            ["help" | "?"] => writeln!(out, "{HELP}")?,
            ["resign" | "quit" | "q"] => game.resign(),
            _ => match game::parse_turn(&words, heaps::parse) {
                Ok((flips, step)) => match game.play(flips, step) {
                    Ok(_) => {
                        self.is_new = true;
                        if flips && game.winner().is_none() {
                            writeln!(out, "the goal is {} now", goals::name(game.rule()))?;
                        }
                    }
                    // The player keeps the turn.
                    Err(error) => {
                        writeln!(out, "not possible: {error}")?;
                        ranges(game, out)?;
                    }
                },
                Err(reason) => {
                    writeln!(out, "not understood: {reason}")?;
                    ranges(game, out)?;
                }
            },
        }
        Ok(true)
    }

    fn input_ended(&mut self, _: &mut Out) -> anyhow::Result<()> {
        self.game.resign();
        Ok(())
    }
}

/// Prints the heaps, small ones as pictures.
fn show(point: &Point, out: &mut Out) -> anyhow::Result<()> {
    for (name, heap) in [("short", point.short()), ("long", point.long())] {
        let pieces = match u64::try_from(heap) {
            Ok(pieces) if pieces <= DRAWN => format!("  {}", "o".repeat(pieces as usize)),
            _ => String::new(),
        };
        writeln!(out, "{}", format!("  {name:5} {}{pieces}", heaps::shortened(heap)).trim_end())?;
    }
    Ok(())
}

fn hint(game: &Game, out: &mut Out) -> anyhow::Result<()> {
    let moves = winning::moves(game.rule(), game.point());
    let all: Vec<String> = moves.iter().map(of).collect();
    match (all.is_empty(), winning::delay(game.rule(), game.point())) {
        (false, _) => writeln!(out, "hint: you win by taking {}", all.join(", or "))?,
        (true, Some(step)) => writeln!(out, "hint: every move loses; hardest to answer: take {}", of(&step))?,
        (true, None) => {}
    }
    Ok(())
}

fn ranges(game: &Game, out: &mut Out) -> anyhow::Result<()> {
    let point = game.point();
    let kinds = Kind::ALL.into_iter().filter(|kind| !point.most(*kind).is_zero());
    let ranges: Vec<String> =
        kinds.map(|kind| format!("{} 1 to {}", kind.name(), heaps::shortened(point.most(kind)))).collect();
    let flip = if game.may_flip().is_ok() { "; flip may precede it" } else { "" };
    writeln!(out, "possible: {}{flip}", ranges.join(", "))?;
    Ok(())
}

/// Describes a move in words.
fn of(step: &Move) -> String {
    let amount = heaps::shortened(&step.amount);
    match step.kind {
        Kind::Short => format!("{amount} from the short heap"),
        Kind::Long => format!("{amount} from the long heap"),
        Kind::Both => format!("{amount} from both heaps"),
    }
}

fn replay(path: &Path, out: &mut Out) -> anyhow::Result<Exit> {
    let game = Game::parse(&REPLAY.read(path)?).map_err(|error| REPLAY.refused(path, error))?;
    for (number, turn) in (1..).zip(game.turns()) {
        let flip = if turn.flips { "changes the goal and " } else { "" };
        let Turn { player, step, from, to, .. } = &turn;
        let value = out.paint.value(turn.value_before());
        let verdict = if turn.gives_away() { out.paint.mark("  gives the game away") } else { String::new() };
        let [from, to] = [from, to].map(|point| super::shown(&super::pair(point)));
        writeln!(out, "{number:>3}  {value}  {:7}  {from}  {flip}takes {}: {to}{verdict}", player.name(), of(step))?;
        if turn.gives_away() {
            let right: Vec<String> = winning::moves(turn.rule, &turn.from).iter().map(of).collect();
            writeln!(out, "     right: {}", right.join(", or "))?;
        }
    }
    match game.winner() {
        Some(winner) => writeln!(out, "{} wins", winner.name())?,
        None => writeln!(out, "the game is not over: {} to move", game.to_move().name())?,
    }
    Ok(Exit::Done)
}
