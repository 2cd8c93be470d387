//! The files of blocks: bytes that never change, look-ups that read one frame.

use crate::common::{Way, scratch};
use pipeline::{BlockId, Metrics, RealStorage, Storage, Workload};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use trinim::database::{
    BlockForm, BlockSummary, Database, DatabaseError, Game, MANIFEST, Manifest, SUMS, block_file_name, stream_digest,
};
use trinim::game::{Rule, Value};
use trinim::kernel::{Isa, Kernel, bitmap_words};
use trinim::random::Random;
use trinim::solve::{RemovalGame, solve};

/// Layers, offset bits at most, BLAKE3 of `SUMS`, which has the BLAKE3 of every file:
/// misère. The codec is also one of logs, whose encoder may change at any time. These
/// bytes may not.
const GOLDEN: [(u32, u32, &str); 3] = [
    (4, 6, "8d0153db35aff65a54539cf911e9845c896fcb925567fedea675cf4bec0177b0"),
    (5, 15, "3e21751ad1e47c12e0a3da7a161d1d7873e3ba573a8e703033617f86d6396540"),
    (6, 18, "f93a083167984979d629bff96278903f168e1abaca3d8567a1e366e5ee33ae7f"),
];

#[test]
fn the_bytes_of_a_database_never_change() {
    let found = GOLDEN.map(|(layers, offset_bits, _)| {
        let (folder, way) = (scratch(), Way::usual());
        let game = Game::triangle(layers, Rule::Misere, offset_bits).unwrap();
        let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
        let options = way.options(&game.layout);
        solve(&game, way.kernel, &storage, &options, &Metrics::default(), &|_| {}).unwrap();
        blake3::hash(&fs::read(folder.path().join("db").join(SUMS)).unwrap()).to_hex().to_string()
    });
    assert_eq!(found, GOLDEN.map(|(.., golden)| golden));
}

/// A stream with long repeats, with rows of few and of many bits, and with a frame of zeros.
fn stream(words: usize, random: &mut Random) -> Vec<u64> {
    let mut next = || random.below(1 << 32) << 32 | random.below(1 << 32);
    let rows: Vec<u64> = (0..2048).map(|_| next() & next() & next()).collect();
    (0..words)
        .map(|at| match at >> 14 {
            0..8 => 0,
            piece if piece % 5 == 0 => next(),
            piece => rows[(at * piece) % rows.len()],
        })
        .collect()
}

/// Of a stream of one piece, and of many, which are summed up one after the other.
#[test]
fn a_summary_has_the_counts_and_the_digest_of_the_whole_stream() {
    let mut random = Random::new(6);
    for offset_bits in [6, 21, 22, 23, 25] {
        let game = Game::triangle(7, Rule::Misere, offset_bits).unwrap();
        let offset_bits = game.layout.offset_bits();
        let stream = stream(bitmap_words(offset_bits), &mut random);
        let summary = RemovalGame::new(&game, Kernel::detect()).summarise(BlockId(0), &stream);
        let summary = BlockSummary::from_bytes(&summary, offset_bits, 0, 0).unwrap();
        let scalar = Kernel::new(Isa::Scalar).unwrap();
        assert_eq!(summary.losses_by_pieces, scalar.census(offset_bits, &stream));
        assert_eq!(summary.digest, stream_digest(&stream));
    }
}

#[test]
fn a_file_of_several_frames_is_read_back_whole_and_by_frames() {
    let mut random = Random::new(5);
    for stream_words in [8, 64, 131_072, 131_072 + 8, 3 * 131_072, 1 << 21, (1 << 21) + 1024] {
        let form = BlockForm { identity: 77, stream_words };
        let stream = stream(stream_words, &mut random);
        let file = form.file(BlockId(5), &stream);
        assert_eq!(form.file(BlockId(5), &stream), file);
        let mut back = vec![1; stream_words];
        form.read("x".as_ref(), BlockId(5), &file, &mut back).unwrap();
        assert!(back == stream, "{stream_words}");
        // Never much longer than the words.
        assert!(file.len() <= stream_words * 8 + 88 + 24 * (stream_words >> 17));
    }
}

/// Writes a database of seven layers in blocks of 2 MiB with these streams; nothing else about them
/// is true.
fn write(folder: &Path, game: &Game, streams: &[Vec<u64>]) {
    let form = BlockForm::new(game);
    let summaries: Vec<BlockSummary> = streams
        .iter()
        .map(|stream| BlockSummary {
            losses_by_pieces: vec![0; game.layout.offset_bits() as usize + 1],
            digest: stream_digest(stream),
            by_layers: Vec::new(),
            by_plane: Vec::new(),
            after_first_moves: Vec::new(),
        })
        .collect();
    let manifest =
        Manifest::from_summaries(game.into(), summaries.iter().map(BlockSummary::to_bytes)).unwrap().to_json();
    let files: BTreeMap<String, Vec<u8>> = game
        .layout
        .ordinals()
        .zip(streams)
        .map(|(block, stream)| (block_file_name(block), form.file(block, stream)))
        .collect();
    for (name, bytes) in &files {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let line = |(name, bytes): (&String, &Vec<u8>)| format!("{}  {name}\n", blake3::hash(bytes).to_hex());
    let sums: String = files.iter().chain([(&MANIFEST.to_owned(), &manifest)]).map(line).collect();
    fs::write(folder.join(MANIFEST), &manifest).unwrap();
    fs::write(folder.join(SUMS), sums).unwrap();
}

/// A look-up reads the frame of its position and no other: with one frame damaged, all positions
/// outside it have their values, and those inside are refused.
#[test]
fn a_look_up_reads_one_frame() {
    let folder = scratch();
    let game = Game::triangle(7, Rule::Normal, 25).unwrap();
    let words = BlockForm::new(&game).stream_words;
    assert_eq!(words, 4 * 131_072);
    let mut random = Random::new(9);
    let streams: Vec<Vec<u64>> = game.layout.canonical_blocks().iter().map(|_| stream(words, &mut random)).collect();
    write(folder.path(), &game, &streams);
    let path = folder.path().join(block_file_name(BlockId(1)));
    let mut file = fs::read(&path).unwrap();
    // The third frame begins where its row of the index says.
    let begin = u64::from_le_bytes(file[64 + 2 * 24..][..8].try_into().unwrap()) as usize;
    file[begin + 100] ^= 1;
    fs::write(&path, file).unwrap();
    let database = Database::open(folder.path()).unwrap();
    let (mut right, mut refused) = (0, 0);
    for _ in 0..400 {
        let (offset, ordinal) = (random.below(1 << 25), random.below(3) as u32);
        let position = game.layout.join(game.layout.canonical_blocks()[ordinal as usize], offset);
        // Another position with the same value may be the one that is stored.
        let (block, offset) = game.layout.locate(position);
        let word = offset as usize / 64;
        let expected = Value::from_loss(streams[block.index()][word] >> (offset % 64) & 1 == 1);
        match database.value(position) {
            Ok(value) if (block.0, word >> 17) != (1, 2) => {
                assert_eq!(value, expected);
                right += 1;
            }
            Err(DatabaseError::Corrupt { offset: Some(at), .. }) if (block.0, word >> 17) == (1, 2) => {
                assert_eq!(at, begin as u64);
                refused += 1;
            }
            other => panic!("block {block}, word {word}: {other:?}"),
        }
    }
    assert!(right > 200 && refused > 10, "{right} right, {refused} refused");
}

/// A target takes from the file of a source what its edges need: every word that some edge needs is
/// there, and what is left out are whole frames that none does.
#[test]
fn a_target_reads_the_frames_that_its_edges_need() {
    let mut random = Random::new(3);
    let stream_words = 8 * 131_072;
    let form = BlockForm { identity: 1, stream_words };
    let stream = stream(stream_words, &mut random);
    let file = form.file(BlockId(0), &stream);
    for (masks, frames_read) in [
        (vec![0], 8),
        (vec![1 << 19], 4),
        (vec![1 << 19, 1 << 17], 6),
        (vec![1 << 19 | 1 << 18, 1 << 19], 4),
        (vec![1 << 19 | 1 << 18 | 1 << 17], 1),
        // Bits inside a frame leave nothing out.
        (vec![1 << 16, 1 << 19], 8),
        (vec![1 << 19, 0], 8),
    ] {
        let mut found = vec![0xdead; stream_words];
        let left_out = form.read_needed("x".as_ref(), BlockId(0), &file, &masks, &mut found).unwrap();
        let missing: usize = left_out.iter().map(|range| range.len()).sum();
        assert_eq!(missing, (8 - frames_read) * 131_072, "{masks:x?}");
        for word in 0..stream_words {
            let is_needed = masks.iter().any(|mask| word as u64 & mask == 0);
            let is_left_out = left_out.iter().any(|range| range.contains(&word));
            assert!(!(is_needed && is_left_out), "{masks:x?}: word {word}");
            assert_eq!(found[word], if is_left_out { 0xdead } else { stream[word] }, "{masks:x?}: word {word}");
        }
    }
}

/// The readers of a process share its limit of open files: five databases of many blocks once held
/// more than a process may have open.
#[test]
fn readers_share_the_limit_of_open_files() {
    let folder = scratch();
    let game = Game::triangle(6, Rule::Misere, 8).unwrap();
    trinim::Solve::from(&game).run(folder.path()).unwrap();
    let readers = [(); 5].map(|()| trinim::Database::open(folder.path()).unwrap());
    let open = || {
        let files =
            std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        files.filter(|file| file.starts_with(folder.path()) && file.to_string_lossy().ends_with(".blk")).count()
    };
    let most = (pipeline::open_files() / 4).clamp(4, 256) as usize;
    for position in (0..1 << 21).step_by(16_411) {
        let values = readers.each_ref().map(|reader| reader.value(position).unwrap());
        assert_eq!(values, [values[0]; 5]);
        assert!(open() <= most, "{} of {most} files", open());
    }
    assert!(open() > 0);
    drop(readers);
    assert_eq!(open(), 0);
}
