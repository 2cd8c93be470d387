//! The rules of the architecture that neither Cargo nor a lint checks, read from the sources.
//!
//! What has one place, files, clocks, threads, printing and unsafe code, clippy and rustc refuse
//! elsewhere (`clippy.toml`, `Cargo.toml`); here is the list of those places. If a rule turns out
//! to be wrong, change it here instead of working around it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Largest number of lines of a file that gives no reason for being longer.
const LINES_AT_MOST: usize = 500;
/// Largest length of a line with nothing but a comment, in characters.
const COLUMNS_AT_MOST: usize = 100;
/// How the module page of a longer file starts its reason.
const REASON: &str = "Long because";

struct Source {
    /// Path below the root of the repository, with `/`.
    name: String,
    text: String,
}

impl Source {
    /// The lines of code, with their numbers: no comments, no unit tests.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines: Vec<&str> = self.text.lines().collect();
        let tests = lines.windows(2).position(|pair| pair[0] == "#[cfg(test)]" && pair[1] == "mod tests {");
        let end = tests.unwrap_or(lines.len());
        lines.into_iter().enumerate().take(end).filter_map(|(index, line)| {
            let code = line.split("//").next().unwrap_or_default();
            (!code.trim().is_empty()).then_some((index + 1, code))
        })
    }
}

fn collect(folder: &Path, root: &Path, sources: &mut Vec<Source>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, root, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            sources.push(Source { name, text: std::fs::read_to_string(&path).unwrap() });
        }
    }
}

/// All Rust files below these folders of the repository; a missing folder has none.
fn sources(folders: &[&str]) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    for folder in folders.iter().map(|folder| root.join(folder)).filter(|folder| folder.is_dir()) {
        collect(&folder, root, &mut sources);
    }
    sources.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(!sources.is_empty(), "no sources in {folders:?}");
    sources
}

/// What ships: the library, the program and the engine, without modules that only tests use.
fn product() -> Vec<Source> {
    let mut sources = sources(&["src", "pipeline/src"]);
    let test_modules: Vec<String> = sources.iter().flat_map(test_modules).collect();
    sources.retain(|source| !test_modules.contains(&source.name));
    sources
}

/// The files of the modules that a `mod.rs` or `lib.rs` compiles for tests only.
fn test_modules(source: &Source) -> impl Iterator<Item = String> {
    let folder = source.name.rsplit_once('/').map_or("", |(folder, _)| folder);
    source.text.lines().zip(source.text.lines().skip(1)).filter_map(move |(attribute, line)| {
        let module = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'))?;
        (attribute == "#[cfg(test)]").then(|| format!("{folder}/{module}.rs"))
    })
}

fn everything() -> Vec<Source> {
    sources(&["src", "pipeline", "tests", "benches", "tools"])
}

/// Whether `line` has `word` as a whole word: where `word` begins or ends with a letter, digit or
/// underscore, none may be next to it.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_part);
        let after = line[at + word.len()..].chars().next().is_some_and(is_part);
        !(before && word.starts_with(is_part) || after && word.ends_with(is_part))
    })
}

/// How a library turns these lints on.
const REFUSED: &str = "#![cfg_attr(not(test), warn(";
/// Files that may do what the lints refuse elsewhere.
const EXCEPTIONS: [&str; 12] = [
    "pipeline/src/measure/metrics.rs",
    "pipeline/src/parallel.rs",
    "pipeline/src/run/mod.rs",
    "pipeline/src/storage/real.rs",
    "pipeline/src/storage/regular.rs",
    // A map of a file.
    "src/database/files.rs",
    "src/evolve/search/runs.rs",
    "src/kernel/lib.rs",
    // The papers' strategies in blocks: a free core takes any block whose children are finished.
    "src/solve/baseline/blocks.rs",
    "tools/preload/src/lib.rs",
    "tools/simulation/scheduler/src/world.rs",
    "tools/src/bin/faults/system.rs",
];

#[test]
fn what_has_one_place_is_excepted_from_its_lint_there_only() {
    let lints = ["unsafe_code", "disallowed_methods", "disallowed_types", "print_stdout", "print_stderr"];
    let sources = sources(&["src", "pipeline", "tools"]);
    let is_exception = |source: &&Source| {
        let mut lines = source.code().filter(|(_, line)| !line.starts_with(REFUSED) && !line.starts_with("#![forbid("));
        lines.any(|(_, line)| lints.iter().any(|lint| has_word(line, lint)))
    };
    let found: Vec<&str> = sources.iter().filter(is_exception).map(|source| &*source.name).collect();
    assert_eq!(found, EXCEPTIONS);
    let libraries = sources.iter().filter(|source| source.text.lines().any(|line| line.starts_with(REFUSED)));
    let libraries: Vec<&str> = libraries.map(|source| &*source.name).collect();
    let all = [
        "pipeline/src/lib.rs",
        "src/evolve/lib.rs",
        "src/game/lib.rs",
        "src/kernel/lib.rs",
        "src/lib.rs",
        "src/plane/lib.rs",
    ];
    assert_eq!(libraries, all);
}

/// `cfg(simulated)` replaces threads, and a copy of the sources leaves out rules of the protocol:
/// one package does both, and nothing that ships depends on it.
#[test]
fn the_simulation_is_not_part_of_the_product() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    assert!(text("tools/simulation/copy.rs").contains("cargo::rustc-cfg={kind}"));
    for package in ["Cargo.toml", "pipeline/Cargo.toml"] {
        let manifest = text(package);
        let dependencies = manifest.split_once("[dependencies]").unwrap().1;
        assert!(!dependencies.contains("simulat") && !dependencies.contains("scheduler"), "{package}");
        let shipped = dependencies.split("[dev-dependencies]").next().unwrap();
        assert!(!shipped.contains("testing"), "{package} ships the storage of tests");
        assert!(!root.join(package).with_file_name("build.rs").exists(), "{package} has a build script");
    }
    // It could switch the simulation on for everybody, and sets how fast a few packages are only.
    let config = text(".cargo/config.toml");
    let mut settings = config.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert_eq!(settings.next(), Some("[profile.release.package]"));
    assert!(settings.all(|line| line.ends_with(".opt-level = 1")), "{config}");
    let words = ["simulated", "omitted", "omits"];
    for source in product().iter().filter(|source| source.name != "pipeline/src/sync.rs") {
        let mut code = source.code().filter(|(_, line)| line.contains("cfg(") || line.contains("omit"));
        assert!(code.all(|(_, line)| !words.iter().any(|word| has_word(line, word))), "a switch in {}", source.name);
    }
}

#[test]
fn the_citation_names_this_version() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let citation = std::fs::read_to_string(root.join("CITATION.cff")).unwrap();
    let expected = concat!("version: ", env!("CARGO_PKG_VERSION"));
    assert!(citation.lines().any(|line| line == expected), "no line `{expected}` in CITATION.cff");
}

/// Imports run one way; what packages may use is Cargo's to say. The verifier is believed because
/// it shares no code with the solver: of its room it takes threads and their request.
#[test]
fn imports_run_one_way() {
    // What a room may import beside itself; of the program's, which of the program.
    let allowed: [(&str, &[&str]); 10] = [
        ("layout", &[]),
        ("database", &["layout"]),
        ("care::verify", &["care::workers", "database", "layout"]),
        ("care::workers", &[]),
        ("task", &["database", "layout", "plan", "solve"]),
        ("report::draw", &["amount", "report"]),
        ("report", &["amount", "database", "layout", "play"]),
        ("play", &["database", "solve"]),
        ("cli::words", &["cli::face"]),
        ("cli::face", &[]),
    ];
    let is_in = |module: &str, room: &str| {
        module
            .strip_prefix("trinim::")
            .and_then(|module| module.strip_prefix(room))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let mut wrong = Vec::new();
    for (from, all) in imports(&product()) {
        let Some((room, rooms)) = allowed.iter().find(|(room, _)| is_in(&from, room)) else { continue };
        let is_meant = |to: &&String| to.starts_with("trinim::") && (!room.starts_with("cli") || is_in(to, "cli"));
        let others =
            all.iter().filter(is_meant).filter(|to| !is_in(to, room) && !rooms.iter().any(|room| is_in(to, room)));
        wrong.extend(others.map(|to| format!("{from} -> {to}")));
    }
    assert!(wrong.is_empty(), "imports against the direction: {wrong:#?}");
}

/// The name of a file's module, begun with its crate. The program's modules count as the library's:
/// no name is in both.
fn module_of(source: &Source) -> String {
    let leaves = ["game", "kernel", "plane", "evolve"];
    let (above, name) = source.name.rsplit_once("src/").unwrap();
    let leaf = leaves.iter().find_map(|leaf| Some((leaf, name.strip_prefix(leaf)?.strip_prefix('/')?)));
    let (package, name) = match (above.trim_end_matches('/').rsplit('/').next(), leaf) {
        (Some(""), Some((leaf, name))) => (format!("trinim_{leaf}"), name),
        (Some(""), None) => ("trinim".to_owned(), name),
        (package, _) => (package.unwrap_or_default().to_owned(), name),
    };
    let name = format!("{package}/{}", name.strip_suffix(".rs").unwrap());
    let name = ["/mod", "/lib"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    name.replace('/', "::")
}

/// Reads a path or a tree of paths, `a::{b, c as d}`, from the front of the tokens; with each path
/// goes its name in the file.
fn read_paths<'t>(tokens: &mut &'t [String], before: &[&'t str], paths: &mut Vec<(Vec<&'t str>, &'t str)>) {
    let next = |tokens: &mut &'t [String]| tokens.split_off_first().map_or("", |token| token.as_str());
    let is = |tokens: &[String], token: &str| tokens.first().is_some_and(|first| first == token);
    if is(tokens, "{") {
        while !["}", ""].contains(&next(tokens)) {
            // The token was the brace or a comma; a comma may be the last before the closing brace.
            if !is(tokens, "}") {
                read_paths(tokens, before, paths);
            }
        }
        return;
    }
    let name = next(tokens);
    let path = if name == "self" && !before.is_empty() { before.to_vec() } else { [before, &[name]].concat() };
    if is(tokens, "::") && tokens.get(1).is_some_and(|token| token == "{" || token.starts_with(char::is_alphabetic)) {
        next(tokens);
        read_paths(tokens, &path, paths);
    } else {
        let renamed = is(tokens, "as").then(|| (next(tokens), next(tokens)).1);
        let last = *path.last().unwrap();
        paths.push((path, renamed.unwrap_or(last)));
    }
}

/// All paths in the code of a file, from the root of a crate on, and the names that its imports
/// give them; other paths give none, though they may end like a name of the file's own. A path that
/// begins with a name of the file itself is not among them: where that name comes from, there is a
/// path.
fn paths_of(source: &Source, modules: &BTreeMap<String, &Source>) -> Vec<(String, Option<String>)> {
    let mut tokens: Vec<String> = Vec::new();
    for c in source.code().flat_map(|(_, line)| line.chars().chain(['\n'])) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        match tokens.last_mut() {
            Some(last) if last.ends_with(is_word) && is_word(c) || last == ":" && c == ':' => last.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    tokens.retain(|token| !token.trim().is_empty());
    let (own, mut tokens, mut paths, mut is_import) = (module_of(source), &*tokens, Vec::new(), false);
    while let Some(token) = tokens.first() {
        if token.starts_with(char::is_alphabetic) && tokens.get(1).is_some_and(|next| next == "::") {
            let mut found = Vec::new();
            read_paths(&mut tokens, &[], &mut found);
            paths.extend(found.into_iter().map(|(path, name)| (path, is_import.then(|| name.to_owned()))));
        } else {
            is_import = token == "use" || is_import && token != ";";
            tokens = &tokens[1..];
        }
    }
    let from_the_root = |(path, name): (Vec<&str>, Option<String>)| {
        let above = path.iter().take_while(|part| **part == "super").count();
        let parts: Vec<&str> = own.split("::").collect();
        let base = match path[0] {
            "crate" => parts[..1].join("::"),
            "super" => parts[..parts.len().saturating_sub(above)].join("::"),
            "self" => own.clone(),
            package if modules.contains_key(package) => return Some((path.join("::"), name)),
            child if modules.contains_key(&format!("{own}::{child}")) => {
                return Some((format!("{own}::{}", path.join("::")), name));
            }
            _ => return None,
        };
        Some(([&[&*base], &path[above.max(1)..]].concat().join("::"), name))
    };
    paths.into_iter().filter_map(from_the_root).collect()
}

/// Each file's imports from other files, by the names of their modules.
///
/// A file imports the file in which a name is defined, through whatever `mod.rs` passes it on. What
/// a `mod.rs` takes from files below it does not count: it declares them, and they share what it
/// defines.
fn imports(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let modules: BTreeMap<String, &Source> = sources.iter().map(|source| (module_of(source), source)).collect();
    let paths: BTreeMap<&String, Vec<(String, Option<String>)>> =
        modules.iter().map(|(module, source)| (module, paths_of(source, &modules))).collect();
    let defined_in = |path: &str| {
        let mut path = path.to_owned();
        loop {
            let ends = path.match_indices("::").map(|(at, _)| at).chain([path.len()]);
            let at = ends.filter(|at| modules.contains_key(&path[..*at])).last()?;
            let (module, rest) = (&path[..at], path[at..].trim_start_matches("::"));
            let (name, below) = rest.split_once("::").unwrap_or((rest, ""));
            let passed_on =
                paths[&module.to_owned()].iter().find(|(to, known)| known.as_deref() == Some(name) && *to != path);
            match passed_on {
                Some((to, _)) => path = format!("{to}::{below}").trim_end_matches("::").to_owned(),
                None => return Some(module.to_owned()),
            }
        }
    };
    let others = |(module, paths): (&&String, &Vec<(String, Option<String>)>)| {
        let is_below = |to: &String| to == *module || to.starts_with(&format!("{module}::"));
        let found = paths.iter().filter_map(|(path, _)| defined_in(path)).filter(|to| !is_below(to));
        ((*module).clone(), found.collect())
    };
    paths.iter().map(others).collect()
}

/// Imports between files that lie on a circle of imports, `from -> to`.
fn imports_in_circles(sources: &[Source]) -> Vec<String> {
    let imports = imports(sources);
    let leads = |from: &String, end: &String| {
        let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
        while let Some(module) = open.pop() {
            open.extend(imports[module].iter().filter(|to| seen.insert(to)));
        }
        seen.contains(end)
    };
    let all = imports.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    all.filter(|(from, to)| leads(to, from)).map(|(from, to)| format!("{from} -> {to}")).collect()
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    assert_eq!(imports_in_circles(&product()), [""; 0]);
    assert_eq!(imports_in_circles(&sources(&["tools/simulation/src"])), [""; 0]);
}

#[test]
fn circles_are_found_through_groups_of_names_and_through_what_is_passed_on() {
    let source = |name: &str, text: &str| Source { name: name.to_owned(), text: text.to_owned() };
    let files = |last: &str| {
        [
            source("src/lib.rs", "mod a;\nmod b;\nmod c;\nmod e;\npub use a::A;\n"),
            source("src/a/mod.rs", "mod deep;\npub use deep::Deep;\npub struct A;\n"),
            source("src/a/deep.rs", "use super::A;\nuse crate::{\n    b::{self, B},\n};\npub struct Deep;\n"),
            // A path that ends like the file's own name is no import of that name.
            source("src/b.rs", "fn b() -> super::c::C<u8> {}\npub struct B(other::B, crate::e::B);\n"),
            source("src/e.rs", "pub struct B;\n"),
            source("src/c.rs", last),
        ]
    };
    let circle = ["trinim::a::deep -> trinim::b", "trinim::b -> trinim::c", "trinim::c -> trinim::a::deep"];
    assert_eq!(imports_in_circles(&files("use crate::a::Deep as D;\n")), circle);
    assert_eq!(imports_in_circles(&files("use crate::A;\n")), [""; 0]);
    let pair = ["trinim::b -> trinim::c", "trinim::c -> trinim::b"];
    assert_eq!(imports_in_circles(&files("use crate::b::B;\n")), pair);
    assert_eq!(imports_in_circles(&files("#[cfg(test)]\nmod tests {\n    use crate::a::Deep;\n}\n")), [""; 0]);
}

/// Test files may have any length: they are lists of cases.
#[test]
fn long_files_say_why() {
    let mut found = String::new();
    let sources = sources(&["src", "pipeline/src", "benches", "tools"]);
    for source in sources.iter().filter(|source| !source.name.contains("/tests/")) {
        let lines = source.text.lines().count();
        let mut page = source.text.lines().take_while(|line| line.starts_with("//!"));
        if lines > LINES_AT_MOST && !page.any(|line| line.contains(REASON)) {
            writeln!(found, "{}: {lines} lines, and no \"{REASON} ..\" on the module page", source.name).unwrap();
        }
    }
    assert!(found.is_empty(), "{found}");
}

/// Tables and what stands between fences, code and pictures, cannot be wrapped.
#[test]
fn comments_end_at_column_100() {
    let mut found = String::new();
    for source in everything() {
        let mut is_fenced = false;
        for (number, line) in (1..).zip(source.text.lines()) {
            let Some(comment) = line.trim_start().strip_prefix("//") else {
                is_fenced = false;
                continue;
            };
            let comment = comment.trim_start_matches(['/', '!']).trim_start();
            is_fenced ^= comment.starts_with("```");
            if line.chars().count() > COLUMNS_AT_MOST && !is_fenced && !comment.starts_with('|') {
                writeln!(found, "{}:{number}: {comment}", source.name).unwrap();
            }
        }
    }
    assert!(found.is_empty(), "{found}");
}

#[test]
fn every_module_has_a_page() {
    let pages = everything();
    let without: Vec<&str> =
        pages.iter().filter(|source| !source.text.starts_with("//!")).map(|source| &*source.name).collect();
    assert!(without.is_empty(), "no module page: {without:?}");
}

#[test]
fn nothing_is_left_for_later_and_no_test_is_skipped() {
    let words =
        [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("#[ig", "nore"), concat!("to", "do!")];
    let mut found = String::new();
    for source in everything() {
        for (number, line) in (1..).zip(source.text.lines()) {
            if words.iter().any(|word| has_word(line, word)) {
                writeln!(found, "{}:{number}: {}", source.name, line.trim()).unwrap();
            }
        }
    }
    assert!(found.is_empty(), "{found}");
}
