//! Proofs that a formula is right for all heaps, decided bit by bit.
//!
//! A check up to some heap size proves nothing beyond it. But formulas of `+ - and or xor not`,
//! constants and products with constants can read heaps from the lowest bit upwards with a memory
//! of one carry or borrow for each `+` and `-`: they are finite automata over bit columns. So is
//! the outcome of Nim and of Moore's Nim (Bouton 1901, Moore 1910: a bit column whose sum is not a
//! multiple of k + 1), in misère play too (a few more bits: whether a heap of 2 or more exists, and
//! the parity of the heaps of 1), and so is the order of heaps. Running both side by side over all
//! 32 columns reaches every pair of conditions that any heaps can reach, and compares their
//! verdicts: the answer is exact for all heaps below 2^31, including the wrap at 32 bits. In
//! particular `x - y` is 0 exactly where `x xor y` is. Ours.
//!
//! A condition is one word: carries, flags of the order, flags of the outcome. Each bit has a set
//! of conditions, each with its predecessor, so that the heaps can be recovered if the verdicts
//! differ. Products of two variables, quotients and comparisons are undecided: they need an
//! unbounded number of carries, or the highest bit first.
//!
//! # Invariants
//! 1. `Proved` means that all conditions were compared. Anything undecided is `Open`, with the
//!    reason.
//!
//! # Cost
//! `conditions · 2^heaps · terms` for each of 32 bits. The proof gives up if the product of the
//! first two exceeds [`WORK_MAX`] at some bit.

use super::formula::{Formula, Term};
use super::graph::Ordering;
use super::int::Op;
use super::scope::{Scope, Terminal};
use super::simplify::simplify;
use crate::game::Rule;
use std::collections::HashMap;

/// Limit on conditions times inputs for one bit.
pub const WORK_MAX: usize = 1 << 18;
/// Limit on the carries.
const CARRIES_MAX: usize = 40;
/// Bits of an integer.
const BITS: u32 = 32;

/// A known theorem about a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theorem {
    /// The outcome of Moore's Nim with moves on up to `most` heaps; 1 is Nim.
    Outcome {
        /// Most heaps that a move may change.
        most: u32,
        /// Who wins when no move is left.
        rule: Rule,
    },
    /// The Grundy value of Nim is the xor of all heaps.
    Grundy,
}

/// The outcome of an attempted proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The formula is right for all heaps from 0 to 2^31 − 1 in this ordering.
    Proved,
    /// The formula is wrong for these heaps.
    Refuted(Vec<i32>),
    /// The question is undecided, for this reason.
    Open(String),
}

/// Computes one bit of a term from bits of earlier ones.
#[derive(Clone, Copy)]
enum Wire {
    Heap(usize),
    Constant(u32),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Xor(usize, usize),
    /// Sum, with the place of its carry.
    Add(usize, usize, usize),
    /// Difference, with the place of its borrow.
    Sub(usize, usize, usize),
}

#[derive(Default)]
struct Circuit {
    wires: Vec<Wire>,
    carries: usize,
}

impl Circuit {
    fn wire(&mut self, wire: Wire) -> usize {
        self.wires.push(wire);
        self.wires.len() - 1
    }

    fn add(&mut self, a: usize, b: usize) -> usize {
        self.carries += 1;
        self.wire(Wire::Add(a, b, self.carries - 1))
    }

    fn sub(&mut self, a: usize, b: usize) -> usize {
        self.carries += 1;
        self.wire(Wire::Sub(a, b, self.carries - 1))
    }

    /// Multiplies `a` by `factor` by doubling and adding, highest bit first.
    fn times(&mut self, a: usize, factor: i32) -> usize {
        let size = factor.unsigned_abs();
        let mut product = self.wire(Wire::Constant(0));
        for bit in (0..u32::BITS - size.leading_zeros()).rev() {
            // Skip the first doubling, which would be of 0.
            if size >> bit > 1 {
                product = self.add(product, product);
            }
            if size >> bit & 1 == 1 {
                product = if size >> bit == 1 { a } else { self.add(product, a) };
            }
        }
        if factor < 0 {
            let zero = self.wire(Wire::Constant(0));
            product = self.sub(zero, product);
        }
        product
    }

    fn of(formula: &Formula, scope: &Scope) -> Result<Circuit, String> {
        let mut circuit = Circuit::default();
        let mut places: Vec<usize> = Vec::new();
        let constant = |term: u16| match formula.terms()[usize::from(term)] {
            Term::Terminal(Terminal::Constant(value)) => Some(value),
            Term::Terminal(terminal @ (Terminal::Number | Terminal::Parameter)) => Some(scope.value(terminal, &[])),
            _ => None,
        };
        for (index, term) in formula.terms().iter().enumerate() {
            let place = match *term {
                Term::Terminal(Terminal::Feature(heap)) => circuit.wire(Wire::Heap(usize::from(heap))),
                Term::Terminal(terminal) => match constant(index as u16) {
                    Some(value) => circuit.wire(Wire::Constant(value as u32)),
                    None => return Err(format!("{terminal} cannot be decided bit by bit")),
                },
                Term::Apply(op, [a, b, _]) => {
                    let [left, right] = [a, b].map(|arg| places.get(usize::from(arg)).copied().unwrap_or(0));
                    match (op, constant(a), constant(b)) {
                        (Op::Not, ..) => circuit.wire(Wire::Not(left)),
                        (Op::And, ..) => circuit.wire(Wire::And(left, right)),
                        (Op::Or, ..) => circuit.wire(Wire::Or(left, right)),
                        (Op::Xor, ..) => circuit.wire(Wire::Xor(left, right)),
                        (Op::Add, ..) => circuit.add(left, right),
                        (Op::Sub, ..) => circuit.sub(left, right),
                        (Op::Mul, _, Some(factor)) => circuit.times(left, factor),
                        (Op::Mul, Some(factor), _) => circuit.times(right, factor),
                        _ => return Err(format!("{} cannot be decided bit by bit", formula.part(scope, index))),
                    }
                }
            };
            places.push(place);
        }
        if circuit.carries > CARRIES_MAX {
            return Err(format!("{} sums and differences exceed the limit of {CARRIES_MAX}", circuit.carries));
        }
        // The last wire is the formula, whatever its root term.
        let root = places.last().copied().unwrap_or(0);
        circuit.wire(Wire::Or(root, root));
        Ok(circuit)
    }

    /// Computes the bit of the formula in this column and the carries after it.
    fn step(&self, bit: u32, heaps: u32, carries: u64, values: &mut Vec<bool>) -> (bool, u64) {
        values.clear();
        let mut after = 0;
        for wire in &self.wires {
            values.push(match *wire {
                Wire::Heap(heap) => heaps >> heap & 1 == 1,
                Wire::Constant(value) => value >> bit & 1 == 1,
                Wire::Not(a) => !values[a],
                Wire::And(a, b) => values[a] & values[b],
                Wire::Or(a, b) => values[a] | values[b],
                Wire::Xor(a, b) => values[a] ^ values[b],
                Wire::Add(a, b, place) => {
                    let (a, b, carry) = (values[a], values[b], carries >> place & 1 == 1);
                    after |= u64::from(a & b | carry & (a ^ b)) << place;
                    a ^ b ^ carry
                }
                Wire::Sub(a, b, place) => {
                    let (a, b, borrow) = (values[a], values[b], carries >> place & 1 == 1);
                    after |= u64::from(!a & b | borrow & !(a ^ b)) << place;
                    a ^ b ^ borrow
                }
            });
        }
        (values.last().copied().unwrap_or(false), after)
    }
}

// Flags above the carries; above them the order of neighbouring heaps.
const FORMULA: u64 = 1 << CARRIES_MAX;
const COLUMN: u64 = FORMULA << 1;
const BIG: u64 = FORMULA << 2;
const ONE: u64 = FORMULA << 3;
const ORDER: u32 = CARRIES_MAX as u32 + 4;

/// Decides whether a formula is right for all heaps in this ordering.
pub fn prove(formula: &Formula, scope: &Scope, theorem: Theorem, ordering: Ordering) -> Proof {
    let circuit = match Circuit::of(&simplify(formula), scope) {
        Ok(circuit) => circuit,
        Err(reason) => return Proof::Open(reason),
    };
    let heaps = scope.features.len() as u32;
    // How each condition after some number of bits was reached: its predecessor and the column
    // read.
    let mut levels: Vec<HashMap<u64, (u64, u32)>> = vec![HashMap::from([(0, (0, 0))])];
    let mut values = Vec::new();
    for bit in 0..BITS {
        // Heaps are not negative.
        let inputs = if bit < BITS - 1 { 1u32 << heaps } else { 1 };
        let Some(now) = levels.last() else { break };
        if now.len() * inputs as usize > WORK_MAX {
            return Proof::Open(format!("too many conditions at bit {bit}: {}", now.len()));
        }
        let mut next = HashMap::new();
        for condition in now.keys() {
            for column in 0..inputs {
                let after = advance(&circuit, theorem, ordering, heaps, *condition, bit, column, &mut values);
                next.entry(after).or_insert((*condition, column));
            }
        }
        levels.push(next);
    }
    let last = levels.last().into_iter().flat_map(HashMap::keys);
    // Of several wrong conditions take the smallest, so the answer is always the same.
    let wrong = last.filter(|condition| **condition >> ORDER == 0 && !is_right(theorem, **condition)).min();
    let Some(&wrong) = wrong else { return Proof::Proved };
    let mut found = vec![0i32; heaps as usize];
    let mut condition = wrong;
    for (bit, level) in levels.iter().enumerate().skip(1).rev() {
        let Some((before, column)) = level.get(&condition) else { break };
        for (heap, value) in found.iter_mut().enumerate() {
            *value |= ((column >> heap & 1) << (bit - 1)) as i32;
        }
        condition = *before;
    }
    Proof::Refuted(found)
}

#[expect(clippy::too_many_arguments, reason = "one step of a loop, kept apart to be read on its own")]
fn advance(
    circuit: &Circuit,
    theorem: Theorem,
    ordering: Ordering,
    heaps: u32,
    condition: u64,
    bit: u32,
    column: u32,
    values: &mut Vec<bool>,
) -> u64 {
    let (value, mut after) = circuit.step(bit, column, condition, values);
    after |= condition & (FORMULA | COLUMN | BIG | ONE);
    match theorem {
        Theorem::Grundy => {
            if value != (column.count_ones() % 2 == 1) {
                after |= FORMULA;
            }
        }
        Theorem::Outcome { most, rule } => {
            let rest = column.count_ones() % (most + 1);
            after |= if value { FORMULA } else { 0 };
            after |= if rest != 0 { COLUMN } else { 0 };
            if rule == Rule::Misere {
                after |= if bit == 0 && rest == 1 { ONE } else { 0 };
                after |= if bit > 0 && column != 0 { BIG } else { 0 };
            }
        }
    }
    // An order flag is set while the heap that should be larger is smaller in the bits so far.
    for pair in 0..heaps.saturating_sub(1) {
        let (left, right) = (column >> pair & 1, column >> (pair + 1) & 1);
        let wrong = match ordering {
            Ordering::All => break,
            _ if left == right => condition >> (ORDER + pair) & 1,
            Ordering::Descending => u64::from(left < right),
            Ordering::Ascending => u64::from(left > right),
        };
        after |= wrong << (ORDER + pair);
    }
    after
}

/// Returns whether formula and theorem agree once all bits are read.
fn is_right(theorem: Theorem, condition: u64) -> bool {
    let is = |flag: u64| condition & flag != 0;
    match theorem {
        Theorem::Grundy => !is(FORMULA),
        Theorem::Outcome { rule: Rule::Normal, .. } => is(FORMULA) == is(COLUMN),
        // With no heap of 2 or more, the player to move loses if the heaps of 1 leave 1.
        Theorem::Outcome { rule: Rule::Misere, .. } => is(FORMULA) == if is(BIG) { is(COLUMN) } else { !is(ONE) },
    }
}

#[cfg(test)]
mod tests {
    use super::super::games::Game;
    use super::super::int::OnFault;
    use super::super::parse::parse;
    use super::*;
    use crate::game::Value;
    use proptest::prelude::*;

    const NIM: Theorem = Theorem::Outcome { most: 1, rule: Rule::Normal };

    fn answer(heaps: usize, text: &str, theorem: Theorem, ordering: Ordering) -> Proof {
        let scope = Scope::heaps(heaps, None);
        prove(&parse(&scope, text).unwrap(), &scope, theorem, ordering)
    }

    #[test]
    fn strategies_of_nim_are_proved() {
        let right = [
            "a1 xor a2 xor a3 xor a4",
            "(a1^a2^a3)-a4",
            "(a3 xor a4) - (a2 xor a1)",
            "n * (a1 xor a2 xor a3 xor a4) + (a1 - a1)",
            "(a1 or a2) - (a1 and a2) - (a3 + a4 - 2 * (a3 and a4))",
            "-3 * (a1 xor a2) + 3 * (a3 xor a4)",
        ];
        for text in right {
            let factor_four = text.starts_with('n');
            let proof = answer(4, text, NIM, Ordering::All);
            // 4x vanishes for x = 2^30 as well.
            assert_eq!(matches!(proof, Proof::Refuted(_)), factor_four, "{text}: {proof:?}");
            assert_eq!(proof == Proof::Proved, !factor_four, "{text}");
        }
    }

    #[test]
    fn wrong_ones_are_refuted_by_heaps_that_are_wrong() {
        let cases = [
            ("a1^a2^(a3-a4)", Ordering::All),
            ("a1-a2+a3-a4", Ordering::All),
            ("((a2 or a1)-a2)-(a4 xor a3)", Ordering::All),
            ("n * (a1 xor a2 xor a3 xor a4)", Ordering::Descending),
            ("0", Ordering::All),
            ("1", Ordering::Ascending),
        ];
        for (text, ordering) in cases {
            let scope = Scope::heaps(4, None);
            let formula = parse(&scope, text).unwrap();
            let Proof::Refuted(heaps) = prove(&formula, &scope, NIM, ordering) else { panic!("{text}") };
            let mut arranged = heaps.clone();
            ordering.arrange(&mut arranged);
            assert_eq!(arranged, heaps, "{text}");
            let value = formula.value(&scope, &heaps, OnFault::Stop).unwrap();
            assert_ne!(value == 0, heaps.iter().fold(0, |xor, heap| xor ^ heap) == 0, "{text}: {heaps:?}");
        }
    }

    #[test]
    fn order_counts() {
        // A difference is zero in any order; the or minus the smaller heap needs the order.
        assert_eq!(answer(2, "a1 - a2", NIM, Ordering::All), Proof::Proved);
        assert_eq!(answer(2, "(a1 or a2) - a2", NIM, Ordering::Descending), Proof::Proved);
        assert!(matches!(answer(2, "(a1 or a2) - a2", NIM, Ordering::All), Proof::Refuted(_)));
        assert!(matches!(answer(2, "(a1 or a2) - a2", NIM, Ordering::Ascending), Proof::Refuted(_)));
    }

    #[test]
    fn grundy_values_need_equality() {
        assert_eq!(answer(3, "a1 xor a2 xor a3", Theorem::Grundy, Ordering::All), Proof::Proved);
        assert_eq!(answer(2, "a1 + a2 - 2*(a1 and a2)", Theorem::Grundy, Ordering::All), Proof::Proved);
        assert!(matches!(answer(2, "a1 - a2", Theorem::Grundy, Ordering::All), Proof::Refuted(_)));
    }

    #[test]
    fn what_cannot_be_decided_is_open() {
        for text in ["a1 * a2", "a1 div 2", "a1 mod a2", "max(a1, a2)", "largest", "if(a1, a2, 0)"] {
            assert!(matches!(answer(2, text, NIM, Ordering::All), Proof::Open(_)), "{text}");
        }
        let sums: String = (0..60).map(|index| format!("+ (a1 xor {index})")).collect();
        assert!(matches!(answer(2, &sums[1..], NIM, Ordering::All), Proof::Open(_)));
    }

    #[test]
    fn theorems_agree_with_the_rules() {
        // The constant 1 is right exactly where the theorem says win, so it reads off the theorem's
        // verdict.
        for (game, most) in [("nim:3,3,3,3", 1), ("moore:2:3,3,3,3", 2), ("moore:3:3,3,3,3", 3)] {
            for rule in Rule::ALL {
                let graph = Game::parse(game).unwrap().graph(rule, Ordering::All).unwrap();
                let constant = |value: &str| Circuit::of(&parse(&graph.scope, value).unwrap(), &graph.scope).unwrap();
                let circuit = constant("1");
                let theorem = Theorem::Outcome { most, rule };
                for (index, value) in (0..).zip(graph.outcomes()) {
                    let position = graph.position(index);
                    let mut condition = 0;
                    for bit in 0..BITS {
                        let column =
                            (0..4).fold(0, |column, heap| column | ((position[heap] >> bit & 1) as u32) << heap);
                        let values = &mut Vec::new();
                        condition = advance(&circuit, theorem, Ordering::All, 4, condition, bit, column, values);
                    }
                    assert_eq!(is_right(theorem, condition), value == Value::Win, "{game} {rule} {position:?}");
                }
            }
        }
    }

    #[test]
    fn misere_nim_is_proved() {
        let misere = Theorem::Outcome { most: 1, rule: Rule::Misere };
        // One heap: only the heap of 1 is lost.
        assert_eq!(answer(1, "a1 - 1", misere, Ordering::All), Proof::Proved);
        assert!(matches!(answer(2, "a1 xor a2", misere, Ordering::All), Proof::Refuted(_)));
        let moore = Theorem::Outcome { most: 2, rule: Rule::Normal };
        assert_eq!(answer(2, "a1 or a2", moore, Ordering::All), Proof::Proved);
        assert_eq!(answer(3, "(a1 xor a2) or (a2 xor a3)", moore, Ordering::All), Proof::Proved);
        assert!(matches!(answer(3, "a1 or a2", moore, Ordering::All), Proof::Refuted(_)));
    }

    proptest! {
        #[test]
        fn the_circuit_computes_the_formula(
            formula in super::super::simplify::tests::formulas(),
            a in 0..i32::MAX,
            b in 0..100,
        ) {
            let scope = Scope::heaps(2, None);
            if let Ok(circuit) = Circuit::of(&formula, &scope) {
                let (mut carries, mut value) = (0, 0u32);
                for bit in 0..BITS {
                    let column = (a >> bit & 1 | (b >> bit & 1) << 1) as u32;
                    let (out, after) = circuit.step(bit, column, carries, &mut Vec::new());
                    carries = after;
                    value |= u32::from(out) << bit;
                }
                prop_assert_eq!(Ok(value as i32), formula.value(&scope, &[a, b], OnFault::Stop));
            }
        }
    }
}
