//! Outputs replace only what is their own.

use crate::common::outputs::{Output, replace_nothing_else, replace_their_own};
use crate::common::program::ends;
use crate::common::scratch;

/// Regression: `--metrics /dev/full` was refused, and the last state replaced the device by a text.
/// A user's text was replaced without a word.
#[test]
fn outputs_replace_only_files_of_their_own() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "3", "--out", "three"]);
    ends(path, 0, &["man", "pages"]);
    let outputs: [Output; 11] = [
        ("solve -k 3 --out new --metrics out", "out", false),
        ("solve -k 4 --out three --metrics out", "out", false),
        ("solve -k 7 --memory 1MiB --out new --metrics out", "out", false),
        ("resume absent --metrics out", "out", false),
        ("verify three --metrics out --progress json", "out", false),
        ("check three --metrics out", "out", false),
        ("export three --out - --metrics out", "out", false),
        ("solve -k 3 --out new --timeline out", "out", true),
        ("export three --out out", "out", true),
        ("man pages", "pages/trinim-solve.1", true),
        ("man pages", "pages/trinim-positions.7", true),
    ];
    replace_nothing_else(path, &outputs);
    // A folder of the system, in which nobody creates files.
    let (_, error) = ends(path, 2, &["solve", "-k", "3", "--out", "new", "--metrics", "/proc/out"]);
    assert!(error.contains("name a file in a folder that can be written"), "{error}");
    assert!(!path.join("new").exists());
    replace_their_own(path, &outputs, |command| (command == "export three --out out").then_some("--force"));
}
