//! Codecs of the logs and the blocks of the database on a real loss stream: the seven-layer board
//! as one block (2^28 positions, 32 MiB), in sector order. Every round trip is compared with the
//! stream, and its losses with the published count, before any measurement.
//!
//! `cargo bench --bench codecs`. Figures are bytes of raw bitmap a second; the ratio (stored bits
//! per position) is printed once for each codec.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pipeline::BlockId;
use pipeline::codec::{self, FRAME_WORDS, Scratch};
use std::hint::black_box;
use trinim::database::block::BlockForm;
use trinim::game::Board;
use trinim::game::Rule;
use trinim::game::published;
use trinim::kernel::{Kernel, SettlePlan, bitmap_words};
use trinim::layout::Layout;

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
    let form = BlockForm { identity: 0, stream_words: stream.len() };
    let file = form.file(BlockId(0), &stream);
    let mut back = vec![0; stream.len()];
    form.read("block".as_ref(), BlockId(0), &file, &mut back).expect("a file is read");
    assert!(back == stream, "the block file does not round-trip");
    eprintln!("block file: {:.4} bits a position", file.len() as f64 / raw_bytes as f64);
    group.bench_function("write", |bencher| bencher.iter(|| black_box(form.file(BlockId(0), &stream))));
    group.bench_function("read", |bencher| {
        bencher.iter(|| form.read("block".as_ref(), BlockId(0), &file, black_box(&mut back)));
    });
    group.finish();
}

criterion_group!(benches, codecs);
criterion_main!(benches);
