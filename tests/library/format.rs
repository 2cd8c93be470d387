//! Reads golden files by the tables of `FORMAT.md` and `pipeline/FORMAT.md`, without the program's
//! readers: every stored bit of a database and every log entry of a run folder must be at its
//! specified offset and true.

use pipeline::Placement;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use trinim::game::Board;
use trinim::game::Rule;
use trinim::game::Value;
use trinim::game::reference;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/folders").join(name)
}

fn number(bytes: &[u8], at: usize, length: usize) -> usize {
    bytes[at..at + length].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    number(bytes, at, 8) as u64
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|word| u64_at(word, 0)).collect()
}

/// The content of `FORMAT`: run id and parameters.
struct Identity {
    run_id: [u8; 16],
    parameters: BTreeMap<String, String>,
}

fn identity(name: &str) -> Identity {
    let bytes = fs::read(golden(name).join("FORMAT")).unwrap();
    assert_eq!((&bytes[..8], number(&bytes, 8, 4), number(&bytes, 12, 4)), (&b"PLFORMAT"[..], 1, 0));
    let end = bytes.len() - 16;
    assert_eq!(bytes[end..], xxh3_128(&bytes[..end]).to_le_bytes());
    let mut at = 36;
    let mut parameters = BTreeMap::new();
    for _ in 0..number(&bytes, 32, 4) {
        let (name, value) = (number(&bytes, at, 2), number(&bytes, at + 2, 4));
        let text = |from: usize, length: usize| String::from_utf8(bytes[from..from + length].to_vec()).unwrap();
        parameters.insert(text(at + 6, name), text(at + 6 + name, value));
        at += 6 + name + value;
    }
    assert_eq!(at, end);
    Identity { run_id: bytes[16..32].try_into().unwrap(), parameters }
}

/// A board cut into blocks, from the parameters alone.
struct Cut {
    bid_cells: Vec<u32>,
    offset_cells: Vec<u32>,
    /// Value of every position, by the definition.
    values: Vec<Value>,
}

impl Cut {
    fn of(parameters: &BTreeMap<String, String>) -> Cut {
        let cells = |name: &str| parameters[name].split(',').map(|cell| cell.parse().unwrap()).collect();
        let board = Board::triangle(parameters["layers"].parse().unwrap(), None).unwrap();
        let rule: Rule = parameters["rule"].parse().unwrap();
        let values = reference::values(board.cells(), board.moves(), rule);
        Cut { bid_cells: cells("bid-cells"), offset_cells: cells("offset-cells"), values }
    }

    fn is_loss(&self, block: u64, offset: u64) -> bool {
        self.values[self.position(block, offset) as usize].is_loss()
    }

    fn position(&self, block: u64, offset: u64) -> u64 {
        let position = |bits: u64, cells: &[u32]| {
            (0..).zip(cells).filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, cell)| 1 << cell).sum::<u64>()
        };
        position(block, &self.bid_cells) | position(offset, &self.offset_cells)
    }
}

/// A list of symbols in a payload of `rows-huffman`, by its table; returns what follows.
fn list(bytes: &[u8], symbols: usize) -> (Vec<usize>, &[u8]) {
    let of_bytes = bytes[0] == 1;
    let wanted = if of_bytes { 2 * symbols } else { symbols };
    let different = number(bytes, 1, 2);
    let values: Vec<usize> = (0..different).map(|at| number(bytes, 3 + 2 * at, 2)).collect();
    let mut at = 3 + 2 * different;
    let length = |index: usize| usize::from(bytes[at + index / 2] >> (4 * (index % 2)) & 15);
    let mut order: Vec<(usize, usize)> = (0..different).map(|index| (length(index), values[index])).collect();
    order.sort_unstable();
    let mut codes = BTreeMap::new();
    let (mut code, mut before) = (0, 0);
    for (length, value) in order {
        code <<= length - before;
        codes.insert((length, code), value);
        (code, before) = (code + 1, length);
    }
    at += different.div_ceil(2);
    let mut found = Vec::new();
    for stream in 1..=4 {
        let length = number(bytes, at, 4);
        let codes_of = &bytes[at + 4..at + 4 + length];
        let (mut bit, until) = (0, (wanted.div_ceil(4) * stream).min(wanted));
        while found.len() < until {
            let (mut length, mut code) = (0, 0);
            found.push(loop {
                code = code << 1 | usize::from(codes_of[bit / 8] >> (bit % 8) & 1);
                (length, bit) = (length + 1, bit + 1);
                if let Some(value) = codes.get(&(length, code)) {
                    break *value;
                }
            });
        }
        at += 4 + length;
    }
    if of_bytes {
        found = found.chunks(2).map(|pair| pair[0] | pair[1] << 8).collect();
    }
    (found, &bytes[at..])
}

/// The words of a frame in codec 8, by the tables of `pipeline/FORMAT.md`.
fn rows(payload: &[u8], rows: usize) -> Vec<u64> {
    let distinct = number(payload, 0, 4);
    let (links, rest) = list(&payload[4..], rows);
    let (pieces, rest) = list(rest, 32 * distinct);
    assert!(rest.is_empty());
    let mut numbers: Vec<usize> = Vec::new();
    let mut fresh = 0..;
    for (row, link) in links.iter().enumerate() {
        numbers.push(if *link == 0 { fresh.next().unwrap() } else { numbers[row - link] });
    }
    let word = |pieces: &[usize]| (0..).zip(pieces).map(|(place, piece)| (*piece as u64) << (16 * place)).sum();
    numbers.iter().flat_map(|number| pieces[32 * number..][..32].chunks(4).map(word).collect::<Vec<u64>>()).collect()
}

/// Compares every bit of a golden database with the truth; its blocks are so small that most are
/// stored raw.
#[test]
fn every_bit_of_a_database_is_where_the_tables_say() {
    let mut codecs = Vec::new();
    let parameters = identity("finished").parameters;
    assert_eq!(parameters["database"], "1");
    let cut = Cut::of(&parameters);
    let text = fs::read_to_string(golden("finished").join("db/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&manifest["schema"], &manifest["keep"]), (&"trinim.database/1".into(), &"database".into()));
    let line = |name: &str| format!("{name}={}\n", parameters[name]);
    let lines: String = ["layers", "rule", "max-take", "bid-cells", "offset-cells"].map(line).concat();
    let mut digest = blake3::Hasher::new();
    digest.update(b"trinim solution 1\n").update(lines.as_bytes());
    let blocks = manifest["blocks"].as_array().unwrap();
    assert_eq!(blocks.len(), 8);
    for (ordinal, row) in blocks.iter().enumerate() {
        let file = fs::read(golden("finished").join(format!("db/{ordinal:06}.blk"))).unwrap();
        assert_eq!((&file[..8], number(&file, 8, 4), number(&file, 12, 4)), (&b"TRINIMBK"[..], 1, ordinal));
        let (stream_words, frames) = (number(&file, 16, 8), number(&file, 28, 4));
        assert_eq!((stream_words, number(&file, 24, 4), frames), (8, 131_072, 1));
        assert_eq!(u64_at(&file, 32), xxh3_64(lines.as_bytes()));
        assert_eq!(u64_at(&file, 40), xxh3_64(&file[64..64 + 24 * frames]));
        assert_eq!((u64_at(&file, 48), u64_at(&file, 56)), (0, xxh3_64(&file[..56])));
        let (start, length) = (number(&file, 64, 8), number(&file, 72, 7));
        assert_eq!((start, start + length), (64 + 24 * frames, file.len()));
        assert_eq!(u64_at(&file, 80), xxh3_64(&file[start..]));
        let words = match file[79] {
            0 => vec![0; 8],
            1 => words(&file[start..]),
            8 => rows(&file[start..], 1),
            other => panic!("codec {other}"),
        };
        codecs.push(file[79]);
        let bid = row["bid"].as_u64().unwrap();
        let mut stream = vec![0_u64; stream_words];
        for offset in 0..512 {
            let loss = offset < 64 && cut.is_loss(bid, offset as u64);
            assert_eq!(words[offset / 64] >> (offset % 64) & 1 == 1, loss, "block {ordinal}, offset {offset}");
            stream[offset / 64] |= u64::from(loss) << (offset % 64);
        }
        let losses: u32 = stream.iter().map(|word| word.count_ones()).sum();
        assert_eq!(row["losses"].as_u64(), Some(losses.into()));
        let bytes: Vec<u8> = stream.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(row["digest"].as_str(), Some(&*blake3::hash(&bytes).to_hex()));
        digest.update(blake3::hash(&bytes).as_bytes());
    }
    assert_eq!(manifest["digest"].as_str(), Some(&*digest.finalize().to_hex()));
    for line in fs::read_to_string(golden("finished").join("db/SUMS")).unwrap().lines() {
        let (hash, file) = line.split_once("  ").unwrap();
        let bytes = fs::read(golden("finished").join("db").join(file)).unwrap();
        assert_eq!(hash, &*blake3::hash(&bytes).to_hex(), "{file}");
    }
    assert!(codecs.contains(&1) && codecs.contains(&8), "{codecs:?}");
}

/// A folder that keeps the counts: the same digest, two keys more, and in the journal the values
/// after first moves behind the counts of a summary.
#[test]
fn the_counts_are_where_the_tables_say() {
    let parameters = identity("counts-finished").parameters;
    assert_eq!(parameters["keep"], "counts");
    let cut = Cut::of(&parameters);
    let read = |name: &str| fs::read_to_string(golden(name)).unwrap();
    let text = read("counts-finished/db/manifest.json");
    let [manifest, whole]: [serde_json::Value; 2] =
        [&text, &read("finished/db/manifest.json")].map(|text| serde_json::from_str(text).unwrap());
    assert_eq!(manifest["keep"], "counts");
    for key in ["schema", "layers", "rule", "max_take", "bid_cells", "offset_cells", "digest", "by_pieces", "blocks"] {
        assert_eq!(manifest[key], whole[key], "{key}");
    }
    let keys = ["digest", "keep", "winning_first_moves", "by_pieces"].map(|key| text.find(&format!("\n  \"{key}\":")));
    assert!(keys.iter().all(Option::is_some) && keys.is_sorted());
    assert!(whole.get("by_layers").is_none() && whole.get("winning_first_moves").is_none());
    let sums = read("counts-finished/db/SUMS");
    assert_eq!(sums, format!("{}  manifest.json\n", blake3::hash(text.as_bytes())));

    let board = Board::triangle(4, None).unwrap();
    let is_loss = |taken: &u64| cut.values[(board.full() ^ taken) as usize].is_loss();
    let cells = |mask: &u64| (0..10).filter(|cell| mask >> cell & 1 == 1).collect::<Vec<u32>>();
    let winning: Vec<Vec<u32>> = board.moves().iter().filter(|taken| is_loss(taken)).map(cells).collect();
    assert_eq!(manifest["winning_first_moves"], serde_json::json!(winning));

    // The summaries: digest, seven counts for six offset bits, three of smaller boards, then one
    // bit for each position after a first move that lies in the block or is an image of one that
    // does.
    let journal = fs::read(golden("counts-finished/m/journal.1.a")).unwrap();
    let (mut start, mut values) = (0, 0);
    while start < journal.len() {
        let end = start + 44 + number(&journal, start + 40, 4);
        let records = &journal[start + 44..end];
        let mut at = 4;
        for _ in 0..number(records, 0, 4) {
            let block = number(records, at, 4);
            assert_eq!(records[at + 4], 0, "a published file");
            let length = number(records, at + 5, 4);
            let summary = &records[at + 9..at + 9 + length];
            assert_eq!(
                blake3::Hash::from_slice(&summary[..32]).unwrap().to_hex().as_str(),
                manifest["blocks"][block]["digest"]
            );
            let counts = words(&summary[32..32 + 56]);
            assert_eq!(manifest["blocks"][block]["losses"], counts.iter().sum::<u64>());
            let bid = manifest["blocks"][block]["bid"].as_u64().unwrap();
            let after: Vec<u64> =
                (0..64).filter(|offset| is_after_a_first_move(&board, cut.position(bid, *offset))).collect();
            let expected =
                (0..).zip(&after).map(|(bit, offset)| u64::from(cut.is_loss(bid, *offset)) << bit).sum::<u64>();
            assert_eq!(words(&summary[112..]), if after.is_empty() { vec![] } else { vec![expected] }, "block {block}");
            values += after.len();
            at += 9 + length;
            at += 4 + 41 * number(records, at, 4);
        }
        assert_eq!(at, records.len());
        start = (end + 16).next_multiple_of(4096);
    }
    assert!(values > 5, "{values}");
}

/// A folder with a book: in the journal the losses of the smaller boards between the counts and the
/// values after first moves, in the manifest their sums, and the numbers of the book.
#[test]
fn the_book_and_the_layers_are_where_the_tables_say() {
    let parameters = identity("book-finished").parameters;
    assert_eq!((&*parameters["keep"], &*parameters["database"]), ("book:5", "1"));
    let cut = Cut::of(&parameters);
    let text = fs::read_to_string(golden("book-finished").join("db/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let keys = ["digest", "keep", "winning_first_moves", "by_pieces", "by_layers", "blocks"];
    let places = keys.map(|key| text.find(&format!("\n  \"{key}\":")));
    assert!(places.iter().all(Option::is_some) && places.is_sorted());
    // The cells of four layers below row 1, 2 and 3, and their images.
    let below = [0x3fe, 0x3f8, 0x3c0, 0];
    let within = |empty: u64| (0..1024).filter(move |position| position & empty == 0);
    let losses = |empty: u64| within(empty).filter(|position| cut.values[*position as usize].is_loss()).count();
    let rows: Vec<serde_json::Value> = (1..)
        .zip(below)
        .map(|(layers, empty)| {
            serde_json::json!({ "layers": layers, "positions": within(empty).count(), "losses": losses(empty) })
        })
        .collect();
    assert_eq!(manifest["by_layers"], serde_json::json!(rows));

    let corners = [[0_u32, 1, 2, 3, 4, 5], [6, 3, 7, 1, 4, 8], [9, 5, 8, 2, 4, 7]];
    let empties =
        |cells: usize| corners.map(|corner| 0x3ff & !corner[..cells].iter().fold(0, |mask, cell| mask | 1 << cell));
    // The book is bound in the second generation, whose manifest has all records.
    let run = fs::read(golden("book-finished").join("m/manifest.2.a")).unwrap();
    let start = 28 + number(&run, 16, 4);
    let records = &run[start..start + number(&run, 20, 8)];
    let (mut at, mut seen) = (4, 0);
    for _ in 0..number(records, 0, 4) {
        let block = number(records, at, 4);
        assert_eq!(records[at + 4], 0, "a published file");
        let length = number(records, at + 5, 4);
        let summary = &records[at + 9..at + 9 + length];
        let bid = manifest["blocks"][block]["bid"].as_u64().unwrap();
        let inside = |empty: u64| {
            (0..64).filter(|offset| cut.position(bid, *offset) & empty == 0 && cut.is_loss(bid, *offset)).count()
        };
        let expected = [1, 3, 6].map(|cells| empties(cells).map(inside).iter().sum::<usize>() as u64);
        assert_eq!(words(&summary[88..88 + 24]), expected, "block {block}");
        seen += 1;
        at += 9 + length;
        at += 4 + 41 * number(records, at, 4);
    }
    assert_eq!(at, records.len());
    assert_eq!(seen, 8);

    let book = fs::read(golden("book-finished").join("db/book")).unwrap();
    assert_eq!((&book[..8], number(&book, 8, 4), number(&book, 12, 4)), (&b"TRINIMBO"[..], 1, 0));
    assert_eq!((number(&book, 16, 4), number(&book, 20, 4), number(&book, 40, 8)), (5, 10, 1));
    let index = number(&book, 48, 8);
    assert_eq!((u64_at(&book, 56), u64_at(&book, 120)), (xxh3_64(&book[index..]), xxh3_64(&book[..120])));
    let (first, from, length) = (u64_at(&book, index), number(&book, index + 8, 8), number(&book, index + 16, 8));
    assert_eq!((from, index + 32, u64_at(&book, index + 24)), (128, book.len(), xxh3_64(&book[from..from + length])));
    let mut numbers = vec![first];
    let (mut difference, mut shift) = (0_u64, 0);
    for byte in zstd::bulk::decompress(&book[from..from + length], 4096).unwrap() {
        difference |= u64::from(byte & 127) << shift;
        shift += 7;
        if byte < 128 {
            numbers.push(numbers.last().unwrap() + difference + 1);
            (difference, shift) = (0, 0);
        }
    }
    let choose = |n: u64, k: u64| (0..k).fold(1, |product, i| product * n.saturating_sub(i) / (i + 1));
    let number_of = |empty: u64| {
        let cells = (0..10).filter(|cell| empty >> cell & 1 == 1);
        let place: u64 = (1..).zip(cells).map(|(i, cell)| choose(cell, i)).sum();
        place + (0..u64::from(empty.count_ones())).map(|fewer| choose(10, fewer)).sum::<u64>()
    };
    let board = Board::triangle(4, None).unwrap();
    let is_canonical = |empty: &u64| board.symmetries().iter().all(|symmetry| symmetry.apply(*empty) >= *empty);
    let is_listed = |empty: &u64| empty.count_ones() <= 5 && cut.values[(0x3ff ^ empty) as usize].is_loss();
    let mut expected: Vec<u64> = (0..1024).filter(is_canonical).filter(is_listed).map(number_of).collect();
    expected.sort_unstable();
    assert_eq!(numbers, expected);
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!((u64_at(&book, 32), &book[64..96]), (numbers.len() as u64, &blake3::hash(&bytes).as_bytes()[..]));
}

/// Returns whether one move from the full board leads to a position.
fn is_after_a_first_move(board: &Board, position: u64) -> bool {
    board.moves().contains(&(board.full() ^ position))
}

/// An extent, by its table.
struct Extent {
    bucket: usize,
    shared: bool,
    generation: usize,
    offset: usize,
    length: usize,
    hash: u64,
    source: usize,
}

/// Reads the extents of a list of records.
fn extents(records: &[u8]) -> Vec<Extent> {
    let mut at = 4;
    let mut extents = Vec::new();
    for _ in 0..number(records, 0, 4) {
        at += 5;
        if records[at - 1] == 1 {
            at += 2 + number(records, at, 2) + 24;
        }
        at += 4 + number(records, at, 4);
        let count = number(records, at, 4);
        at += 4;
        for extent in records[at..at + 41 * count].chunks(41) {
            extents.push(Extent {
                bucket: number(extent, 0, 4),
                shared: extent[4] == 1,
                generation: number(extent, 5, 8),
                offset: number(extent, 13, 8),
                length: number(extent, 21, 8),
                hash: u64_at(extent, 29),
                source: number(extent, 37, 4),
            });
        }
        at += 41 * count;
    }
    assert_eq!(at, records.len());
    extents
}

/// Returns the extents of the manifest and of the journal's only record, in generation 2.
fn all_extents(name: &str) -> Vec<Extent> {
    let manifest = fs::read(golden(name).join("m/manifest.2.a")).unwrap();
    assert_eq!((&manifest[..8], number(&manifest, 8, 8)), (&b"PLMANIFE"[..], 2));
    let (identity, records) = (number(&manifest, 16, 4), number(&manifest, 20, 8));
    let end = 28 + identity + records;
    assert_eq!(manifest[28..28 + identity], fs::read(golden(name).join("FORMAT")).unwrap());
    assert_eq!(manifest[end..], xxh3_128(&manifest[..end]).to_le_bytes());
    let mut found = extents(&manifest[28 + identity..end]);
    let journal = fs::read(golden(name).join("m/journal.2.a")).unwrap();
    assert_eq!((&journal[..8], number(&journal, 8, 8), number(&journal, 16, 8)), (&b"PLJOURNL"[..], 2, 0));
    assert_eq!(journal[24..40], manifest[end..]);
    let end = 44 + number(&journal, 40, 4);
    assert_eq!(journal[end..end + 16], xxh3_128(&journal[..end]).to_le_bytes());
    found.extend(extents(&journal[44..end]));
    found
}

/// Reads every log entry of a folder; returns how many it compared with the truth.
fn check_logs(name: &str, placement: Placement, codec: u8) -> usize {
    let identity = identity(name);
    let cut = Cut::of(&identity.parameters);
    let text = fs::read_to_string(golden("finished/db/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (mut compared, mut gone) = (0, 0);
    for extent in all_extents(name) {
        let prefix = if extent.shared { "s" } else { "" };
        let log = format!("logs/{prefix}{:08x}.g{}", extent.bucket, extent.generation);
        // A log may be named although its last reader, a block of the last commit, is finished and
        // the file is gone.
        let Ok(file) = fs::read(golden(name).join(&log)) else {
            gone += 1;
            continue;
        };
        let entry = &file[extent.offset..extent.offset + extent.length];
        assert_eq!((extent.offset % 4096, &entry[..4], number(entry, 4, 2)), (0, &b"TLEN"[..], 1), "{log}");
        assert_eq!((entry[6], entry[7], number(entry, 8, 4)), (u8::from(extent.shared), 0, extent.source));
        assert_eq!((number(entry, 12, 4), number(entry, 16, 8)), (1, 8), "frames and words");
        assert_eq!(extent.shared, placement == Placement::Shared);
        let (routes, routes_bytes) = (number(entry, 24, 4), number(entry, 28, 4));
        assert_eq!(u64_at(entry, 32), xxh3_64(&entry[48..48 + routes_bytes]));
        let mut place = identity.run_id.to_vec();
        place.extend_from_slice(&(extent.bucket as u32).to_le_bytes());
        place.extend_from_slice(&[u8::from(extent.shared), 0, 0, 0]);
        place.extend_from_slice(&(extent.generation as u64).to_le_bytes());
        place.extend_from_slice(&(extent.offset as u64).to_le_bytes());
        let entry_hash = u64_at(entry, 40);
        assert_eq!(entry_hash, xxh3_64_with_seed(&entry[..40], xxh3_64(&place)), "{log}");
        let mut at = 48;
        for _ in 0..routes {
            at += 24 + 8 * number(entry, at + 16, 8);
        }
        assert_eq!(at, 48 + routes_bytes);
        let (orientation, restriction) = (entry[48 + 4], u64_at(entry, 48 + 8));

        let frame = &entry[at..];
        assert_eq!((&frame[..4], &frame[5..8]), (&b"TLFR"[..], &[0; 3][..]));
        assert_eq!((number(frame, 8, 4), number(frame, 12, 4)), (0, 8));
        let (payload, header_hash) = (&frame[40..], u64_at(frame, 32));
        assert_eq!(payload.len(), number(frame, 16, 8));
        assert_eq!(u64_at(frame, 24), xxh3_64(payload));
        assert_eq!(header_hash, xxh3_64_with_seed(&frame[..32], entry_hash));
        assert_eq!(extent.hash, xxh3_64(&[entry_hash.to_le_bytes(), header_hash.to_le_bytes()].concat()));
        let stream = match frame[4] {
            0 => vec![0; 8],
            1 => words(payload),
            2 => words(&zstd::bulk::decompress(payload, 64).unwrap()),
            8 => rows(payload, 1),
            other => panic!("codec {other}"),
        };
        assert!([0, 1, codec].contains(&frame[4]));
        // Turned streams would need the symmetries; both rules share one layout.
        if extent.shared || orientation == 0 {
            let bid = manifest["blocks"][extent.source]["bid"].as_u64().unwrap();
            let restriction = if extent.shared { 0 } else { restriction };
            for offset in 0..512_u64 {
                let loss = offset < 64 && offset & restriction == 0 && cut.is_loss(bid, offset);
                let found = stream[offset as usize / 64] >> (offset % 64) & 1 == 1;
                assert_eq!(found, loss, "{log} at {}: offset {offset}", extent.offset);
            }
            compared += 1;
        }
    }
    println!("{name}: {compared} entries compared, {gone} gone");
    compared
}

#[test]
fn every_log_entry_is_where_the_tables_say() {
    assert!(check_logs("middle-dedicated", Placement::Dedicated, 8) >= 5);
    assert!(check_logs("counts-middle", Placement::Shared, 2) >= 3);
    assert!(check_logs("book-middle", Placement::Shared, 8) >= 3);
}
