//! `trinim-evolve verify`: whether a formula is right, and for how many heaps.

use super::args::{FormulaArgs, GameArgs, MaxArgs, Subject, held_in_words, ordering_in_words};
use super::output::{FAILED, counted, named, refused, table, write_sorted};
use clap::Args;
use serde_json::{Value, json};
use std::io::Write;
use trinim_evolve::games::{Ordering, label};
use trinim_evolve::language::{Formula, OnFault, simplify};
use trinim_evolve::proof::{Counterexample, FoundBy, HeldOut, Proof, Standing, Theorems};

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

pub fn run(args: &VerifyArgs, json: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let subject = args.game.read()?;
    let scope = subject.game.scope();
    let formula = args.formula.read(&scope)?;
    let mut held = subject.held_out(args.states, args.max.max)?;
    if held.positions() == 0 {
        // No larger heaps are within reach; the game's own positions are better than none.
        let Subject { game, rule, target } = &subject;
        held = HeldOut::new(game, *rule, *target, args.states, Some(game.largest()))
            .map_err(|error| refused(error, "use fewer or smaller heaps"))?;
    }
    let verdict = Verdict::new(&held, &formula, args.formula.zero);
    let (text, is_ok) = (formula.text(&scope), !matches!(verdict.standing, Standing::Refuted(_)));
    let Subject { game, rule, target } = &subject;
    if json {
        let report = json!({
            "ok": is_ok,
            "game": game.to_string(),
            "rule": rule,
            "target": target,
            "formula": text,
            "simplified": simplify(&formula).text(&scope),
            "heap_max": held.heap_max,
            "positions": held.positions(),
            // Larger heaps tried where there is no proof; null where no theorem gives the truth.
            "probed": held.probed().map(|(points, by)| json!({ "points": points, "by": by })),
            "check": verdict.json(),
        });
        write_sorted(out, "trinim.evolve.verify/1", report)?;
    } else {
        let mut rows = vec![
            ("formula", text),
            ("game", format!("{game}, {rule}")),
            ("verdict", verdict.text(held.heap_max)),
            ("checked on", held_in_words(&held)),
        ];
        rows.extend(theorem_rows(verdict.theorems.as_ref()));
        match &verdict.standing {
            Standing::Theorem(_, argument) => rows.push(("by", argument.clone())),
            Standing::Checked(_, reason) => {
                let text = |(points, by)| format!("{} of larger heaps, by {by}", counted(points, "point"));
                rows.extend(held.probed().map(|probed| ("probed", text(probed))));
                rows.push(("no proof", reason.clone()));
            }
            _ => {}
        }
        table(out, &rows)?;
    }
    Ok(if is_ok { 0 } else { FAILED })
}

/// How far a formula can be trusted.
#[derive(Clone)]
pub struct Verdict {
    pub standing: Standing,
    /// Whether it is right for all heaps, if a theorem is known for the game.
    theorems: Option<Theorems>,
}

impl Verdict {
    /// Checks a formula on larger positions.
    pub fn new(held: &HeldOut, formula: &Formula, on_fault: OnFault) -> Verdict {
        let standing = held.standing(formula, on_fault);
        Verdict { theorems: held.theorems(formula, &standing), standing }
    }

    pub fn json(&self) -> Value {
        let Verdict { standing, theorems } = self;
        let theorems = theorems_json(theorems.as_ref());
        let mut all = json!({ "verdict": standing.word(), "strategy": standing.is_strategy(), "theorems": theorems });
        if let Some(ordering) = standing.ordering() {
            all["states"] = json!(ordering);
        }
        match standing {
            Standing::Theorem(_, argument) => all["theorem"] = json!(argument),
            Standing::Checked(_, reason) => all["no_proof_because"] = json!(reason),
            Standing::Refuted(found) => all["counterexample"] = json!(found),
            Standing::Proved(_) | Standing::Unchecked => {}
        }
        all
    }

    /// Describes the verdict; positions with heaps up to `heap_max` were checked.
    pub fn text(&self, heap_max: Option<i32>) -> String {
        let integers = self.theorems.as_ref().map(|theorems| &theorems.integers);
        match &self.standing {
            Standing::Unchecked => "not checked: the next larger heaps have too many positions".to_owned(),
            Standing::Refuted(Counterexample { label, said, truth, because, found_by, .. }) => {
                let because = because.as_ref().map_or(String::new(), |option| format!(", by a move to {option}"));
                let found = match found_by {
                    FoundBy::Check => "",
                    FoundBy::Probe => "; found by probing large heaps, then shrunk",
                    FoundBy::Proof => "; found by the proof for all heaps, then shrunk",
                };
                let right = if integers == Some(&Proof::Proved) { "; right for integers of any size" } else { "" };
                format!("wrong at {label}: the formula says {said}, true is {truth}{because}{found}{right}")
            }
            Standing::Theorem(states, _) => {
                format!("proved for all heaps up to 2147483647, {}", ordering_in_words(*states))
            }
            Standing::Checked(states, _) => {
                let range = heap_max.map_or(String::new(), |most| format!(" to heaps of {most}"));
                format!("checked{range}, {}", ordering_in_words(*states))
            }
            Standing::Proved(states) => {
                let integers = match integers {
                    Some(Proof::Proved) => " and for integers of any size".to_owned(),
                    Some(Proof::Refuted(heaps)) => format!(", but for integers of any size wrong at {}", label(heaps)),
                    _ => String::new(),
                };
                format!("proved for all heaps, {}: for 32-bit words{integers}", ordering_in_words(*states))
            }
        }
    }
}

fn both(theorems: &Theorems) -> [(&'static str, &Proof, Ordering); 2] {
    [("words", &theorems.words, theorems.ordering), ("integers", &theorems.integers, theorems.ordering)]
}

/// Whether a formula is right for all heaps: `words` of 32 bits that wrap, heaps below 2^31, and
/// `integers` of any size; null if no theorem is known for the game.
pub fn theorems_json(theorems: Option<&Theorems>) -> Value {
    let row = |(domain, proof, ordering): (&str, &Proof, Ordering)| {
        let (verdict, wrong_at, open_because) = match proof {
            Proof::Proved => ("proved", None, None),
            Proof::Refuted(heaps) => ("refuted", Some(label(heaps)), None),
            Proof::Open(reason) => ("open", None, Some(reason)),
        };
        let states = ordering;
        json!({ "domain": domain, "verdict": verdict, "states": states, "wrong_at": wrong_at, "open_because": open_because })
    };
    json!(theorems.map(|theorems| both(theorems).map(row)))
}

/// The same as rows of a table.
pub fn theorem_rows(theorems: Option<&Theorems>) -> impl Iterator<Item = (&'static str, String)> {
    theorems.map(both).into_iter().flatten().map(|(domain, proof, ordering)| {
        let verdict = match proof {
            Proof::Proved => format!("right for all heaps, {}", ordering_in_words(ordering)),
            Proof::Refuted(heaps) => format!("wrong at {}", label(heaps)),
            Proof::Open(reason) => format!("undecided: {reason}"),
        };
        let integers = match domain {
            "words" => "32-bit words that wrap, heaps below 2^31",
            _ => "integers of any size",
        };
        (domain, format!("{verdict} ({integers})"))
    })
}
