//! Sums of products with plaintexts as inner products, limb by limb: Σ_i p_i·x_i reads its operands once and keeps no product.
//!
//! The operands of such a sum stay until its end. They do so anyway where each takes part in several sums, as the rotations
//! of a linear map do; other sums are left as they are.

use std::collections::HashMap;

use super::{Lowering, Poly};
use crate::he::{Op, Program, Type, Value};
use crate::limb::{ModulusId, Operand};

/// A ciphertext of two parts and the plaintext that multiplies it.
pub(super) type Term = (Value, Value);

/// The sums of products of a program.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// By the value of the whole sum.
    terms: HashMap<Value, Vec<Term>>,
    /// Whether a value is a product or part of a sum, and has no limbs of its own.
    inside: Vec<bool>,
}

impl Sums {
    /// Of what some output needs; how often each value is used.
    pub(super) fn of(he: &Program, needed: &[bool], uses: &[u32]) -> Self {
        let mut sums = Self { terms: HashMap::new(), inside: vec![false; needed.len()] };
        for (v, instr) in he.values().filter(|(v, _)| needed[v.index()]) {
            let terms = match instr.op {
                Op::MulPlain(x, p) if uses[x.index()] > 1 && two_parts(he, x) => vec![(x, p)],
                Op::Add(a, b) => match [a, b].map(|x| sums.whole(uses, x)) {
                    [Some(left), Some(right)] => [left, right].concat(),
                    _ => continue,
                },
                _ => continue,
            };
            if let Op::Add(a, b) = instr.op {
                for part in [a, b] {
                    sums.terms.remove(&part);
                    sums.inside[part.index()] = true;
                }
            }
            sums.terms.insert(v, terms);
        }
        sums.terms.retain(|_, terms| terms.len() > 1);
        sums
    }

    /// The terms of a sum or product that is read once.
    fn whole(&self, uses: &[u32], v: Value) -> Option<Vec<Term>> {
        self.terms.get(&v).filter(|_| uses[v.index()] == 1).cloned()
    }

    /// The products whose sum a value is, if there are several.
    pub(super) fn terms(&self, v: Value) -> Option<&[Term]> {
        self.terms.get(&v).map(Vec::as_slice)
    }

    /// Sums that read what sum v reads, v first: they can all be computed where v is, modulo one prime after the other, so that
    /// their operands are read once.
    pub(super) fn beside(&self, v: Value) -> Vec<Value> {
        let Some(own) = self.terms.get(&v) else { return Vec::new() };
        let reads = |(x, _): &Term| own.iter().any(|(y, _)| x == y);
        let known = |terms: &[Term]| terms.iter().any(reads) && terms.iter().all(|(x, _)| *x < v);
        let mut all: Vec<Value> =
            self.terms.iter().filter(|(w, terms)| **w > v && known(terms)).map(|(w, _)| *w).collect();
        all.sort_unstable();
        all.insert(0, v);
        all
    }

    /// Whether a value is part of a sum.
    pub(super) fn is_inside(&self, v: Value) -> bool {
        self.inside[v.index()]
    }
}

fn two_parts(he: &Program, v: Value) -> bool {
    matches!(&he.instr(v).ty, Type::Ct(t) if t.parts == 2)
}

/// A plaintext factor.
#[derive(Debug, Clone)]
pub(super) enum Factor {
    /// All its limbs.
    Limbs(Poly),
    /// One limb, from which the others are made.
    Compact(Operand),
}

impl Lowering {
    /// Σ p·x modulo each of `moduli`, for each list of terms; a term without a limb for the last ones is zero there.
    pub(super) fn sums_of_products(
        &mut self,
        all: &[Vec<([Poly; 2], Factor)>],
        moduli: &[ModulusId],
    ) -> Vec<[Poly; 2]> {
        let mut sums = vec![[const { Vec::new() }; 2]; all.len()];
        for (i, &m) in moduli.iter().enumerate() {
            for (terms, sum) in all.iter().zip(&mut sums) {
                let terms: Vec<_> = terms.iter().filter(|([x, _], _)| i < x.len()).collect();
                let factors: Vec<_> = terms.iter().map(|(_, p)| self.factor(p, (i, m))).collect();
                for (part, sum) in sum.iter_mut().enumerate() {
                    let x: Vec<_> = terms.iter().map(|(x, _)| x[part][i]).collect();
                    sum.push(self.builder.dot(&factors, &x));
                }
            }
        }
        sums
    }

    /// A limb of a factor.
    pub(super) fn factor(&mut self, p: &Factor, (limb, m): (usize, ModulusId)) -> Operand {
        match p {
            Factor::Limbs(limbs) => limbs[limb],
            &Factor::Compact(one) => self.expanded_limb(one, m),
        }
    }
}
