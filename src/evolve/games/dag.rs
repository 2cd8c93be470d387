//! Games from a file.
//!
//! Any game without cycles or draws can be listed as its positions:
//!
//! ```text
//! # the game of two matches; a comment starts with #
//! features matches
//! both: 2 -> one none
//! one:  1 -> none
//! none: 0 ->
//! ```
//!
//! The line `features` comes first and names the terminals, 1 to [`FEATURES_MAX`] of them. A
//! position is a name without white space, colon and `#`, a colon, its features (32-bit integers),
//! an arrow, and the names of the positions one move away, which may be defined later. The first
//! position is the start. Positions are renumbered so that options come first, otherwise in file
//! order.
//!
//! # Invariants
//! 1. A cycle, an unknown or repeated name and an invalid number are errors with their line; a
//!    cycle is printed with its positions.
//! 2. At most [`POSITIONS_MAX`] positions and [`OPTIONS_MAX`] options; the recursion uses a list,
//!    not the call stack.

use crate::graph::{Graph, OPTIONS_MAX, POSITIONS_MAX};
use crate::scope::Scope;
use std::collections::HashMap;
use trinim_game::Rule;

/// Most features of a position.
pub const FEATURES_MAX: usize = 64;
/// Number of positions of a cycle that a message names.
const CYCLE_SHOWN: usize = 12;

/// A game from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dag {
    name: String,
    scope: Scope,
    start: u32,
    features: Vec<Vec<i32>>,
    names: Vec<String>,
    options: Vec<Vec<u32>>,
}

/// A text that is not a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}, line {line}: {message}")]
pub struct DagError {
    /// The file.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// What was found and what was expected.
    pub message: String,
}

struct Line<'a> {
    number: usize,
    name: &'a str,
    features: Vec<i32>,
    options: Vec<&'a str>,
}

/// Parses the text of a file; `name` is for messages.
///
/// # Errors
/// [`DagError`] with the first wrong line.
pub fn parse(name: &str, text: &str) -> Result<Dag, DagError> {
    let wrong = |line: usize, message: String| DagError { name: name.to_owned(), line, message };
    let mut header: Option<Vec<String>> = None;
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut options_total = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let Some(width) = header.as_ref().map(Vec::len) else {
            header = Some(read_header(line).map_err(|message| wrong(number, message))?);
            continue;
        };
        let position = read_position(number, line, width).map_err(|message| wrong(number, message))?;
        if let Some(earlier) = numbers.insert(position.name, lines.len() as u32) {
            let earlier = lines[earlier as usize].number;
            return Err(wrong(number, format!("position {:?} is already on line {earlier}", position.name)));
        }
        options_total += position.options.len();
        lines.push(position);
        if lines.len() > POSITIONS_MAX || options_total > OPTIONS_MAX {
            let limits =
                format!("more than {POSITIONS_MAX} positions or {OPTIONS_MAX} options: expected a smaller game");
            return Err(wrong(number, limits));
        }
    }
    let last = text.lines().count().max(1);
    let header = header.ok_or_else(|| wrong(last, "no line \"features ..\"".to_owned()))?;
    if lines.is_empty() {
        return Err(wrong(last, "no position: expected lines like \"one: 1 -> none\"".to_owned()));
    }
    let mut options: Vec<Vec<u32>> = Vec::with_capacity(lines.len());
    for line in &lines {
        let find = |option: &&str| {
            let unknown =
                || wrong(line.number, format!("{:?} leads to {option:?}, which is not a position", line.name));
            numbers.get(option).copied().ok_or_else(unknown)
        };
        options.push(line.options.iter().map(find).collect::<Result<_, _>>()?);
    }
    let order = upwards(&options).map_err(|cycle| {
        let shown: Vec<&str> = cycle.iter().take(CYCLE_SHOWN).map(|index| lines[*index as usize].name).collect();
        let more = if cycle.len() > CYCLE_SHOWN { " -> .." } else { "" };
        let first = lines[cycle[0] as usize].name;
        let text = format!("the game never ends: {}{more} -> {first}", shown.join(" -> "));
        wrong(lines[cycle[0] as usize].number, text)
    })?;

    let mut place = vec![0u32; lines.len()];
    order.iter().enumerate().for_each(|(new, old)| place[*old as usize] = new as u32);
    let renumbered = |old: &u32| {
        let mut row: Vec<u32> = options[*old as usize].iter().map(|option| place[*option as usize]).collect();
        row.sort_unstable();
        row.dedup();
        row
    };
    let column = |feature: usize| order.iter().map(|old| lines[*old as usize].features[feature]).collect();
    Ok(Dag {
        name: name.to_owned(),
        features: (0..header.len()).map(column).collect(),
        scope: Scope { features: header, parameter: None },
        start: place[0],
        names: order.iter().map(|old| lines[*old as usize].name.to_owned()).collect(),
        options: order.iter().map(renumbered).collect(),
    })
}

fn read_header(line: &str) -> Result<Vec<String>, String> {
    let mut words = line.split_whitespace();
    let names: Vec<String> = match words.next() {
        Some("features") => words.map(str::to_owned).collect(),
        _ => return Err(format!("found {line:?}, expected \"features\" and their names first")),
    };
    if names.is_empty() || names.len() > FEATURES_MAX {
        return Err(format!("{} features: expected 1 to {FEATURES_MAX} names", names.len()));
    }
    for (index, name) in names.iter().enumerate() {
        if !Scope::is_name(name) {
            return Err(format!(
                "{name:?} cannot be the name of a feature: expected letters and digits, no word of formulas"
            ));
        }
        if names[..index].contains(name) {
            return Err(format!("feature {name:?} is named twice"));
        }
    }
    Ok(names)
}

fn read_position(number: usize, line: &str, width: usize) -> Result<Line<'_>, String> {
    let shape = || "expected a line like \"one: 1 -> none\"".to_owned();
    let (name, rest) = line.split_once(':').ok_or_else(shape)?;
    let (values, options) = rest.split_once("->").ok_or_else(shape)?;
    let name = name.trim();
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(format!("{name:?} cannot name a position: expected no white space"));
    }
    let value = |text: &str| text.parse().map_err(|_| format!("{text:?} is not a 32-bit integer"));
    let features: Vec<i32> = values.split_whitespace().map(value).collect::<Result<_, _>>()?;
    if features.len() != width {
        return Err(format!("position {name:?} has {} features, expected {width}", features.len()));
    }
    Ok(Line { number, name, features, options: options.split_whitespace().collect() })
}

/// Orders positions so that options come before their parents, or returns the positions of a cycle.
fn upwards(options: &[Vec<u32>]) -> Result<Vec<u32>, Vec<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; options.len()];
    let mut order = Vec::with_capacity(options.len());
    // The path from a root: each position with the number of its options already visited.
    let mut path: Vec<(u32, usize)> = Vec::new();
    for root in 0..options.len() as u32 {
        if marks[root as usize] == Mark::New {
            marks[root as usize] = Mark::Open;
            path.push((root, 0));
        }
        while let Some((index, seen)) = path.last_mut() {
            let Some(&option) = options[*index as usize].get(*seen) else {
                marks[*index as usize] = Mark::Done;
                order.push(*index);
                path.pop();
                continue;
            };
            *seen += 1;
            match marks[option as usize] {
                Mark::Done => {}
                Mark::New => {
                    marks[option as usize] = Mark::Open;
                    path.push((option, 0));
                }
                Mark::Open => {
                    let begin = path.iter().position(|(index, _)| *index == option).unwrap_or(0);
                    return Err(path[begin..].iter().map(|(index, _)| *index).collect());
                }
            }
        }
    }
    Ok(order)
}

impl Dag {
    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Builds the graph.
    pub fn graph(&self, rule: Rule) -> Graph {
        Graph::from_rows(self.scope.clone(), rule, self.start, self.features.clone(), self.names.clone(), &self.options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trinim_game::Value;

    const TWO: &str = "# matches\nfeatures matches\nboth: 2 -> one none # both\none: 1 -> none\n\nnone: 0 ->\n";

    #[test]
    fn a_game_is_read() {
        let graph = parse("two", TWO).unwrap().graph(Rule::Normal);
        assert_eq!((graph.len(), graph.start, graph.label(graph.start).as_str()), (3, 2, "both"));
        assert_eq!(graph.outcomes(), [Value::Loss, Value::Win, Value::Win]);
        assert_eq!(graph.grundy(), [0, 1, 2]);
        assert_eq!(graph.scope.names(), "matches, n, nonempty, big, largest, smallest, sum");
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let cases = [
            ("", 1, "no line \"features ..\""),
            ("features\n", 1, "0 features"),
            ("features a a", 1, "named twice"),
            ("features xor", 1, "cannot be the name"),
            ("both: 2 -> one", 1, "expected \"features\""),
            ("features a", 1, "no position"),
            ("features a\nx 1", 2, "expected a line like"),
            ("features a\nx y: 1 ->", 2, "cannot name a position"),
            ("features a\nx: 1.5 ->", 2, "\"1.5\" is not a 32-bit integer"),
            ("features a\nx: 1 2 ->", 2, "has 2 features, expected 1"),
            ("features a\nx: 1 -> y", 2, "\"x\" leads to \"y\", which is not a position"),
            ("features a\nx: 1 ->\n\nx: 2 ->", 4, "already on line 2"),
            ("features a\nx: 1 -> x", 2, "never ends: x -> x"),
            ("features a\ns: 0 -> x\nx: 1 -> y\ny: 2 -> z\nz: 3 -> e x\ne: 0 ->", 3, "never ends: x -> y -> z -> x"),
        ];
        for (text, line, message) in cases {
            let error = parse("file", text).unwrap_err();
            assert_eq!(error.line, line, "{text:?}: {error}");
            assert!(error.message.contains(message), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_long_path_needs_no_stack() {
        let lines: String = (0..200_000).map(|index| format!("p{index}: {index} -> p{}\n", index + 1)).collect();
        let text = format!("features a\n{lines}p200000: 0 ->\n");
        assert_eq!(parse("long", &text).unwrap().graph(Rule::Normal).len(), 200_001);
        let cycle = text.replace("p200000: 0 ->", "p200000: 0 -> p0");
        let error = parse("long", &cycle).unwrap_err();
        assert!(error.message.ends_with(".. -> p0"), "{error}");
    }
}
