//! `--metrics-listen ADDRESS`: the text of the metrics over HTTP, at `GET /metrics`.
//!
//! One thread answers one connection after the other, from the text that is made when one asks. It
//! needs neither the server's packages nor a request that is well-formed beyond its first line.
//!
//! # Invariants
//! 1. No client holds up the work: it never waits for this thread.
//! 2. No client holds up the next one longer than twice [`PATIENCE`], whatever it sends or leaves
//!    unread.
//!
//! # Not here
//! Encryption, accounts, kept connections and other paths: a proxy has the first three.

use pipeline::Stopwatch;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Path of the metrics.
const PATH: &str = "/metrics";
/// How long a request may take to arrive, and its answer to be read.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest head of a request, in bytes.
const HEAD_BYTES: usize = 8 << 10;
/// What is read after the answer, in bytes.
const REST_BYTES: u64 = 64 << 10;
/// Time until the next try after a connection could not be accepted: no open files may be left.
const PAUSE: Duration = Duration::from_millis(100);

const OK: &str = "200 OK";
const BAD: &str = "400 Bad Request";
const NOT_FOUND: &str = "404 Not Found";
const NOT_ALLOWED: &str = "405 Method Not Allowed";
const TOO_LARGE: &str = "431 Request Header Fields Too Large";

/// Answers on `address` with what `text` returns, until the process ends; returns the address, with
/// the port if any was to be taken.
///
/// # Errors
/// Returns the system's, if the address cannot be listened on or the thread not be started.
pub fn begin(address: SocketAddr, text: impl Fn() -> String + Send + 'static) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    let answer_all = move || {
        for stream in listener.incoming() {
            match stream {
                // A connection that breaks is the client's affair.
                Ok(stream) => {
                    let _ = answer(Patient { stream, clock: Stopwatch::start() }, &text);
                }
                Err(_) => thread::sleep(PAUSE),
            }
        }
    };
    thread::Builder::new().name("metrics".to_owned()).spawn(answer_all)?;
    Ok(address)
}

/// Returns where the metrics are, for people and scrapers.
pub fn url(address: SocketAddr) -> String {
    format!("http://{address}{PATH}")
}

/// A connection whose reads and writes end with its time.
struct Patient {
    stream: TcpStream,
    clock: Stopwatch,
}

impl Patient {
    fn left(&self) -> io::Result<Option<Duration>> {
        // The system takes no time for any time.
        let left = PATIENCE.checked_sub(self.clock.elapsed()).filter(|left| !left.is_zero());
        left.map(Some).ok_or_else(|| io::ErrorKind::TimedOut.into())
    }
}

impl Read for Patient {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads a request, answers it and ends the connection.
fn answer(mut client: Patient, text: &impl Fn() -> String) -> io::Result<()> {
    let Some(head) = head(&mut client)? else { return Ok(()) };
    client.clock = Stopwatch::start();
    client.write_all(reply(&head, text).as_bytes())?;
    client.stream.shutdown(Shutdown::Write)?;
    // The system drops an answer on its way if the connection is closed with bytes left to read.
    io::copy(&mut client.take(REST_BYTES), &mut io::sink()).map(drop)
}

/// Reads the head of a request, up to its empty line or its limit; `None` if the client ends
/// before.
fn head(client: &mut Patient) -> io::Result<Option<Vec<u8>>> {
    let mut lines = BufReader::new(client).take(HEAD_BYTES as u64);
    let mut head = Vec::new();
    loop {
        let start = head.len();
        let length = lines.read_until(b'\n', &mut head)?;
        match &head[start..] {
            [b'\n'] | [b'\r', b'\n'] if start > 0 => return Ok(Some(head)),
            _ if head.len() == HEAD_BYTES => return Ok(Some(head)),
            _ if length == 0 => return Ok(None),
            _ => {}
        }
    }
}

/// Returns the answer to a request with this head.
fn reply(head: &[u8], text: &impl Fn() -> String) -> String {
    let is_too_large = head.len() >= HEAD_BYTES;
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let line: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let status = match line[..] {
        _ if is_too_large => TOO_LARGE,
        [method, target, "HTTP/1.1" | "HTTP/1.0"] if !method.is_empty() => {
            match (method, target.split('?').next() == Some(PATH)) {
                ("GET", true) => OK,
                (_, true) => NOT_ALLOWED,
                (_, false) => NOT_FOUND,
            }
        }
        _ => BAD,
    };
    let mut fields = lines.map(str::to_ascii_lowercase);
    let wants_open_metrics =
        fields.any(|field| field.starts_with("accept:") && field.contains("application/openmetrics-text"));
    let (kind, body) = match status {
        OK if wants_open_metrics => ("application/openmetrics-text; version=1.0.0; charset=utf-8", text()),
        OK => ("text/plain; version=0.0.4; charset=utf-8", text()),
        status => ("text/plain; charset=utf-8", format!("{status}: GET {PATH} has the metrics\n")),
    };
    let allow = if status == NOT_ALLOWED { "allow: GET\r\n" } else { "" };
    let length = body.len();
    let body = if line[0] == "HEAD" { "" } else { &body };
    format!(
        "HTTP/1.1 {status}\r\n{allow}content-type: {kind}\r\ncontent-length: {length}\r\ncache-control: no-store\r\n\
         connection: close\r\n\r\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replied(head: &str) -> String {
        reply(head.as_bytes(), &|| "# EOF\n".to_owned())
    }

    #[test]
    fn one_path_and_one_method_have_the_text() {
        for (line, status) in [
            ("GET /metrics HTTP/1.1", OK),
            ("GET /metrics?x=1 HTTP/1.0", OK),
            ("GET / HTTP/1.1", NOT_FOUND),
            ("GET /metrics/ HTTP/1.1", NOT_FOUND),
            ("GET /Metrics HTTP/1.1", NOT_FOUND),
            ("get /metrics HTTP/1.1", NOT_ALLOWED),
            ("POST /other HTTP/1.1", NOT_FOUND),
            ("POST /metrics HTTP/1.1", NOT_ALLOWED),
            ("HEAD /metrics HTTP/1.1", NOT_ALLOWED),
            ("GET /metrics", BAD),
            ("GET /metrics HTTP/2.0", BAD),
            ("GET  /metrics HTTP/1.1", BAD),
            (" /metrics HTTP/1.1", BAD),
            ("", BAD),
        ] {
            let found = replied(&format!("{line}\r\nhost: x\r\n\r\n"));
            assert!(found.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{line}: {found}");
            assert_eq!(found.ends_with("\r\n\r\n# EOF\n"), status == OK, "{line}: {found}");
            assert_eq!(found.contains("\r\nallow: GET\r\n"), status == NOT_ALLOWED, "{line}: {found}");
            assert_eq!(found.ends_with("\r\n\r\n"), line.starts_with("HEAD"), "{line}: {found}");
        }
    }

    #[test]
    fn the_kind_is_what_was_asked_for() {
        let prometheus =
            "GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text;version=1.0.0;q=0.5,*/*\r\n\r\n";
        assert!(replied(prometheus).contains("\r\ncontent-type: application/openmetrics-text; version=1.0.0;"));
        assert!(replied("GET /metrics HTTP/1.1\r\n\r\n").contains("\r\ncontent-type: text/plain; version=0.0.4;"));
    }
}
