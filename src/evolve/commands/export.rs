//! `trinim-evolve export`: a formula as source code.

use super::args::{FormulaArgs, GameArgs};
use super::output::{named, write_sorted};
use clap::Args;
use serde_json::json;
use std::io::Write;
use trinim_evolve::export::{Language, export};
use trinim_evolve::language::simplify;

const EXAMPLES: &str = "\
Examples:
  trinim-evolve export --game nim:4,4,4,4 --formula \"a1^a2^a3^a4\" \\
      --as python > strategy.py
  trinim-evolve export --game nim:3,3 --formula \"a1 div a2\" --as python --zero 0
  trinim-evolve export --game subtraction:1,2,3:40 --formula \"a1 mod 4\" \\
      --as latex

The code wraps at 32 bits and divides as the formula does, whatever the language does by default.";

/// Print a formula as source code
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    #[command(flatten)]
    game: GameArgs,

    #[command(flatten)]
    formula: FormulaArgs,

    /// Language: python (a function for 3.8 or later) or latex (math mode)
    #[arg(long = "as", value_parser = named::<Language>)]
    language: Language,

    /// Drop parts that do not change the value
    #[arg(long)]
    simplify: bool,
}

pub fn run(args: &ExportArgs, json: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let scope = args.game.read()?.game.scope();
    let mut formula = args.formula.read(&scope)?;
    if args.simplify {
        formula = simplify(&formula);
    }
    let code = export(&formula, &scope, args.language, args.formula.zero);
    if json {
        let report = json!({ "language": args.language, "formula": formula.text(&scope), "code": code });
        write_sorted(out, "trinim.evolve.export/1", report)?;
    } else {
        write!(out, "{code}")?;
    }
    Ok(0)
}
