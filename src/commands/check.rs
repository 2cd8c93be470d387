//! `trinim check`: finds damaged files in a run folder or a database.

use clap::Args;
use pipeline::Stopwatch;
use pipeline::checkpoint::PUBLISHED;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use terminal::exit::Exit;
use terminal::output::{Out, counted, grouped, seconds};
use terminal::refusal::quoted;
use terminal::signals::Signals;
use trinim::cli::args::Size;
use trinim::cli::choice::named;
use trinim::cli::folders::remark_on_foreign;
use trinim::cli::owner::{self, Owner};
use trinim::cli::work::{Counter, WorkArgs, failed, print_finding};
use trinim::database::SUMS;
use trinim::maintenance::{self, Depth, Finding, Subject};

const EXAMPLES: &str = "\
Examples:
  trinim check trinim-k8-misere                     check every hash of all files that are needed
  trinim check trinim-k8-misere --depth metadata    journal, names and lengths: well under a second
  trinim check trinim-k8-misere --depth full        check every hash, and decode every frame
  trinim check trinim-k8-misere/db                  check a database without its run

The check only reads, takes no lock, and can run beside a solve. The exit code is 3 if a file that is needed is \
damaged, or if a finished run lacks the list SUMS and no solve is about to write it: other commands refuse such a \
folder. Otherwise it is 0: files left by a stop or a kill do not count as damage. Use trinim verify to check the values.";

/// Files left by a stop are listed if there are at most this many; `--json` lists all.
const LEFTOVERS_SHOWN: usize = 10;

/// How thorough a check is: the value, its name, its text for `--help`.
const DEPTHS: &[(Depth, &str, &str)] = &[
    (Depth::Metadata, "metadata", "Journal, names and lengths"),
    (Depth::Sums, "sums", "Also every hash"),
    (Depth::Full, "full", "Also that every frame decodes"),
];

/// Check a run folder or a database for damaged files
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// Folder of a solve, finished or not, or its db folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// How thorough the check is
    #[arg(long, value_name = "DEPTH", value_parser = named(DEPTHS), default_value = "sums")]
    depth: Depth,

    #[command(flatten)]
    work: WorkArgs,
}

/// What `trinim check` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    /// True (exit code 0) unless a needed file is damaged, or missing from a finished run.
    ok: bool,
    /// `metadata`, `sums` or `full`.
    depth: &'static str,
    #[serde(flatten)]
    found: &'a maintenance::Report,
    /// Whether a process was seen to hold the folder at the end of the check.
    owned: bool,
    /// Wall-clock time.
    elapsed_s: f64,
}

/// Runs the subcommand.
pub fn run(args: CheckArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let watch = Stopwatch::start();
    let signals = Signals::register()?;
    let counter = Counter::new("checking", "bytes");
    let sealed = args.folder.join(PUBLISHED).join(SUMS);
    let (found, owner) = loop {
        let found = args
            .work
            .counted(&[&counter], &signals, out, |request| maintenance::check(&args.folder, args.depth, request))?
            .map_err(|error| failed(error, &args.folder, &signals, "check incomplete"))?;
        let owner = owner::of_folder(&args.folder);
        // A solve that ended after the check looked for the lists has written them.
        if !found.unsealed || matches!(owner, Owner::Held(_)) || !sealed.is_file() {
            break (found, owner);
        }
    };
    let report = Report {
        ok: found.is_sound() && (!found.unsealed || matches!(owner, Owner::Held(_))),
        depth: DEPTHS.iter().find(|(depth, ..)| *depth == args.depth).map_or("", |(_, name, _)| name),
        found: &found,
        owned: matches!(owner, Owner::Held(_)),
        elapsed_s: watch.elapsed().as_secs_f64(),
    };
    remark_on_foreign(&args.folder, out);
    args.work.json.report("trinim.check/1", &report, out, |report, out| print(report, owner, out))?;
    if !report.ok {
        let folder = quoted(&args.folder.to_string_lossy());
        out.remark(format_args!("hint: run trinim repair {folder} --dry-run to list the repairs"));
    }
    Ok(if report.ok { Exit::Done } else { Exit::Corrupt })
}

fn print(report: &Report<'_>, owner: Owner, out: &mut Out) -> anyhow::Result<()> {
    let found = report.found;
    let (damage, left): (Vec<&Finding>, Vec<&Finding>) =
        found.findings.iter().partition(|finding| finding.severity.is_damage());
    let few = if report.owned || left.len() > LEFTOVERS_SHOWN { &[][..] } else { &left };
    for finding in damage.iter().chain(few) {
        print_finding(finding, out)?;
    }
    let (damaged, left) = (damage.len() as u64, left.len() as u64);
    let verdict = match damaged {
        0 if !report.ok => out.paint.bad("not finished"),
        0 => out.paint.good("intact"),
        damaged => out.paint.bad(format_args!("damaged: {}", counted(damaged, "problem"))),
    };
    let mut rows = vec![("verdict", verdict)];
    if found.blocks > 0 {
        let (finished, blocks) = (grouped(found.finished_blocks), counted(found.blocks, "block"));
        let (subject, how) = match found.subject {
            Subject::Run => ("run", "finished"),
            Subject::Database => ("database", "intact"),
        };
        rows.push((subject, format!("{finished} of {blocks} {how}")));
    }
    rows.push(("files", counted(found.files, "file")));
    if report.depth != "metadata" {
        rows.push(("hashed", Size(found.bytes).to_string()));
    }
    if found.unsealed {
        rows.push(match owner.process() {
            Some(process) => ("database", format!("still being finished by {process}")),
            None => ("database", "lacks manifest.json or SUMS: run the same solve again, or trinim repair".to_owned()),
        });
    } else if left > 0 {
        let what = match owner.process() {
            Some(process) => format!("being written or removed by {process}"),
            None => match found.subject {
                Subject::Database => "trinim repair removes those that end in .tmp".to_owned(),
                Subject::Run if found.finished_blocks == found.blocks => {
                    "trinim repair removes those that end in .tmp or .part".to_owned()
                }
                Subject::Run => "removed by the next solve, or by trinim repair".to_owned(),
            },
        };
        rows.push(("left over", format!("{}, {what}", counted(left, "file"))));
    }
    rows.push(("time", seconds(report.elapsed_s)));
    Ok(out.table(&rows)?)
}
