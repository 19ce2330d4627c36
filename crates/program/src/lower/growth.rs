//! How long the integers of a sum of KLSS key switches get, so that T holds them.
//!
//! An inner product with a block of the key stays within a quarter of the bound β·N·D·D̃ (`ringmill_ckks::KlssLayout`). A
//! sum of n of them is at most n times as long. A product with a constant c of L coefficients other than zero is at most
//! ‖c‖_1 ≤ √L·‖c‖_2 times as long. As N·‖c‖_2² is the sum of the squares of the values at all roots, ‖c‖_2 is at most the
//! scale times the greatest slot, and √L/2 for the rounding of the coefficients. Logarithms to base 2 throughout.

use std::collections::{BTreeMap, HashMap};

use ringmill_ckks::KlssLayout;

use super::compact::vector;
use super::extended::Facts;
use super::uses::limbs;
use crate::he::{Op, Type, Value};

/// The method of KLSS by which rotations of a number of limbs are switched: its index, and its layout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level<'a> {
    pub(super) method: usize,
    pub(super) layout: &'a KlssLayout,
}

/// By numbers of limbs.
pub(super) type Levels<'a> = HashMap<usize, Level<'a>>;

/// Nothing is kept modulo T.
const NONE: f64 = f64::NEG_INFINITY;

/// What rounding in logarithms may be off by.
const GUARD: f64 = 1e-6;

impl Facts<'_> {
    /// By how much a product with a constant that comes as one limb is longer.
    pub(super) fn factors(&self) -> HashMap<Value, f64> {
        if self.klss.is_empty() {
            return HashMap::new();
        }
        let of = |(&v, &period): (&Value, &usize)| {
            let instr = self.he.instr(v);
            let (Op::Const(c), Type::Pt(ty)) = (&instr.op, &instr.ty) else { return None };
            Some((v, factor(period, vector(self.he, c)?.magnitude().log2() + ty.scale.log2())))
        };
        self.compact.iter().filter_map(of).collect()
    }

    /// How many primes of T the values take that are kept modulo it, by limbs.
    ///
    /// # Errors
    /// The first number of limbs for which T has too few.
    pub(super) fn primes(
        &self,
        kept: &[bool],
        factors: &HashMap<Value, f64>,
    ) -> Result<BTreeMap<usize, usize>, usize> {
        let of = |(limbs, growth): (usize, f64)| {
            let growth = (growth + GUARD).ceil().max(0.0) as u32;
            let primes = self.klss[&limbs].layout.t_grown(limbs, growth).ok_or(limbs)?;
            Ok((limbs, primes))
        };
        self.growth(kept, factors).into_iter().map(of).collect()
    }

    /// By limbs, how much longer than inner products the integers modulo T get.
    fn growth(&self, kept: &[bool], factors: &HashMap<Value, f64>) -> BTreeMap<usize, f64> {
        let (mut growth, mut most) = (vec![NONE; kept.len()], BTreeMap::new());
        if self.klss.is_empty() {
            return most;
        }
        for (v, instr) in self.he.values().filter(|(v, _)| self.needed[v.index()]) {
            let limbs = limbs(self.chain, &instr.ty);
            let of = |a: Value| if kept[a.index()] { growth[a.index()] } else { NONE };
            let here = match instr.op {
                Op::Rotate { a, .. } | Op::Conj { a, .. } if (self.divides)(v) => sum(0.0, of(a)),
                Op::MulPlain(a, p) => factors.get(&p).map_or(NONE, |factor| of(a) + factor),
                Op::MulScalar { a, c, ref scale } => of(a) + (c.abs().log2() + scale.log2()).max(0.0) + 1.0,
                Op::Neg(a) => of(a),
                Op::Add(a, b) | Op::Sub(a, b) => sum(of(a), of(b)),
                _ => NONE,
            };
            growth[v.index()] = here;
            // What is not kept may be a sum or a rotation of what is.
            let from = |a: &Value| kept[a.index()];
            if here > NONE
                && self.klss.contains_key(&limbs)
                && (kept[v.index()] || instr.op.operands().as_slice().iter().any(from))
            {
                let most = most.entry(limbs).or_insert(here);
                *most = most.max(here);
            }
        }
        most
    }
}

/// log2 of √L·(2^size + √L/2) for a constant that repeats after `period` slots, which are at most 2^`size` at its scale.
fn factor(period: usize, size: f64) -> f64 {
    let root = (2.0 * period as f64).sqrt();
    (root * (size.exp2() + root / 2.0)).log2()
}

/// log2(2^a + 2^b).
fn sum(a: f64, b: f64) -> f64 {
    let (most, least) = (a.max(b), a.min(b));
    if least == NONE { most } else { most + (1.0 + (least - most).exp2()).log2() }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex64;

    use super::*;

    /// The sum of the sizes of the rounded coefficients of the polynomial of 2·slots coefficients with given slots, by definition: the
    /// real inverse of its values at the odd powers of a root of X^(2·slots) + 1.
    fn sum_of_coefficients(slots: &[Complex64], scale: f64) -> f64 {
        let n = 2 * slots.len();
        let coefficient = |i: usize| {
            let at = |j: usize| {
                let angle = -std::f64::consts::PI * ((2 * j + 1) * i) as f64 / n as f64;
                slots[j] * Complex64::from_polar(1.0, angle)
            };
            (2.0 * scale / n as f64 * (0..slots.len()).map(at).sum::<Complex64>().re).round().abs()
        };
        (0..n).map(coefficient).sum()
    }

    #[test]
    fn a_constant_is_no_longer_than_its_slots_and_scale_say() {
        let mut state = 1u64;
        let mut angle = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 11) as f64 * 2f64.powi(-53) * std::f64::consts::TAU
        };
        let mut most = [f64::NEG_INFINITY; 2];
        for (i, scale) in [1.0, 2f64.powi(30)].into_iter().enumerate() {
            for period in [1, 4, 16, 64] {
                for _ in 0..20 {
                    // All as long as they may be, in any direction.
                    let slots: Vec<_> = (0..period).map(|_| Complex64::from_polar(3.0, angle())).collect();
                    let bound = factor(period, (3.0 * scale).log2());
                    let found = sum_of_coefficients(&slots, scale).max(1.0).log2();
                    assert!(found <= bound, "{period} slots at {scale}: {found}, {bound}");
                    most[i] = most[i].max(found - bound);
                }
            }
        }
        assert!(most[1] > -0.5, "the bound is near: {most:?}");
    }

    #[test]
    fn sums_add_up() {
        assert_eq!(sum(NONE, 3.0), 3.0);
        assert_eq!(sum(3.0, 3.0), 4.0);
        assert_eq!((0..7).fold(0.0, |all, _| sum(all, 0.0)).exp2().round(), 8.0);
    }
}
