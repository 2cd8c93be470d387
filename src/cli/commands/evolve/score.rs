//! `trinim evolve score`: where a formula breaks the rules, by each way to count.

use super::args::{Chosen, EvolveGameArgs, FormulaArgs, ordering_in_words, refused};
use super::check::TheoremRow;
use super::run_report::{RULES_LEGEND, by_rule as in_parentheses, print_wrong};
use super::tree::tree_picture;
use crate::cli::face::exit::Exit;
use crate::cli::face::file::Export;
use crate::cli::face::output::{Out, counted, grouped};
use crate::cli::face::schema::sorted;
use crate::cli::words::args::JsonArgs;
use crate::cli::words::choice::name;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use trinim::game::{Outcome, Rule, Value};
use trinim_evolve::check::Theorems;
use trinim_evolve::formula::Formula;
use trinim_evolve::graph::{Graph, Ordering};
use trinim_evolve::law::Law;
use trinim_evolve::score::{Breach, Count, Target, Violations, Wrong, explain, violations, wrong};
use trinim_evolve::tree::{BRANCHES_MAX, Branch, Tree, tree_size, tree_violations};

const EXAMPLES: &str = "\
Examples:
  trinim evolve score --game nim:2,1 --formula \"a1-a2*a1\" --tree
  trinim evolve score --game nim:2,1 --formula \"a1-a2*a1\" --svg tree.svg
  trinim evolve score --game nim:4,4,4,4 --formula \"a1^a2^a3-a4\" --json
  trinim evolve score --game nim:2,1 \\
      --chromosome \"1: a1 2: a2 3: * 2, 1 4: - 1, 3\"

The paper counts its example on the game tree, where a position occurs once for each way to reach it, and its \
experiments on the positions, one for all orderings of the heaps.";

/// Longest formula in the title of a picture, in characters.
const TITLE_MAX: usize = 80;
const COUNTS: [Count; 4] = [Count::Position, Count::Edge, Count::AllOptions, Count::Wrong];

/// Count the violations of a formula, and draw them
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ScoreArgs {
    #[command(flatten)]
    game: EvolveGameArgs,

    #[command(flatten)]
    formula: FormulaArgs,

    /// Print the game tree
    #[arg(long)]
    tree: bool,

    /// Draw the game tree into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    #[command(flatten)]
    json: JsonArgs,
}

/// The values of a formula on a graph.
struct Scored {
    ordering: Ordering,
    graph: Graph,
    column: Vec<i32>,
}

impl Scored {
    fn new(chosen: &Chosen, args: &FormulaArgs, ordering: Ordering) -> anyhow::Result<(Scored, Formula)> {
        let graph = chosen.graph(ordering)?;
        let (formula, zero) = (args.read(&graph.scope)?, args.zero);
        let column = formula.column(&graph.scope, graph.features(), zero).map_err(|index| {
            let index = index as u32;
            let reason = match formula.value(&graph.scope, &graph.position(index), zero) {
                Err(fault) => fault.text(&formula, &graph.scope),
                Ok(value) => format!("the value is {value}"),
            };
            let message = format!("the formula has no value at {}: {reason}", graph.label(index));
            refused(message, "--zero 0, 1 or numerator gives such quotients a value")
        })?;
        Ok((Scored { ordering, graph, column }, formula))
    }

    fn violations(&self, target: Target, count: Count) -> Violations {
        violations(&self.graph, target, count, &self.column)
    }

    /// Describes a branch of the tree in one line.
    fn line(&self, Branch { position, is_loss, breach, .. }: &Branch) -> String {
        let Scored { graph, column, .. } = self;
        let class = Value::from_loss(*is_loss).outcome();
        let broken = breach.map_or(String::new(), |breach| {
            format!("  <- {} {}", breach.name(), explain(graph, column, *position, breach))
        });
        format!("{} {class}{broken}", graph.label(*position))
    }
}

/// Runs the subcommand.
pub fn run(args: ScoreArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let chosen = args.game.choose()?;
    let picture = args.svg.as_deref().map(Export::claim_svg).transpose()?;
    let mut scored = Vec::new();
    let mut parsed = None;
    for ordering in [Ordering::All, Ordering::Descending, Ordering::Ascending] {
        let (on, formula) = Scored::new(&chosen, &args.formula, ordering)?;
        scored.push(on);
        parsed = Some(formula);
    }
    let (Some(whole), Some(formula)) = (scored.first(), parsed) else { return Ok(Exit::Done) };
    let has_tree = chosen.target == Target::Rules;
    let tree = if has_tree && (args.tree || args.svg.is_some()) {
        let grown = Tree::grow(&whole.graph, &whole.column);
        Some(grown.ok_or_else(|| {
            let size = tree_size(&whole.graph);
            let message = format!("the game tree has {}, at most {BRANCHES_MAX} are drawn", counted(size, "position"));
            refused(message, "use smaller heaps, or leave out --tree and --svg")
        })?)
    } else if args.tree || args.svg.is_some() {
        return Err(refused("the game tree shows outcomes", "leave out --target"));
    } else {
        None
    };
    if let (Some(picture), Some(path), Some(tree)) = (picture, &args.svg, &tree) {
        let text = formula.text(&whole.graph.scope);
        let short: String = text.chars().take(TITLE_MAX).collect();
        let title = format!("{short}{} on {}", if short == text { "" } else { " .." }, chosen.game);
        picture.write(&tree_picture(&whole.graph, tree, &title))?;
        out.remark(format_args!("wrote the tree to {}", path.display()));
    }
    let law = Law::of(&chosen.game, chosen.rule, chosen.target);
    let theorems = law.and_then(|law| Theorems::decide(&formula, &whole.graph.scope, &law, Ordering::All));
    let on_tree = |count| tree_violations(&whole.graph, count, &whole.column);
    let mut countings = Vec::new();
    for count in COUNTS {
        let counted = |on, scored: Option<&Scored>, by_rule: Violations| Counting {
            on,
            states: scored.map(|scored| scored.ordering),
            positions: scored.map(|scored| scored.graph.len()),
            count,
            violations: by_rule.total(),
            by_rule,
        };
        countings.extend(has_tree.then(|| counted("tree", None, on_tree(count))));
        countings.extend(scored.iter().map(|on| counted("positions", Some(on), on.violations(chosen.target, count))));
    }
    let Scored { graph, column, .. } = whole;
    let shown = tree.as_ref().filter(|_| args.tree);
    let printed = Printed {
        game: chosen.game.to_string(),
        rule: chosen.rule,
        target: chosen.target,
        formula: formula.text(&graph.scope),
        tree_positions: has_tree.then(|| tree_size(graph)),
        tree_violations: has_tree.then(|| on_tree(Count::Position).total()),
        countings,
        theorems: theorems.as_ref().map(TheoremRow::both),
        broken: wrong(graph, chosen.target, Count::Position, column),
        tree: shown.map(|tree| tree.branches.iter().map(|branch| BranchRow::of(branch, graph)).collect()),
    };
    if args.json.json {
        out.json("trinim.evolve.score/1", &sorted(&printed)?)?;
    } else {
        printed.print(out)?;
        if let Some(tree) = shown {
            writeln!(out, "\n{}", tree.text(|branch| whole.line(branch)).trim_end())?;
        }
    }
    Ok(Exit::Done)
}

/// What `trinim evolve score` prints.
#[derive(Serialize, JsonSchema)]
pub struct Printed {
    /// The game, as `--game` takes it.
    game: String,
    /// Whether who makes the last move wins (`normal`) or loses (`misere`).
    rule: Rule,
    /// What a formula has to tell.
    target: Target,
    /// The formula.
    formula: String,
    /// Positions of the game tree; null where it is too large.
    tree_positions: Option<u64>,
    /// Violations on the tree.
    tree_violations: Option<u64>,
    /// Violations in every way to count them.
    countings: Vec<Counting>,
    /// Whether it is right for all heaps; null if no theorem is known for the game.
    theorems: Option<Vec<TheoremRow>>,
    /// Positions that break a rule.
    broken: Vec<Wrong>,
    /// The game tree, with `--tree`.
    tree: Option<Vec<BranchRow>>,
}

/// Violations, counted in one way.
#[derive(Serialize, JsonSchema)]
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
#[derive(Serialize, JsonSchema)]
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

impl BranchRow {
    fn of(Branch { position, parent, is_loss, breach, .. }: &Branch, graph: &Graph) -> BranchRow {
        BranchRow {
            position: graph.label(*position),
            parent: *parent,
            outcome: Value::from_loss(*is_loss).outcome(),
            rule: breach.map(Breach::name),
        }
    }
}

impl Printed {
    fn print(&self, out: &mut Out) -> anyhow::Result<()> {
        let Printed { game, rule, formula, countings, .. } = self;
        // The first are those of the tree, or of all orderings.
        let Some(Counting { positions, violations, by_rule, .. }) = countings.first() else { return Ok(()) };
        let total = grouped(*violations);
        let violations = match (self.tree_positions, positions) {
            (Some(size), _) => {
                format!("{total} {} on the game tree of {} positions", in_parentheses(by_rule), grouped(size))
            }
            (None, positions) => format!("{total} of {} positions", grouped(positions.unwrap_or(0) as u64)),
        };
        let mut rows = vec![
            ("formula", formula.clone()),
            ("game", format!("{game}, {rule}, {}", name(&self.target))),
            ("violations", violations),
        ];
        rows.extend(self.theorems.iter().flatten().map(TheoremRow::text));
        out.table(&rows)?;
        if self.tree_violations.is_some_and(|violations| violations > 0) {
            out.paragraph(RULES_LEGEND)?;
        }
        if let Some(size) = self.tree_positions {
            writeln!(
                out,
                "\n{:36} {:>9} {:>8} {:>8} {:>8} {:>8}",
                "counted on", "positions", "node", "edge", "all", "wrong"
            )?;
            for Counting { states, positions, .. } in countings.iter().take_while(|one| one.count == Count::Position) {
                let of = countings.iter().filter(|one| one.states == *states);
                let cells: Vec<String> = of.map(|one| format!("{:>8}", grouped(one.violations))).collect();
                let name =
                    states.map_or("game tree".to_owned(), |states| format!("positions, {}", ordering_in_words(states)));
                let size = positions.map_or(size, |positions| positions as u64);
                writeln!(out, "{name:36} {:>9} {}", grouped(size), cells.join(" "))?;
            }
        }
        if !self.broken.is_empty() {
            writeln!(out)?;
        }
        print_wrong(&self.broken, "", out)
    }
}
