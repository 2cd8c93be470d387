//! Copies shipped sources and applies diffs to the copy, so that the shipped code has no test
//! switches. All packages that are such copies share this build script.
//!
//! The diffs are in the package's folder `changes`: controls, which leave out rules of the
//! protocol, or sizes, which make constants small. Line numbers are ignored: the old lines of each
//! hunk, context and removals, must occur in the file exactly once. When the sources change such a
//! line, the build stops here until the diff is updated.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let package = env::var("CARGO_PKG_NAME").expect("cargo sets CARGO_PKG_NAME");
    let (sources, kind) = package.rsplit_once('-').expect("a package of sources and their change");
    let name = match sources {
        "pipeline" => "pipeline/src",
        "trinim" => "src",
        "trinim-task" => "src/task",
        other => panic!("no sources of {other}"),
    };
    let sources = Path::new("../../..").join(name);
    println!("cargo::rustc-cfg={kind}");
    for input in [Path::new("changes"), &sources] {
        println!("cargo::rerun-if-changed={}", input.display());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    if out.join("src").exists() {
        fs::remove_dir_all(out.join("src")).expect("the last copy can be removed");
    }
    copy(&sources, &out.join("src"));
    // Unit tests of the engine include them from there.
    let testing = sources.with_file_name("testing");
    if testing.exists() {
        copy(&testing, &out.join("testing"));
    }
    bare(&out.join("src/lib.rs"));
    for change in sorted(Path::new("changes")) {
        apply(&change, &out.join("src"), name);
    }
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry of a folder").path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    for path in sorted(from) {
        let target = to.join(path.file_name().expect("entries have names"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}

/// Drops the page and the attributes of the crate, with which an included file must not start.
fn bare(root: &Path) {
    let inner = |line: &&str| !line.starts_with("//!") && !line.starts_with("#![");
    let lines = read(root).lines().filter(inner).map(|line| format!("{line}\n")).collect::<String>();
    write(root, &lines);
}

/// Applies one diff below `out`, which replaces the folder of the sources with this name.
fn apply(change: &Path, out: &Path, name: &str) {
    let diff = read(change);
    let mut file = None;
    // The file, old lines and new lines of each hunk.
    let mut hunks: Vec<(PathBuf, String, String)> = Vec::new();
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("+++ b/") {
            let path = Path::new(path).strip_prefix(name);
            file = Some(out.join(path.unwrap_or_else(|_| panic!("{}: {line} is not in {name}", change.display()))));
        } else if line.starts_with("@@") {
            let file = file.clone().unwrap_or_else(|| panic!("{}: a hunk before its file", change.display()));
            hunks.push((file, String::new(), String::new()));
        } else if let Some((_, before, after)) = hunks.last_mut().filter(|_| !line.starts_with("--- ")) {
            let (kind, text) = line.split_at_checked(1).unwrap_or((" ", ""));
            assert!([" ", "-", "+"].contains(&kind), "{}: {line:?} is not a line of a diff", change.display());
            if kind != "+" {
                before.extend([text, "\n"]);
            }
            if kind != "-" {
                after.extend([text, "\n"]);
            }
        }
    }
    assert!(!hunks.is_empty(), "{} changes nothing", change.display());
    for (file, before, after) in hunks {
        // Match whole lines: the texts start after the end of a line.
        let (source, before, after) = (format!("\n{}", read(&file)), format!("\n{before}"), format!("\n{after}"));
        let found = source.matches(&before).count();
        assert!(
            found == 1,
            "{} no longer fits {}: these lines occur {found} times, not once. The sources \
             have changed; update the diff so that it still changes what it is about.{before}",
            change.display(),
            file.strip_prefix(out).unwrap_or(&file).display(),
        );
        write(&file, &source.replace(&before, &after)[1..]);
    }
}
