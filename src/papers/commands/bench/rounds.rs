//! Rounds: each runs every case once, as complete processes, timed from outside.
//!
//! # Invariants
//! 1. A child inherits none of trinim's environment variables, and reads only the given input. Its
//!    input and output are files, so that neither side waits for the other.
//! 2. The time runs from before the start of the process until its end is seen, at most a
//!    thousandth later.
//! 3. When the bench has to stop, it kills the child at once: the child's folder is deleted anyway.

use super::case::{Action, Case, solve_words};
use super::check::{self, Checker};
use super::yardsticks::mixed;
use pipeline::{Error, Stopwatch};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;
use terminal::exit::{Exit, Refused};
use terminal::output::Out;
use terminal::signals::Signals;
use trinim_game::amount::seconds;
use trinim_game::random::Random;
use trinim_papers::record::{Row, Run};

/// Number of positions in the shorter and the longer list. The difference in time is that of the
/// extra probes, which are warm.
const PROBES: [u64; 2] = [2_000, 12_000];

/// Shortest and longest interval between looks at a child.
const LOOKS: [Duration; 2] = [Duration::from_micros(100), Duration::from_millis(20)];

/// The runs of a bench, and the state that is kept from round to round.
pub struct Rounds<'a> {
    executable: PathBuf,
    folder: &'a Path,
    signals: &'a Signals,
    checker: Checker,
    /// Databases to verify and probe, each solved on first use, by the arguments of its solve.
    databases: BTreeMap<Vec<String>, PathBuf>,
}

enum Outcome {
    Measured(f64, Value),
    Refused(String),
    Stopped,
}

/// A process that has ended.
struct RunEnd {
    seconds: f64,
    status: ExitStatus,
    output: String,
    /// The first line of standard error, without its `error: `.
    reason: String,
}

impl<'a> Rounds<'a> {
    pub fn new(executable: PathBuf, folder: &'a Path, signals: &'a Signals) -> Rounds<'a> {
        Rounds { executable, folder, signals, checker: Checker::default(), databases: BTreeMap::new() }
    }

    /// Measures the cases in rounds, of which the first do not count. Rows are in the order of the
    /// cases, with the runs up to the end or a stop.
    pub fn measure(&mut self, cases: &[Case], warm_up: u32, repeats: u32, out: &Out) -> anyhow::Result<Vec<Row>> {
        let row = |case: &Case| Row { command: case.command(), ..case.row.clone() };
        let mut cases = cases.to_vec();
        let mut rows: Vec<Row> = cases.iter().map(row).collect();
        let mut order: Vec<usize> = (0..cases.len()).collect();
        let mut configurations: Vec<Option<Value>> = vec![None; cases.len()];
        for round in 0..warm_up + repeats {
            let measured = round.checked_sub(warm_up);
            Random::new(round.into()).shuffle(&mut order);
            let mut left = order.clone();
            while !left.is_empty() {
                for place in std::mem::take(&mut left) {
                    let (case, row) = (&cases[place], &mut rows[place]);
                    if row.refused.is_some() {
                        continue;
                    }
                    let name = match measured {
                        Some(measured) => format!("round {} of {}", measured + 1, repeats),
                        None => "warm-up".to_owned(),
                    };
                    match self.run(case)? {
                        Outcome::Stopped => return Ok(rows),
                        Outcome::Refused(reason) => row.refused = Some(reason),
                        Outcome::Measured(time, report) => {
                            configurations[place] =
                                Some(configuration(&report)).filter(|_| case.action == Action::Solve);
                            out.remark(format_args!("{name}: {}: {}", row.name, seconds(time)));
                            row.runs.extend(measured.map(|round| Run { round: round + 1, seconds: time, report }));
                        }
                    }
                }
                for place in 0..cases.len() {
                    // Cases with the same configuration become one row, the first.
                    let same = (0..place).find(|other| configurations[*other] == configurations[place]);
                    let is_run = configurations[place].is_some() && rows[place].refused.is_none();
                    if let Some(same) = same.filter(|_| is_run && !rows[place].again) {
                        rows[place].refused = Some(format!("it is \"{}\"", rows[same].name));
                        rows[place].runs.clear();
                    }
                    let mut others = (0..cases.len()).filter(|other| rows[*other].group == rows[place].group);
                    let first = others.find(|other| rows[*other].refused.is_none()).map(|first| cases[first].again());
                    let is_lost = rows[place].again && rows[place].refused.is_some();
                    if let Some(again) = first.filter(|again| is_lost && *again != cases[place]) {
                        rows[place] = row(&again);
                        cases[place] = again;
                        left.push(place);
                    }
                }
            }
        }
        Ok(rows)
    }

    fn run(&mut self, case: &Case) -> anyhow::Result<Outcome> {
        if case.action == Action::Solve {
            let folder = self.folder.join("run");
            let outcome = self.solve(case, &folder);
            // Outside the measured time, and not left to the next run.
            if folder.exists() {
                fs::remove_dir_all(&folder).map_err(|error| Error::io("remove", &folder, error))?;
            }
            return outcome;
        }
        if !self.databases.contains_key(&case.arguments) {
            let folder = self.folder.join(format!("database{}", self.databases.len()));
            match self.solve(case, &folder)? {
                Outcome::Measured(..) => self.databases.insert(case.arguments.clone(), folder),
                other => return Ok(other),
            };
        }
        let folder = &self.databases[&case.arguments];
        if case.action == Action::Probe {
            return self.probe(case, folder);
        }
        let Some(ended) = self.started(&["verify".into(), folder.into(), "--json".into()], "")? else {
            return Ok(Outcome::Stopped);
        };
        Ok(Outcome::Measured(ended.seconds, checked(case, &ended, check::verify)?))
    }

    /// Runs the program with these arguments; returns `None` if the bench has to stop.
    fn started(&self, arguments: &[OsString], input: &str) -> Result<Option<RunEnd>, Error> {
        // Unwritten data of an earlier run must not slow down this one.
        rustix::fs::sync();
        let [stdin, stdout, stderr] = ["input", "output", "errors"].map(|name| self.folder.join(name));
        fs::write(&stdin, input).map_err(|error| Error::io("write", &stdin, error))?;
        let mut command = Command::new(&self.executable);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TRINIM_")) {
            command.env_remove(name);
        }
        let created = |path: &Path| fs::File::create(path).map_err(|error| Error::io("create", path, error));
        command.args(arguments).stdout(created(&stdout)?).stderr(created(&stderr)?);
        command.stdin(fs::File::open(&stdin).map_err(|error| Error::io("open", &stdin, error))?);
        let watch = Stopwatch::start();
        let failed_run = |error| Error::io("run", &self.executable, error);
        let mut child = command.spawn().map_err(failed_run)?;
        let (status, seconds) = loop {
            if let Some(status) = child.try_wait().map_err(failed_run)? {
                break (status, watch.elapsed().as_secs_f64());
            }
            if self.signals.stopped() {
                // Killing a child that has just ended fails, and does no harm.
                let _ = child.kill();
                child.wait().map_err(failed_run)?;
                return Ok(None);
            }
            std::thread::sleep((watch.elapsed() / 1000).clamp(LOOKS[0], LOOKS[1]));
        };
        if self.signals.stopped() {
            return Ok(None);
        }
        let read = |path: &Path| fs::read(path).map_err(|error| Error::io("read", path, error));
        let errors = String::from_utf8_lossy(&read(&stderr)?).into_owned();
        let first = errors.lines().next().unwrap_or("no reason given");
        let reason = first.strip_prefix("error: ").unwrap_or(first).to_owned();
        let output = String::from_utf8_lossy(&read(&stdout)?).into_owned();
        Ok(Some(RunEnd { seconds, status, output, reason }))
    }

    fn solve(&mut self, case: &Case, folder: &Path) -> anyhow::Result<Outcome> {
        let mut arguments: Vec<OsString> = solve_words(&case.arguments).into_iter().map(OsString::from).collect();
        arguments.extend(["--json".into(), "--quiet".into(), "--out".into(), folder.into()]);
        let Some(ended) = self.started(&arguments, "")? else { return Ok(Outcome::Stopped) };
        let code = ended.status.code();
        let may_refuse = [Exit::Usage, Exit::System].map(|exit| Some(exit as i32));
        if may_refuse.contains(&code) && !folder.exists() {
            return Ok(Outcome::Refused(ended.reason));
        }
        let mut report = checked(case, &ended, |report| self.checker.solve(case.board_file(), report))?;
        if let Value::Object(fields) = &mut report {
            // The folder will be removed.
            fields.remove("out");
        }
        report.sort_all_objects();
        Ok(Outcome::Measured(ended.seconds, report))
    }

    /// Measures the time of one warm probe, from two lists of questions of different length.
    fn probe(&self, case: &Case, folder: &Path) -> anyhow::Result<Outcome> {
        let cells = case.cells();
        let mut times = Vec::new();
        for questions in PROBES {
            let position = |number| format!("{:#x}\n", mixed(number) & ((1 << cells) - 1));
            let list: String = (0..questions).map(position).collect();
            let Some(ended) = self.started(&["probe".into(), folder.into(), "--json".into()], &list)? else {
                return Ok(Outcome::Stopped);
            };
            succeeded(case, &ended)?;
            let wrong = |what: String| check::wrong_answer(&case.command(), &what);
            check::probes(&ended.output, questions as usize).map_err(wrong)?;
            times.push(ended.seconds);
        }
        let [few, many] = PROBES;
        let time = (times[1] - times[0]) / (many - few) as f64;
        Ok(Outcome::Measured(time, json!({ "few_s": times[0], "many_s": times[1], "probes": many - few })))
    }
}

/// Returns the configuration of a solve, as its arguments and this machine determine it.
fn configuration(report: &Value) -> Value {
    let names = "digest,keep,audit,strategy,redundancy,placement,codec,kernel,threads,workers,memory_bytes";
    names.split(',').filter_map(|name| report.get(name)).cloned().collect()
}

/// Returns the report of a process that succeeded with the right answer.
fn checked(case: &Case, ended: &RunEnd, check: impl FnOnce(&Value) -> Result<(), String>) -> anyhow::Result<Value> {
    succeeded(case, ended)?;
    let wrong = |what: String| check::wrong_answer(&case.command(), &what);
    let report: Value = serde_json::from_str(&ended.output).map_err(|error| wrong(format!("no JSON: {error}")))?;
    check(&report).map_err(wrong)?;
    Ok(report)
}

/// Refuses a process that failed: it is not a measurement. The bench ends as it did, where that
/// says what is wrong with the answers, the files or the system.
fn succeeded(case: &Case, ended: &RunEnd) -> anyhow::Result<()> {
    if ended.status.success() {
        return Ok(());
    }
    let message = format!("{} ended with {}: {}", case.command(), ended.status, ended.reason);
    // A process without a code was killed.
    let code = ended.status.code().unwrap_or(Exit::System as i32);
    let exit = [Exit::Refuted, Exit::Corrupt, Exit::System].into_iter().find(|exit| *exit as i32 == code);
    Err(Refused::with(exit.unwrap_or(Exit::Usage), message, "run the command without the bench for details").into())
}

#[cfg(test)]
mod tests {
    use super::super::case::Suite;
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn a_failed_process_ends_the_bench_with_a_code_of_the_same_kind() {
        let case = &Suite::Quick.cases()[0];
        for (status, exit) in [
            (9, Exit::System),
            (4 << 8, Exit::System),
            (3 << 8, Exit::Corrupt),
            (1 << 8, Exit::Refuted),
            (2 << 8, Exit::Usage),
        ] {
            let status = ExitStatus::from_raw(status);
            let ended = RunEnd { seconds: 1.0, status, output: String::new(), reason: "why".to_owned() };
            let refused: Refused = succeeded(case, &ended).unwrap_err().downcast().unwrap();
            assert_eq!(refused.exit, exit, "{status}");
        }
    }
}
