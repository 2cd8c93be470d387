//! An audit of every position, by itself: faults planted in each part of a solve, on boards that a
//! test can afford. No other check of the solve or of the test looks at the values.

use crate::common::{Way, layout_with};
use parking_lot::Mutex;
use pipeline::codec::FRAME_WORDS;
use pipeline::storage::pass_on;
use pipeline::{Auditor, BlockId, Edge, Error, Placement, Publication, Run, Workload};
use std::sync::Arc;
use testing::SimulatedStorage;
use trinim::database::{Audit, Game, Keep, Terms, Values};
use trinim::game::{Board, Rule};
use trinim::kernel::{ApplyPlan, Kernel, SettlePlan};
use trinim::layout::Layout;
use trinim::solve::RemovalGame;

const PLAIN: Terms = Terms { values: Values::Outcomes, keep: Keep::Counts, audit: None };
const ALL: Terms = Terms { audit: Some(Audit::ALL), ..PLAIN };

/// A fault in a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Plant {
    /// None.
    Sound,
    /// The kernel does not apply edges of this orientation.
    Unapplied(u8),
    /// The kernel turns by the second symmetry in place of the first; by 0, it copies.
    TurnedAs(u8, u8),
    /// The kernel turns the first half only.
    HalfTurned,
    /// The kernel loses the first word of a turned stream that is not empty.
    WordLost,
    /// The kernel turns less than the operations of the edge need.
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
}

/// A solve with a fault.
struct Planted<'a> {
    game: &'a Game,
    sound: RemovalGame<'a>,
    kernel: Kernel,
    plant: Plant,
    before: Mutex<Vec<u64>>,
}

impl<'a> Planted<'a> {
    fn new(game: &'a Game, terms: Terms, plant: Plant) -> Planted<'a> {
        let kernel = Kernel::detect();
        let sound = RemovalGame::new(terms.spec(game), kernel);
        Planted { game, sound, kernel, plant, before: Mutex::default() }
    }

    fn bits(&self) -> u32 {
        self.game.layout.offset_bits()
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
        fn audit(&self, block: BlockId) -> Result<Option<Box<dyn Auditor + '_>>, Error>;
        fn auditor_bytes(&self) -> u64;
        fn summarise(&self, block: BlockId, stream: &[u64]) -> Vec<u8>;
        fn publish(&self, block: BlockId, stream: &[u64]) -> Option<Publication>;
        fn owns(&self, name: &str) -> bool;
    }
    fn edges_into(&self, target: BlockId) -> Vec<Edge> {
        let mut edges = self.sound.edges_into(target);
        let symmetries = self.game.layout.symmetries().len() as u8;
        match self.plant {
            Plant::NoEdge(number) if number < edges.len() => drop(edges.remove(number)),
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
    fn turn(&self, edge: &Edge, stream: &[u64], oriented: &mut [u64]) {
        match self.plant {
            Plant::TurnedAs(from, 0) if edge.orientation == from => return oriented.copy_from_slice(stream),
            Plant::TurnedAs(from, to) if edge.orientation == from => {
                return self.sound.turn(&Edge { orientation: to, ..edge.clone() }, stream, oriented);
            }
            Plant::TooRestricted => {
                let restriction = 1 << (self.bits() - 1) | edge.restriction;
                self.sound.orient(edge.orientation, restriction, stream, oriented);
                return;
            }
            _ => {}
        }
        self.sound.turn(edge, stream, oriented);
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
                let before = std::mem::replace(&mut *self.before.lock(), stream.to_vec());
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
        self.kernel.settle(&SettlePlan::new(self.bits(), &inner), bitmap);
        let from_last = self.place_from_last(block);
        match self.plant {
            Plant::Unsettled(word) => bitmap[before.len() - 1 - word] = before[before.len() - 1 - word],
            Plant::Flipped(place, bit) if place == from_last => bitmap[(bit / 64) as usize] ^= 1 << (bit % 64),
            Plant::Cleared(place) if place == from_last => bitmap.fill(0),
            _ => {}
        }
    }
}

/// Runs a solve with a fault; returns the message of the audit, if it stopped it.
fn run(game: &Game, terms: Terms, plant: Plant) -> Option<String> {
    let spare_bytes = 64 << 20;
    let way = Way { placement: Placement::Shared, threads: 1, spare_bytes, ..Way::usual() };
    let planted = Planted::new(game, terms, plant);
    match Run::new(&planted, Arc::new(SimulatedStorage::new(1))).options(&way.options(&game.layout)).start() {
        Ok(_) => None,
        Err(error @ Error::Audit { .. }) => Some(error.to_string()),
        Err(other) => panic!("{plant:?}: {other}"),
    }
}

/// Every fault is caught, and nothing else is taken for one.
#[test]
fn each_fault_is_caught_by_the_audit_of_all_alone() {
    let board = Board::triangle(5, None).unwrap();
    let layout = layout_with(&board, 6, 6).expect("five layers have a layout with all symmetries");
    let plants = [
        Plant::Unapplied(0),
        Plant::Unapplied(1),
        Plant::Unapplied(2),
        Plant::Unapplied(3),
        Plant::Unapplied(4),
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
        Plant::OtherOrientation,
        Plant::OtherSource,
        Plant::OtherRule,
    ];
    for rule in Rule::ALL {
        let game = Game { board: board.clone(), rule, layout: layout.clone() };
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
    // Blocks of four or eight frames: seven layers, or six if frames are small.
    let bits = (64 * FRAME_WORDS).ilog2() + 3;
    let board = [6, 7].map(|layers| Board::triangle(layers, None).unwrap());
    let board = board.into_iter().find(|board| board.cells() > bits).expect("frames are as small");
    let layout = Layout::suggested(&board, bits);
    let game = Game { board, rule: Rule::Misere, layout };
    assert_eq!(run(&game, ALL, Plant::Sound), None);
    for (plant, words) in [
        (Plant::Skipped(1), "not all of the stream of block "),
        (Plant::Skipped(2), "not all of the stream of block "),
        (Plant::OtherFrame, "contradict their children"),
    ] {
        let found = run(&game, ALL, plant);
        assert!(found.as_ref().is_some_and(|found| found.contains(words)), "{plant:?}: {found:?}");
        assert_eq!(run(&game, PLAIN, plant), None, "{plant:?}: seen without an audit");
    }
}
