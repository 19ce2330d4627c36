//! Values that KLSS key switches keep modulo T.

use super::super::key_inputs::KeyInputs;
use super::super::key_switch::Raised;
use super::super::klss::KlssInputs;
use super::super::over_t::{Moduli, TermOverT, TurnOverT};
use super::super::turns::Term;
use super::*;
use crate::limb::{SectionKind, SwitchEnd};

/// A key of KLSS, and how it is read.
type Key<'k> = (&'k KeyInputs, &'k KlssInputs);

impl Walk<'_> {
    /// Computes v if it is kept modulo T, or comes from what is; whether it does.
    pub(super) fn instruction_over_t(&mut self, v: Value) -> Result<bool, LowerError> {
        let op = &self.he.instr(v).op;
        let kept = self.is_over_t(v);
        let parts = match *op {
            Op::Rescale(a) if self.kept.contains_key(&a) => {
                let parts = self.over_t(a);
                self.parts[v.index()] = self.reduced_over_t(&parts, self.limbs(a), true)?;
                return Ok(true);
            }
            Op::Rotate { a, .. } | Op::Conj { a, .. } if kept || self.kept.contains_key(&a) => {
                self.turn_over_t(v)?
            }
            _ if !kept => return Ok(false),
            _ if self.sums.terms(v).is_some() => {
                self.sums_of_products_over_t(v)?;
                return Ok(true);
            }
            Op::Add(a, b) | Op::Sub(a, b) => match self.turns.terms(v).map(<[_]>::to_vec) {
                Some(terms) => self.sum_of_turns_over_t(&terms)?,
                None => {
                    let (a, b) = (self.over_t(a), self.over_t(b));
                    let minus = matches!(op, Op::Sub(..));
                    [0, 1].map(|part: usize| self.low.sum_over_t(&a[part], &b[part], minus))
                }
            },
            Op::MulPlain(a, p) => {
                let (a, moduli) = (self.over_t(a), self.moduli_over_t(self.limbs(v))?);
                let p = self.low.constant_over_t(self.part(p, 0)[0], &moduli);
                let times = |low: &mut Lowering, c: &Poly, p: &Poly| {
                    if c.is_empty() { Ok(Poly::new()) } else { low.mul(c, p) }
                };
                let [b, a] = a.map(|c| {
                    Ok::<_, LowerError>(OverT {
                        x: times(&mut self.low, &c.x, &p.x)?,
                        y: times(&mut self.low, &c.y, &p.y)?,
                    })
                });
                [b?, a?]
            }
            Op::Neg(a) => self.over_t(a).map(|c| OverT { x: self.low.neg(&c.x), y: self.low.neg(&c.y) }),
            Op::MulScalar { a, c, ref scale } => {
                let integer = scaled_integer(c, scale)?;
                let (a, moduli) = (self.over_t(a), self.moduli_over_t(self.limbs(v))?);
                a.map(|c| {
                    let mut times = |c: &Poly, moduli: &[ModulusId]| {
                        self.low.mul_integer(c, moduli, |low, m| residue_in(low, &integer, m))
                    };
                    OverT { x: times(&c.x, &moduli.x), y: times(&c.y, &moduli.y) }
                })
            }
            _ => return Ok(false),
        };
        self.keep_over_t(v, parts)?;
        Ok(true)
    }

    /// Keeps what was computed modulo T, or divides it where v is not to be kept so.
    fn keep_over_t(&mut self, v: Value, parts: [OverT; 2]) -> Result<(), LowerError> {
        if self.extended.is(v) {
            self.kept.insert(v, parts);
            return Ok(());
        }
        let rescale = self.merged.get(&v).copied();
        let parts = self.reduced_over_t(&parts, self.limbs(v), rescale.is_some())?;
        if let Some(rescale) = rescale {
            self.parts[rescale.index()].clone_from(&parts);
        }
        self.parts[v.index()] = parts;
        Ok(())
    }

    /// Whether v is computed modulo T, divided in the end or not.
    fn is_over_t(&self, v: Value) -> bool {
        self.extended.is_undivided(v) && self.keys_over_t.contains_key(&self.limbs(v))
    }

    /// The parts of a value as they take part in sums modulo T.
    fn over_t(&self, a: Value) -> [OverT; 2] {
        let divided = || self.two(a).map(|x| OverT { x, y: Poly::new() });
        self.kept.get(&a).cloned().unwrap_or_else(divided)
    }

    /// A key for values of `limbs` limbs that are kept modulo T.
    fn key_over_t<'k>(
        keys: &'k HashMap<(KeyId, usize), KeyInputs>,
        by_limbs: &HashMap<usize, (KeyId, usize)>,
        limbs: usize,
    ) -> Result<Key<'k>, LowerError> {
        let key = by_limbs.get(&limbs).and_then(|id| keys.get(id));
        key.and_then(|key| Some((key, key.klss.as_ref()?))).ok_or(LowerError::NoSpecialPrime)
    }

    fn moduli_over_t(&self, limbs: usize) -> Result<Moduli, LowerError> {
        let (_, klss) = Self::key_over_t(&self.keys, &self.keys_over_t, limbs)?;
        Ok(Moduli { x: self.low.basis.q()[..limbs].to_vec(), y: klss.moduli_over_t(limbs) })
    }

    fn reduced_over_t(
        &mut self,
        parts: &[OverT; 2],
        limbs: usize,
        rescale: bool,
    ) -> Result<Vec<Poly>, LowerError> {
        let key = Self::key_over_t(&self.keys, &self.keys_over_t, limbs)?;
        parts.iter().map(|c| self.low.reduced_over_t(c, key, (limbs, rescale))).collect()
    }

    /// The coefficients of c_1 of a value that is kept modulo T.
    pub(super) fn coefficients_over_t(&mut self, a: Value) -> Result<Option<Poly>, LowerError> {
        let Some([_, c1]) = self.kept.get(&a) else { return Ok(None) };
        let limbs = self.limbs(a);
        let key = Self::key_over_t(&self.keys, &self.keys_over_t, limbs)?;
        self.low.coefficients_over_t(c1, key, limbs).map(Some)
    }

    /// One rotation.
    fn turn_over_t(&mut self, v: Value) -> Result<[OverT; 2], LowerError> {
        let op = &self.he.instr(v).op;
        let (Some((id, a)), Some(galois)) = (self.key_of(op), galois(self.chain, op)) else {
            return Err(LowerError::NotManaged { program: self.he.name().to_owned() });
        };
        let method = self.method_of.get(&v).copied().unwrap_or_default();
        let (limbs, [c0, _]) = (self.limbs(v), self.over_t(a));
        let hoisted = self.shared_digits(v)?;
        let coefficients = if hoisted.is_none() { self.coefficients_over_t(a)? } else { None };
        let c1 = self.part(a, 1);
        let key = &self.keys[&(id, method)];
        let klss = key.klss.as_ref().ok_or(LowerError::NoSpecialPrime)?;
        let kind = SectionKind::KeySwitch {
            shape: key.shape(limbs),
            end: SwitchEnd::Extended,
            hoisted: hoisted.is_some(),
            galois: Some(galois),
        };
        self.low.section(kind, |low| {
            let digits;
            let raised = match (&hoisted, &coefficients) {
                (Some(hoisted), _) => hoisted.raised(),
                (None, Some(c1)) => {
                    digits = low.digits_of_coefficients(c1, key)?;
                    Raised::Digits(&digits)
                }
                (None, None) => {
                    digits = low.digits(&c1, key)?;
                    Raised::Digits(&digits)
                }
            };
            let turn = TurnOverT { raised, limbs, c0, galois, key, klss };
            low.sum_over_t_of_turns(&[(TermOverT::Turn(turn), false)])
        })
    }

    /// A sum of rotations that share digits, and of other values.
    fn sum_of_turns_over_t(&mut self, terms: &[Term]) -> Result<[OverT; 2], LowerError> {
        let mut raised = Vec::with_capacity(terms.len());
        for &(v, _) in terms {
            raised.push(if self.turns.is_inside(v) { self.shared_digits(v)? } else { None });
        }
        let mut all = Vec::with_capacity(terms.len());
        for (&(v, minus), raised) in terms.iter().zip(&raised) {
            let op = &self.he.instr(v).op;
            let method = self.method_of.get(&v).copied().unwrap_or_default();
            let turn = raised.as_ref().zip(galois(self.chain, op)).zip(self.key_of(op));
            let term = match turn {
                None => TermOverT::Kept(self.over_t(v)),
                Some(((raised, galois), (id, a))) => {
                    let (key, [c0, _]) = (&self.keys[&(id, method)], self.over_t(a));
                    let klss = key.klss.as_ref().ok_or(LowerError::NoSpecialPrime)?;
                    let (raised, limbs) = (raised.raised(), raised.limbs());
                    TermOverT::Turn(TurnOverT { raised, limbs, c0, galois, key, klss })
                }
            };
            all.push((term, minus));
        }
        self.low.sum_over_t_of_turns(&all)
    }

    /// Sum `v` of products with plaintexts, and those beside it that are kept so.
    fn sums_of_products_over_t(&mut self, v: Value) -> Result<(), LowerError> {
        let limbs = self.limbs(v);
        let same = |w: &Value| self.is_over_t(*w) && self.limbs(*w) == limbs;
        let beside: Vec<Value> = self.sums.beside(v).into_iter().filter(same).collect();
        let terms = |w: &Value| {
            let terms = self.sums.terms(*w).unwrap_or_default();
            terms.iter().map(|&(x, p)| (self.over_t(x), self.factor(p))).collect()
        };
        let all: Vec<_> = beside.iter().map(terms).collect();
        let moduli = self.moduli_over_t(limbs)?;
        let sums = self.low.sums_of_products_over_t(&all, &moduli);
        for (w, sum) in beside.into_iter().zip(sums) {
            self.keep_over_t(w, sum)?;
        }
        Ok(())
    }
}
