//! Rust: `pub fn strategy(a1: i32, ..) -> Option<i32>`.
//!
//! Only methods of `i32` that wrap or check, so that build profiles do not matter.

use super::Lines;
use crate::int::Op;
use crate::scope::Terminal;
use std::fmt::Write;

impl Lines<'_> {
    pub(super) fn rust(&self) -> String {
        let heaps = format!("[{}]", self.features());
        let terminal = |terminal: Terminal| match terminal {
            Terminal::Nonempty => format!("{heaps}.iter().filter(|heap| **heap >= 1).count() as i32"),
            Terminal::Big => format!("{heaps}.iter().filter(|heap| **heap >= 2).count() as i32"),
            Terminal::Largest => format!("{heaps}.into_iter().fold(i32::MIN, i32::max)"),
            Terminal::Smallest => format!("{heaps}.into_iter().fold(i32::MAX, i32::min)"),
            Terminal::Sum => format!("{heaps}.into_iter().fold(0, i32::wrapping_add)"),
            other => format!("{}i32", self.constant(other)),
        };
        let apply = |op: Op, args: &[String]| {
            let [a, b, c] = [0, 1, 2].map(|index| args.get(index).map_or("", String::as_str));
            // A method call would bind tighter than the sign.
            let this = if a.starts_with('-') { format!("({a})") } else { a.to_owned() };
            let quotient = |method: &str| match self.replacement(a) {
                None => format!("{this}.{method}({b})?"),
                Some(value) => format!("{this}.{method}({b}).unwrap_or({value})"),
            };
            match op {
                Op::Add => format!("{this}.wrapping_add({b})"),
                Op::Sub => format!("{this}.wrapping_sub({b})"),
                Op::Mul => format!("{this}.wrapping_mul({b})"),
                Op::Div => quotient("checked_div"),
                Op::Mod => quotient("checked_rem"),
                Op::And => format!("{a} & {b}"),
                Op::Or => format!("{a} | {b}"),
                Op::Xor => format!("{a} ^ {b}"),
                Op::Not => format!("!{a}"),
                Op::Min => format!("{this}.min({b})"),
                Op::Max => format!("{this}.max({b})"),
                Op::Eq => format!("i32::from({a} == {b})"),
                Op::Lt => format!("i32::from({a} < {b})"),
                Op::If => format!("if {a} == 0 {{ {c} }} else {{ {b} }}"),
                Op::Phi => format!("phi({a})"),
                Op::Isqrt => format!("isqrt({a})"),
            }
        };
        let body =
            self.body(terminal, |_, _| String::new(), apply, |name, value| format!("    let {name} = {value};\n"));
        let mut text = String::new();
        if self.uses(|op| op == Op::Phi) {
            text.push_str(
                "/// The floor of the golden ratio times x.\nfn phi(x: i32) -> i32 {\n    let size = i128::from(x).unsigned_abs();\n    \
                 let floor = ((size + (5 * size * size).isqrt()) / 2) as i32;\n    \
                 if x < 0 { floor.wrapping_neg().wrapping_sub(1) } else { floor }\n}\n\n",
            );
        }
        if self.uses(|op| op == Op::Isqrt) {
            text.push_str(
                "/// The floor of the square root, 0 for negative x.\nfn isqrt(x: i32) -> i32 {\n    \
                 x.checked_isqrt().unwrap_or(0)\n}\n\n",
            );
        }
        let _ = write!(
            text,
            "{}pub fn strategy({}) -> Option<i32> {{\n{body}    Some({})\n}}\n",
            self.header("///"),
            self.parameters("", ": i32"),
            self.root()
        );
        text
    }
}
