//! The choices of a caller about a solve; the folder and the plan decide the rest.

use super::{Choice, Contradiction, Job, JobError, Monitor, inspect};
use crate::database::{Audit, Game, Keep, Terms, Values};
use crate::layout::Layout;
use crate::plan::speed;
use crate::plan::{self, Plan, Resources, Scenario, choose_layout_for};
use crate::solve::Solved;
use pipeline::codec::Codec;
use pipeline::{Event, Placement};
use std::fmt;
use std::path::Path;
use std::time::Duration;
use trinim_game::{Board, Rule};
use trinim_kernel::Kernel;

/// A solve, with a default for everything but board and rule. The layout, the placement and the
/// codec of logs follow from the [plan](crate::plan). An unfinished folder is continued with its
/// original settings. From nine layers on, the book is kept and a share of the blocks is audited.
///
/// ```
/// use trinim::{Board, Database, Rule, Solve};
///
/// let folder = tempfile::tempdir()?;
/// let board = Board::triangle(4, None)?;
/// let solved = Solve::new(&board, Rule::Normal).threads(1).run(folder.path())?;
/// assert_eq!(Database::open(folder.path())?.manifest(), &solved.manifest);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Solve {
    pub(super) board: Board,
    pub(super) rule: Rule,
    pub(super) values: Option<Values>,
    pub(super) keep: Option<KeepChoice>,
    pub(super) audit: Option<Audit>,
    pub(super) cut: Cut,
    pub(super) placement: Option<Placement>,
    pub(super) codec: Option<&'static dyn Codec>,
    pub(super) commit_interval: Option<Duration>,
    pub(super) resources: Resources,
    pub(super) kernel: Option<Kernel>,
}

/// What is kept; a book without a number has the default depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepChoice {
    /// As named.
    Exactly(Keep),
    /// The book of default depth, or that of the folder.
    Book,
}

/// The division into blocks.
#[derive(Clone)]
pub(super) enum Cut {
    /// That of the folder, or the planned one.
    Planned,
    /// The best known one with at most this many offset bits.
    Bits(u32),
    /// This one.
    Exactly(Box<Layout>),
}

impl Solve {
    /// Creates a solve of a board with a thread for each core and 1 GiB of memory.
    pub fn new(board: &Board, rule: Rule) -> Solve {
        Solve {
            board: board.clone(),
            rule,
            values: None,
            keep: None,
            audit: None,
            cut: Cut::Planned,
            placement: None,
            codec: None,
            commit_interval: None,
            resources: Resources::default(),
            kernel: None,
        }
    }

    /// Returns the solve that a folder with these parameters was started with; `None` if it is not
    /// one of this program.
    pub fn from_parameters(parameters: &[(String, String)]) -> Option<Solve> {
        let game = Game::from_parameters(parameters)?;
        let Terms { values, keep, audit } = Terms::from_parameters(parameters)?;
        Some(Solve::from(&game).values(values).keep(keep).audit(audit))
    }

    /// Computes these values; by default who wins. Nimbers are those of normal play; nimbers and
    /// distances are kept whole.
    pub fn values(self, values: impl Into<Option<Values>>) -> Solve {
        Solve { values: values.into(), ..self }
    }

    /// Keeps this of the result; by default the database, and the book from nine layers on.
    pub fn keep(self, keep: impl Into<Option<KeepChoice>>) -> Solve {
        Solve { keep: keep.into(), ..self }
    }

    /// Compares these blocks with their children before they are saved; by default
    /// [`Audit::usual`].
    pub fn audit(self, audit: Audit) -> Solve {
        Solve { audit: Some(audit), ..self }
    }

    /// Divides the positions into these blocks; by default as planned.
    pub fn layout(self, layout: Layout) -> Solve {
        Solve { cut: Cut::Exactly(Box::new(layout)), ..self }
    }

    /// Divides the positions into blocks of at most `2^bits` positions ([`Layout::suggested`]); by
    /// default as planned.
    pub fn block_bits(self, bits: u32) -> Solve {
        Solve { cut: Cut::Bits(bits), ..self }
    }

    /// Places the logs there; by default as planned.
    pub fn placement(self, placement: impl Into<Option<Placement>>) -> Solve {
        Solve { placement: placement.into(), ..self }
    }

    /// Writes the logs in this codec; by default in that of [`plan::default_codec`].
    pub fn codec(self, codec: impl Into<Option<&'static dyn Codec>>) -> Solve {
        Solve { codec: codec.into(), ..self }
    }

    /// Waits this long between checkpoints; by default five seconds.
    pub fn commit_interval(self, interval: impl Into<Option<Duration>>) -> Solve {
        Solve { commit_interval: interval.into(), ..self }
    }

    /// Takes at most these resources of the machine.
    pub fn resources(self, resources: Resources) -> Solve {
        Solve { resources: Resources { threads: resources.threads.max(1), ..resources }, ..self }
    }

    /// Uses at most this many bytes of memory for the whole program.
    pub fn memory_bytes(self, memory_bytes: u64) -> Solve {
        Solve { resources: Resources { memory_bytes, ..self.resources }, ..self }
    }

    /// Runs at most this many workers, fewer if the memory does not suffice for all.
    pub fn threads(self, threads: usize) -> Solve {
        Solve { resources: Resources { threads: threads.max(1), ..self.resources }, ..self }
    }

    /// Uses this kernel; by default the fastest of this machine.
    pub fn kernel(self, kernel: impl Into<Option<Kernel>>) -> Solve {
        Solve { kernel: kernel.into(), ..self }
    }

    /// Limits the bytes of the folder; without a limit by default.
    pub fn max_disk_bytes(self, bytes: impl Into<Option<u64>>) -> Solve {
        let disk_bytes = bytes.into().unwrap_or(u64::MAX);
        Solve { resources: Resources { disk_bytes, ..self.resources }, ..self }
    }

    /// Returns the board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Solves in `folder`, which is created if necessary, or continues an interrupted solve of the
    /// same game; a finished one is unchanged. [`Database::open`](crate::Database::open) then reads
    /// the folder.
    ///
    /// # Errors
    /// Those of [`Solve::in_folder`], [`Job::plan`] and [`Job::run`]; [`PlanError::Disk`] if there
    /// is too little room.
    ///
    /// [`PlanError::Disk`]: crate::plan::PlanError::Disk
    pub fn run(self, folder: &Path) -> Result<Solved, JobError> {
        self.run_with(folder, &Monitor::default(), &|_| {})
    }

    /// Does the same, watched and stopped by `monitor`; `observer` is called with its events.
    ///
    /// # Errors
    /// Those of [`Solve::run`]; [`pipeline::Error::Interrupted`] after a stop.
    pub fn run_with(
        self,
        folder: &Path,
        monitor: &Monitor,
        observer: &(dyn Fn(&Event) + Sync),
    ) -> Result<Solved, JobError> {
        let job = self.in_folder(folder)?;
        if let Some(solved) = job.finished() {
            let blocks = job.spec().blocks();
            observer(&Event::Opened { finished_blocks: blocks, blocks, workers: 0 });
            return Ok(solved.clone());
        }
        let plan = job.plan()?;
        plan.check()?;
        Ok(job.run(&plan, monitor, observer)?)
    }

    /// Resolves the solve for `folder`, which need not exist. Settings that were not chosen are
    /// those of the folder, or the defaults. Nothing is written.
    ///
    /// # Errors
    /// [`JobError::Contradiction`], [`JobError::Pieces`], [`JobError::Cells`];
    /// [`pipeline::Error::Parameters`] if the folder has other settings; the errors of
    /// [`inspect`].
    pub fn in_folder(self, folder: &Path) -> Result<Job, JobError> {
        self.check(self.values.unwrap_or_default(), self.audit.unwrap_or_default())?;
        let begun = inspect(folder)?;
        Job::new(self, folder, begun)
    }

    /// Plans the solve without a folder, on request at the speed of this machine. A layout whose
    /// graph is too large to walk is estimated.
    ///
    /// # Errors
    /// Those of [`Solve::in_folder`] without a folder, and
    /// [`PlanError::Blocks`](crate::plan::PlanError::Blocks).
    pub fn plan(&self, is_timed: bool) -> Result<Plan, JobError> {
        let values = self.values.unwrap_or_default();
        let audit = self.audited(None);
        self.check(values, audit)?;
        let scenario = self.scenario(values, self.kept(values, None)?, audit);
        let plan = match &self.cut {
            Cut::Planned => Plan::suggested(scenario, None),
            Cut::Bits(bits) => Plan::suggested(scenario, Some(*bits)),
            Cut::Exactly(layout) => Plan::for_layout(scenario, layout)?,
        };
        Ok(if is_timed { plan.timed(scenario, speed::of_this_machine) } else { plan })
    }

    /// Returns the scenario of these values, what is kept and the audit, at the recorded speed.
    pub(super) fn scenario(&self, values: Values, keep: Keep, audit: Audit) -> Scenario<'_> {
        let usual = || plan::default_placement(self.board.size_in_layers(), values, audit);
        let scenario = Scenario::new(&self.board, self.rule, self.resources);
        Scenario {
            values,
            keep,
            audit,
            placement: self.placement.unwrap_or_else(usual),
            codec: self.codec.unwrap_or(scenario.codec),
            commit_interval: self.commit_interval.unwrap_or(scenario.commit_interval),
            ..scenario
        }
    }

    /// Returns what is kept: as chosen, as `found` in the folder, or the default.
    pub(super) fn kept(&self, values: Values, found: Option<Keep>) -> Result<Keep, JobError> {
        let usual = if values.is_outcomes() { Keep::usual(&self.board) } else { Keep::Database };
        let cells = self.board.cells();
        let keep = match (self.keep, found) {
            (Some(KeepChoice::Exactly(keep)), _) => keep,
            (Some(KeepChoice::Book), Some(found @ Keep::Book { .. })) => found,
            (Some(KeepChoice::Book), _) => Keep::book(&self.board),
            (None, found) => found.unwrap_or(usual),
        };
        match keep {
            Keep::Book { pieces } if pieces > cells => {
                Err(JobError::Pieces { pieces, cells, usual: Keep::book(&self.board) })
            }
            keep => Ok(keep),
        }
    }

    /// Returns the audit: as chosen, as `found` in the folder, or the usual one, which needs shared
    /// logs.
    pub(super) fn audited(&self, found: Option<Audit>) -> Audit {
        let usual = match self.placement {
            Some(Placement::Dedicated) => Audit::None,
            None | Some(Placement::Shared) => Audit::usual(&self.board),
        };
        self.audit.or(found).unwrap_or(usual)
    }

    /// Returns the layout: as chosen, as in the folder with these parameters, or as planned. A
    /// folder with the cells that were chosen keeps the order of their bits.
    pub(super) fn laid_out(&self, values: Values, found: Option<&[(String, String)]>) -> Layout {
        let begun = found.and_then(Game::from_parameters).filter(|game| game.board == self.board);
        let chosen = match (&self.cut, &begun) {
            (Cut::Exactly(layout), _) => Layout::clone(layout),
            (Cut::Bits(bits), _) => Layout::suggested(&self.board, *bits),
            (Cut::Planned, None) => choose_layout_for(&self.board, values, self.resources.memory_bytes),
            (Cut::Planned, Some(begun)) => begun.layout.clone(),
        };
        begun.map(|game| game.layout).filter(|layout| layout.has_cells_of(&chosen)).unwrap_or(chosen)
    }

    /// Refuses choices that make no sense with these values, this audit, and each other.
    pub(super) fn check(&self, values: Values, audit: Audit) -> Result<(), JobError> {
        super::check_cells(&self.board)?;
        let refuse = |choice, other, reason| Err(Contradiction { choice, other, reason }.into());
        if let Some(placement @ Placement::Dedicated) = self.placement.filter(|_| audit.is_some()) {
            let other = Choice::new("log-placement", plan::placement_name(placement));
            let reason = "an audit compares streams as their blocks finished them, not those oriented for one target";
            return refuse(Choice::new("audit", audit), other, reason);
        }
        let of_values = || Choice::new("values", values);
        if values == Values::Nimbers && self.rule != Rule::Normal {
            let reason = "a nimber is the value of a position in normal play";
            return refuse(of_values(), Choice::new("rule", self.rule), reason);
        }
        if values.is_outcomes() {
            return Ok(());
        }
        match self.keep {
            Some(keep) if keep != KeepChoice::Exactly(Keep::Database) => {
                refuse(of_values(), Choice::new("keep", keep), "counts and books are of wins and losses")
            }
            _ => Ok(()),
        }
    }
}

/// A solve of this game, in its layout.
impl From<&Game> for Solve {
    fn from(game: &Game) -> Solve {
        Solve::new(&game.board, game.rule).layout(game.layout.clone())
    }
}

impl From<Keep> for Option<KeepChoice> {
    fn from(keep: Keep) -> Option<KeepChoice> {
        Some(KeepChoice::Exactly(keep))
    }
}

impl fmt::Display for KeepChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeepChoice::Exactly(keep) => keep.fmt(f),
            KeepChoice::Book => f.write_str("book"),
        }
    }
}
