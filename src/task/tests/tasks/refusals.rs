//! What is refused, by name and with its exit code, in `sessions`; nothing is changed.

use crate::common::program::ends;
use crate::common::scratch;
use processes::session::{self, Place};
use std::fs;
use std::path::Path;

#[test]
fn sessions_are_those_of_the_program() {
    session::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions"), crate::PROGRAM, scratch);
}

/// The session of the page is what the program prints, and its other commands run as they stand there.
#[test]
fn the_page_shows_what_the_program_prints() {
    let (folder, page) = (scratch(), include_str!("../../README.md"));
    let place = Place { folder: folder.path(), program: crate::PROGRAM };
    assert_eq!(place.page(page, &[]), 1);
    let blocks = page.split("```\n").skip(3).step_by(2);
    let commands: Vec<&str> = blocks.flat_map(str::lines).filter(|line| line.starts_with("trinim-task ")).collect();
    assert_eq!(commands.len(), 4);
    for command in commands {
        let (code, out, error) = place.run(command.split("  ").next().unwrap_or_default());
        assert!(code == 0 && !out.is_empty(), "{command}: {code} {out}{error}");
    }
}

/// A summary that lacks a count, with a hash that fits.
#[test]
fn a_summary_of_another_form_is_refused() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["init", "--store", "s", "-k", "3", "--bid-cells", "(0,0)"]);
    ends(path, 0, &["--store", "s", "--batch", "0,1"]);
    let summary = path.join("s/summaries/000001");
    let bytes = fs::read(&summary).unwrap();
    let content = &bytes[..bytes.len() - 16];
    let hash = xxhash_rust::xxh3::xxh3_64(content).to_le_bytes();
    fs::write(&summary, [content, &hash].concat()).unwrap();
    let (_, error) = ends(path, 65, &["finish", "--store", "s"]);
    assert!(error.contains("summaries of another form"), "{error}");
}

/// Changes one byte of a file.
pub fn change(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x20;
    fs::write(path, bytes).unwrap();
}
