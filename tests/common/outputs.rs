//! Outputs replace only their own regular files: pipes, devices, sockets, folders and foreign files
//! stay, even if a command was refused and writes its last state.

use super::program::run;
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

/// An output: a command, the name of its file, and whether that can be a pipe or a device, which is
/// then written to directly.
pub type Output = (&'static str, &'static str, bool);

/// Makes something under a name.
type Make = fn(&Path);

/// Objects that already have the name of an output, and whether each is a pipe or a device.
const THINGS: [(&str, Make, bool); 8] = [
    ("a pipe", |path| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap(), true),
    ("a link to a device", |path| symlink("/dev/full", path).unwrap(), true),
    ("a device", device, true),
    ("a socket", |path| drop(UnixListener::bind(path).unwrap()), false),
    ("a folder", |path| fs::create_dir(path).unwrap(), false),
    ("a text", |path| fs::write(path, "dear reader\n# HELP trinim_state\n").unwrap(), false),
    ("a picture", |path| fs::write(path, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\"/>").unwrap(), false),
    ("an empty file", |path| fs::write(path, "").unwrap(), false),
];

/// Makes another full device. This needs root, and some containers refuse it; then makes a link.
fn device(path: &Path) {
    let made = mknodat(CWD, path, FileType::CharacterDevice, Mode::RUSR | Mode::WUSR, makedev(1, 7));
    // Where devices have no effect, they cannot even be opened.
    if made.is_err() || fs::File::options().write(true).open(path).is_err() {
        let _ = fs::remove_file(path);
        symlink("/dev/full", path).unwrap();
    }
}

fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

/// Checks that none of these outputs replaces foreign files, and that the commands refuse it.
pub fn replace_nothing_else(path: &Path, outputs: &[Output]) {
    for (thing, make, is_direct) in THINGS {
        for &(command, name, _) in outputs.iter().filter(|(.., may_be_direct)| !(is_direct && *may_be_direct)) {
            let place = path.join(name);
            let kept = fs::read(&place).ok();
            let _ = fs::remove_file(&place);
            make(&place);
            let look = || {
                let found = fs::symlink_metadata(&place).unwrap();
                let text = found.is_file().then(|| fs::read(&place).unwrap());
                (found.ino(), found.mode(), found.rdev(), text)
            };
            let before = look();
            let (code, _, error) = run(path, &words(command));
            assert!((1..8).contains(&code), "{command}: {thing}: {code}: {error}");
            assert_eq!(look(), before, "{command}: {thing}: {error}");
            match place.is_dir() {
                true => fs::remove_dir(&place).unwrap(),
                false => fs::remove_file(&place).unwrap(),
            }
            if let Some(bytes) = kept {
                fs::write(&place, bytes).unwrap();
            }
        }
    }
}

/// Checks that these outputs replace their own files when a command is run again, possibly with
/// another option. The folder `new` of a solve is removed.
pub fn replace_their_own(path: &Path, outputs: &[Output], option: impl Fn(&str) -> Option<&'static str>) {
    for &(command, name, _) in outputs {
        let _ = fs::remove_file(path.join(name));
        let (first, ..) = run(path, &words(command));
        let ino = fs::metadata(path.join(name)).unwrap().ino();
        let _ = fs::remove_dir_all(path.join("new"));
        let again: Vec<&str> = words(command).into_iter().chain(option(command)).collect();
        let (second, _, error) = run(path, &again);
        assert_eq!(first, second, "{command}: {error}");
        assert_ne!(fs::metadata(path.join(name)).unwrap().ino(), ino, "{command}");
        let _ = fs::remove_dir_all(path.join("new"));
    }
}
