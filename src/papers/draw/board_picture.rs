//! Boards as pictures: a sheet of small boards, each with the pieces that a move takes.
//!
//! ```text
//!      ●            ●  a piece that stays
//!     ● ●           ⊗  a piece that the move takes: another colour, and a cross
//!    ● ⊗ ●          ○  an empty cell
//!   ● ● ⊗ ●
//! ```

use super::chart::range;
use super::svg::{EDGE, Path, Svg, WIDTH, text_width};
use trinim_game::Board;

const PITCH: f64 = 21.0;
const RADIUS: f64 = 8.0;
const CAPTION: f64 = 12.0;

#[derive(Clone, Debug)]
pub struct Picture {
    /// The mask of the pieces before the move.
    pub position: u64,
    /// The mask of the pieces that the move takes.
    pub taken: u64,
    pub caption: String,
}

#[derive(Clone, Debug)]
pub struct Sheet<'a> {
    pub board: &'a Board,
    pub title: String,
    pub lead: String,
    pub description: String,
    pub pictures: Vec<Picture>,
    /// The words of the legend: for a piece that stays, one that is taken, and an empty cell.
    pub words: [&'static str; 3],
}

impl Sheet<'_> {
    pub fn draw(&self) -> Svg {
        let (places, [board_width, board_height]) = self.places();
        let captions = self.pictures.iter().map(|picture| text_width(&picture.caption, CAPTION));
        let column = board_width.max(captions.fold(0.0, f64::max)) + 20.0;
        let columns = (((WIDTH - 2.0 * EDGE) / column) as usize).clamp(1, self.pictures.len().max(1));
        let line_height = board_height + 34.0;
        let height = self.pictures.len().div_ceil(columns) as f64 * line_height;
        let (mut svg, boards_top) = Svg::headed(&self.title, &self.lead, &self.description, height + 18.0);
        let (mut shapes, mut occurs) = (Shapes::default(), [false; 3]);
        for (index, picture) in self.pictures.iter().enumerate() {
            let middle = EDGE + column * ((index % columns) as f64 + 0.5);
            let top = boards_top + line_height * (index / columns) as f64;
            for (cell, [right, down]) in places.iter().enumerate() {
                let kind =
                    if picture.taken >> cell & 1 == 1 { 1 } else { 2 * usize::from(picture.position >> cell & 1 == 0) };
                occurs[kind] = true;
                shapes.add(kind, middle + right, top + RADIUS + 1.0 + down);
            }
            svg.text("small", middle, top + board_height + 16.0, "middle", &picture.caption);
        }
        let (mut x, y) = (EDGE + RADIUS, boards_top + height + 6.0);
        for (kind, name) in self.words.iter().enumerate().filter(|(kind, _)| occurs[*kind]) {
            shapes.add(kind, x, y);
            svg.text("small soft", x + RADIUS + 6.0, y + 4.0, "start", name);
            x += text_width(name, CAPTION) + 40.0;
        }
        let [pieces, taken, holes] = &shapes.circles;
        for (class, path) in [("f6", pieces), ("f1", taken), ("cross", &shapes.crosses), ("axis", holes)] {
            svg.path(class, path);
        }
        svg
    }

    /// Returns the centre of each cell, to the right of the middle and below the top row, and the
    /// width and height of the board.
    fn places(&self) -> (Vec<[f64; 2]>, [f64; 2]) {
        let of_axis = |axis: usize| range(self.board.places().iter().map(|place| place[axis]), (0.0, 0.0));
        let [(left, right), (top, bottom)] = [0, 1].map(of_axis);
        // Where rows are shifted by half a cell, neighbours are an equilateral triangle.
        let is_set_off = self.board.places().iter().any(|place| (place[0] - left).fract() != 0.0);
        let row_height = if is_set_off { PITCH * 0.866 } else { PITCH };
        let place = |[x, y]: &[f64; 2]| [PITCH * (x - left - (right - left) / 2.0), row_height * (y - top)];
        let size = [(right - left + 1.0) * PITCH, (bottom - top) * row_height + 2.0 * RADIUS + 2.0];
        (self.board.places().iter().map(place).collect(), size)
    }
}

/// All cells of a sheet by kind: pieces that stay, pieces that are taken, with a cross, and empty
/// cells.
#[derive(Default)]
struct Shapes {
    circles: [Path; 3],
    crosses: Path,
}

impl Shapes {
    fn add(&mut self, kind: usize, x: f64, y: f64) {
        self.circles[kind].circle(x, y, [RADIUS - 1.0, RADIUS, RADIUS - 2.0][kind]);
        for arm in [-3.4, 3.4].into_iter().filter(|_| kind == 1) {
            self.crosses.polyline(&[(x - 3.4, y + arm), (x + 3.4, y - arm)], false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(written: &str, class: &str) -> usize {
        let document = roxmltree::Document::parse(written).unwrap();
        let shapes = document.descendants().filter(|found| found.attribute("class") == Some(class));
        shapes.map(|shape| shape.attribute("d").unwrap().matches('M').count()).sum()
    }

    #[test]
    fn every_cell_is_drawn_as_what_it_is() {
        let board = Board::triangle(4, None).unwrap();
        let picture = |position, taken| Picture { position, taken, caption: "caption".into() };
        let pictures = vec![picture(board.full(), 0b11), picture(0b111, 0b100)];
        let sheet = Sheet {
            board: &board,
            title: "t".into(),
            lead: "l".into(),
            description: "d".into(),
            pictures,
            words: ["stays", "taken", "empty"],
        };
        let written = sheet.draw().file();
        // One of each in the legend.
        assert_eq!(
            (circles(&written, "f6"), circles(&written, "f1"), circles(&written, "axis")),
            (8 + 2 + 1, 2 + 1 + 1, 7 + 1)
        );
        assert_eq!(circles(&written, "cross"), 2 * 4);
        assert_eq!(written.matches(">caption<").count(), 2);
        let empty = Sheet { pictures: Vec::new(), ..sheet };
        assert_eq!(circles(&empty.draw().file(), "f6"), 0);
    }
}
