//! Charts of spans in named rows.

use super::Axis;
use super::frame::{FONT, Frame, Sample, Texts};
use crate::report::draw::svg::{Anchor, COLOURS, Svg, text_width};

const ROW_HEIGHT: f64 = 26.0;

/// A part of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    row: String,
    from: f64,
    to: f64,
}

impl Span {
    /// Creates the part of the row named `row` between two values of the axis.
    pub fn new(row: impl Into<String>, from: f64, to: f64) -> Span {
        Span { row: row.into(), from, to }
    }
}

/// Spans in named rows over one axis: time lines, stacked bars.
#[derive(Clone, Debug)]
pub struct RowChart {
    texts: Texts,
    x: Axis,
    rows: Vec<String>,
    series: Vec<(String, Vec<Span>)>,
}

impl RowChart {
    /// Creates a chart without rows.
    pub fn new(title: impl Into<String>, x: Axis) -> RowChart {
        RowChart { texts: Texts::new(title), x, rows: Vec::new(), series: Vec::new() }
    }

    /// Sets the description for screen readers.
    pub fn describe(mut self, description: impl Into<String>) -> RowChart {
        self.texts.description = description.into();
        self
    }

    /// Adds a note below the chart.
    pub fn note(mut self, note: impl Into<String>) -> RowChart {
        self.texts.notes.push(note.into());
        self
    }

    /// Adds a series of spans in one colour.
    pub fn spans(mut self, name: impl Into<String>, spans: impl IntoIterator<Item = Span>) -> RowChart {
        let spans: Vec<Span> = spans.into_iter().collect();
        for span in &spans {
            if !self.rows.contains(&span.row) {
                self.rows.push(span.row.clone());
            }
        }
        self.series.push((name.into(), spans));
        self
    }

    /// Draws the chart.
    pub fn draw(&self) -> Svg {
        let values = self.series.iter().flat_map(|(_, spans)| spans).flat_map(|span| [span.from, span.to]);
        let scale = self.x.scale(values, 0.0);
        let height = ROW_HEIGHT * self.rows.len().max(1) as f64;
        let widest = self.rows.iter().map(|row| text_width(row, FONT)).fold(0.0, f64::max);
        let samples: Vec<(Sample, usize, &str)> =
            self.series.iter().enumerate().map(|(index, (name, _))| (Sample::Area, index, &**name)).collect();
        let mut frame = Frame::new(&self.texts, widest + 8.0, height, &samples);
        frame.x_axis(&self.x, &scale);
        let top = frame.bottom - height;
        for (index, row) in self.rows.iter().enumerate() {
            frame.svg.text("", frame.left - 8.0, top + (index as f64 + 0.5) * ROW_HEIGHT + 4.5, Anchor::End, row);
        }
        let place = |value: f64| frame.left + scale.place(value) * (frame.right - frame.left);
        for (index, (_, spans)) in self.series.iter().enumerate() {
            for span in spans.iter().filter(|span| scale.shows(span.from) && scale.shows(span.to)) {
                let row = self.rows.iter().position(|row| *row == span.row).unwrap_or(0);
                let (from, to) = (place(span.from.min(span.to)), place(span.from.max(span.to)));
                let place = [from, top + row as f64 * ROW_HEIGHT + 4.0, (to - from).max(0.5), ROW_HEIGHT - 8.0];
                frame.svg.rect(&format!("f{}", index % COLOURS), place, 0.0);
            }
        }
        frame.outline();
        frame.svg
    }
}
