//! Reads the parts of a listing on several threads and writes them in order.
//!
//! Worker `w` of `n` takes the parts `w`, `w + n`, `w + 2n` ... and sends their rows through its
//! own channel, which bounds the waiting rows. The writer reads the channels in turn, so the bytes
//! are the same for any number of threads.
//!
//! # Invariants
//! 1. An output has as many rows as its header says: their number is known before the first row.

use super::format::{Encoder, Row, Selection, number_of};
use super::sink::SinkWriter;
use parking_lot::Mutex;
use pipeline::parallel;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use trinim::cli::answers;
use trinim::cli::work::Counter;
use trinim::database::book::order::orbit_size;
use trinim::database::{Database, DatabaseError, Listing, listing};
use trinim::random::{Random, Sample};

const BUFFER_ROWS: usize = 1 << 16;
/// Number of buffers that can wait in a worker's channel: about a part of eight layers.
const WAITING: usize = 48;

/// Writes the rows of one export.
pub struct Rows<'a> {
    pub database: &'a Database,
    pub what: Selection,
    pub encoder: Encoder,
    pub threads: usize,
    pub sorted_max: u64,
    pub stop: &'a AtomicBool,
    /// Counts the parts that are read before anything is written.
    pub parts: &'a Counter,
    pub rows: &'a Counter,
}

/// A stop was requested.
#[derive(Debug, thiserror::Error)]
#[error("stopped")]
pub struct Stop;

/// A message of a worker to the writer.
enum Message {
    Rows(Vec<u8>, u64),
    EndOfPart,
    Failed(DatabaseError),
}

/// A worker's ends of its channels.
struct Buffers {
    sender: SyncSender<Message>,
    /// Used buffers: allocating new memory would cost more than filling it.
    used: Receiver<Vec<u8>>,
}

impl Buffers {
    fn next(&self) -> Vec<u8> {
        let mut buffer = self.used.try_recv().unwrap_or_default();
        buffer.clear();
        buffer
    }
}

impl Rows<'_> {
    /// Writes rows with these numbers of pieces, all or a sample of this size and seed. They come
    /// from a listing or, without one, from positions that are solved. Returns their number.
    pub fn write(
        &self,
        listing: Option<&Listing<'_>>,
        pieces: &RangeInclusive<u32>,
        sample: Option<(u64, u64)>,
        open: &mut SinkWriter<'_>,
    ) -> anyhow::Result<u64> {
        match (listing, sample) {
            (None, sample) => self.solved(pieces, sample.unwrap_or_default(), open),
            (Some(listing), Some((size, seed))) if self.what == Selection::Values => {
                let drawn = listing.sample_of_values(size, &mut Random::new(seed))?;
                let rows = drawn.iter().map(|(position, value)| (*position, number_of(*value)));
                self.write_all(rows, open)
            }
            (Some(listing), Some((size, seed))) => self.sample(listing, size, seed, open),
            (Some(listing), None) => self.all(listing, open),
        }
    }

    /// Writes all rows, sorted if there are not too many; returns their number.
    fn all(&self, listing: &Listing<'_>, open: &mut SinkWriter<'_>) -> anyhow::Result<u64> {
        let listed = if self.what == Selection::Values { listing.positions() } else { listing.losses() };
        if listed > self.sorted_max {
            return self.stream(listing, listed, open);
        }
        let rows = Mutex::new(Vec::new());
        self.each_part(listing, |part| {
            let mut own: Vec<Row> = Vec::new();
            self.each_row(listing, part, |row| {
                own.push(row);
                true
            })?;
            rows.lock().extend(own);
            Ok(())
        })?;
        let mut rows = rows.into_inner();
        let found = rows.len() as u64;
        if found != listed && self.what != Selection::Canonical {
            return Err(listing.contradiction(listed, found).into());
        }
        rows.sort_unstable();
        self.write_all(rows.into_iter(), open)
    }

    /// Passes the rows of a part on until `take` has enough; returns whether it took all.
    #[inline(always)]
    fn each_row(
        &self,
        listing: &Listing<'_>,
        part: usize,
        mut take: impl FnMut(Row) -> bool,
    ) -> Result<bool, DatabaseError> {
        Ok(match self.what {
            Selection::Losses => listing.losses_of(part)?.all(|position| take((position, 0))),
            Selection::Canonical => {
                listing.canonical_losses_of(part)?.all(|(position, size)| take((position, size.into())))
            }
            Selection::Values => listing.values_of(part)?.all(|(position, value)| take((position, number_of(value)))),
        })
    }

    fn begin(&self, rows: u64, open: &mut SinkWriter<'_>) -> anyhow::Result<()> {
        self.rows.set(0, rows);
        open.write(&self.encoder.header(rows))
    }

    /// Writes all rows in the order of the parts.
    fn stream(&self, listing: &Listing<'_>, listed: u64, open: &mut SinkWriter<'_>) -> anyhow::Result<u64> {
        let rows = if self.what == Selection::Canonical { self.count(listing)? } else { listed };
        self.begin(rows, open)?;
        let parts = listing.parts();
        let workers = self.threads.clamp(1, parts.max(1));
        let found = std::thread::scope(|scope| {
            let mut channels: Vec<(Receiver<Message>, Sender<Vec<u8>>)> = Vec::new();
            for worker in 0..workers {
                let ((sender, receiver), (giver, used)) = (sync_channel(WAITING), channel());
                channels.push((receiver, giver));
                let buffers = Buffers { sender, used };
                let work = move || self.work(listing, (worker..parts).step_by(workers), &buffers);
                let begun = std::thread::Builder::new().spawn_scoped(scope, work);
                begun.map_err(|source| pipeline::Error::Thread { source })?;
            }
            let mut found = 0;
            for part in 0..parts {
                let (receiver, giver) = &channels[part % workers];
                // A worker ends early only after a failure, or when its messages have no receiver.
                while let Ok(sent) = receiver.recv() {
                    if self.stop.load(Ordering::Relaxed) {
                        return Err(Stop.into());
                    }
                    match sent {
                        Message::Rows(bytes, number) => {
                            open.write(&bytes)?;
                            found += number;
                            self.rows.set(found.min(rows), rows);
                            // The worker may be done.
                            let _ = giver.send(bytes);
                        }
                        Message::EndOfPart => break,
                        Message::Failed(error) => return Err(error.into()),
                    }
                }
            }
            Ok::<u64, anyhow::Error>(found)
        })?;
        if found != rows {
            return Err(listing.contradiction(rows, found).into());
        }
        Ok(rows)
    }

    /// Sends the rows of parts until the writer ends.
    fn work(&self, listing: &Listing<'_>, parts: impl Iterator<Item = usize>, buffers: &Buffers) {
        for part in parts {
            let sent = match self.part(listing, part, buffers) {
                Ok(true) => Message::EndOfPart,
                Ok(false) => return,
                Err(error) => Message::Failed(error),
            };
            let is_last = matches!(sent, Message::Failed(_));
            if buffers.sender.send(sent).is_err() || is_last {
                return;
            }
        }
    }

    /// Sends the rows of a part in buffers; returns `false` if the writer has ended.
    fn part(&self, listing: &Listing<'_>, part: usize, buffers: &Buffers) -> Result<bool, DatabaseError> {
        let send = |rows: &mut Vec<Row>| {
            let mut bytes = buffers.next();
            self.encoder.append(rows, &mut bytes);
            let number = rows.len() as u64;
            rows.clear();
            buffers.sender.send(Message::Rows(bytes, number)).is_ok()
        };
        let mut rows = Vec::new();
        let is_sent = self.each_row(listing, part, |row| {
            rows.push(row);
            rows.len() < BUFFER_ROWS || send(&mut rows)
        })?;
        Ok(is_sent && (rows.is_empty() || send(&mut rows)))
    }

    /// Counts the classes of losses, because no list stores their number.
    fn count(&self, listing: &Listing<'_>) -> anyhow::Result<u64> {
        let found = AtomicU64::new(0);
        self.each_part(listing, |part| {
            let classes = listing.canonical_losses_of(part)?;
            found.fetch_add(classes.count() as u64, Ordering::Relaxed);
            Ok(())
        })?;
        Ok(found.into_inner())
    }

    /// Writes a sample of the losses; returns its size.
    fn sample(&self, listing: &Listing<'_>, size: u64, seed: u64, open: &mut SinkWriter<'_>) -> anyhow::Result<u64> {
        let sample = Mutex::new(Sample::new(size as usize, seed));
        self.each_part(listing, |part| {
            let mut own = sample.lock().like();
            self.each_row(listing, part, |(position, _)| {
                own.offer(position);
                true
            })?;
            sample.lock().merge(own);
            Ok(())
        })?;
        let board = self.database.board();
        let drawn = sample.into_inner().sorted();
        self.write_all(drawn.iter().map(|position| (*position, orbit_size(board, *position))), open)
    }

    /// Writes a sample of values that are not kept, solving its positions one after another;
    /// returns its size.
    fn solved(
        &self,
        pieces: &RangeInclusive<u32>,
        (size, seed): (u64, u64),
        open: &mut SinkWriter<'_>,
    ) -> anyhow::Result<u64> {
        let board = self.database.board();
        let mut solver = answers::in_memory(board, self.database.rule(), *pieces.end());
        let mut drawn = listing::drawn(board, pieces, size, &mut Random::new(seed));
        drawn.sort_unstable();
        let mut rows = Vec::with_capacity(drawn.len());
        for position in &drawn {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Stop.into());
            }
            let value = solver.value(*position).map_err(answers::unsolved)?;
            rows.push((*position, number_of(value)));
            self.parts.set(rows.len() as u64, drawn.len() as u64);
        }
        self.write_all(rows.into_iter(), open)
    }

    /// Reads all parts in any order.
    fn each_part(
        &self,
        listing: &Listing<'_>,
        read: impl Fn(usize) -> Result<(), DatabaseError> + Sync,
    ) -> anyhow::Result<()> {
        let (parts, done) = (listing.parts(), AtomicU64::new(0));
        let task = |(): &mut (), part: usize| {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Stop.into());
            }
            read(part)?;
            self.parts.set(done.fetch_add(1, Ordering::Relaxed) + 1, parts as u64);
            Ok::<(), anyhow::Error>(())
        };
        let read = parallel::for_each(self.threads, parts, || Ok(()), task);
        read.map_err(|mut errors| errors.swap_remove(0))
    }

    /// Writes rows, and returns their number.
    fn write_all(
        &self,
        mut rows: impl ExactSizeIterator<Item = Row>,
        open: &mut SinkWriter<'_>,
    ) -> anyhow::Result<u64> {
        let number = rows.len() as u64;
        self.begin(number, open)?;
        let (mut out, mut written) = (Vec::new(), 0);
        while written < number {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Stop.into());
            }
            let some: Vec<Row> = rows.by_ref().take(BUFFER_ROWS).collect();
            assert!(!some.is_empty(), "export, invariant 1: the header counts the rows");
            written += some.len() as u64;
            self.encoder.append(&some, &mut out);
            open.write(&out)?;
            out.clear();
        }
        assert!(rows.next().is_none(), "export, invariant 1: the header counts the rows");
        Ok(number)
    }
}
