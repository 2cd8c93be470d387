//! Charts as SVG: lines with error bars over two axes.
//!
//! ```
//! use trinim::report::draw::chart::{Axis, Chart, Line, Point};
//!
//! let (x, y) = (Axis::linear("generation"), Axis::log("share of games lost, %"));
//! let points = [Point::new(1.0, 40.0), Point::new(2.0, 12.0).between(9.0, 16.0)];
//! let chart = Chart::new("Mean of five runs", x, y)
//!     .describe("The share falls from 40 % to 7 %.")
//!     .line(Line::marked("small population", points))
//!     .line(Line::plain("bound", [Point::new(1.0, 7.0), Point::new(2.0, 7.0)]))
//!     .note("Error bars: smallest and largest of five.");
//! assert!(chart.draw().file().contains("small population"));
//! ```
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
//! 3. Lines with error bars are shifted sideways by a few pixels, so that the marks and bars of all
//!    lines at one x stand side by side, closer to each other than to those of the next x; a single
//!    one is where its values say.
//! 4. Error bars count towards the range of the axis, so nothing is drawn outside the frame.

mod frame;

use super::scale::{Scale, Spread};
use super::svg::{Anchor, COLOURS, Path, Svg, text_width};
use frame::{EDGE, FONT, Frame, MARK};

/// Distance between neighbouring error bars at the same x, in pixels: a little more than the widest
/// mark.
const APART: f64 = 11.0;

/// An axis: its label, with the unit, and its kind.
#[derive(Clone, Debug)]
pub struct Axis {
    label: String,
    spread: Spread,
    include: Vec<f64>,
    whole: bool,
}

impl Axis {
    /// Creates an axis on which equal differences are equal lengths.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), spread: Spread::Linear, include: Vec::new(), whole: false }
    }

    /// Creates an axis on which equal ratios are equal lengths.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), spread: Spread::Log, include: Vec::new(), whole: false }
    }

    /// Makes the range of the axis include this value, whether or not a series has it.
    pub fn including(mut self, value: f64) -> Axis {
        self.include.push(value);
        self
    }

    /// Restricts ticks to whole numbers.
    pub fn whole(mut self) -> Axis {
        self.whole = true;
        self
    }

    fn scale(&self, values: impl Iterator<Item = f64>, margin: f64) -> Scale {
        Scale::around(self.spread, values.chain(self.include.iter().copied()), margin)
    }

    fn ticks(&self, scale: &Scale, wanted: usize) -> Vec<(f64, String)> {
        let mut ticks = scale.ticks(wanted);
        if self.whole {
            ticks.retain(|(value, _)| value.fract() == 0.0);
            // A step below one leaves zeros after the decimal point.
            for (_, label) in ticks.iter_mut().filter(|(_, label)| !label.contains('e')) {
                label.truncate(label.find('.').unwrap_or(label.len()));
            }
        }
        ticks
    }
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    x: f64,
    y: f64,
    error: Option<(f64, f64)>,
}

impl Point {
    /// Creates a point without an error bar.
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y, error: None }
    }

    /// Adds an error bar from `low` to `high`, values of the y axis.
    pub fn between(mut self, low: f64, high: f64) -> Point {
        self.error = Some((low, high));
        self
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Marked,
    Rings,
    Plain,
}

/// A series of points.
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

/// Lines over two axes.
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
    /// Creates a chart without lines.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Chart {
        Chart { title: title.into(), description: String::new(), notes: Vec::new(), x, y, lines: Vec::new() }
    }

    /// Sets the description for screen readers.
    pub fn describe(mut self, description: impl Into<String>) -> Chart {
        self.description = description.into();
        self
    }

    /// Adds a note below the chart.
    pub fn note(mut self, note: impl Into<String>) -> Chart {
        self.notes.push(note.into());
        self
    }

    /// Adds a line.
    pub fn line(mut self, line: Line) -> Chart {
        self.lines.push(line);
        self
    }

    /// Draws the chart.
    pub fn draw(&self) -> Svg {
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for point in self.lines.iter().flat_map(|line| &line.points).filter(|point| point.x.is_finite()) {
            xs.push(point.x);
            ys.push(point.y);
            ys.extend(point.error.into_iter().flat_map(|(low, high)| [low, high]));
        }
        // Error bars at the same x would hide each other.
        let has_errors = |line: &Line| line.points.iter().any(|point| point.error.is_some());
        let crowded = self.lines.iter().filter(|line| has_errors(line)).count() as f64;
        // The outermost lines reach beyond their points; a plot is at least 500 pixels wide.
        let reach = (crowded - 1.0).max(0.0) / 2.0 * APART + CAP + 2.0;
        let margin = if crowded > 1.0 { (reach / 500.0).clamp(0.03, 0.2) } else { 0.03 };
        let (x_scale, y_scale) = (self.x.scale(xs.into_iter(), margin), self.y.scale(ys.iter().copied(), 0.06));
        let mut notes = self.notes.clone();
        let is_hidden = |point: &Point| y_scale.is_below(point.y);
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
        let mut places: Vec<f64> = self
            .lines
            .iter()
            .filter(|line| has_errors(line))
            .flat_map(|line| &line.points)
            .filter(|point| plot.x.shows(point.x))
            .map(|point| plot.x(point.x))
            .collect();
        places.sort_by(f64::total_cmp);
        // Tenths of a pixel are one place.
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.1);
        let apart = gaps.map(|gap| gap / (crowded + 1.0)).fold(APART, f64::min);
        let cap = CAP.min(CAP / APART * apart);
        frame.outline();
        let mut before = 0.0;
        for (index, line) in self.lines.iter().enumerate() {
            let shift = if has_errors(line) { (before - (crowded - 1.0) / 2.0) * apart } else { 0.0 };
            before += f64::from(u8::from(has_errors(line)));
            plot.line(&mut frame.svg, index, line, shift + line.shift, cap);
        }
        frame.svg
    }
}

/// Height of the area that holds the lines, in pixels.
const PLOT_HEIGHT: f64 = 330.0;
/// Half the width of the ends of an error bar, in pixels.
const CAP: f64 = 4.0;

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

    /// Returns whether a value of the y axis has a place, if only on the lower edge.
    fn has(&self, value: f64) -> bool {
        self.y.shows(value) || self.y.is_below(value)
    }

    /// Draws a line, `shift` pixels to the right of its place, with error bars `2 cap` wide.
    fn line(&self, svg: &mut Svg, index: usize, line: &Line, shift: f64, cap: f64) {
        let colour = index % COLOURS;
        let (mut joined, mut marks, mut open, mut errors) = (Path::new(), Path::new(), Path::new(), Path::new());
        let mut run = Vec::new();
        for point in line.points.iter().filter(|point| self.x.shows(point.x)) {
            let at = (self.x(point.x) + shift, self.y(point.y));
            if self.y.shows(point.y) {
                run.push(at);
                match line.look {
                    Look::Marked => marks.mark(colour, at.0, at.1, MARK),
                    Look::Rings => open.circle(at.0, at.1, 1.9 * MARK),
                    Look::Plain => {}
                }
            } else {
                joined.polyline(&std::mem::take(&mut run), false);
                if self.y.is_below(point.y) && line.look != Look::Plain {
                    open.mark(colour, at.0, self.bottom, MARK);
                }
            }
            if let Some((low, high)) = point.error.filter(|(low, high)| self.has(*low) && self.has(*high)) {
                let (low, high) = (self.y(low), self.y(high));
                errors.polyline(&[(at.0, low), (at.0, high)], false);
                errors.polyline(&[(at.0 - cap, low), (at.0 + cap, low)], false);
                errors.polyline(&[(at.0 - cap, high), (at.0 + cap, high)], false);
            }
        }
        joined.polyline(&run, false);
        match line.look {
            Look::Marked => svg.path(&format!("line l{colour}"), &joined),
            Look::Plain => svg.path(&format!("line dash l{colour}"), &joined),
            Look::Rings => {}
        }
        svg.path(&format!("error l{colour}"), &errors);
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
            points in prop::collection::vec((values(), values(), prop::option::of((values(), values()))), 0..9),
            log: [bool; 2],
        ) {
            let axis = |log: bool| if log { Axis::log("a").including(3.0) } else { Axis::linear("a") };
            let points: Vec<Point> = points.into_iter().map(|(x, y, error)| {
                error.map_or(Point::new(x, y), |(low, high)| Point::new(x, y).between(low, high))
            }).collect();
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
        let points = [(0.0, 1.0), (5.0, 10.0), (10.0, 100.0)].map(|(x, y)| Point::new(x, y));
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
    fn error_bars_at_the_same_x_are_side_by_side() {
        let points = || [1.0, 2.0].map(|x| Point::new(x, 5.0).between(4.0, 6.0));
        // The places of the bars at 1, and of its tick.
        let bars = |lines: usize| -> (Vec<f64>, f64) {
            let chart = Chart::new("t", Axis::linear("x").whole(), Axis::linear("y"));
            let chart = (0..lines).fold(chart, |chart, at| chart.line(Line::marked(format!("line {at}"), points())));
            let written = chart.draw().file();
            let document = roxmltree::Document::parse(&written).unwrap();
            let errors = document
                .descendants()
                .filter(|found| found.attribute("class").is_some_and(|class| class.starts_with("error")));
            let tick = document.descendants().find(|found| found.has_tag_name("text") && found.text() == Some("1"));
            let place = |path: roxmltree::Node<'_, '_>| {
                path.attribute("d").unwrap()[1..].split(' ').next().unwrap().parse().unwrap()
            };
            (errors.map(place).collect(), tick.unwrap().attribute("x").unwrap().parse().unwrap())
        };
        let ((one, at), (three, middle_at)) = (bars(1), bars(3));
        let ([one], [left, middle, right]) = (&one[..], &three[..]) else { panic!("a bar is missing") };
        assert!((one - at).abs() < 0.11 && (middle - middle_at).abs() < 0.11, "{one} {at} {middle} {middle_at}");
        // Ends are 8 pixels wide, marks 10.
        assert!(middle - left > 10.0 && right - middle > 10.0, "{left} {middle} {right}");
    }

    /// Fifty points left no room between the bars of neighbours.
    #[test]
    fn error_bars_of_neighbours_keep_apart_and_inside() {
        for (points, lines) in [(50, 3), (200, 2), (2, 9)] {
            let line = |at: usize| {
                let points = (1..=points).map(|x| Point::new(f64::from(x), 5.0).between(4.0, 6.0));
                Line::marked(format!("{at}"), points)
            };
            let chart = Chart::new("t", Axis::linear("x"), Axis::linear("y"));
            let written = (0..lines).fold(chart, |chart, at| chart.line(line(at))).draw().file();
            let document = roxmltree::Document::parse(&written).unwrap();
            let is_error = |class: &str| class.starts_with("error");
            let errors = document.descendants().filter(|found| found.attribute("class").is_some_and(is_error));
            // Each bar is a vertical line and its two ends.
            let ends: Vec<Vec<[f64; 2]>> = errors
                .map(|path| {
                    let parts = path.attribute("d").unwrap()[1..].split('M').skip(1).step_by(3);
                    let x = |part: &str| part.split(' ').next().unwrap().parse().unwrap();
                    parts
                        .map(|part| {
                            let (from, to) = part.split_once('L').unwrap();
                            [x(from), x(to)]
                        })
                        .collect()
                })
                .collect();
            let mut in_order: Vec<[f64; 2]> =
                (0..points as usize).flat_map(|at| ends.iter().map(move |line| line[at])).collect();
            assert_eq!(in_order.len(), points as usize * lines);
            for pair in in_order.windows(2) {
                assert!(pair[0][1] <= pair[1][0] + 0.11, "{points} points, {lines} lines: {pair:?}");
            }
            let [first, last] = [in_order.remove(0), in_order.pop().unwrap()];
            assert!(first[0] >= 60.0 && last[1] <= 702.1, "{lines} lines: {first:?} {last:?}");
        }
    }

    #[test]
    fn a_shifted_line_is_beside_its_place() {
        let begin = |shift: f64| {
            let line = Line::rings("r", [1.0, 2.0].map(|x| Point::new(x, 5.0))).shifted(shift);
            let written = Chart::new("t", Axis::linear("x"), Axis::linear("y")).line(line).draw().file();
            written.rsplit_once(" d=\"M").unwrap().1.split_once(' ').unwrap().0.parse::<f64>().unwrap()
        };
        assert!((begin(6.5) - begin(0.0) - 6.5).abs() < 0.11, "{}", begin(6.5) - begin(0.0));
    }

    #[test]
    fn zero_on_a_logarithmic_axis_is_marked_and_explained() {
        let points = [1.0, 0.0, 2.0, 3.0].into_iter().zip([0.0, 1.0, 2.0, 3.0]).map(|(y, x)| Point::new(x, y));
        let written = Chart::new("t", Axis::linear("x"), Axis::log("y")).line(Line::marked("p", points)).draw().file();
        assert!(written.contains("Open marks on the lower edge"), "{written}");
        assert!(written.contains("class=\"open l0\""), "{written}");
    }

    #[test]
    fn whole_ticks_have_no_fractions() {
        let points = [0.0, 1.0].map(|x| Point::new(x, 5.0));
        let ticks = |axis: Axis| {
            let written = Chart::new("t", axis, Axis::linear("y")).line(Line::plain("p", points)).draw().file();
            (written.contains(">0.5<"), written.contains(">1<"))
        };
        assert_eq!(ticks(Axis::linear("x")), (true, false));
        assert_eq!(ticks(Axis::linear("x").whole()), (false, true));
    }

    #[test]
    fn legends_need_two_lines() {
        let line = |name: &str| Line::marked(name, [1.0, 2.0].map(|x| Point::new(x, 5.0)));
        let chart = Chart::new("t", Axis::linear("time, s"), Axis::linear("y")).line(line("read <1>"));
        assert!(!chart.draw().file().contains(">read"));
        let two = chart.line(line("write")).draw().file();
        assert!(two.contains(">read &lt;1&gt;<") && two.contains(">write<"), "{two}");
    }
}
