//! `trinim probe`: positions in every form, from arguments and from the standard input.

use crate::common::program::{ends, json, terminal, text, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

/// Regression: the identifiers of [SWLK12] and rows without slashes are accepted.
#[test]
fn a_position_is_read_in_every_form() {
    let folder = scratch();
    ends(folder.path(), 0, &["solve", "-k", "5"]);
    let forms = ["1/10/100/1110/10110", "x_x._x.._xxx._x.xx.", "1 10 100 1110 10110", "110100111010110", "0x35cb"];
    let forms = forms.into_iter().chain(["0b011010111001011", "13771", "0d13771"]);
    let args: Vec<&str> = ["probe", "trinim-k5-misere", "--json"].into_iter().chain(forms).collect();
    let out = ends(folder.path(), 0, &args).0;
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answers.len() == 8 && answers.iter().all(|answer| *answer == answers[0]), "{out}");
    assert_eq!(answers[0]["hex"], "0x35cb");
    let out = ends(folder.path(), 2, &["probe", "trinim-k5-misere", "101"]).0;
    assert!(out.contains("write 0d101 for the number, or all 15 cells"), "{out}");
    let help = ends(folder.path(), 0, &["probe", "--help"]).0;
    assert!(::trinim::game::position::FORMS.iter().all(|(_, text)| help.contains(text)), "{help}");
}

#[test]
fn answers_stay_aligned_with_lines_good_and_bad() {
    let folder = scratch();
    ends(folder.path(), 0, &["solve", "-k", "5"]);
    let mut child =
        trinim(folder.path(), &["probe", "trinim-k5-misere", "--json"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = b"0x7fff\r\nnonsense\n\n1/11/111/1111/11111\n\xff\xfe\n0x8000\n".to_vec();
    input.extend([b'1'; 5000]);
    input.extend(b"\nx/../xxx/..../..x..");
    child.stdin.take().unwrap().write_all(&input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let answers: Vec<Value> = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let good: Vec<bool> = answers.iter().map(|answer| answer["error"].is_null()).collect();
    assert_eq!(good, [true, false, false, true, false, false, false, true]);
    assert_eq!(answers[0], answers[3]);
    assert_eq!(answers[0]["value"], "loss");
    assert_eq!(answers[1]["position"], "nonsense");
    assert_eq!(answers[7]["position"], "1/00/111/0000/00100");

    let both = trinim(folder.path(), &["probe", "trinim-k5-misere", "0x7fff", "bad", "0x1"]).output().unwrap();
    assert_eq!(both.status.code(), Some(2));
    let shown = text(&both.stdout);
    assert!(shown.contains("- loss for the player to move (P-position)"), "{shown}");
    assert!(!shown.contains('\x1b'), "colours off a terminal");
    let coloured =
        trinim(folder.path(), &["probe", "trinim-k5-misere", "--color", "always", "0x7ffe"]).output().unwrap();
    assert!(text(&coloured.stdout).contains("\x1b[1;32m+ win\x1b[0m"));
}

/// Regression: a word after a position may be an option, `--help` included.
#[test]
fn options_may_follow_a_position() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "5"]);
    let board = ["probe", "trinim-k5-misere", "0x7fff"];
    let after = |options: &[&str]| ends(path, 0, &[&board[..], options].concat()).0;
    let before = ends(path, 0, &["probe", "--json", "trinim-k5-misere", "0x7fff"]).0;
    assert_eq!(after(&["--json"]), before);
    assert_eq!(after(&["-q", "--json"]), before);
    assert_eq!(after(&["--color", "never"]), after(&[]));
    assert!(after(&["--color", "always"]).contains("\x1b["));
    assert!(after(&["--help"]).contains("Usage: trinim probe"));
    assert!(ends(path, 2, &[&board[..], &["-1"]].concat()).0.contains("error: \"-1\""));
    let (out, error) = ends(path, 2, &[&board[..], &["--jso"]].concat());
    assert!(out.is_empty() && error.contains("--jso") && error.contains("--json"), "{error}");
    // A lone - is the standard input, in any place.
    assert_eq!(ends(path, 0, &["probe", "trinim-k5-misere", "-", "0x7fff", "--json"]).0, before);
}

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

/// Without the moves, a position has the same values as with them.
#[test]
fn a_brief_answer_says_what_a_long_one_says() {
    let folder = scratch();
    let path = folder.path();
    for values in ["outcomes", "nimbers", "remoteness"] {
        ends(path, 0, &["solve", "-k", "3", "--rule", "normal", "--values", values, "--out", values]);
        let positions: Vec<String> = (0..64).map(|position| format!("{position:#x}")).collect();
        let answers = |more: &[&'static str]| -> Vec<Value> {
            let words = ["probe", values, "--json"].into_iter().chain(more.iter().copied());
            let words: Vec<&str> = words.chain(positions.iter().map(String::as_str)).collect();
            ends(path, 0, &words).0.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        for (long, brief) in answers(&[]).into_iter().zip(answers(&["--brief"])) {
            for (name, value) in brief.as_object().unwrap() {
                assert_eq!(*value, long[name], "{values}: {name}");
            }
        }
    }
}

/// Damage outweighs a line that is no position, in any order.
#[test]
fn the_exit_code_is_that_of_the_worst_answer() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--bid-cells", "(0,0)", "--out", "four"]);
    let block = path.join("four/db/000001.blk");
    let mut bytes = std::fs::read(&block).unwrap();
    bytes.iter_mut().skip(8).for_each(|byte| *byte ^= 1);
    std::fs::write(&block, bytes).unwrap();
    let brief = |code: i32, positions: &[&str]| ends(path, code, &[&["probe", "four", "--brief"], positions].concat());
    let (damaged, good, wrong) = ("0x1", "0x2", "none");
    brief(0, &[good]);
    for (code, positions) in
        [(3, [damaged, wrong, good]), (3, [wrong, damaged, good]), (3, [good, damaged, good]), (2, [wrong, good, good])]
    {
        brief(code, &positions);
    }
}

/// As many pieces as `--spot-pieces` says are solved, and one more is not, in memory and in a
/// folder.
#[test]
fn the_most_pieces_are_solved_on_the_spot_and_one_more_is_not() {
    let folder = scratch();
    let path = folder.path();
    let first = |pieces: u32| format!("{:#x}", (1u64 << pieces) - 1);
    for (most, memory) in [(3, "1GiB"), (12, "1GiB"), (24, "34MiB")] {
        let probe = ["probe", "-k", "8", "--spot-pieces", &most.to_string(), "--memory", memory, "--json"];
        let known = json(path, 0, &[&probe[..], &[&first(most)]].concat());
        assert!(known["value"].is_string() && known["moves_not_kept"] == 0, "{known}");
        let unknown = json(path, 2, &[&probe[..], &[&first(most + 1)]].concat());
        let reason = format!("{} pieces are too many to solve on the spot: expected at most {most},", most + 1);
        assert!(unknown["error"].as_str().unwrap().contains(&reason), "{unknown}");
    }
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
