//! Figures of a report follow from each other, and from what lies in the folder: rates and times
//! from positions, parts from sums, also after a resume.

use crate::common::program::{SLOW, begin, committed, ends, json, outcome, signal, tree, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::SystemTime;
use trinim::database::Keep;
use trinim::plan::rates;

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

/// Returns a figure of a file of metrics.
fn metric(file: &Path, name: &str) -> f64 {
    let text = fs::read_to_string(file).unwrap();
    let line = text.lines().find(|line| line.starts_with(&format!("trinim_{name}{{"))).unwrap();
    line.split(' ').next_back().unwrap().parse().unwrap()
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
    let [memory, threads] = ["/memory_bytes", "/threads"].map(|name| of(name).to_string());
    let plan = ["plan", "-k", "6", "--block-bits", "12", "--json", "--memory", &memory, "--threads", &threads];
    let values = ["--values", solved["values"].as_str().unwrap(), "--log-placement"];
    let plan = json(folder, 0, &[&plan[..], &values, &[solved["placement"].as_str().unwrap()]].concat());
    close(number(&plan, "/canonical_blocks"), of("/canonical_blocks"), "canonical blocks");
    close(number(&plan, "/memory/workers"), of("/workers"), "workers");
    let passes = of("/bitmap_bytes") / number(&plan, "/block_bytes");
    let computed = number(&plan, "/canonical_blocks") + number(&plan, "/edges");
    assert!(before > 0.0 || passes >= computed, "{passes} passes of {computed}");
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
    let ways: [&[&str]; 5] = [
        &["many", "--log-placement", "dedicated", "--memory", "34MiB", "--threads", "1000"],
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

/// Regression: a resume took the default, and not the memory of the run.
#[test]
fn a_resume_takes_the_memory_of_the_run() {
    let folder = scratch();
    let path = folder.path();
    let stopped = |name: &str, memory: &str| {
        let mut child = trinim(path, &[&SLOW[..], &[name, "--memory", memory]].concat()).spawn().unwrap();
        committed(&mut child, &path.join(name));
        signal(&child, "TERM");
        child.wait().unwrap();
    };
    let resumed = |args: &[&str]| {
        let (code, out, error) =
            outcome(trinim(path, &[&["resume", "--json"], args].concat()).env_remove("TRINIM_MEMORY"));
        assert_eq!(code, 0, "{error}");
        (serde_json::from_str::<Value>(&out).unwrap()["memory_bytes"].as_u64().unwrap() >> 20, error)
    };
    stopped("given", "301MiB");
    stopped("own", "301MiB");
    assert_eq!(resumed(&["given", "--memory", "203MiB"]).0, 203);
    assert_eq!(resumed(&["own"]).0, 301);
    stopped("large", "4096TiB");
    let (memory, error) = resumed(&["large"]);
    assert!(memory <= 1024, "{memory}");
    assert!(error.contains("the earlier --memory 4"), "{error}");
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
    assert_eq!((&before["state"], &before["rate_positions_per_second"]), (&"unfinished".into(), &Value::Null));
    let logs = tree(&path.join("run/logs"));
    close(number(&before, "/log_files"), logs.len() as f64, "files of logs");
    close(number(&before, "/log_bytes"), bytes_below(&path.join("run/logs")), "bytes of logs");
    // The file of a block that was not committed does not count.
    fs::write(path.join("run/db/foreign"), "x").unwrap();
    assert_eq!(json(path, 0, &["status", "run", "--json"])["database_bytes"], before["database_bytes"]);
    fs::remove_file(path.join("run/db/foreign")).unwrap();
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
    let [now_done, before_done] = [&now, &before].map(|report| number(report, "/work_done"));
    let left = (1.0 - now_done) / (now_done - before_done) * time - number(&now, "/last_commit_s_ago");
    close(number(&now, "/eta_s"), left.max(0.0), "time left");
    signal(&child, "CONT");
    signal(&child, "TERM");
    child.wait().unwrap();
    let stopped = json(path, 0, &["status", "run", "--json"]);
    let ended = json(path, 0, &["resume", "run", "--json", "--metrics", "run.prom"]);
    close(metric(&path.join("run.prom"), "finished_blocks"), number(&ended, "/canonical_blocks"), "finished blocks");
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
        let mut placements = plan["placements"].as_array().unwrap().iter();
        let chosen = placements.find(|row| row["placement"] == plan["placement"]).unwrap();
        assert!(number(chosen, "/disk_peak_bytes") >= number(&plan, "/database_bytes"), "{plan}");
        assert!(number(chosen, "/seconds") > 0.0, "{plan}");
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

#[test]
fn figures_of_checks_repairs_and_exports_are_those_of_the_files() {
    let folder = scratch();
    let path = folder.path();
    let db = path.join("run/db");
    let solved = json(path, 0, &["solve", "-k", "5", "--block-bits", "9", "--json", "--out", "run"]);
    let length = |name: &str| fs::metadata(db.join(name)).unwrap().len() as f64;
    let [verified, checked] = ["verify", "check"].map(|command| json(path, 0, &[command, "run", "--json"]));
    let of = |pointer| number(&verified, pointer);
    close(of("/rate_positions_per_second") * of("/elapsed_s"), number(&solved, "/positions"), "rate");
    close(of("/canonical_positions"), of("/blocks") * 512.0, "canonical positions");
    close(of("/files") + 1.0, tree(&db).len() as f64, "all files but SUMS");
    close(of("/file_bytes"), bytes_below(&db) - length("SUMS"), "bytes of all files but SUMS");
    close(number(&checked, "/files"), tree(&db).len() as f64, "checked files");
    assert!(of("/peak_rss_bytes") > 1e6, "{verified}");
    let rows = json(path, 0, &["export", "run", "--out", "losses.npy", "--json"]);
    close(number(&rows, "/rows"), number(&solved, "/losses"), "rows");
    close(number(&rows, "/bytes"), fs::metadata(path.join("losses.npy")).unwrap().len() as f64, "bytes of an export");
    // Without its list a finished run is not in order, though no file is damaged.
    let list = fs::read(db.join("SUMS")).unwrap();
    fs::remove_file(db.join("SUMS")).unwrap();
    let unsealed = json(path, 3, &["check", "run", "--json"]);
    assert_eq!([&unsealed["unsealed"], &unsealed["ok"]], [true, false], "{unsealed}");
    fs::write(db.join("SUMS"), list).unwrap();
    // Block 1 has one source.
    fs::remove_file(db.join("000001.blk")).unwrap();
    let planned = json(path, 3, &["repair", "run", "--dry-run", "--json"]);
    close(number(&planned, "/read_bytes"), length("000000.blk"), "bytes that a repair reads");
    assert!(number(&planned, "/blocks") == 1.0 && number(&planned, "/estimated_s") > 0.0, "{planned}");
    assert!(!db.join("000001.blk").exists());
}

/// Regression: a repair of many small blocks announced a thirtieth of the time that it took, which
/// is that of their files.
#[test]
fn a_repair_announces_the_time_of_its_files() {
    // On a disk, if there is one.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "6", "--block-bits", "12", "--out", "run"]);
    let is_close = |_| {
        let files = tree(&path.join("run/db")).into_keys();
        let lost = files.filter(|name| name.extension().is_some_and(|end| end == "blk"));
        lost.for_each(|name| fs::remove_file(name).unwrap());
        let report = json(path, 0, &["repair", "run", "--json"]);
        let [blocks, estimated, elapsed] = ["/blocks", "/estimated_s", "/elapsed_s"].map(|name| number(&report, name));
        assert!(blocks > 50.0, "{report}");
        println!("{estimated} s estimated, {elapsed} s elapsed");
        elapsed < 5.0 * estimated && estimated < 5.0 * elapsed
    };
    // Other programs may write to the disk at the same time.
    assert!((0..10).any(is_close), "every estimate is wrong by a factor of five");
    assert!(tree(&path.join("run")).keys().all(|name| name.extension().is_none_or(|end| end != "tmp")));
    // Regression: where the folder of the blocks was gone, the time could not be measured, and the
    // repair failed.
    fs::remove_dir_all(path.join("run/db")).unwrap();
    ends(path, 0, &["repair", "run"]);
}

/// The rows of a table are the fields of the report that say something: what was not looked at has
/// no row.
#[test]
fn a_check_shows_what_it_looked_at() {
    let folder = scratch();
    let path = folder.path();
    let db = path.join("run/db");
    ends(path, 0, &["solve", "-k", "5", "--block-bits", "9", "--out", "run"]);
    for subject in ["run", "run/db"] {
        for depth in ["metadata", "sums", "full"] {
            let check = ["check", subject, "--depth", depth];
            let (shown, report) = (ends(path, 0, &check).0, json(path, 0, &[&check[..], &["--json"]].concat()));
            let is_hashed = depth != "metadata";
            let bytes = if is_hashed { bytes_below(&db) } else { 0.0 };
            assert!((number(&report, "/bytes") - bytes).abs() < 8192.0, "{depth}: {report}");
            assert_eq!(shown.contains("\nhashed"), is_hashed, "{depth}: {shown}");
            let files = number(&report, "/files");
            assert!(shown.contains(&format!("{files} files")), "{shown}");
        }
    }
    // What a repair of the lists reads is every block.
    crate::common::program::copy(&db, &path.join("alone"));
    fs::remove_file(path.join("alone/SUMS")).unwrap();
    let planned = json(path, 3, &["repair", "alone", "--dry-run", "--json"]);
    let blocks = bytes_below(&db)
        - ["SUMS", "manifest.json"].map(|name| fs::metadata(db.join(name)).unwrap().len() as f64).iter().sum::<f64>();
    close(number(&planned, "/read_bytes"), blocks, "blocks that a repair of the lists reads");
    let count = number(&json(path, 0, &["check", "run", "--json"]), "/blocks");
    let recalled = count * 64.0 / rates::RECALL_BYTES_PER_SECOND;
    let device = rates::for_blocks(Keep::Database, 64).device_bytes_per_second;
    let estimated = number(&planned, "/estimated_s");
    assert!(estimated >= blocks / device + recalled, "{estimated} s to read {count} blocks");
}

/// The shares of a table for people follow from its numbers.
#[test]
fn shares_in_percent_are_those_of_the_numbers_beside_them() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--rule", "normal", "--values", "nimbers", "--out", "four"]);
    let shown = ends(path, 0, &["stats", "four"]).0;
    let mut rows = 0;
    for line in shown.lines() {
        let words: Option<Vec<f64>> = line.split_whitespace().map(|word| word.replace(',', "").parse().ok()).collect();
        let (part, whole, share) = match words.as_deref() {
            Some([_, positions, losses, share]) => (*losses, *positions, share),
            Some([_, positions, share]) => (*positions, 1024.0, share),
            _ => continue,
        };
        assert!((share - 100.0 * part / whole).abs() < 6e-4, "{line}");
        rows += 1;
    }
    assert!(rows > 11 + 4, "{shown}");
}

/// The last metrics of a solve are the figures of its report.
#[test]
fn figures_of_metrics_are_those_of_the_report() {
    let folder = scratch();
    let path = folder.path();
    for placement in ["shared", "dedicated"] {
        let six = ["solve", "-k", "6", "--block-bits", "12", "--memory", "34MiB", "--metrics", "last.prom", "--json"];
        let solved = json(path, 0, &[&six[..], &["--log-placement", placement, "--out", placement]].concat());
        let of = |pointer| number(&solved, pointer);
        for (name, figure) in [
            ("blocks", of("/canonical_blocks")),
            ("finished_blocks", of("/canonical_blocks")),
            ("committed_blocks", of("/canonical_blocks")),
            ("log_written_bytes", of("/log_bytes_written")),
            ("log_read_bytes", of("/log_bytes_read") + of("/published_bytes_read")),
            ("progress_ratio", 1.0),
            ("eta_seconds", 0.0),
        ] {
            close(metric(&path.join("last.prom"), name), figure, name);
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64();
        let ago = now - metric(&path.join("last.prom"), "updated_timestamp_seconds");
        assert!((-1.0..100.0).contains(&ago), "{ago} s ago");
    }
}
