//! How a key-switching key cuts a polynomial into digits, and the divisor of its inner product.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use ringmill_errors::{Field, StructuredError, ToField};
use ringmill_ring::Modulus;
use serde::{Deserialize, Serialize};

use crate::params::{Params, less, product};

/// The layout of one form of a key-switching key.
///
/// The key that every level can use divides by P = p_0 … p_{K−1}. Fewer limbs are switched faster by a key of
/// their own. At low levels a digit is short and needs fewer special primes. At middle levels the primes that
/// rescaling has removed can serve as further special primes, which gives fewer digits. The modulus of such a
/// key divides PQ, so it is no less secure than the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KeyLayout {
    /// The most limbs that a polynomial to be switched may have.
    pub limbs: usize,
    /// Primes to divide by: p_0, p_1, …, and when these are used up q_L, q_{L−1}, ….
    pub special: usize,
    /// Limbs a digit.
    pub alpha: usize,
}

/// Why a layout cannot be used with a chain.
#[derive(Debug, Clone, PartialEq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum LayoutError {
    #[error(
        "a key layout for {limbs} limbs in digits of {alpha} over {special} special primes; each is at least 1"
    )]
    Zero { limbs: usize, special: usize, alpha: usize },
    #[error(
        "a key layout for {limbs} limbs with {special} special primes needs {needed} primes; the chain has {found}: \
         use it for at most {most} limbs"
    )]
    TooManyPrimes { limbs: usize, special: usize, needed: usize, found: usize, most: usize },
    #[error(
        "digit {digit} of a key layout has {log_digit:.2} bits, but its {special} special primes have {log_special:.2}: \
         take more special primes or digits of fewer limbs"
    )]
    SpecialTooSmall { digit: usize, log_digit: f64, special: usize, log_special: f64 },
    #[error("blocks of {block} limbs; a block has 1 to {max}")]
    Block { block: usize, max: usize },
    #[error(
        "T has {found:.2} bits for {limbs} limbs, but sums modulo T need more than {needed:.2}: take more primes, or \
         shorter digits or blocks"
    )]
    SmallT { limbs: usize, needed: f64, found: f64 },
    #[error("T shares the prime {q} with the chain; its primes must be others")]
    SharedPrime { q: u64 },
    #[error("a key form is written LIMBS+SPECIAL/DIGIT, as 26+9/9; {text:?} is none")]
    Text { text: String },
    #[error("the key form {layout} serves polynomials of up to {most} limbs, not of {limbs}")]
    TooFewLimbs {
        #[field(display)]
        layout: KeyLayout,
        most: usize,
        limbs: usize,
    },
    #[error("{library} has keys of {has}; these have the form {layout}")]
    Library {
        #[field(display)]
        layout: KeyLayout,
        library: &'static str,
        has: &'static str,
    },
    #[error(transparent)]
    Ring(#[from] ringmill_ring::RingError),
}

impl fmt::Display for KeyLayout {
    /// `26+9/9`: up to 26 limbs over 9 special primes, digits of 9 limbs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}/{}", self.limbs, self.special, self.alpha)
    }
}

impl ToField for KeyLayout {
    fn to_field(&self) -> Field {
        Field::Text(self.to_string())
    }
}

impl FromStr for KeyLayout {
    type Err = LayoutError;

    /// What [`fmt::Display`] prints.
    fn from_str(text: &str) -> Result<Self, LayoutError> {
        // Longer than any chain; it keeps sums far from overflow.
        let number = |text: &str| text.parse::<u16>().ok().map(usize::from);
        let parts = text.split_once('+').and_then(|(limbs, rest)| {
            let (special, alpha) = rest.split_once('/')?;
            Some(Self { limbs: number(limbs)?, special: number(special)?, alpha: number(alpha)? })
        });
        parts.ok_or_else(|| LayoutError::Text { text: text.chars().take(40).collect() })
    }
}

impl KeyLayout {
    /// The layout that every level can use.
    pub fn base(params: &Params) -> Self {
        Self { limbs: params.q_moduli().len(), special: params.p_moduli().len(), alpha: params.alpha() }
    }

    /// Checks the layout against the primes of a chain.
    ///
    /// # Errors
    /// [`LayoutError`]: more primes than there are, or special primes that do not cover a digit but for a bit.
    pub fn check(self, q: &[Modulus], p: &[Modulus]) -> Result<(), LayoutError> {
        let Self { limbs, special, alpha } = self;
        if limbs == 0 || special == 0 || alpha == 0 {
            return Err(LayoutError::Zero { limbs, special, alpha });
        }
        let borrowed = special.saturating_sub(p.len());
        if limbs.saturating_add(borrowed) > q.len() {
            let (needed, found) = (limbs.saturating_add(special), q.len() + p.len());
            let most = q.len().saturating_sub(borrowed);
            return Err(LayoutError::TooManyPrimes { limbs, special, needed, found, most });
        }
        let of = self.special_primes(q, p);
        // Borrowed primes may be a hair smaller than those of a digit: twice P is what a digit must stay within.
        let twice = product(of.iter().map(|m| m.value()).chain([2]));
        for (digit, range) in self.digits(limbs).enumerate() {
            let primes = &q[range];
            if less(&twice, &product(primes.iter().map(|m| m.value()))) {
                let [log_special, log_digit] = [&of[..], primes].map(crate::params::log2_product);
                return Err(LayoutError::SpecialTooSmall { digit, log_digit, special, log_special });
            }
        }
        Ok(())
    }

    /// The digits of a polynomial of `limbs` limbs, as ranges of limbs; the last is cut short.
    pub fn digits(self, limbs: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
        let alpha = self.alpha.max(1);
        (0..limbs).step_by(alpha).map(move |first| first..limbs.min(first + alpha))
    }

    /// Number of digits at the most limbs.
    pub fn dnum(self) -> usize {
        self.limbs.div_ceil(self.alpha.max(1))
    }

    /// Number of primes of a key's limbs.
    pub fn rows(self) -> usize {
        self.limbs + self.special
    }

    /// The special primes as indices of the key basis q_0 … q_L, p_0 … p_{K−1}.
    pub fn special_indices(self, q: usize, p: usize) -> impl ExactSizeIterator<Item = usize> {
        (0..self.special).map(move |k| if k < p { q + k } else { q + p - 1 - k })
    }

    /// The primes of a key's limbs: q_0, q_1, … and the special ones.
    pub fn moduli(self, q: &[Modulus], p: &[Modulus]) -> Vec<Modulus> {
        let mut moduli = q[..self.limbs].to_vec();
        moduli.extend(self.special_primes(q, p));
        moduli
    }

    /// The special primes of a chain that has enough.
    pub fn special_primes(self, q: &[Modulus], p: &[Modulus]) -> Vec<Modulus> {
        self.special_indices(q.len(), p.len())
            .map(|i| if i < q.len() { q[i] } else { p[i - q.len()] })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::NamedSet;

    #[test]
    fn a_layout_takes_special_primes_first_and_then_ciphertext_primes_from_the_top() {
        let params = Params::named(NamedSet::V50).unwrap();
        let (q, p) = (params.q_moduli(), params.p_moduli());
        let base = KeyLayout::base(&params);
        base.check(q, p).unwrap();
        assert_eq!(base.special_primes(q, p), p);
        assert_eq!((base.dnum(), base.digits(9).collect::<Vec<_>>()), (4, vec![0..7, 7..9]));
        let wide = KeyLayout { limbs: 26, special: 9, alpha: 9 };
        wide.check(q, p).unwrap();
        assert_eq!(wide.special_primes(q, p), [p, &[q[27], q[26]]].concat());
    }

    #[test]
    fn a_layout_is_what_its_text_says() {
        let layout = KeyLayout { limbs: 26, special: 9, alpha: 8 };
        assert_eq!((layout.to_string().as_str(), "26+9/8".parse()), ("26+9/8", Ok(layout)));
        for text in ["", "26", "26+9", "26/9", "26+9/", "+9/9", "26+9/9/9", "26+9/-1", "99999+1/1", "26+9/9 "]
        {
            let refused = text.parse::<KeyLayout>().unwrap_err().to_string();
            assert!(refused.contains("LIMBS+SPECIAL/DIGIT"), "{refused}");
        }
    }

    #[test]
    fn layouts_that_a_chain_does_not_allow_say_what_it_does() {
        let params = Params::named(NamedSet::V50).unwrap();
        let check = |limbs, special, alpha| {
            let layout = KeyLayout { limbs, special, alpha };
            layout.check(params.q_moduli(), params.p_moduli()).unwrap_err().to_string()
        };
        assert!(check(0, 7, 7).contains("each is at least 1"));
        assert!(check(27, 9, 9).contains("at most 26 limbs"), "{}", check(27, 9, 9));
        assert!(check(26, 9, 11).contains("take more special primes"), "{}", check(26, 9, 11));
    }
}
