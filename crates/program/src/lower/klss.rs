//! KLSS key switching: the inner product modulo auxiliary primes. Kim, Lee, Seo, Song (CRYPTO 2023), with exact
//! conversions; `docs/algorithms/klss.md` has the derivation.
//!
//! 1. *Digits* as in hybrid key switching: centred integers d_j.
//! 2. *Raise* each d_j modulo the α′ primes of T only: β·α′ transforms. With fewer limbs fewer primes will do.
//! 3. *Inner product* with every block of the key, Σ_j d_j·key_j,m: its integers stay within T/4, so that sums modulo T
//!    are the integers themselves. 2·β̃·α′ inverse transforms.
//! 4. *Recover*: each block is taken, centred, modulo its own primes. That conversion must be the exact one: an
//!    integer off by T is off by a random residue modulo each prime.
//! 5. *Divide* by P, or by P·q_ℓ, on coefficients, and transform what remains: 2·(ℓ + 1) transforms.
//!
//! Steps 1, 3 and 5 compute the integers of hybrid key switching with the same key, so results are equal bit for bit.
//!
//! Steps 4 and 5 can wait for the end of a sum of key switches (`over_t`).

use std::collections::BTreeMap;

use ringmill_ckks::KlssLayout;

use super::key_inputs::KeyInputs;
use super::key_switch::{Digits, End, Parts, Switching};
use super::residues::Residues;
use super::{LowerError, Lowering, Poly};
use crate::limb::{ModulusId, Operand};

/// What the limbs of a KLSS key are: \[digit\]\[part\], limb k·blocks + m for prime k of T and block m.
#[derive(Debug, Clone)]
pub(super) struct KlssInputs {
    pub(super) layout: KlssLayout,
    /// The primes of T that the declared limbs need.
    pub(super) t: Vec<ModulusId>,
    /// Blocks of the declared limbs.
    pub(super) blocks: usize,
    /// For numbers of limbs at which sums of key switches stay modulo T: how many of its primes these take.
    pub(super) sums: BTreeMap<usize, usize>,
}

impl KlssInputs {
    /// The primes of T for a polynomial of `limbs` limbs, no more than were declared.
    pub(super) fn t_for(&self, limbs: usize) -> &[ModulusId] {
        &self.t[..self.layout.t_for(limbs).len().min(self.t.len())]
    }

    /// Those to which its digits are raised: more than that where sums of key switches stay modulo T.
    pub(super) fn t_raised(&self, limbs: usize) -> &[ModulusId] {
        self.sums.get(&limbs).map_or_else(|| self.t_for(limbs), |&primes| &self.t[..primes])
    }
}

/// A polynomial that is to be divided by P, and what is added to the quotient.
pub(super) struct Dividend<'a> {
    /// Coefficients modulo the special primes and q_0 ….
    pub(super) rows: &'a [Operand],
    pub(super) special: &'a [ModulusId],
    /// Limbs of q_0 …, in the evaluation domain.
    pub(super) add: Option<&'a [Operand]>,
}

impl Lowering {
    /// Step 2 for one prime of T.
    pub(super) fn raise_to_t(&mut self, d: &Digits<'_>, t: ModulusId) -> Poly {
        d.residues().map(|x| self.modulo(x, t)).collect()
    }

    /// Steps 2 to 5.
    pub(super) fn switch_klss(
        &mut self,
        s: &Switching<'_>,
        key: &KeyInputs,
        klss: &KlssInputs,
    ) -> Result<[Poly; 2], LowerError> {
        let sums = self.block_sums(s, key, klss, klss.layout.blocks(s.limbs));
        let [b, a] = [0, 1].map(|part| {
            let sums: Vec<Poly> = sums.iter().map(|block| block[part].clone()).collect();
            self.recovered(&sums, s.limbs, key, klss)
        });
        let (rescale, special) = (s.end == End::Rescale, key.special());
        let mut parts = [Vec::new(), Vec::new()];
        for ((part, rows), add) in parts.iter_mut().zip([b?, a?]).zip(s.add) {
            let quotient = self.quotient(&Dividend { rows: &rows, special, add }, rescale)?;
            *part = quotient.into_iter().map(|limb| self.turned(limb, s.galois)).collect();
        }
        Ok(parts)
    }

    /// Step 4 for one part: coefficients modulo the special primes and q_0 …, from those of each block modulo primes of T.
    pub(super) fn recovered(
        &mut self,
        sums: &[Poly],
        limbs: usize,
        key: &KeyInputs,
        klss: &KlssInputs,
    ) -> Result<Poly, LowerError> {
        self.region("recover");
        let (block, all) = (klss.layout.block(), key.special().len() + limbs);
        let mut rows = Vec::with_capacity(all);
        for (m, sums) in sums.iter().enumerate() {
            let x = self.residues(&klss.t[..sums.len()], sums)?;
            for at in m * block..all.min((m + 1) * block) {
                let modulus = self.block_prime(key, at);
                rows.push(self.coefficients_modulo(&x, modulus));
            }
        }
        Ok(rows)
    }

    /// Step 3: \[block\]\[part\]\[prime of T\], coefficients.
    fn block_sums(
        &mut self,
        s: &Switching<'_>,
        key: &KeyInputs,
        klss: &KlssInputs,
        blocks: usize,
    ) -> Vec<Parts<Poly>> {
        let mut sums = vec![Parts::<Poly>::default(); blocks];
        for (k, &t) in klss.t_for(s.limbs).iter().enumerate() {
            let name = self.builder.moduli()[t.index()].name.clone();
            self.region(format_args!("inner product mod {name}"));
            let u = self.raised(s.raised, k, |low, d| low.raise_to_t(d, t));
            for (m, block) in sums.iter_mut().enumerate() {
                for (part, sum) in block.iter_mut().enumerate() {
                    let dot = self.inner_product_with(&u, key, part, k * klss.blocks + m);
                    sum.push(self.builder.intt(dot));
                }
            }
        }
        sums
    }

    /// The prime at a place in the order of blocks: special ones first.
    fn block_prime(&self, key: &KeyInputs, at: usize) -> ModulusId {
        let special = key.special();
        if at < special.len() { special[at] } else { self.basis.q()[at - special.len()] }
    }

    /// Step 5 for one part: limbs of q_0 …, those of the level below if `rescale`.
    ///
    /// # Errors
    /// As a conversion.
    pub(super) fn quotient(&mut self, x: &Dividend<'_>, rescale: bool) -> Result<Poly, LowerError> {
        self.region("divide");
        let (p, rows) = x.rows.split_at(x.special.len());
        let kept = self.basis.kept(rows.len(), rescale)?;
        let (mut dropped, mut moduli) = (p.to_vec(), x.special.to_vec());
        // The primes of the level too are divided away, and the addend with them.
        let last = self.basis.q()[kept..rows.len()].to_vec();
        for (i, &q) in (kept..).zip(&last) {
            let mut row = rows[i];
            if let Some(addend) = x.add {
                let limb = self.builder.intt(addend[i]);
                let p = self.basis.product(x.special.iter().copied(), q);
                let scaled = self.builder.mul_const(limb, p);
                row = self.builder.add(scaled, row);
            }
            dropped.push(row);
            moduli.push(q);
        }
        let dropped = self.residues(&moduli, &dropped)?;
        let mut y = Vec::with_capacity(kept);
        for (i, &row) in rows[..kept].iter().enumerate() {
            let q = self.basis.q()[i];
            let quotient = self.quotient_row(row, &dropped, &moduli, q)?;
            let mut limb = self.builder.ntt(quotient);
            if let Some(addend) = x.add {
                let mut add = addend[i];
                if rescale {
                    let last = self.basis.inverse(last.iter().copied(), q)?;
                    add = self.builder.mul_const(add, last);
                }
                limb = self.builder.add(add, limb);
            }
            y.push(limb);
        }
        Ok(y)
    }

    /// The coefficients of the quotient by P, and of the addend: what digits are taken of.
    ///
    /// # Errors
    /// As a conversion.
    pub(super) fn quotient_coefficients(&mut self, x: &Dividend<'_>) -> Result<Poly, LowerError> {
        self.region("divide");
        let (p, rows) = x.rows.split_at(x.special.len());
        let dropped = self.residues(x.special, p)?;
        let mut y = Vec::with_capacity(rows.len());
        for (i, &row) in rows.iter().enumerate() {
            let mut row = self.quotient_row(row, &dropped, x.special, self.basis.q()[i])?;
            if let Some(addend) = x.add {
                let add = self.builder.intt(addend[i]);
                row = self.builder.add(add, row);
            }
            y.push(row);
        }
        Ok(y)
    }

    /// A row of it modulo q; `dropped` is the dividend modulo the product of `moduli`.
    fn quotient_row(
        &mut self,
        row: Operand,
        dropped: &Residues,
        moduli: &[ModulusId],
        q: ModulusId,
    ) -> Result<Operand, LowerError> {
        let inverse = self.basis.inverse(moduli.iter().copied(), q)?;
        let remainder = self.coefficients_modulo(dropped, q);
        Ok(self.builder.sub_mul_const(row, remainder, inverse))
    }
}
