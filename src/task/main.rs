//! The program `trinim-task`: the command `task` of trinim.

mod commands;

use clap::{Parser, Subcommand};
use commands::TaskArgs;
use std::process::ExitCode;
use terminal::exit::Exit;
use terminal::manual;
use terminal::manual::SchemaArgs;
use terminal::output::Out;
use trinim::cli::program::{self, GlobalArgs, Program};

#[derive(Parser)]
#[command(name = "trinim", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Task(Box<TaskArgs>),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
    Schema(SchemaArgs),
}

fn main() -> ExitCode {
    program::main::<Cli>()
}

impl Program for Cli {
    const NAME: &str = "task";

    fn dressed(command: clap::Command) -> clap::Command {
        command.long_version(concat!(env!("CARGO_PKG_VERSION"), "\nstores   folder, s3"))
    }

    fn global(&self) -> &GlobalArgs {
        &self.global
    }

    fn run(self, out: &mut Out) -> anyhow::Result<Exit> {
        match self.command {
            Command::Task(args) => commands::run(*args, out),
            Command::Completions(args) => manual::complete(args, program::command::<Cli>(), Cli::NAME, out),
            Command::Man(args) => manual::run(args, program::command::<Cli>(), Cli::NAME, out),
            Command::Schema(args) => manual::schema(args, commands::SCHEMAS, out),
        }
    }
}

#[cfg(test)]
mod tests {
    #[path = "../../../tests/common/arguments.rs"]
    mod arguments;

    use super::Cli;
    use trinim::cli::program;

    #[test]
    fn arguments_are_well_formed_and_refused_with_a_command() {
        let command = program::command::<Cli>();
        command.clone().debug_assert();
        arguments::examples_fit_80_columns(&command);
        let tried = arguments::no_refusal_quotes_the_standard_library(&command);
        assert!(tried > 60, "{tried}");
        for (line, hint) in
            [("task ini", "did you mean init?"), ("task --store s", "for example, trinim task --store tasks --batch 0")]
        {
            assert_eq!(arguments::refused(&command, line).1, hint, "{line}");
        }
    }
}
