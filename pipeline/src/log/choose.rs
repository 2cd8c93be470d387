//! Choice of the log codec, measured on the run's own streams and device.
//!
//! # Cost model
//! A byte of stream is encoded once, written `copies` times, and read and decoded `uses` times. Let
//! `e` and `d` be the measured seconds per raw byte to encode and decode, `r` the ratio stored/raw,
//! `w`, `q` and `c` the seconds per stored byte that the writer, the readers and the commits have
//! taken so far, and `b` the seconds per raw byte of the workload itself. The processors need
//! `(b + e + uses·d + r·(copies·w + uses·q)) / workers`; in parallel, the writer and the disk need
//! `r·copies·(w + c)`. The second time is hidden by the first while no worker waits for the writer;
//! the share of their time that workers do wait weighs the excess. For each stream the candidate
//! with the least cost wins, size weighed in, so a run whose disk cannot keep up moves to tighter
//! codecs. The choice cannot affect results: each frame stores its codec's tag.

use super::frame::frame_words;
use crate::codec::{self, Codec, FRAME_WORDS, Scratch};
use crate::measure::metrics::{Metrics, Stopwatch};
use crate::measure::stage::Stage;
use crate::sync::Mutex;

/// The codec of the logs.
#[derive(Clone, Copy)]
pub enum CodecChoice {
    /// Measure the candidates on dense streams and take the cheapest.
    Auto,
    /// Always this codec.
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

/// The choice of a run. Candidates are measured now and then; the device is measured all the time.
pub struct Chooser {
    choice: CodecChoice,
    samples: Mutex<Samples>,
}

#[derive(Default)]
struct Samples {
    measured: Vec<Measurement>,
    /// Number of dense streams seen.
    streams: u64,
    /// Number of streams seen before the next one that is sampled.
    next: u64,
}

impl Samples {
    /// Counts a dense stream; returns whether it is one to sample.
    fn is_next(&mut self) -> bool {
        let is_next = self.streams == self.next;
        if is_next {
            self.next += (self.next * (SAMPLE_GROWTH - 1)).clamp(SAMPLE_GROWTH, SAMPLE_STREAMS_MAX);
        }
        self.streams += 1;
        is_next
    }
}

/// Measurements of one codec, per raw byte.
#[derive(Clone, Copy)]
struct Measurement {
    codec: &'static dyn Codec,
    ratio: f64,
    encode_seconds: f64,
    decode_seconds: f64,
}

/// How often a stream is written and read, and the number of workers.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// Number of copies written.
    pub copies: f64,
    /// Number of times the stream is read and decoded.
    pub uses: f64,
    /// Number of workers that share encoding and decoding.
    pub workers: usize,
}

/// Number of frames sampled from a stream.
const SAMPLE_FRAMES: usize = 3;
/// Between two samples come at most this many dense streams: streams grow denser and harder to
/// compress during a run.
const SAMPLE_STREAMS_MAX: u64 = 64;
/// The first samples come four times as far apart each: a sample tries every codec, which takes as
/// long as encoding some streams, and eight layers have only a hundred.
const SAMPLE_GROWTH: u64 = 4;
/// Weight of the size: the codec is chosen whose cost, without that of the workload, times ratio
/// to this power is least, so half the bytes are worth 29 % of the cost. Fewer bytes leave more of
/// the caches, the page cache and the disk to everything else, which the model does not cover.
const SIZE_WEIGHT: f64 = 0.5;
/// Least share of non-zero words in a stream that counts as dense.
const DENSE: f64 = 0.05;
/// Bytes after which a measured rate replaces the assumed one.
const TYPICAL_BYTES: f64 = 16e6;

impl Chooser {
    /// Creates the chooser of a run.
    pub fn new(choice: CodecChoice) -> Chooser {
        Chooser { choice, samples: Mutex::default() }
    }

    /// Takes the stream of a block about to be emitted; now and then measures the candidates on it.
    pub fn observe(&self, stream: &[u64], scratch: &mut Scratch) {
        if matches!(self.choice, CodecChoice::Auto) && dense(stream) && self.samples.lock().is_next() {
            // Without the lock: other workers ask for a codec meanwhile.
            let measured = measure(stream, scratch);
            self.samples.lock().measured = measured;
        }
    }

    /// Returns the codec for a stream with the given traffic.
    pub fn codec(&self, traffic: Traffic, metrics: &Metrics) -> &'static dyn Codec {
        if let CodecChoice::Fixed(codec) = self.choice {
            return codec;
        }
        let rates = Rates::from_metrics(metrics);
        let samples = self.samples.lock();
        let workload = rates.workload_seconds / traffic.workers as f64;
        let score = |one: &Measurement| (one.cost(traffic, &rates) - workload) * one.ratio.powf(SIZE_WEIGHT);
        let best = samples.measured.iter().min_by(|a, b| score(a).total_cmp(&score(b)));
        best.map(|best| best.codec).or_else(|| codec::by_name("rows-bytes")).unwrap_or(codec::all()[0])
    }

    /// Returns the latest measurements, with the costs for the given traffic at the average rates
    /// of the run.
    pub fn result(&self, traffic: Traffic, metrics: &Metrics) -> Vec<Candidate> {
        let rates = Rates::from_metrics(metrics);
        self.samples.lock().measured.iter().map(|one| one.candidate(traffic, &rates)).collect()
    }
}

impl Measurement {
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
    /// Per raw byte: orienting, applying, finishing, publishing.
    workload_seconds: f64,
    /// Per stored byte, like the next two.
    write_seconds: f64,
    read_seconds: f64,
    commit_seconds: f64,
    /// Share of their time that the workers waited for the writer, 0 to 1.
    waiting_share: f64,
}

impl Rates {
    fn from_metrics(metrics: &Metrics) -> Rates {
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

fn measure(stream: &[u64], scratch: &mut Scratch) -> Vec<Measurement> {
    let frame_words = frame_words(stream.len() as u64);
    let frame_bytes = (frame_words * 8) as f64;
    let frames: Vec<&[u64]> = stream.chunks_exact(frame_words).collect();
    let step = (frames.len() / SAMPLE_FRAMES).max(1);
    let sample: Vec<&[u64]> = frames.iter().step_by(step).take(SAMPLE_FRAMES).copied().collect();
    let mut back = vec![0u64; frame_words];
    codec::all()
        .iter()
        .map(|codec| {
            // One unmeasured frame first, so that contexts and caches are warm for every candidate.
            codec::encode_frame(*codec, sample[0], &mut Vec::new(), scratch);
            // Of the sampled frames the fastest counts: a thread that the system interrupts would
            // condemn a codec for the rest of the run.
            let mut fastest = [f64::INFINITY; 2];
            let mut take = |which: usize, watch: Stopwatch| {
                let seconds = watch.elapsed().as_secs_f64().max(1e-9) / frame_bytes;
                fastest[which] = fastest[which].min(seconds);
            };
            let mut stored_bytes = 0;
            for words in &sample {
                let mut bytes = Vec::new();
                let watch = Stopwatch::start();
                let tag = codec::encode_frame(*codec, words, &mut bytes, scratch);
                take(0, watch);
                let watch = Stopwatch::start();
                let decoded = codec::decode_frame(tag, &bytes, &mut back, scratch);
                take(1, watch);
                assert_eq!(decoded, Ok(()), "codec, invariant 1: {}", codec.name());
                debug_assert!(back == *words, "codec, invariant 1: {}", codec.name());
                stored_bytes += bytes.len();
            }
            let [encode_seconds, decode_seconds] = fastest;
            let ratio = stored_bytes as f64 / (sample.len() as f64 * frame_bytes);
            Measurement { codec: *codec, ratio, encode_seconds, decode_seconds }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_further_apart_up_to_a_bound() {
        let mut samples = Samples::default();
        let taken: Vec<u64> = (0..300).filter(|_| samples.is_next()).collect();
        assert_eq!(taken, [0, 4, 16, 64, 128, 192, 256]);
    }
}
