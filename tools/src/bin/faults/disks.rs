//! Disks to break: file systems in memory, and images mounted through loop devices. Drop unmounts
//! everything, also after Ctrl-C.

use crate::setup::Setup;
use crate::system;
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs a system program; its standard error is the error.
pub fn system_program(name: &str, args: &[&str]) -> Result<String> {
    let output = Command::new(name).args(args).output().with_context(|| format!("{name} cannot be started"))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} {}: {}", args.join(" "), error.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("scratch folders have plain names")
}

/// A file system mounted on a folder of its own.
pub struct Mount {
    pub point: PathBuf,
    mounted: bool,
}

impl Mount {
    /// Mounts a file system in memory with these mount options, like `size=1m`.
    pub fn memory(setup: &Setup, options: &str) -> Result<Mount> {
        let point = setup.disk_folder()?;
        system_program("mount", &["-t", "tmpfs", "-o", options, "tmpfs", text(&point)?])?;
        Ok(Mount { point, mounted: true })
    }

    /// Mounts a folder again: by bindfs, or by sshfs over SFTP from a server on this machine.
    pub fn once_more(setup: &Setup, program: &str, folder: &Path) -> Result<Mount> {
        let (point, folder) = (setup.disk_folder()?, text(folder)?);
        let mut command = Command::new(program);
        match program {
            // sshfs passes more words to the shell, as parameters that are not read.
            "sshfs" => {
                let server = "ssh_command=setsid sh -c /usr/lib/openssh/sftp-server";
                command.args(["-o", server, &format!("here:{folder}")])
            }
            _ => command.arg(folder),
        };
        // A process in the background would keep a pipe open.
        let status = command.arg(&point).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let status = status.with_context(|| format!("{program} cannot be started"))?;
        ensure!(status.success(), "{program} cannot mount a folder here: {status}");
        Ok(Mount { point, mounted: true })
    }

    fn image(point: PathBuf, kind: &str, image: &Path) -> Result<Mount> {
        let kind = if kind == "exfat" && !is_known(kind) { "exfat-fuse" } else { kind };
        system_program("mount", &["-t", kind, "-o", "loop", text(image)?, text(&point)?])?;
        Ok(Mount { point, mounted: true })
    }

    pub fn unmount(&mut self) -> Result<()> {
        if self.mounted {
            let point = text(&self.point)?;
            // A failed device can be busy for a moment.
            let mut result = Ok(String::new());
            for _ in 0..50 {
                result = system_program("umount", &[point]);
                if result.is_ok() {
                    self.mounted = false;
                    return Ok(());
                }
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            result?;
        }
        Ok(())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if self.unmount().is_err() {
            // Detaches it at least; the kernel releases it with its last user.
            if let Ok(point) = text(&self.point) {
                let _ = system_program("umount", &["-l", point]);
            }
        }
    }
}

/// A file system in an image file.
pub struct Disk {
    pub kind: &'static str,
    pub image: PathBuf,
    mount: Option<Mount>,
    point: PathBuf,
}

impl Disk {
    /// Makes and mounts a disk of `mib` MiB with the image in `folder`.
    pub fn new(setup: &Setup, kind: &'static str, mib: u64, folder: &Path) -> Result<Disk> {
        let image = folder.join(format!("{kind}.image"));
        File::create(&image)?.set_len(mib << 20)?;
        let program = format!("mkfs.{kind}");
        // No lazy initialisation in the background, so that only the program writes.
        let options: &[&str] = match kind {
            "ext4" => &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
            "exfat" => &[],
            _ => &["-q", "-f"],
        };
        system_program(&program, &[options, &[text(&image)?]].concat())?;
        let point = setup.disk_folder()?;
        let mut disk = Disk { kind, image, mount: None, point };
        disk.mount()?;
        Ok(disk)
    }

    pub fn point(&self) -> &Path {
        &self.point
    }

    pub fn mount(&mut self) -> Result<()> {
        self.mount = Some(Mount::image(self.point.clone(), self.kind, &self.image)?);
        Ok(())
    }

    pub fn unmount(&mut self) -> Result<()> {
        match &mut self.mount {
            Some(mount) => mount.unmount(),
            None => Ok(()),
        }
    }

    /// Cuts the power: nothing more reaches the image.
    pub fn cut_off(&self) -> Result<()> {
        let point = File::open(&self.point)?;
        system::cut_off(&point).with_context(|| format!("shutdown of {}", self.kind))
    }

    /// Unmounts and mounts again, so that reads come from the image.
    pub fn again(&mut self) -> Result<()> {
        self.unmount()?;
        self.mount()
    }
}

/// Returns whether this kernel has the file system; an exFAT in user space also exists.
fn is_known(kind: &str) -> bool {
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    known.split_whitespace().any(|name| name == kind)
}

/// Returns the first reason why file systems cannot be mounted here, if there is one.
pub fn no_mounts() -> Option<String> {
    if !system::is_root() {
        return Some("needs root".into());
    }
    let probe = || -> Result<()> {
        let folder = tempfile::tempdir()?;
        let point = text(folder.path())?;
        system_program("mount", &["-t", "tmpfs", "-o", "size=64k", "tmpfs", point])?;
        system_program("umount", &[point])?;
        Ok(())
    };
    probe().err().map(|error| format!("{error:#}"))
}

/// Returns the reason why images of this kind cannot be mounted here, if there is one.
pub fn no_disk(setup: &Setup, kind: &'static str, mib: u64) -> Option<String> {
    if let Some(reason) = no_mounts() {
        return Some(reason);
    }
    if kind != "exfat" && !is_known(kind) {
        return Some(format!("this kernel has no {kind}"));
    }
    let try_one = || -> Result<()> {
        let folder = setup.folder()?;
        let disk = Disk::new(setup, kind, mib, &folder)?;
        drop(disk);
        fs::remove_dir_all(&folder)?;
        Ok(())
    };
    try_one().err().map(|error| format!("{error:#}"))
}

/// Fills a file system to the last block. Returns the file to remove for room.
pub fn fill(folder: &Path) -> Result<PathBuf> {
    use std::io::Write;
    let path = folder.join("filler");
    let mut file = File::create(&path)?;
    for size in [1 << 20, 64 << 10, 4 << 10, 512] {
        let bytes = vec![0x55; size];
        while file.write_all(&bytes).is_ok() {}
    }
    // Delayed allocation takes the space only now.
    if file.sync_all().is_err() && !path.exists() {
        bail!("{} cannot be filled", folder.display());
    }
    Ok(path)
}
