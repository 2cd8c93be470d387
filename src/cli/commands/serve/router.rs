//! The server's paths, and what surrounds every answer.

use super::api;
use super::app::App;
use super::page;
use super::problem::Problem;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use std::sync::Arc;
use std::time::Instant;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{Any, CorsLayer};

/// Returns the paths with everything around them.
pub fn router(app: Arc<App>) -> Router {
    let routes = Router::new()
        .route("/v1/boards", get(api::boards))
        .route("/v1/position", get(api::position))
        .route("/v1/positions", post(api::positions))
        .route("/v1/mainline", get(api::mainline))
        .route("/v1/reply", get(api::reply))
        .route("/v1/stats", get(api::stats))
        .route("/v1/random", get(api::random))
        .route("/v1/openapi.json", get(api::openapi))
        .route("/healthz", get(api::healthz))
        .route("/metrics", get(api::metrics));
    let routes = page::FILES
        .iter()
        .fold(routes, |routes, file| routes.route(file.path, get(async |headers: HeaderMap| file.answer(&headers))));
    let cors = CorsLayer::new().allow_origin(Any).allow_methods([Method::GET, Method::POST]).allow_headers(Any);
    routes
        .fallback(|| async { Problem::missing("no such path: /v1/openapi.json lists them") })
        .method_not_allowed_fallback(|| async {
            Problem::with(StatusCode::METHOD_NOT_ALLOWED, "this path has another method: see /v1/openapi.json")
        })
        .layer(CompressionLayer::new())
        .layer(cors)
        .layer(from_fn_with_state(app.clone(), counted))
        .with_state(app)
}

/// Paths that are counted by name.
const COUNTED: [&str; 10] = [
    "/v1/boards",
    "/v1/position",
    "/v1/positions",
    "/v1/mainline",
    "/v1/reply",
    "/v1/stats",
    "/v1/random",
    "/v1/openapi.json",
    "/healthz",
    "/metrics",
];

/// Counts a request, and adds the headers that every answer has.
async fn counted(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let path = COUNTED.into_iter().find(|path| *path == request.uri().path()).unwrap_or_else(|| {
        let is_page = page::FILES.iter().any(|file| file.path == request.uri().path());
        if is_page { "page" } else { "other" }
    });
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    app.metrics.request(path, response.status().as_u16(), begin.elapsed());
    response
}
