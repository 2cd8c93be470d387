//! The same bytes for any threads, budget, placement, codec, time zone, locale, umask, current
//! folder and path.

use crate::report::Sheet;
use crate::setup::Setup;
use crate::subject::Launch;
use crate::tree::files;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Options of a run, commands of a shell before it, and its environment.
struct Surroundings {
    options: &'static str,
    shell: &'static str,
    envs: &'static [(&'static str, &'static str)],
}

const PLAIN: Surroundings = Surroundings { options: "", shell: "", envs: &[] };

pub fn run(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let boards = [("6", "12", "misere"), ("5", "8", "normal"), ("7", "16", "misere")];
    for (layers, bits, rule) in boards.into_iter().take(if setup.ci { 2 } else { 3 }) {
        let base = format!("solve --json --layers {layers} --block-bits {bits} --rule {rule}");
        let mut first: Option<(String, BTreeMap<PathBuf, Vec<u8>>)> = None;
        let surroundings = surroundings();
        for (number, around) in surroundings.iter().enumerate() {
            crate::full::stop_if_asked(setup)?;
            let folder = setup.folder()?;
            let out = folder.join("run");
            let text = format!("{base} {} {} {:?}", around.options, around.shell, around.envs);
            one(setup, sheet, &base, around, &folder, &out, &text, &mut first)?;
            if number == 0 {
                for path in paths(&folder) {
                    one(setup, sheet, &base, &PLAIN, &folder, &path, &format!("{base} in {path:?}"), &mut first)?;
                }
                relative(setup, sheet, &base, &folder, &mut first)?;
            }
            let _ = fs::remove_dir_all(&folder);
        }
    }
    Ok(())
}

fn surroundings() -> Vec<Surroundings> {
    let options = |options| Surroundings { options, ..PLAIN };
    let shell = |shell| Surroundings { shell, ..PLAIN };
    let envs = |envs| Surroundings { envs, ..PLAIN };
    vec![
        PLAIN,
        options("--threads 1"),
        options("--threads 2 --commit-interval 10ms"),
        options("--threads 4 --log-placement shared"),
        options("--threads 7 --log-placement dedicated"),
        options("--memory 40MiB"),
        options("--memory 100MiB --threads 3"),
        options("--memory 2GiB"),
        options("--codec raw"),
        options("--codec gaps --threads 4"),
        options("--codec rows-zstd1"),
        options("--codec rows-huffman"),
        options("--kernel portable"),
        shell("umask 077"),
        shell("umask 000"),
        shell("ulimit -n 800"),
        envs(&[("TZ", "Pacific/Kiritimati")]),
        envs(&[("TZ", "America/Adak"), ("LC_ALL", "C")]),
        envs(&[("LC_ALL", "tr_TR.UTF-8"), ("LANG", "tr_TR.UTF-8")]),
        envs(&[("LC_ALL", "de_DE.UTF-8"), ("RUST_BACKTRACE", "full"), ("MALLOC_PERTURB_", "165")]),
    ]
}

/// Lists paths that break naive programs: a space, a byte that is not UTF-8, quotes and a newline,
/// long names.
fn paths(folder: &Path) -> Vec<PathBuf> {
    let bytes = |bytes: &[u8]| folder.join(OsString::from_vec(bytes.to_vec()));
    let long = (0..12).fold(folder.to_owned(), |path, level| path.join(format!("{level}{}", "l".repeat(150))));
    vec![
        bytes(b"with space"),
        bytes(b"not \xff utf-8"),
        bytes(b"quo'te\"d\nline"),
        bytes("Zoë 三角".as_bytes()),
        bytes(&[b'n'; 200]),
        long,
    ]
}

#[expect(clippy::too_many_arguments, reason = "the account of one case")]
fn one(
    setup: &Setup,
    sheet: &Sheet,
    base: &str,
    around: &Surroundings,
    folder: &Path,
    out: &Path,
    text: &str,
    first: &mut Option<(String, BTreeMap<PathBuf, Vec<u8>>)>,
) -> Result<()> {
    let args: Vec<&OsStr> = base.split_whitespace().chain(around.options.split_whitespace()).map(OsStr::new).collect();
    let mut launch =
        Launch::new(setup, folder, &[&args[..], &["--parents".as_ref(), "--out".as_ref(), out.as_os_str()]].concat());
    for (name, value) in around.envs {
        launch = launch.env(name, *value);
    }
    if !around.shell.is_empty() {
        launch = launch.shell(around.shell.to_owned());
    }
    let ended = launch.run()?;
    sheet.check(ended.code == Some(0), || format!("{text}: {}", ended.summary()));
    compare(sheet, text, out, first)
}

fn compare(
    sheet: &Sheet,
    text: &str,
    out: &Path,
    first: &mut Option<(String, BTreeMap<PathBuf, Vec<u8>>)>,
) -> Result<()> {
    let tree = match files(&out.join("db")) {
        Ok(tree) => tree,
        Err(error) => {
            sheet.fail(format!("{text}: {error:#}"));
            return Ok(());
        }
    };
    sheet.count("equal trees", 1);
    match first {
        None => {
            let mut hash = blake3::Hasher::new();
            for (path, contents) in &tree {
                hash.update(path.to_str().context("plain names")?.as_bytes()).update(&[0]).update(contents);
            }
            sheet.note(format!("{text}: {} files, BLAKE3 of the tree {}", tree.len(), hash.finalize()));
            *first = Some((text.to_owned(), tree));
        }
        Some((name, golden)) => {
            let differs = golden
                .iter()
                .find(|(path, contents)| tree.get(*path) != Some(contents))
                .map(|(path, _)| path.display().to_string());
            let same = tree == *golden;
            sheet.check(same, || format!("{text} differs from {name} in {differs:?}"));
        }
    }
    Ok(())
}

/// Runs from another current folder, with a relative path and with none.
fn relative(
    setup: &Setup,
    sheet: &Sheet,
    base: &str,
    folder: &Path,
    first: &mut Option<(String, BTreeMap<PathBuf, Vec<u8>>)>,
) -> Result<()> {
    let other = setup.folder()?;
    for out in ["deep/er/run", "../elsewhere/./run"] {
        fs::create_dir_all(other.join("here"))?;
        let args: Vec<&str> = base.split(' ').chain(["--parents", "--out", out]).collect();
        let mut launch = Launch::new(setup, folder, &args);
        launch.folder = Some(other.join("here"));
        let ended = launch.run()?;
        sheet.check(ended.code == Some(0), || format!("{base} in {out}: {}", ended.summary()));
        compare(sheet, out, &other.join("here").join(out), first)?;
    }
    fs::remove_dir_all(&other)?;
    Ok(())
}
