//! Results are functions of their inputs: two processes with the same arguments and different
//! numbers of threads print the same bytes, as text and as JSON, and write the same files.

use crate::common::program::{after, ends, outcome, run, tree};
use crate::common::{assert_same_files, database_files, scratch};
use crate::documented;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// Each command that computes, with arguments and its exit code.
const CASES: [(&str, &str, i32); 15] = [
    ("solve", "-k 5 --rule normal --values nimbers --out nimbers", 0),
    ("solve", "-k 6 --block-bits 14 --out new", 0),
    ("resume", "half", 0),
    ("stats", "six", 0),
    ("probe", "six 0x1fff 0x155", 0),
    ("play", "six --first program --level club --seed 3", 0),
    ("export", "six --what canonical --sample 99 --out six.csv --force", 0),
    ("verify", "six", 0),
    ("status", "six", 0),
    ("check", "six --depth full", 0),
    ("repair", "six", 0),
    ("plan", "-k 7 --block-bits 18", 0),
    ("completions", "bash", 0),
    ("man", "man", 0),
    ("schema", "trinim.solve/1", 0),
];

/// Lines that measure this run, by their label or field: times, rates, memory, threads, and the
/// bytes of logs, which depend on how much a writer could gather at once.
const MEASURED_TEXT: &str = "logs,memory,time,values,last commit,rate,shared,dedicated,disk";
/// The same in JSON. How often a run commits follows the clock, and with it the files that are
/// still there.
const MEASURED_JSON: &str = "\
    elapsed_s,seconds,peak_rss_bytes,log_bytes_written,disk_bytes_peak,disk_free_bytes,memory_available_bytes,\
    threads,workers,used_bytes,peak_leased_bytes,apply,audit,await_read,await_write,commit,decode,encode,idle,orient,publish,read,settle,write,last_commit_s_ago,\
    rate_positions_per_second,write_bytes_per_second,read_bytes_per_second,copy_bytes_per_second,\
    commits,generation,log_files";

/// The lines of an output that do not measure this run.
fn lines(out: &str) -> Vec<&str> {
    let is_label = |line: &str, name: &str| match line.trim_start().strip_prefix('"') {
        Some(field) => field.split('"').next() == Some(name),
        None => line.trim_start().strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')),
    };
    let measured: Vec<&str> = [MEASURED_TEXT, MEASURED_JSON].into_iter().flat_map(|names| names.split(',')).collect();
    out.lines().filter(|line| !measured.iter().any(|name| is_label(line, name))).collect()
}

/// The commands of trinim that have no subcommands, from its help. The programs beside it have
/// their own tests.
fn commands(path: &[&str], found: &mut BTreeSet<String>) {
    let Some(help) = documented::help(path) else { return };
    let names = documented::subcommands(&help);
    if names.is_empty() {
        found.insert(path.join(" "));
    }
    for name in names.iter().filter(|name| !path.is_empty() || !documented::is_program(name)) {
        commands(&[path, &[name]].concat(), found);
    }
}

#[test]
fn every_command_has_a_case() {
    let mut found = BTreeSet::new();
    commands(&[], &mut found);
    let cases: BTreeSet<String> = CASES.iter().map(|(command, ..)| (*command).to_owned()).collect();
    let without: Vec<&String> = found.difference(&cases).collect();
    assert!(without.is_empty() && found.len() > 12, "no case: {without:?}");
}

#[test]
fn two_processes_print_the_same_bytes() {
    let folders = [("1", scratch()), ("3", scratch())];
    for (threads, folder) in &folders {
        ends(folder.path(), 0, &["solve", "-k", "6", "--block-bits", "14", "--out", "six", "--threads", threads]);
    }
    for (command, args, code) in CASES {
        let path: Vec<&str> = command.split(' ').collect();
        let (help, _) = ends(folders[0].1.path(), 0, &[&path[..], &["--help"]].concat());
        let has = |option: &str| help.lines().any(|line| line.trim_start().starts_with(option));
        let forms: &[&[&str]] = if has("--json") { &[&[], &["--json"]] } else { &[&[]] };
        for form in forms {
            let outputs = folders.each_ref().map(|(threads, folder)| {
                if command == "solve" {
                    let _ = std::fs::remove_dir_all(folder.path().join("new"));
                }
                if command == "resume" {
                    // Only the lists are left to be written.
                    let half = folder.path().join("half");
                    let _ = std::fs::remove_dir_all(&half);
                    crate::common::program::copy(&folder.path().join("six"), &half);
                    std::fs::remove_file(half.join("db/SUMS")).unwrap();
                }
                let mut all: Vec<&str> = path.iter().copied().chain(args.split_whitespace()).collect();
                all.extend(*form);
                if has("--threads <") {
                    all.extend(["--threads", threads]);
                }
                let (found, out, error) = run(folder.path(), &all);
                assert_eq!(found, code, "{all:?}\n{out}\n{error}");
                out
            });
            let [one, three] = outputs.each_ref().map(|out| lines(out));
            // The manual pages are files, compared below.
            assert!(command == "man" || !one.is_empty(), "{command} {form:?}: nothing is compared:\n{}", outputs[0]);
            assert_eq!(one, three, "{command} {args} {form:?}");
        }
    }
    let files = folders.each_ref().map(|(_, folder)| {
        ["six/db", "new/db", "nimbers/db", "man"].map(|name| {
            let files = tree(&folder.path().join(name));
            assert!(!files.is_empty(), "{name}");
            files
                .into_iter()
                .map(|(path, bytes)| (path.strip_prefix(folder.path()).unwrap().to_owned(), bytes))
                .collect::<Vec<_>>()
        })
    });
    assert!(files[0] == files[1], "the files differ");
}

/// The same files with any options that may differ, and wherever and among whatever the program
/// runs.
#[test]
fn the_surroundings_of_a_solve_leave_no_trace() {
    let folder = scratch();
    let path = folder.path();
    let solve = |out: &OsStr, more: &str, shell: &str, variables: &[(&str, &str)]| {
        let args = format!("solve -k 6 --block-bits 12 --quiet --parents {more} --out");
        let mut command = after(path, shell, &args.split_whitespace().collect::<Vec<_>>());
        let (code, _, error) = outcome(command.arg(out).envs(variables.iter().copied()));
        assert_eq!(code, 0, "{out:?} {more} {shell} {variables:?}: {error}");
        let out = if shell.ends_with("cd here") { path.join("here").join(out) } else { path.join(out) };
        let files = database_files(&out);
        fs::remove_dir_all(out).unwrap();
        files
    };
    let golden = solve("golden".as_ref(), "--threads 1", ":", &[]);
    let same = |out: &OsStr, more, shell, variables: &[_]| {
        assert_same_files(
            &solve(out, more, shell, variables),
            &golden,
            &format!("{out:?} {more} {shell} {variables:?}"),
        );
    };
    for more in [
        "--threads 2 --commit-interval 10ms",
        "--threads 4 --log-placement shared --codec rows-huffman",
        "--threads 7 --log-placement dedicated --codec raw",
        "--memory 40MiB --codec zstd1",
        "--memory 100MiB --threads 3 --codec rows-bytes",
        "--memory 2GiB --codec rows-huffman",
        "--kernel portable",
    ] {
        same("run".as_ref(), more, ":", &[]);
    }
    for shell in ["umask 077", "umask 000", "ulimit -n 800"] {
        same("run".as_ref(), "", shell, &[]);
    }
    for out in ["deep/er/run", "../elsewhere/./run"] {
        same(out.as_ref(), "", "mkdir -p here && cd here", &[]);
    }
    for variables in [
        [("TZ", "Pacific/Kiritimati"), ("LC_ALL", "tr_TR.UTF-8")],
        [("TZ", "America/Adak"), ("LC_ALL", "C")],
        [("RUST_BACKTRACE", "full"), ("MALLOC_PERTURB_", "165")],
    ] {
        same("run".as_ref(), "", ":", &variables);
    }
    // Paths that break naive programs.
    let long = (0..12).map(|level| format!("{level}{}", "l".repeat(150))).collect::<Vec<_>>().join("/");
    let paths = [
        &b"with space"[..],
        b"not \xff utf-8",
        b"quo'te\"d\nline",
        "Zoë 三角".as_bytes(),
        &[b'n'; 200],
        long.as_bytes(),
    ];
    for out in paths {
        same(OsStr::from_bytes(out), "", ":", &[]);
    }
}
