//! Help as it is printed: an example is never wrapped, so that each line can be copied as a
//! command.
//!
//! Clap wraps the text after the options at spaces, wherever the width of the terminal ends. So the
//! spaces of an example are hidden from it as no-break spaces and restored in what it rendered.

use crate::cli::face::output::ColorChoice;
use clap::{Command, Error};
use std::io::{self, Write};

/// What stands for a space within an example while clap wraps the text.
const NO_BREAK: &str = "\u{a0}";

/// Returns the command with examples that clap does not wrap, for it and its subcommands.
pub fn unbroken(command: Command) -> Command {
    let command = match command.get_after_help().map(|text| shielded(&text.ansi().to_string())) {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.mut_subcommands(unbroken)
}

/// Shields the indented lines: examples, and the table of exit codes with its columns.
fn shielded(text: &str) -> String {
    let line = |line: &str| if is_example(line) { line.replace(' ', NO_BREAK) } else { line.to_owned() };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn is_example(line: &str) -> bool {
    let code = line.trim_start().split(' ').next().unwrap_or_default();
    line.starts_with("  ") && code.parse::<u8>().is_err()
}

/// Returns the rendered text without colours.
pub fn plain(error: &Error) -> String {
    error.render().to_string().replace(NO_BREAK, " ")
}

/// Prints help or version on standard output, with colours if that is a terminal.
///
/// # Errors
/// Returns an error if the text cannot be written.
pub fn print(error: &Error) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let text = if ColorChoice::Auto.on_stdout() {
        error.render().ansi().to_string().replace(NO_BREAK, " ")
    } else {
        plain(error)
    };
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 80 columns the help of `evolve run` broke an example before `--preset`.
    #[test]
    fn examples_keep_to_their_lines_at_any_width() {
        fn examples(command: &Command) -> Vec<String> {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            text.lines().filter(|line| is_example(line)).map(str::to_owned).collect()
        }
        fn check(command: Command, width: usize) -> usize {
            let wanted = examples(&command);
            let mut shown = unbroken(command.clone()).term_width(width);
            let help = shown.render_help().to_string().replace(NO_BREAK, " ");
            for line in &wanted {
                assert!(help.lines().any(|shown| shown == line), "{line}\n{help}");
            }
            wanted.len() + command.get_subcommands().cloned().map(|command| check(command, width)).sum::<usize>()
        }
        for width in [40, 80, 100] {
            assert!(check(crate::cli::command(), width) > 80);
        }
    }
}
