//! `trinim export`: every format against the definition, samples and pipes. Files and refusals are
//! in `sessions/export.txt`.

use crate::common::program::{ends, signal, text, trinim};
use crate::common::scratch;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use trinim::game::{Board, Rule, Takes, position, reference};

/// Losses by the definition.
fn losses(layers: u32, rule: Rule) -> Vec<u64> {
    let board = Board::triangle(layers, None).unwrap();
    let values = reference::values(board.cells(), board.moves(), rule);
    (0..).zip(values).filter_map(|(position, value)| value.is_loss().then_some(position)).collect()
}

/// Runs an export to standard output.
fn export(path: &Path, args: &str) -> Vec<u8> {
    let args: Vec<&str> = ["export"].into_iter().chain(args.split(' ')).collect();
    let output = trinim(path, &args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    output.stdout
}

/// Reads a NumPy file by its specification: the description, the shape, and rows of `width` bytes.
fn npy(bytes: &[u8], width: usize) -> (String, Vec<(u64, u8)>) {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(start % 64, 0);
    let header = text(&bytes[10..start]);
    let rows: usize = header.split("'shape': (").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    assert_eq!(bytes.len() - start, rows * width, "{header}");
    let row = |row: &[u8]| (u64::from_le_bytes(row[..8].try_into().unwrap()), row.get(8).copied().unwrap_or(0));
    (header, bytes[start..].chunks(width).map(row).collect())
}

fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort_unstable();
    items
}

#[test]
fn every_format_has_the_losses_of_the_definition() {
    let folder = scratch();
    let path = folder.path();
    for (layers, rule, options) in [
        (1, Rule::Normal, &[][..]),
        (3, Rule::Misere, &["--block-bits", "3"]),
        (4, Rule::Normal, &["--bid-cells", "(1,0)(2,2)"]),
        (5, Rule::Misere, &["--block-bits", "12"]),
        (5, Rule::Normal, &[]),
    ] {
        let (k, rule_name, name) = (layers.to_string(), rule.to_string(), format!("{layers}-{rule}"));
        let solve = [&["solve", "-k", &k, "--rule", &rule_name, "--out", &name], options].concat();
        ends(path, 0, &solve);
        let board = Board::triangle(layers, None).unwrap();
        let losses = losses(layers, rule);

        let (header, rows) = npy(&export(path, &name), 8);
        assert!(header.starts_with("{'descr': '<u8', 'fortran_order': False, 'shape': ("), "{header}");
        let listed: Vec<u64> = rows.iter().map(|(position, _)| *position).collect();
        assert_eq!(listed, losses);
        let csv = text(&export(path, &format!("{name} --format csv")));
        let mut lines = csv.lines();
        assert_eq!(lines.next(), Some("position"));
        assert_eq!(lines.map(|line| line.parse().unwrap()).collect::<Vec<u64>>(), listed);
        let text_rows = text(&export(path, &format!("{name} --format rows -o -")));
        let read: Vec<u64> = text_rows.lines().map(|line| position::parse(&board, line).unwrap()).collect();
        assert_eq!(read, listed);

        let (header, classes) = npy(&export(path, &format!("{name} --what canonical")), 9);
        assert!(header.starts_with("{'descr': [('position', '<u8'), ('orbit_size', '|u1')], "), "{header}");
        let mut members = Vec::new();
        for (canonical, size) in &classes {
            let images = sorted(board.symmetries().iter().map(|symmetry| symmetry.apply(*canonical)).collect());
            let mut distinct = images.clone();
            distinct.dedup();
            assert_eq!((images.last(), distinct.len()), (Some(canonical), usize::from(*size)));
            members.extend(distinct);
        }
        assert_eq!(sorted(members), losses);
        let csv = text(&export(path, &format!("{name} --what canonical --format csv")));
        let expected: String = classes.iter().map(|(position, size)| format!("{position},{size}\n")).collect();
        assert_eq!(csv, format!("position,orbit_size\n{expected}"));

        let (header, values) = npy(&export(path, &format!("{name} --what values")), 9);
        assert!(header.contains("('value', '|u1')"), "{header}");
        let expected = (0..=board.full()).map(|one| (one, u8::from(losses.binary_search(&one).is_err())));
        assert_eq!(values, expected.collect::<Vec<_>>());
        let word = |value: u8| if value == 1 { "win" } else { "loss" };
        let lines = values.iter().map(|(one, value)| format!("{}\t{}\n", position::rows(&board, *one), word(*value)));
        assert_eq!(text(&export(path, &format!("{name} --what values --format rows"))), lines.collect::<String>());

        // The same bytes for any number of threads; of lists too long to be sorted, too.
        for what in ["losses", "canonical", "values"] {
            let of = |rest: &str| {
                let width = if what == "losses" { 8 } else { 9 };
                npy(&export(path, &format!("{name} --what {what} {rest}")), width).1
            };
            let (whole, parts) = (of("--threads 1"), of("--threads 1 --sorted-max 0"));
            assert!(whole.is_sorted() && of("--threads 3") == whole && sorted(parts.clone()) == whole, "{what}");
            assert_eq!(of("--threads 3 --sorted-max 0"), parts, "{what}");
            // As long as the longest list that is sorted, and longer by one.
            let listed = if what == "values" { whole.len() } else { losses.len() };
            assert_eq!(of(&format!("--sorted-max {listed}")), whole, "{what}");
            assert_eq!(of(&format!("--sorted-max {}", listed - 1)), parts, "{what}");
        }
        let cells = board.cells();
        for (range, least, most) in [("1..2", 1, 2), ("2..", 2, cells), ("..1", 0, 1), ("1", 1, 1)] {
            if most > cells || least > cells {
                continue;
            }
            let within = |one: &u64| (least..=most).contains(&one.count_ones());
            let (_, rows) = npy(&export(path, &format!("{name} --pieces {range}")), 8);
            let found: Vec<u64> = rows.into_iter().map(|(one, _)| one).collect();
            assert_eq!(found, losses.iter().copied().filter(within).collect::<Vec<_>>(), "{range}");
        }
    }
}

/// Boards that are no triangles, one of them from a file, with dominoes whose positions can be over
/// with pieces left.
#[test]
fn losses_of_other_boards_are_those_of_the_definition() {
    let folder = scratch();
    let path = folder.path();
    let star = "name = \"star\"\ncells = 7\nlines = [[0, 3, 5], [0, 4], [1, 2, 6], [1, 4], [2, 3]]\n";
    fs::write(path.join("star.toml"), star).unwrap();
    for name in ["rect:3x4", "hex:2", "cram:3x3", "file:star.toml"] {
        for rule in Rule::ALL {
            let board = match name.strip_prefix("file:") {
                Some(_) => Board::from_toml(star, Takes::ANY).unwrap(),
                None => Board::named(name, Takes::ANY).unwrap(),
            };
            let values = reference::values(board.cells(), board.moves(), rule);
            let losses: Vec<u64> =
                (0..).zip(values).filter_map(|(position, value)| value.is_loss().then_some(position)).collect();
            let out = format!("{}-{rule}", name.replace([':', '.'], "-"));
            ends(path, 0, &["solve", "--board", name, "--rule", rule.name(), "--block-bits", "4", "--out", &out]);
            let (_, rows) = npy(&export(path, &out), 8);
            assert_eq!(rows.iter().map(|(position, _)| *position).collect::<Vec<_>>(), losses, "{out}");
            // One of each class, with the size of the class.
            let (_, classes) = npy(&export(path, &format!("{out} --what canonical")), 9);
            assert_eq!(classes.iter().map(|(_, size)| u64::from(*size)).sum::<u64>(), losses.len() as u64, "{out}");
            assert!(classes.iter().all(|(position, _)| losses.binary_search(position).is_ok()), "{out}");
        }
    }
}

#[test]
fn a_sample_depends_on_the_seed_but_not_on_layout_or_threads() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "5", "--out", "one"]);
    ends(path, 0, &["solve", "-k", "5", "--block-bits", "9", "--out", "other"]);
    let losses = losses(5, Rule::Misere);
    for what in ["losses", "canonical", "values"] {
        let sample = |name: &str, rest: &str| {
            npy(&export(path, &format!("{name} --what {what} --sample {rest}")), if what == "losses" { 8 } else { 9 }).1
        };
        let drawn = sample("one", "50 --seed 7");
        assert_eq!(drawn.len(), 50);
        assert!(drawn.is_sorted() && drawn.windows(2).all(|pair| pair[0].0 != pair[1].0));
        assert_eq!(sample("other", "50 --seed 7 --threads 3"), drawn, "{what}");
        assert_ne!(sample("one", "50 --seed 8"), drawn, "{what}");
        assert_eq!(sample("one", "50"), sample("one", "50 --seed 1"), "{what}");
        match what {
            "values" => {
                let is_right = |&(one, value): &(u64, u8)| (value == 0) == losses.binary_search(&one).is_ok();
                assert!(drawn.iter().all(is_right));
                assert!(sample("one", "200 --pieces 3..4").iter().all(|(one, _)| (3..=4).contains(&one.count_ones())));
            }
            _ => assert!(drawn.iter().all(|(one, _)| losses.binary_search(one).is_ok())),
        }
        // More than there are: all, sorted.
        let all = npy(&export(path, &format!("one --what {what}")), if what == "losses" { 8 } else { 9 }).1;
        assert_eq!(sample("one", "1000000"), sorted(all), "{what}");
    }
}

/// Regression: an export answers what the server does, values of few pieces that are not kept.
#[test]
fn a_sample_of_values_that_are_not_kept_is_solved_on_the_spot() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "6", "--out", "all"]);
    ends(path, 0, &["solve", "-k", "6", "--keep", "counts", "--out", "counts"]);
    for rest in ["--pieces 5..12 --sample 60 --seed 3", "--pieces ..0 --sample 5", "--sample 40"] {
        let of = |name: &str| npy(&export(path, &format!("{name} --what values {rest}")), 9).1;
        assert_eq!(of("counts"), of("all"), "{rest}");
    }
    let nine = npy(&export(path, "--layers 9 --what values --pieces 20 --sample 2"), 9).1;
    assert!(nine.len() == 2 && nine.iter().all(|(position, _)| position.count_ones() == 20));
    assert_eq!(npy(&export(path, "--layers 9 --what values --pieces 28 --sample 1"), 9).1.len(), 1);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "7", "--out", "seven"]);
    let mut child = trinim(path, &["export", "seven", "--quiet"]).spawn().unwrap();
    let mut first = [0; 128];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert_eq!((child.wait().unwrap().code(), error.as_str()), (Some(0), ""));
    assert!(text(&first).contains("'shape': (19496523,)"));

    // Without a reader, the program waits until it is stopped.
    let mut child = trinim(path, &["export", "seven"]).spawn().unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    let error = text(&output.stderr);
    assert!(error.contains("export incomplete: stopped by a signal\nhint: start over with: trinim export"), "{error}");
}

/// A file that appears while an export is at work stays, and is replaced only with `--force`.
#[test]
fn a_file_that_appears_meanwhile_stays() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "6", "--out", "six"]);
    let name = path.join("six.csv");
    for (force, code) in [(&[][..], 4), (&["--force"], 0)] {
        // The export may be over before it is seen to have begun.
        let appeared = (0..100).find_map(|_| {
            let _ = fs::remove_file(&name);
            let export = ["export", "six", "--what", "values", "--format", "csv", "--out", "six.csv"];
            let mut child = trinim(path, &[&export[..], force].concat()).spawn().unwrap();
            let open = format!("/proc/{}/fd", child.id());
            let is_open = |file: &Path| fs::read_link(file).is_ok_and(|file| file.starts_with(path));
            // A file without a name, as the name is chosen.
            let has_begun = || {
                let mut files = fs::read_dir(&open).into_iter().flatten().filter_map(|file| Some(file.ok()?.path()));
                files.any(|file| is_open(&file) && fs::metadata(&file).is_ok_and(|file| file.nlink() == 0))
            };
            while !has_begun() && child.try_wait().unwrap().is_none() {}
            let is_ours = fs::File::create_new(&name).is_ok_and(|mut file| file.write_all(b"mine").is_ok());
            let output = child.wait_with_output().unwrap();
            is_ours.then_some((output.status.code(), text(&output.stderr)))
        });
        let (found, error) = appeared.expect("an export that takes some time");
        assert_eq!((found, fs::read(&name).unwrap() == b"mine"), (Some(code), code == 4), "{error}");
        assert!(code == 0 || error.contains("another file took this name in the meantime"), "{error}");
    }
}

/// What else cannot be exported is in `sessions/export.txt`.
#[test]
fn a_terminal_gets_no_bytes_that_it_cannot_show() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--out", "four"]);
    let (_person, terminal) = crate::common::program::terminal();
    let output = trinim(path, &["export", "four"]).stdout(terminal).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("standard output is a terminal"), "{}", text(&output.stderr));
}
