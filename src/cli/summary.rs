//! The result of a solved board, as `solve` and `stats` report it, and winning moves as pictures,
//! as `stats` and `probe` draw them.

use crate::database::{AuditResult, DistanceCount, Game, Keep, Manifest, NimberCount, Values};
use crate::game::{Board, Rule, Value};
use crate::play::Names;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::io::Write;
use terminal::output::{Out, Paint, counted, grouped, picture, side_by_side};
use terminal::values::Size;

/// Says how many of `all` moves, or answers, win.
pub fn won(won: usize, all: usize, noun: &str) -> String {
    match (won, all) {
        (0, 1) => format!("the only {noun} loses"),
        (1, 1) => format!("the only {noun} wins"),
        (0, _) => format!("none of {all} {noun}s wins"),
        (1, _) => format!("1 of {all} {noun}s wins"),
        _ => format!("{won} of {all} {noun}s win"),
    }
}

/// A game, as reports name it.
#[derive(Serialize, JsonSchema)]
pub struct GameFields {
    /// Name of the board: `triangle:7`, `rect:6x6`, or the name in a board file.
    board: String,
    /// Layers of the triangle; null for other boards.
    layers: Option<u32>,
    /// Whether taking the last piece wins (`normal`) or loses (`misere`).
    rule: Rule,
    /// Fewest pieces a move takes along a line; null for 1.
    min_take: Option<u32>,
    /// Most pieces a move takes along a line; null for no limit.
    max_take: Option<u32>,
}

impl GameFields {
    pub fn new(board: &Board, rule: Rule) -> GameFields {
        GameFields {
            board: board.name().to_owned(),
            layers: board.layers(),
            rule,
            min_take: board.min_take(),
            max_take: board.max_take(),
        }
    }
}

/// In words: `7 layers, misere, at most 3 pieces a move`.
impl fmt::Display for GameFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", board_words(&self.board), self.rule)?;
        self.min_take.map_or(Ok(()), |take| write!(f, ", at least {take} pieces a move"))?;
        self.max_take.map_or(Ok(()), |take| write!(f, ", at most {take} pieces a move"))
    }
}

/// Facts about a solved board that need no block.
#[derive(Serialize, JsonSchema)]
pub struct Summary {
    #[serde(flatten)]
    game: GameFields,
    /// All positions of the board.
    pub positions: u64,
    /// Positions that the player to move wins.
    wins: u64,
    /// Positions that the player to move loses.
    losses: u64,
    /// `losses` over `positions`, 0 to 1.
    loss_rate: f64,
    /// Value of the full board for the player to move.
    start: Value,
    /// BLAKE3 hash of the solution in hexadecimal; depends on board, rule, values and layout only.
    digest: String,
    /// Census digest, the same in every layout: BLAKE3 hash of board, rule and counts in
    /// hexadecimal.
    values_digest: String,
    /// What was computed for each position: `outcomes`, `nimbers` or `remoteness`.
    values: Values,
    /// One row for each nimber, from 0 to the largest there is; null unless `values` is `nimbers`.
    pub by_nimber: Option<Vec<NimberCount>>,
    /// One row for each distance to the end, from 0 to the largest there is, over all positions;
    /// null unless `values` is `remoteness`.
    pub by_distance: Option<Vec<DistanceCount>>,
    /// What the folder keeps: `database`, `book:PIECES` or `counts`.
    keep: Keep,
    /// The audit that the blocks passed; null without one.
    audit: Option<AuditResult>,
    #[serde(skip)]
    is_all_audited: bool,
    /// Indices of the cells whose pieces number the blocks, lowest bit first.
    bid_cells: Vec<u8>,
    /// All blocks.
    blocks: u64,
    /// Blocks that were evaluated, one for each isomorphic group.
    canonical_blocks: u64,
}

impl Summary {
    pub fn new(manifest: &Manifest, game: &Game) -> Summary {
        let Game { board, rule, layout } = game;
        let census = &manifest.census;
        Summary {
            game: GameFields::new(board, *rule),
            positions: census.positions(),
            wins: census.wins(),
            losses: census.losses(),
            loss_rate: census.loss_rate(),
            start: census.start(),
            digest: manifest.digest.clone(),
            values_digest: manifest.values_digest(game),
            values: manifest.values(),
            by_nimber: manifest.by_nimber.clone(),
            by_distance: manifest.by_distance.clone(),
            keep: manifest.keep,
            audit: manifest.audit.clone(),
            is_all_audited: manifest.audit.as_ref().is_some_and(|audit| audit.is_of_all(game)),
            bid_cells: manifest.bid_cells.clone(),
            blocks: layout.blocks(),
            canonical_blocks: layout.canonical_blocks().len() as u64,
        }
    }

    /// Returns a row about what is kept, unless that is every value.
    pub fn only(&self) -> Option<(&'static str, String)> {
        (!self.keep.is_database()).then(|| ("kept", self.keep.limits()))
    }

    /// Returns the row about the files, including what is kept unless that is every value.
    pub fn kept(&self, bytes: u64, folder: &str) -> (&'static str, String) {
        let (name, what) = match self.keep {
            Keep::Database => ("database", ""),
            Keep::Book { .. } => ("kept", "counts, winning first moves and the book, "),
            Keep::Counts => ("kept", "counts and winning first moves, "),
        };
        (name, format!("{what}{} in {}, {folder}", Size(bytes), counted(self.canonical_blocks, "block")))
    }

    pub fn rows(&self, paint: Paint) -> Vec<(&'static str, String)> {
        let audit = self.audit.as_ref().map(|AuditResult { blocks, positions, misses, seed, .. }| {
            let compared = format!("{} compared with their", counted(*positions, "position"));
            let (positions, more) = match blocks {
                _ if self.is_all_audited => ("every position compared with its".to_owned(), String::new()),
                Some(blocks) => (compared, format!(", all of {}", counted(*blocks, "block"))),
                None => (compared, format!(", seed {seed}")),
            };
            ("audit", format!("{positions} children, {misses} wrong{more}"))
        });
        let rows = vec![
            ("board", self.game.to_string()),
            ("positions", grouped(self.positions)),
            ("wins", grouped(self.wins)),
            ("losses", format!("{} ({:.4} %)", grouped(self.losses), self.loss_rate * 100.0)),
            ("start", format!("{} for the player to move", paint.value(self.start))),
            ("digest", self.digest.clone()),
            ("census", self.values_digest.clone()),
        ];
        let largest = self.by_nimber.as_ref().and_then(|rows| rows.last());
        let nimbers = largest.map(|largest| ("nimbers", format!("0 to {}", largest.nimber)));
        let farthest = self.by_distance.as_ref().and_then(|rows| rows.last());
        let distances = farthest.map(|farthest| ("distances", format!("0 to {} moves", farthest.distance)));
        rows.into_iter().chain(nimbers).chain(distances).chain(audit).collect()
    }
}

/// Returns the description of a board: `7 layers`, `rect:6x6`.
pub fn board_words(name: &str) -> String {
    let layers = name.strip_prefix("triangle:").and_then(|layers| layers.parse().ok());
    layers.map_or_else(|| name.to_owned(), |layers| counted(layers, "layer"))
}

const PICTURES: usize = 8;

/// Returns the number of moves up to symmetry, as the end of a sentence about `moves` moves of
/// `position`; empty if no two of them are equivalent.
pub fn up_to_symmetry(board: &Board, position: u64, moves: &[u64]) -> String {
    match board.classes_at(position, moves).len() {
        kinds if kinds == moves.len() => String::new(),
        kinds => format!(", {kinds} up to symmetry"),
    }
}

/// Draws winning moves of `position`, one for all images under the symmetries that keep it: the
/// move as `trinim play` writes it, and the number of images.
pub fn draw_moves(board: &Board, position: u64, moves: &[u64], out: &mut Out) -> anyhow::Result<()> {
    let (classes, names) = (board.classes_at(position, moves), Names::new(board));
    let draw = |(taken, images): &(u64, Vec<u64>)| {
        let alike = if images.len() > 1 { format!(" ({} alike)", images.len()) } else { String::new() };
        (format!("{}{alike}", names.write(board, *taken)), picture(board, position, *taken, out.paint))
    };
    let pictures: Vec<(String, Vec<String>)> = classes.iter().take(PICTURES).map(draw).collect();
    side_by_side(out, board, &pictures)?;
    if classes.len() > PICTURES {
        writeln!(out, "and {} more; --json lists all", classes.len() - PICTURES)?;
    }
    Ok(())
}
