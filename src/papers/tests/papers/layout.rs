//! `trinim papers layout`, as users of the binary meet it.

use crate::common::program::{ends, json};
use crate::common::scratch;
use serde_json::{Value, json};
use std::path::Path;
use trinim::game::Board;
use trinim::plan::choose_layout;

const FIGURE_3F: &str = "(1,0)(1,1)(6,0)(6,6)(7,1)(7,6)";

fn report(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&ends(folder, 0, args).0).unwrap()
}

/// Checks that a command is refused with one error line and one hint, and writes nothing to
/// standard output.
fn refused(folder: &Path, args: &[&str], reason: &str) {
    let (out, error) = ends(folder, 2, args);
    assert!(out.is_empty(), "{args:?}: {out}");
    assert!(error.contains(reason), "{args:?}: {error}");
    assert_eq!(error.lines().count(), 2, "{args:?}: {error}");
    assert!(error.lines().nth(1).is_some_and(|line| line.starts_with("hint: ")), "{args:?}: {error}");
}

#[test]
fn a_layout_is_analysed() {
    let folder = scratch();
    let args = ["layout", "--layers", "8", "--bid-cells", FIGURE_3F];
    let found = report(folder.path(), &[&args[..], &["--json"]].concat());
    let expected = json!({
        "bid_cells": [1, 29, 27, 2, 21, 34],
        "blocks": 64,
        "canonical_blocks": 16,
        "groups": {"1": 2, "2": 1, "3": 6, "6": 7},
        "updates": 336,
        "canonical_updates": 87,
        "canonical_loads": 52,
        "symmetries": 6,
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(found[name], *value, "{name}");
    }
    assert_eq!((&found["block_bytes"], &found["space_factor"]), (&json!(128 << 20), &json!(4.0)));
    let (text, error) = ends(folder.path(), 0, &args);
    assert!(error.is_empty());
    assert!(text.starts_with("         .\n        X X\n"), "{text}");
    assert!(text.contains("canonical updates  87,"), "{text}");
    // [SWLK12] section 2.1 and [LWS09]: the number of moves.
    for (layers, moves) in [("5", 75), ("8", 288), ("9", 405)] {
        assert_eq!(report(folder.path(), &["layout", "-k", layers, "--json"])["moves"], moves);
        let text = ends(folder.path(), 0, &["layout", "-k", layers]).0;
        assert!(text.lines().any(|line| line.trim_end() == format!("moves              {moves}")), "{text}");
    }
    // The same cells as a solve would choose, and none at all.
    let suggested = report(folder.path(), &["layout", "-k", "8", "--json"]);
    let chosen = choose_layout(&Board::triangle(8, None).unwrap(), 1 << 30);
    assert_eq!(suggested["bid_cells"], json!(chosen.bid_cells()));
    let whole = report(folder.path(), &["layout", "-k", "5", "--bid-cells", "none", "--json"]);
    assert_eq!((&whole["blocks"], &whole["updates"], &whole["symmetries"]), (&json!(1), &json!(0), &json!(6)));
    // Ten layers cannot be solved yet, but analysed. Two corners are the ends of a line, which is a
    // run of two BID cells.
    let large = report(folder.path(), &["layout", "-k", "10", "--bid-cells", "(9,0)(9,9)(0,0)", "--json"]);
    assert_eq!((&large["updates"], &large["canonical_updates"]), (&json!(18), &json!(10)));
}

#[test]
fn the_published_counts_are_met() {
    let folder = scratch();
    let found = json(folder.path(), 1, &["layout", "--paper", "--json"]);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &found["agrees"]), (15, &json!(false)));
    for row in rows {
        assert_eq!(row["agrees"], true, "{row}");
        assert_eq!(row["published"], row["computed"]);
        assert!(row["published"]["updates"].is_u64());
        let matched = row["cells_known"].as_str().unwrap().contains("not at hand");
        assert_eq!(matched, ["3(c)", "3(d)", "9(b)", "9(c)"].contains(&row["figure"].as_str().unwrap()));
    }
    assert_eq!(rows[13]["computed"]["groups"], json!({"1": 16, "2": 8, "3": 496, "6": 5208}));
    let text = ends(folder.path(), 1, &["layout", "--paper"]).0;
    assert_eq!(text.lines().filter(|line| line.ends_with(" agrees") && line.contains("computed")).count(), 15);
    assert!(text.contains("10(a)  published     298,320   16,640   128 MiB   2,080 GiB"), "{text}");
}

/// Thirteen cells that "cannot form symmetry" do, and the set shown for figure 9(c) had a mirror,
/// which the paper denies.
#[test]
fn what_the_paper_says_of_symmetry_gets_a_verdict() {
    let folder = scratch();
    let found = json(folder.path(), 1, &["layout", "--paper", "--json"]);
    let claims = found["claims"].as_array().unwrap();
    let of = |verdict: &str| -> Vec<&str> {
        let found = claims.iter().filter(|claim| claim["verdict"] == verdict);
        found.map(|claim| claim["claim"].as_str().unwrap()).collect()
    };
    assert_eq!(of("contradicted"), ["13 BID pieces cannot form symmetry."]);
    assert_eq!(of("misprint"), ["The factor by which time is reduced, from 129.21 to 27.93 days"]);
    let figures = claims.iter().filter(|claim| claim["claim"] == "The symmetry of the BID pieces");
    assert_eq!(figures.filter(|claim| claim["verdict"] == "agrees").count(), 12);
    // Choose 2a + b = 13 of 20 pairs and 5 fixed cells.
    let sets = claims.iter().find(|claim| claim["verdict"] == "contradicted").unwrap()["computed"].as_str().unwrap();
    let choose = |n: u64, k: u64| (0..k).fold(1, |found, i| found * (n - i) / (i + 1));
    let expected: u64 = [1, 3, 5].iter().map(|fixed| choose(5, *fixed) * choose(20, (13 - fixed) / 2)).sum();
    assert_eq!(sets, format!("{expected} sets of 13 cells keep a given mirror"));
    let text = ends(folder.path(), 1, &["layout", "--paper"]).0;
    assert!(text.contains("section 4.2: contradicted\n  claim     13 BID pieces cannot form symmetry.\n"), "{text}");
}

/// [SWLK12] figure 4(a). Regression: the JSON of a layout lists its edges.
#[test]
fn a_layout_lists_its_edges() {
    let folder = scratch();
    let of = |cells: &str, more: &[&str]| {
        let args = ["layout", "-k", "8", "--json", "--bid-cells", cells];
        report(folder.path(), &[&args[..], more].concat())["edges"].clone()
    };
    let edges = of("(7,4)(7,5)(7,6)(7,7)", &[]);
    let edges = edges.as_array().unwrap();
    assert_eq!(edges.len(), 49);
    for edge in edges {
        let [target, child, source] = ["target", "child", "source"].map(|name| edge[name].as_u64().unwrap());
        let taken =
            edge["taken"].as_array().unwrap().iter().fold(0, |mask, cell| mask | 1 << (cell.as_u64().unwrap() - 32));
        assert!(source == child && target ^ child == taken && target & taken == taken, "{edge}");
        // Consecutive cells of one row.
        let run = taken >> u64::trailing_zeros(taken);
        assert_eq!(run & (run + 1), 0, "{edge}");
    }
    assert_eq!(of("(0,0)(2,1)(4,2)(6,3)", &[]).as_array().unwrap().len(), 32);
    assert_eq!(of(FIGURE_3F, &[]).as_array().unwrap().len(), 87);
    // Many edges are listed on request.
    let twelve = "(2,1)(3,0)(3,3)(4,0)(4,4)(6,1)(6,5)(7,3)(7,4)(4,2)(5,2)(5,3)";
    assert_eq!(of(twelve, &[]), Value::Null);
    assert_eq!(of(twelve, &["--edges"]).as_array().unwrap().len(), 8_258);
    let text = ends(folder.path(), 0, &["layout", "-k", "8", "--bid-cells", "(0,0)(7,7)", "--edges"]).0;
    assert!(text.contains("\n3 from 0: (0,0)(7,7)\n"), "{text}");
}

#[test]
fn layouts_are_searched() {
    let folder = scratch();
    let search = |args: &[&str]| report(folder.path(), &[&["layout", "search", "--json"], args].concat());
    let found = search(&["--layers", "8", "--bits", "6", "--top", "4"]);
    let updates: Vec<&Value> =
        found["layouts"].as_array().unwrap().iter().map(|layout| &layout["canonical_updates"]).collect();
    assert_eq!(updates, [&json!(87); 4]);
    assert_eq!(found["exhaustive"], true);
    let found = search(&["-k", "9", "--bits", "13", "--symmetry", "any", "--top", "1"]);
    assert_eq!((&found["exhaustive"], &found["asymmetric_at_least"]), (&json!(true), &json!(77_824)));
    assert_eq!(found["layouts"][0]["canonical_updates"], 44_816);
    let limited = ["-k", "9", "--bits", "13", "--symmetry", "mirror", "--sets", "5000", "--seed", "3"];
    let found = search(&limited);
    assert_eq!(found["exhaustive"], false);
    assert!(found["sets"].as_u64().unwrap() <= 5000);
    assert_eq!(found, search(&limited));
    let text = ends(folder.path(), 0, &["layout", "search", "-k", "9", "--bits", "13"]).0;
    assert_eq!(text.trim(), "No set of 13 BID cells keeps these symmetries on 9 layers.");
}

#[test]
fn bad_arguments_are_refused() {
    let folder = scratch();
    let many: String = (0..25).map(|cell| format!("({},{})", 8, cell % 9)).collect();
    let distinct: String = (3..8u32).flat_map(|row| (0..=row).map(move |col| format!("({row},{col})"))).collect();
    let wrong: [(&[&str], &str); 15] = [
        (&["-k", "8", "--bid-cells", "(1,0)(1,0)"], "BID cell (1,0) is listed twice"),
        (&["-k", "8", "--bid-cells", "(8,0)"], "BID cell (8,0) is not on the board triangle:8"),
        (&["-k", "8", "--bid-cells", "(2,3)"], "BID cell (2,3) is not on the board triangle:8"),
        (&["-k", "9", "--bid-cells", &many], "is listed twice"),
        (&["-k", "8", "--bid-cells", &distinct], "30 BID cells are too many: expected at most 24"),
        (&["-k", "8", "--bid-cells", ""], "row and column from 0, or none"),
        (&["-k", "8", "--bid-cells", "(1,0)", "--block-bits", "9"], "cannot be used with"),
        (&["-k", "11"], "expected 1 to 10"),
        (&[], "--layers"),
        (&["--paper", "-k", "8"], "cannot be used with"),
        (&["search", "-k", "8"], "--bits"),
        (&["search", "-k", "8", "--bits", "25"], "25 BID cells are too many: expected at most 24"),
        (&["search", "-k", "3", "--bits", "7"], "7 BID cells are too many: expected at most 6"),
        (&["search", "-k", "8", "--bits", "6", "--top", "0"], "--top"),
        (&["search", "-k", "8", "--bits", "-1"], "--bits"),
    ];
    for (args, reason) in wrong {
        refused(folder.path(), &[&["layout"], args].concat(), reason);
    }
}
