//! The oracles: the contents that a folder must have after a run, and the blocks it acknowledges.

use crate::setup::Setup;
use crate::subject::{Launch, Solve};
use anyhow::{Context, Result, ensure};
use pipeline::{BlockId, RealStorage, checkpoint};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Beginnings of names that only other programs give: file managers, FUSE, NFS, users.
pub const FOREIGN: [&[u8]; 6] =
    [b".DS_Store", b".fuse_hidden", b".nfs", b"a b", b"\xff.bin", b"x\x1b]0;forged\x07\nerror: forged"];

/// Reads every file below a folder, by its path in the folder, except those of other programs.
pub fn files(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    fn collect(folder: &Path, root: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default();
            if FOREIGN.iter().any(|start| name.as_bytes().starts_with(start)) {
                continue;
            }
            if path.is_dir() {
                collect(&path, root, found)?;
            } else {
                let contents = fs::read(&path).with_context(|| path.display().to_string())?;
                found.insert(path.strip_prefix(root)?.to_owned(), contents);
            }
        }
        Ok(())
    }
    let mut found = BTreeMap::new();
    collect(folder, folder, &mut found)?;
    Ok(found)
}

/// The published database of a run without faults.
#[derive(Clone)]
pub struct Golden {
    database: BTreeMap<PathBuf, Vec<u8>>,
}

impl Golden {
    /// Solves with one thread, and checks the result with the verifier, which shares no code with
    /// the solver.
    pub fn make(setup: &Setup, solve: &Solve) -> Result<Golden> {
        let folder = setup.folder()?;
        let out = folder.join("run");
        let clean = Solve { threads: 1, ..*solve };
        let ended = clean.launch(setup, &folder, &out).run()?;
        ensure!(ended.code == Some(0), "{solve}: the clean run ended with {}", ended.summary());
        let verified = Launch::new(setup, &folder, &["verify".as_ref(), out.as_os_str()]).run()?;
        ensure!(verified.code == Some(0), "{solve}: verify ended with {}", verified.summary());
        let database = files(&out.join("db"))?;
        fs::remove_dir_all(&folder)?;
        Ok(Golden { database })
    }

    /// Returns whether the files of a folder are those of the database.
    pub fn is_in(&self, folder: &Path) -> Result<bool> {
        Ok(files(folder)? == self.database)
    }

    /// Returns a description of what is wrong with a finished folder, if anything: a difference in
    /// the database or superfluous files.
    pub fn compare(&self, out: &Path) -> Option<String> {
        let found = match files(out) {
            Ok(found) => found,
            Err(error) => return Some(format!("{error:#}")),
        };
        let mut seen = 0;
        let mut metadata = Vec::new();
        for (path, contents) in &found {
            if let Ok(name) = path.strip_prefix("db") {
                seen += 1;
                match self.database.get(name) {
                    Some(golden) if golden == contents => {}
                    Some(_) => return Some(format!("{} differs", path.display())),
                    None => return Some(format!("{} is left over", path.display())),
                }
            } else if path.starts_with("m") {
                metadata.push(path.display().to_string());
            } else if path != Path::new("LOCK") && path != Path::new("FORMAT") {
                return Some(format!("{} is left over", path.display()));
            }
        }
        if seen != self.database.len() {
            return Some(format!("{seen} of {} published files", self.database.len()));
        }
        let generation = metadata.iter().find_map(|name| name.strip_prefix("m/journal.")?.strip_suffix(".a"));
        let generation = generation.unwrap_or("?");
        let expected = ["journal", "manifest"]
            .into_iter()
            .flat_map(|kind| ["a", "b"].map(|copy| format!("m/{kind}.{generation}.{copy}")));
        let expected: Vec<String> = expected.collect();
        (metadata != expected).then(|| format!("metadata are {metadata:?}"))
    }
}

/// The databases of several solves, each made once.
#[derive(Default)]
pub struct Goldens(Vec<((u32, u32), Golden)>);

impl Goldens {
    pub fn of(setup: &Setup, solves: &[Solve]) -> Result<Goldens> {
        let mut goldens = Goldens::default();
        for solve in solves {
            if goldens.find(solve).is_none() {
                goldens.0.push(((solve.layers, solve.block_bits), Golden::make(setup, solve)?));
            }
        }
        Ok(goldens)
    }

    fn find(&self, solve: &Solve) -> Option<&Golden> {
        self.0.iter().find(|(board, _)| *board == (solve.layers, solve.block_bits)).map(|(_, golden)| golden)
    }

    pub fn get(&self, solve: &Solve) -> Result<&Golden> {
        self.find(solve).with_context(|| format!("no golden database of {solve}"))
    }
}

/// Reads which blocks a folder records as finished; none if no run has started.
pub fn finished(out: &Path) -> Result<BTreeSet<BlockId>> {
    if !out.exists() {
        return Ok(BTreeSet::new());
    }
    match checkpoint::inspect(&RealStorage::open(out)?) {
        Ok(inspection) => Ok(inspection.records.iter().map(|record| record.block).collect()),
        Err(pipeline::Error::NotARun { .. }) => Ok(BTreeSet::new()),
        Err(error) => Err(anyhow::Error::new(error)),
    }
}

/// Reads the blocks acknowledged so far by a stopped run: those whose records are within the synced
/// part of journal b. It reads them from a copy of the metadata that is cut there. `log` is the log
/// of the syncs.
pub fn acknowledged(out: &Path, scratch: &Path, log: &str) -> Result<BTreeSet<BlockId>> {
    let synced = |line: &str| -> Option<(u64, PathBuf)> {
        let (length, path) = line.strip_prefix("s ")?.split_once(' ')?;
        Some((length.parse().ok()?, PathBuf::from(path)))
    };
    let is_second_journal = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("journal.") && name.ends_with(".b")
    };
    let last = log.lines().rev().filter_map(synced).find(|(length, path)| *length > 0 && is_second_journal(path));
    let Some((length, journal)) = last else { return Ok(BTreeSet::new()) };
    let copy = scratch.join("acknowledged");
    let _ = fs::remove_dir_all(&copy);
    for folder in ["m", "logs", "db"] {
        fs::create_dir_all(copy.join(folder))?;
    }
    fs::copy(out.join("FORMAT"), copy.join("FORMAT"))?;
    for entry in fs::read_dir(out.join("m"))? {
        let name = entry?.file_name();
        fs::copy(out.join("m").join(&name), copy.join("m").join(&name))?;
    }
    let name = journal.file_name().and_then(|name| name.to_str()).context("a journal has a name")?.to_owned();
    for name in [name.clone(), name.replace(".b", ".a")] {
        let file = fs::OpenOptions::new().write(true).open(copy.join("m").join(&name));
        file.with_context(|| format!("{name} was synced and is gone"))?.set_len(length)?;
    }
    finished(&copy)
}
