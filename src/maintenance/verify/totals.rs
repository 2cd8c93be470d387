//! Counts and digests: of one block from its bitmap, of all blocks against the manifest and
//! published figures.

use super::Finding;
use crate::database::{Database, DistanceCount, Manifest};
use crate::witness::geometry::Geometry;
use crate::witness::orient::LINE;
use trinim_game::Rule;
use trinim_game::Value;
use trinim_game::published::{self, Counts};

/// The counts and digest of one block, from its bitmap.
pub(super) struct Account {
    /// Losses by number of pieces on the offset cells.
    losses_by_pieces: Vec<u64>,
    /// Losses of the whole isomorphic group in which the last row of the board is empty.
    without_last_row: u64,
    /// Positions by plane; empty for wins and losses.
    by_plane: Vec<u64>,
    /// BLAKE3 of the bitmap, or of all planes.
    pub digest: [u8; 32],
}

impl Account {
    /// Returns whether these are the losses by number of pieces on the offset cells.
    pub(super) fn has(&self, by_pieces: &[u64]) -> bool {
        let longest = by_pieces.len().max(self.losses_by_pieces.len());
        let at = |list: &[u64], place: usize| list.get(place).copied().unwrap_or(0);
        (0..longest).all(|place| at(by_pieces, place) == at(&self.losses_by_pieces, place))
    }

    pub(super) fn losses(&self) -> u64 {
        self.losses_by_pieces.iter().sum()
    }
}

/// Counts and hashes the bitmaps of a canonical block, as many as `planes`, the losses first.
pub(super) fn account(geometry: &Geometry, ordinal: u32, bitmaps: &[u64], planes: usize) -> Account {
    let masks = geometry.last_row_masks(ordinal);
    let words = bitmaps.len() / planes;
    let losses = bitmaps[..words].as_chunks().0;
    let count = |plane: &[u64]| plane.iter().map(|word| u64::from(word.count_ones())).sum();
    Account {
        losses_by_pieces: losses_by_pieces(geometry.index_bits(), losses),
        without_last_row: masks.into_iter().map(|mask| losses_without(mask, losses)).sum(),
        by_plane: if planes == 1 { Vec::new() } else { bitmaps.chunks_exact(words).map(count).collect() },
        digest: digest(bitmaps.as_chunks().0),
    }
}

/// Counts losses by the number of bits in their index.
///
/// A table gives the losses of a byte by the number of bits of their index in it, four counters in
/// one word; the index of the byte in its line shifts the counters. A line has at most 126 losses
/// with equally many bits, so no eight-bit counter overflows.
fn losses_by_pieces(index_bits: u32, bitmap: &[[u64; LINE]]) -> Vec<u64> {
    let table: [u64; 256] = std::array::from_fn(|byte| {
        (0_u32..8).filter(|bit| byte >> bit & 1 == 1).map(|bit| 1 << (8 * bit.count_ones())).sum()
    });
    let mut counts = vec![0; index_bits as usize + 1];
    for (number, line) in (0_u32..).zip(bitmap) {
        let mut packed = 0_u128;
        for (word, losses) in (0_u32..).zip(line) {
            let bytes = (0_u32..).zip(losses.to_le_bytes());
            let sum: u64 = bytes.map(|(place, byte)| table[usize::from(byte)] << (8 * place.count_ones())).sum();
            packed += u128::from(sum) << (8 * word.count_ones());
        }
        let counts = &mut counts[number.count_ones() as usize..];
        for (count, found) in counts.iter_mut().zip(packed.to_le_bytes()).take(10) {
            *count += u64::from(found);
        }
    }
    counts
}

/// Counts losses whose index has none of the bits of `mask`.
fn losses_without(mask: u64, bitmap: &[[u64; LINE]]) -> u64 {
    let keep = (0..64_u64).filter(|bit| bit & mask == 0).fold(0, |keep, bit| keep | 1 << bit);
    let words = (0..LINE).filter(|word| word & (mask >> 6) as usize == 0);
    let words: Vec<usize> = words.collect();
    let mut losses = 0;
    let far = (mask >> 9) as usize;
    let mut line = 0;
    while line < bitmap.len() {
        losses += words.iter().map(|word| u64::from((bitmap[line][*word] & keep).count_ones())).sum::<u64>();
        // The next line with none of the bits.
        line = ((line | far) + 1) & !far;
    }
    losses
}

/// Returns the BLAKE3 of the words, little-endian.
fn digest(bitmap: &[[u64; LINE]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let mut bytes = vec![0; 64 << 10];
    for lines in bitmap.chunks(bytes.len() / (8 * LINE)) {
        let words = lines.as_flattened();
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        hasher.update(&bytes[..words.len() * 8]);
    }
    *hasher.finalize().as_bytes()
}

/// Compares the counts of all blocks together with the manifest and with published figures.
/// `accounts` has one entry for each ordinal.
pub(super) fn compare(database: &Database, geometry: &Geometry, accounts: &[Account]) -> Vec<Finding> {
    let manifest = database.manifest();
    let losses = losses(database, geometry, accounts.iter().map(|account| &account.losses_by_pieces[..]));
    let mut findings = Vec::new();
    compare_census(manifest, &losses, &mut findings);
    let digests = accounts.iter().map(|account| &account.digest);
    let digest = manifest.spec(database.game()).solution_digest(digests);
    if manifest.digest != digest {
        let manifest = format!("the solution digest is {}", manifest.digest);
        findings.push(Finding::Count { manifest, counted: format!("the blocks have {digest}") });
    }
    compare_numbers(database, geometry, accounts, &mut findings);
    compare_start(database, &losses, &mut findings);
    if let Some(layers) = published_layers(database)
        && database.rule() == Rule::Misere
    {
        let inside: u64 = accounts.iter().map(|account| account.without_last_row).sum();
        compare_published(layers - 1, inside, "losses with an empty last row", &mut findings);
    }
    findings
}

/// Compares the losses by pieces on offset cells of all blocks, by ordinal, with the manifest and
/// with published figures, as [`compare`] does.
pub(super) fn compare_listed(database: &Database, geometry: &Geometry, blocks: &[&[u64]]) -> Vec<Finding> {
    let losses = losses(database, geometry, blocks.iter().copied());
    let mut findings = Vec::new();
    compare_census(database.manifest(), &losses, &mut findings);
    compare_start(database, &losses, &mut findings);
    findings
}

/// Adds up the losses of the whole board by number of pieces.
fn losses<'a>(database: &Database, geometry: &Geometry, blocks: impl Iterator<Item = &'a [u64]>) -> Vec<u64> {
    let mut losses = vec![0_u64; database.board().cells() as usize + 1];
    for (ordinal, by_pieces) in (0..).zip(blocks) {
        let in_bid = geometry.bid(ordinal).count_ones() as usize;
        for (in_offset, count) in by_pieces.iter().enumerate() {
            // A count beyond the cells comes from bits without a position, which are findings
            // already.
            if let Some(losses) = losses.get_mut(in_bid + in_offset) {
                *losses += geometry.weight(ordinal) * count;
            }
        }
    }
    losses
}

/// Returns the layers of a board for whose moves figures are published.
fn published_layers(database: &Database) -> Option<u32> {
    let board = database.board();
    board.layers().filter(|layers| board.max_take().is_none_or(|most| most >= *layers))
}

/// Compares the value of the start, and the sum of all losses, with the manifest and with published
/// figures.
fn compare_start(database: &Database, losses: &[u64], findings: &mut Vec<Finding>) {
    let (manifest, rule) = (database.manifest(), database.rule());
    let start = Value::from_loss(losses.last().is_some_and(|losses| *losses > 0));
    if manifest.census.start() != start {
        let manifest = format!("the start is a {}", manifest.census.start());
        findings.push(Finding::Count { manifest, counted: format!("the blocks make it a {start}") });
    }
    let Some(layers) = published_layers(database) else { return };
    if let Some(published) = published::start(layers, rule)
        && start != published
    {
        let contradiction = format!("the start is a {start}, but the published value is a {published}");
        findings.push(Finding::Published { contradiction });
    }
    if rule == Rule::Misere {
        compare_published(layers, losses.iter().sum(), "losses in all", findings);
    }
}

fn compare_published(layers: u32, found: u64, what: &str, findings: &mut Vec<Finding>) {
    if let Some(Counts { losses: published, .. }) = published::counts(layers, Rule::Misere)
        && published != found
    {
        let contradiction = format!("{found} {what}, but {published} are published for {layers} layers");
        findings.push(Finding::Published { contradiction });
    }
}

/// Compares the positions of each nimber or distance with the manifest.
fn compare_numbers(database: &Database, geometry: &Geometry, accounts: &[Account], findings: &mut Vec<Finding>) {
    let (manifest, rule) = (database.manifest(), database.rule());
    let mut counted: Vec<u64> = vec![0; accounts.iter().map(|account| account.by_plane.len()).max().unwrap_or(0)];
    for (ordinal, account) in (0..).zip(accounts) {
        for (sum, positions) in counted.iter_mut().zip(&account.by_plane) {
            *sum += geometry.weight(ordinal) * positions;
        }
    }
    // Each number with its positions in words: those of the manifest, and those of the blocks.
    let nimber = |nimber: u32, positions: u64| format!("{positions} positions have nimber {nimber}");
    let distance =
        |row: DistanceCount| format!("{} wins and {} losses have distance {}", row.wins, row.losses, row.distance);
    let nimbers = manifest.by_nimber.iter().flatten().map(|row| nimber(row.nimber, row.positions));
    let said: Vec<String> = nimbers.chain(manifest.by_distance.iter().flatten().map(|row| distance(*row))).collect();
    let words = |(number, positions): (u32, u64)| match manifest.by_nimber {
        Some(_) => nimber(number, positions),
        None => distance(DistanceCount::new(number, positions, rule)),
    };
    for (number, positions) in (0..).zip(counted.into_iter().skip(manifest.values().first_number())) {
        let (said, found) = (said.get(number as usize), words((number, positions)));
        if said != Some(&found) && (said.is_some() || positions > 0) {
            let manifest = said.cloned().unwrap_or_else(|| words((number, 0)));
            findings.push(Finding::Count { manifest, counted: format!("of the blocks, {found}") });
        }
    }
}

/// Compares the census of the manifest row by row.
fn compare_census(manifest: &Manifest, losses: &[u64], findings: &mut Vec<Finding>) {
    let rows = &manifest.census.by_pieces;
    if rows.len() != losses.len() {
        let manifest = format!("the census has {} rows", rows.len());
        findings.push(Finding::Count { manifest, counted: format!("expected {}", losses.len()) });
    }
    // Pascal's triangle, row by row in place.
    let mut positions = vec![0_u64; losses.len()];
    positions[0] = 1;
    for row in 1..losses.len() {
        for pieces in (1..=row).rev() {
            positions[pieces] += positions[pieces - 1];
        }
    }
    for (pieces, (row, expected)) in (0..).zip(rows.iter().zip(positions.iter().zip(losses))) {
        let said = (row.pieces, row.positions, row.losses);
        if said != (pieces, *expected.0, *expected.1) {
            let words = |(pieces, positions, losses): (u32, u64, u64)| {
                format!("{pieces} pieces, {positions} positions, {losses} losses")
            };
            findings.push(Finding::Count {
                manifest: format!("the census says {}", words(said)),
                counted: format!("the blocks have {}", words((pieces, *expected.0, *expected.1))),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_are_the_definition(index_bits in 9u32..=14, seed: u64, mask: u64, dense: bool) {
            let mut words = seed;
            let lines: Vec<[u64; LINE]> = (0..1 << (index_bits - 9)).map(|_| std::array::from_fn(|_| {
                words = words.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if dense { u64::MAX } else { words & words.rotate_left(21) }
            })).collect();
            let mask = mask & mask.rotate_left(17) & ((1 << index_bits) - 1);
            let losses = (0..1_u64 << index_bits)
                .filter(|x| lines.as_flattened()[*x as usize / 64] >> (x % 64) & 1 == 1);
            let mut by_pieces = vec![0; index_bits as usize + 1];
            let mut without = 0;
            for loss in losses {
                by_pieces[loss.count_ones() as usize] += 1;
                without += u64::from(loss & mask == 0);
            }
            prop_assert_eq!(losses_by_pieces(index_bits, &lines), by_pieces);
            prop_assert_eq!(losses_without(mask, &lines), without);
        }
    }

    #[test]
    fn the_digest_is_that_of_the_words() {
        let lines: Vec<[u64; LINE]> = (0..3000).map(|line| [line; LINE]).collect();
        let bytes: Vec<u8> = lines.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(digest(&lines), *blake3::hash(&bytes).as_bytes());
    }
}
