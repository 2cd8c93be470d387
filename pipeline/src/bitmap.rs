//! The engine's large buffers: anonymous memory, page-aligned, in huge pages if the system grants
//! them.
//!
//! Operations read a block along lines that are far apart, one for each high index bit. With pages
//! of 4 KiB, each line costs a page-table walk. Safe code can request 2 MiB pages for an anonymous
//! map but not for an ordinary allocation.

use crate::error::Error;
use memmap2::{Advice, MmapMut};

/// A zeroed bitmap of a fixed number of 64-bit words.
pub struct Bitmap {
    map: MmapMut,
}

impl Bitmap {
    /// Allocates `words` words.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] if the system refuses the memory.
    pub fn zeroed(words: usize) -> Result<Bitmap, Error> {
        let bytes = (words * 8).max(8);
        let map = MmapMut::map_anon(bytes).map_err(|_| Error::OutOfMemory { needed_bytes: bytes as u64 })?;
        // Advice only: a kernel without huge pages returns an error and the map works anyway.
        let _ = map.advise(Advice::HugePage);
        Ok(Bitmap { map })
    }

    /// Returns the words.
    pub fn words(&self) -> &[u64] {
        bytemuck::cast_slice(&self.map)
    }

    /// Returns the words for writing.
    pub fn words_mut(&mut self) -> &mut [u64] {
        bytemuck::cast_slice_mut(&mut self.map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bitmap_is_zero_and_aligned_to_a_cache_line() {
        let mut bitmap = Bitmap::zeroed(1000).unwrap();
        assert_eq!(bitmap.words().len(), 1000);
        assert!(bitmap.words().iter().all(|word| *word == 0));
        assert_eq!(bitmap.words().as_ptr() as usize % 64, 0);
        bitmap.words_mut()[999] = 7;
        assert_eq!(bitmap.words()[999], 7);
    }
}
