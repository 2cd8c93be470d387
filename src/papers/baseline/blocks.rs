//! Block strategies on files (\[LWS09\] 4.1, \[SWLK12\] 3.1 and 3.2): a free worker takes any block
//! whose children are finished.
//!
//! A worker has the bitmap it settles, the one it loads, and, if symmetries are used, a third for
//! the loaded or settled bitmap in another orientation.
//!
//! # Invariants
//! 1. Pull: a block is stored once, when it is finished. Push: it is stored after every update and
//!    when it is finished.
//! 2. Waiting blocks can start once the block is stored (pull) or once all its targets are (push).

use super::scratch::Scratch;
use super::{Redundancy, Run};
use pipeline::parallel::for_each;
use pipeline::{Bitmap, BlockId, Edge, Error, Next, Schedule, Stage, Workload};
use trinim::database::Game;
use trinim::layout::Layout;
use trinim::solve::RemovalGame;

/// Solves by push, where a finished block updates its targets, or by pull, where a block is updated
/// from its children.
pub(super) fn solve(run: &Run<'_>, is_push: bool, redundancy: Redundancy, workers: usize) -> Result<(), Error> {
    let all_blocks;
    let (evaluated, order) = match redundancy {
        // In the order of the update logs, so that the same share of a board has the same edges.
        Redundancy::Remove => (run.game, run.game.layout.order()),
        // In ascending order, as in the papers, which is a topological order.
        Redundancy::Keep => {
            all_blocks = Game { layout: run.game.layout.without_symmetries(), ..run.game.clone() };
            (&all_blocks, all_blocks.layout.ordinals().collect())
        }
    };
    let layout = &evaluated.layout;
    let game = RemovalGame::new(evaluated, run.kernel).unpublished();
    let blocks = game.blocks();
    let sources = |target: BlockId| layout.edges_into(target).iter().map(|edge| edge.source).collect();
    let schedule = Schedule::from_graph(blocks, &order, &sources, |_| false)?;
    let scratch = Scratch::new(blocks, run.storage, run.metrics, run.counters);
    let session = Session { run, is_push, layout, game, schedule, scratch };
    let work = |(): &mut (), number| {
        let _guard = StopAtEnd(&session.schedule);
        let _lane = run.metrics.lane(|| format!("worker {}", number + 1));
        session.work()
    };
    for_each(workers, workers, || Ok(()), work).map_err(|mut failures| failures.swap_remove(0))
}

struct Session<'a> {
    run: &'a Run<'a>,
    is_push: bool,
    /// The layout; its canonical blocks are evaluated.
    layout: &'a Layout,
    game: RemovalGame<'a>,
    schedule: Schedule,
    scratch: Scratch<'a>,
}

struct Bitmaps {
    settled: Bitmap,
    loaded: Bitmap,
    /// Allocated at the first use of a symmetry.
    turned: Option<Bitmap>,
}

/// Stops the other workers when this one ends, also by an error or a panic: they would wait for it.
struct StopAtEnd<'a>(&'a Schedule);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Session<'_> {
    fn work(&self) -> Result<(), Error> {
        let words = self.game.stream_words();
        let mut bitmaps = Bitmaps { settled: Bitmap::zeroed(words)?, loaded: Bitmap::zeroed(words)?, turned: None };
        loop {
            self.run.go_on()?;
            match self.schedule.next() {
                Next::Over => return Ok(()),
                Next::Block(block) => {
                    match self.is_push {
                        true => self.push(block, &mut bitmaps)?,
                        false => self.pull(block, &mut bitmaps)?,
                    }
                    self.run.metrics.counters.blocks_computed.add(1);
                    self.schedule.written(block);
                }
                Next::Starved => {
                    let _time = self.run.metrics.enter(Stage::Idle);
                    self.schedule.wait();
                }
            }
        }
    }

    fn pull(&self, block: BlockId, bitmaps: &mut Bitmaps) -> Result<(), Error> {
        let Bitmaps { settled, loaded, turned } = bitmaps;
        self.begin(block, settled.words_mut());
        for edge in self.game.edges_into(block) {
            self.run.go_on()?;
            if !self.scratch.load(edge.source, loaded.words_mut())? {
                return Err(Error::workload(format!("block {} is needed before it is evaluated", edge.source)));
            }
            let losses = self.turned(edge.orientation, loaded.words(), turned)?;
            self.apply(&edge, losses, settled.words_mut());
        }
        self.finish(block, settled)
    }

    fn push(&self, block: BlockId, bitmaps: &mut Bitmaps) -> Result<(), Error> {
        let Bitmaps { settled, loaded, turned } = bitmaps;
        if !self.scratch.load(block, settled.words_mut())? {
            self.begin(block, settled.words_mut());
        }
        self.finish(block, settled)?;
        let mut edges = self.game.edges_from(block);
        // The updates of a target commute, so they are grouped by orientation and the bitmap is
        // oriented once for each.
        edges.sort_by_key(|edge| edge.orientation);
        for same in edges.chunk_by(|one, next| one.orientation == next.orientation) {
            let losses = self.turned(same[0].orientation, settled.words(), turned)?;
            for edge in same {
                self.run.go_on()?;
                self.scratch.update(edge.target, loaded.words_mut(), |was_stored, bitmap| {
                    if !was_stored {
                        self.begin(edge.target, bitmap);
                    }
                    self.apply(edge, losses, bitmap);
                })?;
            }
        }
        Ok(())
    }

    fn begin(&self, block: BlockId, bitmap: &mut [u64]) {
        bitmap.fill(0);
        self.game.begin(block, bitmap);
    }

    /// Settles a block, publishes it if it belongs to the database, and stores it.
    fn finish(&self, block: BlockId, settled: &mut Bitmap) -> Result<(), Error> {
        {
            let _time = self.run.metrics.enter(Stage::Settle);
            self.game.finish(block, settled.words_mut());
        }
        let bid = self.layout.bid(block);
        let database = &self.run.game.layout;
        let (ordinal, _) = database.canonical(bid);
        if database.bid(ordinal) == bid {
            self.run.publisher.publish(ordinal, settled.words())?;
        }
        let was_stored = self.scratch.store(block, settled.words())?;
        assert!(self.is_push || !was_stored, "blocks, invariant 1: pull stored block {block} before it was finished");
        Ok(())
    }

    fn turned<'b>(
        &self,
        orientation: u8,
        losses: &'b [u64],
        turned: &'b mut Option<Bitmap>,
    ) -> Result<&'b [u64], Error> {
        if orientation == 0 {
            return Ok(losses);
        }
        let bitmap = match turned {
            Some(bitmap) => bitmap,
            None => turned.insert(Bitmap::zeroed(losses.len())?),
        };
        let _time = self.run.metrics.enter(Stage::Orient);
        self.game.orient(orientation, 0, losses, bitmap.words_mut());
        Ok(bitmap.words())
    }

    fn apply(&self, edge: &Edge, losses: &[u64], bitmap: &mut [u64]) {
        let _time = self.run.metrics.enter(Stage::Apply);
        self.game.apply(edge, losses, bitmap);
        self.run.metrics.counters.edges_applied.add(1);
    }
}
