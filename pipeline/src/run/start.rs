//! A session from opening the folder to the last commit: starts its threads and waits for them.

use super::budget::Budget;
use super::commit_queue::CommitQueue;
use super::committer::Committer;
use super::gather::Buffers;
use super::held::HeldStreams;
use super::ledger::{Ledger, Needs, is_callers, sources_of};
use super::schedule::Schedule;
use super::session::Session;
use super::{Event, FinishedRun, Footprint, Run};
use crate::bitmaps::Bitmaps;
use crate::checkpoint::{BLOCKS_AT_MOST, BlockRecord, Checkpoint, FinishedBlocks, Opening, Parameters};
use crate::error::Error;
use crate::ids::BlockId;
use crate::log::place::Extent;
use crate::measure::metrics::Metrics;
use crate::sync::Mutex;
use crate::thresholds::Thresholds;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// The records of finished blocks.
type Records = BTreeMap<BlockId, BlockRecord>;

impl<'w> Run<'w, '_> {
    /// Runs the workload to its end, from the last commit of any earlier run.
    ///
    /// # Errors
    /// Returns [`Error::Interrupted`] after [`Options::stop`](super::Options::stop) was set, and an
    /// error with [`Error::is_full_disk`] if the disk is full; everything finished is committed
    /// first, unless it is [`Error::Unsaved`]. Returns [`Error::Memory`] if not one worker fits the
    /// budget, [`Error::OpenFiles`] if the process cannot open enough files, [`Error::Workload`] if
    /// the workload contradicts itself or the folder, [`Error::Audit`] if an audit fails, or an
    /// error of [`Checkpoint::open`] or of the system. After the latter the same call resumes.
    pub fn start(self) -> Result<FinishedRun<'w>, Error> {
        let Run { workload, ref storage, ref options, metrics, observer } = self;
        if workload.blocks() as usize > BLOCKS_AT_MOST {
            let (value, limit) = (workload.blocks().into(), BLOCKS_AT_MOST as u64);
            return Err(Error::Limit { what: "number of blocks", value, limit });
        }
        let none = Metrics::default();
        let metrics = metrics.unwrap_or(&none);
        let footprint = self.footprint();
        let workers = self.affordable_workers(footprint)?;
        let thresholds = options.thresholds.map_or_else(|| Thresholds::for_process(workers), Ok)?;
        let (mut checkpoint, mut records) = self.open()?;
        let (schedule, ledger) = self.resume(&records)?;
        metrics.log_added(self.sweep(&mut checkpoint, &records, &ledger)?);
        metrics.counters.blocks_committed.add(records.len() as u64);
        observer(&Event::Opened { finished_blocks: records.len() as u32, blocks: workload.blocks(), workers });

        let bytes = |streams: usize| (streams * workload.stream_words() * 8) as u64;
        let workers_bytes = footprint.worker_bytes() * workers as u64;
        let held = footprint.held_streams(workers, options.memory_bytes);
        let held = (held as usize).min(thresholds.held).min(workload.blocks() as usize);
        let bitmaps = Bitmaps::new(workload.stream_words(), workers * Buffers::BITMAPS + held);
        let session = Session {
            workload,
            storage: &**storage,
            options,
            metrics,
            observer,
            workers,
            thresholds,
            run_id: checkpoint.run_id(),
            generation: checkpoint.generation(),
            queue: Budget::new(options.memory_bytes.saturating_sub(workers_bytes + bytes(held))),
            read_ahead: (0..workers).map(|_| Budget::new(bytes(1))).collect(),
            held: HeldStreams::new(held, &bitmaps, workload.blocks(), |block| records.contains_key(&block)),
            bitmaps,
            schedule,
            ledger,
            commits: CommitQueue::new(thresholds),
            journal: checkpoint.journal_room(),
            retired: Mutex::new(Vec::new()),
            failure: Mutex::new(None),
            panicked: AtomicBool::new(false),
        };
        let shared_bytes = workers_bytes + bytes(held) + session.queue.limit_bytes();
        let budget_bytes = options.memory_bytes;
        assert!(shared_bytes <= budget_bytes, "run, invariant 4: {shared_bytes} bytes shared out of {budget_bytes}");
        session.run(Committer { session: &session, checkpoint: &mut checkpoint, records: &mut records })?;
        if records.len() < workload.blocks() as usize {
            return Err(Error::Interrupted);
        }
        let peak_leased_bytes = workers_bytes + bytes(session.held.peak()) + session.queue.peak_bytes();
        Ok(FinishedRun { records, checkpoint, peak_leased_bytes, workload })
    }

    fn footprint(&self) -> Footprint {
        let auditors = self.workload.auditors();
        Footprint { auditors, ..Footprint::new(self.workload.stream_words(), self.options.placement) }
    }

    fn affordable_workers(&self, footprint: Footprint) -> Result<usize, Error> {
        let budget_bytes = self.options.memory_bytes;
        match budget_bytes.saturating_sub(footprint.bytes(0)) / footprint.worker_bytes() {
            0 => Err(Error::Memory { needed_bytes: footprint.bytes(1), budget_bytes }),
            affordable => Ok(self.options.threads.min(self.workload.blocks() as usize).clamp(1, affordable as usize)),
        }
    }

    /// Opens the folder; returns it with the records of the finished blocks.
    fn open(&self) -> Result<(Checkpoint, Records), Error> {
        let Run { workload, storage, options, .. } = self;
        let mut parameters = Parameters(workload.parameters());
        parameters.0.push((Parameters::MEMORY.to_owned(), options.memory_bytes.to_string()));
        let needs = Needs::new(*workload);
        let has = |finished: &FinishedBlocks, extent: &Extent| needs.has(finished, extent);
        let Opening { checkpoint, recovered } = Checkpoint::open(storage.clone(), &parameters, options.run_id, &has)?;
        let blocks = workload.blocks();
        if let Some(record) = recovered.iter().find(|record| record.block.0 >= blocks) {
            return Err(Error::workload(format!("the journal names block {} of {blocks}", record.block)));
        }
        if let Some((block, source)) = needs.contradiction(checkpoint.finished()) {
            return Err(Error::workload(format!("block {block} is finished, but its source {source} is not")));
        }
        Ok((checkpoint, recovered.into_iter().map(|record| (record.block, record)).collect()))
    }

    /// Builds the schedule of the remaining blocks and the ledger of their logs.
    fn resume(&self, records: &Records) -> Result<(Schedule, Ledger), Error> {
        let schedule = Schedule::new(self.workload, |block| records.contains_key(&block))?;
        let ledger = Ledger::new(self.workload, |block| schedule.targets(block).len() as u32);
        records.values().for_each(|record| ledger.add(record));
        for block in records.keys() {
            ledger.consume(*block, &sources_of(self.workload, *block));
        }
        Ok((schedule, ledger))
    }

    /// Removes files that no record names; returns the bytes of the remaining logs.
    fn sweep(&self, checkpoint: &mut Checkpoint, records: &Records, ledger: &Ledger) -> Result<u64, Error> {
        let (live, live_bytes) = ledger.files();
        let is_complete = records.len() == self.workload.blocks() as usize;
        checkpoint.sweep(&|name| live.contains(name) || is_callers(self.workload, is_complete, name))?;
        Ok(live_bytes)
    }
}
