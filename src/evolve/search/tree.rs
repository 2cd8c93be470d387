//! The game tree, which repeats a position for every path to it.
//!
//! The paper's example counts violations on the tree of (2,1), where (0,1) appears twice; its
//! experiments count on the graph. Reproducing the paper needs both. [`tree_violations`] counts
//! without building the tree: each position counts once for every path from the start, up to
//! `u64::MAX`. [`Tree::grow`] builds the tree for drawing. It has as many broken branches as
//! [`tree_violations`] counts with [`Count::Position`].

use crate::games::Graph;
use crate::search::{Breach, Count, Target, Violations, broken};
use trinim_game::Value;

/// Limit on the branches of a tree that is built.
pub const BRANCHES_MAX: usize = 5_000;

/// A position in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The position.
    pub position: u32,
    /// The parent branch, `None` at the root.
    pub parent: Option<usize>,
    /// Whether the value of the formula is 0.
    pub is_loss: bool,
    /// The rule broken here.
    pub breach: Option<Breach>,
}

/// A game tree, each branch before its subtrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The branches.
    pub branches: Vec<Branch>,
}

/// Counts the violations on the tree below the start, for a formula with these values.
pub fn tree_violations(graph: &Graph, count: Count, column: &[i32]) -> Violations {
    let mut ways = vec![0u64; graph.len()];
    ways[graph.start as usize] = 1;
    let mut violations = Violations::default();
    for index in (0..=graph.start).rev().filter(|index| graph.len() > *index as usize) {
        let here = ways[index as usize];
        for option in graph.options(index) {
            let way = &mut ways[*option as usize];
            *way = way.saturating_add(here);
        }
        if let Some((breach, times)) = broken(graph, Target::Rules, count, column, index).filter(|_| here > 0) {
            violations.add(breach, times.saturating_mul(here));
        }
    }
    violations
}

/// Counts the branches of the tree below the start.
pub fn tree_size(graph: &Graph) -> u64 {
    let mut sizes: Vec<u64> = Vec::with_capacity(graph.len());
    for index in 0..=graph.start {
        let below = graph.options(index).iter().map(|option| sizes[*option as usize]);
        sizes.push(below.fold(1, u64::saturating_add));
    }
    sizes.last().copied().unwrap_or(0)
}

impl Tree {
    /// Builds the tree below the start, options descending as the paper draws them; `None` if it
    /// has more than [`BRANCHES_MAX`] branches.
    pub fn grow(graph: &Graph, column: &[i32]) -> Option<Tree> {
        if tree_size(graph) > BRANCHES_MAX as u64 {
            return None;
        }
        let mut branches: Vec<Branch> = Vec::new();
        let mut open = vec![(graph.start, None)];
        while let Some((position, parent)) = open.pop() {
            let breach = broken(graph, Target::Rules, Count::Position, column, position).map(|(breach, _)| breach);
            let is_loss = column[position as usize] == 0;
            // The last one is popped first.
            open.extend(graph.options(position).iter().map(|option| (*option, Some(branches.len()))));
            branches.push(Branch { position, parent, is_loss, breach });
        }
        Some(Tree { branches })
    }

    /// Draws the tree for Graphviz, like the paper's figure 1: each position with its outcome by
    /// the formula, and a ring around it if it breaks a rule.
    pub fn dot(&self, graph: &Graph) -> String {
        let mut text = "digraph tree {\n  node [shape=plain]\n  edge [arrowhead=none]\n".to_owned();
        for (index, branch) in self.branches.iter().enumerate() {
            let outcome = Value::from_loss(branch.is_loss).outcome();
            let ring = if branch.breach.is_some() { ", shape=ellipse" } else { "" };
            text += &format!("  n{index} [label=\"{} {outcome}\"{ring}]\n", graph.label(branch.position));
            text += &branch.parent.map_or(String::new(), |parent| format!("  n{parent} -> n{index}\n"));
        }
        text + "}\n"
    }

    /// Draws the tree as text, one branch a line; `label` writes a position and the rule broken
    /// there.
    pub fn text(&self, label: impl Fn(&Branch) -> String) -> String {
        // Whether a branch is the last one of its parent, so that no line continues below it.
        let mut last = vec![true; self.branches.len()];
        let mut newest: Vec<Option<usize>> = vec![None; self.branches.len()];
        for (index, branch) in self.branches.iter().enumerate() {
            if let Some(parent) = branch.parent
                && let Some(earlier) = newest[parent].replace(index)
            {
                last[earlier] = false;
            }
        }
        let mut text = String::new();
        for (index, branch) in self.branches.iter().enumerate() {
            let mut above = Vec::new();
            let mut at = index;
            while let Some(parent) = self.branches[at].parent {
                above.push(match (at == index, last[at]) {
                    (true, true) => "`- ",
                    (true, false) => "|- ",
                    (false, true) => "   ",
                    (false, false) => "|  ",
                });
                at = parent;
            }
            above.reverse();
            text.push_str(&above.concat());
            text.push_str(&label(branch));
            text.push('\n');
        }
        text
    }
}
