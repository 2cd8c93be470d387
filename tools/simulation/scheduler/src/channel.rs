//! Bounded channels with the part of the interface of `crossbeam_channel` that the engine uses.

use crate::world::{pause, wait, wake};
use crossbeam_channel::{RecvError, RecvTimeoutError, SendError};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

struct Shared<T> {
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    queue: VecDeque<T>,
    bound: usize,
    senders: usize,
    has_receiver: bool,
}

impl<T> Shared<T> {
    /// Returns the address that identifies waiting senders. Receivers of the same channel have
    /// another one.
    fn senders_key(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    fn receiver_key(&self) -> usize {
        std::ptr::from_ref(self) as usize + 1
    }
}

/// The sending end.
pub struct Sender<T>(Arc<Shared<T>>);

/// The receiving end.
pub struct Receiver<T>(Arc<Shared<T>>);

/// Creates a channel for up to `bound` messages.
pub fn bounded<T>(bound: usize) -> (Sender<T>, Receiver<T>) {
    let inner = Inner { queue: VecDeque::new(), bound, senders: 1, has_receiver: true };
    let shared = Arc::new(Shared { inner: Mutex::new(inner) });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl<T> Sender<T> {
    /// Waits for room and sends.
    ///
    /// # Errors
    /// [`SendError`] if the receiver has been dropped.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        pause();
        loop {
            let mut inner = self.0.inner.lock();
            if !inner.has_receiver {
                return Err(SendError(message));
            }
            if inner.queue.len() < inner.bound {
                inner.queue.push_back(message);
                drop(inner);
                wake(self.0.receiver_key());
                return Ok(());
            }
            drop(inner);
            wait(self.0.senders_key(), false);
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.inner.lock().senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.inner.lock().senders -= 1;
        wake(self.0.receiver_key());
    }
}

impl<T> Receiver<T> {
    fn receive(&self, timed: bool) -> Result<T, RecvTimeoutError> {
        pause();
        loop {
            let mut inner = self.0.inner.lock();
            if let Some(message) = inner.queue.pop_front() {
                drop(inner);
                wake(self.0.senders_key());
                return Ok(message);
            }
            if inner.senders == 0 {
                return Err(RecvTimeoutError::Disconnected);
            }
            drop(inner);
            if wait(self.0.receiver_key(), timed) {
                return Err(RecvTimeoutError::Timeout);
            }
        }
    }

    /// Waits for a message.
    ///
    /// # Errors
    /// [`RecvError`] if the channel is empty and all senders have been dropped.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.receive(false).map_err(|_| RecvError)
    }

    /// Waits for a message for a limited time, which the seed decides.
    ///
    /// # Errors
    /// [`RecvTimeoutError::Timeout`] if the time runs out, [`RecvTimeoutError::Disconnected`] if
    /// the channel is empty and all senders have been dropped.
    pub fn recv_timeout(&self, _limit: Duration) -> Result<T, RecvTimeoutError> {
        self.receive(true)
    }

    /// Returns whether no message waits.
    pub fn is_empty(&self) -> bool {
        pause();
        self.0.inner.lock().queue.is_empty()
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let left = {
            let mut inner = self.0.inner.lock();
            inner.has_receiver = false;
            std::mem::take(&mut inner.queue)
        };
        drop(left);
        wake(self.0.senders_key());
    }
}

impl<T> Iterator for &Receiver<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.recv().ok()
    }
}
