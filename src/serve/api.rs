//! The paths with a single answer, which `openapi.json` describes, and the page: a few files that
//! are part of the program and load nothing from elsewhere.

use crate::answer::{BoardReport, Boards, Position, Reply};
use crate::app::App;
use crate::draw::draw;
use crate::line::Line;
use crate::offer::Offer;
use crate::reply::{Body, Failure, Problem, Solving, Tag, json_answer, tagged, typed};
use crate::request::{ApiRequest, BOARD};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use schemars::JsonSchema;
use serde_json::json;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use terminal::schema;
use trinim::cli::stats;
use trinim::game::Value;
use trinim::play::Answers;

/// Time limit for a line.
const LINE_TIME: Duration = Duration::from_secs(10);
/// Time limit for a draw: positions may have to be solved.
const DRAW_TIME: Duration = Duration::from_secs(5);
/// The description of the paths, without the schemas of the answers.
const PATHS: &str = include_str!("openapi.json");

/// The description of the paths, which a test compares with the answers.
static OPENAPI: LazyLock<String> = LazyLock::new(|| {
    let mut description: serde_json::Value = serde_json::from_str(PATHS).unwrap_or_default();
    let position = "trinim.position/1";
    description["components"]["schemas"] = json!({
        "Position": schema::named(position, Position::json_schema),
        "Solving": schema::named("trinim.solving/1", Solving::json_schema),
        "Failure": schema::named(position, Failure::json_schema),
        "Boards": schema::named("trinim.boards/1", Boards::json_schema),
        "MainLine": schema::named("trinim.mainline/1", Line::json_schema),
        "Reply": schema::named("trinim.reply/1", Reply::json_schema),
        "Stats": schema::named("trinim.stats/1", stats::Report::json_schema),
        "Problem": schema::plain(Body::json_schema),
    });
    format!("{description:#}\n")
});

/// Answers a position as JSON.
///
/// # Errors
/// [`Problem`] if the value is not known.
pub fn position_of(answers: &dyn Answers, position: u64) -> Result<String, Problem> {
    tagged("trinim.position/1", &Position::probe(answers, position)?)
}

/// `GET /v1/position`: a position with its value and all its moves.
pub async fn position(request: ApiRequest) -> Result<Response, Problem> {
    let (offer, position) = request.query(&["board", "rule", "p"])?.position(&request.app)?;
    request.app.metrics.positions.fetch_add(1, Ordering::Relaxed);
    let (deep, source, may_solve) = (request.app.deep.clone(), offer.clone(), request.may_solve);
    let found = move |offer: &Offer| match deep.answers(&source, position, may_solve) {
        // What is stored can lack moves that a solve adds, so it has no tag.
        Err(problem) if !may_solve => Ok((position_of(&*offer.answers, position).map_err(|_| problem)?, false)),
        answers => Ok((position_of(&*answers?, position)?, true)),
    };
    request.answer(&offer, true, found).await
}

/// `GET /v1/mainline`: the game in which both sides play their best.
pub async fn mainline(request: ApiRequest) -> Result<Response, Problem> {
    let (offer, position) = request.query(&["board", "rule", "p"])?.position(&request.app)?;
    request.answer(&offer, true, move |offer| line_within(LINE_TIME, offer, position)).await
}

/// Follows a line up to a time limit; returns it as JSON, and whether the next answer is the same.
pub fn line_within(most: Duration, offer: &Offer, position: u64) -> Result<(String, bool), Problem> {
    let (begin, mut stopped) = (Instant::now(), false);
    let line = Line::follow(&*offer.answers, position, || {
        stopped = begin.elapsed() >= most;
        stopped
    })?;
    // A line that was cut off can be longer next time.
    Ok((tagged("trinim.mainline/1", &line)?, !stopped))
}

/// `GET /v1/reply`: the move that the program plays.
pub async fn reply(request: ApiRequest) -> Result<Response, Problem> {
    let query = request.query(&["board", "rule", "p", "level", "seed"])?;
    let (offer, position) = query.position(&request.app)?;
    let level = query.parsed("level", "perfect, club or beginner")?.unwrap_or_default();
    let seed = query.seed()?.unwrap_or(1);
    let (deep, source, may_solve) = (request.app.deep.clone(), offer.clone(), request.may_solve);
    let reply = move |_: &Offer| {
        let answers = deep.answers(&source, position, may_solve)?;
        Ok((tagged("trinim.reply/1", &Reply::choose(&*answers, position, level, seed)?)?, true))
    };
    request.answer(&offer, true, reply).await
}

/// `GET /v1/random`: a random position with its value and all its moves.
pub async fn random(request: ApiRequest) -> Result<Response, Problem> {
    let query = request.query(&["board", "rule", "pieces", "value", "wins", "seed"])?;
    let offer = query.offer(&request.app)?;
    let cells = offer.answers.board().cells();
    let pieces: Option<u32> = query.parsed("pieces", "a number of pieces")?;
    if let Some(pieces) = pieces.filter(|pieces| *pieces > cells) {
        return Err(Problem::missing(format!("pieces: no position has {pieces} of {cells}")));
    }
    let value = match query.optional("value") {
        None => None,
        Some("win") => Some(Value::Win),
        Some("loss") => Some(Value::Loss),
        Some(_) => return Err(Problem::request("value: expected win or loss")),
    };
    let wins: Option<usize> = query.parsed("wins", "a number of winning moves")?;
    let given: Option<u64> = query.seed()?;
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let (seed, app) = (given.unwrap_or_else(now), request.app.clone());
    let drawn = move |offer: &Offer| {
        app.metrics.positions.fetch_add(1, Ordering::Relaxed);
        let begun = Instant::now();
        let drawn = draw(&*offer.answers, pieces, value, wins, seed, || begun.elapsed() > DRAW_TIME)?;
        let drawn = drawn.ok_or_else(|| Problem::missing("found no such position with a known value"))?;
        Ok((position_of(&*offer.answers, drawn)?, true))
    };
    // Without a seed, every answer is different.
    request.answer(&offer, given.is_some(), drawn).await
}

/// `GET /v1/boards`: the offered boards, with everything that a drawing needs.
pub async fn boards(request: ApiRequest) -> Result<Response, Problem> {
    request.query(&[])?;
    let tag = Tag::new(request.app.offers.all().iter().map(|offer| &*offer.identity), &request.uri.to_string());
    let offered = |offer: &Arc<Offer>| BoardReport::new(&*offer.answers, offer.keep, offer.spot_pieces);
    if let Some(response) = tag.not_modified(&request.headers) {
        return Ok(response);
    }
    let boards = Boards { boards: request.app.offers.all().iter().map(offered).collect() };
    Ok(tag.on(json_answer(tagged("trinim.boards/1", &boards)?)))
}

/// `GET /v1/stats`: the counts of a board, as `trinim stats --json` prints them.
pub async fn stats(request: ApiRequest) -> Result<Response, Problem> {
    let offer = request.query(&BOARD)?.offer(&request.app)?;
    let tag = Tag::new([&*offer.identity], &request.uri.to_string());
    Ok(tag.not_modified(&request.headers).unwrap_or_else(|| tag.on(json_answer(offer.stats.clone()))))
}

/// `GET /v1/openapi.json`.
pub async fn openapi(headers: HeaderMap) -> Response {
    let tag = Tag::from_text(&OPENAPI);
    tag.not_modified(&headers).unwrap_or_else(|| tag.on(json_answer(OPENAPI.clone())))
}

/// `GET /healthz`: the server accepts requests, and its databases are readable.
pub async fn healthz(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let broken = app.health.broken(app.offers.watched()).await;
    if !broken.is_empty() {
        let detail = format!("the database cannot be read, or is damaged: {}", broken.join(", "));
        return Err(Problem::with(StatusCode::SERVICE_UNAVAILABLE, detail));
    }
    Ok(typed("text/plain; charset=utf-8", "ok\n"))
}

/// `GET /metrics`.
pub async fn metrics(State(app): State<Arc<App>>) -> Response {
    typed("text/plain; version=0.0.4; charset=utf-8", app.metrics.text())
}

/// A file of the page.
pub struct File {
    /// Where it is served.
    pub path: &'static str,
    content_type: &'static str,
    text: &'static str,
}

macro_rules! file {
    ($path:literal, $name:literal, $content_type:literal) => {
        File { path: $path, content_type: $content_type, text: include_str!(concat!("page/", $name)) }
    };
}

/// All files.
pub static FILES: [File; 11] = [
    file!("/", "index.html", "text/html; charset=utf-8"),
    file!("/page.css", "page.css", "text/css; charset=utf-8"),
    file!("/page.js", "page.js", "text/javascript; charset=utf-8"),
    file!("/game.js", "game.js", "text/javascript; charset=utf-8"),
    file!("/board.js", "board.js", "text/javascript; charset=utf-8"),
    file!("/table.js", "table.js", "text/javascript; charset=utf-8"),
    file!("/story.js", "story.js", "text/javascript; charset=utf-8"),
    file!("/puzzle.js", "puzzle.js", "text/javascript; charset=utf-8"),
    file!("/stats.js", "stats.js", "text/javascript; charset=utf-8"),
    file!("/share.js", "share.js", "text/javascript; charset=utf-8"),
    file!("/icon.svg", "icon.svg", "image/svg+xml"),
];

/// The page loads only its own files, and no other page can show it in a frame.
const POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");

impl File {
    /// Answers a request for this file.
    pub fn answer(&self, headers: &HeaderMap) -> Response {
        let tag = Tag::from_text(self.text);
        let mut response = tag.not_modified(headers).unwrap_or_else(|| tag.on(self.text));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        // Browsers ask for the icon whenever the address changes, which is at every move.
        if self.path == "/icon.svg" {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=86400"));
        }
        headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
        // `origin.rs` recognises the page by the referrer.
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        response
    }
}
