//! Passes of two stages that do the second stage of some registers beside the first of the next: what waits for a product stands
//! beside what need not wait. For sixteen registers, which hold too few chains to fill the waits of each other.

use crate::ahead::Ahead;
use crate::ntt::{
    arith::Arith,
    engine::Engine,
    registers::{Constant, Registers},
    schedule::Run,
    unroll::inlined,
};

impl<A: Arith> Engine<'_, A> {
    /// Four registers of words `step` apart, in working form; `FIRST`: they are lifted and enter here.
    ///
    /// # Safety
    /// `from` must be valid for reading 3·step + L words.
    #[inline(always)]
    unsafe fn enter_all<const FIRST: bool>(self, from: *const u64, step: usize) -> Registers<A> {
        // SAFETY: passed on to the caller.
        let mut v = unsafe { self.load_all(from, step, 4) };
        if FIRST {
            if let Some(lift) = self.lift {
                self.lift_all(&mut v, lift, 4);
            }
            for (i, v) in v.iter_mut().enumerate().take(4) {
                *v = self.arith.enter(*v, i >= 2);
            }
        }
        v
    }

    /// [`Self::pass`] of two stages on two vectors at a time.
    ///
    /// # Safety
    /// As [`Self::pass`] with U = 2 and LOG = 2.
    #[inline(always)]
    pub(super) unsafe fn piped<const FIRST: bool, const REDUCE: bool>(
        self,
        a: *mut u64,
        len: usize,
        node: usize,
        ahead: &mut Ahead<'_>,
    ) {
        let from = if FIRST { self.source } else { a.cast_const() };
        let (step, l) = (len >> 2, Self::L);
        let reduce = [REDUCE && A::REDUCING & 1 == 1, REDUCE && A::REDUCING >> 1 & 1 == 1];
        // SAFETY: 2·node + 2 ≤ N/L; each vector is read at j + L ≤ step and written there once it has been read: here and below.
        let c = unsafe { [self.nodes(node, 1), self.nodes(node << 1, 2)] };
        // SAFETY: as above.
        let mut v = unsafe { self.enter_all::<FIRST>(from, step) };
        self.stage(&mut v, 0, 2, reduce[0], &c[0]);
        let mut j = l;
        loop {
            ahead.request();
            // SAFETY: as above.
            let mut next = unsafe { self.enter_all::<FIRST>(from.add(j), step) };
            self.two_stages(&mut next, &mut v, reduce, &c);
            // SAFETY: as above.
            unsafe { self.store_all(a.add(j - l), step, 4, &v) };
            j += l;
            if j == step {
                self.stage(&mut next, 1, 2, reduce[1], &c[1]);
                // SAFETY: as above.
                unsafe { self.store_all(a.add(j - l), step, 4, &next) };
                return;
            }
            // SAFETY: as above.
            v = unsafe { self.enter_all::<FIRST>(from.add(j), step) };
            self.two_stages(&mut v, &mut next, reduce, &c);
            // SAFETY: as above.
            unsafe { self.store_all(a.add(j - l), step, 4, &next) };
            j += l;
        }
    }

    /// Of two stages the first on `next` and the second on `v`, four registers each; all four butterflies at a time.
    #[inline(always)]
    fn two_stages(
        self,
        next: &mut Registers<A>,
        v: &mut Registers<A>,
        reduce: [bool; 2],
        constants: &[[Constant<A>; 8]; 2],
    ) {
        inlined!(A::L, {
            let [c, d] = constants;
            if reduce == [false; 2] {
                let (sum, difference) = self.arith.forward::<4, false>(
                    [next[0], next[1], v[0], v[2]],
                    [next[2], next[3], v[1], v[3]],
                    [c[0], c[0], d[0], d[1]],
                );
                [next[0], next[1], v[0], v[2]] = sum;
                [next[2], next[3], v[1], v[3]] = difference;
            } else {
                self.stage(next, 0, 2, reduce[0], c);
                self.stage(v, 1, 2, reduce[1], d);
            }
        })
    }

    /// The stages below the transpose of the last pass, which are two, on all blocks of a run.
    ///
    /// # Safety
    /// As [`Self::forward`]; L = 4.
    #[inline(always)]
    pub(super) unsafe fn piped_lower(self, a: *mut u64, run: Run, ahead: &mut Ahead<'_>) {
        // SAFETY: passed on to the caller; a run has an even number of blocks.
        unsafe {
            let mut v = self.lower_first(a, run, 0);
            let mut block = 0;
            loop {
                ahead.request();
                let mut next = self.lower_first(a, run, block + 1);
                self.lower_second(a, run, block, &mut v);
                block += 2;
                if block == run.count {
                    self.lower_second(a, run, block - 1, &mut next);
                    return;
                }
                v = self.lower_first(a, run, block);
                self.lower_second(a, run, block - 1, &mut next);
            }
        }
    }
    /// # Safety
    /// As [`Self::piped_lower`], for a block of the run.
    #[inline(always)]
    unsafe fn lower_first(self, a: *const u64, run: Run, block: usize) -> Registers<A> {
        let (l, log) = (Self::L, Self::LOG_L);
        // SAFETY: passed on to the caller.
        unsafe {
            let mut v = self.load_all(a.add(run.offset + block * run.len), l, l);
            self.transpose(&mut v);
            self.stage(&mut v, 0, log, A::LAST_REDUCING >> log & 1 == 1, &self.leaves(run.node + block, 0));
            v
        }
    }
    /// # Safety
    /// As [`Self::lower_first`].
    #[inline(always)]
    unsafe fn lower_second(self, a: *mut u64, run: Run, block: usize, v: &mut Registers<A>) {
        let (l, log, at) = (Self::L, Self::LOG_L, run.offset + block * run.len);
        // SAFETY: passed on to the caller.
        unsafe {
            let c = self.leaves(run.node + block, 1);
            self.stage(v, 1, log, A::LAST_REDUCING >> (log + 1) & 1 == 1, &c);
            if let Some(difference) = self.difference {
                self.transpose(v);
                self.leave_differences(v, difference, at);
            } else {
                self.leave_all(v);
                self.store_all(a.add(at), l, l, v);
            }
        }
    }
}
