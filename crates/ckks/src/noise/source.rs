//! Contributions to an error and how they combine.

use ringmill_ring::GaloisElement;

/// Most contributions that a value keeps apart; the smallest lose their names beyond.
pub(crate) const MAX_SOURCES: usize = 4096;

/// One contribution to the error of a value: independent of every contribution of another birth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Source {
    /// Where it was born.
    pub id: u64,
    /// The automorphism it went through since, modulo 4·slots: what it does to the packed slots.
    pub galois: u64,
    /// Standard deviation of a coefficient in units of the message; negative where it entered with a minus.
    pub std: f64,
    /// False once its sign is unknown: it was multiplied by a message, whose sign differs from slot to slot, or two
    /// different births may bear its name.
    pub signed: bool,
    /// How a slot of it is distributed.
    pub factor: Factor,
}

/// What a slot of a contribution is, beside a normal number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor {
    /// Names the small polynomials that multiply it and stay the same for a key: 0 without such polynomials:
    /// then the slot is normal.
    pub name: u64,
    /// The part of the variance that the largest of these polynomials has, in (0, 1].
    pub share: f64,
}

impl Factor {
    /// A normal number.
    pub const NONE: Self = Self { name: 0, share: 1.0 };
    /// A normal number times a slot of the secret key.
    pub const SECRET: Self = Self { name: 1, share: 1.0 };

    /// The sum of a product with the secret key, which has this share of the variance, and one with the error in the public key.
    pub(super) fn encryption(share: f64) -> Self {
        Self { name: Self::ENCRYPTION, share }
    }

    const ENCRYPTION: u64 = 2;

    /// The factors, their parts of a variance of 1, and the part of the largest polynomial of each.
    pub(super) fn parts(self) -> impl Iterator<Item = (u64, f64, f64)> {
        let Self { name, share } = self;
        let both = name == Self::ENCRYPTION;
        let first = if both { (Self::SECRET.name, share, share) } else { (name, 1.0, share) };
        std::iter::once(first).chain(both.then_some((name, 1.0 - share, 1.0 - share)))
    }
}

impl Source {
    /// Identifies it. Conjugates are not distinguished: e and its conjugate have their real parts in common.
    fn key(&self) -> (u64, u64) {
        (self.id, self.galois)
    }

    /// Two contributions of one name: linearly, with their signs where both are known.
    fn plus(&self, other: &Self) -> Self {
        let signed = self.signed && other.signed;
        let std = if signed { self.std + other.std } else { self.std.abs() + other.std.abs() };
        Self { std, signed, ..*self }
    }
}

/// Contributions, sorted by name, at most [`MAX_SOURCES`].
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Sources(Vec<Source>);

impl Sources {
    pub(super) fn one(source: Source) -> Self {
        Self(vec![source])
    }

    pub(super) fn as_slice(&self) -> &[Source] {
        &self.0
    }

    pub(super) fn std(&self) -> f64 {
        norm(self.0.iter().map(|s| s.std))
    }

    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self(self.0.iter().map(|s| Source { std: s.std * factor, ..*s }).collect())
    }

    /// The error multiplied by a message of at most `magnitude` a slot.
    pub(super) fn times_message(&self, magnitude: f64) -> Self {
        Self(self.0.iter().map(|s| Source { std: s.std * magnitude, signed: false, ..*s }).collect())
    }

    pub(super) fn rotated(&self, galois: GaloisElement, slots: usize) -> Self {
        // Polynomials in X^(N/2n) know X → X^g only by g modulo 4n.
        let modulus = (4 * slots as u64).max(4);
        let turn = |s: &Source| {
            let g = s.galois.wrapping_mul(galois.value()) & (modulus - 1);
            // The conjugate of g is −g; the lesser stands for both, and then the sign is that of the real part alone.
            let lesser = g.min(modulus - g);
            Source { galois: lesser, signed: s.signed && lesser == g, ..*s }
        };
        let mut turned: Vec<_> = self.0.iter().map(turn).collect();
        turned.sort_unstable_by_key(Source::key);
        let mut all: Vec<Source> = Vec::with_capacity(turned.len());
        for s in turned {
            match all.last_mut() {
                Some(last) if last.key() == s.key() => *last = last.plus(&s),
                _ => all.push(s),
            }
        }
        Self(all)
    }

    /// A bound on the covariance of two errors: the products of the deviations of contributions that both have.
    pub(super) fn covariance(&self, other: &Self) -> f64 {
        let (few, many) = if self.0.len() < other.0.len() { (self, other) } else { (other, self) };
        let both = |s: &Source| {
            let found = many.0.binary_search_by_key(&s.key(), Source::key).ok()?;
            Some((s.std * many.0[found].std).abs())
        };
        few.0.iter().filter_map(both).sum()
    }

    /// Sum of two errors.
    pub(super) fn add(&self, other: &Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        let mut out = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            let take_a = j == b.len() || (i < a.len() && a[i].key() <= b[j].key());
            let take_b = i == a.len() || (j < b.len() && b[j].key() <= a[i].key());
            let source = match (take_a, take_b) {
                (true, true) => a[i].plus(&b[j]),
                (true, false) => a[i],
                _ => b[j],
            };
            out.push(source);
            i += usize::from(take_a);
            j += usize::from(take_b);
        }
        Self(out)
    }

    /// Takes the smallest contributions out where there are more than [`MAX_SOURCES`], and gives the deviation of their sum.
    ///
    /// They are different births, so they add in squares here. They have no names afterwards: should one of them meet itself
    /// again, the caller adds linearly. Half of the places are made free at a time.
    pub(super) fn limit(&mut self) -> f64 {
        if self.0.len() <= MAX_SOURCES {
            return 0.0;
        }
        self.0.sort_by(|a, b| b.std.abs().total_cmp(&a.std.abs()).then_with(|| a.key().cmp(&b.key())));
        let rest = self.0.split_off(MAX_SOURCES / 2);
        self.0.sort_unstable_by_key(Source::key);
        norm(rest.iter().map(|s| s.std))
    }
}

/// √Σx².
pub(super) fn norm(all: impl Iterator<Item = f64> + Clone) -> f64 {
    // Scaled by the greatest, so that squares neither overflow nor vanish.
    let top = all.clone().map(f64::abs).fold(0.0, f64::max);
    if top == 0.0 || !top.is_finite() {
        return top;
    }
    top * all.map(|x| (x / top).powi(2)).sum::<f64>().sqrt()
}

/// Hash of a name and a word (the finaliser of MurmurHash3 over a multiply-add): names, not security.
pub(super) fn mix(name: u64, word: u64) -> u64 {
    let mut x = name.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(word) ^ name.rotate_left(29);
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}
