//! What the words of the command line decide before clap parses them.
//!
//! Clap treats a variable like a flag: one that conflicts with a flag on the command line is an
//! error. Here the flag wins, because a variable is a setting for many commands.

use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use std::ffi::OsString;

/// Returns the command that parses `words`, which begin with the name of the program: without the
/// variables that conflict with a flag among the words, and without options as values.
pub fn suited(command: Command, words: &[OsString]) -> Command {
    let command = apart(command, words);
    match bare(command.clone()).ignore_errors(true).try_get_matches_from(words) {
        Ok(matches) => yielding(command, &matches),
        // Help, version and mistakes: a full parse reports them.
        Err(_) => command,
    }
}

/// Removes the variables of all flags.
fn bare(command: Command) -> Command {
    command.mut_args(|arg| arg.env(Resettable::Reset)).mut_subcommands(bare)
}

/// Removes the variables that conflict with a given argument.
fn yielding(command: Command, matches: &ArgMatches) -> Command {
    let given: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine))
        .collect();
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|excluded| excluded.get_id() == other.get_id())
    };
    let yields = |arg: &&Arg| {
        !given.iter().any(|other| other.get_id() == arg.get_id())
            && given.iter().any(|other| excludes(arg, other) || excludes(other, arg))
    };
    let losers: Vec<clap::Id> = command.get_arguments().filter(yields).map(|arg| arg.get_id().clone()).collect();
    // A subcommand that excludes the arguments of its parent excludes their variables.
    let is_alone = command.is_args_conflicts_with_subcommands_set() && matches.subcommand().is_some();
    let command = command.mut_args(|arg| {
        if losers.contains(arg.get_id()) || is_alone && !arg.is_global_set() { arg.env(Resettable::Reset) } else { arg }
    });
    match matches.subcommand() {
        Some((name, matches)) => command.mut_subcommand(name, |subcommand| yielding(subcommand, matches)),
        None => command,
    }
}

/// Makes each flag that takes values like `-a1` refuse the option that follows it in `words`.
fn apart(command: Command, words: &[OsString]) -> Command {
    let shorts = shorts(&command);
    let followed: Vec<String> = words
        .windows(2)
        .filter_map(|pair| {
            let flag = pair[0].to_str()?.strip_prefix("--")?;
            is_option(pair[1].to_str()?, &shorts).then(|| flag.to_owned())
        })
        .collect();
    if followed.is_empty() { command } else { without_hyphens(command, &followed) }
}

fn without_hyphens(command: Command, flags: &[String]) -> Command {
    let refuse = |arg: Arg| {
        let is_followed = arg.get_long().is_some_and(|long| flags.iter().any(|flag| flag == long));
        if is_followed && arg.is_allow_hyphen_values_set() { arg.allow_hyphen_values(false) } else { arg }
    };
    command.mut_args(refuse).mut_subcommands(|subcommand| without_hyphens(subcommand, flags))
}

/// The short flags of a command and its subcommands.
fn shorts(command: &Command) -> Vec<char> {
    let own = command.get_arguments().filter_map(Arg::get_short);
    own.chain(command.get_subcommands().flat_map(shorts)).chain(['h', 'V']).collect()
}

/// Whether a word is an option, not a formula like `-a1`, `-(a1)` or `--a1`.
fn is_option(word: &str, shorts: &[char]) -> bool {
    if let Some(long) = word.strip_prefix("--") {
        let is_heap = long.strip_prefix('a').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        return long.is_empty() || long.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_heap;
    }
    let mut short = word.strip_prefix('-').unwrap_or_default().chars();
    short.next().is_some_and(|first| shorts.contains(&first)) && short.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_told_from_formulas() {
        for word in ["--json", "--chromosome=1: a1", "--", "-h", "-q"] {
            assert!(is_option(word, &['h', 'q']), "{word}");
        }
        for word in ["-a1", "-(a1 + 2)", "-3,4", "--a1", "--(a1)", "-", "-n", "a1", "-1", "-hq"] {
            assert!(!is_option(word, &['h', 'q']), "{word}");
        }
    }

    /// Any two flags of which one excludes the other, where the other is set by its variable.
    #[test]
    fn every_variable_yields_to_every_flag_that_excludes_it() {
        fn pairs(command: &Command, path: &[&str], found: &mut u32) {
            for subcommand in command.get_subcommands() {
                pairs(subcommand, &[path, &[subcommand.get_name()]].concat(), found);
            }
            for one in command.get_arguments() {
                for other in command.get_arg_conflicts_with(one) {
                    for (flag, variable) in [(one, other), (other, one)] {
                        let Some(long) = flag.get_long() else { continue };
                        let value = if flag.get_action().takes_values() { "=1" } else { "" };
                        let words: Vec<OsString> =
                            path.iter().map(OsString::from).chain([format!("--{long}{value}").into()]).collect();
                        let mut suited = suited(crate::cli::command(), &words);
                        let mut at = &mut suited;
                        for name in &path[1..] {
                            at = at.find_subcommand_mut(name).unwrap();
                        }
                        let env = |id: &clap::Id| {
                            at.get_arguments().find(|arg| arg.get_id() == id).and_then(Arg::get_env).is_some()
                        };
                        assert!(env(flag.get_id()), "{words:?}");
                        assert!(!env(variable.get_id()), "{words:?} and {:?}", variable.get_env());
                        *found += 1;
                    }
                }
            }
        }
        let mut found = 0;
        pairs(&crate::cli::command(), &["trinim"], &mut found);
        assert!(found > 40, "{found}");
    }
}
