//! `trinim plane`, as users of the binary meet it.

use crate::common::program::{ends, json, text, trinim};
use crate::common::scratch;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

fn plane<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["plane"], args].concat()
}

/// Runs a command with standard input; it must end with `code`.
fn fed(folder: &Path, code: i32, args: &[&str], input: &str) -> (String, String) {
    let mut child = trinim(folder, &plane(args)).stdin(Stdio::piped()).spawn().unwrap();
    // The program may end without reading its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{error}");
    assert!(!error.contains("panicked"), "{error}");
    (out, error)
}

/// Checks that a command is refused with one error line and one hint.
fn refused(folder: &Path, args: &[&str], reason: &str) {
    let (out, error) = ends(folder, 2, &plane(args));
    assert!(out.is_empty(), "{args:?}: {out}");
    let lines: Vec<&str> = error.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains(reason) && lines[1].starts_with("hint: "), "{args:?}: {error}");
    assert!(error.len() < 600, "{args:?}: {error}");
}

#[test]
fn a_point_is_answered_with_all_its_winning_moves() {
    let folder = scratch();
    let path = folder.path();
    let found = json(path, 0, &plane(&["at", "3141593", "2718282", "--json"]));
    let expected = json!({
        "schema": "trinim.plane.at/1",
        "position": ["2718282", "3141593"],
        "goal": "normal",
        "flip": "none",
        "value": "win",
        "outcome": "N",
        "index": null,
        "moves": [
            {"kind": "both", "amount": "2033351", "to": ["684931", "1108242"]},
            {"kind": "short", "amount": "776671", "to": ["1941611", "3141593"]},
        ],
    });
    assert_eq!(found, expected);
    let lost = json(path, 0, &plane(&["at", "103", "167", "--json"]));
    assert_eq!((&lost["outcome"], &lost["index"], &lost["moves"]), (&json!("P"), &json!("64"), &json!([])));
    assert_eq!(lost["delay"], json!({"kind": "long", "amount": "1", "to": ["103", "166"]}));
    let out = ends(path, 0, &plane(&["at", "103", "167"])).0;
    assert!(out.contains("- loss") && out.contains("every move loses") && out.contains("number 64"), "{out}");
    let attrition = json(path, 0, &plane(&["at", "2", "2", "--goal", "attrition", "--json"]));
    assert_eq!((&attrition["outcome"], &attrition["index"]), (&json!("P"), &json!("1")));
    // Heaps of any length, from standard input if an argument is too short for them.
    let out = ends(path, 0, &plane(&["at", "10^1000", "10^999"])).0;
    assert!(out.contains("(1001 digits)") && out.lines().all(|line| line.len() < 250), "{out}");
    let long = "7".repeat(150_000);
    let out = fed(path, 0, &["at", "-", "--json"], &format!("{long}\n 10^150000 ")).0;
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["position"][0], json!(long));
    assert_eq!(found["outcome"], "N");
}

#[test]
fn flips_are_answered_by_model() {
    let folder = scratch();
    let at = |args: &[&str]| json(folder.path(), 0, &[&plane(&["at", "--json"]), args].concat());
    // A flip with a move adds a variant to each winning move and changes no value.
    for (flip, flips) in [("free", "one"), ("after", "unlimited")] {
        let found = at(&["6", "40", "--flip", flip, "--flips", flips]);
        assert_eq!((&found["value"], &found["flip"]), (&json!("win"), &json!(flip)));
        assert!(found["moves"].as_array().unwrap().iter().any(|step| step["flip"] == false));
    }
    let found = at(&["6", "40", "--flip", "free"]);
    let kinds: Vec<bool> =
        found["moves"].as_array().unwrap().iter().map(|step| step["flip"].as_bool().unwrap()).collect();
    assert_eq!(kinds, [false, true]);
    // A flip as a turn changes the winner, and without limit the game is a draw.
    let found = at(&["6", "10", "--flip", "turn"]);
    assert_eq!((&found["value"], &found["moves"][0]["kind"]), (&json!("win"), &json!("flip")));
    assert_eq!(found["moves"][0]["to"], json!(["6", "10"]));
    let found = at(&["6", "11", "--flip", "turn"]);
    assert_eq!((&found["value"], &found["delay"]["flip"]), (&json!("loss"), &json!(false)));
    let found = at(&["6", "10", "--flip", "turn", "--flips", "unlimited"]);
    assert_eq!((&found["value"], &found["outcome"]), (&json!("draw"), &json!(null)));
    refused(folder.path(), &["at", "6", "501", "--flip", "turn"], "L: no formula is known");
}

#[test]
fn points_are_listed_by_every_method() {
    let folder = scratch();
    let path = folder.path();
    let list = |args: &[&str]| ends(path, 0, &[&plane(&["points"]), args].concat()).0;
    assert_eq!(list(&["--count", "3"]), "w_0 = (0, 0)\nw_1 = (1, 2)\nw_2 = (3, 5)\n");
    assert_eq!(list(&["--count", "2", "--goal", "attrition"]), "w_0 = (0, 1)\nw_1 = (2, 2)\n");
    let exact = list(&["--from", "995", "--count", "500", "--csv"]);
    assert_eq!(exact.lines().count(), 501);
    for method in ["generator", "newton"] {
        assert_eq!(list(&["--from", "995", "--count", "500", "--csv", "--method", method]), exact, "{method}");
    }
    let row = list(&["--from", "10^18", "--count", "1", "--json"]);
    let row: serde_json::Value = serde_json::from_str(&row).unwrap();
    let schema = "trinim.plane.points/1";
    let expected =
        json!({"schema": schema, "n": "1000000000000000000", "a": "1618033988749894848", "b": "2618033988749894848"});
    assert_eq!(row, expected);
    assert!(list(&["--from", "0", "--count", "20000", "--check"]).contains("20,000 points"));
    let checked = json(path, 0, &plane(&["points", "--from", "10^40", "--count", "50", "--check", "--json"]));
    assert_eq!((&checked["agrees"], &checked["points"]), (&json!(true), &json!(50)));
    assert_eq!(checked["methods"], json!(["formula", "exact", "newton"]));
    refused(path, &["points", "--from", "10^9", "--method", "generator"], "the generator counts up from 1");
    // A reader that stops early is not an error.
    let mut child = trinim(path, &plane(&["points", "--count", "100000000000"])).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_number_is_found_in_one_sequence() {
    let folder = scratch();
    let path = folder.path();
    for method in ["exact", "generator", "newton"] {
        let found = json(path, 0, &plane(&["index", "102", "--check", "--json", "--method", method]));
        let schema = "trinim.plane.index/1";
        let expected = json!({"schema": schema, "number": "102", "sequence": "b", "index": "39", "partner": "63",
                              "method": method, "agrees": true});
        assert_eq!(found, expected);
    }
    assert_eq!(ends(path, 0, &plane(&["index", "103"])).0, "103 = a_64, its partner is b_64 = 167\n");
    refused(path, &["index", "10^40", "--method", "generator"], "X: the generator counts up from 1");
}

#[test]
fn precision_shows_the_papers_table_beside_the_right_one() {
    let folder = scratch();
    let out = ends(folder.path(), 0, &plane(&["precision"])).0;
    let rows: Vec<Vec<&str>> = out.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["0", "0", "to", "3", "0", "to", "2", "233"]);
    assert_eq!(rows[3], ["3", "13", "to", "24", "10", "to", "19", "19740274219868223167"]);
    let found = json(folder.path(), 0, &plane(&["precision", "--digits", "12", "--json"]));
    let steps = json!({"needed": 3, "paper": 2, "paper_first_failure": "4807526976", "paper_is_enough": false});
    let decimals = json!({"needed": 25, "paper": 12, "paper_first_failure": "1346269", "paper_is_enough": false});
    assert_eq!((&found["newton_steps"], &found["decimals"]), (&steps, &decimals));
    assert_eq!(found["table"][0], json!({"steps": 0, "paper": [0, 3], "right_up_to": 2, "first_failure": "233"}));
}

#[test]
fn the_orders_of_section_18_are_counted() {
    let folder = scratch();
    let args = plane(&["randomised", "--max", "50", "--tries", "10000", "--seed", "4", "--json"]);
    let found = json(folder.path(), 0, &args);
    assert_eq!((&found["a"], &found["b"]), (&json!("31"), &json!("19")));
    let equations = |order: &str| found["equations"][order].as_u64().unwrap();
    assert!(equations("a_first") < equations("random") && equations("random") < equations("b_first"), "{found}");
    assert_eq!(found, json(folder.path(), 0, &args));
    assert!(ends(folder.path(), 0, &args[..args.len() - 1]).0.contains("equations a heap"));
}

#[test]
fn formulas_are_held_against_the_rules() {
    let folder = scratch();
    let path = folder.path();
    let plain = json(path, 0, &plane(&["verify", "--max", "150", "--flip", "none", "--json"]));
    assert_eq!((plain["rows"].as_array().unwrap().len(), &plain["agrees"]), (2, &json!(true)));
    assert_eq!(plain["rows"][0]["winning_moves"], json!([58, 8733, 2082, 603]));
    for flip in ["free", "after"] {
        ends(path, 0, &plane(&["verify", "--max", "30", "--flip", flip, "--flips", "two"]));
    }
    let all = json(path, 1, &plane(&["verify", "--max", "34", "--json"]));
    let differences: Vec<u64> =
        all["rows"].as_array().unwrap().iter().map(|row| row["differences"].as_u64().unwrap()).collect();
    assert_eq!(differences, [0, 0, 0, 0, 0, 0, 20, 20]);
    assert_eq!(all["rows"][6]["first_difference"]["position"], json!(["6", "10"]));
    let out = ends(path, 1, &plane(&["verify", "--max", "34", "--flip", "turn", "--goal", "normal"])).0;
    assert!(
        out.contains("first difference, normal goal, flip turn: (6, 10), flips left: 1: by the rules win"),
        "{out}"
    );
    ends(path, 1, &plane(&["verify", "--max", "10", "--flip", "free", "--condition", "always"]));
    ends(path, 0, &plane(&["verify", "--max", "0", "--flip", "none"]));
}

#[test]
fn a_game_is_played_recorded_and_replayed() {
    let folder = scratch();
    let path = folder.path();
    // A refused turn names the reason and the possible moves, and the player tries again.
    let game = ["play", "--start", "3,4", "--first", "human", "--transcript", "won.txt", "--seed", "1"];
    let (out, error) = fed(path, 0, &game, "both 4\nshort 0\nup 1\nhint\nlong 2\n");
    assert!(out.contains("not possible: 4 cannot be taken from both heaps: expected 1 to 3"), "{out}");
    assert!(out.contains("not possible: 0 cannot be taken from the short heap: expected 1 to 3"), "{out}");
    assert!(out.contains("not understood: expected short, long or both"), "{out}");
    assert_eq!(out.matches("possible: short 1 to 3, long 1 to 4, both 1 to 3").count(), 3, "{out}");
    assert!(out.contains("hint: you win by taking 2 from both heaps"), "{out}");
    // The end of the input resigns.
    assert!(out.ends_with("you resign: the program wins\n"), "{out}");
    assert!(error.contains("your turn> "), "{error}");
    let transcript = fs::read_to_string(path.join("won.txt")).unwrap();
    assert!(
        transcript.starts_with("# trinim plane game\ngoal normal\nflips 0\nstart 3 4\nfirst human\nhuman long 2\n")
    );
    assert!(transcript.ends_with("human resigns\n"), "{transcript}");
    let replayed = ends(path, 0, &plane(&["play", "--replay", "won.txt"])).0;
    assert!(replayed.contains("gives the game away") && replayed.contains("right: 2 from both heaps"), "{replayed}");
    assert!(replayed.ends_with("program wins\n"));
    // A player who follows the hints wins a won game.
    let out = fed(path, 0, &["play", "--start", "3,3", "--first", "human", "--hint"], "both 3\n").0;
    assert!(out.contains("hint: you win by taking 3 from both heaps") && out.ends_with("(0, 0): you win\n"), "{out}");
    let out = fed(path, 0, &["play", "--start", "0,1", "--goal", "attrition", "--first", "human"], "l 1\n").0;
    assert!(out.ends_with("(0, 0): the program wins\n"), "{out}");
    // A changed goal stays changed.
    let flipping = ["play", "--start", "6,10", "--first", "human", "--flip", "free", "--transcript", "flip.txt"];
    let out = fed(path, 0, &flipping, "flip long 1\nflip long 1\nresign\n").0;
    assert!(out.contains("the goal is attrition now") && out.contains("the goal can no longer be changed"), "{out}");
    assert!(ends(path, 0, &plane(&["play", "--replay", "flip.txt"])).0.contains("changes the goal and takes"));
    // A file that is not a transcript is neither read nor replaced.
    fs::write(path.join("other.txt"), "# trinim plane game\ngoal normal\nflips 0\nstart 1 1\nfirst me\n").unwrap();
    refused(path, &["play", "--replay", "other.txt"], "transcript other.txt: line 5: expected human or program");
    fs::write(path.join("letter.txt"), "Dear").unwrap();
    refused(
        path,
        &["play", "--transcript", "letter.txt", "--start", "1,1"],
        "letter.txt exists and is not a trinim transcript",
    );
    refused(path, &["play", "--replay", "missing.txt"], "transcript missing.txt: no such file");
}

#[test]
fn the_papers_program_gives_a_won_game_away() {
    let folder = scratch();
    let path = folder.path();
    let game = ["play", "--start", "378,611", "--first", "program"];
    let out = fed(path, 0, &[&game[..], &["--strategy", "paper"]].concat(), "hint\n").0;
    assert!(out.contains("the program takes 2 from both heaps\nthis gives a won game away"), "{out}");
    assert!(out.contains("hint: you win by taking 377 from the long heap"), "{out}");
    // Where its ratio gives the wrong point, it takes a won point for lost.
    let out = fed(path, 0, &["play", "--start", "376,609", "--first", "program", "--strategy", "paper"], "").0;
    assert!(out.contains("considers this point lost") && out.contains("gives a won game away"), "{out}");
    let out = fed(path, 0, &game, "hint\n").0;
    assert!(out.contains("the program takes 1 from both heaps") && out.contains("hint: every move loses"), "{out}");
}

/// The program asked "me or you?", of which nobody knew who is who; `help` there was not
/// understood, Ctrl-C lost the game, and an old transcript was replaced without a word.
#[test]
fn a_game_asks_helps_and_keeps_its_transcript() {
    let folder = scratch();
    let path = folder.path();
    let game = ["play", "--start", "3,4", "--transcript", "game.txt"];
    let mut child = trinim(path, &plane(&game)).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"help\ny\nshort 1\n").unwrap();
    let kept = || fs::read_to_string(path.join("game.txt")).unwrap_or_default();
    for _ in 0..24_000 {
        if kept().contains("human short 1") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    crate::common::program::signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(output.status.code(), Some(130));
    let (out, error) = (crate::common::program::text(&output.stdout), crate::common::program::text(&output.stderr));
    assert!(error.contains("Do you want to move first? [y/n]"), "{error}");
    assert!(out.contains("y: you move first") && out.contains("resign"), "{out}");
    let before = kept();
    assert!(before.contains("human short 1"), "{before}");
    assert!(ends(path, 0, &plane(&["play", "--replay", "game.txt"])).0.contains("to move"));

    refused(path, &["play", "--start", "1,1", "--first", "human", "--transcript", "game.txt"], "game.txt exists");
    assert_eq!(kept(), before);
    fed(path, 0, &["play", "--start", "1,1", "--first", "human", "--transcript", "game.txt", "--force"], "both 1\n");
    assert_ne!(kept(), before);
    let coloured = fed(path, 0, &["play", "--start", "1,1", "--first", "human", "--color", "always"], "both 1\n").0;
    assert!(coloured.contains("\x1b[1;32myou win"), "{coloured}");
}

/// Every consecutive game with the same player has twice the level.
#[test]
fn levels_double() {
    let folder = scratch();
    let path = folder.path();
    for (level, next) in [(10, 20), (20, 40), (40, 80)] {
        let out = fed(path, 0, &["play", "--level", "10", "--level-file", "ada.level", "--first", "human"], "").0;
        assert!(out.starts_with(&format!("normal goal, level {level}\n")), "{out}");
        let kept = fs::read_to_string(path.join("ada.level")).unwrap();
        assert_eq!(kept, format!("# trinim plane level\n{next}\n"));
    }
    fs::write(path.join("ada.level"), "# trinim plane level\n6\n").unwrap();
    refused(path, &["play", "--level-file", "ada.level"], "level ada.level: expected a level that trinim wrote");
    // Once the heaps are known, the program asks who moves first.
    let out = fed(path, 0, &["play", "--level", "7", "--seed", "1"], "nobody\nn\n").0;
    assert!(out.contains("not understood: expected y or n") && out.contains("the program takes"), "{out}");
    assert_eq!(out, fed(path, 0, &["play", "--level", "7", "--seed", "1"], "nobody\nn\n").0);
}

#[test]
fn bad_arguments_are_refused() {
    let folder = scratch();
    let long = "1".repeat(100_000);
    let wrong: [(&[&str], &str); 33] = [
        (&["at", "-5", "3"], "S: -5 is negative"),
        (&["at", "3", "-5"], "L: -5 is negative"),
        (&["at", "1.5", "3"], "S: \"1.5\" is not a whole number"),
        (&["at", "3", "1e5"], "L: \"1e5\" is not a whole number"),
        (&["at", "0x10", "3"], "S: \"0x10\" is not a whole number"),
        (&["at", "", "3"], "S: \"\" is not a whole number"),
        (&["at", "NaN", "3"], "S: \"NaN\" is not a whole number"),
        (&["at", "3"], "L: there is only one heap"),
        (&["at", "0", "0"], "(0, 0) ends the game"),
        (&["at", "0^1", "00", "--goal", "attrition"], "(0, 0) ends the game"),
        (&["at", "10^1000000", "1"], "S: 10^1000000 has too many digits: expected at most 1000000"),
        (&["at", "1", "2^99999999999999999999"], "too many digits"),
        (&["at", &format!("{long}x"), "1"], "is not a whole number"),
        (&["at", "-"], "standard input: not two numbers"),
        (&["at", "1", "2", "3"], "unexpected argument"),
        (&["at", "1", "2", "--goal", "win"], "[possible values: normal, attrition]"),
        (&["at", "1", "2", "--flip", "now"], "[possible values: none, free, after, turn]"),
        (&["at", "1", "2", "--flips", "3"], "[possible values: one, each, two, unlimited]"),
        (&["points", "--from", "-1"], "--from: -1 is negative"),
        (&["points", "--count", "-1"], "--count"),
        (&["points", "--csv", "--json"], "cannot be used with"),
        (&["points", "--method", "guess"], "--method"),
        (&["index", "-1"], "X: -1 is negative"),
        (&["precision", "--digits", "10001"], "--digits"),
        (&["randomised", "--max", "0"], "--max: expected 1 to"),
        (&["randomised", "--max", "10^30"], "--max: expected 1 to"),
        (&["verify", "--max", "1001"], "--max"),
        (&["verify", "--condition", "never"], "[possible values: paper, apart, sum, always]"),
        (&["play", "--level", "6"], "below 7 the first point may be a lost one"),
        (&["play", "--start", "3"], "--start: expected two numbers separated by a comma"),
        (&["play", "--start", "0,0"], "--start: (0, 0) ends the game"),
        (&["play", "--start", "-1,2"], "--start: -1 is negative"),
        (&["play", "--strategy", "paper", "--goal", "attrition"], "plays only the normal goal"),
    ];
    for (args, reason) in wrong {
        refused(folder.path(), args, reason);
    }
    refused(folder.path(), &["play", "--flip", "turn"], "expected none or free in a game");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // Longer than an argument can be.
    let (out, error) = fed(folder.path(), 2, &["at", "-"], &format!("{} 5", "1".repeat(1_000_001)));
    assert!(out.is_empty() && error.lines().count() == 2 && error.contains("too many digits"), "{}", error.len());
    let zeros = format!("1 {}5", "0".repeat(2_001_000));
    assert!(fed(folder.path(), 2, &["at", "-"], &zeros).1.contains("standard input: expected at most 2001000 bytes"));
}

/// No command listed the claims of the paper.
#[test]
fn the_papers_claims_are_listed_with_verdicts() {
    let folder = scratch();
    let found = json(folder.path(), 1, &plane(&["claims", "--json"]));
    let claims = found["claims"].as_array().unwrap();
    assert_eq!((&found["paper"], &found["agrees"]), (&json!("[Ver10]"), &json!(false)));
    let of = |verdict: &str| claims.iter().filter(|claim| claim["verdict"] == verdict).count();
    for verdict in ["agrees", "contradicted", "misprint", "undecided"] {
        assert_eq!(found["verdicts"][verdict], of(verdict), "{verdict}");
    }
    let misprint = claims.iter().find(|claim| claim["printed"] == "323,311").unwrap();
    assert_eq!((&misprint["computed"], &misprint["verdict"]), (&json!("423,311"), &json!("misprint")));
    let (out, error) = ends(folder.path(), 1, &plane(&["claims"]));
    assert!(error.is_empty(), "{error}");
    assert!(out.contains("\ntheorem 4: contradicted\n") && out.contains("\nexample 8: agrees\n"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    assert!(out.ends_with(&format!("{} misprinted, {} undecided\n", of("misprint"), of("undecided"))), "{out}");
}
