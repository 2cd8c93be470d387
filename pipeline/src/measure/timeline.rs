//! Timeline of a run: what each thread spent its time on, and when, in bounded memory.
//!
//! Sums over threads give the cost of a run but not its bottleneck: a thread that waits at the
//! start and one that waits at the end have the same sums.
//!
//! Each thread that names itself (`Metrics::lane`) has a lane; all others share one. A lane is
//! divided into at most [`BINS`] bins of equal width, [`BIN_NS_LEAST`] times a power of two; a bin
//! holds the nanoseconds of each stage. When a run outgrows its bins, neighbours are merged and the
//! width doubles.
//!
//! # Invariants
//! 1. The sum over the bins of a lane is exactly the time recorded in it, stage by stage; the sum
//!    over the lanes equals `Metrics::stage`.
//! 2. A stage of a bin is at most as long as the bin, except in the lane of the unnamed threads,
//!    which can overlap.
//!
//! # Cost
//! Off: a branch. On: an uncontended lock and an addition per timed interval, and [`BINS`] · 104
//! bytes per lane.

use crate::measure::stage::Stage;
use crate::sync::Mutex;
use std::cell::RefCell;
use std::sync::Arc;

/// The most bins of a lane.
pub const BINS: usize = 1024;
/// Width of the bins at the start of a run, in nanoseconds.
pub const BIN_NS_LEAST: u64 = 1 << 14;
/// Number of stages.
pub const STAGES: usize = Stage::ALL.len();

/// Name of the lane of the unnamed threads.
const OTHERS: &str = "others";

/// Nanoseconds by stage, in the order of [`Stage::ALL`].
pub type ByStage = [u64; STAGES];

thread_local! {
    static LANE: RefCell<Option<Arc<Lane>>> = const { RefCell::new(None) };
}

/// All lanes of a run.
#[derive(Default)]
pub struct Timeline {
    lanes: Mutex<Vec<Arc<Lane>>>,
}

struct Lane {
    name: String,
    bins: Mutex<Bins>,
}

struct Bins {
    width_ns: u64,
    nanos: Vec<ByStage>,
}

/// The record of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneRecord {
    /// Name of the thread.
    pub name: String,
    /// Width of a bin, in nanoseconds.
    pub bin_ns: u64,
    /// Bins from the start of the timeline to the last one with any time in it.
    pub bins: Vec<ByStage>,
}

impl LaneRecord {
    /// Returns the time by stage.
    pub fn totals(&self) -> ByStage {
        totals(&self.bins)
    }
}

/// Adds up bins, stage by stage.
fn totals(bins: &[ByStage]) -> ByStage {
    bins.iter().fold([0; STAGES], |mut totals, bin| {
        totals.iter_mut().zip(bin).for_each(|(total, nanos)| *total += nanos);
        totals
    })
}

/// Guard: while it lives, the thread's time goes to its lane.
pub struct LaneGuard {
    before: Option<Arc<Lane>>,
    entered: bool,
}

impl Drop for LaneGuard {
    fn drop(&mut self) {
        if self.entered {
            LANE.set(self.before.take());
        }
    }
}

impl Timeline {
    /// Moves the calling thread to the lane `name`; does nothing without a timeline.
    pub(crate) fn enter(timeline: Option<&Timeline>, name: impl FnOnce() -> String) -> LaneGuard {
        match timeline {
            None => LaneGuard { before: None, entered: false },
            Some(timeline) => {
                let lane = timeline.lane(&name());
                LaneGuard { before: LANE.replace(Some(lane)), entered: true }
            }
        }
    }

    fn lane(&self, name: &str) -> Arc<Lane> {
        let mut lanes = self.lanes.lock();
        if let Some(lane) = lanes.iter().find(|lane| lane.name == name) {
            return lane.clone();
        }
        let bins = Bins { width_ns: BIN_NS_LEAST, nanos: Vec::new() };
        let lane = Arc::new(Lane { name: name.to_owned(), bins: Mutex::new(bins) });
        lanes.push(lane.clone());
        lane
    }

    /// Records an interval of the calling thread, in nanoseconds since the start of the timeline.
    pub(crate) fn add(&self, stage: Stage, start_ns: u64, length_ns: u64) {
        LANE.with_borrow(|lane| match lane {
            Some(lane) => lane.bins.lock().add(stage, start_ns, length_ns),
            None => self.lane(OTHERS).bins.lock().add(stage, start_ns, length_ns),
        });
    }

    /// Returns everything recorded so far, in the order in which the threads began.
    pub fn recorded(&self) -> Vec<LaneRecord> {
        let recorded = |lane: &Arc<Lane>| {
            let bins = lane.bins.lock();
            LaneRecord { name: lane.name.clone(), bin_ns: bins.width_ns, bins: bins.nanos.clone() }
        };
        self.lanes.lock().iter().map(recorded).collect()
    }
}

impl Bins {
    fn add(&mut self, stage: Stage, start_ns: u64, length_ns: u64) {
        let end_ns = start_ns.saturating_add(length_ns);
        while end_ns > self.width_ns.saturating_mul(BINS as u64) {
            self.double();
        }
        let mut at = start_ns;
        while at < end_ns {
            let bin = (at / self.width_ns) as usize;
            let bin_end = (bin as u64 + 1) * self.width_ns;
            if self.nanos.len() <= bin {
                self.nanos.resize(bin + 1, [0; STAGES]);
            }
            let until = end_ns.min(bin_end);
            self.nanos[bin][stage as usize] += until - at;
            at = until;
        }
    }

    fn double(&mut self) {
        let merged = merged(&self.nanos, 2);
        debug_assert_eq!(totals(&merged), totals(&self.nanos), "timeline, invariant 1: the time in merged bins");
        self.nanos = merged;
        self.width_ns *= 2;
    }
}

/// Merges each `neighbours` consecutive bins into one.
fn merged(bins: &[ByStage], neighbours: usize) -> Vec<ByStage> {
    bins.chunks(neighbours.max(1)).map(totals).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_long_the_run_the_bins_are_bounded_and_nothing_is_lost() {
        let timeline = Timeline::default();
        let _lane = Timeline::enter(Some(&timeline), || "worker 1".into());
        let (mut at, mut expected) = (0, [0; STAGES]);
        for step in 0..20_000u64 {
            let (gap, length) = (step % 7 * 1000, step * step % 90_001);
            let stage = Stage::ALL[step as usize % STAGES];
            timeline.add(stage, at + gap, length);
            expected[stage as usize] += length;
            at += gap + length;
        }
        let recorded = timeline.recorded();
        assert_eq!(recorded.len(), 1);
        assert_eq!((recorded[0].name.as_str(), recorded[0].totals()), ("worker 1", expected));
        let (bins, width) = (&recorded[0].bins, recorded[0].bin_ns);
        assert!(bins.len() <= BINS && bins.len() > BINS / 2, "{}", bins.len());
        assert!(width.is_power_of_two() && bins.len() as u64 == at.div_ceil(width));
        assert!(bins.iter().all(|bin| bin.iter().sum::<u64>() <= width));
    }

    #[test]
    fn a_stretch_goes_to_the_bins_that_it_covers() {
        let timeline = Timeline::default();
        {
            let _outer = Timeline::enter(Some(&timeline), || "committer".into());
            let inner = Timeline::enter(Some(&timeline), || "writer".into());
            timeline.add(Stage::Write, BIN_NS_LEAST - 5, BIN_NS_LEAST + 8);
            drop(inner);
            timeline.add(Stage::Commit, 3, 4);
        }
        timeline.add(Stage::Idle, 0, 1);
        let find = |name: &str| timeline.recorded().into_iter().find(|lane| lane.name == name).unwrap();
        let written: Vec<u64> = find("writer").bins.iter().map(|bin| bin[Stage::Write as usize]).collect();
        assert_eq!(written, [5, BIN_NS_LEAST, 3]);
        assert_eq!(find("committer").bins[0][Stage::Commit as usize], 4);
        assert_eq!(find(OTHERS).totals()[Stage::Idle as usize], 1);
        let nothing = Timeline::enter(None, || unreachable!("no timeline, no name"));
        drop(nothing);
    }
}
