//! What every command of the program keeps to: schemas, refusals, signals, widths, bytes.

use crate::common::program::{ends, json, outcome, run, signal, text, trinim};
use crate::common::reports::{ReportFields, assert_page};
use crate::common::{copy, scratch, tree};
use serde_json::json;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;
use trinim::Solve;
use trinim::database::{Keep, Values};
use trinim::game::{Board, Rule};

/// Solves a board into a folder of this name.
fn solve(folder: &Path, name: &str, layers: u32, rule: Rule, with: impl FnOnce(Solve) -> Solve) {
    let board = Board::triangle(layers, None).unwrap();
    with(Solve::new(&board, rule).threads(1)).run(&folder.join(name)).unwrap();
}

#[test]
fn every_output_is_valid_and_every_field_is_printed() {
    let folder = scratch();
    let path = folder.path();
    solve(path, "six", 6, Rule::Misere, |solve| solve.block_bits(12));
    let mut seen = ReportFields::new();
    for (code, args) in [
        (0, &["solve", "-k", "5", "--strategy", "block-pull", "--out", "pull", "--json"][..]),
        (2, &["solve", "-k", "5", "--strategy", "forward", "--kernel", "portable", "--json"]),
        (0, &["layout", "-k", "5", "--block-bits", "8", "--json"]),
        (0, &["layout", "search", "-k", "5", "--bits", "3", "--symmetry", "any", "--json"]),
        (1, &["layout", "--paper", "--json"]),
        (0, &["report", "six", "--out", "report", "--json"]),
        (0, &["bench", "-k", "3", "--repeats", "1", "--yardstick", "4MiB", "--json"]),
    ] {
        seen.run(path, code, args);
    }
    let stream = ["--progress", "json", "--progress-interval", "10ms"];
    for (code, out) in [(0, "stream"), (2, "six")] {
        let solve = ["solve", "-k", "6", "--strategy", "block-push", "--out", out, "--block-bits", "9"];
        let (found, _, error) = run(path, &[&solve[..], &stream].concat());
        assert_eq!(found, code, "{error}");
        seen.add(&error, "--progress json");
    }
    // A baseline has no values but who wins, and no audit; its events are those of every solve.
    seen.assert_all_printed(&[
        ("trinim.papers.solve/1", "by_nimber[]."),
        ("trinim.papers.solve/1", "by_distance[]."),
        ("trinim.papers.solve/1", "audit."),
        ("trinim.papers.solve/1", "audit.earlier_blocks"),
    ]);
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../JSON.md")).unwrap();
    assert_page(&page, |_| false);
}

/// A report takes a folder whatever it keeps and whatever its values are: the same of all.
#[test]
fn a_report_is_the_same_whatever_a_folder_keeps() {
    let folder = scratch();
    let path = folder.path();
    let report = |name: &str| {
        ends(path, 0, &["report", name, "--out", &format!("of-{name}")]);
        let files = tree(&path.join(format!("of-{name}"))).into_iter();
        files.map(|(path, bytes)| (path.file_name().unwrap().to_owned(), bytes)).collect::<Vec<_>>()
    };
    solve(path, "whole", 5, Rule::Misere, |solve| solve.keep(Keep::Database));
    solve(path, "counts", 5, Rule::Misere, |solve| solve.keep(Keep::Counts));
    assert_eq!(report("whole"), report("counts"));
    // The same losses, with other digests.
    solve(path, "nimbers", 5, Rule::Normal, |solve| solve.values(Values::Nimbers));
    solve(path, "outcomes", 5, Rule::Normal, |solve| solve);
    ends(path, 0, &["report", "nimbers", "outcomes", "--out", "both"]);
}

#[test]
fn missing_folders_above_a_report_are_only_made_on_request() {
    let folder = scratch();
    let path = folder.path();
    solve(path, "three", 3, Rule::Misere, |solve| solve);
    ends(path, 2, &["report", "three", "--out", "far/away"]);
    ends(path, 0, &["report", "three", "--out", "far/away", "--parents"]);
    // Nobody may create a folder there.
    let (_, error) = ends(path, 4, &["report", "three", "--out", "/proc/self/fdinfo/x"]);
    assert!(error.contains("/proc/self/fdinfo/x: ") && error.contains("hint: "), "{error}");
    assert!(!error.contains("checkpoint"), "{error}");
}

#[test]
fn layouts_of_other_boards() {
    let folder = scratch();
    let path = folder.path();
    let layout = json(path, 0, &["layout", "--board", "hex:3", "--block-bits", "12", "--json"]);
    assert_eq!((&layout["offset_bits"], &layout["symmetries"]), (&json!(12), &json!(12)));
    let search = json(path, 0, &["layout", "search", "--board", "cram:4x5", "--bits", "6", "--json"]);
    assert_eq!(search["layouts"][0]["symmetries"], json!(4));
    let mirror = ["layout", "search", "--board", "cram:4x5", "--bits", "6", "--symmetry", "mirror"];
    assert!(ends(path, 2, &mirror).1.contains("only triangles are searched"));
}

/// Regression: boards side by side fit 60 columns, and tables fit 80.
#[test]
fn boards_and_tables_fit_the_width() {
    let folder = scratch();
    let path = folder.path();
    let at = |columns: u32, args: &[&str]| {
        let output = trinim(path, args).env("COLUMNS", columns.to_string()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}\n{}", text(&output.stderr));
        text(&output.stdout)
    };
    for columns in [30, 60, 200] {
        let shown = at(columns, &["layout", "search", "-k", "7", "--bits", "6", "--top", "9"]);
        let pictures: Vec<&str> = shown.lines().filter(|line| line.trim_start().starts_with(['.', 'X'])).collect();
        assert!(!pictures.is_empty() && pictures.iter().all(|line| line.len() <= columns as usize), "{shown}");
    }
    let bench = ["bench", "-k", "3,4", "--rule", "misere,normal", "--repeats", "1", "--yardstick", "4MiB"];
    let (small, large) = (at(80, &bench), at(200, &bench));
    assert!(small.lines().all(|line| line.chars().count() <= 81), "{small}");
    assert!(small.contains("--layers 4 --rule normal\n"), "{small}");
    assert!(large.lines().any(|line| line.starts_with("--layers 4 --rule normal ") && line.contains("ms")), "{large}");
    // The chosen cells are marked, and the mark is explained.
    let shown = at(80, &["layout", "-k", "5", "--bid-cells", "(1,0)(1,1)"]);
    assert!(shown.contains("\n     X X") && shown.contains("X: cells that name the block"), "{shown}");
}

/// The help of each command names its range of layers, and a number out of a range is refused in
/// plain words.
#[test]
fn help_and_refusals_name_ranges() {
    let folder = scratch();
    let path = folder.path();
    for command in ["solve --strategy forward", "layout", "layout search --bits 3"] {
        let words: Vec<&str> = command.split(' ').collect();
        let help = ends(path, 0, &[&words[..], &["--help"]].concat()).0;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("; 1 to 10"), "{command}: {help}");
        let (_, error) = ends(path, 2, &[&words[..], &["--layers", "11"]].concat());
        assert!(error.contains(": expected 1 to 10\n"), "{command}: {error}");
    }
    let (_, error) = ends(path, 2, &["bench", "-k", "5", "--repeats", "0"]);
    assert!(error.contains("'0' for '--repeats <N>': expected 1 to 1000\n"), "{error}");
}

/// SIGTERM later and later: the program ends by its handler or before it exists.
#[test]
fn a_signal_in_the_first_milliseconds_is_no_crash() {
    let folder = scratch();
    for step in 0..20 {
        let bench = ["bench", "--layers", "4", "--repeats", "50", "--yardstick", "none"];
        let child = trinim(folder.path(), &bench).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(120 * step * step));
        signal(&child, "TERM");
        let output = child.wait_with_output().unwrap();
        let (code, killed) = (output.status.code(), output.status.signal());
        assert!(code == Some(143) || killed == Some(15), "{code:?} {killed:?}\n{}", text(&output.stderr));
    }
}

/// A thread of such a stack is refused, by any user and on any machine.
#[test]
fn a_refused_thread_is_an_error() {
    let folder = scratch();
    let path = folder.path();
    let without = |args: &[&str]| outcome(trinim(path, args).env("RUST_MIN_STACK", "1125899906842624"));
    for args in [
        &["solve", "-k", "5", "--out", "pull", "--strategy", "block-pull"][..],
        &["bench", "-k", "3", "--repeats", "1"],
    ] {
        let (code, _, error) = without(args);
        assert_eq!(code, 4, "{args:?}\n{error}");
        assert!(error.contains("error: cannot start a thread: "), "{args:?}\n{error}");
        assert!(error.contains("hint: allow more processes (ulimit -u, "), "{args:?}\n{error}");
    }
    assert_eq!(without(&["layout", "-k", "7"]).0, 0);
}

/// Lines that measure a bench, by their field: times, rates and shares, threads, and the bytes of
/// logs, which depend on how much a writer could gather at once.
const MEASURED: &str = "\
    name,command,median,min,max,mad,ratio,write_share,read_share,memory_share,seconds,elapsed_s,peak_rss_bytes,\
    log_bytes_written,disk_bytes_peak,threads,workers,peak_leased_bytes,apply,audit,await_read,await_write,commit,\
    decode,encode,idle,orient,publish,read,settle,write,rate_positions_per_second,write_bytes_per_second,\
    read_bytes_per_second,copy_bytes_per_second,commits,memory_bytes,out";

/// Two processes with the same arguments and different numbers of threads print the same bytes, but
/// for what they measure, and write the same files.
#[test]
fn two_processes_print_the_same_bytes() {
    let folders = [("1", scratch()), ("3", scratch())];
    solve(folders[0].1.path(), "six", 6, Rule::Misere, |solve| solve.block_bits(14));
    copy(&folders[0].1.path().join("six"), &folders[1].1.path().join("six"));
    for (args, threads) in [
        ("solve -k 5 --strategy block-pull --out pull --json", true),
        ("layout -k 5 --block-bits 8", false),
        ("layout -k 5 --block-bits 8 --json", false),
        ("layout search -k 5 --bits 3 --symmetry any", false),
        ("layout search -k 5 --bits 3 --symmetry any --json", false),
        ("report six --out report", false),
        ("report six --out report --json", false),
        ("bench -k 3 --repeats 1 --yardstick 4MiB --json", true),
    ] {
        let [one, three] = folders.each_ref().map(|(number, folder)| {
            let mut all: Vec<&str> = args.split(' ').collect();
            all.extend(threads.then_some(["--threads", number]).into_iter().flatten());
            let (out, _) = ends(folder.path(), 0, &all);
            let is_measured = |line: &&str| {
                let field = line.trim_start().strip_prefix('"').and_then(|line| line.split('"').next());
                // What stands alone is a ratio of a round.
                field.is_some_and(|field| MEASURED.split(',').any(|name| name == field))
                    || line.trim().trim_end_matches(',').parse::<f64>().is_ok()
            };
            let text = if threads { pretty(&out) } else { out };
            text.lines().filter(|line| !is_measured(line)).map(str::to_owned).collect::<Vec<_>>()
        });
        assert!(!one.is_empty(), "{args}: nothing is compared");
        assert_eq!(one, three, "{args}");
    }
    let files = folders.each_ref().map(|(_, folder)| {
        ["report", "pull/db"].map(|name| tree(&folder.path().join(name)).into_values().collect::<Vec<_>>())
    });
    assert!(files[0] == files[1], "the files differ");
}

/// Formats JSON with a field a line.
fn pretty(out: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(out).unwrap();
    serde_json::to_string_pretty(&value).unwrap()
}

#[test]
fn the_session_of_the_page_is_what_the_program_prints() {
    let page = include_str!("../../README.md");
    let (_, session) = page.split_once("```\n$ trinim papers ").unwrap();
    let (command, shown) = session.split_once("```").unwrap().0.split_once('\n').unwrap();
    let args: Vec<&str> = command.split(' ').collect();
    assert_eq!(ends(scratch().path(), 0, &args).0.trim_end(), shown.trim_end());
}

/// Completions and manual pages are those of the program.
#[test]
fn completions_and_pages_are_those_of_the_program() {
    let folder = scratch();
    let path = folder.path();
    let script = ends(path, 0, &["completions", "fish"]).0;
    let line = "complete -c trinim-papers -n \"__fish_trinim_papers_using_subcommand bench\" -l rule ";
    assert!(script.lines().any(|found| found.starts_with(line)), "{script}");
    ends(path, 0, &["man", "man"]);
    let page = fs::read_to_string(path.join("man/trinim-papers-solve.1")).unwrap().replace("\\-", "-");
    for option in ["--strategy", "--redundancy", "--kernel", "--parents"] {
        assert!(page.contains(option), "{option}");
    }
}
