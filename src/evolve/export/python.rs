//! Python: `def strategy(a1, ..)`.
//!
//! Python's integers have no width, so a function wraps sums, differences and products.

use super::Lines;
use crate::int::Op;
use crate::scope::Terminal;
use std::fmt::Write;

impl Lines<'_> {
    pub(super) fn python(&self) -> String {
        let heaps = self.features();
        let terminal = |terminal: Terminal| match terminal {
            Terminal::Nonempty => format!("sum(heap >= 1 for heap in [{heaps}])"),
            Terminal::Big => format!("sum(heap >= 2 for heap in [{heaps}])"),
            Terminal::Largest => format!("max([{heaps}])"),
            Terminal::Smallest => format!("min([{heaps}])"),
            Terminal::Sum => format!("_wrap(sum([{heaps}]))"),
            other => self.constant(other),
        };
        let apply = |op: Op, args: &[String]| {
            let [a, b, c] = [0, 1, 2].map(|index| args.get(index).map_or("", String::as_str));
            match op {
                Op::Add => format!("_wrap({a} + {b})"),
                Op::Sub => format!("_wrap({a} - {b})"),
                Op::Mul => format!("_wrap({a} * {b})"),
                Op::Div => format!("_div({a}, {b})"),
                Op::Mod => format!("_mod({a}, {b})"),
                Op::And => format!("{a} & {b}"),
                Op::Or => format!("{a} | {b}"),
                Op::Xor => format!("{a} ^ {b}"),
                Op::Not => format!("~{a}"),
                Op::Min => format!("min({a}, {b})"),
                Op::Max => format!("max({a}, {b})"),
                Op::Eq => format!("int({a} == {b})"),
                Op::Lt => format!("int({a} < {b})"),
                Op::If => format!("{c} if {a} == 0 else {b}"),
                Op::Phi => format!(
                    "_wrap(({a} + math.isqrt(5 * {a} * {a})) // 2 if {a} >= 0 else -((-{a} + math.isqrt(5 * {a} * {a})) // 2) - 1)"
                ),
                Op::Isqrt => format!("math.isqrt(max({a}, 0))"),
            }
        };
        let body = self.body(terminal, |_, _| String::new(), apply, |name, value| format!("    {name} = {value}\n"));
        let mut text = String::new();
        if self.uses(|op| matches!(op, Op::Phi | Op::Isqrt)) {
            text.push_str("import math\n\n\n");
        }
        text.push_str("def _wrap(x):\n    return (x + 2**31) % 2**32 - 2**31\n\n\n");
        let replaced = match self.replacement("a") {
            None => "raise ZeroDivisionError".to_owned(),
            Some(value) => format!("return {value}"),
        };
        let fault = format!("    if b == 0 or (a == -2**31 and b == -1):\n        {replaced}\n");
        for (op, name, sign, value) in
            [(Op::Div, "_div", "(a < 0) != (b < 0)", "abs(a) // abs(b)"), (Op::Mod, "_mod", "a < 0", "abs(a) % abs(b)")]
        {
            if self.uses(|used| used == op) {
                let _ = write!(
                    text,
                    "def {name}(a, b):\n{fault}    size = {value}\n    return -size if {sign} else size\n\n\n"
                );
            }
        }
        let header = self.header("#");
        let _ = write!(text, "{header}def strategy({}):\n{body}    return {}\n", self.parameters("", ""), self.root());
        text
    }
}
