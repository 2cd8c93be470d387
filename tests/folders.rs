//! Golden run folders of every released format, partial and finished, clean and damaged: each
//! version must open, finish and refuse them as the first one did.
//!
//! `golden/folders/README.md` says how they were made. `damaged.tsv` lists damages and their
//! outcomes; `TRINIM_GOLDEN=write cargo test --test folders damaged` rewrites the last column.

mod common;

use common::{Solving, Way, assert_same_files, database_files, scratch};
use pipeline::Placement;
use pipeline::{Damage, Error};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use trinim::database::{Database, DatabaseError, Game, Keep};
use trinim::game::Rule;
use trinim::game::reference;
use trinim::solve::Solve;
use trinim::verify::{Depth, verify};

/// Name, rule, and the placement of the continuing session, which differs from that of the session
/// before.
const FOLDERS: [(&str, Rule, Placement); 3] = [
    ("middle-dedicated", Rule::Misere, Placement::Shared),
    ("middle-shared", Rule::Normal, Placement::Dedicated),
    ("finished", Rule::Misere, Placement::Dedicated),
];

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/folders")
}

/// Copies a golden folder to work on. The repository cannot hold its empty folders, so they are
/// created.
fn copy(name: &str) -> TempDir {
    let copy = scratch();
    for folder in ["m", "logs", "db", ""] {
        fs::create_dir_all(copy.path().join(folder)).unwrap();
        let Ok(entries) = fs::read_dir(golden().join(name).join(folder)) else { continue };
        for entry in entries.map(|entry| entry.unwrap()).filter(|entry| entry.path().is_file()) {
            fs::copy(entry.path(), copy.path().join(folder).join(entry.file_name())).unwrap();
        }
    }
    copy
}

fn game(rule: Rule) -> Game {
    Game::triangle(4, rule, 6).unwrap()
}

/// Continues with a folder through the real storage.
fn resume(folder: &Path, rule: Rule, placement: Placement) -> Result<(), Error> {
    let game = game(rule);
    let way = Way { placement, ..Way::usual() };
    game.solve_in(folder, way, &way.options(&game.layout), &|_| {}).map(|_| ())
}

fn expected(rule: Rule) -> BTreeMap<String, Vec<u8>> {
    database_files(game(rule).solve(Way::usual()).0.path())
}

#[test]
fn clean_folders_are_finished_with_the_same_bytes() {
    for (name, rule, placement) in FOLDERS {
        let folder = copy(name);
        let unfinished = fs::read_dir(folder.path().join("logs")).unwrap().count() > 0;
        assert_eq!(unfinished, name.starts_with("middle"), "{name}");
        assert_eq!(Database::open(folder.path()).is_err(), unfinished, "{name}");
        resume(folder.path(), rule, placement).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_same_files(&database_files(folder.path()), &expected(rule), name);
        let database = Database::open(folder.path()).unwrap();
        let report = verify(&database, Depth::Full, 1, &AtomicBool::new(false), &|_, _| ()).unwrap().unwrap();
        assert!(report.is_clean(), "{name}");
        let board = database.board();
        for (position, value) in (0..).zip(reference::values(board.cells(), board.moves(), rule)) {
            assert_eq!(database.value(position).unwrap(), value, "{name}: {position:#x}");
        }
    }
}

/// A manifest or `SUMS` damaged after the end of the solve once stayed damaged: a resumed solve
/// reported that all was done. Both follow from the blocks and the journal, so a resumed solve now
/// heals visible damage.
#[test]
fn a_finished_database_gets_its_manifest_and_sums_back() {
    let expected = expected(Rule::Misere);
    for damage in
        ["delete db/manifest.json", "flip db/manifest.json 9 1", "cut db/SUMS 695", "copy db/SUMS db/manifest.json"]
    {
        let folder = copy("finished");
        change(folder.path(), damage);
        resume(folder.path(), Rule::Misere, Placement::Shared).unwrap();
        assert_same_files(&database_files(folder.path()), &expected, damage);
    }
}

/// The folders that keep the counts: an unfinished one has logs and no published file, and a
/// finished one answers as the definition does.
#[test]
fn folders_of_counts_are_finished_with_the_same_bytes() {
    for (name, rule) in [("counts-middle", Rule::Normal), ("counts-finished", Rule::Misere)] {
        let (game, folder, new) = (game(rule), copy(name), scratch());
        let unfinished = fs::read_dir(folder.path().join("logs")).unwrap().count() > 0;
        assert_eq!(unfinished, name == "counts-middle", "{name}");
        assert_eq!(database_files(folder.path()).len(), if unfinished { 0 } else { 2 }, "{name}");
        // Whoever asks for the database is refused, and nothing changes.
        let refused = resume(folder.path(), rule, Placement::Dedicated);
        assert!(matches!(refused, Err(Error::Parameters { ref name, .. }) if name == "keep"), "{name}: {refused:?}");
        let solve = Solve::new(&game).keep(Keep::Counts).threads(1);
        solve.run(new.path()).unwrap();
        let finished = copy("counts-finished");
        if rule == Rule::Misere {
            assert_same_files(&database_files(finished.path()), &database_files(new.path()), name);
        }
        solve.run(folder.path()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_same_files(&database_files(folder.path()), &database_files(new.path()), name);
        let database = Database::open(folder.path()).unwrap();
        database.check_manifest().unwrap();
        let board = database.board();
        let values = reference::values(board.cells(), board.moves(), rule);
        for taken in board.moves().iter().chain([&0]) {
            let position = board.full() ^ taken;
            assert_eq!(database.value(position).unwrap(), values[position as usize], "{name}: {position:#x}");
        }
    }
}

/// Applies one change: `flip FILE BYTE BIT`, `cut FILE BYTES`, `delete FILE`, `copy FILE FILE`.
fn change(folder: &Path, what: &str) {
    let words: Vec<&str> = what.split(' ').collect();
    let path = folder.join(words[1]);
    let number = |index: usize| words[index].parse::<usize>().unwrap();
    match words[0] {
        "flip" => {
            let mut bytes = fs::read(&path).unwrap();
            bytes[number(2)] ^= 1 << number(3);
            fs::write(&path, bytes).unwrap();
        }
        "cut" => {
            let bytes = fs::read(&path).unwrap();
            assert!(bytes.len() > number(2), "{what}");
            fs::write(&path, &bytes[..number(2)]).unwrap();
        }
        "delete" => fs::remove_file(&path).unwrap(),
        "copy" => drop(fs::copy(&path, folder.join(words[2])).unwrap()),
        other => panic!("{other}"),
    }
}

/// Names the refused file, the offset and the kind of damage. The wording of the error is no
/// promise.
fn refused(stage: &str, folder: &Path, path: &Path, offset: Option<u64>, damage: &Damage) -> String {
    let path = path.strip_prefix(folder).unwrap_or(path).display();
    let place = offset.map_or_else(String::new, |offset| format!(" at byte {offset}"));
    format!("{stage}: {path}{place}: {}", damage.name())
}

/// Returns the outcome for a folder: the right result, or the first refusal.
fn outcome(folder: &Path, rule: Rule, placement: Placement, expected: &BTreeMap<String, Vec<u8>>) -> String {
    let of_database = |stage: &str, error: DatabaseError| match error {
        DatabaseError::Corrupt { path, offset, damage } => refused(stage, folder, &path, offset, &damage),
        other => panic!("{stage}: {other}"),
    };
    match resume(folder, rule, placement) {
        Err(Error::Corrupt { path, offset, damage }) => refused("resume", folder, &path, offset, &damage),
        Err(other) => panic!("resume: {other}"),
        Ok(()) if database_files(folder) == *expected => "right".to_string(),
        Ok(()) => match Database::open(folder) {
            Err(error) => of_database("open", error),
            Ok(database) => {
                let refused = (0..=database.board().full()).find_map(|position| database.value(position).err());
                refused.map_or("WRONG".to_string(), |error| of_database("probe", error))
            }
        },
    }
}

#[test]
fn damaged_folders_heal_or_are_refused_as_ever() {
    let path = golden().join("damaged.tsv");
    let list = fs::read_to_string(&path).unwrap();
    let results: BTreeMap<&str, _> = [("misere", expected(Rule::Misere)), ("normal", expected(Rule::Normal))].into();
    let mut found = String::new();
    let (mut healed, mut refused) = (0, 0);
    for line in list.lines() {
        let mut columns = line.split('\t');
        let (name, changes) = (columns.next().unwrap(), columns.next().unwrap());
        let (_, rule, placement) = FOLDERS.into_iter().find(|(folder, _, _)| *folder == name).unwrap();
        let folder = copy(name);
        changes.split("; ").for_each(|what| change(folder.path(), what));
        let outcome = outcome(folder.path(), rule, placement, &results[rule.name()]);
        *(if outcome == "right" { &mut healed } else { &mut refused }) += 1;
        assert_ne!(outcome, "WRONG", "{name}, {changes}");
        found.push_str(&format!("{name}\t{changes}\t{outcome}\n"));
    }
    if std::env::var_os("TRINIM_GOLDEN").is_some_and(|what| what == "write") {
        fs::write(&path, &found).unwrap();
    }
    for (found, listed) in found.lines().zip(fs::read_to_string(&path).unwrap().lines()) {
        assert_eq!(found, listed);
    }
    println!("{healed} healed, {refused} refused");
    assert!(healed > 10 && refused > 10);
}
