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
