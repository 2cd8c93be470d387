//! Choice of the log codec by measuring the run's own streams and device.
//!
//! # Cost model
//! A byte of stream is encoded once, written `copies` times, and read and decoded `uses` times. With `e`, `d` the measured seconds per raw
//! byte to encode and decode, `r` the measured ratio (stored/raw) and `B` the device's bytes per second as seen by the writer so far,
//! the cost is `(e + uses·d) / workers + r·(copies + uses) / B`: the processors share the work, the device does not. For each
//! stream the candidate with the least cost wins; `B` is that of the moment, so a run that fills its page cache turns to tighter codecs.
//! Results cannot depend on the choice: each frame stores its codec's tag.

use crate::codec::{self, Codec, FRAME_WORDS, Scratch};
use crate::metrics::{Metrics, Stage, Stopwatch};
use parking_lot::Mutex;
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

/// The choice of a run: candidates are measured now and then, the device is watched all the time.
pub struct Chooser {
    choice: CodecChoice,
    samples: Mutex<Samples>,
}

#[derive(Default)]
struct Samples {
    measured: Vec<Measured>,
    /// Dense streams seen.
    streams: u64,
}

/// What was measured of one codec, per raw byte.
#[derive(Clone, Copy)]
struct Measured {
    codec: &'static dyn Codec,
    ratio: f64,
    encode_seconds: f64,
    decode_seconds: f64,
}

/// How often a stream is written and read, and who shares the work.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// Copies written.
    pub copies: f64,
    /// Times it is read and decoded.
    pub uses: f64,
    /// Workers that share encoding and decoding.
    pub workers: usize,
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
        Chooser { choice, samples: Mutex::default() }
    }

    /// The codec for a stream with the given traffic.
    pub fn codec(
        &self,
        stream: &[u64],
        traffic: Traffic,
        metrics: &Metrics,
        scratch: &mut Scratch,
    ) -> &'static dyn Codec {
        if let CodecChoice::Fixed(codec) = self.choice {
            return codec;
        }
        let device = device_bytes_per_second(metrics);
        let mut samples = self.samples.lock();
        if dense(stream) {
            // Streams grow denser as the run goes on: measure again whenever twice as many have come.
            samples.streams += 1;
            if samples.streams.is_power_of_two() {
                samples.measured = measure(stream, scratch);
            }
        }
        let cost = |one: &Measured| one.cost(traffic, device);
        let best = samples.measured.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
        best.map(|best| best.codec).or_else(|| codec::by_name("rows-bytes")).unwrap_or(codec::all()[0])
    }

    /// What was measured last, with the costs for the given traffic on the device as it was on average.
    pub fn result(&self, traffic: Traffic, metrics: &Metrics) -> Vec<Candidate> {
        let device = device_bytes_per_second(metrics);
        self.samples.lock().measured.iter().map(|one| one.candidate(traffic, device)).collect()
    }
}

impl Measured {
    fn cost(&self, traffic: Traffic, device: f64) -> f64 {
        (self.encode_seconds + traffic.uses * self.decode_seconds) / traffic.workers as f64
            + self.ratio * (traffic.copies + traffic.uses) / device
    }

    fn candidate(&self, traffic: Traffic, device: f64) -> Candidate {
        Candidate {
            codec: self.codec.name(),
            ratio: self.ratio,
            encode_bytes_per_second: 1.0 / self.encode_seconds,
            decode_bytes_per_second: 1.0 / self.decode_seconds,
            cost: self.cost(traffic, device),
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

fn measure(stream: &[u64], scratch: &mut Scratch) -> Vec<Measured> {
    let frames: Vec<&[u64]> = stream.chunks_exact(FRAME_WORDS).collect();
    let step = (frames.len() / SAMPLE_FRAMES).max(1);
    let sample: Vec<&[u64]> = frames.iter().step_by(step).take(SAMPLE_FRAMES).copied().collect();
    let raw_bytes = (sample.len() * FRAME_WORDS * 8) as f64;
    let mut back = vec![0u64; FRAME_WORDS];
    codec::all()
        .iter()
        .map(|codec| {
            // First frame once unmeasured: contexts and caches are warm for every candidate alike.
            codec::encode_frame(*codec, sample[0], &mut Vec::new(), scratch);
            let watch = Stopwatch::start();
            let stored: Vec<(u8, Vec<u8>)> = sample
                .iter()
                .map(|words| {
                    let mut bytes = Vec::new();
                    (codec::encode_frame(*codec, words, &mut bytes, scratch), bytes)
                })
                .collect();
            let encode_seconds = watch.elapsed().as_secs_f64().max(1e-9) / raw_bytes;
            let watch = Stopwatch::start();
            for (tag, bytes) in &stored {
                codec::decode_frame(*tag, bytes, &mut back, scratch).expect("a frame decodes to what was encoded");
            }
            let decode_seconds = watch.elapsed().as_secs_f64().max(1e-9) / raw_bytes;
            let ratio = stored.iter().map(|(_, bytes)| bytes.len() as f64).sum::<f64>() / raw_bytes;
            Measured { codec: *codec, ratio, encode_seconds, decode_seconds }
        })
        .collect()
}
