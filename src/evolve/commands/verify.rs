//! `trinim-evolve verify`: whether a formula is right, and for how many heaps.

use super::args::{FormulaArgs, GameArgs, MaxArgs, held_in_words};
use super::output::{FAILED, counted, named, refused, table, write};
use super::verdict::{TheoremRow, Verdict};
use clap::Args;
use serde::Serialize;
use std::fmt;
use std::io::Write;
use trinim_evolve::games::Ordering;
use trinim_evolve::language::simplify;
use trinim_evolve::search::Target;
use trinim_game::Rule;

const EXAMPLES: &str = "\
Examples:
  trinim-evolve verify --game nim:4,4,4,4 --formula \"(a1^a2^a3)-a4\" --max 15
  trinim-evolve verify --game wythoff:10 --formula \"phi(a2-a1)-a1\" \\
      --states ascending --max 200
  trinim-evolve verify --game nim:4,4,4 --misere --formula \"a1^a2^a3\"

Formulas of + - and or xor not, products with constants, comparisons, min, max and if are decided for all heaps of \
Nim and Moore's Nim; so are Wythoff's formula by his theorem, and formulas that repeat for games that do. Other \
formulas are checked on all positions up to a size, and at many large heaps if a theorem gives the truth there. The \
exit code is 1 if the formula is wrong.";

/// Check a formula on all positions up to a size, and prove it if possible
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    #[command(flatten)]
    game: GameArgs,

    #[command(flatten)]
    formula: FormulaArgs,

    /// Which orderings of the heaps count: all, ascending, or canonical, which is descending
    #[arg(long, value_parser = named::<Ordering>, default_value = "all")]
    states: Ordering,

    #[command(flatten)]
    max: MaxArgs,
}

/// What `verify` prints.
#[derive(Serialize)]
struct Report {
    /// Whether the formula was not refuted: exit code 0.
    ok: bool,
    /// The game, as `--game` takes it.
    game: String,
    /// `normal`: the player who makes the last move wins; `misere`: loses.
    rule: Rule,
    /// What a formula computes.
    target: Target,
    /// The formula.
    formula: String,
    /// The same, simplified.
    simplified: String,
    /// Largest heap checked.
    heap_max: Option<i32>,
    /// Positions checked.
    positions: usize,
    /// Larger heaps tried where there is no proof; null where no theorem gives the truth.
    probed: Option<ProbeRow>,
    /// How far the formula can be trusted.
    check: Verdict,
}

/// Larger heaps that were tried.
#[derive(Serialize)]
struct ProbeRow {
    /// Points.
    points: usize,
    /// The theorem.
    by: &'static str,
}

/// Runs the command.
pub fn run(args: &VerifyArgs, json: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let subject = args.game.read()?;
    // Errors about the game are reported before those about the formula.
    let graph = subject.graph(args.states)?;
    let formula = args.formula.read(&graph.scope)?;
    let mut held = subject.held_out(args.states, args.max.max)?;
    if held.positions() == 0 {
        // No larger heaps are within reach; the game's own positions are better than none.
        held = subject.held_out(args.states, Some(subject.game.largest()))?;
    }
    let check = Verdict::new(&held, &formula, args.formula.zero);
    let report = Report {
        ok: check.strategy || check.is_unchecked(),
        game: subject.game.to_string(),
        rule: subject.rule,
        target: subject.target,
        formula: formula.text(&graph.scope),
        simplified: simplify(&formula).text(&graph.scope),
        heap_max: held.heap_max,
        positions: held.positions(),
        probed: held.probed().map(|(points, by)| ProbeRow { points, by }),
        check,
    };
    write(out, json, "trinim.evolve.verify/1", &report)?;
    if report.check.is_unchecked() {
        return Err(refused("nothing could be checked", "give a smaller --max"));
    }
    Ok(if report.ok { 0 } else { FAILED })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { game, rule, formula, check, .. } = self;
        let mut rows = vec![
            ("formula", formula.clone()),
            ("game", format!("{game}, {rule}")),
            ("verdict", check.text(self.heap_max)),
            ("checked on", held_in_words(self.heap_max, self.positions)),
        ];
        rows.extend(check.theorems.iter().flatten().map(TheoremRow::text));
        rows.extend(check.theorem.clone().map(|theorem| ("by", theorem)));
        if let Some(reason) = &check.no_proof_because {
            let probed = |ProbeRow { points, by }: &ProbeRow| {
                ("probed", format!("{} of larger heaps, by {by}", counted(*points as u64, "point")))
            };
            rows.extend(self.probed.as_ref().map(probed));
            rows.push(("no proof", reason.clone()));
        }
        table(f, &rows)
    }
}
