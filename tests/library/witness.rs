//! The audit of a solve, by itself: faults planted in each part of a solve, on boards that a test
//! can afford. No other check of the solve or of the test looks at the values.

use crate::common::{Solving, Way, assert_same_files, database_files, layout_with, scratch};
use pipeline::checkpoint::inspect;
use pipeline::codec::FRAME_WORDS;
use pipeline::storage::pass_on;
use pipeline::{
    Auditor, Auditors, BlockId, Edge, Error, Event, Footprint, Metrics, Options, Placement, Publication, RealStorage,
    RecallError, Run, SourceStream, Storage, Workload,
};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use testing::SimulatedStorage;
use trinim::database::{Audit, AuditResult, BlockShare, Database, Game, Keep, Manifest, SolveSpec, Terms, Values};
use trinim::game::{Board, Rule};
use trinim::kernel::{ApplyPlan, Kernel, SettlePlan, bitmap_words};
use trinim::layout::Layout;
use trinim::solve::{RemovalGame, solve};

const PLAIN: Terms = Terms { values: Values::Outcomes, keep: Keep::Counts, audit: Audit::None };
const ALL: Terms = Terms { audit: Audit::All, ..PLAIN };

/// A fault in a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Plant {
    /// None.
    Sound,
    /// The kernel does not apply edges of this orientation.
    Unapplied(u8),
    /// The kernel does not apply edges with the operations of the last trace.
    Untraced,
    /// The kernel orients by the second symmetry in place of the first; by 0, it copies.
    TurnedAs(u8, u8),
    /// The kernel orients the first half only.
    HalfTurned,
    /// The kernel loses the first word of an oriented stream that is not empty.
    WordLost,
    /// The kernel orients less than the operations of the edge need.
    TooRestricted,
    /// The kernel reads the stream a word further on.
    WordOff,
    /// The kernel leaves out the first operation of an edge that has several.
    OneLess,
    /// The kernel has an operation more.
    OneMore,
    /// The kernel marks a position too many in blocks from this one on.
    Overrun(u32),
    /// The first edge into a block is added to what the buffer had.
    Stale,
    /// An edge is given the stream that was applied before.
    Previous,
    /// The kernel that settles a block misses the move with this number.
    InnerLess(usize),
    /// It has a move more.
    InnerMore,
    /// It leaves the word with this number, from the end.
    Unsettled(usize),
    /// A bit of a finished block flips: of which block, counted from the last, and which bit.
    Flipped(u32, u64),
    /// A finished block is empty: which one, counted from the last.
    Cleared(u32),
    /// The layout misses the edges with this number among those into a block.
    NoEdge(usize),
    /// It has no edge with the operations of the last trace.
    NoTrace,
    /// It has other orientations.
    OtherOrientation,
    /// It has other sources.
    OtherSource,
    /// The empty position has the value of the other rule.
    OtherRule,
    /// Frames are skipped that an edge needs: those with this bit in the number.
    Skipped(u64),
    /// A frame is applied as if it were the next one.
    OtherFrame,
    /// The last plane of nimbers or distances that is not empty replaces an earlier one.
    OtherNumber,
    /// What is read of the first block is not what it was: a bit of this frame.
    Reread(usize),
}

/// A solve with a fault.
struct Planted<'a> {
    game: &'a Game,
    sound: RemovalGame<'a>,
    kernel: Kernel,
    plant: Plant,
    before: Mutex<Vec<u64>>,
    judged: Mutex<BTreeSet<u32>>,
}

/// An auditor, and the block that it judges.
struct Counted<'p> {
    auditor: Box<dyn Auditor + 'p>,
    block: u32,
    judged: &'p Mutex<BTreeSet<u32>>,
}

impl Auditor for Counted<'_> {
    fn see(&mut self, stream: &SourceStream<'_>, spare: &mut [u64]) {
        self.auditor.see(stream, spare);
    }

    fn judge(&mut self, finished: &[u64]) -> Result<(), String> {
        self.judged.lock().unwrap().insert(self.block);
        self.auditor.judge(finished)
    }
}

impl<'a> Planted<'a> {
    fn new(game: &'a Game, terms: Terms, plant: Plant) -> Planted<'a> {
        let kernel = Kernel::detect();
        let sound = RemovalGame::new(terms.spec(game), kernel);
        Planted { game, sound, kernel, plant, before: Mutex::default(), judged: Mutex::default() }
    }

    fn bits(&self) -> u32 {
        self.game.layout.offset_bits()
    }

    /// Returns whether an edge has the operations of the last trace.
    fn is_last(&self, edge: &Edge) -> bool {
        self.game.layout.traces().last().is_some_and(|last| edge.operations[..] == last.operations[..])
    }

    /// Returns the number of a block, counted from the last.
    fn place_from_last(&self, block: BlockId) -> u32 {
        self.blocks() - 1 - block.0
    }
}

impl Workload for Planted<'_> {
    pass_on! { self.sound =>
        fn parameters(&self) -> Vec<(String, String)>;
        fn blocks(&self) -> u32;
        fn order(&self) -> Vec<BlockId>;
        fn stream_words(&self) -> usize;
        fn orient(&self, orientation: u8, restriction: u64, stream: &[u64], oriented: &mut [u64]);
        fn applies_frames(&self) -> bool;
        fn auditors(&self) -> Auditors;
        fn summarise(&self, block: BlockId, stream: &[u64]) -> Vec<u8>;
        fn publish(&self, block: BlockId, stream: &[u64]) -> Option<Publication>;
        fn publishes_streams(&self) -> bool;
        fn owns(&self, name: &str) -> bool;
    }
    fn recall_needed(
        &self,
        block: BlockId,
        published: &[u8],
        unneeded: &[u64],
        stream: &mut [u64],
    ) -> Result<Vec<Range<usize>>, RecallError> {
        let skipped = self.sound.recall_needed(block, published, unneeded, stream)?;
        if let Plant::Reread(frame) = self.plant
            && block == BlockId(0)
        {
            stream[(frame + 1) * FRAME_WORDS - 1] ^= 1;
        }
        Ok(skipped)
    }
    fn audit(&self, block: BlockId) -> Result<Option<Box<dyn Auditor + '_>>, Error> {
        let counted =
            |auditor| -> Box<dyn Auditor + '_> { Box::new(Counted { auditor, block: block.0, judged: &self.judged }) };
        Ok(self.sound.audit(block)?.map(counted))
    }

    fn edges_into(&self, target: BlockId) -> Vec<Edge> {
        let mut edges = self.sound.edges_into(target);
        let symmetries = self.game.layout.symmetries().len() as u8;
        match self.plant {
            Plant::NoEdge(number) if number < edges.len() => drop(edges.remove(number)),
            Plant::NoTrace => edges.retain(|edge| !self.is_last(edge)),
            Plant::OtherOrientation => {
                edges.iter_mut().for_each(|edge| edge.orientation = (edge.orientation + 1) % symmetries);
            }
            // No two edges may become equal.
            Plant::OtherSource if edges.iter().all(|edge| edge.source != BlockId(0)) => {
                edges.last_mut().into_iter().for_each(|edge| edge.source = BlockId(0));
            }
            _ => {}
        }
        edges
    }
    fn edges_from(&self, source: BlockId) -> Vec<Edge> {
        let edges = BlockId::all(self.blocks()).flat_map(|target| self.edges_into(target));
        edges.filter(|edge| edge.source == source).collect()
    }
    fn begin(&self, block: BlockId, bitmap: &mut [u64]) {
        self.sound.begin(block, bitmap);
        bitmap[0] ^= u64::from(self.plant == Plant::OtherRule && block == BlockId(0));
    }
    fn unneeded(&self, edge: &Edge) -> u64 {
        let unneeded = self.sound.unneeded(edge);
        if let Plant::Skipped(bit) = self.plant { unneeded | (bit * FRAME_WORDS as u64) } else { unneeded }
    }
    fn orient_needed(&self, edge: &Edge, stream: &[u64], oriented: &mut [u64]) {
        match self.plant {
            Plant::TurnedAs(from, 0) if edge.orientation == from => return oriented.copy_from_slice(stream),
            Plant::TurnedAs(from, to) if edge.orientation == from => {
                return self.sound.orient_needed(&Edge { orientation: to, ..edge.clone() }, stream, oriented);
            }
            Plant::TooRestricted => {
                let restriction = 1 << (self.bits() - 1) | edge.restriction;
                self.sound.orient(edge.orientation, restriction, stream, oriented);
                return;
            }
            _ => {}
        }
        self.sound.orient_needed(edge, stream, oriented);
        match self.plant {
            Plant::HalfTurned => oriented[stream.len() / 2..].fill(0),
            Plant::WordLost => oriented.iter_mut().filter(|word| **word != 0).take(1).for_each(|word| *word = 0),
            _ => {}
        }
    }
    fn apply(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]) {
        let operations = |masks: &[u64], bitmap: &mut [u64]| {
            self.kernel.apply(&ApplyPlan::new(self.bits(), masks), stream, bitmap);
        };
        match self.plant {
            Plant::Unapplied(orientation) if edge.orientation == orientation => {}
            Plant::Untraced if self.is_last(edge) => {}
            Plant::WordOff => {
                let mut other = stream.to_vec();
                other.rotate_left(1);
                self.sound.apply(edge, &other, bitmap);
            }
            Plant::OneLess if edge.operations.len() > 1 => operations(&edge.operations[1..], bitmap),
            Plant::OneMore => {
                let mut masks = edge.operations.to_vec();
                masks.extend((0..self.bits()).map(|bit| 1 << bit | masks[0]).find(|mask| !masks.contains(mask)));
                masks.sort_unstable();
                operations(&masks, bitmap);
            }
            Plant::Previous => {
                let before = std::mem::replace(&mut *self.before.lock().unwrap(), stream.to_vec());
                self.sound.apply(edge, if before.is_empty() { stream } else { &before }, bitmap);
            }
            _ => self.sound.apply(edge, stream, bitmap),
        }
        if let Plant::Overrun(block) = self.plant {
            bitmap[0] |= u64::from(edge.target.0 >= block) << 7;
        }
    }
    fn apply_first(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]) {
        if self.plant != Plant::Stale {
            bitmap.fill(0);
        }
        self.begin(edge.target, bitmap);
        self.apply(edge, stream, bitmap);
    }
    fn apply_frame(&self, edge: &Edge, frame: usize, words: &[u64], bitmap: &mut [u64]) {
        let frames = bitmap.len() / FRAME_WORDS;
        let other = usize::from(self.plant == Plant::OtherFrame);
        self.sound.apply_frame(edge, (frame + other) % frames, words, bitmap);
    }
    fn finish(&self, block: BlockId, bitmap: &mut [u64]) {
        let before = bitmap.to_vec();
        let words = bitmap_words(self.bits());
        let mut inner = self.game.layout.inner_moves().to_vec();
        match self.plant {
            Plant::InnerLess(number) => drop(inner.remove(number)),
            Plant::InnerMore => {
                // Two cells that no move takes together.
                let two = (0..self.bits()).flat_map(|one| (0..one).map(move |other| 1_u64 << one | 1 << other));
                inner.extend({ two }.find(|mask| !inner.contains(mask)));
                inner.sort_unstable();
            }
            _ => {}
        }
        match self.plant {
            Plant::InnerLess(_) | Plant::InnerMore => self.kernel.settle(&SettlePlan::new(self.bits(), &inner), bitmap),
            _ => self.sound.finish(block, bitmap),
        }
        let from_last = self.place_from_last(block);
        match self.plant {
            Plant::Unsettled(word) => bitmap[before.len() - 1 - word] = before[before.len() - 1 - word],
            Plant::Flipped(place, bit) if place == from_last => bitmap[(bit / 64) as usize] ^= 1 << (bit % 64),
            Plant::Cleared(place) if place == from_last => bitmap.fill(0),
            Plant::OtherNumber => {
                let last = bitmap.chunks(words).rposition(|plane| plane.iter().any(|word| *word != 0));
                let last = last.filter(|plane| *plane > 2).expect("a block has some numbers");
                bitmap.copy_within(last * words..(last + 1) * words, (last - 2) * words);
                bitmap[last * words..(last + 1) * words].fill(0);
            }
            _ => {}
        }
    }
}

/// Runs a solve with a fault on a disk; returns the message of the audit, if it stopped it.
fn run_on(disk: SimulatedStorage, game: &Game, terms: Terms, plant: Plant, options: &Options) -> Option<String> {
    let planted = Planted::new(game, terms, plant);
    match Run::new(&planted, Arc::new(disk)).options(options).start() {
        Ok(_) => None,
        Err(error @ Error::Audit { .. }) => Some(error.to_string()),
        Err(other) => panic!("{plant:?}: {other}"),
    }
}

/// Returns options for this many threads, with shared logs and some memory for held streams.
fn options(spec: SolveSpec<'_>, threads: usize, spare_bytes: u64) -> Options {
    let way = Way { placement: Placement::Shared, threads, ..Way::usual() };
    let words = spec.stream_words();
    let footprint = Footprint { auditors: spec.terms.audit.auditors(words), ..Footprint::new(words, way.placement) };
    Options { memory_bytes: footprint.bytes(threads) + spare_bytes, ..way.options(&spec.game.layout) }
}

/// Runs a solve with a fault; returns the message of the audit, if it stopped it.
fn run(game: &Game, terms: Terms, plant: Plant) -> Option<String> {
    run_on(SimulatedStorage::new(1), game, terms, plant, &options(terms.spec(game), 1, 64 << 20))
}

/// The same without memory for streams: each is read from its log or file.
fn run_reading(game: &Game, terms: Terms, plant: Plant) -> Option<String> {
    run_on(SimulatedStorage::new(1), game, terms, plant, &options(terms.spec(game), 1, 0))
}

/// A game whose blocks have several orientations, some of them blocks that are their own images.
fn oriented(rule: Rule) -> Game {
    let board = Board::triangle(5, None).unwrap();
    let layout = layout_with(&board, 6, 6).expect("five layers have a layout with all symmetries");
    Game { board, rule, layout }
}

/// A game with blocks of several frames: of seven layers, or of six if frames are small.
fn with_frames() -> Game {
    let bits = (64 * FRAME_WORDS).ilog2() + 3;
    let board = [6, 7].map(|layers| Board::triangle(layers, None).unwrap());
    let board = board.into_iter().find(|board| board.cells() > bits).expect("frames are as small");
    let layout = Layout::suggested(&board, bits);
    let game = Game { board, rule: Rule::Misere, layout };
    assert!(bitmap_words(game.layout.offset_bits()) / FRAME_WORDS > 1, "a stream is one frame");
    game
}

/// Every fault is caught, and nothing else is taken for one.
#[test]
fn each_fault_is_caught_by_the_audit_of_all_alone() {
    let plants = [
        Plant::Unapplied(0),
        Plant::Unapplied(1),
        Plant::Unapplied(2),
        Plant::Unapplied(3),
        Plant::Unapplied(4),
        Plant::Untraced,
        Plant::TurnedAs(1, 2),
        Plant::TurnedAs(2, 1),
        Plant::TurnedAs(3, 4),
        Plant::TurnedAs(4, 5),
        Plant::TurnedAs(3, 0),
        Plant::HalfTurned,
        Plant::WordLost,
        Plant::TooRestricted,
        Plant::WordOff,
        Plant::OneLess,
        Plant::OneMore,
        Plant::Overrun(0),
        Plant::Overrun(1),
        Plant::Stale,
        Plant::Previous,
        Plant::InnerLess(0),
        Plant::InnerLess(7),
        Plant::InnerMore,
        Plant::Unsettled(0),
        Plant::Unsettled(3),
        Plant::Flipped(0, 0),
        Plant::Flipped(1, 100),
        Plant::Flipped(9, 511),
        Plant::Cleared(0),
        Plant::Cleared(5),
        Plant::NoEdge(0),
        Plant::NoEdge(4),
        Plant::NoTrace,
        Plant::OtherOrientation,
        Plant::OtherSource,
        Plant::OtherRule,
    ];
    for rule in Rule::ALL {
        let game = oriented(rule);
        assert_eq!(run(&game, ALL, Plant::Sound), None, "{rule}");
        for plant in plants {
            assert!(run(&game, ALL, plant).is_some(), "{rule}, {plant:?}");
            assert_eq!(run(&game, PLAIN, plant), None, "{rule}, {plant:?}: seen without an audit");
        }
    }
}

/// The same of what happens to frames alone: one that is skipped although it is needed, and one
/// that is applied elsewhere.
#[test]
fn each_fault_of_frames_is_caught_by_the_audit_of_all_alone() {
    let game = with_frames();
    assert_eq!(run_reading(&game, ALL, Plant::Sound), None);
    for (plant, words) in [
        (Plant::Skipped(1), "not all of the stream of block "),
        (Plant::Skipped(2), "not all of the stream of block "),
        (Plant::OtherFrame, "contradict their children"),
    ] {
        let found = run_reading(&game, ALL, plant);
        assert!(found.as_ref().is_some_and(|found| found.contains(words)), "{plant:?}: {found:?}");
        assert_eq!(run_reading(&game, PLAIN, plant), None, "{plant:?}: seen without an audit");
    }
}

/// A stream passed if each of the words that were left out of it could be left out alone.
#[test]
fn a_stream_passed_if_nothing_that_was_left_out_is_needed() {
    let board = Board::triangle(5, None).unwrap();
    let layout = Layout::suggested(&board, 10);
    let game = Game { board, rule: Rule::Normal, layout };
    let solve = RemovalGame::new(ALL.spec(&game), Kernel::detect());
    let words = vec![0; solve.stream_words()];
    let mut later = 0;
    for target in BlockId::all(solve.blocks()) {
        let sources: BTreeSet<BlockId> = solve.edges_into(target).iter().map(|edge| edge.source).collect();
        for source in &sources {
            let passes = |skipped: &[usize]| {
                let skipped: Vec<Range<usize>> = skipped.iter().map(|at| *at..at + 1).collect();
                let mut auditor = solve.audit(target).unwrap().expect("an audit of all");
                for shown in &sources {
                    let skipped = if shown == source { &skipped[..] } else { &[] };
                    auditor.see(&SourceStream::new(*shown, &words, skipped), &mut words.clone());
                }
                let judged = auditor.judge(&words);
                !judged.is_err_and(|wrong| wrong.starts_with("not all of the stream of block "))
            };
            let alone: Vec<bool> = (0..words.len()).map(|at| passes(&[at])).collect();
            for (last, first) in (0..words.len()).flat_map(|last| (0..last).map(move |first| (last, first))) {
                let expected = alone[first] && alone[last];
                assert_eq!(passes(&[first, last]), expected, "{target}, {source} without {first} and {last}");
                later += u32::from(alone[first] && !alone[last]);
            }
        }
    }
    assert!(later > 5, "{later} streams miss something later");
}

/// A stream is compared with what its block had, frame by frame: what is computed from another one
/// agrees with it.
#[test]
fn another_bit_of_any_frame_of_a_stream_is_caught() {
    let game = with_frames();
    let [plain, all] = [PLAIN, ALL].map(|terms| Terms { keep: Keep::Database, ..terms });
    assert_eq!(run_reading(&game, all, Plant::Sound), None);
    for frame in 0..bitmap_words(game.layout.offset_bits()) / FRAME_WORDS {
        let found = run_reading(&game, all, Plant::Reread(frame));
        let expected = "the stream of block 0 is not the one that was compared when it was finished";
        assert!(found.as_ref().is_some_and(|found| found.ends_with(expected)), "{frame}: {found:?}");
    }
    assert_eq!(run_reading(&game, plain, Plant::Reread(0)), None);
}

/// Nimbers and distances are compared, too, and so is who wins.
#[test]
fn wrong_numbers_are_caught() {
    let kinds =
        [(Values::Nimbers, Rule::Normal), (Values::Remoteness, Rule::Normal), (Values::Remoteness, Rule::Misere)];
    for (values, rule) in kinds {
        let game = oriented(rule);
        let [plain, all] = [Audit::None, Audit::All].map(|audit| Terms { values, keep: Keep::Database, audit });
        assert_eq!(run(&game, all, Plant::Sound), None, "{values}, {rule}");
        for plant in [Plant::OtherNumber, Plant::Untraced, Plant::NoTrace, Plant::TurnedAs(1, 2)] {
            let found = run(&game, all, plant);
            let words = if plant == Plant::OtherNumber { "but by its children is " } else { "the audit of block " };
            assert!(
                found.as_ref().is_some_and(|found| found.contains(words)),
                "{values}, {rule}, {plant:?}: {found:?}"
            );
            assert_eq!(run(&game, plain, plant), None, "{values}, {rule}, {plant:?}: seen without an audit");
        }
    }
}

/// A share is compared as all are: what is wrong in a block of the share is caught, whoever
/// computes it and in whichever session, and the other blocks are not compared.
#[test]
fn the_blocks_of_a_share_are_compared() {
    let game = oriented(Rule::Misere);
    let share: BlockShare = "30%".parse().unwrap();
    let terms = Terms { audit: Audit::Share(share), ..PLAIN };
    let (spec, blocks) = (terms.spec(&game), game.layout.canonical_blocks().len() as u32);
    let chosen = share.choose(blocks, 1);
    assert!((2..blocks / 2).contains(&(chosen.len() as u32)));
    // A session that ends with its first commit.
    let begun = SimulatedStorage::new(1);
    let first = options(spec, 1, 0);
    let stop = |event: &Event| {
        if matches!(event, Event::Committed { .. }) {
            first.stop.store(true, Ordering::Relaxed);
        }
    };
    let sound = RemovalGame::new(spec, Kernel::detect());
    let first = Options { commit_interval: std::time::Duration::ZERO, ..first.clone() };
    let ended = Run::new(&sound, Arc::new(begun.clone())).options(&first).observer(&stop).start().err();
    assert!(matches!(ended, Some(Error::Interrupted)), "{ended:?}");
    let records = inspect(&begun).unwrap().records;
    assert!(records.len() < blocks as usize);
    for block in 0..blocks {
        let plant = Plant::Flipped(blocks - 1 - block, 77);
        for threads in [1, 3] {
            let found = run_on(SimulatedStorage::new(1), &game, terms, plant, &options(spec, threads, 0));
            assert_eq!(found.is_some(), chosen.contains(&block), "block {block}, {threads} threads: {found:?}");
            if records.iter().all(|record| record.block.0 != block) {
                let found = run_on(begun.kill(), &game, terms, plant, &options(spec, threads, 0));
                assert_eq!(found.is_some(), chosen.contains(&block), "block {block}, resumed: {found:?}");
            }
        }
    }
}

/// What a manifest claims of its audit was done: these blocks were judged in any session, and
/// they have so many positions.
#[test]
fn a_manifest_claims_the_blocks_that_were_judged() {
    for rule in Rule::ALL {
        let game = oriented(rule);
        let blocks = game.layout.canonical_blocks().len() as u64;
        for audit in ["all", "70%", "30%", "1e-9", "none"].map(|text| text.parse::<Audit>().unwrap()) {
            let terms = Terms { audit, ..PLAIN };
            let (spec, disk) = (terms.spec(&game), SimulatedStorage::new(1));
            let planted = Planted::new(&game, terms, Plant::Sound);
            let records = loop {
                // Each session ends with its first commit.
                let options = Options { commit_interval: std::time::Duration::ZERO, ..options(spec, 1, 0) };
                let stop = |event: &Event| {
                    options.stop.fetch_or(matches!(event, Event::Committed { .. }), Ordering::Relaxed);
                };
                match Run::new(&planted, Arc::new(disk.clone())).options(&options).observer(&stop).start() {
                    Ok(finished) => break finished.records,
                    Err(error) => assert!(matches!(error, Error::Interrupted), "{error}"),
                }
            };
            let manifest = Manifest::from_summaries(spec, records.values().map(|record| &record.summary)).unwrap();
            let judged = planted.judged.lock().unwrap().len() as u64;
            let claimed = manifest.audit.map(|audit| (audit.blocks.unwrap_or(blocks), audit.positions, audit.misses));
            let expected = (judged > 0).then_some((judged, judged << game.layout.offset_bits(), 0));
            assert_eq!(claimed, expected, "{rule}, {audit}");
            assert_eq!(judged, audit.of(blocks), "{rule}, {audit}");
        }
    }
}

/// What is oriented for one target is not what its block finished, and is not taken for it.
#[test]
fn an_audit_needs_shared_logs() {
    let game = oriented(Rule::Misere);
    let sound = RemovalGame::new(ALL.spec(&game), Kernel::detect());
    let options = Options { placement: Placement::Dedicated, ..options(ALL.spec(&game), 1, 0) };
    let refused = Run::new(&sound, Arc::new(SimulatedStorage::new(1))).options(&options).start().err().unwrap();
    assert!(refused.to_string().contains("an audit needs shared logs"), "{refused}");
}

/// The message names the position, its value and the reason.
#[test]
fn a_miss_names_the_position_and_the_reason() {
    let board = Board::triangle(2, None).unwrap();
    let layout = Layout::suggested(&board, 3);
    let game = Game { board, rule: Rule::Normal, layout };
    assert_eq!(
        run(&game, ALL, Plant::OtherRule).unwrap(),
        "the audit of block 0 failed: 1 positions contradict their children: 000000.blk: position 0/00 (offset 0) is \
         stored as a win, but the rule makes a position without a move a loss"
    );
}

/// Audited or not, in any layout and by any way, a solve has the same census and digest; the
/// manifest has the audit, and nothing else differs.
#[test]
fn an_audit_changes_nothing_else() {
    for (layers, bits) in [1, 4, 5].into_iter().flat_map(|layers| [7, 9, 15].map(|bits| (layers, bits))) {
        for rule in Rule::ALL {
            let board = Board::triangle(layers, None).unwrap();
            let layout = Layout::suggested(&board, bits);
            let game = Game { board, rule, layout };
            let way = Way { placement: Placement::Shared, spare_bytes: 1 << 20, ..Way::usual() };
            let solved = |way: Way, terms: Terms| {
                let folder = scratch();
                let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
                let options = way.options(&game.layout);
                solve(terms.spec(&game), way.kernel, &storage, &options, &Metrics::default(), &|_| {}).unwrap();
                let manifest = Database::open(folder.path()).unwrap().manifest().clone();
                (folder, manifest)
            };
            let plain = game.solve(Way::usual()).1.manifest;
            assert_eq!(plain.audit, None);
            let part = Audit::Share("40%".parse().unwrap());
            for (keep, audit) in
                [(Keep::Counts, Audit::All), (Keep::Database, Audit::All), (Keep::Counts, part), (Keep::Database, part)]
            {
                let (folder, found) = solved(way, Terms { audit, ..keep.into() });
                assert_eq!(found.audit, AuditResult::passed(audit, &game));
                assert_eq!((&found.digest, &found.census), (&plain.digest, &plain.census));
                if keep == Keep::Database {
                    assert_eq!(Manifest { audit: None, ..found }, plain);
                    // The same bytes from another number of threads, another memory and another
                    // codec.
                    let other = Way { threads: 1, codec: "raw", spare_bytes: 2 << 20, ..way };
                    let other = solved(other, Terms { audit, ..keep.into() }).0;
                    let [one, other] = [&folder, &other].map(|folder| database_files(folder.path()));
                    assert_same_files(&other, &one, "another way");
                }
            }
        }
    }
}
