//! The arguments of the program: help, headings, hints and refusals.

#[path = "../tests/common/arguments.rs"]
mod arguments;

use super::Cli;
use clap::Command;
use std::collections::BTreeSet;
use terminal::help::{GROUPS, HEADINGS, shown};
use terminal::programs::PROGRAMS;
use trinim::cli::program;

fn command() -> Command {
    program::command::<Cli>()
}

#[test]
fn the_command_is_well_formed() {
    command().debug_assert();
}

#[test]
fn every_command_is_in_one_group() {
    let command = command();
    let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    let mut known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    listed.sort_unstable();
    known.extend(PROGRAMS.iter().map(|(name, _)| *name));
    known.sort_unstable();
    assert_eq!(listed, known);
}

#[test]
fn headings_are_in_order_and_help_is_short() {
    let mut command = shown(command(), "").term_width(100);
    let solve = command.find_subcommand_mut("solve").unwrap();
    let help = solve.render_help().to_string();
    let places = HEADINGS.map(|heading| help.find(&format!("\n{heading}:\n")).unwrap());
    assert!(places.is_sorted(), "{help}");
    assert!(help.lines().count() <= 100, "{}:\n{help}", help.lines().count());
    assert!(help.contains("--kernel") && !help.contains("--kernel <"), "{help}");
    let help = command.render_help().to_string();
    assert!(help.lines().count() <= 40, "{}:\n{help}", help.lines().count());
}

#[test]
fn examples_fit_80_columns() {
    arguments::examples_fit_80_columns(&command());
}

#[test]
fn four_flags_have_a_variable() {
    let mut found = BTreeSet::new();
    arguments::each(&command(), &mut |command| {
        let variables = command.get_arguments().filter_map(|arg| Some((arg.get_long()?, arg.get_env()?)));
        for (flag, variable) in variables {
            assert_eq!(variable.to_str().unwrap(), format!("TRINIM_{}", flag.to_uppercase()));
            found.insert(flag.to_owned());
        }
    });
    assert!(found.iter().eq(["memory", "quiet", "scratch", "threads"]), "{found:?}");
}

/// Regression: these hints were not commands, or wrong.
#[test]
fn hints_are_commands_with_their_arguments() {
    for (line, hint) in [
        ("status --layers 7", "status takes the folder of a solve: trinim status trinim-k7-misere"),
        ("verify -k 8 --rule normal", "verify takes the folder of a solve: trinim verify trinim-k8-normal"),
        ("solve 7", "trinim solve --layers 7"),
        ("-q plan 9 --memory 8GiB", "trinim -q plan --layers 9 --memory 8GiB"),
        ("solve", "trinim solve --layers 7"),
        ("probe", "name the folder of a solve, like trinim probe trinim-k7-misere"),
        ("solve --layers 7 --frobnicate", "trinim solve --help"),
        ("bench --layers 5", "use trinim papers bench"),
        ("layout search --layers 9 --bits 13", "use trinim papers layout"),
        ("--frobnicate", "trinim --help"),
        ("replay g.txt", "type replay at the prompt of trinim play"),
        ("slove --layers 7", "did you mean solve?"),
        ("frobnicate", "trinim --help"),
        ("man", "for example, trinim man ~/.local/share/man/man1"),
        ("solve -k 5 --strategy forward", "use trinim papers solve, which has the strategies of the papers"),
        ("-q report trinim-k7-misere", "use trinim papers report"),
        ("puzzle --layers 4", "use the page of trinim serve, which has puzzles"),
        ("verify x --metrics-listen 127.0.0.1:0", "use --metrics FILE, which a node exporter can collect"),
        ("export trinim-k7-misere --seed 3", "trinim export --help"),
        ("solve --layer 7", "a similar argument exists: '--layers'"),
    ] {
        assert_eq!(arguments::refused(&command(), line).1, hint, "{line}");
    }
}

#[test]
fn no_refusal_quotes_the_standard_library() {
    let tried = arguments::no_refusal_quotes_the_standard_library(&command());
    assert!(tried > 300, "{tried}");
}
