//! A solve is resolved once: what a caller leaves open is as the folder was begun, or as planned;
//! what contradicts the folder or itself is refused before anything is written.

use crate::common::scratch;
use pipeline::codec::{Codec, Raw, Rows};
use pipeline::{Error, Placement};
use trinim::Solve;
use trinim::database::{Audit, Keep, Values};
use trinim::game::{Board, Rule, Takes};
use trinim::job::{JobError, KeepChoice, inspect};
use trinim::layout::Layout;
use trinim::plan::{self, PlanError};

fn solve(layers: u32) -> Solve {
    Solve::new(&Board::triangle(layers, None).unwrap(), Rule::Misere).threads(2)
}

/// The library took what the engine has by default: dedicated logs of more than a terabyte at nine
/// layers, no plan, and no audit.
#[test]
fn three_lines_are_planned_like_a_command() {
    let folder = scratch();
    let absent = folder.path().join("absent");
    for (layers, placement) in [(7, Placement::Dedicated), (8, Placement::Shared), (9, Placement::Shared)] {
        let job = solve(layers).in_folder(&absent).unwrap();
        let board = &job.game.board;
        assert_eq!(job.scenario().placement, placement);
        assert_eq!(job.game.layout.bid_cells(), plan::choose_layout(board, 1 << 30).bid_cells());
        assert_eq!((job.terms.keep, job.terms.audit), (Keep::usual(board), Audit::usual(board)));
        assert_eq!(job.terms.audit != Audit::None, layers >= 9);
        let planned = job.plan().unwrap();
        assert_eq!(planned.check().is_ok(), planned.needed_bytes() <= planned.room_bytes());
        assert_eq!(planned.room_bytes(), planned.free_bytes);
    }
    // The last block size of the rates for small blocks, and the first of those for large ones.
    let [small, large] = [(64 << 20) - 1, 64 << 20].map(|bytes| plan::rates::for_blocks(Keep::Database, bytes));
    assert_eq!(small, plan::rates::for_blocks(Keep::Database, 1));
    assert_eq!(large, plan::rates::for_blocks(Keep::Database, 1 << 30));
    assert_ne!(small, large);
    let error = solve(8).max_disk_bytes(1 << 20).run(&absent).err().unwrap();
    assert!(matches!(error, JobError::Plan(PlanError::Disk { free_bytes, .. }) if free_bytes == 1 << 20), "{error}");
    let error = solve(8).memory_bytes(1).run(&absent).err().unwrap();
    assert!(matches!(error, JobError::Plan(PlanError::Memory { .. })), "{error}");
    assert!(!absent.exists());
}

#[test]
fn a_folder_decides_what_is_left_open_and_contradicts_what_differs() {
    let folder = scratch();
    let path = folder.path();
    let audit: Audit = "30%".parse().unwrap();
    let solved = solve(5).block_bits(9).keep(Keep::Counts).audit(audit).run(path).unwrap();
    let begun = inspect(path).unwrap().unwrap();
    let again = Solve::from_parameters(&begun.parameters.0).unwrap();
    for solve in [solve(5), solve(5).keep(Keep::Counts).audit(audit), again] {
        let job = solve.in_folder(path).unwrap();
        assert_eq!((job.terms.keep, job.terms.audit), (Keep::Counts, audit));
        assert_eq!(job.game.layout.offset_bits(), 9);
        assert_eq!(job.finished().unwrap().manifest, solved.manifest);
    }
    let whole = Layout::new(&Board::triangle(5, None).unwrap(), &[]).unwrap();
    let normal = Solve::new(&Board::triangle(5, None).unwrap(), Rule::Normal);
    for (other, name, found, wanted) in [
        (solve(4), "layers", "5", "4"),
        (normal.clone(), "rule", "misere", "normal"),
        (normal.values(Values::Nimbers), "rule", "misere", "normal"),
        (solve(5).values(Values::Remoteness), "values", "outcomes", "remoteness"),
        (solve(5).keep(Keep::Database), "keep", "counts", "database"),
        (solve(5).keep(KeepChoice::Book), "keep", "counts", "book:7"),
        (solve(5).audit(Audit::None), "audit", "0.3", "none"),
        (solve(5).audit(Audit::All), "audit", "0.3", "all"),
        (solve(5).layout(whole), "bid-cells", "", ""),
    ] {
        match other.in_folder(path).err().unwrap() {
            JobError::Run(Error::Parameters { name: differs, found: there, wanted: here, .. }) => {
                assert_eq!(differs, name);
                assert!(name == "bid-cells" && there != here || (&*there, &*here) == (found, wanted), "{name}");
            }
            error => panic!("{name}: {error}"),
        }
    }
}

/// A book without a number is that of the folder.
#[test]
fn a_folder_decides_the_depth_of_its_book() {
    let folder = scratch();
    let path = folder.path();
    let kept = Keep::Book { pieces: 10 };
    solve(5).keep(kept).run(path).unwrap();
    let job = solve(5).keep(KeepChoice::Book).in_folder(path).unwrap();
    assert!(job.finished().is_some() && job.terms.keep == kept);
    assert_ne!(kept, Keep::book(&job.game.board));
}

#[test]
fn choices_that_make_no_sense_together_are_refused_by_name() {
    let folder = scratch();
    let absent = folder.path().join("absent");
    let normal = || Solve::new(&Board::triangle(5, None).unwrap(), Rule::Normal).values(Values::Nimbers);
    let share = "30%".parse().unwrap();
    for (solve, text) in [
        (
            solve(9).audit(share).placement(Placement::Dedicated),
            "audit 0.3 cannot be used with log-placement dedicated",
        ),
        (solve(5).values(Values::Nimbers), "values nimbers cannot be used with rule misere"),
        (normal().keep(Keep::Counts), "values nimbers cannot be used with keep counts"),
        (solve(4).keep(Keep::Book { pieces: 11 }), "keep book:11: the board has 10 pieces"),
        (
            Solve::new(&Board::named("rect:8x7", Takes::ANY).unwrap(), Rule::Normal),
            "rect:8x7 has 56 cells: expected at most 55",
        ),
    ] {
        let error = solve.in_folder(&absent).err().unwrap().to_string();
        assert!(error.contains(text), "{error}");
    }
    // A book of nothing but the full board is one.
    assert!(solve(4).keep(Keep::Book { pieces: 10 }).in_folder(&absent).is_ok());
    assert!(!absent.exists());
}

/// What a folder has already is room for the job that it is of: it does not take that twice.
#[test]
fn files_of_the_folder_count_as_room() {
    let folder = scratch();
    let [begun, absent] = ["begun", "absent"].map(|name| folder.path().join(name));
    solve(5).block_bits(9).run(&begun).unwrap();
    std::fs::remove_file(begun.join("db/SUMS")).unwrap();
    let room = |path: &std::path::Path| solve(5).in_folder(path).unwrap().plan().unwrap().free_bytes;
    // Files with a hole take no room on the disk; others change what is free meanwhile.
    let hole = 1u64 << 42;
    for file in ["logs/00000001.g1", "db/000000.blk"] {
        let before = room(&begun);
        let file = std::fs::File::options().write(true).create(true).truncate(false).open(begun.join(file)).unwrap();
        file.set_len(hole).unwrap();
        assert!(room(&begun).abs_diff(before) > hole / 2 && room(&begun) - room(&absent) > hole / 2);
        file.set_len(0).unwrap();
    }
}

/// What a user gets who chooses nothing but board, rule and memory. A change of a default changes
/// the table, which the failure prints.
#[test]
fn defaults_are_those_of_the_table() {
    let absent = scratch().path().join("absent");
    let triangles = (1..=9).map(|layers| Board::triangle(layers, None).unwrap());
    let others = ["rect:6x6", "cram:5x6", "rect:2x20"].map(|name| Board::named(name, Takes::ANY).unwrap());
    let mut table = String::new();
    for board in triangles.chain(others) {
        for memory in [40 << 20, 256 << 20, 1 << 30, 16 << 30] {
            for (rule, values) in [
                (Rule::Misere, Values::Outcomes),
                (Rule::Normal, Values::Outcomes),
                (Rule::Normal, Values::Nimbers),
                (Rule::Misere, Values::Remoteness),
            ] {
                // Layouts do not depend on the rule, and take seconds.
                if rule == Rule::Normal && board.cells() > 36 && memory != 1 << 30
                    || values != Values::Outcomes && (board.cells() > 36 || memory != 1 << 30)
                {
                    continue;
                }
                let solve = Solve::new(&board, rule).values(values).threads(2).memory_bytes(memory);
                let job = solve.in_folder(&absent).unwrap();
                let (scenario, layout) = (job.scenario(), &job.game.layout);
                let (keep, audit) = (job.terms.keep, job.terms.audit);
                let memory_plan = plan::Plan::for_layout(scenario, layout).map(|plan| plan.memory);
                let workers = memory_plan.map_or("too little".to_owned(), |memory| {
                    format!("{} workers, {} held", memory.workers, memory.held_streams)
                });
                let placement = plan::placement_name(scenario.placement);
                table += &format!(
                    "{} {rule} {values:?} {} MiB: {:?} + {} bits, {placement}, {keep}, audit {audit}, {workers}\n",
                    board.name(),
                    memory >> 20,
                    layout.bid_cells(),
                    layout.offset_bits(),
                );
            }
        }
    }
    let recorded = include_str!("../golden/defaults.txt");
    let differs = table.lines().zip(recorded.lines()).find(|(now, then)| now != then);
    assert!(table == recorded, "{differs:?}\n{table}");
}

/// The time, the logs and the disk of a solve, by what is kept, placement and codec. A change of a
/// figure or of a formula changes the table, which the failure prints.
#[test]
fn plans_are_those_of_the_table() {
    let boards = [7, 8, 9].map(|layers| Board::triangle(layers, None).unwrap());
    let mut table = String::new();
    for board in boards.into_iter().chain([Board::named("rect:6x6", Takes::ANY).unwrap()]) {
        for memory in [40 << 20, 4 << 30] {
            let solve = Solve::new(&board, Rule::Misere).threads(2).memory_bytes(memory);
            let job = solve.in_folder(scratch().path()).unwrap();
            let first = plan::Plan::for_layout(job.scenario(), &job.game.layout).unwrap();
            for keep in Keep::choices(&board) {
                let codecs: [&dyn Codec; 3] = [&Rows::BYTES, &Rows::HUFFMAN, &Raw];
                for codec in codecs {
                    let planned = first.with(plan::Scenario { keep, codec, ..job.scenario() });
                    let kept = planned.database_bytes;
                    table += &format!("{} {} MiB {keep} {}: {kept} B", board.name(), memory >> 20, codec.name());
                    for one in planned.placements {
                        let (written, read, peak) = (one.log_bytes_written, one.log_bytes_read, one.log_bytes_peak);
                        table += &format!(
                            "; {}: {:.4e} s, {written} + {read} B of logs, {peak} B and {} B at most",
                            one.placement, one.seconds, one.disk_peak_bytes
                        );
                    }
                    table.push('\n');
                }
            }
        }
    }
    let recorded = include_str!("../golden/plans.txt");
    let differs = table.lines().zip(recorded.lines()).find(|(now, then)| now != then);
    assert!(table == recorded, "{differs:?}\n{table}");
}
