//! Exported formulas have the values of the formula: compiled and run as C, compiled into this test
//! as Rust, and interpreted as Python.
//!
//! The golden files hold the output of `export`; `TRINIM_WRITE_GOLDEN=1` rewrites them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use trinim_evolve::export::{Language, export};
use trinim_evolve::formula::Formula;
use trinim_evolve::int::OnFault;
use trinim_evolve::parse::parse;
use trinim_evolve::scope::Scope;

/// Formulas with every operation and every terminal that needs code.
const FORMULAS: [(&str, &str, OnFault); 5] = [
    ("xor", "(a1^a2^a3)-a4", OnFault::Stop),
    ("arithmetic", "((a1 * a2 - a3) div (a4 - 2)) + ((a1 + -7) mod (a2 - a3)) * n", OnFault::Stop),
    ("replaced", "(a1 div a2) xor (a3 mod a4) xor not (-2147483648 div (a1 - 1))", OnFault::Numerator),
    (
        "functions",
        "if(lt(a1, a2), max(a1, a3) or min(a2, a4), eq(a1, a4) * -9) + phi(a1 - a2) * isqrt(a3) - phi(a4)",
        OnFault::Stop,
    ),
    ("terminals", "largest * smallest + sum - nonempty * big + not n", OnFault::Stop),
];

fn scope() -> Scope {
    Scope::heaps(4, None)
}

fn formula(text: &str) -> Formula {
    parse(&scope(), text).unwrap()
}

/// Lists arguments at every edge of the semantics: zero, signs, wrap, the trap of the least
/// integer.
fn arguments() -> Vec<[i32; 4]> {
    let edges = [0, 1, -1, 2, 3, 13, 21, -5, 46_341, i32::MAX, i32::MIN, 102_334_155];
    let mut all = Vec::new();
    for (index, a) in edges.iter().enumerate() {
        for (other, b) in edges.iter().enumerate() {
            all.push([
                *a,
                *b,
                edges[(index + other + 1) % edges.len()],
                edges[(index * 5 + other * 7 + 3) % edges.len()],
            ]);
            all.push([edges[(index * 3 + other + 2) % edges.len()], 7, *a, *b]);
        }
    }
    all
}

fn golden(name: &str, extension: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.{extension}"));
    if std::env::var_os("TRINIM_WRITE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, expected, "{}", path.display());
}

#[test]
fn exports_are_the_golden_files() {
    for (name, text, on_fault) in FORMULAS {
        for (language, extension) in
            [(Language::Rust, "rs.txt"), (Language::C, "c"), (Language::Python, "py"), (Language::Latex, "tex")]
        {
            golden(name, extension, &export(&formula(text), &scope(), language, on_fault));
        }
    }
}

mod xor {
    include!("golden/xor.rs.txt");
}
mod arithmetic {
    include!("golden/arithmetic.rs.txt");
}
mod replaced {
    include!("golden/replaced.rs.txt");
}
mod functions {
    include!("golden/functions.rs.txt");
}
mod terminals {
    include!("golden/terminals.rs.txt");
}

#[test]
fn rust_computes_the_formula() {
    let strategies =
        [xor::strategy, arithmetic::strategy, replaced::strategy, functions::strategy, terminals::strategy];
    for ((name, text, on_fault), strategy) in FORMULAS.into_iter().zip(strategies) {
        for [a, b, c, d] in arguments() {
            let expected = formula(text).value(&scope(), &[a, b, c, d], on_fault).ok();
            assert_eq!(strategy(a, b, c, d), expected, "{name} of {a}, {b}, {c}, {d}");
        }
    }
}

/// The code names the compiler it needs: `isqrt` of integers is in the standard library since 1.84.
#[test]
fn rust_compiles_in_each_edition_and_names_its_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    for (name, text, on_fault) in FORMULAS {
        let code = export(&formula(text), &scope(), Language::Rust, on_fault);
        assert_eq!(code.contains("isqrt("), code.contains("/// Edition 2021 or later; rustc 1.84 or later"), "{code}");
        let source = folder.path().join(format!("{name}.rs"));
        std::fs::write(&source, code).unwrap();
        for edition in ["2021", "2024"] {
            let flags = ["--edition", edition, "--crate-type", "lib", "--emit", "metadata", "--out-dir"];
            let compiled = Command::new(&rustc).args(flags).arg(folder.path()).arg(&source).output().unwrap();
            assert!(compiled.status.success(), "{name}: {}", String::from_utf8_lossy(&compiled.stderr));
        }
    }
}

/// Rust links through `cc`, so every machine that builds this test has one.
#[test]
fn c_computes_the_formula() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, on_fault) in FORMULAS {
        let code = export(&formula(text), &scope(), Language::C, on_fault);
        let rows: String = arguments().iter().map(|[a, b, c, d]| format!("{{{a}LL,{b}LL,{c}LL,{d}LL}},\n")).collect();
        let main = format!(
            "{code}\n#include <stdio.h>\nstatic const long long rows[][4] = {{\n{rows}}};\nint main(void) {{\n\
             for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {{\nint32_t value = 0;\n\
             if (strategy((int32_t)rows[i][0], (int32_t)rows[i][1], (int32_t)rows[i][2], (int32_t)rows[i][3], &value)) \
             printf(\"%d\\n\", (int)value);\nelse puts(\"none\");\n}}\nreturn 0;\n}}\n"
        );
        let (source, binary) = (folder.path().join(format!("{name}.c")), folder.path().join(name));
        std::fs::write(&source, main).unwrap();
        let flags = ["-std=c99", "-O1", "-Wall", "-Wno-parentheses", "-Werror"];
        let compiled = Command::new("cc").args(flags).arg("-o").arg(&binary).arg(&source).output().unwrap();
        assert!(compiled.status.success(), "{name}: {}", String::from_utf8_lossy(&compiled.stderr));
        let printed = String::from_utf8(Command::new(&binary).output().unwrap().stdout).unwrap();
        let expected: Vec<String> = arguments()
            .iter()
            .map(|args| {
                formula(text).value(&scope(), args, on_fault).map_or("none".to_owned(), |value| value.to_string())
            })
            .collect();
        assert_eq!(printed.lines().collect::<Vec<_>>(), expected, "{name}");
    }
}

/// An interpreter for the exported part of Python, with 128-bit integers for unbounded ones. `None`
/// is an exception.
struct Python<'a> {
    tokens: Vec<String>,
    at: usize,
    variables: &'a HashMap<String, i128>,
    on_fault: OnFault,
}

impl Python<'_> {
    fn run(code: &str, args: [i32; 4], on_fault: OnFault) -> Option<i128> {
        let mut variables: HashMap<String, i128> = HashMap::new();
        for (index, value) in args.iter().enumerate() {
            variables.insert(format!("a{}", index + 1), (*value).into());
        }
        let body = code.split("def strategy(").nth(1).unwrap();
        for line in body.lines().skip(1) {
            let line = line.trim();
            let (name, expression) = match line.strip_prefix("return ") {
                Some(expression) => ("return", expression),
                None => line.split_once(" = ").unwrap(),
            };
            let mut python = Python { tokens: tokens(expression), at: 0, variables: &variables, on_fault };
            let value = python.conditional()?;
            assert_eq!(python.at, python.tokens.len(), "{expression}");
            variables.insert(name.to_owned(), value);
        }
        Some(variables["return"])
    }

    fn eat(&mut self, token: &str) -> bool {
        let here = self.tokens.get(self.at).is_some_and(|found| found == token);
        self.at += usize::from(here);
        here
    }

    /// Computes `x if c else y`, and both branches, because no exported branch can fail.
    fn conditional(&mut self) -> Option<i128> {
        let value = self.level(0)?;
        if self.eat("if") {
            let condition = self.level(0)?;
            assert!(self.eat("else"));
            let other = self.conditional()?;
            return Some(if condition != 0 { value } else { other });
        }
        Some(value)
    }

    fn level(&mut self, level: usize) -> Option<i128> {
        let levels: [&[&str]; 6] = [&["==", "<", ">=", ">"], &["|"], &["^"], &["&"], &["+", "-"], &["*", "//", "%"]];
        let Some(operators) = levels.get(level) else { return self.unary() };
        let mut value = self.level(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.eat(operator)) {
            let right = self.level(level + 1)?;
            value = match *operator {
                "==" => i128::from(value == right),
                "<" => i128::from(value < right),
                ">=" => i128::from(value >= right),
                ">" => i128::from(value > right),
                "|" => value | right,
                "^" => value ^ right,
                "&" => value & right,
                "+" => value + right,
                "-" => value - right,
                "*" => value * right,
                "//" => value.div_euclid(right),
                _ => value.rem_euclid(right),
            };
        }
        Some(value)
    }

    fn unary(&mut self) -> Option<i128> {
        if self.eat("-") {
            return Some(-self.unary()?);
        }
        if self.eat("~") {
            return Some(!self.unary()?);
        }
        let token = self.tokens[self.at].clone();
        self.at += 1;
        if token == "(" {
            let value = self.conditional()?;
            assert!(self.eat(")"));
            return Some(value);
        }
        if let Ok(number) = token.parse() {
            return Some(number);
        }
        if !self.eat("(") {
            return Some(self.variables[&token]);
        }
        // In `sum(heap >= k for heap in [..])` the heaps are the variables a1 to a4.
        let heaps: Vec<i128> = (1..=4).map(|heap| self.variables[&format!("a{heap}")]).collect();
        if self.tokens[self.at] == "heap" {
            let least: i128 = self.tokens[self.at + 2].parse().unwrap();
            self.skip_to(")");
            return Some(heaps.iter().filter(|heap| **heap >= least).count() as i128);
        }
        if self.tokens[self.at] == "[" {
            self.skip_to(")");
            return Some(match token.as_str() {
                "sum" => heaps.iter().sum(),
                "max" => *heaps.iter().max()?,
                _ => *heaps.iter().min()?,
            });
        }
        let mut args = vec![self.conditional()?];
        while self.eat(",") {
            args.push(self.conditional()?);
        }
        assert!(self.eat(")"), "{:?}", self.tokens);
        self.call(&token, &args)
    }

    fn skip_to(&mut self, token: &str) {
        while !self.eat(token) {
            self.at += 1;
        }
    }

    fn call(&self, name: &str, args: &[i128]) -> Option<i128> {
        Some(match name {
            "_wrap" => i128::from(args[0] as i32),
            "_div" | "_mod" => {
                let (a, b) = (args[0], args[1]);
                if b == 0 || a == -(1 << 31) && b == -1 {
                    return match self.on_fault {
                        OnFault::Stop => None,
                        OnFault::Zero => Some(0),
                        OnFault::One => Some(1),
                        OnFault::Numerator => Some(a),
                    };
                }
                if name == "_div" { a / b } else { a % b }
            }
            "int" => args[0],
            "min" => args[0].min(args[1]),
            "max" => args[0].max(args[1]),
            "math.isqrt" => args[0].isqrt(),
            other => panic!("{other}"),
        })
    }
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let mut token = c.to_string();
        if c.is_alphanumeric() || c == '_' {
            while let Some(next) = chars.next_if(|next| next.is_alphanumeric() || *next == '_' || *next == '.') {
                token.push(next);
            }
        } else if matches!(c, '=' | '>' | '/' | '<') {
            token.extend(chars.next_if(|next| *next == '=' || *next == '/'));
        }
        if !c.is_whitespace() {
            tokens.push(token);
        }
    }
    tokens
}

#[test]
fn python_computes_the_formula() {
    for (name, text, on_fault) in FORMULAS {
        let code = export(&formula(text), &scope(), Language::Python, on_fault);
        for args in arguments() {
            let expected = formula(text).value(&scope(), &args, on_fault).ok().map(i128::from);
            assert_eq!(Python::run(&code, args, on_fault), expected, "{name} of {args:?}\n{code}");
        }
    }
}
