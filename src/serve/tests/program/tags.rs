//! Tags, stored answers, compression and the other headers of `trinim serve`.

use crate::client::{Server, query};
use crate::common::program::{ends, text};
use crate::common::scratch;
use crate::oracle::triangle;
use std::collections::{BTreeMap, BTreeSet};
use trinim::database::Keep;
use trinim::game::Takes;
use trinim::job::KeepChoice;
use trinim::{Board, Rule, Solve};

#[test]
fn answers_are_tagged_cached_and_compressed() {
    let folder = scratch();
    let server = Server::start(folder.path(), &["--layers", "4"]);
    let path = "/v1/position?board=triangle:4&p=1/11/111/1111";
    let first = server.get(path);
    let tag = first.header("etag").unwrap().to_owned();
    assert_eq!(first.header("cache-control"), Some("no-cache"));
    for list in [tag.clone(), format!("\"x\", {tag}"), tag.replace("w/", "")] {
        let again = server.ask("GET", path, &format!("if-none-match: {}\r\n", list.replace("w/", "W/")), b"");
        assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, Some(&*tag)));
    }
    // Weak, because compressed and plain bytes share it; and in any of several headers.
    assert!(tag.starts_with("w/\""), "{tag}");
    let lists = format!("if-none-match: \"x\"\r\nif-none-match: {}\r\n", tag.replace("w/", "W/"));
    assert_eq!(server.ask("GET", path, &lists, b"").status, 304);
    // The next start can offer other boards.
    assert_eq!(server.get("/v1/boards").header("cache-control"), Some("no-cache"));
    let other = server.get("/v1/position?board=triangle:4&rule=normal&p=1/11/111/1111");
    assert_ne!(other.header("etag"), Some(&*tag));
    assert_eq!(server.ask("GET", path, "if-none-match: \"else\"\r\n", b"").status, 200);
    let packed = server.ask("GET", path, "accept-encoding: gzip\r\n", b"");
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert!(packed.body.starts_with(&[0x1f, 0x8b]) && packed.body.len() < first.body.len() / 2);
    // Also for the uncompressed answer: a cache in between stores both separately.
    for found in [&first, &packed, &server.get("/v1/boards"), &server.get("/page.js")] {
        assert_eq!(found.header("vary"), Some("accept-encoding"), "{}", found.head);
    }
    for (takes, is_packed) in [
        ("gzip;q=0.5, identity;q=0.5", true),
        ("gzip;q=0.4, identity;q=0.5", false),
        ("*", true),
        ("gzip;q=0", false),
        ("gzip;q=0, *", false),
        ("*, gzip;q=0", false),
        ("gzip, *;q=0", true),
        ("*;q=0", false),
        ("br, *;q=0.1", true),
        ("br", false),
    ] {
        let found = server.ask("GET", path, &format!("accept-encoding: {takes}\r\n"), b"");
        assert_eq!(found.header("content-encoding").is_some(), is_packed, "{takes}");
    }
    let short = server.ask("GET", "/healthz", "accept-encoding: gzip\r\n", b"");
    assert_eq!((short.header("content-encoding"), short.header("vary"), &short.body[..]), (None, None, &b"ok\n"[..]));
    let head = server.ask("HEAD", path, "", b"");
    assert_eq!((head.status, head.body.len(), head.header("etag")), (200, 0, Some(&*tag)));
    for path in ["/metrics", "/healthz", "/v1/random?board=triangle:4", "/absent"] {
        assert_eq!(server.get(path).header("cache-control"), Some("no-store"), "{path}");
    }
    let counts = || text(&server.get("/metrics").body);
    // The connection before this one is counted until the server has seen that it is closed.
    let alone = (0..500).map(|_| counts()).find(|counts| counts.contains("trinim_connections 1\n"));
    let counts = alone.unwrap_or_else(counts);
    assert!(counts.contains("trinim_requests_total{path=\"/v1/position\",status=\"304\"} 4\n"), "{counts}");
    assert!(counts.contains("trinim_connections 1\n") && counts.contains("le=\"+Inf\""), "{counts}");
}

/// Programs that read JSON as JavaScript does represent whole numbers exactly only up to 2^53.
#[test]
fn a_seed_is_one_that_every_reader_of_json_knows() {
    let folder = scratch();
    let server = Server::start(folder.path(), &["--layers", "3"]);
    for path in ["/v1/reply?board=triangle:3&p=0x7&level=beginner&seed=", "/v1/random?board=triangle:3&seed="] {
        for seed in ["0", "9007199254740991", "9007199254740992"] {
            let found = server.get(&format!("{path}{seed}"));
            assert_eq!(found.status, 200, "{path}{seed}");
            let told = &found.json()["seed"];
            assert!(told.is_null() || told.as_f64().unwrap() as u64 == seed.parse::<u64>().unwrap(), "{told}");
        }
        for seed in ["9007199254740993", "18446744073709551615", "-1", "1.5", "x"] {
            let refused = server.get(&format!("{path}{seed}"));
            assert!(refused.status == 400 && refused.problem().starts_with("seed: expected"), "{path}{seed}");
        }
    }
}

/// The tag of one request matches no other request.
#[test]
fn a_tag_is_that_of_one_request() {
    let folder = scratch();
    let server = Server::start(folder.path(), &["--layers", "3,4"]);
    let requests = [
        "/v1/position?board=triangle:4&p=1/11/111/1111",
        "/v1/position?board=triangle:4&p=1/11/111/1110",
        "/v1/position?board=triangle:4&rule=normal&p=1/11/111/1111",
        "/v1/position?board=triangle:3&p=1/11/111",
        "/v1/mainline?board=triangle:4&p=1/11/111/1111",
        "/v1/mainline?board=triangle:4&p=1/11/111/1110",
        "/v1/reply?board=triangle:4&p=1/11/111/1111",
        "/v1/reply?board=triangle:4&p=1/11/111/1111&seed=2",
        "/v1/reply?board=triangle:4&p=1/11/111/1111&level=club",
        "/v1/stats?board=triangle:4",
        "/v1/stats?board=triangle:4&rule=normal",
        "/v1/stats?board=triangle:3",
        "/v1/random?board=triangle:4&seed=1",
        "/v1/random?board=triangle:4&seed=2",
        "/v1/boards",
        "/v1/openapi.json",
        "/",
        "/page.js",
    ];
    let tags = requests.map(|path| server.get(path).header("etag").unwrap().replace("w/", "W/"));
    assert_eq!(BTreeSet::from(tags.clone()).len(), requests.len());
    for (path, own) in requests.iter().zip(&tags) {
        for tag in &tags {
            let found = server.ask("GET", path, &format!("if-none-match: {tag}\r\n"), b"").status;
            assert_eq!(found, if tag == own { 304 } else { 200 }, "{path} with {tag}");
        }
    }
}

/// The same request to servers with other values for the same board, or with other boards.
#[test]
fn a_tag_is_that_of_what_answers() {
    let folder = scratch();
    let path = folder.path();
    triangle(4, Rule::Misere).run(&path.join("whole")).unwrap();
    triangle(4, Rule::Misere).keep(KeepChoice::Exactly(Keep::Counts)).run(&path.join("counts")).unwrap();
    let position = format!("/v1/position?{}", query("triangle:4", "misere", "0x3ff"));
    let few = &["--layers", "3"][..];
    let mut tags = [BTreeSet::new(), BTreeSet::new()];
    let starts = [
        &["whole"][..],
        &["counts"],
        &["counts", "--spot-pieces", "3"],
        &["counts", "--layers", "3,5"],
        &["counts", "--layers", "3", "--board", "rect:2x2"],
    ];
    for args in starts {
        let server =
            Server::start(path, &if args.contains(&"--layers") { args.to_vec() } else { [args, few].concat() });
        for (path, tags) in [&position[..], "/v1/boards"].into_iter().zip(&mut tags) {
            tags.insert(server.get(path).header("etag").unwrap().to_owned());
        }
    }
    // The other boards of a server do not affect a position.
    assert_eq!(tags.map(|tags| tags.len()), [3, 5]);
}

/// Two boards of one name are different boards: an answer for one is stale where the other is
/// served, and no request that means one is answered for the other.
#[test]
fn a_name_does_not_stand_for_a_board() {
    let folder = scratch();
    let path = folder.path();
    let files = [
        "cells = 5\nlines = [[0, 1, 2], [2, 3, 4], [1, 3]]\nmax_take = 2\n",
        // With the same name and limit: another line, other places of the cells, fewer cells.
        "cells = 5\nlines = [[0, 1, 2], [2, 3, 4], [1, 4]]\nmax_take = 2\n",
        "cells = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1]]\nlines = [[0, 1, 2], [2, 3, 4], [1, 3]]\nmax_take = 2\n",
        "cells = 4\nlines = [[0, 1, 2], [1, 3]]\nmax_take = 2\n",
        "cells = 5\nlines = [[0, 1, 2], [2, 3, 4], [1, 3]]\nmax_take = 3\n",
    ];
    let names: Vec<String> = (0..files.len()).map(|number| format!("file:{number}.toml")).collect();
    for (name, text) in names.iter().zip(files) {
        std::fs::write(path.join(&name[5..]), format!("name = \"s\"\n{text}")).unwrap();
    }
    let (mut identities, mut tags) = (BTreeSet::new(), BTreeSet::new());
    let boards = ["s,take:2", "s,take:2", "s,take:2", "s,take:2", "s"];
    let mut before: Option<(String, String)> = None;
    for (name, board) in names.iter().zip(boards) {
        let server = Server::start(path, &["--layers", "3", "--board", name]);
        let offered = server.get("/v1/boards").json();
        let offered = offered["boards"].as_array().unwrap();
        let identity_of = |board: &str| offered.iter().find(|one| one["board"] == board).unwrap()["identity"].clone();
        assert!(identity_of("triangle:3").is_null() && identity_of("triangle:9").is_null());
        let identity = identity_of(board).as_str().unwrap().to_owned();
        for asked in ["position?p=0x7&", "mainline?p=0x7&", "reply?p=0x7&", "random?seed=1&", "stats?"] {
            let asked = format!("/v1/{asked}board={board}");
            let found = server.get(&asked);
            assert_eq!((found.status, found.header("cache-control")), (200, Some("no-cache")), "{asked}");
            assert!(tags.insert(found.header("etag").unwrap().to_owned()), "{name}: {asked}");
            assert_eq!(server.get(&format!("{asked}&identity={identity}")).status, 200, "{asked}");
            if let Some((stale, _)) = &before {
                let refused = server.get(&format!("{asked}&identity={stale}"));
                assert!(refused.status == 404 && refused.problem().contains("a different board"), "{asked}");
            }
        }
        before = Some((identity.clone(), board.to_owned()));
        assert!(identities.insert(identity), "{name}");
    }
    // Two boards of one name are refused, in every order, from folders, options and built-in ones.
    // The same board twice counts as one.
    std::fs::write(path.join("nine.toml"), "name = \"triangle:9\"\ncells = 3\nlines = [[0, 1, 2]]\n").unwrap();
    let board = |name: &str| Board::from_toml(&std::fs::read_to_string(path.join(name)).unwrap(), Takes::ANY).unwrap();
    for (rule, name) in [(Rule::Misere, "0"), (Rule::Normal, "1")] {
        Solve::new(&board(&format!("{name}.toml")), rule).run(&path.join(format!("solved-{name}"))).unwrap();
    }
    let listen = |more: &[&'static str]| [&["--listen", "127.0.0.1:0"], more].concat();
    for (args, named) in [
        (listen(&["--board", "file:0.toml", "--board", "file:1.toml"]), ["file:0.toml", "file:1.toml"]),
        (listen(&["--board", "file:2.toml", "--board", "file:0.toml"]), ["file:2.toml", "file:0.toml"]),
        (listen(&["solved-0", "--board", "file:1.toml"]), ["solved-0", "file:1.toml"]),
        (listen(&["solved-0", "solved-1"]), ["solved-0", "solved-1"]),
        (listen(&["--board", "file:nine.toml"]), ["file:nine.toml", "9 layers"]),
    ] {
        let (_, error) = ends(path, 2, &args);
        assert!(error.contains("different boards with the same name"), "{args:?}: {error}");
        assert!(named.iter().all(|name| error.contains(name)), "{args:?}: {error}");
    }
    let same = Server::start(path, &["solved-0", "--board", "file:0.toml", "--board", "file:0.toml"]);
    assert_eq!(same.get("/v1/stats?board=s,take:2&rule=normal").status, 200);
}

/// The headers of every path and of errors, for requests from anywhere, at a server that allows
/// pages from elsewhere and at one that does not. Those of `HEAD` and 304 are those of `GET` and
/// 200. The page's own files are open to all: behind a proxy that passes another name, its scripts
/// look like those of another page.
#[test]
fn every_answer_has_its_headers() {
    let folder = scratch();
    let page =
        ["page", "game", "board", "table", "story", "puzzle", "stats", "share"].map(|name| format!("/{name}.js"));
    let page: Vec<&str> = ["/", "/page.css", "/icon.svg"].into_iter().chain(page.iter().map(|path| &**path)).collect();
    let position = format!("/v1/position?{}", query("triangle:3", "misere", "0x3f"));
    let tagged = ["/v1/boards", "/v1/stats?board=triangle:3", "/v1/random?board=triangle:3&seed=1", &position];
    let tagged: Vec<&str> = tagged.into_iter().chain(["/v1/openapi.json"]).chain(page.iter().copied()).collect();
    let other = ["/v1/random?board=triangle:3", "/metrics", "/healthz", "/absent", "/v1/position", "/v1/positions"];
    let allowed = "https://nim.example";
    let callers = [
        ("", true),
        ("origin: http://localhost\r\n", true),
        ("origin: https://nim.example\r\n", false),
        ("origin: https://other.example\r\nsec-fetch-site: cross-site\r\nsec-fetch-dest: script\r\n", false),
        ("origin: null\r\n", false),
        ("sec-fetch-site: same-site\r\nsec-fetch-dest: style\r\n", false),
    ];
    for answers in [&[][..], &[allowed], &["*"], &[allowed, "*"]] {
        let more = answers.iter().flat_map(|origin| ["--allow-origin", origin]);
        let server = Server::start(folder.path(), &["--layers", "3"].into_iter().chain(more).collect::<Vec<_>>());
        for ((from, is_own), path) in
            callers.iter().flat_map(|one| tagged.iter().chain(&other).map(move |path| (one, *path)))
        {
            let story = format!("{path} with {answers:?}, {from}");
            let found = server.ask("GET", path, from, b"");
            let is_named = answers.contains(&allowed) && from.contains(allowed);
            let reader =
                if is_named { Some(allowed) } else { answers.iter().copied().find(|answered| *answered == "*") };
            let is_page = page.contains(&path);
            let is_refused = reader.is_none() && !is_page && !is_own;
            let status = match path {
                _ if is_refused => 403,
                "/absent" => 404,
                "/v1/position" => 400,
                "/v1/positions" => 405,
                _ => 200,
            };
            assert_eq!(found.status, status, "{story}");
            let is_tagged = status == 200 && tagged.contains(&path);
            let kind = match path {
                _ if status != 200 => "application/problem+json",
                "/" => "text/html; charset=utf-8",
                "/page.css" => "text/css; charset=utf-8",
                "/icon.svg" => "image/svg+xml",
                "/metrics" => "text/plain; version=0.0.4; charset=utf-8",
                "/healthz" => "text/plain; charset=utf-8",
                _ if is_page => "text/javascript; charset=utf-8",
                _ => "application/json",
            };
            let cached = match path {
                _ if !is_tagged => "no-store",
                "/icon.svg" => "public, max-age=86400",
                _ => "no-cache",
            };
            let mut expected = BTreeMap::from([("x-content-type-options", "nosniff"), ("content-type", kind)]);
            expected.insert("cache-control", cached);
            expected.extend(reader.filter(|_| !is_refused).map(|reader| ("access-control-allow-origin", reader)));
            expected.extend((path == "/v1/positions").then_some(("allow", "post")));
            if is_page {
                let policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
                expected.extend([("content-security-policy", policy), ("referrer-policy", "same-origin")]);
            }
            let mut expected: BTreeMap<_, _> =
                expected.into_iter().map(|(name, value)| (name, BTreeSet::from([value]))).collect();
            let vary = [(path != "/healthz" || is_refused, "accept-encoding"), (answers.contains(&allowed), "origin")];
            let vary: BTreeSet<&str> = vary.into_iter().filter_map(|(varies, by)| varies.then_some(by)).collect();
            if !vary.is_empty() {
                expected.insert("vary", vary);
            }
            let tag = found.header("etag");
            expected.extend(tag.filter(|_| is_tagged).map(|tag| ("etag", BTreeSet::from([tag]))));
            assert_eq!((found.headers(), tag.is_some()), (expected.clone(), is_tagged), "{story}");
            let head = server.ask("HEAD", path, from, b"");
            assert_eq!((head.status, head.headers(), head.body.len()), (status, expected.clone(), 0), "{story}");
            let Some(tag) = tag else { continue };
            let given = format!("{from}if-none-match: {}\r\n", tag.replace("w/", "W/"));
            let again = server.ask("GET", path, &given, b"");
            let mut found = again.headers();
            // A client knows the type of an answer that it has.
            found.insert("content-type", BTreeSet::from([kind]));
            assert_eq!((again.status, found, again.body.len()), (304, expected, 0), "{story}");
        }
    }
    let server = Server::start(folder.path(), &["--layers", "3"]);
    // Each request is counted once, under its path and status; a line is a position.
    let before = text(&server.get("/metrics").body);
    let figure = |text: &str, name: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.rsplit(' ').next()?.parse::<u64>().ok());
        lines.sum::<u64>()
    };
    for _ in 0..3 {
        server.get(&position);
    }
    server.post("/v1/positions?board=triangle:3", "0x1\n0x2\nnonsense\n0x3\n0x4\n");
    let after = text(&server.get("/metrics").body);
    let more = |name: &str| figure(&after, name) - figure(&before, name);
    assert_eq!(more("trinim_positions_total "), 3 + 5);
    // The first request for the counts is included.
    assert_eq!((more("trinim_requests_total{"), more("trinim_request_seconds_count ")), (5, 5), "{after}");
    assert_eq!(more("trinim_requests_total{path=\"/v1/position\",status=\"200\"}"), 3);
}
