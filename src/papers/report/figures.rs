//! The figures: losses against layers, winning first moves, losses by pieces, positions by
//! distance; each is a picture with its numbers.

use super::{Solution, Variant, line, object, rule_word, variant_words};
use crate::report::draw::board_picture::{MOVE_WORDS, Picture, Sheet};
use crate::report::draw::chart::{Axis, Chart, Line};
use crate::report::draw::svg::Svg;
use crate::report::draw::table::{Cell, Table};
use serde::Serialize;
use serde_json::json;
use trinim::database::DistanceCount;
use trinim::database::census::PieceCount;
use trinim::play::Names;
use trinim_game::amount::grouped;
use trinim_game::position::{self, cells};
use trinim_game::published;
use trinim_game::{Board, LAYERS_MAX, Rule, Value};

/// Distance of the marks of two variants at the same number of layers, in pixels: a ring around one
/// is free of the other.
const APART: f64 = 13.0;

/// The column of figure 13 that only its JSON has.
const PUBLISHED: &str = "published_loss_percent";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Losses,
    Moves,
    Pieces,
    /// Positions of a board by their distance to the end.
    Distances,
}

pub(super) struct Figure {
    pub kind: Kind,
    /// The name of its files, without the extension.
    pub name: String,
    pub title: String,
    pub svg: Svg,
    pub table: Table,
    pub json: String,
}

/// Returns all figures: one of all boards, then those of each board.
pub(super) fn figures(solutions: &[Solution]) -> Vec<Figure> {
    // A board of one or two layers has too few points for a curve.
    let by_pieces = |solution: &Solution| (solution.layers >= 3).then(|| losses_by_pieces(solution));
    let by_distance = |solution: &Solution| (!solution.by_distance.is_empty()).then(|| positions_by_distance(solution));
    let boards = solutions.iter().flat_map(|solution| {
        std::iter::once(winning_moves(solution)).chain(by_pieces(solution)).chain(by_distance(solution))
    });
    std::iter::once(losses(solutions)).chain(boards).collect()
}

pub(super) const LOSSES_TITLE: &str = "Figure 13: losses among all positions, by layers";
/// The reason why the axis differs from the caption of the paper.
pub(super) const LOSSES_NOTE: &str = "\
    The caption of [SWLK12] figure 13 says P-positions to N-positions; its text defines the loss ratio as \
    losses to all positions, and the published percentages (7.3 at seven layers, 6.0 at eight) are that. \
    The other ratio is in the data, as losses_per_win.";

fn losses(solutions: &[Solution]) -> Figure {
    let published =
        |solution: &Solution| published::rate(solution.layers, solution.rule).filter(|_| solution.max_take.is_none());
    let table = Table::new(
        solutions,
        &[
            ("k", "layers", &|row| Cell::count(row.layers)),
            ("rule", "rule", &|row| Cell::words(rule_word(row.rule), row.rule.name())),
            ("at most", "max_take", &|row| Cell::from_option(row.max_take, Cell::count)),
            ("positions", "positions", &|row| Cell::count(row.census.positions())),
            ("wins", "wins", &|row| Cell::count(row.census.wins())),
            ("losses", "losses", &|row| Cell::count(row.census.losses())),
            ("losses / positions", "losses_per_position", &|row| Cell::share(row.census.loss_rate())),
            ("losses / wins", "losses_per_win", &|row| {
                Cell::share(row.census.losses() as f64 / row.census.wins() as f64)
            }),
            ("published", PUBLISHED, &|row| Cell::from_option(published(row), |rate| Cell::word(rate.percent))),
        ],
    );
    let mut variants: Vec<(Option<u32>, Rule)> = Vec::new();
    for solution in solutions {
        if !variants.contains(&(solution.max_take, solution.rule)) {
            variants.push((solution.max_take, solution.rule));
        }
    }
    let mut chart = Chart::new(
        LOSSES_TITLE,
        Axis::linear("layers of the board, k"),
        Axis::log("P-positions / all positions, %, logarithmic"),
    )
    .describe(describe_losses(solutions))
    .note(LOSSES_NOTE);
    // The rates of the rules are equal or nearly so for most boards.
    let apart = APART.min(4.0 * APART / variants.len() as f64);
    let beside = |index: usize| (index as f64 - (variants.len() as f64 - 1.0) / 2.0) * apart;
    if variants.len() > 1 {
        chart = chart.note("Marks for the same number of layers stand side by side.");
    }
    for (index, (max_take, rule)) in variants.iter().copied().enumerate() {
        let of_variant = solutions.iter().filter(|solution| (solution.max_take, solution.rule) == (max_take, rule));
        let points = of_variant.map(|solution| (solution.layers.into(), solution.census.loss_rate() * 100.0));
        chart = chart.line(Line::marked(variant_words(rule, max_take), points).shifted(beside(index)));
    }
    let published = (1..=LAYERS_MAX).filter_map(|layers| {
        let percent = published::rate(layers, Rule::Misere)?.percent.parse().ok()?;
        Some((layers.into(), percent))
    });
    let misere = variants.iter().position(|variant| *variant == (None, Rule::Misere)).map_or(0.0, beside);
    chart = chart.line(Line::rings("misère, published, as rounded", published).shifted(misere));
    Figure {
        kind: Kind::Losses,
        name: "figure-13".into(),
        title: LOSSES_TITLE.into(),
        svg: chart.draw(),
        json: object(
            &[("title", json!(LOSSES_TITLE)), ("source", json!("[SWLK12] figure 13")), ("note", json!(LOSSES_NOTE))],
            &[("rows", table.json_lines())],
        ),
        // Table 4-1 has it.
        table: table.without(PUBLISHED),
    }
}

fn describe_losses(solutions: &[Solution]) -> String {
    let rates = solutions
        .iter()
        .map(|solution| format!("{}: {:.2} %", solution.game().words(), solution.census.loss_rate() * 100.0));
    format!("Share of positions that the player to move loses. {}.", rates.collect::<Vec<_>>().join("; "))
}

/// Winning moves that are images of each other under the symmetries of the board.
#[derive(Serialize)]
struct Class {
    pieces: u32,
    images: u64,
    moves: Vec<Taken>,
}

#[derive(Serialize)]
struct Taken {
    cells: Vec<u32>,
    child: String,
}

fn winning_moves(solution: &Solution) -> Figure {
    let (game, board) = (solution.game(), &solution.board);
    let source = paper_figure(game);
    let title = format!("Winning first moves, {}", game.words());
    let classes = board.classes(&solution.winning);
    let child = |mask: u64| position::rows(board, board.full() ^ mask);
    let of_class = |(number, (_, members)): (u64, &(u64, Vec<u64>))| {
        let images = members.len() as u64;
        members.iter().map(move |mask| (number, images, *mask)).collect::<Vec<_>>()
    };
    let table = Table::new(
        (1..).zip(&classes).flat_map(of_class),
        &[
            ("class", "class", &|(number, ..)| Cell::count(*number)),
            ("images", "images", &|(_, images, _)| Cell::count(*images)),
            ("pieces taken", "pieces", &|(.., mask)| Cell::count(mask.count_ones())),
            ("cells taken", "cells", &|(.., mask)| Cell::word(named(*mask))),
            ("position after the move", "child", &|(.., mask)| Cell::word(child(*mask))),
        ],
    );
    let class = |(smallest, members): &(u64, Vec<u64>)| Class {
        pieces: smallest.count_ones(),
        images: members.len() as u64,
        moves: members.iter().map(|mask| Taken { cells: cells(*mask), child: child(*mask) }).collect(),
    };
    let json = object(
        &[
            ("title", json!(title)),
            ("source", json!(source)),
            ("layers", json!(game.layers)),
            ("rule", json!(game.rule)),
            ("max_take", json!(game.max_take)),
            ("start", json!(solution.census.start())),
            ("first_moves", json!(board.moves().len())),
            ("winning_first_moves", json!(solution.winning.len())),
        ],
        &[("classes", classes.iter().map(|one| line(&class(one))).collect())],
    );
    let svg = moves_sheet(solution, &title, source, &classes).draw();
    Figure { kind: Kind::Moves, name: format!("winning-moves-{}", game.file_part()), svg, table, json, title }
}

/// Names a move by the cells that it takes.
fn named(taken: u64) -> String {
    cells(taken).iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// Returns the figure of the paper that shows the winning moves of a game.
fn paper_figure(game: Variant) -> Option<&'static str> {
    match (game.max_take, game.layers, game.rule) {
        (None, 8, Rule::Normal) => Some("[SWLK12] figure 7"),
        (None, 8, Rule::Misere) => Some("[SWLK12] figure 8"),
        (None, 9, Rule::Normal) => Some("[SWLK12] figure 11"),
        (None, 9, Rule::Misere) => Some("[SWLK12] figure 12"),
        _ => None,
    }
}

fn moves_sheet<'a>(
    solution: &'a Solution,
    title: &str,
    source: Option<&str>,
    classes: &[(u64, Vec<u64>)],
) -> Sheet<'a> {
    let board: &Board = &solution.board;
    let (all, won) = (board.moves().len(), solution.winning.len());
    let of_all = if all == 1 { "the only move".to_owned() } else { format!("{won} of {all} moves") };
    let lead = match solution.census.start() {
        Value::Loss => format!(
            "The start is lost: {} leads to a win of the opponent.",
            if all == 1 { "the only move".to_owned() } else { format!("each of the {all} moves") }
        ),
        Value::Win => {
            let kinds = match classes.len() {
                _ if won == 1 => String::new(),
                1 => "; all are images of one under rotations and reflections".to_owned(),
                kinds => format!("; {kinds} up to rotations and reflections"),
            };
            format!("The start is won by {of_all}{kinds}.")
        }
    };
    // As the program prints them.
    let names = Names::new(board);
    let caption = |taken: u64, images: usize| {
        let alike = if images > 1 { format!(" ({images} alike)") } else { String::new() };
        format!("{}{alike}", names.write(board, taken))
    };
    let mut pictures: Vec<Picture> = classes
        .iter()
        .map(|(taken, images)| Picture {
            position: board.full(),
            taken: *taken,
            caption: caption(*taken, images.len()),
        })
        .collect();
    if pictures.is_empty() {
        pictures.push(Picture { position: board.full(), taken: 0, caption: "no winning move".to_owned() });
    }
    let listed: Vec<&str> = pictures.iter().map(|picture| picture.caption.as_str()).collect();
    let lead = match classes.is_empty() {
        true => lead,
        false => format!("{lead} Below each board: the cells taken, counted from 0 at the apex, row by row."),
    };
    let description = format!("{lead} {}.", listed.join("; "));
    let title = source.map_or(title.to_owned(), |source| format!("{title} ({source})"));
    Sheet { board, title, lead, description, pictures, words: MOVE_WORDS }
}

fn losses_by_pieces(solution: &Solution) -> Figure {
    let game = solution.game();
    let title = format!("Loss rate by number of pieces, {}", game.words());
    let rows = &solution.census.by_pieces;
    let rate = |row: &PieceCount| row.losses as f64 / row.positions as f64;
    let table = Table::new(
        rows,
        &[
            ("pieces", "pieces", &|row| Cell::count(row.pieces)),
            ("positions", "positions", &|row| Cell::count(row.positions)),
            ("losses", "losses", &|row| Cell::count(row.losses)),
            ("loss rate", "loss_rate", &|row| Cell::share(rate(row))),
        ],
    );
    let points = rows.iter().map(|row| (row.pieces.into(), rate(row) * 100.0));
    let all = solution.census.loss_rate() * 100.0;
    let last = f64::from(solution.board.cells());
    let chart = Chart::new(
        &*title,
        Axis::linear("pieces on the board"),
        Axis::log("P-positions / positions, %, logarithmic").including(1.0).including(100.0),
    )
    .describe(format!(
        "{} of {} positions are losses, {all:.4} %.",
        grouped(solution.census.losses()),
        grouped(solution.census.positions())
    ))
    .line(Line::marked("positions with that many pieces", points))
    .line(Line::plain(format!("all positions: {all:.2} %"), [(0.0, all), (last, all)]));
    charted(Kind::Pieces, "losses-by-pieces", game, title, &chart, table)
}

/// Wins and losses by the moves until the end: the values alternate with the distance.
fn positions_by_distance(solution: &Solution) -> Figure {
    let game = solution.game();
    let title = format!("Positions by distance to the end, {}", game.words());
    let rows = &solution.by_distance;
    let table = Table::new(
        rows,
        &[
            ("distance", "distance", &|row| Cell::count(row.distance)),
            ("wins", "wins", &|row| Cell::count(row.wins)),
            ("losses", "losses", &|row| Cell::count(row.losses)),
        ],
    );
    let points = |count: fn(&DistanceCount) -> u64| {
        let some = rows.iter().filter(move |row| count(row) > 0);
        some.map(move |row| (row.distance.into(), count(row) as f64)).collect::<Vec<_>>()
    };
    let farthest = rows.last().map_or(0, |row| row.distance);
    let chart = Chart::new(
        &*title,
        Axis::linear("moves until the end, if the winner hurries and the loser delays"),
        Axis::log("positions, logarithmic").including(1.0),
    )
    .describe(format!("No game lasts longer than {farthest} moves when both sides do their best."))
    .line(Line::marked("wins", points(|row| row.wins)))
    .line(Line::marked("losses", points(|row| row.losses)));
    charted(Kind::Distances, "positions-by-distance", game, title, &chart, table)
}

/// A chart of one board with its numbers.
fn charted(kind: Kind, name: &str, game: Variant, title: String, chart: &Chart, table: Table) -> Figure {
    let json = object(
        &[
            ("title", json!(title)),
            ("layers", json!(game.layers)),
            ("rule", json!(game.rule)),
            ("max_take", json!(game.max_take)),
        ],
        &[("rows", table.json_lines())],
    );
    Figure { kind, name: format!("{name}-{}", game.file_part()), svg: chart.draw(), table, json, title }
}
