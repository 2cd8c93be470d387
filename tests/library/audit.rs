//! The audit of a solve: it passes what is right, whatever the layout, the placement and the kills,
//! and it catches each kind of fault that the engine's hashes cannot see.

use crate::common::{Solving, Way, assert_same_files, database_files, layout_with, scratch};
use pipeline::codec::FRAME_WORDS;
use pipeline::storage::pass_on;
use pipeline::{
    Auditor, BlockId, Edge, Error, Footprint, Metrics, Options, Placement, Publication, RealStorage, Run, Workload,
};
use std::sync::Arc;
use testing::SimulatedStorage;
use trinim::database::{Audit, Database, Game, Keep, Manifest, Terms, Values};
use trinim::game::{Board, Rule};
use trinim::kernel::{Kernel, bitmap_words};
use trinim::layout::Layout;
use trinim::solve::{RemovalGame, solve};

/// Every position of a block, if it has not more than ten thousand.
const WHOLE: Audit = Audit { per_block: Audit::MOST, seed: 1 };

/// What is wrong with a mutant.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Nothing.
    None,
    /// The kernel that applies an edge does nothing from one trace on.
    Apply,
    /// The kernel that applies an edge marks one position too many.
    Overrun,
    /// The kernel that settles a block leaves its last word as it was.
    Settle,
    /// Streams are turned by another symmetry.
    Turn,
    /// The layout has no edge with the last operations.
    Edges,
    /// Restrictions exclude a cell more than the operations fill.
    Restriction,
    /// A target is given the stream of another block, the first one.
    Ledger,
    /// The empty position has the value of the other rule.
    Rule,
    /// The last plane of nimbers or distances that is not empty replaces an earlier one.
    Number,
}

/// A solve with a fault.
struct Mutant<'a> {
    game: &'a Game,
    sound: RemovalGame<'a>,
    fault: Fault,
}

impl<'a> Mutant<'a> {
    fn new(game: &'a Game, audit: Option<Audit>, fault: Fault) -> Mutant<'a> {
        Mutant::on(game, Terms { audit, ..Keep::Counts.into() }, fault)
    }

    fn on(game: &'a Game, terms: Terms, fault: Fault) -> Mutant<'a> {
        Mutant { game, sound: RemovalGame::new(terms.spec(game), Kernel::detect()), fault }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// The operations that a fault picks: those of the last trace.
    fn picked(&self, edge: &Edge) -> bool {
        let last = self.game.layout.traces().last().expect("there are several blocks");
        edge.operations[..] == last.operations[..]
    }

    /// Returns the edges into a block as the fault leaves them.
    fn left(&self, target: BlockId) -> Vec<Edge> {
        let mut edges = self.sound.edges_into(target);
        edges.retain(|edge| !(self.is(Fault::Edges) && self.picked(edge)));
        // No two edges may become equal.
        let is_first = |edge: &Edge| edge.source == BlockId(0);
        let picked = edges.iter().filter(|edge| self.picked(edge)).count();
        if self.is(Fault::Ledger) && picked == 1 && !edges.iter().any(is_first) {
            edges.iter_mut().filter(|edge| self.picked(edge)).for_each(|edge| edge.source = BlockId(0));
        }
        edges
    }
}

impl Workload for Mutant<'_> {
    pass_on! { self.sound =>
        fn parameters(&self) -> Vec<(String, String)>;
        fn blocks(&self) -> u32;
        fn order(&self) -> Vec<BlockId>;
        fn stream_words(&self) -> usize;
        fn orient(&self, orientation: u8, restriction: u64, stream: &[u64], oriented: &mut [u64]);
        fn audit(&self, block: BlockId) -> Result<Option<Box<dyn Auditor + '_>>, Error>;
        fn auditor_bytes(&self) -> u64;
        fn summarise(&self, block: BlockId, stream: &[u64]) -> Vec<u8>;
        fn publish(&self, block: BlockId, stream: &[u64]) -> Option<Publication>;
        fn owns(&self, name: &str) -> bool;
    }
    fn edges_into(&self, target: BlockId) -> Vec<Edge> {
        self.left(target)
    }
    fn edges_from(&self, source: BlockId) -> Vec<Edge> {
        match self.fault {
            Fault::Edges | Fault::Ledger => {
                let edges = BlockId::all(self.blocks()).flat_map(|target| self.left(target));
                edges.filter(|edge| edge.source == source).collect()
            }
            _ => self.sound.edges_from(source),
        }
    }
    fn begin(&self, block: BlockId, bitmap: &mut [u64]) {
        self.sound.begin(block, bitmap);
        if self.is(Fault::Rule) && block == BlockId(0) {
            bitmap[0] ^= 1;
        }
    }
    fn unneeded(&self, edge: &Edge) -> u64 {
        let unneeded = self.sound.unneeded(edge);
        let frame = FRAME_WORDS as u64;
        if self.is(Fault::Restriction) { unneeded | frame } else { unneeded }
    }
    fn turn(&self, edge: &Edge, stream: &[u64], oriented: &mut [u64]) {
        let other = match edge.orientation {
            1 if self.is(Fault::Turn) => 2,
            same => same,
        };
        self.sound.turn(&Edge { orientation: other, ..edge.clone() }, stream, oriented);
    }
    fn apply(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]) {
        if !(self.is(Fault::Apply) && self.picked(edge)) {
            self.sound.apply(edge, stream, bitmap);
        }
        if self.is(Fault::Overrun) {
            bitmap[0] |= 1 << 7;
        }
    }
    fn finish(&self, block: BlockId, bitmap: &mut [u64]) {
        let last = *bitmap.last().expect("a bitmap has words");
        self.sound.finish(block, bitmap);
        if self.is(Fault::Settle) {
            *bitmap.last_mut().expect("a bitmap has words") = last;
        }
        if self.is(Fault::Number) {
            let words = bitmap_words(self.game.layout.offset_bits());
            let last = bitmap.chunks(words).rposition(|plane| plane.iter().any(|word| *word != 0));
            let last = last.filter(|plane| *plane > 2).expect("a block has some numbers");
            bitmap.copy_within(last * words..(last + 1) * words, (last - 2) * words);
            bitmap[last * words..(last + 1) * words].fill(0);
        }
    }
}

/// Runs a mutant; returns the message of the audit, if it stopped the run.
fn run(mutant: Mutant<'_>, way: Way) -> Option<String> {
    let disk = Arc::new(SimulatedStorage::new(1));
    let options = way.options(&mutant.game.layout);
    match Run::new(&mutant, disk).options(&options).start() {
        Ok(_) => None,
        Err(error @ Error::Audit { .. }) => Some(error.to_string()),
        Err(other) => panic!("{:?}: {other}", mutant.fault),
    }
}

fn ways() -> [Way; 2] {
    [Placement::Shared, Placement::Dedicated].map(|placement| Way { placement, ..Way::usual() })
}

/// A game whose blocks have several orientations, some of them blocks that are their own images.
fn turned(rule: Rule) -> Game {
    let board = Board::triangle(5, None).unwrap();
    let layout = layout_with(&board, 6, 6).expect("five layers have a layout with all symmetries");
    Game { board, rule, layout }
}

/// Each fault is caught in both placements where it can be, and the same run passes without it.
#[test]
fn the_audit_catches_each_kind_of_fault() {
    use Fault::{Apply, Edges, Ledger, None, Overrun, Rule as Other, Settle, Turn};
    for rule in Rule::ALL {
        let game = turned(rule);
        for way in ways() {
            for fault in [None, Apply, Overrun, Settle, Turn, Edges, Ledger, Other] {
                let is_possible = match fault {
                    None => false,
                    // A target turns shared streams only.
                    Turn => way.placement == Placement::Shared,
                    _ => true,
                };
                let found = run(Mutant::new(&game, Some(WHOLE), fault), way);
                assert_eq!(found.is_some(), is_possible, "{rule}, {way:?}, {fault:?}: {found:?}");
                // Without an audit nothing is noticed.
                assert_eq!(run(Mutant::new(&game, Option::None, fault), way), Option::None);
            }
        }
    }
}

/// Nimbers and distances are compared, too, in both placements, and so is who wins.
#[test]
fn the_audit_catches_wrong_numbers() {
    use Fault::{Apply, Edges, None, Number, Turn};
    let kinds =
        [(Values::Nimbers, Rule::Normal), (Values::Remoteness, Rule::Normal), (Values::Remoteness, Rule::Misere)];
    for (values, rule) in kinds {
        let game = turned(rule);
        let words = values.planes(&game.board) * bitmap_words(game.layout.offset_bits());
        for placement in [Placement::Shared, Placement::Dedicated] {
            let run = |terms, fault| {
                let disk = Arc::new(SimulatedStorage::new(1));
                let memory_bytes = Footprint::new(words, placement).bytes(2) + (1 << 20);
                let options = Options { placement, threads: 2, memory_bytes, ..Options::default() };
                let ended = Run::new(&Mutant::on(&game, terms, fault), disk).options(&options).start().map(drop);
                ended.err().map(|error| error.to_string())
            };
            for fault in [None, Number, Apply, Edges, Turn] {
                let found = run(Terms { values, audit: Some(WHOLE), ..Terms::default() }, fault);
                let is_possible = fault != None && (fault != Turn || placement == Placement::Shared);
                assert_eq!(found.is_some(), is_possible, "{values}, {rule}, {placement:?}, {fault:?}: {found:?}");
                let named = |message: &String| message.contains("was computed as a ") || fault != Number;
                assert!(found.iter().all(named), "{found:?}");
                if placement == Placement::Shared {
                    let found = run(Terms { values, audit: Some(Audit::ALL), ..Terms::default() }, fault);
                    assert_eq!(found.is_some(), is_possible, "{values}, {rule}, all, {fault:?}: {found:?}");
                }
                assert_eq!(run(Terms { values, ..Terms::default() }, fault), Option::None);
            }
        }
    }
}

/// A frame that is skipped although an edge needs it has positions that no stream brought.
#[test]
fn the_audit_catches_a_frame_left_out() {
    // Blocks of four or eight frames: seven layers, or six if frames are small.
    let bits = (64 * FRAME_WORDS).ilog2() + 3;
    let board = [6, 7].map(|layers| Board::triangle(layers, None).unwrap());
    let board = board.into_iter().find(|board| board.cells() > bits).expect("frames are as small");
    let layout = Layout::suggested(&board, bits);
    assert!(layout.canonical_blocks().len() > 1 && layout.offset_bits() + 2 > bits);
    let game = Game { board, rule: Rule::Misere, layout };
    let audit = Some(Audit { per_block: 300, seed: 2 });
    let way = Way { placement: Placement::Shared, ..Way::usual() };
    assert_eq!(run(Mutant::new(&game, audit, Fault::None), way), None);
    let message = run(Mutant::new(&game, audit, Fault::Restriction), way).expect("the audit sees what is missing");
    assert!(message.contains("no stream brought the position ") || message.contains("was computed as"), "{message}");
}

/// The message names the position, both values and the reason.
#[test]
fn a_miss_names_the_position_and_both_values() {
    let board = Board::triangle(2, None).unwrap();
    let layout = Layout::suggested(&board, 3);
    let game = Game { board, rule: Rule::Normal, layout };
    let message = run(Mutant::new(&game, Some(WHOLE), Fault::Rule), Way::usual()).unwrap();
    assert_eq!(
        message,
        "the audit of block 0 failed: the position 0/00 was computed as a win, but is a loss: no move leads to a loss"
    );
}

/// Audited or not, in any layout and by any way, a solve has the same census and digest; the
/// manifest tells of the audit, and nothing else differs.
#[test]
fn an_audit_changes_nothing_else() {
    for layers in [1, 4, 5] {
        for rule in Rule::ALL {
            for bits in [7, 9, 15] {
                let board = Board::triangle(layers, None).unwrap();
                let layout = Layout::suggested(&board, bits);
                let game = Game { board, rule, layout };
                let plain = game.solve(Way::usual()).1.manifest;
                assert_eq!(plain.audit, None);
                let mut expected: Option<_> = None;
                let [shared, dedicated] = ways();
                let drawn = Audit { per_block: 40, seed: 3 };
                let cases = [
                    (dedicated, Keep::Counts, drawn),
                    (shared, Keep::Counts, Audit::ALL),
                    (shared, Keep::Database, Audit::ALL),
                    (shared, Keep::Database, drawn),
                ];
                for (way, keep, audit) in cases {
                    let folder = scratch();
                    let storage = RealStorage::create(folder.path()).unwrap().with_syncs(false);
                    let spec = Terms { audit: Some(audit), ..keep.into() }.spec(&game);
                    let options = way.options(&game.layout);
                    let storage: Arc<dyn pipeline::Storage> = Arc::new(storage);
                    solve(spec, way.kernel, &storage, &options, &Metrics::default(), &|_| {}).unwrap();
                    let found = Database::open(folder.path()).unwrap().manifest().clone();
                    let audited = found.audit.clone().expect("the solve was audited");
                    let size = 1 << game.layout.offset_bits();
                    let (per_block, compared, seed) =
                        if audit == drawn { (40, 40.min(size), 3) } else { (size, size, 0) };
                    assert_eq!(audited.positions, compared * game.layout.canonical_blocks().len() as u64);
                    assert_eq!((audited.per_block as u64, audited.seed, audited.misses), (per_block, seed, 0));
                    assert!(audited.audit(&game) == audit || (audit == drawn && size <= 40));
                    assert_eq!((&found.digest, &found.census), (&plain.digest, &plain.census));
                    if keep == Keep::Database {
                        assert_eq!(Manifest { audit: None, ..found.clone() }, plain);
                        expected = Some(database_files(folder.path()));
                    }
                }
                // The same bytes from another number of threads, another memory and another codec.
                let folder = scratch();
                let storage: Arc<dyn pipeline::Storage> =
                    Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
                let way = Way { threads: 1, codec: "raw", spare_bytes: 1 << 20, ..Way::usual() };
                let spec = Terms { audit: Some(Audit { per_block: 40, seed: 3 }), ..Terms::default() }.spec(&game);
                solve(spec, way.kernel, &storage, &way.options(&game.layout), &Metrics::default(), &|_| {}).unwrap();
                assert_same_files(&database_files(folder.path()), &expected.unwrap(), "another way");
            }
        }
    }
}
