//! libFuzzer drives the target that the environment variable `FUZZ_TARGET` names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

fn chosen() -> fn(&[u8]) {
    static CHOSEN: OnceLock<fn(&[u8])> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
        let names: Vec<&str> = hostile::TARGETS.iter().map(|(name, _)| *name).collect();
        hostile::target(&name)
            .unwrap_or_else(|| panic!("FUZZ_TARGET is {name:?}: expected one of {}", names.join(", ")))
    })
}

fuzz_target!(|bytes: &[u8]| chosen()(bytes));
