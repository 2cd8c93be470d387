//! Puts random formulas to the prover and checks its answers by the definition.
//!
//! ```text
//! cargo run --release -p tools --bin prover -- [COUNT] [--seed N] [--list] [--open]
//! ```
//!
//! Half of the formulas are right: a strategy of Nim, Moore's Nim or misère Nim, or the Grundy
//! value of Nim, rewritten by identities. Of the others, half have one to three symbols changed,
//! half a part that changes for large values only; nearly all of them are wrong. Each question is
//! put for words of 32 bits and for integers of any size, and for words of 3 to 6 bits. The answers
//! are compared with all heaps of few bits, with random, sparse and large heaps, and for small
//! words with all heaps.
//!
//! The account names how many were decided; what is neither proved nor known to be right counts as
//! wrong. Exits with 1 if a formula that is proved is wrong, or one that is refuted is right.
//! `--list` prints the formulas and asks nothing, `--open` also prints what is undecided.

mod games;
mod trees;

use anyhow::{Context, Result, bail};
use games::Subject;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use trees::{Tree, mutate, rewrite, rewrite_zero, spoil};
use trinim::random::Random;
use trinim_evolve::language::{Formula, Scope, parse};
use trinim_evolve::proof::{Domain, Proof, Question, Theorem, WORD_BITS};

/// Largest size of a formula, in symbols.
const SIZE_MAX: usize = 90;
/// Heaps that each proved formula is tried on, beside all those of few bits.
const PROBES: usize = 2_000;

struct Options {
    count: usize,
    seed: u64,
    list: bool,
    open: bool,
}

fn options() -> Result<Options> {
    let mut options = Options { count: 20_000, seed: 1, list: false, open: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        match name.as_str() {
            "--seed" => options.seed = arguments.next().context("--seed without a number")?.parse()?,
            "--list" => options.list = true,
            "--open" => options.open = true,
            count => {
                let count = count.replace(['_', ','], "");
                options.count = count.parse().with_context(|| format!("\"{count}\": expected a number of formulas"))?;
            }
        }
    }
    Ok(options)
}

#[derive(Default)]
struct Tally {
    proved: usize,
    refuted: usize,
    open: usize,
    time: Duration,
    longest: Duration,
}

fn random_formula(random: &mut Random, subject: &Subject, is_right: bool) -> Tree {
    let mut tree = subject.right(random);
    let identities = random.below(5);
    for _ in 0..identities {
        rewrite(random, &mut tree, subject.heaps);
    }
    if subject.theorem != Theorem::Grundy {
        for _ in 0..random.below(3) {
            tree = rewrite_zero(random, &tree, subject.heaps);
        }
    }
    if !is_right && random.below(2) == 0 {
        spoil(random, &mut tree, subject.heaps);
    } else if !is_right {
        for _ in 0..1 + random.below(3) {
            mutate(random, &mut tree, subject.heaps);
        }
    }
    tree
}

/// Heaps as adversaries choose them: powers of two and their neighbours, sparse bits, xor 0.
fn probe(random: &mut Random, question: &Question<'_>) -> Vec<i64> {
    let bits = match question.domain {
        Domain::Words(bits) => bits - 1,
        Domain::Integers => 34,
    };
    let limit = 1u64 << bits;
    let mut heaps: Vec<i64> = (0..question.scope.features.len())
        .map(|_| {
            let power = 1u64 << random.below(u64::from(bits));
            let sparse = power | 1u64 << random.below(u64::from(bits));
            let heap = match random.below(8) {
                0 => random.below(4),
                1 => power,
                2 => power - 1,
                3 => limit - 1 - random.below(3).min(limit - 1),
                4 => limit - power,
                5 => sparse,
                6 => random.below(power + 1),
                _ => random.below(limit),
            };
            (heap % limit) as i64
        })
        .collect();
    if random.below(2) == 0 {
        let rest = heaps[1..].iter().fold(0, |xor, heap| xor ^ heap);
        heaps[0] = rest;
    }
    question.ordering.arrange(&mut heaps);
    heaps
}

/// Looks for heaps for which the formula is wrong: among all of few bits, then by probes.
fn search(random: &mut Random, question: &Question<'_>, tried_max: u64, probes: usize) -> Option<Vec<i64>> {
    let heaps = question.scope.features.len() as u32;
    let bits = match question.domain {
        Domain::Words(bits) => (bits - 1).min(tried_max.ilog2() / heaps),
        Domain::Integers => tried_max.ilog2() / heaps,
    };
    let all = (0..1u64 << (bits * heaps))
        .map(|code| (0..heaps).map(|heap| (code >> (bits * heap) & ((1 << bits) - 1)) as i64).collect::<Vec<i64>>());
    let probes = (0..probes).map(|_| probe(random, question));
    all.chain(probes).find(|found| question.is_wrong(found))
}

struct Judge {
    random: Random,
    tallies: BTreeMap<(&'static str, &'static str, &'static str), Tally>,
    false_answers: usize,
    shows_open: bool,
}

impl Judge {
    /// Puts a question and checks the answer.
    fn ask(&mut self, subject: &Subject, formula: &Formula, scope: &Scope, domain: Domain, is_right: bool) {
        let (theorem, ordering) = (subject.theorem, subject.ordering);
        let question = Question { formula, scope, theorem, ordering, domain };
        let begun = Instant::now();
        let answer = question.prove();
        let time = begun.elapsed();
        let is_small = matches!(domain, Domain::Words(bits) if bits < WORD_BITS);
        let name = match domain {
            Domain::Integers => "integers",
            Domain::Words(_) if is_small => "small words",
            Domain::Words(_) => "words",
        };
        let mut is_right = is_right;
        let lie = match &answer {
            Proof::Proved => {
                is_right = true;
                // All heaps of a small word, or many of a large one.
                search(&mut self.random, &question, if is_small { 1 << 16 } else { 1 << 12 }, PROBES)
            }
            Proof::Refuted(heaps) => (is_right && !is_small || !question.is_wrong(heaps)).then(|| heaps.clone()),
            Proof::Open(_) => None,
        };
        if let Some(heaps) = lie {
            self.false_answers += 1;
            println!("FALSE: {} {domain:?} {answer:?} at {heaps:?}: {}", subject.name, formula.text(scope));
        }
        if let (Proof::Open(reason), true) = (&answer, self.shows_open) {
            println!(
                "open: {} {name} {:?} {} ms: {reason}: {}",
                subject.name,
                ordering,
                time.as_millis(),
                formula.text(scope)
            );
        }
        let kind = if is_right { "right" } else { "wrong" };
        let tally = self.tallies.entry((name, kind, subject.name)).or_default();
        match answer {
            Proof::Proved => tally.proved += 1,
            Proof::Refuted(_) => tally.refuted += 1,
            Proof::Open(_) => tally.open += 1,
        }
        tally.time += time;
        tally.longest = tally.longest.max(time);
    }

    fn print(&self) {
        println!("| domain | formulas | game | asked | proved | refuted | open | decided | mean | longest |");
        println!("|---|---|---|---|---|---|---|---|---|---|");
        let mut sums: BTreeMap<(&str, &str), Tally> = BTreeMap::new();
        let line = |(domain, kind, game): (&str, &str, &str), tally: &Tally| {
            let asked = tally.proved + tally.refuted + tally.open;
            let decided = 100.0 * (asked - tally.open) as f64 / asked.max(1) as f64;
            let mean = tally.time.as_secs_f64() * 1e3 / asked.max(1) as f64;
            let longest = tally.longest.as_secs_f64() * 1e3;
            println!(
                "| {domain} | {kind} | {game} | {asked} | {} | {} | {} | {decided:.1} % | {mean:.1} ms | {longest:.0} ms |",
                tally.proved, tally.refuted, tally.open
            );
        };
        for ((domain, kind, game), tally) in &self.tallies {
            line((domain, kind, game), tally);
            let sum = sums.entry((domain, kind)).or_default();
            sum.proved += tally.proved;
            sum.refuted += tally.refuted;
            sum.open += tally.open;
            sum.time += tally.time;
            sum.longest = sum.longest.max(tally.longest);
        }
        for ((domain, kind), sum) in &sums {
            line((domain, kind, "all"), sum);
        }
    }
}

fn run() -> Result<ExitCode> {
    let options = options()?;
    let mut random = Random::new(options.seed);
    let mut judge = Judge {
        random: Random::new(options.seed ^ 0x5EED),
        tallies: BTreeMap::new(),
        false_answers: 0,
        shows_open: options.open,
    };
    for index in 0..options.count {
        let subject = Subject::new(&mut random);
        let is_right = index % 2 == 0;
        let tree = loop {
            let tree = random_formula(&mut random, &subject, is_right);
            if tree.size() <= SIZE_MAX && tree.is_in_class() {
                break tree;
            }
        };
        let text = tree.to_string();
        if options.list {
            let kind = if is_right { "right" } else { "wrong" };
            println!("{kind}\t{}\t{}\t{:?}\t{text}", subject.name, subject.heaps, subject.ordering);
            continue;
        }
        let scope = Scope::heaps(subject.heaps, None);
        let formula = parse(&scope, &text).with_context(|| text.clone())?;
        judge.ask(&subject, &formula, &scope, Domain::Words(WORD_BITS), is_right);
        judge.ask(&subject, &formula, &scope, Domain::Integers, is_right);
        // Constants shrink with the word, so what is right for 32 bits may be wrong here.
        judge.ask(&subject, &formula, &scope, Domain::Words(3 + random.below(4) as u32), false);
    }
    if options.list {
        return Ok(ExitCode::SUCCESS);
    }
    judge.print();
    if judge.false_answers > 0 {
        bail!("{} false answers", judge.false_answers);
    }
    Ok(ExitCode::SUCCESS)
}

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
