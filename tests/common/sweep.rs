//! How much of a long sweep a test takes.
//!
//! A sweep damages a file in every place. `cargo test` takes one bit of every byte, one length in
//! seven, and fewer states of failing disks: every byte, every file and every kind of case, each
//! less often. `TRINIM_TESTS=full` takes all bits, lengths and states; `.ci/run` does so.

use std::env::{VarError, var};

/// Coprime to the sizes of all fields, records and sectors, so that cuts fall everywhere in them.
const LENGTH_STRIDE: usize = 7;

/// How much of a sweep a test takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// A part that is a function of the place.
    Sampled,
    /// Everything.
    Full,
}

impl Sweep {
    /// What `TRINIM_TESTS` asks for.
    ///
    /// # Panics
    /// If it is neither unset nor `full`.
    pub fn asked() -> Sweep {
        match var("TRINIM_TESTS").as_deref() {
            Err(VarError::NotPresent) => Sweep::Sampled,
            Ok("full") => Sweep::Full,
            other => panic!("TRINIM_TESTS is {other:?}: the only value is full"),
        }
    }

    /// The bits of byte `at` that are flipped: all, or one. Every bit of every place in a field of
    /// eight bytes has its turn within 64 bytes.
    pub fn bits(self, at: usize) -> std::ops::Range<u32> {
        match self {
            Sweep::Sampled => {
                let bit = ((at + at / 8) % 8) as u32;
                bit..bit + 1
            }
            Sweep::Full => 0..8,
        }
    }

    /// The lengths to which `whole` bytes are cut; the empty file and one byte less are among them.
    pub fn cuts(self, whole: usize) -> impl Iterator<Item = usize> {
        (0..whole).filter(move |length| match self {
            Sweep::Sampled => length % LENGTH_STRIDE == 0 || length + 1 == whole,
            Sweep::Full => true,
        })
    }

    /// `full`, or a smaller number.
    pub fn number(self, sampled: u64, full: u64) -> u64 {
        match self {
            Sweep::Sampled => sampled,
            Sweep::Full => full,
        }
    }
}
