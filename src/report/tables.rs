//! The two tables of the papers, compared with the published values.

use super::{Document, Game, Solution, document, json, lines, rule_word};
use crate::game::LAYERS_MAX;
use crate::game::Rule;
use crate::game::Value;
use crate::game::published;
use crate::report::draw::table::{Cell, Table};
use serde::Serialize;

/// The tables with their files and the contradictions found.
pub(super) struct Tables {
    /// The values of the start, for people.
    pub starts: Table,
    /// The values of the start of variants, if there are any.
    pub variant_starts: Option<Table>,
    /// The counts, for people.
    pub counts: Table,
    /// Every contradiction in a sentence.
    pub contradictions: Vec<String>,
    /// The files of the tables.
    pub documents: Vec<Document>,
}

pub(super) const STARTS_TITLE: &str = "Table 5: value of the start";
pub(super) const COUNTS_TITLE: &str = "Table 4-1: wins, losses and loss rate";

/// A value of the start, computed and published.
#[derive(Clone, Copy, Serialize)]
struct Start {
    computed: Option<&'static str>,
    published: Option<&'static str>,
    agrees: Option<bool>,
}

#[derive(Serialize)]
struct StartRow {
    layers: u32,
    max_take: Option<u32>,
    normal: Start,
    misere: Start,
}

#[derive(Serialize)]
struct Head<'a> {
    title: &'a str,
    source: &'a str,
}

fn value_word(value: Value) -> &'static str {
    if value.is_loss() { "Loss" } else { "Win" }
}

/// Returns whether both agree, `None` if one is missing.
fn agreement<T: PartialEq>(computed: Option<T>, published: Option<T>) -> Option<bool> {
    Some(computed? == published?)
}

impl Tables {
    pub(super) fn new(solutions: &[Solution]) -> Tables {
        let mut contradictions = Vec::new();
        let starts = start_rows(solutions, &mut contradictions);
        let all_counts = count_table(solutions, &mut contradictions);
        let all_starts = start_table(&starts);
        let of_papers: Vec<&StartRow> = starts.iter().filter(|row| row.max_take.is_none()).collect();
        let of_variants: Vec<&StartRow> = starts.iter().filter(|row| row.max_take.is_some()).collect();
        let has_variants = !of_variants.is_empty();
        let starts_shown = start_table(of_papers).without("max_take");
        let counts_shown = if has_variants { all_counts.clone() } else { all_counts.without("max_take") };
        let variant_starts = has_variants.then(|| start_table(of_variants));
        let markdown = |title: &str, note: &str, tables: &[&Table]| {
            let tables: Vec<String> = tables.iter().map(|table| table.markdown()).collect();
            format!("# {title}\n\n{note}\n\n{}", tables.join(&format!("\n{VARIANTS}\n\n")))
        };
        let start_tables: Vec<&Table> = std::iter::once(&starts_shown).chain(&variant_starts).collect();
        let (starts_md, counts_md) =
            (markdown(STARTS_TITLE, STARTS_NOTE, &start_tables), markdown(COUNTS_TITLE, COUNTS_NOTE, &[&counts_shown]));
        let starts_json = json(&Head { title: STARTS_TITLE, source: "[SWLK12] table 5" }, &[("rows", lines(&starts))]);
        let counts_json =
            json(&Head { title: COUNTS_TITLE, source: "[LWS09] table 4-1" }, &[("rows", all_counts.json_lines())]);
        let documents = vec![
            document("table-5.md".into(), STARTS_TITLE, starts_md),
            document("table-5.csv".into(), STARTS_TITLE, all_starts.csv()),
            document("table-5.json".into(), STARTS_TITLE, starts_json),
            document("table-4-1.md".into(), COUNTS_TITLE, counts_md),
            document("table-4-1.csv".into(), COUNTS_TITLE, all_counts.csv()),
            document("table-4-1.json".into(), COUNTS_TITLE, counts_json),
        ];
        Tables { starts: starts_shown, variant_starts, counts: counts_shown, contradictions, documents }
    }
}

/// The line above the table of variants.
pub(super) const VARIANTS: &str = "Variants with a limit of pieces a move:";
pub(super) const STARTS_NOTE: &str = "\
    Win or loss for the player who moves first; published in [SWLK12] table 5. - where no database was given or \
    nothing is published.";
pub(super) const COUNTS_NOTE: &str = "\
    Published in [LWS09] table 4-1, for misère play and up to eight layers; the rate of nine layers in the text \
    of [SWLK12]. Rates are compared in the digits that are printed.";

/// Returns the papers' boards, with or without a database, then the variants in the databases.
fn start_rows(solutions: &[Solution], contradictions: &mut Vec<String>) -> Vec<StartRow> {
    let mut boards: Vec<(Option<u32>, u32)> = (1..=published::LAYERS).map(|layers| (None, layers)).collect();
    boards.extend(solutions.iter().map(|solution| (solution.max_take, solution.layers())));
    boards.sort_unstable();
    boards.dedup();
    let mut row = |(max_take, layers)| {
        let mut start = |rule| {
            let game = Game { max_take, rule, layers };
            let computed = find(solutions, game).map(|solution| solution.census.start());
            let published = published::start(layers, rule).filter(|_| max_take.is_none());
            let agrees = agreement(computed, published);
            if let (Some(computed), Some(published), Some(false)) = (computed, published, agrees) {
                contradictions.push(format!("{}: the start is a {computed}, published as a {published}", game.words()));
            }
            Start { computed: computed.map(value_word), published: published.map(value_word), agrees }
        };
        StartRow { layers, max_take, normal: start(Rule::Normal), misere: start(Rule::Misere) }
    };
    boards.into_iter().map(&mut row).collect()
}

fn start_table<'a>(rows: impl IntoIterator<Item = &'a StartRow>) -> Table {
    let mut table = Table::new(&[
        ("k", "layers"),
        ("at most", "max_take"),
        ("normal", "normal"),
        ("published", "normal_published"),
        ("agrees", "normal_agrees"),
        ("misère", "misere"),
        ("published", "misere_published"),
        ("agrees", "misere_agrees"),
    ]);
    for row in rows {
        let mut cells = vec![Cell::count(row.layers), Cell::of(row.max_take, Cell::count)];
        for start in [row.normal, row.misere] {
            cells.extend([Cell::of(start.computed, Cell::word), Cell::of(start.published, Cell::word)]);
            cells.push(Cell::of(start.agrees, Cell::verdict));
        }
        table.row(cells);
    }
    table
}

fn find(solutions: &[Solution], game: Game) -> Option<&Solution> {
    solutions.iter().find(|solution| solution.game() == game)
}

/// Returns every game with a computed or published count.
fn count_table(solutions: &[Solution], contradictions: &mut Vec<String>) -> Table {
    let mut games: Vec<Game> = solutions.iter().map(Solution::game).collect();
    for rule in Rule::ALL {
        let boards = (1..=LAYERS_MAX).filter(|layers| published::rate(*layers, rule).is_some());
        games.extend(boards.map(|layers| Game { max_take: None, rule, layers }));
    }
    games.sort_by_key(|game| game.key());
    games.dedup();
    let mut table = Table::new(&[
        ("k", "layers"),
        ("rule", "rule"),
        ("at most", "max_take"),
        ("positions", "positions"),
        ("wins", "wins"),
        ("losses", "losses"),
        ("loss rate", "loss_rate"),
        ("published wins", "published_wins"),
        ("published losses", "published_losses"),
        ("published rate", "published_loss_percent"),
        ("agrees", "agrees"),
    ]);
    for game in games {
        let Game { max_take, rule, layers } = game;
        let census = find(solutions, game).map(|solution| &solution.census);
        let counts = published::counts(layers, rule).filter(|_| max_take.is_none());
        let rate = published::rate(layers, rule).filter(|_| max_take.is_none());
        let mut agrees = None;
        if let Some(census) = census {
            let found = compare(game, [census.wins(), census.losses()], census.loss_rate(), counts, rate);
            agrees = (counts.is_some() || rate.is_some()).then_some(found.is_empty());
            contradictions.extend(found);
        }
        table.row(vec![
            Cell::count(layers),
            Cell::words(rule_word(rule), rule.name()),
            Cell::of(max_take, Cell::count),
            Cell::count(1u64 << (layers * (layers + 1) / 2)),
            Cell::of(census, |census| Cell::count(census.wins())),
            Cell::of(census, |census| Cell::count(census.losses())),
            Cell::of(census, |census| Cell::share(census.loss_rate())),
            Cell::of(counts, |counts| Cell::count(counts.wins)),
            Cell::of(counts, |counts| Cell::count(counts.losses)),
            Cell::of(rate, |rate| Cell::number(format!("{} %", rate.percent), rate.percent)),
            Cell::of(agrees, Cell::verdict),
        ]);
    }
    table
}

/// Returns the contradictions in the counts of a game, as sentences.
fn compare(
    game: Game,
    [wins, losses]: [u64; 2],
    loss_rate: f64,
    counts: Option<published::Counts>,
    rate: Option<published::Rate>,
) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(published) = counts {
        for (what, computed, published) in [("wins", wins, published.wins), ("losses", losses, published.losses)] {
            if computed != published {
                found.push(format!("{}: {computed} {what}, published as {published}", game.words()));
            }
        }
    }
    if let Some(published) = rate.filter(|published| !published.agrees(loss_rate)) {
        let (percent, printed) = (loss_rate * 100.0, published.percent);
        found.push(format!("{}: a loss rate of {percent:.4} %, published as {printed} %", game.words()));
    }
    found
}
