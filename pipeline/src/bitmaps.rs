//! A pool of bitmaps of one size that are counted and used again.
//!
//! Touching memory for the first time costs as much as decoding a stream into it, so the bitmaps of
//! one block serve the next.
//!
//! # Invariants
//! 1. No more bitmaps exist than [`Bitmaps::new`] allows. The caller has planned room for each;
//!    they are counted only here.

use crate::bitmap::Bitmap;
use crate::error::Error;
use parking_lot::Mutex;
use std::sync::Arc;

/// A pool of bitmaps of one size.
#[derive(Clone)]
pub struct Bitmaps(Arc<Pool>);

struct Pool {
    words: usize,
    at_most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    spare: Vec<Bitmap>,
    /// Number of bitmaps that exist, spare or taken.
    exist: usize,
}

/// A bitmap from the pool, returned to it when dropped.
pub struct PooledBitmap {
    /// `None` only during the drop.
    bitmap: Option<Bitmap>,
    pool: Arc<Pool>,
}

impl Bitmaps {
    /// Returns a pool of at most `at_most` bitmaps of `words` words. None is allocated yet.
    pub fn new(words: usize, at_most: usize) -> Bitmaps {
        Bitmaps(Arc::new(Pool { words, at_most, state: Mutex::default() }))
    }

    /// Returns a bitmap with any content.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Panics
    /// Panics if all bitmaps are taken.
    pub fn take(&self) -> Result<PooledBitmap, Error> {
        let Pool { words, at_most, state } = &*self.0;
        let mut state = state.lock();
        let bitmap = match state.spare.pop() {
            Some(bitmap) => bitmap,
            None => {
                assert!(state.exist < *at_most, "bitmaps, invariant 1: one more than {at_most} was asked for");
                let bitmap = Bitmap::zeroed(*words)?;
                state.exist += 1;
                bitmap
            }
        };
        Ok(PooledBitmap { bitmap: Some(bitmap), pool: Arc::clone(&self.0) })
    }

    /// Returns the bitmap in this place, which it takes if there is none; it has any content.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn take_into<'p>(&self, place: &'p mut Option<PooledBitmap>) -> Result<&'p mut PooledBitmap, Error> {
        match place {
            Some(bitmap) => Ok(bitmap),
            none => Ok(none.insert(self.take()?)),
        }
    }
}

impl PooledBitmap {
    /// Returns the words.
    pub fn words(&self) -> &[u64] {
        self.bitmap.as_ref().map_or(&[], Bitmap::words)
    }

    /// Returns the words for writing.
    pub fn words_mut(&mut self) -> &mut [u64] {
        self.bitmap.as_mut().map_or(&mut [], Bitmap::words_mut)
    }
}

impl Drop for PooledBitmap {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock();
        state.spare.extend(self.bitmap.take());
        debug_assert!(state.spare.len() <= state.exist, "bitmaps, invariant 1: more spare than exist");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_used_again() {
        let bitmaps = Bitmaps::new(64, 2);
        let (mut one, other) = (bitmaps.take().unwrap(), bitmaps.take().unwrap());
        one.words_mut()[63] = 7;
        drop(one);
        assert_eq!(bitmaps.take().unwrap().words()[63], 7);
        assert_eq!(other.words(), [0; 64]);
    }

    #[test]
    #[should_panic(expected = "bitmaps, invariant 1")]
    fn more_than_there_is_room_for_are_refused() {
        let bitmaps = Bitmaps::new(64, 1);
        let _one = bitmaps.take().unwrap();
        let _ = bitmaps.take();
    }
}
