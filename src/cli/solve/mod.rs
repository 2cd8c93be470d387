//! `trinim solve`: solves a board, or goes on solving it.

use super::args::{self, GameArgs, JsonArgs, KernelArgs, Size};
use super::exit::{Exit, Refused, Stopped};
use super::output::{Out, counted, grouped, per_second, seconds};
use super::progress::{self, Total};
use super::signals::Signals;
use clap::Args;
use pipeline::checkpoint::{self, Inspection, LOGS, PUBLISHED};
use pipeline::engine::{Event, Options};
use pipeline::metrics::{Metrics, Stage, Stopwatch};
use pipeline::storage::{RealStorage, Storage};
use pipeline::{Candidate, Error};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use trinim::board::{Board, Cell};
use trinim::database::{MANIFEST, Manifest, SUMS};
use trinim::layout::Layout;
use trinim::outcome::Value;
use trinim::plan::{self, Plan, Request, placement_name, rates};
use trinim::solve::{BlockSummary, Problem, parameters};

/// The most layers this version solves; larger boards can be planned.
pub const LAYERS_MAX: u32 = 9;

const EXAMPLES: &str = "\
Examples:
  trinim solve --layers 7                         misère, in ./trinim-k7-misere
  trinim solve --layers 7 --rule normal --json    the result as JSON
  trinim solve --layers 8 --memory 256MiB --out /data/k8
  trinim solve --layers 5 --max-take 3            at most three pieces a move

The same command goes on after any interruption. The first SIGINT or SIGTERM stops after a checkpoint, a second one \
leaves at once; SIGUSR1 prints a status line. A finished folder is reported again. When neither --bid-cells nor \
--block-bits is given, a folder that was begun keeps its layout.";

/// Solve a board, or go on solving it
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct SolveArgs {
    #[command(flatten)]
    game: GameArgs,

    #[command(flatten)]
    kernel: KernelArgs,

    /// Folder of the run [default: trinim-k<K>-<RULE> in the current folder]
    #[arg(long, short, value_name = "DIR", env = "TRINIM_OUT")]
    out: Option<PathBuf>,

    #[command(flatten)]
    json: JsonArgs,

    /// Never wait for the disk: a power cut may cost the whole run. For measurements
    #[arg(long, hide = true, env = "TRINIM_NO_SYNC", value_parser = clap::builder::FalseyValueParser::new())]
    no_sync: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    layers: u32,
    rule: String,
    max_take: Option<u32>,
    positions: u64,
    wins: u64,
    losses: u64,
    loss_rate: f64,
    start: String,
    digest: String,
    elapsed_s: f64,
    peak_rss_bytes: u64,
    log_bytes_written: u64,
    log_bytes_read: u64,
    log_bytes_peak: u64,
    database_bytes: u64,
    out: String,
    bid_cells: Vec<u8>,
    offset_bits: u32,
    blocks: u64,
    canonical_blocks: u64,
    resumed_blocks: u64,
    kernel: String,
    threads: usize,
    workers: usize,
    placement: &'static str,
    codec: String,
    codec_candidates: Vec<CodecRow>,
    memory_bytes: u64,
    peak_leased_bytes: u64,
    commits: u64,
    stages_s: BTreeMap<&'static str, f64>,
}

/// What was measured of a codec when the choice was left to the engine.
#[derive(Serialize)]
struct CodecRow {
    codec: &'static str,
    ratio: f64,
    encode_bytes_per_second: f64,
    decode_bytes_per_second: f64,
}

impl CodecRow {
    fn of(measured: &Candidate) -> CodecRow {
        CodecRow {
            codec: measured.codec,
            ratio: measured.ratio,
            encode_bytes_per_second: measured.encode_bytes_per_second,
            decode_bytes_per_second: measured.decode_bytes_per_second,
        }
    }
}

/// What is to be solved, and where.
struct Run<'a> {
    args: &'a SolveArgs,
    board: &'a Board,
    layout: &'a Layout,
    folder: &'a Path,
    /// What an earlier session left in the folder.
    begun: Option<&'a Inspection>,
}

/// The result, and what is known of how it was reached.
struct Outcome {
    manifest: Manifest,
    database_bytes: u64,
    resumed_blocks: u64,
    workers: usize,
    candidates: Vec<Candidate>,
    peak_leased_bytes: u64,
}

/// Runs the subcommand.
pub fn run(args: SolveArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let watch = Stopwatch::start();
    let signals = Signals::register()?;
    let game = &args.game;
    if game.layers > LAYERS_MAX {
        return Err(Refused::new(
            format!("a board of {} layers cannot be solved: expected 1 to {LAYERS_MAX}", game.layers),
            format!("trinim plan --layers {} shows what it would take", game.layers),
        )
        .into());
    }
    let board = game.board()?;
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&board, game));
    let begun = inspect(&folder)?;
    let layout = layout(&board, game, &folder, begun.as_ref())?;
    let metrics = Metrics::default();
    let run = Run { args: &args, board: &board, layout: &layout, folder: &folder, begun: begun.as_ref() };
    let outcome = match finished(&run)? {
        Some(outcome) => {
            out.remark(format_args!("{} is finished; nothing is written", folder.display()));
            outcome
        }
        None => solve(&run, &metrics, &signals, out)?,
    };
    let report = report(&run, outcome, &metrics, watch.elapsed().as_secs_f64());
    if args.json.json {
        out.json(&report)?
    } else {
        print(&report, out)?
    }
    Ok(Exit::Done)
}

fn default_folder(board: &Board, game: &GameArgs) -> PathBuf {
    let take = board.max_take().map_or(String::new(), |take| format!("-take{take}"));
    format!("trinim-k{}-{}{take}", game.layers, game.rule).into()
}

/// What an existing folder says of a run that was begun in it.
fn inspect(folder: &Path) -> anyhow::Result<Option<Inspection>> {
    if !folder.exists() {
        return Ok(None);
    }
    let storage = RealStorage::open(folder)?;
    match checkpoint::inspect(&storage) {
        Ok(inspection) => Ok(Some(inspection)),
        Err(Error::NotARun { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The layout: given by hand, kept from a run that was begun, or chosen.
fn layout(board: &Board, game: &GameArgs, folder: &Path, begun: Option<&Inspection>) -> anyhow::Result<Layout> {
    if let Some(cells) = &game.bid_cells {
        return Ok(Layout::new(board, &cells.0)?);
    }
    if let Some(bits) = game.block_bits {
        return Ok(Layout::suggested(board, bits));
    }
    let Some(begun) = begun else { return Ok(plan::choose_layout(board, game.memory.0)) };
    // Before the layout of another board is looked at, say that it is another board.
    let anything = Layout::new(board, &[])?;
    for (name, wanted) in parameters(board, game.rule, &anything) {
        let found = begun.parameters.get(&name).unwrap_or("(absent)").to_owned();
        if !name.ends_with("-cells") && found != wanted {
            return Err(Error::Parameters { path: folder.join(checkpoint::FORMAT), name, found, wanted }.into());
        }
    }
    let cells = begun.parameters.get("bid-cells").unwrap_or_default();
    let cells: Result<Vec<Cell>, _> = cells
        .split(',')
        .filter(|index| !index.is_empty())
        .map(|index| index.parse::<u8>().map(|index| Cell::from_index(u32::from(index))))
        .collect();
    match cells.ok().and_then(|cells| Layout::new(board, &cells).ok()) {
        Some(layout) => Ok(layout),
        // The folder's parameters are not of this program; opening it will say so.
        None => Ok(plan::choose_layout(board, game.memory.0)),
    }
}

/// The result of a folder that is finished, read without changing anything; `None` when there is still something to do.
fn finished(run: &Run<'_>) -> anyhow::Result<Option<Outcome>> {
    let Run { board, layout, folder, begun, .. } = *run;
    let game = &run.args.game;
    let Some(begun) = begun else { return Ok(None) };
    let same = parameters(board, game.rule, layout)
        .iter()
        .all(|(name, value)| begun.parameters.get(name) == Some(value.as_str()));
    if !same || begun.records.len() != layout.canonical_blocks().len() {
        return Ok(None);
    }
    let storage = RealStorage::open(folder)?;
    let Some(sums_bytes) = storage.length(&format!("{PUBLISHED}/{SUMS}"))? else { return Ok(None) };
    let records: BTreeMap<u32, _> = begun.records.iter().map(|record| (record.block, record)).collect();
    let summaries: Option<Vec<BlockSummary>> =
        records.values().map(|record| BlockSummary::from_bytes(&record.summary)).collect();
    let Some(summaries) = summaries else { return Ok(None) };
    let manifest = Manifest::new(board, game.rule, layout, &summaries);
    let manifest_bytes = manifest.to_json().len() as u64;
    let mut expected = vec![(format!("{PUBLISHED}/{MANIFEST}"), manifest_bytes)];
    let published = begun.records.iter().filter_map(|record| record.published.as_ref());
    expected.extend(published.map(|file| (file.name.clone(), file.length)));
    let mut database_bytes = sums_bytes;
    for (name, length) in expected {
        let found = storage.length(&name)?;
        if found != Some(length) {
            let found = found.map_or("no file".to_owned(), |found| format!("{found} bytes"));
            let expected = format!("{length} bytes");
            return Err(Error::corrupt(storage.path(&name), 0, "length of a published file", expected, found).into());
        }
        database_bytes += length;
    }
    let resumed_blocks = records.len() as u64;
    let candidates = Vec::new();
    Ok(Some(Outcome { manifest, database_bytes, resumed_blocks, workers: 0, candidates, peak_leased_bytes: 0 }))
}

fn solve(run: &Run<'_>, metrics: &Metrics, signals: &Signals, out: &Out) -> anyhow::Result<Outcome> {
    let Run { args, board, layout, folder, begun } = *run;
    let game = &args.game;
    let request = request(board, game);
    let plan = Plan::of(request, layout)?;
    plan.check(free_bytes(folder), used_bytes(folder))?;
    out.remark(format_args!(
        "{}: {} of {}, {}, about {}",
        folder.display(),
        counted(plan.shape.canonical_blocks, "block"),
        counted(1 << layout.offset_bits(), "position"),
        counted(plan.memory.workers as u64, "worker"),
        seconds(plan.chosen().seconds),
    ));

    let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(folder)?.with_syncs(!args.no_sync));
    let options = Options {
        threads: request.threads,
        memory_bytes: plan::engine_bytes(game.memory.0),
        placement: request.placement,
        codec: game.codec.choice,
        commit_interval: game.commit_interval,
        sorted: true,
        run_id: random(),
        stop: signals.stop.clone(),
    };
    let problem = Problem { board, rule: game.rule, layout, kernel: args.kernel.kernel.kernel() };
    let total = total(layout, begun, &plan);
    let started = AtomicUsize::new(0);
    let observe = |event: &Event| {
        if let Event::Opened { workers, .. } = event {
            started.store(*workers, Ordering::Relaxed);
        }
    };
    let status = |elapsed: f64| progress::of_solve(metrics, &total, elapsed);
    let work = || trinim::solve::solve(problem, &storage, &options, metrics, &observe);
    let solved = match progress::during(&status, signals, out.quiet, out.error_paint, work) {
        Err(Error::Interrupted) => {
            let safe = metrics.blocks_committed.load(Ordering::Relaxed);
            let text = format!("{safe} of {} safe in {}", counted(total.blocks, "block"), folder.display());
            return Err(anyhow::Error::new(Stopped(signals.exit())).context(text));
        }
        other => other?,
    };
    Ok(Outcome {
        manifest: solved.manifest,
        database_bytes: solved.database_bytes,
        resumed_blocks: total.resumed_blocks,
        workers: started.into_inner(),
        candidates: solved.candidates,
        peak_leased_bytes: solved.peak_leased_bytes,
    })
}

/// The plan's request for these arguments.
pub fn request<'a>(board: &'a Board, game: &'a GameArgs) -> Request<'a> {
    Request {
        board,
        rule: game.rule,
        memory_bytes: game.memory.0,
        threads: args::all_if_zero(game.threads),
        placement: game.log_placement.placement(game.layers),
        codec: &game.codec.name,
        commit_interval: game.commit_interval,
    }
}

/// Bytes free where `folder` is or will be; unlimited when the system does not say.
pub fn free_bytes(folder: &Path) -> u64 {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let there = folder.ancestors().find(|folder| folder.is_dir());
    let free = there.and_then(|folder| RealStorage::open(folder).ok()).and_then(|storage| storage.free_bytes().ok());
    free.unwrap_or(u64::MAX)
}

/// Bytes that logs and database of an earlier session take already.
fn used_bytes(folder: &Path) -> u64 {
    let Ok(storage) = RealStorage::open(folder) else { return 0 };
    let files = [LOGS, PUBLISHED].into_iter().filter_map(|name| storage.list(name).ok()).flatten();
    files.map(|entry| entry.length).sum()
}

fn total(layout: &Layout, begun: Option<&Inspection>, plan: &Plan) -> Total {
    let finished: BTreeSet<u32> =
        begun.map(|begun| begun.records.iter().map(|record| record.block).collect()).unwrap_or_default();
    let blocks = 0..layout.canonical_blocks().len() as u32;
    let edges = blocks.filter(|block| !finished.contains(block)).map(|block| layout.edges_into(block).len() as u64);
    Total {
        blocks: plan.shape.canonical_blocks,
        resumed_blocks: finished.len() as u64,
        edges: edges.sum(),
        block_positions: 1 << layout.offset_bits(),
        block_weight: rates::block_weight(&plan.rates),
    }
}

/// The identity of a fresh run: random, without influence on the result.
fn random() -> u128 {
    // The standard library keys its hash maps from the system's random numbers.
    let [high, low] = [0u8, 1].map(|half| RandomState::new().hash_one((half, std::process::id())));
    u128::from(high) << 64 | u128::from(low)
}

/// The highest resident memory of this process so far, in bytes; 0 where the system does not say.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kibibytes| kibibytes << 10)
}

fn report(run: &Run<'_>, outcome: Outcome, metrics: &Metrics, elapsed_s: f64) -> Report {
    let Run { args, layout, folder, .. } = *run;
    let Outcome { manifest, .. } = outcome;
    let census = &manifest.census;
    let of = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    Report {
        layers: manifest.layers,
        rule: manifest.rule,
        max_take: manifest.max_take,
        positions: census.positions(),
        wins: census.wins(),
        losses: census.losses(),
        loss_rate: census.loss_rate(),
        start: census.start().to_string(),
        digest: manifest.digest,
        elapsed_s,
        peak_rss_bytes: peak_rss_bytes(),
        log_bytes_written: of(&metrics.log_bytes_written),
        log_bytes_read: of(&metrics.log_bytes_read),
        log_bytes_peak: of(&metrics.log_bytes_peak),
        database_bytes: outcome.database_bytes,
        out: folder.to_string_lossy().into_owned(),
        bid_cells: manifest.bid_cells,
        offset_bits: layout.offset_bits(),
        blocks: layout.blocks(),
        canonical_blocks: layout.canonical_blocks().len() as u64,
        resumed_blocks: outcome.resumed_blocks,
        kernel: args.kernel.kernel.0.to_string(),
        threads: args::all_if_zero(args.game.threads),
        workers: outcome.workers,
        placement: placement_name(args.game.log_placement.placement(args.game.layers)),
        codec: args.game.codec.name.clone(),
        codec_candidates: outcome.candidates.iter().map(CodecRow::of).collect(),
        memory_bytes: args.game.memory.0,
        peak_leased_bytes: outcome.peak_leased_bytes,
        commits: of(&metrics.commits),
        stages_s: Stage::ALL.iter().map(|stage| (stage.name(), metrics.stage(*stage).as_secs_f64())).collect(),
    }
}

fn print(report: &Report, out: &mut Out) -> anyhow::Result<()> {
    let start = Value::from_loss(report.start == "loss");
    let take = report.max_take.map_or(String::new(), |take| format!(", at most {take} pieces a move"));
    let size = |bytes: u64| Size(bytes).to_string();
    let rate = per_second(report.positions as f64 / report.elapsed_s.max(1e-9), "positions");
    let workers = counted(report.workers as u64, "worker");
    let mut rows = vec![
        ("board", format!("{} layers, {}{take}", report.layers, report.rule)),
        ("positions", grouped(report.positions)),
        ("wins", grouped(report.wins)),
        ("losses", format!("{} ({:.4} %)", grouped(report.losses), report.loss_rate * 100.0)),
        ("start", format!("{} for the player to move", out.paint.value(start))),
        ("digest", report.digest.clone()),
        (
            "database",
            format!("{} in {}, {}", size(report.database_bytes), counted(report.canonical_blocks, "block"), report.out),
        ),
    ];
    if report.workers > 0 {
        rows.push((
            "logs",
            format!(
                "{} written, {} read, {} at most; {}, {}",
                size(report.log_bytes_written),
                size(report.log_bytes_read),
                size(report.log_bytes_peak),
                report.placement,
                report.codec
            ),
        ));
        rows.push(("memory", format!("{} at most, of {}", size(report.peak_rss_bytes), size(report.memory_bytes))));
        rows.push(("time", format!("{} ({rate}), {workers}, {}", seconds(report.elapsed_s), report.kernel)));
        if report.resumed_blocks > 0 {
            rows.push(("resumed", format!("{} from earlier sessions", counted(report.resumed_blocks, "block"))));
        }
    }
    out.table(&rows)?;
    Ok(())
}
