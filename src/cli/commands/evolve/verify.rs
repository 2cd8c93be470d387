//! `trinim evolve verify`: whether a formula is right, and for how many heaps.

use super::args::{EvolveGameArgs, FormulaArgs, StatesArgs, held_in_words, held_out, refused};
use super::run::heap_max;
use super::run_report::{Check, standing_text};
use super::theorems::theorem_rows;
use crate::cli::face::exit::Exit;
use crate::cli::face::output::{Out, counted};
use crate::cli::face::schema::sorted;
use crate::cli::words::args::JsonArgs;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use trinim_evolve::check::Standing;
use trinim_evolve::graph::Ordering;
use trinim_evolve::score::Target;
use trinim_evolve::simplify::simplify;

const EXAMPLES: &str = "\
Examples:
  trinim evolve verify --game nim:4,4,4,4 --formula \"(a1^a2^a3)-a4\" --max 15
  trinim evolve verify --game wythoff:10 --formula \"phi(a2-a1)-a1\" \\
      --states ascending --max 200
  trinim evolve verify --game nim:4,4,4 --misere --formula \"a1^a2^a3\"

Formulas of + - and or xor not, products with constants, comparisons, min, max and if are decided for all heaps of \
Nim and Moore's Nim; so are Wythoff's formula by his theorem, and formulas that repeat for games that do. Otherwise \
the formula is checked on all positions up to a size, and at many large heaps if a theorem tells the truth there. The \
exit code is 1 if the formula is wrong.";

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

    /// Largest heap, at least that of the game [default: up to four times as large]
    #[arg(long, value_name = "B", value_parser = heap_max)]
    max: Option<i32>,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim evolve verify` prints.
#[derive(Serialize, JsonSchema)]
pub struct Printed<'a> {
    /// Whether the formula was not refuted: exit code 0.
    ok: bool,
    /// The game, as `--game` takes it.
    game: String,
    /// Whether who makes the last move wins (`normal`) or loses (`misere`).
    #[schemars(with = "trinim::game::Rule")]
    rule: &'a str,
    /// What a formula has to tell.
    target: Target,
    /// The formula.
    formula: String,
    /// The same, simplified.
    simplified: String,
    /// Largest heap checked.
    heap_max: Option<i32>,
    /// Positions checked.
    positions: usize,
    /// Larger heaps tried where there is no proof; null where no theorem tells the truth.
    probed: Option<Probed>,
    /// How far the formula can be trusted.
    check: Check<'a>,
}

/// Larger heaps that were tried.
#[derive(Serialize, JsonSchema)]
struct Probed {
    /// Points.
    points: usize,
    /// The theorem.
    by: &'static str,
}

/// Runs the subcommand.
pub fn run(args: VerifyArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let chosen = args.game.choose()?;
    let ordering = args.states.states.unwrap_or(Ordering::All);
    // Errors about the game are reported before those about the formula.
    let (graph, _) = chosen.graph(ordering)?;
    let formula = args.formula.read(&graph.scope)?;
    let mut held = held_out(&chosen, ordering, args.max)?;
    if held.positions() == 0 {
        // No larger heaps are within reach; the game's own positions are better than none.
        held = held_out(&chosen, ordering, Some(chosen.game.largest()))?;
    }
    let standing = held.standing(&formula, args.formula.zero);
    let theorems = held.theorems(&formula, &standing);
    let text = formula.text(&graph.scope);
    if args.json.json {
        out.json(
            "trinim.evolve.verify/1",
            &sorted(&Printed {
                ok: !matches!(standing, Standing::Refuted(_)),
                game: chosen.game.to_string(),
                rule: chosen.rule.name(),
                target: chosen.target,
                formula: text,
                simplified: simplify(&formula).text(&graph.scope),
                heap_max: held.heap_max,
                positions: held.positions(),
                probed: held.probed().map(|(points, by)| Probed { points, by }),
                check: Check::of(&standing, theorems.as_ref()),
            })?,
        )?;
    } else {
        let words = standing_text(&standing, theorems.as_ref(), &held);
        let painted = if standing.is_strategy() { out.paint.good(words) } else { out.paint.bad(words) };
        let mut rows = vec![("formula", text), ("game", format!("{}, {}", chosen.game, chosen.rule))];
        rows.push(("verdict", painted));
        rows.push(("checked on", held_in_words(&held)));
        rows.extend(theorems.iter().flat_map(|theorems| theorem_rows(theorems)));
        match &standing {
            Standing::Theorem(_, theorem) => rows.push(("by", theorem.clone())),
            Standing::Checked(_, reason) => {
                if let Some((points, theorem)) = held.probed() {
                    let points = counted(points as u64, "point");
                    rows.push(("probed", format!("{points} of larger heaps, by {theorem}")));
                }
                rows.push(("no proof", reason.clone()));
            }
            _ => {}
        }
        out.table(&rows)?;
    }
    Ok(match standing {
        Standing::Refuted(_) => Exit::Refuted,
        Standing::Unchecked => return Err(refused("nothing could be checked", "give a smaller --max")),
        _ => Exit::Done,
    })
}
