//! With one file damaged, every finding is about it: no check and no verification accuses another
//! file, block or position, whatever is kept, in a run and in its database alone.

use crate::common::{copy, database_files, scratch};
use std::fs;
use std::path::Path;
use trinim::Solve;
use trinim::care::{CareRequest, Depth, check};
use trinim::database::{Database, Game, Keep, MANIFEST, SUMS, Values, block_file_name};
use trinim::game::Rule;
use trinim::verify::{self, Finding, verify, verify_files};

/// The ways to damage a file: what is left of it.
fn damages(bytes: &[u8]) -> impl Iterator<Item = (String, Option<Vec<u8>>)> {
    let flipped = |at: usize| {
        let mut bad = bytes.to_vec();
        bad[at] ^= 1;
        (format!("byte {at} flipped"), Some(bad))
    };
    let places = [9, bytes.len() / 3, bytes.len() * 2 / 3, bytes.len() - 2].map(flipped);
    let cut = Some(bytes[..bytes.len() / 2].to_vec());
    [("deleted".to_owned(), None), ("cut".to_owned(), cut)].into_iter().chain(places)
}

/// Returns the findings of a verification that are about something else than a file.
fn others(folder: &Path, name: &str) -> Vec<String> {
    let is_other = |finding: &&Finding| match finding {
        Finding::File(finding) => finding.path.file_name().is_none_or(|found| found != name),
        Finding::Row { block, .. } if name != MANIFEST => block_file_name(pipeline::BlockId(*block)) != name,
        Finding::Unchecked { .. } => false,
        _ => name != MANIFEST,
    };
    let request = CareRequest::on(2);
    let Ok(database) = Database::open(folder) else {
        let report = verify_files(&folder.join("db"), &request).unwrap().unwrap();
        return report.findings.iter().filter(is_other).map(ToString::to_string).collect();
    };
    let depths = [
        verify::Depth::Checksums,
        verify::Depth::Sample { share: "50%".parse().unwrap(), seed: 3 },
        verify::Depth::Full,
    ];
    let reports = depths.map(|depth| verify(&database, depth, &request).unwrap().unwrap());
    reports.iter().flat_map(|report| &report.findings).filter(is_other).map(ToString::to_string).collect()
}

#[test]
fn one_damaged_file_accuses_no_other() {
    let mut cases = 0;
    for (keep, values) in [
        (Keep::Database, Values::Outcomes),
        (Keep::Database, Values::Nimbers),
        (Keep::Counts, Values::Outcomes),
        (Keep::Book { pieces: 7 }, Values::Outcomes),
    ] {
        let game = Game::triangle(5, Rule::Normal, 9).unwrap();
        let pristine = scratch();
        Solve::from(&game).values(values).keep(keep).threads(1).run(pristine.path()).unwrap();
        let files = database_files(pristine.path());
        let run = scratch();
        copy(pristine.path(), run.path());
        let alone = scratch();
        copy(&run.path().join("db"), &alone.path().join("db"));
        for (name, bytes) in &files {
            for (how, left) in damages(bytes) {
                for (place, folder) in [("in the run", run.path()), ("alone", alone.path())] {
                    // Without blocks and journal, nothing but SUMS confirms the others.
                    if place == "alone" && name == SUMS && !keep.is_database() {
                        continue;
                    }
                    let (db, story) = (folder.join("db"), format!("{keep}, {values}, {name} {how}, {place}"));
                    match &left {
                        Some(left) => fs::write(db.join(name), left).unwrap(),
                        None => fs::remove_file(db.join(name)).unwrap(),
                    }
                    for depth in [Depth::Metadata, Depth::Sums, Depth::Full] {
                        let report = check(folder, depth, &CareRequest::on(2)).unwrap();
                        let other = report.findings.iter().find(|finding| finding.path != db.join(name));
                        assert!(other.is_none(), "{story}, {depth:?}: {:?}", report.findings);
                    }
                    // Counts and books have no values, and a verification trusts SUMS.
                    if keep.is_database() && name != SUMS {
                        assert_eq!(others(folder, name), [""; 0], "{story}");
                    }
                    fs::write(db.join(name), bytes).unwrap();
                    cases += 1;
                }
            }
        }
        // A block whose checksum is right, and that cannot be read.
        let sums = fs::read_to_string(run.path().join("db").join(SUMS)).unwrap();
        for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with(".blk")) {
            let mut bad = bytes.clone();
            *bad.last_mut().unwrap() ^= 1;
            let [before, after] = [bytes, &bad].map(|bytes| blake3::hash(bytes).to_string());
            fs::write(run.path().join("db").join(name), &bad).unwrap();
            fs::write(run.path().join("db").join(SUMS), sums.replace(&before, &after)).unwrap();
            assert_eq!(others(run.path(), name), [""; 0], "{keep}, {values}, {name}");
            fs::write(run.path().join("db").join(name), bytes).unwrap();
            cases += 1;
        }
        fs::write(run.path().join("db").join(SUMS), sums).unwrap();
    }
    assert!(cases > 300, "{cases}");
}
