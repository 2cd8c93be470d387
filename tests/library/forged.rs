//! Files that a forger sealed with right hashes: of all checks one alone can refuse each of them.

use crate::common::{Way, check, copy, repair, scratch, tree};
use pipeline::codec::FRAME_WORDS;
use pipeline::{BlockId, Metrics, RealStorage, Storage};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use trinim::database::block::BlockIndex;
use trinim::database::book::order::canonical;
use trinim::database::book::{BookEncoder, BookHead, BookIndex, BookOrder, FRAME_LOSSES};
use trinim::database::{BlockForm, Database, DatabaseError, Game, Keep, Manifest, NimberCount, Terms, Values};
use trinim::game::{Board, Definition, Rule, Takes};
use trinim::kernel::Kernel;
use trinim::maintenance::{self, Request};
use trinim::solve::solve;
use trinim::verify::{Depth, verify};
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::compress;

fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

fn u64_at(file: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(file[at..at + 8].try_into().unwrap())
}

/// A forgery: what it is refused for, and how it is made.
type Forgery<'a> = (&'a str, &'a dyn Fn(&mut Vec<u8>));

fn is_refused<T>(wanted: &str, found: Result<T, DatabaseError>) {
    match found {
        Ok(_) => panic!("nothing refuses: {wanted}"),
        Err(error) => assert!(error.to_string().contains(wanted), "{error}, not: {wanted}"),
    }
}

/// Header of 64 bytes, and for each of three frames an index row of offset, length with codec, and
/// hash.
#[test]
fn each_check_of_a_block_file() {
    let words = 2 * FRAME_WORDS + 3;
    let form = BlockForm { identity: 7, stream_words: words };
    let (path, block) = (Path::new("x.blk"), BlockId(5));
    // Words that no codec shortens, so that the last frame is stored as it is.
    let stream: Vec<u64> = (0..words as u64).map(|word| xxh3_64(&word.to_le_bytes())).collect();
    let sound = form.file(block, &stream);
    let row = |frame: usize| 64 + 24 * frame;
    let seal = |file: &mut [u8]| {
        let index = xxh3_64(&file[64..row(3)]).to_le_bytes();
        put(file, 40, &index);
        let header = xxh3_64(&file[..56]).to_le_bytes();
        put(file, 56, &header);
    };
    let read = |file: &[u8]| form.read(path, block, file, &mut vec![0; words]);
    read(&sound).unwrap();
    let at = row(2);
    let tail = u64_at(&sound, at) as usize;
    assert_eq!((u64_at(&sound, at + 8), sound.len()), (24 | 1 << 56, tail + 24));
    // The last frame with other bytes, and a hash that fits them.
    let last = |file: &mut Vec<u8>, stored: &[u8]| {
        file.truncate(tail);
        file.extend_from_slice(stored);
        put(file, at + 8, &(stored.len() as u64 | 1 << 56).to_le_bytes());
        put(file, at + 16, &xxh3_64(stored).to_le_bytes());
    };
    let cases: [Forgery<'_>; 13] = [
        ("the magic number is wrong", &|file| file[0] ^= 1),
        ("has database version 2, but this program reads version 1", &|file| file[8] = 2),
        ("block 6 has the name of block 5", &|file| file[12] = 6),
        ("the lengths in the header do not match", &|file| put(file, 16, &(words as u64 - 1).to_le_bytes())),
        ("the lengths in the header do not match", &|file| put(file, 24, &(FRAME_WORDS as u32 + 1).to_le_bytes())),
        ("the lengths in the header do not match", &|file| file[28] = 4),
        ("the block belongs to another board", &|file| file[32] ^= 1),
        ("the frames are not contiguous", &|file| file[at] ^= 1),
        ("a frame has another codec", &|file| file[at + 15] = 2),
        ("or is longer than its words", &|file| last(file, &[0; 32])),
        ("expected", &|file| file.push(0)),
        ("the hash of frame 2 is wrong", &|file| file[tail] ^= 1),
        ("frame 2: ", &|file| last(file, &[0; 16])),
    ];
    for (wanted, forge) in cases {
        let mut file = sound.clone();
        forge(&mut file);
        seal(&mut file);
        is_refused(wanted, read(&file));
    }
    let mut hashes = sound.clone();
    hashes[57] ^= 1;
    is_refused("the hash of the header is wrong", read(&hashes));
    put(&mut hashes, 40, &[0; 8]);
    let header = xxh3_64(&hashes[..56]).to_le_bytes();
    put(&mut hashes, 56, &header);
    is_refused("the hash of the index is wrong", read(&hashes));
    let index = BlockIndex::open(&pipeline::storage::MemoryFile::new(path, &sound), &form, block).unwrap();
    is_refused("the file ends early", index.stored(path, 2, &sound[..sound.len() - 1]));
}

/// Header of 128 bytes, frames, and an index row of first number, offset, length and hash for each.
#[test]
fn each_check_of_a_book() {
    let game = Game::triangle(6, Rule::Normal, 12).unwrap();
    let (head, order, path) = (BookHead::new(&game, 0, None), BookOrder::new(&game.board), Path::new("book"));
    let numbers: Vec<u64> = (0..FRAME_LOSSES as u64 + 3).map(|number| 2 * number).collect();
    let sound = BookEncoder::whole(head, &numbers);
    let index_at = u64_at(&sound, 48) as usize;
    let seal = |file: &mut [u8]| {
        let at = u64_at(file, 48) as usize;
        if let Some(index) = file.get(at..at + 64) {
            let index = xxh3_64(index).to_le_bytes();
            put(file, 56, &index);
        }
        let header = xxh3_64(&file[..120]).to_le_bytes();
        put(file, 120, &header);
    };
    let read = |file: &[u8]| {
        let index = BookIndex::read(path, file, &head, &order)?;
        (0..index.frames.len()).map(|frame| index.decode_in(path, frame, file)).collect::<Result<Vec<_>, _>>()
    };
    assert_eq!(read(&sound).unwrap().concat(), numbers);
    let positions = order.positions(21);
    let (first, second) = (index_at, index_at + 32);
    // The last frame with other gaps.
    let last = |file: &mut Vec<u8>, stored: &[u8]| {
        let mut rows = file[index_at..].to_vec();
        let begin = u64_at(&rows, 32 + 8) as usize;
        put(&mut rows, 32 + 16, &(stored.len() as u64).to_le_bytes());
        put(&mut rows, 32 + 24, &xxh3_64(stored).to_le_bytes());
        file.truncate(begin);
        file.extend_from_slice(stored);
        let at = file.len() as u64;
        put(file, 48, &at.to_le_bytes());
        file.extend_from_slice(&rows);
    };
    let gaps = |file: &mut Vec<u8>, gaps: &[u8]| last(file, &compress(gaps, 3).unwrap());
    let before = 2 * (FRAME_LOSSES as u64 - 1);
    let cases: [Forgery<'_>; 20] = [
        ("not a book", &|file| file[0] ^= 1),
        ("has database version 2, but this program reads version 1", &|file| file[8] = 2),
        ("part", &|file| file[12] = 1),
        ("least pieces", &|file| file[16] = 1),
        ("cells", &|file| file[20] = 15),
        ("a book of another board or rule", &|file| file[24] ^= 1),
        ("losses", &|file| put(file, 32, &(positions + 1).to_le_bytes())),
        ("frames", &|file| file[40] = 3),
        ("bytes", &|file| file.push(0)),
        ("a frame is not where the last one ends", &|file| file[first + 8] ^= 1),
        ("the frames do not fill the file in ascending order", &|file| {
            file.insert(index_at, 0);
            put(file, 48, &(index_at as u64 + 1).to_le_bytes());
        }),
        ("the frames do not fill the file in ascending order", &|file| put(file, second, &[0; 8])),
        ("the frames do not fill the file in ascending order", &|file| put(file, second, &positions.to_le_bytes())),
        ("or is too long", &|file| {
            // Bytes that zstd skips.
            let skipped = [&0x184d_2a50_u32.to_le_bytes()[..], &(1_u32 << 20).to_le_bytes(), &[0; 1 << 20]].concat();
            last(file, &[compress(&[1, 1], 3).unwrap(), skipped].concat());
        }),
        // The first frame ends with the number that the second one begins with.
        ("a number beyond the end of its frame", &|file| put(file, second, &before.to_le_bytes())),
        ("the hash of a frame is wrong", &|file| file[second + 24] ^= 1),
        ("a frame is not zstd", &|file| last(file, b"no frame")),
        ("a gap of more than 63 bits", &|file| gaps(file, &[0x80; 10])),
        ("a number beyond the end of its frame", &|file| gaps(file, &[1, 0xff, 0xff, 0xff, 0x7f])),
        ("another number of losses", &|file| gaps(file, &[1])),
    ];
    for (wanted, forge) in cases {
        let mut file = sound.clone();
        forge(&mut file);
        seal(&mut file);
        is_refused(wanted, read(&file));
    }
    // A gap that goes on after the last number.
    let mut file = sound.clone();
    gaps(&mut file, &[1, 1, 0x80]);
    seal(&mut file);
    is_refused("another number of losses", read(&file));
    let mut hashes = sound;
    hashes[56] ^= 1;
    is_refused("the hash of the header is wrong", read(&hashes));
    let header = xxh3_64(&hashes[..120]).to_le_bytes();
    put(&mut hashes, 120, &header);
    is_refused("the hash of the index is wrong", read(&hashes));
}

/// The widest gaps, on a board with so many positions, and numbers up to the end of their frame.
#[test]
fn gaps_of_a_book_up_to_its_last_position() {
    let board = Board::named("rect:7x9", Takes::ANY).unwrap();
    let (order, path) = (BookOrder::new(&board), Path::new("book"));
    let head = BookHead { part: None, pieces: 1, cells: board.cells(), identity: 7 };
    let end = order.positions(head.empties_at_most());
    assert_eq!(end, (1 << 63) - 1);
    let read = |numbers: &[u64]| {
        let file = BookEncoder::whole(head, numbers);
        let index = BookIndex::read(path, &file, &head, &order)?;
        index.decode_in(path, 0, &file)
    };
    // A gap of 56 bits is the last in eight bytes, one of 57 the first in nine.
    for last in [1, 1 << 56, (1 << 56) + 1, end - 1] {
        assert_eq!(read(&[0, last]).unwrap(), [0, last]);
    }
    is_refused("a number beyond the end of its frame", read(&[0, end]));
    is_refused("a gap of more than 63 bits", read(&[0, u64::MAX]));
}

fn solved(game: &Game, terms: Terms) -> tempfile::TempDir {
    let folder = scratch();
    let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
    let (spec, way) = (terms.spec(game), Way { spare_bytes: 1 << 20, ..Way::usual() });
    solve(spec, Kernel::detect(), &storage, &way.options(&game.layout), &Metrics::default(), &|_| {}).unwrap();
    let alone = scratch();
    copy(&folder.path().join("db"), alone.path());
    alone
}

/// Writes a file of a database and its line of `SUMS`.
fn forge(db: &Path, name: &str, bytes: &[u8]) {
    fs::write(db.join(name), bytes).unwrap();
    let lines = fs::read_to_string(db.join("SUMS")).unwrap();
    let line = |line: &str| match line.ends_with(&format!("  {name}")) {
        true => format!("{}  {name}\n", blake3::hash(bytes)),
        false => format!("{line}\n"),
    };
    fs::write(db.join("SUMS"), lines.lines().map(line).collect::<String>()).unwrap();
}

/// What a complete check says of a database.
fn findings(db: &Path) -> String {
    format!("{:?}", check(db).findings)
}

/// The numbers of a book against its digest and the census: losses left out, added, or listed twice
/// by another image.
#[test]
fn the_account_of_a_book() {
    let game = Game::triangle(4, Rule::Misere, 10).unwrap();
    let db = solved(&game, Keep::Book { pieces: 3 }.into());
    assert!(check(db.path()).is_sound());
    let (head, order) = (BookHead::new(&game, 3, None), BookOrder::new(&game.board));
    let sound = fs::read(db.path().join("book")).unwrap();
    let index = BookIndex::read(Path::new("book"), &sound, &head, &order).unwrap();
    let frames = 0..index.frames.len();
    let numbers: Vec<u64> =
        frames.flat_map(|frame| index.decode_in(Path::new("book"), frame, &sound).unwrap()).collect();
    let with = |change: &dyn Fn(&mut Vec<u64>)| {
        let mut numbers = numbers.clone();
        change(&mut numbers);
        numbers.sort_unstable();
        BookEncoder::whole(head, &numbers)
    };
    let all = 0..order.positions(head.empties_at_most());
    let is_canonical = |number: &u64| canonical(&game.board, order.position(*number)) == order.position(*number);
    let win = all.clone().find(|number| is_canonical(number) && !numbers.contains(number)).unwrap();
    let image = all.clone().find(|number| !is_canonical(number)).unwrap();
    let mut other = sound.clone();
    other[64] ^= 1;
    let header = xxh3_64(&other[..120]).to_le_bytes();
    put(&mut other, 120, &header);
    for (wanted, bytes) in [
        ("BLAKE3 of the numbers", other),
        ("the census has", with(&|numbers| numbers.truncate(numbers.len() - 1))),
        ("the census has", with(&|numbers| numbers.push(win))),
        ("a position that is not canonical", with(&|numbers| numbers.push(image))),
    ] {
        forge(db.path(), "book", &bytes);
        let found = findings(db.path());
        assert!(found.contains(wanted), "{wanted}: {found}");
    }
    forge(db.path(), "book", &sound);
    assert!(check(db.path()).is_sound());
}

/// Each check of a manifest that contradicts itself or its blocks, where `SUMS` agrees.
#[test]
fn each_check_of_a_manifest() {
    let game = Game::triangle(4, Rule::Normal, 7).unwrap();
    let nimbers = Terms { values: Values::Nimbers, ..Terms::default() };
    let [whole, counts, nimbers] = [Terms::default(), Keep::Counts.into(), nimbers].map(|terms| solved(&game, terms));
    type Change = fn(&mut Manifest);
    let cases: [(&Path, &str, Change); 17] = [
        (whole.path(), "not the layout that this program builds", |m| m.blocks.swap(0, 1)),
        (whole.path(), "not the layout that this program builds", |m| m.offset_cells.swap(0, 1)),
        (whole.path(), "expected either layers or a board", |m| m.layers = None),
        (whole.path(), "do not belong to what is kept", |m| m.winning_first_moves = Some(vec![1])),
        (counts.path(), "do not belong to what is kept", |m| m.by_layers = None),
        (whole.path(), "the census has", |m| m.census.by_pieces.truncate(10)),
        (whole.path(), "the census row of 3 pieces is impossible", |m| m.census.by_pieces[3].positions += 1),
        (whole.path(), "do not add up to those of the census", |m| m.blocks[0].losses += 1),
        (counts.path(), "the losses by layers are impossible", |m| m.by_layers.as_mut().unwrap()[1].losses = 0),
        (counts.path(), "not distinct moves in ascending order", |m| m.winning_first_moves.as_mut().unwrap().push(1)),
        (counts.path(), "winning moves", |m| m.winning_first_moves = Some(Vec::new())),
        (nimbers.path(), "are not rows for 0, 1, 2", |m| m.by_nimber.as_mut().unwrap()[1].nimber = 2),
        (nimbers.path(), "are not rows for 0, 1, 2 ... of normal play", |m| m.rule = "misere".into()),
        (nimbers.path(), "by_nimber or by_distance do not belong", |m| {
            m.keep = Keep::Counts;
            (m.winning_first_moves, m.by_layers) = (Some(Vec::new()), Some(Vec::new()));
        }),
        (nimbers.path(), "the positions by nimber are impossible", |m| {
            m.by_nimber.as_mut().unwrap().push(NimberCount { nimber: u32::MAX, positions: 0 });
            let rows = m.by_nimber.as_mut().unwrap();
            (0..).zip(rows).for_each(|(nimber, row)| row.nimber = nimber);
        }),
        (nimbers.path(), "the positions by nimber are impossible", |m| m.by_nimber.as_mut().unwrap()[1].positions += 1),
        (nimbers.path(), "the positions of nimber 0 are not the losses", |m| {
            let rows = m.by_nimber.as_mut().unwrap();
            (rows[0].positions, rows[1].positions) = (rows[0].positions + 1, rows[1].positions - 1);
        }),
    ];
    for (db, wanted, change) in cases {
        let sound = fs::read(db.join("manifest.json")).unwrap();
        let (mut manifest, _) = Manifest::parse(Path::new("manifest.json"), &sound).unwrap();
        change(&mut manifest);
        forge(db, "manifest.json", &manifest.to_json());
        let found = findings(db);
        assert!(found.contains(wanted), "{wanted}: {found}");
        // From blocks it is made again; of what nothing is left for, nothing is written.
        let before = tree(db);
        match repair(db) {
            Ok(()) => assert!(check(db).is_sound(), "{wanted}"),
            Err(error) => assert!(tree(db) == before, "{wanted}: {error}"),
        }
        forge(db, "manifest.json", &sound);
        assert!(check(db).is_sound(), "{wanted}");
    }
}

/// A position whose nimber the manifest does not count, in the planes of a block.
#[test]
fn a_position_without_a_nimber() {
    let game = Game::triangle(4, Rule::Normal, 7).unwrap();
    let terms = Terms { values: Values::Nimbers, ..Terms::default() };
    let db = solved(&game, terms);
    let spec = terms.spec(&game);
    let form = BlockForm::new(spec);
    let last = game.layout.ordinals().next_back().unwrap();
    let name = trinim::database::block_file_name(last);
    let file = fs::read(db.path().join(&name)).unwrap();
    let mut stream = vec![0; form.stream_words];
    form.read(Path::new(&name), last, &file, &mut stream).unwrap();
    stream.iter_mut().for_each(|word| *word &= !1);
    forge(db.path(), &name, &form.file(last, &stream));
    let database = Database::open(db.path()).unwrap();
    let position = game.layout.join(game.layout.bid(last), 0);
    is_refused("has no nimber that the manifest counts", database.probe(position));
}

/// Positions counted with another nimber, of which the losses know nothing: `verify` counts them.
#[test]
fn the_positions_by_nimber_of_a_manifest() {
    let game = Game::triangle(4, Rule::Normal, 7).unwrap();
    let db = solved(&game, Terms { values: Values::Nimbers, ..Terms::default() });
    let verified = || {
        let database = Database::open(db.path()).unwrap();
        let report = verify(&database, Depth::Full, &Request::on(1)).unwrap().unwrap();
        report.findings.iter().map(|finding| format!("{finding}\n")).collect::<String>()
    };
    assert_eq!(verified(), "");
    let sound = fs::read(db.path().join("manifest.json")).unwrap();
    let (mut manifest, _) = Manifest::parse(Path::new("manifest.json"), &sound).unwrap();
    let rows = manifest.by_nimber.as_mut().unwrap();
    let right = [rows[1].positions, rows[2].positions];
    (rows[1].positions, rows[2].positions) = (right[0] + 1, right[1] - 1);
    forge(db.path(), "manifest.json", &manifest.to_json());
    let said = |nimber: usize, said: u64| {
        let of_blocks = format!("{} positions have nimber {nimber}", right[nimber - 1]);
        format!("manifest.json: {said} positions have nimber {nimber}, of the blocks, {of_blocks}\n")
    };
    assert_eq!(verified(), said(1, right[0] + 1) + &said(2, right[1] - 1));
}

/// A block that no list vouches for, and a manifest that SUMS does not name beside a damaged block.
#[test]
fn a_database_alone_is_not_mended_into_what_nobody_listed() {
    let game = Game::triangle(4, Rule::Misere, 6).unwrap();
    let db = solved(&game, Terms::default());
    let [manifest, sums] = ["manifest.json", "SUMS"].map(|name| fs::read(db.path().join(name)).unwrap());
    let block = db.path().join("000001.blk");
    let sound = fs::read(&block).unwrap();
    fs::write(&block, &sound[1..]).unwrap();
    let lines = String::from_utf8(sums.clone()).unwrap();
    let unnamed: String =
        lines.lines().filter(|line| !line.ends_with("manifest.json")).map(|line| format!("{line}\n")).collect();
    fs::write(db.path().join("SUMS"), unnamed).unwrap();
    assert!(findings(db.path()).contains("unconfirmed, because SUMS has no line for it"), "{}", findings(db.path()));
    fs::write(db.path().join("SUMS"), &sums).unwrap();
    repair(db.path()).unwrap();
    assert!(check(db.path()).is_sound());
    // SUMS and manifest agree on a block that follows from no position.
    let (mut wrong, _) = Manifest::parse(Path::new("manifest.json"), &manifest).unwrap();
    wrong.blocks[1].digest = "0".repeat(64);
    forge(db.path(), "manifest.json", &wrong.to_json());
    forge(db.path(), "000001.blk", b"something else");
    fs::write(&block, &sound[1..]).unwrap();
    let refused = repair(db.path()).unwrap_err().to_string();
    assert!(refused.contains("the recomputed block matches neither SUMS nor the manifest"), "{refused}");
    assert_eq!(fs::read(&block).unwrap(), &sound[1..]);
}

/// A board as data that is none, by its place.
#[test]
fn each_check_of_a_board() {
    let board = Board::named("rect:2x2", Takes::ANY).unwrap();
    let sound = board.definition().unwrap();
    let changed = |change: fn(&mut Definition)| {
        let mut definition = sound.clone();
        change(&mut definition);
        definition.board().map(drop)
    };
    assert_eq!(changed(|_| ()), Ok(()));
    type Change = fn(&mut Definition);
    let cases: [(&str, Change); 9] = [
        ("the name \"a b\": expected", |board| board.name = "a b".into()),
        ("0 cells: expected 1 to 64", |board| board.cells.clear()),
        ("expected coordinates from", |board| board.cells[3][0] = 1e9),
        ("cells 0 and 3 are both at", |board| board.cells[3] = board.cells[0]),
        ("no move is possible", |board| board.moves.clear()),
        ("4097 moves: expected at most 4096", |board| board.moves = vec![vec![0]; 4097]),
        ("takes cell 4: expected cells from 0 to 3", |board| board.moves[0] = vec![4]),
        ("move 0 takes cell 1 twice", |board| board.moves[0] = vec![1, 1]),
        ("move 0 takes no cell", |board| board.moves[0].clear()),
    ];
    for (wanted, change) in cases {
        let refused = changed(change).unwrap_err().to_string();
        assert!(refused.contains(wanted), "{refused}, not: {wanted}");
    }
}

/// What a database alone is taken for, where its lists contradict each other or its blocks.
#[test]
fn lists_that_nothing_confirms() {
    let game = |rule| Game::triangle(4, rule, 6).unwrap();
    let [db, other] = [Rule::Misere, Rule::Normal].map(|rule| solved(&game(rule), Terms::default()));
    let (db, spec) = (db.path(), game(Rule::Misere));
    let whole = tree(db);
    let restore = || whole.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    let manifest = fs::read_to_string(db.join("manifest.json")).unwrap();

    // Another version that SUMS does not name is damage; one that it names is a newer program's.
    let newer = manifest.replacen("trinim.database/1", "trinim.database/9", 1);
    fs::write(db.join("manifest.json"), &newer).unwrap();
    assert!(findings(db).contains("of: \"version\""), "{}", findings(db));
    forge(db, "manifest.json", newer.as_bytes());
    let refused = maintenance::check(db, maintenance::Depth::Full, &Request::on(1)).unwrap_err();
    assert!(refused.to_string().contains("version 9"), "{refused}");
    restore();

    // The manifest of another game: no block is taken for one of that.
    fs::copy(other.path().join("manifest.json"), db.join("manifest.json")).unwrap();
    let found = findings(db);
    assert!(found.contains("board, rule and layout differ from those of the blocks"), "{found}");
    let before = tree(db);
    let refused = repair(db).unwrap_err().to_string();
    assert!(refused.contains("nothing else records the board, rule and layout"), "{refused}");
    assert!(tree(db) == before);
    restore();

    // A block with other values and right hashes of its own, listed or not.
    let form = BlockForm::new(&spec);
    let mut stream = vec![0; form.stream_words];
    form.read(Path::new("x"), BlockId(1), &fs::read(db.join("000001.blk")).unwrap(), &mut stream).unwrap();
    stream[0] ^= 2;
    let forged = form.file(BlockId(1), &stream);
    fs::write(db.join("000001.blk"), &forged).unwrap();
    assert!(findings(db).contains("digest of the bitmap"), "{}", findings(db));
    repair(db).unwrap();
    assert!(tree(db) == whole);
    forge(db, "000001.blk", &forged);
    assert!(findings(db).contains("digest of the bitmap"), "{}", findings(db));
    restore();

    // A block that is gone, and of which no list has a checksum.
    let (mut without, _) = Manifest::parse(Path::new("manifest.json"), manifest.as_bytes()).unwrap();
    without.blocks[1].digest.clear();
    forge(db, "manifest.json", &without.to_json());
    let lines = fs::read_to_string(db.join("SUMS")).unwrap();
    let lines = lines.lines().filter(|line| !line.ends_with("000001.blk")).map(|line| format!("{line}\n"));
    fs::write(db.join("SUMS"), lines.collect::<String>()).unwrap();
    fs::remove_file(db.join("000001.blk")).unwrap();
    let before = tree(db);
    let refused = repair(db).unwrap_err().to_string();
    assert!(refused.contains("neither SUMS nor the manifest has its checksum"), "{refused}");
    assert!(tree(db) == before);
    restore();
    assert!(check(db).is_sound() && tree(db) == whole);
}
