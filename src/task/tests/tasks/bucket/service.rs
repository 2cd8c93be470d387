//! The program and a service: one that answers every request in one way, of which it says what is
//! wrong, and one that has objects, with which it does what it does in a folder.

use crate::common::program::{outcome, tree, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

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

/// A service with objects in memory, as far as the program uses one; its address.
fn objects() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let objects = Arc::new(Mutex::new(BTreeMap::new()));
    std::thread::spawn(move || {
        for stream in listener.incoming().map(Result::unwrap) {
            let objects = Arc::clone(&objects);
            std::thread::spawn(move || answer(&stream, &mut objects.lock().unwrap()));
        }
    });
    address
}

/// Reads a request, and answers it from these objects.
fn answer(mut stream: &TcpStream, objects: &mut BTreeMap<String, Vec<u8>>) {
    let (mut reader, mut head) = (BufReader::new(stream), String::new());
    while reader.read_line(&mut head).unwrap() > 2 {}
    let field = |name: &str| {
        let fields = head.lines().filter_map(|line| line.split_once(": "));
        { fields }.find_map(|(found, value)| found.eq_ignore_ascii_case(name).then(|| value.to_owned()))
    };
    let mut body = vec![0; field("content-length").map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let mut words = head.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap().replace("%2F", "/"));
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let key = path.trim_start_matches("/bucket").trim_start_matches('/').to_owned();
    let parameter = |name: &str| query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
    let (mut status, mut fields) = ("200 OK", String::new());
    let text = match (method, objects.get(&key)) {
        ("GET", _) if parameter("list-type").is_some() => {
            let prefix = parameter("prefix").unwrap_or_default();
            let is_listed = |key: &str| {
                let below = key.strip_prefix(prefix);
                below.is_some_and(|below| parameter("delimiter").is_none() || !below.contains('/'))
            };
            let row = |(key, bytes): (&String, &Vec<u8>)| {
                let time = "<LastModified>2026-11-27T08:00:00.000Z</LastModified>";
                format!("<Contents><Key>{key}</Key>{time}<ETag>x</ETag><Size>{}</Size></Contents>", bytes.len())
            };
            let rows: String = objects.iter().filter(|(key, _)| is_listed(key)).map(row).collect();
            format!("<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>").into_bytes()
        }
        ("GET" | "HEAD", Some(found)) => {
            let range =
                field("range").and_then(|range| Some(range.strip_prefix("bytes=0-")?.parse::<usize>().unwrap()));
            let end = range.map_or(found.len(), |last| found.len().min(last + 1));
            if range.is_some() {
                status = "206 Partial Content";
                fields = format!("content-range: bytes 0-{}/{}\r\n", end - 1, found.len());
            }
            found[..end].to_vec()
        }
        ("GET" | "HEAD", None) => {
            status = "404 Not Found";
            b"<Error><Code>NoSuchKey</Code><Message>No.</Message></Error>".to_vec()
        }
        ("PUT", Some(_)) if field("if-none-match").is_some() => {
            status = "412 Precondition Failed";
            b"<Error><Code>PreconditionFailed</Code><Message>No.</Message></Error>".to_vec()
        }
        ("PUT", _) => {
            objects.insert(key, body);
            Vec::new()
        }
        ("POST", _) if query == "delete" => {
            let body = String::from_utf8(body).unwrap();
            let named = body.split("<Key>").skip(1).filter_map(|part| part.split("</Key>").next());
            let row = |key: &str| {
                objects.remove(key);
                format!("<Deleted><Key>{key}</Key></Deleted>")
            };
            format!("<DeleteResult>{}</DeleteResult>", named.map(row).collect::<String>()).into_bytes()
        }
        other => panic!("no test sends {other:?}"),
    };
    let common = "connection: close\r\netag: \"x\"\r\nlast-modified: Fri, 27 Nov 2026 08:00:00 GMT\r\n";
    write!(stream, "HTTP/1.1 {status}\r\n{common}{fields}content-length: {}\r\n\r\n", text.len()).unwrap();
    if method != "HEAD" {
        stream.write_all(&text).unwrap();
    }
}

/// Every command does in a bucket what it does in a folder: the same exit code and report, and at
/// the end the same files, also where an object is damaged.
#[test]
fn a_bucket_is_like_a_folder() {
    let folder = scratch();
    let path = folder.path();
    let address = objects();
    let run = |store: &str, line: &str| {
        let mut words = line.split(' ').map(|word| if word == "STORE" { store } else { word });
        let mut command = trinim(path, &{ words }.by_ref().collect::<Vec<_>>());
        command.env("AWS_ENDPOINT", &address).env("AWS_ALLOW_HTTP", "true").env("TMPDIR", path);
        command.env("AWS_ACCESS_KEY_ID", "x").env("AWS_SECRET_ACCESS_KEY", "x").env("AWS_REGION", "us-east-1");
        let (code, out, error) = outcome(&mut command);
        let reports = serde_json::Deserializer::from_str(&out).into_iter::<Value>().map(|report| {
            let Ok(Value::Object(mut report)) = report else { panic!("{line}: {out}{error}") };
            // Times, sizes of processes, and names.
            for name in ["elapsed_s", "seconds", "peak_rss_bytes", "store", "out", "to"] {
                report.remove(name);
            }
            report
        });
        (code, reports.collect::<Vec<_>>(), error)
    };
    for keep in ["database", "counts"] {
        let stores = [format!("folder-{keep}"), format!("s3://bucket/{keep}")];
        let both = |line: &str| {
            let [there, here] = stores.each_ref().map(|store| run(store, line));
            assert_eq!((here.0, &here.1), (there.0, &there.1), "{line}: {}{}", there.2, here.2);
            here.1
        };
        both(&format!("init --store STORE -k 5 --block-bits 9 --keep {keep} --json"));
        let blocks: Vec<String> = both("plan --store STORE").iter().map(|row| row["block"].to_string()).collect();
        both(&format!("--store STORE --batch {} --json", blocks[0]));
        both("list --store STORE --json");
        both(&format!("--store STORE --batch {} --json", blocks.join(",")));
        both("sweep --store STORE --json");
        both("finish --store STORE --json");
        both("list --store STORE --json");
        if keep == "database" {
            (1..=3).for_each(|share| drop(both(&format!("verify --store STORE --shard {share}/3 --json"))));
        }
        for (number, store) in stores.iter().enumerate() {
            let (code, _, error) = run(store, &format!("copy --store STORE --to {keep}-{number} --json"));
            assert_eq!(code, 0, "{error}");
        }
        let [there, here] = [0, 1].map(|number| tree(&path.join(format!("{keep}-{number}"))));
        assert!(there.into_values().eq(here.into_values()), "{keep}: the copies differ");
    }
}
