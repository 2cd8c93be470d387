//! The rows of a board, in text and in pictures.

/// The widest picture, in columns. In wider boards, cells stand closer than their coordinates.
const COLUMNS_MAX: usize = 200;

/// Returns the lengths of the rows in which positions are written: runs of cells of the same
/// height.
pub(super) fn lengths(places: &[[f64; 2]]) -> Vec<u32> {
    places.chunk_by(|one, next| one[1] == next[1]).map(|row| row.len() as u32).collect()
}

/// Draws each cell at its coordinates, with `cell(index)` right-aligned in `width` characters; a
/// line for each height, and every line ends in a newline.
pub(super) fn picture(places: &[[f64; 2]], width: usize, cell: impl Fn(u32) -> String) -> String {
    let mut heights: Vec<f64> = places.iter().map(|place| place[1]).collect();
    heights.sort_by(f64::total_cmp);
    heights.dedup();
    let left = places.iter().map(|place| place[0]).fold(f64::INFINITY, f64::min);
    let mut lines = Vec::new();
    for height in heights {
        let mut row: Vec<(f64, u32)> =
            (0..).zip(places).filter(|(_, place)| place[1] == height).map(|(index, place)| (place[0], index)).collect();
        row.sort_by(|one, other| one.0.total_cmp(&other.0));
        lines.push(row);
    }
    // The nearest neighbours of a row are one cell apart.
    let gaps = lines.iter().flat_map(|row| row.windows(2).map(|pair| pair[1].0 - pair[0].0));
    let pitch = gaps.fold(f64::INFINITY, f64::min);
    let pitch = if pitch.is_finite() { pitch } else { 1.0 };
    let mut picture = String::new();
    for row in lines {
        // Columns, not bytes: cells may be coloured.
        let mut column = 0;
        for (x, index) in row {
            let start = ((x - left) / pitch * (width + 1) as f64).round() as usize;
            let gap = start.min(COLUMNS_MAX).saturating_sub(column);
            picture.push_str(&" ".repeat(gap));
            picture.push_str(&format!("{:>width$}", cell(index)));
            column += gap + width;
        }
        picture.push('\n');
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_the_heights() {
        let places = [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0], [4.0, 1.0], [0.0, 0.0]];
        assert_eq!(lengths(&places), [2, 2, 1]);
    }

    #[test]
    fn cells_stand_where_they_are() {
        let places = [[0.5, 0.0], [0.0, 1.0], [1.0, 1.0], [3.0, 1.0], [0.5, 2.0]];
        assert_eq!(picture(&places, 1, |cell| cell.to_string()), " 0\n1 2   3\n 4\n");
        // Neighbours two apart, in a picture that begins at 2.
        let wide = [[3.0, 0.0], [2.0, 1.0], [4.0, 1.0]];
        assert_eq!(picture(&wide, 1, |cell| cell.to_string()), " 0\n1 2\n");
        let far = [[-1000.0, 0.0], [-999.9, 0.0], [1000.0, 0.0]];
        assert!(picture(&far, 1, |_| "x".into()).len() < 300);
    }
}
