//! `--board` in the commands that take a board, and positions that are solved on the spot.

use crate::common::program::{committed, ends, text, trinim};
use crate::common::scratch;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

const STAR: &str = "\
name = \"star\"
cells = [[2, 0], [0, 1], [4, 1], [1, 3], [3, 3]]
lines = [[0, 3], [0, 4], [1, 2], [1, 4], [2, 3]]
";

fn json_of(folder: &Path, args: &[&str]) -> Value {
    crate::common::program::json(folder, 0, args)
}

/// Standard output of a command that reads `input`.
fn answers_to(folder: &Path, args: &[&str], input: &str) -> String {
    let mut child = trinim(folder, args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    text(&output.stdout)
}

#[test]
fn a_board_file_goes_through_every_command() {
    let folder = scratch();
    let path = folder.path();
    fs::write(path.join("star.toml"), STAR).unwrap();
    let solved = json_of(path, &["solve", "--board", "file:star.toml", "--json"]);
    assert_eq!((&solved["board"], &solved["layers"], &solved["positions"]), (&json!("star"), &Value::Null, &json!(32)));
    // The file is not needed any more: the folder holds the board.
    fs::remove_file(path.join("star.toml")).unwrap();
    let dir = "trinim-star-misere";
    let stats = json_of(path, &["stats", dir, "--json"]);
    assert_eq!((&stats["digest"], &stats["first_moves"]), (&solved["digest"], &json!(10)));
    for args in [["verify", dir], ["check", dir], ["status", dir], ["repair", dir]] {
        ends(path, 0, &args);
    }
    let probe = json_of(path, &["probe", dir, "1/11/11", "--json"]);
    assert_eq!(probe["value"], solved["start"]);
}

/// A board file with the lines of a rectangle, and one more from corner to corner.
fn with_a_diagonal(name: &str, side: usize, takes: &str) -> String {
    let mut lines: Vec<Vec<usize>> = (0..side).map(|row| (row * side..(row + 1) * side).collect()).collect();
    lines.extend((0..side).map(|column| (0..side).map(|row| row * side + column).collect()));
    lines.push((0..side).map(|row| row * (side + 1)).collect());
    let cells: Vec<[usize; 2]> = (0..side * side).map(|cell| [cell % side, cell / side]).collect();
    format!("name = {name:?}\ncells = {cells:?}\nlines = {lines:?}\n{takes}")
}

/// Regression: a folder that was begun with a board file has the board, and resumes without it.
#[test]
fn a_solve_of_a_board_file_is_resumed_without_the_file() {
    let folder = scratch();
    let path = folder.path();
    let options = ["--block-bits", "14", "--commit-interval", "20ms"];
    for (name, takes, more) in [
        ("own", "", &["--rule", "normal"][..]),
        // Another board than the name says.
        ("rect:5x5", "min_take = 2\n", &["--max-take", "3"]),
    ] {
        fs::write(path.join("board.toml"), with_a_diagonal(name, 5, takes)).unwrap();
        let solve = [&["solve", "--board", "file:board.toml"], &options[..], more].concat();
        ends(path, 0, &[&solve[..], &["--out", "whole"]].concat());
        let mut child = trinim(path, &[&solve[..], &["--out", "run"]].concat()).spawn().unwrap();
        committed(&mut child, &path.join("run"));
        child.kill().unwrap();
        child.wait().unwrap();
        fs::remove_file(path.join("board.toml")).unwrap();

        // Every hint of the folder is a command that works without the file.
        let (_, error) = ends(path, 2, &["stats", "run"]);
        assert!(error.contains("not finished") && error.ends_with("hint: resume it: trinim resume run\n"), "{error}");
        let (_, error) = ends(path, 7, &["solve", "--board", "rect:5x5", "--rule", "normal", "--out", "run"]);
        assert!(error.contains("hint: continue it with trinim resume run, or choose"), "{error}");
        let resumed = json_of(path, &["resume", "run", "--threads", "1", "--json"]);
        let whole = json_of(path, &["stats", "whole", "--json"]);
        assert_eq!((&resumed["digest"], &resumed["board"]), (&whole["digest"], &json!(name)));
        assert_eq!([&resumed["min_take"], &resumed["max_take"]], [&whole["min_take"], &whole["max_take"]]);
        assert!(resumed["resumed_blocks"].as_u64().unwrap() > 0, "{resumed}");
        for file in ["db/manifest.json", "db/SUMS"] {
            assert_eq!(
                fs::read(path.join("run").join(file)).unwrap(),
                fs::read(path.join("whole").join(file)).unwrap()
            );
        }
        ends(path, 0, &["verify", "run", "--sample", "0.01"]);
        let (_, error) = ends(path, 0, &["resume", "run"]);
        assert!(error.contains("run is already solved"), "{error}");
        for done in ["run", "whole"] {
            fs::remove_dir_all(path.join(done)).unwrap();
        }
    }
}

#[test]
fn families_are_planned_and_cut() {
    let folder = scratch();
    let path = folder.path();
    let plan = json_of(path, &["plan", "--board", "rect:6x6", "--json"]);
    assert_eq!((&plan["board"], &plan["moves"]), (&json!("rect:6x6"), &json!(216)));
}

#[test]
fn what_is_no_board_is_refused_by_name() {
    let folder = scratch();
    let path = folder.path();
    fs::write(path.join("bad.toml"), "name = 'a'\ncells = 3\nlines = [[0, 1],\n[2, 7]]\n").unwrap();
    fs::write(path.join("long.toml"), "#".repeat((1 << 20) + 1)).unwrap();
    fs::write(path.join("star.toml"), STAR).unwrap();
    let refused = [
        (vec!["--board", "rect:7"], "rect:7"),
        (vec!["--board", "blob:3"], "blob:3"),
        (vec!["--board", "rect:9x9"], "81 cells"),
        (vec!["--board", "rect:8x8"], "64 cells are too many: expected at most 55"),
        (vec!["--board", "triangle:11"], "11 layers"),
        (vec!["--board", "file:none.toml"], "no such file"),
        (vec!["--board", "file:bad.toml"], "line 4: line 1 has cell 7"),
        (vec!["--board", "file:long.toml"], "larger than"),
        (vec!["--board", "file:."], "not a regular file"),
        (vec!["--board", "cram:3x3", "--max-take", "3"], "two pieces"),
        (vec!["--board", "rect:3x3", "--min-take", "4"], "no such move"),
        (vec!["--board", "file:star.toml", "--min-take", "3"], "no such move"),
        (vec!["--board", "rect:3x3", "--layers", "3"], "--layers"),
        (vec!["--layers", "3", "--min-take", "4"], "no such move"),
        (vec!["--board", "rect:3x3", "--bid-cells", "(3,0)"], "(3,0)"),
    ];
    for (args, reason) in refused {
        let (out, error) = ends(path, 2, &[&["solve"], &args[..]].concat());
        assert!(out.is_empty() && error.contains(reason), "{args:?}: {error}");
    }
    assert_eq!(fs::read_dir(path).unwrap().count(), 3);
    // A folder of one board is not continued with another.
    ends(path, 0, &["solve", "--board", "rect:3x3", "--out", "one"]);
    for other in ["rect:3x4", "triangle:4"] {
        let (_, error) = ends(path, 7, &["solve", "--board", other, "--out", "one"]);
        assert!(error.contains("one"), "{error}");
    }
}

#[test]
fn positions_are_answered_without_a_database() {
    let folder = scratch();
    let path = folder.path();
    // So few pieces are answered with their distances, as by a folder that keeps them.
    ends(path, 0, &["solve", "--layers", "5", "--values", "remoteness", "--out", "five"]);
    for position in ["0x7fff", "1/11/101/0000/00000", "0", "0x1234"] {
        let known = json_of(path, &["probe", "five", position, "--json"]);
        assert_eq!(json_of(path, &["probe", "--layers", "5", position, "--json"]), known);
    }
    // Nine layers: the book first, then the pieces; too many pieces for either are refused.
    let lines = "0x1fffffffffff\n0x3b7\n0x3ff000000\n1/11/111/1111/11111/111111/1111111/00000000/000000000\n";
    let out = answers_to(path, &["probe", "--layers", "9", "--json"], lines);
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let values: Vec<&str> = answers.iter().map(|answer| answer["value"].as_str().unwrap()).collect();
    assert_eq!(values[0], "win");
    // Seven layers in nine: the value that [SWLK12], table 5, prints for the start.
    assert_eq!(values[3], "win");
    let (out, error) = ends(path, 2, &["probe", "--board", "rect:8x8", "0xffffffffffffffff"]);
    assert!(out.contains("64 pieces are too many"), "{out} {error}");
    let (_, error) = ends(path, 2, &["stats", "--board", "rect:5x6"]);
    assert!(error.contains("hint: trinim solve --board rect:5x6"), "{error}");
    assert!(ends(path, 0, &["stats", "--board", "rect:3x3"]).0.starts_with("board      rect:3x3, misere\n"));
    // Nothing is left of what was written on the way.
    fs::create_dir(path.join("scratch")).unwrap();
    ends(path, 0, &["probe", "--layers", "9", "0xfffffff", "--memory", "64MiB", "--scratch", "scratch"]);
    assert_eq!(fs::read_dir(path.join("scratch")).unwrap().count(), 0);
}
