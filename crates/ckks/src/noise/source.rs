//! Contributions to an error and how they combine.

use ringmill_ring::GaloisElement;

/// Most contributions that a value keeps apart; the smallest are merged beyond.
pub(crate) const MAX_SOURCES: usize = 24;

/// One contribution to the error of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Source {
    /// Where it was born.
    pub id: u64,
    /// The automorphism it went through since, modulo 4·slots: what it does to the packed slots.
    pub galois: u64,
    /// Standard deviation of a coefficient in units of the message; negative where it entered with a minus.
    pub std: f64,
    /// False once it was multiplied by a message: its sign then differs from slot to slot and is unknown.
    pub signed: bool,
}

impl Source {
    fn key(&self) -> (u64, u64) {
        (self.id, self.galois)
    }

    /// Two contributions of one birth: linearly, with their signs where both are known.
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
    pub(super) fn from_vec(mut sources: Vec<Source>) -> Self {
        sources.sort_unstable_by_key(Source::key);
        let mut all = Self(Vec::with_capacity(sources.len()));
        for s in sources {
            match all.0.last_mut() {
                Some(last) if last.key() == s.key() => *last = last.plus(&s),
                _ => all.0.push(s),
            }
        }
        all.limit();
        all
    }

    pub(super) fn as_slice(&self) -> &[Source] {
        &self.0
    }

    pub(super) fn std(&self) -> f64 {
        norm(&self.0)
    }

    pub(super) fn push(&mut self, source: Source) {
        *self = self.add(&Self(vec![source]));
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
        let mask = (4 * slots as u64).max(4) - 1;
        let turn = |s: &Source| Source { galois: s.galois.wrapping_mul(galois.value()) & mask, ..*s };
        let mut turned: Vec<_> = self.0.iter().map(turn).collect();
        turned.sort_unstable_by_key(Source::key);
        Self(turned)
    }

    /// A bound on the covariance of two errors: the products of the deviations of contributions that both have.
    pub(super) fn covariance(&self, other: &Self) -> f64 {
        let both = |s: &Source| {
            let found = other.0.binary_search_by_key(&s.key(), Source::key).ok()?;
            Some((s.std * other.0[found].std).abs())
        };
        self.0.iter().filter_map(both).sum()
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
        let mut out = Self(out);
        out.limit();
        out
    }

    /// Merges the smallest contributions into one, named after its parts, so that at most [`MAX_SOURCES`] remain.
    ///
    /// Parts lose their names: should one of them meet itself again, it adds in squares instead of linearly. They
    /// are the smallest, and half of the places are made free at a time.
    fn limit(&mut self) {
        if self.0.len() <= MAX_SOURCES {
            return;
        }
        self.0.sort_by(|a, b| b.std.abs().total_cmp(&a.std.abs()).then_with(|| a.key().cmp(&b.key())));
        let rest = self.0.split_off(MAX_SOURCES / 2);
        let mut parts: Vec<_> = rest.iter().map(Source::key).collect();
        parts.sort_unstable();
        let id = parts.iter().fold(0, |h, &(id, galois)| mix(mix(h, id), galois));
        self.0.push(Source { id, galois: 1, std: norm(&rest), signed: false });
        self.0.sort_unstable_by_key(Source::key);
    }
}

fn norm(sources: &[Source]) -> f64 {
    // Scaled by the greatest, so that squares neither overflow nor vanish.
    let top = sources.iter().map(|s| s.std.abs()).fold(0.0, f64::max);
    if top == 0.0 || !top.is_finite() {
        return top;
    }
    top * sources.iter().map(|s| (s.std / top).powi(2)).sum::<f64>().sqrt()
}

/// Hash of a name and a word (the finaliser of MurmurHash3 over a multiply-add): names, not security.
pub(super) fn mix(name: u64, word: u64) -> u64 {
    let mut x = name.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(word) ^ name.rotate_left(29);
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}
