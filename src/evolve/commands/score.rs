//! `trinim-evolve score`: where a formula breaks the rules, for each way of counting.

use super::args::{FormulaArgs, GameArgs, Subject, ordering_in_words};
use super::output::{counted, name, refused, table, write_sorted};
use super::verify::{theorem_rows, theorems_json};
use clap::Args;
use serde_json::json;
use std::io::{self, Write};
use trinim_evolve::games::{Graph, Ordering};
use trinim_evolve::language::Formula;
use trinim_evolve::proof::{Law, Theorems};
use trinim_evolve::search::{
    BRANCHES_MAX, Branch, Breach, BrokenPosition, Count, Target, Tree, Violations, explain, tree_size, tree_violations,
    violations, wrong,
};
use trinim_game::{Outcome, Value};

const EXAMPLES: &str = "\
Examples:
  trinim-evolve score --game nim:2,1 --formula \"a1-a2*a1\" --tree
  trinim-evolve score --game nim:2,1 --formula \"a1-a2*a1\" --dot | dot -Tsvg > tree.svg
  trinim-evolve score --game nim:4,4,4,4 --formula \"a1^a2^a3-a4\" --json
  trinim-evolve score --game nim:2,1 \\
      --chromosome \"1: a1 2: a2 3: * 2, 1 4: - 1, 3\"

The paper counts its example on the game tree, where a position occurs once for each way to reach it, and its \
experiments on the positions, one for all orderings of the heaps.";

const COUNTS: [Count; 4] = [Count::Position, Count::Edge, Count::AllOptions, Count::Wrong];

/// What the parentheses after a number of violations mean.
pub const RULES_LEGEND: &str = "\
(i:N) counts moves or positions that break rule (i): no move leads from a loss to a
loss; (ii): some move leads from every win to a loss; (iii): a position without moves
is a loss, in misère play a win";

/// Largest number of wrong positions to list.
const WRONG_SHOWN: usize = 20;

/// Count the violations of a formula, and draw them
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ScoreArgs {
    #[command(flatten)]
    game: GameArgs,

    #[command(flatten)]
    formula: FormulaArgs,

    /// Print the game tree
    #[arg(long)]
    tree: bool,

    /// Print nothing but the game tree, for Graphviz
    #[arg(long, conflicts_with_all = ["json", "tree"])]
    dot: bool,
}

/// The values of a formula on a graph.
struct Valuation {
    ordering: Ordering,
    graph: Graph,
    column: Vec<i32>,
}

impl Valuation {
    fn new(subject: &Subject, args: &FormulaArgs, ordering: Ordering) -> anyhow::Result<(Valuation, Formula)> {
        let graph = subject.graph(ordering, "use fewer or smaller heaps")?;
        let (formula, zero) = (args.read(&graph.scope)?, args.zero);
        let column = formula.column(&graph.scope, graph.features(), zero).map_err(|index| {
            let position = graph.position(index as u32);
            let reason = match formula.value(&graph.scope, &position, zero) {
                Err(fault) => fault.text(&formula, &graph.scope),
                Ok(value) => format!("the value is {value}"),
            };
            let message = format!("the formula has no value at {}: {reason}", graph.label(index as u32));
            refused(message, "--zero 0, 1 or numerator gives such quotients a value")
        })?;
        Ok((Valuation { ordering, graph, column }, formula))
    }

    /// Describes a branch of the tree in one line.
    fn line(&self, branch: &Branch) -> String {
        let broken = branch.breach.map_or(String::new(), |breach| {
            format!("  <- {} {}", breach.name(), explain(&self.graph, &self.column, branch.position, breach))
        });
        format!("{} {}{broken}", self.graph.label(branch.position), outcome(branch))
    }

    fn tree(&self) -> anyhow::Result<Tree> {
        Tree::grow(&self.graph, &self.column).ok_or_else(|| {
            let size = counted(tree_size(&self.graph) as usize, "position");
            let message = format!("the game tree has {size}, at most {BRANCHES_MAX} are drawn");
            refused(message, "use smaller heaps, or leave out --tree and --dot")
        })
    }
}

fn outcome(branch: &Branch) -> Outcome {
    Value::from_loss(branch.is_loss).outcome()
}

pub fn run(args: &ScoreArgs, json: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let subject = args.game.read()?;
    let (whole, formula) = Valuation::new(&subject, &args.formula, Ordering::All)?;
    let mut all = vec![whole];
    for ordering in [Ordering::Descending, Ordering::Ascending] {
        all.push(Valuation::new(&subject, &args.formula, ordering)?.0);
    }
    let (Valuation { graph, column, .. }, Subject { game, rule, target }) = (&all[0], &subject);
    let has_tree = *target == Target::Rules;
    let tree = match args.tree || args.dot {
        true if has_tree => Some(all[0].tree()?),
        true => return Err(refused("the game tree shows outcomes", "leave out --target")),
        false => None,
    };
    if let (Some(tree), true) = (&tree, args.dot) {
        write!(out, "{}", tree.dot(graph))?;
        return Ok(0);
    }
    // First on the game tree, if there is one, then on the positions in each ordering.
    let mut on: Vec<(Option<&Valuation>, [Violations; 4])> = Vec::new();
    if has_tree {
        on.push((None, COUNTS.map(|count| tree_violations(graph, count, column))));
    }
    let by_count = |on: &Valuation| COUNTS.map(|count| violations(&on.graph, *target, count, &on.column));
    on.extend(all.iter().map(|valuation| (Some(valuation), by_count(valuation))));
    let first = on[0].1[0];
    let law = Law::for_game(game, *rule, *target);
    let theorems = law.and_then(|law| Theorems::decide(&formula, &graph.scope, &law, Ordering::All));
    let broken = wrong(graph, *target, Count::Position, column);
    if json {
        let counting = |(place, count): (usize, &Count), (on, counted): &(Option<&Valuation>, [Violations; 4])| {
            let by_rule = counted[place];
            let mut row = json!({ "on": "tree", "count": count, "violations": by_rule.total(), "by_rule": by_rule });
            if let Some(on) = on {
                (row["on"], row["states"], row["positions"]) =
                    (json!("positions"), json!(on.ordering), json!(on.graph.len()));
            }
            row
        };
        let countings = COUNTS.iter().enumerate().flat_map(|count| on.iter().map(move |on| counting(count, on)));
        let row = |branch: &Branch| {
            let (position, rule) = (graph.label(branch.position), branch.breach.map(Breach::name));
            json!({ "position": position, "parent": branch.parent, "outcome": outcome(branch), "rule": rule })
        };
        let report = json!({
            "game": game.to_string(),
            "rule": rule,
            "target": target,
            "formula": formula.text(&graph.scope),
            "tree_positions": has_tree.then(|| tree_size(graph)),
            "tree_violations": has_tree.then(|| first.total()),
            "countings": countings.collect::<Vec<_>>(),
            "theorems": theorems_json(theorems.as_ref()),
            "broken": broken,
            "tree": tree.map(|tree| tree.branches.iter().map(row).collect::<Vec<_>>()),
        });
        write_sorted(out, "trinim.evolve.score/1", report)?;
        return Ok(0);
    }
    let counted = match has_tree {
        true => {
            format!("{} {} on the game tree of {} positions", first.total(), in_parentheses(&first), tree_size(graph))
        }
        false => format!("{} of {} positions", first.total(), graph.len()),
    };
    let mut rows = vec![
        ("formula", formula.text(&graph.scope)),
        ("game", format!("{game}, {rule}, {}", name(target))),
        ("violations", counted),
    ];
    rows.extend(theorem_rows(theorems.as_ref()));
    table(out, &rows)?;
    if has_tree {
        if first.total() > 0 {
            writeln!(out, "{RULES_LEGEND}")?;
        }
        let names: String = COUNTS.map(|count| format!(" {:>8}", name(count))).concat();
        writeln!(out, "\n{:36} {:>9}{names}", "counted on", "positions")?;
        for (on, counted) in &on {
            let (on, positions) = match on {
                None => ("game tree".to_owned(), tree_size(graph)),
                Some(on) => (format!("positions, {}", ordering_in_words(on.ordering)), on.graph.len() as u64),
            };
            let cells: String = counted.iter().map(|counted| format!(" {:>8}", counted.total())).collect();
            writeln!(out, "{on:36} {positions:>9}{cells}")?;
        }
    }
    if !broken.is_empty() {
        writeln!(out)?;
    }
    write_wrong(&broken, "", out)?;
    if let Some(tree) = tree {
        write!(out, "\n{}", tree.text(|branch| all[0].line(branch)))?;
    }
    Ok(0)
}

/// Lists the first positions that break a rule, each on a line.
pub fn write_wrong(wrong: &[BrokenPosition], indent: &str, out: &mut dyn Write) -> io::Result<()> {
    for BrokenPosition { position, rule, broken } in wrong.iter().take(WRONG_SHOWN) {
        writeln!(out, "{indent}{position} {rule}: {broken}")?;
    }
    match wrong.len().saturating_sub(WRONG_SHOWN) {
        0 => Ok(()),
        more => writeln!(out, "{indent}and {more} more; --json lists all"),
    }
}

/// Lists the violations by rule in parentheses, without rules that are never broken.
pub fn in_parentheses(violations: &Violations) -> String {
    let parts = [(violations.rule_1, "i"), (violations.rule_2, "ii"), (violations.rule_3, "iii")];
    let broken = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = broken.map(|(count, rule)| format!("{rule}:{count}")).collect();
    if parts.is_empty() { String::new() } else { format!("({})", parts.join(" ")) }
}
