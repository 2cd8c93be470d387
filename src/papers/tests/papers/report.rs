//! `trinim papers report` from its user's side: the papers' numbers in tables and figures, the same
//! bytes for the same databases, and refusals.

use crate::common::program::{ends, run};
use crate::common::scratch;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use trinim::Solve;
use trinim::database::{Manifest, Values};
use trinim::game::Rule;
use trinim::game::amount::grouped;
use trinim::game::position;
use trinim::game::reference;
use trinim::game::{Board, Takes};

/// The figures of the papers, repeated here.
///
/// Layers, misère wins and losses, their rate in per cent as printed ([LWS09] table 4-1), and the
/// start in normal and in misère play ([SWLK12] table 5).
const PUBLISHED: [(u32, u64, u64, &str, &str, &str); 6] = [
    (1, 1, 1, "50", "Win", "Loss"),
    (2, 5, 3, "37.5", "Loss", "Win"),
    (3, 50, 14, "21.9", "Win", "Loss"),
    (4, 882, 142, "13.9", "Win", "Win"),
    (5, 28_866, 3_902, "11.9", "Win", "Loss"),
    (6, 1_908_063, 189_089, "9", "Win", "Win"),
];

fn report(folder: &Path, args: &[&str]) -> (i32, String, String) {
    run(folder, &[&["report"], args].concat())
}

/// Makes a report, which must succeed; returns standard output.
fn made(folder: &Path, args: &[&str]) -> String {
    let (code, out, error) = report(folder, args);
    assert_eq!((code, error.as_str()), (0, ""), "{args:?}\n{out}");
    out
}

/// Checks that a report is refused with one error line and a hint; returns the line.
fn refused(folder: &Path, code: i32, args: &[&str]) -> String {
    let (found, out, error) = report(folder, args);
    assert_eq!((found, out.as_str()), (code, ""), "{args:?}\n{error}");
    let lines: Vec<&str> = error.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("error: ") && lines[1].starts_with("hint: "), "{args:?}\n{error}");
    lines[0].to_owned()
}

/// Solves a board into a folder of this name.
fn solve(folder: &Path, name: &str, layers: u32, max_take: Option<u32>, rule: Rule, with: impl FnOnce(Solve) -> Solve) {
    let board = Board::triangle(layers, max_take).unwrap();
    with(Solve::new(&board, rule).threads(1)).run(&folder.join(name)).unwrap();
}

/// Solves a board into `kK-RULE` below the folder.
fn solved(folder: &Path, layers: u32, rule: Rule) -> String {
    let name = format!("k{layers}-{rule}");
    solve(folder, &name, layers, None, rule, |solve| solve);
    name
}

/// Returns every file of a folder without subfolders.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())).collect()
}

/// Returns the lines of a CSV as maps from header to cell; nothing here is quoted.
fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    assert!(!csv.contains('"'), "{csv}");
    let mut lines = csv.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    let row = |cells: Vec<String>| {
        assert_eq!(cells.len(), heads.len());
        heads.iter().cloned().zip(cells).collect()
    };
    lines.map(row).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The rows of the table in the section of report.md that begins with this title, as maps from head
/// to cell. Repeated heads get their number.
fn table(report: &str, title: &str) -> Vec<BTreeMap<String, String>> {
    let (_, section) = report.split_once(&format!("\n## {title}")).unwrap();
    let lines = section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let mut lines = lines.map(|line| line[2..line.len() - 2].split(" | ").map(str::to_owned).collect::<Vec<_>>());
    let mut heads = lines.next().unwrap();
    for place in (0..heads.len()).rev() {
        let earlier = heads[..place].iter().filter(|head| **head == heads[place]).count();
        if earlier > 0 {
            heads[place] += &format!(" {}", earlier + 1);
        }
    }
    assert!(lines.next().unwrap().iter().all(|side| ["---", "---:"].contains(&side.as_str())));
    lines.map(|cells| heads.iter().cloned().zip(cells).collect()).collect()
}

fn find<'a>(rows: &'a [BTreeMap<String, String>], wanted: &[(&str, &str)]) -> &'a BTreeMap<String, String> {
    let found: Vec<_> = rows.iter().filter(|row| wanted.iter().all(|(head, cell)| row[*head] == *cell)).collect();
    assert_eq!(found.len(), 1, "{wanted:?}");
    found[0]
}

#[test]
fn the_tables_of_the_papers_come_out() {
    let folder = scratch();
    let path = folder.path();
    let mut names = Vec::new();
    for (layers, ..) in PUBLISHED {
        names.extend(Rule::ALL.map(|rule| solved(path, layers, rule)));
    }
    solve(path, "k5-take3", 5, Some(3), Rule::Misere, |solve| solve);
    names.push("k5-take3/db".to_owned());
    // Four layers are there twice: this one has distances, too.
    solve(path, "far", 4, None, Rule::Misere, |solve| solve.values(Values::Remoteness));
    names.push("far".to_owned());
    let args: Vec<&str> = names.iter().map(String::as_str).chain(["--out", "report"]).collect();
    let shown = made(path, &args);
    assert!(shown.contains("all published values agree") && shown.contains("189,089"), "{shown}");
    let found = files(&path.join("report"));

    let report = &found["report.md"];
    let (starts, counts) = (table(report, "Table 5"), table(report, "Table 4-1"));
    assert_eq!(starts.len(), 10, "nine boards and a variant");
    for (layers, wins, losses, percent, normal, misere) in PUBLISHED {
        let k = layers.to_string();
        let row = find(&starts, &[("k", &k)]);
        for (rule, value, number) in [("normal", normal, ""), ("misère", misere, " 2")] {
            assert_eq!((&*row[rule], &*row[&format!("published{number}")]), (value, value), "{k}");
            assert_eq!(row[&format!("agrees{number}")], "yes");
        }
        let row = find(&counts, &[("k", &k), ("rule", "misère")]);
        let (wins, losses) = (grouped(wins), grouped(losses));
        for (head, cell) in
            [("wins", &wins), ("losses", &losses), ("published wins", &wins), ("published losses", &losses)]
        {
            assert_eq!(row[head], *cell, "{k} {head}");
        }
        assert_eq!((&*row["published rate"], &*row["agrees"]), (&*format!("{percent} %"), "yes"));
        let decimals = percent.split_once('.').map_or(0, |(_, digits)| digits.len());
        let rate: f64 = row["loss rate"].strip_suffix(" %").unwrap().parse().unwrap();
        assert_eq!(format!("{rate:.decimals$}"), percent);

        // Normal play has no published counts, so it is compared with the definition.
        let truth = grouped(reference_losses(layers, Rule::Normal));
        let row = find(&counts, &[("k", &k), ("rule", "normal")]);
        assert_eq!((&row["losses"], &*row["published losses"], &*row["agrees"]), (&truth, "-", "-"));
    }
    for k in ["7", "8", "9"] {
        let row = find(&starts, &[("k", k)]);
        assert_eq!((&*row["normal"], &*row["published"], &*row["agrees"]), ("-", "Win", "-"));
        let row = find(&counts, &[("k", k), ("rule", "misère")]);
        assert_eq!((&*row["losses"], &*row["loss rate"], &*row["agrees"]), ("-", "-", "-"));
    }
    let variant = find(&starts, &[("k", "5, at most 3 a move")]);
    assert_eq!((&*variant["misère"], &*variant["normal"], &*variant["published 2"]), ("Win", "-", "-"));
    let variant = find(&rows(&found["figure-13.csv"]), &[("max_take", "3")]).clone();
    assert_eq!(variant["losses"], "4272");
    // Numbers are on the right, published ones as well.
    let sides = report.lines().skip_while(|line| !line.starts_with("| k | rule | positions")).nth(1).unwrap();
    assert_eq!(sides, "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");

    both_rules_and_their_sequences(&found);
    let by_pieces = rows(&found["losses-by-pieces-k6-normal.csv"]);
    let sum = |head: &str| by_pieces.iter().map(|row| row[head].parse::<u64>().unwrap()).sum::<u64>();
    assert_eq!((sum("positions"), sum("losses")), (1 << 21, reference_losses(6, Rule::Normal)));
    let by_distance = rows(&found["positions-by-distance-k4-misere.csv"]);
    let sum = |head: &str| by_distance.iter().map(|row| row[head].parse::<u64>().unwrap()).sum::<u64>();
    assert_eq!((sum("wins"), sum("losses")), (882, 142));
    // The empty board is won, a single piece is lost, and so on, alternating.
    let first: Vec<[&str; 3]> =
        by_distance[..2].iter().map(|row| ["distance", "wins", "losses"].map(|head| &*row[head])).collect();
    assert_eq!(first, [["0", "1", "0"], ["1", "0", "10"]]);
    assert!(report.contains("positions-by-distance-k4-misere.svg"));
    assert_eq!(found.keys().filter(|name| name.starts_with("positions-by-distance")).count(), 2);
}

/// Checks the tables that compare the rules; six layers and a variant were solved, nine are built
/// in.
fn both_rules_and_their_sequences(found: &BTreeMap<String, String>) {
    let both = table(&found["report.md"], "Both rules side by side");
    assert_eq!(both.len(), 8, "seven boards and a variant");
    let nine = find(&both, &[("k", "9")]);
    let losses = ["losses, misère", "losses, normal"];
    assert_eq!(losses.map(|head| &*nine[head]), ["1,770,354,969,447", "1,841,191,785,435"]);
    let variant = find(&both, &[("k", "5, at most 3 a move")]);
    assert_eq!((losses.map(|head| &*variant[head]), &*variant["start 2"]), (["4,272", "-"], "-"));
    for rule in Rule::ALL {
        let losses: Vec<u64> = (1..=6).map(|layers| reference_losses(layers, rule)).collect();
        for (layers, losses) in (1..).zip(&losses) {
            let head = if rule == Rule::Normal { "losses, normal" } else { "losses, misère" };
            assert_eq!(find(&both, &[("k", &format!("{layers}"))])[head], grouped(*losses), "{layers}");
        }
        // Seven and eight layers are missing, so the sequence ends there.
        let lines: String = (1..).zip(&losses).map(|(layers, losses)| format!("{layers} {losses}\n")).collect();
        assert_eq!(found[&format!("b-losses-{rule}.txt")], lines);
        let moves: Vec<&str> = found[&format!("b-first-moves-{rule}.txt")].lines().collect();
        assert_eq!((moves.len(), moves[0]), (6, if rule == Rule::Normal { "1 1" } else { "1 0" }));
        let pieces = &found[&format!("b-losses-by-pieces-k6-{rule}.txt")];
        let terms = pieces.lines().map(|line| line.split_once(' ').unwrap().1.parse::<u64>().unwrap());
        assert_eq!((pieces.lines().count(), terms.sum()), (22, losses[5]));
        assert_eq!(
            found[&format!("b-losses-by-pieces-k9-{rule}.txt")].lines().nth(1),
            Some(if rule == Rule::Normal { "1 0" } else { "1 45" })
        );
    }
    assert!(!found.keys().any(|name| name.starts_with("b-") && name.contains("take")));
}

/// Counts losses by the definition.
fn reference_losses(layers: u32, rule: Rule) -> u64 {
    let board = Board::triangle(layers, None).unwrap();
    let values = reference::values(board.cells(), board.moves(), rule);
    values.iter().filter(|value| value.is_loss()).count() as u64
}

#[test]
fn the_winning_moves_are_those_of_the_definition() {
    let folder = scratch();
    let path = folder.path();
    let mut games = Vec::new();
    for layers in 1..=5 {
        games.extend(Rule::ALL.map(|rule| (layers, rule, solved(path, layers, rule))));
    }
    let names: Vec<&str> = games.iter().map(|(_, _, name)| &**name).chain(["--out", "report"]).collect();
    made(path, &names);
    let found = files(&path.join("report"));
    for (layers, rule, name) in games {
        let board = Board::triangle(layers, None).unwrap();
        let expected = reference::winning_moves(board.moves(), rule, board.full());
        let listed = rows(&found[&format!("winning-moves-{name}.csv")]);
        let mut masks = Vec::new();
        for row in &listed {
            let mask = row["cells"].split(' ').map(|cell| 1 << cell.parse::<u32>().unwrap()).sum::<u64>();
            assert_eq!(row["pieces"], mask.count_ones().to_string());
            assert_eq!(position::parse(&board, &row["child"]), Ok(board.full() ^ mask));
            let images = listed.iter().filter(|other| other["class"] == row["class"]).count();
            assert_eq!(row["images"], images.to_string(), "{name}");
            masks.push(mask);
        }
        masks.sort_unstable();
        assert_eq!(masks, expected, "{name}");

        let svg = &found[&format!("winning-moves-{name}.svg")];
        let document = roxmltree::Document::parse(svg).unwrap();
        let captions = document.descendants().filter(|found| found.attribute("class") == Some("small"));
        let captions: Vec<&str> = captions.map(|caption| caption.text().unwrap()).collect();
        // A picture for each class, with its smallest move: the names of its ends.
        let name_of = |cell: &str| board.cell(cell.parse().unwrap()).to_string();
        let written = |cells: &str| match &cells.split(' ').collect::<Vec<_>>()[..] {
            [only] => name_of(only),
            [first, .., last] => format!("{}-{}", name_of(first), name_of(last)),
            [] => unreachable!("a move takes a piece"),
        };
        let named = |class: &&BTreeMap<String, String>| match &*class["images"] {
            "1" => written(&class["cells"]),
            images => format!("{} ({images} alike)", written(&class["cells"])),
        };
        let firsts = listed.iter().enumerate();
        let firsts = firsts.filter(|(place, row)| *place == 0 || listed[place - 1]["class"] != row["class"]);
        let classes: Vec<&BTreeMap<String, String>> = firsts.map(|(_, row)| row).collect();
        let word = if rule == Rule::Normal { "normal" } else { "misère" };
        let moves = table(&found["report.md"], "Winning first moves");
        let row = find(&moves, &[("k", &layers.to_string()), ("rule", word)]);
        assert_eq!(row["moves"], board.moves().len().to_string());
        let wanted = [expected.len(), classes.len()].map(|number| number.to_string());
        assert_eq!(["winning", "up to symmetry"].map(|head| &row[head]), wanted.each_ref());
        let listed: Vec<String> = classes.iter().map(|class| named(class).replace(" alike", "")).collect();
        assert_eq!(row["which"], if classes.is_empty() { "-".to_owned() } else { listed.join("; ") }, "{name}");
        let expected_captions: Vec<String> = classes.iter().map(named).collect();
        let none = ["no winning move".to_owned()];
        assert_eq!(captions, if classes.is_empty() { &none[..] } else { &expected_captions }, "{name}");
        assert_eq!(svg.contains("The start is lost"), expected.is_empty(), "{name}");
        let is_explained = svg.contains("the first and last cell taken, by letter of the row and number in it");
        assert_eq!(is_explained, !expected.is_empty(), "{name}");
    }
    assert_no_ring_around_another_mark(&found["figure-13.svg"]);
}

/// In figure 13 a ring marks the published rate of misère play; at four and five layers, it touched
/// the square of normal play.
fn assert_no_ring_around_another_mark(svg: &str) {
    let document = roxmltree::Document::parse(svg).unwrap();
    // The shapes of a class: each a list of numbers. The last path is the plot's, the others are
    // the legend's.
    let shapes = |class: &str| -> Vec<Vec<f64>> {
        let path = document.descendants().rfind(|found| found.attribute("class") == Some(class)).unwrap();
        let shapes = path.attribute("d").unwrap().split('M').skip(1);
        shapes
            .map(|shape| shape.split(['L', 'a', 'Z', ' ']).filter_map(|number| number.parse().ok()).collect())
            .collect()
    };
    let (rings, squares) = (shapes("ring l2"), shapes("f1"));
    assert_eq!((rings.len(), squares.len()), (9, 5), "{svg}");
    for ring in rings {
        let (x, y, radius) = (ring[0] + ring[2], ring[1], ring[2]);
        for corner in squares.iter().flat_map(|square| square.chunks_exact(2)) {
            assert!((corner[0] - x).hypot(corner[1] - y) > radius, "a square at {corner:?} crosses a ring at {x}, {y}");
        }
    }
}

#[test]
fn pictures_are_well_formed_and_every_link_leads_to_a_file() {
    let folder = scratch();
    let path = folder.path();
    let names = [solved(path, 3, Rule::Misere), solved(path, 4, Rule::Normal)];
    made(path, &[&names[0], &names[1], "-o", "report"]);
    let found = files(&path.join("report"));
    let report = json(&found["report.json"]);
    assert_eq!((&report["format"], &report["complete"]), (&"trinim-report".into(), &true.into()));
    let listed: Vec<&str> =
        report["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(listed.iter().map(|name| name.to_string()).collect::<BTreeSet<_>>(), found.keys().cloned().collect());
    for file in report["files"].as_array().unwrap() {
        let length = found[file["name"].as_str().unwrap()].len();
        assert!(file["bytes"].is_null() && file["name"] == "report.json" || file["bytes"] == length, "{file}");
    }
    let databases = report["databases"].as_array().unwrap();
    assert_eq!(databases.len(), 2);
    assert_eq!(
        (&databases[0]["layers"], &databases[0]["rule"], &databases[0]["losses"]),
        (&3.into(), &"misere".into(), &14.into())
    );
    assert_eq!(databases[0]["digest"].as_str().unwrap().len(), 64);

    let mut pictures = 0;
    for (name, text) in found.iter().filter(|(name, _)| name.ends_with(".svg")) {
        let document = roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let root = document.root_element();
        assert_eq!((root.tag_name().name(), root.tag_name().namespace()), ("svg", Some("http://www.w3.org/2000/svg")));
        assert_eq!(root.attribute("role"), Some("img"), "{name}");
        for part in ["title", "desc"] {
            let text = root.children().find(|child| child.tag_name().name() == part).and_then(|child| child.text());
            assert!(text.is_some_and(|text| !text.is_empty()), "{name} has no {part}");
        }
        pictures += 1;
    }
    // Figure 13, two pictures of each of two boards, and those that need no board.
    let drawings = ["figure-3", "figure-4", "figure-5", "figure-6", "figure-9", "figure-10"];
    assert_eq!(pictures, 5 + drawings.len());
    assert!(drawings.iter().all(|name| found.contains_key(&format!("{name}.svg"))));

    let mut linked = 0;
    for link in found["report.md"].split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        assert!(found.contains_key(link), "{link}");
        linked += 1;
    }
    // All pictures, the numbers of some, and report.json.
    assert_eq!(linked, pictures + 5 + 1);
    for (name, text) in &found {
        assert!(!text.contains(path.to_str().unwrap()), "{name} names a folder of this machine");
    }
}

#[test]
fn the_same_databases_give_the_same_bytes() {
    let folder = scratch();
    let path = folder.path();
    let (three, five) = (solved(path, 3, Rule::Normal), solved(path, 5, Rule::Misere));
    made(path, &[&three, &five, "--out", "one/deep", "--parents"]);
    let one = files(&path.join("one/deep"));
    fs::rename(path.join(&five), path.join("elsewhere")).unwrap();
    let printed = made(path, &["elsewhere/db", &three, "elsewhere", "--out", "two", "--json"]);
    assert!(files(&path.join("two")) == one, "order, place and repetition of the databases show");
    assert_eq!(printed, one["report.json"]);
    made(path, &[&three, "elsewhere", "--out", "two"]);
    assert!(files(&path.join("two")) == one, "a second report in the same folder differs");

    // Another layout gives another database of the same game.
    solve(path, "cut", 5, None, Rule::Misere, |solve| solve.block_bits(9));
    made(path, &[&three, "elsewhere", "cut", "--out", "both"]);
    let both = files(&path.join("both"));
    assert_eq!(json(&both["report.json"])["databases"].as_array().unwrap().len(), 3);
    for (name, text) in one.iter().filter(|(name, _)| name.contains('-')) {
        assert!(both[name] == *text, "{name}");
    }
}

#[test]
fn a_report_takes_the_place_of_an_earlier_one_and_of_nothing_else() {
    let folder = scratch();
    let path = folder.path();
    let (two, four) = (solved(path, 2, Rule::Misere), solved(path, 4, Rule::Misere));
    made(path, &[&two, "--out", "fresh"]);
    made(path, &[&two, &four, "--out", "report"]);
    fs::write(path.join("report/notes.txt"), "mine").unwrap();
    made(path, &[&two, "--out", "report"]);
    let mut left = files(&path.join("report"));
    assert_eq!(left.remove("notes.txt").as_deref(), Some("mine"));
    assert!(left == files(&path.join("fresh")), "{:?}", left.keys());

    // An interrupted report is recognised, and the outside files that it names are not touched.
    let mut cut = json(&left["report.json"]);
    cut["complete"] = false.into();
    for (name, bytes) in [("../k4-misere/db/SUMS", 1), ("losses-by-pieces-k9-normal.csv", 5), ("notes.txt", 5)] {
        let file = serde_json::json!({"name": name, "title": "", "bytes": bytes});
        cut["files"].as_array_mut().unwrap().push(file);
    }
    fs::write(path.join("report/losses-by-pieces-k9-normal.csv"), "stale").unwrap();
    fs::write(path.join("report/report.json"), cut.to_string()).unwrap();
    made(path, &[&two, "--out", "report"]);
    assert!(path.join("k4-misere/db/SUMS").is_file() && !path.join("report/losses-by-pieces-k9-normal.csv").exists());
    // A file of another length is the user's, although its name is listed.
    assert_eq!(fs::read_to_string(path.join("report/notes.txt")).unwrap(), "mine");
    assert_eq!(files(&path.join("report")).len(), left.len() + 1);

    for (name, content) in [("report.md", "mine"), ("report.json", "{}"), ("report.json", "not json")] {
        let other = TempDir::new_in(path).unwrap();
        fs::write(other.path().join(name), content).unwrap();
        let line = refused(path, 2, &[&two, "--out", other.path().to_str().unwrap()]);
        assert!(line.contains(&format!("contains {name} but no report; nothing was written")), "{line}");
        assert_eq!(files(other.path()), BTreeMap::from([(name.to_owned(), content.to_owned())]));
    }
    fs::write(path.join("file"), "mine").unwrap();
    assert!(refused(path, 2, &[&two, "--out", "file"]).contains("is not a folder"));
    assert!(refused(path, 2, &[&two, "--out", &four]).contains(" but no report"), "a run folder");
    // System files in an otherwise empty folder are ignored by every command that needs one.
    for out in ["fresh-report", "fresh-solve"] {
        fs::create_dir(path.join(out)).unwrap();
        fs::write(path.join(out).join(".DS_Store"), "").unwrap();
        fs::create_dir(path.join(out).join("lost+found")).unwrap();
    }
    made(path, &[&two, "--out", "fresh-report"]);
    ends(path, 0, &["solve", "-k", "3", "--strategy", "block-pull", "--out", "fresh-solve"]);

    let line = refused(path, 2, &[&two, "--out", "k2-misere/db/report"]);
    assert!(line.contains("is inside the database"), "{line}");
    assert!(!path.join("k2-misere/db/report").exists());
}

/// Changes the manifest of a database and, if `sums`, its line in `SUMS`.
fn change(folder: &Path, sums: bool, by: impl FnOnce(&mut Manifest)) {
    let (manifest, list) = (folder.join("db/manifest.json"), folder.join("db/SUMS"));
    let bytes = fs::read(&manifest).unwrap();
    let mut changed: Manifest = serde_json::from_slice(&bytes).unwrap();
    by(&mut changed);
    fs::write(&manifest, changed.to_json()).unwrap();
    if sums {
        let text = fs::read_to_string(&list).unwrap();
        let [old, new] = [&bytes, &changed.to_json()].map(|bytes| blake3::hash(bytes).to_hex().to_string());
        assert!(text.contains(&old));
        fs::write(&list, text.replace(&old, &new)).unwrap();
    }
}

type Change = fn(&mut Manifest);

/// Adds one loss with three pieces, which contradicts nothing in its own manifest.
fn lie(manifest: &mut Manifest) {
    assert_eq!(manifest.blocks.len(), 1);
    manifest.census.by_pieces[3].losses += 1;
    manifest.blocks[0].losses += 1;
}

#[test]
fn a_contradiction_of_a_published_value_is_marked_and_ends_with_1() {
    let folder = scratch();
    let path = folder.path();
    let (three, four) = (solved(path, 3, Rule::Misere), solved(path, 4, Rule::Misere));
    change(&path.join(&three), true, lie);
    let args = [&three, &four, "--out", "report"];
    let (code, out, error) = report(path, &args);
    assert_eq!(code, 1, "{error}");
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(
        lines,
        [
            "wrong: a published value is contradicted: 3 layers, misère: 49 wins, published as 50",
            "wrong: a published value is contradicted: 3 layers, misère: 15 losses, published as 14",
            "wrong: a published value is contradicted: 3 layers, misère: a loss rate of 23.4375 %, published as 21.9 %",
        ]
    );
    assert!(out.contains("3 published values contradicted"), "{out}");
    let found = files(&path.join("report"));
    let page = &found["report.md"];
    let counts = table(page, "Table 4-1");
    assert_eq!(find(&counts, &[("k", "3"), ("rule", "misère")])["agrees"], "NO");
    assert_eq!(find(&counts, &[("k", "4"), ("rule", "misère")])["agrees"], "yes");
    assert_eq!(json(&found["report.json"])["contradictions"].as_array().unwrap().len(), 3);
    assert!(page.contains("3 published values are contradicted"), "{page}");
    assert!(page.contains("3 layers, misère: 15 losses, published as 14"), "{page}");
    let (code, out, _) = report(path, &[&three, "--out", "report", "--json"]);
    assert_eq!((code, json(&out)["contradictions"].as_array().unwrap().len()), (1, 3));
}

#[test]
fn databases_that_cannot_be_reported_are_refused_and_nothing_is_written() {
    let folder = scratch();
    let path = folder.path();
    let good = solved(path, 3, Rule::Misere);
    let copy = |name: &str| -> PathBuf {
        solve(path, name, 3, None, Rule::Misere, |solve| solve);
        path.join(name)
    };
    let with = |code: i32, names: &[&str]| {
        let line = refused(path, code, &[names, &["--out", "report"]].concat());
        assert!(!path.join("report").exists());
        line
    };
    fs::create_dir(path.join("empty")).unwrap();
    for (name, why) in [("nowhere", "does not exist"), ("empty", "contains no finished database")] {
        assert!(with(2, &[&good, name]).contains(&format!("{name} {why}")));
    }
    let rectangle = Board::named("rect:2x3", Takes::ANY).unwrap();
    Solve::new(&rectangle, Rule::Misere).run(&path.join("rectangle")).unwrap();
    let limited = Board::named("triangle:4", Takes { least: Some(2), most: None }).unwrap();
    Solve::new(&limited, Rule::Misere).run(&path.join("limited")).unwrap();
    for (folder, name) in [("rectangle", "rect:2x3"), ("limited", "triangle:4")] {
        let why = format!("solves the board {name}: a report is about triangles without --min-take");
        assert!(with(2, &[&good, folder]).contains(&why));
    }
    let unfinished = copy("unfinished");
    fs::remove_file(unfinished.join("db/SUMS")).unwrap();
    assert!(with(2, &["unfinished"]).contains("unfinished contains no finished database: SUMS is missing"));
    fs::remove_file(unfinished.join("db/manifest.json")).unwrap();
    assert!(with(2, &["unfinished"]).contains("the solve is unfinished"));

    // Any change of the manifest that `SUMS` does not cover.
    change(&copy("changed"), false, lie);
    assert!(
        with(3, &[&good, "changed"])
            .contains("changed/db/manifest.json is damaged: the BLAKE3 of the file, which SUMS lists, is ")
    );
    let sums = copy("sums").join("db/SUMS");
    let text = fs::read_to_string(&sums).unwrap();
    for (bad, expected) in [
        (text.replace("manifest.json", "manifest.jsom"), "the line for manifest.json is missing"),
        (format!("{text}{}", text.lines().last().unwrap()), "manifest.json is named twice"),
        (text.replace("  manifest.json", "0  manifest.json"), "is not a checksum and a name"),
    ] {
        assert!(text != bad);
        fs::write(&sums, bad).unwrap();
        assert!(with(3, &["sums"]).contains(expected), "{expected}");
    }
    // Changes that `SUMS` covers, but that contradict the rest of the manifest, or the start.
    let changes: [(&str, Change); 7] = [
        ("the losses of the blocks do not add up", |manifest| manifest.census.by_pieces[3].losses += 1),
        ("the losses of the blocks do not add up", |manifest| manifest.blocks[0].losses = u64::MAX),
        ("the census row of 2 pieces is impossible", |manifest| manifest.census.by_pieces[2].losses = u64::MAX),
        ("the census row of 2 pieces is impossible", |manifest| manifest.census.by_pieces[2].positions = 14),
        ("the census has 6 rows, expected 7", |manifest| manifest.census.by_pieces.truncate(6)),
        ("the solution digest does not match", |manifest| manifest.blocks[0].digest = "0".repeat(64)),
        ("the census makes the start a win, its block a loss", |manifest| {
            manifest.census.by_pieces[6].losses = 0;
            manifest.blocks[0].losses -= 1;
        }),
    ];
    for (index, (expected, by)) in changes.into_iter().enumerate() {
        let name = format!("liar{index}");
        change(&copy(&name), true, by);
        let line = with(3, &[&name]);
        assert!(line.contains(expected) && line.contains(&name), "{line}");
    }
    // A block of the start with a flipped bit.
    let block = copy("flipped").join("db/000000.blk");
    let mut bytes = fs::read(&block).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&block, bytes).unwrap();
    assert!(with(3, &["flipped"]).contains("000000.blk is damaged"));

    // Two databases of one game with different values.
    change(&copy("other"), true, lie);
    let line = with(2, &[&good, "other"]);
    assert!(line.contains("k3-misere/db and other/db") || line.contains("other/db and k3-misere/db"), "{line}");
    assert!(line.contains("both solve 3 layers, misère and disagree: their censuses differ"), "{line}");
}
