//! Files that other programs read: units, jobs, manifests of clusters. Each program has units of
//! its own for sizes and times, and systemd ignores a line that it does not understand.

use crate::common::program::text;
use crate::common::scratch;
use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder of the repository whose names end like this.
fn files(folder: &str, end: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let found = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<_> = found.filter(|path| path.to_str().unwrap().ends_with(end)).collect();
    assert!(!found.is_empty(), "no {end}");
    found
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number with one of these units, or none.
fn is_with(text: &str, units: &[&str]) -> bool {
    is_number(text) || units.iter().any(|unit| text.strip_suffix(unit).is_some_and(is_number))
}

/// Whether systemd understands a value, as systemd.exec(5), systemd.resource-control(5) and
/// systemd.time(7) have it.
fn is_of_systemd(section: &str, key: &str, value: &str) -> bool {
    let time = |value: &str| is_with(value, &["us", "ms", "s", "sec", "m", "min", "h", "hr", "d", "day", "w", "week"]);
    let size = |value: &str| is_with(value, &["%", "K", "M", "G", "T"]) || value == "infinity";
    match (section, key) {
        ("Unit", "Description" | "After" | "Documentation") | ("Install", "WantedBy") => !value.is_empty(),
        ("Unit", "StartLimitIntervalSec") | ("Service", "TimeoutStopSec" | "RestartSec") => time(value),
        ("Unit", "StartLimitBurst") | ("Service", "LimitNOFILE") => is_number(value),
        ("Service", "Nice") => value.parse().is_ok_and(|nice: i32| (-20..20).contains(&nice)),
        ("Service", "MemoryMax" | "MemoryHigh") => size(value),
        ("Service", "SuccessExitStatus" | "RestartPreventExitStatus") => value.split(' ').all(is_number),
        ("Service", "Type") => ["simple", "exec"].contains(&value),
        ("Service", "Restart") => ["no", "always", "on-failure"].contains(&value),
        ("Service", "KillSignal") => value == "SIGTERM",
        ("Service", "IOSchedulingClass") => ["realtime", "best-effort", "idle"].contains(&value),
        ("Service", "ProtectSystem") => ["yes", "no", "full", "strict"].contains(&value),
        ("Service", "NoNewPrivileges" | "ProtectHome" | "PrivateTmp") => ["yes", "no"].contains(&value),
        ("Service", "User") => !value.is_empty(),
        ("Service", "ExecStart") => value.starts_with('/'),
        ("Service", "StateDirectory") => !value.contains('/'),
        _ => false,
    }
}

/// Regression: systemd ignored `MemoryMax=8GiB`, and the service had no limit.
#[test]
fn systemd_understands_every_line_of_a_unit() {
    assert!(is_of_systemd("Service", "MemoryMax", "8G") && !is_of_systemd("Service", "MemoryMax", "8GiB"));
    for unit in files("tools/batch", ".service") {
        let (written, mut section) = (fs::read_to_string(&unit).unwrap(), "");
        for line in written.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                Some(name) => section = name,
                None => {
                    let (key, value) = line.split_once('=').unwrap_or_default();
                    assert!(is_of_systemd(section, key, value), "{}: [{section}] {line}", unit.display());
                }
            }
        }
        // The program is not where the unit has it.
        let (folder, program) = (scratch(), env!("CARGO_BIN_EXE_trinim"));
        let copy = folder.path().join(unit.file_name().unwrap());
        fs::write(&copy, written.replace("ExecStart=/usr/local/bin/trinim ", &format!("ExecStart={program} ")))
            .unwrap();
        let Ok(checked) = processes::command("systemd-analyze").arg("verify").arg(&copy).output() else {
            eprintln!("systemd-analyze is not installed: {} was checked by the list here alone", unit.display());
            continue;
        };
        let found = text(&checked.stderr);
        // Other units of this machine may have faults, too.
        let own: Vec<&str> = found.lines().filter(|line| line.contains("trinim")).collect();
        assert!(own.is_empty(), "{own:#?}");
    }
}

/// Slurm has its own units, and Kubernetes the binary ones.
#[test]
fn jobs_ask_for_memory_and_time_in_the_units_of_their_program() {
    let jobs = [files("tools/batch", ".sbatch"), files("tools/cluster/scripts", ".sbatch")].concat();
    for job in jobs {
        let written = fs::read_to_string(&job).unwrap();
        let mut options = written.lines().filter_map(|line| line.strip_prefix("#SBATCH --")).peekable();
        assert!(options.peek().is_some());
        for option in options {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let is_fine = match name {
                "mem" => is_with(value, &["K", "M", "G", "T"]),
                "time" => value.len() == 8 && value.split(':').all(is_number),
                "nodes" | "ntasks" | "cpus-per-task" | "ntasks-per-node" => is_number(value),
                "signal" => value.split_once('@').is_some_and(|(name, time)| name == "B:TERM" && is_number(time)),
                "open-mode" => value == "append",
                "job-name" => !value.is_empty(),
                "requeue" | "no-kill" => value.is_empty(),
                _ => false,
            };
            assert!(is_fine, "{}: {option}", job.display());
        }
    }
    for pods in files("tools/cluster/scripts", ".yaml") {
        let written = fs::read_to_string(&pods).unwrap();
        let amounts = written.split(['{', ',', '}', '\n']).filter_map(|field| field.trim().split_once(": "));
        let amounts: Vec<&str> =
            amounts.filter(|(key, _)| ["memory", "storage"].contains(key)).map(|(_, value)| value).collect();
        assert!(amounts.len() > 3 && amounts.iter().all(|amount| is_with(amount, &["Mi", "Gi", "Ti"])), "{amounts:?}");
    }
}
