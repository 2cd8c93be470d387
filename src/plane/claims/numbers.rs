//! The sequences, the necessary precision of the golden ratio, and the examples.

use super::super::golden::{Ratio, TABLE_2, cut, decimals_needed, first_failure, paper_steps, steps_needed};
use super::super::heaps::{self, grouped};
use super::super::paper::{self, Generator};
use super::super::sequence::{self, Place};
use super::{Effort, PAPER, newton_steps};
use dashu_int::UBig;
use trinim_game::claims::Claim;

fn big(number: u64) -> UBig {
    number.into()
}

/// Formats `number / 10^scale` with this many decimals, rounded.
fn decimal(number: u64, scale: u32, places: u32) -> String {
    let unit = 10u64.pow(scale - places);
    let (rounded, one) = ((number + unit / 2) / unit, 10u64.pow(places));
    format!("{}.{:0width$}", rounded / one, rounded % one, width = places as usize)
}

/// Sections 6, 13 and 16: the generator and the equations of the indices.
pub(super) fn sequences(effort: Effort) -> Vec<Claim> {
    let most = effort.numbers;
    // How many points contain a number, and its place.
    let mut places: Vec<(u32, Option<Place>)> = vec![(0, None); most as usize + 1];
    let mut wrong = None;
    for (n, a, b) in Generator::default().take_while(|(_, a, _)| *a <= most) {
        let index = big(n);
        if big(a) != sequence::a(&index) || big(b) != sequence::b(&index) {
            wrong.get_or_insert(n);
        }
        for (number, place) in [(a, Place::A(index.clone())), (b, Place::B(index))] {
            if let Some(found) = places.get_mut(number as usize) {
                *found = (found.0 + 1, Some(place));
            }
        }
    }
    let through = format!("for all numbers up to {}", grouped(most));
    let generator = match &wrong {
        None => format!("equal to ⌊nφ⌋ and ⌊nφ²⌋ {through}"),
        Some(n) => format!("first wrong at n = {n}"),
    };
    let ratio = Ratio::up_to(&big(most));
    let first = |is_wrong: &dyn Fn(u64) -> bool| (1..=most).find(|number| is_wrong(*number));
    let twice = first(&|number| places[number as usize].0 != 1);
    let other = first(&|number| places[number as usize].1 != Some(ratio.place(&big(number))));
    let found = |wrong: Option<u64>| wrong.map_or(format!("so {through}"), |number| format!("not so for {number}"));
    vec![
        PAPER.fact("generator", generator, wrong.is_none()).because(
            "the damaged test of W3 is read as a + 1 < a_(j+1) + j; with n in place of j it makes 1, 3, 4, 5, 6",
        ),
        PAPER.fact("once", found(twice), twice.is_none()),
        PAPER.fact("indices", found(other), other.is_none()),
    ]
}

/// Returns whether `|x - φ| < 1 / bound`.
fn is_within(x: &Ratio, bound: &UBig) -> bool {
    let (p, q) = (&x.numerator * bound, &x.denominator * bound);
    sequence::is_below(&(&p - &x.denominator), &q) && !sequence::is_below(&(p + &x.denominator), &q)
}

/// Lists the k of a claim.
fn list(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    if numbers.is_empty() { "none".to_owned() } else { format!("k = {}", numbers.join(", ")) }
}

/// Sections 14 and 15: theorem 4, Newton's steps and table 2.
pub(super) fn accuracy(effort: Effort) -> Vec<Claim> {
    let digits = effort.digits as usize;
    let mut claims = vec![theorem_4(digits), newton_squares()];
    let too_few: Vec<usize> = (1..=digits).filter(|k| paper_steps(*k) < steps_needed(*k)).collect();
    claims.push(
        PAPER
            .fact(
                "steps",
                format!("too few for {} of the k from 1 to {digits}: {}", too_few.len(), list(&too_few)),
                too_few.is_empty(),
            )
            .because("n times the error below 1 is asked for; n² times the error below 0.45 is needed"),
    );
    let mut before = 0;
    for (steps, first, last) in TABLE_2 {
        let failure = first_failure(&Ratio::newton(steps));
        let right = heaps::length(&failure) - 1;
        let claim = format!("{} for all n up to 10^k", newton_steps(steps));
        let [printed, found] =
            [(first as usize, last as usize), (before, right)].map(|(first, last)| format!("k from {first} to {last}"));
        claims.push(
            Claim::value("table 2", &claim, &printed, found)
                .because(format!("the first n for which that is too few is {}", grouped(failure))),
        );
        before = right + 1;
    }
    let steps = [3, 4, 5, 6, 7, 8, 9].map(|power| (1 << power, steps_needed(1 << power)));
    claims.push(PAPER.fact(
        "order of steps",
        format!("steps needed for n up to {}", steps.map(|(k, steps)| format!("10^{k}: {steps}")).join(", ")),
        steps.windows(2).all(|pair| pair[1].1 <= pair[0].1 + 1),
    ));
    claims.push(PAPER.undecided(
        "time",
        "true for the number of operations",
        "it depends on what one operation is: a heap near n has log n digits, and to read them takes longer than log \
         log n; no winning point has to be stored, as the exact formulas show",
    ));
    claims
}

fn theorem_4(digits: usize) -> Claim {
    let needed: Vec<usize> = (0..=digits).map(decimals_needed).collect();
    let fails: Vec<usize> = (0..=digits).filter(|k| needed[*k] > *k).collect();
    let found = match fails.first() {
        None => format!("so for k from 0 to {digits}"),
        Some(k) => {
            let n = first_failure(&cut(*k));
            let (wrong, right, count) = (cut(*k).a(&n), sequence::a(&n), fails.len());
            format!(
                "false for {count} of the k from 0 to {digits}, first for k = {k}: with {k} decimals n = {n} gives \
                 {wrong}, and a_{n} is {right}"
            )
        }
    };
    let twice: Vec<usize> = (0..=digits).filter(|k| needed[*k] > 2 * k).collect();
    let enough = if (0..=digits).all(|k| needed[k] <= 2 * k + 1) { "enough" } else { "not enough either" };
    PAPER.fact("theorem 4", found, fails.is_empty()).because(format!(
        "nφ can be as near as 0.45/n to a whole number, so the error must be below 0.45/n² instead of 1/n; t = 2k + 1 \
         is {enough} up to k = {digits}, t = 2k is too few for {}",
        list(&twice)
    ))
}

fn newton_squares() -> Claim {
    const ROUNDS: u32 = 8;
    let good = (0..=ROUNDS).filter(|r| is_within(&Ratio::newton(*r), &big(10).pow(3 << r))).count();
    PAPER.fact(
        "squares",
        format!("so for {good} of the {} steps r from 0 to {ROUNDS}", ROUNDS + 1),
        good == ROUNDS as usize + 1,
    )
}

/// Examples 6 and 7.
pub(super) fn examples() -> Vec<Claim> {
    let find = |test: &dyn Fn(&UBig) -> bool| (1u32..).map(UBig::from).find(test).unwrap_or_default();
    let s = big(102);
    let k = find(&|k| sequence::is_below(&s, k));
    let a = sequence::a(&k);
    let i = find(&|i| *i > s || sequence::is_below(&(&s - i), i));
    let b = sequence::b(&i);
    // 1/φ² is 2 - φ; five more digits than the paper prints.
    let quotient = big(102 * 200_000_000) - sequence::a(&big(102 * 100_000_000));
    let quotient = decimal(u64::try_from(&quotient).unwrap_or(0), 8, 3);
    let (short, long) = (big(2_718_282), big(3_141_593));
    let m = &long - &short;
    let (printed, computed) = ("323,311", grouped(&m));
    let wrong = computed.chars().zip(printed.chars()).filter(|(one, other)| one != other).count();
    let steps = paper_steps(paper::logarithm(&m));
    let ratio = Ratio::newton(steps);
    let (found, exact) = (ratio.a(&m), sequence::a(&m));
    vec![
        PAPER.value("k", k.clone()),
        PAPER.value("a", a),
        PAPER.value("quotient", quotient),
        PAPER.value("i", i),
        PAPER.value("b", b),
        Claim::value("example 7", "m = L - S for S = 2,718,282 and L = 3,141,593", printed, &computed).misprint(
            format!(
                "{wrong} of the {} characters differs; both heaps are printed and their difference is no other",
                computed.len()
            ),
        ),
        PAPER.value("newton", steps),
        PAPER
            .fact(
                "accuracy",
                format!("{} after {steps} step, {} exactly", grouped(&found), grouped(&exact)),
                found == exact,
            )
            .because(format!(
                "right for this m; the smallest for which one step is wrong is {}",
                grouped(first_failure(&Ratio::newton(1)))
            )),
    ]
}

/// Section 18: how many numbers each sequence has, and the order of the two equations.
pub(super) fn order() -> Vec<Claim> {
    let (a, b) = paper::counts(&big(50));
    const POWERS: usize = 18;
    // M/φ = Mφ - M.
    let is_near = |power: &usize| {
        let most = big(10).pow(*power);
        let (share, found) = (sequence::a(&most) - &most, paper::counts(&most).0);
        found >= share && found <= share + 1u8
    };
    let near = (1..=POWERS).filter(is_near).count();
    const MOST: u64 = 1_000_000;
    let (in_a, in_b) = paper::counts(&big(MOST));
    let [in_a, in_b] = [in_a, in_b].map(|count| u64::try_from(&count).unwrap_or(0));
    let (a_first, b_first) = (in_a + 2 * in_b, 2 * in_a + in_b);
    // In thousandths: the first equation is the right one for 0.618 of the a and 0.382 of the b.
    let random = 2_000 * MOST - 618 * in_a - 382 * in_b;
    let [a_mean, b_mean] = [a_first, b_first].map(|equations| decimal(equations, 6, 4));
    let random = decimal(random, 9, 4);
    let means = format!("{a_mean} equations with A first, {random} at random, {b_mean} with B first");
    vec![
        PAPER.fact("shares", format!("within 1 for {near} of the powers 10 to 10^{POWERS}"), near == POWERS),
        PAPER.value("up to 50", format!("{a} and {b}")),
        PAPER.fact("first", &means, a_first < b_first),
        PAPER.undecided(
            "random",
            &means,
            "the paper does not say what it gains; it tries more equations than A first, and one equation would be \
             enough, as a number that is no a is a b",
        ),
    ]
}
