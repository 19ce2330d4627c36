//! Asking for data that will be read soon, a little at a time while the transform computes: what comes from memory
//! then costs no time of its own.

/// Words of a cache line.
const LINE: usize = 8;

/// Slices whose lines are requested in order, an equal share at each of a number of steps.
#[derive(Debug, Clone)]
pub(crate) struct Ahead<'a> {
    /// What is left of the slice in turn: where it begins, and its words.
    current: (*const u64, usize),
    slices: &'a [&'a [u64]],
    /// Lines a step.
    share: usize,
}

impl<'a> Ahead<'a> {
    /// First `own` words from `from` on, which may be borrowed elsewhere as they are not read; then the slices.
    pub(crate) fn new((from, own): (*const u64, usize), slices: &'a [&'a [u64]], steps: usize) -> Self {
        let lines: usize = slices.iter().map(|slice| slice.len().div_ceil(LINE)).sum();
        Self { current: (from, own), slices, share: (lines + own.div_ceil(LINE)).div_ceil(steps.max(1)) }
    }

    /// One step.
    #[inline(always)]
    pub(crate) fn request(&mut self) {
        let mut lines = self.share;
        while lines > 0 {
            let (from, words) = self.current;
            if words == 0 {
                let Some((&first, rest)) = self.slices.split_first() else { return };
                (self.current, self.slices) = ((first.as_ptr(), first.len()), rest);
                continue;
            }
            let now = (lines * LINE).min(words);
            for word in (0..now).step_by(LINE) {
                prefetch(from.wrapping_add(word));
            }
            lines -= now.div_ceil(LINE);
            self.current = (from.wrapping_add(now), words - now);
        }
    }
}

/// Brings the line of a word into the second cache.
#[inline(always)]
fn prefetch(word: *const u64) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program can see, and any address will do.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(word.cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl2keep, [{}]", in(reg) word, options(readonly, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = word;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_requested_within_the_steps() {
        let words = [0u64; 100];
        let slices: [&[u64]; 4] = [&words[..64], &[], &words[..7], &words];
        for steps in [1, 3, 8, 500] {
            let mut ahead = Ahead::new((words.as_ptr(), 33), &slices, steps);
            for _ in 0..steps {
                ahead.request();
            }
            assert!(ahead.slices.is_empty() && ahead.current.1 == 0, "{steps} steps");
        }
    }
}
