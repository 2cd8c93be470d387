//! Histories of failures, each taken to its end. `README.md` of the package describes states and
//! the requirements at their end.
//!
//! A *state* is a subject, a disk as a new process finds it (names, contents, and which of the
//! visible bytes are not durable yet), and the set of blocks acknowledged before. No file on that
//! disk may promise one that does not exist. Two states with equal hashes count as one and are
//! explored once.
//!
//! States come from *roots*: a subject, options, an interleaving, and a kind of failure.
//! - *Stop*: one session is watched; before each call that changes something, and within each
//!   write, the process can be killed or the power cut, under several seeds.
//! - *Errors, lies, silent corruption*: the session is repeated with the fault at the next place of
//!   a random stride; then the process ends or the power is cut.
//!
//! One session in four finds files of other programs in the folders, and must leave them there.
//!
//! Random moments of the session that explores a state give further states: failures of the
//! recovery, up to [`DEPTH`].
//!
//! # Invariants
//! 1. The exploration of a state depends only on its root's number and the state, so the number
//!    repeats a wrong history.

use crate::judge::{FOREIGN, Trust, Verdict, Wrong, bits_of, is_foreign, judge, promises};
use crate::session::{Ending, committed, run_counting};
use crate::subject::Subject;
use pipeline::{Options, Placement, Storage, Thresholds};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testing::{Fault, Moment, Random, SimulatedStorage};

/// Limit on failures in a row.
pub const DEPTH: u32 = 4;

/// The failure that begins a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The process ends, or the power is cut.
    Stop,
    /// A call fails, or all later ones as well, or the disk is full, or a sync fails and marks
    /// pages clean.
    Error,
    /// A sync lies, then the power is cut.
    Lie,
    /// Bytes change, vanish or go astray silently.
    Silent,
}

impl Failure {
    /// All kinds.
    pub const ALL: [Failure; 4] = [Failure::Stop, Failure::Error, Failure::Lie, Failure::Silent];

    fn trust(self) -> Trust {
        match self {
            Failure::Stop | Failure::Error => Trust::Honest,
            Failure::Lie => Trust::Lied,
            Failure::Silent => Trust::Corrupted,
        }
    }
}

/// The extent of an exploration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Distinct states, each explored to the end.
    pub states: u64,
    /// The same by the failure that began the history, in the order of [`Failure::ALL`].
    pub by_failure: [u64; 4],
    /// States after a failure of a recovery.
    pub repeated: u64,
    /// States that were already explored.
    pub duplicates: u64,
    /// Sessions of the engine, including failed ones.
    pub sessions: u64,
    /// States of lying or corrupting disks that were refused.
    pub refused: u64,
    /// States of lying disks that lost work.
    pub lost: u64,
    /// States of corrupting disks whose result contradicts its checksums.
    pub detectable: u64,
    /// Sessions with two or more workers.
    pub parallel: u64,
    /// Sessions with small thresholds.
    pub small: u64,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.states += other.states;
        for (sum, more) in self.by_failure.iter_mut().zip(other.by_failure) {
            *sum += more;
        }
        self.repeated += other.repeated;
        self.duplicates += other.duplicates;
        self.sessions += other.sessions;
        self.refused += other.refused;
        self.lost += other.lost;
        self.detectable += other.detectable;
        self.parallel += other.parallel;
        self.small += other.small;
    }
}

/// A state; see the module page.
struct State {
    disk: SimulatedStorage,
    acknowledged: u64,
    depth: u32,
    story: String,
}

/// A history that ended wrong.
#[derive(Debug)]
pub struct Found {
    /// The root it came from.
    pub root: u64,
    /// States of this root that were explored before.
    pub states: u64,
    /// The history, in words.
    pub story: String,
    /// The mistake.
    pub wrong: Wrong,
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "root {}: {}: {:?}", self.root, self.story, self.wrong)
    }
}

/// Explores the histories of some subjects.
pub struct Explorer<'a> {
    subjects: &'a [Subject],
    failures: &'a [Failure],
    seen: Mutex<HashSet<u64>>,
}

/// A part of the exploration, done by one thread.
struct Root<'a> {
    explorer: &'a Explorer<'a>,
    subject: &'a Subject,
    failure: Failure,
    number: u64,
    random: Random,
    tally: Tally,
}

impl<'a> Explorer<'a> {
    /// Starts an exploration without any states.
    pub fn new(subjects: &'a [Subject], failures: &'a [Failure]) -> Explorer<'a> {
        Explorer { subjects, failures, seen: Mutex::default() }
    }

    /// Explores roots from number `first` on, on `threads` threads, until at least `states` states
    /// are explored or `limit` runs out. Calls `progress` after each root.
    ///
    /// # Errors
    /// [`Found`] for the first history that ends wrong.
    pub fn explore(
        &self,
        first: u64,
        states: u64,
        limit: Duration,
        threads: usize,
        progress: &(dyn Fn(&Tally) + Sync),
    ) -> Result<Tally, Box<Found>> {
        let next = AtomicU64::new(first);
        let (start, over) = (Instant::now(), AtomicBool::new(false));
        let sum = Mutex::new(Tally::default());
        let found: Mutex<Option<Box<Found>>> = Mutex::new(None);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        match self.root(next.fetch_add(1, Ordering::Relaxed)) {
                            Ok(tally) => {
                                let mut sum = sum.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                                sum.add(&tally);
                                progress(&sum);
                                over.fetch_or(sum.states >= states || start.elapsed() > limit, Ordering::Relaxed);
                            }
                            Err(wrong) => {
                                over.store(true, Ordering::Relaxed);
                                found.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(wrong);
                            }
                        }
                    }
                });
            }
        });
        match found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            Some(found) => Err(found),
            None => Ok(sum.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())),
        }
    }

    /// Explores all states that come from one root.
    ///
    /// # Errors
    /// [`Found`] for the first history that ends wrong.
    pub fn root(&self, number: u64) -> Result<Tally, Box<Found>> {
        let mut random = Random::new(number.wrapping_mul(0x2545_f491_4f6c_dd1d));
        random.bits();
        let failure = *random.one_of(self.failures);
        let subject = random.one_of(self.subjects);
        let mut root = Root { explorer: self, subject, failure, number, random, tally: Tally::default() };
        match failure {
            Failure::Stop => root.stops()?,
            Failure::Error => root.faults(&[Fault::FailOnce, Fault::FailForever, Fault::Full, Fault::LoseSync])?,
            Failure::Lie => root.faults(&[Fault::LieSync])?,
            Failure::Silent => root.faults(&Fault::SILENT)?,
        }
        Ok(root.tally)
    }
}

/// Disks that a witness keeps of a session, each with the number of blocks acknowledged so far.
type Kept = Arc<Mutex<Vec<(SimulatedStorage, u32, String)>>>;

impl<'a> Root<'a> {
    fn options(&mut self) -> (Options, String) {
        let threads = *self.random.one_of(&[1, 1, 2, 4]);
        let placement = *self.random.one_of(&[Placement::Dedicated, Placement::Shared]);
        let codec = *self.random.one_of(&[
            "raw",
            "raw",
            "raw",
            "rows-bytes",
            "rows-bytes",
            "rows-bytes",
            "rows-huffman",
            "rows-huffman",
            "zstd1",
        ]);
        self.tally.parallel += u64::from(threads > 1);
        let thresholds = self.thresholds();
        let least = self.subject.options(threads, placement, codec);
        // Streams are held only in addition to a queue of full size.
        let memory_bytes = if thresholds.held == 0 { least.memory_bytes } else { 128 << 20 };
        let options = Options { thresholds: Some(thresholds), memory_bytes, ..least };
        (options, format!("{placement:?} {codec} x{threads} {thresholds:?}"))
    }

    /// Draws thresholds: one time in four those of a large machine, otherwise such small ones that
    /// a run of a few blocks reaches all of them.
    fn thresholds(&mut self) -> Thresholds {
        if self.random.below(4) == 0 {
            return Thresholds::LARGEST;
        }
        self.tally.small += 1;
        let mut count = |least: u64| (least + self.random.below(4)) as usize;
        let (gathered, requested, waiting, kept) = (count(1), count(1), count(1), count(0));
        let gather_bytes = *self.random.one_of(&[1, 300, 4096, Thresholds::LARGEST.gather_bytes]);
        let write_bytes = *self.random.one_of(&[1, 100, 4096, Thresholds::LARGEST.write_bytes]);
        let held = *self.random.one_of(&[0, 0, 0, 1, 2, Thresholds::LARGEST.held]);
        Thresholds { gather_bytes, write_bytes, gathered, requested, waiting, kept, held }
    }

    fn found(&self, story: String, wrong: Wrong) -> Box<Found> {
        Box::new(Found {
            root: self.number,
            states: self.tally.states,
            story: format!("{}, {story}", self.subject.name),
            wrong,
        })
    }

    /// Lists the disks that the next process can find: the disk unchanged, and after power cuts
    /// under some seeds.
    fn images(&mut self, disk: &SimulatedStorage, cuts: u64) -> Vec<(SimulatedStorage, String)> {
        let mut images = vec![(disk.kill(), "killed".to_string())];
        for _ in 0..cuts {
            let seed =
                if self.random.below(3) == 0 { self.random.below(4) } else { 4 + self.random.bits() % (1 << 40) };
            images.push((disk.power_cut(seed), format!("power cut {seed}")));
        }
        images
    }

    /// Creates a witness that keeps every moment (`most` 0), or at most `most` of them, equally
    /// likely.
    fn witness(&mut self, most: usize, acknowledged: &Arc<AtomicU32>) -> (testing::Witness, Kept) {
        let kept = Kept::default();
        let (keep, acknowledged) = (Arc::clone(&kept), Arc::clone(acknowledged));
        let chance = Mutex::new((Random::new(self.random.bits()), 0_u64));
        let witness = move |moment: &Moment<'_>| {
            let mut chance = chance.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let mut kept = keep.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let (random, seen) = &mut *chance;
            *seen += 1;
            let place = match most {
                0 => kept.len(),
                most if kept.len() < most => kept.len(),
                most => match random.below(*seen) as usize {
                    place if place < most => place,
                    _ => return,
                },
            };
            let done = acknowledged.load(Ordering::Relaxed);
            let share = random.below(257).saturating_sub(1) as u8;
            let within = if most == 0 || random.below(3) == 0 { moment.kill_within(share) } else { None };
            let step = moment.step;
            if most == 0 {
                kept.push((moment.kill(), done, format!("stopped before call {step}")));
                kept.extend(within.map(|disk| (disk, done, format!("stopped within call {step}"))));
                return;
            }
            let entry = match within {
                Some(disk) => (disk, done, format!("stopped within call {step}")),
                None => (moment.kill(), done, format!("stopped before call {step}")),
            };
            if place == kept.len() {
                kept.push(entry);
            } else {
                kept[place] = entry;
            }
        };
        (Arc::new(witness), kept)
    }

    /// Explores every stop of one session.
    fn stops(&mut self) -> Result<(), Box<Found>> {
        let disk = SimulatedStorage::new(self.number);
        let (options, setup) = self.options();
        let seed = self.random.bits();
        let acknowledged = Arc::new(AtomicU32::new(0));
        let (witness, kept) = self.witness(0, &acknowledged);
        let watched = disk.clone().with_witness(witness);
        let session = run_counting(self.subject, &watched, options, seed, &acknowledged);
        self.tally.sessions += 1;
        let story = format!("{setup}, interleaving {seed}");
        judge(self.subject, &disk, session, 0, Trust::Honest).map_err(|wrong| self.found(story.clone(), wrong))?;
        let order = committed(&disk).map_err(|error| self.found(story.clone(), Wrong::Stuck(error)))?;
        let kept = std::mem::take(&mut *kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        for (disk, done, stop) in kept {
            let acknowledged = bits_of(&order[..done as usize]);
            for (disk, how) in self.images(&disk, 3) {
                let story = format!("{story}, {stop}, {how}");
                self.state(State { disk, acknowledged, depth: 1, story })?;
            }
        }
        Ok(())
    }

    /// Repeats one session with a fault at another place each time.
    fn faults(&mut self, faults: &[Fault]) -> Result<(), Box<Found>> {
        let fault = *self.random.one_of(faults);
        let start = self.random;
        let mut last = u64::MAX;
        let mut step = 1 + self.random.below(8);
        while step <= last {
            let skip = self.random.below(16);
            let after = self.random;
            // The same options and interleaving each time.
            self.random = start;
            let disk = SimulatedStorage::new(step ^ self.number << 8).with_fault(step, fault);
            let (options, setup) = self.options();
            let seed = self.random.bits();
            self.random = after;
            let lies = self.failure == Failure::Lie;
            let stop = step + 1 + self.random.below(300);
            let disk = if lies { disk.with_fault(stop, Fault::Stop) } else { disk };
            let acknowledged = Arc::new(AtomicU32::new(0));
            let session = run_counting(self.subject, &disk, options, seed, &acknowledged);
            self.tally.sessions += 1;
            let story = format!("{setup}, interleaving {seed}, {fault:?} at call {step}");
            self.check_struck(&session.ending, &story, fault, disk.steps() >= step)?;
            let order = committed(&disk.kill());
            let done = acknowledged.load(Ordering::Relaxed) as usize;
            let acknowledged = match (&order, self.failure.trust()) {
                (Ok(order), Trust::Honest) => bits_of(&order[..done]),
                (Err(_), Trust::Honest) => {
                    let error = order.expect_err("matched");
                    return Err(self.found(story, Wrong::Stuck(error)));
                }
                (Ok(order), _) => bits_of(&order[..done.min(order.len())]),
                (Err(_), _) => 0,
            };
            last = if disk.steps() < step { disk.steps() } else { last };
            for (disk, how) in self.images(&disk, 2) {
                let story = format!("{story}, {how}");
                self.state(State { disk, acknowledged, depth: 1, story })?;
            }
            step += 1 + skip;
        }
        Ok(())
    }

    /// Checks that a session with a fault ended in an error, or was not affected.
    fn check_struck(&self, ending: &Ending, story: &str, fault: Fault, struck: bool) -> Result<(), Box<Found>> {
        let must_fail = struck && matches!(fault, Fault::FailOnce | Fault::FailForever);
        let wrong = match ending {
            Ending::Hung(stuck) => Wrong::Hangs(*stuck),
            Ending::Panicked(text) => Wrong::Panic(text.clone()),
            Ending::Finished if must_fail => Wrong::Panic("a failed call was not reported".to_string()),
            _ => return Ok(()),
        };
        Err(self.found(story.to_string(), wrong))
    }

    /// Explores a state and the states from failures of its recovery.
    fn state(&mut self, state: State) -> Result<(), Box<Found>> {
        let mut pending = vec![state];
        while let Some(state) = pending.pop() {
            let hash = self.hash(&state);
            if !self.is_new(hash) {
                self.tally.duplicates += 1;
                continue;
            }
            // Each state restarts the random numbers, so states seen by other roots make no
            // difference.
            let before = std::mem::replace(&mut self.random, Random::new(hash ^ self.number));
            self.explore_one(state, &mut pending)?;
            self.random = before;
        }
        Ok(())
    }

    /// Explores one state, and adds the states from failures of its recovery to `pending`.
    fn explore_one(&mut self, state: State, pending: &mut Vec<State>) -> Result<(), Box<Found>> {
        self.tally.states += 1;
        self.tally.by_failure[self.failure as usize] += 1;
        self.tally.repeated += u64::from(state.depth > 1);
        self.tally.sessions += 1;
        let trust = self.failure.trust();
        if trust == Trust::Honest {
            promises(self.subject, &state.disk).map_err(|wrong| self.found(state.story.clone(), wrong))?;
        }
        let (options, setup) = self.options();
        let seed = self.random.bits();
        let acknowledged = Arc::new(AtomicU32::new(0));
        // Three recoveries in four fail again, in one place or two.
        let moments = if state.depth < DEPTH { [0, 1, 1, 2][self.random.below(4) as usize] } else { 0 };
        let disk = state.disk.kill();
        let foreign = self.litter(&disk);
        let kept = if moments > 0 {
            let (witness, kept) = self.witness(moments, &acknowledged);
            let watched = disk.clone().with_witness(witness);
            Some((watched, kept))
        } else {
            None
        };
        let session = run_counting(self.subject, &disk, options, seed, &acknowledged);
        let story = format!("{}, then {setup}, interleaving {seed}", state.story);
        let verdict = judge(self.subject, &disk, session, state.acknowledged, trust);
        let verdict = verdict.map_err(|wrong| self.found(story.clone(), wrong))?;
        if let Some(name) = foreign.into_iter().find(|name| disk.contents(name).is_none()) {
            return Err(self.found(story, Wrong::Removed(name)));
        }
        match verdict {
            Verdict::Right => {}
            Verdict::Refused => self.tally.refused += 1,
            Verdict::Lost => self.tally.lost += 1,
            Verdict::Detectable => self.tally.detectable += 1,
        }
        // A refused session has changed nothing, and what it would have acknowledged is unknown.
        let Some((_, kept)) = kept.filter(|_| verdict != Verdict::Refused) else { return Ok(()) };
        let Ok(order) = committed(&disk) else { return Ok(()) };
        let kept = std::mem::take(&mut *kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        for (disk, done, stop) in kept {
            let acknowledged = state.acknowledged | bits_of(&order[..done as usize]);
            let images = self.images(&disk, 1);
            let (disk, how) = images.into_iter().nth(self.random.below(2) as usize).expect("two images");
            let story = format!("{story}, {stop}, {how}");
            pending.push(State { disk, acknowledged, depth: state.depth + 1, story });
        }
        Ok(())
    }

    /// Puts files of other programs into the folders of a disk, one time in four; returns the names
    /// of all that are there.
    fn litter(&mut self, disk: &SimulatedStorage) -> Vec<String> {
        if self.random.below(4) == 0 {
            for folder in ["m", "logs", "db"] {
                if disk.list(folder).is_ok() {
                    let name = *self.random.one_of(&FOREIGN);
                    disk.put(&format!("{folder}/{name}"), b"foreign");
                }
            }
        }
        disk.names().into_iter().filter(|name| is_foreign(name)).collect()
    }

    fn hash(&self, state: &State) -> u64 {
        let digest = state.disk.digest();
        let of = [&digest.to_le_bytes()[..], &state.acknowledged.to_le_bytes(), self.subject.name.as_bytes()];
        xxhash_rust::xxh3::xxh3_64(&of.concat())
    }

    fn is_new(&self, hash: u64) -> bool {
        self.explorer.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(hash)
    }
}
