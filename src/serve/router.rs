//! The server's paths, and the layer around every answer: counts, headers, compression.

use crate::api;
use crate::app::App;
use crate::batch;
use crate::connections::Crowded;
use crate::origin::Access;
use crate::reply::Problem;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::{Body as HttpBody, Frame};
use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

/// Length of the shortest body that is compressed, in bytes.
const GZIP_BYTES_MIN: u64 = 32;

/// Returns the paths with the layer around them.
pub fn router(app: Arc<App>) -> Router {
    let routes = Router::new()
        .route("/v1/boards", get(api::boards))
        .route("/v1/position", get(api::position))
        .route("/v1/positions", post(batch::positions))
        .route("/v1/mainline", get(api::mainline))
        .route("/v1/reply", get(api::reply))
        .route("/v1/stats", get(api::stats))
        .route("/v1/random", get(api::random))
        .route("/v1/openapi.json", get(api::openapi))
        .route("/healthz", get(api::healthz))
        .route("/metrics", get(api::metrics));
    let routes = api::FILES
        .iter()
        .fold(routes, |routes, file| routes.route(file.path, get(async |headers: HeaderMap| file.answer(&headers))));
    routes
        .fallback(|| async { Problem::missing("no such path: see /v1/openapi.json") })
        .method_not_allowed_fallback(|| async {
            Problem::with(StatusCode::METHOD_NOT_ALLOWED, "wrong method for this path: see /v1/openapi.json")
        })
        .layer(from_fn_with_state(app.clone(), around))
        .with_state(app)
}

/// Paths that are answered even if there is no room for another request.
const CHEAP: [&str; 2] = ["/healthz", "/metrics"];

/// Counts a request, refuses it or has it answered, compresses the answer, and adds its headers.
async fn around(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let path = request.extensions().get::<MatchedPath>().map_or("other", |path| match path.as_str() {
        path if api::FILES.iter().any(|file| file.path == path) => "page",
        path => path,
    });
    let (path, is_gzip) = (path.to_owned(), takes_gzip(request.headers()));
    let has_body = !request.body().is_end_stream();
    // Behind a proxy that changes Host, the page's own scripts look like those of another page.
    let access = app.origins.check(&request).or_else(|problem| match path == "page" && problem.is_of_a_page() {
        true => Ok(Access { reader: None, may_solve: false }),
        false => Err(problem),
    });
    let is_crowded = request.extensions().get::<Crowded>().is_some() && !CHEAP.contains(&&*path);
    let mut response = match (&access, request.method()) {
        _ if is_crowded => {
            Problem::with(StatusCode::SERVICE_UNAVAILABLE, "too many requests: try again later").into_response()
        }
        (Err(problem), _) => problem.clone().into_response(),
        (Ok(Access { reader: None, .. }), &Method::OPTIONS) => StatusCode::OK.into_response(),
        (Ok(_), &Method::OPTIONS) => {
            let allowed =
                [(header::ACCESS_CONTROL_ALLOW_METHODS, "GET,POST"), (header::ACCESS_CONTROL_ALLOW_HEADERS, "*")];
            allowed.into_response()
        }
        (Ok(access), _) => {
            request.extensions_mut().insert(access.clone());
            next.run(request).await
        }
    };
    let is_long = response.body().size_hint().exact().is_none_or(|bytes| bytes >= GZIP_BYTES_MIN);
    // "Not modified" has the headers of the whole answer (RFC 9110, 15.4.5).
    if is_long || response.status() == StatusCode::NOT_MODIFIED {
        response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
        if is_gzip && is_long {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            response = response.map(|body| {
                Body::new(GzipBody { body, encoder: Some(GzEncoder::new(Vec::new(), Compression::default())) })
            });
        }
    }
    let is_read = path == "/v1/positions" && response.status().is_success();
    let headers = response.headers_mut();
    // The rest of a body would be taken for the next request, so the server announces that it
    // closes the connection, and does.
    if has_body && !is_read {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if let Ok(Access { reader: Some(origin), .. }) = access {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    if app.origins.vary() {
        headers.append(header::VARY, HeaderValue::from_static("origin"));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    app.metrics.request(path, response.status().as_u16(), begin.elapsed());
    response
}

/// Whether a client accepts gzip and does not prefer an uncompressed answer (RFC 9110, 12.5.3).
fn takes_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut others, mut plain) = (None, 0.0, 0.0);
    let lists = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|list| list.to_str().ok());
    for coding in lists.flat_map(|list| list.split(',')) {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok()).unwrap_or(0.0);
        match name.trim().to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => gzip = Some(f32::max(gzip.unwrap_or(0.0), weight)),
            "identity" => plain = weight,
            "*" => others = weight,
            _ => {}
        }
    }
    // The star is for encodings without an entry of their own.
    let gzip = gzip.unwrap_or(others);
    gzip > 0.0 && gzip >= plain
}

/// A body that is compressed while it is sent, at the client's pace.
struct GzipBody {
    body: Body,
    /// `None` after the end.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl HttpBody for GzipBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(mut encoder) = self.encoder.take() else { return Poll::Ready(None) };
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            self.encoder = Some(encoder);
            return Poll::Pending;
        };
        let packed = match frame {
            // The encoder writes into memory.
            None => encoder.finish(),
            Some(Ok(frame)) => {
                let bytes = frame.into_data().unwrap_or_default();
                // Flushes, so that the client sees each part at once.
                encoder.write_all(&bytes).and_then(|()| encoder.flush()).map(|()| {
                    let packed = std::mem::take(encoder.get_mut());
                    self.encoder = Some(encoder);
                    packed
                })
            }
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
        };
        Poll::Ready(Some(packed.map(|packed| Frame::data(packed.into())).map_err(axum::Error::new)))
    }
}
