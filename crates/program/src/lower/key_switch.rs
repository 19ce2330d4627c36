//! Hybrid key switching: from d·s' to (c_0, c_1) with c_0 + c_1·s ≈ d·s', for any number of digits, special primes
//! and level. Han, Ki (2020), §3, with centred conversions throughout.
//!
//! 1. *Digits*: limbs α·j … of d, read as centred integers d_j below the digit's product D_j.
//! 2. *Raise*: each d_j modulo every prime of q_0 … q_ℓ, p_0 …; its own limbs need no conversion.
//! 3. *Inner product* with the key in the evaluation domain: t = Σ_j d_j·key_j, both parts.
//! 4. *Divide* by P, or by P and the primes of the level where a rescale follows: no transform is spent on the rescale.
//!
//! (β + 2)(ℓ + 1 + K) transforms for β digits. The order keeps few limbs alive: the primes that are divided away
//! come first; then each remaining prime is raised, multiplied and divided before the next one.

use std::ops::Range;

use super::key_inputs::KeyInputs;
use super::library::inverse_galois;
use super::residues::Residues;
use super::{LowerError, Lowering, Poly};
use crate::limb::{ModulusId, Operand, SectionKind};

/// A thing for each part.
pub(super) type Parts<T> = [T; 2];

/// The digits of a polynomial.
pub(super) struct Digits<'a> {
    limbs: &'a [Operand],
    /// The automorphism that raised digits go through.
    back: Option<u64>,
    digits: Vec<(Range<usize>, Residues)>,
}

impl Digits<'_> {
    /// What their conversions need.
    pub(super) fn residues(&self) -> impl Iterator<Item = &Residues> {
        self.digits.iter().map(|(_, x)| x)
    }
}

/// Where the raised digits come from.
#[derive(Clone, Copy)]
pub(super) enum Raised<'a> {
    /// Computed here, prime by prime.
    Digits(&'a Digits<'a>),
    /// Computed before for several key switches, \[prime\]\[digit\].
    Shared(&'a [Poly]),
}

/// What is switched and what is done with it on the way.
pub(super) struct Switching<'a> {
    pub(super) raised: Raised<'a>,
    pub(super) limbs: usize,
    /// What is added to each part: limbs of q_0 … q_ℓ, or of the special primes too where it is P times what it stands for.
    pub(super) add: Parts<Option<&'a [Operand]>>,
    pub(super) end: End,
    /// The automorphism that the result goes through, limb by limb as it is computed.
    pub(super) galois: Option<u64>,
}

/// What a key switch ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// A division by P.
    Divide,
    /// One by P and the primes of the level.
    Rescale,
    /// None: the result is P times what it stands for.
    Extended,
}

impl End {
    pub(super) fn of(rescale: bool) -> Self {
        if rescale { Self::Rescale } else { Self::Divide }
    }
}

/// A prime of a key: q_i is (i, q_i), p_k is (ℓ + 1 + k, p_k).
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) index: usize,
    pub(super) modulus: ModulusId,
}

impl Lowering {
    /// Switches d from the key's s' to s and adds `add` to the parts; divides by the primes of the level too if `rescale`.
    ///
    /// # Errors
    /// No special prime, a key for fewer limbs than d has, or a rescale at level 0.
    pub fn key_switch(
        &mut self,
        d: &[Operand],
        add: [Option<&[Operand]>; 2],
        key: &KeyInputs,
        rescale: bool,
    ) -> Result<[Poly; 2], LowerError> {
        self.switch_turned(d, add, key, End::of(rescale), None)
    }

    /// As [`Self::key_switch`], and the result under an automorphism.
    pub(super) fn switch_turned(
        &mut self,
        d: &[Operand],
        add: Parts<Option<&[Operand]>>,
        key: &KeyInputs,
        end: End,
        galois: Option<u64>,
    ) -> Result<[Poly; 2], LowerError> {
        let (shape, own) = (key.shape(d.len()), key.end(end));
        let section_end = self.section_end(own, d.len())?;
        let kind = SectionKind::KeySwitch { shape, end: section_end, hoisted: false, galois };
        let parts = self.section(kind, |low| {
            let addends = low.turned_addends(add, key, galois);
            let digits = low.digits_turned(d, key, galois)?;
            let (raised, add) = (Raised::Digits(&digits), addends.each_ref().map(Option::as_deref));
            low.switch(&Switching { raised, limbs: d.len(), add, end: own, galois }, key)
        })?;
        self.rescaled_behind(parts, key, end)
    }

    /// d_0 + d_1·s + d_2·s² as two parts, by the key of s²; divided by the primes of the level too if `rescale`.
    ///
    /// # Errors
    /// As [`Self::key_switch`].
    pub fn relinearise(
        &mut self,
        d: [&[Operand]; 3],
        key: &KeyInputs,
        rescale: bool,
    ) -> Result<[Poly; 2], LowerError> {
        self.key_switch(d[2], [Some(d[0]), Some(d[1])], key, rescale)
    }

    /// Step 1: INTT of every limb, and what a conversion of each digit needs.
    pub(super) fn digits<'d>(&mut self, d: &'d [Operand], key: &KeyInputs) -> Result<Digits<'d>, LowerError> {
        self.digits_turned(d, key, None)
    }

    /// The same of a switch with an automorphism, which is that of the digits where the key's library has it so.
    fn digits_turned<'d>(
        &mut self,
        d: &'d [Operand],
        key: &KeyInputs,
        galois: Option<u64>,
    ) -> Result<Digits<'d>, LowerError> {
        self.basis.check_limbs(d.len())?;
        self.region("digits");
        let centring = key.centring(self.centring());
        let turn = key.turn_of_digits(galois);
        let back = turn.map(|galois| inverse_galois(galois, self.builder.log_n()));
        let mut digits = Vec::new();
        for first in (0..d.len()).step_by(key.alpha) {
            let range = first..d.len().min(first + key.alpha);
            let mut coefficients = Vec::with_capacity(range.len());
            for &x in &d[range.clone()] {
                let x = self.turned(x, turn);
                coefficients.push(self.builder.intt(x));
            }
            let moduli = self.basis.q()[range.clone()].to_vec();
            digits.push((range, self.residues_by(&moduli, &coefficients, centring)?));
        }
        Ok(Digits { limbs: d, back, digits })
    }

    /// The digits of a polynomial whose coefficients are there, for a key that needs no limbs of their own: one of KLSS.
    pub(super) fn digits_of_coefficients<'d>(
        &mut self,
        coefficients: &'d [Operand],
        key: &KeyInputs,
    ) -> Result<Digits<'d>, LowerError> {
        self.region("digits");
        let mut digits = Vec::new();
        for first in (0..coefficients.len()).step_by(key.alpha) {
            let range = first..coefficients.len().min(first + key.alpha);
            let moduli = self.basis.q()[range.clone()].to_vec();
            digits.push((range.clone(), self.residues(&moduli, &coefficients[range])?));
        }
        Ok(Digits { limbs: coefficients, back: None, digits })
    }

    /// Step 2 for one prime: every digit modulo it, in the evaluation domain.
    fn raise(&mut self, d: &Digits<'_>, target: Target) -> Poly {
        let own = |range: &Range<usize>| range.contains(&target.index).then(|| d.limbs[target.index]);
        d.digits
            .iter()
            .map(|(range, x)| {
                own(range).unwrap_or_else(|| {
                    let raised = self.modulo(x, target.modulus);
                    self.turned(raised, d.back)
                })
            })
            .collect()
    }

    /// The primes of a key switch of `limbs` limbs: q_0 …, then the special ones.
    pub(super) fn targets(&self, limbs: usize, key: &KeyInputs) -> Vec<Target> {
        let moduli = self.basis.q()[..limbs].iter().chain(&key.special);
        moduli.enumerate().map(|(index, &modulus)| Target { index, modulus }).collect()
    }

    /// Every prime to which a key switch with `key` raises digits, and the digits there: \[prime\]\[digit\].
    pub(super) fn raise_all(&mut self, d: &Digits<'_>, key: &KeyInputs) -> Vec<Poly> {
        match &key.klss {
            Some(klss) => klss.t_raised(d.limbs.len()).iter().map(|&t| self.raise_to_t(d, t)).collect(),
            None => {
                let targets = self.targets(d.limbs.len(), key);
                targets.into_iter().map(|target| self.raise(d, target)).collect()
            }
        }
    }

    /// The digits modulo prime number `k` of those that [`Self::raise_all`] goes through.
    pub(super) fn raised(
        &mut self,
        raised: Raised<'_>,
        k: usize,
        raise: impl FnOnce(&mut Self, &Digits<'_>) -> Poly,
    ) -> Poly {
        match raised {
            Raised::Digits(digits) => raise(self, digits),
            Raised::Shared(all) => all[k].clone(),
        }
    }

    /// Steps 2 to 4.
    pub(super) fn switch(&mut self, s: &Switching<'_>, key: &KeyInputs) -> Result<[Poly; 2], LowerError> {
        self.check(s, key)?;
        match &key.klss {
            Some(klss) => self.switch_klss(s, key, klss),
            None if s.end == End::Extended => Ok(self.switch_extended(s, key)),
            None => self.switch_hybrid(s, key),
        }
    }

    /// Step 3 alone.
    fn switch_extended(&mut self, s: &Switching<'_>, key: &KeyInputs) -> [Poly; 2] {
        let mut y = [Vec::new(), Vec::new()];
        for target in self.targets(s.limbs, key) {
            let limbs = self.switch_extended_limb(s, target, key);
            y.iter_mut().zip(limbs).for_each(|(y, limb)| y.push(limb));
        }
        y
    }

    /// Step 3 for one prime, with the addend and under the automorphism.
    pub(super) fn switch_extended_limb(
        &mut self,
        s: &Switching<'_>,
        target: Target,
        key: &KeyInputs,
    ) -> [Operand; 2] {
        let t = self.inner_product(s, target, key);
        [0, 1].map(|part| {
            let limb = self.with_addend(t[part], s, part, target, key);
            self.turned(limb, s.galois)
        })
    }

    /// A limb of an inner product and P times the addend.
    fn with_addend(
        &mut self,
        t: Operand,
        s: &Switching<'_>,
        part: usize,
        target: Target,
        key: &KeyInputs,
    ) -> Operand {
        match s.add[part] {
            Some(addend) if addend.len() > s.limbs => self.builder.add(t, addend[target.index]),
            Some(addend) if target.index < s.limbs => self.add_times_p(t, addend, target, key),
            _ => t,
        }
    }

    fn switch_hybrid(&mut self, s: &Switching<'_>, key: &KeyInputs) -> Result<[Poly; 2], LowerError> {
        let &Switching { limbs, add, .. } = s;
        // A library's automorphism is that of the inner products; their addends have been through it.
        let (early, galois) = if key.library.is_some() { (s.galois, None) } else { (None, s.galois) };
        let rescale = s.end == End::Rescale;
        let kept = self.basis.kept(limbs, rescale)?;
        let targets = self.targets(limbs, key);
        let mut dropped = [Vec::new(), Vec::new()];
        let (special, last) = (&targets[limbs..], &targets[kept..limbs]);
        for &target in special.iter().chain(last) {
            let t = self.inner_product(s, target, key).map(|t| self.turned(t, early));
            for part in 0..2 {
                let t = self.with_addend(t[part], s, part, target, key);
                dropped[part].push(self.builder.intt(t));
            }
        }
        let moduli: Vec<_> = special.iter().chain(last).map(|t| t.modulus).collect();
        let centring = key.centring_of_remainder(self.centring());
        let [b, a] = dropped.map(|limbs| self.residues_by(&moduli, &limbs, centring));
        let dropped = [b?, a?];
        let mut y = [Vec::with_capacity(kept), Vec::with_capacity(kept)];
        for &target in &targets[..kept] {
            let t = self.inner_product(s, target, key).map(|t| self.turned(t, early));
            for part in 0..2 {
                let limb = match add[part] {
                    Some(addend) if rescale || addend.len() > limbs => {
                        let t = self.with_addend(t[part], s, part, target, key);
                        self.divide(t, &dropped[part], target.modulus)?
                    }
                    Some(addend) => {
                        let divided = self.divide(t[part], &dropped[part], target.modulus)?;
                        self.builder.add(divided, addend[target.index])
                    }
                    None => self.divide(t[part], &dropped[part], target.modulus)?,
                };
                y[part].push(self.turned(limb, galois));
            }
        }
        Ok(y)
    }

    pub(super) fn check(&self, s: &Switching<'_>, key: &KeyInputs) -> Result<(), LowerError> {
        let limbs = s.limbs;
        self.basis.kept(limbs, s.end == End::Rescale)?;
        if key.q_limbs < limbs {
            return Err(LowerError::Key { what: "ciphertext limbs", found: key.q_limbs, needed: limbs });
        }
        if let Raised::Shared(all) = s.raised {
            let (method, primes) = match &key.klss {
                Some(klss) => ("KLSS", klss.t_raised(limbs).len()),
                None => ("hybrid key switching", limbs + key.special.len()),
            };
            if all.len() != primes || all.iter().any(|digits| digits.len() != limbs.div_ceil(key.alpha)) {
                return Err(LowerError::Hoisted { method });
            }
        }
        let extended = limbs + key.special.len();
        let fits =
            |addend: &[Operand]| addend.len() == limbs || key.klss.is_none() && addend.len() == extended;
        match s.add.iter().flatten().find(|addend| !fits(addend)) {
            Some(addend) => Err(LowerError::Levels { left: limbs, right: addend.len() }),
            None => Ok(()),
        }
    }

    /// Step 3 for one prime.
    fn inner_product(&mut self, s: &Switching<'_>, target: Target, key: &KeyInputs) -> [Operand; 2] {
        let name = self.builder.moduli()[target.modulus.index()].name.clone();
        self.region(format_args!("inner product mod {name}"));
        let u = self.raised(s.raised, target.index, |low, digits| low.raise(digits, target));
        // A key for more limbs than d has holds its special limbs further up, and more digits than are used.
        let limbs = s.limbs;
        let limb = if target.index < limbs { target.index } else { target.index - limbs + key.q_limbs };
        [0, 1].map(|part| self.inner_product_with(&u, key, part, limb))
    }

    /// Σ_j u_j·key_j for one limb of the key.
    pub(super) fn inner_product_with(
        &mut self,
        u: &[Operand],
        key: &KeyInputs,
        part: usize,
        limb: usize,
    ) -> Operand {
        let k: Vec<_> = key.digits[..u.len()].iter().map(|digit| digit[part][limb]).collect();
        self.builder.dot(u, &k)
    }

    /// A limb of the result.
    pub(super) fn turned(&mut self, limb: Operand, galois: Option<u64>) -> Operand {
        galois.map_or(limb, |galois| self.builder.automorphism(limb, galois))
    }

    /// t + P·x for limb x of the addend, so that x survives the division by P.
    fn add_times_p(&mut self, t: Operand, addend: &[Operand], target: Target, key: &KeyInputs) -> Operand {
        let p = self.basis.product(key.special.iter().copied(), target.modulus);
        let scaled = self.builder.mul_const(addend[target.index], p);
        self.builder.add(scaled, t)
    }
}
