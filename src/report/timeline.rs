//! The timeline of a solve as a figure: one lane a thread, one colour a step of the work, to show
//! what bounds the run.
//!
//! # Shape
//! An SVG without scripts; time runs to the right, in seconds from the start of the solve. A lane
//! is cut into columns. In each column the steps ([`Stage`]) are stacked from the bottom up, in the
//! order of the legend, each as high as its share of the column's time. The area of a colour is
//! therefore the time of its step: a stretch of one step is a full bar, a quick alternation of two
//! is two half bars. Waiting is striped. The background shows through where a thread was in no
//! step: between two of them for workers, with nothing to do for the others. The table below says
//! what the steps are, and has their times by kind of thread; those of one thread are in the titles
//! of its shapes, which browsers show under the pointer.
//!
//! Time begins when the first thread does: what a solve does before, such as planning, is named
//! under the axis. Colours follow the reader's light or dark preference. Steps that no thread took
//! are left out.
//!
//! # Invariants
//! 1. The table's figures are the recorded totals, and a column's areas those of its bins,
//!    whichever neighbours were merged.
//! 2. Columns are merged until the file is at most [`BYTES_AT_MOST`] long, for any run and any
//!    number of threads; lanes beyond the first 150 are added up in one.
//! 3. The file begins with [`SIGNATURE`], which identifies an earlier timeline.

use crate::report::draw::scale::{Scale, Spread};
use crate::report::draw::svg::{Anchor, Path, Svg, Tint, flowed, text_width, wrapped};
use pipeline::Stage;
use pipeline::timeline::{BINS, ByStage, LaneRecord, merged};

/// The beginning of every timeline, and of no other file.
pub const SIGNATURE: &str = "<!-- trinim timeline -->";

/// The largest size of a file, in bytes.
pub const BYTES_AT_MOST: usize = 900_000;

/// The most lanes shown one by one.
const LANES_AT_MOST: usize = 150;

const EDGE: f64 = 18.0;
/// Of the lanes, in pixels.
const WIDTH: f64 = 960.0;
const LEFT: f64 = EDGE + 84.0;
const RIGHT: f64 = LEFT + WIDTH;
const LANE_HEIGHT: f64 = 24.0;
const LANE_STEP: f64 = 30.0;
const ROW_HEIGHT: f64 = 20.0;
const SMALL: f64 = 12.0;
const SWATCH: f64 = 12.0;
/// Of a column of the table, in pixels.
const COLUMN: f64 = 122.0;

const TITLE: &str = "What the threads did when";
const THREADS: &str = "Workers compute the blocks. Readers fetch ahead for them, the writer puts away for them, and \
    the committer makes finished blocks survive a crash. Each colour is as high as its share of the time; stripes are \
    waiting.";

/// A step in words.
struct Step {
    name: &'static str,
    /// What a thread does in it.
    meaning: &'static str,
    tint: Tint,
}

/// Returns a step in words and colours: plain for work, striped for waiting.
fn step(stage: Stage) -> Step {
    let step = |name, meaning, class, [light, dark]: [&'static str; 2]| {
        let striped = matches!(stage, Stage::AwaitRead | Stage::AwaitWrite | Stage::Idle);
        Step { name, meaning, tint: Tint { class, light, dark, striped } }
    };
    match stage {
        Stage::Read => step("reading", "results of earlier blocks, from the disk", "read", ["#1f77b4", "#4a9fd8"]),
        Stage::AwaitRead => step("waiting to read", "for the disk or a reader", "await-read", ["#4f86b5", "#6fa8d6"]),
        Stage::Decode => step("decoding", "unpacking what was read", "decode", ["#0b8793", "#2cc3d0"]),
        Stage::Orient => step("turning", "results to the orientation of this block", "orient", ["#8a55b5", "#b795da"]),
        Stage::Apply => step("applying", "results of earlier blocks to this one", "apply", ["#2a8f2a", "#4cc04c"]),
        Stage::Audit => step("checking", "sampled positions against their children", "audit", ["#c2469c", "#e79bd0"]),
        Stage::Finish => step("settling", "who wins within the block", "settle", ["#145214", "#23913f"]),
        Stage::Publish => {
            step("packing results", "of the finished block, to be kept", "publish", ["#85861a", "#cccd3a"])
        }
        Stage::Encode => step("packing updates", "for blocks that come later", "encode", ["#cf6000", "#ff9336"]),
        Stage::AwaitWrite => {
            step("waiting to write", "for the disk or the writer", "await-write", ["#b9742e", "#d79a5b"])
        }
        Stage::Write => step("writing", "to the disk", "write", ["#d62728", "#e85555"]),
        Stage::Commit => step("securing", "waiting until the disk has it for good", "commit", ["#7f1d1d", "#c24848"]),
        Stage::Idle => step("waiting for work", "no block can be begun yet", "idle", ["#7d7d7d", "#8c929b"]),
    }
}

/// Draws the recorded stages of a run that took `elapsed_s` seconds; `run` names it.
pub fn svg(run: &str, elapsed_s: f64, recorded: &[LaneRecord]) -> String {
    let lanes = in_order(recorded);
    let kinds = by_kind(recorded, elapsed_s);
    let mut columns_at_most = BINS;
    loop {
        let drawn = draw(run, elapsed_s, &lanes, &kinds, columns_at_most);
        if drawn.len() <= BYTES_AT_MOST || columns_at_most == 1 {
            return drawn;
        }
        columns_at_most /= 2;
    }
}

fn draw(run: &str, elapsed_s: f64, lanes: &[LaneRecord], kinds: &[Kind], columns_at_most: usize) -> String {
    // The last bin may end beyond the run.
    let ends = lanes.iter().map(|lane| lane.bins.len() as f64 * lane.bin_ns as f64 * 1e-9);
    let end = ends.fold(elapsed_s, f64::max).max(1e-6);
    let start = start(lanes).min(end - 1e-6);
    let time = Scale::around(Spread::Linear, [start, end].into_iter(), 0.0);
    let occurs = |stage: &Stage| kinds.iter().any(|kind| kind.totals[*stage as usize] > 0);
    let steps: Vec<Stage> = Stage::ALL.into_iter().filter(occurs).collect();

    let lead = wrapped(THREADS, SMALL, RIGHT - EDGE);
    let entries = steps.iter().copied().map(step).map(|step| (SWATCH + 19.0 + text_width(step.name, SMALL), step));
    let legend = flowed(entries, WIDTH);
    let legend_top = EDGE + 48.0 + 17.0 * lead.len() as f64;
    let top = legend_top + 20.0 * legend.len() as f64 + 8.0;
    let axis = top + LANE_STEP * lanes.len() as f64;
    let table_top = axis + if start > 0.0 { 82.0 } else { 65.0 };
    let height = table_top + ROW_HEIGHT * (steps.len() + 2) as f64 + EDGE - 6.0;

    let mut svg = Svg::new(RIGHT + EDGE, height, &format!("{TITLE}: {run}"), &description(kinds));
    steps.iter().for_each(|stage| svg.tint(step(*stage).tint));
    svg.text("head", EDGE, EDGE + 12.0, Anchor::Start, TITLE);
    svg.text("", EDGE, EDGE + 33.0, Anchor::Start, &format!("{run}, {} s", short(elapsed_s)));
    svg.lines("small soft", EDGE, EDGE + 53.0, 17.0, &lead);
    for (row, number) in legend.iter().zip(0..) {
        let y = legend_top + 20.0 * f64::from(number);
        for (x, step) in row {
            svg.rect(step.tint.class, [LEFT + x, y, SWATCH, SWATCH], 0.0);
            svg.text("small", LEFT + x + SWATCH + 5.0, y + 10.0, Anchor::Start, step.name);
        }
    }
    for (lane, number) in lanes.iter().zip(0..) {
        let y = top + LANE_STEP * f64::from(number);
        svg.text("small", LEFT - 8.0, y + 16.0, Anchor::End, &lane.name);
        let mut floor = Path::new();
        floor.polyline(&[(LEFT, y + LANE_HEIGHT), (RIGHT, y + LANE_HEIGHT)], false);
        svg.path("grid", &floor);
        columns(&mut svg, lane, y, &time, columns_at_most);
    }
    ticks(&mut svg, &time, axis);
    if start > 0.0 {
        let before = format!("The first {} s, before the threads began to work, are left out.", short(start));
        svg.text("small soft", LEFT, axis + 56.0, Anchor::Start, &before);
    }
    table(&mut svg, &steps, kinds, table_top);
    format!("{SIGNATURE}\n{}", svg.file())
}

/// Returns the time at which the first thread is in a stage, in seconds; 0 if none ever is.
fn start(lanes: &[LaneRecord]) -> f64 {
    let first = |lane: &LaneRecord| {
        let bin = lane.bins.iter().position(|bin| bin.iter().any(|nanos| *nanos > 0))?;
        Some(bin as f64 * lane.bin_ns as f64 * 1e-9)
    };
    lanes.iter().filter_map(first).reduce(f64::min).unwrap_or(0.0)
}

/// Splits the name of a thread in its kind and its number.
fn kind_of(name: &str) -> (&str, u32) {
    let numbered = name.rsplit_once(' ').and_then(|(kind, number)| Some((kind, number.parse().ok()?)));
    numbered.unwrap_or((name, 0))
}

/// Returns the place of a thread: workers, readers, writer and committer, each kind by number, and
/// others after them.
fn place(lane: &LaneRecord) -> (usize, u32, String) {
    let kinds = ["worker", "reader", "writer", "committer"];
    let (kind, number) = kind_of(&lane.name);
    (kinds.iter().position(|known| *known == kind).unwrap_or(kinds.len()), number, lane.name.clone())
}

/// Sorts the lanes, and merges those beyond the limit into one.
fn in_order(recorded: &[LaneRecord]) -> Vec<LaneRecord> {
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
        lanes.push(LaneRecord { name: format!("{} more", rest.len()), bin_ns, bins });
    }
    lanes
}

/// All threads of one kind, together.
struct Kind {
    name: String,
    /// Nanoseconds by stage.
    totals: ByStage,
    /// Seconds from the start to the end of the run, times the threads.
    elapsed_s: f64,
}

impl Kind {
    fn seconds(&self, stage: Stage) -> f64 {
        self.totals[stage as usize] as f64 * 1e-9
    }

    /// Returns the seconds in no stage.
    fn rest_s(&self) -> f64 {
        (self.elapsed_s - Stage::ALL.map(|stage| self.seconds(stage)).iter().sum::<f64>()).max(0.0)
    }

    fn percent(&self, seconds: f64) -> f64 {
        100.0 * seconds / self.elapsed_s.max(1e-9)
    }
}

fn by_kind(recorded: &[LaneRecord], elapsed_s: f64) -> Vec<Kind> {
    let mut sorted: Vec<&LaneRecord> = recorded.iter().collect();
    sorted.sort_by_cached_key(|lane| place(lane));
    let same = |one: &&LaneRecord, other: &&LaneRecord| kind_of(&one.name).0 == kind_of(&other.name).0;
    sorted
        .chunk_by(same)
        .map(|lanes| {
            let kind = kind_of(&lanes[0].name).0;
            let name = if lanes.len() == 1 { kind.to_owned() } else { format!("{} {kind}s", lanes.len()) };
            let mut totals = ByStage::default();
            for lane in lanes {
                totals.iter_mut().zip(lane.totals()).for_each(|(sum, nanos)| *sum += nanos);
            }
            Kind { name, totals, elapsed_s: elapsed_s * lanes.len() as f64 }
        })
        .collect()
}

/// Returns the three longest steps of each kind of thread, for screen readers.
fn description(kinds: &[Kind]) -> String {
    let of = |kind: &Kind| {
        let mut steps = Stage::ALL.map(|stage| (kind.seconds(stage), step(stage).name)).to_vec();
        steps.retain(|(seconds, _)| *seconds > 0.0);
        steps.sort_by(|one, other| other.0.total_cmp(&one.0));
        let most = steps.iter().take(3);
        let parts: Vec<String> =
            most.map(|(seconds, name)| format!("{name} {:.0} %", kind.percent(*seconds))).collect();
        let parts = if parts.is_empty() { "nothing to do".to_owned() } else { parts.join(", ") };
        format!("{}: {parts}.", kind.name)
    };
    kinds.iter().map(of).collect::<Vec<_>>().join(" ")
}

/// Draws one path for each stage of a lane.
fn columns(svg: &mut Svg, lane: &LaneRecord, y: f64, time: &Scale, columns_at_most: usize) {
    let neighbours = lane.bins.len().div_ceil(columns_at_most.max(1)).max(1);
    let bins = merged(&lane.bins, neighbours);
    let bin_ns = lane.bin_ns * neighbours as u64;
    let x = |bin: usize| LEFT + time.place(bin as f64 * bin_ns as f64 * 1e-9) * WIDTH;
    // The lower and upper edges of the stages in each bin, in tenths of a pixel from the bottom;
    // threads that share a lane may fill more than the bin.
    let edges: Vec<[u32; Stage::ALL.len() + 1]> = bins
        .iter()
        .map(|bin| {
            let full = bin.iter().sum::<u64>().max(bin_ns) as f64;
            let mut edges = [0; Stage::ALL.len() + 1];
            let mut sum = 0;
            for (stage, nanos) in bin.iter().enumerate() {
                sum += nanos;
                edges[stage + 1] = (sum as f64 / full * LANE_HEIGHT * 10.0).round() as u32;
            }
            edges
        })
        .collect();
    let height = |edge: u32| y + LANE_HEIGHT - f64::from(edge) / 10.0;
    for (index, stage) in Stage::ALL.into_iter().enumerate() {
        let mut path = Path::new();
        let mut bin = 0;
        while bin < edges.len() {
            let (low, high) = (edges[bin][index], edges[bin][index + 1]);
            let same = edges[bin..].iter().take_while(|edges| (edges[index], edges[index + 1]) == (low, high)).count();
            if high > low {
                path.span([x(bin), x(bin + same)], [height(high), height(low)]);
            }
            bin += same;
        }
        let seconds = lane.totals()[index] as f64 * 1e-9;
        let Step { name, tint, .. } = step(stage);
        svg.path_titled(tint.class, &path, &format!("{}: {name} {seconds:.3} s", lane.name));
    }
}

fn ticks(svg: &mut Svg, time: &Scale, y: f64) {
    let mut axis = Path::new();
    axis.polyline(&[(LEFT, y), (RIGHT, y)], false);
    for (at, label) in time.ticks(10) {
        let x = LEFT + time.place(at) * WIDTH;
        axis.polyline(&[(x, y), (x, y + 5.0)], false);
        svg.text("small", x, y + 18.0, Anchor::Middle, &label);
    }
    svg.path("axis", &axis);
    svg.text("small", (LEFT + RIGHT) / 2.0, y + 37.0, Anchor::Middle, "time since the start of the solve, seconds");
}

/// Formats seconds with three digits, so that neighbouring columns do not touch.
fn short(seconds: f64) -> String {
    let decimals = match seconds {
        seconds if seconds < 0.0005 => return "< 0.001".to_owned(),
        seconds if seconds >= 99.95 => 0,
        seconds if seconds >= 9.995 => 1,
        seconds if seconds >= 0.9995 => 2,
        _ => 3,
    };
    format!("{seconds:.decimals$}")
}

/// Draws the table: what each step is, and its time in each kind of thread, in seconds and as a
/// share of their time.
fn table(svg: &mut Svg, steps: &[Stage], kinds: &[Kind], top: f64) {
    let right = |index: usize| RIGHT - COLUMN * (kinds.len() - 1 - index) as f64;
    for (index, kind) in kinds.iter().enumerate() {
        svg.text("small", right(index), top, Anchor::End, &kind.name);
    }
    let mut line = Path::new();
    line.polyline(&[(EDGE, top + 7.0), (RIGHT, top + 7.0)], false);
    svg.path("grid", &line);
    let row = |svg: &mut Svg, number: usize, [name, meaning]: [&str; 2], seconds: &dyn Fn(&Kind) -> f64| {
        let y = top + ROW_HEIGHT * number as f64 + 4.0;
        svg.text("small", EDGE + SWATCH + 8.0, y, Anchor::Start, name);
        svg.text("small soft", EDGE + 136.0, y, Anchor::Start, meaning);
        for (index, kind) in kinds.iter().enumerate() {
            let seconds = seconds(kind);
            if seconds > 0.0 {
                svg.text("small", right(index) - 44.0, y, Anchor::End, &format!("{} s", short(seconds)));
                let percent = kind.percent(seconds);
                let share = if percent < 0.5 { "< 1 %".to_owned() } else { format!("{percent:.0} %") };
                svg.text("small soft", right(index), y, Anchor::End, &share);
            }
        }
    };
    for (stage, number) in steps.iter().copied().zip(1..) {
        let Step { name, meaning, tint } = step(stage);
        let y = top + ROW_HEIGHT * number as f64 - 6.0;
        svg.rect(tint.class, [EDGE, y, SWATCH, SWATCH], 0.0);
        row(svg, number, [name, meaning], &|kind| kind.seconds(stage));
    }
    row(svg, steps.len() + 1, ["empty", "between two steps, or nothing to do"], &Kind::rest_s);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(name: &str, bin_ns: u64, bins: Vec<ByStage>) -> LaneRecord {
        LaneRecord { name: name.into(), bin_ns, bins }
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
        assert!(drawn.starts_with(SIGNATURE) && drawn.contains(">What the threads did when: a &lt; b</title>"));
        let boxes = |name: &str| -> Vec<f64> {
            let document = roxmltree::Document::parse(&drawn).unwrap();
            let is_of = |found: &roxmltree::Node<'_, '_>| found.text().is_some_and(|text| text.starts_with(name));
            let title = document.descendants().filter(|found| found.has_tag_name("title")).find(is_of).unwrap();
            let path = title.parent().unwrap().attribute("d").unwrap();
            path.split(['M', ' ', 'H', 'V', 'Z']).filter_map(|number| number.parse().ok()).collect()
        };
        let settled = boxes("worker 1: settling");
        let [left, bottom, right, top, again] = settled[..] else { panic!("{drawn}") };
        assert_eq!((left, right - left, bottom - top, again), (LEFT, WIDTH / 2.0, LANE_HEIGHT, left));
        let half = [right, bottom, right + WIDTH / 4.0, bottom - LANE_HEIGHT / 2.0, right];
        assert_eq!(boxes("worker 1: decoding"), half);
        let quarter = [right, half[3], half[2], half[3] - LANE_HEIGHT / 4.0, right];
        assert_eq!(boxes("worker 1: applying"), quarter);
        assert!(drawn.find(">worker 1<") < drawn.find(">writer<"));
        // Only steps that occur are explained.
        assert!(drawn.contains(">unpacking what was read<") && !drawn.contains(">turning<"), "{drawn}");
    }

    /// A picture began with the seconds of planning, when no thread existed yet.
    #[test]
    fn time_begins_with_the_first_thread_and_other_threads_are_idle() {
        let none = bin(&[]);
        let work = bin(&[(Stage::AwaitRead, 1_000_000_000)]);
        let lanes = [
            lane("worker 1", 1_000_000_000, vec![none, work, work, none]),
            lane("worker 2", 1_000_000_000, vec![none, work, none, none]),
            lane("reader 1", 1_000_000_000, vec![none, none, none, none]),
        ];
        let drawn = svg("late", 4.0, &lanes);
        let two_thirds =
            format!("d=\"M{LEFT} 152H{}V128H{LEFT}Z\"><title>worker 1: waiting to read 2.000 s", LEFT + 640.0);
        assert!(drawn.contains(&two_thirds), "{drawn}");
        assert!(drawn.contains("The first 1.00 s, before the threads began"), "{drawn}");
        assert!(drawn.contains(">2 workers<") && drawn.contains(">3.00 s<") && drawn.contains(">38 %<"), "{drawn}");
        assert_eq!([0.0004, 0.0456, 4.56, 45.6, 456.7].map(short), ["< 0.001", "0.046", "4.56", "45.6", "457"]);
        // The reader, which was in no step at all.
        assert!(drawn.contains(">4.00 s<") && drawn.contains(">100 %<"), "{drawn}");
        assert!(drawn.contains("2 workers: waiting to read 38 %. reader: nothing to do.</desc>"), "{drawn}");
    }

    /// Shapes need a contrast of 3 (WCAG 2.2, 1.4.11).
    #[test]
    fn every_step_has_words_and_stands_out_in_light_and_dark() {
        let luminance = |colour: &str| {
            let part = |at: usize| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            let linear = |part: f64| if part <= 0.03928 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
            0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
        };
        for stage in Stage::ALL {
            let Step { name, tint, .. } = step(stage);
            let light = 1.05 / (luminance(tint.light) + 0.05);
            let dark = (luminance(tint.dark) + 0.05) / (luminance("#16181c") + 0.05);
            assert!(light >= 3.0 && dark >= 3.0, "{name}: {light:.2} {dark:.2}");
            let alike = Stage::ALL.into_iter().filter(|other| step(*other).name == name || step(*other).tint == tint);
            assert_eq!(alike.count(), 1, "{name}");
            assert!(!name.contains('_') && name != stage.name(), "{name}");
        }
    }

    #[test]
    fn the_worst_run_stays_below_a_megabyte() {
        let every: Vec<(Stage, u64)> = Stage::ALL.into_iter().map(|stage| (stage, 5)).collect();
        let other: Vec<(Stage, u64)> =
            Stage::ALL.into_iter().enumerate().map(|(at, stage)| (stage, at as u64)).collect();
        let bins: Vec<ByStage> = (0..1024).map(|at| bin(if at % 2 == 0 { &every } else { &other })).collect();
        for lanes in [1, 6, 130, 2050] {
            let recorded: Vec<LaneRecord> =
                (0..lanes).map(|number| lane(&format!("worker {number}"), 1 << 14, bins.clone())).collect();
            let drawn = svg("many", 0.017, &recorded);
            assert!(drawn.len() <= BYTES_AT_MOST, "{lanes} lanes: {} bytes", drawn.len());
            assert_eq!(drawn.contains(">1900 more<"), lanes == 2050);
        }
    }
}
