//! The surroundings of a chart's plot: title, axis, legend, notes.

use super::{Axis, Chart, Look, PLOT_HEIGHT};
use crate::report::draw::scale::Scale;
use crate::report::draw::svg::{Anchor, COLOURS, Path, Svg, flowed, text_width, wrapped};

const WIDTH: f64 = 720.0;
pub(super) const EDGE: f64 = 18.0;
pub(super) const FONT: f64 = 13.0;
const SMALL: f64 = 12.0;
/// Bold letters are a tenth wider than text of this size.
const HEAD: f64 = 16.0;
pub(super) const MARK: f64 = 4.0;

pub(super) struct Frame {
    pub svg: Svg,
    pub left: f64,
    pub right: f64,
    top: f64,
    pub bottom: f64,
}

impl Frame {
    pub(super) fn new(chart: &Chart, notes: &[String], labels_px: f64) -> Frame {
        let inner = WIDTH - 2.0 * EDGE;
        let title = wrapped(&chart.title, 1.1 * HEAD, inner);
        // Row names get at most half of the picture.
        let left = EDGE + labels_px.min(WIDTH / 2.0);
        let top = EDGE + 24.0 * title.len() as f64;
        let bottom = top + PLOT_HEIGHT;
        // A single series needs no legend.
        let shown = if chart.lines.len() > 1 { &chart.lines[..] } else { &[] };
        let entries = shown.iter().enumerate().map(|entry| (32.0 + text_width(&entry.1.name, FONT) + 16.0, entry));
        let legend = flowed(entries, WIDTH - EDGE - left);
        let notes: Vec<String> = notes.iter().flat_map(|note| wrapped(note, SMALL, inner)).collect();
        let legend_top = bottom + 52.0;
        let notes_top = legend_top + 22.0 * legend.len() as f64;
        let end = notes_top + 17.0 * notes.len() as f64 + EDGE - 4.0;
        let mut svg = Svg::new(WIDTH, end, &chart.title, &chart.description);
        svg.lines("head", EDGE, EDGE + 12.0, 24.0, &title);
        for (row, number) in legend.iter().zip(0..) {
            let y = legend_top + 22.0 * f64::from(number) + 6.0;
            for (x, (index, line)) in row {
                draw_sample(&mut svg, line.look, *index, left + x, y);
                svg.text("", left + x + 32.0, y + 4.5, Anchor::Start, &line.name);
            }
        }
        svg.lines("small soft", EDGE, notes_top + 9.0, 17.0, &notes);
        Frame { svg, left, right: WIDTH - EDGE, top, bottom }
    }

    /// Draws the vertical grid lines, the ticks and the label of the x axis.
    pub(super) fn x_axis(&mut self, axis: &Axis, scale: &Scale) {
        let length = self.right - self.left;
        let fits = |ticks: &Vec<(f64, String)>| {
            let widest = ticks.iter().map(|(_, label)| text_width(label, FONT)).fold(0.0, f64::max);
            ticks.windows(2).all(|pair| (scale.place(pair[1].0) - scale.place(pair[0].0)) * length >= widest + 6.0)
        };
        let ticks = (2..=14).rev().map(|wanted| axis.ticks(scale, wanted)).find(fits).unwrap_or_default();
        let (mut grid, mut marks) = (Path::new(), Path::new());
        for (value, label) in &ticks {
            let x = self.left + scale.place(*value) * length;
            grid.polyline(&[(x, self.top), (x, self.bottom)], false);
            marks.polyline(&[(x, self.bottom), (x, self.bottom + 5.0)], false);
            self.svg.text("", x, self.bottom + 19.0, Anchor::Middle, label);
        }
        self.svg.path("grid", &grid);
        self.svg.path("axis", &marks);
        self.svg.text("", (self.left + self.right) / 2.0, self.bottom + 39.0, Anchor::Middle, &axis.label);
    }

    pub(super) fn outline(&mut self) {
        let mut outline = Path::new();
        outline.polyline(&[(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)], false);
        self.svg.path("axis", &outline);
    }
}

fn draw_sample(svg: &mut Svg, look: Look, index: usize, x: f64, y: f64) {
    let colour = index % COLOURS;
    let (mut line, mut mark) = (Path::new(), Path::new());
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
