//! `trinim task verify`: a share of the check of a finished store.

use super::store::{self, OpenStore, StoreArgs, with_store};
use super::usage;
use clap::Args;
use pipeline::storage::ScratchFolder;
use pipeline::{BlockId, Error as RunError, Stopwatch};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr;
use terminal::exit::{self, Exit, Refused};
use terminal::output::{Out, counted, seconds};
use trinim::cli::args::{JsonArgs, ThreadsArgs};
use trinim::cli::folders::keep_all;
use trinim::cli::work;
use trinim::database::Database;
use trinim::maintenance::Request;
use trinim::verify::{self, Share};
use trinim_task::Error;

const EXAMPLES: &str = "\
Examples:
  trinim task verify --store one --shard 1/1
  trinim task verify --store one --shard 2/3 --json

All shares together check what trinim verify checks: every byte, and every position against its children. The exit \
code is 0 if everything is correct, 3 if files are damaged, and 1 if undamaged files hold wrong values.

For a store in a bucket, the files that the share needs are first copied to the folder for temporary files (TMPDIR).";

/// Check a share of a finished store
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// Share of the blocks to check, like 1/16 to 16/16
    #[arg(long, value_name = "I/N")]
    shard: Shard,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// End when the parent process ends, for any reason
    #[arg(long, help_heading = "Limits")]
    die_with_parent: bool,

    #[command(flatten)]
    json: JsonArgs,
}

#[derive(Clone, Copy, Debug)]
struct Shard {
    number: u32,
    of: u32,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parsed = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
            _ => Err(format!("{text:?} is not a share: expected one like 1/16, up to 16/16")),
        }
    }
}

/// What `trinim task verify` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// Whether all files and values of the share are right: exit code 0.
    ok: bool,
    /// The share, from 1.
    shard: u32,
    /// Number of shares.
    shards: u32,
    #[serde(flatten)]
    found: verify::Report,
    /// Wall-clock time.
    elapsed_s: f64,
}

pub fn run(args: &VerifyArgs, watch: &Stopwatch, out: &mut Out) -> anyhow::Result<Exit> {
    if args.die_with_parent {
        store::die_with_parent()?;
    }
    with_store(&args.store.name, |store| check(store, args, watch, out))
}

fn check(store: &OpenStore, args: &VerifyArgs, watch: &Stopwatch, out: &mut Out) -> anyhow::Result<Exit> {
    let Shard { number, of } = args.shard;
    trinim_task::require_sealed(&*store.files)?;
    let threads = args.threads.count();
    let local = match store.is_folder() {
        true => None,
        false => Some(fetch(store, args.shard, threads)?),
    };
    let folder = local.as_ref().map_or(Path::new(&store.name), |local| local.path());
    let database = Database::open(&folder.join(trinim_task::DATABASE))?;
    if database.game().parameters() != store.game.parameters() {
        let message = format!("--store {}: its database belongs to another game", store.name);
        return Err(usage(message, "run trinim task finish again"));
    }
    // Before the summaries: of a store that keeps only counts, these say too little.
    database.require_values().map_err(|_| {
        // The copy of a bucket's files is gone when the message is read.
        let keeps = database.manifest().keep.limits();
        Refused::new(format!("{} keeps {keeps}, not every value", store.name), keep_all(&database))
    })?;
    let counts = trinim_task::counts(&*store.files, store.spec(), number - 1, of).map_err(damaged)?;
    let share = Share { index: number - 1, of, losses_by_pieces: &counts };
    let found = verify::verify_share(&database, &share, &Request::on(threads))?.unwrap_or_default();
    let report =
        Report { ok: found.is_clean(), shard: number, shards: of, found, elapsed_s: watch.elapsed().as_secs_f64() };
    args.json.report("trinim.task.verify/1", &report, out, print)?;
    Ok(work::exit_of(&report.found))
}

fn print(report: &Report, out: &mut Out) -> anyhow::Result<()> {
    for finding in &report.found.findings {
        out.line(format_args!("{} {finding}", out.paint.bad("wrong:")))?;
    }
    let verdict = match work::exit_of(&report.found) {
        Exit::Done => out.paint.good("correct"),
        Exit::Refuted => out.paint.bad("wrong"),
        _ => out.paint.bad("damaged"),
    };
    Ok(out.table(&[
        ("verdict", verdict),
        ("share", format!("{} of {}, {}", report.shard, report.shards, counted(report.found.blocks, "block"))),
        ("values", counted(report.found.positions, "position")),
        ("time", seconds(report.elapsed_s)),
    ])?)
}

/// Copies what a share needs from a bucket into a temporary folder: its blocks and the blocks of
/// their children; all blocks for the first share, which checks the list of files.
fn fetch(store: &OpenStore, shard: Shard, threads: usize) -> anyhow::Result<ScratchFolder> {
    // Trouble here is not trouble of the store.
    let refused = |error: anyhow::Error| {
        let hint = "free space in the folder for temporary files, or name another one with TMPDIR";
        Refused::with(Exit::System, exit::reason(&error), hint)
    };
    let folder = ScratchFolder::new(&std::env::temp_dir(), "trinim-share.").map_err(|error| refused(error.into()))?;
    let own = BlockId::share(store.spec().blocks(), shard.number - 1, shard.of);
    let sources = |block| store.game.layout.edges_into(block).into_iter().map(|edge| edge.source);
    let needed: BTreeSet<BlockId> = own.flat_map(|block| sources(block).chain([block])).collect();
    let blocks = (shard.number > 1).then_some(&needed);
    let target = store::create_folder(folder.path())?;
    let copied = trinim_task::copy(&*store.files, &*target, store.spec(), blocks, threads, |_| {});
    copied.map_err(|error| match &error {
        Error::Run(RunError::Io { path, .. }) if path.starts_with(folder.path()) => refused(error.into()).into(),
        _ => damaged(error),
    })?;
    Ok(folder)
}

/// Gives damage that the check finds, and a block that is missing, their exit code.
fn damaged(error: Error) -> anyhow::Error {
    let is_corrupt = matches!(error, Error::Run(RunError::Corrupt { .. }));
    let is_missing = matches!(&error, Error::Run(error) if error.is_not_found());
    match store::refusal(error.into()).downcast::<Refused>() {
        // A summary is made again by `finish`.
        Ok(refused) if is_corrupt || is_missing && refused.exit != Exit::TaskRefused => {
            Refused::with(Exit::Corrupt, refused.to_string(), refused.hint).into()
        }
        Ok(refused) => refused.into(),
        Err(error) => error,
    }
}
