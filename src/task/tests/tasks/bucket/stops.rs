//! A process ends at every request, before or after the request had its effect, with listings that
//! are current or old. Another process continues, and the bucket has the files of a solve.

use super::{Faults, Faulty, Trouble, store_of};
use crate::summary_first::SummaryFirst;
use crate::whole::{never, options};
use pipeline::BlockId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use trinim::database::{Game, Keep, SolveSpec, Terms};
use trinim::game::Rule;
use trinim::kernel::Kernel;
use trinim_task::{BucketStore, Error, Store, Sweeper, committed, compute, finish, init};

/// Every file of a store.
fn files_of(store: &dyn Store) -> BTreeMap<String, Vec<u8>> {
    let names = ["", "db/", "summaries/"].map(|folder| {
        let listed = store.list(folder.trim_end_matches('/')).unwrap();
        listed.into_iter().map(move |(name, _)| format!("{folder}{name}"))
    });
    names.into_iter().flatten().map(|name| (name.clone(), store.read(&name, 1 << 20).unwrap().unwrap())).collect()
}

/// Solves in a store in which another process has ended. Returns the blocks that were reported.
fn solve(store: &dyn Store, spec: SolveSpec<'_>) -> (BTreeSet<u32>, Result<(), Error>) {
    let mut reported = BTreeSet::new();
    let mut whole = || {
        init(store, spec)?;
        let sweeper = Sweeper::new(store, spec, Duration::ZERO)?;
        for block in spec.game.layout.ordinals() {
            compute(store, spec, &[block], &options(1, &never))?;
            reported.insert(block.0);
            if block.0 % 3 == 2 {
                sweeper.committed(&[BlockId(block.0 - 2), BlockId(block.0 - 1), block])?;
            }
        }
        finish(store, spec, Kernel::detect(), 1, |_| {}).map(drop)
    };
    let ended = whole();
    (reported, ended)
}

/// Ends a process at every request, and continues. Returns the number of requests.
fn survives(keep: Keep, is_stale: bool, wrap: fn(BucketStore) -> Box<dyn Store>) -> Result<u64, String> {
    let (game, terms) = (Game::triangle(4, Rule::Misere, 6).unwrap(), Terms::from(keep));
    let spec = terms.spec(&game);
    let clean = Faulty::new(Faults::default());
    solve(&store_of(clean.clone()), spec).1.unwrap();
    let expected = files_of(&store_of(clean.clone()));
    let requests = clean.requests.load(Ordering::Relaxed);
    for ends in 1..=requests {
        for ends_late in [false, true] {
            let story = format!("{keep}, stale {is_stale}, ended at {ends}, late {ends_late}");
            let objects = Faulty::new(Faults { ends, ends_late, is_stale, ..Faults::default() });
            let (reported, _) = solve(&*wrap(store_of(Arc::clone(&objects) as _)), spec);
            let fresh = store_of(Faulty::on(objects.inner.fork(), Faults::default()));
            if !reported.is_empty() {
                let there = committed(&fresh, spec).map_err(|error| format!("{story}: {error}"))?;
                if let Some(lost) = reported.iter().find(|block| there.iter().all(|there| there.0 != **block)) {
                    return Err(format!("{story}: block {lost} is lost"));
                }
            }
            solve(&fresh, spec).1.map_err(|error| format!("{story}: {error}"))?;
            if files_of(&fresh) != expected {
                return Err(format!("{story}: other files: {:?}", files_of(&fresh).keys()));
            }
        }
    }
    Ok(requests)
}

#[test]
fn a_process_that_ends_at_any_request_costs_one_block_at_most() {
    for keep in [Keep::Database, Keep::Counts] {
        for is_stale in [false, true] {
            let requests = survives(keep, is_stale, |store| Box::new(store)).unwrap_or_else(|wrong| panic!("{wrong}"));
            println!("{keep}, stale {is_stale}: {requests} requests");
        }
    }
}

/// A request that goes wrong twice in a row is repeated, whatever it does: no command notices, and
/// a name that is taken but does not exist is created in the end.
#[test]
fn what_goes_wrong_twice_at_any_request_is_noticed_by_nobody() {
    for trouble in [Trouble::Fails, Trouble::Conflicts] {
        let store = store_of(Faulty::new(Faults { troubled: 1, trouble, ..Faults::default() }));
        assert!(store.create("db/x", b"x").unwrap() && !store.create("db/x", b"x").unwrap(), "{trouble:?}");
    }
    for keep in [Keep::Database, Keep::Counts] {
        let (game, terms) = (Game::triangle(4, Rule::Misere, 6).unwrap(), Terms::from(keep));
        let clean = Faulty::new(Faults::default());
        let solved = |objects: &Arc<Faulty>| {
            let (reported, ended) = solve(&store_of(Arc::clone(objects) as _), terms.spec(&game));
            ended.map(|()| (reported, files_of(&store_of(Faulty::on(objects.inner.fork(), Faults::default())))))
        };
        let expected = solved(&clean).unwrap();
        assert_eq!(expected.0.len(), game.layout.canonical_blocks().len());
        for troubled in 1..=clean.requests.load(Ordering::Relaxed) {
            for trouble in [Trouble::Fails, Trouble::Loses, Trouble::Conflicts] {
                let found = solved(&Faulty::new(Faults { troubled, trouble, ..Faults::default() }));
                let found = found.unwrap_or_else(|error| panic!("{keep}, {trouble:?} at request {troubled}: {error}"));
                assert!(found == expected, "{keep}, {trouble:?} at request {troubled}: other files");
            }
        }
    }
}

/// Where summaries decide, the file of a block comes first.
#[test]
fn summaries_before_their_blocks_are_caught() {
    let wrong = survives(Keep::Counts, false, |store| Box::new(SummaryFirst::new(store))).unwrap_err();
    println!("{wrong}");
    assert!(wrong.contains("cannot read the source"), "{wrong}");
}
