//! Reads formulas, by precedence climbing.
//!
//! Operators bind as in C, unlike in the paper's printed example: unary `not -`, then `* div mod`,
//! `+ -`, `and`, `xor`, `or`, each to the left. The C spellings `~ / % & ^ |` mean the same.
//! Functions are called like `min(a1, a2)`. A formula can begin with definitions:
//! `t0 = a1 xor a2; t0 - a3`.
//!
//! # Invariants
//! 1. No text causes a panic or a recursion deeper than [`DEPTH_MAX`] levels.
//! 2. Parsing what [`Formula::text`] writes gives the same formula.

use crate::language::{Builder, DEPTH_MAX, Formula, Op, Scope, Term, Terminal};
use std::collections::HashMap;
use trinim_game::text::is_blank;

/// Limit on the length of a formula, in characters.
pub const LENGTH_MAX: usize = 100_000;
/// Limit on the distinct terms of a formula. That many definitions fit into [`LENGTH_MAX`].
pub const PARTS_MAX: usize = 2_000;
const WINDOW: usize = 60;

/// A text that is not a formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("formula, column {column}: {message}")]
pub struct ParseError {
    /// Column of the error, in characters from 1.
    pub column: usize,
    /// What was found and what was expected, and below it the text around with a caret.
    pub message: String,
}

/// Reads a formula over the terminals of `scope`.
///
/// # Errors
/// [`ParseError`] with the column and the expected token.
pub fn parse(scope: &Scope, text: &str) -> Result<Formula, ParseError> {
    if text.chars().count() > LENGTH_MAX {
        return Err(error(text, LENGTH_MAX, format!("the formula has more than {LENGTH_MAX} characters")));
    }
    let (tokens, defined) = (tokens(text), HashMap::new());
    let mut parser = Parser { scope, text, tokens, next: 0, builder: Builder::default(), defined };
    while let [(_, name), (_, "="), ..] = parser.tokens[parser.next..]
        && name.strip_prefix('t').is_some_and(|rest| rest.parse::<u32>().is_ok())
    {
        parser.next += 2;
        let value = parser.binary(0, 0)?;
        parser.expect(";")?;
        parser.defined.insert(name, value);
    }
    let root = parser.binary(0, 0)?;
    if parser.token().is_empty() {
        Ok(parser.builder.finish(root))
    } else {
        Err(parser.expected("an operator or the end"))
    }
}

fn error(text: &str, at: usize, mut message: String) -> ParseError {
    let begin = at.saturating_sub(WINDOW);
    let around = text.chars().skip(begin).take(at + WINDOW - begin).map(|c| if c.is_control() { ' ' } else { c });
    let around: String = around.collect();
    if !around.trim().is_empty() {
        message += &format!("\n  {around}\n  {}^", " ".repeat(at - begin));
    }
    ParseError { column: at + 1, message }
}

/// Splits a text into words and symbols, each with its place in characters; an empty one marks the
/// end.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let (mut tokens, mut at, mut rest) = (Vec::new(), 0, text);
    loop {
        let token = rest.trim_start_matches(is_blank);
        at += rest[..rest.len() - token.len()].chars().count();
        let word = token.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(token.len());
        let symbol = token.chars().next().map_or(0, char::len_utf8);
        let (token, after) = token.split_at(if word > 0 { word } else { symbol });
        tokens.push((at, token));
        if token.is_empty() {
            return tokens;
        }
        (at, rest) = (at + token.chars().count(), after);
    }
}

struct Parser<'a> {
    scope: &'a Scope,
    text: &'a str,
    tokens: Vec<(usize, &'a str)>,
    next: usize,
    builder: Builder,
    defined: HashMap<&'a str, u16>,
}

/// Binary operators by precedence, weakest first, with their spellings.
const BINARY: [(&str, Op, u8); 13] = [
    ("or", Op::Or, 1),
    ("|", Op::Or, 1),
    ("xor", Op::Xor, 2),
    ("^", Op::Xor, 2),
    ("and", Op::And, 3),
    ("&", Op::And, 3),
    ("+", Op::Add, 4),
    ("-", Op::Sub, 4),
    ("*", Op::Mul, 5),
    ("div", Op::Div, 5),
    ("/", Op::Div, 5),
    ("mod", Op::Mod, 5),
    ("%", Op::Mod, 5),
];

impl<'a> Parser<'a> {
    fn token(&self) -> &'a str {
        self.tokens[self.next].1
    }

    fn expected(&self, what: &str) -> ParseError {
        let found = if self.token().is_empty() { "the end".to_owned() } else { format!("{:?}", self.token()) };
        error(self.text, self.tokens[self.next].0, format!("found {found}, expected {what}"))
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let is_here = self.token() == symbol;
        self.next += usize::from(is_here);
        is_here
    }

    fn expect(&mut self, symbol: &str) -> Result<(), ParseError> {
        if self.eat(symbol) { Ok(()) } else { Err(self.expected(&format!("an operator or '{symbol}'"))) }
    }

    fn add(&mut self, at: usize, term: Term) -> Result<u16, ParseError> {
        let place = self.builder.term(term).filter(|place| usize::from(*place) < PARTS_MAX);
        place.ok_or_else(|| error(self.text, at, format!("more than {PARTS_MAX} different parts")))
    }

    fn binary(&mut self, weakest: u8, depth: usize) -> Result<u16, ParseError> {
        let mut left = self.unary(depth)?;
        loop {
            let (at, token) = self.tokens[self.next];
            let operator = BINARY.iter().find(|(name, _, strength)| *name == token && *strength > weakest);
            let Some((_, op, strength)) = operator else { return Ok(left) };
            self.next += 1;
            let right = self.binary(*strength, depth)?;
            left = self.add(at, Term::Apply(*op, [left, right, 0]))?;
        }
    }

    fn unary(&mut self, depth: usize) -> Result<u16, ParseError> {
        // A list rather than recursion: there can be as many signs as characters.
        let mut signs: Vec<(usize, Op)> = Vec::new();
        loop {
            let (at, token) = self.tokens[self.next];
            signs.push(match token {
                "not" | "~" => (at, Op::Not),
                "-" => (at, Op::Sub),
                _ => break,
            });
            self.next += 1;
        }
        let mut value = self.operand(depth, &mut signs)?;
        for (at, op) in signs.into_iter().rev() {
            let args = match op {
                Op::Not => [value, 0, 0],
                _ => [self.add(at, Term::Terminal(Terminal::Constant(0)))?, value, 0],
            };
            value = self.add(at, Term::Apply(op, args))?;
        }
        Ok(value)
    }

    /// Reads the operand after the signs; a minus directly before a number belongs to it.
    fn operand(&mut self, depth: usize, signs: &mut Vec<(usize, Op)>) -> Result<u16, ParseError> {
        let (at, token) = self.tokens[self.next];
        if depth > DEPTH_MAX {
            return Err(error(self.text, at, format!("nested more than {DEPTH_MAX} levels deep")));
        }
        if token.is_empty() {
            return Err(self.expected("a number, a name, ( or not"));
        }
        if self.eat("(") {
            let inside = self.binary(0, depth + 1)?;
            return self.expect(")").map(|()| inside);
        }
        let functions = [Op::Min, Op::Max, Op::Eq, Op::Lt, Op::If, Op::Phi, Op::Isqrt];
        if let Some(op) = functions.into_iter().find(|op| op.name() == token) {
            return self.call(op, depth);
        }
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            self.next += 1;
            let sign = signs.pop_if(|(_, op)| *op == Op::Sub);
            let (at, digits) = sign.map_or((at, token.to_owned()), |(at, _)| (at, format!("-{token}")));
            let value =
                digits.parse().map_err(|_| error(self.text, at, format!("{digits:?} is not a 32-bit integer")))?;
            return self.add(at, Term::Terminal(Terminal::Constant(value)));
        }
        if let Some(known) = self.defined.get(token) {
            self.next += 1;
            return Ok(*known);
        }
        let names = || format!("a number, {}, ( or not", self.scope.names());
        let terminal = self.scope.find(token).ok_or_else(|| self.expected(&names()))?;
        self.next += 1;
        self.add(at, Term::Terminal(terminal))
    }

    fn call(&mut self, op: Op, depth: usize) -> Result<u16, ParseError> {
        let at = self.tokens[self.next].0;
        self.next += 1;
        if !self.eat("(") {
            return Err(self.expected(&format!("( after {op}")));
        }
        let mut args = [0; 3];
        for (index, arg) in args.iter_mut().enumerate().take(op.arity()) {
            if index > 0 && !self.eat(",") {
                return Err(self.expected(&format!(", : {op} takes {}", op.arity())));
            }
            *arg = self.binary(0, depth + 1)?;
        }
        self.expect(")")?;
        self.add(at, Term::Apply(op, args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::OnFault;
    use proptest::prelude::*;

    fn scope() -> Scope {
        Scope::heaps(4, None)
    }

    #[test]
    fn depth_and_length_are_bounded() {
        for (open, close) in [("(", ")"), ("isqrt(", ")"), ("- not (", ")")] {
            let deep = |levels| open.repeat(levels) + "a1" + &close.repeat(levels);
            assert!(parse(&scope(), &deep(DEPTH_MAX)).is_ok());
            assert!(parse(&scope(), &deep(DEPTH_MAX + 1)).unwrap_err().message.contains("levels"));
            assert!(parse(&scope(), &deep(20_000)).is_err());
        }
        assert!(parse(&scope(), &"a1+".repeat(LENGTH_MAX)).unwrap_err().message.contains("characters"));
        assert!(parse(&scope(), &("a1+".repeat(PARTS_MAX - 1) + "a1")).is_ok());
        for begin in ["a1+", "~"] {
            let error = parse(&scope(), &(begin.repeat(PARTS_MAX) + "a1")).unwrap_err();
            assert!(error.message.contains("more than 2000 different parts"), "{error}");
        }
    }

    /// Signs and operators nest without parentheses, but not in the written form. Found by fuzzing.
    #[test]
    fn a_formula_too_deep_to_write_out_is_read_back_from_its_definitions() {
        let scope = Scope { features: vec!["x".repeat(32), "y".repeat(32)], parameter: None };
        let long = format!("if({0}, {1}, {0} - ", scope.features[0], scope.features[1]);
        for (begin, times) in [("~", 101), ("~", PARTS_MAX - 1), ("- ", 300), ("~-", 300), ("n + ", 201), (&long, 200)]
        {
            let text = begin.repeat(times) + "n" + &")".repeat(if begin == long { times } else { 0 });
            let formula = parse(&scope, &text).unwrap();
            assert!(parse(&scope, &formula.text(&scope)) == Ok(formula), "{times} times {begin}");
        }
    }

    #[test]
    fn a_formula_too_long_to_write_out_is_read_back_from_its_definitions() {
        let doubled: String = (1..40).map(|index| format!("t{index} = t{} + t{};", index - 1, index - 1)).collect();
        let formula = parse(&scope(), &format!("t0 = a1; {doubled} t39")).unwrap();
        assert_eq!(formula.size(), 40);
        let shown = formula.text(&scope());
        assert!(shown.len() < 2_000, "{shown}");
        assert_eq!(parse(&scope(), &shown).unwrap(), formula);
        assert_eq!(formula.value(&scope(), &[1, 0, 0, 0], OnFault::Stop), Ok(0));
    }

    /// Texts of the language's own words, mixed with a few others.
    fn soup() -> impl Strategy<Value = String> {
        let words =
            "a1 a2 a4 n sum 7 - + * div mod and or xor ^ not ~ ( ) min if , phi t1 = ; 99999999999 é a99 lt( ) (";
        let words: Vec<&str> = words.split(' ').chain([" ", "\u{0}"]).collect();
        proptest::collection::vec(proptest::sample::select(words), 0..40).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn no_text_panics(text in prop_oneof![soup(), ".{0,80}", "[a-z0-9 ()+*-]{0,80}"]) {
            match parse(&scope(), &text) {
                Ok(formula) => {
                    let written = formula.text(&scope());
                    prop_assert_eq!(parse(&scope(), &written), Ok(formula));
                }
                Err(error) => prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 1),
            }
        }
    }
}
