//! Damaged run folders: healed or refused, never a wrong result, never a lost block.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::toy::{Broken, Wrong, finish, golden, parameters, run};
use pipeline::checkpoint::{Checkpoint, Parameters, inspect};
use pipeline::testing::{Fault, SimulatedStorage};
use pipeline::{Error, RunId, Storage};

fn plain(disk: SimulatedStorage) -> Arc<dyn Storage> {
    Arc::new(disk)
}

/// Builds a run in its second generation: two blocks in the manifest, two in the journal, two to
/// come.
fn half_way() -> (SimulatedStorage, BTreeSet<u32>) {
    let mut disk = SimulatedStorage::new(5);
    let mut acknowledged = BTreeSet::new();
    for blocks in [2, 4] {
        // The first stop with that many blocks: right after the commit.
        let stopped = (1..).find_map(|step| {
            let disk = disk.kill().with_fault(step, Fault::Stop);
            let mut here = acknowledged.clone();
            let _ = run(plain(disk.clone()), 3, Broken::default(), &mut here);
            (here.len() == blocks).then(|| (disk.power_cut(1), here))
        });
        (disk, acknowledged) = stopped.unwrap();
    }
    (disk, acknowledged)
}

#[derive(Debug, Default)]
struct Tally {
    healed: u32,
    refused: u32,
}

impl Tally {
    /// Judges a damaged disk; panics on a wrong result, a lost block or a vague refusal.
    fn judge(&mut self, disk: &SimulatedStorage, acknowledged: &BTreeSet<u32>, story: &str) -> bool {
        match finish(disk, &plain, Broken::default(), acknowledged, &golden()) {
            Ok(()) => {
                self.healed += 1;
                true
            }
            Err(Wrong::Stuck(Error::Corrupt { .. } | Error::Version { .. } | Error::NotEmpty { .. })) => {
                self.refused += 1;
                false
            }
            Err(wrong) => panic!("{story}: {wrong:?}"),
        }
    }
}

fn metadata(disk: &SimulatedStorage) -> Vec<String> {
    let names = disk.names().into_iter();
    names.filter(|name| name.starts_with("m/") || name == "FORMAT").collect()
}

/// Whether a file is a log of blocks 0 to 3, which are finished: damage in it does not matter.
fn is_consumed(name: &str) -> bool {
    name.starts_with("logs/0")
}

#[test]
fn every_flipped_byte_of_the_metadata_heals() {
    let (disk, acknowledged) = half_way();
    let names = metadata(&disk);
    assert_eq!(names.len(), 5, "{names:?}");
    let mut tally = Tally::default();
    for name in &names {
        let whole = disk.contents(name).unwrap();
        for place in 0..whole.len() {
            let disk = disk.kill();
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << (place % 8);
            disk.put(name, &bytes);
            let story = format!("{name} flipped at {place}");
            assert!(tally.judge(&disk, &acknowledged, &story), "{story}: refused");
            if name == "FORMAT" {
                assert_eq!(disk.contents(name).unwrap(), whole, "{story}: not healed");
            }
        }
    }
    println!("flips in one copy: {tally:?}");
}

#[test]
fn every_truncation_of_one_copy_heals() {
    let (disk, acknowledged) = half_way();
    let mut tally = Tally::default();
    for name in metadata(&disk) {
        let whole = disk.contents(&name).unwrap();
        for length in 0..whole.len() {
            let disk = disk.kill();
            disk.put(&name, &whole[..length]);
            let story = format!("{name} cut to {length}");
            assert!(tally.judge(&disk, &acknowledged, &story), "{story}: refused");
        }
    }
    println!("cuts of one copy: {tally:?}");
}

#[test]
fn flips_in_both_copies_are_refused() {
    let (disk, acknowledged) = half_way();
    let mut tally = Tally::default();
    let names = metadata(&disk);
    let copies = |letter: &'static str| names.iter().filter(move |name| name.ends_with(letter));
    for (a, b) in copies(".a").zip(copies(".b")) {
        let (whole_a, whole_b) = (disk.contents(a).unwrap(), disk.contents(b).unwrap());
        // The two records of the journal have equal lengths; in the manifest every byte counts.
        for place in (0..whole_a.len()).step_by(3) {
            let disk = disk.kill();
            for (name, whole) in [(a, &whole_a), (b, &whole_b)] {
                let mut bytes = whole.clone();
                bytes[place] ^= 1 << (place % 8);
                disk.put(name, &bytes);
            }
            let story = format!("{a} and {b} flipped at {place}");
            assert!(!tally.judge(&disk, &acknowledged, &story), "{story}: accepted");
        }
    }
    println!("flips in both copies: {tally:?}");
}

#[test]
fn logs_are_healed_or_refused() {
    let (disk, acknowledged) = half_way();
    let mut tally = Tally::default();
    let names = disk.names().into_iter();
    let names: Vec<String> = names.filter(|name| name.starts_with("logs/")).collect();
    assert!(!names.is_empty());
    for name in names {
        let whole = disk.contents(&name).unwrap();
        for place in 0..whole.len() {
            let flipped = disk.kill();
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << (place % 8);
            flipped.put(&name, &bytes);
            tally.judge(&flipped, &acknowledged, &format!("{name} flipped at {place}"));
            let cut = disk.kill();
            cut.put(&name, &whole[..place]);
            let story = format!("{name} cut to {place}");
            assert_eq!(tally.judge(&cut, &acknowledged, &story), is_consumed(&name), "{story}");
        }
    }
    println!("logs: {tally:?}");
}

#[test]
fn every_missing_file_heals_or_is_refused() {
    let (disk, acknowledged) = half_way();
    for name in disk.names() {
        let disk = disk.kill();
        disk.take(&name);
        let mut tally = Tally::default();
        let heals = tally.judge(&disk, &acknowledged, &name);
        let expected = name.starts_with("m/") || name == "LOCK" || is_consumed(&name);
        assert_eq!(heals, expected, "{name}");
    }
    // Both copies, or everything in m/: never a silent new start.
    for gone in ["m/manifest", "m/journal", "m/", "FORMAT"] {
        let disk = disk.kill();
        for name in disk.names().iter().filter(|name| name.starts_with(gone)) {
            disk.take(name);
        }
        let story = format!("{gone} gone");
        assert!(!Tally::default().judge(&disk, &acknowledged, &story), "{story}: accepted");
    }
}

#[test]
fn files_of_another_time_or_run_are_refused() {
    let (disk, acknowledged) = half_way();
    let other = SimulatedStorage::new(9);
    let mut nothing = BTreeSet::new();
    run(plain(other.clone()), 77, Broken::default(), &mut nothing).unwrap().unwrap();
    // Metadata of another run under the current names, both copies.
    for kind in ["manifest", "journal"] {
        let disk = disk.kill();
        for copy in ["a", "b"] {
            let bytes = other.contents(&format!("m/{kind}.1.{copy}")).unwrap();
            disk.put(&format!("m/{kind}.2.{copy}"), &bytes);
        }
        // An empty journal is valid; its blocks are lost then, but nothing is wrong.
        if kind == "manifest" {
            assert!(!Tally::default().judge(&disk, &acknowledged, kind));
        }
    }
    let swapped = disk.kill();
    swapped.put("FORMAT", &other.contents("FORMAT").unwrap());
    assert!(!Tally::default().judge(&swapped, &acknowledged, "FORMAT of another run"));
}

#[test]
fn a_journal_ends_only_where_it_can_end() {
    let (disk, acknowledged) = half_way();
    let mut journal = disk.contents("m/journal.2.a").unwrap();
    journal.resize(journal.len() + 4096, 0xaa);
    for (copy, heals) in [("a", true), ("b", false)] {
        // A torn commit leaves such bytes in copy a; nothing leaves them in copy b alone.
        let disk = disk.kill();
        disk.put(&format!("m/journal.2.{copy}"), &journal);
        let story = format!("garbage behind copy {copy}");
        assert_eq!(Tally::default().judge(&disk, &acknowledged, &story), heals, "{story}");
    }

    let disk = SimulatedStorage::new(9);
    let mut all = BTreeSet::new();
    run(plain(disk.clone()), 1, Broken::default(), &mut all).unwrap().unwrap();
    let whole = disk.contents("m/journal.1.a").unwrap();
    assert_eq!(whole.len(), 3 * 4096);
    let flipped = |record: usize| {
        let mut bytes = whole.clone();
        bytes[record * 4096 + 100] ^= 1;
        bytes
    };
    let judge = |a: &[u8], b: &[u8], story: &str| {
        let disk = disk.kill();
        disk.put("m/journal.1.a", a);
        disk.put("m/journal.1.b", b);
        Tally::default().judge(&disk, &all, story)
    };
    assert!(judge(&flipped(0), &flipped(2), "different records"));
    assert!(judge(&flipped(1), &flipped(0), "different records"));
    assert!(!judge(&flipped(1), &flipped(1), "the same record"));
    assert!(!judge(&flipped(2), &flipped(2), "the last record"));
    assert!(!judge(&flipped(1), &whole[..4096], "a record behind a gap"));
}

#[test]
fn another_version_is_named() {
    let (disk, _) = half_way();
    let mut bytes = disk.contents("FORMAT").unwrap();
    bytes[8] = 7;
    let body = bytes.len() - 16;
    let hash = xxhash_rust::xxh3::xxh3_128(&bytes[..body]);
    bytes[body..].copy_from_slice(&hash.to_le_bytes());
    disk.put("FORMAT", &bytes);
    let error = Checkpoint::open(plain(disk), &parameters(), RunId(1), &|_, _| true).err();
    assert!(matches!(error, Some(Error::Version { found: 7, supported: 1, .. })), "{error:?}");
}

#[test]
fn a_changed_parameter_is_named() {
    let (disk, _) = half_way();
    let open = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let parameters = Parameters(pairs.collect());
        Checkpoint::open(plain(disk.kill()), &parameters, RunId(1), &|_, _| false).err()
    };
    let named = |error: Option<Error>| match error {
        Some(Error::Parameters { name, found, wanted, .. }) => (name, found, wanted),
        other => panic!("{other:?}"),
    };
    let of = |name: &str, found: &str, wanted: &str| (name.to_string(), found.to_string(), wanted.to_string());
    assert!(open(&[("rule", "normal"), ("board", "toy")]).is_none(), "order does not matter");
    assert_eq!(named(open(&[("board", "toy"), ("rule", "misere")])), of("rule", "normal", "misere"));
    assert_eq!(named(open(&[("board", "toy")])), of("rule", "normal", "(absent)"));
    let more = open(&[("board", "toy"), ("rule", "normal"), ("codec", "1")]);
    assert_eq!(named(more), of("codec", "(absent)", "1"));
}

#[test]
fn foreign_folders_are_left_alone() {
    for name in ["thesis.tex", "db/photo.jpg", "m/x", "logs/app.log"] {
        let disk = SimulatedStorage::new(1);
        if let Some((folder, _)) = name.split_once('/') {
            disk.create_dir(folder).unwrap();
        }
        disk.put(name, b"mine");
        let error = Checkpoint::open(plain(disk.clone()), &parameters(), RunId(1), &|_, _| true).err();
        assert!(matches!(error, Some(Error::NotEmpty { .. } | Error::Corrupt { .. })), "{name}: {error:?}");
        assert_eq!(disk.names(), [name], "touched");
        assert!(matches!(inspect(&disk), Err(Error::NotARun { .. } | Error::Corrupt { .. })));
    }
}

#[test]
fn a_second_owner_is_refused_and_a_reader_is_not() {
    let disk = SimulatedStorage::new(1);
    let opened = Checkpoint::open(plain(disk.clone()), &parameters(), RunId(42), &|_, _| true).unwrap();
    assert!(opened.recovered.is_empty());
    let names = disk.names();
    let error = Checkpoint::open(plain(disk.clone()), &parameters(), RunId(1), &|_, _| true).err();
    assert!(matches!(error, Some(Error::Locked { .. })), "{error:?}");
    assert_eq!(disk.names(), names, "touched");
    let inspection = inspect(&disk).unwrap();
    assert_eq!((inspection.run_id, inspection.generation), (RunId(42), 1));
    assert_eq!(inspection.parameters, parameters());
    drop(opened);
    let opened = Checkpoint::open(plain(disk), &parameters(), RunId(1), &|_, _| true).unwrap();
    assert_eq!(opened.checkpoint.run_id(), RunId(42), "a run keeps its identity");
    assert_eq!(opened.checkpoint.generation(), 2);
}

/// What a reader cannot read at first may have been removed by an owner that began a generation.
#[test]
fn a_reader_looks_again_after_an_error() {
    let (disk, acknowledged) = half_way();
    let steps = {
        let disk = disk.kill();
        inspect(&disk).unwrap();
        disk.steps()
    };
    assert!(steps > 5, "{steps}");
    for step in 1..=steps {
        let inspection = inspect(&disk.kill().with_fault(step, Fault::FailOnce));
        assert_eq!(inspection.unwrap().records.len(), acknowledged.len(), "an error at {step}");
    }
    assert!(inspect(&disk.kill().with_fault(1, Fault::FailForever)).is_err());
}

#[test]
fn what_an_interrupted_start_leaves_is_no_foreign_folder() {
    for left in [&["LOCK"][..], &["FORMAT.tmp"], &["LOCK", "FORMAT.tmp"]] {
        let disk = SimulatedStorage::new(1);
        left.iter().for_each(|name| disk.put(name, b""));
        let opened = Checkpoint::open(plain(disk), &parameters(), RunId(1), &|_, _| true);
        assert!(opened.is_ok(), "{left:?}: {:?}", opened.err());
    }
}

/// Each attempt to begin a generation would otherwise leave more files on a full disk.
#[test]
fn files_of_an_incomplete_switch_go_before_new_ones_come() {
    let (disk, _) = half_way();
    for left in ["m/manifest.2.a.tmp", "m/journal.3.a"] {
        let mut refused = 0;
        for step in 1.. {
            let disk = disk.kill().with_fault(step, Fault::Full);
            disk.put(left, b"");
            match Checkpoint::open(plain(disk.clone()), &parameters(), RunId(1), &|_, _| false) {
                Ok(_) => break,
                // From the first new file of the generation on.
                Err(Error::Io { path, .. }) if path.starts_with("m") && path != disk.path("m") => {
                    assert!(!disk.names().contains(&left.to_owned()), "{left} stays, full at {}", path.display());
                    refused += 1;
                }
                Err(error) => assert!(error.is_full_disk(), "{error}"),
            }
        }
        assert!(refused > 1, "{refused}");
    }
}
