//! One solve, resolved once.
//!
//! A [`Solve`] holds the choices of a caller (flags, keywords or code), or those of a folder.
//! [`Solve::in_folder`] turns it into a [`Job`] with every choice made: the others come from the
//! folder, or are the defaults. [`Job::plan`] computes what it needs, and [`Job::run`] runs it.
//!
//! # Invariants
//! 1. A job agrees with its folder: every parameter in `FORMAT` except the memory is one of the
//!    job, with the same value. Only a finished folder may have been solved by a strategy of the
//!    papers.
//! 2. The choices of a job are consistent with each other and with its values.
//! 3. Before [`Job::run`] nothing is written.
//!
//! # Not here
//! The caller handles progress, signals and error messages.

mod builder;
mod memory;
mod room;

pub use builder::{KeepChoice, Solve};
pub use memory::{Memory, USUAL_BYTES, memory, memory_below, modest_bytes};
pub use room::{Alternative, JobPlan, free_bytes};

use crate::database::{Audit, BOOK, DatabaseError, Game, Keep, MANIFEST, Manifest, SUMS, SolveSpec, Terms, Values};
use crate::layout::CELLS_MAX;
use crate::plan::{PlanError, Scenario};
use crate::solve::{Solved, solve};
use pipeline::checkpoint::{self, FORMAT, Inspection, PUBLISHED, Parameters};
use pipeline::{
    BlockId, Damage, Error, Event, Expected, LimitedStorage, Metrics, Options, RealStorage, Storage, Thresholds,
};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trinim_game::Board;
use trinim_kernel::Kernel;

/// The parameters of a run as the papers did it, which trinim never continues.
pub(crate) const AS_THE_PAPERS: [&str; 2] = ["strategy", "redundancy"];

/// The settings of a folder that lacks one of these parameters.
const USUAL: [(&str, &str); 5] = [
    (AS_THE_PAPERS[0], "update-log"),
    (AS_THE_PAPERS[1], "remove"),
    (Values::PARAMETER, "outcomes"),
    (Keep::PARAMETER, "database"),
    (Audit::PARAMETER, "none"),
];

/// A solve in a folder, with every choice made.
#[non_exhaustive]
pub struct Job {
    solve: Solve,
    finished: Option<Solved>,
    /// Board, rule and layout.
    pub game: Game,
    /// What is computed and kept, and how it is audited.
    pub terms: Terms,
    /// Where.
    pub folder: PathBuf,
    /// The state that earlier sessions left there.
    pub begun: Option<Inspection>,
}

/// Stops a run, and counts what it does.
#[derive(Default)]
pub struct Monitor {
    /// Stops the run at the next opportunity when set.
    pub stop: Arc<AtomicBool>,
    /// Counters of the run.
    pub metrics: Metrics,
}

/// A choice by its name on the command line, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name, like `log-placement`.
    pub name: &'static str,
    /// The value; empty if it is unset.
    pub value: String,
}

/// Two choices that make no sense together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{choice} cannot be used with {other}: {reason}")]
pub struct Contradiction {
    /// One choice.
    pub choice: Choice,
    /// The other.
    pub other: Choice,
    /// Why not.
    pub reason: &'static str,
}

/// A solve that cannot be, or that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// Choices that make no sense together.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// A book of more pieces than the board has.
    #[error("keep book:{pieces}: the board has {cells} pieces")]
    Pieces {
        /// Least pieces of a position in the book.
        pieces: u32,
        /// Cells of the board.
        cells: u32,
        /// The usual book.
        usual: Keep,
    },
    /// A board of more than [`CELLS_MAX`] cells.
    #[error("{board} has {cells} cells: expected at most {CELLS_MAX}")]
    Cells {
        /// Name of the board.
        board: String,
        /// Its cells.
        cells: u32,
    },
    /// The solve needs more than there is.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The database of the folder cannot be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The folder belongs to another solve or is damaged; or the run failed or was stopped.
    #[error(transparent)]
    Run(#[from] Error),
}

impl Choice {
    fn new(name: &'static str, value: impl fmt::Display) -> Choice {
        Choice { name, value: value.to_string() }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.value {
            "" => f.write_str(self.name),
            value => write!(f, "{} {value}", self.name),
        }
    }
}

/// Refuses a board of more than [`CELLS_MAX`] cells.
///
/// # Errors
/// [`JobError::Cells`].
pub fn check_cells(board: &Board) -> Result<(), JobError> {
    match board.cells() {
        ..=CELLS_MAX => Ok(()),
        cells => Err(JobError::Cells { board: board.name().to_owned(), cells }),
    }
}

/// Reads the run in a folder; `None` if there is none.
///
/// # Errors
/// [`Error::Io`], [`Error::Corrupt`], and [`Error::Version`] if another version began the run.
pub fn inspect(folder: &Path) -> Result<Option<Inspection>, JobError> {
    // An error must not count as absence: a new run might choose another layout.
    if !folder.try_exists().map_err(|error| Error::io("open", folder, error))? {
        return Ok(None);
    }
    let storage = RealStorage::open(folder)?;
    match checkpoint::inspect(&storage) {
        Ok(inspection) => Ok(Some(inspection)),
        Err(Error::NotARun { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Job {
    /// Resolves a solve in a folder where earlier sessions left `begun`.
    fn new(solve: Solve, folder: &Path, begun: Option<Inspection>) -> Result<Job, JobError> {
        let found = begun.as_ref().map(|begun| &begun.parameters.0[..]);
        let values = solve.values.or_else(|| found.and_then(Values::from_parameters)).unwrap_or_default();
        let keep = solve.kept(values, found.and_then(Keep::from_parameters))?;
        let layout = solve.laid_out(values, found);
        let game = Game { board: solve.board.clone(), rule: solve.rule, layout };
        let audit = solve.audited(found.and_then(Audit::from_parameters));
        let terms = Terms { values, keep, audit };
        let mut job = Job { solve, finished: None, game, terms, folder: folder.to_path_buf(), begun };
        job.agree()?;
        if job.finished.is_none() {
            // Parameters of a folder are checked like choices of a caller.
            job.solve.check(values, terms.audit)?;
            if !terms.are_possible() {
                let (path, name) = (job.folder.join(FORMAT), Keep::PARAMETER.to_owned());
                return Err(Error::Parameters {
                    path,
                    name,
                    found: keep.to_string(),
                    wanted: Keep::Database.to_string(),
                }
                .into());
            }
        }
        Ok(job)
    }

    /// Compares the job with its folder, and takes the result of a finished one.
    fn agree(&mut self) -> Result<(), Error> {
        let Some(begun) = &self.begun else { return Ok(()) };
        let difference = self.difference(begun);
        let is_same = difference.as_ref().is_none_or(|(name, ..)| AS_THE_PAPERS.contains(&name.as_str()));
        if is_same && let Some(solved) = self.result(begun)? {
            self.finished = Some(solved);
            return Ok(());
        }
        let path = self.folder.join(FORMAT);
        difference.map_or(Ok(()), |(name, found, wanted)| Err(Error::Parameters { path, name, found, wanted }))
    }

    /// Returns the first parameter in which a folder differs, the papers' ones last: its name, the
    /// value there, and the value of the job.
    fn difference(&self, begun: &Inspection) -> Option<(String, String, String)> {
        let (found, wanted) = (&begun.parameters.0, self.spec().parameters());
        let names =
            wanted.iter().chain(found).map(|(name, _)| name.as_str()).filter(|name| *name != Parameters::MEMORY);
        let (last, first): (Vec<&str>, Vec<&str>) = names.partition(|name| AS_THE_PAPERS.contains(name));
        let values = first.into_iter().chain(last).map(|name| (name, value(found, name), value(&wanted, name)));
        let (name, found, wanted) = { values }.find(|(_, found, wanted)| found != wanted)?;
        Some((name.to_owned(), found.to_owned(), wanted.to_owned()))
    }

    /// Returns game and terms.
    pub fn spec(&self) -> SolveSpec<'_> {
        self.terms.spec(&self.game)
    }

    /// Returns the result, if nothing is left to do.
    pub fn finished(&self) -> Option<&Solved> {
        self.finished.as_ref()
    }

    /// Whether `FORMAT` of the folder is damaged; its contents were then read elsewhere.
    pub fn format_damaged(&self) -> bool {
        self.begun.as_ref().is_some_and(|begun| begun.format_damaged)
    }

    /// Returns the kernel.
    pub fn kernel(&self) -> Kernel {
        self.solve.kernel.unwrap_or_else(Kernel::detect)
    }

    /// Returns the scenario, at the recorded speed.
    pub fn scenario(&self) -> Scenario<'_> {
        self.solve.scenario(self.terms.values, self.terms.keep, self.terms.audit)
    }

    /// Returns the result of a folder with these parameters, if it is finished.
    fn result(&self, begun: &Inspection) -> Result<Option<Solved>, Error> {
        let records: BTreeMap<BlockId, _> = begun.records.iter().map(|record| (record.block, record)).collect();
        if records.len() != self.game.layout.canonical_blocks().len() {
            return Ok(None);
        }
        let storage = RealStorage::open(&self.folder)?;
        let Some(sums_bytes) = storage.length(&format!("{PUBLISHED}/{SUMS}"))? else { return Ok(None) };
        let summaries = records.values().map(|record| &record.summary[..]);
        let Some(manifest) = Manifest::from_summaries(self.spec(), summaries) else { return Ok(None) };
        let manifest_bytes = manifest.to_json().len() as u64;
        let mut expected = vec![(format!("{PUBLISHED}/{MANIFEST}"), manifest_bytes)];
        let published = begun.records.iter().filter_map(|record| record.published.as_ref());
        expected.extend(published.map(|file| (file.name.clone(), file.length)));
        if let Keep::Book { .. } = self.terms.keep {
            // Parts that are still named are to become the book.
            let length = storage.length(&format!("{PUBLISHED}/{BOOK}"))?;
            let Some(length) = length.filter(|_| expected.len() == 1) else { return Ok(None) };
            expected.push((format!("{PUBLISHED}/{BOOK}"), length));
        }
        let mut database_bytes = sums_bytes;
        for (name, length) in expected {
            let damage = match storage.length(&name)? {
                Some(found) if found == length => None,
                Some(found) => Some(Damage::Length { expected: Expected::Exactly(length), found }),
                None => Some(Damage::MISSING),
            };
            if let Some(damage) = damage {
                return Err(Error::corrupt(storage.path(&name), None, damage));
            }
            database_bytes += length;
        }
        Ok(Some(Solved { manifest, database_bytes, peak_leased_bytes: 0 }))
    }

    /// Solves, or continues an interrupted solve. `observer` is called with its events.
    ///
    /// # Errors
    /// Those of [`solve`]; [`Error::OpenFiles`] before anything is written.
    pub fn run(&self, plan: &JobPlan, monitor: &Monitor, observer: &(dyn Fn(&Event) + Sync)) -> Result<Solved, Error> {
        let Scenario { resources, placement, codec, commit_interval, .. } = self.scenario();
        let thresholds = Some(Thresholds::for_process(plan.workers())?);
        let stop = monitor.stop.clone();
        let options = Options { placement, codec, commit_interval, thresholds, stop, ..resources.options() };
        let mut storage: Arc<dyn Storage> = Arc::new(RealStorage::create(&self.folder)?);
        if resources.disk_bytes < u64::MAX {
            storage = Arc::new(LimitedStorage::new(storage, resources.disk_bytes)?);
        }
        assert!(self.terms.are_possible(), "job, invariant 2: {:?}", self.terms);
        assert!(plan.workers() > 0, "plan, invariant 2: a plan without a worker is run");
        solve(self.spec(), self.kernel(), &storage, &options, &monitor.metrics, observer)
    }
}

/// Returns the value of a parameter among these, or what its absence means.
fn value<'a>(parameters: &'a [(String, String)], name: &str) -> &'a str {
    let given = parameters.iter().find(|pair| pair.0 == name).map(|pair| pair.1.as_str());
    let usual = || USUAL.iter().find(|pair| pair.0 == name).map(|pair| pair.1);
    given.or_else(usual).unwrap_or("(absent)")
}
