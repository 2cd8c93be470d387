//! Golden run folders of every released format, partial and finished, clean and damaged: each
//! version must open, finish and refuse them as the first one did.
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
use trinim::care::{self, Repair, Request, check};
use trinim::database::{Counting, Database, DatabaseError, Encoding, Game, Keep, Terms};
use trinim::game::Rule;
use trinim::game::reference;
use trinim::solve::{Solve, solve};
use trinim::verify::{Depth, verify};

/// Name, rule, encoding, and the placement of the continuing session, which differs from that of
/// the session before.
const FOLDERS: [(&str, Rule, Encoding, Placement); 7] = [
    ("middle-dedicated", Rule::Misere, Encoding::Words, Placement::Shared),
    ("middle-shared", Rule::Normal, Encoding::Words, Placement::Dedicated),
    ("finished", Rule::Misere, Encoding::Words, Placement::Dedicated),
    ("rows-middle-dedicated", Rule::Misere, Encoding::Rows, Placement::Shared),
    ("rows-middle-shared", Rule::Normal, Encoding::Rows, Placement::Dedicated),
    ("blocks-middle", Rule::Normal, Encoding::Rows, Placement::Shared),
    ("rows-finished", Rule::Misere, Encoding::Rows, Placement::Dedicated),
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

/// Continues with a folder through the real storage, or begins one.
fn resume(folder: &Path, rule: Rule, encoding: Encoding, placement: Placement) -> Result<(), Error> {
    resume_on(Terms { encoding, ..Terms::default() }, folder, rule, placement)
}

fn resume_on(terms: Terms, folder: &Path, rule: Rule, placement: Placement) -> Result<(), Error> {
    let game = game(rule);
    let way = Way { placement, ..Way::usual() };
    let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(folder)?.with_syncs(false));
    let (task, options) = (terms.task(&game), way.options(&game.layout));
    solve(task, way.kernel, &storage, &options, &Metrics::default(), &|_| {}).map(|_| ())
}

fn expected(rule: Rule, encoding: Encoding) -> BTreeMap<String, Vec<u8>> {
    let folder = scratch();
    resume(folder.path(), rule, encoding, Placement::Dedicated).unwrap();
    database_files(folder.path())
}

#[test]
fn clean_folders_are_finished_with_the_same_bytes() {
    for (name, rule, encoding, placement) in FOLDERS {
        let folder = copy(name);
        let unfinished = !folder.path().join("db/SUMS").exists();
        assert_eq!(unfinished, name.contains("middle"), "{name}");
        let has_logs = fs::read_dir(folder.path().join("logs")).unwrap().count() > 0;
        assert_eq!(has_logs, unfinished && name != "blocks-middle", "{name}");
        assert_eq!(Database::open(folder.path()).is_err(), unfinished, "{name}");
        resume(folder.path(), rule, encoding, placement).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_same_files(&database_files(folder.path()), &expected(rule, encoding), name);
        let database = Database::open(folder.path()).unwrap();
        let report = verify(&database, Depth::Full, &Request::on(1)).unwrap().unwrap();
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
    let expected = expected(Rule::Misere, Encoding::Words);
    for damage in
        ["delete db/manifest.json", "flip db/manifest.json 9 1", "cut db/SUMS 695", "copy db/SUMS db/manifest.json"]
    {
        let folder = copy("finished");
        change(folder.path(), damage);
        resume(folder.path(), Rule::Misere, Encoding::Words, Placement::Shared).unwrap();
        assert_same_files(&database_files(folder.path()), &expected, damage);
    }
}

/// The folders that keep counts or a book: an unfinished one has logs and no lists, and a finished
/// one answers as the definition does. Those of an older program count no layers to the end.
#[test]
fn folders_of_counts_and_books_are_finished_with_the_same_bytes() {
    let (counts, book) = (Keep::Counts, Keep::Book { pieces: 5 });
    for (name, rule, keep, counting) in [
        ("counts-middle", Rule::Normal, counts, Counting::Pieces),
        ("counts-finished", Rule::Misere, counts, Counting::Pieces),
        ("book-middle", Rule::Normal, book, Counting::Layers),
        ("book-finished", Rule::Misere, book, Counting::Layers),
    ] {
        let (game, folder, new) = (game(rule), copy(name), scratch());
        let unfinished = fs::read_dir(folder.path().join("logs")).unwrap().count() > 0;
        assert_eq!(unfinished, name.ends_with("middle"), "{name}");
        let files = database_files(folder.path());
        assert_eq!(files.contains_key("SUMS"), !unfinished, "{name}");
        assert!(!unfinished || files.keys().all(|file| file.ends_with(".part")), "{name}");
        // A request for the database is refused, and nothing changes.
        let refused = resume(folder.path(), rule, Encoding::Words, Placement::Dedicated);
        let differs = if counting == Counting::Layers { "counting" } else { "keep" };
        assert!(matches!(refused, Err(Error::Parameters { ref name, .. }) if name == differs), "{name}: {refused:?}");
        let terms = Terms { counting, ..keep.into() };
        resume_on(terms, new.path(), rule, Placement::Dedicated).unwrap();
        if !unfinished {
            assert_same_files(&files, &database_files(new.path()), name);
        }
        // The folder says what is counted.
        let solve = Solve::new(&game).keep(keep).threads(1);
        solve.run(folder.path()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_same_files(&database_files(folder.path()), &database_files(new.path()), name);
        let database = Database::open(folder.path()).unwrap();
        database.check_manifest().unwrap();
        assert_eq!(database.manifest().by_layers.is_some(), counting == Counting::Layers, "{name}");
        let board = database.board();
        let values = reference::values(board.cells(), board.moves(), rule);
        let is_known = |position: &u64| {
            let taken = board.full() ^ position;
            taken == 0 || board.moves().contains(&taken) || (keep == book && position.count_ones() >= 5)
        };
        for position in (0..=board.full()).filter(is_known) {
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
fn outcome(
    folder: &Path,
    rule: Rule,
    encoding: Encoding,
    placement: Placement,
    expected: &BTreeMap<String, Vec<u8>>,
) -> String {
    let of_database = |stage: &str, error: DatabaseError| match error {
        DatabaseError::Corrupt { path, offset, damage } => refused(stage, folder, &path, offset, &damage),
        other => panic!("{stage}: {other}"),
    };
    match resume(folder, rule, encoding, placement) {
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
    let results = [Encoding::Words, Encoding::Rows]
        .map(|encoding| [Rule::Misere, Rule::Normal].map(|rule| ((rule, encoding), expected(rule, encoding))));
    let mut found = String::new();
    let (mut healed, mut refused) = (0, 0);
    for line in list.lines() {
        let mut columns = line.split('\t');
        let (name, changes) = (columns.next().unwrap(), columns.next().unwrap());
        let (_, rule, encoding, placement) = FOLDERS.into_iter().find(|folder| folder.0 == name).unwrap();
        let result = results.iter().flatten().find(|(of, _)| *of == (rule, encoding)).unwrap();
        let folder = copy(name);
        changes.split("; ").for_each(|what| change(folder.path(), what));
        let outcome = outcome(folder.path(), rule, encoding, placement, &result.1);
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
/// and in a copy of a finished `db` folder alone. Old blocks come back in their old encoding.
#[test]
fn a_repair_restores_the_encoding_of_the_folder() {
    let mend = |folder: &Path| {
        Repair::prepare(folder, false, &Request::on(1)).and_then(|repair| repair.carry_out(&Request::on(1)))
    };
    let mut mended = 0;
    for (name, ..) in FOLDERS {
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
    assert!(mended > 100, "{mended}");
}

/// A sound block in the other encoding is damage: its file has not the bytes of the solve. So are
/// blocks of version 1 under a manifest of version 3 when nothing else is wrong.
#[test]
fn encodings_do_not_mix() {
    for (name, other) in [("finished", "rows-finished"), ("rows-finished", "finished")] {
        let folder = copy(name);
        let before = database_files(folder.path());
        fs::remove_dir_all(folder.path().join("m")).unwrap();
        fs::remove_file(folder.path().join("FORMAT")).unwrap();
        let block = "db/000003.blk";
        fs::copy(copy(other).path().join(block), folder.path().join(block)).unwrap();
        // As if it were meant: `SUMS` has the line of the other file.
        let line = |bytes: &[u8]| format!("{}  000003.blk", blake3::hash(bytes).to_hex());
        let sums = String::from_utf8(before["SUMS"].clone()).unwrap();
        let sums = sums.replace(&line(&before["000003.blk"]), &line(&fs::read(folder.path().join(block)).unwrap()));
        fs::write(folder.path().join("db/SUMS"), sums).unwrap();
        let report = check(folder.path(), care::Depth::Full, &Request::on(1)).unwrap();
        let found: Vec<_> = report.findings.iter().map(|finding| (finding.path.clone(), finding.offset)).collect();
        assert_eq!(found, [(folder.path().join(block), Some(8))], "{name}");
        let database = Database::open(folder.path()).unwrap();
        let refused = (0..=database.board().full()).filter_map(|position| database.value(position).err()).next();
        assert!(matches!(refused, Some(DatabaseError::Corrupt { offset: Some(8), .. })), "{name}: {refused:?}");
    }
}

/// The library continues an old folder although nobody names its encoding; so does the program
/// (`cli.rs`). Whoever names the other one is refused.
#[test]
fn an_old_folder_is_continued_without_naming_its_encoding() {
    for (name, rule, encoding, _) in FOLDERS.into_iter().filter(|(name, ..)| name.contains("middle")) {
        let folder = copy(name);
        Solve::new(&game(rule)).threads(1).run(folder.path()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_same_files(&database_files(folder.path()), &expected(rule, encoding), name);
        let other = if encoding == Encoding::Words { Encoding::Rows } else { Encoding::Words };
        let refused = resume(copy(name).path(), rule, other, Placement::Dedicated);
        assert!(matches!(refused, Err(Error::Parameters { ref name, .. }) if name == "encoding"), "{refused:?}");
    }
}
