//! The layouts of \[SWLK12\]: every count in its tables 1 to 4, except times, with the cells it
//! belongs to, so that it can be computed again.
//!
//! A [`Row`] is a row of a table; figures 3 and 10 are in two tables, or in the text as well. The
//! available text of the paper has the captions but not the drawings, so a layout follows from its
//! description and its counts; [`Source`] says how well.

use crate::claims::Claim;
use crate::game::{Board, BoardError, Cell};
use crate::layout::{Bid, Counts, GROUP_SIZES, Layout, LayoutError};
use serde::{Serialize, Serializer};

/// How the cells of a layout are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The description of the figure names the cells, and the counts agree.
    Known,
    /// This many sets, not counting images of each other, fit the description of the figure and
    /// meet all counts; this is one of them.
    OneOf(u32),
    /// Only the counts are known: a search found this set, which meets all of them. The figure may
    /// show another one.
    Matched,
}

/// A layout that the paper draws.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// The number and letter of the figure.
    pub name: &'static str,
    /// Layers of the board.
    pub layers: u32,
    /// Row and column of each BID cell.
    cells: &'static [(u8, u8)],
    /// How the cells are known.
    pub source: Source,
}

/// What the text says of the symmetry of each figure: a mirror, and a rotation.
const SYMMETRIES: [(&str, bool, bool); 12] = [
    ("3(a)", false, false),
    ("3(b)", true, false),
    ("3(c)", true, false),
    ("3(d)", false, false),
    ("3(e)", true, true),
    ("3(f)", true, true),
    ("9(a)", false, false),
    ("9(b)", false, false),
    ("9(c)", false, false),
    ("10(a)", true, false),
    ("10(b)", true, true),
    ("10(c)", true, true),
];

/// An error of the layouts: none of them happens with the recorded cells.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// The board is refused.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The cells are refused.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// Returns all figures, each once, in the order of the paper.
pub fn figures() -> impl Iterator<Item = Figure> {
    FIGURE_3.into_iter().chain(FIGURE_9).chain(FIGURE_10)
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
        // Each cycle is in the set as a whole, or not at all.
        for size in (length..=cells).rev().filter(|_| length > 0) {
            sets[size] += sets[size - length];
        }
    }
    sets[cells]
}

/// Computes what the text says of boards and layouts, apart from the tables' counts.
///
/// # Errors
/// [`FigureError`] if the recorded cells are not those of a layout.
pub fn claims() -> Result<Vec<Claim>, FigureError> {
    let layout = |figure: &Figure| -> Result<Layout, FigureError> {
        Ok(Layout::new(&Board::triangle(figure.layers, None)?, &figure.bid_cells())?)
    };
    let mut claims = Vec::new();
    for (layers, moves) in [(5, "75"), (9, "405")] {
        let board = Board::triangle(layers, None)?;
        claims.push(Claim::value("section 2.1", &format!("Moves of {layers} layers"), moves, board.moves().len()));
    }
    let first = layout(&FIGURE_3[0])?;
    let two_of_three = first.traces().iter().filter(|trace| trace.bid == 0b101).count();
    claims.push(Claim::fact(
        "section 3.1",
        "In figure 3(a) no move leads from B_5 to B_0: it would take pieces 32 and 34 without 33.",
        "no update",
        format!("{two_of_three} such moves"),
        two_of_three == 0,
    ));
    let last = layout(&FIGURE_3[5])?;
    let mut one_piece: Vec<u32> = (0..last.bid_bits()).map(|bit| last.canonical(Bid(1 << bit)).0.0).collect();
    one_piece.dedup();
    claims.push(Claim::fact(
        "figure 5",
        "B_1, B_2, B_4, B_8, B_16 and B_32 of figure 3(f) are one isomorphic group.",
        "one group",
        format!("groups of these blocks: {}", one_piece.len()),
        one_piece.len() == 1,
    ));
    for figure in figures() {
        let printed = SYMMETRIES.iter().find(|(name, _, _)| *name == figure.name);
        let Some((_, mirror, rotation)) = printed else { continue };
        let (found_mirror, found_rotation) = kept(&layout(&figure)?);
        let claim = Claim::value(
            &format!("figure {}", figure.name),
            "The symmetry of the BID pieces",
            in_words(*mirror, *rotation),
            in_words(found_mirror, found_rotation),
        );
        claims.push(match figure.source {
            Source::Matched => claim.because("of a set that meets all counts; the figure may show another one"),
            _ => claim,
        });
    }
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
            "a mirror of nine layers fixes five cells, so odd numbers of BID pieces have sets with one; trinim layout \
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
    let counts = layout(&FIGURE_10[2])?.counts();
    let hundredths = (counts.blocks * 1_000 / counts.canonical_blocks + 5) / 10;
    claims.push(Claim::value(
        "section 4.2",
        "The factor by which memory is reduced, figure 10(c)",
        "5.72",
        format!("{}.{:02}", hundredths / 100, hundredths % 100),
    ));
    // The times are measured; only their quotient can be computed: 129.21 and 27.93 days.
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
    Ok(claims)
}

impl Figure {
    /// Returns the BID cells.
    pub fn bid_cells(&self) -> Vec<Cell> {
        self.cells.iter().map(|&(row, col)| Cell::new(row, col)).collect()
    }
}

/// The counts of a table's row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<u32, u64>"))]
    pub groups: Option<[u64; 4]>,
}

fn by_size<S: Serializer>(groups: &Option<[u64; 4]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(groups.iter().flat_map(|groups| GROUP_SIZES.iter().zip(groups)))
}

/// A row of a table, as published.
#[derive(Clone, Debug)]
pub struct Row {
    /// The number of the table.
    pub table: u32,
    /// The layout.
    pub figure: Figure,
    /// Whether redundancy is removed.
    pub reduced: bool,
    /// The counts.
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

const FIGURE_3: [Figure; 6] = [
    Figure { name: "3(a)", layers: 8, cells: &[(7, 4), (7, 5), (7, 6), (7, 7)], source: Source::Known },
    Figure { name: "3(b)", layers: 8, cells: &[(0, 0), (2, 1), (4, 2), (6, 3)], source: Source::Known },
    Figure {
        name: "3(c)",
        layers: 8,
        cells: &[(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)],
        source: Source::Matched,
    },
    Figure {
        name: "3(d)",
        layers: 8,
        cells: &[(3, 0), (4, 4), (5, 3), (6, 2), (6, 5), (7, 1)],
        source: Source::Matched,
    },
    Figure {
        name: "3(e)",
        layers: 8,
        cells: &[(0, 0), (4, 2), (5, 2), (5, 3), (7, 0), (7, 7)],
        source: Source::OneOf(4),
    },
    Figure {
        name: "3(f)",
        layers: 8,
        cells: &[(1, 0), (1, 1), (6, 0), (6, 6), (7, 1), (7, 6)],
        source: Source::OneOf(4),
    },
];

const FIGURE_9: [Figure; 3] = [
    Figure {
        name: "9(a)",
        layers: 9,
        cells: &[
            (0, 0),
            (1, 0),
            (1, 1),
            (2, 0),
            (2, 1),
            (2, 2),
            (3, 0),
            (3, 1),
            (3, 2),
            (3, 3),
            (4, 0),
            (4, 1),
            (4, 2),
        ],
        source: Source::Known,
    },
    Figure {
        name: "9(b)",
        layers: 9,
        cells: &[
            (4, 0),
            (4, 1),
            (4, 2),
            (4, 3),
            (8, 0),
            (8, 1),
            (8, 2),
            (8, 3),
            (8, 4),
            (8, 5),
            (8, 6),
            (8, 7),
            (8, 8),
        ],
        source: Source::Matched,
    },
    Figure {
        name: "9(c)",
        layers: 9,
        // With these counts there are sets with a mirror and sets without; the paper's has none.
        cells: &[
            (0, 0),
            (2, 1),
            (4, 1),
            (5, 2),
            (5, 3),
            (6, 0),
            (6, 5),
            (7, 0),
            (7, 2),
            (7, 7),
            (8, 4),
            (8, 6),
            (8, 8),
        ],
        source: Source::Matched,
    },
];

const FIGURE_10: [Figure; 3] = [
    Figure {
        name: "10(a)",
        layers: 9,
        cells: &[
            (0, 0),
            (1, 0),
            (1, 1),
            (2, 0),
            (2, 1),
            (2, 2),
            (3, 0),
            (3, 1),
            (3, 2),
            (3, 3),
            (4, 0),
            (4, 1),
            (4, 2),
            (4, 3),
            (4, 4),
        ],
        source: Source::OneOf(3),
    },
    Figure {
        name: "10(b)",
        layers: 9,
        cells: &[
            (0, 0),
            (2, 0),
            (2, 2),
            (4, 0),
            (4, 2),
            (4, 4),
            (6, 0),
            (6, 2),
            (6, 4),
            (6, 6),
            (8, 0),
            (8, 2),
            (8, 4),
            (8, 6),
            (8, 8),
        ],
        source: Source::Known,
    },
    Figure {
        name: "10(c)",
        layers: 9,
        cells: &[
            (0, 0),
            (2, 1),
            (3, 0),
            (3, 3),
            (4, 2),
            (5, 0),
            (5, 5),
            (6, 2),
            (6, 4),
            (7, 1),
            (7, 6),
            (8, 0),
            (8, 3),
            (8, 5),
            (8, 8),
        ],
        source: Source::OneOf(1),
    },
];

/// Returns all rows of tables 1 to 4, in their order.
pub fn rows() -> Vec<Row> {
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    const TIB: u64 = 1 << 40;
    let row = |table, figure, updates, blocks, block_bytes, total_bytes| Row {
        table,
        figure,
        reduced: table % 2 == 0,
        published: Figures { updates, blocks, block_bytes, total_bytes, groups: None },
    };
    let grouped = |row: Row, groups| Row { published: Figures { groups: Some(groups), ..row.published }, ..row };
    let [a, b, c, d, e, f] = FIGURE_3;
    let mut rows = vec![
        row(1, a, 49, 16, 512 * MIB, 8 * GIB),
        row(1, b, 32, 16, 512 * MIB, 8 * GIB),
        row(1, c, 360, 64, 128 * MIB, 8 * GIB),
        row(1, d, 208, 64, 128 * MIB, 8 * GIB),
        row(1, e, 288, 64, 128 * MIB, 8 * GIB),
        row(1, f, 336, 64, 128 * MIB, 8 * GIB),
        row(2, c, 228, 40, 128 * MIB, 5 * GIB),
        row(2, e, 96, 20, 128 * MIB, 5 * GIB / 2),
        grouped(row(2, f, 87, 16, 128 * MIB, 2 * GIB), [2, 1, 6, 7]),
    ];
    let [a, b, c] = FIGURE_9;
    rows.extend([
        row(3, a, 121_600, 8_192, 512 * MIB, 4 * TIB),
        row(3, b, 107_024, 8_192, 512 * MIB, 4 * TIB),
        row(3, c, 88_064, 8_192, 512 * MIB, 4 * TIB),
    ]);
    let [a, b, c] = FIGURE_10;
    rows.extend([
        row(4, a, 298_320, 16_640, 128 * MIB, 2_080 * GIB),
        grouped(row(4, b, 102_950, 5_728, 128 * MIB, 716 * GIB), [16, 8, 496, 5_208]),
        row(4, c, 78_852, 5_728, 128 * MIB, 716 * GIB),
    ]);
    rows
}
