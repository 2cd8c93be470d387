//! The report: the papers' tables and figures, reproduced from solved databases, with the published
//! values beside the computed ones. [`Solution::read`] takes from a database what a report needs;
//! [`Report::new`] makes the [`Document`]s:
//!
//! | name | contents | in the papers |
//! |---|---|---|
//! | `report.md` | the tables: value of the start | \[SWLK12\] table 5 |
//! | | wins, losses, loss rate | \[LWS09\] table 4-1 |
//! | | losses and starts of both rules side by side; the winning first moves of every board | none |
//! | | the figures | |
//! | `figure-13` | losses among all positions against the layers | \[SWLK12\] figure 13 |
//! | `winning-moves-kK-RULE` | the winning first moves | \[SWLK12\] figures 7, 8, 11, 12 |
//! | `figure-3`, `-4`, `-5`, `-6`, `-9`, `-10` | layouts, blocks and updates | \[SWLK12\], the same figures |
//! | `losses-by-pieces-kK-RULE` | loss rate by number of pieces | none |
//! | `positions-by-distance-kK-RULE` | wins and losses by distance to the end, where that is known | none |
//! | `b-SEQUENCE.txt` | losses by layers and by pieces, winning first moves by layers, for the OEIS | none |
//! | `report.json` | the databases, the contradictions, the files | |
//!
//! Tables are Markdown; figures are SVG, with the plotted values as CSV. Tables of both rules and
//! of first moves, and sequences, include the built-in nine layers. The name of a game with a limit
//! of N pieces a move ends in `-takeN`. A report costs one lookup for each first move of each
//! database. It does not check every position (`verify` does), nor compare winning moves and figure
//! 13 with the papers, which print them as pictures without numbers.
//!
//! # Invariants
//! 1. The bytes depend only on the contents of the databases: not on their folders, nor on the
//!    order or number of times they are given.
//! 2. One game has one set of values: databases that disagree about a game are refused, with any
//!    layouts.
//! 3. A manifest that is damaged, or contradicts itself or the start, is refused before any of it
//!    is reported.
//! 4. A published value is compared with the computed one in every place where both exist, and each
//!    contradiction is listed.

mod drawings;
mod figures;
mod page;
mod tables;

use figures::Figure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::PathBuf;
use tables::Tables;
use trinim::database::census::Census;
use trinim::database::{BuiltIn, Database, DatabaseError, Manifest};
use trinim_game::{self, Board, LAYERS_MAX, Rule};

/// The `format` field of `report.json`, which identifies an earlier report.
pub const FORMAT: &str = "trinim-report";
pub const VERSION: u32 = 1;
/// The `schema` of `report.json`, without its version.
const SCHEMA: &str = "trinim.report";
/// The name of the document that describes the others.
pub const REPORT_JSON: &str = "report.json";

/// The part of a database that a report needs.
#[derive(Clone, Debug)]
pub struct Solution {
    folder: PathBuf,
    board: Board,
    game: Variant,
    manifest: Manifest,
    /// Masks of the winning first moves, ascending.
    winning: Vec<u64>,
}

impl Solution {
    /// Checks the manifest of a database and looks up its start.
    ///
    /// # Errors
    /// Returns [`ReportError::Database`] if the manifest, the start or its children show that the
    /// database is damaged or contradicts itself, and [`ReportError::NotATriangle`].
    pub fn read(database: &Database) -> Result<Solution, ReportError> {
        let (board, manifest) = (database.board(), database.manifest());
        let Some(layers) = board.layers() else {
            let board = board.name().to_owned();
            return Err(ReportError::NotATriangle { path: database.folder().into(), board });
        };
        database.check_manifest()?;
        let start = database.probe(board.full())?;
        let mut winning = start.winning_moves();
        winning.sort_unstable();
        let expected = manifest.census.start();
        let contradiction = if start.value != expected {
            Some(format!("the census makes the start a {expected}, its block a {}", start.value))
        } else if (start.value == trinim_game::Value::Win) == winning.is_empty() {
            Some(format!("the start is a {} with {} winning moves", start.value, winning.len()))
        } else {
            None
        };
        if let Some(what) = contradiction {
            let (path, damage) = (database.folder().into(), what.into());
            return Err(DatabaseError::Corrupt { path, offset: None, damage }.into());
        }
        // A limit as high as the longest line limits nothing.
        let max_take = board.max_take().filter(|take| *take < layers);
        Ok(Solution {
            folder: database.folder().into(),
            board: board.clone(),
            game: Variant { max_take, rule: database.rule(), layers },
            manifest: manifest.clone(),
            winning,
        })
    }

    fn census(&self) -> &Census {
        &self.manifest.census
    }

    fn row(&self) -> DatabaseRow {
        DatabaseRow {
            layers: self.game.layers,
            rule: self.game.rule.name().into(),
            max_take: self.game.max_take,
            bid_cells: self.manifest.bid_cells.clone(),
            digest: self.manifest.digest.clone(),
            positions: self.census().positions(),
            losses: self.census().losses(),
            loss_rate: self.census().loss_rate(),
            start: self.census().start().to_string(),
            winning_first_moves: self.winning.len() as u64,
        }
    }
}

/// A game, in the order of the report: the papers' game before its variants; misère, the usual
/// game, before normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    max_take: Option<u32>,
    rule: Rule,
    layers: u32,
}

impl Variant {
    fn key(self) -> (Option<u32>, bool, u32) {
        (self.max_take, self.rule == Rule::Normal, self.layers)
    }

    /// Returns the part of file names: `k5-misere-take3`.
    fn file_part(self) -> String {
        let take = self.max_take.map_or(String::new(), |take| format!("-take{take}"));
        format!("k{}-{}{take}", self.layers, self.rule)
    }

    /// Returns the description of the game: `5 layers, misère, at most 3 pieces a move`.
    fn words(self) -> String {
        let layers = if self.layers == 1 { "1 layer".to_owned() } else { format!("{} layers", self.layers) };
        format!("{layers}, {}", variant_words(self.rule, self.max_take))
    }
}

fn rule_word(rule: Rule) -> &'static str {
    match rule {
        Rule::Normal => "normal",
        Rule::Misere => "misère",
    }
}

fn variant_words(rule: Rule, max_take: Option<u32>) -> String {
    match max_take {
        None => rule_word(rule).to_owned(),
        Some(1) => format!("{}, 1 piece a move", rule_word(rule)),
        Some(take) => format!("{}, at most {take} pieces a move", rule_word(rule)),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The name, without a folder.
    pub name: String,
    pub title: String,
    pub text: String,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The folder is sound, but reports support only triangles.
    #[error("{} solves the board {board}: a report is about triangles", path.display())]
    NotATriangle { path: PathBuf, board: String },
    /// Two databases of one game have different values.
    #[error("{} and {} both solve {game} and disagree: {what}", one.display(), other.display())]
    Disagreement { game: String, one: PathBuf, other: PathBuf, what: &'static str },
    /// A database, possibly a built-in one, cannot be read or is damaged.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// A database in `report.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseRow {
    /// Layers of the board.
    pub layers: u32,
    /// Whether taking the last piece wins (`normal`) or loses (`misere`).
    #[schemars(with = "trinim_game::Rule")]
    pub rule: String,
    /// Most pieces a move may take, if that is a limit.
    pub max_take: Option<u32>,
    /// Cells of the BID bits, bit 0 first.
    pub bid_cells: Vec<u8>,
    /// Digest of the solution.
    pub digest: String,
    /// All positions.
    pub positions: u64,
    /// Losses among them.
    pub losses: u64,
    /// The share of losses, from 0 to 1.
    pub loss_rate: f64,
    /// Value of the full board for the player to move.
    #[schemars(with = "trinim_game::Value")]
    pub start: String,
    /// Number of winning first moves.
    pub winning_first_moves: u64,
}

/// A file in `report.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRow {
    /// The name of the file.
    pub name: String,
    /// The contents in a few words.
    pub title: String,
    /// The length in bytes; null for `report.json` itself.
    pub bytes: Option<u64>,
}

/// The contents of `report.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contents {
    /// `trinim-report`.
    pub format: String,
    /// Version of the format.
    pub version: u32,
    /// False while the files are being written.
    pub complete: bool,
    /// Every published value that a computed one contradicts.
    pub contradictions: Vec<String>,
    /// The databases.
    pub databases: Vec<DatabaseRow>,
    /// The files, `report.json` last.
    pub files: Vec<FileRow>,
}

impl Contents {
    /// Returns the file. Its lists have one row a line, which is shorter than the usual layout and
    /// easier to compare.
    pub fn to_json(&self) -> String {
        let Contents { format, version, complete, contradictions, databases, files } = self;
        let fields = json!({
            "schema": format!("{SCHEMA}/{VERSION}"),
            "ok": *complete && contradictions.is_empty(),
            "format": format,
            "version": version,
            "complete": complete,
            "contradictions": contradictions,
        });
        let fields = fields.to_string();
        let (databases, files) = (lines(databases), lines(files));
        let fields = fields.trim_end_matches('}');
        format!("{fields},\n\"databases\":[\n{databases}\n],\n\"files\":[\n{files}\n]}}\n")
    }

    /// Parses a `report.json`; `None` if this program did not write it.
    pub fn parse(bytes: &[u8]) -> Option<Contents> {
        let contents: Contents = serde_json::from_slice(bytes).ok()?;
        (contents.format == FORMAT).then_some(contents)
    }
}

#[derive(Clone, Debug)]
pub struct Report {
    /// The contents of `report.json`.
    pub contents: Contents,
    pub documents: Vec<Document>,
}

impl Report {
    /// Makes the report on some solutions, in any order.
    ///
    /// # Errors
    /// Returns [`ReportError::Disagreement`] if two of them solve the same game and differ.
    pub fn new(mut solutions: Vec<Solution>) -> Result<Report, ReportError> {
        // One database of each game is used, preferably with distances.
        let key = |one: &Solution| (one.game.key(), one.manifest.by_distance.is_none(), one.manifest.digest.clone());
        solutions.sort_by_key(key);
        for (index, one) in solutions.iter().enumerate() {
            for other in solutions[index + 1..].iter().take_while(|other| other.game == one.game) {
                disagreement(one, other)?;
            }
        }
        solutions.dedup_by(|one, other| one.manifest.digest == other.manifest.digest);
        let databases: Vec<DatabaseRow> = solutions.iter().map(Solution::row).collect();
        solutions.dedup_by(|one, other| one.game == other.game);

        let built_in = built_in()?;
        let tables = Tables::new(&solutions, &built_in);
        let mut documents = tables::b_files(&tables::known(&solutions, &built_in));
        let mut figures = figures::figures(&solutions);
        figures.extend(drawings::drawings());
        for Figure { name, title, svg, csv, .. } in &figures {
            documents.push(document(format!("{name}.svg"), title, svg.file()));
            documents.extend(csv.iter().map(|csv| document(format!("{name}.csv"), title, csv.clone())));
        }
        let page = page::page(&tables, &figures, &databases);
        documents.push(document("report.md".into(), "All tables and figures", page));
        let rows = documents.iter().map(|document| FileRow {
            name: document.name.clone(),
            title: document.title.clone(),
            bytes: Some(document.text.len() as u64),
        });
        let itself =
            FileRow { name: REPORT_JSON.into(), title: "Databases, contradictions, files".into(), bytes: None };
        let contents = Contents {
            format: FORMAT.into(),
            version: VERSION,
            complete: true,
            databases,
            contradictions: tables.contradictions,
            files: rows.chain([itself]).collect(),
        };
        Ok(Report { contents, documents })
    }
}

fn built_in() -> Result<Vec<Solution>, ReportError> {
    let all = (1..=LAYERS_MAX).flat_map(|layers| Rule::ALL.map(|rule| BuiltIn::find(layers, rule)));
    all.flatten().map(|built_in| Solution::read(&Database::open_built_in(built_in)?)).collect()
}

fn document(name: String, title: &str, text: String) -> Document {
    Document { name, title: title.to_owned(), text }
}

fn disagreement(one: &Solution, other: &Solution) -> Result<(), ReportError> {
    // A digest is of a layout and of the computed values.
    let digest_of = |one: &Solution| (one.manifest.bid_cells.clone(), one.board.max_take(), one.manifest.values());
    let comparable = digest_of(one) == digest_of(other);
    let what = if one.census() != other.census() {
        "their censuses differ"
    } else if one.winning != other.winning {
        "their winning first moves differ"
    } else if comparable && one.manifest.digest != other.manifest.digest {
        "their layout is the same and their digests differ"
    } else {
        return Ok(());
    };
    let (game, one, other) = (one.game.words(), one.folder.clone(), other.folder.clone());
    Err(ReportError::Disagreement { game, one, other, what })
}

fn lines<T: Serialize>(rows: &[T]) -> String {
    let line = |row: &T| serde_json::to_string(row).expect("a row has only numbers, strings and lists");
    rows.iter().map(line).collect::<Vec<_>>().join(",\n")
}
