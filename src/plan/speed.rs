//! How fast this machine is at the moment, next to the one that the [rates](super::rates) are of.

use super::{Plan, Scenario};
use parking_lot::Mutex;
use pipeline::{Stopwatch, parallel};
use std::sync::OnceLock;
use trinim_game::Board;
use trinim_kernel::{ApplyPlan, Kernel, PermutePlan, SettlePlan, bitmap_words};

/// Index bits of the bitmaps: 8 MiB; a thread has two of them.
const BITS: u32 = 26;

/// The layers whose first cells they are.
const LAYERS: u32 = 7;

/// Rounds of a thread, whose median counts: the first one also touches the memory, and a machine
/// that others use as well is faster and slower by turns.
const ROUNDS: usize = 13;

/// Seconds of a round on each of two threads at the speed of the rates: the unit that these are
/// measured in.
const RECORDED_SECONDS: f64 = 0.0143;

/// The speed of the recorded rates.
pub const RECORDED: f64 = 1.0;

impl Plan {
    /// Returns the plan of the same scenario at the speed that is measured with as many threads as
    /// there are workers.
    pub fn timed(self, scenario: Scenario<'_>, measure: impl FnOnce(usize) -> f64) -> Plan {
        self.with(Scenario { speed: measure(self.memory.workers), ..scenario })
    }
}

/// Returns the speed of each of this many threads that work at the same time. It is measured once a
/// process, for the first number, and takes about a quarter of a second.
pub fn of_this_machine(threads: usize) -> f64 {
    static MEASURED: OnceLock<f64> = OnceLock::new();
    *MEASURED.get_or_init(|| {
        let rounds = seconds_of_rounds(threads.max(1));
        RECORDED_SECONDS / rounds[(rounds.len() - 1) / 2]
    })
}

/// Returns the seconds of all rounds of all threads, the shortest first.
fn seconds_of_rounds(threads: usize) -> Vec<f64> {
    let work = Work::new();
    let all = Mutex::new(Vec::new());
    let measure = |(): &mut (), _| {
        let rounds = work.rounds();
        all.lock().extend(rounds);
        Ok::<(), ()>(())
    };
    // It cannot fail: nothing in it does.
    let _ = parallel::for_each(threads, threads, || Ok(()), measure);
    let mut all = all.into_inner();
    all.sort_by(f64::total_cmp);
    all
}

/// What a solve does to a block for the most part, in about the same shares: it applies streams,
/// orients some of them, and settles the block.
struct Work {
    kernel: Kernel,
    apply: ApplyPlan,
    rotation: PermutePlan,
    settle: SettlePlan,
}

impl Work {
    fn new() -> Work {
        let board = Board::triangle(LAYERS, None).expect("a triangle of seven layers is a board");
        let moves = board.moves();
        let inner: Vec<u64> = moves.iter().copied().filter(|mask| mask >> BITS == 0).collect();
        let outer = moves.iter().copied().filter(|mask| mask >> BITS == 1);
        let operations: Vec<u64> = outer.map(|mask| mask & ((1 << BITS) - 1)).collect();
        let rotation: Vec<u8> = (0..BITS as u8).map(|bit| (bit + 9) % BITS as u8).collect();
        Work {
            kernel: Kernel::detect(),
            apply: ApplyPlan::new(BITS, &operations),
            rotation: PermutePlan::new(&rotation),
            settle: SettlePlan::new(BITS, &inner),
        }
    }

    fn rounds(&self) -> [f64; ROUNDS] {
        let mut bitmaps = [vec![0_u64; bitmap_words(BITS)], vec![0; bitmap_words(BITS)]];
        let [block, stream] = &mut bitmaps;
        // Losses of about the density of real ones; which they are does not change the time.
        for (index, word) in stream.iter_mut().enumerate() {
            *word = 1 << (index % 61);
        }
        let mut rounds = [0.0; ROUNDS];
        for round in &mut rounds {
            let watch = Stopwatch::start();
            for _ in 0..2 {
                self.kernel.apply(&self.apply, stream, block);
            }
            self.kernel.permute(&self.rotation, stream, block);
            self.kernel.settle(&self.settle, block);
            *round = watch.elapsed().as_secs_f64();
        }
        rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::scenario;
    use std::time::Duration;

    #[test]
    fn the_speed_changes_the_time_and_not_the_disk() {
        let board = Board::triangle(8, None).unwrap();
        // Logs that wait for the commit are most of the peak.
        let commit_interval = Duration::from_millis(100);
        let scenario = Scenario { commit_interval, ..scenario(&board) };
        let [slow, fast] = [0.5, 2.0].map(|speed| Plan::suggested(Scenario { speed, ..scenario }, None));
        for (slow, fast) in slow.placements.iter().zip(&fast.placements) {
            assert_eq!(slow.disk_peak_bytes, fast.disk_peak_bytes);
            assert!(slow.seconds > 2.0 * fast.seconds);
        }
        assert_eq!(slow.database_bytes, fast.database_bytes);
    }

    /// 999 workers for one block took longer to start than thirty to work, and the speed of 16
    /// threads was measured for a plan of one worker.
    #[test]
    fn workers_have_blocks_and_are_those_whose_speed_is_measured() {
        for layers in 1..=8 {
            let board = Board::triangle(layers, None).unwrap();
            for memory_bytes in [64 << 20, 64 << 30] {
                let scenario = Scenario { threads: 999, memory_bytes, ..scenario(&board) };
                let plan = Plan::suggested(scenario, None);
                let workers = plan.memory.workers;
                assert!(workers as u64 <= plan.shape.canonical_blocks, "{layers}: {workers}");
                let same = plan.clone().timed(scenario, |threads| {
                    assert_eq!(threads, workers, "{layers}");
                    2.0
                });
                assert_eq!((same.speed, same.memory), (2.0, plan.memory), "{layers}");
            }
        }
    }

    #[test]
    fn a_round_takes_time_and_is_measured_once() {
        let rounds = seconds_of_rounds(2);
        assert_eq!(rounds.len(), 2 * ROUNDS);
        assert!(rounds[0] > 1e-5 && rounds.is_sorted() && rounds.iter().all(|seconds| seconds.is_finite()));
        assert_eq!(of_this_machine(2), of_this_machine(2));
    }
}
