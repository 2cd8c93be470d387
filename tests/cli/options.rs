//! Options of the command line: no option is read as a value, and what is wrong is refused with a
//! reason and a hint. Contradictions and limits are in `sessions/options.txt`, variables in
//! `sessions/variables.txt`.

use crate::common::program::{ends, json, outcome, tree, trinim};
use crate::common::scratch;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use trinim::random::Random;

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

/// A plan for nimbers is a longer one, of a database.
#[test]
fn values_are_planned() {
    let folder = scratch();
    let path = folder.path();
    let planned = |values| json(path, 0, &["plan", "-k", "8", "--rule", "normal", "--values", values, "--json"]);
    let (nimbers, outcomes) = (planned("nimbers"), planned("outcomes"));
    assert_eq!((&nimbers["values"], &outcomes["values"]), (&"nimbers".into(), &"outcomes".into()));
    assert_eq!(nimbers["keep"], "database");
    assert!(nimbers["placements"][0]["seconds"].as_f64() > outcomes["placements"][0]["seconds"].as_f64());
}
