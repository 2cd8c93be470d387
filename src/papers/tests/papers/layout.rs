//! `trinim papers layout` from its user's side.

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
    // The cells that a solve would choose.
    let suggested = report(folder.path(), &["layout", "-k", "8", "--json"]);
    let chosen = choose_layout(&Board::triangle(8, None).unwrap(), 1 << 30);
    assert_eq!(suggested["bid_cells"], json!(chosen.bid_cells()));
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
        let matched = row["cells_known"].as_str().unwrap().contains("not available");
        assert_eq!(matched, ["3(c)", "3(d)", "9(b)", "9(c)"].contains(&row["figure"].as_str().unwrap()));
    }
    assert_eq!(rows[13]["computed"]["groups"], json!({"1": 16, "2": 8, "3": 496, "6": 5208}));
}

/// Thirteen cells that, according to the paper, "cannot form symmetry" do, and the set shown for
/// figure 9(c) has a mirror.
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
}
