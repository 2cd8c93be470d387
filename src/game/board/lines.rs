//! Lines of cells, and the moves that take neighbouring pieces of one line.

/// Returns every run of `least` to `most` neighbouring cells of one line, as distinct sorted masks.
pub(super) fn runs(lines: &[Vec<u8>], least: u32, most: u32) -> Vec<u64> {
    let mut moves = Vec::new();
    for line in lines {
        for first in 0..line.len() {
            let mut run = 0;
            for (length, cell) in (1..=most).zip(&line[first..]) {
                run |= 1_u64 << cell;
                if length >= least {
                    moves.push(run);
                }
            }
        }
    }
    moves.sort_unstable();
    // A single cell is on several lines.
    moves.dedup();
    moves
}

/// Returns the lines in some directions of a board whose cells stand at whole coordinates.
///
/// `cells` are the coordinates by index. A direction is a step from a cell to its neighbour; a line
/// starts at a cell without a neighbour behind it.
pub(super) fn along(cells: &[(i32, i32)], directions: &[(i32, i32)]) -> Vec<Vec<u8>> {
    let index = |place: (i32, i32)| cells.iter().position(|cell| *cell == place);
    let mut lines = Vec::new();
    for &(right, down) in directions {
        for &(x, y) in cells {
            if index((x - right, y - down)).is_some() {
                continue;
            }
            let places = (0..).map(|step| (x + step * right, y + step * down));
            lines.push(places.map_while(index).map(|cell| cell as u8).collect());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_the_lengths_asked_for() {
        let line = [vec![2, 0, 1]];
        assert_eq!(runs(&line, 1, 9), [0b1, 0b10, 0b11, 0b100, 0b101, 0b111]);
        assert_eq!(runs(&line, 2, 2), [0b11, 0b101]);
        assert_eq!(runs(&line, 4, 9), [0_u64; 0]);
    }

    #[test]
    fn lines_run_through_gaps_nowhere() {
        let cells = [(0, 0), (1, 0), (3, 0), (0, 1)];
        assert_eq!(along(&cells, &[(1, 0)]), [vec![0, 1], vec![2], vec![3]]);
        assert_eq!(along(&cells, &[(0, 1)]), [vec![0, 3], vec![1], vec![2]]);
    }
}
