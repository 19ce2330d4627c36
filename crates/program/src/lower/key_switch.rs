//! Hybrid key switching: from d·s' to (c_0, c_1) with c_0 + c_1·s ≈ d·s', for any number of digits, special primes
//! and level. Han, Ki (2020), §3, with centred conversions throughout.
//!
//! 1. *Digits*: limbs α·j … of d, read as centred integers d_j below the digit's product D_j.
//! 2. *Raise*: each d_j modulo every prime of q_0 … q_ℓ, p_0 …; its own limbs need no conversion.
//! 3. *Inner product* with the key in the evaluation domain: t = Σ_j d_j·key_j, both parts.
//! 4. *Divide* by P, or by P·q_ℓ where a rescale follows: no transform is spent on the rescale.
//!
//! (β + 2)(ℓ + 1 + K) transforms for β digits. The order keeps few limbs alive: the primes that are divided away
//! come first; then each remaining prime is raised, multiplied and divided before the next one.

use std::ops::Range;

use super::residues::Residues;
use super::{LowerError, Lowering, Poly};
use crate::limb::{Domain, InputClass, ModulusId, Operand};

/// The limbs of a switching key as inputs of the program.
#[derive(Debug, Clone)]
pub struct KeyInputs {
    /// \[digit\]\[part\]\[limb\]: part 0 is b_j, part 1 a_j with b_j + a_j·s = e_j + P·g_j·s'; limbs q_0 … then p_0 …
    digits: Vec<[Poly; 2]>,
    /// Ciphertext primes among the limbs.
    q_limbs: usize,
}

/// What is added to a part of the result: a polynomial, under an automorphism if one is given.
#[derive(Debug, Clone, Copy)]
pub struct Addend<'a> {
    /// The polynomial.
    pub poly: &'a [Operand],
    /// The Galois element of the automorphism, applied limb by limb where the sum is formed.
    pub galois: Option<u64>,
}

/// The digits of a polynomial.
pub(super) struct Digits<'a> {
    limbs: &'a [Operand],
    digits: Vec<(Range<usize>, Residues)>,
}

/// Where the raised digits come from.
pub(super) enum Raised<'a> {
    /// Computed here, prime by prime.
    Digits(&'a Digits<'a>),
    /// Computed before for several key switches, \[prime\]\[digit\]; used under an automorphism.
    Shared(&'a [Vec<Operand>], u64),
}

/// A prime of a key: q_i is (i, q_i), p_k is (ℓ + 1 + k, p_k).
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) index: usize,
    pub(super) modulus: ModulusId,
}

impl Lowering {
    /// Declares a switching key as inputs for polynomials of up to `limbs` limbs: `names` are those of b_0, a_0, b_1, …,
    /// two a digit.
    ///
    /// # Errors
    /// More limbs than the chain has, or too few names.
    pub fn key_inputs(&mut self, names: &[String], limbs: usize) -> Result<KeyInputs, LowerError> {
        self.basis.check_limbs(limbs)?;
        let needed = 2 * self.basis.digits(limbs).count();
        if names.len() != needed {
            return Err(LowerError::Key { what: "names", found: names.len(), needed });
        }
        let moduli = [&self.basis.q()[..limbs], self.basis.p()].concat();
        let mut input = |name: &String| self.builder.input(name, InputClass::Key, Domain::Eval, &moduli);
        let digits = names.chunks_exact(2).map(|pair| [input(&pair[0]), input(&pair[1])]).collect();
        Ok(KeyInputs { digits, q_limbs: limbs })
    }

    /// Switches d from the key's s' to s and adds `add` to the parts; divides by q_ℓ too if `rescale`.
    ///
    /// # Errors
    /// No special prime, a key for fewer limbs than d has, or a rescale at level 0.
    pub fn key_switch(
        &mut self,
        d: &[Operand],
        add: [Option<Addend<'_>>; 2],
        key: &KeyInputs,
        rescale: bool,
    ) -> Result<[Poly; 2], LowerError> {
        let digits = self.digits(d)?;
        self.switch(&Raised::Digits(&digits), d.len(), add, key, rescale)
    }

    /// d_0 + d_1·s + d_2·s² as two parts, by the key of s²; divided by q_ℓ too if `rescale`.
    ///
    /// # Errors
    /// As [`Self::key_switch`].
    pub fn relinearise(
        &mut self,
        d: [&[Operand]; 3],
        key: &KeyInputs,
        rescale: bool,
    ) -> Result<[Poly; 2], LowerError> {
        let add = [d[0], d[1]].map(|poly| Some(Addend { poly, galois: None }));
        self.key_switch(d[2], add, key, rescale)
    }

    /// Step 1: INTT of every limb, and what a conversion of each digit needs.
    pub(super) fn digits<'d>(&mut self, d: &'d [Operand]) -> Result<Digits<'d>, LowerError> {
        self.basis.check_limbs(d.len())?;
        self.region("digits");
        let mut digits = Vec::new();
        for range in self.basis.digits(d.len()) {
            let coefficients: Vec<_> = d[range.clone()].iter().map(|&x| self.builder.intt(x)).collect();
            let moduli = self.basis.q()[range.clone()].to_vec();
            digits.push((range, self.residues(&moduli, &coefficients)?));
        }
        Ok(Digits { limbs: d, digits })
    }

    /// Step 2 for one prime: every digit modulo it, in the evaluation domain.
    pub(super) fn raise(&mut self, d: &Digits<'_>, target: Target) -> Poly {
        let own = |range: &Range<usize>| range.contains(&target.index).then(|| d.limbs[target.index]);
        d.digits
            .iter()
            .map(|(range, x)| own(range).unwrap_or_else(|| self.modulo(x, target.modulus)))
            .collect()
    }

    /// The primes of a key switch of `limbs` limbs: q_0 …, then p_0 ….
    pub(super) fn targets(&self, limbs: usize) -> Vec<Target> {
        let moduli = self.basis.q()[..limbs].iter().chain(self.basis.p());
        moduli.enumerate().map(|(index, &modulus)| Target { index, modulus }).collect()
    }

    /// Steps 2 to 4.
    pub(super) fn switch(
        &mut self,
        raised: &Raised<'_>,
        limbs: usize,
        add: [Option<Addend<'_>>; 2],
        key: &KeyInputs,
        rescale: bool,
    ) -> Result<[Poly; 2], LowerError> {
        self.check(limbs, &add, key, rescale)?;
        let kept = limbs - usize::from(rescale);
        let targets = self.targets(limbs);
        let mut dropped = [Vec::new(), Vec::new()];
        let (special, last) = (&targets[limbs..], &targets[kept..limbs]);
        for &target in special.iter().chain(last) {
            let t = self.inner_product(raised, target, limbs, key);
            for part in 0..2 {
                let mut t = t[part];
                if let Some(addend) = add[part].filter(|_| target.index < limbs) {
                    t = self.add_times_p(t, addend, target);
                }
                dropped[part].push(self.builder.intt(t));
            }
        }
        let moduli: Vec<_> = special.iter().chain(last).map(|t| t.modulus).collect();
        let dropped = [self.residues(&moduli, &dropped[0])?, self.residues(&moduli, &dropped[1])?];
        let mut y = [Vec::with_capacity(kept), Vec::with_capacity(kept)];
        for &target in &targets[..kept] {
            let t = self.inner_product(raised, target, limbs, key);
            for part in 0..2 {
                let limb = match add[part] {
                    Some(addend) if rescale => {
                        let t = self.add_times_p(t[part], addend, target);
                        self.divide(t, &dropped[part], target.modulus)?
                    }
                    Some(addend) => {
                        let divided = self.divide(t[part], &dropped[part], target.modulus)?;
                        let addend = self.addend_limb(addend, target.index);
                        self.builder.add(divided, addend)
                    }
                    None => self.divide(t[part], &dropped[part], target.modulus)?,
                };
                y[part].push(limb);
            }
        }
        Ok(y)
    }

    fn check(
        &self,
        limbs: usize,
        add: &[Option<Addend<'_>>; 2],
        key: &KeyInputs,
        rescale: bool,
    ) -> Result<(), LowerError> {
        if self.basis.p().is_empty() {
            return Err(LowerError::NoSpecialPrime);
        }
        if rescale && limbs == 1 {
            return Err(LowerError::LevelExhausted);
        }
        if key.q_limbs < limbs {
            return Err(LowerError::Key { what: "ciphertext limbs", found: key.q_limbs, needed: limbs });
        }
        match add.iter().flatten().find(|addend| addend.poly.len() != limbs) {
            Some(addend) => Err(LowerError::Levels { left: limbs, right: addend.poly.len() }),
            None => Ok(()),
        }
    }

    /// Step 3 for one prime.
    fn inner_product(
        &mut self,
        raised: &Raised<'_>,
        target: Target,
        limbs: usize,
        key: &KeyInputs,
    ) -> [Operand; 2] {
        let name = self.builder.moduli()[target.modulus.index()].name.clone();
        self.region(format_args!("inner product mod {name}"));
        let u = match *raised {
            Raised::Digits(digits) => self.raise(digits, target),
            Raised::Shared(all, galois) => {
                all[target.index].iter().map(|&u| self.builder.automorphism(u, galois)).collect()
            }
        };
        // A key for more limbs than d has holds its special limbs further up, and more digits than are used.
        let limb = if target.index < limbs { target.index } else { target.index - limbs + key.q_limbs };
        [0, 1].map(|part| {
            let k: Vec<_> = key.digits[..u.len()].iter().map(|digit| digit[part][limb]).collect();
            self.builder.dot(&u, &k)
        })
    }

    fn addend_limb(&mut self, addend: Addend<'_>, i: usize) -> Operand {
        addend.galois.map_or(addend.poly[i], |galois| self.builder.automorphism(addend.poly[i], galois))
    }

    /// t + P·x for limb x of the addend, so that x survives the division by P.
    fn add_times_p(&mut self, t: Operand, addend: Addend<'_>, target: Target) -> Operand {
        let x = self.addend_limb(addend, target.index);
        let p = self.basis.product(self.basis.p().iter().copied(), target.modulus);
        let scaled = self.builder.mul_const(x, p);
        self.builder.add(scaled, t)
    }
}
