//! The fuzz targets without a fuzzer: the committed corpora, random changes of them, and random
//! bytes.

use hostile::{TARGETS, target};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::fs;
use std::path::{Path, PathBuf};

/// Random inputs for each target.
const CASES: u32 = 1500;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus")
}

/// The inputs of a target: each line is one, in hexadecimal.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let path = folder().join(name).with_extension("hex");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    text.lines().map(|line| line.as_bytes().chunks(2).map(byte).collect()).collect()
}

#[test]
fn every_corpus_belongs_to_a_target_and_every_target_has_one() {
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name.strip_suffix(".hex").is_some_and(|name| target(name).is_some()), "{name}");
    }
    for (name, run) in TARGETS {
        let inputs = corpus(name);
        assert!(!inputs.is_empty(), "{name}");
        inputs.iter().for_each(|input| run(input));
    }
}

#[test]
fn changed_and_random_inputs_do_no_harm() {
    for (name, run) in TARGETS {
        let inputs = corpus(name);
        let hits = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
        let changed = (prop::sample::select(inputs), hits, any::<prop::sample::Index>(), 0..4u8);
        let changed = changed.prop_map(|(mut input, hits, cut, how)| {
            if input.is_empty() {
                return input;
            }
            for (at, value) in hits {
                *at.get_mut(&mut input) = value;
            }
            if how == 0 {
                let length = input.len();
                input.truncate(cut.index(length));
            }
            input
        });
        let random = proptest::collection::vec(any::<u8>(), 0..300);
        let cases = if name == "sums" { CASES / 5 } else { CASES };
        let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
        let input = prop_oneof![3 => changed, 1 => random];
        runner
            .run(&input, |input| {
                run(&input);
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
