//! `POST /v1/positions`: many positions at once, one a line, one answer a line.
//!
//! # Invariants
//! 1. Answers are aligned with the lines that are not empty. A line has an error as its answer if
//!    it is not a position, if its value is not known, or if the time is over.
//! 2. Memory holds at most a few chunks of answers: the client sets the pace.

use crate::api;
use crate::app::App;
use crate::offer::Offer;
use crate::reply::{Failure, Problem, tagged, typed};
use crate::request::{BOARD, Query, read};
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use hyper::body::{Body as HttpBody, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::timeout;
use trinim::game::text::bare;

/// Longest body, in bytes.
pub const BODY_BYTES: usize = 1 << 20;
/// The most positions of a request.
pub const POSITIONS: usize = 10_000;
/// Time limit for the body.
const BODY_TIME: Duration = Duration::from_secs(20);
/// Time limit for the answers.
pub const ANSWER_TIME: Duration = Duration::from_secs(30);
/// Positions that are answered as one job.
const CHUNK: usize = 32;
/// Number of chunks that wait for the client.
const WAITING: usize = 2;

/// Chunks of an answer on their way.
struct Chunks(Receiver<Bytes>);

impl HttpBody for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|chunk| chunk.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Content types of text other than `text/..`, which curl and generated clients use.
const TEXTS: [&str; 5] = [
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/x-www-form-urlencoded",
    "application/octet-stream",
];

/// Returns whether the content type of a body is text or missing.
fn is_text(headers: &HeaderMap) -> bool {
    let named = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?").to_ascii_lowercase());
    let kind = named(header::CONTENT_TYPE).unwrap_or_default();
    let (kind, parameters) = kind.split_once(';').unwrap_or((&kind, ""));
    let mut charsets = parameters.split(';').filter_map(|one| one.trim().strip_prefix("charset="));
    (kind.is_empty() || kind.starts_with("text/") || TEXTS.contains(&kind.trim()))
        && charsets.all(|charset| ["utf-8", "us-ascii"].contains(&charset.trim_matches('"')))
        && named(header::CONTENT_ENCODING).is_none_or(|coding| coding == "identity")
}

/// Reads the body within its limits.
async fn body(request: Request) -> Result<String, Problem> {
    let foreign = |detail| Problem::with(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail);
    if !is_text(request.headers()) {
        return Err(foreign("the body is not text: expected text/plain in UTF-8, one position per line"));
    }
    let too_large = || {
        let limit = format!("the body is longer than {BODY_BYTES} bytes");
        Problem::with(StatusCode::PAYLOAD_TOO_LARGE, limit)
    };
    let length =
        request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > BODY_BYTES as u64) {
        return Err(too_large());
    }
    let read = timeout(BODY_TIME, to_bytes(request.into_body(), BODY_BYTES)).await;
    let late = |_| Problem::with(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time");
    // The only other error is a client that hangs up, and does not see this answer.
    let bytes = read.map_err(late)?.map_err(|_| too_large())?;
    String::from_utf8(bytes.into()).map_err(|_| foreign("the body is not UTF-8"))
}

/// Returns the position in a line: the line itself, or a JSON string.
fn unquoted(line: &str) -> String {
    let line = bare(line);
    let quoted = line.starts_with('"').then(|| serde_json::from_str(line).ok()).flatten();
    quoted.unwrap_or_else(|| line.to_owned())
}

/// Handles the path.
pub async fn positions(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let offer = Query::read(request.uri().query(), &BOARD)?.offer(&app)?;
    let text = body(request).await?;
    let lines: Vec<String> = text.lines().map(unquoted).filter(|line| !line.is_empty()).collect();
    if lines.len() > POSITIONS {
        let message = format!("{} positions: at most {POSITIONS} in one request", lines.len());
        return Err(Problem::with(StatusCode::PAYLOAD_TOO_LARGE, message));
    }
    app.metrics.positions.fetch_add(lines.len() as u64, Ordering::Relaxed);
    let chunks = answer_until(Instant::now() + ANSWER_TIME, app, offer, lines);
    Ok(typed("application/x-ndjson", Body::new(Chunks(chunks))))
}

/// Answers lines, a chunk at a time; lines that begin after `end` get an error.
pub fn answer_until(end: Instant, app: Arc<App>, offer: Arc<Offer>, lines: Vec<String>) -> Receiver<Bytes> {
    let (sender, receiver) = channel(WAITING);
    tokio::spawn(async move {
        for chunk in lines.chunks(CHUNK) {
            let (job_offer, job_lines) = (offer.clone(), chunk.to_vec());
            let answered = match Instant::now() < end {
                true => app.work(move || Ok(answers(&job_offer, &job_lines))).await,
                false => Err(Problem::with(StatusCode::SERVICE_UNAVAILABLE, "this request took too long")),
            };
            let bytes = answered.unwrap_or_else(|problem| refused(chunk, &problem));
            debug_assert_eq!(bytes.lines().count(), chunk.len(), "batch, invariant 1: an answer for each line");
            // The client may have hung up.
            if sender.send(bytes.into()).await.is_err() {
                return;
            }
        }
    });
    receiver
}

/// Answers the lines of a chunk.
fn answers(offer: &Offer, lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines {
        match read(offer, line).and_then(|position| api::position_of(&*offer.answers, position)) {
            Ok(answer) => {
                text.push_str(&answer);
                text.push('\n');
            }
            Err(problem) => text.push_str(&refused(std::slice::from_ref(line), &problem)),
        }
    }
    text
}

/// Answers each line with an error.
fn refused(lines: &[String], problem: &Problem) -> String {
    let failure = |line: &String| {
        let position: String = line.chars().take(200).collect();
        tagged("trinim.position/1", &Failure { position: &position, error: problem.detail() })
    };
    let answers: Vec<String> = lines.iter().filter_map(|line| failure(line).ok()).map(|line| line + "\n").collect();
    assert_eq!(answers.len(), lines.len(), "batch, invariant 1: an error is always serialised");
    answers.concat()
}
