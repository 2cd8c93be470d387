//! # The verifier: a database against the rules of the game
//!
//! A solver of this speed is a piece of machinery: vector kernels, compressed logs, checkpoints. Whoever uses its database should not have to
//! believe in it. The verifier recomputes what a database claims from nothing but the rules and reports every place where the two differ.
//!
//! What is checked, in this order:
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
//! ## Shape
//!
//! For each canonical block, and each of its child blocks:
//!
//! ```text
//! canonical block that stands for the child  --decode-->  its losses, in its own orientation
//!     --scatter, loss by loss-->  the losses of the child  --shift and OR, for each move-->  positions with a losing child
//! ```
//!
//! and at the end stored losses and positions with a losing child must be complements. A block is treated as one more child of itself, reached
//! by the moves inside it: all values are known, so there is no order among its positions to keep.
//!
//! ## Why a clean report means something
//!
//! *That it is enough.* Let no position of a canonical block contradict its children. Then every stored value is right, by induction on
//! the number of pieces: the empty position has its value by the rule, and a position with pieces has children with fewer, whose
//! stored values are right. A child in another block is read from its canonical block through a symmetry, which maps moves to moves, so it has
//! the value of its image there. One pass in any order suffices; that is why a wrong value is found even if everything computed from it fits.
//!
//! *That it is independent.* The solver marks parents of losses and settles a block level by level; the verifier asks every position for its
//! children, reads finished bitmaps only and settles nothing. It uses no function of [`kernel`](crate::kernel) and no edge of
//! [`layout`](crate::layout). It generates the moves again from the ends of runs, tests that symmetries keep them, assigns blocks to canonical
//! blocks by its own table and tests that the table is complete. Blocks are turned by moving single losses, not by permuting vectors; pieces are
//! counted by its own loops. What it shares with the solver: the meaning of a bit (the two lists of cells in the manifest, which every reader
//! of the database uses), the list of cell images of the board's symmetries (tested before use), the codec that decodes
//! frames (whose output is hashed) and the definition of the solution digest.
//!
//! ## Invariants
//!
//! 1. Damage of the database is a finding; it is never an error and never a panic.
//! 2. The report depends on database and depth alone: not on threads or time.
//! 3. A block of a sample is checked against the stored values of its children, whether or not these are in the sample.
//!
//! ## Cost
//!
//! Memory: for each thread up to five bitmaps, one for the decoded block, one for it turned, and one for each of three blocks that are checked
//! together because they need much of the same; 80 MiB for eight layers in blocks of 2^27 positions. Input: the files once to be hashed, and
//! a block again for each group that needs it.
//!
//! Eight layers in 104 canonical blocks of 2^27 positions with 798 child blocks, all 13,958,643,712 positions of canonical blocks: 34 s of processor
//! time with two threads, 43 to 49 s elapsed on two cores under a load average of six (Intel Xeon with AVX-512,
//! release build, November 2026). A third goes into decoding, a third into turning, a fifth into the moves. Checksums alone: 3 s, nearly all of it decoding.
//!
//! ## Not here
//!
//! Repair ([`upkeep`](crate::care)). Published counts for normal play: there are none, so for it the last two rows of the table shrink to the published value
//! of the start.

mod block;
mod children;
mod files;
mod finding;
mod geometry;
mod group;
mod totals;
mod turn;
pub(crate) mod workers;

use crate::database::{Database, DatabaseError, MANIFEST, block_file_name};
use block::{Outcome, Plan};
pub use finding::{Finding, Reason, RowField};
use geometry::Geometry;
use parking_lot::Mutex;
use pipeline::Weight;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use workers::Watch;

/// How much is checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Depth {
    /// Every byte of every file against its checksum, and that every block decodes.
    Checksums,
    /// The checksums and a share of the blocks, chosen by a seed.
    Sample {
        /// Share of the canonical blocks, 0 to 1, rounded up; at least one block is checked.
        share: f64,
        /// Seed of the choice: the same seed chooses the same blocks, and a larger share more besides.
        seed: u64,
    },
    /// The checksums, every position, and the counts of the manifest.
    Full,
}

/// What was checked and found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether a file is damaged, listed or not: then wrong values are no surprise.
    pub damaged: bool,
    /// Files whose bytes were checked.
    pub files: u64,
    /// Bytes of these files.
    pub file_bytes: u64,
    /// Canonical blocks whose positions were checked.
    pub blocks: u64,
    /// Positions checked against their children, those of canonical blocks only.
    pub positions: u64,
    /// Of these, the ones that contradict their children. Of each block only the first few are listed in `findings`.
    pub differences: u64,
    /// What is wrong, at most the first hundred: of files first, then of blocks, then of counts.
    #[serde(serialize_with = "sentences")]
    pub findings: Vec<Finding>,
}

/// Findings as a program is told them.
fn sentences<S: Serializer>(findings: &[Finding], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(findings.iter().map(ToString::to_string))
}

impl Report {
    /// The same with no more findings than a report has room for.
    fn bounded(mut self) -> Report {
        self.damaged = self.findings.iter().any(Finding::is_damage);
        self.findings.truncate(FINDINGS_MAX);
        self
    }

    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Progress: (done, all) in bytes of files first, then in positions. Called from the worker threads, never by two at once, with a
/// growing first number.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Findings in a report at most.
const FINDINGS_MAX: usize = 100;

/// Checks a database on `threads` threads; `None` when `stop` was set.
///
/// # Errors
/// [`DatabaseError::Io`] when the operating system refuses to read a file or to give memory. Damage is not an error but a finding.
pub fn verify(
    database: &Database,
    depth: Depth,
    threads: usize,
    stop: &AtomicBool,
    progress: Progress<'_>,
) -> Result<Option<Report>, DatabaseError> {
    let mut report = Report::default();
    let geometry = match Geometry::new(database.board(), database.layout()) {
        Ok(geometry) => geometry,
        Err(reason) => {
            let path = database.folder().join(MANIFEST);
            report.findings.push(Finding::File(pipeline::Finding::new(Weight::Damage, path, reason)));
            return Ok(Some(report.bounded()));
        }
    };
    let plan = Plan::new(database, &geometry);
    let chosen = chosen(depth, geometry.canonical_blocks());
    let ordinals: BTreeMap<String, u32> =
        (0..geometry.canonical_blocks()).map(|ordinal| (block_file_name(ordinal), ordinal)).collect();
    let expected: BTreeSet<String> = ordinals.keys().cloned().chain([MANIFEST.to_owned()]).collect();
    // Blocks that are checked later are decoded then.
    let unread = |name: &str| ordinals.get(name).filter(|ordinal| !chosen.contains(*ordinal));
    let files = files::check(
        database.folder(),
        Some(&expected),
        threads,
        stop,
        progress,
        || Ok(None),
        |scratch, name| match unread(name) {
            Some(ordinal) => {
                let scratch = match scratch {
                    Some(scratch) => scratch,
                    None => scratch.insert(plan.scratch(0)?),
                };
                plan.read(*ordinal, scratch)
            }
            None => Ok(None),
        },
    )?;
    let Some(files) = files else { return Ok(None) };
    report.files = files.files;
    report.file_bytes = files.file_bytes;
    report.findings = files.findings;

    let Some(outcomes) = check_blocks(&plan, &geometry, &chosen, threads, stop, progress)? else { return Ok(None) };
    report.blocks = outcomes.values().filter(|outcome| outcome.differences.is_some()).count() as u64;
    report.positions = report.blocks << geometry.offset_bits();
    report.differences = outcomes.values().filter_map(|outcome| outcome.differences).sum();
    let unchecked = chosen.len() as u64 - report.blocks;
    let mut accounts = Vec::new();
    for outcome in outcomes.into_values() {
        report.findings.extend(outcome.findings);
        accounts.extend(outcome.account);
    }
    if unchecked > 0 {
        report.findings.push(Finding::Unchecked { blocks: unchecked });
    }
    if depth == Depth::Full && accounts.len() == geometry.canonical_blocks() as usize {
        report.findings.extend(totals::compare(database, &geometry, &accounts));
    }
    Ok(Some(report.bounded()))
}

/// Checks the files in `folder`, the `db` folder of a run, against its `SUMS`, without opening them as a database: what is left to do
/// when [`Database::open`] fails. `None` when `stop` was set.
///
/// # Errors
/// [`DatabaseError::Io`] when the operating system refuses to read a file or the folder.
pub fn verify_files(
    folder: &Path,
    threads: usize,
    stop: &AtomicBool,
    progress: Progress<'_>,
) -> Result<Option<Report>, DatabaseError> {
    let checked = files::check(folder, None, threads, stop, progress, || Ok(()), |(), _| Ok(None))?;
    Ok(checked.map(|files::Checked { files, file_bytes, findings }| {
        Report { files, file_bytes, findings, ..Report::default() }.bounded()
    }))
}

/// The canonical blocks whose positions are checked.
fn chosen(depth: Depth, canonical_blocks: u32) -> BTreeSet<u32> {
    match depth {
        Depth::Checksums => BTreeSet::new(),
        Depth::Full => (0..canonical_blocks).collect(),
        Depth::Sample { share, seed } => {
            let mut ordinals: Vec<u32> = (0..canonical_blocks).collect();
            ordinals.sort_by_cached_key(|ordinal| *blake3::hash(format!("{seed} {ordinal}").as_bytes()).as_bytes());
            // A share that is no number counts as 0.
            let wanted = (share * f64::from(canonical_blocks)).ceil() as usize;
            ordinals.into_iter().take(wanted.max(1)).collect()
        }
    }
}

/// Checks the chosen blocks; `None` when stopped.
fn check_blocks(
    plan: &Plan<'_>,
    geometry: &Geometry,
    chosen: &BTreeSet<u32>,
    threads: usize,
    stop: &AtomicBool,
    progress: Progress<'_>,
) -> Result<Option<BTreeMap<u32, Outcome>>, DatabaseError> {
    let targets = group::targets(chosen.len(), threads);
    let groups = group::groups(geometry, chosen, targets);
    let watch = Watch::new(stop, progress, (chosen.len() as u64) << geometry.offset_bits());
    let outcomes = Mutex::new(BTreeMap::new());
    let finished = workers::run(
        threads,
        groups.len(),
        &watch,
        || plan.scratch(targets),
        |scratch, index| {
            let checked = plan.check(&groups[index], scratch, &watch)?;
            outcomes.lock().extend(checked);
            Ok(())
        },
    )?;
    Ok(finished.then(|| outcomes.into_inner()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_a_share_chosen_by_its_seed() {
        let sample = |share, seed| chosen(Depth::Sample { share, seed }, 104);
        assert_eq!(sample(0.25, 7), sample(0.25, 7));
        assert_ne!(sample(0.25, 7), sample(0.25, 8));
        assert!(sample(0.5, 7).is_superset(&sample(0.25, 7)));
        for (share, blocks) in [(0.0, 1), (-1.0, 1), (f64::NAN, 1), (0.011, 2), (0.25, 26), (1.0, 104), (9.0, 104)] {
            assert_eq!(sample(share, 1).len(), blocks, "{share}");
        }
    }
}
