//! The memory that this process may use: that of the machine, or of its control groups.
//!
//! A systemd unit (`MemoryMax`, `MemoryHigh`), a Slurm job and a container are control groups, of
//! version 1 or 2. Each group from the process up to the root of its tree can have a limit; the
//! smallest limit counts. `/proc/self/cgroup` has the name of the group, `/proc/self/mountinfo` the
//! place of the tree. A container can see its group's name as on the host, but only its own part of
//! the tree; then that part begins with its group.

use pipeline::storage::read_regular;
use std::path::{Path, PathBuf};

/// Memory of a command unless another is given, in bytes; where memory is scarce, half of it.
pub const USUAL_BYTES: u64 = 1 << 30;

/// Longest file that is read: the mounts of a host with many containers are some hundred KiB.
const FILE_BYTES: u64 = 16 << 20;

/// The memory that a process may use, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// All of it: of the machine, or as much as a control group allows.
    pub bytes: u64,
    /// The part that is free now; the page cache counts as free.
    pub free_bytes: u64,
}

/// Returns the memory that this process may use; `None` if the system does not report it.
pub fn memory() -> Option<Memory> {
    memory_below(Path::new("/"))
}

/// Returns a budget that is `bytes`, or half of the memory that this process may use where that is
/// less.
pub fn modest_bytes(bytes: u64) -> u64 {
    memory().map_or(bytes, |memory| bytes.min(memory.bytes / 2))
}

/// Returns the memory that a process may use, from the `/proc` and `/sys` below `root`.
pub fn memory_below(root: &Path) -> Option<Memory> {
    let machine = text(&root.join("proc/meminfo"))?;
    let field = |name: &str| {
        let line = machine.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    };
    let bytes = field("MemTotal").filter(|bytes| *bytes > 0)?;
    let machine = Memory { bytes, free_bytes: field("MemAvailable").unwrap_or(bytes) };
    let groups = GROUPS.iter().flat_map(|version| version.groups(root));
    Some(groups.fold(machine, |least, group| Memory {
        bytes: least.bytes.min(group.bytes),
        free_bytes: least.free_bytes.min(group.free_bytes),
    }))
}

/// A version of control groups, by its files.
struct Version {
    /// The file system of the tree.
    file_system: &'static str,
    /// The controller that its mount and the line of a process name; empty for the only tree.
    controller: &'static str,
    limits: &'static [&'static str],
    usage: &'static str,
    /// The part of the usage that the system reclaims before it refuses.
    cache: &'static str,
}

const GROUPS: [Version; 2] = [
    Version {
        file_system: "cgroup2",
        controller: "",
        limits: &["memory.max", "memory.high"],
        usage: "memory.current",
        cache: "inactive_file",
    },
    Version {
        file_system: "cgroup",
        controller: "memory",
        limits: &["memory.limit_in_bytes"],
        usage: "memory.usage_in_bytes",
        cache: "total_inactive_file",
    },
];

/// The smallest limit on the way up, including groups that a container does not see; only in
/// version 1.
const ON_THE_WAY_UP: &str = "hierarchical_memory_limit";

impl Version {
    /// Returns the limits of the groups that the process is in.
    fn groups(&self, root: &Path) -> Vec<Memory> {
        let found = self.folder(root);
        let folders = found.iter().flat_map(|(top, group)| group.ancestors().take_while(move |at| at.starts_with(top)));
        folders.filter_map(|folder| self.limit(folder)).collect()
    }

    /// Returns the visible top of the tree, and the group of the process.
    fn folder(&self, root: &Path) -> Option<(PathBuf, PathBuf)> {
        let has = |controllers: &str| controllers.split(',').any(|controller| controller == self.controller);
        let lines = text(&root.join("proc/self/cgroup"))?;
        let group = lines.lines().find_map(|line| {
            let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
            has(controllers).then_some(group)
        })?;
        let mounts = text(&root.join("proc/self/mountinfo"))?;
        // Fields in front of and behind the dash: .. ROOT POINT OPTIONS .. - TYPE SOURCE OPTIONS
        let mut trees = mounts.lines().filter_map(|line| {
            let (front, behind) = line.split_once(" - ")?;
            let [_, _, _, tree, point, ..] = front.split(' ').collect::<Vec<_>>()[..] else { return None };
            let [kind, _, options] = behind.split(' ').collect::<Vec<_>>()[..] else { return None };
            (kind == self.file_system && (self.controller.is_empty() || has(options))).then_some((tree, point))
        });
        let (tree, point) = trees.next()?;
        // A later mount at the same place covers the earlier one.
        let tree = trees.rfind(|(_, at)| *at == point).map_or(tree, |(tree, _)| tree);
        let top = root.join(unescaped(point).trim_start_matches('/'));
        let below = Path::new(group).strip_prefix(unescaped(tree)).ok();
        let below = below.filter(|below| top.join(below).is_dir()).unwrap_or(Path::new(""));
        Some((top.clone(), top.join(below)))
    }

    /// Returns the limit of a group, if it has one.
    fn limit(&self, folder: &Path) -> Option<Memory> {
        let number = |name: &str| text(&folder.join(name))?.trim().parse::<u64>().ok();
        let figures = text(&folder.join("memory.stat")).unwrap_or_default();
        let figure = |name| figures.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
        let limits = self.limits.iter().filter_map(|name| number(name));
        let bytes = limits.chain(figure(ON_THE_WAY_UP)).min()?;
        let used = number(self.usage).unwrap_or(0).saturating_sub(figure(self.cache).unwrap_or(0));
        Some(Memory { bytes, free_bytes: bytes.saturating_sub(used) })
    }
}

fn text(path: &Path) -> Option<String> {
    String::from_utf8(read_regular(path, FILE_BYTES).ok()?).ok()
}

/// Returns a path of a list of mounts, in which a space is `\040`.
fn unescaped(path: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(path.to_owned(), |path, (escape, char)| path.replace(escape, char))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    /// Writes a tree of files, by their paths below `root`.
    fn write(root: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn found(files: &[(&str, &str)]) -> Option<(u64, u64)> {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &[("proc/meminfo", "MemTotal:    8388608 kB\nMemFree:  1 kB\nMemAvailable: 4194304 kB\n")]);
        write(root.path(), files);
        memory_below(root.path()).map(|memory| (memory.bytes / MIB, memory.free_bytes / MIB))
    }

    const V2: (&str, &str) =
        ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
    const V1: (&str, &str) = (
        "proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
         35 31 0:32 / /sys/fs/cgroup/memory rw shared:3 - cgroup cgroup rw,memory\n",
    );

    /// The limit of a systemd unit was not seen, because only the root of the tree was looked at.
    #[test]
    fn the_least_limit_on_the_way_up_counts() {
        let unit = ("proc/self/cgroup", "0::/system.slice/trinim.service\n");
        let of = |name: &str| format!("sys/fs/cgroup/system.slice/{name}");
        let (slice, service) = (of("memory.max"), of("trinim.service/memory.max"));
        assert_eq!(found(&[unit, V2]), Some((8192, 4096)));
        assert_eq!(found(&[unit, V2, (&service, "max\n")]), Some((8192, 4096)));
        assert_eq!(found(&[unit, V2, (&service, "536870912\n"), (&slice, "max\n")]), Some((512, 512)));
        assert_eq!(found(&[unit, V2, (&service, "536870912\n"), (&slice, "268435456\n")]), Some((256, 256)));
        let high = of("trinim.service/memory.high");
        assert_eq!(found(&[unit, V2, (&service, "536870912\n"), (&high, "134217728\n")]), Some((128, 128)));
        // Of the usage, the page cache is free.
        let (usage, figures) = (of("trinim.service/memory.current"), of("trinim.service/memory.stat"));
        let used = [(&*usage, "209715200\n"), (&*figures, "anon 1\ninactive_file 104857600\nactive_file 7\n")];
        assert_eq!(found(&[unit, V2, (&service, "536870912\n"), used[0]]), Some((512, 312)));
        assert_eq!(found(&[unit, V2, (&service, "536870912\n"), used[0], used[1]]), Some((512, 412)));
    }

    #[test]
    fn version_1_has_a_tree_for_memory() {
        let job = ("proc/self/cgroup", "9:name=systemd:/\n4:memory:/slurm/uid_0/job_7\n3:cpu,cpuacct:/other\n0::/\n");
        let limit = |folder: &str| format!("sys/fs/cgroup/memory{folder}/memory.limit_in_bytes");
        let (root, step, none) = (limit(""), limit("/slurm/uid_0/job_7"), limit("/other"));
        let endless = (&*root, "9223372036854771712\n");
        assert_eq!(found(&[job, V1, endless, (&none, "1\n")]), Some((8192, 4096)));
        assert_eq!(found(&[job, V1, endless, (&step, "1073741824\n")]), Some((1024, 1024)));
        let (user, used) = (limit("/slurm/uid_0"), step.replace("limit", "usage"));
        assert_eq!(found(&[job, V1, (&step, "1073741824\n"), (&user, "536870912\n")]), Some((512, 512)));
        assert_eq!(found(&[job, V1, (&step, "1073741824\n"), (&used, "1048576\n")]), Some((1024, 1023)));
        // A container that sees its own group alone, below a group with less.
        let figures = step.replace("limit_in_bytes", "stat");
        let above = (&*figures, "cache 1\nhierarchical_memory_limit 134217728\nhierarchical_memsw_limit 1\n");
        assert_eq!(found(&[job, V1, (&step, "1073741824\n"), above]), Some((128, 128)));
    }

    /// A container whose group has the name that the host gave it, and that sees its own group
    /// alone: as the root of the tree, or under that name.
    #[test]
    fn a_container_finds_its_own_group() {
        let group = ("proc/self/cgroup", "0::/docker/abc\n");
        let limit = ("sys/fs/cgroup/memory.max", "1073741824\n");
        assert_eq!(found(&[group, V2, limit]), Some((1024, 1024)));
        let bound = ("proc/self/mountinfo", "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
        assert_eq!(found(&[group, bound, limit]), Some((1024, 1024)));
        let covered = ("proc/self/mountinfo", [V2.1, bound.1].concat());
        assert_eq!(found(&[group, (covered.0, &covered.1), limit]), Some((1024, 1024)));
        let outside = ("proc/self/cgroup", "0::/../../other\n");
        assert_eq!(found(&[outside, V2, limit]), Some((1024, 1024)));
    }

    /// Whatever else stands there, the machine's memory is known.
    #[test]
    fn what_cannot_be_read_is_no_limit() {
        for (group, mounts) in
            [("", ""), ("0::/x\n", "- - -\n \n30 - cgroup2"), ("::\n:\n4:memory\n", V1.1), ("\0", V2.1)]
        {
            let files = [("proc/self/cgroup", group), ("proc/self/mountinfo", mounts)];
            assert_eq!(found(&files), Some((8192, 4096)), "{files:?}");
        }
        let zero = [("proc/self/cgroup", "0::/\n"), V2, ("sys/fs/cgroup/memory.max", "0\n")];
        assert_eq!(found(&zero), Some((0, 0)));
        assert_eq!(memory_below(Path::new("/proc/self/fd")), None);
        let here = memory().unwrap();
        assert!(here.free_bytes > 0 && here.bytes > 64 * KIB, "{here:?}");
    }
}
