//! The symbols of genes: terminals and functions, numbered with the terminals first.
//!
//! The paper's set is `n, a1..an` and nine functions. The meaning of `n` is one of its open points:
//! the number of heaps, or of nonempty heaps. Games that need more can add terminals and functions.

use crate::language::{ARITY_MAX, Builder, Formula, Op, Scope, Term, Terminal, first};
use serde::{Deserialize, Serialize};

/// Limit on the number of terminals, and on that of functions.
pub const SYMBOLS_MAX: usize = 256;

/// Limit on the genes of a chromosome.
pub const GENES_MAX: usize = 1_000;

/// The symbols available to genes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alphabet {
    /// Terminals, at least one and none twice.
    pub terminals: Vec<Terminal>,
    /// Functions, none twice.
    pub functions: Vec<Op>,
}

/// A gene: a symbol with the places of its arguments, including those that it does not need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gene {
    /// Number of the symbol in the [`Alphabet`], terminals first.
    pub symbol: u16,
    /// Places of the arguments.
    pub args: [u16; ARITY_MAX],
}

/// Meaning of the paper's terminal `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Number {
    /// The number of heaps, the same at every position.
    Heaps,
    /// The number of nonempty heaps.
    Nonempty,
    /// The alphabet has no `n`.
    None,
}

/// The reason why an alphabet cannot be built: an unknown name, or more than [`SYMBOLS_MAX`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AlphabetError(String);

impl Alphabet {
    /// Collects the paper's terminals for a game, the `extra` ones, and the named functions.
    ///
    /// # Errors
    /// [`AlphabetError`] if a name is unknown or there are too many.
    pub fn choose(
        scope: &Scope,
        number: Number,
        extra: &[&str],
        functions: &[&str],
    ) -> Result<Alphabet, AlphabetError> {
        let mut terminals = match number {
            Number::Heaps => vec![Terminal::Number],
            Number::Nonempty => vec![Terminal::Nonempty],
            Number::None => Vec::new(),
        };
        terminals.extend((0..scope.features.len() as u16).map(Terminal::Feature));
        for name in extra {
            let expected = || format!("expected {} or a 32-bit integer", scope.names());
            let unknown = || AlphabetError(format!("terminal {name:?}: {}", expected()));
            let terminal = scope.find(name).ok_or_else(unknown)?;
            if !terminals.contains(&terminal) {
                terminals.push(terminal);
            }
        }
        let mut chosen: Vec<Op> = Vec::new();
        for name in functions {
            let found: Vec<Op> = match *name {
                "paper" => Op::PAPER.to_vec(),
                name => Op::ALL.into_iter().filter(|op| op.name() == name).collect(),
            };
            if found.is_empty() {
                let all = Op::ALL.map(Op::name).join(", ");
                return Err(AlphabetError(format!("function {name:?}: expected paper, {all}")));
            }
            chosen.extend(found);
        }
        // A function named twice counts once.
        let functions: Vec<Op> = Op::ALL.into_iter().filter(|op| chosen.contains(op)).collect();
        if terminals.len() > SYMBOLS_MAX || functions.len() > SYMBOLS_MAX {
            return Err(AlphabetError(format!("more than {SYMBOLS_MAX} terminals or functions")));
        }
        Ok(Alphabet { terminals, functions })
    }

    /// Returns the function of a gene; `None` for a terminal, whose symbol is its index.
    pub fn function(&self, gene: &Gene) -> Option<Op> {
        usize::from(gene.symbol).checked_sub(self.terminals.len()).map(|function| self.functions[function])
    }

    /// Returns the places of the arguments that a gene needs.
    pub fn args<'a>(&self, gene: &'a Gene) -> &'a [u16] {
        &gene.args[..self.function(gene).map_or(0, Op::arity)]
    }

    /// Returns the largest arity among the functions.
    pub fn arity_max(&self) -> usize {
        self.functions.iter().map(|op| op.arity()).max().unwrap_or(0)
    }

    /// Returns the formula of the gene at `place`, or `None` if it has too many terms.
    pub fn formula(&self, genes: &[Gene], place: usize) -> Option<Formula> {
        let mut builder = Builder::default();
        let mut indices: Vec<u16> = Vec::with_capacity(place + 1);
        for gene in &genes[..=place] {
            indices.push(builder.term(match self.function(gene) {
                None => Term::Terminal(self.terminals[usize::from(gene.symbol)]),
                Some(op) => Term::Apply(op, first(op.arity(), |index| indices[usize::from(gene.args[index])])),
            })?);
        }
        Some(builder.finish(indices[place]))
    }

    /// Writes the genes as the paper does, `3: + 1, 2`, counted from 1.
    pub fn text(&self, genes: &[Gene], name: impl Fn(Terminal) -> String) -> Vec<String> {
        let gene = |(place, gene): (usize, &Gene)| match self.function(gene) {
            None => format!("{place}: {}", name(self.terminals[usize::from(gene.symbol)])),
            Some(op) => {
                let args: Vec<String> = self.args(gene).iter().map(|arg| (arg + 1).to_string()).collect();
                format!("{place}: {op} {}", args.join(", "))
            }
        };
        (1..).zip(genes).map(gene).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_chosen_by_name() {
        let scope = Scope::heaps(2, Some(3));
        let choose = |number, extra: &[&str], functions: &[&str]| Alphabet::choose(&scope, number, extra, functions);
        let paper = choose(Number::Heaps, &[], &["paper"]).unwrap();
        assert_eq!(paper.terminals, [Terminal::Number, Terminal::Feature(0), Terminal::Feature(1)]);
        assert_eq!(paper.functions, Op::PAPER);
        let more = choose(Number::None, &["1", "m", "sum", "1", "a1"], &["xor", "if", "xor"]).unwrap();
        let extra = [Terminal::Constant(1), Terminal::Parameter, Terminal::Sum];
        assert_eq!(more.terminals[2..], extra);
        assert_eq!(more.functions, [Op::Xor, Op::If]);
        assert_eq!(more.arity_max(), 3);
        let error = choose(Number::None, &["a3"], &[]).unwrap_err();
        assert!(error.to_string().contains("expected a1, a2, n"), "{error}");
        let error = choose(Number::None, &[], &["nand"]).unwrap_err();
        assert!(error.to_string().contains("expected paper, +, -"), "{error}");
    }
}
