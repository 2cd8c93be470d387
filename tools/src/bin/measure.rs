//! Measures the rows of the README's table with the release binary, whole processes from outside, and checks every answer.
//!
//! `cargo build --release && cargo run --release -p tools --bin measure -- [--runs N] [--out FOLDER]`. Pairs that are compared run in turn, A B A
//! B ..., so that a machine whose speed drifts does not favour one. Medians are printed; every single value is in the JSON.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Misère losses [LWS09, table 4-1].
const LOSSES_7: u64 = 19_496_523;
const LOSSES_8: u64 = 4_124_279_452;
/// Normal play: our own, confirmed by `trinim verify`.
const LOSSES_8_NORMAL: u64 = 4_257_746_765;

/// First word of a case that runs on one core (by the program `taskset`): with `--threads 1` alone, the writer still has the other core.
const ONE_CORE: &str = "one core:";

struct Run {
    seconds: f64,
    answer: Value,
}

struct Bench {
    binary: PathBuf,
    out: PathBuf,
    runs: usize,
    rows: Vec<Value>,
}

fn main() -> Result<()> {
    let mut runs = 3;
    let mut out = std::env::temp_dir();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().with_context(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--runs" => runs = value.parse().context("--runs takes a number")?,
            "--out" => out = value.into(),
            _ => bail!("unknown argument {name}; there are --runs N and --out FOLDER"),
        }
    }
    ensure!(runs > 0, "--runs takes at least 1");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("tools has a parent folder")?;
    let binary = root.join("target/release/trinim");
    ensure!(binary.is_file(), "{} is missing: cargo build --release", binary.display());
    let mut bench = Bench { binary, out, runs, rows: Vec::new() };

    bench.solve("7 layers, default options", LOSSES_7, &[&["--layers", "7"]])?;
    let eight = ["--layers", "8", "--memory", "1GiB"];
    let with = |more: &[&'static str]| [&eight[..], more].concat();
    let one_core = [&[ONE_CORE], &eight[..], &["--threads", "1"]].concat();
    bench.solve("8 layers", LOSSES_8, &[&eight, &with(&["--threads", "1"]), &one_core])?;
    let small = ["--layers", "8", "--memory", "256MiB"];
    let normal = with(&["--rule", "normal"]);
    bench.solve("8 layers, misere", LOSSES_8, &[&with(&["--log-placement", "shared"]), &small])?;
    bench.solve("8 layers, normal", LOSSES_8_NORMAL, &[&normal])?;
    bench.verify()?;
    bench.write(root)
}

impl Bench {
    fn trinim(&self, arguments: &[&str], input: &str) -> Result<Run> {
        let start = Instant::now();
        let (mut command, arguments) = match arguments.split_first() {
            Some((&ONE_CORE, rest)) => {
                let mut command = Command::new("taskset");
                command.args(["-c", "0"]).arg(&self.binary);
                (command, rest)
            }
            _ => (Command::new(&self.binary), arguments),
        };
        let mut child = command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("the release binary cannot be started")?;
        // From a thread of its own: the program answers while it is still being asked.
        let mut asked = child.stdin.take().context("a pipe was asked for")?;
        let input = input.to_owned();
        let asking = std::thread::spawn(move || asked.write_all(input.as_bytes()));
        let output = child.wait_with_output()?;
        asking.join().ok().context("the thread that asks ended with a panic")??;
        let seconds = start.elapsed().as_secs_f64();
        ensure!(output.status.success(), "trinim {} ended with {}", arguments.join(" "), output.status);
        let text = String::from_utf8(output.stdout)?;
        let answer = serde_json::from_str(&text).or_else(|_| {
            let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
            lines.map(Value::Array)
        })?;
        Ok(Run { seconds, answer })
    }

    /// Solves with each set of arguments in turn, `runs` times, from nothing to a synced database.
    fn solve(&mut self, name: &str, losses: u64, cases: &[&[&str]]) -> Result<()> {
        let mut runs: Vec<Vec<Run>> = cases.iter().map(|_| Vec::new()).collect();
        for _ in 0..self.runs {
            for (case, runs) in cases.iter().zip(&mut runs) {
                let folder = tempfile::tempdir_in(&self.out)?;
                let out = folder.path().join("run");
                let out = out.to_str().context("a folder with a plain name")?;
                let (prefix, rest) = case.split_at(usize::from(case.first() == Some(&ONE_CORE)));
                let arguments: Vec<&str> = [prefix, &["solve", "--json", "--out", out], rest].concat();
                let run = self.trinim(&arguments, "")?;
                ensure!(run.answer["losses"] == losses, "{name}: {} losses instead of {losses}", run.answer["losses"]);
                eprintln!("{}: {:.2} s", case.join(" "), run.seconds);
                runs.push(run);
            }
        }
        for (case, runs) in cases.iter().zip(runs) {
            self.row(&format!("solve {}", case.join(" ")), &runs);
        }
        Ok(())
    }

    /// Verifies and probes an eight-layer database.
    fn verify(&mut self) -> Result<()> {
        let folder = tempfile::tempdir_in(&self.out)?;
        let out = folder.path().join("run");
        let out = out.to_str().context("a folder with a plain name")?.to_string();
        self.trinim(&["solve", "--json", "--layers", "8", "--out", &out], "")?;
        let mut runs = Vec::new();
        for _ in 0..self.runs {
            runs.push(self.trinim(&["verify", &out, "--json"], "")?);
        }
        self.row("verify (8 layers, every position)", &runs);
        // Two lists that differ by a thousand positions: the difference of the times is a thousand warm probes.
        let positions = |count: u64| -> String {
            (0..count).map(|at| format!("0x{:x}\n", at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 28)).collect()
        };
        let mut pairs = Vec::new();
        for _ in 0..self.runs {
            let few = self.trinim(&["probe", &out, "--json"], &positions(2000))?;
            let many = self.trinim(&["probe", &out, "--json"], &positions(12_000))?;
            ensure!(many.answer.as_array().is_some_and(|rows| rows.len() == 12_000), "an answer for every position");
            pairs.push((many.seconds - few.seconds) / 10_000.0);
        }
        pairs.sort_by(f64::total_cmp);
        let median = pairs[pairs.len() / 2];
        eprintln!("probe: {:.1} microseconds", median * 1e6);
        self.rows.push(
            json!({ "what": "probe, warm: a position with all its children", "median_s": median, "single_s": pairs }),
        );
        Ok(())
    }

    fn row(&mut self, what: &str, runs: &[Run]) {
        let mut seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let answers: Vec<&Value> = runs.iter().map(|run| &run.answer).collect();
        let median = seconds[seconds.len() / 2];
        self.rows.push(json!({ "what": what, "median_s": median, "single_s": seconds, "answers": answers }));
    }

    fn write(&self, root: &Path) -> Result<()> {
        let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output().context("date")?;
        let date = String::from_utf8(date.stdout)?.trim().to_string();
        let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpus.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
        let model = model.trim_start_matches([' ', '\t', ':']).to_string();
        let threads = std::thread::available_parallelism()?.get();
        let folder = root.join("benches/record");
        std::fs::create_dir_all(&folder)?;
        let record = json!({ "date": date, "cpu": model, "threads": threads, "runs": self.runs, "rows": self.rows });
        std::fs::write(folder.join(format!("{date}.json")), serde_json::to_string_pretty(&record)? + "\n")?;
        let mut table =
            format!("# {date}\n\n{model}, {threads} threads; medians of {} runs, whole processes.\n\n", self.runs);
        table.push_str("| what | median | min to max | peak memory | log written | log read | database |\n|---|---|---|---|---|---|---|\n");
        let mib = |value: &Value| value.as_u64().map_or("-".into(), |bytes| format!("{} MiB", bytes >> 20));
        for row in &self.rows {
            let single: Vec<f64> = row["single_s"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
            let answer = &row["answers"][0];
            let unit = |seconds: f64| {
                if seconds < 0.01 { format!("{:.0} us", seconds * 1e6) } else { format!("{seconds:.2} s") }
            };
            let (least, most) = (single.first().copied().unwrap_or(0.0), single.last().copied().unwrap_or(0.0));
            table.push_str(&format!(
                "| {} | {} | {} to {} | {} | {} | {} | {} |\n",
                row["what"].as_str().unwrap_or_default(),
                unit(row["median_s"].as_f64().unwrap_or_default()),
                unit(least),
                unit(most),
                mib(&answer["peak_rss_bytes"]),
                mib(&answer["log_bytes_written"]),
                mib(&answer["log_bytes_read"]),
                mib(&answer["database_bytes"]),
            ));
        }
        std::fs::write(folder.join(format!("{date}.md")), &table)?;
        print!("{table}");
        Ok(())
    }
}
