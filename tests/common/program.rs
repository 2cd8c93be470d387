//! The binary under test, for tests of several subcommands.

pub use super::{copy, tree};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{PipeReader, PipeWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A command that obeys SIGINT, which a process ignores that a script started in the background,
/// and with it all that it starts.
fn interruptible(program: &str) -> Command {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    if mask & 1 << (Signal::INT.as_raw() - 1) == 0 {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", program]);
    command
}

/// The program in a folder, without this program's variables from the environment.
pub fn trinim(folder: &Path, args: &[&str]) -> Command {
    let mut command = interruptible(env!("CARGO_BIN_EXE_trinim"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TRINIM_")) {
        command.env_remove(name);
    }
    command.current_dir(folder).args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The program after commands of a shell, which it replaces: limits, masks, traps.
pub fn after(folder: &Path, commands: &str, args: &[&str]) -> Command {
    let mut shell = interruptible("sh");
    shell.arg("-c").arg(format!("{commands}\nexec \"$0\" \"$@\"")).arg(env!("CARGO_BIN_EXE_trinim")).args(args);
    for (name, value) in trinim(folder, args).get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

/// The text of a line of a manual page, without fonts and escapes.
pub fn plain_roff(line: &str) -> String {
    let mut text = line.strip_prefix("\\&").unwrap_or(line).to_owned();
    for (escape, char) in [("\\fB", ""), ("\\fI", ""), ("\\fR", ""), ("\\-", "-"), ("\\*(Aq", "'"), ("\\\\", "\\")] {
        text = text.replace(escape, char);
    }
    text
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command to its end: exit code, standard output and standard error.
pub fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    outcome(&mut trinim(folder, args))
}

/// What commands say on a busy machine.
const ANNOUNCED: [&str; 5] = ["planning", "cutting the board", "ordering the blocks", "counting updates", "searching"];

/// Returns a text without that.
pub fn unannounced(text: String) -> String {
    ANNOUNCED
        .iter()
        .fold(text, |text, what| text.replace(&format!("{what}...\n"), "").replace(&format!("{what}...\r\n"), ""))
}

/// The same for a command that was changed.
pub fn outcome(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (out, error) = (text(&stdout), unannounced(text(&stderr)));
    assert!(!error.contains("panicked"), "{command:?}\n{error}");
    (status.code().unwrap_or_else(|| panic!("{command:?} was killed\n{error}")), out, error)
}

/// Runs a command that must end with `code`: standard output and standard error.
pub fn ends(folder: &Path, code: i32, args: &[&str]) -> (String, String) {
    let (found, out, error) = run(folder, args);
    assert_eq!(found, code, "{args:?}\n{out}\n{error}");
    (out, error)
}

pub fn json(folder: &Path, code: i32, args: &[&str]) -> Value {
    serde_json::from_str(&ends(folder, code, args).0).unwrap()
}

/// A solve of seven layers in more than a thousand blocks.
pub const SLOW: [&str; 8] = ["solve", "-k", "7", "--block-bits", "14", "--commit-interval", "20ms", "--out"];

/// Starts a slow solve and waits until the first commit is done.
pub fn begin(path: &Path, name: &str) -> Child {
    let mut child = trinim(path, &[&SLOW[..], &[name]].concat()).spawn().unwrap();
    committed(&mut child, &path.join(name));
    child
}

/// Waits until a solve at work in a folder has done its first commit.
pub fn committed(child: &mut Child, run: &Path) {
    let journal = run.join("m/journal.1.a");
    for _ in 0..24_000 {
        assert_eq!(child.try_wait().unwrap(), None, "the solve was over before it could be observed");
        if fs::metadata(&journal).is_ok_and(|journal| journal.len() > 0) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("nothing was committed in two minutes");
}

/// A pipe that is full.
pub fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    while writer.write(&[b' '; 4096]).is_ok() {}
    while writer.write(b" ").is_ok() {}
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

/// A terminal: the end that a person has, and the end of a program.
pub fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let program = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (File::from(person), program)
}

/// Sends a signal at once: on a busy machine, a solve was over before the command `kill` began.
pub fn signal(child: &Child, name: &str) {
    let signal = match name {
        "CONT" => Signal::CONT,
        "HUP" => Signal::HUP,
        "INT" => Signal::INT,
        "KILL" => Signal::KILL,
        "STOP" => Signal::STOP,
        "TERM" => Signal::TERM,
        "USR1" => Signal::USR1,
        other => panic!("no test sends {other}"),
    };
    kill_process(Pid::from_child(child), signal).unwrap();
}
