//! Work without the GIL that Python can interrupt.

use crate::error::of_run;
use pipeline::Error;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time between two looks for a signal.
const LOOK: Duration = Duration::from_millis(20);

/// Runs `work` on another thread. Signals are looked for meanwhile, and `look` is called; the first
/// exception sets `stop`, and is returned once the work has ended. So is a refusal of the thread.
pub(crate) fn waiting<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    mut look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let ended = py.detach(|| {
        thread::scope(|scope| {
            let (sender, ended) = channel::<()>();
            let worker = thread::Builder::new().spawn_scoped(scope, move || {
                // Dropped at the end, also of a panic.
                let _sender = sender;
                work()
            });
            let worker = worker.map_err(|source| Error::Thread { source })?;
            let mut told = Ok(());
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if told.is_ok() {
                    told = Python::attach(|py| py.check_signals().and_then(|()| look(py)));
                    stop.fetch_or(told.is_err(), Ordering::Relaxed);
                }
            }
            Ok((told, worker.join().unwrap_or_else(|panic| resume_unwind(panic))))
        })
    });
    let (told, done) = ended.map_err(of_run)?;
    told.map(|()| done)
}
