//! The boards that the server offers.

use crate::health::WatchedDatabase;
use crate::reply::Problem;
use std::path::PathBuf;
use std::sync::Arc;
use terminal::exit::Refused;
use terminal::output::Out;
use trinim::cli::answers::in_memory;
use trinim::cli::board::{SMALL_CELLS_MAX, arguments};
use trinim::cli::solved::{solved_here, solving};
use trinim::cli::stats;
use trinim::database::{BuiltIn, Database, Keep};
use trinim::game::{Board, Rule};
use trinim::play::transcript::{board_identity, board_name};
use trinim::play::{Answers, OnTheSpot, Table};
use trinim::solve::parts::DISTANCE_PIECES_MAX;

/// The most pieces of a position that is solved within a request, in 64 MiB for each board.
pub const AT_ONCE: u32 = 28;

/// One board under one rule.
pub struct Offer {
    /// Its origin, for people: a folder, an option, or "built in".
    source: String,
    /// The name of the board.
    pub board: String,
    /// The rule.
    pub rule: Rule,
    /// The source of values.
    pub answers: Arc<dyn Answers>,
    /// The database, if it is in a folder.
    pub watched: Option<Arc<WatchedDatabase>>,
    /// Which values are kept.
    pub keep: Keep,
    /// Positions with at most this many pieces are solved on the spot if their values are not kept,
    /// by `deep.rs` if they have more than [`AT_ONCE`].
    pub spot_pieces: Option<u32>,
    /// Changes whenever an answer can: the digest of the solution (different for nimbers), the kept
    /// values, the limit of positions solved on the spot, and the program version.
    pub identity: String,
    /// The report of `trinim stats`, as JSON.
    pub stats: String,
}

impl Offer {
    /// Describes a board by the manifest of its database and the source of its answers. Values that
    /// are not kept are solved on the spot, up to `spot_pieces` pieces.
    fn new(database: &Database, source: String, answers: Arc<dyn Answers>, spot_pieces: u32) -> anyhow::Result<Offer> {
        let manifest = database.manifest();
        let spot_pieces = (manifest.keep != Keep::Database && spot_pieces > 0).then_some(spot_pieces);
        let version = env!("CARGO_PKG_VERSION");
        let answers = match spot_pieces {
            Some(pieces) => Arc::new(OnTheSpot::new(
                Some(answers),
                in_memory(database.board(), database.rule(), pieces.min(AT_ONCE)),
            )),
            None => answers,
        };
        Ok(Offer {
            source,
            board: board_name(answers.board()),
            rule: answers.rule(),
            watched: None,
            keep: manifest.keep,
            spot_pieces,
            identity: format!("{version} {} {} {}", manifest.digest, manifest.keep, spot_pieces.unwrap_or(0)),
            stats: stats::json(database)?,
            answers,
        })
    }
}

/// All offers, sorted by board and rule.
pub struct Offers(Vec<Arc<Offer>>);

impl Offers {
    /// Opens the folders with caches of about `cache_bytes` bytes together, solves the `small`
    /// boards, each with the option that named it, and adds the built-in boards. A folder takes
    /// precedence over both. Positions of up to `spot_pieces` pieces whose values are not kept are
    /// solved on request.
    ///
    /// # Errors
    /// [`Refused`] if two folders hold the same board and rule, or two boards share a name; those
    /// of [`Database::open_with`] and of the solves.
    pub fn open(
        folders: &[PathBuf],
        small: &[(String, Board)],
        cache_bytes: usize,
        spot_pieces: u32,
        out: &Out,
    ) -> anyhow::Result<Offers> {
        let mut offers = Offers(Vec::new());
        for folder in folders {
            let database = Arc::new(Database::open_with(folder, cache_bytes / folders.len())?);
            let watched = WatchedDatabase::new(database.clone());
            let source = folder.display().to_string();
            if let Some(other) = offers.known(database.board(), database.rule(), &source)? {
                let message =
                    format!("{source} and {} have the same game: {}, {}", other.source, other.board, other.rule);
                return Err(Refused::new(message, "name one folder for each board and rule").into());
            }
            let offer = Offer::new(&database, source, watched.clone(), spot_pieces)?;
            offers.0.push(Arc::new(Offer { watched: Some(watched), ..offer }));
        }
        for (option, board) in small {
            for rule in Rule::ALL {
                // Built-in boards are always offered.
                if offers.known(board, rule, option)?.is_some() || BuiltIn::for_board(board, rule).is_some() {
                    continue;
                }
                if board.cells() > SMALL_CELLS_MAX {
                    let message = format!("{}: too large to solve at startup", arguments(board, Rule::Misere));
                    let hint = format!("run trinim solve {}, then serve its folder", arguments(board, rule));
                    return Err(Refused::new(message, hint).into());
                }
                // Distances are computed on request, but not for a folder: random positions of
                // eight layers would take a hundred times as long.
                let offer = |database: Database| {
                    let table = Arc::new(Table::load(&database)?);
                    let solver = in_memory(board, rule, DISTANCE_PIECES_MAX);
                    Offer::new(&database, option.clone(), Arc::new(OnTheSpot::new(Some(table), solver)), 0)
                };
                out.remark(solving(board, rule));
                offers.0.push(Arc::new(solved_here(board, rule, offer)?));
            }
        }
        for built_in in BuiltIn::all() {
            let database = Arc::new(Database::open_built_in(built_in)?);
            let source = format!("{} layers, built in,", built_in.layers);
            if offers.known(database.board(), built_in.rule, &source)?.is_none() {
                offers.0.push(Arc::new(Offer::new(&database, source, database.clone(), spot_pieces)?));
            }
        }
        offers.0.sort_by(|one, other| (&one.board, one.rule).cmp(&(&other.board, other.rule)));
        Ok(offers)
    }

    /// Finds the offer of this board and rule, which `source` is about to add.
    ///
    /// # Errors
    /// [`Refused`] if another board has its name.
    fn known(&self, board: &Board, rule: Rule, source: &str) -> Result<Option<&Offer>, Refused> {
        let name = board_name(board);
        let mut named = self.0.iter().filter(|offer| offer.board == name);
        if let Some(other) = named.clone().find(|other| board_identity(other.answers.board()) != board_identity(board))
        {
            let message = format!("{source} and {} are different boards with the same name, {name}", other.source);
            return Err(Refused::new(message, "serve one of them, or change the name in the file of the board"));
        }
        Ok(named.find(|offer| offer.rule == rule).map(|offer| &**offer))
    }

    /// Returns all offers.
    pub fn all(&self) -> &[Arc<Offer>] {
        &self.0
    }

    /// Returns the databases in folders, with their names for people.
    pub fn watched(&self) -> Vec<(String, Arc<WatchedDatabase>)> {
        let named = |offer: &Arc<Offer>| Some((format!("{} {}", offer.board, offer.rule), offer.watched.clone()?));
        self.0.iter().filter_map(named).collect()
    }

    /// Finds the offer of a board under a rule.
    ///
    /// # Errors
    /// [`Problem`] with status 404 and a list of all offers.
    pub fn find(&self, board: &str, rule: Rule) -> Result<&Arc<Offer>, Problem> {
        let found = self.0.iter().find(|offer| offer.board == board && offer.rule == rule);
        found.ok_or_else(|| {
            let boards: Vec<String> = self.0.iter().map(|offer| format!("{} {}", offer.board, offer.rule)).collect();
            let board: String = board.chars().take(40).collect();
            Problem::missing(format!("no board {board:?} with rule {rule}: available are {}", boards.join(", ")))
        })
    }
}
