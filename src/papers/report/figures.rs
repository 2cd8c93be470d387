//! The figures: losses against layers, winning first moves, losses by pieces, positions by
//! distance. Each is a picture with its numbers.

use super::{Solution, Variant, variant_words};
use crate::draw::board_picture::{Picture, Sheet};
use crate::draw::chart::{Chart, Line, Look};
use crate::draw::svg::Svg;
use trinim::database::DistanceCount;
use trinim::database::census::PieceCount;
use trinim::play::Names;
use trinim_game::amount::grouped;
use trinim_game::position::{self, cells};
use trinim_game::published;
use trinim_game::{Board, LAYERS_MAX, Rule, Value};
use trinim_papers::table::csv;

/// Distance of the marks of two variants at the same number of layers, in pixels, so that a ring
/// around one does not touch the other.
const APART: f64 = 13.0;

pub(super) struct Figure {
    /// The section that begins with it.
    pub heading: Option<String>,
    /// The name of its files, without the extension.
    pub name: String,
    pub title: String,
    pub svg: Svg,
    /// The numbers that it shows, if it needs a solved board.
    pub csv: Option<String>,
}

/// Returns all figures: one of all boards, then those of each board.
pub(super) fn figures(solutions: &[Solution]) -> Vec<Figure> {
    // A board of one or two layers has too few points for a curve.
    let by_pieces = |solution: &Solution| (solution.game.layers >= 3).then(|| losses_by_pieces(solution));
    let boards = solutions.iter().flat_map(|solution| {
        [Some(winning_moves(solution)), by_pieces(solution), positions_by_distance(solution)].into_iter().flatten()
    });
    std::iter::once(losses(solutions)).chain(boards).collect()
}

/// The reason why the axis differs from the caption of the paper.
const LOSSES_NOTE: &str = "\
    The caption of [SWLK12] figure 13 says P-positions to N-positions; its text defines the loss ratio as \
    losses to all positions, and the published percentages (7.3 at seven layers, 6.0 at eight) are that. \
    The other ratio is in the data, as losses_per_win.";

fn losses(solutions: &[Solution]) -> Figure {
    let row = |solution: &Solution| {
        let (Variant { max_take, rule, layers }, census) = (solution.game, solution.census());
        vec![
            layers.to_string(),
            rule.name().to_owned(),
            max_take.map_or("-".to_owned(), |take| take.to_string()),
            census.positions().to_string(),
            census.wins().to_string(),
            census.losses().to_string(),
            format!("{:.8}", census.loss_rate()),
            format!("{:.8}", census.losses() as f64 / census.wins() as f64),
        ]
    };
    let heads = "layers,rule,max_take,positions,wins,losses,losses_per_position,losses_per_win";
    let kind = |solution: &Solution| (solution.game.max_take, solution.game.rule);
    let variants: Vec<&[Solution]> = solutions.chunk_by(|one, next| kind(one) == kind(next)).collect();
    // The rates of the rules are equal or nearly so for most boards.
    let apart = APART.min(4.0 * APART / variants.len() as f64);
    let beside = |index: usize| (index as f64 - (variants.len() as f64 - 1.0) / 2.0) * apart;
    let mut notes = vec![LOSSES_NOTE];
    if variants.len() > 1 {
        notes.push("Marks for the same number of layers stand side by side.");
    }
    let of_variant = |(index, found): (usize, &&[Solution])| {
        let (max_take, rule) = kind(&found[0]);
        let point = |solution: &Solution| (solution.game.layers.into(), solution.census().loss_rate() * 100.0);
        let points = found.iter().map(point).collect();
        Line { name: variant_words(rule, max_take), points, look: Look::Marked, shift: beside(index) }
    };
    let mut lines: Vec<Line> = variants.iter().enumerate().map(of_variant).collect();
    let published = (1..=LAYERS_MAX).filter_map(|layers| {
        let percent = published::rate(layers, Rule::Misere)?.percent.parse().ok()?;
        Some((layers.into(), percent))
    });
    let published = line("misère, published, as rounded", published.collect());
    let shift = variants.iter().position(|found| kind(&found[0]) == (None, Rule::Misere)).map_or(0.0, beside);
    lines.push(Line { look: Look::Rings, shift, ..published });
    let rate = |one: &Solution| format!("{}: {:.2} %", one.game.words(), one.census().loss_rate() * 100.0);
    let rates = solutions.iter().map(rate).collect::<Vec<_>>().join("; ");
    let chart = Chart {
        title: "Figure 13: losses among all positions, by layers".to_owned(),
        description: format!("Share of positions that the player to move loses. {rates}."),
        notes,
        labels: ["layers of the board, k", "P-positions / all positions, %, logarithmic"],
        included: &[],
        lines,
    };
    let csv = csv(heads, &solutions.iter().map(row).collect::<Vec<_>>());
    Figure { heading: Some("All boards".to_owned()), ..charted("figure-13".to_owned(), chart, csv) }
}

fn winning_moves(solution: &Solution) -> Figure {
    let (game, board) = (solution.game, &solution.board);
    let title = format!("Winning first moves, {}", game.words());
    // Winning moves that are images of each other under the symmetries of the board form a class.
    let classes = board.classes(&solution.winning);
    let of_class = |(number, (_, members)): (u64, &(u64, Vec<u64>))| {
        let row = move |mask: &u64| {
            let taken = cells(*mask).iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            let child = position::rows(board, board.full() ^ mask);
            vec![number.to_string(), members.len().to_string(), mask.count_ones().to_string(), taken, child]
        };
        members.iter().map(row).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = (1..).zip(&classes).flat_map(of_class).collect();
    Figure {
        heading: Some(game.words()),
        name: format!("winning-moves-{}", game.file_part()),
        svg: moves_sheet(solution, &title, &classes).draw(),
        csv: Some(csv("class,images,pieces,cells,child", &rows)),
        title,
    }
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

fn moves_sheet<'a>(solution: &'a Solution, title: &str, classes: &[(u64, Vec<u64>)]) -> Sheet<'a> {
    let board: &Board = &solution.board;
    let (all, won) = (board.moves().len(), solution.winning.len());
    let moves = |several: String| if all == 1 { "the only move".to_owned() } else { several };
    let lead = match solution.census().start() {
        Value::Loss => {
            let all = moves(format!("each of the {all} moves"));
            format!("The start is lost: {all} leads to a win of the opponent.")
        }
        Value::Win => {
            let kinds = match classes.len() {
                _ if won == 1 => String::new(),
                1 => "; all are images of one under rotations and reflections".to_owned(),
                kinds => format!("; {kinds} up to rotations and reflections"),
            };
            format!("The start is won by {}{kinds}.", moves(format!("{won} of {all} moves")))
        }
    };
    let names = Names::new(board);
    let picture = |(taken, images): &(u64, Vec<u64>)| {
        let alike = if images.len() > 1 { format!(" ({} alike)", images.len()) } else { String::new() };
        Picture { position: board.full(), taken: *taken, caption: format!("{}{alike}", names.write(board, *taken)) }
    };
    let (lead, pictures) = match classes {
        [] => (lead, vec![Picture { position: board.full(), taken: 0, caption: "no winning move".to_owned() }]),
        _ => {
            let below = "Below each board: the first and last cell taken, by letter of the row and number in it.";
            (format!("{lead} {below}"), classes.iter().map(picture).collect())
        }
    };
    let listed: Vec<&str> = pictures.iter().map(|picture| picture.caption.as_str()).collect();
    let description = format!("{lead} {}.", listed.join("; "));
    let title = paper_figure(solution.game).map_or(title.to_owned(), |source| format!("{title} ({source})"));
    let words = ["piece", "taken by the move", "empty cell"];
    Sheet { board, title, lead, description, pictures, words }
}

fn losses_by_pieces(solution: &Solution) -> Figure {
    let census = solution.census();
    let rows = &census.by_pieces;
    let rate = |row: &PieceCount| row.losses as f64 / row.positions as f64;
    let fields = |row: &PieceCount| {
        let share = format!("{:.8}", rate(row));
        vec![row.pieces.to_string(), row.positions.to_string(), row.losses.to_string(), share]
    };
    let all = census.loss_rate() * 100.0;
    let [losses, positions] = [census.losses(), census.positions()].map(grouped);
    let last = f64::from(solution.board.cells());
    let points = rows.iter().map(|row| (row.pieces.into(), rate(row) * 100.0)).collect();
    let level = vec![(0.0, all), (last, all)];
    let chart = Chart {
        title: format!("Loss rate by number of pieces, {}", solution.game.words()),
        description: format!("{losses} of {positions} positions are losses, {all:.4} %."),
        notes: Vec::new(),
        labels: ["pieces on the board", "P-positions / positions, %, logarithmic"],
        included: &[1.0, 100.0],
        lines: vec![
            line("positions with that many pieces", points),
            Line { look: Look::Plain, ..line(format!("all positions: {all:.2} %"), level) },
        ],
    };
    let csv = csv("pieces,positions,losses,loss_rate", &rows.iter().map(fields).collect::<Vec<_>>());
    charted(format!("losses-by-pieces-{}", solution.game.file_part()), chart, csv)
}

/// Wins and losses by the moves until the end, if they are known: the values alternate with the
/// distance.
fn positions_by_distance(solution: &Solution) -> Option<Figure> {
    let rows = solution.manifest.by_distance.as_ref()?;
    let fields = |row: &DistanceCount| vec![row.distance.to_string(), row.wins.to_string(), row.losses.to_string()];
    let points = |count: fn(&DistanceCount) -> u64| {
        let some = rows.iter().filter(move |row| count(row) > 0);
        some.map(move |row| (row.distance.into(), count(row) as f64)).collect::<Vec<_>>()
    };
    let farthest = rows.last().map_or(0, |row| row.distance);
    let chart = Chart {
        title: format!("Positions by distance to the end, {}", solution.game.words()),
        description: format!("No game lasts longer than {farthest} moves when both sides do their best."),
        notes: Vec::new(),
        labels: ["moves until the end, if the winner hurries and the loser delays", "positions, logarithmic"],
        included: &[1.0],
        lines: vec![line("wins", points(|row| row.wins)), line("losses", points(|row| row.losses))],
    };
    let csv = csv("distance,wins,losses", &rows.iter().map(fields).collect::<Vec<_>>());
    Some(charted(format!("positions-by-distance-{}", solution.game.file_part()), chart, csv))
}

fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
    Line { name: name.into(), points, look: Look::Marked, shift: 0.0 }
}

/// A chart with its numbers.
fn charted(name: String, chart: Chart, csv: String) -> Figure {
    Figure { heading: None, name, svg: chart.draw(), csv: Some(csv), title: chart.title }
}
