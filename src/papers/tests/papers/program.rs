//! Rules for every command of the program: schemas, refusals, signals, widths, bytes.

use crate::common::program::{ends, run, signal, text, trinim};
use crate::common::reports::{ReportFields, assert_page};
use crate::common::{copy, scratch, tree};
use processes::session::{self, Place};
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
    // The values of a baseline are only wins and losses, and it has no audit; its events are those
    // of every solve.
    seen.assert_all_printed(&[
        ("trinim.papers.solve/1", "by_nimber[]."),
        ("trinim.papers.solve/1", "by_distance[]."),
        ("trinim.papers.solve/1", "audit."),
        ("trinim.papers.solve/1", "audit.earlier_blocks"),
    ]);
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../JSON.md")).unwrap();
    assert_page(&page, |_| false);
}

/// A report accepts a folder with anything kept and any values, and is always the same.
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

/// Regression: tables fit 80 columns.
#[test]
fn tables_fit_the_width() {
    let folder = scratch();
    let path = folder.path();
    let at = |columns: u32, args: &[&str]| {
        let output = trinim(path, args).env("COLUMNS", columns.to_string()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}\n{}", text(&output.stderr));
        text(&output.stdout)
    };
    let bench = ["bench", "-k", "3,4", "--rule", "misere,normal", "--repeats", "1", "--yardstick", "4MiB"];
    let (small, large) = (at(80, &bench), at(200, &bench));
    assert!(small.lines().all(|line| line.chars().count() <= 81), "{small}");
    assert!(small.contains("--layers 4 --rule normal\n"), "{small}");
    assert!(large.lines().any(|line| line.starts_with("--layers 4 --rule normal ") && line.contains("ms")), "{large}");
}

/// SIGTERM later and later: the program ends by its handler or before the handler exists.
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

/// Measured lines of a bench, by field: times, rates and shares, threads, and the bytes of logs,
/// which depend on how much a writer could gather at once.
const MEASURED: &str = "\
    name,command,median,min,max,mad,ratio,write_share,read_share,memory_share,seconds,elapsed_s,peak_rss_bytes,\
    log_bytes_written,disk_bytes_peak,threads,workers,peak_leased_bytes,apply,audit,await_read,await_write,commit,\
    decode,encode,idle,orient,publish,read,settle,write,rate_positions_per_second,write_bytes_per_second,\
    read_bytes_per_second,copy_bytes_per_second,commits,memory_bytes,out";

/// Two processes with the same arguments and different numbers of threads print the same bytes,
/// except for measurements, and write the same files.
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
                // A number without a name is a ratio of a round.
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

/// The sessions of the page, refusals and analyses, in `sessions`.
#[test]
fn sessions_are_those_of_the_program() {
    let folder = scratch();
    let place = Place { folder: folder.path(), program: crate::PROGRAM };
    assert_eq!(place.page(include_str!("../../README.md"), &[]), 1);
    session::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions"), crate::PROGRAM, scratch);
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
