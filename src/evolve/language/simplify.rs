//! Shorter formulas with the same values.
//!
//! Evolved formulas contain useless parts such as `x xor x`. Each pass simplifies every term after
//! its arguments; passes repeat until nothing changes. The rewrites hold for all 32-bit integers
//! and keep every fault: a part that could divide by zero is never dropped. `prove` decides
//! questions about heaps or outcomes, without rewriting.
//!
//! # Invariants
//! 1. The result has the values of the formula for all arguments, including its faults under every
//!    [`crate::language::OnFault`].
//! 2. The result has no more terms.

use crate::language::{Builder, Formula, Op, Term, Terminal, first};

/// Returns the simplified formula.
pub fn simplify(formula: &Formula) -> Formula {
    let mut formula = formula.clone();
    loop {
        let shorter = pass(&formula);
        if shorter == formula {
            return formula;
        }
        formula = shorter;
    }
}

#[derive(Default)]
struct Simplifier {
    builder: Builder,
    /// Whether the term has a value everywhere.
    total: Vec<bool>,
}

impl Simplifier {
    fn add(&mut self, term: Term) -> u16 {
        // A pass never has more terms than the formula it starts from.
        let index = self.builder.term(term).unwrap_or(u16::MAX);
        if usize::from(index) == self.total.len() {
            let own = !matches!(term, Term::Apply(op, _) if op.may_fault());
            self.total.push(own && term.args().iter().all(|arg| self.total[usize::from(*arg)]));
        }
        index
    }

    fn constant(&self, index: u16) -> Option<i32> {
        match self.builder.terms()[usize::from(index)] {
            Term::Terminal(Terminal::Constant(value)) => Some(value),
            _ => None,
        }
    }

    fn is_total(&self, index: u16) -> bool {
        self.total[usize::from(index)]
    }

    /// Returns the arguments of a term if its operation is `op`.
    fn parts(&self, index: u16, op: Op) -> Option<[u16; 3]> {
        match self.builder.terms()[usize::from(index)] {
            Term::Apply(found, args) if found == op => Some(args),
            _ => None,
        }
    }

    fn value(&mut self, value: i32) -> u16 {
        self.add(Term::Terminal(Terminal::Constant(value)))
    }

    fn apply(&mut self, op: Op, mut args: [u16; 3]) -> u16 {
        if op.commutes() && args[0] > args[1] {
            args.swap(0, 1);
        }
        let constants = args.map(|arg| self.constant(arg));
        if constants[..op.arity()].iter().all(Option::is_some)
            && let Some(value) = op.apply(constants.map(|constant| constant.unwrap_or(0)))
        {
            return self.value(value);
        }
        self.shorter(op, args, constants).unwrap_or_else(|| self.add(Term::Apply(op, args)))
    }

    fn shorter(&mut self, op: Op, [a, b, c]: [u16; 3], constants: [Option<i32>; 3]) -> Option<u16> {
        // The other argument of a commutative operation, if one argument is this constant.
        let with = |place: usize, value: i32| constants[place] == Some(value);
        let other =
            |value: i32| [(0, b), (1, a)].into_iter().find(|(place, _)| with(*place, value)).map(|(_, arg)| arg);
        let same = a == b;
        let both_vanish = same && self.is_total(a);
        let vanishes = |known: &Simplifier, value: i32| other(value).is_some_and(|arg| known.is_total(arg));
        match op {
            Op::Add => other(0),
            Op::Sub if with(1, 0) => Some(a),
            Op::Sub if both_vanish => Some(self.value(0)),
            Op::Sub if with(0, 0) => {
                self.parts(b, Op::Sub).filter(|parts| self.constant(parts[0]) == Some(0)).map(|parts| parts[1])
            }
            Op::Mul if vanishes(self, 0) => Some(self.value(0)),
            Op::Mul => other(1),
            Op::Div if with(1, 1) => Some(a),
            Op::Mod if with(1, 1) && self.is_total(a) => Some(self.value(0)),
            Op::And | Op::Or | Op::Min | Op::Max if same => Some(a),
            Op::And if vanishes(self, 0) => Some(self.value(0)),
            Op::And => other(-1),
            Op::Or if vanishes(self, -1) => Some(self.value(-1)),
            Op::Or => other(0),
            Op::Xor if both_vanish => Some(self.value(0)),
            Op::Xor => other(0)
                .or_else(|| {
                    let minus = other(-1)?;
                    Some(self.apply(Op::Not, [minus, 0, 0]))
                })
                .or_else(|| self.cancelled(a, b))
                .or_else(|| self.cancelled(b, a)),
            Op::Not => self.parts(a, Op::Not).map(|parts| parts[0]),
            Op::Eq if both_vanish => Some(self.value(1)),
            Op::Lt if both_vanish => Some(self.value(0)),
            Op::If if b == c && self.is_total(a) => Some(b),
            Op::If => {
                let (taken, left) = if constants[0]? == 0 { (c, b) } else { (b, c) };
                self.is_total(left).then_some(taken)
            }
            _ => None,
        }
    }

    /// Returns `x` of `(x xor y) xor y`.
    fn cancelled(&self, pair: u16, other: u16) -> Option<u16> {
        let parts = self.parts(pair, Op::Xor).filter(|_| self.is_total(other))?;
        match parts {
            [left, right, _] if right == other => Some(left),
            [left, right, _] if left == other => Some(right),
            _ => None,
        }
    }
}

fn pass(formula: &Formula) -> Formula {
    let mut known = Simplifier::default();
    let mut places: Vec<u16> = Vec::with_capacity(formula.size());
    for term in formula.terms() {
        places.push(match term {
            Term::Terminal(_) => known.add(*term),
            Term::Apply(op, args) => {
                let args = first(op.arity(), |index| places[usize::from(args[index])]);
                known.apply(*op, args)
            }
        });
    }
    match places.last() {
        Some(root) if known.builder.terms().len() <= usize::from(u16::MAX) => known.builder.finish(*root),
        _ => formula.clone(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::language::{OnFault, Scope, parse};
    use proptest::prelude::*;

    /// Generates formulas of few symbols, so that equal terms are frequent.
    pub(crate) fn formulas() -> impl Strategy<Value = Formula> {
        let gene = (0..Op::ALL.len() + 5, any::<[u16; 3]>());
        proptest::collection::vec(gene, 1..25).prop_map(|genes| {
            let mut builder = Builder::default();
            let mut indices: Vec<u16> = Vec::new();
            for (symbol, args) in genes {
                let term = match Op::ALL.get(symbol) {
                    Some(op) if !indices.is_empty() => {
                        Term::Apply(*op, first(op.arity(), |index| indices[usize::from(args[index]) % indices.len()]))
                    }
                    _ => Term::Terminal(
                        [
                            Terminal::Feature(0),
                            Terminal::Feature(1),
                            Terminal::Constant(0),
                            Terminal::Constant(1),
                            Terminal::Constant(-1),
                        ][symbol % 5],
                    ),
                };
                indices.push(builder.term(term).unwrap());
            }
            let root = *indices.last().unwrap();
            builder.finish(root)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn values_and_faults_stay(formula in formulas(), a in -3..8, b in prop_oneof![-3..8, any::<i32>()]) {
            let scope = Scope::heaps(2, None);
            let simple = simplify(&formula);
            prop_assert!(simple.size() <= formula.size());
            for on_fault in [OnFault::Stop, OnFault::Zero, OnFault::One, OnFault::Numerator] {
                let value = |formula: &Formula| formula.value(&scope, &[a, b], on_fault).ok();
                prop_assert_eq!(value(&simple), value(&formula));
            }
            prop_assert_eq!(parse(&scope, &formula.text(&scope)), Ok(formula));
        }

        #[test]
        fn columns_are_single_values(formula in formulas(), seed in any::<i32>()) {
            let scope = Scope::heaps(2, None);
            let second = (0..20).map(|index| seed % 5 + index / 3 - 3);
            let features: Vec<Vec<i32>> = vec![(0..20).collect(), second.collect()];
            for on_fault in [OnFault::Stop, OnFault::One] {
                let single: Vec<Option<i32>> = (0..20)
                    .map(|index| formula.value(&scope, &[features[0][index], features[1][index]], on_fault).ok())
                    .collect();
                let column = formula.column(&scope, &features, on_fault);
                match single.iter().position(Option::is_none) {
                    Some(index) => prop_assert_eq!(column, Err(index)),
                    None => prop_assert_eq!(column.map(|column| column.into_iter().map(Some).collect()), Ok(single)),
                }
            }
        }
    }
}
