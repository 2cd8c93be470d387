//! Arguments that clap refuses: a line with the reason, and a line with a helpful command in the
//! form in which a user types it in a shell.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};
use std::ffi::{OsStr, OsString};
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::sync::OnceLock;

/// Commands whose first argument is the folder of a solve.
const OF_A_FOLDER: [&str; 8] = ["resume", "stats", "probe", "export", "verify", "status", "check", "repair"];
/// Commands of a game.
const OF_PLAY: [&str; 6] = ["hint", "moves", "redo", "replay", "save", "undo"];
/// Commands that take the board as `--layers`.
const OF_A_BOARD: [&str; 2] = ["solve", "plan"];

/// Removed commands, and flags of one command or of any, each with its replacement.
const DROPPED: [(&str, &str, &str); 8] = [
    ("bench", "", "use trinim papers bench"),
    ("layout", "", "use trinim papers layout"),
    ("report", "", "use trinim papers report"),
    ("solve", "--strategy", "use trinim papers solve, which has the strategies of the papers"),
    ("solve", "--redundancy", "use trinim papers solve, which has the strategies of the papers"),
    ("plan", "--strategy", "use trinim papers solve, which has the strategies of the papers"),
    ("puzzle", "", "use the page of trinim serve, which has puzzles"),
    ("", "--metrics-listen", "use --metrics FILE, which a node exporter can collect"),
];

/// Returns the reason and the hint for a refusal; `words` are the arguments of the program.
pub fn explain(error: &Error, command: &Command, words: &[String]) -> (String, String) {
    let text = error.render().to_string();
    let behind = |line: &&str| ["Usage:", "tip:", "For more"].iter().any(|start| line.starts_with(start));
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let reason = lines.take_while(|line| !behind(line)).collect::<Vec<_>>().join(" ");
    let source = std::error::Error::source(error);
    let plain = source.and_then(|source| Some((source.to_string(), in_plain_words(source)?)));
    let reason = match plain {
        Some((raw, plain)) => reason.replace(&raw, plain),
        None => reason,
    };
    let path = path(command, words);
    let reason = by_variable(&reason, error, command, words);
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    // A flag is never meant as a value, although this tip of clap assumes it.
    let tip = tip.filter(|tip| !tip.contains("'-- ")).map(str::to_owned);
    let hint = advice(error, command, &path, words).or(tip).unwrap_or_else(|| help(&path));
    (in_range(&reason), hint)
}

/// If the refused value is from a variable, names the variable in place of the option.
pub fn by_variable(reason: &str, error: &Error, command: &Command, words: &[String]) -> String {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return reason.to_owned() };
    let at = path(command, words).iter().try_fold(command, |at, name| at.find_subcommand(name)).unwrap_or(command);
    let long = option.trim_start_matches('-').split([' ', '=', '[']).next();
    let refused = at.get_arguments().find(|arg| arg.get_long().is_some() && arg.get_long() == long);
    let is_given = |arg: &&Arg| {
        let long = format!("--{}", arg.get_long().unwrap_or_default());
        words.iter().any(|word| *word == long || word.starts_with(&format!("{long}=")))
    };
    let variable = refused.filter(|arg| !is_given(arg)).and_then(Arg::get_env);
    let named = |name: &OsStr| reason.replace(&format!("'{option}'"), &name.to_string_lossy());
    variable.map_or_else(|| reason.to_owned(), named)
}

/// Returns the program's wording for an error of the standard library.
fn in_plain_words(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    if error.is::<ParseFloatError>() {
        return Some("expected a number");
    }
    Some(match error.downcast_ref::<ParseIntError>()?.kind() {
        IntErrorKind::PosOverflow => "the number is too large",
        IntErrorKind::NegOverflow => "the number is too small",
        IntErrorKind::Zero => "expected 1 or more",
        _ => "expected a whole number",
    })
}

/// The command that explains the arguments.
fn help(path: &[&str]) -> String {
    let words: Vec<&str> = ["trinim"].iter().chain(path).copied().chain(["--help"]).collect();
    words.join(" ")
}

/// Returns whether a word before the subcommand is an option of the program, or a value of one.
pub fn is_of_program(word: &str) -> bool {
    word.starts_with('-') || ["auto", "always", "never"].contains(&word)
}

/// The subcommand that the arguments name.
fn path<'a>(command: &Command, words: &'a [String]) -> Vec<&'a str> {
    let (mut path, mut at) = (Vec::new(), command);
    for word in words {
        match at.find_subcommand(word) {
            Some(found) => {
                path.push(word.as_str());
                at = found;
            }
            None if path.is_empty() && is_of_program(word) => {}
            None => break,
        }
    }
    path
}

/// The command that the user probably meant, if there is one.
fn advice(error: &Error, command: &Command, path: &[&str], words: &[String]) -> Option<String> {
    if error.kind() == ErrorKind::InvalidSubcommand {
        let word = error.get(ContextKind::InvalidSubcommand)?.to_string();
        let is_dropped =
            |(command, flag, _): &&(&str, &str, &str)| path.is_empty() && *command == word && flag.is_empty();
        if let Some((.., instead)) = DROPPED.iter().find(is_dropped) {
            return Some((*instead).to_owned());
        }
        let at = path.iter().try_fold(command, |at, name| at.find_subcommand(name))?;
        return Some(match at.get_subcommands().map(Command::get_name).find(|name| is_slip(&word, name)) {
            _ if OF_PLAY.contains(&word.as_str()) => format!("type {word} at the prompt of trinim play"),
            Some(near) => format!("did you mean {near}?"),
            None => help(path),
        });
    }
    let name = path.first().copied()?;
    let about = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(text)) => vec![text.as_str()],
        Some(ContextValue::Strings(texts)) => texts.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    let value = |flags: &[&str]| {
        let at = words.iter().position(|word| flags.contains(&word.as_str()))?;
        words.get(at + 1).map(String::as_str)
    };
    let is_dropped = |(command, flag, _): &&(&str, &str, &str)| ["", name].contains(command) && about.contains(flag);
    if let Some((.., instead)) = DROPPED.iter().find(is_dropped) {
        return Some((*instead).to_owned());
    }
    let is_layers = |text: &str| text.parse::<u32>().is_ok_and(|layers| (1..=10).contains(&layers));
    match error.kind() {
        ErrorKind::UnknownArgument if OF_A_FOLDER.contains(&name) && path.len() == 1 => {
            let flags = ["--layers", "-k", "--rule"];
            let layers = about.first().filter(|flag| flags.contains(flag)).map(|_| value(&flags[..2]));
            let layers = layers?.filter(|layers| is_layers(layers)).unwrap_or("7");
            let rule = value(&["--rule"]).filter(|rule| *rule == "normal").unwrap_or("misere");
            Some(format!("{name} takes the folder of a solve: trinim {name} trinim-k{layers}-{rule}"))
        }
        ErrorKind::UnknownArgument if OF_A_BOARD.contains(&name) && path.len() == 1 => {
            let number = about.first().filter(|text| is_layers(text))?;
            let rest = words.iter().filter(|word| word.as_str() != *number).map(|word| quoted(word));
            let mut rest: Vec<String> = rest.collect();
            let at = rest.iter().position(|word| word == name)?;
            rest.insert(at + 1, format!("--layers {number}"));
            Some(format!("trinim {}", rest.join(" ")))
        }
        ErrorKind::MissingRequiredArgument if OF_A_BOARD.contains(&name) && path.len() == 1 => {
            let is_missing = about.iter().any(|text| text.starts_with("--layers"));
            is_missing.then(|| format!("trinim {name} --layers 7"))
        }
        ErrorKind::MissingRequiredArgument
            if OF_A_FOLDER.contains(&name) && about.iter().all(|text| !text.starts_with("--")) =>
        {
            Some(format!("name the folder of a solve, like trinim {name} trinim-k7-misere"))
        }
        ErrorKind::MissingRequiredArgument => {
            let at = path.iter().try_fold(command, |at, name| at.find_subcommand(name))?;
            let help = at.get_after_help()?.to_string();
            // The explanation of an example follows it.
            let examples = help.lines().filter_map(|line| line.strip_prefix("  trinim ")?.split("  ").next());
            let has = |example: &str, missing: &&str| {
                !missing.starts_with("--") || example.split(' ').any(|word| missing.split(' ').next() == Some(word))
            };
            let fits = |example: &&str| !example.ends_with('\\') && about.iter().all(|missing| has(example, missing));
            examples.into_iter().find(fits).map(|example| format!("for example, trinim {example}"))
        }
        _ => None,
    }
}

/// Returns whether a word probably means another one: its beginning, or with a typo.
pub fn is_slip(word: &str, meant: &str) -> bool {
    meant.starts_with(word) || strsim::osa_distance(word, meant) <= word.len() / 3
}

/// Rewrites a range in the style of the program's own parsers: `0 is not in 1..=1000` as
/// `expected 1 to 1000`.
fn in_range(reason: &str) -> String {
    let parts = reason.split_once(" is not in ").and_then(|(before, range)| {
        let (from, to) = range.split_once("..")?;
        let (start, _) = before.rsplit_once(": ")?;
        let expected = match to.strip_prefix('=').unwrap_or_default() {
            "" => format!("{from} or more"),
            to => format!("{from} to {to}"),
        };
        Some(format!("{start}: expected {expected}"))
    });
    parts.unwrap_or_else(|| reason.to_owned())
}

/// Quotes a word for a shell if necessary; control characters become printable, like `$'\n'`.
pub fn quoted(word: &str) -> String {
    if word.chars().any(char::is_control) {
        let byte = |char: char| match char {
            '\'' | '\\' => format!("\\{char}"),
            char if char.is_control() => char.to_string().bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
            char => char.to_string(),
        };
        return format!("$'{}'", word.chars().map(byte).collect::<String>());
    }
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-./+,:=@%^".contains(char);
    let plain = !word.is_empty() && word.chars().all(is_plain);
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Commands and flags that each program has itself.
const OWN: [&str; 5] = ["completions", "man", "schema", "--version", "-V"];

/// The command of trinim that this program implements.
static COMMAND: OnceLock<&str> = OnceLock::new();

/// Declares that the arguments of this program are those of a command of trinim, unless the name is
/// empty.
pub fn name_program(command: &'static str) {
    let _ = COMMAND.set(command);
}

/// Returns the name of the program and the arguments. A program beside trinim inserts the command
/// that it implements.
pub fn arguments_os() -> Vec<OsString> {
    let mut given: Vec<OsString> = std::env::args_os().collect();
    let is_own = given.get(1).is_some_and(|word| OWN.iter().any(|own| word == own));
    let command = COMMAND.get().filter(|command| !command.is_empty() && !is_own);
    if let Some(command) = command {
        given.splice(..given.len().min(1), ["trinim".into(), command.into()]);
    }
    given
}

/// Returns the arguments of trinim.
pub fn arguments() -> Vec<String> {
    arguments_os().into_iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Returns the command line of this process.
pub fn command_line() -> String {
    command_line_without("")
}

/// Returns that command line without an option and its value.
pub fn command_line_without(option: &str) -> String {
    let (mut line, mut words) = ("trinim".to_owned(), arguments().into_iter());
    while let Some(word) = words.next() {
        match word.strip_prefix(option).filter(|_| !option.is_empty()) {
            // The value is the next word, or follows an equals sign.
            Some("") => drop(words.next()),
            Some(rest) if rest.starts_with('=') => {}
            _ => line += &format!(" {}", quoted(&word)),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(["a/b-1.0", "", "a b", "it's"].map(quoted), ["a/b-1.0", "''", "'a b'", "'it'\\''s'"]);
        assert_eq!(quoted("it's\u{1b}]0;\na\\b"), r"$'it\'s\x1b]0;\x0aa\\b'");
    }
}
