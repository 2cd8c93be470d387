//! Refusals with name and exit code, in `sessions`; nothing is changed.

use super::whole::{seal, solved, store_in, work};
use crate::common::program::{ends, outcome, trinim};
use crate::common::{assert_same_files, database_files, scratch};
use pipeline::Error as RunError;
use pipeline::storage::pass_on;
use processes::session::{self, Place};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use trinim::database::{Audit, Game, Keep, Terms};
use trinim::layout::Layout;
use trinim::{Board, Rule};
use trinim_task::store::{Begin, Temporary};
use trinim_task::{DEFINITION, Error, Store, init, open};

#[test]
fn sessions_are_those_of_the_program() {
    session::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions"), crate::PROGRAM, scratch);
}

/// The session on the page is what the program prints, and its other commands run as written there.
#[test]
fn the_page_shows_what_the_program_prints() {
    let (folder, page) = (scratch(), include_str!("../../README.md"));
    let place = Place { folder: folder.path(), program: crate::PROGRAM };
    assert_eq!(place.page(page, &[]), 1);
    let blocks = page.split("```\n").skip(3).step_by(2);
    let commands: Vec<&str> = blocks.flat_map(str::lines).filter(|line| line.starts_with("trinim-task ")).collect();
    assert_eq!(commands.len(), 4);
    for command in commands {
        let (code, out, error) = place.run(command.split("  ").next().unwrap_or_default());
        assert!(code == 0 && !out.is_empty(), "{command}: {code} {out}{error}");
    }
}

/// A summary that lacks a count, with a matching hash.
#[test]
fn a_summary_of_another_form_is_refused() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["init", "--store", "s", "-k", "3", "--bid-cells", "(0,0)"]);
    ends(path, 0, &["--store", "s", "--batch", "0,1"]);
    let summary = path.join("s/summaries/000001");
    let bytes = fs::read(&summary).unwrap();
    let content = &bytes[..bytes.len() - 16];
    let hash = xxhash_rust::xxh3::xxh3_64(content).to_le_bytes();
    fs::write(&summary, [content, &hash].concat()).unwrap();
    let (_, error) = ends(path, 65, &["finish", "--store", "s"]);
    assert!(error.contains("summaries of another form"), "{error}");
}

/// Whatever the store is called, a source that is late may come, and a folder that was lost because
/// it was empty is made again.
#[test]
fn a_store_may_have_any_name_and_lack_empty_folders() {
    let folder = scratch();
    let path = folder.path();
    for name in ["plain", "summaries"] {
        ends(path, 0, &["init", "--store", name, "-k", "4", "--block-bits", "6"]);
        for lost in ["db", "summaries", "tmp"] {
            fs::remove_dir(path.join(name).join(lost)).unwrap();
        }
        ends(path, 0, &["list", "--store", name]);
        ends(path, 0, &["sweep", "--store", name]);
        let (_, error) = ends(path, 75, &["--store", name, "--batch", "1", "--wait", "0s"]);
        assert!(error.contains("compute the source first"), "{error}");
        ends(path, 0, &["--store", name, "--batch", "0"]);
        ends(path, 0, &["--store", name, "--batch", "1"]);
    }
    ends(path, 0, &["--store", "plain", "--batch", "2,3,4,5,6,7"]);
    ends(path, 0, &["finish", "--store", "plain"]);
    let (_, error) = ends(path, 2, &["copy", "--store", "plain", "--to", "/dev/null/x"]);
    assert!(error.starts_with("error: /dev/null/x: Not a directory"), "{error}");
    let mut command = trinim(path, &["--store", "plain", "--batch", "-"]);
    let (code, _, error) = outcome(command.stdin(fs::File::open(path).unwrap()));
    assert!(code == 4 && error.contains("cannot read standard input: Is a directory"), "{code} {error}");
}

/// Changes one byte of a file.
pub fn change(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x20;
    fs::write(path, bytes).unwrap();
}

/// A store that another process begins between a look and a creation. Others announce each name
/// first and fail.
struct Late<S> {
    store: S,
    is_late: AtomicBool,
    is_settled: AtomicBool,
    announced: Mutex<BTreeMap<String, u32>>,
    announcements: u32,
}

impl<S> Late<S> {
    fn new(store: S, is_late: bool, announcements: u32) -> Late<S> {
        let is_settled = false.into();
        Late { store, is_late: is_late.into(), is_settled, announced: Mutex::default(), announcements }
    }
}

impl<S: Store> Store for Late<S> {
    pass_on! { self.store =>
        fn path(&self, name: &str) -> PathBuf;
        fn prepare(&self) -> Result<(), RunError>;
        fn begin(&self, name: &str, bytes: usize) -> Result<Option<Begin>, RunError>;
        fn list(&self, folder: &str) -> Result<Vec<(String, u64)>, RunError>;
        fn remove(&self, name: &str) -> Result<(), RunError>;
        fn temporaries(&self) -> Result<Vec<Temporary>, RunError>;
    }
    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, RunError> {
        let mut announced = self.announced.lock().unwrap();
        let times = announced.entry(name.to_owned()).or_default();
        *times += 1;
        if *times <= self.announcements { Ok(false) } else { self.store.create(name, bytes) }
    }
    fn read(&self, name: &str, most_bytes: u64) -> Result<Option<Vec<u8>>, RunError> {
        if self.is_late.swap(false, Ordering::Relaxed) { Ok(None) } else { self.store.read(name, most_bytes) }
    }
    fn sync(&self, folder: &str) -> Result<(), RunError> {
        self.is_settled.store(true, Ordering::Relaxed);
        self.store.sync(folder)
    }
}

/// A store that was begun earlier, or a moment ago, belongs to this solve or to another. An older
/// program may have ordered the bits of the blocks differently; its order stays.
#[test]
fn a_store_is_of_its_solve_whoever_began_it_and_when() {
    let board = Board::triangle(4, None).unwrap();
    let ours = Game::triangle(4, Rule::Misere, 6).unwrap();
    let cells: Vec<u8> = ours.layout.bid_cells().iter().rev().copied().collect();
    assert_ne!(cells, ours.layout.bid_cells());
    let turned = Game { layout: Layout::from_cells(&board, &cells).unwrap(), ..ours.clone() };
    let few = Board::triangle(4, Some(2)).unwrap();
    let few = Game { layout: Layout::from_cells(&few, ours.layout.bid_cells()).unwrap(), board: few, ..ours.clone() };
    let plain = Terms::default();
    for (begun, terms, differs) in [
        (&ours, &plain, None),
        (&turned, &plain, None),
        (&Game { rule: Rule::Normal, ..ours.clone() }, &plain, Some("rule")),
        (&Game { rule: Rule::Normal, ..turned.clone() }, &plain, Some("rule")),
        (&Game::triangle(4, Rule::Misere, 4).unwrap(), &plain, Some("bid_cells")),
        (&Game::triangle(5, Rule::Misere, 9).unwrap(), &plain, Some("layers")),
        (&few, &plain, Some("max_take")),
        (&turned, &Terms::from(Keep::Counts), Some("keep")),
        (&turned, &Terms { audit: Audit::All, ..Terms::default() }, Some("audit")),
    ] {
        for is_late in [false, true] {
            let story = format!("{differs:?}, late {is_late}");
            let folder = scratch();
            let store = store_in(folder.path(), "w");
            assert!(init(&store, terms.spec(begun)).unwrap(), "{story}");
            let before = store.read(DEFINITION, 1 << 20).unwrap();
            let late = Late::new(store, is_late, 0);
            match (init(&late, plain.spec(&ours)), differs) {
                (Ok(false), None) => assert!(late.is_settled.load(Ordering::Relaxed), "{story}"),
                (Err(Error::Differs { name, .. }), Some(differs)) => assert_eq!(name, differs, "{story}"),
                (found, _) => panic!("{story}: {found:?}"),
            }
            assert_eq!(late.read(DEFINITION, 1 << 20).unwrap(), before, "{story}");
            assert_eq!(open(&late).unwrap().0.layout.bid_cells(), begun.layout.bid_cells(), "{story}");
            if differs.is_none() {
                work(&late, &begun.layout.ordinals().map(|block| block.0).collect::<Vec<_>>(), 1).unwrap();
                seal(&late).unwrap();
                assert_same_files(&database_files(folder.path()), &solved(plain.spec(begun)), &story);
            }
        }
    }
}

/// The name may be taken by a creation that fails, or by a file that is removed: it is tried again.
#[test]
fn a_name_that_is_announced_but_not_there_is_created() {
    let game = Game::triangle(4, Rule::Misere, 6).unwrap();
    let folder = scratch();
    let store = Late::new(store_in(folder.path(), "w"), false, 2);
    init(&store, (&game).into()).unwrap();
    work(&store, &game.layout.ordinals().map(|block| block.0).collect::<Vec<_>>(), 1).unwrap();
    seal(&store).unwrap();
    assert_same_files(&database_files(folder.path()), &solved((&game).into()), "announced twice");
    // With a limit.
    let folder = scratch();
    let store = Late::new(store_in(folder.path(), "w"), false, u32::MAX);
    assert!(matches!(init(&store, (&game).into()), Err(Error::Run(RunError::Io { .. }))));
}
