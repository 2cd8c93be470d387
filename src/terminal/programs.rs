//! The programs beside trinim: for an unknown command NAME, trinim runs `trinim-NAME`, as cargo and
//! git do.
//!
//! The program replaces this process, so it gets the same arguments and signals and returns its
//! exit code. It is beside trinim or in an absolute folder of the PATH.

use crate::exit::{Exit, Refused};
use crate::output::ColorChoice;
use clap::{Command, value_parser};
use std::env;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

/// The programs of this repository, and what they do.
pub const PROGRAMS: &[(&str, &str)] = &[
    ("task", "Compute blocks of a solve on many machines"),
    ("papers", "Solve with the methods of the papers, and reproduce their results"),
    ("serve", "Serve positions over HTTP, with a page to play on"),
    ("plane", "Solve Nim on the plane (Wythoff's game), with huge heaps"),
    ("evolve", "Find formulas that tell wins from losses, and check them"),
];

/// Replaces this process by the program of an unknown command, if there is one. Returns the refusal
/// if that program is not installed or cannot be run, and `None` if `arguments` name none.
///
/// `--quiet` and `--color` before the name are passed on as environment variables.
pub fn hand_over(command: Command, arguments: &[OsString]) -> Option<Refused> {
    let command = command.allow_external_subcommands(true).external_subcommand_value_parser(value_parser!(OsString));
    let matches = command.try_get_matches_from(arguments).ok()?;
    let (name, rest) = matches.subcommand().filter(|(name, _)| is_name(name))?;
    let program = format!("trinim-{name}");
    let Some(path) = find(&program) else {
        let is_ours = PROGRAMS.iter().any(|(known, _)| *known == name);
        return is_ours.then(|| {
            let run = format!("in a clone, run cargo run --release -p {program} -- ..");
            let hint = format!("{run}, or install it with cargo install --path src/{name}");
            Refused::new(format!("{program} is not installed"), hint)
        });
    };
    let mut process = std::process::Command::new(&path);
    process.args(rest.get_many::<OsString>("").into_iter().flatten());
    if matches.get_flag("quiet") {
        process.env("TRINIM_QUIET", "1");
    }
    match matches.get_one("color") {
        Some(ColorChoice::Always) => _ = process.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1"),
        Some(ColorChoice::Never) => _ = process.env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1"),
        _ => {}
    }
    let error = process.exec();
    let hint = format!("check that {program} is built for this machine");
    Some(Refused::with(Exit::System, format!("cannot run {}: {error}", path.display()), hint))
}

/// Returns whether a word can be part of a program's name: neither an option nor a path.
fn is_name(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-') && !word.contains('/')
}

/// Returns the program of this name beside this one, or in a folder on the PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    let own = env::current_exe().ok().and_then(|own| Some(own.parent()?.to_owned()));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = own.into_iter().chain(env::split_paths(&path)).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
