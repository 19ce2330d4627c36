//! Values that stay multiplied by P: the division that ends a key switch is put off until their sum is rescaled.
//!
//! A rotation ends with t/P of two parts, 2(ℓ + 1 + K) transforms. What is done with it next is linear in most programs:
//! products with plaintexts, sums, another rotation, a rescale at last. All of that can be done to t itself modulo PQ, and
//! the rescale divides by P·q_ℓ at once: *double hoisting* (Bossuat, Mouchet, Troncoso-Pastoriza and Hubaux, EUROCRYPT 2021,
//! §4). A rotation of such a value divides c_1 alone, whose digits it needs.
//!
//! [`Extended`] says which values of a program are left so; their polynomials have the limbs of q_0 … q_ℓ, p_0 … p_{K−1}.

use std::collections::HashMap;

use super::{LowerError, Lowering, Poly};
use crate::he::{Op, Program, Type, Value};
use crate::limb::{ModulusId, Operand};

/// Time of one term of a base conversion over that of a transform.
const CONVERSION: f64 = 0.1;

/// Time of a product of both parts with a constant, part of an inner product, over that of a transform: it reads the parts from memory.
const PRODUCT: f64 = 0.5;

/// What decides whether a value stays multiplied by P.
pub(super) struct Facts<'a> {
    pub(super) he: &'a Program,
    pub(super) needed: &'a [bool],
    /// Whether a rotation divides by the special primes of the chain, all of them and no others.
    pub(super) divides: &'a dyn Fn(Value) -> bool,
    /// Whether a rescale is merged into a rotation anyway.
    pub(super) merged: &'a dyn Fn(Value) -> bool,
    /// After how many slots the constants repeat that come as one limb, and so modulo any prime.
    pub(super) compact: &'a HashMap<Value, usize>,
    /// N.
    pub(super) n: usize,
    /// K.
    pub(super) special: usize,
}

/// Which values stay multiplied by P.
#[derive(Debug, Default)]
pub(super) struct Extended(Vec<bool>);

impl Extended {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let may = facts.may();
        let extra = facts.extra();
        let mut is = vec![false; may.len()];
        for (v, instr) in facts.he.values().filter(|(v, _)| may[v.index()]) {
            is[v.index()] = match instr.op {
                Op::Rotate { .. } | Op::Conj { .. } => {
                    extra[v.index()] < facts.saved(super::uses::limbs(&instr.ty))
                }
                Op::MulPlain(a, _) => is[a.index()],
                Op::Add(a, b) | Op::Sub(a, b) => is[a.index()] || is[b.index()],
                _ => false,
            };
        }
        Self(is)
    }

    /// Whether v is P times what it stands for.
    pub(super) fn is(&self, v: Value) -> bool {
        self.0[v.index()]
    }
}

impl Facts<'_> {
    /// Values that no use forbids.
    fn may(&self) -> Vec<bool> {
        let mut may: Vec<bool> = self.needed.to_vec();
        for out in self.he.outputs() {
            may[out.value.index()] = false;
        }
        // Uses come after what they use.
        for (v, instr) in self.he.values().rev().filter(|(v, _)| self.needed[v.index()]) {
            let two = matches!(&instr.ty, Type::Ct(t) if t.parts == 2);
            may[v.index()] &= two
                && match instr.op {
                    Op::Rotate { .. } | Op::Conj { .. } => (self.divides)(v) && !(self.merged)(v),
                    Op::MulPlain(_, p) => self.compact.contains_key(&p),
                    Op::Add(..) | Op::Sub(..) => true,
                    _ => false,
                };
            let allows = match instr.op {
                Op::Rescale(_) => two,
                Op::Rotate { .. } | Op::Conj { .. } => (self.divides)(v),
                _ => may[v.index()],
            };
            if !allows {
                instr.op.operands().as_slice().iter().for_each(|a| may[a.index()] = false);
            }
        }
        may
    }

    /// The time of the divisions by P of both parts, in transforms.
    fn saved(&self, limbs: usize) -> f64 {
        (2 * (limbs + self.special)) as f64 + CONVERSION * (2 * limbs * self.special) as f64
    }

    /// For each value the time that its products with constants take modulo the special primes, in transforms.
    fn extra(&self) -> Vec<f64> {
        let mut extra = vec![0.0; self.needed.len()];
        for (_, instr) in self.he.values().filter(|(v, _)| self.needed[v.index()]) {
            if let Op::MulPlain(a, p) = instr.op
                && let Some(&period) = self.compact.get(&p)
            {
                let transform = (2 * period) as f64 / self.n as f64;
                extra[a.index()] += self.special as f64 * (transform + PRODUCT);
            }
        }
        extra
    }
}

impl Lowering {
    /// The primes of extended polynomials of `limbs` ciphertext limbs.
    pub(super) fn extended_moduli(&self, limbs: usize) -> Vec<ModulusId> {
        [&self.basis.q()[..limbs], self.basis.p()].concat()
    }

    /// P·x modulo q_0 …; modulo the special primes it is zero, which takes no limbs.
    pub(super) fn times_p(&mut self, x: &[Operand]) -> Poly {
        (0..x.len())
            .map(|i| {
                let p = self.basis.product(self.basis.p().iter().copied(), self.basis.q()[i]);
                self.builder.mul_const(x[i], p)
            })
            .collect()
    }

    /// a ± b of extended polynomials, of which one may lack the limbs in which it is zero.
    pub(super) fn sum_extended(&mut self, a: &[Operand], b: &[Operand], minus: bool) -> Poly {
        (0..a.len().max(b.len()))
            .map(|i| match (a.get(i), b.get(i)) {
                (Some(&a), Some(&b)) if minus => self.builder.sub(a, b),
                (Some(&a), Some(&b)) => self.builder.add(a, b),
                (None, Some(&b)) if minus => self.builder.neg(b),
                (Some(&x), None) | (None, Some(&x)) => x,
                (None, None) => unreachable!("i is below the longer length"),
            })
            .collect()
    }

    /// x/P rounded, or x/(P·q_ℓ), of an extended polynomial.
    ///
    /// # Errors
    /// A rescale at level 0.
    pub(super) fn reduced(&mut self, x: &[Operand], rescale: bool) -> Result<Poly, LowerError> {
        let limbs = x.len() - self.basis.p().len();
        if rescale && limbs == 1 {
            return Err(LowerError::LevelExhausted);
        }
        self.region("divide");
        let kept = limbs - usize::from(rescale);
        let divisors: Vec<usize> = (limbs..x.len()).chain(kept..limbs).collect();
        let moduli = self.extended_moduli(limbs);
        let coefficients: Vec<_> = divisors.iter().map(|&i| self.builder.intt(x[i])).collect();
        let of: Vec<_> = divisors.iter().map(|&i| moduli[i]).collect();
        let dropped = self.residues(&of, &coefficients)?;
        (0..kept).map(|i| self.divide(x[i], &dropped, moduli[i])).collect()
    }
}
