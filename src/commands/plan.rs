//! `trinim plan`: what a solve would need.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use terminal::exit::Exit;
use terminal::output::{Out, bytes_per_second, counted, grouped, seconds};
use trinim::cli::args::{JsonArgs, Size};
use trinim::cli::board::{BID_LEGEND, cells_text, picture};
use trinim::cli::machine::{memory_free_bytes, memory_shortage};
use trinim::cli::scenario::{ScenarioArgs, estimated, values};
use trinim::cli::summary::GameFields;
use trinim::database::{Keep, Values};
use trinim::game::Board;
use trinim::job::{codec_name, free_bytes};
use trinim::plan::{CodecPlan, KeepPlan, Plan, SLOWER_AT_MOST, StageSeconds, WEIGHED_LAYERS};

const EXAMPLES: &str = "\
Examples:
  trinim plan --layers 8 --memory 256MiB
  trinim plan --layers 9 --memory 8GiB --out k9 --json
  trinim plan --layers 8 --rule normal --values nimbers
  trinim plan --layers 8 --bid-cells \"(1,0)(1,1)(6,0)(6,6)(7,1)(7,6)\"

Times are estimates, from rates of one machine and the speed of this one at the moment; --json has both. \
Boards of fewer than 33 cells take moments, and have none. Nothing is written.";

/// Cells of the smallest board whose solve takes longer than a moment.
const TIMED_CELLS: u32 = 33;

/// Show what a solve would need: layout, memory, disk, logs, time
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,

    /// What to compute of each position: who wins, its nimber, or its remoteness, the distance to
    /// the end
    #[arg(long, help_heading = "Game", value_name = "VALUES", value_parser = values(), default_value = "outcomes")]
    values: Values,

    /// Folder on the disk whose free space is reported
    #[arg(long, short, value_name = "DIR", default_value = ".")]
    out: PathBuf,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim plan` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    #[serde(flatten)]
    plan: &'a Plan,
    /// Moves of the full board.
    moves: usize,
    /// What is computed: `outcomes`, `nimbers` or `remoteness`.
    values: Values,
    /// Free on the disk of `--out`; 2^64 - 1 if unknown.
    disk_free_bytes: u64,
    /// Free memory now; 2^64 - 1 if unknown.
    memory_available_bytes: u64,
    /// Whether a solve could start here.
    feasible: bool,
    /// What is short.
    warnings: Vec<String>,
}

pub fn run(args: PlanArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let solve = args.scenario.solve(Some(args.values))?;
    let board = solve.board();
    let disk_free_bytes = free_bytes(&args.out);
    let plan = out.announcing("planning", || solve.plan(board.cells() >= TIMED_CELLS, disk_free_bytes))?;
    let mut report = Report {
        plan: &plan,
        moves: board.moves().len(),
        values: args.values,
        disk_free_bytes,
        memory_available_bytes: memory_free_bytes(),
        feasible: true,
        warnings: Vec::new(),
    };
    warn(&mut report);
    args.json.report("trinim.plan/1", &report, out, |report, out| print(report, board, &args.scenario, out))
}

/// Adds a warning for each shortage.
fn warn(report: &mut Report<'_>) {
    let Report { plan, disk_free_bytes, memory_available_bytes, .. } = *report;
    let mut short = |text: String| {
        report.feasible = false;
        report.warnings.push(text);
    };
    if plan.shape.canonical_blocks > trinim::layout::CANONICAL_BLOCKS_MAX {
        short(format!("{} are too many", counted(plan.shape.canonical_blocks, "block")));
    }
    if plan.memory.workers == 0 {
        let (least, budget) = (Size(plan.memory.least_bytes), Size(plan.memory.budget_bytes));
        short(format!("memory is short: {least} are needed for one worker, the budget is {budget}"));
    }
    let needed = plan.chosen().disk_peak_bytes;
    if needed > disk_free_bytes {
        let missing = Size(needed - disk_free_bytes);
        let fits = |kept: &&KeepPlan| kept.keep != plan.keep && kept.disk_peak_bytes <= disk_free_bytes;
        let fitting = plan.kept.iter().filter(fits);
        let choices =
            fitting.map(|kept| format!("; --keep {} would fit, with {}", kept.keep, Size(kept.disk_peak_bytes)));
        let choices: String = choices.collect();
        let (needed, free) = (Size(needed), Size(disk_free_bytes));
        short(format!("disk is short by {missing}: {needed} are needed, {free} are free{choices}"));
    }
    report.warnings.extend(memory_shortage(plan.memory.used_bytes, memory_available_bytes));
}

fn print(report: &Report<'_>, board: &Board, args: &ScenarioArgs, out: &mut Out) -> anyhow::Result<()> {
    out.table(&rows(report, board, args))?;
    writeln!(out)?;
    let bid_cells = report.plan.shape.bid_cells.iter().map(|cell| 1 << cell).sum();
    for line in picture(board, bid_cells, out) {
        writeln!(out, "{}", format!("  {line}").trim_end())?;
    }
    writeln!(out, "  {BID_LEGEND}")?;
    print_choices(report.plan, board, out)?;
    print_rates(report.plan, out)?;
    report.warnings.iter().for_each(|warning| out.warn(warning));
    Ok(())
}

/// Writes an estimated time, which a small board has not.
fn time(plan: &Plan, value: f64) -> String {
    if plan.cells >= TIMED_CELLS { seconds(value) } else { "moments".to_owned() }
}

/// The needs of the chosen solve.
fn rows(report: &Report<'_>, board: &Board, args: &ScenarioArgs) -> Vec<(&'static str, String)> {
    let plan = report.plan;
    let shape = &plan.shape;
    let size = |bytes: u64| Size(bytes).to_string();
    let estimate = match plan.cells >= TIMED_CELLS {
        true => format!("{} at the speed of this moment", estimated(plan, 1.0)),
        false => time(plan, plan.chosen().seconds),
    };
    let guess = if shape.estimated { "about " } else { "" };
    let cells = cells_text(board, &shape.bid_cells);
    let memory = &plan.memory;
    let is_as_chosen = plan.codec == codec_name(args.codec);
    let denser = if is_as_chosen { String::new() } else { format!(" with logs in {}", plan.codec) };
    vec![
        ("board", GameFields::new(board, args.rule).to_string()),
        ("positions", format!("{} (2^{})", grouped(plan.positions), plan.cells)),
        ("moves", grouped(report.moves as u64)),
        (
            "BID cells",
            if cells.is_empty() { "none".to_owned() } else { format!("{} of them: {cells}", shape.bid_bits) },
        ),
        (
            "blocks",
            format!(
                "{}, {} to evaluate, {} of bitmap each (2^{} positions)",
                grouped(shape.blocks),
                grouped(shape.canonical_blocks),
                size(plan.block_bytes),
                shape.offset_bits
            ),
        ),
        ("edges", format!("{} ({guess}{} loads of shared logs)", grouped(shape.edges), grouped(shape.loads))),
        (
            "memory",
            format!(
                "{} of {}: program {}, {} of {}, queue {}, {} held for {}",
                size(memory.used_bytes),
                size(memory.budget_bytes),
                size(memory.program_bytes),
                counted(memory.workers as u64, "worker"),
                size(memory.worker_bytes),
                size(memory.queue_bytes),
                size(memory.held_bytes),
                counted(memory.held_streams, "stream")
            ),
        ),
        match plan.keep {
            Keep::Database => (
                "database",
                format!("{} ({:.3} bits a position)", size(plan.database_bytes), plan.database_bits_per_position),
            ),
            keep => ("kept", format!("{}, {}", keep.limits(), size(plan.database_bytes))),
        },
        (
            "disk",
            format!("{} at most{denser}, {} free", size(plan.chosen().disk_peak_bytes), size(report.disk_free_bytes)),
        ),
        ("time", format!("{estimate}; kernel {:.3} ns a position", plan.kernel_ns_per_position)),
    ]
}

/// The costs of the other placements, codecs, and choices of what to keep.
fn print_choices(plan: &Plan, board: &Board, out: &mut Out) -> anyhow::Result<()> {
    let size = |bytes: u64| Size(bytes).to_string();
    writeln!(out, "\n{:10} {:>10} {:>10} {:>10} {:>10} {:>9}", "logs", "written", "read", "peak", "disk", "time")?;
    for row in &plan.placements {
        let here = if row.placement == plan.placement { " <- chosen" } else { "" };
        let sizes = [row.log_bytes_written, row.log_bytes_read, row.log_bytes_peak, row.disk_peak_bytes].map(size);
        let [written, read, peak, disk] = sizes;
        writeln!(
            out,
            "{:10} {written:>10} {read:>10} {peak:>10} {disk:>10} {:>9}{here}",
            row.placement,
            time(plan, row.seconds)
        )?;
    }
    if board.size_in_layers() >= WEIGHED_LAYERS && plan.codecs.len() > 1 {
        writeln!(out, "\n{:12} {:>8} {:>9}", "--codec", "disk", "time")?;
        for CodecPlan { codec, disk_peak_bytes, seconds } in &plan.codecs {
            let here = if *codec == plan.codec { " <- chosen" } else { "" };
            // That of the solve's own logs; the default, `auto`, is the one that is chosen here.
            let codec = if codec == "auto" { "measured" } else { codec };
            writeln!(out, "{codec:12} {:>8} {:>9}{here}", size(*disk_peak_bytes), time(plan, *seconds))?;
        }
        out.paragraph(&format!(
            "chosen: the least disk of those that fit it and take at most {SLOWER_AT_MOST} of the fastest's time"
        ))?;
    }
    writeln!(out, "\n{:10} {:>10} {:>10} {:>9}", "--keep", "kept", "disk", "time")?;
    for KeepPlan { keep, bytes, disk_peak_bytes, seconds } in &plan.kept {
        let here = if *keep == plan.keep { " <- chosen" } else { "" };
        let (bytes, disk) = (size(*bytes), size(*disk_peak_bytes));
        writeln!(out, "{keep:10} {bytes:>10} {disk:>10} {:>9}{here}", time(plan, *seconds))?;
    }
    Ok(())
}

/// What the times are made of.
fn print_rates(plan: &Plan, out: &mut Out) -> anyhow::Result<()> {
    let StageSeconds { decode, orient, apply, settle, publish, encode, audit } = plan.chosen().stages_s;
    let stages = [
        ("decode", decode),
        ("orient", orient),
        ("apply", apply),
        ("settle", settle),
        ("publish", publish),
        ("encode", encode),
        ("audit", audit),
    ];
    let stages = stages.into_iter().filter(|(stage, seconds)| *stage != "audit" || *seconds > 0.0);
    let stages: Vec<String> = stages.map(|(stage, seconds)| format!("{stage} {}", time(plan, seconds))).collect();
    writeln!(out)?;
    // Two decimals say all that a measurement of a moment is worth.
    let speed =
        if plan.speed == 1.0 { String::new() } else { format!(" at {:.2} times the recorded speed", plan.speed) };
    let workers =
        if plan.cells < TIMED_CELLS { String::new() } else { format!("workers: {}{speed}; ", stages.join(", ")) };
    out.paragraph(&format!(
        "{workers}device {}; logs {} bits a position ({})",
        bytes_per_second(plan.rates.device_bytes_per_second),
        (plan.log_bits_per_position * 1e3).round() / 1e3,
        plan.codec,
    ))?;
    Ok(())
}
