//! Standard error and standard output that nobody reads, and names that mean something to a
//! terminal. Closed outputs and refused threads are in `sessions/limits.txt`.

use crate::common::program::{SLOW, after, begin, committed, ends, full_pipe, json, outcome, signal, trinim};
use crate::common::scratch;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

/// Waits until a process ends, and returns its exit code and the time.
fn ended(mut child: Child, story: &str) -> (Option<i32>, Duration) {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), begin.elapsed());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("{story} waits for a reader");
}

/// A solve whose standard error nobody read never ended, and no limit and no signal reached it.
#[test]
fn standard_error_that_nobody_reads_holds_up_nothing() {
    let folder = scratch();
    let path = folder.path();
    let unread = |args: &[&str]| {
        let (_reader, writer) = full_pipe();
        let child = trinim(path, args).stderr(writer).spawn().unwrap();
        (_reader, child)
    };
    let runs = |code: i32, args: &[&str]| {
        let (_reader, child) = unread(args);
        assert_eq!(ended(child, &format!("{args:?}")).0, Some(code), "{args:?}");
    };
    runs(0, &["solve", "-k", "6", "--out", "six", "--progress-interval", "10ms"]);
    assert!(path.join("six/db/manifest.json").is_file());
    runs(0, &["verify", "six"]);
    runs(0, &["check", "six"]);
    runs(0, &["export", "six", "--out", "six.npy"]);
    runs(2, &["export", "none", "--out", "none.npy"]);

    // The time limit, also where the lines are events.
    for style in ["lines", "json"] {
        let limit = ["slow", "--max-duration", "500ms", "--progress", style, "--progress-interval", "10ms"];
        let (_reader, child) = unread(&[&SLOW[..], &limit].concat());
        let (code, time) = ended(child, "a limited solve");
        assert_eq!(code, Some(5), "{style}");
        assert!(time < Duration::from_secs(20), "{style}: {time:?}");
    }
    // The first signal.
    let (_reader, mut child) = unread(&[&SLOW[..], &["stopped", "--progress-interval", "10ms"]].concat());
    committed(&mut child, &path.join("stopped"));
    signal(&child, "TERM");
    assert_eq!(ended(child, "a stopped solve").0, Some(143));
}

/// Data may wait for its reader, but a signal and the limit of time still end the program.
#[test]
fn a_full_pipe_of_data_is_left_at_a_signal() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "6", "--out", "six"]);
    for args in [&["export", "six"][..], &["solve", "-k", "6", "--out", "six"], &["stats", "six"]] {
        let (_reader, writer) = full_pipe();
        let child = trinim(path, args).stdout(writer).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        signal(&child, "TERM");
        assert_eq!(ended(child, &format!("{args:?}")).0, Some(143), "{args:?}");
    }
    let (_reader, writer) = full_pipe();
    let limited = ["solve", "-k", "6", "--out", "six", "--max-duration", "300ms"];
    let child = trinim(path, &limited).stdout(writer).spawn().unwrap();
    assert_eq!(ended(child, "a limited solve").0, Some(5));
}

/// What a name may do to a terminal: its title, and a line of its own.
const HOSTILE: &str = "x\u{1b}]0;pwned\u{7}..\nerror: fake\u{202e}";

/// Names ended up in the terminal as they are.
#[test]
fn names_are_shown_and_not_obeyed() {
    let folder = scratch();
    let path = folder.path();
    let tame = |(code, out, error): (i32, String, String), args: &[&str]| {
        for text in [&out, &error] {
            let is_tame = |char: char| char == '\n' || !char.is_control() && char != '\u{202e}';
            assert!(text.chars().all(is_tame), "{args:?}: {text:?}");
            assert!(text.lines().all(|line| !line.starts_with("error: fake")), "{args:?}: {text}");
        }
        assert!(format!("{out}{error}").contains("fake"), "{args:?}: {out}{error}");
        code
    };
    let run = |args: &[&str]| tame(outcome(&mut trinim(path, args)), args);
    assert_eq!(run(&["solve", "-k", "4", "--out", HOSTILE]), 0);
    assert_eq!(run(&["solve", "-k", "4", "--out", HOSTILE]), 0);
    assert_eq!(run(&["solve", "-k", "4", "--rule", "normal", "--out", HOSTILE]), 7);
    assert_eq!(json(path, 0, &["solve", "-k", "4", "--out", HOSTILE, "--json"])["out"], HOSTILE);
    assert_eq!(run(&["export", HOSTILE, "--out", &format!("{HOSTILE}.npy")]), 0);
    assert_eq!(run(&["export", HOSTILE, "--out", &format!("{HOSTILE}.npy")]), 2);
    assert_eq!(run(&["resume", &format!("{HOSTILE}2")]), 2);
    let stray = path.join(HOSTILE).join("db").join(HOSTILE);
    fs::write(&stray, "").unwrap();
    for args in [&["check", HOSTILE][..], &["verify", HOSTILE]] {
        let (code, out, error) = outcome(&mut trinim(path, args));
        // A remark, a finding or nothing.
        tame((code, out, error + "fake"), args);
    }
    fs::remove_file(stray).unwrap();
    fs::remove_file(path.join(format!("{HOSTILE}/db/manifest.json"))).unwrap();
    fs::write(path.join(format!("{HOSTILE}/db/000000.blk")), "spoilt").unwrap();
    for args in [&["check", HOSTILE][..], &["verify", HOSTILE], &["repair", "--dry-run", HOSTILE], &["stats", HOSTILE]]
    {
        run(args);
    }
    assert_eq!(run(&["solve", "--board", HOSTILE]), 2);
    assert_eq!(run(&["solve", "--board", &format!("file:{HOSTILE}")]), 2);
    assert_eq!(run(&[HOSTILE]), 2);
    assert_eq!(run(&["stats", &format!("--{HOSTILE}")]), 2);
    let name: String = HOSTILE.chars().map(|char| format!("\\U{:08x}", u32::from(char))).collect();
    fs::write(path.join("board"), format!("name = \"{name}\"\ncells = 3\nlines = [[0, 1, 2]]\n")).unwrap();
    run(&["solve", "--board", "file:board", "--out", "own"]);
    let threads = outcome(trinim(path, &["plan", "-k", "4"]).env("TRINIM_THREADS", HOSTILE));
    assert_eq!(tame(threads, &["TRINIM_THREADS"]), 2);
    // A command in a hint means the same folder.
    let (_, _, error) = outcome(&mut trinim(path, &["stats", HOSTILE]));
    let hint = error.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap_or_default().to_owned();
    assert!(!hint.contains('\u{1b}'), "{hint}");
}

/// An interrupt that was ignored when the program began, as of a command behind which `&` stands
/// in a script, ended it; a hangup did not.
#[test]
fn an_ignored_signal_stays_ignored() {
    let folder = scratch();
    let path = folder.path();
    for name in ["INT", "HUP"] {
        let mut child = after(path, &format!("trap '' {name}"), &[&SLOW[..], &[name]].concat()).spawn().unwrap();
        committed(&mut child, &path.join(name));
        signal(&child, name);
        assert_eq!(ended(child, name).0, Some(0), "{name}");
    }
    // Without the trap it stops.
    let child = begin(path, "heard");
    signal(&child, "INT");
    let code = ended(child, "INT").0;
    assert!(matches!(code, Some(130 | 0)), "{code:?}");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Outputs replaced a link by a file, and forgot the mode of what they replaced.
#[test]
fn outputs_are_written_behind_links_and_keep_their_mode() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "3", "--out", "three"]);
    fs::create_dir(path.join("elsewhere")).unwrap();
    for (name, args) in [
        ("losses.npy", &["export", "three", "--force", "--out", "losses.npy"][..]),
        ("figures.prom", &["verify", "three", "--metrics", "figures.prom"]),
    ] {
        let (link, target) = (path.join(name), path.join("elsewhere").join(name));
        // Dangling at first.
        std::os::unix::fs::symlink(format!("elsewhere/{name}"), &link).unwrap();
        for wanted in [None, Some(0o600), Some(0o664)] {
            if let Some(mode) = wanted {
                fs::set_permissions(&target, fs::Permissions::from_mode(mode)).unwrap();
            }
            ends(path, 0, args);
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{name}");
            assert!(fs::metadata(&target).unwrap().len() > 0, "{name}");
            assert!(wanted.is_none_or(|wanted| mode(&target) == wanted), "{name}: {:o}", mode(&target));
        }
    }
    // A full disk is told of the file that was asked for, and not of its temporary name.
    ends(path, 0, &["solve", "-k", "5", "--out", "five"]);
    let (code, _, error) = outcome(&mut after(path, "ulimit -f 1", &["export", "five", "--out", "five.npy"]));
    assert!(code == 4 && error.starts_with("error: cannot write five.npy: File too large"), "{code}: {error}");
    assert!(!error.contains(".trinim."), "{error}");
    // Nothing is left under another name.
    assert_eq!(fs::read_dir(path.join("elsewhere")).unwrap().count(), 2);
    let (_, error) = ends(path, 2, &["export", "three", "--out", "losses.npy"]);
    assert!(error.contains("--out losses.npy exists"), "{error}");
}

/// A pipe and a device are written to.
#[test]
fn outputs_may_be_pipes_and_devices() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "3", "--out", "three"]);
    let whole = trinim(path, &["export", "three"]).output().unwrap().stdout;
    assert!(!whole.is_empty());
    std::os::unix::fs::symlink("/dev/stdout", path.join("link")).unwrap();
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1", "link"] {
        let by_name = trinim(path, &["export", "three", "--out", name]).output().unwrap();
        assert!(by_name.status.success() && by_name.stdout == whole, "{name}: {by_name:?}");
        let file = fs::File::create(path.join("redirected")).unwrap();
        let status = trinim(path, &["export", "three", "--out", name]).stdout(file).status().unwrap();
        assert!(status.success() && fs::read(path.join("redirected")).unwrap() == whole, "{name}");
        let (_, error) = ends(path, 2, &["export", "three", "--json", "--out", name]);
        assert!(error.contains("cannot both go to standard output"), "{name}: {error}");
        // What follows comes after it in the file.
        let file = fs::File::create(path.join("redirected")).unwrap();
        let timed = ["solve", "-k", "4", "--out", "four", "--timeline", name];
        assert!(trinim(path, &timed).stdout(file).status().unwrap().success(), "{name}");
        let text = fs::read_to_string(path.join("redirected")).unwrap();
        let (timeline, report) = text.split_at(text.rfind('}').unwrap() + 1);
        assert!(serde_json::from_str::<serde_json::Value>(timeline).unwrap().is_object(), "{name}: {timeline}");
        assert!(report.contains("losses"), "{name}: {report}");
        fs::remove_dir_all(path.join("four")).unwrap();
    }
    // Of another open file, whoever has it writes on behind.
    let mut shell = after(path, "exec 3> redirected", &["export", "three", "--out", "/dev/fd/3"]);
    assert!(shell.status().unwrap().success() && fs::read(path.join("redirected")).unwrap() == whole);

    let pipe = path.join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let child = trinim(path, &["export", "three", "--out", "pipe"]).spawn().unwrap();
    let mut read = Vec::new();
    fs::File::open(&pipe).unwrap().read_to_end(&mut read).unwrap();
    assert_eq!((ended(child, "an export").0, read), (Some(0), whole));
    // Without a reader, a signal ends it.
    let child = trinim(path, &["export", "three", "--out", "pipe"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "TERM");
    assert_eq!(ended(child, "an export").0, Some(143));
    let (_, error) = ends(path, 4, &["export", "three", "--out", "/dev/full"]);
    assert!(error.starts_with("error: cannot write /dev/full: "), "{error}");
}
