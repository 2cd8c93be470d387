//! Formulas as source code.
//!
//! The exported function has the values of [`Formula::value`] in every language, so its text spells
//! out 32-bit wrap, truncating division and faults; tests compile and run it. One line computes
//! each distinct term. Where a quotient has no value Rust returns `None`, C returns `false` and
//! Python raises `ZeroDivisionError`, unless a value replaces faults. LaTeX is the formula alone,
//! for readers.

mod c;
mod latex;
mod python;
mod rust;

use crate::formula::{Formula, Term};
use crate::int::{OnFault, Op};
use crate::scope::{Scope, Terminal};
use serde::Serialize;

/// A target language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// Rust of edition 2021 or later; `isqrt` needs rustc 1.84.
    Rust,
    /// Python 3.8 or later, for `math.isqrt`.
    Python,
    /// C99 with `stdint.h`.
    C,
    /// A formula in math mode.
    Latex,
}

/// Writes the source code of a formula.
pub fn export(formula: &Formula, scope: &Scope, language: Language, on_fault: OnFault) -> String {
    match language {
        Language::Rust => Lines { formula, scope, on_fault, language }.rust(),
        Language::Python => Lines { formula, scope, on_fault, language }.python(),
        Language::C => Lines { formula, scope, on_fault, language }.c(),
        Language::Latex => latex::text(formula, scope),
    }
}

const ABOUT: [&str; 2] = [
    "0 for a position that the player to move loses (P-position), anything else for one that is won.",
    "Integers of 32 bits that wrap; division truncates, the remainder has the sign of the dividend.",
];

struct Lines<'a> {
    formula: &'a Formula,
    scope: &'a Scope,
    on_fault: OnFault,
    language: Language,
}

impl Lines<'_> {
    fn uses(&self, wanted: impl Fn(Op) -> bool) -> bool {
        self.formula.terms().iter().any(|term| matches!(term, Term::Apply(op, _) if wanted(*op)))
    }

    fn header(&self, comment: &str) -> String {
        let text = if self.formula.written_symbols() <= 60 {
            self.formula.text(self.scope)
        } else {
            format!("A formula of {} parts.", self.formula.size())
        };
        let mut lines: Vec<String> = vec![text];
        lines.extend(ABOUT.map(str::to_owned));
        if self.uses(Op::may_fault) {
            lines.push(match (self.on_fault, self.language) {
                (OnFault::Stop, Language::Rust) => "None where a division has no value.".to_owned(),
                (OnFault::Stop, Language::C) => "False, and no value, where a division has none.".to_owned(),
                (OnFault::Stop, _) => "ZeroDivisionError where a division has no value.".to_owned(),
                (OnFault::Zero, _) => "A quotient without a value is 0.".to_owned(),
                (OnFault::One, _) => "A quotient without a value is 1.".to_owned(),
                (OnFault::Numerator, _) => "A quotient without a value is its numerator.".to_owned(),
            });
        }
        if self.language == Language::Rust && self.uses(|op| matches!(op, Op::Phi | Op::Isqrt)) {
            lines.push("Edition 2021 or later; rustc 1.84 or later, for isqrt.".to_owned());
        }
        lines.iter().map(|line| format!("{comment} {line}\n")).collect()
    }

    /// Returns the replacement for a quotient without a value, if there is one.
    fn replacement(&self, numerator: &str) -> Option<String> {
        match self.on_fault {
            OnFault::Stop => None,
            OnFault::Zero => Some("0".to_owned()),
            OnFault::One => Some("1".to_owned()),
            OnFault::Numerator => Some(numerator.to_owned()),
        }
    }

    fn parameters(&self, type_before: &str, type_behind: &str) -> String {
        let each = self.scope.features.iter().map(|name| format!("{type_before}{}{type_behind}", identifier(name)));
        each.collect::<Vec<_>>().join(", ")
    }

    /// Lists all features, separated by commas.
    fn features(&self) -> String {
        self.parameters("", "")
    }

    /// Returns the name of a term that needs no line, or `t` and its number.
    fn name(&self, term: u16) -> String {
        match self.formula.terms()[usize::from(term)] {
            Term::Terminal(Terminal::Feature(_)) => identifier(&self.scope.name(self.terminal(term))),
            Term::Terminal(Terminal::Constant(i32::MIN)) if self.language == Language::C => "INT32_MIN".to_owned(),
            Term::Terminal(Terminal::Constant(i32::MIN)) if self.language == Language::Rust => "i32::MIN".to_owned(),
            Term::Terminal(Terminal::Constant(value)) if self.language == Language::Rust => format!("{value}i32"),
            Term::Terminal(Terminal::Constant(value)) => value.to_string(),
            _ => format!("t{term}"),
        }
    }

    fn terminal(&self, term: u16) -> Terminal {
        match self.formula.terms()[usize::from(term)] {
            Term::Terminal(terminal) => terminal,
            Term::Apply(..) => Terminal::Constant(0),
        }
    }

    /// Writes the lines of the body: `guard` precedes an operation, `assign` takes the name and
    /// value of each term.
    fn body(
        &self,
        terminal: impl Fn(Terminal) -> String,
        guard: impl Fn(Op, &[String]) -> String,
        apply: impl Fn(Op, &[String]) -> String,
        assign: impl Fn(&str, &str) -> String,
    ) -> String {
        let mut text = String::new();
        for (index, term) in (0u16..).zip(self.formula.terms()) {
            let value = match term {
                Term::Terminal(Terminal::Feature(_) | Terminal::Constant(_)) => continue,
                Term::Terminal(other) => terminal(*other),
                Term::Apply(op, args) => {
                    let args: Vec<String> = args[..op.arity()].iter().map(|arg| self.name(*arg)).collect();
                    text.push_str(&guard(*op, &args));
                    apply(*op, &args)
                }
            };
            text.push_str(&assign(&self.name(index), &value));
        }
        text
    }

    fn root(&self) -> String {
        self.name(self.formula.size().saturating_sub(1) as u16)
    }

    fn constant(&self, terminal: Terminal) -> String {
        self.scope.value(terminal, &[]).to_string()
    }
}

/// Makes a feature's name safe where words are reserved: no language reserves a word ending in a
/// digit.
fn identifier(name: &str) -> String {
    if name.ends_with(|c: char| c.is_ascii_digit()) { name.to_owned() } else { format!("{name}_") }
}
