//! `trinim task copy`: a finished store in another place.

use super::store;
use crate::cli::face::exit::Exit;
use crate::cli::face::output::{Out, counted};
use crate::cli::words::args::{JsonArgs, Size, ThreadsArgs};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use trinim::task;

const EXAMPLES: &str = "\
Examples:
  trinim task copy --store one --to here
  trinim task copy --store one --to here --json     again: what is there is only compared
  trinim verify here

Each file is compared with what was committed before it is written. The copy is a store of its own; its db folder is \
the database. From a bucket: trinim task copy --store s3://BUCKET/PREFIX --to DIR";

/// Copy a finished store, or continue a copy
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CopyArgs {
    /// Store: a folder that all machines share, or s3://BUCKET/PREFIX; trinim task init begins it
    #[arg(long, value_name = "STORE")]
    store: String,

    /// Where the copy goes: a new or empty folder or prefix, or that of a copy that was stopped
    #[arg(long, value_name = "STORE")]
    to: String,

    #[command(flatten)]
    threads: ThreadsArgs,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim task copy` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// The store.
    store: String,
    /// Where the copy is.
    to: String,
    /// Files that were copied.
    files: u64,
    /// Their size.
    bytes: u64,
    /// Files that were there already, with the same bytes.
    present: u64,
}

/// Runs the subcommand.
pub fn run(args: CopyArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let from = store::open(&args.store)?;
    let (game, terms) = task::open(&*from)?;
    // Before anything is created.
    task::require_sealed(&*from)?;
    let to = store::create(&args.to)?;
    let copied = task::copy(&*from, &*to, terms.task(&game), None, args.threads.count())?;
    let task::Copied { files, bytes, present } = copied;
    let report = Report { store: args.store, to: args.to, files, bytes, present };
    if args.json.json {
        out.json("trinim.task.copy/1", &report)?;
        return Ok(Exit::Done);
    }
    out.table(&[
        ("copied", format!("{}, {}, to {}", counted(report.files, "file"), Size(report.bytes), report.to)),
        ("present", format!("{}, with the same bytes", counted(report.present, "file"))),
    ])?;
    Ok(Exit::Done)
}
