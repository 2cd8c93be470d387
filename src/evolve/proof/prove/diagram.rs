//! Binary decision diagrams: Boolean functions in a canonical form (Bryant 1986).
//!
//! A diagram is reduced and ordered, so two functions are equal exactly if their indices are.
//! Nothing is freed: a proof uses one table and drops it. The prover replaces all variables by
//! functions at once within a budget of work, and then removes the inputs, the lowest variables,
//! which needs at most one pass. Libraries offer neither as one step with a budget.
//!
//! # Invariants
//! 1. Indices depend only on the calls: no address and no random state enters a hash.
//! 2. Once the budget is used up, every answer is `FALSE` and [`Diagrams::is_exhausted`] is true.

pub(super) type Function = u32;
pub(super) const FALSE: Function = 0;
pub(super) const TRUE: Function = 1;

/// Variable of the two constants, below all others.
const NONE: u32 = u32::MAX;
const MEMO_BITS: u32 = 18;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Node {
    variable: u32,
    low: Function,
    high: Function,
}

pub(super) struct Diagrams {
    nodes: Vec<Node>,
    /// Places of nodes by hash; 0 is free. At most half full.
    places: Vec<u32>,
    /// Results of [`Diagrams::choose`], each overwritten by the next of its hash.
    memo: Vec<[u32; 4]>,
    /// Results of [`Diagrams::replace`] by function, with the number of the call.
    replaced: Vec<(u32, Function)>,
    calls: u32,
    work: u64,
    budget: u64,
}

fn mix(a: u32, b: u32, c: u32) -> u64 {
    let x = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ x >> 32 ^ u64::from(c)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ x >> 32
}

impl Diagrams {
    /// Makes a table that gives up after `budget` steps, some tens of nanoseconds each.
    pub(super) fn new(budget: u64) -> Diagrams {
        let constant = |value| Node { variable: NONE, low: value, high: value };
        Diagrams {
            nodes: vec![constant(FALSE), constant(TRUE)],
            places: vec![0; 1 << 12],
            memo: vec![[u32::MAX; 4]; 1 << MEMO_BITS],
            replaced: Vec::new(),
            calls: 0,
            work: 0,
            budget,
        }
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.work > self.budget
    }

    fn node(&mut self, variable: u32, low: Function, high: Function) -> Function {
        if low == high {
            return low;
        }
        let node = Node { variable, low, high };
        let mask = self.places.len() - 1;
        let mut place = mix(variable, low, high) as usize & mask;
        while self.places[place] != 0 {
            if self.nodes[self.places[place] as usize] == node {
                return self.places[place];
            }
            place = (place + 1) & mask;
        }
        self.places[place] = self.nodes.len() as u32;
        self.nodes.push(node);
        if self.nodes.len() * 2 > self.places.len() {
            self.grow();
        }
        self.nodes.len() as u32 - 1
    }

    fn grow(&mut self) {
        let mask = self.places.len() * 2 - 1;
        self.places = vec![0; mask + 1];
        for (index, node) in self.nodes.iter().enumerate().skip(2) {
            let mut place = mix(node.variable, node.low, node.high) as usize & mask;
            while self.places[place] != 0 {
                place = (place + 1) & mask;
            }
            self.places[place] = index as u32;
        }
    }

    /// Returns the function that is true where this variable is.
    pub(super) fn variable(&mut self, variable: u32) -> Function {
        self.node(variable, FALSE, TRUE)
    }

    fn halves(&self, function: Function, variable: u32) -> (Function, Function) {
        let node = self.nodes[function as usize];
        if node.variable == variable { (node.low, node.high) } else { (function, function) }
    }

    /// Returns `then` where `test` is true, otherwise `other`.
    pub(super) fn choose(&mut self, test: Function, then: Function, other: Function) -> Function {
        match (test, then, other) {
            (TRUE, ..) => return then,
            (FALSE, ..) => return other,
            (_, TRUE, FALSE) => return test,
            _ if then == other => return then,
            _ if self.work > self.budget => return FALSE,
            _ => {}
        }
        let place = (mix(test, then, other) >> (32 - MEMO_BITS)) as usize & ((1 << MEMO_BITS) - 1);
        let [a, b, c, result] = self.memo[place];
        if (a, b, c) == (test, then, other) {
            return result;
        }
        self.work += 1;
        let top = [test, then, other].map(|function| self.nodes[function as usize].variable);
        let top = top[0].min(top[1]).min(top[2]);
        let (test_low, test_high) = self.halves(test, top);
        let (then_low, then_high) = self.halves(then, top);
        let (other_low, other_high) = self.halves(other, top);
        let low = self.choose(test_low, then_low, other_low);
        let high = self.choose(test_high, then_high, other_high);
        let result = self.node(top, low, high);
        if self.work <= self.budget {
            self.memo[place] = [test, then, other, result];
        }
        result
    }

    pub(super) fn not(&mut self, a: Function) -> Function {
        self.choose(a, FALSE, TRUE)
    }

    pub(super) fn and(&mut self, a: Function, b: Function) -> Function {
        self.choose(a.min(b), a.max(b), FALSE)
    }

    pub(super) fn or(&mut self, a: Function, b: Function) -> Function {
        self.choose(a.min(b), TRUE, a.max(b))
    }

    pub(super) fn xor(&mut self, a: Function, b: Function) -> Function {
        let (a, b) = (a.min(b), a.max(b));
        let not = self.not(b);
        self.choose(a, not, b)
    }

    /// Returns the earlier result of this call for a function.
    fn known(&self, function: Function) -> Option<Function> {
        let known = self.replaced.get(function as usize).filter(|(call, _)| *call == self.calls);
        known.map(|(_, result)| *result)
    }

    fn keep(&mut self, function: Function, result: Function) -> Function {
        if self.replaced.len() <= function as usize {
            self.replaced.resize(self.nodes.len(), (0, FALSE));
        }
        self.replaced[function as usize] = (self.calls, result);
        result
    }

    /// Replaces each variable by the function in its place.
    pub(super) fn replace(&mut self, function: Function, by: &[Function]) -> Function {
        self.calls += 1;
        self.replace_below(function, by)
    }

    fn replace_below(&mut self, function: Function, by: &[Function]) -> Function {
        if function <= TRUE || self.is_exhausted() {
            return function;
        }
        if let Some(result) = self.known(function) {
            return result;
        }
        self.work += 1;
        let Node { variable, low, high } = self.nodes[function as usize];
        let low = self.replace_below(low, by);
        let high = self.replace_below(high, by);
        let result = self.choose(by[variable as usize], high, low);
        self.keep(function, result)
    }

    /// Returns where some values of the variables from `first` on make the function true.
    ///
    /// These are the lowest variables, so every node of theirs is a function of only them, and true
    /// for some values because it is not `FALSE`.
    pub(super) fn exists_from(&mut self, function: Function, first: u32) -> Function {
        self.calls += 1;
        self.exists_below(function, first)
    }

    fn exists_below(&mut self, function: Function, first: u32) -> Function {
        if function <= TRUE {
            return function;
        }
        let Node { variable, low, high } = self.nodes[function as usize];
        if variable >= first {
            return TRUE;
        }
        if let Some(result) = self.known(function) {
            return result;
        }
        self.work += 1;
        let low = self.exists_below(low, first);
        let high = self.exists_below(high, first);
        let result = self.node(variable, low, high);
        self.keep(function, result)
    }

    /// Returns the value for these values of the variables.
    pub(super) fn value(&self, mut function: Function, of: impl Fn(u32) -> bool) -> bool {
        while function > TRUE {
            let Node { variable, low, high } = self.nodes[function as usize];
            function = if of(variable) { high } else { low };
        }
        function == TRUE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_functions_have_one_index() {
        let mut diagrams = Diagrams::new(1 << 20);
        let [a, b, c] = [0, 1, 2].map(|variable| diagrams.variable(variable));
        let (ab, bc) = (diagrams.xor(a, b), diagrams.xor(b, c));
        let (left, right) = (diagrams.xor(ab, c), diagrams.xor(a, bc));
        assert_eq!(left, right);
        let (or, not) = (diagrams.or(a, b), diagrams.not(a));
        let (nor, not_b) = (diagrams.not(or), diagrams.not(b));
        assert_eq!(nor, diagrams.and(not, not_b));
        for values in 0..8u32 {
            let of = |variable: u32| values >> variable & 1 == 1;
            assert_eq!(diagrams.value(left, of), values.count_ones() % 2 == 1);
        }
    }

    #[test]
    fn variables_are_replaced_all_at_once() {
        let mut diagrams = Diagrams::new(1 << 20);
        let [a, b, c] = [0, 1, 2].map(|variable| diagrams.variable(variable));
        let not_b = diagrams.not(b);
        let function = diagrams.and(a, not_b);
        // a and b change places.
        let swapped = diagrams.replace(function, &[b, a, c]);
        let not_a = diagrams.not(a);
        assert_eq!(swapped, diagrams.and(b, not_a));
        let with_input = diagrams.and(a, c);
        assert_eq!(diagrams.exists_from(with_input, 2), a);
        assert_eq!(diagrams.exists_from(c, 2), TRUE);
        assert_eq!(diagrams.exists_from(with_input, 0), TRUE);
    }

    #[test]
    fn a_used_up_budget_shows() {
        let mut diagrams = Diagrams::new(5);
        let parity = (0..64).fold(FALSE, |parity, variable| {
            let variable = diagrams.variable(variable);
            diagrams.xor(parity, variable)
        });
        assert!(diagrams.is_exhausted());
        assert_eq!(parity, FALSE);
    }
}
