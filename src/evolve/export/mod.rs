//! Formulas as Python for programs, and as LaTeX for papers.
//!
//! The text of each symbol is a line of a template: `python.txt`, `latex.txt`. `@1` to `@3` are its
//! arguments, `@0` all heaps. Below the lines are blocks of code with the symbols that need them.
//!
//! The Python function has the values of [`Formula::value`], so it spells out 32-bit wrap,
//! truncating division and faults; a test runs it. One line computes each distinct term. A quotient
//! without a value raises `ZeroDivisionError`, unless a value replaces faults.
//!
//! LaTeX is only the formula, in math mode without delimiters, fully parenthesised except for the
//! outermost pair. A formula that is too long becomes a list of definitions. The text does not say
//! that integers have 32 bits.

use crate::language::{Formula, OnFault, Op, Scope, Term, Terminal};
use serde::{Deserialize, Serialize};

/// A target language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// A function for Python 3.8 or later, for `math.isqrt`.
    Python,
    /// A formula in math mode.
    Latex,
}

/// Writes a formula in a language; LaTeX does not express faults.
pub fn export(formula: &Formula, scope: &Scope, language: Language, on_fault: OnFault) -> String {
    match language {
        Language::Python => python(formula, scope, on_fault),
        Language::Latex => latex(formula, scope),
    }
}

fn line<'a>(template: &'a str, symbol: &str) -> Option<&'a str> {
    template.lines().find_map(|line| line.strip_prefix(symbol)?.strip_prefix(' '))
}

fn filled(text: &str, args: &[String]) -> String {
    let mut parts = text.split('@');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |filled, part| {
        let (place, rest) = part.split_at(1);
        let arg = place.parse().ok().and_then(|place: usize| args.get(place));
        filled + arg.map_or("", String::as_str) + rest
    })
}

fn python(formula: &Formula, scope: &Scope, on_fault: OnFault) -> String {
    const TEMPLATE: &str = include_str!("python.txt");
    let heaps = scope.features.join(", ");
    let name = |term: u16| match formula.terms()[usize::from(term)] {
        Term::Terminal(terminal @ Terminal::Feature(_)) => scope.name(terminal),
        Term::Terminal(Terminal::Constant(value)) => value.to_string(),
        _ => format!("t{term}"),
    };
    let mut body = String::new();
    for (index, term) in (0u16..).zip(formula.terms()) {
        let mut args = vec![heaps.clone()];
        args.extend(term.args().iter().map(|arg| name(*arg)));
        let value = match term {
            Term::Terminal(Terminal::Feature(_) | Terminal::Constant(_)) => continue,
            Term::Terminal(terminal) => match line(TEMPLATE, &terminal.to_string()) {
                Some(text) => filled(text, &args),
                None => scope.value(*terminal, &[]).to_string(),
            },
            Term::Apply(op, _) => filled(line(TEMPLATE, op.name()).unwrap_or_default(), &args),
        };
        body += &format!("    {} = {value}\n", name(index));
    }
    let uses =
        |symbol: &str| formula.terms().iter().any(|term| matches!(term, Term::Apply(op, _) if op.name() == symbol));
    let written = match formula.written_symbols() {
        ..=60 => formula.text(scope),
        _ => format!("A formula of {} parts.", formula.size()),
    };
    let mut comment = format!(
        "# {written}\n# 0 for a position that the player to move loses (P-position), anything else for one that is won.\n\
         # Integers of 32 bits that wrap; division truncates, the remainder has the sign of the dividend."
    );
    let (fault, says) = match on_fault {
        OnFault::Stop => ("raise ZeroDivisionError", "ZeroDivisionError where a division has no value."),
        OnFault::Zero => ("return 0", "A quotient without a value is 0."),
        OnFault::One => ("return 1", "A quotient without a value is 1."),
        OnFault::Numerator => ("return a", "A quotient without a value is its numerator."),
    };
    if Op::ALL.iter().any(|op| op.may_fault() && uses(op.name())) {
        comment += &format!("\n# {says}");
    }
    let root = name(formula.size().saturating_sub(1) as u16);
    let args = [heaps, fault.to_owned(), comment, body, root];
    let blocks = TEMPLATE.trim_end().split("\n[").skip(1).filter_map(|block| block.split_once("]\n"));
    let used = blocks.filter(|(symbols, _)| symbols.is_empty() || symbols.split(' ').any(uses));
    used.map(|(_, code)| filled(code, &args) + "\n").collect()
}

fn latex(formula: &Formula, scope: &Scope) -> String {
    const TEMPLATE: &str = include_str!("latex.txt");
    let shared = !formula.is_written_out();
    let mut definitions = String::new();
    let mut texts: Vec<String> = Vec::new();
    for (index, term) in formula.terms().iter().enumerate() {
        let text = match term {
            Term::Terminal(Terminal::Constant(value @ ..0)) => format!("({value})"),
            Term::Terminal(terminal) => latex_name(&scope.name(*terminal)),
            Term::Apply(op, args) => {
                let mut args = args.map(|arg| texts.get(usize::from(arg)).cloned().unwrap_or_default()).to_vec();
                args.insert(0, String::new());
                filled(line(TEMPLATE, op.name()).unwrap_or_default(), &args)
            }
        };
        if shared {
            definitions += &format!("t_{{{index}}} = {text} \\\\\n");
        }
        texts.push(if shared { format!("t_{{{index}}}") } else { text });
    }
    let root = texts.pop().unwrap_or_default();
    // Drop the outermost parentheses, if they are a pair.
    let mut open = 0i64;
    let mut is_balanced = |c: char| {
        open += i64::from(c == '(') - i64::from(c == ')');
        open >= 0
    };
    let bare = root.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let bare = bare.filter(|rest| rest.chars().all(&mut is_balanced));
    format!("{definitions}{}\n", bare.unwrap_or(&root))
}

/// Sets the digits of a name as an index, `a_{1}`, and a name of several letters in italics.
fn latex_name(text: &str) -> String {
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let letters = &text[..text.len() - digits.len()];
    match letters {
        "" => text.to_owned(),
        _ if letters.len() == 1 && digits.parse::<u32>().is_ok() => format!("{letters}_{{{digits}}}"),
        _ if text.len() > 1 => format!("\\mathit{{{}}}", text.replace('_', "\\_")),
        _ => text.to_owned(),
    }
}
