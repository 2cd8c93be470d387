//! The table of the controls: which test notices that a rule of the engine is left out.

use pipeline::omitted::Rule;

/// The test that notices that a rule is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// The exploration of stops and errors, in `tests/simulation/controls.rs`.
    ByCrashes,
    /// The exploration of silent corruption, in `tests/simulation/controls.rs`.
    BySilence,
    /// Runs with exactly the number of files that they can have open, in
    /// `tests/simulation/controls.rs`.
    ByFiles,
    /// Runs on a disk that becomes full at any call, in `tests/simulation/controls.rs`.
    ByFullDisks,
    /// One case of damage for each rule, in `tests/simulation/comparisons.rs`.
    ByDamage,
    /// The sweeps of damage, in `tests/simulation/damage.rs`; also pairs of rules there.
    BySweeps,
    /// Checks and repairs, in `tests/simulation/maintenance.rs`.
    ByCare,
    /// No test can, because a second rule guarantees the same; with the reason.
    ByNothing(&'static str),
}

/// Returns the test that notices that a rule is left out.
pub fn noticed(rule: Rule) -> Detection {
    use Detection::{ByCare, ByCrashes, ByDamage, ByFiles, ByFullDisks, ByNothing, BySilence, BySweeps};
    match rule {
        Rule::RemovalLast
        | Rule::AllTargets
        | Rule::WrittenFirst
        | Rule::FreshSectors
        | Rule::FlushFirst
        | Rule::NewGeneration
        | Rule::GenerationNumbers
        | Rule::CommitFiles
        | Rule::CommitLogs
        | Rule::CommitPublished
        | Rule::JournalFirst
        | Rule::JournalOrder
        | Rule::GatheredSync
        | Rule::RequestedSync
        | Rule::NewFile
        | Rule::FormatName
        | Rule::FormatTemporary
        | Rule::FolderNames
        | Rule::SwitchBefore
        | Rule::SwitchNames
        | Rule::SwitchAfter
        | Rule::ManifestTemporary
        | Rule::AtomicTemporary
        | Rule::AtomicName
        | Rule::SweepNames
        | Rule::ForeignMetadata
        | Rule::ForeignLogs
        | Rule::ForeignPublished
        | Rule::KeptUnsynced => ByCrashes,
        Rule::FullDiskCommit | Rule::JournalRoom => ByFullDisks,
        Rule::JournalSecond | Rule::LogHashes | Rule::SourceHash => BySilence,
        Rule::RoomInGathering | Rule::RoomBeforeCommit | Rule::SurplusClosed => ByFiles,
        Rule::JournalChain
        | Rule::JournalEnd
        | Rule::JournalGap
        | Rule::ManifestGeneration
        | Rule::SameRun
        | Rule::FileLengths
        | Rule::FilesExist
        | Rule::FailedCommit => ByDamage,
        Rule::Hashes | Rule::SecondCopy | Rule::Salt | Rule::ExtentHash => BySweeps,
        Rule::CheckHash | Rule::RepairFiles | Rule::RepairFolder | Rule::RepairHash | Rule::RepairSummary => ByCare,
        Rule::JournalSequence => {
            ByNothing("a record that follows the right hash has the right number: the hash covers the number")
        }
        Rule::JournalGeneration => {
            ByNothing("the chain of hashes begins with the manifest's, which covers the generation")
        }
        Rule::EntrySource => ByNothing("the hash of the extent covers source and placement"),
        Rule::EntryEnd => {
            ByNothing("the hash of the extent covers the lengths of all frames, and that of the record the extent's")
        }
        Rule::PublishedLength => {
            ByNothing("the hash of the file covers its length; the comparison only spares reading a file that grew")
        }
    }
}

/// Returns the rules that are noticed in this way.
pub fn rules(how: Detection) -> impl Iterator<Item = Rule> {
    Rule::ALL.iter().copied().filter(move |rule| noticed(*rule) == how)
}
