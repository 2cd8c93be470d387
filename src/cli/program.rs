//! The common part of the programs `trinim`, `trinim-papers`, `trinim-serve` and `trinim-task`:
//! they parse arguments, refuse and report in the same way.
//!
//! Each program beside trinim is one of its commands: `trinim-serve ..` is parsed, and calls
//! itself, `trinim serve ..`.

use crate::cli::board::ranged;
use crate::cli::{folders, hints};
use clap::builder::FalseyValueParser;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, Parser};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use terminal::ending::{self, Ending};
use terminal::exit::Exit;
use terminal::output::{ColorChoice, Out, note};
use terminal::{help, programs, progress, refusal, signals, streams, watch};

/// Options of every command.
#[derive(Args)]
pub struct GlobalArgs {
    /// When to colour output
    #[arg(long, help_heading = "Output", global = true, value_name = "WHEN", value_enum, default_value = "auto")]
    color: ColorChoice,

    /// Print only results, warnings and errors: no progress, no remarks
    #[arg(long, help_heading = "Output", short, global = true, value_parser = FalseyValueParser::new(),
          env = "TRINIM_QUIET", hide_env = true)]
    quiet: bool,
}

/// The arguments of a program, and how it runs.
pub trait Program: Parser {
    /// The command of trinim that this program is; empty for trinim.
    const NAME: &str;

    /// Returns the command with settings that derives cannot express.
    fn dressed(command: Command) -> Command {
        command
    }

    /// The options of every command.
    fn global(&self) -> &GlobalArgs;

    /// Whether the command continues from a checkpoint when it is run again.
    fn continues(&self) -> bool {
        false
    }

    /// Runs the command.
    ///
    /// # Errors
    /// Returns any error of a library or of the terminal; [`hints`] gives its exit code.
    fn run(self, out: &mut Out) -> anyhow::Result<Exit>;
}

/// Returns the command with all its subcommands.
pub fn command<P: Program>() -> Command {
    P::dressed(help::dressed(help::without_empty_variables(ranged(P::command(), ""))))
}

/// Runs a program.
pub fn main<P: Program>() -> ExitCode {
    // First of all, so that no signal finds the program without them.
    signals::install();
    signals::allow_many_files();
    refusal::name_program(P::NAME);
    let exit = run::<P>();
    streams::finish();
    ExitCode::from(exit as u8)
}

fn run<P: Program>() -> Exit {
    let (matches, program) = match parse::<P>() {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    let json_command = ending::json_command(&matches);
    let GlobalArgs { color, quiet } = *program.global();
    let continues = program.continues();
    let mut out = Out::new(color, quiet);
    let result = program.run(&mut out).and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    let ending = match result {
        Ok(exit) => Ending { exit, ..Ending::default() },
        Err(error) => {
            let error = folders::explain(error, &refusal::arguments());
            let ending = hints::ending(&error, continues);
            ending.print(&out);
            // The output has no reader or cannot be written; standard error already says so.
            if let Some(command) = json_command.filter(|_| !error.is::<std::io::Error>()) {
                ending.write(&command, &mut out);
            }
            ending
        }
    };
    watch::ended(ending.exit as u8, ending.exit.is_stop(), &ending.reason, &ending.hint);
    ending.exit
}

/// Parses the arguments. An unknown command of trinim is passed to its program, if there is one. A
/// refusal prints two lines: the reason and a hint.
fn parse<P: Program>() -> Result<(ArgMatches, P), Exit> {
    let given: Vec<OsString> = refusal::arguments_os();
    let whole = command::<P>();
    let parsed = help::shown(whole.clone(), P::NAME).try_get_matches_from(&given).and_then(|matches| {
        progress::watch(&matches);
        let program = P::from_arg_matches(&matches)?;
        Ok((matches, program))
    });
    let print = |ending: Ending| {
        ending.print(&Out::new(ColorChoice::given(&refusal::arguments()), false));
        ending.exit
    };
    let failed = |error: anyhow::Error| print(hints::ending(&error, false));
    parsed.map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match help::print(&error) {
            Ok(()) => Exit::Done,
            Err(error) => failed(error.into()),
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.render().to_string().trim_end().lines().for_each(note);
            Exit::Usage
        }
        kind => {
            let unknown = kind == ErrorKind::InvalidSubcommand && P::NAME.is_empty();
            if let Some(refused) = unknown.then(|| programs::hand_over(whole.clone(), &given)).flatten() {
                return failed(refused.into());
            }
            let (reason, hint) = refusal::explain(&error, &whole, &refusal::arguments());
            let reason = reason.strip_prefix("error: ").unwrap_or(&reason).to_owned();
            print(Ending { exit: Exit::Usage, reason, hint })
        }
    })
}
