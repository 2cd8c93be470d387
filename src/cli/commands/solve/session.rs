//! One session of a solve, with progress and an orderly end.

use super::folder::Earlier;
use super::{Outcome, Run, disk};
use crate::cli::face::exit::Stopped;
use crate::cli::face::output::{Out, counted, grouped};
use crate::cli::face::progress::{self, Say};
use crate::cli::face::signals::Signals;
use crate::cli::face::watch;
use crate::cli::words::args::Size;
use crate::cli::words::game::{TIMED_CELLS, estimated, request};
use crate::cli::words::owner;
use crate::cli::words::pace;
use pipeline::{CodecChoice, Error, Event, LimitedStorage, Metrics, Options, RealStorage, RunId, Storage, Thresholds};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use trinim::kernel::Isa;
use trinim::plan::work::SessionWork;
use trinim::plan::{self, BaselinePlan, Plan, Request};
use trinim::solve::baseline::{self, Counters};
use trinim::solve::{Baseline, Redundancy};

/// Solves through update logs, or continues such a solve.
pub fn update_log(run: &Run<'_>, metrics: &Metrics, signals: &Signals, out: &Out) -> anyhow::Result<Outcome> {
    let Run { args, spec, earlier: Earlier { folder, begun }, .. } = *run;
    let game = spec.game;
    let shown = args.session.progress.on(out)?;
    let layout = &game.layout;
    let (request, plan) = out.telling("planning", || {
        let request = request(&game.board, &args.game, spec.terms.values, spec.terms.keep);
        let room = disk::Room::of(run);
        let plan = Plan::of(request, layout)?.within(request, room.may_take());
        plan.check(u64::MAX)?;
        let fitting = |may_take| disk::fitting(run, &plan, may_take);
        disk::preflight(run, &room, plan.chosen().disk_peak_bytes, fitting, out)?;
        Ok::<_, anyhow::Error>((request, plan))
    })?;
    let thresholds = Thresholds::for_process(plan.memory.workers)?;
    let storage = storage(run)?;
    let options = Options {
        threads: request.threads,
        memory_bytes: plan::engine_bytes(request.memory_bytes),
        placement: request.placement,
        codec: CodecChoice::parse(&plan.codec).unwrap_or(args.game.codec.choice),
        commit_interval: args.game.commit_interval,
        thresholds: Some(thresholds),
        run_id: RunId::random(),
        stop: signals.stop.clone(),
    };
    let kernel = args.kernel.kernel.kernel();
    // A folder of another layout is refused when it is opened; until then its blocks may be any.
    let blocks = layout.canonical_blocks().len();
    let records = begun.iter().flat_map(|begun| &begun.records);
    let finished = records.map(|record| record.block).filter(|block| block.index() < blocks).collect();
    let total = SessionWork::new(layout, &plan.shape, plan.memory.held_streams, &finished).with_planes(spec.planes());
    let started = AtomicUsize::new(0);
    let status = |elapsed: f64| pace::of_solve(metrics, &total, elapsed);
    let work = |say: Say<'_>| {
        let observe = |event: &Event| match event {
            Event::Opened { workers, finished_blocks, .. } => {
                started.store(*workers, Ordering::Relaxed);
                say(header(run, &plan, &total, u64::from(*finished_blocks), *workers));
            }
            Event::Committed { finished_blocks } => watch::commit(total.blocks, u64::from(*finished_blocks)),
        };
        trinim::solve::solve(spec, kernel, &storage, &options, metrics, &observe)
    };
    let solved = match progress::during(&status, signals, &shown, work) {
        Err(error @ Error::Locked { .. }) => return Err(owner::in_use(error, folder)),
        Err(Error::Interrupted) => {
            let safe = metrics.snapshot().blocks_committed;
            let text = format!("{safe} of {} saved in {}", counted(total.blocks, "block"), folder.display());
            return Err(anyhow::Error::new(Stopped::resumable(signals.exit())).context(text));
        }
        other => other?,
    };
    Ok(Outcome {
        strategy: run.strategy,
        solved,
        resumed_blocks: total.resumed_blocks,
        session_positions: total.positions,
        workers: started.into_inner(),
        codec: plan.codec,
    })
}

/// Solves by one of the papers' strategies, from the start.
pub fn baseline(
    run: &Run<'_>,
    baseline: Baseline,
    metrics: &Metrics,
    counters: &Counters,
    signals: &Signals,
    out: &Out,
) -> anyhow::Result<Outcome> {
    let Run { args, spec, earlier: Earlier { folder, begun }, .. } = *run;
    let game = spec.game;
    let shown = args.session.progress.on(out)?;
    let layout = &game.layout;
    let request = request(&game.board, &args.game, spec.terms.values, spec.terms.keep);
    let plan = Plan::of(request, layout)?;
    let planned = BaselinePlan::of(&plan, layout, baseline, request.threads)?;
    planned.check(u64::MAX)?;
    let fitting = |may_take: u64| {
        let keeps = disk::other_keeps(run).filter_map(|keep| {
            let plan = plan.with(Request { keep, ..request });
            let bytes = BaselinePlan::of(&plan, layout, baseline, request.threads).ok()?.disk_bytes;
            (bytes <= may_take).then(|| format!("--keep {keep} (about {})", Size(bytes)))
        });
        keeps.collect()
    };
    disk::preflight(run, &disk::Room::of(run), planned.disk_bytes, fitting, out)?;
    let storage = storage(run)?;
    // A baseline reports no event when it has the folder, so the header looks at the lock before.
    owner::refuse_in_use(folder)?;
    out.remark(format_args!(
        "{}: {baseline}, {} of {}, {}; it keeps no checkpoints{}",
        folder.display(),
        counted(planned.evaluated_blocks, "block"),
        counted(1 << layout.offset_bits(), "position"),
        counted(planned.workers as u64, "worker"),
        if begun.is_some() { " and starts over" } else { "" },
    ));
    let options = baseline::Options {
        threads: request.threads,
        memory_bytes: plan::engine_bytes(plan.memory.budget_bytes),
        run_id: RunId::random(),
        stop: signals.stop.clone(),
    };
    let kernel = args.kernel.kernel.kernel();
    let updates = match baseline.redundancy() {
        Some(Redundancy::Keep) => layout.counts().updates,
        _ => plan.shape.edges,
    };
    let blocks = planned.evaluated_blocks;
    let total = SessionWork::from_the_start(layout, blocks, updates, plan.positions);
    let status = |elapsed: f64| match baseline.redundancy() {
        None => pace::in_memory(counters, plan.positions, elapsed),
        Some(_) => pace::in_blocks(metrics, counters, &total, elapsed),
    };
    let work = |_: Say<'_>| baseline::solve(spec, kernel, baseline, &storage, &options, metrics, counters);
    let solved = match progress::during(&status, signals, &shown, work) {
        Err(error @ Error::Locked { .. }) => return Err(owner::in_use(error, folder)),
        Err(Error::Interrupted) => {
            let text = format!("{baseline} keeps no checkpoints: nothing in {} can be continued", folder.display());
            return Err(anyhow::Error::new(Stopped::from_the_start(signals.exit())).context(text));
        }
        other => other?,
    };
    Ok(Outcome {
        strategy: run.strategy,
        solved,
        resumed_blocks: 0,
        session_positions: plan.positions,
        workers: planned.workers,
        codec: plan.codec,
    })
}

/// Opens or creates the run folder, limited to `--max-disk` if that is given.
fn storage(run: &Run<'_>) -> anyhow::Result<Arc<dyn Storage>> {
    let limit = run.args.session.max_disk;
    let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(run.earlier.folder)?);
    Ok(match limit {
        Some(limit) => Arc::new(LimitedStorage::new(storage, limit.0)?),
        None => storage,
    })
}

/// Says what is about to be done, or what is left of it.
fn header(run: &Run<'_>, plan: &Plan, total: &SessionWork, finished: u64, workers: usize) -> String {
    let folder = run.earlier.folder.display();
    let blocks = counted(total.blocks, "block");
    let workers = counted(workers as u64, "worker");
    if finished > 0 && finished == total.blocks {
        return format!("{folder}: resuming: all {blocks} are done, only manifest and checksums are left");
    }
    // The estimate uses the rates of the bit-parallel kernels, at the speed of this machine.
    let is_timed = run.spec.game.board.cells() >= TIMED_CELLS && run.args.kernel.kernel.0 != Some(Isa::Scalar);
    let estimate = |share: f64, left: &str| {
        if is_timed { format!(", about {}{left}", estimated(plan, share)) } else { String::new() }
    };
    let denser = match plan.codec == run.args.game.codec.name {
        true => String::new(),
        false => format!(", logs in {} to fit the disk", plan.codec),
    };
    if finished == 0 {
        let positions = counted(1 << run.spec.game.layout.offset_bits(), "position");
        return format!("{folder}: {blocks} of {positions}, {workers}{denser}{}", estimate(1.0, ""));
    }
    let share = total.resumed_share();
    format!(
        "{folder}: resuming: {} of {blocks} ({:.1} % of the work) are done, {workers}{denser}{}",
        grouped(finished),
        share * 100.0,
        estimate(1.0 - share, " left")
    )
}
