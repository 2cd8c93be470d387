//! Options of the command line: which variables are read, no option is read as a value, and what is
//! wrong or makes no sense together is refused with a reason and a hint.

use crate::common::program::{ends, json, outcome, tree, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use trinim::random::Random;

/// Runs a command with these variables: exit code, standard output and standard error.
fn with(folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> (i32, String, String) {
    outcome(trinim(folder, args).envs(variables.iter().copied()))
}

#[test]
fn four_variables_are_read_and_no_other() {
    let folder = scratch();
    let path = folder.path();
    let solve = ["solve", "-k", "4", "--json"];
    let set = [("TRINIM_THREADS", "1"), ("TRINIM_MEMORY", "300MiB"), ("TRINIM_QUIET", "true")];
    let (code, out, error) = with(path, &set, &solve);
    let solved: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &*error, &solved["losses"], &solved["threads"]), (0, "", &142.into(), &1.into()));
    assert_eq!(solved["memory_bytes"], 300 << 20);
    // A flag goes before its variable, and a bad value is refused like that of a flag.
    let (_, out, _) = with(path, &set, &["plan", "-k", "6", "--memory", "1GiB", "--json"]);
    let plan: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(plan["memory"]["budget_bytes"], 1 << 30);
    let bad = [("TRINIM_THREADS", "many")];
    let (code, _, error) = with(path, &bad, &solve);
    assert!(code == 2 && error.contains("'many' for TRINIM_THREADS: ") && error.contains("hint: "), "{error}");
    let scratch = [("TRINIM_SCRATCH", "nowhere")];
    let (code, _, error) = with(path, &scratch, &["probe", "-k", "3", "0x3f"]);
    assert!(code == 4 && error.contains("nowhere"), "{error}");
    // Only listed variables are read, not one for every flag.
    let once = ["LAYERS", "RULE", "SOLVE_OUT", "OUT", "JSON", "CODEC", "KERNEL", "COLOR", "STATS_CSV", "PROGRESS"];
    let names = once.map(|name| format!("TRINIM_{name}"));
    let variables: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "nonsense")).collect();
    assert_eq!(with(path, &variables, &["stats", "trinim-k4-misere"]).0, 0);
    assert_eq!(with(path, &variables, &["solve"]).0, 2);
}

#[test]
fn colours_are_chosen_by_the_variables_that_everybody_reads() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "3", "--out", "three"]);
    let colours = |variables: &[(&str, &str)], more: &[&str]| {
        with(path, variables, &[&["stats", "three"], more].concat()).1.contains('\x1b')
    };
    let force = ("CLICOLOR_FORCE", "1");
    assert!(!colours(&[], &[]) && colours(&[force], &[]) && colours(&[force, ("CLICOLOR", "0")], &[]));
    assert!(!colours(&[("CLICOLOR_FORCE", "0")], &[]) && !colours(&[force, ("NO_COLOR", "1")], &[]));
    assert!(colours(&[("NO_COLOR", "1")], &["--color", "always"]) && !colours(&[force], &["--color", "never"]));
}

/// Values that nothing accepts.
const NEVER: [&str; 24] = [
    "",
    " ",
    "-",
    "--",
    "-1",
    "+-3",
    "NaN",
    "inf",
    "-0.0",
    "1e999",
    "0x",
    "0x10",
    "٣",
    "１",
    "1_000",
    "1,5",
    "18446744073709551616",
    "99999999999999999999999999999999999999",
    "null",
    "../../etc/passwd",
    "%s%n",
    "$(reboot)",
    "'; drop table blocks",
    "\u{202e}7",
];

#[test]
fn bad_arguments_end_with_2_a_reason_and_a_hint() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "2", "-o", "two"]);
    let before = tree(path);
    // Values that each of these flags of `solve` refuses, beside those that none accepts.
    let flags: [(&str, &[&str]); 13] = [
        ("--layers", &["0", "11", "4294967303", "7.0", "7 8"]),
        ("--rule", &["nim", "MISERE!", "normal,misere"]),
        ("--max-take", &["0", "4294967296"]),
        ("--memory", &["0", "0GiB", "12XB", "1e9", "1 2", "99999999999TiB", ".5GiB", "1..5GiB"]),
        ("--threads", &["1025", "two", "1.5"]),
        ("--log-placement", &["nowhere", "Dedicated,shared"]),
        ("--codec", &["lzma", "zstd99", "auto", "gaps", "raw,zstd1"]),
        ("--kernel", &["sse9", "AVX512!"]),
        ("--bid-cells", &["(1,0)(1,0)", "(9,0)", "(2,3)", "1,0", "(1,0", "(256,0)", "((1,0))", "(1,0,0)"]),
        ("--block-bits", &["0", "41", "1.5"]),
        ("--commit-interval", &["0", "1ms", "25h", "2weeks", "5 x"]),
        ("--color", &["blue", "always,never"]),
        ("--out", &[]),
    ];
    let solve =
        |flag: &'static str| if flag == "--layers" { vec!["solve", flag] } else { vec!["solve", "-k", "5", flag] };
    let values = flags.into_iter().flat_map(|(flag, own)| {
        let never = if flag == "--out" { &NEVER[..1] } else { &NEVER };
        let lines = never.iter().chain(own).map(move |value| [&solve(flag)[..], &[value]].concat());
        lines.chain([solve(flag)]).collect::<Vec<_>>()
    });
    let elsewhere = NEVER.into_iter().flat_map(|value| {
        [
            vec!["completions", value],
            vec!["verify", "two", "--sample", value],
            vec!["plan", "-k", value],
            vec![value, "two"],
        ]
    });
    // "-" is standard input, and "0x10" a number.
    let positions =
        NEVER.into_iter().filter(|value| !["-", "0x10"].contains(value)).map(|value| vec!["probe", "two", "--", value]);
    let others: [&[&str]; 25] = [
        &["solve"],
        &["solve", "--layers="],
        &["solve", "-k", "5", "-k", "6"],
        &["solve", "-k", "5", "--bid-cells", "(1,0)", "--block-bits", "9"],
        &["solve", "--board", "rect:5x6", "--block-bits", "6"],
        &["solve", "-k", "5", "--frobnicate"],
        &["solve", "-k", "5", "here"],
        &["solve", "--", "-k", "5"],
        &["solve", "-k", "5", "--quiet=2"],
        &["solve", "-k", "5", "--json", "--json"],
        &["frobnicate"],
        &["stats"],
        &["stats", "two", "--json", "--csv"],
        &["probe"],
        &["probe", "two", "2/11"],
        &["probe", "two", "-1"],
        &["verify", "two", "--sample", "0"],
        &["verify", "two", "--sample", "NaN"],
        &["verify", "two", "--sample", "1.5"],
        &["verify", "two", "--sample", "101%"],
        &["verify", "two", "--sample", "0.5", "--checksums-only"],
        &["verify", "two", "--seed", "-1"],
        &["plan", "--layers", "12"],
        &["completions", "cobol"],
        &["man"],
    ];
    for args in values.chain(elsewhere).chain(positions).chain(others.iter().map(|args| args.to_vec())) {
        let (out, error) = ends(path, 2, &args);
        // Bad positions are answered in place, among others; without a command there is the help.
        if args[0] == "probe" && out.starts_with("error: ") || error.contains("Usage: trinim") {
            continue;
        }
        assert_eq!(out, "", "{args:?}");
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(lines.len(), 2, "{args:?}:\n{error}");
        assert!(lines[0].starts_with("error: ") && lines[1].starts_with("hint: "), "{args:?}:\n{error}");
    }
    // Any bytes are the name of a folder.
    for (flag, _) in flags.into_iter().filter(|(flag, _)| *flag != "--out") {
        let (code, _, error) = outcome(trinim(path, &solve(flag)).arg(OsStr::from_bytes(b"\xff\xfe")));
        assert_eq!(code, 2, "{flag}: {error}");
    }
    assert!(tree(path) == before);
}

/// Lines of random pieces: an answer or a refusal, never a panic.
#[test]
fn random_command_lines_do_no_harm() {
    let words = "stats probe verify plan two absent -k --layers 3 --json --csv --map --sample 0.5 --checksums-only --threads \
                 0x3f 1/11/111 -- -q --color never";
    let words: Vec<&str> = words.split_whitespace().collect();
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "2", "-o", "two"]);
    let before = tree(path);
    let mut random = Random::new(9);
    for _ in 0..100 {
        let mut command = trinim(path, &[]);
        for _ in 0..random.below(7) {
            let pick = random.bits();
            match pick % 5 {
                0 => command.arg(NEVER[(pick >> 8) as usize % NEVER.len()]),
                1 if pick & 0x100 != 0 => {
                    let bytes: Vec<u8> = (0..random.below(40)).map(|_| 1 + random.below(255) as u8).collect();
                    command.arg(OsStr::from_bytes(&bytes))
                }
                _ => command.arg(words[(pick >> 8) as usize % words.len()]),
            };
        }
        let (code, out, error) = outcome(&mut command);
        assert!([0, 2].contains(&code), "{command:?}: {code} {out}{error}");
    }
    assert!(tree(path) == before);
}

#[test]
fn combinations_that_make_no_sense_are_refused_with_the_reason() {
    let folder = scratch();
    let path = folder.path();
    let normal = ["-k", "5", "--values", "nimbers", "--rule", "normal"];
    for (command, more, reason) in [
        ("solve", &["--rule", "misere"][..], "with --rule misere: a nimber is the value of a position in normal play"),
        ("plan", &["--rule", "misere"], "with --rule misere: a nimber is the value of a position in normal play"),
        ("solve", &["--keep", "counts"], "with --keep counts: counts and books are of wins and losses"),
        ("plan", &["--keep", "book"], "counts and books are of wins and losses"),
    ] {
        let normal = if more[0] == "--rule" { &normal[..4] } else { &normal[..] };
        let (out, error) = ends(path, 2, &[&[command], normal, more].concat());
        assert!(out.is_empty() && error.contains(reason) && error.contains("hint: "), "{error}");
    }
    let planned = |values| json(path, 0, &["plan", "-k", "8", "--rule", "normal", "--values", values, "--json"]);
    let (nimbers, outcomes) = (planned("nimbers"), planned("outcomes"));
    assert_eq!((&nimbers["values"], &outcomes["values"]), (&"nimbers".into(), &"outcomes".into()));
    assert_eq!(nimbers["keep"], "database");
    assert!(nimbers["placements"][0]["seconds"].as_f64() > outcomes["placements"][0]["seconds"].as_f64());
    assert!(tree(path).is_empty() && fs::read_dir(path).unwrap().next().is_none());
}

/// The most blocks of a layout are accepted, and twice as many are refused with advice.
#[test]
fn the_most_blocks_are_accepted_and_more_are_refused() {
    let folder = scratch();
    let path = folder.path();
    // No symmetry: every block is canonical, 2^22 of 2^2 positions.
    let moves: Vec<Vec<u32>> = (0..24).map(|last| (0..=last).collect()).collect();
    fs::write(path.join("chain.toml"), format!("name = \"chain\"\ncells = 24\nmoves = {moves:?}\n")).unwrap();
    let chain = ["--board", "file:chain.toml", "--block-bits"];
    let with = |command: &[&'static str], bits: &'static str| [command, &chain, &[bits]].concat();
    let (_, error) = ends(path, 4, &with(&["solve", "--max-disk", "1KiB"], "2"));
    assert!(error.contains("of disk space is needed"), "{error}");
    let (_, error) = ends(path, 2, &with(&["solve"], "1"));
    assert!(error.contains("hint: choose larger blocks with --block-bits"), "{error}");
}

/// Each limit is accepted, and the next value is not.
#[test]
fn the_limits_of_options_are_accepted_and_what_is_beyond_them_is_not() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "3", "--out", "three"]);
    for (command, flag, limit, beyond) in [
        ("plan -k 5", "--threads", "1024", "1025"),
        ("plan -k 5", "--memory", "100%", "100.1%"),
        ("plan -k 5", "--block-bits", "1", "0"),
        ("plan -k 5", "--block-bits", "40", "41"),
        ("verify three", "--sample", "1", "1.001"),
        ("verify three", "--sample", "100%", "100.1%"),
        ("solve -k 2 --out least", "--commit-interval", "10ms", "9ms"),
        ("solve -k 2 --out most", "--commit-interval", "24h", "24h1s"),
        ("solve -k 2 --out year", "--max-duration", "365d", "365d1s"),
        ("export three --format csv", "--sample", "10000000", "10000001"),
        ("export three --format csv", "--pieces", "6", "7"),
        ("probe -k 3 0x3f", "--spot-pieces", "40", "41"),
        ("stats --csv", "--layers", "7", "8"),
    ] {
        let with = |value: &'static str| command.split(' ').chain([flag, value]).collect::<Vec<_>>();
        ends(path, 0, &with(limit));
        let (_, error) = ends(path, 2, &with(beyond));
        assert!(error.contains(flag) || error.contains(beyond), "{command}: {error}");
    }
}
