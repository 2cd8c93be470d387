//! The needs of a job, the disk that it may use, and the choices with which it would fit.

use super::{Choice, Job};
use crate::database::{Keep, Terms};
use crate::plan::speed;
use crate::plan::{Plan, PlanError, Scenario, TIMED_CELLS, placement_name};
use pipeline::checkpoint::{LOGS, PUBLISHED};
use pipeline::codec::{Codec, Rows};
use pipeline::{Placement, RealStorage, Storage};
use std::path::Path;

/// The plan of a job.
#[non_exhaustive]
pub struct JobPlan {
    /// Its needs.
    pub plan: Plan,
    /// Bytes that are free or already taken by the folder.
    pub free_bytes: u64,
    /// The most bytes that the folder may take.
    pub limit_bytes: u64,
}

/// Other choices with which a job takes less disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The choices that change.
    pub choices: Vec<Choice>,
    /// Bytes on disk at the peak.
    pub bytes: u64,
}

/// Returns the free bytes at the place of `folder`; `u64::MAX` if the system does not report them.
pub fn free_bytes(folder: &Path) -> u64 {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let there = folder.ancestors().find_map(|folder| RealStorage::open(folder).ok());
    there.and_then(|storage| storage.free_bytes().ok()).unwrap_or(u64::MAX)
}

/// Returns the bytes that logs and database of earlier sessions already take.
fn used_bytes(folder: &Path) -> u64 {
    let Ok(storage) = RealStorage::open(folder) else { return 0 };
    let files = [LOGS, PUBLISHED].into_iter().filter_map(|name| storage.list(name).ok()).flatten();
    files.map(|entry| entry.length).sum()
}

impl JobPlan {
    /// Returns the workers that fit the memory.
    pub fn workers(&self) -> usize {
        self.plan.memory.workers
    }

    /// Returns the bytes on disk at the peak.
    pub fn needed_bytes(&self) -> u64 {
        self.plan.chosen().disk_peak_bytes
    }

    /// Returns the bytes that the folder may take.
    pub fn room_bytes(&self) -> u64 {
        self.free_bytes.min(self.limit_bytes)
    }

    /// Refuses a job that needs more disk than it may take.
    ///
    /// # Errors
    /// [`PlanError::Disk`].
    pub fn check(&self) -> Result<(), PlanError> {
        let (needed_bytes, free_bytes) = (self.needed_bytes(), self.room_bytes());
        if needed_bytes > free_bytes { Err(PlanError::Disk { needed_bytes, free_bytes }) } else { Ok(()) }
    }
}

impl Job {
    /// Plans the job.
    ///
    /// # Errors
    /// [`PlanError::Blocks`] if the layout has too many blocks, [`PlanError::Memory`] if the memory
    /// budget is too small.
    pub fn plan(&self) -> Result<JobPlan, PlanError> {
        let layout = &self.game.layout;
        let free_bytes = free_bytes(&self.folder).saturating_add(used_bytes(&self.folder));
        let plan = Plan::for_layout(self.scenario(), layout)?;
        let plan = if self.is_timed() { plan.timed(self.scenario(), speed::of_this_machine) } else { plan };
        plan.check(u64::MAX)?;
        let planned = JobPlan { plan, free_bytes, limit_bytes: self.solve.resources.disk_bytes };
        assert!(planned.workers() > 0, "plan, invariant 2: accepted without a worker");
        Ok(planned)
    }

    /// Whether the solve takes so long that the speed of this machine is measured for its plan.
    fn is_timed(&self) -> bool {
        self.game.board.cells() >= TIMED_CELLS
    }

    /// Returns the choices that fit the disk limit of the job: those that change least, with what
    /// is kept unchanged or changed.
    pub fn alternatives(&self, planned: &JobPlan) -> Vec<Alternative> {
        let least = |found: Vec<Alternative>| {
            let least = found.iter().map(|found| found.choices.len()).min();
            found.into_iter().filter(move |found| Some(found.choices.len()) == least).take(3)
        };
        let keeps = self.other_keeps();
        let same = least(self.fitting(planned, self.terms.keep));
        same.chain(keeps.flat_map(|keep| least(self.fitting(planned, keep)).take(1))).collect()
    }

    /// Returns what could be kept instead; a started folder keeps its choice.
    fn other_keeps(&self) -> impl Iterator<Item = Keep> {
        let (is_begun, terms) = (self.begun.is_some(), self.terms);
        let is_possible = move |keep| !is_begun && keep != terms.keep && Terms { keep, ..terms }.are_possible();
        Keep::choices(&self.game.board).into_iter().filter(move |keep| is_possible(*keep))
    }

    /// Returns the placements and codecs with which keeping this fits.
    fn fitting(&self, planned: &JobPlan, keep: Keep) -> Vec<Alternative> {
        let (scenario, room_bytes) = (Scenario { keep, ..self.scenario() }, planned.room_bytes());
        let other = match scenario.placement {
            Placement::Shared => Placement::Dedicated,
            Placement::Dedicated => Placement::Shared,
        };
        let dense: Option<&dyn Codec> = Some(&Rows::HUFFMAN);
        let dense = dense.filter(|dense| dense.tag() != scenario.codec.tag());
        let mut found = Vec::new();
        for codec in [scenario.codec].into_iter().chain(dense) {
            // An audit needs shared logs.
            for placement in [Some(scenario.placement), (!scenario.audit.is_some()).then_some(other)] {
                let Some(placement) = placement else { continue };
                let bytes = planned.plan.peak_bytes(Scenario { placement, codec, ..scenario });
                let choices = [
                    (keep != self.terms.keep).then(|| Choice::new("keep", keep)),
                    (placement != scenario.placement).then(|| Choice::new("log-placement", placement_name(placement))),
                    (codec.tag() != scenario.codec.tag()).then(|| Choice::new("codec", codec.name())),
                ];
                let choices = choices.into_iter().flatten().collect();
                let fitting = bytes.filter(|bytes| *bytes <= room_bytes);
                found.extend(fitting.map(|bytes| Alternative { choices, bytes }));
            }
        }
        found
    }
}
