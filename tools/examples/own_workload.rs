//! Runs the engine on another problem: the largest amount that coins of three values cannot pay
//! (Frobenius).
//!
//! Amounts are the nodes of an implicit graph: from each, an edge leads to the amount one coin
//! higher. An amount is payable if it is reachable from 0. A block is 65,536 amounts, one bit each;
//! its stream marks the payable ones and updates the blocks that one more coin leads to. The
//! smallest coin also leads to the same block, so `finish` completes the updates inside it.
//!
//! `cargo run --release --example own_workload`

use pipeline::{BlockId, Edge, RealStorage, Run, Workload};
use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;

const COINS: [u64; 3] = [9_949, 70_001, 150_011];
const BLOCKS: u32 = 320;
/// Words of a block, of 64 amounts each.
const WORDS: usize = 1024;
const AMOUNTS: u64 = 64 * WORDS as u64;

struct Coins;

/// Returns the first amount of a block.
fn first(block: BlockId) -> u64 {
    u64::from(block.0) * AMOUNTS
}

/// Returns whether the bit of the `at`th amount of a block is set.
fn has(bitmap: &[u64], at: u64) -> bool {
    bitmap[(at / 64) as usize] >> (at % 64) & 1 == 1
}

/// Returns the blocks that one more coin leads to, other than `source` itself.
fn targets(source: BlockId) -> BTreeSet<BlockId> {
    let ends = COINS.map(|coin| [first(source) + coin, first(source) + AMOUNTS - 1 + coin]);
    let blocks = ends.into_iter().flatten().map(|amount| BlockId((amount / AMOUNTS) as u32));
    blocks.filter(|block| *block != source && block.0 < BLOCKS).collect()
}

impl Workload for Coins {
    fn parameters(&self) -> Vec<(String, String)> {
        // A folder continues only with the same coins and blocks.
        vec![("coins".to_owned(), format!("{COINS:?}")), ("blocks".to_owned(), BLOCKS.to_string())]
    }

    fn blocks(&self) -> u32 {
        BLOCKS
    }

    fn stream_words(&self) -> usize {
        WORDS
    }

    fn edges_from(&self, source: BlockId) -> Vec<Edge> {
        targets(source).into_iter().map(|target| Edge::new(source, target)).collect()
    }

    fn edges_into(&self, target: BlockId) -> Vec<Edge> {
        let sources = BlockId::all(target.0).filter(|source| targets(*source).contains(&target));
        sources.map(|source| Edge::new(source, target)).collect()
    }

    fn begin(&self, block: BlockId, bitmap: &mut [u64]) {
        bitmap[0] |= u64::from(block == BlockId(0)); // no coin pays 0
    }

    fn apply(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]) {
        for at in (0..AMOUNTS).filter(|at| has(stream, *at)) {
            for amount in COINS.map(|coin| first(edge.source) + at + coin) {
                if amount / AMOUNTS == u64::from(edge.target.0) {
                    bitmap[(amount % AMOUNTS / 64) as usize] |= 1 << (amount % 64);
                }
            }
        }
    }

    fn finish(&self, _block: BlockId, bitmap: &mut [u64]) {
        for at in 0..AMOUNTS {
            if COINS.iter().any(|coin| at.checked_sub(*coin).is_some_and(|before| has(bitmap, before))) {
                bitmap[(at / 64) as usize] |= 1 << (at % 64);
            }
        }
    }
}

/// Returns which amounts are payable, from 0 on.
fn payable() -> Result<Vec<bool>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let storage = Arc::new(RealStorage::create(folder.path())?);
    let run = Run::new(&Coins, storage).memory_bytes(64 << 20).start()?;
    let mut payable = Vec::new();
    for block in BlockId::all(BLOCKS) {
        let stream = run.stream(block)?;
        payable.extend((0..AMOUNTS).map(|at| has(&stream, at)));
    }
    Ok(payable)
}

fn main() -> Result<(), Box<dyn Error>> {
    let payable = payable()?;
    let largest = payable.iter().rposition(|paid| !paid).ok_or("every amount can be paid")?;
    // A run of consecutive payable amounts as long as the smallest coin makes all higher ones
    // payable.
    assert!((payable.len() - largest) as u64 > COINS[0]);
    assert_eq!(largest, 19_861_008);
    println!("{largest} is the largest amount that coins of {COINS:?} cannot pay");
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_example_holds() {
        super::main().unwrap();
    }

    #[test]
    fn a_table_in_memory_says_the_same_of_every_amount() {
        let mut table = vec![true];
        for amount in 1..super::BLOCKS as usize * super::AMOUNTS as usize {
            table.push(super::COINS.iter().any(|coin| *coin as usize <= amount && table[amount - *coin as usize]));
        }
        assert!(super::payable().unwrap() == table);
    }
}
