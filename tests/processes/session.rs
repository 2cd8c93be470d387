//! Sessions: command lines with what they print, as plain text.
//!
//! `$` and a line for `sh`, then standard output, standard error with `!` in front, and an exit
//! code that is not 0 after `=`. All lines of a file run in one empty folder and are compared
//! exactly, but for `[..]` within a line and `...` in place of lines. `\` ends a last line that has
//! no end. A line of the shell that is a remark prints nothing; what comes before the first command
//! is a heading. `TRINIM_WRITE_GOLDEN=1` rewrites what differs.
//!
//! A command that is refused, with 2, 7 or 65, has to leave every file as it was.

use crate::command;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What commands say on standard error when the machine is busy.
const ANNOUNCED: [&str; 5] = ["planning", "cutting the board", "ordering the blocks", "counting updates", "searching"];

/// Changes a bit of a file: `flip FILE BYTE`, from its end where that is negative.
const FLIP: &str = r#"flip() {
at=$2; [ $at -ge 0 ] || at=$(($(stat -c %s "$1") + at))
byte=$(od -An -tu1 -j$at -N1 "$1")
printf "\\$(printf %o $((byte ^ 1)))" | dd of="$1" bs=1 seek=$at conv=notrunc status=none
}
"#;

/// Returns a text without what is said on a busy machine.
pub fn unannounced(text: String) -> String {
    ANNOUNCED
        .iter()
        .fold(text, |text, what| text.replace(&format!("{what}...\n"), "").replace(&format!("{what}...\r\n"), ""))
}

/// Where a session runs, and the program that it is about: others of its folder are found, too.
pub struct Place<'a> {
    /// Where lines are run; empty at first.
    pub folder: &'a Path,
    /// Its path.
    pub program: &'a str,
}

impl Place<'_> {
    /// Runs a line of a session: exit code, standard output and standard error.
    pub fn run(&self, line: &str) -> (i32, String, String) {
        let mut shell = command("sh");
        let mut paths = Path::new(self.program).parent().expect("a folder").as_os_str().to_owned();
        paths.push(":");
        paths.push(std::env::var_os("PATH").expect("a PATH"));
        shell.env("PATH", paths);
        shell.env("GOLDEN", Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("golden"));
        let output = shell.arg("-c").arg(format!("{FLIP}{line}")).current_dir(self.folder).output().expect("a shell");
        let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(!error.contains("panicked"), "{line}\n{error}");
        (output.status.code().unwrap_or_else(|| panic!("{line} was killed\n{error}")), out, unannounced(error))
    }

    /// Compares every session of a page, in blocks of code that begin with a command, but for
    /// standard error and for lines that begin with one of these labels. Returns the number of
    /// commands.
    pub fn page(&self, page: &str, varying: &[&str]) -> usize {
        let blocks = page.split("```\n$ ").skip(1).flat_map(|rest| rest.split("\n```").next());
        let commands = blocks.flat_map(|block| block.split("\n$ ")).map(|command| {
            let (line, shown) = command.split_once('\n').unwrap_or((command, ""));
            let is_fixed = |line: &&str| !varying.iter().any(|label| line.starts_with(label));
            let lines = |text: &str| text.trim_end().lines().filter(is_fixed).map(str::to_owned).collect::<Vec<_>>();
            let printed = self.run(line).1;
            let (shown, printed) = (lines(shown), lines(&printed));
            assert!(fits(&shown, &printed), "{line}\nprints\n{}\nand not\n{}", printed.join("\n"), shown.join("\n"));
        });
        commands.count()
    }

    /// Compares a file of sessions.
    ///
    /// # Panics
    /// If a command prints or does something else, with all that differs.
    pub fn file(&self, file: &Path) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut blocks = text.strip_suffix('\n').unwrap_or(&text).split("\n$ ");
        let (mut found, mut wrong) = (blocks.next().unwrap_or_default().to_owned(), String::new());
        for block in blocks {
            let mut expected = block.split('\n').map(str::to_owned);
            let line = expected.next().unwrap_or_default();
            let expected: Vec<String> = expected.collect();
            let before = tree(self.folder);
            let (code, out, error) = self.run(&line);
            let mut printed: Vec<String> = lines(&out, "").chain(lines(&error, "! ")).collect();
            printed.extend((code != 0).then(|| format!("= {code}")));
            if [2, 7, 65].contains(&code) && !line.contains('>') && tree(self.folder) != before {
                wrong += &format!("\n$ {line}\nis refused and changes files\n");
            }
            let is_right = fits(&expected, &printed);
            if !is_right {
                wrong += &format!("\n$ {line}\n{}\nnot\n{}\n", printed.join("\n"), expected.join("\n"));
            }
            let shown = if is_right { expected } else { printed };
            found = [vec![found, format!("$ {line}")], shown].concat().join("\n");
        }
        if std::env::var_os("TRINIM_WRITE_GOLDEN").is_some() {
            fs::write(file, found + "\n").expect("a file of sessions");
        }
        assert!(wrong.is_empty(), "{}: {wrong}", file.display());
    }
}

/// Compares each file of sessions in a folder, all of them at once, each in a folder of its own.
///
/// # Panics
/// If one of them differs.
pub fn files<F: AsRef<Path> + Send>(sessions: &Path, program: &str, scratch: impl Fn() -> F) {
    let names: Vec<PathBuf> =
        fs::read_dir(sessions).expect("sessions").map(|entry| entry.expect("a file").path()).collect();
    assert!(!names.is_empty(), "{}", sessions.display());
    std::thread::scope(|scope| {
        for name in &names {
            let folder = scratch();
            scope.spawn(move || Place { folder: folder.as_ref(), program }.file(name));
        }
    });
}

fn lines<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = String> {
    text.split_inclusive('\n').map(move |line| match line.strip_suffix('\n') {
        Some(line) => format!("{mark}{line}"),
        None => format!("{mark}{line}\\"),
    })
}

/// Whether lines are as expected.
fn fits(expected: &[String], found: &[String]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((any, rest)) if any == "..." => (0..=found.len()).any(|more| fits(rest, &found[more..])),
        Some((line, rest)) => {
            found.split_first().is_some_and(|(first, more)| fits_line(line, first) && fits(rest, more))
        }
    }
}

fn fits_line(expected: &str, found: &str) -> bool {
    let Some((front, rest)) = expected.split_once("[..]") else { return expected == found };
    let Some(found) = found.strip_prefix(front) else { return false };
    found.char_indices().map(|(at, _)| at).chain([found.len()]).any(|at| fits_line(rest, &found[at..]))
}

/// Every regular file below a folder, with its content.
pub fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        if kind.is_dir() {
            files.extend(tree(&path));
        } else if kind.is_file() {
            let content = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            files.insert(path, content);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::{Place, fits, fits_line};
    use std::fs;

    #[test]
    fn lines_fit_only_what_they_leave_open() {
        assert!(fits_line("time [..] ms", "time 3 ms") && fits_line("[..]", "") && fits_line("a[..]c[..]", "abcbc"));
        assert!(!fits_line("time [..] ms", "time 3 s") && !fits_line("a", "ab") && !fits_line("a[..]a", "a"));
        let of = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(fits(&of("a ... c"), &of("a b b c")) && fits(&of("a ..."), &of("a")));
        assert!(!fits(&of("a ... c"), &of("a b")) && !fits(&of("a"), &of("a b")) && !fits(&of("a b"), &of("a")));
    }

    /// What a session shows, and what differs from it or is changed by a refused command.
    #[test]
    fn a_session_is_compared_with_what_happens() {
        let folder = std::env::temp_dir().join(format!("trinim-session.{}", std::process::id()));
        fs::create_dir_all(folder.join("run")).unwrap();
        let run = folder.join("run");
        let place = Place { folder: &run, program: "/bin/sh" };
        let compared = |text: &str| {
            fs::write(folder.join("text"), text).unwrap();
            std::panic::catch_unwind(|| place.file(&folder.join("text"))).is_ok()
        };
        assert!(compared("Words.\n\n$ printf 'a\\nb'\na\nb\\\n$ # A remark.\n$ echo c >&2; exit 3\n! c\n= 3\n"));
        assert!(compared("\n$ printf 'abc' > file; flip file -1; cat file\nabb\\\n"));
        for wrong in ["\n$ echo a\nb\n", "\n$ echo a\na\n\n", "\n$ true\n= 1\n", "\n$ exit 1\n", "\n$ echo a >&2\na\n"]
        {
            assert!(!compared(wrong), "{wrong}");
        }
        assert!(!compared("\n$ touch new; exit 2\n= 2\n") && compared("\n$ exit 2\n= 2\n"));
        assert_eq!(place.page("```\n$ echo a; echo b\na\n..\n```\n```\n$ true\n```\n", &["b", ".."]), 2);
        fs::remove_dir_all(folder).unwrap();
    }
}
