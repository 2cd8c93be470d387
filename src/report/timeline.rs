//! The timeline of a solve as a figure: one lane a thread, one colour a stage, to show what bounds
//! the run.
//!
//! # Shape
//! An SVG without scripts; time runs to the right, in seconds from the start of the solve. A lane
//! is cut into columns. In each column the stages are stacked from the bottom up, in the order of
//! the legend, each as high as its share of the column's time. The area of a colour is therefore
//! the time of its stage: a stretch of one stage is a full bar, a quick alternation of two is two
//! half bars. The background shows through where a thread was in no stage: between blocks for
//! workers, idle for the others. The table below has each lane's time by stage.
//!
//! Time begins when the first thread does: what a solve does before, such as planning, is named
//! under the axis. Colours follow the reader's light or dark preference.
//!
//! # Invariants
//! 1. The table's figures are the recorded totals, and a column's areas those of its bins,
//!    whichever neighbours were merged.
//! 2. Columns are merged until the file is at most [`BYTES_AT_MOST`] long, for any run and any
//!    number of threads; lanes beyond the first 150 are added up in one.
//! 3. The file begins with [`SIGNATURE`], which identifies an earlier timeline.

use pipeline::Stage;
use pipeline::timeline::{BINS, ByStage, Recorded, merged};
use std::fmt::Write;

/// The beginning of every timeline, and of no other file.
pub const SIGNATURE: &str = "<!-- trinim timeline -->";

/// The largest size of a file, in bytes.
pub const BYTES_AT_MOST: usize = 900_000;

/// The most lanes shown one by one.
const LANES_AT_MOST: usize = 150;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 84.0;
const TOP: f64 = 66.0;
const LANE_HEIGHT: f64 = 24.0;
const LANE_STEP: f64 = 30.0;
const ROW_HEIGHT: f64 = 16.0;

/// Returns the colours of a stage on a light and on a dark background: strong for work, near the
/// background for waiting.
fn colours(stage: Stage) -> [&'static str; 2] {
    match stage {
        Stage::Read => ["#1f77b4", "#4a9fd8"],
        Stage::AwaitRead => ["#c6dbef", "#2b4257"],
        Stage::Decode => ["#17becf", "#17becf"],
        Stage::Orient => ["#9467bd", "#ab84d0"],
        Stage::Apply => ["#2ca02c", "#3fb83f"],
        Stage::Audit => ["#e377c2", "#e79bd0"],
        Stage::Finish => ["#145214", "#1d7a1d"],
        Stage::Publish => ["#bcbd22", "#cccd3a"],
        Stage::Encode => ["#ff7f0e", "#ff9336"],
        Stage::AwaitWrite => ["#fdd0a2", "#5c4326"],
        Stage::Write => ["#d62728", "#e85555"],
        Stage::Commit => ["#7f1d1d", "#b23a3a"],
        Stage::Idle => ["#d9d9d9", "#3a3e45"],
    }
}

/// Returns the name of a stage in words.
fn words(stage: Stage) -> &'static str {
    match stage {
        Stage::AwaitRead => "await logs",
        Stage::AwaitWrite => "await writer",
        other => other.name(),
    }
}

/// Returns the style: light, and dark where the reader prefers it.
fn style() -> String {
    let of = |theme: usize, [paper, ink, line]: [&str; 3]| {
        let stages = Stage::ALL.map(|stage| format!(".s{}{{fill:{}}}", stage as usize, colours(stage)[theme]));
        format!(".paper{{fill:{paper}}}text{{fill:{ink}}}.axis{{stroke:{line}}}{}", stages.concat())
    };
    let (light, dark) = (of(0, ["#fff", "#222", "#444"]), of(1, ["#16181c", "#e6e6e6", "#9a9a9a"]));
    format!("<style>{light}\n@media (prefers-color-scheme:dark){{{dark}}}</style>\n")
}

/// Draws the recorded stages of a run that took `elapsed_s` seconds; `title` names the run.
pub fn svg(title: &str, elapsed_s: f64, recorded: &[Recorded]) -> String {
    let lanes = in_order(recorded);
    let mut columns_at_most = BINS;
    loop {
        let drawn = draw(title, elapsed_s, &lanes, columns_at_most);
        if drawn.len() <= BYTES_AT_MOST || columns_at_most == 1 {
            return drawn;
        }
        columns_at_most /= 2;
    }
}

fn draw(title: &str, elapsed_s: f64, lanes: &[Recorded], columns_at_most: usize) -> String {
    // The last bin may end beyond the run.
    let ends = lanes.iter().map(|lane| lane.bins.len() as f64 * lane.bin_ns as f64 * 1e-9);
    let end = ends.fold(elapsed_s, f64::max).max(1e-6);
    let time = Time { start: start(lanes).min(end), end };
    let axis = TOP + LANE_STEP * lanes.len() as f64;
    let (width, height) = (LEFT + WIDTH + 16.0, axis + 60.0 + ROW_HEIGHT * (lanes.len() + 1) as f64);
    let mut out = format!(
        "{SIGNATURE}\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\" role=\"img\">\n<title>{}</title>\n\
         {}<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
        escaped(title),
        style(),
    );
    text(&mut out, (8.0, 18.0), "font-size=\"14\" font-weight=\"bold\"", title);
    legend(&mut out);
    for (index, lane) in lanes.iter().enumerate() {
        let y = TOP + LANE_STEP * index as f64;
        text(&mut out, (LEFT - 6.0, y + 16.0), "text-anchor=\"end\"", &lane.name);
        columns(&mut out, lane, y, &time, columns_at_most);
    }
    ticks(&mut out, &time, axis);
    table(&mut out, lanes, elapsed_s, axis + 52.0);
    out.push_str("</svg>\n");
    out
}

/// The part of a run that is drawn, in seconds from its start.
struct Time {
    start: f64,
    end: f64,
}

impl Time {
    fn span(&self) -> f64 {
        (self.end - self.start).max(1e-6)
    }
}

/// Returns the time at which the first thread is in a stage; 0 if none ever is.
fn start(lanes: &[Recorded]) -> f64 {
    let first = |lane: &Recorded| {
        let bin = lane.bins.iter().position(|bin| bin.iter().any(|nanos| *nanos > 0))?;
        Some(bin as f64 * lane.bin_ns as f64 * 1e-9)
    };
    lanes.iter().filter_map(first).reduce(f64::min).unwrap_or(0.0)
}

/// Sorts workers, readers, writer and committer, each kind by number, with others after them, and
/// merges those beyond the limit into one.
fn in_order(recorded: &[Recorded]) -> Vec<Recorded> {
    let kinds = ["worker", "reader", "writer", "committer"];
    let place = |lane: &Recorded| {
        let (kind, number) = lane.name.rsplit_once(' ').unwrap_or((&lane.name, ""));
        let kind = kinds.iter().position(|known| *known == kind).unwrap_or(kinds.len());
        (kind, number.parse::<u32>().unwrap_or(0), lane.name.clone())
    };
    let mut lanes = recorded.to_vec();
    lanes.sort_by_cached_key(place);
    if lanes.len() > LANES_AT_MOST {
        let rest = lanes.split_off(LANES_AT_MOST);
        let bin_ns = rest.iter().map(|lane| lane.bin_ns).max().unwrap_or(1);
        let mut bins: Vec<ByStage> = Vec::new();
        for lane in &rest {
            // Widths are powers of two times each other.
            let merged = merged(&lane.bins, (bin_ns / lane.bin_ns) as usize);
            bins.resize(bins.len().max(merged.len()), ByStage::default());
            for (sum, bin) in bins.iter_mut().zip(&merged) {
                sum.iter_mut().zip(bin).for_each(|(sum, nanos)| *sum += nanos);
            }
        }
        lanes.push(Recorded { name: format!("{} more", rest.len()), bin_ns, bins });
    }
    lanes
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn text(out: &mut String, (x, y): (f64, f64), style: &str, what: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{}</text>", escaped(what));
}

fn legend(out: &mut String) {
    let mut x = LEFT;
    for stage in Stage::ALL {
        let _ = writeln!(out, "<rect class=\"s{}\" x=\"{x}\" y=\"34\" width=\"10\" height=\"10\"/>", stage as usize);
        text(out, (x + 14.0, 43.0), "", words(stage));
        x += 28.0 + 6.2 * words(stage).len() as f64;
    }
}

/// Draws one path for each stage of a lane: its boxes, in tenths of a pixel.
fn columns(out: &mut String, lane: &Recorded, y: f64, time: &Time, columns_at_most: usize) {
    let neighbours = lane.bins.len().div_ceil(columns_at_most.max(1)).max(1);
    let bins = merged(&lane.bins, neighbours);
    let bin_ns = lane.bin_ns * neighbours as u64;
    let x = |bin: usize| {
        let at = (bin as f64 * bin_ns as f64 * 1e-9 - time.start).max(0.0);
        (at / time.span() * WIDTH * 10.0).round() as i64
    };
    let lane_height = LANE_HEIGHT * 10.0;
    // The lower and upper edges of the stages in each bin; threads that share a lane may fill more
    // than the bin.
    let edges: Vec<[i64; Stage::ALL.len() + 1]> = bins
        .iter()
        .map(|bin| {
            let full = bin.iter().sum::<u64>().max(bin_ns) as f64;
            let mut edges = [0; Stage::ALL.len() + 1];
            let mut sum = 0;
            for (stage, nanos) in bin.iter().enumerate() {
                sum += nanos;
                edges[stage + 1] = (sum as f64 / full * lane_height).round() as i64;
            }
            edges
        })
        .collect();
    let _ = writeln!(out, "<g transform=\"translate({LEFT} {y}) scale(.1)\">");
    for (index, stage) in Stage::ALL.into_iter().enumerate() {
        let mut path = String::new();
        let mut bin = 0;
        while bin < edges.len() {
            let (low, high) = (edges[bin][index], edges[bin][index + 1]);
            let same = edges[bin..].iter().take_while(|edges| (edges[index], edges[index + 1]) == (low, high)).count();
            if high > low {
                let (left, right) = (x(bin), x(bin + same));
                let (low, high) = (lane_height as i64 - low, lane_height as i64 - high);
                let _ = write!(path, "M{left} {low}H{right}V{high}H{left}z");
            }
            bin += same;
        }
        if !path.is_empty() {
            let seconds = lane.totals()[index] as f64 * 1e-9;
            let _ = writeln!(
                out,
                "<path class=\"s{index}\" d=\"{path}\"><title>{}: {} {seconds:.3} s</title></path>",
                escaped(&lane.name),
                words(stage),
            );
        }
    }
    out.push_str("</g>\n");
}

/// Draws a time axis with five to ten round steps.
fn ticks(out: &mut String, time: &Time, y: f64) {
    let span = time.span();
    let power = 10f64.powf((span / 5.0).log10().floor());
    let step = [5.0, 2.0, 1.0].into_iter().map(|factor| factor * power).find(|step| span / step >= 5.0);
    let step = step.unwrap_or(power);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let _ = writeln!(out, "<path class=\"axis\" d=\"M{LEFT} {y}h{WIDTH}\"/>");
    for tick in (time.start / step).ceil() as u32..=(time.end / step).floor() as u32 {
        let at = f64::from(tick) * step;
        let x = LEFT + (at - time.start) / span * WIDTH;
        let _ = writeln!(out, "<path class=\"axis\" d=\"M{x:.1} {y}v4\"/>");
        text(out, (x, y + 16.0), "text-anchor=\"middle\"", &format!("{at:.decimals$} s"));
    }
    if time.start > 0.0 {
        let before = format!("The first {} s, before any work began, are left out.", short(time.start));
        text(out, (LEFT, y + 32.0), "font-size=\"10\"", &before);
    }
}

/// Formats seconds with three digits, so that neighbouring columns do not touch.
fn short(seconds: f64) -> String {
    let decimals = match seconds {
        seconds if seconds >= 99.95 => 0,
        seconds if seconds >= 9.995 => 1,
        seconds if seconds >= 0.9995 => 2,
        _ => 3,
    };
    format!("{seconds:.decimals$}")
}

/// Draws the table: the time of each stage in each lane, in seconds and as a share of the run.
fn table(out: &mut String, lanes: &[Recorded], elapsed_s: f64, y: f64) {
    let step = WIDTH / (Stage::ALL.len() + 1) as f64;
    let right = |index: usize| LEFT + step * (index + 1) as f64;
    let end = "text-anchor=\"end\" font-size=\"10\"";
    for (index, stage) in Stage::ALL.into_iter().enumerate() {
        text(out, (right(index), y), end, words(stage));
    }
    text(out, (right(Stage::ALL.len()), y), end, "no stage");
    for (row, lane) in lanes.iter().enumerate() {
        let y = y + ROW_HEIGHT * (row + 1) as f64;
        text(out, (LEFT - 6.0, y), end, &lane.name);
        let mut times: Vec<f64> = lane.totals().iter().map(|nanos| *nanos as f64 * 1e-9).collect();
        let rest = (elapsed_s - times.iter().sum::<f64>()).max(0.0);
        // A worker without a stage is between two blocks; any other thread has nothing to do.
        let is_worker = lane.name.starts_with("worker") || lane.name.ends_with("more");
        times[Stage::Idle as usize] += if is_worker { 0.0 } else { rest };
        times.push(if is_worker { rest } else { 0.0 });
        for (index, seconds) in times.into_iter().enumerate() {
            if seconds > 0.0 {
                let share = 100.0 * seconds / elapsed_s.max(1e-9);
                text(out, (right(index), y), end, &format!("{} s {share:.0} %", short(seconds)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(name: &str, bin_ns: u64, bins: Vec<ByStage>) -> Recorded {
        Recorded { name: name.into(), bin_ns, bins }
    }

    fn bin(parts: &[(Stage, u64)]) -> ByStage {
        let mut bin = [0; Stage::ALL.len()];
        parts.iter().for_each(|(stage, nanos)| bin[*stage as usize] = *nanos);
        bin
    }

    #[test]
    fn equal_columns_become_one_box_and_shares_are_heights() {
        let full = bin(&[(Stage::Finish, 1000)]);
        let half = bin(&[(Stage::Decode, 500), (Stage::Apply, 250)]);
        let drawn = svg("a < b", 4e-6, &[lane("writer", 1000, vec![]), lane("worker 1", 1000, vec![full, full, half])]);
        assert!(drawn.starts_with(SIGNATURE) && drawn.contains("<title>a &lt; b</title>"));
        assert!(drawn.contains("d=\"M0 240H4800V0H0z\"><title>worker 1: settle"), "{drawn}");
        assert!(drawn.contains("d=\"M4800 240H7200V120H4800z\"><title>worker 1: decode"), "{drawn}");
        assert!(drawn.contains("d=\"M4800 120H7200V60H4800z\"><title>worker 1: apply"), "{drawn}");
        assert!(drawn.find(">worker 1<") < drawn.find(">writer<"));
    }

    /// A picture began with the seconds of planning, when no thread existed yet.
    #[test]
    fn time_begins_with_the_first_thread_and_other_threads_are_idle() {
        let none = bin(&[]);
        let work = bin(&[(Stage::AwaitRead, 1_000_000_000)]);
        let lanes = [
            lane("worker 1", 1_000_000_000, vec![none, work, work, none]),
            lane("reader 1", 1_000_000_000, vec![none, none, none, none]),
        ];
        let drawn = svg("late", 4.0, &lanes);
        assert!(drawn.contains("d=\"M0 240H6400V0H0z\"><title>worker 1: await logs 2.000 s"), "{drawn}");
        assert!(drawn.contains("The first 1.00 s, before any work began"), "{drawn}");
        assert!(drawn.contains(">4.00 s 100 %<") && drawn.contains(">2.00 s 50 %<"), "{drawn}");
        assert!(drawn.contains("prefers-color-scheme:dark") && !drawn.contains("await_read"), "{drawn}");
    }

    #[test]
    fn the_worst_run_stays_below_a_megabyte() {
        let every: Vec<(Stage, u64)> = Stage::ALL.into_iter().map(|stage| (stage, 5)).collect();
        let other: Vec<(Stage, u64)> =
            Stage::ALL.into_iter().enumerate().map(|(at, stage)| (stage, at as u64)).collect();
        let bins: Vec<ByStage> = (0..1024).map(|at| bin(if at % 2 == 0 { &every } else { &other })).collect();
        for lanes in [1, 6, 130, 2050] {
            let recorded: Vec<Recorded> =
                (0..lanes).map(|number| lane(&format!("worker {number}"), 1 << 14, bins.clone())).collect();
            let drawn = svg("many", 0.017, &recorded);
            assert!(drawn.len() <= BYTES_AT_MOST, "{lanes} lanes: {} bytes", drawn.len());
            assert_eq!(drawn.contains(">1900 more<"), lanes == 2050);
        }
    }
}
