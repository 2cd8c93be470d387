//! The origin of a request: the name by which it calls the server, and the page that sends it.
//!
//! Browsers send requests for every page that they show. A page from elsewhere cannot read an
//! answer without permission, but its question could start a solve. A page whose name was
//! redirected to this machine (DNS rebinding) could read answers, too. The first is recognised by
//! `Origin` and `Sec-Fetch-Site`, the second by the foreign server name in `Host`.
//!
//! A deep solve occupies the machine for a minute, so only requests that come provably from the
//! server's own page can start one. For such a page at a plain HTTP address outside this machine,
//! browsers send neither `Origin` nor `Sec-Fetch-Site` with a GET. They send `Referer`, which the
//! page's policy hides from other sites.

use crate::reply::Problem;
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use std::net::{IpAddr, SocketAddr};

/// All names, or all origins.
const ANY: &str = "*";

/// Parses a name to which the server answers.
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

/// The rights of a request that is answered.
#[derive(Clone)]
pub struct Access {
    /// The page that can read the answer, in addition to the server's own.
    pub reader: Option<HeaderValue>,
    /// Whether it can begin a deep solve, or wait for one.
    pub may_solve: bool,
}

/// The names and origins that are answered.
pub struct Origins {
    address: IpAddr,
    /// In lower case.
    hosts: Vec<String>,
    /// Origins of pages that can ask, in addition to the server's own.
    origins: Vec<String>,
}

impl Origins {
    /// Answers requests to this address, or by these names, from the server's own page and these
    /// origins.
    pub fn new(address: SocketAddr, hosts: &[String], origins: &[String]) -> Origins {
        let mut hosts = hosts.to_vec();
        hosts.push("localhost".to_owned());
        if !address.ip().is_loopback() {
            let system = rustix::system::uname();
            hosts.extend(system.nodename().to_str().ok().map(str::to_ascii_lowercase));
        }
        Origins { address: address.ip(), hosts, origins: origins.to_vec() }
    }

    /// Returns the rights of a request.
    ///
    /// # Errors
    /// [`Problem`] with status 421 for a foreign name, 403 for a page from elsewhere.
    pub fn check(&self, request: &Request) -> Result<Access, Problem> {
        let headers = request.headers();
        let named = match request.uri().authority() {
            Some(authority) => Some(authority.as_str()),
            None => text(headers, header::HOST),
        };
        if headers.get_all(header::HOST).iter().count() > 1 {
            return Err(Problem::request("the header Host is given twice"));
        }
        // A request without a name comes from an old client, but not from a browser.
        if let Some(named) = named.filter(|named| !self.is_own(named)) {
            let named: String = named.chars().take(80).collect();
            let detail = format!("this server does not answer to the name {named:?}: add it with --allow-host");
            return Err(Problem::with(StatusCode::MISDIRECTED_REQUEST, detail));
        }
        let origin = text(headers, header::ORIGIN);
        let allowed = |origin: &str| self.origins.iter().find(|one| *one == ANY || one.eq_ignore_ascii_case(origin));
        if let Some(allowed) = allowed(origin.unwrap_or_default()) {
            let echoed = if allowed == ANY { Some(ANY) } else { origin };
            let reader = echoed.and_then(|origin| HeaderValue::from_str(origin).ok());
            return Ok(Access { reader, may_solve: true });
        }
        let site = text(headers, HeaderName::from_static("sec-fetch-site"));
        let is_here = |address: &str| {
            let authority = address.split_once("://").and_then(|(_, behind)| behind.split('/').next());
            authority.zip(named).is_some_and(|(authority, named)| authority.eq_ignore_ascii_case(named))
        };
        let is_own_page = match site {
            Some(site) => site == "same-origin",
            None => origin.or_else(|| text(headers, header::REFERER)).is_some_and(is_here),
        };
        // A person follows a link from elsewhere.
        let is_link =
            || origin.is_none() && text(headers, HeaderName::from_static("sec-fetch-dest")) == Some("document");
        let is_fine = match site {
            _ if is_own_page => true,
            Some(site) => site == "none" || is_link(),
            None => origin.is_none(),
        };
        if is_fine {
            return Ok(Access { reader: None, may_solve: is_own_page });
        }
        let page: String = origin.unwrap_or("another site").chars().take(80).collect();
        Err(Problem::with(
            StatusCode::FORBIDDEN,
            format!("requests from pages of {page} are refused: allow the origin with --allow-origin"),
        ))
    }

    /// Returns whether an authority, a name with or without a port, refers to this server.
    fn is_own(&self, authority: &str) -> bool {
        let Ok(authority) = authority.parse::<Authority>() else { return false };
        let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
        let is_named = || self.hosts.iter().any(|own| own == ANY || *own == name);
        // An address cannot be redirected.
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

    /// Returns whether an answer depends on the origin of its request.
    pub fn vary(&self) -> bool {
        self.origins.iter().any(|origin| origin != ANY)
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    // A header that is not text matches no name.
    headers.get(name).map(|value| value.to_str().unwrap_or("\u{0}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::response::IntoResponse;

    /// The status for a request with these headers, or its rights.
    fn access(origins: &Origins, headers: &[(&str, &str)]) -> Result<Access, u16> {
        let built = headers
            .iter()
            .fold(Request::builder().uri("/v1/boards"), |built, (name, value)| built.header(*name, *value));
        let found = origins.check(&built.body(Body::empty()).expect("a request"));
        found.map_err(|problem| problem.into_response().status().as_u16())
    }

    /// The status for a request with these headers, or the origin that can read its answer.
    fn checked(origins: &Origins, headers: &[(&str, &str)]) -> Result<String, u16> {
        let shown = |value: HeaderValue| value.to_str().expect("text").to_owned();
        access(origins, headers).map(|access| access.reader.map_or(String::new(), shown))
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
            // An image on a foreign page, a frame in it, and a link.
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

    #[test]
    fn deep_solves_are_for_its_own_page_and_allowed_origins() {
        let allowed = "https://nim.example";
        let served = |hosts: &[&str], origins: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            Origins::new(SocketAddr::from(([127, 0, 0, 1], 8080)), &owned(hosts), &owned(origins))
        };
        let (none, one, all) = (served(&[], &[]), served(&[], &[allowed]), served(&[], &["*"]));
        let own = "http://localhost:8080/play?x=1#y";
        let (yes, no, refused) = (Ok(true), Ok(false), Err(403));
        for (headers, [alone, with_allowed]) in [
            // Each of the three is enough.
            (&[("sec-fetch-site", "same-origin")][..], [yes, yes]),
            (&[("origin", "http://LOCALHOST:8080")], [yes, yes]),
            (&[("referer", own)], [yes, yes]),
            (&[("referer", "http://localhost:8080")], [yes, yes]),
            // No headers, a typed address, a page from elsewhere.
            (&[], [no, no]),
            (&[("sec-fetch-site", "none")], [no, no]),
            (&[("referer", "https://nim.example/")], [no, no]),
            (&[("referer", "http://localhost/")], [no, no]),
            (&[("referer", "http://localhost:8080@nim.example/")], [no, no]),
            (&[("referer", "http://nim.example/http://localhost:8080/")], [no, no]),
            (&[("referer", "localhost:8080/")], [no, no]),
            (&[("referer", "")], [no, no]),
            // A link from elsewhere. The browser's own report counts for more than an address.
            (&[("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")], [no, no]),
            (&[("sec-fetch-site", "same-site"), ("sec-fetch-dest", "document"), ("referer", own)], [no, no]),
            (&[("sec-fetch-site", "none"), ("referer", own)], [no, no]),
            (&[("sec-fetch-site", "none"), ("origin", "http://localhost:8080")], [no, no]),
            (&[("origin", "null"), ("referer", own)], [refused, refused]),
            (&[("origin", "http://localhost:3000"), ("referer", own)], [refused, refused]),
            // The origin is enough for a page that is allowed to ask.
            (&[("origin", allowed)], [refused, yes]),
            (&[("origin", allowed), ("sec-fetch-site", "cross-site")], [refused, yes]),
        ] {
            let headers = [&[("host", "localhost:8080")], headers].concat();
            for (served, answer) in [(&none, alone), (&one, with_allowed), (&all, yes)] {
                assert_eq!(access(served, &headers).map(|access| access.may_solve), answer, "{headers:?}");
            }
        }
        // Behind a proxy, the page has the name by which the request calls the server.
        let proxied = served(&["nim.example"], &[]);
        for (host, header, answer) in [
            ("nim.example", ("origin", allowed), yes),
            ("nim.example", ("referer", "https://nim.example/games/trinim/"), yes),
            ("nim.example", ("referer", own), no),
            ("localhost:8080", ("referer", "https://nim.example/games/trinim/"), no),
        ] {
            let found = access(&proxied, &[("host", host), header]);
            assert_eq!(found.map(|access| access.may_solve), answer, "{host} {header:?}");
        }
        // Without a name there is nothing to compare with.
        assert_eq!(access(&none, &[("referer", own)]).map(|access| access.may_solve), no);
    }
}
