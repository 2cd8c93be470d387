//! `GET /v1/position`: a position with its value and all its moves.

use super::super::app::App;
use super::super::asked;
use super::super::offer::Offer;
use super::super::problem::Problem;
use super::super::query::Query;
use super::super::tag::Tag;
use super::answer::{json, of_json};
use crate::cli::commands::probe::{self, Answer};
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use trinim::game::position::rows;
use trinim::game::{Board, Rule};

/// The answer: what `probe --json` prints, and more.
#[derive(Serialize)]
struct Position<'a> {
    board: &'a str,
    rule: Rule,
    #[serde(flatten)]
    answer: Answer,
    canonical: String,
}

/// Returns the smallest image of a position under the symmetries of the board.
pub fn canonical(board: &Board, position: u64) -> u64 {
    board.symmetries().iter().map(|symmetry| symmetry.apply(position)).min().unwrap_or(position)
}

/// Answers a position as JSON.
///
/// # Errors
/// [`Problem`] if the value is not known.
pub fn answer(offer: &Offer, position: u64) -> Result<String, Problem> {
    let board = offer.answers.board();
    let answer = probe::answer(board, &offer.answers.probe(position)?);
    let canonical = rows(board, canonical(board, position));
    json("trinim.position/1", &Position { board: &offer.board, rule: offer.rule, answer, canonical })
}

/// Handles the path.
pub async fn position(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    let query = Query::read(uri.query(), &["board", "rule", "p"])?;
    let (offer, position) = asked::position(&app, &query)?;
    app.metrics.positions.fetch_add(1, Ordering::Relaxed);
    let tag = Tag::of([&*offer], &uri.to_string());
    if let Some(response) = tag.known(&headers) {
        return Ok(response);
    }
    let body = app.work(move || answer(&offer, position)).await?;
    Ok(tag.on(of_json(body)))
}
