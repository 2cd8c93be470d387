//! `report.md`: all tables and figures on one page, in the places that `page.txt` names.

use super::figures::Figure;
use super::tables::{board_words, counts, moves, rules, starts};
use super::{DatabaseRow, Solution, rule_word};
use trinim_game::amount::grouped;
use trinim_papers::table::markdown;

/// Makes the page and adds the contradictions in its tables. Tables that only count and compare
/// have all `known` solutions, also those that are built in.
pub(super) fn page(
    solutions: &[Solution],
    known: &[&Solution],
    figures: &[Figure],
    databases: &[DatabaseRow],
    contradictions: &mut Vec<String>,
) -> String {
    let (starts, counts) = (starts(solutions, contradictions), counts(solutions, contradictions));
    let shown = |Figure { heading, name, title, csv, .. }: &Figure| {
        let heading = heading.iter().map(|heading| format!("## {heading}\n\n"));
        let picture = format!("![{title}]({name}.svg)\n\n");
        let numbers = csv.iter().map(|_| format!("[Numbers]({name}.csv)\n\n"));
        heading.chain([picture]).chain(numbers).collect::<String>()
    };
    let row = |row: &DatabaseRow| {
        vec![
            board_words(row.layers, row.max_take),
            rule_word(row.rule).to_owned(),
            grouped(row.losses),
            row.start.to_string(),
            grouped(row.winning_first_moves),
            row.digest.clone(),
        ]
    };
    let heads = "k: | rule | losses: | start | winning first moves: | digest";
    let databases = markdown(heads, &databases.iter().map(row).collect::<Vec<_>>());
    let places = [
        ("{verdict}", verdict(contradictions)),
        ("{starts}", starts),
        ("{counts}", counts),
        ("{rules}", rules(known)),
        ("{moves}", moves(known)),
        ("{figures}\n", figures.iter().map(shown).collect()),
        ("{databases}", databases),
    ];
    places.iter().fold(include_str!("page.txt").to_owned(), |page, (place, text)| page.replace(place, text))
}

fn verdict(contradictions: &[String]) -> String {
    let several = match contradictions {
        [] => return "No published value is contradicted.\n".to_owned(),
        [_] => "1 published value is",
        several => &format!("{} published values are", several.len()),
    };
    let listed: String = contradictions.iter().map(|line| format!("- **{line}**\n")).collect();
    format!("**{several} contradicted:**\n\n{listed}")
}
