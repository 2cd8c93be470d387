//! Files of a database: block files, books, `manifest.json`, `SUMS`.

use crate::choice;
use pipeline::BlockId;
use pipeline::codec::Scratch;
use std::collections::BTreeSet;
use std::path::Path;
use trinim::database::block::{BlockForm, BlockIndex, HEADER_BYTES, INDEX_ROW_BYTES};
use trinim::database::book::{BookEncoder, BookHead, BookIndex, BookOrder, HEADER_BYTES as HEADER_BYTES_OF_BOOK};
use trinim::database::{DatabaseError, Game, Manifest, SUMS};
use trinim::game::Rule;
use trinim::maintenance::Request;
use trinim::verify::verify_files;
use xxhash_rust::xxh3::xxh3_64;

const IDENTITY: u64 = 11;
const BLOCK: BlockId = BlockId(3);
const STREAM_WORDS: usize = 64;

/// A block file: the input is the whole file, its frame, or the end of a valid file.
pub fn block(bytes: &[u8]) {
    let (how, rest) = choice(bytes);
    let form = BlockForm { identity: IDENTITY, stream_words: STREAM_WORDS };
    let file = match how % 3 {
        0 => rest.to_vec(),
        1 => {
            let (codec, rest) = choice(rest);
            framed(codec, rest)
        }
        _ => {
            // A valid file whose end is overwritten by the input.
            let stream: Vec<u64> = (0..STREAM_WORDS as u64).map(|word| (word * 0x0101) >> (word % 7)).collect();
            let mut file = form.file(BLOCK, &stream);
            let codec = file[HEADER_BYTES + 15];
            let over = rest.len().min(file.len());
            let from = file.len() - over;
            file[from..].copy_from_slice(&rest[..over]);
            framed(codec, &file[HEADER_BYTES + INDEX_ROW_BYTES..])
        }
    };
    let _ = read_block(&form, &file);
}

/// A book of four layers: the input is the whole file, its losses and the gaps of its only frame,
/// or the end of a valid file.
pub fn book(bytes: &[u8]) {
    let (how, rest) = choice(bytes);
    let game = Game::triangle(4, Rule::Misere, 10).expect("a board");
    let (head, order) = (BookHead::new(&game, 2, None), BookOrder::new(&game.board));
    let file = match how % 3 {
        0 => rest.to_vec(),
        1 => bound(&head, rest),
        _ => {
            // A valid file whose end is overwritten by the input.
            let mut file = BookEncoder::whole(head, &(0..500).step_by(3).collect::<Vec<u64>>());
            let over = rest.len().min(file.len());
            let from = file.len() - over;
            file[from..].copy_from_slice(&rest[..over]);
            file
        }
    };
    let path = Path::new("book");
    let Ok(index) = BookIndex::read(path, &file, &head, &order) else { return };
    let frames: Result<Vec<Vec<u64>>, _> =
        (0..index.frames.len()).map(|frame| index.decode_in(path, frame, &file)).collect();
    let Ok(frames) = frames else { return };
    let numbers = frames.concat();
    assert!(numbers.is_sorted_by(|one, next| one < next) && numbers.len() as u64 == index.losses);
    assert!(numbers.iter().all(|number| order.number(order.position(*number)) == *number));
    let again = BookEncoder::whole(head, &numbers);
    let index = BookIndex::read(path, &again, &head, &order).expect("a book that was written");
    assert_eq!(index.losses, numbers.len() as u64);
}

/// Builds a book of one frame with valid hashes: its losses, its first number, and its gaps.
fn bound(head: &BookHead, bytes: &[u8]) -> Vec<u8> {
    let (fields, gaps) = bytes.split_at(bytes.len().min(4));
    let field = |at: usize| {
        u64::from(fields.get(at).copied().unwrap_or(0)) << 8 | u64::from(fields.get(at + 1).copied().unwrap_or(0))
    };
    // One uncompressed block of zstd.
    let gaps = &gaps[..gaps.len().min(255)];
    let block = (gaps.len() as u32) << 3 | 1;
    let stored = [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, gaps.len() as u8][..], &block.to_le_bytes()[..3], gaps].concat();
    let at = HEADER_BYTES_OF_BOOK as u64;
    let row: Vec<u8> =
        [field(2), at, stored.len() as u64, xxh3_64(&stored)].iter().flat_map(|field| field.to_le_bytes()).collect();
    let mut header = b"TRINIMBO".to_vec();
    for number in [1, 0, head.pieces, head.cells] {
        header.extend_from_slice(&number.to_le_bytes());
    }
    for number in [head.identity, field(0), 1, at + stored.len() as u64, xxh3_64(&row)] {
        header.extend_from_slice(&number.to_le_bytes());
    }
    header.extend_from_slice(&[0; 56]);
    let hash = xxh3_64(&header);
    header.extend_from_slice(&hash.to_le_bytes());
    [header, stored, row].concat()
}

/// Builds a file with this frame, in this codec, and valid hashes.
fn framed(codec: u8, frame: &[u8]) -> Vec<u8> {
    let begin = (HEADER_BYTES + INDEX_ROW_BYTES) as u64;
    let length = frame.len() as u64 | u64::from(codec) << 56;
    let index = [begin.to_le_bytes(), length.to_le_bytes(), xxh3_64(frame).to_le_bytes()].concat();
    let mut header = b"TRINIMBK".to_vec();
    header.extend_from_slice(&1u32.to_le_bytes());
    header.extend_from_slice(&BLOCK.0.to_le_bytes());
    header.extend_from_slice(&(STREAM_WORDS as u64).to_le_bytes());
    header.extend_from_slice(&131_072u32.to_le_bytes());
    header.extend_from_slice(&1u32.to_le_bytes());
    header.extend_from_slice(&IDENTITY.to_le_bytes());
    header.extend_from_slice(&xxh3_64(&index).to_le_bytes());
    header.extend_from_slice(&[0; 8]);
    let hash = xxh3_64(&header);
    header.extend_from_slice(&hash.to_le_bytes());
    [&header[..], &index, frame].concat()
}

/// Reads a block file as a database does.
fn read_block(form: &BlockForm, file: &[u8]) -> Option<()> {
    let (path, mut scratch) = (Path::new("x"), Scratch::new());
    let header: &[u8; HEADER_BYTES] = file.first_chunk()?;
    let length = BlockIndex::length(path, header, form, BLOCK).ok()?;
    let index = file.get(HEADER_BYTES..HEADER_BYTES + length)?;
    let index = BlockIndex::parse(path, header, form, index, file.len() as u64).ok()?;
    for (number, row) in index.frames.iter().enumerate() {
        let end = row.offset.checked_add(row.stored_bytes)?;
        let stored = file.get(usize::try_from(row.offset).ok()?..usize::try_from(end).ok()?)?.to_vec();
        let mut words = vec![0; index.words_of(number)];
        index.decode(path, number, &stored, &mut words, &mut scratch).ok()?;
    }
    Some(())
}

/// `manifest.json`: an accepted manifest survives writing and parsing.
pub fn manifest(bytes: &[u8]) {
    let path = Path::new("manifest.json");
    let Ok((manifest, game)) = Manifest::parse(path, bytes) else { return };
    let (again, same) = Manifest::parse(path, &manifest.to_json()).expect("a manifest that was written");
    assert_eq!(again, manifest);
    assert_eq!(same.parameters(), game.parameters());
    assert_eq!(same.layout.canonical_blocks(), game.layout.canonical_blocks());
}

/// `SUMS` beside two files: clean only if it names both with their hashes.
pub fn sums(bytes: &[u8]) {
    const FILES: [(&str, &[u8]); 2] = [("000000.blk", b"block"), ("manifest.json", b"{}")];
    let folder = tempfile::Builder::new().prefix("sums").tempdir().expect("a scratch folder");
    for (name, contents) in FILES {
        std::fs::write(folder.path().join(name), contents).expect("a scratch file");
    }
    // Insert the hashes for the fuzzer: a percent sign and a digit stand for the hash of a file.
    let text = String::from_utf8_lossy(bytes).into_owned();
    let hash = |contents: &[u8]| blake3::hash(contents).to_string();
    let text = text.replace("%0", &hash(FILES[0].1)).replace("%1", &hash(FILES[1].1));
    let contents = if text.contains('\u{fffd}') { bytes } else { text.as_bytes() };
    std::fs::write(folder.path().join(SUMS), contents).expect("a scratch file");
    let report: Result<_, DatabaseError> = verify_files(folder.path(), &Request::on(1));
    let report = report.expect("nothing fails in a scratch folder").expect("nobody stops it");
    if report.is_clean() {
        let lines: BTreeSet<String> = text.lines().map(str::to_owned).collect();
        let right = FILES.map(|(name, contents)| format!("{}  {name}", hash(contents)));
        assert_eq!(lines, right.into_iter().collect(), "accepted");
    }
}
