//! The canonical embedding: n complex coefficients of a polynomial modulo X^n − i to its values at the roots and back.
//!
//! X^(2m) − e^(iθ) splits into X^m − w and X^m + w with w = e^(iθ/2), so one stage maps (a, b) to (a + w·b, a − w·b);
//! after log2 n stages the values at e^(iπ(1 + 4t)/2n) remain, t in bit-reversed order. No separate twist is needed,
//! and w of the right child is i times that of the left one.
//!
//! Stages run eight points at a time over vectors of neighbours. From n = 64 on, the last six stages work on blocks
//! of 64 as 8 × 8: three stages across rows, a transpose, and again three across rows; the values stay transposed,
//! which the table of slot positions takes into account.

use super::dd::Dd;
use super::number::{Number, Root};
use crate::generator::Generator;
use pulp::{Arch, Simd};

/// Blocks of the last six stages: 8 rows of 8.
const BLOCK: usize = 64;
/// Vectors of twiddle factors a row of a block needs in the last three stages.
const ROW_ROOTS: usize = 4;

/// Tables for n = 2^log_slots points.
pub(super) struct Plan {
    log: u32,
    /// Entry m + k, m a power of two: w of node k among m; up to the level that is applied row by row.
    nodes: Vec<Root>,
    /// For each block four rows of eight factors of the last three stages, in four planes.
    rows: Vec<f64>,
    /// Slot i, the value at e^(iπ·g^i/2n), is found at this position.
    positions: Vec<u32>,
    generator: Generator,
}

/// e^(iπ·j/2^18) in double-double as the product of two table entries.
struct Circle {
    coarse: Vec<[Dd; 2]>,
    fine: Vec<[Dd; 2]>,
}

/// log2 of the steps in a half turn.
const HALF_TURN: u32 = 18;

fn product([a, b]: [Dd; 2], [c, d]: [Dd; 2]) -> [Dd; 2] {
    [a * c - b * d, a * d + b * c]
}

impl Circle {
    fn new() -> Self {
        // e^(iπ/2^s) by halving the angle from s = 1; every step is stable.
        let mut halves = vec![[-Dd::ONE, Dd::ZERO], [Dd::ZERO, Dd::ONE]];
        for s in 1..HALF_TURN as usize {
            let [cos, sin] = halves[s];
            let half_cos = ((Dd::ONE + cos).scale(0.5)).sqrt();
            halves.push([half_cos, sin.scale(0.5) / half_cos]);
        }
        let table = |first: u32, bits: u32| {
            let mut table = vec![[Dd::ONE, Dd::ZERO]];
            for b in 0..bits {
                let step = halves[(HALF_TURN - first - b) as usize];
                let next: Vec<_> = table.iter().map(|&x| product(x, step)).collect();
                table.extend(next);
            }
            table
        };
        Self { fine: table(0, 9), coarse: table(9, 9) }
    }

    /// w of node k of 2^d: e^(iπ(1 + 4·brv(k))/2^(d+2)).
    fn node(&self, d: u32, k: usize) -> Root {
        let j = (1 + 4 * bit_reverse(k, d)) << (HALF_TURN - d - 2);
        let [re, im] = product(self.coarse[j >> 9], self.fine[j & 511]);
        [re.hi, im.hi, re.lo, im.lo]
    }
}

fn bit_reverse(i: usize, bits: u32) -> usize {
    ringmill_ring::reference::bit_reverse(i, bits)
}

impl Plan {
    /// Tables for 2^log points, log ≤ 16.
    pub(super) fn new(log: u32, generator: Generator) -> Self {
        let n = 1usize << log;
        let circle = Circle::new();
        // Blocks take their first twelve factors from the nodes, the others row by row.
        let depth = if n >= BLOCK { log - 3 } else { log };
        let mut nodes = vec![[0.0; 4]];
        (0..depth).for_each(|d| nodes.extend((0..1 << d).map(|k| circle.node(d, k))));
        let mut rows = vec![0.0; if n >= BLOCK { n / 8 * ROW_ROOTS * 4 } else { 0 }];
        let stride = rows.len() / 4;
        for i in 0..if n >= BLOCK { n / 8 } else { 0 } {
            // Lane r of block b serves sub-block 8b + r = i: its node, the left child of that, and the two
            // grandchildren that are left children.
            let (block, lane) = (i / 8, i % 8);
            let factors = [
                circle.node(depth, i),
                circle.node(depth + 1, 2 * i),
                circle.node(depth + 2, 4 * i),
                circle.node(depth + 2, 4 * i + 2),
            ];
            for (row, root) in factors.iter().enumerate() {
                for (plane, &x) in root.iter().enumerate() {
                    rows[plane * stride + (block * ROW_ROOTS + row) * 8 + lane] = x;
                }
            }
        }
        Self { log, nodes, rows, positions: positions(log, generator), generator }
    }

    /// n.
    pub(super) fn len(&self) -> usize {
        1 << self.log
    }

    /// Where slot i's value stands after [`forward`](Self::forward).
    pub(super) fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// Whether what stands at the position of slot i is the conjugate of its value. Positions are those of exponents 1 mod 4;
    /// an odd power of 3 is 3 mod 4, and the value at its negative is the conjugate.
    pub(super) fn conjugated(&self, i: usize) -> bool {
        self.generator == Generator::Three && i % 2 == 1
    }

    /// Coefficients to values, unscaled; `planes` holds `N::PLANES` planes of n.
    pub(super) fn forward<N: Number>(&self, arch: Arch, planes: &mut [f64]) {
        arch.dispatch(Transform::<N, true> { plan: self, planes, number: std::marker::PhantomData });
    }

    /// Values to n times the coefficients.
    pub(super) fn inverse<N: Number>(&self, arch: Arch, planes: &mut [f64]) {
        arch.dispatch(Transform::<N, false> { plan: self, planes, number: std::marker::PhantomData });
    }
}

/// The positions of all slots.
fn positions(log: u32, generator: Generator) -> Vec<u32> {
    let n = 1usize << log;
    let mut power = 1;
    (0..n)
        .map(|_| {
            let upper = if power % 4 == 1 { power } else { 4 * n - power };
            let leaf = bit_reverse((upper - 1) / 4, log);
            power = power * generator.value() as usize % (4 * n);
            let transposed = (leaf & !(BLOCK - 1)) | ((leaf & 7) << 3) | (leaf >> 3 & 7);
            (if n >= BLOCK { transposed } else { leaf }) as u32
        })
        .collect()
}

struct Transform<'a, N, const FORWARD: bool> {
    plan: &'a Plan,
    planes: &'a mut [f64],
    number: std::marker::PhantomData<N>,
}

impl<N: Number, const FORWARD: bool> pulp::WithSimd for Transform<'_, N, FORWARD> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (plan, n) = (self.plan, self.plan.len());
        if n < BLOCK {
            return short::<N, FORWARD>(plan, self.planes);
        }
        // Stages above the blocks: all but at most two of them in threes.
        let above = plan.log - 6;
        let singles = above % 3;
        let data = S::as_mut_simd_f64s(self.planes).0;
        if FORWARD {
            for d in 0..singles {
                single::<S, N, FORWARD>(simd, plan, data, d);
            }
            for d in (singles..above + 1).step_by(3) {
                triple::<S, N, FORWARD>(simd, plan, data, d);
            }
            transpose_blocks(self.planes);
            row_stages::<S, N, FORWARD>(simd, plan, S::as_mut_simd_f64s(self.planes).0);
        } else {
            row_stages::<S, N, FORWARD>(simd, plan, data);
            transpose_blocks(self.planes);
            let data = S::as_mut_simd_f64s(self.planes).0;
            for d in (singles..above + 1).step_by(3).rev() {
                triple::<S, N, FORWARD>(simd, plan, data, d);
            }
            for d in (0..singles).rev() {
                single::<S, N, FORWARD>(simd, plan, data, d);
            }
        }
    }
}

/// Transforms of fewer points than a block holds, one number at a time.
fn short<N: Number, const FORWARD: bool>(plan: &Plan, planes: &mut [f64]) {
    let simd = pulp::Scalar::new();
    for stage in 0..plan.log {
        let d = if FORWARD { stage } else { plan.log - 1 - stage };
        single::<_, N, FORWARD>(simd, plan, planes, d);
    }
}

/// Stage d: 2^d nodes.
#[inline(always)]
fn single<S: Simd, N: Number, const FORWARD: bool>(simd: S, plan: &Plan, data: &mut [S::f64s], d: u32) {
    let stride = data.len() / N::PLANES;
    let half = stride >> (d + 1);
    for (k, &root) in plan.nodes[1 << d..2 << d].iter().enumerate() {
        let w = N::splat(simd, root);
        for j in 2 * k * half..(2 * k + 1) * half {
            let (a, b) = (N::load::<S>(data, stride, j), N::load::<S>(data, stride, j + half));
            let (a, b) = if FORWARD {
                let y = N::mul(simd, b, w);
                (N::add(simd, a, y), N::sub(simd, a, y))
            } else {
                (N::add(simd, a, b), N::mul(simd, N::sub(simd, a, b), N::conj::<S>(w)))
            };
            N::store::<S>(data, stride, j, a);
            N::store::<S>(data, stride, j + half, b);
        }
    }
}

/// Stages d, d + 1 and d + 2 in one pass.
#[inline(always)]
fn triple<S: Simd, N: Number, const FORWARD: bool>(simd: S, plan: &Plan, data: &mut [S::f64s], d: u32) {
    let stride = data.len() / N::PLANES;
    let step = stride >> (d + 3);
    for k in 0..1 << d {
        let node = (1 << d) + k;
        let w = [
            N::splat(simd, plan.nodes[node]),
            N::splat(simd, plan.nodes[2 * node]),
            N::splat(simd, plan.nodes[4 * node]),
            N::splat(simd, plan.nodes[4 * node + 2]),
        ];
        for j in 8 * k * step..(8 * k + 1) * step {
            eight::<S, N, FORWARD>(simd, data, stride, j, step, w);
        }
    }
}

/// The last three stages of every block, across the rows of its transpose.
#[inline(always)]
fn row_stages<S: Simd, N: Number, const FORWARD: bool>(simd: S, plan: &Plan, data: &mut [S::f64s]) {
    let stride = data.len() / N::PLANES;
    let row = 8 / S::F64_LANES;
    let roots = S::as_simd_f64s(&plan.rows).0;
    let roots_stride = roots.len() / 4;
    for block in 0..plan.len() / BLOCK {
        for part in 0..row {
            let first = block * ROW_ROOTS * row + part;
            let w = [
                N::roots(simd, roots, roots_stride, first),
                N::roots(simd, roots, roots_stride, first + row),
                N::roots(simd, roots, roots_stride, first + 2 * row),
                N::roots(simd, roots, roots_stride, first + 3 * row),
            ];
            eight::<S, N, FORWARD>(simd, data, stride, block * 8 * row + part, row, w);
        }
    }
}

/// Three stages on the eight vectors at `at`, `at + step`, …: factors of the node, its left child, and the left
/// children of both children; a right child's factor is i times its sister's.
#[inline(always)]
fn eight<S: Simd, N: Number, const FORWARD: bool>(
    simd: S,
    data: &mut [S::f64s],
    stride: usize,
    at: usize,
    step: usize,
    w: [N::W<S>; 4],
) {
    macro_rules! load {
        ($i:expr) => {
            N::load::<S>(data, stride, at + $i * step)
        };
    }
    let (mut x0, mut x1, mut x2, mut x3) = (load!(0), load!(1), load!(2), load!(3));
    let (mut x4, mut x5, mut x6, mut x7) = (load!(4), load!(5), load!(6), load!(7));
    macro_rules! left {
        ($a:ident, $b:ident, $w:expr) => {
            if FORWARD {
                let y = N::mul(simd, $b, $w);
                ($a, $b) = (N::add(simd, $a, y), N::sub(simd, $a, y));
            } else {
                ($a, $b) = (N::add(simd, $a, $b), N::mul(simd, N::sub(simd, $a, $b), N::conj::<S>($w)));
            }
        };
    }
    macro_rules! right {
        ($a:ident, $b:ident, $w:expr) => {
            if FORWARD {
                let y = N::mul(simd, $b, $w);
                ($a, $b) = (N::add_i(simd, $a, y), N::sub_i(simd, $a, y));
            } else {
                let y = N::mul(simd, N::sub(simd, $a, $b), N::conj::<S>($w));
                ($a, $b) = (N::add(simd, $a, $b), N::minus_i(simd, y));
            }
        };
    }
    macro_rules! first {
        () => {
            left!(x0, x4, w[0]);
            left!(x1, x5, w[0]);
            left!(x2, x6, w[0]);
            left!(x3, x7, w[0]);
        };
    }
    macro_rules! second {
        () => {
            left!(x0, x2, w[1]);
            left!(x1, x3, w[1]);
            right!(x4, x6, w[1]);
            right!(x5, x7, w[1]);
        };
    }
    macro_rules! third {
        () => {
            left!(x0, x1, w[2]);
            right!(x2, x3, w[2]);
            left!(x4, x5, w[3]);
            right!(x6, x7, w[3]);
        };
    }
    if FORWARD {
        first!();
        second!();
        third!();
    } else {
        third!();
        second!();
        first!();
    }
    macro_rules! store {
        ($($i:literal $x:ident),*) => {
            $(N::store::<S>(data, stride, at + $i * step, $x);)*
        };
    }
    store!(0 x0, 1 x1, 2 x2, 3 x3, 4 x4, 5 x5, 6 x6, 7 x7);
}

/// Transposes every block of 64 in every plane.
fn transpose_blocks(planes: &mut [f64]) {
    for block in planes.as_chunks_mut::<BLOCK>().0 {
        let old = *block;
        for r in 0..8 {
            for c in 0..8 {
                block[8 * c + r] = old[8 * r + c];
            }
        }
    }
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plan(2^{})", self.log)
    }
}
