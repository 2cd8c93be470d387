//! Mutexes and condition variables with the part of the interface of `parking_lot` that the engine
//! uses.

use crate::world::{pause, wait, wake};
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// A mutex.
#[derive(Default)]
pub struct Mutex<T> {
    inner: parking_lot::Mutex<T>,
}

/// Access to the value of a locked mutex.
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    /// Absent only during a wait.
    inner: Option<parking_lot::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    /// Wraps `value` in a mutex.
    pub fn new(value: T) -> Mutex<T> {
        Mutex { inner: parking_lot::Mutex::new(value) }
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Takes the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        pause();
        MutexGuard { mutex: self, inner: Some(self.acquire()) }
    }

    fn acquire(&self) -> parking_lot::MutexGuard<'_, T> {
        loop {
            if let Some(inner) = self.inner.try_lock() {
                return inner;
            }
            wait(self.key(), false);
        }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("held outside of a wait")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("held outside of a wait")
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.inner = None;
        wake(self.mutex.key());
    }
}

/// A condition variable.
#[derive(Default)]
pub struct Condvar {
    /// The address identifies waiters; zero-sized values would share one.
    _place: u8,
}

impl Condvar {
    /// Creates a condition variable.
    pub fn new() -> Condvar {
        Condvar::default()
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    fn wait_once<T>(&self, guard: &mut MutexGuard<'_, T>, timed: bool) -> bool {
        guard.inner = None;
        wake(guard.mutex.key());
        let timed_out = wait(self.key(), timed);
        guard.inner = Some(guard.mutex.acquire());
        timed_out
    }

    /// Releases the lock, waits for a notification, and takes the lock again.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_once(guard, false);
    }

    /// Waits while `condition` holds and the time has not run out.
    pub fn wait_while_for<T>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
        _limit: Duration,
    ) {
        while condition(guard) {
            if self.wait_once(guard, true) {
                return;
            }
        }
    }

    /// Wakes all waiting threads.
    pub fn notify_all(&self) {
        wake(self.key());
        pause();
    }
}
