//! SVG by hand: a canvas that takes shapes and text.
//!
//! Lengths are pixels at the natural size, x to the right, y downwards, written with at most one
//! decimal. Colours are classes: `f0` to `f6` fill and `l0` to `l6` draw in the colours of a
//! series, each with a light and a dark value in `style.css`. They are the colours of Okabe and
//! Ito, which people with colour blindness can tell apart; callers still pair them with different
//! marks.
//!
//! The font is unknown, so [`text_width`] errs on the wide side.
//!
//! # Invariants
//! 1. The output is well-formed XML for any text: markup is escaped, and a character that XML
//!    cannot hold becomes U+FFFD.
//! 2. Every picture has a title and a description for screen readers.

use terminal::output;

pub const COLOURS: usize = 7;

/// Width of a picture, and of the space around what it shows.
pub const WIDTH: f64 = 720.0;
pub const EDGE: f64 = 18.0;

/// The style of all pictures, with rules for a dark background.
const STYLE: &str = include_str!("style.css");

/// The text of a picture, up to the end tag.
#[derive(Clone, Debug)]
pub struct Svg(String);

impl Svg {
    /// Begins a picture with its title and a lead, which may be empty, above `height` pixels;
    /// returns where these begin.
    pub fn headed(title: &str, lead: &str, description: &str, height: f64) -> (Svg, f64) {
        let inner = WIDTH - 2.0 * EDGE;
        // Bold letters are a tenth wider than text of 16 pixels.
        let (titles, leads) = (wrapped(title, 17.6, inner), wrapped(lead, 13.0, inner));
        let lead_top = EDGE + 24.0 * titles.len() as f64;
        let top = lead_top + if leads.is_empty() { 0.0 } else { 19.0 * leads.len() as f64 + 10.0 };
        let mut svg = Svg::new(WIDTH, top + height + EDGE, title, description);
        svg.lines("head", EDGE, EDGE + 12.0, 24.0, &titles);
        svg.lines("", EDGE, lead_top + 11.0, 19.0, &leads);
        (svg, top)
    }

    /// Creates an empty picture of this size, rounded up to whole pixels, with its title and
    /// description for screen readers.
    fn new(width: f64, height: f64, title: &str, description: &str) -> Svg {
        let [width, height] = [width, height].map(|length| number(length.ceil()));
        let [title, description] = [title, description].map(escape);
        Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" class=\"fig\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title desc\">\n\
             <title id=\"title\">{title}</title>\n<desc id=\"desc\">{description}</desc>\n<style>\n{STYLE}</style>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n"
        ))
    }

    /// Adds a shape of line segments and arcs.
    pub fn path(&mut self, class: &str, path: &Path) {
        if !path.0.is_empty() {
            self.0 += &format!("<path class=\"{class}\" d=\"{}\"/>\n", path.0);
        }
    }

    /// Adds a line of text on the baseline `y`, with its start, middle or end at `x`.
    pub fn text(&mut self, class: &str, x: f64, y: f64, anchor: &str, text: &str) {
        self.text_with(class, &format!("x=\"{}\" y=\"{}\"", number(x), number(y)), anchor, text);
    }

    /// Adds lines of text `step` below each other, the first on the baseline `y`.
    pub fn lines(&mut self, class: &str, x: f64, y: f64, step: f64, lines: &[String]) {
        for (line, number) in lines.iter().zip(0..) {
            self.text(class, x, y + step * f64::from(number), "start", line);
        }
    }

    /// Adds a line of text that runs upwards, its baseline to the left of `x`.
    pub fn text_upwards(&mut self, class: &str, x: f64, y: f64, anchor: &str, text: &str) {
        let place = format!("transform=\"translate({} {}) rotate(-90)\"", number(x), number(y));
        self.text_with(class, &place, anchor, text);
    }

    fn text_with(&mut self, class: &str, place: &str, anchor: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let anchor = if anchor == "start" { String::new() } else { format!(" text-anchor=\"{anchor}\"") };
        self.0 += &format!("<text{class} {place}{anchor}>{}</text>\n", escape(text));
    }

    /// Returns the picture as a file, with its style.
    pub fn file(&self) -> String {
        format!("{}</svg>\n", self.0)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Path(String);

impl Path {
    /// Adds a straight line through the points, and back to the first if `closed`.
    pub fn polyline(&mut self, points: &[(f64, f64)], closed: bool) {
        for (index, (x, y)) in points.iter().enumerate() {
            self.0 += &format!("{}{} {}", if index == 0 { 'M' } else { 'L' }, number(*x), number(*y));
        }
        if closed && !points.is_empty() {
            self.0.push('Z');
        }
    }

    pub fn circle(&mut self, x: f64, y: f64, radius: f64) {
        let (r, d) = (number(radius), number(2.0 * radius));
        self.0 += &format!("M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0", number(x - radius), number(y));
    }

    /// Adds the mark of a series, about `2 radius` wide. Shapes repeat after [`COLOURS`]; all are
    /// closed, so they can be filled or outlined.
    pub fn mark(&mut self, form: usize, x: f64, y: f64, radius: f64) {
        let r = radius;
        let at = |points: &[(f64, f64)]| points.iter().map(|(dx, dy)| (x + dx * r, y + dy * r)).collect::<Vec<_>>();
        let t = 0.32;
        let points = match form % COLOURS {
            0 => return self.circle(x, y, r),
            1 => at(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => at(&[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)]),
            3 => at(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
            4 => at(&[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)]),
            // A plus: an arm upwards, and its quarter turns.
            5 => {
                let turned = |(dx, dy): (f64, f64)| (-dy, dx);
                let up = [(-t, -1.2), (t, -1.2), (t, -t)];
                let (right, down) = (up.map(turned), up.map(turned).map(turned));
                at(&[up, right, down, down.map(turned)].concat())
            }
            // A flat bar.
            _ => at(&[(-1.2, -0.45), (1.2, -0.45), (1.2, 0.45), (-1.2, 0.45)]),
        };
        self.polyline(&points, true);
    }
}

/// Formats a length with at most one decimal: a tenth of a pixel is invisible, and rounding errors
/// disappear.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Escapes the markup characters of a text, for content and quoted attributes of XML.
fn escape(text: &str) -> String {
    let is_unfit = |c: char| c < ' ' && !"\t\n\r".contains(c) || "\u{fffe}\u{ffff}".contains(c);
    let text = text.replace(is_unfit, "\u{fffd}").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // Unescaped, a parser would read a carriage return as a line feed.
    text.replace('"', "&quot;").replace('\'', "&#39;").replace('\r', "&#13;")
}

/// Returns the width of a text in pixels, rather too large than too small.
pub fn text_width(text: &str, font_px: f64) -> f64 {
    text.chars().count() as f64 * font_px * 0.57
}

/// Breaks a text into lines that fit `width` pixels, as far as its words allow it.
pub fn wrapped(text: &str, font_px: f64, width: f64) -> Vec<String> {
    output::wrapped(text, (width / text_width(" ", font_px)) as usize).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_gives_well_formed_xml(text in "(?s).{0,40}") {
            let mut svg = Svg::new(10.0, 10.0, &text, &text);
            svg.text("small", 1.0, 2.0, "end", &text);
            let written = svg.file();
            let document = roxmltree::Document::parse(&written).unwrap();
            let read = |name: &str| {
                let element = document.descendants().find(|found| found.tag_name().name() == name);
                element.unwrap().text().unwrap_or("").to_owned()
            };
            let is_bad = |c: char| c < ' ' && !"\t\n\r".contains(c) || "\u{fffe}\u{ffff}".contains(c);
            let expected: String = text.chars().map(|c| if is_bad(c) { '\u{fffd}' } else { c }).collect();
            prop_assert_eq!(read("title"), expected.clone());
            prop_assert_eq!(read("desc"), expected.clone());
            prop_assert_eq!(read("text"), expected);
        }
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [(1.0, "1"), (-0.001, "0"), (2.54, "2.5"), (10.26, "10.3"), (100.0, "100"), (-3.1, "-3.1")]
        {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn the_picture_says_what_it_is() {
        let written = Svg::new(20.0, 10.0, "A & B", "two letters").file();
        let document = roxmltree::Document::parse(&written).unwrap();
        let root = document.root_element();
        assert_eq!((root.attribute("role"), root.attribute("viewBox")), (Some("img"), Some("0 0 20 10")));
        for id in root.attribute("aria-labelledby").unwrap().split(' ') {
            assert!(root.children().any(|child| child.attribute("id") == Some(id)), "{id}");
        }
    }

    #[test]
    fn a_picture_carries_its_style() {
        assert!(Svg::new(20.0, 10.0, "t", "d").file().contains(STYLE));
        for colour in 0..COLOURS {
            for class in ["f", "l"] {
                assert_eq!(STYLE.matches(&format!(".fig .{class}{colour}{{")).count(), 2, "light and dark");
            }
        }
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three", 10.0, 50.0), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 10.0, 5.0), ["unbreakable"]);
        assert!(wrapped("", 10.0, 5.0).is_empty());
    }
}
