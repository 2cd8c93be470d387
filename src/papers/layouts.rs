//! The layouts of \[SWLK12\]: every count in its tables 1 to 4, except times, with the cells it
//! belongs to, so that it can be computed again.
//!
//! A [`Row`] is a row of a table; figures 3 and 10 are in two tables, or in the text as well. The
//! available text of the paper has the captions but not the drawings, so a layout follows from its
//! description and its counts; [`Source`] says how well.

use crate::game::Cell;
use crate::layout::{Counts, GROUP_SIZES};
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

impl Figure {
    /// Returns the BID cells.
    pub fn bid_cells(&self) -> Vec<Cell> {
        self.cells.iter().map(|&(row, col)| Cell::new(row, col)).collect()
    }
}

/// The counts of a table's row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
        let groups = self.published.groups.map(|_| counts.groups);
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
        cells: &[
            (2, 1),
            (3, 0),
            (3, 3),
            (4, 0),
            (4, 4),
            (5, 2),
            (5, 3),
            (6, 0),
            (6, 6),
            (7, 2),
            (7, 5),
            (8, 1),
            (8, 7),
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
