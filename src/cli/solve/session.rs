//! One session of a solve, with progress and an orderly end.

use super::super::exit::Stopped;
use super::super::output::{Out, counted, seconds};
use super::super::progress::{self, Total};
use super::super::signals::Signals;
use super::folder::{free_bytes, used_bytes};
use super::{Outcome, Run, request};
use pipeline::checkpoint::Inspection;
use pipeline::{BlockId, Error, Event, LimitedStorage, Metrics, Options, RealStorage, RunId, Storage};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use trinim::kernel::Isa;
use trinim::layout::Layout;
use trinim::plan::{self, BaselinePlan, Plan, rates};
use trinim::solve::baseline::{self, Counters};
use trinim::solve::{Baseline, Redundancy};

/// Solves through update logs, or continues such a solve.
pub fn update_log(run: &Run<'_>, metrics: &Metrics, signals: &Signals, out: &Out) -> anyhow::Result<Outcome> {
    let Run { args, game, folder, begun, .. } = *run;
    let layout = &game.layout;
    let request = request(&game.board, &args.game);
    let plan = Plan::of(request, layout)?;
    plan.check(free_bytes(folder), used_bytes(folder))?;
    // The estimate uses the rates of the bit-parallel kernels.
    let slow = args.kernel.kernel.0 == Some(Isa::Scalar);
    let estimate = if slow { String::new() } else { format!(", about {}", seconds(plan.chosen().seconds)) };
    out.remark(format_args!(
        "{}: {} of {}, {}{estimate}",
        folder.display(),
        counted(plan.shape.canonical_blocks, "block"),
        counted(1 << layout.offset_bits(), "position"),
        counted(plan.memory.workers as u64, "worker"),
    ));

    let storage = storage(run, plan.chosen().disk_peak_bytes)?;
    let options = Options {
        threads: request.threads,
        memory_bytes: plan::engine_bytes(args.game.memory.0),
        placement: request.placement,
        codec: args.game.codec.choice,
        commit_interval: args.game.commit_interval,
        run_id: RunId::random(),
        stop: signals.stop.clone(),
    };
    let kernel = args.kernel.kernel.kernel();
    let total = total(layout, begun, &plan);
    let started = AtomicUsize::new(0);
    let observe = |event: &Event| {
        if let Event::Opened { workers, .. } = event {
            started.store(*workers, Ordering::Relaxed);
        }
    };
    let status = |elapsed: f64| progress::of_solve(metrics, &total, elapsed);
    let work = || trinim::solve::solve(game, kernel, &storage, &options, metrics, &observe);
    let solved = match progress::during(&status, signals, out.quiet, out.error_paint, work) {
        Err(Error::Interrupted) => {
            let safe = metrics.snapshot().blocks_committed;
            let text = format!("{safe} of {} saved in {}", counted(total.blocks, "block"), folder.display());
            return Err(anyhow::Error::new(Stopped::resumable(signals.exit())).context(text));
        }
        other => other?,
    };
    Ok(Outcome {
        strategy: run.strategy,
        manifest: solved.manifest,
        database_bytes: solved.database_bytes,
        resumed_blocks: total.resumed_blocks,
        workers: started.into_inner(),
        candidates: solved.candidates,
        peak_leased_bytes: solved.peak_leased_bytes,
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
    let Run { args, game, folder, begun, .. } = *run;
    let layout = &game.layout;
    let request = request(&game.board, &args.game);
    let plan = Plan::of(request, layout)?;
    let planned = BaselinePlan::of(&plan, layout, baseline, request.threads)?;
    planned.check(free_bytes(folder), used_bytes(folder))?;
    out.remark(format_args!(
        "{}: {baseline}, {} of {}, {}; it keeps no checkpoints{}",
        folder.display(),
        counted(planned.evaluated_blocks, "block"),
        counted(1 << layout.offset_bits(), "position"),
        counted(planned.workers as u64, "worker"),
        if begun.is_some() { " and starts over" } else { "" },
    ));

    let storage = storage(run, planned.disk_bytes)?;
    let options = baseline::Options {
        threads: request.threads,
        memory_bytes: plan::engine_bytes(args.game.memory.0),
        run_id: RunId::random(),
        stop: signals.stop.clone(),
    };
    let kernel = args.kernel.kernel.kernel();
    let updates = match baseline.redundancy() {
        Some(Redundancy::Keep) => layout.counts().updates,
        _ => plan.shape.edges,
    };
    let total = Total {
        blocks: planned.evaluated_blocks,
        resumed_blocks: 0,
        edges: updates,
        block_positions: 1 << layout.offset_bits(),
        block_weight: rates::block_weight(&plan.rates),
    };
    let status = |elapsed: f64| match baseline.redundancy() {
        None => progress::in_memory(counters, plan.positions, elapsed),
        Some(_) => progress::in_blocks(metrics, counters, &total, elapsed),
    };
    let work = || baseline::solve(game, kernel, baseline, &storage, &options, metrics, counters);
    let solved = match progress::during(&status, signals, out.quiet, out.error_paint, work) {
        Err(Error::Interrupted) => {
            let text = format!("{baseline} keeps no checkpoints: nothing in {} can be continued", folder.display());
            return Err(anyhow::Error::new(Stopped::from_the_start(signals.exit())).context(text));
        }
        other => other?,
    };
    Ok(Outcome {
        strategy: run.strategy,
        manifest: solved.manifest,
        database_bytes: solved.database_bytes,
        resumed_blocks: 0,
        workers: planned.workers,
        candidates: solved.candidates,
        peak_leased_bytes: solved.peak_leased_bytes,
    })
}

/// Opens or creates the run folder, limited to `--max-disk` if that is given. A plan that needs
/// more is refused first.
fn storage(run: &Run<'_>, needed_bytes: u64) -> anyhow::Result<Arc<dyn Storage>> {
    let limit = run.args.max_disk;
    limit.map_or(Ok(()), |limit| plan::check_disk_limit(needed_bytes, limit.0))?;
    let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(run.folder)?);
    Ok(match limit {
        Some(limit) => Arc::new(LimitedStorage::new(storage, limit.0)?),
        None => storage,
    })
}

fn total(layout: &Layout, begun: Option<&Inspection>, plan: &Plan) -> Total {
    let finished: BTreeSet<BlockId> =
        begun.map(|begun| begun.records.iter().map(|record| record.block).collect()).unwrap_or_default();
    let edges =
        layout.ordinals().filter(|block| !finished.contains(block)).map(|block| layout.edges_into(block).len() as u64);
    Total {
        blocks: plan.shape.canonical_blocks,
        resumed_blocks: finished.len() as u64,
        edges: edges.sum(),
        block_positions: 1 << layout.offset_bits(),
        block_weight: rates::block_weight(&plan.rates),
    }
}
