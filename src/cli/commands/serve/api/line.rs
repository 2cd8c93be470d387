//! `GET /v1/mainline`: the game when both sides do their best.

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
use std::time::{Duration, Instant};
use trinim::game::position::{cells, rows};
use trinim::game::{Rule, Value};
use trinim::play::line::main_line;

/// How long a line may take.
const TIME: Duration = Duration::from_secs(10);

#[derive(Serialize)]
struct Line<'a> {
    board: &'a str,
    rule: Rule,
    position: String,
    moves: Vec<Move>,
    /// The position after the last move.
    end: String,
    /// Whether that is the end of the game.
    complete: bool,
}

#[derive(Serialize)]
struct Move {
    /// The position before the move, and its value.
    position: String,
    value: Value,
    cells: Vec<u32>,
    name: String,
}

fn line(offer: &Offer, position: u64) -> Result<(String, bool), Problem> {
    let (board, begin) = (offer.answers.board(), Instant::now());
    let mut stopped = false;
    let line = main_line(&*offer.answers, position, || {
        stopped = begin.elapsed() > TIME;
        stopped
    })?;
    let moves = line.steps.iter().map(|step| Move {
        position: rows(board, step.position),
        value: step.value,
        cells: cells(step.taken),
        name: offer.names.write(board, step.taken),
    });
    let line = Line {
        board: &offer.board,
        rule: offer.rule,
        position: rows(board, position),
        moves: moves.collect(),
        end: rows(board, line.end),
        complete: line.complete,
    };
    Ok((json("trinim.mainline/1", &line)?, stopped))
}

/// Handles the path.
pub async fn mainline(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    let query = Query::read(uri.query(), &["board", "rule", "p"])?;
    let (offer, position) = asked::position(&app, &query)?;
    let tag = Tag::of([&*offer], &uri.to_string());
    if let Some(response) = tag.known(&headers) {
        return Ok(response);
    }
    let (body, stopped) = app.work(move || line(&offer, position)).await?;
    // A line that was cut off may be longer next time.
    Ok(if stopped { of_json(body) } else { tag.on(of_json(body)) })
}
