//! The tables, compared with the published values.

use super::{Document, Solution, Variant, document, rule_word};
use std::collections::BTreeSet;
use trinim::database::census::Census;
use trinim::play::Names;
use trinim_game::amount::grouped;
use trinim_game::published::{self, Counts, Rate};
use trinim_game::{LAYERS_MAX, Rule, Value};
use trinim_papers::table::markdown;

/// A board of the tables: the limit of pieces a move, and the layers.
type BoardKey = (Option<u32>, u32);

fn board_of(solution: &Solution) -> BoardKey {
    (solution.game.max_take, solution.game.layers)
}

/// Formats a value; an unknown one is a dash.
fn cell<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}

fn share(share: f64) -> String {
    format!("{:.4} %", share * 100.0)
}

fn value_word(value: Value) -> String {
    if value.is_loss() { "Loss" } else { "Win" }.to_owned()
}

/// Formats a verdict; `NO` is in capitals so that readers notice it.
fn verdict(agrees: Option<bool>) -> String {
    cell(agrees, |agrees| if agrees { "yes" } else { "NO" }.to_owned())
}

/// The layers, and the limit of pieces a move if there is one.
pub(super) fn board_words(layers: u32, max_take: Option<u32>) -> String {
    max_take.map_or(layers.to_string(), |take| format!("{layers}, at most {take} a move"))
}

/// Returns the solutions, and the built-in ones that they lack, in the order of the report.
pub(super) fn known<'a>(solutions: &'a [Solution], built_in: &'a [Solution]) -> Vec<&'a Solution> {
    let lacking = built_in.iter().filter(|solution| find(solutions, solution.game).is_none());
    let mut known: Vec<&Solution> = solutions.iter().chain(lacking).collect();
    known.sort_by_key(|solution| solution.game.key());
    known
}

fn find<'a>(solutions: impl IntoIterator<Item = &'a Solution>, game: Variant) -> Option<&'a Solution> {
    solutions.into_iter().find(|solution| solution.game == game)
}

/// A row for each board, with the known values of both rules.
pub(super) fn rules(known: &[&Solution]) -> String {
    let row = |(max_take, layers): BoardKey| {
        let of = |rule| {
            let census = find(known.iter().copied(), Variant { max_take, rule, layers }).map(Solution::census);
            [
                cell(census, |census| grouped(census.losses())),
                cell(census, |census| share(census.loss_rate())),
                cell(census, |census| value_word(census.start())),
            ]
        };
        [vec![board_words(layers, max_take)], of(Rule::Misere).to_vec(), of(Rule::Normal).to_vec()].concat()
    };
    let boards: BTreeSet<BoardKey> = known.iter().copied().map(board_of).collect();
    let heads = "k: | losses, misère: | rate: | start | losses, normal: | rate: | start";
    markdown(heads, &boards.into_iter().map(row).collect::<Vec<_>>())
}

/// A row for each game, with its winning first moves.
pub(super) fn moves(known: &[&Solution]) -> String {
    let row = |solution: &&Solution| {
        let board = &solution.board;
        let names = Names::new(board);
        let classes = board.classes_at(board.full(), &solution.winning);
        let written = classes.iter().map(|(taken, images)| match images.len() {
            1 => names.write(board, *taken),
            alike => format!("{} ({alike})", names.write(board, *taken)),
        });
        let which = Some(written.collect::<Vec<_>>().join("; ")).filter(|which| !which.is_empty());
        vec![
            board_words(solution.game.layers, solution.game.max_take),
            rule_word(solution.game.rule).to_owned(),
            grouped(board.moves().len() as u64),
            grouped(solution.winning.len() as u64),
            grouped(classes.len() as u64),
            cell(which, |which| which),
        ]
    };
    let heads = "k: | rule | moves: | winning: | up to symmetry: | which";
    markdown(heads, &known.iter().map(row).collect::<Vec<_>>())
}

/// Returns the sequences of the papers' game in the format of the OEIS, one term a line: losses and
/// winning first moves by layers, up to the first missing board, and losses by pieces.
pub(super) fn b_files(known: &[&Solution]) -> Vec<Document> {
    let mut files = Vec::new();
    let mut add = |name: String, title: String, terms: Vec<(u32, u64)>| {
        let text: String = terms.iter().map(|(index, term)| format!("{index} {term}\n")).collect();
        if !text.is_empty() {
            files.push(document(format!("b-{name}.txt"), &format!("{title}, as a b-file"), text));
        }
    };
    for rule in [Rule::Misere, Rule::Normal] {
        let of_layers = |layers| find(known.iter().copied(), Variant { max_take: None, rule, layers });
        let by_layers: Vec<&Solution> = (1..).map_while(of_layers).collect();
        let terms = |term: fn(&Solution) -> u64| by_layers.iter().map(|one| (one.game.layers, term(one))).collect();
        let (losses, moves) = (terms(|one| one.census().losses()), terms(|one| one.winning.len() as u64));
        let word = rule_word(rule);
        add(format!("losses-{rule}"), format!("Losses by layers, {word}"), losses);
        add(format!("first-moves-{rule}"), format!("Winning first moves by layers, {word}"), moves);
    }
    for Solution { game, manifest, .. } in known.iter().filter(|solution| solution.game.max_take.is_none()) {
        let terms = manifest.census.by_pieces.iter().map(|row| (row.pieces, row.losses)).collect();
        add(format!("losses-by-pieces-{}", game.file_part()), format!("Losses by pieces, {}", game.words()), terms);
    }
    files
}

/// The papers' boards, with or without a database, then the variants in the databases.
pub(super) fn starts(solutions: &[Solution], contradictions: &mut Vec<String>) -> String {
    let of_papers = (1..=published::LAYERS).map(|layers| (None, layers));
    let boards: BTreeSet<BoardKey> = of_papers.chain(solutions.iter().map(board_of)).collect();
    let mut row = |(max_take, layers): BoardKey| {
        let mut start = |rule| {
            let game = Variant { max_take, rule, layers };
            let computed = find(solutions, game).map(|solution| solution.census().start());
            let published = published::start(layers, rule).filter(|_| max_take.is_none());
            let both = computed.zip(published);
            if let Some((computed, published)) = both.filter(|(computed, published)| computed != published) {
                contradictions.push(format!("{}: the start is a {computed}, published as a {published}", game.words()));
            }
            let agrees = both.map(|(computed, published)| computed == published);
            [cell(computed, value_word), cell(published, value_word), verdict(agrees)]
        };
        [vec![board_words(layers, max_take)], start(Rule::Normal).to_vec(), start(Rule::Misere).to_vec()].concat()
    };
    let rows: Vec<Vec<String>> = boards.into_iter().map(&mut row).collect();
    markdown("k: | normal | published | agrees | misère | published | agrees", &rows)
}

/// Every game with a computed or published count.
pub(super) fn counts(solutions: &[Solution], contradictions: &mut Vec<String>) -> String {
    let mut games: Vec<Variant> = solutions.iter().map(|solution| solution.game).collect();
    for rule in Rule::ALL {
        let boards = (1..=LAYERS_MAX).filter(|layers| published::rate(*layers, rule).is_some());
        games.extend(boards.map(|layers| Variant { max_take: None, rule, layers }));
    }
    games.sort_by_key(|game| game.key());
    games.dedup();
    let mut row = |game: Variant| {
        let Variant { max_take, rule, layers } = game;
        let census = find(solutions, game).map(Solution::census);
        let counts = published::counts(layers, rule).filter(|_| max_take.is_none());
        let rate = published::rate(layers, rule).filter(|_| max_take.is_none());
        let found = census.map(|census| compare(game, census, counts, rate));
        let agrees = found.as_ref().filter(|_| counts.is_some() || rate.is_some()).map(Vec::is_empty);
        contradictions.extend(found.into_iter().flatten());
        vec![
            board_words(layers, max_take),
            rule_word(rule).to_owned(),
            grouped(1_u64 << (layers * (layers + 1) / 2)),
            cell(census, |census| grouped(census.wins())),
            cell(census, |census| grouped(census.losses())),
            cell(census, |census| share(census.loss_rate())),
            cell(counts, |counts| grouped(counts.wins)),
            cell(counts, |counts| grouped(counts.losses)),
            cell(rate, |rate| format!("{} %", rate.percent)),
            verdict(agrees),
        ]
    };
    let heads = "k: | rule | positions: | wins: | losses: | loss rate: | published wins: | published losses: | \
                 published rate: | agrees";
    markdown(heads, &games.into_iter().map(&mut row).collect::<Vec<_>>())
}

/// Returns the contradictions in the counts of a game, as sentences.
fn compare(game: Variant, census: &Census, counts: Option<Counts>, rate: Option<Rate>) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(published) = counts {
        let both = [("wins", census.wins(), published.wins), ("losses", census.losses(), published.losses)];
        for (what, computed, published) in both {
            if computed != published {
                found.push(format!("{}: {computed} {what}, published as {published}", game.words()));
            }
        }
    }
    if let Some(published) = rate.filter(|published| !published.agrees(census.loss_rate())) {
        let (percent, printed) = (census.loss_rate() * 100.0, published.percent);
        found.push(format!("{}: a loss rate of {percent:.4} %, published as {printed} %", game.words()));
    }
    found
}
