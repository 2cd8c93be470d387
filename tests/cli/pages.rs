//! The Markdown pages: every link and every path leads somewhere, prose keeps its width, and what a
//! page shows of the program is what it prints.

use processes::session::{self, Place};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Width of prose, in columns; tables, code and links on a line of their own may be wider.
const COLUMNS: usize = 100;
/// Folders and files that a path in backticks may begin with.
const ROOTS: [&str; 6] = ["src/", "pipeline/", "tests/", "benches/", "tools/", ".ci/"];

struct Page {
    /// Path below the root of the repository.
    name: PathBuf,
    text: String,
}

impl Page {
    /// Lines of prose and tables with their numbers, without fenced code.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut fenced = false;
        (1..).zip(self.text.lines()).filter(move |(_, line)| {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            !fenced && !fence
        })
    }

    /// The place of line `number`, for a message.
    fn place(&self, number: usize) -> String {
        format!("{}:{number}", self.name.display())
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn collect(folder: &Path, pages: &mut Vec<Page>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root()).unwrap().to_path_buf();
        let hidden = path.file_name().unwrap().to_str().unwrap().starts_with('.');
        if path.is_dir() && !hidden && name != Path::new("target") {
            collect(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(Page { name, text: std::fs::read_to_string(&path).unwrap() });
        }
    }
}

fn pages() -> Vec<Page> {
    let mut pages = Vec::new();
    collect(root(), &mut pages);
    assert!(pages.iter().any(|page| page.name == Path::new("README.md")));
    pages
}

/// The targets of the links in a line: the text in parentheses after a bracket.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// The anchor of a heading, as the usual renderers make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut wrong = Vec::new();
    for page in pages() {
        for (number, line) in page.lines() {
            for link in links(line).filter(|link| !link.contains("://")) {
                let (file, heading) = link.split_once('#').unwrap_or((link, ""));
                let own = root().join(&page.name);
                let target = if file.is_empty() { own } else { own.parent().unwrap().join(file) };
                let found = target.exists()
                    && (heading.is_empty()
                        || std::fs::read_to_string(&target)
                            .unwrap()
                            .lines()
                            .any(|line| line.starts_with('#') && anchor(line.trim_start_matches('#')) == heading));
                if !found {
                    wrong.push(format!("{}: {link}", page.place(number)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_path_in_backticks_exists() {
    let mut wrong = Vec::new();
    let mut found = 0;
    // The changelog and the records name files of their time.
    let of_today =
        |page: &Page| page.name != Path::new("CHANGELOG.md") && !page.name.iter().any(|part| part == "record");
    for page in pages().into_iter().filter(of_today) {
        let folder = root().join(page.name.parent().unwrap());
        let prose: Vec<&str> = page.lines().map(|(_, line)| line).collect();
        for word in prose.join("\n").split('`').skip(1).step_by(2) {
            let is_path = ROOTS.iter().any(|root| word.starts_with(root)) && !word.contains(['*', ' ', '\n', '<']);
            if is_path && !root().join(word).exists() && !folder.join(word).exists() {
                wrong.push(format!("{}: {word}", page.name.display()));
            }
            found += usize::from(is_path);
        }
    }
    assert!(found > 50, "only {found} paths");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn prose_ends_at_column_100() {
    let mut wrong = Vec::new();
    for page in pages().iter().filter(|page| !page.name.iter().any(|part| part == "record")) {
        for (number, line) in page.lines() {
            let width = line.chars().count();
            let alone = !line.trim().contains(' ') || line.starts_with(['|', '!']) || line.starts_with("<!--");
            if width > COLUMNS && !alone {
                wrong.push(format!("{}: {width} columns", page.place(number)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The page of the game and the help of `probe` list the same forms of a position.
#[test]
fn the_page_of_the_game_has_every_form_of_a_position() {
    let text = std::fs::read_to_string(root().join("src/game/README.md")).unwrap();
    for (what, texts) in trinim::game::position::FORMS {
        let row = format!("| {what} | `{}` |", texts.replace(" or ", "` or `"));
        assert!(text.lines().any(|line| line == row), "src/game/README.md has no row {row}");
    }
}

/// What a package brings is all that its pages link to: who reads them elsewhere has no repository.
#[test]
fn pages_of_a_package_link_to_what_is_in_it() {
    let packages = [
        ("trinim", ""),
        ("trinim-pipeline", "pipeline"),
        ("trinim-pipeline-testing", "pipeline/testing"),
        ("trinim-game", "src/game"),
        ("trinim-kernel", "src/kernel"),
        ("trinim-plane", "src/plane"),
        ("trinim-evolve", "src/evolve"),
        ("trinim-task", "src/task"),
        ("trinim-terminal", "src/terminal"),
        ("trinim-serve", "src/serve"),
        ("trinim-papers", "src/papers"),
    ];
    let mut wrong = Vec::new();
    for (package, folder) in packages {
        let mut cargo = std::process::Command::new(env!("CARGO"));
        cargo.args(["package", "--list", "--allow-dirty", "--offline", "--package", package]);
        let listed = cargo.current_dir(root()).output().unwrap();
        assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
        let listed = String::from_utf8(listed.stdout).unwrap();
        let files: Vec<&str> = listed.lines().collect();
        assert!(files.contains(&"README.md"), "{package}: {listed}");
        for name in files.iter().filter(|name| name.ends_with(".md")) {
            let text = std::fs::read_to_string(root().join(folder).join(name)).unwrap();
            let page = Page { name: PathBuf::from(name), text };
            for (number, line) in page.lines() {
                for link in links(line).filter(|link| !link.contains("://") && !link.starts_with('#')) {
                    let file = link.split('#').next().unwrap_or_default();
                    let path = resolved(&page.name, file);
                    if !path.is_some_and(|path| files.iter().any(|file| Path::new(file) == path)) {
                        wrong.push(format!("{package}, {}: {link}", page.place(number)));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A figure of a page is what the command beside it prints today.
#[test]
fn figures_of_disk_are_those_that_plan_prints() {
    let text = std::fs::read_to_string(root().join("src/plan/README.md")).unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with("| `trinim plan --layers 9 --memory 1GiB` |"));
    let rows: Vec<&str> = rows.skip(2).take_while(|line| line.starts_with('|')).collect();
    let folder = crate::common::scratch();
    let made = ["--keep database", "--keep book", "--keep counts"].map(|option| {
        let args = format!("plan --layers 9 --memory 1GiB {option} --json");
        let plan = crate::common::program::json(folder.path(), 0, &args.split(' ').collect::<Vec<_>>());
        let chosen = plan["placements"].as_array().unwrap().iter().find(|row| row["placement"] == plan["placement"]);
        let disk = trinim::game::amount::binary(chosen.unwrap()["disk_peak_bytes"].as_u64().unwrap());
        format!("| `{option}` | {disk} |")
    });
    assert_eq!(rows, made);
}

/// The page shows what the program prints, but for what differs from run to run.
#[test]
fn sessions_of_the_page_are_those_of_the_program() {
    let folder = crate::common::scratch();
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    let place = Place { folder: folder.path(), program: crate::PROGRAM };
    assert_eq!(place.page(&page, &["logs ", "memory ", "time "]), 2);
}

/// What is refused, damaged, played, probed and exported, in `sessions`.
#[test]
fn sessions_are_those_of_the_program() {
    session::files(&root().join("tests/cli/sessions"), crate::PROGRAM, crate::common::scratch);
}

/// The times and sizes in a text that have three digits or more: `2.48 s`, `34.4 GiB`.
fn figures(text: &str) -> Vec<String> {
    let words = text.split([' ', '\n', ']']).filter(|word| !["core", "|"].contains(word));
    let words: Vec<&str> = words.map(|word| word.trim_matches(|char: char| !char.is_alphanumeric())).collect();
    let is_measured = |pair: &&[&str]| {
        let (number, unit) = (pair[0], pair[1]);
        let digits = number.trim_start_matches(['0', '.']).chars().filter(char::is_ascii_digit).count();
        let is_size = number.contains('.') && ["KiB", "MiB", "GiB", "TiB", "MB", "GB"].contains(&unit);
        let is_time = ["µs", "ms", "s", "seconds", "minutes", "hours", "days"].contains(&unit);
        digits >= 3 && number.chars().all(|char| char.is_ascii_digit() || ",.".contains(char)) && (is_size || is_time)
    };
    words.windows(2).filter(is_measured).map(|pair| pair.join(" ")).collect()
}

/// A measured figure has one home: another page that has it links to the home. Records and the
/// generated tables of README.md are not looked at.
#[test]
fn a_figure_stands_on_one_page_or_beside_a_link_to_it() {
    let is_dated = |name: &Path| name.iter().any(|part| part == "record" || part == "CHANGELOG.md");
    let mut homes: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    let mut linked = 0;
    for page in pages().into_iter().filter(|page| !is_dated(&page.name)) {
        let lines: Vec<&str> = page.lines().map(|(_, line)| line).collect();
        let mut text = lines.join("\n");
        if page.name == Path::new("README.md") {
            let (before, made) = text.split_once("<!-- made from ").unwrap();
            text = format!("{before}{}", made.split_once("<!-- end of the generated part -->").unwrap().1);
        }
        for paragraph in text.split("\n\n") {
            let files = links(paragraph).filter_map(|link| resolved(&page.name, link.split('#').next()?));
            let targets: String = files.filter_map(|file| std::fs::read_to_string(root().join(file)).ok()).collect();
            for figure in figures(paragraph) {
                if figures(&targets).contains(&figure) {
                    linked += 1;
                } else {
                    homes.entry(figure).or_default().insert(page.name.clone());
                }
            }
        }
    }
    assert!(linked > 3 && homes.len() > 100, "{linked} figures beside a link, {} others", homes.len());
    homes.retain(|_, pages| pages.len() > 1);
    assert!(homes.is_empty(), "{homes:#?}");
}

/// The path that a link in a page means, below the folder of the package.
fn resolved(page: &Path, link: &str) -> Option<PathBuf> {
    let mut path = page.parent()?.to_path_buf();
    for part in link.split('/') {
        match part {
            ".." => path.pop().then_some(())?,
            "." => {}
            name => path.push(name),
        }
    }
    Some(path)
}
