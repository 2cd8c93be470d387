//! Nimbers: the definition, the same bytes for every history, the sum rule, and nothing but right
//! answers or errors from damaged or lying folders.

use crate::common::breaks::break_off_anywhere;
use crate::common::nimbers::{options, solve_on, solved, task};
use crate::common::{
    Stopping, Sweep, Way, assert_same_files, check, copy, database_files, layout_with, repair, scratch, tree,
};
use pipeline::testing::SimulatedStorage;
use pipeline::{Error as RunError, Options, Placement, RealStorage, Run};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use trinim::care::Request;
use trinim::database::{
    BlockForm, BlockSummary, Database, DatabaseError, Game, Manifest, Sums, block_file_name, stream_digest,
};
use trinim::game::{Board, Rule, Value, reference};
use trinim::kernel::{Kernel, bitmap_words};
use trinim::layout::Layout;
use trinim::random::Random;
use trinim::solve::RemovalGame;
use trinim::verify::{self, Finding, verify};

fn game(layers: u32, max_take: Option<u32>, layout: impl FnOnce(&Board) -> Layout) -> Game {
    let board = Board::triangle(layers, max_take).unwrap();
    let layout = layout(&board);
    Game { board, rule: Rule::Normal, layout }
}

fn verified(folder: &Path, depth: verify::Depth) -> verify::Report {
    verify(&Database::open(folder).unwrap(), depth, &Request::on(2)).unwrap().unwrap()
}

/// Every nimber is that of the definition, every value the one that follows, in layouts of all
/// symmetries, of one block and of many, with every placement and number of threads.
#[test]
fn nimbers_are_those_of_the_definition() {
    let mut solves = 0;
    for (layers, max_take) in [(1, None), (2, None), (3, None), (3, Some(1)), (4, None), (4, Some(2)), (5, None)] {
        let board = Board::triangle(layers, max_take).unwrap();
        let cells = board.cells();
        let nimbers = reference::nimbers(cells, board.moves());
        let mut cuts = vec![Layout::suggested(&board, cells), Layout::suggested(&board, cells * 3 / 5)];
        cuts.extend([1, 2, 3, 6].iter().filter_map(|kept| layout_with(&board, *kept, cells / 3)));
        let ways = [(1, Placement::Shared, "rows"), (2, Placement::Dedicated, "gaps"), (4, Placement::Shared, "raw")];
        for (number, layout) in cuts.into_iter().enumerate() {
            let (threads, placement, codec) = ways[number % 3];
            let game = Game { board: board.clone(), rule: Rule::Normal, layout };
            let spare_bytes = 1 << (10 + 5 * (number % 3));
            let folder = solved(&game, Way { threads, placement, codec, spare_bytes, ..Way::usual() });
            let story = format!("{layers} layers, {max_take:?}, {:?}", game.layout.bid_cells());
            let database = Database::open(folder.path()).unwrap();
            let mut counted: BTreeMap<u32, u64> = BTreeMap::new();
            for (position, nimber) in (0..).zip(&nimbers) {
                let nimber = u32::from(*nimber);
                assert_eq!(database.nimber(position).unwrap(), Some(nimber), "{story}: {position:#x}");
                assert_eq!(database.value(position).unwrap(), Value::from_loss(nimber == 0), "{story}");
                *counted.entry(nimber).or_default() += 1;
            }
            let rows = database.manifest().by_nimber.as_ref().unwrap();
            assert!(counted.into_iter().eq(rows.iter().map(|row| (row.nimber, row.positions))), "{story}: {rows:?}");
            let report = verified(folder.path(), verify::Depth::Full);
            assert!(report.is_clean() && report.positions == 1 << cells, "{story}: {:?}", report.findings);
            assert!(verified(folder.path(), verify::Depth::Sample { share: 0.3, seed: 2 }).is_clean(), "{story}");
            assert!(check(folder.path()).is_sound() && check(&folder.path().join("db")).is_sound(), "{story}");
            solves += 1;
        }
    }
    assert!(solves > 30, "{solves}");
}

/// The losses, and the census, are those of a solve for wins and losses.
#[test]
fn nimber_zero_is_a_loss() {
    let game = game(6, None, |board| Layout::suggested(board, 14));
    let folder = solved(&game, Way { placement: Placement::Shared, ..Way::usual() });
    let nimbers = Database::open(folder.path()).unwrap();
    let outcomes = crate::common::Solving::solve(&game, Way::usual());
    let outcomes = Database::open(outcomes.0.path()).unwrap();
    assert_eq!(nimbers.manifest().census, outcomes.manifest().census);
    assert_ne!(nimbers.manifest().digest, outcomes.manifest().digest);
    assert_eq!(outcomes.nimber(game.board.full()).unwrap(), None);
    for position in (0..1 << 21).step_by(41) {
        assert_eq!(nimbers.value(position).unwrap(), outcomes.value(position).unwrap(), "{position:#x}");
    }
}

/// Two parts that no move touches together add up: the nimber is the XOR of those of the parts.
#[test]
fn parts_that_no_move_joins_add_up() {
    let game = game(6, None, |board| Layout::suggested(board, 13));
    let folder = solved(&game, Way { placement: Placement::Shared, ..Way::usual() });
    let database = Database::open(folder.path()).unwrap();
    let nimber = |position| database.nimber(position).unwrap().unwrap();
    let mut random = Random::new(11);
    let (mut sums, mut proper) = (0, 0);
    while sums < 3000 {
        let [some, others] = [random.bits(), random.bits()];
        let one = some & random.bits() & game.board.full();
        let other = others & game.board.full() & !one;
        let joined = |taken: &&u64| *taken & !(one | other) == 0 && *taken & one != 0 && *taken & other != 0;
        if game.board.moves().iter().any(|taken| joined(&taken)) {
            continue;
        }
        assert_eq!(nimber(one | other), nimber(one) ^ nimber(other), "{one:#x} and {other:#x}");
        sums += 1;
        proper += u32::from(nimber(one) > 0 && nimber(other) > 0);
    }
    assert!(proper > 1000, "{proper}");
    // The same numbers by the theorem, which the solver does not know.
    for _ in 0..300 {
        let position = random.bits() & random.bits() & game.board.full();
        assert_eq!(nimber(position), reference::grundy(game.board.moves(), position), "{position:#x}");
    }
}

/// Threads, memory, placement, codec and kernel change no byte.
#[test]
fn every_way_leaves_the_same_bytes() {
    let game = game(5, None, |board| Layout::suggested(board, 8));
    let expected = database_files(solved(&game, Way::usual()).path());
    let kernels = trinim::kernel::Isa::ALL.into_iter().filter_map(|isa| Kernel::new(isa).ok());
    for (number, kernel) in kernels.enumerate() {
        let (threads, placement, codec) =
            [(1, Placement::Shared, "auto"), (4, Placement::Dedicated, "rows")][number % 2];
        let way = Way { threads, placement, codec, spare_bytes: 1 << (6 * number), kernel };
        assert_same_files(&database_files(solved(&game, way).path()), &expected, &format!("{way:?}"));
    }
}

/// A solve that is stopped after any number of blocks, once or at every block, ends in the same
/// bytes.
#[test]
fn a_stopped_solve_continues() {
    let game = game(5, None, |board| Layout::suggested(board, 8));
    let expected = database_files(solved(&game, Way::usual()).path());
    for placement in [Placement::Shared, Placement::Dedicated] {
        let way = Way { placement, ..Way::usual() };
        for blocks in [1, 2, 5, 11, 17, game.layout.canonical_blocks().len() as u32 - 1] {
            let folder = scratch();
            let storage = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
            let options = options(&game, way);
            let workload = Stopping::new(RemovalGame::new(task(&game), way.kernel), blocks, &options);
            let ended = Run::new(&workload.without_logs(), storage.clone()).options(&options).start().map(drop);
            assert!(matches!(ended, Err(RunError::Interrupted) | Ok(())), "{:?}", ended.err());
            assert!(check(folder.path()).is_sound(), "{placement:?}, {blocks}");
            solve_on(&game, way, storage, &self::options(&game, way)).unwrap();
            assert_same_files(&database_files(folder.path()), &expected, &format!("{placement:?}, {blocks}"));
        }
    }
}

/// A kill, a power cut or an error at any step, and the same solve again: the same bytes.
#[test]
fn a_solve_that_broke_off_anywhere_ends_alike() {
    let game = game(4, None, |board| Layout::suggested(board, 5));
    let expected = database_files(solved(&game, Way::usual()).path());
    let way = Way { placement: Placement::Shared, ..Way::usual() };
    let run = |disk: &SimulatedStorage| {
        let options = Options { commit_interval: Duration::from_micros(100), ..options(&game, way) };
        solve_on(&game, way, Arc::new(disk.clone()), &options).map(drop)
    };
    let takes = |step: u64, _| step.is_multiple_of(Sweep::asked().number(5, 1));
    let broken = break_off_anywhere(&run, &takes, &expected, &mut |_, _, _| {});
    assert!(broken > 20, "{broken}");
}

/// A changed bit of a block is found by check and verify and gives no wrong answer, and repair
/// restores it, in the run and in the database alone.
#[test]
fn damage_is_found_and_repaired() {
    let game = game(4, None, |board| Layout::suggested(board, 6));
    let nimbers = reference::nimbers(10, game.board.moves());
    let sound = solved(&game, Way::usual());
    let golden = tree(sound.path());
    let expected = database_files(sound.path());
    let alone = scratch();
    copy(&sound.path().join("db"), alone.path());
    let mut cases = 0;
    for (name, bytes) in expected.iter().filter(|(name, _)| name.ends_with(".blk")) {
        for at in (0..bytes.len()).step_by(13) {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << (at % 8);
            for place in [sound.path().join("db"), alone.path().to_path_buf()] {
                let path = place.join(name);
                fs::write(&path, &bad).unwrap();
                let database = Database::open(&place).unwrap();
                for (position, nimber) in (0..).zip(&nimbers) {
                    match database.nimber(position) {
                        Ok(found) => assert_eq!(found, Some(u32::from(*nimber)), "{name}, byte {at}"),
                        Err(DatabaseError::Corrupt { .. } | DatabaseError::Version { .. }) => {}
                        Err(error) => panic!("{name}, byte {at}: {error}"),
                    }
                }
                assert!(!check(&place).is_sound(), "{name}, byte {at}");
                assert!(verified(&place, verify::Depth::Full).damaged, "{name}, byte {at}");
                let folder = if place == alone.path() { alone.path() } else { sound.path() };
                repair(folder).unwrap_or_else(|error| panic!("{name}, byte {at}: {error}"));
                assert!(fs::read(&path).unwrap() == *bytes, "{name}, byte {at}");
            }
            cases += 1;
        }
    }
    assert!(cases > 30, "{cases}");
    assert!(tree(&sound.path().join("db")).iter().all(|(path, bytes)| golden[path] == *bytes));
    // The lists come back from the blocks.
    for list in ["manifest.json", "SUMS"] {
        fs::write(alone.path().join(list), "damage").unwrap();
        assert!(!check(alone.path()).is_sound());
    }
    assert!(repair(alone.path()).is_err());
    fs::write(alone.path().join("manifest.json"), &expected["manifest.json"]).unwrap();
    repair(alone.path()).unwrap();
    assert!(fs::read(alone.path().join("SUMS")).unwrap() == expected["SUMS"]);
}

/// Sound files of wrong nimbers: the verifier names the position, whatever lists and hashes say.
#[test]
fn wrong_nimbers_are_refuted() {
    let game = game(4, None, |board| Layout::suggested(board, 7));
    let words = bitmap_words(game.layout.offset_bits());
    let folder = solved(&game, Way::usual());
    let db = folder.path().join("db");
    let database = Database::open(folder.path()).unwrap();
    let task = task(&game);
    let ordinals = game.layout.ordinals();
    let streams: Vec<Vec<u64>> = ordinals
        .map(|block| {
            let mut stream = vec![0; task.stream_words()];
            database.bitmap(block, &mut stream).unwrap();
            stream
        })
        .collect();
    let mut random = Random::new(5);
    for case in 0..200 {
        let mut lying = streams.clone();
        let ordinal = random.index(lying.len());
        let offset = random.below(1 << game.layout.offset_bits()) as usize;
        let (word, bit) = (offset / 64, 1_u64 << (offset % 64));
        let stream = &mut lying[ordinal];
        let was = (0..task.planes()).find(|plane| stream[plane * words + word] & bit != 0).unwrap();
        let becomes = (was + 1 + random.index(task.planes() - 1)) % task.planes();
        // Another nimber in its place, another one beside it, or none.
        if case % 3 != 1 {
            stream[was * words + word] ^= bit;
        }
        if case % 3 != 2 {
            stream[becomes * words + word] ^= bit;
        }
        let summaries: Vec<BlockSummary> = lying.iter().map(|stream| summary(&game, stream)).collect();
        let manifest = Manifest::new(task, &summaries).to_json();
        fs::write(db.join("manifest.json"), &manifest).unwrap();
        let mut sums = String::new();
        for (block, stream) in game.layout.ordinals().zip(&lying) {
            let file = BlockForm::of(task).file(block, stream);
            sums += &Sums::line(blake3::hash(&file), &block_file_name(block));
            fs::write(db.join(block_file_name(block)), file).unwrap();
        }
        sums += &Sums::line(blake3::hash(&manifest), "manifest.json");
        fs::write(db.join("SUMS"), sums).unwrap();
        let report = verified(&db, verify::Depth::Full);
        assert!(!report.damaged && report.differences > 0, "case {case}: {:?}", report.findings);
        let names = |finding: &Finding| match finding {
            Finding::Nimber { block, offset: at, least, .. } => {
                (*block as usize, *at as usize) == (ordinal, offset) && *least as usize == was
            }
            _ => false,
        };
        assert!(report.findings.iter().any(names), "case {case}: {:?}", report.findings);
    }
}

/// A manifest that miscounts nimbers: found by itself or by the blocks, or refused when opened.
#[test]
fn wrong_counts_are_found() {
    let game = game(4, None, |board| Layout::suggested(board, 7));
    let folder = solved(&game, Way::usual());
    let db = folder.path().join("db");
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(db.join("manifest.json")).unwrap()).unwrap();
    let write = |change: &dyn Fn(&mut Vec<serde_json::Value>)| {
        let mut manifest = manifest.clone();
        change(manifest["by_nimber"].as_array_mut().unwrap());
        let mut bytes = serde_json::to_vec_pretty(&manifest).unwrap();
        bytes.push(b'\n');
        let sums = fs::read_to_string(db.join("SUMS")).unwrap();
        let lines = sums.lines().filter(|line| !line.ends_with("manifest.json")).map(|line| format!("{line}\n"));
        let sums: String = lines.chain([Sums::line(blake3::hash(&bytes), "manifest.json")]).collect();
        fs::write(db.join("manifest.json"), bytes).unwrap();
        fs::write(db.join("SUMS"), sums).unwrap();
    };
    let swap = |rows: &mut Vec<serde_json::Value>| {
        let [one, two] = [1, 2].map(|nimber: usize| rows[nimber]["positions"].clone());
        (rows[1]["positions"], rows[2]["positions"]) = (two, one);
    };
    write(&swap);
    let report = verified(&db, verify::Depth::Full);
    assert!(!report.damaged && report.differences == 0, "{:?}", report.findings);
    let counts = report.findings.iter().filter(|finding| matches!(finding, Finding::Count { .. })).count();
    assert_eq!((counts, report.findings.len()), (2, 2), "{:?}", report.findings);
    for change in [
        &|rows: &mut Vec<serde_json::Value>| rows[3]["positions"] = 0.into(),
        &|rows: &mut Vec<serde_json::Value>| rows.truncate(4),
        &|rows: &mut Vec<serde_json::Value>| rows.clear(),
    ] as [&dyn Fn(&mut Vec<serde_json::Value>); 3]
    {
        write(change);
        assert!(matches!(Database::open(&db).unwrap().check_manifest(), Err(DatabaseError::Corrupt { .. })));
        assert!(!verified(&db, verify::Depth::Full).is_clean());
    }
    for change in [
        &|rows: &mut Vec<serde_json::Value>| rows[3]["nimber"] = 4_000_000_000_u32.into(),
        &|rows: &mut Vec<serde_json::Value>| rows.swap(1, 2),
        &|rows: &mut Vec<serde_json::Value>| *rows = vec![rows[0].clone(); 500],
    ] as [&dyn Fn(&mut Vec<serde_json::Value>); 3]
    {
        write(change);
        assert!(matches!(Database::open(&db), Err(DatabaseError::Corrupt { .. })));
    }
}

fn summary(game: &Game, stream: &[u64]) -> BlockSummary {
    let words = bitmap_words(game.layout.offset_bits());
    let mut losses_by_pieces = vec![0; game.layout.offset_bits() as usize + 1];
    for offset in (0..1_usize << game.layout.offset_bits()).filter(|at| stream[at / 64] >> (at % 64) & 1 == 1) {
        losses_by_pieces[offset.count_ones() as usize] += 1;
    }
    let by_nimber =
        stream.chunks(words).map(|plane| plane.iter().map(|word| u64::from(word.count_ones())).sum()).collect();
    let (digest, none) = (stream_digest(stream), Vec::new);
    BlockSummary { losses_by_pieces, digest, by_layers: none(), by_nimber, after_first_moves: none() }
}
