//! A check in shares.

use super::refusals::change;
use super::whole::{seal, store_in, work};
use crate::common::scratch;
use serde_json::Value;
use std::fs;
use std::path::Path;
use trinim::database::{Database, Game, SolveSpec};
use trinim::game::Rule;
use trinim::maintenance::Request;
use trinim::verify::{self, Depth, Share};
use trinim_task::{self as task, init};

/// All findings and figures of the shares of a check.
fn shares(folder: &Path, of: u32) -> (verify::Report, Vec<String>) {
    let store = store_in(folder, "v");
    let (game, terms) = task::open(&store).unwrap();
    let database = Database::open(folder).unwrap();
    let (mut sum, mut findings) = (verify::Report::default(), Vec::new());
    for index in 0..of {
        let counts = task::counts(&store, terms.spec(&game), index, of).unwrap();
        let share = Share { index, of, losses_by_pieces: &counts };
        let report = verify::verify_share(&database, &share, &Request::on(2)).unwrap().unwrap();
        sum.files += report.files;
        sum.file_bytes += report.file_bytes;
        sum.blocks += report.blocks;
        sum.positions += report.positions;
        sum.canonical_positions += report.canonical_positions;
        sum.differences += report.differences;
        findings.extend(report.findings.iter().map(ToString::to_string));
    }
    findings.sort();
    (sum, findings)
}

#[test]
fn the_shares_of_a_check_find_what_the_whole_check_finds() {
    let game = Game::triangle(6, Rule::Misere, 13).unwrap();
    let folder = scratch();
    let path = folder.path();
    let store = store_in(path, "w");
    init(&store, (&game).into()).unwrap();
    let blocks: Vec<u32> = (0..SolveSpec::from(&game).blocks()).collect();
    work(&store, &blocks, 2).unwrap();
    seal(&store).unwrap();
    let compare = |story: &str, clean: bool| {
        let database = Database::open(path).unwrap();
        let whole = verify::verify(&database, Depth::Full, &Request::on(2)).unwrap().unwrap();
        let mut expected: Vec<String> = whole.findings.iter().map(ToString::to_string).collect();
        expected.sort();
        assert_eq!(expected.is_empty(), clean, "{story}: {expected:?}");
        for of in [1, 3, 7, blocks.len() as u32 + 5] {
            let (sum, findings) = shares(path, of);
            assert_eq!(findings, expected, "{story}, {of} shares");
            let bare = verify::Report { findings: Vec::new(), damaged: false, ..whole.clone() };
            assert_eq!(sum, bare, "{story}, {of} shares");
        }
    };
    compare("intact", true);
    fs::write(path.join("db/foreign"), "x").unwrap();
    compare("a foreign file", true);
    fs::write(path.join("db/999999.blk"), "x").unwrap();
    compare("a block too many", false);
    fs::remove_file(path.join("db/999999.blk")).unwrap();
    // The last block has no targets, so all other blocks are still checked.
    let last = path.join(format!("db/{:06}.blk", blocks.len() - 1));
    let bytes = fs::read(&last).unwrap();
    change(&last, bytes.len() - 1);
    compare("a damaged block", false);
    fs::write(&last, &bytes).unwrap();
    compare("intact again", true);
    // A share without the damaged block accuses no sound file either.
    let first = path.join("db/000000.blk");
    fs::rename(&first, path.join("first")).unwrap();
    let database = Database::open(path).unwrap();
    let of = blocks.len() as u32;
    for index in 0..of {
        let counts = task::counts(&store, SolveSpec::from(&game), index, of).unwrap();
        let share = Share { index, of, losses_by_pieces: &counts };
        let report = verify::verify_share(&database, &share, &Request::on(1)).unwrap().unwrap();
        assert_eq!(report.is_clean(), report.findings.is_empty());
        assert_eq!(report.damaged, !report.findings.is_empty(), "{index}: {report:?}");
    }
    fs::rename(path.join("first"), &first).unwrap();
    // A wrong census with a correct sum.
    let manifest = path.join("db/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    let losses = |value: &Value, row: usize| value["by_pieces"][row]["losses"].as_u64().unwrap();
    let (one, other) = (losses(&value, 9), losses(&value, 10));
    value["by_pieces"][9]["losses"] = (one + 1).into();
    value["by_pieces"][10]["losses"] = (other - 1).into();
    fs::write(&manifest, serde_json::to_string_pretty(&value).unwrap()).unwrap();
    compare("another census", false);
    fs::write(&manifest, &text).unwrap();
    // A summary with other counts than its block.
    let (game, terms) = task::open(&store).unwrap();
    let mut counts = task::counts(&store, terms.spec(&game), 0, 2).unwrap();
    counts.entry(1).and_modify(|counts| counts[3] += 1);
    let database = Database::open(path).unwrap();
    let share = Share { index: 0, of: 2, losses_by_pieces: &counts };
    let report = verify::verify_share(&database, &share, &Request::on(1)).unwrap().unwrap();
    assert!(report.findings.iter().any(|finding| finding.to_string().contains("block 1 was counted")), "{report:?}");
}
