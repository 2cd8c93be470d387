//! `trinim-evolve score`: where a formula breaks the rules, by each way to count.

use super::args::{FormulaArgs, GameArgs, Subject, ordering_in_words};
use super::output::{counted, name, refused, table, write};
use super::verdict::TheoremRow;
use clap::Args;
use serde::Serialize;
use std::fmt;
use std::io::Write;
use trinim_evolve::games::{Graph, Ordering};
use trinim_evolve::language::Formula;
use trinim_evolve::proof::{Law, Theorems};
use trinim_evolve::search::{
    BRANCHES_MAX, Branch, Breach, BrokenPosition, Count, Target, Tree, Violations, explain, tree_size, tree_violations,
    violations, wrong,
};
use trinim_game::{Outcome, Rule, Value};

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

/// What `score` prints.
#[derive(Serialize)]
struct Report {
    /// The game, as `--game` takes it.
    game: String,
    /// `normal`: the player who makes the last move wins; `misere`: loses.
    rule: Rule,
    /// What a formula computes.
    target: Target,
    /// The formula.
    formula: String,
    /// Positions of the game tree; null where the target has none.
    tree_positions: Option<u64>,
    /// Violations on the tree.
    tree_violations: Option<u64>,
    /// Violations in every way to count them.
    countings: Vec<Counting>,
    /// Whether it is right for all heaps; null if no theorem is known for the game.
    theorems: Option<[TheoremRow; 2]>,
    /// Positions that break a rule.
    broken: Vec<BrokenPosition>,
    /// The game tree, with `--tree`.
    tree: Option<Vec<BranchRow>>,
    #[serde(skip)]
    drawn: String,
}

/// Violations, counted in one way.
#[derive(Serialize)]
struct Counting {
    /// `tree` or `positions`.
    on: &'static str,
    /// Orderings of the heaps; only on positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<Ordering>,
    /// Positions counted; only on positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    positions: Option<usize>,
    /// What counts as a violation of rule (i).
    count: Count,
    /// All violations.
    violations: u64,
    /// Violations by rule.
    by_rule: Violations,
}

/// A position of the game tree.
#[derive(Serialize)]
struct BranchRow {
    /// The position.
    position: String,
    /// Index of its parent in the list.
    parent: Option<usize>,
    /// `N` or `P`.
    outcome: Outcome,
    /// The rule that the formula breaks here.
    rule: Option<&'static str>,
}

/// The values of a formula on a graph.
struct Valuation {
    ordering: Ordering,
    graph: Graph,
    column: Vec<i32>,
}

impl Valuation {
    fn new(subject: &Subject, args: &FormulaArgs, ordering: Ordering) -> anyhow::Result<(Valuation, Formula)> {
        let graph = subject.graph(ordering)?;
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
    fn line(&self, Branch { position, is_loss, breach, .. }: &Branch) -> String {
        let Valuation { graph, column, .. } = self;
        let broken = breach.map_or(String::new(), |breach| {
            format!("  <- {} {}", breach.name(), explain(graph, column, *position, breach))
        });
        format!("{} {}{broken}", graph.label(*position), Value::from_loss(*is_loss).outcome())
    }

    /// Grows the game tree.
    fn tree(&self) -> anyhow::Result<Tree> {
        Tree::grow(&self.graph, &self.column).ok_or_else(|| {
            let size = counted(tree_size(&self.graph), "position");
            let message = format!("the game tree has {size}, at most {BRANCHES_MAX} are drawn");
            refused(message, "use smaller heaps, or leave out --tree and --dot")
        })
    }

    /// Counts the violations in every way.
    fn countings(all: &[Valuation], target: Target) -> Vec<Counting> {
        let mut countings = Vec::new();
        for count in COUNTS {
            let counted = |on, scored: Option<&Valuation>, by_rule: Violations| Counting {
                on,
                states: scored.map(|scored| scored.ordering),
                positions: scored.map(|scored| scored.graph.len()),
                count,
                violations: by_rule.total(),
                by_rule,
            };
            if let (Target::Rules, [whole, ..]) = (target, all) {
                countings.push(counted("tree", None, tree_violations(&whole.graph, count, &whole.column)));
            }
            let on = |on: &Valuation| counted("positions", Some(on), violations(&on.graph, target, count, &on.column));
            countings.extend(all.iter().map(on));
        }
        countings
    }
}

/// Runs the command.
pub fn run(args: &ScoreArgs, json: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let subject = args.game.read()?;
    let (whole, formula) = Valuation::new(&subject, &args.formula, Ordering::All)?;
    let mut all = vec![whole];
    for ordering in [Ordering::Descending, Ordering::Ascending] {
        all.push(Valuation::new(&subject, &args.formula, ordering)?.0);
    }
    let (Valuation { graph, column, .. }, target) = (&all[0], subject.target);
    let has_tree = target == Target::Rules;
    let tree = match args.tree || args.dot {
        true if has_tree => Some(all[0].tree()?),
        true => return Err(refused("the game tree shows outcomes", "leave out --target")),
        false => None,
    };
    if let (Some(tree), true) = (&tree, args.dot) {
        write!(out, "{}", tree.dot(graph))?;
        return Ok(0);
    }
    let countings = Valuation::countings(&all, target);
    let law = Law::for_game(&subject.game, subject.rule, target);
    let theorems = law.and_then(|law| Theorems::decide(&formula, &graph.scope, &law, Ordering::All));
    let row = |Branch { position, parent, is_loss, breach, .. }: &Branch| BranchRow {
        position: graph.label(*position),
        parent: *parent,
        outcome: Value::from_loss(*is_loss).outcome(),
        rule: breach.map(Breach::name),
    };
    let report = Report {
        game: subject.game.to_string(),
        rule: subject.rule,
        target,
        formula: formula.text(&graph.scope),
        tree_positions: has_tree.then(|| tree_size(graph)),
        tree_violations: has_tree.then(|| countings[0].violations),
        theorems: theorems.as_ref().map(TheoremRow::both),
        broken: wrong(graph, target, Count::Position, column),
        drawn: tree.as_ref().map_or(String::new(), |tree| tree.text(|branch| all[0].line(branch))),
        tree: tree.map(|tree| tree.branches.iter().map(row).collect()),
        countings,
    };
    write(out, json, "trinim.evolve.score/1", &report)?;
    Ok(0)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { game, rule, formula, countings, .. } = self;
        // The first are those of the tree, or of all orderings.
        let Some(Counting { positions, violations, by_rule, .. }) = countings.first() else { return Ok(()) };
        let violations = match self.tree_positions {
            Some(size) => format!("{violations} {} on the game tree of {size} positions", in_parentheses(by_rule)),
            None => format!("{violations} of {} positions", positions.unwrap_or(0)),
        };
        let mut rows = vec![
            ("formula", formula.clone()),
            ("game", format!("{game}, {rule}, {}", name(self.target))),
            ("violations", violations),
        ];
        rows.extend(self.theorems.iter().flatten().map(TheoremRow::text));
        table(f, &rows)?;
        if self.tree_violations.is_some_and(|violations| violations > 0) {
            writeln!(f, "{RULES_LEGEND}")?;
        }
        if let Some(size) = self.tree_positions {
            let [node, edge, all, wrong] = COUNTS.map(name);
            writeln!(f, "\n{:36} {:>9} {node:>8} {edge:>8} {all:>8} {wrong:>8}", "counted on", "positions")?;
            for Counting { states, positions, .. } in countings.iter().take_while(|one| one.count == Count::Position) {
                let of = countings.iter().filter(|one| one.states == *states);
                let cells: String = of.map(|one| format!(" {:>8}", one.violations)).collect();
                let name =
                    states.map_or("game tree".to_owned(), |states| format!("positions, {}", ordering_in_words(states)));
                writeln!(f, "{name:36} {:>9}{cells}", positions.map_or(size, |positions| positions as u64))?;
            }
        }
        if !self.broken.is_empty() {
            writeln!(f)?;
        }
        write_wrong(&self.broken, "", f)?;
        if self.drawn.is_empty() { Ok(()) } else { write!(f, "\n{}", self.drawn) }
    }
}

/// Lists the first positions that break a rule, each on a line.
pub fn write_wrong(wrong: &[BrokenPosition], indent: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for BrokenPosition { position, rule, broken } in wrong.iter().take(WRONG_SHOWN) {
        writeln!(f, "{indent}{position} {rule}: {broken}")?;
    }
    match wrong.len().saturating_sub(WRONG_SHOWN) {
        0 => Ok(()),
        more => writeln!(f, "{indent}and {more} more; --json lists all"),
    }
}

/// Lists the violations by rule in parentheses, without rules that are never broken.
pub fn in_parentheses(violations: &Violations) -> String {
    let parts = [(violations.rule_1, "i"), (violations.rule_2, "ii"), (violations.rule_3, "iii")];
    let broken = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = broken.map(|(count, rule)| format!("{rule}:{count}")).collect();
    if parts.is_empty() { String::new() } else { format!("({})", parts.join(" ")) }
}
