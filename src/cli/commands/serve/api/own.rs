//! What the server says about itself.

use super::super::app::App;
use super::super::tag::Tag;
use super::answer::{of_json, typed};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use std::sync::Arc;

/// The description of the paths, which `tests/face/serve.rs` compares with the answers.
const OPENAPI: &str = include_str!("../openapi.json");

/// Handles `/v1/openapi.json`.
pub async fn openapi(headers: HeaderMap) -> Response {
    let tag = Tag::named(&blake3::hash(OPENAPI.as_bytes()).to_hex()[..24]);
    tag.known(&headers).unwrap_or_else(|| tag.on(of_json(OPENAPI.to_owned())))
}

/// Handles `/healthz`: the server accepts requests.
pub async fn healthz() -> Response {
    typed("text/plain; charset=utf-8", "ok\n")
}

/// Handles `/metrics`.
pub async fn metrics(State(app): State<Arc<App>>) -> Response {
    typed("text/plain; version=0.0.4; charset=utf-8", app.metrics.text())
}
