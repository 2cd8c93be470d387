//! The page: a few files that are part of the program. They need nothing from elsewhere.

use super::tag::Tag;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

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
pub static FILES: [File; 7] = [
    file!("/", "index.html", "text/html; charset=utf-8"),
    file!("/page.css", "page.css", "text/css; charset=utf-8"),
    file!("/page.js", "page.js", "text/javascript; charset=utf-8"),
    file!("/game.js", "game.js", "text/javascript; charset=utf-8"),
    file!("/board.js", "board.js", "text/javascript; charset=utf-8"),
    file!("/api.js", "api.js", "text/javascript; charset=utf-8"),
    file!("/icon.svg", "icon.svg", "image/svg+xml"),
];

/// Nothing but the page's own files is loaded, and nothing else shows it in a frame.
const POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");

impl File {
    /// Answers a request for this file.
    pub fn answer(&self, headers: &HeaderMap) -> Response {
        let tag = Tag::named(&blake3::hash(self.text.as_bytes()).to_hex()[..24]);
        let mut response = tag.known(headers).unwrap_or_else(|| tag.on(self.text));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        // Another version of the program has another page.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        response
    }
}
