//! Positions solved on the spot, for `probe`: memory, a folder for temporary files, progress.

use super::args::{self, Size};
use super::exit::Stopped;
use super::output::Out;
use super::progress::{self, Progress, ProgressArgs, Say, Total};
use super::signals::Signals;
use clap::Args;
use pipeline::{Error, Metrics, Options};
use std::collections::BTreeSet;
use std::path::PathBuf;
use tempfile::TempDir;
use trinim::database::{Encoding, Keep, Probe, Values};
use trinim::game::{Board, Rule};
use trinim::kernel::Kernel;
use trinim::plan::{self, Plan, Request};
use trinim::solve::parts::{PartError, PartSolver, Way};

/// How positions without a database are solved.
#[derive(Args)]
pub struct SpotArgs {
    /// Memory budget for the whole program, like 256MiB, 1GiB, 2GB, or 50% of this machine's; for
    /// positions that are solved on the spot
    #[arg(long, help_heading = "Resources", value_name = "SIZE", value_parser = args::memory, default_value = "1GiB")]
    memory: Size,

    /// Threads, 0 for all; for positions that are solved on the spot
    #[arg(long, help_heading = "Resources", value_name = "N", value_parser = args::threads, default_value = "0")]
    threads: usize,

    /// Folder for temporary files of positions with more than about 32 pieces [default: that of the
    /// system]
    #[arg(long, help_heading = "Resources", value_name = "DIR")]
    scratch: Option<PathBuf>,

    #[command(flatten)]
    progress: ProgressArgs,
}

/// A solver of positions, with its folder.
pub struct Spot {
    solver: PartSolver,
    options: Options,
    rule: Rule,
    memory_bytes: u64,
    progress: Progress,
    /// Removed when the program ends.
    _folder: TempDir,
}

impl SpotArgs {
    /// Prepares a solver for positions of a board.
    pub fn solver(&self, board: &Board, rule: Rule, signals: &Signals, out: &Out) -> anyhow::Result<Spot> {
        let options = Options {
            threads: args::all_if_zero(self.threads),
            memory_bytes: plan::engine_bytes(self.memory.0),
            stop: signals.stop.clone(),
            ..Options::default()
        };
        let mut builder = tempfile::Builder::new();
        let made = match &self.scratch {
            Some(folder) => builder.prefix("trinim-probe.").tempdir_in(folder),
            None => builder.prefix("trinim-probe.").tempdir(),
        };
        let parent = self.scratch.clone().unwrap_or_else(std::env::temp_dir);
        let folder = made.map_err(|error| Error::io("create", &parent, error))?;
        let solver = PartSolver::new(board.clone(), rule, Kernel::detect(), folder.path(), options.clone());
        let progress = self.progress.on(out)?;
        Ok(Spot { solver, options, rule, memory_bytes: self.memory.0, progress, _folder: folder })
    }
}

impl Spot {
    /// Returns the values of a position and of all its moves.
    ///
    /// # Errors
    /// Those of [`PartSolver::probe`]; [`Stopped`] after a signal.
    pub fn probe(&mut self, position: u64, signals: &Signals) -> anyhow::Result<Result<Probe, PartError>> {
        let metrics = Metrics::default();
        let probed = match self.solver.way(position) {
            Ok(Way::Folder) => {
                let game = self.solver.game(position)?;
                let request = Request {
                    board: &game.board,
                    rule: self.rule,
                    values: Values::Outcomes,
                    keep: Keep::Database,
                    encoding: Encoding::default(),
                    memory_bytes: self.memory_bytes,
                    threads: self.options.threads,
                    placement: plan::default_placement(game.board.size_in_layers(), Values::Outcomes),
                    codec: "auto",
                    commit_interval: self.options.commit_interval,
                };
                let plan = Plan::of(request, &game.layout)?;
                plan.check(u64::MAX, 0)?;
                let total = Total::of(&game.layout, &plan.shape, plan.memory.held_streams, &BTreeSet::new());
                let status = |elapsed: f64| progress::of_solve(&metrics, &total, elapsed);
                let work = |_: Say<'_>| self.solver.probe(position, &metrics);
                progress::during(&status, signals, &self.progress, work)
            }
            _ => self.solver.probe(position, &metrics),
        };
        match probed {
            Err(PartError::Run(Error::Interrupted)) => {
                Err(anyhow::Error::new(Stopped::from_the_start(signals.exit())).context("stopped before the answer"))
            }
            // Without the wrapper, which would hide what the exit code depends on.
            Err(PartError::Run(error)) => Err(error.into()),
            Err(PartError::Database(error)) => Err(error.into()),
            other => Ok(other),
        }
    }
}
