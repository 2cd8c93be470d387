//! `trinim papers solve`: solves a board with a strategy of the papers.

use super::occupant;
use clap::Args;
use pipeline::{Error, Metrics, Options, RealStorage, Stage, Stopwatch, Storage, storage};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use terminal::exit::{Exit, Refused, Stopped, reason};
use terminal::file::ParentsArgs;
use terminal::output::{Out, bytes_per_second, counted, per_second, seconds};
use terminal::progress::{ProgressArgs, Say, at_share, during};
use terminal::refusal::quoted;
use terminal::signals::Signals;
use terminal::watch::{Blocks, Reading};
use trinim::Solve;
use trinim::cli::args::{self, BlocksArgs, JsonArgs, KernelArgs, ResourceArgs, Size};
use trinim::cli::board::{RequiredBoard, default_folder};
use trinim::cli::choice::{chosen, named};
use trinim::cli::hints::classify;
use trinim::cli::machine::peak_rss_bytes;
use trinim::cli::owner;
use trinim::cli::scenario::LEAVE_OUT;
use trinim::cli::summary::Summary;
use trinim::database::{Audit, Game, Keep, Values};
use trinim::job::free_bytes;
use trinim::layout::{CANONICAL_BLOCKS_MAX, Layout};
use trinim::plan::{PROGRAM_BYTES, PlanError, Resources};
use trinim_game::amount::{binary, binary_up};
use trinim_game::{Board, Rule};
use trinim_kernel::{Isa, Kernel};
use trinim_papers::baseline::{self, Baseline, Counters, Redundancy};
use trinim_papers::counts::Counts;

const EXAMPLES: &str = "\
Examples:
  trinim papers solve --layers 6 --strategy retrograde
  trinim papers solve --layers 7 --strategy block-pull --redundancy keep
                                             every block by itself, with all its children

All strategies leave the database of trinim solve. They keep no checkpoints: after an interruption, begin again in a \
new folder. forward and retrograde use one thread.";

/// `--strategy`, which `--redundancy` completes.
type Strategy = fn(Redundancy) -> Baseline;

const STRATEGIES: &[(Strategy, &str, &str)] = &[
    (Baseline::BlockPull, "block-pull", "a block loads all its children [SWLK12]"),
    (Baseline::BlockPush, "block-push", "a block loads and stores all its targets [LWS09]"),
    (|_| Baseline::Retrograde, "retrograde", "board in memory, a loss marks its parents [LWS09]"),
    (|_| Baseline::Forward, "forward", "board in memory, a position looks at its children [Hsu]"),
];

/// Solve a board with a method of the papers
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct SolveArgs {
    #[command(flatten)]
    board: RequiredBoard,

    /// Whether taking the last piece loses (misere) or wins (normal)
    #[arg(long, help_heading = "Game", value_name = "RULE", value_parser = args::rule(), default_value = "misere")]
    rule: Rule,

    /// Strategy of the papers; does not change the database
    #[arg(long, value_name = "STRATEGY", value_parser = named(STRATEGIES))]
    strategy: Strategy,

    /// Blocks to evaluate [default: remove]
    #[arg(long, value_name = "WHAT", value_enum)]
    redundancy: Option<Redundancy>,

    #[command(flatten)]
    resources: ResourceArgs,

    #[command(flatten)]
    blocks: BlocksArgs,

    #[command(flatten)]
    kernel: KernelArgs,

    /// Folder of the run, new or empty [default: ./trinim-k<K>-<RULE>-<STRATEGY>]
    #[arg(long, help_heading = "Output", short, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    parents: ParentsArgs,

    #[command(flatten)]
    json: JsonArgs,

    #[command(flatten)]
    progress: ProgressArgs,
}

/// What `trinim papers solve` prints. It has the fields of `trinim.solve/1`; those about logs are 0
/// or `none`.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// True; a solve that stops or fails prints `trinim.failure/1` with false.
    finished: bool,
    #[serde(flatten)]
    summary: Summary,
    /// Wall-clock time.
    elapsed_s: f64,
    /// Positions decided per second, images included.
    rate_positions_per_second: f64,
    /// Highest resident memory of the process.
    peak_rss_bytes: u64,
    /// 0: there are no logs.
    log_bytes_written: u64,
    /// 0.
    log_bytes_read: u64,
    /// 0.
    log_bytes_peak: u64,
    /// 0.
    streams_read: u64,
    /// 0.
    streams_held: u64,
    /// 0.
    published_bytes_read: u64,
    /// Size of the finished database.
    database_bytes: u64,
    /// Folder of the run.
    out: String,
    /// A block has 2^`offset_bits` positions.
    offset_bits: u32,
    /// 0: nothing is continued.
    resumed_blocks: u64,
    /// `block-pull`, `block-push`, `retrograde` or `forward`.
    strategy: &'static str,
    /// `remove`: one block of each isomorphic group is evaluated; `keep`: all.
    redundancy: String,
    /// Blocks loaded, by strategies that load blocks.
    block_loads: u64,
    /// Bytes of these loads.
    block_bytes_read: u64,
    /// Bytes of blocks stored by these strategies.
    block_bytes_written: u64,
    /// Upper bound of the disk space in use at a time.
    disk_bytes_peak: u64,
    /// Instruction set of the kernel.
    kernel: String,
    /// Requested threads.
    threads: usize,
    /// Workers that ran.
    workers: usize,
    /// `none`.
    placement: &'static str,
    /// `none`.
    codec: &'static str,
    /// Memory budget.
    memory_bytes: u64,
    /// Memory of the workers.
    peak_leased_bytes: u64,
    /// Batches of blocks that were saved.
    commits: u64,
    /// Time of all threads together by stage.
    stages_s: BTreeMap<&'static str, f64>,
    /// Bytes of bitmap processed: settled and applied.
    bitmap_bytes: u64,
}

impl SolveArgs {
    /// Returns the strategy.
    fn baseline(&self) -> Result<Baseline, Refused> {
        let baseline = (self.strategy)(self.redundancy.unwrap_or(Redundancy::Remove));
        let redundancy = self.redundancy.map(|kept| ("redundancy", chosen(kept), "it visits every position"));
        let isa = self.kernel.kernel.map(Kernel::isa).filter(|isa| *isa != Isa::Scalar);
        let kernel = isa.map(|isa| ("kernel", isa.to_string(), "it takes one position at a time"));
        match redundancy.or(kernel).filter(|_| baseline.redundancy().is_none()) {
            Some((name, value, reason)) => {
                let message = format!("--{name} {value} cannot be used with --strategy {baseline}: {reason}");
                Err(Refused::new(message, LEAVE_OUT))
            }
            None => Ok(baseline),
        }
    }

    /// Returns the game in its layout, the resources, and the bytes of its database.
    fn planned(&self, board: &Board) -> anyhow::Result<(Game, Resources, u64)> {
        let solve = self.resources.bound(Solve::new(board, self.rule)).keep(Keep::Database).audit(Audit::None);
        let plan = self.blocks.bound(solve)?.plan(false)?;
        let layout = Layout::from_cells(board, &plan.shape.bid_cells)?;
        let game = Game { board: board.clone(), rule: self.rule, layout };
        let resources = Resources { memory_bytes: plan.memory.budget_bytes, ..self.resources.of_a_part() };
        Ok((game, resources, plan.database_bytes))
    }
}

/// The resources that a strategy needs.
#[derive(Debug)]
struct Needs {
    /// The number of workers that fit the memory.
    workers: usize,
    /// Blocks that are evaluated, or divided from the board when it is in memory.
    blocks: u64,
    /// Updates between blocks.
    updates: u64,
}

impl Needs {
    /// Refuses a solve that needs more memory or disk than is available.
    fn of(
        game: &Game,
        baseline: Baseline,
        resources: Resources,
        (database_bytes, free_bytes): (u64, u64),
    ) -> anyhow::Result<Needs> {
        let layout = &game.layout;
        let scratch_blocks = baseline::scratch_blocks(layout, baseline);
        if scratch_blocks > CANONICAL_BLOCKS_MAX {
            return Err(PlanError::Blocks { found: scratch_blocks, most: CANONICAL_BLOCKS_MAX }.into());
        }
        let Options { memory_bytes, threads, .. } = resources.options();
        let workers = baseline::workers(layout, baseline, memory_bytes, threads);
        let budget_bytes = resources.memory_bytes;
        let needed_bytes = PROGRAM_BYTES + baseline::footprint_bytes(layout, baseline, 1);
        if workers == 0 && baseline.redundancy().is_none() {
            let [budget, needed] = [binary(budget_bytes), binary_up(needed_bytes)];
            let message = format!("a memory budget of {budget} is too small: the whole board in memory needs {needed}");
            let hint = "raise --memory, or use a strategy that works in blocks: block-pull or block-push";
            return Err(Refused::with(Exit::System, message, hint).into());
        }
        if workers == 0 {
            let block_bytes = (1_u64 << layout.offset_bits()).div_ceil(8);
            return Err(PlanError::Memory { needed_bytes, budget_bytes, block_bytes }.into());
        }
        let needed_bytes = baseline::scratch_bytes(layout, baseline) + database_bytes;
        if needed_bytes > free_bytes {
            let hint = "nothing was written; free disk space, or choose --out on a larger disk";
            let message = PlanError::Disk { needed_bytes, free_bytes }.to_string();
            return Err(Refused::with(Exit::System, message, hint).into());
        }
        let counts = Counts::of(layout);
        let (blocks, updates) = match baseline.redundancy() {
            Some(Redundancy::Keep) => (counts.blocks, counts.updates),
            _ => (counts.canonical_blocks, counts.canonical_updates),
        };
        Ok(Needs { workers, blocks, updates })
    }
}

pub fn run(args: SolveArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let watch = Stopwatch::start();
    let signals = Signals::register()?;
    let baseline = args.baseline()?;
    let board = args.board.solvable()?;
    let usual = || format!("{}-{baseline}", default_folder(&board, args.rule, Values::Outcomes)).into();
    let folder: PathBuf = args.out.clone().unwrap_or_else(usual);
    if let Some(occupant) = occupant(&folder)? {
        let hint = "the papers' strategies keep no checkpoints: name a new folder with --out, or remove this one";
        return Err(Refused::new(format!("{} is not empty: it holds {occupant}", folder.display()), hint).into());
    }
    args.parents.check(&folder)?;
    let shown = args.progress.on(out)?;
    let (game, resources, needs) = out.announcing("planning", || {
        let (game, resources, database_bytes) = args.planned(&board)?;
        let needs = Needs::of(&game, baseline, resources, (database_bytes, free_bytes(&folder)))?;
        Ok::<_, anyhow::Error>((game, resources, needs))
    })?;
    let (blocks, workers) = (counted(needs.blocks, "block"), counted(needs.workers as u64, "worker"));
    let block_positions = counted(1 << game.layout.offset_bits(), "position");
    let how = format!("{baseline}, {blocks} of {block_positions}, {workers}");
    out.remark(format_args!("{}: {how}; it keeps no checkpoints", folder.display()));
    let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(&folder)?);
    let options = Options { stop: signals.stop.clone(), ..resources.options() };
    let kernel = match baseline.redundancy() {
        None => Kernel::new(Isa::Scalar).unwrap_or_else(|_| Kernel::detect()),
        Some(_) => args.kernel.kernel.unwrap_or_else(Kernel::detect),
    };
    let (metrics, counters) = <(Metrics, Counters)>::default();
    let positions = 1_u64 << board.cells();
    let status = |elapsed: f64| match baseline.redundancy() {
        None => in_memory(&counters, positions, elapsed),
        Some(_) => in_blocks(&metrics, &counters, &needs, positions, elapsed),
    };
    let start_over = format!("remove {} and start over", quoted(&folder.to_string_lossy()));
    let work = |_: Say<'_>| baseline::solve(&game, kernel, baseline, &storage, &options, &metrics, &counters);
    let solved = match during(&status, &signals, &shown, work).flatten() {
        Err(error @ Error::Locked { .. }) => return Err(owner::in_use(error, &folder)),
        Err(Error::Interrupted) => {
            let hint = format!("this strategy keeps no checkpoints: {start_over}");
            return Err(Stopped { exit: signals.exit(), hint }.into());
        }
        Err(error) => {
            let error = error.into();
            let exit = classify(&error, false).map_or(Exit::System, |(exit, _)| exit);
            let is_begun = storage::occupant(&folder).is_ok_and(|occupant| occupant.is_some());
            let hint = format!("fix the cause, {start_over}");
            let is_lost = is_begun && [Exit::System, Exit::Corrupt].contains(&exit);
            return Err(if is_lost { Refused::with(exit, reason(&error), hint).into() } else { error });
        }
        Ok(solved) => solved,
    };
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (counts, elapsed_s) = (metrics.snapshot(), watch.elapsed().as_secs_f64());
    let block_bytes = (1_u64 << game.layout.offset_bits()).div_ceil(8);
    let report = Report {
        finished: true,
        summary: Summary::new(&solved.manifest, &game),
        elapsed_s,
        rate_positions_per_second: positions as f64 / elapsed_s.max(1e-9),
        peak_rss_bytes: peak_rss_bytes(),
        log_bytes_written: 0,
        log_bytes_read: 0,
        log_bytes_peak: 0,
        streams_read: 0,
        streams_held: 0,
        published_bytes_read: 0,
        database_bytes: solved.database_bytes,
        out: folder.to_string_lossy().into_owned(),
        offset_bits: game.layout.offset_bits(),
        resumed_blocks: 0,
        strategy: baseline.name(),
        redundancy: chosen(baseline.redundancy().unwrap_or(Redundancy::Keep)),
        block_loads: of(&counters.block_loads),
        block_bytes_read: of(&counters.block_bytes_read),
        block_bytes_written: of(&counters.block_bytes_written),
        // Scratch files are removed before the last bytes of the database are written.
        disk_bytes_peak: of(&counters.scratch_bytes) + solved.database_bytes,
        kernel: kernel.isa().to_string(),
        threads: resources.threads,
        workers: needs.workers,
        placement: "none",
        codec: "none",
        memory_bytes: resources.memory_bytes,
        peak_leased_bytes: solved.peak_leased_bytes,
        commits: counts.commits,
        stages_s: Stage::ALL.iter().map(|stage| (stage.name(), metrics.stage(*stage).as_secs_f64())).collect(),
        bitmap_bytes: (counts.blocks_computed + counts.edges_applied) * block_bytes,
    };
    args.json.report("trinim.papers.solve/1", &report, out, print)
}

/// Returns the progress of a solve in blocks after `elapsed` seconds.
fn in_blocks(metrics: &Metrics, counters: &Counters, needs: &Needs, positions: u64, elapsed: f64) -> Reading {
    let counts = metrics.snapshot();
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let block_bytes = of(&counters.block_bytes_read) + of(&counters.block_bytes_written);
    let moved = bytes_per_second(block_bytes as f64 / elapsed);
    let (blocks, finished_blocks) = (needs.blocks, counts.blocks_computed);
    let share = (finished_blocks + counts.edges_applied) as f64 / (blocks + needs.updates) as f64;
    let rate = positions as f64 * finished_blocks as f64 / blocks as f64 / elapsed;
    let reading = at_share(share, elapsed, |left| {
        let rate = per_second(rate, "positions");
        format!("solving  ETA {left}  {finished_blocks}/{blocks} blocks  {rate}  blocks {moved}")
    });
    let blocks = Blocks { blocks, finished_blocks, ..Blocks::default() };
    Reading { rate_positions_per_second: Some(rate), blocks: Some(blocks), ..reading }
}

/// Returns the progress of a solve in memory after `elapsed` seconds; dividing the board into
/// blocks takes little of the time.
fn in_memory(counters: &Counters, positions: u64, elapsed: f64) -> Reading {
    let visited = counters.positions_visited.load(Ordering::Relaxed);
    let phase = if visited == positions { "publishing" } else { "solving" };
    let rate = visited as f64 / elapsed;
    let shown = per_second(rate, "positions");
    let share = visited as f64 / positions as f64;
    let reading = at_share(share, elapsed, |left| format!("{phase}  ETA {left}  {shown}"));
    Reading { rate_positions_per_second: Some(rate), ..reading }
}

fn print(report: &Report, out: &mut Out) -> anyhow::Result<()> {
    let size = |bytes: u64| Size(bytes).to_string();
    let mut rows = report.summary.rows(out.paint);
    rows.push(report.summary.kept(report.database_bytes, &report.out));
    let moved = match report.block_bytes_written {
        0 => "the whole board in memory, one position at a time".to_owned(),
        written => {
            let kept = if report.redundancy == "keep" { "kept" } else { "removed" };
            let loads = counted(report.block_loads, "load");
            let [read, written, peak] = [report.block_bytes_read, written, report.disk_bytes_peak].map(size);
            format!("redundancy {kept}: {loads} of blocks, {read} read, {written} written, {peak} on disk at most")
        }
    };
    rows.push(("strategy", format!("{}, {moved}", report.strategy)));
    rows.push(("memory", format!("{} at most, of {}", size(report.peak_rss_bytes), size(report.memory_bytes))));
    let (rate, workers) = (report.rate_positions_per_second, counted(report.workers as u64, "worker"));
    let time =
        format!("{} ({}), {workers}, {}", seconds(report.elapsed_s), per_second(rate, "positions"), report.kernel);
    rows.push(("time", time));
    Ok(out.table(&rows)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest budget in the error suffices, and one byte less does not; the same holds for
    /// the disk.
    #[test]
    fn what_is_named_as_the_least_would_do() {
        let game = Game::triangle(7, Rule::Misere, 20).unwrap();
        let kept = 1 << 20;
        for baseline in [
            Baseline::Forward,
            Baseline::Retrograde,
            Baseline::BlockPush(Redundancy::Keep),
            Baseline::BlockPull(Redundancy::Remove),
        ] {
            let of = |memory_bytes, disk| {
                let resources = Resources { memory_bytes, threads: 3, ..Resources::default() };
                Needs::of(&game, baseline, resources, (kept, disk))
            };
            let refused = of(1, u64::MAX).unwrap_err();
            let least = PROGRAM_BYTES + baseline::footprint_bytes(&game.layout, baseline, 1);
            assert!(refused.to_string().contains(&binary_up(least)), "{baseline}: {refused}");
            assert!(of(least - 1, u64::MAX).is_err());
            assert_eq!(of(least, u64::MAX).unwrap().workers, 1);
            let needed_bytes = baseline::scratch_bytes(&game.layout, baseline) + kept;
            assert!(of(least, needed_bytes).is_ok());
            let error: Refused = of(least, needed_bytes - 1).unwrap_err().downcast().unwrap();
            let least = PlanError::Disk { needed_bytes, free_bytes: needed_bytes - 1 };
            assert_eq!((error.exit, error.to_string()), (Exit::System, least.to_string()));
        }
    }
}
