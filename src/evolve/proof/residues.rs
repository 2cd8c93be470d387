//! Formulas that repeat: whether a formula's value depends on each heap only up to a period, and
//! whether it is then right on one period.
//!
//! Every term gets a [`Shape`]: from heaps of `start` on, `period` more pieces in one heap raise
//! the value by a fixed `drift`. A heap is such a term, and sums, differences and products with
//! constants are. `mod` and `div` by a constant end the drift, if the period is lengthened until it
//! does not matter; comparisons end it once the heap is so large that it decides them. The low bits
//! of sums, differences, products and bitwise terms depend only on low bits, so `and` with a
//! constant always repeats. A formula without drift repeats. So do the values of the game, hence
//! both are compared on one tuple of heaps for each tuple of classes.
//!
//! # Invariants
//! 1. A shape holds for all heaps from 0 to 2^31 − 1, with the wrap of 32-bit integers: exactly if
//!    [`Shape::exact`], otherwise modulo 2^32.

use crate::games::Period;
use crate::language::{Formula, Op, Scope, Term, Terminal, first};
use crate::proof::{Answer, Case};

const CLASSES_MAX: i64 = 1 << 16;
const TUPLES_MAX: u64 = 1 << 18;
const HEAP_MAX: i64 = i32::MAX as i64;

/// How a term depends on the heaps.
#[derive(Clone, Debug)]
struct Shape {
    start: i64,
    period: i64,
    /// What `period` more pieces in each heap add to the value.
    drift: Vec<i64>,
    low: i64,
    high: i64,
    /// Whether the value never wraps.
    exact: bool,
    constant: Option<i32>,
}

impl Shape {
    fn new(start: i64, heaps: usize) -> Shape {
        let (low, high) = (i32::MIN.into(), i32::MAX.into());
        Shape { start, period: 1, drift: vec![0; heaps], low, high, exact: true, constant: None }
    }

    fn within(mut self, low: i64, high: i64) -> Shape {
        (self.low, self.high) = (low, high);
        if low < i32::MIN.into() || high > i32::MAX.into() {
            self.exact = false;
        }
        if !self.exact {
            (self.low, self.high) = (i32::MIN.into(), i32::MAX.into());
            // Only its residue modulo 2^32 has a meaning.
            self.drift.iter_mut().for_each(|drift| *drift = i64::from(*drift as i32));
        }
        self
    }

    fn repeats(&self) -> bool {
        self.drift.iter().all(|drift| *drift == 0)
    }

    /// Returns the same shape with a multiple of its period.
    fn lengthened(&self, period: i64) -> Shape {
        let times = period / self.period;
        let mut longer = self.clone();
        longer.period = period;
        longer.drift.iter_mut().for_each(|drift| *drift = drift.saturating_mul(times));
        longer
    }

    /// Returns the shape with the shortest period whose drift is a multiple of `modulus`, and then
    /// without the drift.
    fn reduced(&self, modulus: i64) -> Shape {
        let times = self.drift.iter().fold(1, |times, drift| lcm(times, modulus / gcd(modulus, drift.abs())));
        let mut reduced = self.lengthened(self.period.saturating_mul(times));
        reduced.drift.fill(0);
        reduced
    }

    fn fits(&self) -> bool {
        self.start.saturating_add(self.period) <= CLASSES_MAX
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

fn lcm(a: i64, b: i64) -> i64 {
    (a / gcd(a, b)).saturating_mul(b)
}

pub(super) fn settle(case: &Case<'_>, values: &Period) -> Answer {
    let heaps = case.scope.features.len();
    let shape = match shape_of(case.formula, case.scope) {
        Ok(shape) => shape,
        Err(reason) => return Answer::Open(reason),
    };
    let start = shape.start.max(values.start as i64);
    let period = lcm(shape.period, values.length as i64);
    let classes = start.saturating_add(period);
    let tuples = (0..heaps).fold(1u64, |tuples, _| tuples.saturating_mul(classes as u64));
    if tuples > TUPLES_MAX {
        return Answer::Open(format!(
            "formula and game repeat together only after {classes} heaps, too many to compare"
        ));
    }
    let mut tuple = vec![0i32; heaps];
    for number in 0..tuples {
        let mut rest = number;
        for heap in &mut tuple {
            *heap = (rest % classes as u64) as i32;
            rest /= classes as u64;
        }
        if !case.is_wrong(&tuple) {
            continue;
        }
        let mut arranged = tuple.clone();
        case.ordering.arrange(&mut arranged);
        if arranged == tuple {
            return Answer::Wrong(tuple);
        }
        return Answer::Open("the formula is right in this ordering only, so classes do not decide it".to_owned());
    }
    Answer::Right(format!(
        "the values of single heaps repeat every {} from {} on, because a window of {} does, and the formula every \
         {} from {} on; both agree on all {tuples} tuples of classes",
        values.length, values.start, values.window, shape.period, shape.start
    ))
}

struct Part {
    shape: Option<Shape>,
    /// Start and period of the low bits, and on how many low bits of the heaps they depend.
    low_bits: Option<(i64, i64)>,
}

/// Returns the shape of a formula that repeats, or the reason why that is not known.
fn shape_of(formula: &Formula, scope: &Scope) -> Result<Shape, String> {
    let heaps = scope.features.len();
    let mut parts: Vec<Part> = Vec::new();
    for (index, term) in formula.terms().iter().enumerate() {
        let (shape, low_bits) = match *term {
            Term::Terminal(terminal) => {
                let shape = terminal_shape(terminal, scope, heaps);
                (shape, matches!(terminal, Terminal::Feature(_) | Terminal::Sum).then_some((0, 1)))
            }
            Term::Apply(op, args) => {
                let args: Vec<&Part> = args[..op.arity()].iter().map(|arg| &parts[usize::from(*arg)]).collect();
                let low_bits = match op {
                    Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Not => {
                        args.iter().try_fold((0, 1), |(start, period), arg| {
                            let (of_start, of_period) = arg.low_bits?;
                            Some((of_start.max(start), lcm(period, of_period)))
                        })
                    }
                    _ => None,
                };
                let shapes: Option<Vec<&Shape>> = args.iter().map(|arg| arg.shape.as_ref()).collect();
                let shape = shapes.and_then(|shapes| apply(op, &shapes, heaps));
                (shape.or_else(|| masked(op, &args, heaps)), low_bits)
            }
        };
        let shape = shape.filter(Shape::fits);
        let repeats = shape.as_ref().filter(|shape| shape.repeats());
        let low_bits = repeats.map(|shape| (shape.start, shape.period)).or(low_bits);
        // The low bits of a part can be enough, but not those of the whole formula.
        if shape.is_none() && (low_bits.is_none() || index + 1 == formula.size()) {
            return Err(format!("{} is not known to repeat", formula.part(scope, index)));
        }
        parts.push(Part { shape, low_bits });
    }
    let shape = parts.pop().and_then(|part| part.shape).filter(Shape::repeats);
    shape.ok_or_else(|| "the formula grows with the heaps".to_owned())
}

/// Returns the shape of `and` with a constant that is not negative: the bits up to its highest one
/// depend on as many low bits of the heaps, even after a wrap.
fn masked(op: Op, args: &[&Part], heaps: usize) -> Option<Shape> {
    let [one, other] = args else { return None };
    let mask = |part: &Part| part.shape.as_ref().and_then(|shape| shape.constant).filter(|mask| *mask >= 0);
    let (mask, part) = mask(one).map(|mask| (mask, other)).or_else(|| mask(other).map(|mask| (mask, one)))?;
    let (start, period) = part.low_bits.filter(|_| op == Op::And)?;
    let bits = i64::from(32 - mask.leading_zeros());
    Some(Shape { period: lcm(period, 1 << bits), ..Shape::new(start, heaps) }.within(0, mask.into()))
}

fn terminal_shape(terminal: Terminal, scope: &Scope, heaps: usize) -> Option<Shape> {
    let count = heaps as i64;
    Some(match terminal {
        Terminal::Feature(heap) => {
            let mut shape = Shape::new(0, heaps).within(0, HEAP_MAX);
            *shape.drift.get_mut(usize::from(heap))? = 1;
            shape
        }
        Terminal::Largest | Terminal::Smallest if heaps == 1 => terminal_shape(Terminal::Feature(0), scope, heaps)?,
        Terminal::Sum => {
            let mut shape = Shape::new(0, heaps);
            shape.drift.fill(1);
            shape.within(0, HEAP_MAX.saturating_mul(count))
        }
        Terminal::Nonempty => Shape::new(1, heaps).within(0, count),
        Terminal::Big => Shape::new(2, heaps).within(0, count),
        Terminal::Number | Terminal::Parameter | Terminal::Constant(_) => {
            let value = scope.value(terminal, &[]);
            Shape { constant: Some(value), ..Shape::new(0, heaps).within(value.into(), value.into()) }
        }
        Terminal::Largest | Terminal::Smallest => return None,
    })
}

fn apply(op: Op, args: &[&Shape], heaps: usize) -> Option<Shape> {
    let start = args.iter().map(|arg| arg.start).max().unwrap_or(0);
    let period = args.iter().fold(1, |period, arg| lcm(period, arg.period));
    let joined = Shape { period, ..Shape::new(start, heaps) };
    let constants: Option<Vec<i32>> = args.iter().map(|arg| arg.constant).collect();
    if let Some(value) = constants.and_then(|values| op.apply(first(values.len(), |index| values[index]))) {
        return Some(Shape { constant: Some(value), ..joined.within(value.into(), value.into()) });
    }
    if !joined.fits() {
        return None;
    }
    // What repeats in every argument repeats in the value; so does a fault.
    let repeats = args.iter().all(|arg| arg.repeats());
    let args: Vec<Shape> = args.iter().map(|arg| arg.lengthened(period)).collect();
    let combined = |of: &dyn Fn(i64, i64) -> i64| {
        let drift = args[0].drift.iter().zip(&args[1].drift).map(|(a, b)| of(*a, *b)).collect();
        Shape { drift, exact: args[0].exact && args[1].exact, ..joined.clone() }
    };
    Some(match (op, args.as_slice()) {
        (Op::Add, [a, b]) => combined(&|a, b| a + b).within(a.low + b.low, a.high + b.high),
        (Op::Sub, [a, b]) => combined(&|a, b| a - b).within(a.low - b.high, a.high - b.low),
        (Op::Not, [a]) => {
            let drift = a.drift.iter().map(|drift| -drift).collect();
            Shape { drift, exact: a.exact, ..joined }.within(-1 - a.high, -1 - a.low)
        }
        (Op::Mul, [a, Shape { constant: Some(factor), .. }] | [Shape { constant: Some(factor), .. }, a]) => {
            let factor = i64::from(*factor);
            let drift = a.drift.iter().map(|drift| drift.saturating_mul(factor)).collect();
            let ends = [a.low * factor, a.high * factor];
            Shape { drift, exact: a.exact, ..joined }.within(ends[0].min(ends[1]), ends[0].max(ends[1]))
        }
        _ if repeats && matches!(op, Op::Eq | Op::Lt) => joined.within(0, 1),
        _ if repeats => joined,
        (Op::Mod, [a, Shape { constant: Some(divisor), .. }]) if *divisor != 0 => {
            let size = i64::from(*divisor).abs();
            a.above_zero()?.reduced(size).cut(if a.low < 0 { 1 - size } else { 0 }, size - 1)
        }
        (Op::Div, [a, Shape { constant: Some(divisor), .. }]) if *divisor > 0 => {
            let divisor = i64::from(*divisor);
            let a = a.above_zero()?;
            let whole = a.reduced(divisor);
            let times = whole.period / a.period;
            let drift = a.drift.iter().map(|drift| drift.saturating_mul(times) / divisor).collect();
            Shape { drift, ..whole }.cut(a.low / divisor, a.high / divisor)
        }
        (Op::Eq | Op::Lt, [a, b]) if a.exact && b.exact => {
            combined(&|a, b| a - b).decided(a.low - b.high, a.high - b.low).within(0, 1)
        }
        (Op::If, [condition, a, b]) if condition.repeats() && a.drift == b.drift => {
            let exact = a.exact && b.exact;
            Shape { drift: a.drift.clone(), exact, ..joined }.within(a.low.min(b.low), a.high.max(b.high))
        }
        _ => return None,
    })
}

impl Shape {
    fn cut(mut self, low: i64, high: i64) -> Shape {
        self.exact = true;
        self.constant = None;
        self.within(low, high)
    }

    /// Returns the shape with a start from which on the value is not negative, or does not change
    /// with the heap.
    fn above_zero(&self) -> Option<Shape> {
        if !self.exact {
            return None;
        }
        let mut above = self.clone();
        for drift in self.drift.iter().filter(|drift| **drift != 0 && self.low < 0) {
            if *drift < 0 {
                return None;
            }
            let rounds = (-self.low + drift - 1) / drift;
            above.start = above.start.max(self.start.saturating_add(self.period.saturating_mul(rounds)));
        }
        Some(above)
    }

    /// Returns the shape of the sign of a difference with this drift and these bounds: with a start
    /// from which on one heap decides it.
    fn decided(mut self, low: i64, high: i64) -> Shape {
        let mut start = self.start;
        for drift in self.drift.iter().copied().filter(|drift| *drift != 0) {
            let bound = if drift > 0 { -low } else { high };
            let rounds = bound.max(0) / drift.abs() + 1;
            start = start.max(self.start.saturating_add(self.period.saturating_mul(rounds)));
        }
        self.start = start;
        self.drift.fill(0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::Ordering;
    use crate::language::{OnFault, parse};
    use crate::proof::Law;
    use trinim_game::Rule;
    use trinim_game::random::Random;

    fn answer(game: &str, rule: Rule, text: &str, ordering: Ordering) -> Answer {
        let (law, scope, formula) = Law::case(game, rule, text);
        let Law::Repeats { period, .. } = &law else { panic!() };
        let on_fault = OnFault::Stop;
        settle(&Case { law: &law, formula: &formula, scope: &scope, ordering, on_fault }, period)
    }

    #[test]
    fn strategies_of_subtraction_games_are_proved() {
        for (game, rule, text) in [
            ("subtraction:1,2,3:20", Rule::Normal, "a1 mod 4"),
            ("subtraction:1,2,3:20", Rule::Normal, "a1 and 3"),
            ("subtraction:1,2,3:20", Rule::Normal, "a1 - (a1 div 4) * 4 - 0"),
            ("subtraction:1,2,3:20", Rule::Normal, "(2 * a1) and 7"),
            ("subtraction:1,2,3:20", Rule::Misere, "(a1 - 1) mod 4"),
            ("subtraction:1,2,3:20", Rule::Misere, "(a1 mod 4) - 1"),
            ("subtraction:1,2,3:9,9", Rule::Normal, "(a1 mod 4) xor (a2 mod 4)"),
            ("subtraction:1,2,3:9,9", Rule::Normal, "(a1 xor a2) and 3"),
            ("subtraction:1,2,3:9,9", Rule::Normal, "(a1 - a2) and 3"),
            ("subtraction:2:20", Rule::Normal, "a1 and 2"),
            ("subtraction:1,2,3:9,9", Rule::Normal, "((a1 or a2) - (a1 and a2)) and (1 + 2)"),
        ] {
            let answer = answer(game, rule, text, Ordering::All);
            assert!(matches!(answer, Answer::Right(_)), "{text}: {answer:?}");
        }
    }

    #[test]
    fn wrong_ones_are_refuted_and_others_stay_open() {
        let check = |text| answer("subtraction:1,2,3:20", Rule::Normal, text, Ordering::All);
        assert_eq!(check("a1 mod 5"), Answer::Wrong(vec![4]));
        assert_eq!(check("if(lt(a1, 100), a1 mod 4, 0)"), Answer::Wrong(vec![101]));
        assert!(matches!(check("if(eq(a1, 1000), 3, a1 and 3)"), Answer::Wrong(heaps) if heaps == [1000]));
        for text in ["a1", "(a1 + 1) mod 4 - 1", "(4 * a1) mod 16", "phi(a1) mod 4"] {
            assert!(matches!(check(text), Answer::Open(_)), "{text}: {:?}", check(text));
        }
    }

    /// Checks the promises of a shape at random heaps up to the largest.
    #[test]
    fn shapes_hold_up_to_the_largest_heap() {
        let scope = Scope::heaps(2, None);
        let mut random = Random::new(7);
        for text in [
            "a1 mod 7 - a2 mod 3",
            "(3 * a1 - a2) and 5",
            "(a1 div 3) mod 4 + lt(a2, 9)",
            "eq(a1, 5) * (a2 and 6)",
            "(2147483647 - a1) mod 6",
            "(a1 + a2 + a1 * 7) and 13",
            "if(lt(a1, 4), a2 mod 2, (a2 + 0) mod 4)",
            "big + nonempty xor (a2 mod -3)",
        ] {
            let formula = parse(&scope, text).unwrap();
            let shape = shape_of(&formula, &scope).unwrap_or_else(|reason| panic!("{text}: {reason}"));
            for _ in 0..20_000 {
                let heaps: Vec<i64> =
                    (0..2).map(|_| (random.bits() & 0x7fff_ffff) as i64 >> random.below(31)).collect();
                let place = random.index(2);
                let mut moved = heaps.clone();
                moved[place] += shape.period * (1 + random.below(1 << 20) as i64);
                if heaps[place] < shape.start || moved[place] > HEAP_MAX {
                    continue;
                }
                let value = |heaps: &[i64]| {
                    let heaps: Vec<i32> = heaps.iter().map(|heap| *heap as i32).collect();
                    formula.value(&scope, &heaps, OnFault::Stop).ok()
                };
                assert_eq!(value(&heaps), value(&moved), "{text}: {heaps:?} {moved:?}");
            }
        }
    }
}
