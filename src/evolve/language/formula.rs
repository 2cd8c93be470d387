//! Formulas: terminals and operations in the order of computation. A formula is what a chromosome
//! computes once its unused genes are left out, or what a user types.
//!
//! [`Formula::terms`] lists each distinct subterm once, arguments before operations and left before
//! right, the whole formula last: a tree with shared equal parts. [`Formula::size`] counts the
//! subterms and is the complexity in the Pareto list. The written form repeats shared parts and can
//! be exponentially longer, so beyond [`WRITTEN_MAX`] symbols or [`DEPTH_MAX`] levels a list of
//! definitions replaces it.
//!
//! # Invariants
//! 1. Arguments have lower indices than their operation; every term is used; no two terms are
//!    equal.
//! 2. The written form is fully parenthesised, and parsing it gives the same formula.
//!
//! [`Formula::value`] is the definition, slow and obvious; [`Formula::column`] computes all
//! positions of a graph at once.

use crate::language::{ARITY_MAX, OnFault, Op, Scope, Terminal};
use std::collections::HashMap;
use std::fmt::Write;

/// Limit on the symbols of a formula that is written out.
pub const WRITTEN_MAX: u64 = 2_000;
/// Limit on the nesting of parentheses and calls in a text.
pub const DEPTH_MAX: usize = 200;

/// A subterm of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// A terminal.
    Terminal(Terminal),
    /// An operation on earlier terms; places beyond its arity hold 0.
    Apply(Op, [u16; ARITY_MAX]),
}

/// A formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Formula {
    terms: Vec<Term>,
}

/// A quotient without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Index of the term.
    pub term: usize,
    /// Dividend and divisor.
    pub pair: [i32; 2],
}

impl Fault {
    /// Describes the division: the term, the dividend and the divisor.
    pub fn text(&self, formula: &Formula, scope: &Scope) -> String {
        let [dividend, divisor] = self.pair;
        format!("{} divides {dividend} by {divisor}", formula.part(scope, self.term))
    }
}

/// Collects terms, each once.
#[derive(Default)]
pub struct Builder {
    terms: Vec<Term>,
    known: HashMap<Term, u16>,
}

impl Builder {
    /// Returns the index of a term, adding it if it is new; `None` if there are too many terms.
    pub fn term(&mut self, term: Term) -> Option<u16> {
        if let Some(&index) = self.known.get(&term) {
            return Some(index);
        }
        let index = u16::try_from(self.terms.len()).ok()?;
        self.terms.push(term);
        self.known.insert(term, index);
        Some(index)
    }

    /// Returns the terms collected so far.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns the formula of the term `root`, without the terms it does not use.
    pub fn finish(self, root: u16) -> Formula {
        let mut places: Vec<Option<u16>> = vec![None; self.terms.len()];
        let mut terms = Vec::new();
        // The path down from the root: each term with the number of its arguments already visited.
        let mut path = vec![(root, 0)];
        while let Some((index, seen)) = path.last_mut() {
            let term = &self.terms[usize::from(*index)];
            if let Some(arg) = term.args().get(*seen) {
                *seen += 1;
                if places[usize::from(*arg)].is_none() {
                    path.push((*arg, 0));
                }
                continue;
            }
            places[usize::from(*index)] = Some(terms.len() as u16);
            terms.push(term.renumbered(|arg| places[usize::from(arg)].unwrap_or(0)));
            path.pop();
        }
        Formula { terms }
    }
}

impl Term {
    /// Returns the arguments within the arity.
    pub fn args(&self) -> &[u16] {
        match self {
            Term::Terminal(_) => &[],
            Term::Apply(op, args) => &args[..op.arity()],
        }
    }

    fn renumbered(&self, place: impl Fn(u16) -> u16) -> Term {
        match self {
            Term::Terminal(_) => *self,
            Term::Apply(op, args) => Term::Apply(*op, first(op.arity(), |index| place(args[index]))),
        }
    }
}

/// Builds arguments from their indices, with 0 beyond the arity.
pub(crate) fn first<T: Default + Copy>(arity: usize, make: impl Fn(usize) -> T) -> [T; ARITY_MAX] {
    let mut args = [T::default(); ARITY_MAX];
    args.iter_mut().enumerate().take(arity).for_each(|(index, arg)| *arg = make(index));
    args
}

impl Formula {
    /// Returns the terms, the whole formula last.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns the number of distinct subterms.
    pub fn size(&self) -> usize {
        self.terms.len()
    }

    /// Computes the value at a position by the definition. Slow.
    ///
    /// # Errors
    /// The first quotient without a value, unless `on_fault` replaces it.
    pub fn value(&self, scope: &Scope, position: &[i32], on_fault: OnFault) -> Result<i32, Fault> {
        let mut values: Vec<i32> = Vec::with_capacity(self.terms.len());
        for (term, part) in self.terms.iter().enumerate() {
            values.push(match part {
                Term::Terminal(terminal) => scope.value(*terminal, position),
                Term::Apply(op, args) => {
                    let args = first(op.arity(), |index| values[usize::from(args[index])]);
                    op.apply_with(args, on_fault).ok_or(Fault { term, pair: [args[0], args[1]] })?
                }
            });
        }
        Ok(values.last().copied().unwrap_or(0))
    }

    /// Computes the values at all positions, given their features as columns.
    ///
    /// # Errors
    /// The lowest index of a position at which a quotient has no value, unless `on_fault` replaces
    /// it.
    pub fn column(&self, scope: &Scope, features: &[Vec<i32>], on_fault: OnFault) -> Result<Vec<i32>, usize> {
        let positions = features.first().map_or(0, Vec::len);
        let mut end = positions;
        let mut columns: Vec<Vec<i32>> = Vec::with_capacity(self.terms.len());
        for part in &self.terms {
            let mut out = vec![0; positions];
            match part {
                Term::Terminal(terminal) => scope.fill(*terminal, features, &mut out),
                Term::Apply(op, args) => {
                    let args = args.map(|arg| &columns[usize::from(arg)][..end]);
                    // Positions after a fault do not matter any more, but another term can fault at
                    // an earlier one.
                    if let Err(index) = op.fill(args, &mut out[..end], on_fault) {
                        end = index;
                    }
                }
            }
            columns.push(out);
        }
        if end < positions { Err(end) } else { Ok(columns.pop().unwrap_or_default()) }
    }

    /// Counts the symbols of the written form, with shared parts repeated.
    pub fn written_symbols(&self) -> u64 {
        let mut sizes: Vec<u64> = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let args = term.args().iter().map(|arg| sizes[usize::from(*arg)]);
            sizes.push(args.fold(1, u64::saturating_add));
        }
        sizes.last().copied().unwrap_or(0)
    }

    /// Returns whether the formula is short and shallow enough to be written out.
    pub fn is_written_out(&self) -> bool {
        let mut depths: Vec<usize> = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            depths.push(term.args().iter().map(|arg| depths[usize::from(*arg)] + 1).max().unwrap_or(0));
        }
        depths.last().is_none_or(|depth| *depth <= DEPTH_MAX) && self.written_symbols() <= WRITTEN_MAX
    }

    /// Writes the formula fully parenthesised, or as a list of definitions if that would be too
    /// long or too deep.
    pub fn text(&self, scope: &Scope) -> String {
        let Some(root) = self.terms.len().checked_sub(1) else { return String::new() };
        if self.is_written_out() {
            return self.part(scope, root);
        }
        let mut text = String::new();
        for (index, term) in self.terms.iter().enumerate() {
            let _ = write!(text, "t{index} = {}; ", written(scope, term, |arg| format!("t{arg}")));
        }
        text + &format!("t{root}")
    }

    /// Writes a subterm fully parenthesised, or shortened if that is too long.
    pub fn part(&self, scope: &Scope, term: usize) -> String {
        let mut texts: Vec<String> = Vec::with_capacity(term + 1);
        for part in &self.terms[..=term] {
            let text = written(scope, part, |arg| texts[usize::from(arg)].clone());
            // The caller never prints a part this long.
            texts.push(if text.len() > 64 * WRITTEN_MAX as usize { "(...)".to_owned() } else { text });
        }
        texts.pop().unwrap_or_default()
    }
}

fn written(scope: &Scope, term: &Term, arg: impl Fn(u16) -> String) -> String {
    match term {
        Term::Terminal(terminal) => scope.name(*terminal),
        Term::Apply(op, args) => match (op.arity(), op) {
            (1, Op::Not) => format!("(not {})", arg(args[0])),
            (2, Op::Min | Op::Max | Op::Eq | Op::Lt) | (1 | 3, _) => {
                let args: Vec<String> = args[..op.arity()].iter().map(|index| arg(*index)).collect();
                format!("{op}({})", args.join(", "))
            }
            _ => format!("({} {op} {})", arg(args[0]), arg(args[1])),
        },
    }
}
