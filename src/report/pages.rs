//! The whole report on one page, in HTML and in Markdown.

use super::drawings::Drawing;
use super::figures::{Figure, Kind};
use super::tables::{COUNTS_NOTE, COUNTS_TITLE, STARTS_NOTE, STARTS_TITLE, Tables, VARIANTS};
use super::{DatabaseRow, REPORT_JSON, rule_word};
use crate::game::Rule;
use crate::report::draw::svg::{escape, style};
use crate::report::draw::table::{Cell, Table};
use std::fmt::Write;

const TITLE: &str = "Triangular Nim, solved: tables and figures";
const LEAD: &str = "\
    Made by trinim report from databases of solved boards, with the published values of [SWLK12] and [LWS09] \
    beside the computed ones.";
const DRAWINGS_TITLE: &str = "Layouts, and Nim on the plane";
const REFERENCES: [&str; 2] = [
    "[SWLK12] Y.-C. Shan, I-C. Wu, H.-H. Lin, K.-Y. Kao: Solving Nine Layer Triangular Nim. \
     Journal of Information Science and Engineering 28, 2012.",
    "[LWS09] H.-H. Lin, I-C. Wu, Y.-C. Shan: Solving Eight Layer Triangular Nim (in Chinese). \
     National Computer Symposium, 2009.",
];

const PAGE_STYLE: &str = "\
:root{color-scheme:light dark}
body{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;line-height:1.5;max-width:72rem;margin:0 auto;padding:1rem;background:#fff;color:#222}
h2{margin-top:2.2rem}svg{max-width:100%;height:auto;display:block}figure{margin:1.2rem 0;overflow-x:auto}
figure svg{min-width:34rem}.contents{columns:14rem;padding-left:1.2rem}a{color:#0060a0}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}th,td{border:1px solid #d0d0d0;padding:.25rem .6rem;text-align:left;white-space:nowrap}
th{background:#f2f2f2}.number{text-align:right;font-variant-numeric:tabular-nums}
.bad{border:2px solid #d55e00;padding:.2rem 1rem;margin:1rem 0}.good{border-left:4px solid #009e73;padding-left:.8rem}
@media (prefers-color-scheme:dark){body{background:#16181c;color:#e6e6e6}a{color:#7ec3f5}th{background:#24272c}th,td{border-color:#3c4046}}
";

/// The contents of the pages.
pub(super) struct All<'a> {
    pub tables: &'a Tables,
    pub figures: &'a [Figure],
    pub databases: &'a [DatabaseRow],
    pub drawings: &'a [Drawing],
}

impl All<'_> {
    pub(super) fn markdown(&self) -> String {
        let mut text = format!("# {TITLE}\n\n{LEAD}\n\n");
        // Writing to a string cannot fail.
        let _ = match self.contradictions() {
            [] => writeln!(text, "{}\n", self.verdict()),
            found => {
                let lines: String = found.iter().map(|line| format!("- **{line}**\n")).collect();
                writeln!(text, "**{}**\n\n{lines}", self.verdict())
            }
        };
        let _ = writeln!(text, "## {STARTS_TITLE}\n\n{STARTS_NOTE}\n\n{}", self.tables.starts.markdown());
        if let Some(table) = &self.tables.variant_starts {
            let _ = writeln!(text, "{VARIANTS}\n\n{}", table.markdown());
        }
        let _ = writeln!(text, "{}\n", links("table-5", TABLE_FORMS, markdown_link));
        let _ = writeln!(text, "## {COUNTS_TITLE}\n\n{COUNTS_NOTE}\n\n{}", self.tables.counts.markdown());
        let _ = writeln!(text, "{}\n", links("table-4-1", TABLE_FORMS, markdown_link));
        for (heading, figure) in self.sections() {
            if let Some(heading) = heading {
                let _ = writeln!(text, "## {heading}\n");
            }
            let _ = writeln!(text, "![{}]({}.svg)\n", figure.title, figure.name);
            if figure.kind == Kind::Losses {
                let _ = writeln!(text, "{}", self.ratios(figure).markdown());
            }
            let _ = writeln!(text, "{}\n", links(&figure.name, FIGURE_FORMS, markdown_link));
        }
        let _ = writeln!(text, "## {DRAWINGS_TITLE}\n");
        for Drawing { name, title, .. } in self.drawings {
            let _ = writeln!(text, "![{title}]({name}.svg)\n");
        }
        let _ = writeln!(
            text,
            "## Databases\n\n{}\n[{REPORT_JSON}]({REPORT_JSON}) has them and the list of files.\n",
            self.database_table().markdown()
        );
        let references: String = REFERENCES.iter().map(|line| format!("- {line}\n")).collect();
        let _ = write!(text, "## References\n\n{references}");
        text
    }

    pub(super) fn html(&self) -> String {
        let mut body = format!("<h1>{}</h1>\n<p>{}</p>\n", escape(TITLE), escape(LEAD));
        // Writing to a string cannot fail.
        let _ = match self.contradictions() {
            [] => writeln!(body, "<p class=\"good\">{}</p>", escape(&self.verdict())),
            found => {
                let lines: String = found.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
                writeln!(
                    body,
                    "<div class=\"bad\" role=\"alert\"><p><strong>{}</strong></p>\n<ul>\n{lines}</ul></div>",
                    escape(&self.verdict())
                )
            }
        };
        body += &self.contents();
        let mut section = |title: &str, note: &str, tables: &str, name: &str| {
            let links = links(name, TABLE_FORMS, html_link);
            let _ = writeln!(
                body,
                "<h2 id=\"{name}\">{}</h2>\n<p>{}</p>\n{tables}<p>{links}</p>",
                escape(title),
                escape(note)
            );
        };
        let variants = self.tables.variant_starts.as_ref();
        let variants = variants.map_or(String::new(), |table| format!("<p>{VARIANTS}</p>\n{}", table.html()));
        section(STARTS_TITLE, STARTS_NOTE, &(self.tables.starts.html() + &variants), "table-5");
        section(COUNTS_TITLE, COUNTS_NOTE, &self.tables.counts.html(), "table-4-1");
        for (heading, figure) in self.sections() {
            if let Some(heading) = heading {
                let _ = writeln!(body, "<h2 id=\"{}\">{}</h2>", escape(&figure.name), escape(&heading));
            }
            let links = links(&figure.name, FIGURE_FORMS, html_link);
            let _ = writeln!(
                body,
                "<figure>\n{}<figcaption>{links}</figcaption>\n</figure>",
                figure.svg.inline(&figure.name)
            );
            if figure.kind == Kind::Losses {
                body.push_str(&self.ratios(figure).html());
            }
        }
        let _ = writeln!(body, "<h2>{}</h2>", escape(DRAWINGS_TITLE));
        for Drawing { name, svg, .. } in self.drawings {
            let link = html_link(&format!("{name}.svg"), "SVG");
            let _ = writeln!(body, "<figure>\n{}<figcaption>{link}</figcaption>\n</figure>", svg.inline(name));
        }
        let _ = writeln!(
            body,
            "<h2 id=\"databases\">Databases</h2>\n{}<p>{} has them and the list of files.</p>",
            self.database_table().html(),
            html_link(REPORT_JSON, REPORT_JSON)
        );
        let references: String = REFERENCES.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
        let _ = writeln!(body, "<h2>References</h2>\n<ul>\n{references}</ul>");
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{}</title>\n\
             <style>\n{PAGE_STYLE}{}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
            escape(TITLE),
            style()
        )
    }

    /// Returns the list of sections with links, for the page.
    fn contents(&self) -> String {
        let tables = [("table-5", STARTS_TITLE.to_owned()), ("table-4-1", COUNTS_TITLE.to_owned())];
        let figures = self.sections().filter_map(|(heading, figure)| Some((&*figure.name, heading?)));
        let sections = tables.into_iter().chain(figures).chain([("databases", "Databases".to_owned())]);
        let items = sections.map(|(name, title)| format!("<li>{}</li>\n", html_link(&format!("#{name}"), &title)));
        format!("<nav aria-label=\"Contents\"><ul class=\"contents\">\n{}</ul></nav>\n", items.collect::<String>())
    }

    fn contradictions(&self) -> &[String] {
        &self.tables.contradictions
    }

    fn verdict(&self) -> String {
        match self.contradictions().len() {
            0 => "No published value is contradicted.".to_owned(),
            1 => "1 published value is contradicted:".to_owned(),
            several => format!("{several} published values are contradicted:"),
        }
    }

    /// Returns the figures, each with the heading above it if it begins a section.
    fn sections(&self) -> impl Iterator<Item = (Option<String>, &Figure)> {
        self.figures.iter().map(|figure| {
            let heading = match figure.kind {
                // The picture has its full title.
                Kind::Losses => Some("All boards".to_owned()),
                Kind::Moves => figure.title.split_once(", ").map(|(_, game)| game.to_owned()),
                Kind::Pieces => None,
            };
            (heading, figure)
        })
    }

    /// Returns the numbers of figure 13 that the tables before it do not have.
    fn ratios(&self, figure: &Figure) -> Table {
        let table =
            ["positions", "wins", "losses"].iter().fold(figure.table.clone(), |table, column| table.without(column));
        self.for_people(table)
    }

    /// Hides the limit of pieces a move unless a game has one.
    fn for_people(&self, table: Table) -> Table {
        if self.databases.iter().any(|row| row.max_take.is_some()) { table } else { table.without("max_take") }
    }

    fn database_table(&self) -> Table {
        let mut table = Table::new(&[
            ("k", "layers"),
            ("rule", "rule"),
            ("at most", "max_take"),
            ("losses", "losses"),
            ("start", "start"),
            ("winning first moves", "winning_first_moves"),
            ("digest", "digest"),
        ]);
        for row in self.databases {
            let rule = row.rule.parse::<Rule>().map_or(row.rule.clone(), |rule| rule_word(rule).to_owned());
            table.row(vec![
                Cell::count(row.layers.into()),
                Cell::word(rule),
                Cell::of(row.max_take, |take| Cell::count(take.into())),
                Cell::count(row.losses),
                Cell::word(&*row.start),
                Cell::count(row.winning_first_moves),
                Cell::word(&*row.digest),
            ]);
        }
        self.for_people(table)
    }
}

const TABLE_FORMS: [&str; 3] = ["md", "csv", "json"];
const FIGURE_FORMS: [&str; 3] = ["svg", "csv", "json"];

fn links(name: &str, forms: [&str; 3], link: fn(&str, &str) -> String) -> String {
    forms.map(|form| link(&format!("{name}.{form}"), &form.to_uppercase())).join(" · ")
}

fn markdown_link(file: &str, text: &str) -> String {
    format!("[{text}]({file})")
}

fn html_link(file: &str, text: &str) -> String {
    format!("<a href=\"{}\">{}</a>", escape(file), escape(text))
}
