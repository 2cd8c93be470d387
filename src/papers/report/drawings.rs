//! Figures that need no solved board: the layouts of \[SWLK12\], figures 3 to 6, 9 and 10. Blocks,
//! groups and updates are computed from the recorded cells of each layout.

use super::figures::Figure;
use crate::draw::board_picture::{Picture, Sheet};
use crate::draw::svg::{Path, Svg, WIDTH};
use std::collections::BTreeSet;
use trinim::layout::{Bid, Layout};
use trinim_game::Cell;
use trinim_game::amount::grouped;
use trinim_papers::counts::Counts;
use trinim_papers::layouts;

/// Returns all drawings.
pub(super) fn drawings() -> Vec<Figure> {
    vec![
        boards(3, "six block representations for eight layers"),
        updates(),
        isomorphic(),
        groups(),
        boards(9, "three block representations with 13 BID pieces"),
        boards(10, "three block representations with 15 BID pieces"),
    ]
}

fn drawing(number: u32, title: String, svg: Svg) -> Figure {
    let heading = (number == 3).then(|| "Layouts".to_owned());
    Figure { heading, name: format!("figure-{number}"), title, svg, csv: None }
}

/// The mask of the cells of a block.
fn cells(layout: &Layout, bid: u32) -> u64 {
    layout.join(Bid(bid), 0)
}

/// Figures 3, 9 and 10: the BID cells of the layouts that the figure shows.
fn boards(number: u32, title: &str) -> Figure {
    let (mut pictures, mut listed) = (Vec::new(), Vec::new());
    for figure in layouts::figures().iter().filter(|figure| figure.name.starts_with(&format!("{number}("))) {
        let layout = figure.layout();
        let counts = Counts::of(&layout);
        // As in the paper's tables: redundancy is removed from the layouts that have some.
        let updates = grouped(counts.canonical_updates);
        let list = Cell::list(figure.bid_cells());
        listed.push(format!("{}: {} blocks, {updates} updates, {list}", figure.name, grouped(counts.canonical_blocks)));
        let bid = cells(&layout, (layout.blocks() - 1) as u32);
        let caption = format!("{}: {updates} updates", figure.name);
        pictures.push(Picture { position: figure.board().full(), taken: bid, caption });
    }
    let lead = "BID cells name the block; updates are counted after blocks that are images of others are left out. \
                The drawings of the paper were not available: the cells match its counts."
        .to_owned();
    let description = format!("{}.", listed.join("; "));
    let words = ["offset cell", "BID cell", "empty cell"];
    let title = format!("Figure {number}: {title} ([SWLK12])");
    let board = &layouts::figure(&format!("{number}(a)")).board();
    let sheet = Sheet { board, title: title.clone(), lead, description, pictures, words };
    drawing(number, title, sheet.draw())
}

/// Figures 5 and 6: blocks of figure 3(f) as boards, their pieces on BID cells.
fn blocks(number: u32, title: &str, lead: String, chosen: Vec<(u32, String)>) -> Figure {
    let figure = layouts::figure("3(f)");
    let (board, layout) = (&figure.board(), figure.layout());
    let bid_cells = cells(&layout, (layout.blocks() - 1) as u32);
    let picture = |(bid, caption)| Picture { position: bid_cells, taken: cells(&layout, bid), caption };
    let captions: Vec<&str> = chosen.iter().map(|(_, caption)| caption.as_str()).collect();
    let description = format!("{lead} {}.", captions.join("; "));
    let words = ["BID cell without a piece", "BID cell with a piece", "offset cell"];
    let title = format!("Figure {number}: {title} ([SWLK12])");
    let pictures = chosen.into_iter().map(picture).collect();
    let sheet = Sheet { board, title: title.clone(), lead, description, pictures, words };
    drawing(number, title, sheet.draw())
}

/// The blocks of an isomorphic group, ascending.
fn group(layout: &Layout, bid: u32) -> BTreeSet<u32> {
    layout.symmetries().iter().map(|symmetry| symmetry.map_bid(Bid(bid)).0).collect()
}

fn isomorphic() -> Figure {
    let group = group(&layouts::figure("3(f)").layout(), 1);
    let chosen: Vec<(u32, String)> = group.into_iter().map(|bid| (bid, format!("B{bid}"))).collect();
    let lead = "An isomorphic group of figure 3(f): only the block with the smallest number is evaluated.";
    blocks(5, "six rotated and mirrored blocks", lead.to_owned(), chosen)
}

fn groups() -> Figure {
    let layout = layouts::figure("3(f)").layout();
    let counts = Counts::of(&layout).groups;
    let mut chosen = Vec::new();
    for (size, letter) in [(1, 'a'), (2, 'b'), (3, 'c')] {
        // A block with pieces, because an empty one shows nothing.
        let canonical = layout.canonical_blocks().iter().map(|bid| bid.0).filter(|bid| *bid > 0);
        let found = canonical.map(|bid| group(&layout, bid)).find(|group| group.len() == size);
        if let Some(group) = found {
            let all = group.iter().map(|bid| format!("B{bid}")).collect::<Vec<_>>().join(", ");
            chosen.extend(group.iter().map(|bid| (*bid, format!("({letter}) B{bid} of {all}"))));
        }
    }
    let sizes: Vec<String> = counts.iter().map(|(size, count)| format!("{count} of {size}")).collect();
    let lead = format!("The first of each size in figure 3(f), whose groups are {} blocks.", sizes.join(", "));
    blocks(6, "isomorphic groups with one, two and three blocks", lead, chosen)
}

/// Figure 4: blocks on a circle, and a chord for each update. No three points of a circle are on a
/// line, so no chord seems to touch a third block.
fn updates() -> Figure {
    const RADIUS: f64 = 150.0;
    let title = "Figure 4: inter-block updates of figures 3(a) and (b) ([SWLK12])";
    let lead = "A line is an update from the block with the smaller number to the one with the larger number.";
    let (mut panels, mut listed) = (Vec::new(), Vec::new());
    for name in ["3(a)", "3(b)"] {
        let layout = layouts::figure(name).layout();
        let edges = layout.ordinals().flat_map(|target| layout.edges_into(target));
        let edges: Vec<(u32, u32)> = edges.map(|edge| (layout.bid(edge.source).0, layout.bid(edge.target).0)).collect();
        let words: Vec<String> = edges.iter().map(|(from, to)| format!("{from} to {to}")).collect();
        listed.push(format!("{name}, {} updates: {}", edges.len(), words.join(", ")));
        panels.push((name, layout.blocks() as u32, edges));
    }
    let height = 2.0 * RADIUS + 80.0;
    let (mut svg, top) = Svg::headed(title, lead, &format!("{}.", listed.join("; ")), height);
    for ((name, blocks, edges), number) in panels.iter().zip(0..) {
        let middle = WIDTH * (0.25 + 0.5 * f64::from(number));
        let centre = top + RADIUS + 24.0;
        let place = |bid: u32| {
            let turn = std::f64::consts::TAU * f64::from(bid) / f64::from(*blocks);
            (middle + RADIUS * turn.sin(), centre - RADIUS * turn.cos())
        };
        let mut lines = Path::default();
        edges.iter().for_each(|(from, to)| lines.polyline(&[place(*from), place(*to)], false));
        svg.path("thin l0", &lines);
        for bid in 0..*blocks {
            let (x, y) = place(bid);
            let mut node = Path::default();
            node.circle(x, y, 14.0);
            svg.path("open l6", &node);
            svg.text("small", x, y + 4.2, "middle", &format!("B{bid}"));
        }
        let caption = format!("{name}: {} updates", edges.len());
        svg.text("small", middle, centre + RADIUS + 42.0, "middle", &caption);
    }
    drawing(4, title.to_owned(), svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(name: &str) -> String {
        drawings().into_iter().find(|drawing| drawing.name == name).unwrap().svg.file()
    }

    /// The shapes of a class: each begins with one M.
    fn shapes(written: &str, class: &str) -> usize {
        let document = roxmltree::Document::parse(written).unwrap();
        let found = document.descendants().filter(|found| found.attribute("class") == Some(class));
        found.map(|shape| shape.attribute("d").unwrap().matches('M').count()).sum()
    }

    #[test]
    fn layouts_are_drawn_with_their_cells_and_counts() {
        // BID cells, and one in the legend.
        for (name, bid_cells) in [("figure-3", 4 + 4 + 4 * 6), ("figure-9", 3 * 13), ("figure-10", 3 * 15)] {
            assert_eq!(shapes(&drawn(name), "f1"), bid_cells + 1, "{name}");
        }
        let published = ["49", "32", "228", "208", "96", "87"];
        for (letter, updates) in ('a'..='f').zip(published) {
            assert!(drawn("figure-3").contains(&format!(">3({letter}): {updates} updates<")), "{letter}");
        }
        assert!(drawn("figure-9").contains(">9(c): 88,064 updates<"));
        assert!(drawn("figure-10").contains(">10(b): 102,950 updates<"));
    }

    #[test]
    fn blocks_and_groups_are_drawn() {
        let five = drawn("figure-5");
        for bid in [1, 2, 4, 8, 16, 32] {
            assert!(five.contains(&format!(">B{bid}<")), "{bid}");
        }
        assert_eq!(shapes(&five, "f1"), 6 + 1);
        let six = drawn("figure-6");
        assert_eq!(["(a) ", "(b) ", "(c) "].map(|letter| six.matches(&format!(">{letter}")).count()), [1, 2, 3]);
        assert!(six.contains("2 of 1, 1 of 2, 6 of 3, 7 of 6 blocks"));
    }

    #[test]
    fn every_update_is_a_line() {
        let four = drawn("figure-4");
        assert_eq!((shapes(&four, "thin l0"), shapes(&four, "open l6")), (49 + 32, 2 * 16));
        assert!(four.contains(">3(a): 49 updates<") && four.contains(">3(b): 32 updates<"));
    }
}
