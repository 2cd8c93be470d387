//! Choice of the log codec by measuring the run's own streams and device.
//!
//! # Cost model
//! A byte of stream is encoded once, written `copies` times, and read and decoded `uses` times. With `e`, `d` the measured seconds per raw
//! byte to encode and decode, `r` the measured ratio (stored/raw) and `B` the device's bytes per second as seen by the writer so far,
//! the cost is `(e + uses·d) / workers + r·(copies + uses) / B`: the processors share the work, the device does not. The candidate with
//! the least cost wins. Results cannot depend on the choice: each frame stores its codec's tag.

use crate::codec::{self, Codec, FRAME_WORDS, Scratch};
use crate::metrics::{Metrics, Stage, Stopwatch};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// Which codec the logs are written with.
#[derive(Clone, Copy)]
pub enum CodecChoice {
    /// Measure on the first dense streams.
    Auto,
    /// Always this one.
    Fixed(&'static dyn Codec),
}

impl CodecChoice {
    /// Parses `auto` or a codec's name.
    pub fn parse(name: &str) -> Option<CodecChoice> {
        if name == "auto" { Some(CodecChoice::Auto) } else { codec::by_name(name).map(CodecChoice::Fixed) }
    }
}

/// One measured candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Codec name.
    pub codec: &'static str,
    /// Stored bytes per raw byte.
    pub ratio: f64,
    /// Raw bytes encoded per second.
    pub encode_bytes_per_second: f64,
    /// Raw bytes decoded per second.
    pub decode_bytes_per_second: f64,
    /// Modelled seconds per raw byte.
    pub cost: f64,
}

/// The choice of a run, made at most once.
pub struct Chooser {
    choice: CodecChoice,
    chosen: OnceLock<(&'static dyn Codec, Vec<Candidate>)>,
}

/// Frames sampled from a stream.
const SAMPLE_FRAMES: usize = 6;
/// Share of non-zero words from which a stream counts as typical.
const DENSE: f64 = 0.05;
/// Bytes per second assumed before the writer has written anything to speak of.
const DEVICE_BYTES_PER_SECOND: f64 = 1e9;

impl Chooser {
    /// A chooser for a run.
    pub fn new(choice: CodecChoice) -> Chooser {
        Chooser { choice, chosen: OnceLock::new() }
    }

    /// The codec for a stream that will be written `copies` times and decoded `uses` times.
    pub fn codec(
        &self,
        stream: &[u64],
        copies: f64,
        uses: f64,
        workers: usize,
        metrics: &Metrics,
        scratch: &mut Scratch,
    ) -> &'static dyn Codec {
        let fallback = codec::by_name("zstd1").unwrap_or(codec::all()[0]);
        match self.choice {
            CodecChoice::Fixed(codec) => codec,
            CodecChoice::Auto => match self.chosen.get() {
                Some((codec, _)) => *codec,
                None if dense(stream) => {
                    let device = device_bytes_per_second(metrics);
                    let candidates = measure(stream, copies, uses, workers, device, scratch);
                    let best = candidates
                        .iter()
                        .min_by(|a, b| a.cost.total_cmp(&b.cost))
                        .and_then(|best| codec::by_name(best.codec));
                    self.chosen.get_or_init(|| (best.unwrap_or(fallback), candidates)).0
                }
                None => fallback,
            },
        }
    }

    /// What was measured and chosen, once it was.
    pub fn result(&self) -> Option<(&'static str, &[Candidate])> {
        match self.choice {
            CodecChoice::Fixed(codec) => Some((codec.name(), &[])),
            CodecChoice::Auto => self.chosen.get().map(|(codec, candidates)| (codec.name(), candidates.as_slice())),
        }
    }
}

fn dense(stream: &[u64]) -> bool {
    let filled = stream.iter().step_by(61).filter(|word| **word != 0).count();
    stream.len() >= FRAME_WORDS && filled as f64 > DENSE * (stream.len() as f64 / 61.0)
}

fn device_bytes_per_second(metrics: &Metrics) -> f64 {
    let bytes = metrics.log_bytes_written.load(Ordering::Relaxed) as f64;
    let seconds = metrics.stage(Stage::Write).as_secs_f64() + metrics.stage(Stage::Commit).as_secs_f64();
    if bytes > 64e6 && seconds > 0.0 { bytes / seconds } else { DEVICE_BYTES_PER_SECOND }
}

fn measure(
    stream: &[u64],
    copies: f64,
    uses: f64,
    workers: usize,
    device: f64,
    scratch: &mut Scratch,
) -> Vec<Candidate> {
    let frames: Vec<&[u64]> = stream.chunks_exact(FRAME_WORDS).collect();
    let step = (frames.len() / SAMPLE_FRAMES).max(1);
    let sample: Vec<&[u64]> = frames.iter().step_by(step).take(SAMPLE_FRAMES).copied().collect();
    let raw_bytes = (sample.len() * FRAME_WORDS * 8) as f64;
    let mut back = vec![0u64; FRAME_WORDS];
    codec::all()
        .iter()
        .map(|codec| {
            // First frame once unmeasured: contexts and caches are warm for every candidate alike.
            let mut warm = Vec::new();
            codec::encode_frame(*codec, sample[0], &mut warm, scratch);
            let watch = Stopwatch::start();
            let stored: Vec<(u8, Vec<u8>)> = sample
                .iter()
                .map(|words| {
                    let mut bytes = Vec::new();
                    (codec::encode_frame(*codec, words, &mut bytes, scratch), bytes)
                })
                .collect();
            let encode = raw_bytes / watch.elapsed().as_secs_f64().max(1e-9);
            let watch = Stopwatch::start();
            for (tag, bytes) in &stored {
                codec::decode_frame(*tag, bytes, &mut back, scratch).expect("a frame decodes to what was encoded");
            }
            let decode = raw_bytes / watch.elapsed().as_secs_f64().max(1e-9);
            let ratio = stored.iter().map(|(_, bytes)| bytes.len() as f64).sum::<f64>() / raw_bytes;
            let cost = (1.0 / encode + uses / decode) / workers as f64 + ratio * (copies + uses) / device;
            Candidate {
                codec: codec.name(),
                ratio,
                encode_bytes_per_second: encode,
                decode_bytes_per_second: decode,
                cost,
            }
        })
        .collect()
}
