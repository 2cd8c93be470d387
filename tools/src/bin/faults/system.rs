//! The few system calls that the standard library lacks, and all unsafe code of the harness.
#![expect(unsafe_code, reason = "system calls that the standard library lacks")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// State of a child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Running.
    None,
    /// Stopped by SIGSTOP.
    Stopped,
    /// Ended by itself.
    Exited(i32),
    /// Ended by a signal.
    Killed(i32),
}

/// Returns the state of a child without waiting and, once it has ended, its peak resident memory in
/// bytes.
pub fn look_at(pid: i32) -> io::Result<(Change, u64)> {
    let mut status = 0;
    // SAFETY: plain numbers, for which all zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid for the call.
    let found = unsafe { libc::wait4(pid, &mut status, libc::WNOHANG | libc::WUNTRACED, &mut usage) };
    if found < 0 {
        return Err(io::Error::last_os_error());
    }
    let change = match found {
        0 => Change::None,
        _ if libc::WIFSTOPPED(status) => Change::Stopped,
        _ if libc::WIFEXITED(status) => Change::Exited(libc::WEXITSTATUS(status)),
        _ => Change::Killed(libc::WTERMSIG(status)),
    };
    Ok((change, (usage.ru_maxrss as u64) << 10))
}

/// Sends a signal to a child that has not been waited for.
pub fn signal(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: no memory is involved.
    match unsafe { libc::kill(pid, signal) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns whether this user is root.
pub fn is_root() -> bool {
    // SAFETY: no memory is involved.
    unsafe { libc::geteuid() == 0 }
}

/// `EXT4_IOC_SHUTDOWN` and `XFS_IOC_GOINGDOWN`, which are the same number: `_IOR('X', 125, u32)`.
const SHUTDOWN: libc::c_ulong = 0x8004_587d;
/// Flushes neither log nor data, like a power cut.
const NO_LOG_FLUSH: u32 = 2;

/// Cuts a mounted ext4 or XFS off from its device, like a power cut: from now on nothing is written
/// and every call fails.
pub fn cut_off(mount: &File) -> io::Result<()> {
    let flags = NO_LOG_FLUSH;
    // SAFETY: the call reads one u32.
    match unsafe { libc::ioctl(mount.as_raw_fd(), SHUTDOWN as _, &flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// `FS_IOC_FIEMAP`: `_IOWR('f', 11, struct fiemap)`.
const EXTENTS: libc::c_ulong = 0xc020_660b;

#[repr(C)]
#[derive(Default)]
struct ExtentRequest {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    logical: u64,
    physical: u64,
    extent_length: u64,
    reserved64: [u64; 2],
    extent_flags: u32,
    reserved32: [u32; 3],
}

/// Returns the first extent of a file on its device: offset and length in bytes.
pub fn first_extent(file: &File) -> io::Result<(u64, u64)> {
    // Flag 1: write delayed allocations first.
    let mut request = ExtentRequest { length: u64::MAX, flags: 1, count: 1, ..ExtentRequest::default() };
    // SAFETY: the structure has room for the one extent requested.
    match unsafe { libc::ioctl(file.as_raw_fd(), EXTENTS as _, &mut request) } {
        0 if request.mapped == 1 => Ok((request.physical, request.extent_length)),
        0 => Err(io::Error::other("the file has no extent")),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Punches a hole of zeros into a file.
pub fn punch(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: no memory is involved.
    match unsafe { libc::fallocate(file.as_raw_fd(), mode, offset as libc::off_t, length as libc::off_t) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
