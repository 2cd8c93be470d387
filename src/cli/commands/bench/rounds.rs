//! Rounds: each runs every case once.

use super::case::{Action, Case};
use super::check::{self, Checker};
use super::child::{Ended, Program};
use super::machine::mixed;
use crate::cli::face::exit::{Exit, Refused, WrongAnswer};
use crate::cli::face::output::Out;
use crate::cli::face::signals::Signals;
use pipeline::Error;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use trinim::amount::seconds;
use trinim::report::record::{Row, Run};

/// Positions in the shorter and the longer list: the difference in time is that of the extra
/// probes, which are warm.
const PROBES: [u64; 2] = [2_000, 12_000];

/// Number and place of the runs.
pub struct Rounds<'a> {
    /// Unmeasured rounds.
    pub warm_up: u32,
    /// Measured rounds.
    pub repeats: u32,
    /// Folder for the runs.
    pub folder: &'a Path,
    /// Signals that arrive meanwhile.
    pub signals: &'a Signals,
}

/// The outcome of a run.
enum Outcome {
    Measured(f64, Value),
    Refused(String),
    Stopped,
}

/// State kept across rounds.
struct Session<'a> {
    rounds: &'a Rounds<'a>,
    program: Program,
    checker: Checker,
    /// Databases to verify and probe, by the arguments of their solve.
    databases: BTreeMap<Vec<String>, PathBuf>,
}

impl Rounds<'_> {
    /// Measures the cases in turn. Rows are in the order of the cases, with the runs up to the end
    /// or a stop.
    ///
    /// # Errors
    /// Returns [`WrongAnswer`] for a wrong answer, [`Refused`] for a run that failed, and
    /// [`Error::Io`] if the system refuses.
    pub fn measure(&self, cases: &[Case], out: &Out) -> anyhow::Result<Vec<Row>> {
        let mut session = Session {
            rounds: self,
            program: Program::own(self.folder)?,
            checker: Checker::new(trinim::game::published::losses),
            databases: BTreeMap::new(),
        };
        let row = |case: &Case| Row {
            name: case.name.clone(),
            group: case.group.clone(),
            command: case.command(),
            headline: case.headline,
            ..Row::default()
        };
        let mut rows: Vec<Row> = cases.iter().map(row).collect();
        for round in 0..self.warm_up + self.repeats {
            let measured = round.checked_sub(self.warm_up);
            for (case, row) in cases.iter().zip(&mut rows).filter(|(_, row)| row.refused.is_none()) {
                let name = match measured {
                    Some(measured) => format!("round {} of {}", measured + 1, self.repeats),
                    None => "warm-up".to_owned(),
                };
                match session.run(case)? {
                    Outcome::Stopped => return Ok(rows),
                    Outcome::Refused(reason) => row.refused = Some(reason),
                    Outcome::Measured(time, report) => {
                        out.remark(format_args!("{name}: {}: {}", case.name, seconds(time)));
                        row.runs.extend(measured.map(|round| Run { round: round + 1, seconds: time, report }));
                    }
                }
            }
        }
        Ok(rows)
    }
}

impl Session<'_> {
    fn run(&mut self, case: &Case) -> anyhow::Result<Outcome> {
        match case.action {
            Action::Solve => {
                let folder = self.rounds.folder.join("run");
                let outcome = self.solve(case, &folder);
                // Outside the measured time, and not left to the next run.
                remove(&folder)?;
                outcome
            }
            Action::Verify => self.with_database(case, |session, folder| {
                let Some(ended) = session.started(&["verify".into(), folder.into(), "--json".into()], "")? else {
                    return Ok(Outcome::Stopped);
                };
                let report = checked(case, &ended, check::verify)?;
                Ok(Outcome::Measured(ended.seconds, report))
            }),
            Action::Probe => self.with_database(case, |session, folder| session.probe(case, folder)),
        }
    }

    fn started(&self, arguments: &[OsString], input: &str) -> Result<Option<Ended>, Error> {
        self.program.run(arguments, input, self.rounds.signals)
    }

    /// Solves into `folder`.
    fn solve(&mut self, case: &Case, folder: &Path) -> anyhow::Result<Outcome> {
        let mut arguments: Vec<OsString> = vec!["solve".into(), "--json".into(), "--quiet".into()];
        arguments.extend(case.arguments.iter().map(OsString::from));
        arguments.extend(["--out".into(), folder.into()]);
        let Some(ended) = self.started(&arguments, "")? else { return Ok(Outcome::Stopped) };
        let code = ended.status.code();
        let may_refuse = [Exit::Usage, Exit::System].map(|exit| Some(exit as i32));
        if may_refuse.contains(&code) && !folder.exists() {
            return Ok(Outcome::Refused(ended.reason));
        }
        let mut report = checked(case, &ended, |report| self.checker.solve(case.board_file(), report))?;
        if let Value::Object(fields) = &mut report {
            // The folder is gone by then.
            fields.remove("out");
        }
        report.sort_all_objects();
        Ok(Outcome::Measured(ended.seconds, report))
    }

    /// Runs `work` on the database of a case, which is solved on first use.
    fn with_database(
        &mut self,
        case: &Case,
        work: impl FnOnce(&mut Self, &Path) -> anyhow::Result<Outcome>,
    ) -> anyhow::Result<Outcome> {
        let folder = match self.databases.get(&case.arguments) {
            Some(folder) => folder.clone(),
            None => {
                let folder = self.rounds.folder.join(format!("database{}", self.databases.len()));
                match self.solve(case, &folder)? {
                    Outcome::Measured(..) => self.databases.insert(case.arguments.clone(), folder.clone()),
                    other => return Ok(other),
                };
                folder
            }
        };
        work(self, &folder)
    }

    /// Measures the time of one warm probe, from two lists of questions of different length.
    fn probe(&mut self, case: &Case, folder: &Path) -> anyhow::Result<Outcome> {
        let cells = cells(case);
        let mut times = Vec::new();
        for questions in PROBES {
            let mut list = String::new();
            for number in 0..questions {
                // Writing to a string cannot fail.
                let _ = writeln!(list, "{:#x}", mixed(number) & ((1 << cells) - 1));
            }
            let Some(ended) = self.started(&["probe".into(), folder.into(), "--json".into()], &list)? else {
                return Ok(Outcome::Stopped);
            };
            succeeded(case, &ended)?;
            let wrong = |what: String| WrongAnswer { command: case.command(), what };
            check::probes(&ended.output, questions as usize).map_err(wrong)?;
            times.push(ended.seconds);
        }
        let [few, many] = PROBES;
        let time = (times[1] - times[0]) / (many - few) as f64;
        Ok(Outcome::Measured(time, json!({ "few_s": times[0], "many_s": times[1], "probes": many - few })))
    }
}

/// Returns the number of cells of a case's board.
fn cells(case: &Case) -> u32 {
    let at = case.arguments.iter().position(|argument| argument == "--layers");
    let layers: u32 = at.and_then(|at| case.arguments.get(at + 1)?.parse().ok()).unwrap_or(1);
    layers * (layers + 1) / 2
}

/// Returns the report of a process that succeeded with the right answer.
fn checked(case: &Case, ended: &Ended, check: impl FnOnce(&Value) -> Result<(), String>) -> anyhow::Result<Value> {
    succeeded(case, ended)?;
    let wrong = |what: String| WrongAnswer { command: case.command(), what };
    let report: Value = serde_json::from_str(&ended.output).map_err(|error| wrong(format!("no JSON: {error}")))?;
    check(&report).map_err(wrong)?;
    Ok(report)
}

/// Refuses a process that failed: it is no measurement.
fn succeeded(case: &Case, ended: &Ended) -> anyhow::Result<()> {
    if ended.status.success() {
        return Ok(());
    }
    let message = format!("{} ended with {}: {}", case.command(), ended.status, ended.reason);
    Err(Refused::new(message, "run the same command without the bench to see more").into())
}

fn remove(folder: &Path) -> Result<(), Error> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", folder, error)),
        _ => Ok(()),
    }
}
