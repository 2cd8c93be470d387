//! `trinim evolve export`: a formula as source code.

use super::args::{EvolveGameArgs, FormulaArgs};
use crate::cli::face::exit::Exit;
use crate::cli::face::output::Out;
use crate::cli::face::schema::sorted;
use crate::cli::words::args::JsonArgs;
use crate::cli::words::choice::explained;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use trinim_evolve::export::{Language, export};
use trinim_evolve::graph::Ordering;
use trinim_evolve::simplify::simplify;

const EXAMPLES: &str = "\
Examples:
  trinim evolve export --game nim:4,4,4,4 --formula \"a1^a2^a3^a4\" \\
      --as python > strategy.py
  trinim evolve export --game nim:3,3 --formula \"a1 div a2\" --as python --zero 0
  trinim evolve export --game subtraction:1,2,3:40 --formula \"a1 mod 4\" \\
      --as latex

The code wraps at 32 bits and divides as the formula does, whatever the language does by default.";

const LANGUAGES: &[(Language, &str)] =
    &[(Language::Python, "A function, for Python 3.8 or later"), (Language::Latex, "A formula in math mode")];

/// Print a formula as source code
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    #[command(flatten)]
    game: EvolveGameArgs,

    #[command(flatten)]
    formula: FormulaArgs,

    /// The language
    #[arg(long = "as", value_name = "LANGUAGE", value_parser = explained(LANGUAGES))]
    language: Language,

    /// Drop parts that do not change the value
    #[arg(long)]
    simplify: bool,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim evolve export` prints.
#[derive(Serialize, JsonSchema)]
pub struct Printed {
    /// `--as`.
    language: Language,
    /// The formula.
    formula: String,
    /// The program text.
    code: String,
}

/// Runs the subcommand.
pub fn run(args: ExportArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let chosen = args.game.choose()?;
    let graph = chosen.graph(Ordering::Descending)?;
    let mut formula = args.formula.read(&graph.scope)?;
    if args.simplify {
        formula = simplify(&formula);
    }
    let code = export(&formula, &graph.scope, args.language, args.formula.zero);
    if args.json.json {
        out.json(
            "trinim.evolve.export/1",
            &sorted(&Printed { language: args.language, formula: formula.text(&graph.scope), code })?,
        )?;
    } else {
        out.write_all(code.as_bytes())?;
    }
    Ok(Exit::Done)
}
