//! Block summaries: the losses by pieces and the digest of a block, stored in the journal.

/// The summary of one finished block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSummary {
    /// Number of losses by number of offset cells present; the pieces on BID cells are not counted.
    pub losses_by_pieces: Vec<u64>,
    /// BLAKE3 of the bitmap as little-endian words.
    pub digest: [u8; 32],
    /// The losses of each smaller board ([`SmallerBoards`](super::SmallerBoards)), if these are
    /// counted.
    pub by_layers: Vec<u64>,
    /// The positions in each plane, if there are nimbers or distances.
    pub by_plane: Vec<u64>,
    /// The values of its positions after a first move ([`FirstMoves`](super::FirstMoves)), if the
    /// bitmap is not kept; empty for most blocks, and for all of a database.
    pub after_first_moves: Vec<u64>,
}

impl BlockSummary {
    /// Encodes the digest, then the counts and the values as little-endian 64-bit numbers.
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = self.losses_by_pieces.iter().chain(&self.by_layers);
        let words = words.chain(&self.by_plane).chain(&self.after_first_moves);
        self.digest.into_iter().chain(words.flat_map(|word| word.to_le_bytes())).collect()
    }

    /// Decodes the summary of a block with these offset bits, of a solve that counts this many
    /// smaller boards and planes; `None` if the bytes are malformed.
    pub fn from_bytes(bytes: &[u8], offset_bits: u32, smaller_boards: usize, planes: usize) -> Option<BlockSummary> {
        let (digest, words) = bytes.split_first_chunk::<32>()?;
        let (words, rest) = words.as_chunks::<8>();
        let mut losses_by_pieces: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let counts = offset_bits as usize + 1;
        // Earlier versions marked blocks that were audited in the middle of a run with a byte.
        if !matches!(rest, [] | [1]) || losses_by_pieces.len() < counts + smaller_boards + planes {
            return None;
        }
        let mut by_layers = losses_by_pieces.split_off(counts);
        let mut by_plane = by_layers.split_off(smaller_boards);
        let after_first_moves = by_plane.split_off(planes);
        Some(BlockSummary { losses_by_pieces, digest: *digest, by_layers, by_plane, after_first_moves })
    }

    /// Returns the sum of the losses.
    pub fn losses(&self) -> u64 {
        self.losses_by_pieces.iter().sum()
    }
}

/// Returns the BLAKE3 of a bitmap as little-endian words.
pub fn stream_digest(stream: &[u64]) -> [u8; 32] {
    blake3::hash(bytemuck::cast_slice(stream)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_survives_its_bytes_and_refuses_others() {
        for (by_layers, by_plane, after_first_moves) in [
            (vec![], vec![], vec![]),
            (vec![7, 8], vec![], vec![5]),
            (vec![1], vec![], vec![u64::MAX, 1]),
            (vec![], vec![3, 0, 9], vec![]),
        ] {
            let digest = stream_digest(&[1, 2, 3]);
            let (boards, planes) = (by_layers.len(), by_plane.len());
            let losses_by_pieces = vec![0, 3, u64::MAX];
            let summary = BlockSummary { losses_by_pieces, digest, by_layers, by_plane, after_first_moves };
            let bytes = summary.to_bytes();
            let audited = [&bytes[..], &[1]].concat();
            assert_eq!(BlockSummary::from_bytes(&audited, 2, boards, planes).as_ref(), Some(&summary));
            assert_eq!(BlockSummary::from_bytes(&bytes, 2, boards, planes), Some(summary));
            assert_eq!(BlockSummary::from_bytes(&bytes[..bytes.len() - 1], 2, boards, planes), None);
            assert_eq!(BlockSummary::from_bytes(&[&bytes[..], &[2]].concat(), 2, boards, planes), None);
            let short = &bytes[..32 + 16 + 8 * (boards + planes)];
            assert_eq!(BlockSummary::from_bytes(short, 2, boards, planes), None);
            assert_eq!(BlockSummary::from_bytes(&bytes[..31], 2, 0, 0), None);
        }
    }
}
