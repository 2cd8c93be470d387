//! The environment variable of every flag.
//!
//! A flag with one meaning in all commands that have it is set by `TRINIM_` and its name, like
//! `TRINIM_MEMORY`. Where commands differ in what a flag means, each has its own variable, with the
//! command before the flag: `TRINIM_SOLVE_OUT`, `TRINIM_PLANE_PLAY_SEED`.
//!
//! The help defines the meaning: the name of the value and the first clause of the text, up to a
//! semicolon or bracket. The rest (a default, a list, a remark) may differ between commands.

use clap::builder::FalseyValueParser;
use clap::{Arg, ArgAction, Command};
use std::collections::{BTreeMap, BTreeSet};

/// Prefix of all variables.
const PREFIX: &str = "TRINIM";

/// Meanings of each flag, by its long name.
type Meanings = BTreeMap<String, BTreeSet<Meaning>>;

/// Name of the value, if the flag takes one, and the first clause of the help.
type Meaning = (Option<String>, String);

/// Gives each long flag of `command` and its subcommands a variable, lets it take negative numbers,
/// because its parser rejects them with a better message than clap, and choices in any case.
pub fn given(command: Command) -> Command {
    let mut meanings = Meanings::new();
    gather(&command, &mut meanings);
    assign(command, PREFIX, &meanings)
}

fn gather(command: &Command, meanings: &mut Meanings) {
    for arg in command.get_arguments() {
        if let Some(flag) = arg.get_long() {
            meanings.entry(flag.to_owned()).or_default().insert(meaning(arg));
        }
    }
    command.get_subcommands().for_each(|subcommand| gather(subcommand, meanings));
}

fn meaning(arg: &Arg) -> Meaning {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let clause = help.split(';').next().and_then(|text| text.split(" [").next()).unwrap_or_default();
    let value = arg.get_value_names().and_then(|names| names.first());
    // A list has the meaning of its elements.
    (value.map(|name| name.trim_end_matches(",..").to_owned()), clause.to_owned())
}

fn assign(command: Command, prefix: &str, meanings: &Meanings) -> Command {
    let give = |arg: Arg| {
        let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
        let has_own_words = arg.is_allow_hyphen_values_set();
        // A variable set to `0`, `false` or `no` leaves a flag without a value unset.
        let arg = if is_flag {
            arg.value_parser(FalseyValueParser::new())
        } else {
            arg.allow_negative_numbers(!has_own_words)
        };
        let is_choice = !is_flag && !arg.get_possible_values().is_empty();
        let arg = if is_choice { arg.ignore_case(true) } else { arg };
        let Some(flag) = arg.get_long() else { return arg };
        let prefix = if meanings.get(flag).is_some_and(|all| all.len() > 1) { prefix } else { PREFIX };
        let variable = capitals(&format!("{prefix}_{flag}"));
        // Help and manual pages never show the current environment.
        arg.env(variable).hide_env_values(true)
    };
    command.mut_args(give).mut_subcommands(|subcommand| {
        let prefix = format!("{prefix}_{}", subcommand.get_name());
        assign(subcommand, &prefix, meanings)
    })
}

fn capitals(name: &str) -> String {
    name.replace('-', "_").to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each flag with the path of its command, like `PLANE PLAY`.
    fn flags<'a>(command: &'a Command, path: &str, found: &mut Vec<(String, &'a Arg)>) {
        let own = command.get_arguments().filter(|arg| arg.get_long().is_some());
        found.extend(own.map(|arg| (path.to_owned(), arg)));
        for subcommand in command.get_subcommands() {
            flags(subcommand, format!("{path} {}", subcommand.get_name()).trim(), found);
        }
    }

    fn variable(arg: &Arg) -> &str {
        arg.get_env().and_then(|variable| variable.to_str()).expect("every flag has a variable")
    }

    #[test]
    fn no_variable_has_two_meanings() {
        let command = crate::cli::command();
        let mut found = Vec::new();
        flags(&command, "", &mut found);
        let mut variables: BTreeMap<&str, Vec<(&str, &Arg)>> = BTreeMap::new();
        for (path, arg) in &found {
            variables.entry(variable(arg)).or_default().push((path, arg));
        }
        for (variable, args) in variables {
            let (first_path, first) = args[0];
            let is_list =
                |arg: &Arg| arg.get_value_delimiter().is_some() || matches!(arg.get_action(), ArgAction::Append);
            for (path, arg) in &args {
                let at = format!("{variable}: {first_path} and {path}");
                assert_eq!(arg.get_long(), first.get_long(), "{at}");
                assert_eq!(meaning(arg), meaning(first), "{at}");
                assert_eq!(arg.get_action().takes_values(), first.get_action().takes_values(), "{at}");
                if !is_list(arg) && !is_list(first) {
                    assert_eq!(arg.get_value_parser().type_id(), first.get_value_parser().type_id(), "{at}");
                    let values = |arg: &Arg| {
                        arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect::<Vec<_>>()
                    };
                    assert_eq!(values(arg), values(first), "{at}");
                }
            }
        }
    }

    #[test]
    fn a_variable_is_named_after_its_flag_and_its_command_where_that_matters() {
        let command = crate::cli::command();
        let mut found = Vec::new();
        flags(&command, "", &mut found);
        for (path, arg) in &found {
            let flag = arg.get_long().unwrap_or_default();
            let [short, long] = [format!("TRINIM {flag}"), format!("TRINIM {path} {flag}")]
                .map(|name| name.replace(['-', ' '], "_").to_uppercase());
            assert!([short, long].contains(&variable(arg).to_owned()), "{path} --{flag}: {}", variable(arg));
        }
        let of = |path: &str, flag: &str| {
            let one = found.iter().find(|(of, arg)| of == path && arg.get_long() == Some(flag));
            variable(one.unwrap_or_else(|| panic!("{path} --{flag}")).1).to_owned()
        };
        for path in ["solve", "plan", "bench"] {
            for flag in ["layers", "rule", "memory", "threads", "codec", "log-placement", "block-bits", "bid-cells"] {
                assert_eq!(of(path, flag), capitals(&format!("TRINIM_{flag}")), "{path}");
            }
        }
        for path in ["verify", "check", "repair", "evolve run", "evolve experiment"] {
            assert_eq!(of(path, "threads"), "TRINIM_THREADS", "{path}");
        }
        assert_eq!(
            [of("", "color"), of("stats", "json"), of("plane at", "json")],
            ["TRINIM_COLOR", "TRINIM_JSON", "TRINIM_JSON"]
        );
        // If two of these shared a variable, a command would refuse it or write where another
        // reads.
        let apart = [
            ("solve", "out"),
            ("plan", "out"),
            ("report", "out"),
            ("bench", "out"),
            ("stats", "csv"),
            ("bench", "csv"),
            ("plane points", "count"),
            ("evolve run", "count"),
            ("layout", "order"),
            ("solve", "order"),
            ("solve", "strategy"),
            ("plane play", "strategy"),
            ("verify", "seed"),
            ("plane play", "seed"),
            ("evolve run", "max"),
            ("plane verify", "max"),
            ("evolve run", "zero"),
            ("evolve score", "zero"),
        ];
        for (path, flag) in apart {
            assert_eq!(of(path, flag), capitals(&format!("TRINIM {path} {flag}")).replace(' ', "_"));
        }
    }
}
