//! The threads of a session: starts them and waits for them.

use super::committer::Committer;
use super::session::{PanicGuard, Session};
use super::writer::{Message, Writer};
use super::{reader, worker};
use crate::error::Error;
use crate::sync::{self, bounded};

impl Session<'_> {
    /// Computes blocks until none is left or the session is over, and commits them.
    pub(super) fn run(&self, committer: Committer<'_>) -> Result<(), Error> {
        let (sender, messages) = bounded::<Message<'_>>(64);
        sync::scope(|scope| {
            let begun = sync::start(scope, move || {
                let _guard = PanicGuard(self);
                let _lane = self.metrics.lane(|| "writer".to_owned());
                let gather_bytes = self.thresholds.gather_bytes.min(self.queue.limit_bytes() / 2);
                self.guard(Writer::new(self, gather_bytes).serve(&messages));
                self.commits.end();
            });
            if let Err(error) = begun {
                self.guard(Err(error));
                return;
            }
            for number in 1..=self.workers {
                let sender = sender.clone();
                let (reader, serving) = reader::pair(self, number);
                let begun = sync::start(scope, move || {
                    let _guard = PanicGuard(self);
                    let _lane = self.metrics.lane(|| format!("reader {number}"));
                    serving.serve();
                });
                // A reader whose worker is not started ends with the worker's end of its channels.
                let begun = begun.and_then(|()| {
                    sync::start(scope, move || {
                        let _guard = PanicGuard(self);
                        let _lane = self.metrics.lane(|| format!("worker {number}"));
                        self.guard(worker::work(self, reader, sender));
                    })
                });
                // If the system refuses a thread, the others do its share.
                if let Err(error) = begun {
                    if number == 1 {
                        self.guard(Err(error));
                    }
                    break;
                }
            }
            drop(sender);
            let _guard = PanicGuard(self);
            let _lane = self.metrics.lane(|| "committer".to_owned());
            self.guard_commit(committer.serve());
        });
        self.failure.lock().take().map_or(Ok(()), Err)
    }
}
