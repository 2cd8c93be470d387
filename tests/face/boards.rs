//! Boards and tables in text: they fit the width, and the same thing is told the same way.

use crate::common::program::{ends, text, trinim};
use crate::common::scratch;
use std::path::Path;

/// Standard output of a command in a terminal of this width, as `COLUMNS` tells it.
fn at(folder: &Path, columns: u32, args: &[&str]) -> String {
    let output = trinim(folder, args).env("COLUMNS", columns.to_string()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}\n{}", text(&output.stderr));
    text(&output.stdout)
}

fn widest(shown: &str) -> usize {
    shown.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// Regression: boards side by side fit 60 columns, and tables fit 80.
#[test]
fn boards_and_tables_fit_the_width() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "6", "--out", "six"]);
    let full = "0x1fffff";
    let four = at(path, 80, &["probe", "six", full]);
    let narrow = at(path, 40, &["probe", "six", full]);
    assert!(four.lines().count() < narrow.lines().count(), "{narrow}");
    let boards = |shown: &str| shown.lines().skip(9).map(|line| line.chars().count()).max().unwrap();
    assert!(boards(&narrow) <= 40 && boards(&four) <= 80, "{narrow}\n{four}");
    for columns in [30, 60, 200] {
        let shown = at(path, columns, &["layout", "search", "-k", "7", "--bits", "6", "--top", "9"]);
        let pictures: Vec<&str> = shown.lines().filter(|line| line.trim_start().starts_with(['.', 'X'])).collect();
        assert!(!pictures.is_empty() && pictures.iter().all(|line| line.len() <= columns as usize), "{shown}");
    }
    let bench = ["bench", "-k", "3,4", "--rule", "misere,normal", "--repeats", "1", "--yardstick", "4MiB"];
    let (small, large) = (at(path, 80, &bench), at(path, 200, &bench));
    assert!(widest(&small) <= 81, "{small}");
    assert!(small.contains("--layers 4 --rule normal\n"), "{small}");
    assert!(large.lines().any(|line| line.starts_with("--layers 4 --rule normal ") && line.contains("ms")), "{large}");
    // The two columns of facts may be longer, the table of the logs may not.
    let plan = at(path, 80, &["plan", "-k", "9"]);
    let table = &plan[plan.find("\nlogs ").unwrap()..];
    assert!(widest(table) <= 84 && table.contains("\nshared "), "{table}");
}

/// `probe` listed all twelve winning moves of a board, `stats` three up to symmetry.
#[test]
fn winning_moves_are_told_the_same_way() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--out", "four"]);
    let (probe, stats) = (at(path, 80, &["probe", "four", "0x3ff"]), at(path, 80, &["stats", "four"]));
    let (_, pictures) = stats.split_once("winning first moves: ").unwrap();
    let (counts, pictures) = pictures.split_once('\n').unwrap();
    assert!(pictures.contains(" alike)"), "{stats}");
    assert!(probe.ends_with(pictures), "{probe}\n{stats}");
    let words: Vec<&str> = counts.split(' ').collect();
    let (all, kinds) = (words[0], words[3]);
    assert!(counts.ends_with(" up to symmetry"), "{counts}");
    assert!(
        probe.contains(&format!("; {all} of ")) && probe.contains(&format!("win, {kinds} up to symmetry")),
        "{probe}"
    );
    // Only the symmetries that keep the position count.
    let bent = at(path, 80, &["probe", "four", "1/10/000/0000"]);
    assert!(!bent.contains("alike"), "{bent}");
    assert!(at(path, 80, &["probe", "four", "0x1"]).contains("; the only move loses"));
}

/// Regression: the chosen cells are `X`, with a legend.
#[test]
fn layout_marks_the_cells_and_explains_them() {
    let folder = scratch();
    let shown = at(folder.path(), 80, &["layout", "-k", "5", "--bid-cells", "(1,0)(1,1)"]);
    assert!(shown.contains("\n     X X") && shown.contains("X: cells that name the block"), "{shown}");
    assert!(!shown.contains('#'), "{shown}");
}
