//! Chromosomes: lists of genes, drawn, crossed and mutated, by random numbers.
//!
//! The arguments of a gene come from lower places, so a chromosome holds one formula for every
//! gene. If only a symbol is mutated, it can use arguments again that the previous symbol did not
//! need.
//!
//! The random numbers are ChaCha's with 8 rounds, one stream for each run of a seed. The step from
//! words to choices is fixed here, so that no library version can change a result: a choice among
//! `count` takes one 32-bit word, `word · count >> 32`. The bias is below `count/2^32`.
//!
//! # Invariants
//! 1. Gene 0 is a terminal; the arguments of gene `i` are below `i`. Drawing, crossover and
//!    mutation preserve both.

use crate::language::{ARITY_MAX, Alphabet, Gene};
use crate::search::{Crossover, Mutation, Settings};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Returns a probability, clamped to 0..=1, in units of 2^-32.
fn threshold(probability: f64) -> u64 {
    (probability.clamp(0.0, 1.0) * (1u64 << 32) as f64).round() as u64
}

pub(super) struct Chance(ChaCha8Rng);

impl Chance {
    pub(super) fn new(seed: u64, run: u64) -> Chance {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(run);
        Chance(rng)
    }

    /// Draws one of `0..count`; 0 if `count` is 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        ((u64::from(self.0.next_u32()) * count as u64) >> 32) as usize
    }

    fn happens(&mut self, threshold: u64) -> bool {
        u64::from(self.0.next_u32()) < threshold
    }
}

pub(super) fn any_terminal(alphabet: &Alphabet, chance: &mut Chance) -> u16 {
    chance.below(alphabet.terminals.len()) as u16
}

/// Returns whether invariant 1 holds.
pub(super) fn is_well_formed(alphabet: &Alphabet, genes: &[Gene]) -> bool {
    let known = |gene: &Gene| usize::from(gene.symbol) < alphabet.terminals.len() + alphabet.functions.len();
    let below = |(place, gene): (usize, &Gene)| gene.args.iter().all(|arg| usize::from(*arg) < place.max(1));
    alphabet.function(&genes[0]).is_none() && genes.iter().all(known) && genes.iter().enumerate().all(below)
}

pub(super) struct Variation<'a> {
    alphabet: &'a Alphabet,
    settings: &'a Settings,
    arity: usize,
    rate: u64,
    crossing: u64,
    half: u64,
    terminal_share: Option<u64>,
}

impl<'a> Variation<'a> {
    pub(super) fn new(alphabet: &'a Alphabet, settings: &'a Settings) -> Variation<'a> {
        Variation {
            alphabet,
            settings,
            arity: alphabet.arity_max(),
            rate: threshold(settings.mutations / settings.genes as f64),
            crossing: threshold(settings.crossover_probability),
            half: threshold(0.5),
            terminal_share: settings.terminal_share.map(threshold),
        }
    }

    fn any_symbol(&self, place: usize, chance: &mut Chance) -> u16 {
        let (terminals, functions) = (self.alphabet.terminals.len(), self.alphabet.functions.len());
        if place == 0 || functions == 0 {
            return any_terminal(self.alphabet, chance);
        }
        match self.terminal_share {
            None => chance.below(terminals + functions) as u16,
            Some(share) if chance.happens(share) => any_terminal(self.alphabet, chance),
            Some(_) => (terminals + chance.below(functions)) as u16,
        }
    }

    fn any_gene(&self, place: usize, chance: &mut Chance) -> Gene {
        let mut gene = Gene { symbol: self.any_symbol(place, chance), args: [0; ARITY_MAX] };
        gene.args.iter_mut().take(self.arity).for_each(|arg| *arg = chance.below(place) as u16);
        gene
    }

    pub(super) fn any(&self, chance: &mut Chance) -> Vec<Gene> {
        (0..self.settings.genes).map(|place| self.any_gene(place, chance)).collect()
    }

    /// Crosses two copies of the parents, with the probability of the settings.
    pub(super) fn cross(&self, one: &mut [Gene], other: &mut [Gene], chance: &mut Chance) {
        if !chance.happens(self.crossing) {
            return;
        }
        let genes = one.len();
        let (from, to) = match self.settings.crossover {
            Crossover::OnePoint => (chance.below(genes), genes),
            Crossover::TwoPoint => {
                let (a, b) = (chance.below(genes + 1), chance.below(genes + 1));
                (a.min(b), a.max(b))
            }
            Crossover::Uniform => {
                for (one, other) in one.iter_mut().zip(other) {
                    if chance.happens(self.half) {
                        std::mem::swap(one, other);
                    }
                }
                return;
            }
        };
        one[from..to].swap_with_slice(&mut other[from..to]);
    }

    pub(super) fn mutate(&self, genes: &mut [Gene], chance: &mut Chance) {
        let times = self.settings.mutations as usize;
        match self.settings.mutation {
            Mutation::Genes => {
                for _ in 0..times {
                    let place = chance.below(genes.len());
                    genes[place] = self.any_gene(place, chance);
                }
            }
            Mutation::GeneRate => {
                for (place, gene) in genes.iter_mut().enumerate() {
                    if chance.happens(self.rate) {
                        *gene = self.any_gene(place, chance);
                    }
                }
            }
            Mutation::Symbols => {
                for _ in 0..times {
                    let (place, part) = (chance.below(genes.len()), chance.below(self.arity + 1));
                    self.redraw(&mut genes[place], place, part, chance);
                }
            }
            Mutation::SymbolRate => {
                for (place, gene) in genes.iter_mut().enumerate() {
                    for part in 0..=self.arity {
                        if chance.happens(self.rate) {
                            self.redraw(gene, place, part, chance);
                        }
                    }
                }
            }
        }
        debug_assert!(is_well_formed(self.alphabet, genes), "chromosome, invariant 1: a mutation breaks it");
    }

    /// Redraws the function of a gene (part 0) or one argument.
    fn redraw(&self, gene: &mut Gene, place: usize, part: usize, chance: &mut Chance) {
        match part.checked_sub(1) {
            None => gene.symbol = self.any_symbol(place, chance),
            Some(arg) => gene.args[arg] = chance.below(place) as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::{Op, Terminal};
    use proptest::prelude::*;

    fn alphabet() -> Alphabet {
        let mut terminals = vec![Terminal::Number];
        terminals.extend((0..4).map(Terminal::Feature));
        Alphabet { terminals, functions: Op::PAPER.to_vec() }
    }

    #[test]
    fn streams_are_fixed_and_different() {
        let words = |seed, run| {
            let mut chance = Chance::new(seed, run);
            [(); 8].map(|()| chance.below(1000))
        };
        assert_eq!(words(1, 0), words(1, 0));
        assert_ne!(words(1, 0), words(1, 1));
        assert_ne!(words(1, 0), words(2, 0));
        // The results of every seed depend on these.
        assert_eq!(words(1, 0), [549, 402, 984, 80, 211, 596, 386, 219]);
    }

    #[test]
    fn choices_are_even() {
        let mut chance = Chance::new(7, 3);
        let mut counts = [0; 5];
        (0..10_000).for_each(|_| counts[chance.below(5)] += 1);
        assert!(counts.iter().all(|count| (1_850..2_150).contains(count)), "{counts:?}");
        let yes = (0..10_000).filter(|_| chance.happens(threshold(0.9))).count();
        assert!((8_900..9_100).contains(&yes), "{yes}");
        assert!(!chance.happens(threshold(0.0)) && chance.happens(threshold(1.0)));
    }

    proptest! {
        #[test]
        fn variation_keeps_chromosomes_well_formed(
            seed in any::<u64>(),
            genes in 1..40usize,
            crossover in proptest::sample::select(vec![Crossover::OnePoint, Crossover::TwoPoint, Crossover::Uniform]),
            mutation in proptest::sample::select(
                vec![Mutation::Genes, Mutation::GeneRate, Mutation::Symbols, Mutation::SymbolRate]),
            terminal_share in proptest::option::of(0.0..1.0),
        ) {
            let alphabet = alphabet();
            let mutations = genes.min(2) as f64;
            let settings = Settings { genes, crossover, mutation, mutations, terminal_share, ..Settings::paper() };
            let variation = Variation::new(&alphabet, &settings);
            let mut chance = Chance::new(seed, 0);
            let (mut one, mut other) = (variation.any(&mut chance), variation.any(&mut chance));
            prop_assert!(is_well_formed(&alphabet, &one) && is_well_formed(&alphabet, &other));
            let before: Vec<(Gene, Gene)> = one.iter().copied().zip(other.iter().copied()).collect();
            variation.cross(&mut one, &mut other, &mut chance);
            for ((a, b), (one, other)) in before.iter().zip(one.iter().zip(&other)) {
                prop_assert!((a, b) == (one, other) || (a, b) == (other, one));
            }
            variation.mutate(&mut one, &mut chance);
            prop_assert!(is_well_formed(&alphabet, &one));
            for place in 0..genes {
                prop_assert!(alphabet.formula(&one, place).is_some());
            }
        }
    }
}
