//! The report: the papers' tables and figures, reproduced from solved databases, with the published
//! values beside the computed ones. [`Solution::read`] takes from a database what a report needs;
//! [`Report::new`] makes the documents, which the README of this package lists.
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
use std::path::PathBuf;
use terminal::exit::Refused;
use terminal::refusal::quoted;
use terminal::schema::Tagged;
use trinim::database::census::Census;
use trinim::database::{BuiltIn, Database, DatabaseError, Manifest};
use trinim_game::{Board, LAYERS_MAX, Rule, Value};

/// The `format` field of `report.json`, which identifies an earlier report.
pub const FORMAT: &str = "trinim-report";
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
    /// Refuses other boards than triangles. Returns a [`DatabaseError`] if the manifest, the start
    /// or its children show that the database is damaged or contradicts itself.
    pub fn read(database: &Database) -> anyhow::Result<Solution> {
        let (board, manifest) = (database.board(), database.manifest());
        let Some(layers) = board.layers() else {
            let (folder, board) = (database.folder(), board.name());
            let about = "a report is about triangles without --min-take";
            let message = format!("{} solves the board {board}: {about}", folder.display());
            let hint = format!("run trinim stats {} to see its counts", quoted(&folder.to_string_lossy()));
            return Err(Refused::new(message, hint).into());
        };
        database.check_manifest()?;
        let start = database.probe(board.full())?;
        let mut winning = start.winning_moves();
        winning.sort_unstable();
        let expected = manifest.census.start();
        let contradiction = if start.value != expected {
            Some(format!("the census makes the start a {expected}, its block a {}", start.value))
        } else if (start.value == Value::Win) == winning.is_empty() {
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
            rule: self.game.rule,
            max_take: self.game.max_take,
            bid_cells: self.manifest.bid_cells.clone(),
            digest: self.manifest.digest.clone(),
            positions: self.census().positions(),
            losses: self.census().losses(),
            loss_rate: self.census().loss_rate(),
            start: self.census().start(),
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

/// A file of the report with its text.
pub type Document = (FileRow, String);

/// A database in `report.json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DatabaseRow {
    /// Layers of the board.
    pub layers: u32,
    /// Whether taking the last piece wins (`normal`) or loses (`misere`).
    pub rule: Rule,
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
    pub start: Value,
    /// Number of winning first moves.
    pub winning_first_moves: u64,
}

/// A file in `report.json`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FileRow {
    /// The name of the file.
    pub name: String,
    /// The contents in a few words.
    pub title: String,
    /// The length in bytes; null for `report.json` itself.
    pub bytes: Option<u64>,
}

/// What `trinim papers report` prints: the file `report.json` of the report.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Contents {
    /// Whether the report is complete and contradicts nothing: exit code 0.
    pub ok: bool,
    /// `trinim-report`.
    pub format: &'static str,
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
    /// Returns the file.
    pub fn to_json(&self) -> String {
        let tagged = Tagged { schema: "trinim.report/1", report: self };
        serde_json::to_string_pretty(&tagged).expect("only numbers, strings and lists") + "\n"
    }
}

/// The part of an earlier `report.json` that a new report needs.
#[derive(Deserialize)]
pub struct Earlier {
    pub format: String,
    pub files: Vec<FileRow>,
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
    /// Refuses solutions of the same game that differ.
    pub fn new(mut solutions: Vec<Solution>) -> anyhow::Result<Report> {
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

        let built_in = (1..=LAYERS_MAX).flat_map(|layers| Rule::ALL.map(|rule| BuiltIn::find(layers, rule))).flatten();
        let read = |built_in| Solution::read(&Database::open_built_in(built_in)?);
        let built_in = built_in.map(read).collect::<anyhow::Result<Vec<Solution>>>()?;
        let known = tables::known(&solutions, &built_in);
        let mut documents = tables::b_files(&known);
        let mut figures = figures::figures(&solutions);
        figures.extend(drawings::drawings());
        for Figure { name, title, svg, csv, .. } in &figures {
            documents.push(document(format!("{name}.svg"), title, svg.file()));
            documents.extend(csv.iter().map(|csv| document(format!("{name}.csv"), title, csv.clone())));
        }
        let mut contradictions = Vec::new();
        let page = page::page(&solutions, &known, &figures, &databases, &mut contradictions);
        documents.push(document("report.md".into(), "All tables and figures", page));
        let title = "Databases, contradictions, files".to_owned();
        let itself = FileRow { name: REPORT_JSON.into(), title, bytes: None };
        let contents = Contents {
            ok: contradictions.is_empty(),
            format: FORMAT,
            version: 1,
            complete: true,
            contradictions,
            databases,
            files: documents.iter().map(|(file, _)| file.clone()).chain([itself]).collect(),
        };
        Ok(Report { contents, documents })
    }
}

fn document(name: String, title: &str, text: String) -> Document {
    (FileRow { name, title: title.to_owned(), bytes: Some(text.len() as u64) }, text)
}

fn disagreement(one: &Solution, other: &Solution) -> anyhow::Result<()> {
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
    let (game, [one, other]) = (one.game.words(), [one, other].map(|solution| solution.folder.display()));
    let message = format!("{one} and {other} both solve {game} and disagree: {what}");
    Err(Refused::new(message, "run trinim verify DIR on both to see which is wrong").into())
}
