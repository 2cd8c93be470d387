//! The picture of a game tree, like the paper's figure 1: each position has its outcome by the
//! formula beside it, and a frame if it breaks a rule.
//!
//! Leaves are side by side, and every other position is centred above its branches; there is one
//! row for each number of moves. No two positions of a row overlap.

use trinim::game::Outcome;
use trinim::report::draw::svg::{Anchor, Path, Svg, text_width};
use trinim_evolve::graph::Graph;
use trinim_evolve::tree::Tree;

const FONT: f64 = 13.0;
const ROW: f64 = 64.0;
const EDGE: f64 = 24.0;
const HEAD: f64 = 56.0;
const FOOT: f64 = 40.0;
/// Distance from a base line up to the middle of its letters.
const MIDDLE: f64 = 4.5;

/// Draws the tree as an SVG file.
pub fn tree_picture(graph: &Graph, tree: &Tree, title: &str) -> String {
    let labels: Vec<String> = tree.branches.iter().map(|branch| graph.label(branch.position)).collect();
    let widest = labels.iter().map(|label| text_width(label, FONT)).fold(0.0, f64::max);
    let (radius, step) = (widest / 2.0 + 8.0, widest + 40.0);
    let mut next = EDGE + radius;
    let mut xs = vec![0.0; tree.branches.len()];
    let mut spans: Vec<Option<(f64, f64)>> = vec![None; tree.branches.len()];
    for (index, x) in xs.iter_mut().enumerate() {
        if tree.branches.get(index + 1).is_none_or(|following| following.parent != Some(index)) {
            *x = next;
            next += step;
        }
    }
    // Branches follow their parents, so going backwards places each before its parent.
    for index in (0..tree.branches.len()).rev() {
        if let Some((low, high)) = spans[index] {
            xs[index] = (low + high) / 2.0;
        }
        if let Some(parent) = tree.branches[index].parent {
            let here = xs[index];
            let (low, high) = spans[parent].unwrap_or((here, here));
            spans[parent] = Some((low.min(here), high.max(here)));
        }
    }
    let depth = tree.branches.iter().map(|branch| branch.depth).max().unwrap_or(0);
    let y = |depth: usize| HEAD + radius.min(ROW / 2.0) + depth as f64 * ROW;
    let broken = tree.branches.iter().filter(|branch| branch.breach.is_some()).count();
    let legend = format!(
        "{} (framed); P: value 0, N: another value",
        match broken {
            1 => "1 position breaks a rule".to_owned(),
            broken => format!("{broken} positions break a rule"),
        }
    );
    let width = (next - step + radius + EDGE + 20.0)
        .max(text_width(title, 16.0) * 1.1 + 2.0 * EDGE)
        .max(text_width(&legend, FONT) + 2.0 * EDGE);
    let mut svg = Svg::new(width, y(depth) + FOOT + 24.0, title, &legend);
    svg.text("head", EDGE, 30.0, Anchor::Start, title);
    for (index, branch) in tree.branches.iter().enumerate() {
        if let Some(parent) = branch.parent {
            let mut line = Path::new();
            line.polyline(&[(xs[parent], y(branch.depth - 1) + 13.0), (xs[index], y(branch.depth) - 13.0)], false);
            svg.path("axis", &line);
        }
    }
    for (index, branch) in tree.branches.iter().enumerate() {
        let at = y(branch.depth);
        if branch.breach.is_some() {
            svg.rect("ring l1", [xs[index] - radius, at - 12.0, 2.0 * radius, 24.0], 12.0);
        }
        svg.text("", xs[index], at + MIDDLE, Anchor::Middle, &labels[index]);
        let class = if branch.is_loss { Outcome::P } else { Outcome::N };
        svg.text("soft", xs[index] + radius + 6.0, at + MIDDLE, Anchor::Start, &class.to_string());
    }
    svg.text("small soft", EDGE, y(depth) + FOOT + 8.0, Anchor::Start, &legend);
    svg.file()
}
