//! Starts the programs under test in surroundings that the shell cannot change.
//!
//! A command that a script starts in the background ignores SIGINT, one below `nohup` ignores
//! SIGHUP, and every process that it starts inherits that. Variables are inherited too.

pub mod session;

use rustix::process::{Pid, Signal, kill_process};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::time::Duration;

/// Variables that a program under test inherits: where programs and temporary files are, and where
/// a test build finds its libraries and writes its coverage.
const INHERITED: [&str; 4] = ["PATH", "TMPDIR", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE"];

/// Signals that no process can handle (SIGKILL, SIGSTOP), that mean a fault of its own (SIGILL,
/// SIGFPE, SIGSEGV), or that the standard library sets in each child (SIGPIPE).
const LEFT_ALONE: [i32; 6] = [9, 19, 4, 8, 11, 13];

/// A process replaces the signals that it handles by their defaults when it starts a program; only
/// those that it ignores stay ignored. So this handles the ignored ones, and does nothing then.
fn restore_signals() {
    static RESTORED: Once = Once::new();
    RESTORED.call_once(|| {
        let status = fs::read_to_string("/proc/self/status").expect("the status of this process");
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("ignored signals");
        let ignored = u64::from_str_radix(ignored.trim(), 16).expect("a mask of signals");
        for signal in (1..32).filter(|signal| ignored >> (signal - 1) & 1 == 1 && !LEFT_ALONE.contains(signal)) {
            signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).expect("a handler");
        }
    });
}

/// A command with default signals, an environment of its own, and no standard input; its outputs
/// are read.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    restore_signals();
    let mut command = Command::new(program);
    command.env_clear().envs(INHERITED.iter().filter_map(|name| Some((name, env::var_os(name)?))));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A command that a shell starts after others: limits, masks, traps. It replaces the shell.
pub fn after(commands: &str, program: impl AsRef<OsStr>) -> Command {
    let mut shell = command("sh");
    shell.arg("-c").arg(format!("{commands}\nexec \"$0\" \"$@\"")).arg(program);
    shell
}

/// Sends a signal at once: on a busy machine, a program was over before the command `kill` began.
pub fn signal(child: &Child, name: &str) {
    let signal = match name {
        "CONT" => Signal::CONT,
        "HUP" => Signal::HUP,
        "INT" => Signal::INT,
        "KILL" => Signal::KILL,
        "STOP" => Signal::STOP,
        "TERM" => Signal::TERM,
        "USR1" => Signal::USR1,
        "XCPU" => Signal::XCPU,
        other => panic!("no test sends {other}"),
    };
    kill_process(Pid::from_child(child), signal).expect("a running process");
}

/// Waits for a condition, which has to come: this fails only if nothing happens for ten minutes.
///
/// # Panics
/// After ten minutes, with what was waited for.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..120_000 {
        if condition() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("for ten minutes: not {what}");
}

#[cfg(test)]
mod tests {
    use super::command;
    use std::process::Command;

    /// The test starts itself below a shell that ignores signals, as scripts and `nohup` do.
    #[test]
    fn ignored_signals_and_variables_are_not_inherited() {
        if std::env::var_os("PROCESSES_TEST").is_some() {
            let output = command("sh").args(["-c", "grep SigIgn /proc/$$/status; env"]).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let mask = text.lines().next().unwrap().strip_prefix("SigIgn:").unwrap().trim();
            assert_eq!(u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff & !(1 << 12), 0, "{text}");
            assert!(text.contains("PATH=") && !text.contains("NO_COLOR") && !text.contains("TRINIM_"), "{text}");
            return;
        }
        let script = "trap '' HUP INT QUIT TERM USR1 USR2 XCPU XFSZ CHLD TSTP; exec \"$0\" \"$@\"";
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(std::env::current_exe().unwrap()).args(["--exact", "--nocapture"]);
        shell.arg("tests::ignored_signals_and_variables_are_not_inherited").env("PROCESSES_TEST", "1");
        let output = shell.env("NO_COLOR", "1").env("TRINIM_MEMORY", "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }
}
