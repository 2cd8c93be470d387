//! `trinim probe`: persons at a terminal, lines of editors, and what a folder knows. Positions in
//! every form are in `sessions/probe.txt`.

use crate::common::program::{ends, json, terminal, text, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

/// On a terminal, a program that waits in silence looks as if it hung. A pipe gets no prompt.
#[test]
fn a_person_is_asked_for_positions() {
    const QUESTION: &str = "positions, one a line (Ctrl-D ends):\n";
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "5"]);
    let probe = ["probe", "trinim-k5-misere"];
    let (mut person, program) = terminal();
    let child = trinim(path, &probe).stdin(program).spawn().unwrap();
    // Ctrl-D at the start of a line ends the input.
    person.write_all(b"0x7fff\n\x04").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), QUESTION));
    let answer = ends(path, 0, &[&probe[..], &["0x7fff"]].concat()).0;
    assert_eq!(text(&output.stdout), answer);

    let (_person, program) = terminal();
    let asked = trinim(path, &[&probe[..], &["0x7fff"]].concat()).stdin(program).output().unwrap();
    assert_eq!((text(&asked.stdout), text(&asked.stderr)), (answer, String::new()));
    assert_eq!(ends(path, 0, &probe).1, "", "asked without a terminal");
}

/// A byte order mark, spaces of several kinds, the line ends of other systems and none at the end
/// have no meaning, wherever lines are read.
#[test]
fn what_editors_write_around_a_line_has_no_meaning() {
    let folder = scratch();
    let path = folder.path();
    let odd = |lines: &[&str]| format!("\u{feff}{}", lines.join(" \t\u{a0}\r\n\t"));
    let fed = |args: &[&str], input: &str| {
        let mut child = trinim(path, args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    };
    // Positions, with empty lines at the end.
    let positions = ["1/11/101/1111", "0x2f", "x xx x.x ....", "47"];
    let probe = ["probe", "--layers", "4", "--json"];
    let plain = fed(&probe, &positions.join("\n"));
    assert_eq!(fed(&probe, &(odd(&positions) + "\u{a0}\r\n\r\n \t\r\n")), plain);
    assert_eq!(fed(&probe, &odd(&["1\u{a0}11\u{a0}101\u{a0}1111"])).lines().next(), plain.lines().next());
    // A board, and a game on it.
    let star = ["name = \"star\"", "cells = 5", "lines = [[0, 3], [0, 4],", "[1, 2], [1, 4], [2, 3]]"];
    std::fs::write(path.join("plain.toml"), star.join("\n")).unwrap();
    std::fs::write(path.join("odd.toml"), odd(&star)).unwrap();
    let of = |board: &str| fed(&["probe", "--board", board, "0x1f", "--json"], "");
    assert_eq!(of("file:odd.toml"), of("file:plain.toml"));
    let game = ["# trinim game", "board triangle:4", "rule misere", "start 1/11/111/1111", "first person", "take d-f"];
    std::fs::write(path.join("plain.txt"), game.join("\n")).unwrap();
    std::fs::write(path.join("odd.txt"), odd(&game)).unwrap();
    let play = ["play", "--layers", "4", "--first", "person", "--seed", "1"];
    let replayed = fed(&play, "replay plain.txt\nundo\ng-j\nquit\n");
    assert_eq!(fed(&play, &odd(&["replay odd.txt", "undo", "g\u{a0}-\u{a0}j", "quit"])), replayed);
    assert!(replayed.contains("c1-c3") && !replayed.contains("not understood"), "{replayed}");
}

/// The ways to one position know the same of it; where a folder knows the value, nobody counts the
/// moves to the end, which would take a hundred times as long.
#[test]
fn a_folder_answers_with_what_it_has() {
    let folder = scratch();
    let path = folder.path();
    let normal = ["--rule", "normal", "-k", "5"];
    for values in ["outcomes", "nimbers", "remoteness"] {
        ends(path, 0, &[&["solve", "--values", values, "--out", values], &normal[..]].concat());
    }
    ends(path, 0, &[&["solve", "--keep", "counts", "--out", "counts"], &normal[..]].concat());
    // But for the full board: counts have its first moves.
    for position in ["0x7ffe", "0x2d6b", "0x11"] {
        let probed = |source: &[&str]| json(path, 0, &[&["probe"], source, &[position, "--json"]].concat());
        let on_the_spot = probed(&normal);
        for (source, nimber, distance) in [
            (&["outcomes"][..], false, false),
            (&["nimbers"], true, false),
            (&["remoteness"], false, true),
            (&["counts"], true, true),
            (&normal[..], true, true),
        ] {
            let known = probed(source);
            assert_eq!(known["value"], on_the_spot["value"], "{source:?}: {known}");
            for (name, has) in [("nimber", nimber), ("distance", distance)] {
                let expected = if has { &on_the_spot[name] } else { &Value::Null };
                assert_eq!(known[name], *expected, "{source:?}, {position}: {name}");
                let moves = known["moves"].as_array().unwrap();
                assert!(moves.iter().all(|one| one[name].is_null() != has), "{source:?}, {position}: {name}");
            }
        }
    }
}
