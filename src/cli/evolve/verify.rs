//! `trinim evolve verify`: whether a formula is right, and for how many heaps.

use super::super::args::JsonArgs;
use super::super::exit::Exit;
use super::super::output::{Out, grouped};
use super::args::{EvolveGameArgs, FormulaArgs, StatesArgs, formula, held_out, refused};
use super::run::heap_max;
use super::run_report::{standing_json, standing_text};
use clap::Args;
use serde_json::json;
use trinim::evolve::check::Standing;
use trinim::evolve::graph::Ordering;
use trinim::evolve::simplify::simplify;

const EXAMPLES: &str = "\
Examples:
  trinim evolve verify --game nim:4,4,4,4 --formula \"(a1^a2^a3)-a4\" --max 15
  trinim evolve verify --game wythoff:10 --formula \"phi(a2-a1)-a1\" --states ascending --max 200
  trinim evolve verify --game nim:4,4,4 --misere --formula \"a1^a2^a3\"

Formulas of + - and or xor not, constants and products with constants are decided for all heaps of Nim and Moore's \
Nim. The exit code is 1 if the formula is wrong.";

/// Check a formula on all positions up to a size, and prove it if possible
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    #[command(flatten)]
    game: EvolveGameArgs,

    #[command(flatten)]
    formula: FormulaArgs,

    #[command(flatten)]
    states: StatesArgs,

    /// Largest heap [default: up to four times the largest heap of the game]
    #[arg(long, value_name = "B", value_parser = heap_max)]
    max: Option<i32>,

    #[command(flatten)]
    json: JsonArgs,
}

/// Runs the subcommand.
pub fn run(args: VerifyArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let chosen = args.game.choose()?;
    let ordering = args.states.states.unwrap_or(Ordering::All);
    // This checks the database, and reports errors about the game before those about the formula.
    let (graph, _) = chosen.graph(ordering)?;
    let formula = formula(&graph.scope, &args.formula.formula)?;
    let held = held_out(&chosen, ordering, args.max)?;
    let standing = held.standing(&formula, args.formula.zero);
    let text = formula.text(&graph.scope);
    if args.json.json {
        out.json(&json!({
            "game": chosen.game.to_string(),
            "rule": chosen.rule.name(),
            "target": chosen.target,
            "formula": text,
            "simplified": simplify(&formula).text(&graph.scope),
            "heap_max": held.heap_max,
            "positions": held.positions(),
            "check": standing_json(&standing),
        }))?;
    } else {
        let words = standing_text(&standing, &chosen.game, &held);
        let painted = if standing.is_strategy() { out.paint.good(words) } else { out.paint.bad(words) };
        let mut rows = vec![("formula", text), ("game", format!("{}, {}", chosen.game, chosen.rule))];
        rows.push(("verdict", painted));
        rows.push(("positions", format!("{} in all orderings", grouped(held.positions() as u64))));
        if let Standing::Checked(_, reason) = &standing {
            rows.push(("no proof", reason.clone()));
        }
        out.table(&rows)?;
    }
    Ok(match standing {
        Standing::Refuted(_) => Exit::Refuted,
        Standing::Unchecked => return Err(refused("nothing could be checked", "give a smaller --max")),
        _ => Exit::Done,
    })
}
