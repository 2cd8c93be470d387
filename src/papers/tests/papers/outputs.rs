//! Outputs replace only earlier outputs of the same kind.

use crate::common::outputs::{Output, replace_nothing_else, replace_their_own};
use crate::common::program::ends;
use crate::common::scratch;
use trinim::Solve;
use trinim::game::{Board, Rule};

#[test]
fn outputs_replace_only_files_of_their_own() {
    let folder = scratch();
    let path = folder.path();
    Solve::new(&Board::triangle(3, None).unwrap(), Rule::Misere).run(&path.join("three")).unwrap();
    ends(path, 0, &["report", "three", "--out", "report"]);
    let outputs: [Output; 3] = [
        ("bench --layers 3 --repeats 1 --yardstick none --csv out", "out", true),
        ("report three --out report", "report/report.md", false),
        ("report three --out report", "report/report.json", false),
    ];
    replace_nothing_else(path, &outputs);
    // Without its list, a folder does not belong to a report.
    replace_their_own(path, &outputs[..2], |_| None);
}
