//! Instruction sets of the kernel, as a value, and one body for all vectors, compiled for each set.
//!
//! `with_instructions` is the only list of a set's instructions. `is_detected` checks exactly those
//! that `on` compiles for; with two lists, a kernel could run instructions that no check covered.

use std::fmt;
use std::str::FromStr;

/// Passes the instructions of the x86 sets to a macro, before the given tokens.
macro_rules! with_instructions {
    ($macro:ident! $given:tt) => {
        $macro! {
            avx2: ["avx2" "bmi1" "bmi2" "popcnt"],
            avx512: [
                "avx2" "avx512f" "avx512bw" "avx512vl" "avx512vbmi" "avx512vpopcntdq" "gfni" "bmi1" "bmi2" "popcnt"
            ],
            $given
        }
    };
}

/// Runs an operation on an instruction set:
/// `on!(isa, (argument: type, ..) -> output, scalar, V => body)`.
///
/// `scalar` is the expression for [`Isa::Scalar`]. `body` sees only the arguments. It is compiled
/// for each of the other sets, with the set's instructions and with `V` as its vector, so it may
/// rely on them.
///
/// This machine must have the set `isa`, as it does for the set of a [`Kernel`](super::Kernel).
macro_rules! on {
    (
        avx2: [$($avx2:tt)*], avx512: [$($avx512:tt)*],
        ($isa:expr, ($($arg:ident: $type:ty),*) $(-> $output:ty)?, $scalar:expr, $V:ident => $body:expr)
    ) => {{
        #[inline(always)]
        unsafe fn body<$V: Vector>($($arg: $type),*) $(-> $output)? {
            $body
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature($(enable = $avx2),*)]
        fn avx2($($arg: $type),*) $(-> $output)? {
            // SAFETY: this function's features are those of the vector.
            unsafe { body::<x86::Avx2>($($arg),*) }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature($(enable = $avx512),*)]
        fn avx512($($arg: $type),*) $(-> $output)? {
            // SAFETY: this function's features are those of the vector.
            unsafe { body::<x86::Avx512>($($arg),*) }
        }
        match $isa {
            Isa::Scalar => $scalar,
            // SAFETY: arrays of words need no instruction beyond the target's baseline.
            Isa::Portable => unsafe { body::<[u64; 8]>($($arg),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a kernel exists only for an instruction set this machine has.
            Isa::Avx2 => unsafe { avx2($($arg),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx512 => unsafe { avx512($($arg),*) },
            #[cfg(not(target_arch = "x86_64"))]
            isa => unreachable!("no kernel of {isa} exists"),
        }
    }};
    ($($given:tt)*) => {
        with_instructions!(on!($($given)*))
    };
}

/// An instruction set that the kernel is compiled for, ordered from the plainest to the widest.
///
/// All of them give the same bits; they differ only in speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// One position at a time on any machine, as the papers work; used only on request.
    Scalar,
    /// The baseline instructions of the target.
    Portable,
    /// 256-bit vectors: AVX2, BMI1, BMI2 and POPCNT.
    Avx2,
    /// 512-bit vectors: AVX-512 F, BW, VL, VBMI and VPOPCNTDQ, and GFNI.
    Avx512,
}

/// A reason to refuse an instruction set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IsaError {
    /// The name is not one of `scalar`, `portable`, `avx2`, `avx512`.
    #[error("unknown instruction set {0:?}: expected scalar, portable, avx2 or avx512")]
    Unknown(String),
    /// This machine lacks the instruction set.
    #[error("this machine does not support {0}")]
    Unavailable(Isa),
}

impl Isa {
    /// Every instruction set with a kernel, plainest first.
    pub const ALL: [Isa; 4] = [Isa::Scalar, Isa::Portable, Isa::Avx2, Isa::Avx512];

    /// Returns the widest instruction set of this machine.
    #[must_use]
    pub fn detect() -> Isa {
        *Isa::available().last().unwrap_or(&Isa::Portable)
    }

    /// Returns this machine's instruction sets for many positions at a time, plainest first; never
    /// empty.
    #[must_use]
    pub fn available() -> Vec<Isa> {
        Isa::ALL.into_iter().filter(|isa| *isa != Isa::Scalar && isa.is_available()).collect()
    }

    /// Returns whether this machine has the instruction set.
    #[must_use]
    pub fn is_available(self) -> bool {
        is_detected(self)
    }
}

/// Loops that [`run_wide`] compiles for AVX2 as well.
pub trait Work {
    /// Runs them. It has to be inlined with all that it calls (`#[inline(always)]`), or keeps the
    /// baseline instructions.
    fn run(self);
}

/// Runs loops without vectors of their own with the instructions of [`Isa::Avx2`] if this machine
/// has them. Of loops with more, compilers made slower code.
pub fn run_wide(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! on_avx2 {
            (avx2: [$($avx2:tt)*], avx512: [$($avx512:tt)*], ()) => {
                #[target_feature($(enable = $avx2),*)]
                fn on_avx2(work: impl Work) {
                    work.run();
                }
            };
        }
        with_instructions!(on_avx2!());
        if Isa::Avx2.is_available() {
            // SAFETY: this machine has the instructions that the function is compiled for.
            return unsafe { on_avx2(work) };
        }
    }
    work.run();
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Isa::Scalar => "scalar",
            Isa::Portable => "portable",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        })
    }
}

impl FromStr for Isa {
    type Err = IsaError;

    fn from_str(name: &str) -> Result<Isa, IsaError> {
        Isa::ALL.into_iter().find(|isa| isa.to_string() == name).ok_or_else(|| IsaError::Unknown(name.to_owned()))
    }
}

/// Returns whether this machine has every instruction of the set.
#[cfg(target_arch = "x86_64")]
fn is_detected(isa: Isa) -> bool {
    macro_rules! detected {
        (avx2: [$($avx2:tt)*], avx512: [$($avx512:tt)*], ()) => {
            match isa {
                Isa::Scalar | Isa::Portable => true,
                Isa::Avx2 => $(is_x86_feature_detected!($avx2))&&*,
                Isa::Avx512 => $(is_x86_feature_detected!($avx512))&&*,
            }
        };
    }
    with_instructions!(detected!())
}

/// Returns whether this machine has every instruction of the set.
#[cfg(not(target_arch = "x86_64"))]
fn is_detected(isa: Isa) -> bool {
    isa <= Isa::Portable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for isa in Isa::ALL {
            assert_eq!(isa.to_string().parse(), Ok(isa));
        }
        assert_eq!("sse9".parse::<Isa>(), Err(IsaError::Unknown("sse9".to_owned())));
    }

    #[test]
    fn the_portable_one_is_everywhere() {
        assert_eq!(Isa::available()[0], Isa::Portable);
        assert!(Isa::detect().is_available());
    }
}
