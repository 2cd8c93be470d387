//! `trinim resume`: goes on with an unfinished solve. The folder knows what is solved.

use super::{SessionArgs, SolveArgs};
use crate::cli::face::exit::{Exit, Refused};
use crate::cli::face::output::Out;
use crate::cli::face::refusal::quoted;
use crate::cli::words::args::ResourceArgs;
use crate::cli::words::folders::{self, is_database};
use clap::Args;
use pipeline::checkpoint::{FORMAT, PUBLISHED};
use pipeline::{RealStorage, Storage};
use std::path::{Path, PathBuf};
use trinim::care;
use trinim::database::SUMS;
use trinim::game::Board;

const EXAMPLES: &str = "\
Examples:
  trinim resume trinim-k7-misere
  trinim resume trinim-k7-misere --wait --max-duration 8h --progress json

The folder knows board (also one from a file), rule, layout, what is kept, the audit and the strategy, so this is the \
command with which the solve was begun, without them. Memory, threads and limits are those of this command. A folder \
that is already finished, or that another process works in, is refused.";

/// Go on with an unfinished solve, as its folder was begun
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ResumeArgs {
    /// Folder of an unfinished solve
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(flatten)]
    resources: ResourceArgs,

    #[command(flatten)]
    session: SessionArgs,
}

/// Runs the subcommand.
pub fn run(args: ResumeArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let folder = &args.folder;
    let (board, words) = begun(folder)?;
    let solve = SolveArgs::resuming(&words[1..], board, args.session, args.resources);
    // What a folder of this program says is what this program accepts.
    let solve = solve.map_err(|_| foreign(folder))?;
    super::run(solve, out)
}

/// Returns the board of an unfinished folder and the arguments of the solve that goes on with it.
fn begun(folder: &Path) -> anyhow::Result<(Board, Vec<String>)> {
    let shown = quoted(&folder.to_string_lossy());
    let refused = |what: &str, hint: String| Refused::new(format!("{} {what}", folder.display()), hint);
    if !folder.join(FORMAT).is_file() {
        if folder.join("task.json").is_file() {
            let hint = format!("trinim task --store {shown} --block N solves a block, trinim task finish ends it");
            return Err(refused("is the store of a solve in tasks: there is no run to resume", hint).into());
        }
        if is_database(folder) || is_database(&folder.join(PUBLISHED)) {
            let hint = format!("trinim stats {shown} shows its results");
            return Err(refused("is a finished database without its run: there is nothing to resume", hint).into());
        }
        return Err(care::Error::Nothing { path: folder.to_path_buf() }.into());
    }
    // Damage, or another version, is reported as such.
    let inspection = folders::inspect(folder)?.ok_or_else(|| foreign(folder))?;
    let (game, words) = folders::begun(folder, &inspection).ok_or_else(|| foreign(folder))?;
    let is_whole = inspection.records.len() == game.layout.canonical_blocks().len();
    if is_whole && RealStorage::open(folder)?.length(&format!("{PUBLISHED}/{SUMS}"))?.is_some() {
        let hint = format!("trinim stats {shown} shows its results");
        return Err(refused("is already solved: there is nothing to resume", hint).into());
    }
    Ok((game.board, words))
}

fn foreign(folder: &Path) -> care::Error {
    care::Error::Foreign { path: folder.join(FORMAT) }
}
