//! `trinim serve` among hostile, slow and broken clients: every limit, and the end.

use crate::client::{Answer, Server, answer, on};
use crate::common::program::{signal, text};
use crate::common::{copy, scratch};
use crate::oracle::triangle;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use trinim::game::Takes;
use trinim::random::Random;
use trinim::{Board, Rule, Solve};

/// Thousands of odd requests: each gets an error or an answer, and the server still works.
#[test]
fn hostile_requests_are_refused_in_words() {
    let folder = scratch();
    std::fs::write(folder.path().join("secret"), "dear").unwrap();
    let server = Server::start(folder.path(), &["--layers", "4"]);
    let names =
        ["/v1/position", "/v1/positions", "/v1/mainline", "/v1/reply", "/v1/stats", "/v1/random", "/v1/boards", "/"];
    let words = "board=triangle:4 board=triangle:9 board=triangle:-1 board= board=%ff%fe board=../../secret \
                 rule=misere rule=nim p=1/11/111/1111 p=0x3ff p=0xffffffffffffffffffffff p=%00 p=-1 p=1%0d%0aX:1 p = \
                 && % seed=18446744073709551616 seed=-1 seed=5 level=god pieces=99999999999 value=draw \
                 p=../../etc/passwd %zz=1 +";
    let words: Vec<&str> = words.split(' ').collect();
    let mut random = Random::new(11);
    let mut statuses = BTreeSet::new();
    let mut stream = server.connect();
    for _ in 0..4000 {
        let path = names[random.index(names.len())];
        let count = random.below(5);
        let given: Vec<&str> = (0..count).map(|_| words[random.index(words.len())]).collect();
        let method = ["GET", "GET", "GET", "HEAD", "PUT", "DELETE", "PATCH", "TRACE"][random.index(8)];
        // On one connection.
        let request = format!("{method} {path}?{} HTTP/1.1\r\nhost: localhost\r\n\r\n", given.join("&"));
        let Answer { status, head, body } = on(&mut stream, &request);
        assert!([200, 400, 404, 405].contains(&status), "{request}{head}");
        if status >= 400 && method != "HEAD" {
            assert!(head.contains("application/problem+json") && !text(&body).contains("dear"), "{request}{head}");
        }
        statuses.insert(status);
    }
    assert_eq!(statuses.len(), 4, "{statuses:?}");
    drop(stream);
    // No request at all, or half of one.
    let long = "x".repeat(200_000);
    for bytes in [
        b"".to_vec(),
        b"\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"GET".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET /\x00\xff HTTP/1.1\r\n\r\n".to_vec(),
        b"GET ../../secret HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(),
        b"GET /../secret HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(),
        b"GET /%2e%2e/secret HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(),
        b"GET file:///etc/passwd HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(),
        format!("GET /{long} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {long}\r\n\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(5000)).into_bytes(),
        b"POST /v1/positions?board=triangle:4 HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n".to_vec(),
        b"POST /v1/positions?board=triangle:4 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ncontent-length: 9\r\n\r\n0x1".to_vec(),
        b"POST /v1/positions?board=triangle:4 HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_vec(),
        b"POST /v1/positions?board=triangle:4 HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n".to_vec(),
    ] {
        let found = text(&server.raw(&bytes));
        assert!(found.is_empty() || !found.contains("200 OK"), "{found}");
        assert!(!found.contains("dear") && !found.contains("root:"), "{found}");
    }
    let mut noise = Random::new(3);
    for _ in 0..300 {
        let length = noise.index(200);
        let bytes: Vec<u8> = (0..length).map(|_| noise.bits() as u8).collect();
        assert!(!text(&server.raw(&bytes)).contains("200 OK"));
    }
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.end("INT").0, Some(0));
}

#[test]
fn bodies_have_limits() {
    let folder = scratch();
    let server = Server::start(folder.path(), &["--layers", "4"]);
    let path = "/v1/positions?board=triangle:4";
    // Announced too long: refused before it is sent.
    let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99999999999\r\n\r\n");
    let announced = answer(&server.raw(head.as_bytes()));
    assert_eq!(announced.status, 413);
    assert!(announced.problem().contains("longer than 1048576 bytes"));
    // In chunks, so that the length is not known before.
    let chunk = format!("10000\r\n{}\r\n", "0x1\n".repeat(0x4000));
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n");
    let chunks = head + &chunk.repeat(17) + "0\r\n\r\n";
    let found = server.raw(chunks.as_bytes());
    // The answer can be lost if the connection is reset because its body was not read to the end.
    if !found.is_empty() {
        assert_eq!(answer(&found).status, 413);
    }
    let many = server.post(path, &"0x1\n".repeat(10_001));
    assert_eq!((many.status, many.problem().contains("10001 positions: at most 10000")), (413, true));
    let most = server.post(path, &"0x1\n".repeat(10_000));
    assert_eq!((most.status, text(&most.body).lines().count()), (200, 10_000));
    // A megabyte to the byte, announced.
    for (more, status) in [(0, 200), (1, 413)] {
        let body = format!("0x1\n{}", " ".repeat((1 << 20) - 4 + more));
        assert_eq!(server.post(path, &body).status, status, "{more} more");
    }
    let foreign = server.ask("POST", path, "", b"0x1\n\xff\n");
    assert!(foreign.status == 415 && foreign.problem().contains("UTF-8"));
    for (headers, status) in [
        ("content-type: text/plain\r\n", 200),
        ("content-type: Text/Plain; charset=UTF-8\r\n", 200),
        ("content-type: application/x-ndjson\r\n", 200),
        // The type that `curl --data-binary @FILE` sends for every file.
        ("content-type: application/x-www-form-urlencoded\r\n", 200),
        ("content-encoding: identity\r\n", 200),
        ("content-type: text/plain; charset=utf-16\r\n", 415),
        ("content-type: application/json\r\n", 415),
        ("content-type: image/png\r\n", 415),
        ("content-type: multipart/form-data; boundary=x\r\n", 415),
        ("content-encoding: gzip\r\n", 415),
    ] {
        let found = server.ask("POST", path, headers, b"0x1\n");
        assert_eq!(found.status, status, "{headers}");
        assert!(status == 200 || found.problem().contains("text/plain"), "{headers}");
    }
    assert_eq!((server.post(path, "").status, server.post(path, "").body.len()), (200, 0));
}

/// The rest of a body would be taken for the next request: the answer announces that the connection
/// is closed. Other connections stay open.
#[test]
fn a_body_that_is_not_read_closes_the_connection() {
    let folder = scratch();
    let server = Server::start(folder.path(), &["--layers", "4"]);
    for (method, path, body, status, is_closed) in [
        ("POST", "/v1/positions?board=triangle:4", "1", 200, false),
        ("GET", "/v1/boards", "", 200, false),
        ("GET", "/v1/nothing", "", 404, false),
        ("POST", "/v1/positions?board=triangle:4&rule=nim", "1", 400, true),
        ("POST", "/v1/positions?board=triangle:99", "1", 404, true),
        ("POST", "/v1/nothing", "1", 404, true),
        ("PUT", "/v1/boards", "1", 405, true),
        ("GET", "/v1/boards", "1", 200, true),
    ] {
        let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
        let found = answer(&server.raw((head + body).as_bytes()));
        assert_eq!(
            (found.status, found.header("connection")),
            (status, is_closed.then_some("close")),
            "{method} {path}"
        );
    }
}

/// Clients that stall, break off or never read do not hold up others.
#[test]
fn slow_and_broken_clients_hold_up_nobody() {
    let folder = scratch();
    let server = Server::start(folder.path(), &["--layers", "5"]);
    let path = "/v1/positions?board=triangle:5";
    let body = "0x7fff\n".repeat(10_000);
    let held: Vec<TcpStream> = (0..60)
        .map(|number| {
            let mut stream = server.connect();
            let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
            let bytes = match number % 4 {
                // A third of a head; a head and a little of the body; all of it, but never read.
                0 => head.as_bytes()[..20].to_vec(),
                1 => [head.as_bytes(), b"0x1\n"].concat(),
                2 => Vec::new(),
                _ => [head.as_bytes(), body.as_bytes()].concat(),
            };
            stream.write_all(&bytes).unwrap();
            stream
        })
        .collect();
    // Some break off.
    for stream in held.iter().step_by(3) {
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
    // A client can take twenty seconds for a body, and a request behind it waits that long.
    for _ in 0..50 {
        let begin = Instant::now();
        assert_eq!(server.get("/v1/position?board=triangle:5&p=0x7fff").status, 200);
        assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    }
    // A stop waits for them only for a moment.
    let begin = Instant::now();
    assert_eq!(server.end("TERM").0, Some(0));
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    drop(held);
}

/// A client can have any number of connections without a request at work, but not of requests at
/// work; health is always answered.
#[test]
fn one_client_shuts_nobody_out() {
    let folder = scratch();
    let server = Server::start(folder.path(), &["--layers", "4"]);
    // Each connection has had some answer, or none, and could ask again.
    let path = "/v1/position?board=triangle:4&p=0x3ff";
    let tag = server.get(path).header("etag").unwrap().replace("w/", "W/");
    let kinds = [
        (format!("GET {path}"), String::new(), 200),
        (format!("GET {path}"), format!("if-none-match: {tag}\r\n"), 304),
        (format!("GET {path}"), "accept-encoding: gzip\r\n".to_owned(), 200),
        (format!("GET {path}"), "origin: https://nim.example\r\n".to_owned(), 403),
        (format!("HEAD {path}"), String::new(), 200),
        ("GET /v1/position?board=triangle:4&rule=nim".to_owned(), String::new(), 400),
        ("GET /v1/random?board=triangle:4&pieces=1&wins=9&seed=1".to_owned(), String::new(), 404),
        ("POST /v1/positions?board=triangle:4".to_owned(), "content-length: 0\r\n".to_owned(), 200),
        ("PUT /v1/boards".to_owned(), String::new(), 405),
    ];
    let silent = (0..600).map(|number| {
        let mut stream = server.connect();
        if let Some((request, headers, status)) = kinds.get(number % (kinds.len() + 1)) {
            let answer = on(&mut stream, &format!("{request} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n"));
            assert_eq!(answer.status, *status, "connection {number}: {request}");
        }
        stream
    });
    let silent: Vec<TcpStream> = silent.collect();
    for path in ["/healthz", "/metrics", "/v1/position?board=triangle:4&p=0x3ff", "/healthz"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    drop(silent);
    // Bodies that never arrive.
    let head = "POST /v1/positions?board=triangle:4 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n0x1";
    let busy: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    let answers = |status: u16| (0..400).any(|_| server.get("/v1/boards").status == status);
    assert!(answers(503), "no limit");
    for path in ["/healthz", "/metrics"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    drop(busy);
    assert!(answers(200), "the places are not given back");
}

/// A page from elsewhere neither reads answers nor starts work with its questions.
#[test]
fn foreign_names_and_pages_are_refused() {
    let folder = scratch();
    let path = folder.path();
    let long = "/v1/position?board=triangle:9&p=0xfffffffff";
    let foreign = "origin: https://nim.example\r\nsec-fetch-site: cross-site\r\n";
    let server = Server::start(path, &["--layers", "4"]);
    for path in [long, "/v1/boards", "/", "/healthz"] {
        let refused = server.ask("GET", path, foreign, b"");
        // The page itself is open to all.
        let status = if path == "/" { 200 } else { 403 };
        assert_eq!((refused.status, refused.header("access-control-allow-origin")), (status, None), "{path}");
        let words = "https://nim.example are refused: allow the origin";
        assert!(status == 200 || refused.problem().contains(words), "{}", refused.problem());
        let rebound = answer(&server.raw(format!("GET {path} HTTP/1.1\r\nhost: nim.example\r\n\r\n").as_bytes()));
        assert_eq!(rebound.status, 421, "{path}");
        assert!(
            rebound.problem().contains("the name \"nim.example\": add it with --allow-host"),
            "{}",
            rebound.problem()
        );
    }
    assert_eq!(server.ask("OPTIONS", "/v1/positions", foreign, b"").status, 403);
    let picture = server.ask("GET", long, "sec-fetch-site: cross-site\r\nsec-fetch-dest: image\r\n", b"");
    assert_eq!(picture.status, 403);
    assert!(std::fs::read_dir(path).unwrap().next().is_none(), "a solve has begun");
    // Behind a proxy, and with another page that is allowed to ask.
    let args = ["--layers", "4", "--allow-host", "nim.example", "--allow-origin", "https://nim.example"];
    let server = Server::start(path, &args);
    let proxied =
        answer(&server.raw(format!("GET /v1/boards HTTP/1.1\r\nhost: nim.example\r\n{foreign}\r\n").as_bytes()));
    let named = proxied.header("access-control-allow-origin");
    assert_eq!((proxied.status, named), (200, Some("https://nim.example")), "{}", proxied.head);
    assert!(proxied.head.contains("vary: origin"), "{}", proxied.head);
    let preflight = server.ask("OPTIONS", "/v1/positions", foreign, b"");
    assert_eq!((preflight.status, preflight.header("access-control-allow-methods")), (200, Some("get,post")));
    let own = server.get("/v1/boards");
    assert_eq!((own.status, own.header("access-control-allow-origin")), (200, None));
}

/// A position that takes a minute is solved only for the server's own page, and for the origins
/// that the operator allows.
#[test]
fn deep_solves_are_for_the_page() {
    let folder = scratch();
    let path = folder.path();
    let deep = ["/v1/position", "/v1/reply"].map(|path| format!("{path}?board=triangle:9&p=0x7ffffffff"));
    let none = Server::start(path, &["--layers", "3"]);
    let is_idle = || std::fs::read_dir(path).unwrap().next().is_none();
    let named = "origin: https://nim.example\r\n";
    let foreign = [
        "",
        "sec-fetch-site: none\r\n",
        "sec-fetch-site: cross-site\r\nsec-fetch-dest: document\r\n",
        "referer: https://nim.example/\r\n",
    ];
    let refused = |server: &Server| {
        for (deep, headers) in deep.iter().flat_map(|deep| foreign.map(|headers| (deep, headers))) {
            let found = server.ask("GET", deep, headers, b"");
            assert_eq!((found.status, found.header("cache-control")), (403, Some("no-store")), "{deep} {headers}");
            assert!(found.problem().contains("only for the server's own page and for --allow-origin"), "{headers}");
            assert!(found.problem().contains("smaller and stored positions"), "{headers}");
        }
    };
    let solves = |server: &Server, headers: &str| {
        for deep in &deep {
            assert_eq!(server.ask("GET", deep, headers, b"").status, 202, "{deep} {headers}");
        }
    };
    refused(&none);
    // Questions that need no solve are answered to all.
    for pieces in [28, 45] {
        let kept = format!("/v1/position?board=triangle:9&p={:#x}", (1_u64 << pieces) - 1);
        assert_eq!(foreign.map(|headers| none.ask("GET", &kept, headers, b"").status), [200; 4], "{pieces}");
    }
    assert!(is_idle(), "a solve has begun");
    for own in ["sec-fetch-site: same-origin\r\n", "origin: http://localhost\r\n", "referer: http://localhost/\r\n"] {
        solves(&none, own);
    }
    // The solve makes its folder when its thread runs.
    let begun = Instant::now();
    while is_idle() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no solve has begun");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Other clients cannot wait for it, either.
    refused(&none);
    drop(none);
    let one = Server::start(path, &["--layers", "3", "--allow-origin", "https://nim.example"]);
    refused(&one);
    solves(&one, named);
    drop(one);
    let all = Server::start(path, &["--layers", "3", "--allow-origin", "*"]);
    foreign.iter().chain([&named]).for_each(|headers| solves(&all, headers));
}

/// The operator sees which database, where and why, once a second; a restored one is read again.
#[test]
fn a_broken_database_is_reported_and_comes_back() {
    let folder = scratch();
    let path = folder.path();
    // Many blocks, most of which the server does not read at the start.
    let board = Board::named("rect:5x5", Takes::ANY).unwrap();
    Solve::new(&board, Rule::Misere).block_bits(16).run(&path.join("whole")).unwrap();
    triangle(4, Rule::Normal).run(&path.join("other")).unwrap();
    copy(&path.join("whole"), &path.join("five"));
    for cause in [".blk", "SUMS"] {
        let server = Server::start(path, &["five", "other", "--layers", "3"]);
        let files = std::fs::read_dir(path.join("five/db")).unwrap().map(|entry| entry.unwrap().path());
        let broken: Vec<_> = files.filter(|file| file.to_str().unwrap().ends_with(cause)).collect();
        for file in &broken {
            match cause {
                "SUMS" => std::fs::remove_file(file).unwrap(),
                _ => std::fs::write(
                    file,
                    std::fs::read(file).unwrap().iter().map(|byte| byte ^ 0x55).collect::<Vec<_>>(),
                )
                .unwrap(),
            }
        }
        let asked = "/v1/position?board=rect:5x5&p=0x0aaaaa";
        let begin = Instant::now();
        for _ in 0..20 {
            let found = server.get(asked);
            assert_eq!(found.status, if cause == "SUMS" { 200 } else { 500 });
            assert!(found.status == 200 || !found.problem().contains("five"), "{}", found.problem());
        }
        let health = server.get("/healthz");
        assert_eq!(health.status, 503, "{cause}");
        assert!(health.problem().ends_with("damaged: rect:5x5 misere"), "{}", health.problem());
        let lines = begin.elapsed().as_secs() + 2;
        assert_eq!(server.get("/v1/position?board=triangle:4&rule=normal&p=0x3ff").status, 200);
        for file in &broken {
            let mended = path.join("mended");
            std::fs::copy(path.join("whole/db").join(file.file_name().unwrap()), &mended).unwrap();
            std::fs::rename(&mended, file).unwrap();
        }
        assert_eq!(server.get(asked).status, 200);
        let is_well = || {
            std::thread::sleep(Duration::from_millis(50));
            server.get("/healthz").status == 200
        };
        assert!((0..200).any(|_| is_well()), "{cause}");
        let (code, error) = server.end("TERM");
        assert_eq!(code, Some(0));
        let told = error.lines().filter(|line| line.starts_with("error: ") && line.contains("five/db/")).count() as u64;
        assert!(error.contains(cause) && (1..=lines).contains(&told), "{error}");
    }
}

/// A request at work is answered after the signal, and no new one is accepted.
#[test]
fn a_stop_lets_requests_finish() {
    let folder = scratch();
    let server = Server::start(folder.path(), &["--layers", "6"]);
    let mut stream = server.connect();
    let body = "0x1fffff\n".repeat(2000);
    let head = "POST /v1/positions?board=triangle:6 HTTP/1.1\r\nhost: localhost\r\n";
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut found = vec![0];
    stream.read_exact(&mut found).unwrap();
    signal(&server.child, "TERM");
    stream.read_to_end(&mut found).unwrap();
    assert_eq!(text(&answer(&found).body).lines().count(), 2000);
    let address = server.address;
    assert_eq!(server.ended().0, Some(0));
    assert!(TcpStream::connect(address).is_err());
}
