//! Values that stay multiplied by P: the division that ends a key switch is put off until their sum is rescaled.
//!
//! A rotation ends with t/P of two parts, 2(ℓ + 1 + K) transforms. What is done with it next is linear in most programs:
//! products with plaintexts, sums, another rotation, a rescale at last. All of that can be done to t itself modulo PQ, and
//! the rescale divides by P·q_ℓ at once: *double hoisting* (Bossuat, Mouchet, Troncoso-Pastoriza and Hubaux, EUROCRYPT 2021,
//! §4). A rotation of such a value divides c_1 alone, whose digits it needs. A sum of several rotations of one value that
//! something else reads, or that is an output, is divided where it ends: once for all of them.
//!
//! [`Extended`] says which values of a program are left so; their polynomials have the limbs of q_0 … q_ℓ, p_0 … p_{K−1}.
//! KLSS keeps them modulo T instead ([`over_t`](super::over_t)), where T is long enough ([`growth`](super::growth)).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::growth::Levels;
use super::turns::MANY;
use super::uses::limbs;
use super::{LowerError, Lowering, Poly};
use crate::he::{Chain, Op, Program, Type, Value};
use crate::limb::{ModulusId, Operand};

/// Time of one term of a base conversion over that of a transform.
const CONVERSION: f64 = 0.1;

/// Time of a product of both parts with a constant, part of an inner product, over that of a transform: it reads the parts from memory.
const PRODUCT: f64 = 0.5;

/// What decides whether a value stays multiplied by P.
pub(super) struct Facts<'a> {
    pub(super) he: &'a Program,
    pub(super) chain: &'a Chain,
    pub(super) needed: &'a [bool],
    /// How often each value is used.
    pub(super) uses: &'a [u32],
    /// Whether a rotation divides by the special primes of the chain, all of them and no others, or by KLSS as its level does.
    pub(super) divides: &'a dyn Fn(Value) -> bool,
    /// By numbers of limbs, where rotations are switched by KLSS.
    pub(super) klss: &'a Levels<'a>,
    /// Whether a rotation shares its digits with others.
    pub(super) shares: &'a dyn Fn(Value) -> bool,
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
pub(super) struct Extended {
    is: Vec<bool>,
    /// Sums of such values that are divided where they end.
    settled: Vec<bool>,
    /// Where they stay modulo T: by limbs its primes, for each method of KLSS.
    over_t: HashMap<usize, BTreeMap<usize, usize>>,
}

/// What is taken back on the way to a decision.
#[derive(Default)]
struct Refused {
    /// Sums that put off too few divisions for their own.
    sums: Vec<bool>,
    /// Numbers of limbs at which T is too short for products with constants, or for sums.
    products: BTreeSet<usize>,
    levels: BTreeSet<usize>,
}

impl Extended {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        // What is taken back may change other things.
        let mut refused = Refused { sums: vec![false; facts.needed.len()], ..Refused::default() };
        let factors = facts.factors();
        loop {
            let may = facts.may(&refused);
            let primes = match facts.primes(&may, &factors) {
                Ok(primes) => primes,
                Err(limbs) => {
                    if !refused.products.insert(limbs) {
                        refused.levels.insert(limbs);
                    }
                    continue;
                }
            };
            let is = facts.undivided(&may, &facts.extra(&primes));
            let settled = facts.settled(&may, &is);
            let worth = facts.divisions(&is);
            let lost = |v: &Value| settled[v.index()] && worth[v.index()] < MANY as f64;
            let lost: Vec<Value> = facts.he.values().map(|(v, _)| v).filter(lost).collect();
            if lost.is_empty() {
                // Fewer values than may stay so, so T is long enough for them.
                let primes = facts.primes(&is, &factors).unwrap_or(primes);
                let mut over_t: HashMap<usize, BTreeMap<usize, usize>> = HashMap::new();
                for (limbs, primes) in primes {
                    over_t.entry(facts.klss[&limbs].method).or_default().insert(limbs, primes);
                }
                return Self { is, settled, over_t };
            }
            lost.iter().for_each(|v| refused.sums[v.index()] = true);
        }
    }

    /// How many primes of T sums of key switches take by a method, by limbs.
    pub(super) fn sums_of(&self, method: usize) -> Option<&BTreeMap<usize, usize>> {
        self.over_t.get(&method)
    }

    /// The method modulo whose T values of `limbs` limbs stay.
    pub(super) fn method_over_t(&self, limbs: usize) -> Option<usize> {
        self.over_t.iter().find(|(_, by)| by.contains_key(&limbs)).map(|(&method, _)| method)
    }

    /// Whether v is P times what it stands for.
    pub(super) fn is(&self, v: Value) -> bool {
        self.is[v.index()]
    }

    /// Whether v is computed multiplied by P, divided in the end or not.
    pub(super) fn is_undivided(&self, v: Value) -> bool {
        self.is(v) || self.is_settled(v)
    }

    /// Whether v is a sum of such values and is itself divided.
    pub(super) fn is_settled(&self, v: Value) -> bool {
        self.settled[v.index()]
    }
}

impl Facts<'_> {
    /// Values that no use forbids. A use that is a sum can be divided itself, unless that is `refused`.
    fn may(&self, refused: &Refused) -> Vec<bool> {
        let mut may: Vec<bool> = self.needed.to_vec();
        for out in self.he.outputs() {
            may[out.value.index()] = false;
        }
        // Uses come after what they use.
        for (v, instr) in self.he.values().rev().filter(|(v, _)| self.needed[v.index()]) {
            let two = matches!(&instr.ty, Type::Ct(t) if t.parts == 2);
            let limbs = limbs(self.chain, &instr.ty);
            let divides = (self.divides)(v) && !refused.levels.contains(&limbs);
            may[v.index()] &= two
                && match instr.op {
                    Op::Rotate { .. } | Op::Conj { .. } => divides && !(self.merged)(v),
                    Op::MulPlain(_, p) => self.compact.contains_key(&p) && !refused.products.contains(&limbs),
                    Op::Add(..) | Op::Sub(..) | Op::Neg(_) | Op::MulScalar { .. } => true,
                    _ => false,
                };
            let allows = match instr.op {
                Op::Rescale(_) => two,
                Op::Add(..) | Op::Sub(..) => may[v.index()] || two && !refused.sums[v.index()],
                Op::Rotate { .. } | Op::Conj { .. } => divides,
                _ => may[v.index()],
            };
            if !allows {
                instr.op.operands().as_slice().iter().for_each(|a| may[a.index()] = false);
            }
        }
        may
    }

    /// Those of them that stay multiplied by P: `extra` is what their products would cost.
    fn undivided(&self, may: &[bool], extra: &[f64]) -> Vec<bool> {
        let mut is = vec![false; may.len()];
        for (v, instr) in self.he.values().filter(|(v, _)| may[v.index()]) {
            is[v.index()] = match instr.op {
                Op::Rotate { .. } | Op::Conj { .. } => {
                    extra[v.index()] < self.saved(limbs(self.chain, &instr.ty))
                }
                Op::MulPlain(a, _) | Op::MulScalar { a, .. } | Op::Neg(a) => is[a.index()],
                Op::Add(a, b) | Op::Sub(a, b) => is[a.index()] || is[b.index()],
                _ => false,
            };
        }
        is
    }

    /// Sums that may not stay so, of values that do.
    fn settled(&self, may: &[bool], is: &[bool]) -> Vec<bool> {
        let mut settled = vec![false; may.len()];
        for (v, instr) in self.he.values().filter(|(v, _)| self.needed[v.index()] && !may[v.index()]) {
            if let Op::Add(a, b) | Op::Sub(a, b) = instr.op {
                settled[v.index()] = is[a.index()] || is[b.index()];
            }
        }
        settled
    }

    /// For each value how many divisions of rotations are put off for it: a rotation counts for each of its uses in equal parts.
    /// Only those that share digits: of others, whose sums are written and read again limb by limb, a narrow core is no faster.
    fn divisions(&self, is: &[bool]) -> Vec<f64> {
        let mut divisions = vec![0.0; is.len()];
        for (v, instr) in self.he.values().filter(|(v, _)| self.needed[v.index()]) {
            let share = |a: Value| {
                if is[a.index()] { divisions[a.index()] / f64::from(self.uses[a.index()]) } else { 0.0 }
            };
            divisions[v.index()] = match instr.op {
                Op::Rotate { .. } | Op::Conj { .. } => f64::from(u8::from((self.shares)(v))),
                Op::MulPlain(a, _) | Op::MulScalar { a, .. } | Op::Neg(a) => share(a),
                // A sum of one value with itself shares it twice.
                Op::Add(a, b) | Op::Sub(a, b) => share(a) + share(b),
                _ => 0.0,
            };
        }
        divisions
    }

    /// The time of the divisions by P of both parts, in transforms; by KLSS that of what comes before them too.
    fn saved(&self, limbs: usize) -> f64 {
        let division = |special: usize| CONVERSION * (2 * limbs * special) as f64;
        let Some(klss) = self.klss.get(&limbs).map(|at| at.layout) else {
            return (2 * (limbs + self.special)) as f64 + division(self.special);
        };
        let (t, special) = (klss.t_for(limbs).len(), klss.digits().special);
        let recovery = CONVERSION * (2 * t * (limbs + special)) as f64;
        (2 * (klss.blocks(limbs) * t + limbs)) as f64 + recovery + division(special)
    }

    /// For each value the time that its products with constants take modulo the special primes, or modulo T, in transforms.
    fn extra(&self, primes: &BTreeMap<usize, usize>) -> Vec<f64> {
        let mut extra = vec![0.0; self.needed.len()];
        for (_, instr) in self.he.values().filter(|(v, _)| self.needed[v.index()]) {
            let limbs = limbs(self.chain, &instr.ty);
            // Transforms of the constant, and limbs of each part beyond those of q_0 …: of those c_1 has none modulo T.
            let (expanded, products) = match (primes.get(&limbs), self.klss.get(&limbs)) {
                (Some(&t), Some(klss)) => (t, (klss.layout.blocks(limbs) * t) as f64 - limbs as f64 / 2.0),
                _ => (self.special, self.special as f64),
            };
            match instr.op {
                Op::MulPlain(a, p) => {
                    let Some(&period) = self.compact.get(&p) else { continue };
                    let transform = (2 * period) as f64 / self.n as f64;
                    extra[a.index()] += expanded as f64 * transform + products * PRODUCT;
                }
                Op::MulScalar { a, .. } => extra[a.index()] += products * PRODUCT,
                _ => {}
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
            .filter_map(|i| self.sum_extended_limb(a.get(i).copied(), b.get(i).copied(), minus))
            .collect()
    }

    /// A limb of it; none stands for zero.
    pub(super) fn sum_extended_limb(
        &mut self,
        a: Option<Operand>,
        b: Option<Operand>,
        minus: bool,
    ) -> Option<Operand> {
        match (a, b) {
            (Some(a), Some(b)) if minus => Some(self.builder.sub(a, b)),
            (Some(a), Some(b)) => Some(self.builder.add(a, b)),
            (None, Some(b)) if minus => Some(self.builder.neg(b)),
            (x, None) | (None, x) => x,
        }
    }

    /// x/P rounded, or over the primes of the level too, of an extended polynomial.
    ///
    /// # Errors
    /// A rescale at level 0.
    pub(super) fn reduced(&mut self, x: &[Operand], rescale: bool) -> Result<Poly, LowerError> {
        let limbs = x.len() - self.basis.p().len();
        let kept = self.basis.kept(limbs, rescale)?;
        self.region("divide");
        let divisors: Vec<usize> = (limbs..x.len()).chain(kept..limbs).collect();
        let moduli = self.extended_moduli(limbs);
        let coefficients: Vec<_> = divisors.iter().map(|&i| self.builder.intt(x[i])).collect();
        let of: Vec<_> = divisors.iter().map(|&i| moduli[i]).collect();
        let dropped = self.residues(&of, &coefficients)?;
        (0..kept).map(|i| self.divide(x[i], &dropped, moduli[i])).collect()
    }
}
