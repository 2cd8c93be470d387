//! The speed of this machine, relative to the machine of the [rates](super::rates), and its load.

use super::{Plan, Scenario};
use parking_lot::Mutex;
use pipeline::{Stopwatch, parallel, thread_time};
use std::sync::OnceLock;
use trinim_game::Board;
use trinim_kernel::{ApplyPlan, Kernel, PermutePlan, SettlePlan, bitmap_words};

/// Index bits of the bitmaps: 8 MiB; a thread has two of them.
const BITS: u32 = 26;

/// The layers of the board whose first cells these bits are.
const LAYERS: u32 = 7;

/// Rounds of a thread; the fastest counts, because other work on the memory only slows a round.
const ROUNDS: usize = 13;

/// Processor seconds of a round on each of two threads at the speed of the rates.
const RECORDED_SECONDS: f64 = 0.0143;

/// The speed of the recorded rates.
pub const RECORDED: f64 = 1.0;

/// The measured speed of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Its speed relative to the recorded rates, in processor time, so other work does not change
    /// it.
    pub processor: f64,
    /// The time that work takes now, relative to its processor time: 1 if no other work runs.
    pub load: f64,
}

impl Plan {
    /// Returns the plan of the same scenario at the speed that is measured with as many threads as
    /// there are workers.
    pub fn timed(self, scenario: Scenario<'_>, measure: impl FnOnce(usize) -> Speed) -> Plan {
        let Speed { processor, load } = measure(self.memory.workers);
        Plan { load, ..self.with(Scenario { speed: processor, ..scenario }) }
    }
}

/// Returns the speed of each of `threads` threads that work at the same time. It is measured once
/// per process, for the first number, in about a quarter of a second.
pub fn of_this_machine(threads: usize) -> Speed {
    static MEASURED: OnceLock<Speed> = OnceLock::new();
    *MEASURED.get_or_init(|| {
        let rounds = rounds(threads.max(1));
        let (all, busy) = rounds.iter().fold((0.0, 0.0), |(all, busy), round| (all + round[1], busy + round[0]));
        Speed { processor: RECORDED_SECONDS / rounds[0][0], load: (all / busy).max(1.0) }
    })
}

/// Returns the processor seconds of each round of each thread, the least first, and its seconds.
fn rounds(threads: usize) -> Vec<[f64; 2]> {
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
    all.sort_by(|[one, _], [other, _]| one.total_cmp(other));
    all
}

/// The main work of a solve on a block, in about the same shares: it applies streams, orients some
/// of them, and settles the block.
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

    fn rounds(&self) -> [[f64; 2]; ROUNDS] {
        let mut bitmaps = [vec![0_u64; bitmap_words(BITS)], vec![0; bitmap_words(BITS)]];
        let [block, stream] = &mut bitmaps;
        // Losses of about the density of real ones; which they are does not change the time.
        for (index, word) in stream.iter_mut().enumerate() {
            *word = 1 << (index % 61);
        }
        let mut rounds = [[0.0; 2]; ROUNDS];
        for round in &mut rounds {
            let (watch, before) = (Stopwatch::start(), thread_time());
            for _ in 0..2 {
                self.kernel.apply(&self.apply, stream, block);
            }
            self.kernel.permute(&self.rotation, stream, block);
            self.kernel.settle(&self.settle, block);
            *round = [thread_time() - before, watch.elapsed()].map(|time| time.as_secs_f64());
        }
        rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Resources;
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
                let resources = Resources { threads: 999, memory_bytes, ..Resources::default() };
                let scenario = Scenario { resources, ..scenario(&board) };
                let plan = Plan::suggested(scenario, None);
                let workers = plan.memory.workers;
                assert!(workers as u64 <= plan.shape.canonical_blocks, "{layers}: {workers}");
                let same = plan.clone().timed(scenario, |threads| {
                    assert_eq!(threads, workers, "{layers}");
                    Speed { processor: 2.0, load: 3.0 }
                });
                assert_eq!((same.speed, same.load, same.memory), (2.0, 3.0, plan.memory), "{layers}");
            }
        }
    }

    #[test]
    fn a_round_takes_time_and_is_measured_once() {
        let rounds = rounds(2);
        assert_eq!(rounds.len(), 2 * ROUNDS);
        assert!(rounds[0][0] > 1e-5 && rounds.is_sorted_by_key(|round| round[0]));
        // The clocks differ in resolution.
        assert!(rounds.iter().all(|[processor, all]| *processor < all + 1e-3), "{rounds:?}");
        assert_eq!(of_this_machine(2), of_this_machine(2));
        assert!(of_this_machine(2).load >= 1.0);
    }
}
