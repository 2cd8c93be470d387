//! Subjects to run on the simulated disk: a synthetic workload with every kind of edge, and
//! Triangular Nim, solved and sealed as in the program.

#[path = "../../../pipeline/tests/engine/synthetic/mod.rs"]
pub mod synthetic;

use crate::omitting::{Omit, OmittingStorage};
use pipeline::{
    BlockId, Error, Event, Footprint, Metrics, Options, Placement, Run, RunId, Storage, Thresholds, Workload,
};
use scheduler::Timing;
use std::collections::BTreeMap;
use std::sync::Arc;
use synthetic::Synthetic;
use testing::SimulatedStorage;
use trinim::database::book::order::canonical;
use trinim::database::book::{BookHead, BookIndex, BookOrder};
use trinim::database::{BlockForm, Game, Keep, Manifest, Terms, block_file_name};
use trinim::game::{Rule, Value, reference};
use trinim::kernel::{Kernel, bitmap_words};
use trinim::solve::solve;

/// Files by name, relative to the run folder.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A workload with its expected result.
pub struct Subject {
    /// Name for messages.
    pub name: String,
    work: Work,
    /// Expected files of `db/` at the end.
    pub golden: Files,
    /// The rule that the storage leaves out.
    pub omit: Omit,
    /// Identity of a new run.
    pub run_id: RunId,
}

enum Work {
    Synthetic(Synthetic),
    Game(Box<Game>, Terms),
}

impl Subject {
    /// Lists the subjects of the exploration: the synthetic workload, sparse and dense, boards of
    /// two to four layers under both rules, and some of them solved only for counts or a book.
    pub fn all() -> Vec<Subject> {
        let games = [(2, 1), (3, 3), (4, 6)];
        let games = games.iter().flat_map(|(layers, bits)| Rule::ALL.map(|rule| Subject::game(*layers, rule, *bits)));
        let counts = [Subject::counts(3, Rule::Normal, 3), Subject::counts(4, Rule::Misere, 6)];
        let made_up = [
            Subject::publishing(3, 40, 50),
            Subject::synthetic(2, 40, 50),
            Subject::synthetic(3, 40, 50),
            Subject::synthetic(3, 24, 5),
        ];
        let books = [Subject::book(3, Rule::Misere, 3, 2), Subject::book(4, Rule::Normal, 6, 5)];
        made_up.into_iter().chain(games).chain(counts).chain(books).collect()
    }

    /// Builds the synthetic workload with streams of `words` words on `2^bits` blocks, and computes
    /// its result block by block in memory.
    pub fn synthetic(bits: u32, words: usize, density: u32) -> Subject {
        Subject::made_up(bits, words, density, false)
    }

    /// Builds the same workload, but targets read published files instead of shared logs.
    pub fn publishing(bits: u32, words: usize, density: u32) -> Subject {
        Subject::made_up(bits, words, density, true)
    }

    fn made_up(bits: u32, words: usize, density: u32, publishes: bool) -> Subject {
        let workload = Synthetic { bits, words, density, salt: 11, stop_after: None, publishes };
        let streams = workload.reference();
        let files = (0..).zip(&streams).filter_map(|(block, stream)| workload.publish(BlockId(block), stream));
        let golden = files.map(|file| (format!("db/{}", file.name), file.bytes)).collect();
        let name = format!(
            "synthetic workload, {} blocks of {words} words, density {density} %, publishes {publishes}",
            1 << bits
        );
        Subject { name, work: Work::Synthetic(workload), golden, omit: Omit::Nothing, run_id: RunId(7) }
    }

    /// Builds Triangular Nim in blocks of at most `2^offset_bits` positions. The expected result is
    /// that of a clean run, with each bit compared to the reference.
    ///
    /// # Panics
    /// Panics if the clean run is wrong.
    pub fn game(layers: u32, rule: Rule, offset_bits: u32) -> Subject {
        let subject = Subject::on(layers, rule, offset_bits, Terms::default());
        subject.compare_with_reference();
        subject
    }

    /// Builds Triangular Nim as [`Subject::game`], but without published blocks. The expected
    /// result is that of a clean run, with the counts compared to the reference.
    ///
    /// # Panics
    /// Panics if the clean run is wrong.
    pub fn counts(layers: u32, rule: Rule, offset_bits: u32) -> Subject {
        let subject = Subject::on(layers, rule, offset_bits, Keep::Counts.into());
        let Work::Game(game, ..) = &subject.work else { return subject };
        let text = String::from_utf8_lossy(&subject.golden["db/manifest.json"]).into_owned();
        let (manifest, _) = Manifest::parse("manifest.json".as_ref(), text.as_bytes()).expect("a clean manifest");
        let values = reference::values(game.board.cells(), game.board.moves(), rule);
        let losses = values.iter().filter(|value| value.is_loss()).count() as u64;
        assert_eq!((manifest.census.losses(), subject.golden.len()), (losses, 2), "{}", subject.name);
        for taken in game.board.moves() {
            let after = game.board.full() ^ taken;
            assert_eq!(manifest.value(&game.board, after), Some(values[after as usize]), "{}", subject.name);
        }
        subject
    }

    /// Builds Triangular Nim as [`Subject::counts`], with a book of the positions with at least
    /// `pieces` pieces, each of its values compared to the reference.
    ///
    /// # Panics
    /// Panics if the clean run is wrong.
    pub fn book(layers: u32, rule: Rule, offset_bits: u32, pieces: u32) -> Subject {
        let subject = Subject::on(layers, rule, offset_bits, Keep::Book { pieces }.into());
        let Work::Game(game, ..) = &subject.work else { return subject };
        let (head, order) = (BookHead::new(game, pieces, None), BookOrder::new(&game.board));
        let (path, file) = ("book".as_ref(), &subject.golden["db/book"]);
        let index = BookIndex::read(path, file, &head, &order).expect("a clean book");
        let losses = index.decode_in(path, 0, file).expect("a clean frame");
        let values = reference::values(game.board.cells(), game.board.moves(), rule);
        for (position, value) in (0..).zip(values).filter(|(position, _): &(u64, _)| position.count_ones() >= pieces) {
            let number = order.number(canonical(&game.board, position));
            assert_eq!(losses.contains(&number), value.is_loss(), "{}: {position:#x}", subject.name);
        }
        assert_eq!(subject.golden.len(), 3, "{}", subject.name);
        subject
    }

    fn on(layers: u32, rule: Rule, offset_bits: u32, terms: Terms) -> Subject {
        let keep = terms.keep;
        let game = Game::triangle(layers, rule, offset_bits).expect("a small board");
        let blocks = game.layout.canonical_blocks().len();
        let name = format!("{layers} layers, {rule}, {blocks} canonical blocks, {keep}");
        let work = Work::Game(Box::new(game), terms);
        let mut subject = Subject { name, work, golden: Files::new(), omit: Omit::Nothing, run_id: RunId(7) };
        let disk = SimulatedStorage::new(1);
        let options = subject.options(1, Placement::Dedicated, "raw");
        // Not through `session`, which runs subjects.
        let ended = scheduler::run(Timing { seed: 0 }, || subject.run(&disk, &options, &|_| {}));
        assert!(matches!(ended, Ok(Ok(()))), "{}: {ended:?}", subject.name);
        let db = disk.names().into_iter().filter(|name| name.starts_with("db/"));
        subject.golden = db.map(|name| (name.clone(), disk.contents(&name).unwrap_or_default())).collect();
        subject
    }

    fn compare_with_reference(&self) {
        let Work::Game(game, ..) = &self.work else { return };
        let Game { board, rule, layout } = &**game;
        let values = reference::values(board.cells(), board.moves(), *rule);
        let mut seen = 0;
        for (block, bid) in layout.ordinals().zip(layout.canonical_blocks()) {
            let stream = self.decode(block).expect("a block of a clean run");
            for offset in 0..1u64 << layout.offset_bits() {
                let value = Value::from_loss(stream[offset as usize / 64] >> (offset % 64) & 1 == 1);
                let position = layout.join(*bid, offset);
                assert_eq!(value, values[position as usize], "{}: {position:#x}", self.name);
                seen += 1;
            }
        }
        assert!(seen > 0 && self.golden.len() == layout.canonical_blocks().len() + 2, "{}", self.name);
    }

    fn decode(&self, block: BlockId) -> Option<Vec<u64>> {
        let Work::Game(game, terms) = &self.work else { return None };
        let name = block_file_name(block);
        let file = self.golden.get(&format!("db/{name}"))?;
        let form = BlockForm::new(terms.spec(game));
        let mut stream = vec![0; form.stream_words];
        form.read(name.as_ref(), block, file, &mut stream).ok()?;
        Some(stream)
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> u32 {
        match &self.work {
            Work::Synthetic(workload) => workload.blocks(),
            Work::Game(game, ..) => game.layout.canonical_blocks().len() as u32,
        }
    }

    /// Returns the options of a session. The interleaving decides the time between commits.
    pub fn options(&self, threads: usize, placement: Placement, codec: &str) -> Options {
        let words = match &self.work {
            Work::Synthetic(workload) => workload.stream_words(),
            Work::Game(game, ..) => bitmap_words(game.layout.offset_bits()),
        };
        Options {
            threads,
            memory_bytes: Footprint::new(words, placement).bytes(threads),
            placement,
            codec: pipeline::codec::by_name(codec).expect("the simulation names codecs that exist"),
            commit_interval: std::time::Duration::from_millis(1),
            thresholds: Some(Thresholds::LARGEST),
            run_id: self.run_id,
            stop: Arc::default(),
        }
    }

    /// Runs to the end, from the state of the disk.
    pub(crate) fn run(
        &self,
        disk: &SimulatedStorage,
        options: &Options,
        observer: &(dyn Fn(&Event) + Sync),
    ) -> Result<(), Error> {
        let storage: Arc<dyn Storage> = match self.omit {
            Omit::Nothing => Arc::new(disk.clone()),
            omit => Arc::new(OmittingStorage::new(disk.clone(), omit)),
        };
        let metrics = Metrics::default();
        match &self.work {
            Work::Synthetic(workload) => {
                Run::new(workload, storage).options(options).metrics(&metrics).observer(observer).start().map(|_| ())
            }
            Work::Game(game, terms) => {
                let spec = terms.spec(game);
                solve(spec, Kernel::detect(), &storage, options, &metrics, observer).map(|_| ())
            }
        }
    }
}
