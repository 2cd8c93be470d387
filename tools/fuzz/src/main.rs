//! libFuzzer drives the target that the environment variable `FUZZ_TARGET` names, and counts what
//! it costs.
//!
//! Each basic block that runs, the standard library's inlined code included, is one step. An input
//! that takes more than [`STEPS_BASE`] and [`STEPS_PER_BYTE`] for each of its bytes is a finding:
//! a parser whose work grows with the square of the length exceeds that long before it is slow
//! enough for a timeout. `FUZZ_STEPS=1` prints the largest costs of a run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Steps that any input may take: a target also opens folders and builds boards that a few bytes
/// describe.
const STEPS_BASE: u64 = 2_000_000;
/// Further steps for each byte of an input.
const STEPS_PER_BYTE: u64 = 1_000;

/// Targets whose work follows from what is named, not from the length of the name.
const UNBOUNDED: [&str; 2] = ["game", "layout"];

static STEPS: AtomicU64 = AtomicU64::new(0);

/// Called by every instrumented basic block; LLVM instruments no function of this prefix.
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_trace_pc() {
    STEPS.fetch_add(1, Relaxed);
}

struct Target {
    name: String,
    run: fn(&[u8]),
    prints: bool,
    /// The largest share of the limit so far, in thousandths.
    dearest: AtomicU64,
}

fn chosen() -> &'static Target {
    static CHOSEN: OnceLock<Target> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
        let names: Vec<&str> = hostile::TARGETS.iter().map(|(name, _)| *name).collect();
        let run = hostile::target(&name)
            .unwrap_or_else(|| panic!("FUZZ_TARGET is {name:?}: expected one of {}", names.join(", ")));
        let prints = std::env::var_os("FUZZ_STEPS").is_some();
        Target { name, run, prints, dearest: AtomicU64::new(0) }
    })
}

fuzz_target!(|bytes: &[u8]| {
    let Target { name, run, prints, dearest } = chosen();
    STEPS.store(0, Relaxed);
    run(bytes);
    let steps = STEPS.load(Relaxed);
    let limit = STEPS_BASE + STEPS_PER_BYTE * bytes.len() as u64;
    let share = 1000 * steps / limit;
    if *prints && dearest.fetch_max(share, Relaxed) < share {
        println!("{name}: {steps} steps for {} bytes, {share} thousandths of the limit", bytes.len());
    }
    let is_bounded = !UNBOUNDED.contains(&name.as_str());
    assert!(steps <= limit || !is_bounded, "{steps} steps for {} bytes: the limit is {limit}", bytes.len());
});
