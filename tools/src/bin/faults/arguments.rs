//! Hostile command lines and environments: the documented code, one reason, one hint, no panic,
//! nothing written.

use crate::report::Sheet;
use crate::setup::Setup;
use crate::subject::Launch;
use crate::tree::files;
use anyhow::Result;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;

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

/// Flags of `solve` that accept few values, with values that they reject.
const FLAGS: [(&str, &[&str]); 12] = [
    ("--layers", &["0", "10", "11", "4294967303", "7.0", "7 8"]),
    ("--rule", &["nim", "MISERE!", "normal,misere"]),
    ("--max-take", &["0", "4294967296"]),
    ("--memory", &["0", "0GiB", "12XB", "1e9", "1 2", "99999999999TiB", ".5GiB", "1..5GiB"]),
    ("--threads", &["1025", "two", "1.5"]),
    ("--log-placement", &["nowhere", "Dedicated,shared"]),
    ("--codec", &["lzma", "zstd99", "raw,zstd1"]),
    ("--bid-cells", &["(1,0)(1,0)", "(9,0)", "(2,3)", "1,0", "(1,0", "(256,0)", "((1,0))", "(1,0,0)"]),
    ("--block-bits", &["0", "41", "1.5"]),
    ("--commit-interval", &["0", "1ms", "25h", "2weeks", "5 s"]),
    ("--kernel", &["sse9", "AVX512!"]),
    ("--color", &["blue", "always,never"]),
];

/// Environment variables with values that they reject.
const ENVIRONMENT: [(&str, &str); 8] = [
    ("TRINIM_LAYERS", "many"),
    ("TRINIM_MEMORY", "-1"),
    ("TRINIM_THREADS", "NaN"),
    ("TRINIM_RULE", ""),
    ("TRINIM_CODEC", "lzma"),
    ("TRINIM_BLOCK_BITS", "99"),
    ("TRINIM_COMMIT_INTERVAL", "0"),
    ("TRINIM_COLOR", "blue"),
];

pub fn run(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let folder = setup.folder()?;
    let here = folder.join("here");
    fs::create_dir(&here)?;
    let notes = folder.join("notes");
    fs::create_dir(&notes)?;
    let mut made = Launch::new(setup, &notes, &["solve", "-k", "3", "-o", "db3"]);
    made.folder = Some(here.clone());
    made.run()?;
    fs::write(here.join("file"), "text")?;
    let before = files(&here)?;
    for line in lines() {
        crate::full::stop_if_asked(setup)?;
        ends_with_2(setup, sheet, &here, &notes, &line, None)?;
    }
    for (name, value) in ENVIRONMENT {
        let line =
            if name == "TRINIM_LAYERS" { vec!["solve".into()] } else { vec!["solve".into(), "-k".into(), "4".into()] };
        ends_with_2(setup, sheet, &here, &notes, &line, Some((name, value)))?;
    }
    random(setup, sheet, &here, &notes)?;
    sheet.check(files(&here)? == before, || "a hostile command line changed or created a file".into());
    sheet.bar("hostile command lines", 250);
    Ok(())
}

fn lines() -> Vec<Vec<OsString>> {
    let mut lines: Vec<Vec<OsString>> = Vec::new();
    let mut add = |line: &[&OsStr]| lines.push(line.iter().map(|part| (*part).to_owned()).collect());
    let text = OsStr::new;
    for (flag, own) in FLAGS {
        let values = NEVER.into_iter().chain(own.iter().copied());
        for value in values {
            match flag {
                "--layers" => add(&[text("solve"), text(flag), text(value)]),
                // Five layers, in a folder that must not be created.
                _ => add(&[text("solve"), text("-k"), text("5"), text("-o"), text("never"), text(flag), text(value)]),
            }
        }
        add(&[text("solve"), text("-k"), text("5"), text(flag)]);
        add(&[text("solve"), text("-k"), text("5"), text(flag), OsStr::from_bytes(b"\xff\xfe")]);
    }
    for value in NEVER.into_iter().chain(["2/11/111", "1/11", "1/11/1111", "y/11/111", "0x40", "0xg"]) {
        // Both are valid: a position of this board, and the sign for standard input.
        if !["0x10", "-"].contains(&value) {
            add(&[text("probe"), text("db3"), text("--"), text(value)]);
        }
        add(&[text("completions"), text(value)]);
        add(&[text("verify"), text("db3"), text("--sample"), text(value)]);
        add(&[text("plan"), text("-k"), text(value)]);
        add(&[text(value), text("db3")]);
    }
    let others = "solve|solve -k|solve -k 5 -k 6|solve -k 5 here|solve -k 5 --json --json|solve -k 5 --bid-cells (1,0) --block-bits 9\
        |solve -k 7 --block-bits 6|stats|stats db3 db3|stats db3 --json --csv|stats absent|stats file|probe|probe absent|verify|verify absent\
        |verify db3 --sample 0.5 --checksums-only|verify db3 --seed -1|verify db3 --threads 1025|plan|plan --layers 12|man|completions\
        |frobnicate|--frobnicate|solve --frobnicate|solve -k5 --no-such-flag=1|solve -k 5 --layers=|-k 5|--|- |solve -- -k 5|solve -k 5 --quiet=2";
    for line in others.split('|') {
        let parts: Vec<&OsStr> = line.split_whitespace().map(OsStr::new).collect();
        add(&parts);
    }
    lines
}

/// Checks a refusal: code 2, nothing on standard output, a reason and a hint of one line each.
fn ends_with_2(
    setup: &Setup,
    sheet: &Sheet,
    here: &std::path::Path,
    notes: &std::path::Path,
    line: &[OsString],
    env: Option<(&'static str, &str)>,
) -> Result<()> {
    let mut launch = Launch::new(setup, notes, line);
    launch.folder = Some(here.to_owned());
    if let Some((name, value)) = env {
        launch = launch.env(name, value);
    }
    let ended = launch.run()?;
    sheet.count("hostile command lines", 1);
    let text = || format!("{line:?} {env:?}: {} {:?}", ended.summary(), ended.out);
    // `probe` answers a bad position in place, among the other answers.
    let in_place = line.first().is_some_and(|word| word == "probe") && ended.out.starts_with("error: ");
    let said: Vec<&str> = ended.error.lines().collect();
    // No command at all prints the help, as `--help` does.
    let help = line.is_empty() || ended.error.contains("Usage: trinim");
    let two =
        said.len() == 2 && said[0].starts_with("error: ") && said[1].starts_with("hint: ") && ended.out.is_empty();
    sheet.check(ended.misbehaviour().is_none() && ended.code == Some(2) && (two || in_place || help), text);
    Ok(())
}

/// Runs lines of random pieces: any documented code, never a panic.
fn random(setup: &Setup, sheet: &Sheet, here: &std::path::Path, notes: &std::path::Path) -> Result<()> {
    const WORDS: [&str; 22] = [
        "stats",
        "probe",
        "verify",
        "plan",
        "db3",
        "absent",
        "-k",
        "--layers",
        "3",
        "--json",
        "--csv",
        "--map",
        "--sample",
        "0.5",
        "--checksums-only",
        "--threads",
        "0x3f",
        "1/11/111",
        "--",
        "-q",
        "--color",
        "never",
    ];
    let mut random = setup.random(9);
    for _ in 0..setup.amount(400, 100) {
        crate::full::stop_if_asked(setup)?;
        let mut line: Vec<OsString> = Vec::new();
        for _ in 0..random.below(7) {
            let pick = random.bits();
            line.push(match pick % 5 {
                0 => NEVER[(pick >> 8) as usize % NEVER.len()].into(),
                1 if pick & 0x100 != 0 => {
                    let bytes: Vec<u8> = (0..random.below(40)).map(|_| 1 + random.below(255) as u8).collect();
                    OsStr::from_bytes(&bytes).to_owned()
                }
                _ => WORDS[(pick >> 8) as usize % WORDS.len()].into(),
            });
        }
        let mut launch = Launch::new(setup, notes, &line);
        launch.folder = Some(here.to_owned());
        let ended = launch.run()?;
        sheet.count("random command lines", 1);
        let known = ended.misbehaviour().is_none() && ended.code.is_some_and(|code| [0, 2].contains(&code));
        sheet.check(known, || format!("{line:?}: {} {:?}", ended.summary(), ended.out));
    }
    Ok(())
}
