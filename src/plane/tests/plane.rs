//! The library compared with [Ver10], with the rules and with another library of large numbers.
//!
//! `tests/claims.json` has all claims of the paper as the program computes them; the tests here go
//! further or compute in another way.

use dashu_int::UBig;
use num_bigint::BigUint;
use proptest::prelude::*;
use std::collections::HashSet;
use trinim_game::random::Random;
use trinim_game::{Rule, Value};
use trinim_plane::comparison::{Comparison, compare};
use trinim_plane::goals::{Budget, Condition, Flip};
use trinim_plane::golden::{self, Ratio, TABLE_2, first_failure};
use trinim_plane::heaps::{self, Kind, Move, Point};
use trinim_plane::paper::{self, Generator};
use trinim_plane::retrograde::{Setting, Situation, Table};
use trinim_plane::sequence::{self, Place, Points};
use trinim_plane::winning;

fn big(text: &str) -> UBig {
    heaps::parse(text).unwrap()
}

fn point(short: u64, long: u64) -> Point {
    Point::new(short, long)
}

fn loss(n: u64) -> Point {
    Point::new(sequence::a(&n.into()), sequence::b(&n.into()))
}

fn is_right(point: &Point, step: &Move) -> bool {
    winning::value(Rule::Normal, &point.after(step).unwrap()) == Value::Loss
}

// Both goals.

/// The losses of normal play are (⌊nφ⌋, ⌊nφ²⌋); attrition has (0, 1), (2, 2) and those of normal
/// play from the third on.
#[test]
fn losses_of_both_goals() {
    for found in compare(Setting::PLAIN, 400) {
        assert!(found.agrees, "{found:?}");
        assert_eq!((found.losses, found.situations), (154, 401 * 402 / 2));
    }
    assert_eq!(loss(153), point(247, 400));
    let text: Vec<String> = (0..=25).map(|n| loss(n).to_string().replace(' ', "")).collect();
    assert_eq!(
        text.concat(),
        "(0,0)(1,2)(3,5)(4,7)(6,10)(8,13)(9,15)(11,18)(12,20)(14,23)(16,26)(17,28)(19,31)(21,34)(22,36)(24,39)(25,41)\
         (27,44)(29,47)(30,49)(32,52)(33,54)(35,57)(37,60)(38,62)(40,65)"
    );
    for (n, expected) in [(0u8, point(0, 1)), (1, point(2, 2)), (2, point(3, 5)), (3, point(4, 7))] {
        assert_eq!(winning::index(Rule::Misere, &expected), Some(n.into()));
    }
    assert_eq!(winning::value(Rule::Misere, &point(0, 0)), Value::Win);
}

/// Points with 0 to 3 winning points. Two moves can lead to the same point, which swaps its heaps:
/// there are 41 more moves.
#[test]
fn numbers_of_winning_moves() {
    for (rule, expected) in [(Rule::Normal, [58, 8752, 2085, 581]), (Rule::Misere, [59, 8751, 2085, 581])] {
        let mut counts = [0; 4];
        for start in (0..=150).flat_map(|long| (0..=long).map(move |short| point(short, long))) {
            let moves = winning::moves(rule, &start);
            let reached: HashSet<Point> = moves.iter().map(|step| start.after(step).unwrap()).collect();
            counts[reached.len()] += 1;
        }
        assert_eq!(counts, expected, "{rule}");
    }
    let found = compare(Setting::PLAIN, 150);
    assert_eq!((found[0].winning_moves, found[1].agrees), (Some([58, 8733, 2082, 603]), true));
}

#[test]
fn large_members() {
    let cases = [("10^6", "1618033"), ("10^12", "1618033988749"), ("10^18", "1618033988749894848")];
    for (n, a) in cases.into_iter().chain([("2^64", "29847458893032750101")]) {
        assert_eq!(sequence::a(&big(n)), big(a), "{n}");
    }
    let a = sequence::a(&big("10^1000")).to_string();
    assert_eq!((a.len(), &a[..30]), (1001, "161803398874989484820458683436"));
}

/// In a loss nearly every option leaves one winning reply, but not all do: the suggested move does.
#[test]
fn delays_leave_one_reply() {
    let start = point(80, 130);
    let options: HashSet<Point> = Kind::ALL
        .into_iter()
        .flat_map(|kind| (1..=u64::try_from(start.most(kind)).unwrap()).map(move |amount| Move::new(kind, amount)))
        .map(|step| start.after(&step).unwrap())
        .collect();
    let hardest = options.iter().filter(|option| winning::moves(Rule::Normal, option).len() == 1);
    assert_eq!((options.len(), hardest.count()), (289, 259));
    for start in [start, point(4, 7)] {
        let two_off = start.after(&Move::new(Kind::Long, 2u8)).unwrap();
        assert_eq!(winning::moves(Rule::Normal, &two_off).len(), 2);
    }
    for start in (2..300).map(loss) {
        let step = winning::delay(Rule::Normal, &start).unwrap();
        assert_eq!(winning::moves(Rule::Normal, &start.after(&step).unwrap()).len(), 1, "{start}");
    }
    assert_eq!(winning::delay(Rule::Normal, &point(0, 0)), None);
    assert_eq!(winning::delay(Rule::Misere, &point(0, 1)), Some(Move::new(Kind::Long, 1u8)));
}

/// Claim (example 8 and (53)): n_a(50) = 31 and n_b(50) = 19. Counting gives the same.
#[test]
fn counts_of_the_sequences() {
    for most in 0..500u64 {
        let counted = (1..=most).filter(|x| matches!(sequence::place(&(*x).into()), Place::A(_))).count() as u64;
        assert_eq!(paper::counts(&most.into()), (counted.into(), (most - counted).into()), "{most}");
    }
}

// Precision.

/// Claim (theorem 4): k decimals are enough up to 10^k. False from k = 2; 2k + 1 are enough, and 2k
/// are not always.
#[test]
fn decimals_of_theorem_4_are_too_few() {
    let power = |k: usize| UBig::from(10u8).pow(k);
    let failures = [13u32, 13, 233, 233, 610, 1597, 4181, 10946, 28657, 196_418, 514_229, 1_346_269];
    for (k, failure) in (1..).zip(failures) {
        assert_eq!(first_failure(&golden::cut(k)), failure.into(), "{k} decimals");
        assert_eq!(first_failure(&golden::cut(k)) <= power(k), k >= 2, "{k} decimals");
    }
    let needed: Vec<usize> = (0..=12).map(golden::decimals_needed).collect();
    assert_eq!(needed, [0, 1, 3, 6, 8, 10, 12, 14, 16, 18, 19, 22, 25]);
    assert!((0..=30).all(|k| first_failure(&golden::cut(2 * k + 1)) > power(k)));
    assert!([12, 30].into_iter().all(|k| first_failure(&golden::cut(2 * k)) <= power(k)));
}

/// Claim (table 2): Newton steps for n up to 10^k. Too few at the upper end of every band; the
/// first failures are Fibonacci numbers.
#[test]
fn newton_steps_of_table_2_are_too_few() {
    let mut fibonacci = (UBig::ZERO, UBig::ONE);
    let mut numbers = Vec::new();
    for _ in 0..=2952 {
        numbers.push(fibonacci.0.clone());
        fibonacci = (fibonacci.1.clone(), fibonacci.0 + fibonacci.1);
    }
    for (steps, j) in (0..).zip([13, 24, 48, 94, 186, 370, 738, 1476, 2952]) {
        let (ratio, failure) = (Ratio::newton(steps), &numbers[j]);
        assert_eq!(first_failure(&ratio), *failure, "{steps} steps");
        assert_ne!(ratio.a(failure), sequence::a(failure));
        assert_eq!(ratio.a(&(failure - 1u8)), sequence::a(&(failure - 1u8)));
    }
    for (steps, failure) in [(0, 233usize), (1, 46_368)] {
        let ratio = Ratio::newton(steps);
        let counted = Points::from(&UBig::ONE).position(|one| ratio.a(&one.index) != one.short);
        assert_eq!(counted, Some(failure - 1), "counting up, {steps} steps");
    }
    for (steps, last) in (0..).zip([2usize, 4, 9, 19, 38, 76, 153, 308, 616, 1233, 2466]) {
        assert_eq!(golden::steps_needed(last), steps, "10^{last}");
        assert_eq!(golden::steps_needed(last + 1), steps + 1, "10^{}", last + 1);
    }
    let bands = TABLE_2.into_iter().flat_map(|(steps, first, last)| (first..=last).map(move |k| (k, steps)));
    let (mut printed, mut too_few) = (0, Vec::new());
    for (k, steps) in bands {
        assert_eq!((printed, golden::paper_steps(k as usize)), (k, steps), "the table follows the rule (43)");
        printed += 1;
        too_few.extend((steps < golden::steps_needed(k as usize)).then_some(k));
    }
    assert_eq!(too_few, [3, 5, 6, 10, 11, 12, 20, 21, 22, 23, 24]);
}

/// Floating-point numbers fail at n = F_40.
#[test]
fn floating_point_fails_at_a_fibonacci_number() {
    let phi = (1.0 + 5f64.sqrt()) / 2.0;
    let wrong = |n: u64| (n as f64 * phi).floor() as u64 != u64::try_from(sequence::a(&n.into())).unwrap();
    assert!(wrong(102_334_155));
    // The double is a fraction, so the first failure follows without counting to it.
    let scale = 1u64 << 52;
    let ratio = Ratio { numerator: UBig::from((phi * scale as f64) as u64), denominator: scale.into() };
    assert!(first_failure(&ratio) >= 102_334_155u32.into());
    assert!((102_300_000..102_334_155).all(|n| !wrong(n)));
}

// The algorithm V.

/// Claim: V wins every won point. True for heaps below 160, where its ratio is exact enough.
#[test]
fn v_is_right_for_small_heaps() {
    let mut random = Random::new(1);
    for point in (1..160).flat_map(|long| (0..=long).map(move |short| point(short, long))) {
        let step = paper::choose(&point, &mut random).unwrap();
        let is_loss = winning::value(Rule::Normal, &point).is_loss();
        assert_eq!(is_right(&point, &step), !is_loss, "{point}: {step:?}");
        assert_eq!(paper::gives_up(&point), is_loss, "{point}");
    }
}

/// V throws won games away at larger points: its moves, and the only right ones.
#[test]
fn v_loses_won_games() {
    let cases = [
        ((520, 1459), (520, 842), Some((321, 520))),
        ((6013, 6712), (1130, 1829), None),
        ((803_382, 1_442_272), (496_518, 803_382), None),
        ((378, 611), (376, 609), Some((377, 610))),
    ];
    for ((short, long), chosen, right) in cases {
        let start = point(short, long);
        assert_eq!(winning::value(Rule::Normal, &start), Value::Win);
        let step = paper::choose(&start, &mut Random::new(0)).unwrap();
        assert_eq!(start.after(&step), Some(point(chosen.0, chosen.1)), "{start}");
        assert!(!is_right(&start, &step));
        if let Some(right) = right {
            let moves = winning::moves(Rule::Normal, &start);
            assert_eq!((moves.len(), start.after(&moves[0])), (1, Some(point(right.0, right.1))));
        }
    }
    // It considers a won point lost where its ratio gives the wrong one.
    assert!(paper::gives_up(&point(376, 609)) && winning::value(Rule::Normal, &point(376, 609)) == Value::Win);
    // One above the loss whose index is the first failure of the ratio that V takes.
    for m in ["233", "46368", "4807526976", "19740274219868223167"].map(big) {
        let start = Point::new(sequence::a(&m) + 1u8, sequence::b(&m) + 1u8);
        assert!(!is_right(&start, &paper::choose(&start, &mut Random::new(0)).unwrap()), "{start}");
    }
}

/// At (0, 0) V would call itself the winner, and at (1, 2) it has no move; here it returns `None`
/// at the end, and a move at (1, 2).
#[test]
fn v_at_its_edges() {
    let mut random = Random::new(0);
    assert_eq!(paper::choose(&point(0, 0), &mut random), None);
    assert!(!paper::gives_up(&point(0, 0)));
    assert_eq!(paper::choose(&point(1, 2), &mut random), Some(Move::new(Kind::Long, 1u8)));
    // Example 7.
    let seventh = paper::choose(&point(2_718_282, 3_141_593), &mut random);
    assert_eq!(seventh, Some(Move::new(Kind::Both, 2_033_351u32)));
    // m = 1 gives the logarithm of 0 / 3, which means no steps.
    assert_eq!(golden::paper_steps(0), 0);
    assert!(paper::choose(&point(4, 5), &mut random).is_some());
}

// Flip-Flop.

fn differences(flip: Flip, budget: Budget, condition: Condition, most: usize) -> [Comparison; 2] {
    compare(Setting { flip, budget, condition }, most)
}

/// Each condition at its edges, compared with its definition for numbers of any length: the ends of
/// machine words beside each other, and as far apart as possible.
#[test]
fn conditions_hold_as_they_are_defined() {
    for (condition, holds, fails) in [
        (Condition::Paper, [(5, 7), (6, 8)], [(4, 7), (5, 6)]),
        (Condition::Apart, [(0, 2), (5, 7)], [(0, 1), (5, 6)]),
        (Condition::Sum, [(13, 14), (0, 27)], [(13, 13), (0, 26)]),
    ] {
        assert!(holds.iter().all(|(short, long)| condition.holds_for(*short, *long)), "{condition:?}");
        assert!(!fails.iter().any(|(short, long)| condition.holds_for(*short, *long)), "{condition:?}");
    }
    assert!(Condition::Always.holds_for(0, 0));
    let ends = [31, 32, 33, 63, 64, 65, 128].map(|bits| UBig::ONE << bits);
    let near = ends.iter().flat_map(|end| (0..=6u8).map(move |more| end + more - 3u8));
    let numbers: Vec<UBig> = (0..30u8).map(UBig::from).chain(near).collect();
    for (short, apart) in numbers.iter().flat_map(|short| numbers.iter().map(move |apart| (short, apart))) {
        let long = short + apart;
        let is_apart = long >= short + 2u8;
        let point = Point::new(long.clone(), short.clone());
        for (condition, holds) in [
            (Condition::Paper, is_apart && short + 2u8 >= 7u8.into()),
            (Condition::Apart, is_apart),
            (Condition::Sum, short + &long >= 27u8.into()),
            (Condition::Always, true),
        ] {
            assert_eq!(condition.holds(&point), holds, "{condition:?} {point}");
            if let (Ok(short), Ok(long)) = (u64::try_from(short), u64::try_from(&long)) {
                let is_small = short.checked_add(long).is_some();
                assert!(!is_small || condition.holds_for(short, long) == holds, "{condition:?} {point}");
            }
        }
    }
}

/// Claim (56): a changed goal does not change which points are losses, however often it changes.
/// True if a flip is part of a move. The half S ≥ 5 of (54) is not needed, and L + S ≥ 27 in its
/// place gives the same verdicts.
#[test]
fn flips_with_a_move_change_nothing() {
    for flip in [Flip::Free, Flip::After] {
        for budget in [Budget::One, Budget::Each, Budget::Two, Budget::Unlimited] {
            let found = differences(flip, budget, Condition::Paper, 34);
            assert!(found.iter().all(|found| found.agrees), "{found:?}");
        }
        for (condition, most) in [(Condition::Paper, 70), (Condition::Apart, 34), (Condition::Sum, 34)] {
            let found = differences(flip, Budget::One, condition, most);
            assert!(found.iter().all(|found| found.agrees), "{found:?}");
        }
    }
    assert!(!differences(Flip::Turn, Budget::One, Condition::Sum, 34)[0].agrees);
}

/// If a flip is a whole turn, (56) is false: with one flip in all, (6, 10) becomes a win under both
/// goals, and (6, 11) and (8, 12) become losses.
#[test]
fn flips_as_turns_change_the_losses() {
    let setting = Setting { flip: Flip::Turn, budget: Budget::One, condition: Condition::Paper };
    let found = compare(setting, 70);
    assert_eq!(found.iter().map(|found| found.differences).sum::<u64>(), 94);
    assert!(found.iter().all(|found| found.first_difference.as_ref().unwrap().position == ["6", "10"]));
    let table = Table::new(setting, 34);
    for rule in Rule::ALL {
        let value = |short, long| table.value(Situation { short, long, rule, left: 1 });
        assert_eq!([value(6, 10), value(6, 11), value(8, 12)], [Value::Win, Value::Loss, Value::Loss].map(Some));
    }
}

/// If a flip is a turn and there are two in all, or one each, the losses stay as claimed while all
/// are left: the other player flips back.
#[test]
fn an_even_number_of_turn_flips_cancels() {
    for budget in [Budget::Each, Budget::Two] {
        let setting = Setting { flip: Flip::Turn, budget, condition: Condition::Paper };
        let table = Table::new(setting, 34);
        for at in table.situations().filter(|at| at.left == setting.full()) {
            let expected = winning::value(at.rule, &Point::new(at.short, at.long));
            assert_eq!(table.value(at), Some(expected), "{at:?}");
        }
        assert!(compare(setting, 34).iter().any(|found| !found.agrees), "intermediate budgets are as one flip");
    }
}

/// Without any condition the claim fails at three points.
#[test]
fn flips_everywhere_change_three_points() {
    let setting = Setting { flip: Flip::Free, budget: Budget::One, condition: Condition::Always };
    let table = Table::new(setting, 34);
    let formula = |at: &Situation| winning::value(at.rule, &Point::new(at.short, at.long));
    let wrong = table.situations().filter(|at| table.value(*at) != Some(formula(at)));
    let mut wrong: Vec<_> = wrong.map(|at| (at.short, at.long)).collect();
    wrong.sort_unstable();
    wrong.dedup();
    assert_eq!(wrong, [(0, 1), (1, 2), (2, 2)]);
}

// Methods against each other.

fn any_length() -> impl Strategy<Value = UBig> {
    // From single digits to a thousand, with many at the edges of words.
    let words = proptest::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], 0..54);
    (words, 0..64usize).prop_map(|(words, shift)| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        UBig::from_le_bytes(&bytes) >> shift
    })
}

proptest! {
    #[test]
    fn exact_as_in_another_library(n in any_length()) {
        let a = sequence::a(&n);
        let other = BigUint::from_bytes_le(&n.to_le_bytes());
        let expected: BigUint = (&other + (&other * &other * 5u8).sqrt()) >> 1u8;
        prop_assert_eq!(a.to_string(), expected.to_string());
        // The definition, without any root: x ≤ nφ < x + 1.
        if !n.is_zero() {
            prop_assert!(sequence::is_below(&a, &n) && !sequence::is_below(&(&a + 1u8), &n));
            prop_assert_eq!(sequence::place(&a), Place::A(n.clone()));
            let b = sequence::b(&n);
            prop_assert_eq!(sequence::partner(&a), b.clone());
            prop_assert_eq!(sequence::partner(&b), a);
            prop_assert_eq!(sequence::place(&b), Place::B(n));
        }
    }

    #[test]
    fn newton_with_the_corrected_number_of_steps_is_exact(n in any_length()) {
        let n = n + 1u8;
        let ratio = Ratio::up_to(&n);
        prop_assert_eq!(ratio.a(&n), sequence::a(&n));
        prop_assert_eq!(ratio.place(&n), sequence::place(&n));
    }

    #[test]
    fn winning_moves_lead_to_losses(one in any_length(), other in any_length(), attrition: bool) {
        let rule = if attrition { Rule::Misere } else { Rule::Normal };
        let point = Point::new(one, other);
        let moves = winning::moves(rule, &point);
        for step in &moves {
            prop_assert!(winning::value(rule, &point.after(step).unwrap()).is_loss());
        }
        prop_assert!(point.is_end() || moves.is_empty() == winning::value(rule, &point).is_loss());
        // No move wins from the loss of the same difference.
        let m = point.difference();
        let loss = Point::new(sequence::a(&m), sequence::b(&m));
        prop_assert!(rule == Rule::Misere || winning::moves(rule, &loss).is_empty());
    }

    #[test]
    fn v_always_has_a_move(one in any_length(), other in any_length(), seed: u64) {
        let point = Point::new(one, other);
        let step = paper::choose(&point, &mut Random::new(seed));
        prop_assert_eq!(step.is_none(), point.is_end());
        prop_assert!(step.is_none_or(|step| point.after(&step).is_some()));
    }

    #[test]
    fn steps_from_anywhere_are_exact(n in any_length()) {
        for term in Points::from(&n).take(20) {
            prop_assert_eq!(&sequence::a(&term.index), &term.short);
            prop_assert_eq!(term.short + term.index, term.long);
        }
    }

    #[test]
    fn the_generator_places_numbers(x in 1u64..100_000) {
        prop_assert_eq!(Generator::place(&x.into()), Some(sequence::place(&x.into())));
    }
}
