//! What the program carries of solved boards: the files are intact, the answers agree with each
//! other, and the commands find them.

use crate::common::program::{ends, json};
use crate::common::scratch;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use trinim::database::{BuiltIn, Database, DatabaseError, Keep};
use trinim::game::{Rule, Value};
use trinim::maintenance::{self, Depth, Request};
use trinim::play::session::Hint;
use trinim::play::{Answers, Level, Player, Session};
use trinim::random::Random;

/// The nine-layer board with all its pieces.
const FULL: &str = "0x1fffffffffff";

/// The files pass the check of any finished solve, and what is opened from the program is the same.
#[test]
fn what_is_built_in_is_intact() {
    assert_eq!(BuiltIn::all().len(), 2);
    for built_in in BuiltIn::all() {
        let folder = scratch();
        for (name, bytes) in built_in.files().unwrap() {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let report = maintenance::check(folder.path(), Depth::Full, &Request::on(1)).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);

        let (carried, read) = (Database::open_built_in(built_in).unwrap(), Database::open(folder.path()).unwrap());
        carried.check_manifest().unwrap();
        assert_eq!(carried.manifest(), read.manifest());
        assert_eq!((carried.board().layers(), carried.rule()), (Some(built_in.layers), built_in.rule));
        assert_eq!(carried.manifest().keep, Keep::Book { pieces: 37 });
        let books = [&carried, &read].map(|database| database.book().unwrap().unwrap());
        assert_eq!(books[0].losses(), books[1].losses());
        assert_eq!(books[0].file_bytes(), books[1].file_bytes());
        assert!(books[0].file_bytes() < 4 << 20);
        let audit = carried.manifest().audit.as_ref().unwrap();
        let (compared, misses) = match built_in.rule {
            Rule::Misere => (6_150_393_167_872, 0),
            Rule::Normal => (6_002_944, 0),
        };
        assert_eq!((audit.positions, audit.misses), (compared, misses));
        assert_eq!(audit.is_of_all(carried.game()), built_in.rule == Rule::Misere);
    }
}

/// What is built in has the bytes that are kept with the record of the solve.
#[test]
fn what_is_built_in_is_what_the_record_has() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (built_in, record) =
        (root.join("src/database/built_in/k9-misere"), root.join("benches/record/nine-layers/misere"));
    for name in ["SUMS", "manifest.json.zst"] {
        assert!(fs::read(built_in.join(name)).unwrap() == fs::read(record.join(name)).unwrap(), "{name}");
    }
    let read = |name| serde_json::from_slice::<serde_json::Value>(&fs::read(record.join(name)).unwrap()).unwrap();
    let database = Database::open_built_in(BuiltIn::find(9, Rule::Misere).unwrap()).unwrap();
    for report in [read("report.json"), read("stats.json")] {
        assert_eq!(report["digest"], database.manifest().digest.as_str());
        assert_eq!(report["losses"], database.manifest().census.losses());
        assert_eq!(report["audit"]["positions"], 6_150_393_167_872_u64);
    }
}

/// A position is a win iff a move leads to a loss: where all children are kept in both ways, else
/// in one.
#[test]
fn the_answers_agree_with_each_other() {
    for built_in in BuiltIn::all() {
        let database = Database::open_built_in(built_in).unwrap();
        let mut random = Random::new(9);
        let (mut whole, mut losses) = (0, 0);
        for _ in 0..3000 {
            let mut position = database.board().full();
            for _ in 0..random.below(6) {
                position &= !(1 << random.below(45));
            }
            let probe = database.probe(position).unwrap();
            let has_winning_move = probe.children.iter().any(|child| child.value.is_loss());
            if probe.moves_not_kept == 0 {
                assert_eq!(probe.value, Value::from_loss(!has_winning_move), "{position:#x}");
                whole += 1;
            } else if has_winning_move {
                assert_eq!(probe.value, Value::Win, "{position:#x}");
            }
            losses += u32::from(probe.value.is_loss());
            let image = database.board().symmetries()[1].apply(position);
            assert_eq!(database.value(image).unwrap(), probe.value);
        }
        assert!(whole > 300 && losses > 10, "{whole} {losses}");
        let error = database.value(1).unwrap_err();
        assert!(matches!(error, DatabaseError::NotKept { .. }), "{error}");
    }
}

/// `stats` and `probe` with `--layers`, and with the variable that other commands share.
#[test]
fn the_commands_find_what_is_built_in() {
    let folder = scratch();
    let path = folder.path();
    for (rule, built_in) in ["misere", "normal"].into_iter().zip(BuiltIn::all()) {
        let database = Database::open_built_in(built_in).unwrap();
        let stats = json(path, 0, &["stats", "--layers", "9", "--rule", rule, "--json"]);
        assert_eq!(stats["digest"], database.manifest().digest.as_str());
        assert_eq!((&stats["rule"], &stats["positions"]), (&rule.into(), &(1_u64 << 45).into()));
        let probe = json(path, 0, &["probe", "-k", "9", "--rule", rule, "--json", FULL]);
        assert_eq!(probe["value"], stats["start"]);
        let winning = probe["moves"].as_array().unwrap().iter().filter(|answer| answer["value"] == "loss").count();
        assert_eq!(winning, stats["winning_first_moves"].as_array().unwrap().len());
    }
    // What the book does not have is solved on the spot.
    let (out, _) = ends(path, 0, &["probe", "--layers", "9", "0x7", FULL, "--json"]);
    assert_eq!(out.lines().count(), 2);
    let (_, error) = ends(path, 2, &["stats", "--layers", "8"]);
    assert!(error.contains("are built in") && error.contains("trinim solve --layers 8"), "{error}");
    for command in ["stats", "probe"] {
        let (_, error) = ends(path, 2, &[command]);
        assert!(error.contains("DIR"), "{error}");
    }
}

#[test]
fn the_built_in_book_advises_at_nine_layers() {
    for rule in Rule::ALL {
        let answers: Arc<dyn Answers> = Arc::new(Database::open_built_in(BuiltIn::find(9, rule).unwrap()).unwrap());
        let mut session = Session::new(answers, u64::MAX >> 19, Player::Person);
        let Hint::Wins { soonest, later, distance: None } = session.hint().unwrap() else {
            panic!("nine layers are won, in how many moves is not known")
        };
        assert!(later.is_empty() && session.take(soonest[0]));
        // Of a lost position every move is known to lose, though no answer to it is known.
        let survey = session.survey().unwrap();
        assert_eq!((survey.value, survey.unknown()), (Some(Value::Loss), 0));
        let probe = session.answers().probe(session.stand().position).unwrap();
        assert!(probe.moves_not_kept == 0 && probe.children.len() == survey.moves.len());
        if survey.inferred > 0 {
            assert!(matches!(session.hint().unwrap(), Hint::Lost(None)));
        }
        assert_eq!(session.choose(Level::Perfect, 1).unwrap().unwrap().after, Some(Value::Win));
        session.set(0b1_0000_0111);
        assert!(matches!(session.hint().unwrap(), Hint::Unknown(moves) if moves > 3));
        assert_eq!(session.choose(Level::Perfect, 1).unwrap().unwrap().after, None);
    }
}
