//! The area of a chart that holds its lines.

use super::frame::MARK;
use super::{Line, Look};
use crate::report::draw::scale::Scale;
use crate::report::draw::svg::{COLOURS, Path, Svg};

/// In pixels.
pub(super) const PLOT_HEIGHT: f64 = 330.0;
/// Half the width of the ends of an error bar, in pixels.
pub(super) const CAP: f64 = 4.0;

/// The area with its scales.
pub(super) struct Plot {
    pub x: Scale,
    pub y: Scale,
    pub left: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Plot {
    pub(super) fn x(&self, value: f64) -> f64 {
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
    pub(super) fn line(&self, svg: &mut Svg, index: usize, line: &Line, shift: f64, cap: f64) {
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
