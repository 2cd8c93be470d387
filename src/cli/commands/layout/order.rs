//! Orders of blocks: named ones, and those in files.

use crate::cli::face::exit::Refused;
use crate::cli::face::output::{Out, counted};
use crate::cli::words::scenario::ordered;
use pipeline::{BlockId, Error};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use trinim::layout::{BlockOrder, Layout, order_file};

/// Largest number of canonical blocks to put in order: a few seconds for each order.
const BLOCKS_MAX: usize = 400_000;

/// The order that a solve uses.
pub const CHOSEN: &str = "chosen";
/// The order that is searched for.
const SEARCH: &str = "search";

/// Parses `layout --order`: the name of an order, or a file.
pub fn name(text: &str) -> Result<String, String> {
    match text {
        "" => Err("expected numeric, popcount, chosen, search or a file".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// An order and its peak.
#[derive(Serialize, JsonSchema)]
pub struct OrderRow {
    /// Name of the order, or its file.
    pub order: String,
    /// Most finished blocks needed at a time.
    pub peak_live_blocks: u32,
    /// The same as a share of the canonical blocks.
    pub peak_share: f64,
}

/// Returns the peaks of the named orders and of `wanted`, and writes that order to `write` if
/// given.
pub fn compare(
    layout: &Layout,
    wanted: &str,
    (orders, seed): (u32, u64),
    write: Option<&Path>,
    out: &Out,
) -> anyhow::Result<Vec<OrderRow>> {
    let blocks = layout.canonical_blocks().len();
    if blocks > BLOCKS_MAX {
        return Err(Refused::new(
            format!(
                "--order: {} are too many to order: expected at most {}",
                counted(blocks as u64, "canonical block"),
                counted(BLOCKS_MAX as u64, "block")
            ),
            "choose fewer BID cells, or more symmetric ones",
        )
        .into());
    }
    // Fail before the work, not after it.
    if let Some(path) = write.filter(|path| path.symlink_metadata().is_ok()) {
        return Err(occupied(path));
    }
    let mut named =
        vec![("numeric", BlockOrder::Numeric), ("popcount", BlockOrder::Pieces), (CHOSEN, BlockOrder::Chosen)];
    if wanted == SEARCH {
        named.push((SEARCH, BlockOrder::Searched { orders, seed }));
    }
    let mut found: Vec<(&str, Vec<BlockId>)> =
        named.into_iter().map(|(name, kind)| (name, layout.ordered(kind))).collect();
    if found.iter().all(|(name, _)| *name != wanted) {
        found.push((wanted, ordered(layout.clone(), Some(Path::new(wanted)))?.order()));
    }
    if let Some(path) = write {
        let (_, order) = found.iter().find(|(name, _)| *name == wanted).unwrap_or(&found[0]);
        create(path, &order_file::to_text(layout, order))?;
        out.remark(format_args!("{}: the order of {}", path.display(), counted(blocks as u64, "block")));
    }
    let row = |(name, order): (&str, Vec<BlockId>)| {
        let peak_live_blocks = layout.peak_live_blocks(&order);
        OrderRow { order: name.to_owned(), peak_live_blocks, peak_share: f64::from(peak_live_blocks) / blocks as f64 }
    };
    Ok(found.into_iter().map(row).collect())
}

fn occupied(path: &Path) -> anyhow::Error {
    let message = format!("--write-order {}: the name is taken", path.display());
    Refused::new(message, "choose another name, or remove the file").into()
}

/// Writes a new file, whole or not at all.
fn create(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => occupied(path),
        _ => Error::io("create", path, error).into(),
    })?;
    file.write_all(text.as_bytes()).map_err(|error| {
        // A partial order is refused anyway; if it cannot be removed, the first error says enough.
        let _ = fs::remove_file(path);
        Error::io("write", path, error).into()
    })
}
