//! LaTeX for papers: math mode without delimiters, fully parenthesised except for the outermost
//! pair.
//!
//! Xor is a circled plus, a complement an overline. A formula too long to be written out becomes a
//! list of definitions. The text does not say that integers have 32 bits.

use crate::formula::{Formula, Term};
use crate::int::Op;
use crate::scope::{Scope, Terminal};
use std::fmt::Write;

/// Writes the formula in math mode.
pub(super) fn text(formula: &Formula, scope: &Scope) -> String {
    let mut texts: Vec<String> = Vec::new();
    let shared = !formula.is_written_out();
    let mut definitions = String::new();
    for (index, term) in formula.terms().iter().enumerate() {
        let text = match term {
            Term::Terminal(Terminal::Constant(value @ ..0)) => format!("({value})"),
            Term::Terminal(terminal) => name(&scope.name(*terminal)),
            Term::Apply(op, args) => {
                let [a, b, c] = args.map(|arg| texts.get(usize::from(arg)).cloned().unwrap_or_default());
                match op {
                    Op::Add => format!("({a} + {b})"),
                    Op::Sub => format!("({a} - {b})"),
                    Op::Mul => format!("({a} \\cdot {b})"),
                    Op::Div => format!("({a} \\mathbin{{\\mathrm{{div}}}} {b})"),
                    Op::Mod => format!("({a} \\bmod {b})"),
                    Op::And => format!("({a} \\mathbin{{\\mathrm{{and}}}} {b})"),
                    Op::Or => format!("({a} \\mathbin{{\\mathrm{{or}}}} {b})"),
                    Op::Xor => format!("({a} \\oplus {b})"),
                    Op::Not => format!("\\overline{{{a}}}"),
                    Op::Min => format!("\\min({a}, {b})"),
                    Op::Max => format!("\\max({a}, {b})"),
                    Op::Eq => format!("[{a} = {b}]"),
                    Op::Lt => format!("[{a} < {b}]"),
                    Op::If => {
                        format!("\\begin{{cases}} {b} & {a} \\ne 0 \\\\ {c} & \\text{{otherwise}} \\end{{cases}}")
                    }
                    Op::Phi => format!("\\lfloor \\varphi \\cdot {a} \\rfloor"),
                    Op::Isqrt => format!("\\lfloor \\sqrt{{{a}}} \\rfloor"),
                }
            }
        };
        if shared {
            let _ = writeln!(definitions, "t_{{{index}}} = {text} \\\\");
            texts.push(format!("t_{{{index}}}"));
        } else {
            texts.push(text);
        }
    }
    let root = texts.pop().unwrap_or_default();
    // Drop the outermost parentheses.
    let bare = root.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).filter(|rest| is_balanced(rest));
    format!("{definitions}{}\n", bare.unwrap_or(&root))
}

/// Returns whether no parenthesis closes before it opens.
fn is_balanced(text: &str) -> bool {
    let mut open = 0i64;
    text.chars().all(|c| {
        open += i64::from(c == '(') - i64::from(c == ')');
        open >= 0
    })
}

/// Sets the digits of a name as an index: `a_{1}`.
fn name(text: &str) -> String {
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let letters = &text[..text.len() - digits.len()];
    match (letters, digits) {
        (letters, digits) if letters.len() == 1 && letters != "-" && digits.parse::<u32>().is_ok() => {
            format!("{letters}_{{{digits}}}")
        }
        _ if text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.len() > 1 => {
            format!("\\mathit{{{}}}", text.replace('_', "\\_"))
        }
        _ => text.to_owned(),
    }
}
