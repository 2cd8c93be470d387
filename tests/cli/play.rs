//! What `trinim play` leaves in the folder for temporary files. Games are in `sessions/play.txt`.

use crate::common::program::{text, trinim};
use crate::common::scratch;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

/// A small board needs no folder; what does not fit in memory is solved in one, which is gone at
/// the end, also after a signal at the prompt.
#[test]
fn nothing_is_left_in_the_folder_for_temporary_files() {
    let folder = scratch();
    let path = folder.path();
    fs::create_dir(path.join("tmp")).unwrap();
    let begin = |args: &[&str]| {
        let mut command = trinim(path, &[&["play"], args].concat());
        let mut child = command.env("TMPDIR", path.join("tmp")).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(b"a1-g1\nhint\n").unwrap();
        child
    };
    let ends = |mut child: std::process::Child, files: usize| {
        // Open until the end: the end of the input would end the game, too.
        let _input = child.stdin.take();
        // Ends with the answer to the hint, or the board after the program's move.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        lines.find(|line| line.starts_with("hint: ")).unwrap();
        assert_eq!(fs::read_dir(path.join("tmp")).unwrap().count(), files);
        crate::common::program::signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(fs::read_dir(path.join("tmp")).unwrap().count(), 0);
    };
    ends(begin(&["-k", "7"]), 0);
    // In 66 MiB, what has more than 28 pieces is solved in a folder.
    ends(begin(&["-k", "8", "--memory", "66MiB"]), 1);
    let absent = path.join("absent");
    let output = trinim(path, &["play", "--scratch"]).arg(&absent).output().unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{error}");
    assert!(error.contains("absent") && error.contains("hint: "), "{error}");
}
