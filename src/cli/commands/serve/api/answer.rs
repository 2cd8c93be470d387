//! Answers in their formats.

use super::super::problem::Problem;
use crate::cli::face::schema::tagged;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Serialises an answer after the name of its schema.
///
/// # Errors
/// [`Problem`] if it cannot be serialised, which does not happen.
pub fn json(schema: &str, answer: &impl Serialize) -> Result<String, Problem> {
    tagged(schema, answer).map_err(|error| Problem::with(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

/// Turns text into an answer.
pub fn typed(content_type: &'static str, text: impl IntoResponse) -> Response {
    let mut response = text.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Turns JSON into an answer.
pub fn of_json(text: String) -> Response {
    typed("application/json", text)
}
