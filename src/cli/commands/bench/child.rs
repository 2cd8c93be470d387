//! Complete processes of this program, timed from outside.
//!
//! # Invariants
//! 1. A child inherits none of this program's environment variables, and reads only the given
//!    input. What it reads and writes are files, so that neither side waits for the other.
//! 2. The time runs from before the start of the process until its end is seen, at most a
//!    thousandth later.
//! 3. When the bench has to stop, it kills the child at once: the child's folder is deleted anyway.

use crate::cli::face::signals::Signals;
use pipeline::{Error, Stopwatch};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

/// Shortest and longest time between two looks at a child.
const LOOKS: [Duration; 2] = [Duration::from_micros(100), Duration::from_millis(20)];

/// The program to start.
pub struct Program {
    executable: PathBuf,
    /// Where its input and output are.
    folder: PathBuf,
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
    /// Finds the executable of this process; `folder` is for what it reads and writes.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system does not report its path.
    pub fn own(folder: &Path) -> Result<Program, Error> {
        let executable = std::env::current_exe().map_err(|error| Error::io("find", "this program", error))?;
        Ok(Program { executable, folder: folder.to_path_buf() })
    }

    /// Runs it with these arguments; returns `None` if the bench has to stop.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if it cannot be started or its output cannot be read.
    pub fn run(&self, arguments: &[OsString], input: &str, signals: &Signals) -> Result<Option<Ended>, Error> {
        let [stdin, stdout, stderr] = ["input", "output", "errors"].map(|name| self.folder.join(name));
        fs::write(&stdin, input).map_err(|error| Error::io("write", &stdin, error))?;
        let mut command = Command::new(&self.executable);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TRINIM_")) {
            command.env_remove(name);
        }
        let created = |path: &Path| fs::File::create(path).map_err(|error| Error::io("create", path, error));
        command.args(arguments).stdout(created(&stdout)?).stderr(created(&stderr)?);
        command.stdin(fs::File::open(&stdin).map_err(|error| Error::io("open", &stdin, error))?);
        let watch = Stopwatch::start();
        let failed_run = |error| Error::io("run", &self.executable, error);
        let mut child = command.spawn().map_err(failed_run)?;
        let (status, seconds) = loop {
            if let Some(status) = child.try_wait().map_err(failed_run)? {
                break (status, watch.elapsed().as_secs_f64());
            }
            if signals.stopped() {
                // Killing a child that has just ended fails, and does no harm.
                let _ = child.kill();
                child.wait().map_err(failed_run)?;
                return Ok(None);
            }
            std::thread::sleep((watch.elapsed() / 1000).clamp(LOOKS[0], LOOKS[1]));
        };
        if signals.stopped() {
            return Ok(None);
        }
        let read = |path: &Path| fs::read(path).map_err(|error| Error::io("read", path, error));
        let errors = String::from_utf8_lossy(&read(&stderr)?).into_owned();
        let first = errors.lines().next().unwrap_or("no reason given");
        let reason = first.strip_prefix("error: ").unwrap_or(first).to_owned();
        let output = String::from_utf8_lossy(&read(&stdout)?).into_owned();
        Ok(Some(Ended { seconds, status, output, reason }))
    }
}
