//! What a pass does to the registers of one block: loads and stores, constants, stages.

use crate::{
    form::Form,
    lanes::U64Lanes,
    ntt::{
        arith::Arith,
        engine::{Difference, Engine, Lift},
        unroll::{inlined, unroll},
    },
};

pub(super) type Constant<A> = <A as Arith>::C;
pub(super) type Registers<A> = [<A as Arith>::V; 8];

/// Where butterfly i of a stage with distance h has its x, and which of the 2^stage sub-blocks that lies in.
#[inline(always)]
const fn butterfly(i: usize, h: usize) -> (usize, usize) {
    (i / h * 2 * h + i % h, i / h)
}

/// The node of the level of node k > 0 whose constant is the negated inverse of its own.
#[inline(always)]
const fn mirrored(k: usize) -> usize {
    (3 << k.ilog2()) - 1 - k
}

impl<A: Arith> Engine<'_, A> {
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
    pub(super) fn splat(self, [a, b]: [u64; 2]) -> Constant<A> {
        let l = self.arith.lanes();
        self.arith.constant([self.arith.register(l.splat(a)), self.arith.register(l.splat(b))])
    }
    /// The constant of node k, in all lanes.
    ///
    /// # Safety
    /// k < N/L.
    #[inline(always)]
    unsafe fn node(self, k: usize) -> Constant<A> {
        // SAFETY: the table holds two words for each k < N/L.
        unsafe {
            let p = self.tables.nodes.as_ptr().add(2 * k);
            self.splat([*p, *p.add(1)])
        }
    }
    /// Constants i of the L − 1 that block `node` uses after its transpose.
    ///
    /// # Safety
    /// N/L² ≤ node < 2N/L² and i < L − 1.
    #[inline(always)]
    unsafe fn leaf(self, node: usize, i: usize) -> Constant<A> {
        let first = (1usize << self.tables.log_n) / (Self::L * Self::L);
        let at = ((node - first) * (Self::L - 1) + i) * A::LEAF_WORDS * Self::L;
        // SAFETY: the table holds that number of vectors for each such node and i.
        unsafe {
            let p = self.tables.leaves.as_ptr().add(at);
            let second = self.load(p.add((A::LEAF_WORDS - 1) * Self::L));
            let first = if A::LEAF_WORDS == 1 { self.arith.first_word(second) } else { self.load(p) };
            self.arith.constant([first, second])
        }
    }
    #[inline(always)]
    pub(super) fn transpose(self, v: &mut Registers<A>) {
        inlined!(A::L, {
            let l = self.arith.lanes();
            let mut u = [l.splat(0); 8];
            for i in 0..Self::L {
                u[i] = self.arith.words(v[i]);
            }
            l.transpose(&mut u);
            for i in 0..Self::L {
                v[i] = self.arith.register(u[i]);
            }
        })
    }
    /// Loads `count` registers, `step` words apart.
    ///
    /// # Safety
    /// `p` must be valid for reading (count − 1)·step + L words; count ≤ 8.
    #[inline(always)]
    pub(super) unsafe fn load_all(self, p: *const u64, step: usize, count: usize) -> Registers<A> {
        inlined!(A::L, {
            let mut v = [self.arith.register(self.arith.lanes().splat(0)); 8];
            for (c, v) in v.iter_mut().enumerate().take(count) {
                // SAFETY: passed on to the caller.
                *v = unsafe { self.load(p.add(c * step)) };
            }
            v
        })
    }
    /// Stores `count` registers, `step` words apart.
    ///
    /// # Safety
    /// `p` must be valid for writing (count − 1)·step + L words; count ≤ 8.
    #[inline(always)]
    pub(super) unsafe fn store_all(self, p: *mut u64, step: usize, count: usize, v: &Registers<A>) {
        inlined!(A::L, {
            for (c, &v) in v.iter().enumerate().take(count) {
                // SAFETY: passed on to the caller.
                unsafe { self.store(p.add(c * step), v) };
            }
        })
    }
    /// The constants of the `count` nodes from k.
    ///
    /// # Safety
    /// k + count ≤ N/L; count ≤ 8.
    #[inline(always)]
    pub(super) unsafe fn nodes(self, k: usize, count: usize) -> [Constant<A>; 8] {
        inlined!(A::L, {
            let mut constants = [self.splat([0; 2]); 8];
            for (b, c) in constants.iter_mut().enumerate().take(count) {
                // SAFETY: passed on to the caller.
                *c = unsafe { self.node(k + b) };
            }
            constants
        })
    }
    /// The constants of stage `stage` below the transposed lanes of block `node`.
    ///
    /// # Safety
    /// N/L² ≤ node < 2N/L²; stage < log2 L.
    #[inline(always)]
    pub(super) unsafe fn leaves(self, node: usize, stage: usize) -> [Constant<A>; 8] {
        inlined!(A::L, {
            let mut constants = [self.splat([0; 2]); 8];
            for (b, c) in constants.iter_mut().enumerate().take(1 << stage) {
                // SAFETY: passed on to the caller; 2^stage − 1 + b < L − 1.
                *c = unsafe { self.leaf(node, (1 << stage) - 1 + b) };
            }
            constants
        })
    }

    /// The `count` = 2^s constants of the inverse for the sub-blocks s stages below node k, negated: those of the mirrored
    /// node, backwards.
    ///
    /// # Safety
    /// (k + 1)·count ≤ N/L; count ≤ 8.
    #[inline(always)]
    pub(super) unsafe fn inverse_nodes(self, k: usize, count: usize) -> [Constant<A>; 8] {
        inlined!(A::L, {
            let first = mirrored(k) * count;
            let mut constants = [self.splat([0; 2]); 8];
            for (b, c) in constants.iter_mut().enumerate().take(count) {
                // SAFETY: passed on to the caller: the mirrored node is of the same level.
                *c = unsafe { self.node(first + (count - 1 - b)) };
            }
            constants
        })
    }
    /// The constants of the inverse of stage `stage` below the transposed lanes of block `node`, negated, for lanes in
    /// backward order.
    ///
    /// # Safety
    /// As [`Self::leaves`].
    #[inline(always)]
    pub(super) unsafe fn inverse_leaves(self, node: usize, stage: usize) -> [Constant<A>; 8] {
        inlined!(A::L, {
            let (node, last) = (mirrored(node), (2usize << stage) - 2);
            let mut constants = [self.splat([0; 2]); 8];
            for (b, c) in constants.iter_mut().enumerate().take(1 << stage) {
                // SAFETY: passed on to the caller: the mirrored node is of the same level; last < L − 1.
                *c = unsafe { self.leaf(node, last - b) };
            }
            constants
        })
    }
    /// Register i to L − 1 − i: the same exchange of lanes, once transposed.
    #[inline(always)]
    pub(super) fn turn(self, v: &mut Registers<A>) {
        inlined!(A::L, {
            for i in 0..Self::L / 2 {
                (v[i], v[Self::L - 1 - i]) = (v[Self::L - 1 - i], v[i]);
            }
        })
    }

    /// Stage `stage` of `log` on 2^log registers, two butterflies at a time; `constants[b]` for sub-block b.
    #[inline(always)]
    pub(super) fn stage(
        self,
        v: &mut Registers<A>,
        stage: usize,
        log: usize,
        reduce: bool,
        constants: &[Constant<A>; 8],
    ) {
        inlined!(A::L, {
            if reduce {
                self.stage_of::<true>(v, stage, log, constants);
            } else {
                self.stage_of::<false>(v, stage, log, constants);
            }
        })
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
    /// The inverse of a stage, with negated constants. `bounds[e]` bounds register e in units of q/8; it is known when this is compiled.
    #[inline(always)]
    pub(super) fn inverse_stage(
        self,
        v: &mut Registers<A>,
        bounds: &mut [u32; 8],
        stage: usize,
        log: usize,
        constants: &[Constant<A>; 8],
    ) {
        inlined!(A::L, {
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
        })
    }
    /// Reduces x and y to what may be added and subtracted.
    #[inline(always)]
    fn fit(self, v: &mut Registers<A>, bounds: &mut [u32; 8], x: usize, y: usize) {
        if bounds[x] > A::INVERSE_X {
            (v[x], bounds[x]) = (self.arith.inverse_reduce(v[x]), A::INVERSE_REDUCED);
        }
        if bounds[y] > A::INVERSE_LIMIT - A::INVERSE_X {
            (v[y], bounds[y]) = (self.arith.inverse_reduce(v[y]), A::INVERSE_REDUCED);
        }
    }
    /// Canonical words of another prime to the centred residues that they stand for.
    #[inline(always)]
    pub(super) fn lift_all(self, v: &mut Registers<A>, lift: Lift, count: usize) {
        inlined!(A::L, {
            let l = self.arith.lanes();
            let (above_half, offset) = (l.splat(lift.above_half), l.splat(lift.offset));
            for v in v.iter_mut().take(count) {
                let y = self.arith.words(*v);
                *v = self.arith.register(l.add(y, l.select_lt(y, above_half, l.splat(0), offset)));
            }
            if let Some(less) = lift.less {
                for v in v.iter_mut().take(count) {
                    *v = self.arith.register(l.csub(self.arith.words(*v), l.splat(less)));
                }
            }
        })
    }
    /// Brings every register within the bound of words in memory.
    #[inline(always)]
    pub(super) fn settle(self, v: &mut Registers<A>, bounds: &[u32; 8], count: usize) {
        inlined!(A::L, {
            unroll!(e < count, most 8 => {
                if bounds[e] > A::INVERSE_STORED {
                    v[e] = self.arith.inverse_reduce(v[e]);
                }
            });
        })
    }
    /// Working form to canonical words, or to factors, transposed back.
    #[inline(always)]
    pub(super) fn leave_all(self, v: &mut Registers<A>) {
        inlined!(A::L, {
            for v in v.iter_mut().take(Self::L) {
                let factors = !matches!(A::FACTORS, Form::Canonical) && self.factors;
                *v = if factors { self.arith.leave_factor(*v) } else { self.arith.leave(*v) };
            }
            self.transpose(v);
        })
    }
    /// Working form, transposed back, to what stands in place of the transform from word `at` on.
    ///
    /// # Safety
    /// The pointers must be valid for L·L words from `at` on.
    #[inline(always)]
    pub(super) unsafe fn leave_differences(self, v: &mut Registers<A>, difference: Difference, at: usize) {
        let Difference { out, from, plus, factor, q } = difference;
        inlined!(A::L, {
            let l = self.arith.lanes();
            let (factor, q) = (self.splat(factor), l.splat(q));
            for (i, &v) in v.iter().enumerate().take(Self::L) {
                let at = at + i * Self::L;
                // SAFETY: passed on to the caller.
                unsafe {
                    let a = self.load(from.wrapping_add(at));
                    let mut d = self.arith.words(self.arith.leave_difference(a, v, factor));
                    if let Some(plus) = plus {
                        d = l.csub(l.add(d, l.load_ptr(plus.wrapping_add(at))), q);
                    }
                    l.store_ptr(out.wrapping_add(at), d);
                }
            }
        })
    }

    /// The last stage of all, on registers x and x + half.
    #[inline(always)]
    pub(super) fn inverse_leave(
        self,
        v: &mut Registers<A>,
        bounds: &mut [u32; 8],
        half: usize,
        scale: &[Constant<A>; 2],
    ) {
        inlined!(A::L, {
            unroll!(x < half, most 4 => {
                // The difference is x − y here.
                self.fit(v, bounds, x + half, x);
                (v[x], v[x + half]) = self.arith.inverse_leave(v[x], v[x + half], scale[0], scale[1]);
            });
        })
    }
}
