//! Copies the engine's sources and applies the controls to the copy, so that the shipped engine has
//! no test switches.
//!
//! A control is a diff of `pipeline/src` in the folder `controls`. Line numbers are ignored: the
//! old lines of each hunk, context and removals, must occur in the file exactly once. When the
//! engine changes such a line, the build stops here until the diff is updated.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rustc-cfg=simulated");
    for input in ["build.rs", "controls", SOURCES] {
        println!("cargo::rerun-if-changed={input}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    if out.join("src").exists() {
        fs::remove_dir_all(out.join("src")).expect("the last copy can be removed");
    }
    copy(Path::new(SOURCES), &out.join("src"));
    for control in sorted(Path::new("controls")) {
        apply(&control, &out);
    }
}

/// The sources of the engine, as this package sees them.
const SOURCES: &str = "../../../pipeline/src";

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
        } else if path == Path::new(SOURCES).join("lib.rs") {
            // An included file must not start with attributes of the crate or with its page.
            let inner = |line: &&str| !line.starts_with("//!") && !line.starts_with("#![");
            let lines = read(&path).lines().filter(inner).map(|line| format!("{line}\n")).collect::<String>();
            write(&target, &lines);
        } else {
            write(&target, &read(&path));
        }
    }
}

/// Applies one diff below `out`, whose folder `src` stands for `pipeline/src`.
fn apply(control: &Path, out: &Path) {
    let diff = read(control);
    let mut file = None;
    // The file, old lines and new lines of each hunk.
    let mut hunks: Vec<(PathBuf, String, String)> = Vec::new();
    for line in diff.lines() {
        if let Some(name) = line.strip_prefix("+++ b/pipeline/") {
            file = Some(out.join(name));
        } else if line.starts_with("@@") {
            let file = file.clone().unwrap_or_else(|| panic!("{}: a hunk before its file", control.display()));
            hunks.push((file, String::new(), String::new()));
        } else if let Some((_, before, after)) = hunks.last_mut().filter(|_| !line.starts_with("--- ")) {
            let (kind, text) = line.split_at_checked(1).unwrap_or((" ", ""));
            assert!([" ", "-", "+"].contains(&kind), "{}: {line:?} is not a line of a diff", control.display());
            if kind != "+" {
                before.extend([text, "\n"]);
            }
            if kind != "-" {
                after.extend([text, "\n"]);
            }
        }
    }
    assert!(!hunks.is_empty(), "{} changes nothing", control.display());
    for (file, before, after) in hunks {
        // Match whole lines: the texts start after the end of a line.
        let (source, before, after) = (format!("\n{}", read(&file)), format!("\n{before}"), format!("\n{after}"));
        let found = source.matches(&before).count();
        assert!(
            found == 1,
            "tools/simulation/pipeline/{} no longer fits {}: these lines occur {found} times, not once. The sources \
             have changed; update the diff so that its rule can still be left out.{before}",
            control.display(),
            file.strip_prefix(out).unwrap_or(&file).display(),
        );
        write(&file, &source.replace(&before, &after)[1..]);
    }
}
