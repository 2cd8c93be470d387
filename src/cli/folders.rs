//! Explains why a command cannot use a folder, and suggests a command with its arguments filled in.

use crate::cli::board::arguments;
use crate::cli::owner::{self, Owner};
use crate::cli::scenario::refusal;
use crate::database::{Audit, Database, DatabaseError, Game, Keep, MANIFEST, SUMS};
use crate::game::Cell;
use crate::job::{AS_THE_PAPERS, JobError};
use crate::{Solve, maintenance};
use pipeline::checkpoint::{self, FORMAT, LOCK, PUBLISHED};
use pipeline::{Error as RunError, RealStorage};
use std::io;
use std::path::{Path, PathBuf};
use terminal::exit::{Exit, Refused};
use terminal::file::folder_of;
use terminal::output::{Out, counted, grouped};
use terminal::refusal::{is_of_program, quoted};

/// Similarity from which one name counts as a misspelling of the other.
const ALIKE: f64 = 0.8;

/// Commands for a solve that was begun.
const OF_A_RUN: [&str; 5] = ["resume", "status", "verify", "check", "repair"];

/// Number of foreign files that are named.
const FOREIGN_SHOWN: usize = 3;

/// Prints the foreign files in a folder. Every command leaves them alone; the command decides
/// whether it can read the folder.
pub fn remark_on_foreign(folder: &Path, out: &Out) {
    let names = maintenance::foreign(folder).unwrap_or_default();
    if names.is_empty() {
        return;
    }
    let shown: Vec<String> = names.iter().take(FOREIGN_SHOWN).map(|name| format!("{name:?}")).collect();
    let more = names.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    out.remark(format_args!("ignoring files that trinim did not create: {}{more}", shown.join(", ")));
}

/// Replaces errors about a folder by more helpful ones; `words` are the arguments of the program.
pub fn explain(error: anyhow::Error, words: &[String]) -> anyhow::Error {
    let error = error.downcast::<JobError>().map_or_else(|error| error, refusal);
    let (path, lacks) = if let Some(DatabaseError::Missing { path, .. }) = error.downcast_ref() {
        (path, "contains no finished database")
    } else if let Some(maintenance::Error::Nothing { path }) = error.downcast_ref() {
        (path, "contains neither a run nor a database")
    } else if let Some(RunError::Parameters { path, name, found, wanted }) = error.downcast_ref() {
        return other_parameters(path, name, [found, wanted]).into();
    } else if let Some(DatabaseError::NotKept { path, .. }) = error.downcast_ref() {
        let hint = Database::open(path).map_or_else(|_| keeping_all("trinim solve"), |database| keep_all(&database));
        return Refused::new(error.to_string(), hint).into();
    } else {
        return error;
    };
    let path = path.clone();
    // A path without permission is not missing.
    let is_missing = |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    let looks = [path.metadata().map(drop), path.join(FORMAT).metadata().map(drop), std::fs::read_dir(&path).map(drop)];
    if let Some(error) = looks.into_iter().filter_map(Result::err).find(|error| !is_missing(error)) {
        return RunError::io("open", &path, error).into();
    }
    let (reason, hint) = diagnose(&path, words);
    if reason.is_empty() {
        return Refused::new(error.to_string(), hint).into();
    }
    let is_whole = reason.starts_with("is ") || reason.starts_with("does ");
    let message = if is_whole { reason } else { format!("{lacks}: {reason}") };
    Refused::new(format!("{} {message}", path.display()), hint).into()
}

/// Returns what is wrong with a folder, empty if the error already says it, and a hint.
fn diagnose(path: &Path, words: &[String]) -> (String, String) {
    let command = command_of(words);
    let shown = quoted(&path.to_string_lossy());
    let instead = |folder: &Path| {
        let folder = folder.to_string_lossy();
        let replaced = words.iter().map(|word| if Path::new(word) == path { &folder } else { word.as_str() });
        format!("trinim {}", replaced.map(quoted).collect::<Vec<_>>().join(" "))
    };
    if path.is_file() {
        let run = path.ancestors().skip(1).find(|folder| is_run(folder) || is_database(folder));
        let hint = run.map_or_else(|| ask(command), &instead);
        return ("is a file, not a folder".to_owned(), hint);
    }
    if !path.is_dir() {
        return ("does not exist".to_owned(), absent(path, words, instead));
    }
    let is_inner = path.file_name().is_some_and(|name| name == PUBLISHED);
    let outer = path.parent().filter(|outer| is_inner && is_run(outer));
    if let Some(run) = outer.or(Some(path).filter(|path| is_run(path))) {
        let run_shown = quoted(&run.to_string_lossy());
        if command == "status" {
            return (format!("is the database of {run_shown}"), format!("trinim status {run_shown}"));
        }
        let Some((game, saved)) = unfinished(run) else { return (String::new(), ask(command)) };
        let blocks = game.layout.canonical_blocks().len() as u64;
        let hint = match owner::of(&run.join(LOCK)) {
            Owner::Held(_) => format!("a solve is running; run trinim status {run_shown} to see its progress"),
            _ => format!("resume it: trinim resume {run_shown}"),
        };
        let reason = match saved == blocks {
            true => String::new(),
            false => {
                format!("the solve is unfinished: {} of {} saved", grouped(saved), counted(blocks, "block"))
            }
        };
        return (reason, hint);
    }
    if command == "status" && (is_database(path) || is_database(&path.join(PUBLISHED))) {
        let reason = "is a finished database without a run, so there is no progress to show".to_owned();
        return (reason, format!("run trinim stats {shown} to see its results"));
    }
    if path.join(MANIFEST).is_file() || path.join(PUBLISHED).join(MANIFEST).is_file() {
        return (String::new(), format!("run trinim repair {shown} to restore the file"));
    }
    let inside = solves(path);
    let hint = inside.first().map_or_else(|| ask(command), |solve| format!("did you mean: {}", instead(solve)));
    ("it has no FORMAT and no manifest.json".to_owned(), hint)
}

/// Returns the hint if there is no such folder.
fn absent(path: &Path, words: &[String], instead: impl Fn(&Path) -> String) -> String {
    let is_solve = |word: &&String| is_run(Path::new(word)) || is_database(Path::new(word));
    if let Some(folder) = words.iter().skip(1).find(is_solve)
        && words.get(1).is_some_and(|word| Path::new(word) == path)
    {
        let others = words[1..].iter().filter(|word| *word != folder);
        let order = words[..1].iter().chain([folder]).chain(others);
        let order: Vec<String> = order.map(|word| quoted(word)).collect();
        return format!("the folder comes first: trinim {}", order.join(" "));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Another number is another board.
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let likeness = |solve: &Path| {
        let other = solve.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if digits(&other) != digits(&name) {
            return 0.0;
        }
        let begins = !name.is_empty() && (other.starts_with(&name) || name.starts_with(&other));
        if begins { 1.0 } else { strsim::jaro_winkler(&name, &other) }
    };
    let found = solves(folder_of(path));
    let best = found.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    match best.filter(|solve| likeness(solve) >= ALIKE) {
        Some(solve) => {
            let near = parent.map_or_else(|| solve.file_name().map(PathBuf::from), |_| Some(solve.clone()));
            format!("did you mean: {}", instead(&near.unwrap_or_default()))
        }
        None => {
            let command = command_of(words);
            let layers = name.strip_prefix("trinim-k").and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
            let rule = if name.ends_with("normal") { " --rule normal" } else { "" };
            // A user who resumes or checks a solve has one, under another name.
            match layers.filter(|layers| (1..=9).contains(layers) && !OF_A_RUN.contains(&command)) {
                Some(layers) => {
                    let shown = quoted(&path.to_string_lossy());
                    format!("run trinim solve --layers {layers}{rule} --out {shown} to solve {layers} layers there")
                }
                None => ask(command),
            }
        }
    }
}

/// Returns the command among the arguments of the program; options can come before it.
fn command_of(words: &[String]) -> &str {
    let command = words.iter().find(|word| !is_of_program(word)).map_or("", String::as_str);
    if command == "papers" { "papers report --out report" } else { command }
}

fn ask(command: &str) -> String {
    format!("name the folder of a solve, like trinim {command} trinim-k7-misere")
}

fn is_run(folder: &Path) -> bool {
    folder.join(FORMAT).is_file()
}

pub fn is_database(folder: &Path) -> bool {
    folder.join(MANIFEST).is_file() && folder.join(SUMS).is_file()
}

/// Lists the solves and databases in a folder, in the order of their names.
fn solves(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.retain(|path| is_run(path) || is_database(path) || is_database(&path.join(PUBLISHED)));
    found.sort();
    found
}

/// Returns the game of the run in a folder and the number of saved blocks; `None` if this program
/// cannot continue it.
fn unfinished(run: &Path) -> Option<(Game, u64)> {
    let inspection = checkpoint::inspect(&RealStorage::open(run).ok()?).ok()?;
    let parameters = &inspection.parameters.0;
    let is_ours = parameters.iter().all(|(name, _)| !AS_THE_PAPERS.contains(&name.as_str()));
    let game = Game::from_parameters(parameters).filter(|_| is_ours && Solve::from_parameters(parameters).is_some())?;
    Some((game, inspection.records.len() as u64))
}

/// The command that solves again and keeps every value.
pub fn keep_all(database: &Database) -> String {
    keeping_all(&format!("trinim solve {}", arguments(database.board(), database.rule())))
}

fn keeping_all(command: &str) -> String {
    format!("run {command} --keep {} --out DIR to solve again and keep every value", Keep::Database)
}

/// The refusal of a folder that was started with other parameters.
fn other_parameters(format: &Path, name: &str, values: [&str; 2]) -> Refused {
    let [found, wanted] = values.map(|value| if name.ends_with("-cells") { cells(value) } else { value.to_owned() });
    let message = format!("{} records {name} = {found}, not {wanted}", format.display());
    let run = format.parent().filter(|run| unfinished(run).is_some());
    let resume = run.map(|run| {
        let run = quoted(&run.to_string_lossy());
        let then = if name == Audit::PARAMETER {
            format!(" and check every position with trinim verify {run}")
        } else {
            String::new()
        };
        format!("resume it with trinim resume {run}{then}, or ")
    });
    let hint = match AS_THE_PAPERS.contains(&name) {
        true => "trinim papers solve keeps no checkpoints: start over in a new folder".to_owned(),
        false => format!("{}choose another --out", resume.unwrap_or_default()),
    };
    Refused::with(Exit::OtherRun, message, hint)
}

/// Formats cells as `--bid-cells` reads them; they are stored as numbers.
fn cells(numbers: &str) -> String {
    let cell = |number: &str| Some(Cell::from_index(u32::from(number.parse::<u8>().ok()?)));
    match numbers.split(',').filter(|number| !number.is_empty()).map(cell).collect::<Option<Vec<Cell>>>() {
        Some(cells) if cells.is_empty() => "none".to_owned(),
        Some(cells) => Cell::list(cells),
        None => numbers.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_shown_as_they_are_read() {
        assert_eq!(["1,2", "", "none"].map(cells), ["b1,b2", "none", "none"]);
    }
}
