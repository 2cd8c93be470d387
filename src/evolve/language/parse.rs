//! Reads formulas, by precedence climbing.
//!
//! Operators bind as in C, which is not how the paper prints its example: unary `not -`, then `*
//! div mod`, `+ -`, `and`, `xor`, `or`, each to the left. The C spellings `~ / % & ^ |` mean the
//! same. Functions are called like `min(a1, a2)`. A formula may begin with definitions: `t0 = a1
//! xor a2; t0 - a3`.
//!
//! # Invariants
//! 1. No text causes a panic or a recursion deeper than [`DEPTH_MAX`] levels.
//! 2. Parsing what [`Formula::text`] writes gives the same formula.

use crate::language::{Builder, DEPTH_MAX, Formula, Op, Scope, Term, Terminal, first};
use std::collections::HashMap;

/// Limit on the length of a formula, in characters.
pub const LENGTH_MAX: usize = 100_000;
/// Limit on the distinct terms of a formula. That many definitions fit into [`LENGTH_MAX`].
pub const PARTS_MAX: usize = 2_000;
/// Characters shown on each side of an error.
const WINDOW: usize = 60;

/// A text that is not a formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("formula, column {column}: {message}{}", self.picture())]
pub struct ParseError {
    /// Column of the error, in characters from 1.
    pub column: usize,
    /// What was found and what was expected.
    pub message: String,
    /// The text, or the part around the error.
    pub excerpt: String,
    /// Characters of the excerpt before the error.
    pub caret: usize,
}

impl ParseError {
    /// Returns the excerpt on a line of its own with a caret below, unless it is blank.
    fn picture(&self) -> String {
        let ParseError { excerpt, caret, .. } = self;
        if excerpt.trim().is_empty() { String::new() } else { format!("\n  {excerpt}\n  {}^", " ".repeat(*caret)) }
    }
}

/// Reads a formula over the terminals of `scope`.
///
/// # Errors
/// [`ParseError`] with the column and the expected token.
pub fn parse(scope: &Scope, text: &str) -> Result<Formula, ParseError> {
    let chars: Vec<char> = text.chars().collect();
    let mut parser = Parser { scope, chars: &chars, at: 0, builder: Builder::default(), defined: HashMap::new() };
    if chars.len() > LENGTH_MAX {
        return Err(parser.error(LENGTH_MAX, format!("the formula has more than {LENGTH_MAX} characters")));
    }
    while let Some(name) = parser.definition() {
        let value = parser.binary(0, 0)?;
        parser.expect(';')?;
        parser.defined.insert(name, value);
    }
    let root = parser.binary(0, 0)?;
    parser.space();
    if parser.at < chars.len() {
        let rest = parser.found();
        return Err(parser.error(parser.at, format!("found {rest}, expected an operator or the end")));
    }
    Ok(parser.builder.finish(root))
}

struct Parser<'a> {
    scope: &'a Scope,
    chars: &'a [char],
    at: usize,
    builder: Builder,
    defined: HashMap<String, u16>,
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

impl Parser<'_> {
    fn error(&self, at: usize, message: impl Into<String>) -> ParseError {
        let begin = at.saturating_sub(WINDOW);
        let end = (at + WINDOW).min(self.chars.len());
        let excerpt = self.chars[begin..end.max(begin)].iter().map(|c| if c.is_control() { ' ' } else { *c });
        ParseError { column: at + 1, message: message.into(), excerpt: excerpt.collect(), caret: at - begin }
    }

    fn space(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    /// Returns the word or symbol here and its end.
    fn token(&self) -> (String, usize) {
        let rest = &self.chars[self.at..];
        let word = rest.iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
        let length = if word > 0 { word } else { rest.len().min(1) };
        (rest[..length].iter().collect(), self.at + length)
    }

    fn found(&self) -> String {
        match self.token().0 {
            token if token.is_empty() => "the end".to_owned(),
            token => format!("{token:?}"),
        }
    }

    /// Skips `symbol` if it comes next, and returns whether it did.
    fn eat(&mut self, symbol: char) -> bool {
        self.space();
        let here = self.chars.get(self.at) == Some(&symbol);
        self.at += usize::from(here);
        here
    }

    fn expect(&mut self, symbol: char) -> Result<(), ParseError> {
        if self.eat(symbol) {
            return Ok(());
        }
        let found = self.found();
        Err(self.error(self.at, format!("found {found}, expected an operator or {symbol:?}")))
    }

    /// Skips `name =` if a definition comes next, and returns the name.
    fn definition(&mut self) -> Option<String> {
        let begin = self.at;
        self.space();
        let (name, end) = self.token();
        if name.strip_prefix('t').is_some_and(|rest| rest.parse::<u32>().is_ok()) {
            self.at = end;
            if self.eat('=') {
                return Some(name);
            }
        }
        self.at = begin;
        None
    }

    fn add(&mut self, at: usize, term: Term) -> Result<u16, ParseError> {
        let place = self.builder.term(term).filter(|place| usize::from(*place) < PARTS_MAX);
        place.ok_or_else(|| self.error(at, format!("more than {PARTS_MAX} different parts")))
    }

    fn binary(&mut self, weakest: u8, depth: usize) -> Result<u16, ParseError> {
        let mut left = self.unary(depth)?;
        loop {
            self.space();
            let (token, end) = self.token();
            let Some((_, op, strength)) = BINARY.iter().find(|(name, ..)| *name == token) else { return Ok(left) };
            if *strength <= weakest {
                return Ok(left);
            }
            let at = self.at;
            self.at = end;
            let right = self.binary(*strength, depth)?;
            left = self.add(at, Term::Apply(*op, [left, right, 0]))?;
        }
    }

    fn unary(&mut self, depth: usize) -> Result<u16, ParseError> {
        // A list rather than recursion: there may be as many signs as characters.
        let mut signs: Vec<(usize, Op)> = Vec::new();
        let mut value = loop {
            self.space();
            let at = self.at;
            let (token, end) = self.token();
            match token.as_str() {
                "not" | "~" => signs.push((at, Op::Not)),
                "-" => signs.push((at, Op::Sub)),
                _ => break self.operand(depth, &mut signs)?,
            }
            self.at = end;
        };
        for (at, op) in signs.into_iter().rev() {
            value = match op {
                Op::Not => self.add(at, Term::Apply(op, [value, 0, 0]))?,
                _ => {
                    let zero = self.add(at, Term::Terminal(Terminal::Constant(0)))?;
                    self.add(at, Term::Apply(op, [zero, value, 0]))?
                }
            };
        }
        Ok(value)
    }

    /// Reads the operand after the signs; a minus directly before a number belongs to it.
    fn operand(&mut self, depth: usize, signs: &mut Vec<(usize, Op)>) -> Result<u16, ParseError> {
        let at = self.at;
        if depth > DEPTH_MAX {
            return Err(self.error(at, format!("nested more than {DEPTH_MAX} levels deep")));
        }
        let (token, end) = self.token();
        match token.as_str() {
            "" => Err(self.error(at, "found the end, expected a number, a name, ( or not")),
            "(" => {
                self.at = end;
                let inside = self.binary(0, depth + 1)?;
                self.expect(')')?;
                Ok(inside)
            }
            digits if digits.starts_with(|c: char| c.is_ascii_digit()) => {
                self.at = end;
                match signs.pop_if(|(_, op)| *op == Op::Sub) {
                    Some((at, _)) => self.number(at, &format!("-{digits}")),
                    None => self.number(at, digits),
                }
            }
            word => self.word(at, word, end, depth),
        }
    }

    fn number(&mut self, at: usize, digits: &str) -> Result<u16, ParseError> {
        match digits.parse() {
            Ok(value) => self.add(at, Term::Terminal(Terminal::Constant(value))),
            Err(_) => Err(self.error(at, format!("{digits:?} is not a 32-bit integer"))),
        }
    }

    fn word(&mut self, at: usize, word: &str, end: usize, depth: usize) -> Result<u16, ParseError> {
        let functions = [Op::Min, Op::Max, Op::Eq, Op::Lt, Op::If, Op::Phi, Op::Isqrt];
        if let Some(op) = functions.into_iter().find(|op| op.name() == word) {
            self.at = end;
            if !self.eat('(') {
                return Err(self.error(self.at, format!("found {}, expected ( after {word}", self.found())));
            }
            let mut args = [0; 3];
            for (index, arg) in args.iter_mut().enumerate().take(op.arity()) {
                if index > 0 && !self.eat(',') {
                    let found = self.found();
                    return Err(self.error(self.at, format!("found {found}, expected , : {word} takes {}", op.arity())));
                }
                *arg = self.binary(0, depth + 1)?;
            }
            self.expect(')')?;
            return self.add(at, Term::Apply(op, first(op.arity(), |index| args[index])));
        }
        if let Some(term) = self.defined.get(word) {
            self.at = end;
            return Ok(*term);
        }
        match self.scope.find(word) {
            Some(terminal) => {
                self.at = end;
                self.add(at, Term::Terminal(terminal))
            }
            None => {
                let names = self.scope.names();
                Err(self.error(at, format!("found {word:?}, expected a number, {names}, ( or not")))
            }
        }
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

    fn text(formula: &str) -> String {
        parse(&scope(), formula).unwrap().text(&scope())
    }

    #[test]
    fn operators_bind_as_in_c() {
        let cases = [
            ("a1^a2^a3-a4", "((a1 xor a2) xor (a3 - a4))"),
            ("a1-a2*a1", "(a1 - (a2 * a1))"),
            ("a1 | a2 ^ a3 & a4 + n", "(a1 or (a2 xor (a3 and (a4 + n))))"),
            ("a1 div a2 / a3 mod a4 % 2", "((((a1 div a2) div a3) mod a4) mod 2)"),
            ("not a1 - -3", "((not a1) - -3)"),
            ("-a1", "(0 - a1)"),
            ("if(lt(a1,a2), min(a1 , a2), phi(sum))", "if(lt(a1, a2), min(a1, a2), phi(sum))"),
            ("t0 = a1 xor a2; t1 = t0 + t0; t1 - t0", "(((a1 xor a2) + (a1 xor a2)) - (a1 xor a2))"),
            ("-2147483648", "-2147483648"),
        ];
        for (formula, expected) in cases {
            assert_eq!(text(formula), expected, "{formula}");
            assert_eq!(text(expected), expected);
        }
    }

    #[test]
    fn errors_name_their_column() {
        let cases = [
            ("", 1, "found the end"),
            ("a1 -", 5, "found the end"),
            ("a1 $ a2", 4, "found \"$\", expected an operator"),
            ("a1 + (a2", 9, "expected an operator or ')'"),
            ("a9 + 1", 1, "expected a number, a1, a2, a3, a4, n"),
            ("min(a1)", 7, "min takes 2"),
            ("min a1", 5, "expected ("),
            ("2147483648", 1, "not a 32-bit integer"),
            ("1.5", 2, "found \".\""),
            ("12x", 1, "not a 32-bit integer"),
            ("a1 a2", 4, "found \"a2\""),
        ];
        for (formula, column, message) in cases {
            let error = parse(&scope(), formula).unwrap_err();
            assert_eq!(error.column, column, "{formula}: {error}");
            assert!(error.message.contains(message), "{formula}: {error}");
        }
        let error = parse(&scope(), "a1 + * a2").unwrap_err();
        assert!(error.to_string().ends_with("\n  a1 + * a2\n       ^"), "{error}");
        assert!(parse(&scope(), " ").unwrap_err().to_string().ends_with(", ( or not"));
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
                Err(error) => {
                    prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 1);
                    prop_assert!(error.caret <= error.excerpt.chars().count());
                }
            }
        }
    }
}
