//! `trinim report`: the papers' tables and figures from solved boards, in a folder.
//!
//! # Shape
//! A folder belongs to a report if its `report.json` says so; it is then brought up to date, and files of the earlier report that are no longer made
//! are removed. Any other folder that is not empty is left alone.
//!
//! # Invariants
//! 1. A file of the report is whole or not there: it is written beside and renamed.
//! 2. At every moment after the first rename the folder is known as one of a report: `report.json` comes first, marked as incomplete, and last.
//! 3. Nothing is written before all databases have been read and agree.
//!
//! # Not here
//! Syncs: a report can be made again.

use super::args::JsonArgs;
use super::exit::{Exit, Refused};
use super::output::{self, Out, counted, grouped};
use clap::Args;
use pipeline::storage::{Create, is_valid_name};
use pipeline::{Error, RealStorage, Storage, storage};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use trinim::database::Database;
use trinim::report::{Contents, REPORT_JSON, Report, ReportError, Solution};

/// Longest `report.json` that is looked at, in bytes.
const REPORT_JSON_BYTES: u64 = 16 << 20;

const EXAMPLES: &str = "\
Examples:
  trinim report trinim-k7-misere trinim-k7-normal --out report
  trinim report trinim-k* --out report --json      report.json on standard output, too

The folder gets tables (Markdown, CSV, JSON), figures (SVG, CSV, JSON), and all of it in index.html and report.md. The \
same databases give the same bytes. The exit code is 1 when a published value is contradicted; the report is written all \
the same and marks it.";

/// Write the papers' tables and figures from solved boards into a folder
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// Folders of finished solves, or their db folders
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,

    /// Folder of the report: a new or empty one, or one of an earlier report
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,

    #[command(flatten)]
    json: JsonArgs,
}

/// Runs the subcommand.
pub fn run(args: ReportArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let earlier = earlier(&args.out)?;
    let mut solutions = Vec::new();
    for folder in &args.folders {
        let database = Database::open(folder)?;
        refuse_inside(&args.out, database.folder())?;
        solutions.push(Solution::read(&database)?);
    }
    let report = Report::new(solutions).map_err(|error| {
        let hint = match error {
            ReportError::Disagreement { .. } => "trinim verify tells which of the two is wrong",
            _ => "",
        };
        Refused::new(error.to_string(), hint)
    })?;
    write(&args.out, &report, earlier.as_ref())?;
    for line in &report.contents.contradictions {
        output::note(format_args!("{} a published value is contradicted: {line}", out.error_paint.bad("wrong:")));
    }
    if args.json.json {
        write!(out, "{}", report.contents.to_json())?;
    } else {
        print(&report, &args.out, out)?;
    }
    Ok(if report.contents.contradictions.is_empty() { Exit::Done } else { Exit::Refuted })
}

/// The report that is in the folder; `None` for a new or empty one.
fn earlier(folder: &Path) -> anyhow::Result<Option<Contents>> {
    let refused = |what: &str| {
        let hint = "choose another --out: an empty folder, one that does not exist, or one of an earlier report";
        Err(Refused::new(format!("{} {what}; nothing was written", folder.display()), hint).into())
    };
    match fs::metadata(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("open", folder, error).into()),
        Ok(found) if !found.is_dir() => return refused("is not a folder"),
        Ok(_) => {}
    }
    let mut entries = fs::read_dir(folder).map_err(|error| Error::io("list", folder, error))?;
    if entries.next().is_none() {
        return Ok(None);
    }
    let path = folder.join(REPORT_JSON);
    let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= REPORT_JSON_BYTES);
    let found = if is_file { fs::read(&path).ok().and_then(|bytes| Contents::parse(&bytes)) } else { None };
    match found {
        Some(earlier) => Ok(Some(earlier)),
        None => refused("holds something else than a report"),
    }
}

/// A report inside a `db` folder would make the database one with files that it does not know.
fn refuse_inside(folder: &Path, database: &Path) -> anyhow::Result<()> {
    let absolute = std::path::absolute(folder).map_err(|error| Error::io("find", folder, error))?;
    let existing = absolute.ancestors().find_map(|ancestor| fs::canonicalize(ancestor).ok());
    let database = fs::canonicalize(database).map_err(|error| Error::io("find", database, error))?;
    match existing.is_some_and(|existing| existing.starts_with(&database)) {
        false => Ok(()),
        true => {
            let message = format!("{} lies inside the database {}", folder.display(), database.display());
            Err(Refused::new(message, "choose another --out").into())
        }
    }
}

fn write(folder: &Path, report: &Report, earlier: Option<&Contents>) -> Result<(), Error> {
    let storage = RealStorage::create(folder)?.with_syncs(false);
    let place = |name: &str, text: &str| -> Result<(), Error> {
        let beside = format!("{name}.new");
        storage.create(&beside, Create::Truncate)?.write_all_at(text.as_bytes(), 0)?;
        storage.rename(&beside, name)
    };
    // Until the end the folder holds files of both reports, and says so.
    let mut begun = report.contents.clone();
    begun.complete = false;
    begun.files.splice(0..0, earlier.into_iter().flat_map(|earlier| earlier.files.clone()));
    place(REPORT_JSON, &begun.to_json())?;
    for document in &report.documents {
        place(&document.name, &document.text)?;
    }
    let made: BTreeSet<&str> = report.contents.files.iter().map(|file| &*file.name).collect();
    for file in earlier.into_iter().flat_map(|earlier| &earlier.files) {
        // A name that leads elsewhere was not written by this program.
        let is_ours = is_valid_name(&file.name) && storage::folder_of(&file.name).is_empty();
        if is_ours && !made.contains(&*file.name) && storage.length(&file.name)?.is_some() {
            storage.remove(&file.name)?;
        }
    }
    place(REPORT_JSON, &report.contents.to_json())
}

fn print(report: &Report, folder: &Path, out: &mut Out) -> anyhow::Result<()> {
    let width = report.contents.databases.iter().map(|row| grouped(row.losses).len()).max().unwrap_or(0).max(6);
    writeln!(out, "layers  rule    {:>width$}      rate  start  winning moves", "losses")?;
    for row in &report.contents.databases {
        let take = row.max_take.map_or(String::new(), |take| format!("  at most {take} a move"));
        writeln!(
            out,
            "{:>6}  {:<6}  {:>width$}  {:>6.2} %  {:<5}  {:>13}{take}",
            row.layers,
            row.rule,
            grouped(row.losses),
            row.loss_rate * 100.0,
            row.start,
            row.winning_first_moves
        )?;
    }
    let verdict = match report.contents.contradictions.len() as u64 {
        0 => out.paint.good("no published value is contradicted"),
        some => out.paint.bad(format_args!("{} contradicted", counted(some, "published value"))),
    };
    writeln!(out, "\n{verdict}")?;
    let files = counted(report.contents.files.len() as u64, "file");
    writeln!(out, "{files} in {}, to begin with {}", folder.display(), folder.join("index.html").display())?;
    Ok(())
}
