//! The whole report on one page, in HTML and in Markdown.

use super::drawings::Drawing;
use super::figures::{Figure, Kind};
use super::tables::{PageTable, Tables, VARIANTS};
use super::{DatabaseRow, REPORT_JSON, rule_word};
use crate::report::draw::svg::{Svg, escape, style};
use crate::report::draw::table::{Cell, Table};
use trinim_game::Rule;

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

pub(super) struct All<'a> {
    pub tables: &'a Tables,
    pub figures: &'a [Figure],
    pub databases: &'a [DatabaseRow],
    pub drawings: &'a [Drawing],
}

/// A page under construction, in one of two forms.
struct Page {
    is_html: bool,
    text: String,
}

impl Page {
    fn put(&mut self, markdown: impl FnOnce() -> String, html: impl FnOnce() -> String) {
        self.text += &if self.is_html { html() } else { markdown() };
    }

    /// Begins a section, under a name that others may link to.
    fn heading(&mut self, name: Option<&str>, title: &str) {
        let id = name.map_or(String::new(), |name| format!(" id=\"{}\"", escape(name)));
        self.put(|| format!("## {title}\n\n"), || format!("<h2{id}>{}</h2>\n", escape(title)));
    }

    fn paragraph(&mut self, text: &str) {
        self.put(|| format!("{text}\n\n"), || format!("<p>{}</p>\n", escape(text)));
    }

    fn table(&mut self, table: &Table) {
        self.put(|| table.markdown() + "\n", || table.html());
    }

    fn link(&self, file: &str, text: &str) -> String {
        if self.is_html { html_link(file, text) } else { format!("[{text}]({file})") }
    }

    fn links(&self, name: &str, forms: [&str; 3]) -> String {
        forms.map(|form| self.link(&format!("{name}.{form}"), &form.to_uppercase())).join(" · ")
    }

    fn linked(&mut self, links: &str) {
        self.put(|| format!("{links}\n\n"), || format!("<p>{links}</p>\n"));
    }

    /// A picture, which the page has in itself and Markdown beside it.
    fn picture(&mut self, name: &str, title: &str, svg: &Svg, links: &str) {
        self.put(
            || format!("![{title}]({name}.svg)\n\n"),
            || format!("<figure>\n{}<figcaption>{links}</figcaption>\n</figure>\n", svg.inline(name)),
        );
    }
}

impl All<'_> {
    pub(super) fn markdown(&self) -> String {
        let begun = format!("# {TITLE}\n\n{LEAD}\n\n");
        self.written(Page { is_html: false, text: begun })
    }

    pub(super) fn html(&self) -> String {
        let begun = format!("<h1>{}</h1>\n<p>{}</p>\n", escape(TITLE), escape(LEAD));
        let body = self.written(Page { is_html: true, text: begun });
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{}</title>\n\
             <style>\n{PAGE_STYLE}{}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
            escape(TITLE),
            style()
        )
    }

    fn written(&self, mut page: Page) -> String {
        let (found, verdict) = (&self.tables.contradictions, self.verdict());
        let marked: String = found.iter().map(|line| format!("- **{line}**\n")).collect();
        match found.is_empty() {
            true => page.put(|| format!("{verdict}\n\n"), || format!("<p class=\"good\">{}</p>\n", escape(&verdict))),
            false => page.put(
                || format!("**{verdict}**\n\n{}\n", marked),
                || {
                    let (verdict, list) = (escape(&verdict), html_list(found));
                    format!("<div class=\"bad\" role=\"alert\"><p><strong>{verdict}</strong></p>\n{list}</div>\n")
                },
            ),
        }
        page.put(String::new, || self.contents());
        for PageTable { name, title, note, table, variants } in &self.tables.shown {
            page.heading(Some(name), title);
            page.paragraph(note);
            page.table(table);
            if let Some(table) = variants {
                page.paragraph(VARIANTS);
                page.table(table);
            }
            page.linked(&page.links(name, ["md", "csv", "json"]));
        }
        for (heading, figure) in self.sections() {
            if let Some(heading) = heading {
                page.heading(Some(&figure.name), &heading);
            }
            let links = page.links(&figure.name, ["svg", "csv", "json"]);
            page.picture(&figure.name, &figure.title, &figure.svg, &links);
            if figure.kind == Kind::Losses {
                page.table(&self.ratios(figure));
            }
            // On the page they are below the picture.
            page.put(|| format!("{links}\n\n"), String::new);
        }
        page.heading(None, DRAWINGS_TITLE);
        for Drawing { name, title, svg } in self.drawings {
            let link = page.link(&format!("{name}.svg"), "SVG");
            page.picture(name, title, svg, &link);
        }
        page.heading(Some("databases"), "Databases");
        page.table(&self.database_table());
        page.linked(&format!("{} has them and the list of files.", page.link(REPORT_JSON, REPORT_JSON)));
        page.heading(None, "References");
        page.put(|| REFERENCES.iter().map(|line| format!("- {line}\n")).collect(), || html_list(&REFERENCES) + "\n");
        page.text
    }

    /// Returns the list of sections with links, for the page.
    fn contents(&self) -> String {
        let tables = self.tables.shown.iter().map(|table| (table.name, table.title.to_owned()));
        let figures = self.sections().filter_map(|(heading, figure)| Some((&*figure.name, heading?)));
        let sections = tables.chain(figures).chain([("databases", "Databases".to_owned())]);
        let items = sections.map(|(name, title)| format!("<li>{}</li>\n", html_link(&format!("#{name}"), &title)));
        format!("<nav aria-label=\"Contents\"><ul class=\"contents\">\n{}</ul></nav>\n", items.collect::<String>())
    }

    fn verdict(&self) -> String {
        match self.tables.contradictions.len() {
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
                Kind::Pieces | Kind::Distances => None,
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
        let rule = |rule: &str| rule.parse().map_or(rule.to_owned(), |rule: Rule| rule_word(rule).to_owned());
        self.for_people(Table::new(
            self.databases,
            &[
                ("k", "layers", &|row| Cell::count(row.layers)),
                ("rule", "rule", &|row| Cell::word(rule(&row.rule))),
                ("at most", "max_take", &|row| Cell::from_option(row.max_take, Cell::count)),
                ("losses", "losses", &|row| Cell::count(row.losses)),
                ("start", "start", &|row| Cell::word(&*row.start)),
                ("winning first moves", "winning_first_moves", &|row| Cell::count(row.winning_first_moves)),
                ("digest", "digest", &|row| Cell::word(&*row.digest)),
            ],
        ))
    }
}

fn html_link(file: &str, text: &str) -> String {
    format!("<a href=\"{}\">{}</a>", escape(file), escape(text))
}

fn html_list(lines: &[impl AsRef<str>]) -> String {
    let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", escape(line.as_ref()))).collect();
    format!("<ul>\n{items}</ul>")
}
