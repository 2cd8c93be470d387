//! `report.md`: all tables and figures on one page.

use super::figures::Figure;
use super::tables::{Table, Tables, board_words};
use super::{DatabaseRow, REPORT_JSON};
use crate::table::markdown;
use trinim_game::amount::grouped;

const LEAD: &str = "\
# Triangular Nim, solved: tables and figures

Made by trinim papers report from databases of solved boards, with the published values of [SWLK12] and [LWS09] beside \
the computed ones.
";
const REFERENCES: &str = "\
- [SWLK12] Y.-C. Shan, I-C. Wu, H.-H. Lin, K.-Y. Kao: Solving Nine Layer Triangular Nim. Journal of Information \
Science and Engineering 28, 2012.
- [LWS09] H.-H. Lin, I-C. Wu, Y.-C. Shan: Solving Eight Layer Triangular Nim (in Chinese). National Computer \
Symposium, 2009.
";

pub(super) fn page(tables: &Tables, figures: &[Figure], databases: &[DatabaseRow]) -> String {
    let mut page = format!("{LEAD}\n{}\n", verdict(&tables.contradictions));
    for Table { title, note, text } in &tables.shown {
        page += &format!("## {title}\n\n{note}\n\n{text}\n");
    }
    for Figure { heading, name, title, csv, .. } in figures {
        page.extend(heading.iter().map(|heading| format!("## {heading}\n\n")));
        page += &format!("![{title}]({name}.svg)\n\n");
        page.extend(csv.iter().map(|_| format!("[Numbers]({name}.csv)\n\n")));
    }
    let row = |row: &DatabaseRow| {
        vec![
            board_words(row.layers, row.max_take),
            row.rule.replace("misere", "misère"),
            grouped(row.losses),
            row.start.clone(),
            grouped(row.winning_first_moves),
            row.digest.clone(),
        ]
    };
    let heads = "k: | rule | losses: | start | winning first moves: | digest";
    let databases = markdown(heads, &databases.iter().map(row).collect::<Vec<_>>());
    page += &format!("## Databases\n\n{databases}\n[{REPORT_JSON}]({REPORT_JSON}) has them and the list of files.\n\n");
    page + "## References\n\n" + REFERENCES
}

fn verdict(contradictions: &[String]) -> String {
    let several = match contradictions {
        [] => return "No published value is contradicted.\n".to_owned(),
        [_] => "1 published value is contradicted:".to_owned(),
        several => format!("{} published values are contradicted:", several.len()),
    };
    let listed: String = contradictions.iter().map(|line| format!("- **{line}**\n")).collect();
    format!("**{several}**\n\n{listed}")
}
