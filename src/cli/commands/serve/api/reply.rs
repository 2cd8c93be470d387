//! `GET /v1/reply`: the move that the program plays.

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
use trinim::game::position::{cells, rows};
use trinim::game::{Rule, Value};
use trinim::play::answers::known;
use trinim::play::{Level, level};

#[derive(Serialize)]
struct Reply<'a> {
    board: &'a str,
    rule: Rule,
    position: String,
    level: Level,
    seed: u64,
    /// None if no move is left.
    r#move: Option<Move>,
}

#[derive(Serialize)]
struct Move {
    cells: Vec<u32>,
    name: String,
    child: String,
    /// None if it is not known.
    value: Option<Value>,
}

fn chosen(offer: &Offer, position: u64, level: Level, seed: u64) -> Result<String, Problem> {
    let answers = &*offer.answers;
    let board = answers.board();
    let taken = level::choose(answers, position, level, seed)?;
    let step = |taken| -> Result<Move, Problem> {
        Ok(Move {
            cells: cells(taken),
            name: offer.names.write(board, taken),
            child: rows(board, position ^ taken),
            value: known(answers.value(position ^ taken))?,
        })
    };
    let r#move = taken.map(step).transpose()?;
    let position = rows(board, position);
    json("trinim.reply/1", &Reply { board: &offer.board, rule: offer.rule, position, level, seed, r#move })
}

/// Handles the path.
pub async fn reply(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    let query = Query::read(uri.query(), &["board", "rule", "p", "level", "seed"])?;
    let (offer, position) = asked::position(&app, &query)?;
    let level = query.parsed("level", "perfect, club or beginner")?.unwrap_or_default();
    let seed = query.parsed("seed", "a whole number")?.unwrap_or(1);
    let tag = Tag::of([&*offer], &uri.to_string());
    if let Some(response) = tag.known(&headers) {
        return Ok(response);
    }
    let body = app.work(move || chosen(&offer, position, level, seed)).await?;
    Ok(tag.on(of_json(body)))
}
