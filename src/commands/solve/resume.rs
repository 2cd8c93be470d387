//! `trinim resume`: continues an unfinished solve with the settings recorded in its folder.

use super::SessionArgs;
use clap::Args;
use pipeline::checkpoint::{FORMAT, METADATA, PUBLISHED, Parameters};
use std::path::{Path, PathBuf};
use terminal::exit::{Exit, Refused};
use terminal::output::Out;
use terminal::refusal::quoted;
use trinim::cli::args::ResourceArgs;
use trinim::cli::folders::is_database;
use trinim::plan::PROGRAM_BYTES;
use trinim::{Solve, job, maintenance};

const EXAMPLES: &str = "\
Examples:
  trinim resume trinim-k7-misere
  trinim resume trinim-k7-misere --wait --max-duration 8h --progress json

Board, rule, layout, --keep and --audit come from the folder. So does --memory, unless it is given or this process \
cannot use that much. Threads and limits come from this command; no result depends on them. A folder that another \
process uses is refused.";

/// Resume an unfinished solve with its original settings
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ResumeArgs {
    /// Folder of a solve; if it is finished, its result is reported again
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(flatten)]
    resources: ResourceArgs,

    #[command(flatten)]
    session: SessionArgs,
}

/// Runs the subcommand.
pub fn run(args: ResumeArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let (solve, memory_bytes) = begun(&args.folder)?;
    let solve = args.resources.bound_again(solve, memory_bytes, out);
    super::carry_out(solve, &args.folder, &args.session, out)
}

/// Returns the solve that a folder was started with, and its memory, which folders of earlier
/// versions do not record.
fn begun(folder: &Path) -> anyhow::Result<(Solve, Option<u64>)> {
    let shown = quoted(&folder.to_string_lossy());
    let refused = |what: &str, hint: String| Refused::new(format!("{} {what}", folder.display()), hint);
    if !folder.join(FORMAT).is_file() {
        // A run from which only FORMAT is missing is damaged.
        if folder.join(METADATA).is_dir() {
            job::inspect(folder)?;
        }
        if folder.join("task.json").is_file() {
            let hint = format!("run trinim task --store {shown} --batch N for each block, then trinim task finish");
            return Err(refused("is a store of trinim task, so there is no run to resume", hint).into());
        }
        if is_database(folder) || is_database(&folder.join(PUBLISHED)) {
            let hint = format!("run trinim stats {shown} to see its results");
            return Err(refused("is a finished database without a run, so there is nothing to resume", hint).into());
        }
        return Err(maintenance::Error::Nothing { path: folder.to_path_buf() }.into());
    }
    // Damage, or another version, is reported as such.
    let parameters = job::inspect(folder)?.map(|begun| begun.parameters).unwrap_or_default();
    let solve = Solve::from_parameters(&parameters.0);
    let solve = solve.ok_or_else(|| maintenance::Error::Foreign { path: folder.join(FORMAT) })?;
    let memory_bytes = parameters.get(Parameters::MEMORY).and_then(|bytes| bytes.parse::<u64>().ok());
    Ok((solve, memory_bytes.map(|bytes| bytes.saturating_add(PROGRAM_BYTES))))
}
