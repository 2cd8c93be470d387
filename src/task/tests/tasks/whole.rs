//! Whole solves in tasks, in any order and at the same time.

use crate::common::{assert_same_files, database_files, layout_with, scratch};
use crate::contract::keeps_its_promises;
use pipeline::{BlockId, RealStorage, parallel};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use trinim::Solve;
use trinim::database::{Audit, BlockForm, Game, Keep, SolveSpec, Terms, block_file_name};
use trinim::game::{Board, Rule};
use trinim::kernel::Kernel;
use trinim::layout::Layout;
use trinim::random::Random;
use trinim_task::{self as task, FolderStore, Store, TaskOptions, Tasks, batches, compute, finish, init, plan};

/// Threads, memory and patience of most tasks here.
pub fn options(threads: usize, wait: &(dyn Fn(Duration) -> bool + Sync)) -> TaskOptions<'_> {
    TaskOptions { kernel: Kernel::detect(), threads, memory_bytes: 64 << 20, at_once: 1, keeps_streams: false, wait }
}

pub fn never(_: Duration) -> bool {
    false
}

/// A store in a folder, as the process of this name sees it.
pub fn store_in(folder: &Path, writer: &str) -> FolderStore {
    FolderStore::new(Arc::new(RealStorage::create(folder).unwrap().with_syncs(false)), writer)
}

/// Returns the bytes of a bitmap.
fn bitmap_bytes(game: &Game) -> u64 {
    8 * SolveSpec::from(game).stream_words() as u64
}

/// Computes blocks of a store.
pub fn work(store: &dyn Store, blocks: &[u32], threads: usize) -> Result<task::TaskWork, task::Error> {
    let (game, terms) = task::open(store)?;
    let blocks: Vec<BlockId> = blocks.iter().copied().map(BlockId).collect();
    compute(store, terms.spec(&game), &blocks, &options(threads, &never))
}

/// Seals a store.
pub fn seal(store: &dyn Store) -> Result<task::SealedDatabase, task::Error> {
    let (game, terms) = task::open(store)?;
    finish(store, terms.spec(&game), Kernel::detect(), 2, |_| {})
}

#[test]
fn a_folder_keeps_the_promises_of_a_store() {
    let folder = scratch();
    keeps_its_promises(&store_in(folder.path(), "w"));
}

/// A random order in which every block comes after its sources.
pub fn random_order(game: &Game, random: &mut Random) -> Vec<u32> {
    let mut missing: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for block in game.layout.ordinals() {
        missing.insert(block.0, game.layout.edges_into(block).iter().map(|edge| edge.source.0).collect());
    }
    let mut order = Vec::new();
    while !missing.is_empty() {
        let ready: Vec<u32> =
            missing.iter().filter(|(_, sources)| sources.is_empty()).map(|(block, _)| *block).collect();
        let block = ready[random.index(ready.len())];
        missing.remove(&block);
        for sources in missing.values_mut() {
            sources.remove(&block);
        }
        order.push(block);
    }
    order
}

/// The database of a solve, in its own folder.
pub fn solved(spec: SolveSpec<'_>) -> BTreeMap<String, Vec<u8>> {
    let folder = scratch();
    let solve = Solve::from(spec.game).keep(spec.terms.keep).audit(spec.terms.audit);
    solve.threads(2).memory_bytes(1 << 28).run(folder.path()).unwrap();
    database_files(folder.path())
}

/// Computes the blocks of a triangle one by one, in random orders and with up to four threads.
pub fn any_order_and_any_threads(layers: u32, offset_bits: u32) {
    let mut random = Random::new(7);
    for rule in [Rule::Normal, Rule::Misere] {
        let game = Game::triangle(layers, rule, offset_bits).unwrap();
        let expected = solved((&game).into());
        let folder = scratch();
        let store = store_in(folder.path(), "w");
        assert!(init(&store, (&game).into()).unwrap());
        for block in random_order(&game, &mut random) {
            let done = work(&store, &[block], 1 + random.index(4)).unwrap();
            assert_eq!((done.computed, done.skipped), (vec![BlockId(block)], vec![]));
        }
        let sealed = seal(&store).unwrap();
        let story = format!("{layers} layers, {rule}");
        assert_same_files(&database_files(folder.path()), &expected, &story);
        assert_eq!(sealed.database_bytes, expected.values().map(|bytes| bytes.len() as u64).sum::<u64>());
        assert_eq!(store.temporaries().unwrap(), [], "{story}");
        // Sealed again, nothing changes.
        seal(&store).unwrap();
        assert_same_files(&database_files(folder.path()), &expected, &story);
    }
}

#[test]
fn any_order_and_any_threads_leave_the_bytes_of_a_solve() {
    any_order_and_any_threads(5, 9);
    any_order_and_any_threads(6, 13);
}

#[test]
fn few_symmetries_a_largest_take_and_an_audit_leave_the_bytes_of_a_solve() {
    let board = Board::triangle(5, Some(3)).unwrap();
    for symmetries in [1, 2, 3] {
        let Some(layout) = layout_with(&board, symmetries, 4) else { continue };
        let game = Game { board: board.clone(), rule: Rule::Misere, layout };
        let audit = if symmetries == 3 { Audit::All } else { "30%".parse().unwrap() };
        let terms = Terms { audit, ..Terms::default() };
        let (folder, mut random) = (scratch(), Random::new(symmetries as u64));
        let store = store_in(folder.path(), "w");
        init(&store, terms.spec(&game)).unwrap();
        for block in random_order(&game, &mut random) {
            work(&store, &[block], 2).unwrap();
        }
        seal(&store).unwrap();
        assert_same_files(&database_files(folder.path()), &solved(terms.spec(&game)), &format!("{symmetries}"));
    }
}

/// The audit of a task finds a source that differs when it is read again, although hashes and
/// headers are those of a sound file and the block is computed from it.
#[test]
fn a_task_is_audited() {
    let board = Board::triangle(4, None).unwrap();
    let layout = layout_with(&board, 6, 3).unwrap();
    let game = Game { board, rule: Rule::Misere, layout };
    let offsets = 1 << game.layout.offset_bits();
    let caught = |audit: Audit| {
        let spec = Terms { audit, ..Terms::default() }.spec(&game);
        let (form, name) = (BlockForm::new(spec), format!("db/{}", block_file_name(BlockId(0))));
        (0..offsets)
            .filter(|offset: &usize| {
                let folder = scratch();
                let store = store_in(folder.path(), "w");
                init(&store, spec).unwrap();
                // Without room for sources.
                let words = bitmap_bytes(&game);
                let options = TaskOptions { memory_bytes: 5 * words + words / 4, ..options(1, &never) };
                let tasks = Tasks::new(&store, spec, &options).unwrap();
                tasks.compute(&[BlockId(0)]).unwrap();
                let sound = fs::read(folder.path().join(&name)).unwrap();
                let mut stream = vec![0; form.stream_words];
                form.read(name.as_ref(), BlockId(0), &sound, &mut stream).unwrap();
                stream[offset / 64] ^= 1 << (offset % 64);
                fs::write(folder.path().join(&name), form.file(BlockId(0), &stream)).unwrap();
                let others: Vec<BlockId> = (1..spec.blocks()).map(BlockId).collect();
                // One by one, and together.
                let mut groups = others.chunks(if offset.is_multiple_of(2) { 1 } else { others.len() });
                let worked = groups.try_for_each(|group| tasks.compute(group).map(drop));
                assert!(matches!(worked, Ok(()) | Err(task::Error::Run(pipeline::Error::Audit { .. }))), "{worked:?}");
                worked.is_err()
            })
            .count()
    };
    assert_eq!(caught(Audit::None), 0);
    assert_eq!(caught(Audit::All), offsets);
}

#[test]
fn batches_have_every_block_once_no_circle_and_the_same_bytes() {
    let game = Game::triangle(6, Rule::Misere, 12).unwrap();
    let expected = solved((&game).into());
    for wanted in [1, 3, 10, 40, 1000] {
        let folder = scratch();
        let store = store_in(folder.path(), "w");
        init(&store, (&game).into()).unwrap();
        let rows = batches((&game).into(), wanted);
        let mut blocks: Vec<u32> = rows.iter().flat_map(|row| row.blocks.clone()).collect();
        blocks.sort_unstable();
        assert!(blocks.into_iter().eq(0..SolveSpec::from(&game).blocks()), "{wanted}");
        assert!(wanted != 1 || rows.len() == 1);
        assert!(wanted != 1000 || rows.len() == game.layout.canonical_blocks().len());
        let mut level: BTreeMap<u32, u32> = BTreeMap::new();
        for row in &rows {
            // In this order, so that no task waits for itself.
            let above = row.sources.iter().map(|source| level[source] + 1).max().unwrap_or(0);
            assert_eq!(row.level, above, "{wanted}: {row:?}");
            level.insert(row.batch, above);
            // Without room for streams, with room for all, or for the bitmaps of some blocks.
            let (game, terms) = task::open(&store).unwrap();
            let words = bitmap_bytes(&game);
            let room = [0, 1 << 10, 3, 5, 8][row.batch as usize % 5];
            let memory_bytes = 4 * words + words / 4 + room * words;
            let options = TaskOptions { memory_bytes, ..options(1 + row.batch as usize % 3, &never) };
            let batch: Vec<BlockId> = row.blocks.iter().copied().map(BlockId).collect();
            let done = compute(&store, terms.spec(&game), &batch, &options).unwrap();
            assert_eq!(done.computed, batch);
        }
        seal(&store).unwrap();
        assert_same_files(&database_files(folder.path()), &expected, &format!("{wanted} batches"));
    }
}

/// A batch does not read its own streams again.
#[test]
fn a_batch_reads_no_stream_that_it_has_in_memory() {
    let game = Game::triangle(6, Rule::Misere, 15).unwrap();
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    init(&store, (&game).into()).unwrap();
    let blocks: Vec<u32> = (0..SolveSpec::from(&game).blocks()).collect();
    let done = work(&store, &blocks, 1).unwrap();
    assert_eq!((done.read_bytes, done.computed.len()), (0, blocks.len()));
    assert!(done.written_bytes > 0);
}

/// A source outside of a batch is decoded once for all of its blocks.
#[test]
fn a_batch_reads_a_source_once() {
    let game = Game::triangle(6, Rule::Misere, 15).unwrap();
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    init(&store, (&game).into()).unwrap();
    work(&store, &[0], 1).unwrap();
    let others: Vec<u32> = (1..SolveSpec::from(&game).blocks()).collect();
    let first = fs::metadata(folder.path().join("db").join("000000.blk")).unwrap().len();
    assert_eq!(work(&store, &others, 1).unwrap().read_bytes, first);
}

/// Without room for its sources, a batch has its own blocks in memory and reads no file twice.
#[test]
fn a_batch_without_room_for_its_sources_reads_each_once() {
    let game = Game::triangle(6, Rule::Misere, 9).unwrap();
    let expected = solved((&game).into());
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    init(&store, (&game).into()).unwrap();
    let words = bitmap_bytes(&game);
    let mut read_twice = 0;
    for (at, row) in batches((&game).into(), 30).iter().enumerate() {
        let batch: Vec<BlockId> = row.blocks.iter().copied().map(BlockId).collect();
        let of_sources = |blocks: &[BlockId]| {
            let edges = blocks.iter().flat_map(|block| game.layout.edges_into(*block));
            edges.map(|edge| edge.source).filter(|source| !blocks.contains(source)).collect::<BTreeSet<_>>()
        };
        let bytes = |sources: &BTreeSet<BlockId>| {
            sources.iter().map(|source| expected[&block_file_name(*source)].len() as u64).sum::<u64>()
        };
        let needed = of_sources(&batch);
        assert_eq!(needed.len(), row.reads as usize);
        // All blocks of the batch, or two at a time; for a thread, and two streams.
        let together = if at % 2 == 0 { batch.len().max(2) } else { 2 };
        let memory_bytes = 3 * words + words / 4 + (1 + together as u64) * words;
        let done =
            compute(&store, (&game).into(), &batch, &TaskOptions { memory_bytes, ..options(1, &never) }).unwrap();
        assert_eq!(done.computed, batch);
        let groups = batch.chunks(together).map(|group| bytes(&of_sources(group))).sum::<u64>();
        assert!((bytes(&needed)..=groups).contains(&done.read_bytes), "{} of {groups}: {row:?}", done.read_bytes);
        read_twice += u64::from(bytes(&needed) < done.read_bytes);
    }
    assert!(read_twice > 0, "two blocks at a time read as little as whole batches");
    seal(&store).unwrap();
    assert_same_files(&database_files(folder.path()), &expected, "together");
}

/// Workers that keep decoded streams, with room for all, some or none, leave the bytes of a solve,
/// whatever others computed meanwhile; with room they read each source once.
#[test]
fn a_worker_that_keeps_streams_changes_no_byte() {
    let game = Game::triangle(6, Rule::Normal, 12).unwrap();
    let expected = solved((&game).into());
    let mut random = Random::new(3);
    for (threads, room) in [(1, 1000), (1, 0), (2, 3), (3, 20)] {
        let folder = scratch();
        let store = store_in(folder.path(), "w");
        init(&store, (&game).into()).unwrap();
        let (game, terms) = task::open(&store).unwrap();
        let bitmap = bitmap_bytes(&game);
        let memory_bytes = threads * (4 * bitmap + bitmap / 4) + room * bitmap;
        let options = TaskOptions { memory_bytes, keeps_streams: true, ..options(threads as usize, &never) };
        let tasks = Tasks::new(&store, terms.spec(&game), &options).unwrap();
        let (mut others, mut read_bytes) = (BTreeSet::new(), 0);
        for block in random_order(&game, &mut random) {
            if random.index(2) == 0 {
                work(&store, &[block], 1).unwrap();
                others.insert(block);
            } else {
                let done = tasks.compute(&[BlockId(block)]).unwrap();
                assert_eq!(done.computed, [BlockId(block)]);
                read_bytes += done.read_bytes;
            }
        }
        let of_others = |name: &&String| others.iter().any(|block| name.ends_with(&format!("{block:06}.blk")));
        let once: u64 = expected.keys().filter(of_others).map(|name| expected[name].len() as u64).sum();
        assert!(read_bytes > 0 && (room < 1000 || read_bytes <= once), "{read_bytes} of {once}");
        assert!(room > 0 || read_bytes > once, "{read_bytes} of {once}");
        seal(&store).unwrap();
        assert_same_files(&database_files(folder.path()), &expected, &format!("{threads} threads, {room}"));
    }
}

/// Concurrent tasks, with room for all streams, for some or for none, leave the bytes of a solve.
/// With room, each source is read once, though all tasks need it.
#[test]
fn tasks_at_the_same_time_change_no_byte() {
    let game = Game::triangle(6, Rule::Misere, 12).unwrap();
    let expected = solved((&game).into());
    for (at_once, room) in [(2, 1000), (3, 2), (4, 0)] {
        let folder = scratch();
        let store = store_in(folder.path(), "w");
        init(&store, (&game).into()).unwrap();
        let (game, terms) = task::open(&store).unwrap();
        let bitmap = bitmap_bytes(&game);
        let memory_bytes = at_once as u64 * (4 * bitmap + bitmap / 4) + room * bitmap;
        let options = TaskOptions { memory_bytes, at_once, keeps_streams: true, ..options(1, &never) };
        let tasks = Tasks::new(&store, terms.spec(&game), &options).unwrap();
        assert_eq!(tasks.at_once(), at_once);
        let mut levels: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        plan(terms.spec(&game)).iter().for_each(|row| levels.entry(row.level).or_default().push(row.block));
        let (read_bytes, mut first_bytes) = (AtomicU64::new(0), 0);
        for (level, blocks) in levels {
            if level < 2 {
                // Computed by others, so that the tasks have to read them.
                work(&store, &blocks, 1).unwrap();
                let name = |block: &u32| folder.path().join(name_of(folder.path(), BlockId(*block)));
                first_bytes += blocks.iter().map(|block| fs::metadata(name(block)).unwrap().len()).sum::<u64>();
                continue;
            }
            let one = |(): &mut (), index: usize| {
                let done = tasks.compute(&[BlockId(blocks[index])])?;
                assert_eq!(done.computed, [BlockId(blocks[index])]);
                read_bytes.fetch_add(done.read_bytes, Ordering::Relaxed);
                Ok::<(), task::Error>(())
            };
            parallel::for_each(at_once, blocks.len(), || Ok(()), one).unwrap();
        }
        let read_bytes = read_bytes.into_inner();
        assert!(read_bytes > 0 && (room < 1000 || read_bytes <= first_bytes), "{read_bytes} of {first_bytes}");
        seal(&store).unwrap();
        assert_same_files(&database_files(folder.path()), &expected, &format!("{at_once} at once, {room}"));
    }
    // Too little memory for all, so there are fewer.
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    init(&store, (&game).into()).unwrap();
    let (game, terms) = task::open(&store).unwrap();
    let bitmap = bitmap_bytes(&game);
    let options = TaskOptions { memory_bytes: 10 * bitmap, at_once: 8, ..options(2, &never) };
    assert_eq!(Tasks::new(&store, terms.spec(&game), &options).unwrap().at_once(), 3);
}

#[test]
fn the_plan_has_every_edge_and_an_order() {
    let game = Game::triangle(6, Rule::Normal, 12).unwrap();
    let folder = scratch();
    init(&store_in(folder.path(), "w"), (&game).into()).unwrap();
    let rows = plan((&game).into());
    let mut seen = BTreeMap::new();
    let mut targets: BTreeMap<u32, u32> = BTreeMap::new();
    for row in &rows {
        let sources: BTreeSet<u32> =
            game.layout.edges_into(BlockId(row.block)).iter().map(|edge| edge.source.0).collect();
        assert!(row.sources.iter().copied().eq(sources.iter().copied()), "{row:?}");
        assert_eq!(row.level, sources.iter().map(|source| seen[source] + 1).max().unwrap_or(0));
        assert!(row.cost > 0.0);
        seen.insert(row.block, row.level);
        sources.into_iter().for_each(|source| *targets.entry(source).or_default() += 1);
    }
    assert_eq!(rows.len(), game.layout.canonical_blocks().len());
    assert!(rows.iter().all(|row| row.targets == targets.get(&row.block).copied().unwrap_or(0)));
}

/// Returns the name of a block's file in a store, in any of its folders.
fn name_of(store: &Path, block: BlockId) -> String {
    let file = block_file_name(block);
    let below = fs::read_dir(store.join("db")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names = below.filter(|name| !name.contains('.')).map(|name| format!("db/{name}/{file}"));
    names.find(|name| store.join(name).exists()).unwrap_or_else(|| format!("db/{file}"))
}

/// A task that continues after another one committed its block and a sweep removed its sources.
#[test]
fn a_task_whose_sources_were_swept_finds_its_block_committed() {
    let terms = Terms::from(Keep::Counts);
    let game = Game::triangle(5, Rule::Misere, 8).unwrap();
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    init(&store, terms.spec(&game)).unwrap();
    let last = terms.spec(&game).blocks() - 1;
    (0..last - 2).for_each(|block| drop(work(&store, &[block], 1).unwrap()));
    let words = bitmap_bytes(&game);
    // One by one, and together with uncommitted blocks, without room for their sources.
    for (blocks, at_hand) in [(vec![last - 2], 64 << 20), (vec![last - 1, last], 6 * words + words / 4)] {
        let source = game.layout.edges_into(BlockId(*blocks.last().unwrap()))[0].source;
        let name = name_of(folder.path(), source);
        let held = store.read(&name, 1 << 20).unwrap().unwrap();
        store.remove(&name).unwrap();
        let waits = AtomicU64::new(0);
        let wait = |_: Duration| match waits.fetch_add(1, Ordering::Relaxed) {
            // Another task commits the first block while this one waits for the source.
            0 => {
                store.create(&name, &held).unwrap();
                work(&store_in(folder.path(), "o"), &blocks[..1], 1).unwrap();
                store.remove(&name).unwrap();
                true
            }
            1 => false,
            // The others still need it.
            _ => store.create(&name, &held).unwrap(),
        };
        let options = TaskOptions { memory_bytes: at_hand, ..options(1, &wait) };
        let batch: Vec<BlockId> = blocks.iter().copied().map(BlockId).collect();
        let done = compute(&store, terms.spec(&game), &batch, &options).unwrap();
        assert_eq!(done.skipped, batch[..1]);
    }
}

#[test]
fn a_missing_source_is_waited_for_and_then_told() {
    let game = Game::triangle(5, Rule::Misere, 9).unwrap();
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    init(&store, (&game).into()).unwrap();
    let spec = SolveSpec::from(&game);
    let target = game.layout.edges_from(BlockId(0))[0].target;
    let waits = AtomicU64::new(0);
    let wait = |_: Duration| waits.fetch_add(1, Ordering::Relaxed) < 3;
    let error = compute(&store, spec, &[target], &options(1, &wait)).unwrap_err();
    assert!(matches!(&error, task::Error::Run(error) if error.is_not_found()), "{error}");
    assert!(error.to_string().contains("db/000000.blk"), "{error}");
    assert_eq!(waits.into_inner(), 4);
    // It arrives while the task waits.
    let come = |_: Duration| {
        work(&store_in(folder.path(), "o"), &[0], 1).unwrap();
        true
    };
    assert_eq!(compute(&store, spec, &[target], &options(1, &come)).unwrap().computed, [target]);
}

#[test]
fn a_layout_without_blocks_to_share_is_one_task() {
    let board = Board::triangle(3, None).unwrap();
    let game = Game { layout: Layout::new(&board, &[]).unwrap(), board, rule: Rule::Normal };
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    init(&store, (&game).into()).unwrap();
    work(&store, &[0], 4).unwrap();
    seal(&store).unwrap();
    assert_same_files(&database_files(folder.path()), &solved((&game).into()), "one block");
}
