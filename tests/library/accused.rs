//! With one file damaged, every finding is about it: no check and no verification accuses another
//! file, block or position, whatever is kept, in a run and in its database alone.

use crate::common::{Stopping, Way, copy, database_files, scratch, tree};
use pipeline::{Placement, RealStorage, Run};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trinim::Solve;
use trinim::database::{Database, Game, Keep, MANIFEST, SUMS, Values, block_file_name};
use trinim::game::Rule;
use trinim::maintenance::{self, Depth, Estimate, Repair, Request, check};
use trinim::solve::RemovalGame;
use trinim::verify::{self, Finding, verify, verify_files};

const DEPTHS: [Depth; 3] = [Depth::Metadata, Depth::Sums, Depth::Full];

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
    let request = Request::on(2);
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

/// Asserts that what every check and a repair find is about these files, and that they are planned
/// for alone.
fn accuses_only(folder: &Path, depths: &[Depth], files: &[PathBuf], story: &str) {
    for &depth in depths {
        let report = check(folder, depth, &Request::on(2)).unwrap_or_else(|error| panic!("{story}: {error}"));
        let other = report.findings.iter().find(|finding| !files.contains(&finding.path));
        assert!(other.is_none(), "{story}, {depth:?}: {:?}", report.findings);
    }
    match Repair::prepare(folder, true, &Request::on(2)) {
        Ok(repair) => {
            assert!(repair.report().findings.iter().all(|finding| files.contains(&finding.path)), "{story}");
            let Estimate { blocks, log_entries, manifest, sums, .. } = *repair.estimate();
            let is_there = |end: &str| files.iter().any(|file| file.to_string_lossy().ends_with(end));
            assert!(blocks == 0 || is_there(".blk"), "{story}: {blocks} blocks are computed again");
            assert!(log_entries == 0 || files.iter().any(|file| file.starts_with(folder.join("logs"))), "{story}");
            let lists = is_there(MANIFEST) || is_there(SUMS);
            assert!(lists || !(manifest || sums), "{story}: the lists are written again");
        }
        Err(maintenance::Error::Irreparable { path, .. }) => {
            assert!(files.contains(&path), "{story}: {}", path.display())
        }
        Err(other) => panic!("{story}: {other}"),
    }
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
        for folder in [run.path(), alone.path()] {
            accuses_only(folder, &DEPTHS, &[], &format!("{keep}, {values}, nothing damaged"));
        }
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
                    accuses_only(folder, &DEPTHS, &[db.join(name)], &story);
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

/// Every file of a run that was stopped, with logs, and of one that is finished.
#[test]
fn one_damaged_file_of_a_run_accuses_no_other() {
    let game = Game::triangle(4, Rule::Misere, 6).unwrap();
    for placement in [Some(Placement::Shared), Some(Placement::Dedicated), None] {
        let folder = scratch();
        match placement {
            None => drop(Solve::from(&game).threads(1).run(folder.path()).unwrap()),
            Some(placement) => {
                let way = Way { placement, threads: 1, ..Way::usual() };
                let options = way.options(&game.layout);
                let workload = Stopping::new(RemovalGame::new(&game, way.kernel), 5, &options);
                let storage = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
                assert!(Run::new(&workload, storage).options(&options).start().is_err());
            }
        }
        for (file, bytes) in tree(folder.path()).into_iter().filter(|(_, bytes)| bytes.len() > 30) {
            for (how, left) in damages(&bytes) {
                match left {
                    Some(left) => fs::write(&file, left).unwrap(),
                    None => fs::remove_file(&file).unwrap(),
                }
                let story = format!("{placement:?}, {} {how}", file.display());
                accuses_only(folder.path(), &DEPTHS, std::slice::from_ref(&file), &story);
                fs::write(&file, &bytes).unwrap();
            }
        }
    }
}

/// A list and a block: what is wrong with one does not hide the other, or end the check.
#[test]
fn two_damaged_files_accuse_no_third() {
    let game = Game::triangle(4, Rule::Normal, 6).unwrap();
    let run = scratch();
    Solve::from(&game).threads(1).run(run.path()).unwrap();
    let alone = scratch();
    copy(&run.path().join("db"), alone.path());
    let files = database_files(run.path());
    let manifest = alone.path().join(MANIFEST);
    for list in [MANIFEST, SUMS] {
        for block in files.keys().filter(|name| name.ends_with(".blk")) {
            for (how, left) in damages(&files[list]) {
                let paths = [list, block].map(|name| alone.path().join(name));
                fs::remove_file(&paths[0]).unwrap();
                left.into_iter().for_each(|left| fs::write(&paths[0], left).unwrap());
                for (worse, left) in damages(&files[block]) {
                    fs::remove_file(&paths[1]).unwrap();
                    left.into_iter().for_each(|left| fs::write(&paths[1], left).unwrap());
                    // Without the block, nothing confirms the manifest in place of SUMS.
                    let accused = [&paths[..], std::slice::from_ref(&manifest)].concat();
                    accuses_only(alone.path(), &DEPTHS, &accused, &format!("{list} {how}, {block} {worse}"));
                    fs::write(&paths[1], &files[block]).unwrap();
                }
                fs::write(&paths[0], &files[list]).unwrap();
            }
        }
    }
}
