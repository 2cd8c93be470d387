//! `trinim plan`: the resources that a solve would need.

use clap::Args;
use pipeline::checkpoint::BLOCKS_AT_MOST;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use terminal::exit::Exit;
use terminal::output::{Out, counted, grouped, seconds};
use trinim::cli::args::{JsonArgs, Size};
use trinim::cli::board::cells_text;
use trinim::cli::machine::{memory_free_bytes, memory_shortage};
use trinim::cli::pace::at_this_load;
use trinim::cli::scenario::{ScenarioArgs, values};
use trinim::cli::summary::GameFields;
use trinim::database::Values;
use trinim::game::Board;
use trinim::job::free_bytes;
use trinim::plan::Plan;

const EXAMPLES: &str = "\
Examples:
  trinim plan --layers 8 --memory 256MiB
  trinim plan --layers 9 --memory 8GiB --out k9 --json
  trinim plan --layers 8 --rule normal --values nimbers
  trinim plan --layers 8 --bid-cells b1,b2,g1,g7,h2,h7

Times are estimates from rates recorded on one machine and the speed of this one; --json lists them by stage. \
Boards of fewer than 33 cells take moments and get no estimate. The command writes nothing.";

/// Cells of the smallest board whose solve takes noticeable time.
const TIMED_CELLS: u32 = 33;

/// Show what a solve would need: layout, memory, disk, time
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,

    /// What to compute: outcomes (who wins), nimbers, or remoteness (moves to the end)
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
    /// Warnings about memory, disk space or the layout.
    warnings: Vec<String>,
}

pub fn run(args: PlanArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let solve = args.scenario.solve(Some(args.values))?;
    let board = solve.board();
    let disk_free_bytes = free_bytes(&args.out);
    let plan = out.announcing("planning", || solve.plan(board.cells() >= TIMED_CELLS))?;
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
    if plan.shape.canonical_blocks > BLOCKS_AT_MOST as u64 {
        short(format!("{} are too many for one machine", counted(plan.shape.canonical_blocks, "block")));
    }
    if plan.memory.workers == 0 {
        let (least, budget) = (Size(plan.memory.least_bytes), Size(plan.memory.budget_bytes));
        short(format!("not enough memory: one worker needs {least}, but the budget is {budget}"));
    }
    let needed = plan.chosen().disk_peak_bytes;
    if needed > disk_free_bytes {
        let [missing, needed, free] = [needed - disk_free_bytes, needed, disk_free_bytes].map(Size);
        short(format!("not enough disk space: about {needed} needed, {free} free ({missing} short)"));
    }
    report.warnings.extend(memory_shortage(plan.memory.used_bytes, memory_available_bytes));
}

fn print(report: &Report<'_>, board: &Board, args: &ScenarioArgs, out: &mut Out) -> anyhow::Result<()> {
    out.table(&rows(report, board, args))?;
    writeln!(out, "\n{:10} {:>10} {:>10} {:>10} {:>10} {:>9}", "logs", "written", "read", "peak", "disk", "time")?;
    for row in &report.plan.placements {
        let here = if row.placement == report.plan.placement { " <- chosen" } else { "" };
        let sizes = [row.log_bytes_written, row.log_bytes_read, row.log_bytes_peak, row.disk_peak_bytes];
        let [written, read, peak, disk] = sizes.map(|bytes| Size(bytes).to_string());
        let time = time(report.plan, row.seconds);
        writeln!(out, "{:10} {written:>10} {read:>10} {peak:>10} {disk:>10} {time:>9}{here}", row.placement)?;
    }
    report.warnings.iter().for_each(|warning| out.warn(warning));
    Ok(())
}

/// Formats an estimated time; a small board has none.
fn time(plan: &Plan, value: f64) -> String {
    if plan.cells >= TIMED_CELLS { seconds(value) } else { "moments".to_owned() }
}

/// The resources of the chosen solve.
fn rows(report: &Report<'_>, board: &Board, args: &ScenarioArgs) -> Vec<(&'static str, String)> {
    let Report { plan, moves, disk_free_bytes, .. } = *report;
    let (shape, memory) = (&plan.shape, &plan.memory);
    let size = |bytes: u64| Size(bytes).to_string();
    let cells = match cells_text(board, &shape.bid_cells) {
        cells if cells.is_empty() => "no BID cells".to_owned(),
        cells => format!("{} {cells}", counted(shape.bid_bits.into(), "BID cell")),
    };
    let guess = if shape.estimated { "about " } else { "" };
    vec![
        (
            "board",
            format!(
                "{}: {} positions (2^{}), {}",
                GameFields::new(board, args.rule),
                grouped(plan.positions),
                plan.cells,
                counted(moves as u64, "move")
            ),
        ),
        (
            "layout",
            format!(
                "{cells}: {}, {} to evaluate, of {}; {} edges ({guess}{} loads of shared logs)",
                counted(shape.blocks, "block"),
                grouped(shape.canonical_blocks),
                size(plan.block_bytes),
                grouped(shape.edges),
                grouped(shape.loads)
            ),
        ),
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
        (
            "disk",
            format!(
                "{} at most; {} stay ({}), {} are free",
                size(plan.chosen().disk_peak_bytes),
                size(plan.database_bytes),
                plan.keep,
                size(disk_free_bytes)
            ),
        ),
        ("time", format!("{}{}", time(plan, plan.chosen().seconds), at_this_load(plan, plan.chosen().seconds))),
    ]
}
