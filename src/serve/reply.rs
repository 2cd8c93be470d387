//! Answers and errors in HTTP.
//!
//! The tag of an answer depends on the request and on the identity of the offers that answer it.
//! Errors are `application/problem+json` (RFC 9457).

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::{Duration, Instant};
use terminal::exit::reason;
use terminal::output::note;
use terminal::schema;
use trinim::play::AnswerError;

/// Shortest time between two reports of server errors.
const MOMENT: Duration = Duration::from_secs(1);

/// Time of the last report.
static REPORTED: Mutex<Option<Instant>> = Mutex::new(None);

/// Prints an error that clients see as status 500, unless one was printed a moment ago.
pub fn report(error: impl Into<anyhow::Error>) {
    let mut reported = REPORTED.lock();
    if reported.is_none_or(|at| at.elapsed() >= MOMENT) {
        *reported = Some(Instant::now());
        note(format_args!("error: {}", reason(&error.into())));
    }
}

/// Serialises an answer after the name of its schema.
///
/// # Errors
/// [`Problem`] if it cannot be serialised, which does not happen.
pub fn tagged(schema: &str, answer: &impl Serialize) -> Result<String, Problem> {
    schema::tagged(schema, answer).map_err(|error| Problem::with(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

/// Turns text into an answer.
pub fn typed(content_type: &'static str, text: impl IntoResponse) -> Response {
    let mut response = text.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Turns JSON into an answer.
pub fn json_answer(text: String) -> Response {
    typed("application/json", text)
}

/// A stored answer must be revalidated before it is used: after a restart, another board can have
/// this name.
const CACHED: HeaderValue = HeaderValue::from_static("no-cache");

/// The tag of an answer, made from the request and the identity of its offers.
pub struct Tag(HeaderValue);

impl Tag {
    /// Returns the tag of the answer to a request for `path`, with its query, from the offers with
    /// these identities.
    pub fn new<'a>(identities: impl IntoIterator<Item = &'a str>, path: &str) -> Tag {
        let mut hasher = blake3::Hasher::new();
        hasher.update(path.as_bytes());
        for identity in identities {
            hasher.update(b"\n").update(identity.as_bytes());
        }
        Tag::named(&hasher.finalize().to_hex()[..24])
    }

    /// Returns the tag of a text that is part of the program.
    pub fn from_text(text: &str) -> Tag {
        Tag::named(&blake3::hash(text.as_bytes()).to_hex()[..24])
    }

    /// Returns a tag made of hexadecimal digits.
    fn named(digits: &str) -> Tag {
        // Weak, because the same answer can be sent compressed or not.
        Tag(HeaderValue::from_str(&format!("W/\"{digits}\"")).unwrap_or(HeaderValue::from_static("W/\"\"")))
    }

    /// Returns "not modified" for a client that already has this answer.
    pub fn not_modified(&self, headers: &HeaderMap) -> Option<Response> {
        let wanted = self.0.to_str().unwrap_or_default().trim_start_matches("W/");
        let mut given = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        let has = given.any(|list| list.split(',').any(|tag| tag.trim().trim_start_matches("W/") == wanted));
        has.then(|| self.on(StatusCode::NOT_MODIFIED))
    }

    /// Adds the tag to an answer.
    pub fn on(&self, response: impl IntoResponse) -> Response {
        let mut response = response.into_response();
        response.headers_mut().insert(header::ETAG, self.0.clone());
        response.headers_mut().insert(header::CACHE_CONTROL, CACHED);
        response
    }
}

/// An error in place of an answer, as `probe --json` prints it.
#[derive(Serialize, JsonSchema)]
pub struct Failure<'a> {
    /// The line.
    pub position: &'a str,
    /// Why it has no answer.
    pub error: &'a str,
}

/// How far the solve of a position is: ask again.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Solving {
    /// Share of the work that is done, 0 to 1; null while another position is solved.
    done: Option<f64>,
}

/// Why a request has no answer.
#[derive(Clone, Debug)]
pub struct Problem {
    status: StatusCode,
    detail: String,
    /// The progress, with status 202.
    solving: Option<Solving>,
}

/// The body of an error.
#[derive(Serialize, JsonSchema)]
pub struct Body<'a> {
    /// `about:blank`: the status says it all.
    r#type: &'a str,
    /// The words of the status.
    title: &'a str,
    /// The status.
    status: u16,
    /// What is wrong with this request.
    detail: &'a str,
}

impl Problem {
    /// The request is wrong: 400.
    pub fn request(detail: impl Into<String>) -> Problem {
        Problem::with(StatusCode::BAD_REQUEST, detail)
    }

    /// No such thing exists: 404.
    pub fn missing(detail: impl Into<String>) -> Problem {
        Problem::with(StatusCode::NOT_FOUND, detail)
    }

    /// Returns the description of the problem.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Returns whether the request is refused because of the page that sends it.
    pub fn is_of_a_page(&self) -> bool {
        self.status == StatusCode::FORBIDDEN
    }

    /// Any other status.
    pub fn with(status: StatusCode, detail: impl Into<String>) -> Problem {
        Problem { status, detail: detail.into(), solving: None }
    }

    /// There is no answer yet: 202.
    pub fn solving(done: Option<f64>) -> Problem {
        Problem { solving: Some(Solving { done }), ..Problem::with(StatusCode::ACCEPTED, "being solved: try again") }
    }
}

impl From<AnswerError> for Problem {
    fn from(error: AnswerError) -> Problem {
        match error {
            AnswerError::Unknown { limits } => {
                Problem::missing(format!("the value of this position is not known here: {limits}"))
            }
            // The message contains the path of a file, which only the operator should see.
            error => {
                let detail = match error {
                    AnswerError::Solve(_) => "the position cannot be solved",
                    _ => "the database cannot be read, or is damaged",
                };
                report(error);
                Problem::with(StatusCode::INTERNAL_SERVER_ERROR, detail)
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let body = Body { r#type: "about:blank", title, status: self.status.as_u16(), detail: &self.detail };
        // Strings and a number, so this cannot fail.
        let (content_type, body) = match self.solving {
            Some(solving) => ("application/json", schema::tagged("trinim.solving/1", &solving)),
            None => ("application/problem+json", serde_json::to_string(&body)),
        };
        let mut response = (self.status, body.unwrap_or_default()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if [StatusCode::SERVICE_UNAVAILABLE, StatusCode::ACCEPTED].contains(&self.status) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
