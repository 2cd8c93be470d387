//! Charts as SVG: lines over whole numbers, on a logarithmic axis.
//!
//! A chart is 720 pixels wide and as high as needed: title, frame with grid, axis labels, legend,
//! notes. A line's place in the list decides its colour and, if it has marks, their shape; both
//! repeat after [`COLOURS`]. Two or more lines get a legend.
//!
//! # Invariants
//! 1. A value of zero, which a logarithmic axis cannot show, is an open mark on the edge of the
//!    frame, and a note explains it.

use super::svg::{COLOURS, EDGE, Path, Svg, WIDTH, text_width, wrapped};
use trinim_game::amount::grouped;

/// Height of the area that holds the lines.
const PLOT_HEIGHT: f64 = 330.0;
const FONT: f64 = 13.0;
const SMALL: f64 = 12.0;
const MARK: f64 = 4.0;

/// The look of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Points with marks, joined by a line.
    Marked,
    /// Circles without a line, large enough to surround the marks of another line.
    Rings,
    /// A dashed line without marks, for a level.
    Plain,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    /// The values of the points on both axes.
    pub points: Vec<(f64, f64)>,
    pub look: Look,
    /// Shift of the points in pixels to the right.
    pub shift: f64,
}

#[derive(Clone, Debug)]
pub struct Chart {
    pub title: String,
    /// What the chart shows, for screen readers.
    pub description: String,
    pub notes: Vec<&'static str>,
    /// The labels of both axes, with the unit.
    pub labels: [&'static str; 2],
    /// Values that the vertical axis always includes.
    pub included: &'static [f64],
    pub lines: Vec<Line>,
}

impl Chart {
    pub fn draw(&self) -> Svg {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x = Across::around(points().map(|point| point.0));
        let y = Upright::around(points().map(|point| point.1).chain(self.included.iter().copied()));
        let mut notes = self.notes.clone();
        if self.lines.iter().any(|line| line.look == Look::Marked && line.points.iter().any(|(_, value)| *value <= 0.0))
        {
            notes.push("Open marks on the lower edge: zero, which a logarithmic axis cannot show.");
        }
        let ticks = y.ticks();
        let widest = ticks.iter().map(|(_, label)| text_width(label, FONT)).fold(0.0, f64::max);
        let (left, right) = (EDGE + widest + 8.0 + 24.0, WIDTH - EDGE);
        let legend = self.legend(right - left);
        let notes: Vec<String> = notes.iter().flat_map(|note| wrapped(note, SMALL, WIDTH - 2.0 * EDGE)).collect();
        let below = 52.0 + 22.0 * legend.last().map_or(0.0, |(row, _)| f64::from(row + 1));
        let height = PLOT_HEIGHT + below + 17.0 * notes.len() as f64 - 4.0;
        let (mut svg, top) = Svg::headed(&self.title, "", &self.description, height);
        let bottom = top + PLOT_HEIGHT;
        for ((row, x), (index, line)) in legend.iter().zip(self.lines.iter().enumerate()) {
            let y = bottom + 58.0 + 22.0 * f64::from(*row);
            draw_sample(&mut svg, line.look, index, left + x, y);
            svg.text("", left + x + 32.0, y + 4.5, "start", &line.name);
        }
        svg.lines("small soft", EDGE, bottom + below + 9.0, 17.0, &notes);

        let mut grid = Path::default();
        for (value, label) in &ticks {
            let y = bottom - y.place(*value) * PLOT_HEIGHT;
            grid.polyline(&[(left, y), (right, y)], false);
            svg.text("", left - 8.0, y + 4.5, "end", label);
        }
        svg.path("grid", &grid);
        svg.text_upwards("", EDGE + 10.0, bottom - PLOT_HEIGHT / 2.0, "middle", self.labels[1]);
        let (mut grid, mut marks) = (Path::default(), Path::default());
        for value in x.ticks(right - left) {
            let x = left + x.place(value) * (right - left);
            grid.polyline(&[(x, top), (x, bottom)], false);
            marks.polyline(&[(x, bottom), (x, bottom + 5.0)], false);
            svg.text("", x, bottom + 19.0, "middle", &value.to_string());
        }
        svg.path("grid", &grid);
        svg.path("axis", &marks);
        svg.text("", (left + right) / 2.0, bottom + 39.0, "middle", self.labels[0]);
        let mut outline = Path::default();
        outline.polyline(&[(left, top), (left, bottom), (right, bottom)], false);
        svg.path("axis", &outline);
        for (index, line) in self.lines.iter().enumerate() {
            let at = |(value, height): &(f64, f64)| {
                (left + x.place(*value) * (right - left) + line.shift, bottom - y.place(*height) * PLOT_HEIGHT)
            };
            draw_line(&mut svg, index, line, at);
        }
        svg
    }

    /// Arranges the lines in rows of this width: the row of each, and its distance from the left. A
    /// single line needs no legend.
    fn legend(&self, width: f64) -> Vec<(u32, f64)> {
        let (mut row, mut x) = (0, 0.0);
        let place = |line: &Line| {
            let line_width = 32.0 + text_width(&line.name, FONT) + 16.0;
            if x > 0.0 && x + line_width > width {
                (row, x) = (row + 1, 0.0);
            }
            let place = (row, x);
            x += line_width;
            place
        };
        self.lines.iter().filter(|_| self.lines.len() > 1).map(place).collect()
    }
}

fn draw_line(svg: &mut Svg, index: usize, line: &Line, at: impl Fn(&(f64, f64)) -> (f64, f64)) {
    let colour = index % COLOURS;
    let (mut joined, mut marks, mut open) = (Path::default(), Path::default(), Path::default());
    let mut run = Vec::new();
    for point in &line.points {
        let (x, y) = at(point);
        if point.1 <= 0.0 {
            joined.polyline(&std::mem::take(&mut run), false);
            open.mark(colour, x, y, MARK);
            continue;
        }
        run.push((x, y));
        match line.look {
            Look::Marked => marks.mark(colour, x, y, MARK),
            Look::Rings => open.circle(x, y, 1.9 * MARK),
            Look::Plain => {}
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

fn draw_sample(svg: &mut Svg, look: Look, index: usize, x: f64, y: f64) {
    let colour = index % COLOURS;
    let (mut line, mut mark) = (Path::default(), Path::default());
    line.polyline(&[(x, y), (x + 26.0, y)], false);
    match look {
        Look::Plain => return svg.path(&format!("line dash l{colour}"), &line),
        Look::Rings => {
            mark.circle(x + 13.0, y, 1.5 * MARK);
            return svg.path(&format!("ring l{colour}"), &mark);
        }
        Look::Marked => {}
    }
    svg.path(&format!("line l{colour}"), &line);
    mark.mark(colour, x + 13.0, y, MARK);
    svg.path(&format!("f{colour}"), &mark);
}

/// Returns the smallest and the largest of some values; `usual` if there are none.
pub(super) fn range(values: impl Iterator<Item = f64>, usual: (f64, f64)) -> (f64, f64) {
    let wider = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), wider);
    if low > high { usual } else { (low, high) }
}

/// The axis of whole numbers, from 0 on.
struct Across {
    low: f64,
    high: f64,
}

impl Across {
    /// Creates a range around the values, never across zero.
    fn around(values: impl Iterator<Item = f64>) -> Across {
        let (low, high) = range(values, (0.0, 1.0));
        let margin = 0.03 * if high > low { high - low } else { low.max(1.0) };
        Across { low: (low - margin).max(0.0), high: if high > 0.0 { high + margin } else { 1.0 } }
    }

    /// Returns the position of a value: 0 at the low end, 1 at the high end.
    fn place(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    /// Returns the values that get a tick on a length in pixels: as many as have room, at most
    /// about fourteen.
    fn ticks(&self, length: f64) -> Vec<f64> {
        let most = text_width(&self.high.floor().to_string(), FONT) + 6.0;
        let has_room = |step: &f64| {
            let apart = step / (self.high - self.low);
            apart >= 1.0 / 14.000_001 && apart * length >= most
        };
        let steps = (0..).flat_map(|exponent| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(exponent)));
        let step = { steps }.find(has_room).unwrap_or(1.0);
        let numbers = (self.low / step).ceil() as u64..=(self.high / step).floor() as u64;
        numbers.map(|number| number as f64 * step).collect()
    }
}

/// The axis on which equal ratios are equal lengths.
struct Upright {
    low: f64,
    high: f64,
}

impl Upright {
    /// Creates a range around the values that are not zero.
    fn around(values: impl Iterator<Item = f64>) -> Upright {
        let (low, high) = range(values.filter(|value| *value > 0.0), (1.0, 10.0));
        let factor = if high > low { (high / low).powf(0.06) } else { 2.0 };
        Upright { low: low / factor, high: high * factor }
    }

    /// Returns the position of a value: 0 at the low end, also for zero, 1 at the high end.
    fn place(&self, value: f64) -> f64 {
        if value <= 0.0 { 0.0 } else { (value / self.low).ln() / (self.high / self.low).ln() }
    }

    /// Returns the values that get a tick, with their labels.
    fn ticks(&self) -> Vec<(f64, String)> {
        const MOST: usize = 8;
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let inside = |digits: &[u32], every: i32| -> Vec<(f64, String)> {
            let exponents = decades.clone().filter(|exponent| exponent.rem_euclid(every) == 0);
            let of = |exponent: i32, digit: u32| {
                let value = f64::from(digit) * 10_f64.powi(exponent);
                (value, label(value, exponent))
            };
            let all = exponents.flat_map(|exponent| digits.iter().map(move |digit| of(exponent, *digit)));
            all.filter(|(value, _)| (self.low..=self.high).contains(value)).collect()
        };
        let choices: [&[u32]; 3] = [&[1, 2, 3, 4, 5, 6, 7, 8, 9], &[1, 2, 5], &[1]];
        let fitting = choices.into_iter().map(|digits| inside(digits, 1)).find(|ticks| ticks.len() <= MOST);
        fitting.unwrap_or_else(|| inside(&[1], (decades.clone().count() / MOST + 1) as i32))
    }
}

/// Formats a value in full steps of `10^exponent`, very large and very small ones as a power of
/// ten.
fn label(value: f64, exponent: i32) -> String {
    let decimals = (-exponent).max(0) as usize;
    match decimals {
        _ if value >= 1e7 || decimals > 5 => format!("{value:.0e}"),
        0 => grouped(value.round() as u64),
        _ => format!("{value:.decimals$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(look: Look, shift: f64, points: &[(f64, f64)]) -> String {
        let line = |name: &str| Line { name: name.into(), points: points.to_vec(), look, shift };
        let lines = vec![line("read <1>"), line("write")];
        let labels = ["x", "y"];
        Chart { title: "t".into(), description: "d".into(), notes: Vec::new(), labels, included: &[], lines }
            .draw()
            .file()
    }

    #[test]
    fn points_lie_where_their_values_say() {
        let written = drawn(Look::Plain, 0.0, &[(0.0, 1.0), (5.0, 10.0), (10.0, 100.0)]);
        let document = roxmltree::Document::parse(&written).unwrap();
        // The sample of the legend comes first.
        let line = document.descendants().rfind(|found| found.attribute("class") == Some("line dash l0")).unwrap();
        let numbers: Vec<f64> =
            line.attribute("d").unwrap().split(['M', 'L', ' ']).filter_map(|number| number.parse().ok()).collect();
        let [x0, y0, x1, y1, x2, y2] = numbers[..] else { panic!("{numbers:?}") };
        assert!((x1 - x0 - (x2 - x1)).abs() < 0.21 && x1 > x0, "{numbers:?}");
        assert!((y0 - y1 - (y1 - y2)).abs() < 0.21 && y0 > y1, "{numbers:?}");
        assert!(written.contains(">read &lt;1&gt;<") && written.contains(">write<"), "{written}");
    }

    #[test]
    fn a_shifted_line_is_beside_its_place() {
        let begin = |shift: f64| {
            let written = drawn(Look::Rings, shift, &[(1.0, 5.0), (2.0, 5.0)]);
            written.rsplit_once(" d=\"M").unwrap().1.split_once(' ').unwrap().0.parse::<f64>().unwrap()
        };
        assert!((begin(6.5) - begin(0.0) - 6.5).abs() < 0.11, "{}", begin(6.5) - begin(0.0));
    }

    #[test]
    fn zero_is_marked_and_explained() {
        let written = drawn(Look::Marked, 0.0, &[(0.0, 1.0), (1.0, 0.0), (2.0, 2.0), (3.0, 3.0)]);
        assert!(written.contains("Open marks on the lower edge"), "{written}");
        assert!(written.contains("class=\"open l0\""), "{written}");
    }

    #[test]
    fn ticks_are_round_and_as_many_as_have_room() {
        let across = |low: f64, high: f64| Across::around([low, high].into_iter()).ticks(600.0);
        assert_eq!(across(0.0, 1.0), [0.0, 1.0]);
        assert_eq!(across(1.0, 9.0), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        assert_eq!(across(0.0, 45.0), [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0]);
        let upright = |values: &[f64]| -> Vec<String> {
            let axis = Upright::around(values.iter().copied());
            let ticks = axis.ticks();
            assert!(ticks.windows(2).all(|pair| pair[0].0 < pair[1].0) && ticks.len() <= 9, "{ticks:?}");
            ticks.into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(upright(&[4.0, 60.0]), ["5", "10", "20", "50"]);
        assert_eq!(upright(&[0.02, 0.09]), ["0.02", "0.03", "0.04", "0.05", "0.06", "0.07", "0.08", "0.09"]);
        assert_eq!(upright(&[1.0, 1e12]), ["1", "100", "10,000", "1,000,000", "1e8", "1e10", "1e12"]);
    }
}
