//! The verifier against databases that are right, damaged, and consistently wrong. One long file:
//! the ways to be wrong share one way to make a database.

use crate::common::{Solving, Way};
use pipeline::{BlockId, Placement};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tempfile::TempDir;
use trinim::database::{BlockForm, Database, Game, MANIFEST, Manifest, SUMS, block_file_name};
use trinim::database::{BlockSummary, stream_digest};
use trinim::game::Rule;
use trinim::game::Value;
use trinim::game::position;
use trinim::game::{Board, Cell};
use trinim::kernel::bitmap_words;
use trinim::layout::Layout;
use trinim::maintenance::Request;
use trinim::verify::{Depth, Finding, Report, verify, verify_files};

fn sample(share: &str, seed: u64) -> Depth {
    Depth::Sample { share: share.parse().unwrap(), seed }
}

fn depths() -> [Depth; 4] {
    [Depth::Checksums, sample("1e-9", 1), sample("40%", 2), Depth::Full]
}

/// A database in a temporary folder.
struct Solved {
    folder: TempDir,
    game: Game,
}

/// Returns the cells with these indices and all their images.
fn closure(board: &Board, cells: &[u32]) -> Vec<u32> {
    let mask = cells
        .iter()
        .fold(0, |mask, cell| board.symmetries().iter().fold(mask, |mask, symmetry| mask | symmetry.apply(1 << cell)));
    (0..board.cells()).filter(|cell| mask >> cell & 1 == 1).collect()
}

fn solved(layers: u32, max_take: Option<u32>, rule: Rule, bid_cells: &[u32]) -> Solved {
    let board = Board::triangle(layers, max_take).unwrap();
    let cells: Vec<Cell> = bid_cells.iter().copied().map(Cell::from_index).collect();
    let layout = Layout::new(&board, &cells).unwrap();
    let game = Game { board, rule, layout };
    let (folder, _) = game.solve(Way { threads: 1, placement: Placement::Shared, ..Way::usual() });
    Solved { folder, game }
}

impl Solved {
    fn db(&self) -> PathBuf {
        self.folder.path().join("db")
    }

    fn open(&self) -> Database {
        Database::open(self.folder.path()).unwrap()
    }

    fn check(&self, depth: Depth) -> Report {
        check(&self.open(), depth, 1)
    }

    fn streams(&self) -> Vec<Vec<u64>> {
        let database = self.open();
        let words = bitmap_words(self.game.layout.offset_bits());
        let read = |block| {
            let mut stream = vec![0; words];
            database.bitmap(block, &mut stream).unwrap();
            stream
        };
        self.game.layout.ordinals().map(read).collect()
    }

    /// Writes a block file with this content, and updates `SUMS`.
    fn rewrite(&self, ordinal: u32, stream: &[u64]) {
        let file = BlockForm::new(&self.game).file(BlockId(ordinal), stream);
        fs::write(self.db().join(block_file_name(BlockId(ordinal))), file).unwrap();
        resum(&self.db());
    }

    /// Writes the manifest that a solver would write for these streams, and updates `SUMS`.
    fn rewrite_manifest(&self, streams: &[Vec<u64>]) {
        let positions = 1_u64 << self.game.layout.offset_bits();
        let summarise = |stream: &Vec<u64>| {
            let mut losses_by_pieces = vec![0; self.game.layout.offset_bits() as usize + 1];
            for x in (0..positions).filter(|x| bit(stream, *x)) {
                losses_by_pieces[x.count_ones() as usize] += 1;
            }
            BlockSummary {
                losses_by_pieces,
                digest: stream_digest(stream),
                by_layers: Vec::new(),
                by_plane: Vec::new(),
                after_first_moves: Vec::new(),
            }
        };
        let summaries: Vec<BlockSummary> = streams.iter().map(summarise).collect();
        let lying =
            Manifest::from_summaries((&self.game).into(), summaries.iter().map(BlockSummary::to_bytes)).unwrap();
        fs::write(self.db().join(MANIFEST), lying.to_json()).unwrap();
        resum(&self.db());
    }

    /// Returns the positions of canonical blocks, as text, whose stored value contradicts the
    /// stored values of their children.
    fn contradictions(&self, streams: &[Vec<u64>]) -> BTreeSet<String> {
        let stored = |position| {
            let (bid, offset) = self.game.layout.split(position);
            let (ordinal, symmetry) = self.game.layout.canonical(bid);
            let back = &self.game.layout.symmetries()[self.game.layout.symmetries()[symmetry].inverse()];
            bit(&streams[ordinal.index()], back.map_offset(offset))
        };
        let wrong = |position: &u64| {
            let mut legal = self.game.board.moves().iter().filter(|taken| position & *taken == **taken);
            let loss = match position {
                0 => self.game.rule.empty() == Value::Loss,
                _ => !legal.any(|taken| stored(position ^ taken)),
            };
            stored(*position) != loss
        };
        let is_canonical =
            |position: &u64| self.game.layout.canonical_blocks().contains(&self.game.layout.split(*position).0);
        let positions = (0..=self.game.board.full()).filter(is_canonical).filter(wrong);
        positions.map(|position| position::rows(&self.game.board, position)).collect()
    }
}

fn bit(stream: &[u64], index: u64) -> bool {
    stream[index as usize / 64] >> (index % 64) & 1 == 1
}

fn check(database: &Database, depth: Depth, threads: usize) -> Report {
    verify(database, depth, &Request::on(threads)).unwrap().unwrap()
}

/// Rewrites `SUMS` for the files in the folder.
fn resum(db: &Path) {
    let mut names: Vec<String> = names(db);
    names.retain(|name| name != SUMS);
    let line = |name: &String| format!("{}  {name}\n", blake3::hash(&fs::read(db.join(name)).unwrap()));
    fs::write(db.join(SUMS), names.iter().map(line).collect::<String>()).unwrap();
}

fn names(db: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(db).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the rows of every position that the report lists.
fn listed(report: &Report) -> BTreeSet<String> {
    let rows = |text: &str| Some(text.split_once("position ")?.1.split_once(" (offset")?.0.to_owned());
    report.findings.iter().filter_map(|finding| rows(&finding.to_string())).collect()
}

/// Returns whether files are damaged. A check of the checksums alone must agree, so that one pass
/// tells damaged files from wrong values.
fn is_damaged(solved: &Solved) -> bool {
    let [full, checksums] = [Depth::Full, Depth::Checksums].map(|depth| solved.check(depth));
    assert_eq!(full.damaged, !checksums.is_clean(), "{}---\n{}", texts(&full), texts(&checksums));
    assert_eq!(checksums.damaged, !checksums.is_clean());
    assert!(full.damaged <= !full.is_clean());
    full.damaged
}

fn texts(report: &Report) -> String {
    report.findings.iter().map(|finding| format!("{finding}\n")).collect()
}

#[test]
fn right_databases_are_clean_at_every_depth() {
    for rule in Rule::ALL {
        for layers in 1..=6 {
            let board = Board::triangle(layers, None).unwrap();
            let all: Vec<u32> = (0..board.cells().min(6)).collect();
            let mut layouts = vec![vec![], closure(&board, &[0]), all, vec![board.cells() - 1]];
            if layers >= 3 {
                layouts.extend([closure(&board, &[1]), vec![1, 3, 5], vec![0, 4]]);
            }
            for cells in layouts {
                let solved = solved(layers, None, rule, &cells);
                let canonical_blocks = solved.game.layout.canonical_blocks().len() as u64;
                for depth in depths() {
                    let report = solved.check(depth);
                    assert!(report.is_clean(), "{rule} {layers} {cells:?} {depth:?}:\n{}", texts(&report));
                    assert_eq!(report.differences, 0);
                    assert_eq!(report.files, canonical_blocks + 1);
                    assert_eq!(report.canonical_positions, report.blocks << solved.game.layout.offset_bits());
                    let expected = match depth {
                        Depth::Checksums => 0,
                        Depth::Sample { share, .. } => share.of(canonical_blocks),
                        Depth::Full => canonical_blocks,
                    };
                    assert_eq!(report.blocks, expected, "{rule} {layers} {cells:?} {depth:?}");
                }
            }
        }
    }
}

#[test]
fn a_limit_of_pieces_is_part_of_the_rules() {
    for rule in Rule::ALL {
        for max_take in [1, 2, 3, 7] {
            let solved = solved(5, Some(max_take), rule, &[1, 2, 6, 9, 11, 13]);
            let report = solved.check(Depth::Full);
            assert!(report.is_clean(), "{rule} {max_take}:\n{}", texts(&report));
        }
    }
}

#[test]
fn reports_depend_on_neither_threads_nor_time() {
    let solved = solved(6, None, Rule::Misere, &[1, 2, 15, 20, 16, 19]);
    let mut streams = solved.streams();
    for (ordinal, stream) in (0..).zip(&mut streams) {
        stream[5] ^= 0x9000;
        solved.rewrite(ordinal, stream);
    }
    for depth in depths() {
        let database = solved.open();
        let once = check(&database, depth, 1);
        for threads in [0, 2, 3, 64] {
            assert_eq!(check(&database, depth, threads), once);
        }
    }
    // As many findings as fit a report.
    let report = solved.check(Depth::Full);
    assert_eq!(report.findings.len(), 100);
    assert!(report.differences > 16, "{report:?}");
    assert!(!is_damaged(&solved), "more wrong values than are listed are no damage");
    // A damaged file beyond the listed findings.
    let last = solved.game.layout.canonical_blocks().len() as u32 - 1;
    fs::write(solved.db().join(block_file_name(BlockId(last))), "").unwrap();
    assert!(is_damaged(&solved));
    resum(&solved.db());
    assert!(is_damaged(&solved), "a block that cannot be read, though its sum is right");
}

#[test]
fn samples_are_chosen_by_their_seed() {
    let solved = solved(5, None, Rule::Normal, &[0, 3, 4, 8]);
    let mut streams = solved.streams();
    for (ordinal, stream) in (0..).zip(&mut streams) {
        stream[0] ^= 0x0100;
        solved.rewrite(ordinal, stream);
    }
    let found = |share, seed| texts(&solved.check(sample(share, seed)));
    assert_eq!(found("30%", 1), found("0.3", 1));
    assert_ne!(found("30%", 1), found("30%", 2));
    assert_ne!(found("1e-9", 1), "");
}

#[test]
fn every_byte_of_every_file_counts() {
    let solved = solved(3, None, Rule::Misere, &[1]);
    for name in names(&solved.db()) {
        let path = solved.db().join(&name);
        let intact = fs::read(&path).unwrap();
        for at in 0..intact.len() {
            for flip in [0x01, 0x20, 0x80] {
                let mut bytes = intact.clone();
                bytes[at] ^= flip;
                fs::write(&path, &bytes).unwrap();
                let files = verify_files(&solved.db(), &Request::on(1)).unwrap().unwrap();
                assert!(!files.is_clean(), "byte {at} of {name} ^ {flip:#x}");
                // A damaged manifest may be unreadable; then there is no database to verify.
                if let Ok(database) = Database::open(solved.folder.path()) {
                    for depth in depths() {
                        let report = check(&database, depth, 1);
                        let text = texts(&report);
                        assert!(text.contains(&name) || text.contains(SUMS), "byte {at} of {name} ^ {flip:#x}: {text}");
                    }
                } else {
                    assert_eq!(name, MANIFEST);
                }
            }
        }
        fs::write(&path, &intact).unwrap();
    }
    assert!(solved.check(Depth::Full).is_clean());
}

#[test]
fn files_that_are_cut_or_grow_are_found() {
    let solved = solved(5, None, Rule::Normal, &[0, 10, 14]);
    let path = solved.db().join(block_file_name(BlockId(1)));
    let intact = fs::read(&path).unwrap();
    let longer = [&intact[..], b"\0"].concat();
    for bytes in [&intact[..0], &intact[..40], &intact[..intact.len() - 1], &longer] {
        fs::write(&path, bytes).unwrap();
        for depth in depths() {
            let report = solved.check(depth);
            assert!(texts(&report).contains("000001.blk"), "{}", texts(&report));
        }
        // The same with matching checksums: now the block itself must reveal the damage.
        resum(&solved.db());
        let report = solved.check(Depth::Full);
        let is_named = |one: &Finding| matches!(one, Finding::File(file) if file.path == path);
        assert!(report.damaged && report.findings.iter().any(is_named), "{}", texts(&report));
        assert!(texts(&report).contains("blocks not checked because"), "{}", texts(&report));
        assert!(report.blocks < solved.game.layout.canonical_blocks().len() as u64);
        fs::write(&path, &intact).unwrap();
        resum(&solved.db());
    }
    assert!(solved.check(Depth::Full).is_clean());
}

#[test]
fn missing_files_are_found() {
    let solved = solved(4, None, Rule::Misere, &[0, 4]);
    for name in names(&solved.db()) {
        let path = solved.db().join(&name);
        // Opened while all files exist.
        let database = solved.open();
        let intact = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        for depth in depths() {
            let report = check(&database, depth, 2);
            assert!(texts(&report).contains(&format!("{name} is missing")), "{depth:?} {name}: {}", texts(&report));
        }
        fs::write(&path, &intact).unwrap();
    }
}

/// Regression: a failed system call while checksums are compared is an error, not the verdict
/// "wrong values"; only a dangling link counts as a missing file.
#[test]
fn files_that_cannot_be_looked_at_are_an_error() {
    let solved = solved(4, None, Rule::Misere, &[0]);
    let db = solved.folder.path().join("db");
    let block = db.join(block_file_name(BlockId(0)));
    fs::remove_file(&block).unwrap();
    std::os::unix::fs::symlink("nowhere", &block).unwrap();
    let look = || verify_files(&db, &Request::on(1));
    assert!(!look().unwrap().unwrap().is_clean());
    fs::remove_file(&block).unwrap();
    std::os::unix::fs::symlink("n".repeat(300), &block).unwrap();
    let error = look().unwrap_err().to_string();
    assert!(error.contains("000000.blk"), "{error}");
}

#[test]
fn lines_of_the_sums_are_as_strict_as_the_files() {
    let solved = solved(4, None, Rule::Misere, &[0, 4]);
    let path = solved.db().join(SUMS);
    let intact = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = intact.lines().collect();
    let zeroes = "0".repeat(64);
    let cases = [
        (format!("{}\n", lines[1..].join("\n")), "the line for 000000.blk is missing"),
        (format!("{}\n", lines[1..].join("\n")), "000000.blk is not named in SUMS"),
        (format!("{intact}{}\n", lines[0]), "000000.blk is named twice"),
        (format!("{intact}{zeroes}  other\n"), "names other, which is not a file of this database"),
        (format!("{intact}{zeroes}  ../secret\n"), "is not a checksum and a name"),
        (format!("{intact}\n"), "is not a checksum and a name"),
        (lines.join("\n"), "does not end in a whole line"),
        (String::new(), "the line for manifest.json is missing"),
    ];
    for (text, expected) in cases {
        fs::write(&path, text).unwrap();
        let report = solved.check(Depth::Checksums);
        assert!(texts(&report).contains(expected), "{expected}: {}", texts(&report));
    }
    fs::write(&path, &intact).unwrap();
    fs::write(solved.db().join("notes.txt"), "").unwrap();
    fs::write(solved.db().join("999999.blk"), "").unwrap();
    fs::create_dir(solved.db().join("book")).unwrap();
    let report = solved.check(Depth::Checksums);
    assert_eq!(report.findings.len(), 2, "{}", texts(&report));
    assert!(texts(&report).contains("book is not named in SUMS"));
    assert!(texts(&report).contains("999999.blk is not named in SUMS"));
    fs::remove_file(solved.db().join(block_file_name(BlockId(0)))).unwrap();
    fs::create_dir(solved.db().join(block_file_name(BlockId(0)))).unwrap();
    assert!(texts(&solved.check(Depth::Checksums)).contains("000000.blk is not a regular file"));
}

/// One bit is wrong, and checksums, digests and counts match it. Only the children reveal it.
#[test]
fn one_wrong_bit_is_found_with_all_it_contradicts() {
    for (rule, cells) in [
        (Rule::Normal, vec![1, 2, 6, 9, 11, 13]),
        (Rule::Misere, vec![0, 3]),
        (Rule::Normal, vec![]),
        (Rule::Misere, vec![0, 10, 14]),
    ] {
        let solved = solved(5, None, rule, &cells);
        let right = solved.streams();
        assert!(solved.contradictions(&right).is_empty());
        for lie in 0..12_u64 {
            let mut streams = right.clone();
            let ordinal = (lie * 7 % right.len() as u64) as u32;
            // The first lies are at the lowest offsets, the others anywhere.
            let offset = if lie < 3 { lie } else { lie * 0x9E37_79B9 } & ((1 << solved.game.layout.offset_bits()) - 1);
            streams[ordinal as usize][offset as usize / 64] ^= 1 << (offset % 64);
            solved.rewrite(ordinal, &streams[ordinal as usize]);
            let expected = solved.contradictions(&streams);
            let wrong = solved.game.layout.join(solved.game.layout.bid(BlockId(ordinal)), offset);
            assert!(expected.contains(&position::rows(&solved.game.board, wrong)));

            // While the manifest is honest, it disagrees too.
            let report = solved.check(Depth::Full);
            assert!(texts(&report).contains("the manifest says digest"), "{}", texts(&report));
            assert!(texts(&report).contains("the census says"), "{}", texts(&report));
            assert!(texts(&report).contains("the solution digest"), "{}", texts(&report));

            assert!(!is_damaged(&solved));
            solved.rewrite_manifest(&streams);
            assert!(!is_damaged(&solved));
            let report = solved.check(Depth::Full);
            assert_eq!(report.differences, expected.len() as u64, "{rule} {cells:?} {ordinal} {offset}");
            if report.differences <= 10 {
                assert_eq!(listed(&report), expected);
            } else {
                assert!(listed(&report).is_subset(&expected));
            }
            // In misère play the published number of losses disagrees as well.
            assert_eq!(texts(&report).contains("are published for 5 layers"), rule == Rule::Misere);
            solved.rewrite(ordinal, &right[ordinal as usize]);
            solved.rewrite_manifest(&right);
        }
        assert!(solved.check(Depth::Full).is_clean());
    }
}

#[test]
fn the_empty_position_and_bits_without_a_position_are_checked() {
    for (rule, said) in [
        (Rule::Normal, "makes a position without a move a loss"),
        (Rule::Misere, "makes a position without a move a win"),
    ] {
        let solved = solved(3, None, rule, &[0, 1]);
        let mut streams = solved.streams();
        streams[0][0] ^= 1;
        streams[1][3] |= 1 << 7;
        solved.rewrite(0, &streams[0]);
        solved.rewrite(1, &streams[1]);
        let report = solved.check(Depth::Full);
        assert!(texts(&report).contains(said), "{}", texts(&report));
        assert!(texts(&report).contains("bit 199 is set but represents no position"), "{}", texts(&report));
    }
}

/// All values of another game, consistent with each other.
#[test]
fn the_database_of_the_other_rule_is_found() {
    let (normal, misere) = (solved(5, None, Rule::Normal, &[0, 3]), solved(5, None, Rule::Misere, &[0, 3]));
    let streams = misere.streams();
    for (ordinal, stream) in (0..).zip(&streams) {
        normal.rewrite(ordinal, stream);
    }
    normal.rewrite_manifest(&streams);
    let report = normal.check(Depth::Full);
    // The values of misère play contradict normal play in the empty position only.
    assert_eq!(report.differences, 1, "{}", texts(&report));
    assert!(texts(&report).contains("the start is a loss, but the published value is a win"), "{}", texts(&report));
}

#[test]
fn a_changed_census_is_found() {
    let solved = solved(5, None, Rule::Misere, &[0, 10, 14]);
    let path = solved.db().join(MANIFEST);
    let intact = fs::read_to_string(&path).unwrap();
    let mut changed = solved.open().manifest().clone();
    changed.census.by_pieces[7].losses += 1;
    fs::write(&path, changed.to_json()).unwrap();
    resum(&solved.db());
    assert!(solved.check(Depth::Checksums).is_clean());
    let report = solved.check(Depth::Full);
    assert_eq!(report.findings.len(), 1, "{}", texts(&report));
    assert!(
        texts(&report).starts_with("manifest.json: the census says 7 pieces, 6435 positions, "),
        "{}",
        texts(&report)
    );

    let last = changed.census.by_pieces.len() - 1;
    changed.census.by_pieces[7].losses -= 1;
    changed.census.by_pieces[last].losses ^= 1;
    changed.blocks[2].losses += 1;
    changed.digest = "0".repeat(64);
    fs::write(&path, changed.to_json()).unwrap();
    resum(&solved.db());
    let text = texts(&solved.check(Depth::Full));
    for expected in ["000002.blk: the manifest says", "census says 15 pieces", "solution digest", "the start is a win"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    changed.census.by_pieces.clear();
    fs::write(&path, changed.to_json()).unwrap();
    resum(&solved.db());
    assert!(texts(&solved.check(Depth::Full)).contains("the census has 0 rows, expected 16"));
    fs::write(&path, &intact).unwrap();
    resum(&solved.db());
    assert!(solved.check(Depth::Full).is_clean());
}

#[test]
fn progress_grows_to_the_end_and_a_stop_is_obeyed() {
    let solved = solved(6, None, Rule::Misere, &[1, 2, 15, 20, 16, 19]);
    let database = solved.open();
    let phases = Mutex::new(Vec::new());
    let push = |done, all| phases.lock().unwrap().push((all, done));
    let report = verify(&database, Depth::Full, &Request { progress: &push, ..Request::on(2) });
    let report = report.unwrap().unwrap();
    let seen = phases.into_inner().unwrap();
    let phases: Vec<_> = seen.chunk_by(|one, next| one.0 == next.0).collect();
    assert_eq!(phases.len(), 2);
    assert_eq!((phases[0][0].0, phases[1][0].0), (report.file_bytes, report.canonical_positions));
    for phase in phases {
        assert!(phase.is_sorted_by_key(|(_, done)| done));
        assert_eq!(phase.last().map(|(all, done)| all == done), Some(true));
    }

    let calls = AtomicU64::new(0);
    for depth in depths() {
        // A stop before the start, and one in the middle.
        assert_eq!(
            verify(&database, depth, &Request { stop: &AtomicBool::new(true), ..Request::on(2) }).unwrap(),
            None
        );
        let stop = AtomicBool::new(false);
        let progress = |_, _| {
            calls.fetch_add(1, Ordering::Relaxed);
            stop.store(true, Ordering::Relaxed);
        };
        let stopped = verify(&database, depth, &Request { threads: 2, stop: &stop, progress: &progress });
        assert_eq!(stopped.unwrap(), None);
    }
    assert!(calls.into_inner() >= 4);
}
