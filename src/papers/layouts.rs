//! The layouts of \[SWLK12\]: every count in its tables 1 to 4, except times, with the cells it
//! belongs to, so that it can be computed again.
//!
//! `layouts.toml` lists them. A [`Row`] is a row of a table; figures 3 and 10 are in two tables, or
//! in the text as well. The available text has the captions but not the drawings, so a layout is
//! inferred from its description and its counts; [`Source`] says how well.

use crate::counts::{Counts, GROUP_SIZES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::sync::LazyLock;
use trinim::layout::search::{Limit, unions};
use trinim::layout::{Bid, Layout};
use trinim_game::claims::{Claim, Paper};
use trinim_game::{Board, Cell};

/// How the cells of a layout are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The description of the figure names the cells, and the counts agree.
    Known,
    /// This many sets, not counting images of each other, fit the description of the figure and all
    /// counts; this is one of them.
    OneOf(u32),
    /// Only the counts are known: a search found this set, which has all of them. The figure may
    /// show another one.
    Matched,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    pub name: String,
    pub layers: u32,
    /// Row and column of each BID cell.
    cells: Vec<(u8, u8)>,
    /// Whether the text says that a mirror, or a rotation, keeps the cells.
    mirror: bool,
    rotation: bool,
    /// How the cells are known.
    pub source: Source,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedLayouts {
    row: Vec<Row>,
    figure: Vec<Figure>,
}

static LISTED: LazyLock<ListedLayouts> =
    LazyLock::new(|| toml::from_str(include_str!("layouts.toml")).expect("the unit tests read the file"));

fn triangle(layers: u32) -> Board {
    Board::triangle(layers, None).expect("the layers of the papers")
}

/// Returns all figures, each once, in the order of the paper.
pub fn figures() -> &'static [Figure] {
    &LISTED.figure
}

/// Returns the figure of this name.
///
/// # Panics
/// Panics if the file has no figure of this name.
pub fn figure(name: &str) -> &'static Figure {
    figures().iter().find(|figure| figure.name == name).expect("a name of a figure")
}

fn in_words(mirror: bool, rotation: bool) -> &'static str {
    match (mirror, rotation) {
        (true, true) => "symmetric and rotatable",
        (true, false) => "symmetric, not rotatable",
        (false, true) => "rotatable, not symmetric",
        (false, false) => "neither symmetric nor rotatable",
    }
}

/// What the text prints of boards and layouts, apart from the tables' counts.
const PAPER: Paper = Paper(include_str!("printed.txt"));

/// Compares what the text prints with the layouts.
pub fn claims() -> Vec<Claim> {
    [boards_and_blocks(), figures().iter().map(symmetry).collect(), nine_layers()].concat()
}

/// What sections 2 and 3 say.
fn boards_and_blocks() -> Vec<Claim> {
    let moves = |layers| triangle(layers).moves().len();
    let first = figure("3(a)").layout();
    let two_of_three = first.traces().iter().filter(|trace| trace.bid == 0b101).count();
    let last = figure("3(f)").layout();
    let mut one_piece: Vec<u32> = (0..last.bid_bits()).map(|bit| last.canonical(Bid(1 << bit)).0.0).collect();
    one_piece.dedup();
    let groups = format!("groups of these blocks: {}", one_piece.len());
    vec![
        PAPER.value("moves-5", moves(5)),
        PAPER.value("moves-9", moves(9)),
        PAPER.fact("no-update", format!("{two_of_three} such moves"), two_of_three == 0),
        PAPER.fact("one-group", groups, one_piece.len() == 1),
    ]
}

/// What the text says of the symmetry of a figure.
fn symmetry(figure: &Figure) -> Claim {
    // The groups of a triangle have 1, 2, 3 or 6 elements.
    let order = figure.layout().symmetries().len();
    let computed = in_words(order.is_multiple_of(2), order.is_multiple_of(3));
    let printed = in_words(figure.mirror, figure.rotation);
    let claim = Claim::value(&format!("figure {}", figure.name), "The symmetry of the BID pieces", printed, computed);
    match figure.source {
        Source::Matched => claim.because("of a set that meets all counts; the figure may show another one"),
        _ => claim,
    }
}

/// What section 4.2 says.
fn nine_layers() -> Vec<Claim> {
    let nine = triangle(9);
    let sets = |group: &[usize]| {
        let group: Vec<_> = group.iter().map(|symmetry| &nine.symmetries()[*symmetry]).collect();
        let mut sets = 0_u64;
        unions(&nine, &group, 13, Limit { sets: u64::MAX, seed: 0 }, &mut |_, _| sets += 1);
        sets
    };
    // The identity comes first, then the rotations, then the mirrors.
    let (mirrored, rotated) = (sets(&[0, 3]), sets(&[0, 1, 2]));
    let counts = Counts::of(&figure("10(c)").layout());
    let factor = |all: f64, left: f64| format!("{:.2}", all / left);
    vec![
        PAPER.fact("mirror", format!("{mirrored} sets of 13 cells keep a given mirror"), mirrored == 0).because(
            "a mirror of nine layers fixes five cells, so odd numbers of BID pieces have sets with one; trinim papers layout \
             search --layers 9 --bits 13 --symmetry any finds the best",
        ),
        PAPER.fact("rotation", format!("{rotated} sets of 13 cells keep the rotations"), rotated == 0),
        PAPER.value("memory", factor(counts.blocks as f64, counts.canonical_blocks as f64)),
        // The times are measured; only their quotient can be computed.
        PAPER
            .value("time", factor(129.21, 27.93))
            .misprint("the quotient of the printed times, 4.626, was cut instead of rounded"),
    ]
}

impl Figure {
    pub fn bid_cells(&self) -> Vec<Cell> {
        self.cells.iter().map(|&(row, col)| Cell::new(row, col)).collect()
    }

    pub fn board(&self) -> Board {
        triangle(self.layers)
    }

    pub fn layout(&self) -> Layout {
        Layout::new(&self.board(), &self.bid_cells()).expect("the unit tests make every layout")
    }
}

/// The counts of a table's row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Inter-block updates.
    pub updates: u64,
    /// Blocks that are evaluated.
    pub blocks: u64,
    /// Size of a block in bytes.
    pub block_bytes: u64,
    /// Size of all these blocks in bytes.
    pub total_bytes: u64,
    /// Isomorphic groups of 1, 2, 3 and 6 blocks, if the text has them.
    #[serde(serialize_with = "by_size", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "std::collections::BTreeMap<u32, u64>")]
    pub groups: Option<[u64; 4]>,
}

fn by_size<S: Serializer>(groups: &Option<[u64; 4]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(groups.iter().flat_map(|groups| GROUP_SIZES.iter().zip(groups)))
}

/// A row of a table.
#[derive(Debug, Deserialize)]
pub struct Row {
    pub table: u32,
    figure: String,
    #[serde(flatten)]
    pub published: Figures,
}

impl Row {
    pub fn figure(&self) -> &'static Figure {
        figure(&self.figure)
    }

    /// Returns whether redundancy is removed.
    pub fn is_reduced(&self) -> bool {
        self.table.is_multiple_of(2)
    }

    /// Computes the same figures from the counts of the figure's layout on its board.
    pub fn computed(&self, counts: &Counts) -> Figures {
        let Figure { layers, cells, .. } = self.figure();
        let block_bytes = 1 << (layers * (layers + 1) / 2 - cells.len() as u32 - 3);
        let (updates, blocks) = match self.is_reduced() {
            true => (counts.canonical_updates, counts.canonical_blocks),
            false => (counts.updates, counts.blocks),
        };
        let groups =
            self.published.groups.map(|_| GROUP_SIZES.map(|size| counts.groups.get(&size).copied().unwrap_or(0)));
        Figures { updates, blocks, block_bytes, total_bytes: blocks * block_bytes, groups }
    }
}

/// Returns all rows of tables 1 to 4, in their order.
pub fn rows() -> &'static [Row] {
    &LISTED.row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_a_layout_with_a_row() {
        assert_eq!((figures().len(), rows().len()), (12, 15));
        for figure in figures() {
            assert_eq!(figure.layout().bid_bits() as usize, figure.cells.len());
            assert!(rows().iter().any(|row| row.figure().name == figure.name), "{}", figure.name);
        }
    }
}
