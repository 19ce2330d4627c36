//! Sparse primes near 2^m, for which reduction modulo q needs a few shifts and additions.
//!
//! With the half word h = ⌈(m + 1)/2⌉ (27 for m = 53):
//! - **P1**: q = 2^m + f, 0 < f < 2^h, so the upper half word is its top bit alone;
//! - **P2**: q = 2^m + δ·2^h + 1, so the lower half word is 1 and the Montgomery quotient is the low half of the operand itself;
//! - **signed**: f or δ may be negative as well.

use super::{Modulus, RingError, check_degree, enough};

/// The class of a sparse prime q near 2^m, h = ⌈(m + 1)/2⌉.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SparseClass {
    /// q = 2^m + f with 0 < |f| < 2^h.
    P1,
    /// q = 2^m + δ·2^h + 1 with 0 < |δ| ≤ `max_delta`.
    P2 {
        /// Greatest |δ|; at most 2^(h−2), which keeps q within a bit of 2^m.
        max_delta: u64,
    },
}

/// In which order the primes of a class are taken; ties go to the smaller prime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// Nearest to 2^m first: the greatest η.
    Distance,
    /// Fewest set bits first.
    SetBits,
    /// Least canonical-signed-digit weight first, then fewest set bits.
    CsdWeight,
}

/// A prime of a sparse class with the figures that decide the cost of its reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SparsePrime {
    /// The prime.
    pub q: Modulus,
    /// Number of set bits of q.
    pub set_bits: u32,
    /// Number of non-zero digits of q's non-adjacent form.
    pub csd_weight: u32,
}

impl SparsePrime {
    fn new(q: Modulus) -> Self {
        Self { q, set_bits: q.value().count_ones(), csd_weight: csd_weight(q.value()) }
    }

    /// The non-adjacent form of q as (exponent, is positive), greatest exponent first.
    pub fn csd(self) -> Vec<(u32, bool)> {
        csd(self.q.value())
    }
}

/// The non-adjacent (canonical signed digit) form of x as (exponent, is positive), greatest exponent first.
pub fn csd(x: u64) -> Vec<(u32, bool)> {
    // The digits are the bits of 3x that differ from those of x, at half weight: 2x = 3x − x without common digits.
    let (x, three) = (u128::from(x), 3 * u128::from(x));
    let (plus, minus) = (three & !x, x & !three);
    (1..=65).rev().filter(|e| (plus | minus) >> e & 1 == 1).map(|e| (e - 1, plus >> e & 1 == 1)).collect()
}

/// The number of non-zero digits of the non-adjacent form of x.
pub const fn csd_weight(x: u64) -> u32 {
    (x as u128 ^ (3 * x as u128)).count_ones()
}

/// A search for the primes q ≡ 1 mod 2N of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SparseSearch {
    class: SparseClass,
    lead: u32,
    signed: bool,
    log_n: u32,
}

impl SparseSearch {
    /// Primes near 2^`lead` (20 ≤ lead ≤ 59, so that both sides have at most 60 bits), q ≡ 1 mod 2^(log_n + 1).
    ///
    /// # Errors
    /// [`RingError::Degree`]; [`RingError::ModulusSize`] for `lead`; [`RingError::PrimesExhausted`] if the class is
    /// empty by its form, that is if 2N ≥ 2^h for P1 or `max_delta` is 0 or above 2^(h−2) for P2.
    pub fn new(class: SparseClass, lead: u32, signed: bool, log_n: u32) -> Result<Self, RingError> {
        check_degree(log_n)?;
        if !(Modulus::MIN_BITS..Modulus::MAX_BITS).contains(&lead) {
            let q = 1u64.checked_shl(lead).unwrap_or(u64::MAX);
            let (min, max) = (Modulus::MIN_BITS, Modulus::MAX_BITS);
            return Err(RingError::ModulusSize { q, bits: lead.saturating_add(1), min, max });
        }
        let search = Self { class, lead, signed, log_n };
        let possible = match class {
            SparseClass::P1 => log_n + 1 < search.half_word(),
            SparseClass::P2 { max_delta } => (1..=1 << (search.half_word() - 2)).contains(&max_delta),
        };
        if possible { Ok(search) } else { search.exhausted(0, 1) }
    }

    /// h = ⌈(m + 1)/2⌉.
    pub const fn half_word(&self) -> u32 {
        (self.lead + 1).div_ceil(2)
    }

    /// The primes of the class by distance from 2^m, found as they are asked for.
    pub fn iter(&self) -> impl Iterator<Item = SparsePrime> + use<> {
        let (h, two_n) = (self.half_word(), 2u64 << self.log_n);
        // q = 2^m ± k·step + 1, with step a multiple of 2N.
        let (step, k_max) = match self.class {
            SparseClass::P1 => (two_n, ((1u64 << h) - 1) / two_n),
            SparseClass::P2 { max_delta } => {
                let step = two_n.max(1 << h);
                (step, max_delta / (step >> h))
            }
        };
        let (base, signed) = ((1u64 << self.lead) + 1, self.signed);
        // |−k·step + 1| < k·step + 1: of each pair the prime below 2^m is the nearer one.
        let both = move |k: u64| [(signed && k > 0).then(|| base - k * step), Some(base + k * step)];
        (0..=k_max).flat_map(both).flatten().filter_map(|q| Modulus::new(q).ok()).map(SparsePrime::new)
    }

    /// The first `count` primes of the class in the given order. Orders other than distance enumerate the whole class.
    ///
    /// # Errors
    /// [`RingError::PrimesExhausted`] if the class holds fewer.
    pub fn chain(&self, order: Order, count: usize) -> Result<Vec<SparsePrime>, RingError> {
        let mut all: Vec<_> = match order {
            Order::Distance => self.iter().take(count).collect(),
            Order::SetBits | Order::CsdWeight => self.iter().collect(),
        };
        match order {
            Order::Distance => {}
            Order::SetBits => all.sort_by_key(|p| (p.set_bits, p.q.value())),
            Order::CsdWeight => all.sort_by_key(|p| (p.csd_weight, p.set_bits, p.q.value())),
        }
        all.truncate(count);
        enough(all, count, || self.describe())
    }

    /// All primes of the class whose set bits lie inside `mask`, ascending: a multiplier that is wired for these
    /// positions serves every one of them.
    pub fn within_positions(&self, mask: u64) -> Vec<SparsePrime> {
        let mut all: Vec<_> = self.iter().filter(|p| p.q.value() & !mask == 0).collect();
        all.sort_by_key(|p| p.q.value());
        all
    }

    /// `most` places, 0 among them, such that the most primes q = 2^m + f of class P1 have ones of f at these places alone, as the
    /// bits of a number; of equal ones the smallest number. Among at most 20 places below 2^h that an f can have.
    pub fn few_places(&self, most: u32) -> u64 {
        let h = self.half_word();
        let first = (self.log_n + 1).max(h.saturating_sub(Self::PLACES)).min(h);
        let places = h - first;
        let mut primes = vec![0u32; 1 << places];
        let lead = 1u64 << self.lead;
        let f = self.iter().map(|p| p.q.value()).filter(|q| *q > lead).map(|q| q - lead);
        for f in f.filter(|f| f & ((1 << first) - 2) == 0) {
            primes[(f >> first) as usize] += 1;
        }
        // Sums over subsets: afterwards an entry counts the primes whose places are among its own.
        for place in 0..places {
            for set in (0..primes.len()).filter(|set| set >> place & 1 == 1) {
                primes[set] += primes[set ^ 1 << place];
            }
        }
        let few = (0..primes.len()).filter(|set| set.count_ones() < most);
        let best = few.max_by_key(|&set| (primes[set], std::cmp::Reverse(set))).unwrap_or_default();
        (best as u64) << first | 1
    }

    /// Places that [`Self::few_places`] chooses among.
    const PLACES: u32 = 20;

    fn exhausted<T>(&self, found: usize, wanted: usize) -> Result<T, RingError> {
        Err(RingError::PrimesExhausted { found, wanted, what: self.describe() })
    }

    fn describe(&self) -> String {
        let sign = if self.signed { "±" } else { "+" };
        let (m, h, log_2n) = (self.lead, self.half_word(), self.log_n + 1);
        match self.class {
            SparseClass::P1 => format!("q = 2^{m} {sign} f, f < 2^{h}, q ≡ 1 mod 2^{log_2n}"),
            SparseClass::P2 { max_delta } => {
                format!("q = 2^{m} {sign} δ·2^{h} + 1, 0 < δ ≤ {max_delta}, q ≡ 1 mod 2^{log_2n}")
            }
        }
    }
}
