//! The program `trinim-papers`: the command `papers` of trinim.

mod commands;
mod draw;
mod report;

use clap::{Parser, Subcommand};
use commands::{SCHEMAS, bench, layout, solve};
use std::process::ExitCode;
use terminal::exit::Exit;
use terminal::manual;
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
    Papers(PapersArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
    Schema(manual::SchemaArgs),
}

const EXAMPLES: &str = "\
Examples:
  trinim papers solve --layers 6 --strategy retrograde
  trinim papers layout --paper       compare the tables of [SWLK12] with computed ones
  trinim papers report trinim-k7-misere trinim-k7-normal --out report
  trinim papers bench --layers 6,7   measure solves side by side";

/// Solve with the methods of the papers on Triangular Nim, and reproduce their results
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
struct PapersArgs {
    #[command(subcommand)]
    command: PapersCommand,
}

#[derive(Subcommand)]
enum PapersCommand {
    Solve(Box<solve::SolveArgs>),
    Layout(layout::LayoutArgs),
    Report(commands::report::ReportArgs),
    Bench(Box<bench::BenchArgs>),
}

fn main() -> ExitCode {
    program::main::<Cli>()
}

impl Program for Cli {
    const NAME: &str = "papers";

    fn global(&self) -> &GlobalArgs {
        &self.global
    }

    fn run(self, out: &mut Out) -> anyhow::Result<Exit> {
        match self.command {
            Command::Papers(PapersArgs { command }) => match command {
                PapersCommand::Solve(args) => solve::run(*args, out),
                PapersCommand::Layout(args) => layout::run(args, out),
                PapersCommand::Report(args) => commands::report::run(args, out),
                PapersCommand::Bench(args) => bench::run(*args, out),
            },
            Command::Completions(args) => manual::complete(args, program::command::<Cli>(), Cli::NAME, out),
            Command::Man(args) => manual::run(args, program::command::<Cli>(), Cli::NAME, out),
            Command::Schema(args) => manual::schema(args, SCHEMAS, out),
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
        for (line, hint) in [
            ("papers layou -k 5", "did you mean layout?"),
            ("papers solve --layers 5", "for example, trinim papers solve --layers 6 --strategy retrograde"),
            ("papers bench --repeats 2", "for example, trinim papers bench --layers 6,7"),
            (
                "papers report trinim-k7-misere",
                "for example, trinim papers report trinim-k7-misere trinim-k7-normal --out report",
            ),
            ("papers layout -k 5 --frobnicate", "trinim papers layout --help"),
        ] {
            assert_eq!(arguments::refused(&command, line).1, hint, "{line}");
        }
    }
}
