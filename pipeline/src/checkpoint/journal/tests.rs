//! The records read from two copies, and the damage reported in either.

use super::*;
use crate::ids::BlockId;
use crate::testing::SimulatedStorage;

const GENERATION: u64 = 1;
const MANIFEST_HASH: u128 = 7;
const A: &str = "m/journal.1.a";
const B: &str = "m/journal.1.b";
const PAGE: usize = PAGE_BYTES as usize;

fn journal(disk: &SimulatedStorage) -> Journal {
    disk.create_dir(names::METADATA).unwrap();
    Journal::create(disk, GENERATION, MANIFEST_HASH).unwrap()
}

fn block(number: u32) -> BlockRecord {
    BlockRecord { block: BlockId(number), ..BlockRecord::default() }
}

/// A journal with blocks 0 to 3, each in a record of one page.
fn four_records() -> SimulatedStorage {
    let disk = SimulatedStorage::new(1);
    let mut journal = journal(&disk);
    for number in 0..4 {
        let (bytes, hash) = journal.encode(&[block(number)]).unwrap();
        assert_eq!(bytes.len(), PAGE);
        journal.append(&bytes, hash).unwrap();
    }
    disk
}

fn change(disk: &SimulatedStorage, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = disk.contents(name).unwrap();
    change(&mut bytes);
    disk.put(name, &bytes);
}

/// Flips a byte of the payload of record `number`.
fn flip(disk: &SimulatedStorage, name: &str, number: usize) {
    change(disk, name, |bytes| bytes[number * PAGE + HEADER_BYTES] ^= 1);
}

fn flips(disk: &SimulatedStorage, records: &[(&str, usize)]) {
    records.iter().for_each(|(name, number)| flip(disk, name, *number));
}

fn cut(disk: &SimulatedStorage, name: &str, length: usize) {
    change(disk, name, |bytes| bytes.truncate(length));
}

fn blocks(records: &[BlockRecord]) -> Vec<u32> {
    records.iter().map(|record| record.block.0).collect()
}

/// Reads the blocks; an error has the file's name, the offset, and the kind and text of the damage.
fn read_blocks(disk: &SimulatedStorage) -> Result<Vec<u32>, (String, Option<u64>, String)> {
    match read(disk, GENERATION, MANIFEST_HASH) {
        Ok(records) => Ok(blocks(&records)),
        Err(Error::Corrupt { path, offset, damage }) => {
            Err((path.display().to_string(), offset, damage.in_words().join("; ")))
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_journal_keeps_its_limit() {
    let mut journal = journal(&SimulatedStorage::new(1));
    journal.end = JOURNAL_BYTES_AT_MOST - PAGE_BYTES;
    assert!(journal.encode(&[block(0)]).is_ok());
    journal.end = JOURNAL_BYTES_AT_MOST;
    assert!(matches!(journal.encode(&[block(0)]), Err(Error::JournalFull { .. })));
}

#[test]
fn every_header_field_is_compared_at_its_place() {
    // Magic number, generation, sequence, previous hash, length, payload, hash, padding.
    let whole = four_records().contents(A).unwrap();
    let hash_at = HEADER_BYTES + u32::from_le_bytes(*whole[40..].first_chunk().unwrap()) as usize;
    let cases = [
        (0, 0, "magic number"),
        (8, 8, "generation"),
        (16, hash_at, "hash of the bytes before it"),
        (24, hash_at, "hash of the bytes before it"),
        (43, 40, "length of a record"),
        (HEADER_BYTES, hash_at, "hash of the bytes before it"),
        (hash_at, hash_at, "hash of the bytes before it"),
        (hash_at + HASH_BYTES, hash_at + HASH_BYTES, "padding"),
        (PAGE - 1, hash_at + HASH_BYTES, "padding"),
    ];
    for (place, offset, what) in cases {
        let disk = four_records();
        change(&disk, A, |bytes| bytes[PAGE + place] ^= 0x80);
        let mut findings = Vec::new();
        let records = examine(&disk, GENERATION, MANIFEST_HASH, &mut findings).unwrap();
        assert_eq!(blocks(&records.unwrap()), [0, 1, 2, 3], "{place}");
        let [finding] = &findings[..] else { panic!("{place}: {findings:?}") };
        assert_eq!((finding.severity, finding.offset), (Severity::Copy, Some((PAGE + offset) as u64)), "{finding}");
        assert!(finding.to_string().contains(what), "{place}: {finding}");
        assert_eq!(read_blocks(&disk), Ok(vec![0, 1, 2, 3]), "{place}");
    }
}

/// An intact record in the place of another one breaks the chain.
#[test]
fn a_record_counts_only_in_its_place() {
    let found = |disk: &SimulatedStorage| {
        let mut findings = Vec::new();
        let records = examine(disk, GENERATION, MANIFEST_HASH, &mut findings).unwrap().unwrap();
        assert_eq!(blocks(&records), [0, 1, 2, 3]);
        findings.iter().map(|one| (one.offset.unwrap() as usize, one.damage.clone())).collect::<Vec<_>>()
    };
    let disk = four_records();
    change(&disk, A, |bytes| bytes.copy_within(0..PAGE, 2 * PAGE));
    let number = Damage::Number { of: "number of the record", expected: Expected::Exactly(2), found: 0 };
    assert_eq!(found(&disk), [(2 * PAGE + 16, number)]);

    // A record of another chain: intact, but after another record.
    let disk = four_records();
    let (other, _) = encode(GENERATION, 2, 99, &[block(2)]).unwrap();
    change(&disk, B, |bytes| bytes[2 * PAGE..3 * PAGE].copy_from_slice(&other));
    let [(offset, Damage::Hash { of, found: got, .. })] = &found(&disk)[..] else { panic!("no hash") };
    assert_eq!((*offset, *of, &**got), (2 * PAGE + 24, "hash of the record before", &*format!("{:032x}", 99)));

    // The last record of b is another one of the same chain.
    let disk = four_records();
    let before = disk.contents(A).unwrap();
    let previous = u128::from_le_bytes(*before[3 * PAGE + 24..].first_chunk().unwrap());
    let (other, hash) = encode(GENERATION, 3, previous, &[block(5)]).unwrap();
    change(&disk, B, |bytes| bytes[3 * PAGE..].copy_from_slice(&other));
    let [(offset, Damage::Hash { of, found: got, .. })] = &found(&disk)[..] else { panic!("no hash") };
    let expected = (3 * PAGE, "hash of the record, which differs from copy a,", &*format!("{hash:032x}"));
    assert_eq!((*offset, *of, &**got), expected);
}

#[test]
fn a_record_of_many_pages_is_read_whole() {
    let disk = SimulatedStorage::new(1);
    let mut journal = journal(&disk);
    for (first, last) in [(0, 2), (2, 2000), (2000, 2001)] {
        let (bytes, hash) = journal.encode(&(first..last).map(block).collect::<Vec<_>>()).unwrap();
        journal.append(&bytes, hash).unwrap();
    }
    assert!(disk.contents(A).unwrap().len() > 4 * PAGE);
    assert_eq!(read_blocks(&disk), Ok((0..2001).collect()));
    // Its last page is lost in both copies, and so is the record after it.
    for name in [A, B] {
        let length = disk.contents(name).unwrap().len();
        cut(&disk, name, length - 2 * PAGE);
    }
    let bytes = disk.contents(A).unwrap().len() - PAGE;
    let rule = format!("neither copy has the next record, but {bytes} bytes follow");
    let (path, offset, words) = read_blocks(&disk).unwrap_err();
    assert_eq!((&*path, offset), (B, Some(PAGE_BYTES)));
    assert!(words.contains(&rule), "{words}");
}

#[test]
fn a_record_that_neither_copy_has_is_the_end_only_if_nothing_follows() {
    // Record 1 is damaged in both copies.
    let disk = four_records();
    flip(&disk, A, 1);
    flip(&disk, B, 1);
    let (path, offset, words) = read_blocks(&disk).unwrap_err();
    assert_eq!((&*path, offset), (B, Some(PAGE_BYTES)));
    assert!(words.contains("but 12288 bytes follow"), "{words}");

    // Copy b ends; in a records 1 and 2 are damaged, and 3 proves that they existed.
    let disk = four_records();
    flip(&disk, A, 1);
    flip(&disk, A, 2);
    cut(&disk, B, PAGE);
    let (path, offset, words) = read_blocks(&disk).unwrap_err();
    assert_eq!((&*path, offset), (A, Some(3 * PAGE_BYTES)));
    assert!(words.contains("record 3 follows, but record 1 before it is lost"), "{words}");

    // The same with garbage in place of record 3: the trace of a commit that did not happen.
    flip(&disk, A, 3);
    assert_eq!(read_blocks(&disk), Ok(vec![0]));
    // An older record there does not prove a lost one either.
    change(&disk, A, |bytes| bytes.copy_within(0..PAGE, 3 * PAGE));
    assert_eq!(read_blocks(&disk), Ok(vec![0]));
}

/// Headers that claim the rest of the file would make a reader hash it once for each page.
#[test]
fn a_copy_with_overlapping_records_is_given_up() {
    let overlapping = |pages: usize| {
        let disk = four_records();
        let (mut page, _) = encode(GENERATION, 9, 0, &[]).unwrap();
        let mut bytes = Vec::new();
        for left in (1..=pages).rev() {
            let payload_bytes = (left * PAGE - HEADER_BYTES - HASH_BYTES) as u32;
            page[40..HEADER_BYTES].copy_from_slice(&payload_bytes.to_le_bytes());
            bytes.extend_from_slice(&page);
        }
        disk.put(A, &bytes);
        cut(&disk, B, 0);
        disk
    };
    // 3 + 2 + 1 pages are twice the length, 4 + 3 + 2 are more.
    assert_eq!(read_blocks(&overlapping(3)), Ok(Vec::new()));
    let (path, offset, words) = read_blocks(&overlapping(4)).unwrap_err();
    assert_eq!((&*path, offset), (A, None));
    assert!(words.contains("overlap"), "{words}");
    // A copy with overlapping records is damaged, and the other one suffices.
    let disk = overlapping(4);
    disk.put(B, &four_records().contents(B).unwrap());
    assert_eq!(read_blocks(&disk), Ok(vec![0, 1, 2, 3]));
}

#[test]
fn a_copy_that_is_lost_as_a_whole_is_named_and_the_other_suffices() {
    for (gone, severity) in [(&[A][..], Severity::Copy), (&[B], Severity::Copy), (&[A, B], Severity::Damage)] {
        let disk = four_records();
        gone.iter().for_each(|name| disk.take(name));
        let mut findings = Vec::new();
        let records = examine(&disk, GENERATION, MANIFEST_HASH, &mut findings).unwrap();
        let expected: Vec<_> = gone.iter().map(|name| Finding::new(severity, *name, Damage::MISSING)).collect();
        assert_eq!(findings, expected);
        assert_eq!(records.is_some(), severity == Severity::Copy);
        assert_eq!(read_blocks(&disk).ok(), records.map(|records| blocks(&records)));
    }
}

/// The damage reported in either copy: its severity, the copy and the record.
#[test]
fn each_damage_of_a_copy_is_reported_once() {
    use Severity::{Copy, Leftover};
    type Case = (&'static str, fn(&SimulatedStorage), &'static [(Severity, &'static str, usize)]);
    let cases: &[Case] = &[
        ("nothing", |_| {}, &[]),
        ("first of a", |disk| flip(disk, A, 0), &[(Copy, A, 0)]),
        ("last of a", |disk| flip(disk, A, 3), &[(Copy, A, 3)]),
        ("first of b", |disk| flip(disk, B, 0), &[(Copy, B, 0)]),
        ("last of b", |disk| flip(disk, B, 3), &[(Copy, B, 3)]),
        ("a is cut", |disk| cut(disk, A, 2 * PAGE), &[(Copy, A, 2)]),
        ("a is cut in a record", |disk| cut(disk, A, 2 * PAGE + 99), &[(Copy, A, 2)]),
        // A stop between the two copies.
        ("b lacks the last", |disk| cut(disk, B, 3 * PAGE), &[(Leftover, B, 3)]),
        ("b is cut in the last", |disk| cut(disk, B, 4 * PAGE - 1), &[(Leftover, B, 3)]),
        // Two commits without b, which no stop can leave.
        ("b lacks two", |disk| cut(disk, B, 2 * PAGE), &[(Copy, B, 2)]),
        ("b is empty", |disk| cut(disk, B, 0), &[(Copy, B, 0)]),
        ("one record of each", |disk| flips(disk, &[(A, 1), (B, 2)]), &[(Copy, B, 2), (Copy, A, 1)]),
        ("b before a", |disk| flips(disk, &[(B, 1), (A, 2)]), &[(Copy, B, 1), (Copy, A, 2)]),
        (
            "two of a, two of b",
            |disk| flips(disk, &[(A, 0), (A, 2), (B, 1), (B, 3)]),
            &[(Copy, A, 0), (Copy, B, 1), (Copy, A, 2), (Copy, B, 3)],
        ),
        ("an unfinished commit", |disk| change(disk, A, |bytes| bytes.resize(6 * PAGE, 0xaa)), &[(Leftover, A, 4)]),
    ];
    for (story, damage, expected) in cases {
        let disk = four_records();
        damage(&disk);
        let mut findings = Vec::new();
        let records = examine(&disk, GENERATION, MANIFEST_HASH, &mut findings).unwrap();
        assert_eq!(blocks(&records.unwrap()), [0, 1, 2, 3], "{story}");
        let mut seen: Vec<_> = findings
            .iter()
            .map(|one| (one.severity, one.path.display().to_string(), one.offset.unwrap() as usize / PAGE))
            .collect();
        let mut expected: Vec<_> =
            expected.iter().map(|(severity, name, at)| (*severity, name.to_string(), *at)).collect();
        seen.sort();
        expected.sort();
        assert_eq!(seen, expected, "{story}");
    }
    let disk = four_records();
    change(&disk, A, |bytes| bytes.resize(6 * PAGE, 0xaa));
    let mut findings = Vec::new();
    examine(&disk, GENERATION, MANIFEST_HASH, &mut findings).unwrap();
    assert!(findings[0].to_string().contains("8192 bytes of an unfinished commit"), "{}", findings[0]);
}
