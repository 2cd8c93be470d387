//! Choice of the log codec by measuring the run's own streams and device.
//!
//! # Cost model
//! A byte of stream is encoded once, written `copies` times, and read and decoded `uses` times. With `e`, `d` the measured seconds per raw byte
//! to encode and decode, `r` the ratio (stored/raw), and `w`, `q`, `c` the seconds per stored byte that the writer, the readers and the commits
//! have taken so far, the processors need `(e + uses·d + r·(copies·w + uses·q)) / workers`, on top of `b`, what the workload itself took per
//! raw byte; the writer and the disk need `r·copies·(w + c)` beside them. As long as no worker waits for the writer, the second hides behind the
//! first; the share of their time that workers do wait says how much of it counts. For each stream the candidate with the least cost wins
//! (near it, the one that stores least), so a run whose disk cannot keep up turns to tighter codecs. Results cannot depend on the choice:
//! each frame stores its codec's tag.

use crate::log::codec::{self, Codec, FRAME_WORDS, Scratch};
use crate::measure::metrics::{Metrics, Stopwatch};
use crate::measure::stage::Stage;
use crate::sync::Mutex;

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
const SAMPLE_FRAMES: usize = 2;
/// One of so many dense streams is sampled: they grow denser and harder to compress as the run goes on.
const SAMPLE_STREAMS: u64 = 8;
/// Among candidates whose costs are within this factor of the least, the one that stores least wins: fewer bytes also leave more of the caches,
/// the page cache and the disk to everything else, which the model does not see.
const NEAR: f64 = 1.15;
/// Share of non-zero words from which a stream counts as typical.
const DENSE: f64 = 0.05;
/// Bytes after which a measured rate is believed; a typical rate of the kind is assumed before.
const TYPICAL_BYTES: f64 = 16e6;

impl Chooser {
    /// A chooser for a run.
    pub fn new(choice: CodecChoice) -> Chooser {
        Chooser { choice, samples: Mutex::default() }
    }

    /// Shows the whole stream of a block that is about to be emitted; now and then the candidates are measured on it.
    pub fn observe(&self, stream: &[u64], scratch: &mut Scratch) {
        if matches!(self.choice, CodecChoice::Auto) && dense(stream) {
            let mut samples = self.samples.lock();
            if samples.streams.is_multiple_of(SAMPLE_STREAMS) {
                samples.measured = measure(stream, scratch);
            }
            samples.streams += 1;
        }
    }

    /// The codec for a stream with the given traffic.
    pub fn codec(&self, traffic: Traffic, metrics: &Metrics) -> &'static dyn Codec {
        if let CodecChoice::Fixed(codec) = self.choice {
            return codec;
        }
        let rates = Rates::of(metrics);
        let samples = self.samples.lock();
        let cost = |one: &&Measured| one.cost(traffic, &rates);
        let least = samples.measured.iter().map(|one| cost(&one)).fold(f64::INFINITY, f64::min);
        let near = samples.measured.iter().filter(|one| cost(one) <= least * NEAR);
        let best = near.min_by(|a, b| a.ratio.total_cmp(&b.ratio));
        best.map(|best| best.codec).or_else(|| codec::by_name("rows-bytes")).unwrap_or(codec::all()[0])
    }

    /// What was measured last, with the costs for the given traffic at the average rates of the run.
    pub fn result(&self, traffic: Traffic, metrics: &Metrics) -> Vec<Candidate> {
        let rates = Rates::of(metrics);
        self.samples.lock().measured.iter().map(|one| one.candidate(traffic, &rates)).collect()
    }
}

impl Measured {
    fn cost(&self, traffic: Traffic, rates: &Rates) -> f64 {
        let moved = traffic.copies * rates.write_seconds + traffic.uses * rates.read_seconds;
        let work = self.encode_seconds + traffic.uses * self.decode_seconds + self.ratio * moved;
        let computing = (rates.workload_seconds + work) / traffic.workers as f64;
        let writing = self.ratio * traffic.copies * (rates.write_seconds + rates.commit_seconds);
        computing + rates.waiting_share * (writing - computing).max(0.0)
    }

    fn candidate(&self, traffic: Traffic, rates: &Rates) -> Candidate {
        Candidate {
            codec: self.codec.name(),
            ratio: self.ratio,
            encode_bytes_per_second: 1.0 / self.encode_seconds,
            decode_bytes_per_second: 1.0 / self.decode_seconds,
            cost: self.cost(traffic, rates),
        }
    }
}

fn dense(stream: &[u64]) -> bool {
    let filled = stream.iter().step_by(61).filter(|word| **word != 0).count();
    stream.len() >= FRAME_WORDS && filled as f64 > DENSE * (stream.len() as f64 / 61.0)
}

/// What the run has taken so far, in seconds per byte.
struct Rates {
    /// Of raw stream: turning, applying, finishing, publishing.
    workload_seconds: f64,
    /// Of stored bytes.
    write_seconds: f64,
    read_seconds: f64,
    commit_seconds: f64,
    /// Share of the workers' time that they waited for the writer, 0 to 1.
    waiting_share: f64,
}

impl Rates {
    fn of(metrics: &Metrics) -> Rates {
        let seconds = |stage| metrics.stage(stage).as_secs_f64();
        let counts = metrics.snapshot();
        let rate =
            |seconds: f64, bytes: f64, assumed: f64| if bytes > TYPICAL_BYTES { seconds / bytes } else { assumed };
        let workload: f64 = [Stage::Orient, Stage::Apply, Stage::Finish, Stage::Publish].map(seconds).iter().sum();
        let waiting = seconds(Stage::AwaitWrite);
        let working = workload + seconds(Stage::Encode) + seconds(Stage::Decode) + waiting;
        let written = counts.log_bytes_written as f64;
        Rates {
            workload_seconds: rate(workload, counts.raw_bytes_encoded as f64, 1e-9),
            write_seconds: rate(seconds(Stage::Write), written, 1e-9),
            read_seconds: rate(seconds(Stage::Read), counts.log_bytes_read as f64, 3e-10),
            commit_seconds: rate(seconds(Stage::Commit), written, 5e-10),
            waiting_share: if working > 0.0 { waiting / working } else { 0.0 },
        }
    }
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
