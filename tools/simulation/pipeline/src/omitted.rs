//! Rules of the engine and of its protocol that can be left out, to prove that the tests of crashes
//! and damage notice: a test that passes without a rule proves nothing about the rule.
//!
//! Each rule has a diff of the engine's sources in `../changes`, which asks [`omits`] whether to
//! leave it out. `README.md` of the simulation says which places have a rule. `OmittingStorage` of
//! package `simulation` leaves out rules in the storage, at all places at once.
//!
//! A rule is left out on one thread; a simulated run has only one.

use std::cell::Cell;

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $rule:ident,)+) => {
        /// A rule that can be left out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $($(#[doc = $doc])+ $rule,)+
        }

        impl Rule {
            /// All rules.
            pub const ALL: &[Rule] = &[$(Rule::$rule,)+];
        }
    };
}

rules! {
    /// Logs are removed after the commit of the block that read them.
    RemovalLast,
    /// A commit leaves a log unsynced only if it commits all remaining targets of the log.
    AllTargets,
    /// Targets of a block start after its entries are in their files.
    WrittenFirst,
    /// Log entries start on fresh sectors.
    FreshSectors,
    /// Pending bytes are written before their file is handed over to be synced.
    FlushFirst,
    /// Each opening starts a generation and rewrites all metadata.
    NewGeneration,
    /// The number of a generation is larger than that in any file name.
    GenerationNumbers,
    /// After a failed commit the checkpoint refuses everything.
    FailedCommit,

    /// A commit syncs the files that it names.
    CommitFiles,
    /// A commit syncs the folder of the logs.
    CommitLogs,
    /// A commit syncs the folder of the published files.
    CommitPublished,
    /// The first copy of a record is synced.
    JournalFirst,
    /// The second copy of a record is synced.
    JournalSecond,
    /// The second copy of a record is written after the first one is synced.
    JournalOrder,
    /// The journal has a second copy.
    SecondCopy,
    /// The writer syncs its gathered files before it opens more files than allowed.
    GatheredSync,
    /// The committer syncs files that are complete before any block is complete.
    RequestedSync,
    /// A new file of the metadata, or of the caller, is synced before it is renamed.
    NewFile,
    /// The name of `FORMAT` is made durable.
    FormatName,
    /// `FORMAT` is written under another name first.
    FormatTemporary,
    /// The names of the folders are made durable, including those of an earlier start.
    FolderNames,
    /// The names of new journals are durable before the manifests have theirs.
    SwitchBefore,
    /// The names of new manifests are durable before older files are removed.
    SwitchNames,
    /// The removal of older generations is durable.
    SwitchAfter,
    /// A manifest is written under another name first.
    ManifestTemporary,
    /// A file of the caller is written under another name first.
    AtomicTemporary,
    /// The name of a file of the caller is made durable.
    AtomicName,
    /// The removal of files that no record names is durable.
    SweepNames,
    /// A new generation leaves foreign files beside the metadata alone.
    ForeignMetadata,
    /// A sweep leaves foreign files beside the logs alone.
    ForeignLogs,
    /// A sweep leaves foreign files beside the published ones alone.
    ForeignPublished,
    /// Blocks that are finished when the disk becomes full are committed.
    FullDiskCommit,
    /// The journal has room for the records of finished blocks.
    JournalRoom,
    /// A repair syncs the log entries it wrote.
    RepairFiles,
    /// A repair syncs the folder of the logs.
    RepairFolder,

    /// A log file is closed to make room only if it is synced.
    KeptUnsynced,
    /// The writer closes files before it opens more files than allowed.
    RoomInGathering,
    /// The writer waits for a commit if too many files are unsynced.
    RoomBeforeCommit,
    /// Log files are closed if too many are open.
    SurplusClosed,

    /// Hashes of the metadata are compared.
    Hashes,
    /// The number of a record is compared.
    JournalSequence,
    /// The hash of the previous record, or of the manifest, is compared.
    JournalChain,
    /// The generation of a journal is compared with its name.
    JournalGeneration,
    /// Bytes in the second copy where the first one has no record are damage.
    JournalEnd,
    /// A record after a gap is damage.
    JournalGap,
    /// The generation of a manifest is compared with its name.
    ManifestGeneration,
    /// `FORMAT` and manifest belong to one run.
    SameRun,
    /// The lengths of the files that records name are compared.
    FileLengths,
    /// The files that records name exist.
    FilesExist,
    /// Hashes of log entries and their frames are compared.
    LogHashes,
    /// The hash of an extent is compared with the journal.
    ExtentHash,
    /// An entry is valid only at its own place in its own run.
    Salt,
    /// The source and the placement of an entry are compared with the journal.
    EntrySource,
    /// An entry ends where the journal says.
    EntryEnd,
    /// A check compares the hash of a published file.
    CheckHash,
    /// The hash of a published file is compared before anything is computed from it.
    SourceHash,
    /// The length of a published file is compared before it is read.
    PublishedLength,
    /// A repair compares the hash and the length of the file it computed with the journal.
    RepairHash,
    /// A repair compares the summary of the block it computed with the journal.
    RepairSummary,
}

thread_local! {
    /// A bit for each rule.
    static OMITTED: Cell<u64> = const { Cell::new(0) };
}

/// Returns whether a rule is left out on this thread.
pub fn omits(rule: Rule) -> bool {
    OMITTED.get() >> rule as u32 & 1 == 1
}

/// Runs `work` without these rules.
pub fn without<T>(rules: &[Rule], work: impl FnOnce() -> T) -> T {
    OMITTED.set(rules.iter().fold(0, |bits, rule| bits | 1 << *rule as u32));
    let result = work();
    OMITTED.set(0);
    result
}
