//! One case of damage for each comparison of the recovery: the case must be refused at once, in the
//! wrong file, and without the comparison it must not be.

use pipeline::checkpoint::{Checkpoint, Commit, Parameters, inspect};
use pipeline::omitted::{Rule, without};
use pipeline::{Error, Placement, RunId};
use simulation::controls::{self, Detection};
use simulation::session::{Ending, committed, killed_after, run};
use simulation::subject::Subject;
use std::sync::Arc;
use testing::{Fault, SimulatedStorage};

fn subject() -> Subject {
    Subject::synthetic(3, 40, 50)
}

fn contents(disk: &SimulatedStorage, name: &str) -> Vec<u8> {
    disk.contents(name).unwrap_or_else(|| panic!("no {name}"))
}

/// Returns the first right folder from sessions that were killed after `blocks` blocks.
fn killed(subject: &Subject, blocks: u32, is_right: impl Fn(&SimulatedStorage) -> bool) -> SimulatedStorage {
    let options = || subject.options(1, Placement::Dedicated, "raw");
    let disks = (0..1000).filter_map(|seed| killed_after(subject, &SimulatedStorage::new(1), options(), seed, blocks));
    disks.into_iter().find(is_right).expect("one of the interleavings")
}

/// Returns a folder with two records or more in the journal of its first generation.
fn with_records(subject: &Subject) -> SimulatedStorage {
    killed(subject, 3, |disk| contents(disk, "m/journal.1.a").len() > 4096)
}

/// Resumes the run; asserts that it is refused before anything is computed, in a file whose name
/// begins with `file`.
fn is_refused(subject: &Subject, disk: &SimulatedStorage, file: &str) -> Result<(), String> {
    let session = run(subject, disk, subject.options(1, Placement::Dedicated, "raw"), 3);
    match session.ending {
        Ending::Failed(Error::Corrupt { path, .. })
            if path.to_string_lossy().starts_with(file) && session.found_blocks.is_none() =>
        {
            Ok(())
        }
        other => Err(format!("{other:?}, {:?} blocks found", session.found_blocks)),
    }
}

/// Fails a write of a commit, not a sync: the disk itself does not refuse the next one.
fn after_a_failed_commit() -> Result<(), String> {
    let disk = SimulatedStorage::new(1);
    let opened = Checkpoint::open(Arc::new(disk.clone()), &Parameters::default(), RunId(1), &|_, _| true);
    let mut checkpoint = opened.map_err(|error| error.to_string())?.checkpoint;
    let _disk = disk.clone().with_fault(disk.steps() + 1, Fault::FailOnce);
    let failed = checkpoint.commit(Commit::default());
    assert!(matches!(failed, Err(Error::Io { operation: "write", .. })), "{failed:?}");
    let again = checkpoint.commit(Commit::default());
    let others = [checkpoint.sweep(&|_| true), checkpoint.write_atomically("db/x", &[1])];
    match (again, others) {
        (Err(Error::Poisoned), [Err(Error::Poisoned), Err(Error::Poisoned)]) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// Damages a folder so that only one comparison refuses it.
fn case(rule: Rule) -> Result<(), String> {
    let (subject, mut other) = (subject(), subject());
    other.run_id = RunId(8);
    match rule {
        // The last record is damaged in both copies.
        Rule::JournalEnd => {
            let disk = with_records(&subject);
            for copy in ["m/journal.1.a", "m/journal.1.b"] {
                let mut bytes = contents(&disk, copy);
                let last = bytes.len() - 4096;
                bytes[last + 50] ^= 1;
                disk.put(copy, &bytes);
            }
            is_refused(&subject, &disk, "m/journal.1.b")
        }
        // The first record is damaged in one copy, and the other copy is empty.
        Rule::JournalGap => {
            let disk = with_records(&subject);
            let mut bytes = contents(&disk, "m/journal.1.a");
            bytes[50] ^= 1;
            disk.put("m/journal.1.a", &bytes);
            disk.put("m/journal.1.b", &[]);
            is_refused(&subject, &disk, "m/journal.1.a")
        }
        // The journal of another run of the same game, in both copies.
        Rule::JournalChain => {
            let (disk, theirs) = (with_records(&subject), with_records(&other));
            for copy in ["m/journal.1.a", "m/journal.1.b"] {
                disk.put(copy, &contents(&theirs, copy));
            }
            is_refused(&subject, &disk, "m/journal.1")
        }
        // The previous manifest under the name of this one, in both copies.
        Rule::ManifestGeneration => {
            let disk = with_records(&subject);
            let before = contents(&disk, "m/manifest.1.a");
            run(&subject, &disk, subject.options(1, Placement::Dedicated, "raw"), 1);
            let disk = disk.power_cut(1);
            for copy in ["m/manifest.2.a", "m/manifest.2.b"] {
                disk.put(copy, &before);
            }
            for copy in ["m/journal.2.a", "m/journal.2.b"] {
                disk.put(copy, &[]);
            }
            is_refused(&subject, &disk, "m/manifest.2")
        }
        // `FORMAT` of another run of the same game.
        Rule::SameRun => {
            let (disk, theirs) = (with_records(&subject), with_records(&other));
            disk.put("FORMAT", &contents(&theirs, "FORMAT"));
            is_refused(&subject, &disk, "m/manifest.1")
        }
        Rule::FileLengths | Rule::FilesExist => {
            let disk = with_records(&subject);
            let records = inspect(&disk).map_err(|error| error.to_string())?.records;
            let name = records[0].published.as_ref().map(|file| file.name.clone()).unwrap_or_default();
            match rule {
                Rule::FilesExist => disk.take(&name),
                _ => disk.put(&name, &contents(&disk, &name)[1..]),
            }
            is_refused(&subject, &disk, &name)
        }
        Rule::FailedCommit => after_a_failed_commit(),
        other => panic!("{other:?} has no case"),
    }
}

#[test]
fn each_case_is_refused_and_without_its_comparison_it_is_not() {
    let mut cases = 0;
    for rule in controls::rules(Detection::ByDamage) {
        case(rule).unwrap_or_else(|story| panic!("{rule:?}: {story}"));
        let story = without(&[rule], || case(rule)).expect_err("survives");
        println!("{rule:?} left out: {story}");
        cases += 1;
    }
    assert_eq!(cases, 8);
}

/// Rules that another one makes superfluous: the folder is refused as long as one of them is left.
#[test]
fn the_chain_of_hashes_covers_numbers_and_generations() {
    let subject = subject();
    let before = with_records(&subject);
    let finished = |seed| {
        let disk = before.kill();
        run(&subject, &disk, subject.options(1, Placement::Dedicated, "raw"), seed);
        (contents(&disk, "m/journal.2.a").len() > 4096).then(|| disk.power_cut(1))
    };
    let later = (0..1000).find_map(finished).expect("one of the interleavings");
    assert_eq!(committed(&later).map(|blocks| blocks.len()).ok(), Some(8));
    // The previous journal; and this one with its records in another order.
    let first = contents(&before, "m/journal.1.a");
    let mut turned = contents(&later, "m/journal.2.a");
    turned.rotate_left(4096);
    for journal in [first, turned] {
        let disk = later.kill();
        disk.put("m/journal.2.a", &journal);
        disk.put("m/journal.2.b", &journal);
        for rules in [&[][..], &[Rule::JournalSequence], &[Rule::JournalGeneration]] {
            without(rules, || is_refused(&subject, &disk.kill(), "m/journal.2")).unwrap();
        }
        let all = [Rule::JournalSequence, Rule::JournalGeneration, Rule::JournalChain];
        without(&all, || is_refused(&subject, &disk.kill(), "m/journal.2")).unwrap_err();
    }
}
