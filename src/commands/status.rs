//! `trinim status`: the progress of a solve, seen from another shell.
//!
//! # The estimate
//! Work is counted as in `trinim solve`: edges applied, plus a weight for each block. The rate is
//! the work committed since the current session opened the folder, over the time between that
//! opening and the last commit, both taken from file times. It is only an estimate: a changed
//! clock, a copied folder or a suspended session distorts it.

use clap::Args;
use pipeline::BlockId;
use pipeline::checkpoint::{self, BlockRecord, Inspection, LOCK, LOGS, METADATA, PUBLISHED};
use pipeline::{RealStorage, Storage};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::SystemTime;
use terminal::exit::Exit;
use terminal::output::{Out, counted, grouped, per_second, seconds};
use trinim::cli::args::{JsonArgs, Size};
use trinim::cli::folders::remark_on_foreign;
use trinim::cli::owner::{self, Owner};
use trinim::cli::summary::GameFields;
use trinim::database::{Game, Keep, SUMS, Terms, Values};
use trinim::plan::Shape;
use trinim::plan::work::{block_ns, group_positions};
use trinim::{job, maintenance};

const EXAMPLES: &str = "\
Examples:
  trinim status trinim-k8-misere
  trinim status trinim-k8-misere --json
  watch trinim status trinim-k8-misere

The command only reads, so it cannot disturb a solve. Rate and time left are estimated from file times. To make the \
solve itself print a line, send it SIGUSR1.";

/// Show how far a solve is
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct StatusArgs {
    /// Folder of a solve, finished or not
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim status` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// `begun`: no block is saved. `running`: a process is working on it. `unfinished`: blocks are
    /// missing. `sealing`: only manifest or checksums are missing. `finished`: nothing is missing.
    state: &'static str,
    #[serde(flatten)]
    owner: Owner,
    #[serde(flatten)]
    game: GameFields,
    /// What is computed for each position: `outcomes`, `nimbers` or `remoteness`.
    values: Values,
    /// What the run keeps: `database`, `book:PIECES` or `counts`.
    keep: Keep,
    /// Canonical blocks.
    blocks: u64,
    /// Canonical blocks saved.
    finished_blocks: u64,
    /// Of these, saved in this session.
    session_blocks: u64,
    /// All positions of the board.
    positions: u64,
    /// Positions of all blocks that the saved blocks represent.
    finished_positions: u64,
    /// Share of the work, 0 to 1.
    work_done: f64,
    /// Generation of the run: sessions, repairs and finished books so far.
    generation: u64,
    /// Files in `logs`.
    log_files: u64,
    /// Their size.
    log_bytes: u64,
    /// Size of the published files.
    database_bytes: u64,
    /// Time since the last checkpoint.
    last_commit_s_ago: Option<f64>,
    /// Positions a second in this session, estimated from file times.
    rate_positions_per_second: Option<f64>,
    /// Estimated time left of a running solve.
    eta_s: Option<f64>,
}

/// Runs the subcommand.
pub fn run(args: StatusArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let found = if args.folder.is_dir() { job::inspect(&args.folder)? } else { None };
    let inspection = found.ok_or_else(|| maintenance::Error::Nothing { path: args.folder.clone() })?;
    let report = report(&RealStorage::open(&args.folder)?, &inspection)?;
    remark_on_foreign(&args.folder, out);
    args.json.report("trinim.status/1", &report, out, print)
}

fn report(storage: &RealStorage, inspection: &Inspection) -> anyhow::Result<Report> {
    let foreign = || maintenance::Error::Foreign { path: storage.path(checkpoint::FORMAT) };
    let Game { board, rule, layout } = Game::from_parameters(&inspection.parameters.0).ok_or_else(foreign)?;
    let Terms { values, keep, .. } = Terms::from_parameters(&inspection.parameters.0).ok_or_else(foreign)?;
    let owner = owner::of(&storage.path(LOCK));
    let blocks = layout.canonical_blocks().len();
    let records = &inspection.records;
    if records.iter().any(|record| record.block.index() >= blocks) {
        return Err(foreign().into());
    }
    let positions = |block: BlockId| group_positions(&layout, block);
    let finished_positions = records.iter().map(|record| positions(record.block)).sum();
    let is_sealed = storage.length(&format!("{PUBLISHED}/{SUMS}"))?.is_some();
    let is_held = matches!(owner, Owner::Held(_));
    let state = match (records.len() == blocks, is_sealed, is_held) {
        (true, true, false) => "finished",
        (true, ..) => "sealing",
        (false, _, true) => "running",
        (false, _, false) if records.is_empty() => "begun",
        (false, _, false) => "unfinished",
    };
    let logs = sizes(storage, LOGS)?;
    let published: BTreeSet<&str> =
        records.iter().filter_map(|record| record.published.as_ref()).map(|file| file.name.as_str()).collect();
    let is_ours = |name: &str| published.contains(name) || state == "finished";
    let database = sizes(storage, PUBLISHED)?.into_iter().filter(|(name, _)| is_ours(name));

    let session = &records[inspection.in_manifest.min(records.len())..];
    let units = block_ns(&layout, &Shape::from_layout(&layout), 0);
    let work = |records: &[BlockRecord]| {
        // The sum of an empty list would be -0.0.
        records.iter().fold(0.0, |sum, record| sum + units[record.block.index()])
    };
    let (all, done) = (units.iter().sum::<f64>(), work(records));
    let [session_s, last_commit_s_ago] = times(storage, inspection.generation);
    // File times prove nothing about an ended session: the folder may have been copied.
    let pace = session_s.filter(|time| state == "running" && *time > 0.0 && !session.is_empty());
    let rate = |amount: f64| pace.map(|time| amount / time);
    let session_work = work(session);
    let session_positions: u64 = session.iter().map(|record| positions(record.block)).sum();
    let eta_s = rate(session_work).map(|rate| {
        // Work has continued since the last commit.
        ((all - done) / rate - last_commit_s_ago.unwrap_or(0.0)).max(0.0)
    });
    Ok(Report {
        state,
        owner,
        game: GameFields::new(&board, rule),
        values,
        keep,
        blocks: blocks as u64,
        finished_blocks: records.len() as u64,
        session_blocks: session.len() as u64,
        positions: 1 << board.cells(),
        finished_positions,
        work_done: if all > 0.0 { done / all } else { 1.0 },
        generation: inspection.generation,
        log_files: logs.len() as u64,
        log_bytes: logs.iter().map(|(_, bytes)| bytes).sum(),
        database_bytes: database.map(|(_, bytes)| bytes).sum(),
        last_commit_s_ago: last_commit_s_ago.filter(|_| !records.is_empty()),
        rate_positions_per_second: rate(session_positions as f64),
        eta_s,
    })
}

/// Lists names and lengths in a folder of the run.
fn sizes(storage: &RealStorage, folder: &str) -> anyhow::Result<Vec<(String, u64)>> {
    let entries = pipeline::storage::list(storage, folder)?;
    Ok(entries.into_iter().map(|entry| (format!("{folder}/{}", entry.name), entry.length)).collect())
}

/// Returns the seconds from the opening of the current session to its last commit, and from that to
/// now, by the times of the metadata files.
fn times(storage: &RealStorage, generation: u64) -> [Option<f64>; 2] {
    let changed = |name: &str| -> Option<SystemTime> {
        let path = storage.path(&format!("{METADATA}/{name}.{generation}.a"));
        std::fs::metadata(path).ok()?.modified().ok()
    };
    let (opened, committed) = (changed("manifest"), changed("journal"));
    [(opened, committed), (committed, Some(SystemTime::now()))]
        .map(|(from, to)| Some(to?.duration_since(from?).ok()?.as_secs_f64()))
}

fn print(report: &Report, out: &mut Out) -> anyhow::Result<()> {
    let owner = match (report.owner, report.owner.process()) {
        (_, Some(process)) => format!("{process} is working on it"),
        (Owner::Unknown, _) => "unknown whether a process is working on it".to_owned(),
        _ => "no process on this machine is working on it".to_owned(),
    };
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let positions = report.finished_positions as f64 / report.positions as f64;
    let mut rows = vec![
        ("state", format!("{}, {owner}", report.state)),
        ("board", report.game.to_string()),
        ("blocks", format!("{} of {} saved", grouped(report.finished_blocks), grouped(report.blocks))),
        (
            "positions",
            format!("{} of {} ({})", grouped(report.finished_positions), grouped(report.positions), percent(positions)),
        ),
        ("work", format!("{} of the planned work", percent(report.work_done))),
        ("generation", report.generation.to_string()),
        ("logs", format!("{} in {}", Size(report.log_bytes), counted(report.log_files, "file"))),
        match report.keep {
            Keep::Database => ("database", Size(report.database_bytes).to_string()),
            keep => ("kept", format!("{}, {}", keep.limits(), Size(report.database_bytes))),
        },
    ];
    if let Some(ago) = report.last_commit_s_ago {
        rows.push(("last commit", format!("{} ago", seconds(ago))));
    }
    if let Some(rate) = report.rate_positions_per_second {
        let blocks = counted(report.session_blocks, "block");
        rows.push(("rate", format!("about {}, {blocks} this session", per_second(rate, "positions"))));
    }
    if report.state == "running" {
        let left = report.eta_s.map_or("unknown yet".to_owned(), |left| format!("about {}", seconds(left)));
        rows.push(("time left", left));
    }
    Ok(out.table(&rows)?)
}
