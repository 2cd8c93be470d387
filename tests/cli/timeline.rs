//! `--timeline`: the trace of a solve. What it does not replace is in `sessions/timeline.txt`.

use crate::common::program::json;
use crate::common::scratch;
use serde_json::Value;
use std::fs;

/// The trace of `--timeline`: a track for each thread, whose events do not overlap and add up to
/// the times of the report.
#[test]
fn a_timeline_is_trace_events_that_add_up() {
    let folder = scratch();
    let path = folder.path();
    let solve = ["solve", "-k", "6", "--block-bits", "12", "--threads", "2", "--timeline", "t.json", "--json"];
    let report = json(path, 0, &solve);
    let written = fs::read_to_string(path.join("t.json")).unwrap();
    let trace: Value = serde_json::from_str(&written).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let (named, timed): (Vec<&Value>, Vec<&Value>) = events.iter().partition(|event| event["ph"] == "M");
    assert_eq!(named[0]["args"]["name"], "6 layers, misere play");
    let threads: Vec<&str> = named[1..].iter().map(|event| event["args"]["name"].as_str().unwrap()).collect();
    for thread in ["worker 1", "worker 2", "writer", "committer"] {
        assert!(threads.contains(&thread), "{threads:?}");
    }
    let mut sums: std::collections::BTreeMap<&str, f64> = Default::default();
    let mut ends_at = vec![0.0; named.len()];
    for event in timed {
        let number = |name: &str| event[name].as_f64().unwrap();
        let track = number("tid") as usize;
        assert!(event["ph"] == "X" && (1..named.len()).contains(&track), "{event}");
        assert!(number("ts") >= ends_at[track] - 1e-3 && number("dur") > 0.0, "{event}");
        ends_at[track] = number("ts") + number("dur");
        *sums.entry(event["name"].as_str().unwrap()).or_default() += number("dur") * 1e-6;
    }
    for (stage, seconds) in report["stages_s"].as_object().unwrap() {
        let sum = sums.remove(stage.as_str()).unwrap_or_default();
        assert!((sum - seconds.as_f64().unwrap()).abs() <= 1e-6, "{stage}: {sum} {seconds}");
    }
    assert!(sums.is_empty(), "{sums:?}");
}
