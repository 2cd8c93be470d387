//! One run of Multi Expression Programming, steady state.
//!
//! In each generation pairs of parents are chosen by tournament, crossed and mutated; the offspring
//! replace the worst chromosome according to [`Settings`]. The fitness of a chromosome is the
//! number of violations of its representative gene; the run ends at 0.
//!
//! The values of a gene at all positions form a column. Terminal columns are computed once. Only
//! the genes that matter are computed: those that a representative uses and, where a division by
//! zero changes the gene, all divisions and their arguments.
//!
//! # Invariants
//! 1. A run depends only on problem, settings, seed and run number.
//! 2. The violations of the result are those that `score` counts for its formula.
//!
//! # Cost
//! About half a microsecond per offspring on the paper's 70 positions, ten times that when the best
//! of 15 genes is sought among 625 positions.

use crate::games::Graph;
use crate::language::{Alphabet, Formula, GENES_MAX, Gene, OnFault, Op};
use crate::search::{
    Chance, Judge, ProblemError, Replacement, Representative, Settings, Variation, Zero, any_terminal, is_well_formed,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// Fitness of a formula that has no value at some position.
pub const WORST: u32 = u32::MAX;
/// Limit on the columns of a run, in bytes.
const COLUMN_BYTES_MAX: usize = 512 << 20;

/// A search for formulas: the positions and the alphabet.
pub struct Problem {
    /// The positions on which formulas are judged.
    pub graph: Graph,
    /// Terminals and functions.
    pub alphabet: Alphabet,
    terminals: Vec<i32>,
}

impl Problem {
    /// Sets up the search for formulas over `alphabet` for `graph`.
    ///
    /// # Errors
    /// A setting is out of range, the columns take too much memory or the alphabet has no terminal.
    pub fn new(graph: Graph, alphabet: Alphabet, settings: &Settings) -> Result<Problem, ProblemError> {
        settings.check()?;
        let (genes, positions) = (settings.genes, graph.len());
        if alphabet.terminals.is_empty() {
            return Err(ProblemError("no terminals: expected at least one".to_owned()));
        }
        if (genes + alphabet.terminals.len()) * positions > COLUMN_BYTES_MAX / size_of::<i32>() {
            let columns = format!("{genes} genes on {positions} positions");
            return Err(ProblemError(format!(
                "{columns} take more than {} MiB: expected fewer",
                COLUMN_BYTES_MAX >> 20
            )));
        }
        let mut terminals = vec![0; alphabet.terminals.len() * positions];
        for (column, terminal) in terminals.chunks_exact_mut(positions).zip(&alphabet.terminals) {
            graph.scope.fill(*terminal, graph.features(), column);
        }
        Ok(Problem { graph, alphabet, terminals })
    }
}

/// A formula with its origin and violations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The chromosome it was read from.
    pub genes: Vec<Gene>,
    /// The place of the representative gene.
    pub place: usize,
    /// The formula.
    pub formula: Formula,
    /// Its violations; [`WORST`] if it has no value at some position.
    pub violations: u32,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The run number.
    pub run: u64,
    /// Whether the run ended by itself. If false it was stopped, and this is the best until then.
    pub finished: bool,
    /// The generation that found a formula without violations; 0 is the initial population.
    pub success: Option<u32>,
    /// Chromosomes judged.
    pub judged: u64,
    /// The best formula.
    pub best: Candidate,
    /// The fewest violations seen for each size, sizes ascending and violations descending.
    pub front: Vec<Candidate>,
}

#[derive(Default)]
struct Member {
    genes: Vec<Gene>,
    place: usize,
    /// Violations of each gene if any gene can become the representative, otherwise only of the
    /// last gene.
    totals: Vec<u32>,
}

struct Evaluation<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    judge: Judge<'a>,
    /// Columns of the terminals, then of the genes.
    columns: Vec<i32>,
    /// Place of the column of each gene; `None` if the gene has no value at some position.
    slots: Vec<Option<usize>>,
    terminal_totals: Vec<u32>,
    needed: Vec<bool>,
    /// Which parents have the same formula at this gene: bit 0 the first, bit 1 the second.
    shared: Vec<u8>,
    /// Genes that the representative uses.
    used: Vec<bool>,
    on_fault: OnFault,
}

impl<'a> Evaluation<'a> {
    fn new(problem: &'a Problem, settings: &'a Settings) -> Evaluation<'a> {
        let mut judge = Judge::new(&problem.graph, settings.target, settings.count);
        let positions = problem.graph.len();
        let terminal_totals = problem.terminals.chunks_exact(positions).map(|column| judge.total(column)).collect();
        let mut columns = problem.terminals.clone();
        columns.resize(columns.len() + settings.genes * positions, 0);
        Evaluation {
            judge,
            columns,
            terminal_totals,
            slots: vec![None; settings.genes],
            needed: vec![false; settings.genes],
            shared: vec![0; settings.genes],
            used: vec![false; settings.genes],
            on_fault: settings.zero.on_fault(),
            problem,
            settings,
        }
    }

    /// Judges a chromosome and returns its fitness. Replaces a gene by a terminal if it divides by
    /// zero and the settings say so.
    ///
    /// Genes that hold the same formula as in one of `parents` are not judged again.
    fn judge(&mut self, member: &mut Member, parents: Option<[&Member; 2]>, chance: &mut Chance) -> u32 {
        debug_assert!(
            is_well_formed(&self.problem.alphabet, &member.genes),
            "chromosome, invariant 1: judged without it"
        );
        self.compare(&member.genes, parents);
        self.mark(&member.genes);
        self.compute(&mut member.genes, chance);
        let last = member.genes.len() - 1;
        let judged = match self.settings.representative {
            Representative::Last => last..last + 1,
            Representative::Best => 0..last + 1,
        };
        member.totals.resize(last + 1, WORST);
        for place in judged.clone() {
            member.totals[place] = match (self.shared[place], parents) {
                (1 | 3, Some([one, _])) => one.totals[place],
                (2, Some([_, other])) => other.totals[place],
                _ => self.total(place),
            };
        }
        member.place = judged.min_by_key(|place| member.totals[*place]).unwrap_or(last);
        member.totals[member.place]
    }

    /// Finds the genes that hold the same formula as in a parent.
    fn compare(&mut self, genes: &[Gene], parents: Option<[&Member; 2]>) {
        let Some([one, other]) = parents else { return self.shared.fill(0) };
        for (place, gene) in genes.iter().enumerate() {
            let equal = u8::from(*gene == one.genes[place]) | u8::from(*gene == other.genes[place]) << 1;
            let args = self.problem.alphabet.args(gene);
            self.shared[place] = args.iter().fold(equal, |all, arg| all & self.shared[usize::from(*arg)]);
        }
    }

    /// Marks the genes to compute: possible representatives, divisions that may have to be
    /// replaced, and all genes they use.
    fn mark(&mut self, genes: &[Gene]) {
        let last = genes.len() - 1;
        self.needed.fill(false);
        for place in (0..genes.len()).rev() {
            let op = self.problem.alphabet.function(&genes[place]);
            if self.shared[place] == 0 {
                let division = self.settings.zero == Zero::Terminal && op.is_some_and(Op::may_fault);
                let judged = self.settings.representative == Representative::Best || place == last;
                self.needed[place] |= division || judged;
            }
            if self.needed[place] {
                let args = self.problem.alphabet.args(&genes[place]);
                args.iter().for_each(|arg| self.needed[usize::from(*arg)] = true);
            }
        }
    }

    fn compute(&mut self, genes: &mut [Gene], chance: &mut Chance) {
        for (place, gene) in genes.iter_mut().enumerate() {
            if !self.needed[place] {
                continue;
            }
            self.slots[place] = match self.problem.alphabet.function(gene) {
                None => Some(usize::from(gene.symbol)),
                Some(op) => match self.apply(op, place, gene) {
                    None if self.settings.zero == Zero::Terminal => {
                        gene.symbol = any_terminal(&self.problem.alphabet, chance);
                        Some(usize::from(gene.symbol))
                    }
                    slot => slot,
                },
            };
        }
    }

    /// Computes the column of a function; `None` if it has no value at some position.
    fn apply(&mut self, op: Op, place: usize, gene: &Gene) -> Option<usize> {
        let positions = self.problem.graph.len();
        let slot = self.problem.alphabet.terminals.len() + place;
        let (earlier, rest) = self.columns.split_at_mut(slot * positions);
        let mut args: [&[i32]; 3] = [&[]; 3];
        for (arg, index) in args.iter_mut().zip(&gene.args).take(op.arity()) {
            let from = self.slots[usize::from(*index)]? * positions;
            *arg = &earlier[from..from + positions];
        }
        op.fill(args, &mut rest[..positions], self.on_fault).ok().map(|()| slot)
    }

    fn total(&mut self, place: usize) -> u32 {
        let positions = self.problem.graph.len();
        match self.slots[place] {
            None => WORST,
            Some(slot) if slot < self.terminal_totals.len() => self.terminal_totals[slot],
            Some(slot) => self.judge.total(&self.columns[slot * positions..][..positions]),
        }
    }

    /// Counts the genes that the gene `root` uses, itself included.
    fn size(&mut self, genes: &[Gene], root: usize) -> usize {
        self.used[..=root].fill(false);
        self.used[root] = true;
        let mut size = 0;
        for place in (0..=root).rev() {
            if self.used[place] {
                size += 1;
                let args = self.problem.alphabet.args(&genes[place]);
                args.iter().for_each(|arg| self.used[usize::from(*arg)] = true);
            }
        }
        size
    }
}

struct Front {
    best: Vec<Option<(u32, Vec<Gene>, usize)>>,
}

impl Front {
    fn offer(&mut self, fitness: u32, member: &Member, evaluation: &mut Evaluation<'_>) {
        // A single gene is as good and shorter.
        if self.best[1].as_ref().is_some_and(|(best, ..)| fitness >= *best) {
            return;
        }
        let size = evaluation.size(&member.genes, member.place);
        // Skip a larger formula that is no better, and everything after a smaller one without
        // violations.
        if self.best[..=size].iter().flatten().all(|(best, ..)| fitness < *best) {
            self.best[size] = Some((fitness, member.genes.clone(), member.place));
        }
    }

    /// Returns the formulas, except those after a better one of fewer genes, which were entered
    /// before it.
    fn formulas(self, alphabet: &Alphabet) -> Vec<Candidate> {
        let mut least = None;
        let mut front: Vec<Candidate> = Vec::new();
        for (violations, genes, place) in self.best.into_iter().flatten() {
            if least.is_none_or(|least| violations < least) {
                least = Some(violations);
                let formula = alphabet.formula(&genes, place);
                front.extend(formula.map(|formula| Candidate { genes, place, formula, violations }));
            }
        }
        front
    }
}

/// Performs one run, or a part of it if `stop` is set; judges at least one chromosome.
pub fn run(problem: &Problem, settings: &Settings, seed: u64, run: u64, stop: &AtomicBool) -> Run {
    let mut evolution = Evolution {
        settings,
        chance: Chance::new(seed, run),
        variation: Variation::new(&problem.alphabet, settings),
        evaluation: Evaluation::new(problem, settings),
        front: Front { best: vec![None; settings.genes + 1] },
        members: Vec::with_capacity(settings.population),
        fitness: Vec::with_capacity(settings.population),
        worst: 0,
        children: Default::default(),
        judged: 0,
    };
    let end = evolution.evolve(stop);
    let front = evolution.front.formulas(&problem.alphabet);
    let Some(best) = front.last().cloned() else {
        unreachable!("something was judged, and {GENES_MAX} genes fit a formula")
    };
    Run { run, finished: end.is_some(), success: end.flatten(), judged: evolution.judged, best, front }
}

struct Evolution<'a> {
    settings: &'a Settings,
    chance: Chance,
    variation: Variation<'a>,
    evaluation: Evaluation<'a>,
    front: Front,
    members: Vec<Member>,
    fitness: Vec<u32>,
    worst: usize,
    children: [Member; 2],
    judged: u64,
}

impl Evolution<'_> {
    /// Returns the generation that found a formula without violations, if one did; `None` if it is
    /// stopped.
    fn evolve(&mut self, stop: &AtomicBool) -> Option<Option<u32>> {
        if self.populate(stop)? {
            return Some(Some(0));
        }
        for generation in 1..=self.settings.rounds() {
            for _ in 0..self.settings.pairs() {
                if stop.load(Ordering::Relaxed) {
                    return None;
                }
                if self.pair() {
                    return Some(Some(generation));
                }
            }
        }
        Some(None)
    }

    /// Draws the initial population; returns whether a member has no violations.
    fn populate(&mut self, stop: &AtomicBool) -> Option<bool> {
        for _ in 0..self.settings.population {
            if stop.load(Ordering::Relaxed) && !self.members.is_empty() {
                return None;
            }
            let mut member = Member { genes: self.variation.any(&mut self.chance), ..Member::default() };
            let value = self.evaluation.judge(&mut member, None, &mut self.chance);
            self.judged += 1;
            self.front.offer(value, &member, &mut self.evaluation);
            self.members.push(member);
            self.fitness.push(value);
            if value == 0 {
                return Some(true);
            }
        }
        self.worst = worst_of(&self.fitness);
        Some(false)
    }

    fn parent(&mut self) -> usize {
        let mut best = self.chance.below(self.settings.population);
        for _ in 1..self.settings.tournament {
            let other = self.chance.below(self.settings.population);
            if self.fitness[other] < self.fitness[best] {
                best = other;
            }
        }
        best
    }

    /// Lets the offspring of a pair replace the worst member; returns whether one has no
    /// violations.
    fn pair(&mut self) -> bool {
        let parents = [(); 2].map(|()| self.parent());
        for (child, parent) in self.children.iter_mut().zip(parents) {
            child.genes.clone_from(&self.members[parent].genes);
        }
        let [one, other] = &mut self.children;
        self.variation.cross(&mut one.genes, &mut other.genes, &mut self.chance);
        let parents = parents.map(|parent| &self.members[parent]);
        let mut values = [0; 2];
        for (child, value) in self.children.iter_mut().zip(&mut values) {
            self.variation.mutate(&mut child.genes, &mut self.chance);
            *value = self.evaluation.judge(child, Some(parents), &mut self.chance);
            self.front.offer(*value, child, &mut self.evaluation);
            self.judged += 1;
        }
        let better = usize::from(values[1] < values[0]);
        let order: &[usize] = if self.settings.replacement == Replacement::Both { &[0, 1] } else { &[better] };
        for &index in order {
            let (value, worst) = (values[index], self.fitness[self.worst]);
            if value < worst || value == worst && self.settings.replacement == Replacement::Ties {
                std::mem::swap(&mut self.members[self.worst], &mut self.children[index]);
                self.fitness[self.worst] = value;
                self.worst = worst_of(&self.fitness);
            }
        }
        values[better] == 0
    }
}

fn worst_of(fitness: &[u32]) -> usize {
    let most = fitness.iter().copied().max().unwrap_or(0);
    fitness.iter().position(|value| *value == most).unwrap_or(0)
}
