//! What the program says of a service that refuses it: the service here answers every request in
//! one way.

use crate::common::program::{outcome, trinim};
use crate::common::scratch;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

/// A service that gives this answer to every request; its address.
fn service(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    // It ends with the tests.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map(Result::unwrap) {
            let (mut reader, mut line) = (BufReader::new(stream.try_clone().unwrap()), String::new());
            while reader.read_line(&mut line).unwrap() > 2 {
                line.clear();
            }
            let head = "connection: close\r\netag: \"x\"\r\nlast-modified: Fri, 27 Nov 2026 08:00:00 GMT";
            let _ = write!(stream, "HTTP/1.1 {status}\r\n{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        }
    });
    address
}

/// Regression: a wrong clock was forbidden for ever, and a wrong region worth another try.
#[test]
fn errors_of_a_service_are_for_now_or_for_ever() {
    let folder = scratch();
    for (status, body, code, said) in [
        (
            "403 Forbidden",
            "<Error><Code>RequestTimeTooSkewed</Code><Message>The difference is too large.</Message></Error>",
            75,
            "RequestTimeTooSkewed: The difference is too large. Set the clock of this machine.",
        ),
        ("403 Forbidden", "<Error><Code>AccessDenied</Code><Message>No.</Message></Error>", 65, "AccessDenied: No."),
        (
            "400 Bad Request",
            "<Error><Code>AuthorizationHeaderMalformed</Code><Message>expecting 'eu-central-1'</Message></Error>",
            2,
            "expecting 'eu-central-1'",
        ),
        ("301 Moved Permanently", "<Error><Code>PermanentRedirect</Code></Error>", 2, "region"),
        ("200 OK", "all of it", 2, "non-partial response when range requested"),
        (
            "501 Not Implemented",
            "<Error><Code>NotImplemented</Code><Message>No ranges.</Message></Error>",
            2,
            "No ranges",
        ),
    ] {
        let mut command = trinim(folder.path(), &["list", "--store", "s3://bucket/k"]);
        for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            command.env_remove(name);
        }
        command.env("AWS_ENDPOINT", service(status, body)).env("AWS_ALLOW_HTTP", "true");
        command.env("AWS_ACCESS_KEY_ID", "x").env("AWS_SECRET_ACCESS_KEY", "x").env("AWS_REGION", "us-east-1");
        let (found, _, error) = outcome(&mut command);
        assert_eq!(found, code, "{status} {body}: {error}");
        assert!(error.contains(said), "{error}");
        assert_eq!(error.contains("AWS_"), code == 2, "{error}");
    }
}
