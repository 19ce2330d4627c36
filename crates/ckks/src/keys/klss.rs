//! What KLSS key switching reads: Kim, Lee, Seo, Song, "Accelerating HE operations from key decomposition technique"
//! (CRYPTO 2023), with exact arithmetic throughout.
//!
//! The integers of a key, cut into blocks of α̃ primes and centred, are small enough that their products with the digits
//! of a polynomial can be summed over the integers, modulo any T that no sum exceeds. So the inner product needs
//! transforms modulo the α′ primes of T only, whatever the number of primes of the chain. Derivation and bound:
//! `docs/algorithms/klss.md`.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ringmill_ring::convert::{ConvertConstants, SourceBasis};
use ringmill_ring::{Interleaved, LimbRing, LimbSource, Modulus, primes};

use super::layout::{KeyLayout, LayoutError};
use super::switch::KeyForm;
use crate::error::CkksError;
use crate::params::{less, product};

/// Digits, blocks and auxiliary primes of a KLSS key switch.
///
/// Blocks count the special primes first and then q_0, q_1, …: a polynomial of fewer limbs uses fewer blocks of the
/// same key, so one key serves every level. Its sums are shorter too, and computed modulo the first primes of T only.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct KlssLayout {
    digits: KeyLayout,
    block: usize,
    t: Vec<Modulus>,
    /// How many primes of T polynomials of 1, 2, … limbs take.
    counts: Vec<usize>,
    /// A bound on the bits of what T must exceed for them.
    bits: Vec<u32>,
}

impl KlssLayout {
    /// Digits as in `digits`, blocks of `block` primes, and the fewest largest primes of `bits` bits that will do.
    ///
    /// # Errors
    /// [`LayoutError`].
    pub fn new(
        log_n: u32,
        (q, p): (&[Modulus], &[Modulus]),
        digits: KeyLayout,
        block: usize,
        bits: u32,
    ) -> Result<Self, LayoutError> {
        Self::with_margin(log_n, (q, p), (digits, block), bits, 0)
    }

    /// As [`new`](Self::new), with a T that is 2^`margin` times as long at every level: sums of that many inner products, or their
    /// products with constants, still are themselves modulo it.
    ///
    /// # Errors
    /// [`LayoutError`].
    pub fn with_margin(
        log_n: u32,
        (q, p): (&[Modulus], &[Modulus]),
        (digits, block): (KeyLayout, usize),
        bits: u32,
        margin: u32,
    ) -> Result<Self, LayoutError> {
        let bounds = bounds(log_n, (q, p), digits, block)?;
        let needed = bounds.last().map_or(&[][..], Vec::as_slice);
        let skip: Vec<u64> = q.iter().chain(p).map(|m| m.value()).collect();
        let mut count = ((log2(needed) + f64::from(margin)) / f64::from(bits)).ceil() as usize;
        loop {
            let t = primes::of_bits(bits, log_n, count, &skip)?;
            let found = whole(&t);
            // Below 2^bits the bound, T at least 2^(bits − 1): with margin the comparison by bits is the stricter one.
            if less(needed, &found) && (margin == 0 || length(&found) > length(needed) + margin) {
                return Self::bounded((q, p), digits, block, t, &bounds);
            }
            count += 1;
        }
    }

    /// The same with given primes.
    ///
    /// # Errors
    /// [`LayoutError::SmallT`], [`LayoutError::SharedPrime`], and those of the digits.
    pub fn with_primes(
        log_n: u32,
        (q, p): (&[Modulus], &[Modulus]),
        digits: KeyLayout,
        block: usize,
        t: Vec<Modulus>,
    ) -> Result<Self, LayoutError> {
        let bounds = bounds(log_n, (q, p), digits, block)?;
        Self::bounded((q, p), digits, block, t, &bounds)
    }

    fn bounded(
        chain: (&[Modulus], &[Modulus]),
        digits: KeyLayout,
        block: usize,
        t: Vec<Modulus>,
        bounds: &[Vec<u64>],
    ) -> Result<Self, LayoutError> {
        let bits = bounds.iter().map(|bound| length(bound)).collect();
        let mut layout = Self { digits, block, t, counts: Vec::with_capacity(bounds.len()), bits };
        let prefixes: Vec<Vec<u64>> = (1..=layout.t.len()).map(|k| whole(&layout.t[..k])).collect();
        let mut count = 1;
        for needed in bounds {
            // More limbs never need fewer primes.
            while prefixes.get(count - 1).is_some_and(|found| !less(needed, found)) {
                count += 1;
            }
            layout.counts.push(count.min(layout.t.len()));
        }
        layout.check_bounds(chain, bounds)?;
        SourceBasis::new(&layout.t)?;
        Ok(layout)
    }

    /// Checks a layout that was made elsewhere against a chain: at every number of limbs T exceeds what is summed modulo it.
    ///
    /// # Errors
    /// [`LayoutError::SmallT`], [`LayoutError::SharedPrime`], and those of the digits.
    pub fn check(&self, log_n: u32, chain: (&[Modulus], &[Modulus])) -> Result<(), LayoutError> {
        self.check_bounds(chain, &bounds(log_n, chain, self.digits, self.block)?)
    }

    fn check_bounds(&self, (q, p): (&[Modulus], &[Modulus]), bounds: &[Vec<u64>]) -> Result<(), LayoutError> {
        if let Some(shared) = self.t.iter().find(|t| q.contains(t) || p.contains(t)) {
            return Err(LayoutError::SharedPrime { q: shared.value() });
        }
        // From the top: what is wrong there is what to change.
        for (i, needed) in bounds.iter().enumerate().rev() {
            let (limbs, found) = (i + 1, whole(self.t_for(i + 1)));
            if !less(needed, &found) {
                return Err(LayoutError::SmallT { limbs, needed: log2(needed), found: log2(&found) });
            }
        }
        Ok(())
    }

    /// Limbs, digits and special primes; it is computed from a form of the key with such digits and at least
    /// as many limbs.
    pub fn digits(&self) -> KeyLayout {
        self.digits
    }

    /// Primes a block, α̃.
    pub fn block(&self) -> usize {
        self.block
    }

    /// The primes of T.
    pub fn t(&self) -> &[Modulus] {
        &self.t
    }

    /// The first primes of T, modulo which a polynomial of `limbs` limbs is switched; α′ is their number.
    pub fn t_for(&self, limbs: usize) -> &[Modulus] {
        let count = self.counts.get(limbs.saturating_sub(1)).copied();
        &self.t[..count.unwrap_or(self.t.len())]
    }

    /// How many of the first primes of T hold integers 2^`growth` times as long as the inner products of a polynomial of
    /// `limbs` limbs; none if all of them do not.
    pub fn t_grown(&self, limbs: usize, growth: u32) -> Option<usize> {
        let needed = self.bits.get(limbs.checked_sub(1)?)? + growth;
        // T of b bits is at least 2^(b − 1).
        (self.t_for(limbs).len()..=self.t.len()).find(|&count| length(&whole(&self.t[..count])) > needed)
    }

    /// Blocks that a polynomial of `limbs` limbs uses.
    pub fn blocks(&self, limbs: usize) -> usize {
        (self.digits.special + limbs).div_ceil(self.block)
    }

    /// Block `m` of a polynomial of `limbs` limbs as rows: q_0, q_1, … count from 0, special primes from `limbs` on.
    pub fn rows(&self, m: usize, limbs: usize) -> impl Iterator<Item = usize> {
        let special = self.digits.special;
        let (first, end) = (m * self.block, (special + limbs).min((m + 1) * self.block));
        (first..end).map(move |at| if at < special { limbs + at } else { at - special })
    }

    /// Bytes of the key in memory, for degree 2^`log_n`.
    pub fn bytes(&self, log_n: u32) -> usize {
        (16 * self.digits.dnum() * self.blocks(self.digits.limbs) * self.t.len()) << log_n
    }
}

impl fmt::Debug for KlssLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (KeyLayout { limbs, special, alpha }, t) = (self.digits, self.t.len());
        write!(
            f,
            "KlssLayout({limbs} + {special} limbs, digits of {alpha}, blocks of {}, {t} primes)",
            self.block
        )
    }
}

/// β·N·D·D̃, which T must exceed, for polynomials of 1, 2, … limbs: β their digits, D and D̃ the greatest products of a
/// digit and of a block that they use.
///
/// A centred digit lies within ±D/2 and a centred block within ±D̃/2, both up to the error of at most 2^−7 of
/// their quotients. So the β·N products that a coefficient sums stay within a quarter of the bound. Centring
/// modulo T is correct up to the 2^−7 of its own quotient, which leaves a margin of almost a factor of two. A
/// block that is used in part keeps its length: its integers are those of the whole one.
fn bounds(
    log_n: u32,
    (q, p): (&[Modulus], &[Modulus]),
    digits: KeyLayout,
    block: usize,
) -> Result<Vec<Vec<u64>>, LayoutError> {
    digits.check(q, p)?;
    let order = block_order(digits, q, p);
    let max = order.len().min(SourceBasis::MAX_PRIMES);
    if !(1..=max).contains(&block) {
        return Err(LayoutError::Block { block, max });
    }
    let mut blocks = order.chunks(block);
    let (mut taken, mut longest_digit, mut longest_block) = (0, &q[..0], &q[..0]);
    let at = |limbs: usize| {
        if let Some(digit) = digits.digits(limbs).last() {
            longest_digit = longer(longest_digit, &q[digit]);
        }
        while taken < (digits.special + limbs).div_ceil(block) {
            longest_block = blocks.next().map_or(longest_block, |block| longer(longest_block, block));
            taken += 1;
        }
        let primes = longest_digit.iter().chain(longest_block).map(|m| m.value());
        product(primes.chain([digits.digits(limbs).len() as u64, 1 << log_n]))
    };
    Ok((1..=digits.limbs).map(at).collect())
}

/// Those with the greater product.
fn longer<'m>(a: &'m [Modulus], b: &'m [Modulus]) -> &'m [Modulus] {
    if less(&whole(a), &whole(b)) { b } else { a }
}

/// Their product.
fn whole(moduli: &[Modulus]) -> Vec<u64> {
    product(moduli.iter().map(|m| m.value()))
}

/// The primes in the order of the blocks.
fn block_order(digits: KeyLayout, q: &[Modulus], p: &[Modulus]) -> Vec<Modulus> {
    let mut order = digits.special_primes(q, p);
    order.extend(&q[..digits.limbs]);
    order
}

/// The bits of a number: 2^(bits − 1) ≤ x < 2^bits.
fn length(words: &[u64]) -> u32 {
    let top = words.iter().rposition(|&word| word != 0);
    top.map_or(0, |top| 64 * top as u32 + u64::BITS - words[top].leading_zeros())
}

fn log2(words: &[u64]) -> f64 {
    let top = words.iter().rev().take(2).fold(0.0, |sum, &w| sum * 64f64.exp2() + w as f64);
    top.log2() + 64.0 * words.len().saturating_sub(2) as f64
}

/// A form of a key-switching key cut into blocks, each block centred, modulo the primes of T, in the
/// evaluation domain.
///
/// A group of limbs for each prime of T and block: by digit, b before a.
pub struct KlssKey {
    layout: KlssLayout,
    limbs: Interleaved,
}

impl KlssKey {
    pub(super) fn derive(form: &KeyForm, layout: &KlssLayout) -> Result<Self, CkksError> {
        let params = form.params();
        let (digits, limbs) = (layout.digits, layout.digits.limbs);
        // The form may be one for more limbs: its special primes stand further up.
        let further = form.layout().limbs - limbs;
        let (blocks, n) = (layout.blocks(limbs), params.n());
        let groups = layout.t.iter().flat_map(|&t| std::iter::repeat_n(t, blocks));
        let expanded = Interleaved::zeros(params.log_n(), groups, 2 * digits.dnum())?;
        let mut key = Self { layout: layout.clone(), limbs: expanded };
        let mut out = vec![0; n];
        let t = layout.t.iter().map(|&t| LimbRing::new(params.log_n(), t)).collect::<Result<Vec<_>, _>>()?;
        let indices: Vec<usize> = (0..limbs)
            .chain(digits.special_indices(params.q_moduli().len(), params.p_moduli().len()))
            .collect();
        for digit in 0..digits.dnum() {
            for part in 0..2 {
                for m in 0..blocks {
                    let rows: Vec<usize> = layout.rows(m, limbs).collect();
                    let rings: Vec<&LimbRing> =
                        rows.iter().map(|&row| params.ring(indices[row])).collect::<Result<_, _>>()?;
                    let place = |row: usize| if row < limbs { row } else { row + further };
                    let source =
                        rows.iter().map(|&row| form.limb(digit, part, place(row)).to_words(n)).collect();
                    let block = Block::new(&rings, source)?;
                    for (k, t) in t.iter().enumerate() {
                        block.modulo(t, &mut out)?;
                        t.forward(&mut out)?;
                        key.limbs.group(k * blocks + m).copy(2 * digit + part, &out);
                    }
                }
            }
        }
        Ok(key)
    }

    /// Its layout.
    pub fn layout(&self) -> &KlssLayout {
        &self.layout
    }

    /// Block `m` of a digit, part 0 being b and part 1 a, modulo prime `k` of T.
    ///
    /// # Panics
    /// If there is no such digit, part, prime or block, like every index.
    pub fn limb(&self, digit: usize, part: usize, k: usize, m: usize) -> LimbSource<'_> {
        let (dnum, limbs) = (self.layout.digits.dnum(), self.layout.digits.limbs);
        assert!(digit < dnum && part < 2, "digit {digit} of {dnum}, part {part} of 2");
        self.limbs.limb(k * self.layout.blocks(limbs) + m, 2 * digit + part)
    }

    /// Bytes of the residues in memory.
    pub fn bytes(&self) -> usize {
        self.limbs.bytes()
    }
}

impl fmt::Debug for KlssKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KlssKey({:?})", self.layout)
    }
}

/// The coefficients of one block, ready to be taken modulo other primes.
struct Block {
    basis: SourceBasis,
    limbs: Vec<Vec<u64>>,
    quotient: Vec<u64>,
}

impl Block {
    fn new(rings: &[&LimbRing], source: Vec<Cow<'_, [u64]>>) -> Result<Self, CkksError> {
        let moduli: Vec<Modulus> = rings.iter().map(|r| r.modulus()).collect();
        let basis = SourceBasis::new(&moduli)?;
        let mut limbs = Vec::with_capacity(source.len());
        for (i, (ring, limb)) in rings.iter().zip(source).enumerate() {
            let mut x = limb.into_owned();
            ring.inverse(&mut x)?;
            let mut y = vec![0; x.len()];
            ring.mul_scalar(&mut y, &x, basis.inverse(i))?;
            limbs.push(y);
        }
        let mut quotient = vec![0; limbs[0].len()];
        if limbs.len() > 1 {
            let y: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
            rings[0].quotient(&mut quotient, &y, &basis)?;
        }
        Ok(Self { basis, limbs, quotient })
    }

    /// The centred integers modulo the prime of `t`.
    fn modulo(&self, t: &LimbRing, out: &mut [u64]) -> Result<(), CkksError> {
        if let ([limb], [from]) = (&self.limbs[..], self.basis.moduli()) {
            return Ok(t.lift(out, limb, *from)?);
        }
        let y: Vec<&[u64]> = self.limbs.iter().map(Vec::as_slice).collect();
        let constants = ConvertConstants::new(&self.basis, t.modulus());
        Ok(t.convert(out, &y, &self.quotient, &constants)?)
    }
}

/// The KLSS keys of a key-switching key that were requested, shared by its clones.
#[derive(Clone, Default)]
pub(super) struct Derived(Arc<Mutex<Vec<Arc<KlssKey>>>>);

impl Derived {
    pub(super) fn get(
        &self,
        layout: &KlssLayout,
        derive: impl FnOnce() -> Result<KlssKey, CkksError>,
    ) -> Result<Arc<KlssKey>, CkksError> {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = keys.iter().find(|key| key.layout == *layout) {
            return Ok(key.clone());
        }
        let key = Arc::new(derive()?);
        keys.push(key.clone());
        Ok(key)
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|key| key.bytes()).sum()
    }
}

/// What is derived says nothing that the key itself does not.
impl PartialEq for Derived {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
