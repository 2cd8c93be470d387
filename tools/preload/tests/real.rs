//! The calls of the real storage, as the C library gets them: each sync happens, in its order, and
//! nothing happens after one that failed.
//!
//! A test runs its work in a process of its own, which is this program again. The library that this
//! program links replaces the functions of the C library, logs their calls and fails one of them.

use pipeline::storage::Create;
use pipeline::{BlockId, Error, RealStorage, Storage};
use preload as _;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::{env, fs};
use terminal::file::OutputFile;
use trinim::Solve;
use trinim::database::{Game, Keep, Terms};
use trinim::game::Rule;
use trinim::kernel::Kernel;
use trinim_task::{self as task, FolderStore};

/// Calls that change something or make it safe.
const CHANGES: &str = "create,write,sync,rename,unlink,truncate,mkdir,link";
/// A folder that a work creates where it reports that something is done.
const DONE: &str = "done";

/// Runs the work of a test in a folder of a process of its own, in which this call fails, if any.
/// Returns the calls in the folder, with the names below it.
fn calls(test: &str, fails: Option<usize>, work: fn(&Path)) -> Vec<String> {
    if let Some(root) = env::var_os("FAULTS_ROOT") {
        work(Path::new(&root));
        std::process::exit(0);
    }
    let scratch = tempfile::tempdir().unwrap();
    // As the system names it.
    let folder = scratch.path().canonicalize().unwrap();
    let (root, log) = (folder.join("root"), folder.join("log"));
    fs::create_dir(&root).unwrap();
    let mut command = processes::command(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env("FAULTS_ROOT", &root).env("FAULTS_LOG", &log);
    command.env("FAULTS_CALLS", CHANGES).env("FAULTS_TRACE", "1").env("FAULTS_DO", "errno:5");
    if let Some(call) = fails {
        command.env("FAULTS_AT", (call + 1).to_string());
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "call {fails:?} fails: {}", String::from_utf8_lossy(&output.stderr));
    let log = fs::read_to_string(&log).unwrap();
    let lines = log.lines().filter_map(|line| line.strip_prefix("c "));
    let calls = lines.map(|line| line.replace(&format!(" {}", root.display()), " ").replace(" /", " "));
    calls.map(|call| call.trim_end().to_owned()).collect()
}

/// The numbers of the syncs among calls.
fn syncs(calls: &[String]) -> impl Iterator<Item = usize> {
    calls.iter().enumerate().filter(|(_, call)| call.starts_with("sync")).map(|(number, _)| number)
}

#[test]
fn every_operation_is_its_call() {
    let found = calls("every_operation_is_its_call", None, |root| {
        let storage = RealStorage::open(root).unwrap();
        storage.create_dir("m").unwrap();
        storage.sync_dir("").unwrap();
        let file = storage.create("m/x.tmp", Create::New).unwrap();
        file.write_all_at(b"abc", 0).unwrap();
        file.sync().unwrap();
        storage.rename("m/x.tmp", "m/x").unwrap();
        storage.sync_dir("m").unwrap();
        storage.link("m/x", "y").unwrap();
        storage.remove("m/x").unwrap();
        storage.sync_dir("m").unwrap();
        storage.sync_dir("").unwrap();
        let file = storage.open_write("y").unwrap();
        file.write_all_at(b"d", 3).unwrap();
        file.sync().unwrap();
    });
    let begin = ["mkdir m", "sync", "create m/x.tmp", "write m/x.tmp", "sync m/x.tmp", "rename m/x", "sync m"];
    let end = ["link y", "unlink m/x", "sync m", "sync", "write y", "sync y"];
    assert_eq!(found, [&begin[..], &end].concat());
}

/// Creates a folder two levels below `root`.
fn create(root: &Path) {
    let created = RealStorage::create(root.join("a/run"));
    assert_eq!(created.is_err(), env::var_os("FAULTS_AT").is_some());
}

#[test]
fn the_names_of_a_new_folder_and_its_parents_are_synced() {
    let name = "the_names_of_a_new_folder_and_its_parents_are_synced";
    let found = calls(name, None, create);
    let (made, synced) = found.split_at(found.iter().rposition(|call| call.starts_with("mkdir")).unwrap() + 1);
    assert_eq!(made.last().unwrap(), "mkdir a/run");
    assert_eq!(synced, ["sync", "sync a"]);
    // If one of these syncs fails, so does the call.
    for call in syncs(&found) {
        calls(name, Some(call), create);
    }
}

#[test]
fn the_name_of_a_folder_that_is_there_is_synced_again() {
    let found = calls("the_name_of_a_folder_that_is_there_is_synced_again", None, |root| {
        fs::create_dir(root.join("run")).unwrap();
        RealStorage::create(root.join("run")).unwrap();
    });
    assert!(found.ends_with(&["sync".to_owned()]), "{found:?}");
}

/// Makes every change, and each after every sync; with a sync that fails, all later ones must be
/// refused.
fn change(root: &Path) {
    let storage = RealStorage::open(root).unwrap();
    storage.create_dir("m").unwrap();
    let file = storage.create("m/x", Create::New).unwrap();
    let write = || file.write_all_at(b"abc", 0);
    let syncs: [&dyn Fn() -> Result<(), Error>; 3] =
        [&|| file.sync(), &|| storage.sync_dir("m"), &|| storage.sync_dir("")];
    let changes: [&dyn Fn() -> Result<(), Error>; 7] = [
        &write,
        &|| storage.create_dir("n"),
        &|| storage.create("y", Create::Truncate).map(drop),
        &|| storage.open_write("m/x").map(drop),
        &|| storage.rename("y", "z"),
        &|| storage.link("z", "n/z"),
        &|| storage.remove("z").and_then(|()| storage.remove("n/z")),
    ];
    write().unwrap();
    let mut has_failed = false;
    for step in syncs.iter().chain(&changes).chain(&syncs) {
        match step() {
            Ok(()) => assert!(!has_failed, "a change after a failed sync"),
            Err(Error::Io { operation: "sync", .. }) if !has_failed => has_failed = true,
            Err(error) => assert!(has_failed && matches!(error, Error::Poisoned), "{error:?}"),
        }
    }
    assert_eq!(has_failed, env::var_os("FAULTS_AT").is_some());
    let mut bytes = [0; 3];
    storage.open("m/x").unwrap().read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"abc", "reads go on");
    let again = storage.with_syncs(true).create_dir("o");
    assert_eq!(matches!(again, Err(Error::Poisoned)), has_failed, "{again:?}");
}

#[test]
fn a_failed_sync_poisons_the_real_storage() {
    let name = "a_failed_sync_poisons_the_real_storage";
    let whole = calls(name, None, change);
    assert_eq!(syncs(&whole).count(), 6, "{whole:?}");
    for call in syncs(&whole) {
        // Nothing reaches the disk after it.
        assert_eq!(calls(name, Some(call), change), whole[..=call]);
    }
}

/// Follows calls; asserts that a file has its bytes before it gets its name, and that bytes and
/// names are safe when something is reported as done. Temporary names need not be. Returns how
/// often something was.
fn is_safe(calls: &[String]) -> usize {
    let is_temporary = |name: &str| name.starts_with("tmp/") || [".tmp", ".part"].iter().any(|end| name.ends_with(end));
    let mut unsafe_bytes: BTreeSet<&str> = BTreeSet::new();
    let mut unsafe_names: BTreeSet<&str> = BTreeSet::new();
    let mut done = 0;
    for (number, call) in calls.iter().enumerate() {
        let (kind, name) = call.split_once(' ').unwrap_or((call, ""));
        match kind {
            "mkdir" if name.starts_with(DONE) => {
                let left: Vec<_> = unsafe_bytes.iter().filter(|name| !is_temporary(name)).collect();
                assert!(left.is_empty(), "call {number}, {call}: {left:?}");
                assert!(unsafe_names.is_empty(), "call {number}, {call}: {unsafe_names:?}");
                done += 1;
            }
            "write" | "truncate" => drop(unsafe_bytes.insert(name)),
            "sync" => {
                unsafe_bytes.remove(name);
                unsafe_names
                    .retain(|unsafe_name: &&str| unsafe_name.rsplit_once('/').map_or("", |(folder, _)| folder) != name);
            }
            _ => {
                let early =
                    unsafe_bytes.iter().find(|name| is_temporary(name)).filter(|_| ["rename", "link"].contains(&kind));
                assert!(early.is_none(), "call {number}, {call}: {early:?} has no bytes yet");
                if kind == "unlink" {
                    unsafe_bytes.remove(name);
                }
                if !is_temporary(name) {
                    unsafe_names.insert(name);
                }
            }
        }
    }
    done
}

#[test]
fn what_a_solve_reports_is_safe_on_the_real_storage() {
    let found = calls("what_a_solve_reports_is_safe_on_the_real_storage", None, |root| {
        for keep in [Keep::Database, Keep::Counts, Keep::Book { pieces: 6 }] {
            let game = Game::triangle(4, Rule::Misere, 6).unwrap();
            let folder = root.join(keep.to_string().replace(':', "-"));
            Solve::from(&game).keep(keep).threads(1).memory_bytes(1 << 26).run(&folder).unwrap();
            fs::create_dir(root.join(format!("{DONE}-{}", folder.file_name().unwrap().display()))).unwrap();
        }
    });
    // A lock is in each folder of a run, and its logs are of no use in the end.
    let found: Vec<String> =
        found.into_iter().filter(|call| !call.ends_with("/LOCK") && !call.contains("/logs/")).collect();
    assert_eq!(is_safe(&found), 3, "{found:?}");
}

#[test]
fn what_a_task_reports_is_safe_on_the_real_storage() {
    for (keep, work) in [
        (Keep::Database, (|root| tasks(root, Keep::Database)) as fn(&Path)),
        (Keep::Counts, |root| tasks(root, Keep::Counts)),
    ] {
        let found = calls("what_a_task_reports_is_safe_on_the_real_storage", None, work);
        assert!(is_safe(&found) > 8, "{keep}: {found:?}");
    }
}

/// Solves in tasks, and reports each.
fn tasks(root: &Path, keep: Keep) {
    let (game, terms) = (Game::triangle(4, Rule::Misere, 6).unwrap(), Terms::from(keep));
    let spec = terms.spec(&game);
    let store = FolderStore::new(Arc::new(RealStorage::open(root).unwrap()), "w");
    let done = |what: &str| fs::create_dir(root.join(format!("{DONE}-{what}"))).unwrap();
    let options = task::TaskOptions {
        kernel: Kernel::detect(),
        threads: 1,
        memory_bytes: 1 << 20,
        at_once: 1,
        keeps_streams: false,
        wait: &|_| false,
    };
    task::init(&store, spec).unwrap();
    done("init");
    for block in BlockId::all(spec.blocks()) {
        task::compute(&store, spec, &[block], &options).unwrap();
        done(&format!("block-{}", block.0));
    }
    task::finish(&store, spec, options.kernel, 1, |_| {}).unwrap();
    done("finish");
}

/// Outputs that are new and that replace, each with the mode of any new file.
fn outputs(root: &Path) {
    let mode = |name: &str| fs::metadata(root.join(name)).unwrap().permissions();
    for replaces in [false, true] {
        let output = OutputFile::claim_new(&root.join("x"), "--out", replaces).unwrap();
        let mut file = output.begin().unwrap();
        file.write(b"first").unwrap();
        file.write(b"second").unwrap();
        file.finish().unwrap();
    }
    fs::write(root.join("usual"), "").unwrap();
    assert_eq!(mode("x"), mode("usual"));
}

/// With files without a name, and where the system does not let one be named.
#[test]
fn an_output_is_on_the_disk_before_it_has_its_name() {
    let name = "an_output_is_on_the_disk_before_it_has_its_name";
    let whole = calls(name, None, outputs);
    let trials: Vec<usize> = (0..whole.len()).filter(|call| whole[*call].starts_with("link .trinim.")).collect();
    for fails in [None].into_iter().chain(trials.iter().copied().map(Some).take(2)) {
        let found = calls(name, fails, outputs);
        let place = |begin: &str| found.iter().rposition(|call| call.starts_with(begin));
        let named: Vec<usize> = (0..found.len()).filter(|call| found[*call].ends_with(" x")).collect();
        assert_eq!(named.len(), 2, "{found:?}");
        for named in named {
            let before = &found[..named];
            let written = before.iter().rposition(|call| call.starts_with("write")).expect("bytes");
            let synced = before[written..].iter().position(|call| call.starts_with("sync"));
            assert!(
                synced.is_some_and(|synced| !before[written..written + synced].iter().any(|call| is_name(call))),
                "{found:?}"
            );
        }
        assert!(place("create .trinim.").is_some() == fails.is_some(), "{fails:?}: {found:?}");
    }
}

fn is_name(call: &str) -> bool {
    ["link", "rename"].iter().any(|kind| call.starts_with(kind))
}

/// On some network file systems a file has another number at each look: a solve said that another
/// process had its lock.
#[test]
fn a_lock_needs_no_numbers_of_files() {
    if let Some(root) = env::var_os("FAULTS_ROOT") {
        let storage = RealStorage::open(&root).unwrap();
        for _ in 0..2 {
            let held = storage.lock("LOCK").unwrap();
            let other = RealStorage::open(&root).unwrap().lock("LOCK");
            assert!(matches!(other, Err(Error::Locked { .. })));
            drop(held);
        }
        let game = Game::triangle(3, Rule::Misere, 4).unwrap();
        Solve::from(&game).threads(1).memory_bytes(1 << 26).run(&Path::new(&root).join("run")).unwrap();
        std::process::exit(0);
    }
    let scratch = tempfile::tempdir().unwrap();
    let mut command = processes::command(env::current_exe().unwrap());
    command.args(["--exact", "a_lock_needs_no_numbers_of_files", "--nocapture"]);
    let output = command.env("FAULTS_ROOT", scratch.path()).env("FAULTS_RENUMBER", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
