//! The board of a command: layers of a triangle, a family, or a file.

use crate::cli::args;
use crate::database::Values;
use crate::game::{Board, Cell, Rule, Takes};
use crate::job;
use crate::layout::CELLS_MAX;
use crate::play::transcript::board_identity;
use clap::builder::TypedValueParser;
use clap::{Args, Command};
use std::path::Path;
use terminal::exit::Refused;
use terminal::file::InputKind;

/// Boards with at most this many cells are solved on request: 2^28 positions take about half a
/// second.
pub const SMALL_CELLS_MAX: u32 = 28;

/// The layers and the cells that a command accepts, by its path.
const TAKEN: [(&[&str], &str, u32); 3] = [
    (&["solve", "task init", "plan", "papers layout", "papers layout search", "papers solve"], "1 to 10", CELLS_MAX),
    (&["stats", "export", "serve"], "1 to 7, or 9 (built in)", SMALL_CELLS_MAX),
    (&["probe", "play"], "1 to 10", crate::game::CELLS_MAX),
];

/// Returns the command with the accepted `--layers` and `--board` in its help and refusals, also of
/// its subcommands, and without the resources of positions in its help. `path` is that of the
/// command, and empty for the program.
pub fn ranged(command: Command, path: &str) -> Command {
    let command = match TAKEN.iter().find(|(paths, ..)| paths.contains(&path)) {
        None => command,
        Some(&(paths, layers, cells)) => command.mut_args(|arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            match arg.get_id().as_str() {
                "layers" => arg.help(format!("{help}; {layers}")).value_parser(layers_up_to(layers)),
                "board" => arg.help(format!("{help}; up to {cells} cells")),
                // Positions take little by default; these options are only on the manual page.
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

/// A board file; the longest lists some thousand moves.
const BOARD: InputKind = InputKind {
    what: "board",
    most_bytes: 1 << 20,
    hint: "a board file defines name, cells, and lines or moves; run trinim solve --help to see an example",
};

/// The arguments of a command that requires a board.
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
    /// Returns the board; `None` if there are no such arguments.
    pub fn board(&self) -> anyhow::Result<Option<Board>> {
        match &self.board {
            Some(board) => read("--board", board, self.takes()).map(Some),
            None => self.layers.map(|layers| self.triangle(layers)).transpose(),
        }
    }

    /// Returns the triangle with these layers.
    pub fn triangle(&self, layers: u32) -> anyhow::Result<Board> {
        read("--layers", &format!("triangle:{layers}"), self.takes())
    }

    fn takes(&self) -> Takes {
        Takes { least: self.min_take, most: self.max_take }
    }

    /// Returns the board that the command requires.
    pub fn required(&self) -> anyhow::Result<Board> {
        let missing =
            || Refused::new("no board: expected --layers or --board", "for example --layers 7 or --board rect:5x5");
        Ok(self.board()?.ok_or_else(missing)?)
    }

    /// Refuses arguments beside a folder, whose solve has its own game.
    pub fn refuse_beside(&self, folder: &Path, rule: Option<Rule>) -> Result<(), Refused> {
        let given = [
            ("--layers", self.layers.is_some()),
            ("--board", self.board.is_some()),
            ("--min-take", self.min_take.is_some()),
            ("--max-take", self.max_take.is_some()),
            ("--rule", rule.is_some()),
        ];
        let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let message = format!("{option} cannot be used with a folder, which has its own game");
        Err(Refused::new(message, format!("leave out {option}, or {}", folder.display())))
    }

    /// Returns the board for a command that plans or solves it.
    pub fn solvable(&self) -> anyhow::Result<Board> {
        let board = self.required()?;
        job::check_cells(&board)?;
        Ok(board)
    }
}

/// Reads the name of a board, or the file that it names; `option` is where it was given.
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
    let name = match board.layers() {
        Some(layers) => format!("--layers {layers}"),
        // No family has it.
        None if board_identity(board).is_some() => "--board file:PATH".to_owned(),
        None => format!("--board {}", board.name()),
    };
    format!("{name}{rule}{least}{most}")
}

/// Returns the folder of a solve without `--out`.
pub fn default_folder(board: &Board, rule: Rule, values: Values) -> String {
    let least = board.min_take().map_or(String::new(), |take| format!("-least{take}"));
    let take = board.max_take().map_or(String::new(), |take| format!("-take{take}"));
    let values = if values.is_outcomes() { String::new() } else { format!("-{values}") };
    let name = board.layers().map_or_else(|| board.name().replace(':', "-"), |layers| format!("k{layers}"));
    format!("trinim-{name}-{rule}{least}{take}{values}")
}

/// Formats cells as `--bid-cells` reads them, in the order of the board.
pub fn cells_text(board: &Board, cells: &[u8]) -> String {
    let mut cells = cells.to_vec();
    cells.sort_unstable();
    Cell::list(cells.into_iter().map(|cell| board.cell(cell.into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(name: &str, least: u32, most: Option<u32>) -> Board {
        Board::named(name, Takes { least: Some(least), most }).unwrap()
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
