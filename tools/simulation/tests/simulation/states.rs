//! States of failing disks, each taken to its end by the real engine: nothing wrong, nothing lost,
//! nothing stuck.
//!
//! The test command explores 60,000 states,
//! `TRINIM_TESTS=full cargo test --release -p simulation states::` 200,000, and
//! `cargo run --release -p simulation -- 5_000_000` as many as requested.

use simulation::explore::{Explorer, Failure};
use simulation::subject::Subject;
use simulation::sweep::Sweep;
use std::time::Duration;

#[test]
fn nothing_is_wrong_lost_or_stuck() {
    let (subjects, states) = (Subject::all(), Sweep::asked().number(60_000, 200_000));
    let threads = std::thread::available_parallelism().map_or(2, |threads| threads.get());
    let explorer = Explorer::new(&subjects, &Failure::ALL);
    let tally = explorer.explore(0, states, Duration::MAX, threads, &|_| ()).unwrap_or_else(|found| panic!("{found}"));
    println!("{tally:#?}");
    assert!(tally.states >= states);
    let least = tally.by_failure.into_iter().min().unwrap_or(0);
    assert!(least > states / 50, "a kind of failure is hardly explored");
    assert!(tally.repeated > states / 4 && tally.parallel > states / 4 && tally.small > states / 2);
    assert!(tally.refused > 0 && tally.lost > 0, "lies and corruption had no effect");
}

/// The number of its root repeats a history.
#[test]
fn a_root_is_repeatable() {
    let subjects = [Subject::synthetic(2, 40, 50)];
    for failure in Failure::ALL {
        let failures = [failure];
        let explore = || Explorer::new(&subjects, &failures).root(7).unwrap_or_else(|found| panic!("{found}"));
        let first = explore();
        assert!(first.states > 10, "{failure:?}");
        assert_eq!(first, explore(), "{failure:?}");
    }
}
