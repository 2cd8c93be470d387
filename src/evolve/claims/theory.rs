//! The rules of a strategy, the example of section 3, the configuration of section 4, the formulas.

use super::{ClaimsError, column, graph, held_out, refused};
use crate::games::Ordering;
use crate::language::{Alphabet, Gene, OnFault, Op, Scope, Terminal, parse};
use crate::search::{Count, GAME, Settings, Target, Tree, tree_size, tree_violations, violations};
use trinim_game::claims::Claim;

/// The formula of section 3.4.
const EXAMPLE: &str = "a1-a2*a1";
/// The positions of its figure 1, in the order of the drawing.
const FIGURE_1: &str = "(2,1) P, (2,0) N, (1,1) P, (1,0) N, (0,1) P, (0,0) P";
/// Bouton's formula for four heaps.
const XOR: &str = "a1 xor a2 xor a3 xor a4";

/// Sections 2 and 3: Bouton's theorem, Grundy numbers, and the three rules.
pub(super) fn rules() -> Result<Vec<Claim>, ClaimsError> {
    let held = held_out(GAME, Ordering::All, 7)?;
    let small = graph(GAME, Ordering::All)?;
    let (xor, values) = column(&small, XOR)?;
    let standing = held.standing(&xor, OnFault::Stop);
    let grundy = small.grundy();
    let equal = grundy.iter().zip(&values).filter(|(grundy, xor)| grundy == xor).count();
    // Every way to call the six positions of two heaps of 2 wins and losses.
    let two = graph("nim:2,2", Ordering::Descending)?;
    let accepted = |count| {
        let labelings = (0..1i32 << two.len()).map(|bits| (0..two.len()).map(|place| bits >> place & 1).collect());
        let perfect = |column: &Vec<i32>| violations(&two, Target::Rules, count, column).total() == 0;
        labelings.filter(perfect).count()
    };
    let (rules, text) = (accepted(Count::Position), accepted(Count::AllOptions));
    let labelings = 1u64 << two.len();
    Ok(vec![
        Claim::fact(
            "section 2",
            "A position of Nim is a P-position if and only if the xor of all heaps is 0.",
            "x_1 xor x_2 xor .. = 0",
            format!("{} for four heaps, and right in {} positions", standing.word(), held.positions()),
            standing.is_strategy(),
        ),
        Claim::fact(
            "section 2",
            "Every position has a Grundy number, and is equivalent to a heap of that size.",
            "a nimber for every position",
            format!("the xor of the heaps in {equal} of {} positions of {GAME}", small.len()),
            equal == small.len(),
        ),
        Claim::fact(
            "section 3.4, (i) to (iii)",
            "The three rules decide which positions are P-positions.",
            "the rules of a strategy",
            format!("{rules} of {labelings} ways to label the positions of nim:2,2 breaks no rule"),
            rules == 1,
        ),
        Claim::fact(
            "section 3.4",
            "A P-position is a violation if all its offspring are P-positions.",
            "all the offspring nodes are P-positions",
            format!("{text} of {labelings} ways to label the positions of nim:2,2 have no such violation"),
            text == 1,
        )
        .misprint(
            "rule (i) and figure 1 count a P-position with any offspring that is one; \"all\" lets wrong labels pass",
        ),
    ])
}

/// Sections 3.1 and 3.4: the chromosome, and the tree of (2,1) with its violations.
pub(super) fn example() -> Result<Vec<Claim>, ClaimsError> {
    let letters = Scope { features: ["a", "b", "c", "d"].map(str::to_owned).to_vec(), parameter: None };
    let alphabet = Alphabet { terminals: (0..4).map(Terminal::Feature).collect(), functions: vec![Op::Add, Op::Mul] };
    let gene = |symbol, one, other| Gene { symbol, args: [one, other, 0] };
    // 1: a, 2: b, 3: + 1, 2, 4: c, 5: d, 6: * 3, 5
    let genes = [gene(0, 0, 0), gene(1, 0, 0), gene(4, 0, 1), gene(2, 0, 0), gene(3, 0, 0), gene(5, 2, 4)];
    let read = |place| alphabet.formula(&genes, place).map_or_else(String::new, |formula| formula.text(&letters));

    let tree = graph("nim:2,1", Ordering::All)?;
    let (_, values) = column(&tree, EXAMPLE)?;
    let (_, caption) = column(&tree, "a1-a1*a2")?;
    // In the order of the drawing, and any other position after those.
    let drawn = |label: &String| FIGURE_1.find(label.as_str()).unwrap_or(usize::MAX);
    let label = |place: u32| (tree.label(place), if values[place as usize] == 0 { "P" } else { "N" });
    let mut labels: Vec<(String, &str)> = (0..tree.len() as u32).map(label).collect();
    labels.sort_by_key(|(label, _)| drawn(label));
    let labels: Vec<String> = labels.iter().map(|(label, outcome)| format!("{label} {outcome}")).collect();
    let grown = Tree::grow(&tree, &values).ok_or_else(|| refused("the tree of nim:2,1 is too large"))?;
    let mut circled: Vec<String> = grown
        .branches
        .iter()
        .filter(|branch| branch.breach.is_some())
        .map(|branch| tree.label(branch.position))
        .collect();
    circled.sort_by(|one, other| other.cmp(one));
    let [any, edges, all] =
        [Count::Position, Count::Edge, Count::AllOptions].map(|count| tree_violations(&tree, count, &values).total());
    Ok(vec![
        Claim::value("section 3.1", "The expression of gene 3, + 1, 2", "(a + b)", read(2)),
        Claim::value(
            "section 3.1",
            "The expression of the chromosome, that of gene 6, * 3, 5",
            "((a + b) * d)",
            read(5),
        )
        .because("printed without the outer parentheses"),
        Claim::value("figure 1", "The positions by E = a1 - a2*a1", FIGURE_1, labels.join(", ")),
        Claim::fact(
            "figure 1",
            "The caption has a1 - a1*a2 in place of the a1 - a2*a1 of the text.",
            "the same formula",
            if values == caption { "the same values" } else { "other values" },
            values == caption,
        ),
        Claim::value("figure 1", "The encircled positions", "(2,1), (1,1), (0,1), (0,1)", circled.join(", ")),
        Claim::value("section 3.4", "The fitness of E on the game tree of (2,1)", "4", any).because(format!(
            "positions that break a rule, each as often as it is in the tree; {edges} if each move from P to P counts, \
             {all} if \"all\" is read as printed"
        )),
    ])
}

/// Section 4: the configuration and table 1.
pub(super) fn configuration() -> Result<Vec<Claim>, ClaimsError> {
    let sorted = graph(GAME, Ordering::Descending)?;
    let ordered = graph(GAME, Ordering::All)?;
    // Combinations with repetitions of four of the sizes 0 to 4.
    let combinations = (5..=8u64).product::<u64>() / (1..=4u64).product::<u64>();
    let size = tree_size(&ordered);
    let paper = Settings::paper();
    let alphabet = Alphabet::choose(&sorted.scope, crate::language::Number::Heaps, &[], &["paper"]);
    let alphabet = alphabet.map_err(refused)?;
    let terminals: Vec<String> = alphabet.terminals.iter().map(|terminal| sorted.scope.name(*terminal)).collect();
    let printed = "+ - * div mod and not xor or";
    let has = |name: &&str| alphabet.functions.iter().any(|op| op.name() == *name);
    let found: Vec<&str> = printed.split(' ').filter(has).collect();
    let same = found.len() == alphabet.functions.len();
    Ok(vec![
        Claim::value("section 4", "Configurations of (4,4,4,4) up to permutation", "70", sorted.len()),
        Claim::value("section 4", "The same by combinations with repetitions", "70", combinations),
        Claim::value("section 4", "The same by counting the nodes of the game tree", "70", size).because(format!(
            "the tree repeats a position for each way to it; 70 are the positions up to permutation, {} with permutations",
            ordered.len()
        )),
        Claim::value("table 1", "Genes of a chromosome", "15", paper.genes),
        Claim::value("table 1", "Generations", "100", paper.generations),
        Claim::value("table 1", "Crossover probability", "0.9", paper.crossover_probability),
        Claim::value("table 1", "Mutations per chromosome", "2", paper.mutations),
        Claim::value("table 1", "Chromosomes in a tournament", "2", paper.tournament),
        Claim::value("table 1", "Terminals", "n a1 a2 a3 a4", terminals.join(" ")),
        Claim::fact("table 1", "Functions", printed, found.join(" "), same)
            .because("table 1 is what the preset paper uses; the points that the paper leaves open are settings"),
    ])
}

/// Sections 3.2 and 4: the formulas that are called correct.
pub(super) fn formulas() -> Result<Vec<Claim>, ClaimsError> {
    let sorted = graph(GAME, Ordering::Descending)?;
    let held = held_out(GAME, Ordering::All, 7)?;
    let judged = |text: &str| {
        let (formula, values) = column(&sorted, text)?;
        let broken = violations(&sorted, Target::Rules, Count::Position, &values).total();
        let standing = held.standing(&formula, OnFault::Stop);
        Ok((format!("{broken} violations of 70 positions, {}", standing.word()), standing.is_strategy()))
    };
    let (xor, xor_holds) = judged(XOR)?;
    let (left, left_holds) = judged("(a1 xor a2 xor a3) - a4")?;
    let (bound, bound_holds) = judged("a1 xor a2 xor (a3 - a4)")?;
    let genes = parse(&sorted.scope, XOR).map_err(refused)?.size();
    Ok(vec![
        Claim::fact("section 3.2, remark i", "Nim needs only xor.", XOR, xor, xor_holds),
        Claim::fact(
            "section 4",
            "F = a1 xor a2 xor a3 - a4 is correct, read from left to right.",
            "a correct formula",
            left,
            left_holds,
        ),
        Claim::fact(
            "section 4",
            "The same formula with the usual precedence: - binds before xor.",
            "a1 xor a2 xor a3 - a4",
            bound,
            bound_holds,
        )
        .misprint("it needs parentheses: (a1 xor a2 xor a3) - a4"),
        Claim::fact(
            "experiment 3",
            "No run with 5 genes succeeds.",
            "0 of 50",
            format!("the formula of four heaps takes {genes} genes"),
            genes > 5,
        ),
    ])
}
