//! `trinim papers bench`: complete solves side by side, every answer checked.
//!
//! A case is a set of arguments of `trinim solve`, or of `trinim papers solve` if it names one of
//! its strategies. Each run is a separate process in a fresh folder, so that time, memory and bytes
//! are those of a real run. Each round runs every case once, in an order of its own, so that a
//! machine whose speed drifts favours none. The first case runs twice, and a ratio counts only if
//! it lies outside the spread of that case to itself. [`trinim_papers::record`] evaluates the
//! figures.
//!
//! # Invariants
//! 1. A run with a wrong answer ends the bench with exit code 1; its figures are not shown.
//! 2. A case that is refused before it writes anything is not a failure: a scan leaves it out with
//!    a remark, a suite shows a row with the reason. If no case is left, the bench is refused.
//! 3. A stopped bench reports the runs so far, and that it was stopped.

mod case;
mod check;
mod machine;
mod rounds;
mod yardsticks;

use case::{Argument, Case, Suite};
use clap::Args;
use machine::facts;
use pipeline::storage::ScratchFolder;
use pipeline::{Error, RealStorage};
use rounds::Rounds;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use terminal::exit::{Exit, Refused};
use terminal::file::{OutputFile, OutputKind};
use terminal::output::Out;
use terminal::programs::find;
use terminal::signals::Signals;
use terminal::watch;
use trinim::cli::args::{JsonArgs, Size};
use trinim::cli::board;
use trinim::cli::choice::{chosen, offered};
use trinim_game::amount::{binary, seconds};
use trinim_game::{Rule, Takes};
use trinim_papers::record::{CSV_SIGNATURE, FORMAT, Figures, Record, Row};

const REPEATS: u32 = 3;
const ROUNDS_MAX: u32 = 1000;

const CSV: OutputKind =
    OutputKind { flag: "--csv", what: "CSV of a bench", is_own: |line| line.starts_with(CSV_SIGNATURE) };

const EXAMPLES: &str = "\
Examples:
  trinim papers bench --layers 6,7                two boards
  trinim papers bench --board rect:5x5,hex:3 --rule misere,normal
  trinim papers bench --layers 7 --threads 1,2 --scan codec=raw,zstd1
                                                  four cases, side by side
  trinim papers bench --layers 7 --scan block-bits=14,18,22 --csv blocks.csv
  trinim papers bench --suite quick --json        a fixed list, seven layers

Every value of a list is combined with every value of the other lists. Each run is a complete trinim solve in a fresh \
folder below --out, which is removed afterwards. A round runs every case once, in random order, and the first case \
twice; ratios within the spread of these two runs are not shown. Ctrl-C ends the bench and reports the runs so far.";

/// Measure complete solves side by side, and check every answer
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct BenchArgs {
    /// Layers of the triangle; a list like 6,7
    #[arg(
        long, short = 'k', value_name = "K,..", value_delimiter = ',', required_unless_present_any = ["suite", "board"]
    )]
    layers: Vec<String>,

    /// Boards, in addition to those of --layers: triangle:K, rect:RxC, hex:N, cram:RxC, file:PATH;
    /// a list
    #[arg(long, value_name = "BOARD,..", value_delimiter = ',')]
    board: Vec<String>,

    /// Whether taking the last piece loses (misere) or wins (normal); a list
    // Each run parses it again.
    #[arg(long, value_name = "RULE,..", value_delimiter = ',',
          value_parser = offered(Rule::ALL.map(Rule::name), |text| Ok(text.to_owned())))]
    rule: Vec<String>,

    /// Threads, 0 for all; a list
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    threads: Vec<String>,

    /// Values of another flag of a solve, like codec=raw,zstd1 or memory=1GiB,4GiB; repeatable
    ///
    /// Flags are those of trinim solve and trinim papers solve, also
    /// strategy=update-log,block-pull; bid-cells takes one value.
    #[arg(long, value_name = "FLAG=VALUE,..", value_parser = Scan::parse)]
    scan: Vec<Scan>,

    /// Measure a fixed list of cases instead of scans
    #[arg(
        long, value_name = "SUITE", value_enum, num_args = 0..=1, default_missing_value = "full",
        conflicts_with_all = ["layers", "board", "rule", "threads", "scan"]
    )]
    suite: Option<Suite>,

    /// Warm-up rounds, not measured [default: 1; 0 in suites other than quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(ROUNDS_MAX)))]
    warm_up: Option<u32>,

    /// Measured rounds
    #[arg(long, value_name = "N", default_value_t = REPEATS,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(ROUNDS_MAX)))]
    repeats: u32,

    /// Folder for the runs, on the device to measure
    #[arg(long, short, value_name = "DIR", default_value = ".")]
    out: PathBuf,

    /// Largest file for measuring the device itself, or none to skip device and memory [default: a
    /// bit for each position of the largest board, 4 MiB to 512 MiB]
    #[arg(long, value_name = "SIZE", value_parser = yardstick)]
    yardstick: Option<Size>,

    /// Revision of the sources, for the record
    #[arg(long, value_name = "TEXT")]
    revision: Option<String>,

    /// Write every value as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    #[command(flatten)]
    json: JsonArgs,
}

/// The flags of `--scan`, in the order in which their values vary: before and after `--rule`, and
/// the layouts.
const SCANNED: [&[&str]; 3] = [
    &["min-take", "max-take"],
    &["values", "strategy", "redundancy", "log-placement", "codec", "kernel", "memory"],
    &["bid-cells", "block-bits"],
];

/// `--scan`: a flag of a solve, and its values.
#[derive(Clone, Debug)]
struct Scan {
    flag: String,
    values: Vec<String>,
}

impl Scan {
    fn parse(text: &str) -> Result<Scan, String> {
        let (flag, values) = text.split_once('=').unwrap_or((text, ""));
        let known = SCANNED.concat();
        if values.is_empty() || !known.contains(&flag) {
            return Err(format!("expected FLAG=VALUE,.. with one of {}", known.join(", ")));
        }
        // Cells contain commas.
        let values: Vec<String> = match flag {
            "bid-cells" => vec![values.to_owned()],
            _ => values.split(',').map(str::to_owned).collect(),
        };
        match (flag, values.iter().any(|value| value == "remoteness")) {
            ("values", true) => Err("expected outcomes or nimbers".to_owned()),
            _ => Ok(Scan { flag: flag.to_owned(), values }),
        }
    }
}

/// Parses `--yardstick`; a size of 0 is none.
fn yardstick(text: &str) -> Result<Size, String> {
    if text == "none" { Ok(Size(0)) } else { text.parse() }
}

/// Returns a yardstick with the bits of the largest board, the least that a solve must move.
fn fitting(cases: &[Case]) -> Size {
    Size((1 << cases.iter().map(Case::cells).max().unwrap_or(0).clamp(25, 32)) / 8)
}

impl BenchArgs {
    fn cases(&self, program: &Path) -> anyhow::Result<Vec<Case>> {
        if let Some(suite) = self.suite {
            return Ok(suite.cases());
        }
        let pairs = |flag: &str, values: &[String]| -> Vec<Argument> {
            values.iter().map(|value| [format!("--{flag}"), value.clone()]).collect()
        };
        let scanned = |flag: &str| -> Vec<Argument> {
            self.scan.iter().filter(|scan| scan.flag == flag).flat_map(|scan| pairs(flag, &scan.values)).collect()
        };
        let [before, after, layouts] = SCANNED.map(|flags| flags.iter().map(|flag| scanned(flag)));
        let boards = [pairs("layers", &self.layers), pairs("board", &self.board)].concat();
        let lists = [boards].into_iter().chain(before).chain([pairs("rule", &self.rule)]).chain(after);
        let last = [pairs("threads", &self.threads), layouts.flatten().collect()];
        let lists: Vec<Vec<Argument>> = lists.chain(last).collect();
        // A value that `solve` rejects is a typo in any combination.
        for [flag, value] in lists.iter().flatten() {
            let others: &[&str] = match flag.as_str() {
                "--layers" | "--board" => &[],
                "--redundancy" => &["--layers", "5", "--strategy", "block-pull"],
                _ => &["--layers", "5"],
            };
            accepted(program, &case::solve_words(&[others, &[flag, value]].concat()))?;
        }
        for name in &self.board {
            board::read("--board", name, Takes::ANY)?;
        }
        Ok(case::with_first_again(case::product(&lists)))
    }
}

/// Checks that trinim can parse these arguments.
fn accepted(program: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let ended = Command::new(program).args(arguments).arg("--help").output();
    let ended = ended.map_err(|error| Error::io("run", program, error))?;
    if ended.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&ended.stderr);
    let reason = errors.lines().next().unwrap_or_default();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    let solve: Vec<&str> = arguments.iter().copied().take_while(|word| !word.starts_with('-')).collect();
    Err(Refused::new(reason, format!("run trinim {} --help to list the values", solve.join(" "))).into())
}

pub fn run(args: BenchArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let signals = Signals::register()?;
    let missing = "trinim is neither next to trinim-papers nor on the PATH, so the bench cannot run it";
    let install = "run cargo install --path . to install it";
    let program = find("trinim").ok_or_else(|| Refused::new(missing, install))?;
    let cases = args.cases(&program)?;
    let csv = args.csv.as_deref().map(|path| OutputFile::claim(path, CSV)).transpose()?;
    if !args.out.is_dir() {
        let message = format!("--out {} is not a folder", args.out.display());
        return Err(Refused::new(message, "name an existing folder on the device to measure").into());
    }
    let folder = ScratchFolder::new(&args.out, "trinim-bench.")?;
    let mut record = Record {
        format: FORMAT,
        date: watch::utc_now().chars().take(10).collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        revision: args.revision.clone(),
        suite: args.suite.map(chosen),
        machine: facts(folder.path()),
        device: None,
        memory: None,
        warm_up: args.warm_up.unwrap_or(args.suite.map_or(1, Suite::warm_up)),
        repeats: args.repeats,
        interrupted: false,
        rows: Vec::new(),
    };
    let Size(size) = args.yardstick.unwrap_or_else(|| fitting(&cases));
    if size > 0 {
        record.device = yardsticks::device(&RealStorage::open(folder.path())?, size, &signals.stop)?;
        record.memory = Some(yardsticks::memory()?);
    }
    out.remark(record.conditions());
    let mut rounds = Rounds::new(program, folder.path(), &signals);
    record.rows = rounds.measure(&cases, record.warm_up, record.repeats, out)?;
    record.interrupted = signals.stopped() && record.rounds() < args.repeats;
    if args.suite.is_none() {
        leave_out_refused(&mut record.rows, out)?;
    }
    record.evaluate();

    // A failure of one of them leaves the other.
    let reported = args.json.report("trinim.bench/1", &record, out, print);
    reported.and(csv.map_or(Ok(()), |csv| Ok(csv.write(&record.csv())?)))?;
    if record.interrupted {
        let (round, repeats) = (record.rounds() + 1, args.repeats);
        out.warn(format_args!("stopped in round {round} of {repeats}: these are the runs so far"));
        return Ok(signals.exit());
    }
    Ok(Exit::Done)
}

/// Removes the refused cases from a product of scans.
fn leave_out_refused(rows: &mut Vec<Row>, out: &Out) -> anyhow::Result<()> {
    let reasons: Vec<String> =
        rows.iter().filter_map(|row| Some(format!("{}: {}", row.name, row.refused.as_ref()?))).collect();
    if let Some(first) = reasons.first().filter(|_| reasons.len() == rows.len()) {
        let others = if reasons.len() > 1 { " (and so are the other cases)" } else { "" };
        let hint = "run trinim solve --help to see which options can be combined";
        return Err(Refused::new(format!("{first}{others}"), hint).into());
    }
    reasons.iter().for_each(|reason| out.remark(format_args!("left out: {reason}")));
    rows.retain(|row| row.refused.is_none());
    Ok(())
}

fn print(record: &Record, out: &mut Out) -> anyhow::Result<()> {
    let width = record.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(4);
    let head = ["median", "min", "max", "MAD", "ratio", "peak", "written", "read"];
    let is_wide = width + FIGURES_WIDTH <= out.columns;
    // In a narrow table the case has a line of its own.
    let width = if is_wide { width } else { 1 };
    let head: String = head.map(|name| format!(" {name:>9}")).concat();
    writeln!(out, "{:width$}{head}", if is_wide { "case" } else { "" })?;
    for Row { name, figures, refused, .. } in &record.rows {
        if !is_wide {
            writeln!(out, "{name}")?;
        }
        let name = if is_wide { name.as_str() } else { "" };
        match figures {
            Some(figures) => print_figures(name, width, figures, out)?,
            None => {
                let reason = refused.as_deref().unwrap_or("not measured");
                writeln!(out, "{name:width$} {}", out.paint.faint(reason))?;
            }
        }
    }
    Ok(())
}

/// Width of the figures of a case in one line.
const FIGURES_WIDTH: usize = 80;

fn print_figures(name: &str, width: usize, figures: &Figures, out: &mut Out) -> std::io::Result<()> {
    let time = figures.seconds;
    let or_dash = |value: Option<f64>, form: fn(f64) -> String| value.map_or("-".to_owned(), form);
    let ratio = match (figures.ratio, figures.ratio_range) {
        (None, Some(_)) => "=".to_owned(),
        (ratio, _) => or_dash(ratio, |ratio| format!("{ratio:.2}")),
    };
    let [median, min, max, mad] = [time.median, time.min, time.max, time.mad].map(seconds);
    let [peak, written, read] = [figures.peak_rss_bytes, figures.written_bytes, figures.read_bytes]
        .map(|value| or_dash(value, |value| binary(value as u64)));
    let cells = [median, min, max, mad, ratio, peak, written, read].map(|cell| format!(" {cell:>9}")).concat();
    writeln!(out, "{name:width$}{cells}")?;
    if let (Some(write), Some(read), Some(memory)) = (figures.write_share, figures.read_share, figures.memory_share) {
        let [write, read, memory] = [write, read, memory].map(|share| format!("{:.0} %", share * 100.0));
        let text = format!("of the device's speed: {write} writing, {read} reading; of the memory's: {memory}");
        writeln!(out, "{:width$} {}", "", out.paint.faint(text))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yardstick_fits_its_cases() {
        let mib = |words: &str| {
            let arguments = words.split(' ').map(str::to_owned).collect();
            fitting(&[Case { arguments, ..Suite::Quick.cases()[0].clone() }]).0 >> 20
        };
        for (words, size) in [
            ("--layers 1 --rule misere", 4),
            ("--rule misere --layers 6 --threads 8", 4),
            ("--threads 8 --layers 7", 32),
            ("--layers 8", 512),
            ("--layers 9", 512),
            ("--board rect:5x6", 128),
            ("--board file:absent", 4),
        ] {
            assert_eq!(mib(words), size, "{words}");
        }
        assert_eq!(fitting(&Suite::Quick.cases()).0, 32 << 20, "seven layers");
    }
}
