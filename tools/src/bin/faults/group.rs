//! A control group with a limit, of version 1 or 2, and a group in it for the processes: a limit is
//! usually set on a group above that of the process.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Roots of trees, each with the file of the limit.
type Trees = [(&'static str, &'static str); 2];
pub const MEMORY: Trees = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
pub const PROCESSES: Trees = [("/sys/fs/cgroup/pids", "pids.max"), ("/sys/fs/cgroup", "pids.max")];

pub struct Group {
    limit: PathBuf,
    inner: PathBuf,
}

impl Group {
    pub fn new(trees: Trees) -> Result<Group> {
        for (root, limit) in trees {
            let outer = Path::new(root).join(format!("trinim-faults-{}", std::process::id()));
            if fs::create_dir(&outer).is_ok() {
                // Dropped, and so removed, if it has no such limit.
                let group = Group { limit: outer.join(limit), inner: outer.join("inner") };
                if fs::create_dir(&group.inner).is_ok() && group.limit.is_file() {
                    return Ok(group);
                }
            }
        }
        let limit = trees[1].1;
        anyhow::bail!(
            "no control group with {limit} can be created (needs root, and cgroups mounted at /sys/fs/cgroup)"
        )
    }

    pub fn limit(&self, amount: u64) -> Result<()> {
        fs::write(&self.limit, amount.to_string()).with_context(|| self.limit.display().to_string())
    }

    /// The shell commands with which a process enters.
    pub fn entry(&self) -> String {
        format!("echo $$ > '{}/cgroup.procs' || exit 99", self.inner.display())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in self.inner.ancestors().take(2) {
            let _ = fs::remove_dir(folder);
        }
    }
}
