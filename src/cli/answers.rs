//! The sources of values for `probe`, `play` and `serve`: a folder, the built-in books, and
//! positions solved on the spot, with memory, a folder for temporary files and progress.

use crate::cli::args::ResourceArgs;
use crate::cli::pace;
use crate::database::{BuiltIn, Database, Game};
use crate::game::{Board, Rule};
use crate::job::free_bytes;
use crate::kernel::Kernel;
use crate::plan::work::SessionWork;
use crate::plan::{Plan, PlanError, Resources, Scenario};
use crate::play::{AnswerError, Answers, OnTheSpot};
use crate::solve::parts::{self, PIECES_LIMIT, PIECES_MAX, PartError, PartSolver, Runner};
use clap::Args;
use pipeline::storage::ScratchFolder;
use pipeline::{Error, Metrics, Options};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use terminal::exit::{Exit, Refused, Stopped};
use terminal::output::Out;
use terminal::progress::{self, BriefProgressArgs, Say};
use terminal::signals::Signals;

/// Interval at which a signal is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// Time in which a solve must end after a signal.
const GRACE: Duration = Duration::from_millis(300);

/// How positions without a database are solved.
#[derive(Args)]
pub struct SpotArgs {
    /// Most pieces of a position to solve on the spot, 0 to 40
    ///
    /// 36 pieces take 1 GiB of disk and 16 times as long as 32; each further piece doubles both.
    #[arg(long, help_heading = "Resources", value_name = "N", default_value_t = PIECES_MAX,
          value_parser = clap::value_parser!(u32).range(..=i64::from(PIECES_LIMIT)))]
    spot_pieces: u32,

    #[command(flatten)]
    resources: ResourceArgs,

    /// Folder for temporary files of positions with more than about 32 pieces [default: that of the
    /// system]
    #[arg(long, help_heading = "Resources", value_name = "DIR", env = "TRINIM_SCRATCH", hide_env = true)]
    scratch: Option<PathBuf>,

    #[command(flatten)]
    progress: BriefProgressArgs,
}

impl SpotArgs {
    /// Prepares a solver for positions of a board. Dropping it removes its temporary files.
    pub fn solver(&self, board: &Board, rule: Rule, out: &Out) -> anyhow::Result<PartSolver> {
        let signals = Signals::register()?;
        signals.release();
        let resources = self.resources.of_a_part();
        let options = Options { stop: signals.stop.clone(), ..resources.options() };
        if let Some(scratch) = &self.scratch {
            std::fs::read_dir(scratch).map_err(|error| Error::io("open", scratch, error))?;
        }
        let runner = self.runner(resources, signals, out)?;
        let solver = PartSolver::new(board.clone(), rule, Kernel::detect(), options, runner);
        Ok(solver.with_pieces_max(self.spot_pieces))
    }

    /// Returns the runner of a solve in a folder: it refuses a solve that does not fit, and shows
    /// progress.
    fn runner(&self, resources: Resources, signals: Signals, out: &Out) -> anyhow::Result<Box<Runner>> {
        let progress = self.progress.on(out)?;
        let scratch = self.scratch.clone();
        // Created for the first solve, removed with the solver.
        let scratch_folder = OnceCell::new();
        Ok(Box::new(move |game, solve| {
            let folder = match scratch_folder.get() {
                Some(WatchedFolder { folder, .. }) => folder,
                None => {
                    let made = WatchedFolder::new(scratch.as_deref(), &signals)?;
                    &scratch_folder.get_or_init(|| made).folder
                }
            };
            let plan = planned(game, resources, free_bytes(folder.path()))?;
            let work = SessionWork::new(&game.layout, &plan.shape, plan.memory.held_streams, &BTreeSet::new());
            let metrics = Metrics::default();
            let status = |elapsed: f64| pace::of_solve(&metrics, &work, elapsed);
            progress::during(&status, &signals, &progress, |_: Say<'_>| solve(folder.path(), &metrics))?
        }))
    }
}

/// Plans a solve of a part in a folder with this much free space.
pub fn planned(game: &Game, resources: Resources, free_bytes: u64) -> Result<Plan, PartError> {
    let plan = Plan::for_layout(Scenario::new(&game.board, game.rule, resources), &game.layout)?;
    plan.check(free_bytes)?;
    Ok(plan)
}

/// Memory of a solver that needs no folder: a bitmap of 28 pieces takes half of it, and nimbers and
/// distances of 22 pieces take less.
const IN_MEMORY_BYTES: u64 = 64 << 20;

/// Returns a solver for positions of at most this many pieces (up to 28) that needs no folder.
pub fn in_memory(board: &Board, rule: Rule, pieces: u32) -> PartSolver {
    let options = Options { memory_bytes: IN_MEMORY_BYTES, threads: 1, ..Options::default() };
    let runner = parts::run_in(&std::env::temp_dir());
    PartSolver::new(board.clone(), rule, Kernel::detect(), options, runner).with_pieces_max(pieces)
}

pub fn temporary(scratch: Option<&Path>) -> Result<ScratchFolder, Error> {
    let parent = scratch.map_or_else(std::env::temp_dir, Path::to_path_buf);
    ScratchFolder::new(&parent, "trinim-parts.")
}

/// A folder for temporary files that is removed after a signal.
///
/// While it exists, a signal lets a solve end by itself, with a message. If the program waits for
/// input instead, a thread removes the folder and ends the program. The thread ends with this
/// value.
struct WatchedFolder {
    folder: ScratchFolder,
    /// Dropped after the folder: until it is removed, no signal ends the program directly.
    _held: Held,
    /// Closed to end the thread.
    closing: Option<Sender<()>>,
    watcher: Option<JoinHandle<()>>,
}

/// Signals that do not end the program directly.
struct Held(Signals);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.release();
    }
}

impl WatchedFolder {
    fn new(scratch: Option<&Path>, signals: &Signals) -> Result<WatchedFolder, Error> {
        // Before anything exists that could be left behind.
        signals.hold();
        let held = Held(signals.clone());
        let folder = temporary(scratch)?;
        let (closing, closed) = channel::<()>();
        let (watched, path, mut tries) = (signals.clone(), folder.path().to_path_buf(), 0..100);
        let watcher = std::thread::Builder::new().spawn(move || {
            let waits = |time| closed.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            while !watched.stopped() {
                if !waits(LOOK) {
                    return;
                }
            }
            if waits(GRACE) {
                // The solve may still be adding files, or removing them itself.
                while path.exists() && std::fs::remove_dir_all(&path).is_err() && tries.next().is_some() {
                    std::thread::sleep(LOOK);
                }
                std::process::exit(watched.exit() as i32);
            }
        });
        let watcher = watcher.map_err(|source| Error::Thread { source })?;
        Ok(WatchedFolder { folder, _held: held, closing: Some(closing), watcher: Some(watcher) })
    }
}

impl Drop for WatchedFolder {
    fn drop(&mut self) {
        self.closing = None;
        let _ = self.watcher.take().map(JoinHandle::join);
    }
}

/// Turns the error of a position that could not be solved into one that has an exit code.
pub fn unsolved(error: PartError) -> anyhow::Error {
    match error {
        PartError::Run(Error::Interrupted) => {
            let exit = Signals::register().map_or(Exit::Interrupted, |signals| signals.exit());
            anyhow::Error::new(Stopped::from_the_start(exit)).context("stopped before the answer")
        }
        // Without the wrapper, which would hide the kind of the error from the exit code.
        PartError::Run(error) => error.into(),
        PartError::Database(error) => error.into(),
        // The usual hints name options of a solve.
        PartError::Plan(error) => {
            let hint = match error {
                PlanError::Disk { .. } => "free space on this disk, or choose a folder on a larger disk with --scratch",
                _ => "raise --memory",
            };
            Refused::with(Exit::System, error.to_string(), hint).into()
        }
        error => Refused::new(error.to_string(), "use the folder of a solve that keeps every value").into(),
    }
}

/// Opens the database in a folder. Values that it does not keep, and distances to the end, are
/// computed on request.
pub fn in_folder(folder: &Path, spot: &SpotArgs, out: &Out) -> anyhow::Result<Arc<dyn Answers>> {
    let database = Arc::new(Database::open(folder)?);
    let solver = spot.solver(database.board(), database.rule(), out)?;
    Ok(Arc::new(OnTheSpot::new(Some(database), solver)))
}

/// Answers for a board without a folder: from a built-in book, and from positions solved on
/// request.
pub fn without_folder(board: &Board, rule: Rule, spot: &SpotArgs, out: &Out) -> anyhow::Result<Arc<dyn Answers>> {
    let built_in = BuiltIn::for_board(board, rule).map(Database::open_built_in).transpose()?;
    let source = built_in.map(|database| Arc::new(database) as Arc<dyn Answers>);
    Ok(Arc::new(OnTheSpot::new(source, spot.solver(board, rule, out)?)))
}

/// Returns the number given instead of a folder, unless a folder has this name.
pub fn number(folder: &Path) -> Option<u64> {
    if folder.exists() { None } else { folder.to_str()?.parse().ok() }
}

/// Turns the error of an answer into one that has an exit code.
pub fn failed(error: AnswerError) -> anyhow::Error {
    match error {
        AnswerError::Database(error) => error.into(),
        AnswerError::Solve(error) => unsolved(error),
        error => Refused::new(error.to_string(), "use the folder of a solve that keeps every value").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::hints::classify;

    /// A solve on the spot can use all free space, and is refused if it needs one byte more.
    #[test]
    fn a_part_has_to_fit_the_disk() {
        let game = Game::triangle(6, Rule::Misere, 12).expect("a game");
        let resources = Resources { memory_bytes: 64 << 20, ..Resources::default() };
        let plan = |free_bytes| planned(&game, resources, free_bytes);
        let needed_bytes = plan(u64::MAX).expect("a plan").chosen().disk_peak_bytes;
        assert!(needed_bytes > 0 && plan(needed_bytes).is_ok());
        let refused = plan(needed_bytes - 1);
        assert!(matches!(refused, Err(PartError::Plan(PlanError::Disk { .. }))), "{:?}", refused.err());
    }

    #[test]
    fn hints_name_options_that_there_are() {
        let hint = |error| classify(&unsolved(error), false).unwrap();
        let (exit, disk) = hint(PlanError::Disk { needed_bytes: 2, free_bytes: 1 }.into());
        assert!(exit == Exit::System && disk.contains("--scratch") && !disk.contains("--out"), "{disk}");
        let memory = PlanError::Memory { needed_bytes: 2, budget_bytes: 1, block_bytes: 1 };
        let (exit, memory) = hint(memory.into());
        assert!(exit == Exit::System && memory.contains("--memory") && !memory.contains("--block-bits"), "{memory}");
        let (exit, kind) = hint(Error::Interrupted.into());
        assert!(exit == Exit::Interrupted && kind.starts_with("start over with: "), "{kind}");
    }
}
