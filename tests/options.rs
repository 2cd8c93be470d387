//! Options of the command line: variables yield to flags, and no option is read as a value.

mod common;
mod program;

use common::scratch;
use program::{ends, text, trinim};
use std::path::Path;

/// Runs a command with these variables: exit code, standard output and standard error.
fn with(folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> (i32, String, String) {
    let output = trinim(folder, args).envs(variables.iter().copied()).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_variable_yields_to_a_flag_that_conflicts_with_it() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "3", "--out", "three"]);
    let stats = ["stats", "three", "--csv"];
    let (csv, _) = ends(path, 0, &stats);
    assert!(csv.starts_with("pieces,positions,losses\n"), "{csv}");
    assert_eq!(with(path, &[("TRINIM_JSON", "1")], &stats), (0, csv, String::new()));

    // The flag wins in either direction.
    let (code, out, _) = with(path, &[("TRINIM_STATS_CSV", "1")], &["stats", "three", "--json"]);
    assert!(code == 0 && out.contains("\"schema\": \"trinim.stats/1\""), "{out}");
    let layout = ["layout", "-k", "4", "--block-bits", "5"];
    let (plain, _) = ends(path, 0, &layout);
    assert_eq!(with(path, &[("TRINIM_BID_CELLS", "(0,0)")], &layout), (0, plain, String::new()));
    let score = ["evolve", "score", "--game", "nim:1,1", "--chromosome", "1: a1"];
    let (code, out, error) = with(path, &[("TRINIM_FORMULA", "a2"), ("TRINIM_EVOLVE_SCORE_FORMULA", "a2")], &score);
    assert!(code == 0 && out.contains("formula     a1\n"), "{out}{error}");

    // Without such a flag the variable counts, and two flags or two variables still conflict.
    let (code, out, _) = with(path, &[("TRINIM_JSON", "1")], &["stats", "three"]);
    assert!(code == 0 && out.starts_with('{'), "{out}");
    let (_, error) = ends(path, 2, &["stats", "three", "--csv", "--json"]);
    assert!(error.contains("cannot be used with"), "{error}");
    let both = [("TRINIM_JSON", "1"), ("TRINIM_STATS_CSV", "1")];
    assert_eq!(with(path, &both, &["stats", "three"]).0, 2);
}

#[test]
fn no_option_is_read_as_a_formula_or_a_list() {
    let folder = scratch();
    let path = folder.path();
    let score = ["evolve", "score", "--game", "nim:1,1", "--formula"];
    let run = ["evolve", "run", "--game", "nim:1,1"];
    for (args, flag) in [
        ([&score[..], &["--json"]].concat(), "--formula <FORMULA>"),
        ([&score[..], &["--quiet"]].concat(), "--formula <FORMULA>"),
        ([&score[..], &["-q"]].concat(), "--formula <FORMULA>"),
        ([&score[..], &["--zero=0"]].concat(), "--formula <FORMULA>"),
        ([&run[..], &["--terminals", "--json"]].concat(), "--terminals <LIST>"),
        ([&run[..], &["--functions", "--seed", "1"]].concat(), "--functions <LIST>"),
        (vec!["plane", "play", "--start", "--hint"], "--start <S,L>"),
    ] {
        let (_, error) = ends(path, 2, &args);
        let wanted = format!("error: a value is required for '{flag}' but none was supplied\n");
        assert!(error.starts_with(&wanted), "{args:?}: {error}");
    }
    for formula in ["-a1", "-(a1 + 2)", "-3 * a1", "--a1", "-n"] {
        let (out, _) = ends(path, 0, &[&score[..], &[formula]].concat());
        let joined = format!("--formula={formula}");
        let (other, _) = ends(path, 0, &[&score[..4], &[&joined]].concat());
        assert!(out.contains("formula     (0 - ") || out.contains("-3"), "{out}");
        assert_eq!(out, other, "{formula}");
    }
    // A list may begin with the minus function or a negative integer.
    ends(path, 0, &[&run[..], &["--functions", "-,+", "--terminals", "-1,2", "--runs", "1"]].concat());
}
