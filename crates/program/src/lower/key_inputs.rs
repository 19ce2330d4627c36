//! Key-switching keys as inputs of a program.

use std::collections::BTreeMap;

use ringmill_ckks::Library;

use super::klss::KlssInputs;
use super::{LowerError, Lowering, Method, Poly};
use crate::limb::{Domain, InputClass, ModulusId};

/// The limbs of a key-switching key as inputs of the program.
#[derive(Debug, Clone)]
pub struct KeyInputs {
    /// \[digit\]\[part\]\[limb\]: part 0 is b_j, part 1 a_j with b_j + a_j·s = e_j + P·g_j·s'; limbs q_0 … and then the
    /// special primes, or those of [`KlssInputs`].
    pub(super) digits: Vec<[Poly; 2]>,
    /// Ciphertext primes among the limbs.
    pub(super) q_limbs: usize,
    pub(super) alpha: usize,
    pub(super) special: Vec<ModulusId>,
    pub(super) klss: Option<KlssInputs>,
    /// Whose residues key switches with it give, if not the engine's.
    pub(super) library: Option<Library>,
}

impl KeyInputs {
    /// The primes that the inner product is divided by.
    pub(super) fn special(&self) -> &[ModulusId] {
        &self.special
    }
}

impl Lowering {
    /// Declares a key-switching key of the base layout as inputs for polynomials of up to `limbs` limbs:
    /// `names` are those of b_0, a_0, b_1, …, two a digit.
    ///
    /// # Errors
    /// More limbs than the chain has, or too few names.
    pub fn key_inputs(&mut self, names: &[String], limbs: usize) -> Result<KeyInputs, LowerError> {
        if self.basis.p().is_empty() {
            return Err(LowerError::NoSpecialPrime);
        }
        let base = self.basis.base_layout();
        self.declare_key(names, limbs, base.alpha, self.basis.p().to_vec(), None)
    }

    /// As [`Self::key_inputs`], with a key as `method` reads it.
    ///
    /// # Errors
    /// More limbs than the chain or the layout has, too few names, a layout that the chain does not allow.
    pub fn key_inputs_for(
        &mut self,
        method: &Method,
        names: &[String],
        limbs: usize,
    ) -> Result<KeyInputs, LowerError> {
        self.key_inputs_for_sums(method, names, limbs, &BTreeMap::new())
    }

    /// The same for sums of key switches too: `sums` says how many primes of T they take, by limbs.
    pub(super) fn key_inputs_for_sums(
        &mut self,
        method: &Method,
        names: &[String],
        limbs: usize,
        sums: &BTreeMap<usize, usize>,
    ) -> Result<KeyInputs, LowerError> {
        let layout = method.layout();
        if limbs > layout.limbs {
            return Err(LowerError::Limbs { found: limbs, max: layout.limbs });
        }
        method.library().map_or(Ok(()), |library| library.check(layout))?;
        let special = self.basis.special(&mut self.builder, layout)?;
        let klss = match method {
            Method::Hybrid(_) | Method::Of(..) => None,
            Method::Klss(klss) => {
                let (q, p) = self.basis.chain();
                // The bound on T, however the layout was made.
                klss.check(self.builder.log_n(), (&q, &p))?;
                let sums: BTreeMap<_, _> = sums.range(..=limbs).map(|(&at, &primes)| (at, primes)).collect();
                let primes = sums.values().copied().fold(klss.t_for(limbs).len(), usize::max);
                let t = klss.t()[..primes].iter().map(|&t| self.basis.t(&mut self.builder, t)).collect();
                Some(KlssInputs { layout: klss.clone(), t, blocks: klss.blocks(limbs), sums })
            }
        };
        let key = self.declare_key(names, limbs, layout.alpha, special, klss)?;
        Ok(KeyInputs { library: method.library(), ..key })
    }

    fn declare_key(
        &mut self,
        names: &[String],
        limbs: usize,
        alpha: usize,
        special: Vec<ModulusId>,
        klss: Option<KlssInputs>,
    ) -> Result<KeyInputs, LowerError> {
        self.basis.check_limbs(limbs)?;
        let needed = 2 * limbs.div_ceil(alpha);
        if names.len() != needed {
            return Err(LowerError::Key { what: "names", found: names.len(), needed });
        }
        let moduli: Vec<ModulusId> = match &klss {
            None => [&self.basis.q()[..limbs], &special].concat(),
            Some(klss) => klss.t.iter().flat_map(|&t| std::iter::repeat_n(t, klss.blocks)).collect(),
        };
        let mut input = |name: &String| self.builder.input(name, InputClass::Key, Domain::Eval, &moduli);
        let digits = names.chunks_exact(2).map(|pair| [input(&pair[0]), input(&pair[1])]).collect();
        Ok(KeyInputs { digits, q_limbs: limbs, alpha, special, klss, library: None })
    }
}
