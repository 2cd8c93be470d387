//! The rules of the architecture that neither Cargo nor a lint checks, read from the sources.
//!
//! Packages hold most directions of imports, and clippy and rustc refuse files, clocks, threads,
//! printing and unsafe code where they have no place (`clippy.toml`, `Cargo.toml`); here is the
//! list of those places, and the order of the rooms within a package. If a rule turns
//! out to be wrong, change it here instead of working around it.

use std::path::Path;

/// Largest number of lines of a file that gives no reason for being longer.
const LINES_AT_MOST: usize = 500;
/// Largest length of a line with nothing but a comment, in characters.
const COLUMNS_AT_MOST: usize = 100;

/// A file: its path below the root of the repository, and its text.
type Source = (String, String);

fn collect(folder: &Path, root: &Path, sources: &mut Vec<Source>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, root, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            sources.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// All Rust files below these folders of the repository, by name.
fn sources(folders: &[&str]) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    folders.iter().for_each(|folder| collect(&root.join(folder), root, &mut sources));
    sources.sort();
    assert!(!sources.is_empty(), "no sources in {folders:?}");
    sources
}

fn everything() -> Vec<Source> {
    sources(&["src", "pipeline", "tests", "benches", "tools"])
}

/// The lines of code, without comments and without unit tests.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    shipped.lines().map(|line| line.split("//").next().unwrap_or_default())
}

/// Files that may do what the lints refuse elsewhere.
const EXCEPTIONS: [&str; 14] = [
    "pipeline/src/measure/metrics.rs",
    "pipeline/src/parallel.rs",
    "pipeline/src/run/mod.rs",
    "pipeline/src/storage/real.rs",
    "pipeline/src/storage/regular.rs",
    "pipeline/src/storage/scratch.rs",
    "pipeline/src/sync.rs",
    "src/cli/mod.rs",
    "src/evolve/search/runs.rs",
    "src/kernel/lib.rs",
    // What it sees before the standard library does.
    "src/terminal/streams.rs",
    "tools/preload/src/lib.rs",
    "tools/simulation/scheduler/src/world.rs",
    "tools/src/bin/faults/system.rs",
];

#[test]
fn what_has_one_place_is_excepted_from_its_lint_there_only() {
    let lints = ["unsafe_code", "disallowed_methods", "disallowed_types", "print_stdout", "print_stderr"];
    let refuses = |line: &&str| line.starts_with("#![cfg_attr(not(test), warn(") || line.starts_with("#![forbid(");
    let is_exception = |(_, text): &&Source| {
        code(text).filter(|line| !refuses(line)).any(|line| lints.iter().any(|lint| line.contains(lint)))
    };
    let sources = sources(&["src", "pipeline", "tools"]);
    let found: Vec<&str> = sources.iter().filter(is_exception).map(|(name, _)| &**name).collect();
    assert_eq!(found, EXCEPTIONS);
    // Each library turns the lints on.
    for package in
        ["pipeline/src", "src", "src/evolve", "src/game", "src/kernel", "src/papers", "src/plane", "src/task"]
    {
        let (name, text) = sources.iter().find(|(name, _)| *name == format!("{package}/lib.rs")).unwrap();
        assert!(text.lines().any(|line| line.starts_with("#![cfg_attr(not(test), warn(")), "{name}");
    }
}

#[test]
fn the_citation_names_this_version() {
    let citation = include_str!("../../CITATION.cff");
    let expected = concat!("version: ", env!("CARGO_PKG_VERSION"));
    assert!(citation.lines().any(|line| line == expected), "no line `{expected}` in CITATION.cff");
}

/// What a room may import from its crate, beside itself. The witness is believed because it shares
/// no code with the solver.
const ROOMS: [(&str, &str); 13] = [
    ("src/layout", ""),
    ("src/database", "layout"),
    ("src/witness", "database layout"),
    ("src/maintenance/verify", "maintenance::workers database layout witness"),
    ("src/maintenance/workers", ""),
    ("src/maintenance", "database layout plan solve"),
    ("src/play", "database solve"),
    ("pipeline/src/storage", "error finding sync"),
    ("pipeline/src/codec", ""),
    ("pipeline/src/measure", "sync"),
    ("pipeline/src/log", "bytes codec error ids measure storage sync thresholds workload"),
    ("pipeline/src/checkpoint", "bytes error finding ids log parallel storage testing"),
    (
        "pipeline/src/run",
        "audit bitmap checkpoint codec error ids log measure storage stream_cache sync thresholds workload",
    ),
];

#[test]
fn imports_run_one_way() {
    let mut wrong = Vec::new();
    for (name, text) in &sources(&["src", "pipeline/src"]) {
        let Some((room, rooms)) = ROOMS.iter().find(|(room, _)| name.starts_with(room)) else { continue };
        let own = room.split_once("src/").unwrap().1.trim_end_matches('/').replace('/', "::");
        for line in code(text) {
            let paths = line.match_indices("crate::").map(|(at, start)| &line[at + start.len()..]);
            // What the root of a crate passes on begins with a capital letter.
            let paths = paths.filter(|path| !path.starts_with(char::is_uppercase));
            let is_fine =
                |path: &&str| rooms.split(' ').chain([&*own]).any(|room| !room.is_empty() && path.starts_with(room));
            wrong.extend(paths.filter(|path| !is_fine(path)).map(|path| format!("{name} -> {path}")));
        }
    }
    assert!(wrong.is_empty(), "imports against the direction: {wrong:#?}");
}

/// The most lines of each room without unit tests. A commit that raises one lowers another.
const CEILINGS: [(&str, usize); 19] = [
    ("pipeline/src/", 10_495),
    ("src/maintenance/", 2_346),
    ("src/cli/", 2_212),
    ("src/commands/", 3_149),
    ("src/database/", 4_165),
    ("src/evolve/", 8_393),
    ("src/game/", 2_334),
    ("src/job/", 932),
    ("src/kernel/", 2_860),
    ("src/layout/", 1_825),
    ("src/papers/", 5_196),
    ("src/plan/", 1_426),
    ("src/plane/", 2_971),
    ("src/play/", 1_243),
    ("src/serve/", 2_503),
    ("src/solve/", 1_320),
    ("src/task/", 3_578),
    ("src/terminal/", 2_982),
    ("src/witness/", 1_204),
];
/// The rooms that no program can leave out: the solver, its engine, its program.
const CORE_AT_MOST: usize = 38_694;
/// Programs beside the core.
const BESIDE: [&str; 5] = ["src/evolve/", "src/papers/", "src/plane/", "src/serve/", "src/task/"];

/// The lines of a file without its unit tests.
fn lines((name, text): &Source) -> usize {
    let tests = name.ends_with("/tests.rs") || ["/tests/", "/benches/"].iter().any(|folder| name.contains(folder));
    let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    if tests { 0 } else { shipped.lines().count() }
}

#[test]
fn rooms_keep_their_ceilings() {
    let sources = sources(&["src", "pipeline/src"]);
    let below = |start: &str| sources.iter().filter(|(name, _)| name.starts_with(start)).map(lines).sum::<usize>();
    for (room, most) in CEILINGS {
        let found = below(room);
        assert!(found <= most, "{room} has {found} lines, {most} at most: what goes for what came?");
    }
    let core = below("") - BESIDE.iter().map(|room| below(room)).sum::<usize>();
    assert!(core <= CORE_AT_MOST, "the core has {core} lines, {CORE_AT_MOST} at most");
}

/// Test files may have any length: they are lists of cases.
#[test]
fn long_files_say_why() {
    for (name, text) in sources(&["src", "pipeline/src", "benches", "tools"]) {
        let mut page = text.lines().take_while(|line| line.starts_with("//!"));
        let is_long = !name.contains("/tests/") && text.lines().count() > LINES_AT_MOST;
        assert!(!is_long || page.any(|line| line.contains("Long because")), "{name}: \"Long because ..\" is missing");
    }
}

/// Tables and what stands between fences, code and pictures, cannot be wrapped.
#[test]
fn comments_end_at_column_100() {
    let mut found = Vec::new();
    for (name, text) in everything() {
        let mut is_fenced = false;
        for (number, line) in (1..).zip(text.lines()) {
            let comment = line.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!', ' ']));
            is_fenced = comment.is_some_and(|comment| is_fenced ^ comment.starts_with("```"));
            let is_free = is_fenced || comment.is_none_or(|comment| comment.starts_with('|'));
            if line.chars().count() > COLUMNS_AT_MOST && !is_free {
                found.push(format!("{name}:{number}"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_module_has_a_page_and_nothing_is_left_for_later() {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("#[ig", "nore"), concat!("to", "do!")];
    for (name, text) in everything() {
        assert!(text.starts_with("//!"), "{name} has no module page");
        assert!(words.iter().all(|word| !text.contains(word)), "{name}: something is left for later");
    }
}
