//! `FORMAT`, manifests and journals of a run folder, as a reader and an owner see them on a
//! simulated disk.

use crate::{choice, number};
use pipeline::checkpoint::{Checkpoint, Inspection, Parameters, inspect};
use pipeline::{RunId, Storage};
use std::sync::Arc;
use testing::SimulatedStorage;
use xxhash_rust::xxh3::xxh3_128;

pub(crate) const FORMAT: &str = "FORMAT";
pub(crate) const MANIFEST: [&str; 2] = ["m/manifest.1.a", "m/manifest.1.b"];
pub(crate) const JOURNAL: [&str; 2] = ["m/journal.1.a", "m/journal.1.b"];

pub(crate) fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let hash = xxh3_128(&bytes);
    bytes.extend_from_slice(&hash.to_le_bytes());
    bytes
}

/// Builds a `FORMAT` with one parameter.
pub(crate) fn identity() -> Vec<u8> {
    let mut bytes = b"PLFORMAT".to_vec();
    bytes.extend_from_slice(&1u32.to_le_bytes());
    bytes.extend_from_slice(&0u32.to_le_bytes());
    bytes.extend_from_slice(&77u128.to_le_bytes());
    bytes.extend_from_slice(&1u32.to_le_bytes());
    bytes.extend_from_slice(&4u16.to_le_bytes());
    bytes.extend_from_slice(&2u32.to_le_bytes());
    bytes.extend_from_slice(b"rule");
    bytes.extend_from_slice(b"no");
    sealed(bytes)
}

/// Builds the manifest of generation 1 with this `FORMAT` and these records.
pub(crate) fn manifest_of(identity: &[u8], records: &[u8]) -> Vec<u8> {
    let mut bytes = b"PLMANIFE".to_vec();
    bytes.extend_from_slice(&1u64.to_le_bytes());
    bytes.extend_from_slice(&(identity.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(records.len() as u64).to_le_bytes());
    bytes.extend_from_slice(identity);
    bytes.extend_from_slice(records);
    sealed(bytes)
}

/// Builds a record of the journal of generation 1; returns it with its padding, and its hash.
pub(crate) fn record(sequence: u64, previous: [u8; 16], payload: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let mut record = b"PLJOURNL".to_vec();
    record.extend_from_slice(&1u64.to_le_bytes());
    record.extend_from_slice(&sequence.to_le_bytes());
    record.extend_from_slice(&previous);
    record.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    record.extend_from_slice(payload);
    let mut record = sealed(record);
    let hash = *record.last_chunk().expect("a record ends in its hash");
    record.resize(record.len().next_multiple_of(4096), 0);
    (record, hash)
}

/// Builds a folder with these files.
fn folder(files: &[(&str, &[u8])]) -> SimulatedStorage {
    let disk = SimulatedStorage::new(1);
    for name in ["m", "logs", "db"] {
        disk.create_dir(name).expect("a folder on an empty disk");
    }
    for (name, contents) in files {
        disk.put(name, contents);
    }
    disk
}

/// Reads the folder and opens it as owner; if both succeed they have to agree.
fn look(disk: SimulatedStorage) {
    let before = inspect(&disk);
    let parameters = match &before {
        Ok(found) => found.parameters.clone(),
        Err(_) => Parameters::default(),
    };
    let blocks = |found: &Inspection| found.records.iter().map(|record| record.block).collect::<Vec<_>>();
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    // There are no log files, so no log may be needed.
    let opened = Checkpoint::open(storage, &parameters, RunId(1), &|_, _| false);
    if let (Ok(before), Ok(opened)) = (before, opened) {
        drop(opened);
        let after = inspect(&disk).expect("a folder that was opened can be read");
        assert_eq!(blocks(&before), blocks(&after));
        assert_eq!(before.parameters, after.parameters);
    }
}

/// `FORMAT`: the input is its body or the whole file.
pub fn format(bytes: &[u8]) {
    let (how, rest) = choice(bytes);
    let contents = match how % 3 {
        0 => rest.to_vec(),
        1 => sealed(rest.to_vec()),
        _ => sealed([b"PLFORMAT\x01\0\0\0\0\0\0\0", rest].concat()),
    };
    look(folder(&[(FORMAT, &contents)]));
    let manifest = manifest_of(&identity(), &[0; 4]);
    look(folder(&[(FORMAT, &contents), (MANIFEST[0], &manifest), (JOURNAL[0], &[]), (JOURNAL[1], &[])]));
}

/// A manifest: the input is its records or the whole file, in one copy or both.
pub fn manifest(bytes: &[u8]) {
    let (how, rest) = choice(bytes);
    let contents = match how % 3 {
        0 => rest.to_vec(),
        1 => sealed(rest.to_vec()),
        _ => manifest_of(&identity(), rest),
    };
    let good = manifest_of(&identity(), &[0; 4]);
    let (first, second) = if how & 0x80 == 0 { (&contents, &contents) } else { (&contents, &good) };
    let format = identity();
    look(folder(&[
        (FORMAT, &format),
        (MANIFEST[0], first),
        (MANIFEST[1], second),
        (JOURNAL[0], &[]),
        (JOURNAL[1], &[]),
    ]));
}

/// A journal of up to eight records: the input is their payloads, each after its length, or the
/// whole file.
pub fn journal(bytes: &[u8]) {
    let (how, mut rest) = choice(bytes);
    let manifest = manifest_of(&identity(), &[0; 4]);
    let mut contents = Vec::new();
    if how & 1 == 0 {
        let mut previous = *manifest.last_chunk().expect("a manifest ends in its hash");
        for sequence in 0..8u64 {
            let (length, behind) = number::<1>(rest);
            let (payload, behind) = behind.split_at(behind.len().min(length as usize));
            rest = behind;
            let (record, hash) = record(sequence, previous, payload);
            previous = hash;
            contents.extend_from_slice(&record);
            if rest.is_empty() {
                break;
            }
        }
    } else {
        contents = rest.to_vec();
    }
    // The second copy is equal, cut, empty, or other bytes.
    let second = match how >> 1 & 3 {
        0 => contents.clone(),
        1 => contents[..contents.len() / 2].to_vec(),
        2 => Vec::new(),
        _ => rest.to_vec(),
    };
    let format = identity();
    look(folder(&[
        (FORMAT, &format),
        (MANIFEST[0], &manifest),
        (MANIFEST[1], &manifest),
        (JOURNAL[0], &contents),
        (JOURNAL[1], &second),
    ]));
}
