//! How the program starts and ends: refusals, help, manual page, and surroundings that fail.

use crate::client::Server;
use crate::common::program::{ends, full_pipe, outcome, signal, text, trinim};
use crate::common::{copy, scratch};
use crate::known::triangle;
use std::fs;
use std::io::{BufRead, BufReader};
use std::time::Duration;
use trinim::Rule;

#[test]
fn what_cannot_be_served_is_refused_at_the_start() {
    let folder = scratch();
    let path = folder.path();
    triangle(4, Rule::Misere).run(&path.join("four")).unwrap();
    copy(&path.join("four"), &path.join("again"));
    let listen = |more: &[&'static str]| [&["--listen", "127.0.0.1:0"], more].concat();
    for (args, code, reason) in [
        (listen(&["absent"]), 2, "absent holds no finished database: no such folder"),
        (listen(&["four", "again"]), 2, "again holds triangle:4, misere, as four does"),
        (listen(&["--layers", "8"]), 2, "--layers 8: too large to be solved at the start"),
        (listen(&["--board", "rect:6x6"]), 2, "--board rect:6x6: too large to be solved at the start"),
        (listen(&["--board", "rect:6"]), 2, "--board: "),
        (listen(&["--spot-pieces", "41"]), 2, "expected 0 to 40"),
        (vec!["8081"], 2, "8081 is not the folder of a solve\nhint: trinim serve --listen 127.0.0.1:8081"),
        (listen(&["--memory", "0"]), 2, "a size of 0"),
        (vec!["--listen", "here"], 2, "expected an address and a port"),
        (vec!["--layers", "1", "--listen", "192.0.2.1:1"], 4, "cannot listen on 192.0.2.1:1: "),
    ] {
        let (out, error) = ends(path, code, &args);
        assert!(out.is_empty() && error.contains(reason) && error.contains("hint: "), "{args:?}: {error}");
    }
    let server = Server::start(path, &["four", "--layers", "4,9"]);
    let taken = server.address.to_string();
    let (_, error) = ends(path, 4, &["--layers", "1", "--listen", &taken]);
    assert!(error.contains("cannot listen on") && error.contains("any free port"), "{error}");
    assert!(!error.contains("solving"), "boards are solved before the address is tried: {error}");
    // A database that is damaged while it is served is an error of the server, without its path.
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

/// Standard error that nobody reads holds up nothing.
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

/// A thread of such a stack is refused, by any user and on any machine.
const REFUSED_STACK: &str = "1125899906842624";

#[test]
fn a_refused_thread_is_an_error() {
    let folder = scratch();
    let mut server = trinim(folder.path(), &["--listen", "127.0.0.1:0", "-k", "3"]);
    let (code, _, error) = outcome(server.env("RUST_MIN_STACK", REFUSED_STACK));
    assert_eq!(code, 4, "{error}");
    assert!(error.contains("error: cannot start a thread: "), "{error}");
    assert!(error.contains("hint: allow more processes (ulimit -u, "), "{error}");
}

/// The help names the range of layers, and so do the refusals.
#[test]
fn help_names_the_layers_that_are_solved_at_the_start() {
    let folder = scratch();
    let path = folder.path();
    let help = ends(path, 0, &["--help"]).0;
    assert!(help.contains("Usage: trinim serve [OPTIONS] [DIR]...\n"), "{help}");
    let range = "1 to 7, or 9, which is built in";
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("; {range}")), "{help}");
    let listen = ["--listen", "127.0.0.1:0", "--layers"];
    let refused = |layers: &str| ends(path, 2, &[&listen[..], &[layers]].concat()).1;
    assert!(refused("8").contains("too large to be solved at the start"), "{}", refused("8"));
    assert!(refused("12").contains(&format!(": expected {range}\n")), "{}", refused("12"));
    assert!(fs::read_dir(path).unwrap().next().is_none());
}

/// The program has a version, a manual page with the examples of its help, and completions.
#[test]
fn the_program_describes_itself() {
    let folder = scratch();
    let path = folder.path();
    assert_eq!(ends(path, 0, &["-V"]).0, concat!("trinim-serve ", env!("CARGO_PKG_VERSION"), "\n"));
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
