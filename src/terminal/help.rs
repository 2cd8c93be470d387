//! How commands are parsed and shown: the spelling of choices and numbers, shell completions, the
//! order of the options, and the groups of the commands.

use crate::output::ColorChoice;
use crate::programs::PROGRAMS;
use crate::refusal::arguments;
use crate::streams::PatientWriter;
use clap::{Arg, ArgAction, Command, Error, ValueHint};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Order of the headings. Clap shows them in the order of their first arguments.
pub const HEADINGS: [&str; 5] = ["Game", "Resources", "Limits", "Output", "Expert"];

/// The commands and the programs beside trinim by purpose.
pub const GROUPS: [(&str, &[&str]); 7] = [
    ("Solve", &["plan", "solve", "resume", "status", "task"]),
    ("Ask", &["stats", "probe", "play", "serve", "export"]),
    ("Trust", &["verify", "check", "repair"]),
    ("Study", &["papers"]),
    ("Shell", &["completions", "man", "schema"]),
    ("Other", &["plane"]),
    ("games", &["evolve"]),
];

/// The environment variables that the program reads, and their meaning.
pub const VARIABLES: [(&str, &str); 5] = [
    ("TRINIM_THREADS", "value of --threads, unless the option is given"),
    ("TRINIM_MEMORY", "value of --memory, unless the option is given"),
    ("TRINIM_SCRATCH", "value of --scratch, unless the option is given"),
    ("TRINIM_QUIET", "like --quiet, unless it is empty, 0, false or no"),
    ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "whether output is coloured, unless --color is given"),
];

/// Returns a command and its subcommands with arguments ordered by heading, choices in any case,
/// completions by the name of the value, and only the short form of help. Negative numbers are
/// parsed, because the program's parsers refuse them with a better message than clap.
pub fn dressed(command: Command) -> Command {
    let rank = |arg: &Arg| HEADINGS.iter().position(|heading| arg.get_help_heading() == Some(heading));
    let headed = command.get_arguments().filter_map(|arg| Some((rank(arg)?, arg.get_id().clone())));
    let mut headed: Vec<(usize, clap::Id)> = headed.collect();
    headed.sort_by_key(|(rank, _)| *rank);
    // A changed argument moves to the end.
    let sorted = headed.into_iter().fold(command, |command, (_, id)| command.mut_arg(id, |arg| arg));
    let help = Arg::new("help").short('h').long("help").help("Print help").action(ArgAction::HelpShort);
    sorted.mut_args(read).disable_help_flag(true).arg(help).mut_subcommands(dressed)
}

/// Treats an empty environment variable as unset, so that scripts can clear one.
pub fn without_empty_variables(command: Command) -> Command {
    let is_empty = |arg: &Arg| arg.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
    let command = command.mut_args(|arg| if is_empty(&arg) { arg.env(None) } else { arg });
    command.mut_subcommands(without_empty_variables)
}

fn read(arg: Arg) -> Arg {
    if !arg.get_action().takes_values() {
        return arg;
    }
    let hint = match arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str()) {
        Some("DIR" | "FOLDER" | "STORE") => ValueHint::DirPath,
        Some("FILE") => ValueHint::FilePath,
        _ => ValueHint::Other,
    };
    let (is_choice, has_own_words) = (!arg.get_possible_values().is_empty(), arg.is_allow_hyphen_values_set());
    arg.value_hint(hint).ignore_case(is_choice).allow_negative_numbers(!has_own_words)
}

/// Returns the program for its help and version: the commands in groups, including the programs
/// beside trinim, and below each command the options that only a page or a driver uses.
pub fn shown(command: Command, name: &str) -> Command {
    let command = match name {
        "" => command,
        name => command.display_name(format!("trinim-{name}")),
    };
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let mut list = format!("{header}Commands:{header:#}");
    let mut row = |group: &str, name: &str, about: &str| {
        let _ = write!(list, "\n  {header}{group:6}{header:#} {literal}{name:12}{literal:#} {about}");
    };
    let about = |word: &str| match command.find_subcommand(word) {
        Some(command) => command.get_about().map(ToString::to_string),
        None => {
            let found = PROGRAMS.iter().find(|(program, _)| name.is_empty() && *program == word);
            found.map(|(_, about)| (*about).to_owned())
        }
    };
    for (group, names) in GROUPS {
        let known = names.iter().filter_map(|word| Some((word, about(word)?)));
        for ((word, about), number) in known.zip(0..) {
            row(if number == 0 { group } else { "" }, word, &about);
        }
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let end = "The manual pages list exit codes and environment variables; write them with trinim man DIR.";
    command
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\n\nOptions:\n{{options}}{{after-help}}"
        ))
        .after_help(format!("{after}\n\n{end}"))
        .mut_subcommands(with_rest)
}

/// Lists the hidden options of a command and its subcommands at the end of the help.
fn with_rest(command: Command) -> Command {
    let hidden = command.get_arguments().filter(|arg| arg.is_hide_set());
    let hidden: Vec<String> = hidden.filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect();
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let command = match hidden.as_slice() {
        [] => command,
        rest => command.after_help(format!("{after}\n\nMore options, in the manual pages: {}.", rest.join(", "))),
    };
    command.mut_subcommands(with_rest)
}

/// Prints help or version on standard output, with colours if that is a terminal.
///
/// # Errors
/// Returns an error if the text cannot be written.
pub fn print(error: &Error) -> io::Result<()> {
    let text = error.render();
    let text = if ColorChoice::given(&arguments()).on_stdout() { text.ansi().to_string() } else { text.to_string() };
    PatientWriter::stdout().write_all(text.as_bytes())
}
