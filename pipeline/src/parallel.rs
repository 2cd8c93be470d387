//! Runs one function on many tasks with several threads, until all are done or one fails.
#![expect(clippy::disallowed_methods, reason = "many tasks of one kind, in parallel")]

use crate::Error;
use crossbeam_channel::bounded;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Calls `task` once for each number below `tasks`, on up to `threads` threads including the
/// calling one. Each thread owns a `scratch`. Threads take numbers in ascending order, and none
/// after a failure.
///
/// # Errors
/// Returns all failures in order of time. Tasks that were running at the first failure can fail
/// too, and the first failure need not be the cause.
///
/// # Panics
/// Panics if a task panics.
pub fn for_each<S: Send, E: Send>(
    threads: usize,
    tasks: usize,
    scratch: impl Fn() -> Result<S, E> + Sync,
    task: impl Fn(&mut S, usize) -> Result<(), E> + Sync,
) -> Result<(), Vec<E>> {
    for_each_with(&Mutex::default(), threads, tasks, scratch, task)
}

/// Does the same with the scratches in `pool`, the last one first, and puts them back afterwards;
/// `scratch` makes the missing ones.
///
/// # Errors
/// Those of [`for_each`].
///
/// # Panics
/// Panics if a task panics.
pub fn for_each_with<S: Send, E: Send>(
    pool: &Mutex<Vec<S>>,
    threads: usize,
    tasks: usize,
    scratch: impl Fn() -> Result<S, E> + Sync,
    task: impl Fn(&mut S, usize) -> Result<(), E> + Sync,
) -> Result<(), Vec<E>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let failures = Mutex::new(Vec::new());
    let work_on = || -> Result<(), E> {
        let lent = pool.lock().pop();
        let mut scratch = lent.map_or_else(&scratch, Ok)?;
        let mut done = Ok(());
        while done.is_ok() && !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= tasks {
                break;
            }
            done = task(&mut scratch, index);
        }
        pool.lock().push(scratch);
        done
    };
    let work = || {
        if let Err(failure) = work_on() {
            failures.lock().push(failure);
            failed.store(true, Ordering::Relaxed);
        }
    };
    if tasks > 0 {
        thread::scope(|scope| {
            for _ in 1..threads.min(tasks) {
                // If the system refuses a thread, the others do its share.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }
    let failures = failures.into_inner();
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}

/// Checks that the system allows this many more threads, by starting them for a moment.
///
/// # Errors
/// [`Error::Thread`] if it refuses one.
pub fn check_threads(threads: usize) -> Result<(), Error> {
    let (opened, gate) = bounded::<()>(0);
    thread::scope(|scope| {
        let wait = || _ = gate.recv();
        let begun = (0..threads).try_for_each(|_| thread::Builder::new().spawn_scoped(scope, wait).map(drop));
        drop(opened);
        begun.map_err(|source| Error::Thread { source })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn threads_are_there_or_refused() {
        check_threads(0).unwrap();
        check_threads(20).unwrap();
    }

    #[test]
    fn every_task_is_done_once_on_any_number_of_threads() {
        for threads in [0, 1, 2, 7, 100] {
            for tasks in [0, 1, 2, 50] {
                let done = Mutex::new(Vec::new());
                let scratches = AtomicUsize::new(0);
                let scratch = || Ok::<usize, ()>(scratches.fetch_add(1, Ordering::Relaxed));
                let task = |_: &mut usize, index| {
                    done.lock().push(index);
                    Ok(())
                };
                for_each(threads, tasks, scratch, task).unwrap();
                let mut done = done.into_inner();
                done.sort_unstable();
                assert_eq!(done, (0..tasks).collect::<Vec<_>>(), "{threads} threads");
                assert!(scratches.into_inner() <= threads.max(1), "more memory than threads");
            }
        }
    }

    #[test]
    fn after_a_failure_nothing_is_begun() {
        for threads in [1, 4] {
            let begun = Mutex::new(BTreeSet::new());
            let task = |(): &mut (), index: usize| {
                begun.lock().insert(index);
                if index == 3 { Err(index) } else { Ok(()) }
            };
            assert_eq!(for_each(threads, 1 << 20, || Ok(()), task), Err(vec![3]));
            let begun = begun.into_inner();
            assert!(begun.len() < 1 << 20 && begun.contains(&0), "{} begun", begun.len());
        }
        let refused = for_each(3, 5, || Err("no memory"), |(): &mut (), _| Ok(())).unwrap_err();
        assert_eq!(refused[0], "no memory");
    }
}
