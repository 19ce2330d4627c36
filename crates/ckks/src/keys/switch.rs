//! Switching keys, in one form or several.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use ringmill_ring::packed::{pack, packed_len};
use ringmill_ring::sample::{SecretRng, Seed, Uniform, uniform};
use ringmill_ring::{Interleaved, LimbSource, Modulus, Poly};
use zeroize::Zeroizing;

use super::KeyIdentity;
use super::klss::{Derived, KlssKey, KlssLayout};
use super::layout::KeyLayout;
use super::memory::{Bytes, Halves, Label};
use super::public::masked_error;
use crate::check;
use crate::error::CkksError;
use crate::keys::secret::SecretKey;
use crate::limbs;
use crate::params::Params;

/// What a key-switching key leads from.
pub(crate) enum Origin<'a> {
    /// s², s the secret that it leads to.
    Square,
    /// Another secret.
    Secret(&'a SecretKey),
}

impl Origin<'_> {
    /// s′ modulo prime `i` of the key basis, from s modulo that prime.
    fn limb(&self, params: &Params, i: usize, s: &[u64]) -> Result<Zeroizing<Vec<u64>>, CkksError> {
        match self {
            Self::Square => {
                let mut square = Zeroizing::new(vec![0; s.len()]);
                params.ring(i)?.mul(&mut square, s, s)?;
                Ok(square)
            }
            Self::Secret(from) => from.limb(i),
        }
    }
}

/// One form of a key-switching key from some s′ to the secret s: for each digit j of its layout (b_j, a_j) over q_0,
/// q_1, … and the special primes with product P, in the evaluation domain, with b_j = e_j + P·g_j·s′ − a_j·s and a_j uniform,
/// the expansion of a seed.
///
/// Serves every level up to the layout's: at a lower one, the limbs of missing primes are not read and the last digit
/// is cut short. In memory it is [expanded or half](super::KeyMemory).
pub struct KeyForm {
    params: Params,
    layout: KeyLayout,
    residues: Residues,
    /// What every a expands from, or a name for residues that none expand from.
    seed: Seed,
    seeded: bool,
    identity: Option<KeyIdentity>,
}

enum Residues {
    /// All limbs, a group for each prime: by digit, b before a.
    Expanded(Interleaved),
    /// Every b, packed.
    Halves(Halves),
}

impl PartialEq for KeyForm {
    /// Of the same residues, wherever they are.
    fn eq(&self, other: &Self) -> bool {
        let (n, layout) = (self.params.n(), self.layout);
        let same = |digit, row| self.limb(digit, 0, row).to_words(n) == other.limb(digit, 0, row).to_words(n);
        self.params == other.params
            && layout == other.layout
            && self.seed == other.seed
            && self.identity == other.identity
            && (0..layout.dnum()).all(|digit| (0..layout.rows()).all(|row| same(digit, row)))
    }
}

impl KeyForm {
    /// A form from `origin` to `secret`.
    pub(crate) fn draw(
        secret: &SecretKey,
        origin: &Origin<'_>,
        layout: KeyLayout,
        rng: &mut SecretRng,
        seed: Seed,
    ) -> Result<Self, CkksError> {
        let params = secret.params();
        layout.check(params.q_moduli(), params.p_moduli())?;
        let (n, dnum) = (params.n(), layout.dnum());
        let mut errors = Zeroizing::new(vec![0i8; n * dnum]);
        errors.chunks_exact_mut(n).for_each(|error| rng.gaussian(error));
        let digits: Vec<_> = layout.digits(layout.limbs).collect();
        let primes = primes(params, layout);
        let moduli = layout.moduli(params.q_moduli(), params.p_moduli());
        let special = &moduli[layout.limbs..];
        let mut expanded = Interleaved::zeros(params.log_n(), moduli.iter().copied(), 2 * dnum)?;
        limbs::for_each_of(expanded.groups_mut().collect(), |row, limbs| {
            let i = primes[row];
            let s = secret.limb(i)?;
            let from = origin.limb(params, i, &s)?;
            let (mut a, mut b) = (vec![0; n], vec![0; n]);
            for (j, error) in errors.chunks_exact(n).enumerate() {
                uniform(&seed, &label(j), i as u32, moduli[row], &mut a);
                masked_error(params, i, error, &a, &s, &mut b)?;
                // P·g_j is P modulo the digit's own primes, 0 modulo the other q and modulo every special prime.
                if row < layout.limbs && digits[j].contains(&i) {
                    add_product(params, i, special, &from, &mut b)?;
                }
                limbs.copy(2 * j, &b);
                limbs.copy(2 * j + 1, &a);
            }
            Ok(())
        })?;
        let (params, residues) = (params.clone(), Residues::Expanded(expanded));
        Ok(Self { params, layout, residues, seed, seeded: true, identity: secret.identity() })
    }

    /// From stored parts; every a is expanded again.
    ///
    /// # Errors
    /// [`CkksError::Shape`], also for a wrong number of digits; [`CkksError::Layout`].
    pub fn from_parts(
        params: &Params,
        layout: KeyLayout,
        b: &[Poly],
        seed: Seed,
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
        layout.check(params.q_moduli(), params.p_moduli())?;
        let dnum = layout.dnum();
        check_digits(params, layout, b)?;
        let primes = primes(params, layout);
        let moduli = layout.moduli(params.q_moduli(), params.p_moduli());
        let mut expanded = Interleaved::zeros(params.log_n(), moduli.iter().copied(), 2 * dnum)?;
        limbs::for_each_of(expanded.groups_mut().collect(), |row, limbs| {
            let i = primes[row];
            for (j, poly) in b.iter().enumerate() {
                let label = label(j);
                let mut a = Uniform::new(&seed, &label, i as u32, moduli[row]);
                limbs.copy(2 * j, poly.limb(row));
                limbs.set(2 * j + 1, |block| a.fill(block));
            }
            Ok(())
        })?;
        let (params, residues) = (params.clone(), Residues::Expanded(expanded));
        Ok(Self { params, layout, residues, seed, seeded: true, identity })
    }

    /// From both parts of every digit, as keys of another library have them, whose a expand from no seed of ours. Such a form is
    /// computed with like any other; it stays expanded, and its files hold both halves.
    ///
    /// Residues are taken as canonical.
    ///
    /// # Errors
    /// As [`from_parts`](Self::from_parts).
    pub fn from_residues(
        params: &Params,
        layout: KeyLayout,
        (b, a): (&[Poly], &[Poly]),
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
        layout.check(params.q_moduli(), params.p_moduli())?;
        [b, a].into_iter().try_for_each(|part| check_digits(params, layout, part))?;
        let moduli = layout.moduli(params.q_moduli(), params.p_moduli());
        let mut expanded = Interleaved::zeros(params.log_n(), moduli.iter().copied(), 2 * layout.dnum())?;
        limbs::for_each_of(expanded.groups_mut().collect(), |row, limbs| {
            for (j, (b, a)) in b.iter().zip(a).enumerate() {
                limbs.copy(2 * j, b.limb(row));
                limbs.copy(2 * j + 1, a.limb(row));
            }
            Ok::<(), CkksError>(())
        })?;
        let (params, residues) = (params.clone(), Residues::Expanded(expanded));
        Ok(Self { params, layout, residues, seed: named_by(a), seeded: false, identity })
    }

    /// From every b, packed in the order of a file from byte `first` on; residues are known to be canonical.
    pub(crate) fn from_halves(
        params: &Params,
        layout: KeyLayout,
        (bytes, first): (Arc<Bytes>, usize),
        seed: Seed,
        identity: Option<KeyIdentity>,
    ) -> Self {
        let rows: Vec<(u32, Modulus)> = primes(params, layout)
            .into_iter()
            .zip(layout.moduli(params.q_moduli(), params.p_moduli()))
            .map(|(i, q)| (i as u32, q))
            .collect();
        let halves = Halves::new(params.n(), (bytes, first), rows, (0..layout.dnum()).map(label).collect());
        let (params, residues) = (params.clone(), Residues::Halves(halves));
        Self { params, layout, residues, seed, seeded: true, identity }
    }

    /// Whether every a expands from a seed: not in keys of another library.
    pub fn has_seed(&self) -> bool {
        self.seeded
    }

    /// The same form with the b alone in memory, packed; one without a seed as it is.
    fn half(self: &Arc<Self>) -> Arc<Self> {
        match self.residues {
            Residues::Expanded(_) if self.seeded => Arc::new(self.seeded()),
            _ => self.clone(),
        }
    }

    /// The same form with the b alone in memory, packed. It has a seed.
    fn seeded(&self) -> Self {
        let (params, layout) = (&self.params, self.layout);
        let moduli = layout.moduli(params.q_moduli(), params.p_moduli());
        let mut bytes = Vec::new();
        for digit in 0..layout.dnum() {
            for (row, q) in moduli.iter().enumerate() {
                let (first, words) = (bytes.len(), self.limb(digit, 0, row).to_words(params.n()));
                bytes.resize(first + packed_len(params.n(), q.bits()), 0);
                pack(&words, q.bits(), &mut bytes[first..]);
            }
        }
        Self::from_halves(params, layout, (Arc::new(Bytes::from(bytes)), 0), self.seed, self.identity)
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Its limbs, digits and special primes.
    pub fn layout(&self) -> KeyLayout {
        self.layout
    }

    /// The limb of a digit, part 0 being b and part 1 a, modulo prime `row` of q_0, q_1, … and the special primes.
    ///
    /// # Panics
    /// If there is no such digit, prime or part, like every index.
    pub fn limb(&self, digit: usize, part: usize, row: usize) -> LimbSource<'_> {
        let digits = self.layout.dnum();
        assert!(digit < digits && part < 2, "digit {digit} of {digits}, part {part} of 2");
        match &self.residues {
            Residues::Expanded(limbs) => limbs.limb(row, 2 * digit + part),
            Residues::Halves(halves) if part == 0 => halves.b(digit, row),
            Residues::Halves(halves) => halves.a(&self.seed, digit, row),
        }
    }

    /// The seed that every a expands from; of a form that [has none](Self::has_seed), a name for its residues.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The secret key that it belongs to, if that is known.
    pub fn identity(&self) -> Option<KeyIdentity> {
        self.identity
    }

    /// Bytes of the residues of an expanded form in memory, on this machine: [dense](ringmill_ring::dense) limbs take less.
    ///
    /// # Errors
    /// [`CkksError::Layout`]; those of [`Isa::detect`](ringmill_ring::Isa::detect).
    pub fn expanded_bytes(params: &Params, layout: KeyLayout) -> Result<usize, CkksError> {
        let chain = (params.q_moduli(), params.p_moduli());
        layout.check(chain.0, chain.1)?;
        Ok(Interleaved::bytes_of(params.log_n(), layout.moduli(chain.0, chain.1), 2 * layout.dnum())?)
    }

    /// Bytes of the residues in memory; none for those of a mapped file.
    pub fn bytes(&self) -> usize {
        match &self.residues {
            Residues::Expanded(limbs) => limbs.bytes(),
            Residues::Halves(halves) => halves.bytes(),
        }
    }
}

impl fmt::Debug for KeyForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KeyLayout { limbs, special, alpha } = self.layout;
        write!(f, "KeyForm({limbs} + {special} limbs, digits of {alpha})")
    }
}

/// A key-switching key from some s′ to the secret s: the form that serves every level, and perhaps forms for fewer limbs.
///
/// Clones share the residues.
#[derive(Clone, PartialEq)]
pub struct SwitchKey {
    /// The first one has the base layout.
    forms: Vec<Arc<KeyForm>>,
    derived: Derived,
}

impl SwitchKey {
    /// A key from `origin` to `secret` in its base form.
    pub(crate) fn draw(
        secret: &SecretKey,
        origin: &Origin<'_>,
        rng: &mut SecretRng,
        seed: Seed,
    ) -> Result<Self, CkksError> {
        Ok(Self::of_base(KeyForm::draw(secret, origin, KeyLayout::base(secret.params()), rng, seed)?))
    }

    /// From the stored parts of its base form; every a is expanded again.
    ///
    /// # Errors
    /// [`CkksError::Shape`], also for a wrong number of digits.
    pub fn from_parts(
        params: &Params,
        b: &[Poly],
        seed: Seed,
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
        Ok(Self::of_base(KeyForm::from_parts(params, KeyLayout::base(params), b, seed, identity)?))
    }

    /// From both parts of every digit of the base form: [`KeyForm::from_residues`].
    ///
    /// # Errors
    /// As there.
    pub fn from_residues(
        params: &Params,
        parts: (&[Poly], &[Poly]),
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
        Ok(Self::of_base(KeyForm::from_residues(params, KeyLayout::base(params), parts, identity)?))
    }

    /// From the base form; what else it has is put in.
    pub(crate) fn of_base(base: KeyForm) -> Self {
        Self { forms: vec![Arc::new(base)], derived: Derived::default() }
    }

    /// The same key with half of each form in memory; forms that are half already are shared.
    #[must_use]
    pub fn seeded(&self) -> Self {
        Self { forms: self.forms.iter().map(KeyForm::half).collect(), derived: Derived::default() }
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.base().params
    }

    /// The form that serves every level.
    pub fn base(&self) -> &KeyForm {
        &self.forms[0]
    }

    /// The secret key that it belongs to, if that is known.
    pub fn identity(&self) -> Option<KeyIdentity> {
        self.forms().find_map(KeyForm::identity)
    }

    /// Every form, that of the base layout first.
    pub fn forms(&self) -> impl ExactSizeIterator<Item = &KeyForm> {
        self.forms.iter().map(|form| &**form)
    }

    /// The form of a layout.
    ///
    /// # Errors
    /// [`CkksError::MissingForm`].
    pub fn form(&self, layout: KeyLayout) -> Result<&KeyForm, CkksError> {
        self.forms().find(|form| form.layout == layout).ok_or_else(|| self.missing(layout))
    }

    fn missing(&self, layout: KeyLayout) -> CkksError {
        CkksError::MissingForm { layout, present: self.forms().map(KeyForm::layout).collect() }
    }

    /// Adds a form, or replaces that of the same layout.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::KeysMismatch`].
    pub fn insert(&mut self, form: KeyForm) -> Result<(), CkksError> {
        check::same_params(("switching key", self.params()), ("form", form.params()))?;
        KeyIdentity::common([("switching key", self.identity()), ("form", form.identity())])?;
        self.derived = Derived::default();
        match self.forms.iter_mut().find(|f| f.layout == form.layout) {
            Some(place) => *place = Arc::new(form),
            None => self.forms.push(Arc::new(form)),
        }
        Ok(())
    }

    /// The key as KLSS key switching reads it, computed when first asked for, from a form with its digits and special primes
    /// and at least its limbs.
    ///
    /// # Errors
    /// [`CkksError::MissingForm`]; those of the ring.
    pub fn klss(&self, layout: &KlssLayout) -> Result<Arc<KlssKey>, CkksError> {
        let digits = layout.digits();
        let serves = |form: &&KeyForm| {
            form.layout.limbs >= digits.limbs && KeyLayout { limbs: digits.limbs, ..form.layout } == digits
        };
        let form = || self.forms().find(serves).ok_or_else(|| self.missing(digits));
        self.derived.get(layout, || KlssKey::derive(form()?, layout))
    }

    /// b of a digit modulo prime `i` of the key basis, in the base form.
    ///
    /// # Panics
    /// If there is no such digit or prime, like every index.
    pub fn b(&self, digit: usize, i: usize) -> Cow<'_, [u64]> {
        self.base().limb(digit, 0, i).to_words(self.params().n())
    }

    /// a of a digit modulo prime `i` of the key basis, in the base form.
    ///
    /// # Panics
    /// As [`Self::b`].
    pub fn a(&self, digit: usize, i: usize) -> Cow<'_, [u64]> {
        self.base().limb(digit, 1, i).to_words(self.params().n())
    }

    /// Whether every a of every form expands from a seed: not in keys of another library.
    pub fn has_seed(&self) -> bool {
        self.forms().all(KeyForm::has_seed)
    }

    /// The seed that every a of the base form expands from, or its name.
    pub fn seed(&self) -> &Seed {
        self.base().seed()
    }

    /// Names the key for the error model, by its public seed: errors of two keys are different.
    pub fn name(&self) -> u64 {
        self.seed().name()
    }

    /// Bytes of the residues in memory, with what was derived from them.
    pub fn bytes(&self) -> usize {
        self.forms().map(KeyForm::bytes).sum::<usize>() + self.derived.bytes()
    }
}

impl fmt::Debug for SwitchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (params, forms) = (self.params(), self.forms.len());
        write!(f, "SwitchKey({} digits, {forms} forms, parameters {})", params.dnum(), params.fingerprint())
    }
}

/// The primes of a layout as indices of the key basis: q_0, q_1, …, then the special ones.
fn primes(params: &Params, layout: KeyLayout) -> Vec<usize> {
    let special = layout.special_indices(params.q_moduli().len(), params.p_moduli().len());
    (0..layout.limbs).chain(special).collect()
}

/// That there is a polynomial of the right shape for each digit.
fn check_digits(params: &Params, layout: KeyLayout, part: &[Poly]) -> Result<(), CkksError> {
    let (what, expected, got) = ("digits of a key-switching key", layout.dnum(), part.len());
    if got != expected {
        return Err(ringmill_ring::RingError::Count { what, expected, got }.into());
    }
    let limbs = primes(params, layout).len();
    part.iter().enumerate().try_for_each(|(j, poly)| check::shape("switching key", j, params, limbs, poly))
}

/// A name for uniform polynomials: their hash.
pub(super) fn named_by(polys: &[Poly]) -> Seed {
    let mut hasher = blake3::Hasher::new();
    polys.iter().for_each(|poly| {
        hasher.update(bytemuck::cast_slice(poly.words()));
    });
    Seed::from_bytes(*hasher.finalize().as_bytes())
}

/// The label under which a of digit `j` expands.
fn label(j: usize) -> Label {
    let mut label = *b"switching key a, digit 0000";
    let at = label.len() - 4;
    label[at..].copy_from_slice(&(j as u32).to_le_bytes());
    label
}

/// out += P·from modulo ciphertext prime `i`, P the product of the special primes.
fn add_product(
    params: &Params,
    i: usize,
    special: &[Modulus],
    from: &[u64],
    out: &mut [u64],
) -> Result<(), CkksError> {
    let ring = params.ring(i)?;
    let p = product_mod(special, ring.modulus());
    let mut scaled = Zeroizing::new(vec![0u64; out.len()]);
    ring.mul_scalar(&mut scaled, from, p)?;
    ring.add_assign(out, &scaled)?;
    Ok(())
}

/// The product of `moduli` modulo q.
pub(crate) fn product_mod(moduli: &[Modulus], q: Modulus) -> u64 {
    moduli.iter().fold(1, |r, p| q.mul(r, q.reduce(p.value())))
}
