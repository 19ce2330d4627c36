//! Sums of rotations that share digits, prime by prime.
//!
//! One rotation after the other would read all raised digits, β·(ℓ + 1 + K) limbs, and write and read the sum
//! once for each of them. At N = 2^16, where neither stays in a cache, that is twice the memory traffic of
//! the keys. If the division by P is deferred (`extended`), only the sum reads a rotation. So all rotations
//! of a sum can be computed modulo one prime before the next: its digits and its sum are few limbs, and only
//! keys come from memory.

use std::collections::HashMap;

use super::extended::Extended;
use super::key_switch::Switching;
use super::sums::Sums;
use super::{KeyInputs, LowerError, Lowering, Poly};
use crate::he::{Op, Program, Value};

/// Fewer rotations are computed one after the other, and a sum of fewer is not divided where it ends. A core
/// that keeps limbs in another memory writes and reads a sum modulo PQ there, so it gains nothing from two.
pub(super) const MANY: usize = 3;

/// One operand of a sum of several, and whether it is subtracted.
pub(super) type Term = (Value, bool);

/// The sums of rotations of a program.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// By the value of the whole sum.
    terms: HashMap<Value, Vec<Term>>,
    /// Whether a value is a rotation or part of a sum, and has no limbs of its own.
    inside: Vec<bool>,
}

/// A sum on the way.
#[derive(Default)]
struct Sum {
    terms: Vec<Term>,
    /// Its rotations.
    turns: usize,
    /// These, and sums that are part of it.
    inside: Vec<Value>,
}

impl Turns {
    /// Of what some output needs: `shares` says which rotations share their digits with others. A sum of `products` is one
    /// value here: what it is made of has no limbs.
    pub(super) fn of(
        he: &Program,
        needed: &[bool],
        uses: &[u32],
        extended: &Extended,
        products: &Sums,
        shares: &dyn Fn(Value) -> bool,
    ) -> Self {
        let once = |v: Value| extended.is(v) && uses[v.index()] == 1;
        let is_sum =
            |v: Value| extended.is_undivided(v) && products.terms(v).is_none() && !products.is_inside(v);
        let mut sums: HashMap<Value, Sum> = HashMap::new();
        for (v, instr) in he.values().filter(|(v, _)| needed[v.index()] && is_sum(*v)) {
            let (Op::Add(a, b) | Op::Sub(a, b)) = instr.op else { continue };
            let mut sum = Sum::default();
            for (x, minus) in [(a, false), (b, matches!(instr.op, Op::Sub(..)))] {
                match once(x).then(|| sums.remove(&x)).flatten() {
                    Some(part) => {
                        sum.terms.extend(part.terms.into_iter().map(|(y, sign)| (y, sign != minus)));
                        sum.turns += part.turns;
                        sum.inside.extend(part.inside);
                        sum.inside.push(x);
                    }
                    None => sum.terms.push((x, minus)),
                }
                if once(x) && shares(x) {
                    sum.turns += 1;
                    sum.inside.push(x);
                }
            }
            sums.insert(v, sum);
        }
        let mut turns = Self { terms: HashMap::new(), inside: vec![false; needed.len()] };
        for (v, sum) in sums.into_iter().filter(|(_, sum)| sum.turns >= MANY) {
            sum.inside.iter().for_each(|x| turns.inside[x.index()] = true);
            turns.terms.insert(v, sum.terms);
        }
        turns
    }

    /// The operands of a sum of rotations.
    pub(super) fn terms(&self, v: Value) -> Option<&[Term]> {
        self.terms.get(&v).map(Vec::as_slice)
    }

    /// Whether a value is computed with the sum that it is part of.
    pub(super) fn is_inside(&self, v: Value) -> bool {
        self.inside[v.index()]
    }
}

/// A term with what it is computed from.
pub(super) enum Summand<'a> {
    /// A rotation.
    Turn(Switching<'a>, &'a KeyInputs),
    /// Extended polynomials, which may lack limbs in which they are zero.
    Value([Poly; 2]),
}

impl Lowering {
    /// The sum of terms, each subtracted if it says so, P times what it stands for.
    ///
    /// # Errors
    /// As [`Self::key_switch`].
    pub(super) fn sum_of_turns(&mut self, terms: &[(Summand<'_>, bool)]) -> Result<[Poly; 2], LowerError> {
        let mut targets = Vec::new();
        for (term, _) in terms {
            if let Summand::Turn(switching, key) = term {
                self.check(switching, key)?;
                targets = self.targets(switching.limbs, key);
            }
        }
        let mut sums = [Vec::new(), Vec::new()];
        for target in targets {
            let mut sum = [None; 2];
            for (term, minus) in terms {
                let limbs = match term {
                    Summand::Turn(switching, key) => {
                        self.switch_extended_limb(switching, target, key).map(Some)
                    }
                    Summand::Value(parts) => [0, 1].map(|part: usize| parts[part].get(target.index).copied()),
                };
                for (sum, limb) in sum.iter_mut().zip(limbs) {
                    *sum = self.sum_extended_limb(*sum, limb, *minus);
                }
            }
            sums.iter_mut().zip(sum).for_each(|(poly, limb)| poly.extend(limb));
        }
        Ok(sums)
    }
}
