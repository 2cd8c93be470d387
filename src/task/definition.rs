//! `task.json`: what is solved in a store, the same bytes for the same solve.

use super::Error;
use super::store::{DEFINITION, Store, commit};
use pipeline::Error as RunError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use trinim::database::{Audit, DatabaseError, Game, Keep, SolveSpec, Terms};
use trinim::layout::{CANONICAL_BLOCKS_MAX, Layout};
use trinim_game::{Board, Rule};
use trinim_kernel::bitmap_words;

/// The format of a definition and its version.
const SCHEMA: &str = "trinim.store/1";
/// The program, because its encoder decides the bytes of a block.
const PROGRAM: &str = concat!("trinim ", env!("CARGO_PKG_VERSION"));
/// Limit on the length of a definition, in bytes. A board of 4,096 moves of 64 cells takes less.
const BYTES_MAX: u64 = 8 << 20;

/// The content of `task.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Definition {
    schema: String,
    program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    board: Option<trinim_game::Definition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    layers: Option<u32>,
    rule: String,
    max_take: Option<u32>,
    bid_cells: Vec<u8>,
    offset_cells: Vec<u8>,
    keep: String,
    audit: Option<String>,
    canonical_blocks: u32,
    block_bytes: u64,
    identity: String,
}

impl Definition {
    /// Returns the definition of a task. A store uses the newest versions of all formats.
    fn new(spec: SolveSpec<'_>) -> Definition {
        let SolveSpec { game, terms } = spec;
        let layout = &game.layout;
        Definition {
            schema: SCHEMA.to_owned(),
            program: PROGRAM.to_owned(),
            board: game.board.definition(),
            layers: game.board.layers(),
            rule: game.rule.name().to_owned(),
            max_take: game.board.max_take().filter(|_| game.board.layers().is_some()),
            bid_cells: layout.bid_cells().to_vec(),
            offset_cells: layout.offset_cells().to_vec(),
            keep: terms.keep.to_string(),
            audit: terms.audit.parameter().map(|(_, text)| text),
            canonical_blocks: layout.canonical_blocks().len() as u32,
            block_bytes: 8 * bitmap_words(layout.offset_bits()) as u64,
            identity: format!("{:016x}", game.identity()),
        }
    }

    /// Returns the definition of the same solve with the order of BID bits that was `found`, if it
    /// has the same cells.
    fn with_bits_of(&self, found: &[u8]) -> Definition {
        let begun = serde_json::from_slice(found).ok().and_then(|found: Definition| found.meaning());
        match (begun, self.meaning()) {
            (Some((begun, _)), Some((game, terms)))
                if begun.board == game.board && begun.layout.has_cells_of(&game.layout) =>
            {
                Definition::new(terms.spec(&Game { layout: begun.layout, ..game }))
            }
            _ => self.clone(),
        }
    }

    /// Returns the game and the terms; `None` unless this program would write the same definition.
    fn meaning(&self) -> Option<(Game, Terms)> {
        let board = match &self.board {
            Some(definition) => definition.clone().board().ok()?,
            None => Board::triangle(self.layers?, self.max_take).ok()?,
        };
        let rule: Rule = self.rule.parse().ok()?;
        let layout = Layout::from_cells(&board, &self.bid_cells).ok()?;
        let keep: Keep = self.keep.parse().ok().filter(|keep| !matches!(keep, Keep::Book { .. }))?;
        let audit = match &self.audit {
            Some(text) => text.parse().ok()?,
            None => Audit::None,
        };
        (layout.canonical_blocks().len() as u64 <= CANONICAL_BLOCKS_MAX).then_some(())?;
        Some((Game { board, rule, layout }, Terms { keep, audit, ..Terms::default() }))
    }

    fn to_json(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a definition has only numbers, strings and lists");
        bytes.push(b'\n');
        bytes
    }
}

/// Begins a store for a task, or finds that it was begun for the same one; returns whether it is
/// new.
///
/// # Errors
/// [`Error::Differs`] if it was begun for another task, which is left unchanged; [`Error::Twice`]
/// if the store does not keep its promises; [`pipeline::Error::Limit`] for too many blocks; those
/// of the store.
///
/// # Panics
/// Panics if the task is to keep a book: a store keeps all or counts.
pub fn init(store: &dyn Store, spec: SolveSpec<'_>) -> Result<bool, Error> {
    assert!(!matches!(spec.terms.keep, Keep::Book { .. }), "a store keeps no book");
    let (value, limit) = (spec.game.layout.canonical_blocks().len() as u64, CANONICAL_BLOCKS_MAX);
    if value > limit {
        return Err(pipeline::Error::Limit { what: "number of canonical blocks", value, limit }.into());
    }
    let definition = Definition::new(spec);
    let begun = |found: &[u8]| -> Result<bool, Error> {
        agree(store, found, &definition.with_bits_of(found))?;
        // The process that began it may have been killed before its name was safe.
        store.sync("")?;
        Ok(false)
    };
    if let Some(found) = store.read(DEFINITION, BYTES_MAX)? {
        return begun(&found);
    }
    store.prepare()?;
    let bytes = definition.to_json();
    if store.create(DEFINITION, &bytes)? {
        // Everything depends on this, and some services ignore conditions that they do not support.
        if store.create(DEFINITION, &bytes)? {
            store.remove(DEFINITION)?;
            return Err(Error::Twice { path: store.path(DEFINITION) });
        }
        return Ok(true);
    }
    // Another process began it a moment ago.
    match store.read(DEFINITION, BYTES_MAX)? {
        Some(found) => begun(&found),
        None => commit(store, DEFINITION, &bytes).map(|_| false).map_err(Error::from),
    }
}

/// Opens a store and returns what is solved in it.
///
/// # Errors
/// [`Error::NotAStore`]; [`Error::Differs`] for a store of another version of this program;
/// [`pipeline::Error::Corrupt`]; those of the store.
pub fn open(store: &dyn Store) -> Result<(Game, Terms), Error> {
    let Some(bytes) = store.read(DEFINITION, BYTES_MAX)? else {
        return Err(Error::NotAStore { path: store.path("") });
    };
    let corrupt = |what: String| pipeline::Error::corrupt(store.path(DEFINITION), None, what);
    let object: Map<String, Value> =
        serde_json::from_slice(&bytes).map_err(|error| corrupt(format!("not a definition: {error}")))?;
    // The other fields of another version can differ arbitrarily.
    for (name, wanted) in [("schema", SCHEMA), ("program", PROGRAM)] {
        let found = object.get(name).and_then(Value::as_str).unwrap_or("(absent)");
        if found != wanted {
            return Err(differs(store, name, found, wanted));
        }
    }
    let definition: Definition =
        serde_json::from_slice(&bytes).map_err(|error| corrupt(format!("not a definition: {error}")))?;
    let (game, terms) =
        definition.meaning().ok_or_else(|| corrupt("a solve that this program does not support".to_owned()))?;
    agree(store, &bytes, &Definition::new(terms.spec(&game)))?;
    Ok((game, terms))
}

/// Compares the definition in a store with the wanted one.
fn agree(store: &dyn Store, found: &[u8], wanted: &Definition) -> Result<(), Error> {
    if found == wanted.to_json() {
        return Ok(());
    }
    let corrupt = |what: String| pipeline::Error::corrupt(store.path(DEFINITION), None, what);
    let found: Map<String, Value> =
        serde_json::from_slice(found).map_err(|error| corrupt(format!("not a definition: {error}")))?;
    let wanted: Map<String, Value> = match serde_json::to_value(wanted) {
        Ok(Value::Object(wanted)) => wanted,
        _ => Map::new(),
    };
    let text = |value: Option<&Value>| match value {
        None => "(absent)".to_owned(),
        Some(Value::Null) => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    // Chosen values before those that follow from them.
    let chosen = ["schema", "program", "layers", "rule", "max_take", "bid_cells", "keep", "audit"];
    let names = chosen.into_iter().chain(wanted.keys().map(String::as_str)).chain(found.keys().map(String::as_str));
    match names.into_iter().find(|name| found.get(*name) != wanted.get(*name)) {
        Some(name) => Err(differs(store, name, &text(found.get(name)), &text(wanted.get(name)))),
        None => Err(corrupt("its bytes are not those that this program writes".to_owned()).into()),
    }
}

fn differs(store: &dyn Store, name: &str, found: &str, wanted: &str) -> Error {
    let (name, found, wanted) = (name.to_owned(), found.to_owned(), wanted.to_owned());
    Error::Differs { path: store.path(DEFINITION), name, found, wanted }
}

/// Turns an error about the bytes of a block into one of the store.
pub(super) fn damage(error: DatabaseError) -> Error {
    Error::Run(match error {
        DatabaseError::Corrupt { path, offset, damage } => RunError::Corrupt { path, offset, damage },
        DatabaseError::Version { path, found, supported } => {
            RunError::Version { path, found: found as u32, supported: supported as u32 }
        }
        other => RunError::workload(other.to_string()),
    })
}
