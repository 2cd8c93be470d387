//! The cases to measure: the product of scans from the command line, and the suites.

use clap::ValueEnum;
use std::collections::BTreeSet;
use terminal::refusal::quoted;
use trinim::cli::board;
use trinim_game::Takes;
use trinim_papers::record::Row;

/// The cases of the suites.
const SUITES: &str = include_str!("suites.txt");

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

    fn value(&self, flag: &str) -> Option<&str> {
        self.arguments.iter().skip_while(|argument| *argument != flag).nth(1).map(String::as_str)
    }

    /// Returns the argument that names the file of the board, if it comes from a file.
    pub fn board_file(&self) -> Option<&str> {
        self.value("--board").filter(|board| board.starts_with("file:"))
    }

    /// Returns the number of cells of the board; 0 for one that cannot be read.
    pub fn cells(&self) -> u32 {
        let triangle = || format!("triangle:{}", self.value("--layers").unwrap_or_default());
        let name = self.value("--board").map_or_else(triangle, str::to_owned);
        board::read("--board", &name, Takes::ANY).map_or(0, |board| board.cells())
    }

    /// Returns the command without folders, for reports.
    pub fn command(&self) -> String {
        let solve = solve_words(&self.arguments).into_iter().map(quoted).collect::<Vec<_>>().join(" ");
        match self.action {
            Action::Solve => format!("trinim {solve}"),
            Action::Verify => format!("trinim verify (of trinim {solve})"),
            Action::Probe => format!("trinim probe (of trinim {solve})"),
        }
    }
}

/// Returns the command that solves with these arguments, without the program name: `solve`, which
/// has only update logs, or `papers solve` for another strategy.
pub fn solve_words(arguments: &[impl AsRef<str>]) -> Vec<&str> {
    let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
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
            Suite::Full => [listed("all", "7"), listed("all", "8")].concat(),
            Suite::Quick => listed("all", "7"),
            Suite::Peers => listed("scalar", "7"),
            Suite::Scalar => listed("scalar", "8"),
        })
    }
}

/// Returns the cases of a section of the list, for boards of this many layers.
fn listed(section: &str, layers: &str) -> Vec<Case> {
    let case = |line: &str| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [of, boards, length, group, name, flags] = fields[..] else { return None };
        let is_listed = of == section && boards.split(' ').any(|board| board == layers);
        let arguments: Vec<&str> = ["--layers", layers].into_iter().chain(flags.split_whitespace()).collect();
        let mut case = Case::solve(&format!("{layers} layers{group}"), &format!("{layers} layers, {name}"), &arguments);
        case.row.headline = length == "short";
        case.action = match group {
            ", verify" => Action::Verify,
            ", probe" => Action::Probe,
            _ => Action::Solve,
        };
        is_listed.then_some(case)
    };
    SUITES.lines().filter_map(case).collect()
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
        assert_eq!(names(layouts)[0], "--layers 4 --threads 1 --bid-cells '(1,0)'");
    }

    #[test]
    fn suites_have_every_listed_case_under_a_name_of_its_own() {
        for suite in Suite::value_variants() {
            let cases = suite.cases();
            let names: BTreeSet<&str> = cases.iter().map(|case| case.row.name.as_str()).collect();
            assert_eq!(names.len(), cases.len(), "{suite:?}");
        }
        let boards = SUITES.lines().filter_map(|line| line.split('|').nth(1)).map(|boards| boards.trim().split(' '));
        let of = |suite: Suite| suite.cases().iter().filter(|case| !case.row.again).count();
        let found = [Suite::Full, Suite::Peers, Suite::Scalar].map(of);
        assert_eq!((found.iter().sum::<usize>(), found), (boards.flatten().count(), [50, 9, 9]));
        let [quick, scalar] = [Suite::Quick, Suite::Scalar].map(|suite| suite.cases()[2].clone());
        assert_eq!((quick.command(), quick.row.headline), ("trinim solve --layers 7 --threads 1".to_owned(), true));
        let by_logs = "trinim solve --layers 8 --threads 1 --log-placement shared --kernel scalar --memory 1GiB";
        assert_eq!((&*scalar.row.group, &*scalar.command()), ("8 layers, 1 thread", by_logs));
    }
}
