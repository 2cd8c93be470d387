//! Every command, by the program.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trinim-evolve"));
    command.args(args).env_remove("TRINIM_THREADS").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs a command that must end with `code`: standard output and standard error.
fn ends(code: i32, args: &[&str]) -> (String, String) {
    let Output { status, stdout, stderr } = program(args).output().unwrap();
    assert_eq!(status.code(), Some(code), "{args:?}: {}", text(&stderr));
    (text(&stdout), text(&stderr))
}

fn json(code: i32, args: &[&str]) -> Value {
    serde_json::from_str(&ends(code, &[args, &["--json"]].concat()).0).unwrap()
}

/// What `--json` prints, byte by byte as `trinim evolve` printed it before it was a program of its
/// own. `TRINIM_WRITE_GOLDEN=1` rewrites the files.
#[test]
fn json_is_golden() {
    let cases: [(&str, i32, &[&str]); 10] = [
        ("run", 0, &["run", "--game", "nim:3,3,3", "--preset", "best", "--runs", "2", "--seed", "7"]),
        // Which formula was fit depended on the order of a hash table.
        (
            "run-masks",
            0,
            &["run", "--game=nim:2,2", "--terminals=65535,1023", "--functions=and,or,xor,-", "--n=none", "--runs=2"],
        ),
        ("run-nothing", 0, &["run", "--game", "wythoff:5", "--misere", "--runs", "1", "--generations", "2"]),
        ("score", 0, &["score", "--game", "nim:2,1", "--formula", "a1-a2*a1", "--tree"]),
        ("verify", 0, &["verify", "--game", "nim:4,4,4,4", "--formula", "(a1^a2^a3)-a4", "--max", "9"]),
        ("verify-words", 1, &["verify", "--game", "nim:3,3", "--formula", "4 * (a1 xor a2)"]),
        ("verify-period", 0, &["verify", "--game", "subtraction:1,2,3:20", "--formula", "a1 mod 4"]),
        ("experiment", 0, &["experiment", "2", "--runs", "1"]),
        ("claims", 1, &["claims", "--runs", "1"]),
        ("export", 0, &["export", "--game", "nim:3,3", "--formula", "a1 div a2", "--as", "python", "--zero", "0"]),
    ];
    for (name, code, args) in cases {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/all/golden/{name}.json"));
        for threads in ["1", "3"] {
            let searches = ["run", "experiment", "claims"].contains(&args[0]);
            let threads: &[&str] = if searches { &["--threads", threads] } else { &[] };
            let (found, _) = ends(code, &[args, threads, &["--json"]].concat());
            if std::env::var_os("TRINIM_WRITE_GOLDEN").is_some() {
                fs::write(&path, &found).unwrap();
            }
            assert_eq!(found, fs::read_to_string(&path).unwrap(), "{name}");
        }
    }
}

#[test]
fn the_papers_example_has_its_four_violations() {
    let args = ["score", "--game", "nim:2,1", "--formula", "a1-a2*a1"];
    let (shown, _) = ends(0, &[&args[..], &["--tree"]].concat());
    assert!(shown.contains("violations  4 (i:4) on the game tree of 12 positions"), "{shown}");
    assert!(shown.contains("|  `- (0,1) P  <- (i)"), "{shown}");
    assert!(shown.contains("\n(i:N) counts moves or positions that break rule (i): no move"), "{shown}");
    let (dot, _) = ends(0, &[&args[..], &["--dot"]].concat());
    // A ring around each of the four, and a line to every position but the first.
    assert_eq!((dot.matches("shape=ellipse").count(), dot.matches(" -> ").count()), (4, 11), "{dot}");
    for label in ["(2,1) P", "(2,0) N", "(1,1) P", "(0,1) P", "(1,0) N", "(0,0) P"] {
        assert!(dot.contains(&format!("[label=\"{label}\"")), "{label}");
    }
    // Without violations there is nothing to explain.
    let (shown, _) = ends(0, &["score", "--game", "nim:2,2", "--formula", "a1 xor a2"]);
    assert!(!shown.contains("(i:"), "{shown}");
}

#[test]
fn a_run_reports_checked_formulas() {
    let run =
        |more: &[&str]| json(0, &[&["run", "--game", "nim:3,3,3", "--preset", "best", "--runs", "6"], more].concat());
    let report = run(&[]);
    assert_eq!((&report["runs_finished"], &report["settings"]["representative"]), (&6.into(), &"best".into()));
    for found in report["runs"].as_array().unwrap() {
        assert_eq!(found["chromosome"].as_array().unwrap().len(), 15);
        if found["violations"] == 0 {
            assert!(["proved", "checked"].contains(&found["check"]["verdict"].as_str().unwrap()), "{found}");
        }
    }
    let low = report["success"]["wilson_95"][0].as_f64().unwrap();
    assert!(low > 0.3 && low < report["success"]["rate"].as_f64().unwrap());
    let pareto: Vec<[Option<u64>; 2]> = report["pareto"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| [row["size"].as_u64(), row["violations"].as_u64()])
        .collect();
    assert!(pareto.is_sorted_by(|one, next| one[0] < next[0] && one[1] > next[1]), "{pareto:?}");
    let (table, _) = ends(0, &["run", "--game", "wythoff:9", "--generations", "2", "--runs", "2", "--chromosomes"]);
    assert!(table.contains("(i:") && table.contains("\n(i:N) counts moves") && table.contains(" 15: "), "{table}");
}

/// Each setting is reported, and changes the run.
#[test]
fn settings_are_set_by_name() {
    let run =
        |set: &[&str]| json(0, &[&["run", "--game", "nim:4,4,4", "--runs", "1", "--generations", "7"], set].concat());
    let before = run(&[]);
    for set in [
        "steps=population",
        "steps=7",
        "tournament=4",
        "crossover=Two-Point",
        "crossover-probability=0.5",
        "mutation=gene-rate",
        "mutations=3",
        "replacement=both",
        "representative=best",
        "terminal-share=0.3",
        "initial-counts=true",
    ] {
        let report = run(&["--set", set]);
        let (name, value) = set.split_once('=').unwrap();
        let found = report["settings"][name.replace('-', "_")].to_string();
        assert_eq!(found.trim_matches('"').trim_end_matches(".0"), value.to_lowercase());
        assert_ne!(report["runs"], before["runs"], "{set}");
    }
    let source = run(&["--preset", "source", "--set", "terminal-share=uniform", "--set", "steps=half"]);
    assert_eq!((&source["settings"]["terminal_share"], &source["settings"]["steps"]), (&Value::Null, &"half".into()));
}

/// What a run prints is read back: the chromosome of each run gives its formula.
#[test]
fn chromosomes_are_read_as_they_are_printed() {
    let report = json(0, &["run", "--game", "nim:3,3", "--runs", "3", "--preset", "misere", "--misere"]);
    for run in report["runs"].as_array().unwrap() {
        let (genes, gene) = (run["chromosome"].to_string(), run["gene"].to_string());
        let args = ["score", "--game", "nim:3,3", "--misere", "--chromosome", &genes, "--gene", &gene];
        assert_eq!(json(0, &args)["formula"], run["formula"]);
    }
    let genes = "1: a1\n2: a2\n3: + 1, 2\n4: a3\n5: * 3, 4";
    let (latex, _) = ends(0, &["export", "--game", "nim:4,4,4", "--chromosome", genes, "--as", "latex"]);
    assert_eq!(latex, "(a_{1} + a_{2}) \\cdot a_{3}\n");
}

#[test]
fn to_find_nothing_is_a_result() {
    let args = ["run", "--game", "wythoff:9", "--misere", "--runs", "2", "--generations", "5"];
    let (shown, _) = ends(0, &args);
    assert!(shown.contains("none found; the best one, ") && shown.contains("no violations  0 of 2 runs"), "{shown}");
    let report = json(0, &[&args[..], &["--target", "labels"]].concat());
    let wrong = report["best_is_wrong_at"]["positions"].as_array().unwrap();
    let broken = wrong[0]["broken"].as_str().unwrap();
    assert!(["N by the formula, P in truth", "P by the formula, N in truth"].contains(&broken), "{broken}");
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| run["violations"].as_u64().unwrap()).min(), Some(wrong.len() as u64));
}

#[test]
fn formulas_are_proved_or_refuted() {
    let verify = |code: i32, game: &str, formula: &str, more: &[&str]| {
        let report = json(code, &[&["verify", "--game", game, "--formula", formula], more].concat());
        assert_eq!(report["ok"], code == 0);
        report["check"].clone()
    };
    let is = |check: &Value, path: &str, expected: &str| assert_eq!(check.pointer(path).unwrap(), expected, "{check}");
    is(&verify(1, "nim:4,4,4,4", "a1^a2^(a3-a4)", &["--max", "4"]), "/verdict", "refuted");
    // Right on the requested positions, wrong where 32 bits wrap; only the proof finds it.
    let wraps = verify(1, "nim:3,3", "4 * (a1 xor a2)", &["--max", "20"]);
    is(&wraps, "/counterexample/found_by", "proof");
    is(&wraps, "/counterexample/position", "(0,1073741824)");
    is(&wraps, "/theorems/1/verdict", "proved");
    // Right for all heaps of a check, wrong at large ones; no product is decided bit by bit.
    let large = verify(1, "nim:3,3", "(a1-a2)*(a1+a2)", &[]);
    is(&large, "/counterexample/found_by", "probe");
    is(&large, "/counterexample/position", "(0,65536)");
    let masked = "(a1 xor a2 xor a3 xor a4) and 2147483647";
    let mask = verify(0, "nim:4,4,4,4", masked, &["--max", "5"]);
    is(&mask, "/theorems/0/verdict", "proved");
    is(&mask, "/theorems/1/wrong_at", "(0,0,0,2147483648)");
    let scored = json(0, &["score", "--game", "nim:2,2,2,2", "--formula", masked]);
    assert_eq!(scored["theorems"], mask["theorems"]);
    let golden = verify(0, "wythoff:5", "phi(a2-a1)-a1", &["--states", "ascending", "--max", "60"]);
    is(&golden, "/states", "ascending");
    assert!(golden["theorem"].as_str().unwrap().contains("Wythoff's theorem"), "{golden}");
    verify(0, "nim:4,4,4", "a1^a2^a3", &["--target", "grundy"]);
    let (shown, _) = ends(1, &["verify", "--game", "nim:3,3", "--formula", "4 * (a1 xor a2)"]);
    assert!(shown.contains("right for integers of any size"), "{shown}");
    assert!(shown.contains("integers    right for all heaps, all orderings (integers of any size)"), "{shown}");
    let (shown, _) = ends(0, &["score", "--game", "nim:2,1", "--target", "grundy", "--formula", "a1-a2"]);
    assert!(shown.contains("(0,1) mex: value -1, but the mex of the options is 1"), "{shown}");
}

#[test]
fn mistakes_are_named() {
    let game = ["--game", "nim:4,4"];
    let run = |args: &[&str]| ends(2, &[&["run"], args].concat());
    let score = |args: &[&str]| ends(2, &[&["score"], &game[..], args].concat());
    let cases = [
        (run(&["--game", "chess"]), "unknown game \"chess\""),
        (run(&["--game", "octal:0.77:9"]), "expected nim:4,4,4,4, subtraction:1,2,3:21, wythoff:10 or moore:2:4,4,4"),
        (run(&["--game", "triangular:3"]), "unknown game \"triangular:3\""),
        (run(&["--game", "nim:-1,2"]), "integers from 0 to 1000000"),
        (run(&["--game", "nim:4.5"]), "integers from 0 to 1000000"),
        (run(&["--game", "nim:200,200,200"]), "more than 1048576 positions"),
        (run(&["--game", "nim:1000000"]), "more than 67108864 options"),
        (run(&[&game[..], &["--population", "1"]].concat()), "population 1: expected a whole number from 2 to 100000"),
        (
            run(&[&game[..], &["--genes", "99999999"]].concat()),
            "genes 99999999: expected a whole number from 1 to 1000",
        ),
        (run(&[&game[..], &["--terminals", "a7"]].concat()), "terminal \"a7\""),
        (run(&[&game[..], &["--terminals", "--json"]].concat()), "terminal \"--json\""),
        (run(&[&game[..], &["--terminals", "m"]].concat()), "terminal \"m\""),
        (run(&[&game[..], &["--functions", "nand"]].concat()), "function \"nand\""),
        (run(&[&game[..], &["--target", "grundy", "--misere"]].concat()), "Grundy values exist for normal play only"),
        (run(&[&game[..], &["--max", "5000"]].concat()), "more than 1048576 positions"),
        (run(&[&game[..], &["--max", "4"]].concat()), "found on heaps up to 4, expected a larger number"),
        (run(&[&game[..], &["--set", "crossover-probability=1.5"]].concat()), "expected a number from 0 to 1"),
        (run(&[&game[..], &["--set", "crossover-probability=NaN"]].concat()), "invalid type: string \"nan\""),
        (
            run(&[&game[..], &["--set", "mutations=2.5"]].concat()),
            "mutations 2.5: expected a whole number from 0 to 1000",
        ),
        (run(&[&game[..], &["--set", "steps=0"]].concat()), "steps 0: expected a whole number from 1 to 1000000"),
        (run(&[&game[..], &["--set", "steps=some"]].concat()), "expected half, population or a number"),
        (
            run(&[&game[..], &["--set", "crossover=none"]].concat()),
            "expected one of `one-point`, `two-point`, `uniform`",
        ),
        (run(&[&game[..], &["--set", "colour=red"]].concat()), "expected one of steps, tournament"),
        (run(&[&game[..], &["--set", "steps"]].concat()), "expected NAME=VALUE"),
        (
            ends(2, &["verify", "--game", "nim:4,4", "--max", "1", "--formula", "0"]),
            "--max 1: the largest heap of nim:4,4 is 4",
        ),
        (ends(2, &["verify", "--game", "wythoff:10", "--max", "1000", "--formula", "0"]), "more than 67108864 options"),
        (ends(2, &["experiment", "1", "--population", "50"]), "experiment 1 varies the population"),
        (score(&["--formula", ""]), "formula, column 1: found the end"),
        (score(&["--formula", "--zero=0"]), "column 3: found \"zero\""),
        (score(&["--formula", "a1 - (a2"]), "column 9"),
        (score(&["--formula", "a1 - 1.5"]), "column 7: found \".\""),
        (score(&["--formula", "a1 + + a2"]), "\n  a1 + + a2\n       ^"),
        (score(&["--formula", "a1 div a2"]), "no value at (0,0): (a1 div a2) divides 0 by 0"),
        (score(&["--chromosome", "1: a1 2: + 1"]), "chromosome, gene 2: + of \"the end\""),
        (score(&["--chromosome", "1: a1", "--gene", "2"]), "gene 2: the last gene is 1"),
        (ends(2, &["score", "--game", "nim:9,9,9", "--formula", "0", "--tree"]), "at most 5000 are drawn"),
        (
            ends(2, &["score", "--game", "nim:2,1", "--target", "labels", "--formula", "0", "--dot"]),
            "leave out --target",
        ),
    ];
    for ((out, error), message) in cases {
        assert!(out.is_empty() && error.contains(message), "{error}");
        assert!(error.starts_with("error: ") && error.contains("\nhint: "), "{error}");
    }
    let usage: [(&[&str], &str); 7] = [
        (&["--database", "k3"], "unexpected argument '--database'"),
        (&["--seed", "x"], "invalid value 'x' for '--seed <SEED>'"),
        (&["--zero", "two"], "expected one of `terminal`, `0`, `1`, `numerator`, `worst`"),
        (
            &["--svg", "x.svg"],
            "there is no --svg: use experiment --csv for a plot, score --dot | dot -Tsvg for the tree\n",
        ),
        (&["--representative", "best"], "there is no --representative: use --set representative=VALUE\n"),
        (&["--terminal-share", "0.5"], "there is no --terminal-share: use --set terminal-share=VALUE\n"),
        (&["--progress", "json"], "there is no --progress: progress is shown on a terminal only: leave it out\n"),
    ];
    for (args, message) in usage {
        let (out, error) = run(&[&game[..], args].concat());
        assert!(out.is_empty() && error.contains(message), "{args:?}: {error}");
        assert!(!message.ends_with('\n') || error.lines().count() == 1, "{error}");
    }
    assert!(ends(2, &["experiment", "4"]).1.contains("4 is not in 1..=3"));
    assert!(score(&["--chromosome", "1: a1", "--formula", "a1"]).1.contains("cannot be used with"));
    assert!(
        ends(2, &["export", "--game", "nim:4,4", "--formula", "a1", "--as", "c"]).1.contains("`python` or `latex`")
    );
    // A program that reads JSON gets the reason, too.
    let failure = json(2, &["score", "--game", "chess", "--formula", "0"]);
    assert_eq!((&failure["command"], &failure["exit_code"]), (&"evolve score".into(), &2.into()));
    // Formulas and lists may begin with a minus, and a value for such quotients makes a formula
    // valid.
    for formula in ["-a1", "-(a1 + 2)", "--a1", "-n"] {
        assert!(ends(0, &["score", "--game", "nim:1,1", "--formula", formula]).0.contains("formula     (0 - "));
    }
    ends(0, &["run", "--game", "nim:1,1", "--functions", "-,+", "--terminals", "-1,2", "--runs", "1"]);
    ends(0, &["score", "--game", "nim:2,1", "--formula", "a1 div a2", "--zero", "1"]);
}

#[test]
fn an_experiment_has_ten_points_and_a_test_each() {
    let args = ["experiment", "1", "--runs", "2", "--seed", "3"];
    let report = json(0, &args);
    let sweeps = report["sweeps"].as_array().unwrap();
    let generations: Vec<u64> = sweeps.iter().map(|sweep| sweep["generations"].as_u64().unwrap()).collect();
    assert_eq!(generations, [100, 50]);
    for sweep in sweeps {
        let points = sweep["points"].as_array().unwrap();
        assert!(points.len() == 10 && points.iter().all(|point| (0.0..=1.0).contains(&point["p"].as_f64().unwrap())));
        assert_eq!(points[4]["paper_rate"], 0.5);
        assert!(sweep["log_likelihood"].as_f64().is_some_and(|fit| fit < -10.0));
    }
    let (shown, _) = ends(0, &args);
    assert!(shown.contains("contradicts itself") && shown.contains("Fisher"), "{shown}");
    let (csv, _) = ends(0, &["experiment", "3", "--runs", "1", "--csv"]);
    let header = "genes,generations,paper_rate,successes,runs,rate,low,high,p_fisher,paper_low,paper_high\n5,50,0,0,1,";
    assert!(csv.lines().count() == 11 && csv.starts_with(header), "{csv}");
    let (shown, _) = ends(0, &["experiment", "3", "--runs", "1", "--set", "representative=best"]);
    assert!(shown.starts_with("experiment 3: genes varied, nim:4,4,4,4, preset paper, 1 runs a point"), "{shown}");
}

#[test]
fn the_papers_claims_are_listed_with_verdicts() {
    let found = json(1, &["claims", "--runs", "5"]);
    let claims = found["claims"].as_array().unwrap();
    let claim = |text: &str| claims.iter().find(|claim| claim["claim"] == text).unwrap();
    let fitness = claim("The fitness of E on the game tree of (2,1)");
    assert_eq!((&fitness["computed"], &fitness["verdict"]), (&"4".into(), &"agrees".into()));
    assert_eq!(claim("The same by counting the nodes of the game tree")["verdict"], "contradicted");
    let is_point = |claim: &&Value| claim["claim"].as_str().unwrap().starts_with("Successful runs");
    assert_eq!(claims.iter().filter(is_point).count(), 30);
    // The runs are those of the experiment.
    let successes = &json(0, &["experiment", "2", "--runs", "5"])["sweeps"][0]["points"][4]["successes"];
    let point = &claim("Successful runs, generations 100")["computed"];
    assert!(point.as_str().unwrap().starts_with(&format!("{successes} of 5 ")), "{point}");
    let (shown, _) = ends(1, &["claims", "--runs", "1"]);
    assert!(shown.contains("\nsection 3.4: misprint\n  claim     A P-position is a violation if all"), "{shown}");
    assert!(shown.ends_with(" agrees, 5 contradicted, 3 misprint, 1 undecided\n"), "{shown}");
}

#[test]
fn formulas_are_exported() {
    let formula = "(a1 xor a1) + (a1 - a2)";
    let export =
        |language| ends(0, &["export", "--game", "nim:2,2", "--formula", formula, "--as", language, "--simplify"]).0;
    assert!(export("Python").ends_with("    t2 = _wrap(a1 - a2)\n    return t2\n"));
    assert_eq!(export("latex"), "a_{1} - a_{2}\n");
}

/// Sends a signal once the program has worked for a while, and returns its report.
fn interrupted(args: &[&str], signal: Signal, code: i32) -> String {
    let child = program(args).spawn().unwrap();
    let worked = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let ticks: u64 = stat.rsplit(' ').nth(52 - 14).unwrap().parse().unwrap();
        ticks
    };
    while worked() < 15 {
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&child), signal).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(code));
    assert!(text(&output.stderr).starts_with("stopped by a signal "), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn what_is_interrupted_keeps_what_was_found() {
    let args = ["run", "--game", "nim:2,2", "--runs", "100000", "--generations", "30", "--json"];
    let report: Value = serde_json::from_str(&interrupted(&args, Signal::INT, 130)).unwrap();
    assert_eq!(report["interrupted"], true);
    let runs = report["runs"].as_array().unwrap();
    let finished = runs.iter().filter(|run| run["finished"] == true).count() as u64;
    assert!(finished > 0 && Some(finished) == report["runs_finished"].as_u64());
    // Runs stopped midway are reported, and do not count.
    assert!(runs.iter().all(|run| run["finished"] == true || run["generation"].is_null()), "{report}");
    let report = interrupted(&["experiment", "3", "--runs", "100000", "--json"], Signal::TERM, 143);
    assert_eq!(serde_json::from_str::<Value>(&report).unwrap()["interrupted"], true);
    assert_eq!(interrupted(&["claims", "--runs", "100000"], Signal::INT, 130), "");
}

#[test]
fn outputs_may_be_closed_or_full() {
    let score = ["score", "--game", "nim:2,1", "--formula", "a1-a2*a1"];
    let commands: [&[&str]; 5] = [
        &score,
        &[&score[..], &["--dot"]].concat(),
        &["experiment", "2", "--runs", "1", "--csv"],
        &["verify", "--game", "nim:3,3", "--formula", "a1", "--json"],
        &["--help"],
    ];
    for args in commands {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = program(args).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{args:?}");
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = program(args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{args:?}");
        assert!(text(&output.stderr).starts_with("error: "), "{args:?}");
    }
}
