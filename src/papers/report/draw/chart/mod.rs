//! Charts as SVG: lines over two axes.
//!
//! # Shape
//! A chart is 720 pixels wide and as high as needed: title, frame with grid, axis labels, legend,
//! notes. Every series has a colour and, if it has marks, a form of its own, by its place among the
//! series; both repeat after [`COLOURS`](super::svg::COLOURS). Two or more series get a legend.
//!
//! # Invariants
//! 1. Any numbers give a picture: values that are not finite, or beyond 1e100, are left out and
//!    interrupt their line.
//! 2. A value that a logarithmic axis cannot show (zero or less) is an open mark on the edge of the
//!    frame, and a note says so.

mod frame;

use super::scale::{Scale, Spread};
use super::svg::{Anchor, COLOURS, Path, Svg, text_width};
use frame::{EDGE, FONT, Frame, MARK};

/// An axis: its label, with the unit, and its kind.
#[derive(Clone, Debug)]
pub struct Axis {
    label: String,
    spread: Spread,
    include: Vec<f64>,
}

impl Axis {
    /// Creates an axis on which equal differences are equal lengths, with ticks at whole numbers.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), spread: Spread::Linear, include: Vec::new() }
    }

    /// Creates an axis on which equal ratios are equal lengths.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), spread: Spread::Log, include: Vec::new() }
    }

    /// Makes the range of the axis include this value, whether or not a series has it.
    pub fn including(mut self, value: f64) -> Axis {
        self.include.push(value);
        self
    }

    fn scale(&self, values: impl Iterator<Item = f64>, margin: f64) -> Scale {
        Scale::around(self.spread, values.chain(self.include.iter().copied()), margin)
    }

    fn ticks(&self, scale: &Scale, wanted: usize) -> Vec<(f64, String)> {
        let mut ticks = scale.ticks(wanted);
        if self.spread == Spread::Linear {
            ticks.retain(|(value, _)| value.fract() == 0.0);
            // A step below one leaves zeros after the decimal point.
            for (_, label) in ticks.iter_mut().filter(|(_, label)| !label.contains('e')) {
                label.truncate(label.find('.').unwrap_or(label.len()));
            }
        }
        ticks
    }
}

/// The values of a point on both axes.
pub type Point = (f64, f64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Marked,
    Rings,
    Plain,
}

#[derive(Clone, Debug)]
pub struct Line {
    name: String,
    points: Vec<Point>,
    look: Look,
    /// Distance from the places of the points, in pixels to the right.
    shift: f64,
}

impl Line {
    /// Creates points with marks, joined by a line.
    pub fn marked(name: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Line {
        Line { name: name.into(), points: points.into_iter().collect(), look: Look::Marked, shift: 0.0 }
    }

    /// Creates circles without a line, large enough to surround the marks of another series.
    pub fn rings(name: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Line {
        Line { look: Look::Rings, ..Line::marked(name, points) }
    }

    /// Creates a dashed line without marks, for levels and bounds.
    pub fn plain(name: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Line {
        Line { look: Look::Plain, ..Line::marked(name, points) }
    }

    /// Draws the line this many pixels to the right, beside others with the same points.
    pub fn shifted(mut self, pixels: f64) -> Line {
        self.shift = pixels;
        self
    }
}

#[derive(Clone, Debug)]
pub struct Chart {
    title: String,
    description: String,
    notes: Vec<String>,
    x: Axis,
    y: Axis,
    lines: Vec<Line>,
}

impl Chart {
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Chart {
        Chart { title: title.into(), description: String::new(), notes: Vec::new(), x, y, lines: Vec::new() }
    }

    pub fn describe(mut self, description: impl Into<String>) -> Chart {
        self.description = description.into();
        self
    }

    pub fn note(mut self, note: impl Into<String>) -> Chart {
        self.notes.push(note.into());
        self
    }

    pub fn line(mut self, line: Line) -> Chart {
        self.lines.push(line);
        self
    }

    pub fn draw(&self) -> Svg {
        let points = self.lines.iter().flat_map(|line| &line.points).filter(|(x, _)| x.is_finite());
        let (xs, ys): (Vec<f64>, Vec<f64>) = points.copied().unzip();
        let (x_scale, y_scale) = (self.x.scale(xs.into_iter(), 0.03), self.y.scale(ys.into_iter(), 0.06));
        let mut notes = self.notes.clone();
        let is_hidden = |point: &Point| y_scale.is_below(point.1);
        if self.lines.iter().any(|line| line.look == Look::Marked && line.points.iter().any(is_hidden)) {
            notes.push("Open marks on the lower edge: zero, which a logarithmic axis cannot show.".to_owned());
        }
        let ticks = self.y.ticks(&y_scale, 8);
        let widest = ticks.iter().map(|(_, label)| text_width(label, FONT)).fold(0.0, f64::max);
        let mut frame = Frame::new(self, &notes, widest + 8.0 + 24.0);
        let mut grid = Path::new();
        for (value, label) in &ticks {
            let y = frame.bottom - y_scale.place(*value) * PLOT_HEIGHT;
            grid.polyline(&[(frame.left, y), (frame.right, y)], false);
            frame.svg.text("", frame.left - 8.0, y + 4.5, Anchor::End, label);
        }
        frame.svg.path("grid", &grid);
        let middle = frame.bottom - PLOT_HEIGHT / 2.0;
        frame.svg.text_upwards("", EDGE + 10.0, middle, Anchor::Middle, &self.y.label);
        frame.x_axis(&self.x, &x_scale);
        let plot = Plot { x: x_scale, y: y_scale, left: frame.left, right: frame.right, bottom: frame.bottom };
        frame.outline();
        for (index, line) in self.lines.iter().enumerate() {
            plot.line(&mut frame.svg, index, line);
        }
        frame.svg
    }
}

/// Height of the area that holds the lines, in pixels.
const PLOT_HEIGHT: f64 = 330.0;

/// The area that holds the lines, with its scales.
struct Plot {
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    bottom: f64,
}

impl Plot {
    fn x(&self, value: f64) -> f64 {
        self.left + self.x.place(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - self.y.place(value) * PLOT_HEIGHT
    }

    fn line(&self, svg: &mut Svg, index: usize, line: &Line) {
        let colour = index % COLOURS;
        let (mut joined, mut marks, mut open) = (Path::new(), Path::new(), Path::new());
        let mut run = Vec::new();
        for &(x, y) in line.points.iter().filter(|(x, _)| self.x.shows(*x)) {
            let at = (self.x(x) + line.shift, self.y(y));
            if self.y.shows(y) {
                run.push(at);
                match line.look {
                    Look::Marked => marks.mark(colour, at.0, at.1, MARK),
                    Look::Rings => open.circle(at.0, at.1, 1.9 * MARK),
                    Look::Plain => {}
                }
            } else {
                joined.polyline(&std::mem::take(&mut run), false);
                if self.y.is_below(y) && line.look != Look::Plain {
                    open.mark(colour, at.0, self.bottom, MARK);
                }
            }
        }
        joined.polyline(&run, false);
        match line.look {
            Look::Marked => svg.path(&format!("line l{colour}"), &joined),
            Look::Plain => svg.path(&format!("line dash l{colour}"), &joined),
            Look::Rings => {}
        }
        svg.path(&format!("f{colour}"), &marks);
        svg.path(&format!("{} l{colour}", if line.look == Look::Rings { "ring" } else { "open" }), &open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the numbers of all attributes that place something, whatever the shape.
    fn places(written: &str) -> Vec<f64> {
        let document = roxmltree::Document::parse(written).unwrap();
        let shapes = document.descendants().filter(|found| found.has_tag_name("path") || found.has_tag_name("rect"));
        let texts =
            shapes.flat_map(|shape| ["d", "x", "y", "width", "height"].map(|name| shape.attribute(name).unwrap_or("")));
        let numbers = texts.flat_map(|text| text.split(|c: char| !c.is_ascii_digit() && !".-".contains(c)));
        numbers.filter(|number| !number.is_empty()).map(|number| number.parse().unwrap()).collect()
    }

    fn values() -> impl Strategy<Value = f64> {
        prop_oneof![
            -1e4..1e4_f64,
            1e-6..1.0_f64,
            Just(0.0),
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(-1e300),
            Just(1e300)
        ]
    }

    proptest! {
        #[test]
        fn any_numbers_give_a_picture(
            points in prop::collection::vec((values(), values()), 0..9),
            log: [bool; 2],
        ) {
            let axis = |log: bool| if log { Axis::log("a").including(3.0) } else { Axis::linear("a") };
            let chart = Chart::new("t", axis(log[0]), axis(log[1]))
                .line(Line::marked("m", points.clone()))
                .line(Line::rings("r", points.clone()))
                .line(Line::plain("p", points));
            let places = places(&chart.draw().file());
            prop_assert!(places.iter().all(|number| number.is_finite() && number.abs() < 2000.0));
        }
    }

    #[test]
    fn points_lie_where_their_values_say() {
        let points = [(0.0, 1.0), (5.0, 10.0), (10.0, 100.0)];
        let chart = Chart::new("t", Axis::linear("x"), Axis::log("y")).line(Line::plain("p", points));
        let written = chart.draw().file();
        let document = roxmltree::Document::parse(&written).unwrap();
        let line = document.descendants().find(|found| found.attribute("class") == Some("line dash l0")).unwrap();
        let numbers: Vec<f64> =
            line.attribute("d").unwrap().split(['M', 'L', ' ']).filter_map(|number| number.parse().ok()).collect();
        let [x0, y0, x1, y1, x2, y2] = numbers[..] else { panic!("{numbers:?}") };
        assert!((x1 - x0 - (x2 - x1)).abs() < 0.21 && x1 > x0, "{numbers:?}");
        assert!((y0 - y1 - (y1 - y2)).abs() < 0.21 && y0 > y1, "{numbers:?}");
    }

    #[test]
    fn a_shifted_line_is_beside_its_place() {
        let begin = |shift: f64| {
            let line = Line::rings("r", [1.0, 2.0].map(|x| (x, 5.0))).shifted(shift);
            let written = Chart::new("t", Axis::linear("x"), Axis::linear("y")).line(line).draw().file();
            written.rsplit_once(" d=\"M").unwrap().1.split_once(' ').unwrap().0.parse::<f64>().unwrap()
        };
        assert!((begin(6.5) - begin(0.0) - 6.5).abs() < 0.11, "{}", begin(6.5) - begin(0.0));
    }

    #[test]
    fn zero_on_a_logarithmic_axis_is_marked_and_explained() {
        let points = [1.0, 0.0, 2.0, 3.0].into_iter().zip([0.0, 1.0, 2.0, 3.0]).map(|(y, x)| (x, y));
        let written = Chart::new("t", Axis::linear("x"), Axis::log("y")).line(Line::marked("p", points)).draw().file();
        assert!(written.contains("Open marks on the lower edge"), "{written}");
        assert!(written.contains("class=\"open l0\""), "{written}");
    }

    #[test]
    fn ticks_have_no_fractions() {
        let line = Line::plain("p", [0.0, 1.0].map(|x| (x, 5.0)));
        let written = Chart::new("t", Axis::linear("x"), Axis::log("y")).line(line).draw().file();
        assert_eq!((written.contains(">0.5<"), written.contains(">1<")), (false, true));
    }

    #[test]
    fn legends_need_two_lines() {
        let line = |name: &str| Line::marked(name, [1.0, 2.0].map(|x| (x, 5.0)));
        let chart = Chart::new("t", Axis::linear("time, s"), Axis::linear("y")).line(line("read <1>"));
        assert!(!chart.draw().file().contains(">read"));
        let two = chart.line(line("write")).draw().file();
        assert!(two.contains(">read &lt;1&gt;<") && two.contains(">write<"), "{two}");
    }
}
