//! `GET /v1/boards`: what is offered, with all that a drawing needs. `GET /v1/stats`: the counts of
//! a board, as `trinim stats --json` prints them.

use super::super::app::App;
use super::super::asked;
use super::super::offer::Offer;
use super::super::problem::Problem;
use super::super::query::Query;
use super::super::tag::Tag;
use super::answer::{json, of_json};
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use serde::Serialize;
use std::sync::Arc;
use trinim::database::Keep;
use trinim::game::Rule;
use trinim::game::position::{cells, rows};
use trinim::play::places::places;

#[derive(Serialize)]
struct Boards<'a> {
    boards: Vec<Offered<'a>>,
}

#[derive(Serialize)]
struct Offered<'a> {
    board: &'a str,
    rule: Rule,
    /// What is kept: all values, a book, or counts.
    keep: Keep,
    /// Most pieces of a position that is solved on the spot; none if all values are kept.
    spot_pieces: Option<u32>,
    max_take: Option<u32>,
    start: String,
    cells: Vec<CellPlace<'a>>,
    /// The cells of every move.
    moves: Vec<Vec<u32>>,
}

#[derive(Serialize)]
struct CellPlace<'a> {
    name: &'a str,
    x: f64,
    y: f64,
}

fn offered(offer: &Offer) -> Offered<'_> {
    let board = offer.answers.board();
    // Drawings need no more digits.
    let round = |length: f64| (length * 1e4).round() / 1e4;
    let named = offer.names.all().iter().zip(places(board));
    Offered {
        board: &offer.board,
        rule: offer.rule,
        keep: offer.keep,
        spot_pieces: offer.spot_pieces,
        max_take: board.max_take(),
        start: rows(board, board.full()),
        cells: named.map(|(name, place)| CellPlace { name, x: round(place.x), y: round(place.y) }).collect(),
        moves: board.moves().iter().map(|mask| cells(*mask)).collect(),
    }
}

/// Handles `/v1/boards`.
pub async fn boards(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    Query::read(uri.query(), &[])?;
    let tag = Tag::of(app.offers.all().iter().map(|offer| &**offer), &uri.to_string());
    if let Some(response) = tag.known(&headers) {
        return Ok(response);
    }
    let boards = Boards { boards: app.offers.all().iter().map(|offer| offered(offer)).collect() };
    let mut response = tag.on(of_json(json("trinim.boards/1", &boards)?));
    // What is offered changes with the next start.
    response.headers_mut().insert(axum::http::header::CACHE_CONTROL, axum::http::HeaderValue::from_static("no-cache"));
    Ok(response)
}

/// Handles `/v1/stats`.
pub async fn stats(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    let offer = asked::offer(&app, &Query::read(uri.query(), &asked::BOARD)?)?;
    let tag = Tag::of([&*offer], &uri.to_string());
    Ok(tag.known(&headers).unwrap_or_else(|| tag.on(of_json(offer.stats.clone()))))
}
