//! Reads chromosomes in the paper's notation: `1: a1  2: a2  3: + 1, 2`.
//!
//! Each gene has its number and a colon, then a terminal, or a function and the numbers of earlier
//! genes. Commas, semicolons, line ends, quotes and brackets separate as white space does, so what
//! `trinim-evolve run` prints is read, and its JSON too.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_example_is_read() {
        let scope = Scope { features: ["a", "b", "c", "d"].map(str::to_owned).to_vec(), parameter: None };
        let text = |genes: &str, gene| parse_chromosome(&scope, genes, gene).unwrap().text(&scope);
        let listing = "1: a\n2: b\n3: + 1, 2\n4: c\n5: d\n6: * 3, 5";
        assert_eq!((text(listing, None), text(listing, Some(3))), ("((a + b) * d)".into(), "(a + b)".into()));
        let json = r#"["1: a", "2: not 1", "3: if 1, 2, 2", "4: -7", "5: - 3, 4"]"#;
        assert_eq!(text(json, None), "(if(a, (not a), (not a)) - -7)");
        assert_eq!(text("1:a 2:xor 1 1", None), "(a xor a)");
    }

    #[test]
    fn mistakes_name_their_gene() {
        let scope = Scope::heaps(2, None);
        let cases = [
            ("", 0, "the last gene is 0"),
            ("a1", 1, "found \"a1\", expected \"1:\""),
            ("1: a1 3: a2", 2, "found \"3:\", expected \"2:\""),
            ("1: a3", 1, "found \"a3\", expected a1, a2"),
            ("1: + 1, 1", 1, "+ of \"1\": expected 2 numbers, each of an earlier gene"),
            ("1: a1 2: + 1", 2, "+ of \"the end\""),
            ("1: a1 2: - 0, 1", 2, "- of \"0\""),
            ("1: a1 2: not 3: a2", 2, "not of \"the end\": expected the number of an earlier gene"),
            ("1:", 1, "found \"the end\""),
        ];
        for (text, gene, message) in cases {
            let error = parse_chromosome(&scope, text, None).unwrap_err();
            assert_eq!(error.gene, gene, "{text:?}: {error}");
            assert!(error.message.contains(message), "{text:?}: {error}");
        }
        let error = parse_chromosome(&scope, "1: a1", Some(2)).unwrap_err();
        assert_eq!(error.to_string(), "chromosome, gene 2: the last gene is 1");
        assert!(parse_chromosome(&scope, "1: a1", Some(0)).is_err());
    }
}
