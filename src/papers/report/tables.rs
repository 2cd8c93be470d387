//! The two tables of the papers, compared with the published values.

use super::{Document, Solution, Variant, document, lines, object, rule_word};
use crate::report::draw::table::{Cell, Table};
use serde::Serialize;
use serde_json::json;
use trinim::database::census::Census;
use trinim::play::Names;
use trinim_game::published;
use trinim_game::{LAYERS_MAX, Rule, Value};

/// The tables with their files and the contradictions found.
pub(super) struct Tables {
    /// The tables for people, in the order of the pages.
    pub shown: Vec<PageTable>,
    /// Every contradiction in a sentence.
    pub contradictions: Vec<String>,
    pub documents: Vec<Document>,
}

pub(super) struct PageTable {
    pub name: &'static str,
    pub title: &'static str,
    pub note: &'static str,
    /// The boards of the papers.
    pub table: Table,
    /// Games with a limit of pieces a move, if there are any that the table lacks.
    pub variants: Option<Table>,
}

impl PageTable {
    fn markdown(&self) -> String {
        let PageTable { title, note, table, variants, .. } = self;
        let tables: Vec<String> = std::iter::once(table).chain(variants).map(Table::markdown).collect();
        format!("# {title}\n\n{note}\n\n{}", tables.join(&format!("\n{VARIANTS}\n\n")))
    }

    /// Returns its files; `all` is the table for programs, and `rows` has its rows as JSON.
    fn documents(&self, source: &str, all: &Table, rows: Vec<String>) -> [Document; 3] {
        let json = object(&[("title", json!(self.title)), ("source", json!(source))], &[("rows", rows)]);
        [("md", self.markdown()), ("csv", all.csv()), ("json", json)]
            .map(|(form, text)| document(format!("{}.{form}", self.name), self.title, text))
    }
}

const STARTS_TITLE: &str = "Table 5: value of the start";
const COUNTS_TITLE: &str = "Table 4-1: wins, losses and loss rate";

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
    game: Variant,
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
    /// Makes the tables of these solutions; those that are only counted and compared have the
    /// `built_in` ones, too.
    pub(super) fn new(solutions: &[Solution], built_in: &[Solution]) -> Tables {
        let mut contradictions = Vec::new();
        let starts = start_rows(solutions, &mut contradictions);
        let counts = count_table(solutions, &mut contradictions);
        let all_starts = start_table(&starts);
        let of_papers: Vec<&StartRow> = starts.iter().filter(|row| row.max_take.is_none()).collect();
        let of_variants: Vec<&StartRow> = starts.iter().filter(|row| row.max_take.is_some()).collect();
        let has_variants = !of_variants.is_empty();
        let for_people = |table: &Table| if has_variants { table.clone() } else { table.without("max_take") };
        let shown_starts = PageTable {
            name: "table-5",
            title: STARTS_TITLE,
            note: STARTS_NOTE,
            table: start_table(of_papers).without("max_take"),
            variants: has_variants.then(|| start_table(of_variants)),
        };
        let shown = |name, title, note, table: &Table| PageTable {
            name,
            title,
            note,
            table: for_people(table),
            variants: None,
        };
        let known = known(solutions, built_in);
        let (rules, moves) = (rule_table(&known), move_table(&known));
        let shown = vec![
            shown_starts,
            shown("table-4-1", COUNTS_TITLE, COUNTS_NOTE, &counts),
            shown("rules", RULES_TITLE, RULES_NOTE, &rules),
            shown("first-moves", MOVES_TITLE, MOVES_NOTE, &moves),
        ];
        let [starts_files, counts_files, rules_files, moves_files] = [
            shown[0].documents("[SWLK12] table 5", &all_starts, lines(&starts)),
            shown[1].documents("[LWS09] table 4-1", &counts, counts.json_lines()),
            shown[2].documents("trinim", &rules, rules.json_lines()),
            shown[3].documents("trinim", &moves, moves.json_lines()),
        ];
        let mut documents: Vec<Document> =
            [starts_files, counts_files, rules_files, moves_files].into_iter().flatten().collect();
        documents.extend(b_files(&known));
        Tables { shown, contradictions, documents }
    }
}

pub(super) const VARIANTS: &str = "Variants with a limit of pieces a move:";
const STARTS_NOTE: &str = "\
    Win or loss for the player who moves first; published in [SWLK12] table 5. - where no database was given or \
    nothing is published.";
const COUNTS_NOTE: &str = "\
    Published in [LWS09] table 4-1, for misère play and up to eight layers; the rate of nine layers in the text \
    of [SWLK12]. Rates are compared in the digits that are printed.";

const RULES_TITLE: &str = "Both rules side by side";
const RULES_NOTE: &str = "\
    Losses among all positions, and the value of the start. Nine layers are built in. - where no database was given.";
const MOVES_TITLE: &str = "Winning first moves";
const MOVES_NOTE: &str = "\
    One move of each class of images, and the size of the class. Cells are named as trinim play names them: by letters \
    in reading order, or from 27 cells on by row and place. Nine layers are built in.";

/// Returns the solutions, and the built-in ones that they lack, in the order of the report.
fn known<'a>(solutions: &'a [Solution], built_in: &'a [Solution]) -> Vec<&'a Solution> {
    let lacking = built_in.iter().filter(|solution| find(solutions, solution.game()).is_none());
    let mut known: Vec<&Solution> = solutions.iter().chain(lacking).collect();
    known.sort_by_key(|solution| solution.game().key());
    known
}

/// Returns a row for each board, with what is known of both rules.
fn rule_table(known: &[&Solution]) -> Table {
    let mut boards: Vec<(Option<u32>, u32)> =
        known.iter().map(|solution| (solution.max_take, solution.layers)).collect();
    boards.sort_unstable();
    boards.dedup();
    let rows = boards.into_iter().map(|(max_take, layers)| {
        let census = |rule| {
            let game = Variant { max_take, rule, layers };
            known.iter().find(|solution| solution.game() == game).map(|solution| &solution.census)
        };
        (max_take, layers, census(Rule::Misere), census(Rule::Normal))
    });
    let losses = |census: Option<&Census>| Cell::from_option(census, |census| Cell::count(census.losses()));
    let share = |census: Option<&Census>| Cell::from_option(census, |census| Cell::share(census.loss_rate()));
    let start = |census: Option<&Census>| Cell::from_option(census, |census| Cell::word(value_word(census.start())));
    Table::new(
        rows,
        &[
            ("k", "layers", &|row| Cell::count(row.1)),
            ("at most", "max_take", &|row| Cell::from_option(row.0, Cell::count)),
            ("losses, misère", "misere_losses", &|row| losses(row.2)),
            ("rate", "misere_loss_rate", &|row| share(row.2)),
            ("start", "misere_start", &|row| start(row.2)),
            ("losses, normal", "normal_losses", &|row| losses(row.3)),
            ("rate", "normal_loss_rate", &|row| share(row.3)),
            ("start", "normal_start", &|row| start(row.3)),
        ],
    )
}

/// Returns a row for each game, with its winning first moves.
fn move_table(known: &[&Solution]) -> Table {
    let rows = known.iter().map(|solution| {
        let board = &solution.board;
        let names = Names::new(board);
        let classes = board.classes_at(board.full(), &solution.winning);
        let written = classes.iter().map(|(taken, images)| match images.len() {
            1 => names.write(board, *taken),
            alike => format!("{} ({alike})", names.write(board, *taken)),
        });
        (solution, classes.len() as u64, written.collect::<Vec<_>>().join("; "))
    });
    Table::new(
        rows,
        &[
            ("k", "layers", &|row| Cell::count(row.0.layers)),
            ("rule", "rule", &|row| Cell::words(rule_word(row.0.rule), row.0.rule.name())),
            ("at most", "max_take", &|row| Cell::from_option(row.0.max_take, Cell::count)),
            ("moves", "moves", &|row| Cell::count(row.0.board.moves().len() as u64)),
            ("winning", "winning", &|row| Cell::count(row.0.winning.len() as u64)),
            ("up to symmetry", "classes", &|row| Cell::count(row.1)),
            ("which", "which", &|row| if row.2.is_empty() { Cell::nothing() } else { Cell::word(&*row.2) }),
        ],
    )
}

/// Returns the sequences of the papers' game in the form of the OEIS, one term a line: losses and
/// winning first moves by layers, as far as no board is missing, and losses by pieces.
fn b_files(known: &[&Solution]) -> Vec<Document> {
    let of_papers: Vec<&Solution> = known.iter().copied().filter(|solution| solution.max_take.is_none()).collect();
    let file = |name: String, title: &str, terms: &mut dyn Iterator<Item = (u32, u64)>| {
        let text: String = terms.map(|(index, term)| format!("{index} {term}\n")).collect();
        (!text.is_empty()).then(|| document(format!("b-{name}.txt"), title, text))
    };
    let mut files = Vec::new();
    for rule in [Rule::Misere, Rule::Normal] {
        let by_layers: Vec<&Solution> = (1..)
            .map_while(|layers| of_papers.iter().find(|solution| (solution.layers, solution.rule) == (layers, rule)))
            .copied()
            .collect();
        let losses = by_layers.iter().map(|solution| (solution.layers, solution.census.losses()));
        let moves = by_layers.iter().map(|solution| (solution.layers, solution.winning.len() as u64));
        let word = rule_word(rule);
        let title = format!("Losses by layers, {word}, as a b-file");
        files.extend(file(format!("losses-{rule}"), &title, &mut { losses }));
        let title = format!("Winning first moves by layers, {word}, as a b-file");
        files.extend(file(format!("first-moves-{rule}"), &title, &mut { moves }));
    }
    for solution in of_papers {
        let rows = solution.census.by_pieces.iter().map(|row| (row.pieces, row.losses));
        let title = format!("Losses by pieces, {}, as a b-file", solution.game().words());
        let name = format!("losses-by-pieces-{}", solution.game().file_part());
        files.extend(file(name, &title, &mut { rows }));
    }
    files
}

/// Returns the papers' boards, with or without a database, then the variants in the databases.
fn start_rows(solutions: &[Solution], contradictions: &mut Vec<String>) -> Vec<StartRow> {
    let mut boards: Vec<(Option<u32>, u32)> = (1..=published::LAYERS).map(|layers| (None, layers)).collect();
    boards.extend(solutions.iter().map(|solution| (solution.max_take, solution.layers)));
    boards.sort_unstable();
    boards.dedup();
    let mut row = |(max_take, layers)| {
        let mut start = |rule| {
            let game = Variant { max_take, rule, layers };
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
    Table::new(
        rows,
        &[
            ("k", "layers", &|row| Cell::count(row.layers)),
            ("at most", "max_take", &|row| Cell::from_option(row.max_take, Cell::count)),
            ("normal", "normal", &|row| Cell::from_option(row.normal.computed, Cell::word)),
            ("published", "normal_published", &|row| Cell::from_option(row.normal.published, Cell::word)),
            ("agrees", "normal_agrees", &|row| Cell::from_option(row.normal.agrees, Cell::verdict)),
            ("misère", "misere", &|row| Cell::from_option(row.misere.computed, Cell::word)),
            ("published", "misere_published", &|row| Cell::from_option(row.misere.published, Cell::word)),
            ("agrees", "misere_agrees", &|row| Cell::from_option(row.misere.agrees, Cell::verdict)),
        ],
    )
}

fn find(solutions: &[Solution], game: Variant) -> Option<&Solution> {
    solutions.iter().find(|solution| solution.game() == game)
}

/// Returns every game with a computed or published count.
fn count_table(solutions: &[Solution], contradictions: &mut Vec<String>) -> Table {
    let mut games: Vec<Variant> = solutions.iter().map(Solution::game).collect();
    for rule in Rule::ALL {
        let boards = (1..=LAYERS_MAX).filter(|layers| published::rate(*layers, rule).is_some());
        games.extend(boards.map(|layers| Variant { max_take: None, rule, layers }));
    }
    games.sort_by_key(|game| game.key());
    games.dedup();
    let row = |game: Variant| {
        let Variant { max_take, rule, layers } = game;
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
    Table::new(
        games.into_iter().map(row),
        &[
            ("k", "layers", &|row| Cell::count(row.game.layers)),
            ("rule", "rule", &|row| Cell::words(rule_word(row.game.rule), row.game.rule.name())),
            ("at most", "max_take", &|row| Cell::from_option(row.game.max_take, Cell::count)),
            ("positions", "positions", &|row| Cell::count(1u64 << (row.game.layers * (row.game.layers + 1) / 2))),
            ("wins", "wins", &|row| Cell::from_option(row.census, |census| Cell::count(census.wins()))),
            ("losses", "losses", &|row| Cell::from_option(row.census, |census| Cell::count(census.losses()))),
            ("loss rate", "loss_rate", &|row| Cell::from_option(row.census, |census| Cell::share(census.loss_rate()))),
            ("published wins", "published_wins", &|row| {
                Cell::from_option(row.counts, |counts| Cell::count(counts.wins))
            }),
            ("published losses", "published_losses", &|row| {
                Cell::from_option(row.counts, |counts| Cell::count(counts.losses))
            }),
            ("published rate", "published_loss_percent", &|row| Cell::from_option(row.rate, percent)),
            ("agrees", "agrees", &|row| Cell::from_option(row.agrees, Cell::verdict)),
        ],
    )
}

/// Returns the contradictions in the counts of a game, as sentences.
fn compare(
    game: Variant,
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
