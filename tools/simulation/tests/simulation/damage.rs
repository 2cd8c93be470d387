//! Every kind of damage to a small run folder, unfinished and finished, ends with the right result
//! or with a refusal that names the file: never with a panic, a wrong value, a lost block, or
//! memory allocated for a length that only the damage declares.
//!
//! The test command flips one bit of every byte and takes one length in seven.
//! `TRINIM_TESTS=full cargo test --release -p simulation damage::` takes every length and all
//! 360,000 flips.

use pipeline::Placement;
use pipeline::RunId;
use pipeline::omitted::{Rule, without};
use simulation::damage::{Folder, Outcomes};
use simulation::explore::Found;
use simulation::judge::{Wrong, bits_of};
use simulation::session::{committed, killed_after, run};
use simulation::subject::Subject;
use simulation::sweep::Sweep;
use testing::SimulatedStorage;
use trinim::game::Rule as Play;

/// Limit on the memory; folders have some ten thousand bytes.
const MEMORY_KIB_AT_MOST: u64 = 512 << 10;

fn subject(rule: Play) -> Subject {
    Subject::game(3, rule, 3)
}

/// The same without the blocks, which replace shared logs.
fn logged(rule: Play) -> Subject {
    Subject::counts(3, rule, 3)
}

/// Creates a folder in its second generation, with blocks in the manifest, blocks in the journal,
/// and needed logs or published blocks.
fn middle(subject: &Subject, placement: Placement) -> SimulatedStorage {
    let options = || subject.options(1, placement, "raw");
    let folders = (0..1000).filter_map(|seed| {
        let first = killed_after(subject, &SimulatedStorage::new(1), options(), seed, 1)?;
        let disk = killed_after(subject, &first, options(), seed, 2)?;
        let count = |folder| disk.names().iter().filter(|name| name.starts_with(folder)).count();
        let (logs, published) = (count("logs/"), count("db/"));
        let needed = if placement == Placement::Shared && logs == 0 { published } else { logs };
        let in_journal = disk.contents("m/journal.2.a").is_some_and(|journal| !journal.is_empty());
        let blocks = committed(&disk).ok()?.len() as u32;
        (needed >= 2 && in_journal && blocks < subject.blocks()).then_some(disk)
    });
    folders.into_iter().next().expect("some interleaving commits often enough")
}

fn finished(subject: &Subject) -> SimulatedStorage {
    let one = |seed| {
        let disk = SimulatedStorage::new(1);
        run(subject, &disk, subject.options(1, Placement::Dedicated, "raw"), seed);
        disk.power_cut(1)
    };
    // Takes the shortest journal, because most of its bytes are padding.
    (0..30).map(one).min_by_key(|disk| disk.contents("m/journal.1.a").map(|journal| journal.len())).unwrap()
}

fn folder(subject: &Subject, disk: SimulatedStorage) -> Folder<'_> {
    let acknowledged = bits_of(&committed(&disk).unwrap());
    Folder { subject, disk, acknowledged }
}

fn sound(what: &str, outcomes: Result<Outcomes, Box<Found>>) -> Outcomes {
    let outcomes = outcomes.unwrap_or_else(|found| panic!("{what}: {found}"));
    println!("{what}: {} cases, {outcomes:?}", outcomes.cases());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    if let Some(peak) = peak {
        let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kib < MEMORY_KIB_AT_MOST, "{what}: {kib} KiB of memory");
    }
    outcomes
}

fn flips(what: &str, subject: &Subject, disk: SimulatedStorage) {
    let (folder, sweep) = (folder(subject, disk), Sweep::asked());
    let whole: usize = folder.names().iter().map(|name| folder.disk.contents(name).unwrap().len()).sum();
    let is_metadata = |name: &str| name == "FORMAT" || name.starts_with("m/manifest");
    let metadata = sound(&format!("{what}, metadata, {sweep:?}"), folder.flips(sweep, &is_metadata));
    let others = sound(&format!("{what}, the rest, {sweep:?}"), folder.flips(sweep, &|name| !is_metadata(name)));
    assert_eq!(metadata.cases() + others.cases(), whole as u64 * sweep.number(1, 8));
    assert!(metadata.right + others.right > (metadata.cases() + others.cases()) / 2);
    // Either copy of the metadata suffices.
    assert!(metadata.right > 0);
    assert_eq!((metadata.refused, metadata.detectable), (0, 0), "{what}: a copy did not heal the other");
}

#[test]
fn flips_of_a_folder_in_the_middle() {
    let subject = subject(Play::Misere);
    flips("middle, dedicated logs", &subject, middle(&subject, Placement::Dedicated));
}

#[test]
fn flips_of_a_folder_in_the_middle_with_shared_logs() {
    let subject = subject(Play::Normal);
    flips("middle, published blocks as logs", &subject, middle(&subject, Placement::Shared));
    let subject = logged(Play::Normal);
    let disk = middle(&subject, Placement::Shared);
    assert!(disk.names().iter().any(|name| name.starts_with("logs/")));
    flips("middle, shared logs", &subject, disk);
}

#[test]
fn flips_of_a_finished_folder() {
    let subject = subject(Play::Misere);
    flips("finished", &subject, finished(&subject));
}

#[test]
fn lengths_and_garbage_behind_the_end() {
    let (subject, sweep) = (subject(Play::Normal), Sweep::asked());
    for (what, disk) in [("middle", middle(&subject, Placement::Dedicated)), ("finished", finished(&subject))] {
        sound(&format!("lengths, {what}, {sweep:?}"), folder(&subject, disk).lengths(sweep));
    }
}

#[test]
fn files_that_are_swapped_deleted_or_of_another_time_or_run() {
    let (misere, normal) = (subject(Play::Misere), subject(Play::Normal));
    let mut other_run = subject(Play::Misere);
    other_run.run_id = RunId(8);
    for placement in [Placement::Dedicated, Placement::Shared] {
        let here = folder(&misere, middle(&misere, placement));
        sound("mix-ups in the middle", here.mix_ups());
        let options = || misere.options(1, placement, "raw");
        // Earlier and later states of the same folder; the same state under the other rule and in
        // another run.
        let times = (0..40).filter_map(|seed| {
            let first = killed_after(&misere, &SimulatedStorage::new(1), options(), seed, 1)?;
            killed_after(&misere, &first, options(), seed + 1, 1 + seed as u32 % 3)
        });
        let outcomes = sound("files of other times", here.replacements(&times.collect::<Vec<_>>()));
        assert!(outcomes.cases() > 50);
        let others =
            [middle(&normal, placement), finished(&normal), middle(&other_run, placement), finished(&other_run)];
        let outcomes = sound("files of other runs", here.replacements(&others));
        assert!(outcomes.refused > 0);
    }
    sound("mix-ups when finished", folder(&misere, finished(&misere)).mix_ups());
}

/// Controls: without hashes the flips give wrong results.
#[test]
fn hashes_left_out_are_caught() {
    let subject = subject(Play::Misere);
    let here = folder(&subject, middle(&subject, Placement::Dedicated));
    let metadata = |name: &str| name.starts_with("m/");
    let logs = |name: &str| name.starts_with("logs/");
    for (rules, of) in [
        (&[Rule::Hashes][..], &metadata as &dyn Fn(&str) -> bool),
        (&[Rule::SecondCopy], &metadata),
        (&[Rule::LogHashes, Rule::ExtentHash], &logs),
    ] {
        // Without this rule the second copy was never written.
        let here = if rules == [Rule::SecondCopy] {
            without(rules, || folder(&subject, middle(&subject, Placement::Dedicated)))
        } else {
            Folder { subject: &subject, disk: here.disk.kill(), acknowledged: here.acknowledged }
        };
        let found = without(rules, || here.flips(Sweep::asked(), of)).expect_err("survives");
        println!("{rules:?} left out: caught after {} cases: {found}", found.root);
    }
}

/// A log of the other rule has the same shape at the same place in the same file. The salt rejects
/// it, and so does the hash in the journal; without both it is accepted.
#[test]
fn either_of_salt_and_extent_hash_refuses_foreign_logs() {
    let (misere, normal) = (subject(Play::Misere), subject(Play::Normal));
    let mut foreign = subject(Play::Normal);
    foreign.run_id = RunId(9);
    // Logs of another run and rule, and logs of another rule with the same identity, which only a
    // bug produces.
    let here = |rules: &[Rule], others: &[&Subject]| {
        without(rules, || {
            let here = folder(&misere, middle(&misere, Placement::Dedicated));
            let mut outcomes = Outcomes::default();
            for other in others {
                let other = middle(other, Placement::Dedicated);
                for name in here.names().iter().filter(|name| name.starts_with("logs/")) {
                    if let Some(theirs) = other.contents(name) {
                        here.case(&mut outcomes, &|| name.clone(), &[(name, Some(&theirs))])?;
                    }
                }
            }
            Ok::<_, Box<Found>>(outcomes)
        })
    };
    for (rules, others) in
        [(&[][..], &[&foreign, &normal][..]), (&[Rule::Salt], &[&foreign, &normal]), (&[Rule::ExtentHash], &[&foreign])]
    {
        let outcomes = sound(&format!("{rules:?} left out"), here(rules, others));
        assert!(outcomes.refused > 0, "{rules:?}: no log lay in the same place");
    }
    let found = here(&[Rule::Salt, Rule::ExtentHash], &[&foreign]).expect_err("survives");
    assert!(matches!(found.wrong, Wrong::Different(_)), "{found}");
}
