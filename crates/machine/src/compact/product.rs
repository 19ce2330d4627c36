//! One product as each multiplier makes it: from q and the constant that the modulus table has beside it, by the equations
//! of `rtl/modmul/src`. A wrong constant gives the same wrong word here as in the hardware.

use super::config::{NTT_DELTA_BITS, NTT_WORD};
use super::{CompactConfig, Multiplier};

/// The multiplier of a core with what it knows of one modulus.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product {
    kind: Multiplier,
    /// W.
    w: u32,
    q: u64,
    aux: u64,
}

impl Product {
    /// For a modulus of the kind's class, q < 2^W; the constant is what the table has, W + 2 bits of it.
    pub(super) fn new(config: &CompactConfig, q: u64, aux: u64) -> Self {
        let (kind, w) = (config.multiplier(), config.word_bits());
        Self { kind, w, q, aux: aux & low_bits(w + 2) }
    }

    /// a·b·2^−R mod q if the constant is right, for a < 2^W and b < q; some word below 2^W else.
    pub(super) fn of(&self, a: u64, b: u64) -> u64 {
        let (a, b) = (a & low_bits(self.w), b & low_bits(self.w));
        let t = u128::from(a) * u128::from(b);
        match self.kind {
            Multiplier::WordMontgomery | Multiplier::SparseWordMontgomery => self.word_montgomery(t),
            Multiplier::PrfFiko => self.prf_fiko(a, b),
            Multiplier::Montgomery => self.montgomery(t),
            Multiplier::Barrett => self.barrett(t),
            Multiplier::Ntt => self.ntt(t),
        }
    }

    /// Twice t ← (t ≫ h) − (t mod 2^h)·k with q = k·2^h + 1: into (−q, q).
    fn word_montgomery(&self, t: u128) -> u64 {
        let h = self.w / 2;
        let k = i128::from(self.q >> h);
        let step = |t: i128| (t >> h) - (t & mask(h)) * k;
        self.raise(step(step(t as i128)))
    }

    /// ⌈W/t⌉ times T ← (T ≫ t) − (lo ≪ aux) − lo·δ with lo = T mod 2^t, aux = b − t and δ the low bits of q ≫ t: into (−q, q).
    fn ntt(&self, t: u128) -> u64 {
        let bits = NTT_DELTA_BITS;
        let delta = (self.q >> NTT_WORD << (u64::BITS - bits)) as i64 >> (u64::BITS - bits);
        // A shifter of six bits, from the width of δ on, for words of W bits.
        let shift = (self.aux as u32).wrapping_sub(bits) % 64;
        let led = |low: i128| ((low << bits) << shift) & mask(self.w);
        let step = |t: i128| {
            let low = t & mask(NTT_WORD);
            (t >> NTT_WORD) - led(low) - low * i128::from(delta)
        };
        self.raise((0..self.w.div_ceil(NTT_WORD)).fold(t as i128, |t, _| step(t)))
    }

    /// CASA's, q = 2^(W−1) + f: from below Montgomery's quotient u of a half word, from above Blakely's, v.
    fn prf_fiko(&self, a: u64, b: u64) -> u64 {
        let (h, q) = (self.w / 2, i128::from(self.q));
        let halves = |x: u64| (i128::from(x >> h), i128::from(x) & mask(h));
        let ((a1, a0), (b1, b0), (_, f)) = (halves(a), halves(b), halves(self.q));
        let (c0, c2) = (a0 * b0, a1 * b1);
        let mid = (a0 + a1) * (b0 + b1) - c0 - c2;
        let u = (c0 * (i128::from(self.aux) & mask(h))) & mask(h);
        let v = c2 >> (h - 1);
        // The low halves of c0 and u·f add up to 2^h, or to 0 if that of c0 is 0.
        let carry = i128::from(c0 & mask(h) != 0);
        let below = (c0 >> h) + ((u * f) >> h) + carry;
        let s = ((c2 & mask(h - 1)) << h) - v * f + mid + below + (u << (h - 1));
        self.raise(s - (s >> (self.w - 1)).max(-1) * q)
    }

    /// m = T·q^−1 mod 2^W; (T ≫ W) − (m·q ≫ W) in (−q, q).
    fn montgomery(&self, t: u128) -> u64 {
        let low = u128::from(low_bits(self.w));
        let m = ((t & low) * (u128::from(self.aux) & low)) & low;
        let multiple = m * u128::from(self.q);
        self.raise((t >> self.w) as i128 - (multiple >> self.w) as i128)
    }

    /// e = ⌊⌊T/2^(n−2)⌋·aux / 2^(W+3)⌋; T − e·q or q less, in the W + 1 bits that hold it.
    fn barrett(&self, t: u128) -> u64 {
        let n = u64::BITS - self.q.leading_zeros();
        let v = (t >> (n - 2)) & u128::from(low_bits(self.w + 2));
        let e = (v * u128::from(self.aux)) >> (self.w + 3);
        let bits = u128::from(low_bits(self.w + 1));
        let r = t.wrapping_sub(e.wrapping_mul(u128::from(self.q))) & bits;
        let less = r.wrapping_sub(u128::from(self.q)) & bits;
        let r = if less >> self.w == 0 { less } else { r };
        r as u64 & low_bits(self.w)
    }

    /// The last step of the signed kinds: q more if it is negative, and the W bits of the result.
    fn raise(&self, r: i128) -> u64 {
        let r = if r < 0 { r + i128::from(self.q) } else { r };
        r as u64 & low_bits(self.w)
    }
}

/// 2^`bits` − 1.
pub(super) const fn low_bits(bits: u32) -> u64 {
    (1 << bits) - 1
}

const fn mask(bits: u32) -> i128 {
    (1 << bits) - 1
}
