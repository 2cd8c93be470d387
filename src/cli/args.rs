//! Argument values: memory, threads, shares, cells. Every parse error says what was expected.

use crate::Solve;
use crate::cli::choice::{named, offered};
use crate::game::{Board, Cell, LAYERS_MAX, Rule};
use crate::job::{self, KeepChoice};
use crate::kernel::{Isa, Kernel};
use crate::layout::{Layout, LayoutError};
use crate::plan::{self, Resources};
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use pipeline::Placement;
use pipeline::codec::{self, Codec};
use serde::Serialize;
use std::ops::RangeInclusive;
use std::str::FromStr;
use terminal::exit::Exit;
use terminal::output::Out;
pub use terminal::values::{Size, duration, long_duration};

/// Largest number of worker threads accepted.
const THREADS_MAX: usize = 1024;

/// Parses a memory budget: a size, or a share of the memory like `50%`.
pub fn memory(text: &str) -> Result<Size, String> {
    let Some(percent) = text.trim().strip_suffix('%') else { return text.parse() };
    let share = percent.trim_end().parse::<f64>().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0);
    let share = share
        .ok_or_else(|| format!("{text:?} is not a percentage: expected more than 0% and at most 100%, like 50%"))?;
    let all = job::memory().ok_or("the memory size of this machine is unknown: expected a size like 1GiB")?;
    Ok(Size(((all.bytes as f64 * share / 100.0) as u64).max(1)))
}

/// Parses a number in a range; `expected` names the range.
fn number<T: FromStr + PartialOrd>(text: &str, range: RangeInclusive<T>, expected: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("expected {expected}"))
}

/// Parses a number of threads; 0 means all.
pub fn threads(text: &str) -> Result<usize, String> {
    number(text, 0..=THREADS_MAX, &format!("0 (all) to {THREADS_MAX}"))
}

/// Resolves a number of threads: 0 means all that this process can use.
pub fn all_if_zero(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX),
        some => some,
    }
}

pub fn layers(text: &str) -> Result<u32, String> {
    number(text, 1..=LAYERS_MAX, &format!("1 to {LAYERS_MAX}"))
}

/// Parses the largest number of pieces of a move.
pub fn max_take(text: &str) -> Result<u32, String> {
    number(text, 1..=u32::MAX, "a number of pieces, 1 or more")
}

pub fn rule() -> impl TypedValueParser<Value = Rule> {
    let names = [PossibleValue::new("misere").alias("misère"), PossibleValue::new("normal")];
    offered(names, |text| text.parse().map_err(|error: crate::game::ParseRuleError| error.to_string()))
}

/// Parses cells like `b1,b2`, separated by spaces, commas or semicolons; `none` is the empty list.
/// Earlier versions wrote `(1,0)(1,1)`, row and column from 0.
pub fn cells(text: &str) -> Result<BidCells, String> {
    let expected =
        |rest: &str| format!("{rest:?} is not a list of cells: expected row letters and numbers like b1,b2, or none");
    let mut rest = text.trim();
    if rest == "none" {
        return Ok(Vec::new());
    }
    let mut cells = Vec::new();
    while !rest.is_empty() {
        let (cell, behind) = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((pair, behind)) => {
                let number = |text: &str| text.trim().parse::<u8>().ok();
                (pair.split_once(',').and_then(|(row, col)| Some(Cell::new(number(row)?, number(col)?))), behind)
            }
            None => {
                let (cell, behind) = rest.split_at(rest.find([' ', ',', ';']).unwrap_or(rest.len()));
                (cell.parse().ok(), behind)
            }
        };
        cells.push(cell.ok_or_else(|| expected(rest))?);
        rest = behind.trim_start_matches([' ', ',', ';']);
    }
    if cells.is_empty() {
        return Err(expected(text));
    }
    Ok(cells)
}

/// `--bid-cells`.
pub type BidCells = Vec<Cell>;

pub fn block_bits(text: &str) -> Result<u32, String> {
    number(text, 1..=40, "1 to 40 offset bits")
}

pub fn keep(text: &str) -> Result<KeepChoice, String> {
    let text = text.to_lowercase();
    match text.as_str() {
        "book" => Ok(KeepChoice::Book),
        other => other.parse().map(KeepChoice::Exactly).map_err(|_| {
            format!("unknown value {text:?}: expected database, book, book:PIECES like book:37, or counts")
        }),
    }
}

pub fn codec() -> impl TypedValueParser<Value = &'static dyn Codec> {
    let names = codec::all().iter().map(|codec| codec.name());
    offered(names, |name| codec::by_name(name).ok_or_else(|| format!("unknown codec {name:?}")))
}

/// Names of the kernels for `--kernel`.
pub const KERNELS: [&str; 5] = ["auto", "portable", "avx2", "avx512", "scalar"];

/// `--kernel`; `None`: the best one of this machine.
pub type KernelChoice = Option<Kernel>;

fn kernel() -> impl TypedValueParser<Value = KernelChoice> {
    offered(KERNELS, |name| match name.parse::<Isa>() {
        _ if name == "auto" => Ok(None),
        Ok(isa) => Kernel::new(isa).map(Some).map_err(|_| format!("this machine does not support {isa}")),
        Err(_) => Err(format!("unknown kernel {name:?}")),
    })
}

/// `--log-placement`; `None`: auto.
pub type LogPlacement = Option<Placement>;

const PLACEMENTS: &[(LogPlacement, &str, &str)] = &[
    (Some(Placement::Dedicated), "dedicated", "A separate copy of a block's log for each target"),
    (Some(Placement::Shared), "shared", "One copy that all targets read; writes the least"),
    (None, "auto", "dedicated up to 7 layers; shared from 8 on, where copies are slower (terabytes at 9)"),
];

pub fn log_placement() -> impl TypedValueParser<Value = LogPlacement> {
    named(PLACEMENTS)
}

/// `--kernel`.
#[derive(Clone, Args)]
pub struct KernelArgs {
    /// Instruction set, or scalar for one position at a time; does not change the result
    #[arg(long, help_heading = "Expert", hide = true, value_name = "ISA", value_parser = kernel(), default_value = "auto")]
    pub kernel: KernelChoice,
}

/// `--bid-cells` and `--block-bits`.
#[derive(Clone, Args)]
pub struct BlocksArgs {
    /// Cells whose pieces number the blocks, like b1,b2, or none [default: chosen from board and
    /// memory]
    #[arg(long, help_heading = "Expert", value_name = "CELLS", value_parser = cells, conflicts_with = "block_bits")]
    bid_cells: Option<BidCells>,

    /// Largest number of offset bits of a block; 1 to 40 [default: chosen from board and memory]
    #[arg(long, help_heading = "Expert", value_name = "BITS", value_parser = block_bits)]
    block_bits: Option<u32>,
}

impl BlocksArgs {
    /// Returns a solve in these blocks.
    pub fn bound(&self, solve: Solve) -> Result<Solve, LayoutError> {
        Ok(match (&self.bid_cells, self.block_bits) {
            (Some(cells), _) => {
                let layout = Layout::new(solve.board(), cells)?;
                solve.layout(layout)
            }
            (None, Some(bits)) => solve.block_bits(bits),
            (None, None) => solve,
        })
    }

    /// Returns the layout of a board, by default that of a solve in this memory.
    pub fn layout(&self, board: &Board, memory_bytes: u64) -> Result<Layout, LayoutError> {
        match (&self.bid_cells, self.block_bits) {
            (Some(cells), _) => Layout::new(board, cells),
            (None, Some(bits)) => Ok(Layout::suggested(board, bits)),
            (None, None) => Ok(plan::choose_layout(board, memory_bytes)),
        }
    }
}

/// `--threads`.
#[derive(Clone, Copy, Args)]
pub struct ThreadsArgs {
    /// Threads, 0 for all
    #[arg(long, help_heading = "Resources", value_name = "N", value_parser = threads, default_value = "0",
          env = "TRINIM_THREADS", hide_env = true)]
    threads: usize,
}

impl ThreadsArgs {
    pub fn count(self) -> usize {
        all_if_zero(self.threads)
    }
}

/// `--memory` and `--threads`.
#[derive(Clone, Copy, Args)]
pub struct ResourceArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    threads: ThreadsArgs,
}

impl ResourceArgs {
    /// Returns the resources for positions that are solved on the spot.
    pub fn of_a_part(self) -> Resources {
        Resources { memory_bytes: self.memory.bytes_of(1), threads: self.threads.count(), ..Resources::default() }
    }

    /// Returns a solve with these threads and this memory. By default, a large board gets half of
    /// the free memory.
    pub fn bound(self, solve: Solve) -> Solve {
        let is_large = self.memory.memory.is_none() && solve.board().size_in_layers() >= plan::WEIGHED_LAYERS;
        let half = job::memory().filter(|_| is_large).map_or(0, |memory| memory.free_bytes / 2);
        let resources = self.of_a_part();
        solve.resources(Resources { memory_bytes: resources.memory_bytes.max(half), ..resources })
    }

    /// Returns a solve that was started with `begun_bytes` of memory, with these threads and this
    /// memory. Without `--memory` it takes `begun_bytes` again, if this process can use that much.
    pub fn bound_again(self, solve: Solve, begun_bytes: Option<u64>, out: &Out) -> Solve {
        let solve = self.bound(solve);
        let most = job::memory().map_or(u64::MAX, |memory| memory.bytes);
        match begun_bytes.filter(|_| self.memory.memory.is_none()) {
            Some(bytes) if bytes <= most => solve.memory_bytes(bytes),
            Some(bytes) => {
                let (bytes, most) = (Size(bytes), Size(most));
                out.remark(format_args!(
                    "the earlier --memory {bytes} exceeds what this process can use, {most}: using the default"
                ));
                solve
            }
            None => solve,
        }
    }
}

/// `--memory`.
#[derive(Clone, Copy, Args)]
pub struct MemoryArgs {
    /// Memory budget: a size like 256MiB or 2GB, or a percentage of the usable memory [default:
    /// 1GiB, or 50% if that is less; for a solve of more than 36 cells, half of the free memory]
    #[arg(long, help_heading = "Resources", value_name = "SIZE", value_parser = memory,
          env = "TRINIM_MEMORY", hide_env = true)]
    memory: Option<Size>,
}

impl MemoryArgs {
    /// Returns the memory budget of the whole program for work smaller than a solve; each of its
    /// `parts` has the given one.
    pub fn bytes_of(self, parts: u64) -> u64 {
        let usual = || job::modest_bytes(parts.saturating_mul(job::USUAL_BYTES));
        self.memory.map_or_else(usual, |memory| memory.0.saturating_mul(parts))
    }
}

/// `--json`.
#[derive(Clone, Copy, Args)]
pub struct JsonArgs {
    /// Report as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl JsonArgs {
    /// Reports as JSON under this schema, or as the text of `print`; returns [`Exit::Done`].
    pub fn report<R: Serialize>(
        self,
        schema: &str,
        report: &R,
        out: &mut Out,
        print: impl FnOnce(&R, &mut Out) -> anyhow::Result<()>,
    ) -> anyhow::Result<Exit> {
        if self.json {
            out.json(schema, report)?
        } else {
            print(report, out)?
        }
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_may_be_a_share_of_the_machine() {
        let all = job::memory().unwrap().bytes;
        let half = memory("50%").unwrap().0;
        assert!(half.abs_diff(all / 2) <= 1, "{half} of {all}");
        assert_eq!(memory("256MiB"), Ok(Size(256 << 20)));
        for text in ["0%", "101%", "-5%", "%", "NaN%", "half"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cells_are_read_in_any_spacing() {
        for text in ["b1,b2", " B1 b2 ", "b1; b2"] {
            assert_eq!(cells(text), Ok(vec![Cell::new(1, 0), Cell::new(1, 1)]), "{text}");
        }
        assert_eq!(cells("aa1,j10"), Ok(vec![Cell::new(26, 0), Cell::new(9, 9)]));
        assert_eq!(cells("(1,0)(1,1)"), Ok(vec![Cell::new(1, 0), Cell::new(1, 1)]));
        assert_eq!(cells(" ( 1 , 0 ), (1,1) "), Ok(vec![Cell::new(1, 0), Cell::new(1, 1)]));
        assert_eq!(cells("none"), Ok(vec![]));
        for text in [
            "", "(1,0", "1,0", "(1)", "(a,b)", "(1,0)x", "(300,0)", "(-1,0)", "b", "1", "b0", "b01", "b1-b2", "abc1",
            "b65", "zz9", "é1", "b1b2",
        ] {
            assert!(cells(text).is_err(), "{text}");
        }
    }
}
