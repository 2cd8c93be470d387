//! A server under test, and a small client that shows what is really sent.

use crate::common::program::{signal, text, trinim};
use processes::wait_until;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

/// A server of this test; it is killed if the test fails.
pub struct Server {
    pub child: Child,
    pub address: SocketAddr,
}

impl Drop for Server {
    /// When a test leaves a server running, it has the counts of a fresh one and answers.
    fn drop(&mut self) {
        if !std::thread::panicking() && matches!(self.child.try_wait(), Ok(None)) {
            let is_alone = || text(&self.get("/metrics").body).contains("\ntrinim_connections 1\n");
            wait_until("alone with its client", is_alone);
            assert_eq!(self.get("/v1/boards").status, 200);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The parameters of a request for a position.
pub fn query(board: &str, rule: &str, position: &str) -> String {
    format!("board={board}&rule={rule}&p={position}")
}

/// An answer: status, headers in lower case, body.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// All headers with their values, without those that differ with time and transfer.
    pub fn headers(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut headers = BTreeMap::<_, BTreeSet<_>>::new();
        for (name, value) in self.head.lines().filter_map(|line| line.split_once(": ")) {
            if !["connection", "content-length", "date", "transfer-encoding"].contains(&name) {
                assert!(headers.entry(name).or_default().insert(value), "twice {name}: {value}");
            }
        }
        headers
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", text(&self.body)))
    }

    /// The detail of an error, whose form is checked.
    pub fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.head);
        let problem = self.json();
        assert_eq!((&problem["status"], &problem["type"]), (&self.status.into(), &"about:blank".into()));
        assert!(problem["title"].is_string());
        problem["detail"].as_str().unwrap().to_owned()
    }
}

impl Server {
    /// Starts a server on a free port, with its temporary files in the folder.
    pub fn start(folder: &Path, args: &[&str]) -> Server {
        let all = [&["--listen", "127.0.0.1:0", "--quiet"], args].concat();
        let mut child = trinim(folder, &all).env("TMPDIR", folder).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on http://").and_then(|rest| rest.split('/').next());
        Server { address: address.unwrap_or_else(|| panic!("{line:?}")).parse().unwrap(), child }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes and returns everything until the server closes the connection.
    pub fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // The server can refuse before it has read everything.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut found = Vec::new();
        let _ = stream.read_to_end(&mut found);
        found
    }

    pub fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let length = if method == "POST" { format!("content-length: {}\r\n", body.len()) } else { String::new() };
        let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{length}{headers}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let _ = stream.write_all(body);
        let mut found = Vec::new();
        let _ = stream.read_to_end(&mut found);
        answer(&found)
    }

    /// Asks as the server's own page does, which is allowed to start long solves.
    pub fn own(&self, path: &str) -> Answer {
        self.ask("GET", path, "sec-fetch-site: same-origin\r\n", b"")
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "", b"")
    }

    pub fn post(&self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, "", body.as_bytes())
    }

    /// Ends the server by a signal: its exit code and standard error.
    pub fn end(self, name: &str) -> (Option<i32>, String) {
        signal(&self.child, name);
        self.ended()
    }

    pub fn ended(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        let mut error = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert!(!error.contains("panicked"), "{error}");
        (code, error)
    }
}

/// Sends a request on a connection that stays open, and reads its answer.
pub fn on(stream: &mut TcpStream, request: &str) -> Answer {
    stream.write_all(request.as_bytes()).unwrap();
    let (mut reader, mut found) = (BufReader::new(&*stream), Vec::new());
    while !found.ends_with(b"\r\n\r\n") {
        assert!(reader.read_until(b'\n', &mut found).unwrap() > 0, "no answer: {request}");
    }
    let head = text(&found).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    if !request.starts_with("HEAD") {
        let at = found.len();
        found.resize(at + length.parse::<usize>().unwrap(), 0);
        reader.read_exact(&mut found[at..]).unwrap();
        while head.contains("transfer-encoding: chunked") && !found.ends_with(b"\r\n0\r\n\r\n") {
            assert!(reader.read_until(b'\n', &mut found).unwrap() > 0, "no end: {request}");
        }
    }
    assert!(reader.buffer().is_empty(), "more than one answer: {request}");
    answer(&found)
}

pub fn answer(bytes: &[u8]) -> Answer {
    let at = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let at = at.unwrap_or_else(|| panic!("no answer: {:?}", text(bytes)));
    let head = text(&bytes[..at]).to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body = &bytes[at + 4..];
    let is_chunked = head.contains("transfer-encoding: chunked") && !body.is_empty();
    Answer { status, body: if is_chunked { unchunked(body) } else { body.to_vec() }, head }
}

/// The body of a chunked answer, which must be complete.
fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n").expect("a chunk");
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        rest = &rest[end + 2..];
        if length == 0 {
            return body;
        }
        body.extend(&rest[..length]);
        rest = &rest[length + 2..];
    }
}
