//! The memory budget of the queue. Workers lease from it everything that they send to the writer,
//! and the memory of an auditor if only few blocks have one.
//!
//! It does not count the workers' buffers, which stay for the whole run, and small allocations
//! (headers, indexes, channels), which the block graph bounds.
//!
//! # Invariants
//! 1. The sum of the live leases never exceeds the budget, with one exception: a single lease can
//!    be larger than the whole budget while nothing else is leased. Otherwise the worker with such
//!    a piece would wait for ever. An incompressible stream is larger than the smallest queue by
//!    its frame headers, and a published file can have any length.

use crate::sync::{Condvar, Mutex};

/// A counted amount of memory shared by several threads.
pub(super) struct Budget {
    limit_bytes: u64,
    usage: Mutex<Usage>,
    freed: Condvar,
}

#[derive(Default)]
struct Usage {
    leased_bytes: u64,
    peak_bytes: u64,
    closed: bool,
}

/// Part of a budget; returned when dropped.
pub(super) struct Lease<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    pub(super) fn new(limit_bytes: u64) -> Budget {
        Budget { limit_bytes, usage: Mutex::default(), freed: Condvar::new() }
    }

    pub(super) fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Leases `bytes` if they are free now.
    pub(super) fn try_lease(&self, bytes: u64) -> Option<Lease<'_>> {
        let mut usage = self.usage.lock();
        let free = usage.leased_bytes == 0 || usage.leased_bytes + bytes <= self.limit_bytes;
        (free && !usage.closed).then(|| self.take(&mut usage, bytes))
    }

    fn take(&self, usage: &mut Usage, bytes: u64) -> Lease<'_> {
        usage.leased_bytes += bytes;
        assert!(
            usage.leased_bytes <= self.limit_bytes.max(bytes),
            "budget, invariant 1: {} bytes are leased of {}, {bytes} of them now",
            usage.leased_bytes,
            self.limit_bytes
        );
        usage.peak_bytes = usage.peak_bytes.max(usage.leased_bytes);
        Lease { budget: self, bytes }
    }

    /// Waits until `bytes` are free and leases them. Returns `None` once the budget is closed.
    pub(super) fn lease(&self, bytes: u64) -> Option<Lease<'_>> {
        let mut usage = self.usage.lock();
        while !usage.closed && usage.leased_bytes > 0 && usage.leased_bytes + bytes > self.limit_bytes {
            self.freed.wait(&mut usage);
        }
        if usage.closed {
            return None;
        }
        Some(self.take(&mut usage, bytes))
    }

    /// Wakes every waiter and refuses further leases, because the run is given up.
    pub(super) fn close(&self) {
        self.usage.lock().closed = true;
        self.freed.notify_all();
    }

    /// Returns the highest sum of leases, in bytes, after the last lease has come back.
    pub(super) fn peak_bytes(&self) -> u64 {
        let usage = self.usage.lock();
        assert_eq!(usage.leased_bytes, 0, "budget, invariant 1: bytes that nothing holds are still leased");
        usage.peak_bytes
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.budget.usage.lock().leased_bytes -= self.bytes;
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_lease_waits_until_another_is_returned() {
        let budget = Budget::new(100);
        let first = budget.lease(70).unwrap();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| budget.lease(40).is_some());
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waiter.is_finished(), "40 of 100 bytes were given while 70 were leased");
            drop(first);
            assert!(waiter.join().unwrap());
        });
        assert_eq!(budget.peak_bytes(), 70);
    }

    #[test]
    fn a_lease_that_does_not_fit_now_is_not_given_now() {
        let budget = Budget::new(10);
        let first = budget.try_lease(25).expect("alone it may be larger");
        assert!(budget.try_lease(1).is_none());
        drop(first);
        let _second = budget.try_lease(6).unwrap();
        assert!(budget.try_lease(5).is_none() && budget.try_lease(4).is_some());
    }

    #[test]
    fn a_closed_budget_releases_its_waiters() {
        let budget = Budget::new(10);
        let _all = budget.lease(10).unwrap();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| budget.lease(1).is_none());
            std::thread::sleep(Duration::from_millis(10));
            budget.close();
            assert!(waiter.join().unwrap());
        });
    }

    #[test]
    fn a_lease_larger_than_the_budget_passes_alone() {
        let budget = Budget::new(10);
        assert!(budget.lease(25).is_some());
    }
}
