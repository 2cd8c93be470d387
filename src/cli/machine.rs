//! What this machine has: processors, memory and disk.

use crate::job::memory;
use crate::record::Machine;
use std::path::Path;
use sysinfo::{CpuRefreshKind, Disks, MemoryRefreshKind, RefreshKind, System};
use terminal::values::Size;

/// Reads processors and memory, if the system reports them.
fn system() -> Option<System> {
    let memory = MemoryRefreshKind::nothing().with_ram();
    let wanted = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()).with_memory(memory);
    System::new_with_specifics(wanted).ok()
}

/// Describes the machine; `folder` is where it is to work.
pub fn facts(folder: &Path) -> Machine {
    let system = system();
    let cpu = system.as_ref().and_then(|system| Some(system.cpus().first()?.brand().trim().to_owned()));
    let known = |text: Option<String>| text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned());
    let (os, kernel) = (System::long_os_version().ok(), System::kernel_version().ok());
    Machine {
        cpu: known(cpu),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: system.as_ref().map_or(0, System::total_memory),
        os: format!("{}, kernel {}", known(os), known(kernel)),
        disk: disk(folder),
    }
}

/// Describes the disk with the longest mount point above `folder`: file system and kind.
fn disk(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let disks = Disks::new_with_refreshed_list().ok()?;
    let above = (&disks).into_iter().filter(|disk| folder.starts_with(disk.mount_point()));
    let disk = above.max_by_key(|disk| disk.mount_point().as_os_str().len())?;
    Some(format!("{} on {} (as the system says)", disk.file_system().to_string_lossy(), disk.kind()))
}

/// Returns what is short where a budget of this many bytes is used, if anything is.
pub fn memory_shortage(used_bytes: u64, free_bytes: u64) -> Option<String> {
    let free = Size(free_bytes);
    (used_bytes > free_bytes).then(|| format!("the budget is larger than the memory that is free now, {free}"))
}

/// Returns the memory that is free for this process now; 2^64 - 1 if the system does not say.
pub fn memory_free_bytes() -> u64 {
    memory().map_or(u64::MAX, |memory| memory.free_bytes)
}

/// Returns the peak resident memory of this process so far, in bytes; 0 if the system does not say.
pub fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kibibytes| kibibytes << 10)
}
