//! What a solve keeps, by the commands: counts, a book, nimbers, distances, an audit.

use crate::common::program::{copy, ends, json, tree, trinim};
use crate::common::{assert_same_files, database_files, scratch};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::Duration;
use trinim::game::{Board, Rule, reference};

/// An answer without distances, which are counted on the spot only, and which order the moves.
fn plain(mut answer: Value) -> Value {
    answer.as_object_mut().unwrap().remove("distance");
    let moves = answer["moves"].as_array_mut().unwrap();
    moves.iter_mut().for_each(|row| row["distance"] = Value::Null);
    moves.sort_by_key(|row| (row["value"].to_string(), row["cells"].to_string()));
    answer
}

/// The commands on a folder with counts: what they answer, and what they refuse with which code and
/// which advice.
#[test]
fn the_commands_on_counts() {
    let folder = scratch();
    let path = folder.path();
    let solved = json(path, 0, &["solve", "-k", "5", "--keep", "counts", "--out", "five", "--json"]);
    let whole = json(path, 0, &["solve", "-k", "5", "--out", "whole", "--json"]);
    assert_eq!((&solved["keep"], &whole["keep"]), (&"counts".into(), &"database".into()));
    assert_eq!((&solved["digest"], &solved["losses"]), (&whole["digest"], &whole["losses"]));
    assert!(solved["database_bytes"].as_u64() < whole["database_bytes"].as_u64());

    let [stats, all] = ["five", "whole"].map(|name| json(path, 0, &["stats", name, "--json"]));
    for key in ["by_pieces", "winning_first_moves", "start", "digest", "first_moves"] {
        let sorted = |stats: &serde_json::Value| {
            let mut moves = stats[key].clone();
            if key == "winning_first_moves" {
                moves.as_array_mut().unwrap().sort_by_key(ToString::to_string);
            }
            moves
        };
        assert_eq!(sorted(&stats), sorted(&all), "{key}");
    }
    assert!(ends(path, 0, &["stats", "five"]).0.contains("counts only"));
    assert_eq!(ends(path, 0, &["stats", "five", "--csv"]).0, ends(path, 0, &["stats", "whole", "--csv"]).0);
    let status = json(path, 0, &["status", "five", "--json"]);
    assert_eq!((&status["state"], &status["keep"]), (&"finished".into(), &"counts".into()));
    assert!(ends(path, 0, &["status", "five"]).0.contains("counts only"));
    for place in ["five", "five/db"] {
        assert_eq!(json(path, 0, &["check", place, "--depth", "full", "--json"])["findings"], serde_json::json!([]));
        ends(path, 0, &["repair", place]);
    }

    // The start and the positions after a first move are known, others are solved on the spot.
    for position in ["0x7fff", "0x7ffe", "0x3"] {
        let [of_counts, of_whole] = ["five", "whole"].map(|name| json(path, 0, &["probe", name, "--json", position]));
        assert_eq!(plain(of_counts), plain(of_whole), "{position}");
    }
    for command in [&["verify", "five"][..], &["verify", "five/db", "--checksums-only"]] {
        let (_, error) = ends(path, 2, command);
        assert!(error.contains("keeps counts only"), "{error}");
        assert!(error.contains("trinim solve --layers 5 --keep database --out DIR"), "{error}");
    }

    // The folder says what is kept; another choice is refused, finished or not.
    let again = json(path, 0, &["solve", "-k", "5", "--out", "five", "--json"]);
    assert_eq!((&again["keep"], &again["digest"]), (&"counts".into(), &solved["digest"]));
    for (folder, other) in [("five", "database"), ("whole", "counts")] {
        let (_, error) = ends(path, 7, &["solve", "-k", "5", "--out", folder, "--keep", other]);
        assert!(error.contains("records keep = ") && error.contains("resume it with"), "{error}");
    }
}

/// A killed solve is continued without the flag, and ends with the bytes of an undisturbed one.
#[test]
fn a_killed_solve_keeps_what_it_was_begun_with() {
    let folder = scratch();
    let path = folder.path();
    let solve = |name| ["solve", "-k", "7", "--block-bits", "14", "--commit-interval", "20ms", "--out", name];
    let mut child = trinim(path, &[&solve("killed")[..], &["--keep", "counts"]].concat()).spawn().unwrap();
    let journal = path.join("killed/m/journal.1.a");
    while !fs::metadata(&journal).is_ok_and(|journal| journal.len() > 0) {
        assert_eq!(child.try_wait().unwrap(), None, "the solve was over before it could be killed");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(json(path, 0, &["status", "killed", "--json"])["keep"], "counts");
    assert_eq!(fs::read_dir(path.join("killed/db")).unwrap().count(), 0);
    ends(path, 0, &["check", "killed"]);
    let (_, error) = ends(path, 7, &[&solve("killed")[..], &["--keep", "database"]].concat());
    assert!(error.contains("keep = counts, not database"), "{error}");
    let resumed = json(path, 0, &[&solve("killed")[..], &["--json"]].concat());
    assert!(resumed["resumed_blocks"].as_u64() > Some(0));
    assert_eq!(resumed["keep"], "counts");
    ends(path, 0, &[&solve("whole")[..], &["--keep", "counts"]].concat());
    assert_same_files(&database_files(&path.join("killed")), &database_files(&path.join("whole")), "killed");
}

/// A solve without room names the choice that fits.
#[test]
fn refusals_name_the_choice_that_fits() {
    let folder = scratch();
    let path = folder.path();
    // A database has no logs beside it. Those of the counts take less only if they are small and
    // soon deleted.
    let small = ["-k", "8", "--memory", "1GiB", "--codec", "rows-huffman", "--commit-interval", "100ms"];
    let planned = |keep| json(path, 0, &[&["plan", "--keep", keep, "--json"], &small[..]].concat());
    let [whole, counts] = ["database", "counts"].map(|keep| {
        let plan = planned(keep);
        assert_eq!((&plan["keep"], &plan["placement"]), (&keep.into(), &"shared".into()));
        plan["placements"][0]["disk_peak_bytes"].as_u64().unwrap()
    });
    assert!(counts < whole, "{counts} {whole}");

    let room = counts.to_string();
    let solve = ["solve", "--out", "eight", "--max-disk", &room];
    let (_, error) = ends(path, 4, &[&solve[..], &small[..]].concat());
    assert!(error.contains("--keep counts (about"), "{error}");
    assert!(!path.join("eight").exists());
    // A run that was begun keeps what it was started with.
    ends(path, 5, &["solve", "-k", "7", "--block-bits", "14", "--max-duration", "300ms", "--out", "begun"]);
    let solve = ["solve", "-k", "7", "--block-bits", "14", "--max-disk", "1MiB", "--out", "begun"];
    let (_, error) = ends(path, 4, &solve);
    assert!(!error.contains("--keep"), "{error}");
}

/// The commands on a folder with a book.
#[test]
fn the_commands_on_a_book() {
    let folder = scratch();
    let path = folder.path();
    let solved = json(path, 0, &["solve", "-k", "5", "--keep", "book", "--out", "five", "--json"]);
    assert_eq!(solved["keep"], "book:7");
    let whole = json(path, 0, &["solve", "-k", "5", "--out", "whole", "--json"]);
    assert_eq!(solved["digest"], whole["digest"]);
    let stats = json(path, 0, &["stats", "five", "--json"]);
    assert_eq!(stats["book"]["pieces"], 7);
    assert!(stats["book"]["losses"].as_u64() > Some(0));
    assert!(ends(path, 0, &["stats", "five"]).0.contains("only counts and positions with at least 7 pieces"));
    assert_eq!(json(path, 0, &["status", "five", "--json"])["keep"], "book:7");
    for place in ["five", "five/db"] {
        assert_eq!(json(path, 0, &["check", place, "--depth", "full", "--json"])["findings"], serde_json::json!([]));
        ends(path, 0, &["repair", place]);
    }
    let [of_book, of_whole] = ["five", "whole"].map(|name| json(path, 0, &["probe", name, "--json", "0x7f0f"]));
    assert_eq!(of_book["value"], of_whole["value"]);
    assert_eq!(of_whole["moves_not_kept"], 0);
    // What the book does not have is solved on the spot.
    assert_eq!(plain(of_book), plain(of_whole));
    let [of_book, of_whole] = ["five", "whole"].map(|name| json(path, 0, &["probe", name, "--json", "0x3f"]));
    assert_eq!(plain(of_book), plain(of_whole));
    ends(path, 2, &["verify", "five"]);
    // Without a number the folder's is meant, another one is another run.
    let again = json(path, 0, &["solve", "-k", "5", "--keep", "book", "--out", "five", "--json"]);
    assert_eq!((&again["keep"], &again["database_bytes"]), (&"book:7".into(), &solved["database_bytes"]));
    ends(path, 7, &["solve", "-k", "5", "--keep", "book:8", "--out", "five"]);
    ends(path, 0, &["solve", "-k", "4", "--keep", "book:10", "--out", "full"]);
    let again = json(path, 0, &["solve", "-k", "4", "--keep", "book", "--out", "full", "--json"]);
    assert_eq!(again["keep"], "book:10");
    // From nine layers on a book is what is kept.
    assert_eq!(json(path, 0, &["plan", "-k", "9", "--json"])["keep"], "book:37");
    assert_eq!(json(path, 0, &["plan", "-k", "8", "--json"])["keep"], "database");
}

/// The commands on a folder of nimbers.
#[test]
fn the_commands_on_nimbers() {
    let folder = scratch();
    let path = folder.path();
    let solve = ["solve", "-k", "5", "--rule", "normal", "--values", "nimbers"];
    let solved = json(path, 0, &[&solve[..], &["--json"]].concat());
    assert_eq!((&solved["values"], &solved["out"]), (&"nimbers".into(), &"trinim-k5-normal-nimbers".into()));
    let place = "trinim-k5-normal-nimbers";
    let board = Board::triangle(5, None).unwrap();
    let nimbers = reference::nimbers(15, board.moves());
    let stats = json(path, 0, &["stats", place, "--json"]);
    let rows = stats["by_nimber"].as_array().unwrap();
    for (nimber, row) in (0_u8..).zip(rows) {
        let positions = nimbers.iter().filter(|found| **found == nimber).count();
        assert_eq!(*row, serde_json::json!({"nimber": nimber, "positions": positions}));
    }
    assert_eq!(rows.len() - 1, usize::from(*nimbers.iter().max().unwrap()));
    assert_eq!(stats["losses"], rows[0]["positions"]);
    assert!(ends(path, 0, &["stats", place]).0.contains("\nnimber  "));
    for position in [0x7fff_u64, 0x1234, 0x5001, 1, 0] {
        let probe = json(path, 0, &["probe", place, "--json", &format!("{position:#x}")]);
        assert_eq!(probe["nimber"], nimbers[position as usize]);
        for row in probe["moves"].as_array().unwrap() {
            let taken =
                row["cells"].as_array().unwrap().iter().map(|cell| 1_u64 << cell.as_u64().unwrap()).sum::<u64>();
            assert_eq!(row["nimber"], nimbers[(position ^ taken) as usize]);
        }
        let (text, _) = ends(path, 0, &["probe", place, &format!("{position:#x}")]);
        assert!(text.contains(&format!("\nnimber {}", nimbers[position as usize])), "{text}");
    }
    assert_eq!(json(path, 0, &["verify", place, "--json"])["ok"], true);
    assert_eq!(json(path, 0, &["status", place, "--json"])["values"], "nimbers");
    assert_eq!(json(path, 0, &["check", place, "--depth", "full", "--json"])["ok"], true);
    // Without the flag, the folder's values are meant; other ones are another run.
    let again = json(path, 0, &["solve", "-k", "5", "--rule", "normal", "--out", place, "--json"]);
    assert_eq!((&again["values"], &again["digest"]), (&"nimbers".into(), &solved["digest"]));
    let before = tree(path);
    let (_, error) = ends(path, 7, &["solve", "-k", "5", "--rule", "normal", "--values", "outcomes", "--out", place]);
    assert!(error.contains("values = nimbers, not outcomes"), "{error}");
    ends(path, 0, &["solve", "-k", "5", "--rule", "normal", "--out", "outcomes"]);
    let both = ["solve", "-k", "5", "--rule", "normal", "--values", "nimbers", "--out", "outcomes"];
    ends(path, 7, &both);
    assert_eq!(json(path, 0, &["probe", "outcomes", "--json", "0x7fff"])["nimber"], serde_json::Value::Null);
    assert_eq!(json(path, 0, &["stats", "outcomes", "--json"])["by_nimber"], serde_json::Value::Null);
    assert!(before.iter().all(|(path, bytes)| fs::read(path).unwrap() == *bytes));
}

/// The commands on a folder of distances to the end.
#[test]
fn the_commands_on_distances() {
    let folder = scratch();
    let path = folder.path();
    let board = Board::triangle(5, None).unwrap();
    for rule in Rule::ALL {
        let place = &format!("trinim-k5-{rule}-remoteness");
        let solve = ["solve", "-k", "5", "--rule", rule.name(), "--values", "remoteness", "--audit", "50%"];
        let solved = json(path, 0, &[&solve[..], &["--block-bits", "8", "--json"]].concat());
        assert_eq!((&solved["values"], &solved["out"]), (&"remoteness".into(), &place.as_str().into()));
        assert_eq!(solved["audit"]["misses"], 0);
        let distances = reference::distances(15, board.moves(), rule);
        let values = reference::values(15, board.moves(), rule);
        let stats = json(path, 0, &["stats", place, "--json"]);
        let rows = stats["by_distance"].as_array().unwrap();
        for (distance, row) in (0_u8..).zip(rows) {
            let of = |loss: bool| {
                let all = distances.iter().zip(&values);
                all.filter(|(found, value)| **found == distance && value.is_loss() == loss).count()
            };
            assert_eq!(*row, serde_json::json!({"distance": distance, "wins": of(false), "losses": of(true)}));
        }
        assert_eq!(rows.len() - 1, usize::from(*distances.iter().max().unwrap()));
        assert!(ends(path, 0, &["stats", place]).0.contains("\ndistance  "));
        for position in [0x7fff_u64, 0x1234, 0x5001, 1, 0] {
            let at = format!("{position:#x}");
            let probe = json(path, 0, &["probe", place, "--json", &at]);
            assert_eq!(probe["distance"], distances[position as usize]);
            assert_eq!(json(path, 0, &["probe", place, "--brief", "--json", &at])["distance"], probe["distance"]);
            // Without the folder, it is counted on the spot.
            let spot = json(path, 0, &["probe", "-k", "5", "--rule", rule.name(), "--json", &at]);
            assert_eq!(spot["distance"], probe["distance"]);
            let after = |probe: &Value| -> Vec<(String, Value)> {
                let moves = probe["moves"].as_array().unwrap().iter();
                moves.map(|row| (row["cells"].to_string(), row["distance"].clone())).collect()
            };
            assert_eq!(after(&spot), after(&probe));
            for row in probe["moves"].as_array().unwrap() {
                let cells = row["cells"].as_array().unwrap().iter();
                let taken = cells.map(|cell| 1_u64 << cell.as_u64().unwrap()).sum::<u64>();
                assert_eq!(row["distance"], distances[(position ^ taken) as usize]);
            }
            let (text, _) = ends(path, 0, &["probe", place, &at]);
            let moves = match distances[position as usize] {
                0 => "for the player".to_owned(),
                1 => "in 1 move for".to_owned(),
                moves => format!("in {moves} moves for"),
            };
            assert!(text.contains(&moves), "{text}");
        }
        assert_eq!(json(path, 0, &["verify", place, "--json"])["ok"], true);
        assert_eq!(json(path, 0, &["status", place, "--json"])["values"], "remoteness");
        assert_eq!(json(path, 0, &["check", place, "--depth", "full", "--json"])["ok"], true);
        let (_, error) =
            ends(path, 7, &["solve", "-k", "5", "--rule", rule.name(), "--values", "outcomes", "--out", place]);
        assert!(error.contains("values = remoteness, not outcomes"), "{error}");
    }
}

/// The program: an audit belongs to the folder, resumes go on with it, and another one is refused.
#[test]
fn the_audit_of_a_folder_is_its_own() {
    let folder = scratch();
    let out = folder.path().join("k5").display().to_string();
    let solved = json(
        folder.path(),
        0,
        &["solve", "--layers", "5", "--audit", "30%", "--block-bits", "9", "--out", &out, "--json"],
    );
    let audit = &solved["audit"];
    let blocks = (solved["canonical_blocks"].as_u64().unwrap() * 3).div_ceil(10);
    let expected =
        serde_json::json!({ "blocks": blocks, "per_block": 512, "seed": 0, "positions": 512 * blocks, "misses": 0 });
    assert_eq!((audit, &solved["placement"]), (&expected, &"shared".into()));
    // Again, without naming it; and from the database.
    assert_eq!(&json(folder.path(), 0, &["solve", "--layers", "5", "--out", &out, "--json"])["audit"], audit);
    assert_eq!(&json(folder.path(), 0, &["stats", &out, "--json"])["audit"], audit);
    let (text, _) = ends(folder.path(), 0, &["stats", &out]);
    let row = format!("positions compared with their children, 0 wrong, all of {blocks} blocks\n");
    assert!(text.contains(&row), "{text}");
    for other in ["29%", "all", "none"] {
        let (_, error) = ends(folder.path(), 7, &["solve", "--layers", "5", "--audit", other, "--out", &out]);
        assert!(error.contains("records audit = 0.3, not "), "{error}");
    }
    ends(folder.path(), 0, &["check", &out]);

    let plain = folder.path().join("plain").display().to_string();
    let solved = json(folder.path(), 0, &["solve", "--layers", "4", "--out", &plain, "--json"]);
    assert!(solved["audit"].is_null(), "{solved}");
    let (_, error) = ends(folder.path(), 7, &["solve", "--layers", "4", "--audit", "5%", "--out", &plain]);
    assert!(error.contains("records audit = none, not 0.05"), "{error}");

    for bad in ["0", "-1", "x", "101%", "1000:7"] {
        let (_, error) = ends(folder.path(), 2, &["solve", "--layers", "4", &format!("--audit={bad}")]);
        let expected = format!("{bad:?} is not an audit: expected a share of the blocks like 1% or 0.01, all, or none");
        assert!(error.contains(&expected), "{error}");
    }
}

/// An audit of every position sees streams as they are, in any number of sessions; folder, report
/// and plan tell of it.
#[test]
fn an_audit_of_all_is_told_everywhere() {
    let folder = scratch();
    let out = folder.path().join("k6").display().to_string();
    let solve =
        ["solve", "-k", "6", "--block-bits", "9", "--keep", "counts", "--audit", "all", "--out", &out, "--json"];
    ends(folder.path(), 5, &[&solve[..], &["--commit-interval", "10ms", "--max-duration", "10ms"]].concat());
    let solved = json(folder.path(), 0, &["resume", &out, "--json"]);
    let [blocks, bits] = ["canonical_blocks", "offset_bits"].map(|name| solved[name].as_u64().unwrap());
    let expected = serde_json::json!({ "per_block": 1 << bits, "seed": 0, "positions": blocks << bits, "misses": 0 });
    assert_eq!(solved["audit"], expected);
    assert_eq!(solved["placement"], "shared");
    let (text, _) = ends(folder.path(), 0, &["stats", &out]);
    assert!(text.contains("every position compared with its children, 0 wrong\n"), "{text}");
    ends(folder.path(), 0, &["check", &out]);
    let (_, error) = ends(folder.path(), 7, &["solve", "-k", "6", "--audit", "9%", "--out", &out]);
    assert!(error.contains("records audit = all, not 0.09"), "{error}");
    let (_, error) = ends(folder.path(), 2, &["solve", "-k", "5", "--audit", "all", "--log-placement", "dedicated"]);
    assert!(error.contains("--audit all cannot be used with --log-placement dedicated: "), "{error}");

    // It belongs to the beginning of a solve.
    let middle = folder.path().join("middle");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/folders/blocks-middle"), &middle);
    let middle = middle.display().to_string();
    let solve = ["solve", "-k", "4", "--rule", "normal", "--out", &middle];
    let (_, error) = ends(folder.path(), 7, &[&solve[..], &["--audit", "all"]].concat());
    assert!(error.contains("records audit = none, not all\n"), "{error}");
    assert!(error.contains("trinim resume middle and check every position with trinim verify middle, or "), "{error}");
    ends(folder.path(), 0, &solve);
    ends(folder.path(), 0, &["verify", &middle]);

    let plan = ["plan", "-k", "8", "--threads", "2", "--memory", "1GiB", "--json"];
    let plan = |more: &[&str]| json(folder.path(), 0, &[&plan[..], more].concat());
    let [with, part, without] = [plan(&["--audit", "all"]), plan(&["--audit", "25%"]), plan(&[])];
    let of = |plan: &Value, name: &str| plan["memory"][name].as_u64().unwrap();
    // A bitmap of 16 MiB; that of few auditors is taken from the streams that are held.
    assert_eq!(of(&with, "worker_bytes"), of(&without, "worker_bytes") + (16 << 20));
    assert_eq!(of(&part, "worker_bytes"), of(&without, "worker_bytes"));
    assert_eq!(of(&part, "held_streams"), of(&without, "held_streams") - 1);
    assert!(of(&with, "held_streams") < of(&without, "held_streams"));
    // Each plan measures the speed of the machine.
    let audit =
        |plan: &Value| plan["placements"][0]["stages_s"]["audit"].as_f64().unwrap() * plan["speed"].as_f64().unwrap();
    assert!(audit(&without) == 0.0);
    let share = audit(&part) / audit(&with);
    assert!((share - 0.25).abs() < 0.01, "{share}");
}

/// Mended from its logs or alone, a folder still tells of its audit; a list that claims an audit of
/// another size is damage.
#[test]
fn a_repair_keeps_the_audit() {
    let folder = scratch();
    let out = folder.path().join("k5");
    let name = out.display().to_string();
    ends(folder.path(), 0, &["solve", "--layers", "5", "--audit", "30%", "--block-bits", "9", "--out", &name]);
    let manifest = out.join("db/manifest.json");
    let sound = fs::read(&manifest).unwrap();
    fs::remove_file(&manifest).unwrap();
    ends(folder.path(), 3, &["check", &name]);
    ends(folder.path(), 0, &["repair", &name]);
    assert_eq!(fs::read(&manifest).unwrap(), sound);

    let text = String::from_utf8(sound.clone()).unwrap();
    assert!(text.contains("\"misses\": 0"), "{text}");
    for (from, to) in [("\"misses\": 0", "\"misses\": 1"), ("\"per_block\": 512", "\"per_block\": 511")] {
        fs::write(&manifest, text.replace(from, to)).unwrap();
        let (_, error) = ends(folder.path(), 3, &["stats", &name]);
        assert!(error.contains("an audit that this game cannot have passed"), "{error}");
    }
}
