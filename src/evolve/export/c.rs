//! C: `bool strategy(int32_t a1, .., int32_t *value)`.
//!
//! Signed overflow is undefined, so sums, differences and products are computed unsigned; the
//! conversion back relies on what every compiler in use does. `phi` and `isqrt` use the 128-bit
//! integers of GCC and Clang.

use super::Lines;
use crate::formula::Term;
use crate::int::Op;
use crate::scope::Terminal;
use std::fmt::Write;

impl Lines<'_> {
    pub(super) fn c(&self) -> String {
        let heaps = self.features();
        let count = self.scope.features.len();
        let terminal = |terminal: Terminal| match terminal {
            Terminal::Nonempty | Terminal::Big | Terminal::Largest | Terminal::Smallest | Terminal::Sum => {
                format!("{terminal}_of((const int32_t[]){{{heaps}}}, {count})")
            }
            other => self.constant(other),
        };
        let no_value = |args: &[String]| format!("{1} == 0 || ({0} == INT32_MIN && {1} == -1)", args[0], args[1]);
        let guard = |op: Op, args: &[String]| match self.replacement("") {
            None if op.may_fault() => format!("    if ({}) return false;\n", no_value(args)),
            _ => String::new(),
        };
        let apply = |op: Op, args: &[String]| {
            let [a, b, c] = [0, 1, 2].map(|index| args.get(index).map_or("", String::as_str));
            let wrapped = |sign: &str| format!("(int32_t)((uint32_t){a} {sign} (uint32_t){b})");
            let quotient = |sign: &str| match self.replacement(a) {
                None => format!("{a} {sign} {b}"),
                Some(value) => format!("({}) ? {value} : {a} {sign} {b}", no_value(args)),
            };
            match op {
                Op::Add => wrapped("+"),
                Op::Sub => wrapped("-"),
                Op::Mul => wrapped("*"),
                Op::Div => quotient("/"),
                Op::Mod => quotient("%"),
                Op::And => format!("{a} & {b}"),
                Op::Or => format!("{a} | {b}"),
                Op::Xor => format!("{a} ^ {b}"),
                Op::Not => format!("~{a}"),
                Op::Min => format!("{a} < {b} ? {a} : {b}"),
                Op::Max => format!("{a} > {b} ? {a} : {b}"),
                Op::Eq => format!("{a} == {b}"),
                Op::Lt => format!("{a} < {b}"),
                Op::If => format!("{a} == 0 ? {c} : {b}"),
                Op::Phi => format!("phi({a})"),
                Op::Isqrt => format!("isqrt({a})"),
            }
        };
        let body = self.body(terminal, guard, apply, |name, value| format!("    int32_t {name} = {value};\n"));
        let mut text = "#include <stdbool.h>\n#include <stdint.h>\n\n".to_owned();
        let loops: [(Terminal, &str, &str); 5] = [
            (Terminal::Nonempty, "0", "value += a[i] >= 1"),
            (Terminal::Big, "0", "value += a[i] >= 2"),
            (Terminal::Largest, "INT32_MIN", "if (a[i] > value) value = a[i]"),
            (Terminal::Smallest, "INT32_MAX", "if (a[i] < value) value = a[i]"),
            (Terminal::Sum, "0", "value = (int32_t)((uint32_t)value + (uint32_t)a[i])"),
        ];
        for (terminal, first, step) in loops {
            if self.formula.terms().contains(&Term::Terminal(terminal)) {
                let _ = write!(
                    text,
                    "static int32_t {terminal}_of(const int32_t *a, int count) {{\n    int32_t value = {first};\n    \
                     for (int i = 0; i < count; i++) {step};\n    return value;\n}}\n\n"
                );
            }
        }
        if self.uses(|op| matches!(op, Op::Phi | Op::Isqrt)) {
            text.push_str(
                "// The largest r with r * r <= x.\nstatic uint64_t root(unsigned __int128 x) {\n    uint64_t r = 0;\n    \
                 for (int bit = 40; bit >= 0; bit--) {\n        unsigned __int128 next = r | (uint64_t)1 << bit;\n        \
                 if (next * next <= x) r = (uint64_t)next;\n    }\n    return r;\n}\n\n",
            );
        }
        if self.uses(|op| op == Op::Phi) {
            text.push_str(
                "static int32_t phi(int32_t x) {\n    uint64_t size = x < 0 ? (uint64_t)-(int64_t)x : (uint64_t)x;\n    \
                 uint32_t floor = (uint32_t)((size + root((unsigned __int128)5 * size * size)) / 2);\n    \
                 return (int32_t)(x < 0 ? 0u - floor - 1u : floor);\n}\n\n",
            );
        }
        if self.uses(|op| op == Op::Isqrt) {
            text.push_str(
                "static int32_t isqrt(int32_t x) {\n    return x < 0 ? 0 : (int32_t)root((unsigned __int128)x);\n}\n\n",
            );
        }
        let _ = write!(
            text,
            "{}bool strategy({}, int32_t *value) {{\n{body}    *value = {};\n    return true;\n}}\n",
            self.header("//"),
            self.parameters("int32_t ", ""),
            self.root()
        );
        text
    }
}
