//! The binary under test, for tests of several subcommands.

pub use super::{copy, tree};
pub use processes::session::unannounced;
pub use processes::signal;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{PipeReader, PipeWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Output};

/// The program in a folder.
pub fn trinim(folder: &Path, args: &[&str]) -> Command {
    let mut command = processes::command(crate::PROGRAM);
    command.current_dir(folder).args(args);
    command
}

/// The program after shell commands such as limits, masks and traps; it replaces the shell.
pub fn after(folder: &Path, commands: &str, args: &[&str]) -> Command {
    let mut shell = processes::after(commands, crate::PROGRAM);
    shell.current_dir(folder).args(args);
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

/// Runs a command to its end; returns exit code, standard output and standard error.
pub fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    outcome(&mut trinim(folder, args))
}

/// The same for a modified command.
pub fn outcome(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (out, error) = (text(&stdout), unannounced(text(&stderr)));
    assert!(!error.contains("panicked"), "{command:?}\n{error}");
    (status.code().unwrap_or_else(|| panic!("{command:?} was killed\n{error}")), out, error)
}

/// Runs a command that must end with `code`; returns standard output and standard error.
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

/// Waits until a solve at work in a folder has made its first commit.
pub fn committed(child: &mut Child, run: &Path) {
    let journal = run.join("m/journal.1.a");
    processes::wait_until("committed", || {
        assert_eq!(child.try_wait().unwrap(), None, "the solve was over before it could be observed");
        fs::metadata(&journal).is_ok_and(|journal| journal.len() > 0)
    });
}

/// A full pipe.
pub fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    while writer.write(&[b' '; 4096]).is_ok() {}
    while writer.write(b" ").is_ok() {}
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

/// A terminal: the end of the person, and the end of the program.
pub fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let program = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (File::from(person), program)
}
