//! Damaged run folders: healed or refused, never a wrong result, never a lost block.

use std::ops::Range;
use std::sync::Arc;

use crate::folders::parameters;
use pipeline::checkpoint::{BlockRecord, Checkpoint, Commit, Parameters, PublishedFile, inspect};
use pipeline::storage::Create;
use pipeline::{BlockId, Error, RunId, Storage};
use testing::{Fault, SimulatedStorage};
use xxhash_rust::xxh3::xxh3_128;

fn plain(disk: SimulatedStorage) -> Arc<dyn Storage> {
    Arc::new(disk)
}

/// Opens the folder and commits blocks, one after the other.
fn commit(disk: &SimulatedStorage, run: u128, blocks: Range<u32>) {
    let storage = plain(disk.clone());
    let opened = Checkpoint::open(storage.clone(), &parameters(), RunId(run), &|_, _| true);
    let mut checkpoint = opened.unwrap().checkpoint;
    for block in blocks {
        let (name, bytes) = (format!("db/{block}.blk"), [block as u8; 40]);
        let file = storage.create(&name, Create::Truncate).unwrap();
        file.write_all_at(&bytes, 0).unwrap();
        let published = Some(PublishedFile { name, length: 40, hash: xxh3_128(&bytes) });
        let record = BlockRecord { block: BlockId(block), published, ..BlockRecord::default() };
        let (records, dirty) = (vec![record], vec![file]);
        checkpoint.commit(Commit { records, dirty, directories: vec!["db".to_owned()] }).unwrap();
    }
}

/// Builds a run in its second generation: two blocks in the manifest, two in the journal.
fn half_way() -> SimulatedStorage {
    let disk = SimulatedStorage::new(5);
    commit(&disk, 3, 0..2);
    commit(&disk, 3, 2..4);
    disk.power_cut(1)
}

/// Judges a damaged disk whose blocks are 0 to `blocks`: returns whether a run finds all of them;
/// panics on a lost block or a vague refusal.
fn heals(disk: &SimulatedStorage, blocks: u32, story: &str) -> bool {
    match Checkpoint::open(plain(disk.clone()), &parameters(), RunId(2), &|_, _| true) {
        Ok(opened) => {
            let found: Vec<u32> = opened.recovered.iter().map(|record| record.block.0).collect();
            assert_eq!(found, (0..blocks).collect::<Vec<_>>(), "{story}");
            true
        }
        Err(Error::Corrupt { .. } | Error::Version { .. } | Error::NotEmpty { .. }) => false,
        Err(error) => panic!("{story}: {error}"),
    }
}

fn metadata(disk: &SimulatedStorage) -> Vec<String> {
    let names = disk.names().into_iter();
    names.filter(|name| name.starts_with("m/") || name == "FORMAT").collect()
}

#[test]
fn every_flipped_byte_of_the_metadata_heals() {
    let disk = half_way();
    let names = metadata(&disk);
    assert_eq!(names.len(), 5, "{names:?}");
    for name in &names {
        let whole = disk.contents(name).unwrap();
        for place in 0..whole.len() {
            let disk = disk.kill();
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << (place % 8);
            disk.put(name, &bytes);
            let story = format!("{name} flipped at {place}");
            assert!(heals(&disk, 4, &story), "{story}: refused");
            if name == "FORMAT" {
                assert_eq!(disk.contents(name).unwrap(), whole, "{story}: not healed");
            }
        }
    }
}

#[test]
fn every_truncation_of_one_copy_heals() {
    let disk = half_way();
    for name in metadata(&disk) {
        let whole = disk.contents(&name).unwrap();
        for length in 0..whole.len() {
            let disk = disk.kill();
            disk.put(&name, &whole[..length]);
            let story = format!("{name} cut to {length}");
            assert!(heals(&disk, 4, &story), "{story}: refused");
        }
    }
}

#[test]
fn flips_in_both_copies_are_refused() {
    let disk = half_way();
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
            assert!(!heals(&disk, 4, &story), "{story}: accepted");
        }
    }
}

#[test]
fn every_missing_file_heals_or_is_refused() {
    let disk = half_way();
    for name in disk.names() {
        let disk = disk.kill();
        disk.take(&name);
        assert_eq!(heals(&disk, 4, &name), name.starts_with("m/") || name == "LOCK", "{name}");
    }
    // Both copies, or everything in m/: never a silent new start.
    for gone in ["m/manifest", "m/journal", "m/", "FORMAT"] {
        let disk = disk.kill();
        for name in disk.names().iter().filter(|name| name.starts_with(gone)) {
            disk.take(name);
        }
        let story = format!("{gone} gone");
        assert!(!heals(&disk, 4, &story), "{story}: accepted");
    }
}

#[test]
fn files_of_another_time_or_run_are_refused() {
    let disk = half_way();
    let other = SimulatedStorage::new(9);
    commit(&other, 77, 0..4);
    // Metadata of another run under the current names, both copies.
    for kind in ["manifest", "journal"] {
        let disk = disk.kill();
        for copy in ["a", "b"] {
            let bytes = other.contents(&format!("m/{kind}.1.{copy}")).unwrap();
            disk.put(&format!("m/{kind}.2.{copy}"), &bytes);
        }
        assert!(!heals(&disk, 4, kind));
    }
    let swapped = disk.kill();
    swapped.put("FORMAT", &other.contents("FORMAT").unwrap());
    assert!(!heals(&swapped, 4, "FORMAT of another run"));
}

/// A file with a large number in its name, whoever made it, does not make the next generation one
/// whose name would not be read.
#[test]
fn a_large_number_in_a_name_hides_no_run() {
    for (name, is_foreign) in [
        ("logs/notes.g9223372036854775806", true),
        ("m/notes.9223372036854775806.a", true),
        ("logs/0000000a.g9223372036854775805", true),
        ("logs/0000000a.g9223372036854775806", false),
        ("m/journal.9223372036854775806.a", false),
    ] {
        let disk = half_way();
        disk.put(name, b"mine");
        let before = disk.names();
        assert_eq!(heals(&disk, 4, name), is_foreign, "{name}");
        assert!(is_foreign || disk.names() == before, "{name}: {:?}", disk.names());
        assert_eq!(inspect(&disk).unwrap().records.len(), 4, "{name}");
    }
}

#[test]
fn another_version_is_named() {
    let disk = half_way();
    let mut bytes = disk.contents("FORMAT").unwrap();
    bytes[8] = 7;
    let body = bytes.len() - 16;
    let hash = xxh3_128(&bytes[..body]);
    bytes[body..].copy_from_slice(&hash.to_le_bytes());
    disk.put("FORMAT", &bytes);
    let error = Checkpoint::open(plain(disk), &parameters(), RunId(1), &|_, _| true).err();
    assert!(matches!(error, Some(Error::Version { found: 7, supported: 1, .. })), "{error:?}");
}

#[test]
fn a_changed_parameter_is_named() {
    let disk = half_way();
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
    let disk = half_way();
    let steps = {
        let disk = disk.kill();
        inspect(&disk).unwrap();
        disk.steps()
    };
    assert!(steps > 5, "{steps}");
    for step in 1..=steps {
        let inspection = inspect(&disk.kill().with_fault(step, Fault::FailOnce));
        assert_eq!(inspection.unwrap().records.len(), 4, "an error at {step}");
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
    let disk = half_way();
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
