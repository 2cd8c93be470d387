//! `trinim evolve` on the command line.

use crate::common::program::{signal, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

/// Runs `evolve` with arguments and checks the exit code. Returns standard output and standard
/// error.
fn ends(folder: &Path, code: i32, args: &[&str]) -> (String, String) {
    crate::common::program::ends(folder, code, &[&["evolve"], args].concat())
}

fn json(folder: &Path, args: &[&str]) -> Value {
    crate::common::program::json(folder, 0, &[&["evolve"], args, &["--json"]].concat())
}

#[test]
fn the_papers_example_has_its_four_violations() {
    let folder = scratch();
    let args = ["score", "--game", "nim:2,1", "--formula", "a1-a2*a1", "--tree", "--svg", "tree.svg"];
    let (text, _) = ends(folder.path(), 0, &args);
    assert!(text.contains("violations  4 (i:4) on the game tree of 12 positions"), "{text}");
    assert!(text.contains("|  `- (0,1) P  <- (i)"), "{text}");
    assert!(text.contains("\n(i:N) counts moves or positions that break rule (i): no move"), "{text}");
    let report = json(folder.path(), &args);
    assert_eq!(report["tree_violations"], 4);
    assert_eq!(report["tree"].as_array().unwrap().len(), 12);
    let counted: Vec<u64> = report["countings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|counting| counting["violations"].as_u64().unwrap())
        .collect();
    assert_eq!(counted, [4, 3, 1, 3, 5, 4, 1, 4, 2, 1, 0, 3, 3, 2, 1, 2]);
    let svg = std::fs::read_to_string(folder.path().join("tree.svg")).unwrap();
    // A ring around each of the four.
    assert_eq!(svg.matches("class=\"ring").count(), 4, "{svg}");
    for label in ["(2,1)", "(2,0)", "(1,1)", "(0,1)", "(1,0)", "(0,0)"] {
        assert!(svg.contains(label), "{label}");
    }
}

#[test]
fn a_run_reports_checked_formulas_for_any_number_of_threads() {
    let folder = scratch();
    let run = |threads: &str, more: &[&str]| {
        let args =
            ["run", "--game", "nim:3,3,3", "--preset", "best", "--runs", "6", "--seed", "7", "--threads", threads];
        json(folder.path(), &[&args[..], more].concat())
    };
    let report = run("1", &[]);
    assert_eq!(report, run("3", &[]));
    assert_ne!(report["runs"], run("1", &["--mutations", "3"])["runs"]);
    assert_eq!(report["runs_finished"], 6);
    assert_eq!(report["settings"]["representative"], "best");
    for found in report["runs"].as_array().unwrap() {
        assert!(found["formula"].as_str().unwrap().starts_with('('), "{found}");
        assert_eq!(found["chromosome"].as_array().unwrap().len(), 15);
        if found["violations"] == 0 {
            assert!(["proved", "checked"].contains(&found["check"]["verdict"].as_str().unwrap()), "{found}");
        }
    }
    let low = report["success"]["wilson_95"][0].as_f64().unwrap();
    assert!(low > 0.3 && low < report["success"]["rate"].as_f64().unwrap());
    let pareto = report["pareto"].as_array().unwrap();
    assert!(pareto.windows(2).all(|pair| {
        pair[0]["size"].as_u64() < pair[1]["size"].as_u64()
            && pair[0]["violations"].as_u64() > pair[1]["violations"].as_u64()
    }));
}

/// What a run prints is read back: the chromosome of each run gives its formula.
#[test]
fn chromosomes_are_read_as_they_are_printed() {
    let folder = scratch();
    let report = json(folder.path(), &["run", "--game", "nim:3,3", "--runs", "3", "--preset", "misere", "--misere"]);
    for run in report["runs"].as_array().unwrap() {
        let (genes, gene) = (run["chromosome"].to_string(), run["gene"].to_string());
        let args = ["score", "--game", "nim:3,3", "--misere", "--chromosome", &genes, "--gene", &gene];
        assert_eq!(json(folder.path(), &args)["formula"], run["formula"]);
    }
    let paper = ["export", "--game", "nim:4,4,4", "--chromosome", "1: a1\n2: a2\n3: + 1, 2\n4: a3\n5: * 3, 4", "--as"];
    let (text, _) = ends(folder.path(), 0, &[&paper[..], &["latex"]].concat());
    assert_eq!(text, "(a_{1} + a_{2}) \\cdot a_{3}\n");
}

#[test]
fn to_find_nothing_is_a_result() {
    let folder = scratch();
    let args = ["run", "--game", "wythoff:9", "--misere", "--runs", "2", "--generations", "5"];
    let (text, _) = ends(folder.path(), 0, &args);
    assert!(text.contains("none found; the best one, ") && text.contains("no violations  0 of 2 runs"), "{text}");
    let report = json(folder.path(), &[&args[..], &["--target", "labels"]].concat());
    let wrong = report["best_is_wrong_at"]["positions"].as_array().unwrap();
    let broken = wrong[0]["broken"].as_str().unwrap();
    assert!(["N by the formula, P in truth", "P by the formula, N in truth"].contains(&broken), "{broken}");
    let fewest =
        report["runs"].as_array().unwrap().iter().map(|run| run["violations"].as_u64().unwrap()).min().unwrap();
    assert_eq!(wrong.len() as u64, fewest);
}

#[test]
fn formulas_are_proved_or_refuted() {
    let folder = scratch();
    let verify = |code: i32, game: &str, formula: &str, more: &[&str]| {
        let args = [&["verify", "--game", game, "--formula", formula, "--json"], more].concat();
        crate::common::program::json(folder.path(), code, &[&["evolve"], &args[..]].concat())
    };
    let proved = verify(0, "nim:4,4,4,4", "(a1^a2^a3)-a4", &["--max", "9"]);
    assert_eq!((proved["check"]["verdict"].as_str(), proved["positions"].as_u64()), (Some("proved"), Some(10_000)));
    let refuted = verify(1, "nim:4,4,4,4", "a1^a2^(a3-a4)", &["--max", "4"]);
    assert_eq!(refuted["check"]["verdict"], "refuted");
    // Right on the requested positions, wrong where 32 bits wrap; only the proof finds it.
    let wraps = verify(1, "nim:3,3", "4 * (a1 xor a2)", &["--max", "20"]);
    let found = &wraps["check"]["counterexample"];
    assert_eq!((found["found_by"].as_str(), found["position"].as_str()), (Some("proof"), Some("(0,1073741824)")));
    let period = verify(0, "subtraction:1,2,3:20", "a1 mod 4", &["--max", "500"]);
    assert_eq!(period["check"]["verdict"], "proved");
    assert!(period["check"]["theorem"].as_str().unwrap().contains("repeat every 4 from 0 on"), "{period}");
    // Right for all heaps of a check, wrong at large ones; no product is decided bit by bit.
    let large = verify(1, "nim:3,3", "(a1-a2)*(a1+a2)", &[]);
    let found = &large["check"]["counterexample"];
    assert_eq!((found["found_by"].as_str(), found["position"].as_str()), (Some("probe"), Some("(0,65536)")));
    let theorems = |report: &Value| {
        let row = |row: &Value| {
            [&row["domain"], &row["verdict"], &row["wrong_at"]].map(|value| value.as_str().unwrap_or("").to_owned())
        };
        report.as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    let integers_only = [["words", "refuted", "(0,1073741824)"], ["integers", "proved", ""]];
    assert_eq!(theorems(&wraps["check"]["theorems"]), integers_only);
    let masked = "(a1 xor a2 xor a3 xor a4) and 2147483647";
    let words_only = [["words", "proved", ""], ["integers", "refuted", "(0,0,0,2147483648)"]];
    let report = verify(0, "nim:4,4,4,4", masked, &["--max", "5"]);
    assert_eq!(theorems(&report["check"]["theorems"]), words_only);
    let scored = json(folder.path(), &["score", "--game", "nim:2,2,2,2", "--formula", masked]);
    assert_eq!(theorems(&scored["theorems"]), words_only);
    let (text, _) = ends(folder.path(), 1, &["verify", "--game", "nim:3,3", "--formula", "4 * (a1 xor a2)"]);
    assert!(text.contains("right for integers of any size"), "{text}");
    assert!(text.contains("integers    right for all heaps, all orderings (integers of any size)"), "{text}");
    let golden = verify(0, "wythoff:5", "phi(a2-a1)-a1", &["--states", "ascending", "--max", "60"]);
    assert_eq!(
        (golden["check"]["states"].as_str(), golden["check"]["verdict"].as_str()),
        (Some("ascending"), Some("proved"))
    );
    assert!(golden["check"]["theorem"].as_str().unwrap().contains("Wythoff's theorem"), "{golden}");
    verify(0, "nim:4,4,4", "a1^a2^a3", &["--target", "grundy"]);
    let nim = ["score", "--game", "nim:2,1", "--target", "grundy", "--formula", "a1-a2"];
    let (text, _) = ends(folder.path(), 0, &nim);
    assert!(text.contains("(0,1) mex: value -1, but the mex of the options is 1"), "{text}");
}

#[test]
fn mistakes_are_named_in_one_line_and_a_hint() {
    let folder = scratch();
    let cases: [(&[&str], &str); 35] = [
        (&["run", "--game", "chess"], "unknown game \"chess\""),
        (&["run", "--game", "octal:0.77:9"], "expected nim:4,4,4,4, subtraction:1,2,3:21, wythoff:10 or moore:2:4,4,4"),
        (&["run", "--game", "triangular:3"], "unknown game \"triangular:3\""),
        (&["run", "--game", "dag:FILE"], "unknown game \"dag:FILE\""),
        (&["run", "--game", "nim:4,4", "--database", "k3"], "unexpected argument '--database'"),
        (&["export", "--game", "nim:4,4", "--formula", "a1", "--as", "c"], "[possible values: python, latex]"),
        (&["export", "--game", "nim:4,4", "--formula", "a1", "--as", "rust"], "[possible values: python, latex]"),
        (&["run", "--game", "nim:-1,2"], "integers from 0 to 1000000"),
        (&["run", "--game", "nim:4.5"], "integers from 0 to 1000000"),
        (&["run", "--game", "nim:200,200,200"], "more than 1048576 positions"),
        (
            &["run", "--game", "nim:4,4", "--population", "1"],
            "--population 1: expected a whole number from 2 to 100000",
        ),
        (
            &["run", "--game", "nim:4,4", "--genes", "99999999"],
            "--genes 99999999: expected a whole number from 1 to 1000",
        ),
        (&["run", "--game", "nim:4,4", "--crossover-probability", "1.5"], "expected a number from 0 to 1"),
        (&["run", "--game", "nim:4,4", "--crossover-probability", "NaN"], "expected a number from 0 to 1"),
        (&["run", "--game", "nim:4,4", "--terminals", "a7"], "terminal \"a7\""),
        (&["run", "--game", "nim:4,4", "--terminals", "m"], "terminal \"m\""),
        (&["run", "--game", "nim:4,4", "--functions", "nand"], "function \"nand\""),
        (&["run", "--game", "nim:4,4", "--target", "grundy", "--misere"], "Grundy values exist for normal play only"),
        (&["run", "--game", "nim:4,4", "--max", "5000"], "more than 1048576 positions"),
        (&["run", "--game", "nim:4,3", "--max", "4"], "found on heaps up to 4, expected a larger number"),
        (&["verify", "--game", "nim:4,4", "--max", "1", "--formula", "0"], "--max 1: the largest heap of nim:4,4 is 4"),
        (&["verify", "--game", "wythoff:10", "--max", "1000", "--formula", "0"], "more than 67108864 options"),
        (&["run", "--game", "nim:1000000"], "more than 67108864 options"),
        (&["run", "--game", "nim:4,4", "--seed", "-1"], "invalid value '-1' for '--seed <SEED>'"),
        (
            &["run", "--game", "nim:4,4", "--mutations", "2.5"],
            "--mutations 2.5: expected a whole number from 0 to 1000",
        ),
        (&["score", "--game", "nim:4,4", "--formula", ""], "formula, column 1: found the end"),
        (&["score", "--game", "nim:4,4", "--formula", "a1 - (a2"], "column 9"),
        (&["score", "--game", "nim:4,4", "--formula", "a1 - 1.5"], "column 7: found \".\""),
        (&["score", "--game", "nim:2,1", "--formula", "a1 div a2"], "no value at (0,0): (a1 div a2) divides 0 by 0"),
        (&["score", "--game", "nim:4,4", "--chromosome", "1: a1 2: + 1"], "chromosome, gene 2: + of \"the end\""),
        (&["score", "--game", "nim:4,4", "--chromosome", "1: a1", "--gene", "2"], "gene 2: the last gene is 1"),
        (&["score", "--game", "nim:4,4", "--chromosome", "1: a1", "--formula", "a1"], "cannot be used with"),
        (&["score", "--game", "nim:9,9,9", "--formula", "0", "--tree"], "at most 5000 are drawn"),
        (&["experiment", "4"], "expected 1 to 3"),
        (&["experiment", "1", "--population", "50"], "experiment 1 varies the population"),
    ];
    for (args, message) in cases {
        let (out, error) = ends(folder.path(), 2, args);
        assert!(out.is_empty() && error.contains(message), "{args:?}: {error}");
        assert!(error.contains("hint: "), "{args:?}: {error}");
    }
    let (_, error) = ends(folder.path(), 2, &["score", "--game", "nim:4,4", "--formula", "a1 + + a2"]);
    assert!(error.contains("\n  a1 + + a2\n       ^"), "{error}");
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "something was written");
    // A file that is not a picture is kept, and the error comes before any work.
    std::fs::write(folder.path().join("letter.txt"), "dear").unwrap();
    let (_, error) = ends(folder.path(), 2, &["experiment", "2", "--svg", "letter.txt"]);
    assert!(error.contains("letter.txt exists and is not a trinim SVG picture"), "{error}");
    // A value for such quotients makes the formula valid.
    ends(folder.path(), 0, &["score", "--game", "nim:2,1", "--formula", "a1 div a2", "--zero", "1"]);
}

#[test]
fn an_experiment_has_ten_points_a_test_each_and_a_chart() {
    let folder = scratch();
    let args = ["experiment", "1", "--runs", "2", "--seed", "3"];
    let report = json(folder.path(), &[&args[..], &["--svg", "chart.svg"]].concat());
    let sweeps = report["sweeps"].as_array().unwrap();
    let generations: Vec<u64> = sweeps.iter().map(|sweep| sweep["generations"].as_u64().unwrap()).collect();
    assert_eq!(generations, [100, 50]);
    for sweep in sweeps {
        let points = sweep["points"].as_array().unwrap();
        assert_eq!(points.len(), 10);
        assert!(points.iter().all(|point| (0.0..=1.0).contains(&point["p"].as_f64().unwrap())));
        assert_eq!(points[4]["paper_rate"], 0.5);
    }
    let svg = std::fs::read_to_string(folder.path().join("chart.svg")).unwrap();
    assert!(svg.contains("<svg") && svg.contains("paper, 50 runs"), "{svg}");
    let (text, _) = ends(folder.path(), 0, &args);
    assert!(text.contains("contradicts itself") && text.contains("Fisher"), "{text}");
    assert!(sweeps.iter().all(|sweep| sweep["log_likelihood"].as_f64().is_some_and(|fit| fit < -10.0)));
    let (csv, _) = ends(folder.path(), 0, &["experiment", "3", "--runs", "1", "--csv"]);
    assert_eq!(csv.lines().count(), 11);
    assert!(
        csv.starts_with("genes,generations,paper_rate,successes,runs,rate,low,high,p_fisher\n5,50,0,0,1,"),
        "{csv}"
    );
}

#[test]
fn formulas_are_exported() {
    let folder = scratch();
    let export = |language: &str| {
        ends(
            folder.path(),
            0,
            &["export", "--game", "nim:2,2", "--formula", "(a1 xor a1) + (a1 - a2)", "--as", language, "--simplify"],
        )
        .0
    };
    assert!(export("python").ends_with("    t2 = _wrap(a1 - a2)\n    return t2\n"));
    assert_eq!(export("latex"), "a_{1} - a_{2}\n");
}

/// Starts `evolve`, sends SIGINT once it reports finished runs, and returns its report.
fn interrupted(folder: &Path, args: &[&str]) -> Value {
    let mut child = trinim(folder, &[&["evolve"], args].concat()).spawn().unwrap();
    // SIGUSR1, bit 9 of the caught signals, is the last handler to be registered; before that a
    // signal would just end the program.
    let catches = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
        u64::from_str_radix(mask, 16).unwrap() >> 9 & 1 == 1
    };
    while !catches() {
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(&child, "USR1");
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    for line in errors.by_ref() {
        let line = line.unwrap();
        if line.contains("evolving") && !line.contains("evolving  0 of") {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
        signal(&child, "USR1");
    }
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(errors.any(|line| line.unwrap().contains("stopped by a signal after ")));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn what_is_interrupted_keeps_what_was_found() {
    let folder = scratch();
    let args = ["run", "--game", "nim:2,2", "--runs", "100000", "--generations", "30", "--json"];
    let report = interrupted(folder.path(), &args);
    assert_eq!(report["interrupted"], true);
    let runs = report["runs"].as_array().unwrap();
    let finished = runs.iter().filter(|run| run["finished"] == true).count() as u64;
    assert!(finished > 0 && Some(finished) == report["runs_finished"].as_u64());
    // Runs stopped midway are reported, and do not count.
    assert!(runs.iter().all(|run| run["finished"] == true || run["generation"].is_null()), "{report}");

    let args = ["experiment", "3", "--runs", "3000", "--json", "--svg", "chart.svg"];
    let report = interrupted(folder.path(), &args);
    let points = report["sweeps"].as_array().unwrap().iter().map(|sweep| sweep["points"].as_array().unwrap());
    assert!(points.flatten().all(|point| point["runs"] == 3000), "{report}");
    assert_eq!((&report["interrupted"], folder.path().join("chart.svg").exists()), (&Value::Bool(true), false));
}

/// No command listed the claims of the paper.
#[test]
fn the_papers_claims_are_listed_with_verdicts() {
    let folder = scratch();
    let args = ["evolve", "claims", "--runs", "5", "--json"];
    let found = crate::common::program::json(folder.path(), 1, &args);
    let claims = found["claims"].as_array().unwrap();
    let fitness = claims.iter().find(|claim| claim["claim"] == "The fitness of E on the game tree of (2,1)").unwrap();
    assert_eq!((&fitness["computed"], &fitness["verdict"]), (&"4".into(), &"agrees".into()));
    let nodes =
        claims.iter().find(|claim| claim["claim"] == "The same by counting the nodes of the game tree").unwrap();
    assert_eq!(nodes["verdict"], "contradicted");
    assert_eq!(
        claims.iter().filter(|claim| claim["claim"].as_str().unwrap().starts_with("Successful runs")).count(),
        30
    );
    // The runs are those of the experiment, and threads change nothing.
    let experiment =
        crate::common::program::json(folder.path(), 0, &["evolve", "experiment", "2", "--runs", "5", "--json"]);
    let point = claims.iter().find(|claim| claim["claim"] == "Successful runs, generations 100").unwrap();
    let successes = &experiment["sweeps"][0]["points"][4]["successes"];
    assert!(point["computed"].as_str().unwrap().starts_with(&format!("{successes} of 5 ")), "{point}");
    assert_eq!(crate::common::program::json(folder.path(), 1, &[&args[..], &["--threads", "1"]].concat()), found);
}

#[test]
fn the_rules_in_the_table_of_a_run_are_explained_below_it() {
    let folder = scratch();
    let args = ["run", "--game", "wythoff:9", "--generations", "2", "--seed", "1", "--runs", "2"];
    let (text, _) = ends(folder.path(), 0, &args);
    let (table, rest) = text.split_once("\n(i:N) counts moves or positions that break rule (i): ").unwrap();
    assert!(table.contains("(i:"), "{text}");
    let words = rest.replace('\n', " ");
    assert!(words.contains("(ii): some move") && words.contains("(iii): a position without moves"), "{text}");
    // Without violations there is nothing to explain.
    let (text, _) = ends(folder.path(), 0, &["score", "--game", "nim:2,2", "--formula", "a1 xor a2"]);
    assert!(!text.contains("(i:"), "{text}");
}
