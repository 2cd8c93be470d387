//! The binary as its users meet it: the published counts, wrong values, plans, and an output that
//! is closed.

use crate::common::program::{ends, json, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use trinim::game::Rule;
use trinim::game::published;

#[test]
fn published_counts_come_out_of_solve_and_stats() {
    let folder = scratch();
    for layers in 1..=7 {
        for rule in [Rule::Normal, Rule::Misere] {
            let wins = !published::start(layers, rule).unwrap().is_loss();
            let (losses, rule) = (published::losses(layers, rule).unwrap(), rule.name());
            let layers_text = layers.to_string();
            let solved = json(folder.path(), 0, &["solve", "--layers", &layers_text, "--rule", rule, "--json"]);
            assert_eq!(solved["layers"], layers);
            assert_eq!(solved["rule"], rule);
            let start = if wins { "win" } else { "loss" };
            assert_eq!(solved["start"], start, "{layers} {rule}");
            assert_eq!(solved["losses"], losses, "{layers} {rule}");
            let positions = 1u64 << (layers * (layers + 1) / 2);
            assert_eq!(solved["positions"], positions);
            assert_eq!(solved["wins"].as_u64().unwrap() + solved["losses"].as_u64().unwrap(), positions);
            for name in
                ["loss_rate", "elapsed_s", "peak_rss_bytes", "log_bytes_written", "log_bytes_read", "database_bytes"]
            {
                assert!(solved[name].is_number(), "{name}");
            }

            let database = format!("trinim-k{layers}-{rule}");
            let stats = json(folder.path(), 0, &["stats", &database, "--json"]);
            for name in ["positions", "wins", "losses", "loss_rate", "start", "digest"] {
                assert_eq!(stats[name], solved[name], "{name}");
            }
            assert_eq!(stats["winning_first_moves"].as_array().unwrap().is_empty(), !wins);
            let rows = stats["by_pieces"].as_array().unwrap();
            let sum = |name: &str| rows.iter().map(|row| row[name].as_u64().unwrap()).sum::<u64>();
            assert_eq!((sum("positions"), sum("losses")), (positions, stats["losses"].as_u64().unwrap()));

            let csv = ends(folder.path(), 0, &["stats", &database, "--csv"]).0;
            assert_eq!(csv.lines().next(), Some("pieces,positions,losses"));
            assert_eq!(csv.lines().count(), rows.len() + 1);

            let probed = json(folder.path(), 0, &["probe", &database, "--json", &format!("{:#x}", positions - 1)]);
            assert_eq!(probed["value"], start);
            assert_eq!(probed["outcome"], if wins { "N" } else { "P" });
            let moves = probed["moves"].as_array().unwrap();
            let winning = moves.iter().take_while(|step| step["value"] == "loss").map(|step| &step["cells"]);
            // Winning moves come in the order of their distances there, by mask here.
            let sorted = |mut moves: Vec<String>| {
                moves.sort_unstable();
                moves
            };
            let listed = stats["winning_first_moves"].as_array().unwrap().iter();
            assert_eq!(sorted(listed.map(Value::to_string).collect()), sorted(winning.map(Value::to_string).collect()));
            ends(folder.path(), 0, &["verify", &database, "--json"]);
        }
    }
}

#[test]
fn wrong_values_in_undamaged_files_are_refuted() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "6", "--block-bits", "12", "-o", "run"]);
    let report = json(path, 0, &["verify", "run", "--json"]);
    assert_eq!((&report["ok"], &report["findings"]), (&true.into(), &Value::Array(Vec::new())));
    assert!(report["positions"].as_u64() > Some(0));
    assert_eq!(report["values_digest"], json(path, 0, &["stats", "run", "--json"])["values_digest"]);
    let (manifest, sums) = (path.join("run/db/manifest.json"), path.join("run/db/SUMS"));
    // A manifest with a wrong count and the right checksum.
    let (before, listed) = (fs::read_to_string(&manifest).unwrap(), fs::read_to_string(&sums).unwrap());
    let after = before.replacen("\"losses\": 1", "\"losses\": 2", 1);
    assert_ne!(before, after);
    fs::write(&manifest, &after).unwrap();
    let hash = |text: &str| blake3::hash(text.as_bytes()).to_string();
    fs::write(&sums, listed.replace(&hash(&before), &hash(&after))).unwrap();
    ends(path, 0, &["verify", "run", "--checksums-only"]);
    let (out, _) = ends(path, 1, &["verify", "run"]);
    assert!(out.contains("wrong values") && !out.contains("\ncensus "), "{out}");
}

#[test]
fn a_closed_output_is_no_panic() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "5"]);
    let mut child = trinim(path, &["probe", "trinim-k5-misere", "--json"]).stdin(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    // The program may end before it has read everything.
    let _ = input.write_all("0x7fff\n".repeat(1000).as_bytes());
    drop(input);
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{error}");
    assert_eq!(error, "");
}

#[test]
fn plans_are_made_for_boards_of_all_sizes() {
    let folder = scratch();
    let path = folder.path();
    for layers in 1..=10 {
        let plan = json(path, 0, &["plan", "--layers", &layers.to_string(), "--json"]);
        assert_eq!(plan["positions"], 1u64 << (layers * (layers + 1) / 2));
        assert_eq!(plan["placements"].as_array().unwrap().len(), 2);
        for name in ["blocks", "canonical_blocks", "edges", "block_bytes", "database_bytes", "disk_free_bytes"] {
            assert!(plan[name].is_number(), "{name}");
        }
    }
    // \[SWLK12\] figure 3(f).
    let cells = "b1,b2,g1,g7,h2,h7";
    let plan = json(path, 0, &["plan", "-k", "8", "--memory", "4GiB", "--bid-cells", cells, "--json"]);
    assert_eq!((&plan["canonical_blocks"], &plan["edges"]), (&16.into(), &87.into()));
    // Regression: what the page says of nine layers is what the plan says.
    let page = include_str!("../../src/plan/README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, answer) = page.split_once("**How much disk do nine layers need?**").unwrap();
    let (answer, _) = answer.split_once("**").unwrap();
    for memory in ["1GiB", "4GiB"] {
        let shown = ends(path, 0, &["plan", "-k", "9", "--keep", "database", "--memory", memory]).0;
        let disk = shown.lines().find_map(|line| line.strip_prefix("disk ")).unwrap();
        let (most, rest) = disk.trim_start().split_once(" at most; ").unwrap();
        let (stay, _) = rest.split_once(" stay (database), ").unwrap();
        for size in [most, stay] {
            assert!(answer.contains(&format!(" {size}")), "{memory}: {size}\n{answer}");
        }
    }
    // Regression: no time is named for a solve of moments; others are of this machine.
    for (layers, is_timed) in [("7", false), ("8", true)] {
        let shown = ends(path, 0, &["plan", "-k", layers]).0;
        assert!(shown.contains("time    moments\n") != is_timed && shown.contains("time    "), "{shown}");
        let load = json(path, 0, &["plan", "-k", layers, "--json"])["load"].as_f64().unwrap();
        assert!(if is_timed { load >= 1.0 } else { load == 1.0 }, "{load}");
    }
    // [SWLK12] section 2.1 and [LWS09]: the number of moves.
    for (layers, moves) in [("5", 75), ("8", 288), ("9", 405)] {
        assert_eq!(json(path, 0, &["plan", "-k", layers, "--json"])["moves"], moves);
        let shown = ends(path, 0, &["plan", "-k", layers]).0;
        assert!(shown.lines().next().unwrap().ends_with(&format!(", {moves} moves")), "{shown}");
    }
    let (shown, warnings) = ends(path, 0, &["plan", "-k", "10"]);
    assert!(shown.contains("layout  24 BID cells "), "{shown}");
    assert!(warnings.contains("not enough disk space") && warnings.contains("too many for one machine"), "{warnings}");
    assert!(fs::read_dir(path).unwrap().next().is_none());
}
