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

use ringmill_ckks::KlssLayout;

use super::key_inputs::KeyInputs;
use super::key_switch::{Digits, End, Parts, Switching};
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
}

impl KlssInputs {
    /// The primes of T for a polynomial of `limbs` limbs, no more than were declared.
    pub(super) fn t_for(&self, limbs: usize) -> &[ModulusId] {
        &self.t[..self.layout.t_for(limbs).len().min(self.t.len())]
    }
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
        let special = key.special().len();
        let (block, blocks) = (klss.layout.block(), klss.layout.blocks(s.limbs));
        let sums = self.block_sums(s, key, klss, blocks);
        self.region("recover");
        let mut rows = [Vec::new(), Vec::new()];
        for (m, sums) in sums.iter().enumerate() {
            let (first, end) = (m * block, (special + s.limbs).min((m + 1) * block));
            for part in 0..2 {
                let x = self.residues(klss.t_for(s.limbs), &sums[part])?;
                for at in first..end {
                    let modulus = self.block_prime(key, at);
                    let row = self.coefficients_modulo(&x, modulus);
                    rows[part].push(row);
                }
            }
        }
        self.region("divide");
        let [b, a] = rows;
        Ok([self.divide_coefficients(s, key, 0, &b)?, self.divide_coefficients(s, key, 1, &a)?])
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

    /// Step 5 for one part; `rows` are its coefficients modulo the special primes and q_0 ….
    fn divide_coefficients(
        &mut self,
        s: &Switching<'_>,
        key: &KeyInputs,
        part: usize,
        rows: &[Operand],
    ) -> Result<Poly, LowerError> {
        let special = key.special().len();
        let rescale = s.end == End::Rescale;
        let kept = s.limbs - usize::from(rescale);
        let mut dropped = rows[..special].to_vec();
        let mut moduli = key.special().to_vec();
        if rescale {
            // q_ℓ too is divided away, and the addend with it.
            let mut row = rows[special + kept];
            if let Some(addend) = s.add[part] {
                let x = self.builder.intt(addend[kept]);
                let p = self.basis.product(key.special().iter().copied(), self.basis.q()[kept]);
                let scaled = self.builder.mul_const(x, p);
                row = self.builder.add(scaled, row);
            }
            dropped.push(row);
            moduli.push(self.basis.q()[kept]);
        }
        let x = self.residues(&moduli, &dropped)?;
        let mut y = Vec::with_capacity(kept);
        for i in 0..kept {
            let q = self.basis.q()[i];
            let inverse = self.basis.inverse(moduli.iter().copied(), q)?;
            let remainder = self.coefficients_modulo(&x, q);
            let quotient = self.builder.sub_mul_const(rows[special + i], remainder, inverse);
            let mut limb = self.builder.ntt(quotient);
            if let Some(addend) = s.add[part] {
                let mut x = addend[i];
                if rescale {
                    let last = self.basis.inverse([self.basis.q()[kept]], q)?;
                    x = self.builder.mul_const(x, last);
                }
                limb = self.builder.add(x, limb);
            }
            y.push(self.turned(limb, s.galois));
        }
        Ok(y)
    }
}
