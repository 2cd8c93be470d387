//! One run of the program under test.

use crate::setup::Setup;
use crate::system::{self, Change};
use anyhow::{Context, Result};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A run that takes longer hangs. Ten times the longest run on a loaded machine.
pub const LIMIT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_micros(300);

/// A fault at a file call; see the page of the crate `preload`.
#[derive(Clone, Debug, Default)]
pub struct Fault {
    /// Kinds of calls that count; empty for all.
    pub calls: &'static str,
    /// Number of the call to hit; 0 for none.
    pub at: u64,
    /// `kill`, `tear`, `stop`, `short`, `errno:N`.
    pub action: String,
    pub forever: bool,
    pub no_sync: bool,
    /// Log every call that counts.
    pub trace: bool,
    /// Log every successful sync.
    pub syncs: bool,
}

impl Fault {
    pub fn at(at: u64, action: &str) -> Fault {
        Fault { at, action: action.to_owned(), ..Fault::default() }
    }
}

/// A small solve that still uses every part of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solve {
    pub layers: u32,
    pub block_bits: u32,
    pub placement: &'static str,
    pub threads: u32,
}

impl Solve {
    pub const fn new(layers: u32, block_bits: u32, placement: &'static str, threads: u32) -> Solve {
        Solve { layers, block_bits, placement, threads }
    }

    pub fn args(&self, out: &Path) -> Vec<OsString> {
        let text = format!(
            "solve --json --commit-interval 10ms --layers {} --block-bits {} --log-placement {} --threads {} --out",
            self.layers, self.block_bits, self.placement, self.threads
        );
        text.split(' ').map(OsString::from).chain([out.as_os_str().to_owned()]).collect()
    }

    /// Prepares the run, with its folder below `lane`.
    pub fn launch<'a>(&self, setup: &'a Setup, lane: &Path, out: &Path) -> Launch<'a> {
        Launch::new(setup, lane, &self.args(out)).root(out)
    }
}

impl std::fmt::Display for Solve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Solve { layers, block_bits, placement, threads } = self;
        write!(f, "{layers} layers, blocks of 2^{block_bits}, {placement}, {threads} threads")
    }
}

/// A command to run.
pub struct Launch<'a> {
    setup: &'a Setup,
    /// Folder of its output and of the log of the faults.
    notes: PathBuf,
    args: Vec<OsString>,
    root: Option<PathBuf>,
    pub fault: Option<Fault>,
    pub folder: Option<PathBuf>,
    /// Shell commands before the program, which replaces the shell.
    pub shell: Option<String>,
    pub limit: Duration,
}

impl<'a> Launch<'a> {
    pub fn new(setup: &'a Setup, notes: &Path, args: &[impl AsRef<OsStr>]) -> Launch<'a> {
        let args = args.iter().map(|arg| arg.as_ref().to_owned()).collect();
        let (root, fault, folder, shell) = (None, None, None, None);
        Launch { setup, notes: notes.to_owned(), args, root, fault, folder, shell, limit: LIMIT }
    }

    /// Sets the folder whose file calls count.
    pub fn root(mut self, root: &Path) -> Launch<'a> {
        self.root = Some(root.to_owned());
        self
    }

    pub fn fault(mut self, fault: Fault) -> Launch<'a> {
        self.fault = Some(fault);
        self
    }

    pub fn shell(mut self, commands: String) -> Launch<'a> {
        self.shell = Some(commands);
        self
    }

    pub fn start(self) -> Result<Running> {
        let mut command = match &self.shell {
            None => Command::new(&self.setup.binary),
            Some(commands) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(format!("{commands}\nexec \"$0\" \"$@\"")).arg(&self.setup.binary);
                shell
            }
        };
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(b"TRINIM_")) {
            command.env_remove(name);
        }
        let [out, error, log] = ["out", "error", "log"].map(|name| self.notes.join(name));
        let _ = std::fs::remove_file(&log);
        if let Some(fault) = &self.fault {
            command.env("LD_PRELOAD", &self.setup.preload).env("FAULTS_LOG", &log);
            command.env("FAULTS_ROOT", self.root.as_deref().unwrap_or(Path::new("/nowhere")));
            command.env("FAULTS_CALLS", fault.calls).env("FAULTS_AT", fault.at.to_string());
            command.env("FAULTS_DO", &fault.action);
            let flags = [
                ("FAULTS_FOREVER", fault.forever),
                ("FAULTS_NO_SYNC", fault.no_sync),
                ("FAULTS_TRACE", fault.trace),
                ("FAULTS_SYNCS", fault.syncs),
            ];
            for (name, _) in flags.iter().filter(|(_, set)| *set) {
                command.env(name, "1");
            }
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.args(&self.args).stdin(Stdio::null());
        command.stdout(File::create(&out).with_context(|| out.display().to_string())?);
        command.stderr(File::create(&error)?);
        let begin = Instant::now();
        let child = command.spawn().context("the program cannot be started")?;
        let pid = i32::try_from(child.id()).context("process number")?;
        Ok(Running { pid, begin, limit: self.limit, notes: self.notes, over: false })
    }

    pub fn run(self) -> Result<Ended> {
        self.start()?.wait()
    }
}

/// A run that may be active; killed on drop.
pub struct Running {
    pub pid: i32,
    begin: Instant,
    limit: Duration,
    notes: PathBuf,
    over: bool,
}

impl Running {
    /// Waits for the end, or kills a run that hangs.
    pub fn wait(mut self) -> Result<Ended> {
        let mut hung = false;
        loop {
            let (change, peak_rss_bytes) = system::look_at(self.pid)?;
            match change {
                Change::Exited(code) => return self.ended(Some(code), None, hung, peak_rss_bytes),
                Change::Killed(signal) => return self.ended(None, Some(signal), hung, peak_rss_bytes),
                Change::None | Change::Stopped => {}
            }
            if !hung && self.begin.elapsed() > self.limit {
                hung = true;
                system::signal(self.pid, libc::SIGKILL)?;
            }
            std::thread::sleep(POLL);
        }
    }

    /// Waits until SIGSTOP stops it, or for the end if that comes first.
    pub fn wait_for_stop(mut self) -> Result<Result<Running, Ended>> {
        loop {
            let (change, peak_rss_bytes) = system::look_at(self.pid)?;
            match change {
                Change::Stopped => return Ok(Ok(self)),
                Change::Exited(code) => return Ok(Err(self.ended(Some(code), None, false, peak_rss_bytes)?)),
                Change::Killed(signal) => return Ok(Err(self.ended(None, Some(signal), false, peak_rss_bytes)?)),
                Change::None if self.begin.elapsed() > self.limit => return Ok(Err(self.wait()?)),
                Change::None => std::thread::sleep(POLL),
            }
        }
    }

    /// Stops it now, or returns its end if that came first.
    pub fn stop(self) -> Result<Result<Running, Ended>> {
        // A failure means that the run has just ended; wait for it anyway.
        let _ = system::signal(self.pid, libc::SIGSTOP);
        self.wait_for_stop()
    }

    /// Continues a stopped run and restarts its time limit.
    pub fn go_on(mut self) -> Result<Running> {
        self.begin = Instant::now();
        system::signal(self.pid, libc::SIGCONT)?;
        Ok(self)
    }

    pub fn kill(self) -> Result<Ended> {
        system::signal(self.pid, libc::SIGKILL)?;
        self.wait()
    }

    fn ended(&mut self, code: Option<i32>, signal: Option<i32>, hung: bool, peak_rss_bytes: u64) -> Result<Ended> {
        self.over = true;
        let read = |name: &str| {
            String::from_utf8_lossy(&std::fs::read(self.notes.join(name)).unwrap_or_default()).into_owned()
        };
        let seconds = self.begin.elapsed().as_secs_f64();
        let (out, error, log) = (read("out"), read("error"), read("log"));
        Ok(Ended { code, signal, hung, peak_rss_bytes, seconds, out, error, log })
    }

    /// Returns the log of the faults so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.notes.join("log")).unwrap_or_default()).into_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            let _ = system::signal(self.pid, libc::SIGKILL);
            while matches!(system::look_at(self.pid), Ok((Change::None | Change::Stopped, _))) {
                std::thread::sleep(POLL);
            }
        }
    }
}

/// A finished run.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub hung: bool,
    pub peak_rss_bytes: u64,
    pub seconds: f64,
    pub out: String,
    pub error: String,
    pub log: String,
}

impl Ended {
    /// Returns whether it was ended by a SIGKILL other than the harness's own after a hang.
    pub fn was_killed(&self) -> bool {
        self.signal == Some(libc::SIGKILL) && !self.hung
    }

    /// Returns the panic, abort, signal or hang that must end no run, if there is one.
    pub fn misbehaviour(&self) -> Option<String> {
        let bad_code = self.code.is_some_and(|code| ![0, 1, 2, 3, 4, 6, 7, 129, 130, 143].contains(&code));
        let panicked = self.error.contains("panicked") || self.out.contains("panicked");
        (self.hung || bad_code || panicked || self.signal.is_some()).then(|| self.summary())
    }

    /// Lists the failed calls: kind and path.
    pub fn hits(&self) -> impl Iterator<Item = (&str, &str)> {
        self.log.lines().filter_map(|line| line.strip_prefix("f ")?.split_once(' '))
    }

    /// Lists the calls of a trace: kind and path.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str)> {
        self.log.lines().filter_map(|line| line.strip_prefix("c ")?.split_once(' '))
    }

    pub fn summary(&self) -> String {
        let error = self.error.trim().replace('\n', " | ");
        let hung = if self.hung { ", hung" } else { "" };
        format!("code {:?}, signal {:?}{hung}: {}", self.code, self.signal, error)
    }
}
