//! Who wins: the rules, the paper's algorithm V, the first move, and the variants of the game.

use super::super::comparison::{Comparison, compare};
use super::super::goals::{Budget, Condition, Flip};
use super::super::golden::{Ratio, TABLE_2, first_failure, paper_steps, steps_needed};
use super::super::heaps::{Kind, Move, Point, grouped};
use super::super::retrograde::{self, Gains, Setting, Situation};
use super::super::{paper, sequence, winning};
use super::{Effort, PAPER, newton_steps};
use dashu_int::UBig;
use trinim_game::claims::Claim;
use trinim_game::random::Random;
use trinim_game::{Rule, Value};

/// Heaps of the game with a bank.
const BANK_HEAPS: usize = 16;

fn compared(found: &Comparison, heaps: usize) -> String {
    let Comparison { situations, losses, differences, .. } = found;
    format!("{differences} differences in {situations} points with heaps up to {heaps}, {losses} of them lost")
}

/// Theorem 2, and the moves of its proof.
pub(super) fn rules(effort: Effort) -> Vec<Claim> {
    let [found, _] = compare(Setting::PLAIN, effort.heaps);
    let moves = match &found.first_difference {
        None => format!("the only winning moves, in every point with heaps up to {}", effort.heaps),
        Some(first) => format!("other winning moves in ({})", first.position.join(", ")),
    };
    vec![
        PAPER
            .fact("theorem 2", compared(&found, effort.heaps), found.differences == 0)
            .because("decided from the options of each point, without the formula"),
        PAPER.fact("moves", moves, found.agrees),
    ]
}

/// Describes the move in a won point and a right one, if the move throws the win away.
fn blunder(point: &Point, step: Option<Move>) -> Option<String> {
    let after = step.and_then(|step| point.after(&step));
    if after.as_ref().is_some_and(|after| winning::value(Rule::Normal, after) == Value::Loss) {
        return None;
    }
    let right = winning::moves(Rule::Normal, point).first().and_then(|step| point.after(step));
    let [after, right] = [after, right].map(|to| to.map_or_else(|| "nowhere".to_owned(), |to| to.to_string()));
    Some(format!("from {point} it goes to {after}; {right} wins"))
}

/// Counts wrong moves among random won points with heaps below `most`, with the Newton steps of V
/// or with `steps`.
fn blunders(most: u64, samples: u64, steps: Option<u32>, seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let (mut tried, mut wrong) = (0, 0);
    while tried < samples {
        let point = Point::new(random.below(most), random.below(most));
        if winning::value(Rule::Normal, &point) == Value::Win {
            tried += 1;
            let steps = steps.unwrap_or_else(|| paper::steps(&point));
            wrong += u64::from(blunder(&point, paper::choose_with(&point, steps, &mut random)).is_some());
        }
    }
    wrong
}

/// Section 17: the algorithm V.
pub(super) fn algorithm(effort: Effort) -> Vec<Claim> {
    let mut random = Random::new(17);
    let points = (1..=effort.search_heaps).flat_map(|long| (0..=long).map(move |short| Point::new(short, long)));
    let mut won = points.filter(|point| winning::value(Rule::Normal, point) == Value::Win);
    let first = won.find_map(|point| blunder(&point, paper::choose(&point, &mut random)));
    let search = match &first {
        None => format!("so in all won points with heaps up to {}", effort.search_heaps),
        Some(first) => format!("false, with the shortest long heap: {first}"),
    };
    let mut claims = vec![
        PAPER
            .fact("V", search, first.is_none())
            .because("the paper's number of Newton steps is too small: V takes ⌊mx⌋ for a_m where they differ"),
    ];
    for (steps, _, _) in TABLE_2 {
        let ratio = Ratio::newton(steps);
        let m = first_failure(&ratio);
        // From here V moves along the diagonal to ⌊mx⌋.
        let short = ratio.a(&m).max(sequence::a(&m)) + 1u8;
        let point = Point::new(short.clone(), short + &m);
        let found = blunder(&point, paper::choose(&point, &mut random));
        let claim = format!("Where V takes {}, it moves to a winning point.", newton_steps(steps));
        let holds = found.is_none();
        claims.push(
            Claim::fact("section 17, V", &claim, "Cora wins", found.unwrap_or_else(|| format!("so at {point}")), holds)
                .because(format!("the first m for which that is too few is {}", grouped(&m))),
        );
    }
    claims.push(rates(effort));
    claims.extend(edges());
    claims.push(remark_3());
    claims
}

/// How often V errs at random points, with its number of Newton steps and with the right one.
fn rates(effort: Effort) -> Claim {
    let mut holds = true;
    let rates = [3u32, 4, 6].map(|power| {
        let steps = steps_needed(power as usize);
        let [wrong, corrected] =
            [None, Some(steps)].map(|steps| blunders(10u64.pow(power), effort.samples, steps, power.into()));
        holds &= wrong == 0;
        (format!("{wrong} below 10^{power}"), format!("{corrected} with {}", newton_steps(steps)))
    });
    Claim::fact(
        "section 17, V",
        &format!("V moves to a winning point from {} random won points of each size.", effort.samples),
        "Cora wins",
        format!("wrong moves: {}", rates.each_ref().map(|rate| &*rate.0).join(", ")),
        holds,
    )
    .because(format!("with the steps needed in place of V's: {}", rates.each_ref().map(|rate| &*rate.1).join(", ")))
}

/// Points for which V has no instruction.
fn edges() -> [Claim; 3] {
    let end = Point::new(0u8, 0u8);
    let at_the_end = winning::value(Rule::Normal, &end);
    let small = Point::new(1u8, 2u8);
    let legal = Kind::ALL.iter().map(|kind| small.most(*kind).clone()).sum::<UBig>();
    let without = (1u8..=100).find(|m| paper::logarithm(&(*m).into()) == 0);
    [
        PAPER
            .fact("end", format!("at {end} the player to move has no move: a {at_the_end}"), at_the_end == Value::Win)
            .because("m is 0 at (0, 0) too, where Hugo has just won"),
        PAPER
            .fact(
                "everywhere",
                format!("no step is given for {small}, which has {legal} legal moves"),
                !paper::gives_up(&small),
            )
            .because("V takes (1, 2) for lost, and its longer heap is not above 3"),
        PAPER
            .fact(
                "rule",
                without.map_or_else(|| "a number".to_owned(), |m| format!("for m = {m}, t is 0: no logarithm")),
                without.is_none(),
            )
            .because(format!("read as {} here", newton_steps(paper_steps(0)))),
    ]
}

/// Remark 3: the condition (49) on the first point.
fn remark_3() -> Claim {
    const INDICES: u32 = 2_000;
    let lost = (1..=INDICES).map(|n| Point::new(sequence::a(&n.into()), sequence::b(&n.into())));
    let allowed: Vec<Point> = lost.filter(|point| paper::is_allowed(point, 0)).collect();
    let level = (0u64..).find(|level| !allowed.iter().any(|point| paper::is_allowed(point, *level))).unwrap_or(0);
    let list: Vec<String> = allowed.iter().map(Point::to_string).collect();
    let found = match list.len() {
        0 => format!("no winning point up to n = {INDICES} satisfies (49)"),
        _ => format!("{} satisfy (49), no other up to n = {INDICES}", list.join(" and ")),
    };
    PAPER.fact("remark 3", found,
        allowed.is_empty(),
    )
    .because(format!(
        "1.718 is above 1.618, but small heaps round; a level Q of {level} or more excludes them. The remark cites (47) \
         where (49) is meant"
    ))
}

/// Section 19.
pub(super) fn first_move(effort: Effort) -> Vec<Claim> {
    let mut random = Random::new(19);
    let levels = (0..20).map(|doubling| paper::LEVEL_MIN << doubling);
    let each = (effort.samples / 20).max(1);
    let (mut tried, mut won) = (0u64, 0u64);
    for level in levels {
        for _ in 0..each {
            tried += 1;
            won += u64::from(winning::value(Rule::Normal, &paper::first_point(level, &mut random)) == Value::Win);
        }
    }
    let known = format!("the first to move wins {won} of {tried} random first points, from level 7 up, doubled");
    vec![PAPER.undecided(
        "seconds",
        known,
        "a time limit bounds what a person works out, not who wins: who chooses and plays well moves first and wins, \
         whatever the level",
    )]
}

/// Sections 20 and 21: the player who reaches (0, 0) loses.
pub(super) fn attrition(effort: Effort) -> Vec<Claim> {
    let [_, found] = compare(Setting::PLAIN, effort.heaps);
    let w = |n: u8| Point::new(sequence::a(&n.into()), sequence::b(&n.into()));
    let index = |point: &Point| winning::index(Rule::Misere, point);
    let shown = |found: Option<String>| found.unwrap_or_else(|| "none".to_owned());
    let small = || (0u8..4).flat_map(|short| (short..4).map(move |long| Point::new(short, long)));
    let of_index = |wanted: u8| {
        let mut found = small().filter(|point| index(point) == Some(wanted.into()));
        shown(found.next().map(|point| point.to_string()))
    };
    let [end, two] = [Point::new(0u8, 1u8), Point::new(2u8, 2u8)];
    let moves = Kind::ALL.into_iter().flat_map(|kind| [1u8, 2].map(|amount| Move::new(kind, amount)));
    let reached: Vec<Point> = moves.filter_map(|step| two.after(&step)).collect();
    let options = small().filter(|point| reached.contains(point));
    let (ends, others): (Vec<Point>, Vec<Point>) = options.partition(Point::is_end);
    let list = |points: &[Point]| points.iter().map(Point::to_string).collect::<Vec<_>>().join(", ");
    let is_answered = |point: &&Point| {
        winning::moves(Rule::Misere, point).iter().any(|step| point.after(step).as_ref() == Some(&end))
    };
    let answered = others.iter().filter(is_answered).count();
    vec![
        PAPER
            .fact("attrition", compared(&found, effort.heaps), found.agrees)
            .because("decided from the options of each point, without the formula; all winning moves compared too"),
        PAPER
            .value("w0", of_index(0))
            .misprint("the heaps are in the other order; section 21 itself writes (0, 1) above"),
        PAPER.value("w1", of_index(1)),
        PAPER.value("w2", format!("{} and {}", w(2), w(3))),
        PAPER
            .value(
                "indices of points",
                [&end, &two].map(|point| shown(index(point).map(|n| n.to_string()))).join(" and "),
            )
            .misprint("(55) numbers the same points 0 and 1, and only that fits w'_2 = (3, 5)"),
        PAPER.value("hugo", list(&others)),
        PAPER.fact(
            "cora",
            format!("{answered} of {} allow (0, 1); the others: {}", others.len(), list(&ends)),
            answered == others.len() && ends.len() == 1,
        ),
    ]
}

/// The condition and the claim of Flip-Flop, for each reading of what a flip is, and the bank.
pub(super) fn flips(effort: Effort) -> Vec<Claim> {
    let heaps = effort.flip_heaps;
    let by = |flip, budget, condition| {
        let found = compare(Setting { flip, budget, condition }, heaps);
        let sum = |count: fn(&Comparison) -> u64| found.iter().map(count).sum::<u64>();
        (sum(|one| one.differences), sum(|one| one.draws), sum(|one| one.situations))
    };
    let [first_half, sum, always] =
        [Condition::Apart, Condition::Sum, Condition::Always].map(|place| by(Flip::Free, Budget::One, place).0);
    let explained = |claim: Claim, reason: &str| if claim.is_refuted() { claim.because(reason) } else { claim };
    let mut claims = vec![PAPER.undecided("condition", format!(
            "differences from (56), heaps up to {heaps}: {first_half} where L ≥ S + 2, {sum} where L + S ≥ 27, {always} \
             everywhere"
        ),
        "the print is damaged; (56) is the same for both readings, and some condition is needed",
    )];
    for (flip, what) in [
        (Flip::Free, "A flip is a part of the move after it."),
        (Flip::After, "A flip is a part of the move before it."),
        (Flip::Turn, "A flip is a whole turn."),
    ] {
        let (differences, _, situations) = by(flip, Budget::One, Condition::Paper);
        let claim = Claim::fact(
            "(56)",
            &format!("{what} The winning points are those of the goal in force, one flip in all."),
            "w'_k in the attrition phase, else w_k",
            format!("{differences} differences in {situations} situations with heaps up to {heaps}"),
            differences == 0,
        );
        claims.push(explained(claim, "a turn without a move passes the loss to the other player"));
        let (differences, draws, situations) = by(flip, Budget::Unlimited, Condition::Paper);
        let claim = Claim::fact(
            "section 21",
            &format!("{what} That it is allowed only once is inessential."),
            "inessential",
            format!("{differences} differences in {situations} situations without a limit, {draws} of them draws"),
            differences == 0,
        );
        claims.push(explained(claim, "both players would rather flip for ever than lose"));
    }
    claims.push(bank());
    claims
}

/// Section 21: the flipper pays.
fn bank() -> Claim {
    let value = |at: Situation| winning::value(at.rule, &Point::new(at.short, at.long));
    let gains = [0, 1].map(|stake| retrograde::bank(BANK_HEAPS, stake, value));
    let [differences, situations] = [|gains: &Gains| gains.differences, |gains: &Gains| gains.situations]
        .map(|count| gains.iter().map(count).sum::<u64>());
    PAPER.undecided("bank", format!(
            "{differences} changes of winner or gain in {situations} situations with heaps up to {BANK_HEAPS}, with and \
             without a stake"
        ),
        "no result is claimed; with a flip as a part of a move, at one unit each and two in all, the loser never pays \
         and the winner gets back what it pays, so the bank changes nothing",
    )
}
