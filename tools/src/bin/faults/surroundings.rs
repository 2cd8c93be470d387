//! Surroundings that mostly need root: limits of control groups on memory and processes, another
//! namespace of processes, file systems in user space and without links, renamed folders among
//! foreign files, a disk that turns read-only.
//!
//! The folder of `--scratch` is one of the file systems, so that a mounted NFS or SMB can be tried.

use crate::disks::{Disk, Mount, no_disk, no_mounts, system_program};
use crate::errno::{behaves, names_a_path};
use crate::full::{self, stop_if_asked};
use crate::group::{Group, MEMORY, PROCESSES};
use crate::kill::{complete, keeps, went_on};
use crate::power::calls_of;
use crate::report::Sheet;
use crate::setup::{Lane, Setup};
use crate::subject::{Ended, Fault, Launch, Running, Solve};
use crate::system;
use crate::tree::{FOREIGN, Golden, files, finished};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use trinim::game::{Rule, published};

/// The solve of the part that fills small disks is used here, too.
const SOLVES: [Solve; 2] = [full::SOLVE, Solve { placement: "shared", ..full::SOLVE }];
const DISK_MIB: u64 = 24;

struct Field<'a> {
    setup: &'a Setup,
    sheet: &'a Sheet,
    golden: Golden,
    lane: Lane,
    /// File calls of each of the solves.
    calls: [u64; 2],
}

pub fn run(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let golden = Golden::make(setup, &SOLVES[0])?;
    let lane = Lane { folder: setup.folder()?, random: setup.random(8) };
    let calls = [calls_of(setup, &SOLVES[0])?, calls_of(setup, &SOLVES[1])?];
    let mut field = Field { setup, sheet, golden, lane, calls };
    match Group::new(PROCESSES) {
        Ok(group) => field.few_processes(&group)?,
        Err(error) => sheet.not_run("few processes", error),
    }
    field.another_namespace()?;
    field.file_systems()?;
    field.read_only()?;
    match Group::new(MEMORY) {
        Ok(group) => field.little_memory(&group)?,
        Err(error) => sheet.not_run("little memory", error),
    }
    if !setup.ci {
        sheet.bar("kills", 8);
        sheet.bar("folders renamed among files of others", 2);
    }
    Ok(())
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.out).unwrap_or_default()
}

impl<'a> Field<'a> {
    /// Prepares a command on a folder: `words` before it, `more` after it.
    fn command(&self, words: &str, folder: &Path, more: &str) -> Launch<'a> {
        let words = words.split_whitespace().map(OsStr::new);
        let more = more.split_whitespace().map(OsStr::new);
        let args: Vec<&OsStr> = words.chain([folder.as_os_str()]).chain(more).collect();
        Launch::new(self.setup, &self.lane.folder, &args)
    }

    fn check(&self, text: &str, ended: &Ended, codes: &[i32], said: &str) {
        if behaves(self.sheet, text, ended, codes) {
            let shown = format!("{}{}", ended.out, ended.error);
            self.sheet.check(shown.contains(said), || format!("{text}: no {said:?} in {}", ended.summary()));
            self.sheet.check(!shown.contains('\x1b'), || format!("{text}: a control character is printed"));
        }
    }

    fn complete(&self, text: &str, solve: &Solve, out: &Path, safe: &BTreeSet<pipeline::BlockId>) -> Result<()> {
        complete(self.setup, self.sheet, text, solve, &self.golden, &self.lane, out, safe)
    }

    /// Starts a solve in a new folder and stops it somewhere in its middle.
    fn standing(&mut self, text: &str, which: usize, out: &Path) -> Result<Option<Running>> {
        stop_if_asked(self.setup)?;
        let _ = fs::remove_dir_all(out);
        let at = self.calls[which] / 5 + self.lane.random.below((self.calls[which] * 3 / 5).max(1));
        let launch = SOLVES[which].launch(self.setup, &self.lane.folder, out).fault(Fault::at(at, "stop"));
        match launch.start()?.wait_for_stop()? {
            Ok(running) => Ok(Some(running)),
            Err(ended) => {
                self.sheet.count("runs that ended before the trial", 1);
                self.sheet.check(ended.code == Some(0), || format!("{text}: {}", ended.summary()));
                Ok(None)
            }
        }
    }

    /// Checks what the maintenance commands report about sound data.
    fn looked_after(&self, text: &str, out: &Path, is_done: bool) -> Result<()> {
        for (command, more) in
            [("status", ""), ("check", "--depth full"), ("verify", ""), ("repair", "--dry-run"), ("repair", "")]
        {
            let ended = self.command(command, out, more).run()?;
            let codes = if is_done { &[0] } else { unfinished(&ended) };
            self.check(&format!("{text}: {command} {more}"), &ended, codes, "");
            self.sheet.count("commands that look after a folder", 1);
        }
        Ok(())
    }

    /// The smallest number of processes is one, without room for a thread.
    fn few_processes(&mut self, group: &Group) -> Result<()> {
        let (five, new) = (self.lane.folder.join("five"), self.lane.folder.join("new"));
        let solved = self.command("solve --layers 5 --out", &five, "").run()?;
        self.check("5 layers", &solved, &[0], "");
        for most in 1..=self.setup.amount(6, 3) {
            group.limit(most)?;
            for (command, folder, more) in [
                ("solve --layers 6 --block-bits 12 --threads 4 --json --out", &new, ""),
                ("verify --threads 4", &five, ""),
                ("check --threads 4", &five, ""),
                ("repair --threads 4", &five, ""),
                ("export --threads 4 --force", &five, "--out /dev/null"),
                ("serve --listen 127.0.0.1:0", &five, ""),
                ("probe", &five, "0x3"),
            ] {
                stop_if_asked(self.setup)?;
                let text = format!("{command} with {most} processes");
                let launch = self.command(command, folder, more).shell(group.entry());
                let is_server = command.starts_with("serve");
                let ended = if is_server { self.served(launch)? } else { launch.run()? };
                let codes: &[i32] = match most {
                    _ if command == "probe" => &[0],
                    1 => &[4],
                    _ if is_server => &[0, 4, 130],
                    _ => &[0, 4],
                };
                self.check(&text, &ended, codes, if ended.code == Some(4) { "cannot start a thread" } else { "" });
                self.sheet.count("commands with few processes", 1);
                self.sheet.count("refused threads", u64::from(ended.code == Some(4)));
            }
            let safe = finished(&new)?;
            self.complete(&format!("a solve with {most} processes"), &SOLVES[0], &new, &safe)?;
            fs::remove_dir_all(&new)?;
        }
        Ok(())
    }

    /// Runs a server until it listens or fails.
    fn served(&self, launch: Launch) -> Result<Ended> {
        let server = launch.start()?;
        let begin = Instant::now();
        let says = |word| {
            let text = ["out", "error"].map(|name| fs::read(self.lane.folder.join(name)).unwrap_or_default()).concat();
            String::from_utf8_lossy(&text).contains(word)
        };
        while begin.elapsed() < Duration::from_secs(20) && !says("error: ") {
            if says("http://") {
                system::signal(server.pid, libc::SIGINT)?;
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        server.wait()
    }

    /// An invisible process is reported without its number, and its lock holds.
    fn another_namespace(&mut self) -> Result<()> {
        const ENTRY: [&str; 3] = ["--pid", "--fork", "--mount-proc"];
        if let Err(error) = system_program("unshare", &[&ENTRY[..], &["true"]].concat()) {
            self.sheet.not_run("another namespace of processes", error);
            return Ok(());
        }
        let out = self.lane.folder.join("run");
        let Some(running) = self.standing("another namespace", 0, &out)? else { return Ok(()) };
        let shell = format!("exec unshare {} \"$0\" \"$@\"", ENTRY.join(" "));
        let notes = self.setup.folder()?;
        for (command, more, code, said) in [
            ("status", "", 0, "process %PID is working on it"),
            ("status", "inside", 0, "a process that is not visible from here is working on it"),
            ("check", "inside", 0, ""),
            ("resume", "inside", 6, "in use by a process that is not visible from here"),
            ("repair", "inside", 6, "in use by a process that is not visible from here"),
        ] {
            let mut launch = Launch::new(self.setup, &notes, &[OsStr::new(command), out.as_os_str()]);
            if more == "inside" {
                launch = launch.shell(shell.clone());
            }
            let said = said.replace("%PID", &running.pid.to_string());
            self.check(&format!("{command} {more} another namespace"), &launch.run()?, &[code], &said);
            self.sheet.count("commands about a process of another namespace", 1);
        }
        let ended = running.go_on()?.wait()?;
        self.check("a solve seen from another namespace", &ended, &[0], "");
        self.complete("another namespace", &SOLVES[0], &out, &BTreeSet::new())
    }

    fn file_systems(&mut self) -> Result<()> {
        let scratch = self.setup.disk_folder()?;
        let kind = system_program("stat", &["-f", "-c", "%T", scratch.to_str().context("plain names")?])?;
        let kind = kind.trim().to_owned();
        if !["nfs", "smb", "cifs"].iter().any(|network| kind.starts_with(network)) {
            self.sheet.not_run("NFS, SMB", format!("--scratch is on {kind}; give a folder of a mounted one"));
        }
        self.file_system(&kind, &scratch)?;
        if let Some(reason) = no_mounts() {
            self.sheet.not_run("file systems in user space, and without links", reason);
            return Ok(());
        }
        for program in ["bindfs", "sshfs"] {
            let below = Mount::memory(self.setup, &format!("size={DISK_MIB}m"))?;
            match Mount::once_more(self.setup, program, &below.point) {
                Ok(mount) => {
                    self.file_system(program, &mount.point)?;
                    // SFTP has no error code for a full disk.
                    if program != "sshfs" {
                        self.full(program, &mount.point)?;
                    }
                }
                Err(error) => self.sheet.not_run(program, error),
            }
        }
        if let Some(reason) = no_disk(self.setup, "exfat", DISK_MIB) {
            self.sheet.not_run("exFAT", reason);
            return Ok(());
        }
        let disk = Disk::new(self.setup, "exfat", DISK_MIB, &self.setup.folder()?)?;
        self.file_system("exFAT", disk.point())?;
        self.full("exFAT", disk.point())
    }

    fn file_system(&mut self, name: &str, disk: &Path) -> Result<()> {
        let out = disk.join("run");
        for (which, solve) in SOLVES.iter().enumerate() {
            for _ in 0..self.setup.amount(8, 1) {
                stop_if_asked(self.setup)?;
                let _ = fs::remove_dir_all(&out);
                let at = 1 + self.lane.random.below(self.calls[which]);
                let text = format!("{name}: {solve}: killed at call {at}");
                let ended = solve.launch(self.setup, &self.lane.folder, &out).fault(Fault::at(at, "kill")).run()?;
                let mut safe = BTreeSet::new();
                if went_on(self.sheet, &text, &ended, "kills") && keeps(self.sheet, &text, &out, &mut safe) {
                    self.looked_after(&text, &out, false)?;
                }
                self.complete(&text, solve, &out, &safe)?;
                self.looked_after(&text, &out, true)?;
            }
            for _ in 0..self.setup.amount(2, 1) {
                self.renamed(name, which, disk)?;
            }
        }
        self.other_files(name, disk)?;
        self.store(name, &disk.join("store"))
    }

    /// Renames the folder of a solve, puts another in its place, and foreign files in it.
    fn renamed(&mut self, name: &str, which: usize, disk: &Path) -> Result<()> {
        let (out, moved) = (disk.join("run"), disk.join("moved"));
        let text = format!("{name}: {}: renamed among files of others", SOLVES[which]);
        let Some(running) = self.standing(&text, which, &out)? else { return Ok(()) };
        fs::rename(&out, &moved)?;
        fs::create_dir(&out)?;
        fs::write(out.join("note"), "foreign")?;
        let hidden = hidden_files(&moved)?;
        self.sheet.count("files hidden by the file system while open", hidden);
        let places = ["", "m", "db", "logs"].map(|inner| moved.join(inner));
        let names = FOREIGN.map(|start| [start, b"0001"].concat());
        let planted: Vec<PathBuf> = places
            .iter()
            .flat_map(|place| names.iter().map(|name| place.join(OsStr::from_bytes(name))))
            // A file system can refuse a name.
            .filter(|path| fs::write(path, "foreign").is_ok())
            .collect();
        self.sheet.check(planted.len() >= 12, || format!("{text}: only {} files of others", planted.len()));
        let ended = running.go_on()?.wait()?;
        self.check(&text, &ended, &[0], "");
        if let Some(wrong) = self.golden.compare(&moved) {
            self.sheet.fail(format!("{text}: {wrong}"));
        }
        self.looked_after(&text, &moved, true)?;
        self.complete(&text, &SOLVES[which], &moved, &BTreeSet::new())?;
        let is_kept = |path: &PathBuf| fs::read(path).is_ok_and(|found| found == b"foreign");
        let lost: Vec<_> = planted.iter().filter(|path| !is_kept(path)).collect();
        self.sheet.check(lost.is_empty(), || format!("{text}: {lost:?} are lost"));
        let others = files(&out)?;
        self.sheet.check(others.len() == 1 && is_kept(&out.join("note")), || format!("{text}: wrote into {others:?}"));
        self.sheet.count("folders renamed among files of others", 1);
        fs::remove_dir_all(&moved)?;
        Ok(())
    }

    /// Files that commands write beside the folder of a run.
    fn other_files(&mut self, name: &str, disk: &Path) -> Result<()> {
        let [out, metrics, timeline, losses] =
            ["run", "metrics.prom", "timeline.json", "losses.npy"].map(|name| disk.join(name));
        let _ = fs::remove_dir_all(&out);
        let mut args = SOLVES[0].args(&out);
        args.extend(["--metrics".into(), metrics.clone().into(), "--timeline".into(), timeline.clone().into()]);
        let ended = Launch::new(self.setup, &self.lane.folder, &args).run()?;
        self.check(&format!("{name}: --metrics, --timeline"), &ended, &[0], "");
        let text = fs::read_to_string(&metrics).unwrap_or_default();
        self.sheet.check(text.ends_with("# EOF\n"), || format!("{name}: the metrics end with {text:?}"));
        let events = fs::read(&timeline).unwrap_or_default();
        self.sheet.check(serde_json::from_slice::<Value>(&events).is_ok(), || format!("{name}: no JSON in a timeline"));
        let sound = self.lane.folder.join("losses.npy");
        let in_memory = self.command("export --layers 6 --force --out", &sound, "").run()?;
        self.check("export", &in_memory, &[0], "");
        for (more, code) in [("", 0), ("", 2), ("--force", 0)] {
            let ended = self.command(&format!("export {more} --out"), &losses, out.to_str().context("plain")?).run()?;
            self.check(&format!("{name}: export {more}"), &ended, &[code], "");
            let is_same = fs::read(&losses).ok() == fs::read(&sound).ok();
            self.sheet.check(is_same, || format!("{name}: the exported losses differ"));
        }
        for file in [metrics, timeline, losses] {
            fs::remove_file(&file).with_context(|| file.display().to_string())?;
        }
        fs::remove_dir_all(&out)?;
        Ok(())
    }

    /// Two processes at a time compute the same blocks of a store, in which a file is created once.
    fn store(&mut self, name: &str, store: &Path) -> Result<()> {
        let Solve { layers, block_bits, .. } = SOLVES[0];
        let game = format!("--layers {layers} --block-bits {block_bits}");
        let text = format!("{name}: a store");
        self.check(&text, &self.command("task init --store", store, &game).run()?, &[0], "");
        let plan = self.command("task plan --store", store, "").run()?;
        self.check(&text, &plan, &[0], "");
        let blocks: Vec<u64> =
            plan.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?["block"].as_u64()).collect();
        self.sheet.check(blocks.len() > 50, || format!("{text}: {} blocks in {}", blocks.len(), plan.out));
        for batch in blocks.chunks(8) {
            stop_if_asked(self.setup)?;
            let batch = batch.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
            let notes = [self.setup.folder()?, self.setup.folder()?];
            let args = ["task", "--batch", &batch, "--store", store.to_str().context("plain names")?];
            let running = notes.each_ref().map(|notes| Launch::new(self.setup, notes, &args).start());
            for process in running {
                self.check(&text, &process?.wait()?, &[0], "");
                self.sheet.count("batches of a store, each computed twice at once", 1);
            }
        }
        self.check(&text, &self.command("task finish --store", store, "").run()?, &[0], "");
        self.sheet.check(self.golden.is_in(&store.join("db"))?, || format!("{text}: the database differs"));
        self.check(&text, &self.command("verify", store, "").run()?, &[0], "");
        fs::remove_dir_all(store)?;
        Ok(())
    }

    fn full(&mut self, name: &str, disk: &Path) -> Result<()> {
        for _ in 0..self.setup.amount(4, 1) {
            stop_if_asked(self.setup)?;
            let at = 1 + self.lane.random.below(self.calls[0]);
            let text = format!("{name} filled at call {at}");
            full::filled(self.setup, self.sheet, &self.golden, &mut self.lane, disk, &text, at)?;
            fs::remove_dir_all(disk.join("run"))?;
        }
        Ok(())
    }

    /// An error in the kernel makes the disk read-only in the middle of a run.
    fn read_only(&mut self) -> Result<()> {
        if let Some(reason) = no_disk(self.setup, "ext4", DISK_MIB) {
            self.sheet.not_run("a disk that turns read-only", reason);
            return Ok(());
        }
        let folder = self.setup.folder()?;
        for (which, solve) in SOLVES.iter().enumerate() {
            let mut disk = Disk::new(self.setup, "ext4", DISK_MIB, &folder)?;
            let point = disk.point().to_str().context("plain names")?.to_owned();
            system_program("mount", &["-o", "remount,errors=remount-ro", &point])?;
            let out = disk.point().join("run");
            let text = format!("{solve}: the disk turns read-only");
            let Some(running) = self.standing(&text, which, &out)? else { continue };
            let device = system_program("findmnt", &["-n", "-o", "SOURCE", &point])?;
            let device = Path::new(device.trim()).file_name().context("a device")?.to_owned();
            fs::write(Path::new("/sys/fs/ext4").join(device).join("trigger_fs_error"), "a trial")?;
            let ended = running.go_on()?.wait()?;
            self.check(&text, &ended, &[4], "Read-only file system");
            self.sheet.check(names_a_path(&ended, &out), || format!("{text}: no path in {}", ended.summary()));
            let safe = finished(&out)?;
            for command in ["status", "check", "resume"] {
                let ended = self.command(command, &out, "").run()?;
                let codes = if command == "resume" { &[4] } else { unfinished(&ended) };
                self.check(&format!("{text}: {command}"), &ended, codes, "");
            }
            self.sheet.count("disks that turned read-only", 1);
            disk.again()?;
            self.complete(&text, solve, &out, &safe)?;
            self.looked_after(&text, &out, true)?;
        }
        Ok(())
    }

    fn little_memory(&mut self, group: &Group) -> Result<()> {
        // On the disk, because files in memory would count as the group's.
        let folder = self.setup.disk_folder()?;
        for (mib, layers) in [(512, 7), (1024, 8)] {
            stop_if_asked(self.setup)?;
            group.limit(mib << 20)?;
            let launch = |words: &str| {
                let mut launch = self.command(words, &folder.join(layers.to_string()), "").shell(group.entry());
                launch.limit = Duration::from_secs(600);
                launch
            };
            let text = format!("9 layers in a group of {mib} MiB");
            let plan = launch("plan --layers 9 --json --out").run()?;
            self.check(&text, &plan, &[0], "");
            let plan = &json(&plan)["memory"];
            let [budget, used] = ["budget_bytes", "used_bytes"].map(|name| plan[name].as_u64().unwrap_or(u64::MAX));
            self.sheet.check(used <= budget && budget < mib << 20, || format!("{text}: {plan}"));
            self.sheet.note(format!("{text}: planned with {} MiB of {} MiB", used >> 20, budget >> 20));
            if self.setup.ci && layers > 7 {
                continue;
            }
            let text = format!("{layers} layers in a group of {mib} MiB");
            let ended = launch(&format!("solve --layers {layers} --memory 50% --json --out")).run()?;
            self.check(&text, &ended, &[0], "");
            let losses = json(&ended)["losses"].as_u64();
            self.sheet.check(losses.is_some() && losses == published::losses(layers, Rule::Misere), || {
                format!("{text}: {losses:?} losses")
            });
            let peak = ended.peak_rss_bytes >> 20;
            self.sheet.check(peak < mib, || format!("{text}: peak {peak} MiB"));
            self.sheet.note(format!("{text}, --memory 50%: {peak} MiB at most, {:.1} s", ended.seconds));
            self.sheet.count("solves in a group with little memory", 1);
        }
        fs::remove_dir_all(&folder)?;
        Ok(())
    }
}

/// The exit codes of a maintenance command on an unfinished folder: 2 if nothing was saved yet, 3
/// if only the lists are missing.
fn unfinished(ended: &Ended) -> &'static [i32] {
    if ended.out.contains("verdict   not finished\n") { &[3] } else { &[0, 2] }
}

/// Counts the files that a file system in user space keeps because they are open.
fn hidden_files(folder: &Path) -> Result<u64> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_hidden = entry.file_name().as_bytes().starts_with(b".fuse_hidden");
        count += if entry.file_type()?.is_dir() { hidden_files(&entry.path())? } else { u64::from(is_hidden) };
    }
    Ok(count)
}
