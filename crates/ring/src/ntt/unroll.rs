//! Loops that are certainly unrolled, and calls that are certainly inlined or certainly not.

/// `unroll!(i < n, most m => { … })`: a loop of n ≤ m rounds that is certainly unrolled, because `n` folds to a constant.
/// LLVM gives up on large bodies; then the registers become an array on the stack with computed indices, three times
/// slower. The compiler reads m copies of the body before it drops those beyond n, and nested loops multiply: m is
/// therefore the least that serves (m = 8 throughout multiplies the compile time). Small bodies (loads, stores) are
/// left to LLVM.
macro_rules! unroll {
    ($i:ident < $n:expr, most 2 => $body:block) => { unroll!(@ $i, $n, $body, 0 1) };
    ($i:ident < $n:expr, most 3 => $body:block) => { unroll!(@ $i, $n, $body, 0 1 2) };
    ($i:ident < $n:expr, most 4 => $body:block) => { unroll!(@ $i, $n, $body, 0 1 2 3) };
    ($i:ident < $n:expr, most 8 => $body:block) => { unroll!(@ $i, $n, $body, 0 1 2 3 4 5 6 7) };
    (@ $i:ident, $n:expr, $body:block, $($k:literal)+) => { $(if $k < $n { let $i: usize = $k; $body })+ };
}

/// The same for the one or two blocks that the last pass interleaves; may be nested.
macro_rules! blocks {
    ($g:ident < $n:expr => $body:block) => {{
        {
            let $g: usize = 0;
            $body
        }
        if $n > 1 {
            let $g: usize = 1;
            $body
        }
    }};
}

/// A call that is inlined, except on emulated lanes, where it goes through a function of its own. Only tests
/// run emulated lanes; inlined, their code would be most of the crate and of its compile time.
macro_rules! inlined {
    ($lanes:ty, $call:expr) => {
        if <$lanes as $crate::lanes::U64Lanes>::EMULATED {
            $crate::ntt::unroll::apart(|| $call)
        } else {
            $call
        }
    };
}

/// The result of a call in a function that is not inlined.
#[inline(never)]
pub(super) fn apart<R>(call: impl FnOnce() -> R) -> R {
    call()
}

pub(super) use {blocks, inlined, unroll};
