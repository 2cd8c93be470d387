//! What a long command tells other programs: events on standard error, metrics in a file and over
//! HTTP, a service manager; and the files of `tools/batch` that read it.

use crate::common::program::{committed, ends, run, signal, text, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A solve of seven layers in 5,600 blocks: a second or more.
const MANY: [&str; 8] = ["solve", "-k", "7", "--block-bits", "14", "--commit-interval", "20ms", "--out"];

/// The events of a stream, all of whose lines are events.
fn events(stream: &str) -> Vec<Value> {
    let events: Vec<Value> = stream.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(events.iter().all(|event| event["schema"] == "trinim.progress/1"), "{stream}");
    let times: Vec<f64> = events.iter().map(|event| event["elapsed_s"].as_f64().unwrap()).collect();
    assert!(!times.is_empty() && times.is_sorted(), "{stream}");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    assert!(events.iter().all(|event| (now - event["time_s"].as_f64().unwrap()).abs() < 600.0), "{stream}");
    events
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

#[test]
fn a_stream_has_every_event_in_order_and_nothing_else() {
    let folder = scratch();
    let path = folder.path();
    let options = ["run", "--progress", "json", "--progress-interval", "10ms"];
    let solve = [&MANY[..], &options].concat();
    let mut child = trinim(path, &solve).spawn().unwrap();
    committed(&mut child, &path.join("run"));
    // A second process is refused, and says so in its own stream.
    let (code, _, error) = run(path, &solve);
    let refused = events(&error);
    assert_eq!((code, refused.last().unwrap()["event"].as_str()), (6, Some("failed")), "{error}");
    let (reason, hint) = (&refused.last().unwrap()["reason"], &refused.last().unwrap()["hint"]);
    assert!(reason.as_str().unwrap().contains(&format!("is in use by process {}", child.id())), "{reason}");
    assert!(hint.as_str().unwrap().contains("trinim status"), "{hint}");

    let pid = child.id();
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    let stopped = events(&text(&output.stderr));
    assert_eq!(output.status.code(), Some(143));
    assert_eq!((&stopped[0]["event"], &stopped[0]["pid"]), (&"started".into(), &pid.into()));
    let last = stopped.last().unwrap();
    assert_eq!((&last["event"], &last["exit_code"]), (&"stopped".into(), &143.into()));
    assert!(last["reason"].as_str().unwrap().contains("saved in run"), "{last}");
    assert!(last["hint"].as_str().unwrap().starts_with("resume with: trinim solve"), "{last}");
    let commits: Vec<u64> =
        named(&stopped, "commit").iter().map(|event| event["committed_blocks"].as_u64().unwrap()).collect();
    assert!(!commits.is_empty() && commits.is_sorted(), "{commits:?}");

    let (_, error) = ends(path, 0, &["resume", "run", "--progress", "json", "--progress-interval", "10ms"]);
    let whole = events(&error);
    assert_eq!((&whole[0]["event"], &whole[0]["command"]), (&"started".into(), &"resume".into()));
    assert!(named(&whole, "note").iter().any(|note| note["message"].as_str().unwrap().contains("resuming")), "{error}");
    let shares: Vec<f64> = named(&whole, "progress").iter().map(|one| one["share"].as_f64().unwrap()).collect();
    assert!(shares.len() > 1 && shares.is_sorted() && shares.iter().all(|share| *share <= 1.0), "{shares:?}");
    assert!(named(&whole, "progress").iter().all(|one| one["rate_positions_per_second"].as_f64().is_some()));
    let blocks = named(&whole, "commit").last().unwrap()["blocks"].clone();
    assert_eq!(named(&whole, "commit").last().unwrap()["committed_blocks"], blocks);
    let last = whole.last().unwrap();
    assert_eq!((&last["event"], &last["exit_code"]), (&"finished".into(), &0.into()));
    assert_eq!(named(&whole, "finished").len(), 1);

    // Other long commands, in their own words; quiet does not silence a stream.
    let (_, error) = ends(path, 0, &["-q", "verify", "run", "--progress", "json", "--progress-interval", "10ms"]);
    let verified = events(&error);
    assert_eq!(verified[0]["command"], "verify");
    assert_eq!(verified.last().unwrap()["event"], "finished");
    let (_, error) = ends(path, 2, &["verify", "absent", "--progress", "json"]);
    assert_eq!(events(&error).last().unwrap()["event"], "failed");
}

#[test]
fn lines_have_the_time() {
    let folder = scratch();
    let options = ["run", "--progress", "lines", "--progress-interval", "10ms"];
    let (_, error) = ends(folder.path(), 0, &[&MANY[..], &options].concat());
    let lines: Vec<&str> =
        error.lines().filter(|line| line.contains(" % ")).skip_while(|line| line.starts_with("run:")).collect();
    assert!(lines.len() > 1, "{error}");
    for line in lines {
        let (time, _) = line.split_once(' ').unwrap();
        let form: String = time.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
        assert_eq!(form, "0000-00-00T00:00:00Z", "{line}");
        let date = processes::command("date").args(["-u", "-d", time, "+%s"]).output().unwrap();
        let time: u64 = text(&date.stdout).trim().parse().unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        assert!(now.abs_diff(time) < 600, "{line}");
    }
}

/// The samples of a file of metrics, read by the rules of the text form.
fn samples(metrics: &str) -> Vec<(String, f64)> {
    assert!(metrics.ends_with("\n# EOF\n"), "{metrics}");
    let mut typed = BTreeSet::new();
    let mut samples = Vec::new();
    for line in metrics.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(kind == "gauge" && typed.insert(name.to_owned()), "{line}");
        } else if !line.starts_with('#') {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = series.split_once('{').unwrap();
            assert!(typed.contains(name) && labels.starts_with("command=\"") && labels.ends_with("\"}"), "{line}");
            samples.push((series.to_owned(), value.parse().unwrap()));
        }
    }
    samples
}

fn value(samples: &[(String, f64)], series: &str) -> Option<f64> {
    samples.iter().find(|(name, _)| name == series).map(|(_, value)| *value)
}

#[test]
fn a_file_of_metrics_is_always_whole_and_ends_with_the_end() {
    let folder = scratch();
    let path = folder.path();
    let file = path.join("trinim.prom");
    let solve = [&MANY[..], &["run", "--metrics", "trinim.prom"]].concat();
    let mut child = trinim(path, &solve).spawn().unwrap();
    let mut reads = 0;
    while child.try_wait().unwrap().is_none() {
        if let Ok(metrics) = fs::read_to_string(&file) {
            samples(&metrics);
            reads += 1;
        }
        if fs::metadata(path.join("run/m/journal.1.a")).is_ok_and(|journal| journal.len() > 0) {
            signal(&child, "TERM");
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(reads > 0);
    let stopped = samples(&fs::read_to_string(&file).unwrap());
    assert_eq!(value(&stopped, "trinim_state{command=\"solve\",state=\"stopped\"}"), Some(1.0));
    assert_eq!(value(&stopped, "trinim_state{command=\"solve\",state=\"running\"}"), Some(0.0));
    assert_eq!(value(&stopped, "trinim_exit_code{command=\"solve\"}"), Some(143.0));
    ends(path, 0, &["resume", "run", "--metrics", "trinim.prom"]);
    let finished = samples(&fs::read_to_string(&file).unwrap());
    assert_eq!(value(&finished, "trinim_state{command=\"resume\",state=\"finished\"}"), Some(1.0));
    assert_eq!(value(&finished, "trinim_progress_ratio{command=\"resume\"}"), Some(1.0));
    let blocks = value(&finished, "trinim_blocks{command=\"resume\"}");
    assert!(blocks.is_some_and(|blocks| blocks == 5600.0), "{blocks:?}");
    assert_eq!(value(&finished, "trinim_committed_blocks{command=\"resume\"}"), blocks);
    assert!(fs::read_dir(path).unwrap().all(|entry| !entry.unwrap().file_name().to_string_lossy().starts_with('.')));

    // A failure too, and a name that cannot be written is refused before any work.
    ends(path, 7, &["solve", "-k", "7", "--rule", "normal", "--out", "run", "--metrics", "trinim.prom"]);
    let failed = samples(&fs::read_to_string(&file).unwrap());
    assert_eq!(value(&failed, "trinim_state{command=\"solve\",state=\"failed\"}"), Some(1.0));
    for name in ["absent/trinim.prom", "run"] {
        let (_, error) = ends(path, 2, &["solve", "-k", "3", "--out", "three", "--metrics", name]);
        assert!(error.contains(&format!("--metrics {name}")) && !path.join("three").exists(), "{error}");
    }

    // What the rules and the panels of tools/batch ask for is there.
    let known: BTreeSet<String> = finished
        .iter()
        .chain(&stopped)
        .map(|(series, _)| series.split('{').next().unwrap().to_owned())
        .chain(["trinim_eta_seconds".to_owned()])
        .collect();
    for name in ["trinim.rules.yml", "trinim.grafana.json"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/batch").join(name);
        let asked = fs::read_to_string(file).unwrap();
        let words = asked.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
        let asked: BTreeSet<&str> = words.filter(|word| word.starts_with("trinim_")).collect();
        assert!(asked.len() >= 4, "{asked:?}");
        assert!(asked.iter().all(|name| known.contains(*name)), "{name}: {asked:?}\n{known:?}");
    }
}

/// A command whose metrics are served, and its address.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    /// Starts a solve of eight layers in small blocks, which takes minutes.
    fn start(folder: &Path) -> Served {
        // Eight layers alone are solved in seconds on a fast machine; their nimbers take minutes.
        let board = ["solve", "-k", "8", "--rule", "normal", "--values", "nimbers", "--threads", "1"];
        let solve = [&board[..], &["--commit-interval", "20ms", "--out", "run"]].concat();
        let served = ["--metrics", "trinim.prom", "--metrics-listen", "127.0.0.1:0", "--progress", "json"];
        let mut command = trinim(folder, &[&solve[..], &served].concat());
        // Each reading goes into the file, too.
        command.env("NOTIFY_SOCKET", folder.join("absent")).env("WATCHDOG_USEC", "100000");
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let started: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(started["event"], "started");
        let url = started["metrics_url"].as_str().unwrap();
        let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/metrics")).unwrap().to_owned();
        assert!(!address.ends_with(":0"), "{address}");
        Served { child, address }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends bytes and returns all that comes back until the connection ends.
    fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // An answer may come, and the connection end, before all is sent.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut found = Vec::new();
        let _ = stream.read_to_end(&mut found);
        text(&found)
    }

    /// The metrics, whose length has to be what the head says.
    fn metrics(&self) -> String {
        // Where the machine stands still for a second, the time of a request is up; a scraper asks
        // again.
        let ask = || self.raw(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n");
        let found = std::iter::repeat_with(ask).take(3).find(|found| !found.is_empty()).unwrap_or_default();
        let (head, body) = found.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{found:?}"));
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains(&format!("\r\ncontent-length: {}\r\n", body.len())), "{head}");
        assert!(head.contains("\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{head}");
        body.to_owned()
    }

    /// Stops the command, which has to end although `clients` are connected.
    fn stop<T>(mut self, clients: T) {
        signal(&self.child, "TERM");
        assert_eq!(self.child.wait().unwrap().code(), Some(143));
        drop(clients);
        assert!(TcpStream::connect(&self.address).is_err());
    }
}

/// A text of metrics without its values.
fn shape(metrics: &str) -> Vec<&str> {
    let of = |line: &str| line.starts_with('#') || line.contains("trinim_state");
    metrics.lines().map(|line| if of(line) { line } else { line.rsplit_once(' ').unwrap().0 }).collect()
}

#[test]
fn metrics_over_http_are_those_of_the_file() {
    let folder = scratch();
    let path = folder.path();
    let served = Served::start(path);
    let (mut asked, mut same) = (0, false);
    let mut shares = Vec::new();
    while asked < 600 && !(same && shares.last() > shares.first()) {
        let (metrics, file) = (served.metrics(), fs::read_to_string(path.join("trinim.prom")).unwrap_or_default());
        let figures = samples(&metrics);
        assert_eq!(value(&figures, "trinim_state{command=\"solve\",state=\"running\"}"), Some(1.0));
        shares.push(value(&figures, "trinim_progress_ratio{command=\"solve\"}").unwrap());
        // The file and the estimate come a moment later.
        same |= shape(&metrics) == shape(&file) && metrics.contains("trinim_eta_seconds");
        asked += 1;
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(same && shares.is_sorted() && shares.last() > shares.first(), "{same} {shares:?}");
    let strict = served.raw(b"GET /metrics?x HTTP/1.0\r\nAccept: application/openmetrics-text\r\n\r\n");
    assert!(strict.contains("\r\ncontent-type: application/openmetrics-text; version=1.0.0;"), "{strict}");
    served.stop(());
    let stopped = samples(&fs::read_to_string(path.join("trinim.prom")).unwrap());
    assert_eq!(value(&stopped, "trinim_exit_code{command=\"solve\"}"), Some(143.0));

    // Other commands say where in words, which quiet leaves out; an address for all is warned of.
    ends(path, 0, &["solve", "-k", "4", "--out", "four"]);
    let (_, error) = ends(path, 0, &["verify", "four", "--metrics-listen", "127.0.0.1:0"]);
    assert!(error.starts_with("metrics at http://127.0.0.1:") && error.contains("/metrics\n"), "{error}");
    let (_, error) = ends(path, 0, &["check", "four", "--metrics-listen", "127.0.0.1:0", "--quiet"]);
    assert_eq!(error, "");
    let (_, error) = ends(path, 0, &["check", "four", "--metrics-listen", "0.0.0.0:0"]);
    assert!(error.contains("warning: anyone who can reach this address can read the metrics"), "{error}");

    // What cannot be listened on is refused before anything is written.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    for (address, code) in [
        (taken.local_addr().unwrap().to_string(), 4),
        ("192.0.2.1:0".to_owned(), 4),
        ("localhost".to_owned(), 2),
        ("9464".to_owned(), 2),
        ("127.0.0.1:65536".to_owned(), 2),
    ] {
        let (_, error) = ends(path, code, &["solve", "-k", "3", "--out", "three", "--metrics-listen", &address]);
        assert!(error.contains("--metrics-listen") && error.contains(&address), "{error}");
        assert!(error.contains("\nhint: ") && !path.join("three").exists(), "{error}");
    }
}

#[test]
fn silent_and_slow_clients_hold_up_nothing() {
    let folder = scratch();
    let served = Served::start(folder.path());
    let long = "x".repeat(200_000);
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "404 Not Found"),
        ("GET /metrics/../trinim.prom HTTP/1.1\r\n\r\n".to_owned(), "404 Not Found"),
        (
            format!("POST /metrics HTTP/1.1\r\ncontent-length: 50000\r\n\r\n{}", &long[..50_000]),
            "405 Method Not Allowed",
        ),
        ("HEAD /metrics HTTP/1.1\r\n\r\n".to_owned(), "405 Method Not Allowed"),
        ("GET /metrics HTTP/9.9\r\n\r\n".to_owned(), "400 Bad Request"),
        (format!("GET /metrics HTTP/1.1\r\nx: {}\r\n\r\n", &long[..9000]), "431 Request Header Fields Too Large"),
    ] {
        let found = served.raw(request.as_bytes());
        assert!(found.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{:.80}: {found}", request);
        assert!(!found.contains("trinim_"), "{found}");
    }
    // Who goes away without reading.
    for _ in 0..50 {
        served.connect().write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    }

    // A client that says nothing, one that stops in the middle, and one that has its answer and
    // stays: the next waits a second for each.
    let clock = Instant::now();
    let mut clients = [served.connect(), served.connect(), served.connect()];
    clients[1].write_all(b"GET /metrics HT").unwrap();
    clients[2].write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let first = samples(&served.metrics());
    assert!(clock.elapsed() < Duration::from_secs(60), "{:?}", clock.elapsed());
    // One that sends a byte at a time never gets to the end of its line.
    let mut slow = served.connect();
    let clock = Instant::now();
    while slow.write_all(b"x").is_ok() {
        assert!(clock.elapsed() < Duration::from_secs(60), "a slow client was heard out");
        std::thread::sleep(Duration::from_millis(50));
    }
    // The work goes on beside them, and ends beside them.
    let silent = [served.connect(), served.connect()];
    let of = |samples: &[(String, f64)]| value(samples, "trinim_finished_blocks{command=\"solve\"}");
    let clock = Instant::now();
    while of(&samples(&served.metrics())) <= of(&first) {
        assert!(clock.elapsed() < Duration::from_secs(60), "the work was held up");
        std::thread::sleep(Duration::from_millis(50));
    }
    let more = [served.connect(), served.connect()];
    served.stop((clients, slow, silent, more));
}

/// Receives what a command tells its service manager.
fn received(socket: &UnixDatagram) -> Vec<String> {
    socket.set_nonblocking(true).unwrap();
    let mut told = Vec::new();
    let mut bytes = [0; 4096];
    while let Ok(length) = socket.recv(&mut bytes) {
        told.extend(text(&bytes[..length]).lines().map(str::to_owned));
    }
    told
}

#[test]
fn a_service_manager_is_told() {
    let folder = scratch();
    let path = folder.path();
    let by_path = UnixDatagram::bind(path.join("notify")).unwrap();
    let hidden = format!("trinim-test-{}", std::process::id());
    let by_name = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&hidden).unwrap()).unwrap();
    let file = path.join("notify").to_string_lossy().into_owned();
    for (number, (name, socket)) in [(file, &by_path), (format!("@{hidden}"), &by_name)].into_iter().enumerate() {
        let out = format!("run{number}");
        let solve = [&MANY[..], &[&out]].concat();
        let mut command = trinim(path, &solve);
        let mut child = command.env("NOTIFY_SOCKET", name).env("WATCHDOG_USEC", "200000").spawn().unwrap();
        committed(&mut child, &path.join(&out));
        let watched = |told: &[String]| told.iter().filter(|line| *line == "WATCHDOG=1").count() >= 2;
        let counted = |line: &String| line.starts_with("STATUS=") && line.contains(" blocks");
        // A socket holds ten messages: on a slow machine there was no place for the last one.
        let mut told = received(socket);
        while !(watched(&told) && told.iter().any(counted)) {
            assert_eq!(child.try_wait().unwrap(), None, "the solve ended before it told this: {told:?}");
            std::thread::sleep(Duration::from_millis(50));
            told.extend(received(socket));
        }
        signal(&child, "TERM");
        let code = child.wait_with_output().unwrap().status.code();
        told.extend(received(socket));
        assert_eq!(told[0], "READY=1", "{told:?}");
        // Unless it was faster than the signal.
        let end = if code == Some(143) { "STATUS=stopped, exit code 143" } else { "STATUS=finished, exit code 0" };
        assert_eq!(&told[told.len() - 2..], ["STOPPING=1", end], "{told:?}");
    }
    // The watchdog of another process is none of ours, and a socket that is not there does not
    // matter.
    let mut command = trinim(path, &["solve", "-k", "3", "--out", "three"]);
    command.env("NOTIFY_SOCKET", path.join("absent")).env("WATCHDOG_USEC", "1").env("WATCHDOG_PID", "1");
    assert!(command.output().unwrap().status.success());
}

#[test]
fn a_folder_is_resumed_as_it_was_begun_and_others_are_refused_by_name() {
    let folder = scratch();
    let path = folder.path();
    let options = ["--rule", "normal", "--max-take", "3", "--audit", "20:5"];
    ends(path, 0, &[&MANY[..], &["whole"], &options].concat());
    let mut child = trinim(path, &[&MANY[..], &["run"], &options].concat()).spawn().unwrap();
    committed(&mut child, &path.join("run"));
    let (_, error) = ends(path, 6, &["resume", "run"]);
    assert!(error.contains(&format!("run is in use by process {}, ", child.id())), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    let (out, error) = ends(path, 0, &["resume", "run", "--threads", "1", "--memory", "100MiB"]);
    assert!(error.starts_with("run: resuming: ") && out.contains("resumed    "), "{out}{error}");
    assert_eq!(
        fs::read(path.join("run/db/manifest.json")).unwrap(),
        fs::read(path.join("whole/db/manifest.json")).unwrap()
    );
    assert_eq!(fs::read(path.join("run/db/SUMS")).unwrap(), fs::read(path.join("whole/db/SUMS")).unwrap());

    // A job that restarts until it succeeds has succeeded.
    let (out, error) = ends(path, 0, &["resume", "run"]);
    assert!(error.starts_with("run is already solved, nothing to do"), "{error}");
    assert_eq!(out.lines().next(), ends(path, 0, &["stats", "run"]).0.lines().next());

    crate::common::program::copy(&path.join("run/db"), &path.join("alone"));
    ends(path, 0, &["task", "init", "--store", "tasks", "--layers", "3"]);
    fs::create_dir(path.join("empty")).unwrap();
    fs::write(path.join("letter"), "dear").unwrap();
    for (name, reason, hint) in [
        ("alone", "alone is a finished database without its run: there is nothing to resume", "trinim stats alone"),
        ("tasks", "tasks is the store of a solve in tasks: there is no run to resume", "trinim task --store tasks"),
        ("empty", "empty holds neither a run nor a database", "trinim resume trinim-k7-misere"),
        ("absent", "absent holds neither a run nor a database: no such folder", "trinim resume trinim-k7-misere"),
        ("letter", "letter holds neither a run nor a database: it is a file", "trinim resume trinim-k7-misere"),
    ] {
        let (_, error) = ends(path, 2, &["resume", name]);
        let (found, found_hint) = error.split_once("\nhint: ").unwrap();
        assert!(found.contains(reason) && found_hint.contains(hint), "{name}: {error}");
    }
    // A strategy that keeps no checkpoints starts over, as the folder was begun.
    let mut forward = trinim(path, &["solve", "-k", "7", "--strategy", "forward", "--out", "forward"]).spawn().unwrap();
    while !path.join("forward/FORMAT").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    forward.kill().unwrap();
    forward.wait().unwrap();
    let mut child = trinim(path, &["resume", "forward"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "TERM");
    child.wait().unwrap();
    let parameters = fs::read(path.join("forward/FORMAT")).unwrap();
    assert!(text(&parameters).contains("forward"));
}

#[test]
fn a_job_of_slurm_is_queued_again_until_it_is_finished() {
    let folder = scratch();
    let path = folder.path();
    // Stands for Slurm's own command, and notes what it is asked.
    let scontrol = path.join("scontrol");
    fs::write(&scontrol, "#!/bin/sh\necho \"$@\" >> \"$REQUEUED\"\n").unwrap();
    fs::set_permissions(&scontrol, fs::Permissions::from_mode(0o755)).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/batch/solve.sbatch");
    let requeued = path.join("requeued");
    let job = |args: &[&str]| {
        let mut command = processes::command("bash");
        command.arg(&script).args(args).current_dir(path).env("TRINIM", env!("CARGO_BIN_EXE_trinim"));
        command.env("PATH", format!("{}:{}", path.display(), std::env::var("PATH").unwrap()));
        command.env("REQUEUED", &requeued).env("SLURM_JOB_ID", "17").env("SLURM_CPUS_PER_TASK", "1");
        command
    };
    let solve = ["--layers", "6", "--block-bits", "9", "--commit-interval", "20ms", "--out", "run"];
    let mut child = job(&solve).spawn().unwrap();
    committed(&mut child, &path.join("run"));
    // Slurm sends it to the shell alone.
    signal(&child, "TERM");
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(fs::read_to_string(&requeued).unwrap(), "requeue 17\n");
    assert!(!path.join("run/db/SUMS").exists());
    let output = job(&solve).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).ends_with("finished\n") && path.join("run/db/SUMS").exists());
    let output = job(&["--layers", "5", "--out", "run"]).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert!(text(&output.stderr).contains("failed (exit code 7): not queued again"));
    assert_eq!(fs::read_to_string(&requeued).unwrap(), "requeue 17\n");
}
