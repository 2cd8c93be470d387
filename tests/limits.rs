//! `--max-duration` and `--max-disk`: a clean stop, and the same bytes later.

mod common;
mod program;

use common::{Solving, Way, assert_same_files, database_files, scratch};
use pipeline::{LimitedStorage, Metrics, RealStorage, Storage};
use program::{SLOW, ends, json, run, tree};
use std::fs;
use std::sync::Arc;
use trinim::database::Game;
use trinim::game::Rule;
use trinim::solve::solve;

#[test]
fn a_solve_in_slices_of_time_ends_with_the_same_bytes() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &[&SLOW[..], &["whole"]].concat());
    let (mut slices, mut stops) = (0, 0);
    loop {
        // Slices get longer, so that every machine reaches the end.
        let time = format!("{}ms", 200 << (slices / 3));
        let (code, out, error) = run(path, &[&SLOW[..], &["sliced", "--json", "--max-duration", &time]].concat());
        slices += 1;
        match code {
            5 => {
                stops += 1;
                assert!(error.contains("stopped because the time is up"), "{error}");
                assert!(error.contains("hint: run the same command"), "{error}");
                assert_eq!(out, "");
                ends(path, 0, &["check", "sliced", "--depth", "metadata"]);
                assert!(slices < 40, "no end in {slices} slices");
            }
            0 => break,
            other => panic!("{other}: {error}"),
        }
    }
    println!("{slices} slices");
    assert!(stops > 0, "the solve was never stopped");
    assert_same_files(&database_files(&path.join("sliced")), &database_files(&path.join("whole")), "in slices");
}

#[test]
fn a_limit_that_the_plan_exceeds_is_refused_before_anything_is_written() {
    let folder = scratch();
    let path = folder.path();
    let (_, error) = ends(path, 4, &["solve", "-k", "7", "--max-disk", "1MiB"]);
    assert!(error.contains("MiB of disk space is needed, the limit is 1 MiB"), "{error}");
    assert!(error.contains("hint: raise --max-disk"), "{error}");
    assert!(fs::read_dir(path).unwrap().next().is_none());
    for (flag, values) in [("--max-disk", "0 -1 many"), ("--max-duration", "0 1ms 366d never -5")] {
        for value in values.split(' ') {
            let (_, error) = ends(path, 2, &["solve", "-k", "5", flag, value]);
            assert!(error.lines().count() == 2 && error.contains(flag), "{error}");
        }
    }
    assert!(fs::read_dir(path).unwrap().next().is_none());
    let enough = json(path, 0, &["solve", "-k", "6", "--max-disk", "64MiB", "--max-duration", "1h", "--json"]);
    assert_eq!(enough["losses"], 189_089);
}

/// Files left by an earlier session count until they are cleared away, so this one reaches its
/// limit at once.
#[test]
fn the_command_stops_at_its_limit_and_goes_on_with_a_larger_one() {
    let folder = scratch();
    let path = folder.path();
    let solve = [&SLOW[..], &["run", "--json", "--log-placement", "shared"]].concat();
    ends(path, 5, &[&solve[..], &["--max-duration", "50ms"]].concat());
    fs::write(path.join("run/logs/00000001.g1"), vec![1; 100 << 20]).unwrap();
    let before = tree(path);
    let (_, error) = ends(path, 4, &[&solve[..], &["--max-disk", "64MiB"]].concat());
    assert!(error.contains("the folder may take 67108864 bytes"), "{error}");
    assert!(error.contains("raise --max-disk"), "{error}");
    let kept = tree(path);
    for (file, bytes) in &before {
        assert!(kept.get(file) == Some(bytes), "{} was changed", file.display());
    }
    let end = json(path, 0, &[&solve[..], &["--max-disk", "1GiB"]].concat());
    assert_eq!(end["losses"], 19_496_523);
}

/// Raises the limit from a folder that is hardly begun to one that is finished: each session stops
/// as on a full disk, and loses no finished block.
#[test]
fn a_solve_meets_its_limit_anywhere_and_goes_on() {
    let game = Game::triangle(6, Rule::Normal, 12).unwrap();
    let (undisturbed, _) = game.solve(Way::usual());
    let golden = database_files(undisturbed.path());
    let way = Way::usual();
    let mut options = way.options(&game.layout);
    options.commit_interval = std::time::Duration::from_millis(2);
    let folder = scratch();
    let (mut stops, mut finished, mut limit_bytes) = (0, 0, 16 << 10);
    loop {
        let real: Arc<dyn Storage> = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
        let limited = Arc::new(LimitedStorage::new(real.clone(), limit_bytes).unwrap());
        let storage: Arc<dyn Storage> = limited.clone();
        let before = limited.used_bytes();
        let solved = solve(&game, way.kernel, &storage, &options, &Metrics::default(), &|_| {});
        assert!(limited.used_bytes() <= limit_bytes.max(before), "more than the limit");
        let recounted = LimitedStorage::new(real.clone(), limit_bytes).unwrap().used_bytes();
        assert_eq!(limited.used_bytes(), recounted, "the count is not what is there");
        match solved {
            Ok(_) => break,
            Err(error) => {
                assert!(error.is_full_disk(), "{error:?}");
                stops += 1;
                if let Ok(inspection) = pipeline::checkpoint::inspect(&*real) {
                    assert!(inspection.records.len() >= finished, "finished blocks were lost");
                    finished = inspection.records.len();
                }
            }
        }
        limit_bytes += 24 << 10;
        assert!(stops < 400, "no end with {limit_bytes} bytes");
    }
    println!("{stops} stops up to {limit_bytes} bytes");
    assert!(stops > 5 && finished > 0, "{stops} stops, {finished} blocks");
    assert_same_files(&database_files(folder.path()), &golden, "after the limits");
}
