//! Command line of trinim.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
