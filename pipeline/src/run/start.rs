//! A session from opening the folder to the last commit: starts its threads and waits for them.

use super::budget::Budget;
use super::commit_queue::CommitQueue;
use super::committer::Committer;
use super::held::HeldStreams;
use super::ledger::{Ledger, Needs, is_callers, sources_of};
use super::schedule::Schedule;
use super::session::{PanicGuard, Session};
use super::worker;
use super::writer::{Message, Writer};
use super::{FinishedRun, Footprint, Observer, Options};
use crate::checkpoint::{self, BlockRecord, Checkpoint, Opening, Parameters};
use crate::error::Error;
use crate::ids::BlockId;
use crate::log::place::Extent;
use crate::measure::metrics::Metrics;
use crate::run::Event;
use crate::storage::Storage;
use crate::sync::{self, Mutex, bounded};
use crate::thresholds::Thresholds;
use crate::workload::Workload;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs a workload to its end, see [`Run::start`](super::Run::start).
pub(super) fn run<'w>(
    workload: &'w dyn Workload,
    storage: Arc<dyn Storage>,
    options: &Options,
    metrics: &Metrics,
    observer: Observer<'_>,
) -> Result<FinishedRun<'w>, Error> {
    let workers = affordable_workers(workload, options)?;
    let thresholds = options.thresholds.map_or_else(|| Thresholds::for_process(workers), Ok)?;
    let (mut checkpoint, mut records) = open(workload, storage.clone(), options)?;
    let (schedule, ledger) = resume(workload, &records)?;
    let live_bytes = sweep(workload, &mut checkpoint, &records, &ledger)?;
    metrics.log_added(live_bytes);
    metrics.recovered(records.len() as u64);
    observer(&Event::Opened { finished_blocks: records.len() as u32, blocks: workload.blocks(), workers });

    let footprint = footprint(workload, options);
    let workers_bytes = footprint.worker_bytes() * workers as u64;
    let held = footprint.held_streams(workers, options.memory_bytes);
    let held = (held as usize).min(thresholds.held).min(workload.blocks() as usize);
    let held_bytes = (held * workload.stream_words() * 8) as u64;
    let session = Session {
        workload,
        storage: &*storage,
        options,
        metrics,
        observer,
        workers,
        thresholds,
        run_id: checkpoint.run_id(),
        generation: checkpoint.generation(),
        queue: Budget::new(options.memory_bytes.saturating_sub(workers_bytes + held_bytes)),
        read_ahead: (0..workers).map(|_| Budget::new(workload.stream_words() as u64 * 8)).collect(),
        schedule,
        held: HeldStreams::new(held, workload.stream_words(), workload.blocks(), |block| records.contains_key(&block)),
        ledger,
        commits: CommitQueue::new(thresholds),
        journal: checkpoint.journal_room(),
        retired: Mutex::new(Vec::new()),
        failure: Mutex::new(None),
        panicked: AtomicBool::new(false),
    };
    let shared_bytes = workers_bytes + held_bytes + session.queue.limit_bytes();
    let budget_bytes = options.memory_bytes;
    assert!(shared_bytes <= budget_bytes, "run, invariant 4: {shared_bytes} bytes shared out of {budget_bytes}");
    run_threads(&session, Committer { session: &session, checkpoint: &mut checkpoint, records: &mut records })?;
    if records.len() < workload.blocks() as usize {
        return Err(Error::Interrupted);
    }
    let held_bytes = (session.held.buffers() * workload.stream_words() * 8) as u64;
    let peak_leased_bytes = workers_bytes + held_bytes + session.queue.peak_bytes();
    Ok(FinishedRun { records, checkpoint, peak_leased_bytes, workload })
}

fn footprint(workload: &dyn Workload, options: &Options) -> Footprint {
    let auditors = workload.auditors();
    Footprint { auditors, ..Footprint::new(workload.stream_words(), options.placement) }
}

fn affordable_workers(workload: &dyn Workload, options: &Options) -> Result<usize, Error> {
    let footprint = footprint(workload, options);
    let left = options.memory_bytes.saturating_sub(footprint.bytes(0));
    let affordable = (left / footprint.worker_bytes()) as usize;
    if affordable == 0 {
        let needed_bytes = footprint.bytes(1);
        return Err(Error::Memory { needed_bytes, budget_bytes: options.memory_bytes });
    }
    Ok(options.threads.min(workload.blocks() as usize).clamp(1, affordable))
}

/// Opens the folder; returns it with the records of the finished blocks.
fn open(
    workload: &dyn Workload,
    storage: Arc<dyn Storage>,
    options: &Options,
) -> Result<(Checkpoint, BTreeMap<BlockId, BlockRecord>), Error> {
    let mut parameters = Parameters(workload.parameters());
    parameters.0.push((Parameters::MEMORY.to_owned(), options.memory_bytes.to_string()));
    let needs = Needs::new(workload);
    let needs = |finished: &checkpoint::FinishedBlocks, extent: &Extent| needs.has(finished, extent);
    let Opening { checkpoint, recovered } = Checkpoint::open(storage, &parameters, options.run_id, &needs)?;
    let blocks = workload.blocks();
    if let Some(record) = recovered.iter().find(|record| record.block.0 >= blocks) {
        return Err(Error::workload(format!("the journal names block {} of {blocks}", record.block)));
    }
    Ok((checkpoint, recovered.into_iter().map(|record| (record.block, record)).collect()))
}

/// Builds the schedule of the remaining blocks and the ledger of their logs.
fn resume(workload: &dyn Workload, records: &BTreeMap<BlockId, BlockRecord>) -> Result<(Schedule, Ledger), Error> {
    let schedule = Schedule::new(workload, |block| records.contains_key(&block))?;
    let ledger = Ledger::new(workload, |block| schedule.targets(block).len() as u32);
    for record in records.values() {
        ledger.add(record);
    }
    for block in records.keys() {
        ledger.consume(*block, &sources_of(workload, *block));
    }
    Ok((schedule, ledger))
}

/// Removes files that no record names; returns the bytes of the remaining logs.
fn sweep(
    workload: &dyn Workload,
    checkpoint: &mut Checkpoint,
    records: &BTreeMap<BlockId, BlockRecord>,
    ledger: &Ledger,
) -> Result<u64, Error> {
    let (live, live_bytes) = ledger.files();
    let is_complete = records.len() == workload.blocks() as usize;
    checkpoint.sweep(&|name| live.contains(name) || is_callers(workload, is_complete, name))?;
    Ok(live_bytes)
}

fn run_threads(session: &Session<'_>, committer: Committer<'_>) -> Result<(), Error> {
    let (sender, messages) = bounded::<Message<'_>>(64);
    sync::scope(|scope| {
        let begun = sync::start(scope, move || {
            let _guard = PanicGuard(session);
            let _lane = session.metrics.lane(|| "writer".to_owned());
            let gather_bytes = session.thresholds.gather_bytes.min(session.queue.limit_bytes() / 2);
            session.guard(Writer::new(session, gather_bytes).serve(&messages));
            session.commits.end();
        });
        if let Err(error) = begun {
            session.guard(Err(error));
            return;
        }
        for number in 1..=session.workers {
            let sender = sender.clone();
            let begun = sync::start(scope, move || {
                let _guard = PanicGuard(session);
                let _lane = session.metrics.lane(|| format!("worker {number}"));
                session.guard(worker::work(session, number, sender));
            });
            // If the system refuses a thread, the others do its share.
            if let Err(error) = begun {
                if number == 1 {
                    session.guard(Err(error));
                }
                break;
            }
        }
        drop(sender);
        let _guard = PanicGuard(session);
        let _lane = session.metrics.lane(|| "committer".to_owned());
        session.guard_commit(committer.serve());
    });
    session.failure.lock().take().map_or(Ok(()), Err)
}
