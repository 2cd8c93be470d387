//! A board of a file, in the folder that was started with it. What else boards do is in
//! `sessions/boards.txt`.

use crate::common::program::{committed, ends, trinim};
use crate::common::scratch;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn json_of(folder: &Path, args: &[&str]) -> Value {
    crate::common::program::json(folder, 0, args)
}

/// A board file with the lines of a rectangle, and one more from corner to corner.
fn with_a_diagonal(name: &str, side: usize, takes: &str) -> String {
    let mut lines: Vec<Vec<usize>> = (0..side).map(|row| (row * side..(row + 1) * side).collect()).collect();
    lines.extend((0..side).map(|column| (0..side).map(|row| row * side + column).collect()));
    lines.push((0..side).map(|row| row * (side + 1)).collect());
    let cells: Vec<[usize; 2]> = (0..side * side).map(|cell| [cell % side, cell / side]).collect();
    format!("name = {name:?}\ncells = {cells:?}\nlines = {lines:?}\n{takes}")
}

/// Regression: a folder that was started with a board file has the board, and resumes without it.
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
        assert!(error.contains("is unfinished") && error.ends_with("hint: resume it: trinim resume run\n"), "{error}");
        let (_, error) = ends(path, 7, &["solve", "--board", "rect:5x5", "--rule", "normal", "--out", "run"]);
        assert!(error.contains("hint: resume it with trinim resume run, or choose"), "{error}");
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
