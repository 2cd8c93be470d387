//! Each flag of `solve` and `plan` does something: with another value, a figure of the report is
//! another one, which the run itself counted where there is one. What changes no figure is listed
//! with the test that holds it.

use crate::common::program::{ends, json};
use crate::common::scratch;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A flag, two commands that differ in it, and the figures that differ.
type Pair = (&'static str, [&'static str; 2], &'static [&'static str]);

const PLANS: [Pair; 16] = [
    ("--layers", ["-k 5", "-k 6"], &["/positions"]),
    ("--board", ["--board rect:4x5", "--board rect:4x6"], &["/cells"]),
    ("--max-take", ["-k 5", "-k 5 --max-take 2"], &["/moves"]),
    ("--min-take", ["--board rect:4x5", "--board rect:4x5 --min-take 2"], &["/moves"]),
    ("--rule", ["-k 5", "-k 5 --rule normal"], &["/rule"]),
    ("--values", ["-k 6 --rule normal", "-k 6 --rule normal --values nimbers"], &["/block_bytes", "/database_bytes"]),
    ("--keep", ["-k 7", "-k 7 --keep counts"], &["/database_bytes"]),
    ("--audit", ["-k 7 --audit none", "-k 7 --audit all"], &["/memory/worker_bytes", "/placements/0/stages_s/audit"]),
    ("--memory", ["-k 7 --memory 34MiB", "-k 7 --memory 1GiB"], &["/memory/budget_bytes", "/offset_bits"]),
    ("--threads", ["-k 7 --block-bits 20 --threads 1", "-k 7 --block-bits 20 --threads 3"], &["/memory/workers"]),
    ("--log-placement", ["-k 7 --log-placement shared", "-k 7 --log-placement dedicated"], &["/placement"]),
    (
        "--codec",
        ["-k 7 --keep counts --codec raw", "-k 7 --keep counts --codec rows-huffman"],
        &["/codec", "/placements/0/log_bytes_written", "/placements/1/log_bytes_written"],
    ),
    ("--bid-cells", ["-k 6 --bid-cells (1,0)(1,1)", "-k 6 --bid-cells (5,0)"], &["/bid_cells", "/edges"]),
    ("--block-bits", ["-k 7 --block-bits 15", "-k 7 --block-bits 18"], &["/offset_bits"]),
    (
        "--commit-interval",
        ["-k 7 --keep counts --commit-interval 10ms", "-k 7 --keep counts --commit-interval 24h"],
        &["/placements/0/log_bytes_peak", "/placements/1/log_bytes_peak"],
    ),
    ("--out", ["-k 5", "-k 5 --out /proc/self"], &["/disk_free_bytes"]),
];

const SOLVES: [Pair; 17] = [
    ("--layers", ["-k 4", "-k 5"], &["/positions"]),
    ("--board", ["--board rect:3x3", "--board rect:3x4"], &["/positions"]),
    ("--max-take", ["-k 4", "-k 4 --max-take 2"], &["/losses"]),
    ("--min-take", ["--board rect:3x3", "--board rect:3x3 --min-take 2"], &["/losses"]),
    ("--rule", ["-k 4", "-k 4 --rule normal"], &["/losses"]),
    ("--values", ["-k 4", "-k 4 --values remoteness"], &["/values", "/bitmap_bytes"]),
    ("--keep", ["-k 5", "-k 5 --keep counts"], &["/database_bytes"]),
    ("--audit", ["-k 5 --block-bits 9 --audit 30%", "-k 5 --block-bits 9 --audit all"], &["/audit/positions"]),
    (
        "--memory",
        [
            "-k 7 --block-bits 20 --log-placement shared --threads 1 --memory 34MiB",
            "-k 7 --block-bits 20 --log-placement shared --threads 1 --memory 1GiB",
        ],
        &["/memory_bytes", "/streams_held", "/peak_leased_bytes"],
    ),
    ("--threads", ["-k 6 --block-bits 12 --threads 1", "-k 6 --block-bits 12 --threads 3"], &["/workers"]),
    (
        "--log-placement",
        ["-k 6 --block-bits 12 --log-placement shared", "-k 6 --block-bits 12 --log-placement dedicated"],
        &["/placement", "/log_bytes_written"],
    ),
    (
        "--codec",
        ["-k 6 --block-bits 12 --keep counts --codec raw", "-k 6 --block-bits 12 --keep counts --codec rows-huffman"],
        &["/codec", "/log_bytes_written"],
    ),
    ("--bid-cells", ["-k 5 --bid-cells (1,0)(1,1)", "-k 5 --bid-cells (4,0)"], &["/bid_cells"]),
    ("--block-bits", ["-k 5 --block-bits 9", "-k 5 --block-bits 12"], &["/offset_bits"]),
    (
        "--commit-interval",
        ["-k 6 --block-bits 10 --commit-interval 10ms", "-k 6 --block-bits 10 --commit-interval 24h"],
        &["/commits"],
    ),
    ("--kernel", ["-k 4 --kernel portable", "-k 4 --kernel scalar"], &["/kernel"]),
    ("--out", ["-k 3", "-k 4"], &["/out"]),
];

/// Flags that change no figure, and where they are tested.
const ELSEWHERE: [&str; 15] = [
    "--color: options::colours_are_chosen_by_the_variables_that_everybody_reads",
    "--force: limits",
    "--help: manual",
    "--json: json",
    "--max-disk: limits",
    "--max-duration: limits",
    "--metrics: figures::figures_of_metrics_are_those_of_the_report",
    "--metrics-interval: watch",
    "--parents: outputs",
    "--progress: progress",
    "--progress-interval: progress",
    "--quiet: progress",
    "--timeline: timeline",
    "--version: cli",
    "--wait: hints",
];

/// The flags on a page of the manual, which has those that the help leaves out, too.
fn flags(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).unwrap().replace("\\-", "-");
    let tags = text.split(".TP\n").skip(1).filter_map(|part| part.lines().next());
    let words = tags.flat_map(|tag| tag.split(|char: char| !char.is_ascii_lowercase() && char != '-'));
    words.filter(|word| word.starts_with("--") && word.len() > 2).map(str::to_owned).collect()
}

#[test]
fn each_flag_changes_a_figure() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["man", "pages"]);
    for (command, pairs) in [("plan", &PLANS[..]), ("solve", &SOLVES)] {
        let known: BTreeSet<&str> =
            pairs.iter().map(|pair| pair.0).chain(ELSEWHERE.iter().filter_map(|one| one.split(':').next())).collect();
        let all = flags(&path.join(format!("pages/trinim-{command}.1")));
        assert!(all.len() > 15, "{all:?}");
        let unknown: Vec<&String> = all.iter().filter(|flag| !known.contains(flag.as_str())).collect();
        assert!(unknown.is_empty(), "{command}: flags that no test needs: {unknown:?}");
        for (flag, lines, pointers) in pairs {
            assert!(all.contains(*flag), "{command} has no {flag}");
            let reports = [0, 1].map(|number| {
                let mut args = vec![command, "--json"];
                let out = format!("{command}{flag}{number}");
                if command == "solve" {
                    args.extend(["--out", &out]);
                }
                args.extend(lines[number].split(' '));
                json(path, 0, &args)
            });
            for pointer in *pointers {
                let [one, other] = [0, 1].map(|number| reports[number].pointer(pointer));
                assert!(one.is_some() && one != other, "{command} {flag}: {pointer} is {one:?} and {other:?}");
            }
        }
    }
}

/// What a resumed solve takes from the command, and not from its folder.
#[test]
fn each_flag_of_a_resume_changes_a_figure() {
    let folder = scratch();
    let path = folder.path();
    for (name, flags, figures) in [
        ("one", ["--threads", "1", "--memory", "100MiB"], [1, 100 << 20]),
        ("three", ["--threads", "3", "--memory", "200MiB"], [3, 200 << 20]),
    ] {
        ends(path, 5, &["solve", "-k", "6", "--block-bits", "10", "--max-duration", "10ms", "--out", name]);
        let report = json(path, 0, &[&["resume", name, "--json"], &flags[..]].concat());
        assert_eq!(["/workers", "/memory_bytes"].map(|name| report.pointer(name).unwrap().as_u64()), figures.map(Some));
    }
}
