//! What a job needs, the disk that it may take, and what would fit it instead.

use super::{Choice, Job};
use crate::database::{Keep, Terms};
use crate::plan::speed;
use crate::plan::{DENSE_CODECS, Plan, PlanError, Scenario, TIMED_CELLS, placement_name};
use pipeline::checkpoint::{LOGS, PUBLISHED};
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

/// Returns the bytes free where `folder` is or will be; `u64::MAX` if the system does not say.
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
    /// Plans the job, with the codec that fits the disk.
    ///
    /// # Errors
    /// [`PlanError::Blocks`] if the layout has too many blocks, [`PlanError::Memory`] if the memory
    /// budget is too small.
    pub fn plan(&self) -> Result<JobPlan, PlanError> {
        let layout = &self.game.layout;
        let free_bytes = free_bytes(&self.folder).saturating_add(used_bytes(&self.folder));
        let limit_bytes = self.solve.max_disk_bytes.unwrap_or(u64::MAX);
        let plan = Plan::for_layout(self.scenario(), layout)?;
        let (plan, scenario) = match self.is_timed() {
            true => plan.timed(self.scenario(), speed::of_this_machine),
            false => (plan, self.scenario()),
        };
        let plan = plan.within(scenario, free_bytes.min(limit_bytes));
        plan.check(u64::MAX)?;
        let planned = JobPlan { plan, free_bytes, limit_bytes };
        assert!(planned.workers() > 0, "plan, invariant 2: accepted without a worker");
        Ok(planned)
    }

    /// Whether the solve takes so long that the speed of this machine is measured for its plan.
    fn is_timed(&self) -> bool {
        self.game.board.cells() >= TIMED_CELLS
    }

    /// Returns what is planned, at the speed of the plan.
    fn scenario_at_speed_of(&self, planned: &JobPlan) -> Scenario<'_> {
        let workers = planned.plan.memory.workers;
        let speed = if self.is_timed() { speed::of_this_machine(workers) } else { speed::RECORDED };
        Scenario { speed, ..self.scenario() }
    }

    /// Returns the choices that take no more disk than the job may: those that change least,
    /// without and with a change of what is kept.
    pub fn alternatives(&self, planned: &JobPlan) -> Vec<Alternative> {
        let least = |found: Vec<Alternative>| {
            let least = found.iter().map(|found| found.choices.len()).min();
            found.into_iter().filter(move |found| Some(found.choices.len()) == least).take(3)
        };
        let keeps = self.other_keeps();
        let same = least(self.fitting(planned, self.terms.keep));
        same.chain(keeps.flat_map(|keep| least(self.fitting(planned, keep)).take(1))).collect()
    }

    /// What may be kept instead: a folder that was begun stays as it is.
    fn other_keeps(&self) -> impl Iterator<Item = Keep> {
        let (is_begun, terms) = (self.begun.is_some(), self.terms);
        let is_possible = move |keep| !is_begun && keep != terms.keep && Terms { keep, ..terms }.are_possible();
        Keep::choices(&self.game.board).into_iter().filter(move |keep| is_possible(*keep))
    }

    /// Returns the placements and codecs with which keeping this fits.
    fn fitting(&self, planned: &JobPlan, keep: Keep) -> Vec<Alternative> {
        let (scenario, room_bytes) = (Scenario { keep, ..self.scenario_at_speed_of(planned) }, planned.room_bytes());
        let other = match scenario.placement {
            Placement::Shared => Placement::Dedicated,
            Placement::Dedicated => Placement::Shared,
        };
        // What auto stands for depends on the room.
        let codecs = DENSE_CODECS.into_iter().filter(|codec| scenario.codec != "auto" && *codec != scenario.codec);
        let mut found = Vec::new();
        for codec in [scenario.codec].into_iter().chain(codecs) {
            for placement in [scenario.placement, other] {
                let bytes = planned.plan.peak_within(Scenario { placement, codec, ..scenario }, room_bytes);
                let choices = [
                    (keep != self.terms.keep).then(|| Choice::new("keep", keep)),
                    (placement != scenario.placement).then(|| Choice::new("log-placement", placement_name(placement))),
                    (codec != scenario.codec).then(|| Choice::new("codec", codec)),
                ];
                let choices = choices.into_iter().flatten().collect();
                found.extend((bytes <= room_bytes).then_some(Alternative { choices, bytes }));
            }
        }
        found
    }
}
