//! Codecs of the logs and the frames of the database on a real loss stream: the seven-layer board
//! as one block (2^28 positions, 32 MiB), in sector order. Every round trip is compared with the
//! stream, and its losses with the published count, before any measurement.
//!
//! `cargo bench --bench codecs`. Figures are bytes of raw bitmap a second; the ratio (stored bits
//! per position) is printed once for each codec.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use pipeline::codec::{self, FRAME_WORDS, Scratch};
use std::hint::black_box;
use trinim::database::Encoding;
use trinim::database::block::BlockForm;
use trinim::database::frame::{self, Frame};
use trinim::game::Board;
use trinim::game::Rule;
use trinim::kernel::{Kernel, SettlePlan, bitmap_words};
use trinim::layout::Layout;
use trinim::report::published;

/// Returns the loss stream of the seven-layer board, misère.
fn stream() -> Vec<u64> {
    let board = Board::triangle(7, None).expect("seven layers");
    let layout = Layout::suggested(&board, 28);
    let mut bitmap = vec![0; bitmap_words(layout.offset_bits())];
    bitmap[0] = 1;
    Kernel::detect().settle(&SettlePlan::new(layout.offset_bits(), layout.inner_moves()), &mut bitmap);
    assert_eq!(Some(Kernel::detect().popcount(&bitmap)), published::losses(7, Rule::Misere));
    bitmap
}

fn codecs(criterion: &mut Criterion) {
    let stream = stream();
    let raw_bytes = stream.len() * 8;
    let mut scratch = Scratch::new();
    let mut group = criterion.benchmark_group("log codec");
    group.throughput(Throughput::Bytes(raw_bytes as u64)).sample_size(10);
    for codec in codec::all() {
        let encode = |scratch: &mut Scratch| -> Vec<(u8, Vec<u8>)> {
            let one = |words: &[u64]| {
                let mut bytes = Vec::new();
                (codec::encode_frame(*codec, words, &mut bytes, scratch), bytes)
            };
            stream.chunks(FRAME_WORDS).map(one).collect()
        };
        let decode = |frames: &[(u8, Vec<u8>)], words: &mut [u64], scratch: &mut Scratch| {
            for ((tag, bytes), words) in frames.iter().zip(words.chunks_mut(FRAME_WORDS)) {
                codec::decode_frame(*tag, bytes, words, scratch).expect("a frame decodes");
            }
        };
        let frames = encode(&mut scratch);
        let mut back = vec![0; stream.len()];
        decode(&frames, &mut back, &mut scratch);
        assert!(back == stream, "{} does not round-trip", codec.name());
        let stored: usize = frames.iter().map(|(_, bytes)| bytes.len()).sum();
        eprintln!("{}: {:.4} bits a position", codec.name(), stored as f64 / raw_bytes as f64);
        group.bench_function(format!("encode/{}", codec.name()), |bencher| {
            bencher.iter(|| black_box(encode(&mut scratch)))
        });
        group.bench_function(format!("decode/{}", codec.name()), |bencher| {
            bencher.iter(|| decode(&frames, black_box(&mut back), &mut scratch));
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("block file");
    group.throughput(Throughput::Bytes(raw_bytes as u64)).sample_size(10);
    for encoding in [Encoding::Words, Encoding::Rows] {
        let form = BlockForm { encoding, identity: 0, stream_words: stream.len() };
        let file = form.file(0, &stream);
        let mut back = vec![0; stream.len()];
        form.read("block".as_ref(), 0, &file, &mut back).expect("a file is read");
        assert!(back == stream, "the block file does not round-trip");
        eprintln!("block file, {encoding:?}: {:.4} bits a position", file.len() as f64 / raw_bytes as f64);
        group.bench_function(format!("write/{encoding:?}"), |bencher| {
            bencher.iter(|| black_box(form.file(0, &stream)));
        });
        group.bench_function(format!("read/{encoding:?}"), |bencher| {
            bencher.iter(|| form.read("block".as_ref(), 0, &file, black_box(&mut back)));
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("database frame, version 1");
    let words = &stream[..Encoding::Words.frame_words()];
    let stored = frame::encode(words);
    let parsed = Frame::parse(stored.clone(), words.len()).expect("a frame parses");
    let mut back = vec![0; words.len()];
    parsed.decode(&mut back).expect("a frame decodes");
    assert!(back == words, "the database frame does not round-trip");
    eprintln!("database frame: {:.4} bits a position", stored.len() as f64 / (words.len() * 8) as f64);
    group.throughput(Throughput::Bytes(words.len() as u64 * 8)).sample_size(10);
    group.bench_function("encode", |bencher| bencher.iter(|| black_box(frame::encode(words))));
    group.bench_function("parse", |bencher| {
        let parse = |stored| Frame::parse(stored, words.len());
        bencher.iter_batched(|| stored.clone(), parse, BatchSize::LargeInput);
    });
    group.bench_function("decode", |bencher| bencher.iter(|| parsed.decode(black_box(&mut back))));
    group.throughput(Throughput::Elements(1));
    let mut at = 1usize;
    group.bench_function("word", |bencher| {
        bencher.iter(|| {
            at = (at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)) % words.len();
            assert_eq!(parsed.word(at), Ok(words[at]));
        });
    });
    group.finish();
}

criterion_group!(benches, codecs);
criterion_main!(benches);
