//! Checks a whole run folder (metadata, logs, published files) at three depths and reports
//! everything that is wrong. Other files of the caller, and files that do not belong to the run,
//! are ignored.
//!
//! | | metadata | sums | full |
//! |---|---|---|---|
//! | `FORMAT`, manifests, journals: every copy, the chain of hashes | yes | yes | yes |
//! | names and lengths of everything the journal names, leftovers | yes | yes | yes |
//! | every hash of every log entry that is still needed, the hash of every published file | | yes | yes |
//! | every frame of these decodes | | | yes |
//!
//! # Invariants
//! 1. The check changes nothing and takes no lock, so a run can continue meanwhile.
//! 2. A finding counts only if a second look, begun after the first has ended, finds it again.
//!    Changes of a run between two steps of one look (a consumed log, a longer journal, a new
//!    generation) disappear in the next one: a commit is durable before the logs it consumes are
//!    deleted, so a second look, which reads the journal again, does not need them.
//! 3. Damage of any file is a finding, never an error and never a panic. A log entry or a published
//!    file is reported with its first damage, because repair replaces the whole entry or file.
//!
//! # Cost
//! Each checked byte is read once, damaged files twice. Memory: the metadata, and for each thread a
//! published file and a bitmap.

use crate::bitmap::Bitmap;
use crate::checkpoint::{
    Examination, Inspection, LOGS, METADATA, PUBLISHED, PublishedFile, examine, is_log, left_over, without_temporary,
};
use crate::codec::Scratch;
use crate::error::Error;
use crate::finding::{Damage, Expected, Finding, Severity, persists, sort_findings};
use crate::ids::{BlockId, RunId};
use crate::log::frame::LONG_FRAME_WORDS;
use crate::log::place::{Extent, LogFile};
use crate::log::reader::EntryReader;
use crate::measure::metrics::Metrics;
use crate::parallel;
use crate::run::ledger::{Needs, StreamPlace};
use crate::storage::{Entry, EntryKind, Storage, folder_of, list};
use crate::workload::Workload;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use xxhash_rust::xxh3::xxh3_128;

/// How thoroughly a folder is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Metadata, names and lengths.
    Metadata,
    /// Also every hash.
    Sums,
    /// Also decodes every frame.
    Full,
}

/// Arguments of a check.
#[derive(Clone, Copy)]
pub struct CheckRequest<'a> {
    /// How thorough the check is.
    pub depth: Depth,
    /// Number of threads.
    pub threads: usize,
    /// Set by the caller to end the check early.
    pub stop: &'a AtomicBool,
    /// Called with the bytes done and the total bytes, from any thread.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
    /// Called with the block and contents of every published file whose hash is right, from any
    /// thread.
    pub published: &'a (dyn Fn(BlockId, &[u8]) + Sync),
}

impl CheckRequest<'static> {
    /// Returns the request for a check on one thread that is not ended early.
    pub fn new(depth: Depth) -> CheckRequest<'static> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        CheckRequest { depth, threads: 1, stop: &NEVER, progress: &|_, _| {}, published: &|_, _| {} }
    }
}

/// Result of a check.
#[derive(Default)]
pub struct Report {
    /// Findings: damage first, leftovers last, each by path and offset.
    pub findings: Vec<Finding>,
    /// Content of the metadata; `None` if they are too damaged to read.
    pub inspection: Option<Inspection>,
    /// Whether at least one copy of `FORMAT`, a manifest or a journal is damaged.
    pub damaged_metadata: bool,
    /// Finished blocks whose published file is damaged or missing.
    pub damaged_blocks: BTreeSet<BlockId>,
    /// Damaged or missing log entries that are still needed.
    pub damaged_extents: BTreeSet<Extent>,
    /// Files in the folder of published files that no record names.
    pub unnamed: BTreeSet<String>,
    /// Number of needed files that the metadata name.
    pub files: u64,
    /// Number of bytes whose hashes were compared.
    pub bytes: u64,
}

impl Report {
    /// Returns whether all bytes that matter are as they were written, in every copy.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| !finding.severity.is_damage())
    }
}

/// Checks a run folder.
///
/// # Errors
/// Returns [`Error::NotARun`], [`Error::Version`], [`Error::Codec`], [`Error::Interrupted`], or
/// [`Error::Io`] if nothing can be read at all.
pub fn check(workload: &dyn Workload, storage: &dyn Storage, request: &CheckRequest<'_>) -> Result<Report, Error> {
    let needs = Needs::new(workload);
    let look = |only: Option<&BTreeSet<PathBuf>>| Look { workload, storage, needs: &needs, request, only }.all();
    let first = look(None)?;
    let (files, bytes) = (first.files, first.bytes);
    let mut last = first;
    // Look again until a look finds no damage that the previous one did not.
    while !last.is_sound() {
        let named = last.findings.iter().map(|finding| finding.path.clone()).collect();
        let next = look(Some(&named))?;
        let agree = persists(&last.findings, &next.findings);
        last = next;
        if agree {
            break;
        }
    }
    Ok(Report { files, bytes, ..last })
}

/// One look at a folder.
struct Look<'a> {
    workload: &'a dyn Workload,
    storage: &'a dyn Storage,
    needs: &'a Needs,
    request: &'a CheckRequest<'a>,
    /// The files whose contents are checked; `None` means all.
    only: Option<&'a BTreeSet<PathBuf>>,
}

/// Memory of one thread.
#[derive(Default)]
struct Buffers {
    bitmap: Option<Bitmap>,
    scratch: Scratch,
}

impl Look<'_> {
    fn all(&self) -> Result<Report, Error> {
        let Examination { mut findings, inspection } = examine(self.storage)?;
        let damaged_metadata = findings.iter().any(|finding| finding.severity.is_damage());
        let mut report = Report { damaged_metadata, ..Report::default() };
        let Some(inspection) = inspection else {
            return Ok(Report { findings, ..report });
        };
        let finished = inspection.finished();
        if let Some((block, source)) = self.needs.contradiction(&finished) {
            let rule = format!("block {block} is finished, but its source {source} is not");
            findings.push(Finding::new(Severity::Damage, self.storage.path(METADATA), rule));
        }
        let published = self.names(PUBLISHED)?;
        let logs = self.names(LOGS)?;
        let mut tasks = Vec::new();
        let mut named = BTreeSet::new();
        // One name for the many entries of a file.
        let mut log_names: HashMap<LogFile, String> = HashMap::new();
        for record in &inspection.records {
            if let Some(file) = &record.published {
                named.insert(file.name.clone());
                match self.presence(&published, &file.name, Expected::Exactly(file.length)) {
                    None => tasks.push(StreamPlace::Published(record.block, file.clone())),
                    Some(finding) => {
                        findings.push(finding);
                        report.damaged_blocks.insert(record.block);
                    }
                }
            }
            for extent in record.extents.iter().filter(|extent| self.needs.has(&finished, extent)) {
                let name = log_names.entry(extent.file).or_insert_with(|| extent.file.name());
                match self.presence(&logs, name, Expected::AtLeast(extent.end())) {
                    None => tasks.push(StreamPlace::Entry(*extent)),
                    Some(finding) => {
                        findings.push(finding);
                        report.damaged_extents.insert(*extent);
                    }
                }
            }
        }
        named.extend(log_names.into_values());
        report.files = named.len() as u64;
        let unnamed = |(name, entry): &(&String, &Entry)| !named.contains(*name) && self.is_own(name, entry);
        for (name, entry) in logs.iter().filter(unnamed) {
            let why = "a log that nothing needs any more";
            findings.push(left_over(self.storage, name, entry, why));
        }
        for (name, entry) in published.iter().filter(unnamed) {
            if entry.kind == EntryKind::File {
                report.unnamed.insert(name.clone());
            } else {
                findings.push(Finding::new(Severity::Damage, self.storage.path(name), Damage::NotAFile));
            }
        }

        if self.request.depth > Depth::Metadata {
            tasks.retain(|task| self.only.is_none_or(|only| only.contains(&self.storage.path(&task.file_name()))));
            report.bytes = tasks.iter().map(StreamPlace::length).sum();
            for (index, finding) in self.contents(inspection.run_id, &tasks, report.bytes)? {
                findings.push(finding);
                match &tasks[index] {
                    StreamPlace::Entry(extent) => report.damaged_extents.insert(*extent),
                    StreamPlace::Published(block, _) => report.damaged_blocks.insert(*block),
                };
            }
        }
        // A missing file is found once for every entry in it.
        sort_findings(&mut findings);
        Ok(Report { findings, inspection: Some(inspection), ..report })
    }

    fn names(&self, folder: &str) -> Result<BTreeMap<String, Entry>, Error> {
        let entries = list(self.storage, folder)?;
        Ok(entries.into_iter().map(|entry| (format!("{folder}/{}", entry.name), entry)).collect())
    }

    /// Returns whether a file in one of the two folders can belong to the run.
    fn is_own(&self, name: &str, entry: &Entry) -> bool {
        match folder_of(name) {
            LOGS => is_log(&entry.name),
            _ => self.workload.owns(without_temporary(&entry.name)),
        }
    }

    /// Checks the name and the length of a file.
    fn presence(&self, there: &BTreeMap<String, Entry>, name: &str, expected: Expected) -> Option<Finding> {
        let damage = match there.get(name) {
            None => Damage::MISSING,
            Some(entry) if entry.kind != EntryKind::File => Damage::NotAFile,
            Some(entry) if expected.holds(entry.length) => return None,
            Some(entry) => Damage::Length { expected, found: entry.length },
        };
        Some(Finding::new(Severity::Damage, self.storage.path(name), damage))
    }

    /// Checks the contents on several threads; returns the findings by index of their task.
    fn contents(&self, run_id: RunId, tasks: &[StreamPlace], all: u64) -> Result<BTreeMap<usize, Finding>, Error> {
        let (done, found) = (AtomicU64::new(0), Mutex::new(BTreeMap::new()));
        let look = |buffers: &mut Buffers, index: usize| -> Result<(), Error> {
            if self.request.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let task = &tasks[index];
            let looked = match task {
                StreamPlace::Entry(extent) => self.entry(run_id, extent, buffers),
                StreamPlace::Published(block, file) => self.published(*block, file, buffers),
            };
            if let Err(error) = looked {
                found.lock().insert(index, Finding::from_error(Severity::Damage, error)?);
            }
            (self.request.progress)(done.fetch_add(task.length(), Ordering::Relaxed) + task.length(), all);
            Ok(())
        };
        parallel::for_each(self.request.threads, tasks.len(), || Ok(Buffers::default()), look)
            .map_err(|mut failures| failures.swap_remove(0))?;
        Ok(found.into_inner())
    }

    fn entry(&self, run_id: RunId, extent: &Extent, buffers: &mut Buffers) -> Result<(), Error> {
        let decodes = self.request.depth == Depth::Full;
        let mut words = vec![0; if decodes { LONG_FRAME_WORDS.min(self.workload.stream_words()) } else { 0 }];
        let metrics = Metrics::default();
        let (header, mut entry) = EntryReader::open(self.storage, run_id, &metrics, extent)?;
        if header.stream_words != self.workload.stream_words() as u64 {
            let path = self.storage.path(&extent.file.name());
            return Err(Error::corrupt(path, extent.offset, "the entry is not as long as the streams of this run"));
        }
        while let Some(frame) = entry.next_frame()? {
            if decodes {
                frame.decode_into(&mut words[..frame.words()], &mut buffers.scratch).map_err(|wrong| {
                    let path = self.storage.path(&extent.file.name());
                    Error::corrupt(path, extent.offset, format!("a frame does not decode: {}", wrong.0))
                })?;
            }
        }
        Ok(())
    }

    fn published(&self, block: BlockId, file: &PublishedFile, buffers: &mut Buffers) -> Result<(), Error> {
        let bytes = file.read_unchecked(self.storage)?;
        let got = xxh3_128(&bytes);
        let is_right = got == file.hash;
        if is_right {
            (self.request.published)(block, &bytes);
        }
        if is_right && self.request.depth < Depth::Full {
            return Ok(());
        }
        let bitmap = match &mut buffers.bitmap {
            Some(bitmap) => bitmap,
            none => none.insert(Bitmap::zeroed(self.workload.stream_words())?),
        };
        let recalled = self.workload.examine(block, &bytes, bitmap.words_mut());
        let path = self.storage.path(&file.name);
        match (recalled, is_right) {
            (Ok(()), true) => Ok(()),
            // The workload's offset in the file if it has one, otherwise the first byte.
            (recalled, false) => {
                let offset = recalled.err().map_or(Some(0), |unreadable| unreadable.offset);
                Err(Error::corrupt(path, offset, Damage::hash("hash of the file", file.hash, got)))
            }
            (Err(unreadable), true) => Err(Error::corrupt(path, unreadable.offset, unreadable.damage)),
        }
    }
}
