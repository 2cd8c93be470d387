//! Block summaries: the losses by pieces and the digest of a block, which a solve keeps in its
//! journal.

/// The summary of one finished block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSummary {
    /// Number of losses by number of offset cells present; the pieces on BID cells are not counted.
    pub losses_by_pieces: Vec<u64>,
    /// BLAKE3 of the bitmap as little-endian words.
    pub digest: [u8; 32],
}

impl BlockSummary {
    /// Encodes the digest, then the counts as little-endian 64-bit numbers.
    pub fn to_bytes(&self) -> Vec<u8> {
        let counts = self.losses_by_pieces.iter().flat_map(|count| count.to_le_bytes());
        self.digest.into_iter().chain(counts).collect()
    }

    /// Decodes a summary; `None` if the bytes are malformed.
    pub fn from_bytes(bytes: &[u8]) -> Option<BlockSummary> {
        let (digest, counts) = bytes.split_first_chunk::<32>()?;
        let (counts, rest) = counts.as_chunks::<8>();
        let losses_by_pieces = counts.iter().map(|count| u64::from_le_bytes(*count)).collect();
        rest.is_empty().then_some(BlockSummary { losses_by_pieces, digest: *digest })
    }

    /// Returns the sum of the losses.
    pub fn losses(&self) -> u64 {
        self.losses_by_pieces.iter().sum()
    }
}

/// Returns the BLAKE3 of a bitmap as little-endian words.
pub fn stream_digest(stream: &[u64]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    if cfg!(target_endian = "little") {
        hasher.update(bytemuck::cast_slice(stream));
    } else {
        for word in stream {
            hasher.update(&word.to_le_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_survives_its_bytes_and_refuses_others() {
        let summary = BlockSummary { losses_by_pieces: vec![0, 3, u64::MAX], digest: stream_digest(&[1, 2, 3]) };
        let bytes = summary.to_bytes();
        assert_eq!(BlockSummary::from_bytes(&bytes), Some(summary));
        assert_eq!(BlockSummary::from_bytes(&bytes[..bytes.len() - 1]), None);
        assert_eq!(BlockSummary::from_bytes(&bytes[..31]), None);
    }
}
