//! `trinim export`: every format against the definition, samples, files and pipes, refusals.

use crate::common::program::{ends, json, signal, text, tree, trinim};
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
    for refused in ["--what values --pieces 29", "--what losses --pieces 20"] {
        let args = ["export", "--layers", "9", "--sample", "1"].into_iter().chain(refused.split(' '));
        let (_, error) = ends(path, 2, &args.collect::<Vec<_>>());
        assert!(error.contains("--what values --sample N --pieces A..28 solves positions on the spot"), "{error}");
    }
}

#[test]
fn a_file_appears_whole_and_is_not_replaced_unasked() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--out", "four"]);
    let (out, error) = ends(path, 0, &["export", "four", "-o", "losses.npy"]);
    assert_eq!((out.as_str(), error.as_str()), ("142 positions, 1.2 KiB in losses.npy\n", ""));
    assert_eq!(fs::read(path.join("losses.npy")).unwrap(), export(path, "four"));
    fs::write(path.join("mine.csv"), "mine").unwrap();
    let (_, error) = ends(path, 2, &["export", "four", "-o", "mine.csv"]);
    assert!(error.contains("--out mine.csv exists\nhint: choose another name, or replace the file with --force"));
    assert_eq!(fs::read(path.join("mine.csv")).unwrap(), b"mine");
    ends(path, 0, &["export", "four", "-o", "mine.csv", "--force"]);
    assert!(fs::read_to_string(path.join("mine.csv")).unwrap().starts_with("position\n"));
    ends(path, 2, &["export", "four", "-o", "four", "--force"]);
    ends(path, 2, &["export", "four", "-o", "absent/losses.npy"]);

    let report = json(path, 0, &["export", "four", "--what", "canonical", "-o", "classes.txt", "--json"]);
    let board = Board::triangle(4, None).unwrap();
    let canonical = |one: &u64| board.symmetries().iter().all(|symmetry| symmetry.apply(*one) <= *one);
    let classes = losses(4, Rule::Misere).iter().filter(|one| canonical(one)).count();
    assert_eq!((&report["format"], &report["rows"]), (&"rows".into(), &classes.into()));
    assert_eq!(report["bytes"], fs::metadata(path.join("classes.txt")).unwrap().len());

    // Where there is no room, the advice is that of a command without checkpoints.
    let before = tree(path);
    let program = env!("CARGO_BIN_EXE_trinim");
    let script = format!("trap '' XFSZ; ulimit -f 0; exec {program} export four -o large.npy");
    let output = processes::command("sh").args(["-c", &script]).current_dir(path).output().unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{error}");
    assert!(
        error.ends_with("hint: make room on this disk, or choose another, and run the same command again\n"),
        "{error}"
    );
    assert!(tree(path) == before);

    // Damage is found, and no half of a file is left.
    let block = path.join("four/db/000000.blk");
    let mut bytes = fs::read(&block).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&block, bytes).unwrap();
    let before = tree(path);
    let (_, error) = ends(path, 3, &["export", "four", "-o", "damaged.npy"]);
    assert!(error.contains("000000.blk"), "{error}");
    assert!(tree(path) == before);
}

#[test]
fn a_census_that_the_blocks_contradict_is_damage() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--out", "four"]);
    let manifest = path.join("four/db/manifest.json");
    let listed = fs::read_to_string(&manifest).unwrap();
    let changed = listed.replacen("\"losses\": 10\n", "\"losses\": 9\n", 1);
    assert_ne!(listed, changed);
    fs::write(&manifest, changed).unwrap();
    for most in ["100", "200"] {
        let (_, error) = ends(path, 3, &["export", "four", "-o", "losses.npy", "--sorted-max", most]);
        assert!(error.contains("the census lists 141 positions, the blocks have 142"), "{error}");
        assert!(!path.join("losses.npy").exists());
    }
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
        assert!(code == 0 || error.contains("something else took this name in the meantime"), "{error}");
    }
}

/// A small board needs no folder: it is solved, and nothing is left of that.
#[test]
fn small_boards_are_solved_for_it() {
    let folder = scratch();
    let path = folder.path();
    fs::create_dir(path.join("tmp")).unwrap();
    let run = |args: &str| {
        let args: Vec<&str> = args.split(' ').collect();
        let output = trinim(path, &args).env("TMPDIR", path.join("tmp")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
        assert_eq!(fs::read_dir(path.join("tmp")).unwrap().count(), 0);
        output.stdout
    };
    for game in ["--layers 5 --rule normal", "--board cram:3x4", "--layers 4 --max-take 2"] {
        run(&format!("solve {game} --out folder"));
        assert_eq!(run(&format!("stats {game} --csv")), run("stats folder --csv"), "{game}");
        let rows = |what: &str| run(&format!("export {what} --format csv --sample 50"));
        assert_eq!(rows(game), rows("folder"), "{game}");
        fs::remove_dir_all(path.join("folder")).unwrap();
    }
    // Seven layers are the largest triangle.
    let (_, error) = ends(path, 2, &["export", "--layers", "8"]);
    assert!(error.contains("too large to be solved here, and not built in; there is 9 "), "{error}");
}

#[test]
fn what_cannot_be_exported_is_refused_with_what_can() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--out", "four"]);
    ends(path, 0, &["solve", "-k", "5", "--keep", "book:9", "--out", "book"]);
    ends(path, 0, &["solve", "-k", "5", "--keep", "counts", "--out", "counts"]);
    for (args, reason, hint) in [
        ("four --pieces 11", "--pieces: no position has 11 pieces", "the board has 10 cells"),
        ("four --json", "--json: the positions take standard output", "--out FILE"),
        ("book", "book/db keeps counts and positions with at least 9 pieces only, not all losses", "--pieces 9.."),
        ("book --pieces 8..", "only, not those with 8", "--pieces 9.."),
        ("book --what values --pieces 9..", "a book lists losses, not values", "--what losses --pieces 9.."),
        ("counts", "counts/db keeps counts only, not every value", "trinim solve --layers 5 --keep database"),
        ("absent", "no such folder", "trinim"),
        ("four --pieces 5..3", "is not a range of pieces", "trinim export --help"),
        ("four --seed 3", "--sample <N>", "trinim export --help"),
        ("four --sample 0", "expected 1 to 10000000", "trinim export --help"),
        ("four -o x.parquet", "--out x.parquet: no format ends in .parquet", "expected .npy, .csv, .txt"),
        ("four -o x.csv.gz", "--out x.csv.gz: no format ends in .gz", "expected .npy, .csv, .txt"),
        ("four -o x.npy --format csv", "--out x.npy contradicts --format csv", "leave out --format"),
    ] {
        let args: Vec<&str> = ["export"].into_iter().chain(args.split(' ')).collect();
        let (out, error) = ends(path, 2, &args);
        // A report of the failure, and no position.
        assert!(out.is_empty() || args.contains(&"--json") && out.contains("trinim.failure/1"), "{args:?}");
        let (found, found_hint) = error.split_once("\nhint: ").unwrap_or_else(|| panic!("{args:?}: {error}"));
        assert!(found.contains(reason) && found_hint.contains(hint), "{args:?}: {error}");
    }
    let (_, rows) = npy(&export(path, "book --pieces 9.. --what losses"), 8);
    let enough: Vec<u64> = losses(5, Rule::Misere).into_iter().filter(|one| one.count_ones() >= 9).collect();
    assert_eq!(sorted(rows.into_iter().map(|(one, _)| one).collect()), enough);

    // A terminal gets no bytes that it cannot show.
    let (_person, terminal) = crate::common::program::terminal();
    let output = trinim(path, &["export", "four"]).stdout(terminal).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("standard output is a terminal"), "{}", text(&output.stderr));
}

#[test]
fn a_brief_answer_is_a_line() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "3", "--out", "three"]);
    let (out, _) = ends(path, 2, &["probe", "three", "--brief", "0x3f", "nonsense", "0x1", "0x0"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!([lines[0], lines[2], lines[3]], ["1/11/111  loss", "1/00/000  loss", "0/00/000  win"]);
    assert!(lines[1].starts_with("error: \"nonsense\": "), "{out}");
    let brief = json(path, 0, &["probe", "three", "--brief", "--json", "0x3f"]);
    let mut whole = json(path, 0, &["probe", "three", "--json", "0x3f"]);
    for field in ["moves", "moves_not_kept"] {
        assert!(whole.as_object_mut().unwrap().remove(field).is_some());
    }
    assert_eq!(brief, whole);
}

/// A sample that is larger than what it is drawn from has all of it.
#[test]
fn a_sample_of_everything_is_everything() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--out", "four"]);
    for what in ["losses", "canonical", "values"] {
        for pieces in ["0..", "4..6"] {
            let args = format!("four --format csv --what {what} --pieces {pieces}");
            let [all, sample] = ["", " --sample 1024"].map(|more| export(path, &format!("{args}{more}")));
            assert!(all.len() > 100 && all == sample, "{args}");
        }
    }
}
