//! `trinim task --batch -` and `trinim task sweep --follow`: tasks on standard input, one a line.

use parking_lot::Mutex;
use pipeline::{Error, parallel};
use std::io::{BufRead, BufReader, Read};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use terminal::exit::{Exit, Refused};
use terminal::streams::PatientReader;
use trinim::game::text::bare;

const LINE_BYTES: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch {
    /// The given blocks.
    Blocks(Vec<u32>),
    /// The blocks of each line of standard input.
    Lines,
}

pub fn batch(text: &str) -> Result<Batch, String> {
    if text == "-" { Ok(Batch::Lines) } else { blocks(text).map(Batch::Blocks) }
}

fn blocks(text: &str) -> Result<Vec<u32>, String> {
    let block = |number: &str| {
        let expected = || format!("{number:?} is not the number of a block: expected a list like 4,5,6");
        number.trim().parse().map_err(|_| expected())
    };
    text.split(',').map(block).collect()
}

/// Passes each line's blocks to `compute`, up to `at_once` lines at the same time, until standard
/// input ends or there was no work for `idle`. After an error it takes no further line, and returns
/// once the lines at work are done.
pub fn each(
    idle: Option<Duration>,
    at_once: usize,
    compute: impl Fn(&[u32]) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    let (sender, lines) = mpsc::sync_channel(1);
    let waker = sender.clone();
    let read_all = move || {
        let mut input = BufReader::new(PatientReader);
        loop {
            let mut line = Vec::new();
            let read = input.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line);
            let is_last = !matches!(read, Ok(1..));
            // An error means that the receiver has ended.
            if sender.send(read.map(|_| line)).is_err() || is_last {
                return;
            }
        }
    };
    // This thread ends with the process: nothing else can wake it.
    thread::Builder::new().name("tasks".to_owned()).spawn(read_all).map_err(|error| Error::Thread { source: error })?;
    let lines = Mutex::new(lines);
    let (busy, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
    // One thread waits for a line, the others for the lock, so all of them notice the end.
    let next = || {
        let lines = lines.lock();
        while !ended.load(Ordering::Relaxed) {
            let received = match idle {
                Some(idle) => lines.recv_timeout(idle),
                None => lines.recv().map_err(RecvTimeoutError::from),
            };
            match received {
                Ok(line) => {
                    let line = line.map_err(|error| {
                        Refused::with(Exit::System, format!("cannot read standard input: {error}"), "")
                    })?;
                    if !line.is_empty() && !ended.load(Ordering::Relaxed) {
                        busy.fetch_add(1, Ordering::Relaxed);
                        return parse_line(&line).map(Some).map_err(anyhow::Error::from);
                    }
                }
                Err(_) if busy.load(Ordering::Relaxed) > 0 => continue,
                Err(_) => {}
            }
            ended.store(true, Ordering::Relaxed);
        }
        Ok(None)
    };
    let work = |(): &mut (), _| {
        let result = loop {
            match next().and_then(|blocks| blocks.map(|blocks| compute(&blocks)).transpose()) {
                Ok(Some(())) => busy.fetch_sub(1, Ordering::Relaxed),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
        };
        ended.store(true, Ordering::Relaxed);
        // Wakes a thread that waits for a line; if there is no room, a line is there to wake it.
        let _ = waker.try_send(Ok(Vec::new()));
        result
    };
    parallel::for_each(at_once, at_once, || Ok(()), work).map_err(|mut errors: Vec<_>| errors.swap_remove(0))
}

fn parse_line(line: &[u8]) -> Result<Vec<u32>, Refused> {
    let hint = "each line lists the blocks of a task, like 4 or 4,5,6";
    if line.len() as u64 == LINE_BYTES && !line.ends_with(b"\n") {
        return Err(Refused::new(format!("standard input: a line is longer than {LINE_BYTES} bytes"), hint));
    }
    let text = String::from_utf8_lossy(line);
    blocks(bare(&text)).map_err(|error| Refused::new(format!("standard input: {error}"), hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_lists_of_numbers() {
        assert_eq!(batch("-"), Ok(Batch::Lines));
        assert_eq!(batch("7"), Ok(Batch::Blocks(vec![7])));
        assert_eq!(parse_line(b"4,5, 6\r\n").unwrap(), [4, 5, 6]);
        for wrong in ["", "4,", "x", "-1", "4 5", "4294967296", "--"] {
            assert!(batch(wrong).unwrap_err().contains("is not the number of a block"), "{wrong}");
        }
        let long = vec![b'1'; LINE_BYTES as usize];
        assert!(parse_line(&long).unwrap_err().to_string().contains("longer than"));
    }
}
