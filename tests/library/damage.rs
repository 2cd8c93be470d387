//! Damage to a small database: after any change of a bit, a length or a file, each position gets
//! the right answer or an error that names the damaged file.
//!
//! The default run flips one bit of every byte and cuts to every seventh length. All 130,000 flips
//! and every length: `TRINIM_TESTS=full cargo test --release --test library damage`.

use crate::common::{Solving, Sweep, Way, database_files};
use pipeline::Storage;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use testing::{Fault, SimulatedStorage};
use trinim::database::{Database, DatabaseError, Game};
use trinim::game::Rule;
use trinim::game::Value;
use trinim::game::reference;

/// A database to damage, one file after the other, and the true values.
struct Victim {
    disk: SimulatedStorage,
    files: BTreeMap<String, Vec<u8>>,
    values: Vec<Value>,
}

/// Outcomes of damage, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outcomes {
    /// Every position answered correctly.
    right: u64,
    /// Some positions refused.
    refused: u64,
    /// Refused when opened.
    unopened: u64,
}

impl Outcomes {
    fn cases(&self) -> u64 {
        self.right + self.refused + self.unopened
    }
}

impl Victim {
    fn new(layers: u32, rule: Rule, offset_bits: u32) -> Victim {
        let game = Game::triangle(layers, rule, offset_bits).unwrap();
        let files = database_files(game.solve(Way::usual()).0.path());
        let values = reference::values(game.board.cells(), game.board.moves(), rule);
        let disk = SimulatedStorage::new(1);
        disk.create_dir("db").unwrap();
        for (name, bytes) in &files {
            disk.put(&format!("db/{name}"), bytes);
        }
        Victim { disk, files, values }
    }

    fn names(&self) -> Vec<String> {
        self.files.keys().cloned().collect()
    }

    /// Replaces or removes a file, looks every position up, and restores the file.
    fn case(&self, outcomes: &mut Outcomes, name: &str, bytes: Option<&[u8]>, story: &dyn Fn() -> String) {
        let path = format!("db/{name}");
        match bytes {
            Some(bytes) => self.disk.put(&path, bytes),
            None => self.disk.take(&path),
        }
        self.probe(outcomes, name, story);
        self.disk.put(&path, &self.files[name]);
    }

    fn probe(&self, outcomes: &mut Outcomes, name: &str, story: &dyn Fn() -> String) {
        let names = |path: &Path| path.file_name().is_some_and(|found| found == name);
        // Blocks carry a hash of the game in the manifest, so the error may name either.
        let is_named = |error: &DatabaseError| match error {
            DatabaseError::Corrupt { path, .. }
            | DatabaseError::Io { path, .. }
            | DatabaseError::Version { path, .. } => names(path) || name == "manifest.json",
            DatabaseError::Missing { .. } => name == "SUMS",
            _ => false,
        };
        let database = match open(&self.disk) {
            Ok(database) => database,
            Err(error) => {
                assert!(is_named(&error), "{}: {error}", story());
                outcomes.unopened += 1;
                return;
            }
        };
        let refusals = self.look_up(&database, story);
        assert!(refusals.iter().all(is_named), "{}: {refusals:?}", story());
        *(if refusals.is_empty() { &mut outcomes.right } else { &mut outcomes.refused }) += 1;
    }

    /// Looks every position up; answers that are given are right.
    fn look_up(&self, database: &Database, story: &dyn Fn() -> String) -> Vec<DatabaseError> {
        let mut refusals = Vec::new();
        // The manifest may be that of a smaller board.
        for (position, value) in (0..1 << database.board().cells()).zip(&self.values) {
            match database.value(position) {
                Ok(found) => assert_eq!(found, *value, "{}: {position:#x}", story()),
                Err(error) => refusals.push(error),
            }
        }
        refusals
    }

    /// Flips bits of every byte; of the manifest of a small board, which has no hash of its own,
    /// all.
    fn flips(&self, sweep: Sweep) -> Outcomes {
        let mut all = Outcomes::default();
        for (name, bytes) in &self.files {
            let mut bytes = bytes.clone();
            let mut outcomes = Outcomes::default();
            let sweep = if name == "manifest.json" && self.values.len() <= 64 { Sweep::Full } else { sweep };
            for at in 0..bytes.len() {
                for bit in sweep.bits(at) {
                    bytes[at] ^= 1 << bit;
                    self.case(&mut outcomes, name, Some(&bytes), &|| format!("{name}: bit {bit} of byte {at}"));
                    bytes[at] ^= 1 << bit;
                }
            }
            assert_eq!(outcomes.cases(), bytes.len() as u64 * sweep.number(1, 8), "{name}");
            assert!(outcomes.right == 0 || !name.ends_with(".blk"), "{name}: bytes that nothing checks");
            all.right += outcomes.right;
            all.refused += outcomes.refused;
            all.unopened += outcomes.unopened;
        }
        all
    }
}

fn open(disk: &SimulatedStorage) -> Result<Database, DatabaseError> {
    Database::open_on(Arc::new(disk.clone()), 1 << 20)
}

/// A call of the disk that fails, or gives other bytes, harms what it is for and nothing after it.
#[test]
fn every_call_of_the_disk_may_fail_once() {
    let victim = Victim::new(4, Rule::Normal, 6);
    let disk = victim.disk.kill();
    assert!(victim.look_up(&open(&disk).unwrap(), &|| "no fault".to_owned()).is_empty());
    let calls = disk.steps();
    assert!(calls > 20, "{calls} calls");
    for fault in [Fault::FailOnce, Fault::FlipRead, Fault::MisdirectRead, Fault::StaleRead] {
        let mut outcomes = Outcomes::default();
        for call in 1..=calls {
            let story = || format!("{fault:?} at call {call}");
            let disk = victim.disk.kill().with_fault(call, fault);
            let Ok(database) = open(&disk) else {
                outcomes.unopened += 1;
                assert!(victim.look_up(&open(&disk).unwrap(), &story).is_empty(), "{}", story());
                continue;
            };
            let refused = !victim.look_up(&database, &story).is_empty();
            *(if refused { &mut outcomes.refused } else { &mut outcomes.right }) += 1;
            // What a read made of the manifest stays until it is read again.
            let again = if fault == Fault::FailOnce { database } else { open(&disk).unwrap() };
            assert_eq!(victim.look_up(&again, &story).len(), 0, "{}", story());
        }
        println!("{fault:?}: {outcomes:?}");
        assert!(outcomes.refused > 0 && outcomes.unopened > 0, "{fault:?}: {outcomes:?}");
    }
}

fn flips_of(layers: u32, rule: Rule, offset_bits: u32, bytes_at_least: u64) {
    let (victim, sweep) = (Victim::new(layers, rule, offset_bits), Sweep::asked());
    let outcomes = victim.flips(sweep);
    println!("{layers} layers, {rule}, {sweep:?}: {} flips, {outcomes:?}", outcomes.cases());
    let bytes: usize = victim.files.values().map(Vec::len).sum();
    assert!(bytes as u64 >= bytes_at_least && outcomes.refused > 0 && outcomes.unopened > 500);
}

#[test]
fn flips_of_three_layers() {
    for rule in Rule::ALL {
        flips_of(3, rule, 3, 2_200);
    }
}

#[test]
fn flips_of_four_layers_misere() {
    flips_of(4, Rule::Misere, 6, 4_000);
    // One block, which has two frames where these are small.
    flips_of(4, Rule::Misere, 10, 1_500);
}

#[test]
fn flips_of_four_layers_normal() {
    flips_of(4, Rule::Normal, 6, 4_000);
}

#[test]
fn lengths_and_garbage_behind_the_end() {
    let (victim, sweep) = (Victim::new(4, Rule::Normal, 6), Sweep::asked());
    let mut outcomes = Outcomes::default();
    for (name, bytes) in &victim.files {
        let right = outcomes.right;
        for length in sweep.cuts(bytes.len()) {
            victim.case(&mut outcomes, name, Some(&bytes[..length]), &|| format!("{name}: {length} bytes"));
        }
        for more in [1, 8, 24, 64, 512, 4096, 1 << 20] {
            for byte in [0, 0xa5, b' '] {
                let longer = [&bytes[..], &vec![byte; more]].concat();
                victim.case(&mut outcomes, name, Some(&longer), &|| format!("{name}: {more} times {byte} appended"));
            }
        }
        assert!(outcomes.right == right || !name.ends_with(".blk"), "{name}: nothing refuses another length");
    }
    println!("{sweep:?}: {} lengths, {outcomes:?}", outcomes.cases());
    let least = sweep.number(200, 1000);
    assert!(outcomes.refused > least && outcomes.unopened > least);
}

/// Files of this and of other databases exchanged: another block, the other rule, another board,
/// another layout.
#[test]
fn swapped_foreign_and_missing_files() {
    let victim = Victim::new(4, Rule::Normal, 7);
    let others = [
        Victim::new(4, Rule::Normal, 7),
        Victim::new(4, Rule::Misere, 7),
        Victim::new(4, Rule::Normal, 6),
        Victim::new(3, Rule::Normal, 3),
    ];
    let mut outcomes = Outcomes::default();
    for name in victim.names() {
        let right = outcomes.right;
        victim.case(&mut outcomes, &name, None, &|| format!("{name} missing"));
        for (number, other) in others.iter().enumerate() {
            for (from, bytes) in &other.files {
                if bytes != &victim.files[&name] {
                    victim.case(&mut outcomes, &name, Some(bytes), &|| format!("{from} of {number} as {name}"));
                }
            }
        }
        assert!(outcomes.right == right || !name.ends_with(".blk"), "{name}: nothing refuses another file");
    }
    println!("{} foreign files, {outcomes:?}", outcomes.cases());
    assert!(outcomes.refused > 50 && outcomes.unopened > 10);
}
