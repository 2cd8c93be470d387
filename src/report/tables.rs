//! The two tables of the papers, compared with the published values.

use super::{Document, Game, Solution, document, lines, object, rule_word};
use crate::database::census::Census;
use crate::report::draw::table::{Cell, Table};
use serde::Serialize;
use serde_json::json;
use trinim_game::published;
use trinim_game::{LAYERS_MAX, Rule, Value};

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

/// A game with a computed or published count.
struct CountRow<'a> {
    game: Game,
    census: Option<&'a Census>,
    counts: Option<published::Counts>,
    rate: Option<published::Rate>,
    agrees: Option<bool>,
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
        let json = |title: &str, source: &str, rows| {
            object(&[("title", json!(title)), ("source", json!(source))], &[("rows", rows)])
        };
        let starts_json = json(STARTS_TITLE, "[SWLK12] table 5", lines(&starts));
        let counts_json = json(COUNTS_TITLE, "[LWS09] table 4-1", all_counts.json_lines());
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
    boards.extend(solutions.iter().map(|solution| (solution.max_take, solution.layers)));
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
    Table::of(
        rows,
        &[
            ("k", "layers", &|row| Cell::count(row.layers)),
            ("at most", "max_take", &|row| Cell::of(row.max_take, Cell::count)),
            ("normal", "normal", &|row| Cell::of(row.normal.computed, Cell::word)),
            ("published", "normal_published", &|row| Cell::of(row.normal.published, Cell::word)),
            ("agrees", "normal_agrees", &|row| Cell::of(row.normal.agrees, Cell::verdict)),
            ("misère", "misere", &|row| Cell::of(row.misere.computed, Cell::word)),
            ("published", "misere_published", &|row| Cell::of(row.misere.published, Cell::word)),
            ("agrees", "misere_agrees", &|row| Cell::of(row.misere.agrees, Cell::verdict)),
        ],
    )
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
    let row = |game: Game| {
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
        CountRow { game, census, counts, rate, agrees }
    };
    let percent = |rate: published::Rate| Cell::number(format!("{} %", rate.percent), rate.percent);
    Table::of(
        games.into_iter().map(row),
        &[
            ("k", "layers", &|row| Cell::count(row.game.layers)),
            ("rule", "rule", &|row| Cell::words(rule_word(row.game.rule), row.game.rule.name())),
            ("at most", "max_take", &|row| Cell::of(row.game.max_take, Cell::count)),
            ("positions", "positions", &|row| Cell::count(1u64 << (row.game.layers * (row.game.layers + 1) / 2))),
            ("wins", "wins", &|row| Cell::of(row.census, |census| Cell::count(census.wins()))),
            ("losses", "losses", &|row| Cell::of(row.census, |census| Cell::count(census.losses()))),
            ("loss rate", "loss_rate", &|row| Cell::of(row.census, |census| Cell::share(census.loss_rate()))),
            ("published wins", "published_wins", &|row| Cell::of(row.counts, |counts| Cell::count(counts.wins))),
            ("published losses", "published_losses", &|row| Cell::of(row.counts, |counts| Cell::count(counts.losses))),
            ("published rate", "published_loss_percent", &|row| Cell::of(row.rate, percent)),
            ("agrees", "agrees", &|row| Cell::of(row.agrees, Cell::verdict)),
        ],
    )
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
