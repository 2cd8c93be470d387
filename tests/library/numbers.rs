//! Nimbers and distances to the end: the definition, the sum rule, and nothing but right answers or
//! errors from damaged or lying folders.

use crate::common::{LARGEST, Sweep, Way, check, copy, database_files, layout_with, repair, scratch, tree};
use crate::ways;
use pipeline::Placement;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use trinim::database::{
    BlockForm, BlockSummary, Database, DatabaseError, Game, Manifest, SolveSpec, Sums, Terms, Values, block_file_name,
    stream_digest,
};
use trinim::game::{Board, Rule, Takes, reference};
use trinim::kernel::bitmap_words;
use trinim::layout::Layout;
use trinim::maintenance::Request;
use trinim::random::Random;
use trinim::verify::{self, Finding, verify};

/// What there are numbers of.
const KINDS: [(Values, Rule); 3] =
    [(Values::Nimbers, Rule::Normal), (Values::Remoteness, Rule::Normal), (Values::Remoteness, Rule::Misere)];

fn spec(game: &Game, values: Values) -> SolveSpec<'_> {
    Terms { values, ..Terms::default() }.spec(game)
}

/// Solves in a new folder.
pub fn solved(game: &Game, values: Values, way: Way) -> TempDir {
    ways::solved(game, &Terms { values, ..Terms::default() }, way)
}

fn game(layers: u32, rule: Rule, bits: u32) -> Game {
    Game::triangle(layers, rule, bits).unwrap()
}

/// The numbers of all positions by their definition.
fn definition(board: &Board, values: Values, rule: Rule) -> Vec<u8> {
    match values {
        Values::Remoteness => reference::distances(board.cells(), board.moves(), rule),
        _ => reference::nimbers(board.cells(), board.moves()),
    }
}

/// The number of a position in a database, which has no other.
fn number(database: &Database, position: u64) -> Result<Option<u32>, DatabaseError> {
    let [nimber, distance] = [database.nimber(position)?, database.distance(position)?];
    assert!(nimber.is_none() || distance.is_none());
    Ok(nimber.or(distance))
}

fn verified(folder: &Path, depth: verify::Depth) -> verify::Report {
    verify(&Database::open(folder).unwrap(), depth, &Request::on(2)).unwrap().unwrap()
}

/// Every number is that of the definition, every value the one that follows, in layouts of all
/// symmetries, of one block and of many, with every placement and number of threads; also where
/// moves end before the board is empty.
#[test]
fn numbers_are_those_of_the_definition() {
    let mut solves = 0;
    let triangles = [(1, None), (2, None), (3, None), (3, Some(1)), (4, None), (4, Some(2)), (5, None)];
    let triangles = triangles.map(|(layers, max_take)| Board::triangle(layers, max_take).unwrap());
    let others = ["cram:3x4", "rect:3x3", "hex:2"].map(|name| Board::named(name, Takes::ANY).unwrap());
    let triangles = triangles.into_iter().filter(|board| board.layers() < Some(LARGEST));
    for board in triangles.chain(others) {
        let cells = board.cells();
        let mut cuts = vec![Layout::suggested(&board, cells), Layout::suggested(&board, cells * 3 / 5)];
        if board.layers().is_some() {
            cuts.extend([1, 2, 3, 6].iter().filter_map(|kept| layout_with(&board, *kept, cells / 3)));
        }
        let ways = [
            (1, Placement::Shared, "rows-bytes"),
            (2, Placement::Dedicated, "rows-huffman"),
            (4, Placement::Shared, "raw"),
        ];
        for (values, rule) in KINDS {
            let numbers = definition(&board, values, rule);
            let outcomes = reference::values(cells, board.moves(), rule);
            let mut values_digest = None;
            for (place, layout) in cuts.iter().enumerate() {
                let (threads, placement, codec) = ways[place % 3];
                let game = Game { board: board.clone(), rule, layout: layout.clone() };
                let spare_bytes = 1 << (10 + 5 * (place % 3));
                let folder = solved(&game, values, Way { threads, placement, codec, spare_bytes, ..Way::usual() });
                let story = format!("{}, {values}, {rule}, {:?}", board.name(), game.layout.bid_cells());
                let database = Database::open(folder.path()).unwrap();
                let mut counted: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
                for (position, (found, outcome)) in (0..).zip(numbers.iter().zip(&outcomes)) {
                    let found = u32::from(*found);
                    assert_eq!(number(&database, position).unwrap(), Some(found), "{story}: {position:#x}");
                    assert_eq!(database.value(position).unwrap(), *outcome, "{story}: {position:#x}");
                    counted.entry(found).or_default()[usize::from(outcome.is_loss())] += 1;
                }
                let manifest = database.manifest();
                let of_values = manifest.values_digest(&game);
                assert_eq!(*values_digest.get_or_insert(of_values.clone()), of_values, "{story}");
                let nimbers = manifest.by_nimber.iter().flatten().map(|row| (row.nimber, row.positions));
                let distances = manifest.by_distance.iter().flatten();
                let distances = distances.map(|row| (row.distance, [row.wins, row.losses]));
                match values {
                    Values::Remoteness => assert!(counted.into_iter().eq(distances), "{story}"),
                    _ => assert!(
                        counted.iter().map(|(row, [wins, losses])| (*row, wins + losses)).eq(nimbers),
                        "{story}"
                    ),
                }
                let report = verified(folder.path(), verify::Depth::Full);
                assert!(report.is_clean() && report.positions == 1 << cells, "{story}: {:?}", report.findings);
                let part = verify::Depth::Sample { share: "30%".parse().unwrap(), seed: 2 };
                assert!(verified(folder.path(), part).is_clean(), "{story}");
                assert!(check(folder.path()).is_sound() && check(&folder.path().join("db")).is_sound(), "{story}");
                solves += 1;
            }
        }
    }
    assert!(solves > 100, "{solves}");
}

/// The losses, and the census, are those of a solve for wins and losses.
#[test]
fn the_first_plane_has_the_losses() {
    for (values, rule) in KINDS {
        let game = game(LARGEST, rule, LARGEST * (LARGEST + 1) / 3);
        let folder = solved(&game, values, Way { placement: Placement::Shared, ..Way::usual() });
        let numbers = Database::open(folder.path()).unwrap();
        let outcomes = crate::common::Solving::solve(&game, Way::usual());
        let outcomes = Database::open(outcomes.0.path()).unwrap();
        assert_eq!(numbers.manifest().census, outcomes.manifest().census);
        assert_ne!(numbers.manifest().digest, outcomes.manifest().digest);
        assert_eq!(number(&outcomes, game.board.full()).unwrap(), None);
        let definition = definition(&game.board, values, rule);
        for position in (0..1 << game.board.cells()).step_by(41) {
            assert_eq!(numbers.value(position).unwrap(), outcomes.value(position).unwrap(), "{position:#x}");
            let found = number(&numbers, position).unwrap();
            assert_eq!(found, Some(definition[position as usize].into()), "{position:#x}");
        }
    }
}

/// Two parts that no move touches together add up: the nimber is the XOR of those of the parts.
#[test]
fn parts_that_no_move_joins_add_up() {
    let game = game(6, Rule::Normal, 13);
    let folder = solved(&game, Values::Nimbers, Way { placement: Placement::Shared, ..Way::usual() });
    let database = Database::open(folder.path()).unwrap();
    let nimber = |position| database.nimber(position).unwrap().unwrap();
    let mut random = Random::new(11);
    let (mut sums, mut proper) = (0, 0);
    while sums < 3000 {
        let [some, others] = [random.bits(), random.bits()];
        let one = some & random.bits() & game.board.full();
        let other = others & game.board.full() & !one;
        let joined = |taken: &&u64| *taken & !(one | other) == 0 && *taken & one != 0 && *taken & other != 0;
        if game.board.moves().iter().any(|taken| joined(&taken)) {
            continue;
        }
        assert_eq!(nimber(one | other), nimber(one) ^ nimber(other), "{one:#x} and {other:#x}");
        sums += 1;
        proper += u32::from(nimber(one) > 0 && nimber(other) > 0);
    }
    assert!(proper > 1000, "{proper}");
    // The same numbers by the theorem, which the solver does not know.
    for _ in 0..300 {
        let position = random.bits() & random.bits() & game.board.full();
        assert_eq!(nimber(position), reference::grundy(game.board.moves(), position), "{position:#x}");
    }
}

/// A changed bit of a block is found by check and verify and gives no wrong answer, and repair
/// restores it, in the run and in the database alone.
#[test]
fn damage_is_found_and_repaired() {
    for (values, rule) in KINDS {
        damage_of(values, rule);
    }
}

fn damage_of(values: Values, rule: Rule) {
    let game = game(4, rule, 6);
    let numbers = definition(&game.board, values, rule);
    let sound = solved(&game, values, Way::usual());
    let golden = tree(sound.path());
    let expected = database_files(sound.path());
    let alone = scratch();
    copy(&sound.path().join("db"), alone.path());
    let mut cases = 0;
    for (name, bytes) in expected.iter().filter(|(name, _)| name.ends_with(".blk")) {
        let step = Sweep::asked().number((bytes.len() as u64 / 8).max(13), 13) as usize;
        for at in (0..bytes.len()).step_by(step) {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << (at % 8);
            for place in [sound.path().join("db"), alone.path().to_path_buf()] {
                let path = place.join(name);
                fs::write(&path, &bad).unwrap();
                let database = Database::open(&place).unwrap();
                for (position, expected) in (0..).zip(&numbers) {
                    match number(&database, position) {
                        Ok(found) => assert_eq!(found, Some(u32::from(*expected)), "{name}, byte {at}"),
                        Err(DatabaseError::Corrupt { .. } | DatabaseError::Version { .. }) => {}
                        Err(error) => panic!("{name}, byte {at}: {error}"),
                    }
                }
                assert!(!check(&place).is_sound(), "{name}, byte {at}");
                assert!(verified(&place, verify::Depth::Full).damaged, "{name}, byte {at}");
                let folder = if place == alone.path() { alone.path() } else { sound.path() };
                repair(folder).unwrap_or_else(|error| panic!("{name}, byte {at}: {error}"));
                assert!(fs::read(&path).unwrap() == *bytes, "{name}, byte {at}");
            }
            cases += 1;
        }
    }
    assert!(cases > 30, "{cases}");
    assert!(tree(&sound.path().join("db")).iter().all(|(path, bytes)| golden[path] == *bytes));
    // The lists come back from the blocks.
    for list in ["manifest.json", "SUMS"] {
        fs::write(alone.path().join(list), "damage").unwrap();
        assert!(!check(alone.path()).is_sound());
    }
    assert!(repair(alone.path()).is_err());
    fs::write(alone.path().join("manifest.json"), &expected["manifest.json"]).unwrap();
    repair(alone.path()).unwrap();
    assert!(fs::read(alone.path().join("SUMS")).unwrap() == expected["SUMS"]);
}

/// Sound files of wrong numbers: the verifier names the position, whatever lists and hashes say.
#[test]
fn wrong_numbers_are_refuted() {
    for (values, rule) in KINDS {
        refute(values, rule);
    }
}

fn refute(values: Values, rule: Rule) {
    let game = game(4, rule, 7);
    let words = bitmap_words(game.layout.offset_bits());
    let folder = solved(&game, values, Way::usual());
    let db = folder.path().join("db");
    let database = Database::open(folder.path()).unwrap();
    let spec = spec(&game, values);
    let ordinals = game.layout.ordinals();
    let streams: Vec<Vec<u64>> = ordinals
        .map(|block| {
            let mut stream = vec![0; spec.stream_words()];
            database.bitmap(block, &mut stream).unwrap();
            stream
        })
        .collect();
    let mut random = Random::new(5);
    for case in 0..200 {
        let mut lying = streams.clone();
        let ordinal = random.index(lying.len());
        let offset = random.below(1 << game.layout.offset_bits()) as usize;
        let (word, bit) = (offset / 64, 1_u64 << (offset % 64));
        let stream = &mut lying[ordinal];
        let (first, planes) = (values.first_number(), spec.planes());
        let has = |stream: &[u64], plane: usize| u64::from(stream[plane * words + word] & bit != 0) << plane;
        let follows = (0..planes).map(|plane| has(stream, plane)).sum::<u64>();
        let was = (follows >> first).trailing_zeros() as usize + first;
        let becomes = first + (was - first + 1 + random.index(planes - first - 1)) % (planes - first);
        // Another number in its place, another one beside it, or none; and a win that is a loss.
        if case % 3 != 1 {
            stream[was * words + word] ^= bit;
        }
        if case % 3 != 2 {
            stream[becomes * words + word] ^= bit;
        }
        if case % 10 == 9 {
            stream[word] ^= bit;
        }
        let stored = (0..planes).map(|plane| has(stream, plane)).sum::<u64>();
        if stored == follows {
            continue;
        }
        let summaries: Vec<BlockSummary> = lying.iter().map(|stream| summary(&game, stream)).collect();
        let manifest = Manifest::from_summaries(spec, summaries.iter().map(BlockSummary::to_bytes)).unwrap().to_json();
        fs::write(db.join("manifest.json"), &manifest).unwrap();
        let mut sums = String::new();
        for (block, stream) in game.layout.ordinals().zip(&lying) {
            let file = BlockForm::new(spec).file(block, stream);
            sums += &Sums::line(blake3::hash(&file), &block_file_name(block));
            fs::write(db.join(block_file_name(block)), file).unwrap();
        }
        sums += &Sums::line(blake3::hash(&manifest), "manifest.json");
        fs::write(db.join("SUMS"), sums).unwrap();
        let report = verified(&db, verify::Depth::Full);
        assert!(!report.damaged && report.differences > 0, "case {case}: {:?}", report.findings);
        let names = |finding: &Finding| match finding {
            Finding::Number { block, offset: at, stored: found, follows: right, .. } => {
                (*block as usize, *at as usize) == (ordinal, offset) && (*found, *right) == (stored, follows)
            }
            _ => false,
        };
        assert!(report.findings.iter().any(names), "case {case}: {:?}", report.findings);
    }
}

/// A row of the manifest for each number.
type Rows = Vec<serde_json::Value>;

/// Changes the rows of a manifest, in a folder whose list of checksums then has its hash.
fn miscount(db: &Path, sound: &serde_json::Value, name: &str, change: &dyn Fn(&mut Rows)) {
    let mut manifest = sound.clone();
    change(manifest[name].as_array_mut().unwrap());
    let mut bytes = serde_json::to_vec_pretty(&manifest).unwrap();
    bytes.push(b'\n');
    let sums = fs::read_to_string(db.join("SUMS")).unwrap();
    let lines = sums.lines().filter(|line| !line.ends_with("manifest.json")).map(|line| format!("{line}\n"));
    let sums: String = lines.chain([Sums::line(blake3::hash(&bytes), "manifest.json")]).collect();
    fs::write(db.join("manifest.json"), bytes).unwrap();
    fs::write(db.join("SUMS"), sums).unwrap();
}

/// A manifest that miscounts numbers: found by itself or by the blocks, or refused when opened.
#[test]
fn wrong_counts_are_found() {
    fn exchange(rows: &mut Rows, [one, two]: [usize; 2], key: &str) {
        let [first, second] = [one, two].map(|row| rows[row][key].clone());
        (rows[one][key], rows[two][key]) = (second, first);
    }
    fn add(rows: &mut Rows, row: usize, key: &str, more: i64) {
        rows[row][key] = (rows[row][key].as_i64().unwrap() + more).into();
    }
    type Change = &'static dyn Fn(&mut Rows);
    // What the blocks show, what the manifest alone shows, and what is refused when opened.
    let nimbers: (Change, Vec<Change>, Vec<Change>) = (
        &|rows| exchange(rows, [1, 2], "positions"),
        vec![
            &|rows| rows[3]["positions"] = 0.into(),
            &|rows| add(rows, 3, "positions", 1),
            &|rows| rows.truncate(4),
            &|rows| rows.clear(),
            &|rows| exchange(rows, [0, 1], "positions"),
        ],
        vec![&|rows| rows[3]["nimber"] = 4_000_000_000_u32.into(), &|rows| rows.swap(1, 2), &|rows| {
            *rows = vec![rows[0].clone(); 500]
        }],
    );
    let distances: (Change, Vec<Change>, Vec<Change>) = (
        &|rows| exchange(rows, [2, 4], "wins"),
        vec![
            &|rows| rows[3]["losses"] = 0.into(),
            &|rows| add(rows, 2, "wins", 1),
            &|rows| rows.truncate(4),
            &|rows| rows.clear(),
            // A loss in an even number of moves.
            &|rows| [("wins", -1), ("losses", 1)].iter().for_each(|(key, more)| add(rows, 2, key, *more)),
            // A loss too few for the census.
            &|rows| [(2, "wins", 1), (3, "losses", -1)].iter().for_each(|(row, key, more)| add(rows, *row, key, *more)),
        ],
        vec![&|rows| rows[3]["distance"] = 4_000_000_000_u32.into(), &|rows| rows.swap(1, 2), &|rows| {
            *rows = (0..500).map(|row| serde_json::json!({"distance": row, "wins": 1, "losses": 0})).collect()
        }],
    );
    let kinds = [(Values::Nimbers, Rule::Normal, "by_nimber", nimbers)];
    for (values, rule, name, (swap, telling, refused)) in
        kinds.into_iter().chain([(Values::Remoteness, Rule::Misere, "by_distance", distances)])
    {
        let folder = solved(&game(4, rule, 7), values, Way::usual());
        let db = folder.path().join("db");
        let manifest: serde_json::Value = serde_json::from_slice(&fs::read(db.join("manifest.json")).unwrap()).unwrap();
        miscount(&db, &manifest, name, swap);
        let report = verified(&db, verify::Depth::Full);
        assert!(!report.damaged && report.differences == 0, "{:?}", report.findings);
        let counts = report.findings.iter().filter(|finding| matches!(finding, Finding::Count { .. })).count();
        assert_eq!((counts, report.findings.len()), (2, 2), "{:?}", report.findings);
        for (place, change) in telling.into_iter().enumerate() {
            miscount(&db, &manifest, name, change);
            let checked = Database::open(&db).unwrap().check_manifest();
            assert!(matches!(checked, Err(DatabaseError::Corrupt { .. })), "{values}, {place}");
            assert!(!verified(&db, verify::Depth::Full).is_clean(), "{values}, {place}");
        }
        for (place, change) in refused.into_iter().enumerate() {
            miscount(&db, &manifest, name, change);
            assert!(matches!(Database::open(&db), Err(DatabaseError::Corrupt { .. })), "{values}, {place}");
        }
    }
}

fn summary(game: &Game, stream: &[u64]) -> BlockSummary {
    let words = bitmap_words(game.layout.offset_bits());
    let mut losses_by_pieces = vec![0; game.layout.offset_bits() as usize + 1];
    for offset in (0..1_usize << game.layout.offset_bits()).filter(|at| stream[at / 64] >> (at % 64) & 1 == 1) {
        losses_by_pieces[offset.count_ones() as usize] += 1;
    }
    let by_plane =
        stream.chunks(words).map(|plane| plane.iter().map(|word| u64::from(word.count_ones())).sum()).collect();
    let (digest, none) = (stream_digest(stream), Vec::new);
    BlockSummary { losses_by_pieces, digest, by_layers: none(), by_plane, after_first_moves: none() }
}
