//! Every command that the help, the manual pages and the Markdown pages show is run as it stands
//! there, by a shell, in one folder, in the order of the pages.
//!
//! What is not run to its end is listed in [`LONG`] with a reason: it has to start, and is stopped
//! by SIGTERM. What ends with another code than 0 is listed in [`ENDS`]. A command in running text
//! that has a placeholder, like DIR, has to name flags that its subcommand has.

use crate::common::program::{ends, text};
use crate::common::scratch;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};
use terminal::programs::PROGRAMS;

/// Commands that are stopped by SIGTERM soon after their start, and why. A command is meant if it
/// begins with this text.
const LONG: &[(&str, &str)] = &[
    ("trinim solve --layers 8", "seconds to minutes each"),
    ("trinim solve --layers 9", "hours"),
    ("trinim papers solve --layers 7", "half a minute without optimisation"),
    ("trinim papers bench", "dozens of solves"),
    ("trinim serve", "until it is stopped"),
    ("trinim papers layout --layers 9", "a search"),
    ("trinim papers layout search --layers 9", "a search"),
];

/// How long a command of [`LONG`] runs before it is stopped.
const SHORT_WHILE: Duration = Duration::from_millis(150);

/// Commands that end with another code than 0, and why.
const ENDS: &[(&str, i32, &str)] = &[
    ("trinim papers layout --paper", 1, "a claim of the paper does not hold"),
    ("trinim solve --layers 9 --max-duration 8h --max-disk 200GiB", 4, "if the disk has less free"),
];

/// A command as a page shows it, with the page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Example {
    page: String,
    command: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The subcommands named in a help text. That of trinim has groups in front, and the programs
/// beside it among them.
pub fn subcommands(help: &str) -> Vec<String> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let margin = if help.contains("\n  Solve  ") { 9 } else { 2 };
    let names = list.filter_map(|line| line.get(margin..)?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

/// The help of a command; `None` for a program beside trinim that is not built or has a help of its
/// own kind.
pub fn help(path: &[&str]) -> Option<String> {
    let (code, help, error) = crate::common::program::run(root(), &[path, &["--help"]].concat());
    let usage = ["Usage: trinim"].iter().chain(path).copied().collect::<Vec<_>>().join(" ");
    let is_own = code == 0 && help.contains(&usage);
    assert!(is_own || is_program(path[0]), "{path:?}: {code} {help} {error}");
    is_own.then_some(help)
}

/// Whether a command is a program beside trinim.
pub fn is_program(name: &str) -> bool {
    PROGRAMS.iter().any(|(program, _)| *program == name)
}

/// Whether a command is one of trinim or of a program that is built, as all are by
/// `cargo test --workspace`.
fn is_built(command: &str) -> bool {
    let name = command.split(' ').nth(1).unwrap_or_default();
    let program = Path::new(env!("CARGO_BIN_EXE_trinim")).with_file_name(format!("trinim-{name}"));
    !is_program(name) || program.is_file()
}

/// The words of each subcommand, with its help.
fn helps(path: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    let Some(help) = help(&path.iter().map(String::as_str).collect::<Vec<_>>()) else { return };
    let names = subcommands(&help);
    found.push((path.clone(), help));
    for name in names {
        path.push(name);
        helps(path, found);
        path.pop();
    }
}

/// The examples of a help text: lines with two spaces in front; text after two spaces explains.
/// Deeper lines are explanations, and a line that ends with a backslash goes on in the next.
fn examples(help: &str) -> Vec<String> {
    let mut lines = help.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| !line.is_empty());
    let mut commands = Vec::new();
    while let Some(line) = lines.next() {
        let Some(line) = line.strip_prefix("  ").filter(|line| !line.starts_with(' ')) else { continue };
        let mut command = line.to_owned();
        while command.ends_with('\\') {
            command.pop();
            command.push_str(lines.next().unwrap_or_default().trim_start());
        }
        commands.push(command.split("  ").next().unwrap_or_default().trim_end().to_owned());
    }
    commands
}

/// The examples of the manual pages, with the page.
fn of_manual(folder: &Path) -> Vec<Example> {
    crate::common::program::ends(folder, 0, &["man", "manual"]);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.join("manual")).unwrap().map(Result::unwrap) {
        let roff = fs::read_to_string(entry.path()).unwrap();
        let lines = roff.lines().skip_while(|line| line.trim_matches('"') != ".SH EXAMPLES").skip(1);
        let lines = lines.take_while(|line| !line.starts_with(".SH ") && *line != ".fi");
        let text: Vec<String> = lines.filter(|line| *line != ".nf").map(crate::common::program::plain_roff).collect();
        let page = entry.file_name().into_string().unwrap();
        let commands = examples(&format!("Examples:\n{}", text.join("\n")));
        found.extend(commands.into_iter().map(|command| Example { page: page.clone(), command }));
    }
    found
}

/// Every Markdown page, but the dated records, which show the options of their day.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if path.is_dir() && !name.starts_with('.') && !["target", "record"].contains(&name.as_str()) {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
}

/// The program under other names: from the sources, and where the build leaves it.
fn ours(line: &str) -> Option<String> {
    let line = line.trim_start_matches("$ ");
    let names = ["trinim ", "cargo run --release -- ", "target/release/trinim "];
    let rest = names.iter().find_map(|name| line.strip_prefix(name))?;
    // A remark of the page.
    let rest = rest.split("   #").next().unwrap_or_default();
    Some(format!("trinim {}", rest.trim_end()))
}

/// Commands in the code blocks of a page, and those within its text.
fn of_page(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut blocks, mut inline) = (Vec::new(), Vec::new());
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            blocks.extend(ours(line.trim_start()));
        } else {
            prose.push_str(line);
            // Code in prose may be wrapped.
            prose.push(' ');
        }
    }
    let code = prose.split('`').skip(1).step_by(2);
    inline.extend(code.filter_map(|code| ours(&code.split_whitespace().collect::<Vec<_>>().join(" "))));
    (blocks, inline)
}

/// Whether a command in running text stands for many: it has a placeholder or leaves words out.
fn is_pattern(command: &str) -> bool {
    let is_name = |word: &str| word.chars().all(|char| char.is_ascii_uppercase()) && !word.is_empty();
    let words = command.split(|char: char| !char.is_ascii_alphanumeric());
    command.contains("..") || command.contains('…') || words.into_iter().any(is_name)
}

/// The words of a subcommand at the start of a command, and those after it.
fn split<'a>(command: &'a str, helps: &[(Vec<String>, String)]) -> (&'a str, Vec<&'a str>) {
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let best = helps.iter().filter(|(path, _)| words.len() >= path.len() && path.iter().eq(&words[..path.len()]));
    let length = best.map(|(path, _)| path.len()).max().unwrap_or(0);
    (command, words[length..].to_vec())
}

/// What the examples presuppose: boards under the names of larger ones, and input files.
fn prepare(folder: &Path) {
    let board = |layers: &str, names: &[&str]| {
        ends(folder, 0, &["solve", "--layers", layers, "--block-bits", "12", "--out", names[0]]);
        names[1..].iter().for_each(|name| crate::common::program::copy(&folder.join(names[0]), &folder.join(name)));
    };
    board("3", &["trinim-k3-misere", "unsolved/trinim-k3-misere", "seven"]);
    board("5", &["trinim-k5-misere", "unsolved/trinim-k5-misere"]);
    // Six layers under the name of eight: these examples ask what is in a folder.
    board("6", &["trinim-k8-misere", "run", "k9"]);
    fs::create_dir_all(folder.join("unsolved/benches/record")).unwrap();
    fs::write(folder.join("positions.txt"), "0x7fff\n1/00/000/0000/00000\n").unwrap();
    fs::write(
        folder.join("unsolved/matches.txt"),
        "features matches\nboth: 2 -> one none\none: 1 -> none\nnone: 0 ->\n",
    )
    .unwrap();
    for name in [".local/share/bash-completion/completions", ".local/share/man/man1", ".zfunc"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
}

/// Runs a command in a shell, to its end or for a while.
fn run(folder: &Path, command: &str, most: Option<Duration>) -> (Output, Duration) {
    let binaries = Path::new(env!("CARGO_BIN_EXE_trinim")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = processes::command("sh");
    // The shell becomes the command, so that the signal reaches it.
    let script = if most.is_some() { format!("exec {command}") } else { command.to_owned() };
    shell.args(["-c", &script]).current_dir(folder).env("HOME", folder);
    shell.env("PATH", format!("{}:{path}", binaries.display()));
    let started = Instant::now();
    let child = shell.spawn().unwrap();
    if let Some(most) = most {
        std::thread::sleep(most);
        crate::common::program::signal(&child, "TERM");
    }
    (child.wait_with_output().unwrap(), started.elapsed())
}

/// Runs a shown command and says what is wrong with it.
fn trouble(folder: &Path, shown: &Example) -> Option<String> {
    let Example { page, command } = shown;
    let long = LONG.iter().any(|(start, _)| command.starts_with(start));
    // Where `prepare` leaves boards under other names, a solve would find other parameters.
    let folder = if long { folder.join("unsolved") } else { folder.to_path_buf() };
    // Not every machine has watch, and it never ends: what it repeats is run once.
    let command = command.strip_prefix("watch ").unwrap_or(command);
    let (output, time) = run(&folder, command, long.then_some(SHORT_WHILE));
    let wanted = ENDS.iter().find(|(text, ..)| *text == command).map_or(0, |(_, code, _)| *code);
    let code = output.status.code();
    // A long command was stopped, if it had not finished; a command without handlers, by the
    // signal.
    let is_fine = code == Some(wanted) || long && matches!(code, None | Some(0 | 143));
    if time > Duration::from_secs(1) {
        eprintln!("{time:.1?}  {command}");
    }
    let error = text(&output.stderr);
    // Another program of this machine may listen where the examples do.
    let is_taken = code == Some(4) && command.starts_with("trinim serve") && error.contains("in use");
    let is_fine = (is_fine || is_taken) && !error.contains("panicked") && !error.contains("Usage:");
    (!is_fine).then(|| format!("{page}: {command}\nended with {code:?}, not {wanted}\n{error}"))
}

#[test]
fn every_documented_command_runs_as_it_stands() {
    let folder = scratch();
    let folder = folder.path();
    let mut found = Vec::new();
    helps(&mut Vec::new(), &mut found);
    let mut shown = Vec::new();
    for (path, help) in &found {
        let page = format!("trinim {} --help", path.join(" "));
        shown.extend(examples(help).into_iter().map(|command| Example { page: page.clone(), command }));
    }
    assert!(shown.len() > 80, "{} examples", shown.len());

    let mut trouble_found = Vec::new();
    let mut files = Vec::new();
    pages(root(), &mut files);
    let mut in_pages = 0;
    for file in files {
        let page = file.strip_prefix(root()).unwrap().display().to_string();
        let (blocks, inline) = of_page(&fs::read_to_string(&file).unwrap());
        in_pages += blocks.len();
        for command in blocks.into_iter().chain(inline) {
            let (_, rest) = split(&command, &found);
            if command.contains('\\') || command.strip_prefix("trinim ").is_some_and(is_program) {
                // The first line of a file format, which begins like a command, or a program.
            } else if rest.is_empty() {
                // The name of a subcommand.
                let path: Vec<&str> = command.split(' ').skip(1).collect();
                assert!(found.iter().any(|(known, _)| known.iter().eq(&path)), "{page}: {command}");
            } else if is_pattern(&command) || rest.iter().all(|word| word.starts_with("--")) {
                let words = command.split(' ').skip(1).count() - rest.len();
                let path: Vec<&str> = command.split(' ').skip(1).take(words).collect();
                let help = &found.iter().find(|(known, _)| known.iter().eq(&path)).unwrap().1;
                for flag in rest.iter().filter(|word| word.starts_with("--")) {
                    if !help.contains(flag) {
                        trouble_found.push(format!("{page}: {command}: trinim {} has no {flag}", path.join(" ")));
                    }
                }
            } else {
                shown.push(Example { page: page.clone(), command });
            }
        }
    }
    assert!(in_pages >= 12, "{in_pages} commands in code blocks");

    prepare(folder);
    let mut done = BTreeSet::new();
    for shown in shown {
        if done.insert(shown.command.clone()) && is_built(&shown.command) {
            trouble_found.extend(trouble(folder, &shown));
        }
    }
    let manual = of_manual(folder);
    assert!(manual.len() > 50, "{} examples in the manual", manual.len());
    for Example { page, command } in manual {
        assert!(done.contains(&command), "{page}: {command} did not run");
    }
    for (listed, ..) in ENDS {
        assert!(done.contains(*listed), "no page shows {listed}");
    }
    for (listed, _) in LONG {
        assert!(done.iter().any(|command| command.starts_with(listed)), "no page shows {listed}");
    }
    assert!(trouble_found.is_empty(), "{}", trouble_found.join("\n"));
}
