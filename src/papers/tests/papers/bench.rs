//! `trinim papers bench` from its user's side: shapes, interruption. No test checks a time.

use crate::common::program::{ends, signal, text, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use trinim_papers::record::Record;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Small and quick: no warm-up, two rounds, no yardsticks.
const TINY: [&str; 7] = ["bench", "--warm-up", "0", "--repeats", "2", "--yardstick", "none"];

fn tiny<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TINY[..], more].concat()
}

#[test]
fn every_combination_is_measured_checked_and_exported() {
    let folder = scratch();
    let path = folder.path();
    fs::create_dir(path.join("scratch")).unwrap();
    let args = "bench --layers 4,5 --rule misere,normal --threads 1,2 --repeats 3 --warm-up 1 --out scratch \
                --revision abc --json --csv b.csv";
    let (out, error) = ends(path, 0, &args.split_whitespace().collect::<Vec<_>>());
    let record = serde_json::from_str::<Record>(&out).unwrap();
    assert_eq!((record.repeats, record.warm_up, record.interrupted), (3, 1, false));
    assert_eq!((record.version.as_str(), record.revision.as_deref()), (env!("CARGO_PKG_VERSION"), Some("abc")));
    assert_eq!(record.date.len(), 10);
    assert!(record.machine.threads > 0 && record.machine.memory_bytes > 1 << 20);
    let (device, memory) = (record.device.unwrap(), record.memory.unwrap());
    assert_eq!(device.file_bytes, 4 << 20);
    assert!(device.write_bytes_per_second > 0.0 && memory.copy_bytes_per_second > 0.0);

    // The first case runs twice in each round.
    assert_eq!(record.rows.len(), 8 + 1);
    let (first, again) = (&record.rows[0], &record.rows[8]);
    assert!(again.again && again.command == first.command && again.name == format!("{}, again", first.name));
    assert!(record.noise().unwrap() >= 1.0 && again.figures.unwrap().ratio_range.is_some());
    assert_eq!(record.rows[1].command, "trinim solve --layers 4 --rule misere --threads 2");
    for row in &record.rows {
        let rounds: Vec<u32> = row.runs.iter().map(|run| run.round).collect();
        assert_eq!(rounds, [1, 2, 3], "{}", row.name);
        let figures = row.figures.unwrap();
        assert!(figures.seconds.min <= figures.seconds.median && figures.seconds.median <= figures.seconds.max);
        assert!(
            figures.ratio.or(figures.ratio_range.map(|[min, _]| min)).is_some()
                && figures.write_share.is_some()
                && figures.memory_share.is_some()
        );
        for run in &row.runs {
            let rule = run.report["rule"].as_str().unwrap().parse().unwrap();
            let layers = run.report["layers"].as_u64().unwrap() as u32;
            assert_eq!(run.report["losses"].as_u64(), trinim::game::published::losses(layers, rule));
            assert!(row.name.contains(&format!("--layers {layers}")) && run.report.get("out").is_none());
        }
    }
    assert_eq!(error.matches("warm-up: ").count(), 9, "{error}");
    let of_round = |round: u32| -> Vec<String> {
        let head = format!("round {round} of 3: ");
        let names = error.lines().filter_map(|line| Some(line.strip_prefix(&head)?.rsplit_once(": ")?.0.to_owned()));
        names.collect()
    };
    let [one, two] = [1, 2].map(of_round);
    let sorted = |names: &[String]| names.iter().cloned().collect::<std::collections::BTreeSet<_>>();
    assert!(one != two && sorted(&one).len() == 9 && sorted(&one) == sorted(&two), "rounds have an order of their own");

    // A round ends before the next one begins.
    let order: Vec<usize> = error.lines().filter_map(|line| line.strip_prefix("round ")?[..1].parse().ok()).collect();
    assert!(order.is_sorted() && order.len() == 27, "{order:?}");

    let csv = fs::read_to_string(path.join("b.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 27);
    assert!(names(&path.join("scratch")).is_empty(), "folders of runs are left behind");
    assert_eq!(names(path), ["b.csv", "scratch"]);

    // An export replaces an earlier export.
    let again = tiny(&["--layers", "2", "--csv", "b.csv"]);
    let (table, _) = ends(path, 0, &again);
    assert!(table.trim_start().starts_with("median ") && table.lines().count() == 1 + 2 * 2, "{table}");
    assert_eq!(fs::read_to_string(path.join("b.csv")).unwrap().lines().count(), 1 + 2 * 2);
}

#[test]
fn combinations_without_sense_are_left_out_and_nothing_else_is_refused() {
    let folder = scratch();
    let path = folder.path();
    // Four layers have no row 4.
    let (out, error) = ends(
        path,
        0,
        &tiny(&["--layers", "4,5", "--scan", "bid-cells=(4,0)(4,4)", "--scan", "block-bits=8", "--json"]),
    );
    let record = serde_json::from_str::<Record>(&out).unwrap();
    assert_eq!(record.rows.len(), 3 + 1);
    assert!(error.contains("left out: --layers 4 --bid-cells '(4,0)(4,4)': "), "{error}");
    // Digests are compared only within a layout.
    let digests: Vec<&Value> = record.rows.iter().map(|row| &row.runs[0].report["digest"]).collect();
    assert_ne!(digests[1], digests[2]);

    let (_, error) = ends(path, 2, &tiny(&["--layers", "3,4", "--scan", "bid-cells=(4,0)(4,4)"]));
    assert!(error.contains("and so are the other cases") && error.contains("hint: "), "{error}");
    // Too little memory for every case.
    let (_, error) = ends(path, 2, &tiny(&["--layers", "7", "--scan", "memory=1MiB,2MiB"]));
    assert!(error.contains("too small"), "{error}");
    // The papers' strategies write no logs.
    let (out, error) = ends(
        path,
        0,
        &tiny(&["-k", "5", "--scan", "strategy=block-pull,update-log", "--scan", "log-placement=shared", "--json"]),
    );
    // The first case that runs is the one that runs again, also if that shows in the last round.
    let once = ["bench", "-k", "3", "--repeats", "1", "--warm-up", "0", "--yardstick", "none", "--json"];
    let (found, _) = ends(path, 0, &[&once[..], &["--scan", "bid-cells=f9", "--scan", "block-bits=3,6"]].concat());
    let rows = serde_json::from_str::<Record>(&found).unwrap().rows;
    let runs: Vec<(&str, bool, usize)> = rows.iter().map(|row| (&*row.name, row.again, row.runs.len())).collect();
    let [three, six] = ["--layers 3 --block-bits 3", "--layers 3 --block-bits 6"];
    assert_eq!(runs, [(three, false, 1), (six, false, 1), (&*format!("{three}, again"), true, 1)]);
    let run: Vec<String> = serde_json::from_str::<Record>(&out).unwrap().rows.into_iter().map(|row| row.name).collect();
    let name = "--layers 5 --strategy update-log --log-placement shared";
    assert_eq!(run, [name.to_owned(), format!("{name}, again")]);
    assert!(error.contains("left out: --layers 5 --strategy block-pull --log-placement shared: "), "{error}");
    assert!(names(path).is_empty());
}

/// Any board can be measured, and its counts are compared over all layouts and values.
#[test]
fn any_board_is_measured() {
    let folder = scratch();
    let path = folder.path();
    fs::write(path.join("star.toml"), "name = 'rect:3x3'\ncells = 4\nmoves = [[0], [1, 2], [3]]\n").unwrap();
    let boards = ["-k", "4", "--board", "rect:3x3,hex:2,file:star.toml", "--rule", "normal"];
    let ways = ["--scan", "values=outcomes,nimbers", "--scan", "block-bits=3,9", "--json"];
    let (out, error) = ends(path, 0, &tiny(&[&boards[..], &ways].concat()));
    let record = serde_json::from_str::<Record>(&out).unwrap();
    assert_eq!(record.rows.len(), 4 * 2 * 2 + 1, "{error}");
    let of = |name: &str| -> Vec<&Value> {
        record.rows.iter().filter(|row| row.name.contains(name)).map(|row| &row.runs[1].report).collect()
    };
    let losses =
        |name: &str| -> Vec<u64> { of(name).iter().map(|report| report["losses"].as_u64().unwrap()).collect() };
    assert_eq!(losses("--layers 4"), [149; 4 + 1]);
    for name in ["--board rect:3x3", "--board hex:2", "--board file:star.toml"] {
        let found = losses(name);
        assert_eq!(found, [found[0]; 4], "{name}");
    }
    // A file can give its board the name of another one.
    let [named, own] = ["--board rect:3x3", "--board file:star.toml"].map(|name| of(name)[0]);
    assert_eq!((named["positions"].as_u64(), own["positions"].as_u64()), (Some(512), Some(16)));
    assert_eq!(own["board"], "rect:3x3");
    assert_eq!(record.rows[4].command, "trinim solve --board rect:3x3 --rule normal --values outcomes --block-bits 3");

    let (out, error) = ends(path, 0, &tiny(&["--board", "rect:4x4", "--scan", "max-take=2,3", "--json"]));
    let takes: Vec<Value> = serde_json::from_str::<Record>(&out)
        .unwrap()
        .rows
        .into_iter()
        .map(|row| row.runs[0].report["max_take"].clone())
        .collect();
    assert_eq!(takes, [2, 3, 2], "{error}");
    // Misère play has no nimbers.
    let (out, error) =
        ends(path, 0, &tiny(&["--board", "hex:2", "--rule", "misere,normal", "--scan", "values=nimbers", "--json"]));
    assert_eq!(serde_json::from_str::<Record>(&out).unwrap().rows.len(), 1 + 1);
    assert!(error.contains("left out: --board hex:2 --rule misere --values nimbers: "), "{error}");
}

#[test]
fn every_way_gives_the_same_digest_side_by_side() {
    let folder = scratch();
    let path = folder.path();
    let ways = "strategy=update-log,block-pull,block-push,retrograde,forward";
    let (out, _) =
        ends(path, 0, &tiny(&["-k", "5", "--scan", ways, "--scan", "block-bits=9", "--json", "--csv", "b.csv"]));
    let record = serde_json::from_str::<Record>(&out).unwrap();
    // A solve by update logs names no strategy.
    let named = record.rows.iter().map(|row| row.runs[0].report["strategy"].as_str().unwrap_or("update-log"));
    let named: Vec<&str> = named.collect();
    assert_eq!(format!("strategy={}", named[..5].join(",")), ways);
    assert_eq!(named[5..], ["update-log"]);
    let digests: std::collections::BTreeSet<&str> =
        record.rows.iter().map(|row| row.runs[1].report["digest"].as_str().unwrap()).collect();
    assert_eq!(digests.len(), 1);
    // Loaded and stored blocks count as bytes of the device.
    assert!(record.rows[1].figures.unwrap().read_bytes > Some(0.0));
    let lines = fs::read_to_string(path.join("b.csv")).unwrap();
    assert!(lines.lines().nth(3).unwrap().contains(",block-pull,"), "{lines}");
}

/// Regression: measurements were lost with a CSV that could not be written.
#[test]
fn a_csv_that_cannot_be_written_leaves_the_report() {
    let folder = scratch();
    let (out, error) = ends(folder.path(), 4, &tiny(&["--layers", "2", "--csv", "/dev/full"]));
    assert!(out.trim_start().starts_with("median ") && out.lines().count() == 1 + 2 * 2, "{out}");
    assert!(error.contains("error: cannot write /dev/full: "), "{error}");
}

#[test]
fn an_interrupted_bench_reports_what_it_has() {
    let folder = scratch();
    let path = folder.path();
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let args = ["bench", "--layers", "4,5", "--repeats", "1000", "--warm-up", "0", "--yardstick", "none", "--json"];
        let mut child = trinim(path, &args).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(errors.any(|line| line.unwrap().starts_with("round 2 of 1000")));
        signal(&child, name);
        let told: Vec<String> = errors.map(Result::unwrap).collect();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert!(told.last().unwrap().contains("stopped in round"), "{told:?}");
        let record = serde_json::from_str::<Record>(&text(&output.stdout)).unwrap();
        assert!(record.interrupted && record.rows.len() == 3);
        let runs: Vec<usize> = record.rows.iter().map(|row| row.runs.len()).collect();
        assert!(runs[0] >= 1 && runs[0] < 1000 && runs.iter().all(|some| some.abs_diff(runs[0]) <= 1), "{runs:?}");
        assert!(names(path).is_empty());
    }
}
