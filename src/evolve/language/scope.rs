//! Terminals and their meaning in a game.
//!
//! The paper's terminals are the heaps `a1..an` and their number `n`. Where those do not suffice,
//! there are constants, `largest`, `smallest` and `sum` of the features, `nonempty` and `big` (the
//! number of features of at least 1, at least 2), and `m` (a parameter of the rules). A position is
//! a list of `i32` features, named by a [`Scope`]; the values of a terminal at all positions form a
//! column.
//!
//! # Invariants
//! 1. [`Scope::fill`] equals [`Scope::value`] position by position.

use std::fmt;

/// A symbol without arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Terminal {
    /// A feature of the position, from 0; the first heap `a1` is feature 0.
    Feature(u16),
    /// The number of features, the same at every position.
    Number,
    /// The number of features that are not 0.
    Nonempty,
    /// The number of features of 2 or more.
    Big,
    /// The largest feature.
    Largest,
    /// The smallest feature.
    Smallest,
    /// The sum of the features, wrapping.
    Sum,
    /// The parameter of the rules.
    Parameter,
    /// A constant.
    Constant(i32),
}

/// Terminals that have the same name in every game.
const FIXED: [(&str, Terminal); 7] = [
    ("n", Terminal::Number),
    ("nonempty", Terminal::Nonempty),
    ("big", Terminal::Big),
    ("largest", Terminal::Largest),
    ("smallest", Terminal::Smallest),
    ("sum", Terminal::Sum),
    ("m", Terminal::Parameter),
];

/// The terminals of a game by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Names of the features.
    pub features: Vec<String>,
    /// The parameter `m` of the rules, if they have one.
    pub parameter: Option<i32>,
}

impl Scope {
    /// Names heaps `a1..an`.
    pub fn heaps(number: usize, parameter: Option<i32>) -> Scope {
        Scope { features: (1..=number).map(|heap| format!("a{heap}")).collect(), parameter }
    }

    /// Returns the terminal of that name.
    pub fn find(&self, name: &str) -> Option<Terminal> {
        let feature = self.features.iter().position(|feature| feature == name);
        let feature = feature.and_then(|index| u16::try_from(index).ok()).map(Terminal::Feature);
        let fixed = FIXED.iter().find(|(fixed, _)| *fixed == name).map(|(_, terminal)| *terminal);
        let fixed = fixed.filter(|terminal| *terminal != Terminal::Parameter || self.parameter.is_some());
        feature.or(fixed).or_else(|| name.parse().ok().map(Terminal::Constant))
    }

    /// Returns the name of a terminal.
    pub fn name(&self, terminal: Terminal) -> String {
        match terminal {
            Terminal::Feature(index) if usize::from(index) < self.features.len() => {
                self.features[usize::from(index)].clone()
            }
            other => other.to_string(),
        }
    }

    /// Lists all names, for messages.
    pub fn names(&self) -> String {
        let features = match self.features.as_slice() {
            [first, .., last] if self.features.len() > 6 => format!("{first}..{last}"),
            some => some.join(", "),
        };
        let parameter = if self.parameter.is_some() { ", m" } else { "" };
        format!("{features}, n, nonempty, big, largest, smallest, sum{parameter}")
    }

    /// Computes the value at a position.
    pub fn value(&self, terminal: Terminal, position: &[i32]) -> i32 {
        self.exact(terminal, position) as i32
    }

    /// Computes the value at a position, without a wrap.
    pub(crate) fn exact<T: Copy + Into<i128>>(&self, terminal: Terminal, position: &[T]) -> i128 {
        let values = position.iter().map(|feature| (*feature).into());
        match terminal {
            Terminal::Feature(index) => position[usize::from(index)].into(),
            Terminal::Number => self.features.len() as i128,
            Terminal::Nonempty => values.filter(|value| *value >= 1).count() as i128,
            Terminal::Big => values.filter(|value| *value >= 2).count() as i128,
            Terminal::Largest => values.max().unwrap_or(0),
            Terminal::Smallest => values.min().unwrap_or(0),
            Terminal::Sum => values.sum(),
            Terminal::Parameter => self.parameter.unwrap_or(0).into(),
            Terminal::Constant(value) => value.into(),
        }
    }

    /// Computes the values at all positions, given their features as columns.
    pub fn fill(&self, terminal: Terminal, features: &[Vec<i32>], out: &mut [i32]) {
        if let Terminal::Feature(index) = terminal {
            return out.copy_from_slice(&features[usize::from(index)]);
        }
        let mut position = vec![0; features.len()];
        for (index, out) in out.iter_mut().enumerate() {
            position.iter_mut().zip(features).for_each(|(feature, column)| *feature = column[index]);
            *out = self.value(terminal, &position);
        }
    }
}

impl fmt::Display for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, FIXED.iter().find(|(_, terminal)| terminal == self)) {
            (_, Some((name, _))) => f.write_str(name),
            (Terminal::Feature(index), _) => write!(f, "a{}", u32::from(*index) + 1),
            (Terminal::Constant(value), _) => write!(f, "{value}"),
            _ => unreachable!("{self:?} has a name"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_have_the_values_of_the_page() {
        let scope = Scope::heaps(4, Some(3));
        let position = [4, 0, 1, 2];
        let value = |name: &str| scope.value(scope.find(name).unwrap(), &position);
        let names = ["a1", "a4", "n", "nonempty", "big", "largest", "smallest", "sum", "m", "-5"];
        assert_eq!(names.map(value), [4, 2, 4, 3, 2, 4, 0, 7, 3, -5]);
        assert_eq!(scope.find("a5"), None);
        assert_eq!(Scope::heaps(4, None).find("m"), None);
        let features: Vec<Vec<i32>> = position.iter().map(|feature| vec![*feature, 1]).collect();
        for name in names {
            let mut out = [0; 2];
            scope.fill(scope.find(name).unwrap(), &features, &mut out);
            assert_eq!(out, [value(name), scope.value(scope.find(name).unwrap(), &[1; 4])]);
        }
    }
}
