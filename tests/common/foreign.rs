//! Files of other programs in the folders of a run.

use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Names that editors, file managers, file systems and users give, and one that would forge a line
/// on a terminal.
pub const FOREIGN: [&[u8]; 10] = [
    b".DS_Store",
    b".nfs0001",
    b".fuse_hidden0001",
    b"a b",
    "é.txt".as_bytes(),
    b"000000.blk~",
    b"\xff.bin",
    b"x\x1b]0;forged\x07\nerror: forged",
    b"notes.txt",
    b"notes.tmp",
];

/// Puts an object of another program there: a file, a folder, dangling and circular links, a pipe.
pub fn put(path: &Path, kind: usize) {
    match kind {
        0 => fs::write(path, "foreign").unwrap(),
        1 => fs::create_dir(path).unwrap(),
        2 => symlink("nothing", path).unwrap(),
        3 => symlink(path.file_name().unwrap(), path).unwrap(),
        _ => mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
    }
}

/// Returns whether it is still there.
pub fn is_there(path: &Path, kind: usize) -> bool {
    let found = fs::symlink_metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    kind != 0 || (found.is_file() && fs::read(path).unwrap() == b"foreign")
}
