//! Tables as Markdown, CSV, HTML and rows of JSON.
//!
//! CSV and JSON have plain numbers; Markdown and HTML have groups of three digits and units. A
//! [`Cell`] therefore has one text for people and one for programs. An empty cell is `-`, null in
//! JSON, and every row has as many cells as there are columns.

use super::svg::escape;
use serde_json::Value;
use std::fmt::Write;
use trinim_game::amount::grouped;

pub const NOTHING: &str = "-";

/// Formats a field of CSV, quoted where RFC 4180 requires it.
pub fn csv_field(text: &str) -> String {
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// One cell, for people and for programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    shown: String,
    plain: String,
    right: bool,
    value: Value,
}

impl Cell {
    /// Creates a cell with one word for both.
    pub fn word(text: impl Into<String>) -> Cell {
        let text = text.into();
        Cell::words(text.clone(), text)
    }

    /// Creates a cell whose word differs between people and programs.
    pub fn words(shown: impl Into<String>, plain: impl Into<String>) -> Cell {
        let plain = plain.into();
        Cell { shown: shown.into(), value: Value::from(&*plain), plain, right: false }
    }

    /// Creates a number whose form differs between people and programs.
    pub fn number(shown: impl Into<String>, plain: impl Into<String>) -> Cell {
        Cell { right: true, ..Cell::words(shown, plain) }
    }

    pub fn count(number: impl Into<u64>) -> Cell {
        let number = number.into();
        Cell { value: number.into(), ..Cell::number(grouped(number), number.to_string()) }
    }

    /// Creates a share from 0 to 1: per cent with four decimals for people, eight decimals for
    /// programs.
    pub fn share(share: f64) -> Cell {
        Cell { value: share.into(), ..Cell::number(format!("{:.4} %", share * 100.0), format!("{share:.8}")) }
    }

    /// Creates a verdict: yes or no, and a no that people see.
    pub fn verdict(good: bool) -> Cell {
        Cell { value: good.into(), ..if good { Cell::word("yes") } else { Cell::words("NO", "no") } }
    }

    pub fn nothing() -> Cell {
        Cell { value: Value::Null, ..Cell::word(NOTHING) }
    }

    /// Returns the cell that `cell` makes from the value, or an empty one.
    pub fn from_option<T>(value: Option<T>, cell: impl Fn(T) -> Cell) -> Cell {
        value.map_or_else(Cell::nothing, cell)
    }
}

/// A column: its header for people, its header for programs, and the cell of a row.
pub type Column<'a, R> = (&'static str, &'static str, &'a dyn Fn(&R) -> Cell);

#[derive(Clone, Debug)]
pub struct Table {
    /// Column headers for people and for programs.
    columns: Vec<(&'static str, &'static str)>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub fn new<R>(rows: impl IntoIterator<Item = R>, columns: &[Column<'_, R>]) -> Table {
        Table {
            columns: columns.iter().map(|(shown, plain, _)| (*shown, *plain)).collect(),
            rows: rows.into_iter().map(|row| columns.iter().map(|(.., cell)| cell(&row)).collect()).collect(),
        }
    }

    /// Returns the table without the column that has this header for programs.
    pub fn without(&self, column: &str) -> Table {
        let keep: Vec<bool> = self.columns.iter().map(|(_, plain)| *plain != column).collect();
        fn kept<T: Clone>(all: &[T], keep: &[bool]) -> Vec<T> {
            all.iter().zip(keep).filter(|(_, keep)| **keep).map(|(one, _)| one.clone()).collect()
        }
        Table { columns: kept(&self.columns, &keep), rows: self.rows.iter().map(|row| kept(row, &keep)).collect() }
    }

    fn is_right(&self, column: usize) -> bool {
        self.rows.iter().any(|row| row[column].right)
    }

    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = String>| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
        };
        line(&mut self.columns.iter().map(|(shown, _)| (*shown).to_owned()));
        line(
            &mut (0..self.columns.len()).map(|column| (if self.is_right(column) { "---:" } else { "---" }).to_owned()),
        );
        for row in &self.rows {
            line(&mut row.iter().map(|cell| cell.shown.replace('|', "\\|")));
        }
        text
    }

    /// Returns the table as CSV (RFC 4180, but with plain line feeds).
    pub fn csv(&self) -> String {
        let heads = self.columns.iter().map(|(_, plain)| csv_field(plain)).collect::<Vec<_>>().join(",");
        let rows =
            self.rows.iter().map(|row| row.iter().map(|cell| csv_field(&cell.plain)).collect::<Vec<_>>().join(","));
        std::iter::once(heads).chain(rows).map(|line| line + "\n").collect()
    }

    /// Returns each row as a JSON object, with the headers for programs as names.
    pub fn json_lines(&self) -> Vec<String> {
        let field = |((_, name), cell): (&(_, &str), &Cell)| format!("\"{name}\":{}", cell.value);
        let row = |cells: &Vec<Cell>| self.columns.iter().zip(cells).map(field).collect::<Vec<_>>().join(",");
        self.rows.iter().map(|cells| format!("{{{}}}", row(cells))).collect()
    }

    pub fn html(&self) -> String {
        let class = |column: usize| if self.is_right(column) { " class=\"number\"" } else { "" };
        let row = |tag: &str, cells: &mut dyn Iterator<Item = &str>| -> String {
            let cells =
                cells.enumerate().map(|(column, text)| format!("<{tag}{}>{}</{tag}>", class(column), escape(text)));
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        let head = row("th", &mut self.columns.iter().map(|(shown, _)| *shown));
        let rows: String =
            self.rows.iter().map(|cells| row("td", &mut cells.iter().map(|cell| cell.shown.as_str()))).collect();
        format!("<div class=\"wide\"><table>\n<thead>{head}</thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_table_is_written_four_ways() {
        let rows = [(Some("a \"b\", <c|d>"), Some(1234u64), 0.0726), (None, None, 0.5)];
        let table = Table::new(
            rows,
            &[
                ("name", "name", &|row| Cell::from_option(row.0, Cell::word)),
                ("losses", "losses", &|row| Cell::from_option(row.1, Cell::count)),
                ("rate", "loss_rate", &|row| Cell::share(row.2)),
            ],
        );
        assert_eq!(
            table.markdown(),
            "| name | losses | rate |\n| --- | ---: | ---: |\n\
             | a \"b\", <c\\|d> | 1,234 | 7.2600 % |\n| - | - | 50.0000 % |\n"
        );
        assert_eq!(table.csv(), "name,losses,loss_rate\n\"a \"\"b\"\", <c|d>\",1234,0.07260000\n-,-,0.50000000\n");
        assert_eq!(
            table.json_lines(),
            [
                "{\"name\":\"a \\\"b\\\", <c|d>\",\"losses\":1234,\"loss_rate\":0.0726}",
                "{\"name\":null,\"losses\":null,\"loss_rate\":0.5}"
            ]
        );
        let html = table.html();
        assert!(html.contains("<td>a &quot;b&quot;, &lt;c|d&gt;</td><td class=\"number\">1,234</td>"), "{html}");
        roxmltree::Document::parse(&html).unwrap();
        assert_eq!(table.without("loss_rate").csv().lines().next(), Some("name,losses"));
    }
}
