//! The processors, memory and disk of this machine.

use std::path::Path;
use sysinfo::{CpuRefreshKind, Disks, MemoryRefreshKind, RefreshKind, System};
use trinim_papers::record::Machine;

/// Describes the machine; `folder` is where it will work.
pub fn facts(folder: &Path) -> Machine {
    let memory = MemoryRefreshKind::nothing().with_ram();
    let wanted = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()).with_memory(memory);
    // Not every system reports processors and memory.
    let system = System::new_with_specifics(wanted).ok();
    let cpu = system.as_ref().and_then(|system| Some(system.cpus().first()?.brand().trim().to_owned()));
    let known = |text: Option<String>| text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned());
    // The disk with the longest mount point above the folder.
    let disk = || {
        let folder = folder.canonicalize().ok()?;
        let disks = Disks::new_with_refreshed_list().ok()?;
        let above = (&disks).into_iter().filter(|disk| folder.starts_with(disk.mount_point()));
        let disk = above.max_by_key(|disk| disk.mount_point().as_os_str().len())?;
        Some(format!("{} on {} (as the system says)", disk.file_system().to_string_lossy(), disk.kind()))
    };
    let (os, kernel) = (System::long_os_version().ok(), System::kernel_version().ok());
    Machine {
        cpu: known(cpu),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: system.as_ref().map_or(0, System::total_memory),
        os: format!("{}, kernel {}", known(os), known(kernel)),
        disk: disk(),
    }
}
