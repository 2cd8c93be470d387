//! Scoped threads.

use crate::world::{pause, spawn, wait_for_end, wake};
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// Spawns threads that can borrow values that outlive the scope.
pub struct Scope<'env> {
    shared: Rc<Shared>,
    env: PhantomData<Cell<&'env ()>>,
}

#[derive(Default)]
struct Shared {
    running: Cell<usize>,
    panicked: Cell<bool>,
}

impl Shared {
    fn key(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}

impl<'env> Scope<'env> {
    /// Starts a thread.
    pub fn spawn(&self, work: impl FnOnce() + 'env) {
        let shared = Rc::clone(&self.shared);
        shared.running.set(shared.running.get() + 1);
        spawn(move || {
            let panicked = catch_unwind(AssertUnwindSafe(work)).is_err();
            shared.panicked.set(shared.panicked.get() | panicked);
            shared.running.set(shared.running.get() - 1);
            wake(shared.key());
        });
        pause();
    }
}

/// Runs `body`, which can spawn threads, and returns once it and all threads have ended.
///
/// # Panics
/// Panics if the body or a thread panicked.
pub fn scope<'env, T>(body: impl FnOnce(&Scope<'env>) -> T) -> T {
    let scope = Scope { shared: Rc::default(), env: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    while scope.shared.running.get() > 0 {
        wait_for_end(scope.shared.key());
    }
    match result {
        Err(panic) => resume_unwind(panic),
        Ok(_) if scope.shared.panicked.get() => panic!("a scoped thread panicked"),
        Ok(value) => value,
    }
}
