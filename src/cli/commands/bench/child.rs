//! Complete processes of this program, timed from outside.
//!
//! # Invariants
//! 1. A child inherits none of this program's environment variables, and reads only the given
//!    input.
//! 2. The time runs from before the start of the process until its end is observed.
//! 3. When the bench has to stop, it kills the child at once: the child's folder is deleted anyway.

use crate::cli::face::signals::Signals;
use pipeline::{Error, Stopwatch};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time between two checks for a stop while a child runs.
const TICK: Duration = Duration::from_millis(20);

/// The program to start.
pub struct Program {
    executable: PathBuf,
}

/// A process that has ended.
pub struct Ended {
    /// Wall-clock time.
    pub seconds: f64,
    /// How it ended.
    pub status: ExitStatus,
    /// Standard output.
    pub output: String,
    /// The first line of standard error, without its `error: `.
    pub reason: String,
}

impl Program {
    /// Finds the executable of this process.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system does not report its path.
    pub fn own() -> Result<Program, Error> {
        let executable = std::env::current_exe().map_err(|error| Error::io("find", "this program", error))?;
        Ok(Program { executable })
    }

    /// Runs it with these arguments, on one core if `core` names it; returns `None` if the bench
    /// has to stop.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if it cannot be started or its output cannot be read.
    pub fn run(
        &self,
        arguments: &[OsString],
        core: Option<u32>,
        input: &str,
        signals: &Signals,
    ) -> Result<Option<Ended>, Error> {
        let failed = |error| Error::io("run", &self.executable, error);
        let mut command = match core {
            None => Command::new(&self.executable),
            Some(core) => {
                let mut command = Command::new("taskset");
                command.args(["-c", &core.to_string()]).arg(&self.executable);
                command
            }
        };
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TRINIM_")) {
            command.env_remove(name);
        }
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let watch = Stopwatch::start();
        let mut child = command.spawn().map_err(failed)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let child = Mutex::new(child);
        let over = AtomicBool::new(false);
        let broken = || failed(std::io::Error::other("a thread panicked"));
        let (ended, seconds, output, errors) = std::thread::scope(|scope| {
            // On separate threads: the program answers while it still reads its input.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
            let errors = scope.spawn(move || read(stderr));
            let watcher = scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    if signals.stopped() {
                        // Killing a child that has already ended fails, and does no harm.
                        let _ = child.lock().map(|mut child| child.kill());
                    }
                    std::thread::park_timeout(TICK);
                }
            });
            let output = read(stdout);
            let ended = child.lock().map(|mut child| child.wait());
            let seconds = watch.elapsed().as_secs_f64();
            over.store(true, Ordering::Relaxed);
            watcher.thread().unpark();
            (ended.map_err(|_| broken()), seconds, output, errors.join())
        });
        let status = ended?.map_err(failed)?;
        if signals.stopped() {
            return Ok(None);
        }
        let errors = errors.map_err(|_| broken())?.map_err(failed)?;
        let first = errors.lines().next().unwrap_or("no reason given");
        let reason = first.strip_prefix("error: ").unwrap_or(first).to_owned();
        Ok(Some(Ended { seconds, status, output: output.map_err(failed)?, reason }))
    }
}

fn read(stream: Option<impl Read>) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
