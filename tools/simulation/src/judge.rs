//! The requirements at the end of a history of failures.

use crate::session::{Ending, Session, committed};
use crate::subject::{Files, Subject};
use pipeline::Error;
use pipeline::checkpoint::PublishedFile;
use testing::SimulatedStorage;

/// The worst that the disk did in a history, which decides the requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// It failed, at worst losing unsynced bytes: the run continues to the right result without
    /// losing an acknowledged block.
    Honest,
    /// It reported a sync that it did not do: finished blocks may be lost or the folder refused; no
    /// result is wrong.
    Lied,
    /// It changed, lost or mixed up bytes silently, once: the result is right without losing an
    /// acknowledged block, or the folder is refused with the file named.
    Corrupted,
}

/// An acceptable end of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The right result; nothing lost, no superfluous files.
    Right,
    /// The folder was refused, with a file named (never of an honest disk).
    Refused,
    /// Finished, and a published file contradicts the checksums beside it, so that readers refuse
    /// it (never of an honest disk).
    Detectable,
    /// Finished with the right result, but acknowledged blocks had to be computed again (only of a
    /// disk that lied).
    Lost,
}

/// A mistake.
#[derive(Debug)]
pub enum Wrong {
    /// An acknowledged block is lost.
    Lost(u32),
    /// A published file is wrong, and nothing on the disk contradicts it.
    Different(String),
    /// A file of the finished result is lost by a power cut.
    NotDurable(String),
    /// The run cannot be continued.
    Stuck(Error),
    /// Damage was not reported as damage.
    Vague(Error),
    /// A session hangs.
    Hangs(scheduler::Stuck),
    /// A session panicked.
    Panic(String),
    /// Superfluous files.
    Leftover(Vec<String>),
    /// A file of another program was removed.
    Removed(String),
    /// This file exists, but a file that it promises does not.
    Promised(String),
}

/// Names that other programs and file systems give to files in a run folder.
pub const FOREIGN: [&str; 6] = [".nfs0001", ".fuse_hidden0001", ".DS_Store", "a b", "0000.blk~", ".manifest.1.a.swp"];

/// Returns whether a file belongs to another program.
pub fn is_foreign(name: &str) -> bool {
    FOREIGN.contains(&name.rsplit('/').next().unwrap_or(name))
}

/// Collects the acknowledged blocks into a set of bits.
pub fn bits_of(blocks: &[u32]) -> u64 {
    blocks.iter().fold(0, |bits, block| bits | 1 << block)
}

/// Judges a session without faults that should finish the run on `disk`, whose blocks
/// `acknowledged` were acknowledged before.
///
/// # Errors
/// [`Wrong`] with the mistake.
pub fn judge(
    subject: &Subject,
    disk: &SimulatedStorage,
    session: Session,
    acknowledged: u64,
    trust: Trust,
) -> Result<Verdict, Wrong> {
    match session.ending {
        Ending::Hung(stuck) => return Err(Wrong::Hangs(stuck)),
        Ending::Panicked(text) => return Err(Wrong::Panic(text)),
        Ending::Failed(error) if trust == Trust::Honest => return Err(Wrong::Stuck(error)),
        Ending::Failed(error) => {
            return if names_a_file(&error) { Ok(Verdict::Refused) } else { Err(Wrong::Vague(error)) };
        }
        Ending::Finished => {}
    }
    let order = committed(disk).map_err(Wrong::Stuck)?;
    let found = &order[..session.found_blocks.unwrap_or(0) as usize];
    let lost = acknowledged & !bits_of(found);
    if lost != 0 && trust != Trust::Lied {
        return Err(Wrong::Lost(lost.trailing_zeros()));
    }
    for (name, bytes) in &subject.golden {
        if disk.shared_contents(name).as_deref() != Some(bytes) {
            let shown = trust != Trust::Honest && contradicts_itself(subject, disk);
            return if shown { Ok(Verdict::Detectable) } else { Err(Wrong::Different(name.clone())) };
        }
    }
    // Reported blocks stay finished, and old generations do not come back, even if everything
    // unsynced is lost.
    let later = disk.power_cut(0);
    if trust == Trust::Honest
        && let Some(name) = subject.golden.keys().find(|name| later.shared_contents(name) != disk.shared_contents(name))
    {
        return Err(Wrong::NotDurable(name.clone()));
    }
    let (metadata, others): (Vec<String>, Vec<String>) = disk
        .names()
        .into_iter()
        .filter(|name| !subject.golden.contains_key(name) && !is_foreign(name))
        .partition(|name| name.starts_with("m/"));
    if others != ["FORMAT", "LOCK"] || metadata.len() != 4 {
        return Err(Wrong::Leftover([others, metadata].concat()));
    }
    let names = later.names().into_iter().filter(|name| name.starts_with("m/") && !is_foreign(name));
    let returned: Vec<String> = names.filter(|name| !metadata.contains(name)).collect();
    if trust == Trust::Honest && !returned.is_empty() {
        return Err(Wrong::Leftover(returned));
    }
    Ok(if lost == 0 { Verdict::Right } else { Verdict::Lost })
}

/// Checks that no file on the disk after a stop promises one that is missing or has other bytes.
/// `SUMS` promises every file, the manifest every block and the book, a record of the journal its
/// published file, and records without one, in a run that keeps a book, all of these.
///
/// # Errors
/// [`Wrong::Promised`] with the file that promises.
pub fn promises(subject: &Subject, disk: &SimulatedStorage) -> Result<(), Wrong> {
    const LISTS: [&str; 3] = ["db/SUMS", "db/manifest.json", "db/book"];
    let is_right = |name: &str| disk.shared_contents(name).as_deref() == subject.golden.get(name);
    let has = |name: &str| disk.shared_contents(name).is_some();
    let are_right = |left_out: &[&str]| {
        subject.golden.keys().filter(|name| !left_out.contains(&name.as_str())).all(|name| is_right(name))
    };
    // A book replaces its parts, which are removed once the lists exist.
    let keeps_book = subject.golden.contains_key(LISTS[2]);
    for (number, list) in
        LISTS.into_iter().enumerate().filter(|(_, list)| subject.golden.contains_key(*list) && has(list))
    {
        if !(if number == 2 { is_right(list) } else { are_right(&LISTS[..number]) }) {
            return Err(Wrong::Promised(list.to_owned()));
        }
    }
    let Ok(found) = pipeline::checkpoint::inspect(disk) else { return Ok(()) };
    let mut published = found.records.iter().filter_map(|record| record.published.as_ref());
    let is_bound = keeps_book && found.records.len() == subject.blocks() as usize && published.clone().next().is_none();
    if is_bound && !are_right(&[]) {
        return Err(Wrong::Promised("a generation without parts".to_owned()));
    }
    let is_there = |file: &PublishedFile| {
        let bytes = disk.shared_contents(&file.name);
        bytes.is_some_and(|bytes| xxhash_rust::xxh3::xxh3_128(&bytes) == file.hash)
    };
    match published.find(|file| !is_there(file)) {
        Some(file) => Err(Wrong::Promised(format!("the record of {}", file.name))),
        None => Ok(()),
    }
}

/// Returns whether a refusal says where. A disk that mixes up its contents can also make a file
/// vanish or a name unreadable.
fn names_a_file(error: &Error) -> bool {
    matches!(
        error,
        Error::Corrupt { .. }
            | Error::Version { .. }
            | Error::Parameters { .. }
            | Error::NotEmpty { .. }
            | Error::Io { .. }
    )
}

/// Returns whether the checksums contradict the files in `db/`: `SUMS` for a game, otherwise the
/// hash in the journal.
fn contradicts_itself(subject: &Subject, disk: &SimulatedStorage) -> bool {
    let files: Files =
        subject.golden.keys().map(|name| (name.clone(), disk.contents(name).unwrap_or_default())).collect();
    let Some(sums) = files.get("db/SUMS") else {
        let Ok(found) = pipeline::checkpoint::inspect(disk) else { return true };
        let mut published = found.records.iter().filter_map(|record| record.published.as_ref());
        return published.any(|file| xxhash_rust::xxh3::xxh3_128(&files[&file.name]) != file.hash);
    };
    let sums = String::from_utf8_lossy(sums);
    let listed: Vec<(&str, &str)> = sums.lines().filter_map(|line| line.split_once("  ")).collect();
    let is_right = |(hash, name): &(&str, &str)| {
        files.get(&format!("db/{name}")).is_some_and(|bytes| blake3::hash(bytes).to_hex().as_str() == *hash)
    };
    listed.len() + 1 != files.len() || !listed.iter().all(is_right)
}
