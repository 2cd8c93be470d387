//! Limits of time and disk: a clean stop and the same bytes later. What is refused before anything
//! is written is in `sessions/limits.txt`.

use crate::common::program::{SLOW, begin, ends, json, run, text, tree, trinim};
use crate::common::{Solving, Way, assert_same_files, database_files, scratch};
use pipeline::{LimitedStorage, Metrics, RealStorage, Storage};
use std::fs;
use std::sync::Arc;
use std::time::Duration;
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
                assert!(error.contains("stopped at the time limit"), "{error}");
                assert!(error.contains("time limit reached: stopping at the next safe point\n"), "{error}");
                assert!(error.contains("hint: resume with: trinim solve -k "), "{error}");
                let stopped: serde_json::Value = serde_json::from_str(&out).unwrap();
                assert_eq!((&stopped["finished"], &stopped["exit_code"]), (&false.into(), &5.into()));
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

/// Regression: a plan only refused. It is expected to name a choice that fits and a way around it.
#[test]
fn a_refused_plan_names_what_would_fit_and_can_be_forced() {
    let folder = scratch();
    let path = folder.path();
    let plan = |more: &[&str]| json(path, 0, &[&["plan", "-k", "7", "--json"], more].concat());
    let disk = |plan: &serde_json::Value, row: usize| plan["placements"][row]["disk_peak_bytes"].as_u64().unwrap();
    let (shared, dedicated) = (disk(&plan(&[]), 0), disk(&plan(&[]), 1));
    assert!(shared < dedicated);
    let solve = |limit: u64, more: &[&str]| {
        let limit = limit.to_string();
        ends(path, 4, &[&["solve", "-k", "7", "--log-placement", "dedicated", "--max-disk", &limit], more].concat()).1
    };
    let error = solve(shared, &[]);
    assert!(error.contains("hint: nothing was written; --log-placement shared (about "), "{error}");
    // What keeps less has logs, and may need another codec in this little space.
    assert!(!error.split(" or ").next().unwrap().contains("--codec"), "{error}");
    // Without a database there are logs, whose codec matters.
    let counts = ["--keep", "counts"];
    let small = disk(&plan(&["--keep", "counts", "--codec", "rows-huffman"]), 0);
    for codec in [&[][..], &["--codec", "raw"]] {
        let error = solve(small, &[&counts[..], codec].concat());
        assert!(error.contains("written; --log-placement shared --codec rows-huffman (about "), "{error}");
    }
    // What the hint names is accepted.
    let options = ["solve", "-k", "7", "--keep", "counts", "--log-placement", "shared", "--codec", "rows-huffman"];
    let (text, _) = ends(path, 0, &[&options[..], &["--out", "fits", "--max-disk", &small.to_string()]].concat());
    assert!(text.contains("at most; shared, rows-huffman"), "{text}");

    // What the plan needs is enough, and a byte less is not.
    for placement in ["shared", "dedicated"] {
        let six = ["-k", "6", "--block-bits", "12", "--log-placement", placement];
        let planned = json(path, 0, &[&["plan", "--json"], &six[..]].concat());
        let needed = disk(&planned, usize::from(placement == "dedicated"));
        let solve = ["solve", "--out", placement, "--max-disk"];
        let [enough, less] = [needed, needed - 1].map(|limit| limit.to_string());
        ends(path, 4, &[&solve[..], &[&less], &six].concat());
        ends(path, 0, &[&solve[..], &[&enough], &six].concat());
    }

    // A choice that does not fit either is not named.
    let (_, error) = ends(path, 4, &["solve", "-k", "6", "--max-disk", "1KiB"]);
    assert!(error.contains("hint: nothing was written; raise --max-disk, or start anyway"), "{error}");

    // A limit that the run meets, and one that only the plan exceeds.
    let error = solve(1 << 20, &["--force", "--out", "forced"]);
    assert!(error.starts_with("warning: not enough") && error.contains("limit is 1 MiB; the solve stops"), "{error}");
    assert!(error.contains("the limit of the folder is reached"), "{error}");
    assert!(error.contains("of --max-disk 1 MiB; raise it"), "{error}");
    let forced = ["solve", "-k", "7", "--log-placement", "dedicated", "--out", "forced", "--force", "--codec", "zstd1"];
    let limit = (disk(&plan(&["--codec", "zstd1"]), 1) - 1).to_string();
    let (_, error) = ends(path, 0, &[&forced[..], &["--max-disk", &limit]].concat());
    assert!(error.starts_with("warning: not enough disk"), "{error}");
}

/// Regression: the prediction is never below the use, and not far above it.
#[test]
fn the_plan_covers_the_use_and_is_close_to_it() {
    let folder = scratch();
    let path = folder.path();
    // A database of shared blocks is its own log: no codec matters.
    let all = &["zstd1", "rows-bytes", "rows-huffman", "raw"][..];
    let mut cases = Vec::new();
    for (layers, options, codecs) in [
        ("6", &["--block-bits", "15"][..], all),
        ("7", &[], all),
        ("7", &["--rule", "normal"], &["rows-huffman"]),
        ("7", &["--block-bits", "18"], &["rows-bytes", "raw"]),
    ] {
        cases.push((layers, options, "shared", "rows-bytes"));
        cases.extend(codecs.iter().map(|codec| (layers, options, "dedicated", *codec)));
    }
    for (layers, options, placement, codec) in cases {
        let game = [&["-k", layers, "--log-placement", placement, "--codec", codec, "--json"], options].concat();
        let plan = json(path, 0, &[&["plan"], &game[..]].concat());
        let out = format!("{layers}{placement}{codec}{}", options.concat());
        let solved = json(path, 0, &[&["solve", "--out", &out], &game[..]].concat());
        let row = usize::from(placement == "dedicated");
        let planned = plan["placements"][row]["disk_peak_bytes"].as_f64().unwrap();
        // The sum of the peaks of logs and database, which are not at the same time.
        let used = solved["disk_bytes_peak"].as_f64().unwrap();
        assert!(planned >= used * 0.95, "{game:?}: {planned} for {used}");
        if layers == "7" && options.is_empty() && placement == "shared" {
            assert!(planned <= used * 1.3, "{game:?}: {planned} for {used}");
        }
        fs::remove_dir_all(path.join(out)).unwrap();
    }
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
    assert!(error.contains("the limit of the folder is reached"), "{error}");
    assert!(error.contains("of --max-disk 64 MiB; raise it"), "{error}");
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
    let mut locked = 0;
    loop {
        let real: Arc<dyn Storage> = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
        let limited = Arc::new(LimitedStorage::new(real.clone(), limit_bytes).unwrap());
        let storage: Arc<dyn Storage> = limited.clone();
        let before = limited.used_bytes();
        let solved = solve(&game, way.kernel, &storage, &options, &Metrics::default(), &|_| {});
        assert!(limited.used_bytes() <= limit_bytes.max(before), "more than the limit");
        let recounted = LimitedStorage::new(real.clone(), limit_bytes).unwrap().used_bytes();
        // Beside what is there, room for the journals is reserved.
        let reserved = limited.used_bytes().checked_sub(recounted);
        assert!(reserved.is_some_and(|reserved| reserved <= 64 << 10), "the count is not what is there: {reserved:?}");
        match solved {
            Ok(_) => break,
            // Another test of this process starts a program at this moment: until that runs, it has
            // the lock of the session before, too.
            Err(pipeline::Error::Locked { .. }) => {
                locked += 1;
                assert!(locked < 1000, "somebody keeps the lock");
                std::thread::sleep(std::time::Duration::from_millis(1));
                continue;
            }
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

/// Regression: a second solve can wait for a folder in use, so that scripts need not retry.
#[test]
fn a_solve_can_wait_for_the_folder() {
    let folder = scratch();
    let path = folder.path();
    let mut first = begin(path, "run");
    let waiting = [&SLOW[..], &["run", "--wait"]].concat();
    let (_, error) = ends(path, 5, &[&waiting[..], &["--max-duration", "300ms"]].concat());
    assert!(
        error.contains(&format!("run: waiting for process {}", first.id())) && error.contains("still in use"),
        "{error}"
    );
    let second = trinim(path, &[&waiting[..], &["--json"]].concat()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    first.kill().unwrap();
    first.wait().unwrap();
    let output = second.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}
