//! `trinim completions` and `trinim man`.

use super::exit::Exit;
use super::output::Out;
use clap::Args;
use clap_complete::Shell;
use pipeline::Error;
use std::io::Write;
use std::path::PathBuf;

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

/// Write the manual pages of all subcommands into a folder
#[derive(Args)]
#[command(after_help = "\
Examples:
  trinim man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Folder for the pages, created if missing; existing pages are replaced
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Runs `completions`.
pub fn completions(args: CompletionsArgs, out: &mut Out) -> anyhow::Result<Exit> {
    // Into memory first: the generator panics if it cannot write.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "trinim", &mut text);
    out.write_all(&text)?;
    Ok(Exit::Done)
}

/// Runs `man`.
pub fn man(args: ManArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    clap_mangen::generate_to(super::command(), folder)
        .map_err(|error| Error::io("write manual pages into", folder, error))?;
    out.remark(format_args!("manual pages are in {}", folder.display()));
    Ok(Exit::Done)
}
