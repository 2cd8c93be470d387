//! `trinim play`, as a person at a terminal or a script at a pipe meets it.

use crate::common::program::{ends, text, tree, trinim};
use crate::common::scratch;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

/// Plays with these lines as input; the program must end with `code`.
fn played(folder: &Path, code: i32, args: &[&str], input: &[u8]) -> (String, String) {
    typed(folder, code, &[&["play"], args].concat(), input)
}

/// Runs a command with these lines as input; it must end with `code`.
fn typed(folder: &Path, code: i32, args: &[&str], input: &[u8]) -> (String, String) {
    let mut child = trinim(folder, args).stdin(Stdio::piped()).spawn().unwrap();
    // The program may end without reading its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{error}");
    assert!(!error.contains("panicked"), "{error}");
    (out, error)
}

const TWO: [&str; 2] = ["--layers", "2"];

#[test]
fn a_game_is_played_saved_and_replayed() {
    let folder = scratch();
    let path = folder.path();
    // Two layers, misère: take two of three, and the program has to take the last one.
    let input = "hint\na-b\nsave won.txt\nreplay\nquit\nnever read\n";
    let (out, error) = played(path, 0, &TWO, input.as_bytes());
    assert!(out.starts_with("triangle:2, misere: whoever takes the last piece loses\n"), "{out}");
    assert!(out.contains("\n   a\n  b c\n"), "{out}");
    assert!(out.contains("hint: you win in 2 moves with a1-b1, a1-b2, b1-b2\n"), "{out}");
    assert!(out.contains("I take c\n") && out.contains("no piece can be taken: you win\n"), "{out}");
    assert!(out.contains("  1  + win  person   a1-b1\n  2  - loss  program  b2\nthe person wins\n"), "{out}");
    assert!(!error.contains("solving") && error.contains("game over> "), "{error}");
    let saved = fs::read_to_string(path.join("won.txt")).unwrap();
    let expected = "# trinim game\nboard triangle:2\nrule misere\nstart 1/11\nfirst person\ntake a1-b1\ntake b2\n";
    assert_eq!(saved, expected);

    // A blunder is named, and taken back.
    let input = "a\nreplay\nundo\nredo\nundo\nmoves\nreplay won.txt\n";
    let (out, _) = played(path, 0, &TWO, input.as_bytes());
    assert!(out.contains("+ win  person   a1  gives the game away; right: a1-b1, a1-b2, b1-b2\n"), "{out}");
    assert!(out.contains("2 turns taken back\n") && out.contains("2 turns played again\n"), "{out}");
    assert!(
        out.contains("win: a1-b1 (2) a1-b2 (2) b1-b2 (2)\nlose: a1 (3) b1 (3) b2 (3)\n")
            && out.contains("the person wins\n"),
        "{out}"
    );
    assert!(out.ends_with("end of the input: the game stays unfinished\n"), "{out}");
}

/// A warning comes once for a move, and only where a won game would be lost.
#[test]
fn teaching_warns_before_the_game_is_given_away() {
    let folder = scratch();
    let input = "teach\na\na\nundo\nb\na-b\nundo\nteach\na\n";
    let (out, _) = played(folder.path(), 0, &TWO, input.as_bytes());
    let mut rest = out.as_str();
    for expected in [
        "moves that give the game away are warned of, once\na gives the game away: the answer is b; enter it again to play it\n",
        "I take ",
        "2 turns taken back\n",
        "b gives the game away: the answer is a; enter it again to play it\n",
        "I take c\n",
        "you win",
        "moves that give the game away are not warned of\n   .\n",
    ] {
        let Some(at) = rest.find(expected) else { panic!("no {expected:?} in\n{out}") };
        rest = &rest[at + expected.len()..];
    }
    assert!(!rest.contains("gives the game away"), "{out}");
}

#[test]
fn what_is_not_understood_is_asked_for_again_with_the_reason() {
    let folder = scratch();
    let path = folder.path();
    fs::write(path.join("letter.txt"), "dear").unwrap();
    let long = "d,".repeat(5000);
    let cases = [
        ("d-q", "not understood: no cell is named \"q\": the cells are a to f; help lists the commands"),
        ("frobnicate", "not understood: no cell is named \"frobnicate\": the cells are a to f; help lists"),
        ("hnit", "the cells are a to f; did you mean hint?"),
        ("Q", "the cells are a to f; did you mean quit?"),
        ("board", "\n    a\n   b c\n"),
        ("board 3", "not understood: \"board\" stands alone"),
        ("level", "the program plays at level perfect"),
        ("level master", "not understood: unknown level \"master\": expected perfect, club or beginner"),
        ("level club", "the program plays at level club from now on"),
        ("a-e", "not understood: no move leads from a1 to c2"),
        ("a,b,c", "not understood: a,b,c is not a move"),
        ("undo 3", "not understood: \"undo\" stands alone, but \"3\" follows it"),
        ("set", "not understood: \"set\" needs a position"),
        ("set 1/1", "not a position: 2 rows of cells: expected 3"),
        ("undo", "there is nothing of yours to take back"),
        (" REDO ", "there is nothing to play again"),
        ("save letter.txt", "not saved: letter.txt exists; choose another name"),
        ("save absent/x", "not saved: save absent/x: there is no folder absent"),
        ("replay letter.txt", "game letter.txt: line 1: expected \"# trinim game\""),
        ("replay absent", "game absent: no such file"),
        ("replay", "no turn was played"),
        (&long, "not understood: d is named twice"),
        ("\u{fffd}\u{1f600}", "not understood: no cell is named"),
        ("help", "set POSITION   set up a position"),
    ];
    let lines: Vec<&str> = cases.iter().map(|(line, _)| *line).collect();
    // Bytes that are not text, too.
    let input = [lines.join("\n").as_bytes(), b"\n\xff\xfe\n\na-b\n"].concat();
    let (out, error) = played(path, 0, &["--layers", "3"], &input);
    let mut rest = out.as_str();
    for (line, answer) in cases {
        let Some(at) = rest.find(answer) else { panic!("{line:.40}: no {answer:?} in\n{out}") };
        rest = &rest[at + answer.len()..];
    }
    // The turn was kept all the while.
    assert!(out.contains("I take ") && error.matches("your move> ").count() >= cases.len(), "{out}\n{error}");
    assert_eq!(fs::read_to_string(path.join("letter.txt")).unwrap(), "dear");
    assert_eq!(fs::read_dir(path).unwrap().count(), 1);
}

#[test]
fn sides_are_exchanged_and_positions_set_up() {
    let folder = scratch();
    let path = folder.path();
    let (out, _) = played(path, 0, &["--layers", "3", "--rule", "normal"], b"swap\nset 1/00/000\na\nswap\nnew\nundo\n");
    assert!(out.contains("sides exchanged\nI take ") && out.contains("no piece can be taken: you win"), "{out}");
    assert!(out.contains("the game is over: there are no sides\n"), "{out}");
    let (out, _) = played(path, 0, &["--layers", "3", "--first", "program", "--level", "beginner", "--seed", "7"], b"");
    let (drawn, seed) = played(path, 0, &["--layers", "2"], b"");
    let seed = seed.split_once("the program draws with --seed ").unwrap().1;
    assert!(seed.lines().next().unwrap().parse::<u64>().is_ok() && !drawn.contains("--seed"), "{seed}");
    let again = played(path, 0, &["--layers", "3", "--first", "program", "--level", "beginner", "--seed", "7"], b"").0;
    assert!(out.contains("I take ") && out == again, "{out}");
}

/// Regression: lines break between words, not inside them.
#[test]
fn lines_fit_the_terminal() {
    let folder = scratch();
    for columns in [40, 80] {
        let mut command = trinim(folder.path(), &["play", "--layers", "5", "--seed", "1"]);
        let mut child = command.env("COLUMNS", columns.to_string()).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"help\nhint\nmoves\nhnit\nboard 3\na\nreplay\n").unwrap();
        let out = text(&child.wait_with_output().unwrap().stdout);
        assert!(out.lines().all(|line| line.chars().count() <= columns), "{columns}: {out}");
        assert!(out.contains("not understood: ") && out.contains("\n      a\n     b c\n"), "{out}");
    }
}

/// A save may be repeated, but replaces no other file.
#[test]
fn a_game_is_saved_again_under_its_name() {
    let folder = scratch();
    let path = folder.path();
    played(path, 0, &TWO, b"save game.txt\na\nsave game.txt\n");
    let saved = fs::read_to_string(path.join("game.txt")).unwrap();
    assert!(saved.contains("take a\n"), "{saved}");
    let (out, _) = played(path, 0, &TWO, b"save game.txt\n");
    assert!(out.contains("not saved: game.txt exists"), "{out}");
    // Another game is not the one that has the name.
    let (out, _) = played(path, 0, &TWO, b"save again.txt\nnew\nsave again.txt\n");
    assert!(out.contains("saved in again.txt") && out.contains("not saved: again.txt exists"), "{out}");
    assert_eq!(fs::read_to_string(path.join("game.txt")).unwrap(), saved);
}

#[test]
fn boards_come_from_folders_from_the_program_or_at_once() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--rule", "normal", "--max-take", "2", "--out", "four"]);
    let before = tree(path);
    let (out, error) = played(path, 0, &["four"], b"a-d\nhint\n");
    assert!(out.contains("triangle:4,take:2, normal:") && out.contains("no move leads from a to d"), "{out}");
    assert!(!error.contains("solving"), "{error}");
    // Nine layers: coordinates, and a book that ends; then positions are solved, if they may be.
    let (out, _) = played(path, 0, &["-k", "9"], b"hint\nset 511\nmoves\nhint\na1\n");
    assert!(out.contains("cells are a1 to i9") && out.contains("hint: you win with "), "{out}");
    assert!(!out.contains("I do not know") && !out.contains("unknown"), "{out}");
    let (out, _) = played(path, 0, &["-k", "9", "--spot-pieces", "8"], b"set 511\nmoves\nhint\na1\n");
    assert!(out.contains("no move is known to win") && out.contains("unknown: a1 b1"), "{out}");
    assert!(!out.contains("I do not know"), "eight pieces are left and known: {out}");
    let (out, _) = played(path, 0, &["-k", "10", "--spot-pieces", "8"], b"a1\n");
    assert!(out.contains("I do not know the value of this position, and guess"), "{out}");
    // The book ends at 37 pieces: it knows their value, and no move.
    let (out, _) = played(path, 0, &["-k", "9", "--spot-pieces", "8"], b"set 0x17fffeedf7af\na1\n");
    assert!(out.contains("I win from here, but do not know how, and guess"), "{out}");
    // A position in a database that keeps counts only.
    ends(path, 0, &["solve", "-k", "4", "--keep", "counts", "--out", "counts"]);
    let (out, _) = played(path, 0, &["counts"], b"moves\n");
    assert!(out.contains("win: ") && out.contains("lose: ") && !out.contains("unknown"), "{out}");
    fs::remove_dir_all(path.join("counts")).unwrap();
    for (args, reason, hint) in [
        (&["-k", "11"][..], "expected 1 to 10", "trinim play --help"),
        (&["--spot-pieces", "41"], "expected 0 to 40", "trinim play --help"),
        (&["absent"], "absent holds no finished database", "trinim"),
        (&["6"], "6 is not the folder of a solve", "hint: trinim play --layers 6"),
        (&["--level", "master"], "'master' for '--level <LEVEL>'", "trinim play --help"),
        (&["--first", "you"], "'you' for '--first <WHO>' [possible values: person, program]", "trinim play --help"),
        (&["--seed", "x"], "expected a whole number", "trinim play --help"),
    ] {
        let (out, error) = played(path, 2, args, b"");
        let lines: Vec<&str> = error.lines().collect();
        assert!(out.is_empty() && lines.len() == 2, "{args:?}: {out}{error}");
        assert!(lines[0].contains(reason) && lines[1].contains(hint), "{args:?}: {error}");
    }
    assert!(tree(path) == before, "nothing is left behind");
}

/// A small board needs no folder; what does not fit in memory is solved in one, which is gone at
/// the end, also after a signal at the prompt.
#[test]
fn nothing_is_left_in_the_folder_for_temporary_files() {
    let folder = scratch();
    let path = folder.path();
    fs::create_dir(path.join("tmp")).unwrap();
    let begin = |args: &[&str]| {
        let mut command = trinim(path, &[&["play"], args].concat());
        let mut child = command.env("TMPDIR", path.join("tmp")).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(b"a1-g1\nhint\n").unwrap();
        child
    };
    let ends = |mut child: std::process::Child, files: usize| {
        // Open until the end: the end of the input would end the game, too.
        let _input = child.stdin.take();
        // Ends with the answer to the hint, or the board after the program's move.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        lines.find(|line| line.starts_with("hint: ")).unwrap();
        assert_eq!(fs::read_dir(path.join("tmp")).unwrap().count(), files);
        crate::common::program::signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(fs::read_dir(path.join("tmp")).unwrap().count(), 0);
    };
    ends(begin(&["-k", "7"]), 0);
    // In 66 MiB, what has more than 28 pieces is solved in a folder.
    ends(begin(&["-k", "8", "--memory", "66MiB"]), 1);
    let absent = path.join("absent");
    let output = trinim(path, &["play", "--scratch"]).arg(&absent).output().unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{error}");
    assert!(error.contains("absent") && error.contains("hint: "), "{error}");
}
