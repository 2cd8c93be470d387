//! Manual pages and completions: the generated text is parsed, and a shell tries the completions.

use crate::common::program::ends;
use crate::common::program::plain_roff as plain;
use crate::common::scratch;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use trinim::game::Board;
use trinim::game::position::{self, FORMS};

/// A page by sections: the lines of each, macros included.
fn sections(text: &str) -> BTreeMap<String, Vec<&str>> {
    let mut sections: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        match line.strip_prefix(".SH ") {
            Some(name) => current = name.trim_matches('"').to_owned(),
            None => sections.entry(current.clone()).or_default().push(line),
        }
    }
    sections
}

fn pages(folder: &Path) -> BTreeMap<String, String> {
    ends(folder, 0, &["man", "deep/man"]);
    let files = fs::read_dir(folder.join("deep/man")).unwrap().map(|file| file.unwrap().path());
    files
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect()
}

/// Regression: the pages keep the lines of examples, in a section EXAMPLES, not filled as prose.
#[test]
fn pages_keep_the_lines_of_examples_and_say_codes_and_variables() {
    let folder = scratch();
    let pages = pages(folder.path());
    assert!(pages.len() > 12, "{:?}", pages.keys());
    for (name, text) in pages.iter().filter(|(name, _)| name.ends_with(".1")) {
        let sections = sections(text);
        for wanted in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"] {
            assert!(sections.contains_key(wanted), "{name} has no {wanted}: {:?}", sections.keys());
        }
        assert!(!sections.contains_key("EXTRA"), "{name}");
        let codes: Vec<String> =
            sections["EXIT STATUS"].windows(2).filter(|pair| pair[0] == ".TP").map(|pair| plain(pair[1])).collect();
        assert_eq!(codes, ["0", "1", "2", "3", "4", "5", "6", "7", "65", "75", "129", "130", "143"], "{name}");
        assert!(sections["ENVIRONMENT"].iter().any(|line| plain(line) == "TRINIM_MEMORY"), "{name}");

        let command = name.trim_end_matches(".1");
        let mut args: Vec<&str> = command.split('-').skip(1).collect();
        args.push("--help");
        let help = ends(folder.path(), 0, &args).0;
        let examples = help.split("Examples:\n").nth(1).unwrap().split("\n\n").next().unwrap();
        let page = &sections["EXAMPLES"];
        let (start, end) = (page.iter().position(|line| *line == ".nf"), page.iter().position(|line| *line == ".fi"));
        let shown: Vec<String> = page[start.unwrap() + 1..end.unwrap()].iter().map(|line| plain(line)).collect();
        assert_eq!(shown, examples.lines().collect::<Vec<_>>(), "{name}");
    }
    // The help only names them.
    let solve = pages["trinim-solve.1"].replace("\\-", "-");
    for option in ["--kernel", "--commit-interval", "--parents"] {
        assert!(solve.contains(option), "{option}");
    }
}

/// The page about positions has all forms, and each is the position in its picture.
#[test]
fn the_page_about_positions_shows_what_is_read() {
    let folder = scratch();
    let pages = pages(folder.path());
    let sections = sections(&pages["trinim-positions.7"]);
    let forms: Vec<String> =
        sections["FORMS"].windows(2).filter(|pair| pair[0] == ".TP").map(|pair| plain(pair[1])).collect();
    assert_eq!(forms, FORMS.map(|(_, text)| text));
    let board = Board::triangle(3, None).unwrap();
    for text in forms.iter().flat_map(|form| form.split(" or ")) {
        assert_eq!(position::parse(&board, text).unwrap(), 0b101_111, "{text}");
    }
    let help = ends(folder.path(), 0, &["probe", "--help"]).0;
    assert!(help.contains("trinim-positions(7)") && FORMS.iter().all(|(_, text)| help.contains(text)), "{help}");
}

/// What bash offers for the last of `words`.
fn offered(folder: &Path, words: &[&str]) -> Vec<String> {
    let script = format!(
        "source ./trinim.bash; COMP_WORDS=({}); COMP_CWORD={}; _trinim trinim \"${{COMP_WORDS[-1]}}\" \
         \"${{COMP_WORDS[-2]}}\" 2>/dev/null; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" "),
        words.len() - 1
    );
    let output = processes::command("bash").args(["-c", &script]).current_dir(folder).output().unwrap();
    let mut words: Vec<String> = crate::common::program::text(&output.stdout).lines().map(str::to_owned).collect();
    words.sort();
    words
}

/// Bash offered file names after `--rule` and `--codec`, and files where a folder is expected.
#[test]
fn completions_offer_choices_and_folders() {
    let folder = scratch();
    let path = folder.path();
    fs::create_dir(path.join("run")).unwrap();
    fs::write(path.join("rubbish"), "").unwrap();
    for (shell, wanted) in [
        ("zsh", &["RULE", "misere", "normal", "_files -/"][..]),
        ("fish", &["-l rule", "misere", "zstd1", "__fish_complete_directories"]),
        ("elvish", &["misere", "log-placement"]),
        ("powershell", &["log-placement"]),
    ] {
        let script = ends(path, 0, &["completions", shell]).0;
        for word in wanted {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let script = ends(path, 0, &["completions", "bash"]).0;
    fs::write(path.join("trinim.bash"), script).unwrap();
    let Ok(checked) = processes::command("bash").args(["-n", "trinim.bash"]).current_dir(path).output() else {
        eprintln!("there is no bash here: its completions are not tried");
        return;
    };
    assert!(checked.status.success(), "{}", crate::common::program::text(&checked.stderr));
    assert_eq!(offered(path, &["trinim", "solve", "--rule", ""]), ["misere", "normal"]);
    assert_eq!(offered(path, &["trinim", "solve", "--log-placement", "d"]), ["dedicated"]);
    assert_eq!(offered(path, &["trinim", "plan", "--codec", "rows"]), ["rows-bytes", "rows-huffman"]);
    assert_eq!(offered(path, &["trinim", "play", "--rule", "n"]), ["normal"]);
    assert_eq!(offered(path, &["trinim", "stats", "--j"]), ["--json"]);
    assert_eq!(offered(path, &["trinim", "solve", "--memory", ""]), [""]);
}

/// `-V` and `--version` printed the same line.
#[test]
fn the_long_version_says_what_was_built_and_what_it_runs_on() {
    let folder = scratch();
    let (short, _) = ends(folder.path(), 0, &["-V"]);
    assert_eq!(short, format!("trinim {}\n", env!("CARGO_PKG_VERSION")));
    let (long, _) = ends(folder.path(), 0, &["--version"]);
    assert!(long.starts_with(&short), "{long}");
    let labels: Vec<&str> = long.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(labels, ["built", "formats", "kernels", "codecs"]);
    assert!(long.contains("database 1, run folder 1") && long.contains("portable"), "{long}");
}
