//! Sums of KLSS key switches that stay modulo T: blocks are recovered and divided by P once, where a sum ends.
//!
//! An inner product with the key is a polynomial for each block and part, whose integers are known modulo T. Sums, products with
//! constants and automorphisms of these are the same for the integers, as long as T exceeds them ([`growth`](super::growth)).
//! What they are recovered to are the residues that hybrid key switching has modulo P·Q, so the division gives its bits.
//!
//! A value c is kept as x + y/P: x are limbs of q_0 … q_ℓ, y those modulo T. A rotation ends with y alone and the rotated c_0.

use super::galois::Hoisted;
use super::key_inputs::KeyInputs;
use super::key_switch::{End, Raised, Switching};
use super::klss::{Dividend, KlssInputs};
use super::sums::Factor;
use super::{LowerError, Lowering, Poly};
use crate::limb::{ModulusId, Operand};

/// One part of a value: x and y, either of which may be zero and then has no limbs. y has the blocks modulo each prime of T.
#[derive(Debug, Clone, Default)]
pub(super) struct OverT {
    pub(super) x: Poly,
    pub(super) y: Poly,
}

/// A rotation of c_0 and of what there are digits of.
pub(super) struct TurnOverT<'a> {
    pub(super) raised: Raised<'a>,
    pub(super) limbs: usize,
    pub(super) c0: OverT,
    pub(super) galois: u64,
    pub(super) key: &'a KeyInputs,
    pub(super) klss: &'a KlssInputs,
}

/// A term of a sum.
pub(super) enum TermOverT<'a> {
    Turn(TurnOverT<'a>),
    Kept([OverT; 2]),
}

/// The primes modulo which such values are computed.
pub(super) struct Moduli {
    pub(super) x: Vec<ModulusId>,
    /// A prime of T for each of its blocks.
    pub(super) y: Vec<ModulusId>,
}

impl KlssInputs {
    /// The primes of y for values of `limbs` limbs.
    pub(super) fn moduli_over_t(&self, limbs: usize) -> Vec<ModulusId> {
        let blocks = self.layout.blocks(limbs);
        self.t_raised(limbs).iter().flat_map(|&t| std::iter::repeat_n(t, blocks)).collect()
    }
}

impl Lowering {
    /// a ± b.
    pub(super) fn sum_over_t(&mut self, a: &OverT, b: &OverT, minus: bool) -> OverT {
        OverT { x: self.sum_extended(&a.x, &b.x, minus), y: self.sum_extended(&a.y, &b.y, minus) }
    }

    /// A constant of one limb modulo the primes of a value, each once.
    pub(super) fn constant_over_t(&mut self, constant: Operand, moduli: &Moduli) -> OverT {
        self.region("expand");
        let x = self.expanded(constant, &moduli.x);
        let mut y: Poly = Vec::with_capacity(moduli.y.len());
        for (i, &m) in moduli.y.iter().enumerate() {
            let limb = if i > 0 && moduli.y[i - 1] == m { y[i - 1] } else { self.expanded_limb(constant, m) };
            y.push(limb);
        }
        OverT { x, y }
    }

    /// Σ p·c for each list of terms, prime by prime, so that what lists share is read once.
    pub(super) fn sums_of_products_over_t(
        &mut self,
        all: &[Vec<([OverT; 2], Factor)>],
        moduli: &Moduli,
    ) -> Vec<[OverT; 2]> {
        let mut sums = vec![[const { OverT { x: Vec::new(), y: Vec::new() } }; 2]; all.len()];
        for (i, &m) in moduli.x.iter().enumerate() {
            for (terms, sum) in all.iter().zip(&mut sums) {
                let factors: Vec<_> = terms.iter().map(|(_, p)| self.factor(p, (i, m))).collect();
                for (part, sum) in sum.iter_mut().enumerate() {
                    sum.x.extend(self.dot_of_present(&factors, terms.iter().map(|(c, _)| c[part].x.get(i))));
                }
            }
        }
        let mut factors: Vec<Poly> = Vec::new();
        for (i, &m) in moduli.y.iter().enumerate() {
            if i == 0 || moduli.y[i - 1] != m {
                let of = |low: &mut Self, terms: &Vec<([OverT; 2], Factor)>| {
                    terms.iter().map(|(_, p)| low.factor(p, (i, m))).collect()
                };
                factors = all.iter().map(|terms| of(self, terms)).collect();
            }
            for ((terms, sum), factors) in all.iter().zip(&mut sums).zip(&factors) {
                for (part, sum) in sum.iter_mut().enumerate() {
                    sum.y.extend(self.dot_of_present(factors, terms.iter().map(|(c, _)| c[part].y.get(i))));
                }
            }
        }
        sums
    }

    /// Σ p·c over the terms that are not zero; none if all are.
    fn dot_of_present<'a>(
        &mut self,
        factors: &[Operand],
        terms: impl Iterator<Item = Option<&'a Operand>>,
    ) -> Option<Operand> {
        let present = factors.iter().zip(terms).filter_map(|(&p, c)| Some((p, *c?)));
        let (p, c): (Vec<_>, Vec<_>) = present.unzip();
        (!p.is_empty()).then(|| self.builder.dot(&p, &c))
    }

    /// x + y/P rounded, or divided by the primes of the level too.
    ///
    /// # Errors
    /// A rescale at level 0.
    pub(super) fn reduced_over_t(
        &mut self,
        c: &OverT,
        (key, klss): (&KeyInputs, &KlssInputs),
        (limbs, rescale): (usize, bool),
    ) -> Result<Poly, LowerError> {
        self.basis.kept(limbs, rescale)?;
        if c.y.is_empty() {
            return if rescale { self.rescale(&c.x) } else { Ok(c.x.clone()) };
        }
        let rows = self.recovered_over_t(c, (key, klss), limbs)?;
        let add = (!c.x.is_empty()).then_some(&c.x[..]);
        self.quotient(&Dividend { rows: &rows, special: key.special(), add }, rescale)
    }

    /// The coefficients of x + y/P rounded.
    ///
    /// # Errors
    /// As a conversion.
    pub(super) fn coefficients_over_t(
        &mut self,
        c: &OverT,
        (key, klss): (&KeyInputs, &KlssInputs),
        limbs: usize,
    ) -> Result<Poly, LowerError> {
        if c.y.is_empty() {
            return Ok(c.x.iter().map(|&limb| self.builder.intt(limb)).collect());
        }
        let rows = self.recovered_over_t(c, (key, klss), limbs)?;
        let add = (!c.x.is_empty()).then_some(&c.x[..]);
        self.quotient_coefficients(&Dividend { rows: &rows, special: key.special(), add })
    }

    /// y as coefficients modulo the special primes and q_0 ….
    fn recovered_over_t(
        &mut self,
        c: &OverT,
        (key, klss): (&KeyInputs, &KlssInputs),
        limbs: usize,
    ) -> Result<Poly, LowerError> {
        let blocks = klss.layout.blocks(limbs);
        let mut sums = vec![Poly::new(); blocks];
        for (i, &limb) in c.y.iter().enumerate() {
            sums[i % blocks].push(self.builder.intt(limb));
        }
        self.recovered(&sums, limbs, key, klss)
    }

    /// As [`hoist`](Self::hoist), of a polynomial of which the coefficients are there.
    ///
    /// # Errors
    /// As a conversion.
    pub(super) fn hoist_coefficients(
        &mut self,
        c1: &[Operand],
        key: &KeyInputs,
    ) -> Result<Hoisted, LowerError> {
        let digits = self.digits_of_coefficients(c1, key)?;
        self.region("raise");
        let raised = self.raise_all(&digits, key);
        Ok(Hoisted::of(raised, c1.len()))
    }

    /// The sum of rotations and other values, modulo one prime after the other.
    ///
    /// # Errors
    /// As [`Self::key_switch`].
    pub(super) fn sum_over_t_of_turns(
        &mut self,
        terms: &[(TermOverT<'_>, bool)],
    ) -> Result<[OverT; 2], LowerError> {
        let mut sum: [OverT; 2] = Default::default();
        let (mut t, mut blocks) = (Vec::new(), 0);
        for (term, minus) in terms {
            let x = match term {
                TermOverT::Turn(turn) => {
                    self.check(&turn.switching(), turn.key)?;
                    t = turn.klss.t_raised(turn.limbs).to_vec();
                    blocks = turn.klss.layout.blocks(turn.limbs);
                    [
                        turn.c0.x.iter().map(|&limb| self.turned(limb, Some(turn.galois))).collect(),
                        Poly::new(),
                    ]
                }
                TermOverT::Kept(parts) => [0, 1].map(|part: usize| parts[part].x.clone()),
            };
            for (sum, x) in sum.iter_mut().zip(&x) {
                sum.x = self.sum_extended(&sum.x, x, *minus);
            }
        }
        for (k, &t) in t.iter().enumerate() {
            let name = self.builder.moduli()[t.index()].name.clone();
            self.region(format_args!("inner product mod {name}"));
            let raised: Vec<Poly> = terms.iter().map(|(term, _)| self.digits_over_t(term, k, t)).collect();
            for i in k * blocks..(k + 1) * blocks {
                let mut limbs = [None; 2];
                for ((term, minus), u) in terms.iter().zip(&raised) {
                    let own = match term {
                        TermOverT::Turn(turn) => self.turned_block(turn, u, (k, i)).map(Some),
                        TermOverT::Kept(parts) => [0, 1].map(|part: usize| parts[part].y.get(i).copied()),
                    };
                    for (limb, own) in limbs.iter_mut().zip(own) {
                        *limb = self.sum_extended_limb(*limb, own, *minus);
                    }
                }
                sum.iter_mut().zip(limbs).for_each(|(sum, limb)| sum.y.extend(limb));
            }
        }
        Ok(sum)
    }

    /// The digits of a rotation modulo prime `k` of T.
    fn digits_over_t(&mut self, term: &TermOverT<'_>, k: usize, t: ModulusId) -> Poly {
        match term {
            TermOverT::Turn(turn) => self.raised(turn.raised, k, |low, d| low.raise_to_t(d, t)),
            TermOverT::Kept(_) => Poly::new(),
        }
    }

    /// Limb `i` of both y of a rotation, which is a block modulo prime `k` of T; `u` are the digits there.
    fn turned_block(&mut self, turn: &TurnOverT<'_>, u: &[Operand], (k, i): (usize, usize)) -> [Operand; 2] {
        let m = i - k * turn.klss.layout.blocks(turn.limbs);
        let limb = k * turn.klss.blocks + m;
        let mut limbs = [0, 1].map(|part| self.inner_product_with(u, turn.key, part, limb));
        if let Some(&addend) = turn.c0.y.get(i) {
            limbs[0] = self.builder.add(limbs[0], addend);
        }
        limbs.map(|limb| self.turned(limb, Some(turn.galois)))
    }
}

impl TurnOverT<'_> {
    fn switching(&self) -> Switching<'_> {
        let galois = Some(self.galois);
        Switching { raised: self.raised, limbs: self.limbs, add: [None, None], end: End::Extended, galois }
    }
}
