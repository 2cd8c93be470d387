//! The board of a command: layers of a triangle, a family, or a file.

use crate::cli::args;
use crate::database::Values;
use crate::game::{Board, Rule, Takes};
use crate::job::{self, CELLS_MAX};
use crate::play::transcript::board_identity;
use clap::builder::TypedValueParser;
use clap::{Args, Command};
use std::path::Path;
use terminal::exit::Refused;
use terminal::file::InputKind;
use terminal::output::{Out, padded};

/// Boards with this many cells or fewer are solved when they are asked for: 2^28 positions, in
/// about half a second.
pub const SMALL_CELLS_MAX: u32 = 28;

/// The layers and the cells that a command takes, by its path.
const TAKEN: [(&[&str], &str, u32); 3] = [
    (&["solve", "task init", "plan", "papers layout", "papers layout search", "papers solve"], "1 to 10", CELLS_MAX),
    (&["stats", "export", "serve"], "1 to 7, or 9 (built in)", SMALL_CELLS_MAX),
    (&["probe", "play"], "1 to 10", crate::game::CELLS_MAX),
];

/// Returns the command with what it and its subcommands take of `--layers` and `--board` in their
/// help and their refusals, and without the resources of positions in its help; `path` is that of
/// the command, and empty for the program.
pub fn ranged(command: Command, path: &str) -> Command {
    let command = match TAKEN.iter().find(|(paths, ..)| paths.contains(&path)) {
        None => command,
        Some(&(paths, layers, cells)) => command.mut_args(|arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            match arg.get_id().as_str() {
                "layers" => arg.help(format!("{help}; {layers}")).value_parser(layers_up_to(layers)),
                "board" => arg.help(format!("{help}; up to {cells} cells")),
                // What a position takes by default is little: the manual page has them.
                "memory" | "threads" | "scratch" if paths.contains(&"probe") => arg.hide(true),
                _ => arg,
            }
        }),
    };
    command.mut_subcommands(|inner| {
        let path = format!("{path} {}", inner.get_name());
        ranged(inner, path.trim_start())
    })
}

/// Returns a parser of layers that names the range of a command.
fn layers_up_to(range: &'static str) -> impl TypedValueParser<Value = u32> {
    move |text: &str| args::layers(text).map_err(|_| format!("expected {range}"))
}

pub const BID_LEGEND: &str = "X: cells that name the block (BID cells)";

/// A board file; the longest lists some thousand moves.
const BOARD: InputKind = InputKind {
    what: "board",
    most_bytes: 1 << 20,
    hint: "a board file defines name, cells, and lines or moves; run trinim solve --help to see an example",
};

/// The board, which a command needs.
pub type RequiredBoard = BoardArgs<true>;

/// The board, if one is named or has to be.
#[derive(Clone, Args)]
pub struct BoardArgs<const REQUIRED: bool = false> {
    /// Layers of the triangle
    #[arg(long, help_heading = "Game", short = 'k', value_name = "K", value_parser = args::layers,
          required_unless_present_any = REQUIRED.then_some("board"))]
    pub layers: Option<u32>,

    /// Board instead of layers: triangle:K, rect:RxC, hex:SIDE, cram:RxC, or file:PATH
    #[arg(long, help_heading = "Game", value_name = "BOARD", conflicts_with = "layers")]
    pub board: Option<String>,

    /// Fewest pieces a move takes along a line [default: 1]
    #[arg(long, help_heading = "Game", value_name = "N", value_parser = args::max_take)]
    pub min_take: Option<u32>,

    /// Most pieces a move takes along a line [default: no limit]
    #[arg(long, help_heading = "Game", value_name = "N", value_parser = args::max_take)]
    pub max_take: Option<u32>,
}

impl<const REQUIRED: bool> BoardArgs<REQUIRED> {
    /// Returns the board; `None` if the arguments name none.
    pub fn board(&self) -> anyhow::Result<Option<Board>> {
        let takes = Takes { least: self.min_take.unwrap_or(1), most: self.max_take };
        match (self.layers, &self.board) {
            (Some(layers), _) => read("--layers", &format!("triangle:{layers}"), takes).map(Some),
            (None, Some(board)) => read("--board", board, takes).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Returns the board, which the command needs.
    pub fn required(&self) -> anyhow::Result<Board> {
        let missing =
            || Refused::new("no board: expected --layers or --board", "for example --layers 7 or --board rect:5x5");
        Ok(self.board()?.ok_or_else(missing)?)
    }

    /// Returns the board, which is to be planned or solved.
    pub fn solvable(&self) -> anyhow::Result<Board> {
        let board = self.required()?;
        job::check_cells(&board)?;
        Ok(board)
    }
}

/// Reads the name of a board, which `option` has given, or the file that it names.
pub fn read(option: &str, name: &str, takes: Takes) -> anyhow::Result<Board> {
    if let Some(path) = name.strip_prefix("file:") {
        let text = BOARD.read(Path::new(path))?;
        let refused = |error| Refused::new(format!("{path}: {error}"), BOARD.hint);
        return Ok(Board::from_toml(&text, takes).map_err(refused)?);
    }
    let refused = |error| Refused::new(format!("{option}: {error}"), "for a board of your own, use --board file:PATH");
    Ok(Board::named(name, takes).map_err(refused)?)
}

/// Returns the arguments that name a game.
pub fn arguments(board: &Board, rule: Rule) -> String {
    let rule = if rule == Rule::Normal { " --rule normal" } else { "" };
    let least = board.min_take().map_or(String::new(), |take| format!(" --min-take {take}"));
    let most = board.max_take().map_or(String::new(), |take| format!(" --max-take {take}"));
    let name =
        board.layers().map_or_else(|| format!("--board {}", named(board)), |layers| format!("--layers {layers}"));
    format!("{name}{rule}{least}{most}")
}

/// Returns the name of a board as an argument: `file:PATH` unless a family has it.
fn named(board: &Board) -> String {
    if board_identity(board).is_some() { "file:PATH".to_owned() } else { board.name().to_owned() }
}

/// Returns the part of a folder's name for a board: `k7`, `rect-6x6`.
pub fn folder_part(board: &Board) -> String {
    board.layers().map_or_else(|| board.name().replace(':', "-"), |layers| format!("k{layers}"))
}

/// Returns the folder of a solve without `--out`.
pub fn default_folder(board: &Board, rule: Rule, values: Values) -> String {
    let least = board.min_take().map_or(String::new(), |take| format!("-least{take}"));
    let take = board.max_take().map_or(String::new(), |take| format!("-take{take}"));
    let values = if values.is_outcomes() { String::new() } else { format!("-{values}") };
    format!("trinim-{}-{rule}{least}{take}{values}", folder_part(board))
}

/// Draws the board with BID cells as `X` and other cells as `.`, padded so that pictures fit side
/// by side.
pub fn picture(board: &Board, bid_cells: u64, out: &Out) -> Vec<String> {
    let is_bid = |index: u32| bid_cells >> index & 1 == 1;
    padded(board, |index| if is_bid(index) { out.paint.mark("X") } else { out.paint.faint(".") }.to_string())
}

/// Formats cells as `--bid-cells` reads them, in the order of the board, where a reader looks for
/// them.
pub fn cells_text(board: &Board, cells: &[u8]) -> String {
    let mut cells = cells.to_vec();
    cells.sort_unstable();
    cells.into_iter().map(|cell| board.cell(cell.into()).to_string()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(name: &str, least: u32, most: Option<u32>) -> Board {
        Board::named(name, Takes { least, most }).unwrap()
    }

    #[test]
    fn folders_and_arguments_say_what_the_board_is() {
        let of = |name, least, most| {
            (
                arguments(&board(name, least, most), Rule::Misere),
                default_folder(&board(name, least, most), Rule::Misere, Values::Outcomes),
            )
        };
        assert_eq!(of("triangle:7", 1, Some(3)), ("--layers 7 --max-take 3".into(), "trinim-k7-misere-take3".into()));
        assert_eq!(
            of("rect:5x4", 2, Some(3)),
            ("--board rect:5x4 --min-take 2 --max-take 3".into(), "trinim-rect-5x4-misere-least2-take3".into())
        );
        assert_eq!(
            of("triangle:4", 2, None),
            ("--board triangle:4 --min-take 2".into(), "trinim-triangle-4-misere-least2".into())
        );
        assert_eq!(of("cram:4x4", 1, None), ("--board cram:4x4".into(), "trinim-cram-4x4-misere".into()));
    }

    /// Regression: a file whose board is called `rect:2x2` is not the rectangle.
    #[test]
    fn a_board_from_a_file_has_no_name() {
        for name in ["own", "rect:2x2", "triangle:2"] {
            let text = format!("name = {name:?}\ncells = 4\nmoves = [[0], [1, 2], [3]]\n");
            let own = Board::from_toml(&text, Takes::ANY).unwrap();
            assert_eq!(arguments(&own, Rule::Misere), "--board file:PATH", "{name}");
        }
    }
}
