//! Nim on the plane: every claim of [Ver10] that can be checked, as printed or corrected, and the
//! exact methods against each other and against another library of large numbers. One long file:
//! the claims are one table, in the order of the paper.

use dashu_int::UBig;
use num_bigint::BigUint;
use proptest::prelude::*;
use std::collections::HashSet;
use trinim_game::random::Random;
use trinim_game::{Rule, Value};
use trinim_plane::comparison::{Comparison, compare};
use trinim_plane::goals::{Budget, Condition, Flip};
use trinim_plane::golden::{self, Ratio, first_failure};
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

// Normal play.

/// Claims: the losses of normal play are (⌊nφ⌋, ⌊nφ²⌋), and attrition has (0, 1), (2, 2) and those
/// of normal play from the third on. True: heaps up to 400, all winning moves of every point.
#[test]
fn losses_of_both_goals() {
    for found in compare(Setting::PLAIN, 400) {
        assert!(found.agrees(), "{found:?}");
        assert_eq!((found.losses, found.situations), (154, 401 * 402 / 2));
    }
    assert_eq!(loss(153), point(247, 400));
    for (n, expected) in [(0u8, point(0, 1)), (1, point(2, 2)), (2, point(3, 5)), (3, point(4, 7))] {
        assert_eq!(winning::index(Rule::Misere, &expected), Some(n.into()));
    }
    // Hugo's options at (2, 2), and Cora's answers.
    for (short, long) in [(0, 2), (1, 1), (1, 2)] {
        let moves = winning::moves(Rule::Misere, &point(short, long));
        assert!(moves.iter().any(|step| point(short, long).after(step) == Ok(point(0, 1))), "({short}, {long})");
    }
    assert_eq!(winning::value(Rule::Misere, &point(0, 0)), Value::Win);
}

/// Claim: every number from 1 is exactly one a_k or one b_i. True: to 200,000, by the smallest k
/// with kφ > x and the smallest i with iφ² > x.
#[test]
fn every_number_is_in_one_sequence() {
    let mut seen = vec![0u8; 200_001];
    for numbered in Points::from(&UBig::ONE).take(200_000) {
        for number in [numbered.short, numbered.long] {
            if let Some(seen) = usize::try_from(number).ok().and_then(|number| seen.get_mut(number)) {
                *seen += 1;
            }
        }
    }
    assert!(seen[1..].iter().all(|seen| *seen == 1));
    for x in 1..=20_000u64 {
        let x = UBig::from(x);
        match sequence::place(&x) {
            Place::A(k) => assert_eq!(sequence::a(&k), x),
            Place::B(i) => assert_eq!(sequence::b(&i), x),
        }
    }
}

/// Claim: the winning moves are the diagonal, and the partner of either heap. True: numbers of
/// points with 0 to 3 winning moves, heaps up to 150. V returns only one of them.
#[test]
fn numbers_of_winning_moves() {
    let found = compare(Setting::PLAIN, 150);
    assert!(found.iter().all(Comparison::agrees));
    // Two different moves may lead to the same point, which swaps its heaps: these count points;
    // there are 41 more moves.
    for (rule, expected) in [(Rule::Normal, [58, 8752, 2085, 581]), (Rule::Misere, [59, 8751, 2085, 581])] {
        let mut counts = [0; 4];
        for (short, long) in (0..=150).flat_map(|long| (0..=long).map(move |short| (short, long))) {
            let start = point(short, long);
            let moves = winning::moves(rule, &start);
            let reached: HashSet<Point> = moves.iter().map(|step| start.after(step).unwrap()).collect();
            counts[reached.len()] += 1;
        }
        assert_eq!(counts, expected, "{rule}");
    }
    assert_eq!(found[0].winning_moves, Some([58, 8733, 2082, 603]));
}

/// The constructive generator of section 6 gives the points. True: n up to 100,000; with "+ n" in
/// place of "+ j" the test fails.
#[test]
fn the_papers_generator() {
    let exact = Points::from(&UBig::ONE);
    assert!(Generator::default().zip(exact).take(100_000).all(|(built, exact)| built == exact));
}

// Precision.

/// Claim (theorem 4): k decimals are enough up to 10^k. False from k = 2: with 1.61, ⌊13 · 1.61⌋ =
/// 20 and a_13 = 21.
#[test]
fn decimals_of_theorem_4_are_too_few() {
    let cut = golden::cut(2);
    assert_eq!((cut.numerator.clone(), cut.denominator.clone()), (161u8.into(), 100u8.into()));
    assert_eq!((cut.a(&13u8.into()), sequence::a(&13u8.into())), (20u8.into(), 21u8.into()));
    let failures = [13u32, 13, 233, 233, 610, 1597, 4181, 10946, 28657, 196_418, 514_229, 1_346_269];
    for (decimals, failure) in (1..).zip(failures) {
        assert_eq!(first_failure(&golden::cut(decimals)), failure.into(), "{decimals} decimals");
        let fails = first_failure(&golden::cut(decimals)) <= UBig::from(10u8).pow(decimals);
        assert_eq!(fails, decimals >= 2, "{decimals} decimals");
    }
    let needed: Vec<usize> = (0..=12).map(golden::decimals_needed).collect();
    assert_eq!(needed, [0, 1, 3, 6, 8, 10, 12, 14, 16, 18, 19, 22, 25]);
}

/// The truth about theorem 4: 2k + 1 decimals are enough up to 10^k, and 2k are not always.
#[test]
fn decimals_that_are_enough() {
    for k in 0..=30 {
        assert!(first_failure(&golden::cut(2 * k + 1)) > UBig::from(10u8).pow(k), "{k}");
    }
    for k in [12, 30] {
        assert!(first_failure(&golden::cut(2 * k)) <= UBig::from(10u8).pow(k), "{k}");
    }
}

/// Claim (table 2): Newton steps for n up to 10^k. Too few at the upper end of every band; the
/// first failures are Fibonacci numbers.
#[test]
fn newton_steps_of_table_2_are_too_few() {
    let failures = ["233", "46368", "4807526976", "19740274219868223167", "332825110087067562321196029789634457848"];
    for (steps, failure) in (0..).zip(failures) {
        let (ratio, failure) = (Ratio::newton(steps), big(failure));
        assert_eq!(first_failure(&ratio), failure, "{steps} steps");
        assert_ne!(ratio.a(&failure), sequence::a(&failure));
        assert_eq!(ratio.a(&(&failure - 1u8)), sequence::a(&(&failure - 1u8)));
    }
    for (steps, numbered) in [(0, 233usize), (1, 46_368)] {
        let ratio = Ratio::newton(steps);
        let counted = Points::from(&UBig::ONE).position(|one| ratio.a(&one.index) != one.short);
        assert_eq!(counted, Some(numbered - 1), "counting up, {steps} steps");
    }
    let digits: Vec<usize> = (0..=10).map(|steps| first_failure(&Ratio::newton(steps)).to_string().len()).collect();
    assert_eq!(digits, [3, 5, 10, 20, 39, 77, 154, 309, 617, 1234, 2467]);
    let fibonacci = [13, 24, 48, 94, 186, 370, 738, 1476, 2952];
    let mut pair = (UBig::ZERO, UBig::ONE);
    let mut numbers = Vec::new();
    for _ in 0..=2952 {
        numbers.push(pair.0.clone());
        pair = (pair.1.clone(), pair.0 + pair.1);
    }
    for (steps, j) in (0..).zip(fibonacci) {
        assert_eq!(first_failure(&Ratio::newton(steps)), numbers[j], "{steps} steps");
    }
}

/// The corrected table 2, and the k for which the paper's has too few steps: 3, 5, 6, 10 to 12, 20
/// to 24.
#[test]
fn the_corrected_table_2() {
    for (steps, last) in (0..).zip([2usize, 4, 9, 19, 38, 76, 153, 308, 616, 1233, 2466]) {
        assert_eq!(golden::steps_needed(last), steps, "10^{last}");
        assert_eq!(golden::steps_needed(last + 1), steps + 1, "10^{}", last + 1);
    }
    let too_few: Vec<u32> =
        (0..=24).filter(|k| golden::table_steps(*k).unwrap() < golden::steps_needed(*k as usize)).collect();
    assert_eq!(too_few, [3, 5, 6, 10, 11, 12, 20, 21, 22, 23, 24]);
    // The table follows the rule (43) of the text.
    assert!((0..=24).all(|k| golden::table_steps(k) == Some(golden::paper_steps(k as usize))));
    assert_eq!(golden::table_steps(25), None);
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
    for long in 1..160 {
        for short in 0..=long {
            let point = point(short, long);
            let step = paper::choose(&point, &mut random).unwrap();
            let is_loss = winning::value(Rule::Normal, &point).is_loss();
            assert_eq!(is_right(&point, &step), !is_loss, "{point}: {step}");
            assert_eq!(paper::gives_up(&point), is_loss && !point.is_end(), "{point}");
        }
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
        assert_eq!(start.after(&step), Ok(point(chosen.0, chosen.1)), "{start}");
        assert!(!is_right(&start, &step));
        if let Some(right) = right {
            let moves = winning::moves(Rule::Normal, &start);
            assert_eq!(moves.len(), 1);
            assert_eq!(start.after(&moves[0]), Ok(point(right.0, right.1)));
        }
    }
    // One above the loss whose index is the first failure of the ratio that V takes.
    for m in ["233", "46368", "4807526976", "19740274219868223167"] {
        let m = big(m);
        let start = Point::new(sequence::a(&m) + 1u8, sequence::b(&m) + 1u8);
        let step = paper::choose(&start, &mut Random::new(0)).unwrap();
        assert!(!is_right(&start, &step), "{start}");
    }
}

/// How often V errs: points with the first heap below 1,000, at random.
#[test]
fn v_errs_in_less_than_one_of_a_hundred_small_points() {
    let mut random = Random::new(18);
    let (mut wins, mut wrong) = (0, 0);
    while wins < 3000 {
        let point = point(random.below(1000), 1 + random.below(2000));
        if winning::value(Rule::Normal, &point).is_loss() {
            continue;
        }
        wins += 1;
        let step = paper::choose(&point, &mut random).unwrap();
        wrong += u32::from(!is_right(&point, &step));
    }
    assert!((1..=60).contains(&wrong), "{wrong} of {wins}");
}

/// With exact ratios in place of the paper's, its equations find a right move in every won point.
#[test]
fn the_equations_are_right_with_an_exact_ratio() {
    let ratio = Ratio::up_to(&100_000u32.into());
    for x in 1..=10_000u32 {
        assert_eq!(ratio.place(&x.into()), sequence::place(&x.into()));
    }
}

/// At (0, 0) V would call itself the winner, and at (1, 2) it has no move; here it returns `None`
/// at the end, and a move at (1, 2).
#[test]
fn v_at_its_edges() {
    let mut random = Random::new(0);
    assert_eq!(paper::choose(&point(0, 0), &mut random), None);
    assert_eq!(paper::choose(&point(1, 2), &mut random), Some(Move::new(Kind::Long, 1u8)));
    // Example 7.
    let seventh = paper::choose(&point(2_718_282, 3_141_593), &mut random);
    assert_eq!(seventh, Some(Move::new(Kind::Both, 2_033_351u32)));
    // m = 1 gives the logarithm of 0 / 3, which means no steps.
    assert_eq!(golden::paper_steps(0), 0);
    assert!(paper::choose(&point(4, 5), &mut random).is_some());
}

/// Claim (remark 3): a first point with L ≥ (e - 1) S is never a loss. False for (1, 2) and (4, 7),
/// true for all others, so levels below 7 are refused.
#[test]
fn first_points_are_won() {
    let exceptions: Vec<Point> = (1..2000).map(loss).filter(|point| paper::is_allowed(point, 0)).collect();
    assert_eq!(exceptions, [point(1, 2), point(4, 7)]);
    assert!((1..2000).map(loss).all(|point| !paper::is_allowed(&point, paper::LEVEL_MIN)));
    let mut random = Random::new(3);
    for round in 0..500 {
        let point = paper::first_point(7 << (round % 40), &mut random);
        assert_eq!(winning::value(Rule::Normal, &point), Value::Win, "{point}");
    }
}

/// Claim (section 18): starting with a random equation is better. False: starting with a is best,
/// 1.382 equations against 1.472 and 1.618.
#[test]
fn a_first_is_the_best_order() {
    assert_eq!(paper::counts(&50u8.into()), (31u8.into(), 19u8.into()));
    let most = UBig::from(10u8).pow(12);
    let (of_a, of_b) = paper::counts(&most);
    assert_eq!(&of_a + &of_b, most);
    // Equations for all of 10^12 numbers together, in thousandths: 618 of a thousand start with a.
    let ten_thousandths = |equations: UBig| equations * 10_000u16 / &most;
    let a_first = &of_a + &of_b * 2u8;
    let b_first = &of_a * 2u8 + &of_b;
    let random = (&a_first * 618u16 + &b_first * 382u16) / 1000u16;
    assert_eq!(ten_thousandths(a_first), 13_819u16.into());
    assert_eq!(ten_thousandths(random), 14_721u16.into());
    assert_eq!(ten_thousandths(b_first), 16_180u16.into());
}

/// Claim (example 8 and (53)): n_a(50) = 31 and n_b(50) = 19. True; counting gives the same.
#[test]
fn counts_of_the_sequences() {
    for most in 0..500u64 {
        let counted = (1..=most).filter(|x| matches!(sequence::place(&(*x).into()), Place::A(_))).count() as u64;
        assert_eq!(paper::counts(&most.into()), (counted.into(), (most - counted).into()), "{most}");
    }
}

// Flip-Flop.

fn differences(flip: Flip, budget: Budget, condition: Condition, most: usize) -> [Comparison; 2] {
    compare(Setting { flip, budget, condition }, most)
}

/// Claim (56): a changed goal does not change which points are losses, however often it changes.
/// True if a flip is part of a move.
#[test]
fn flips_with_a_move_change_nothing() {
    for flip in [Flip::Free, Flip::After] {
        for budget in [Budget::One, Budget::Each, Budget::Two, Budget::Unlimited] {
            for found in differences(flip, budget, Condition::Paper, 34) {
                assert!(found.agrees(), "{found:?}");
            }
        }
        for found in differences(flip, Budget::One, Condition::Paper, 70) {
            assert!(found.agrees(), "{found:?}");
        }
    }
}

/// If a flip is a whole turn, (56) is false: with one flip in all, (6, 10) becomes a win under both
/// goals, and (6, 11) and (8, 12) become losses.
#[test]
fn flips_as_turns_change_the_losses() {
    let setting = Setting { flip: Flip::Turn, budget: Budget::One, condition: Condition::Paper };
    for (most, expected) in [(34, 40), (70, 94)] {
        let found = compare(setting, most);
        assert_eq!(found.iter().map(|found| found.differences).sum::<u64>(), expected, "up to {most}");
        assert_eq!(found.iter().map(|found| found.draws).sum::<u64>(), 0);
        for found in found {
            let (at, value) = found.first.unwrap();
            assert_eq!((at.short, at.long, at.left, value), (6, 10, 1, Some(Value::Win)));
        }
    }
    let table = Table::new(setting, 34);
    for rule in Rule::ALL {
        let value = |short, long| table.value(Situation { short, long, rule, left: 1 });
        assert_eq!(value(6, 10), Some(Value::Win));
        assert_eq!([value(6, 11), value(8, 12)], [Some(Value::Loss); 2]);
    }
}

/// If a flip is a turn without limit, the game need not end: 602 draws with heaps up to 34.
#[test]
fn unlimited_flips_as_turns_draw() {
    let found = differences(Flip::Turn, Budget::Unlimited, Condition::Paper, 34);
    assert_eq!(found.iter().map(|found| found.draws).sum::<u64>(), 602);
    assert!(found.iter().all(|found| !found.agrees()));
}

/// If a flip is a turn and there are two in all, or one each, the losses stay as claimed while all
/// are left: the other player flips back.
#[test]
fn an_even_number_of_turn_flips_cancels() {
    for budget in [Budget::Each, Budget::Two] {
        let setting = Setting { flip: Flip::Turn, budget, condition: Condition::Paper };
        let table = Table::new(setting, 34);
        for at in table.situations().filter(|at| at.left == setting.full()) {
            let expected = winning::value(at.rule, &point(at.short as u64, at.long as u64));
            assert_eq!(table.value(at), Some(expected), "{at:?}");
        }
        assert!(compare(setting, 34).iter().any(|found| !found.agrees()), "intermediate budgets are as one flip");
    }
}

/// The half S ≥ 5 of (54) is not needed, L + S ≥ 27 in its place gives the same verdicts, and
/// without any condition the claim fails at three points.
#[test]
fn conditions_for_flips() {
    for flip in [Flip::Free, Flip::After] {
        for condition in [Condition::Apart, Condition::Sum] {
            for found in differences(flip, Budget::One, condition, 34) {
                assert!(found.agrees(), "{found:?}");
            }
        }
    }
    assert!(!differences(Flip::Turn, Budget::One, Condition::Sum, 34)[0].agrees());
    let setting = Setting { flip: Flip::Free, budget: Budget::One, condition: Condition::Always };
    let table = Table::new(setting, 34);
    let mut wrong: Vec<(usize, usize)> = table
        .situations()
        .filter(|at| table.value(*at) != Some(winning::value(at.rule, &point(at.short as u64, at.long as u64))))
        .map(|at| (at.short, at.long))
        .collect();
    wrong.sort_unstable();
    wrong.dedup();
    assert_eq!(wrong, [(0, 1), (1, 2), (2, 2)]);
}

// Examples and figures.

#[test]
fn the_first_points() {
    let text: Vec<String> = (0..=25).map(|n| loss(n).to_string().replace(' ', "")).collect();
    assert_eq!(
        text.concat(),
        "(0,0)(1,2)(3,5)(4,7)(6,10)(8,13)(9,15)(11,18)(12,20)(14,23)(16,26)(17,28)(19,31)(21,34)(22,36)(24,39)(25,41)\
         (27,44)(29,47)(30,49)(32,52)(33,54)(35,57)(37,60)(38,62)(40,65)"
    );
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

/// At a loss nearly every option leaves one winning reply, but not all do: the suggested move does.
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
    for n in 2..300 {
        let start = loss(n);
        let step = winning::delay(Rule::Normal, &start).unwrap();
        assert_eq!(winning::moves(Rule::Normal, &start.after(&step).unwrap()).len(), 1, "{start}");
    }
    assert_eq!(winning::delay(Rule::Normal, &point(0, 0)), None);
    assert_eq!(winning::delay(Rule::Misere, &point(0, 1)), Some(Move::new(Kind::Long, 1u8)));
}

// Methods against each other.

/// Returns ⌊nφ⌋, computed by another library.
fn oracle_a(n: &BigUint) -> BigUint {
    (n + (n * n * 5u8).sqrt()) >> 1u8
}

fn other_library(number: &UBig) -> BigUint {
    BigUint::from_bytes_le(&number.to_le_bytes())
}

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
        let expected = oracle_a(&other_library(&n));
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
        prop_assert!(step.is_none_or(|step| point.after(&step).is_ok()));
    }

    #[test]
    fn steps_from_anywhere_are_exact(n in any_length()) {
        for numbered in Points::from(&n).take(20) {
            prop_assert_eq!(&sequence::a(&numbered.index), &numbered.short);
            prop_assert_eq!(numbered.short + numbered.index, numbered.long);
        }
    }

    #[test]
    fn the_generator_places_numbers(x in 1u64..100_000) {
        prop_assert_eq!(Generator::place(&x.into()), Some(sequence::place(&x.into())));
    }
}
