//! `trinim repair`: restores damaged files with the same bytes.

use clap::Args;
use pipeline::Stopwatch;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use terminal::exit::Exit;
use terminal::output::{Out, counted, seconds};
use terminal::signals::Signals;
use trinim::cli::args::Size;
use trinim::cli::folders::remark_on_foreign;
use trinim::cli::owner::{self, Owner};
use trinim::cli::work::{Counter, WorkArgs, failed, print_finding};
use trinim::maintenance::{self, Estimate, Finding, Repair};

const EXAMPLES: &str = "\
Examples:
  trinim repair trinim-k8-misere --dry-run    show the damage, the repair, and its cost
  trinim repair trinim-k8-misere              repair the folder
  trinim repair trinim-k8-misere/db           repair a database without its run

The command first checks every hash; only this step uses several threads. It recomputes blocks from the published \
files of their sources, and logs from the published file of the block that sent them. Each result must have the \
recorded hash, or nothing is replaced. If a repair is stopped or killed, run the same command again; afterwards a \
solve continues, or is finished, as if nothing had happened. If a file cannot be rebuilt, repair changes nothing and \
reports an error.";

/// Restore damaged files of a run folder or a database
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RepairArgs {
    /// Folder of a solve, finished or not, or its db folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Show what would be done and what it would cost; write nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    work: WorkArgs,
}

/// What `trinim repair` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    /// Whether all files are intact now: exit code 0.
    ok: bool,
    /// Whether something was restored; false with `--dry-run`.
    repaired: bool,
    /// Damage and files left over.
    #[serde(serialize_with = "maintenance::serialize_findings")]
    #[schemars(with = "Vec<maintenance::FindingRow<'_>>")]
    findings: Vec<Finding>,
    #[serde(flatten)]
    estimate: &'a Estimate,
    /// Estimated time of the repair.
    estimated_s: f64,
    /// Wall-clock time of the command.
    elapsed_s: f64,
}

/// Runs the subcommand.
pub fn run(args: RepairArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let watch = Stopwatch::start();
    let signals = Signals::register()?;
    let counter = Counter::new("checking", "bytes");
    let repair = args
        .work
        .counted(&[&counter], &signals, out, |request| Repair::prepare(&args.folder, args.dry_run, request))?
        .map_err(|error| failed(refused(error), &args.folder, &signals, "nothing was written"))?;
    let findings: Vec<Finding> =
        repair.report().findings.iter().filter(|finding| finding.severity.is_damage()).cloned().collect();
    let estimate = repair.estimate().clone();
    remark_on_foreign(&args.folder, out);
    if !args.work.json.json {
        for finding in &findings {
            print_finding(finding, out)?;
        }
        print(&estimate, out)?;
        std::io::Write::flush(out)?;
    }
    // As trinim check says, a finished folder lacks its lists.
    let is_unsealed = repair.report().unsealed && !matches!(owner::of_folder(&args.folder), Owner::Held(_));
    let was_sound = findings.is_empty() && !is_unsealed;
    let repaired = !args.dry_run && !estimate.is_empty();
    if repaired {
        let counter = Counter::new("repairing", "blocks and logs");
        args.work
            .counted(&[&counter], &signals, out, |request| repair.carry_out(request))?
            .map_err(|error| failed(refused(error), &args.folder, &signals, "the files restored so far stay"))?;
    }
    let ok = was_sound || repaired;
    let elapsed_s = watch.elapsed().as_secs_f64();
    if args.work.json.json {
        out.json(
            "trinim.repair/1",
            &Report { ok, repaired, findings, estimate: &estimate, estimated_s: estimate.seconds, elapsed_s },
        )?;
    } else if repaired {
        out.table(&[("repaired", out.paint.good("yes")), ("time", seconds(elapsed_s))])?;
    }
    Ok(if ok { Exit::Done } else { Exit::Corrupt })
}

/// Damage that a repair finds cannot be repaired by another repair.
fn refused(error: maintenance::Error) -> maintenance::Error {
    match error {
        maintenance::Error::Run(pipeline::Error::Corrupt { path, damage, .. }) => {
            maintenance::Error::Irreparable { path, reason: damage.reason() }
        }
        other => other,
    }
}

fn print(estimate: &Estimate, out: &mut Out) -> anyhow::Result<()> {
    if estimate.is_empty() {
        return Ok(out.table(&[("to do", "nothing: all required files are intact".to_owned())])?);
    }
    let mut work = Vec::new();
    if estimate.leftovers > 0 {
        work.push(format!("remove {} of a stopped run", counted(estimate.leftovers, "leftover")));
    }
    if estimate.blocks > 0 {
        work.push(format!("recompute {}", counted(estimate.blocks, "block")));
    }
    if estimate.log_entries > 0 {
        work.push(format!("rewrite {}", counted(estimate.log_entries, "log")));
    }
    let files = [
        (estimate.metadata, "FORMAT, manifest, journal"),
        (estimate.manifest, "manifest.json"),
        (estimate.sums, "SUMS"),
    ];
    let files: Vec<&str> = files.into_iter().filter(|(wanted, _)| *wanted).map(|(_, name)| name).collect();
    if !files.is_empty() {
        work.push(format!("rewrite {}", files.join(", ")));
    }
    let read = if estimate.read_bytes > 0 { format!("read {}, ", Size(estimate.read_bytes)) } else { String::new() };
    Ok(out.table(&[("to do", work.join("; ")), ("cost", format!("{read}about {}", seconds(estimate.seconds)))])?)
}
