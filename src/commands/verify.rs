//! `trinim verify`: checks every byte and every position of a database.

use clap::Args;
use pipeline::Stopwatch;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use terminal::exit::{Exit, Stopped};
use terminal::output::{Out, counted, grouped, per_second, seconds};
use terminal::signals::Signals;
use trinim::cli::args::Size;
use trinim::cli::folders::remark_on_foreign;
use trinim::cli::machine::peak_rss_bytes;
use trinim::cli::work::{self, Counter, WorkArgs};
use trinim::database::{Audit, BlockShare, Database};
use trinim::maintenance::Request;
use trinim::verify::{self, Depth};

const EXAMPLES: &str = "\
Examples:
  trinim verify trinim-k7-misere                     check every byte, then every position
  trinim verify trinim-k7-misere --checksums-only    check every byte
  trinim verify trinim-k8-misere --sample 5%         every byte, then a twentieth of the blocks

The exit code is 0 if everything is correct, 3 if files are damaged, and 1 if undamaged files hold wrong values.";

/// Check a solved board: checksums, then every position against its children
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// Folder of a finished solve, or its db folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Only compare the files with their checksums
    #[arg(long, conflicts_with = "sample")]
    checksums_only: bool,

    /// Check the positions of a share of the blocks, like 0.05 or 5%
    #[arg(long, value_name = "SHARE")]
    sample: Option<BlockShare>,

    /// Seed that selects the blocks of the sample
    #[arg(long, requires = "sample", value_parser = terminal::values::seed, value_name = "N",
          default_value_t = Audit::SEED)]
    seed: u64,

    #[command(flatten)]
    work: WorkArgs,
}

/// What `trinim verify` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// Whether all files and values are right: exit code 0.
    ok: bool,
    /// `checksums`, `sample` or `full`.
    depth: &'static str,
    #[serde(flatten)]
    found: verify::Report,
    /// Census digest, as `trinim stats` prints it; null unless all values were checked and are
    /// right.
    values_digest: Option<String>,
    /// Wall-clock time.
    elapsed_s: f64,
    /// Positions checked per second, images included; null if only bytes were checked.
    rate_positions_per_second: Option<f64>,
    /// Highest resident memory of the process.
    peak_rss_bytes: u64,
}

pub fn run(args: VerifyArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let watch = Stopwatch::start();
    let signals = Signals::register()?;
    let database = Database::open(&args.folder)?;
    let (depth, name) = match (args.checksums_only, args.sample) {
        (true, _) => (Depth::Checksums, "checksums"),
        (false, Some(share)) => (Depth::Sample { share, seed: args.seed }, "sample"),
        (false, None) => (Depth::Full, "full"),
    };
    // Files are counted in bytes, then blocks in positions.
    let counters = [&Counter::new("checking", "bytes"), &Counter::new("checking", "canonical positions")];
    let check = |request: &Request<'_>| verify::verify(&database, depth, request);
    let Some(found) = args.work.counted(&counters, &signals, out, check)?? else {
        return Err(anyhow::Error::new(Stopped::from_the_start(signals.exit())).context("verification incomplete"));
    };
    let elapsed_s = watch.elapsed().as_secs_f64();
    let report = Report {
        ok: found.is_clean(),
        depth: name,
        rate_positions_per_second: (!args.checksums_only).then(|| found.positions as f64 / elapsed_s.max(1e-9)),
        values_digest: (name == "full" && found.is_clean()).then(|| database.manifest().values_digest(database.game())),
        found,
        elapsed_s,
        peak_rss_bytes: peak_rss_bytes(),
    };
    remark_on_foreign(&args.folder, out);
    args.work.json.report("trinim.verify/1", &report, out, print)?;
    Ok(work::exit_of(&report.found))
}

fn print(report: &Report, out: &mut Out) -> anyhow::Result<()> {
    let found = &report.found;
    for finding in &found.findings {
        out.line(format_args!("{} {finding}", out.paint.bad("wrong:")))?;
    }
    let rate = per_second(report.rate_positions_per_second.unwrap_or_default(), "positions");
    let verdict = match work::exit_of(found) {
        Exit::Done => out.paint.good("correct"),
        Exit::Refuted => out.paint.bad("wrong values"),
        _ => out.paint.bad("damaged"),
    };
    let mut rows = vec![
        ("verdict", verdict),
        ("checksums", format!("{}, {}", counted(found.files, "file"), Size(found.file_bytes))),
    ];
    if report.depth != "checksums" {
        let (positions, blocks) = (counted(found.positions, "position"), counted(found.blocks, "block"));
        let canonical = grouped(found.canonical_positions);
        rows.push((
            "values",
            format!("{positions} ({canonical} canonical, in {blocks}) checked against all their children ({rate})"),
        ));
    }
    rows.extend(report.values_digest.clone().map(|digest| ("census", digest)));
    rows.push(("time", seconds(report.elapsed_s)));
    Ok(out.table(&rows)?)
}
