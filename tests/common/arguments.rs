//! Rules for the arguments of every program.

use clap::Command;
use terminal::refusal::explain;

pub fn each(command: &Command, check: &mut impl FnMut(&Command)) {
    check(command);
    command.get_subcommands().for_each(|subcommand| each(subcommand, check));
}

/// Clap wraps the examples, too, and a wrapped example could not be copied.
pub fn examples_fit_80_columns(command: &Command) {
    each(command, &mut |command| {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in text.lines().filter(|line| line.starts_with("  trinim ")) {
            let command = line[2..].split("  ").next().unwrap_or_default();
            assert!(command.len() <= 78 && line.chars().count() <= 100, "{line}");
        }
    });
}

/// The reason and the hint for arguments that are refused.
pub fn refused(command: &Command, line: &str) -> (String, String) {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let all = ["trinim".to_owned()].into_iter().chain(words.clone());
    let error = command.clone().try_get_matches_from(all).unwrap_err();
    explain(&error, command, &words)
}

/// Every number of a flag is refused in plain words. Returns how many were tried.
pub fn no_refusal_quotes_the_standard_library(whole: &Command) -> u32 {
    fn each(whole: &Command, command: &Command, path: &mut Vec<String>, tried: &mut u32) {
        for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
            let Some(flag) = arg.get_long() else { continue };
            for value in ["abc", "", "1x", "-1", "99999999999999999999999", "1e99", "0"] {
                let words = [&path[..], &[format!("--{flag}={value}")]].concat();
                let all = ["trinim".to_owned()].into_iter().chain(words.clone());
                let Err(error) = whole.clone().try_get_matches_from(all) else { continue };
                let (reason, hint) = explain(&error, whole, &words);
                let raw = ["in string", "target type", "literal", "is not in", "..=", "InvalidDigit"];
                assert!(!raw.iter().any(|raw| reason.contains(raw)), "{words:?}: {reason}");
                assert!(!hint.is_empty(), "{words:?}");
                *tried += 1;
            }
        }
        for subcommand in command.get_subcommands() {
            path.push(subcommand.get_name().to_owned());
            each(whole, subcommand, path, tried);
            path.pop();
        }
    }
    let mut tried = 0;
    each(whole, whole, &mut Vec::new(), &mut tried);
    tried
}
