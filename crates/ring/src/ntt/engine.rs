//! The transform itself, over any arithmetic.
//!
//! Decimation in time, natural order in. The stages down to blocks of L·L words (L lanes) go through memory, a few
//! at a time in registers; the last 2·log2(L) run in L registers with one transpose in the middle and one at the end.

use crate::{
    ahead::Ahead,
    lanes::U64Lanes,
    ntt::{
        arith::Arith,
        schedule::{Kind, Run},
        tables::Tables,
        unroll::{blocks, unroll},
    },
};

/// A transform over data of N words.
#[derive(Clone, Copy)]
pub(super) struct Engine<'a, A> {
    pub(super) arith: A,
    pub(super) tables: &'a Tables,
    /// Where the first stages that are made read: the limb that is written, or another one.
    pub(super) source: *const u64,
    /// What happens to words that the forward transform reads there.
    pub(super) lift: Option<Lift>,
    /// What the inverse transform ends with: 1/N times a factor, and that times the constant of its last stage.
    pub(super) scale: [[u64; 2]; 2],
    /// What the forward transform ends with, if it is more than canonical words in their place.
    pub(super) difference: Option<Difference>,
    /// Whether it ends with factors of inner products, in the form of the arithmetic.
    pub(super) factors: bool,
}

/// Words from `above_half` on get `offset` added; then `less` is taken from what is not below it, if there is such a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lift {
    pub(super) above_half: u64,
    pub(super) offset: u64,
    pub(super) less: Option<u64>,
}

/// out = (from − transform)·factor + plus modulo q. The pointers are to word 0 of the limb, wherever that may be: those words
/// count that the runs write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Difference {
    pub(super) out: *mut u64,
    pub(super) from: *const u64,
    pub(super) plus: Option<*const u64>,
    pub(super) factor: [u64; 2],
    pub(super) q: u64,
}

impl<A: Arith> Engine<'_, A> {
    pub(super) const L: usize = <A::L as U64Lanes>::WIDTH;
    pub(super) const LOG_L: usize = Self::L.trailing_zeros() as usize;

    /// LOG stages on the block of `len` words that is tree node `node`, U vectors of each register at a time.
    ///
    /// # Safety
    /// `a`, and the source if `FIRST`, must be valid for `len` words, a multiple of U·L·2^LOG; node < N/(L·2^LOG).
    #[inline(always)]
    unsafe fn pass<const U: usize, const LOG: usize, const FIRST: bool, const REDUCE: bool>(
        self,
        a: *mut u64,
        len: usize,
        node: usize,
        ahead: &mut Ahead<'_>,
    ) {
        let from = if FIRST { self.source } else { a.cast_const() };
        let step = len >> LOG;
        let reduce = |s: usize| REDUCE && A::REDUCING >> s & 1 == 1;
        // SAFETY: node·2^s + 2^s ≤ N/L for s < LOG.
        let c = unsafe {
            [
                self.nodes(node, 1),
                self.nodes(node << 1, 2),
                self.nodes(node << 2, if LOG > 2 { 4 } else { 0 }),
            ]
        };
        for j in (0..step).step_by(U * Self::L) {
            ahead.request();
            // SAFETY: j + (2^LOG − 1)·step + U·L ≤ len, here and below.
            let mut v = unsafe { [self.load_all(from.add(j), step, 1 << LOG); U] };
            if U > 1 {
                // SAFETY: as above.
                v[U - 1] = unsafe { self.load_all(from.add(j + Self::L), step, 1 << LOG) };
            }
            if FIRST && let Some(lift) = self.lift {
                blocks!(g < U => { self.lift_all(&mut v[g], lift, 1 << LOG); });
            }
            if FIRST {
                blocks!(g < U => {
                    for (i, v) in v[g].iter_mut().enumerate().take(1 << LOG) {
                        *v = self.arith.enter(*v, i >= 1 << (LOG - 1));
                    }
                });
            }
            blocks!(g < U => { self.stage(&mut v[g], 0, LOG, reduce(0), &c[0]); });
            if LOG > 1 {
                blocks!(g < U => { self.stage(&mut v[g], 1, LOG, reduce(1), &c[1]); });
            }
            if LOG > 2 {
                blocks!(g < U => { self.stage(&mut v[g], 2, LOG, reduce(2), &c[2]); });
            }
            // SAFETY: as above.
            blocks!(g < U => { unsafe { self.store_all(a.add(j + g * Self::L), step, 1 << LOG, &v[g]) }; });
        }
    }

    /// The last stages on BLOCKS blocks of L·L words from tree node `node`, at word `at` of the limb: those `UPPER`, above
    /// the transpose, those `LOWER`, below it, or both.
    ///
    /// # Safety
    /// `a` must be valid for BLOCKS·L·L words, and those of a difference from `at` on; N/L² ≤ node,
    /// node + BLOCKS ≤ 2N/L².
    #[inline(always)]
    unsafe fn last<const BLOCKS: usize, const UPPER: bool, const LOWER: bool>(
        self,
        a: *mut u64,
        at: usize,
        node: usize,
        ahead: &mut Ahead<'_>,
    ) {
        let (l, log) = (Self::L, Self::LOG_L);
        if LOWER {
            ahead.request();
        }
        // SAFETY: block g lies in `a`; its nodes (node + g)·2^s + b, b < 2^s, are below N/L for s < log2 L.
        unsafe {
            let mut v = [self.load_all(a, l, l); BLOCKS];
            if BLOCKS > 1 {
                v[BLOCKS - 1] = self.load_all(a.add(l * l), l, l);
            }
            if UPPER {
                unroll!(s < log, most 3 => {
                    blocks!(g < BLOCKS => {
                        let c = self.nodes((node + g) << s, 1 << s);
                        self.stage(&mut v[g], s, log, A::LAST_REDUCING >> s & 1 == 1, &c);
                    });
                });
            }
            if !LOWER {
                blocks!(g < BLOCKS => { self.store_all(a.add(g * l * l), l, l, &v[g]); });
                return;
            }
            blocks!(g < BLOCKS => { self.transpose(&mut v[g]); });
            unroll!(s < log, most 3 => {
                blocks!(g < BLOCKS => {
                    let c = self.leaves(node + g, s);
                    self.stage(&mut v[g], s, log, A::LAST_REDUCING >> (log + s) & 1 == 1, &c);
                });
            });
            if let Some(difference) = self.difference {
                blocks!(g < BLOCKS => {
                    self.transpose(&mut v[g]);
                    self.leave_differences(&mut v[g], difference, at + g * l * l);
                });
            } else {
                blocks!(g < BLOCKS => { self.leave_all(&mut v[g]); });
                blocks!(g < BLOCKS => { self.store_all(a.add(g * l * l), l, l, &v[g]); });
            }
        }
    }
    /// Undoes [`Self::pass`]; `FIRST` also divides by N.
    ///
    /// # Safety
    /// As [`Self::pass`].
    #[inline(always)]
    unsafe fn inverse_pass<const U: usize, const LOG: usize, const FIRST: bool>(
        self,
        a: *mut u64,
        len: usize,
        node: usize,
        ahead: &mut Ahead<'_>,
    ) {
        let step = len >> LOG;
        // SAFETY: node·2^s + 2^s ≤ N/L for s < LOG.
        let c = unsafe {
            [
                self.inverse_nodes(node, 1),
                self.inverse_nodes(node, 2),
                self.inverse_nodes(node, if LOG > 2 { 4 } else { 0 }),
            ]
        };
        let scale = [self.splat(self.scale[0]), self.splat(self.scale[1])];
        for j in (0..step).step_by(U * Self::L) {
            ahead.request();
            // SAFETY: j + (2^LOG − 1)·step + U·L ≤ len, here and below.
            let mut v = unsafe { [self.load_all(a.add(j), step, 1 << LOG); U] };
            if U > 1 {
                // SAFETY: as above.
                v[U - 1] = unsafe { self.load_all(a.add(j + Self::L), step, 1 << LOG) };
            }
            let mut bounds = [[A::INVERSE_STORED; 8]; U];
            if LOG > 2 {
                blocks!(g < U => { self.inverse_stage(&mut v[g], &mut bounds[g], 2, LOG, &c[2]); });
            }
            if LOG > 1 {
                blocks!(g < U => { self.inverse_stage(&mut v[g], &mut bounds[g], 1, LOG, &c[1]); });
            }
            if FIRST {
                blocks!(g < U => { self.inverse_leave(&mut v[g], &mut bounds[g], 1 << (LOG - 1), &scale); });
            } else {
                blocks!(g < U => {
                    self.inverse_stage(&mut v[g], &mut bounds[g], 0, LOG, &c[0]);
                    self.settle(&mut v[g], &bounds[g], 1 << LOG);
                });
            }
            // SAFETY: as above.
            blocks!(g < U => { unsafe { self.store_all(a.add(j + g * Self::L), step, 1 << LOG, &v[g]) }; });
        }
    }
    /// Undoes [`Self::last`], from `from` to `a`.
    ///
    /// # Safety
    /// As [`Self::last`], for `from` too.
    #[inline(always)]
    unsafe fn inverse_last<const BLOCKS: usize, const UPPER: bool, const LOWER: bool>(
        self,
        a: *mut u64,
        from: *const u64,
        node: usize,
        ahead: &mut Ahead<'_>,
    ) {
        let (l, log) = (Self::L, Self::LOG_L);
        if LOWER {
            ahead.request();
        }
        // SAFETY: as in `last`.
        unsafe {
            let mut v = [self.load_all(from, l, l); BLOCKS];
            blocks!(g < BLOCKS => { v[g] = self.load_all(from.add(g * l * l), l, l); });
            if LOWER {
                // Lanes in backward order, as the mirrored constants stand.
                blocks!(g < BLOCKS => {
                    self.turn(&mut v[g]);
                    self.transpose(&mut v[g]);
                });
                blocks!(g < BLOCKS => {
                    for v in v[g].iter_mut().take(l) {
                        *v = self.arith.inverse_enter(*v);
                    }
                });
                let mut bounds = [[A::INVERSE_ENTERED; 8]; BLOCKS];
                unroll!(i < log, most 3 => {
                    let s = log - 1 - i;
                    blocks!(g < BLOCKS => {
                        self.inverse_stage(&mut v[g], &mut bounds[g], s, log, &self.inverse_leaves(node + g, s));
                    });
                });
                blocks!(g < BLOCKS => {
                    self.settle(&mut v[g], &bounds[g], l);
                    self.transpose(&mut v[g]);
                    self.turn(&mut v[g]);
                });
            }
            if !UPPER {
                blocks!(g < BLOCKS => { self.store_all(a.add(g * l * l), l, l, &v[g]); });
                return;
            }
            let mut bounds = [[A::INVERSE_STORED; 8]; BLOCKS];
            unroll!(i < log, most 3 => {
                let s = log - 1 - i;
                blocks!(g < BLOCKS => {
                    self.inverse_stage(&mut v[g], &mut bounds[g], s, log, &self.inverse_nodes(node + g, 1 << s));
                });
            });
            blocks!(g < BLOCKS => {
                self.settle(&mut v[g], &bounds[g], l);
                self.store_all(a.add(g * l * l), l, l, &v[g]);
            });
        }
    }

    /// [`Self::pass`] with as many vectors at a time as the arithmetic wants.
    ///
    /// # Safety
    /// As [`Self::pass`].
    #[inline(always)]
    unsafe fn pass_of<const LOG: usize, const FIRST: bool, const REDUCE: bool>(
        self,
        a: *mut u64,
        len: usize,
        node: usize,
        ahead: &mut Ahead<'_>,
    ) {
        // SAFETY: passed on to the caller.
        unsafe {
            if A::INTERLEAVED {
                self.pass::<2, LOG, FIRST, REDUCE>(a, len, node, ahead)
            } else {
                self.pass::<1, LOG, FIRST, REDUCE>(a, len, node, ahead)
            }
        }
    }
    /// [`Self::inverse_pass`], likewise.
    ///
    /// # Safety
    /// As [`Self::pass`].
    #[inline(always)]
    unsafe fn inverse_pass_of<const LOG: usize, const FIRST: bool>(
        self,
        a: *mut u64,
        len: usize,
        node: usize,
        ahead: &mut Ahead<'_>,
    ) {
        // SAFETY: passed on to the caller.
        unsafe {
            if A::INTERLEAVED {
                self.inverse_pass::<2, LOG, FIRST>(a, len, node, ahead)
            } else {
                self.inverse_pass::<1, LOG, FIRST>(a, len, node, ahead)
            }
        }
    }

    /// [`Self::pass`] for a radix known at run time, which the schedule keeps within `MAX_LOG_RADIX`.
    ///
    /// # Safety
    /// As [`Self::pass`].
    #[inline(always)]
    unsafe fn any_pass<const FIRST: bool, const REDUCE: bool>(
        self,
        log: usize,
        a: *mut u64,
        len: usize,
        node: usize,
        ahead: &mut Ahead<'_>,
    ) {
        // SAFETY: passed on to the caller.
        unsafe {
            match log {
                1 => self.pass_of::<1, FIRST, REDUCE>(a, len, node, ahead),
                3 if A::MAX_LOG_RADIX >= 3 => self.pass_of::<3, FIRST, REDUCE>(a, len, node, ahead),
                _ if A::PIPED => self.piped::<FIRST, REDUCE>(a, len, node, ahead),
                _ => self.pass_of::<2, FIRST, REDUCE>(a, len, node, ahead),
            }
        }
    }

    /// How often runs ask for data ahead: once for the registers that they hold at a time.
    pub(super) fn steps(runs: &[Run]) -> usize {
        let vectors = if A::INTERLEAVED { 2 } else { 1 };
        let steps = |run: &Run| match run.kind {
            Kind::Pass { log_radix, .. } => run.count * (run.len >> log_radix) / (vectors * Self::L),
            Kind::Last => run.count / A::LAST_BLOCKS,
        };
        runs.iter().map(steps).sum()
    }

    /// Canonical words in natural order to canonical words in bit-reversed order: all runs of the tables in order, or some
    /// of them.
    ///
    /// # Safety
    /// `a` must be valid for N words, the source where the first runs read, and a difference where the last ones write;
    /// `runs` are of the tables.
    #[inline(always)]
    pub(super) unsafe fn forward(self, a: *mut u64, runs: &[Run], mut ahead: Ahead<'_>) {
        for run in runs {
            let Kind::Pass { log_radix, first, reduce } = run.kind else {
                // SAFETY: the schedule covers [0, N), here and below: offset + count·len ≤ N, and its nodes are those of that
                // level.
                unsafe { self.all_last(a, *run, &mut ahead) };
                continue;
            };
            for i in 0..run.count {
                let (node, len) = (run.node + i, run.len);
                // SAFETY: as above.
                unsafe {
                    let a = a.add(run.offset + i * len);
                    if first && reduce && A::FIRST_REDUCES {
                        self.any_pass::<true, true>(log_radix, a, len, node, &mut ahead);
                    } else if first {
                        self.any_pass::<true, false>(log_radix, a, len, node, &mut ahead);
                    } else if reduce && A::REDUCING != 0 {
                        self.any_pass::<false, true>(log_radix, a, len, node, &mut ahead);
                    } else {
                        self.any_pass::<false, false>(log_radix, a, len, node, &mut ahead);
                    }
                }
            }
        }
    }

    /// [`Self::last`] on all blocks of a run.
    ///
    /// # Safety
    /// As [`Self::forward`].
    #[inline(always)]
    unsafe fn all_last(self, a: *mut u64, run: Run, ahead: &mut Ahead<'_>) {
        let place = |i: usize| (run.offset + i * run.len, run.node + i);
        let blocks = || (0..run.count).step_by(A::LAST_BLOCKS).map(place);
        // SAFETY: passed on to the caller; the blocks of a run are a power of two, and at least two.
        unsafe {
            if A::LAST_BLOCKS == 1 {
                for (at, node) in blocks() {
                    self.last::<1, true, true>(a.add(at), at, node, ahead);
                }
            } else if A::SPLIT {
                for (at, node) in blocks() {
                    self.last::<2, true, false>(a.add(at), at, node, ahead);
                }
                if A::PIPED_LAST {
                    self.piped_lower(a, run, ahead);
                    return;
                }
                for (at, node) in blocks() {
                    self.last::<2, false, true>(a.add(at), at, node, ahead);
                }
            } else {
                for (at, node) in blocks() {
                    self.last::<2, true, true>(a.add(at), at, node, ahead);
                }
            }
        }
    }

    /// Undoes [`Self::forward`]: words below 2q in, canonical words in natural order out.
    ///
    /// # Safety
    /// As [`Self::forward`].
    #[inline(always)]
    pub(super) unsafe fn inverse(self, a: *mut u64, runs: &[Run], mut ahead: Ahead<'_>) {
        for run in runs.iter().rev() {
            let Kind::Pass { log_radix, first, .. } = run.kind else {
                // SAFETY: as in `forward`, here and below.
                unsafe { self.all_inverse_last(a, *run, &mut ahead) };
                continue;
            };
            // Backwards, so that the mirrored constants are read forwards.
            for i in (0..run.count).rev() {
                let (node, len) = (run.node + i, run.len);
                // SAFETY: as above.
                unsafe {
                    let a = a.add(run.offset + i * len);
                    match (log_radix, first) {
                        (1, false) => self.inverse_pass_of::<1, false>(a, len, node, &mut ahead),
                        (1, true) => self.inverse_pass_of::<1, true>(a, len, node, &mut ahead),
                        (3, false) if A::MAX_LOG_RADIX >= 3 => {
                            self.inverse_pass_of::<3, false>(a, len, node, &mut ahead)
                        }
                        (3, true) if A::MAX_LOG_RADIX >= 3 => {
                            self.inverse_pass_of::<3, true>(a, len, node, &mut ahead)
                        }
                        (_, false) => self.inverse_pass_of::<2, false>(a, len, node, &mut ahead),
                        (_, true) => self.inverse_pass_of::<2, true>(a, len, node, &mut ahead),
                    }
                }
            }
        }
    }

    /// [`Self::inverse_last`] on all blocks of a run, from the source.
    ///
    /// # Safety
    /// As [`Self::forward`].
    #[inline(always)]
    unsafe fn all_inverse_last(self, a: *mut u64, run: Run, ahead: &mut Ahead<'_>) {
        let place = |i: usize| (run.offset + i * run.len, run.node + i);
        // Backwards, as in `inverse`.
        let blocks = || (0..run.count).step_by(A::LAST_BLOCKS).rev().map(place);
        // SAFETY: as in `all_last`.
        unsafe {
            if A::LAST_BLOCKS == 1 {
                for (at, node) in blocks() {
                    self.inverse_last::<1, true, true>(a.add(at), self.source.wrapping_add(at), node, ahead);
                }
            } else if A::SPLIT {
                for (at, node) in blocks() {
                    self.inverse_last::<2, false, true>(a.add(at), self.source.wrapping_add(at), node, ahead);
                }
                for (at, node) in blocks() {
                    self.inverse_last::<2, true, false>(a.add(at), a.add(at).cast_const(), node, ahead);
                }
            } else {
                for (at, node) in blocks() {
                    self.inverse_last::<2, true, true>(a.add(at), self.source.wrapping_add(at), node, ahead);
                }
            }
        }
    }
}
