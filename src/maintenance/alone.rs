//! The check of a database without its run: compares the files with `SUMS`, and decides which side
//! is right.
//!
//! # Invariants
//! 1. A block prevails over its line in `SUMS` if every hash inside it is right and its bitmap has
//!    the digest in the manifest. The manifest prevails over its line if all blocks add up to it.
//! 2. Board, rule and layout are trusted if `SUMS` agrees with the manifest, or if the header of
//!    one block contains them.
//! 3. Where only the counts are kept, there are no blocks, and only `SUMS` confirms the manifest.
//!    If they disagree, the manifest counts as damaged, and neither is rewritten.

use super::lists::{contents, difference, or_finding};
use super::workers::{Request, Watch};
use super::{Damage, Depth, Error, Finding, Report, Severity, Subject, run_around, sort_findings};
use crate::database::block::{BLOCK_BYTES_MAX, BlockForm, BlockIndex, block_bytes_at_most};
use crate::database::census::Census;
use crate::database::{
    Audit, AuditResult, BOOK, Book, DatabaseError, Game, Keep, MANIFEST, Manifest, SUMS, SolveSpec, Sums, Terms,
    block_file_name, is_database_file, stream_digest,
};
use crate::solve::RemovalGame;
use crate::solve::book::examine;
use parking_lot::Mutex;
use pipeline::checkpoint::without_temporary;
use pipeline::storage::{EntryKind, MemoryFile, read_whole};
use pipeline::{Bitmap, BlockId, RealStorage, Storage, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use trinim_kernel::Kernel;

/// The state of a database after a check.
pub(super) struct CheckedDatabase {
    pub(super) report: Report,
    pub(super) lists: Lists,
    /// Whether the book is wrong or missing.
    pub(super) book_wrong: bool,
    pub(super) damaged_blocks: BTreeSet<BlockId>,
    /// Whether the manifest or `SUMS` needs to be rewritten.
    pub(super) lists_wrong: bool,
    /// Whether the manifest is wrong, and `SUMS` lists none that the blocks add up to.
    pub(super) manifest_lost: bool,
}

pub(super) struct TrustedManifest {
    pub(super) game: Game,
    pub(super) manifest: Manifest,
    form: BlockForm,
}

impl TrustedManifest {
    /// Returns the spec of the solve that made the database.
    pub(super) fn spec(&self) -> SolveSpec<'_> {
        self.manifest.spec(&self.game)
    }

    /// Returns the blocks that have files, by ordinal.
    pub(super) fn blocks(&self) -> impl Iterator<Item = BlockId> + use<> {
        let kept = self.manifest.keep.is_database();
        self.game.layout.ordinals().filter(move |_| kept)
    }

    /// Returns the hexadecimal digest of a block's bitmap.
    pub(super) fn digest(&self, block: BlockId) -> &str {
        self.manifest.blocks.get(block.index()).map_or("", |row| &row.digest)
    }

    /// Returns the hexadecimal digest of a block's bitmap according to its file, if all hashes in
    /// the file are right.
    pub(super) fn digest_of(&self, path: &Path, block: BlockId, file: &[u8]) -> Result<String, Error> {
        Ok(hex_digest(self.recall(path, block, file)?.words()))
    }

    /// Decodes the stream of a block from the bytes of its file.
    fn recall(&self, path: &Path, block: BlockId, file: &[u8]) -> Result<Bitmap, Error> {
        let mut bitmap = Bitmap::zeroed(self.form.stream_words)?;
        self.form.read(path, block, file, bitmap.words_mut())?;
        Ok(bitmap)
    }
}

pub(super) fn hex_digest(stream: &[u64]) -> String {
    blake3::Hash::from_bytes(stream_digest(stream)).to_hex().to_string()
}

pub(super) fn read_all(
    storage: &dyn Storage,
    name: &str,
    known: Option<&TrustedManifest>,
) -> Result<Vec<u8>, pipeline::Error> {
    let most = known.map_or(BLOCK_BYTES_MAX, |known| block_bytes_at_most(known.form.stream_words));
    read_whole(&*storage.open(name)?, most)
}

/// The result of the check of one block.
struct BlockCheck {
    /// Whether its header has the board, rule and layout of the manifest.
    is_of_game: bool,
    damage: Option<Finding>,
    /// Its BLAKE3 if its line in `SUMS` is wrong or missing.
    sum: Option<blake3::Hash>,
}

/// The manifest and `SUMS` of a database as found.
pub(super) struct Lists {
    pub(super) found: Option<Vec<u8>>,
    /// The lines of `SUMS`; none if the file could not be read.
    pub(super) sums: Sums,
    has_sums: bool,
    /// The content of the manifest, if it can be read and is trusted.
    pub(super) known: Option<TrustedManifest>,
    /// Whether `SUMS` has the right line for the manifest.
    pub(super) vouched: bool,
    /// Whether `SUMS` is missing in the folder of a run, which may still be writing it.
    unsealed: bool,
}

impl Lists {
    /// Reads both lists; adds the errors of each as a whole.
    fn read(storage: &RealStorage, findings: &mut Vec<Finding>) -> Result<Lists, Error> {
        let in_run = run_around(storage).is_some();
        let missing = if in_run { Severity::Leftover } else { Severity::Damage };
        // SUMS is written last, so it is read first: a solve that ends in between has then written
        // the manifest as well.
        let sums = or_finding(Sums::load(storage, SUMS), missing)?.map_err(|finding| findings.push(finding)).ok();
        let unsealed = findings.iter().any(|finding| !finding.severity.is_damage());
        let found = or_finding(contents(storage, MANIFEST), Severity::Damage)?;
        let found = found.map_err(|finding| findings.push(finding)).ok();
        let (has_sums, sums) = (sums.is_some(), sums.unwrap_or_default());
        let sum = found.as_deref().map(blake3::hash);
        let vouched = sum.is_some_and(|sum| sums.check(MANIFEST, sum) == Some(Ok(())));
        let known = match found.as_deref().map(|bytes| Manifest::parse(&storage.path(MANIFEST), bytes)) {
            None => None,
            Some(Ok((manifest, game))) => {
                Some(TrustedManifest { form: BlockForm::new(manifest.spec(&game)), game, manifest })
            }
            // Report another version only if `SUMS` confirms the bytes; otherwise it is damage.
            Some(Err(error)) if vouched && matches!(error, DatabaseError::Version { .. }) => return Err(error.into()),
            Some(Err(error)) => {
                findings.push(error.into_finding()?);
                None
            }
        };
        Ok(Lists { found, sums, has_sums, known, vouched, unsealed })
    }

    /// Returns the names of the blocks: those of the layout, or without a manifest those in `SUMS`.
    fn block_names(&self) -> BTreeSet<String> {
        match &self.known {
            Some(known) => known.blocks().map(block_file_name).collect(),
            None => self.sums.lines.keys().filter(|name| *name != MANIFEST).cloned().collect(),
        }
    }

    /// Compares the manifest with the sum of the blocks, unless `SUMS` confirms it, and `SUMS` with
    /// the `expected` lines of the blocks. Returns whether the manifest cannot be rebuilt.
    fn judge(
        &self,
        storage: &RealStorage,
        blocks_damaged: bool,
        mut expected: BTreeMap<String, Option<blake3::Hash>>,
        findings: &mut Vec<Finding>,
    ) -> Result<bool, Error> {
        let (mut right, mut manifest_lost) = (None, false);
        // A confirmed manifest can contradict itself; any other is built again from kept blocks.
        if let Some(known) = self.known.as_ref().filter(|known| self.vouched || !known.manifest.keep.is_database()) {
            let path = storage.path(MANIFEST);
            let listed = self.found.as_deref().and_then(|bytes| self.sums.check(MANIFEST, blake3::hash(bytes)));
            match (known.manifest.check(&path, &known.game), listed) {
                (Err(error), _) => findings.push(error.into_finding()?),
                (Ok(()), Some(Err(damage))) => findings.push(Finding::new(Severity::Damage, path, damage)),
                _ => {}
            }
        } else if let (Some(known), Some(bytes)) = (&self.known, &self.found) {
            if blocks_damaged {
                let damage = match self.sums.check(MANIFEST, blake3::hash(bytes)) {
                    Some(Err(damage)) => damage,
                    _ => "unconfirmed, because SUMS has no line for it and blocks are damaged".into(),
                };
                findings.push(Finding::new(Severity::Damage, storage.path(MANIFEST), damage));
            } else {
                match rebuild(storage, known, &self.sums, Some(bytes)).map_err(finding) {
                    Ok((rebuilt, is_confirmed)) => {
                        findings.extend(difference(storage, MANIFEST, &rebuilt, bytes));
                        manifest_lost = !is_confirmed;
                        right = is_confirmed.then(|| blake3::hash(&rebuilt));
                    }
                    // A check of names and lengths has not read the blocks before.
                    Err(damage) => findings.push(damage?),
                }
            }
        }
        expected.insert(MANIFEST.to_owned(), right);
        if self.has_sums {
            findings.extend(self.sums.compare_in_order(&expected));
        }
        Ok(manifest_lost)
    }
}

pub(super) fn check_database(
    storage: &RealStorage,
    depth: Depth,
    request: &Request<'_>,
) -> Result<CheckedDatabase, Error> {
    let mut findings = Vec::new();
    let mut lists = Lists::read(storage, &mut findings)?;
    let names = lists.block_names();
    let lengths = lengths(storage)?;
    let book = lists.known.as_ref().map(|known| known.manifest.keep).filter(|keep| matches!(keep, Keep::Book { .. }));
    let is_own = |name: &String| is_database_file(without_temporary(name));
    let is_ours = |name: &String| name == MANIFEST || name == SUMS || (name == BOOK && book.is_some());
    for name in lengths.keys().filter(|name| !names.contains(*name) && !is_ours(name) && is_own(name)) {
        let damage = Damage::Superfluous("not a file of this database");
        findings.push(Finding::new(Severity::Leftover, storage.path(name), damage));
    }
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_by_key(String::len); // By ordinal: blocks from 1,000,000 on have longer names.
    let blocks = lists.known.as_ref().map_or(0, |known| known.game.layout.canonical_blocks().len() as u64);
    let (seen, bytes) = look_at_all(storage, &names, &lengths, &lists, depth, request)?;

    let mut expected: BTreeMap<String, Option<blake3::Hash>> = names.iter().map(|name| (name.clone(), None)).collect();
    let mut damaged_blocks = BTreeSet::new();
    if !names.is_empty() && lists.known.is_some() && !lists.vouched && !seen.values().any(|one| one.is_of_game) {
        let rule = "board, rule and layout differ from those of the blocks";
        findings.push(Finding::new(Severity::Damage, storage.path(MANIFEST), rule));
        lists.known = None;
    } else {
        for (block, one) in seen {
            if let Some(sum) = one.sum {
                expected.insert(names[block.index()].clone(), Some(sum));
            }
            if let Some(finding) = one.damage {
                findings.push(finding);
                damaged_blocks.insert(block);
            }
        }
    }
    let mut book_wrong = false;
    if let (Some(keep), Some(known)) = (book, &lists.known) {
        match look_at_book(storage, &known.game, keep, &known.manifest.census, depth)? {
            Ok((sum, _)) => drop(expected.insert(BOOK.to_owned(), sum)),
            Err(finding) => {
                expected.insert(BOOK.to_owned(), None);
                findings.push(finding);
                book_wrong = true;
            }
        }
    }
    let before = findings.len();
    let manifest_lost = lists.judge(storage, !damaged_blocks.is_empty(), expected, &mut findings)?;
    let lists_wrong = findings.len() > before || lists.found.is_none() || !lists.has_sums || lists.known.is_none();
    sort_findings(&mut findings);
    let report = Report {
        findings,
        blocks,
        finished_blocks: blocks.saturating_sub(damaged_blocks.len() as u64),
        files: names.len() as u64 + 2 + u64::from(book.is_some()),
        bytes: if depth == Depth::Metadata { 0 } else { bytes },
        unsealed: lists.unsealed,
        subject: Subject::Database,
        ..Report::default()
    };
    Ok(CheckedDatabase { report, lists, book_wrong, damaged_blocks, lists_wrong, manifest_lost })
}

/// Returns the files in a folder with their lengths.
fn lengths(storage: &RealStorage) -> Result<BTreeMap<String, u64>, Error> {
    let files = storage.list("")?.into_iter().filter(|entry| entry.kind == EntryKind::File);
    Ok(files.map(|entry| (entry.name, entry.length)).collect())
}

/// Checks the blocks on several threads; returns the results by their place in `names`, and the
/// bytes of all.
fn look_at_all(
    storage: &RealStorage,
    names: &[String],
    lengths: &BTreeMap<String, u64>,
    lists: &Lists,
    depth: Depth,
    request: &Request<'_>,
) -> Result<(BTreeMap<BlockId, BlockCheck>, u64), Error> {
    let all = names.iter().filter_map(|name| lengths.get(name)).sum();
    let watch = Watch::new(request, all);
    let seen = Mutex::new(BTreeMap::new());
    let look = |(): &mut (), index: usize| {
        let (name, block) = (&names[index], BlockId(index as u32));
        let one = look_at(storage, name, block, lists, depth)?;
        seen.lock().insert(block, one);
        watch.advance(lengths.get(name).copied().unwrap_or(0))
    };
    match watch.run(names.len(), || Ok(()), look)? {
        true => Ok((seen.into_inner(), all)),
        false => Err(pipeline::Error::Interrupted.into()),
    }
}

/// Checks one file; it is that of `block` if the manifest is trusted.
fn look_at(storage: &RealStorage, name: &str, block: BlockId, list: &Lists, depth: Depth) -> Result<BlockCheck, Error> {
    let (path, known) = (storage.path(name), list.known.as_ref());
    let mut seen = BlockCheck { is_of_game: false, damage: None, sum: None };
    if depth == Depth::Metadata {
        seen.damage = begin_of(storage, name, block, known).err().map(finding).transpose()?;
        seen.is_of_game = known.is_some() && seen.damage.is_none();
        return Ok(seen);
    }
    let file = match read_all(storage, name, known) {
        Ok(file) => file,
        Err(error) => {
            seen.damage = Some(finding(error.into())?);
            return Ok(seen);
        }
    };
    let sum = blake3::hash(&file);
    let listed = list.sums.check(name, sum);
    let is_as_listed = listed == Some(Ok(()));
    let Some(known) = known else {
        // Without a manifest the blocks are those with a line.
        seen.damage = listed.and_then(Result::err).map(|damage| Finding::new(Severity::Damage, &path, damage));
        return Ok(seen);
    };
    seen.is_of_game = BlockIndex::open(&MemoryFile::new(&path, &file), &known.form, block).is_ok();
    if is_as_listed && depth < Depth::Full {
        return Ok(seen);
    }
    match known.digest_of(&path, block, &file) {
        // A manifest that nothing confirms says nothing of a block that `SUMS` confirms.
        Ok(digest) if digest == known.digest(block) || (is_as_listed && !list.vouched) => {
            seen.sum = (!is_as_listed).then_some(sum);
        }
        Ok(digest) => {
            seen.damage = Some(Finding::new(Severity::Damage, &path, digests_differ(known.digest(block), digest)));
        }
        Err(error) => seen.damage = Some(finding(error)?),
    }
    Ok(seen)
}

/// Reads header and index of a block, which determine the length of its file.
fn begin_of(storage: &RealStorage, name: &str, block: BlockId, known: Option<&TrustedManifest>) -> Result<(), Error> {
    let file = storage.open(name)?;
    if let Some(known) = known {
        BlockIndex::open(&*file, &known.form, block)?;
    }
    Ok(())
}

/// Checks the book in a `db` folder: its header, and above [`Depth::Metadata`] every frame, and
/// that it adds up to the census. Returns its BLAKE3, unless only the header was read, and its
/// length; or the damage.
pub(super) fn look_at_book(
    storage: &RealStorage,
    game: &Game,
    keep: Keep,
    census: &Census,
    depth: Depth,
) -> Result<Result<FileSum, Finding>, Error> {
    let Keep::Book { pieces } = keep else { return Ok(Ok((None, 0))) };
    let look = || -> Result<FileSum, Error> {
        let bytes = Book::open(storage.open(BOOK)?, game, pieces)?.file_bytes();
        if depth == Depth::Metadata {
            return Ok((None, bytes));
        }
        Ok((Some(examine(storage, BOOK, Terms::from(keep).spec(game), census)?), bytes))
    };
    match look() {
        Ok(found) => Ok(Ok(found)),
        Err(error) => Ok(Err(finding(error)?)),
    }
}

type FileSum = (Option<blake3::Hash>, u64);

/// Up to this many blocks, every possible number of audited blocks is tried.
const TRIED_BLOCKS: u64 = 10_000;

/// Builds the manifest that all blocks add up to. They do not show what an audit compared: that is
/// what the `found` manifest says, unless `SUMS` has the hash of another one. Returns whether it is
/// the found one or has the hash in `SUMS`, or `SUMS` has none.
pub(super) fn rebuild(
    storage: &RealStorage,
    known: &TrustedManifest,
    sums: &Sums,
    found: Option<&[u8]>,
) -> Result<(Vec<u8>, bool), Error> {
    let workload = RemovalGame::new(known.spec(), Kernel::detect());
    let mut summaries = Vec::new();
    for block in known.blocks() {
        let name = block_file_name(block);
        let bitmap = known.recall(&storage.path(&name), block, &read_all(storage, &name, Some(known))?)?;
        summaries.push(workload.summarise(block, bitmap.words()));
    }
    let manifest = Manifest::from_summaries(known.spec(), summaries.iter().map(Vec::as_slice));
    let manifest = manifest.ok_or_else(|| pipeline::Error::workload("a summary of another form"))?;
    let with = |audit| Manifest { audit, ..manifest.clone() }.to_json();
    let is_listed = |bytes: &Vec<u8>| sums.check(MANIFEST, blake3::hash(bytes)).is_none_or(|found| found.is_ok());
    let rebuilt = with(known.manifest.audit.clone());
    if found == Some(&rebuilt) || is_listed(&rebuilt) {
        return Ok((rebuilt, true));
    }
    let blocks = known.game.layout.canonical_blocks().len() as u64;
    let parts = (1..=blocks).filter(|_| blocks <= TRIED_BLOCKS).map(|number| AuditResult::of_part(number, &known.game));
    let mut others = [None, AuditResult::passed(Audit::All, &known.game)].into_iter().chain(parts.map(Some)).map(with);
    Ok(others.find(is_listed).map_or((rebuilt, false), |listed| (listed, true)))
}

fn finding(error: Error) -> Result<Finding, Error> {
    match error {
        Error::Run(error) => Ok(Finding::from_error(Severity::Damage, error)?),
        Error::Database(error) => Ok(error.into_finding()?),
        other => Err(other),
    }
}

/// Builds the damage of a block whose bitmap does not have the digest in the manifest.
pub(super) fn digests_differ(expected: &str, found: String) -> Damage {
    Damage::Hash { of: "digest of the bitmap", expected: expected.to_owned(), found }
}
