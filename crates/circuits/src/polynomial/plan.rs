//! The shape of an evaluation, and what it costs.

use std::collections::BTreeSet;

use num_complex::Complex64;
use ringmill_program::he::is_free_factor;

use super::{Basis, Polynomial};

/// How one part of a polynomial is computed.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// constant + Σ c·b_i over the terms (i, c), i ≥ 1, c ≠ 0: no products of ciphertexts beside those of the powers.
    Weighted {
        /// The coefficient of b_0.
        constant: Complex64,
        /// Index and coefficient of the others.
        terms: Vec<(usize, Complex64)>,
    },
    /// q·b_k + r.
    Split {
        /// A power of two.
        k: usize,
        /// The quotient; no constant.
        q: Box<Shape>,
        /// The remainder.
        r: Box<Shape>,
    },
}

impl Shape {
    /// Products q·b_k.
    fn splits(&self) -> usize {
        match self {
            Self::Weighted { .. } => 0,
            Self::Split { q, r, .. } => 1 + q.splits() + r.splits(),
        }
    }

    /// The powers that it reads.
    fn powers(&self, into: &mut BTreeSet<usize>) {
        match self {
            Self::Weighted { terms, .. } => into.extend(terms.iter().map(|&(i, _)| i)),
            Self::Split { k, q, r } => {
                into.insert(*k);
                q.powers(into);
                r.powers(into);
            }
        }
    }
}

/// The evaluation of a polynomial: its shape and its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    depth: u32,
    products: usize,
    block: usize,
    shape: Shape,
}

impl Plan {
    /// Levels: ⌈log2(d + 1)⌉, or one less where the leading coefficients are small integers.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Products of two ciphertexts, squares included.
    pub fn products(&self) -> usize {
        self.products
    }

    /// Parts of fewer terms are weighted sums where their depth allows it.
    pub fn block(&self) -> usize {
        self.block
    }

    /// What is computed.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The plan of least depth and, among those, of fewest products.
    pub(super) fn best(p: &Polynomial) -> Self {
        let c = p.coefficients();
        let mut depth = log2_ceil(p.degree());
        loop {
            let blocks = (1..=log2_ceil(c.len()).max(1)).map(|s| 1usize << s);
            let plans = blocks.filter_map(|block| Self::within(p, depth, block));
            if let Some(best) = plans.min_by_key(|plan| plan.products) {
                return best;
            }
            // ⌈log2(d + 1)⌉ suffices: see `shape`.
            depth += 1;
        }
    }

    fn within(p: &Polynomial, depth: u32, block: usize) -> Option<Self> {
        let shape = shape(p.basis(), p.coefficients(), depth, block)?;
        let mut powers = BTreeSet::new();
        shape.powers(&mut powers);
        let products = closure(p.basis(), &powers).len() + shape.splits();
        Some(Self { depth, products, block, shape })
    }
}

/// ⌈log2 n⌉ for n ≥ 1.
pub(super) fn log2_ceil(n: usize) -> u32 {
    n.next_power_of_two().ilog2()
}

/// The greatest power of two that is at most n ≥ 1.
pub(super) fn power_below(n: usize) -> usize {
    1 << n.ilog2()
}

/// Levels of a product with a constant: none for small integers.
fn factor_depth(c: Complex64) -> u32 {
    u32::from(c.im != 0.0 || !is_free_factor(c.re))
}

/// Evaluates the coefficients within `depth` levels, or `None` if that is too few.
///
/// A degree below 2^t needs t at most: with k = 2^(t−1), b_k has depth t − 1 and so, by induction, has q.
fn shape(basis: Basis, c: &[Complex64], depth: u32, block: usize) -> Option<Shape> {
    let last = c.iter().rposition(|&c| c != Complex64::ZERO).unwrap_or(0);
    if last == 0 {
        return Some(Shape::Weighted { constant: c.first().copied().unwrap_or_default(), terms: Vec::new() });
    }
    let c = &c[..=last];
    if c.len() <= block
        && let Some(sum) = weighted(c, depth)
    {
        return Some(sum);
    }
    let k = power_below(last);
    let (q, r) = divide(basis, c, k);
    if let [leading] = q[..] {
        return leading_term(shape(basis, &r, depth, block)?, k, leading, depth);
    }
    if k.ilog2() + 1 > depth {
        return None;
    }
    let q = Box::new(shape(basis, &q, depth - 1, block)?);
    Some(Shape::Split { k, q, r: Box::new(shape(basis, &r, depth, block)?) })
}

fn weighted(c: &[Complex64], depth: u32) -> Option<Shape> {
    let terms = c.iter().copied().enumerate().skip(1).filter(|&(_, c)| c != Complex64::ZERO);
    let terms: Vec<(usize, Complex64)> = terms.collect();
    let fits = terms.iter().all(|&(i, c)| log2_ceil(i) + factor_depth(c) <= depth);
    fits.then_some(Shape::Weighted { constant: c[0], terms })
}

/// c·b_k + r: one more term where r is a weighted sum, which adds up without a product.
fn leading_term(r: Shape, k: usize, c: Complex64, depth: u32) -> Option<Shape> {
    if log2_ceil(k) + factor_depth(c) > depth {
        return None;
    }
    Some(match r {
        Shape::Weighted { constant, mut terms } => {
            terms.push((k, c));
            Shape::Weighted { constant, terms }
        }
        // The term joins the weighted sum that ends the chain of remainders.
        Shape::Split { k: inner, q, r } => {
            Shape::Split { k: inner, q, r: Box::new(leading_term(*r, k, c, depth)?) }
        }
    })
}

/// q and r with Σ c_i·b_i = q·b_k + r, for k ≤ degree < 2k. Terms that are zero for parity stay exactly zero.
fn divide(basis: Basis, c: &[Complex64], k: usize) -> (Vec<Complex64>, Vec<Complex64>) {
    let (mut r, mut q) = (c[..k].to_vec(), c[k..].to_vec());
    if basis == Basis::Chebyshev {
        // T_{k+j} = 2·T_j·T_k − T_{k−j}, j ≥ 1.
        for (j, q) in q.iter_mut().enumerate().skip(1) {
            r[k - j] -= *q;
            *q *= 2.0;
        }
    }
    (q, r)
}

/// How b_i is computed: b_a·b_b with a the greatest power of two below i (i/2 if i is one). Depth ⌈log2 i⌉; odd indices
/// need powers of two and odd ones alone.
pub(super) fn halves(i: usize) -> (usize, usize) {
    if i.is_power_of_two() { (i / 2, i / 2) } else { (power_below(i), i - power_below(i)) }
}

/// All powers beyond x that must be computed for those wanted.
fn closure(basis: Basis, wanted: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    let mut open: Vec<usize> = wanted.iter().copied().collect();
    while let Some(i) = open.pop() {
        if i > 1 && all.insert(i) {
            let (a, b) = halves(i);
            open.extend([a, b]);
            if basis == Basis::Chebyshev {
                open.push(a - b);
            }
        }
    }
    all
}
