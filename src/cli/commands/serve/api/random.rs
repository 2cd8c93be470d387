//! `GET /v1/random`: a random position with its value and all its moves.
//!
//! The number of pieces is drawn first, if it is not given: most positions have about half the
//! cells filled, and a book knows only full ones.

use super::super::app::App;
use super::super::asked;
use super::super::offer::Offer;
use super::super::problem::Problem;
use super::super::query::Query;
use super::super::tag::Tag;
use super::answer::of_json;
use super::position;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use trinim::game::Value;
use trinim::play::answers::known;
use trinim::random::Random;

/// Positions that are drawn until one fits.
const DRAWS: u32 = 2000;

/// How long that may take: positions may have to be solved.
const DRAW_TIME: Duration = Duration::from_secs(5);

/// What a position has to be like.
#[derive(Clone, Copy)]
struct Wanted {
    pieces: Option<u32>,
    value: Option<Value>,
}

fn draw(offer: &Offer, wanted: Wanted, seed: u64) -> Result<String, Problem> {
    let cells = offer.answers.board().cells();
    let mut random = Random::new(seed);
    let begun = Instant::now();
    for _ in 0..DRAWS {
        if begun.elapsed() > DRAW_TIME {
            break;
        }
        let pieces = wanted.pieces.unwrap_or_else(|| random.below(u64::from(cells) + 1) as u32);
        let mut order: Vec<u32> = (0..cells).collect();
        random.shuffle(&mut order);
        let drawn = order[..pieces as usize].iter().fold(0, |drawn, cell| drawn | 1u64 << cell);
        let value = known(offer.answers.value(drawn))?;
        if value.is_some() && wanted.value.is_none_or(|wanted| value == Some(wanted)) {
            return position::answer(offer, drawn);
        }
    }
    Err(Problem::missing("no position drawn is like that and known"))
}

/// Handles the path.
pub async fn random(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    let query = Query::read(uri.query(), &["board", "rule", "pieces", "value", "seed"])?;
    let offer = asked::offer(&app, &query)?;
    let cells = offer.answers.board().cells();
    let pieces: Option<u32> = query.parsed("pieces", "a number of pieces")?;
    if pieces.is_some_and(|pieces| pieces > cells) {
        return Err(Problem::request(format!("pieces: expected 0 to {cells}")));
    }
    let value = match query.optional("value") {
        None => None,
        Some("win") => Some(Value::Win),
        Some("loss") => Some(Value::Loss),
        Some(_) => return Err(Problem::request("value: expected win or loss")),
    };
    let given: Option<u64> = query.parsed("seed", "a whole number")?;
    let tag = given.map(|_| Tag::of([&*offer], &uri.to_string()));
    if let Some(response) = tag.as_ref().and_then(|tag| tag.known(&headers)) {
        return Ok(response);
    }
    app.metrics.positions.fetch_add(1, Ordering::Relaxed);
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let seed = given.unwrap_or_else(now);
    let body = app.work(move || draw(&offer, Wanted { pieces, value }, seed)).await?;
    // Without a seed, every answer is another one.
    Ok(tag.map_or_else(|| of_json(body.clone()), |tag| tag.on(of_json(body.clone()))))
}
