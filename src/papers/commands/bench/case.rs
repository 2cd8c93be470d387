//! The cases to measure: the product of scans from the command line, and the suites.

use clap::ValueEnum;
use std::collections::BTreeSet;
use trinim_papers::record::Row;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A solve from an empty folder.
    Solve,
    /// Verification of every position of an existing database.
    Verify,
    /// Probes of an existing database; the time is per probe.
    Probe,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its row in the record, without runs and without the command.
    pub row: Row,
    pub action: Action,
    pub arguments: Vec<String>,
}

impl Case {
    fn solve(group: &str, name: &str, arguments: &[impl AsRef<str>]) -> Case {
        let row = Row { name: name.to_owned(), group: group.to_owned(), ..Row::default() };
        let arguments = arguments.iter().map(|argument| argument.as_ref().to_owned()).collect();
        Case { row, action: Action::Solve, arguments }
    }

    /// Returns the case as a repetition.
    pub fn again(&self) -> Case {
        let row = Row { name: format!("{}, again", self.row.name), again: true, ..self.row.clone() };
        Case { row, ..self.clone() }
    }

    fn headline(self) -> Case {
        Case { row: Row { headline: true, ..self.row }, ..self }
    }

    /// Returns the argument that names the file of the board, if it comes from a file.
    pub fn board_file(&self) -> Option<&str> {
        let board = self.arguments.iter().skip_while(|argument| *argument != "--board").nth(1)?;
        Some(board.as_str()).filter(|board| board.starts_with("file:"))
    }

    /// Returns the solving command, without the program name.
    pub fn solve_words(&self) -> Vec<&str> {
        solve_words(self.arguments.iter().map(String::as_str).collect())
    }

    /// Returns the command without folders, for reports.
    pub fn command(&self) -> String {
        let solve = self.solve_words().into_iter().map(quoted).collect::<Vec<_>>().join(" ");
        match self.action {
            Action::Solve => format!("trinim {solve}"),
            Action::Verify => format!("trinim verify (of trinim {solve})"),
            Action::Probe => format!("trinim probe (of trinim {solve})"),
        }
    }
}

/// Returns the command that solves with these arguments: `solve`, which has only update logs, or
/// `papers solve` for another strategy.
pub fn solve_words(arguments: Vec<&str>) -> Vec<&str> {
    let is_of_logs = |pair: &[&str]| matches!(pair, ["--strategy", "update-log"] | ["--redundancy", "remove"]);
    let strategy = arguments.chunks(2).find(|pair| pair[0] == "--strategy");
    match strategy.filter(|pair| !is_of_logs(pair)) {
        Some(_) => [&["papers", "solve"], &arguments[..]].concat(),
        None => {
            let rest = arguments.chunks(2).filter(|pair| strategy.is_none() || !is_of_logs(pair));
            ["solve"].into_iter().chain(rest.flatten().copied()).collect()
        }
    }
}

fn quoted(argument: &str) -> String {
    if argument.contains(['(', ' ']) { format!("\"{argument}\"") } else { argument.to_owned() }
}

pub type Argument = [String; 2];

/// Returns the product of lists of arguments, the last one varying fastest; an empty list leaves
/// its arguments out.
pub fn product(lists: &[Vec<Argument>]) -> Vec<Case> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for list in lists.iter().filter(|list| !list.is_empty()) {
        all = all.iter().flat_map(|begin| list.iter().map(move |more| [&begin[..], more].concat())).collect();
    }
    let name = |arguments: &[String]| arguments.iter().map(|argument| quoted(argument)).collect::<Vec<_>>().join(" ");
    all.iter().map(|arguments| Case::solve("", &name(arguments), arguments)).collect()
}

/// Repeats the first case of each group of solves at the end.
pub fn with_first_again(mut cases: Vec<Case>) -> Vec<Case> {
    let mut groups = BTreeSet::new();
    let firsts = cases.iter().filter(|case| case.action == Action::Solve && groups.insert(&case.row.group));
    let firsts: Vec<Case> = firsts.map(Case::again).collect();
    cases.extend(firsts);
    cases
}

/// `--suite`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Seven and eight layers: every strategy, placement and memory, threads, kernels, verify,
    /// probe
    Full,
    /// Seven layers of the same
    Quick,
    /// Our strategy against all others with one position at a time, one thread, seven layers
    Peers,
    /// The same as peers with eight layers: takes hours
    Scalar,
}

impl Suite {
    /// Default number of warm-up rounds. At seven layers the first run is slower than all later
    /// ones, at eight layers it is not.
    pub fn warm_up(self) -> u32 {
        u32::from(self == Suite::Quick)
    }

    pub fn cases(self) -> Vec<Case> {
        with_first_again(match self {
            Suite::Full => [everything("7"), everything("8")].concat(),
            Suite::Quick => everything("7"),
            Suite::Peers => one_by_one("7", "1GiB"),
            Suite::Scalar => one_by_one("8", "12GiB"),
        })
    }
}

const WAYS: [(&str, &[&str]); 8] = [
    ("update logs, dedicated", &["--log-placement", "dedicated"]),
    ("update logs, shared", &["--log-placement", "shared"]),
    ("block-pull", &["--strategy", "block-pull"]),
    ("block-pull, redundancy kept", &["--strategy", "block-pull", "--redundancy", "keep"]),
    ("block-push", &["--strategy", "block-push"]),
    ("block-push, redundancy kept", &["--strategy", "block-push", "--redundancy", "keep"]),
    ("retrograde in memory", &["--strategy", "retrograde"]),
    ("forward in memory", &["--strategy", "forward"]),
];

/// Memory budgets to try with every strategy.
const MEMORIES: [&str; 3] = ["256MiB", "1GiB", "4GiB"];

/// Returns whether a strategy keeps the whole board in memory and takes one position at a time.
fn is_in_memory(flags: &[&str]) -> bool {
    flags.contains(&"retrograde") || flags.contains(&"forward")
}

fn everything(layers: &'static str) -> Vec<Case> {
    let group = &format!("{layers} layers");
    let solve = |name: &str, more: &[&str]| {
        Case::solve(group, &format!("{group}, {name}"), &[&["--layers", layers], more].concat())
    };
    let mut cases = vec![
        solve("default options", &[]).headline(),
        solve("normal play", &["--rule", "normal"]).headline(),
        solve("1 thread", &["--threads", "1"]).headline(),
    ];
    for memory in MEMORIES {
        for (way, flags) in WAYS {
            // One budget shows the cost of redundancy, and more memory changes nothing for a board
            // that fits.
            let fits_as_a_whole = layers == "7" && is_in_memory(flags);
            if memory != "1GiB" && (flags.contains(&"keep") || fits_as_a_whole) {
                continue;
            }
            let case = solve(&format!("{way}, {memory}"), &[flags, &["--memory", memory]].concat());
            cases.push(if memory == "1GiB" { case.headline() } else { case });
        }
    }
    for kernel in ["avx2", "portable"] {
        cases.push(solve(&format!("{kernel} kernel"), &["--kernel", kernel]));
    }
    // These are not solves, so they are not compared with any.
    let other = |word: &str, what: &str| {
        Case::solve(&format!("{group}, {word}"), &format!("{group}, {word}, {what}"), &["--layers", layers]).headline()
    };
    cases.push(Case { action: Action::Verify, ..other("verify", "every position") });
    cases.push(Case { action: Action::Probe, ..other("probe", "warm, with all children") });
    cases
}

/// Our strategy with the best kernel, then every strategy with one position at a time; one thread,
/// so that work is compared with work.
fn one_by_one(layers: &'static str, board_memory: &'static str) -> Vec<Case> {
    let group = &format!("{layers} layers, 1 thread");
    let solve = |name: &str, more: &[&str]| {
        let arguments = [&["--layers", layers, "--threads", "1"], more].concat();
        Case::solve(group, &format!("{layers} layers, {name}"), &arguments).headline()
    };
    let ours = solve("ours", &[]);
    let ways = WAYS.iter().map(|(way, flags)| {
        let memory = if is_in_memory(flags) { board_memory } else { "1GiB" };
        let name = format!("{way}, one position at a time");
        solve(&name, &[flags, &["--kernel", "scalar", "--memory", memory][..]].concat())
    });
    [ours].into_iter().chain(ways).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_has_every_combination_in_order() {
        let list = |flag: &str, values: &[&str]| -> Vec<Argument> {
            values.iter().map(|value| [flag.to_owned(), (*value).to_owned()]).collect()
        };
        let (boards, threads) = (list("--layers", &["4", "5"]), list("--threads", &["1", "2"]));
        let names = |layouts: Vec<Argument>| -> Vec<String> {
            let lists = [boards.clone(), list("--codec", &[]), threads.clone(), layouts];
            product(&lists).into_iter().map(|case| case.row.name).collect()
        };
        let plain =
            ["--layers 4 --threads 1", "--layers 4 --threads 2", "--layers 5 --threads 1", "--layers 5 --threads 2"];
        assert_eq!(names(Vec::new()), plain);
        let layouts = [list("--bid-cells", &["(1,0)"]), list("--block-bits", &["9"])].concat();
        assert_eq!(names(layouts.clone()).len(), 8);
        assert_eq!(names(layouts)[0], "--layers 4 --threads 1 --bid-cells \"(1,0)\"");
    }

    #[test]
    fn cases_of_a_suite_have_names_of_their_own() {
        for suite in Suite::value_variants() {
            let cases = suite.cases();
            let names: BTreeSet<&str> = cases.iter().map(|case| case.row.name.as_str()).collect();
            assert_eq!(names.len(), cases.len(), "{suite:?}");
        }
    }
}
