//! The program `trinim-serve`: answers over HTTP, and a page to play on.
//!
//! Every answer depends only on the request and on files that never change. Requests cannot name
//! files: all boards are opened at the start. Only positions that take long to solve have answers
//! that change with time: `deep.rs` reports the progress until there is a value.
//!
//! # Limits
//! Connections, their heads, idle and stalled clients: `server.rs`. Requests that look up values at
//! the same time: `app.rs`. Body, positions and time of one request: `batch.rs`.
#![forbid(unsafe_code)]

mod answer;
mod api;
mod app;
mod batch;
#[cfg(test)]
#[path = "../../tests/common/books.rs"]
mod books;
mod connections;
mod deep;
mod draw;
mod health;
mod line;
mod offer;
mod origin;
mod reply;
mod request;
mod router;
mod server;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use terminal::exit::Exit;
use terminal::manual;
use terminal::output::Out;
use trinim::cli::program::{self, GlobalArgs, Program};

/// Answers positions of solved removal games over HTTP.
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
    Serve(server::ServeArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

fn main() -> ExitCode {
    program::main::<Cli>()
}

impl Program for Cli {
    const NAME: &str = "serve";

    fn global(&self) -> &GlobalArgs {
        &self.global
    }

    fn run(self, out: &mut Out) -> anyhow::Result<Exit> {
        match self.command {
            Command::Serve(args) => server::run(args, out),
            Command::Completions(args) => manual::complete(args, program::command::<Cli>(), Cli::NAME, out),
            Command::Man(args) => manual::run(args, program::command::<Cli>(), Cli::NAME, out),
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
        assert!(tried > 10, "{tried}");
        assert_eq!(arguments::refused(&command, "serve --frobnicate").1, "trinim serve --help");
    }
}
