//! The figures of a layout from which every estimate follows.

use super::default_codec;
use super::rates::{self, Rates};
use crate::layout::{BID_BITS_MAX, Edge, Layout, TraceId, bid_order, search};
use pipeline::Placement;
use pipeline::codec::FRAME_WORDS;
use std::collections::{BTreeSet, VecDeque};
use std::ops::AddAssign;
use std::sync::Arc;
use trinim_game::{Board, Cell};

/// Above this many BID bits, counting arguments give the figures instead of a walk of the block
/// graph.
const WALKED_BID_BITS_MAX: u32 = 20;

/// For graphs that are too large to walk: the largest share of all blocks alive at a time, and of
/// all dedicated copies waiting at a time, and the share of oriented edges. These are the values of
/// nine layers with 15 to 18 BID bits.
const LIVE_SHARE: f64 = 0.42;
const WAITING_SHARE: f64 = 0.29;
const TURNED_SHARE: f64 = 0.28;

/// Index bits inside the unit that the kernels move.
const VECTOR_BITS: u32 = 9;

/// The cut of a board, and the work that follows from it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shape {
    /// Cells of the BID bits, bit 0 first.
    pub bid_cells: Vec<u8>,
    /// Number of BID bits.
    pub bid_bits: u32,
    /// Number of offset bits.
    pub offset_bits: u32,
    /// All blocks.
    pub blocks: u64,
    /// Blocks that are evaluated.
    pub canonical_blocks: u64,
    /// Edges: inter-block updates with redundancy removed, the paper's number.
    pub edges: u64,
    /// Pairs of a target and a canonical source: the decoded streams with shared logs.
    pub loads: u64,
    /// Edges that need their source oriented.
    pub turned_edges: u64,
    /// Distinct (source, orientation, restriction): the encoded streams with dedicated logs.
    pub orientations: u64,
    /// Most streams kept at a time with shared logs.
    pub peak_shared_streams: u64,
    /// Most copies kept at a time with dedicated logs.
    pub peak_dedicated_streams: u64,
    /// Whether the last five are estimates, because the block graph is too large to walk.
    pub estimated: bool,
    /// The walk, block by block; empty if the graph was not walked.
    #[serde(skip)]
    steps: Arc<[Step]>,
}

/// What one block adds and makes superfluous, for [shared, dedicated] logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Step {
    /// Streams oriented and applied, in shares of whole streams: an edge needs only the words that
    /// its restriction leaves.
    oriented: f64,
    applied: f64,
    /// Streams that it writes.
    sent: [u32; 2],
    /// Streams that are not needed after it.
    retired: [u32; 2],
    /// Its sources, by their places in the walk, each with the share of its frames that an edge
    /// needs.
    sources: Vec<(u32, f64)>,
}

/// Returns the share of numbers without any of these bits.
fn left_by(bits: u64) -> f64 {
    0.5_f64.powi(bits.count_ones() as i32)
}

/// Returns the share of the frames of a stream that an edge needs, if each edge needs the offsets
/// without any of its `restricted` bits.
fn needed_frames(offset_bits: u32, restricted: &[u64]) -> f64 {
    let frame_bits = FRAME_WORDS.ilog2() + u64::BITS.ilog2();
    let frames = 1_u64 << offset_bits.saturating_sub(frame_bits);
    let is_needed = |frame: &u64| restricted.iter().any(|bits| bits >> frame_bits & frame == 0);
    (0..frames).filter(is_needed).count() as f64 / frames as f64
}

/// What a block reads with shared logs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Reads {
    /// Streams read from files.
    pub(super) loads: u32,
    /// Streams decoded, in shares of whole streams.
    pub(super) decoded: f64,
    /// Their stored bytes, in units of an average stream.
    pub(super) stored: f64,
}

/// The passes through memory that some blocks need, in streams.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passes {
    pub(super) decoded: f64,
    pub(super) oriented: f64,
    pub(super) applied: f64,
    /// Settled and published.
    pub(super) blocks: f64,
    pub(super) encoded: f64,
    /// Stored bytes read.
    pub(super) fetched: f64,
    /// Turned, marked or compared by the witness.
    pub(super) audited: f64,
}

/// Seconds of all workers together by stage, by the names that a solve reports them with.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageSeconds {
    /// Decoding streams, and waiting for their reads.
    pub decode: f64,
    /// Orienting streams.
    pub orient: f64,
    /// Applying streams.
    pub apply: f64,
    /// Settling blocks.
    pub settle: f64,
    /// Counting blocks and encoding them for the database.
    pub publish: f64,
    /// Encoding streams for the logs.
    pub encode: f64,
    /// Comparing blocks with their children.
    pub audit: f64,
}

impl StageSeconds {
    /// Returns the seconds of all stages.
    pub fn sum(&self) -> f64 {
        self.decode + self.orient + self.apply + self.settle + self.publish + self.encode + self.audit
    }
}

impl Passes {
    /// Returns the seconds of one thread for streams of `raw` bytes.
    pub(super) fn seconds(&self, rates: &Rates, raw: f64) -> StageSeconds {
        StageSeconds {
            decode: raw * self.decoded / rates.decode_bytes_per_second + self.fetched / rates.fetch_bytes_per_second,
            orient: raw * self.oriented / rates.orient_bytes_per_second,
            apply: raw * self.applied / rates.apply_bytes_per_second,
            settle: raw * self.blocks / rates.settle_bytes_per_second,
            publish: raw * self.blocks / rates.publish_bytes_per_second,
            encode: raw * self.encoded / rates.encode_bytes_per_second,
            audit: raw * self.audited / rates.audit_bytes_per_second,
        }
    }
}

impl AddAssign for Passes {
    fn add_assign(&mut self, other: Passes) {
        self.decoded += other.decoded;
        self.oriented += other.oriented;
        self.applied += other.applied;
        self.blocks += other.blocks;
        self.encoded += other.encoded;
        self.fetched += other.fetched;
        self.audited += other.audited;
    }
}

impl Shape {
    /// Walks the block graph of a layout.
    pub fn from_layout(layout: &Layout) -> Shape {
        let order = layout.order();
        let traces = (0..layout.traces().len() as u32).map(TraceId);
        let restrictions: Vec<u64> = traces.map(|trace| layout.restriction(trace)).collect();
        let restriction = |edge: &Edge| restrictions[edge.trace.0 as usize];
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(place, block)| places[block.index()] = place);
        let mut steps = vec![Step::default(); order.len()];
        // By the place of a source: its last target, and the streams that leave it oriented.
        let mut last_use = vec![None; order.len()];
        let mut streams: Vec<BTreeSet<(u8, u64)>> = vec![BTreeSet::new(); order.len()];
        let (mut edges, mut loads, mut turned_edges) = (0, 0, 0);
        for (place, block) in order.iter().enumerate() {
            let into = layout.edges_into(*block);
            edges += into.len() as u64;
            turned_edges += into.iter().filter(|edge| edge.symmetry != 0).count() as u64;
            steps[place].retired[1] = into.len() as u32;
            for edges in into.chunk_by(|one, next| one.source == next.source) {
                loads += 1;
                let source = places[edges[0].source.index()];
                last_use[source as usize] = Some(place);
                streams[source as usize].extend(edges.iter().map(|edge| (edge.symmetry, restriction(edge))));
                steps[source as usize].sent[1] += edges.len() as u32;
                let restricted = edges.iter().map(|edge| layout.restricted(edge.symmetry, restriction(edge)));
                let restricted: Vec<u64> = restricted.collect();
                let Step { oriented, applied, sources, .. } = &mut steps[place];
                sources.push((source, needed_frames(layout.offset_bits(), &restricted)));
                for (edge, restricted) in edges.iter().zip(restricted) {
                    *applied += left_by(restriction(edge) >> VECTOR_BITS);
                    *oriented += if edge.symmetry == 0 { 0.0 } else { left_by(restricted >> VECTOR_BITS) };
                }
            }
        }
        last_use.into_iter().flatten().for_each(|place| steps[place].retired[0] += 1);
        let (mut kept, mut peaks) = ([0_u64; 2], [0; 2]);
        for step in &mut steps {
            step.sent[0] = u32::from(step.sent[1] > 0);
            for logs in [0, 1] {
                // A block deletes what it is the last to read only after its streams are written.
                kept[logs] += u64::from(step.sent[logs]);
                peaks[logs] = kept[logs].max(peaks[logs]);
                kept[logs] -= u64::from(step.retired[logs]);
            }
        }
        let [peak_shared_streams, peak_dedicated_streams] = peaks;
        Shape {
            bid_cells: layout.bid_cells().to_vec(),
            bid_bits: layout.bid_bits(),
            offset_bits: layout.offset_bits(),
            blocks: layout.blocks(),
            canonical_blocks: order.len() as u64,
            edges,
            loads,
            turned_edges,
            orientations: streams.iter().map(|streams| streams.len() as u64).sum(),
            peak_shared_streams,
            peak_dedicated_streams,
            estimated: false,
            steps: steps.into(),
        }
    }

    /// Returns the figures of the best layout whose blocks have at most this many offset bits. If
    /// its graph is too large to walk, they are estimated.
    pub fn suggested(board: &Board, offset_bits_at_most: u32) -> Shape {
        let bid_bits = board.cells().saturating_sub(offset_bits_at_most).min(BID_BITS_MAX);
        match Shape::is_walked(bid_bits) {
            true => Shape::from_layout(&Layout::suggested(board, offset_bits_at_most)),
            false => Shape::outline_of_suggested(board, offset_bits_at_most),
        }
    }

    fn outline_of_suggested(board: &Board, offset_bits_at_most: u32) -> Shape {
        let mask = search::suggested_mask(board, offset_bits_at_most);
        Shape::outline(board, &bid_order::bid_cells(board, mask))
    }

    /// Returns the figures of a set of BID cells without a walk: blocks and edges by Burnside's
    /// lemma, the rest by the shares of smaller boards.
    pub fn outline(board: &Board, indices: &[u8]) -> Shape {
        let bid_cells: Vec<Cell> = indices.iter().map(|index| board.cell(u32::from(*index))).collect();
        let edges = search::canonical_updates(board, &bid_cells) as u64;
        let canonical_blocks = search::canonical_blocks(board, &bid_cells) as u64;
        let bid_bits = bid_cells.len() as u32;
        Shape {
            bid_cells: indices.to_vec(),
            bid_bits,
            offset_bits: board.cells() - bid_bits,
            blocks: 1 << bid_bits,
            canonical_blocks,
            edges,
            loads: edges,
            turned_edges: (edges as f64 * TURNED_SHARE) as u64,
            orientations: canonical_blocks * board.symmetries().len() as u64,
            peak_shared_streams: (canonical_blocks as f64 * LIVE_SHARE) as u64,
            peak_dedicated_streams: (edges as f64 * WAITING_SHARE) as u64,
            estimated: true,
            steps: Arc::default(),
        }
    }

    /// Returns the most bytes of logs, and of logs and database together, at any time of the walk.
    /// A stream takes `stream_bytes`, a published block `block_bytes`. A stream is deleted `delay`
    /// after its last use, on the clock of the `times` that the blocks take one after another.
    pub(super) fn peaks(&self, placement: Placement, sizes: [f64; 2], times: &[f64], delay: f64) -> [f64; 2] {
        let [stream_bytes, block_bytes] = sizes;
        let logs = usize::from(placement == Placement::Dedicated);
        let (mut sent, mut retired, mut now) = (0.0, 0.0, 0.0);
        let mut late = self.steps.iter().zip(times);
        let mut late_until = times.first().copied().unwrap_or_default();
        let mut peaks = [0.0_f64; 2];
        for (place, (step, time)) in self.steps.iter().zip(times).enumerate() {
            now += time;
            sent += f64::from(step.sent[logs]);
            while late_until <= now - delay
                && let Some((step, _)) = late.next()
            {
                retired += f64::from(step.retired[logs]);
                late_until += late.clone().next().map_or(f64::INFINITY, |(_, time)| *time);
            }
            let log_bytes = stream_bytes * (sent - retired);
            let both = log_bytes + block_bytes * (place + 1) as f64;
            peaks = [peaks[0].max(log_bytes), peaks[1].max(both)];
        }
        peaks
    }

    /// Returns what each block of the walk reads with shared logs if `most` streams are held. As in
    /// the engine, the stream whose next use is furthest away makes room.
    pub(super) fn reads(&self, most: u64) -> Vec<Reads> {
        let mut uses: Vec<VecDeque<u32>> = vec![VecDeque::new(); self.steps.len()];
        for (place, step) in (0..).zip(&*self.steps) {
            step.sources.iter().for_each(|(source, _)| uses[*source as usize].push_back(place));
        }
        // Of each held stream its next use, and itself.
        let mut held: BTreeSet<(u32, u32)> = BTreeSet::new();
        let keep = |held: &mut BTreeSet<(u32, u32)>, uses: &VecDeque<u32>, source: u32| {
            let Some(next) = uses.front() else { return false };
            held.insert((*next, source));
            let given_up = if held.len() as u64 > most { held.pop_last() } else { None };
            given_up != Some((*next, source))
        };
        let mut all = Vec::with_capacity(self.steps.len());
        for (place, step) in (0..).zip(&*self.steps) {
            let mut reads = Reads::default();
            for (source, needed) in &step.sources {
                let is_found = held.remove(&(place, *source));
                let uses = &mut uses[*source as usize];
                uses.pop_front();
                let is_kept = keep(&mut held, uses, *source);
                if !is_found {
                    reads.loads += 1;
                    // A stream that is kept is decoded as a whole.
                    let decoded = if is_kept { 1.0 } else { *needed };
                    reads.decoded += decoded;
                    reads.stored += decoded * self.density(*source);
                }
            }
            keep(&mut held, &uses[place as usize], place);
            all.push(reads);
        }
        all
    }

    /// Returns the seconds that one thread takes for each block of the walk, in its order, if the
    /// blocks read this, with shared logs of `stream_bytes` each.
    pub(super) fn seconds_of(&self, reads: &[Reads], rates: &Rates, stream_bytes: f64) -> Vec<f64> {
        self.passes(reads, stream_bytes).map(|passes| passes.seconds(rates, self.raw_bytes()).sum()).collect()
    }

    /// Returns the passes of each block of the walk that reads this.
    pub(super) fn passes(&self, reads: &[Reads], stream_bytes: f64) -> impl Iterator<Item = Passes> {
        self.steps.iter().zip(reads).map(move |(step, &Reads { decoded, stored, .. })| Passes {
            decoded,
            oriented: step.oriented,
            applied: step.applied,
            blocks: 1.0,
            encoded: f64::from(step.sent[0]),
            fetched: stored * stream_bytes,
            audited: 0.0,
        })
    }

    /// Returns the passes of all blocks with shared logs of `stream_bytes` each, for a graph that
    /// was not walked: no edge has a restriction, and no stream is held.
    pub(super) fn passes_at_most(&self, stream_bytes: f64) -> Passes {
        let (loads, blocks) = (self.loads as f64, self.canonical_blocks as f64);
        Passes {
            decoded: loads,
            oriented: self.turned_edges as f64,
            applied: self.edges as f64,
            blocks,
            encoded: blocks,
            fetched: loads * stream_bytes,
            audited: 0.0,
        }
    }

    /// Returns the stored bytes of the stream at a place of the walk, relative to an average one.
    /// Losses of positions with more pieces are less regular: in nine layers, normal play, streams
    /// grow evenly from 0.65 to 1.35 of the average (22 November 2026).
    fn density(&self, place: u32) -> f64 {
        0.65 + 0.7 * f64::from(place) / self.steps.len() as f64
    }

    /// Returns the bytes of a stream in the default codec.
    pub fn usual_stream_bytes(&self) -> f64 {
        let layers = (1..).find(|layers| layers * (layers + 1) / 2 >= self.bid_bits + self.offset_bits);
        let layers = layers.unwrap_or(1);
        self.raw_bytes() * rates::log_bits_per_position(layers, self.offset_bits, default_codec(layers).name())
    }

    /// Returns the bytes of a stream as a bitmap.
    pub(super) fn raw_bytes(&self) -> f64 {
        (1_u64 << self.offset_bits) as f64 / 8.0
    }

    /// Returns whether a layout of this many BID bits is walked rather than outlined.
    pub fn is_walked(bid_bits: u32) -> bool {
        bid_bits <= WALKED_BID_BITS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outline_and_walk_agree_where_both_count() {
        for (layers, bits) in [(5, 6), (7, 7), (8, 9), (9, 12)] {
            let board = Board::triangle(layers, None).unwrap();
            let outlined = Shape::outline_of_suggested(&board, board.cells() - bits);
            let walked = Shape::from_layout(&Layout::suggested(&board, board.cells() - bits));
            assert_eq!(outlined.bid_cells, walked.bid_cells);
            assert_eq!(outlined.canonical_blocks, walked.canonical_blocks);
            assert_eq!(outlined.edges, walked.edges);
        }
    }

    /// Without delay the walk finds the largest number of streams that are needed at a time; with a
    /// delay as long as the solve, nothing is deleted.
    #[test]
    fn the_peak_lies_between_what_is_needed_and_what_is_written() {
        for (layers, bits) in [(5, 9), (6, 12), (7, 18), (8, 27)] {
            let board = Board::triangle(layers, None).unwrap();
            let shape = Shape::from_layout(&Layout::suggested(&board, bits));
            let times = vec![1.0 / shape.steps.len() as f64; shape.steps.len()];
            let streams = |placement, delay| shape.peaks(placement, [1.0, 0.0], &times, delay)[0] as u64;
            let sources = shape.steps.iter().filter(|step| step.sent[1] > 0).count() as u64;
            assert_eq!(streams(Placement::Shared, 2.0), sources);
            assert_eq!(streams(Placement::Dedicated, 2.0), shape.edges);
            assert!(streams(Placement::Shared, 0.0) <= shape.peak_shared_streams, "{layers}");
            assert!(streams(Placement::Dedicated, 0.0) <= shape.peak_dedicated_streams, "{layers}");
            let half = streams(Placement::Shared, 0.5);
            assert!((streams(Placement::Shared, 0.0)..=sources).contains(&half), "{layers}");
            let both = shape.peaks(Placement::Shared, [0.0, 1.0], &times, 0.0)[1];
            assert_eq!(both as u64, shape.canonical_blocks);
        }
    }

    /// With room for all that are needed at a time, every stream is found in memory; with room for
    /// none, none; and in between what a search through all streams finds.
    #[test]
    fn streams_in_memory_are_those_used_soonest() {
        for (layers, bits) in [(5, 9), (6, 12), (7, 18), (8, 27)] {
            let board = Board::triangle(layers, None).unwrap();
            let shape = Shape::from_layout(&Layout::suggested(&board, bits));
            let loads: usize = shape.steps.iter().map(|step| step.sources.len()).sum();
            assert_eq!(loads as u64, shape.loads);
            let from_files = |most| shape.reads(most).iter().map(|read| u64::from(read.loads)).sum::<u64>();
            assert_eq!(from_files(0), shape.loads);
            assert_eq!(from_files(shape.peak_shared_streams + 1), 0);
            for most in [1, 3, 10] {
                let next = |source: u32, after: usize| {
                    let later = shape.steps.iter().enumerate().skip(after);
                    later
                        .filter(|(_, step)| step.sources.iter().any(|(other, _)| *other == source))
                        .map(|(place, _)| place)
                        .next()
                };
                let (mut held, mut found) = (Vec::new(), 0);
                for (place, step) in shape.steps.iter().enumerate() {
                    let sources = step.sources.iter().map(|(source, _)| *source);
                    for (at, source) in sources.chain([place as u32]).enumerate() {
                        found += u64::from(held.contains(&source));
                        held.retain(|other| *other != source);
                        held.extend(next(source, place + 1).map(|_| source));
                        // The sources of this block that are still to come are used next of all.
                        let is_to_come =
                            |other: u32| step.sources.iter().skip(at + 1).any(|(to_come, _)| *to_come == other);
                        let use_of =
                            |other: &u32| if is_to_come(*other) { Some(place) } else { next(*other, place + 1) };
                        if held.len() > most {
                            let last = (0..held.len()).max_by_key(|at| (use_of(&held[*at]), held[*at])).unwrap();
                            held.remove(last);
                        }
                    }
                }
                assert_eq!(shape.loads - from_files(most as u64), found, "{layers} layers, {most}");
            }
        }
    }

    #[test]
    fn the_shares_for_large_graphs_are_those_of_nine_layers() {
        let board = Board::triangle(9, None).unwrap();
        let shape = Shape::from_layout(&Layout::suggested(&board, 30));
        let live = shape.peak_shared_streams as f64 / shape.canonical_blocks as f64;
        let waiting = shape.peak_dedicated_streams as f64 / shape.edges as f64;
        assert!((live - LIVE_SHARE).abs() < 0.03, "{live}");
        let oriented = shape.turned_edges as f64 / shape.edges as f64;
        assert!((waiting - WAITING_SHARE).abs() < 0.05, "{waiting}");
        assert!((oriented - TURNED_SHARE).abs() < 0.02, "{oriented}");
    }
}
