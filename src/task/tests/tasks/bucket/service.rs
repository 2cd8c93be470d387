//! The program and its service: one that answers every request in one way, and one that keeps
//! objects, in which a store behaves as in a folder.

use crate::common::program::{outcome, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;

/// A service with this answer, its status and its body, to a request: the method, the address below
/// the bucket, the headers in lower case, and the body. Returns its own address.
fn serve(mut answer: impl FnMut(&str, &str, &str, Vec<u8>) -> (String, Vec<u8>) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    // It ends with the tests.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map(Result::unwrap) {
            let (mut reader, mut head) = (BufReader::new(stream.try_clone().unwrap()), String::new());
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
            let (first, headers) = head.split_once("\r\n").unwrap();
            let headers = headers.to_lowercase();
            let length = headers.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or("0");
            let mut body = vec![0; length.parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            let (method, place) = first.split_once(" /bucket").unwrap();
            let (status, body) = answer(method, place.split(' ').next().unwrap(), &headers, body);
            let more = "connection: close\r\netag: \"x\"\r\nlast-modified: Fri, 27 Nov 2026 08:00:00 GMT";
            let _ = write!(stream, "HTTP/1.1 {status}\r\n{more}\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = if method == "HEAD" { Ok(()) } else { stream.write_all(&body) };
        }
    });
    address
}

/// A command for a store in a bucket of this service.
fn in_bucket(folder: &Path, address: &str, args: &[&str]) -> Command {
    let mut command = trinim(folder, args);
    command.env("AWS_ENDPOINT", address).env("AWS_ALLOW_HTTP", "true");
    command.env("AWS_ACCESS_KEY_ID", "x").env("AWS_SECRET_ACCESS_KEY", "x").env("AWS_REGION", "us-east-1");
    command
}

/// Removes an object, as another program does.
fn remove(address: &str, name: &str) {
    let mut stream = TcpStream::connect(address.trim_start_matches("http://")).unwrap();
    write!(stream, "DELETE /bucket/{name} HTTP/1.1\r\n\r\n").unwrap();
    assert!(std::io::read_to_string(stream).unwrap().starts_with("HTTP/1.1 204"));
}

/// The listing of these objects.
fn listed(objects: &BTreeMap<String, Vec<u8>>, prefix: &str, is_shallow: bool) -> String {
    let (mut listed, mut folders) = (String::new(), BTreeSet::new());
    for (name, bytes) in objects {
        let Some(rest) = name.strip_prefix(prefix) else { continue };
        match rest.split_once('/').filter(|_| is_shallow) {
            Some((folder, _)) => drop(folders.insert(folder)),
            None => {
                let about = "<LastModified>2026-11-27T08:00:00.000Z</LastModified><ETag>x</ETag>";
                listed += &format!("<Contents><Key>{name}</Key>{about}<Size>{}</Size></Contents>", bytes.len());
            }
        }
    }
    let folders =
        folders.iter().map(|name| format!("<CommonPrefixes><Prefix>{prefix}{name}/</Prefix></CommonPrefixes>"));
    format!(
        "<ListBucketResult><IsTruncated>false</IsTruncated>{listed}{}</ListBucketResult>",
        folders.collect::<String>()
    )
}

/// A service that keeps objects, as far as a store needs one.
fn bucket() -> String {
    let mut objects = BTreeMap::<String, Vec<u8>>::new();
    serve(move |method, place, headers, body| {
        let (name, query) = place.split_once('?').unwrap_or((place, ""));
        let name = name.trim_start_matches('/').to_owned();
        let parameter = |name: &str| query.split('&').find_map(|one| one.strip_prefix(name)?.strip_prefix('='));
        let text = String::from_utf8_lossy(&body).into_owned();
        let range = headers.split("range: bytes=0-").nth(1).and_then(|rest| rest.lines().next());
        let (status, body) = match (method, objects.get(&name)) {
            ("GET", _) if query.contains("list-type") => {
                let prefix = parameter("prefix").unwrap_or_default().replace("%2F", "/");
                ("200 OK".to_owned(), listed(&objects, &prefix, parameter("delimiter").is_some()).into_bytes())
            }
            ("POST", _) => {
                let names: Vec<_> = text.split("<Key>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
                names.iter().for_each(|name| drop(objects.remove(*name)));
                let removed = names.iter().map(|name| format!("<Deleted><Key>{name}</Key></Deleted>"));
                (
                    "200 OK".to_owned(),
                    format!("<DeleteResult>{}</DeleteResult>", removed.collect::<String>()).into_bytes(),
                )
            }
            ("DELETE", _) => {
                objects.remove(&name);
                ("204 No Content".to_owned(), Vec::new())
            }
            ("PUT", Some(_)) => ("412 Precondition Failed".to_owned(), Vec::new()),
            ("PUT", None) => {
                assert!(headers.contains("if-none-match: *"), "{headers}");
                objects.insert(name, body);
                ("200 OK".to_owned(), Vec::new())
            }
            (_, None) => ("404 Not Found".to_owned(), b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
            (_, Some(bytes)) => match range.map(|last| last.parse::<usize>().unwrap() + 1) {
                Some(_) if bytes.is_empty() => ("416 Range Not Satisfiable".to_owned(), Vec::new()),
                Some(end) => {
                    let end = end.min(bytes.len());
                    let range = format!("206 Partial Content\r\ncontent-range: bytes 0-{}/{}", end - 1, bytes.len());
                    (range, bytes[..end].to_vec())
                }
                None => ("200 OK".to_owned(), bytes.clone()),
            },
        };
        (status, body)
    })
}

/// Every command prints the same for a store in a bucket and in a folder.
#[test]
fn a_store_in_a_bucket_is_one_in_a_folder() {
    let folder = scratch();
    for keep in ["database", "counts"] {
        let (address, name) = (bucket(), format!("s-{keep}"));
        let place = format!("s3://bucket/{name}");
        let both = |code: i32, args: &str| {
            let [one, other] = [&name, &place].map(|store| {
                let args: Vec<String> = args.split(' ').map(|arg| arg.replace("STORE", store)).collect();
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                let (found, out, error) = outcome(&mut in_bucket(folder.path(), &address, &args));
                assert_eq!(found, code, "{args:?}: {out}{error}");
                let out = out.replace(store, "STORE");
                let lines = out.lines().map(|line| serde_json::from_str(line).unwrap());
                let mut rows: Vec<Value> = match serde_json::from_str(&out) {
                    Ok(row) => vec![row],
                    Err(_) => lines.collect(),
                };
                for row in rows.iter_mut().filter_map(Value::as_object_mut) {
                    row.retain(|name, _| !["elapsed_s", "seconds", "peak_rss_bytes"].contains(&name.as_str()));
                }
                rows
            });
            assert_eq!(one, other, "{keep}: {args}");
            one
        };
        let init = format!("init --store STORE -k 5 --block-bits 9 --keep {keep}");
        both(0, &format!("{init} --json"));
        both(0, &format!("{init} --json"));
        let blocks = both(0, "plan --store STORE").len();
        both(75, "finish --store STORE --json");
        both(0, "--store STORE --batch 0 --json");
        for block in 1..blocks {
            both(0, &format!("--store STORE --batch {},{block} --json", block - 1));
            if block % 5 == 0 {
                both(0, "list --store STORE --json");
                both(0, "sweep --store STORE --json");
            }
        }
        both(0, "finish --store STORE --json");
        both(0, "finish --store STORE --json");
        for of in [1, 2, blocks + 1].into_iter().filter(|_| keep == "database") {
            (1..=of).for_each(|share| drop(both(0, &format!("verify --store STORE --shard {share}/{of} --json"))));
        }
        both(0, "copy --store STORE --to STORE-copy --json");
        if keep == "database" {
            let verify = ["verify", "--store", &place, "--shard", "1/1"];
            let mut command = in_bucket(folder.path(), &address, &verify);
            let (code, _, error) = outcome(command.env("TMPDIR", folder.path().join("missing")));
            assert!(code == 4 && error.contains("name another one with TMPDIR"), "{code} {error}");
            remove(&address, &format!("{name}/db/000003.blk"));
            fs::remove_file(folder.path().join(&name).join("db/000003.blk")).unwrap();
            let (code, _, error) = outcome(&mut in_bucket(folder.path(), &address, &verify));
            assert!(code == 3 && error.contains("000003.blk"), "{code} {error}");
            let (code, out, _) =
                outcome(&mut in_bucket(folder.path(), &address, &["verify", "--store", &name, "--shard", "1/1"]));
            assert!(code == 3 && out.contains("damaged"), "{code} {out}");
        }
        // The store is named, not the folder that its files were copied to.
        if keep == "counts" {
            let refused = both(2, "verify --store STORE --shard 1/1 --json");
            let [reason, hint] = ["reason", "hint"].map(|field| refused[0][field].as_str().unwrap());
            assert!(reason == "STORE keeps counts only, not every value" && hint.contains("--layers 5"), "{refused:?}");
        }
    }
}

/// The client panics at what no request can carry.
#[test]
fn variables_that_are_impossible_are_refused_by_name() {
    let folder = scratch();
    let address = serve(|_, _, _, _| ("404 Not Found".to_owned(), b"<Error><Code>NoSuchKey</Code></Error>".to_vec()));
    let list = |name: &str, value: &str| {
        let mut command = in_bucket(folder.path(), &address, &["list", "--store", "s3://bucket/k"]);
        let (code, _, error) = outcome(command.env(name, value));
        assert_eq!(code, 2, "{name}: {error}");
        error
    };
    for (name, value) in [
        ("AWS_ENDPOINT", "minio:9000"),
        ("AWS_ENDPOINT_URL", "http://"),
        ("AWS_ENDPOINT_URL_S3", "ftp://minio/"),
        ("AWS_ACCESS_KEY_ID", "x\n"),
        ("AWS_SESSION_TOKEN", "x\n"),
        ("AWS_REGION", "us-\u{e9}"),
    ] {
        let error = list(name, value);
        assert!(error.contains(&format!("s3://bucket/k: {name} is invalid")), "{error}");
    }
    // An empty variable is unset.
    for name in ["AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN", "AWS_SKIP_SIGNATURE", "AWS_TIMEOUT"] {
        let error = list(name, "");
        assert!(error.contains("is not a store of tasks"), "{error}");
    }
}

/// Regression: a wrong clock was a permanent error, and a wrong region a temporary one.
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
        (
            "400 Bad Request",
            "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>",
            75,
            "ExpiredToken: The provided token has expired. Renew the credentials, and repeat the command.\n",
        ),
        ("403 Forbidden", "<Error><Code>ExpiredToken</Code></Error>", 75, "ExpiredToken: "),
        ("403 Forbidden", "<Error><Code>InvalidToken</Code><Message>No.</Message></Error>", 65, "InvalidToken: No.\n"),
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
        let address = serve(move |_, _, _, _| (status.to_owned(), body.as_bytes().to_vec()));
        let (found, _, error) = outcome(&mut in_bucket(folder.path(), &address, &["list", "--store", "s3://bucket/k"]));
        assert_eq!(found, code, "{status} {body}: {error}");
        assert!(error.contains(said), "{error}");
        assert_eq!(error.contains("AWS_"), code == 2, "{error}");
        assert_eq!(error.contains("needs the rights"), code == 65, "{error}");
    }
}
