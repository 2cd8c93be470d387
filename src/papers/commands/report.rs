//! `trinim papers report`: the papers' tables and figures from solved boards, in a folder.
//!
//! A folder belongs to a report if its `report.json` says so. It is then brought up to date, and
//! files that only the earlier report had are removed. Any other folder that is not empty is
//! refused.
//!
//! # Invariants
//! 1. A file of the report appears whole, and replaces only a file of an earlier report.
//! 2. From the first file on, the folder is known as a report: `report.json` is written first,
//!    marked as incomplete, and again last.
//! 3. Nothing is written before all databases have been read and agree.
//!
//! Nothing is synced, because a report can be made again.

use super::occupant;
use crate::report::{Contents, DatabaseRow, Earlier, FORMAT, FileRow, REPORT_JSON, Report, Solution};
use clap::Args;
use pipeline::storage::is_valid_name;
use pipeline::{Error, RealStorage, Storage, storage};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use terminal::exit::{Exit, Refused};
use terminal::file::{OutputFile, ParentsArgs};
use terminal::output::{self, Out, counted, grouped};
use trinim::cli::args::JsonArgs;
use trinim::database::Database;

/// Longest `report.json` that is read, in bytes.
const REPORT_JSON_BYTES: u64 = 16 << 20;

const EXAMPLES: &str = "\
Examples:
  trinim papers report trinim-k7-misere trinim-k7-normal --out report
  trinim papers report trinim-k* --out report --json   also print report.json

The folder gets report.md with all tables, and the figures as SVG with their numbers as CSV. The same databases give \
the same bytes. If a published value is contradicted, the report marks it and the \
exit code is 1.";

/// Write the papers' tables and figures from solved boards into a folder
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// Folders of finished solves, or their db folders
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,

    /// Folder of the report: new, empty, or of an earlier report
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,

    #[command(flatten)]
    parents: ParentsArgs,

    #[command(flatten)]
    json: JsonArgs,
}

pub fn run(args: ReportArgs, out: &mut Out) -> anyhow::Result<Exit> {
    args.parents.check(&args.out)?;
    let earlier = earlier(&args.out)?;
    let mut solutions = Vec::new();
    for folder in &args.folders {
        let database = Database::open(folder)?;
        refuse_inside(&args.out, database.folder())?;
        solutions.push(Solution::read(&database)?);
    }
    let report = Report::new(solutions)?;
    write(&args.out, &report, &earlier)?;
    for line in &report.contents.contradictions {
        output::note(format_args!("{} a published value is contradicted: {line}", out.error_paint.bad("wrong:")));
    }
    if args.json.json {
        write!(out, "{}", report.contents.to_json())?;
    } else {
        print(&report, &args.out, out)?;
    }
    Ok(if report.contents.ok { Exit::Done } else { Exit::Refuted })
}

/// Returns the files of the report in the folder; none for a new or empty folder.
fn earlier(folder: &Path) -> anyhow::Result<Vec<FileRow>> {
    let Some(occupant) = occupant(folder)? else { return Ok(Vec::new()) };
    let path = folder.join(REPORT_JSON);
    let bytes = storage::read_regular(&path, REPORT_JSON_BYTES).ok().filter(|_| !path.is_symlink()).unwrap_or_default();
    match serde_json::from_slice::<Earlier>(&bytes).ok().filter(|earlier| earlier.format == FORMAT) {
        Some(earlier) => Ok(earlier.files),
        None => {
            let message = format!("{} contains {occupant} but no report; nothing was written", folder.display());
            let hint = "choose another --out: a new or empty folder, or the folder of an earlier report";
            Err(Refused::new(message, hint).into())
        }
    }
}

/// Refuses a report inside a `db` folder, where it would add foreign files to the database.
fn refuse_inside(folder: &Path, database: &Path) -> anyhow::Result<()> {
    let absolute = std::path::absolute(folder).map_err(|error| Error::io("find", folder, error))?;
    let existing = absolute.ancestors().find_map(|ancestor| fs::canonicalize(ancestor).ok());
    let database = fs::canonicalize(database).map_err(|error| Error::io("find", database, error))?;
    if existing.is_some_and(|existing| existing.starts_with(&database)) {
        let message = format!("{} is inside the database {}", folder.display(), database.display());
        return Err(Refused::new(message, "choose another --out").into());
    }
    Ok(())
}

fn write(folder: &Path, report: &Report, earlier: &[FileRow]) -> anyhow::Result<()> {
    let storage = RealStorage::create(folder)?.with_syncs(false);
    // As far as the length of the file shows.
    let is_foreign = |name: &str| {
        let is_earlier = |bytes| earlier.iter().any(|file| file.name == name && file.bytes == Some(bytes));
        let found = fs::symlink_metadata(folder.join(name));
        found.is_ok_and(|found| !found.is_file() || !is_earlier(found.len()))
    };
    if let Some((file, _)) = report.documents.iter().find(|(file, _)| is_foreign(&file.name)) {
        let file = folder.join(&file.name);
        let message = format!("{} does not belong to an earlier report; nothing was written", file.display());
        return Err(Refused::new(message, "choose another --out, or move the file elsewhere").into());
    }
    let place = |name: &str, text: &str| OutputFile::at(&folder.join(name)).write(text);
    // Until the end the folder holds files of both reports, and `report.json` lists both.
    let files = earlier.iter().chain(&report.contents.files).cloned().collect();
    let begun = Contents { ok: false, complete: false, files, ..report.contents.clone() };
    place(REPORT_JSON, &begun.to_json())?;
    for (file, text) in &report.documents {
        place(&file.name, text)?;
    }
    let made: BTreeSet<&str> = report.contents.files.iter().map(|file| &*file.name).collect();
    for file in earlier {
        // This program never wrote a name that leads elsewhere.
        let is_ours = is_valid_name(&file.name) && storage::folder_of(&file.name).is_empty() && !is_foreign(&file.name);
        if is_ours && !made.contains(&*file.name) && storage.length(&file.name)?.is_some() {
            storage.remove(&file.name)?;
        }
    }
    Ok(place(REPORT_JSON, &report.contents.to_json())?)
}

fn print(report: &Report, folder: &Path, out: &mut Out) -> anyhow::Result<()> {
    let width = report.contents.databases.iter().map(|row| grouped(row.losses).len()).max().unwrap_or(0).max(6);
    writeln!(out, "layers  rule    {:>width$}      rate  start  winning moves", "losses")?;
    for row in &report.contents.databases {
        let take = row.max_take.map_or(String::new(), |take| format!("  at most {take} a move"));
        let DatabaseRow { layers, rule, start, winning_first_moves: moves, .. } = row;
        let (losses, rate) = (grouped(row.losses), row.loss_rate * 100.0);
        writeln!(out, "{layers:>6}  {rule:<6}  {losses:>width$}  {rate:>6.2} %  {start:<5}  {moves:>13}{take}")?;
    }
    let verdict = match report.contents.contradictions.len() as u64 {
        0 => out.paint.good("all published values agree"),
        some => out.paint.bad(format_args!("{} contradicted", counted(some, "published value"))),
    };
    writeln!(out, "\n{verdict}")?;
    let files = counted(report.contents.files.len() as u64, "file");
    Ok(out.line(format_args!("wrote {files}; open {}", folder.join("report.md").display()))?)
}
