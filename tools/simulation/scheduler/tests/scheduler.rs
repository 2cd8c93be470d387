//! The simulated threads are repeatable, find planted mistakes, and never hang.

use scheduler::{Condvar, Mutex, RecvTimeoutError, Timing, bounded, pause, run, scope};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Returns letters in the order in which three threads wrote them.
fn letters(seed: u64) -> String {
    run(Timing { seed }, || {
        let text = Mutex::new(String::new());
        scope(|scope| {
            for letter in ['a', 'b', 'c'] {
                let text = &text;
                scope.spawn(move || {
                    for _ in 0..3 {
                        text.lock().push(letter);
                    }
                });
            }
        });
        text.lock().clone()
    })
    .unwrap()
}

#[test]
fn one_seed_is_one_interleaving_and_many_are_many() {
    let texts: BTreeSet<String> = (0..500).map(letters).collect();
    assert!(texts.len() > 100, "{} interleavings", texts.len());
    assert!(texts.iter().all(|text| text.len() == 9));
    assert!((0..50).all(|seed| letters(seed) == letters(seed)));
}

#[test]
fn a_race_between_two_locks_is_found() {
    let wrong = (0..200).filter(|seed| {
        let sum = run(Timing { seed: *seed }, || {
            let counter = Mutex::new(0);
            scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        let seen = *counter.lock();
                        *counter.lock() = seen + 1;
                    });
                }
            });
            *counter.lock()
        });
        sum.unwrap() == 1
    });
    let wrong = wrong.count();
    assert!((10..190).contains(&wrong), "{wrong} of 200");
}

#[test]
fn a_deadlock_is_told_and_its_threads_unwind() {
    let dropped = AtomicU32::new(0);
    struct Count<'a>(&'a AtomicU32);
    impl Drop for Count<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let mut stuck = 0;
    for seed in 0..100 {
        let result = run(Timing { seed }, || {
            let (one, other) = (Mutex::new(()), Mutex::new(()));
            scope(|scope| {
                let (one, other) = (&one, &other);
                for (first, second) in [(one, other), (other, one)] {
                    let count = Count(&dropped);
                    scope.spawn(move || {
                        let _count = count;
                        let _first = first.lock();
                        let _second = second.lock();
                    });
                }
            });
        });
        stuck += u32::from(result.is_err());
    }
    assert!((5..95).contains(&stuck), "{stuck} of 100");
    assert_eq!(dropped.into_inner(), 200);
    // A wait that no thread ends.
    let forgotten = run(Timing { seed: 1 }, || {
        let (value, changed) = (Mutex::new(()), Condvar::new());
        changed.wait(&mut value.lock());
    });
    assert_eq!(forgotten.unwrap_err().threads, 1);
}

#[test]
fn a_wait_with_a_limit_ends_by_the_event_and_by_the_limit() {
    let mut ends = BTreeSet::new();
    for seed in 0..100 {
        let timed_out = run(Timing { seed }, || {
            let (done, changed) = (Mutex::new(false), Condvar::new());
            scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..30 {
                        pause();
                    }
                    *done.lock() = true;
                    changed.notify_all();
                });
                let mut guard = done.lock();
                changed.wait_while_for(&mut guard, |done| !*done, Duration::from_secs(1));
                !*guard
            })
        });
        ends.insert(timed_out.unwrap());
    }
    assert_eq!(ends.len(), 2);
}

#[test]
fn channels_keep_order_bounds_and_ends() {
    for seed in 0..200 {
        let received = run(Timing { seed }, || {
            let (sender, receiver) = bounded(2);
            scope(|scope| {
                for thread in 0..3 {
                    let sender = sender.clone();
                    scope.spawn(move || {
                        for number in 0..5 {
                            sender.send((thread, number)).unwrap();
                        }
                    });
                }
                drop(sender);
                let mut received = Vec::new();
                loop {
                    match receiver.recv_timeout(Duration::from_secs(1)) {
                        Ok(message) => received.push(message),
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return received,
                    }
                }
            })
        });
        let received = received.unwrap();
        assert_eq!(received.len(), 15);
        for thread in 0..3 {
            let numbers: Vec<i32> = received.iter().filter(|(from, _)| *from == thread).map(|(_, n)| *n).collect();
            assert_eq!(numbers, [0, 1, 2, 3, 4], "seed {seed}");
        }
        let gone = run(Timing { seed }, || {
            let (sender, receiver) = bounded(1);
            drop(receiver);
            sender.send(1).is_err()
        });
        assert!(gone.unwrap());
    }
}

#[test]
fn a_panic_in_a_thread_ends_the_scope_and_the_next_process_starts_clean() {
    for seed in 0..50 {
        let broken = catch_unwind(AssertUnwindSafe(|| {
            run(Timing { seed }, || {
                scope(|scope| {
                    scope.spawn(|| std::panic::resume_unwind(Box::new("on purpose")));
                    pause();
                });
            })
        }));
        assert!(broken.is_err());
        assert_eq!(letters(seed).len(), 9);
    }
}

#[test]
fn locks_work_outside_of_a_process_as_long_as_nobody_waits() {
    let value = Mutex::new(1);
    *value.lock() += 1;
    let (sender, receiver) = bounded(1);
    sender.send(*value.lock()).unwrap();
    assert_eq!(receiver.recv().unwrap(), 2);
}
