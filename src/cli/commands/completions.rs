//! `trinim completions`: what a shell offers after a Tab.
//!
//! Choices are offered by name, folders where a folder is expected, files where a file is, and
//! nothing where a number is.

use crate::cli::face::exit::Exit;
use crate::cli::face::output::Out;
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;
use std::io::Write;

/// Print completions for a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  trinim completions bash > ~/.local/share/bash-completion/completions/trinim
  trinim completions zsh > ~/.zfunc/_trinim")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Runs `completions`.
pub fn run(args: CompletionsArgs, out: &mut Out) -> anyhow::Result<Exit> {
    // Into memory first: the generator panics if it cannot write.
    let mut text = Vec::new();
    let mut command = crate::cli::command();
    clap_complete::generate(args.shell, &mut command, "trinim", &mut text);
    if args.shell == Shell::Bash {
        text = folders_in_bash(&String::from_utf8_lossy(&text), &command).into_bytes();
    }
    if args.shell == Shell::Fish {
        text.extend(folders_in_fish(&command).into_bytes());
    }
    out.write_all(&text)?;
    Ok(Exit::Done)
}

/// Says of each argument of `command` and its subcommands what a shell should offer, by the name of
/// its value.
pub fn hinted(command: Command) -> Command {
    let hint = |arg: Arg| {
        let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
        let hint = match name.as_deref() {
            _ if !arg.get_action().takes_values() => return arg,
            Some("DIR" | "FOLDER" | "STORE") => ValueHint::DirPath,
            Some("FILE") => ValueHint::FilePath,
            // An order is a name or a file.
            Some("ORDER") => ValueHint::AnyPath,
            _ => ValueHint::Other,
        };
        arg.value_hint(hint)
    };
    command.mut_args(hint).mut_subcommands(hinted)
}

/// The subcommands with an argument that is a folder.
fn of_folders(command: &Command) -> impl Iterator<Item = &Command> {
    let takes_folder =
        |command: &&Command| command.get_positionals().any(|arg| arg.get_value_hint() == ValueHint::DirPath);
    command.get_subcommands().filter(takes_folder)
}

/// Returns the lines that make fish offer folders for an argument that is a folder. The generator
/// says nothing of arguments, and fish then offers files too.
fn folders_in_fish(command: &Command) -> String {
    let line = |command: &Command| {
        let condition = format!("__fish_trinim_using_subcommand {}", command.get_name());
        format!("complete -c trinim -n \"{condition}\" -f -a \"(__fish_complete_directories)\"\n")
    };
    of_folders(command).map(line).collect()
}

/// Makes a script for bash offer folders for an argument that is a folder. The generator offers the
/// options there.
fn folders_in_bash(script: &str, command: &Command) -> String {
    let blocks: Vec<String> =
        of_folders(command).map(|command| format!("trinim__subcmd__{})", command.get_name())).collect();
    let mut is_inside = false;
    let mut text = String::new();
    for line in script.lines() {
        let start = line.trim_start();
        if start.starts_with("trinim__") {
            is_inside = blocks.iter().any(|block| block == start);
        }
        let line = match start {
            _ if !is_inside => line,
            "if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then" => "            if [[ ${cur} == -* ]] ; then",
            // The last statement; the same one deeper inside is for options.
            r#"COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )"# if line.len() - start.len() == 12 => {
                r#"            COMPREPLY=( $(compgen -d -- "${cur}") )"#
            }
            _ => line,
        };
        text += line;
        text.push('\n');
    }
    text
}
