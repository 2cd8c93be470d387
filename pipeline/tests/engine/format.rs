//! The bytes on disk are those of `FORMAT.md`: read here by its tables, without the package's
//! reader.

use std::sync::Arc;

use pipeline::checkpoint::{BlockRecord, Checkpoint, Commit, Parameters, PublishedFile};
use pipeline::{BlockId, Extent, LogFile, Placement, RunId, Storage};
use testing::SimulatedStorage;
use xxhash_rust::xxh3::xxh3_128;

fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(bytes[offset..offset + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(bytes[offset..offset + 8].try_into().unwrap())
}

fn u128_at(bytes: &[u8], offset: usize) -> u128 {
    u128::from_le_bytes(bytes[offset..offset + 16].try_into().unwrap())
}

const RUN_ID: RunId = RunId(0x0123_4567_89ab_cdef_0011_2233_4455_6677);

fn example() -> SimulatedStorage {
    let disk = SimulatedStorage::new(1);
    let parameters = Parameters(vec![("board".into(), "5".into())]);
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let opened = Checkpoint::open(storage, &parameters, RUN_ID, &|_, _| true).unwrap();
    let mut checkpoint = opened.checkpoint;
    let file = LogFile { placement: Placement::Shared, bucket: BlockId(3), generation: 1 };
    let extent = Extent { file, offset: 4096, length: 100, hash: 0xaabb, source: BlockId(7) };
    checkpoint
        .commit(Commit {
            records: vec![BlockRecord {
                block: BlockId(7),
                published: Some(PublishedFile { name: "db/x".into(), length: 9, hash: 0xccdd }),
                summary: vec![1, 2, 3],
                extents: vec![extent],
            }],
            ..Commit::default()
        })
        .unwrap();
    assert_eq!(extent.file.name(), "logs/s00000003.g1");
    assert_eq!(LogFile { placement: Placement::Dedicated, ..extent.file }.name(), "logs/00000003.g1");
    disk
}

#[test]
fn format_is_as_described() {
    let bytes = example().contents("FORMAT").unwrap();
    assert_eq!(&bytes[..8], b"PLFORMAT");
    assert_eq!((u32_at(&bytes, 8), u32_at(&bytes, 12)), (1, 0));
    assert_eq!(u128_at(&bytes, 16), RUN_ID.0);
    assert_eq!(u32_at(&bytes, 32), 1);
    assert_eq!(&bytes[36..42], [5, 0, 1, 0, 0, 0]);
    assert_eq!(&bytes[42..48], b"board5");
    assert_eq!(u128_at(&bytes, 48), xxh3_128(&bytes[..48]));
    assert_eq!(bytes.len(), 64);
}

#[test]
fn manifest_and_journal_are_as_described() {
    let disk = example();
    let manifest = disk.contents("m/manifest.1.a").unwrap();
    assert_eq!(disk.contents("m/manifest.1.b").unwrap(), manifest);
    assert_eq!(&manifest[..8], b"PLMANIFE");
    assert_eq!(u64_at(&manifest, 8), 1);
    assert_eq!((u32_at(&manifest, 16), u64_at(&manifest, 20)), (64, 4));
    assert_eq!(manifest[28..92], disk.contents("FORMAT").unwrap());
    assert_eq!(u32_at(&manifest, 92), 0);
    assert_eq!(u128_at(&manifest, 96), xxh3_128(&manifest[..96]));
    assert_eq!(manifest.len(), 44 + 64 + 4);

    let journal = disk.contents("m/journal.1.a").unwrap();
    assert_eq!(disk.contents("m/journal.1.b").unwrap(), journal);
    assert_eq!(&journal[..8], b"PLJOURNL");
    assert_eq!((u64_at(&journal, 8), u64_at(&journal, 16)), (1, 0));
    assert_eq!(u128_at(&journal, 24), u128_at(&manifest, 96));
    let payload = u32_at(&journal, 40) as usize;
    assert_eq!(u128_at(&journal, 44 + payload), xxh3_128(&journal[..44 + payload]));
    assert!(journal[60 + payload..].iter().all(|byte| *byte == 0));
    assert_eq!(journal.len(), 4096);

    let records = &journal[44..44 + payload];
    assert_eq!((u32_at(records, 0), u32_at(records, 4), records[8]), (1, 7, 1));
    assert_eq!(&records[9..15], b"\x04\0db/x");
    assert_eq!((u64_at(records, 15), u128_at(records, 23)), (9, 0xccdd));
    assert_eq!(u32_at(records, 39), 3);
    assert_eq!(&records[43..46], [1, 2, 3]);
    assert_eq!(u32_at(records, 46), 1);
    let extent = &records[50..];
    assert_eq!(extent.len(), 41);
    assert_eq!((u32_at(extent, 0), extent[4]), (3, 1));
    assert_eq!((u64_at(extent, 5), u64_at(extent, 13)), (1, 4096));
    assert_eq!((u64_at(extent, 21), u64_at(extent, 29)), (100, 0xaabb));
    assert_eq!(u32_at(extent, 37), 7);
}

/// The format must not move without a new version.
#[test]
fn the_bytes_do_not_change() {
    let disk = example();
    let hash = |name: &str| xxh3_128(&disk.contents(name).unwrap()) as u64;
    let hashes = ["FORMAT", "m/manifest.1.a", "m/journal.1.a"].map(hash);
    let golden = [0xdef2_44c7_bc70_7c25, 0xe858_79f4_fee4_3ab9, 0x63b6_39dc_e68b_8af6];
    assert_eq!(hashes, golden, "{hashes:#x?}");
}
