//! Yardsticks: the speed of device and memory without the solver.
//!
//! Device: a file of random words in the bench's folder is written in pieces of [`PIECE_BYTES`] and
//! synced; the time includes the sync. Then `fadvise DONTNEED` drops its pages, which works because
//! they are synced, and the file is read in the same pieces. A cache below the system (the drive's
//! or a host's) can still speed up the read. The file takes at most a quarter of the free space.
//!
//! Memory: each thread sums its own buffer, which is far larger than its share of the caches, and
//! then copies one half of it onto the other. The best of [`PASSES`] passes counts, because other
//! load can only slow a pass down. The buffers take at most a quarter of the free memory.

use pipeline::parallel::check_threads;
use pipeline::storage::Create;
use pipeline::{Error, Stopwatch, Storage};
use rustix::fs::Advice;
use std::fs::File;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use terminal::exit::{Exit, Refused};
use trinim::cli::args::Size;
use trinim::cli::machine::memory_free_bytes;
use trinim_game::random::Random;
use trinim_papers::record::{DeviceSpeed, MemorySpeed};

/// Bytes of one read or write of the yardstick.
const PIECE_BYTES: usize = 4 << 20;
const FILE: &str = "yardstick";
const PASSES: usize = 5;
const BUFFER_BYTES: usize = 128 << 20;

fn rate(bytes: u64, watch: &Stopwatch) -> f64 {
    bytes as f64 / watch.elapsed().as_secs_f64().max(1e-9)
}

/// Measures the device of a folder below `--out` with a file of at most `bytes_at_most` bytes;
/// returns `None` if stopped.
pub fn device(storage: &dyn Storage, bytes_at_most: u64, stop: &AtomicBool) -> anyhow::Result<Option<DeviceSpeed>> {
    if bytes_at_most < PIECE_BYTES as u64 {
        let (given, least) = (Size(bytes_at_most), Size(PIECE_BYTES as u64));
        let message = format!("--yardstick {given} is too small: expected at least {least}");
        return Err(Refused::new(message, "skip it with --yardstick none").into());
    }
    let file_bytes = bytes_at_most.min(storage.free_bytes()? / 4) / PIECE_BYTES as u64 * PIECE_BYTES as u64;
    if file_bytes == 0 {
        let folder = storage.path("");
        let out = folder.parent().unwrap_or(&folder).display();
        let message = format!("--out {out} has too little free space to measure: expected at least 16 MiB");
        return Err(Refused::with(Exit::System, message, "free disk space, or skip it with --yardstick none").into());
    }
    let measured = measure(storage, file_bytes, stop);
    storage.remove(FILE)?;
    Ok(measured?)
}

fn measure(storage: &dyn Storage, file_bytes: u64, stop: &AtomicBool) -> Result<Option<DeviceSpeed>, Error> {
    let file = storage.create(FILE, Create::New)?;
    let stopped = || stop.load(Ordering::Relaxed);
    let mut words: Vec<u64> = (0..PIECE_BYTES as u64 / 8).map(mixed).collect();
    let offsets = || (0..file_bytes).step_by(PIECE_BYTES);

    let watch = Stopwatch::start();
    for offset in offsets() {
        if stopped() {
            return Ok(None);
        }
        // No two pieces are equal, because some file systems store equal ones once.
        words.iter_mut().step_by(512).for_each(|word| *word = mixed(*word));
        file.write_all_at(bytemuck::cast_slice(&words), offset)?;
    }
    file.sync()?;
    let write_bytes_per_second = rate(file_bytes, &watch);

    let path = storage.path(FILE);
    let cached = File::open(&path).map_err(|error| Error::io("open", &path, error))?;
    // If the system refuses, the read comes from memory.
    let _ = rustix::fs::fadvise(&cached, 0, None, Advice::DontNeed);
    let watch = Stopwatch::start();
    for offset in offsets() {
        if stopped() {
            return Ok(None);
        }
        file.read_exact_at(bytemuck::cast_slice_mut(&mut words), offset)?;
    }
    let read_bytes_per_second = rate(file_bytes, &watch);
    Ok(Some(DeviceSpeed { file_bytes, write_bytes_per_second, read_bytes_per_second }))
}

pub fn mixed(number: u64) -> u64 {
    Random::new(number).bits()
}

/// Measures the memory with all threads, each with a buffer of at most [`BUFFER_BYTES`].
///
/// # Errors
/// [`Error::Thread`].
pub fn memory() -> Result<MemorySpeed, Error> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    check_threads(threads)?;
    let share = usize::try_from(memory_free_bytes() / 4).unwrap_or(usize::MAX) / threads;
    let words = (BUFFER_BYTES.min(share) / 8).max(1 << 10);
    let bytes = (threads * words * 8) as u64;
    let mut buffers: Vec<Vec<u64>> = (0..threads).map(|_| vec![1; words]).collect();
    let read = best(&mut buffers, bytes, |buffer| {
        // Eight independent sums, so that no addition waits for the previous one.
        let mut sums = [0u64; 8];
        for words in buffer.as_chunks::<8>().0 {
            sums.iter_mut().zip(words).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
        }
        black_box(sums);
    });
    // One half of the buffer is read and the other half written, so all bytes count.
    let copy = best(&mut buffers, bytes, |buffer| {
        let (from, to) = buffer.split_at_mut(words / 2);
        to[..words / 2].copy_from_slice(from);
        black_box(to);
    });
    Ok(MemorySpeed { buffer_bytes: bytes, threads, read_bytes_per_second: read, copy_bytes_per_second: copy })
}

/// Returns the best of [`PASSES`] simultaneous passes of all threads, in bytes per second.
fn best(buffers: &mut [Vec<u64>], bytes: u64, pass: impl Fn(&mut [u64]) + Sync) -> f64 {
    let barrier = Barrier::new(buffers.len() + 1);
    let (barrier, pass) = (&barrier, &pass);
    std::thread::scope(|scope| {
        for buffer in buffers {
            scope.spawn(move || {
                for _ in 0..PASSES {
                    barrier.wait();
                    pass(buffer);
                    barrier.wait();
                }
            });
        }
        let passes = (0..PASSES).map(|_| {
            barrier.wait();
            let watch = Stopwatch::start();
            barrier.wait();
            rate(bytes, &watch)
        });
        passes.fold(0.0, f64::max)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::bench::machine::facts;
    use pipeline::{LimitedStorage, RealStorage};
    use std::sync::Arc;

    #[test]
    fn yardsticks_leave_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let storage = RealStorage::open(folder.path()).unwrap();
        let speed = device(&storage, 9 << 20, &AtomicBool::new(false)).unwrap().unwrap();
        assert_eq!(speed.file_bytes, 8 << 20);
        assert!(speed.write_bytes_per_second > 0.0 && speed.read_bytes_per_second > 0.0);
        assert_eq!(device(&storage, 9 << 20, &AtomicBool::new(true)).unwrap(), None);
        assert!(device(&storage, 1 << 20, &AtomicBool::new(false)).is_err());
        let full = LimitedStorage::new(Arc::new(storage), 15 << 20).unwrap();
        let refused: Refused = device(&full, 9 << 20, &AtomicBool::new(false)).unwrap_err().downcast().unwrap();
        let out = folder.path().parent().unwrap().display();
        assert_eq!(refused.exit, Exit::System);
        assert!(refused.to_string().starts_with(&format!("--out {out} has too little free space")), "{refused}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(facts(folder.path()).disk.is_some());
    }

    #[test]
    fn memory_is_measured_with_all_threads() {
        let speed = memory().unwrap();
        assert_eq!(speed.threads, std::thread::available_parallelism().unwrap().get());
        assert!(speed.read_bytes_per_second > 1e6 && speed.copy_bytes_per_second > 1e6);
    }
}
