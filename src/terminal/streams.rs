//! Standard output, which can wait for its reader, and standard error, which must not.
//!
//! Lines for people are queued and written by a thread, so that a stalled log driver, a pager or
//! Ctrl-S holds up only that thread. Data is written to standard output by the thread that made it.
//! While the reader does not read, that thread looks for signals and the time limit.
//!
//! # Invariants
//! 1. No thread waits for a reader of standard error for more than a moment. After a wait in vain,
//!    none waits until the reader reads again. The newest unread texts are kept.
//! 2. While the reader reads, both streams have the order in which they were written.
//! 3. A text for people is one line on the terminal: control characters of names in it, and in a
//!    table, are escaped as in a string of Rust, and only the program's own colours stay.

use parking_lot::{Condvar, Mutex};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::{Errno, fcntl_getfd};
use std::collections::VecDeque;
use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Stdout, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Number of texts that can wait for a reader of standard error.
const TEXTS: usize = 256;
/// How long a text waits to be written, unless the reader is known not to read.
const MOMENT: Duration = Duration::from_millis(100);
/// How long the program waits at its end for the last texts, and how many times while the reader
/// reads.
const LAST_MOMENT: Duration = Duration::from_millis(500);
const LAST_MOMENTS: usize = 20;
/// Interval at which a signal is looked for while standard output waits for its reader.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// Bytes that a pipe takes at once if it takes any: a page.
const PIPE_BYTES: usize = 4096;
/// The codes of the colours, after the escape character.
const COLOURS: [&str; 5] = ["[1;32m", "[1;31m", "[1;33m", "[2m", "[0m"];

/// Texts on their way to standard error.
struct Queue {
    texts: VecDeque<String>,
    has_writer: bool,
    is_writing: bool,
    /// Whether a wait has been in vain since the last text was written.
    is_stalled: bool,
}

impl Queue {
    fn is_done(&self) -> bool {
        self.texts.is_empty() && !self.is_writing
    }
}

static QUEUE: Mutex<Queue> =
    Mutex::new(Queue { texts: VecDeque::new(), has_writer: false, is_writing: false, is_stalled: false });
static CHANGED: Condvar = Condvar::new();
/// Whether texts on standard error have colours.
static IS_COLOURED: AtomicBool = AtomicBool::new(false);

/// Sets whether colours stay in the texts on standard error.
pub fn colour_errors(is_coloured: bool) {
    IS_COLOURED.store(is_coloured, Ordering::Relaxed);
}

/// The check for a request to stop while a reader does not read.
static STOP_CHECK: OnceLock<fn() -> io::Result<()>> = OnceLock::new();

/// Sets the check that a waiting writer calls, and with whose error it ends. The first call counts.
pub fn check_stops_with(check: fn() -> io::Result<()>) {
    let _ = STOP_CHECK.set(check);
}

fn check_stop() -> io::Result<()> {
    STOP_CHECK.get().map_or(Ok(()), |check| check())
}

/// Returns whether this process began with a signal ignored, as under `nohup` or behind `&` in a
/// script: a handler would end a command that is meant to continue.
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Returns the program's name and arguments, escaped for display.
pub fn shown_arguments() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| shown(&word.to_string_lossy(), false))
}

/// Writes a text for people and a line break on standard error.
pub fn line(text: impl Display) {
    error(shown(&text.to_string(), IS_COLOURED.load(Ordering::Relaxed)) + "\n");
}

/// Writes a text on standard error as it is.
pub fn error(text: String) {
    let mut queue = QUEUE.lock();
    if !queue.has_writer {
        let started = std::thread::Builder::new().name("standard error".to_owned()).spawn(write_all);
        if started.is_err() {
            // Without a thread, the caller waits for the reader.
            drop(queue);
            return write_error(&text);
        }
        queue.has_writer = true;
    }
    if queue.texts.len() == TEXTS {
        queue.texts.pop_front();
    }
    queue.texts.push_back(text);
    CHANGED.notify_all();
    if !queue.is_stalled {
        queue.is_stalled = CHANGED.wait_while_for(&mut queue, |queue| !queue.is_done(), MOMENT).timed_out();
    }
}

/// Writes a text that the next one replaces, unless an earlier one still waits.
pub fn draw(text: String) {
    if QUEUE.lock().is_done() {
        error(text);
    }
}

/// Waits a moment for the last texts, and longer while the reader reads, for a busy machine.
pub fn finish() {
    let (mut queue, now) = (QUEUE.lock(), Timespec { tv_sec: 0, tv_nsec: 0 });
    let mut is_late = || CHANGED.wait_while_for(&mut queue, |queue| !queue.is_done(), LAST_MOMENT).timed_out();
    let reads = || poll(&mut [PollFd::new(&io::stderr(), PollFlags::OUT)], Some(&now)) != Ok(0);
    let _ = (0..LAST_MOMENTS).all(|_| is_late() && reads());
}

fn write_error(text: &str) {
    let mut writer = PatientWriter { check: || Ok(()), ..PatientWriter::new(io::stderr()) };
    // A failure has nowhere to be reported.
    let _ = writer.write_all(text.as_bytes());
}

fn write_all() {
    let mut queue = QUEUE.lock();
    loop {
        CHANGED.wait_while(&mut queue, |queue| queue.texts.is_empty());
        let Some(text) = queue.texts.pop_front() else { continue };
        queue.is_writing = true;
        parking_lot::MutexGuard::unlocked(&mut queue, || write_error(&text));
        queue.is_writing = false;
        if queue.is_done() {
            queue.is_stalled = false;
            CHANGED.notify_all();
        }
    }
}

/// Returns a text as one line that is safe on a terminal.
pub fn shown(text: &str, has_colours: bool) -> String {
    let mut line = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let behind = &rest[next.len_utf8()..];
        let colour = COLOURS.iter().find(|colour| has_colours && next == '\x1b' && behind.starts_with(**colour));
        let length = next.len_utf8() + colour.map_or(0, |colour| colour.len());
        match is_control(next) && colour.is_none() {
            true => line.extend(next.escape_debug()),
            false => line += &rest[..length],
        }
        rest = &rest[length..];
    }
    line
}

/// Returns whether a terminal acts on a character instead of showing it: controls, other line
/// breaks, and changes of the writing direction.
fn is_control(char: char) -> bool {
    char.is_control() || matches!(char, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether standard output was closed when the program began. Before `main`, the standard library
/// opens `/dev/null` in its place, where everything would be lost silently.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

#[expect(unsafe_code, reason = "called by the C library before the standard library is ready; needs nothing of it")]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = look_at_start;

extern "C" fn look_at_start() {
    WAS_CLOSED.store(fcntl_getfd(rustix::stdio::stdout()).is_err(), Ordering::Relaxed);
}

/// Writes to readers that may be slow: standard output, a pipe or a device. It waits for them even
/// if another program has made the file non-blocking. Its errors are those of the system, and that
/// of [`check_stops_with`] if a stop was requested during a wait.
pub struct PatientWriter<W> {
    file: W,
    /// Bytes that a reader takes without holding up this thread.
    at_once: usize,
    /// Whether the file was closed when the program began.
    was_closed: bool,
    /// Called during a wait, which its error ends.
    check: fn() -> io::Result<()>,
}

impl PatientWriter<Stdout> {
    /// Returns standard output.
    pub fn stdout() -> PatientWriter<Stdout> {
        PatientWriter { was_closed: WAS_CLOSED.load(Ordering::Relaxed), ..PatientWriter::new(io::stdout()) }
    }
}

impl<W: AsFd> PatientWriter<W> {
    /// Returns a writer to an open file.
    pub fn new(file: W) -> PatientWriter<W> {
        let is_regular = fstat(&file).is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_file());
        let at_once = if is_regular { usize::MAX } else { PIPE_BYTES };
        PatientWriter { file, at_once, was_closed: false, check: check_stop }
    }
}

impl<W: AsFd> Write for PatientWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.was_closed {
            return Err(Errno::BADF.into());
        }
        let bytes = &bytes[..self.at_once.min(bytes.len())];
        loop {
            let is_ready = poll(&mut [PollFd::new(&self.file, PollFlags::OUT)], Some(&LOOK))? > 0;
            match is_ready.then(|| rustix::io::write(&self.file, bytes)) {
                // A terminal can refuse what it seemed ready for.
                None | Some(Err(Errno::AGAIN)) => {
                    (self.check)()?;
                    std::thread::sleep(Duration::from_millis(5));
                }
                Some(written) => return Ok(written?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Standard input; waits if another program has made it non-blocking.
pub struct PatientReader;

impl Read for PatientReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match io::stdin().read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    match poll(&mut [PollFd::new(&io::stdin(), PollFlags::IN)], None) {
                        Ok(_) | Err(Errno::INTR) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                read => return read,
            }
        }
    }
}

/// Opens a pipe or a device to write, and waits for the reader of a pipe.
///
/// # Errors
/// Those of the system, and that of [`check_stops_with`] if a stop was requested meanwhile.
pub fn open(path: &Path) -> io::Result<PatientWriter<File>> {
    let mut options = OpenOptions::new();
    options.append(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
    loop {
        match options.open(path) {
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                check_stop()?;
                std::thread::sleep(Duration::from_nanos(LOOK.tv_nsec as u64));
            }
            opened => {
                let file = opened?;
                fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
                return Ok(PatientWriter::new(file));
            }
        }
    }
}

/// Returns a writer to an open file of this process. All its users write at one position, so that
/// what standard output gets later does not overwrite it.
pub fn share(number: RawFd) -> io::Result<PatientWriter<File>> {
    #[expect(unsafe_code, reason = "only copied; the system refuses a number that is not open")]
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    let is_stdout = number == rustix::stdio::stdout().as_raw_fd();
    let was_closed = is_stdout && WAS_CLOSED.load(Ordering::Relaxed);
    Ok(PatientWriter { was_closed, ..PatientWriter::new(file.try_clone_to_owned()?.into()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    /// Marks the other process of the test.
    const OTHER: &str = "TRINIM_TEST_STREAMS";
    /// The promised number of waiting texts, repeated because the test must not follow the
    /// constant.
    const KEPT: usize = 256;
    const READ: &str = "read until END";
    const END: &str = "END";

    fn wait_until_written() {
        CHANGED.wait_while(&mut QUEUE.lock(), |queue| !queue.is_done());
    }

    /// Writes while there is no reader, and asks the other process to read now and then.
    fn write_without_a_reader() {
        // A panic on standard error would wait for a reader, too.
        std::panic::set_hook(Box::new(|panic| println!("{panic}")));
        line(0);
        while !QUEUE.lock().is_writing {
            std::thread::yield_now();
        }
        (1..3 * KEPT).for_each(line);
        draw("drawn while others wait\n".to_owned());
        line(END);
        {
            let queue = QUEUE.lock();
            let kept = (2 * KEPT + 1..3 * KEPT).map(|number| format!("{number}\n")).chain([format!("{END}\n")]);
            assert!(queue.texts.iter().cloned().eq(kept), "{:?}", queue.texts);
            assert!(queue.is_writing && queue.is_stalled, "the first text waits for its reader, and nobody else");
        }
        println!("\n{READ}");
        wait_until_written();
        assert!(!QUEUE.lock().is_stalled, "a reader that reads is waited for again");
        draw(format!("{}\n", 3 * KEPT));
        wait_until_written();
        // At its end the program waits for the last texts, but not for ever; a busy machine may
        // need more than one wait.
        let mut number = 3 * KEPT;
        let is_written = (0..20).any(|_| {
            while !QUEUE.lock().is_stalled {
                number += 1;
                line(format_args!("{number} {}", "-".repeat(100)));
            }
            line(END);
            println!("\n{READ}");
            finish();
            let is_written = QUEUE.lock().is_done();
            wait_until_written();
            is_written
        });
        assert!(is_written, "the end does not wait for the last texts");
    }

    /// The newest unread texts are kept; texts that are read keep their order; and a stalled reader
    /// that reads again is waited for like any other.
    #[test]
    fn the_newest_texts_are_kept_in_their_order() {
        if std::env::var_os(OTHER).is_some() {
            return write_without_a_reader();
        }
        let (reader, mut writer) = std::io::pipe().unwrap();
        let flags = fcntl_getfl(&writer).unwrap();
        fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
        while writer.write(b"\n").is_ok() {}
        fcntl_setfl(&writer, flags).unwrap();
        let mut other = Command::new(std::env::current_exe().unwrap());
        other.args(["--exact", "streams::tests::the_newest_texts_are_kept_in_their_order", "--nocapture"]);
        let mut child = other.env(OTHER, "1").stderr(writer).stdout(Stdio::piped()).spawn().unwrap();
        // The command has the other end of the pipe.
        drop(other);
        let (mut said, mut texts) = (Vec::new(), BufReader::new(reader).lines().map(Result::unwrap));
        let mut read = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap) {
            if line == READ {
                read.extend(texts.by_ref().take_while(|text| text != END).filter(|text| !text.is_empty()));
            }
            said.push(line);
        }
        assert!(child.wait().unwrap().success(), "{said:#?}");
        read.extend(texts);
        let number = |text: &String| text.split(' ').next().and_then(|number| number.parse().ok());
        let numbers: Vec<usize> = read.iter().map(|text| number(text).unwrap_or_else(|| panic!("{read:?}"))).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
        assert!(numbers[..KEPT].iter().copied().eq([0].into_iter().chain(2 * KEPT + 1..3 * KEPT)), "{numbers:?}");
        assert!(numbers[KEPT..].iter().copied().eq(3 * KEPT..3 * KEPT + numbers.len() - KEPT), "{numbers:?}");
    }
}
