//! A solve in tasks through every stop. Processes are killed and the power is cut at every call in
//! the folder of the store, also while two processes race, and calls fail; then others continue.
//! Everything that was promised before still exists, and at the end the store has the bytes of a
//! solve. With one rule of the store's protocol left out, this fails.

mod process;

use crate::contract::keeps_its_promises;
use pipeline::{BlockId, Error as RunError};
use process::{Alive, Folder, IDLE, Last, Omit};
use scheduler::{Timing, scope};
use simulation::subject::{Files, Subject};
use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testing::{Fault, SimulatedStorage, Witness};
use trinim::database::{Game, Keep, MANIFEST, SUMS, SolveSpec, Terms, block_file_name};
use trinim::game::Rule;
use trinim::kernel::Kernel;
use trinim_task::{
    DATABASE, Error, SUMMARIES, Store, Sweeper, TaskOptions, committed, compute, copy, finish, init, open, sweep,
};

/// Calls after which no process is killed.
const FOR_EVER: u64 = u64::MAX;
/// Seeds of races.
const RACES: std::ops::Range<u64> = 0..3;

/// Everything that was reported to a caller, who can rely on it from then on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Promised {
    /// The store has its definition.
    begun: bool,
    /// Blocks are committed.
    blocks: BTreeSet<BlockId>,
    /// Every file exists.
    sealed: bool,
}

/// The work of a process, from any state of the store to its end.
type Run = dyn Fn(&dyn Store, &Mutex<Promised>) -> Result<(), Error>;

struct Work {
    name: String,
    game: Game,
    terms: Terms,
    run: Box<Run>,
    /// Whether it computes blocks; other works find them finished.
    solves: bool,
    /// The files of the store at the end.
    clean: Files,
}

/// The course of the first session.
#[derive(Clone, Copy, Debug)]
enum Start {
    /// One process, stopped at every call; the next one at one call in this many.
    Alone(u64),
    /// Two processes in an order that the seed decides, stopped at every call; one of them can be
    /// killed while the other continues.
    Race(u64),
    /// One process whose call of this number fails.
    Failing(u64, Fault),
}

/// A disk after a stop, with the promises until then.
struct Left {
    disk: SimulatedStorage,
    promised: Promised,
    /// Stops so far.
    stops: u64,
    /// Of the calls of the next process, one in this many is stopped again.
    again: u64,
    story: String,
}

fn files(disk: &SimulatedStorage) -> Files {
    let names = disk.names().into_iter().filter(|name| !name.starts_with("tmp/"));
    names.map(|name| (name.clone(), disk.contents(&name).unwrap())).collect()
}

/// Solves in a store that other processes left at any point.
fn solve(store: &dyn Store, spec: SolveSpec<'_>, sweeps_first: bool, promised: &Mutex<Promised>) -> Result<(), Error> {
    let options = TaskOptions {
        kernel: Kernel::detect(),
        threads: 1,
        memory_bytes: 1 << 20,
        at_once: 1,
        keeps_streams: false,
        wait: &|_| false,
    };
    let seal = || match finish(store, spec, Kernel::detect(), 1, |_| {}) {
        Ok(_) => {
            promised.lock().unwrap().sealed = true;
            Ok(true)
        }
        Err(Error::Unfinished { .. }) => Ok(false),
        Err(error) => Err(error),
    };
    init(store, spec)?;
    promised.lock().unwrap().begun = true;
    let sweeper = if sweeps_first { Some(Sweeper::new(store, spec, IDLE)?) } else { None };
    // Another process may consider it finished, possibly correctly.
    seal()?;
    for block in BlockId::all(spec.blocks()) {
        compute(store, spec, &[block], &options)?;
        promised.lock().unwrap().blocks.insert(block);
        match &sweeper {
            // The other one may be done without another process knowing it for sure yet.
            Some(sweeper) => sweeper.committed(&[block, BlockId((block.0 + 1).min(spec.blocks() - 1))])?,
            None if block.0 % 3 == 2 => drop(sweep(store, spec, IDLE)?),
            None => {}
        }
    }
    assert!(seal()?, "all blocks are committed");
    Ok(())
}

/// Returns a witness that adds the disks after stops in a session, at every call of the first
/// session, at some of the second.
fn stops_of(from: &Left, promised: &Arc<Mutex<Promised>>, left: &Arc<Mutex<Vec<Left>>>) -> Witness {
    let (promised, left) = (Arc::clone(promised), Arc::clone(left));
    let (stops, again, story) = (from.stops + 1, from.again, from.story.clone());
    let salt = from.disk.digest() as u64 % again;
    Arc::new(move |moment| {
        if stops > 1 && moment.step % again != salt {
            return;
        }
        let promised = promised.lock().unwrap().clone();
        let story = format!("{story}, stopped at call {}", moment.step);
        let torn = moment.kill_within(128);
        let torn = torn.map(|disk| (format!("{story} inside the write"), disk));
        let stopped = torn.into_iter().chain([(story, moment.kill())]);
        let images = stopped.flat_map(|(story, disk)| images(disk, (moment.step, stops, again), &promised, &story));
        left.lock().unwrap().extend(images);
    })
}

impl Work {
    /// A solve in tasks that keeps this.
    fn solve(layers: u32, rule: Rule, keep: Keep, sweeps_first: bool) -> Work {
        let offset_bits = layers * (layers - 1) / 2;
        let subject = match keep {
            Keep::Counts => Subject::counts(layers, rule, offset_bits),
            _ => Subject::game(layers, rule, offset_bits),
        };
        let (game, terms) = (Game::triangle(layers, rule, offset_bits).unwrap(), Terms::from(keep));
        let same = game.clone();
        let run = move |store: &dyn Store, promised: &Mutex<Promised>| {
            solve(store, terms.spec(&same), sweeps_first, promised)
        };
        let name = format!("{layers} layers, {rule}, {keep}");
        let work = Work { name, game, terms, run: Box::new(run), solves: true, clean: Files::new() };
        let work = work.with_clean();
        let database = work.clean.iter().filter(|(name, _)| name.starts_with("db/"));
        assert!(database.eq(&subject.golden), "{}: a clean solve in tasks", work.name);
        work
    }

    /// A copy of a finished store into another.
    fn copy(layers: u32, keep: Keep) -> Work {
        let Work { game, terms, run, .. } = Work::solve(layers, Rule::Misere, keep, false);
        let from = SimulatedStorage::new(1);
        run(&*Folder::store(&from, "w", (Omit::Nothing, true), &Alive::default(), FOR_EVER), &Mutex::default())
            .unwrap();
        let same = game.clone();
        let run = move |store: &dyn Store, promised: &Mutex<Promised>| {
            let from = Folder::store(&from, "r", (Omit::Nothing, true), &Alive::default(), FOR_EVER);
            copy(&*from, store, terms.spec(&same), None, 1, |_| {})?;
            promised.lock().unwrap().sealed = true;
            Ok(())
        };
        let (name, run) = (format!("a copy, {keep}"), Box::new(run));
        Work { name, game, terms, run, solves: false, clean: Files::new() }.with_clean()
    }

    /// One file that many processes create.
    fn creation() -> Work {
        let (game, terms) = (Game::triangle(3, Rule::Normal, 3).unwrap(), Terms::default());
        let run = |store: &dyn Store, promised: &Mutex<Promised>| {
            store.prepare()?;
            store.create("db/000000.blk", &[7; 700])?;
            promised.lock().unwrap().sealed = true;
            Ok(())
        };
        let name = "a creation".to_owned();
        Work { name, game, terms, run: Box::new(run), solves: false, clean: Files::new() }.with_clean()
    }

    fn with_clean(self) -> Work {
        let disk = SimulatedStorage::new(1);
        (self.run)(&*Folder::store(&disk, "w", (Omit::Nothing, true), &Alive::default(), FOR_EVER), &Mutex::default())
            .unwrap();
        Work { clean: files(&disk), ..self }
    }

    /// Returns whether everything that was promised is on the disk. Processes promise, and so do
    /// files: `SUMS` and the manifest promise the files of the database, and the file that commits
    /// a block promises the other file of it.
    fn keeps(&self, disk: &SimulatedStorage, promised: &Promised) -> Result<(), String> {
        let found = files(disk);
        let lists = [SUMS, MANIFEST].map(|name| format!("{DATABASE}/{name}"));
        for (number, list) in lists.iter().enumerate().filter(|(_, list)| found.contains_key(*list)) {
            let database = self.clean.iter().filter(|(name, _)| name.starts_with(DATABASE));
            let mut listed = database.filter(|(name, _)| !lists[..number].contains(name));
            if let Some((name, _)) = listed.find(|(name, bytes)| found.get(*name) != Some(*bytes)) {
                return Err(format!("{list} is there, and {name} is not"));
            }
        }
        let (is_database, layout) = (self.terms.keep.is_database(), &self.game.layout);
        for block in layout.ordinals().filter(|_| self.solves) {
            let names = [format!("{DATABASE}/{}", block_file_name(block)), format!("{SUMMARIES}/{:06}", block.0)];
            let has = |name: &String| found.contains_key(name);
            // The files of a store that keeps counts are swept once all targets are committed.
            let summary = |target: BlockId| has(&format!("{SUMMARIES}/{:06}", target.0));
            let is_swept = || !is_database && layout.edges_from(block).iter().all(|edge| summary(edge.target));
            let [decides, other] = if is_database { [&names[0], &names[1]] } else { [&names[1], &names[0]] };
            if has(decides) && !has(other) && !is_swept() {
                return Err(format!("{decides} is there, and {other} is not"));
            }
        }
        let store = Folder::store(disk, "j", (Omit::Nothing, true), &Alive::default(), FOR_EVER);
        if promised.begun {
            open(&*store).map_err(|error| error.to_string())?;
        }
        if !promised.blocks.is_empty() {
            let there = committed(&*store, self.terms.spec(&self.game)).map_err(|error| error.to_string())?;
            let lost: Vec<_> = promised.blocks.iter().filter(|block| !there.contains(block)).collect();
            if !lost.is_empty() {
                return Err(format!("lost {lost:?}"));
            }
        }
        match self.clean.iter().find(|(name, bytes)| promised.sealed && found.get(*name) != Some(bytes)) {
            Some((name, _)) => Err(format!("{name} is lost or differs")),
            None => Ok(()),
        }
    }

    /// Returns whether the store is finished: these files, and no others.
    fn is_finished(&self, disk: &SimulatedStorage) -> Result<(), String> {
        let found = files(disk);
        let names: Vec<_> = found.keys().filter(|name| !self.clean.contains_key(*name)).collect();
        self.keeps(disk, &Promised { sealed: true, ..Promised::default() })?;
        if names.is_empty() { Ok(()) } else { Err(format!("left over: {names:?}")) }
    }

    /// Runs a session to its end and judges it. Returns the disks after stops in it: at every call
    /// of the first session, at a few of the second.
    fn session(&self, from: &Left, start: Start, rules: (Omit, bool)) -> Result<Vec<Left>, String> {
        let story = &from.story;
        let promised = Arc::new(Mutex::new(from.promised.clone()));
        let left: Arc<Mutex<Vec<Left>>> = Arc::default();
        let disk = match start {
            Start::Failing(step, fault) => from.disk.kill().with_fault(step, fault),
            _ if from.stops > 1 => from.disk.kill(),
            _ => from.disk.kill().with_witness(stops_of(from, &promised, &left)),
        };
        let alive = Alive::default();
        let process = |name: &str, calls: u64| {
            let store = Folder::store(&disk, &format!("{name}{}", from.stops), rules, &alive, calls);
            (self.run)(&*store, &promised)
        };
        let ended = match start {
            Start::Race(seed) => {
                let calls = if seed % 2 == 1 { seed * 7919 % 200 } else { FOR_EVER };
                let [first, second] = [const { Mutex::new(Ok(())) }; 2];
                let race = || {
                    scope(|scope| {
                        scope.spawn(|| {
                            let ended = process("a", FOR_EVER);
                            *first.lock().unwrap() = ended;
                        });
                        scope.spawn(|| {
                            let ended = process("b", calls);
                            *second.lock().unwrap() = if calls < FOR_EVER { Ok(()) } else { ended };
                        });
                    });
                };
                scheduler::run(Timing { seed }, race).map_err(|stuck| format!("{story}: {stuck:?}"))?;
                first.into_inner().unwrap().and(second.into_inner().unwrap())
            }
            _ => process("w", FOR_EVER),
        };
        let promised = promised.lock().unwrap().clone();
        if let Start::Failing(step, _) = start {
            match ended {
                Ok(()) | Err(Error::Run(RunError::Io { .. } | RunError::Poisoned)) => {}
                Err(error) => return Err(format!("{story}: {error}")),
            }
            return Ok(images(disk.kill(), (step, 1, from.again), &promised, story));
        }
        ended.map_err(|error| format!("{story}: {error}"))?;
        if matches!(start, Start::Alone(_)) {
            self.is_finished(&disk.power_cut(0)).map_err(|lost| format!("{story}, power cut at the end: {lost}"))?;
        }
        let sweeper = Folder::store(&disk, "s", (Omit::Nothing, true), &Alive::default(), FOR_EVER);
        sweep(&*sweeper, self.terms.spec(&self.game), Duration::ZERO).map_err(|error| format!("{story}: {error}"))?;
        self.is_finished(&disk).map_err(|wrong| format!("{story}: {wrong}"))?;
        match disk.names().iter().find(|name| name.starts_with("tmp/")) {
            Some(name) => Err(format!("{story}: {name} is left over")),
            None => Ok(std::mem::take(&mut *left.lock().unwrap())),
        }
    }

    /// Takes every state after a stop to its end. Returns the number of states.
    fn explore(&self, starts: &[Start], omit: Omit, has_links: bool) -> Result<usize, String> {
        let mut seen = HashSet::new();
        for start in starts {
            let story = format!("{}, {start:?}", self.name);
            let again = if let Start::Alone(again) = start { *again } else { 32 };
            let empty = Left { disk: SimulatedStorage::new(1), promised: Promised::default(), stops: 0, again, story };
            let mut open = self.session(&empty, *start, (omit, has_links))?;
            while let Some(left) = open.pop() {
                if seen.insert((left.disk.digest(), left.promised.clone())) {
                    self.keeps(&left.disk, &left.promised).map_err(|lost| format!("{}: {lost}", left.story))?;
                    open.extend(self.session(&left, Start::Alone(again), (omit, has_links))?);
                }
            }
        }
        Ok(seen.len())
    }

    /// Returns the number of calls of one process that is not stopped.
    fn calls(&self) -> u64 {
        let disk = SimulatedStorage::new(1);
        let store = Folder::store(&disk, "w", (Omit::Nothing, true), &Alive::default(), FOR_EVER);
        (self.run)(&*store, &Mutex::default()).unwrap();
        disk.steps()
    }
}

/// The disks that the next process can find: after a kill, and after power cuts.
fn images(
    disk: SimulatedStorage,
    (step, stops, again): (u64, u64, u64),
    promised: &Promised,
    story: &str,
) -> Vec<Left> {
    let cut = |seed: u64| (format!("power cut {seed}"), disk.power_cut(seed));
    let cuts = [0, 1, 2, 3, 4 + step].map(cut);
    let all = cuts.into_iter().chain([("killed".to_owned(), disk)]);
    let left = all.map(|(how, disk)| Left {
        disk,
        promised: promised.clone(),
        stops,
        again,
        story: format!("{story}, {how}"),
    });
    left.collect()
}

fn works() -> [Work; 5] {
    [
        Work::solve(3, Rule::Misere, Keep::Database, false),
        Work::solve(3, Rule::Normal, Keep::Counts, true),
        Work::copy(3, Keep::Database),
        Work::copy(3, Keep::Counts),
        Work::creation(),
    ]
}

/// Takes every work through these first sessions, with and without links.
fn survives(starts: impl Fn(&Work) -> Vec<Start>) {
    for work in works() {
        for has_links in [true, false] {
            let states = work.explore(&starts(&work), Omit::Nothing, has_links);
            let states = states.unwrap_or_else(|wrong| panic!("links {has_links}, {wrong}"));
            println!("{}, links {has_links}: {states} states", work.name);
        }
    }
}

#[test]
fn a_folder_on_the_simulated_disk_keeps_the_promises_of_a_store() {
    for has_links in [true, false] {
        let disk = SimulatedStorage::new(1);
        keeps_its_promises(&*Folder::store(&disk, "w", (Omit::Nothing, has_links), &Alive::default(), FOR_EVER));
    }
}

#[test]
fn a_store_survives_every_stop() {
    survives(|_| vec![Start::Alone(12)]);
    for keep in [Keep::Database, Keep::Counts] {
        let larger = Work::solve(4, Rule::Misere, keep, false);
        larger.explore(&[Start::Alone(128)], Omit::Nothing, true).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    // Every second stop: of the end of a solve, after a process was killed that had committed the
    // last block but not yet made it safe.
    let unswept = Work::solve(3, Rule::Normal, Keep::Counts, false);
    unswept.explore(&[Start::Alone(1)], Omit::Nothing, true).unwrap_or_else(|wrong| panic!("{wrong}"));
}

#[test]
fn a_store_survives_stops_while_processes_race() {
    survives(|_| RACES.map(Start::Race).collect());
}

#[test]
fn a_store_survives_calls_that_fail() {
    let faults = [Fault::FailOnce, Fault::Full, Fault::LoseSync];
    survives(|work| (1..=work.calls()).flat_map(|step| faults.map(|fault| Start::Failing(step, fault))).collect());
}

/// Each rule, and a work that fails without it.
#[test]
fn rules_of_the_store_left_out_are_caught() {
    let [database, counts, copied, copied_counts, creation] = &works();
    let unswept = &Work::solve(3, Rule::Normal, Keep::Counts, false);
    let alone = || vec![Start::Alone(4)];
    let races = || (0..40).map(Start::Race).collect::<Vec<_>>();
    let synced = Omit::FolderSync;
    for (omit, work, starts) in [
        (Omit::FileSync, database, alone()),
        (Omit::Temporary, database, alone()),
        (Omit::Idle, counts, races()),
        (Omit::FileFirst, counts, alone()),
        // The folders, before the definition can be safe.
        (synced(Last::MadeFolder, ""), copied_counts, alone()),
        // Each way in which a creation ends.
        (synced(Last::Named, DATABASE), creation, alone()),
        (synced(Last::FoundName, DATABASE), creation, alone()),
        (synced(Last::LostName, DATABASE), creation, races()),
        (synced(Last::Named, SUMMARIES), database, alone()),
        (synced(Last::FoundName, SUMMARIES), database, alone()),
        // Files of another process that this one finds: a definition, a block, copied files.
        (synced(Last::Read, ""), database, alone()),
        (synced(Last::Read, DATABASE), database, alone()),
        (synced(Last::Read, SUMMARIES), unswept, alone()),
        (synced(Last::Read, SUMMARIES), copied_counts, alone()),
        (synced(Last::FoundName, DATABASE), copied, alone()),
        // Summaries before the files of blocks are removed, in a sweep and at the end, and then
        // these.
        (synced(Last::Listed, SUMMARIES), counts, alone()),
        (synced(Last::Read, SUMMARIES), counts, races()),
        (synced(Last::Synced, SUMMARIES), unswept, vec![Start::Alone(1)]),
        (synced(Last::Removed, DATABASE), unswept, alone()),
    ] {
        match work.explore(&starts, omit, true) {
            Err(wrong) => println!("{omit:?} left out is caught: {wrong}"),
            Ok(states) => panic!("{omit:?} left out survives {states} states of {}", work.name),
        }
    }
}
