//! Times as horizontal bars: as long as the median, with a line from the minimum to the maximum.

use std::fmt::Write;
use trinim::game::amount::seconds;
use trinim_papers::record::Spread;

const LEFT: f64 = 300.0;
const WIDTH: f64 = 420.0;
const TOP: f64 = 40.0;
const ROW: f64 = 20.0;

/// The papers' strategies; their bars are grey.
const BASELINES: [&str; 4] = ["block-push", "block-pull", "retrograde", "forward"];
/// Colours, for a light and a dark background.
const STYLE: &str = ".paper{fill:#fff}text{fill:#222}.ours{fill:#0072b2}.paper-s{fill:#8a8a8a}.range{stroke:#222}\n\
    @media (prefers-color-scheme:dark){.paper{fill:#16181c}text{fill:#e6e6e6}.ours{fill:#3d95d6}.range{stroke:#e6e6e6}}";

/// One case.
pub struct Bar {
    pub name: String,
    pub time: Spread,
}

/// Draws the picture.
pub fn svg(title: &str, bars: &[Bar]) -> String {
    let longest = bars.iter().map(|bar| bar.time.max).fold(1e-9, f64::max);
    let x = |time: f64| LEFT + time / longest * WIDTH;
    let (width, height) = (LEFT + WIDTH + 80.0, TOP + ROW * bars.len() as f64 + 10.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>{0}</title>\n\
         <style>{STYLE}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n<text x=\"10\" y=\"20\" font-weight=\"bold\">{0}</text>\n",
        escaped(title)
    );
    for (index, Bar { name, time }) in bars.iter().enumerate() {
        let y = TOP + ROW * index as f64;
        let colour = if BASELINES.iter().any(|strategy| name.contains(strategy)) { "paper-s" } else { "ours" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text><path class=\"{colour}\" d=\"M{LEFT} {:.1}H{:.1}v12H{LEFT}z\"/>\
             <path class=\"range\" d=\"M{:.1} {:.1}H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LEFT - 8.0,
            y + 11.0,
            escaped(name),
            y + 1.0,
            x(time.median),
            x(time.min),
            y + 7.0,
            x(time.max),
            x(time.max) + 6.0,
            y + 11.0,
            seconds(time.median),
        );
    }
    out.push_str("</svg>\n");
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
