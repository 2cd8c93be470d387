//! Errors of the server, as `application/problem+json` (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use trinim::play::AnswerError;

/// Why a request has no answer.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    detail: String,
}

/// The body of an error.
#[derive(Serialize)]
struct Body<'a> {
    /// `about:blank`: the status says it all.
    r#type: &'a str,
    title: &'a str,
    status: u16,
    detail: &'a str,
}

impl Problem {
    /// The request is wrong: 400.
    pub fn request(detail: impl Into<String>) -> Problem {
        Problem::with(StatusCode::BAD_REQUEST, detail)
    }

    /// There is no such thing: 404.
    pub fn missing(detail: impl Into<String>) -> Problem {
        Problem::with(StatusCode::NOT_FOUND, detail)
    }

    /// Returns what is wrong.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Any other status.
    pub fn with(status: StatusCode, detail: impl Into<String>) -> Problem {
        Problem { status, detail: detail.into() }
    }
}

impl From<AnswerError> for Problem {
    fn from(error: AnswerError) -> Problem {
        match error {
            AnswerError::Unknown { limits } => {
                Problem::missing(format!("the value of this position is not known here: {limits}"))
            }
            AnswerError::Solve(_) => Problem::with(StatusCode::INTERNAL_SERVER_ERROR, "the position cannot be solved"),
            // The message has the path of a file, which is nobody's business.
            _ => Problem::with(StatusCode::INTERNAL_SERVER_ERROR, "the database cannot be read, or is damaged"),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let body = Body { r#type: "about:blank", title, status: self.status.as_u16(), detail: &self.detail };
        // Strings and a number: this cannot fail.
        let body = serde_json::to_vec(&body).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
