//! Figures of a report follow from each other, and from what lies in the folder: rates and times
//! from positions, parts from sums, also after a resume.

use crate::common::program::{SLOW, begin, committed, ends, json, signal, tree, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

fn number(report: &Value, pointer: &str) -> f64 {
    report.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}: {report}"))
}

fn sum(report: &Value, list: &str, field: &str) -> f64 {
    report[list].as_array().unwrap().iter().map(|row| row[field].as_f64().unwrap()).sum()
}

fn bytes_below(path: &Path) -> f64 {
    tree(path).values().map(|bytes| bytes.len() as f64).sum()
}

fn close(found: f64, expected: f64, story: &str) {
    assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{story}: {found}, not {expected}");
}

/// Checks the report of a solve into `folder`, of which `before` positions were decided earlier.
fn agrees(solved: &Value, folder: &Path, before: f64) {
    let of = |pointer| number(solved, pointer);
    let positions = of("/positions");
    close(of("/wins") + of("/losses"), positions, "values");
    close(of("/loss_rate"), of("/losses") / positions, "loss rate");
    close(of("/rate_positions_per_second") * of("/elapsed_s"), positions - before, "rate");
    let bid_cells = solved["bid_cells"].as_array().unwrap().len() as i32;
    close(of("/blocks"), 2f64.powi(bid_cells), "blocks");
    close(of("/blocks") * 2f64.powf(of("/offset_bits")), positions, "size of a block");
    close(of("/database_bytes"), bytes_below(&folder.join("db")), "database");
    assert!(of("/database_bytes") <= of("/disk_bytes_peak"), "{solved}");
    assert!(of("/peak_leased_bytes") <= of("/memory_bytes"), "{solved}");
    assert!(of("/workers") >= 1.0 && of("/workers") <= of("/threads"), "{solved}");
    assert!(of("/commits") >= 1.0, "{solved}");
    let plan = ["plan", "-k", "6", "--block-bits", "12", "--json", "--log-placement"];
    let plan = json(folder, 0, &[&plan[..], &[solved["placement"].as_str().unwrap()]].concat());
    close(number(&plan, "/canonical_blocks"), of("/canonical_blocks"), "canonical blocks");
    let streams = of("/streams_held") + of("/streams_read");
    match solved["placement"].as_str().unwrap() {
        "shared" => {
            assert!(before > 0.0 || streams == number(&plan, "/loads"), "{streams}: {plan}");
            assert!((of("/published_bytes_read") > 0.0) == (of("/streams_read") > 0.0), "{solved}");
        }
        _ => {
            // Entries are aligned: what lies between them is written, and not read.
            assert!(before > 0.0 || of("/log_bytes_read") <= of("/log_bytes_written"), "{solved}");
            assert!(streams > 0.0 && of("/streams_held") == 0.0 && of("/published_bytes_read") == 0.0, "{solved}");
        }
    }
}

#[test]
fn figures_of_a_solve_follow_from_each_other() {
    let folder = scratch();
    let path = folder.path();
    let six = ["solve", "-k", "6", "--block-bits", "12", "--json", "--out"];
    let ways: [&[&str]; 4] = [
        &["shared", "--log-placement", "shared"],
        &["dedicated", "--log-placement", "dedicated"],
        &["little", "--log-placement", "shared", "--memory", "34MiB", "--threads", "1"],
        &["numbers", "--log-placement", "shared", "--values", "remoteness"],
    ];
    for way in ways {
        let solved = json(path, 0, &[&six[..], way].concat());
        agrees(&solved, &path.join(way[0]), 0.0);
        if way[0] == "numbers" {
            close(sum(&solved, "by_distance", "wins"), number(&solved, "/wins"), "wins by distance");
            close(sum(&solved, "by_distance", "losses"), number(&solved, "/losses"), "losses by distance");
        }
        let [stats, status] = ["stats", "status"].map(|command| json(path, 0, &[command, way[0], "--json"]));
        for pointer in ["/positions", "/wins", "/losses", "/loss_rate"] {
            close(number(&stats, pointer), number(&solved, pointer), pointer);
        }
        for field in ["positions", "losses"] {
            close(sum(&stats, "by_pieces", field), number(&solved, &format!("/{field}")), field);
        }
        close(number(&status, "/finished_positions"), number(&solved, "/positions"), "status");
        close(number(&status, "/finished_blocks"), number(&solved, "/canonical_blocks"), "status");
        close(number(&status, "/work_done"), 1.0, "status");
        close(number(&status, "/log_bytes") + number(&status, "/log_files"), 0.0, "status");
    }
    let solved = json(path, 0, &[&six[..], &["nimbers", "--rule", "normal", "--values", "nimbers"]].concat());
    close(sum(&solved, "by_nimber", "positions"), number(&solved, "/positions"), "positions by nimber");
    // What is held is not read, and nothing is held without room for it.
    let [much, little] = ["much", "least"].map(|name| {
        let memory = if name == "much" { "1GiB" } else { "34MiB" };
        let more = [name, "--log-placement", "shared", "--memory", memory, "--threads", "1"];
        json(path, 0, &[&["solve", "-k", "7", "--block-bits", "20", "--json", "--out"], &more[..]].concat())
    });
    let held = |report: &Value| number(report, "/streams_held");
    assert!(held(&much) > number(&much, "/streams_read"), "{much}");
    assert!(held(&little) < number(&little, "/streams_read") && held(&little) < held(&much), "{little}");
}

/// Regression: the rate after a resume was that of the blocks of all sessions in the time of one.
#[test]
fn figures_of_a_session_are_those_of_the_session() {
    let folder = scratch();
    let path = folder.path();
    let mut child = begin(path, "run");
    committed(&mut child, &path.join("run"));
    signal(&child, "TERM");
    child.wait().unwrap();
    let before = json(path, 0, &["status", "run", "--json"]);
    assert_eq!((&before["state"], &before["rate_positions_per_second"]), (&"stopped".into(), &Value::Null));
    let mut child = trinim(path, &[&SLOW[..], &["run"]].concat()).spawn().unwrap();
    let journal = |generation: f64| path.join(format!("run/m/journal.{generation}.a"));
    let generation = number(&before, "/generation") + 1.0;
    let length = || fs::metadata(journal(generation)).map_or(0, |found| found.len());
    let begun = loop {
        match length() {
            0 => std::thread::sleep(std::time::Duration::from_millis(1)),
            length => break length,
        }
    };
    while length() < begun + 1000 {
        assert!(child.try_wait().unwrap().is_none(), "the solve ended too early");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    signal(&child, "STOP");
    let now = json(path, 0, &["status", "run", "--json"]);
    assert_eq!(now["state"], "running");
    close(
        number(&now, "/finished_blocks"),
        number(&before, "/finished_blocks") + number(&now, "/session_blocks"),
        "blocks of the session",
    );
    let changed = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let opened: SystemTime = changed(&path.join(format!("run/m/manifest.{generation}.a")));
    let time = changed(&journal(generation)).duration_since(opened).unwrap().as_secs_f64();
    let decided = number(&now, "/finished_positions") - number(&before, "/finished_positions");
    close(number(&now, "/rate_positions_per_second") * time, decided, "rate of the session");
    signal(&child, "CONT");
    signal(&child, "TERM");
    child.wait().unwrap();
    let stopped = json(path, 0, &["status", "run", "--json"]);
    let ended = json(path, 0, &["resume", "run", "--json"]);
    close(number(&ended, "/resumed_blocks"), number(&stopped, "/finished_blocks"), "resumed blocks");
    let left = number(&ended, "/positions") - number(&stopped, "/finished_positions");
    close(number(&ended, "/rate_positions_per_second") * number(&ended, "/elapsed_s"), left, "rate after a resume");
}

/// Regression: at its end the book is there twice, as a whole and in parts, and was planned once.
#[test]
fn figures_of_a_plan_follow_from_each_other_and_cover_what_is_made() {
    let folder = scratch();
    let path = folder.path();
    for (layers, memory, more) in
        [("6", "64MiB", &[][..]), ("7", "1GiB", &["--keep", "book:10"]), ("8", "300MiB", &["--threads", "3"])]
    {
        let plan = json(path, 0, &[&["plan", "-k", layers, "--memory", memory, "--json"], more].concat());
        let of = |field: &str| number(&plan, &format!("/memory/{field}"));
        let parts = of("program_bytes") + of("workers") * of("worker_bytes") + of("queue_bytes") + of("held_bytes");
        close(of("used_bytes"), parts, "memory");
        assert!(of("used_bytes") <= of("budget_bytes") && of("least_bytes") <= of("used_bytes"), "{plan}");
        close(of("held_bytes"), of("held_streams") * number(&plan, "/block_bytes"), "held streams");
        close(number(&plan, "/block_bytes") * 8.0, 2f64.powf(number(&plan, "/offset_bits")), "block");
        close(number(&plan, "/bid_bits") + number(&plan, "/offset_bits"), number(&plan, "/cells"), "cells");
        close(number(&plan, "/blocks"), 2f64.powf(number(&plan, "/bid_bits")), "blocks");
        let row = |list: &str, name: &str, value: &Value| {
            let rows = plan[list].as_array().unwrap().iter();
            rows.clone().find(|row| row[name] == *value).unwrap_or_else(|| panic!("{list}: {value}")).clone()
        };
        let [kept, chosen] = [row("kept", "keep", &plan["keep"]), row("placements", "placement", &plan["placement"])];
        for field in ["seconds", "disk_peak_bytes"] {
            close(number(&kept, &format!("/{field}")), number(&chosen, &format!("/{field}")), field);
        }
        let seconds = number(&chosen, "/seconds");
        assert!(number(&plan, "/seconds_least") <= seconds && seconds <= number(&plan, "/seconds_most"), "{plan}");
    }
    let book = ["-k", "7", "--keep", "book:10", "--json"];
    let [of_book, of_counts] = [&book[..], &["-k", "7", "--keep", "counts", "--json"]]
        .map(|game| json(path, 0, &[&["plan", "--log-placement", "dedicated"], game].concat()));
    ends(path, 0, &[&["solve", "--out", "book"], &book[..]].concat());
    let bytes = fs::metadata(path.join("book/db/book")).unwrap().len() as f64;
    let more = number(&of_book, "/database_bytes") - number(&of_counts, "/database_bytes");
    assert!(more >= 2.0 * bytes, "{more} more bytes planned for a book of {bytes}");
}

/// Half of the free memory is for a large board: the rest of the machine needs some, too.
#[test]
fn a_large_board_takes_half_of_the_free_memory() {
    let folder = scratch();
    let plan = json(folder.path(), 0, &["plan", "-k", "9", "--json"]);
    let [budget, free] = ["/memory/budget_bytes", "/memory_available_bytes"].map(|name| number(&plan, name));
    assert!(budget == f64::from(1 << 30) || (budget - free / 2.0).abs() < free / 8.0, "{budget} of {free}");
    let small = json(folder.path(), 0, &["plan", "-k", "8", "--json"]);
    assert_eq!(number(&small, "/memory/budget_bytes"), f64::from(1 << 30));
}
