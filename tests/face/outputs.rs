//! Outputs replace only regular files that are their own: pipes, devices, sockets, folders and the
//! files of others stay, also where a command was refused and writes its last state.

use crate::common::program::{ends, run};
use crate::common::scratch;
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Makes something under a name.
type Make = fn(&Path);

/// What an output finds under its name, and whether it may be written to directly.
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

/// Makes another full device. Only root may, and not in every container: then it is a link.
fn device(path: &Path) {
    let made = mknodat(CWD, path, FileType::CharacterDevice, Mode::RUSR | Mode::WUSR, makedev(1, 7));
    // Where devices have no effect, they cannot even be opened.
    if made.is_err() || fs::File::options().write(true).open(path).is_err() {
        let _ = fs::remove_file(path);
        symlink("/dev/full", path).unwrap();
    }
}

/// Regression: `--metrics /dev/full` was refused, and the last state replaced the device by a text.
/// A user's text was replaced without a word.
#[test]
fn outputs_replace_only_files_of_their_own() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "3", "--out", "three"]);
    ends(path, 0, &["report", "three", "--out", "report"]);
    ends(path, 0, &["man", "pages"]);
    // A command, the name of its output, and the least of the numbers with which it refuses.
    let metrics = [
        "solve -k 3 --out new --metrics out",
        "solve -k 4 --out three --metrics out",
        "solve -k 7 --memory 1MiB --out new --metrics out",
        "resume absent --metrics out",
        "verify three --metrics out --progress json",
        "check three --metrics out",
        "export three --out - --metrics out",
    ];
    let others = [
        ("solve -k 3 --out new --timeline out", "out"),
        ("layout -k 3 --svg out", "out"),
        ("bench -k 3 --repeats 1 --yardstick none --csv out", "out"),
        ("export three --out out", "out"),
        ("man pages", "pages/trinim-solve.1"),
        ("man pages", "pages/trinim-positions.7"),
        ("report three --out report", "report/index.html"),
        ("report three --out report", "report/report.json"),
    ];
    for (thing, make, is_direct) in THINGS {
        let refused = metrics.iter().map(|command| (*command, "out"));
        // A pipe would be waited for, and a device is full: the outputs that write there directly
        // are tried in streams.rs.
        let all = refused.chain(others.into_iter().filter(|(_, name)| !is_direct || name.starts_with("report/")));
        for (command, name) in all {
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
            let (code, _, error) = run(path, &command.split(' ').collect::<Vec<_>>());
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
    assert!(!path.join("new").exists());
    // What is their own is replaced.
    for (command, name) in others.into_iter().chain(metrics.into_iter().map(|command| (command, "out"))) {
        let words: Vec<&str> = command.split(' ').collect();
        let _ = fs::remove_dir_all(path.join("new"));
        let again = if command.starts_with("export three --out out") { &["--force"][..] } else { &[] };
        let _ = fs::remove_file(path.join("out"));
        let (first, ..) = run(path, &words);
        let ino = fs::metadata(path.join(name)).unwrap().ino();
        let _ = fs::remove_dir_all(path.join("new"));
        let (second, _, error) = run(path, &[&words[..], again].concat());
        assert_eq!(first, second, "{command}: {error}");
        assert_ne!(fs::metadata(path.join(name)).unwrap().ino(), ino, "{command}");
    }
}
