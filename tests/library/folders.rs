//! Golden run folders, partial and finished, clean and damaged: each version of the program must
//! open, finish and refuse them as the first one did.
//!
//! `golden/folders/README.md` says how they were made. `damaged.tsv` lists damages and their
//! outcomes; `TRINIM_GOLDEN=write cargo test --test library folders::damaged` rewrites the last
//! column.

use crate::common::{Way, assert_same_files, database_files, scratch};
use pipeline::{Damage, Error, Metrics, Placement, RealStorage, Storage};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use trinim::Solve;
use trinim::database::{Database, DatabaseError, Game, Keep, Manifest, Terms};
use trinim::game::Rule;
use trinim::game::reference;
use trinim::layout::Layout;
use trinim::maintenance::{Repair, Request};
use trinim::solve::solve;
use trinim::verify::{Depth, verify};
use xxhash_rust::xxh3::xxh3_64;

const BOOK: Keep = Keep::Book { pieces: 5 };

/// Name, rule, what is kept, and the placement of the continuing session, which differs from that
/// of the session before.
const FOLDERS: [(&str, Rule, Keep, Placement); 7] = [
    ("middle-dedicated", Rule::Misere, Keep::Database, Placement::Shared),
    ("blocks-middle", Rule::Normal, Keep::Database, Placement::Dedicated),
    ("counts-middle", Rule::Normal, Keep::Counts, Placement::Dedicated),
    ("book-middle", Rule::Normal, BOOK, Placement::Dedicated),
    ("finished", Rule::Misere, Keep::Database, Placement::Shared),
    ("counts-finished", Rule::Misere, Keep::Counts, Placement::Shared),
    ("book-finished", Rule::Misere, BOOK, Placement::Shared),
];

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/folders")
}

/// Copies a golden folder to work on. The repository cannot hold its empty folders, so they are
/// created.
pub fn copy(name: &str) -> TempDir {
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

/// The game of the folders, whose BID bits follow the indices of their cells: they were begun
/// before there was another order.
fn game(rule: Rule) -> Game {
    let Game { board, layout, .. } = today(rule);
    let mut cells = layout.bid_cells().to_vec();
    cells.sort_unstable();
    assert_ne!(cells, layout.bid_cells());
    Game { layout: Layout::from_cells(&board, &cells).unwrap(), board, rule }
}

/// The same game as solves begin it.
fn today(rule: Rule) -> Game {
    Game::triangle(4, rule, 6).unwrap()
}

/// Continues with a folder through the real storage, or begins one.
pub fn resume(folder: &Path, rule: Rule, keep: Keep, placement: Placement) -> Result<(), Error> {
    let game = game(rule);
    let way = Way { placement, ..Way::usual() };
    let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(folder)?.with_syncs(false));
    let (spec, options) = (Terms::from(keep).spec(&game), way.options(&game.layout));
    solve(spec, way.kernel, &storage, &options, &Metrics::default(), &|_| {}).map(|_| ())
}

pub fn expected(rule: Rule, keep: Keep) -> BTreeMap<String, Vec<u8>> {
    let folder = scratch();
    resume(folder.path(), rule, keep, Placement::Dedicated).unwrap();
    database_files(folder.path())
}

/// An unfinished folder has logs, or blocks in their place, and no lists. A finished one has the
/// bytes of any solve and answers as the definition does.
#[test]
fn clean_folders_are_finished_with_the_same_bytes() {
    for (name, rule, keep, placement) in FOLDERS {
        let folder = copy(name);
        let before = database_files(folder.path());
        let unfinished = !before.contains_key("SUMS");
        assert_eq!(unfinished, name.contains("middle"), "{name}");
        let has_logs = fs::read_dir(folder.path().join("logs")).unwrap().count() > 0;
        assert_eq!(has_logs, unfinished && name != "blocks-middle", "{name}");
        let ending = if keep.is_database() { ".blk" } else { ".part" };
        assert!(!unfinished || before.keys().all(|file| file.ends_with(ending)), "{name}");
        assert_eq!(Database::open(folder.path()).is_err(), unfinished, "{name}");
        // A request for something else is refused, and nothing changes.
        let other = if keep.is_database() { Keep::Counts } else { Keep::Database };
        let refused = resume(folder.path(), rule, other, placement);
        assert!(matches!(refused, Err(Error::Parameters { ref name, .. }) if name == "keep"), "{name}: {refused:?}");
        assert_same_files(&database_files(folder.path()), &before, name);

        resume(folder.path(), rule, keep, placement).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_same_files(&database_files(folder.path()), &expected(rule, keep), name);
        // A solve with these cells continues with the bits that the folder gives to them.
        let other = copy(name);
        Solve::from(&today(rule)).keep(keep).run(other.path()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_same_files(&database_files(other.path()), &expected(rule, keep), name);
        let database = Database::open(folder.path()).unwrap();
        database.check_manifest().unwrap();
        if keep.is_database() {
            let report = verify(&database, Depth::Full, &Request::on(1)).unwrap().unwrap();
            assert!(report.is_clean(), "{name}");
        }
        let board = database.board();
        let values = reference::values(board.cells(), board.moves(), rule);
        let is_known = |position: &u64| {
            let taken = board.full() ^ position;
            let is_early = taken == 0 || board.moves().contains(&taken);
            keep.is_database() || is_early || (keep == BOOK && position.count_ones() >= 5)
        };
        for position in (0..=board.full()).filter(is_known) {
            assert_eq!(database.value(position).unwrap(), values[position as usize], "{name}: {position:#x}");
        }
    }
}

/// Regression: a resumed solve repairs a manifest or `SUMS` that was damaged after the end of the
/// solve, because both follow from the blocks and the journal.
#[test]
fn a_finished_database_gets_its_manifest_and_sums_back() {
    let expected = expected(Rule::Misere, Keep::Database);
    for damage in
        ["delete db/manifest.json", "flip db/manifest.json 9 1", "cut db/SUMS 695", "copy db/SUMS db/manifest.json"]
    {
        let folder = copy("finished");
        change(folder.path(), damage);
        resume(folder.path(), Rule::Misere, Keep::Database, Placement::Shared).unwrap();
        assert_same_files(&database_files(folder.path()), &expected, damage);
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
fn outcome(
    folder: &Path,
    rule: Rule,
    keep: Keep,
    placement: Placement,
    expected: &BTreeMap<String, Vec<u8>>,
) -> String {
    let of_database = |stage: &str, error: DatabaseError| match error {
        DatabaseError::Corrupt { path, offset, damage } => refused(stage, folder, &path, offset, &damage),
        other => panic!("{stage}: {other}"),
    };
    match resume(folder, rule, keep, placement) {
        Err(Error::Corrupt { path, offset, damage }) => refused("resume", folder, &path, offset, &damage),
        Err(other) => panic!("resume: {other}"),
        Ok(()) if database_files(folder) == *expected => "right".to_string(),
        Ok(()) => match Database::open(folder) {
            Err(error) => of_database("open", error),
            Ok(database) => {
                let failed = |position| database.value(position).err();
                let not_kept = |error: &DatabaseError| matches!(error, DatabaseError::NotKept { .. });
                let refused = (0..=database.board().full()).filter_map(failed).find(|error| !not_kept(error));
                refused.map_or("WRONG".to_string(), |error| of_database("probe", error))
            }
        },
    }
}

#[test]
fn damaged_folders_heal_or_are_refused_as_ever() {
    let path = golden().join("damaged.tsv");
    let list = fs::read_to_string(&path).unwrap();
    let results = FOLDERS.map(|(name, rule, keep, _)| (name, expected(rule, keep)));
    let mut found = String::new();
    let (mut healed, mut refused) = (0, 0);
    for line in list.lines() {
        let mut columns = line.split('\t');
        let (name, changes) = (columns.next().unwrap(), columns.next().unwrap());
        let (_, rule, keep, placement) = FOLDERS.into_iter().find(|folder| folder.0 == name).unwrap();
        let result = results.iter().find(|(of, _)| *of == name).unwrap();
        let folder = copy(name);
        changes.split("; ").for_each(|what| change(folder.path(), what));
        let outcome = outcome(folder.path(), rule, keep, placement, &result.1);
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

/// Every published file and list of every folder, damaged in turn, gets its bytes back: in the run,
/// and in a copy of a finished `db` folder alone.
#[test]
fn a_repair_restores_the_bytes_of_the_folder() {
    let mend = |folder: &Path| {
        Repair::prepare(folder, false, &Request::on(1)).and_then(|repair| repair.carry_out(&Request::on(1)))
    };
    let mut mended = 0;
    for (name, ..) in FOLDERS.into_iter().filter(|(_, _, keep, _)| keep.is_database()) {
        let folder = copy(name);
        // First whatever the kill left over.
        mend(folder.path()).unwrap();
        let before = database_files(folder.path());
        let mut places = vec![folder.path().to_path_buf()];
        let alone = scratch();
        if name.ends_with("finished") {
            fs::create_dir(alone.path().join("db")).unwrap();
            for (file, bytes) in &before {
                fs::write(alone.path().join("db").join(file), bytes).unwrap();
            }
            places.push(alone.path().to_path_buf());
        }
        for place in places {
            for file in before.keys() {
                for way in [format!("flip db/{file} 70 3"), format!("cut db/{file} 50"), format!("delete db/{file}")] {
                    if file == "manifest.json" && place == alone.path() {
                        continue; // It has no second source there.
                    }
                    change(&place, &way);
                    mend(&place).unwrap_or_else(|error| panic!("{name}: {way}: {error}"));
                    assert_same_files(&database_files(&place), &before, &format!("{name}: {way}"));
                    mended += 1;
                }
            }
        }
    }
    assert!(mended > 60, "{mended}");
}

/// A block of another version is refused by its number, also if its hashes are right.
#[test]
fn a_block_of_another_version_is_refused() {
    let folder = copy("finished");
    let path = folder.path().join("db/000003.blk");
    let mut block = fs::read(&path).unwrap();
    block[8] = 2;
    let hash = xxh3_64(&block[..56]);
    block[56..64].copy_from_slice(&hash.to_le_bytes());
    fs::write(&path, block).unwrap();
    let database = Database::open(folder.path()).unwrap();
    let refused = (0..=database.board().full()).filter_map(|position| database.value(position).err()).next();
    assert!(matches!(refused, Some(DatabaseError::Version { found: 2, supported: 1, .. })), "{refused:?}");
}

/// Another version is refused with both versions, in every form that a manifest had.
#[test]
fn other_versions_are_refused_by_number() {
    let old = golden().join("unreleased");
    let parse = |text: &str| Manifest::parse(Path::new("x"), text.as_bytes()).map(drop);
    let refused = [
        (Database::open(&old).map(drop), 0),
        (parse(r#"{"format": "trinim-database", "version": 5}"#), 0),
        (parse(r#"{"schema": "trinim.database/2"}"#), 2),
    ];
    for (refused, version) in refused {
        let error = refused.unwrap_err();
        assert!(matches!(error, DatabaseError::Version { found, supported: 1, .. } if found == version), "{error}");
    }
    let error = Solve::from(&game(Rule::Misere)).threads(1).run(&old).err().unwrap();
    assert!(error.to_string().contains("records database = (absent), not 1"), "{error}");
}
