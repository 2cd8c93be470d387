//! `trinim completions`: what a shell offers after a Tab.
//!
//! Choices are offered by name, folders where an option takes a folder, files where it takes a file,
//! and nothing where it takes a number.

use crate::cli::face::exit::Exit;
use crate::cli::face::output::Out;
use clap::Args;
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
    out.write_all(&text)?;
    Ok(Exit::Done)
}
