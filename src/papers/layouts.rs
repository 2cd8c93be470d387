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
use trinim::layout::{Bid, Layout, LayoutError};
use trinim_game::claims::Claim;
use trinim_game::{Board, BoardError, Cell};

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
struct Line {
    table: u32,
    figure: String,
    updates: u64,
    blocks: u64,
    block_mib: u64,
    total_mib: u64,
    groups: Option<[u64; 4]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedLayouts {
    row: Vec<Line>,
    figure: Vec<Figure>,
}

static LISTED: LazyLock<ListedLayouts> =
    LazyLock::new(|| toml::from_str(include_str!("layouts.toml")).expect("the unit tests read the file"));

/// An error of the layouts: impossible with the recorded cells.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    #[error(transparent)]
    Board(#[from] BoardError),
    #[error(transparent)]
    Layout(#[from] LayoutError),
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

/// Returns whether a layout keeps a mirror, and a rotation.
fn kept(layout: &Layout) -> (bool, bool) {
    let order = layout.symmetries().len();
    // The groups of a triangle have 1, 2, 3 or 6 elements.
    (order.is_multiple_of(2), order.is_multiple_of(3))
}

/// Counts the sets of `cells` cells that a symmetry of the board maps to themselves.
fn closed_sets(board: &Board, image: &[u8], cells: usize) -> u64 {
    let mut seen = vec![false; board.cells() as usize];
    let mut sets = vec![0u64; cells + 1];
    sets[0] = 1;
    for start in 0..seen.len() {
        let (mut length, mut cell) = (0, start);
        while !std::mem::replace(&mut seen[cell], true) {
            length += 1;
            cell = usize::from(image[cell]);
        }
        // The set contains each cycle completely or not at all.
        for size in (length..=cells).rev().filter(|_| length > 0) {
            sets[size] += sets[size - length];
        }
    }
    sets[cells]
}

/// Computes the paper's statements about boards and layouts, apart from the tables' counts.
///
/// # Errors
/// [`FigureError`] if the recorded cells do not form a layout.
pub fn claims() -> Result<Vec<Claim>, FigureError> {
    let mut claims = Vec::new();
    boards_and_blocks(&mut claims)?;
    symmetries(&mut claims)?;
    nine_layers(&mut claims)?;
    Ok(claims)
}

/// The statements of sections 2 and 3.
fn boards_and_blocks(claims: &mut Vec<Claim>) -> Result<(), FigureError> {
    for (layers, moves) in [(5, "75"), (9, "405")] {
        let board = Board::triangle(layers, None)?;
        claims.push(Claim::value("section 2.1", &format!("Moves of {layers} layers"), moves, board.moves().len()));
    }
    let first = figure("3(a)").layout()?;
    let two_of_three = first.traces().iter().filter(|trace| trace.bid == 0b101).count();
    claims.push(Claim::fact(
        "section 3.1",
        "In figure 3(a) no move leads from B_5 to B_0: it would take pieces 32 and 34 without 33.",
        "no update",
        format!("{two_of_three} such moves"),
        two_of_three == 0,
    ));
    let last = figure("3(f)").layout()?;
    let mut one_piece: Vec<u32> = (0..last.bid_bits()).map(|bit| last.canonical(Bid(1 << bit)).0.0).collect();
    one_piece.dedup();
    claims.push(Claim::fact(
        "figure 5",
        "B_1, B_2, B_4, B_8, B_16 and B_32 of figure 3(f) are one isomorphic group.",
        "one group",
        format!("groups of these blocks: {}", one_piece.len()),
        one_piece.len() == 1,
    ));
    Ok(())
}

fn symmetries(claims: &mut Vec<Claim>) -> Result<(), FigureError> {
    for figure in figures() {
        let (found_mirror, found_rotation) = kept(&figure.layout()?);
        let claim = Claim::value(
            &format!("figure {}", figure.name),
            "The symmetry of the BID pieces",
            in_words(figure.mirror, figure.rotation),
            in_words(found_mirror, found_rotation),
        );
        claims.push(match figure.source {
            Source::Matched => claim.because("of a set that meets all counts; the figure may show another one"),
            _ => claim,
        });
    }
    Ok(())
}

/// The statements of section 4.2.
fn nine_layers(claims: &mut Vec<Claim>) -> Result<(), FigureError> {
    let nine = Board::triangle(9, None)?;
    let sets = |order: usize| {
        let of_order = nine.symmetries().iter().find(|symmetry| {
            let twice = symmetry.compose(symmetry);
            !symmetry.is_identity()
                && if order == 2 { twice.is_identity() } else { twice.compose(symmetry).is_identity() }
        });
        of_order.map_or(0, |symmetry| closed_sets(&nine, symmetry.image(), 13))
    };
    let (mirrored, rotated) = (sets(2), sets(3));
    claims.push(
        Claim::fact(
            "section 4.2",
            "13 BID pieces cannot form symmetry.",
            "cannot form symmetry",
            format!("{mirrored} sets of 13 cells keep a given mirror"),
            mirrored == 0,
        )
        .because(
            "a mirror of nine layers fixes five cells, so odd numbers of BID pieces have sets with one; trinim papers layout \
             search --layers 9 --bits 13 --symmetry any finds the best",
        ),
    );
    claims.push(Claim::fact(
        "section 4.2",
        "13 BID pieces cannot form rotation.",
        "cannot form rotation",
        format!("{rotated} sets of 13 cells keep the rotations"),
        rotated == 0,
    ));
    let counts = Counts::of(&figure("10(c)").layout()?);
    let hundredths = (counts.blocks * 1_000 / counts.canonical_blocks + 5) / 10;
    claims.push(Claim::value(
        "section 4.2",
        "The factor by which memory is reduced, figure 10(c)",
        "5.72",
        format!("{}.{:02}", hundredths / 100, hundredths % 100),
    ));
    // The times were measured; only their ratio can be computed: 129.21 and 27.93 days.
    let hundredths = (12_921 * 1_000 / 2_793 + 5) / 10;
    claims.push(
        Claim::value(
            "section 4.2",
            "The factor by which time is reduced, from 129.21 to 27.93 days",
            "4.62",
            format!("{}.{:02}", hundredths / 100, hundredths % 100),
        )
        .misprint("the quotient of the printed times, 4.626, was cut instead of rounded"),
    );
    Ok(())
}

impl Figure {
    pub fn bid_cells(&self) -> Vec<Cell> {
        self.cells.iter().map(|&(row, col)| Cell::new(row, col)).collect()
    }

    /// Returns its board.
    ///
    /// # Errors
    /// [`FigureError`] if the recorded layers do not form a board.
    pub fn board(&self) -> Result<Board, FigureError> {
        Ok(Board::triangle(self.layers, None)?)
    }

    /// Returns the layout.
    ///
    /// # Errors
    /// [`FigureError`] if the recorded cells do not form a layout.
    pub fn layout(&self) -> Result<Layout, FigureError> {
        Ok(Layout::new(&self.board()?, &self.bid_cells())?)
    }
}

/// The counts of a table's row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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

#[derive(Clone, Debug)]
pub struct Row {
    pub table: u32,
    pub figure: &'static Figure,
    pub reduced: bool,
    pub published: Figures,
}

impl Row {
    /// Computes the same figures from the counts of the figure's layout on its board.
    pub fn computed(&self, counts: &Counts) -> Figures {
        let cells = self.figure.layers * (self.figure.layers + 1) / 2;
        let block_bytes = 1 << (cells - self.figure.cells.len() as u32 - 3);
        let (updates, blocks) = match self.reduced {
            true => (counts.canonical_updates, counts.canonical_blocks),
            false => (counts.updates, counts.blocks),
        };
        let groups =
            self.published.groups.map(|_| GROUP_SIZES.map(|size| counts.groups.get(&size).copied().unwrap_or(0)));
        Figures { updates, blocks, block_bytes, total_bytes: blocks * block_bytes, groups }
    }
}

/// Returns all rows of tables 1 to 4, in their order.
pub fn rows() -> Vec<Row> {
    const MIB: u64 = 1 << 20;
    let row = |line: &Line| Row {
        table: line.table,
        figure: figure(&line.figure),
        reduced: line.table.is_multiple_of(2),
        published: Figures {
            updates: line.updates,
            blocks: line.blocks,
            block_bytes: line.block_mib * MIB,
            total_bytes: line.total_mib * MIB,
            groups: line.groups,
        },
    };
    LISTED.row.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_a_layout_with_a_row() {
        assert_eq!((figures().len(), rows().len()), (12, 15));
        for figure in figures() {
            assert_eq!(figure.layout().unwrap().bid_bits() as usize, figure.cells.len());
            assert!(rows().iter().any(|row| row.figure.name == figure.name), "{}", figure.name);
        }
    }
}
