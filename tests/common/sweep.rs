//! The extent of long sweeps.
//!
//! A sweep damages a file in every place. `cargo test` takes one bit of every byte, every seventh
//! length, one fault at a step, and fewer states of failing disks. So it covers every byte, every
//! file and every kind of case, each less often. `TRINIM_TESTS=full` takes all of them; `.ci/run`
//! sets it.

use std::env::{VarError, var};

/// Coprime to the sizes of all fields, records and sectors, so that cuts fall everywhere in them.
const LENGTH_STRIDE: usize = 7;

/// The extent of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// A part, chosen by the place of the damage.
    Sampled,
    /// Everything.
    Full,
}

impl Sweep {
    /// Reads `TRINIM_TESTS`.
    ///
    /// # Panics
    /// Panics if it is set to anything but `full`.
    pub fn asked() -> Sweep {
        match var("TRINIM_TESTS").as_deref() {
            Err(VarError::NotPresent) => Sweep::Sampled,
            Ok("full") => Sweep::Full,
            other => panic!("TRINIM_TESTS is {other:?}: the only value is full"),
        }
    }

    /// Returns the bits of byte `at` to flip: all, or one. Within 64 bytes every bit of every byte
    /// in an eight-byte field is flipped.
    pub fn bits(self, at: usize) -> std::ops::Range<u32> {
        match self {
            Sweep::Sampled => {
                let bit = ((at + at / 8) % 8) as u32;
                bit..bit + 1
            }
            Sweep::Full => 0..8,
        }
    }

    /// Returns the lengths to which `whole` bytes are cut; 0 and `whole - 1` are among them.
    pub fn cuts(self, whole: usize) -> impl Iterator<Item = usize> {
        (0..whole).filter(move |length| match self {
            Sweep::Sampled => length % LENGTH_STRIDE == 0 || length + 1 == whole,
            Sweep::Full => true,
        })
    }

    /// Yields each change of a bit and each cut of some bytes, with its story.
    pub fn spoil(self, bytes: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> {
        let flips = (0..bytes.len()).flat_map(move |at| self.bits(at).map(move |bit| (at, bit)));
        let flipped = flips.map(|(at, bit)| {
            let mut bad = bytes.to_vec();
            bad[at] ^= 1 << bit;
            (format!("bit {bit} of byte {at}"), bad)
        });
        flipped.chain(self.cuts(bytes.len()).map(|length| (format!("{length} bytes"), bytes[..length].to_vec())))
    }

    /// Returns `full`, or a smaller number.
    pub fn number(self, sampled: u64, full: u64) -> u64 {
        match self {
            Sweep::Sampled => sampled,
            Sweep::Full => full,
        }
    }
}
