//! `trinim evolve verify`: whether a formula is right, and for how many heaps.

use super::args::{EvolveGameArgs, FormulaArgs, StatesArgs, held_in_words, held_out, refused};
use super::check::{Check, TheoremRow};
use super::run::heap_max;
use crate::cli::face::exit::Exit;
use crate::cli::face::output::{Out, counted};
use crate::cli::face::schema::sorted;
use crate::cli::words::args::JsonArgs;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use trinim::game::Rule;
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
pub struct Printed {
    /// Whether the formula was not refuted: exit code 0.
    ok: bool,
    /// The game, as `--game` takes it.
    game: String,
    /// Whether who makes the last move wins (`normal`) or loses (`misere`).
    rule: Rule,
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
    check: Check,
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
    let graph = chosen.graph(ordering)?;
    let formula = args.formula.read(&graph.scope)?;
    let mut held = held_out(&chosen, ordering, args.max)?;
    if held.positions() == 0 {
        // No larger heaps are within reach; the game's own positions are better than none.
        held = held_out(&chosen, ordering, Some(chosen.game.largest()))?;
    }
    let standing = held.standing(&formula, args.formula.zero);
    let printed = Printed {
        ok: !matches!(standing, Standing::Refuted(_)),
        game: chosen.game.to_string(),
        rule: chosen.rule,
        target: chosen.target,
        formula: formula.text(&graph.scope),
        simplified: simplify(&formula).text(&graph.scope),
        heap_max: held.heap_max,
        positions: held.positions(),
        probed: held.probed().map(|(points, by)| Probed { points, by }),
        check: Check::of(&standing, held.theorems(&formula, &standing).as_ref()),
    };
    if args.json.json {
        out.json("trinim.evolve.verify/1", &sorted(&printed)?)?;
    } else {
        printed.print(out)?;
    }
    Ok(match standing {
        Standing::Refuted(_) => Exit::Refuted,
        Standing::Unchecked => return Err(refused("nothing could be checked", "give a smaller --max")),
        _ => Exit::Done,
    })
}

impl Printed {
    fn print(&self, out: &mut Out) -> anyhow::Result<()> {
        let Printed { game, rule, formula, check, .. } = self;
        let words = check.text(self.heap_max);
        let mut rows = vec![
            ("formula", formula.clone()),
            ("game", format!("{game}, {rule}")),
            ("verdict", if check.strategy { out.paint.good(words) } else { out.paint.bad(words) }),
            ("checked on", held_in_words(self.heap_max, self.positions)),
        ];
        rows.extend(check.theorems.iter().flatten().map(TheoremRow::text));
        rows.extend(check.theorem.clone().map(|theorem| ("by", theorem)));
        if let Some(reason) = &check.no_proof_because {
            let probed = |Probed { points, by }: &Probed| {
                ("probed", format!("{} of larger heaps, by {by}", counted(*points as u64, "point")))
            };
            rows.extend(self.probed.as_ref().map(probed));
            rows.push(("no proof", reason.clone()));
        }
        out.table(&rows)?;
        Ok(())
    }
}
