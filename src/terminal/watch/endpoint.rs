//! `--metrics-listen ADDRESS`: the text of the metrics over HTTP, at `GET /metrics`.
//!
//! One thread answers each request with the figures of that moment.
//!
//! # Invariants
//! 1. No client holds up the work: it never waits for this thread.
//! 2. No client holds up the others, no matter what it sends or leaves unread: its time is bounded,
//!    and so is the number of connections.
//!
//! # Not here
//! Encryption, accounts and other paths: a proxy has them.

use crate::http::{self, Limits};
use axum::Router;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::time::timeout;

/// Path of the metrics.
const PATH: &str = "/metrics";
/// The limits for clients.
const LIMITS: Limits = Limits { connections: 32, head_bytes: 8 << 10, patience: Duration::from_secs(1) };
/// Longest body that is read before its request is refused, in bytes.
const BODY_BYTES: usize = 64 << 10;

/// Answers on `address` with the result of `text` until the process ends; returns the address, with
/// the port that replaces port 0.
///
/// # Errors
/// Returns the system's, if the address cannot be listened on or the thread not be started.
pub fn begin(address: SocketAddr, text: impl Fn() -> String + Send + Sync + 'static) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let text = Arc::new(text);
    let routes = Router::new().route(PATH, any(async move |request: Request| answer(request, &*text).await));
    let routes = routes.fallback(async || refused(StatusCode::NOT_FOUND));
    let serve = move || runtime.block_on(http::serve(listener, routes, LIMITS, Arc::default(), Arc::default()));
    thread::Builder::new().name("metrics".to_owned()).spawn(serve)?;
    Ok(address)
}

/// Returns where the metrics are, for people and scrapers.
pub fn url(address: SocketAddr) -> String {
    format!("http://{address}{PATH}")
}

async fn answer(request: Request, text: &(impl Fn() -> String + Sync)) -> Response {
    if request.method() == Method::GET {
        let kind = match wants_open_metrics(request.headers()) {
            true => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            false => "text/plain; version=0.0.4; charset=utf-8",
        };
        return ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-store")], text()).into_response();
    }
    // The system drops an answer on its way if the connection is closed with bytes left to read.
    let _ = timeout(LIMITS.patience, to_bytes(request.into_body(), BODY_BYTES)).await;
    let mut response = refused(StatusCode::METHOD_NOT_ALLOWED);
    response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET"));
    response
}

fn refused(status: StatusCode) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], format!("{status}: GET {PATH} has the metrics\n")).into_response()
}

fn wants_open_metrics(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(header::ACCEPT).iter().filter_map(|kinds| kinds.to_str().ok());
    kinds.any(|kinds| kinds.to_ascii_lowercase().contains("application/openmetrics-text"))
}
