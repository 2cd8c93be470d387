//! Entity tags: answers never change, so whoever has one need not ask again.

use super::offer::Offer;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// How long an answer may be kept without asking. A year would be as true, but later versions of
/// the program add fields.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=86400");

/// The tag of an answer, which follows from the request and from what answers it.
pub struct Tag(HeaderValue);

impl Tag {
    /// Returns the tag of the answer of these `offers` to a request for `path`, with its query.
    pub fn of<'a>(offers: impl IntoIterator<Item = &'a Offer>, path: &str) -> Tag {
        let mut hasher = blake3::Hasher::new();
        hasher.update(path.as_bytes());
        for offer in offers {
            hasher.update(b"\n").update(offer.identity.as_bytes());
        }
        Tag::named(&hasher.finalize().to_hex()[..24])
    }

    /// Returns a tag made of hexadecimal digits.
    pub fn named(digits: &str) -> Tag {
        // Weak: the same answer may be sent compressed or not.
        Tag(HeaderValue::from_str(&format!("W/\"{digits}\"")).unwrap_or(HeaderValue::from_static("W/\"\"")))
    }

    /// Returns the answer for a client that has this answer already.
    pub fn known(&self, headers: &HeaderMap) -> Option<Response> {
        let wanted = self.0.to_str().unwrap_or_default().trim_start_matches("W/");
        let mut given = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        let has = given.any(|list| list.split(',').any(|tag| tag.trim().trim_start_matches("W/") == wanted));
        has.then(|| self.on(StatusCode::NOT_MODIFIED))
    }

    /// Adds the tag to an answer.
    pub fn on(&self, response: impl IntoResponse) -> Response {
        let mut response = response.into_response();
        response.headers_mut().insert(header::ETAG, self.0.clone());
        response.headers_mut().insert(header::CACHE_CONTROL, KEPT);
        response
    }
}
