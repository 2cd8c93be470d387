//! `trinim evolve export`: a formula as source code.

use super::super::args::JsonArgs;
use super::super::exit::Exit;
use super::super::output::Out;
use super::args::{EvolveGameArgs, FormulaArgs, formula};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::Write;
use trinim::evolve::export::{Language, export};
use trinim::evolve::graph::Ordering;
use trinim::evolve::simplify::simplify;

const EXAMPLES: &str = "\
Examples:
  trinim evolve export --game nim:4,4,4,4 --formula \"a1^a2^a3^a4\" --as rust > strategy.rs
  trinim evolve export --game subtraction:1,2,3:40 --formula \"a1 mod 4\" --as python
  trinim evolve export --game nim:3,3 --formula \"a1 div a2\" --as c --zero 0

The code wraps at 32 bits and divides as the formula does, whatever the language would do by itself.";

/// Print a formula as source code
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    #[command(flatten)]
    game: EvolveGameArgs,

    #[command(flatten)]
    formula: FormulaArgs,

    /// The language
    #[arg(long = "as", value_name = "LANGUAGE", value_enum)]
    language: LanguageName,

    /// Drop what has no influence on the value
    #[arg(long)]
    simplify: bool,

    #[command(flatten)]
    json: JsonArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LanguageName {
    /// A function that returns Option<i32>
    Rust,
    /// A function
    Python,
    /// A function that returns whether there is a value
    C,
    /// A formula in math mode
    Latex,
}

/// Runs the subcommand.
pub fn run(args: ExportArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let chosen = args.game.choose()?;
    let (graph, _) = chosen.graph(Ordering::Descending)?;
    let mut formula = formula(&graph.scope, &args.formula.formula)?;
    if args.simplify {
        formula = simplify(&formula);
    }
    let language = match args.language {
        LanguageName::Rust => Language::Rust,
        LanguageName::Python => Language::Python,
        LanguageName::C => Language::C,
        LanguageName::Latex => Language::Latex,
    };
    let code = export(&formula, &graph.scope, language, args.formula.zero);
    if args.json.json {
        let name = args.language.to_possible_value().map(|name| name.get_name().to_owned());
        out.json(&json!({ "language": name, "formula": formula.text(&graph.scope), "code": code }))?;
    } else {
        out.write_all(code.as_bytes())?;
    }
    Ok(Exit::Done)
}
