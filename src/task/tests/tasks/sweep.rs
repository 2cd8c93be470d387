//! A sweep removes only files that are not needed any more.

use super::whole::{random_order, seal, solved, store_in, work};
use crate::common::program::{ends, trinim};
use crate::common::{assert_same_files, database_files, scratch};
use pipeline::BlockId;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;
use trinim::database::{Database, Game, Keep, Terms, block_file_name};
use trinim::game::Rule;
use trinim::random::Random;
use trinim_task::{self as task, Error, Store, Sweeper, committed, init, sweep};

#[test]
fn a_store_that_keeps_counts_sheds_its_blocks_and_ends_as_a_solve_does() {
    let terms = Terms::from(Keep::Counts);
    for (layers, bits, sweeps) in [(5, 8, true), (6, 12, true), (6, 12, false)] {
        let game = Game::triangle(layers, Rule::Misere, bits).unwrap();
        let (folder, mut random) = (scratch(), Random::new(layers.into()));
        let store = store_in(folder.path(), "w");
        init(&store, terms.spec(&game)).unwrap();
        let (mut removed, mut most) = (0, 0);
        let order = random_order(&game, &mut random);
        for (done, block) in (1..).zip(&order) {
            work(&store, &[*block], 1).unwrap();
            let there = store.list(task::DATABASE).unwrap().len();
            most = most.max(there);
            assert_eq!(committed(&store, terms.spec(&game)).unwrap().len(), done);
            if sweeps {
                let swept = sweep(&store, terms.spec(&game), Duration::ZERO).unwrap();
                removed += swept.blocks;
                // Swept blocks stay committed: the same task skips them.
                let again = work(&store, &[order[random.index(done)]], 1).unwrap();
                assert_eq!((again.computed.len(), again.skipped.len()), (0, 1));
            }
        }
        assert!(
            !sweeps || removed == u64::from(terms.spec(&game).blocks()) && most < order.len(),
            "{removed} of {most}"
        );
        let sealed = seal(&store).unwrap();
        assert_same_files(&database_files(folder.path()), &solved(terms.spec(&game)), "counts");
        assert!(sealed.manifest.winning_first_moves.is_some());
        assert_eq!(Database::open(folder.path()).unwrap().manifest(), &sealed.manifest);
    }
}

/// Reports come in any order, late, twice, from two threads, or to a sweeper that began later. The
/// remaining files are those of blocks with an unreported target.
#[test]
fn a_sweep_that_follows_removes_what_a_sweep_would() {
    let terms = Terms::from(Keep::Counts);
    let game = Game::triangle(6, Rule::Normal, 12).unwrap();
    let spec = terms.spec(&game);
    for seed in 0..4 {
        let (folder, mut random) = (scratch(), Random::new(seed));
        let store = store_in(folder.path(), "w");
        init(&store, spec).unwrap();
        let mut sweeper = Sweeper::new(&store, spec, Duration::ZERO).unwrap();
        let (mut told, mut removed) = (BTreeSet::new(), 0);
        let mut waiting = Vec::new();
        let order = random_order(&game, &mut random);
        for (done, block) in (1..).zip(&order) {
            work(&store, &[*block], 1).unwrap();
            waiting.push(BlockId(*block));
            if random.index(3) > 0 && done < order.len() {
                continue;
            }
            if random.index(4) == 0 {
                // The other sweeper lists what exists now, so not what the first removed.
                removed += sweeper.swept().blocks;
                sweeper = Sweeper::new(&store, spec, Duration::ZERO).unwrap();
                told.extend(waiting.iter().copied());
            }
            // One block is neither done nor in the store and is ignored; another is already known.
            waiting.extend(order.get(done).copied().map(BlockId));
            waiting.extend(told.iter().copied().nth(random.index(done)));
            let by = random.index(waiting.len());
            waiting.rotate_left(by);
            let (one, other) = waiting.split_at(waiting.len() / 2);
            std::thread::scope(|scope| {
                scope.spawn(|| sweeper.committed(one).unwrap());
                sweeper.committed(other).unwrap();
            });
            told.extend(order[..done].iter().copied().map(BlockId));
            waiting.clear();
            let needed =
                |block: &BlockId| game.layout.edges_from(*block).iter().any(|edge| !told.contains(&edge.target));
            let expected: BTreeSet<String> =
                told.iter().filter(|block| needed(block)).map(|block| block_file_name(*block)).collect();
            let there: BTreeSet<String> =
                store.list(task::DATABASE).unwrap().into_iter().map(|(name, _)| name).collect();
            assert_eq!(there, expected, "seed {seed}, {done} blocks");
            assert_eq!(sweep(&store, spec, Duration::ZERO).unwrap().blocks, 0, "seed {seed}, {done} blocks");
        }
        let swept = sweeper.swept();
        assert_eq!(removed + swept.blocks, u64::from(spec.blocks()));
        assert!(swept.block_bytes > 0);
        seal(&store).unwrap();
        assert_same_files(&database_files(folder.path()), &solved(spec), "counts");
        let none = sweeper.committed(&[BlockId(spec.blocks())]).unwrap_err();
        assert!(matches!(none, Error::NoBlock { .. }), "{none}");
    }
}

/// A store that keeps every value needs no sweep.
#[test]
fn a_sweep_that_follows_leaves_a_database() {
    let game = Game::triangle(4, Rule::Misere, 6).unwrap();
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    init(&store, (&game).into()).unwrap();
    let sweeper = Sweeper::new(&store, (&game).into(), Duration::ZERO).unwrap();
    for block in game.layout.ordinals() {
        work(&store, &[block.0], 1).unwrap();
        sweeper.committed(&[block]).unwrap();
    }
    assert_eq!(sweeper.swept(), task::SweepWork::default());
    seal(&store).unwrap();
    assert_same_files(&database_files(folder.path()), &solved((&game).into()), "a database");
}

/// The command sees blocks that are done after it has listed the store; its arguments and damage
/// are in `sessions/copies.txt`.
#[test]
fn the_command_follows_standard_input() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["init", "--store", "s", "-k", "4", "--block-bits", "6", "--keep", "counts"]);
    let all = "0,1,2,3,4,5,6,7";
    ends(path, 0, &["--store", "s", "--batch", "0"]);
    let mut child = trinim(path, &["sweep", "--store", "s", "--follow", "--json"]);
    let mut child = child.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "0").unwrap();
    ends(path, 0, &["--store", "s", "--batch", all]);
    writeln!(input, "{all}").unwrap();
    drop(input);
    let ended = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((ended.status.code(), &report["blocks"]), (Some(0), &8.into()), "{report}");
    assert!(fs::read_dir(path.join("s/db")).unwrap().next().is_none());
}
