//! A folder that reaches its limit. Files of others are in `sessions/damaged.txt`.

use crate::common::program::{ends, run};
use crate::common::scratch;
use std::fs;

/// Regression: "0 of 104 saved" after 77 of 104 blocks were written.
#[test]
fn a_reached_limit_saves_what_is_finished_and_says_so() {
    let folder = scratch();
    let path = folder.path();
    let solve = ["solve", "-k", "6", "--block-bits", "12", "--commit-interval", "1h", "--out", "run"];
    let mut most = 0;
    for limit in (200..).step_by(300) {
        let limit = format!("{limit}KiB");
        let (code, _, error) = run(path, &[&solve[..], &["--force", "--max-disk", &limit]].concat());
        if code == 0 {
            break;
        }
        assert_eq!(code, 4, "{error}");
        let saved =
            error.lines().find(|line| line.contains(" blocks saved in run")).unwrap_or_else(|| panic!("{error}"));
        most = most.max(saved.split_whitespace().find_map(|word| word.parse::<u32>().ok()).unwrap());
        let hint = error.lines().last().unwrap();
        assert!(hint.contains(" of --max-disk ") && !hint.contains("this disk"), "{error}");
        if most == 0 {
            fs::remove_dir_all(path.join("run")).unwrap();
        }
    }
    assert!(most > 3, "{most} blocks saved at most");
    ends(path, 0, &["verify", "run"]);
}
