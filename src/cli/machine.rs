//! The memory that this process can use, and has used.

use crate::job::memory;
use terminal::values::Size;

/// Returns a description of what is too small for a budget of this many bytes, if anything is.
pub fn memory_shortage(used_bytes: u64, free_bytes: u64) -> Option<String> {
    let free = Size(free_bytes);
    (used_bytes > free_bytes).then(|| format!("the memory budget exceeds the free memory, {free}"))
}

/// Returns the free memory for this process; 2^64 - 1 if the system does not report it.
pub fn memory_free_bytes() -> u64 {
    memory().map_or(u64::MAX, |memory| memory.free_bytes)
}

/// Returns the peak resident memory of this process, in bytes; 0 if the system does not report it.
pub fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kibibytes| kibibytes << 10)
}
