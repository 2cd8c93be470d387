//! Reads chromosomes in the paper's notation: `1: a1  2: a2  3: + 1, 2`.
//!
//! Each gene has its number and a colon, then a terminal, or a function and the numbers of earlier
//! genes. Commas, semicolons, line ends, quotes and brackets separate as white space does, so the
//! output of `trinim-evolve run` can be read, including its JSON.

use crate::language::{Builder, Formula, GENES_MAX, LENGTH_MAX, Op, Scope, Term, first};

/// A text that is not a chromosome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("chromosome, gene {gene}: {message}")]
pub struct ListingError {
    /// The number of the gene, from 1.
    pub gene: usize,
    /// What was found and what was expected.
    pub message: String,
}

/// Reads a chromosome over the terminals of `scope`, and returns the formula of the gene with this
/// number, from 1; without a number that of the last.
///
/// # Errors
/// [`ListingError`] with the first wrong gene.
pub fn parse_chromosome(scope: &Scope, text: &str, gene: Option<usize>) -> Result<Formula, ListingError> {
    let wrong = |gene: usize, message: String| ListingError { gene, message };
    if text.len() > LENGTH_MAX {
        return Err(wrong(1, format!("the chromosome has more than {LENGTH_MAX} characters")));
    }
    // A colon ends the number of a gene, with or without white space after it.
    let text = text.replace(':', ": ");
    let mut words =
        text.split(|c: char| c.is_whitespace() || ",;\"[]".contains(c)).filter(|word| !word.is_empty()).peekable();
    let mut builder = Builder::default();
    let mut genes: Vec<u16> = Vec::new();
    while let Some(word) = words.next() {
        let number = genes.len() + 1;
        if word != format!("{number}:") {
            return Err(wrong(number, format!("found {word:?}, expected \"{number}:\"")));
        }
        if number > GENES_MAX {
            return Err(wrong(number, format!("expected at most {GENES_MAX} genes")));
        }
        let symbol = words.next().unwrap_or("the end");
        let term = match Op::ALL.into_iter().find(|op| op.name() == symbol) {
            Some(op) => {
                let mut args = Vec::new();
                while args.len() < op.arity() {
                    let word = words.next_if(|word| !word.ends_with(':')).unwrap_or("the end");
                    let earlier = word.parse().ok().and_then(|arg: usize| genes.get(arg.checked_sub(1)?).copied());
                    args.push(earlier.ok_or_else(|| {
                        let expected = format!("expected {} of an earlier gene", plural(op.arity()));
                        wrong(number, format!("{op} of {word:?}: {expected}"))
                    })?);
                }
                Term::Apply(op, first(op.arity(), |index| args[index]))
            }
            None => Term::Terminal(scope.find(symbol).ok_or_else(|| {
                wrong(number, format!("found {symbol:?}, expected {}, an integer or a function", scope.names()))
            })?),
        };
        genes.push(builder.term(term).ok_or_else(|| wrong(number, "too many genes".to_owned()))?);
    }
    let wanted = gene.unwrap_or(genes.len());
    let root = wanted.checked_sub(1).and_then(|place| genes.get(place)).copied();
    let root = root.ok_or_else(|| wrong(wanted, format!("the last gene is {}", genes.len())))?;
    Ok(builder.finish(root))
}

fn plural(arity: usize) -> String {
    if arity == 1 { "the number".to_owned() } else { format!("{arity} numbers, each") }
}
