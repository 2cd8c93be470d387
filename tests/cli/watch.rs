//! What a long command reports to other programs: events on standard error and metrics in a file;
//! and the files of `tools/batch` that read them.

use crate::common::program::{committed, ends, run, signal, text, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A solve of seven layers in 5,600 blocks: a second or more.
const MANY: [&str; 8] = ["solve", "-k", "7", "--block-bits", "14", "--commit-interval", "20ms", "--out"];

/// The events of a stream, all of whose lines are events.
fn events(stream: &str) -> Vec<Value> {
    let events: Vec<Value> = stream.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(events.iter().all(|event| event["schema"] == "trinim.progress/1"), "{stream}");
    let times: Vec<f64> = events.iter().map(|event| event["elapsed_s"].as_f64().unwrap()).collect();
    assert!(!times.is_empty() && times.is_sorted(), "{stream}");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    assert!(events.iter().all(|event| (now - event["time_s"].as_f64().unwrap()).abs() < 600.0), "{stream}");
    events
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

#[test]
fn a_stream_has_every_event_in_order_and_nothing_else() {
    let folder = scratch();
    let path = folder.path();
    let options = ["run", "--progress", "json", "--progress-interval", "10ms"];
    let solve = [&MANY[..], &options].concat();
    let mut child = trinim(path, &solve).spawn().unwrap();
    committed(&mut child, &path.join("run"));
    // A second process is refused, and says so in its own stream.
    let (code, _, error) = run(path, &solve);
    let refused = events(&error);
    assert_eq!((code, refused.last().unwrap()["event"].as_str()), (6, Some("failed")), "{error}");
    let (reason, hint) = (&refused.last().unwrap()["reason"], &refused.last().unwrap()["hint"]);
    assert!(reason.as_str().unwrap().contains(&format!("is in use by process {}", child.id())), "{reason}");
    assert!(hint.as_str().unwrap().contains("trinim status"), "{hint}");

    let pid = child.id();
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    let stopped = events(&text(&output.stderr));
    assert_eq!(output.status.code(), Some(143));
    assert_eq!((&stopped[0]["event"], &stopped[0]["pid"]), (&"started".into(), &pid.into()));
    let last = stopped.last().unwrap();
    assert_eq!((&last["event"], &last["exit_code"]), (&"stopped".into(), &143.into()));
    assert!(last["reason"].as_str().unwrap().contains("saved in run"), "{last}");
    assert!(last["hint"].as_str().unwrap().starts_with("resume with: trinim solve"), "{last}");
    let commits: Vec<u64> =
        named(&stopped, "commit").iter().map(|event| event["committed_blocks"].as_u64().unwrap()).collect();
    assert!(!commits.is_empty() && commits.is_sorted(), "{commits:?}");

    let (_, error) = ends(path, 0, &["resume", "run", "--progress", "json", "--progress-interval", "10ms"]);
    let whole = events(&error);
    assert_eq!((&whole[0]["event"], &whole[0]["command"]), (&"started".into(), &"resume".into()));
    assert!(named(&whole, "note").iter().any(|note| note["message"].as_str().unwrap().contains("resuming")), "{error}");
    let shares: Vec<f64> = named(&whole, "progress").iter().map(|one| one["share"].as_f64().unwrap()).collect();
    assert!(shares.len() > 1 && shares.is_sorted() && shares.iter().all(|share| *share <= 1.0), "{shares:?}");
    assert!(named(&whole, "progress").iter().all(|one| one["rate_positions_per_second"].as_f64().is_some()));
    let blocks = named(&whole, "commit").last().unwrap()["blocks"].clone();
    assert_eq!(named(&whole, "commit").last().unwrap()["committed_blocks"], blocks);
    let last = whole.last().unwrap();
    assert_eq!((&last["event"], &last["exit_code"]), (&"finished".into(), &0.into()));
    assert_eq!(named(&whole, "finished").len(), 1);

    // Other long commands, in their own words; quiet does not silence a stream.
    let (_, error) = ends(path, 0, &["-q", "verify", "run", "--progress", "json", "--progress-interval", "10ms"]);
    let verified = events(&error);
    assert_eq!(verified[0]["command"], "verify");
    assert_eq!(verified.last().unwrap()["event"], "finished");
    let (_, error) = ends(path, 2, &["verify", "absent", "--progress", "json"]);
    assert_eq!(events(&error).last().unwrap()["event"], "failed");
}

#[test]
fn lines_have_the_time() {
    let folder = scratch();
    let options = ["run", "--progress", "lines", "--progress-interval", "10ms"];
    let (_, error) = ends(folder.path(), 0, &[&MANY[..], &options].concat());
    let lines: Vec<&str> =
        error.lines().filter(|line| line.contains(" % ")).skip_while(|line| line.starts_with("run:")).collect();
    assert!(lines.len() > 1, "{error}");
    for line in lines {
        let (time, _) = line.split_once(' ').unwrap();
        let form: String = time.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
        assert_eq!(form, "0000-00-00T00:00:00Z", "{line}");
        let date = processes::command("date").args(["-u", "-d", time, "+%s"]).output().unwrap();
        let time: u64 = text(&date.stdout).trim().parse().unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        assert!(now.abs_diff(time) < 600, "{line}");
    }
}

/// The samples of a file of metrics, read by the rules of the text form.
fn samples(metrics: &str) -> Vec<(String, f64)> {
    assert!(metrics.ends_with("\n# EOF\n"), "{metrics}");
    let mut typed = BTreeSet::new();
    let mut samples = Vec::new();
    for line in metrics.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(kind == "gauge" && typed.insert(name.to_owned()), "{line}");
        } else if !line.starts_with('#') {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = series.split_once('{').unwrap();
            assert!(typed.contains(name) && labels.starts_with("command=\"") && labels.ends_with("\"}"), "{line}");
            samples.push((series.to_owned(), value.parse().unwrap()));
        }
    }
    samples
}

fn value(samples: &[(String, f64)], series: &str) -> Option<f64> {
    samples.iter().find(|(name, _)| name == series).map(|(_, value)| *value)
}

#[test]
fn a_file_of_metrics_is_always_whole_and_ends_with_the_end() {
    let folder = scratch();
    let path = folder.path();
    let file = path.join("trinim.prom");
    let solve = [&MANY[..], &["run", "--metrics", "trinim.prom"]].concat();
    let mut child = trinim(path, &solve).spawn().unwrap();
    let mut reads = 0;
    while child.try_wait().unwrap().is_none() {
        if let Ok(metrics) = fs::read_to_string(&file) {
            samples(&metrics);
            reads += 1;
        }
        if fs::metadata(path.join("run/m/journal.1.a")).is_ok_and(|journal| journal.len() > 0) {
            signal(&child, "TERM");
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(reads > 0);
    let stopped = samples(&fs::read_to_string(&file).unwrap());
    assert_eq!(value(&stopped, "trinim_state{command=\"solve\",state=\"stopped\"}"), Some(1.0));
    assert_eq!(value(&stopped, "trinim_state{command=\"solve\",state=\"running\"}"), Some(0.0));
    assert_eq!(value(&stopped, "trinim_exit_code{command=\"solve\"}"), Some(143.0));
    ends(path, 0, &["resume", "run", "--metrics", "trinim.prom"]);
    let finished = samples(&fs::read_to_string(&file).unwrap());
    assert_eq!(value(&finished, "trinim_state{command=\"resume\",state=\"finished\"}"), Some(1.0));
    assert_eq!(value(&finished, "trinim_progress_ratio{command=\"resume\"}"), Some(1.0));
    let blocks = value(&finished, "trinim_blocks{command=\"resume\"}");
    assert!(blocks.is_some_and(|blocks| blocks == 5600.0), "{blocks:?}");
    assert_eq!(value(&finished, "trinim_committed_blocks{command=\"resume\"}"), blocks);
    assert!(fs::read_dir(path).unwrap().all(|entry| !entry.unwrap().file_name().to_string_lossy().starts_with('.')));

    // A failure too, and a name that cannot be written is refused before any work.
    ends(path, 7, &["solve", "-k", "7", "--rule", "normal", "--out", "run", "--metrics", "trinim.prom"]);
    let failed = samples(&fs::read_to_string(&file).unwrap());
    assert_eq!(value(&failed, "trinim_state{command=\"solve\",state=\"failed\"}"), Some(1.0));
    for name in ["absent/trinim.prom", "run"] {
        let (_, error) = ends(path, 2, &["solve", "-k", "3", "--out", "three", "--metrics", name]);
        assert!(error.contains(&format!("--metrics {name}")) && !path.join("three").exists(), "{error}");
    }

    // What the rules and the panels of tools/batch ask for is there.
    let known: BTreeSet<String> = finished
        .iter()
        .chain(&stopped)
        .map(|(series, _)| series.split('{').next().unwrap().to_owned())
        .chain(["trinim_eta_seconds".to_owned()])
        .collect();
    for name in ["trinim.rules.yml", "trinim.grafana.json"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/batch").join(name);
        let asked = fs::read_to_string(file).unwrap();
        let words = asked.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
        let asked: BTreeSet<&str> = words.filter(|word| word.starts_with("trinim_")).collect();
        assert!(asked.len() >= 4, "{asked:?}");
        assert!(asked.iter().all(|name| known.contains(*name)), "{name}: {asked:?}\n{known:?}");
    }
}

#[test]
fn a_folder_is_resumed_as_it_was_begun() {
    let folder = scratch();
    let path = folder.path();
    let options = ["--rule", "normal", "--max-take", "3", "--audit", "20%"];
    ends(path, 0, &[&MANY[..], &["whole"], &options].concat());
    let mut child = trinim(path, &[&MANY[..], &["run"], &options].concat()).spawn().unwrap();
    committed(&mut child, &path.join("run"));
    let (_, error) = ends(path, 6, &["resume", "run"]);
    assert!(error.contains(&format!("run is in use by process {}, ", child.id())), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    let (out, error) = ends(path, 0, &["resume", "run", "--threads", "1", "--memory", "100MiB"]);
    assert!(error.starts_with("run: resuming: ") && out.contains("resumed    "), "{out}{error}");
    assert_eq!(
        fs::read(path.join("run/db/manifest.json")).unwrap(),
        fs::read(path.join("whole/db/manifest.json")).unwrap()
    );
    assert_eq!(fs::read(path.join("run/db/SUMS")).unwrap(), fs::read(path.join("whole/db/SUMS")).unwrap());

    // A job that restarts until it succeeds has succeeded.
    let (out, error) = ends(path, 0, &["resume", "run"]);
    assert!(error.starts_with("run is already solved"), "{error}");
    assert_eq!(out.lines().next(), ends(path, 0, &["stats", "run"]).0.lines().next());
}

#[test]
fn a_job_of_slurm_is_queued_again_until_it_is_finished() {
    let folder = scratch();
    let path = folder.path();
    // Stands for Slurm's own command, and notes what it is asked.
    let scontrol = path.join("scontrol");
    fs::write(&scontrol, "#!/bin/sh\necho \"$@\" >> \"$REQUEUED\"\n").unwrap();
    fs::set_permissions(&scontrol, fs::Permissions::from_mode(0o755)).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/batch/solve.sbatch");
    let requeued = path.join("requeued");
    let job = |args: &[&str]| {
        let mut command = processes::command("bash");
        command.arg(&script).args(args).current_dir(path).env("TRINIM", env!("CARGO_BIN_EXE_trinim"));
        command.env("PATH", format!("{}:{}", path.display(), std::env::var("PATH").unwrap()));
        command.env("REQUEUED", &requeued).env("SLURM_JOB_ID", "17").env("SLURM_CPUS_PER_TASK", "1");
        command
    };
    let solve = ["--layers", "6", "--block-bits", "9", "--commit-interval", "20ms", "--out", "run"];
    let mut child = job(&solve).spawn().unwrap();
    committed(&mut child, &path.join("run"));
    // Slurm sends it to the shell alone.
    signal(&child, "TERM");
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(fs::read_to_string(&requeued).unwrap(), "requeue 17\n");
    assert!(!path.join("run/db/SUMS").exists());
    let output = job(&solve).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).ends_with("finished\n") && path.join("run/db/SUMS").exists());
    let output = job(&["--layers", "5", "--out", "run"]).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert!(text(&output.stderr).contains("failed (exit code 7): not queued again"));
    assert_eq!(fs::read_to_string(&requeued).unwrap(), "requeue 17\n");
}
