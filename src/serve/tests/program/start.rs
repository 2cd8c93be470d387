//! How the program starts and ends: refusals, help, manual page, and failing surroundings.

use crate::client::Server;
use crate::common::program::{ends, full_pipe, signal, text, trinim};
use crate::common::scratch;
use crate::oracle::triangle;
use processes::session;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;
use trinim::Rule;

#[test]
fn an_address_that_is_taken_is_refused_at_the_start() {
    let folder = scratch();
    let path = folder.path();
    triangle(4, Rule::Misere).run(&path.join("four")).unwrap();
    let server = Server::start(path, &["four", "--layers", "4,9"]);
    let taken = server.address.to_string();
    let (_, error) = ends(path, 4, &["--layers", "1", "--listen", &taken]);
    assert!(error.contains("cannot listen on") && error.contains("any free port"), "{error}");
    assert!(!error.contains("solving"), "boards are solved before the address is tried: {error}");
    // A database that is damaged while it is served is a server error that hides its path.
    let block = path.join("four/db/000000.blk");
    let mut bytes = std::fs::read(&block).unwrap();
    bytes.iter_mut().skip(64).for_each(|byte| *byte ^= 0x55);
    std::fs::write(&block, bytes).unwrap();
    let broken = server.get("/v1/position?board=triangle:4&p=0x1");
    if broken.status != 200 {
        assert!(broken.status == 500 && !text(&broken.body).contains("four"), "{}", text(&broken.body));
    }
    let mut all = trinim(path, &["--layers", "1", "--listen", "0.0.0.0:0"]).spawn().unwrap();
    let mut told = BufReader::new(all.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(told.any(|line| line.contains("warning: anyone who can reach this address can use it")));
    signal(&all, "TERM");
    all.wait().unwrap();
}

/// The server does not wait for a reader of standard error.
#[test]
fn a_server_whose_remarks_nobody_reads_ends_at_a_signal() {
    let folder = scratch();
    let (_reader, writer) = full_pipe();
    let mut child = trinim(folder.path(), &["--listen", "127.0.0.1:0", "-k", "3"]).stderr(writer).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "TERM");
    let mut ended = None;
    processes::wait_until("ended", || {
        ended = child.try_wait().unwrap();
        ended.is_some()
    });
    assert!(matches!(ended.unwrap().code(), Some(0 | 143)));
}

/// Refusals, in `sessions`.
#[test]
fn sessions_are_those_of_the_program() {
    session::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions"), crate::PROGRAM, scratch);
}

/// The program has a manual page with the examples of its help, and completions.
#[test]
fn the_program_describes_itself() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["man", "man"]);
    let mut names: Vec<_> =
        fs::read_dir(path.join("man")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["trinim-positions.7", "trinim-serve.1"]);
    let page = fs::read_to_string(path.join("man/trinim-serve.1")).unwrap().replace("\\-", "-");
    for section in ["NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"] {
        assert!(
            page.contains(&format!(".SH {section}\n")) || page.contains(&format!(".SH \"{section}\"\n")),
            "{section}"
        );
    }
    let help = ends(path, 0, &["--help"]).0;
    let examples = help.split("Examples:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert_eq!(examples.lines().filter(|line| page.lines().any(|shown| shown == *line)).count(), 2, "{page}");
    let script = ends(path, 0, &["completions", "bash"]).0;
    for word in ["_trinim__serve()", "--spot-pieces", "--allow-origin", "--quiet"] {
        assert!(script.contains(word), "{word}: {script}");
    }
}
