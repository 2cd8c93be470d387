//! Chromosomes: lists of genes, drawn, crossed and mutated.
//!
//! The arguments of a gene come from lower places, so a chromosome holds one formula for every
//! gene. A mutation of a symbol alone may use arguments again that the symbol before it did not
//! need.
//!
//! # Invariants
//! 1. Gene 0 is a terminal; the arguments of gene `i` are below `i`. Drawing, crossover and
//!    mutation preserve both.

use crate::language::{ARITY_MAX, Alphabet, Gene};
use crate::search::{Chance, Crossover, Mutation, Probability, Settings};

/// Draws a random terminal.
pub(super) fn any_terminal(alphabet: &Alphabet, chance: &mut Chance) -> u16 {
    chance.below(alphabet.terminals.len()) as u16
}

/// Draws, crosses and mutates chromosomes.
pub(super) struct Variation<'a> {
    alphabet: &'a Alphabet,
    settings: &'a Settings,
    arity: usize,
    rate: Probability,
    crossing: Probability,
    half: Probability,
    terminal_share: Option<Probability>,
}

impl<'a> Variation<'a> {
    /// Prepares for this alphabet and these settings.
    pub(super) fn new(alphabet: &'a Alphabet, settings: &'a Settings) -> Variation<'a> {
        Variation {
            alphabet,
            settings,
            arity: alphabet.arity_max(),
            rate: Probability::new(settings.mutations / settings.genes as f64),
            crossing: Probability::new(settings.crossover_probability),
            half: Probability::new(0.5),
            terminal_share: settings.terminal_share.map(Probability::new),
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

    /// Draws a random chromosome.
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

    /// Mutates a chromosome.
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

    fn is_well_formed(alphabet: &Alphabet, genes: &[Gene]) -> bool {
        let known = |gene: &Gene| usize::from(gene.symbol) < alphabet.terminals.len() + alphabet.functions.len();
        let below = |(place, gene): (usize, &Gene)| gene.args.iter().all(|arg| usize::from(*arg) < place.max(1));
        alphabet.function(&genes[0]).is_none() && genes.iter().all(known) && genes.iter().enumerate().all(below)
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
