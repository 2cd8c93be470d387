//! The setup shared by all parts: programs, temporary folders, amount of work, random numbers,
//! threads.

use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use trinim::random::Random;

/// Interval between lines of progress.
const PROGRESS: Duration = Duration::from_secs(20);
/// The file system in memory on Linux.
const MEMORY: &str = "/dev/shm";

pub struct Setup {
    /// The release binary of trinim.
    pub binary: PathBuf,
    /// The preload library.
    pub preload: PathBuf,
    /// Scratch on the disk.
    pub disk: TempDir,
    /// Scratch in memory if possible: kills and errors need no disk, and syncs are free there.
    pub memory: TempDir,
    /// Whether the run is bounded to a few minutes.
    pub ci: bool,
    pub effort: u64,
    pub seed: u64,
    pub threads: usize,
    /// Set by Ctrl-C.
    pub stop: Arc<AtomicBool>,
    fresh: AtomicU64,
}

/// A folder and random numbers for one thread.
pub struct Lane {
    pub folder: PathBuf,
    pub random: Random,
}

impl Setup {
    /// `built` is the program `trinim`, if it is built already, with `trinim-task` beside it.
    pub fn new(
        built: Option<PathBuf>,
        (ci, effort, seed): (bool, u64, u64),
        scratch: &Path,
        stop: Arc<AtomicBool>,
    ) -> Result<Setup> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("tools has a parent folder")?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["build", "--locked", "--release", "--quiet", "-p", "preload"])
            .args(if built.is_none() { &["-p", "trinim", "-p", "trinim-serve", "-p", "trinim-task"][..] } else { &[] })
            .current_dir(root)
            .status()
            .context("cargo cannot be started")?;
        ensure!(status.success(), "the programs cannot be built");
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target));
        // Absolute, because runs have other current folders.
        let binary = std::path::absolute(built.unwrap_or_else(|| target.join("release/trinim")))?;
        let preload = target.join("release/libpreload.so");
        for file in [&binary, &preload] {
            ensure!(file.is_file(), "{} is missing", file.display());
        }
        let folder = |below: &Path| tempfile::Builder::new().prefix("trinim-faults.").tempdir_in(below);
        let memory = Path::new(MEMORY);
        let memory = if memory.is_dir() { folder(memory) } else { folder(scratch) };
        Ok(Setup {
            binary,
            preload,
            disk: folder(scratch).with_context(|| format!("no scratch folder in {}", scratch.display()))?,
            memory: memory.context("no scratch folder in memory")?,
            ci,
            effort,
            seed,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            stop,
            fresh: AtomicU64::new(0),
        })
    }

    /// Returns an amount of work: `ci` within the bound of CI, or `full` for each unit of effort.
    pub fn amount(&self, full: u64, ci: u64) -> u64 {
        if self.ci { ci } else { full * self.effort }
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Creates a new folder in memory.
    pub fn folder(&self) -> Result<PathBuf> {
        self.folder_in(self.memory.path())
    }

    /// Creates a new folder on the disk.
    pub fn disk_folder(&self) -> Result<PathBuf> {
        self.folder_in(self.disk.path())
    }

    fn folder_in(&self, root: &Path) -> Result<PathBuf> {
        let folder = root.join(format!("f{}", self.fresh.fetch_add(1, Ordering::Relaxed)));
        std::fs::create_dir(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        Ok(folder)
    }

    pub fn random(&self, salt: u64) -> Random {
        Random::new(self.seed.wrapping_add(salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// Runs `work` on every case, on one thread for each processor; ends early if stopped.
    pub fn each<T: Send + Sync>(&self, cases: &[T], work: impl Fn(&mut Lane, &T) -> Result<()> + Sync) -> Result<()> {
        let next = AtomicU64::new(0);
        let failure: Mutex<Option<anyhow::Error>> = Mutex::new(None);
        let told = LastLine(Mutex::new(Instant::now()));
        std::thread::scope(|scope| {
            for lane in 0..self.threads {
                let (next, failure, told, work) = (&next, &failure, &told, &work);
                scope.spawn(move || {
                    let run = || -> Result<()> {
                        let mut lane = Lane { folder: self.folder()?, random: self.random(1000 + lane as u64) };
                        while !self.stopped() {
                            let at = next.fetch_add(1, Ordering::Relaxed);
                            let Some(case) = cases.get(at as usize) else { break };
                            work(&mut lane, case)?;
                            told.tell(at, cases.len());
                        }
                        let _ = std::fs::remove_dir_all(&lane.folder);
                        Ok(())
                    };
                    if let Err(error) = run() {
                        next.store(u64::MAX / 2, Ordering::Relaxed);
                        *failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
                    }
                });
            }
        });
        if let Some(error) = failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            return Err(error);
        }
        if self.stopped() {
            bail!("stopped by a signal");
        }
        Ok(())
    }
}

/// Time of the last line of progress.
struct LastLine(Mutex<Instant>);

impl LastLine {
    fn tell(&self, done: u64, all: usize) {
        let mut last = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if last.elapsed() >= PROGRESS {
            *last = Instant::now();
            eprintln!("  {done} of {all} cases");
        }
    }
}

/// Returns up to `most` of the numbers from 1 to `end`: all if they fit, otherwise every n-th from
/// a random one on.
pub fn picks(end: u64, most: u64, random: &mut Random) -> Vec<u64> {
    let step = end.div_ceil(most.max(1)).max(1);
    (1 + random.below(step)..=end).step_by(step as usize).collect()
}
