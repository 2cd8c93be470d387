//! One body for all vectors, compiled for each instruction set and dispatched on the set of the
//! kernel.

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
