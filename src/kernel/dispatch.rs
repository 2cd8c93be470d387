//! One body for all vectors, compiled for each instruction set and dispatched on the set of the
//! kernel.
//!
//! `with_instructions` is the only list of a set's instructions. `is_detected` checks exactly those
//! that `on` compiles for; with two lists, a kernel could run instructions that no check covered.

use super::Isa;

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

/// Returns whether this machine has every instruction of the set.
#[cfg(target_arch = "x86_64")]
pub(super) fn is_detected(isa: Isa) -> bool {
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
pub(super) fn is_detected(isa: Isa) -> bool {
    isa <= Isa::Portable
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
