//! Where a request comes from: the name by which it calls the server, and the page that sends it.
//!
//! Browsers send requests for every page that they show. A page from elsewhere cannot read an
//! answer without leave, but would start solves with its question; a page whose name is made to
//! lead to this machine (DNS rebinding) could read answers, too. The first says where it is from
//! (`Origin`, `Sec-Fetch-Site`), the second calls the server by a foreign name (`Host`).

use super::reply::Problem;
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use std::net::{IpAddr, SocketAddr};

/// All names, or all origins.
const ANY: &str = "*";

/// Parses a name that the server answers to.
pub fn host(text: &str) -> Result<String, String> {
    let is_name = text.parse::<Authority>().is_ok_and(|name| name.as_str() == name.host());
    let is_expected = text == ANY || is_name;
    is_expected
        .then(|| text.to_ascii_lowercase())
        .ok_or_else(|| "expected a name without a port, like nim.example, or *".to_owned())
}

/// Parses the origin of a page.
pub fn origin(text: &str) -> Result<String, String> {
    let text = text.to_ascii_lowercase();
    let behind = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_origin = behind.is_some_and(|name| name.parse::<Authority>().is_ok_and(|name| !name.as_str().contains('@')));
    let is_expected = is_origin || text == ANY;
    is_expected
        .then_some(text)
        .ok_or_else(|| "expected an origin, like https://nim.example or http://localhost:3000, or *".to_owned())
}

/// The names and origins that are answered.
pub struct Origins {
    address: IpAddr,
    /// In lower case.
    hosts: Vec<String>,
    /// Origins of pages that may ask, beside the server's own.
    origins: Vec<String>,
}

impl Origins {
    /// Answers requests to this address, or by these names, of the server's own page and those of
    /// these origins.
    pub fn new(address: SocketAddr, hosts: &[String], origins: &[String]) -> Origins {
        let mut hosts = hosts.to_vec();
        hosts.push("localhost".to_owned());
        if !address.ip().is_loopback() {
            hosts.extend(sysinfo::System::host_name().map(|name| name.to_ascii_lowercase()));
        }
        Origins { address: address.ip(), hosts, origins: origins.to_vec() }
    }

    /// Returns whose page may read the answer, if not only the server's own.
    ///
    /// # Errors
    /// [`Problem`] with status 421 for a foreign name, 403 for a page from elsewhere.
    pub fn check(&self, request: &Request) -> Result<Option<HeaderValue>, Problem> {
        let headers = request.headers();
        let named = match request.uri().authority() {
            Some(authority) => Some(authority.as_str()),
            None => text(headers, header::HOST),
        };
        if headers.get_all(header::HOST).iter().count() > 1 {
            return Err(Problem::request("the header Host is given twice"));
        }
        // Without a name: an old client, but no browser.
        if let Some(named) = named.filter(|named| !self.is_own(named)) {
            let named: String = named.chars().take(80).collect();
            let detail = format!("this server does not answer to the name {named:?}: --allow-host adds names");
            return Err(Problem::with(StatusCode::MISDIRECTED_REQUEST, detail));
        }
        let origin = text(headers, header::ORIGIN);
        let allowed = |origin: &str| self.origins.iter().find(|one| *one == ANY || one.eq_ignore_ascii_case(origin));
        if let Some(allowed) = allowed(origin.unwrap_or_default()) {
            let echoed = if allowed == ANY { Some(ANY) } else { origin };
            return Ok(echoed.and_then(|origin| HeaderValue::from_str(origin).ok()));
        }
        let site = text(headers, HeaderName::from_static("sec-fetch-site"));
        let is_own_page = || {
            origin.is_none_or(|origin| {
                origin
                    .split_once("://")
                    .is_some_and(|(_, authority)| named.is_some_and(|named| authority.eq_ignore_ascii_case(named)))
            })
        };
        // A link from elsewhere is followed by a person.
        let is_link =
            || origin.is_none() && text(headers, HeaderName::from_static("sec-fetch-dest")) == Some("document");
        let is_fine = match site {
            Some("same-origin" | "none") => true,
            Some(_) => is_link(),
            None => is_own_page(),
        };
        if is_fine {
            return Ok(None);
        }
        let page: String = origin.unwrap_or("another site").chars().take(80).collect();
        Err(Problem::with(
            StatusCode::FORBIDDEN,
            format!("pages of {page} may not ask: --allow-origin allows an origin"),
        ))
    }

    /// Returns whether an authority, a name with or without a port, means this server.
    fn is_own(&self, authority: &str) -> bool {
        let Ok(authority) = authority.parse::<Authority>() else { return false };
        let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
        let is_named = || self.hosts.iter().any(|own| own == ANY || *own == name);
        // An address cannot be made to lead elsewhere.
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        address.map_or_else(
            |_| is_named(),
            |address| {
                let address = address.to_canonical();
                self.address.is_unspecified()
                    || address.is_loopback()
                    || address == self.address.to_canonical()
                    || is_named()
            },
        )
    }

    /// Whether an answer depends on the origin that asks.
    pub fn vary(&self) -> bool {
        self.origins.iter().any(|origin| origin != ANY)
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    // What is not text is nobody's name.
    headers.get(name).map(|value| value.to_str().unwrap_or("\u{0}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::response::IntoResponse;

    /// The status for a request with these headers, or the origin that may read its answer.
    fn checked(origins: &Origins, headers: &[(&str, &str)]) -> Result<String, u16> {
        let built = headers
            .iter()
            .fold(Request::builder().uri("/v1/boards"), |built, (name, value)| built.header(*name, *value));
        let found = origins.check(&built.body(Body::empty()).expect("a request"));
        let shown =
            |value: Option<HeaderValue>| value.map_or(String::new(), |value| value.to_str().expect("text").to_owned());
        found.map(shown).map_err(|problem| problem.into_response().status().as_u16())
    }

    #[test]
    fn names_are_those_that_it_listens_on() {
        let origins = |address: &str, hosts: &[&str]| {
            let hosts: Vec<String> = hosts.iter().map(|name| host(name).expect("a name")).collect();
            Origins::new(address.parse().expect("an address"), &hosts, &[])
        };
        let own = ["localhost", "LOCALHOST:8080", "localhost.", "127.0.0.1", "127.0.0.1:9", "[::1]", "[::1]:8080"];
        let foreign = [
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "localhost@evil.example",
            "10.0.0.8",
            "",
            "a b",
        ];
        for (served, more, fewer) in [
            (origins("127.0.0.1:8080", &[]), &[][..], &foreign[..]),
            (origins("10.0.0.8:8080", &["Nim.Example"]), &["10.0.0.8", "nim.example:443"], &foreign[..4]),
            (origins("0.0.0.0:8080", &[]), &["10.0.0.8", "[fe80::1]:80"], &foreign[..4]),
            (origins("[::]:8080", &["*"]), &foreign[..5], &[][..]),
        ] {
            for name in own.iter().chain(more) {
                assert_eq!(checked(&served, &[("host", name)]), Ok(String::new()), "{name}");
            }
            for name in fewer {
                assert_eq!(checked(&served, &[("host", name)]), Err(421), "{name}");
            }
        }
        let served = origins("127.0.0.1:8080", &[]);
        assert_eq!(checked(&served, &[]), Ok(String::new()));
        assert_eq!(checked(&served, &[("host", "localhost"), ("host", "localhost")]), Err(400));
        for name in ["", "a:80", "http://a", "a b", "a@b"] {
            assert!(host(name).is_err(), "{name}");
        }
    }

    #[test]
    fn pages_are_its_own_and_those_allowed() {
        let allowed = "https://nim.example";
        let served = |origins: &[&str]| {
            let origins: Vec<String> = origins.iter().map(|text| origin(text).expect("an origin")).collect();
            Origins::new(SocketAddr::from(([127, 0, 0, 1], 8080)), &[], &origins)
        };
        let own = "http://localhost:8080";
        let (none, one, all) = (served(&[]), served(&["https://NIM.example"]), served(&["*"]));
        for (headers, answers) in [
            (&[][..], [Ok(""), Ok(""), Ok("*")]),
            (&[("origin", own)], [Ok(""), Ok(""), Ok("*")]),
            (&[("origin", own), ("sec-fetch-site", "same-origin")], [Ok(""), Ok(""), Ok("*")]),
            (&[("sec-fetch-site", "none")], [Ok(""), Ok(""), Ok("*")]),
            (&[("origin", allowed)], [Err(403), Ok(allowed), Ok("*")]),
            (&[("origin", allowed), ("sec-fetch-site", "cross-site")], [Err(403), Ok(allowed), Ok("*")]),
            (&[("origin", "http://localhost:3000")], [Err(403), Err(403), Ok("*")]),
            (&[("origin", "null")], [Err(403), Err(403), Ok("*")]),
            // A picture of a foreign page, a frame in it, and a link.
            (&[("sec-fetch-site", "cross-site")], [Err(403), Err(403), Ok("*")]),
            (&[("sec-fetch-site", "same-site"), ("sec-fetch-dest", "iframe")], [Err(403), Err(403), Ok("*")]),
            (&[("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")], [Ok(""), Ok(""), Ok("*")]),
        ] {
            let headers = [&[("host", "localhost:8080")], headers].concat();
            for (served, answer) in [&none, &one, &all].into_iter().zip(answers) {
                assert_eq!(checked(served, &headers), answer.map(str::to_owned), "{headers:?}");
            }
        }
        for text in ["nim.example", "https://", "ftp://a", "https://a/b", "https://a@b", ""] {
            assert!(origin(text).is_err(), "{text}");
        }
    }
}
