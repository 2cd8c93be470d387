//! Commands on a whole store, before and after its tasks: `trinim task init`, `list`, `plan`,
//! `finish`, `copy` and `sweep`.

use super::store::{self, OpenStore, StoreArgs};
use super::{lines, usage};
use clap::Args;
use pipeline::Stopwatch;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;
use terminal::exit::Exit;
use terminal::output::{Out, counted, note, seconds};
use trinim::cli::args::{self, BlocksArgs, JsonArgs, MemoryArgs, Size, ThreadsArgs};
use trinim::cli::board::RequiredBoard;
use trinim::cli::machine::peak_rss_bytes;
use trinim::cli::summary::{GameFields, Summary};
use trinim::database::{Audit, Game, Keep, Terms};
use trinim::game::Rule;
use trinim::job::KeepChoice;
use trinim::kernel::Kernel;

const INIT_EXAMPLES: &str = "\
Examples:
  trinim task init --store k5 --layers 5 --block-bits 11
  trinim task init --store k5 --layers 5 --block-bits 11    again: nothing changes
  trinim task init --store k4 --layers 4 --keep counts      blocks go when nothing needs them

The store is a new or empty folder, or one that was created for the same solve; for another solve, the exit code is \
65.";

/// Create the store of a solve on many machines
#[derive(Args)]
#[command(after_help = INIT_EXAMPLES)]
pub struct InitArgs {
    #[command(flatten)]
    pub store: StoreArgs,

    #[command(flatten)]
    board: RequiredBoard,

    /// Whether taking the last piece loses (misere) or wins (normal)
    #[arg(long, help_heading = "Game", value_name = "RULE", value_parser = args::rule(), default_value = "misere")]
    rule: Rule,

    /// What to keep: database (every value), or counts (only counts and winning first moves)
    /// [default: database]
    #[arg(long, help_heading = "Output", value_name = "WHAT", value_parser = args::keep)]
    keep: Option<KeepChoice>,

    /// Compare a share of the blocks with their children before saving: 1%, all, or none [default:
    /// none; from nine layers on, 1%]
    #[arg(long, help_heading = "Output", value_name = "SHARE|all|none")]
    audit: Option<Audit>,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    blocks: BlocksArgs,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim task init` prints.
#[derive(Serialize, JsonSchema)]
pub struct InitReport {
    /// The store.
    store: String,
    /// False if it was created before, for the same solve.
    is_new: bool,
    #[serde(flatten)]
    game: GameFields,
    /// `database` or `counts`.
    keep: Keep,
    /// Indices of the cells whose pieces number the blocks, lowest bit first.
    bid_cells: Vec<u8>,
    /// All blocks.
    blocks: u64,
    /// Blocks that are computed.
    canonical_blocks: u32,
    /// A block has 2^`offset_bits` positions.
    offset_bits: u32,
    /// Bitmap of a block.
    block_bytes: u64,
}

pub fn init(args: InitArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let board = args.board.solvable()?;
    let keep = match args.keep {
        None => Keep::Database,
        Some(KeepChoice::Exactly(keep @ (Keep::Database | Keep::Counts))) => keep,
        Some(_) => {
            return Err(usage(
                "--keep: a store cannot keep a book".to_owned(),
                "--keep database keeps every value, --keep counts only counts and winning first moves",
            ));
        }
    };
    let layout = args.blocks.layout(&board, args.memory.bytes_of(1))?;
    let game = Game { board, rule: args.rule, layout };
    let audit = args.audit.unwrap_or_else(|| Audit::usual(&game.board));
    let terms = Terms { keep, audit, ..Terms::default() };
    let store = store::create(&args.store.name)?;
    let spec = terms.spec(&game);
    let is_new = trinim_task::init(&*store, spec)?;
    // A store that was begun earlier keeps the order of its BID bits.
    let layout = &trinim_task::open(&*store)?.0.layout;
    let report = InitReport {
        store: args.store.name,
        is_new,
        game: GameFields::new(&game.board, args.rule),
        keep,
        bid_cells: layout.bid_cells().to_vec(),
        blocks: layout.blocks(),
        canonical_blocks: spec.blocks(),
        offset_bits: layout.offset_bits(),
        block_bytes: 8 * spec.stream_words() as u64,
    };
    args.json.report("trinim.task.init/1", &report, out, print_begun)
}

fn print_begun(report: &InitReport, out: &mut Out) -> anyhow::Result<()> {
    let state = if report.is_new { "new" } else { "created before, for the same solve" };
    let blocks = counted(report.canonical_blocks.into(), "block");
    Ok(out.table(&[
        ("store", format!("{}, {state}", report.store)),
        ("board", report.game.to_string()),
        ("blocks", format!("{blocks} of 2^{} positions, {} each", report.offset_bits, Size(report.block_bytes))),
        ("kept", report.keep.limits()),
    ])?)
}

const LIST_EXAMPLES: &str = "\
Examples:
  trinim task list --store k5
  trinim task list --store k5 --json

The command lists names and reads no block. A shared file system or an object store can show new names late.";

/// List the committed blocks of a store
#[derive(Args)]
#[command(after_help = LIST_EXAMPLES)]
pub struct ListArgs {
    #[command(flatten)]
    pub store: StoreArgs,

    #[command(flatten)]
    json: JsonArgs,
}

/// Committed blocks with consecutive numbers, on a line of their own.
#[derive(Serialize, JsonSchema)]
pub struct BlockRange {
    /// The first of them.
    first: u32,
    /// The last of them.
    last: u32,
}

pub fn list(args: &ListArgs, store: &OpenStore, out: &mut Out) -> anyhow::Result<Exit> {
    let committed = trinim_task::committed(&*store.files, store.spec())?;
    if args.json.json {
        for run in committed.chunk_by(|one, next| one.0 + 1 == next.0) {
            out.json_line("trinim.task.list/1", &BlockRange { first: run[0].0, last: run[run.len() - 1].0 })?;
        }
        return Ok(Exit::Done);
    }
    let all = counted(store.spec().blocks().into(), "block");
    writeln!(out, "{} of {all} committed", committed.len())?;
    Ok(Exit::Done)
}

const PLAN_EXAMPLES: &str = "\
Examples:
  trinim task plan --store k5
  trinim task plan --store k5 --batches 4

One JSON object a line, sources before their targets.";

/// List the blocks of a store and what each needs, as JSON lines
#[derive(Args)]
#[command(after_help = PLAN_EXAMPLES)]
pub struct PlanArgs {
    #[command(flatten)]
    pub store: StoreArgs,

    /// Group blocks that share sources into about N batches [default: one block each; for more than
    /// 100000 blocks, 50000 batches]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batches: Option<u32>,
}

/// Number of batches if there are too many blocks for one task each.
const BATCHES: u32 = 50_000;

pub fn plan(args: &PlanArgs, store: &OpenStore, out: &mut Out) -> anyhow::Result<Exit> {
    match args.batches.or((store.spec().blocks() > trinim_task::ALONE).then_some(BATCHES)) {
        None => {
            for row in trinim_task::plan(store.spec()) {
                out.json_line("trinim.task.plan/1", &row)?;
            }
        }
        Some(wanted) => {
            for row in trinim_task::batches(store.spec(), wanted) {
                out.json_line("trinim.task.plan.batches/1", &row)?;
            }
        }
    }
    Ok(Exit::Done)
}

const FINISH_EXAMPLES: &str = "\
Examples:
  trinim task init --store one --layers 3
  trinim task --store one --batch 0
  trinim task finish --store one --json

The db folder of the store is then a database, which trinim verify checks. If blocks are missing, the command prints \
their number, and the exit code is 75.";

/// Make the database of a store whose blocks are all committed
#[derive(Args)]
#[command(after_help = FINISH_EXAMPLES)]
pub struct FinishArgs {
    #[command(flatten)]
    pub store: StoreArgs,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim task finish` prints.
#[derive(Serialize, JsonSchema)]
pub struct FinishReport {
    /// True.
    finished: bool,
    #[serde(flatten)]
    summary: Summary,
    /// Wall-clock time of this command.
    elapsed_s: f64,
    /// Highest resident memory of this process.
    peak_rss_bytes: u64,
    /// Size of the database, or of the kept part.
    database_bytes: u64,
    /// The store.
    out: String,
    /// A block has 2^`offset_bits` positions.
    offset_bits: u32,
}

/// Interval between progress messages.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// Reports from time to time how many of `blocks` are done.
fn progress(out: &Out, blocks: u32, done: &'static str) -> impl FnMut(u32) + Send + use<> {
    let (quiet, mut last) = (out.quiet, Stopwatch::start());
    move |number| {
        if !quiet && number < blocks && last.elapsed() >= REPORT_EVERY {
            last = Stopwatch::start();
            note(format_args!("{number} of {} {done}", counted(blocks.into(), "block")));
        }
    }
}

/// Threads that read summaries from a bucket: they wait for its answers most of the time.
const BUCKET_THREADS: usize = 64;

pub fn finish(args: &FinishArgs, store: &OpenStore, watch: &Stopwatch, out: &mut Out) -> anyhow::Result<Exit> {
    let progress = progress(out, store.spec().blocks(), "summed up");
    let threads = if store.is_folder() { args::all_if_zero(0) } else { BUCKET_THREADS };
    let sealed = trinim_task::finish(&*store.files, store.spec(), Kernel::detect(), threads, progress)?;
    let report = FinishReport {
        finished: true,
        summary: Summary::new(&sealed.manifest, &store.game),
        elapsed_s: watch.elapsed().as_secs_f64(),
        peak_rss_bytes: peak_rss_bytes(),
        database_bytes: sealed.database_bytes,
        out: store.name.clone(),
        offset_bits: store.game.layout.offset_bits(),
    };
    args.json.report("trinim.task.finish/1", &report, out, |report, out| {
        let mut rows = report.summary.rows(out.paint);
        rows.push(report.summary.kept(report.database_bytes, &report.out));
        rows.push(("time", seconds(report.elapsed_s)));
        Ok(out.table(&rows)?)
    })
}

const COPY_EXAMPLES: &str = "\
Examples:
  trinim task copy --store one --to here
  trinim task copy --store one --to here --json     again: what is there is only compared

Each file is compared with what was committed before it is written. The copy is a store of its own; its db folder is \
the database. From a bucket: trinim task copy --store s3://BUCKET/PREFIX --to DIR";

/// Copy a finished store, or continue a copy
#[derive(Args)]
#[command(after_help = COPY_EXAMPLES)]
pub struct CopyArgs {
    #[command(flatten)]
    pub store: StoreArgs,

    /// Destination: a new or empty folder or prefix, or that of a stopped copy
    #[arg(long, value_name = "STORE")]
    to: String,

    #[command(flatten)]
    threads: ThreadsArgs,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim task copy` prints.
#[derive(Serialize, JsonSchema)]
pub struct CopyReport {
    /// The store.
    store: String,
    /// Where the copy is.
    to: String,
    #[serde(flatten)]
    copied: trinim_task::CopyWork,
}

pub fn copy(args: &CopyArgs, store: &OpenStore, out: &mut Out) -> anyhow::Result<Exit> {
    // Checked before anything is created.
    trinim_task::require_sealed(&*store.files)?;
    let to = store::create(&args.to)?;
    let progress = progress(out, store.spec().blocks(), "copied");
    let copied = trinim_task::copy(&*store.files, &*to, store.spec(), None, args.threads.count(), progress)?;
    let report = CopyReport { store: store.name.clone(), to: args.to.clone(), copied };
    args.json.report("trinim.task.copy/1", &report, out, |CopyReport { to, copied, .. }, out| {
        Ok(out.table(&[
            ("copied", format!("{}, {}, to {to}", counted(copied.files, "file"), Size(copied.bytes))),
            ("present", format!("{}, with the same bytes", counted(copied.present, "file"))),
        ])?)
    })
}

const SWEEP_EXAMPLES: &str = "\
Examples:
  trinim task sweep --store k5
  trinim task sweep --store k5 --older-than 1d --json

In a store that keeps only counts, the file of a block is removed once the blocks that read it are committed. Killed \
tasks leave temporary files; a running task still needs its own.";

/// Remove files that a store no longer needs
#[derive(Args)]
#[command(after_help = SWEEP_EXAMPLES)]
pub struct SweepArgs {
    #[command(flatten)]
    pub store: StoreArgs,

    /// Least age of temporary files to remove, like 1h, 2d, or 0s for all
    #[arg(long, value_name = "TIME", value_parser = super::pause, default_value = "1h")]
    older_than: Duration,

    /// Then continue: each line of standard input lists the blocks of another finished task
    #[arg(long)]
    follow: bool,

    #[command(flatten)]
    json: JsonArgs,
}

/// Lines at a time, because a bucket is slow to answer.
const LINES_AT_ONCE: usize = 16;

pub fn sweep(args: &SweepArgs, store: &OpenStore, out: &mut Out) -> anyhow::Result<Exit> {
    let sweeper = trinim_task::Sweeper::new(&*store.files, store.spec(), args.older_than)?;
    if args.follow {
        lines::each(None, LINES_AT_ONCE, |blocks| Ok(sweeper.committed(&super::ids(blocks))?))?;
    }
    let swept = sweeper.swept();
    args.json.report("trinim.task.sweep/1", &swept, out, |swept, out| {
        Ok(out.table(&[
            ("removed", format!("{}, {}", counted(swept.blocks, "file"), Size(swept.block_bytes))),
            ("temporary", counted(swept.temporary_files, "file")),
        ])?)
    })
}
