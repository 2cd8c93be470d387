//! The names of the files in a store, and their folders.
//!
//! # Invariants
//! 1. No folder has more than [`FOLDER_BLOCKS`] files of blocks, because more cause trouble for
//!    shared file systems and their tools. The exception is `db` of a store that keeps every value,
//!    because it is the folder of a database.
//! 2. A name depends on the block and on what is kept, not on the number of blocks.

use super::store::{DATABASE, SUMMARIES};
use pipeline::BlockId;
use std::collections::BTreeSet;
use trinim::database::{SolveSpec, block_file_name};

/// Number of consecutive blocks whose files share a folder.
const FOLDER_BLOCKS: u32 = 10_000;

/// Returns the name of a block's file in the store of a task.
pub(super) fn block_name(spec: SolveSpec<'_>, block: BlockId) -> String {
    let folder = if spec.terms.keep.is_database() { DATABASE.to_owned() } else { folder_of(DATABASE, block) };
    format!("{folder}/{}", block_file_name(block))
}

/// Returns the name of a block's summary in a store.
pub(super) fn summary_name(block: BlockId) -> String {
    format!("{}/{:06}", folder_of(SUMMARIES, block), block.0)
}

fn folder_of(folder: &str, block: BlockId) -> String {
    match block.0 / FOLDER_BLOCKS {
        0 => folder.to_owned(),
        below => format!("{folder}/{below}"),
    }
}

/// Returns the folders of the summaries of some blocks, [`SUMMARIES`] itself first.
pub(super) fn summary_folders(blocks: impl IntoIterator<Item = BlockId>) -> Vec<String> {
    folders(SUMMARIES, blocks)
}

/// Returns the folders of the files of some blocks, [`DATABASE`] itself first.
pub(super) fn block_folders(spec: SolveSpec<'_>, blocks: impl IntoIterator<Item = BlockId>) -> Vec<String> {
    if spec.terms.keep.is_database() { vec![DATABASE.to_owned()] } else { folders(DATABASE, blocks) }
}

fn folders(folder: &str, blocks: impl IntoIterator<Item = BlockId>) -> Vec<String> {
    let below: BTreeSet<u32> = blocks.into_iter().map(|block| block.0 / FOLDER_BLOCKS).collect();
    let below = below.into_iter().filter(|below| *below > 0).map(|below| format!("{folder}/{below}"));
    [folder.to_owned()].into_iter().chain(below).collect()
}

/// Returns the block to which a file in a folder of [`DATABASE`] or [`SUMMARIES`] may belong; the
/// caller compares name and folder.
pub(super) fn block_of(file: &str, blocks: u32) -> Option<BlockId> {
    let number = file.strip_suffix(".blk").unwrap_or(file).parse().ok();
    number.filter(|number: &u32| *number < blocks).map(BlockId)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trinim::database::{Game, Keep, Terms};
    use trinim::layout::Layout;
    use trinim_game::{Board, Rule};

    #[test]
    fn names_of_blocks_are_in_their_folders() {
        let board = Board::triangle(2, None).unwrap();
        let game = Game { layout: Layout::suggested(&board, 2), board, rule: Rule::Misere };
        let counts = Terms { keep: Keep::Counts, ..Terms::default() };
        let (whole, counts) = (Terms::default().spec(&game), counts.spec(&game));
        let last = FOLDER_BLOCKS - 1;
        for (number, below) in [(0, ""), (last, ""), (last + 1, "1/"), (2 * last + 1, "1/"), (2 * last + 2, "2/")] {
            let block = BlockId(number);
            let file = format!("{number:06}");
            assert_eq!(summary_name(block), format!("summaries/{below}{file}"));
            assert_eq!(block_name(counts, block), format!("db/{below}{file}.blk"));
            assert_eq!(block_name(whole, block), format!("db/{file}.blk"));
            for name in [&*file, &format!("{file}.blk")] {
                assert_eq!((block_of(name, number + 1), block_of(name, number)), (Some(block), None), "{name}");
            }
        }
        for other in ["SUMS", "manifest.json", "000007.blk.blk", "-00007", ""] {
            assert_eq!(block_of(other, 2_000_000), None, "{other}");
        }
        let all = || BlockId::all(2 * last + 3);
        assert_eq!(summary_folders(all()), ["summaries", "summaries/1", "summaries/2"]);
        assert_eq!(block_folders(counts, [BlockId(last + 1)]), ["db", "db/1"]);
        assert_eq!(block_folders(whole, all()), ["db"]);
    }
}
