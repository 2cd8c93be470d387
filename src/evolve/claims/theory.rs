//! The rules of a strategy, the example of section 3, the configuration of section 4, the formulas.

use super::{ClaimsError, PAPER, column, graph, held_out, refused};
use crate::games::Ordering;
use crate::language::{Alphabet, Number, OnFault, Scope, parse, parse_chromosome};
use crate::search::{Count, GAME, Settings, Target, Tree, tree_size, tree_violations, violations};
use trinim_game::claims::Claim;

/// Bouton's formula for four heaps.
const XOR: &str = "a1 xor a2 xor a3 xor a4";

/// Sections 2 and 3: Bouton's theorem, Grundy numbers, and the three rules.
pub(super) fn rules() -> Result<Vec<Claim>, ClaimsError> {
    let held = held_out(GAME, Ordering::All, 7)?;
    let small = graph(GAME, Ordering::All)?;
    let (xor, values) = column(&small, XOR)?;
    let standing = held.standing(&xor, OnFault::Stop);
    let equal = small.grundy().iter().zip(&values).filter(|(grundy, xor)| grundy == xor).count();
    // Every assignment of wins and losses to the six positions of two heaps of 2.
    let two = graph("nim:2,2", Ordering::Descending)?;
    let accepted = |count| {
        let labelings = (0..1i32 << two.len()).map(|bits| (0..two.len()).map(|place| bits >> place & 1).collect());
        let perfect = |column: &Vec<i32>| violations(&two, Target::Rules, count, column).total() == 0;
        labelings.filter(perfect).count()
    };
    let (rules, text) = (accepted(Count::Position), accepted(Count::AllOptions));
    let ways = format!("{} ways to label the positions of nim:2,2", 1u64 << two.len());
    let standing_text = format!("{} for four heaps, and right in {} positions", standing.word(), held.positions());
    let equal_text = format!("the xor of the heaps in {equal} of {} positions of {GAME}", small.len());
    Ok(vec![
        PAPER.fact("bouton", standing_text, standing.is_strategy()),
        PAPER.fact("grundy", equal_text, equal == small.len()),
        PAPER.fact("rules", format!("{rules} of {ways} breaks no rule"), rules == 1),
        PAPER.fact("all", format!("{text} of {ways} have no such violation"), text == 1).misprint(
            "rule (i) and figure 1 count a P-position with any offspring that is one; \"all\" lets wrong labels pass",
        ),
    ])
}

/// Sections 3.1 and 3.4: the chromosome, and the tree of (2,1) with its violations.
pub(super) fn example() -> Result<Vec<Claim>, ClaimsError> {
    let letters = Scope { features: ["a", "b", "c", "d"].map(str::to_owned).to_vec(), parameter: None };
    let read = |gene| {
        let formula = parse_chromosome(&letters, "1: a 2: b 3: + 1, 2 4: c 5: d 6: * 3, 5", Some(gene));
        formula.map(|formula| formula.text(&letters)).map_err(refused)
    };
    let tree = graph("nim:2,1", Ordering::All)?;
    let (_, values) = column(&tree, "a1-a2*a1")?;
    let (_, caption) = column(&tree, "a1-a1*a2")?;
    // In the order of the drawing, then all other positions.
    let figure = PAPER.printed("labels");
    let drawn = |label: &String| figure.find(label.as_str()).unwrap_or(usize::MAX);
    let label = |place: u32| (tree.label(place), if values[place as usize] == 0 { "P" } else { "N" });
    let mut labels: Vec<(String, &str)> = (0..tree.len() as u32).map(label).collect();
    labels.sort_by_key(|(label, _)| drawn(label));
    let labels: Vec<String> = labels.iter().map(|(label, outcome)| format!("{label} {outcome}")).collect();
    let grown = Tree::grow(&tree, &values).ok_or_else(|| refused("the tree of nim:2,1 is too large"))?;
    let broken = grown.branches.iter().filter(|branch| branch.breach.is_some());
    let mut circled: Vec<String> = broken.map(|branch| tree.label(branch.position)).collect();
    circled.sort_by(|one, other| other.cmp(one));
    let [any, edges, all] =
        [Count::Position, Count::Edge, Count::AllOptions].map(|count| tree_violations(&tree, count, &values).total());
    let same = if values == caption { "the same values" } else { "other values" };
    Ok(vec![
        PAPER.value("gene", read(3)?),
        PAPER.value("chromosome", read(6)?).because("printed without the outer parentheses"),
        PAPER.value("labels", labels.join(", ")),
        PAPER.fact("caption", same, values == caption),
        PAPER.value("circled", circled.join(", ")),
        PAPER.value("fitness", any).because(format!(
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
    let paper = Settings::paper();
    let alphabet = Alphabet::choose(&sorted.scope, Number::Heaps, &[], &["paper"]).map_err(refused)?;
    let terminals: Vec<String> = alphabet.terminals.iter().map(|terminal| sorted.scope.name(*terminal)).collect();
    let functions = PAPER.printed("functions");
    let has = |name: &&str| alphabet.functions.iter().any(|op| op.name() == *name);
    let found: Vec<&str> = functions.split(' ').filter(has).collect();
    Ok(vec![
        PAPER.value("positions", sorted.len()),
        PAPER.value("combinations", combinations),
        PAPER.value("nodes", tree_size(&ordered)).because(format!(
            "the tree repeats a position for each way to it; 70 are the positions up to permutation, {} with permutations",
            ordered.len()
        )),
        PAPER.value("genes", paper.genes),
        PAPER.value("generations", paper.generations),
        PAPER.value("crossover", paper.crossover_probability),
        PAPER.value("mutations", paper.mutations),
        PAPER.value("tournament", paper.tournament),
        PAPER.value("terminals", terminals.join(" ")),
        PAPER.fact("functions", found.join(" "), found.len() == alphabet.functions.len())
            .because("table 1 is what the preset paper uses; the points that the paper leaves open are settings"),
    ])
}

/// Sections 3.2 and 4: the formulas that the paper calls correct.
pub(super) fn formulas() -> Result<Vec<Claim>, ClaimsError> {
    let sorted = graph(GAME, Ordering::Descending)?;
    let held = held_out(GAME, Ordering::All, 7)?;
    let judged = |name: &str, text: &str| {
        let (formula, values) = column(&sorted, text)?;
        let broken = violations(&sorted, Target::Rules, Count::Position, &values).total();
        let standing = held.standing(&formula, OnFault::Stop);
        let computed = format!("{broken} violations of 70 positions, {}", standing.word());
        Ok(PAPER.fact(name, computed, standing.is_strategy()))
    };
    let genes = parse(&sorted.scope, XOR).map_err(refused)?.size();
    Ok(vec![
        judged("xor", XOR)?,
        judged("left", "(a1 xor a2 xor a3) - a4")?,
        judged("bound", "a1 xor a2 xor (a3 - a4)")?.misprint("it needs parentheses: (a1 xor a2 xor a3) - a4"),
        PAPER.fact("five", format!("the formula of four heaps takes {genes} genes"), genes > 5),
    ])
}
