//! Boards as pictures: a sheet of small boards, each with the pieces that a move takes.
//!
//! ```text
//!      ●            ●  a piece that stays
//!     ● ●           ⊗  a piece that the move takes: another colour, and a cross
//!    ● ⊗ ●          ○  an empty cell
//!   ● ● ⊗ ●
//! ```

use super::svg::{Anchor, EDGE, Path, Svg, WIDTH, text_width};
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
    /// The words of the legend, usually [`MOVE_WORDS`]: for a piece that stays, one that is taken,
    /// and an empty cell.
    pub words: [&'static str; 3],
}

pub const MOVE_WORDS: [&str; 3] = ["piece", "taken by the move", "empty cell"];

impl Sheet<'_> {
    pub fn draw(&self) -> Svg {
        let frame = Frame::new(self.board);
        let (board_width, board_height) = (frame.columns * PITCH, frame.height + 2.0 * RADIUS + 2.0);
        let captions = self.pictures.iter().map(|picture| text_width(&picture.caption, CAPTION));
        let column = board_width.max(captions.fold(0.0, f64::max)) + 20.0;
        let columns = (((WIDTH - 2.0 * EDGE) / column) as usize).clamp(1, self.pictures.len().max(1));
        let line_height = board_height + 34.0;
        let height = self.pictures.len().div_ceil(columns) as f64 * line_height;
        let (mut svg, boards_top) = Svg::headed(&self.title, &self.lead, &self.description, height + 18.0);
        let legend = boards_top + height + 6.0;
        let mut shapes = Shapes::default();
        for (index, picture) in self.pictures.iter().enumerate() {
            let middle = EDGE + column * ((index % columns) as f64 + 0.5);
            let top = boards_top + line_height * (index / columns) as f64;
            self.board_at(&mut shapes, picture, &frame, middle, top + RADIUS + 1.0);
            svg.text("small", middle, top + board_height + 16.0, Anchor::Middle, &picture.caption);
        }
        let mut x = EDGE + RADIUS;
        let any = |chosen: fn(&Picture, u64) -> u64| {
            self.pictures.iter().any(|picture| chosen(picture, self.board.full()) != 0)
        };
        let [piece, taken, empty] = self.words;
        let kinds: [(bool, Draw, &str); 3] = [
            (any(|picture, _| picture.position & !picture.taken), Shapes::piece, piece),
            (any(|picture, _| picture.taken), Shapes::taken, taken),
            (any(|picture, full| full & !picture.position & !picture.taken), Shapes::hole, empty),
        ];
        for (_, draw, name) in kinds.into_iter().filter(|(occurs, _, _)| *occurs) {
            draw(&mut shapes, x, legend);
            svg.text("small soft", x + RADIUS + 6.0, legend + 4.0, Anchor::Start, name);
            x += text_width(name, CAPTION) + 40.0;
        }
        shapes.draw(&mut svg);
        svg
    }

    fn board_at(&self, shapes: &mut Shapes, picture: &Picture, frame: &Frame, middle: f64, top: f64) {
        for (index, [right, down]) in (0..).zip(self.board.places()) {
            let x = middle + PITCH * (right - frame.left - (frame.columns - 1.0) / 2.0);
            let y = top + frame.row_height * (down - frame.top);
            match (picture.taken >> index & 1, picture.position >> index & 1) {
                (1, _) => shapes.taken(x, y),
                (_, 1) => shapes.piece(x, y),
                _ => shapes.hole(x, y),
            }
        }
    }
}

struct Frame {
    left: f64,
    top: f64,
    /// Distance of neighbouring cells.
    columns: f64,
    height: f64,
    /// Distance of neighbouring rows; where these are shifted by half a cell, the height of an
    /// equilateral triangle.
    row_height: f64,
}

impl Frame {
    fn new(board: &Board) -> Frame {
        let least = |axis: usize| board.places().iter().map(|place| place[axis]).fold(f64::INFINITY, f64::min);
        let most = |axis: usize| board.places().iter().map(|place| place[axis]).fold(f64::NEG_INFINITY, f64::max);
        let is_set_off = board.places().iter().any(|place| (place[0] - least(0)).fract() != 0.0);
        let row_height = if is_set_off { PITCH * 0.866 } else { PITCH };
        let (left, top) = (least(0), least(1));
        Frame { left, top, columns: most(0) - left + 1.0, height: (most(1) - top) * row_height, row_height }
    }
}

type Draw = fn(&mut Shapes, f64, f64);

/// All cells of a sheet, kind by kind.
#[derive(Default)]
struct Shapes {
    pieces: Path,
    taken: Path,
    crosses: Path,
    holes: Path,
}

impl Shapes {
    fn piece(&mut self, x: f64, y: f64) {
        self.pieces.circle(x, y, RADIUS - 1.0);
    }

    fn taken(&mut self, x: f64, y: f64) {
        let arm = 3.4;
        self.taken.circle(x, y, RADIUS);
        self.crosses.polyline(&[(x - arm, y - arm), (x + arm, y + arm)], false);
        self.crosses.polyline(&[(x - arm, y + arm), (x + arm, y - arm)], false);
    }

    fn hole(&mut self, x: f64, y: f64) {
        self.holes.circle(x, y, RADIUS - 2.0);
    }

    fn draw(&self, svg: &mut Svg) {
        svg.path("f6", &self.pieces);
        svg.path("f1", &self.taken);
        svg.path("cross", &self.crosses);
        svg.path("axis", &self.holes);
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
            words: MOVE_WORDS,
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
