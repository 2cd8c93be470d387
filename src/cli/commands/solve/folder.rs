//! The contents of a run folder before a solve starts or continues, and what is solved in agreement
//! with them.

use super::{Outcome, Run, SolveArgs, strategy};
use crate::cli::face::exit::Refused;
use crate::cli::words::game::{self, GameArgs};
use crate::cli::words::keep::{AuditChoice, KeepChoice, too_many_pieces};
use pipeline::checkpoint::{self, Inspection, LOGS, PUBLISHED};
use pipeline::{BlockId, Damage, Error, Expected, RealStorage, Storage};
use std::collections::BTreeMap;
use std::path::Path;
use trinim::database::{Audit, BOOK, Game, Keep, MANIFEST, Manifest, SUMS, Terms, Values};
use trinim::game::Board;
use trinim::layout::Layout;
use trinim::plan;
use trinim::solve::{Solved, Strategy, baseline};

/// Refuses a file where the folder of a run should be, or above it.
///
/// # Errors
/// Returns [`Refused`].
pub fn refuse_file(folder: &Path) -> Result<(), Refused> {
    let Some(file) = folder.ancestors().find(|above| above.is_file()) else { return Ok(()) };
    let message = match file == folder {
        true => format!("--out {} is a file, not a folder", folder.display()),
        false => format!("--out {}: {} is a file, not a folder", folder.display(), file.display()),
    };
    Err(Refused::new(message, "nothing was written; name a new folder, or one of an earlier solve"))
}

/// Returns what is solved and kept: as given on the command line, as the folder was begun, or as
/// usual.
///
/// # Errors
/// [`Error::Parameters`] if the folder was begun with another choice, and [`Refused`] for choices
/// that do not go together.
pub fn settle(
    args: &SolveArgs,
    strategy: Strategy,
    board: Board,
    earlier: Earlier<'_>,
) -> anyhow::Result<(Game, Terms)> {
    let given = args.values;
    strategy::agree(given.unwrap_or_default(), args, strategy)?;
    let found = earlier.found(Values::from_parameters);
    let values = earlier.agreed(Values::PARAMETER, given, found, Values::to_string)?.unwrap_or_default();
    let keep = match values {
        Values::Outcomes => keep(args.game.keep, &board, earlier)?,
        Values::Nimbers | Values::Remoteness => Keep::Database,
    };
    let layout = layout(&board, &args.game, values, earlier)?;
    let layout = game::ordered(layout, args.order.as_deref())?;
    let game = Game { board, rule: args.game.rule, layout };
    let audit = audit(args.audit, strategy, &game, earlier)?;
    Ok((game, Terms { values, keep, audit }))
}

/// A folder, and what an earlier session left in it.
#[derive(Clone, Copy)]
pub struct Earlier<'a> {
    pub folder: &'a Path,
    pub begun: Option<&'a Inspection>,
}

impl Earlier<'_> {
    /// Returns what `read` finds among the parameters. A folder of another program, which has none,
    /// is refused when it is opened.
    fn found<T>(self, read: impl FnOnce(&[(String, String)]) -> Option<T>) -> Option<T> {
        self.begun.and_then(|begun| read(&begun.parameters.0))
    }

    /// Returns what is given on the command line, or else what was found.
    ///
    /// # Errors
    /// [`Error::Parameters`] if they differ.
    fn agreed<T: PartialEq>(
        self,
        name: &str,
        given: Option<T>,
        found: Option<T>,
        text: impl Fn(&T) -> String,
    ) -> Result<Option<T>, Error> {
        match (found, given) {
            (Some(found), Some(given)) if found != given => Err(self.differs(name, text(&found), text(&given))),
            (found, given) => Ok(found.or(given)),
        }
    }

    /// The refusal of a folder that was begun otherwise.
    fn differs(self, name: &str, found: String, wanted: String) -> Error {
        Error::Parameters { path: self.folder.join(checkpoint::FORMAT), name: name.to_owned(), found, wanted }
    }
}

/// Returns the layout: given on the command line, kept from the run in the folder, or chosen.
fn layout(board: &Board, game: &GameArgs, values: Values, earlier: Earlier<'_>) -> anyhow::Result<Layout> {
    if let Some(cells) = &game.bid_cells {
        return Ok(Layout::new(board, &cells.0)?);
    }
    if let Some(bits) = game.block_bits {
        return Ok(Layout::suggested(board, bits));
    }
    let usual = || plan::choose_layout_for(board, values, game.resources.memory_bytes(board));
    let Some(begun) = earlier.begun else { return Ok(usual()) };
    // Report a different board before its layout, which would not fit.
    let layout = Layout::new(board, &[])?;
    for (name, wanted) in (Game { board: board.clone(), rule: game.rule, layout }).parameters() {
        let found = begun.parameters.get(&name).unwrap_or("(absent)").to_owned();
        if !name.ends_with("-cells") && found != wanted {
            return Err(earlier.differs(&name, found, wanted).into());
        }
    }
    let cells = begun.parameters.get("bid-cells").unwrap_or_default();
    let cells: Result<Vec<u8>, _> = cells.split(',').filter(|index| !index.is_empty()).map(str::parse::<u8>).collect();
    match cells.ok().and_then(|cells| Layout::of_cells(board, &cells).ok()) {
        Some(layout) => Ok(layout),
        // These parameters are not from this program; opening the folder reports that.
        None => Ok(usual()),
    }
}

/// Returns the result of a finished folder without changing anything; `None` if work is left.
pub fn finished(run: &Run<'_>) -> anyhow::Result<Option<Outcome>> {
    let Run { spec, earlier: Earlier { folder, begun }, .. } = *run;
    let game = spec.game;
    let Some(begun) = begun else { return Ok(None) };
    let same = spec.parameters().iter().all(|(name, value)| begun.parameters.get(name) == Some(value.as_str()));
    if !same || begun.records.len() != game.layout.canonical_blocks().len() {
        return Ok(None);
    }
    let storage = RealStorage::open(folder)?;
    let Some(sums_bytes) = storage.length(&format!("{PUBLISHED}/{SUMS}"))? else { return Ok(None) };
    let records: BTreeMap<BlockId, _> = begun.records.iter().map(|record| (record.block, record)).collect();
    let summaries = records.values().map(|record| &record.summary[..]);
    let Some(manifest) = Manifest::of_summaries(spec, summaries) else { return Ok(None) };
    let manifest_bytes = manifest.to_json().len() as u64;
    let mut expected = vec![(format!("{PUBLISHED}/{MANIFEST}"), manifest_bytes)];
    let published = begun.records.iter().filter_map(|record| record.published.as_ref());
    expected.extend(published.map(|file| (file.name.clone(), file.length)));
    if let Keep::Book { .. } = spec.terms.keep {
        // Parts that are still named are to become the book.
        let length = storage.length(&format!("{PUBLISHED}/{BOOK}"))?;
        let Some(length) = length.filter(|_| expected.len() == 1) else { return Ok(None) };
        expected.push((format!("{PUBLISHED}/{BOOK}"), length));
    }
    let mut database_bytes = sums_bytes;
    for (name, length) in expected {
        let damage = match storage.length(&name)? {
            Some(found) if found == length => None,
            Some(found) => Some(Damage::Length { expected: Expected::Exactly(length), found }),
            None => Some(Damage::MISSING),
        };
        if let Some(damage) = damage {
            return Err(Error::corrupt(storage.path(&name), None, damage).into());
        }
        database_bytes += length;
    }
    Ok(Some(Outcome {
        strategy: strategy_of(begun).unwrap_or(run.strategy),
        solved: Solved { manifest, candidates: Vec::new(), database_bytes, peak_leased_bytes: 0 },
        resumed_blocks: records.len() as u64,
        session_positions: 0,
        workers: 0,
        codec: run.args.game.codec.name.clone(),
    }))
}

/// Returns the strategy a folder was begun with, if this program has it.
fn strategy_of(begun: &Inspection) -> Option<Strategy> {
    let [strategy, redundancy] = baseline::PARAMETERS.map(|name| begun.parameters.get(name));
    let strategy = strategy.map_or(Ok(Strategy::UpdateLog), str::parse).ok()?;
    match (strategy, redundancy) {
        (Strategy::Baseline(baseline), Some(redundancy)) => {
            Some(Strategy::Baseline(baseline.with_redundancy(redundancy.parse().ok()?)))
        }
        _ => Some(strategy),
    }
}

/// Returns what is kept: given on the command line, by the run in the folder, or every value.
///
/// # Errors
/// Returns [`Error::Parameters`] if the folder was begun with another choice.
fn keep(choice: Option<KeepChoice>, board: &Board, earlier: Earlier<'_>) -> anyhow::Result<Keep> {
    let found = earlier.found(Keep::from_parameters);
    let wanted = match (choice, found) {
        (Some(KeepChoice::Book), Some(found @ Keep::Book { .. })) => Some(found),
        _ => choice.map(|choice| choice.of(board).ok_or_else(|| too_many_pieces(board))).transpose()?,
    };
    let agreed = earlier.agreed(Keep::PARAMETER, wanted, found, Keep::to_string)?;
    Ok(agreed.unwrap_or_else(|| Keep::usual(board)))
}

/// Returns the audit: given on the command line, of the run in the folder, or the usual one.
///
/// # Errors
/// Returns [`Error::Parameters`] if the folder was begun with another one, and a refusal if a
/// strategy of the papers, which passes no streams, is to be audited.
fn audit(
    choice: Option<AuditChoice>,
    strategy: Strategy,
    game: &Game,
    earlier: Earlier<'_>,
) -> anyhow::Result<Option<Audit>> {
    if strategy != Strategy::UpdateLog {
        return match choice {
            Some(AuditChoice(Some(_))) => Err(Refused::new(
                format!("--audit: the strategy {strategy} passes no streams that an audit could see"),
                "trinim verify confirms every value of a database, whoever made it".to_owned(),
            )
            .into()),
            _ => Ok(None),
        };
    }
    let found = earlier.found(Audit::from_parameters);
    let text = |audit: &Option<Audit>| audit.map_or_else(|| "0".to_owned(), |audit| audit.to_string());
    let agreed = earlier.agreed(Audit::PARAMETER, choice.map(|choice| choice.0), found, text)?;
    Ok(agreed.unwrap_or_else(|| Audit::usual(game)))
}

/// Refuses to continue an unfinished run of another strategy.
pub fn agree(run: &Run<'_>) -> Result<(), Error> {
    let wanted = run.strategy;
    // A folder of another program is refused when it is opened.
    let Some(found) = run.earlier.begun.and_then(strategy_of) else { return Ok(()) };
    let names = [(found.name(), wanted.name()), (found.redundancy().name(), wanted.redundancy().name())];
    match baseline::PARAMETERS.into_iter().zip(names).find(|(_, (found, wanted))| found != wanted) {
        None => Ok(()),
        Some((name, (found, wanted))) => Err(run.earlier.differs(name, found.to_owned(), wanted.to_owned())),
    }
}

/// Returns the bytes that logs and database of earlier sessions already take.
pub fn used_bytes(folder: &Path) -> u64 {
    let Ok(storage) = RealStorage::open(folder) else { return 0 };
    let files = [LOGS, PUBLISHED].into_iter().filter_map(|name| storage.list(name).ok()).flatten();
    files.map(|entry| entry.length).sum()
}
