//! Long files whose hashes are right, each the worst its reader may meet at that length: for tests
//! and measurements of what the readers cost.

use crate::checkpoint::{FORMAT, JOURNAL, MANIFEST, identity, manifest_of, record, sealed};

/// The files of a folder: name and contents.
pub type Files = Vec<(String, Vec<u8>)>;

/// A kind of long file: its name and its maker, from a length in bytes to a folder whose long file
/// has about that length.
pub type Kind = (&'static str, fn(usize) -> Files);

/// Every kind.
pub const KINDS: [Kind; 11] = [
    ("FORMAT of many parameters", format),
    ("manifest of many blocks", manifest_of_blocks),
    ("manifest of many extents", manifest_of_extents),
    ("journal of whole records", |bytes| journal(bytes, Journal::Whole)),
    ("journal of overlapping broken records", |bytes| journal(bytes, Journal::Broken)),
    ("journal with a broken copy beside a whole one", |bytes| journal(bytes, Journal::Beside)),
    ("journal with a lost record before many", |bytes| journal(bytes, Journal::Behind)),
    ("SUMS of many names", sums),
    ("SUMS of empty lines", |bytes| database(&sound_manifest(), vec![b'\n'; bytes])),
    ("manifest.json with a long list", |bytes| database(&unknown_key("[", "0,", "0]", bytes), Vec::new())),
    ("manifest.json with deep lists", |bytes| database(&unknown_key("", "[", "", bytes), Vec::new())),
];

fn run(format: Vec<u8>, manifest: &[u8], journals: [Vec<u8>; 2]) -> Files {
    let [a, b] = journals;
    let files = [(FORMAT, format), (MANIFEST[0], manifest.to_vec()), (MANIFEST[1], manifest.to_vec()), (JOURNAL[0], a)];
    files.into_iter().chain([(JOURNAL[1], b)]).map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

fn format(bytes: usize) -> Files {
    let count = (bytes / 13).min(65_535) as u32;
    let mut file = b"PLFORMAT\x01\0\0\0\0\0\0\0".to_vec();
    file.extend_from_slice(&77u128.to_le_bytes());
    file.extend_from_slice(&count.to_le_bytes());
    for number in 0..count {
        file.extend_from_slice(&7u16.to_le_bytes());
        file.extend_from_slice(&0u32.to_le_bytes());
        file.extend_from_slice(format!("{number:07}").as_bytes());
    }
    let file = sealed(file);
    run(file.clone(), &manifest_of(&file, &[0; 4]), [Vec::new(), Vec::new()])
}

/// A record of a block without file, summary or extents.
fn block(number: u32) -> [u8; 13] {
    let mut bytes = [0; 13];
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    bytes
}

fn manifest_of_blocks(bytes: usize) -> Files {
    let count = (bytes / 13).min(1 << 20) as u32;
    let mut records = count.to_le_bytes().to_vec();
    // In an order that suits no tree.
    (0..count).for_each(|number| records.extend_from_slice(&block(number.reverse_bits())));
    run(identity(), &manifest_of(&identity(), &records), [Vec::new(), Vec::new()])
}

fn manifest_of_extents(bytes: usize) -> Files {
    let count = (bytes / 41) as u32;
    let mut records = [&1u32.to_le_bytes()[..], &[0; 9], &count.to_le_bytes()].concat();
    for number in 0..count {
        records.extend_from_slice(&number.reverse_bits().to_le_bytes());
        records.push(0);
        for field in [0u64, 0, 1, 0] {
            records.extend_from_slice(&field.to_le_bytes());
        }
        records.extend_from_slice(&0u32.to_le_bytes());
    }
    run(identity(), &manifest_of(&identity(), &records), [Vec::new(), Vec::new()])
}

enum Journal {
    /// Records of one page, both copies equal.
    Whole,
    /// From the start on, every page has the header of a record that ends with the file.
    Broken,
    /// The same in copy a, beside the records of one page in copy b.
    Beside,
    /// The first record is lost, and every page after it has such a header with a later number.
    Behind,
}

fn journal(bytes: usize, how: Journal) -> Files {
    let manifest = manifest_of(&identity(), &[0; 4]);
    let pages = (bytes / 4096) as u64;
    let mut previous: [u8; 16] = *manifest.last_chunk().expect("a manifest ends in its hash");
    let (mut whole, mut broken) = (Vec::new(), Vec::new());
    for page in 0..pages {
        let payload = [&1u32.to_le_bytes()[..], &block(page as u32)].concat();
        let (one, hash) = record(page, previous, &payload);
        let mut claim = one.clone();
        let rest = (pages - page) * 4096;
        claim[40..44].copy_from_slice(&((rest - 60).min(1 << 28) as u32).to_le_bytes());
        if matches!(how, Journal::Behind) {
            claim[16..24].copy_from_slice(&(page + 7).to_le_bytes());
        }
        whole.extend_from_slice(&one);
        broken.extend_from_slice(&claim);
        previous = hash;
    }
    let copies = match how {
        Journal::Whole => [whole.clone(), whole],
        Journal::Broken => [broken.clone(), broken],
        Journal::Beside => [broken, whole],
        Journal::Behind => {
            broken[..44].fill(0);
            [broken, Vec::new()]
        }
    };
    run(identity(), &manifest, copies)
}

fn database(manifest: &[u8], sums: Vec<u8>) -> Files {
    vec![("manifest.json".to_owned(), manifest.to_vec()), ("SUMS".to_owned(), sums)]
}

/// The manifest of a board of one layer, as the format says; its digests are made up.
fn sound_manifest() -> Vec<u8> {
    unknown_key("", "", "0", 0)
}

/// A manifest with one more key, whose value is `open`, then `part` repeated, then `close`.
fn unknown_key(open: &str, part: &str, close: &str, bytes: usize) -> Vec<u8> {
    let parts = if part.is_empty() { 0 } else { bytes / part.len() };
    let digest = "0".repeat(64);
    format!(
        "{{\"schema\":\"trinim.database/1\",\"layers\":1,\"rule\":\"misere\",\"max_take\":null,\
         \"bid_cells\":[],\"offset_cells\":[0],\"digest\":\"{digest}\",\"keep\":\"database\",\"by_pieces\":[],\
         \"more\":{open}{}{close},\"blocks\":[{{\"bid\":0,\"losses\":1,\"digest\":\"{digest}\"}}]}}",
        part.repeat(parts)
    )
    .into_bytes()
}

fn sums(bytes: usize) -> Files {
    let sum = "0".repeat(64);
    let line = |number: usize| format!("{sum}  {number:07}\n");
    let text: String = (0..bytes / line(0).len()).map(line).collect();
    database(&sound_manifest(), text.into_bytes())
}
