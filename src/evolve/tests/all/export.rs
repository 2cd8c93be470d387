//! Texts that are read, and exported formulas, which have the values of the formula.
//!
//! `TRINIM_WRITE_GOLDEN=1` rewrites the golden files.

use std::path::Path;
use trinim_evolve::export::{Language, export};
use trinim_evolve::games::Game;
use trinim_evolve::language::{Formula, OnFault, Scope, parse, parse_chromosome, simplify};

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

/// Lists arguments at every edge of the semantics: zero, signs, wrap, the trap of the smallest
/// integer.
fn arguments() -> Vec<[i32; 4]> {
    let edges = [0, 1, -1, 2, 3, 13, 21, -5, 46_341, i32::MAX, i32::MIN, 102_334_155];
    let mut all = Vec::new();
    for (index, a) in edges.iter().enumerate() {
        for (other, b) in edges.iter().enumerate() {
            let edge = |place: usize| edges[place % edges.len()];
            all.push([*a, *b, edge(index + other + 1), edge(index * 5 + other * 7 + 3)]);
            all.push([edge(index * 3 + other + 2), 7, *a, *b]);
        }
    }
    all
}

/// Compares with a golden file, or writes it.
pub(crate) fn golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/golden").join(name);
    if std::env::var_os("TRINIM_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(&path).unwrap(), "{}", path.display());
}

/// A formula is written, after `=` simplified; a chromosome becomes the formula of its last gene or
/// of the requested one; an error shows its place.
#[test]
fn texts_are_read_or_refused() {
    let scope = scope();
    let mut found = String::new();
    for line in include_str!("golden/readings.txt").lines() {
        let (kind, text) = line.split_once(" => ").unwrap().0.split_once(' ').unwrap();
        let chromosome = |gene| parse_chromosome(&scope, text, gene).map(|formula| formula.text(&scope));
        let read = match kind {
            "formula" => parse(&scope, text)
                .map_err(|error| error.to_string())
                .map(|formula| format!("{} = {}", formula.text(&scope), simplify(&formula).text(&scope))),
            "game" => Game::parse(text).map(|game| game.to_string()).map_err(|error| error.to_string()),
            _ => chromosome(kind.strip_prefix("gene:").map(|gene| gene.parse().unwrap()))
                .map_err(|error| error.to_string()),
        };
        let read = read.unwrap_or_else(|error| error.replace('\n', " | "));
        found += &format!("{kind} {text} => {read}\n");
    }
    golden("readings.txt", &found);
}

#[test]
fn exports_are_the_golden_files() {
    for (name, text, on_fault) in FORMULAS {
        for (language, extension) in [(Language::Python, "py"), (Language::Latex, "tex")] {
            golden(&format!("{name}.{extension}"), &export(&formula(text), &scope(), language, on_fault));
        }
    }
}

/// Python itself computes the exported function.
#[test]
fn python_computes_the_formula() {
    for (name, text, on_fault) in FORMULAS {
        let rows: Vec<String> = arguments().iter().map(|args| format!("{args:?}")).collect();
        let code = export(&formula(text), &scope(), Language::Python, on_fault);
        let main = format!(
            "{code}\nfor row in [{}]:\n    try:\n        print(strategy(*row))\n    except ZeroDivisionError:\n        print('none')\n",
            rows.join(", ")
        );
        let python = processes::command("python3").args(["-c", &main]).output().expect("this test needs python3");
        assert!(python.status.success(), "{name}: {}", String::from_utf8_lossy(&python.stderr));
        let value = |args: &[i32; 4]| formula(text).value(&scope(), args, on_fault);
        let expected: Vec<String> =
            arguments().iter().map(|args| value(args).map_or("none".to_owned(), |value| value.to_string())).collect();
        assert_eq!(String::from_utf8_lossy(&python.stdout).lines().collect::<Vec<_>>(), expected, "{name}");
    }
}
