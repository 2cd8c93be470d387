//! Formulas as trees: right ones, rewritten by identities, and wrong ones, mutated.
//!
//! The identities hold for words that wrap and for all integers.

use std::fmt;
use trinim::random::Random;

/// A formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A terminal.
    Leaf(String),
    /// A symbol between two formulas, or before one.
    Symbol(&'static str, Vec<Tree>),
    /// A call.
    Call(&'static str, Vec<Tree>),
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Leaf(name) => f.write_str(name),
            Tree::Symbol(symbol, args) => match &args[..] {
                [one] => write!(f, "({symbol} {one})"),
                [left, right, ..] => write!(f, "({left} {symbol} {right})"),
                [] => Ok(()),
            },
            Tree::Call(name, args) => {
                let args: Vec<String> = args.iter().map(Tree::to_string).collect();
                write!(f, "{name}({})", args.join(", "))
            }
        }
    }
}

pub fn leaf(name: impl ToString) -> Tree {
    Tree::Leaf(name.to_string())
}

pub fn two(symbol: &'static str, left: &Tree, right: &Tree) -> Tree {
    Tree::Symbol(symbol, vec![left.clone(), right.clone()])
}

pub fn call(name: &'static str, args: &[&Tree]) -> Tree {
    Tree::Call(name, args.iter().map(|arg| (*arg).clone()).collect())
}

fn not(tree: &Tree) -> Tree {
    Tree::Symbol("not", vec![tree.clone()])
}

impl Tree {
    /// Counts the symbols.
    pub fn size(&self) -> usize {
        match self {
            Tree::Leaf(_) => 1,
            Tree::Symbol(_, args) | Tree::Call(_, args) => 1 + args.iter().map(Tree::size).sum::<usize>(),
        }
    }

    /// Returns whether every product has a constant factor, as the prover's class asks.
    pub fn is_in_class(&self) -> bool {
        let (Tree::Symbol(_, args) | Tree::Call(_, args)) = self else { return true };
        let is_product = matches!(self, Tree::Symbol("*", _));
        args.iter().all(Tree::is_in_class) && (!is_product || args.iter().any(Tree::is_constant))
    }

    fn is_constant(&self) -> bool {
        match self {
            Tree::Leaf(name) => name == "n" || name.parse::<i64>().is_ok(),
            Tree::Symbol(_, args) | Tree::Call(_, args) => args.iter().all(Tree::is_constant),
        }
    }

    /// Returns the part with this number, in the order of reading.
    pub fn part(&mut self, number: usize) -> &mut Tree {
        if number == 0 {
            return self;
        }
        let mut rest = number - 1;
        let (Tree::Symbol(_, args) | Tree::Call(_, args)) = self else { return self };
        let mut index = 0;
        while index + 1 < args.len() && rest >= args[index].size() {
            rest -= args[index].size();
            index += 1;
        }
        args[index].part(rest)
    }
}

/// A random part of at most a few symbols: a heap, a constant, a feature of the position.
pub fn small(random: &mut Random, heaps: usize) -> Tree {
    let heap = |random: &mut Random| leaf(format!("a{}", 1 + random.index(heaps)));
    match random.below(12) {
        0 => leaf(random.below(20)),
        1 => leaf([63, 255, 1023, 65_535, 1 << 20, i32::MAX][random.index(6)]),
        2 => leaf(["n", "largest", "smallest", "sum", "big", "nonempty"][random.index(6)]),
        3 | 4 => {
            let (left, right) = (heap(random), heap(random));
            two(["+", "-", "and", "or", "xor"][random.index(5)], &left, &right)
        }
        5 => {
            let (left, right) = (heap(random), heap(random));
            call(["min", "max", "eq", "lt"][random.index(4)], &[&left, &right])
        }
        _ => heap(random),
    }
}

/// Rewrites a random part into another of the same value.
pub fn rewrite(random: &mut Random, tree: &mut Tree, heaps: usize) {
    let number = random.index(tree.size());
    let part = tree.part(number);
    let other = small(random, heaps);
    let own = part.clone();
    let factor = leaf(2 + random.below(30));
    let by_symbol = match &own {
        Tree::Symbol(symbol, args) if args.len() == 2 => {
            let (x, y) = (&args[0], &args[1]);
            let (and, or, xor) = (two("and", x, y), two("or", x, y), two("xor", x, y));
            let double = two("*", &leaf(2), &and);
            match (*symbol, random.below(4)) {
                ("xor", 0) => Some(two("-", &or, &and)),
                ("xor", 1) => Some(two("-", &two("+", x, y), &double)),
                ("xor", 2) => Some(two("and", &or, &not(&and))),
                ("+", 0) => Some(two("+", &xor, &double)),
                ("+", 1) => Some(two("+", &or, &and)),
                ("+", 2) => Some(two("-", x, &two("-", &leaf(0), y))),
                ("-", 0) => Some(two("+", &two("+", x, &not(y)), &leaf(1))),
                ("-", 1) => Some(two("-", &xor, &two("*", &two("and", &not(x), y), &leaf(2)))),
                ("or", 0) => Some(two("-", &two("+", x, y), &and)),
                ("or", 1) => Some(two("xor", x, &two("and", y, &not(x)))),
                ("and", 0) => Some(two("-", &two("+", x, y), &or)),
                ("and", 1) => Some(two("xor", x, &two("and", x, &not(y)))),
                ("xor" | "+" | "and" | "or" | "*", _) => Some(two(symbol, y, x)),
                _ => None,
            }
        }
        Tree::Symbol("not", args) => Some(two("-", &leaf(-1), &args[0])),
        Tree::Call(name @ ("min" | "max"), args) => {
            let (x, y) = (&args[0], &args[1]);
            let (first, last, dual) = if *name == "max" { (y, x, "min") } else { (x, y, "max") };
            Some(match random.below(3) {
                0 => call("if", &[&call("lt", &[x, y]), first, last]),
                1 => two("-", &two("+", x, y), &call(dual, &[x, y])),
                _ => call(name, &[y, x]),
            })
        }
        Tree::Call("if", args) => {
            let (test, then, otherwise) = (&args[0], &args[1], &args[2]);
            Some(call("if", &[&call("eq", &[test, &leaf(0)]), otherwise, then]))
        }
        _ => None,
    };
    let anywhere = |random: &mut Random| match random.below(12) {
        0 => two("-", &two("+", &own, &other), &other),
        1 => two("xor", &two("xor", &own, &other), &other),
        2 => two("+", &own, &two("-", &other, &other)),
        3 => call("if", &[&other, &own, &own]),
        4 => call("min", &[&own, &call("max", &[&own, &other])]),
        5 => two("and", &own, &two("or", &own, &other)),
        6 => two("*", &own, &two("-", &leaf("n"), &leaf(heaps as i32 - 1))),
        7 => two("-", &two("*", &own, &factor), &two("*", &own, &two("-", &factor, &leaf(1)))),
        8 => two("or", &two("and", &own, &other), &two("and", &own, &not(&other))),
        9 => two("+", &two("and", &own, &other), &two("and", &own, &not(&other))),
        10 => call("if", &[&call("lt", &[&other, &own]), &own, &call("max", &[&own, &own])]),
        _ => not(&not(&own)),
    };
    *part = match by_symbol {
        Some(rewritten) if random.below(3) > 0 => rewritten,
        _ => anywhere(random),
    };
}

/// Rewrites the whole into a formula that is 0 for the same heaps.
pub fn rewrite_zero(random: &mut Random, tree: &Tree, heaps: usize) -> Tree {
    let other = small(random, heaps);
    let bits = [2, 4, 10, 30][random.index(4)];
    let odd = leaf(2 * random.below(1 << bits) as i64 + 1);
    let zero = leaf(0);
    if let Tree::Symbol("xor" | "-", args) = tree {
        let (x, y) = (&args[0], &args[1]);
        match random.below(6) {
            0 => return two("-", x, y),
            1 => return two("xor", x, y),
            2 => return two("xor", &call("eq", &[x, y]), &leaf(1)),
            3 => return two("-", &call("max", &[x, y]), &call("min", &[x, y])),
            4 => return two("+", &call("lt", &[x, y]), &call("lt", &[y, x])),
            _ => {}
        }
    }
    match random.below(9) {
        0 => two("-", &zero, tree),
        1 => two("*", tree, &odd),
        2 => two("*", &two("-", &zero, &odd), tree),
        3 => call("if", &[tree, &odd, &zero]),
        4 => two("-", &leaf(1), &call("eq", &[tree, &zero])),
        5 => two("or", tree, &two("and", tree, &other)),
        6 => call("if", &[&other, tree, &two("*", tree, &odd)]),
        7 => two("+", &two("*", tree, &odd), &two("-", tree, tree)),
        _ => two("*", tree, &two("+", &two("*", &leaf(2), &leaf("n")), &leaf(1))),
    }
}

/// Changes a part for large values only.
pub fn spoil(random: &mut Random, tree: &mut Tree, heaps: usize) {
    let number = random.index(tree.size());
    let part = tree.part(number);
    let own = part.clone();
    let other = small(random, heaps);
    let power = 1i64 << (4 + random.below(27));
    *part = match random.below(5) {
        0 => two("and", &own, &leaf(power - 1)),
        1 => two("*", &own, &leaf(1 << random.below(6))),
        2 => call("min", &[&own, &leaf(power)]),
        3 => call("if", &[&call("lt", &[&own, &leaf(power)]), &own, &other]),
        _ => two("+", &own, &two("and", &other, &leaf(power))),
    };
}

/// Changes one symbol.
pub fn mutate(random: &mut Random, tree: &mut Tree, heaps: usize) {
    let number = random.index(tree.size());
    let part = tree.part(number);
    let other = small(random, heaps);
    match part {
        Tree::Symbol(symbol, args) if args.len() == 2 && *symbol != "*" => {
            *symbol = ["+", "-", "and", "or", "xor"][random.index(5)];
        }
        Tree::Symbol("not", args) => *part = args[0].clone(),
        Tree::Call(name @ ("min" | "max" | "eq" | "lt"), _) => *name = ["min", "max", "eq", "lt"][random.index(4)],
        Tree::Call("if", args) => args.swap(1, 2),
        Tree::Leaf(_) => *part = other,
        // One factor has to stay a constant.
        _ => *part = two("+", &part.clone(), &other),
    }
}
