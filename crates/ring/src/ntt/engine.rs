//! The transform itself, over any arithmetic.
//!
//! Decimation in time, natural order in. The stages down to blocks of L·L words (L lanes) go through memory, a few
//! at a time in registers; the last 2·log2(L) run in L registers with one transpose in the middle, which leaves
//! each block transposed: *native* order. A second transpose gives bit-reversed order.

use crate::{
    lanes::U64Lanes,
    ntt::{
        ahead::Ahead,
        arith::Arith,
        schedule::{Kind, Run},
        tables::{Direction, Tables},
    },
};

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

/// A transform over data of N words.
#[derive(Clone, Copy)]
pub(super) struct Engine<'a, A> {
    pub(super) arith: A,
    pub(super) tables: &'a Tables,
}

type Constant<A> = <A as Arith>::C;
type Registers<A> = [<A as Arith>::V; 8];

/// Where butterfly i of a stage with distance h has its x, and which of the 2^stage sub-blocks that lies in.
#[inline(always)]
const fn butterfly(i: usize, h: usize) -> (usize, usize) {
    (i / h * 2 * h + i % h, i / h)
}

impl<A: Arith> Engine<'_, A> {
    const L: usize = <A::L as U64Lanes>::WIDTH;
    const LOG_L: usize = Self::L.trailing_zeros() as usize;

    /// # Safety
    /// `p` must be valid for reading L words.
    #[inline(always)]
    unsafe fn load(self, p: *const u64) -> A::V {
        // SAFETY: passed on to the caller.
        self.arith.register(unsafe { self.arith.lanes().load_ptr(p) })
    }
    /// # Safety
    /// `p` must be valid for writing L words.
    #[inline(always)]
    unsafe fn store(self, p: *mut u64, v: A::V) {
        // SAFETY: passed on to the caller.
        unsafe { self.arith.lanes().store_ptr(p, self.arith.words(v)) }
    }
    #[inline(always)]
    fn splat(self, [a, b]: [u64; 2]) -> Constant<A> {
        let l = self.arith.lanes();
        self.arith.constant([self.arith.register(l.splat(a)), self.arith.register(l.splat(b))])
    }
    /// The constant of node k, in all lanes.
    ///
    /// # Safety
    /// k < N/L.
    #[inline(always)]
    unsafe fn node(self, d: &Direction, k: usize) -> Constant<A> {
        // SAFETY: the table holds two words for each k < N/L.
        unsafe {
            let p = d.nodes.as_ptr().add(2 * k);
            self.splat([*p, *p.add(1)])
        }
    }
    /// Constants i of the L − 1 that block `node` uses after its transpose.
    ///
    /// # Safety
    /// N/L² ≤ node < 2N/L² and i < L − 1.
    #[inline(always)]
    unsafe fn leaf(self, d: &Direction, node: usize, i: usize) -> Constant<A> {
        let first = (1usize << self.tables.log_n) / (Self::L * Self::L);
        // SAFETY: the table holds 2L words for each such node and i.
        unsafe {
            let p = d.leaves.as_ptr().add(((node - first) * (Self::L - 1) + i) * 2 * Self::L);
            self.arith.constant([self.load(p), self.load(p.add(Self::L))])
        }
    }
    #[inline(always)]
    fn transpose(self, v: &mut Registers<A>) {
        let l = self.arith.lanes();
        let mut u = [l.splat(0); 8];
        for i in 0..Self::L {
            u[i] = self.arith.words(v[i]);
        }
        l.transpose(&mut u);
        for i in 0..Self::L {
            v[i] = self.arith.register(u[i]);
        }
    }
    /// Loads `count` registers, `step` words apart.
    ///
    /// # Safety
    /// `p` must be valid for reading (count − 1)·step + L words; count ≤ 8.
    #[inline(always)]
    unsafe fn load_all(self, p: *const u64, step: usize, count: usize) -> Registers<A> {
        let mut v = [self.arith.register(self.arith.lanes().splat(0)); 8];
        for (c, v) in v.iter_mut().enumerate().take(count) {
            // SAFETY: passed on to the caller.
            *v = unsafe { self.load(p.add(c * step)) };
        }
        v
    }
    /// Stores `count` registers, `step` words apart.
    ///
    /// # Safety
    /// `p` must be valid for writing (count − 1)·step + L words; count ≤ 8.
    #[inline(always)]
    unsafe fn store_all(self, p: *mut u64, step: usize, count: usize, v: &Registers<A>) {
        for (c, &v) in v.iter().enumerate().take(count) {
            // SAFETY: passed on to the caller.
            unsafe { self.store(p.add(c * step), v) };
        }
    }
    /// The constants of the `count` nodes from k.
    ///
    /// # Safety
    /// k + count ≤ N/L; count ≤ 8.
    #[inline(always)]
    unsafe fn nodes(self, d: &Direction, k: usize, count: usize) -> [Constant<A>; 8] {
        let mut constants = [self.splat([0; 2]); 8];
        for (b, c) in constants.iter_mut().enumerate().take(count) {
            // SAFETY: passed on to the caller.
            *c = unsafe { self.node(d, k + b) };
        }
        constants
    }
    /// The constants of stage `stage` below the transposed lanes of block `node`.
    ///
    /// # Safety
    /// N/L² ≤ node < 2N/L²; stage < log2 L.
    #[inline(always)]
    unsafe fn leaves(self, d: &Direction, node: usize, stage: usize) -> [Constant<A>; 8] {
        let mut constants = [self.splat([0; 2]); 8];
        for (b, c) in constants.iter_mut().enumerate().take(1 << stage) {
            // SAFETY: passed on to the caller; 2^stage − 1 + b < L − 1.
            *c = unsafe { self.leaf(d, node, (1 << stage) - 1 + b) };
        }
        constants
    }

    /// Stage `stage` of `log` on 2^log registers, two butterflies at a time; `constants[b]` for sub-block b.
    #[inline(always)]
    fn stage(
        self,
        v: &mut Registers<A>,
        stage: usize,
        log: usize,
        reduce: bool,
        constants: &[Constant<A>; 8],
    ) {
        if reduce {
            self.stage_of::<true>(v, stage, log, constants);
        } else {
            self.stage_of::<false>(v, stage, log, constants);
        }
    }
    #[inline(always)]
    fn stage_of<const REDUCE: bool>(
        self,
        v: &mut Registers<A>,
        stage: usize,
        log: usize,
        constants: &[Constant<A>; 8],
    ) {
        let h = 1 << (log - stage - 1);
        if log == 1 {
            let ([a], [b]) = self.arith.forward::<1, REDUCE>([v[0]], [v[1]], [constants[0]]);
            (v[0], v[1]) = (a, b);
            return;
        }
        unroll!(i < 1 << (log - 2), most 2 => {
            let ((x, b), (z, d)) = (butterfly(2 * i, h), butterfly(2 * i + 1, h));
            let (sum, difference) =
                self.arith.forward::<2, REDUCE>([v[x], v[z]], [v[x + h], v[z + h]], [constants[b], constants[d]]);
            [v[x], v[z]] = sum;
            [v[x + h], v[z + h]] = difference;
        });
    }
    /// The inverse of a stage. `bounds[e]` bounds register e in units of q/8; it is known when this is compiled.
    #[inline(always)]
    fn inverse_stage(
        self,
        v: &mut Registers<A>,
        bounds: &mut [u32; 8],
        stage: usize,
        log: usize,
        constants: &[Constant<A>; 8],
    ) {
        let h = 1 << (log - stage - 1);
        if log == 1 {
            self.fit(v, bounds, 0, 1);
            let ([sum], [product]) = self.arith.inverse::<1>([v[0]], [v[1]], [constants[0]]);
            (v[0], v[1]) = (sum, product);
            (bounds[0], bounds[1]) = (bounds[0] + bounds[1], A::INVERSE_FRESH);
            return;
        }
        unroll!(i < 1 << (log - 2), most 2 => {
            let ((x, b), (z, d)) = (butterfly(2 * i, h), butterfly(2 * i + 1, h));
            self.fit(v, bounds, x, x + h);
            self.fit(v, bounds, z, z + h);
            let (sum, product) =
                self.arith.inverse::<2>([v[x], v[z]], [v[x + h], v[z + h]], [constants[b], constants[d]]);
            [v[x], v[z]] = sum;
            [v[x + h], v[z + h]] = product;
            (bounds[x], bounds[x + h]) = (bounds[x] + bounds[x + h], A::INVERSE_FRESH);
            (bounds[z], bounds[z + h]) = (bounds[z] + bounds[z + h], A::INVERSE_FRESH);
        });
    }
    /// Reduces x and y if their sum would pass the limit.
    #[inline(always)]
    fn fit(self, v: &mut Registers<A>, bounds: &mut [u32; 8], x: usize, y: usize) {
        if bounds[x] + bounds[y] > A::INVERSE_LIMIT || 2 * bounds[y] > A::INVERSE_LIMIT {
            (v[x], v[y]) = (self.arith.inverse_reduce(v[x]), self.arith.inverse_reduce(v[y]));
            (bounds[x], bounds[y]) = (A::INVERSE_REDUCED, A::INVERSE_REDUCED);
        }
    }
    /// Brings every register within the bound of words in memory.
    #[inline(always)]
    fn settle(self, v: &mut Registers<A>, bounds: &[u32; 8], count: usize) {
        unroll!(e < count, most 8 => {
            if bounds[e] > A::INVERSE_STORED {
                v[e] = self.arith.inverse_reduce(v[e]);
            }
        });
    }

    /// LOG stages on the block of `len` words that is tree node `node`, U vectors of each register at a time.
    ///
    /// # Safety
    /// `a` must be valid for `len` words, a multiple of U·L·2^LOG; node < N/(L·2^LOG).
    #[inline(always)]
    unsafe fn pass<const U: usize, const LOG: usize, const FIRST: bool, const REDUCE: bool>(
        self,
        a: *mut u64,
        len: usize,
        node: usize,
    ) {
        let (step, table) = (len >> LOG, &self.tables.forward);
        let reduce = |s: usize| REDUCE && A::REDUCING >> s & 1 == 1;
        // SAFETY: node·2^s + 2^s ≤ N/L for s < LOG.
        let c = unsafe {
            [
                self.nodes(table, node, 1),
                self.nodes(table, node << 1, 2),
                self.nodes(table, node << 2, if LOG > 2 { 4 } else { 0 }),
            ]
        };
        for j in (0..step).step_by(U * Self::L) {
            // SAFETY: j + (2^LOG − 1)·step + U·L ≤ len, here and below.
            let mut v = unsafe { [self.load_all(a.add(j), step, 1 << LOG); U] };
            if U > 1 {
                // SAFETY: as above.
                v[U - 1] = unsafe { self.load_all(a.add(j + Self::L), step, 1 << LOG) };
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

    /// The last stages on BLOCKS blocks of L·L words from tree node `node`.
    ///
    /// # Safety
    /// `a` must be valid for BLOCKS·L·L words; N/L² ≤ node, node + BLOCKS ≤ 2N/L².
    #[inline(always)]
    unsafe fn last<const BLOCKS: usize>(self, a: *mut u64, node: usize, native: bool) {
        let (l, log, table) = (Self::L, Self::LOG_L, &self.tables.forward);
        // SAFETY: block g lies in `a`; its nodes (node + g)·2^s + b, b < 2^s, are below N/L for s < log2 L.
        unsafe {
            let mut v = [self.load_all(a, l, l); BLOCKS];
            if BLOCKS > 1 {
                v[BLOCKS - 1] = self.load_all(a.add(l * l), l, l);
            }
            unroll!(s < log, most 3 => {
                blocks!(g < BLOCKS => {
                    let c = self.nodes(table, (node + g) << s, 1 << s);
                    self.stage(&mut v[g], s, log, A::LAST_REDUCING >> s & 1 == 1, &c);
                });
            });
            blocks!(g < BLOCKS => { self.transpose(&mut v[g]); });
            unroll!(s < log, most 3 => {
                blocks!(g < BLOCKS => {
                    let c = self.leaves(table, node + g, s);
                    self.stage(&mut v[g], s, log, A::LAST_REDUCING >> (log + s) & 1 == 1, &c);
                });
            });
            // One branch for all blocks: between two branches LLVM would sink the arithmetic of the second block below
            // that of the first, and neither would hide the other's latency.
            if native {
                blocks!(g < BLOCKS => { self.leave_all::<false>(&mut v[g]); });
            } else {
                blocks!(g < BLOCKS => { self.leave_all::<true>(&mut v[g]); });
            }
            blocks!(g < BLOCKS => { self.store_all(a.add(g * l * l), l, l, &v[g]); });
        }
    }
    /// Working form to words: canonical and transposed back, or below 2q in native order.
    #[inline(always)]
    fn leave_all<const CANONICAL: bool>(self, v: &mut Registers<A>) {
        for v in v.iter_mut().take(Self::L) {
            *v = self.arith.leave::<CANONICAL>(*v);
        }
        if CANONICAL {
            self.transpose(v);
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
    ) {
        let (step, table) = (len >> LOG, &self.tables.inverse);
        // SAFETY: node·2^s + 2^s ≤ N/L for s < LOG.
        let c = unsafe {
            [
                self.nodes(table, node, 1),
                self.nodes(table, node << 1, 2),
                self.nodes(table, node << 2, if LOG > 2 { 4 } else { 0 }),
            ]
        };
        let scale = [self.splat(self.tables.scale[0]), self.splat(self.tables.scale[1])];
        for j in (0..step).step_by(U * Self::L) {
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
    /// The last stage of all, on registers x and x + half.
    #[inline(always)]
    fn inverse_leave(
        self,
        v: &mut Registers<A>,
        bounds: &mut [u32; 8],
        half: usize,
        scale: &[Constant<A>; 2],
    ) {
        unroll!(x < half, most 4 => {
            self.fit(v, bounds, x, x + half);
            (v[x], v[x + half]) = self.arith.inverse_leave(v[x], v[x + half], scale[0], scale[1]);
        });
    }

    /// Undoes [`Self::last`].
    ///
    /// # Safety
    /// As [`Self::last`].
    #[inline(always)]
    unsafe fn inverse_last<const BLOCKS: usize>(self, a: *mut u64, node: usize, native: bool) {
        let (l, log, table) = (Self::L, Self::LOG_L, &self.tables.inverse);
        // SAFETY: as in `last`.
        unsafe {
            let mut v = [self.load_all(a, l, l); BLOCKS];
            blocks!(g < BLOCKS => { v[g] = self.load_all(a.add(g * l * l), l, l); });
            if !native {
                blocks!(g < BLOCKS => { self.transpose(&mut v[g]); });
            }
            blocks!(g < BLOCKS => {
                for v in v[g].iter_mut().take(l) {
                    *v = self.arith.inverse_enter(*v);
                }
            });
            let mut bounds = [[16; 8]; BLOCKS];
            unroll!(i < log, most 3 => {
                let s = log - 1 - i;
                blocks!(g < BLOCKS => {
                    self.inverse_stage(&mut v[g], &mut bounds[g], s, log, &self.leaves(table, node + g, s));
                });
            });
            blocks!(g < BLOCKS => {
                self.settle(&mut v[g], &bounds[g], l);
                self.transpose(&mut v[g]);
            });
            let mut bounds = [[A::INVERSE_STORED; 8]; BLOCKS];
            unroll!(i < log, most 3 => {
                let s = log - 1 - i;
                blocks!(g < BLOCKS => {
                    self.inverse_stage(&mut v[g], &mut bounds[g], s, log, &self.nodes(table, (node + g) << s, 1 << s));
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
    ) {
        // SAFETY: passed on to the caller.
        unsafe {
            if A::INTERLEAVED {
                self.pass::<2, LOG, FIRST, REDUCE>(a, len, node)
            } else {
                self.pass::<1, LOG, FIRST, REDUCE>(a, len, node)
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
    ) {
        // SAFETY: passed on to the caller.
        unsafe {
            if A::INTERLEAVED {
                self.inverse_pass::<2, LOG, FIRST>(a, len, node)
            } else {
                self.inverse_pass::<1, LOG, FIRST>(a, len, node)
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
    ) {
        // SAFETY: passed on to the caller.
        unsafe {
            match log {
                1 => self.pass_of::<1, FIRST, REDUCE>(a, len, node),
                3 if A::MAX_LOG_RADIX >= 3 => self.pass_of::<3, FIRST, REDUCE>(a, len, node),
                _ => self.pass_of::<2, FIRST, REDUCE>(a, len, node),
            }
        }
    }

    /// Canonical words in natural order to bit-reversed order and canonical, or native order and below 2q: all runs of
    /// the tables in order, or some of them.
    ///
    /// # Safety
    /// `a` must be valid for N words; `runs` are of the tables.
    #[inline(always)]
    pub(super) unsafe fn forward(self, a: *mut u64, native: bool, runs: &[Run], mut ahead: Ahead<'_>) {
        for run in runs {
            for i in 0..run.count {
                ahead.request();
                let (node, len) = (run.node + i, run.len);
                // SAFETY: the schedule covers [0, N): offset + count·len ≤ N, and its nodes are those of that level.
                unsafe {
                    let a = a.add(run.offset + i * len);
                    match run.kind {
                        Kind::Pass { log_radix, first: true, .. } => {
                            self.any_pass::<true, false>(log_radix, a, len, node)
                        }
                        Kind::Pass { log_radix, reduce: true, .. } if A::REDUCING != 0 => {
                            self.any_pass::<false, true>(log_radix, a, len, node)
                        }
                        Kind::Pass { log_radix, .. } => {
                            self.any_pass::<false, false>(log_radix, a, len, node)
                        }
                        Kind::Last if A::LAST_BLOCKS == 1 => self.last::<1>(a, node, native),
                        Kind::Last if i % 2 == 0 => self.last::<2>(a, node, native),
                        Kind::Last => {}
                    }
                }
            }
        }
    }

    /// Undoes [`Self::forward`]: words below 2q in, canonical words in natural order out.
    ///
    /// # Safety
    /// As [`Self::forward`].
    #[inline(always)]
    pub(super) unsafe fn inverse(self, a: *mut u64, native: bool, runs: &[Run]) {
        for run in runs.iter().rev() {
            for i in 0..run.count {
                let (node, len) = (run.node + i, run.len);
                // SAFETY: as in `forward`.
                unsafe {
                    let a = a.add(run.offset + i * len);
                    match run.kind {
                        Kind::Pass { log_radix, first, .. } => match (log_radix, first) {
                            (1, false) => self.inverse_pass_of::<1, false>(a, len, node),
                            (1, true) => self.inverse_pass_of::<1, true>(a, len, node),
                            (3, false) if A::MAX_LOG_RADIX >= 3 => {
                                self.inverse_pass_of::<3, false>(a, len, node)
                            }
                            (3, true) if A::MAX_LOG_RADIX >= 3 => {
                                self.inverse_pass_of::<3, true>(a, len, node)
                            }
                            (_, false) => self.inverse_pass_of::<2, false>(a, len, node),
                            (_, true) => self.inverse_pass_of::<2, true>(a, len, node),
                        },
                        Kind::Last if A::LAST_BLOCKS == 1 => self.inverse_last::<1>(a, node, native),
                        Kind::Last if i % 2 == 0 => self.inverse_last::<2>(a, node, native),
                        Kind::Last => {}
                    }
                }
            }
        }
    }
}
