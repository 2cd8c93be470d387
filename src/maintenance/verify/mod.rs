//! The verifier: checks a database against the rules of the game.
//!
//! The solver is complex machinery: vector kernels, compressed logs, checkpoints. So that users of
//! a database need not trust it, the verifier recomputes the claims of a database from the rules
//! and reports every contradiction. It checks, in this order:
//!
//! | | checksums | sample | full |
//! |---|---|---|---|
//! | `SUMS` is well formed, names every file and no other; every file has its BLAKE3 | yes | yes | yes |
//! | every frame of every block decodes | yes | yes | yes |
//! | a block's losses and digest are those of its row in the manifest | | chosen blocks | yes |
//! | a position is a loss iff none of its children is one | | chosen blocks | yes |
//! | census, start and solution digest of the manifest | | | yes |
//! | losses and start against published figures, where there are some | | | yes |
//! | losses with an empty last row against the published board with one layer less | | | yes |
//!
//! For each canonical block, and each of its child blocks:
//!
//! ```text
//! canonical block of the child  --decode-->  its losses, in its own orientation
//!     --exchange of index bits-->  the losses of the child  --shift and OR, for each move-->  positions with a losing child
//! ```
//!
//! In the end, the stored losses and the positions with a losing child must be complements. A block
//! counts as one more child of itself, reached by the moves inside it: all values are known, so the
//! order of its positions does not matter. With nimbers or distances, all this is done for the
//! bitmap of each number; `block.rs` has the rule.
//!
//! # Why a clean report can be trusted
//! *It is sufficient.* Suppose no position of a canonical block contradicts its children. Then
//! every stored value is right, by induction on the number of pieces: the rule gives the value of
//! the empty position, and a position with pieces has children with fewer, whose stored values are
//! right. A child in another block is read from its canonical block through a symmetry, which maps
//! moves to moves, so it has the value of its image there. One pass in any order suffices; a wrong
//! value is found even if everything computed from it is consistent.
//!
//! *It is independent.* The solver marks parents of losses and settles a block level by level; the
//! verifier inspects the children of every position, reads finished bitmaps only and settles
//! nothing. Moves, blocks and orientations are those of the witness (`src/witness`), and it counts
//! pieces by its own loops. It shares with the solver: the meaning of a bit (the two lists of cells
//! in the manifest, which every reader of the database uses), the cell images of the board's
//! symmetries (checked before use), the codec of the frames (its output is hashed), the choice of
//! instructions and the definition of the solution digest.
//!
//! # Invariants
//! 1. Damage of the database is a finding, never an error or a panic.
//! 2. The report depends only on database and depth, not on threads or time.
//! 3. A block of a sample is checked against the stored values of its children, whether or not
//!    these are in the sample.
//!
//! # Cost
//! Memory: for each thread up to five bitmaps, one for the decoded block, one for the oriented one,
//! and one for each of three blocks checked together; 80 MiB for eight layers in blocks of 2^27
//! positions. Input: every file once for its hash, and a block again for each group that needs it.
//! Time: decoding, then the moves, then the orientations.
//!
//! No counts are published for normal play, so there the last two rows of the table reduce to the
//! published value of the start. For repairs see [`maintenance`](crate::maintenance).

mod block;
mod files;
mod group;
mod totals;

use crate::database::{BlockShare, Database, DatabaseError, MANIFEST, block_file_name};
use crate::maintenance::workers::{Request, Watch};
use crate::witness::Witness;
pub use crate::witness::finding::{Finding, Reason, RowField};
use crate::witness::geometry::Geometry;
use block::{BlockChecker, Outcome};
use parking_lot::Mutex;
use pipeline::{BlockId, RealStorage, Severity};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use totals::Account;

/// The depth of a verification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Depth {
    /// Checks every byte of every file against its checksum, and that every block decodes.
    Checksums,
    /// Checks the checksums and a share of the blocks, chosen by a seed.
    Sample {
        /// Share of the canonical blocks, as [`BlockShare::choose`] takes it.
        share: BlockShare,
        /// Seed of the choice.
        seed: u64,
    },
    /// Checks the checksums, every position, and the counts of the manifest.
    Full,
}

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Whether a file is damaged, even if its finding is not listed; wrong values are then
    /// expected.
    pub damaged: bool,
    /// Number of files checked.
    pub files: u64,
    /// Bytes of these files.
    pub file_bytes: u64,
    /// Number of canonical blocks checked position by position.
    pub blocks: u64,
    /// Positions of these blocks and of the blocks that symmetry maps onto them: the positions that
    /// the check covers.
    pub positions: u64,
    /// Positions of the canonical blocks only, which were compared with their children.
    pub canonical_positions: u64,
    /// Number of canonical positions that contradict their children. `findings` lists only the
    /// first few of each block.
    pub differences: u64,
    /// The findings, at most 100: first files, then blocks, then counts.
    #[serde(serialize_with = "sentences")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub findings: Vec<Finding>,
}

fn sentences<S: Serializer>(findings: &[Finding], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(findings.iter().map(ToString::to_string))
}

impl Report {
    /// Returns the report with its findings cut to the limit.
    fn bounded(mut self) -> Report {
        self.damaged = self.findings.iter().any(Finding::is_damage);
        self.findings.truncate(FINDINGS_MAX);
        self
    }

    /// Returns whether there is no finding.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Limit on the findings in a report.
const FINDINGS_MAX: usize = 100;

/// Checks a database; returns `None` if it was stopped. Progress is counted in bytes of files
/// first, then in canonical positions.
///
/// # Errors
/// [`DatabaseError::NotKept`] if the folder does not keep every value; [`DatabaseError::Io`] or
/// [`DatabaseError::Storage`] if the operating system refuses a file or memory; not for damage.
pub fn verify(database: &Database, depth: Depth, request: &Request<'_>) -> Result<Option<Report>, DatabaseError> {
    check(database, &|blocks| chosen(depth, blocks), depth == Depth::Full, None, request)
}

/// A share of a full check, for many machines: the blocks of [`BlockId::share`].
pub struct Share<'a> {
    /// The share, from 0.
    pub index: u32,
    /// The number of shares.
    pub of: u32,
    /// By ordinal: the losses by number of pieces on the offset cells that were counted when the
    /// block was solved, of the blocks of this share, or of all for share 0.
    pub losses_by_pieces: &'a BTreeMap<u32, Vec<u64>>,
}

/// Checks a share of a database; returns `None` if it was stopped.
///
/// All shares together check what [`verify`] checks at [`Depth::Full`]. Each compares its blocks
/// with their children, their rows in the manifest and the given counts. Share 0 compares the
/// manifest with its own rows, and the sum of all given counts with the census and with published
/// figures; it also checks the list of files. One published figure is left out, that of the board
/// with one layer less.
///
/// # Errors
/// Those of [`verify`].
pub fn verify_share(
    database: &Database,
    share: &Share<'_>,
    request: &Request<'_>,
) -> Result<Option<Report>, DatabaseError> {
    let chosen = |blocks| BlockId::share(blocks, share.index, share.of).map(|block| block.0).collect();
    check(database, &chosen, false, Some(share), request)
}

/// Checks the chosen blocks, and the files of all blocks or of a share.
fn check(
    database: &Database,
    chosen: &dyn Fn(u32) -> BTreeSet<u32>,
    is_full: bool,
    share: Option<&Share<'_>>,
    request: &Request<'_>,
) -> Result<Option<Report>, DatabaseError> {
    database.require_values()?;
    let witness = match Witness::new(database.game(), database.values()) {
        Ok(witness) => witness,
        Err(reason) => {
            let path = database.folder().join(MANIFEST);
            let findings = vec![Finding::File(pipeline::Finding::new(Severity::Damage, path, reason))];
            return Ok(Some(Report { findings, ..Report::default() }.bounded()));
        }
    };
    let geometry = &witness.geometry;
    let checker = BlockChecker::new(database, &witness);
    let chosen = chosen(geometry.canonical_blocks());
    let ordinals: BTreeMap<String, u32> =
        (0..geometry.canonical_blocks()).map(|ordinal| (block_file_name(BlockId(ordinal)), ordinal)).collect();
    let expected: BTreeSet<String> = ordinals.keys().cloned().chain([MANIFEST.to_owned()]).collect();
    // Chosen blocks are decoded later, when their positions are checked.
    let unread = |name: &str| ordinals.get(name).filter(|ordinal| !chosen.contains(*ordinal));
    let is_first = share.is_none_or(|share| share.index == 0);
    let part = |name: &str| match ordinals.get(name) {
        Some(ordinal) => share.is_none() || chosen.contains(ordinal),
        None => is_first,
    };
    // What is built in keeps no values.
    let Some(place) = database.storage() else { return Ok(Some(Report::default())) };
    let files = files::check(
        place,
        files::FileCheck { names: Some(&expected), is_hashed: &part, with_list: is_first },
        request,
        || Ok(None),
        |scratch, name| match unread(name) {
            Some(ordinal) => {
                let scratch = match scratch {
                    Some(scratch) => scratch,
                    None => scratch.insert(checker.scratch(0)?),
                };
                checker.read(*ordinal, scratch)
            }
            None => Ok(None),
        },
    )?;
    let Some(mut report) = files else { return Ok(None) };
    let Some(outcomes) = check_blocks(&checker, geometry, &chosen, request)? else { return Ok(None) };
    report.blocks = outcomes.values().filter(|outcome| outcome.differences.is_some()).count() as u64;
    let checked = outcomes.iter().filter(|(_, outcome)| outcome.differences.is_some());
    let images: u64 = checked.map(|(ordinal, _)| geometry.weight(*ordinal)).sum();
    report.positions = images << geometry.offset_bits();
    report.canonical_positions = report.blocks << geometry.offset_bits();
    report.differences = outcomes.values().filter_map(|outcome| outcome.differences).sum();
    let unchecked = chosen.len() as u64 - report.blocks;
    let mut accounts = Vec::new();
    for (ordinal, outcome) in outcomes {
        report.findings.extend(outcome.findings);
        if let (Some(share), Some(account)) = (share, &outcome.account) {
            report.findings.extend(differing_counts(share, ordinal, account));
        }
        accounts.extend(outcome.account);
    }
    if unchecked > 0 {
        report.findings.push(Finding::Unchecked { blocks: unchecked });
    }
    if let Some(share) = share.filter(|share| share.index == 0) {
        report.findings.extend(shared_totals(database, geometry, share)?);
    }
    if is_full && accounts.len() == geometry.canonical_blocks() as usize {
        report.findings.extend(totals::compare(database, geometry, &accounts));
    }
    Ok(Some(report.bounded()))
}

/// Compares the counts of a block with those that were given.
fn differing_counts(share: &Share<'_>, ordinal: u32, account: &Account) -> Option<Finding> {
    let given = share.losses_by_pieces.get(&ordinal)?;
    (!account.has(given)).then(|| Finding::Count {
        manifest: format!("block {ordinal} was counted with {} losses", given.iter().sum::<u64>()),
        counted: format!("the block has {}, or others by pieces", account.losses()),
    })
}

/// Compares the manifest with itself, and with the counts of all blocks.
fn shared_totals(database: &Database, geometry: &Geometry, share: &Share<'_>) -> Result<Vec<Finding>, DatabaseError> {
    let path = database.folder().join(MANIFEST);
    let mut findings = match database.manifest().check(&path, database.game()) {
        Ok(()) => Vec::new(),
        Err(error) => vec![Finding::File(error.into_finding()?)],
    };
    let all = 0..geometry.canonical_blocks();
    let counts: Vec<&[u64]> =
        all.filter_map(|ordinal| share.losses_by_pieces.get(&ordinal)).map(Vec::as_slice).collect();
    if counts.len() == geometry.canonical_blocks() as usize {
        findings.extend(totals::compare_listed(database, geometry, &counts));
    } else {
        findings.push(Finding::Unchecked { blocks: u64::from(geometry.canonical_blocks()) - counts.len() as u64 });
    }
    Ok(findings)
}

/// Checks the files in `folder`, the `db` folder of a run, against its `SUMS` without opening them
/// as a database, for use when [`Database::open`] fails. Returns `None` if it was stopped.
///
/// # Errors
/// [`DatabaseError::Io`] if the operating system refuses to read a file or the folder.
pub fn verify_files(folder: &Path, request: &Request<'_>) -> Result<Option<Report>, DatabaseError> {
    let wanted = files::FileCheck { names: None, is_hashed: &|_| true, with_list: true };
    let storage = RealStorage::open(folder)?;
    Ok(files::check((&storage, ""), wanted, request, || Ok(()), |(), _| Ok(None))?.map(Report::bounded))
}

/// Returns the canonical blocks whose positions are to be checked.
fn chosen(depth: Depth, canonical_blocks: u32) -> BTreeSet<u32> {
    match depth {
        Depth::Checksums => BTreeSet::new(),
        Depth::Full => (0..canonical_blocks).collect(),
        Depth::Sample { share, seed } => share.choose(canonical_blocks, seed),
    }
}

/// Checks the chosen blocks; returns `None` if stopped.
fn check_blocks(
    checker: &BlockChecker<'_>,
    geometry: &Geometry,
    chosen: &BTreeSet<u32>,
    request: &Request<'_>,
) -> Result<Option<BTreeMap<u32, Outcome>>, DatabaseError> {
    let targets = group::targets(chosen.len(), request.threads);
    let groups = group::groups(geometry, chosen, targets);
    let watch = Watch::new(request, (chosen.len() as u64) << geometry.offset_bits());
    let outcomes = Mutex::new(BTreeMap::new());
    let finished = watch.run(
        groups.len(),
        || checker.scratch(targets),
        |scratch, index| {
            let checked = checker.check(&groups[index], scratch, &watch)?;
            outcomes.lock().extend(checked);
            Ok(())
        },
    )?;
    Ok(finished.then(|| outcomes.into_inner()))
}
