//! The page of the tools beside the fault harness. It also has Cargo build the harness with the
//! tests, for `.ci/run`.

use std::collections::BTreeSet;

#[test]
fn the_page_lists_the_parts_of_the_harness() {
    let refused = processes::command(env!("CARGO_BIN_EXE_faults")).args(["--part", "none"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let error = String::from_utf8(refused.stderr).unwrap();
    let (_, parts) = error.split_once("[possible values: ").unwrap();
    let parts: BTreeSet<&str> = parts.split(']').next().unwrap().split(", ").collect();
    let page = include_str!("../README.md");
    let (_, table) = page.split_once("| part | what it proves |").unwrap();
    let rows = table.lines().skip(2).map_while(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.collect::<BTreeSet<_>>(), parts);
}
