//! What this machine has: memory and disk.

use pipeline::{RealStorage, Storage};
use std::path::Path;

/// Returns the bytes of memory that this process may use: physical memory, or what its control
/// group allows.
pub fn memory_bytes() -> Option<u64> {
    use sysinfo::{MemoryRefreshKind, RefreshKind, System};
    let ram = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(ram).ok()?;
    let physical = Some(system.total_memory()).filter(|bytes| *bytes > 0)?;
    let allowed = system.cgroup_limits().map(|limits| limits.total_memory).filter(|bytes| *bytes > 0);
    Some(allowed.map_or(physical, |allowed| allowed.min(physical)))
}

/// Returns the memory available now, in bytes; `u64::MAX` if the system does not say.
pub fn memory_available_bytes() -> u64 {
    let figures = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = figures.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(u64::MAX, |kibibytes| kibibytes << 10)
}

/// Returns the peak resident memory of this process so far, in bytes; 0 if the system does not say.
pub fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kibibytes| kibibytes << 10)
}

/// Returns the bytes free where `folder` is or will be; `u64::MAX` if the system does not say.
pub fn free_bytes(folder: &Path) -> u64 {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let there = folder.ancestors().find(|folder| folder.is_dir());
    let free = there.and_then(|folder| RealStorage::open(folder).ok()).and_then(|storage| storage.free_bytes().ok());
    free.unwrap_or(u64::MAX)
}
